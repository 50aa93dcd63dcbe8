#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults where the program is a client or a server itself: name servers, rings with their log servers,
forwarded logs, traces, the Runtime API over HTTP, haterm, the metrics and the statistics page. Memory,
descriptors and system calls fail while all of them are used: the process lives, then all of them work
again, nothing is left behind, and it ends as it should.

System calls fail by strace, where it is installed and allowed. --only runs one scene.
"""
import os
import re
import resource
import shutil
import socket
import subprocess
import threading
import time

import lib
import lib_dns

CONF = """
	{glob}
	log ring@central local0
	log 127.0.0.1:{log} format rfc5424 local0
resolvers dns
	nameserver one 127.0.0.1:{dns}
	nameserver two tcp@127.0.0.1:{dns}
	hold valid 1s
	timeout resolve 100ms
	timeout retry 100ms
ring central
	size 65536
	format rfc5424
	timeout connect 500ms
	timeout server 1s
	server s1 127.0.0.1:{ring} log-proto octet-count
ring traces
	size 65536
log-forward collect
	dgram-bind 127.0.0.1:{forward}
	bind 127.0.0.1:{forward}
	timeout client 2s
	log 127.0.0.1:{log} local0
	log ring@central local0
defaults
	mode http
	log global
	option httplog
	timeout connect 500ms
	timeout client 2s
	timeout server 2s
frontend fe
	bind 127.0.0.1:{fe}
	http-request do-resolve(txn.ip,dns,ipv4) str(app.test) if {{ path /resolve }}
	{runtime}
	http-request use-service prometheus-exporter if {{ path /metrics }}
	stats enable
	stats uri /stats
	default_backend be
backend be
	balance roundrobin
	default-server init-addr none resolvers dns
	server s1 app.test:{s1}
	server s2 app.test:{s1}
