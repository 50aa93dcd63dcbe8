# SPDX-License-Identifier: GPL-2.0-or-later
"""The rows of h2_conformance.py: (name, bytes sent after preface and SETTINGS, stream watched, wanted).

<wanted> lists what may happen, separated by '|':
  200 (or another status)   the stream's answer, and the connection goes on
  rst CODE                  the stream is reset with this code, and the connection goes on
  goaway CODE               the connection ends with this code, or without a word
  alive                     nothing happens: a PING is answered
Each may be followed by '+n': so many requests reached the server (otherwise: one for a status of the
2xx class, none for anything else).
RAW rows replace the preface, too.
"""
from wire import h2
from wire.h2 import (data, frame, goaway, headers, literal, ping, priority, raw_headers, request, rst,
                     settings, settings_ack, window)

GET = h2.block(request())
POST = h2.block(request(method="POST"))
PROTO = "rst PROTOCOL_ERROR"
CONN = "goaway PROTOCOL_ERROR"
SIZE = "goaway FRAME_SIZE_ERROR"
COMP = "goaway COMPRESSION_ERROR"
FLOW = "goaway FLOW_CONTROL_ERROR"
CLOSED = "goaway STREAM_CLOSED|rst STREAM_CLOSED"
U31 = 0x7fffffff


def get(*more, **named):
    return headers(1, request(more=more, **named))


def fields(*pairs):
    return headers(1, list(pairs))


def post(*more, **named):
    return headers(1, request(method="POST", more=more, **named), end=False)


RAW = (
    ("3.4 a preface of another text", b"PRI * HTTP/3.0\r\n\r\nSM\r\n\r\n" + settings(), 0, CONN),
    ("3.4 a preface cut by a frame", h2.PREFACE[:20] + settings(), 0, CONN),
    ("3.4 a first frame that is no SETTINGS", h2.PREFACE + ping(), 0, CONN),
    ("3.4 a first frame that is HEADERS", h2.PREFACE + headers(1, request()), 1, CONN),
    ("3.4 a SETTINGS acknowledgement first", h2.PREFACE + settings_ack() + settings(), 0,
     CONN + "|alive"),
    ("3.4 preface and request at once", h2.PREFACE + settings() + headers(1, request()), 1, "200"),
    ("6.5 first SETTINGS bad", h2.PREFACE + settings((h2.ENABLE_PUSH, 2)), 0, CONN),
)

