#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`http-request mirror`: copies have what the server has, and nothing that happens to a copy reaches the original. An extension.
--attempts N: clients that go away at any point."""
import random
import socket
import threading
import time

import lib

CONF = """
%(global)s
	log 127.0.0.1:%(log)d local0
defaults
	mode http
	log global
	option httplog
	timeout connect 1s
	timeout client 10s
	timeout server 3s
frontend fe
	bind 127.0.0.1:%(port)d
	http-request deny if { path /denied }
	http-request mirror shadow %(options)s
	default_backend app
backend app
	http-request set-header X-App 1
	server s 127.0.0.1:%(app)d
backend shadow
	http-request set-header X-Shadow 1
	server s 127.0.0.1:%(shadow)d
"""


class Side:
    """A server that keeps what it was sent, and can hold, refuse or close."""

    def __init__(self):
        self.seen, self.how, self.lock = [], "answer", threading.Lock()
        self.free = threading.Event()
        self.free.set()
        self.server = lib.Server(self.serve)
        self.port = self.server.port

    def serve(self, sock):
        r = lib.Reader(sock)
        while True:
            if self.how == "close":
                return
            if self.how == "hold":
                self.free.wait(lib.PATIENCE)
            head = r.head()
            if not head:
                return
            try:
                body = r.body(head[1])
            except (OSError, EOFError, AssertionError, ValueError, IndexError):
                return
            with self.lock:
                self.seen.append((head[0], sorted(f for f in head[1]), body))
            status = b"500 Bad" if self.how == "fail" else b"200 OK"
            sock.sendall(b"HTTP/1.1 %s\r\ncontent-length: 2\r\n\r\nhi" % status)


class Scene:
    def __init__(self, args, options="", head=""):
        self.app, self.shadow, self.log, self.port = Side(), Side(), lib.Syslog(), lib.ports(1)[0]
        self.proxy = lib.Proxy(args.program, CONF % {"global": head, "log": self.log.port, "port": self.port, "options": options,
                                                     "app": self.app.port, "shadow": self.shadow.port})

    def ask(self, text=b"GET /x HTTP/1.1\r\nHost: h\r\n\r\n"):
        with lib.connect(self.port) as sock:
            sock.sendall(text)
            r = lib.Reader(sock)
            got = r.response()
            return got and got[0]

    def figures(self):
        lines = [l.split() for l in self.proxy.ctl("show mirror").strip().split("\n")]
        return dict(zip(lines[0][1:], lines[1]))

    def rest(self, **want):
        """Waits until no copy is under way; are the figures these?"""
        lib.until(lambda: self.figures()["running"] == "0")
        got = self.figures()
        return {k: int(got[k]) for k in want}

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.app.free.set()
        self.shadow.free.set()
        self.proxy.__exit__(*exc)
        self.app.server.close()
        self.shadow.server.close()
        self.log.close()


def chunked(body, size):
    out = b"".join(b"%x\r\n%s\r\n" % (len(body[i:i + size]), body[i:i + size]) for i in range(0, len(body), size))
    return b"POST /c HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n" + out + b"0\r\n\r\n"


def copies(tap, args):
    body = bytes(range(256)) * 800
    with Scene(args) as sc:
        for name, text in (
                ("a request without a body", b"GET /x?y=1 HTTP/1.1\r\nHost: h\r\nX-A: 1\r\nX-A: 2\r\nCookie: a=b\r\n\r\n"),
                ("HEAD", b"HEAD /x HTTP/1.1\r\nHost: h\r\n\r\n"),
                ("a body of a known length", b"POST /p HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n" % len(body) + body),
                ("an empty body", b"POST /p HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n"),
                ("chunks", chunked(body, 1000)), ("one large chunk", chunked(body, 200000)), ("small chunks", chunked(body[:500], 1)),
                ("fields of the connection", b"GET /k HTTP/1.1\r\nHost: h\r\nConnection: keep-alive, X-Hop\r\nX-Hop: 1\r\nTE: trailers\r\n\r\n")):
            sc.app.seen.clear()
            sc.shadow.seen.clear()
            with lib.connect(sc.port) as sock:
                sock.sendall(text)
                tap.eq(sock.recv(12), b"HTTP/1.1 200", name + ": answered")
                lib.until(lambda: sc.shadow.seen and sc.app.seen)
            app, shadow = sc.app.seen[0], sc.shadow.seen[0]
            tap.eq(shadow[0], app[0], name + ": the same line")
            own = ("x-shadow", "x-hop", "te", "connection")
            tap.eq([f for f in shadow[1] if f[0] not in own], [f for f in app[1] if f[0] not in own], name + ": the same fields")
            tap.eq(shadow[2] == app[2], True, name + ": the same body")
        tap.ok(("x-shadow", "1") in shadow[1] and ("x-app", "1") in shadow[1], "the mirror's backend has its own rules")
        tap.ok(not [f for f in shadow[1] if f[0] in ("x-hop", "te")], "what is about a connection is not copied")
        before = len(sc.shadow.seen)
        sc.ask(b"GET /denied HTTP/1.1\r\nHost: h\r\n\r\n")
        sc.ask(b"GET /u HTTP/1.1\r\nHost: h\r\nConnection: upgrade\r\nUpgrade: websocket\r\n"
               b"Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\nSec-WebSocket-Version: 13\r\n\r\n")
        tap.eq(sc.rest(copied=0, requests=0, errors=0, answered=0), {"copied": 8, "requests": 9, "errors": 0, "answered": 8},
               "what is refused here, and upgrades, are not copied")
        tap.eq(len(sc.shadow.seen), before, "as the mirror knows")


def samples(tap, args):
    for sample, low, high in (("0", 0, 0), ("100%", 400, 400), ("25%", 50, 150)):
        with Scene(args, "sample " + sample) as sc:
            with lib.connect(sc.port) as sock:
                r = lib.Reader(sock)
                for _ in range(400):
                    sock.sendall(b"GET /x HTTP/1.1\r\nHost: h\r\n\r\n")
                    r.response()
            got = sc.rest(copied=0)["copied"]
            tap.ok(low <= got <= high, "sample %s of 400: %d to %d" % (sample, low, high), got)


def troubles(tap, args):
    """Nothing that a mirror does is seen by the client."""
    body = b"z" * 3000000
    post = b"POST /p HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n" % len(body) + body
    small = b"POST /p HTTP/1.1\r\nHost: h\r\nContent-Length: 9000\r\n\r\n" + body[:9000]
    for how, text, want, end in (("close", b"", "errors", "502 .* SH--"), ("fail", b"", "errors", "500 .* ----"), ("hold", b"", "errors", "504 .* sH--"),
                                 ("close", small, "errors", "502 .* SH--"), ("hold", post, "dropped_slow", "400 .* CH--")):
        with Scene(args) as sc:
            sc.shadow.how = how
            sc.shadow.free.clear()
            tap.eq(sc.ask(text) if text else sc.ask(), 200, "a mirror that does: %s, %d bytes" % (how, len(text)))
            got = {}
            lib.until(lambda: got.update(sc.figures()) or int(got[want]) == 1)
            tap.ok(int(got[want]) == 1, "is counted as %s" % want, str(got))
            sc.shadow.free.set()
            tap.ok(sc.log.find(r" shadow shadow/s .* %s " % end), "and logged as its own", sc.log.lines)
            tap.ok(sc.log.find(r" fe app/s .* 200 .* ---- "), "while the log of the request does not know of it", sc.log.lines)
    with Scene(args) as sc:
        sc.shadow.server.close()
        tap.eq(sc.ask(), 200, "a mirror that is not there")
        lib.until(lambda: sc.figures()["errors"] == "1")
        tap.eq(sc.figures()["errors"], "1", "its backend's 503 is an error")
    with Scene(args, "max 2", "\tnbthread 1") as sc:
        sc.shadow.how = "hold"
        sc.shadow.free.clear()
        tap.eq([sc.ask() for _ in range(5)], [200] * 5, "more copies than max")
        tap.eq(sc.figures()["dropped_busy"], "3", "are not made")
        sc.shadow.free.set()
        tap.eq(sc.rest(copied=0), {"copied": 2}, "two were")


def cut(tap, args, attempts):
    """Clients that go away at any point of a body leave nothing behind."""
    rng = random.Random(7)
    body = b"b" * 200000
    post = b"POST /p HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n" % len(body) + body
    with Scene(args) as sc:
        for _ in range(attempts):
            sock = socket.create_connection(("127.0.0.1", sc.port))
            at = rng.choice([rng.randint(0, 200), rng.randint(200, len(post)), len(post)])
            sock.sendall(post[:at])
            if rng.random() < 0.5:
                time.sleep(rng.random() * 0.004)
            if rng.random() < 0.3:
                lib.reset(sock)
            sock.close()
        tap.eq(sc.ask(), 200, "%d clients that went away" % attempts)
        tap.eq(sc.rest(running=0), {"running": 0}, "no copy is left")
        whole = [s for s in sc.shadow.seen if s[0].startswith("POST")]
        tap.eq([len(s[2]) for s in whole], [len(body)] * len(whole), "and no mirror took a part for the whole")


def main():
    args = lib.arguments(__doc__, ("attempts", 200, "clients that go away"))
    tap = lib.Tap()
    if lib.is_reference(args.program):
        tap.skip("mirrors", "an extension")
        tap.done()
    for test in (copies, samples, troubles):
        tap.attempt(test.__name__, test, tap, args)
    tap.attempt("cut", cut, tap, args, args.attempts)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
