#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Random HTTP/2 sessions, well-formed ones and mutated ones, in front of a strict HTTP/1 server.

A well-formed session has up to ten streams whose frames are mixed: bodies of all sizes with and without a
length, padding, CONTINUATION, priorities, trailers, windows from small to large, bytes cut anywhere. Every
answer must be the echo of its request. A mutated session is one whose frames were flipped, cut, repeated,
moved or dropped: whatever comes of it, the server must never read what is no request (bodies hold
one, as bait), and no session or stream may be left behind.

Both kinds also go through a second proxy whose server is the first one, over HTTP/2.

--sessions N of each kind; --seed S starts elsewhere. A failure prints the seed of its session.
"""
import random
import socket
import time

import lib
from h1_conformance import Strict, StrictReader
from wire import h2

CONF = """
defaults
	mode http
	timeout connect 5s
	timeout client 5s
	timeout server 5s
	http-reuse always
frontend f
	bind 127.0.0.1:{fe} proto h2
	default_backend b
backend b
	server s1 127.0.0.1:{s1}
frontend chain
	bind 127.0.0.1:{fe2} proto h2
	default_backend again
backend again
	server s1 127.0.0.1:{fe} proto h2
"""
BAIT = b"\r\n\r\nGET /evil HTTP/1.1\r\nhost: evil\r\n\r\n"
SIZES = (0, 0, 1, 40, 900, 1024, 1025, 5000, 16384, 16385, 40000)


class Echo:
    """Answers with the body of the request, in a framing that the target asks for."""

    def __init__(self):
        self.problems = []
        self.server = lib.Server(self.serve)

    def serve(self, sock):
        r = StrictReader(sock)
        while True:
            try:
                rq = r.request()
            except Strict as e:
                self.problems.append(str(e))
                return
            if not rq:
                return
            method, target, _, body = rq
            if b"evil" in target:
                self.problems.append("smuggled %r" % target)
            if method == b"HEAD":
                sock.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 77\r\n\r\n")
            elif target.endswith(b"chunked"):
                head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
                parts = [body[i:i + 3000] for i in range(0, len(body), 3000)]
                chunks = b"".join(b"%x\r\n%s\r\n" % (len(p), p) for p in parts)
                sock.sendall(head + chunks + b"0\r\nx-end: yes\r\n\r\n")
            else:
                sock.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(body) + body)


class Stream:
    """What one stream sends, as frames in their order, and what it has got."""

    def __init__(self, rng, number):
        self.id = 2 * number + 1
        self.method = rng.choice(("GET", "POST", "PUT", "HEAD", "POST"))
        size = rng.choice(SIZES) if self.method in ("POST", "PUT") else 0
        filler = rng.randbytes(min(size, 64)) or b"."
        self.body = (BAIT + filler * (size // len(filler) + 1))[:size]
        self.window = 16384
        self.got = b""
        self.status = None
        self.ended = False
        self.frames = self.make(rng)

    def make(self, rng):
        path = "/%d/%s" % (self.id, rng.choice(("chunked", "length")))
        more = [("x-%d" % i, "v" * rng.randrange(60)) for i in range(rng.randrange(5))]
        more += [("cookie", "a%d=%d" % (i, i)) for i in range(rng.randrange(3))]
        trailers = self.body and rng.random() < 0.2
        if self.body and rng.random() < 0.5:
            more.append(("content-length", str(len(self.body))))
        raw = h2.block(h2.request(path, self.method, more=more))
        out = [h2.raw_headers(self.id, raw, end=not self.body,
                              pad=rng.choice((None, None, 0, 9)),
                              prio=rng.choice((None, None, b"\0\0\0\0\x0f")),
                              pieces=rng.choice(((), (), (2,), (1, 9, 5))))]
        at = 0
        while at < len(self.body):
            n = rng.choice((1, 100, 2000, 16000))
            part = self.body[at:at + n]
            at += len(part)
            pad = rng.choice((None, None, None, 0, 30))
            out.append(h2.data(self.id, part, at >= len(self.body) and not trailers, pad))
        if trailers:
            out.append(h2.raw_headers(self.id, h2.block([("x-sum", "1")]), end=True))
        return out


def note(streams, e):
    """An event of the connection; raises when it may not happen."""
    if e is None or e[0] in ("goaway", "push"):
        raise ValueError("the connection ended: %r" % (e,))
    s = streams.get(e[1]) if e[0] in ("rst", "window", "data", "headers") else None
    if not s:
        return
    # what follows the announced length is not waited for
    if e[0] == "rst" and (e[2] or not s.ended):
        raise ValueError("stream %d was reset: %d" % (s.id, e[2]))
    if e[0] == "window":
        s.window += e[2]
    if e[0] == "data":
        s.got += e[2]
    if e[0] == "headers" and s.status is None:
        s.status = dict(e[2])[":status"]
    if e[0] in ("headers", "data"):
        s.ended = s.ended or e[3]


def send_cut(c, rng, raw):
    at = 0
    while at < len(raw):
        n = rng.choice((1, 7, 500, 5000, 70000))
        c.send(raw[at:at + n])
        at += n


def play(port, seed):
    """A well-formed session."""
    rng = random.Random(seed)
    c = h2.Client(lib.connect(port), pairs=rng.choice(((), ((4, 1000),), ((4, 200000),))))
    streams = {s.id: s for s in (Stream(rng, i) for i in range(rng.randrange(1, 11)))}
    waiting = list(streams.values())
    begun = []
    window = 65535
    while begun or waiting:
        # heads go in the order of the numbers, all else as it comes
        s = rng.choice(begun + waiting[:1])
        frame = s.frames[0]
        size = len(frame) - 9 if frame[3] == h2.DATA else 0
        if size > s.window or size > window:
            e = c.next()
            if e and e[0] == "window" and e[1] == 0:
                window += e[2]
            note(streams, e)
            continue
        send_cut(c, rng, frame)
        s.window -= size
        window -= size
        s.frames.pop(0)
        if s in waiting:
            waiting.remove(s)
            begun.append(s)
        if not s.frames:
            begun.remove(s)
    while not all(s.ended for s in streams.values()):
        note(streams, c.next())
    for s in streams.values():
        want = b"" if s.method == "HEAD" else s.body
        if s.status != "200" or s.got != want:
            raise ValueError("stream %d: %s, %d bytes for %d" % (s.id, s.status, len(s.got),
                                                                  len(want)))
    c.close()


def mutate(rng, frames):
    for _ in range(rng.randrange(1, 5)):
        i = rng.randrange(len(frames))
        f = bytearray(frames[i])
        kind = rng.randrange(7)
        if kind == 0 and f:
            f[rng.randrange(len(f))] ^= 1 << rng.randrange(8)
            frames[i] = bytes(f)
        elif kind == 1 and f:
            f[rng.randrange(min(9, len(f)))] = rng.randrange(256)
            frames[i] = bytes(f)
        elif kind == 2:
            frames.insert(i, bytes(f))
        elif kind == 3:
            frames.insert(rng.randrange(len(frames)), frames.pop(i))
        elif kind == 4 and len(frames) > 1:
            del frames[i]
        elif kind == 5:
            frames[i] = bytes(f[:rng.randrange(len(f) + 1)])
        else:
            size = rng.randrange(40)
            frames.insert(i, h2.frame(rng.randrange(12), rng.randrange(256), rng.randrange(24),
                                      rng.randbytes(size)))


def play_mutated(port, seed):
    rng = random.Random(seed)
    c = h2.Client(lib.connect(port), timeout=0.02)
    frames = [f for i in range(rng.randrange(1, 6)) for f in Stream(rng, i).frames]
    mutate(rng, frames)
    send_cut(c, rng, b"".join(frames))
    try:
        while c.frame():
            pass
    except socket.timeout:
        pass
    c.close()


def is_empty(proxy):
    """Is nothing left of all sessions?"""
    rows = proxy.stats()
    return all(rows[key]["scur"] == "0" for key in (
        ("chain", "FRONTEND"), ("again", "BACKEND"), ("b", "BACKEND")))


def run(tap, echo, port, count, seed, kind, one):
    for i in range(count):
        try:
            one(port, seed + i)
        except (ValueError, KeyError, IndexError, OSError) as e:
            tap.ok(False, "%s session, seed %d" % (kind, seed + i), repr(e))
            return
        if echo.problems:
            tap.ok(False, "%s session, seed %d" % (kind, seed + i), "\n".join(echo.problems))
            return
    tap.ok(True, "%d %s sessions" % (count, kind))


def main():
    args = lib.arguments(__doc__, ("sessions", 150, "of each kind"), ("seed", 1, "the first"))
    tap = lib.Tap()
    echo = Echo()
    fe, fe2 = lib.ports(2)
    conf = CONF.format(fe=fe, fe2=fe2, s1=echo.server.port)
    with lib.Proxy(args.program, conf) as proxy:
        run(tap, echo, fe, args.sessions, args.seed, "well-formed", play)
        run(tap, echo, fe, args.sessions, args.seed, "mutated", play_mutated)
        run(tap, echo, fe2, args.sessions, args.seed, "chained", play)
        run(tap, echo, fe2, args.sessions, args.seed, "chained and mutated", play_mutated)
        time.sleep(0.1)
        tap.ok(not echo.problems, "the server read requests only", "\n".join(echo.problems))
        tap.ok(lib.until(lambda: is_empty(proxy)), "no session and no stream is left")
        tap.ok(proxy.alive(), "the proxy is alive")
    echo.server.close()
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