FRAMES = (
    ("4.1 unknown frame type", frame(0x66, 0xff, 0, b"abc") + get(), 1, "200"),
    ("4.1 unknown frame type on an idle stream", frame(0x66, 0, 99, b"abc") + get(), 1, "200|" + CONN),
    ("4.1 undefined flags", ping() + frame(h2.PING, 0xfe, 0, b"12345678") + get(), 1, "200"),
    ("4.1 reserved bit of a stream number", frame(h2.WINDOW_UPDATE, 0, 1 << 31, b"\0\0\0\1") + get(), 1,
     "200"),
    ("4.2 DATA of 2^14 bytes", post() + data(1, b"x" * 16384) + data(1, b"", True), 1, "200"),
    ("4.2 DATA of 2^14 + 1 bytes", post() + data(1, b"x" * 16385), 1, SIZE + "|rst FRAME_SIZE_ERROR"),
    ("4.2 HEADERS of 2^14 + 1 bytes", raw_headers(1, GET + b"\0" * (16385 - len(GET))), 1, SIZE),
    ("4.2 CONTINUATION of 2^14 + 1 bytes",
     raw_headers(1, GET, done=False) + frame(h2.CONTINUATION, 4, 1, b"\0" * 16385), 1, SIZE),
    ("4.2 SETTINGS of 2^14 + 2 bytes", frame(h2.SETTINGS, 0, 0, b"\0\x99\0\0\0\0" * 2731), 0, SIZE),
    ("4.2 unknown type of 2^14 + 1 bytes", frame(0x66, 0, 0, b"x" * 16385), 0, SIZE),

    ("6.1 DATA on stream 0", data(0, b"x"), 0, CONN),
    ("6.1 DATA on an idle stream", data(1, b"x"), 1, CONN + "|goaway STREAM_CLOSED"),
    ("6.1 DATA on a server's stream", data(2, b"x"), 2, CONN + "|goaway STREAM_CLOSED"),
    ("6.1 DATA with padding", post() + data(1, b"hello", True, pad=10), 1, "200"),
    ("6.1 DATA that is only padding", post() + data(1, b"", True, pad=255), 1, "200"),
    ("6.1 DATA with padding longer than it",
     post() + frame(h2.DATA, h2.PADDED | 1, 1, b"\x06hello"), 1, CONN),
    ("6.1 DATA padded without a length", post() + frame(h2.DATA, h2.PADDED, 1, b""), 1,
     SIZE + "|" + CONN),
    ("6.1 DATA that ends a body", post() + data(1, b"hello", True), 1, "200"),
    ("6.1 DATA empty many times", post() + data(1) * 20 + data(1, b"x", True), 1, "200"),

    ("6.2 HEADERS on stream 0", headers(0, request()), 0, CONN),
    ("6.2 HEADERS on an even stream", headers(2, request()), 2, CONN),
    ("6.2 HEADERS on a lower stream",
     headers(5, request()) + headers(3, request()), 3, CONN + "+1|goaway STREAM_CLOSED+1|"
     + CONN + "|goaway STREAM_CLOSED"),
    ("6.2 HEADERS padded", raw_headers(1, GET, pad=100), 1, "200"),
    ("6.2 HEADERS with padding longer than it",
     frame(h2.HEADERS, 5 | h2.PADDED, 1, bytes((len(GET) + 1,)) + GET), 1, CONN),
    ("6.2 HEADERS padded without a length", frame(h2.HEADERS, 5 | h2.PADDED, 1), 1,
     SIZE + "|" + CONN),
    ("6.2 HEADERS with priority", raw_headers(1, GET, prio=b"\0\0\0\3\x10"), 1, "200"),
    ("6.2 HEADERS with priority cut short", frame(h2.HEADERS, 5 | h2.PRIO, 1, b"\0\0\0\3"), 1,
     SIZE + "|" + CONN),
    ("6.2 HEADERS that depends on itself", raw_headers(1, GET, prio=b"\0\0\0\1\x10"), 1,
     PROTO + "|200|" + CONN),
    ("6.2 HEADERS with padding and priority", raw_headers(1, GET, pad=3, prio=b"\0\0\0\3\x10"), 1,
     "200"),
    ("6.2 HEADERS with another HEADERS inside",
     raw_headers(1, GET, done=False) + headers(3, request()), 1, CONN),
    ("6.2 HEADERS with a PING inside", raw_headers(1, GET, done=False) + ping(), 1, CONN),
    ("6.2 HEADERS with DATA inside", raw_headers(1, GET, False, False) + data(1, b"x"), 1, CONN),
    ("6.2 HEADERS with an unknown type inside",
     raw_headers(1, GET, done=False) + frame(0x66, 0, 1), 1, CONN),
    ("6.2 HEADERS with CONTINUATION of another stream",
     raw_headers(1, GET[:9], done=False) + frame(h2.CONTINUATION, 4, 3, GET[9:]), 1, CONN),
    ("6.2 two requests", headers(1, request()) + headers(3, request("/b")), 3, "200+2"),

    ("6.3 PRIORITY", priority(1, 0) + get(), 1, "200"),
    ("6.3 PRIORITY on an idle stream", priority(9, 1, 255, True) + get(), 1, "200"),
    ("6.3 PRIORITY on stream 0", priority(0, 1), 0, CONN),
    ("6.3 PRIORITY of 4 bytes", get() + frame(h2.PRIORITY, 0, 1, b"\0\0\0\0"), 1,
     "goaway FRAME_SIZE_ERROR|goaway FRAME_SIZE_ERROR+1|rst FRAME_SIZE_ERROR|"
     "rst FRAME_SIZE_ERROR+1|200"),
    ("6.3 PRIORITY that depends on itself", priority(1, 1), 1, CONN + "|" + PROTO + "|alive"),

    ("6.4 RST_STREAM on stream 0", rst(0), 0, CONN),
    ("6.4 RST_STREAM on an idle stream", rst(1), 1, CONN),
    ("6.4 RST_STREAM of 3 bytes", post() + frame(h2.RST_STREAM, 0, 1, b"\0\0\0"), 1, SIZE),
    ("6.4 RST_STREAM of 5 bytes", post() + frame(h2.RST_STREAM, 0, 1, b"\0\0\0\0\0"), 1, SIZE),
    ("6.4 RST_STREAM of a request", post() + rst(1), 1, "alive"),
    ("6.4 RST_STREAM twice", post() + rst(1) + rst(1), 1, "alive|" + CLOSED),
    ("6.4 RST_STREAM with an unknown code", post() + rst(1, 0x12345678), 1, "alive"),
    ("6.4 RST_STREAM, then another request", post() + rst(1) + headers(3, request()), 3, "200"),

    ("6.5 SETTINGS on a stream", frame(h2.SETTINGS, 0, 1), 1, CONN),
    ("6.5 SETTINGS of 5 bytes", frame(h2.SETTINGS, 0, 0, b"\0\1\0\0\0"), 0, SIZE),
    ("6.5 SETTINGS acknowledgement with a payload", frame(h2.SETTINGS, 1, 0, b"\0\1\0\0\0\0"), 0,
     SIZE),
    ("6.5 unknown setting", settings((0x99, 1), (0xffff, U31)) + get(), 1, "200"),
    ("6.5 setting given twice", settings((4, 10), (4, 100000)) + get(), 1, "200"),
    ("6.5 ENABLE_PUSH 2", settings((2, 2)), 0, CONN),
    ("6.5 ENABLE_PUSH 0 and 1", settings((2, 0), (2, 1)) + get(), 1, "200"),
    ("6.5 INITIAL_WINDOW_SIZE 2^31", settings((4, 1 << 31)), 0, FLOW),
    ("6.5 INITIAL_WINDOW_SIZE 2^31 - 1", settings((4, U31)) + get(), 1, "200"),
    ("6.5 MAX_FRAME_SIZE 16383", settings((5, 16383)), 0, CONN),
    ("6.5 MAX_FRAME_SIZE 2^24", settings((5, 1 << 24)), 0, CONN),
    ("6.5 MAX_FRAME_SIZE 2^24 - 1", settings((5, (1 << 24) - 1)) + get(), 1, "200"),
    ("6.5 HEADER_TABLE_SIZE 0", settings((1, 0)) + get(), 1, "200"),
    ("6.5 HEADER_TABLE_SIZE 2^32 - 1", settings((1, 0xffffffff)) + get(), 1, "200"),
    ("6.5 MAX_HEADER_LIST_SIZE 0", settings((6, 0)) + get(), 1, "200"),
    ("6.5 MAX_CONCURRENT_STREAMS 0", settings((3, 0)) + get(), 1, "200"),
    ("6.5 ENABLE_CONNECT_PROTOCOL 1", settings((8, 1)) + get(), 1, "200"),
    ("6.5 empty SETTINGS", settings() + get(), 1, "200"),
    ("6.5 acknowledgement that nobody asked for", settings_ack() * 3 + get(), 1, "200|" + CONN),

    ("6.6 PUSH_PROMISE from a client", frame(h2.PUSH_PROMISE, 4, 1, b"\0\0\0\2" + GET), 1, CONN),
    ("6.6 PUSH_PROMISE on an open stream",
     post() + frame(h2.PUSH_PROMISE, 4, 1, b"\0\0\0\2" + GET), 1, CONN),

    ("6.7 PING", ping(b"abcdefgh") + get(), 1, "200"),
    ("6.7 PING acknowledgement that nobody asked for", ping(ack=True) + get(), 1, "200"),
    ("6.7 PING on a stream", frame(h2.PING, 0, 1, b"12345678"), 1, CONN),
    ("6.7 PING of 7 bytes", frame(h2.PING, 0, 0, b"1234567"), 0, SIZE),
    ("6.7 PING of 9 bytes", frame(h2.PING, 0, 0, b"123456789"), 0, SIZE),
    ("6.7 PING acknowledgement of 6 bytes", frame(h2.PING, 1, 0, b"123456"), 0, SIZE),

    ("6.8 GOAWAY on a stream", frame(h2.GOAWAY, 0, 1, b"\0" * 8), 1, CONN),
    ("6.8 GOAWAY of 7 bytes", frame(h2.GOAWAY, 0, 0, b"\0" * 7), 0, SIZE),

    ("6.9 WINDOW_UPDATE of 0", window(0, 0), 0, CONN),
    ("6.9 WINDOW_UPDATE of 0 on a stream", post() + window(1, 0), 1, PROTO + "|" + CONN),
    ("6.9 WINDOW_UPDATE of 3 bytes", frame(h2.WINDOW_UPDATE, 0, 0, b"\0\0\1"), 0, SIZE),
    ("6.9 WINDOW_UPDATE of 5 bytes", post() + frame(h2.WINDOW_UPDATE, 0, 1, b"\0\0\0\0\1"), 1, SIZE),
    ("6.9 WINDOW_UPDATE on an idle stream", window(1, 1), 1, CONN),
    ("6.9 WINDOW_UPDATE beyond 2^31 - 1", window(0, U31), 0, FLOW),
    ("6.9 WINDOW_UPDATE beyond it in two steps", window(0, U31 - 65535) + window(0, 1), 0, FLOW),
    ("6.9 WINDOW_UPDATE up to it", window(0, U31 - 65535) + get(), 1, "200"),
    ("6.9 WINDOW_UPDATE of a stream beyond it", post() + window(1, U31), 1,
     "rst FLOW_CONTROL_ERROR|" + FLOW),
    ("6.9 reserved bit of WINDOW_UPDATE", frame(h2.WINDOW_UPDATE, 0, 0, b"\x80\0\0\1") + get(), 1,
     "200"),
    ("6.9 INITIAL_WINDOW_SIZE that overflows a stream",
     post() + window(1, U31 - 65535) + settings((4, 65536)), 1,
     FLOW + "|rst FLOW_CONTROL_ERROR|alive"),

    ("6.10 CONTINUATION", raw_headers(1, GET, pieces=(10,)), 1, "200"),
    ("6.10 CONTINUATION of one byte each", raw_headers(1, GET, pieces=(1,) * 20), 1, "200|"
     "goaway ENHANCE_YOUR_CALM"),
    ("6.10 empty CONTINUATION", raw_headers(1, GET, pieces=(10, 0)), 1, "200"),
    ("6.10 CONTINUATION of padded HEADERS", raw_headers(1, GET, pad=5, pieces=(10,)), 1, "200"),
    ("6.10 CONTINUATION alone", frame(h2.CONTINUATION, 4, 1, GET), 1, CONN),
    ("6.10 CONTINUATION behind a whole block", get() + frame(h2.CONTINUATION, 4, 1, b""), 1,
     CONN + "|" + CONN + "+1"),
    ("6.10 CONTINUATION behind DATA", post() + data(1, b"x") + frame(h2.CONTINUATION, 4, 1, GET), 1,
     CONN),
    ("6.10 CONTINUATION on stream 0", raw_headers(1, GET[:9], done=False)
     + frame(h2.CONTINUATION, 4, 0, GET[9:]), 1, CONN),
    ("6.10 CONTINUATION with flags that it has not",
     raw_headers(1, GET[:9], done=False) + frame(h2.CONTINUATION, 4 | 8 | 1, 1, GET[9:]), 1, "200"),
)

