#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Random mixes of options of frontends and backends, of this program and the reference: clients that keep connections, send
several requests at once or leave early ask servers that answer in every legal way and some others. Both give the same bytes,
send servers the same, log the same and count the same. Without a reference there is nothing to compare with, and the test is skipped.

    option_mixes.py --seed 7 --cases 120 --list      other ones, more of them, all differences in full
    option_mixes.py --seed 7 --only 33               one of them, with its configuration
"""
# differs: http-1.0-chunked-answer
# differs: http-interim-1.0
# differs: eresp-once
# differs: log-rejected-content
# differs: log-status-tcp
# differs: unique-id-bad-requests
import os
import re
import socket
import threading
import zlib

import lib
from wire import h2

BATCH = 12     # frontends of a configuration
TRIES = 6      # connections to each of them

# What a frontend, a backend or both may have; one of each line at most. {n} is the number of the case.
EITHER = (
    ("option httpclose", "option http-server-close", "option http-keep-alive", "no option http-keep-alive"),
    ("option forwardfor", "option forwardfor except 127.0.0.0/8", "option forwardfor header X-Client if-none", "option forwarded", "option forwarded proto host by for"),
    ("option originalto", "option originalto header X-Dst"),
    ("option http-buffer-request",), ("option http-no-delay",), ("option abortonclose", "no option abortonclose"),
    ("filter compression\n\tcompression algo gzip", "filter compression\n\tcompression algo deflate\n\tcompression type text/html text/plain", "filter compression\n\tcompression algo identity",
     "filter compression\n\tcompression algo raw-deflate gzip\n\tcompression minsize-res 64", "filter compression\n\tcompression algo gzip\n\tcompression offload"),
    ("http-request set-header X-Rule \"%[method] %[path]\"", "http-request add-header X-Twice 1\n\thttp-request add-header X-Twice 2", "http-request del-header x- -m beg"),
    ("http-response set-header X-Ans \"%[status]\"", "http-response del-header server", "http-response replace-header Set-Cookie (.*) \"\\1; SameSite=Lax\"",
     "filter cache c\n\thttp-response cache-store c", "http-after-response set-header X-After \"%[status]\""),
    ("filter cache c\n\thttp-request cache-use c\n\thttp-response cache-store c",),
    ("errorfile 503 /dev/null", "errorloc302 503 /sorry", "errorloc303 502 http://sorry/", "http-error status 503 content-type text/plain string none\n\thttp-error status 502 content-type text/plain lf-string \"%[src]\" hdr X-E 1"),
    ("errorfiles pages", "errorfiles pages 503 404", "http-request deny deny_status 404 errorfiles pages if { path /deny }", "http-request return status 503 errorfiles pages if { path /deny }",
     "http-response return status 404 errorfiles pages if { status 500 }"),
    ("http-request deny if { path /deny }", "http-request deny deny_status 429 if { path /deny }", "http-request redirect prefix /r if { path /deny }", "http-request return status 200 content-type text/plain string hi if { path /deny }",
     "http-request tarpit deny_status 503 if { path /deny }", "http-request auth realm x if { path /deny }", "http-request reject if { path /deny }"),
    ("http-response deny if { status 500 }", "http-response deny deny_status 504 if { res.hdr(x-kind) -m found }", "http-response return status 203 content-type text/plain string s if { status 500 }",
     "http-response redirect location /later if { status 500 }"),
    ("http-request wait-for-body time 2s", "http-request wait-for-body time 2s at-least 10", "http-response wait-for-body time 2s"),
    ("timeout http-keep-alive 3s",), ("timeout http-request 3s",),
    ("option tcpka",),
    ("stick-table type string len 32 size 100 store http_req_cnt,http_err_cnt,http_fail_cnt,bytes_in_cnt\n\thttp-request track-sc0 path",),
    ("filter bwlim-out o limit 10m key src table lim", "filter trace name t quiet"),
    ("http-request set-method PUT if { method POST }", "http-request set-uri /cl?%[path] if { path /204 }", "http-request replace-path /a(.*) /cl\\1"),
    ("http-request early-hint link <%[path]>",), ("http-request set-var(txn.v) path\n\thttp-response set-header X-V %[var(txn.v)]",),
    ("http-request normalize-uri path-merge-slashes\n\thttp-request normalize-uri path-strip-dotdot",),
)
FRONT = (
    ("option contstats",), ("option socket-stats",), ("option clitcpka",), ("option http-drop-response-trailers",), ("option logasap",), ("option dontlognull",), ("option dontlog-normal",), ("option log-separate-errors",), ("option http-ignore-probes",),
    ("option http-restrict-req-hdr-names delete", "option http-restrict-req-hdr-names reject", "option http-restrict-req-hdr-names preserve"),
    ("unique-id-format c{n}-%ci\n\tunique-id-header X-Unique", "unique-id-format %[req.hdr(host)]"),
    ("capture request header X-A len 10\n\tcapture response header X-Kind len 3", "capture cookie S len 12", "capture request header Host len 40\n\tcapture request header Cookie len 20"),
    ("option accept-unsafe-violations-in-http-request",), ("backlog 10",), ("monitor-uri /deny",), ("option h1-case-adjust-bogus-client",), ("option idle-close-on-response",), ("option disable-h2-upgrade",),
    ("tcp-request inspect-delay 2s\n\ttcp-request content accept if HTTP", "tcp-request connection track-sc1 src table lim", "tcp-request inspect-delay 1s\n\ttcp-request content accept if { req.len gt 0 }"),
    ("monitor-uri /deny\n\tmonitor fail if { path /deny }", "monitor-uri /cl\n\tmonitor fail if { nbsrv(be{n}) lt 2 }", "monitor-uri /cl\n\tmonitor fail if { always_false }"),
    ("rate-limit sessions 1000",), ("declare capture request len 8\n\thttp-request capture path id 0",),
)
BACK = (
    ("balance roundrobin", "balance static-rr", "balance first", "balance source", "balance uri", "balance uri whole", "balance uri depth 1", "balance url_param id", "balance url_param id check_post", "balance hdr(X-A)",
     "balance hdr(host) use_domain_only", "balance hash path", "balance leastconn", "balance log-hash lower"),
    ("hash-type consistent", "hash-type map-based djb2 avalanche", "hash-type consistent crc32", "hash-type map-based sdbm\n\thash-balance-factor 150"),
    ("cookie S insert", "cookie S insert indirect nocache", "cookie S rewrite", "cookie S prefix", "cookie S insert postonly httponly secure", "cookie S insert preserve", "cookie S insert domain .example.org attr SameSite=Strict", "cookie S"),
    ("http-reuse never", "http-reuse safe", "http-reuse aggressive", "http-reuse always"),
    ("option redispatch", "option redispatch 1", "retries 0", "retries 2\n\toption redispatch"), ("retry-on all-retryable-errors", "retry-on empty-response", "retry-on 500 503", "retry-on none", "retry-on junk-response conn-failure", "retry-on 0rtt-rejected response-timeout"),
    ("option prefer-last-server",), ("option srvtcpka",), ("option http-drop-request-trailers",), ("option allbackups",), ("option checkcache",), ("option nolinger",), ("option accept-unsafe-violations-in-http-response",), ("option h1-case-adjust-bogus-server",),
    ("stick-table type string len 20 size 100\n\tstick on path", "stick-table type string len 20 size 100\n\tstick store-response res.cook(S)\n\tstick match req.cook(S)", "stick-table type ip size 100\n\tstick on src"),
    ("fullconn 10",), ("option http-proxy",), ("http-send-name-header X-Server",), ("use-server s1 if { path /ch }",), ("server-template",), ("force-persist if { path /ch }", "ignore-persist if { path /ch }"),
    ("http-request disable-l7-retry if { method POST }",), ("option transparent",), ("load-server-state-from-file none",), ("http-request set-dst-port int(1)",),
)
SERVER = ("", "", "", " weight 5", " cookie {c}", " cookie {c}", " cookie {c}", " backup", " weight 0 cookie {c}", " disabled", " maxconn 40", " pool-max-conn 0", " max-reuse 2", " set-proxy-v2-tlv-fmt(0xE1) x",
          " pool-low-conn 2", " ws h1", " pool-purge-delay 1s", " tcp-ut 10s", " no-backup")
PATHS = ("/cl", "/cl", "/cl", "/ch", "/ch", "/close", "/204", "/304", "/big", "/cookie", "/500", "/503", "/cache", "/cache", "/vary", "/html", "/early", "/100", "/103", "/trailers", "/bad", "/part", "/10", "/10ka", "/up",
         "/badcl", "/twocl", "/deny", "/deny", "/a/b", "/nocl204", "/head", "/x//y/../cl?id=3", "/emptych", "/hdrs", "/lf", "/none", "/unk")
H2_HELLO = "HTTP/2"
NOT_H2 = ("/up", "/early", "/part", "/bad", "/rst") # differs on purpose, or the end of a stream may come before or behind the answer
NO_H2_FIELDS = ("connection", "upgrade", "transfer-encoding", "proxy-connection", "keep-alive", "te", "expect")
HOSTS = ("h.example.org", "www.site.com:80", "A")
FIELDS = ("X-A: 1", "X-A: two, three", "Cookie: S=s1", "Cookie: a=1; S=s2; b=2", "Cookie: S=nowhere", "Accept-Encoding: gzip", "Accept-Encoding: deflate;q=0.5, gzip;q=0", "Accept-Encoding: br", "Cache-Control: no-cache",
          "If-None-Match: \"e1\"", "Range: bytes=0-3", "X-Forwarded-For: 9.9.9.9", "Forwarded: for=1", "x_under: 1", "User-Agent: t/1", "Connection: close", "Connection: keep-alive", "Connection: X-A", "Authorization: Basic YTpi", "X-Client: a",
          "TE: trailers", "Transfer-Encoding: identity", "Upgrade: foo", "Proxy-Connection: keep-alive", "Keep-Alive: 300", "Max-Forwards: 0", "Via: 1.1 x", "Content-Type: application/x-www-form-urlencoded", "If-Modified-Since: Thu, 01 Jan 1970 00:00:00 GMT",
          "Origin: http://o", "Sec-Fetch-Mode: cors", "Expect: 100-continue", "Expect: foo")


def text(lines):
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


class Origin(lib.Server):
    """Answers by the path. What it was asked is kept, and is the body of most of its answers."""

    def __init__(self, port):
        self.seen, self.lock = [], threading.Lock()
        super().__init__(self.serve, port)

    def serve(self, sock):
        reader = lib.Reader(sock)
        for method, target, fields in reader.requests():
            names = dict(fields)
            path = re.sub(r"\?.*", "", target).rsplit("/", 1)[-1]
            if path == "early":
                sock.sendall(text(["HTTP/1.1 413 Too large", "content-length: 0", "connection: close"]))
                sock.shutdown(socket.SHUT_WR)
                reader.gather() # a reset would come before the answer, or behind it
                return
            # (no interim answer amid nonsense: whether it is passed on is chance)
            if path == "100" or ("100-continue" in names.get("expect", "") and method in ("POST", "PUT") and path != "bad"):
                sock.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
            body = reader.body(fields)
            # no connection of a server, no bodies of the length of ports
            got = re.sub(rb"(?i)(\r\nforwarded[^\r]*:)\d+", rb"\1", reader.raw)
            got = re.sub(rb"(\r\nx-server: \w+)(.*)", rb"\2\1", got, flags=re.S) # it may come before or behind Connection
            said = got + b"\n" + body[:100]
            with self.lock:
                self.seen.append(said)
            if not self.answer(sock, method, path, said, names):
                return

    @staticmethod
    def answer(sock, method, path, said, names):
        ok, is_head = "HTTP/1.1 200 OK", method == "HEAD"

        def send(first, fields, body=b""):
            sock.sendall(text([first] + fields) + (b"" if is_head else body))
            return True
        length = "Content-Length: %d" % len(said)
        chunks = b"%x\r\n%s\r\n%x;x=y\r\n%s\r\n0\r\n" % (5, said[:5], len(said) - 5, said[5:])
        plain = {
            "ch": lambda: send(ok, ["Transfer-Encoding: chunked", "Content-Type: text/plain"], chunks + b"\r\n"),
            "trailers": lambda: send(ok, ["Transfer-Encoding: chunked", "Trailer: X-T"], chunks + b"X-T: 1\r\n\r\n"),
            "emptych": lambda: send(ok, ["Transfer-Encoding: chunked"], b"0\r\n\r\n"),
            "204": lambda: sock.sendall(text(["HTTP/1.1 204 No Content", "X-Kind: none"])) or True,
            "nocl204": lambda: sock.sendall(text(["HTTP/1.1 204", "Content-Length: 0"])) or True,
            "304": lambda: sock.sendall(text(["HTTP/1.1 304 Not Modified", "ETag: \"e1\"", "Content-Length: 10"])) or True,
            "big": lambda: send(ok, ["Content-Length: 40000", "Content-Type: text/html"], b"0123456789" * 4000),
            "cookie": lambda: send(ok, ["Set-Cookie: S=s1; path=/", "Set-Cookie: other=2", "Cache-control: private", length], said),
            "500": lambda: send("HTTP/1.1 500 Oops", [length, "x-kind: e"], said), "503": lambda: send("HTTP/1.1 503 Busy", ["content-length: 2"], b"no"),
            "cache": lambda: send(ok, ["Cache-Control: max-age=60", "ETag: \"e1\"", "Content-Length: 6"], b"stored"),
            "vary": lambda: send(ok, ["Cache-Control: s-maxage=60", "Vary: Accept-Encoding", "Content-Length: 4"], b"vary"),
            "html": lambda: send(ok, ["Content-Type: text/html; charset=x", "Content-Length: 3000"], b"<p>hello " * 333 + b"end"),
            "103": lambda: sock.sendall(text(["HTTP/1.1 103 Early Hints", "Link: </x>"])) or send(ok, [length], said),
            "10ka": lambda: send("HTTP/1.0 200 OK", ["Connection: keep-alive", length], said),
            "badcl": lambda: send(ok, ["Content-Length: x1"], b"a"), "twocl": lambda: send(ok, ["Content-Length: 3", "Content-Length: 3"], b"abc"),
            "bad": lambda: sock.sendall(b"HELLO\r\n\r\n") or True, "hdrs": lambda: send(ok, ["X-Kind: a", "x-kind: b", "X_under: c", "Server: s", "Date: now", length], said),
            "lf": lambda: sock.sendall(b"HTTP/1.1 200 OK\nContent-Length: 2\n\n" + (b"" if is_head else b"lf")) or True,
            "unk": lambda: send("HTTP/1.1 299 What ever", ["Content-Length: 1"], b"u"), "head": lambda: send(ok, ["Content-Length: 1", "Allow: GET"], b"h"),
        }
        if path in plain:
            return plain[path]()
        if path == "close":
            return send(ok, ["Connection: close", "Content-Type: text/plain"], said) and False
        if path == "10":
            return send("HTTP/1.0 200 OK", [], said) and is_head
        if path == "part":
            return send(ok, ["Content-Length: 1000"], said[:50]) and is_head
        if path == "rst":
            return False
        if path == "none":
            return send(ok, [], said) and is_head
        if path == "up" and "upgrade" in names:
            sock.sendall(text(["HTTP/1.1 101 Go", "Connection: upgrade", "Upgrade: foo"]) + b"hello")
            return False
        return send(ok, [length], said)


class Maker:
    def __init__(self, rng):
        self.rng = rng

    def some(self, table, most):
        chosen = self.rng.sample(table, self.rng.randint(0, most))
        return [line for group in chosen for line in self.rng.choice(group).split("\n")]

    def case(self, at, port):
        """Lines of a frontend and its backend."""
        fe = ["frontend fe%d" % at, "bind 127.0.0.1:%d" % port, "default_backend be%d" % at] + self.some(EITHER, 4) + self.some(FRONT, 3)
        be = ["backend be%d" % at] + ([] if self.rng.random() < 0.2 else [self.rng.choice(BACK[0])])
        be += self.some(EITHER, 3) + self.some(BACK[1:], 4)
        if not any(l.startswith("balance") for l in be):
            be.append("balance roundrobin")
        # which of several is the least used is chance with the reference
        servers = 1 if "balance leastconn" in be else self.rng.randint(1, 3)
        is_tcp = self.rng.random() < 0.08 # what is for HTTP only is refused, or has no effect
        for i in range(1 if is_tcp else servers):
            where = "127.0.0.1:1" if self.rng.random() < 0.05 else "127.0.0.1:@S%d" % i
            be.append("server s%d %s%s" % (i + 1, where, self.rng.choice(SERVER).replace("{c}", "s%d" % (i + 1))))
        if is_tcp:
            fe.insert(1, "mode tcp")
            be.insert(1, "mode tcp")
        return ["\t" * (not l.startswith(("frontend", "backend"))) + l.strip().replace("{n}", str(at)) for l in fe + be if l != "server-template"]

    def request(self):
        """(method, version, head, body)"""
        pick = self.rng.choice
        method = pick(("GET",) * 6 + ("HEAD", "POST", "POST", "POST", "PUT", "OPTIONS", "DELETE", "TRACE", "FOO"))
        version = pick(("1.1",) * 8 + ("1.0",))
        path = pick(PATHS)
        target = pick((path,) * 8 + ("http://abs.example.com" + path, path + "?id=%d" % self.rng.randint(1, 9), path + "?a=b#f", "*" if method == "OPTIONS" else path))
        lines = ["%s %s HTTP/%s" % (method, target, version)]
        if version == "1.1" or self.rng.random() < 0.5:
            lines.append("Host: " + ("abs.example.com" if target.startswith("http:") else pick(HOSTS)))
        lines += self.rng.sample(FIELDS, pick((0, 0, 1, 2, 3)))
        body = b""
        if method in ("POST", "PUT"):
            body = pick((b"", b"id=7&x=1", b"z" * 2000, b"z" * 20000))
            if self.rng.random() < 0.3 and version == "1.1":
                body = b"".join(b"%x\r\n%s\r\n" % (len(p), p) for p in (body[:7], body[7:]) if p) + pick((b"0\r\n\r\n", b"0\r\nX-Tr: 1\r\n\r\n"))
                lines.append("Transfer-Encoding: chunked")
            else:
                lines.append("Content-Length: %d" % len(body))
        return method, version, text(lines), body

    def h2_request(self):
        """(fields, body) of HTTP/2."""
        pick = self.rng.choice
        method, path, body = pick(("GET",) * 5 + ("HEAD", "POST", "PUT", "OPTIONS", "DELETE", "FOO")), pick([p for p in PATHS if p not in NOT_H2]), b""
        more = [(n.lower(), v) for n, v in (f.split(": ", 1) for f in self.rng.sample(FIELDS, pick((0, 0, 1, 2)))) if n.lower() not in NO_H2_FIELDS]
        if method in ("POST", "PUT"):
            body = pick((b"", b"id=7&x=1", b"z" * 2000))
            more += [("content-length", str(len(body)))] if self.rng.random() < 0.5 else []
        return h2.request(path + pick(("", "", "?id=3")), method, pick(HOSTS), more=more), body

    def talk(self):
        """What a client sends on one connection: [(methods, bytes)], each after the answers to the one before."""
        if self.rng.random() < 0.06:
            return [(("GET",), self.rng.choice((b"", b"\r\nGET /cl HTTP/1.1\r\nHost: a\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n", b"BAD\r\n\r\n", b"GET  /cl HTTP/1.1\r\nHost: a\r\n\r\n", b"GET /\x00 HTTP/1.1\r\nHost: a\r\n\r\n",
                                                b"GET /cl HTTP/1.1\r\nHost : a\r\n\r\n", b"GET /cl HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", b"\x16\x03\x01\x00\x05abcde")))]
        if self.rng.random() < 0.15:
            return [H2_HELLO] + [self.h2_request() for _ in range(self.rng.randint(1, 3))]
        steps = []
        for _ in range(self.rng.choice((1, 1, 2, 3))):
            several = [self.request() for _ in range(self.rng.choice((1, 1, 1, 2)))]
            old = [v for _, v, _, _ in several].index("1.0") + 1 if any(v == "1.0" for _, v, _, _ in several) else 0
            several = several[:old or None]
            steps.append(([m for m, _, _, _ in several], b"".join(h + b for _, _, h, b in several)))
            if old: # whether the connection is kept behind it depends on what is different on purpose
                break
        return steps


def ask_h2(port, requests):
    """One after the other on a connection: what came of each."""
    found = []
    with lib.connect(port) as sock:
        client = h2.Client(sock, timeout=5)
        for n, (fields, body) in enumerate(requests):
            stream = 2 * n + 1
            client.send(h2.headers(stream, fields, end=not body) + (h2.data(stream, body, end=True) if body else b""))
            status, got, data, how = client.answer(stream)
            found += ["%s %s" % (status, how), ("\r\n".join("%s: %s" % f for f in got)).encode("latin-1"), data]
            if how != "end":
                break
    return found


def ask(port, steps):
    """All that came, with a mark where it ended."""
    if steps[0] is H2_HELLO:
        try:
            return ask_h2(port, steps[1:])
        except OSError:
            return ["(refused)"]
    try:
        sock = lib.connect(port)
    except OSError:
        return ["(refused)"]
    found = []
    with sock:
        reader = lib.Reader(sock)
        try:
            sock.settimeout(5)
            for methods, data in steps:
                if not data:
                    break
                try:
                    sock.sendall(data)
                except ConnectionError:
                    pass # what came is still to be read
                for method in methods:
                    while True:
                        head = reader.head()
                        if not head:
                            return found + ["(end)", reader.buf]
                        status = int((head[0].split(" ") + ["0"])[1])
                        found.append(reader.raw)
                        if status >= 200 or status == 101:
                            break
                    if status == 101:
                        while reader.fill():
                            pass
                        return found + [reader.buf]
                    if method != "HEAD" and status not in (204, 304):
                        names = dict(head[1])
                        try:
                            found.append(reader.body(head[1], until_close="content-length" not in names))
                        except EOFError:
                            return found + ["(cut)", reader.buf]
        except (ValueError, IndexError):
            found.append("(not HTTP)")
        except socket.timeout:
            return found + ["(nothing)", reader.buf]
        try:
            sock.shutdown(socket.SHUT_WR)
            while reader.fill():
                pass
        except OSError:
            pass
        return found + [reader.buf]


HEAD = """	nbthread 1
defaults
	mode http
	timeout connect 200ms
	timeout client 3s
	timeout server 3s
	timeout tarpit 100ms
	retries 1
	log 127.0.0.1:@LOG format raw local0
	log-format "%ft %b/%s %ST %CC %CS %tsc %rc %hr %hs %{+Q}r %ID %HM %HV"
