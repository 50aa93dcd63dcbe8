#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Malformed and ambiguous HTTP/1 messages against the proxy (RFC 9112, RFC 9110).

Each row of tables/h1.py goes through one running proxy to a raw-socket server that records what
arrives. Checked for requests: the status is the one of the table or, where the table allows it, a
refusal; a refused message is never forwarded; what is forwarded reads as exactly one request for a
strict parser; the next request on the same client connection gets its own answer. The same goes
for responses.

--learn prints what the program does, in the form of the table.
"""
import re
import socket
import threading

import lib
from tables.h1 import REQUESTS, RESPONSES

VERSION = re.compile(rb"^HTTP/[0-9]\.[0-9]$")
TOKEN = re.compile(rb"^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")
VALUE = re.compile(rb"^[^\0\r\n]*$")
# answers that are as strict as any refusal of the table
REFUSALS = (400, 405, 408, 411, 413, 414, 417, 421, 422, 431, 501, 505)

CONF = """
	log 127.0.0.1:9 local0 emerg
defaults
	mode http
	timeout connect 2s
	timeout client 2s
	timeout server 2s
	timeout http-request 250ms
frontend requests
	bind 127.0.0.1:{fe}
	default_backend recorder
backend recorder
	server s1 127.0.0.1:{s1}
frontend responses
	bind 127.0.0.1:{fe2}
	default_backend speaker
backend speaker
	retries 0
	server s1 127.0.0.1:{s2}
