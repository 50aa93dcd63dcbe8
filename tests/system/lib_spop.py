# SPDX-License-Identifier: GPL-2.0-or-later
"""An agent of the Stream Processing Offload Protocol, good or bad, for tests.

Agent(reply)   listens; reply(messages, stream, frame) gives the actions of the answer, None for no answer, or a Raw
               of bytes that are sent as they are
"""
import socket
import struct

import lib

HELLO, DISCONNECT, NOTIFY, AGENT_HELLO, AGENT_DISCONNECT, ACK = 1, 2, 3, 101, 102, 103
TYPES = ("null", "bool", "int32", "uint32", "int64", "uint64", "ipv4", "ipv6", "str", "bin")


def varint(v):
    if v < 240:
        return bytes([v])
    out, v = bytes([(v | 0xf0) & 0xff]), (v - 240) >> 4
    while v >= 128:
        out, v = out + bytes([(v | 0x80) & 0xff]), (v - 128) >> 7
    return out + bytes([v])


def text(s):
    return varint(len(s)) + s


class Cursor:
    """Takes a payload apart."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def more(self):
        return self.at < len(self.data)

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def varint(self):
        v, shift = self.byte(), 4
        if v < 240:
            return v
        while True:
            b = self.byte()
            v += b << shift
            if b < 128:
                return v
            shift += 7

    def bytes(self, n):
        self.at += n
        return self.data[self.at - n:self.at]

    def text(self):
        return self.bytes(self.varint())

    def value(self):
        """(name of the type, value)"""
        t = self.byte()
        kind = TYPES[t & 15]
        if kind == "null":
            return kind, None
        if kind == "bool":
            return kind, bool(t & 16)
        if "int" in kind:
            v = self.varint()
            return kind, v - (1 << 64) if v >= 1 << 63 else v
        if kind == "ipv4":
            return kind, socket.inet_ntoa(self.bytes(4))
        if kind == "ipv6":
            return kind, socket.inet_ntop(socket.AF_INET6, self.bytes(16))
        return kind, self.text()

    def pairs(self):
        out = []
        while self.more():
            name = self.text().decode()
            out.append((name, self.value()))
        return out

    def messages(self):
        out = []
        while self.more():
            name, count, args = self.text().decode(), self.byte(), []
            for _ in range(count):
                key = self.text().decode()
                args.append((key, self.value()))
            out.append((name, args))
        return out


def frame(kind, payload=b"", stream=0, number=0, flags=1):
    f = bytes([kind]) + struct.pack(">I", flags) + varint(stream) + varint(number) + payload
    return struct.pack(">I", len(f)) + f


def hello(version=b"2.0", size=16380, capabilities=b"pipelining"):
    out = b""
    if version is not None:
        out += text(b"version") + b"\x08" + text(version)
    if size is not None:
        out += text(b"max-frame-size") + b"\x03" + varint(size)
    if capabilities is not None:
        out += text(b"capabilities") + b"\x08" + text(capabilities)
    return out


def disconnect(status, message=b"bye"):
    return text(b"status-code") + b"\x03" + varint(status) + text(b"message") + b"\x08" + text(message)


SCOPES = {"proc": 0, "sess": 1, "txn": 2, "req": 3, "res": 4}


def set_var(scope, name, value):
    """The value: a text, a number, a bool, or bytes as they are on the wire."""
    if isinstance(value, bool):
        data = b"\x11" if value else b"\x01"
    elif isinstance(value, int):
        data = b"\x04" + varint(value & (1 << 64) - 1)
    elif isinstance(value, str):
        data = b"\x08" + text(value.encode())
    else:
        data = value
    return bytes([1, 3, SCOPES[scope]]) + text(name.encode()) + data


def unset_var(scope, name):
    return bytes([2, 2, SCOPES[scope]]) + text(name.encode())


class Raw(bytes):
    """Sent as it is, in the place of an answer."""


class Agent:
    def __init__(self, reply, answer=None):
        """answer: what the hello is answered with; None: as it should be."""
        self.reply, self.answer = reply, frame(AGENT_HELLO, hello()) if answer is None else answer
        self.hellos, self.goodbyes, self.notifies = [], [], 0
        self.server = lib.Server(self.serve)
        self.port = self.server.port

    def one(self, sock):
        size = struct.unpack(">I", lib.recv_exactly(sock, 4))[0]
        c = Cursor(lib.recv_exactly(sock, size))
        kind, flags = c.byte(), struct.unpack(">I", c.bytes(4))[0]
        stream, number = c.varint(), c.varint()
        if kind == HELLO:
            self.hellos.append(dict(c.pairs()))
            sock.sendall(self.answer)
        elif kind == DISCONNECT:
            self.goodbyes.append(dict(c.pairs()))
            raise EOFError
        elif kind == NOTIFY:
            self.notifies += 1
            out = self.reply(c.messages(), stream, number)
            if out is None:
                return
            if not isinstance(out, Raw):
                out = frame(ACK, out, stream, number)
            sock.sendall(out)
            if flags != 1:
                raise EOFError

    def serve(self, sock):
        try:
            while True:
                self.one(sock)
        except (EOFError, OSError):
            pass

    def close(self):
        self.server.close()
