#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes to memory that threads share, per request on kept connections: none process-wide. Needs a
program made with DEBUG=1, which counts them (doc/internals/shared-memory.md); skipped otherwise.
"""
import lib

REQUESTS = 500
CONF = """
	nbthread 4
	thread-groups 2
defaults
	mode http
	timeout connect 5s
	timeout client 10s
	timeout server 10s
frontend fe
	bind 127.0.0.1:{port}
	default_backend be
backend be
	balance {balance}
	server s1 127.0.0.1:{server}
"""


def counts(proxy):
    """{name: sum over the threads} of the lines of show activity that are asked for."""
    found = {}
    for line in proxy.ctl("show activity 0").split("\n"):
        name, _, value = line.partition(":")
        if name.startswith("shared_"):
            found[name] = int(value.split()[0])
    return found


def kept(tap, args, balance):
    port = lib.ports(1)[0]
    server = lib.Server(lib.echo_handler)
    conf = CONF.format(port=port, balance=balance, server=server.port)
    with lib.Proxy(args.program, conf) as proxy:
        if not counts(proxy):
            tap.skip("kept requests: %s" % balance, "not made with DEBUG=1")
            server.close()
            return
        s = lib.connect(port)
        r = lib.Reader(s)

        def ask(n):
            good = 0
            for _ in range(n):
                s.sendall(b"GET /x HTTP/1.1\r\nHost: x\r\n\r\n")
                got = r.response()
                good += bool(got and got[0] == 200)
            return good
        ask(50)
        before = counts(proxy)
        between = counts(proxy)
        tap.eq(ask(REQUESTS), REQUESTS, balance + ": served on one connection")
        after = counts(proxy)
        s.close()
        # reading the counters is a connection of its own, and maxima and seconds move now and then
        process = (after["shared_process"] - between["shared_process"]
                   - (between["shared_process"] - before["shared_process"]))
        group = after["shared_group"] - between["shared_group"]
        tap.ok(process < REQUESTS / 10, balance + ": no process-wide write per request", process)
        tap.ok(group >= REQUESTS, balance + ": the group's are counted", group)
    server.close()


def main():
    args = lib.arguments(__doc__)
    tap = lib.Tap()
    for balance in ("roundrobin", "static-rr", "leastconn", "random"):
        tap.attempt(balance, kept, tap, args, balance)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
