#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Reloads under mixed load: kept and new connections, TLS, HTTP/2, WebSockets that live from the first reload
to the last. Half of the reloads change servers, addresses, certificates or rules, a tenth is wrong. In the
process (an extension), where nothing may fail; --compare shows the same by master and worker, of this program and
of --reference, whose figures are printed only.

    reload_mixed.py --reloads 200 --seconds 120    the long run (default: 40 in 8 seconds)
"""
import os
import re
import shutil
import socket
import ssl
import subprocess
import tempfile
import threading
import time

import lib
from wire import h2

# The caches of TLS sessions and of spare objects are small, so that memory is what reloads make of it.
CONF = """global
	nbthread 2
	tune.ssl.cachesize 100
	tune.memory.hot-size 8192
	stats socket {dir}/ctl.sock level admin expose-fd listeners
defaults
	mode http
	timeout connect 5s
	timeout client 60s
	timeout server 60s
	timeout tunnel 300s
	timeout http-keep-alive 60s
frontend fe
	bind 127.0.0.1:{p[0]}
	bind 127.0.0.1:{p[1]} ssl crt {dir}/site.pem
	bind 127.0.0.1:{p[2]} proto h2
{bind}	http-response set-header x-version {version}
{rules}	default_backend be
backend be
	http-reuse always
	server s1 127.0.0.1:{s}
{servers}
{wrong}
"""


def handler(sock):
    """HTTP, or whatever is sent comes back once the protocol has changed."""
    r = lib.Reader(sock)
    while True:
        head = r.head()
        if not head:
            return
        if dict(head[1]).get("upgrade"):
            sock.settimeout(None)
            sock.sendall(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
            data = r.buf
            while True:
                if data:
                    sock.sendall(data)
                data = sock.recv(65536)
                if not data:
                    return
        url = head[0].split(" ")[1]
        sock.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s" % (len(url), url.encode()))


class Worker(threading.Thread):
    """One kind of load; turn(n) is one exchange. An exception is a failure."""

    kind = ""

    def __init__(self, ports):
        super().__init__(daemon=True)
        self.ports, self.stop, self.done, self.failures = ports, False, 0, []
        self.may_go, self.is_still = threading.Event(), threading.Event()
        self.may_go.set()

    def run(self):
        n = 0
        while not self.stop:
            if not self.may_go.is_set():
                self.is_still.set()
                self.may_go.wait()
                self.is_still.clear()
            n += 1
            try:
                self.turn(n)
                self.done += 1
            except Exception as e:
                self.failures.append("%s %d: %s: %s" % (self.kind, n, type(e).__name__, e))
                self.lost()
                time.sleep(0.01)

    def lost(self):
        """The connection is of no use any more."""


class Http(Worker):
    kind, exchanges, port = "kept", 200, 0

    def __init__(self, ports):
        super().__init__(ports)
        self.sock = self.reader = None
        self.left = 0

    def lost(self):
        self.sock, self.left = None, 0

    def connect(self):
        return lib.connect(self.ports[self.port])

    def turn(self, n):
        if not self.left:
            if self.sock:
                self.sock.close()
            self.sock = self.connect()
            self.reader, self.left = lib.Reader(self.sock), self.exchanges
        self.left -= 1
        self.sock.sendall(b"GET /%d HTTP/1.1\r\nHost: x\r\n\r\n" % n)
        got = self.reader.response()
        if not got or got[0] != 200 or got[2] != b"/%d" % n:
            raise ValueError(repr(got))
        if got[1].get("connection") == "close":
            self.left = 0


class Fresh(Http):
    kind, exchanges = "new", 1


class Tls(Http):
    kind, exchanges, port = "TLS", 50, 1

    def connect(self):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        return context.wrap_socket(lib.connect(self.ports[self.port]))


class Http2(Worker):
    """One connection for the whole run: a reload does not close it."""

    kind = "HTTP/2"

    def __init__(self, ports):
        super().__init__(ports)
        self.client = None

    def lost(self):
        self.client = None

    def turn(self, n):
        if not self.client:
            self.client, self.stream = h2.Client(lib.connect(self.ports[2])), -1
        self.stream += 2
        self.client.send(h2.headers(self.stream, h2.request("/%d" % n)))
        got = self.client.answer(self.stream)
        if got[0] != 200 or got[2] != b"/%d" % n:
            raise ValueError(repr(got))


class Tunnel(Worker):
    """A connection that changed its protocol before the first reload, and lives on."""

    kind = "WebSocket"

    def __init__(self, ports):
        super().__init__(ports)
        self.open()

    def open(self):
        self.sock = lib.connect(self.ports[0])
        self.sock.sendall(b"GET /ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
        self.reader = lib.Reader(self.sock)
        got = self.reader.response()
        if not got or got[0] != 101:
            raise ValueError(repr(got))

    def lost(self):
        try:
            self.open()
        except (OSError, ValueError):
            pass

    def turn(self, n):
        text = b"message %d" % n
        self.sock.sendall(text)
        if self.reader.exactly(len(text)) != text:
            raise ValueError("another message")
        time.sleep(0.005)


def certificates(folder, n):
    for i in range(n):
        path = "%s/%d.pem" % (folder, i)
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                        "-nodes", "-days", "9", "-subj", "/CN=site%d" % i, "-keyout", path + ".k", "-out",
                        path], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with open(path, "a") as out, open(path + ".k") as key:
            out.write(key.read())


class Scene:
    def __init__(self, program, in_process):
        self.in_process = in_process
        self.dir = tempfile.mkdtemp(prefix="hapr.")
        self.p = lib.ports(6, held=True)  # three of them are listened on now and then only
        self.server = lib.Server(handler)
        certificates(self.dir, 4)
        self.write(0)
        self.control = self.dir + ("/ctl.sock" if in_process else "/master.sock")
        command = [program, "-db"] if in_process else [program, "-W", "-S", self.control]
        self.log = open(self.dir + "/output", "wb")
        self.process = subprocess.Popen(command + ["-f", self.dir + "/test.cfg"], stdout=self.log,
                                        stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        if not lib.until(self.serves):
            raise RuntimeError(self.output())

    def serves(self):
        try:
            return Http(self.p).turn(1) is None and os.path.exists(self.control)
        except (OSError, ValueError):
            return False

    def write(self, i):
        """The <i>th configuration; tells whether it is a good one."""
        changes, wrong = i % 2 == 1, i % 10 == 8
        if changes:
            shutil.copy("%s/%d.pem" % (self.dir, i % 4), self.dir + "/site.new")
            os.rename(self.dir + "/site.new", self.dir + "/site.pem")
        elif not i:
            shutil.copy(self.dir + "/0.pem", self.dir + "/site.pem")
        text = CONF.format(
            dir=self.dir, p=self.p, s=self.server.port, version="v%d" % i, wrong="mistake\n" if wrong else "",
            bind="\tbind 127.0.0.1:%d\n" % self.p[3 + i % 3] if changes else "",
            rules="\thttp-request set-header x-n %d if { path_beg /1 }\n" % i if changes else "",
            servers="\tserver t%d 127.0.0.1:%d weight %d\n" % (i % 4, self.server.port, 1 + i % 5) if changes else "")
        with open(self.dir + "/new", "w") as f:
            f.write(text)
        os.rename(self.dir + "/new", self.dir + "/test.cfg")
        return not wrong

    def ask(self, text, path=None):
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(60)
            s.connect(path or self.control)
            s.sendall(text.encode() + b"\n")
            return lib.recv_all(s).decode("latin-1")

    def pids(self):
        return [self.process.pid] + lib.children(self.process.pid)

    def counter(self):
        rows = self.ask("show stat", self.dir + "/ctl.sock").split("\n")
        columns = rows[0].lstrip("# ").split(",")
        row = next((r.split(",") for r in rows if r.startswith("fe,FRONTEND")), None)
        if not row:
            raise OSError("the process has left")
        return int(dict(zip(columns, row))["req_tot"])

    def output(self):
        with open(self.dir + "/output", errors="replace") as f:
            return f.read()

    def close(self):
        lib.end(self.process)
        self.server.close()
        self.log.close()
        shutil.rmtree(self.dir, ignore_errors=True)


def memory_kb(pids):
    """Without what processes share, where the kernel tells."""
    total = 0
    for pid in pids:
        try:
            with open("/proc/%d/smaps_rollup" % pid) as f:
                total += sum(int(l.split()[1]) for l in f if l.startswith(("Private_", "Shared_Dirty")))
        except OSError:
            pass
    return total


def descriptors(pid):
    return len(os.listdir("/proc/%d/fd" % pid))


def memory_at_rest_kb(scene, crowd):
    """With all connections, but no exchange on its way: else it is what they need at the moment."""
    for t in crowd:
        t.may_go.clear()
    for t in crowd:
        t.is_still.wait(lib.PATIENCE)
    time.sleep(0.4)  # what died meanwhile is given back a little later
    kb = memory_kb(scene.pids())
    for t in crowd:
        t.may_go.set()
    return kb


class Result:
    wrong, back, memory, fds, most = (), (), {}, {}, 0


def run(scene, reloads, seconds):
    """Reloads under load; returns what was seen."""
    kinds = [Http, Http, Fresh, Tls, Http2, Tunnel, Tunnel, Tunnel]
    crowd = [k(scene.p) for k in kinds]
    r = Result()
    r.wrong, r.back, r.memory, r.fds = [], [], {}, {}
    for t in crowd:
        t.start()
    last, start = 0, time.monotonic()
    for i in range(1, reloads + 1):
        time.sleep(max(0.0, start + seconds * i / reloads - time.monotonic()))
        good = scene.write(i)
        answer = scene.ask("reload")
        if ("Success=1" in answer) != good:
            r.wrong.append(answer)
        if i % 10 == 0 or i == reloads:
            r.memory[i] = memory_at_rest_kb(scene, crowd)
            r.most = max(r.most, r.memory[i])
            r.fds[i] = descriptors(scene.process.pid)
        try:
            total = scene.counter()
        except OSError:
            continue
        if total < last:
            r.back.append((last, total))
        last = total
    for t in crowd:
        t.stop = True
    for t in crowd:
        t.join()
    r.crowd = crowd
    return r


def told(name, r):
    done = {}
    for t in r.crowd:
        count = done.setdefault(t.kind, [0, 0])
        count[0] += t.done
        count[1] += len(t.failures)
    print("# %-28s %s; counters back %d times; most memory %d KB"
          % (name, ", ".join("%s %d (%d failed)" % (k, *v) for k, v in done.items()), len(r.back), r.most))


def test_in_process(tap, args):
    scene = Scene(args.program, True)
    try:
        sanitized = lib.is_sanitized("/proc/%d/exe" % scene.process.pid)
        r = run(scene, args.reloads, args.seconds)
        told("in the process", r)
        tap.eq(r.wrong, [], "%d reloads, each as it should" % args.reloads)
        for t in r.crowd:
            tap.eq(t.failures[:5], [], "%s: no failure of %d" % (t.kind, t.done))
        tap.ok(all(t.done for t in r.crowd), "all of them did something")
        tap.eq(r.back, [], "counters never go back")
        first, last = min(20, args.reloads // 2), args.reloads
        early = r.memory[first]
        late = sorted(r.memory[i] for i in sorted(r.memory)[-3:])[1]
        # in a short run the heap still gets to know its load
        spare = early // 50 + (0 if last >= 200 else 512)
        tap.ok(sanitized or late <= early + spare, "memory after the last as after the %dth" % first,
               "%r" % r.memory)
        print("# memory in KB: %r" % r.memory)
        tap.ok(lib.until(lambda: descriptors(scene.process.pid) <= r.fds[first] + 8), "descriptors do not gather", r.fds)
        tap.eq(len(scene.pids()), 1, "one process")
    finally:
        scene.close()


def main():
    args = lib.arguments(__doc__, ("reloads", 40, "how many"), ("seconds", 8.0, "in how much time"),
                         ("compare", False, "show master and worker beside"),
                         ("reference", lib.REFERENCE, "to compare with"))
    tap = lib.Tap()
    if lib.is_reference(args.program):
        tap.skip("reloads in the process", "the reference has none")
        tap.done()
    if not shutil.which("openssl"):
        tap.skip("reloads under mixed load", "no openssl")
        tap.done()
    test_in_process(tap, args)
    for name, program in (("master and worker", args.program), ("reference", args.reference)):
        if args.compare and os.access(program, os.X_OK):
            scene = Scene(program, False)
            try:
                told(name, run(scene, args.reloads, args.seconds))
            finally:
                scene.close()
    tap.done()


lib.guarded(main)
