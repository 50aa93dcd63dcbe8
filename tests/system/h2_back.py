#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""HTTP/2 towards servers ("server ... proto h2"): servers that do as they should, and that do not.

The server is a raw socket with its own framing; the path of a request says what becomes of it. Clients
speak HTTP/1 and HTTP/2. Checked: what the server gets, what the client gets, on which connection.
The reference program may close without an answer where an answer on a kept connection failed, and
does not send again what the server has not looked at: it is not asked to.
"""
import hashlib
import socket
import threading

import lib
from wire import h2

CONF = """
defaults
	mode http
	timeout connect 2s
	timeout client 5s
	timeout server 5s
	http-reuse always
frontend h1
	bind 127.0.0.1:{fe}
	use_backend few if {{ path_beg /few }}
	use_backend reuse if {{ path_beg /max }}
	use_backend slow if {{ path_beg /never }}
	use_backend purged if {{ path_beg /purge }}
	default_backend b
frontend h2
	bind 127.0.0.1:{fe2} proto h2
	default_backend b
backend b
	server s 127.0.0.1:{s} proto h2
backend slow
	timeout server 300ms
	server s 127.0.0.1:{s} proto h2
backend purged
	server s 127.0.0.1:{s} proto h2 pool-purge-delay 200ms
backend few
	server s 127.0.0.1:{few} proto h2
backend reuse
	server s 127.0.0.1:{s} proto h2 max-reuse 2
