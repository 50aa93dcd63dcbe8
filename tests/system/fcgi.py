#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Servers of FastCGI (lib_fcgi.py): which parameters a request becomes, what becomes of answers that are right, wrong or cut,
connections that are kept, stderr, checks, wrong configurations, forged fields."""
# differs: fcgi-abort
# differs: fcgi-bodyless
# differs: fcgi-broken-records
# differs: fcgi-checks
# differs: fcgi-date
# differs: fcgi-early
# differs: fcgi-half-heads
# differs: fcgi-lengths
# differs: fcgi-nul
# differs: fcgi-params
# differs: fcgi-proxy-field
# differs: fcgi-status
# differs: fcgi-values
import os
import random
import re
import subprocess
import tempfile
import time

import lib
import lib_fcgi as fcgi

CONF = """
	nbthread 1
	log 127.0.0.1:{log} len 4096 local0
defaults
	mode http
	timeout connect 2s
	timeout client 10s
	timeout server {timeout}
frontend fe
	bind 127.0.0.1:{fe}
	log global
	option httplog
	default_backend be
backend be
	use-fcgi-app app
	{be}
	server s 127.0.0.1:{server} proto fcgi {server_more}
fcgi-app app
	docroot /srv
	{app}
"""
HEAD = b"Content-Type: t/p\r\n\r\n"
INDEX = "index i.php\n\tpath-info ^(/.+\\.php)(/.*)?$"

# path, app, backend, fields: all parameters that are not the same for every request
PARAMS = [
    ("/a.php?q=1&r", "", "", "", {"SCRIPT_NAME": "/a.php", "SCRIPT_FILENAME": "/srv/a.php", "QUERY_STRING": "q=1&r"}),
    ("/a?", "", "", "", {"SCRIPT_NAME": "/a", "SCRIPT_FILENAME": "/srv/a"}),
    ("/a%2eb%2f+//x", "", "", "", {"SCRIPT_NAME": "/a.b/+//x", "SCRIPT_FILENAME": "/srv/a.b/+//x"}),
    ("/", INDEX, "", "", {"SCRIPT_NAME": "/i.php", "SCRIPT_FILENAME": "/srv/i.php"}),
    ("/d%2f?x", INDEX, "", "", {"SCRIPT_NAME": "/d/i.php", "SCRIPT_FILENAME": "/srv/d/i.php", "QUERY_STRING": "x"}),
    ("/x.php/in%20fo", INDEX, "", "", {"SCRIPT_NAME": "/x.php", "SCRIPT_FILENAME": "/srv/x.php", "PATH_INFO": "/in fo",
                                       "PATH_TRANSLATED": "/srv/in fo"}),
    ("/q.php/y.php/z", INDEX, "", "", {"SCRIPT_NAME": "/q.php/y.php", "SCRIPT_FILENAME": "/srv/q.php/y.php",
                                       "PATH_INFO": "/z", "PATH_TRANSLATED": "/srv/z"}),
    ("/a/b", "index i.php\n\tpath-info ^(/a/)(.*)$", "", "", {
        "SCRIPT_NAME": "/a/i.php", "SCRIPT_FILENAME": "/srv/a/i.php", "PATH_INFO": "b", "PATH_TRANSLATED": "/srvb"}),
    ("/x.php/rest", "path-info ^(/.+\\.php)", "", "", {"SCRIPT_NAME": "/x.php", "SCRIPT_FILENAME": "/srv/x.php"}),
    ("/no", INDEX, "", "", {"SCRIPT_NAME": "/no", "SCRIPT_FILENAME": "/srv/no"}),
    ("/h", "", "", "X-A: 1\nX_A: 2\nA!b: 3\nProxy: e\nKeep-Alive: 1\nTE: z\nAuthorization: Basic dTpw\nProxy-Authorization: x\n"
     "Content-Type: t/p\nEmpty:\nTrailer: t\n", {
         "SCRIPT_NAME": "/h", "SCRIPT_FILENAME": "/srv/h", "HTTP_X_A": "1", "CONTENT_TYPE": "t/p", "HTTP_EMPTY": "",
         "HTTP_TRAILER": "t", "AUTH_TYPE": "Basic", "REMOTE_USER": "u"}),
    ("/h", "", "option http-restrict-req-hdr-names preserve", "X_A: 2\nA!b: 3\nProxy: e\nAuthorization: Bearer b\n", {
        "SCRIPT_NAME": "/h", "SCRIPT_FILENAME": "/srv/h", "HTTP_X_A": "2", "HTTP_A_B": "3", "AUTH_TYPE": "Bearer"}),
    ("/s?q", "set-param A 1\n\tset-param A 2\n\tset-param a-b %[path]\n\tset-param QUERY_STRING %[req.hdr(nope)]\n"
     "\tset-param SCRIPT_NAME /sn\n\tset-param PATH_INFO /pi\n\tacl no path /no\n\tset-param NO 1 if no\n"
     "\tpass-header Authorization", "", "Authorization: Basic dTpw\n", {
         "A": "2", "A_B": "/s", "QUERY_STRING": "q", "SCRIPT_NAME": "/sn", "PATH_INFO": "/pi",
         "SCRIPT_FILENAME": "/srv/sn", "PATH_TRANSLATED": "/srv/pi", "HTTP_AUTHORIZATION": "Basic dTpw",
         "AUTH_TYPE": "Basic", "REMOTE_USER": "u"}),
    ("/f", "", "option forwardfor", "", {"SCRIPT_NAME": "/f", "SCRIPT_FILENAME": "/srv/f",
                                         "HTTP_X_FORWARDED_FOR": "127.0.0.1"}),
]


CERT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../reg-tests/tls/certs/a.pem")


def out(content):
    return lambda n: fcgi.record(fcgi.STDOUT, n, content)


def ended(app=0, protocol=0):
    return lambda n: fcgi.end(n, app, protocol)


HELLO, STOP = out(HEAD + b"hello"), out(b"")
# what it is, what the application sends, status, body, how the log says that it ended
ANSWERS = [
    ("a plain answer", [HELLO, STOP, ended()], 200, b"hello", "----"),
    ("a status", [out(b"Status: 404 Nope\r\n" + HEAD), STOP, ended()], 404, b"", "----"),
    ("the last of two", [out(b"Status: 201\r\nStatus: 202\r\n" + HEAD), STOP, ended()], 202, b"", "----"),
    ("an empty status", [out(b"Status:\r\n" + HEAD), STOP, ended()], 200, b"", "----"),
    ("a place to go", [out(b"Location: /b\r\n\r\n"), STOP, ended()], 302, b"", "----"),
    ("a place with a status", [out(b"Status: 201 C\r\nLocation: /b\r\n\r\n"), STOP, ended()], 201, b"", "----"),
    ("no fields", [out(b"\r\nhello"), STOP, ended()], 200, b"hello", "----"),
    ("lines with LF alone", [out(b"Status: 403\nA: b\n\nhello"), STOP, ended()], 403, b"hello", "----"),
    ("its length", [out(b"Content-Length: 5\r\n\r\nhello"), STOP, ended()], 200, b"hello", "----"),
    ("more than its length", [out(b"Content-Length: 3\r\n\r\nhello"), STOP, ended()], 502, None, "PH--"),
    ("no length", [out(b"Content-Length: x\r\n\r\nhello"), STOP, ended()], 502, None, "PH--"),
    ("two lengths", [out(b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello"), STOP, ended()], 502, None, "PH--"),
    ("a status line", [out(b"HTTP/1.1 403 No\r\n\r\n"), STOP, ended()], 502, None, "PH--"),
    ("its length, and no end", [out(b"Content-Length: 5\r\n\r\nhello"), None], 200, b"hello", "----"),
    ("names that are none", [out(b"A b: c\r\n d\r\nA@: b\r\nContent-Length: 5\r\nA : b\r\n\r\nhello"), STOP, ended()], 200, b"hello", "----"),
    ("a blank in front", [out(b" A: b\r\nContent-Length: 5\r\n\r\nhello"), STOP, ended()], 200, b"hello", "----"),
    ("no colon", [out(b"abc\r\n\r\n"), STOP, ended()], 502, None, "PH--"),
    ("nothing", [STOP, ended()], 502, None, "SH--"),
    ("refused: no multiplexing", [ended(0, 1)], 502, None, "SH--"),
    ("refused: overloaded", [ended(0, 2)], 502, None, "SH--"),
    ("refused: unknown role", [ended(0, 3)], 502, None, "SH--"),
    ("a status of the application", [HELLO, STOP, ended(1)], 200, b"hello", "----"),
    ("no end of stdout", [HELLO, ended()], 200, b"hello", "----"),
    ("no end of the request", [HELLO, STOP, None], 200, b"hello", "----"),
    ("closed at once", [None], 502, None, "SH--"),
    ("closed in a record's head", [lambda n: b"\1\6\0", None], 502, None, "SH--"),
    ("stdout of the connection", [lambda n: fcgi.record(fcgi.STDOUT, 0, b"evil"), HELLO, STOP, ended()], 502, None, "SH--"),
    ("another version", [lambda n: b"\2\6\0\1\0\0\0\0", HELLO, STOP, ended()], 502, None, "SH--"),
    ("an unknown request", [lambda n: fcgi.record(fcgi.STDOUT, 9, b"evil"), HELLO, STOP, ended()], 200, b"hello", "----"),
    ("a type that is none", [lambda n: fcgi.record(77, n, b"abc"), HELLO, STOP, ended()], 200, b"hello", "----"),
    ("padding", [lambda n: fcgi.record(fcgi.STDOUT, n, HEAD + b"hel", 7), lambda n: fcgi.record(fcgi.STDOUT, n, b"lo", 255),
                 STOP, ended()], 200, b"hello", "----"),
]
SECTION = "fcgi-app app\n\tdocroot /x\n"
BACKEND = "backend be\n\tmode http\n\ttimeout connect 1s\n\ttimeout server 1s\n"
SERVER = "\tserver s 127.0.0.1:1 proto fcgi\n"
ERRORS = [
    (BACKEND + "\tuse-fcgi-app app\n" + SERVER + "fcgi-app app\n\tindex x\n", r"fcgi-app 'app'.*no docroot"),
    (BACKEND + "\tuse-fcgi-app nope\n" + SERVER, r"fcgi-app 'nope' not found"),
    (BACKEND + "\tuse-fcgi-app app\n\tserver s 127.0.0.1:1\n" + SECTION, r"no FCGI server found"),
    (BACKEND + SERVER + SECTION, r"has no FCGI app configured"),
    (BACKEND + "\tuse-fcgi-app app\n\tfilter trace\n" + SERVER + SECTION, r"explicit filter declaration"),
    (BACKEND + "\tuse-fcgi-app app\n\tuse-fcgi-app app2\n" + SERVER + SECTION, r"only one fcgi-app"),
    ("frontend fe\n\tmode http\n\tuse-fcgi-app app\n" + SECTION, r"only available in backend or listen"),
    (BACKEND.replace("http", "tcp") + "\tuse-fcgi-app app\n\tserver s 127.0.0.1:1\n" + SECTION, r"in non-HTTP mode"),
    ("frontend fe\n\tmode http\n\tbind :1 proto fcgi\n", r"not usable for 'bind :1'"),
    (SECTION + SECTION, r"same name"), ("fcgi-app\n", r"expects <name>"),
] + [(SECTION + "\t" + line + "\n", error) for line, error in (
    ("docroot", r"'docroot' expects"), ("index", r"'index' expects"), ("path-info", r"'path-info' expects"),
    ("path-info (", r"'\(' is invalid"), ("option foo", r"unknown option 'foo'"), ("option max-reqs 0", r"strictly positive"),
    ("option keep-conn x", r"unexpected argument 'x'"), ("set-param A", r"'set-param' expects"),
    ("pass-header", r"'pass-header' expects"), ("unknown x", r"unknown keyword 'unknown'"))]


class Scene:
    def __init__(self, args, answer, app="", be="", server="", timeout="2s", values=None):
        self.app, self.log = fcgi.App(answer, values), lib.Syslog()
        self.port = lib.ports(1)[0]
        self.proxy = lib.Proxy(args.program, CONF.format(
            log=self.log.port, fe=self.port, server=self.app.port, app=app, be=be, server_more=server, timeout=timeout))

    def __enter__(self):
        self.proxy.__enter__()
        return self

    def __exit__(self, *exc):
        self.proxy.__exit__(*exc)
        self.app.close()
        self.log.close()

    def ask(self, data):
        """What the client gets up to the end of the connection: status, and all behind the head."""
        sock = lib.connect(self.port)
        self.client = sock.getsockname()[1]
        sock.sendall(data)
        got = lib.recv_all(sock)
        sock.close()
        head, _, body = got.partition(b"\r\n\r\n")
        if b"transfer-encoding: chunked" in head:
            body = b"".join(body.split(b"\r\n")[1:-3:2])
        return int(head.split()[1]), body


def get(path, fields="", method="GET", body=""):
    return ("%s %s HTTP/1.1\r\nHost: h:81\r\nConnection: close\r\n%s\r\n%s" % (
        method, path, fields.replace("\n", "\r\n"), body)).encode("latin1")


def good(request):
    return fcgi.whole(request.number, HEAD + b"hello")


def params(tap, args):
    for path, app, be, fields, want in PARAMS:
        with Scene(args, good, app, be) as sc:
            status, _ = sc.ask(get(path, fields))
            want = dict(want, HTTP_HOST="h:81", GATEWAY_INTERFACE="CGI/1.1", DOCUMENT_ROOT="/srv", REQUEST_URI=path,
                        REQUEST_METHOD="GET", SERVER_NAME="h:81", SERVER_PORT=str(sc.port), SERVER_PROTOCOL="HTTP/1.1",
                        REMOTE_ADDR="127.0.0.1", REMOTE_PORT=str(sc.client), CONTENT_LENGTH="0")
            got = sc.app.requests[0].pairs() if sc.app.requests else []
            software = dict(got).get("SERVER_SOFTWARE", "")
            tap.eq(sorted(p for p in got if p[0] != "SERVER_SOFTWARE"), sorted(want.items()), "parameters of " + path)
            # (the reference does not say who asks when SCRIPT_NAME was set)
            tap.ok(status == 200 and (software.startswith("HAProxy ") or "SCRIPT_NAME" in app and lib.is_reference(args.program)),
                   "answered, and who asks", (status, software))


def bad_paths(tap, args):
    with Scene(args, good, INDEX) as sc:
        for path in ("/a%", "/a%zz", "/a%0ab.php", "/a%00b.php"):
            tap.eq(sc.ask(get(path))[0], 500, "the path " + path)
        tap.ok(not [r for r in sc.app.requests if r.params], "the application is not asked")
    with Scene(args, good) as sc:
        tap.eq((sc.ask(get("/a%00b"))[0], [r for r in sc.app.requests if r.params]), (500, []), "a NUL, without path-info")


def bodies(tap, args):
    with Scene(args, good) as sc:
        for fields, data, want in (("Content-Length: 5\n", "abcde", b"abcde"), ("Content-Length: 0\n", "", b""),
                                   ("Transfer-Encoding: chunked\n", "3\r\nabc\r\n0\r\n\r\n", b"abc"),
                                   ("Content-Length: 100000\n", "z" * 100000, b"z" * 100000)):
            status, _ = sc.ask(get("/", fields, "POST", data))
            last = sc.app.requests[-1]
            tap.ok((status, last.body) == (200, want), "a body of %d bytes arrives" % len(want), (status, len(last.body)))
            tap.eq(dict(last.pairs())["CONTENT_LENGTH"], str(len(want)), "and its length")


def answers(tap, args):
    for name, parts, status, body, ends in ANSWERS:
        def answer(request):
            return [b"".join(p(request.number) for p in parts if p)] + [None] * (None in parts)

        with Scene(args, answer) as sc:
            got = sc.ask(get("/"))
            tap.eq(got if body is not None else got[0], (status, body) if body is not None else status, name)
            tap.ok(sc.log.find(r"be/s .* %d \d+ - - %s " % (status, ends)), "and its log")
    with Scene(args, good) as sc:
        with lib.connect(sc.port) as sock:
            sock.sendall(get("/").encode() if isinstance(get("/"), str) else get("/"))
            tap.ok("date" in lib.Reader(sock).response()[1], "an answer without a date gets one")


def cut(tap, args):
    """Byte by byte, and what never ends."""
    def bytewise(request):
        return [bytes([b]) for b in fcgi.whole(request.number, HEAD + b"hello")]

    with Scene(args, bytewise) as sc:
        tap.eq(sc.ask(get("/")), (200, b"hello"), "an answer byte by byte")
    for name, data in (("a head without end", b"Status: 200\r\nA: b\r\n"), ("no head", b"hello world")):
        with Scene(args, lambda r, d=data: fcgi.whole(r.number, d), timeout="500ms") as sc:
            tap.eq(sc.ask(get("/"))[0], 504, name)
            tap.ok(sc.log.find(r"be/s .* 504 \d+ - - sH-- "), "and its log")
    with Scene(args, lambda r: b"", timeout="500ms") as sc:
        tap.eq(sc.ask(get("/"))[0], 504, "no answer at all")
        tap.ok(sc.log.find(r"be/s .* 504 \d+ - - sH-- "), "and its log")


def kept(tap, args):
    two = get("/1").replace(b"Connection: close\r\n", b"") + get("/2")
    for app, connections, keep in (("", 1, True), ("no option keep-conn", 2, False)):
        with Scene(args, good, app) as sc:
            sc.ask(two)
            tap.eq([r.keep for r in sc.app.requests], [keep] * 2, "two requests, %s" % (app or "as it is"))
            tap.eq(sc.app.connections, connections, "their connections")
    with Scene(args, good, "option get-values\n\toption mpxs-conns", values=b"\x0d\x01FCGI_MAX_REQS4\x0f\x01FCGI_MPXS_CONNS0") as sc:
        tap.eq(sc.ask(get("/"))[0], 200, "with get-values")
        tap.eq(sc.app.asked, [[("FCGI_MAX_REQS", ""), ("FCGI_MPXS_CONNS", "")]], "what is asked")
    with Scene(args, good, "option get-values", values=fcgi.UNKNOWN) as sc:
        tap.eq((sc.ask(get("/"))[0], len(sc.app.asked)), (200, 1), "an application that does not know get-values")


def shared(tap, args):
    """Five requests at once, none of which is answered before all are there, then a sixth."""
    for app, be, connections in (("option mpxs-conns\n\toption max-reqs 10", "http-reuse always", 1),
                                 ("", "http-reuse always", 5),
                                 ("option mpxs-conns\n\toption max-reqs 10", "http-reuse never", 6)):
        with Scene(args, lambda r: b"", app, be, timeout="10s") as sc:
            socks = []
            for n in range(5):
                socks.append(lib.connect(sc.port))
                socks[-1].sendall(get("/%d" % n))
                lib.until(lambda n=n: len(sc.app.requests) > n)
            sc.app.answer_all(lambda r: fcgi.whole(r.number, HEAD + dict(r.pairs())["REQUEST_URI"].encode()))
            got = [lib.recv_all(s).rpartition(b"\r\n\r\n")[2] for s in socks]
            tap.eq(got, [b"/%d" % n for n in range(5)], "each client gets its own answer: " + (app + " " + be).replace("\n\t", ", "))
            sc.app.answer = good
            sc.ask(get("/6"))
            tap.eq(sc.app.connections, connections, "connections")


def ours(tap, args):
    """What the reference does otherwise: tests/differences.txt."""
    if lib.is_reference(args.program):
        return
    with Scene(args, good) as sc:
        tap.eq(sc.ask(get("/", method="HEAD")), (200, b""), "an answer to HEAD with a body")
        tap.eq(sc.ask(get("/" + "a" * 12000)), (200, b"hello"), "parameters of more than a buffer")
    with Scene(args, lambda r: fcgi.whole(r.number, b"Status: 204 No\r\n\r\nhello")) as sc:
        tap.eq(sc.ask(get("/")), (204, b""), "a 204 with a body")
    with Scene(args, lambda r: fcgi.whole(r.number, b"Status: abc\r\n\r\n")) as sc:
        tap.eq(sc.ask(get("/"))[0], 502, "a status that is none")
    with Scene(args, good, "pass-header Proxy\n\tpass-header TE") as sc:
        sc.ask(get("/", "Proxy: x\nTE: trailers\n").replace(b"close", b"close, TE"))
        got = dict(sc.app.requests[0].pairs())
        tap.eq((got.get("HTTP_PROXY"), got.get("HTTP_TE")), (None, "trailers"), "the field Proxy, and one that is passed")


def ours_too(tap, args):
    """More of what the reference does otherwise: lengths, dates, records nobody asked for, what is cut."""
    if lib.is_reference(args.program):
        return
    for version, answer, body in (("1.0", b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", b"hello"), ("1.1", b"Status: 204 No\r\n\r\n", b""),
                                  ("1.1", b"Status: 304 No\r\n\r\n", b"")):
        with Scene(args, lambda r, answer=answer: fcgi.whole(r.number, answer)) as sc, lib.connect(sc.port) as sock:
            sock.sendall(get("/").replace(b"HTTP/1.1", b"HTTP/" + version.encode()))
            head, _, got = lib.recv_all(sock).partition(b"\r\n\r\n")
            tap.ok(got == body and b"transfer-encoding" not in head and b"content-length: 0" not in head, "the length of %r" % answer, (head, got))
    with Scene(args, good, be="http-response set-header x-date %[res.hdr(date)]") as sc, lib.connect(sc.port) as sock:
        sock.sendall(get("/"))
        tap.ok(b"GMT\r\n" in lib.recv_all(sock).partition(b"x-date: ")[2], "rules see the date")
    for name, first in (("GET_VALUES", lambda n: fcgi.record(fcgi.GET_VALUES, 0)), ("a result that is none", lambda n: fcgi.record(fcgi.GET_VALUES_RESULT, 0, b"\xff")),
                        ("a type that is none", lambda n: fcgi.record(77, 0, b"x")), ("stderr of another", lambda n: fcgi.record(fcgi.STDERR, 9, b"lost"))):
        with Scene(args, lambda r, first=first: [first(r.number) + good(r)], "log-stderr global") as sc:
            tap.eq(sc.ask(get("/")), (200, b"hello"), "nobody asked for " + name)
            tap.ok("stderr" not in name or sc.log.find(r" app\[\d+\]: lost"), "which is logged")
    for name, parts, want in (("half a head", [b"A: b\r\n"], "SH"), ("a NUL", [b"A: b\0c\r\n\r\nhello"], "PH")):
        with Scene(args, lambda r, parts=parts: [fcgi.record(fcgi.STDOUT, r.number, p) for p in parts] + [None], timeout="30s") as sc:
            tap.eq(sc.ask(get("/"))[0], 502, name)
            tap.ok(sc.log.find(want + "--"), "and its fault", sc.log.lines)
    with Scene(args, good, "option get-values", values=b"\x0d\x09FCGI") as sc:
        tap.eq(sc.ask(get("/"))[0], 502, "values that are none")
    with Scene(args, good, "", "option httpchk", "check inter 100ms") as sc:
        tap.ok(lib.until(lambda: len(sc.app.requests) > 2), "checks go on")
        got = dict(sc.app.requests[0].pairs())
        tap.eq((got["SERVER_PROTOCOL"], got.get("HTTP_CONNECTION")), ("HTTP/1.1", None), "the version of a check")


VERSIONS = [ # the application's answer, its body to GET
    (b"Content-Length: 5\r\n\r\nhello", b"hello"), (b"Content-Type: t/p\r\n\r\nhello", b"hello"), (b"Status: 204 No\r\n\r\n", b""),
    (b"Status: 304 No\r\nETag: x\r\n\r\n", b""), (b"Location: /x\r\n\r\n", b""), (b"Status: 500 No\r\nContent-Length: 0\r\n\r\n", b"")]


def versions(tap, args):
    """An answer is of the client's version, and says so to rules, whatever its body and the connection are."""
    wrong, cases = [], 0
    for answer, body in VERSIONS:
        def reply(r, answer=answer):
            is_head = dict(r.pairs())["REQUEST_METHOD"] == "HEAD"
            return fcgi.whole(r.number, answer.partition(b"\r\n\r\n")[0] + b"\r\n\r\n" if is_head else answer)

        with Scene(args, reply, be="http-response set-header x-version %[res.ver]") as sc:
            for version in ("1.0", "1.1"):
                for method in ("GET", "HEAD"):
                    for connection in ("Connection: close\r\n", "Connection: keep-alive\r\n") + (("",) if version == "1.0" else ()):
                        with lib.connect(sc.port) as sock:
                            sock.sendall(("%s / HTTP/%s\r\nHost: h\r\n%s\r\n" % (method, version, connection)).encode())
                            reader = lib.Reader(sock)
                            head, fields = reader.head()
                            got = b"" if method == "HEAD" or not body else reader.body(fields, True)
                        cases += 1
                        if (head.split()[0], dict(fields)["x-version"]) != ("HTTP/" + version, version) or got != (b"" if method == "HEAD" else body):
                            wrong.append((answer, version, method, connection, head, fields, got))
    tap.ok(not wrong and cases, "the version of the client in %d answers" % cases, wrong[:3])


