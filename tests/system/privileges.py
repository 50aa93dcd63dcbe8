#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Reloads in a worker that has given up its rights: chroot, user and group, ports below 1024. The master's
rights read the files and open the ports, of this configuration and of nothing else. An extension: the
reference has no reload in the process. Needs root.
"""
import array
import ctypes
import os
import re
import shutil
import signal
import socket
import ssl
import struct
import subprocess
import tempfile

import lib

CONF = """global
	stats socket {dir}/ctl.sock level admin mode 600
	chroot {dir}/empty
	user nobody
	group nogroup
	nbthread 2
{glob}
defaults
	mode http
	timeout connect 5s
	timeout client 5s
	timeout server 5s
frontend fe
	bind 127.0.0.1:{port}
	http-after-response set-header x-version {version}
	http-request return status 200 content-type text/plain lf-string "%[path,map({dir}/values.map,none)]"
{more}
"""


def certificate(path, name):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                    "-days", "30", "-subj", "/CN=" + name, "-keyout", path + ".key", "-out", path + ".crt"],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with open(path, "w") as out:
        for part in (".crt", ".key"):
            with open(path + part) as f:
                out.write(f.read())
            os.unlink(path + part)
    os.chmod(path, 0o600)


def ask(path, text):
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(lib.PATIENCE)
        s.connect(path)
        s.sendall(text.encode() + b"\n")
        return lib.recv_all(s).decode("latin-1")


class Scene:
    """A master and its worker, which is in an empty root folder as nobody."""

    def __init__(self, args, more="", glob="", options=("-W", "-db"), env=None, **values):
        self.dir = tempfile.mkdtemp(prefix="hapr.")
        os.chmod(self.dir, 0o711)
        os.mkdir(self.dir + "/empty")
        self.port = lib.ports(1)[0]
        self.conf_path = self.dir + "/test.cfg"
        self.values("/a one\n")
        self.glob = glob
        self.write("v1", more, **values)
        self.log_path = self.dir + "/output"
        self.out = open(self.log_path, "wb")
        self.process = subprocess.Popen([args.program] + list(options) + ["-f", self.conf_path],
                                        stdout=self.out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env=env)
        if not lib.until(lambda: self.process.poll() is not None or self.answers()) or self.process.poll():
            raise RuntimeError(self.output())

    def answers(self):
        try:
            return self.ctl("show info")
        except OSError:
            return None

    def values(self, text):
        with open(self.dir + "/values.map", "w") as f:
            f.write(text)
        os.chmod(self.dir + "/values.map", 0o600)

    def write(self, version, more="", **values):
        with open(self.conf_path, "w") as f:
            f.write(CONF.format(dir=self.dir, port=self.port, version=version, glob=self.glob,
                                more=more.format(dir=self.dir, **values)))
        os.chmod(self.conf_path, 0o600)

    def reload(self, version, more="", **values):
        self.write(version, more, **values)
        return self.ctl("reload")

    def ctl(self, text):
        return ask(self.dir + "/ctl.sock", text)

    def worker(self):
        return int(re.search(r"^Pid: (\d+)", self.ctl("show info"), re.M).group(1))

    def get(self, path="/a", port=None, tls=False):
        """(version, body, subject of the certificate)"""
        with lib.connect(port or self.port) as s:
            name = None
            if tls:
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
                context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
                s = context.wrap_socket(s)
                name = s.getpeercert(True)
            s.sendall(b"GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n" % path.encode())
            got = lib.Reader(s).response()
            return got and (got[1].get("x-version"), got[2].decode(), name)

    def output(self):
        with open(self.log_path, errors="replace") as f:
            return f.read()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        lib.end(self.process)
        self.out.close()
        shutil.rmtree(self.dir, ignore_errors=True)


def status_of(pid):
    with open("/proc/%d/status" % pid) as f:
        return dict(l.rstrip("\n").split(":\t", 1) for l in f if ":\t" in l)


def descriptors(pid):
    return len(os.listdir("/proc/%d/fd" % pid))


def test_files(tap, args):
    with Scene(args) as sc:
        pid = sc.worker()
        tap.eq(os.readlink("/proc/%d/root" % pid), sc.dir + "/empty", "the worker is in an empty root folder")
        tap.eq((status_of(pid)["Uid"].split()[0], status_of(pid)["CapPrm"].strip("0")), ("65534", ""),
               "as nobody, without a capability")
        tap.eq(sc.get()[:2], ("v1", "one"), "it serves")
        sc.values("/a two\n")
        answer = sc.reload("v2")
        tap.ok(answer.startswith("Success=1"), "it reloads files that it cannot see", answer)
        tap.eq((sc.worker(), sc.get()[:2]), (pid, ("v2", "two")), "same process, new file, new map")
        answer = sc.reload("v3", "\tbogus word\n")
        tap.ok(answer.startswith("Success=0") and "unknown keyword 'bogus'" in answer,
               "a bad file is refused, with its reasons", answer)
        answer = sc.reload("v3", "\thttp-request deny if {{ path -f {dir}/absent.lst }}\n")
        tap.ok(answer.startswith("Success=0") and "absent.lst" in answer, "a file that is absent", answer)
        with open(sc.dir + "/list.lst", "w") as f:
            f.write("/b\n")
        answer = sc.reload("v3", "\thttp-request deny if {{ path -f {dir}/list.lst }}\n"
                           "backend errors\n\terrorfile 503 /dev/null\n"
                           "backend names\n\tserver s localhost:1\n")
        tap.ok(answer.startswith("Success=1"), "new files, devices, names of hosts", answer)
        tap.eq(sc.get()[0], "v3", "serve")
        tap.ok("two" in sc.get()[1], "the map too")
        answer = sc.reload("v4", "\tbind unix@{dir}/front.sock user nobody group nogroup mode 666\n")
        tap.ok(answer.startswith("Success=1"), "a path of a socket outside of the root folder", answer)
        tap.ok(os.path.exists(sc.dir + "/front.sock") and os.stat(sc.dir + "/front.sock").st_uid == 65534 and
               not os.listdir(sc.dir + "/empty"), "stands where it was wanted")
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(sc.dir + "/front.sock")
            s.sendall(b"GET /a HTTP/1.0\r\n\r\n")
            tap.eq(lib.Reader(s).response()[1].get("x-version"), "v4", "and answers")
        before = None
        for i in range(12):
            sc.reload("w%d" % i, "\tbogus\n" if i % 3 == 1 else "")
            lib.until(lambda: len(sc.ctl("show generations").strip().split("\n")) == 3)
            if i == 2:
                before = descriptors(sc.process.pid), descriptors(pid)
        tap.ok(lib.until(lambda: (descriptors(sc.process.pid), descriptors(pid)) == before),
               "reloads leave no descriptor behind, in worker and master",
               "%r, then %d %d" % (before, descriptors(sc.process.pid), descriptors(pid)))
        tap.ok(lib.until(lambda: children(sc.process.pid) == [pid]), "nor a process")
        os.rename(sc.conf_path, sc.conf_path + ".d")
        tap.ok("Cannot open configuration file" in sc.ctl("reload"), "the file itself is gone: said so")
        tap.eq(sc.get()[0], "w11", "and the worker serves")


def children(pid):
    out = subprocess.run(["ps", "-o", "pid=,stat=", "--ppid", str(pid)], stdout=subprocess.PIPE, text=True).stdout
    return [int(l.split()[0]) for l in out.split("\n") if l.strip()]


def test_certificates(tap, args):
    with Scene(args) as sc:
        port = lib.ports(1)[0]
        more = "\tbind 127.0.0.1:%d ssl crt {dir}/certs/\n" % port
        os.mkdir(sc.dir + "/certs", 0o700)
        certificate(sc.dir + "/certs/a.pem", "first.test")
        answer = sc.reload("v2", more)
        tap.ok(answer.startswith("Success=1"), "a folder of certificates that only root reads", answer)
        first = sc.get(port=port, tls=True)[2]
        certificate(sc.dir + "/certs/a.pem", "second.test")
        answer = sc.reload("v3", more)
        got = sc.get(port=port, tls=True)
        tap.ok(answer.startswith("Success=1") and got[0] == "v3" and got[2] != first and b"second.test" in got[2],
               "a certificate that was replaced", answer)
        with open(sc.dir + "/certs/a.pem", "w") as f:
            f.write("nothing\n")
        answer = sc.reload("v4", more)
        tap.ok(answer.startswith("Success=0") and "a.pem" in answer, "one that is none", answer)
        tap.eq(sc.get(port=port, tls=True)[2], got[2], "the former one goes on")


def test_default_path(tap, args):
    with Scene(args) as sc:
        os.makedirs(sc.dir + "/conf/maps")
        with open(sc.dir + "/conf/maps/m.map", "w") as f:
            f.write("/a relative\n")
        sc.glob = "\tdefault-path origin %s/conf\n" % sc.dir
        more = "frontend second\n\tbind 127.0.0.1:%d\n\thttp-request return status 200 content-type a/b " \
               "lf-string \"%%[path,map(maps/m.map)]\"\n" % lib.ports(1)[0]
        answer = sc.reload("v2", more)
        tap.ok(answer.startswith("Success=1"), "names that begin in default-path", answer)
        tap.eq(sc.get(port=int(re.search(r":(\d+)\n", more).group(1)))[1], "relative", "are read there")


def low_ports(n):
    """Ports below 1024 that are free."""
    found = []
    for port in range(1023, 600, -1):
        with socket.socket() as s:
            try:
                s.bind(("127.0.0.1", port))
            except OSError:
                continue
        found.append(port)
        if len(found) == n:
            break
    return found


def test_ports(tap, args):
    with open("/proc/sys/net/ipv4/ip_unprivileged_port_start") as f:
        if int(f.read()) < 1024:
            tap.skip("ports below 1024", "anybody may open them here")
            return
    with Scene(args) as sc:
        a, b = low_ports(2)
        answer = sc.reload("v2", "\tbind 127.0.0.1:%d\n" % a)
        tap.ok(answer.startswith("Success=1"), "a port below 1024", answer)
        tap.eq(sc.get(port=a)[0], "v2", "answers")
        with socket.socket() as s:
            s.bind(("127.0.0.1", b))
            s.listen(1)
            answer = sc.reload("v3", "\tbind 127.0.0.1:%d\n" % b)
            tap.ok(answer.startswith("Success=0") and "cannot bind socket" in answer, "one that is taken", answer)
        tap.eq(sc.get(port=a)[0], "v2", "changes nothing")
        answer = sc.reload("v4", "\tbind 127.0.0.1:%d shards 2\n" % b)
        tap.ok(answer.startswith("Success=1"), "another one, in two shards", answer)
        tap.eq([sc.get(port=b)[0] for _ in range(4)], ["v4"] * 4, "answers")
        tap.ok(lib.until(lambda: refused(a)), "and the former one is closed")


def refused(port):
    try:
        lib.connect(port).close()
        return False
    except ConnectionRefusedError:
        return True


def test_master(tap, args):
    """reload-mode in-process under a master: signals, the master's socket, the service manager."""
    manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    path = tempfile.mktemp(prefix="hapr.")
    manager.bind(path)
    manager.settimeout(lib.PATIENCE)

    def told():
        return dict(l.split("=", 1) for l in manager.recv(4096).decode().split("\n") if l)

    with Scene(args, glob="\treload-mode in-process\n", options=("-Ws", "-S", path + ".cli"),
               env=dict(os.environ, NOTIFY_SOCKET=path)) as sc:
        pid = sc.worker()
        tap.eq(told().get("READY"), "1", "ready")
        sc.write("v2")
        sc.process.send_signal(signal.SIGUSR2)
        tap.ok(lib.until(lambda: sc.get()[0] == "v2"), "SIGUSR2 to the master reloads")
        tap.eq(sc.worker(), pid, "in the worker's process")
        tap.eq((told().get("RELOADING"), told().get("STATUS")), ("1", "Ready."), "the service manager hears of it")
        sc.write("v3", "\tbogus\n")
        sc.process.send_signal(signal.SIGUSR2)
        tap.eq((told().get("RELOADING"), told().get("STATUS")), ("1", "Reload failed!"), "and when it fails")
        answer = ask(path + ".cli", "reload")
        tap.ok(answer.startswith("Success=0\n--\n") and "bogus" in answer, "the master's command tells why", answer)
        sc.write("v4")
        answer = ask(path + ".cli", "reload")
        tap.ok(answer.startswith("Success=1\n--\n") and sc.get()[0] == "v4" and sc.worker() == pid,
               "or that it worked", answer)
        proc = ask(path + ".cli", "show proc")
        tap.ok("2 [failed: 2]" in proc and "# old" not in proc, "which is counted", proc)
        for i in range(5):
            sc.process.send_signal(signal.SIGUSR2)
        tap.ok(lib.until(lambda: not [c for c in children(sc.process.pid) if c != pid]), "many at once")
        tap.ok(ask(path + ".cli", "reload").startswith("Success="), "leave it able to")
        sc.write("v5")
        sc.process.send_signal(signal.SIGHUP)
        tap.ok(lib.until(lambda: sc.get()[0] == "v5" and sc.worker() != pid), "SIGHUP takes a new worker")
    manager.close()
    os.unlink(path)


