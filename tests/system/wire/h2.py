# SPDX-License-Identifier: GPL-2.0-or-later
"""HTTP/2 on the wire, for tests: frames, HPACK, and a peer that does what it is told, right or wrong.

Nothing is checked when sending; everything received is decoded strictly. Functions that make frames
return bytes, so that a test concatenates, cuts and spoils them at will.
"""
import collections
import socket
import struct

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
(DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE,
 CONTINUATION) = range(10)
ACK = END_STREAM = 1
END_HEADERS = 4
PADDED = 8
PRIO = 0x20
(NO_ERROR, PROTOCOL_ERROR, INTERNAL_ERROR, FLOW_CONTROL_ERROR, SETTINGS_TIMEOUT, STREAM_CLOSED,
 FRAME_SIZE_ERROR, REFUSED_STREAM, CANCEL, COMPRESSION_ERROR, CONNECT_ERROR, ENHANCE_YOUR_CALM,
 INADEQUATE_SECURITY, HTTP_1_1_REQUIRED) = range(14)
ERRORS = ("NO_ERROR PROTOCOL_ERROR INTERNAL_ERROR FLOW_CONTROL_ERROR SETTINGS_TIMEOUT STREAM_CLOSED "
          "FRAME_SIZE_ERROR REFUSED_STREAM CANCEL COMPRESSION_ERROR CONNECT_ERROR ENHANCE_YOUR_CALM "
          "INADEQUATE_SECURITY HTTP_1_1_REQUIRED").split()
(HEADER_TABLE_SIZE, ENABLE_PUSH, MAX_CONCURRENT_STREAMS, INITIAL_WINDOW_SIZE, MAX_FRAME_SIZE,
 MAX_HEADER_LIST_SIZE) = range(1, 7)
ENABLE_CONNECT_PROTOCOL = 8

Frame = collections.namedtuple("Frame", "type flags stream payload")


# ---- frames

def frame(kind, flags, stream, payload=b"", length=None):
    """Makes a frame; <length> lies about it."""
    size = len(payload) if length is None else length
    return struct.pack(">I", size)[1:] + bytes((kind, flags)) + struct.pack(">I", stream) + payload


def data(stream, payload=b"", end=False, pad=None):
    if pad is None:
        return frame(DATA, END_STREAM if end else 0, stream, payload)
    return frame(DATA, PADDED | (END_STREAM if end else 0), stream,
                 bytes((pad,)) + payload + b"\0" * pad)


def settings(*pairs):
    return frame(SETTINGS, 0, 0, b"".join(struct.pack(">HI", n, v) for n, v in pairs))


def settings_ack():
    return frame(SETTINGS, ACK, 0)


def ping(payload=b"12345678", ack=False):
    return frame(PING, ACK if ack else 0, 0, payload)


def rst(stream, code=CANCEL):
    return frame(RST_STREAM, 0, stream, struct.pack(">I", code))


def window(stream, increment):
    return frame(WINDOW_UPDATE, 0, stream, struct.pack(">I", increment))


def goaway(last=0, code=NO_ERROR, debug=b""):
    return frame(GOAWAY, 0, 0, struct.pack(">II", last, code) + debug)


def priority(stream, dependency=0, weight=15, exclusive=False):
    return frame(PRIORITY, 0, stream,
                 struct.pack(">IB", dependency | (exclusive << 31), weight))


def headers(stream, fields, end=True, **more):
    """HEADERS of a list of fields, or of a block given as bytes; see block() and raw_headers()."""
    raw = fields if isinstance(fields, bytes) else block(fields)
    return raw_headers(stream, raw, end, **more)


def raw_headers(stream, raw, end=True, done=True, pad=None, prio=None, pieces=None):
    """<pieces>: sizes of the frames that the block is cut into (the rest goes in a last one)."""
    flags = END_STREAM if end else 0
    parts = []
    for size in pieces or ():
        parts.append(raw[:size])
        raw = raw[size:]
    parts.append(raw)
    out = b""
    for i, part in enumerate(parts):
        last = END_HEADERS if done and i == len(parts) - 1 else 0
        if i:
            out += frame(CONTINUATION, last, stream, part)
            continue
        lead = b""
        if pad is not None:
            flags |= PADDED
            lead = bytes((pad,))
        if prio is not None:
            flags |= PRIO
            lead += prio
        out += frame(HEADERS, flags | last, stream, lead + part + b"\0" * (pad or 0))
    return out


