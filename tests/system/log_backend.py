#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Log backends (mode log): lines go to one server each, by the balancing that was asked for, as
datagrams or over TCP; a server in maintenance gets none. Manual: configuration 4.2, `log global`, backend@.
"""
import re
import socket

import lib
from log_forward import Target
from rings import Collector

CONF = """log-forward in
	dgram-bind 127.0.0.1:{udp}
	log backend@logs format raw local0
backend logs
	mode log
	{balance}
{servers}
"""


class Logs:
    """A section that gives all to a backend of three targets."""

    def __init__(self, program, balance, servers=None, extra=""):
        self.targets = [Target() for _ in range(3)]
        self.udp = lib.ports(1)[0]
        if servers is None:
            servers = "\n".join("\tserver s%d udp@127.0.0.1:%d %s" % (n, t.port, extra)
                                for n, t in enumerate(self.targets))
        self.proxy = lib.Proxy(program, CONF.format(udp=self.udp, balance=balance,
                                                    servers=servers))
        self.sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)

    def send(self, text):
        self.sender.sendto(b"<13>" + text.encode(), ("127.0.0.1", self.udp))

    def where(self, text):
        """Sends a message; returns which target got it."""
        self.send(text)

        def look():
            for n, t in enumerate(self.targets):
                t.sock.setblocking(False)
                try:
                    if t.sock.recv(65536).decode() == text + "\n":
                        return n + 1
                except BlockingIOError:
                    pass
            return 0

        return lib.until(look) - 1

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.proxy.__exit__()


def main():
    args = lib.arguments(__doc__)
    tap = lib.Tap()
    with Logs(args.program, "balance roundrobin") as logs:
        got = [logs.where("message %d" % n) for n in range(6)]
        tap.ok(sorted(got[:3]) == [0, 1, 2] and got[3:] == got[:3], "each in turn", got)
        logs.proxy.ctl("disable server logs/s1")
        got = [logs.where("message %d" % n) for n in range(6)]
        tap.ok(set(got) == {0, 2}, "but one in maintenance", got)
    with Logs(args.program, "balance random") as logs:
        got = {logs.where("message %d" % n) for n in range(40)}
        tap.eq(got, {0, 1, 2}, "random: all of them")
    with Logs(args.program, "balance sticky") as logs:
        got = {logs.where("message %d" % n) for n in range(5)}
        tap.eq(got, {0}, "sticky: the first one")
        logs.proxy.ctl("disable server logs/s0")
        got = {logs.where("message %d" % n) for n in range(5)}
        tap.ok(len(got) == 1 and got != {0}, "another when that is gone", got)
        after = got
        logs.proxy.ctl("enable server logs/s0")
        got = {logs.where("message %d" % n) for n in range(5)}
        tap.eq(got, after, "which keeps them when it is back")
    with Logs(args.program, "balance log-hash field(2,:)") as logs:
        same = {logs.where("%d:same:%d" % (n, n)) for n in range(8)}
        tap.eq(len(same), 1, "log-hash: what is hashed alike goes to one")
        other = {logs.where("x:%d:y" % n) for n in range(40)}
        tap.eq(other, {0, 1, 2}, "what is not goes to all")
    port = lib.ports(1)[0]
    collector = Collector(port, True)
    with Logs(args.program, "timeout connect 2s\n\ttimeout server 4s",
              "\tserver s0 127.0.0.1:%d log-proto octet-count log-bufsize 8192" % port) as logs:
        for n in range(10):
            logs.send("n=/%d end" % n)
        tap.ok(lib.until(lambda: collector.numbers() == list(range(10))),
               "a server over TCP gets all", collector.numbers())
    with Logs(args.program, "balance roundrobin", extra="disabled") as logs:
        before = int(logs.proxy.info()["DroppedLogs"])
        for n in range(5):
            logs.send("lost")
        if not lib.is_reference(args.program):
            tap.ok(lib.until(lambda: int(logs.proxy.info()["DroppedLogs"]) == before + 5),
                   "without server the lines are counted as lost")
        tap.ok(logs.proxy.alive(), "the process lives")
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