def counted(tap, args):
    """What an answer counts in the log: what the application has sent, not a date that it did not."""
    for answer, want in ((HEAD + b"hello", 54), (b"Status: 413 Too\r\n" + HEAD + b"hello", 68), (b"Content-Length: 2\r\n" + HEAD + b"hi", 66),
                         (b"Location: /x\r\n\r\n", 47), (b"Date: x\r\n" + HEAD + b"hello", 59)):
        with Scene(args, lambda r, answer=answer: fcgi.whole(r.number, answer)) as sc:
            sc.ask(get("/"))
            tap.ok(sc.log.find(r" be/s \S+ \d+ %d - - ---- " % want), "%d bytes of %r" % (want, answer), sc.log.lines)


def reached(tap, args):
    """All of an answer is there with the end of its head or of the length that it announces; the application ends nothing."""
    for method, answer in (("GET", b"Content-Length: 5\r\n\r\nhello"), ("GET", b"Content-Length: 0\r\n\r\n"), ("HEAD", HEAD),
                           ("GET", b"Status: 204 No\r\n\r\n"), ("GET", b"Status: 304 No\r\n\r\n")):
        with Scene(args, lambda r, answer=answer: fcgi.record(fcgi.STDOUT, r.number, answer), timeout="30s") as sc:
            got = [sc.ask(get("/", method=method))[1] for _ in range(2)]
            tap.eq(got, [b"hello" if b"hello" in answer else b""] * 2, "no end of %s, %r" % (method, answer))
            tap.ok(lib.until(lambda: len([n for n in sc.log.lines if " ---- " in n]) == 2), "which is no fault", sc.log.lines)
            tap.eq(len({r.sock for r in sc.app.requests}), 2, "and its connection is not used again")
    for app in ("", "option mpxs-conns\n\toption max-reqs 3"):
        with Scene(args, lambda r: fcgi.record(fcgi.STDOUT, r.number, b"Content-Length: 5\r\n\r\nhello"), app, "http-reuse always", timeout="30s") as sc:
            got = [sc.ask(get("/%d" % n)) for n in range(8)]
            tap.eq(got, [(200, b"hello")] * 8, "nothing is ended, connections are shared: no request waits for one, " + (app or "one at once"))