STREAMS = (
    ("5.1 half-closed: DATA", get() + data(1, b"x"), 1, CLOSED + "|goaway STREAM_CLOSED+1"
     "|rst STREAM_CLOSED+1|200"),
    ("5.1 half-closed: HEADERS", get() + headers(1, request()), 1, CLOSED
     + "|goaway STREAM_CLOSED+1|rst STREAM_CLOSED+1|" + CONN + "|" + CONN + "+1|200"),
    ("5.1 half-closed: WINDOW_UPDATE", get() + window(1, 100), 1, "200"),
    ("5.1 half-closed: PRIORITY", get() + priority(1, 0), 1, "200"),
    ("5.1 half-closed: RST_STREAM", get() + rst(1), 1, "alive|alive+1|200"),
    ("5.1 closed by RST_STREAM: DATA", post() + rst(1) + data(1, b"x"), 1,
     CLOSED + "|alive"),
    ("5.1 closed by RST_STREAM: HEADERS", post() + rst(1) + headers(1, request()), 1,
     CLOSED + "|alive|" + CONN),
    ("5.1 reset by both: HEADERS", post() + window(1, 0) + rst(1) + headers(1, request()), 1, CLOSED),
    ("5.1 closed by RST_STREAM: WINDOW_UPDATE", post() + rst(1) + window(1, 1), 1, "alive"),
    ("5.1 closed by RST_STREAM: CONTINUATION", post() + rst(1) + frame(h2.CONTINUATION, 4, 1, GET), 1,
     CONN + "|" + CLOSED),
    ("5.1.1 skipped streams are closed: HEADERS", headers(9, request()) + headers(7, request()), 7,
     CONN + "+1|goaway STREAM_CLOSED+1|" + CONN + "|goaway STREAM_CLOSED"),
    ("5.1.1 skipped streams are closed: WINDOW_UPDATE",
     headers(9, request()) + window(7, 1), 9, "200"),
    ("5.1.1 the highest stream number", headers(U31, request()), U31, "200"),
    ("6.9.2 DATA of the first window before the ACK of ours", post()
     + b"".join(data(1, b"x" * 16000) for _ in range(4)) + data(1, b"x" * 1535, end=True), 1, "200"),
    ("8.1 trailers", post() + data(1, b"x") + headers(1, [("x-t", "1")]), 1, "200"),
    ("8.1 trailers without DATA", post() + headers(1, [("x-t", "1")]), 1, "200"),
    ("8.1 trailers that do not end the stream",
     post() + data(1, b"x") + headers(1, [("x-t", "1")], end=False), 1, PROTO + "|" + CONN),
    ("8.1 trailers with a pseudo-field", post() + headers(1, [(":path", "/")]), 1, PROTO + "|" + CONN),
    ("8.1 trailers with upper case", post() + headers(1, [("X-T", "1")]), 1, PROTO + "|" + CONN),
    ("8.1 trailers with a field of one hop", post() + headers(1, [("connection", "close")]), 1,
     PROTO + "|" + CONN),
    ("8.1 trailers with CRLF", post() + headers(1, [("x", "a\r\nb: c")]), 1, PROTO + "|" + CONN),
    ("8.1 content-length as a trailer", post() + data(1, b"x") + headers(1, [("content-length", "1")]), 1, PROTO),
    ("8.1 host as a trailer", post() + data(1, b"x") + headers(1, [("host", "x")]), 1, PROTO),
    ("8.1 te as a trailer", post() + data(1, b"x") + headers(1, [("te", "trailers")]), 1, PROTO),
    ("8.1 DATA behind trailers", post() + headers(1, [("x-t", "1")]) + data(1, b"x"), 1,
     "200|" + CLOSED + "|rst STREAM_CLOSED+1|goaway STREAM_CLOSED+1"),
)

