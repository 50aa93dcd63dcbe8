#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Reverse HTTP: one process opens connections (bind rhttp@) that another one uses as a server's (attach-srv).

Requests of many clients through few connections and threads, processes that go and come back, reloads of either
side, peers of either side that are none; beside the reference (--reference PROGRAM or $REFERENCE) each program on
either side.

differs: reverse-waits
differs: reverse-checks
"""
import os
import socket
import threading
import time

import lib
from wire import h2

EDGE = """	expose-experimental-directives
	nbthread {threads}
defaults
	mode http
	timeout connect 5s
	timeout client 20s
	timeout server 10s
frontend pub
	bind 127.0.0.1:{p[0]}
	default_backend be
frontend rev
	bind 127.0.0.1:{p[1]} proto h2
	tcp-request session attach-srv be/s1
backend be
	retries 0
	http-request set-header x-edge {version}
	option httpchk GET /health
	server s1 rhttp@ {check}
"""
ORIGIN = """	expose-experimental-directives
	nbthread {threads}
defaults
	mode http
	timeout connect 1s
	timeout client {client}
	timeout server 10s
frontend in
	bind rhttp@out/d1 nbconn {n}
	http-request pause 20 if {{ path_beg /slow }}
	http-request pause 300 if {{ path_beg /long }}
	http-request return status 200 content-type text/plain lf-string "{version} %[path] %[req.hdr(x-edge)]" hdr x-{version} 1
backend out
	server d1 127.0.0.1:{p[1]} proto h2