def test_alone(tap, args):
    with Scene(args, options=("-db",)) as sc:
        answer = sc.reload("v2")
        tap.ok(answer.startswith("Success=0") and "-W" in answer, "without a master: says what is missing", answer)
        tap.eq(sc.get()[0], "v1", "and goes on")


# --- a worker that was taken over ---------------------------------------------------------------

def pidfd_getfd(pid, fd):
    libc = ctypes.CDLL(None, use_errno=True)
    pidfd = libc.syscall(434, pid, 0)
    got = libc.syscall(438, pidfd, fd, 0) if pidfd >= 0 else -1
    if pidfd >= 0:
        os.close(pidfd)
    return got


def channel_of(pid):
    """A copy of the worker's end of its channel to the master: the pair of sockets that keep packets."""
    for name in os.listdir("/proc/%d/fd" % pid):
        try:
            fd = pidfd_getfd(pid, int(name))
            if fd < 0:
                continue
            s = socket.socket(fileno=fd)
        except OSError:
            continue
        if s.family == socket.AF_UNIX and s.type == socket.SOCK_SEQPACKET:
            return s
        s.close()
    return None


class Reader:
    """What a worker can ask of the reader: the bytes are those of src/main/door_priv.h."""

    def __init__(self, channel):
        self.sock, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.sock.settimeout(lib.PATIENCE)
        channel.sendmsg([b"D"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [other.fileno()]))])
        other.close()

    def ask(self, what, text, flags=0, mode=0, version=1, tail=b"\0"):
        """(error, value, descriptor or None), or None when it left."""
        try:
            self.sock.sendall(struct.pack("=IIiI", version, ord(what), flags, mode) + text.encode() + tail)
            data, anc, _, _ = self.sock.recvmsg(16384, 64)
        except OSError:
            return None
        fds = array.array("i")
        for _, _, bytes_ in anc:
            fds.frombytes(bytes_[:len(bytes_) - len(bytes_) % 4])
        if len(data) < 8:
            return None
        error, value = struct.unpack("=ii", data[:8])
        return error, value, fds[0] if fds else None

    def close(self):
        self.sock.close()


