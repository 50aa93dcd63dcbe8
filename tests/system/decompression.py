#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""filter decompression, and compression by br and zstd (extensions): what one proxy compresses the other makes plain, both
ways, by every algorithm and size; what is cut off, broken, or a bomb; who reads slowly does not make it hold the whole.
--count N bodies of each kind (12)."""
import random
import re
import subprocess
import threading
import time
import zlib

import lib

CONF = """
	tune.comp.maxlevel 4
defaults
	mode http
	timeout connect 5s
	timeout client 10s
	timeout server 10s
frontend plain
	bind 127.0.0.1:{plain}
	filter decompression direction both max-ratio 200 max-size 20m
	http-request set-header accept-encoding %[hdr(x-by)] if {{ hdr(x-by) -m found }}
	http-after-response set-header x-coding %[res.hdr(content-encoding)]
	use_backend be-packed if {{ hdr(x-by) -m found }}
	default_backend be-server
backend be-packed
	server s 127.0.0.1:{packed}
backend be-server
	server s 127.0.0.1:{server}
frontend packed
	bind 127.0.0.1:{packed}
	compression algo br zstd gzip deflate raw-deflate
	default_backend be-server
frontend requests
	bind 127.0.0.1:{requests}
	compression direction request
	compression algo-req {algo}
	default_backend be-plain
backend be-plain
	server s 127.0.0.1:{plain}