http-errors pages
	errorfile 404 @DIR/404
	errorfile 503 @DIR/503
	errorfile 502 /dev/null
cache c
	total-max-size 4
	max-age 60
backend lim
	stick-table type ip size 100 expire 1h store bytes_out_rate(1s),http_req_cnt
""".rstrip("\n").split("\n")
COUNTED = "stot dreq dresp ereq econ wretr wredis hrsp_1xx hrsp_2xx hrsp_3xx hrsp_4xx hrsp_5xx hrsp_other req_tot cli_abrt srv_abrt lbtot intercepted cache_lookups cache_hits dcon dses wrew eint conn_tot".split()


class Pair:
    def __init__(self, args, folder):
        self.programs, self.folder = (args.program, args.reference), folder
        for status in ("404", "503"):
            with open(os.path.join(folder, status), "w") as f:
                f.write("HTTP/1.1 %s Ours\r\nContent-Type: text/plain\r\nContent-Length: 7\r\nX-Page: 1\r\n\r\nno %s\n" % (status, status))

    def refused(self, program, lines, owner):
        """A table that is not there takes the lines that name it, another alert without a line takes its case."""
        return lib.lines_refused(program, os.path.join(self.folder, "c.cfg"), lines, lambda said: [
            int(n) - 1 for n in re.findall(r"c\.cfg:(\d+)\]: unable to find", said)] or [
            i for n in re.findall(r"\[ALERT\][^\n]*'(?:[fb]e|t)(\d+)'", said) for i in owner if owner[i] == int(n) % 1000])

    @staticmethod
    def run(program, conf, cases, origins):
        """{case: [what clients got, what servers got, lines of the log, counters]}"""
        result, log = {}, lib.Syslog()
        with lib.Proxy(program, conf.replace("@LOG", str(log.port))) as proxy:
            for at, port, talks in cases:
                for o in origins:
                    o.seen.clear()
                got = [ask(port, t) for t in talks]
                try:
                    stat = counters(proxy, at)
                except OSError as e:
                    raise RuntimeError("%s has crashed in case %d: %s" % (program, at, proxy.output()[-600:])) from e
                result[at] = [got, [s for o in origins for s in o.seen], [], stat]
        log.settle() # the process has ended
        for line in log.lines:
            at = re.match(r"fe(\d+) ", line)
            if at:
                result[int(at[1])][2].append(tidy_line(line))
        log.close()
        return result


def tidy_line(line):
    """A line of the log without identifiers of requests that no server was chosen for."""
    line = re.sub('"<BADREQ>" c\\d+-\\S*', '"<BADREQ>" -', line) # differs: unique-id-bad-requests
    line = re.sub('^(\\S+ \\S+) -1( .*"<BADREQ>" \\S+ <BADREQ> <BADREQ>)$', r"\1 0\2", line) # differs: log-status-tcp
    line = re.sub('^(\\S+ \\S+ 0 \\S+ \\S+ ..)NN( .*"<BADREQ>")', r"\1--\2", line)
    # who of two that close at once is seen first is chance with bytes
    line = re.sub('^(\\S+ \\S+ 0 \\S+ \\S+) (CC|CD|SD|cD)--', r"\1 ----", line)
    return re.sub(r'(<NOSRV> \d+ \S+ \S+ LR.. .*") \S+ (\S+ \S+)$', r"\1 - \2", line)


def counters(proxy, at):
    """Once nothing is open any more."""
    def look():
        rows = [l.split(",") for l in proxy.ctl("show stat").split("\n") if l]
        names = [n.lstrip("# ") for n in rows[0]]
        mine = [dict(zip(names, r)) for r in rows[1:] if r[0] in ("fe%d" % at, "be%d" % at)]
        return mine
    lib.until(lambda: all(r["scur"] in ("0", "") and r["qcur"] in ("0", "") for r in look()))
    return ["%s/%s %s" % (r["pxname"], r["svname"], " ".join("%s=%s" % (n, r[n]) for n in COUNTED if r.get(n) not in ("", "0", None) and not (r["mode"] == "tcp" and "abrt" in n))) for r in look()]


def tidy(answers, steps):
    """Without what is another's to say: times, interim answers of servers to clients of HTTP/1.0, how well a body is compressed."""
    result = []
    for a in answers:
        if not isinstance(a, bytes):
            result.append(a)
            continue
        coding = re.search(rb"content-encoding: (\w+)", result[-1]) if result and isinstance(result[-1], bytes) else None
        if coding and a:
            a = zlib.decompressobj({b"gzip": 31}.get(coding[1], 15 if a[:1] == b"\x78" else -15)).decompress(a)
        if steps[0] is not H2_HELLO and any(b" HTTP/1.0\r\n" in data for _, data in steps):
            if a.startswith(b"HTTP/1.1 1"):
                continue
            a = a.replace(b"\r\ntransfer-encoding: chunked", b"") # differs: http-1.0-chunked-answer
            if a.startswith(b"HTTP/1.") and b"content-length" not in a:
                a = re.sub(rb"\r\nconnection: [\w-]+", b"", a)
        result.append(re.sub(rb"(?im)^(date|age): [^\r]*(\r\n|$)", rb"", a) if steps[0] is H2_HELLO else re.sub(rb"(?i)\r\n(date|age): [^\r]*", rb"", a))
    return result


