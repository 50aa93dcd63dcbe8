#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The steps of admin/container/Dockerfile without an engine: the program with its libraries in a root folder of its
own, as an ordinary user, on a port below 1024 by an ambient capability (as CAP_NET_BIND_SERVICE of an engine) or
without one; health by the program itself; stopped as engines do. Needs root.
"""
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time

import lib
import service_manager

USER = 99
TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
CONF = """global
	log stdout format raw local0
	stats socket /run/haproxy/haproxy.sock mode 600 level admin
{glob}defaults
	mode http
	log global
	option httplog
	timeout connect 5s
	timeout client 5s
	timeout server 5s
frontend fe
	bind 127.0.0.1:{port}
	http-request return status 200 content-type text/plain string contained
"""


def dockerfile():
    """{instruction: [arguments]} of the last stage."""
    with open(os.path.join(TOP, "admin/container/Dockerfile")) as f:
        text = re.sub(r"\\\n", " ", f.read().split("\nFROM ")[-1])
    found = {}
    for line in text.split("\n"):
        if re.match(r"[A-Z]+ ", line):
            word, rest = line.split(" ", 1)
            found.setdefault(word, []).append(rest.strip())
    return found


def words(text):
    return re.findall(r'"([^"]*)"', text)


class Root:
    """A folder with the program, what it is linked with, and what the recipe makes."""

    def __init__(self, program):
        self.dir = tempfile.mkdtemp(prefix="hapc.")
        os.chmod(self.dir, 0o755)
        for name in ("usr/local/sbin", "etc/haproxy", "run/haproxy", "var/lib/haproxy", "dev"):
            os.makedirs(self.dir + "/" + name)
        for name in ("run/haproxy", "var/lib/haproxy"):
            os.chown(self.dir + "/" + name, USER, USER)
        shutil.copy(program, self.dir + "/usr/local/sbin/haproxy")
        out = subprocess.run(["ldd", program], stdout=subprocess.PIPE, text=True).stdout
        for path in re.findall(r"(/\S+) \(0x", out):
            os.makedirs(self.dir + os.path.dirname(path), exist_ok=True)
            shutil.copy(path, self.dir + path)

    def configure(self, port, glob=""):
        with open(self.dir + "/etc/haproxy/haproxy.cfg", "w") as f:
            f.write(CONF.format(port=port, glob=glob))

    def command(self, argv, capability=False):
        """What runs <argv> inside, as the user."""
        if capability:
            # not inside: whoever changes the root folder needs a capability that is not to be left
            caps = "+net_bind_service"
            return ["setpriv", "--reuid", str(USER), "--regid", str(USER), "--clear-groups", "--no-new-privs",
                    "--inh-caps", caps, "--ambient-caps", caps, "--bounding-set", "-all," + caps, "--"] + argv
        return ["chroot", "--userspec=%d:%d" % (USER, USER), self.dir] + argv

    def close(self):
        shutil.rmtree(self.dir, ignore_errors=True)


class Container:
    def __init__(self, root, entry, port):
        self.root, self.port = root, port
        self.out = open(root.dir + ".log", "w+b")
        env = dict(os.environ, PATH=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
        self.process = subprocess.Popen(self.start(entry), stdout=self.out, stderr=subprocess.STDOUT,
                                        stdin=subprocess.DEVNULL, env=env)
        lib.until(lambda: self.process.poll() is not None or self.get())

    def start(self, entry):
        return self.root.command(entry)

    def get(self):
        try:
            with lib.connect(self.port) as s:
                s.sendall(b"GET /x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                got = lib.Reader(s).response()
                return got and got[2]
        except OSError:
            return None

    def output(self):
        with open(self.root.dir + ".log", errors="replace") as f:
            return f.read()

    def stop(self, sig):
        self.process.send_signal(sig)
        try:
            return self.process.wait(lib.PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()

    def close(self):
        if self.process.poll() is None:
            self.stop(signal.SIGKILL)
        self.out.close()
        os.unlink(self.root.dir + ".log")


def test_image(tap, args, root, recipe):
    entry = words(recipe["ENTRYPOINT"][0]) + words(recipe["CMD"][-1])
    health = words(recipe["HEALTHCHECK"][0].split("CMD", 1)[1])
    stop = getattr(signal, recipe["STOPSIGNAL"][0])
    port = lib.ports(1)[0]
    root.configure(port)
    c = Container(root, entry, port)
    try:
        tap.eq(c.get(), b"contained", "the image's command serves")
        with open("/proc/%d/status" % c.process.pid) as f:
            status = f.read()
        tap.ok(re.search(r"^Uid:\s+99\s+99\s+99\s+99$", status, re.M) and re.search(r"^CapEff:\s+0+$", status, re.M),
               "as an ordinary user without a capability", status)
        done = subprocess.run(root.command(health), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        tap.ok(done.returncode == 0, "its health check says that it is well", done.stdout)
        tap.ok(lib.until(lambda: re.search(r"fe fe/<NOSRV>.*GET /x", c.output())), "logs go to the engine", c.output())
        tap.eq(c.stop(stop), 0, "%s stops it softly, with 0" % stop.name)
        done = subprocess.run(root.command(health), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        tap.ok(done.returncode != 0, "its health check says then that it is not")
    finally:
        c.close()
    c = Container(root, entry, port)
    try:
        slow = lib.connect(port)
        slow.sendall(b"GET / HTTP/1.1\r\n")
        time.sleep(0.2)
        c.process.send_signal(stop)
        time.sleep(0.2)
        slow.sendall(b"Host: x\r\n\r\n")
        got = lib.Reader(slow).response()
        tap.eq(got and got[2], b"contained", "a request on its way is answered before it stops")
        slow.close()
        tap.eq(c.process.wait(lib.PATIENCE), 0, "then it stops")
    finally:
        c.close()
    c = Container(root, entry, port)
    tap.eq(c.stop(signal.SIGTERM), 0, "SIGTERM stops it, with 0")
    c.close()


def low_port():
    for port in range(1023, 600, -1):
        with socket.socket() as s:
            try:
                s.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue
    return None


def test_low_port(tap, args, root, recipe):
    """As CAP_NET_BIND_SERVICE or the sysctl of an engine would have it."""
    port = low_port()
    with open("/proc/sys/net/ipv4/ip_unprivileged_port_start") as f:
        anybody = int(f.read()) <= port
    entry = words(recipe["ENTRYPOINT"][0]) + ["-db", "-f", "/etc/haproxy/haproxy.cfg"]
    root.configure(port)
    c = Container(root, entry, port)
    tap.eq(c.get(), b"contained" if anybody else None,
           "a port below 1024 without the capability: %s" % ("anybody may" if anybody else "refused"))
    if not anybody:
        tap.eq(c.process.wait(lib.PATIENCE), 1, "with 1, and says why: " +
               str("Permission denied" in c.output()))
    c.close()
    if not shutil.which("setpriv"):
        tap.skip("a port below 1024 by an ambient capability", "no setpriv")
        return
    work = tempfile.mkdtemp(prefix="hapc.")
    os.chmod(work, 0o777)
    try:
        for name, glob in (("kept", "\tsetcap cap_net_bind_service\n"), ("not named", "")):
            conf = work + "/haproxy.cfg"
            with open(conf, "w") as f:
                f.write(CONF.format(port=port, glob=glob).replace("/run/haproxy", work))
            p = subprocess.Popen(root.command([args.program, "-db", "-f", conf], True), stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
            try:
                served = lib.until(lambda: answer(port))
                tap.eq(served, b"contained", "an ambient capability, %s by setcap: it serves on port %d" % (name, port))
                if served:
                    with open("/proc/%d/status" % p.pid) as f:
                        uid = re.search(r"^Uid:\s+(\d+)", f.read(), re.M).group(1)
                    tap.eq(uid, str(USER), "an ambient capability, %s by setcap: as an ordinary user" % name)
            finally:
                p.terminate()
                p.wait()
    finally:
        shutil.rmtree(work, ignore_errors=True)


INSIDE = """
mount --make-rprivate / && mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && mount -t proc proc "$1/proc" &&
	mount -t tmpfs -o mode=755,uid=%d,gid=%d tmpfs "$1/run/haproxy" || exit 97