"""


class Strict(Exception):
    """What a strict parser does not accept."""


class StrictReader(lib.Reader):
    """Reads one request; everything doubtful is an error."""

    def request(self):
        while b"\r\n\r\n" not in self.buf:
            if not self.fill():
                if self.buf:
                    raise Strict("end amid a head: %r" % self.buf)
                return None
        raw, self.buf = self.buf.split(b"\r\n\r\n", 1)
        lines = raw.split(b"\r\n")
        for line in lines:
            if b"\r" in line or b"\n" in line or b"\0" in line:
                raise Strict("CR, LF or NUL inside a line: %r" % line)
        parts = lines[0].split(b" ")
        if len(parts) != 3 or not TOKEN.match(parts[0]) or not VERSION.match(parts[2]):
            raise Strict("request line %r" % lines[0])
        if not re.match(rb"^[\x21-\x7e]+$", parts[1]):
            raise Strict("target %r" % parts[1])
        self.version = parts[2]
        fields = self.fields(lines[1:])
        return parts[0], parts[1], fields, self.framed(fields)

    def fields(self, lines):
        out = []
        for line in lines:
            name, colon, value = line.partition(b":")
            if not colon or not TOKEN.match(name) or not VALUE.match(value):
                raise Strict("field line %r" % line)
            out.append((name.lower(), value.strip(b" \t")))
        return out

    def framed(self, fields):
        length = [v for n, v in fields if n == b"content-length"]
        coding = [v for n, v in fields if n == b"transfer-encoding"]
        if len(length) > 1 or len(coding) > 1 or (length and coding):
            raise Strict("two framings: %r %r" % (length, coding))
        if sum(1 for n, v in fields if n == b"host") > 1:
            raise Strict("two Host fields")
        if coding:
            if coding[0].lower() != b"chunked":
                raise Strict("transfer-encoding %r" % coding[0])
            return self.strict_chunks()
        if length:
            if not re.match(rb"^[0-9]{1,19}$", length[0]):
                raise Strict("content-length %r" % length[0])
            if len(length[0]) > 12:
                raise EOFError("a body that never ends")
            return self.exactly(int(length[0]))
        return b""

    def strict_chunks(self):
        body = b""
        while True:
            line = self.line()
            if not re.match(rb"^[0-9a-fA-F]{1,15}$", line):
                raise Strict("chunk size %r" % line)
            size = int(line, 16)
            if not size:
                break
            body += self.exactly(size)
            if self.exactly(2) != b"\r\n":
                raise Strict("chunk without CRLF")
        trailers = []
        while True:
            line = self.line()
            if not line:
                break
            trailers.append(line)
        self.fields(trailers)
        return body


class Recorder:
    """The server behind the requests."""

    def __init__(self):
        self.lock = threading.Lock()
        self.seen = []
        self.problems = []
        self.server = lib.Server(self.serve)

    def note(self, where, what):
        with self.lock:
            where.append(what)

    def take(self):
        with self.lock:
            out = self.seen, self.problems
            self.seen, self.problems = [], []
        return out

    def serve(self, sock):
        r = StrictReader(sock)
        while True:
            try:
                rq = r.request()
            except Strict as e:
                self.note(self.problems, str(e))
                return
            except EOFError as e:
                self.note(self.seen, ("incomplete", str(e)))
                return
            if not rq:
                return
            method, target, fields, body = rq
            self.note(self.seen, (method, target, fields, body))
            if method == b"CONNECT":
                sock.sendall(b"HTTP/1.1 403 No\r\ncontent-length: 0\r\n\r\n")
                continue
            sock.sendall(b"HTTP/1.1 200 OK\r\nx-url: %s\r\ncontent-length: 0\r\n\r\n" % target)


def probe_until(reader, sock, path, method="GET"):
    """Sends a probe and reads answers up to it: (statuses before it, 'own', 'closed' or 'lost')."""
    before = []
    sent = False
    while True:
        try:
            got = reader.response(method)
        except (EOFError, ValueError, IndexError) as e:
            return before, "broken: %s" % e
        except socket.timeout:
            return before, "silent"
        method = "GET"
        if got is None:
            return before, "closed"
        if sent and got[1].get("x-url") == path:
            return before, "own"
        before.append(got)
        if not sent:
            sent = True
            try:
                sock.sendall(b"GET %s HTTP/1.1\r\nHost: probe\r\n\r\n" % path.encode())
            except OSError:
                pass


def run_request(port, recorder, number, raw):
    """Plays one row; returns (statuses, fate of the probe, requests forwarded, problems)."""
    recorder.take()
    sock = lib.connect(port, 3)
    path = "/probe-%d" % number
    try:
        sock.sendall(raw)
    except OSError:
        pass
    method = "HEAD" if raw.startswith(b"HEAD ") else "GET"
    answers, fate = probe_until(lib.Reader(sock), sock, path, method)
    sock.close()
    seen, problems = recorder.take()
    forwarded = [s for s in seen if s[0] == "incomplete" or s[1] != path.encode()]
    return [a[0] for a in answers], fate, forwarded, problems


def judge_request(tap, row, result):
    name, _, want, want_forwarded, kind = row
    got, fate, forwarded, problems = result
    errors = []
    complete = [f for f in forwarded if f[0] != "incomplete"]
    refused = [s for s in got if s in REFUSALS]
    same = got == want and len(complete) == want_forwarded
    # refusing earlier than the reference is stricter: a prefix of its answers, then a refusal
    good = got[:-1] if refused else got
    stricter = kind != "valid" and len(complete) <= want_forwarded and \
        (not got or bool(refused)) and want[:len(good)] == good
    if not same and not stricter:
        errors.append("statuses %r, %d forwarded; table: %r, %d" %
                      (got, len(complete), want, want_forwarded))
    if problems:
        errors.append("forwarded in a way that a strict parser refuses: %r" % problems)
    if len(complete) > want_forwarded:
        errors.append("forwarded: %r" % [f[:2] for f in complete])
    if fate not in ("own", "closed"):
        errors.append("the probe behind it: " + fate)
    tap.ok(not errors, "request: " + name, "\n".join(errors))


def speaker(sock):
    """The server behind the responses: the path says which row to speak."""
    r = lib.Reader(sock)
    while True:
        head = r.head()
        if not head:
            return
        url = head[0].split(" ")[1]
        r.body(head[1])
        found = re.match(r"^/row-(\d+)$", url)
        if found:
            _, raw, close = RESPONSES[int(found.group(1))][:3]
            sock.sendall(raw)
            if close:
                return
        else:
            sock.sendall(b"HTTP/1.1 200 OK\r\nx-url: %s\r\ncontent-length: 2\r\n\r\nok" %
                         url.encode("latin-1"))


def run_response(port, number):
    """Plays one row; returns (status or 0, body or None when cut, fate of the probe)."""
    sock = lib.connect(port, 3)
    reader = lib.Reader(sock)
    path = "/probe-%d" % number
    sock.sendall(b"GET /row-%d HTTP/1.1\r\nHost: x\r\n\r\n" % number)
    try:
        head = None
        while True:
            head = reader.head()
            if not head:
                return 0, None, "closed"
            if not head[0].split(" ")[1].startswith("1") or head[0].split(" ")[1] == "101":
                break
        status = int(head[0].split(" ")[1])
        try:
            body = b"" if status in (204, 304) else reader.body(head[1], True)
        except (EOFError, ValueError):
            return status, None, "closed"
        sock.sendall(b"GET %s HTTP/1.1\r\nHost: probe\r\n\r\n" % path.encode())
        got = reader.response()
        fate = "closed" if got is None else \
            "own" if got[1].get("x-url") == path else "leaked %r" % (got,)
        return status, body, fate
    except (EOFError, ValueError, IndexError) as e:
        return -1, None, "broken: %s" % e
    except ConnectionError:
        return status, body, "closed"
    except socket.timeout:
        return -1, None, "silent"
    finally:
        sock.close()


def judge_response(tap, row, result, fresh):
    name, _, _, want, want_body, kind = row
    status, body, fate = result
    same = status == want and (body == want_body or want == 502)
    # a body found wrong after its headers have left can only be cut
    cut = want == 502 and name.startswith("chunk:") and (status, body) == (200, None)
    stricter = cut or (kind != "valid" and status in (0, 500, 502))
    errors = []
    if not same and not stricter:
        errors.append("got %r %r; table: %r %r" % (status, body, want, want_body))
    if fate not in ("own", "closed"):
        errors.append("the request behind it: " + fate)
    if fresh != "own":
        errors.append("a request of another connection: " + fresh)
    tap.ok(not errors, "response: " + name, "\n".join(errors))


def fresh_probe(port, number):
    """A request on a new connection must get its own answer, whatever the row left behind."""
    sock = lib.connect(port, 3)
    path = "/fresh-%d" % number
    sock.sendall(b"GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n" % path.encode())
    try:
        got = lib.Reader(sock).response()
    except (OSError, EOFError, ValueError) as e:
        return str(e)
    finally:
        sock.close()
    return "own" if got and got[1].get("x-url") == path else repr(got)


def main():
    args = lib.arguments(__doc__, ("learn", False, "print the outcomes, judge nothing"))
    tap = lib.Tap()
    recorder = Recorder()
    speak = lib.Server(speaker)
    fe, fe2 = lib.ports(2)
    conf = CONF.format(fe=fe, fe2=fe2, s1=recorder.server.port, s2=speak.port)
    with lib.Proxy(args.program, conf) as proxy:
        start = lib.time.monotonic()
        for i, row in enumerate(REQUESTS):
            if tap.out_of_time(start, 60, "all requests"):
                break
            got = run_request(fe, recorder, i, row[1])
            if args.learn:
                print("Q", repr(row[0]), got)
            else:
                judge_request(tap, row, got)
        start = lib.time.monotonic()
        for i, row in enumerate(RESPONSES):
            if tap.out_of_time(start, 60, "all responses"):
                break
            got = run_response(fe2, i)
            if args.learn:
                print("R", repr(row[0]), got)
            else:
                judge_response(tap, row, got, fresh_probe(fe2, i))
        if not args.learn:
            tap.ok(proxy.alive(), "the proxy is still there", proxy.output())
            tap.eq(proxy.stats()["recorder", "BACKEND"]["qcur"], "0", "nothing is left waiting")
    if not args.learn:
        tap.done()


if __name__ == "__main__":
    lib.guarded(main)