def chunked(tap, args):
    """An application that puts its body into chunks itself."""
    body = b"5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n"
    for cut in (0, 3, 10):
        def answer(r, cut=cut):
            return [fcgi.record(fcgi.STDOUT, r.number, b"Transfer-Encoding: chunked\r\n\r\n" + body[:cut]),
                    fcgi.record(fcgi.STDOUT, r.number, body[cut:]), fcgi.record(fcgi.STDOUT, r.number), fcgi.end(r.number)]

        with Scene(args, answer) as sc:
            sock = lib.connect(sc.port)
            sock.sendall(get("/"))
            got = lib.Reader(sock).response()
            tap.ok(b"hello world" in got, "chunks of the application, from byte %d on in another record" % cut, got)
            sock.close()


def left(tap, args):
    """A client leaves while its request is with the application: others on that connection go on."""
    more = "http-reuse always\n\toption abortonclose"
    for app, connections in (("option mpxs-conns\n\toption max-reqs 10", 1), ("", None)):
        with Scene(args, lambda r: b"", app, more, timeout="10s") as sc:
            first, second = lib.connect(sc.port), lib.connect(sc.port)
            first.sendall(get("/first"))
            lib.until(lambda: len(sc.app.requests) == 1)
            second.sendall(get("/second"))
            lib.until(lambda: len(sc.app.requests) == 2)
            first.close()
            if connections and not lib.is_reference(args.program):
                lib.until(lambda: (1, fcgi.ABORT) in sc.app.kinds)
                tap.ok((1, fcgi.ABORT) in sc.app.kinds, "the application is told that one is given up")
            sc.app.answer = good
            for request in sc.app.requests:
                if dict(request.pairs())["REQUEST_URI"] == "/second":
                    request.sock.sendall(good(request))
            tap.ok(b"hello" in lib.recv_all(second), "the other one is answered, %s" % (app or "on its own connection"))
            tap.eq(sc.ask(get("/third"))[0], 200, "and the next")
            if connections:
                tap.eq(sc.app.connections, connections, "on one connection")