"""
ALGORITHMS = ("gzip", "deflate", "br", "zstd")


def text(rng, size):
    words = [b"the ", b"proxy ", b"bytes\n", b"0123456789", bytes(rng.randrange(256) for _ in range(5))]
    out = b"".join(rng.choice(words) for _ in range(size // 4 + 1))
    return out[:size]


class Origin:
    """Answers with what was put under a path; keeps the bodies of requests."""

    def __init__(self):
        self.answers, self.got = {}, {}
        self.server = lib.Server(self.run)
        self.port = self.server.port

    def run(self, sock):
        r = lib.Reader(sock)
        while True:
            head = r.head()
            if not head:
                return
            path = head[0].split()[1]
            try:
                self.got[path] = (dict(head[1]), r.body(head[1]))
            except EOFError: # its sender was told to stop
                return
            sock.sendall(self.answers.get(path, b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"))

    def close(self):
        self.server.close()


def answer(body, coding="", extra=b"", cut=None, status=200):
    head = b"HTTP/1.1 %d OK\r\ncontent-length: %d\r\n%s%s\r\n" % (
        status, len(body), b"content-encoding: %s\r\n" % coding.encode() if coding else b"", extra)
    return head + body[:cut]


def ask(port, path, fields=b"", method=b"GET", body=b"", pause=0.0, version=b"1.1"):
    """(status, fields, body or None when it was cut off)"""
    with lib.connect(port) as s:
        s.sendall(b"%s %s HTTP/%s\r\nHost: x\r\n%s\r\n" % (method, path.encode(), version, fields) + body)
        if pause:
            time.sleep(pause)
        r = lib.Reader(s)
        try:
            return r.response(method.decode()) or (None, {}, None)
        except (EOFError, ValueError): # cut off
            return None, {}, None


def gzip(data):
    c = zlib.compressobj(6, zlib.DEFLATED, 31)
    return c.compress(data) + c.flush()


def both_ways(tap, program, count):
    rng = random.Random(5)
    origin = Origin()
    plain, packed, requests = lib.ports(3)
    ports = {"plain": plain, "packed": packed, "requests": requests, "server": origin.port}
    for algo in ALGORITHMS:
        with lib.Proxy(program, CONF.format(algo=algo, **ports)) as p:
            wrong = []
            for i in range(count):
                body = text(rng, rng.choice((1, 10, 1000, 16384, 60000, 300000, 2000000)))
                path = "/%s%d" % (algo, i)
                origin.answers[path] = answer(body)
                status, fields, got = ask(plain, path, b"x-by: %s\r\n" % algo.encode())
                if (status, got) != (200, body) or "content-encoding" in fields or fields.get("x-coding") != algo:
                    wrong.append((path, status, fields, len(body), got and len(got)))
                status, fields, got = ask(packed, path, b"accept-encoding: %s\r\n" % algo.encode())
                if status != 200 or fields.get("content-encoding") != algo or len(got) > len(body) + 300:
                    wrong.append((path, "packed", status, fields))
                status, fields, _ = ask(requests, "/put" + path, b"content-length: %d\r\n" % len(body), b"POST", body)
                if status != 200 or origin.got["/put" + path][1] != body or \
                        "content-encoding" in origin.got["/put" + path][0]:
                    wrong.append(("/put" + path, status, len(body), len(origin.got.get("/put" + path, (0, b""))[1])))
            tap.ok(not wrong, "%s: bodies arrive whole, both ways" % algo, wrong[:3])
            stats = p.stats()["packed", "FRONTEND"]
            tap.ok(int(stats["comp_out"]) < int(stats["comp_in"]) and int(stats["comp_rsp"]) == 2 * count,
                   "%s: and are counted" % algo, stats["comp_in"] + " " + stats["comp_out"])
            if algo == "gzip": # its states are kept for the next streams
                memory = int(p.info()["ZlibMemUsage"])
                tap.ok(100000 < memory < 32 << 20, "show info tells the memory", memory)
    origin.close()


def choice(tap, program):
    """Which algorithm, when a client takes several."""
    origin = Origin()
    plain, packed, requests = lib.ports(3)
    origin.answers["/"] = answer(b"x" * 1000)
    with lib.Proxy(program, CONF.format(algo="br", plain=plain, packed=packed, requests=requests, server=origin.port)):
        for accepted, want in (("gzip, deflate, br, zstd", "br"), ("gzip, zstd", "zstd"), ("gzip, deflate", "gzip"),
                               ("zstd, br", "br"), ("br;q=0.5, gzip", "gzip"), ("br;q=0, zstd;q=0", None),
                               ("br;q=0.1, zstd;q=0.2", "zstd"), ("deflate, gzip", "deflate"), ("BR", "br")):
            _, fields, _ = ask(packed, "/", b"accept-encoding: %s\r\n" % accepted.encode())
            tap.eq(fields.get("content-encoding"), want, accepted)
    origin.close()


def left_alone(tap, program):
    origin = Origin()
    plain, packed, requests = lib.ports(3)
    body = gzip(b"y" * 5000)
    with lib.Proxy(program, CONF.format(algo="gzip", plain=plain, packed=packed, requests=requests, server=origin.port)):
        for name, reply in (("two codings", answer(body, "gzip, br")), ("an unknown one", answer(body, "compress")),
                            ("no-transform", answer(body, "gzip", b"cache-control: no-transform\r\n")),
                            ("a part", answer(body, "gzip", b"content-range: bytes 0-9/100\r\n", status=206)),
                            ("none", answer(body))):
            origin.answers["/a"] = reply
            _, fields, got = ask(plain, "/a")
            tap.ok(got == body and fields.get("content-encoding", "none") in reply.decode("latin-1") + "none",
                   "passes as it is: " + name, fields)
        origin.answers["/a"] = answer(body, "gzip", b'etag: "abc"\r\n')
        _, fields, got = ask(plain, "/a")
        tap.ok(got == b"y" * 5000 and fields.get("etag") == 'W/"abc"' and "content-length" not in fields,
               "the head of what is made plain", fields)
        origin.answers["/h"] = answer(b"", "gzip").replace(b"length: 0", b"length: 77")
        _, fields, _ = ask(plain, "/h", method=b"HEAD")
        tap.ok(fields.get("content-encoding") == "gzip" and fields.get("content-length") == "77", "answers to HEAD", fields)
        origin.answers["/e"] = answer(b"", "gzip")
        status, fields, got = ask(plain, "/e")
        tap.eq((status, got), (200, b""), "no bytes at all are a whole body")
        origin.answers["/x"] = answer(body, "x-gzip")
        tap.eq(ask(plain, "/x")[2], b"y" * 5000, "x-gzip")
        origin.answers["/z"] = answer(zlib.compress(b"z" * 3000), "deflate")
        tap.eq(ask(plain, "/z")[2], b"z" * 3000, "deflate with zlib's head")
        origin.answers["/o"] = answer(body, "gzip")
        tap.eq(ask(plain, "/o", version=b"1.0")[2], b"y" * 5000, "to a client of HTTP/1.0")
    origin.close()


def hostile(tap, program):
    origin = Origin()
    plain, packed, requests = lib.ports(3)
    with lib.Proxy(program, CONF.format(algo="gzip", plain=plain, packed=packed, requests=requests,
                                        server=origin.port)) as p:
        body = gzip(text(random.Random(1), 200000))
        bad = bytearray(body)
        bad[len(bad) // 2] ^= 0xff
        bad[len(bad) // 2 + 1] ^= 0xff
        for name, reply in (("cut off", answer(body[:-20], "gzip")), ("broken", answer(bytes(bad), "gzip")),
                            ("nonsense", answer(b"\xff" * 300, "gzip")), ("nonsense of br", answer(b"\xff" * 300, "br")),
                            ("nonsense of zstd", answer(b"\xff" * 300, "zstd")),
                            ("with more behind its end", answer(body + b"more", "gzip"))):
            origin.answers["/b"] = reply
            status, _, got = ask(plain, "/b")
            tap.ok(got is None or status >= 500, "an answer that is %s is not taken for whole" % name, (status, got and len(got)))
        bomb = gzip(bytes(300 << 20))
        origin.answers["/bomb"] = answer(bomb, "gzip")
        status, _, got = ask(plain, "/bomb")
        tap.ok(got is None or status >= 500, "a bomb ends", (status, got and len(got)))
        for name, data, want in (("nonsense", b"\xff" * 300, 400), ("a cut one", body[:-20], 400), ("a bomb", bomb, 413)):
            fields = b"content-encoding: gzip\r\ncontent-length: %d\r\n" % len(data)
            status, _, _ = ask(plain, "/post", fields, b"POST", data)
            tap.eq(status, want, "the body of a request that is " + name)
        tap.ok(p.alive(), "it lives")
    origin.close()


def rss(pid):
    with open("/proc/%d/status" % pid) as f:
        return int(re.search(r"VmRSS:\s+(\d+)", f.read()).group(1))


def slow(tap, program):
    """19 MB plain of 30 kB: for a client that does not read, only so much is made."""
    origin = Origin()
    plain, packed, requests = lib.ports(3)
    origin.answers["/s"] = answer(gzip(text(random.Random(2), 1000) + bytes(18 << 20)), "gzip")
    conf = CONF.replace("max-ratio 200", "max-ratio 5000")
    with lib.Proxy(program, conf.format(algo="gzip", plain=plain, packed=packed, requests=requests,
                                        server=origin.port)) as p:
        ask(plain, "/none")
        before = rss(p.process.pid)
        socks = []
        for _ in range(30):
            s = lib.connect(plain)
            s.sendall(b"GET /s HTTP/1.1\r\nHost: x\r\n\r\n")
            socks.append(s)
        lib.until(lambda: p.stats()["be-server", "BACKEND"]["hrsp_2xx"] == "30", 5)
        last = 0
        while rss(p.process.pid) != last: # until it has settled
            last = rss(p.process.pid)
            time.sleep(0.3)
        if not lib.is_sanitized(program):
            tap.ok(last - before < 100 * 1024, "540 MB are not held for 30 who do not read", "%d kB" % (last - before))
        whole = []

        def read(s):
            whole.append(len(lib.Reader(s).response()[2]))
            s.close()
        threads = [threading.Thread(target=read, args=(s,)) for s in socks]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        tap.eq(set(whole), {1000 + (18 << 20)}, "and all of it is there for who reads")
    origin.close()


def lines(tap, program):
    for words, want in (("direction sideways", "'direction' expects"), ("max-size none", "'max-size' expects a size"),
                        ("max-ratio 0", "max-ratio"), ("loudly", "unknown word 'loudly'")):
        conf = "defaults\n\tmode http\n\ttimeout client 1s\nfrontend f\n\tbind 127.0.0.1:1\n\tfilter decompression %s\n" % words
        run = subprocess.run([program, "-c", "-f", "/dev/stdin"], input=conf, capture_output=True, text=True)
        tap.ok(run.returncode == 1 and want in run.stderr, words, run.stderr)


def main():
    args = lib.arguments(__doc__, ("count", 12, "bodies of each kind"))
    tap = lib.Tap()
    version = subprocess.run([args.program, "-vv"], capture_output=True, text=True).stdout
    if 'zstd("zstd")' not in version or 'br("br")' not in version or 'gzip("gzip")' not in version:
        tap.skip("all", "it is built without Brotli or Zstandard")
        tap.done()
    tap.attempt("both ways", both_ways, tap, args.program, args.count)
    tap.run((choice, left_alone, hostile, slow, lines), args.program)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
