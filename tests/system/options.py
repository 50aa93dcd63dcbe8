#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# differs: rights-file-capabilities
# differs: rights-interface
"""What options of the command line, capabilities of the file and some commands do while the program runs: -4, -dF, -dS, -dZ,
-dM, -db, -S, -x, -m; memory that is given back; timeouts and locks of the Runtime API; agents that answer too late."""
import array
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import time

import lib
import lib_dns
from lib_master import Master

WEB = """
defaults
	mode http
	timeout connect 5s
	timeout client 5s
	timeout server 5s
	{more}
listen web
	bind 127.0.0.1:{port}
	server s 127.0.0.1:{server}
"""
BIND, ADMIN = 1 << 10, 1 << 12


def large(sock):
    """A server of one answer that is worth splicing."""
    if lib.Reader(sock).head():
        sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 4000000\r\n\r\n" + bytes(4000000))


def pipes(args, options, more):
    """How many pipes the process has made for one large answer."""
    port, server = lib.ports(1)[0], lib.Server(large)
    with lib.Proxy(args.program, WEB.format(port=port, server=server.port, more=more), args=options) as p:
        with lib.connect(port) as s:
            s.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            whole = len(lib.Reader(s).response()[2]) == 4000000
        info = p.info()
        server.close()
        return whole, int(info["PipesUsed"]) + int(info["PipesFree"]) > 0


def splicing(tap, args):
    for options, want in (((), True), (("-dS",), False), (("-dF",), False), (("-dZ",), False)):
        tap.eq(pipes(args, options, "option splice-response"), (True, want), "splicing with %s" % (" ".join(options) or "no option"))


def families(tap, args):
    """-4 is stronger than dns-accept-family. Of a name that is not there the other family is not asked for either."""
    for options, family, want in (((), "ipv6", {28}), (("-4",), "ipv6", {1}), ((), "ipv4", {1}), ((), "ipv4,ipv6", {1, 28})):
        dns = lib_dns.Dns()
        conf = ("\tdns-accept-family %s\nresolvers r\n\tnameserver d 127.0.0.1:%d\n\ttimeout retry 200\n\ttimeout resolve 200\n" %
                (family, dns.port))
        conf += WEB.format(port=lib.ports(1)[0], server=1, more="") + "\tserver t foo.example.com:80 resolvers r init-addr none\n"
        with lib.Proxy(args.program, conf, args=options):
            lib.until(lambda: len(dns.seen) > 3)
            tap.eq({q.kind for q in dns.seen}, want, "types that are asked for: %s dns-accept-family %s" % (" ".join(options), family))
        dns.close()


def started(args, folder, options, text, **kw):
    """(what it says, its two sets of capabilities, or None: it did not start)."""
    with open(folder + "/caps.cfg", "w") as f:
        f.write(text)
    p = subprocess.Popen([folder + "/program", "-db", "-f", folder + "/caps.cfg"] + options, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, cwd=folder, env=lib.environment_without_leaks(), **kw)
    ready = lambda: p.poll() is not None or os.path.exists(folder + "/sock")
    lib.until(ready)
    caps = None
    try:
        s = socket.socket(socket.AF_UNIX)
        s.connect(folder + "/sock")
        s.sendall(b"show version\n")
        if s.recv(100): # it has settled by then
            with open("/proc/%d/status" % p.pid) as f:
                caps = [int(c, 16) for c in re.findall(r"^Cap(?:Prm|Eff):\s*(\w+)", f.read(), re.M)]
        s.close()
    except OSError:
        pass
    p.terminate()
    said = p.communicate(timeout=lib.PATIENCE)[0].decode("latin-1")
    if os.path.exists(folder + "/sock"):
        os.unlink(folder + "/sock")
    return said, caps


PLAIN = "global\n%s\tstats socket {dir}/sock level admin\ndefaults\n\tmode http\n\ttimeout client 5s\n\ttimeout connect 5s\n" \
    "\ttimeout server 5s\nfrontend f\n\tbind 127.0.0.1:%d\n\thttp-request return status 200\n"
CLIENTS = "backend b\n\tsource 0.0.0.0 usesrc clientip\n\tserver s 127.0.0.1:1\n"