def full(tap, args):
    """Requests that were given up and that the application never ends: a connection full of them is not kept."""
    if lib.is_reference(args.program):
        return
    with Scene(args, lambda r: b"", "option mpxs-conns\n\toption max-reqs 2", "http-reuse always", timeout="200ms") as sc:
        for n in range(3):
            tap.eq(sc.ask(get("/%d" % n))[0], 504, "an application that does not answer")
        tap.eq(sc.app.connections, 2, "connections for three requests, two at once on each")
        sc.app.answer = good
        tap.eq(sc.ask(get("/"))[0], 200, "when it answers again")


class Counted(list):
    """Parts of an answer, and how many were taken."""
    taken = 0

    def __iter__(self):
        for part in super().__iter__():
            self.taken += 1
            yield part


def stuck(tap, args):
    """A client that does not read holds up the others of its connection, as long as it stays."""
    parts = Counted()

    def answer(r):
        if dict(r.pairs())["REQUEST_URI"] != "/big":
            return good(r)
        parts.extend([fcgi.record(fcgi.STDOUT, r.number, HEAD)] + [fcgi.record(fcgi.STDOUT, r.number, b"x" * 60000)] * 400 + [
            fcgi.record(fcgi.STDOUT, r.number), fcgi.end(r.number)])
        return parts

    def is_stuck():
        before = parts.taken
        time.sleep(0.2)
        return before and parts.taken == before

    with Scene(args, answer, "option mpxs-conns\n\toption max-reqs 10", "http-reuse always", timeout="10s") as sc:
        first, second = lib.connect(sc.port), lib.connect(sc.port)
        first.sendall(get("/big"))
        lib.until(lambda: sc.app.requests)
        second.sendall(get("/"))
        tap.ok(lib.until(is_stuck) and len(sc.app.requests) == 1, "a client that does not read stops the application", parts.taken)
        lib.reset(first)
        tap.ok(b"hello" in lib.recv_all(second), "when it leaves, the other one is answered")
        tap.eq(sc.app.connections, 1, "on the same connection")


