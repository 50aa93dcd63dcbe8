# SPDX-License-Identifier: GPL-2.0-or-later
"""A gateway between HTTP/1 or HTTP/2 and HTTP/3, for tests: what a client of varnishtest asks is asked over HTTP/3, and what HTTP/3 asks is
asked of a server of varnishtest. It adds nothing, and judges nothing: what cannot be said in HTTP/3 raises Cannot, and is noted.

Front: listens on TCP, a connection of QUIC for each of TCP. Back: listens on QUIC, connections of HTTP/1 behind each.
Everything runs in the one thread of a Gateway.
"""
import asyncio
import functools
import http
import re
import ssl
import struct
import threading

import lib
import lib_quic
from wire import h2

if lib_quic.HAVE_AIOQUIC:
    import aioquic.h3.connection
    from aioquic.asyncio import serve
    from aioquic.h3.connection import HeadersState
    from aioquic.quic.events import ConnectionTerminated, ProtocolNegotiated, StopSendingReceived, StreamReset
    # it wants :authority, while the reference says "host", which RFC 9114 allows
    aioquic.h3.connection.validate_request_headers = lambda *args, **kwargs: None

NO_ERROR, INTERNAL_ERROR, CANCELLED = 0x100, 0x102, 0x10c
# error codes of HTTP/3 as HTTP/2 has them
CODES = {0x100: h2.NO_ERROR, 0x102: h2.INTERNAL_ERROR, 0x107: h2.ENHANCE_YOUR_CALM, 0x10b: h2.REFUSED_STREAM, 0x10c: h2.CANCEL}
OF_A_CONNECTION = (b"connection", b"keep-alive", b"proxy-connection", b"transfer-encoding", b"upgrade")


class Cannot(Exception):
    """HTTP/3 has no words for it."""


class Gone(Exception):
    """The other side has left; its words are the error code."""


class Wire(asyncio.Protocol):
    """A connection of TCP: what came is in <data>."""

    def __init__(self, on_made=None):
        self.on_made, self.data, self.ended, self.news = on_made, bytearray(), False, asyncio.Event()
        self.on_end, self.transport, self.drained = None, None, asyncio.Event()
        self.drained.set()

    def connection_made(self, transport):
        self.transport = transport
        if self.on_made:
            self.on_made(self)

    def data_received(self, data):
        self.data += data
        self.news.set()

    def eof_received(self):
        self.over()
        return True

    def connection_lost(self, exc):
        self.drained.set()
        self.over()

    def over(self):
        if not self.ended:
            self.ended = True
            self.news.set()
            if self.on_end:
                self.on_end()

    async def more(self):
        """Waits for more; False: there is none."""
        if not self.ended:
            self.news.clear()
            await self.news.wait()
            return True
        return False

    async def until(self, end):
        """What comes before <end>, which is taken away too; None: all has ended."""
        start = 0
        while True:
            at = self.data.find(end, start)
            if at >= 0:
                return self.take(at + len(end))[:-len(end)]
            start = max(0, len(self.data) - len(end))
            if not await self.more():
                return None

    def take(self, n):
        out = bytes(self.data[:n])
        del self.data[:n]
        return out

    async def some(self, limit):
        """Up to <limit> bytes; nothing at the end."""
        while not self.data:
            if not await self.more():
                return b""
        return self.take(limit)

    def write(self, data):
        if self.transport and not self.transport.is_closing():
            self.transport.write(data)

    def close(self):
        if self.transport:
            self.transport.close()


# ---- messages of HTTP/1