def test_attacker(tap, args):
    """Speaks in the worker's place: what it may have is what the configuration names."""
    perm = 1
    with Scene(args) as sc:
        channel = channel_of(sc.worker())
        if not channel:
            tap.skip("a worker that was taken over", "its descriptors cannot be copied here")
            return
        r = Reader(channel)
        got = r.ask("o", sc.conf_path)
        tap.ok(got and got[0] == 0 and got[2] is not None, "the configuration is given", got)
        if got and got[2] is not None:
            os.close(got[2])
        tap.eq(r.ask("o", sc.conf_path, os.O_RDWR), (perm, 0, None), "not to be written")
        tap.eq(r.ask("o", sc.conf_path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o777), (perm, 0, None),
               "nor to be emptied")
        for path in ("/etc/shadow", "/", sc.dir, sc.dir + "/../../etc/shadow", sc.conf_path + "/../../../etc/shadow",
                     "test.cfg", "", "/proc/self/mem"):
            tap.eq(r.ask("o", path), (perm, 0, None), "not given: " + repr(path.replace(sc.dir, "DIR")))
        for what in "klegun":
            tap.eq(r.ask(what, "/etc"), (perm, 0, None), "nothing about another name: " + what)
        tap.eq(r.ask("u", "nobody")[:2], (0, 65534), "the user that the configuration names")
        tap.eq(r.ask("x", "/etc/shadow"), (perm, 0, None), "what is no question")
        port = lib.ports(1)[0]
        for wanted, good in ((port, False), (sc.port, False)):
            address = struct.pack("=HH4s8x", socket.AF_INET, socket.htons(wanted), socket.inet_aton("127.0.0.1"))
            text = address.ljust(128, b"\0") + struct.pack("=I", 16) + bytes(256 + 64 + 4)
            r.sock.sendall(struct.pack("=IIiI", 1, ord("s"), 0, 0) + text)
            data, anc, _, _ = r.sock.recvmsg(16384, 64)
            if wanted == port:
                tap.ok(struct.unpack("=i", data[:4])[0] and not anc, "no port that no line names", data[:80])
            else:
                tap.ok(not struct.unpack("=i", data[:4])[0] and anc, "one that a line names", data[:80])
        second, third = Reader(channel), Reader(channel)
        tap.eq(third.ask("o", sc.conf_path), None, "a third reader is refused")
        third.close()
        tap.eq(len(children(sc.process.pid)), 2, "the second waits for the end of the first")
        tap.eq(r.ask("o", sc.conf_path, version=2), None, "another version is not spoken to")
        r.close()
        got = second.ask("o", sc.conf_path)
        tap.eq(got and got[0], 0, "then it is answered")
        second.close()
        for text in (b"", b"\1", b"\1\0\0\0o\0\0\0" + b"\0" * 8, b"\xff" * 9000):
            lib.until(lambda: len(children(sc.process.pid)) == 1)
            r = Reader(channel)
            try:
                r.sock.send(text)
                left = r.sock.recv(100) == b""
            except OSError:
                left = True
            tap.ok(left, "a question of %d bytes ends it" % len(text))
            r.close()
        before = descriptors(sc.process.pid)
        for i in range(20):
            channel.sendmsg([b"?"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0, 1, 2]))])
        tap.ok(sc.ctl("reload").startswith("Success=1"), "reloads go on")
        tap.eq(descriptors(sc.process.pid), before, "descriptors that nobody wanted are closed")
        channel.close()


