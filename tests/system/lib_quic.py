# SPDX-License-Identifier: GPL-2.0-or-later
"""What quic.py needs: an origin, a relay of datagrams that loses some, a client of HTTP/3 made of aioquic.

aioquic is a Python module that may be missing: HAVE_AIOQUIC tells. It is looked for among the system's and where scripts/install-deps
puts it. Its client runs in the event loop of the caller.
"""
import asyncio
import hashlib
import os
import random
import select
import socket
import ssl
import subprocess
import sys
import threading

import lib

lib.use_tools()
try:
    from aioquic.asyncio.client import connect as aio_connect
    from aioquic.asyncio.protocol import QuicConnectionProtocol
    from aioquic.h3.connection import H3_ALPN, H3Connection
    from aioquic.h3.events import DataReceived, HeadersReceived
    from aioquic.quic.configuration import QuicConfiguration
    from aioquic.quic.connection import QuicConnection
    from aioquic.quic.events import ConnectionTerminated, StreamReset
    HAVE_AIOQUIC = True
    # it takes the length in an answer to HEAD for that of a body
    H3Connection._check_content_length = lambda self, stream: None
except ImportError:
    HAVE_AIOQUIC = False
    QuicConnectionProtocol = object


def certificate(path):
    """Writes a self-signed certificate and its key; False: there is no openssl."""
    try:
        out = subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                              "-days", "30", "-subj", "/CN=localhost", "-keyout", path + ".key", "-out", path + ".crt"],
                             stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    except OSError:
        return False
    if out.returncode:
        return False
    with open(path, "w") as f:
        for part in ".crt", ".key":
            with open(path + part) as g:
                f.write(g.read())
    return True