shift
exec setpriv --no-new-privs -- "$@"
""" % (USER, USER)


class First(Container):
    """As process 1 of a name space, on a root folder that it cannot write to."""

    def __init__(self, root, entry, port):
        os.makedirs(root.dir + "/proc", exist_ok=True)
        super().__init__(root, ["unshare", "--mount", "--pid", "--uts", "--ipc", "--fork", "--kill-child", "sh", "-c", INSIDE, "sh", root.dir,
                                *root.command(entry)], port)
        self.pid = (lib.children(self.process.pid) or [None])[0]

    def start(self, entry):
        return entry

    def kill(self, sig):
        os.kill(self.pid, sig)


def test_first(tap, args, root, recipe):
    """Reloaded and stopped by signals to process 1, under load."""
    entry = words(recipe["ENTRYPOINT"][0]) + words(recipe["CMD"][-1])
    port, = lib.ports(1)
    for more in ("", "\treload-mode in-process\n"):
        how = "process 1%s: " % (", in-process" if more else "")
        root.configure(port, more)
        c = First(root, entry, port)
        try:
            if not tap.eq(c.get(), b"contained", how + "it serves"):
                print("# " + c.output())
                continue
            with open("/proc/%d/status" % c.pid) as f:
                status = f.read()
            tap.ok(re.search(r"^NSpid:\s+\d+\s+1$", status, re.M) and re.search(r"^Uid:\s+99\s+99", status, re.M) and
                   re.search(r"^CapEff:\s+0+$", status, re.M), how + "as 1, without rights", status)
            crowd = service_manager.Crowd([{"port": port}] * 4)
            good = []
            for i, sig in enumerate((signal.SIGUSR2, signal.SIGHUP) * 3):
                with open(root.dir + "/etc/haproxy/haproxy.cfg", "w") as f:
                    f.write(CONF.format(port=port, glob=more).replace("contained", "r%d" % i))
                before = crowd.done
                c.kill(sig)
                good.append(lib.until(lambda: c.get() == b"r%d" % i))
                lib.until(lambda: crowd.done > before + 30)
            with open(root.dir + "/etc/haproxy/haproxy.cfg", "a") as f:
                f.write("no such word\n")
            c.kill(signal.SIGUSR2)
            tap.ok(lib.until(lambda: "no such word" in c.output().replace("'", "")), how + "a file that is wrong is told to the engine's log", c.output())
            good.append(c.get() == b"r5")
            crowd.end()
            tap.eq((good, crowd.failures[:5]), ([True] * 7, []), how + "reloads by SIGUSR2 and SIGHUP: nothing refused or cut, of %d" % crowd.done)
            c.kill(getattr(signal, recipe["STOPSIGNAL"][0]))
            tap.eq(c.process.wait(lib.PATIENCE), 0, how + "stops softly, with 0")
        finally:
            c.close()


def answer(port):
    try:
        with lib.connect(port) as s:
            s.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            got = lib.Reader(s).response()
            return got and got[2]
    except OSError:
        return None


def main():
    args = lib.arguments(__doc__)
    tap = lib.Tap()
    if lib.is_reference(args.program):
        print("1..0 # skip needs --ask, which the reference has not")
        return
    if os.geteuid() != 0:
        tap.apart("root", "an image without an engine")
        tap.done()
    if lib.is_sanitized(args.program):
        print("1..0 # skip looking for leaks needs /proc, which is not in the root folder")
        return
    recipe = dockerfile()
    tap.eq((recipe.get("USER"), sorted(set(recipe) & {"STOPSIGNAL", "HEALTHCHECK", "ENTRYPOINT", "CMD"})),
           (["haproxy"], ["CMD", "ENTRYPOINT", "HEALTHCHECK", "STOPSIGNAL"]) if "CMD" in recipe else None,
           "the recipe says who, how it stops, and how it is")
    root = Root(args.program)
    try:
        test_image(tap, args, root, recipe)
        test_low_port(tap, args, root, recipe)
        test_first(tap, args, root, recipe)
    finally:
        root.close()
    tap.done()


lib.guarded(main)