def reloaded(tap, args):
    """A kept connection goes on with the application as the next configuration has it."""
    if lib.is_reference(args.program): # (which has another process for that)
        return
    with Scene(args, good, "set-param GENERATION 1", "http-reuse always") as sc:
        sc.ask(get("/"))
        with open(sc.proxy.conf_path) as f:
            text = f.read()
        with open(sc.proxy.conf_path, "w") as f:
            f.write(text.replace("GENERATION 1", "GENERATION 2\n\tlog-stderr global").replace("docroot /srv", "docroot /new"))
        said = sc.proxy.ctl("reload")
        tap.ok("Success=1" in said, "a reload", said)
        sc.app.answer = lambda r: fcgi.whole(r.number, HEAD, b"new")
        sc.ask(get("/"))
        got = dict(sc.app.requests[-1].pairs())
        tap.eq((got["GENERATION"], got["DOCUMENT_ROOT"]), ("2", "/new"), "the next request is of the new application")
        tap.eq(sc.app.connections, 1, "on the same connection")
        tap.ok(sc.log.find(r" app\[\d+\]: new"), "and so is what it says on stderr")


def early(tap, args):
    """An application that answers before it has the whole body."""
    if lib.is_reference(args.program):
        return
    with Scene(args, lambda r: b"") as sc:
        sock = lib.connect(sc.port)
        sc.app.on_begin = lambda r: fcgi.whole(r.number, HEAD + b"early")
        sock.sendall(get("/", "Content-Length: 100000\n", "POST", "z" * 1000))
        got = lib.Reader(sock).response()
        tap.ok(200 in got and b"early" in got, "an answer amid the body", got)
        sock.close()
        sc.app.on_begin, sc.app.answer = None, good
        tap.eq(sc.ask(get("/"))[0], 200, "and the next request")