def capabilities(tap, args):
    """Capabilities of the program's file, for a user without rights; what takes rights is told of."""
    if os.getuid() or lib.is_reference(args.program): # (which other users cannot read)
        tap.skip("capabilities of a file", "needs root, and a program that all can read")
        return
    folder = tempfile.mkdtemp(prefix="hapo.", dir="/tmp")
    try:
        os.chmod(folder, 0o777)
        shutil.copy(args.program, folder + "/program")
        os.chmod(folder + "/program", 0o755)
        privileged = next(p for p in range(700, 1000) if socket.socket().connect_ex(("127.0.0.1", p)))
        other = lib.ports(1)[0]
        nobody = {"user": 65534, "group": 65534, "extra_groups": []}
        plain = PLAIN.replace("{dir}", folder)
        said, caps = started(args, folder, [], plain % ("\tsetcap cap_net_raw\n", other), **nobody)
        tap.eq(caps, [0, 0], "setcap of what the process has not: it starts all the same")
        said, caps = started(args, folder, [], plain % ("", other) + CLIENTS, **nobody)
        tap.ok(caps == [0, 0] and "'usesrc'" in said, "what takes rights is warned of", (caps, said))
        for uid, good in (("\tuid 65534\n\tgid 65534\n", False), ("\tuid 65534\n\tgid 65534\n\tsetcap cap_net_admin\n", True)):
            for rest in (CLIENTS, "\thttp-request set-fc-mark 1\n"):
                said, caps = started(args, folder, [], plain % (uid, other) + rest)
                tap.ok(bool(caps) == good and ("setcap" in said) != good, "root that changes its user, %s setcap: %s" % (
                    "with" if good else "without", "started" if good else "refused"), (caps, said))
        said, caps = started(args, folder, [], plain % ("\tuid 65534\n\tgid 65534\n", other) +
                             CLIENTS.replace("usesrc clientip", "interface lo"))
        tap.eq(caps, [0, 0], "the interface of a source takes none")
        try:
            os.setxattr(folder + "/program", "security.capability", struct.pack("<5I", 0x02000000, BIND | ADMIN, 0, 0, 0))
        except OSError:
            tap.skip("capabilities of a file", "the file system has none")
            return
        for setcap, want in (("", [BIND | ADMIN, 0]), ("\tsetcap cap_net_bind_service\n", [BIND, BIND])):
            tap.eq(started(args, folder, [], plain % (setcap, other), **nobody)[1], want, "capabilities, allowed and in force: %r" % setcap)
        with open("/proc/sys/net/ipv4/ip_unprivileged_port_start") as f:
            if int(f.read()) <= privileged:
                tap.skip("a port below 1024", "all users may have them here")
                return
        said, caps = started(args, folder, [], plain % ("", privileged), **nobody)
        tap.ok(not caps and "cannot bind socket (Permission denied)" in said, "a port below 1024 without setcap is refused", said)
        said, caps = started(args, folder, [], plain % ("\tsetcap cap_net_bind_service\n", privileged), **nobody)
        tap.eq(caps, [BIND, BIND], "with setcap it is bound")
    finally:
        shutil.rmtree(folder)


def foreground(tap, args):
    """-db is stronger than daemon."""
    port = lib.ports(1)[0]
    with lib.Proxy(args.program, "\tdaemon\n" + WEB.format(port=port, server=1, more="")) as p:
        lib.connect(port).close()
        tap.ok(p.alive(), "-db and daemon: it stays in the foreground")


def hands_over(path):
    """Does a process hand over descriptors at a socket?"""
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(lib.PATIENCE)
        s.connect(path)
        s.sendall(b"_getsocks\n")
        s.shutdown(socket.SHUT_WR)
        while True:
            data, extra, _, _ = s.recvmsg(65536, socket.CMSG_SPACE(64 * 4))
            if not data or any(c[1] == socket.SCM_RIGHTS for c in extra):
                return bool(data)


def sockets(tap, args):
    """Who may ask a process for its listening sockets: expose-fd listeners, not the master's socket; -x /dev/null."""
    port = lib.ports(1)[0]
    with tempfile.TemporaryDirectory(prefix="hapo.") as folder:
        more = "\tstats socket %s/plain level admin\n\tstats socket %s/fds level admin expose-fd listeners\n" % (folder, folder)
        with lib.Proxy(args.program, more + WEB.format(port=port, server=1, more="")):
            tap.eq((hands_over(folder + "/plain"), hands_over(folder + "/fds")), (False, True), "_getsocks takes expose-fd listeners")
    for options, kept in (((), True), (("-x", "/dev/null"), False)):
        with Master(args, ("-W",) + options) as m:
            tap.ok(not hands_over(m.path), "the master's socket hands over none")
            plain, debug = ([l for l in m.cli(c).split("\n") if l.startswith("#<PID>")] for c in ("show proc", "show proc debug"))
            tap.ok(len(debug) == 1 and "<ipc_fd[0]>" in debug[0] and "<ipc_fd" not in plain[0], "show proc debug: descriptors, too", debug)
            worker = m.procs()["workers"][0][0]
            before = inodes(worker, m.port)
            m.reload()
            lib.until(lambda: m.procs()["workers"][0][0] != worker)
            after = inodes(m.procs()["workers"][0][0], m.port)
            tap.eq((bool(before), bool(after), bool(before & after)), (True, True, kept), "a reload with %s: the sockets are %s" % (
                " ".join(options) or "no option", "passed on" if kept else "new ones"))