"""
EXTENSIONS = """http-request use-service haterm if { path_beg /term }
	http-request use-service runtime-api level admin if { path /runtime }"""
BODY = b'{"commands": ["show info", "show stat", "show resolvers", "show events", "trace h1 sink traces start now"]}'


class Scene:
    def __init__(self, program, glob="nbthread 2", **kw):
        self.log = lib.Syslog()
        self.fe, self.forward = lib.ports(2)
        self.server = lib.Server(lib.echo_handler)
        self.collector = lib.Server(self.collect)
        self.collected = 0
        self.dns = lib_dns.Dns({"app.test": [lib_dns.a("127.0.0.1")]})
        runtime = "" if lib.is_reference(program) else EXTENSIONS
        conf = CONF.format(glob=glob, log=self.log.port, dns=self.dns.port, ring=self.collector.port,
                           forward=self.forward, fe=self.fe, s1=self.server.port, runtime=runtime)
        self.paths = [b"/ok", b"/resolve", b"/metrics", b"/stats", b"/stats;csv"]
        if runtime:
            self.paths += [b"/term?s=50000", b"/term?s=3000&k=1&t=5", b"/runtime"]
        self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.proxy = lib.Proxy(program, conf, **kw)

    def collect(self, sock):
        while True:
            part = sock.recv(65536)
            if not part:
                return
            self.collected += len(part)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.proxy.__exit__()
        self.server.close()
        self.collector.close()
        self.dns.close()
        self.udp.close()

    def ask(self, path):
        """The status, or None."""
        method, body = (b"POST", BODY) if path == b"/runtime" else (b"GET", b"")
        try:
            with lib.connect(self.fe, 3) as s:
                s.sendall(b"%s %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                          b"Content-Length: %d\r\n\r\n%s" % (method, path, len(body), body))
                got = lib.Reader(s).response()
                return got and got[0]
        except (OSError, EOFError, ValueError, IndexError):
            return None

    def tell(self, n):
        """Two messages to be forwarded, one in each way."""
        text = b"<13>Nov 21 07:00:00 host app[%d]: message %d stream" % (n, n)
        try:
            self.udp.sendto(text.replace(b"stream", b"datagram"), ("127.0.0.1", self.forward))
            with lib.connect(self.forward, 3) as s:
                s.sendall(b"%d %s" % (len(text), text))
        except OSError:
            pass

    def command(self, text):
        try:
            return self.proxy.ctl(text)
        except OSError:
            return ""

    def use(self, enough, seconds=lib.PATIENCE):
        """A crowd that uses all, until <enough> or that long."""
        stop = threading.Event()

        def one(first):
            n = first
            while not stop.is_set():
                self.ask(self.paths[n % len(self.paths)])
                if n % 3 == 0:
                    self.tell(n)
                if n % 7 == 0:
                    self.command("show resolvers; show ring central; show events traces; show trace")
                n += 1
        crowd = [threading.Thread(target=one, args=(i,)) for i in range(6)]
        for t in crowd:
            t.start()
        done = lib.until(enough, seconds)
        stop.set()
        for t in crowd:
            t.join()
        return done

    def is_well(self, tap, name):
        """All of it works."""
        tap.ok(self.proxy.alive(), name + ": the process lives", self.proxy.output()[-3000:])
        if not self.proxy.alive():
            return
        for path in self.paths:
            tap.ok(lib.until(lambda: self.ask(path) == 200), "%s: %s is answered" % (name, path.decode()),
                   self.command("show resolvers; show servers state; show sess"))
        seen, collected = len(self.log.lines), self.collected

        def forwarded():
            self.tell(4711)
            got = [line for line in self.log.lines[seen:] if "message 4711" in line]
            return {way for way in ("datagram", "stream") if any(way in line for line in got)} == {"datagram", "stream"}
        tap.ok(lib.until(forwarded), name + ": logs are forwarded", self.log.lines[-3:])
        tap.ok(lib.until(lambda: self.collected > collected), name + ": the ring's server gets them",
               self.command("show ring central"))
        tap.ok(lib.until(self.is_empty), name + ": nothing is left behind", self.command("show sess; show stat"))

    def is_empty(self):
        try:
            rows = self.proxy.stats()
        except (OSError, KeyError, IndexError):
            return False
        return all(row["scur"] in ("", "0") for (_, name), row in rows.items() if name != "FRONTEND" or row["pxname"] == "fe")

    def ends(self, tap, name):
        self.proxy.process.send_signal(lib.signal.SIGUSR1)
        tap.ok(lib.until(lambda: not self.proxy.alive()), name + ": the process ends", self.command("show sess"))
        tap.eq(self.proxy.process.poll(), 0, name + ": with status 0")


def failures(sc):
    found = re.search(r"^PoolFailed: (\d+)", sc.command("show info"), re.M)
    return int(found.group(1)) if found else 0


def no_memory(tap, program):
    """One allocation in fifteen fails."""
    with Scene(program, "nbthread 2\n\ttune.fail-alloc 7", args=("-dMfail",)) as sc:
        tap.ok(sc.use(lambda: failures(sc) > 1000, 6 * lib.PATIENCE), "no memory: allocations fail", failures(sc))
        tap.ok(sc.proxy.alive(), "no memory: the process lives", sc.proxy.output()[-3000:])
        tap.ok(lib.until(sc.is_empty), "no memory: nothing is left behind", sc.command("show sess"))
        sc.ends(tap, "no memory")


def no_descriptors(tap, program):
    """There are as many as it has, and two."""
    with Scene(program) as sc:
        sc.is_well(tap, "before")
        pid, limits = sc.proxy.process.pid, None
        used = max(int(fd) for fd in os.listdir("/proc/%d/fd" % pid))
        try:
            limits = resource.prlimit(pid, resource.RLIMIT_NOFILE)
            resource.prlimit(pid, resource.RLIMIT_NOFILE, (used + 3, limits[1]))
        except PermissionError:
            tap.skip("no descriptors", "the limits of a process cannot be set here")
            return
        for server in (sc.collector, sc.dns.tcp): # what it has open is closed, too
            server.close()
        sc.use(lambda: False, 3)
        resource.prlimit(pid, resource.RLIMIT_NOFILE, limits)
        sc.collector = lib.Server(sc.collect, sc.collector.port)
        sc.is_well(tap, "no descriptors")
        sc.ends(tap, "no descriptors")


# system calls, and how they may fail at any time
CALLS = (("recvfrom,recvmsg,read,readv,sendto,sendmsg,write,writev", "EINTR"), ("accept4", "ECONNABORTED"),
         ("accept4", "ENOBUFS"), ("socket", "ENFILE"), ("connect", "EADDRNOTAVAIL"), ("connect", "ECONNREFUSED"),
         ("recvfrom,recvmsg", "ECONNRESET"), ("sendto,sendmsg,writev", "EPIPE"), ("sendto,sendmsg", "ENOBUFS"),
         ("epoll_wait,epoll_pwait", "EINTR"), ("epoll_ctl", "ENOSPC"), ("setsockopt,getsockopt", "ENOBUFS"))


def calls_fail(tap, program):
    """Every third call of a kind fails, from the 50th to the 1500th."""
    allowed = shutil.which("strace") and subprocess.run(["strace", "-o", "/dev/null", "true"],
                                                        stderr=subprocess.DEVNULL).returncode == 0
    if not allowed:
        tap.skip("calls that fail", "no strace, or it may not trace")
        return
    for calls, error in CALLS:
        name = "%s: %s" % (calls.split(",")[0], error)
        with Scene(program) as sc:
            lib.until(lambda: sc.ask(b"/ok") == 200)
            tracer = subprocess.Popen(["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=" + calls, "-e",
                                       "inject=%s:error=%s:when=10..1500+3" % (calls, error), "-p",
                                       str(sc.proxy.process.pid)], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            sc.use(lambda: not sc.proxy.alive(), 2)
            lib.end(tracer)
            sc.is_well(tap, name)
            sc.ends(tap, name)


def servers_vanish(tap, program):
    """Name servers and log servers close what they accepted, at once or in the midst of it."""
    with Scene(program) as sc:
        def cut(sock):
            sock.recv(cut.after)
            lib.reset(sock)
        cut.after = 1
        for server in (sc.collector, sc.dns.tcp, sc.server):
            server.handler = cut
        def last_word(sock):
            """An answer, so that the next question meets a connection that is no more."""
            data = sock.recv(65536)
            answer = lib_dns.Query(data[2:], True, None).reply(rcode=lib_dns.SERVFAIL)
            time.sleep(0.02)  # the last of the name servers: what it says makes the next question
            sock.sendall(len(answer).to_bytes(2, "big") + answer)
            lib.reset(sock)
        for sc.dns.tcp.handler in (last_word, cut):
            sc.dns.zone["app.test"] = lib_dns.SERVFAIL
            sc.use(lambda: not sc.proxy.alive(), 2)
        sc.dns.zone["app.test"] = [lib_dns.a("127.0.0.1")]
        for cut.after in (1, 2, 3, 50, 1000):
            sc.use(lambda: not sc.proxy.alive(), 1)
        sc.collector.handler, sc.dns.tcp.handler, sc.server.handler = sc.collect, sc.dns.stream, lib.echo_handler
        sc.is_well(tap, "servers vanish")
        sc.ends(tap, "servers vanish")


def main():
    args = lib.arguments(__doc__, ("only", "", "run one scene"))
    # the program is traced, and may be ended by its parent's tracer
    os.environ.update(lib.environment_without_leaks())
    tap = lib.Tap()
    for scene in (no_memory, no_descriptors, servers_vanish, calls_fail):
        if args.only in ("", scene.__name__):
            tap.run((scene,), args.program)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
