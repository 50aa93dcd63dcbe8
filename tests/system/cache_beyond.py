#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What sections cache do beyond the reference's: validation, what is stale (RFC 5861), one request for many, ranges, removal by
address, prefix and tag, early hints. --seconds N: of the storm; --clients N: of one that is stale."""
import asyncio
import gzip
import re
import tempfile
import threading
import time

import lib
import lib_quic

CONF = """
global
	nbthread 4
defaults
	mode http
	timeout connect 2s
	timeout client 20s
	timeout server 20s
	retries 0
frontend fe
	bind 127.0.0.1:%(port)d
	default_backend be
	http-request cache-purge c if { method PURGE } !{ path_beg /by- }
	http-request cache-purge c url %%[req.hdr(x-what)] if { path /by-url }
	http-request cache-purge c prefix %%[req.hdr(x-what)] if { path /by-prefix }
	http-request cache-purge c tag %%[req.hdr(x-what)] if { path /by-tag }
	http-request return status 204 if { path_beg /by- }
	http-request return status 204 if { method PURGE }
	http-after-response set-header x-hit %%[res.cache_hit]/%%[res.cache_name]
backend be
	http-request cache-use c
	http-response cache-store c
	server s 127.0.0.1:%(server)d
cache c
	total-max-size 4
	max-age 240
	max-object-size 400000
	process-vary on