def test_links(tap, args):
    """The worker's user owns a folder that the configuration names a file of."""
    with Scene(args) as sc:
        own = sc.dir + "/own"
        os.mkdir(own)
        secret = sc.dir + "/secret"
        with open(secret, "w") as f:
            f.write("/secret\n")
        os.chmod(secret, 0o600)
        with open(own + "/list", "w") as f:
            f.write("/b\n")
        more = "\thttp-request deny if {{ path -f {dir}/own/list }}\n"
        tap.ok(sc.reload("v2", more).startswith("Success=1"), "a file in a folder of the worker's user")
        os.unlink(own + "/list")
        os.symlink(secret, own + "/list")
        tap.ok(sc.reload("v3", more).startswith("Success=1"), "a link of root is followed")
        os.chown(own + "/list", 65534, 65534, follow_symlinks=False)
        answer = sc.reload("v4", more)
        tap.ok(answer.startswith("Success=0") and "own/list" in answer, "a link of the worker's user is not", answer)
        os.unlink(own + "/list")
        os.mkdir(sc.dir + "/true")
        os.rename(own, sc.dir + "/true/own")
        shutil.copy(secret, sc.dir + "/true/own/list")
        os.symlink(sc.dir + "/true/own", own)
        tap.ok(sc.reload("v5", more).startswith("Success=1"), "nor is a folder by a link of root a problem")
        os.chown(own, 65534, 65534, follow_symlinks=False)
        tap.ok(sc.reload("v6", more).startswith("Success=0"), "by one of the worker's user it is")
        os.unlink(own)
        os.mkdir(own)
        os.mkfifo(own + "/list")
        os.chown(own + "/list", 65534, 65534)