"""


def get(port, path="/", sock=None, body=b""):
    """(status, body) of a request; (0, b"") if there is no answer."""
    own = sock is None
    try:
        sock = sock or lib.connect(port)
        sock.sendall(b"POST %s HTTP/1.1\r\nhost: a\r\ncontent-length: %d\r\n\r\n%s" % (path.encode(), len(body), body))
        got = lib.Reader(sock).response()
        return int(got[0]), got[2]
    except (OSError, ValueError, TypeError, IndexError, AttributeError):
        return 0, b""
    finally:
        if own and sock:
            sock.close()


class Scene:
    def __init__(self, edge, origin, threads=2, n=1, client="20s"):
        self.p = lib.ports(2, held=False)
        self.values = dict(p=self.p, threads=threads, n=n, client=client, version="v1", check="")
        self.programs = edge, origin
        self.edge = self.origin = None

    def start_edge(self):
        self.edge = lib.Proxy(self.programs[0], EDGE.format(**self.values))

    def start_origin(self):
        self.origin = lib.Proxy(self.programs[1], ORIGIN.format(**self.values))

    def works(self):
        return lib.until(lambda: get(self.p[0])[0] == 200)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        for p in (self.origin, self.edge):
            if p:
                p.stop()


def roundtrips(tap, edge, origin, what):
    with Scene(edge, origin, n=2) as sc:
        sc.start_origin() # first: there is nobody yet
        sc.start_edge()
        tap.ok(sc.works(), "%s: a connection comes when its other end is there" % what)
        tap.ok(lib.until(lambda: sc.origin.stats()["in", "FRONTEND"]["scur"] == "2"), "%s: there are two of them" % what)
        bad = []
        with lib.connect(sc.p[0]) as s:
            for i in range(50):
                status, body = get(None, "/r%d" % i, s, b"x" * (i * 997))
                if (status, body) != (200, b"v1 /r%d v1" % i):
                    bad.append((i, status, body))
        tap.eq(bad, [], "%s: 50 requests with bodies, one after the other" % what)


def many(tap, args):
    """One connection, four threads: who is on another thread waits for it."""
    with Scene(args.program, args.program, threads=4) as sc:
        sc.start_edge()
        sc.start_origin()
        sc.works()
        bad = []

        def client(k):
            for i in range(20):
                got = get(sc.p[0], "/slow" if i % 5 == 0 else "/k%d" % k)
                if got[0] != 200:
                    bad.append(got)

        all_of = [threading.Thread(target=client, args=(k,)) for k in range(8)]
        for t in all_of:
            t.start()
        for t in all_of:
            t.join()
        tap.eq(bad, [], "160 requests of 8 clients at once on 4 threads go through one connection")


def checked(tap, args):
    """The only connection serves a thread all the time: checks of another one wait, and say nothing if it is in vain."""
    with Scene(args.program, args.program, threads=4) as sc:
        sc.values["check"] = "check inter 50ms rise 1 fall 1"
        sc.start_edge()
        tap.ok(lib.until(lambda: sc.edge.stats()["be", "s1"]["status"] == "DOWN"), "no connection: a check says that it is down")
        sc.start_origin()
        tap.ok(sc.works(), "its first connection brings it up")
        stop, bad = threading.Event(), []

        def client():
            with lib.connect(sc.p[0]) as s:
                while not stop.is_set():
                    got = get(None, "/long", s)
                    if got[0] != 200:
                        bad.append(got)

        clients = [threading.Thread(target=client) for _ in range(4)]
        for t in clients:
            t.start()
        before = sc.edge.info()["CumReq"]
        lib.until(lambda: int(sc.edge.info()["CumReq"]) > int(before) + 12)
        row = sc.edge.stats()["be", "s1"]
        stop.set()
        for t in clients:
            t.join()
        tap.eq((row["status"][:2], row["chkdown"], bad), ("UP", "1", []), "requests that never end at the same time: it stays up")
        sc.origin.stop()
        tap.ok(lib.until(lambda: sc.edge.stats()["be", "s1"]["status"] == "DOWN"), "its last connection is gone: it is down")


def comes_back(tap, args):
    with Scene(args.program, args.program, n=3) as sc:
        sc.start_origin()
        for i in range(3):
            sc.start_edge()
            tap.ok(sc.works(), "start %d of the side that is dialled: requests go" % (i + 1))
            sc.edge.stop()
        sc.start_edge()
        for i in range(3):
            sc.origin.stop()
            tap.ok(lib.until(lambda: get(sc.p[0])[0] == 503), "without its other end a server has nothing")
            sc.start_origin()
            tap.ok(sc.works(), "start %d of the side that dials: requests go" % (i + 2))
        tap.ok(lib.until(lambda: sc.origin.stats()["in", "FRONTEND"]["scur"] == "3"), "all three are there again")


def idle(tap, args):
    """The end of an idle connection is that of one: the next is opened at once."""
    with Scene(args.program, args.program, client="300ms") as sc:
        sc.start_edge()
        sc.start_origin()
        tap.ok(sc.works(), "requests go")
        tap.ok(lib.until(lambda: int(sc.origin.stats()["in", "FRONTEND"]["stot"]) > 2), "idle connections end and are replaced")
        tap.ok(sc.works(), "requests go still")


def reloads(tap, args):
    with Scene(args.program, args.program, n=2) as sc:
        sc.start_edge()
        sc.start_origin()
        sc.works()
        for side, conf in (("edge", EDGE), ("origin", ORIGIN)):
            for n in range(2, 5):
                sc.values["version"] = "v%d" % n
                p = getattr(sc, side)
                with open(p.conf_path, "w") as f:
                    f.write("global\n\tstats socket %s level admin mode 600\n%s" % (p.ctl_path, conf.format(**sc.values)))
                tap.ok("Success=1" in p.ctl("reload"), "%s: reload %d" % (side, n))
                want = b"v%d" % n
                at = 2 if side == "edge" else 0
                tap.ok(lib.until(lambda: (get(sc.p[0])[1].split() + [b""] * 3)[at] == want), "%s: its new configuration serves" % side)
        tap.ok(lib.until(lambda: sc.origin.stats()["in", "FRONTEND"]["scur"] == "2"), "there are as many connections as before")
        sc.values["n"] = 1
        p = sc.origin
        with open(p.conf_path, "w") as f:
            f.write("global\n\tstats socket %s level admin mode 600\n%s" % (p.ctl_path, ORIGIN.replace("frontend in\n\tbind rhttp@out/d1 nbconn {n}", "frontend in\n\tbind 127.0.0.1:{q}").format(q=lib.ports(1)[0], **sc.values)))
        tap.ok("Success=1" in p.ctl("reload"), "a reload takes the line away")
        tap.ok(lib.until(lambda: get(sc.p[0])[0] == 503), "its connections end with it")


FRAMES = [
    b"", b"\0" * 100, b"GET / HTTP/1.1\r\nhost: a\r\n\r\n", h2.PREFACE, h2.PREFACE[:10],
    h2.PREFACE + h2.frame(h2.PING, 0, 0, b"12345678"),
    h2.PREFACE + h2.frame(h2.SETTINGS, 0, 0, b"\0\2\0\0\0\1") + h2.frame(h2.SETTINGS, 1, 0) + h2.frame(h2.HEADERS, 5, 1, b"\x82\x84\x86"),
    h2.PREFACE + h2.frame(h2.SETTINGS, 0, 0) + h2.frame(h2.HEADERS, 5, 2, b"\x88"),
    h2.PREFACE + h2.frame(h2.SETTINGS, 0, 0) + h2.frame(h2.DATA, 1, 1, b"x"),
    h2.PREFACE + h2.frame(h2.SETTINGS, 0, 0) + h2.frame(h2.GOAWAY, 0, 0, b"\0" * 8),
    h2.PREFACE + h2.frame(h2.SETTINGS, 0, 0) + h2.frame(h2.RST_STREAM, 0, 1, b"\0\0\0\0"),
    h2.PREFACE + h2.frame(h2.SETTINGS, 0, 0) * 2000,
]


def bad_diallers(tap, args):
    with Scene(args.program, args.program) as sc:
        sc.start_edge()
        for data in FRAMES:
            with lib.connect(sc.p[1]) as s:
                s.sendall(data)
                get(sc.p[0])
        for data in FRAMES:
            s = lib.connect(sc.p[1])
            s.sendall(data)
            lib.reset(s)
        tap.ok(sc.edge.alive(), "clients that are none, or leave, do no harm")
        tap.ok(lib.until(lambda: get(sc.p[0])[0] == 503), "none of them is left as a connection to the server")
        sc.start_origin()
        tap.ok(sc.works(), "and a good one is taken")


def bad_listeners(tap, args):
    with Scene(args.program, args.program) as sc:
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", sc.p[1]))
        listener.listen(16)
        listener.settimeout(lib.PATIENCE)
        sc.start_origin()
        kept, came = [], 0
        for data in [b"HTTP/1.1 400 Bad\r\n\r\n", b"\0" * 9, h2.frame(h2.SETTINGS, 0, 0)[:5], None]:
            c = listener.accept()[0]
            came += c.recv(100).startswith(h2.PREFACE[:20])
            if data is None:
                kept.append(c) # never says anything
                continue
            c.sendall(data)
            c.close()
        came += listener.accept()[0].recv(100).startswith(h2.PREFACE[:20])
        tap.eq(came, 5, "servers that are none are tried again")
        tap.ok(sc.origin.alive(), "and do no harm")
        for c in kept:
            c.close()
        listener.close()
        sc.start_edge()
        tap.ok(sc.works(), "a good one is found at last")
        sc.origin.stop()
        sc.start_origin()
        sc.edge.stop()


def main():
    args = lib.arguments(__doc__, ("reference", os.environ.get("REFERENCE", ""), "the program to compare with"))
    tap = lib.Tap()
    pairs = [(args.program, args.program, "both sides")]
    if args.reference:
        pairs += [(args.program, args.reference, "the reference dials"), (args.reference, args.program, "the reference is dialled")]
    for edge, origin, what in pairs:
        tap.attempt(what, roundtrips, tap, edge, origin, what)
    tap.run((many, checked, comes_back, idle, reloads, bad_diallers, bad_listeners), args)
    tap.done()


lib.guarded(main)
