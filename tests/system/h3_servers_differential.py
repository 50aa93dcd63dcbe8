#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Servers of HTTP/3 that behave well and badly, behind this program and behind the reference, with the same configuration: what clients
get, byte by byte, what the server was asked, on which connection, and how each stream ended, log lines and counters are the same.

Each case has a backend and a server of aioquic of its own, so that nothing of another case is seen in its counters; behind each
case the same backend is asked once more: is the connection used again? By itself each case of ours is asked for, and a part of them
beside the reference; `--every 1`: all (1.5 minutes: handshakes of aioquic are slow).
"""
import asyncio
import concurrent.futures
import os
import re
import socket
import tempfile
import threading

import h3_differential
import lib
import lib_quic

CONF = """
	limited-quic
	expose-experimental-directives
	nbthread 1
	log 127.0.0.1:{log} local0
defaults
	mode http
	timeout connect 10s
	timeout client 20s
	timeout server 20s
	timeout http-keep-alive 100ms
	timeout queue 10s
	timeout check 10s
	log global
	log-format "{{%b|%s|%ST|%tsc|%rc|%B|%U|%HM|%HP|%hr|%hs|%[bc_reused]|%[bc_http_major]|%[bc_nb_streams]|%[bc_err]}}"
frontend web
	bind 127.0.0.1:{port}
	capture request header x-number len 3
	use_backend c%[req.hdr(x-case)]
{backends}
"""
BACKEND = """
backend c{n}
	{options}
	http-after-response set-header x-after %[status]
	server s1 quic4@127.0.0.1:{port} ssl verify none alpn h3 sni str(localhost) {server}