HEADS = (
    ("8.2 a request", get(), 1, "200"),
    ("8.2 upper case in a name", get(("X-Test", "1")), 1, PROTO),
    ("8.2 blank in a name", get(("x test", "1")), 1, PROTO),
    ("8.2 colon in a name", get(("x:test", "1")), 1, PROTO),
    ("8.2 empty name", get(("", "1")), 1, PROTO + "|" + COMP),
    ("8.2 control character in a name", get(("x\1", "1")), 1, PROTO),
    ("8.2 high byte in a name", get(("x\xe9", "1")), 1, PROTO),
    ("8.2 DEL in a name", get(("x\x7f", "1")), 1, PROTO),
    ("8.2 parenthesis in a name", get(("x(", "1")), 1, PROTO),
    ("8.2 slash in a name", get(("x/", "1")), 1, PROTO),
    ("8.2 CRLF in a name", get(("x\r\ny", "1")), 1, PROTO),
    ("8.2 NUL in a value", get(("x", "a\0b")), 1, PROTO),
    ("8.2 CR in a value", get(("x", "a\rb")), 1, PROTO),
    ("8.2 LF in a value", get(("x", "a\nb")), 1, PROTO),
    ("8.2 CRLF and a request in a value", get(("x", "a\r\n\r\nGET /evil HTTP/1.1\r\nhost: a")), 1,
     PROTO),
    ("8.2 blanks around a value", get(("x", " a ")), 1, "200|" + PROTO),
    ("8.2 TAB within a value", get(("x", "a\tb")), 1, "200"),
    ("8.2 high bytes within a value", get(("x", "a\xe9\xff")), 1, "200"),
    ("8.2 empty value", get(("x", "")), 1, "200"),
    ("8.2.2 connection", get(("connection", "close")), 1, PROTO),
    ("8.2.2 connection that names a field", get(("connection", "x"), ("x", "1")), 1, PROTO),
    ("8.2.2 keep-alive", get(("keep-alive", "timeout=5")), 1, PROTO),
    ("8.2.2 proxy-connection", get(("proxy-connection", "close")), 1, PROTO),
    ("8.2.2 transfer-encoding chunked", post(("transfer-encoding", "chunked"))
     + data(1, b"0\r\n\r\nGET /evil HTTP/1.1\r\nhost: a\r\n\r\n", True), 1, PROTO),
    ("8.2.2 transfer-encoding identity", get(("transfer-encoding", "identity")), 1, PROTO),
    ("8.2.2 upgrade", get(("upgrade", "websocket")), 1, PROTO),
    ("8.2.2 te: trailers", get(("te", "trailers")), 1, "200"),
    ("8.2.2 te: gzip", get(("te", "gzip")), 1, PROTO),
    ("8.2.2 te: Trailers", get(("te", "Trailers")), 1, PROTO),
    ("8.2.2 te: trailers, gzip", get(("te", "trailers, gzip")), 1, PROTO),
    ("8.2.3 cookie crumbs", get(("cookie", "a=1"), ("x", "y"), ("cookie", "b=2")), 1, "200"),
    ("8.3 unknown pseudo-field", fields((":foo", "x"), *request()), 1, PROTO),
    ("8.3 :status in a request", fields((":status", "200"), *request()), 1, PROTO),
    ("8.3 pseudo-field behind a field", fields(*(request()[:3] + [("x", "y")] + request()[3:])), 1,
     PROTO),
    ("8.3 :path twice", fields(*(request() + [(":path", "/b")])), 1, PROTO),
    ("8.3 :method twice", fields(*(request() + [(":method", "GET")])), 1, PROTO),
    ("8.3 :authority twice", fields(*(request() + [(":authority", "a.example")])), 1, PROTO),
    ("8.3.1 no :method", fields(*request()[1:]), 1, PROTO),
    ("8.3.1 no :scheme", fields(*(request()[:1] + request()[2:])), 1, PROTO),
    ("8.3.1 no :path", fields(*(request()[:2] + request()[3:])), 1, PROTO),
    ("8.3.1 no :authority", fields(*request()[:3]), 1, "200|400"),
    ("8.3.1 Host instead of :authority", fields(*(request()[:3] + [("host", "a")])), 1, "200"),
    ("8.3.1 Host beside :authority", get(("host", "a.example")), 1, "200"),
    ("8.3.1 another Host beside :authority", get(("host", "b.example")), 1, "200|400|" + PROTO),
    ("8.3.1 two different Hosts", fields(*(request()[:3] + [("host", "a"), ("host", "b")])), 1,
     "200|400|" + PROTO),
    ("8.3.1 empty list", headers(1, b""), 1, PROTO + "|" + SIZE),
    ("8.3.1 empty :path", get(path=""), 1, PROTO),
    ("8.3.1 :path without slash", get(path="a"), 1, PROTO),
    ("8.3.1 :path with scheme", get(path="http://evil/"), 1, PROTO),
    ("8.3.1 :path with a blank", get(path="/a b"), 1, PROTO),
    ("8.3.1 :path with a request", get(path="/ HTTP/1.1\r\nhost: a\r\n\r\nGET /evil"), 1, PROTO),
    ("8.3.1 :path with TAB", get(path="/a\tb"), 1, PROTO),
    ("8.3.1 :path with NUL", get(path="/a\0b"), 1, PROTO),
    ("8.3.1 :path with DEL", get(path="/a\x7fb"), 1, PROTO + "|400"),
    ("8.3.1 :path with a fragment", get(path="/a#b"), 1, PROTO),
    ("8.3.1 :path * of OPTIONS", get(path="*", method="OPTIONS"), 1, "200"),
    ("8.3.1 :path *x", get(path="*x", method="OPTIONS"), 1, PROTO),
    ("8.3.1 empty :method", get(method=""), 1, PROTO),
    ("8.3.1 :method with a blank", get(method="GET /evil HTTP/1.1 "), 1, PROTO + "|400"),
    ("8.3.1 :method with CRLF", get(method="GET\r\n"), 1, PROTO),
    ("8.3.1 :method of another name", get(method="PURGE"), 1, "200"),
    ("8.3.1 :scheme https", get(scheme="https"), 1, "200"),
    ("8.3.1 :scheme with a blank", get(scheme="ht tp"), 1, PROTO + "|400"),
    ("8.3.1 empty :scheme", get(scheme=""), 1, PROTO + "|400"),
    ("8.3.1 :scheme that is a URL", get(scheme="http://evil/?"), 1, PROTO + "|400"),
    ("8.3.1 :authority with userinfo", get(authority="u:p@a"), 1, PROTO),
    ("8.3.1 :authority with a slash", get(authority="a/b"), 1, PROTO),
    ("8.3.1 :authority with a blank", get(authority="a b"), 1, PROTO),
    ("8.3.1 :authority with CRLF", get(authority="a\r\nx: y"), 1, PROTO),
    ("8.3.1 :authority with port", get(authority="a:8080"), 1, "200"),
    ("8.3.1 :authority of IPv6", get(authority="[::1]:8080"), 1, "200"),
    ("8.1.1 length and body agree", post(("content-length", "5")) + data(1, b"hello", True), 1, "200"),
    ("8.1.1 length and padded body agree",
     post(("content-length", "5")) + data(1, b"hello", True, pad=9), 1, "200"),
    ("8.1.1 body shorter", post(("content-length", "6")) + data(1, b"hello", True), 1, PROTO),
    ("8.1.1 body longer", post(("content-length", "4")) + data(1, b"hello", True), 1, PROTO),
    ("8.1.1 two DATA, longer",
     post(("content-length", "9")) + data(1, b"hello") + data(1, b"hello", True), 1, PROTO),
    ("8.1.1 two DATA, shorter",
     post(("content-length", "11")) + data(1, b"hello") + data(1, b"hello", True), 1, PROTO),
    ("8.1.1 a length, and trailers too early",
     post(("content-length", "6")) + data(1, b"hello") + headers(1, [("x", "y")]), 1, PROTO),
    ("8.1.1 a length and no body", get(("content-length", "5")), 1, PROTO),
    ("8.1.1 length 0 and no body", get(("content-length", "0")), 1, "200"),
    ("8.1.1 length 0 and DATA", post(("content-length", "0")) + data(1, b"x", True), 1, PROTO),
    ("8.1.1 two equal lengths", post(("content-length", "1"), ("content-length", "1"))
     + data(1, b"x", True), 1, "200|" + PROTO),
    ("8.1.1 two lengths", post(("content-length", "1"), ("content-length", "2"))
     + data(1, b"x", True), 1, PROTO),
    ("8.1.1 a list of lengths", post(("content-length", "1, 2")) + data(1, b"x", True), 1, PROTO),
    ("8.1.1 length with a sign", post(("content-length", "+1")) + data(1, b"x", True), 1, PROTO),
    ("8.1.1 length in hexadecimal", post(("content-length", "0x1")) + data(1, b"x", True), 1, PROTO),
    ("8.1.1 negative length", post(("content-length", "-1")) + data(1, b"x", True), 1, PROTO),
    ("8.1.1 empty length", post(("content-length", "")) + data(1, b"x", True), 1, PROTO),
    ("8.1.1 length beyond 64 bits", post(("content-length", "18446744073709551617"))
     + data(1, b"x", True), 1, PROTO),
    ("8.5 CONNECT", fields((":method", "CONNECT"), (":authority", "a:443")), 1, "403+1"),
    ("8.5 CONNECT with :path", fields((":method", "CONNECT"), (":authority", "a:443"), (":path", "/")),
     1, PROTO),
    ("8.5 CONNECT with :scheme",
     fields((":method", "CONNECT"), (":authority", "a:443"), (":scheme", "http")), 1, PROTO),
    ("8.5 CONNECT without :authority", fields((":method", "CONNECT")), 1, PROTO + "|400"),
    ("RFC 8441 :protocol of GET", fields(request()[0], (":protocol", "websocket"), *request()[1:]), 1,
     PROTO),
    ("RFC 8441 extended CONNECT without :path",
     fields((":method", "CONNECT"), (":protocol", "websocket"), (":scheme", "http"),
            (":authority", "a")), 1, PROTO),
    ("body with a request in it", post(("content-length", "37"))
     + data(1, b"\r\n\r\nGET /evil HTTP/1.1\r\nhost: aaaa\r\n\r\n"[:37].ljust(37), True), 1, "200"),
    ("body of unknown length with chunks in it",
     post() + data(1, b"0\r\n\r\nGET /evil HTTP/1.1\r\nhost: a\r\n\r\n", True), 1, "200"),
)