%(lines)s
"""


class Scene:
    """A proxy, and a server whose answer(path, head, nth) is a function: bytes; None: it closes."""

    def __init__(self, args, answer, lines, conf=CONF):
        self.answer, self.asked, self.lock = answer, [], threading.Lock()
        self.server = lib.Server(self.serve)
        self.port = lib.ports(1)[0]
        self.proxy = lib.Proxy(args.program, conf % {"port": self.port, "server": self.server.port, "lines": "".join("\t%s\n" % x for x in lines)})

    def serve(self, sock):
        r = lib.Reader(sock)
        while True:
            head = r.head()
            if not head:
                return
            r.body(head[1])
            method, path = head[0].split(" ")[:2]
            with self.lock:
                self.asked.append((method, path, dict(head[1])))
                n = len([1 for a in self.asked if a[1] == path])
            data = self.answer(path, dict(head[1]), n)
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

    def ask(self, path, fields=(), method="GET"):
        s = lib.connect(self.port)
        s.sendall(("%s %s HTTP/1.1\r\nHost: h\r\n%s\r\n" % (method, path, "".join(f + "\r\n" for f in fields))).encode())
        got = lib.Reader(s).response(method)
        s.close()
        return got

    def get(self, path, fields=(), method="GET"):
        """(requests that the server got for it, status, hit?, body, fields)"""
        before = len(self.asked)
        status, got, body = self.ask(path, fields, method)
        got = dict(got)
        return len(self.asked) - before, status, got.get("x-hit", "").startswith("1"), body, got

    def brief(self, *a, **k):
        return self.get(*a, **k)[:4]

    def last(self, name):
        return self.asked[-1][2].get(name)


def ok(body=b"hello", *fields, status="200 OK"):
    head = "HTTP/1.1 %s\r\n%scontent-length: %d\r\n\r\n" % (status, "".join(f + "\r\n" for f in fields), len(body))
    return head.encode() + body


def unchanged(*fields):
    return ("HTTP/1.1 304 Not Modified\r\n%s\r\n" % "".join(f + "\r\n" for f in fields)).encode()


def stale():
    time.sleep(1.3)


def validation(tap, args):
    state = {"tag": '"v1"', "body": b"one"}

    def answer(path, head, n):
        if path == "/date":
            if "if-modified-since" in head:
                return unchanged("cache-control: max-age=100")
            return ok(b"dated", "cache-control: max-age=1", "last-modified: Tue, 01 Nov 2022 10:00:00 GMT")
        if path == "/none":
            return ok(b"none", "cache-control: max-age=1")
        if path == "/gone" and "if-none-match" in head:
            return ok(b"", "cache-control: no-store", status="404 Not Found")
        if path == "/forbids" and "if-none-match" in head:
            return unchanged('etag: "v1"', "cache-control: no-store")
        age = 100 if path == "/kept" and n > 1 else 1
        if state["tag"] in head.get("if-none-match", ""):
            return unchanged("etag: " + state["tag"], "cache-control: max-age=%d" % age, "x-new: %d" % n, "content-type: text/wrong",
                             "connection: x-hop", "x-hop: 1")
        return ok(state["body"], "cache-control: max-age=%d" % age, "etag: " + state["tag"], "x-old: 1", "x-new: 0", "content-type: text/plain")
    with Scene(args, answer, ["revalidate 60"]) as x:
        for path in ("/kept", "/tags", "/date", "/none", "/new", "/head", "/gone", "/forbids", "/weak"):
            x.get(path)
        tap.eq(x.brief("/kept"), (0, 200, True, b"one"), "a hit")
        stale()
        n, status, hit, body, got = x.get("/kept")
        tap.eq((n, status, hit, body), (1, 200, True, b"one"), "stale: the server is asked, the body is ours")
        tap.eq(x.last("if-none-match"), '"v1"', "with the tag")
        tap.eq((got.get("x-new"), got.get("x-old"), got.get("content-type"), got.get("x-hop"), got["cache-control"]),
               ("2", "1", "text/plain", None, "max-age=100"), "304 replaces fields of the head, but for those of the content and of the connection")
        tap.eq(x.brief("/kept"), (0, 200, True, b"one"), "it is fresh again")
        tap.eq(x.brief("/kept", ['If-None-Match: "v1"']), (0, 304, True, b""), "and has its tag")
        # the client's own conditions
        tap.eq(x.brief("/tags", ['If-None-Match: "v1"']), (1, 304, True, b""), "a client has what is still current")
        tap.eq(x.last("if-none-match"), '"v1", "v1"', "both tags were sent")
        stale()
        tap.eq(x.brief("/tags", ['If-None-Match: "v0"']), (1, 200, True, b"one"), "a client has something older: it gets ours")
        stale()
        state.update(tag='"v2"', body=b"two")
        tap.eq(x.brief("/tags", ['If-None-Match: "v2"']), (1, 304, False, b""), "a client has something newer than we: 304 is about that")
        tap.eq(x.brief("/tags", ['If-None-Match: "v1"']), (1, 200, False, b"two"), "ours is not that: a new one comes")
        tap.eq(x.brief("/tags"), (0, 200, True, b"two"), "and is kept")
        tap.eq(x.brief("/new"), (1, 200, False, b"two"), "what has changed is replaced")
        tap.eq(x.brief("/new"), (0, 200, True, b"two"), "by what is given then")
        tap.eq(x.brief("/date"), (1, 200, True, b"dated"), "validated by its date")
        tap.eq((x.last("if-modified-since"), x.last("if-none-match")), ("Tue, 01 Nov 2022 10:00:00 GMT", None), "which was sent")
        tap.eq(x.brief("/none"), (1, 200, False, b"none"), "no validator: fetched")
        tap.eq(x.last("if-none-match"), None, "without a condition")
        tap.eq(x.brief("/head", method="HEAD")[:3], (1, 200, False), "HEAD asks the server")
        tap.eq(x.last("if-none-match"), None, "without a condition of ours")
        tap.eq(x.brief("/gone"), (1, 404, False, b""), "what is gone is gone")
        tap.eq(x.brief("/forbids"), (1, 200, True, b"one"), "304 with no-store: given once")
        tap.eq(x.brief("/forbids"), (1, 200, False, b"two"), "and not kept")
        log = lib.until(lambda: "refcount" in x.proxy.ctl("show cache") and not re.search("refcount:[1-9]", x.proxy.ctl("show cache")))
        tap.ok(log, "nothing is held", x.proxy.ctl("show cache"))
    with Scene(args, answer, []) as x:
        x.get("/kept")
        stale()
        tap.eq(x.brief("/kept")[:3], (1, 200, False), "without the line: fetched, as the reference does")
        tap.eq(x.last("if-none-match"), None, "without a condition")


def errors(tap, args):
    fail = {"how": None}

    def answer(path, head, n):
        if n > 1 and fail["how"] == "503":
            return ok(b"down", status="503 Service Unavailable")
        if n > 1 and fail["how"] == "close":
            return None
        if n > 1 and fail["how"] == "404":
            return ok(b"no", status="404 Not Found")
        control = {"/strict": "max-age=1, must-revalidate", "/shared": "s-maxage=1", "/said": "max-age=1, stale-if-error=1",
                   "/more": "s-maxage=1, stale-if-error=60"}.get(path, "max-age=1")
        return ok(b"good", "cache-control: " + control)
    with Scene(args, answer, ["stale-if-error 30"]) as x:
        paths = ["/503", "/close", "/404", "/strict", "/shared", "/said", "/more"]
        for p in paths:
            x.get(p)
        stale()
        fail["how"] = "503"
        tap.eq(x.brief("/503"), (1, 200, True, b"good"), "503 of the server: what is stale is given")
        tap.eq(x.brief("/503"), (0, 200, True, b"good"), "and for a moment nobody asks")
        tap.eq(x.brief("/strict")[1:3], (503, False), "not with must-revalidate")
        tap.eq(x.brief("/shared")[1:3], (503, False), "not with s-maxage alone")
        tap.eq(x.brief("/more")[1:3], (200, True), "but with the word for it")
        fail["how"] = "close"
        tap.eq(x.brief("/close"), (1, 200, True, b"good"), "the server breaks off: the same")
        fail["how"] = "404"
        tap.eq(x.brief("/404")[1:3], (404, False), "404 is an answer")
        time.sleep(1)
        fail["how"] = "503"
        tap.eq(x.brief("/said")[1:3], (503, False), "the answer's own limit is over")
        x.proxy.ctl("disable server be/s")
        tap.eq(x.brief("/503"), (0, 200, True, b"good"), "no server is left: the same")
        tap.eq(x.brief("/never")[1:3], (503, False), "what was never kept")
        stat = [r.split(",") for r in x.proxy.ctl("show stat").splitlines() if r.startswith("be,s,")][0]
        tap.eq(stat[4], "0", "the server has no session any more")
        fail["how"] = None
        x.proxy.ctl("enable server be/s")
        time.sleep(1.2)
        tap.eq(x.brief("/503"), (1, 200, False, b"good"), "it is back: asked again")


def refreshing(tap, args):
    """One asks the server, and waits; the others get what is stale meanwhile."""
    go, begun = threading.Event(), threading.Event()

    def answer(path, head, n):
        if n == 2:
            begun.set()
            go.wait(10)
        return ok(b"n%d" % n, "cache-control: max-age=1")
    with Scene(args, answer, ["stale-while-revalidate 30"]) as x:
        x.get("/a")
        stale()
        got = []
        t = threading.Thread(target=lambda: got.append(x.brief("/a")[1:]))
        t.start()
        begun.wait(10)
        tap.eq([x.brief("/a") for _ in range(3)], [(0, 200, True, b"n1")] * 3, "who comes meanwhile gets what is stale")
        tap.eq(x.brief("/a", method="HEAD")[:3], (0, 200, True), "HEAD too")
        go.set()
        t.join()
        tap.eq(got, [(200, False, b"n2")], "who has asked gets what is new")
        tap.eq(x.brief("/a"), (0, 200, True, b"n2"), "as does everybody now")
        # one that asks, and leaves
        x.asked.clear()
        go.clear()
        begun.clear()
        x.get("/b")
        stale()
        s = lib.connect(x.port)
        s.sendall(b"GET /b HTTP/1.1\r\nHost: h\r\n\r\n")
        begun.wait(10)
        tap.eq(x.brief("/b"), (0, 200, True, b"n1"), "somebody asks")
        lib.reset(s)
        go.set()
        tap.ok(lib.until(lambda: x.brief("/b")[2:] in ((False, b"n3"), (True, b"n2"))), "he has left: the next one asks, or has his answer")


def collapsed(tap, args):
    go, begun = threading.Event(), threading.Event()

    def answer(path, head, n):
        if "if-none-match" in head and path != "/private":
            time.sleep(0.3)
            return unchanged('etag: "v"', "cache-control: max-age=100")
        if n == 1:
            begun.set()
            go.wait(10)
            if path == "/broken":
                return None
        if path == "/private":
            return ok(b"mine", "cache-control: private")
        if path == "/big":
            return ok(b"b" * 500000, "cache-control: max-age=100")
        return ok(b"x" * 300000, "cache-control: max-age=%d" % (1 if path == "/stale" else 100), 'etag: "v"')

    def many(x, path, count, before=None):
        got = []
        threads = [threading.Thread(target=lambda: got.append(x.brief(path)[1:])) for _ in range(count)]
        for t in threads:
            t.start()
        if before:
            before()
        for t in threads:
            t.join()
        return got

    def release(x, path, count):
        """All of them wait, but for the one that asks."""
        def before():
            begun.wait(10)
            lib.until(lambda: x.proxy.ctl("show sess all").count("cache") >= count - 1, 3)
            go.set()
        go.clear()
        begun.clear()
        return many(x, path, count, before)
    with Scene(args, answer, ["collapse-requests 10s", "revalidate 60"]) as x:
        got = release(x, "/a", args.clients)
        tap.eq((len(got), set(g[0] for g in got), set(len(g[2]) for g in got)), (args.clients, {200}, {300000}), "one for %d: all are answered" % args.clients)
        tap.eq(len([1 for a in x.asked if a[1] == "/a"]), 1, "by one request")
        tap.eq(sorted(g[1] for g in got), [False] + [True] * (args.clients - 1), "which is no hit, as the others are")
        x.get("/stale")
        stale()
        got = many(x, "/stale", args.clients)
        tap.eq((set(g[0] for g in got), len([1 for a in x.asked if a[1] == "/stale"])), ({200}, 2), "%d ask for what is stale: one validates it" % args.clients)
        got = release(x, "/private", 8)
        tap.eq((len(got), set(g[2] for g in got)), (8, {b"mine"}), "what is not kept: each gets its own")
        tap.eq(len([1 for a in x.asked if a[1] == "/private"]), 8, "of the server")
        got = release(x, "/broken", 8)
        tap.eq((sorted(g[0] for g in got), len([1 for a in x.asked if a[1] == "/broken"])), ([200] * 7 + [502], 2), "the first one fails: another one tries, for the others")
        got = release(x, "/big", 4)
        tap.eq((set(len(g[2]) for g in got), len([1 for a in x.asked if a[1] == "/big"])), ({500000}, 4), "too large: each for himself")
        # who waits, and leaves
        go.clear()
        begun.clear()
        first = threading.Thread(target=lambda: x.get("/left"))
        first.start()
        begun.wait(10)
        socks = [lib.connect(x.port) for _ in range(10)]
        for s in socks:
            s.sendall(b"GET /left HTTP/1.1\r\nHost: h\r\n\r\n")
        lib.until(lambda: x.proxy.ctl("show sess all").count("cache") >= 10, 3)
        for s in socks[:4]:
            lib.reset(s)
        port = socks[4].getsockname()[1]
        killed = re.search(r"(0x[0-9a-f]+): [^\n]*src=127.0.0.1:%d " % port, x.proxy.ctl("show sess"))
        x.proxy.ctl("shutdown session " + killed.group(1))
        x.proxy.ctl("reload")
        go.set()
        tap.eq([len(lib.Reader(s).response()[2]) for s in socks[5:]], [300000] * 5, "some leave, a reload comes: the others are answered")
        first.join()
        tap.eq(x.brief("/left")[:3], (0, 200, True), "it is kept")
    go.clear()
    begun.clear()
    with Scene(args, answer, ["collapse-requests 200"]) as x:
        first = threading.Thread(target=lambda: x.get("/late"))
        first.start()
        begun.wait(10)
        tap.eq(x.brief("/late")[:3], (1, 200, False), "it takes too long: who waits goes on himself")
        go.set()
        first.join()


def ranges(tap, args):
    body = bytes(range(256)) * 600

    def answer(path, head, n):
        return ok(body, "cache-control: max-age=100", 'etag: "r"', "last-modified: Tue, 01 Nov 2022 10:00:00 GMT")
    with Scene(args, answer, ["serve-ranges on"]) as x:
        n, status, hit, got, fields = x.get("/r", ["Range: bytes=0-4"])
        tap.eq((status, len(got)), (200, len(body)), "what is not kept comes as the server gives it")
        for want, (a, b) in {"0-4": (0, 5), "5-9": (5, 10), "0-0": (0, 1), "153590-": (153590, 153600), "-7": (153593, 153600), "2040-70000": (2040, 70001),
                             "100-999999999999999999999999": (100, 153600), "-999999999": (0, 153600)}.items():
            n, status, hit, got, fields = x.get("/r", ["Range: bytes=" + want])
            tap.eq((n, status, hit, fields.get("content-range"), got == body[a:b]),
                   (0, 206, True, "bytes %d-%d/%d" % (a, b - 1, len(body)), True), "bytes=" + want)
        for want in ("153600-", "999999999999999999999999-", "-0"):
            n, status, hit, got, fields = x.get("/r", ["Range: bytes=" + want])
            tap.eq((n, status, fields.get("content-range"), got), (0, 416, "bytes */153600", b""), "bytes=%s is outside" % want)
        for want in ("bytes=0-1,3-4", "lines=1-2", "bytes=", "bytes=x-y", "bytes=5-4", "bytes=-", "bytes 0-4", "bytes=1-2x"):
            n, status, hit, got, fields = x.get("/r", ["Range: " + want])
            tap.eq((n, status, len(got), fields.get("accept-ranges")), (0, 200, 153600, "bytes"), "%s: the whole" % want)
        for want, status in (('"r"', 206), ('W/"r"', 200), ('"s"', 200), ("Tue, 01 Nov 2022 10:00:00 GMT", 206), ("Wed, 02 Nov 2022 10:00:00 GMT", 200), ("x", 200)):
            tap.eq(x.brief("/r", ["Range: bytes=0-4", "If-Range: " + want])[:2], (0, status), "If-Range: " + want)
        tap.eq(x.brief("/r", ["Range: bytes=0-4", 'If-None-Match: "r"'])[:2], (0, 304), "304 comes before")
        tap.eq(x.brief("/r", ["Range: bytes=0-4"], method="HEAD")[:2], (0, 200), "HEAD has no ranges")
    with Scene(args, answer, []) as x:
        x.get("/r")
        tap.eq(x.brief("/r", ["Range: bytes=0-4"])[:2], (0, 200), "without the line: the whole, as the reference gives")


def removal(tap, args):
    tags = {"/a/1": "news, front", "/a/2": "news", "/b/1": "front page", "/b/2": "newsletter"}

    def answer(path, head, n):
        return ok(path.encode(), "cache-control: max-age=100", "x-tags: " + tags.get(path, "none"))
    with Scene(args, answer, ["tags-from X-Tags"]) as x:
        def fill():
            for p in tags:
                x.get(p)

        def kept():
            return [p for p in tags if "expire" in x.proxy.ctl("show cache") and x.get(p)[0] == 0]

        def clear(what):
            fill()
            return x.proxy.ctl("clear cache " + what).strip()
        tap.eq((clear("c tag news"), kept()), ("2 objects were removed.", ["/b/1", "/b/2"]), "by a tag")
        tap.eq((clear("c prefix http://h/a/"), kept()), ("2 objects were removed.", ["/b/1", "/b/2"]), "by a prefix")
        tap.eq((clear("c url http://h/b/1"), kept()), ("1 objects were removed.", ["/a/1", "/a/2", "/b/2"]), "by an address")
        tap.eq((clear("c"), x.proxy.ctl("show cache").count("expire")), ("4 objects were removed.", 0), "all")
        tap.eq(clear("c tag"), "'clear cache' expects a cache, and 'url <url>', 'prefix <url>', 'tag <word>' or nothing.", "half a command")
        tap.eq(clear("d"), "No such cache.", "no such cache")
        tap.eq(clear(""), "'clear cache' expects the name of a cache.", "no name")
        fill()
        tap.eq(x.brief("/a/1", method="PURGE")[1], 204, "cache-purge")
        tap.eq(kept(), ["/a/2", "/b/1", "/b/2"], "by a rule")
        for how, what, left in (("url", "http://h/b/1", ["/a/1", "/a/2", "/b/2"]), ("prefix", "http://h/a/", ["/b/1", "/b/2"]),
                                ("tag", "front", ["/a/2", "/b/2"]), ("prefix", "", list(tags)), ("tag", "new", list(tags)),
                                ("url", "http://h/a/", list(tags)), ("tag", "none", list(tags))):
            fill()
            tap.eq((x.brief("/by-" + how, ["X-What: " + what])[1], kept()), (204, left), "by a rule: %s '%s'" % (how, what))
        for n in range(3000):
            if n % 100 == 0:
                s = lib.connect(x.port)
                r = lib.Reader(s)
            s.sendall(b"GET /many/%d HTTP/1.1\r\nHost: h\r\n\r\n" % n)
            r.response()
        for n in range(20): # clients that leave amid that
            s = lib.connect(x.port)
            s.sendall(b"GET /by-tag HTTP/1.1\r\nHost: h\r\nX-What: other\r\n\r\n")
            lib.reset(s) if n % 2 else s.close()
        tap.eq(x.proxy.ctl("clear cache c prefix http://h/many/1").strip(), "1111 objects were removed.", "many")
        tap.eq(x.brief("/by-prefix", ["X-What: http://h/many/"])[1], 204, "many, by a rule")
        tap.ok("http://h" not in x.proxy.ctl("show cache") and x.proxy.ctl("show cache").count("expire") <= 4, "they are gone")


COMPRESSED = """
defaults
	mode http
	timeout connect 2s
	timeout client 20s
	timeout server 20s
