#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""filter trace: which callbacks filters get, in which order, for every kind of stream (tables/filters.py); how its
lines look; bytes that it cuts at random arrive whole. --learn prints what a program does, for the table."""
import os
import re
import socket
import sys
import textwrap
import time

import lib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "tables"))
import filters as table  # noqa: E402  (tables/filters.py)

CONF = """
	nbthread 1
defaults
	mode http
	timeout connect 5s
	timeout client 20s
	timeout server 20s
	timeout tarpit 100ms
frontend fe
	bind 127.0.0.1:{fe}
	filter trace name F
	monitor-uri /monitor
	http-request return status 200 content-type text/plain string "hi" if {{ path /return }}
	http-request redirect location /x if {{ path /redirect }}
	http-request deny if {{ path /deny }}
	http-request tarpit if {{ path /tarpit }}
	use_backend stats if {{ path_beg /stats }}
	use_backend none if {{ path /none }}
	use_backend rules if {{ path_beg /rules }}
	use_backend retry if {{ path /retry }}
	use_backend reject if {{ path /reject }}
	use_backend body if {{ path /body }}
	use_backend refused if {{ path /refused }}
	use_backend inner if {{ path_beg /inner }}
	default_backend be
backend be
	filter trace name B
	server s 127.0.0.1:{server}
backend stats
	filter trace name B
	stats enable
	stats uri /stats
backend none
	filter trace name B
backend rules
	filter trace name B
	http-request set-var(txn.path) path
	http-response deny if {{ var(txn.path) -m str /rules/deny }}
	http-response return status 200 content-type text/plain string "hi" if {{ var(txn.path) -m str /rules/return }}
	http-after-response set-header after 1
	tcp-response content accept
	use-server s if {{ path -m found }}
	server s 127.0.0.1:{server}
backend retry
	filter trace name B
	retry-on 500
	retries 1
	server s 127.0.0.1:{server}
backend reject
	filter trace name B
	tcp-request content reject
backend body
	filter trace name B
	option http-buffer-request
	server s 127.0.0.1:{server}
backend refused
	filter trace name B
	retries 0
	server s 127.0.0.1:{closed}
backend inner
	filter trace name B
	http-request deny if {{ path /inner/deny }}
	http-request redirect location /x if {{ path /inner/redirect }}
	http-request return status 204 if {{ path /inner/return }}
	http-request auth if {{ path /inner/auth }}
	http-request wait-for-body time 5s if {{ path /inner/wait }}
	http-request tarpit if {{ path /inner/tarpit }}
	server s 127.0.0.1:{server}
listen alone
	bind 127.0.0.1:{alone}
	filter trace name L
	option forwardfor
	http-request return status 200 content-type text/plain string "hi" if {{ path /return }}
	stats enable
	stats uri /stats
	server s 127.0.0.1:{server}
frontend plain
	bind 127.0.0.1:{plain}
	use_backend none if {{ path /none }}
	default_backend be
frontend two
	bind 127.0.0.1:{two}
	filter trace name F
	filter trace name G
	default_backend plainbe
backend plainbe
	server s 127.0.0.1:{server}
listen tcp
	mode tcp
	bind 127.0.0.1:{tcp}
	filter trace name T
	server s 127.0.0.1:{server}
listen inspect
	mode tcp
	bind 127.0.0.1:{inspect}
	filter trace name T
	tcp-request inspect-delay 5s
	tcp-request content accept if {{ req.len ge 5 }}
	server s 127.0.0.1:{server}
frontend upgrade
	mode tcp
	bind 127.0.0.1:{upgrade}
	filter trace name F
	tcp-request inspect-delay 5s
	tcp-request content switch-mode http if HTTP
	default_backend be
