#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tunnels through HTTP/2: WebSockets (RFC 8441), other upgrades and CONNECT, in all four pairs of versions.

A client of HTTP/1 or HTTP/2 opens a WebSocket to a server of HTTP/1 or HTTP/2, bytes go both ways,
each side ends first once. Servers that do not know extended CONNECT, or refuse, are answered for.
"""
import base64
import hashlib

import lib
from wire import h2

CONF = """
defaults
	mode http
	timeout connect 2s
	timeout client 5s
	timeout server 5s
frontend h1
	bind 127.0.0.1:{fe}
	use_backend %[path,field(2,/)]
frontend h2
	bind 127.0.0.1:{fe2} proto h2
	use_backend %[path,field(2,/)]
backend one
	server s 127.0.0.1:{s1}
backend two
	server s 127.0.0.1:{s2} proto h2
backend plain
	server s 127.0.0.1:{s3} proto h2
backend down
	server s 127.0.0.1:{s1} proto h2 ws h1
"""
GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
seen = []


def accept_of(key):
    return base64.b64encode(hashlib.sha1(key.encode() + GUID).digest()).decode()


def serve_h1(sock):
    """Accepts WebSockets on /.../ws, echoes in upper case until "bye" or the end."""
    r = lib.Reader(sock)
    head = r.head()
    if not head:
        return
    fields = dict(head[1])
    seen.append((head[0], head[1]))
    if head[0].startswith("CONNECT"):
        sock.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    elif "/ws" in head[0] and fields.get("upgrade", "websocket") != "websocket":
        sock.sendall(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: %s\r\nConnection: Upgrade\r\n\r\n" %
                     fields["upgrade"].encode())
    elif "/ws" in head[0] and fields.get("upgrade") == "websocket":
        sock.sendall(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
                     b"Connection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n\r\n" %
                     accept_of(fields["sec-websocket-key"]).encode())
    else:
        sock.sendall(b"HTTP/1.1 403 No\r\nContent-Length: 2\r\n\r\nno")
        return
    data = r.buf
    while True:
        if data:
            sock.sendall(data.upper())
        if b"bye" in data:
            return
        data = sock.recv(65536)
        if not data:
            sock.sendall(b"[end]")
            return


def serve_h2(pairs):
    def serve(sock):
        peer = h2.Service(sock, pairs, timeout=20.0)
        while True:
            e = peer.next()
            if e is None:
                return
            if e[0] == "headers":
                head = dict(e[2])
                seen.append(("h2", e[2]))
                if head[":method"] == "CONNECT" and "/ws" in head.get(":path", "/ws"):
                    peer.send(h2.headers(e[1], [(":status", "200")], False))
                else:
                    peer.reply(e[1], 403, b"no")
            if e[0] == "data":
                if e[2]:
                    peer.send(h2.data(e[1], e[2].upper(), b"bye" in e[2]))
                if e[3] and b"bye" not in e[2]:
                    peer.send(h2.data(e[1], b"[end]", True))
    return serve


class H1Client:
    def __init__(self, port, path, protocol="websocket", more=""):
        self.protocol = protocol
        self.sock = lib.connect(port)
        self.r = lib.Reader(self.sock)
        self.key = "dGhlIHNhbXBsZSBub25jZQ=="
        self.sock.sendall(("GET %s HTTP/1.1\r\nHost: a.example\r\nConnection: Upgrade\r\n"
                           "Upgrade: %s\r\nSec-WebSocket-Version: 13\r\n"
                           "Sec-WebSocket-Key: %s\r\n%s\r\n" % (path, protocol, self.key, more)).encode())

    def opened(self):
        """The status; the accept key has to fit."""
        head = self.r.head()
        if not head:
            return None
        status = int(head[0].split()[1])
        fields = dict(head[1])
        first = self.protocol.split(",")[0]
        accept = accept_of(self.key) if first == "websocket" else None
        if status == 101 and (fields.get("upgrade") != first or
                              fields.get("sec-websocket-accept") != accept):
            return "101 with %r" % (fields,)
        return status

    def say(self, text, end=False):
        self.sock.sendall(text)
        if end:
            self.sock.shutdown(1)

    def hear(self, n):
        return self.r.exactly(n)

    def rest(self):
        while self.r.fill():
            pass
        out, self.r.buf = self.r.buf, b""
        return out

    def close(self):
        self.sock.close()


class H2Client:
    def __init__(self, port, path, protocol="websocket", more=()):
        self.c = h2.Client(lib.connect(port))
        self.buf = b""
        self.ended = False
        q = h2.request(path)
        e = self.c.next()
        while e and e[0] != "settings":
            e = self.c.next()
        self.knows = e and e[1].get(h2.ENABLE_CONNECT_PROTOCOL)
        self.c.send(h2.headers(1, [(":method", "CONNECT"), (":protocol", protocol)] + q[1:] +
                               [("sec-websocket-version", "13")] + list(more), end=False))

    def take(self):
        e = self.c.next()
        if e is None:
            raise EOFError("connection closed")
        if e[0] in ("rst", "goaway"):
            raise EOFError(repr(e))
        if e[0] == "headers" and e[1] == 1:
            self.ended |= e[3]
            return int(dict(e[2])[":status"])
        if e[0] == "data" and e[1] == 1:
            self.buf += e[2]
            self.ended |= e[3]
        return None

    def opened(self):
        status = None
        while status is None:
            status = self.take()
        return status

    def say(self, text, end=False):
        self.c.send(h2.data(1, text, end))

    def hear(self, n):
        while len(self.buf) < n:
            self.take()
        out, self.buf = self.buf[:n], self.buf[n:]
        return out

    def rest(self):
        while not self.ended:
            self.take()
        out, self.buf = self.buf, b""
        return out

    def close(self):
        self.c.close()


def talk(tap, name, make, good):
    """<good>: the status of a handshake that worked."""
    try:
        c = make()
        tap.eq(c.opened(), good, name + ": opened")
        c.say(b"hello")
        tap.eq(c.hear(5), b"HELLO", name + ": echoed")
        for _ in range(10):
            c.say(b"x" * 10000)
            if c.hear(10000) != b"X" * 10000:
                raise ValueError("bytes lost")
        tap.ok(True, name + ": 100 kB")
        c.say(b"bye")
        tap.eq(c.rest(), b"BYE", name + ": ended by the server")
        c.close()
        c = make()
        c.opened()
        c.say(b"last", True)
        tap.eq(c.rest(), b"LAST[end]", name + ": ended by the client")
        c.close()
    except (OSError, EOFError, ValueError) as e:
        tap.ok(False, name, "%s: %s" % (type(e).__name__, e))


def refused(tap, name, make, statuses):
    try:
        c = make()
        got = c.opened()
        c.close()
    except EOFError as e:
        got = str(e)
    tap.ok(got in statuses, name, got)


def others(tap, fe, fe2):
    """Other protocols than WebSocket."""
    key = [("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ==")]
    talk(tap, "foo, 1 to 1", lambda: H1Client(fe, "/one/ws", "foo"), 101)
    talk(tap, "foo, 2 to 1", lambda: H2Client(fe2, "/one/ws", "foo", key), 200)
    del seen[:]
    talk(tap, "foo, 1 to 2", lambda: H1Client(fe, "/two/ws", "foo"), 101)
    tap.eq([dict(h).get(":protocol") for _, h in seen], ["foo"] * 2, "the server is asked for foo")
    talk(tap, "foo, 2 to 2", lambda: H2Client(fe2, "/two/ws", "foo"), 200)
    del seen[:]
    talk(tap, "foo, bar, 1 to 2", lambda: H1Client(fe, "/two/ws", "foo, bar"), 101)
    tap.eq([dict(h).get(":protocol") for _, h in seen], ["foo"] * 2, "the server is asked for the first of two")
    talk(tap, "websocket, bar, 1 to 2", lambda: H1Client(fe, "/two/ws", "websocket, bar"), 101)
    refused(tap, "foo, 2 to an HTTP/2 server that does not know it", lambda: H2Client(fe2, "/plain/ws", "foo"),
            (502, 503, "('rst', 1, 7)"))
    body = "Content-Length: 3\r\n"
    refused(tap, "a WebSocket of a request with a body", lambda: H1Client(fe, "/two/ws", more=body), (502,))


def offers(tap, fe):
    """An upgrade that need not be: a request that can do without it is sent without it."""
    # differs: h2-upgrade-offer
    del seen[:]
    refused(tap, "foo, 1 to an HTTP/2 server that does not know it", lambda: H1Client(fe, "/plain/ws", "foo"), (403,))
    tap.eq(len(seen), 1, "it was asked")
    c = H1Client(fe, "/two/ws", "foo", "Content-Length: 3\r\n")
    c.say(b"abc")
    tap.eq(c.opened(), 403, "foo of a request with a body")
    c.close()


def main():
    args = lib.arguments(__doc__)
    tap = lib.Tap()
    one = lib.Server(serve_h1)
    two = lib.Server(serve_h2([(h2.ENABLE_CONNECT_PROTOCOL, 1)]))
    plain = lib.Server(serve_h2([]))
    fe, fe2 = lib.ports(2)
    conf = CONF.format(fe=fe, fe2=fe2, s1=one.port, s2=two.port, s3=plain.port)
    with lib.Proxy(args.program, conf) as proxy:
        talk(tap, "1 to 1", lambda: H1Client(fe, "/one/ws"), 101)
        talk(tap, "2 to 1", lambda: H2Client(fe2, "/one/ws"), 200)
        talk(tap, "1 to 2", lambda: H1Client(fe, "/two/ws"), 101)
        talk(tap, "2 to 2", lambda: H2Client(fe2, "/two/ws"), 200)
        head = [h for line, h in seen if line == "h2"][0]
        names = [n for n, _ in head]
        tap.ok(dict(head).get(":protocol") == "websocket" and ":authority" in names and
               "upgrade" not in names and "connection" not in names, "what an HTTP/2 server sees",
               head)
        keys = [dict(h).get("sec-websocket-key") for line, h in seen if line == "h2"]
        tap.ok("dGhlIHNhbXBsZSBub25jZQ==" in keys, "the key of a client of HTTP/1 goes on", keys)
        others(tap, fe, fe2)
        if not lib.is_reference(args.program):
            offers(tap, fe)
        tap.ok(H2Client(fe2, "/one/ws").knows, "extended CONNECT is announced")
        for name, cls, port in (("1", H1Client, fe), ("2", H2Client, fe2)):
            refused(tap, name + " to 1: refused", lambda: cls(port, "/one/no"), (403,))
            refused(tap, name + " to 2: refused", lambda: cls(port, "/two/no"), (403,))
            refused(tap, name + " to an HTTP/2 server that does not know it",
                    lambda: cls(port, "/plain/ws"), (502, 503, "('rst', 1, 7)"))
            refused(tap, name + " to 2 with ws h1", lambda: cls(port, "/down/ws"), (101, 200))
        tap.ok(proxy.alive(), "the proxy is alive", proxy.output())
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