def packed(raw, end=True):
    return raw_headers(1, raw, end)


PLAIN = b"\x82\x86\x84"  # GET, http, /
STORE = literal("x-a", "1", 0x40)

HPACK = (
    ("2.3.3 index 0", packed(PLAIN + b"\x80"), 1, COMP),
    ("2.3.3 index beyond both tables", packed(PLAIN + b"\xbe"), 1, COMP),
    ("2.3.3 name index beyond both tables", packed(PLAIN + b"\x7e\1x"), 1, COMP),
    ("2.3.3 a stored entry", packed(PLAIN + STORE + b"\xbe"), 1, "200"),
    ("2.3.3 an entry stored by a refused request",
     headers(1, PLAIN + literal("X", "1", 0x40) + STORE) + raw_headers(3, PLAIN + b"\xbe"), 3, "200"),
    ("4.2 size update at the beginning", packed(b"\x20\x3f\xe1\x1f" + PLAIN), 1, "200"),
    ("4.2 size update at the end", packed(PLAIN + b"\x20"), 1, COMP),
    ("4.2 size update in the middle", packed(b"\x82\x20\x86\x84"), 1, COMP),
    ("4.2 size update above the limit", packed(b"\x3f\xe2\x1f" + PLAIN), 1, COMP),
    ("4.2 size 0 evicts", raw_headers(1, PLAIN + STORE) + raw_headers(3, b"\x20" + PLAIN + b"\xbe"), 3,
     COMP + "+1|" + COMP + "|200+2"),
    ("4.4 an entry larger than the table evicts all",
     raw_headers(1, PLAIN + STORE + literal("x-b", "v" * 5000, 0x40) + b"\xbe"), 1, COMP),
    ("5.1 an integer of many bytes", packed(PLAIN + b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f"), 1,
     COMP),
    ("5.1 an integer cut short", packed(PLAIN + b"\xff"), 1, COMP),
    ("5.2 Huffman code", packed(PLAIN + b"\0" + h2.huffman("x-a") + h2.huffman("Hello, w0rld ~")), 1,
     "200"),
    ("5.2 Huffman code with EOS", packed(PLAIN + b"\0\1a\x84\xff\xff\xff\xff"), 1, COMP),
    ("5.2 Huffman padding of zeros", packed(PLAIN + b"\0\1a\x81\x18"), 1, COMP),
    ("5.2 Huffman padding of more than 7 bits", packed(PLAIN + b"\0\1a\x82\x1f\xff"), 1, COMP),
    ("5.2 a string cut short", packed(PLAIN + b"\0\1a\x05abc"), 1, COMP),
    ("5.2 a length of 4 GB", packed(PLAIN + b"\0\1a\x7f\x80\xff\xff\xff\x0f"), 1, COMP),
    ("6.2.2 not indexed", packed(PLAIN + literal("x-a", "1", 0)), 1, "200"),
    ("6.2.3 never indexed", packed(PLAIN + literal("x-a", "1", 0x10)), 1, "200"),
    ("6.2 a literal without value", packed(PLAIN + b"\x40\1a"), 1, COMP),
    ("a refused block still breaks the connection when it is bad",
     packed(b"\x82\x82\x86\x84\xbe"), 1, COMP),
)
