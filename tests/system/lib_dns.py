# SPDX-License-Identifier: GPL-2.0-or-later
"""A scripted name server on 127.0.0.1, over UDP and TCP: no test of its own.

Dns      .zone maps a name to what is answered: a list of records, an rcode, None (silence) or a
         function(Query) that returns one of these, bytes to send as they are, or a list of bytes
Query    one question as it came, and reply() to build an answer by hand
a(), aaaa(), srv(), cname(), txt()     make records
"""
import socket
import struct
import threading
import time

import lib

A, CNAME, TXT, AAAA, SRV, OPT = 1, 5, 16, 28, 33, 41
FORMERR, SERVFAIL, NXDOMAIN, NOTIMP, REFUSED = 1, 2, 3, 4, 5


def wire_name(name):
    out = b""
    for label in name.rstrip(".").split("."):
        if label:
            out += bytes([len(label)]) + label.encode("latin-1")
    return out + b"\0"


class Record:
    def __init__(self, kind, data, name=None, ttl=60, extra=False):
        self.kind, self.data, self.name, self.ttl, self.extra = kind, data, name, ttl, extra

    def wire(self, question):
        name = b"\xc0\x0c" if self.name in (None, question) else wire_name(self.name)
        return name + struct.pack(">HHIH", self.kind, 1, self.ttl, len(self.data)) + self.data


def a(ip, **more):
    return Record(A, socket.inet_aton(ip), **more)


def aaaa(ip, **more):
    return Record(AAAA, socket.inet_pton(socket.AF_INET6, ip), **more)


def cname(target, **more):
    return Record(CNAME, wire_name(target), **more)


def srv(target, port, weight=1, priority=1, **more):
    return Record(SRV, struct.pack(">HHH", priority, weight, port) + wire_name(target), **more)


def txt(*texts, **more):
    """One record of several strings."""
    return Record(TXT, b"".join(bytes([len(t)]) + t.encode("latin-1") for t in texts), **more)


class Query:
    def __init__(self, data, tcp, peer):
        self.data, self.tcp, self.peer = data, tcp, peer
        self.id, self.flags, _, _, _, extra = struct.unpack(">HHHHHH", data[:12])
        at, labels = 12, []
        while data[at]:
            labels.append(data[at + 1:at + 1 + data[at]].decode("latin-1"))
            at += 1 + data[at]
        self.name = ".".join(labels)
        self.kind = struct.unpack(">H", data[at + 1:at + 3])[0]
        self.question = data[12:at + 5]
        self.payload = None
        if extra and data[at + 5:at + 8] == b"\0\0\x29":
            self.payload = struct.unpack(">H", data[at + 8:at + 10])[0]

    def reply(self, records=(), rcode=0, flags=0x8180, **over):
        """An answer; <over>: id, question, counts (of the header)."""
        records = list(records)
        main = [r for r in records if not r.extra]
        more = [r for r in records if r.extra]
        counts = over.get("counts", (1, len(main), 0, len(more)))
        head = struct.pack(">HHHHHH", over.get("id", self.id), flags | rcode, *counts)
        return (head + over.get("question", self.question) +
                b"".join(r.wire(self.name) for r in main + more))


class Dns:
    """Answers until close(). <seen> has each Query, in order; what is not in <zone>: NXDOMAIN."""

    def __init__(self, zone=None, port=None):
        self.zone = zone if zone is not None else {}
        self.port = port or lib.ports(1)[0]
        self.seen = []
        self.closed = False
        self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.udp.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.udp.bind(("127.0.0.1", self.port))
        self.tcp = lib.Server(self.stream, self.port)
        self.thread = threading.Thread(target=self.datagrams, daemon=True)
        self.thread.start()

    def answers(self, q):
        self.seen.append(q)
        what = self.zone.get(q.name.lower(), NXDOMAIN)
        if callable(what):
            what = what(q)
        if what is None:
            return []
        if isinstance(what, int):
            return [q.reply(rcode=what)]
        if isinstance(what, bytes):
            return [what]
        if what and isinstance(what[0], bytes):
            return what
        return [q.reply(r for r in what if r.extra or r.kind in (q.kind, CNAME))]

    def datagrams(self):
        while not self.closed:
            try:
                data, peer = self.udp.recvfrom(65536)
                for answer in self.answers(Query(data, False, peer)):
                    self.udp.sendto(answer, peer)
            except (OSError, IndexError, struct.error): # what is no question came from others
                time.sleep(0.01)

    def stream(self, sock):
        sock.settimeout(600)
        buf = b""
        while not self.closed:
            part = sock.recv(65536)
            if not part:
                return
            buf += part
            while len(buf) >= 2 and len(buf) >= 2 + struct.unpack(">H", buf[:2])[0]:
                size = struct.unpack(">H", buf[:2])[0]
                data, buf = buf[2:2 + size], buf[2 + size:]
                for answer in self.answers(Query(data, True, sock.getpeername())):
                    sock.sendall(struct.pack(">H", len(answer)) + answer)

    def asked(self, name=None, kind=None):
        return [q for q in self.seen if name in (None, q.name.lower()) and kind in (None, q.kind)]

    def close(self):
        self.closed = True
        # its thread ends first, or it might read from another socket which has the number of this one
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.sendto(b"", ("127.0.0.1", self.port))
        self.thread.join(lib.PATIENCE)
        self.udp.close()
        self.tcp.close()
