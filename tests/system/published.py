#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Three benchmark set-ups as others published them (ports aside), run as daemons under taskset, with
wrk: no error, no answer that is not 2xx; the third moves 10 MB objects through a pipe, intact.
Then two configuration lines that are found in many files.

--seconds says how long wrk runs on each (30 for the full test). What is missing is said as skipped.
"""
import hashlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time

import lib

FIRST = """defaults
mode http
timeout client 60s
timeout server 60s
timeout connect 1s

listen px
    bind :{front}
    balance random
    server s1 127.0.0.1:{s1}
"""

SECOND = """global
    log stdout format raw local0 err
    nbthread 32
    cpu-map 1/all 0-1
    tune.ssl.default-dh-param 2048
    tune.ssl.capture-cipherlist-size 1
    ssl-server-verify none
    maxconn 9000
    daemon

defaults
    timeout client 60s
    timeout client-fin 1s
    timeout server 30s
    timeout server-fin 1s
    timeout connect 10s
    timeout http-request 10s
    timeout http-keep-alive 10s
    timeout queue 10m
    timeout check 10s
    mode http
    log global
    option dontlog-normal
    option httplog
    option dontlognull
    option http-use-htx
    option http-server-close
    option http-buffer-request
    option redispatch
    retries 3000

frontend test_fe
    bind :::{front}
    default_backend test_be

backend test_be
    balance leastconn
    server go1 127.0.0.1:{s1} no-check
    server go2 127.0.0.1:{s2} no-check
    server go3 127.0.0.1:{s3} no-check
    server go4 127.0.0.1:{s4} no-check
"""

THIRD = """defaults
    mode http
    timeout client 60s
    timeout server 60s
    timeout connect 1s

listen http-splice
    bind :{front}
    option splice-response
    server srv1 127.0.0.1:{s1}
"""

# the servers: the program itself, on configuration alone
SERVERS = """defaults
    mode http
    timeout client 60s
frontend servers
    bind 127.0.0.1:{s1}-{s4}
    http-request return status 200 content-type text/plain string ok
