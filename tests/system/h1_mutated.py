#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Mutated HTTP/1 requests in front of a server that notes what arrives: whatever comes in, what the
server reads must be requests that no two parsers can cut differently. And mutated answers to good requests: whatever
the server sends, what the client reads must be one answer.

Each case is one client connection: a good request or two, bodies that hold a request as bait, then up to four
mutations: bytes that parsers quarrel about, fields that frame twice, folded lines, targets with
another authority, chunk lines, line ends, bytes lost. A strict parser reads what the server got: it must be
well-formed, framed once, and name one host.

With --reference PROGRAM (or $REFERENCE) each case is asked of that program too, and what this one forwards
and that one does not is a failure: this program is as strict or stricter. --count N cases of each kind, --seed S for
others, --only requests or answers; the long run is h1_mutated.py --count 10000. --show prints the cases that only the
other forwards."""
import os
import random
import re
import socket
import threading

import lib
from h1_conformance import Strict, StrictReader

STATUS = re.compile(rb"^HTTP/1\.[01] ([2-5]\d\d)", re.M)
CONF = """
	nbthread 1
defaults
	mode http
	timeout connect 5s
	timeout client 5s
	timeout server 5s
	http-reuse never
	retries 0
frontend fe
	bind 127.0.0.1:{fe}
	default_backend be
backend be
	server s1 127.0.0.1:{s1}