def far(tap, args):
    """Addresses of UNIX sockets, and TLS, are as for any server."""
    with tempfile.TemporaryDirectory() as folder:
        path = folder + "/app.sock"
        app, log, (fe, tls) = fcgi.App(good), lib.Syslog(), lib.ports(2)
        relay = "listen relay\n\tmode tcp\n\ttimeout client 9s\n\tbind unix@%s\n\tbind 127.0.0.1:%d ssl crt %s\n\tserver a 127.0.0.1:%d\n"
        conf = CONF.format(log=log.port, fe=fe, server=tls, app="", be="server u unix@%s proto fcgi" % path,
                           server_more="ssl verify none", timeout="2s")
        conf += relay % (path, tls, CERT, app.port)
        with lib.Proxy(args.program, conf):
            for what in ("one", "the other"):
                sock = lib.connect(fe)
                sock.sendall(get("/"))
                tap.ok(b"hello" in lib.recv_all(sock), "a UNIX socket, or TLS: " + what)
                sock.close()
        app.close()
        log.close()


def flow(tap, args):
    """A large answer to a client that reads late, beside a request that is answered at once; then a large body."""
    big = b"x" * 60000

    def answer(r):
        if dict(r.pairs())["REQUEST_URI"] != "/big":
            return good(r)
        return [fcgi.record(fcgi.STDOUT, r.number, HEAD)] + [fcgi.record(fcgi.STDOUT, r.number, big, 3)] * 100 + [
            fcgi.record(fcgi.STDOUT, r.number), fcgi.end(r.number)]

    with Scene(args, answer, timeout="10s") as sc:
        late = lib.connect(sc.port)
        late.sendall(get("/big").replace(b"HTTP/1.1", b"HTTP/1.0"))
        lib.until(lambda: sc.app.requests)
        tap.eq(sc.ask(get("/"))[0], 200, "another request meanwhile")
        tap.eq(len(lib.recv_all(late).partition(b"\r\n\r\n")[2]), 100 * len(big), "all of a large answer")
        data = "z" * 3000000
        status, _ = sc.ask(get("/", "Content-Length: %d\n" % len(data), "POST", data))
        tap.eq((status, len(sc.app.requests[-1].body)), (200, len(data)), "all of a large body")