def fields_of(lines):
    out = []
    for line in lines:
        name, colon, value = line.partition(b":")
        if not colon or not re.fullmatch(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+", name):
            raise Cannot("a field of HTTP/1 that has no name: %r" % line)
        out.append((name.lower(), value.strip(b" \t")))
    return out


def values(fields, name):
    return [v for n, v in fields if n == name]


def framing(fields, version):
    """How a body is told: its length, "chunked", or None."""
    coding, length = values(fields, b"transfer-encoding"), values(fields, b"content-length")
    if coding:
        if length or version != b"HTTP/1.1" or [c.lower() for c in coding] != [b"chunked"]:
            raise Cannot("transfer-encoding %r with length %r, %r" % (coding, length, version))
        return "chunked"
    if not length:
        return None
    if not re.fullmatch(rb"\d+", length[0]) or len(set(length)) > 1:
        raise Cannot("a length of HTTP/1: %r" % length)
    return int(length[0])


def without_hops(fields):
    named = [t.strip().lower() for v in values(fields, b"connection") for t in v.split(b",")]
    if b"upgrade" in named and values(fields, b"upgrade"):
        raise Cannot("an upgrade of HTTP/1.1")
    if any(t not in (b"close", b"keep-alive", b"te", b"") for t in named):
        raise Cannot("connection: %r" % named)
    return [f for f in fields if f[0] not in OF_A_CONNECTION]


async def chunks(wire):
    """Parts of a body in chunks, then the list of its trailers."""
    while True:
        line = await wire.until(b"\r\n")
        if line is None:
            raise Gone(CANCELLED)
        if not re.fullmatch(rb"[0-9a-fA-F]+", line):
            raise Cannot("a size of a chunk: %r" % line)
        left = int(line, 16)
        if not left:
            lines = []
            while True:
                line = await wire.until(b"\r\n")
                if line is None:
                    raise Gone(CANCELLED)
                if not line:
                    yield fields_of(lines)
                    return
                lines.append(line)
        async for part in counted(wire, left):
            yield part
        end = await wire.until(b"\r\n")
        if end is None:
            raise Gone(CANCELLED)
        if end:
            raise Cannot("a chunk that is longer than its size")


async def counted(wire, left):
    while left:
        part = await wire.some(left)
        if not part:
            raise Gone(CANCELLED)
        left -= len(part)
        yield part


async def to_the_end(wire):
    while True:
        part = await wire.some(1 << 16)
        if not part:
            return
        yield part


def body_of(wire, how):
    return chunks(wire) if how == "chunked" else to_the_end(wire) if how == "all" else counted(wire, how or 0)


def request_head(text):
    """A head of HTTP/1 -> (fields of HTTP/3, framing, does the client ask for the end)."""
    lines = bytes(text).split(b"\r\n")
    parts = lines[0].split(b" ")
    if len(parts) != 3 or any(b"\n" in l or b"\r" in l for l in lines) or parts[2] != b"HTTP/1.1":
        raise Cannot("the line %r" % lines[0])
    method, target, version = parts
    fields = fields_of(lines[1:])
    how, closes = framing(fields, version), b"close" in [v.lower() for v in values(fields, b"connection")]
    fields = without_hops(fields)
    hosts = values(fields, b"host")
    if len(hosts) != 1:
        raise Cannot("%d Hosts" % len(hosts))
    scheme, authority, path = b"http", hosts[0], target
    found = re.fullmatch(rb"([a-zA-Z][a-zA-Z0-9+.-]*)://([^/?#]*)(.*)", target)
    if method == b"CONNECT":
        if target != authority:
            raise Cannot("a CONNECT to other than its Host")
        pseudo = [(b":method", method), (b":authority", target)]
    else:
        if found:
            scheme, authority, path = found.groups()
            if authority != hosts[0]:
                raise Cannot("a target of another Host")
            path = path or b"/"
        pseudo = [(b":method", method), (b":scheme", scheme), (b":authority", authority), (b":path", path)]
    return pseudo + [f for f in fields if f[0] != b"host"], how, closes


def answer_head(text, asked):
    """A head of HTTP/1 -> (status, fields of HTTP/3, framing, does the server end its connection)."""
    lines = bytes(text).split(b"\r\n")
    found = re.fullmatch(rb"(HTTP/1\.[01]) (\d{3})( .*)?", lines[0])
    if not found or any(b"\n" in l or b"\r" in l for l in lines):
        raise Cannot("the line %r" % lines[0])
    version, status = found.group(1), int(found.group(2))
    if status == 101 or status < 100:
        raise Cannot("status %d" % status)
    fields = fields_of(lines[1:])
    how = framing(fields, version)
    if status < 200 or status in (204, 304) or asked == b"HEAD":
        how = 0
    elif how is None:
        how = "all"
    closes = how == "all" or version == b"HTTP/1.0" or b"close" in [v.lower() for v in values(fields, b"connection")]
    return status, [(b":status", found.group(2))] + without_hops(fields), how, closes


def reason(status):
    """As the programs name it over HTTP/1."""
    named = {400: "Bad request", 408: "Request Time-out", 504: "Gateway Time-out"}
    if status in named:
        return named[status]
    return http.HTTPStatus(status).phrase if status in [s.value for s in http.HTTPStatus] else ""


def lines_of(fields):
    return b"".join(n + b": " + v + b"\r\n" for n, v in fields)


# ---- the side of QUIC

class Peer(lib_quic.QuicConnectionProtocol):
    """A connection of HTTP/3; events of each stream are in a queue: (kind, what, is it the last)."""
    h3 = on_stream = on_close = code = None

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.streams, self.up = {}, asyncio.Event()

    def queue(self, stream):
        if stream not in self.streams:
            self.streams[stream] = asyncio.Queue()
            if self.code is not None:
                self.streams[stream].put_nowait(("closed", self.code, True))
        return self.streams[stream]

    def quic_event_received(self, event):
        if isinstance(event, ProtocolNegotiated):
            self.h3 = self.h3 or lib_quic.H3Connection(self._quic)
            self.up.set()
        elif isinstance(event, ConnectionTerminated):
            self.code = event.error_code
            self.up.set()
            for q in self.streams.values():
                q.put_nowait(("closed", event.error_code, True))
            if self.on_close:
                self.on_close()
        elif isinstance(event, StreamReset):
            self.queue(event.stream_id).put_nowait(("reset", event.error_code, True))
        elif isinstance(event, StopSendingReceived):
            self.queue(event.stream_id).put_nowait(("stop", event.error_code, False))
        for e in self.h3.handle_event(event) if self.h3 else ():
            self.of_h3(e)
        self.transmit()

    def of_h3(self, e):
        if isinstance(e, lib_quic.HeadersReceived):
            new = e.stream_id not in self.streams
            self.queue(e.stream_id).put_nowait(("head", e.headers, e.stream_ended))
            if new and self.on_stream:
                self.on_stream(e.stream_id)
        elif isinstance(e, lib_quic.DataReceived):
            self.queue(e.stream_id).put_nowait(("data", e.data, e.stream_ended))

    def head(self, stream, fields, ended=False, interim=False):
        self.h3.send_headers(stream, fields, ended)
        if interim:
            self.h3._stream[stream].headers_send_state = HeadersState.INITIAL
        self.transmit()

    def body(self, stream, data, ended=False):
        self.h3.send_data(stream, data, ended)
        self.transmit()

    def break_off(self, stream, code):
        try:
            self._quic.reset_stream(stream, code)
            self._quic.stop_stream(stream, code)
        except (AssertionError, ValueError):
            pass # (it had ended)
        self.transmit()

    def leave(self, code=NO_ERROR):
        self.close(error_code=code)
        self.transmit()


async def relay_body(wire, how, peer, stream):
    """The body of a message of HTTP/1 as DATA, and its trailers, up to the end of the stream."""
    left = how if isinstance(how, int) else -1
    async for part in body_of(wire, how):
        if isinstance(part, bytes):
            left -= len(part)
            peer.body(stream, part, left == 0)
        elif part:
            peer.head(stream, part, True)
            return
    if left < 0:
        peer._quic.send_stream_data(stream, b"", True)
        peer.transmit()


class Front:
    """One connection of a client of varnishtest."""

    def __init__(self, gateway, to, proxied, wire):
        self.gateway, self.to, self.proxied, self.wire, self.peer, self.tasks = gateway, to, proxied, wire, None, []

    async def run(self):
        try:
            source = "127.0.0.1", 0
            if self.proxied:
                line = await self.wire.until(b"\r\n")
                words = (line or b"").decode().split(" ")
                source = words[2], int(words[4])
            self.peer = await self.connect(source)
            self.wire.on_end = self.left
            if self.wire.ended and not self.wire.data:
                return
            while await self.one():
                pass
        except Cannot as e:
            self.gateway.note(str(e))
        except Gone:
            pass
        finally:
            for t in self.tasks:
                t.cancel()
            self.left()
            self.wire.close()

    def left(self):
        if self.peer and not (self.gateway.tunnels and self.tasks):
            self.peer.leave()
            # (the next one may want the same address)
            asyncio.get_running_loop().call_later(0.05, self.peer._transport.close)

    async def connect(self, source):
        conf = lib_quic.QuicConfiguration(is_client=True, alpn_protocols=lib_quic.H3_ALPN, verify_mode=ssl.CERT_NONE,
                                          idle_timeout=20)
        loop = asyncio.get_running_loop()
        quic = lib_quic.QuicConnection(configuration=conf)
        for left in range(50, -1, -1):
            try:
                _, peer = await loop.create_datagram_endpoint(functools.partial(Peer, quic), local_addr=source)
                break
            except OSError:
                if not left:
                    raise
                await asyncio.sleep(0.05)
        peer.connect(self.to)
        peer.on_close = self.wire_ends
        await peer.up.wait()
        if peer.code is not None:
            raise Gone(peer.code)
        return peer

    def wire_ends(self):
        """Once what was said is given."""
        asyncio.get_running_loop().call_later(0.05, self.wire.close)

    async def one(self):
        """A request and its answer; False: the last one."""
        text = await self.wire.until(b"\r\n\r\n")
        while text is not None and text[:2] == b"\r\n":
            text = text[2:]
        if text is None:
            if self.wire.data.strip():
                raise Cannot("a head that is cut: %r" % bytes(self.wire.data[:40]))
            return False
        if text.startswith(b"PRI * HTTP/2.0"):
            await FrontOfH2(self).run()
            return False
        fields, how, closes = request_head(text)
        peer, method = self.peer, fields[0][1]
        stream = peer._quic.get_next_available_stream_id()
        queue = peer.queue(stream)
        tunnel = method == b"CONNECT"
        peer.head(stream, fields, not tunnel and not how)
        sending = None
        if not tunnel and how:
            sending = asyncio.create_task(self.send(how, stream))
            self.tasks = [sending]
        elif self.wire.ended and not self.wire.data:
            self.left()
        whole = await self.give(queue, method, closes, stream)
        if sending and not sending.done():
            return False
        if sending and sending.exception():
            raise sending.exception()
        return whole and not closes

    async def send(self, how, stream):
        try:
            await relay_body(self.wire, how, self.peer, stream)
        except Gone as e:
            self.peer.break_off(stream, e.args[0])
        except AssertionError:
            pass # (the other side wants no more)

    async def give(self, queue, method, closes, stream):
        """The answer; False: it was not whole, or the connection is no more HTTP."""
        fields, ended = None, False
        while True:
            kind, fields, ended = await queue.get()
            if kind == "stop":
                continue
            if kind != "head":
                return False
            status = int(fields[0][1])
            self.wire.write(b"HTTP/1.1 %d %s\r\n" % (status, reason(status).encode()))
            if status >= 200:
                break
            self.wire.write(lines_of(fields[1:]) + b"\r\n")
        bare = method == b"HEAD" or status in (204, 304)
        length = bool(values(fields, b"content-length"))
        tunnel = method == b"CONNECT" and status < 300
        extra = b"connection: close\r\n" if closes else b""
        if not bare and not length and not tunnel:
            extra += b"transfer-encoding: chunked\r\n"
        self.wire.write(lines_of(fields[1:]) + extra + b"\r\n")
        if tunnel:
            self.tasks = [asyncio.create_task(self.send("all", stream))]
            self.gateway.tunnels = True
        while not ended:
            kind, what, ended = await queue.get()
            if kind in ("reset", "closed"):
                return False
            if kind == "data" and what:
                self.wire.write(what if length or tunnel else b"%x\r\n%s\r\n" % (len(what), what))
            if kind == "head":
                self.wire.write(b"0\r\n%s\r\n" % lines_of(what) if not length and not bare else b"")
                return True
        if not bare and not length and not tunnel:
            self.wire.write(b"0\r\n\r\n")
        return not tunnel


class FrontOfH2:
    """The same for a client that speaks HTTP/2."""

    def __init__(self, front):
        self.front, self.wire, self.peer = front, front.wire, front.peer
        self.decoder, self.of, self.tasks = h2.Decoder(), {}, []
        self.windows, self.initial, self.moved = {0: 65535}, 65535, asyncio.Event()

    async def run(self):
        sm = await self.wire.until(b"SM\r\n\r\n")
        if sm is None:
            return
        self.wire.write(h2.settings((h2.MAX_CONCURRENT_STREAMS, 100), (h2.ENABLE_CONNECT_PROTOCOL, 1)))
        self.peer.on_close = self.closed
        try:
            while True:
                f = await self.frame()
                if f is None:
                    return
                await self.take(f)
        finally:
            for t in self.tasks:
                t.cancel()

    def closed(self):
        last = max(list(self.of) or [0])
        code = CODES.get(self.peer.code, h2.PROTOCOL_ERROR)
        loop = asyncio.get_running_loop()
        loop.call_later(0.05, lambda: (self.wire.write(h2.goaway(last, code)), self.wire.close()))

    async def frame(self):
        head = await self.exactly(9)
        if head is None:
            return None
        size, kind, flags, stream = struct.unpack(">I", b"\0" + head[:3])[0], head[3], head[4], struct.unpack(">I", head[5:])[0]
        payload = await self.exactly(size)
        return None if payload is None else h2.Frame(kind, flags, stream & 0x7fffffff, payload)

    async def exactly(self, n):
        while len(self.wire.data) < n:
            if not await self.wire.more():
                return None
        return self.wire.take(n)

    async def take(self, f):
        if f.type == h2.SETTINGS and not f.flags & h2.ACK:
            for i in range(0, len(f.payload), 6):
                name, value = struct.unpack(">HI", f.payload[i:i + 6])
                if name == h2.INITIAL_WINDOW_SIZE:
                    self.initial = value
            self.wire.write(h2.settings_ack())
        elif f.type == h2.HEADERS:
            await self.of_headers(f)
        elif f.type == h2.DATA:
            self.of_data(f)
        elif f.type == h2.RST_STREAM and f.stream in self.of:
            self.peer.break_off(self.of[f.stream], CANCELLED)
        elif f.type == h2.WINDOW_UPDATE:
            self.windows[f.stream] = self.windows.get(f.stream, self.initial) + struct.unpack(">I", f.payload)[0]
            self.moved.set()
        elif f.type == h2.PING and not f.flags & h2.ACK:
            self.wire.write(h2.ping(f.payload, True))
        elif f.type not in (h2.SETTINGS, h2.PING, h2.GOAWAY, h2.PRIORITY):
            raise Cannot("frame %d of HTTP/2" % f.type)

    async def of_headers(self, f):
        if f.flags & (h2.PADDED | h2.PRIO):
            raise Cannot("padding or priority of HTTP/2")
        raw = f.payload
        flags = f.flags
        while not flags & h2.END_HEADERS:
            more = await self.frame()
            if more is None or more.type != h2.CONTINUATION or more.stream != f.stream:
                raise Cannot("a head of HTTP/2 that does not go on")
            raw, flags = raw + more.payload, more.flags
        try:
            fields = [(n.encode("latin-1"), v.encode("latin-1")) for n, v in self.decoder.decode(raw)]
        except (ValueError, IndexError):
            raise Cannot("a block of HPACK that is none") from None
        ended = bool(f.flags & h2.END_STREAM)
        if f.stream in self.of:
            self.peer.head(self.of[f.stream], fields, ended)
            return
        if not f.stream % 2 or f.stream < max(list(self.of) or [0]):
            raise Cannot("a number of a stream of HTTP/2")
        names = [n for n, _ in fields]
        if sorted(n for n in names if n[:1] == b":") == [b":method", b":path", b":scheme"] and b"host" not in names:
            fields.insert(0, (b":authority", b"127.0.0.1")) # (HTTP/2 may do without)
        stream = self.of[f.stream] = self.peer._quic.get_next_available_stream_id()
        queue = self.peer.queue(stream)
        self.peer.head(stream, fields, ended)
        self.tasks.append(asyncio.create_task(self.give(f.stream, stream, queue)))

    def of_data(self, f):
        if f.stream not in self.of or f.flags & h2.PADDED:
            raise Cannot("DATA of HTTP/2 with padding, or of no stream")
        try:
            self.peer.body(self.of[f.stream], f.payload, bool(f.flags & h2.END_STREAM))
        except AssertionError:
            pass # (the other side wants no more)
        if f.payload and not f.flags & h2.END_STREAM:
            self.wire.write(h2.window(0, len(f.payload)) + h2.window(f.stream, len(f.payload)))

    async def give(self, number, stream, queue):
        while True:
            kind, what, ended = await queue.get()
            if kind == "closed":
                return
            if kind == "reset":
                self.wire.write(h2.rst(number, CODES.get(what, h2.PROTOCOL_ERROR)))
                return
            if kind == "head":
                self.wire.write(h2.headers(number, [(n.decode("latin-1"), v.decode("latin-1")) for n, v in what], ended))
            elif kind == "data":
                await self.give_data(number, what, ended)
            if ended:
                return

    async def give_data(self, number, what, ended):
        self.windows.setdefault(number, self.initial)
        while what or ended:
            n = min(len(what), self.windows[0], self.windows[number], 16384)
            if what and n <= 0:
                self.moved.clear()
                await self.moved.wait()
                continue
            last = ended and n == len(what)
            self.wire.write(h2.data(number, what[:n], last))
            self.windows[0] -= n
            self.windows[number] -= n
            what = what[n:]
            if last:
                return


class Back:
    """What is behind one connection of HTTP/3 of the program: connections to a server of varnishtest."""

    def __init__(self, gateway, to, peer):
        self.gateway, self.to, self.peer, self.idle, self.all, self.tasks = gateway, to, peer, [], [], set()
        peer.on_stream, peer.on_close = self.stream, self.closed
        self.ends = False

    def stream(self, stream):
        task = asyncio.get_running_loop().create_task(self.guarded(stream))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    def closed(self):
        for t in self.tasks:
            t.cancel()
        for w in self.all:
            w.close()

    async def guarded(self, stream):
        try:
            await self.one(stream, self.peer.queue(stream))
        except Cannot as e:
            self.gateway.note(str(e))
            self.peer.break_off(stream, INTERNAL_ERROR)
        except (Gone, OSError):
            self.peer.break_off(stream, INTERNAL_ERROR)
        except AssertionError:
            pass # (the other side wants no more)

    async def wire(self):
        if self.idle:
            return self.idle.pop()
        _, wire = await asyncio.get_running_loop().create_connection(Wire, *self.to)
        self.all.append(wire)
        wire.on_end = lambda: self.server_left(wire)
        return wire

    def server_left(self, wire):
        """As the connection of HTTP/1 ends, so does that of QUIC, once nothing is going on."""
        if wire in self.idle:
            self.idle.remove(wire)
        self.end_soon()

    def end_soon(self):
        if not self.ends:
            self.ends = True
            asyncio.get_running_loop().call_later(0.1, self.end)

    def end(self):
        self.ends = False
        if self.tasks:
            self.end_soon()
        else:
            self.peer.leave()

    async def one(self, stream, queue):
        wire = await self.wire()
        _, fields, ended = await queue.get()
        pseudo = dict(f for f in fields if f[0][:1] == b":")
        method = pseudo[b":method"]
        rest = [f for f in fields if f[0][:1] != b":"]
        if b":authority" in pseudo and not values(rest, b"host"):
            rest.insert(0, (b"host", pseudo[b":authority"]))
        counted_by_chunks = not ended and not values(rest, b"content-length")
        tunnel = method == b"CONNECT"
        if counted_by_chunks and not tunnel:
            rest.append((b"transfer-encoding", b"chunked"))
        target = pseudo.get(b":authority", b"") if tunnel else pseudo[b":path"]
        wire.write(method + b" " + target + b" HTTP/1.1\r\n" + lines_of(rest) + b"\r\n")
        sending = asyncio.create_task(self.send(wire, queue, ended, counted_by_chunks and not tunnel))
        try:
            closes = await self.answer(wire, stream, method)
        finally:
            sending.cancel()
        if not closes and not wire.ended and not tunnel:
            self.idle.append(wire)
            return
        wire.close()
        self.end_soon()

    async def send(self, wire, queue, ended, in_chunks):
        tail = b""
        while not ended:
            kind, what, ended = await queue.get()
            if kind in ("reset", "closed"):
                wire.close()
                return
            if kind == "data" and what:
                wire.write(b"%x\r\n%s\r\n" % (len(what), what) if in_chunks else what)
            elif kind == "head":
                tail = lines_of(what)
        if in_chunks:
            wire.write(b"0\r\n" + tail + b"\r\n")
        while True: # what comes behind it can only be a reset
            kind, _, _ = await queue.get()
            if kind in ("reset", "closed", "stop"):
                wire.close()
                return

    async def answer(self, wire, stream, method):
        """Relays the answer; True: the server's connection has no more."""
        while True:
            text = await wire.until(b"\r\n\r\n")
            if text is None:
                if wire.data.strip():
                    raise Cannot("a head that is cut: %r" % bytes(wire.data[:40]))
                raise Gone(INTERNAL_ERROR)
            status, fields, how, closes = answer_head(text, method)
            if status >= 200:
                break
            self.peer.head(stream, fields, interim=True)
        if method == b"CONNECT" and status < 300:
            how, closes = "all", True
        self.peer.head(stream, fields, how == 0)
        if how != 0:
            await relay_body(wire, how, self.peer, stream)
        return closes


class Gateway:
    """The thread of all. front() and back() make what they say, and return the port to connect to."""

    def __init__(self, crt):
        self.crt, self.tunnels = crt, False
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()

    def call(self, what):
        return asyncio.run_coroutine_threadsafe(what, self.loop).result(lib.PATIENCE)

    def close(self):
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(lib.PATIENCE)


class Session:
    """What is opened for one file, and what was noted: closed together."""

    def __init__(self, gateway):
        self.gateway, self.notes, self.opened, self.tasks, self.tunnels = gateway, [], [], set(), False

    def note(self, text):
        self.notes.append(text)

    def front(self, to, proxied=False):
        """Clients connect to the port of TCP that is returned; the program listens at <to>."""
        async def start():
            def made(wire):
                task = self.gateway.loop.create_task(Front(self, to, proxied, wire).run())
                self.tasks.add(task)
            server = await self.gateway.loop.create_server(lambda: Wire(made), "127.0.0.1", 0)
            self.opened.append(server)
            return server.sockets[0].getsockname()[1]
        return self.gateway.call(start())

    def back(self, to):
        """The program connects to the port of QUIC that is returned; a server of HTTP/1 listens at <to>."""
        async def start():
            conf = lib_quic.QuicConfiguration(is_client=False, alpn_protocols=lib_quic.H3_ALPN, idle_timeout=20)
            conf.load_cert_chain(self.gateway.crt + ".crt", self.gateway.crt + ".key")

            def make(*args, **kwargs):
                peer = Peer(*args, **kwargs)
                Back(self, to, peer)
                return peer
            server = await serve("127.0.0.1", 0, configuration=conf, create_protocol=make)
            self.opened.append(server)
            return server._transport.get_extra_info("sockname")[1]
        return self.gateway.call(start())

    def close(self):
        async def stop():
            for t in self.tasks:
                t.cancel()
            for o in self.opened:
                o.close()
        self.gateway.call(stop())
