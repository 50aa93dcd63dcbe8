#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""outlier-ejection under traffic from several threads: how many are out at once, how long, what a reload
keeps, what is exported. An extension: the reference has no such line."""
import os
import re
import threading

import lib

CONF = """
	nbthread 3
	log 127.0.0.1:{log} local0 notice
defaults
	mode http
	timeout connect 5s
	timeout client 20s
	timeout server 20s
	retries 0
frontend fe
	bind 127.0.0.1:{p[0]}
	http-request use-service prometheus-exporter if {{ path /metrics }}
	default_backend be
backend be
	log global
{body}
"""

LINES = "".join("\tserver s%d 127.0.0.1:{s[%d]}\n" % (i, i) for i in range(8))


class Scene:
    """Eight servers, of which those in <bad> answer 500."""

    def __init__(self, args, line):
        self.bad = set()
        self.log = lib.Syslog()
        self.p = lib.ports(1)
        self.servers = [lib.Server(lambda s, i=i: self.serve(s, i)) for i in range(8)]
        self.proxy = lib.Proxy(args.program, self.text(line))
        self.stop = False
        self.load = [threading.Thread(target=self.ask) for _ in range(4)]

    def text(self, line):
        body = ("\t%s\n" % line) + LINES.format(s=[s.port for s in self.servers])
        return CONF.format(p=self.p, log=self.log.port, body=body)

    def serve(self, sock, i):
        reader = lib.Reader(sock)
        while reader.head():
            status = b"500 Bad" if i in self.bad else b"200 OK"
            sock.sendall(b"HTTP/1.1 " + status + b"\r\nContent-Length: 0\r\n\r\n")

    def ask(self):
        while not self.stop:
            with lib.connect(self.p[0]) as sock:
                reader = lib.Reader(sock)
                for _ in range(8):
                    sock.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
                    reader.response()

    def get(self, path):
        with lib.connect(self.p[0]) as sock:
            sock.sendall(b"GET %s HTTP/1.1\r\nHost: x\r\n\r\n" % path.encode())
            return lib.Reader(sock).response()[2].decode()

    def out(self):
        stats = self.proxy.stats()
        return {i for i in range(8) if stats["be", "s%d" % i]["status"] == "NOLB (ejected)"}

    def reload(self, line):
        with open(self.proxy.conf_path) as f:
            first = "".join(f.readlines()[:2])
        with open(self.proxy.conf_path, "w") as f:
            f.write(first + self.text(line))
        return self.proxy.ctl("reload")

    def __enter__(self):
        for t in self.load:
            t.start()
        return self

    def __exit__(self, *exc):
        self.stop = True
        for t in self.load:
            t.join()
        self.proxy.stop()
        text = self.proxy.output()
        lib.Tap.last.ok("Sanitizer" not in text and "BUG" not in text, "nothing to complain of",
                        text[-3000:])
        self.proxy.__exit__()
        for s in self.servers:
            s.close()


def test_share(tap, args):
    line = "outlier-ejection error-rate 50 min-requests 5 interval 50ms time %s max-share 25"
    with Scene(args, line % "1h") as sc:
        sc.bad = {1, 3, 5}
        tap.ok(lib.until(lambda: len(sc.out()) == 2), "two of eight may be out")
        seen = [sc.out() for _ in range(50)]
        tap.ok(all(len(o) == 2 and o < {1, 3, 5} for o in seen), "never more, never a good one",
               seen[:3])
        first = sc.out()
        stats = sc.proxy.stats()
        names = dict(re.findall(r"^S\.([\d.]+)\.1\.svname\.\S+:s(\d)$", sc.proxy.ctl("show stat typed"), re.M))
        counts = re.findall(r"^S\.([\d.]+)\.\d+\.ejections\.1:MCPV:u64:(\d+)$", sc.proxy.ctl("show stat typed"), re.M)
        tap.eq({int(names[place]) for place, n in counts if n == "1"}, first, "each was counted once")
        tap.eq(stats["be", "BACKEND"]["act"], "6", "six are left")
        text = sc.get("/metrics")
        tap.eq({int(i) for i in re.findall(
            r'^haproxy_server_ejections_total\{proxy="be",server="s(\d)"\} 1$', text, re.M)},
            first, "the metric")
        tap.eq({int(i) for i in re.findall(
            r'^haproxy_server_status\{proxy="be",server="s(\d)",state="NOLB"\} 1$', text, re.M)},
            first, "the metric of the status")
        tap.ok("Success=1" in sc.reload(line % "2h"), "a reload")
        tap.eq(sc.out(), first, "keeps them out")
        bad, sc.bad = sc.bad, set()
        one = min(first)
        sc.proxy.ctl("set server be/s%d state ready" % one)
        tap.eq(sc.out(), first - {one}, "one is brought back")
        tap.ok("Success=1" in sc.reload("outlier-ejection off"), "a reload to none")
        tap.eq(sc.out(), set(), "brings all back")
        sc.bad = bad
        tap.ok("Success=1" in sc.reload(line % "1h"), "and on again")
        tap.ok(lib.until(lambda: len(sc.out()) == 2), "as in the beginning")
        sc.proxy.ctl("clear counters all")
        left = sc.out()
        for i in range(8):
            if i not in left:
                sc.proxy.ctl("disable server be/s%d" % i)
        seen = [sc.out() for _ in range(20)]
        tap.ok(all(o < left for o in seen), "one of them at least serves when all others are gone", seen)
        tap.ok(sc.proxy.stats()["be", "BACKEND"]["act"] in ("1", "2"), "and is counted")


def test_row(tap, args):
    with Scene(args, "outlier-ejection min-requests 1 interval 30ms time 60ms max-time 150ms") as sc:
        sc.bad = {4}
        for text in ("0.06s", "0.12s", "0.15s"):
            tap.ok(sc.log.find(r"Server be/s4 is ejected for %s: \d+ of \d+ requests failed" %
                               re.escape(text)), "ejected for " + text)
        tap.ok(sc.log.find("Server be/s4 is back from its ejection"), "and back between")
        sc.bad = set()
        tap.ok(lib.until(lambda: not sc.out()), "back for good")
        del sc.log.lines[:]


def main():
    args = lib.arguments(__doc__)
    tap = lib.Tap()
    if lib.is_reference(args.program):
        tap.skip("outlier-ejection", "the reference has none")
        tap.done()
    for test in (test_share, test_row):
        test(tap, args)
    tap.done()


lib.guarded(main)
