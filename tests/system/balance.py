#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Which server serves which request: sequences of roundrobin and static-rr with unequal weights
through scripted changes, and 10,000 keys through each kind of hashing, against a second, naive
implementation of the orders in this file.
"""
import bisect
import ipaddress
import random
import struct
import threading
import time
import zlib

import lib

CONF = """
	nbthread 1
defaults
	mode http
	timeout connect 5s
	timeout client 20s
	timeout server 20s
frontend fe
	bind 127.0.0.1:{fe}
	default_backend be
frontend origin
	bind 127.0.0.1:{origin}
	http-request return status 200
backend be
	balance {balance}
	http-response set-header x-srv %s
{more}
{servers}
"""
WORD = 0xffffffff


# --- the orders, naively

def schedule(weights):
    """static-rr and map-based hashing: the list that is gone through."""
    total, credit, out = sum(weights), [0] * len(weights), []
    for _ in range(total):
        for i, w in enumerate(weights):
            credit[i] += w
        worth = [(credit[i] + total) // total if w else -1 for i, w in enumerate(weights)]
        best = worth.index(max(worth))
        credit[best] -= total
        out.append(best + 1)
    return out


class Round:
    """roundrobin: dates in rounds of as many turns as the sum of weights, times 16."""

    def __init__(self, weights):
        self.weight = [0] * len(weights)
        self.date = [0] * len(weights)
        self.rest = [0] * len(weights)
        self.place = {}     # server: (name of the place, sorting key)
        self.ticket = 0
        for i, w in enumerate(weights):
            self.weight[i] = 16 * w
            if w:
                self.enter(i, "fresh", 4096 - 16 * w)
        self.turn = self.round = self.next_round = sum(self.weight)

    def enter(self, i, name, rank):
        self.ticket += 1
        self.place[i] = (name, (rank, self.ticket))

    def queue(self, i):
        if self.date[i] >= 2 * self.round or self.date[i] >= self.round + self.next_round:
            self.enter(i, "later", 4096 - self.weight[i])
        else:
            self.enter(i, "dated", 256 * self.date[i] +
                       (4096 + self.rest[i] - self.weight[i]) // 16)

    def first(self, name):
        return min((p[1], i) for i, p in self.place.items() if p[0] == name)[1] \
            if any(p[0] == name for p in self.place.values()) else None

    def choose(self):
        dated, fresh = self.first("dated"), self.first("fresh")
        if dated is not None and (fresh is None or self.date[dated] <= self.turn):
            return dated
        return fresh

    def pick(self):
        i = self.choose()
        if i is None and not self.place:
            return 0
        if i is None:
            for j, p in self.place.items():
                if p[0] == "later":
                    self.place[j] = ("fresh", p[1])
            self.turn = self.round = self.next_round
            i = self.choose()
        if self.place[i][0] == "fresh":
            self.date[i], self.rest[i] = self.turn, 0
        self.date[i] += self.next_round // self.weight[i]
        self.rest[i] += self.next_round % self.weight[i]
        if self.rest[i] >= self.weight[i]:
            self.rest[i] -= self.weight[i]
            self.date[i] += 1
        self.turn += 1
        self.queue(i)
        return i + 1

    def set(self, i, weight):
        old, self.weight[i] = self.weight[i], 16 * weight
        if old == self.weight[i]:
            return
        self.next_round += self.weight[i] - old
        self.place.pop(i, None)
        if not weight:
            return
        self.date[i] = self.turn + int((self.next_round + self.round - self.turn) /
                                       self.weight[i])
        self.queue(i)


def sdbm(data):
    h = 0
    for c in data:
        h = (c + (h << 6) + (h << 16) - h) & WORD
    return h


def djb2(data):
    h = 5381
    for c in data:
        h = ((h << 5) + h + c) & WORD
    return h


def avalanche(a):
    a = (a + 0x7ed55d16 + (a << 12)) & WORD
    a = a ^ 0xc761c23c ^ a >> 19
    a = (a + 0x165667b1 + (a << 5)) & WORD
    a = ((a + 0xd3a2646c) ^ a << 9) & WORD
    a = (a + 0xfd7046c5 + (a << 3)) & WORD
    a = a ^ 0xb55a4f09 ^ a >> 16
    return a * 3221225473 & WORD


FUNCTIONS = {"sdbm": sdbm, "djb2": djb2, "crc32": zlib.crc32}


class Ring:
    """Consistent hashing: 16 points for each unit of weight; the nearest one counts."""

    def __init__(self, weights, seeds):
        self.points = sorted((avalanche((seed + k) & WORD), i + 1)
                             for i, (w, seed) in enumerate(zip(weights, seeds))
                             for k in range(16 * w))
        self.at = [p[0] for p in self.points]

    def find(self, h):
        k = bisect.bisect_left(self.at, h)
        above, below = self.points[k % len(self.at)], self.points[k - 1]
        return (below if (h - below[0]) & WORD <= (above[0] - h) & WORD else above)[1]


# --- the program

class Scene:
    def __init__(self, args, balance, weights, more="", option=""):
        self.fe, self.origin = lib.ports(2)
        lines = "\n".join("\tserver s%d 127.0.0.1:%d weight %d %s" % (i + 1, self.origin, w, option)
                          for i, w in enumerate(weights))
        self.proxy = lib.Proxy(args.program, CONF.format(
            fe=self.fe, origin=self.origin, balance=balance, more=more, servers=lines))
        self.sock = lib.connect(self.fe)
        self.reader = lib.Reader(self.sock)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.sock.close()
        self.proxy.__exit__()

    def ask(self, requests):
        """The numbers of the servers that served them; 0: none."""
        out = []
        for i in range(0, len(requests), 50):
            part = requests[i:i + 50]
            self.sock.sendall(b"".join(part))
            for _ in part:
                got = self.reader.response()
                out.append(int(got[1].get("x-srv", "s0")[1:]))
        return out

    def plain(self, n):
        return self.ask([b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"] * n)

    def change(self, server, what):
        self.proxy.ctl("set server be/s%d %s" % (server, what))


def first_difference(got, want):
    for i, (a, b) in enumerate(zip(got, want)):
        if a != b:
            return "turn %d: got %s, want %s" % (i, got[i:i + 20], want[i:i + 20])
    return ""


WEIGHTS = [[1, 2], [2, 1, 1], [5, 3, 2], [1, 2, 3, 4], [7, 7, 3], [100, 50, 7], [3, 3, 2, 2],
           [256, 1], [10, 6, 5, 3, 3]]


def sequences(tap, args):
    for weights in WEIGHTS:
        n = min(16 * sum(weights) * 2 + 20, 2500)
        with Scene(args, "roundrobin", weights) as sc:
            order = Round(weights)
            got, want = sc.plain(n), [order.pick() for _ in range(n)]
            tap.ok(got == want, "roundrobin %s: %d turns" % (weights, n),
                   first_difference(got, want))
        with Scene(args, "static-rr", weights) as sc:
            got, want = sc.plain(2 * sum(weights)), 2 * schedule(weights)
            tap.ok(got == want, "static-rr %s: twice round" % weights,
                   first_difference(got, want))


def scripted(tap, args):
    """Weights are changed and servers lost, at random but the same each time."""
    chance = random.Random(11)
    for run in range(20):
        weights = [chance.randrange(1, 10) for _ in range(chance.randrange(2, 6))]
        now, down, got, want = list(weights), set(), [], []
        with Scene(args, "roundrobin", weights) as sc:
            order = Round(weights)
            for _ in range(10):
                n = chance.choice([1, 2, 3, 5, 8, 13, 30, 70, 150])
                got += sc.plain(n)
                want += [order.pick() for _ in range(n)]
                i = chance.randrange(len(weights))
                if chance.random() < 0.5:
                    now[i] = chance.randrange(0, 12)
                    sc.change(i + 1, "weight %d" % now[i])
                elif i in down:
                    down.remove(i)
                    sc.change(i + 1, "state ready")
                else:
                    down.add(i)
                    sc.change(i + 1, "state maint")
                order.set(i, 0 if i in down else now[i])
        tap.ok(got == want, "roundrobin %s: script %d, %d turns" % (weights, run, len(got)),
               first_difference(got, want))


KEYS = ["k%x-%d" % (random.Random(i).getrandbits(40), i) for i in range(10000)]
HASHED = [3, 1, 2, 1, 5]


def mapping(tap, args, kind, weights, find, balance="hdr(k)", keys=None, option=""):
    """All keys go where <find> says; returns the mapping."""
    keys = keys or KEYS
    with Scene(args, balance, HASHED, "\thash-type " + kind, option) as sc:
        for i, w in enumerate(weights):
            if not w:
                sc.change(i + 1, "state maint")
            elif w != HASHED[i]:
                sc.change(i + 1, "weight %d" % w)
        got = sc.ask([b"GET / HTTP/1.1\r\nHost: x\r\nk: %s\r\n\r\n" % k.encode() for k in keys])
    want = [find(k) for k in keys]
    bad = sum(a != b for a, b in zip(got, want))
    tap.ok(not bad, "balance %s, hash-type %s %s, weights %s: %d keys" %
           (balance, kind, option, weights, len(keys)), "%d differ" % bad)
    return got


def seeds_of_ids():
    return [4096 * (i + 1) for i in range(len(HASHED))]


def hashes(tap, args):
    places, ring = schedule(HASHED), Ring(HASHED, seeds_of_ids())
    for name, function in FUNCTIONS.items():
        mapping(tap, args, "map-based " + name, HASHED,
                lambda k: places[function(k.encode()) % len(places)])
        mapping(tap, args, "consistent %s avalanche" % name, HASHED,
                lambda k: ring.find(avalanche(function(k.encode()))))
    mapping(tap, args, "map-based djb2 avalanche", HASHED,
            lambda k: places[avalanche(djb2(k.encode())) % len(places)])
    mapping(tap, args, "consistent crc32", HASHED, lambda k: ring.find(zlib.crc32(k.encode())))
    numbers = [str(random.Random(i).getrandbits(32)) for i in range(10000)]
    mapping(tap, args, "consistent none", HASHED, lambda k: ring.find(int(k)), keys=numbers)
    addresses = [str(ipaddress.IPv4Address(int(n))) for n in numbers]
    mapping(tap, args, "map-based", HASHED,
            lambda k: places[sdbm(ipaddress.ip_address(k).packed) % len(places)],
            "hash req.hdr_ip(k)", addresses)


def moves(tap, args):
    """A server that leaves a consistent ring takes nobody else's keys with it."""
    def find(weights):
        ring = Ring(weights, seeds_of_ids())
        return lambda k: ring.find(avalanche(sdbm(k.encode())))
    less, more = [3, 1, 0, 1, 5], [3, 1, 7, 1, 5]
    full = mapping(tap, args, "consistent", HASHED, find(HASHED))
    got = mapping(tap, args, "consistent", less, find(less))
    stray = sum(a != b and a != 3 for a, b in zip(full, got))
    tap.eq(stray, 0, "consistent: only the keys of the server that left have moved")
    got = mapping(tap, args, "consistent", more, find(more))
    stray = sum(a != b and b != 3 for a, b in zip(full, got))
    tap.eq(stray, 0, "consistent: a heavier server takes keys, and no others move")
    places = schedule(less)
    mapping(tap, args, "map-based", less, lambda k: places[sdbm(k.encode()) % len(places)])


