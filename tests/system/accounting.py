#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Nothing lost, nothing twice: mixed traffic (kept, closed, pipelined, chunked, slow and aborted
requests, tunnels) through several threads. Each request has its own number in its path; behind the
run, answers, log lines, what the servers saw and the counters of show stat must tell one story.
"""
import collections
import itertools
import random
import re
import socket
import threading
import time

import lib

CONF = """
	nbthread {threads}
	thread-groups {groups}
	log stdout format raw local0
	maxconn 2000
defaults
	mode http
	log global
	option httplog
	timeout connect 5s
	timeout client 10s
	timeout server 10s
	timeout queue 10s
frontend fe
	bind 127.0.0.1:{fe}
	default_backend be
backend be
	balance {balance}
	server s1 127.0.0.1:{s1} maxconn 30
	server s2 127.0.0.1:{s2} maxconn 30
"""
LINE = re.compile(r" (?P<be>\S+)/(?P<srv>\S+) -?\d+/-?\d+/-?\d+/-?\d+/\+?\d+ (?P<status>-?\d+) "
                  r"\+?\d+ - - (?P<state>....) \S+ \S+ \"\S+ /(?P<kind>\w+)/(?P<id>\d+)")


class Story:
    """What clients and servers saw."""

    def __init__(self):
        self.lock = threading.Lock()
        self.numbers = itertools.count(1)
        self.answered = {}
        self.aborted = set()
        self.seen = collections.Counter()
        self.errors = []
        self.kinds = collections.Counter()

    def number(self, kind):
        with self.lock:
            self.kinds[kind] += 1
            return next(self.numbers)

    def answer(self, number, got):
        with self.lock:
            if got is None:
                self.errors.append("request %d: no answer" % number)
            elif got[1].get("x-id") != str(number):
                self.errors.append("request %d: the answer of %s" % (number, got[1].get("x-id")))
            else:
                self.answered[number] = got[0]


def serve(story, sock):
    r = lib.Reader(sock)
    while True:
        head = r.head()
        if not head:
            return
        _, kind, number = head[0].split(" ")[1].split("/")
        body = r.body(head[1])
        with story.lock:
            story.seen[int(number)] += 1
        if kind == "tunnel":
            sock.sendall(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n"
                         b"Upgrade: echo\r\nx-id: %s\r\n\r\n" % number.encode())
            while True:
                data = sock.recv(4096)
                if not data:
                    return
                sock.sendall(data)
        if kind in ("slow", "abort"):
            time.sleep(0.03)
        text = b"%d" % len(body)
        if kind == "chunked":
            sock.sendall(b"HTTP/1.1 200 OK\r\nx-id: %s\r\nTransfer-Encoding: chunked\r\n\r\n"
                         b"%x\r\n%s\r\n0\r\n\r\n" % (number.encode(), len(text), text))
        else:
            sock.sendall(b"HTTP/1.1 200 OK\r\nx-id: %s\r\ncontent-length: %d\r\n\r\n%s" %
                         (number.encode(), len(text), text))


class Client(threading.Thread):
    def __init__(self, story, port, seed, end):
        super().__init__(daemon=True)
        self.story, self.port, self.end = story, port, end
        self.random = random.Random(seed)

    def head(self, kind, number, method="GET", more=""):
        return ("%s /%s/%d HTTP/1.1\r\nHost: x\r\n%s\r\n" % (method, kind, number, more)).encode()

    def kept(self, s, r):
        for _ in range(self.random.randrange(1, 12)):
            n = self.story.number("kept")
            s.sendall(self.head("kept", n))
            self.story.answer(n, r.response())

    def closed(self, s, r):
        n = self.story.number("closed")
        s.sendall(self.head("closed", n, more="Connection: close\r\n"))
        self.story.answer(n, r.response())

    def pipelined(self, s, r):
        ns = [self.story.number("pipelined") for _ in range(5)]
        s.sendall(b"".join(self.head("pipelined", n) for n in ns))
        for n in ns:
            self.story.answer(n, r.response())

    def chunked(self, s, r):
        n = self.story.number("chunked")
        size = self.random.randrange(1, 60000)
        s.sendall(self.head("chunked", n, "POST", "Transfer-Encoding: chunked\r\n"))
        s.sendall(b"%x\r\n%s\r\n0\r\n\r\n" % (size, b"x" * size))
        got = r.response()
        if got and got[2] != b"%d" % size:
            self.story.errors.append("request %d: %d bytes sent, %r seen" % (n, size, got[2]))
        self.story.answer(n, got)

    def slow(self, s, r):
        n = self.story.number("slow")
        data = self.head("slow", n)
        for i in range(0, len(data), 9):
            s.sendall(data[i:i + 9])
            time.sleep(0.002)
        self.story.answer(n, r.response())

    def abort(self, s, r):
        n = self.story.number("abort")
        with self.story.lock:
            self.story.aborted.add(n)
        s.sendall(self.head("abort", n))
        time.sleep(self.random.random() * 0.04)
        lib.reset(s)

    def tunnel(self, s, r):
        n = self.story.number("tunnel")
        s.sendall(self.head("tunnel", n, more="Connection: Upgrade\r\nUpgrade: echo\r\n"))
        self.story.answer(n, r.response())
        for i in range(3):
            s.sendall(b"frame%d" % i)
            if r.exactly(6) != b"frame%d" % i:
                self.story.errors.append("tunnel %d: wrong bytes" % n)

    def run(self):
        kinds = (self.kept, self.closed, self.pipelined, self.chunked, self.slow, self.abort,
                 self.tunnel)
        while time.monotonic() < self.end:
            kind = self.random.choice(kinds)
            try:
                s = lib.connect(self.port, 20)
                kind(s, lib.Reader(s))
                s.close()
            except (OSError, EOFError, ValueError) as e:
                if kind != self.abort:
                    self.story.errors.append("%s: %r" % (kind.__name__, e))


def few(items, count=8):
    items = sorted(items)
    return "%d: %s" % (len(items), items[:count])


def parse_log(text):
    """Returns ({number: [(status, state, kind)]}, lines without a request)."""
    lines = collections.defaultdict(list)
    nameless = 0
    for line in text.split("\n"):
        m = LINE.search(line)
        if m:
            lines[int(m.group("id"))].append((int(m.group("status")), m.group("state"),
                                              m.group("kind")))
        elif "<BADREQ>" in line:
            nameless += 1
    return lines, nameless


def judge(tap, story, proxy):
    issued = sum(story.kinds.values())
    print("# %d requests: %s" % (issued, dict(story.kinds)))
    tap.ok(not story.errors, "every request that waited got its own answer",
           "\n".join(story.errors[:10]))
    tap.eq(len(story.answered), issued - len(story.aborted), "answers are as many as requests")
    tap.ok(all(story.kinds[k] for k in ("kept", "closed", "pipelined", "chunked", "slow", "abort",
                                        "tunnel")), "every kind of traffic was there", story.kinds)
    lines, nameless = parse_log(proxy.output())
    dropped = int(proxy.info()["DroppedLogs"])
    print("# DroppedLogs %d, lines without a request %d" % (dropped, nameless))
    answered = set(story.answered)
    missing = answered - set(lines)
    tap.ok(len(missing) <= dropped, "each answer has a log line, or is counted in DroppedLogs",
           "%s, DroppedLogs %d" % (few(missing), dropped))
    tap.ok(all(len(v) == 1 for v in lines.values()), "no request has two log lines",
           few(k for k, v in lines.items() if len(v) > 1))
    tap.ok(set(lines) <= answered | story.aborted, "no log line without a request")
    wrong = [n for n in answered if n in lines and lines[n][0][0] != story.answered[n]]
    tap.ok(not wrong, "the logged status is the one that was received", few(wrong))
    bad = [(n, lines[n][0]) for n in answered if n in lines and lines[n][0][1] != "----"]
    tap.ok(not bad, "complete requests end with ----", few(bad))
    twice = [n for n, count in story.seen.items() if count > 1]
    tap.ok(not twice, "no server saw a request twice", few(twice))
    unseen = [n for n in answered if not story.seen[n]]
    tap.ok(not unseen, "each answer comes from a server", few(unseen))
    for n in missing:
        lines[n].append((story.answered[n], "----", ""))
    judge_counters(tap, story, proxy, lines, dropped - len(missing))


def judge_counters(tap, story, proxy, lines, slack):
    """<slack>: log lines of aborted requests that the program says it dropped, most often 0."""
    stats = proxy.stats()
    fe, be = stats["fe", "FRONTEND"], stats["be", "BACKEND"]
    servers = [stats["be", "s1"], stats["be", "s2"]]
    classes = collections.Counter(v[0][0] // 100 for v in lines.values())

    def counter(got, want, name):
        tap.ok(want <= int(got) <= want + slack, name, "counter %s, logs %d" % (got, want))

    def both(column):
        return sum(int(s[column]) for s in servers)

    counter(fe["req_tot"], len(lines), "frontend: req_tot is the number of log lines")
    counter(fe["hrsp_2xx"], classes[2], "frontend: hrsp_2xx")
    counter(fe["hrsp_1xx"], classes[1], "frontend: hrsp_1xx")
    counter(fe["hrsp_5xx"], classes[5], "frontend: hrsp_5xx")
    counter(be["hrsp_2xx"], classes[2], "backend: hrsp_2xx")
    counter(both("hrsp_2xx"), classes[2], "servers: hrsp_2xx")
    counter(be["stot"], len(lines), "backend: stot")
    total = both("stot")
    aborted = len(story.aborted)
    tap.ok(len(lines) - aborted <= total <= len(lines) + slack, "servers: stot",
           "%d of %d" % (total, len(lines)))
    connected = both("connect") + both("reuse")
    tap.ok(abs(connected - total) <= aborted, "servers: connect + reuse",
           "%d of %d" % (connected, total))
    tap.eq((fe["scur"], be["scur"], be["qcur"]), ("0", "0", "0"), "nothing is left")
    tap.eq((both("qcur"), both("scur")), (0, 0), "nothing is left at the servers")
    tap.eq((be["econ"], be["wretr"], be["wredis"]), ("0", "0", "0"), "no retry was needed")


def main():
    args = lib.arguments(__doc__, ("seconds", 3.0, "how long"), ("threads", 4, "nbthread"),
                         ("groups", 1, "thread-groups"), ("clients", 16, "clients at once"),
                         ("balance", "roundrobin", "algorithm"), ("seed", 1, "of the choices"))
    tap = lib.Tap()
    story = Story()
    backends = [lib.Server(lambda s: serve(story, s)) for _ in range(2)]
    fe = lib.ports(1)[0]
    conf = CONF.format(threads=args.threads, groups=args.groups, fe=fe, balance=args.balance,
                       s1=backends[0].port, s2=backends[1].port)
    with lib.Proxy(args.program, conf) as proxy:
        end = time.monotonic() + args.seconds
        clients = [Client(story, fe, args.seed * 1000 + i, end) for i in range(args.clients)]
        for c in clients:
            c.start()
        for c in clients:
            c.join(args.seconds + 60)
        tap.ok(not any(c.is_alive() for c in clients), "every client came to its end")
        lib.until(lambda: proxy.stats()["fe", "FRONTEND"]["scur"] == "0")
        lib.until(lambda: proxy.stats()["be", "BACKEND"]["scur"] == "0")
        judge(tap, story, proxy)
        tap.ok(proxy.alive(), "the proxy is still there")
    tap.done()


if __name__ == "__main__":
    main()
