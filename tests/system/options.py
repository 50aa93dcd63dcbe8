#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What options of the command line, capabilities of the file and some commands do while the program runs: -4, -dF, -dS, -dZ,
-dM, -db, -S, -x, -m; memory that is given back; timeouts and locks of the Runtime API; agents that answer too late."""
import array
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import time

import lib
import lib_dns

WEB = """
defaults
	mode http
	timeout connect 5s
	timeout client 5s
	timeout server 5s
	{more}
listen web
	bind 127.0.0.1:{port}
	server s 127.0.0.1:{server}
"""
BIND, RAW, ADMIN = 1 << 10, 1 << 13, 1 << 12


def large(sock):
    """A server of one answer that is worth splicing."""
    if lib.Reader(sock).head():
        sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 4000000\r\n\r\n" + bytes(4000000))


def pipes(args, options, more):
    """How many pipes the process has made for one large answer."""
    port, server = lib.ports(1)[0], lib.Server(large)
    with lib.Proxy(args.program, WEB.format(port=port, server=server.port, more=more), args=options) as p:
        with lib.connect(port) as s:
            s.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            whole = len(lib.Reader(s).response()[2]) == 4000000
        info = p.info()
        server.close()
        return whole, int(info["PipesUsed"]) + int(info["PipesFree"]) > 0


def splicing(tap, args):
    for options, want in (((), True), (("-dS",), False), (("-dF",), False), (("-dZ",), False)):
        tap.eq(pipes(args, options, "option splice-response"), (True, want), "splicing with %s" % (" ".join(options) or "no option"))


def families(tap, args):
    """-4 is stronger than dns-accept-family. Of a name that is not there the other family is not asked for either."""
    for options, family, want in (((), "ipv6", {28}), (("-4",), "ipv6", {1}), ((), "ipv4", {1}), ((), "ipv4,ipv6", {1, 28})):
        dns = lib_dns.Dns()
        conf = ("\tdns-accept-family %s\nresolvers r\n\tnameserver d 127.0.0.1:%d\n\ttimeout retry 200\n\ttimeout resolve 200\n" %
                (family, dns.port))
        conf += WEB.format(port=lib.ports(1)[0], server=1, more="") + "\tserver t foo.example.com:80 resolvers r init-addr none\n"
        with lib.Proxy(args.program, conf, args=options):
            lib.until(lambda: len(dns.seen) > 3)
            tap.eq({q.kind for q in dns.seen}, want, "types that are asked for: %s dns-accept-family %s" % (" ".join(options), family))
        dns.close()


def main():
    args = lib.arguments(__doc__)
    tap = lib.Tap()
    tap.run([splicing, families], args)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