"""


def head(status=200, *fields):
    return [(b":status", str(status).encode())] + [tuple(p.encode("latin-1") for p in f.split(": ", 1)) for f in fields]


# ---- what a server may do with a request. Each is called with its stream, a Stream, when the head has come.

class Stream:
    """A request on its way; what the server says to it."""

    def __init__(self, conn, number, fields):
        self.conn, self.number, self.fields = conn, number, fields
        self.path = dict(fields).get(b":path", b"").decode("latin-1")
        self.size, self.trailers, self.end, self.ended = 0, None, "open", False
        self.on_end = self.on_data = None

    def heads(self, fields, end=False):
        self.bytes(h3_differential.stream_bytes(fields, ()), end)

    def data(self, body, end=False):
        self.bytes(h3_differential.DATA(body) if body else b"", end)

    def bytes(self, data, end=False):
        self.conn._quic.send_stream_data(self.number, data, end)

    def reset(self, code):
        self.conn._quic.reset_stream(self.number, code)

    def stop(self, code):
        self.conn._quic.stop_stream(self.number, code)

    def control(self, data):
        self.conn._quic.send_stream_data(self.conn.h3._local_control_stream_id, data)

    def close(self, code):
        self.conn._quic.close(code, reason_phrase="")

    def whole(self, act):
        """When all of the request has come."""
        if self.ended:
            act()
        else:
            self.on_end = act

    def good(self, *fields, status=200, body=b"good"):
        self.whole(lambda: (self.heads(head(status, *fields)), self.data(body, True)))


def first(act):
    """<act> is for the first request only; others are answered."""
    def run(s):
        s.conn.bed.asked += 1
        (act if s.conn.bed.asked == 1 else Stream.good)(s)
    return run


def answer(*parts, end=True):
    """A list is a head, others are bytes, as they are."""
    return lambda s: s.whole(lambda: s.bytes(h3_differential.stream_bytes(None, parts), end))


def then(*acts):
    return lambda s: [a(s) for a in acts]


D = h3_differential.DATA
GET, BODY = "GET", b"0123456789" * 10
goaway = lambda n: lambda s: s.control(b"\7\1" + bytes([n]))


# (name, what the server does, what is asked: (method, fields, body or None), options of the backend, options of the server)
def case(name, act, *asks, backend="", server=""):
    return name, act, asks or ((),), backend, server


def ask(method="GET", *fields, body=None, chunked=False, leave=None, path="/", trailers=b"", stop=None):
    """<leave>: the client goes after so many bytes of its body; <stop>: when the server was asked."""
    return dict(method=method, fields=fields, body=body, chunked=chunked, leave=leave, path=path, trailers=trailers, stop=stop)


EMPTY = ask()
POST = ask("POST", body=BODY)
ALL_REUSE = ("never", "safe", "aggressive", "always")

CASES = [
    # answers that are good
    case("an answer", Stream.good), case("its fields", lambda s: s.good("x-a: 1", "set-cookie: a=1", "set-cookie: b=2", "server: me")),
    case("HEAD", answer(head(200, "content-length: 4")), ask("HEAD")), case("HEAD without a length", answer(head(200)), ask("HEAD")),
    case("HEAD with a body", answer(head(200, "content-length: 4"), D(b"good")), ask("HEAD")),
    case("204", answer(head(204))), case("204 with a length", answer(head(204, "content-length: 0"))),
    case("204 with a body", answer(head(204), D(b"abc"))), case("304", answer(head(304, "etag: a"))),
    case("304 with a length", answer(head(304, "content-length: 4"))), case("304 with a body", answer(head(304, "content-length: 3"), D(b"abc"))),
    case("205", answer(head(205))), case("205 with a body", answer(head(205), D(b"abc"))),
    case("a length", answer(head(200, "content-length: 4"), D(b"good"))), case("a length of 0", answer(head(200, "content-length: 0"))),
    case("no body", answer(head(200))), case("an end apart", answer(head(200), D(b"go"), D(b""), D(b"od"))),
    case("empty DATA", answer(head(200), D(b""))), case("no body with a length", answer(head(200, "content-length: 4"))),
    case("103", answer(head(103, "link: </a>"), head(200), D(b"good"))), case("100", answer(head(100), head(200), D(b"good")), POST),
    case("100 that was expected", answer(head(100), head(200), D(b"good")), ask("POST", "expect: 100-continue", body=BODY)),
    case("102 and 103", answer(head(102), head(103, "link: </a>"), head(200), D(b"good"))),
    case("101", answer(head(101), head(200), D(b"good"))), case("101 with upgrade", answer(head(101, "x-a: b")), ask("GET", "connection: upgrade", "upgrade: foo")),
    case("1xx alone", answer(head(103))), case("1xx and its end, data", answer(head(100), D(b"abc"))),
    case("an interim length", answer(head(103, "content-length: 3"), head(200), D(b"good"))),
    case("trailers", answer(head(200), D(b"good"), head(0, "x-sum: 1", "x-two: 2")[1:])),
    case("trailers without a body", answer(head(200), head(0, "x-sum: 1")[1:])),
    case("trailers behind a length", answer(head(200, "content-length: 4"), D(b"good"), head(0, "x-sum: 1")[1:])),
    case("trailers, HTTP/1.0", answer(head(200), D(b"good"), head(0, "x-sum: 1")[1:]), ask(path="/ HTTP/1.0")),
    case("frames that are unknown", answer(b"\x21\3abc", head(200), b"\x21\0", D(b"good"), b"\x40\x5f\1a")),
    case("a large body", answer(head(200), D(lib_quic.body_of(300000)))),
    case("a large body with a length", answer(head(200, "content-length: 300000"), D(lib_quic.body_of(300000)))),
    case("a head of 8 kB", answer(head(200, *["x-%d: %s" % (i, "v" * 100) for i in range(70)]), D(b"good"))),
    case("a head of 20 kB", first(answer(head(200, *["x-%d: %s" % (i, "v" * 1000) for i in range(20)]), D(b"good")))),
    case("120 fields", first(answer(head(200, *["x-%d: 1" % i for i in range(120)]), D(b"good")))),
] + [case("status %s" % n, first(answer(head(n), D(b"good")))) for n in (200, 206, 299, 302, 399, 401, 404, 407, 421, 425, 429, 500, 502, 503, 504, 599, 600, 999)] + [
    # answers that are not
    case(name, first(answer(*parts))) for name, parts in (
        ("status %s" % repr(n), (head(n), D(b"good"))) for n in ("", "0", "99", "20x", "2000", "20", " 200", "+20", "1000", "000"))] + [
    case(name, first(answer(*parts))) for name, parts in (
        ("no status", (head(200)[1:] + [(b"x-a", b"1")], D(b"good"))), ("two statuses", (head(200) + head(200), D(b"good"))),
        ("a status behind fields", ([(b"x-a", b"1")] + head(200), D(b"good"))), ("a pseudo-field of requests", (head(200) + [(b":path", b"/")], D(b"good"))),
        ("an unknown pseudo-field", (head(200) + [(b":odd", b"/")], D(b"good"))), ("upper case", (head(200, "X-A: 1"), D(b"good"))),
        ("an empty name", (head(200) + [(b"", b"1")], D(b"good"))), ("a blank in a name", (head(200, "x a: 1"), D(b"good"))),
        ("a colon in a name", (head(200) + [(b"x:a", b"1")], D(b"good"))), ("NUL in a value", (head(200, "x-a: a\0b"), D(b"good"))),
        ("CR in a value", (head(200, "x-a: a\rb"), D(b"good"))), ("LF in a value", (head(200, "x-a: a\nb"), D(b"good"))),
        ("control characters in a value", (head(200, "x-a: a\x01b"), D(b"good"))), ("bytes above 127", (head(200, "x-a: \xe9\xff"), D(b"good"))),
        ("blanks around a value", (head(200, "x-a:  b "), D(b"good"))), ("an empty value", (head(200, "x-a: "), D(b"good"))),
        ("connection", (head(200, "connection: close"), D(b"good"))), ("keep-alive", (head(200, "keep-alive: 1"), D(b"good"))),
        ("proxy-connection", (head(200, "proxy-connection: a"), D(b"good"))), ("upgrade", (head(200, "upgrade: a"), D(b"good"))),
        ("transfer-encoding", (head(200, "transfer-encoding: chunked"), D(b"good"))), ("te", (head(200, "te: trailers"), D(b"good"))),
        ("host", (head(200, "host: a"), D(b"good"))),
        ("a length that is none", (head(200, "content-length: x"), D(b"good"))), ("a negative length", (head(200, "content-length: -1"), D(b"good"))),
        ("two lengths", (head(200, "content-length: 4", "content-length: 4"), D(b"good"))),
        ("two lengths that differ", (head(200, "content-length: 4", "content-length: 5"), D(b"good"))),
        ("a list of lengths", (head(200, "content-length: 4, 4"), D(b"good"))),
        ("more than announced", (head(200, "content-length: 2"), D(b"good"))), ("less than announced", (head(200, "content-length: 9"), D(b"good"))),
        ("much less than announced", (head(200, "content-length: 900000"), D(b"good" * 10000))),
        ("DATA without a head", (D(b"good"),)), ("nothing", ()), ("an empty HEADERS", (b"\1\0",)), ("a head of nothing", (b"\1\2\0\0",)),
        ("a section that is cut", (b"\1\3\0\0\xff",)), ("a dynamic table", (b"\1\3\2\0\x80",)), ("a static entry that is not there", (b"\1\5\0\0\xff\x40\0",)),
        ("a frame that is cut", (head(200), b"\0\5abc")), ("a frame head that is cut", (head(200), b"\0")), ("a head that is cut", (b"\1\x40\x40\0\0",)),
        ("trailers with a pseudo-field", (head(200), D(b"good"), head(200))), ("trailers in upper case", (head(200), D(b"good"), [(b"X-A", b"1")])),
        ("trailers with a length", (head(200), D(b"good"), [(b"content-length", b"4")])), ("two trailers", (head(200), D(b"good"), [(b"x-a", b"1")], [(b"x-b", b"1")])),
        ("DATA behind trailers", (head(200), D(b"good"), [(b"x-a", b"1")], D(b"more"))),
        ("PUSH_PROMISE", (b"\5\1\0",)), ("PUSH_PROMISE behind a head", (head(200), b"\5\1\0")), ("SETTINGS on a request", (b"\4\0",)), ("GOAWAY on a request", (head(200), b"\7\1\0")),
        ("MAX_PUSH_ID on a request", (b"\x0d\1\0",)), ("CANCEL_PUSH on a request", (b"\3\1\0",)), ("a frame of HTTP/2", (head(200), b"\6\0")))] + [
    # streams that are broken off
    case("reset %#x%s" % (code, at), first(act)) for code in (0x100, 0x102, 0x10b, 0x10c, 0x10f, 0, 0x200) for at, act in (
        ("", lambda s, c=code: s.reset(c)), (" behind the head", lambda s, c=code: (s.heads(head(200)), s.reset(c))))] + [
    case("reset amid a body", first(lambda s: (s.heads(head(200)), s.data(b"some"), s.conn.later(lambda: s.reset(0x102))))),
    case("reset amid a body with a length", first(lambda s: (s.heads(head(200, "content-length: 9")), s.data(b"some"), s.conn.later(lambda: s.reset(0x102))))),
    case("stop, then an answer", first(lambda s: (s.stop(0x100), s.heads(head(413)), s.data(b"no", True))), POST),
    case("stop with an error, then an answer", first(lambda s: (s.stop(0x10c), s.heads(head(413)), s.data(b"no", True))), POST),
    case("stop and reset", first(lambda s: (s.stop(0x10b), s.reset(0x10b))), POST),
    case("stop and reset, GET", first(lambda s: (s.stop(0x10b), s.reset(0x10b)))),
    case("stop and reset, an error", first(lambda s: (s.stop(0x102), s.reset(0x102))), POST),
    # answers that come early
    case("early, no stop", first(then(lambda s: s.heads(head(413)), lambda s: s.data(b"no", True))), ask("POST", body=BODY * 1000)),
    case("early, stop", first(then(lambda s: s.heads(head(413)), lambda s: s.data(b"no", True), lambda s: s.stop(0x100))), ask("POST", body=BODY * 1000)),
    case("early, the request goes on", first(lambda s: (s.heads(head(200)), s.data(b"some"), s.whole(lambda: s.data(b" more", True)))), ask("POST", body=BODY * 1000)),
    case("early and never read", first(lambda s: (s.heads(head(200)), s.data(b"good", True))), ask("POST", body=BODY, leave=None, chunked=True)),
    # requests
    case("POST", Stream.good, POST), case("POST in chunks", Stream.good, ask("POST", body=BODY, chunked=True)),
    case("POST in chunks with trailers", Stream.good, ask("POST", body=BODY, chunked=True, trailers=b"x-tail: 1\r\n")),
    case("POST of nothing", Stream.good, ask("POST", body=b"")), case("POST in chunks of nothing", Stream.good, ask("POST", body=b"", chunked=True)),
    case("300 kB up", Stream.good, ask("POST", body=BODY * 3000)), case("300 kB up in chunks", Stream.good, ask("POST", body=BODY * 3000, chunked=True)),
    case("GET with a body", Stream.good, ask("GET", body=BODY)), case("DELETE", Stream.good, ask("DELETE")), case("OPTIONS *", Stream.good, ask("OPTIONS", path="*")),
    case("TRACE", Stream.good, ask("TRACE")), case("an odd method", Stream.good, ask("PROP-FIND!")), case("an absolute target", Stream.good, ask(path="http://other.test:81/a?b")),
    case("CONNECT", first(lambda s: (s.heads(head(200)), s.data(b"hi", True))), ask("CONNECT", path="a.test:443")),
    case("a query", Stream.good, ask(path="/a?b=%20&c")), case("fields", Stream.good, ask("GET", "X-Upper: A", "cookie: a=1", "cookie: b=2", "te: trailers", "x-empty:", "accept: */*")),
    case("te: gzip", Stream.good, ask("GET", "te: gzip")), case("connection names", Stream.good, ask("GET", "connection: x-a, te", "x-a: 1", "te: trailers")),
    case("proxy-connection in a request", Stream.good, ask("GET", "proxy-connection: keep-alive", "keep-alive: 5")),
    case("an upgrade", Stream.good, ask("GET", "connection: upgrade", "upgrade: foo")),
    case("HTTP/1.0", Stream.good, ask(path="/ HTTP/1.0")), case("expect", Stream.good, ask("POST", "expect: 100-continue", body=BODY)),
    case("a head of 12 kB", Stream.good, ask("GET", *["x-%d: %s" % (i, "v" * 900) for i in range(12)])),
    case("90 fields", Stream.good, ask("GET", *["x-%d: 1" % i for i in range(90)])),
    # connections that end
    case("GOAWAY that takes it back", first(lambda s: s.control(b"\7\1\0"))), case("GOAWAY that takes it back, POST", first(goaway(0)), POST),
    case("GOAWAY, then an answer", first(then(goaway(4), Stream.good))), case("GOAWAY of a number that is none", first(then(goaway(3), Stream.good))),
    case("GOAWAY twice", first(then(goaway(8), goaway(4), Stream.good))), case("GOAWAY that grows", first(then(goaway(4), goaway(8), Stream.good))),
] + [case("closed with %#x" % code, first(lambda s, c=code: s.close(c))) for code in (0x100, 0x101, 0x10b, 0x1)] + [
    case("closed with 0x100, POST", first(lambda s: s.close(0x100)), POST),
    case("closed behind the head", first(lambda s: (s.heads(head(200)), s.conn.later(lambda: s.close(0x100))))),
    case("closed amid a body", first(lambda s: (s.heads(head(200)), s.data(b"some"), s.conn.later(lambda: s.close(0x100))))),
    case("closed behind the answer", first(lambda s: (s.good(), s.conn.later(lambda: s.close(0x100))))),
    case("a control stream that ends", first(lambda s: (s.conn._quic.send_stream_data(s.conn.h3._local_control_stream_id, b"", True), s.good()))),
    case("SETTINGS twice", first(lambda s: (s.control(b"\4\0"), s.good()))), case("a stream of the server's", first(lambda s: (s.conn._quic.send_stream_data(1, b"x"), s.good()))),
    case("a push stream", first(lambda s: (s.conn._quic.send_stream_data(s.conn._quic.get_next_available_stream_id(True), b"\1\0"), s.good()))),
    case("MAX_PUSH_ID", first(lambda s: (s.control(b"\x0d\1\1"), s.good()))), case("CANCEL_PUSH", first(lambda s: (s.control(b"\3\1\1"), s.good()))),
    # retries, redispatches
    case("retry 503", first(answer(head(503))), backend="retry-on 503"), case("retry 503, POST", first(answer(head(503))), POST, backend="retry-on 503"),
    case("retry 429 of all", answer(head(429)), backend="retry-on 429\n\tretries 2"), case("retry 404, others", answer(head(404)), backend="retry-on 503"),
    case("retry an empty answer", first(answer()), backend="retry-on empty-response"), case("retry a reset", first(lambda s: s.reset(0x102)), backend="retry-on empty-response"),
    case("retry a reset, all errors", first(lambda s: s.reset(0x102)), backend="retry-on all-retryable-errors"),
    case("retry a reset, POST", first(lambda s: s.reset(0x102)), POST, backend="retry-on all-retryable-errors"),
    case("retry a refusal, POST", first(lambda s: s.reset(0x10b)), POST, backend="retry-on all-retryable-errors"),
    case("retry a refusal, no others", first(lambda s: s.reset(0x10b)), backend="retries 0"),
    case("retry junk", first(answer(head("20x"))), backend="retry-on junk-response"), case("retry junk, not asked for", first(answer(head("20x"))), backend="retry-on conn-failure"),
    case("retry a close", first(lambda s: s.close(0x100)), backend="retry-on all-retryable-errors"), case("retry a close, none", first(lambda s: s.close(0x100)), backend="retry-on none"),
    case("retry behind the head", first(lambda s: (s.heads(head(200)), s.reset(0x102))), backend="retry-on all-retryable-errors"),
    case("retry disabled by a rule", first(answer(head(503))), backend="retry-on 503\n\thttp-request disable-l7-retry"),
    case("retry a timeout", first(lambda s: None), backend="retry-on response-timeout\n\thttp-request set-timeout server 2s if {{ req.hdr(x-number) 0 }}"),
    case("retry a timeout, not asked for", first(lambda s: None), backend="http-request set-timeout server 500ms if {{ req.hdr(x-number) 0 }}"),
    case("redispatch", Stream.good, backend="balance roundrobin\n\toption redispatch 1\n\tretries 2\n\tserver s0 quic4@127.0.0.1:{nobody} ssl verify none alpn h3"),
    case("a server that is not there", Stream.good, backend="retries 1\n\ttimeout connect 300ms\n\tuse-server s0 if TRUE\n\tserver s0 quic4@127.0.0.1:{nobody} ssl verify none alpn h3"),
    case("a server that is deaf", Stream.good, backend="retries 1\n\ttimeout connect 300ms\n\tuse-server s0 if TRUE\n\tserver s0 quic4@127.0.0.1:{deaf} ssl verify none alpn h3"),
    case("a server that is deaf, redispatch", Stream.good, backend="option redispatch\n\tretries 1\n\ttimeout connect 2s\n\tserver s0 quic4@127.0.0.1:{deaf} ssl verify none alpn h3 weight 256"),
    case("another authority", Stream.good, backend="retries 1\n\tuse-server s0 if TRUE\n\tserver s0 quic4@127.0.0.1:{port} ssl ca-file {other} alpn h3"),
    case("another protocol", Stream.good, backend="retries 1\n\tuse-server s0 if TRUE\n\tserver s0 quic4@127.0.0.1:{port} ssl verify none alpn h9"),
    case("a name that does not match", Stream.good, backend="retries 1\n\tuse-server s0 if TRUE\n\tserver s0 quic4@127.0.0.1:{port} ssl ca-file {crt} verifyhost o.test alpn h3"),
    # timeouts
    case("no answer", first(lambda s: None), backend="http-request set-timeout server 500ms if {{ req.hdr(x-number) 0 }}"), case("no answer, POST", first(lambda s: None), POST, backend="http-request set-timeout server 500ms if {{ req.hdr(x-number) 0 }}"),
    case("a head and no more", first(lambda s: s.heads(head(200))), backend="http-request set-timeout server 500ms if {{ req.hdr(x-number) 0 }}"),
    case("a body that stops", first(lambda s: (s.heads(head(200, "content-length: 9")), s.data(b"some"))), backend="http-request set-timeout server 500ms if {{ req.hdr(x-number) 0 }}"),
    case("an interim answer and no more", first(lambda s: s.heads(head(103))), backend="http-request set-timeout server 500ms if {{ req.hdr(x-number) 0 }}"),
    # clients that go
    case("an upload that is left", first(lambda s: None), ask("POST", body=BODY, leave=50)),
    case("an upload in chunks that is left", first(lambda s: None), ask("POST", body=BODY, leave=50, chunked=True)),
    case("a client that goes", first(lambda s: None), ask(stop="asked"), backend="http-request set-timeout server 700ms if {{ req.hdr(x-number) 0 }}"),
    case("a client that goes, abortonclose", first(lambda s: None), ask(stop="asked"), backend="option abortonclose"),
    case("a client that goes amid an answer", first(lambda s: (s.heads(head(200)), s.data(BODY))), ask(stop="answered"), backend="http-request set-timeout server 700ms if {{ req.hdr(x-number) 0 }}"),
    # which connection
] + [case("reuse %s" % r, Stream.good, EMPTY, EMPTY, EMPTY, backend="http-reuse " + r) for r in ALL_REUSE] + [
    case("reuse %s, POST" % r, Stream.good, POST, POST, backend="http-reuse " + r) for r in ALL_REUSE] + [
    case("max-reuse", Stream.good, EMPTY, EMPTY, EMPTY, backend="http-reuse always", server="max-reuse 1"),
    case("pool-max-conn 0", Stream.good, EMPTY, EMPTY, server="pool-max-conn 0"), case("pool-purge-delay 0", Stream.good, EMPTY, EMPTY, server="pool-purge-delay 0"),
    case("option http-server-close", Stream.good, EMPTY, EMPTY, backend="option http-server-close"),
    case("option httpclose", Stream.good, EMPTY, EMPTY, backend="option httpclose"),
    case("max-reuse 0", Stream.good, EMPTY, EMPTY, server="max-reuse 0"), case("proto quic", Stream.good, server="proto quic"),
    case("maxconn 1", Stream.good, EMPTY, EMPTY, server="maxconn 1"), case("two kinds of answers", first(answer(head(200, "content-length: 900"), D(b"good")))),
    case("pool-conn-name", Stream.good, EMPTY, EMPTY, server="pool-conn-name str(a)"), case("sni by the request", Stream.good, EMPTY, EMPTY, server="sni req.hdr(x-number)"),
    # rules on them
    case("rules on answers", lambda s: s.good("x-a: 1", "x-b: 2"), backend="http-response set-header x-a 3\n\thttp-response del-header x-b\n\thttp-response set-status 201"),
    case("an answer that is denied", Stream.good, backend="http-response deny"), case("wait-for-body of answers", Stream.good, backend="http-response wait-for-body time 5s\n\thttp-response set-header x-body %[res.body]"),
    case("forwardfor, set-path", Stream.good, backend="option forwardfor\n\thttp-request set-path /other%[path]\n\thttp-request set-header host other.test"),
    case("compression", lambda s: s.good("content-type: text/plain", body=BODY), ask("GET", "accept-encoding: gzip"), backend="compression algo identity\n\tcompression type text/plain"),
    case("a persistent cookie", Stream.good, backend="cookie SRV insert", server="cookie one"), case("observe layer7", first(answer(head(500))), server="observe layer7 on-error mark-down error-limit 1 check inter 100s"),
    case("source", Stream.good, server="source 127.0.0.2"), case("facts", Stream.good, backend='http-response set-header x-facts "%[bc_http_major] %[ssl_bc] %[ssl_bc_protocol] %[ssl_bc_alpn] %[ssl_bc_cipher] %[bc_dst] %[ssl_bc_is_resumed] %[bc_glitches] %[bc_nb_streams]"'),
    case("WebSocket", first(answer(head(200))), ask("GET", "connection: upgrade", "upgrade: websocket", "sec-websocket-version: 13", "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==")),
]


# Where the reference says nothing until its timeouts (a stream that was broken off, a length that is not kept, fields that no answer
# may have), ends (NOTHING), or lets pass what RFC 9114 calls malformed: how it ends here, status and termination.
# differs: h3-answers
OURS = {
    "HEAD": "200 ----", "HEAD with a body": "502 PH--", "204 with a body": "502 PH--", "304 with a length": "304 ----",
    "304 with a body": "502 PH--", "no body with a length": "502 PH--", "1xx alone": "502 PH--", "an interim length": "200 ----",
    "trailers, HTTP/1.0": "200 ----", "HTTP/1.0": "200 ----", "nothing": "502 PH--", "retry an empty answer": "502 PH--", "101": "502 PH--", "101 with upgrade": "502 PH--",
    "a frame of HTTP/2": "200 SD--", "a frame that is cut": "200 SD--", "GOAWAY of a number that is none": "502 SH--",
    "CANCEL_PUSH": "502 SH--", "stop and reset": "200 ----", "stop and reset, GET": "200 ----", "stop and reset, an error": "502 SH--",
    "two trailers": "200 SD--", "DATA behind trailers": "200 SD--", "reset amid a body": "200 SD--",
    "reset amid a body with a length": "200 SD--", "early, stop": "413 ----", "GOAWAY that takes it back": "200 ----",
    "GOAWAY that takes it back, POST": "200 ----", "retry junk": "200 ----", "retry junk, not asked for": "502 PH--",
    "two kinds of answers": "502 PH--", "an empty HEADERS": "502 SH--", "te: gzip": "200 ----", "WebSocket": "500 IH--", "a client that goes amid an answer": "200 sD--",
    "a head of 20 kB": "502 PH--", "120 fields": "502 PH--", "much less than announced": "200 PD--",
}
OURS.update((c[0], "502 PH--") for c in CASES if re.match(r"status '|(no|two) status|a status behind|a pseudo-field of req|an unknown pseudo|"
                                                         r"upper case$|(an empty|a blank in a|a colon in a) name|(NUL|CR|LF) in a|connection$|"
                                                         r"keep-alive|proxy-connection$|upgrade$|transfer-enc|a length that is none|"
                                                         r"a negative|two lengths that|(more|less) than|a head of nothing|"
                                                         r"trailers (with a|in upper)", c[0]))
OURS.update((c[0], "200 ----" if "0x10b" in c[0] else "502 SH--") for c in CASES if c[0].startswith("reset 0x"))
OURS.update((c[0], "200 ----") for c in CASES if c[0].startswith(("retry a reset", "retry a refusal", "retry behind")))


# ---- the servers

class Bed:
    """The server of one case, and what it has seen."""

    def __init__(self, act):
        self.act, self.asked, self.conns = act, 0, []
        self.port = 0

    def seen(self):
        """What it was asked: per connection its end, and its requests."""
        out = []
        for i, c in enumerate(self.conns):
            if c.streams:
                out.append(["connection %d ends: %s" % (i, c.end)] + [self.one(s) for _, s in sorted(c.streams.items())])
        return out

    @staticmethod
    def one(s):
        # differs: h3-authority
        fields = ["%s: %s" % tuple(p.decode("latin-1") for p in f) for f in s.fields]
        fields = [f.replace(":authority: ", "host: ") for f in fields]
        return [sorted(fields), "%d bytes" % s.size if s.ended else "", s.trailers, s.end]


class Servers:
    """A server of aioquic for each case, all in one thread."""

    def __init__(self, cases, crt):
        self.beds = [Bed(c[1]) for c in cases]
        self.loop = asyncio.new_event_loop()
        self.ready = threading.Event()
        self.thread = threading.Thread(target=self.run, args=(crt,), daemon=True)
        self.thread.start()
        self.ready.wait(3 * lib.PATIENCE)
        self.changes = 0

    def run(self, crt):
        from aioquic.asyncio import serve
        from aioquic.quic.events import ConnectionTerminated, ProtocolNegotiated, StopSendingReceived, StreamReset
        import aioquic.h3.connection
        # it wants :authority, while the reference says "host", which RFC 9114 allows
        aioquic.h3.connection.validate_request_headers = lambda *args, **kwargs: None
        servers = self

        class Protocol(lib_quic.QuicConnectionProtocol):
            bed = h3 = None
            end = "no"

            def later(self, act):
                self._loop.call_later(0.05, lambda: (act(), self.transmit()))

            def quic_event_received(self, event):
                servers.changes += 1
                if isinstance(event, ProtocolNegotiated):
                    self.h3, self.streams = lib_quic.H3Connection(self._quic), {}
                    self.bed.conns.append(self)
                elif isinstance(event, ConnectionTerminated):
                    self.end = "%#x" % event.error_code
                elif isinstance(event, StreamReset) and event.stream_id in getattr(self, "streams", {}):
                    self.streams[event.stream_id].end = "reset %#x" % event.error_code
                elif isinstance(event, StopSendingReceived) and event.stream_id in getattr(self, "streams", {}):
                    self.streams[event.stream_id].end += ", stop %#x" % event.error_code
                for e in self.h3.handle_event(event) if self.h3 else ():
                    self.of_h3(e)
                self.transmit()

            def of_h3(self, e):
                s = self.streams.get(e.stream_id)
                if isinstance(e, lib_quic.HeadersReceived) and not s:
                    s = self.streams[e.stream_id] = Stream(self, e.stream_id, e.headers)
                    s.ended = e.stream_ended
                    self.bed.act(s)
                elif isinstance(e, lib_quic.HeadersReceived):
                    s.trailers = e.headers
                elif isinstance(e, lib_quic.DataReceived):
                    s.size += len(e.data)
                if s and e.stream_ended and s.end == "open":
                    s.end, s.ended = "end", True
                    if s.on_end:
                        s.on_end()

        async def start():
            for bed in self.beds:
                conf = lib_quic.QuicConfiguration(is_client=False, alpn_protocols=lib_quic.H3_ALPN)
                conf.load_cert_chain(crt + ".crt", crt + ".key")
                made = type("Of", (Protocol,), {"bed": bed})
                server = await serve("127.0.0.1", 0, configuration=conf, create_protocol=made)
                bed.port = server._transport.get_extra_info("sockname")[1]
        asyncio.set_event_loop(self.loop)
        self.loop.run_until_complete(start())
        self.loop.call_soon(self.ready.set)
        self.loop.run_forever()

    def close(self):
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(lib.PATIENCE)


# ---- the clients

def request(number, count, method="GET", fields=(), body=None, chunked=False, leave=None, path="/", trailers=b"", stop=None):
    version = "" if path.endswith("HTTP/1.0") else " HTTP/1.1"
    out = "%s %s%s\r\nhost: www.test\r\nx-case: %d\r\nx-number: %d\r\n" % (method, path, version, number, count)
    out += "".join(f + "\r\n" for f in fields) + ("" if any(f.startswith("connection:") for f in fields) else "connection: close\r\n")
    out = out.encode("latin-1")
    if body is None:
        return out + b"\r\n"
    if chunked:
        part = b"%x\r\n%s\r\n" % (len(body), body) if body else b""
        whole = part + b"0\r\n" + trailers + b"\r\n"
        return out + b"transfer-encoding: chunked\r\n\r\n" + whole[:leave]
    return out + b"content-length: %d\r\n\r\n" % len(body) + body[:leave]


def play_one(port, number, count, bed, what):
    """What a client gets, whole, and how it ends."""
    with socket.create_connection(("127.0.0.1", port), 4 * lib.PATIENCE) as s:
        try:
            s.sendall(request(number, count, **what))
        except ConnectionError:
            pass # (it was answered early)
        got = b""
        if what.get("leave") is not None or what.get("stop") == "asked":
            lib.until(lambda: bed.asked, lib.PATIENCE)
            return "went"
        try:
            while True:
                part = s.recv(1 << 16)
                if not part:
                    break
                got += part
                if what.get("stop") == "answered" and got.endswith(BODY + b"\r\n"):
                    return "went"
        except TimeoutError:
            got += b" (and no end)"
        except ConnectionResetError:
            got += b" (and a reset)"
    first_part, _, rest = got.partition(b"\r\n\r\n")
    return first_part.decode("latin-1").split("\r\n"), rest.decode("latin-1")


def play(program, cases, crt, numbers=None):
    """{number of a case: what came of it}, does the program still run."""
    numbers = numbers or range(len(cases))
    log, servers = h3_differential.Lines(), Servers(cases, crt)
    port, nobody = lib.ports(2)
    deaf = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    deaf.bind(("127.0.0.1", 0))
    backends = ""
    for n, bed, (_, _, _, options, server) in zip(numbers, servers.beds, cases):
        text = options.format(nobody=nobody, deaf=deaf.getsockname()[1], port=bed.port, other=crt + "2.crt", crt=crt + ".crt")
        backends += BACKEND.format(n=n, options=text, port=bed.port, server=server)
    with lib.Proxy(program, CONF.format(log=log.port, port=port, backends=backends)) as proxy:
        def of_case(n, bed, of):
            asks = [a or {} for a in of[2]] + [{}]
            return [play_one(port, n, k, bed, what) for k, what in enumerate(asks)]
        with concurrent.futures.ThreadPoolExecutor(12) as pool:
            out = {n: {"answers": answers} for n, answers in zip(numbers, pool.map(of_case, numbers, servers.beds, cases))}

        def is_logged(n, of):
            return sum(l.startswith("{c%d|" % n) for l in log.lines) > len(of[2])
        lib.until(lambda: all(is_logged(n, c) for n, c in zip(numbers, cases)), lib.PATIENCE)
        settle(servers)
        stats = proxy.stats()
        for n, bed in zip(numbers, servers.beds):
            counters = {"%s %s" % (row[1], k): d[k] for row, d in stats.items() if row[0] == "c%d" % n for k in COUNTERS if d.get(k, "0") not in ("", "0")}
            out[n].update(seen=bed.seen(), log=sorted(l for l in log.lines if l.startswith("{c%d|" % n)), counters=counters)
        alive = proxy.alive()
    servers.close()
    log.close()
    deaf.close()
    return out, alive


# (the reference counts an answer that cannot be read twice in eresp)
COUNTERS = ("stot", "bin", "bout", "dreq", "dresp", "ereq", "econ", "wretr", "wredis", "hrsp_1xx", "hrsp_2xx", "hrsp_3xx", "hrsp_4xx", "hrsp_5xx",
            "hrsp_other", "req_tot", "cli_abrt", "srv_abrt", "lbtot", "connect", "reuse", "scur", "qcur", "status", "chkfail", "wrew")


def settle(servers):
    """Nothing more is told to the servers."""
    before = []

    def still():
        before.append(servers.changes)
        return len(before) > 15 and before[-1] == before[-15]
    lib.until(still, lib.PATIENCE)


def shown(answer):
    """What a client got, whatever the order of fields and the size of chunks; the reason of an interim answer is a program's own."""
    if answer == "went":
        return answer
    raw, out = "\r\n".join(answer[0]) + "\r\n\r\n" + answer[1], []
    while True:
        text, _, raw = raw.partition("\r\n\r\n")
        first_line, *fields = text.split("\r\n")
        interim = first_line.startswith("HTTP/1.1 1")
        out.append([first_line[:12] if interim else first_line, sorted(fields)])
        if not interim:
            break
    if "transfer-encoding: chunked" in fields:
        raw = unchunked(raw)
    # (a body of nothing: in chunks or of length 0)
    out[-1][1] = [f for f in out[-1][1] if f not in ("transfer-encoding: chunked", "content-length: 0")]
    return out + [raw]