# ---- HPACK

def integer(value, prefix, first=0):
    top = (1 << prefix) - 1
    if value < top:
        return bytes((first | value,))
    out = bytearray((first | top,))
    value -= top
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def text(s):
    return s if isinstance(s, bytes) else s.encode("latin-1")


def string(s):
    return integer(len(text(s)), 7) + text(s)


def literal(name, value, first=0):
    """A literal with a literal name; <first>: 0 not stored, 0x40 stored, 0x10 never."""
    return bytes((first,)) + string(name) + string(value)


def block(fields):
    """A header block of literals, which leaves the tables alone."""
    return b"".join(literal(n, v) for n, v in fields)


LENGTHS = (
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30,
    28, 28, 28, 28, 28, 28, 28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6,
    5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10, 13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
    7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6, 15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7,
    7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22,
    22, 23, 22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22,
    23, 23, 24, 22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21,
    23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23, 26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26,
    27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27, 20, 24,
    20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27,
    28, 27, 27, 27, 27, 27, 26,
)


def make_codes():
    """The code is canonical: lengths tell all."""
    codes, code, before = {}, 0, 0
    for symbol in sorted(range(256), key=lambda s: (LENGTHS[s], s)):
        code <<= LENGTHS[symbol] - before
        before = LENGTHS[symbol]
        codes[code, before] = symbol
        code += 1
    return codes


CODES = make_codes()
ENCODE = {symbol: code for code, symbol in CODES.items()}


def huffman(s):
    """A string in Huffman code, with its length."""
    bits = "".join(format(ENCODE[c][0], "0%db" % ENCODE[c][1]) for c in text(s))
    bits += "1" * (-len(bits) % 8)
    raw = bytes(int(bits[i:i + 8], 2) for i in range(0, len(bits), 8))
    return integer(len(raw), 7, 0x80) + raw


def unhuffman(raw):
    out, code, size = bytearray(), 0, 0
    for byte in raw:
        for i in range(7, -1, -1):
            code = code << 1 | (byte >> i & 1)
            size += 1
            if (code, size) in CODES:
                out.append(CODES[code, size])
                code = size = 0
            elif size > 30:
                raise ValueError("bad Huffman code")
    if size > 7 or code != (1 << size) - 1:
        raise ValueError("bad Huffman padding")
    return bytes(out)


STATIC = """:authority|:method GET|:method POST|:path /|:path /index.html|:scheme http|:scheme https|
:status 200|:status 204|:status 206|:status 304|:status 400|:status 404|:status 500|accept-charset|
accept-encoding gzip, deflate|accept-language|accept-ranges|accept|access-control-allow-origin|age|
allow|authorization|cache-control|content-disposition|content-encoding|content-language|
content-length|content-location|content-range|content-type|cookie|date|etag|expect|expires|from|host|
if-match|if-modified-since|if-none-match|if-range|if-unmodified-since|last-modified|link|location|
max-forwards|proxy-authenticate|proxy-authorization|range|referer|refresh|retry-after|server|
set-cookie|strict-transport-security|transfer-encoding|user-agent|vary|via|www-authenticate"""
STATIC = [tuple((e.strip() + " ").split(" ", 1)) for e in STATIC.replace("\n", "").split("|")]
STATIC = [(n, v.strip()) for n, v in STATIC]


