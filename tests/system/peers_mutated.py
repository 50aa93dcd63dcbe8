#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Sections `peers` and somebody who knows the protocol and means ill: sessions of a remote peer, of the local one, and of servers
that are dialled, made of definitions, entries, lessons, acknowledgements and control messages with odd types, lengths, numbers and
texts, or with bytes changed, in any pieces. Tables stay within their size, what `show table` says can be read, an honest peer is
taught and listened to behind that, and no sanitizer has anything to say. --count N sessions, --seed N; made for SAN=address. An
extension: the reference is not asked."""
import random
import re
import time

import lib
from lib_spop import varint
from peers import Scripted, define, message, number, rows

CONF = """	localpeer a
	nbthread 2
defaults
	mode http
	timeout connect 5s
	timeout client 5s
	timeout server 5s
peers pp
	peer a 127.0.0.1:%(a)d
	peer b 127.0.0.1:%(b)d
	table ips type ip size 100 expire 1s store %(all)s write-to marks
	table ip6s type ipv6 size 2000 store gpc0,conn_cur,gpt0,server_id,server_key sum
	table numbers type integer size 50 expire 24d store http_req_rate(10s),bytes_in_cnt,rate_limit
	table texts type string len 20 size 100 expire 1m recv-only store gpt(100),gpc_rate(100,1s),server_key
	table bytes type binary len 8 size 3 nopurge expire 1m store gpc(3)
backend marks
	stick-table type ip size 100 expire 1m store gpc0,gpt0,server_id,server_key