"""


class Daemon:
    """The program in the background (-D), found again by its pid file."""

    def __init__(self, program, conf, port, pinned=True, trace=None):
        self.dir = tempfile.mkdtemp(prefix="hapt.")
        path = os.path.join(self.dir, "test.cfg")
        self.pidfile = os.path.join(self.dir, "pid")
        self.trace = os.path.join(self.dir, "trace") if trace else None
        with open(path, "w") as f:
            f.write(conf)
        cmd = [program, "-D", "-f", path, "-p", self.pidfile]
        if pinned and shutil.which("taskset"):
            cmd = ["taskset", "-c", "0"] + cmd
        if trace:
            cmd = ["strace", "-f", "-e", "trace=splice,pipe2,pipe", "-o", self.trace] + cmd
        self.log = open(os.path.join(self.dir, "output"), "w+")
        self.process = subprocess.Popen(cmd, stdin=subprocess.DEVNULL, stdout=self.log, stderr=subprocess.STDOUT,
                                        env=lib.environment_without_leaks() if trace else None)
        if not trace:
            self.process.wait(lib.PATIENCE)
        self.ready = lib.until(lambda: self.try_port(port))

    def try_port(self, port):
        try:
            lib.connect(port, 1).close()
            return True
        except OSError:
            return False

    def output(self):
        self.log.seek(0)
        return self.log.read()

    def pids(self):
        try:
            with open(self.pidfile) as f:
                return [int(p) for p in f.read().split()]
        except OSError:
            return []

    @staticmethod
    def gone(pid):
        try:
            os.kill(pid, 0)
            with open("/proc/%d/stat" % pid) as f:
                return f.read().split(") ")[1][0] == "Z"
        except OSError: # also between the two
            return True

    def stop(self):
        """Asks every process of the pid file to end; returns whether they did."""
        pids = self.pids()
        for pid in pids:
            if not self.gone(pid):
                os.kill(pid, signal.SIGTERM)
        good = bool(pids) and lib.until(lambda: all(self.gone(p) for p in pids))
        self.process.wait(lib.PATIENCE)
        return good

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        for pid in self.pids():
            if not self.gone(pid):
                os.kill(pid, signal.SIGKILL)
        self.log.close()
        shutil.rmtree(self.dir, ignore_errors=True)


def wrk(tap, name, port, seconds):
    if not shutil.which("wrk"):
        tap.skip(name + ": wrk", "wrk is not installed")
        return
    r = subprocess.run(["wrk", "-t", "1", "-c", "50", "-d", "%ds" % seconds,
                        "http://127.0.0.1:%d/" % port], stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT)
    out = r.stdout.decode("latin-1")
    done = re.search(r"(\d+) requests in", out)
    tap.ok(done and int(done.group(1)) > 0, name + ": requests are served", out)
    tap.ok("Socket errors" not in out, name + ": no error", out)
    tap.ok("Non-2xx" not in out, name + ": every answer is 2xx", out)
    print("# %s: %s requests" % (name, done.group(1) if done else "no"))


def setup(tap, args, name, conf, ports):
    front, s1, s2, s3, s4 = ports
    servers = SERVERS.format(s1=s1, s4=s4)
    names = dict(front=front, s1=s1, s2=s2, s3=s3, s4=s4)
    with Daemon(args.program, servers, s4) as behind:
        if not tap.ok(behind.ready, name + ": the servers start", behind.output()):
            return
        with Daemon(args.program, conf.format(**names), front) as proxy:
            if not tap.ok(proxy.ready, name + ": starts as a daemon", proxy.output()):
                return
            tap.eq(proxy.process.returncode, 0, name + ": the parent ends with status 0")
            wrk(tap, name, front, args.seconds)
            tap.ok(proxy.stop(), name + ": stops on SIGTERM", proxy.pids())
        behind.stop()


def objects(tap, args):
    """10 MB objects of a server of ours; each is compared by its checksum."""
    name = "third set-up (splicing)"
    blob = os.urandom(1 << 20) * 10
    want = hashlib.sha256(blob).hexdigest()

    def serve(sock):
        r = lib.Reader(sock)
        while r.head():
            sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(blob))
            sock.sendall(blob)

    server = lib.Server(serve)
    front = lib.ports(1)[0]
    conf = THIRD.format(front=front, s1=server.port)
    strace = bool(shutil.which("strace"))
    with Daemon(args.program, conf, front, trace=strace) as proxy:
        if not tap.ok(proxy.ready, name + ": starts", proxy.output()):
            return
        s = lib.connect(front, 30)
        r = lib.Reader(s)
        for i in range(3):
            s.sendall(b"GET /%d HTTP/1.1\r\nHost: x\r\n\r\n" % i)
            got = r.response()
            tap.ok(got and got[0] == 200 and hashlib.sha256(got[2]).hexdigest() == want,
                   name + ": object %d is intact" % i, got and (got[0], len(got[2])))
        s.close()
        tap.ok(proxy.stop(), name + ": stops on SIGTERM", proxy.pids())
        if strace:
            judge_trace(tap, name, proxy.trace, 3 * len(blob))
        else:
            tap.skip(name + ": bytes go through a pipe", "strace is not installed")


def judge_trace(tap, name, path, total):
    with open(path, errors="replace") as f:
        text = f.read()
    if "splice(" not in text and not text.strip():
        tap.skip(name + ": bytes go through a pipe", "strace may not trace here")
        return
    moved = sum(int(n) for n in re.findall(r"splice\(.*= (\d+)$", text, re.M))
    # each byte is moved twice: socket to pipe, pipe to socket
    tap.ok(moved >= total, name + ": most bytes go through a pipe",
           "%d bytes moved by splice, %d bytes of objects\n%s" % (moved, total, text[:500]))


def two_lines(tap, args):
    """acl blacklist with tcp-request content reject; acl service_down with redirect prefix."""
    less = "lt" if lib.is_reference(args.program) else "-lt"
    front, other = lib.ports(2)
    conf = """
defaults
	mode http
	timeout client 5s
	timeout server 5s
	timeout connect 1s
frontend reject
	bind 127.0.0.1:%d accept-proxy
	acl blacklist src 1.0.0.0/8
	tcp-request content reject if blacklist
	http-request return status 200
listen down
	bind 127.0.0.1:%d
	acl service_down nbsrv %s 2
	redirect prefix http://backup.site if service_down
	server s1 127.0.0.1:1
""" % (front, other, less)
    with lib.Proxy(args.program, conf) as proxy:
        for source, served in (("1.2.3.4", False), ("2.3.4.5", True)):
            s = lib.connect(front)
            try:
                s.sendall(b"PROXY TCP4 %s 9.9.9.9 1000 80\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n" %
                          source.encode())
                got = lib.Reader(s).response()
            except ConnectionError:
                got = None
            s.close()
            tap.eq(got and got[0], 200 if served else None, "blacklist: %s" % source)
        s = lib.connect(other)
        s.sendall(b"GET /a?b HTTP/1.1\r\nHost: x\r\n\r\n")
        got = lib.Reader(s).response()
        s.close()
        tap.eq((got[0], got[1].get("location")), (302, "http://backup.site/a?b"), "service_down")
        tap.eq(proxy.stats()["reject", "FRONTEND"]["dreq"], "1", "blacklist: counted as denied")


def main():
    args = lib.arguments(__doc__, ("seconds", 2, "wrk runs that long on each"))
    tap = lib.Tap()
    second = SECOND
    if lib.is_reference(args.program):
        second = SECOND.replace("    option http-use-htx\n", "")
    setup(tap, args, "first set-up", FIRST, lib.ports(5))
    setup(tap, args, "second set-up", second, lib.ports(5))
    objects(tap, args)
    two_lines(tap, args)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
