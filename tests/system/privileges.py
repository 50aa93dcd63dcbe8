#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Reloads in a worker that has given up its rights: chroot, user and group, ports below 1024. The master's
rights read the files and open the ports, of this configuration and of nothing else. An extension: the
reference has no reload in the process. Needs root.
"""
import array
import ctypes
import fcntl
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
        s.shutdown(socket.SHUT_WR)  # the master waits for another command else
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
        answer = sc.reload("v5", "ring r1\n\tsize 32768\n\tbacking-file {dir}/ring\n")
        tap.ok(answer.startswith("Success=1"), "the file of a ring", answer)
        made = os.stat(sc.dir + "/ring")
        tap.eq(oct(made.st_mode & 0o7777), "0o600", "is made, for its owner only")
        sc.reload("v6", "ring r1\n\tsize 32768\n\tbacking-file {dir}/ring\n")
        tap.eq((os.stat(sc.dir + "/ring").st_ino, os.path.exists(sc.dir + "/ring.bak")), (made.st_ino, False),
               "and stays as it is while it is the same")
        answer = sc.reload("v7", "ring r1\n\tsize 65536\n\tbacking-file {dir}/ring\n")
        tap.ok(answer.startswith("Success=1"), "another size", answer)
        tap.eq((os.stat(sc.dir + "/ring.bak").st_ino, os.stat(sc.dir + "/ring").st_size), (made.st_ino, 65536),
               "makes another file, and keeps the former one")
        before = None
        for i in range(12):
            sc.reload("w%d" % i, "\tbogus\n" if i % 3 == 1 else "")
            lib.until(lambda: len(sc.ctl("show generations").strip().split("\n")) == 3)
            if i == 2:
                before = descriptors(sc.process.pid), descriptors(pid)
        tap.ok(lib.until(lambda: (descriptors(sc.process.pid), descriptors(pid)) == before),
               "reloads leave no descriptor behind, in worker and master",
               "%r, then %d %d" % (before, descriptors(sc.process.pid), descriptors(pid)))
        tap.ok(lib.until(lambda: lib.children(sc.process.pid) == [pid]), "nor a process")
        os.rename(sc.conf_path, sc.conf_path + ".d")
        tap.ok("Cannot open configuration file" in sc.ctl("reload"), "the file itself is gone: said so")
        tap.eq(sc.get()[0], "w11", "and the worker serves")


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


def drain(sock):
    try:
        while sock.recv(4096):
            pass
    except BlockingIOError:
        pass


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
        with socket.socket(socket.AF_UNIX) as first, socket.socket(socket.AF_UNIX) as second:
            os.kill(pid, signal.SIGSTOP)
            sc.process.send_signal(signal.SIGUSR2)
            for s in first, second:
                s.settimeout(lib.PATIENCE)
                s.connect(path + ".cli")
                s.sendall(b"reload\n")
                ask(path + ".cli", "show proc")  # it has been read
            answer = lib.recv_all(first)
            tap.ok(answer.startswith(b"Success=0\n--\nAnother reload"), "one of those that wait leaves with an answer", answer)
            os.kill(pid, signal.SIGCONT)
            answer = lib.recv_all(second)
            tap.ok(answer.startswith(b"Success=1"), "the other is told what came of it", answer)
        for i in range(5):
            sc.process.send_signal(signal.SIGUSR2)
        tap.ok(lib.until(lambda: not [c for c in lib.children(sc.process.pid) if c != pid]), "many at once")
        answer = ask(path + ".cli", "reload")
        tap.ok(answer.startswith("Success="), "leave it able to", answer)
        sc.write("v5")
        sc.process.send_signal(signal.SIGHUP)
        tap.ok(lib.until(lambda: sc.get()[0] == "v5" and sc.worker() != pid), "SIGHUP takes a new worker")
        manager.setblocking(False)
        drain(manager)
        pid = sc.worker()
        os.kill(pid, signal.SIGSTOP)
        with socket.socket(socket.AF_UNIX) as waits:
            waits.settimeout(lib.PATIENCE)
            waits.connect(path + ".cli")
            waits.sendall(b"reload\n")
            lib.until(lambda: sc.output().count("Reloading HAProxy in its process") > 8, 1)
            answer = ask(path + ".cli", "hard-reload")
            tap.ok(answer.startswith("Success=1"), "a worker that does not answer is replaced by hard-reload", answer)
            answer = lib.recv_all(waits).decode()
            tap.ok(answer.startswith("Success=0\n--\nAnother reload"), "who waits for it is told", answer)
        os.kill(pid, signal.SIGKILL)
        tap.ok(lib.until(lambda: sc.worker() != pid), "another worker serves")
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


def send_as_nobody(channel, sock):
    """The kernel tells the master who sends."""
    child = os.fork()
    if not child:
        os.setgid(65534)
        os.setuid(65534)
        channel.sendmsg([b"D"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [sock.fileno()]))])
        os._exit(0)
    os.waitpid(child, 0)


def tcp_pair():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(1)
        a = lib.connect(listener.getsockname()[1])
        return a, listener.accept()[0]


class Reader:
    """What a worker can ask of the reader: the bytes are those of src/main/door_priv.h."""

    def __init__(self, channel, pair=None):
        self.sock, other = pair or socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.sock.settimeout(lib.PATIENCE)
        send_as_nobody(channel, other)
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
        tap.eq(r.ask("o", sc.conf_path, 0, 0o4777)[0], perm, "nor as another mode")
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
        tap.eq(len(lib.children(sc.process.pid)), 2, "the second waits for the end of the first")
        tap.eq(r.ask("o", sc.conf_path, version=2), None, "another version is not spoken to")
        r.close()
        got = second.ask("o", sc.conf_path)
        tap.eq(got and got[0], 0, "then it is answered")
        second.close()
        for text in (b"", b"\1", b"\1\0\0\0o\0\0\0" + b"\0" * 8, b"\xff" * 9000):
            lib.until(lambda: len(lib.children(sc.process.pid)) == 1)
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
        os.symlink(secret, own + "/list")
        os.chown(own + "/list", 65534, 65534, follow_symlinks=False)
        sc.write("v7", more)
        channel = channel_of(sc.worker())
        if not channel:
            tap.skip("sockets of others", "its descriptors cannot be copied here")
            return
        r = Reader(channel)  # the pair is made by root, as those are that a worker has from its start
        got = r.ask("o", own + "/list")
        tap.eq(got and (got[0], got[2]), (40, None), "nor over a pair of sockets that root has made")
        got = r.ask("o", sc.conf_path)
        tap.ok(got and got[0] == 0 and got[2] is not None, "which is answered else", got)
        r.close()
        for name, pair in (("TCP", tcp_pair()), ("a stream", socket.socketpair()),
                           ("datagrams", socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM))):
            lib.until(lambda: len(lib.children(sc.process.pid)) == 1)
            r = Reader(channel, pair)
            if name == "datagrams":
                r.sock.settimeout(0.5)  # the end of the other side is not told
            tap.eq(r.ask("o", sc.conf_path), None, "no question is answered over " + name)
            r.close()
        channel.close()


def test_sandbox(tap, args):
    """The same in the sandbox: not even a folder of its own is open."""
    with Scene(args, glob="\tsandbox on\n") as sc:
        state = status_of(sc.worker())
        if not lib.is_sanitized("/proc/%d/exe" % sc.worker()):
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
    test_sandbox_ring(tap, args)
    test_sandbox_root(tap, args)
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


def test_sandbox_root(tap, args):
    """A file directly in the root folder opens that file, not all files there are."""
    folder, path = tempfile.mkdtemp(prefix="hapr."), "/hapr.%d.cfg" % os.getpid()
    certificate(folder + "/a.pem", "first.test")
    os.mkdir(folder + "/run")
    text = "global\n\tsandbox on\n\tstats socket %s/run/ctl.sock level admin\nfrontend fe\n\tmode http\n\ttimeout client 5s\n" \
           "\tbind 127.0.0.1:%d%%s\n" % (folder, lib.ports(1)[0])
    for name, where in ((path, folder), (path[1:], "/")):
        try:
            with open(path, "w") as f:
                f.write(text % "")
            with open(folder + "/output", "wb") as out:
                p = subprocess.Popen([args.program, "-db", "-f", name], stdout=out, stderr=out, cwd=where)
                lib.until(lambda: os.path.exists(folder + "/run/ctl.sock"))
                answer = ask(folder + "/run/ctl.sock", "reload")
                tap.ok(answer.startswith("Success=1"), "sandbox, %s: it is read again" % name.replace(str(os.getpid()), "N"), answer)
                with open(path, "w") as f:
                    f.write(text % (" ssl crt %s/a.pem" % folder))
                answer = ask(folder + "/run/ctl.sock", "reload")
                tap.ok(answer.startswith("Success=0"), "another folder's is out of reach", answer)
                lib.end(p)
            os.unlink(folder + "/run/ctl.sock") if os.path.exists(folder + "/run/ctl.sock") else None
        finally:
            os.unlink(path)
    shutil.rmtree(folder)


def test_sandbox_ring(tap, args):
    """A file that is mapped is never emptied: who writes there would die."""
    folder = tempfile.mkdtemp(prefix="hapr.")
    port = lib.ports(1)[0]
    text = "global\n\tsandbox on\n\tstats socket %s/ctl.sock level admin\nring r1\n\tsize %%d\n\tformat raw\n" \
           "\tbacking-file %s/ring\nfrontend fe\n\tmode http\n\tbind 127.0.0.1:%d\n\tlog ring@r1 local0\n" \
           "\tlog-format %%%%HU\n\ttimeout client 5s\n\thttp-request return status 200\n" % (folder, folder, port)

    def write(size):
        with open(folder + "/test.cfg", "w") as f:
            f.write(text % size)

    def get(path):
        with lib.connect(port) as s:
            s.sendall(b"GET /%s HTTP/1.0\r\n\r\n" % path)
            return lib.Reader(s).response()

    write(65536)
    with open(folder + "/output", "wb") as out:
        p = subprocess.Popen([args.program, "-db", "-f", folder + "/test.cfg"], stdout=out, stderr=out)
        lib.until(lambda: os.path.exists(folder + "/ctl.sock") and not refused(port))
        with lib.connect(port) as old:
            old.sendall(b"GET /before HTTP/1.1\r\nHost: x\r\n")
            get(b"first")
            write(32768)
            answer = ask(folder + "/ctl.sock", "reload")
            tap.ok(answer.startswith("Success=1"), "a ring of another size", answer)
            get(b"second")
            old.sendall(b"\r\n")
            tap.eq(lib.Reader(old).response()[0], 200, "what is of the former generation goes on")
        for name, path in ((".bak", b"first"), ("", b"second")):
            with open(folder + "/ring" + name, "rb") as f:
                tap.ok(path in f.read(), "%s is in the file 'ring%s'" % (path.decode(), name))
        lib.end(p)
    shutil.rmtree(folder)


class Namespace:
    """A network namespace of the system, with a server on <port> of its loopback address."""

    def __init__(self, port):
        self.name = "hapr%d" % os.getpid()
        self.path = "/var/run/netns/" + self.name
        self.port = port
        self.child = None

    def __enter__(self):
        os.makedirs("/var/run/netns", exist_ok=True)
        open(self.path, "w").close()
        there, here = os.pipe()
        self.child = os.fork()
        if not self.child:
            try:
                self.serve(here)
            finally:
                os._exit(1)
        os.close(here)
        self.good = os.read(there, 1) == b"y" and subprocess.run(
            ["mount", "--bind", "/proc/%d/ns/net" % self.child, self.path]).returncode == 0
        os.close(there)
        return self

    def serve(self, here):
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.unshare(0x40000000):
            return
        s = socket.socket()
        up = struct.pack("16sH14x", b"lo", 1)
        fcntl.ioctl(s.fileno(), 0x8914, up)
        s.bind(("127.0.0.1", self.port))
        s.listen(10)
        os.write(here, b"y")
        while True:
            c = s.accept()[0]
            c.recv(4096)
            c.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\nconnection: close\r\n\r\nthere")
            c.close()

    def __exit__(self, *exc):
        os.kill(self.child, signal.SIGKILL)
        os.waitpid(self.child, 0)
        subprocess.run(["umount", self.path], stderr=subprocess.DEVNULL)
        os.unlink(self.path)


def test_out_of_reach(tap, args):
    """What is opened while the configuration is read is of use later: in another root folder, in the sandbox."""
    port, front = lib.ports(2)
    with Namespace(port) as ns:
        if not ns.good:
            tap.skip("namespaces", "none can be made here")
        for glob in ("\tsetcap cap_sys_admin\n", "\tsetcap cap_sys_admin\n\tsandbox on\n") if ns.good else ():
            more = "frontend far\n\tbind 127.0.0.1:%d\n\tdefault_backend away\nbackend away\n\tserver s " \
                   "127.0.0.1:%d namespace %s\n" % (front, port, ns.name)
            how = "sandbox" if "sandbox" in glob else "chroot"
            with Scene(args, glob=glob, more=more) as sc:
                got = sc.get(port=front)
                tap.eq(got and got[1], "there", how + ": a server in a network namespace")
                tap.ok(sc.reload("v2", more).startswith("Success=1"), how + ": reloads")
                got = sc.get(port=front)
                tap.eq(got and got[1], "there", how + ": and after that")
                answer = sc.reload("v3", more.replace(ns.name, "absent"))
                tap.ok("Cannot open namespace 'absent'" in answer, how + ": one that is not there is refused", answer)
    with tempfile.TemporaryDirectory() as d:
        certificate(d + "/site.pem", "localhost")
        with open(d + "/site.pem") as f:
            text = f.read()
        os.mkdir(d + "/certs")
        with open(d + "/certs/site.crt", "w") as f:
            f.write(text[:text.index("-----BEGIN PRIVATE")])
        os.chmod(d, 0o755)
        more = "frontend tls\n\tbind 127.0.0.1:%d ssl crt %s/site.pem\n\thttp-request return status 200\n" \
               "frontend far\n\tbind 127.0.0.1:%d\n\tdefault_backend away\nbackend away\n\tserver s 127.0.0.1:%d " \
               "ssl verify required ca-file @system-ca verifyhost localhost\n" % (port, d, front, port)
        for glob in ("", "\tsandbox on\n"):
            for folder, status in ((d + "/certs", 200), (d + "/none", 503)):
                with Scene(args, glob=glob, more=more, env=dict(os.environ, SSL_CERT_DIR=folder,
                                                                SSL_CERT_FILE=d + "/none")) as sc:
                    with lib.connect(front) as s:
                        s.sendall(b"GET / HTTP/1.0\r\n\r\n")
                        got = lib.Reader(s).response()
                    tap.eq(got and got[0], status, "%s: authorities of the system: %d" % (glob.strip() or "chroot", status))


def main():
    args = lib.arguments(__doc__)
    tap = lib.Tap()
    if lib.is_reference(args.program):
        print("1..0 # skip the reference has no reload in the process")
        return
    if os.geteuid() != 0:
        tap.apart("root", "rights of processes")
        tap.done()
    for test in (test_files, test_certificates, test_default_path, test_ports, test_master, test_alone, test_attacker,
                 test_links, test_sandbox, test_out_of_reach):
        test(tap, args)
    tap.done()


lib.guarded(main)