"""


class Stand(lib.Server):
    """The server: keeps what it saw, does what paths say."""

    def __init__(self, pairs=()):
        self.lock = threading.Condition()
        self.pairs = pairs
        self.conns = 0
        self.seen = []      # (connection, event...)
        self.most = 0       # streams at once on a connection
        self.held = []      # (peer, stream) that wait for each other
        super().__init__(self.serve)

    def serve(self, sock):
        peer = h2.Service(sock, self.pairs, timeout=30.0)
        with self.lock:
            self.conns += 1
            peer.number = self.conns
        peer.heads, peer.bodies, peer.open = {}, {}, set()
        while True:
            e = peer.next()
            with self.lock:
                self.seen.append((peer.number, e))
                self.lock.notify_all()
            if e is None:
                return
            if e[0] not in ("headers", "data", "rst"):
                continue
            if self.event(peer, e) is False:
                return

    def event(self, peer, e):
        stream = e[1]
        if e[0] == "rst":
            peer.open.discard(stream)
            return None
        if e[0] == "headers" and stream not in peer.heads:
            peer.heads[stream] = e[2]
            peer.bodies[stream] = b""
            peer.open.add(stream)
            self.most = max(self.most, len(peer.open))
            path = dict(e[2]).get(":path", "")
            early = getattr(self, "early_" + path.strip("/").split("?")[0].split("/")[0], None)
            if early and early(peer, stream) is False:
                return False
        if e[0] == "data":
            peer.bodies[stream] += e[2]
        if e[3] and stream in peer.open:
            return self.whole(peer, stream)
        return None

    def whole(self, peer, stream):
        head = dict(peer.heads[stream])
        name = head.get(":path", "/").strip("/").split("?")[0].split("/")[0]
        peer.open.discard(stream)
        return getattr(self, "do_" + name, self.do_plain)(peer, stream, head)

    def do_plain(self, peer, stream, head):
        body = b"" if head[":method"] == "HEAD" else \
            hashlib.sha1(peer.bodies[stream]).hexdigest().encode()
        peer.reply(stream, 200, body, [("x-conn", str(peer.number))])

    def do_few(self, peer, stream, head):
        return self.hold(peer, stream, 6)

    def do_hold(self, peer, stream, head):
        return self.hold(peer, stream, 8)

    def hold(self, peer, stream, count):
        """Answers when <count> requests are here."""
        peer.open.add(stream)
        self.most = max(self.most, len(peer.open))
        with self.lock:
            self.held.append((peer, stream))
            if len(self.held) < count:
                return
            held, self.held = self.held, []
        for p, s in held:
            p.open.discard(s)
            p.reply(s, 200, b"held", [("x-conn", str(p.number))])

    def do_big(self, peer, stream, head):
        size = int(head[":path"].rsplit("/", 1)[1])
        threading.Thread(target=self.send_big, args=(peer, stream, size), daemon=True).start()

    def send_big(self, peer, stream, size):
        """Respects only the windows that the proxy gives with its SETTINGS: 16 kB at a time."""
        peer.send(h2.headers(stream, [(":status", "200"), ("content-length", str(size))], False))
        sent = 0
        while sent < size:
            n = min(16384, size - sent)
            with self.lock:
                self.lock.wait_for(lambda: sent + n <= self.granted(peer, stream), 10)
            if not peer.send(h2.data(stream, pattern(sent, n), sent + n == size)):
                return
            sent += n

    def granted(self, peer, stream):
        """Bytes that may have been sent on a stream."""
        first = 65535
        more = conn = 0
        for number, e in self.seen:
            if number != peer.number or e is None:
                continue
            if e[0] == "settings":
                first = e[1].get(h2.INITIAL_WINDOW_SIZE, first)
            if e[0] == "window" and e[1] == stream:
                more += e[2]
            if e[0] == "window" and e[1] == 0:
                conn += e[2]
        return min(first + more, 65535 + conn)

    def do_trailers(self, peer, stream, head):
        peer.send(h2.headers(stream, [(":status", "200")], False) + h2.data(stream, b"body") +
                  h2.headers(stream, [("x-trailer", "yes")]))

    def do_onlytrailers(self, peer, stream, head):
        peer.send(h2.headers(stream, [(":status", "200"), ("grpc-status", "5")]))

    def do_early(self, peer, stream, head):
        peer.send(h2.headers(stream, [(":status", "103"), ("link", "</a>")], False) +
                  h2.headers(stream, [(":status", "103"), ("link", "</b>")], False))
        self.do_plain(peer, stream, head)

    def do_reset(self, peer, stream, head):
        peer.send(h2.rst(stream, h2.INTERNAL_ERROR))

    def do_cut(self, peer, stream, head):
        peer.send(h2.headers(stream, [(":status", "200")], False) + h2.data(stream, b"half") +
                  h2.rst(stream, h2.INTERNAL_ERROR))

    def do_close(self, peer, stream, head):
        return False

    def do_garbage(self, peer, stream, head):
        peer.send(b"HTTP/1.1 400 Bad request\r\n\r\n")
        return False

    def do_bad(self, peer, stream, head):
        peer.send(BAD[int(head[":path"].rsplit("/", 1)[1])][1](stream))

    def once(self, peer, stream, head, raw):
        """Sends <raw> for the first of two requests of this path, serves the second."""
        tries = sum(1 for _, e in self.seen if e and e[0] == "headers" and
                    dict(e[2]).get(":path") == head[":path"])
        if tries > 1:
            self.do_plain(peer, stream, head)
        else:
            peer.send(raw)

    def do_goaway(self, peer, stream, head):
        self.once(peer, stream, head, h2.goaway(stream - 2 if stream > 1 else 0))

    def do_refused(self, peer, stream, head):
        self.once(peer, stream, head, h2.rst(stream, h2.REFUSED_STREAM))

    def do_graceful(self, peer, stream, head):
        """Says goodbye, then answers all the same."""
        peer.send(h2.goaway(stream))
        threading.Timer(0.1, self.do_plain, (peer, stream, head)).start()

    def do_never(self, peer, stream, head):
        peer.open.add(stream)

    def early_echo(self, peer, stream):
        """Both ways at once: each DATA is answered as it comes."""
        peer.send(h2.headers(stream, [(":status", "200")], False))

    def do_echo(self, peer, stream, head):
        peer.send(h2.data(stream, peer.bodies[stream].upper()) +
                  h2.headers(stream, [("grpc-status", "0")]))

    def early_soon(self, peer, stream):
        """A whole answer before the request is whole."""
        peer.reply(stream, 413, b"no")
        peer.send(h2.rst(stream, h2.NO_ERROR))
        peer.open.discard(stream)

    def wait(self, test, seconds=5):
        with self.lock:
            return self.lock.wait_for(lambda: test(self.seen), seconds)

    def head_of(self, path):
        for _, e in self.seen:
            if e and e[0] == "headers" and dict(e[2]).get(":path") == path:
                return e[2]
        return None


def pattern(at, n):
    """<n> bytes of an endless text, from <at>."""
    unit = bytes(range(251)) * 67
    start = at % 251
    return unit[start:start + n]


def answer(*fields, end=True):
    return lambda s: h2.headers(s, list(fields), end)


OK = (":status", "200")
BAD = (
    ("no :status", answer(("server", "x"))),
    (":status of two digits", answer((":status", "20"))),
    (":status of four digits", answer((":status", "2000"))),
    (":status with a letter", answer((":status", "2x0"))),
    (":status 101", answer((":status", "101"))),
    (":status twice", answer(OK, OK)),
    (":status behind a field", answer(("x", "y"), OK)),
    ("a request's pseudo-field", answer(OK, (":path", "/"))),
    ("unknown pseudo-field", answer(OK, (":foo", "x"))),
    ("upper case in a name", answer(OK, ("X-A", "1"))),
    ("blank in a name", answer(OK, ("x a", "1"))),
    ("CRLF in a value", answer(OK, ("x", "a\r\nset-cookie: b"))),
    ("NUL in a value", answer(OK, ("x", "a\0b"))),
    ("connection field", answer(OK, ("connection", "close"))),
    ("transfer-encoding", answer(OK, ("transfer-encoding", "chunked"))),
    ("length and no body", answer(OK, ("content-length", "5"))),
    ("two lengths", answer(OK, ("content-length", "5"), ("content-length", "6"), end=False)),
    ("bad length", answer(OK, ("content-length", "x"), end=False)),
    ("DATA before the head", lambda s: h2.data(s, b"x", True)),
    ("an interim answer that ends", answer((":status", "103"))),
    ("bad HPACK", lambda s: h2.headers(s, b"\xff\xff\xff\xff\xff\xff")),
    ("HEADERS on an idle stream", lambda s: h2.headers(s + 100, [OK])),
    ("PUSH_PROMISE", lambda s: h2.frame(h2.PUSH_PROMISE, 4, s, b"\0\0\0\2" + h2.block([OK]))),
    ("DATA on stream 0", lambda s: h2.data(0, b"x")),
    ("too long a frame", lambda s: h2.frame(h2.DATA, 0, s, b"x" * 17000)),
)


def ask(port, text, method="GET", body=b"", fields=""):
    """One HTTP/1 request on a connection of its own; (status, fields, body), None when cut."""
    s = lib.connect(port)
    raw = "%s %s HTTP/1.1\r\nHost: a.example\r\n%sConnection: close\r\n" % (method, text, fields)
    if body:
        raw += "Content-Length: %d\r\n" % len(body)
    s.sendall(raw.encode() + b"\r\n" + body)
    try:
        return lib.Reader(s).response(method)
    except (EOFError, ValueError):
        return "cut"
    finally:
        s.close()


def sha(body):
    return hashlib.sha1(body).hexdigest().encode()


def check_shapes(tap, fe, stand):
    got = ask(fe, "/shape?q=1", fields="TE: trailers\r\nX-A: 1\r\nCookie: a=1; b=2\r\n")
    tap.eq(got[0], 200, "an HTTP/1 request is served")
    head = stand.head_of("/shape?q=1")
    names = [n for n, _ in head]
    tap.eq(dict(head)[":method"], "GET", "its method")
    tap.ok(dict(head).get("host", dict(head).get(":authority")) == "a.example", "its host", head)
    tap.ok("connection" not in names, "no connection field", head)
    tap.ok(dict(head).get("te") == "trailers", "te: trailers stays", head)
    tap.ok("".join(v for n, v in head if n == "cookie").replace("; ", "") == "a=1b=2", "cookies", head)
    tap.ok(names.index(":path") < names.index("x-a"), "pseudo-fields first", head)
    ask(fe, "http://a.example/absolute")
    head = dict(stand.head_of("/absolute"))
    tap.ok((head[":scheme"], head[":authority"]) == ("http", "a.example"), "an absolute form", head)
    tap.eq(ask(fe, "/post", "POST", b"x" * 1000)[2], sha(b"x" * 1000), "a body arrives")
    tap.eq(dict(stand.head_of("/post"))["content-length"], "1000", "and its length")
    s = lib.connect(fe)
    s.sendall(b"POST /chunked HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
              b"5\r\nhello\r\n0\r\nX-T: 1\r\n\r\n")
    tap.eq(lib.Reader(s).response()[2], sha(b"hello"), "chunks arrive as one body")
    s.close()
    tap.ok(any(e and e[0] == "headers" and e[2] == [("x-t", "1")] for _, e in stand.seen),
           "and their trailers")
    tap.eq(ask(fe, "/head", "HEAD")[0], 200, "HEAD")
    tap.eq(ask(fe, "*", "OPTIONS")[0], 200, "OPTIONS *")


def check_answers(tap, fe, fe2, stand, ours):
    got = ask(fe, "/trailers")
    tap.ok(got != "cut" and got[2] == b"body", "trailers for an HTTP/1 client", got)
    c = h2.Client(lib.connect(fe2))
    c.send(h2.headers(1, h2.request("/trailers")))
    _, _, body, how = c.answer(1)
    tap.eq((body, how), (b"body", "end"), "trailers for an HTTP/2 client")
    c.send(h2.headers(3, h2.request("/onlytrailers")))
    status, fields, body, how = c.answer(3)
    tap.eq((status, dict(fields).get("grpc-status"), body, how), (200, "5", b"", "end"),
           "an answer that is only a head")
    s = lib.connect(fe)
    s.sendall(b"GET /early HTTP/1.1\r\nHost: a\r\n\r\n")
    r = lib.Reader(s)
    statuses = [r.head()[0].split()[1] for _ in range(3)]
    s.close()
    tap.ok(statuses[-1] == "200" and "103" in statuses, "interim answers", statuses)
    c.send(h2.headers(5, h2.request("/echo", "POST"), end=False))
    e = c.next()
    while e and e[:2] != ("headers", 5):
        e = c.next()
    tap.ok(e and dict(e[2])[":status"] == "200", "an answer begins before the request ends", e)
    c.send(h2.data(5, b"hello ") + h2.data(5, b"world", True))
    body, how = c.answer(5)[2:]
    tap.eq((body, how), (b"HELLO WORLD", "end"), "and ends behind it")
    got = ask(fe, "/soon", "POST", b"x" * 100000)
    tap.ok(got != "cut" and got and got[0] == 413, "a whole answer to half a request", got)
    c.close()


def failed(got, ours):
    """An answer 502, or, where the reference closes, nothing."""
    if ours:
        return got and got != "cut" and got[0] == 502
    return got in (None, "cut") or got[0] == 502


def check_failures(tap, fe, ours):
    for path in ("/reset", "/close", "/garbage"):
        got = ask(fe, path)
        tap.ok(failed(got, ours), path + ": 502", got)
    tap.eq(ask(fe, "/cut"), "cut", "a reset amid a body cuts the answer")
    for i, (name, _) in enumerate(BAD):
        got = ask(fe, "/bad/%d" % i)
        tap.ok(failed(got, ours), "refused answer: " + name, got)
        tap.eq(ask(fe, "/after")[0], 200, "and the next request is served")


def check_replay(tap, fe, ours):
    for path in ("/goaway", "/refused"):
        for method, body in (("GET", b""), ("POST", b"x" * 100)):
            path += "/" + method
            ask(fe, "/before")
            got = ask(fe, path, method, body)
            good = got and got != "cut" and got[0] == 200 and got[2] == sha(body)
            if ours:
                tap.ok(good, "%s %s is sent again" % (method, path), got)
            else:
                tap.ok(good or failed(got, ours), "%s %s" % (method, path), got)


def parallel(count, port, path):
    out = [None] * count

    def one(i):
        out[i] = ask(port, path)
    threads = [threading.Thread(target=one, args=(i,)) for i in range(count)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return out


def check_sharing(tap, fe, stand, few, ours):
    ask(fe, "/warm")
    got = parallel(8, fe, "/hold")
    tap.ok(all(g and g != "cut" and g[0] == 200 for g in got), "eight clients at once", got)
    tap.ok(len({g[1]["x-conn"] for g in got if g and g != "cut"}) < 8, "share connections", got)
    ask(fe, "/few/warm")
    few.held = []
    got = parallel(6, fe, "/few")
    tap.ok(all(g and g != "cut" and g[0] == 200 for g in got), "a server of two streams", got)
    # the reference may fill a new connection before it knows better
    tap.ok(few.most <= 2 or not ours, "never gets more at once", few.most)
    before = stand.conns
    conns = [ask(fe, "/max/%d" % i)[1]["x-conn"] for i in range(6)]
    tap.ok(stand.conns >= before + 2 and max(conns.count(c) for c in conns) <= 3,
           "max-reuse bounds the requests of a connection", conns)


def check_abort(tap, fe2, stand):
    c = h2.Client(lib.connect(fe2))
    c.send(h2.headers(1, h2.request("/hold")) + h2.headers(3, h2.request("/plain")))
    tap.eq(c.answer(3)[0], 200, "one stream waits, another is served")
    stand.wait(lambda seen: stand.held)
    c.send(h2.rst(1))
    found = stand.wait(lambda seen: any(e and e[0] == "rst" for _, e in seen))
    tap.ok(found, "a client's reset reaches the server")
    with stand.lock:
        stand.held = []
    c.send(h2.headers(5, h2.request("/plain")))
    tap.eq(c.answer(5)[0], 200, "the connections go on")
    c.close()


def check_ends(tap, fe, stand):
    ask(fe, "/before")
    got = ask(fe, "/graceful")
    tap.ok(got and got != "cut" and got[0] == 200, "an answer behind GOAWAY arrives", got)
    again = ask(fe, "/after-goaway")
    tap.ok(again and again != "cut" and again[0] == 200 and again[1]["x-conn"] != got[1]["x-conn"],
           "and nothing more goes to that connection", again)
    count = len(stand.seen)
    got = ask(fe, "/never")
    tap.ok(got and got != "cut" and got[0] == 504, "a server that never answers: 504", got)
    tap.ok(stand.wait(lambda seen: any(e and e[0] == "rst" for _, e in seen[count:])),
           "and its stream is reset")
    conn = int(ask(fe, "/purge")[1]["x-conn"])
    tap.ok(stand.wait(lambda seen: (conn, None) in seen), "an idle connection is purged")


def check_bulk(tap, fe, fe2):
    size = 3000000
    want = b"".join(pattern(at, min(16384, size - at)) for at in range(0, size, 16384))
    got = ask(fe, "/big/%d" % size)
    tap.ok(got != "cut" and got and got[2] == want, "3 MB to an HTTP/1 client")
    c = h2.Client(lib.connect(fe2))
    c.send(h2.headers(1, h2.request("/big/%d" % size)) + h2.headers(3, h2.request("/big/50000")))
    tap.ok(c.answer(3)[2] == want[:50000], "a small body beside a large one")
    c.close()
    body = want[:1000000]
    got = ask(fe, "/upload", "POST", body)
    tap.ok(got != "cut" and got and got[2] == sha(body), "1 MB to the server", got)


def together(c, streams):
    """Sends a request on each of <streams> at once, waits for all answers."""
    c.send(b"".join(h2.headers(s, h2.request("/plain")) for s in streams))
    left = set(streams)
    while left:
        e = c.next()
        if e is None:
            return
        if e[0] in ("headers", "data") and e[3]:
            left.discard(e[1])


def check_modes(tap, program):
    """http-reuse: connections made after three HTTP/1 clients, a kept one, and five HTTP/2 streams."""
    for mode, want in (("never", [3, 4, 7, 7]), ("safe", [3, 4, 4, 4]), ("aggressive", [1, 1, 1, 1]),
                       ("always", [1, 1, 1, 1])):
        stand, got = Stand(), []
        fe, fe2 = lib.ports(2)
        conf = CONF.replace("http-reuse always", "http-reuse " + mode)
        conf = "\tnbthread 1\n" + conf.format(fe=fe, fe2=fe2, s=stand.port, few=stand.port)
        with lib.Proxy(program, conf):
            for i in range(3):
                ask(fe, "/x")
            got.append(stand.conns)
            s = lib.connect(fe)
            r = lib.Reader(s)
            for i in range(3):
                s.sendall(b"GET /y HTTP/1.1\r\nHost: a\r\n\r\n")
                r.response()
            got.append(stand.conns)
            s.close()
            c = h2.Client(lib.connect(fe2))
            together(c, (1, 3, 5))
            got.append(stand.conns)
            together(c, (7, 9))
            got.append(stand.conns)
            c.close()
        stand.close()
        tap.eq(got, want, "http-reuse %s: connections" % mode)


def room_for(program, size):
    """What a server may send at once when the body of a large answer begins."""
    stand = Stand()
    fe, fe2 = lib.ports(2)
    conf = "\tnbthread 1\n\ttune.h2.be.rxbuf %s\n" % size
    with lib.Proxy(program, conf + CONF.format(fe=fe, fe2=fe2, s=stand.port, few=stand.port)):
        with lib.connect(fe) as s:
            s.sendall(b"GET /big/20000000 HTTP/1.1\r\nHost: a\r\n\r\n")
            first = lambda seen: [e[2] for _, e in seen if e and e[0] == "window" and e[1]]
            stand.wait(first, lib.PATIENCE)
            got = first(stand.seen)
    stand.close()
    return got[0] if got else 0


def check_room(tap, program):
    """tune.h2.be.rxbuf: how much a server may send ahead; not less than a buffer for each stream that there may be."""
    least, small, large = (room_for(program, size) for size in ("64k", "1600k", "4m"))
    tap.ok(0 < least <= small < least + 50000 and large > 2 * small, "tune.h2.be.rxbuf is what a server may send at once", (least, small, large))


def check_reload(tap, program):
    """Ours alone: connections of both sides outlive a reload in the process, and so do streams."""
    stand = Stand()
    fe, fe2 = lib.ports(2)
    conf = CONF.format(fe=fe, fe2=fe2, s=stand.port, few=stand.port)
    with lib.Proxy(program, conf) as proxy:
        c = h2.Client(lib.connect(fe2))
        together(c, (1,))
        for i in range(3):
            tap.ok("Success=1" in proxy.ctl("reload"), "reload %d" % i)
            together(c, (3 + 4 * i, 5 + 4 * i))
        tap.eq(stand.conns, 1, "one connection to the server serves them all")
        c.send(h2.headers(21, h2.request("/big/1000000")))
        proxy.ctl("reload")
        status, _, body, how = c.answer(21)
        tap.eq((status, len(body), how), (200, 1000000, "end"), "a stream goes on")
        c.close()
    stand.close()


def main():
    args = lib.arguments(__doc__)
    tap = lib.Tap()
    stand, few = Stand(), Stand([(h2.MAX_CONCURRENT_STREAMS, 2)])
    ours = not lib.is_reference(args.program)
    fe, fe2 = lib.ports(2)
    with lib.Proxy(args.program, CONF.format(fe=fe, fe2=fe2, s=stand.port, few=few.port)) as proxy:
        check_shapes(tap, fe, stand)
        check_answers(tap, fe, fe2, stand, ours)
        check_sharing(tap, fe, stand, few, ours)
        check_abort(tap, fe2, stand)
        check_ends(tap, fe, stand)
        check_bulk(tap, fe, fe2)
        check_replay(tap, fe, ours)
        check_failures(tap, fe, ours)
        tap.ok(proxy.alive(), "the proxy is alive", proxy.output())
    check_modes(tap, args.program)
    check_room(tap, args.program)
    if ours:
        check_reload(tap, args.program)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
