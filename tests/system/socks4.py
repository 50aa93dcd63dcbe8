#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Servers and their checks behind a SOCKS4 proxy: what it is asked, in which order the handshakes
come, and what becomes of a proxy that refuses, stops in the middle or answers byte by byte.
"""
import socket
import ssl
import struct
import subprocess
import tempfile
import threading
import os

import lib

CONF = """
	log 127.0.0.1:{log} local0
defaults
	mode http
	timeout connect 3s
	timeout client 5s
	timeout server 5s
	log global
	option log-health-checks
	retries 0
	log-format "id=%HP st=%ST ts=%ts"
frontend fe
	bind 127.0.0.1:{fe}
	use_backend %[path,field(2,/)]
backend plain
	server s {to} socks4 127.0.0.1:{good}
backend proxied
	server s {to} socks4 127.0.0.1:{good} send-proxy
backend tls
	server s 127.0.0.1:{tls} socks4 127.0.0.1:{good} ssl verify none
backend tlsproxied
	server s 127.0.0.1:{tlsproxied} socks4 127.0.0.1:{good} ssl verify none send-proxy
backend slow
	server s {to} socks4 127.0.0.1:{slow}
backend denied
	server s {to} socks4 127.0.0.1:{denied}
backend cut
	server s {to} socks4 127.0.0.1:{cut}
backend stopped
	server s {to} socks4 127.0.0.1:{stopped}
backend ipv6
	server s [::1]:80 socks4 127.0.0.1:{good}
backend kept
	http-reuse always
	server s {to} socks4 127.0.0.1:{good}
backend checked
	balance roundrobin
	option httpchk GET /checked
	server via {to} socks4 127.0.0.1:{check} check check-via-socks4 inter 100ms
	server direct {to} socks4 127.0.0.1:{other} check inter 100ms
backend checkrule
	option httpchk
	http-check connect via-socks4
	http-check send meth GET uri /checked
	server via {to} socks4 127.0.0.1:{rule} check inter 100ms
backend checkdenied
	server s {to} socks4 127.0.0.1:{denied} check check-via-socks4 inter 100ms
backend checkcut
	server s {to} socks4 127.0.0.1:{cut} check check-via-socks4 inter 100ms
