#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""haterm and haload: the program by its other names. The dummy server answers what the request describes; the
load generator counts what servers made here really saw."""
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time

import lib

LATENCY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../bench/latency.py")


class Tools:
    """Links by the tools' names to the program, in a folder of its own."""

    def __init__(self, program):
        self.dir = tempfile.mkdtemp(prefix="load-tools-")
        for name in ("haterm", "haload"):
            os.symlink(program, os.path.join(self.dir, name))

    def path(self, name):
        return os.path.join(self.dir, name)

    def load(self, *args):
        r = subprocess.run([self.path("haload")] + list(args), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           timeout=60)
        return r.returncode, r.stdout.decode(), r.stderr.decode()


class Term:
    def __init__(self, tools, port, tls):
        self.p = subprocess.Popen([tools.path("haterm"), "-q", "-t", "2", "-L", "127.0.0.1:%d:%d" % (port, tls)])
        for p in (port, tls):
            lib.until(lambda: self.answers(p))

    @staticmethod
    def answers(port):
        try:
            lib.connect(port).close()
            return True
        except OSError:
            return False

    def stop(self):
        self.p.send_signal(signal.SIGTERM)
        return self.p.wait(lib.PATIENCE)


def ask(port, target, method="GET", body=b"", fields=b""):
    """Status, fields (lower-case names), body; None as body where the connection ended too early."""
    s = lib.connect(port)
    s.sendall(b"%s %s HTTP/1.1\r\nHost: x\r\n%sContent-Length: %d\r\n\r\n%s"
              % (method.encode(), target.encode(), fields, len(body), body))
    r = lib.Reader(s).response(method)
    s.close()
    return r


def haterm(tap, port):
    for target, size in (("/", 0), ("/?s=1", 1), ("/?s=50", 50), ("/?s=2k", 2048), ("/?s=65536", 65536),
                         ("/?s=65537", 65537), ("/?s=3M", 3 << 20), ("/x/y?a=b&s=7", 7), ("/?r=200?s=9", 9),
                         ("/?r=200/s=10", 10), ("/?c=1,s=11;t=1", 11), ("/?s=12&s=13", 13), ("/?s=-1", 0),
                         ("/?s=1x", 0), ("/?s=", 0), ("/?ss=5", 0), ("/s=5", 0)):
        r = ask(port, target)
        tap.ok(r[0] == 200 and len(r[2]) == size and r[1].get("content-length") == "%d" % size,
               "haterm %s: %d bytes" % (target, size), (r[0], len(r[2]), r[1]))
    r = ask(port, "/?s=200")
    tap.ok(all(len(line) == 49 for line in r[2].split(b"\n")[:4]), "the body is lines of 49 characters", r[2])
    for status in (200, 201, 204, 304, 404, 503, 599):
        r = ask(port, "/?s=5&r=%d" % status)
        tap.eq((r[0], len(r[2])), (status, 0 if status in (204, 304) else 5), "haterm r=%d" % status)
    tap.eq(ask(port, "/?r=100&s=1")[0], 200, "a status below 200 is left aside")
    tap.eq(ask(port, "/?r=600&s=1")[0], 200, "a status above 599 is left aside")
    r = ask(port, "/?s=100k&k=1")
    tap.ok(r[1].get("transfer-encoding") == "chunked" and len(r[2]) == 102400, "k=1: chunked", r[1])
    tap.ok(ask(port, "/?c=0")[1].get("cache-control") == "no-cache", "c=0: not to be cached")
    tap.ok("cache-control" not in ask(port, "/?c=1")[1], "c=1: nothing is said")
    tap.ok(ask(port, "/?C=1&s=3")[1].get("connection") == "close", "C=1: close")
    tap.eq(len([k for k in ask(port, "/?X=17")[1] if k.startswith("x-haterm-")]), 17, "X=17: 17 fields")
    r = ask(port, "/?s=65536&R=1")
    tap.ok(len(set(r[2])) == 256, "R=1: all bytes occur", len(set(r[2])))
    r = ask(port, "/?s=5k", method="HEAD")
    tap.eq((r[0], r[1].get("content-length"), r[2]), (200, "5120", b""), "HEAD: the length, no body")
    r = ask(port, "/?s=4", method="POST", body=b"z" * 3000000)
    tap.eq((r[0], len(r[2])), (200, 4), "a body of the request is read away")
    begin = time.monotonic()
    tap.eq(ask(port, "/?t=300&s=2")[0], 200, "t=300 answers")
    tap.ok(time.monotonic() - begin >= 0.25, "not at once")
    s = lib.connect(port)
    for i in range(3):
        s.sendall(b"GET /?s=%d HTTP/1.1\r\nHost: x\r\n\r\n" % i)
        tap.eq(len(lib.Reader(s).response()[2]), i, "the connection is kept, request %d" % (i + 1))
    # a client that leaves amid a delay, and amid a body
    for target in (b"/?t=5000", b"/?s=1g"):
        s = lib.connect(port)
        s.sendall(b"GET %s HTTP/1.1\r\nHost: x\r\n\r\n" % target)
        if b"s=" in target:
            s.recv(100)
        lib.reset(s)
    tap.eq(ask(port, "/?s=1")[0], 200, "a client that left changes nothing")


