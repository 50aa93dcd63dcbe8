#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Sections cache: what is kept and what is given (`tables/cache.py`), the heads of hits, room and eviction, large bodies,
servers and clients that break off, order with compression, reloads, many threads at once. --seconds N: of the last."""
import gzip
import random
import re
import threading
import time
from email.utils import formatdate

import lib
from tables import cache as table

CONF = """
%(glob)s
defaults
	mode http
	timeout connect 5s
	timeout client 10s
	timeout server 10s
frontend fe
	bind 127.0.0.1:%(port)d
	default_backend be
	http-after-response set-header x-hit %%[res.cache_hit]/%%[res.cache_name]
backend be
%(filters)s
	http-request cache-use c
	http-response set-header x-before 1
	http-response cache-store c
	http-response set-header x-behind 1
	server s 127.0.0.1:%(server)d
cache c
	total-max-size %(mb)d
	max-age 240
	max-object-size %(object)d
	process-vary %(vary)s
	max-secondary-entries 3
"""


def dated(text):
    return re.sub(r"DAY([+-]\d+)", lambda m: formatdate(time.time() + int(m[1]), usegmt=True), text)


def whole(answer):
    """Bytes of an answer of the table."""
    if isinstance(answer, bytes):
        return answer
    status, body, fields = "200 OK", b"hello", []
    for f in answer:
        if f.startswith("STATUS "):
            status = f[7:]
            body = b"" if status[:3] in ("204", "304") else body
        elif f.startswith("BODY "):
            body = b"x" * int(f[5:])
        else:
            fields.append(dated(f))
    return ("HTTP/1.1 %s\r\n%scontent-length: %d\r\n\r\n" % (status, "".join(f + "\r\n" for f in fields), len(body))).encode() + body


class Scene:
    """A proxy, and a server whose answer(path) is a function."""

    def __init__(self, args, answer, **more):
        self.answer, self.asked = answer, []
        self.server = lib.Server(self.serve)
        self.port = lib.ports(1)[0]
        self.conf = dict({"glob": "", "filters": "", "mb": 4, "object": 100000, "vary": "on", "port": self.port,
                          "server": self.server.port}, **more)
        self.proxy = lib.Proxy(args.program, CONF % self.conf)

    def serve(self, sock):
        r = lib.Reader(sock)
        while True:
            head = r.head()
            if not head:
                return
            r.body(head[1])
            path = head[0].split(" ")[1]
            self.asked.append(path)
            data = self.answer(path, head)
            if data is None:
                return
            sock.sendall(data)
            if b"connection: close" in data[:500]:
                return

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.proxy.__exit__(*exc)
        self.server.close()

    def get(self, path, fields=(), method="GET", version="1.1", host="h"):
        """(from the cache?, status, fields, body)"""
        before = len(self.asked)
        s = lib.connect(self.port)
        s.sendall(("%s %s HTTP/%s\r\nHost: %s\r\n%s\r\n" % (method, path, version, host,
                                                        "".join(dated(f) + "\r\n" for f in fields))).encode())
        got = lib.Reader(s).response(method)
        s.close()
        return (len(self.asked) == before,) + got


def cases(tap, args):
    """Each case has a path of its own."""
    reference = lib.is_reference(args.program)
    for vary in ("on", "off"):
        answers = {}
        with Scene(args, lambda path, head: answers[path.split("/c")[1].split("/")[0]], vary=vary) as x:
            for n, (name, mode, answer, requests, want) in enumerate(table.CASES):
                if mode != vary:
                    continue
                answers[str(n)] = whole(answer)
                got = []
                for rq in requests:
                    words, *fields = rq.split("|")
                    args_ = {"method": "GET", "version": "1.1", "host": "h"}
                    path = "/c%d/x" % n
                    for w in words.split():
                        if w.startswith("HTTP/"):
                            args_["version"] = w[5:]
                        elif w.startswith("@"):
                            args_["host"] = w[1:]
                        elif w.startswith("http://h"):
                            path = "http://h/c%d" % n + w[8:]
                        elif w.startswith("/"):
                            path = "/c%d" % n + w
                        else:
                            args_["method"] = w
                    hit, status, _, body = x.get(path, fields, **args_)
                    shape = "%d/%d" % (status, len(body))
                    got.append(("+" if hit else "-") + ("" if shape == "200/5" else shape))
                # differs: cache-age
                # differs: cache-key
                # differs: cache-s-maxage
                want = table.DIFFERS.get((name, mode), want) if reference else want
                tap.eq(" ".join(got), want, "%s, vary %s" % (name, vary))


def heads(tap, args):
    with Scene(args, lambda path, head: whole([table.MA, table.ET, "x-own: 1", "set-cookie: a=b", "age: 30"])) as x:
        first, hit, head = x.get("/a"), x.get("/a"), x.get("/a", method="HEAD")
        tap.eq((first[0], hit[0], head[0]), (False, True, True), "kept, and given")
        f = dict(hit[2])
        tap.eq((f.get("x-own"), f.get("x-before"), f.get("x-behind"), f.get("x-hit"), f.get("set-cookie")),
               ("1", "1", "1", "1/c", "a=b"), "its fields, and those of rules")
        tap.ok(30 <= int(f["age"]) <= 40 and f["content-length"] == "5", "age and length", f)
        tap.eq(dict(first[2]).get("x-hit"), "0/", "what the server answers is no hit")
        tap.eq((head[1], dict(head[2])["content-length"], head[3]), (200, "5", b""), "HEAD of what GET has brought")
        got = x.get("/a", ['if-none-match: "v1"'])
        tap.eq((got[1], dict(got[2]).get("etag"), got[3]), (304, '"v1"', b""), "304")
        stat = x.proxy.stats()["be", "BACKEND"]
        tap.eq((stat["cache_lookups"], stat["cache_hits"]), ("4", "3"), "counted")
        shown = x.proxy.ctl("show cache")
        tap.ok(re.search(r"^0x\w+: c \(shctx:0x\w+, available blocks:\d+\)\n0x\w+ hash:\d+ vary:0x0{40} size:\d+ \(1 blocks\), "
                         r"refcount:0, expire:\d+\n", shown), "show cache", shown)


def room(tap, args):
    """1 MB: of 3 MB in objects, the last ones stay; each is whole."""
    def answer(path, head):
        n = int(path[1:])
        return whole([table.MA, "BODY 0"])[:-len("content-length: 0\r\n\r\n")] + \
            b"content-length: 30000\r\n\r\n" + (b"%08d" % n) * 3750
    with Scene(args, answer, mb=1, object=100000) as x:
        bad = []
        for n in range(100):
            got = x.get("/%d" % n)
            if got[3] != (b"%08d" % n) * 3750:
                bad.append(n)
        tap.ok(not bad, "all arrive whole", bad)
        if not lib.is_reference(args.program):
            kept = len(re.findall("refcount", x.proxy.ctl("show cache")))
            tap.ok(20 <= kept <= 35, "so many are kept as find room", kept)
            # (room is made in the shard of what comes: one of the first may stay a while, not most of them)
            tap.ok(x.get("/99")[0] and sum(x.get("/%d" % n)[0] for n in range(10)) <= 5, "the last ones")
        for n in (99, 98, 99):
            tap.eq(x.get("/%d" % n)[3], (b"%08d" % n) * 3750, "%d is whole" % n)


def broken(tap, args):
    """Answers that are cut are not kept; nor those that grow beyond what may be."""
    answers = {
        "/length": b"HTTP/1.1 200 OK\r\ncache-control: max-age=100\r\nconnection: close\r\ncontent-length: 100\r\n\r\nshort",
        "/chunk": b"HTTP/1.1 200 OK\r\ncache-control: max-age=100\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n5\r\nshort\r\n",
        "/grows": b"HTTP/1.1 200 OK\r\ncache-control: max-age=100\r\nconnection: close\r\n\r\n" + b"x" * 200000,
    }
    with Scene(args, lambda path, head: answers[path]) as x:
        for path in answers:
            for _ in range(2):
                s = lib.connect(x.port)
                s.sendall(b"GET %s HTTP/1.1\r\nHost: h\r\n\r\n" % path.encode())
                data = lib.recv_all(s) if path == "/grows" else s.recv(65536)
                s.close()
            tap.eq(x.asked.count(path), 2, "%s: not kept" % path)
    big = whole([table.MA, "BODY 99000"])
    with Scene(args, lambda path, head: big) as x:
        for _ in range(5): # clients that leave: the server's answer may or may not be kept, but only whole
            s = lib.connect(x.port)
            s.sendall(b"GET /big HTTP/1.1\r\nHost: h\r\n\r\n")
            s.recv(100)
            lib.reset(s)
        got = x.get("/big")
        tap.eq(len(got[3]), 99000, "clients that leave do no harm")
        slow = [lib.connect(x.port) for _ in range(3)]
        for s in slow: # hits whose clients read nothing yet
            s.sendall(b"GET /big HTTP/1.1\r\nHost: h\r\n\r\n")
        time.sleep(0.2)
        for n in range(80): # meanwhile it leaves
            x.get("/other%d" % n)
        x.get("/big", method="POST")
        tap.eq([len(lib.Reader(s).response()[2]) for s in slow], [99000] * 3, "an object lives as long as it is sent")
        for s in slow:
            s.close()


def compressed(tap, args):
    text = b"the same words " * 2000
    answer = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncache-control: max-age=100\r\ncontent-length: %d\r\n\r\n" % len(text) + text
    with Scene(args, lambda path, head: answer,
               filters="\tfilter cache c\n\tfilter compression\n\tcompression algo gzip") as x:
        a = x.get("/t", ["accept-encoding: gzip"])
        b = x.get("/t", ["accept-encoding: gzip"])
        c = x.get("/t")
        tap.eq((a[0], b[0], c[0]), (False, True, True), "kept before compression")
        tap.ok(gzip.decompress(a[3]) == gzip.decompress(b[3]) == c[3] == text, "compressed for who can read it")


def reloads(tap, args):
    if lib.is_reference(args.program):
        return
    with Scene(args, lambda path, head: whole([table.MA])) as x:
        x.get("/a")
        x.proxy.ctl("reload")
        tap.ok(x.get("/a")[0], "a reload keeps what is there")
        with open(x.proxy.conf_path) as f:
            text = f.read()
        with open(x.proxy.conf_path, "w") as f:
            f.write(text.replace("total-max-size 4", "total-max-size 5"))
        x.proxy.ctl("reload")
        tap.ok(not x.get("/a")[0], "another size begins anew")


def second(tap, args):
    """At most max-secondary-entries (3) of one address that vary."""
    with Scene(args, lambda path, head: whole([table.MA, "vary: origin"])) as x:
        for o in "abcde":
            x.get("/v", ["origin: " + o])
        tap.eq([x.get("/v", ["origin: " + o])[0] for o in "abcde"], [True, True, True, False, False], "three are kept")


def storm(tap, args):
    """Many threads ask for few addresses, of which some change, while all is evicted and reloaded."""
    def answer(path, head):
        n = int(path.split("/")[2])
        body = (b"%08d" % n) * (n % 9000)
        kind = n % 3
        head = b"HTTP/1.1 200 OK\r\ncache-control: max-age=%d\r\n" % (1 + n % 5)
        if kind == 0:
            return head + b"content-length: %d\r\n\r\n" % len(body) + body
        return head + b"transfer-encoding: chunked\r\n\r\n" + b"%x\r\n%s\r\n" % (len(body) or 1, body or b"z") + b"0\r\n\r\n"
    with Scene(args, answer, mb=1, glob="\tnbthread 4") as x:
        bad, over, done = [], threading.Event(), [0, 0]

        def client(seed):
            rng = random.Random(seed)
            s, r = None, None
            while not over.is_set():
                n = int(rng.paretovariate(0.5)) % 2000
                try:
                    if not s:
                        s = lib.connect(x.port)
                        r = lib.Reader(s)
                    s.sendall(b"GET /s/%d HTTP/1.1\r\nHost: h\r\n\r\n" % n)
                    if rng.random() < 0.02:
                        lib.reset(s)
                        s = None
                        continue
                    got = r.response()
                    want = (b"%08d" % n) * (n % 9000) or (b"" if n % 3 == 0 else b"z")
                    if got[0] != 200 or got[2] != want:
                        bad.append((n, got[0], len(got[2]), len(want)))
                    done[0] += 1
                    done[1] += dict(got[1]).get("x-hit", "")[:1] == "1"
                except (OSError, IndexError, TypeError) as e:
                    bad.append((n, repr(e)))
                    s = None
        threads = [threading.Thread(target=client, args=(i,)) for i in range(12)]
        for t in threads:
            t.start()
        end = time.monotonic() + args.seconds
        while time.monotonic() < end:
            time.sleep(0.3)
            x.proxy.ctl("show cache")
            if not lib.is_reference(args.program):
                x.proxy.ctl("reload")
        over.set()
        for t in threads:
            t.join()
        tap.ok(not bad and done[0] > 100 and done[1] > 10, "%d answers, %d of the cache: all right" % tuple(done), bad[:5])
        refs = lib.until(lambda: not re.search(r"refcount:[1-9]", x.proxy.ctl("show cache")))
        tap.ok(refs, "nothing is held", x.proxy.ctl("show cache"))


def main():
    args = lib.arguments(__doc__, ("seconds", 3, "of many threads"))
    tap = lib.Tap()
    tap.run((cases, heads, room, broken, compressed, reloads, second, storm), args)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
