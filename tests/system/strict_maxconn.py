#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""strict-maxconn under traffic from several threads: every request is served, and the kernel never counts more
connections to the server than maxconn.
"""
import collections
import threading
import time

import lib

CONF = "\n\tnbthread 4" + lib.FRONTEND + """backend be
	http-reuse {reuse}
	server s1 127.0.0.1:{server} maxconn 3 strict-maxconn {more}
"""
MAXCONN = 3


def listed(port):
    """The sockets (inodes) of connections to this port that the kernel lists as open at the client's end."""
    with open("/proc/net/tcp") as f:
        rows = [line.split() for line in f.readlines()[1:]]
    return {row[9] for row in rows if row[3] == "01" and row[2].endswith(":%04X" % port)}


def established(port):
    """How many were open at one moment. The kernel's list is no picture of one: connections end and begin while it is
    read. Those that are in two lists were open between the two."""
    return len(listed(port) & listed(port))


class Answers(lib.Server):
    """Answers requests after a moment, so that connections last; each twentieth one ends its connection."""

    def __init__(self):
        self.lock, self.at_work, self.most = threading.Lock(), 0, 0
        super().__init__(self.answer)

    def work(self, n):
        """How many requests are here at once: each has a connection, for a look from outside may come too rarely."""
        with self.lock:
            self.at_work += n
            self.most = max(self.most, self.at_work)

    def answer(self, sock):
        r = lib.Reader(sock)
        served = 0
        while r.head():
            served += 1
            self.work(1)
            time.sleep(0.005)
            self.work(-1)
            last = served % 20 == 0
            close = b"Connection: close\r\n" if last else b""
            sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n%s\r\nok" % close)
            if last:
                break


def crowd(port, rounds, got):
    for _ in range(rounds):
        with lib.connect(port) as s:
            r = lib.Reader(s)
            for _ in range(4):
                s.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
                response = r.response()
                got[response[0] if response else None] += 1


def under_traffic(tap, args):
    for reuse, more in (("safe", ""), ("always", ""), ("aggressive", "pool-max-conn 2")):
        server = Answers()
        port = lib.ports(1)[0]
        with lib.Proxy(args.program, CONF.format(fe=port, server=server.port, reuse=reuse, more=more)) as proxy:
            got, most = collections.Counter(), 0
            clients = [threading.Thread(target=crowd, args=(port, 12, got)) for _ in range(12)]
            for c in clients:
                c.start()
            while any(c.is_alive() for c in clients):
                most = max(most, established(server.port))
            for c in clients:
                c.join()
            name = "http-reuse %s: " % reuse
            if lib.is_reference(args.program):  # where one is about to close, a request may fail there
                tap.ok(got[200] + got[503] == 12 * 12 * 4 and got[200] > got[503], name + "requests are served", got)
            else:
                tap.eq(dict(got), {200: 12 * 12 * 4}, name + "every request is served")
            tap.ok(server.most == MAXCONN and most <= MAXCONN, name + "as many connections as maxconn, and no more",
                   "at work %d, open %d" % (server.most, most))
            tap.ok(proxy.alive(), name + "alive", proxy.output()[-500:])


def main():
    args = lib.arguments(__doc__)
    tap = lib.Tap()
    tap.run((under_traffic,), args)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
