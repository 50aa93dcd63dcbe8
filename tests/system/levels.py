#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The level that each command of the Runtime API needs. Refused is what needs a higher one than that of the socket; whatever
else a command says is no matter here.

differs: ctl-levels
"""
import os
import socket

import lib

CERT = os.path.dirname(os.path.abspath(__file__)) + "/../../reg-tests/tls/certs/a.pem"
CONF = """	stats socket 127.0.0.1:{p[0]} level user
	stats socket 127.0.0.1:{p[1]} level operator
defaults
	mode http
	timeout connect 5s
	timeout client 5s
	timeout server 5s
frontend fe
	bind 127.0.0.1:{p[2]} ssl crt {cert}
backend be
	balance roundrobin
	server s1 127.0.0.1:1
"""

USER = """
show version|show info|show stat|show servers state|show servers state be|show servers conn|show backend|show resolvers|show schema json
show ssl cert|show ssl ca-file|show ssl crl-file|show ssl sni|show ssl providers|show tasks|show threads|show cli sockets|show pools|show anon|help
get weight be/s1|echo a|prompt p|set severity-output none|set timeout cli 1s|show events|show trace
"""
OPERATOR = """
show sess|show errors|show errors x|show fd|show activity|show env|show startup-logs|clear counters|show libs
"""
ADMIN = """
show acl|show map|show acl #0|show map #0|get acl #0 x|get map #0 x|add map #0 a b|add acl #0 a|del map #0 a|del acl #0 a|clear map #0|clear acl #0
prepare map #0|commit map @1 #0|set map #0 a b|show profiling|set profiling tasks on|show ssl crt-list|show ssl ocsp-response
show ssl ocsp-updates|wait 1ms|set server be/s1 state ready|set weight be/s1 1|disable server be/s1|enable server be/s1|add server be/s2 127.0.0.1:1
del server be/s2|set maxconn global 10|set maxconn frontend fe 10|set rate-limit sessions global 10|shutdown frontend fe|shutdown session 0x1
disable frontend fe|enable health be/s1|new ssl cert x|set ssl cert x|commit ssl cert x|abort ssl cert x|del ssl cert x|clear counters all
"""
OURS = {"dump ssl cert " + CERT: 2, "show dev": 1, "set var proc.x int(1)": 1}


def words(text):
    return [c for c in text.replace("\n", "|").split("|") if c]


def refused(port, command):
    with lib.connect(port) as s:
        s.sendall(command.encode() + b"\n")
        try:
            return s.recv(65536).startswith(b"Permission denied")
        except socket.timeout:
            return False


def main():
    args = lib.arguments(__doc__)
    tap = lib.Tap()
    p = lib.ports(3)
    needed = {}
    for level, text in enumerate((USER, OPERATOR, ADMIN)):
        needed.update({c: level for c in words(text)})
    if not lib.is_reference(args.program):
        needed.update(OURS)
    with lib.Proxy(args.program, CONF.format(p=p, cert=CERT)) as proxy:
        for command, level in sorted(needed.items()):
            got = [refused(p[have], command) for have in (0, 1)]
            tap.eq(got, [level > 0, level > 1], "%s: level %s" % (command.replace(CERT, "CERT"), ("user", "operator", "admin")[level]))
        tap.ok(proxy.alive(), "the program lives")
    tap.done()


lib.guarded(main)