def test_sandbox(tap, args):
    """The same in the sandbox: not even a folder of its own is open."""
    with Scene(args, glob="\tsandbox on\n") as sc:
        state = status_of(sc.worker())
        if not is_sanitized(sc.worker()):
            tap.eq((state["Seccomp"], state["NoNewPrivs"]), ("2", "1"), "the worker is in the sandbox")
        certificate(sc.dir + "/a.pem", "first.test")
        port = lib.ports(1)[0]
        answer = sc.reload("v2", "\tbind 127.0.0.1:%d ssl crt {dir}/a.pem\n"
                           "\tbind unix@{dir}/front.sock\n" % port)
        tap.ok(answer.startswith("Success=1"), "it reloads files, certificates, ports, paths", answer)
        tap.eq(sc.get(port=port, tls=True)[0], "v2", "and serves")
    with Scene(args, glob="\tsandbox on\n", options=("-db",)) as sc:
        answer = sc.reload("v2")
        tap.ok(answer.startswith("Success=0") and "-W" in answer, "alone it says what is missing", answer)
    for word, option in (("insecure-fork-wanted", ""), ("insecure-setuid-wanted", ""), ("", "-dI")):
        path = tempfile.mktemp(prefix="hapr.")
        with open(path, "w") as f:
            f.write("global\n\tsandbox on\n\t%s\nlisten l\n\tmode http\n\tbind 127.0.0.1:%d\n"
                    % (word, lib.ports(1)[0]))
        got = subprocess.run([args.program, "-db", "-f", path] + option.split(), stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, timeout=lib.PATIENCE, text=True)
        tap.ok(got.returncode == 1 and "exclude each other" in got.stdout,
               "refused with " + (word or option), got.stdout)
        os.unlink(path)


def is_sanitized(pid):
    with open("/proc/%d/maps" % pid) as f:
        return re.search(r"lib[at]san", f.read()) is not None


def main():
    args = lib.arguments(__doc__)
    tap = lib.Tap()
    if lib.is_reference(args.program):
        print("1..0 # skip the reference has no reload in the process")
        return
    if os.geteuid() != 0:
        print("1..0 # skip needs root")
        return
    for test in (test_files, test_certificates, test_default_path, test_ports, test_master, test_alone, test_attacker,
                 test_links, test_sandbox):
        test(tap, args)
    tap.done()


lib.guarded(main)
