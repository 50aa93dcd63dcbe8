#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Random HTTP/2 sessions, well-formed ones and mutated ones, in front of a strict HTTP/1 server.

A well-formed session has up to ten streams whose frames are mixed: bodies of all sizes with and without a
length, padding, CONTINUATION, priorities, trailers, windows from small to large, heads in every form of
HPACK, streams that the client gives up, bytes cut anywhere. Every answer must be the echo of its
request. A mutated session is one whose heads got hostile fields and whose frames were flipped, cut,
repeated, moved or dropped: whatever comes of it, the server must never read what is no request (bodies
hold one, as bait), and no session or stream may be left behind.

Both kinds also go through a second proxy whose server is the first one, over HTTP/2. A third kind is of
HTTP/1 clients whose HTTP/2 server sends mutated answers: the client must never read what is no answer.

With --reference PROGRAM (or $REFERENCE) there is a fourth kind: one request with hostile fields, frames or trailers is
sent to both programs, and what this one forwards and that one does not is a failure, unless it is a difference on
purpose.

--sessions N of each kind; --seed S starts elsewhere; --only mutated: kinds whose name begins so. A failure
prints the seed of its session. With a program that was built with SAN=address, what that found fails too;
the long run is
    make SAN=address && tests/system/h2_sessions.py --program build/address/haproxy --sessions 50000
"""
import random
import re
import socket
import time

import h1_mutated
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
	server s1 127.0.0.1:{fe} proto h2 idle-ping 20ms
frontend plain
	bind 127.0.0.1:{fe3}
	default_backend hostile
backend hostile
	retries 0
	server s1 127.0.0.1:{s2} proto h2
"""
BAIT = b"\r\n\r\nGET /evil HTTP/1.1\r\nhost: evil\r\n\r\n"
LINES = "\r\n\r\nGET /evil HTTP/1.1\r\nhost: evil\r\n\r\n"
HOSTILE = [(n, v) for n in ("x", "cookie", "te", ":path", ":method", ":authority", ":scheme", "host")
           for v in ("a" + LINES, "/evil two", "\r", "\n", "\0", "a\r\n b: evil")]
HOSTILE += [("x" + LINES, "1"), ("x evil", "1"), ("x:evil", "1"), ("", "1"), ("X-Evil", "1"),
            ("transfer-encoding", "chunked"), ("transfer-encoding ", "chunked"),
            (" transfer-encoding", "chunked"), ("connection", "x, content-length"),
            ("upgrade", "h2c"), (":evil", "1"), (":status", "200"), (":method", "GET"),
            (":path", ""), (":path", "evil"), (":path", "*"), (":authority", ""),
            (":authority", "evil@evil"), (":scheme", "evil:"), ("host", "other")]