XXH32_ONE = 0x7ebf5260  # XXH32 of "one"


def server_keys(tap, args):
    """hash-key: the points come from the address, the whole number or the name, not from the number of 20 bits."""
    word = struct.unpack("=I", ipaddress.ip_address("127.0.0.1").packed)[0]
    for option in ("addr", "addr-port", "id32 id 305419896", "guid guid one", "guid id 1048577", "id id 1048577"):
        fe, origin = lib.ports(2)
        seed = {"addr": avalanche(word), "addr-port": avalanche((word + avalanche(origin)) & WORD),
                "id32 id 305419896": avalanche(0x78563412), "guid guid one": XXH32_ONE}.get(option, 4096)
        conf = CONF.format(fe=fe, origin=origin, balance="hdr(k)",
                           more="\thash-type consistent none", servers="\n".join((
                               "\tserver s1 127.0.0.1:%d hash-key %s" % (origin, option),
                               "\tserver s2 127.0.0.1:%d" % origin)))
        ring = Ring([1, 1], [seed, 2 * 4096])
        keys = [random.Random(i).getrandbits(32) for i in range(2000)]
        with lib.Proxy(args.program, conf):
            sc = Scene.__new__(Scene)
            sc.sock = lib.connect(fe)
            sc.reader = lib.Reader(sc.sock)
            got = sc.ask([b"GET / HTTP/1.1\r\nHost: x\r\nk: %d\r\n\r\n" % k for k in keys])
            sc.sock.close()
        bad = sum(a != ring.find(k) for a, k in zip(got, keys))
        tap.eq(bad, 0, "hash-key %s: 2000 keys" % option)