def haterm_tls(tap, port):
    c = ssl.create_default_context()
    c.check_hostname = False
    c.verify_mode = ssl.CERT_NONE
    for offered, want in ((["h2", "http/1.1"], "h2"), (["http/1.1"], "http/1.1"), ([], None)):
        if offered:
            c.set_alpn_protocols(offered)
        else:
            c = ssl.create_default_context()
            c.check_hostname = False
            c.verify_mode = ssl.CERT_NONE
        with c.wrap_socket(lib.connect(port), server_hostname="localhost") as s:
            tap.eq(s.selected_alpn_protocol(), want, "TLS, offered %s" % offered)
            if want != "h2":
                s.sendall(b"GET /?s=6 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                tap.ok(b"\r\n\r\n012345" in lib.recv_all(s), "and answers")


DIRECT = """
defaults
    mode http
    timeout client 10s
frontend direct
    bind 127.0.0.1:%d
    http-request use-service haterm direct
frontend streams
    bind 127.0.0.1:%d
    http-request use-service haterm
"""
# what a connection may answer by itself, between what it may not
MIXED = (b"GET /?s=16 HTTP/1.1\r\nHost: a\r\n\r\n", b"GET /?s=16 HTTP/1.1\r\nHost: a\r\n\r\n",
         b"GET /?s=16&k=1 HTTP/1.1\r\nHost: a\r\n\r\n", b"GET /?s=16 HTTP/1.1\r\nHost: b\r\n\r\n",
         b"HEAD /?s=16 HTTP/1.1\r\nHost: a\r\n\r\n", b"GET /?t=5&s=7 HTTP/1.1\r\nHost: a\r\n\r\n",
         b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", b"GET /? HTTP/1.1\r\nHost: a\r\n\r\n",
         b"POST /?s=3 HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody",
         b"GET /?s=3 HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nGET ", b"GET /?r=404 HTTP/1.1\r\nHost: a\r\n\r\n",
         b"GET /?s=12k HTTP/1.1\r\nHost: a\r\n\r\n", b"GET /?s=20k HTTP/1.1\r\nHost: a\r\n\r\n",
         b"GET /?s=16383 HTTP/1.1\r\nHost: a\r\n\r\n", b"GET /x?y=%s&s=5 HTTP/1.1\r\nHost: a\r\n\r\n" % (b"z" * 70),
         b"GET /?s=6 HTTP/1.1\r\nHost: a\r\nX: %s\r\n\r\n" % (b"z" * 300), b"GET /?X=2 HTTP/1.1\r\nHost: a\r\n\r\n",
         b"GET http://a/?s=4 HTTP/1.1\r\nHost: a\r\n\r\n", b"GET /?s=4 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
         b"GET /?s=4 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")


def exchange(port, parts):
    """What comes back for requests sent in these parts, to the end."""
    s = lib.connect(port)
    for part in parts:
        s.sendall(part)
    out = lib.recv_all(s)
    s.close()
    return out


def haterm_direct(tap, program):
    """Answers without a stream are those of a stream, byte for byte, in their order, and are counted as they are."""
    ports = lib.ports(2)
    whole = b"".join(MIXED)
    with lib.Proxy(program, DIRECT % tuple(ports)) as p:
        for parts, name in (([whole], "at once"), (MIXED, "one by one"), ([whole[i:i + 1] for i in range(len(whole))], "bytes"),
                            ([whole[i:i + 50] for i in range(0, len(whole), 50)], "50 bytes at a time")):
            got, want = (exchange(port, parts) for port in ports)
            tap.ok(got == want and want.count(b"HTTP/1.1 200") == len(MIXED) - 1, "direct and by streams, %s: the same" % name,
                   "%r\n%r" % (got[:2000], want[:2000]))
        s = lib.connect(ports[0])
        flood = threading.Thread(target=s.sendall, args=(b"GET /?s=1000 HTTP/1.1\r\nHost: a\r\n\r\n" * 20000,))
        flood.start()
        r = lib.Reader(s)
        tap.ok(all(len(r.response()[2]) == 1000 for _ in range(20000)), "20000 requests at once: as many answers")
        flood.join()
        s.close()
        exchange(ports[1], [b"GET /?s=1000 HTTP/1.1\r\nHost: a\r\n\r\n" * 19999 +
                            b"GET /?s=1000 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"])
        rows = p.stats()
        for column in ("req_tot", "h1req", "intercepted", "hrsp_2xx", "hrsp_4xx", "h1_total_streams"):
            tap.eq(*(rows[n, "FRONTEND"][column] for n in ("direct", "streams")), "%s is that of streams" % column)
        tap.ok(int(p.info()["CumReq"]) > 40000, "and so is the process's")
    for line, error in (("frontend f\n    http-request use-service haterm direct if TRUE", "nothing may follow it"),
                        ("backend b\n    http-request use-service haterm direct", "is not a frontend")):
        r = subprocess.run([program, "-c", "-f", "/dev/stdin"], input=("defaults\n    mode http\n" + line + "\n").encode(),
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        tap.ok(r.returncode == 1 and error in r.stdout.decode(), "a configuration error: " + error, r.stdout.decode())


def figures(text):
    m = re.search(r"# (\d+) requests, (\d+) connections, (\d+) bytes", text)
    e = re.search(r"# (\d+) errors", text)
    return tuple(int(x) for x in m.groups()) + (int(e.group(1)),) if m and e else (0, 0, 0, -1)


class Seen:
    """An origin that counts; <per_conn> answers on each connection, or for ever."""

    def __init__(self, per_conn=0, answer=b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabcde"):
        self.lock, self.per_conn, self.answer = threading.Lock(), per_conn, answer
        self.conns = self.requests = 0
        self.heads = set()
        self.server = lib.Server(self.one)
        self.port = self.server.port

    def one(self, s):
        with self.lock:
            self.conns += 1
        n, data = 0, b""
        while True:
            part = s.recv(65536)
            if not part:
                return
            data += part
            while b"\r\n\r\n" in data:
                head, data = data.split(b"\r\n\r\n", 1)
                n += 1
                with self.lock:
                    self.requests += 1
                    self.heads.add(head)
                s.sendall(self.answer)
                if self.per_conn and n == self.per_conn:
                    return


def haload(tap, tools):
    o = Seen()
    code, out, err = tools.load("-c", "7", "-t", "2", "-n", "500", "-H", "X-One: 1", "-H", "Host: other",
                                "http://127.0.0.1:%d/a?b=c" % o.port)
    tap.eq((code, figures(out)), (0, (500, 7, 2500, 0)), "500 requests on 7 connections")
    tap.eq((o.requests, o.conns), (500, 7), "the origin has seen as many")
    tap.eq(o.heads, {b"GET /a?b=c HTTP/1.1\r\nx-one: 1\r\nhost: other"}, "each says what it should")
    tap.ok("2xx 500" in out, "statuses are told", out)
    tap.eq(err, "", "nothing on stderr")
    o = Seen()
    code, out, _ = tools.load("-c", "3", "-n", "100", "-r", "4", "http://127.0.0.1:%d/" % o.port)
    f = figures(out)
    tap.ok(code == 0 and f[0] == 100 and o.requests == 100 and f[1] == o.conns >= 25, "-r 4: 25 connections or more",
           (out, o.conns))
    tap.ok(any(b"connection: close" in h for h in o.heads), "the last request of a connection says so", o.heads)
    o = Seen()
    code, out, _ = tools.load("-c", "2", "-m", "4", "-n", "60", "http://127.0.0.1:%d/" % o.port)
    tap.eq((code, figures(out)[0], o.requests, o.conns), (0, 60, 60, 2), "HTTP/1 carries one request at once, whatever -m says")
    o = Seen(per_conn=3)
    code, out, _ = tools.load("-c", "2", "-n", "60", "http://127.0.0.1:%d/" % o.port)
    tap.eq((code, figures(out)[0], figures(out)[3]), (0, 60, 0), "kept connections that close are no errors")
    o = Seen(answer=b"HTTP/1.1 404 Not Found\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n")
    code, out, _ = tools.load("-n", "10", "-M", "PURGE", "http://127.0.0.1:%d" % o.port)
    tap.ok(figures(out) == (10, 1, 30, 0) and "4xx 10" in out, "chunks, 404, another method", out)
    tap.ok(all(h.startswith(b"PURGE / HTTP/1.1") for h in o.heads), "the method is sent", o.heads)
    o = Seen(answer=b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n")
    tap.eq(tools.load("-n", "10", "-I", "http://127.0.0.1:%d/" % o.port)[0], 0, "HEAD has no body")
    o = Seen(answer=b"nonsense\r\n\r\n")
    code, out, _ = tools.load("-n", "5", "http://127.0.0.1:%d/" % o.port)
    tap.eq((code, figures(out)[0], figures(out)[3]), (1, 0, 5), "bad answers are errors, and the exit status says so")
    code, out, _ = tools.load("-n", "3", "-w", "100", "http://127.0.0.1:%d/"
                              % lib.Server(lambda s: s.recv(1 << 16) and time.sleep(2)).port)
    tap.ok(code == 1 and "3 errors (3 timeouts" in out, "answers that do not come are timeouts", out)
    port = lib.ports(1)[0]
    code, out, _ = tools.load("-n", "3", "http://127.0.0.1:%d/" % port)
    tap.ok(code == 1 and "3 errors (0 timeouts, 3 without" in out, "nobody listens", out)
    tap.eq(tools.load("-e", "-d", "60", "http://127.0.0.1:%d/" % port)[0], 1, "-e ends at once")


def haload_paced(tap, tools, port, tls):
    code, out, _ = tools.load("-c", "4", "-t", "2", "-R", "400", "-n", "300", "http://127.0.0.1:%d/?s=3" % port)
    tap.eq((code, figures(out)[0], figures(out)[2]), (0, 300, 900), "a rate: all are sent")
    svg = os.path.join(tools.dir, "run.svg")
    code, out, _ = tools.load("-c", "4", "-R", "100", "-s", "1", "-d", "2", "-o", svg, "http://127.0.0.1:%d/" % port)
    n = figures(out)[0]
    tap.ok(code == 0 and 0 < n <= 151, "a ramp of 1 s and another at 100 a second: at most 150", out)
    text = open(svg).read()
    tap.ok(text.startswith("<svg") and text.endswith("</svg>\n") and text.count("<polyline") == 4, "the picture",
           text[:200])
    lines = [x.split() for x in out.split("\n") if x and x[0] == " "]
    tap.ok(lines and all(len(x) == 10 for x in lines), "a line has ten columns", out)
    for args, url in ((["-2"], "http://127.0.0.1:%d" % port), (["-2"], "https://127.0.0.1:%d" % tls),
                      ([], "https://localhost:%d" % tls)):
        code, out, err = tools.load("-c", "3", "-m", "5" if args else "1", "-n", "400", *args, url + "/?s=10")
        tap.eq((code, figures(out)), (0, (400, 3, 4000, 0)), "%s %s" % (" ".join(args), url.split(":")[0]))
    code, out, _ = tools.load("-2", "-c", "2", "-m", "4", "-r", "10", "-n", "200", "http://127.0.0.1:%d/?s=1" % port)
    f = figures(out)
    tap.ok(code == 0 and f[0] == 200 and f[1] >= 20 and f[3] == 0, "HTTP/2, 10 requests a connection", out)
    code, out, _ = tools.load("-2", "-m", "50", "-n", "100", "-t", "3", "http://127.0.0.1:%d/?s=1m" % port)
    tap.eq((code, figures(out)), (0, (100, 1, 100 << 20, 0)), "100 bodies of 1 MB on one connection")


def latency_bench(tap, tools, program):
    """bench/latency.py, in seconds: rows, no error, one picture."""
    svg = os.path.join(tools.dir, "latency.svg")
    r = subprocess.run([sys.executable, LATENCY, "--seconds", "2", "--ramp", "1",
                        "--rate", "100", "--load", "200", "--conns", "10", "--proxy", "new=" + program, "--tools", tools.dir,
                        "--base-port", str(lib.ports(4)[0]), "--svg", svg], stdout=subprocess.PIPE, timeout=120)
    rows = {x.split()[0]: x.split() for x in r.stdout.decode().split("\n")[2:] if x and x[0] != "+"}
    tap.eq((r.returncode, [rows.get(n, [0])[-1] for n in ("direct", "new")]), (0, ["0", "0"]),
           "latency.py: the direct way and the proxy, no errors")
    tap.ok(re.search(r"^\+ new( +-?\d+){5}$", r.stdout.decode(), re.M), "and what the proxy adds", r.stdout)
    text = open(svg).read()
    tap.ok(text.count("<polyline") == 3 and "new adds" in text, "one picture of all", text[:300])


def command_lines(tap, tools):
    for name, args, text in (("haterm", [], "Usage"), ("haterm", ["-L", "nowhere"], "no address"),
                             ("haterm", ["-L", "1.2.3.4:0"], "no address"), ("haterm", ["-L", ":70000"], "no address"),
                             ("haterm", ["-L", "127.0.0.1::x"], "no address"), ("haterm", ["--what"], "Usage"),
                             ("haload", [], "Usage"), ("haload", ["-c", "0", "http://x/"], "understood"),
                             ("haload", ["-c"], "understood"), ("haload", ["-z", "http://x/"], "understood"),
                             # of a later version of HAProxy; 3.4 has no haload
                             ("haload", ["-ll", "http://x/"], "'-ll' is not understood"), ("haload", ["-P", "http://x/"], "'-P' is not"),
                             ("haload", ["ftp://127.0.0.1/"], "no URL"), ("haload", ["/path"], "no URL"),
                             ("haload", ["http://a\"b/"], "no URL"), ("haload", ["-H", "x", "http://x/"], "understood")):
        r = subprocess.run([tools.path(name)] + args, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=30)
        tap.ok(r.returncode == 1 and text in r.stdout.decode(), "%s %s: exit 1, '%s'" % (name, " ".join(args), text),
               r.stdout.decode())
    for name in ("haterm", "haload"):
        r = subprocess.run([tools.path(name), "-h"], stdout=subprocess.PIPE, timeout=30)
        tap.ok(r.returncode == 0 and b"Usage: " + name.encode() in r.stdout, "%s -h: exit 0" % name)


def main():
    args = lib.arguments(__doc__)
    tap = lib.Tap()
    if lib.is_reference(args.program):
        tap.skip("all", "the tools are extensions")
        tap.done()
    tools = Tools(args.program)
    port, tls = lib.ports(2)
    term = Term(tools, port, tls)
    try:
        haterm(tap, port)
        haterm_tls(tap, tls)
        haload_paced(tap, tools, port, tls)
    finally:
        status = term.stop()
    haterm_direct(tap, args.program)
    tap.ok(status in (-signal.SIGTERM, 143), "haterm ends when it is asked to", status)
    haload(tap, tools)
    latency_bench(tap, tools, args.program)
    command_lines(tap, tools)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