def inodes(pid, port):
    """The sockets of a process that listen on a port."""
    with open("/proc/%d/net/tcp" % pid) as f:
        rows = [l.split() for l in f.read().split("\n")[1:] if l.strip()]
    listening = {r[9] for r in rows if r[1].endswith(":%04X" % port) and r[3] == "0A"}
    links = set()
    for fd in os.listdir("/proc/%d/fd" % pid):
        try:
            links.add(os.readlink("/proc/%d/fd/%s" % (pid, fd)))
        except OSError:
            pass
    return {i for i in listening if "socket:[%s]" % i in links}


def total(text):
    """Bytes of `show pools` that are allocated, and in use."""
    return tuple(int(n) for n in re.search(r"Total: \d+ pools?, (\d+) bytes allocated, (\d+) used", text).groups())


def memory(tap, args):
    """SIGQUIT gives unused memory back."""
    if lib.is_reference(args.program):
        tap.skip("memory that is given back", "the reference's pools tell of none here")
        return
    port, server = lib.ports(1)[0], lib.Server(lib.echo_handler)
    with lib.Proxy(args.program, "\tnbthread 1\n" + WEB.format(port=port, server=server.port, more="")) as p:
        clients = [lib.connect(port) for _ in range(40)]
        for s in clients:
            s.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n")
        lib.until(lambda: p.info()["CurrConns"] == "40")
        for s in clients:
            s.close()
        lib.until(lambda: p.info()["CurrConns"] == "0")
        before = total(p.ctl("show pools"))[0]
        p.process.send_signal(signal.SIGQUIT)
        tap.ok(lib.until(lambda: total(p.ctl("show pools"))[0] < before), "SIGQUIT: less is allocated", (before, total(p.ctl("show pools"))))
        tap.ok(lib.until(lambda: "Total:" in p.output()), "and what there is is written to the standard error", p.output()[-500:])
    server.close()


def late_agents(tap, args):
    """What an agent answers that was disabled while it was asked does nothing."""
    for word in ("drain", "50%", "down"):
        go, came, asked = threading.Event(), threading.Event(), []

        def agent(s):
            asked.append(1)
            if len(asked) > 1:
                came.set()
                go.wait(lib.PATIENCE)
            s.sendall((word if len(asked) > 1 else "100%").encode() + b"\n")
        a = lib.Server(agent)
        conf = WEB.format(port=lib.ports(1)[0], server=1, more="timeout check 20s\n\tdefault-server weight 10 agent-check agent-inter 200ms "
                          "agent-port %d" % a.port)
        with lib.Proxy(args.program, conf) as p:
            tap.ok(came.wait(lib.PATIENCE), "the agent is asked")
            p.ctl("disable agent web/s")
            go.set()
            p.ctl("enable agent web/s") if word == "down" else None
            time.sleep(0.1)
            row = p.stats()["web", "s"]
            if word != "down":
                tap.eq((row["status"], row["weight"]), ("no check", "10"), "an agent that says %s when it is disabled is not heard" % word)
            else:
                tap.ok(lib.until(lambda: p.stats()["web", "s"]["status"].startswith("DOWN")), "one that is enabled is", row["status"])
        a.close()


def commands(tap, args):
    """set timeout cli, trace ... lock, set profiling tasks."""
    with tempfile.TemporaryDirectory(prefix="hapo.") as folder:
        conf = "\tstats timeout 1h\n\tstats socket %s/s level admin\n" % folder + WEB.format(port=lib.ports(1)[0], server=1, more="")
        with lib.Proxy(args.program, conf) as p:
            with socket.socket(socket.AF_UNIX) as s:
                s.settimeout(lib.PATIENCE)
                s.connect(folder + "/s")
                s.sendall(b"prompt; set timeout cli 1\n")
                got = b" "
                while got:
                    got = s.recv(65536)
                tap.eq(got, b"", "set timeout cli: seconds, after which this connection is closed, not another hour")
            text = p.ctl("trace h2 lock")
            tap.ok("h2s" in re.findall(r"^[ *]+(\w+) +: ", text, re.M), "trace h2 lock: a criterion of its own", text)
            tap.ok("h2s" not in p.ctl("trace session lock"), "which other sources have not")
            tap.eq(p.ctl("trace h2 lock h2s; trace h2 lock none").strip(), "Unsupported lock-on criterion 'none'", "others are refused")


def main():
    args = lib.arguments(__doc__)
    tap = lib.Tap()
    tap.run([splicing, families, capabilities, foreground, sockets, memory, late_agents, commands], args)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