"""


def copy(a, b):
    try:
        while True:
            part = a.recv(65536)
            if not part:
                break
            b.sendall(part)
        b.shutdown(socket.SHUT_WR)
    except OSError:
        pass


class Socks:
    """A SOCKS4 proxy that connects, or does what <how> says; keeps what it was asked."""

    def __init__(self, how="good"):
        self.how, self.asked = how, []
        self.server = lib.Server(self.one)
        self.port = self.server.port

    def one(self, s):
        head = b""
        while len(head) < 9 or head[-1]:
            part = s.recv(1) # what comes behind the request must not come before its answer
            if not part:
                return
            head += part
        self.asked.append(head)
        if self.how == "cut":
            return
        if self.how == "stopped":
            s.sendall(b"\0\x5a\0")
            return
        if self.how == "denied":
            s.sendall(b"\0\x5b" + bytes(6))
            s.recv(1)
            return
        port, = struct.unpack(">H", head[2:4])
        there = lib.connect(port, address=socket.inet_ntoa(head[4:8]))
        answer = b"\0\x5a" + bytes(6)
        for i in range(8) if self.how == "slow" else ():
            s.sendall(answer[i:i + 1])
        if self.how != "slow":
            s.sendall(answer)
        threading.Thread(target=copy, args=(there, s), daemon=True).start()
        copy(s, there)


def certificate(folder):
    path = os.path.join(folder, "x.pem")
    key = os.path.join(folder, "x.key")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=x",
                    "-keyout", key, "-out", path, "-days", "2"], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return path, key


def proxy_line_handler(context, seen):
    """Reads a line of the PROXY protocol, then speaks TLS."""
    def one(s):
        line = b""
        while not line.endswith(b"\r\n"):
            line += s.recv(1)
        seen.append(line)
        lib.echo_handler(context.wrap_socket(s, server_side=True))
    return one


def get(port, path):
    s = lib.connect(port)
    s.sendall(b"GET %s HTTP/1.1\r\nhost: x\r\n\r\n" % path.encode())
    return lib.Reader(s).response()


def request(port):
    return b"\4\1" + struct.pack(">H", port) + b"\x7f\0\0\1HAProxy\0"


def traffic(tap, t):
    for name in ("plain", "slow", "kept", "kept", "tls"):
        got = get(t.fe, "/%s/x" % name)
        tap.eq(got and (got[0], got[1].get("x-url")), (200, "/%s/x" % name), name + ": served")
    tap.eq(t.socks["good"].asked.count(request(t.http.port)), 2,
           "the proxy is asked for the server's address, once for each connection")
    tap.eq(t.socks["good"].asked.count(request(t.tls.port)), 1, "and before a TLS handshake")
    got = get(t.fe, "/tlsproxied/x")
    tap.eq(got and got[0], 200, "PROXY line and TLS: served")
    tap.ok(t.lines and t.lines[0].startswith(b"PROXY TCP4 "), "the line comes in the clear, first",
           t.lines)
    got = get(t.fe, "/proxied/x")
    tap.eq(got and (got[0], got[1].get("x-url")), (200, "/proxied/x"), "PROXY line: served")
    # (the reference waits for the rest of an answer that has ended)
    for name in ("denied", "cut", "ipv6") + (() if t.is_reference else ("stopped",)):
        got = get(t.fe, "/%s/x" % name)
        tap.eq(got and got[0], 503, name + ": 503")
        tap.ok(t.log.find("id=/%s/x st=503 ts=SC" % name), name + ": the log tells")
    tap.ok(not any(a[4:8] == b"\0\0\0\1" for a in t.socks["good"].asked),
           "an IPv6 address is not asked for")


def checks(tap, t):
    def row(be, sv):
        return t.proxy.stats()[be, sv]
    for be, sv in (("checked", "via"), ("checked", "direct"), ("checkrule", "via")):
        # ("* L7OK" while the next one runs)
        tap.ok(lib.until(lambda: row(be, sv)["check_status"] == "L7OK"), "%s/%s: up" % (be, sv), row(be, sv)["check_status"])
    tap.ok(request(t.http.port) in t.socks["check"].asked, "the check went through")
    tap.ok(request(t.http.port) in t.socks["rule"].asked, "that of a rule too")
    tap.eq(t.socks["other"].asked, [], "without check-via-socks4 checks go to the server")
    for be, text in (("checkdenied", "SOCKS4 Proxy deny the request"),
                     ("checkcut", "SOCKS4 Proxy read error during handshake")):
        lib.until(lambda: row(be, "s")["check_status"].endswith("SOCKERR"))
        tap.ok(row(be, "s")["check_status"].endswith("SOCKERR"), be + ": socket error")
        tap.ok(t.log.find("Health check for server %s/s failed, reason: Socket error, info: "
                          "\"%s" % (be, text)), be + ": the log tells")


class Test:
    pass


def main():
    args = lib.arguments(__doc__)
    tap, t = lib.Tap(), Test()
    t.is_reference = lib.is_reference(args.program)
    t.log, t.lines = lib.Syslog(), []
    t.socks = {n: Socks(n) for n in ("good", "slow", "denied", "cut", "check", "rule", "other",
                                   "stopped")}
    # a line in front of a request is not for lib.echo_handler
    def http(s):
        if s.recv(6, socket.MSG_PEEK) == b"PROXY ":
            while s.recv(1) != b"\n":
                pass
        lib.echo_handler(s)
    t.http = lib.Server(http)
    with tempfile.TemporaryDirectory() as folder:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*certificate(folder))
        t.tls = lib.Server(lambda s: lib.echo_handler(context.wrap_socket(s, server_side=True)))
        tlsproxied = lib.Server(proxy_line_handler(context, t.lines))
        t.fe = lib.ports(1)[0]
        conf = CONF.format(fe=t.fe, log=t.log.port, to="127.0.0.1:%d" % t.http.port,
                           tls=t.tls.port, tlsproxied=tlsproxied.port,
                           **{n: s.port for n, s in t.socks.items()})
        with lib.Proxy(args.program, conf) as t.proxy:
            tap.run((traffic, checks), t)
            tap.ok(t.proxy.alive(), "alive", t.proxy.output()[-500:])
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
