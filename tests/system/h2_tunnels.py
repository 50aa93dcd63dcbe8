#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tunnels between HTTP/2 clients and HTTP/1 servers: WebSocket by extended CONNECT (RFC 8441), CONNECT.

Held: bytes pass both ways, whichever side speaks first, and in any amount; each end closes its half; a
server that does not prove that it understood the handshake opens no tunnel; other streams go on meanwhile.
"""
import base64
import hashlib

import lib
from wire import h2

CONF = """
defaults
	mode http
	timeout connect 5s
	timeout client 5s
	timeout server 5s
	timeout tunnel 5s
frontend f
	bind 127.0.0.1:{fe} proto h2
	http-request return status 200 if {{ path /local }}
	default_backend b
backend b
	server s1 127.0.0.1:{s1}
"""
MAGIC = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


def echo(sock, r):
    """Sends back what comes, in upper case, up to the end."""
    rest, r.buf = r.buf, b""
    while True:
        if rest:
            sock.sendall(rest.upper())
        rest = sock.recv(65536)
        if not rest:
            sock.sendall(b"BYE")
            return


def serve(sock):
    r = lib.Reader(sock)
    start, fields = r.head()
    method, target = start.split(" ")[:2]
    if method == "CONNECT":
        sock.sendall(b"HTTP/1.1 200 OK\r\n\r\nHELLO")
        echo(sock, r)
        return
    key = dict(fields)["sec-websocket-key"].encode()
    if target == "/wrong":
        key += b"x"
    proof = base64.b64encode(hashlib.sha1(key + MAGIC).digest())
    sock.sendall(b"HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n"
                 b"sec-websocket-accept: %s\r\n\r\nHELLO" % proof)
    echo(sock, r)


def upgrade(path="/chat"):
    return [(":method", "CONNECT"), (":protocol", "websocket"), (":scheme", "http"),
            (":path", path), (":authority", "a.example"), ("sec-websocket-version", "13")]


CONNECT = [(":method", "CONNECT"), (":authority", "a.example:443")]


def wait_for(c, stream, test):
    """Reads until <test>(bytes of the stream so far) holds; returns (status, bytes, how)."""
    status, body = None, b""
    while not test(body):
        e = c.next()
        if e is None or e[0] == "goaway":
            return status, body, "closed"
        if e[0] not in ("headers", "data", "rst") or e[1] != stream:
            continue
        if e[0] == "rst":
            return status, body, "rst"
        if e[0] == "headers":
            status = dict(e[2]).get(":status", status)
        else:
            body += e[2]
        if e[3]:
            return status, body, "end"
    return status, body, "open"


def tunnel(tap, port, name, fields):
    c = h2.Client(lib.connect(port))
    c.send(h2.headers(1, fields, end=False))
    tap.eq(wait_for(c, 1, lambda b: b == b"HELLO"), ("200", b"HELLO", "open"),
           "%s: the server speaks first" % name)
    c.send(h2.data(1, b"one") + h2.data(1, b"two", pad=5))
    tap.eq(wait_for(c, 1, lambda b: len(b) >= 6)[1], b"ONETWO", "%s: an answer" % name)
    c.send(h2.headers(3, h2.request("/local")))
    tap.eq(c.answer(3)[0], 200, "%s: another stream is served meanwhile" % name)
    c.send(h2.data(1, b"end", end=True))
    tap.eq(wait_for(c, 1, lambda b: False)[1:], (b"ENDBYE", "end"), "%s: both ends" % name)
    c.close()


def early(tap, port, name, fields):
    """What is sent before the tunnel stands is the tunnel's."""
    c = h2.Client(lib.connect(port))
    c.send(h2.headers(1, fields, end=False) + h2.data(1, b"early") + h2.data(1, b"", end=True))
    tap.eq(wait_for(c, 1, lambda b: False), ("200", b"HELLOEARLYBYE", "end"),
           "%s: bytes before the tunnel" % name)
    c.close()


def bulk(tap, port):
    c = h2.Client(lib.connect(port))
    c.send(h2.headers(1, upgrade(), end=False))
    wait_for(c, 1, lambda b: b == b"HELLO")
    got = 0
    for _ in range(40):
        c.send(h2.data(1, b"b" * 10000))
        got += len(wait_for(c, 1, lambda b: len(b) >= 10000)[1])
    tap.eq(got, 400000, "websocket: many bytes, each way")
    c.close()


def main():
    args = lib.arguments(__doc__)
    tap = lib.Tap()
    server = lib.Server(serve)
    fe = lib.ports(1)[0]
    with lib.Proxy(args.program, CONF.format(fe=fe, s1=server.port)) as proxy:
        tunnel(tap, fe, "websocket", upgrade())
        tunnel(tap, fe, "connect", CONNECT)
        if lib.is_reference(args.program):
            tap.skip("websocket: bytes before the tunnel", "it answers 500")
        else:
            early(tap, fe, "websocket", upgrade())
        bulk(tap, fe)
        c = h2.Client(lib.connect(fe))
        c.send(h2.headers(1, upgrade("/wrong"), end=False))
        status, _, how = wait_for(c, 1, lambda b: False)
        tap.ok(status in ("500", "502"), "websocket: a wrong proof opens no tunnel", repr((status, how)))
        c.close()
        tap.ok(proxy.alive(), "the proxy is alive")
    server.close()
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