def stderr(tap, args):
    with Scene(args, lambda r: fcgi.whole(r.number, HEAD, b"one\ntwo\n"), "log-stderr global") as sc:
        tap.eq(sc.ask(get("/"))[0], 200, "an answer with something on stderr")
        tap.ok(sc.log.find(r"<131>.* app\[\d+\]: one\.two\."), "which is logged")
    for app in ("", "log-stderr global"):
        with Scene(args, lambda r: fcgi.record(fcgi.STDERR, r.number, b"e" * 60000) * 20 + good(r), app) as sc:
            tap.eq(sc.ask(get("/")), (200, b"hello"), "an answer behind a flood on stderr, %s" % (app or "not logged"))


def checks(tap, args):
    more = "option httpchk\n\thttp-check send meth POST uri /hc?x ver HTTP/1.1 hdr Host chk body abc\n\thttp-check expect status 200"
    with Scene(args, good, "", more, "check inter 100ms") as sc:
        if not tap.ok(lib.until(lambda: len(sc.app.requests) > 2), "checks go on"):
            return
        r = sc.app.requests[0]
        got = dict(r.pairs())
        tap.eq((r.body, got["SCRIPT_NAME"], got["QUERY_STRING"], got["REQUEST_METHOD"], got["SERVER_NAME"], got["HTTP_HOST"]),
               (b"abc", "/hc", "x", "POST", "chk", "chk"), "what a check asks")
    with Scene(args, good, "", "option httpchk", "check inter 100ms") as sc:
        if tap.ok(lib.until(lambda: len(sc.app.requests) > 2), "checks go on"):
            got = dict(sc.app.requests[0].pairs())
            tap.eq((got.get("SERVER_NAME"), got.get("SERVER_PORT")), ("127.0.0.1", str(sc.app.port)), "a check that names no host")


def errors(tap, args):
    for conf, want in ERRORS:
        p = subprocess.run([args.program, "-c", "-f", "/dev/stdin"], input=conf.encode(), capture_output=True, check=False)
        said = (p.stdout + p.stderr).decode()
        tap.ok(re.search(want, said) and p.returncode == 1, "refused: " + want, said)


