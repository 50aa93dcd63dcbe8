#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Idle server connections between threads: taken over, bounded by pool-max-conn, purged after
pool-purge-delay, never shared where http-reuse forbids it, and never answered with another's bytes.
"""
import threading

import lib

CONF = """
	nbthread {threads}
defaults
	mode http
	timeout connect 5s
	timeout client 10s
	timeout server 10s
listen px
	bind 127.0.0.1:{port}
	http-reuse {reuse}
	server s1 127.0.0.1:{s1} {options}
"""


class Scene:
    def __init__(self, args, reuse, options="", threads=4, handler=lib.echo_handler):
        self.port = lib.ports(1)[0]
        self.server = lib.Server(handler)
        self.proxy = lib.Proxy(args.program, CONF.format(
            threads=threads, port=self.port, reuse=reuse, s1=self.server.port, options=options))

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.proxy.__exit__()
        self.server.close()

    def row(self):
        return self.proxy.stats()["px", "s1"]

    def client(self, requests, tag="c"):
        """One client connection; returns how many answers were its own."""
        s = lib.connect(self.port)
        r = lib.Reader(s)
        good = 0
        for i in range(requests):
            path = "/%s-%d" % (tag, i)
            s.sendall(b"GET %s HTTP/1.1\r\nHost: x\r\n\r\n" % path.encode())
            got = r.response()
            good += bool(got and got[0] == 200 and got[1].get("x-url") == path)
        s.close()
        return good

    def crowd(self, clients, requests):
        """Clients at once; returns how many answers were right."""
        good = []
        crowd = [threading.Thread(target=lambda k=k: good.append(self.client(requests, "k%d" % k)))
                 for k in range(clients)]
        for t in crowd:
            t.start()
        for t in crowd:
            t.join()
        return sum(good)


def take_over(tap, args):
    with Scene(args, "always") as sc:
        good = sum(sc.client(1) for _ in range(60))
        row = sc.row()
        tap.eq(good, 60, "always: 60 clients, one behind the other, are served")
        # a client may come before the connection of the one before it is idle
        connects = int(row["connect"])
        tap.ok(connects <= 10, "always: few server connections for all", connects)
        tap.eq(int(row["reuse"]), 60 - connects, "always: connect + reuse")
        tap.eq(sc.server.accepted, connects, "always: connections at the server")
    with Scene(args, "never") as sc:
        good = sum(sc.client(2) for _ in range(20))
        row = sc.row()
        tap.eq(good, 40, "never: served")
        tap.eq((row["connect"], row["reuse"]), ("20", "20"), "never: one connection per client")
    with Scene(args, "safe") as sc:
        good = sum(sc.client(3) for _ in range(20))
        row = sc.row()
        tap.eq(good, 60, "safe: served")
        tap.eq((row["connect"], row["reuse"]), ("20", "40"), "safe: each first request connects")


def bounds(tap, args):
    for limit in (0, 2):
        with Scene(args, "always", "pool-max-conn %d" % limit) as sc:
            tap.eq(sc.crowd(12, 20), 240, "pool-max-conn %d: a crowd is served" % limit)
            lib.until(lambda: sc.row()["scur"] == "0")
            tap.ok(lib.until(lambda: int(sc.row()["idle_conn_cur"]) + int(sc.row()["safe_conn_cur"])
                             <= limit), "pool-max-conn %d: no more stay idle" % limit, sc.row())
            tap.ok(int(sc.row()["src_ilim"]) == limit, "pool-max-conn %d: shown" % limit, sc.row())
    with Scene(args, "always", "pool-purge-delay 100ms") as sc:
        tap.eq(sc.crowd(12, 20), 240, "pool-purge-delay: a crowd is served")
        tap.ok(lib.until(lambda: sc.row()["srv_icur"] == "0"), "pool-purge-delay: idle ones end",
               sc.row())
        tap.eq(sc.client(3), 3, "pool-purge-delay: served again")


def crowds(tap, args):
    for mode in ("never", "safe", "aggressive", "always"):
        with Scene(args, mode) as sc:
            tap.eq(sc.crowd(16, 50), 800, mode + ": every answer goes to its own client")
            row = sc.row()
            tap.eq(int(row["connect"]) + int(row["reuse"]), 800, mode + ": connect + reuse")
            tap.eq(sc.server.accepted, int(row["connect"]), mode + ": connections at the server")
            tap.ok(lib.until(lambda: sc.row()["used_conn_cur"] == "0"), mode + ": none stays used")


def closing_server(tap, args):
    """A server that closes after each answer: never a request on a dead connection."""
    def once(sock):
        r = lib.Reader(sock)
        head = r.head()
        if head:
            url = head[0].split(" ")[1].encode()
            sock.sendall(b"HTTP/1.1 200 OK\r\nx-url: %s\r\ncontent-length: 2\r\n"
                         b"connection: close\r\n\r\nok" % url)

    with Scene(args, "always", handler=once) as sc:
        tap.eq(sum(sc.client(3) for _ in range(30)), 90, "a server that says close: all are served")
        tap.eq(sc.row()["reuse"], "0", "a server that says close: nothing is reused")


def pipelined_behind_upload(tap, args):
    """Requests behind a fast upload come in reads of several blocks: each goes out just once."""
    upload = (b"POST /up HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
              + (b"ea60\r\n" + b"z" * 60000 + b"\r\n") * 40 + b"0\r\n\r\n")
    for size, pad in ((100, 37), (100, 113), (700, 500), (3000, 500)):
        posts = [b"POST /n%d HTTP/1.1\r\nHost: x\r\nX-Pad: %s\r\nContent-Length: %d\r\n\r\n"
                 % (i, b"p" * pad, size) + b"b" * size for i in range(150)]
        with Scene(args, "safe", threads=1) as sc:
            s = lib.connect(sc.port)
            r = lib.Reader(s)
            threading.Thread(target=s.sendall, args=(upload + b"".join(posts),)).start()
            got = [r.response() for _ in range(151)]
            urls = [g and g[1].get("x-url") for g in got]
            tap.eq(urls, ["/up"] + ["/n%d" % i for i in range(150)],
                   "pipelined POSTs of %d bytes, pad %d: each is sent once, in order" % (size, pad))
            s.close()


def main():
    args = lib.arguments(__doc__)
    tap = lib.Tap()
    tap.run((take_over, bounds, crowds, closing_server, pipelined_behind_upload), args)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