HOSTILE += [("content-length", v) for v in ("0", "3", "+5", "-1", "5,5", "5, 6", " 5", "0x5", "",
                                            "99999999999999999999", "1\r\n")]
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

    def __init__(self, rng, number, encoder):
        self.id = 2 * number + 1
        self.encoder = encoder
        self.given_up = False
        self.hostile = None
        self.method = rng.choice(("GET", "POST", "PUT", "HEAD", "POST"))
        size = rng.choice(SIZES) if self.method in ("POST", "PUT") else 0
        filler = rng.randbytes(min(size, 64)) or b"."
        self.body = (BAIT + filler * (size // len(filler) + 1))[:size]
        self.window = 16384
        self.got = b""
        self.status = None
        self.ended = False
        self.frames = self.make(rng)

    def encode(self, rng, fields):
        """A header block, to be made when it is sent: the table must be as it is then."""
        fields = list(fields)
        if self.hostile:
            at = rng.randrange(len(fields) + 1)
            if rng.random() < 0.5:
                fields = [f for f in fields if f[0] != self.hostile[0]]
            fields.insert(min(at, len(fields)), self.hostile)
        return self.encoder.block(fields)

    def next(self):
        """The next frame, as bytes."""
        if callable(self.frames[0]):
            self.frames[0] = self.frames[0]()
        return self.frames[0]

    def give_up(self, rng):
        """The client resets the stream somewhere behind its head."""
        self.given_up = True
        self.frames[rng.randrange(1, len(self.frames) + 1):] = [h2.rst(self.id)]

    def make(self, rng):
        path = "/%d/%s" % (self.id, rng.choice(("chunked", "length")))
        more = [("x-%d" % i, "v" * rng.randrange(60)) for i in range(rng.randrange(5))]
        more += [("cookie", "a%d=%d" % (i, i)) for i in range(rng.randrange(3))]
        trailers = self.body and rng.random() < 0.2
        if self.body and rng.random() < 0.5:
            more.append(("content-length", str(len(self.body))))
        fields = h2.request(path, self.method, more=more)
        how = {"end": not self.body, "pad": rng.choice((None, None, 0, 9)),
               "prio": rng.choice((None, None, b"\0\0\0\0\x0f")),
               "pieces": rng.choice(((), (), (2,), (1, 9, 5)))}
        out = [lambda: h2.raw_headers(self.id, self.encode(rng, fields), **how)]
        at = 0
        while at < len(self.body):
            n = rng.choice((1, 100, 2000, 16000))
            part = self.body[at:at + n]
            at += len(part)
            pad = rng.choice((None, None, None, 0, 30))
            out.append(h2.data(self.id, part, at >= len(self.body) and not trailers, pad))
        if trailers:
            out.append(lambda: h2.raw_headers(self.id, self.encode(rng, [("x-sum", "1")]), end=True))
        return out


def note(streams, e):
    """An event of the connection; raises when it may not happen."""
    if e is None or e[0] in ("goaway", "push"):
        raise ValueError("the connection ended: %r" % (e,))
    s = streams.get(e[1]) if e[0] in ("rst", "window", "data", "headers") else None
    if not s:
        return
    # what follows the announced length is not waited for
    if e[0] == "rst" and (e[2] or not s.ended) and not s.given_up:
        raise ValueError("stream %d was reset: %d" % (s.id, e[2]))
    if e[0] == "window":
        s.window += e[2]
    if s.given_up:
        return
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


def between(rng):
    """A frame that changes nothing, or nothing."""
    return rng.choice((b"",) * 12 + (
        h2.ping(), h2.priority(rng.randrange(1, 40), 0), h2.frame(0x42, 0, 0, b"x" * 40),
        h2.settings((4, rng.choice((300, 65535, 1 << 20)))), h2.window(0, 1)))


def play(port, seed):
    """A well-formed session."""
    rng = random.Random(seed)
    c = h2.Client(lib.connect(port), pairs=rng.choice(((), ((4, 1000),), ((4, 200000),), ((1, 0),),
                                                       ((1, 100), (4, 70000)))))
    encoder = h2.Encoder(rng)
    streams = {s.id: s for s in (Stream(rng, i, encoder) for i in range(rng.randrange(1, 11)))}
    for s in streams.values():
        if rng.random() < 0.05:
            s.give_up(rng)
    waiting = list(streams.values())
    begun = []
    window = 65535
    while begun or waiting:
        # heads go in the order of the numbers, all else as it comes
        s = rng.choice(begun + waiting[:1])
        if s in waiting and rng.random() < 0.05:
            encoder.resize(rng.choice((0, 200, 4096)))
        frame = s.next()
        size = len(frame) - 9 if frame[3] == h2.DATA else 0
        if size > s.window or size > window:
            e = c.next()
            if e and e[0] == "window" and e[1] == 0:
                window += e[2]
            note(streams, e)
            continue
        send_cut(c, rng, between(rng) + frame)
        s.window -= size
        window -= size
        s.frames.pop(0)
        if s in waiting:
            waiting.remove(s)
            begun.append(s)
        if not s.frames:
            begun.remove(s)
    while not all(s.ended or s.given_up for s in streams.values()):
        note(streams, c.next())
    for s in streams.values():
        if s.given_up:
            continue
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
    frames = []
    encoder = h2.Encoder(rng)
    for i in range(rng.randrange(1, 6)):
        s = Stream(rng, i, encoder)
        if rng.random() < 0.3:
            s.hostile = rng.choice(HOSTILE)
        while s.frames:
            frames.append(s.next())
            s.frames.pop(0)
    if rng.random() < 0.8:
        mutate(rng, frames)
    send_cut(c, rng, b"".join(frames))
    try:
        while c.frame():
            pass
    except socket.timeout:
        pass
    c.close()


class Hostile:
    """An HTTP/2 server whose answers are mutated; the path of a request is the seed of its answer."""

    def __init__(self):
        self.server = lib.Server(self.serve)

    def serve(self, sock):
        c = h2.Service(sock)
        while True:
            e = c.next()
            if e is None or e[0] == "goaway":
                return
            if e[0] == "headers":
                path = dict(e[2])[":path"]
                rng = random.Random(int(path[1:]))
                send_cut(c, rng, b"".join(self.answer(rng, e[1])))

    @staticmethod
    def answer(rng, number):
        size = rng.choice(SIZES)
        body = (EVIL_ANSWER * (size // len(EVIL_ANSWER) + 1))[:size]
        fields = [(":status", "200"), ("x-n", "v" * rng.randrange(40))]
        if rng.random() < 0.5:
            fields.append(("content-length", str(size)))
        if rng.random() < 0.3:
            fields.insert(rng.randrange(len(fields) + 1), rng.choice(HOSTILE))
        parts = [body[i:i + 9000] for i in range(0, size, 9000)]
        out = [h2.raw_headers(number, h2.block(fields), end=not parts)]
        if rng.random() < 0.2:
            out.insert(0, h2.headers(number, [(":status", "103"), ("link", "x")], end=False))
        out += [h2.data(number, p, i == len(parts) - 1) for i, p in enumerate(parts)]
        if rng.random() < 0.8:
            mutate(rng, out)
        return out


EVIL_ANSWER = b"\r\n\r\nHTTP/1.1 200 OK\r\nx-evil: 1\r\ncontent-length: 0\r\n\r\n"


class StrictAnswers(StrictReader):
    def response(self):
        """The next final answer: (status, fields, body); None: the end, also amid one."""
        try:
            while True:
                while b"\r\n\r\n" not in self.buf:
                    if not self.fill():
                        return None
                raw, self.buf = self.buf.split(b"\r\n\r\n", 1)
                lines = raw.split(b"\r\n")
                if not re.match(rb"^HTTP/1\.1 [1-9]\d\d [^\r\n]*$", lines[0]):
                    raise Strict("status line %r" % lines[0])
                fields = self.fields(lines[1:])
                if not lines[0][9:].startswith(b"1"):
                    return int(lines[0][9:12]), fields, self.framed(fields)
        except EOFError:
            return None


def play_answers(port, seed):
    """A client of HTTP/1 whose server is hostile."""
    sock = lib.connect(port, timeout=0.03)
    r = StrictAnswers(sock)
    try:
        for i in range(4):
            sock.sendall(b"GET /%d HTTP/1.1\r\nhost: a\r\n\r\n" % (seed * 4 + i))
            answer = r.response()
            if not answer:
                break
            if r.buf:
                raise ValueError("more than one answer: %r" % r.buf[:200])
            if any(b"evil" in n for n, _ in answer[1]):
                raise ValueError("smuggled: %r" % (answer[1],))
    except socket.timeout:
        pass  # what was mutated may be the end
    except Strict as e:
        raise ValueError(str(e))
    finally:
        sock.close()


# ---- beside the reference

SWAPS = [(":method", v) for v in ("", "get", "GE T", "PRI", "G:T", "GET\r\n", "OPTIONS", "CONNECT", "*", "\xe9", "A" * 300)]
SWAPS += [(":scheme", v) for v in ("", "https", "HTTP", "ftp", "http:", "1x", "h\0", "http://x/?", "h t", "x-y.z+1")]
SWAPS += [(":path", v) for v in ("", "*", "x", "/a b", "/a#b", "//x", "/\x7f", "/\xe9", "/%00", "/?", "?q", "/\t", "/a\\b",
                                 "http://x/", "/../../", "/a;b", "/\"")]
SWAPS += [(":authority", v) for v in ("", "a b", "a@b", "u:p@a", "a/b", "a?b", "[::1", "[::1]", "[::1]:80", "a:", "a:80",
                                      "a:443", "a:x", "a:80:80", "a:99999", ":80", "a,b", "A.Example", "\xe9", "a#b", "*",
                                      "a%41", "a_b", "a..b", ".", "a\\b")]
MORE = [("host", v) for v in ("a.example", "A.EXAMPLE", "a.example:80", "other", "", "a b", "a.example, b")]
MORE += [("te", v) for v in ("trailers", "Trailers", "gzip", "trailers, gzip", "")]
MORE += [(n, "1") for n in ("connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade", "http2-settings",
                            "X", "x y", "x:", "\xe9", "x\0", "x\x7f", "x\t", "", "_x", "x_y", "x/y", "x(", ":x", ":path",
                            ":method", ":authority", ":protocol", ":status", "content_length", "expect", "trailer",
                            "n" * 300)]
MORE += [("x", v) for v in ("\0", "a\0b", "a\r", "a\nb", "\r\n", " a", "a ", "\ta", "\x01", "\x7f", "\x80", "\xff", "v" * 9000)]
MORE += [("content-length", v) for v in ("0", "3", "4", "03", "3, 3", "3,4", "+3", "-3", "3 ", " 3", "0x3", "", "3e0", "3;x",
                                         "18446744073709551619", "\xb2")]
MORE += [("cookie", v) for v in ("a=b", "", "a", "a=b; c=d", "\0")] + [("expect", "100-continue"), ("connection", "close")]
TRAILERS = MORE + [("x-sum", "1"), ("grpc-status", "0")]


def compared_case(seed):
    """The bytes of a client."""
    rng = random.Random(seed)
    fields = h2.request("/good", rng.choice(("GET", "POST", "POST", "PUT", "OPTIONS", "HEAD")))
    for _ in range(rng.choice((0, 1, 1, 2))):
        name, value = rng.choice(SWAPS)
        fields = [(n, value if n == name else v) for n, v in fields]
    for _ in range(rng.choice((0, 1, 1, 2))):
        fields.insert(rng.randrange(len(fields) + 1) if rng.randrange(4) == 0 else len(fields), rng.choice(MORE))
    if rng.randrange(10) == 0:
        fields.pop(rng.randrange(len(fields)))
    body = rng.choice((None, None, b"", b"abc"))
    trailers = [rng.choice(TRAILERS)] if rng.randrange(5) == 0 else []
    frames = [h2.raw_headers(1, h2.block(fields), end=body is None and not trailers,
                             pieces=rng.choice(((), (), (2,), (1, 9))), pad=rng.choice((None, None, 3)))]
    if body is not None:
        frames.append(h2.data(1, body, not trailers, rng.choice((None, 0, 9))))
    if trailers:
        frames.append(h2.headers(1, trailers, rng.randrange(8) > 0))
    if rng.randrange(3) == 0:
        mutate(rng, frames)
    return h2.PREFACE + h2.settings() + b"".join(frames) + h2.headers(99, h2.request("/last"))


def is_known(raw):
    """A difference on purpose?"""
    # differs: http-long-names
    if b"n" * 150 in raw:
        return True
    # differs: h2-priority-size
    # differs: h2-unknown-frames
    # differs: h2-whole-requests
    at = len(h2.PREFACE)
    while at + 9 <= len(raw):
        length, kind = int.from_bytes(raw[at:at + 3], "big"), raw[at + 3]
        if kind > h2.CONTINUATION or (kind == h2.PRIORITY and length != 5):
            return True
        at += 9 + length
    return False


def whole_request(raw):
    """The session up to the end of the request of stream 1, when other frames stand behind it; else None."""
    at, last, ended = len(h2.PREFACE), raw.rindex(h2.headers(99, h2.request("/last"))[:9]), False
    while at + 9 <= last:
        length, kind, flags = int.from_bytes(raw[at:at + 3], "big"), raw[at + 3], raw[at + 4]
        stream = int.from_bytes(raw[at + 5:at + 9], "big") & 0x7fffffff
        at += 9 + length
        if stream != 1 or at > last:
            continue
        ended |= kind in (h2.HEADERS, h2.DATA) and flags & h2.END_STREAM > 0
        if ended and (kind == h2.DATA or flags & h2.END_HEADERS):
            return raw[:at] + raw[last:] if at < last else None
    return None


def forwarded_before_fault(sides, raw, theirs):
    """Is what ours alone forwards a request that was whole before a fault ended the connection? (row h2-whole-requests)"""
    whole = whole_request(raw) if any(e[0] == "goaway" for e in theirs[0]) else None
    return whole and not list(h1_mutated.forwarded_here_only(*[side.play(whole, 1) for side in sides]))


class H2Side(h1_mutated.Side):
    """One program with the server behind it."""
    conf = h1_mutated.CONF.replace("bind 127.0.0.1:{fe}", "bind 127.0.0.1:{fe} proto h2")

    def play(self, raw, patience):
        c = h2.Client(lib.connect(self.port), greet=False, timeout=patience)
        c.send(raw)
        got = []
        try:
            e = c.next()
            while e and not (e[0] in ("headers", "data", "rst") and e[1] == 99):
                if e[0] in ("rst", "goaway", "headers"):
                    got.append(e[:3])
                e = c.next()
            while e and e[0] != "rst" and not (e[0] in ("headers", "data") and e[1] == 99 and e[3]):
                e = c.next()
        except (socket.timeout, ValueError, KeyError, IndexError):
            pass
        c.close()
        if patience >= 1: # the server may still be about to note it
            lib.until(self.notes.count, patience)
        requests, problems = self.notes.take()
        # whether a fault ends the stream or the connection, and so the request behind, is no matter here
        return got, [r for r in requests if r[1] != b"/last"], problems


def compared(tap, args):
    sides = [H2Side(args.program), H2Side(args.reference)]
    known = good = forwarded = fewer = 0
    for seed in range(args.seed, args.seed + 4 * args.sessions):
        raw = compared_case(seed)
        ours, theirs = [side.play(raw, 0.1) for side in sides]
        more = list(h1_mutated.forwarded_here_only(ours, theirs))
        if more: # was it too slow? what came late is in the next case
            ours, theirs = [side.play(raw, 1) for side in sides]
            more = list(h1_mutated.forwarded_here_only(ours, theirs))
        forwarded += len(ours[1])
        fewer += len(theirs[1]) > len(ours[1])
        if more and (is_known(raw) or forwarded_before_fault(sides, raw, theirs)):
            known += 1
        elif more or ours[2]:
            tap.ok(False, "compared, seed %d" % seed, "\n".join(more + ours[2]) + "\n%r\nhere %r\nthere %r" % (
                raw, ours[0], theirs[0]))
            continue
        good += 1
    tap.eq(good, 4 * args.sessions, "%d requests beside the other program" % (4 * args.sessions))
    tap.ok(forwarded > args.sessions // 4, "%d were forwarded" % forwarded)
    print("# %d known ones; %d of which the other program forwards more" % (known, fewer))
    for side in sides:
        tap.ok(side.proxy.alive(), "the proxy is still there", side.proxy.output())
        side.proxy.__exit__()


def is_empty(proxy):
    """Is nothing left of all sessions?"""
    rows = proxy.stats()
    return all(rows[key]["scur"] == "0" for key in (
        ("chain", "FRONTEND"), ("again", "BACKEND"), ("b", "BACKEND"), ("plain", "FRONTEND"),
        ("hostile", "BACKEND")))


def run(tap, echo, port, count, seed, kind, one):
    for i in range(count):
        try:
            one(port, seed + i)
        except (ValueError, KeyError, IndexError, OSError, TypeError) as e:
            tap.ok(False, "%s session, seed %d" % (kind, seed + i), repr(e))
            return
        if echo.problems:
            tap.ok(False, "%s session, seed %d" % (kind, seed + i), "\n".join(echo.problems))
            return
    tap.ok(True, "%d %s sessions" % (count, kind))


def main():
    args = lib.arguments(__doc__, ("sessions", 150, "of each kind"), ("seed", 1, "the first"),
                         ("only", "", "kinds whose name begins with this text"),
                         ("reference", lib.REFERENCE, "the program to compare with"))
    tap = lib.Tap()
    if "compared".startswith(args.only) and h1_mutated.is_there(args):
        compared(tap, args)
    echo = Echo()
    hostile = Hostile()
    fe, fe2, fe3 = lib.ports(3)
    conf = CONF.format(fe=fe, fe2=fe2, fe3=fe3, s1=echo.server.port, s2=hostile.server.port)
    with lib.Proxy(args.program, conf) as proxy:
        for kind, port, one in (("well-formed", fe, play), ("mutated", fe, play_mutated),
                                ("chained", fe2, play), ("chained and mutated", fe2, play_mutated),
                                ("hostile server's", fe3, play_answers)):
            if kind.startswith(args.only):
                run(tap, echo, port, args.sessions, args.seed, kind, one)
        time.sleep(0.1)
        tap.ok(not echo.problems, "the server read requests only", "\n".join(echo.problems))
        if tap.ok(proxy.alive(), "the proxy is alive", proxy.output()):
            tap.ok(lib.until(lambda: is_empty(proxy)), "no session and no stream is left")
        proxy.stop()
        out = proxy.output()
        tap.ok("Sanitizer" not in out and "runtime error" not in out, "and clean to its end", out)
    echo.server.close()
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