"""
BAIT = b"GET /bait HTTP/1.1\r\nHost: bait\r\n\r\n"
# bytes that some parser takes for a blank, an end of line, nothing, or a part of a name
BYTES = [b"\r", b"\n", b"\0", b"\t", b"\v", b"\f", b" ", b"\x1f", b"\x7f", b"\x80", b"\x85", b"\xa0", b"\xff",
         b",", b";", b":", b"\"", b"\\", b"_", b"=", b"#", b"@", b"%0d%0a", b"\r\n", b"\n\n", b"\r\n ", b"\r\r\n"]
FIELDS = [b"Content-Length: 0", b"Content-Length: 4", b"Content-Length: 37", b"Content-Length: +4",
          b"Content-Length: 4, 4", b"Content-Length: 4,37", b"Content-Length: 0x4", b"Content-Length:",
          b"Content-Length: 4 ", b"Content-Length:\t4", b"Content-Length : 4", b"Content-Length: 004",
          b"Content-Length: -1", b"Content-Length: 18446744073709551620", b"Content-Length: 4 4",
          b"Content-Length: 4\v", b"Content_Length: 4", b"Content-Length: ,4", b"content-length: 1e1",
          b"Transfer-Encoding: chunked", b"Transfer-Encoding: Chunked", b"Transfer-Encoding: identity",
          b"Transfer-Encoding: chunked, identity", b"Transfer-Encoding: gzip, chunked",
          b"Transfer-Encoding: chunked, chunked", b"Transfer-Encoding: xchunked", b"Transfer-Encoding:",
          b"Transfer-Encoding: \"chunked\"", b"Transfer-Encoding: chunked;q=1", b"Transfer-Encoding:\vchunked",
          b"Transfer-Encoding : chunked", b"Transfer-Encoding:\r\n chunked", b"Transfer-Encoding: ,chunked",
          b"Transfer-Encoding: chunked,", b"Transfer_Encoding: chunked", b"Transfer-Encoding: chunked\0",
          b"X: y\nTransfer-Encoding: chunked", b"X: y\rTransfer-Encoding: chunked", b" Transfer-Encoding: chunked",
          b"Host: other", b"Host: x", b"Host: a b", b"Host:", b"Host: x, other", b"Host: x@other", b"Host: x:0",
          b"Connection: close", b"Connection: content-length", b"Connection: host, keep-alive", b"Upgrade: h2c",
          b"Connection: transfer-encoding", b"Connection: upgrade", b"Upgrade: websocket", b"Upgrade: foo",
          b"Expect: 100-continue", b"Expect: 200", b"TE: trailers, chunked", b"Trailer: content-length",
          b"Keep-Alive: 5", b"Proxy-Connection: keep-alive", b"HTTP2-Settings: AAMAAABk", b": empty", b"noColon",
          b"\tfolded", b" folded: more", b"X-F: a\r\n\tb", b"X: \xff", b"X-Long: " + b"a" * 3000, b"X" * 200 + b": y"]
LINES = [b"GET http://other/ HTTP/1.1", b"GET http://x/ HTTP/1.1", b"GET http://x@other/ HTTP/1.1",
         b"GET http:///p HTTP/1.1", b"GET x HTTP/1.1", b"GET * HTTP/1.1", b"OPTIONS * HTTP/1.1",
         b"CONNECT other:80 HTTP/1.1", b"CONNECT / HTTP/1.1", b"GET //x/y HTTP/1.1", b"GET / HTTP/1.0",
         b"POST / HTTP/1.0", b"GET /", b"GET / HTTP/0.9", b"GET / HTTP/2.0", b"GET / HTTP/1.2", b"GET / http/1.1",
         b"GET / HTTP/1.10", b"GET /a b HTTP/1.1", b"GET  / HTTP/1.1", b"GET\t/ HTTP/1.1", b"GET / HTTP/1.1 ",
         b" GET / HTTP/1.1", b"get / HTTP/1.1", b"G:T / HTTP/1.1", b"GET /\xff HTTP/1.1", b"GET /#f HTTP/1.1",
         b"PRI * HTTP/2.0", b"HEAD / HTTP/1.1", b"TRACE / HTTP/1.1", b"GET http://x:80/ HTTP/1.1",
         b"GET ftp://x/ HTTP/1.1", b"GET http://x HTTP/1.1", b"GET http://x?q HTTP/1.1", b"", b"\r\n"]
SIZES = [b"4;ext", b"4;ext=\"a\r\n\"", b"4 ", b" 4", b"+4", b"0x4", b"4\n", b"4;a\nb", b"00000004", b"-4", b"4,4",
         b"FFFFFFFFFFFFFFFF4", b"10000000000000004", b"", b"4\t;x", b"4;\0", b"g", b"4\r", b"000", b"0;x", b"4_"]


def body_of(rng):
    """Fields that frame a body, and the body."""
    kind = rng.randrange(4)
    data = rng.choice((b"", b"data", BAIT, b"4\r\ndata\r\n0\r\n\r\n" + BAIT, b"0\r\n\r\n" + BAIT))
    if kind == 0:
        return [], b""
    if kind == 1:
        return [b"Content-Length: %d" % len(data)], data
    cut = rng.randrange(len(data)) if data else 0
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(c), c) for c in (data[:cut], data[cut:]) if c)
    trailer = rng.choice((b"", b"", b"X-T: 1\r\n", rng.choice(FIELDS) + b"\r\n"))
    return [b"Transfer-Encoding: chunked"], chunks + b"0\r\n" + trailer + b"\r\n"


def request(rng):
    """A good request, as [start line, fields, body]."""
    fields, body = body_of(rng)
    method = b"POST" if body or rng.randrange(2) else b"GET"
    return [method + b" /good HTTP/1.1", [b"Host: x", b"X-A: b"] + fields, body]


def mutate_parts(rng, rq, start_lines=LINES):
    what = rng.randrange(7)
    fields = rq[1]
    if what < 3:
        fields.insert(rng.randrange(len(fields) + 1), rng.choice(FIELDS))
    elif what == 3:
        rq[0] = rng.choice(start_lines)
    elif what == 4:
        fields.pop(rng.randrange(len(fields)))
        fields.append(rng.choice(FIELDS))
    elif what == 5:
        at = rng.randrange(len(fields))
        fields.insert(at, fields[at])
    else:
        lines = rq[2].split(b"\r\n")
        at = rng.choice([i for i, line in enumerate(lines) if len(line) < 4] or [0])
        lines[at] = rng.choice(SIZES)
        rq[2] = b"\r\n".join(lines)


def mutate_bytes(rng, raw):
    at = rng.randrange(len(raw) + 1)
    what = rng.randrange(5)
    if what < 2:
        return raw[:at] + rng.choice(BYTES) + raw[at:]
    if what == 2:
        return raw[:at] + rng.choice(BYTES) + raw[at + 1:]
    if what == 3:
        return raw[:at] + raw[at + rng.randrange(1, 4):]
    ends = [m.start() for m in re.finditer(b"\r\n", raw)]
    at = rng.choice(ends) if ends else 0
    return raw[:at] + rng.choice((b"\n", b"\r", b"\r\n\r\n", b"\r\r\n", b"\n\r", b" \r\n")) + raw[at + 2:]


def case(seed):
    rng = random.Random(seed)
    out = b""
    for _ in range(rng.choice((1, 1, 2))):
        rq = request(rng)
        for _ in range(rng.randrange(3)):
            mutate_parts(rng, rq)
        raw = b"\r\n".join([rq[0]] + rq[1]) + b"\r\n\r\n" + rq[2]
        for _ in range(rng.choice((0, 1, 1, 2))):
            raw = mutate_bytes(rng, raw)
        out += raw
    return out + b"GET /last HTTP/1.1\r\nHost: x\r\n\r\n"


ANSWER_LINES = [b"HTTP/1.1 200 OK", b"HTTP/1.0 200 OK", b"HTTP/1.1 200", b"HTTP/1.1 200 ", b"HTTP/1.1  200 OK",
                b"HTTP/1.1 204 No", b"HTTP/1.1 304 No", b"HTTP/1.1 404 No", b"HTTP/1.1 500 No", b"HTTP/1.1 101 Up",
                b"HTTP/1.1 100 Go", b"HTTP/1.1 103 Hint", b"HTTP/1.1 99 x", b"HTTP/1.1 1000 x", b"HTTP/1.1 20 OK",
                b"HTTP/1.1 2000 OK", b"HTTP/1.1 +20 OK", b"HTTP/1.1 099 x", b"HTTP/1.1 600 x", b"HTTP/1.1 999 x",
                b"HTTP/1.2 200 OK", b"HTTP/2.0 200 OK", b"HTTP/0.9 200 OK", b"http/1.1 200 OK", b"HTTP/1.1\t200 OK",
                b" HTTP/1.1 200 OK", b"HTTP/11 200 OK", b"HTTP/1.1 200 O\0K", b"HTTP/1.1 200 \xe9", b"ICY 200 OK",
                b"200 OK", b"", b"HTTP/1.1 2 0 OK", b"HTTP/1.10 200 OK", b"HTTP/1.1 200\tOK", b"HTTP/1.1 200 O\vK"]
EVIL = b"HTTP/1.1 200 OK\r\nX-Evil: 1\r\nContent-Length: 0\r\n\r\n"


def answer_case(seed):
    """(the request, the answer)."""
    rng = random.Random(seed)
    method = rng.choice((b"GET", b"GET", b"GET", b"POST", b"HEAD"))
    version = rng.choice((b"1.1", b"1.1", b"1.0"))
    rq = b"%s /%d HTTP/%s\r\nHost: x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n" % (method, seed, version)
    fields, body = body_of(rng)
    if rng.randrange(2):
        body = body.replace(BAIT, EVIL)
    res = [b"HTTP/1.1 200 OK", [b"Server: x", b"X-A: b"] + fields, body]
    for _ in range(rng.randrange(3)):
        mutate_parts(rng, res, ANSWER_LINES)
    raw = b"\r\n".join([res[0]] + res[1]) + b"\r\n\r\n" + res[2]
    for _ in range(rng.choice((0, 1, 1, 2))):
        raw = mutate_bytes(rng, raw)
    if rng.randrange(8) == 0:
        raw = raw[:rng.randrange(len(raw) + 1)]
    return rq, raw


class Doubter(StrictReader):
    """What else two servers can read differently."""

    def request(self):
        rq = super().request()
        if not rq:
            return rq
        fields = dict(rq[2])
        if self.version != b"HTTP/1.1" and b"transfer-encoding" in fields:
            raise Strict("Transfer-Encoding in %r" % self.version)
        absolute = re.match(rb"[a-z][a-z0-9+.-]*://(?:[^/?@]*@)?([^/?]*)", rq[1], re.I)
        host = fields.get(b"host")
        if absolute and host is not None and absolute.group(1).lower() != host.lower():
            raise Strict("target %r for host %r" % (rq[1], host))
        # a proxy behind us would take the framing out with the other fields of its hop
        hop = {t.strip().lower() for n, v in rq[2] if n == b"connection" for t in v.split(b",")}
        if hop & {b"content-length", b"transfer-encoding", b"host"}:
            raise Strict("Connection names %r" % hop)
        return rq


class Notes:
    """A server that notes what its connections get."""

    def __init__(self):
        self.lock = threading.Condition()
        self.requests, self.problems, self.open = [], [], 0
        self.server = lib.Server(self.serve)

    def serve(self, sock):
        with self.lock:
            self.open += 1
        try:
            self.read(sock)
        finally:
            sock.close()
            with self.lock:
                self.open -= 1
                self.lock.notify_all()

    def read(self, sock):
        reader = Doubter(sock)
        while True:
            try:
                rq = reader.request()
            except Strict as e:
                with self.lock:
                    self.problems.append(str(e))
                return
            except EOFError:
                return
            if not rq:
                return
            with self.lock:
                self.requests.append((rq[0], rq[1], rq[3]))
            status = b"403" if rq[0] == b"CONNECT" else b"200"
            sock.sendall(b"HTTP/1.1 %s OK\r\ncontent-length: 0\r\n\r\n" % status)

    def saw_last(self):
        with self.lock:
            return any(r[1] == b"/last" for r in self.requests)

    def count(self):
        with self.lock:
            return len(self.requests)

    def take(self):
        """What was noted, once no connection is open."""
        with self.lock:
            self.lock.wait_for(lambda: not self.open, lib.PATIENCE)
            got = self.requests, self.problems
            self.requests, self.problems = [], []
        return got


class Side:
    """One program and the server behind it."""
    conf = CONF

    def __init__(self, program):
        self.notes = Notes()
        self.port = lib.ports(1)[0]
        self.proxy = lib.Proxy(program, self.conf.format(fe=self.port, s1=self.notes.server.port))

    def play(self, raw, patience):
        """(what the client got, requests, problems). <patience>: how long to wait for what may not come."""
        sock = lib.connect(self.port, patience)
        got, waits = b"", True
        try:
            sock.sendall(raw)
            while waits and not (self.notes.saw_last() and len(STATUS.findall(got)) >= self.notes.count()):
                try:
                    part = sock.recv(65536)
                    got, waits = got + part, part
                except socket.timeout:
                    waits = False
            sock.shutdown(socket.SHUT_WR)
            sock.settimeout(lib.PATIENCE)
        except OSError:
            pass
        got += lib.recv_all(sock)
        sock.close()
        requests, problems = self.notes.take()
        return STATUS.findall(got), requests, problems


class Mean:
    """A server that sends the answer of the case whose number is the path, and closes."""

    def __init__(self):
        self.server = lib.Server(self.serve)

    def serve(self, sock):
        head = lib.Reader(sock).head()
        if head:
            seed = re.match(r"\w+ /(\d+) ", head[0])
            sock.sendall(answer_case(int(seed.group(1)))[1] if seed else b"")
        sock.shutdown(socket.SHUT_WR)
        while sock.recv(65536):
            pass


class Answer:
    """What a client got, read strictly: one final answer, whole or broken off."""

    def __init__(self, raw, reset, bodyless):
        self.raw, self.reset = raw, reset
        self.status, self.whole, self.problem = None, False, None
        try:
            self.read(raw, bodyless)
        except Strict as e:
            self.problem = str(e)

    def read(self, raw, bodyless):
        while not self.status:
            head, end, raw = raw.partition(b"\r\n\r\n")
            if not end:
                if head and not self.reset and not bodyless:
                    raise Strict("no end of head in %r" % head)
                return
            lines = head.split(b"\r\n")
            if not re.match(rb"^HTTP/1\.[01] [1-9]\d\d [^\r\n]*$", lines[0]):
                raise Strict("status line %r" % lines[0])
            fields = StrictReader.fields(None, lines[1:])
            code = int(lines[0][9:12])
            if code >= 200:
                self.status = code
        self.body(raw, dict(fields), bodyless or self.status in (204, 304))

    def body(self, raw, fields, bodyless):
        if b"transfer-encoding" in fields and b"content-length" in fields:
            raise Strict("framed twice: %r" % fields)
        if bodyless:
            self.whole = not raw
            if raw:
                raise Strict("a body where none may be: %r" % raw)
        elif b"transfer-encoding" in fields:
            while True:
                m = re.match(rb"([0-9a-fA-F]{1,8})\r\n", raw)
                if not m:
                    if len(raw) > 8:
                        raise Strict("chunk %r" % raw)
                    return
                size = int(m.group(1), 16)
                if not size:
                    trailers, end, rest = raw[m.end() - 2:].partition(b"\r\n\r\n")
                    if rest:
                        raise Strict("behind the answer: %r" % rest)
                    self.whole = bool(end)
                    return
                if len(raw) < m.end() + size + 2:
                    return
                raw = raw[m.end() + size + 2:]
        elif b"content-length" in fields:
            size = int(fields[b"content-length"])
            if len(raw) > size:
                raise Strict("behind the answer: %r" % raw[size:])
            self.whole = len(raw) == size
        else:
            self.whole = not self.reset


class AnswerSide:
    """One program in front of the mean server."""

    def __init__(self, program, server):
        self.port = lib.ports(1)[0]
        self.proxy = lib.Proxy(program, CONF.format(fe=self.port, s1=server.port))

    def play(self, rq):
        sock, raw, reset = lib.connect(self.port), b"", False
        try:
            sock.sendall(rq)
            part = b"."
            while part:
                part = sock.recv(65536)
                raw += part
        except ConnectionResetError:
            reset = True
        sock.close()
        return Answer(raw, reset, rq.startswith(b"HEAD"))


def judge_answer(tap, seed, ours, theirs):
    """Whether an answer is one, and none that only this program takes."""
    error = ours.problem
    refused = theirs and not theirs.problem and theirs.status in (None, 502)
    if not error and refused and ours.whole and ours.status < 500:
        error = "passed on here only: there %r" % theirs.raw
    if error:
        rq, raw = answer_case(seed)
        tap.ok(False, "answer %d" % seed, "%s\n%r\n%r\ngot %r" % (error, rq, raw, ours.raw))
    return not error


def answers(tap, args):
    """Mutated answers."""
    mean = Mean()
    programs = [args.program] + ([args.reference] if is_there(args) else [])
    sides = [AnswerSide(p, mean.server) for p in programs]
    good = passed = 0
    for seed in range(args.seed, args.seed + args.count):
        got = [side.play(answer_case(seed)[0]) for side in sides] + [None]
        good += judge_answer(tap, seed, got[0], got[1])
        passed += got[0].whole and got[0].status < 500
    tap.eq(good, args.count, "%d answers are one answer" % args.count)
    tap.ok(passed > args.count // 4, "%d answers were passed on" % passed)
    for side in sides:
        tap.ok(side.proxy.alive(), "the proxy is still there", side.proxy.output())
        side.proxy.__exit__()
    mean.server.close()


def is_there(args):
    """Is there a program to compare with?"""
    return os.access(args.reference, os.X_OK) and not lib.is_reference(args.program)


def forwarded_here_only(ours, theirs):
    left = list(theirs[1])
    for r in ours[1]:
        if r in left:
            left.remove(r)
        else:
            yield "forwarded here only: %r; there %r" % (r, theirs[1])


def judge(tap, seed, raw, ours, theirs):
    """Whether the case is as it should be."""
    answers, _, problems = ours
    errors = list(problems)
    if theirs and not theirs[2]: # else the server closed amid it
        errors += forwarded_here_only(ours, theirs)
    if errors:
        tap.ok(False, "case %d" % seed, "%s\n%r\nanswers %r, there %r" % (
            "\n".join(errors), raw, answers, theirs and theirs[0]))
    return not errors


def requests(tap, args):
    """Mutated requests."""
    sides = [Side(args.program)]
    if is_there(args):
        sides.append(Side(args.reference))
    good = forwarded = fewer = 0
    start = lib.time.monotonic()
    for seed in range(args.seed, args.seed + args.count):
        raw = case(seed)
        got = [side.play(raw, 0.1) for side in sides] + [None]
        for seconds in (1, 5):
            if got[1] and any(forwarded_here_only(*got[:2])): # was it too slow?
                lib.time.sleep(seconds) # what comes late is not of the next try
                got[:2] = [side.play(raw, seconds) for side in sides]
        good += judge(tap, seed, raw, got[0], got[1])
        forwarded += len(got[0][1])
        if got[1] and len(got[1][1]) > len(got[0][1]):
            fewer += 1
            if args.show:
                print("# %d %r\n#   here %r %r\n#   there %r %r" % (
                    (seed, raw) + got[0][:2] + got[1][:2]))
        if args.count <= 600 and tap.out_of_time(start, 200, "all cases"):
            break
    tap.eq(good, args.count, "%d cases are cut in one way" % args.count)
    tap.ok(forwarded > args.count // 3, "%d requests were forwarded" % forwarded)
    print("# %d cases of which the other program forwards more" % fewer)
    for side in sides:
        tap.ok(side.proxy.alive(), "the proxy is still there", side.proxy.output())
        side.proxy.__exit__()


def main():
    args = lib.arguments(__doc__, ("count", 600, "cases"), ("seed", 1, "of the first case"),
                         ("reference", lib.REFERENCE, "the program to compare with"), ("only", "", "kind of cases"),
                         ("show", False, "the cases that only the other forwards"))
    tap = lib.Tap()
    for kind in (requests, answers):
        if kind.__name__.startswith(args.only):
            kind(tap, args)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
