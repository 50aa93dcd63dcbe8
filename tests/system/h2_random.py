#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Random HTTP/2 sessions through the proxy to an HTTP/1 server: well-formed ones, and spoiled ones.

A well-formed session has several streams with random fields, bodies, paddings, trailers, splits and
control frames between them; each request has to arrive as it was made and each answer has to come back.
A spoiled one is such a session with bytes changed, dropped or put in. Whatever comes of it, what the
server gets has to read as whole requests for a strict parser, of which none was not sent; and at the
end no connection or stream is left.

--sessions says how many of each, --seed which.
"""
import hashlib
import random
import re
import socket
import threading
import time

import lib
from h1_conformance import Strict, StrictReader
from wire import h2

CONF = """
defaults
	mode http
	timeout connect 2s
	timeout client 2s
	timeout server 2s
	timeout http-request 2s
frontend f
	bind 127.0.0.1:{fe} proto h2
	default_backend b
backend b
	server s 127.0.0.1:{s}
"""
NAMES = ("accept", "accept-encoding", "user-agent", "x-forwarded-for", "x-a", "x-b-c", "referer",
         "cache-control", "if-none-match", "range", "authorization", "dnt", "sec-fetch-mode")
METHODS = ("GET", "GET", "GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "PURGE", "HEAD")
WORKERS = 4


class Judge:
    """The server: answers each request with the sum of its body; notes what no parser likes."""

    def __init__(self):
        self.lock = threading.Lock()
        self.problems = []
        self.heads = {}
        self.server = lib.Server(self.serve)

    def serve(self, sock):
        r = StrictReader(sock)
        while True:
            try:
                q = r.request()
            except Strict as e:
                if "amid" not in str(e):
                    with self.lock:
                        self.problems.append(str(e))
                return
            if not q:
                return
            method, target, fields, body = q
            with self.lock:
                self.heads[target] = (method, fields, body)
            text = hashlib.sha1(body).hexdigest().encode()
            sock.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\nx-url: %s\r\n\r\n" %
                         (len(text), target[:200]) + (b"" if method == b"HEAD" else text))


class Session:
    """One random session: the bytes to send, and what each stream asks for."""

    def __init__(self, rng, number):
        self.rng = rng
        self.streams = {}
        self.table = []
        queues = []
        for i in range(rng.randint(1, 6)):
            stream = 1 + 2 * i
            queues.append(self.frames(stream, "/s%d/%d" % (number, stream)))
        self.frames_out = self.mixed(queues)

    def mixed(self, queues):
        """The streams' frames, each stream's in order; the first ones too, for numbers have to rise."""
        out, started = [], 0
        while any(queues):
            ready = [q for q in queues[:started + 1] if q]
            q = self.rng.choice(ready)
            if started < len(queues) and q is queues[started]:
                started += 1
            out.append(q.pop(0))
            if self.rng.random() < 0.3:
                out.append(self.control())
        return out

    def control(self):
        r = self.rng
        return r.choice((
            lambda: h2.ping(bytes(r.randrange(256) for _ in range(8))),
            lambda: h2.window(0, r.randint(1, 1000)),
            lambda: h2.priority(r.randrange(1, 50, 2), 0, r.randrange(256)),
            lambda: h2.settings((h2.INITIAL_WINDOW_SIZE, r.randint(60000, 70000))),
            lambda: h2.frame(r.randint(0x20, 0xff), r.randrange(256), 0, b"x" * r.randrange(20)),
        ))()

    def word(self, most):
        return "".join(self.rng.choice("abcdefghijklmnopqrstuvwxyz0123456789-._~")
                       for _ in range(self.rng.randint(1, most)))

    def field(self, name, value):
        """A field in one of the forms of HPACK; stored ones are remembered."""
        r = self.rng
        if (name, value) in self.table and r.random() < 0.7:
            return h2.integer(62 + self.table.index((name, value)), 7, 0x80)
        first = r.choice((0, 0x10, 0x40))
        text = r.choice((h2.string, h2.huffman))
        if first == 0x40:
            self.table.insert(0, (name, value))
            while sum(len(n) + len(v) + 32 for n, v in self.table) > 4096:
                self.table.pop()
        return bytes((first,)) + text(name) + text(value)

    def frames(self, stream, path):
        r = self.rng
        method = r.choice(METHODS)
        body = bytes(r.randrange(256) for _ in range(r.choice((0, 0, 1, 10, 300, 3000))))
        pairs = [(":method", method), (":scheme", r.choice(("http", "https"))), (":path", path),
                 (":authority", "h%d.example" % r.randrange(3))]
        more = [(r.choice(NAMES), self.word(40)) for _ in range(r.randrange(8))]
        more += [("cookie", self.word(10) + "=1") for _ in range(r.randrange(3))]
        if body and r.random() < 0.5:
            more.append(("content-length", str(len(body))))
        self.streams[stream] = (method, path, pairs + more, body)
        return self.head(stream, pairs + more, body) + self.body(stream, body)

    def head(self, stream, pairs, body):
        """The block is made when it is sent: a table does not wait."""
        r = self.rng
        raw = h2.block(pairs) if r.random() < 0.5 or len(self.streams) > 1 else \
            b"".join(self.field(n, v) for n, v in pairs)
        pieces = [r.randrange(1, len(raw))] if r.random() < 0.2 else ()
        pad = r.randrange(30) if r.random() < 0.2 else None
        prio = b"\0\0\0\0\x10" if r.random() < 0.2 else None
        return [h2.raw_headers(stream, raw, not body, pad=pad, prio=prio, pieces=pieces)]

    def body(self, stream, body):
        r = self.rng
        out = []
        trailers = r.random() < 0.2
        while body:
            n = r.randint(1, len(body))
            part, body = body[:n], body[n:]
            pad = r.randrange(100) if r.random() < 0.2 else None
            out.append(h2.data(stream, part, not body and not trailers, pad))
        if out and trailers:
            out.append(h2.headers(stream, [("x-trailer", self.word(10))]))
        return out


def spoil(rng, raw):
    """<raw> with a few mistakes in it."""
    raw = bytearray(raw)
    for _ in range(rng.randint(1, 5)):
        at = rng.randrange(len(raw))
        kind = rng.randrange(5)
        if kind == 0:
            raw[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            raw[at] = rng.randrange(256)
        elif kind == 2:
            del raw[at:at + rng.randint(1, 20)]
        elif kind == 3:
            raw[at:at] = rng.choice((b"\r\n", b"\0", b"GET /evil HTTP/1.1\r\n\r\n", b"\xff" * 9))
        else:
            other = rng.randrange(len(raw))
            raw[at:at] = raw[other:other + rng.randint(1, 60)]
        if not raw:
            raw += b"\0"
    return bytes(raw)


def play_good(port, session):
    """Returns what is wrong, or None."""
    c = h2.Client(lib.connect(port), timeout=lib.PATIENCE)
    c.send(b"".join(session.frames_out))
    answers = {s: [None, b"", False] for s in session.streams}
    left = set(answers)
    while left:
        try:
            e = c.next()
        except socket.timeout:
            return "silent, streams %r left" % sorted(left)
        if e is None or e[0] == "goaway":
            return "ended by %r" % (e,)
        if e[0] == "rst":
            return "stream %d reset with %s" % (e[1], h2.error_name(e[2]))
        if e[0] == "headers":
            answers[e[1]][0] = dict(e[2]).get(":status")
        if e[0] == "data":
            answers[e[1]][1] += e[2]
        if e[0] in ("headers", "data") and e[3]:
            left.discard(e[1])
    c.close()
    for stream, (method, _, _, body) in session.streams.items():
        want = b"" if method == "HEAD" else hashlib.sha1(body).hexdigest().encode()
        if answers[stream][:2] != ["200", want]:
            return "stream %d got %r" % (stream, answers[stream][:2])
    return None


def arrived(judge, session):
    """Is each request at the server what it was ?"""
    for method, path, pairs, body in session.streams.values():
        with judge.lock:
            got = judge.heads.pop(path.encode(), None)
        if not got:
            return "%s did not arrive" % path
        want = sorted((n, v) for n, v in pairs if n[0] != ":" and n not in ("cookie",))
        have = sorted((n.decode(), v.decode()) for n, v in got[1]
                      if n not in (b"host", b"cookie", b"transfer-encoding"))
        if got[0].decode() != method or got[2] != body or \
                [w for w in want if w[0] != "content-length"] != \
                [h for h in have if h[0] != "content-length"]:
            return "%s arrived as %r" % (path, (got[0], have, len(got[2])))
    return None


def play_bad(port, raw):
    """Sends a spoiled session and reads until the proxy has nothing more to say."""
    s = lib.connect(port, 0.05)
    try:
        s.sendall(h2.PREFACE + h2.settings() + raw)
        s.shutdown(1)
        while s.recv(65536):
            pass
    except OSError:
        pass
    s.close()


class Worker(threading.Thread):
    def __init__(self, number, port, judge, seed, count):
        super().__init__(daemon=True)
        self.rng = random.Random("%d/%d" % (seed, number))
        self.number, self.port, self.judge, self.count = number, port, judge, count
        self.wrong = []

    def run(self):
        for i in range(self.count):
            number = self.number * 1000000 + i
            session = Session(self.rng, number)
            try:
                wrong = play_good(self.port, session) or arrived(self.judge, session)
            except (OSError, ValueError, KeyError) as e:
                wrong = "%s: %s" % (type(e).__name__, e)
            if wrong:
                self.wrong.append("session %d: %s" % (number, wrong))
            play_bad(self.port, spoil(self.rng, b"".join(Session(self.rng, -1).frames_out)))
            if len(self.wrong) > 5:
                return


def settles(proxy):
    """Are all connections of clients gone, after a while ?"""
    end = time.monotonic() + lib.PATIENCE
    left = ""
    while time.monotonic() < end:
        left = "\n".join(l for l in proxy.ctl("show sess").split("\n") if "fe=f" in l)
        if not left and int(proxy.info()["CurrConns"]) <= 1:
            return ""
        time.sleep(0.1)
    return left or "CurrConns " + proxy.info()["CurrConns"]


def main():
    args = lib.arguments(__doc__, ("sessions", 200, "of each kind"), ("seed", 1, "of the random"))
    tap = lib.Tap()
    judge = Judge()
    fe = lib.ports(1)[0]
    with lib.Proxy(args.program, CONF.format(fe=fe, s=judge.server.port)) as proxy:
        workers = [Worker(i, fe, judge, args.seed, args.sessions // WORKERS) for i in range(WORKERS)]
        for w in workers:
            w.start()
        for w in workers:
            w.join()
        wrong = [x for w in workers for x in w.wrong]
        tap.ok(not wrong, "well-formed sessions are served as they were made", "\n".join(wrong))
        tap.ok(not judge.problems, "what is forwarded is well-formed", "\n".join(judge.problems))
        odd = [t for t in judge.heads if not re.match(rb"^(https?://h[0-2]\.example)?[/*]", t)]
        tap.ok(not any(b"evil" in t and b"HTTP" in t for t in judge.heads), "nothing is smuggled", odd)
        tap.ok(proxy.alive(), "the proxy is alive", proxy.output())
        tap.eq(settles(proxy), "", "no connection is left")
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
