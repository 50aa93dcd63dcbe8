#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Rings: what is logged there reaches the server of the ring in both framings, a server that comes
late or comes back gets what was kept, one that does not read fills the ring and no more, and a
reload loses and repeats nothing. A backing file holds the events after a crash.
"""
import os
import re
import signal
import socket
import struct
import threading
import time

import lib

CONF = """	log ring@octets format raw local0
	log ring@lines format raw local0
	nbthread 2
ring octets
	size 65536
	format rfc5424
	maxlen 1200
	timeout connect 2s
	timeout server 4s
	server s1 127.0.0.1:{octets} log-proto octet-count
ring lines
	size 65536
	timeout connect 2s
	timeout server 4s
	server s1 127.0.0.1:{lines}
{more}
defaults
	mode http
	log global
	log-format "n=%HP end"
	timeout connect 1s
	timeout client 5s
	timeout server 5s
frontend fe
	bind 127.0.0.1:{fe}
	http-request return status 200
"""


REUSED = """defaults
	mode http
	log global
	log-format "n=%%HP end"
	timeout connect 1s
	timeout client 5s
	timeout server 5s
frontend fe
	bind 127.0.0.1:%d
	http-request return status 200
"""


class Collector:
    """A TCP log server."""

    def __init__(self, port, octets):
        self.octets, self.port = octets, port
        self.messages, self.lock = [], threading.Lock()
        self.listener = socket.socket()
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.bind(("127.0.0.1", port))
        self.listener.listen(8)
        self.sock = None
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        try:
            while True:
                self.sock, _ = self.listener.accept()
                self.read(self.sock)
        except OSError:
            pass

    def read(self, sock):
        data = b""
        while True:
            try:
                part = sock.recv(65536)
            except OSError:
                return
            if not part:
                return
            data = self.cut(data + part)

    def cut(self, data):
        while True:
            if self.octets:
                m = re.match(rb"([0-9]+) ", data)
                if not m or len(data) < m.end() + int(m.group(1)):
                    return data
                end = m.end() + int(m.group(1))
                message, data = data[m.end():end], data[end:]
            else:
                at = data.find(b"\n")
                if at < 0:
                    return data
                message, data = data[:at], data[at + 1:]
            with self.lock:
                self.messages.append(message.decode())

    def numbers(self):
        with self.lock:
            return [int(n) for m in self.messages for n in re.findall(r"n=/([0-9]+) end", m)]

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        if self.sock:
            # the thread that reads would keep the connection open, and take what comes
            self.sock.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.listener.close()
        if self.sock:
            self.sock.close()


def request(port, n):
    s = lib.connect(port)
    s.sendall(b"GET /%d HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n" % n)
    lib.recv_all(s)
    s.close()


def both_framings(tap, ports):
    octets, lines = Collector(ports["octets"], True), Collector(ports["lines"], False)
    for n in range(50):
        request(ports["fe"], n)
    tap.ok(lib.until(lambda: octets.numbers() == list(range(50))), "octet counting: all, in order",
           octets.numbers())
    tap.ok(lib.until(lambda: lines.numbers() == list(range(50))), "lines: all, in order",
           lines.numbers())
    tap.ok(all(re.match(r"<134>1 20\S+ \S+ haproxy [0-9]+ - - n=", m) for m in octets.messages),
           "the ring's format is put on", octets.messages[:1])
    tap.ok(all(m.startswith("n=") for m in lines.messages), "a ring without format adds nothing",
           lines.messages[:1])
    octets.close()
    lines.close()


def spread(tap, proxy, ports):
    """extension: each server of a ring has a thread."""
    def threads():
        return sorted(re.findall(r"tmask=(0x\w+) .* mux=SYSLOG", proxy.ctl("show fd")))

    collectors = Collector(ports["octets"], True), Collector(ports["lines"], False)
    tap.ok(lib.until(lambda: threads() == ["0x1", "0x2"]), "two rings, two threads", threads())
    for c in collectors:
        c.close()


def comes_back(tap, proxy, ports):
    """While no server listens the ring keeps the messages."""
    for n in range(100, 120):
        request(ports["fe"], n)
    octets, lines = Collector(ports["octets"], True), Collector(ports["lines"], False)
    want = set(range(100, 120))
    # (what was sent to a server that had just left is lost: TCP tells too late)
    tap.ok(lib.until(lambda: len(want & set(octets.numbers())) >= 15),
           "a server that comes back gets what was kept", octets.numbers())
    tap.ok(lib.until(lambda: len(want & set(lines.numbers())) >= 15), "the same with lines",
           lines.numbers())
    got = octets.numbers()
    tap.eq(got, sorted(set(got)), "in order and once")
    octets.close()
    lines.close()


def full(tap, proxy, ports, is_reference):
    """A server that accepts and never reads: the ring fills, then messages are dropped."""
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    s.bind(("127.0.0.1", ports["lines"]))
    s.listen(8)

    def fill():
        c = lib.connect(ports["fe"])
        r = lib.Reader(c)
        for n in range(1000):
            c.sendall(b"GET /%d%s HTTP/1.1\r\nHost: a\r\n\r\n" % (n, b"x" * 800))
            r.response()
        c.close()
        m = re.search(r"lines +: type=buffer, ([0-9]+) dropped", proxy.ctl("show events"))
        return m and int(m.group(1))

    tap.ok(lib.until(fill), "what finds no room is dropped and counted", proxy.ctl("show events"))
    if not is_reference:
        tap.ok(int(proxy.info()["DroppedLogs"]) > 0, "and is among the lost lines of show info")
    s.close()
    lines = Collector(ports["lines"], False)
    tap.ok(lib.until(lambda: lines.messages, 2 * lib.PATIENCE), "the next server gets what is there")
    lib.until(lambda: len(lines.messages) > 5)

    def again():
        request(ports["fe"], 777)
        return 777 in lines.numbers()

    tap.ok(lib.until(again, 2 * lib.PATIENCE), "and new messages")
    lines.close()


def max_reuse(tap, program):
    """A connection to a server of a ring is left once it has carried more lines than max-reuse; all lines arrive."""
    for words, least, most in (("max-reuse 1", 5, 20), ("max-reuse -1", 1, 1), ("", 1, 1)):
        held, lock, got, changed = [], threading.Lock(), bytearray(), threading.Condition()

        def serve(sock):
            with lock:
                held.append(1)
            while part := sock.recv(65536):
                with changed:
                    got.extend(part)
                    changed.notify_all()
        server, port = lib.Server(serve), lib.ports(1)[0]
        ring = "\tlog ring@r format raw local0\nring r\n\tsize 65536\n\tformat raw\n\ttimeout connect 5s\n\ttimeout server 30s\n" \
               "\tserver s1 127.0.0.1:%d %s\n" % (server.port, words)
        with lib.Proxy(program, ring + REUSED % port):
            for n in range(1, 21):
                request(port, n)
                with changed:
                    changed.wait_for(lambda n=n: b"n=/%d end\n" % n in got, lib.PATIENCE)
        tap.eq(got.decode(), "".join("n=/%d end\n" % n for n in range(1, 21)), "rings: %s: all lines" % (words or "no max-reuse"))
        tap.ok(least <= len(held) <= most, "rings: %s: connections" % (words or "no max-reuse"), len(held))
        server.close()


def reload_keeps(tap, program, ports):
    """Messages logged before and after a reload arrive once, in order, whoever accepted them."""
    octets = Collector(ports["octets"], True)
    conf = CONF.format(more="", **ports)
    with lib.Proxy(program, conf) as proxy:
        for n in range(20):
            request(ports["fe"], n)
        lib.until(lambda: len(octets.numbers()) == 20)
        answer = proxy.ctl("reload")
        for n in range(20, 40):
            request(ports["fe"], n)
        tap.ok(lib.until(lambda: octets.numbers() == list(range(40))),
               "nothing is lost or repeated", "%s %s" % (answer, octets.numbers()))
        kept = proxy.ctl("show events octets")
        tap.ok("n=/0 end" in kept and "n=/39 end" in kept, "the ring keeps what it held")
    octets.close()


def watched(tap, program):
    """show events: all, only new ones, until something is typed or the other side closes; separators, other types."""
    port = lib.ports(1)[0]
    with lib.Proxy(program, "\tlog ring@r format raw local0\nring r\n\tsize 65536\n\tformat raw\nring other\n\tsize 4096\n" +
                   REUSED % port) as proxy:
        def get(n):
            with lib.connect(port) as c:
                c.sendall(b"GET /%d HTTP/1.0\r\n\r\n" % n)
                return lib.Reader(c).response()

        def until(sock, wanted):
            got = b""
            while wanted not in got:
                part = sock.recv(65536)
                if not part:
                    break
                got += part
            return got

        def watch(words):
            s = socket.socket(socket.AF_UNIX)
            s.settimeout(lib.PATIENCE)
            s.connect(proxy.ctl_path)
            s.sendall(b"show events r %s\n" % words.encode())
            return s

        get(1)
        lib.until(lambda: "n=/1 end" in proxy.ctl("show events r"))
        for words in ("-w -n", "-wn", "-nw", "-n -w"):
            s, n = watch(words), 10
            while True:    # what comes before it watches is not shown
                get(n)
                s.settimeout(0.3)
                try:
                    got = until(s, b"end")
                    break
                except socket.timeout:
                    n += 1
                    if n > 40:
                        got = b""
                        break
            tap.ok(b"n=/1 end" not in got and b"n=/1" in got, "show events %s: new ones only" % words, got)
            s.settimeout(lib.PATIENCE)
            s.sendall(b"stop\n")
            until(s, b"never")
            tap.ok(True, "show events %s: ends when something is typed" % words)
            s.close()
        s = watch("-w")
        got = until(s, b"n=/1 end\n")
        get(99)
        got += until(s, b"n=/99 end\n")
        tap.ok(got.startswith(b"\nn=/1 end\n") or got.startswith(b"n=/1 end\n"), "-w: those that are there, then new ones", got[:60])
        s.close()
        tap.ok(lib.until(lambda: proxy.ctl("show sess").count("unix_stream") == 1), "-w: closing ends it")
        zeros = proxy.ctl("show events r -0")
        tap.ok("n=/1 end\0" in zeros and "end\n" not in zeros, "-0: NUL between them", zeros[:60])
        every = proxy.ctl("show events")
        tap.ok(re.search(r"^ *r +: type=buffer, 0 dropped", every, re.M) and re.search(r"^ *other +: type=buffer", every, re.M) and
               re.search(r"^ *stdout +: type=fd", every, re.M), "show events: sinks and their types", every)


def read_file(data):
    """The messages of a backing file of ours."""
    magic, size, head, tail = struct.unpack_from("<8sQQQ", data)
    ring, out = data[32:32 + size], []
    assert magic == b"HAPRING1" and tail - head <= size

    def span(at, n):
        return bytes(ring[(at + i) % size] for i in range(n))

    while head < tail:
        n, = struct.unpack("<I", span(head, 4))
        out.append(span(head + 4, n))
        head += 4 + n
    return out


def backing_file(tap, program, ports):
    path = "/tmp/ring.%d" % os.getpid()
    more = "ring kept\n\tsize 8192\n\tbacking-file %s\n" % path
    conf = CONF.format(more=more, **ports).replace("log ring@lines", "log ring@kept")
    try:
        with lib.Proxy(program, conf) as proxy:
            tap.eq(oct(os.stat(path).st_mode & 0o777), oct(0o600), "it is its owner's alone")
            tap.eq(os.stat(path).st_size, 8192, "of the size that was asked for")
            for n in range(1000, 1600):
                request(ports["fe"], n)
            proxy.stop(signal.SIGKILL)
        data = open(path, "rb").read()
        tap.ok(b"n=/1599 end" in data or lib.is_reference(program) and b"/1599" in data,
               "after a kill the file has the last messages")
        if not lib.is_reference(program):
            tap.ok(b"n=/1000 end" not in data, "and none of those that they replaced")
            got = read_file(data)
            tap.eq(got[-1], b"n=/1599 end", "its format is the documented one")
            tap.ok(len(got) > 100, "with as many as fit", len(got))
        with lib.Proxy(program, conf):
            tap.ok(b"n=/1599 end" in open(path + ".bak", "rb").read(),
                   "the next process keeps it aside")
    finally:
        for p in (path, path + ".bak"):
            if os.path.exists(p):
                os.unlink(p)


def main():
    args = lib.arguments(__doc__)
    tap = lib.Tap()
    ports = dict(zip(("octets", "lines", "fe"), lib.ports(3)))
    with lib.Proxy(args.program, CONF.format(more="", **ports)) as proxy:
        if not lib.is_reference(args.program):
            spread(tap, proxy, ports)
        both_framings(tap, ports)
        comes_back(tap, proxy, ports)
        full(tap, proxy, ports, lib.is_reference(args.program))
        tap.ok(proxy.alive(), "the process lives")
    if not lib.is_reference(args.program):
        reload_keeps(tap, args.program, ports)
    max_reuse(tap, args.program)
    watched(tap, args.program)
    backing_file(tap, args.program, ports)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