def unchunked(text):
    out = ""
    while True:
        size, _, text = text.partition("\r\n")
        n = int(size, 16) if re.fullmatch("[0-9a-fA-F]+", size) else 0
        if not n:
            return out if (size, text) == ("0", "\r\n") else out + " and %s %s" % (size, text)
        out, text = out + text[:n], text[n + 2:]


def comparable(got):
    """Without when connections end, which is the programs' own, facts of connections that failed, and bytes of their own answers
    (row log-own-bytes of tests/differences.txt)."""
    is_own = re.compile(r"(\|[A-Za-z][CHQ]..\|\d+)\|\d+")
    own = any(is_own.search(l) for l in got["log"])
    seen = [[[request[:3] for request in conn[1:]]] for conn in got["seen"]]
    return {"answers": [shown(a) for a in got["answers"]], "seen": seen,
            "counters": {k: v for k, v in got["counters"].items() if not (own and k.endswith("bout"))},
            "log": [is_own.sub(r"\1", re.sub(r"\|[\d-]*\|[\d-]*\|[\d-]*}$", "", l)) for l in got["log"]]}


def compare(tap, args, crt):
    cases = [c for c in CASES if re.search(args.only, c[0])]
    cases = [c for i, c in enumerate(cases) if i % args.every == 0]
    ours, alive = play(args.program, cases, crt)
    tap.ok(alive, "this program still runs")
    for i, (name, *_) in enumerate(cases):
        if name in OURS:
            tap.eq(re.sub(r".*?\|.*?\|(\d+)\|(....)\|.*", r"\1 \2", first_line(ours[i]["log"])), OURS[name], name)
    both = [i for i, c in enumerate(cases) if c[0] not in OURS]
    theirs, _ = play(lib.REFERENCE, [cases[i] for i in both], crt, both)
    for i in both:
        a, b = comparable(ours[i]), comparable(theirs[i])
        for what in a:
            tap.eq(a[what], b[what], "%s: %s" % (cases[i][0], what))


def first_line(lines):
    return next((l for l in lines if "|{0}" in l), "nothing")


def main():
    args = lib.arguments(__doc__, ("only", "", "a regular expression of names"),
                         ("every", 20, "only each so many-th case"))
    tap = lib.Tap()
    with tempfile.TemporaryDirectory(prefix="hapt.") as folder:
        crt = os.path.join(folder, "localhost.pem")
        if not os.access(lib.REFERENCE, os.X_OK):
            tap.apart("reference", "servers of HTTP/3 beside the reference")
            tap.done()
        if not lib_quic.HAVE_AIOQUIC or not lib_quic.certificate(crt):
            tap.skip("servers of HTTP/3 beside the reference", "no aioquic for Python, or no openssl")
            tap.done()
        lib_quic.certificate(crt + "2")
        compare(tap, args, crt)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