NASTY = [b"Proxy", b"PROXY", b"pRoXy", b"Proxy ", b"X_A", b"Remote_User", b"Remote_Addr", b"Script_Filename", b"HTTP_Proxy", b"Http_Proxy",
         b"Content_Length", b"Content_Type", b"X.A", b"X!A", b"X~A", b"X$A", b"X'A", b"X|A", b"Proxy\0", b"Pro\0xy", b"Proxy\t", b"\xc3\x9cx",
         b"Proxy_", b"_Proxy", b"Document_Root", b"Redirect_Status", b"PHP_VALUE", b"Php_Admin_Value", b"Https_", b"", b"(", b"Query_String"]
PLAIN = [b"X-A", b"x-a", b"Cookie", b"Content-Type", b"HTTP-Proxy", b"Script-Filename", b"Remote-User", b"Accept", b"If", b"Document-Root", b"A" * 300, b"PHP-VALUE"]
FOLDED = (b" folded: x", b"\tProxy: x", b"X: 1\n Proxy: x", b"X: 1\r\n\tProxy: x") # go on with the value of the field before
# what a field can never set
OWN = ("SCRIPT_FILENAME", "SCRIPT_NAME", "DOCUMENT_ROOT", "REMOTE_ADDR", "REMOTE_PORT", "REQUEST_URI", "REQUEST_METHOD", "SERVER_NAME", "SERVER_PORT",
       "SERVER_PROTOCOL", "QUERY_STRING", "GATEWAY_INTERFACE", "REDIRECT_STATUS", "PHP_VALUE", "PHP_ADMIN_VALUE", "HTTPS", "PATH_INFO", "HTTP_PROXY")


def forged_case(rng):
    """The bytes of a request; what stands in the values of fields that must not pass is "evil"."""
    fields = []
    for _ in range(rng.randrange(1, 6)):
        if rng.random() < 0.5:
            name = rng.choice(NASTY)
            fields.append(name + rng.choice((b":", b": ", b" : " if name else b":", b":\t")) + b"evil" + b"x" * rng.choice((0, 0, 10, 9000, 20000)))
        else:
            fields.append(rng.choice(PLAIN) + b": " + rng.choice((b"fine", b"", b"a, b", b"y" * rng.choice((200, 9000)))))
    fields += rng.sample([*FOLDED, b"X: 1\nProxy: evil", b"X: 1\rProxy: evil", b"Connection: x-a", b"Connection: close, proxy", b"Content-Length: 5", b"Content-Length: 5, 5", b"Transfer-Encoding: chunked",
                          b"Trailer: Proxy", b"TE: trailers", b"Authorization: evil"], rng.randrange(3))
    rng.shuffle(fields)
    body = b"5\r\nhello\r\n0\r\nProxy: evil\r\nX_A: evil\r\n\r\n" if b"Transfer-Encoding: chunked" in fields else b"hello"
    return b"POST /p.php?q HTTP/1.1\r\nHost: h:81\r\n" + b"".join(f + b"\r\n" for f in fields) + b"\r\n" + body


def forgery(pairs, strict):
    """What is wrong with the parameters of an application; "": nothing."""
    names = [name for name, _ in pairs]
    twice = [n for n in OWN + ("CONTENT_LENGTH", "HTTP_HOST") if names.count(n) > 1] # of fields there may be two
    if twice:
        return "twice: %s" % twice
    for name, value in pairs:
        if not re.fullmatch("[A-Z0-9_]+", name):
            return "the name %r" % name
        if name == "HTTP_PROXY" or "evil" in value and (name in OWN or name != "HTTP_AUTHORIZATION" and strict):
            return "%s: %.40s" % (name, value)
    got = dict(pairs)
    return "" if (got["SCRIPT_FILENAME"], got["QUERY_STRING"], got["REQUEST_URI"]) == ("/srv/p.php", "q", "/p.php?q") else "another request"


def forged(tap, args):
    """No field of a client becomes a parameter that it must not set. (The reference lets Proxy pass where pass-header says so.)"""
    if lib.is_reference(args.program):
        return
    for be in ("", "option http-restrict-req-hdr-names preserve"):
        with Scene(args, good, "pass-header Proxy\n\tpass-header Authorization", be) as sc:
            bad, answered = [], 0
            for n in range(args.attempts // 2):
                raw = forged_case(random.Random("%s %d" % (be, n)))
                del sc.app.requests[:]
                with lib.connect(sc.port) as sock:
                    try:
                        sock.sendall(raw)
                        got = lib.Reader(sock).response()
                    except (OSError, EOFError, ValueError):
                        got = None
                answered += bool(got and got[0] == 200)
                asked = [r.pairs() for r in list(sc.app.requests) if r.params]
                wrong = len(asked) > 1 and "more than one request" or asked and forgery(asked[0], not be)
                if wrong:
                    bad.append((wrong, raw[:300]))
            tap.ok(not bad, "%d forged requests %s" % (args.attempts // 2, be), (len(bad), bad[:3]))
            tap.ok(answered > args.attempts // 20, "some are served", answered)


def main():
    args = lib.arguments(__doc__, ("attempts", 1000, "forged requests"))
    tap = lib.Tap()
    for test in (params, bad_paths, bodies, answers, cut, ours, ours_too, versions, counted, reached, chunked, kept, shared, left, full, stuck, reloaded, early, far, flow, stderr, checks, errors, forged):
        test(tap, args)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