class Decoder:
    """A strict decoder of header blocks."""

    def __init__(self, limit=4096):
        self.limit = self.size_max = limit
        self.table = []

    def size(self):
        return sum(len(n) + len(v) + 32 for n, v in self.table)

    def evict(self):
        while self.size() > self.size_max:
            self.table.pop()

    def at(self, index):
        if 1 <= index <= 61:
            return STATIC[index - 1]
        if index and index - 62 < len(self.table):
            return self.table[index - 62]
        raise ValueError("index %d" % index)

    def integer(self, prefix):
        value = self.raw[self.pos] & (1 << prefix) - 1
        self.pos += 1
        if value < (1 << prefix) - 1:
            return value
        shift = 0
        while True:
            byte = self.raw[self.pos]
            self.pos += 1
            value += (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def string(self):
        coded = self.raw[self.pos] & 0x80
        size = self.integer(7)
        raw = self.raw[self.pos:self.pos + size]
        if len(raw) != size:
            raise ValueError("string cut short")
        self.pos += size
        return (unhuffman(raw) if coded else raw).decode("latin-1")

    def decode(self, raw):
        self.raw, self.pos = raw, 0
        out = []
        while self.pos < len(raw):
            first = raw[self.pos]
            if first & 0x80:
                out.append(self.at(self.integer(7)))
                continue
            if first & 0xe0 == 0x20:
                if out:
                    raise ValueError("late table size update")
                self.size_max = self.integer(5)
                if self.size_max > self.limit:
                    raise ValueError("table size %d" % self.size_max)
                self.evict()
                continue
            index = self.integer(6 if first & 0x40 else 4)
            name = self.at(index)[0] if index else self.string()
            out.append((name, self.string()))
            if first & 0x40:
                self.table.insert(0, out[-1])
                self.evict()
        return out


class Encoder:
    """Writes header blocks in all the ways that there are, as <rng> chooses; one per connection."""

    def __init__(self, rng):
        self.rng = rng
        self.mirror = Decoder()  # its table is what the peer has now
        self.sizes = []

    def resize(self, size):
        """The next block begins with a change of the table's size."""
        self.sizes.append(size)

    def string(self, s):
        return huffman(s) if self.rng.random() < 0.4 else string(s)

    def field(self, name, value):
        entries = STATIC + self.mirror.table
        same = [i + 1 for i, e in enumerate(entries) if e == (name, value)]
        if same and self.rng.random() < 0.8:
            return integer(self.rng.choice(same), 7, 0x80)
        first, prefix = self.rng.choice(((0x40, 6), (0x40, 6), (0, 4), (0x10, 4)))
        named = [i + 1 for i, e in enumerate(entries) if e[0] == name]
        if named and self.rng.random() < 0.8:
            out = integer(self.rng.choice(named), prefix, first)
        else:
            out = bytes((first,)) + self.string(name)
        return out + self.string(value)

    def block(self, fields):
        out = b"".join(integer(size, 5, 0x20) for size in self.sizes)
        self.sizes = []
        self.mirror.decode(out)
        for name, value in fields:
            raw = self.field(name, value)
            self.mirror.decode(raw)
            out += raw
        return out


# ---- a peer

class Peer:
    """One side of a connection. Events come from next(): what was received, decoded:
    ("headers", stream, [(name, value)], end), ("data", stream, bytes, end), ("rst", stream, code),
    ("goaway", last, code), ("settings", {n: v}), ("settings_ack",), ("ping", payload, ack),
    ("window", stream, n), ("push", stream), ("other", Frame), and None at the end.
    SETTINGS and PING are answered, windows are opened again, unless <auto> is False.
    """

    def __init__(self, sock, auto=True, timeout=5.0):
        self.sock = sock
        self.auto = auto
        self.buf = b""
        self.decoder = Decoder()
        self.pending = None
        sock.settimeout(timeout)

    def send(self, raw):
        """Sends; a connection that is gone is found by who reads."""
        try:
            self.sock.sendall(raw)
            return True
        except OSError:
            return False

    def exactly(self, n):
        while len(self.buf) < n:
            try:
                part = self.sock.recv(65536)
            except socket.timeout:
                raise
            except OSError:
                part = b""
            if not part:
                return None
            self.buf += part
        out, self.buf = self.buf[:n], self.buf[n:]
        return out

    def frame(self):
        """The next frame, or None at the end; socket.timeout when nothing comes."""
        head = self.exactly(9)
        if head is None:
            return None
        payload = self.exactly(int.from_bytes(head[:3], "big"))
        if payload is None:
            return None
        return Frame(head[3], head[4], int.from_bytes(head[5:9], "big") & 0x7fffffff, payload)

    def unpad(self, f):
        body = f.payload
        pad = 0
        if f.flags & PADDED:
            pad, body = body[0], body[1:]
        if f.type == HEADERS and f.flags & PRIO:
            body = body[5:]
        return body[:len(body) - pad]

    def on_block(self, f):
        if f.type == HEADERS:
            self.pending = [f.stream, self.unpad(f), f.flags & END_STREAM]
        else:
            self.pending[1] += f.payload
        if not f.flags & END_HEADERS:
            return self.next()
        stream, raw, end = self.pending
        self.pending = None
        return "headers", stream, self.decoder.decode(raw), bool(end)

    def on_data(self, f):
        if self.auto and f.payload:
            self.send(window(0, len(f.payload)))
            if not f.flags & END_STREAM:
                self.send(window(f.stream, len(f.payload)))
        return "data", f.stream, self.unpad(f), bool(f.flags & END_STREAM)

    def on_settings(self, f):
        if f.flags & ACK:
            return ("settings_ack",)
        pairs = struct.iter_unpack(">HI", f.payload)
        if self.auto:
            self.send(settings_ack())
        return "settings", dict(pairs)

    def on_ping(self, f):
        if self.auto and not f.flags & ACK:
            self.send(ping(f.payload, True))
        return "ping", f.payload, bool(f.flags & ACK)

    def next(self):
        f = self.frame()
        if f is None:
            return None
        if f.type in (HEADERS, CONTINUATION):
            return self.on_block(f)
        if f.type == DATA:
            return self.on_data(f)
        if f.type == SETTINGS:
            return self.on_settings(f)
        if f.type == PING:
            return self.on_ping(f)
        if f.type == RST_STREAM:
            return "rst", f.stream, int.from_bytes(f.payload, "big")
        if f.type == GOAWAY:
            return ("goaway",) + struct.unpack(">II", f.payload[:8])
        if f.type == WINDOW_UPDATE:
            return "window", f.stream, int.from_bytes(f.payload, "big")
        if f.type == PUSH_PROMISE:
            return "push", f.stream
        return "other", f

    def close(self):
        try:
            self.sock.close()
        except OSError:
            pass


def request(path="/", method="GET", authority="a.example", scheme="http", more=()):
    """The fields of a plain request."""
    return [(":method", method), (":scheme", scheme), (":path", path),
            (":authority", authority)] + list(more)


class Client(Peer):
    """A client: sends the preface and its settings, unless told otherwise."""

    def __init__(self, sock, greet=True, pairs=(), **more):
        super().__init__(sock, **more)
        if greet:
            self.send(PREFACE + settings(*pairs))

    def answer(self, stream):
        """Reads up to the end of <stream>. Returns (status or None, fields, body, how): how is
        "end", "rst:CODE", "goaway:CODE", "closed" or "silent".
        """
        status, fields, body = None, [], b""
        gone = None
        while True:
            try:
                e = self.next()
            except socket.timeout:
                return status, fields, body, gone or "silent"
            if e is None:
                return status, fields, body, gone or "closed"
            if e[0] == "goaway":
                gone = "goaway:" + error_name(e[2])
                if e[1] < stream or e[2]:
                    continue
                gone = None
            if len(e) < 2 or e[1] != stream:
                continue
            if e[0] == "rst":
                return status, fields, body, "rst:" + error_name(e[2])
            if e[0] == "headers" and (status is None or status < 200):
                fields = e[2]
                status = int(dict(fields).get(":status", 0))
            if e[0] == "data":
                body += e[2]
            if e[0] in ("headers", "data") and e[3]:
                return status, fields, body, "end"


def error_name(code):
    return ERRORS[code] if code < len(ERRORS) else "%#x" % code


class Service(Peer):
    """A server: waits for the preface, sends its settings."""

    def __init__(self, sock, pairs=(), **more):
        super().__init__(sock, **more)
        if self.exactly(len(PREFACE)) != PREFACE:
            raise ValueError("no preface")
        self.send(settings(*pairs))

    def reply(self, stream, status=200, body=b"", more=(), end=True):
        out = headers(stream, [(":status", str(status))] + list(more), end and not body)
        if body:
            out += data(stream, body, end)
        return self.send(out)