def batch(maker, pair, tap, args, first):
    *fronts, s0, s1, s2 = lib.ports(BATCH + 3)
    lines, cases, owner = [l.replace("@DIR", pair.folder) for l in HEAD], [], {}
    origins = [Origin(p) for p in (s0, s1, s2)]
    for i, port in enumerate(fronts):
        at = first + i
        made = maker.case(at, port)
        talks = [maker.talk() for _ in range(TRIES)]
        if args.only and at != args.only:
            continue
        owner.update((len(lines) + k, at) for k in range(len(made)))
        lines += [re.sub(r"@S(\d)", lambda m: str((s0, s1, s2)[int(m[1])]), l) for l in made]
        cases.append((at, port, talks))
    if not cases:
        for o in origins:
            o.close()
        return
    refused = [pair.refused(p, [l.replace("@LOG", "1") for l in lines], owner) for p in pair.programs]
    whole = [set(a for a in owner.values() if all(i in r for i in owner if owner[i] == a)) for r in refused]
    found = ["verdict of the whole case %d: only %s refuses it" % (a, "ours" if a in whole[0] else "the reference") for a in whole[0] ^ whole[1]]
    found += ["verdict: %s\n  %s refuses it" % (lines[i].strip(), "only ours" if i in refused[0] else "only the reference") for i in sorted(refused[0] ^ refused[1]) if owner.get(i) not in whole[0] | whole[1]]
    conf = "\n".join("" if i in refused[0] | refused[1] else l for i, l in enumerate(lines)) + "\n"
    if args.only:
        print(conf)
    cases = [c for c in cases if any(owner[i] == c[0] and i not in refused[0] | refused[1] for i in owner)]
    ours, theirs = (pair.run(p, conf, cases, origins) for p in pair.programs)
    for o in origins:
        o.close()
    for at, _, talks in cases:
        shown = "\n".join("    " + lines[i] for i in owner if owner[i] == at and i not in refused[0] | refused[1])
        mine, other = ours[at], theirs[at]
        for n, steps in enumerate(talks):
            if tidy(mine[0][n], steps) != tidy(other[0][n], steps):
                found.append("answer in case %d to %r\n  ours      %r\n  reference %r\n%s" % (at, steps if steps[0] is H2_HELLO else [d[:700] for _, d in steps], tidy(mine[0][n], steps), tidy(other[0][n], steps), shown))
        for what, i in (("servers", 1), ("log", 2), ("counters", 3)):
            if sorted(mine[i]) != sorted(other[i]):
                only = [x for x in mine[i] if x not in other[i]], [x for x in other[i] if x not in mine[i]]
                found.append("%s in case %d\n  ours      %s\n  reference %s\n%s" % (what, at, "\n            ".join(map(repr, only[0])), "\n            ".join(map(repr, only[1])), shown))
    tap.ok(not found, "cases from %d: %d lines, %d refused by both" % (first, len(owner), len(refused[0] & refused[1])), "\n".join(found[:4]))
    if args.list or args.only:
        print("\n".join(found))


def main():
    lib.compare_generated(__doc__, Maker, Pair, batch, BATCH, seed=2, first=1, what="options", more=[("only", 0, "this case alone")])


if __name__ == "__main__":
    lib.guarded(main)