def body_of(n):
    """<n> bytes that are not all the same, the same for the same <n>."""
    block = b"".join(b"%07d\n" % i for i in range(4096))
    return (block * (n // len(block) + 1))[:n]


def origin(sock):
    """A body of as many bytes as the path says; a request's own body is answered by its length and digest."""
    r = lib.Reader(sock)
    while True:
        head = r.head()
        if not head:
            return
        method, url, _ = head[0].split(" ", 2)
        body = r.body(head[1])
        path = url.split("/")[-1]
        if path == "never":
            r.fill()
            return
        text = digest(body) if method == "POST" else body_of(int(path or "0"))
        head = b"HTTP/1.1 200 OK\r\nx-fields: %d\r\n" % len(head[1])
        if url.startswith("/chunked/"):
            sock.sendall(head + b"transfer-encoding: chunked\r\n\r\n")
            for i in range(0, len(text), 5000):
                part = text[i:i + 5000]
                sock.sendall(b"%x\r\n%s\r\n" % (len(part), part))
            sock.sendall(b"0\r\nx-sum: %s\r\n\r\n" % hashlib.md5(text).hexdigest().encode())
            continue
        sock.sendall(head + b"content-length: %d\r\n\r\n" % len(text))
        if method != "HEAD":
            sock.sendall(text)


def ask(port, method="GET", path="/", body=None, fields=(), chunked=False):
    """A request of HTTP/1.1 to a frontend in the clear, and its answer."""
    with lib.connect(port, 3 * lib.PATIENCE) as s:
        head = "%s %s HTTP/1.1\r\nhost: www.test\r\n%s" % (method, path, "".join("%s: %s\r\n" % f for f in fields))
        if body is not None and chunked:
            s.sendall((head + "transfer-encoding: chunked\r\n\r\n").encode())
            for i in range(0, len(body), 7000):
                s.sendall(b"%x\r\n%s\r\n" % (len(body[i:i + 7000]), body[i:i + 7000]))
            s.sendall(b"0\r\n\r\n")
        else:
            if body is not None:
                head += "content-length: %d\r\n" % len(body)
            s.sendall((head + "\r\n").encode() + (body or b""))
        return lib.Reader(s).response(method)


def digest(body):
    """What origin() says of a body that it got."""
    return b"%d %s" % (len(body), hashlib.sha256(body).hexdigest().encode())


def is_whole(answer, n):
    return bool(answer) and answer[0] == 200 and answer[2] == body_of(n)


class Relay:
    """Datagrams of any client of 127.0.0.1 go to <to> and back; some are lost, sent twice, or late. Those to the server have <mark>, the
    bits of explicit congestion notification; of those from there they are noted."""

    def __init__(self, to, seed, loss=0.03, twice=0.01, late=0.03, mark=0):
        self.mark, self.marks = mark, []
        self.to = ("127.0.0.1", to)
        self.random = random.Random(seed)
        self.loss, self.twice, self.late = loss, twice, late
        self.front = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.front.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        self.front.bind(("127.0.0.1", 0))
        self.port = self.front.getsockname()[1]
        self.backs = {}
        self.passed = self.lost = 0
        self.held = []
        self.moved = []
        self.closed = False
        self.silent = False
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def pass_on(self, sock, data, address):
        if self.silent:
            return
        dice = self.random.random()
        self.passed += 1
        if dice < self.loss:
            self.lost += 1
            return
        if dice < self.loss + self.late:
            self.held.append((sock, data, address))
            return
        if dice < self.loss + self.late + self.twice:
            sock.sendto(data, address)
        sock.sendto(data, address)
        if self.held and self.random.random() < 0.3:
            s, d, a = self.held.pop(0)
            s.sendto(d, a)

    def run(self):
        while not self.closed:
            backs = self.backs
            socks = {s.fileno(): s for s in [self.front] + [b for b, _ in backs.values()]}
            poll = select.poll() # (select() stops at 1024 descriptors)
            for fd in socks:
                poll.register(fd, select.POLLIN)
            ready = [socks[fd] for fd, _ in poll.poll(20)]
            if not ready and self.held:
                s, d, a = self.held.pop(0)
                s.sendto(d, a)
            for s in ready:
                try:
                    data, control, _, address = s.recvmsg(65536, 64)
                except OSError:
                    continue
                if s is not self.front:
                    self.marks.append(max([c[2][0] & 3 for c in control if c[:2] == (socket.IPPROTO_IP, socket.IP_TOS)] or [0]))
                if s is self.front:
                    if address not in self.backs:
                        b = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                        b.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
                        b.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, self.mark)
                        b.setsockopt(socket.IPPROTO_IP, 13, 1) # IP_RECVTOS
                        b.bind(("127.0.0.1", 0))
                        self.backs[address] = b, address
                    self.pass_on(self.backs[address][0], data, self.to)
                else:
                    client = next(a for b, a in backs.values() if b is s)
                    self.pass_on(self.front, data, client)

    def move(self):
        """Clients get other ports, as behind a NAT that has forgotten them."""
        old, self.backs = self.backs, {}
        self.moved = [b for b, _ in old.values()]

    def close(self):
        self.closed = True
        self.thread.join(lib.PATIENCE)
        self.front.close()
        for b in self.moved:
            b.close()
        for b, _ in self.backs.values():
            b.close()


class Mute(Relay):
    """Nothing that the server says comes through."""

    def pass_on(self, sock, data, address):
        if sock is not self.front:
            super().pass_on(sock, data, address)


class Client(QuicConnectionProtocol):
    """A client of HTTP/3: request() returns (status, fields, body, trailers), or raises. <interim>: heads before them, by stream."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.h3 = H3Connection(self._quic)
        self.answers, self.interim = {}, {}
        self.waiting = {}
        self.ended = None

    def quic_event_received(self, event):
        if isinstance(event, ConnectionTerminated):
            self.ended = event.error_code
            for w in self.waiting.values():
                if not w.done():
                    w.set_exception(ConnectionError("ended, %#x" % event.error_code))
        if isinstance(event, StreamReset):
            w = self.waiting.get(event.stream_id)
            if w and not w.done():
                w.set_exception(ConnectionError("reset, %#x" % event.error_code))
        for e in self.h3.handle_event(event):
            a = self.answers.setdefault(e.stream_id, [None, [], None])
            if isinstance(e, HeadersReceived):
                if a[0] is None or a[0][0][1][:1] == b"1":
                    if a[0]:
                        self.interim.setdefault(e.stream_id, []).append(a[0])
                    a[0] = e.headers
                else:
                    a[2] = e.headers
            if isinstance(e, DataReceived):
                a[1].append(e.data)
            w = self.waiting.get(e.stream_id)
            if e.stream_ended and w and not w.done():
                w.set_result((int(a[0][0][1]), dict(a[0][1:]), b"".join(a[1]), a[2]))

    def expect(self, stream):
        self.waiting[stream] = asyncio.get_event_loop().create_future()
        # (what nobody waits for is no error)
        self.waiting[stream].add_done_callback(lambda w: w.cancelled() or w.exception())

    def begin(self, method, path, extra=(), ended=True, pseudo=None):
        """Sends a head; returns the number of the stream."""
        stream = self._quic.get_next_available_stream_id()
        self.expect(stream)
        head = pseudo or [(b":method", method.encode()), (b":scheme", b"https"), (b":authority", b"localhost"),
                          (b":path", path.encode())]
        self.h3.send_headers(stream, head + list(extra), end_stream=ended)
        self.transmit()
        return stream

    async def answer(self, stream):
        return await asyncio.wait_for(self.waiting[stream], 3 * lib.PATIENCE)

    async def request(self, method, path, body=None, extra=(), trailers=None):
        stream = self.begin(method, path, extra, body is None)
        if body is not None:
            self.h3.send_data(stream, body, trailers is None)
            if trailers:
                self.h3.send_headers(stream, trailers, True)
            self.transmit()
        return await self.answer(stream)

    def raw(self, data, ended=False):
        """Bytes on a new stream, as they are."""
        stream = self._quic.get_next_available_stream_id()
        self.expect(stream)
        self._quic.send_stream_data(stream, data, ended)
        self.transmit()
        return stream


def client(port, local_port=0, **options):
    """To be used with "async with". <local_port>: its own, 0: any."""
    conf = QuicConfiguration(is_client=True, alpn_protocols=H3_ALPN, verify_mode=ssl.CERT_NONE, **options)
    return aio_connect("127.0.0.1", port, configuration=conf, create_protocol=Client, local_port=local_port)