"""
ALL = ("server_id,server_key,gpt0,gpc0,gpc0_rate(10s),gpc1,gpc1_rate(1s),conn_cnt,conn_rate(1m),conn_cur,sess_cnt,http_req_cnt,"
       "http_req_rate(24d),bytes_in_cnt,bytes_in_rate(1s),bytes_out_cnt,glitch_cnt")
# name, number of its type of keys, length of keys
TABLES = (("/ips", 4, 4), ("/ip6s", 5, 16), ("/numbers", 2, 4), ("/texts", 6, 21), ("/bytes", 7, 8), ("/nobody", 4, 4), ("", 2, 4))
NUMBERS = (0, 1, 2, 127, 128, 239, 240, 2287, 2288, 65535, 65536, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 32, (1 << 63) - 1, (1 << 64) - 1)
RATES = {3, 5, 8, 10, 12, 14, 16, 18, 21, 24, 26}
ARRAYS = {22: 100, 23: 3, 24: 100}
KEY_OF_SERVER = 19


class Session:
    """What one peer says."""

    def __init__(self, chance):
        self.r, self.kind, self.size, self.data = chance, 4, 4, 0
        self.cells = {}

    def number(self):
        return number(self.r.choice(NUMBERS) if self.r.random() < 0.3 else self.r.randrange(300))

    def four(self):
        return (self.r.choice(NUMBERS) if self.r.random() < 0.4 else self.r.randrange(300)).to_bytes(8, "big")[4:]

    def define(self):
        name, self.kind, self.size = self.r.choice(TABLES)
        if self.r.random() < 0.2:
            self.kind, self.size = self.r.choice((0, 2, 3, 4, 5, 6, 7, 8, 255)), self.r.choice((0, 1, 4, 8, 16, 21, 300, 1 << 31, (1 << 32) - 1))
        self.data = self.r.choice((0, 4, 1 << KEY_OF_SERVER | 1, self.r.getrandbits(27), (1 << 27) - 1, self.r.getrandbits(64)))
        more = b""
        for d in sorted(RATES | set(ARRAYS)):
            if not self.data >> d & 1:
                continue
            more += number(d)
            if d in ARRAYS:
                self.cells[d] = self.r.choice((ARRAYS[d], 1, 0, 100, 101, 1 << 32))
                more += number(self.cells[d])
            if d in RATES:
                more += number(self.r.choice((1000, 10000, 0, (1 << 31) - 1, (1 << 32) - 1)))
        return define(self.r.choice((1, 1, 2, 3, 0, (1 << 32) - 1)), name, self.kind, self.size, self.data,
                      self.r.choice((1000, 60000, 0, (1 << 32) - 1)), more if self.r.random() < 0.9 else more[:3])

    def key(self):
        if self.kind == 6:
            n = self.r.choice((0, 1, 5, 20, 21, 300))
            return number(n if self.r.random() < 0.95 else n + 9) + bytes(self.r.choice(b"abc\0\n =\\\xff") for _ in range(n))
        size = self.size if self.size <= 300 else 8
        return self.r.randbytes(size) if self.r.random() < 0.5 else bytes(max(0, size - 1)) + bytes([self.r.randrange(9)])

    def value(self, d):
        if d in RATES:
            return b"".join(number(self.r.choice(NUMBERS)) if self.r.random() < 0.3 else self.number() for _ in range(3))
        if d != KEY_OF_SERVER:
            return self.number()
        text = bytes(self.r.randrange(256) for _ in range(self.r.choice((0, 1, 3, 30, 3000))))
        word = number(self.r.choice((1, 2, 128, 129, 0, 1 << 32)))
        body = self.r.choice((b"", word, word + number(len(text)) + text, word + number(1 << 31) + text))
        return number(len(body)) + body

    def entry(self):
        kind = self.r.choice((128, 129, 133, 134))
        body = self.four() if kind in (128, 133) else b""
        if kind in (133, 134):
            body += self.r.choice((bytes(4), b"\xff" * 4, self.four()))
        body += self.key()
        for d in range(27):
            if self.data >> d & 1:
                body += b"".join(self.value(d) for _ in range(min(self.cells.get(d, 1), 200)))
        return message(kind, body)

    def say(self):
        what = self.r.random()
        if what < 0.15:
            return self.define()
        if what < 0.7:
            return self.entry()
        if what < 0.8:
            return message(132, self.number() + self.four())
        if what < 0.85:
            return message(131, self.number())
        if what < 0.97:
            return bytes([0, self.r.choice((0, 0, 1, 1, 2, 3, 3, 4, 9, 127))])
        return self.r.choice((message(self.r.randrange(128, 256), self.r.randbytes(9)), b"\1\0", b"\1\1", b"\x0a\x80" + number(1 << 32)))

    def all(self):
        out = bytearray(self.define() + b"".join(self.say() for _ in range(self.r.randrange(1, 60))))
        for _ in range(self.r.choice((0, 0, 1, 3)) if out else 0):
            at = self.r.randrange(len(out))
            change = self.r.randrange(4)
            if change == 0:
                out[at] = self.r.choice((0, 1, 0x7f, 0x80, 0xff, self.r.randrange(256)))
            elif change == 1:
                del out[at:at + self.r.randrange(1, 9)]
            elif change == 2:
                out[at:at] = self.r.randbytes(self.r.randrange(1, 9))
            else:
                out[at:at] = out[:self.r.randrange(1, 200)]
            if not out:
                break
        return bytes(out)


def send(sock, data, chance):
    """In some pieces; what comes is not read, now and then for long."""
    try:
        while data:
            n = chance.choice((len(data), 1, 7, 500))
            sock.sendall(data[:n])
            data = data[n:]
        if chance.random() < 0.5:
            sock.settimeout(0.02)
            while sock.recv(65536):
                pass
    except OSError:
        pass


class Listener:
    """The port of b: whoever dials it is told sessions too."""

    def __init__(self, port, seed):
        self.r, self.seen = random.Random(seed), 0
        self.server = lib.Server(self.one, port)

    def one(self, sock):
        sock.settimeout(lib.PATIENCE)
        sock.recv(1000)
        self.seen += 1
        sock.sendall(b"200\n")
        send(sock, Session(self.r).all(), self.r)


def sizes(p):
    return {m[0]: (int(m[1]), int(m[2])) for m in re.findall(r"table: (\S+), type: .*?size:(\d+), used:(\d+)", p.ctl("show table"))}


def odd_lines(p):
    """Lines of `show table` that nobody could read."""
    out = []
    for table in sizes(p):
        for line in p.ctl("show table " + table).split("\n"):
            if line and not re.match(r"# table: |0x[0-9a-f]+: key=(\\ |\S)* use=\d+ exp=\d+ shard=\d+( \w+(\(\d+\))?=[!-~]*)*$", line):
                out.append(table + ": " + line)
    return out


def mutated(tap, args):
    a, b = lib.ports(2)
    listener = Listener(b, args.seed)
    odd, above = [], []
    with lib.Proxy(args.program, CONF % {"a": a, "b": b, "all": ALL}, restless="peers") as p:
        forged = b"x\n0x1: key=1.2.3.4 use=0 exp=1 shard=0 server_key=a\x1b[2J"
        s = Scripted(a)
        s.until(b"200\n")
        body = number(1) + number(len(forged)) + forged
        s.sock.sendall(b"\0\1" + define(1, "/ips", 4, 4, 1 << KEY_OF_SERVER) + message(128, bytes((0, 0, 0, 1, 10, 0, 0, 1)) + number(len(body)) + body))
        good = lib.until(lambda: "10.0.0.1" in p.ctl("show table pp/ips"))
        said = p.ctl("show table pp/ips") + p.ctl("show peers dict")
        tap.ok(good and said.count("x\\n0x1:\\ key=1.2.3.4\\ use=0") >= 2 and "\x1b" not in said, "a text that looks like a line of a table is a word", said)
        s.close()
        for n in range(args.count):
            chance = random.Random("%d %d" % (args.seed, n))
            who = chance.choice((b"b", b"b", b"a"))
            s = Scripted(a, b"HAProxyS 2.1\na\n%s %d 1\n" % (who, n))
            if chance.random() < 0.9:
                s.until(b"\n")
            send(s.sock, Session(chance).all(), chance)
            s.close()
            if n % 25 == 24 or n + 1 == args.count:
                odd += odd_lines(p)
                above += ["session %d: %s" % (n, x) for x in sizes(p).items() if x[1][1] > x[1][0]]
                p.ctl("show peers")
                p.ctl("show peers dict")
            if not p.alive():
                break
        tap.ok(p.alive(), "%d sessions, and the process lives" % args.count, p.output()[-3000:])
        tap.eq(above, [], "no table is above its size")
        tap.eq(odd[:5], [], "what is shown of them can be read")
        tap.ok(lib.until(lambda: listener.seen > 0), "it has dialled: %d times" % listener.seen)
        listener.server.close()
        p.ctl("; ".join("clear table " + t for t in sizes(p)))
        s = Scripted(a, b"HAProxyS 2.1\na\nb 1 1\n")
        s.until(b"200\n")
        s.sock.sendall(b"\0\1" + define(1, "/numbers", 2, 4, 1 << 13) + message(128, b"\0\0\0\1" + b"\0\0\0\x09" + number(1000)))
        tap.ok(lib.until(lambda: rows(p, "pp/numbers").get("9", {}).get("bytes_in_cnt") == "1000"), "an honest peer is listened to",
               p.ctl("show table pp/numbers"))
        s.sock.sendall(b"\0\0")
        got = s.until(b"\0\1")
        tap.ok(b"\0\1" in got, "and taught", got[-200:])
        s.close()
        time.sleep(0.1)
        p.stop()
        text = p.output()
        tap.ok("Sanitizer" not in text and "BUG" not in text, "no sanitizer has anything to say", text[max(0, text.find("Sanitizer") - 200):][:6000])


def main():
    args = lib.arguments(__doc__, ("count", 150, "sessions"), ("seed", 1, "of the generator"))
    tap = lib.Tap()
    if lib.is_reference(args.program):
        tap.skip("peers_mutated", "it is no test of the reference")
        tap.done()
        return
    tap.attempt("mutated", mutated, tap, args)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