frontend fe
	bind 127.0.0.1:%(port)d
	default_backend be
	http-response add-header x-rule 1
	http-after-response set-header x-hit %%[res.cache_hit]/%%[res.comp]
backend be
	filter cache c
	filter compression
	filter cache-compressed c
	compression algo gzip
	compression type text/plain
	http-request cache-use c
	http-response cache-store c
	server s 127.0.0.1:%(server)d
cache c
	total-max-size 4
	max-age 240
	max-object-size 400000
	revalidate 60
"""


# fields Link of an answer, and what a client is told of them beforehand
LINKS = (
    (["</a>; rel=preload"], ["</a>; rel=preload"]),
    (["</a,b;c>; rel=preload, </d>;rel=preconnect"], ["</a,b;c>; rel=preload", "</d>;rel=preconnect"]),
    (["</a>; rel=next", "</b>; title=\"x, </c>; rel=preload\"; rel=modulepreload", "</d>; rel=\"y dns-prefetch\""],
     ["</b>; title=\"x, </c>; rel=preload\"; rel=modulepreload", "</d>; rel=\"y dns-prefetch\""]),
    (["</a>; rel=next; rel=preload", "</b>; anchor=\"#x\"; rel=preload", "</c>", "d; rel=preload", "<>; rel=preload", "</e; rel=preload"], []),
    (["</a>; REL = PreLoad ;as=font"], ["</a>; REL = PreLoad ;as=font"]),
    ([",, </a>; rel=preload,", ""], ["</a>; rel=preload"]),
)


def hints(tap, args):
    """The links that come before the answer of the server."""
    def answer(path, head, n):
        what = path.split("/")[1]
        if what == "links":
            return ok(b"", "cache-control: no-cache", *("link: " + x for x in LINKS[int(path.split("/")[2])][0]))
        link = "link: <%s%d>; rel=preload" % (head.get("origin", ""), n)
        if "if-none-match" in head:
            return unchanged('etag: "v"', "cache-control: max-age=1", link)
        if what == "broken" and n > 1:
            return None
        if what == "missing" and n > 1:
            return ok(b"no", status="404 Not Found")
        return ok(b"x", link, *{
            "vary": ["vary: origin, accept-encoding"], "any": ["vary: *"], "unknown": ["vary: cookie"], "secret": ["cache-control: no-store"],
            "tagged": ["x-tags: news"], "stale": ["cache-control: max-age=1", 'etag: "v"'], "public": ["cache-control: public"]}.get(what, []))

    def told(x, path, *fields, method="GET"):
        """The targets of 103, of which there is one, or none; then the status."""
        s = lib.connect(x.port)
        s.sendall(("%s %s HTTP/1.1\r\nHost: h\r\n%s\r\n" % (method, path, "".join(f + "\r\n" for f in fields))).encode())
        r, links, status = lib.Reader(s), [], 103
        while status == 103:
            links.append([v for k, v in (got if links else []) if k == "link"])
            line, got = r.head()
            status = int(line.split(" ")[1])
        s.close()
        return links[1:], status

    def targets(*a, **k):
        links, status = told(*a, **k)
        return [re.match("<(.*)>", x)[1] for x in links[0]] if links else None
    with Scene(args, answer, ["early-hints on http1", "revalidate 60", "tags-from x-tags"]) as x:
        for n, (_, want) in enumerate(LINKS):
            path = "/links/%d" % n
            told(x, path)
            tap.eq(told(x, path), ([want] if want else [], 200), "of %s" % LINKS[n][0])
        for path in ("/vary", "/any", "/unknown", "/secret", "/tagged", "/stale", "/broken", "/missing", "/plain"):
            told(x, path, "Origin: a")
        tap.eq(targets(x, "/vary", "Origin: a", "Accept-Encoding: gzip"), ["a1"], "an answer that varies: for who has the same")
        tap.eq(targets(x, "/vary", "Origin: b"), None, "not for others")
        tap.eq([targets(x, p) for p in ("/any", "/unknown", "/secret")], [None] * 3, "nobody knows whom it is for, or nobody may")
        tap.eq(targets(x, "/plain", "Authorization: me"), None, "not to who shows an authorization")
        tap.eq(targets(x, "/plain", "Cache-Control: no-cache"), None, "not to who wants nothing of a cache")
        tap.eq(targets(x, "/plain", method="HEAD"), None, "not before HEAD")
        tap.eq(told(x, "/broken"), ([["<a1>; rel=preload"]], 502), "the server breaks off: 502 behind it")
        tap.eq([told(x, "/missing")[1], targets(x, "/missing")], [404, ["a1"]], "404 says nothing about the page")
        x.proxy.ctl("clear cache c tag news")
        tap.eq(targets(x, "/tagged"), None, "removed with what has the tag")
        stale()
        tap.eq([told(x, "/stale"), targets(x, "/stale")], [([["<a1>; rel=preload"]], 200), None], "before what is validated, not before a hit")
        stale()
        tap.eq(targets(x, "/stale"), ["2"], "304 renews them")
        stat = x.proxy.stats()["fe", "FRONTEND"]
        tap.eq((stat["hrsp_1xx"], stat["hrsp_5xx"]), ("0", "1"), "103 is no answer to count")
        tap.ok(lib.until(lambda: not re.search(r"refcount:[1-9]", x.proxy.ctl("show cache"))), "nothing is held", x.proxy.ctl("show cache"))
    with Scene(args, answer, ["early-hints only http1", "early-hints-max-age 1", "rfc9111 on"]) as x:
        tap.eq([targets(x, "/unknown", "Cookie: a"), targets(x, "/unknown", "Cookie: a"), targets(x, "/unknown", "Cookie: b")], [None, ["1"], None],
               "rfc9111: by any field")
        told(x, "/public", "Authorization: me")
        told(x, "/own", "Authorization: me")
        tap.eq([targets(x, p, "Authorization: me") for p in ("/public", "/own")], [["1"], None], "rfc9111: to who shows an authorization, if it is public")
        tap.eq(told(x, "/plain", "Cache-Control: only-if-cached")[1], 200, "only-if-cached is not for a cache of links")
        stale()
        tap.eq(targets(x, "/unknown", "Cookie: a"), None, "too old")


def hints_h3(tap, args):
    """Links of a cache and of a rule, over HTTP/3: an answer 103 on the stream, before the one of the server; a hit has none."""
    if not lib_quic.HAVE_AIOQUIC:
        tap.skip("early hints over HTTP/3", "the Python module aioquic is not installed")
        return

    def answer(path, head, n):
        return ok(b"%d" % n, "cache-control: " + ("max-age=100" if n == 2 else "no-cache"), "link: </%d.css>; rel=preload" % n)

    async def talk(port):
        async with lib_quic.client(port) as c:
            out = []
            for path in ("/page",) * 3 + ("/rule",) * 2:
                stream = c.begin("GET", path)
                status, _, body, _ = await c.answer(stream)
                out.append(([[(k, v) for k, v in h if k != b":status"] for h in c.interim.get(stream, ()) if h[0] == (b":status", b"103")],
                            status, body))
            return out
    with tempfile.TemporaryDirectory(prefix="hapt.") as folder:
        crt = folder + "/localhost.pem"
        if not lib_quic.certificate(crt):
            tap.skip("early hints over HTTP/3", "there is no openssl to make a certificate")
            return
        udp = lib.ports(1)[0]
        conf = CONF.replace("\tnbthread 4", "\tnbthread 4\n\tlimited-quic").replace(
            "\tdefault_backend be\n", "\tbind quic4@127.0.0.1:%d ssl crt %s\n\tdefault_backend be\n"
            "\thttp-request early-hint Link \"</rule.js>; rel=preload\" if { path /rule }\n" % (udp, crt), 1)
        with Scene(args, answer, ["early-hints on"], conf) as x:
            got = asyncio.run(talk(udp))
            tap.eq(got[0], ([], 200, b"1"), "HTTP/3: nothing is known")
            tap.eq(got[1], ([[(b"link", b"</1.css>; rel=preload")]], 200, b"2"), "HTTP/3: 103, then the answer")
            tap.eq(got[2], ([], 200, b"2"), "HTTP/3: a hit has none")
            rule = [(b"link", b"</rule.js>; rel=preload")]
            tap.eq(got[3], ([rule], 200, b"1"), "HTTP/3: 103 of a rule")
            tap.eq(got[4], ([rule, [(b"link", b"</1.css>; rel=preload")]], 200, b"2"), "HTTP/3: that of a rule, then that of the cache")
            tap.ok(x.proxy.alive(), "HTTP/3: the program still runs")


def compressed(tap, args):
    """What compression has made of an answer, or of a hit, is kept: it is made once."""
    body = b"some text, again and again\n" * 4000

    def answer(path, head, n):
        if "if-none-match" in head:
            return unchanged('ETag: "e"', "Cache-Control: max-age=100")
        return ok(body, "Cache-Control: max-age=%d" % (1 if path == "/stale" else 100), "Content-Type: " + ("image/png" if path == "/png" else "text/plain"),
                  'ETag: "e"', *(["Vary: Accept-Encoding"] if path == "/vary" else []))

    def look(x, path, *fields):
        n, status, hit, got, heads = x.get(path, fields)
        plain = gzip.decompress(got) if heads.get("content-encoding") == "gzip" else got
        return n, status, heads.get("content-encoding"), plain == body, heads.get("x-hit"), heads.get("x-rule")

    with Scene(args, answer, (), COMPRESSED) as x:
        with_gzip = "Accept-Encoding: gzip"
        tap.eq(look(x, "/a", with_gzip), (1, 200, "gzip", True, "0/1", "1"), "the first one is compressed on its way")
        tap.eq([look(x, "/a", with_gzip) for _ in range(2)], [(0, 200, "gzip", True, "1/0", "1")] * 2, "the next ones are given that")
        tap.eq(look(x, "/a", "Accept-Encoding: identity"), (0, 200, None, True, "1/0", "1"), "others get it plain")
        tap.eq(look(x, "/a"), (0, 200, None, True, "1/0", "1"), "so does who names no coding")
        heads = x.get("/a", [with_gzip])[4]
        tap.eq((heads.get("etag"), heads.get("vary"), int(heads["content-length"]) < 2000), ('W/"e"', "Accept-Encoding", True), "its head is that of compression")
        tap.eq(x.get("/a", [with_gzip, 'If-None-Match: W/"e"'])[1], 304, "it has its tag")
        tap.eq(look(x, "/b")[2:5], (None, True, "0/0"), "plain at first")
        tap.eq([look(x, "/b", with_gzip)[0::4] for _ in range(2)], [(0, "1/1"), (0, "1/0")], "a hit that is compressed is kept, too")
        tap.eq([look(x, "/png", with_gzip)[2:5:2] for _ in range(2)], [(None, "0/0"), (None, "1/0")], "what is not compressed is plain")
        tap.eq([look(x, "/vary", with_gzip)[0::4] for _ in range(2)], [(1, "0/1"), (0, "1/0")], "an answer that varies by it already")
        look(x, "/stale", with_gzip)
        stale()
        tap.eq([look(x, "/stale", with_gzip)[0::2] for _ in range(2)], [(1, "gzip", "1/0"), (0, "gzip", "1/0")], "what is compressed is validated as it is")
        tap.eq(x.proxy.ctl("clear cache c url http://h/a").strip(), "2 objects were removed.", "both are removed by their address")
        tap.eq(look(x, "/a", with_gzip)[0::4], (1, "0/1"), "and fetched anew")


def storm(tap, args):
    """Everything at once: short lives, failures, clients that leave, reloads; nothing wrong is given, nothing is held at the end."""
    import random

    def answer(path, head, n):
        if random.random() < 0.05:
            return None
        if random.random() < 0.05:
            return ok(b"", status="503 Service Unavailable")
        if "if-none-match" in head and random.random() < 0.5:
            return unchanged('etag: "%s"' % path, "cache-control: max-age=1")
        if random.random() < 0.1:
            return ok((path * 50).encode(), "cache-control: no-store")
        return ok((path * 50).encode(), "cache-control: max-age=%d" % random.randrange(0, 2), 'etag: "%s"' % path)
    with Scene(args, answer, ["collapse-requests 2s", "revalidate 2", "stale-if-error 2", "stale-while-revalidate 1", "serve-ranges on", "tags-from etag"]) as x:
        bad, over, done = [], threading.Event(), [0, 0]

        def client(seed):
            rng = random.Random(seed)
            s = None
            while not over.is_set():
                path = "/%d" % rng.randrange(12)
                try:
                    if not s:
                        s = lib.connect(x.port)
                        r = lib.Reader(s)
                    part = rng.random() < 0.2
                    s.sendall(("GET %s HTTP/1.1\r\nHost: h\r\n%s\r\n" % (path, "Range: bytes=3-9\r\n" if part else "")).encode())
                    if rng.random() < 0.05:
                        lib.reset(s)
                        s = None
                        continue
                    status, fields, body = r.response()
                    want = (path * 50).encode()
                    done[0] += 1
                    done[1] += dict(fields).get("x-hit", "")[:1] == "1"
                    if not (status in (502, 503) or (status == 200 and body == want) or (status == 206 and body == want[3:10])):
                        bad.append((path, status, body[:80]))
                    if dict(fields).get("connection") == "close":
                        s.close()
                        s = None
                except (OSError, IndexError, TypeError, ValueError) as e:
                    bad.append((path, repr(e)))
                    s = None
        threads = [threading.Thread(target=client, args=(i,)) for i in range(16)]
        for t in threads:
            t.start()
        end = time.monotonic() + args.seconds
        n = 0
        while time.monotonic() < end:
            time.sleep(0.2)
            n += 1
            x.proxy.ctl(["show cache", "clear cache c url http://h/3", "clear cache c", "reload"][n % 4])
        over.set()
        for t in threads:
            t.join()
        tap.ok(not bad and done[0] > 100 and done[1] > 10, "%d answers, %d of the cache: all right" % tuple(done), bad[:5])
        tap.ok(lib.until(lambda: not re.search(r"refcount:[1-9]", x.proxy.ctl("show cache"))), "nothing is held", x.proxy.ctl("show cache"))


def main():
    args = lib.arguments(__doc__, ("seconds", 4, "of the storm"), ("clients", 40, "of one that is stale"))
    tap = lib.Tap()
    tap.run((validation, errors, refreshing, collapsed, ranges, removal, hints, hints_h3, compressed, storm), args)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
