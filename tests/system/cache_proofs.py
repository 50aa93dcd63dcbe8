#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Nothing wrong is ever given by a cache: each body names its object and version, and proves both by a hash. Objects evicted
under load, reloads in the middle of storing, many clients and one stale object, servers that lie about lengths, clients that
leave at every byte, allocations that fail. The long form: --objects 100000 --reloads 200 --clients 1000 --step 1 --every."""
import hashlib
import random
import re
import tempfile
import threading

import lib
import lib_failing

CONF = """	nbthread %(threads)d
	maxconn 4000
defaults
	mode http
	timeout connect 5s
	timeout client 30s
	timeout server 30s
	retries 0
frontend fe
	bind 127.0.0.1:%(port)d backlog 2000
	default_backend be
	http-after-response set-header x-hit %%[res.cache_hit]
backend be
	%(backend)s
	http-request cache-use c
	http-response cache-store c
	server s 127.0.0.1:%(server)d
cache c
	total-max-size %(mb)d
	max-age 300
	max-object-size 500000
	process-vary on
%(lines)s
"""
FRESH = "cache-control: max-age=300"


def body_of(path, version, size):
    """It says what it is, how long it is, and proves it."""
    name = ("%s %d %d " % (path, version, size)).encode()
    proof = hashlib.sha256(name).hexdigest().encode()
    return (name + proof * (size // len(proof) + 1))[:max(size, len(name))]


def is_right(path, body, highest=None):
    """Is it all of an answer for <path>, of a version that there has been?"""
    words = body.split(b" ", 3)
    if len(words) < 4 or words[0] != path.encode():
        return False
    version, size = int(words[1]), int(words[2])
    return body == body_of(path, version, size) and (highest is None or version <= highest)


def answer_of(body, *fields, chunked=False):
    head = "HTTP/1.1 200 OK\r\n" + "".join(f + "\r\n" for f in fields)
    if chunked:
        half = len(body) // 2 or 1
        return (head + "transfer-encoding: chunked\r\n\r\n").encode() + \
            b"".join(b"%x\r\n%s\r\n" % (len(x), x) for x in (body[:half], body[half:]) if x) + b"0\r\n\r\n"
    return (head + "content-length: %d\r\n\r\n" % len(body)).encode() + body


def request(path, *fields, method="GET"):
    return ("%s %s HTTP/1.1\r\nHost: h\r\n%s\r\n" % (method, path, "".join(f + "\r\n" for f in fields))).encode()


class Scene:
    """A proxy, and a server that calls answer(sock, path, head, nth of this path); False: it closes."""

    def __init__(self, args, answer, mb=4, lines=(), backend="http-reuse always", threads=4, options=(), env=None):
        self.answer, self.count, self.lock = answer, {}, threading.Lock()
        self.server = lib.Server(self.serve)
        self.port = lib.ports(1)[0]
        conf = {"port": self.port, "server": self.server.port, "mb": mb, "backend": backend, "threads": threads,
                "lines": "".join("\t%s\n" % x for x in lines)}
        self.proxy = lib.Proxy(args.program, CONF % conf, args=options, env=env)

    def serve(self, sock):
        r = lib.Reader(sock)
        while True:
            head = r.head()
            if not head:
                return
            r.body(head[1])
            path = head[0].split(" ")[1]
            with self.lock:
                n = self.count[path] = self.count.get(path, 0) + 1
            if self.answer(sock, path, dict(head[1]), n) is False:
                return

    def get(self, path, *fields, method="GET"):
        """(status, fields, body); None: nothing, or not the whole."""
        s = lib.connect(self.port, lib.PATIENCE * 3)
        try:
            s.sendall(request(path, *fields, method=method))
            return lib.Reader(s).response(method)
        except (EOFError, ValueError, OSError):
            return None
        finally:
            s.close()

    def is_quiet(self):
        return bool(lib.until(lambda: not re.search(r"refcount:[1-9]", self.proxy.ctl("show cache"))))

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.proxy.__exit__(*exc)
        self.server.close()


def evicted(tap, args):
    """Many more objects than find room, in a random order, by many at once; some change, some are removed."""
    size = 3000

    def answer(sock, path, head, n):
        k = int(path[1:])
        sock.sendall(answer_of(body_of(path, n, k * 7919 % size), FRESH if k % 5 else "cache-control: max-age=1", chunked=k % 3 == 0))
    bad, hits, lock = [], [0], threading.Lock()
    with Scene(args, answer, mb=2) as x:
        def client(first):
            rng, s, r, mine = random.Random(first), None, None, 0
            todo = list(range(first, args.objects, 8))
            rng.shuffle(todo)
            for k in todo:
                for path in ("/%d" % k, "/%d" % rng.randrange(20), "/%d" % k):
                    try:
                        if not s:
                            s = lib.connect(x.port, lib.PATIENCE * 3)
                            r = lib.Reader(s)
                        s.sendall(request(path, method="POST" if rng.random() < 0.01 else "GET"))
                        got = r.response()
                        mine += got[1].get("x-hit") == "1"
                        if got[0] != 200 or not is_right(path, got[2], x.count.get(path, 0)):
                            bad.append((path, got[0], got[2][:90]))
                    except (OSError, EOFError, ValueError, TypeError, IndexError) as e:
                        bad.append((path, repr(e)))
                        s = None
                    if s and rng.random() < 0.002:
                        lib.reset(s)
                        s = None
            with lock:
                hits[0] += mine
        threads = [threading.Thread(target=client, args=(i,)) for i in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        tap.ok(not bad and hits[0] > args.objects // 2, "%d objects through 2 MB, %d requests, %d hits: all are right" % (args.objects, 3 * args.objects, hits[0]), bad[:5])
        tap.ok(x.is_quiet(), "nothing is held", x.proxy.ctl("show cache")[:500])
        shown = x.proxy.ctl("show cache")
        kept = sum(int(n) for n in re.findall(r" size:(\d+) ", shown))
        tap.ok(1 << 20 < kept <= 2 << 20 and shown.count("refcount") < args.objects, "what is kept fits (%d of %d objects)" % (shown.count("refcount"), args.objects), kept)


def reloaded(tap, args):
    """Half of an answer has passed when the configuration is read again; a cache of another size takes the place of this one."""
    go, half, bad, hits = threading.Semaphore(0), threading.Semaphore(0), [], 0

    def answer(sock, path, head, n):
        data = answer_of(body_of(path, n, 90000), FRESH, chunked=n % 2 == 0)
        if n > 1 or path == "/last":
            return sock.sendall(data)
        sock.sendall(data[:40000])
        half.release()
        go.acquire(timeout=lib.PATIENCE)
        return sock.sendall(data[40000:])
    with Scene(args, answer) as x:
        with open(x.proxy.conf_path) as f:
            text = f.read()
        for n in range(args.reloads):
            path, socks = "/%d" % n, []
            for _ in range(2 if n % 3 else 1):
                socks.append(lib.connect(x.port, lib.PATIENCE * 3))
                socks[-1].sendall(request(path))
                if len(socks) == 1 and not half.acquire(timeout=lib.PATIENCE):
                    bad.append((path, "the server was not asked"))
            with open(x.proxy.conf_path, "w") as f:
                f.write(text.replace("total-max-size 4", "total-max-size %d" % (4 + n // 2 % 2)))
            x.proxy.ctl("reload")
            if n % 4 == 3: # the one that fills it leaves
                lib.reset(socks.pop(0))
            go.release()
            for s in socks:
                got = lib.Reader(s).response()
                if not got or got[0] != 200 or not is_right(path, got[2], 2):
                    bad.append((path, got and (got[0], got[2][:60])))
                s.close()
            got = x.get(path)
            hits += got[1].get("x-hit") == "1" if got else 0
            if not got or not is_right(path, got[2], 3):
                bad.append((path, "again", got and got[2][:60]))
        x.get("/last")
        tap.ok(not bad, "%d reloads while an answer is stored: all are right" % args.reloads, bad[:5])
        tap.ok(hits > 0 and x.get("/last")[1]["x-hit"] == "1", "what was stored over a reload is given (%d of %d)" % (hits, args.reloads))
        tap.ok(x.is_quiet(), "nothing is held", x.proxy.ctl("show cache"))


def many(x, path, count, before):
    """<count> clients ask at once; before() once all have sent. Their answers."""
    socks = []
    for _ in range(count):
        socks.append(lib.connect(x.port, lib.PATIENCE * 3))
        socks[-1].sendall(request(path))
    before()
    got = []
    for s in socks:
        try:
            got.append(lib.Reader(s).response())
        except (OSError, EOFError) as e:
            got.append((repr(e), {}, b""))
        s.close()
    return got


def storm(tap, args):
    """One stale object, many clients: one request to the server."""
    go = threading.Event()

    def answer(sock, path, head, n):
        if n > 1:
            go.wait(lib.PATIENCE * 6)
        if "if-none-match" in head and path.startswith("/same"):
            return sock.sendall(b'HTTP/1.1 304 Not Modified\r\netag: "v"\r\ncache-control: max-age=300\r\n\r\n')
        return sock.sendall(answer_of(body_of(path, n, 20000), 'etag: "v"', "cache-control: max-age=%d" % (1 if n == 1 else 300)))

    for name, lines in (("they wait", ["revalidate 60", "collapse-requests 60s"]),
                        ("they are given what is stale", ["revalidate 60", "collapse-requests 60s", "stale-while-revalidate 60"])):
        with Scene(args, answer, lines=lines) as x:
            x.get("/same")
            x.get("/changed")
            lib.until(lambda: len(re.findall("expire:-", x.proxy.ctl("show cache"))) == 2)
            for turn, path in enumerate(("/same", "/changed"), 1):
                go.clear()

                def before(most=2 + turn * args.clients):
                    lib.until(lambda: int(x.proxy.stats()["fe", "FRONTEND"]["req_tot"]) >= most, lib.PATIENCE * 3)
                    go.set()
                got = many(x, path, args.clients, before)
                right = [g for g in got if g and g[0] == 200 and is_right(path, g[2], 2)]
                tap.eq((len(right), x.count[path]), (args.clients, 2), "%d clients, one stale object, %s: one request; %s" % (args.clients, name, path))
            tap.ok(x.is_quiet(), "nothing is held", x.proxy.ctl("show cache"))


# what a server says of <body>, and what a client may take of it for whole: none of it, all of it, or its first bytes
LIES = {
    "less than it says": lambda b: (b"content-length: %d\r\n\r\n" % (len(b) + 9) + b, None),
    "more than it says": lambda b: (b"content-length: %d\r\n\r\n" % (len(b) - 9) + b, b[:-9]),
    "far more": lambda b: (b"content-length: 3\r\n\r\n" + b, b[:3]),
    "a whole answer behind": lambda b: (b"content-length: %d\r\n\r\n" % len(b) + b + answer_of(b"forged", FRESH), b),
    "two lengths": lambda b: (b"content-length: %d\r\ncontent-length: 3\r\n\r\n" % len(b) + b, None),
    "length and chunks": lambda b: (b"content-length: 3\r\ntransfer-encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n" % (len(b), b), b),
    "a negative length": lambda b: (b"content-length: -1\r\n\r\n" + b, None),
    "an endless length": lambda b: (b"content-length: 18446744073709551616\r\n\r\n" + b, None),
    "no end of chunks": lambda b: (b"transfer-encoding: chunked\r\n\r\n%x\r\n%s\r\n" % (len(b), b), None),
    "a chunk too long": lambda b: (b"transfer-encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n" % (len(b) - 5, b), None),
    "a chunk too short": lambda b: (b"transfer-encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n" % (len(b) + 5, b), None),
    "a size of no number": lambda b: (b"transfer-encoding: chunked\r\n\r\nzz\r\n" + b, None),
    "an endless chunk": lambda b: (b"transfer-encoding: chunked\r\n\r\nffffffffffffffff\r\n" + b, None),
    "304 with a body": lambda b: (b"content-length: 6\r\n\r\nforged", b""),
}


def lies(tap, args):
    names = list(LIES)

    def answer(sock, path, head, n):
        body = body_of(path, n, 3000)
        if path.startswith("/honest"):
            return sock.sendall(answer_of(body, FRESH))
        data = LIES[names[int(path[1:])]](body)[0]
        status = b"304 Not Modified" if names[int(path[1:])].startswith("304") else b"200 OK"
        sock.sendall(b"HTTP/1.1 %s\r\n%s\r\n" % (status, FRESH.encode()) + data)
        return False
    with Scene(args, answer, lines=["revalidate 60", "collapse-requests 1s", "serve-ranges on"]) as x:
        for i, name in enumerate(names):
            bad = []
            for n in range(1, 4):
                path = "/%d" % i
                got = x.get(path)
                of = x.count.get(path, 0)
                wanted = [LIES[name](body_of(path, v, 3000))[1] for v in range(1, of + 1)]
                if got and got[0] < 400 and got[2] not in [w for w in wanted if w is not None]:
                    bad.append((n, got[0], got[2][:90]))
                honest = "/honest%d-%d" % (i, n)
                for _ in range(2):
                    got = x.get(honest)
                    if not got or got[0] != 200 or not is_right(honest, got[2], 1):
                        bad.append((honest, got and (got[0], got[2][:90])))
            tap.ok(not bad, "a server says %s" % name, bad[:3])
        tap.ok(x.is_quiet(), "nothing is held", x.proxy.ctl("show cache"))


def left(tap, args):
    """A client leaves when it has sent, or been given, so many bytes: of what is stored, and of a hit."""
    def answer(sock, path, head, n):
        sock.sendall(answer_of(body_of(path, n, 700 if path[1] == "s" else 60000), FRESH, chunked=n % 2 == 1))
    bad = []

    def leave(s, how):
        if how:
            lib.reset(s)
        else:
            s.close()
    with Scene(args, answer, mb=64, lines=["collapse-requests 2s"]) as x:
        whole = request("/s")
        for k in range(0, len(whole), args.step):
            for how in (0, 1):
                s = lib.connect(x.port)
                s.sendall(whole[:k])
                leave(s, how)
        count = 0
        for kind, end, step in (("s", 1000, args.step), ("b", 60200, args.step * 67)):
            for k in range(0, end, step):
                for how in (0, 1):
                    path = "/%s%d-%d" % (kind, k, how)
                    for _ in range(2): # what is fetched, or was; then a hit, perhaps
                        s = lib.connect(x.port)
                        s.sendall(request(path, "Connection: close"))
                        try:
                            seen = lib.recv_exactly(s, k) if k else b""
                        except EOFError:
                            seen = b""
                        head, _, begun = seen.partition(b"\r\n\r\n")
                        bodies = [body_of(path, v, 700 if kind == "s" else 60000) for v in range(1, x.count.get(path, 0) + 1)]
                        if begun and b"chunked" not in head and not any(body.startswith(begun) for body in bodies):
                            bad.append((path, begun[:60]))
                        leave(s, how)
                        count += 1
                    got = x.get(path)
                    if not got or got[0] != 200 or not is_right(path, got[2], x.count.get(path)):
                        bad.append((path, got and (got[0], got[2][:60])))
        tap.ok(not bad, "%d clients that leave somewhere: who comes next gets what is right" % count, bad[:5])
        tap.ok(x.is_quiet(), "nothing is held", x.proxy.ctl("show cache")[:500])


def memory(tap, args):
    """Each allocation of storing, of a hit, of what is validated, fails once; and all behind it."""
    if b"__tsan_init" in open(args.program, "rb").read():
        tap.skip("memory", "the sanitizer of threads has allocations of its own")
        return

    def answer(sock, path, head, n):
        if "if-none-match" in head and n % 2:
            return sock.sendall(b'HTTP/1.1 304 Not Modified\r\netag: "v"\r\ncache-control: max-age=300\r\n\r\n')
        return sock.sendall(answer_of(body_of(path, n, 20000), "cache-control: max-age=300" if path[1] == "f" else "cache-control: no-cache", 'etag: "v"',
                                      "vary: origin, x-a", "link: </a.css>; rel=preload", chunked=n % 3 == 0))
    bad, tried = [], 0
    with tempfile.TemporaryDirectory() as folder:
        failing = lib_failing.Failing(folder)
        if not failing.ready:
            tap.skip("memory", "no C compiler")
            return
        with Scene(args, answer, lines=["revalidate 60", "collapse-requests 1s", "rfc9111 on", "early-hints on http1", "serve-ranges on"],
                   backend="http-reuse never", threads=1, options=("-dMno-cache",), env=failing.environment()) as x:
            for more in (False, True):
                for path in ("/f", "/stale"):
                    n = 1
                    while n < 2000:
                        x.proxy.ctl("clear cache c")
                        if path != "/f" or n % 2:
                            x.get(path)
                        failing.arm(n, more)
                        got = x.get(path, "Range: bytes=10-" if n % 3 == 0 else "x-b: 1")
                        asked = failing.disarm()
                        tried += 1
                        again = x.get(path)
                        if got and got[0] == 200 and not is_right(path, got[2], x.count[path]):
                            bad.append((path, n, got[2][:60]))
                        if got and got[0] == 206 and not any(body_of(path, v, 20000)[10:] == got[2] for v in range(max(1, x.count[path] - 4), x.count[path] + 1)):
                            bad.append((path, n, got[2][:60]))
                        if not again or again[0] != 200 or not is_right(path, again[2], x.count[path]):
                            bad.append((path, n, "again", again and again[0]))
                        if asked < n:
                            break
                        n += 1 if args.every else 1 + n % 5
            tap.ok(not bad and tried > 10, "%d allocations fail: nothing wrong is given, or kept" % tried, bad[:5])
            tap.ok(x.is_quiet(), "nothing is held", x.proxy.ctl("show cache"))


def main():
    args = lib.arguments(__doc__, ("objects", 1500, "that pass a small cache"), ("reloads", 8, "in the middle of storing"),
                         ("clients", 150, "of one stale object"), ("step", 50, "bytes from one place to leave at to the next"),
                         ("every", False, "allocation fails once, not some of them"))
    tap = lib.Tap()
    tap.run((evicted, reloaded, storm, lies, left, memory), args)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