"""
NAMES = ["fe", "alone", "plain", "two", "tcp", "inspect", "upgrade"]


# --- a server, which answers by the path

class Origin(lib.Server):
    def __init__(self):
        super().__init__(self.serve)

    def serve(self, sock):
        reader = lib.Reader(sock)
        for method, path, fields in reader.requests():
            names = dict(fields)
            if names.get("expect"):
                sock.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
            reader.body(fields)
            if method == "CONNECT" or "upgrade" in names:
                self.tunnel(sock, reader, method)
                return
            if path == "/cut":
                sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello")
                return
            if path in ("/nothing", "/garbage"):
                sock.sendall(b"" if path == "/nothing" else b"garbage\r\n\r\n")
                return
            sock.sendall(ANSWERS.get(path, OK) if method != "HEAD" else OK[:-5])

    @staticmethod
    def tunnel(sock, reader, method):
        sock.sendall(b"HTTP/1.1 200 OK\r\n\r\n" if method == "CONNECT" else
                     b"HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n")
        sock.sendall(reader.exactly(6))
        while reader.fill():
            pass


OK = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
ANSWERS = {
    "/chunks": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nx-trailer: 1\r\n\r\n",
    "/304": b"HTTP/1.1 304 Not Modified\r\n\r\n",
    "/early": b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + OK,
    "/retry": b"HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n",
}


# --- clients

def request(path, method="GET", fields=b"", body=b""):
    return b"%s %s HTTP/1.1\r\nHost: a\r\n%s\r\n%s" % (method.encode(), path.encode(), fields, body)


def talk(port, *parts, method="GET", answers=1):
    """Sends the parts, each behind the answer to an interim one; the final answers."""
    with lib.connect(port) as s:
        reader = lib.Reader(s)
        got = []
        for part in parts:
            s.sendall(part)
            if b"100-continue" in part:
                reader.head()
        for _ in range(answers):
            got.append(reader.response(method))
        return got


def tunnel(port, method="CONNECT", fields=b""):
    """Through a tunnel and back."""
    target = "a:80" if method == "CONNECT" else "/up"
    with lib.connect(port) as s:
        reader = lib.Reader(s)
        s.sendall(request(target, method, fields))
        reader.head()
        s.sendall(b"tunnel")
        echo = reader.exactly(6)
        s.shutdown(socket.SHUT_WR)
        while reader.fill():
            pass
        return echo


def raw(port, first, rest=b""):
    with lib.connect(port) as s:
        reader = lib.Reader(s)
        s.sendall(first)
        if rest:
            time.sleep(0.1)
            s.sendall(rest)
        return reader.response()


CHUNKED = b"Transfer-Encoding: chunked\r\n"
CASES = {
    "GET": ("fe", lambda p: talk(p, request("/a"))),
    "POST with a length": ("fe", lambda p: talk(p, request("/a", "POST", b"Content-Length: 5\r\n", b"hello"))),
    "POST in chunks, with trailers both ways": ("fe", lambda p: talk(
        p, request("/chunks", "POST", CHUNKED, b"5\r\nhello\r\n0\r\nx-more: 1\r\n\r\n"))),
    "HEAD": ("fe", lambda p: talk(p, request("/a", "HEAD"), method="HEAD")),
    "304": ("fe", lambda p: talk(p, request("/304"))),
    "100-continue": ("fe", lambda p: talk(
        p, request("/a", "POST", b"Expect: 100-continue\r\nContent-Length: 5\r\n"), b"hello")),
    "an early hint": ("fe", lambda p: talk(p, request("/early"))),
    "two at once": ("fe", lambda p: talk(p, request("/a") + request("/b"), answers=2)),
    "CONNECT": ("fe", tunnel),
    "an upgrade": ("fe", lambda p: tunnel(p, "GET", b"Connection: upgrade\r\nUpgrade: x\r\n")),
    "return": ("fe", lambda p: talk(p, request("/return"))),
    "redirect": ("fe", lambda p: talk(p, request("/redirect"))),
    "deny": ("fe", lambda p: talk(p, request("/deny"))),
    "tarpit": ("fe", lambda p: talk(p, request("/tarpit"))),
    "monitor-uri": ("fe", lambda p: talk(p, request("/monitor"))),
    "the statistics page": ("fe", lambda p: talk(p, request("/stats;csv"))),
    "no server": ("fe", lambda p: talk(p, request("/none"))),
    "a bad request": ("fe", lambda p: raw(p, b"GET / a b\r\n\r\n")),
    "rules": ("fe", lambda p: talk(p, request("/rules/a"))),
    "deny of the answer": ("fe", lambda p: talk(p, request("/rules/deny"))),
    "return instead of the answer": ("fe", lambda p: talk(p, request("/rules/return"))),
    "sent again": ("fe", lambda p: talk(p, request("/retry", "POST", b"Content-Length: 5\r\n", b"hello"))),
    "rejected by the backend": ("fe", lambda p: lib.recv_all(sent(p, request("/reject")))),
    "the body first": ("fe", lambda p: raw(p, request("/body", "POST", b"Content-Length: 5\r\n", b"he"), b"llo")),
    "no connection": ("fe", lambda p: talk(p, request("/refused"))),
    "no connection, a body": ("fe", lambda p: talk(p, request("/refused", "POST", b"Content-Length: 5\r\n", b"hello"))),
    "an answer that is cut": ("fe", lambda p: lib.recv_all(sent(p, request("/cut")))),
    "no answer": ("fe", lambda p: talk(p, request("/nothing", "POST", b"Content-Length: 5\r\n", b"hello"))),
    "no answer that can be read": ("fe", lambda p: talk(p, request("/garbage"))),
    "deny in the backend": ("fe", lambda p: talk(p, request("/inner/deny"))),
    "redirect in the backend": ("fe", lambda p: talk(p, request("/inner/redirect"))),
    "return in the backend": ("fe", lambda p: talk(p, request("/inner/return"))),
    "auth in the backend": ("fe", lambda p: talk(p, request("/inner/auth"))),
    "tarpit in the backend": ("fe", lambda p: talk(p, request("/inner/tarpit"))),
    "a rule that waits for the body": ("fe", lambda p: raw(
        p, request("/inner/wait", "POST", b"Content-Length: 5\r\n", b"he"), b"llo")),
    "a client that leaves within its body": ("fe", lambda p: left(
        p, request("/a", "POST", b"Content-Length: 50\r\n", b"hello"))),
    "a client that leaves within its head": ("fe", lambda p: left(p, b"GET /a HTTP/1.1\r\nHost:")),
    "no server, with a body": ("fe", lambda p: talk(p, request("/none", "POST", b"Content-Length: 5\r\n", b"hello"))),
    "a proxy alone": ("alone", lambda p: talk(p, request("/a"))),
    "return of a proxy alone": ("alone", lambda p: talk(p, request("/return"))),
    "the statistics page of a proxy alone": ("alone", lambda p: talk(p, request("/stats;csv"))),
    "of the backend only": ("plain", lambda p: talk(p, request("/a"))),
    "of a backend without servers": ("plain", lambda p: talk(p, request("/none"))),
    "two of a frontend": ("two", lambda p: talk(p, request("/a"))),
    "TCP": ("tcp", lambda p: raw(p, request("/a"))),
    "TCP that is looked at": ("inspect", lambda p: raw(p, b"GE", request("/a")[2:])),
    "TCP that becomes HTTP": ("upgrade", lambda p: talk(p, request("/a"))),
}


def left(port, data):
    s = sent(port, data)
    time.sleep(0.1)
    s.close()


def sent(port, data):
    s = lib.connect(port)
    s.sendall(data)
    return s


# --- lines of a trace as words

LINE = re.compile(r"^\d+\.\d{6} \[(\w+)/\w+ *\] \[strm 0x[0-9a-f]+\([0-9a-f]+\) 0x[0-9a-f]{8} 0x[0-9a-f]{8}\] "
                  r"trace_(\w+) *(?:: (.*))?$")
SHORT = {"chn_start_analyze": "begin", "chn_end_analyze": "finish", "stream_set_backend": "backend",
         "http_headers": "head", "http_end": "end", "http_reset": "reset"}


def word(callback, rest):
    """One callback, without what it tells of numbers: "begin:q", "<HTTP_INNER", "backend=be"."""
    side = {"REQUEST": ":q", "RESPONSE": ":s"}.get((re.findall(r"channel=(\w+)", rest) or [""])[0], "")
    point = re.search(r"analyzer=AN_RE[QS]_(\S+) - step=(\w+)", rest)
    if point:
        return ("<" if point.group(2) == "PRE" else ">") + point.group(1) + side
    name = SHORT.get(callback, callback)
    return name + ("=" + rest.split("=")[1] if callback == "stream_set_backend" else side)


def words(text):
    """(callbacks in their order, {"F.http:q": bytes passed}) of a trace."""
    out, passed = [], {}
    for line in text.splitlines():
        m = LINE.match(line)
        if not m or m.group(2) == "check_timeouts":
            continue
        name, callback, rest = m.group(1), m.group(2), m.group(3) or ""
        if callback.endswith("_payload"):
            key = "%s.%s:%s" % (name, callback[:-8], "q" if "REQUEST" in rest else "s")
            passed[key] = passed.get(key, 0) + int(re.search(r"forward=(\d+)", rest).group(1))
        else:
            out.append("%s.%s" % (name, word(callback, rest)))
    return out, passed


def folded(callbacks):
    """Callbacks that two filters get one after the other, in one word; what is before and behind a step too."""
    out = []
    for c in callbacks:
        name, what = c.split(".", 1)
        if out and out[-1].split(".", 1)[1] == what and out[-1].split(".")[0] != name:
            out[-1] = out[-1].split(".")[0] + c
        else:
            out.append(c)
    for i in range(len(out) - 1, 0, -1):
        if ".<" in out[i - 1] and out[i] == out[i - 1].replace(".<", ".>"):
            out[i - 1:i + 1] = [out[i - 1].replace(".<", ".")]
    return out


class Watched(lib.Proxy):
    """Knows which lines were printed since it was asked last."""
    at = 0

    def trace(self):
        """Once all streams have ended."""
        end = time.monotonic() + lib.PATIENCE
        text = ""
        while time.monotonic() < end:
            time.sleep(0.05)
            new = self.output()[self.at:]
            if new == text and new.count("trace_attach") == new.count("trace_detach"):
                break
            text = new
        self.at += len(text)
        return text


def start(args):
    origin = Origin()
    where = dict(zip(NAMES, lib.ports(len(NAMES))))
    proxy = Watched(args.program, CONF.format(server=origin.port, closed=lib.ports(1)[0], **where))
    return origin, proxy, where


def observe(proxy, where, name):
    """Pages of statistics are not of one size; of such a long answer the request may end before it."""
    listener, client = CASES[name]
    proxy.trace()
    client(where[listener])
    callbacks, passed = words(proxy.trace())
    if "statistics" in name:
        callbacks, passed = [c for c in callbacks if "finish" not in c], {}
    return callbacks, {k: passed[k] for k in sorted(passed) if passed[k]}


def test_traces(tap, args):
    origin, proxy, where = start(args)
    try:
        for name in CASES:
            callbacks, passed = observe(proxy, where, name)
            want, want_passed = table.TRACES[name]
            tap.ok(folded(callbacks) == want.split(), name + ": callbacks and their order",
                   "got  %s\nwant %s" % (" ".join(folded(callbacks)), " ".join(want.split())))
            tap.eq(passed, want_passed, name + ": bytes passed")
    finally:
        proxy.stop()
        origin.close()


def test_lines(tap, args):
    """The lines themselves."""
    origin = Origin()
    port, quiet = lib.ports(2)
    conf = ("\tnbthread 1\ndefaults\n\tmode http\n\ttimeout connect 5s\n\ttimeout client 5s\n\ttimeout server 5s\n"
            "listen li\n\tbind 127.0.0.1:%d\n\tfilter trace hexdump\n\tserver s 127.0.0.1:%d\n"
            "listen mute\n\tbind 127.0.0.1:%d\n\tfilter trace name MUTE quiet hexdump\n\tserver s 127.0.0.1:%d\n")
    proxy = Watched(args.program, conf % (port, origin.port, quiet, origin.port))
    try:
        begin = proxy.trace()
        tap.ok(re.search(r"^\d+\.\d{6} \[TRACE/li            \] filter initialized \[quiet=false - fwd random=false - "
                         r"hexdump=true - max fwd=0\]$", begin, re.M), "a filter says how it was configured", begin)
        tap.ok(re.search(r"\] filter initialized for thread tid 0$", begin, re.M), "and in each thread", begin)
        body = bytes(range(60, 84))
        talk(port, request("/x", "POST", b"Content-Length: %d\r\n" % len(body), body))
        text = proxy.trace()
        for line in ["trace_attach             : filter-type=frontend", "trace_stream_start       ",
                     "trace_chn_analyze        : channel=REQUEST    - mode=HTTP  (frontend) - "
                     "analyzer=AN_REQ_WAIT_HTTP - step=PRE",
                     "trace_stream_set_backend : backend=li",
                     "trace_http_headers       : channel=REQUEST    - mode=HTTP  (backend)\tPOST /x HTTP/1.1",
                     "\thost: a", "\tcontent-length: 24",
                     "trace_http_payload       : channel=REQUEST    - mode=HTTP  (backend) - offset=56 - len=24 - "
                     "forward=24",
                     "trace_http_headers       : channel=RESPONSE   - mode=HTTP  (backend)\tHTTP/1.1 200 OK",
                     "trace_http_payload       : channel=RESPONSE   - mode=HTTP  (backend) - offset=49 - len=5 - "
                     "forward=5"]:
            tap.ok(re.search(r"\] %s$" % re.escape(line), text, re.M), "a line: " + line.strip(), text)
        dump = ("\t0x000000: 3c 3d 3e 3f 40 41 42 43   44 45 46 47 48 49 4a 4b   |<=>?@ABCDEFGHIJK|\n"
                "\t0x000010: 4c 4d 4e 4f 50 51 52 53                             |LMNOPQRS|\n")
        tap.ok(dump in text, "a dump", text)
        talk(quiet, request("/x"))
        tap.ok("MUTE" not in proxy.trace(), "quiet: nothing")
    finally:
        proxy.stop()
        origin.close()


def test_random(tap, args):
    """Bodies cut at random, by two filters, in HTTP both ways and in TCP."""
    big = bytes(i * i % 251 for i in range(300000))
    got = {}

    def serve(sock):
        reader = lib.Reader(sock)
        head = reader.head()
        got["body"] = reader.body(head[1])
        sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(big) + big)

    server = lib.Server(serve)
    http, tcp = lib.ports(2)
    conf = ("\tnbthread 1\ndefaults\n\ttimeout connect 5s\n\ttimeout client 5s\n\ttimeout server 5s\n"
            "listen h\n\tmode http\n\tbind 127.0.0.1:%d\n\tfilter trace name R random-forwarding\n"
            "\tfilter trace name M random-forwarding max-fwd 5000\n\tserver s 127.0.0.1:%d\n"
            "listen t\n\tmode tcp\n\tbind 127.0.0.1:%d\n\tfilter trace quiet random-forwarding\n\tserver s 127.0.0.1:%d\n")
    proxy = Watched(args.program, conf % (http, server.port, tcp, server.port))
    try:
        for name, port in (("http", http), ("tcp", tcp)):
            for fields, body in ((b"Content-Length: %d\r\n" % len(big), big),
                                 (CHUNKED, b"%x\r\n" % len(big) + big + b"\r\n0\r\n\r\n")):
                answer = talk(port, request("/", "POST", fields, body))[0]
                tap.ok(got["body"] == big, name + ": a request arrives whole")
                tap.ok(answer[2] == big, name + ": its answer too")
        text = proxy.trace()
        passed = [int(n) for n in re.findall(r"\[M/h.*_payload.*forward=(\d+)", text)]
        tap.ok(passed and max(passed) <= 5000, "max-fwd bounds what passes at a time", passed)
        tap.ok(len(set(passed)) > 20, "and chance decides")
        tap.eq(words(text)[1]["R.http:s"], 2 * len(big), "all of the answers is seen by one filter")
        tap.eq(words(text)[1]["M.http:s"], 2 * len(big), "and by the other")
    finally:
        proxy.stop()
        server.close()


def learn(args):
    origin, proxy, where = start(args)
    for name in CASES:
        callbacks, passed = observe(proxy, where, name)
        text = "\n".join(textwrap.wrap(" ".join(folded(callbacks)), 112, initial_indent="        ",
                                       subsequent_indent="        ", break_on_hyphens=False, break_long_words=False))
        print('    "%s": ("""\n%s\n    """, %s),' % (name, text, repr(passed).replace("'", '"')))
    proxy.stop()
    origin.close()


def main():
    args = lib.arguments(__doc__, ("learn", False, "print what the program does"))
    if args.learn:
        return learn(args)
    tap = lib.Tap()
    tap.run([test_traces, test_lines, test_random], args)
    tap.done()


lib.guarded(main)