def bounded_find(ring, weights, load, factor, h):
    """The first server from the hash on that is below its share of <factor> percent."""
    allowed = ((sum(load) + 1) * factor + 99) // 100
    ends = [sum(weights[:i + 1]) * allowed // sum(weights) for i in range(len(weights))]
    share = [end - begin for begin, end in zip([0] + ends, ends)]
    first = ring.find(h)
    k = bisect.bisect_left(ring.at, h) % len(ring.at)
    if ring.points[k][1] != first or ring.points[k - 1][1] == first:
        k -= 1
    for n in range(len(ring.at)):
        i = ring.points[(k + n) % len(ring.at)][1] - 1
        if not load[i] or load[i] < share[i]:
            return i + 1
    return first


def bounded(tap, args):
    """hash-balance-factor: requests that all servers still work on."""
    for weights, factor in (([1, 1, 1, 1], 150), ([1, 2, 3], 110), ([5, 1], 200)):
        seen, hold = [], threading.Event()

        def serve(i, seen=seen, hold=hold):
            def handler(sock):
                r = lib.Reader(sock)
                if r.head():
                    seen.append(i)
                    hold.wait(lib.PATIENCE)
                    sock.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
            return handler

        servers = [lib.Server(serve(i + 1)) for i in range(len(weights))]
        fe, origin = lib.ports(2)
        more = "\thash-type consistent none\n\thash-balance-factor %d" % factor
        conf = CONF.format(fe=fe, origin=origin, balance="hdr(k)", more=more, servers="\n".join(
            "\tserver s%d 127.0.0.1:%d weight %d" % (i + 1, s.port, weights[i])
            for i, s in enumerate(servers)))
        ring = Ring(weights, [4096 * (i + 1) for i in range(len(weights))])
        load, want, socks = [0] * len(weights), [], []
        with lib.Proxy(args.program, conf):
            for n in range(20):
                key = random.Random(n).getrandbits(32) if n % 3 == 0 else 12345
                want.append(bounded_find(ring, weights, load, factor, key))
                load[want[-1] - 1] += 1
                socks.append(lib.connect(fe))
                socks[-1].sendall(b"GET / HTTP/1.1\r\nHost: x\r\nk: %d\r\n\r\n" % key)
                lib.until(lambda n=n: len(seen) > n)
            tap.eq(seen, want, "hash-balance-factor %d, weights %s" % (factor, weights))
            hold.set()
            for s in socks:
                s.close()
        for s in servers:
            s.close()


def latency(tap, args):
    """peak-ewma leaves a slow server to those who must: an extension."""
    if lib.is_reference(args.program):
        tap.skip("peak-ewma", "an extension")
        return
    slow = [True, False]

    def handler(i):
        def serve(sock):
            r = lib.Reader(sock)
            while r.head():
                if slow[i]:
                    time.sleep(0.1)
                sock.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
        return serve

    servers = [lib.Server(handler(i)) for i in range(2)]
    fe, origin = lib.ports(2)
    conf = CONF.format(fe=fe, origin=origin, balance="peak-ewma", more="", servers="\n".join(
        "\tserver s%d 127.0.0.1:%d" % (i + 1, s.port) for i, s in enumerate(servers)))
    with lib.Proxy(args.program, conf):
        for turn, fast in ((1, 2), (2, 1)):
            sc = Scene.__new__(Scene)
            sc.sock = lib.connect(fe)
            sc.reader = lib.Reader(sc.sock)
            got = [sc.plain(1)[0] for _ in range(60)]
            sc.sock.close()
            late = got[30:].count(fast)
            tap.ok(late > 15, "peak-ewma: the fast server gets most, turn %d" % turn, got)
            slow.reverse()
    for s in servers:
        s.close()


def main():
    args = lib.arguments(__doc__)
    tap = lib.Tap()
    tap.run((sequences, scripted, hashes, moves, server_keys, bounded, latency), args)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
