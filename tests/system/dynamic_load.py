#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Everything that may change about servers at run time, at once, under traffic and reloads, on
several threads. No request may be lost, no answer may be other than those known, and what was
added is what is listed at the end. An extension (reloads in the process): not for the reference.

    make SAN=thread && tests/system/dynamic_load.py --program build/thread/haproxy --seconds 60
"""
import collections
import os
import random
import subprocess
import threading
import time

import lib

CONF = """
	nbthread {threads}
	spread-checks 10
defaults
	mode http
	timeout connect 5s
	timeout client 20s
	timeout server 20s
	timeout queue 20s
	retries 5
	option redispatch
	option allbackups
frontend fe
	bind 127.0.0.1:{fe}
	use_backend %[path,field(2,/)]
frontend origin
	bind 127.0.0.1:{origin}
	bind 127.0.0.2:{origin}
	http-request return status 200
frontend figures
	bind 127.0.0.1:{figures}
	stats uri /stats
	http-request use-service prometheus-exporter if {{ path /metrics }}
{backends}
"""

BACKEND = """
backend {name}
	balance {balance}
	http-reuse always
	server s1 127.0.0.1:{origin} maxconn 1000
	server s2 127.0.0.1:{origin} check inter 100ms
	server s3 127.0.0.1:{origin} backup
"""

BALANCES = ("roundrobin", "leastconn", "random(2)", "first", "peak-ewma",
            "hdr(k)\n\thash-type consistent")

WORDS = ("", "weight 30", "maxconn 50", "maxconn 1", "check inter 50ms", "check inter 20ms slowstart 1s",
         "backup", "agent-check agent-port {origin} agent-inter 50ms", "pool-max-conn 3",
         "cookie {name} guid g-{name}", "track be0/s2", "track s2", "tier 2", "check observe layer7 on-error mark-down error-limit 1000")

SET = ("set server {s} weight 1", "set server {s} weight 50%", "set server {s} state drain",
       "set server {s} state maint", "set server {s} state ready", "enable health {s}",
       "disable health {s}", "set maxconn server {s} 7", "set maxconn server {s} 0",
       "set server {s} addr 127.0.0.2", "set server {s} addr 127.0.0.1 port {origin}",
       "set server {s} check-port {origin}", "set server {s} health up", "enable agent {s}",
       "set server {s} agent-send x", "enable server {s}", "set server {s} agent up")

SHOW = ("show stat", "show servers state", "show servers conn", "show sess", "show backend",
        "show stat json", "get weight be0/s2", "show info", "show errors", "show fd", "show activity",
        "show generations", "clear counters all")


class Scene:
    def __init__(self, args):
        self.fe, self.origin, self.figures = lib.ports(3)
        backends = "".join(BACKEND.format(name="be%d" % i, balance=b, origin=self.origin)
                           for i, b in enumerate(BALANCES))
        self.proxy = lib.Proxy(args.program, CONF.format(
            threads=args.threads, fe=self.fe, origin=self.origin, figures=self.figures,
            backends=backends))
        self.stop = threading.Event()
        self.lock = threading.Lock()
        self.wrong = []
        self.answers = collections.Counter()
        self.told = collections.Counter()
        self.left = {}

    def note(self, what):
        with self.lock:
            self.wrong.append(what)

    def crowd(self, n):
        """A client that keeps its connection and asks each backend in turn."""
        rng = random.Random(n)
        while not self.stop.is_set():
            try:
                with lib.connect(self.fe) as s:
                    r = lib.Reader(s)
                    for _ in range(rng.randrange(1, 60)):
                        s.sendall(b"GET /be%d HTTP/1.1\r\nhost: x\r\nk: %d\r\n\r\n"
                                  % (rng.randrange(len(BALANCES)), rng.randrange(99)))
                        got = r.response()
                        self.answers[got and got[0]] += 1
            except OSError as e:
                self.note("client: %s" % e)

    def ask(self, command):
        try:
            return self.proxy.ctl(command).strip()
        except OSError as e:
            self.note("%s: %s" % (command, e))
            return ""

    def changer(self, n):
        """Adds servers of names of its own, changes them, removes them."""
        rng, mine, at = random.Random(1000 + n), [], 0
        while not self.stop.is_set():
            kind = rng.randrange(10)
            if kind < 3 and len(mine) < 12:
                at += 1
                name = "be%d/d%d-%d" % (rng.randrange(len(BALANCES)), n, at)
                words = rng.choice(WORDS).format(origin=self.origin, name=name.replace("/", "-"))
                got = self.ask("add server %s 127.0.0.1:%d %s" % (name, self.origin, words))
                self.told["add: " + got] += 1
                if got.startswith("New server"):
                    self.ask("enable server " + name)
                    mine.append(name)
            elif kind < 5 and mine:
                name = mine.pop(rng.randrange(len(mine)))
                self.ask("disable server " + name)
                waited = self.ask("wait 10s srv-removable " + name)
                got = self.ask("del server " + name)
                self.told["del: " + got] += 1
                if got.startswith(("Server still", "Only servers")):
                    self.note("%s: wait said %r, del %r" % (name, waited, got))
            else:
                name = rng.choice(mine + ["be%d/s2" % rng.randrange(len(BALANCES))])
                self.ask(rng.choice(SET).format(s=name, origin=self.origin))
        with self.lock:
            self.left[n] = mine

    def reader(self, n):
        rng = random.Random(2000 + n)
        while not self.stop.is_set():
            if rng.randrange(6):
                self.ask(rng.choice(SHOW))
                continue
            try:
                with lib.connect(self.figures) as s:
                    s.sendall(b"GET %s HTTP/1.0\r\n\r\n" % rng.choice((b"/metrics", b"/stats")))
                    lib.recv_all(s)
            except OSError as e:
                self.note("figures: %s" % e)

    def reloader(self, n):
        while not self.stop.wait(1.0):
            got = self.ask("reload")
            self.told["reload: " + got.split("\n")[0]] += 1

    def run(self, seconds, roles):
        jobs = [threading.Thread(target=role, args=(self, i))
                for role, count in roles for i in range(count)]
        for j in jobs:
            j.start()
        time.sleep(seconds)
        self.stop.set()
        for j in jobs:
            j.join()

    def listed(self):
        rows = [l.split() for l in self.ask("show servers state").split("\n")]
        return {r[1] + "/" + r[3] for r in rows if len(r) > 20 and r[3].startswith("d")}


def one(tap, args, name, roles, reloads):
    sc = Scene(args)
    with sc.proxy:
        sc.run(args.seconds, roles)
        alive = tap.ok(sc.proxy.alive(), name + ": alive", sc.proxy.output()[-2000:])
        tap.ok(not sc.wrong, name + ": nothing went wrong", "\n".join(sc.wrong[:10]))
        bad = {k: v for k, v in sc.answers.items() if k != 200}
        tap.ok(sc.answers[200] and not bad, name + ": every request is served", dict(sc.answers))
        tap.ok(sum(v for k, v in sc.told.items() if k.startswith("add: New")) > 5,
               name + ": servers were added", dict(sc.told))
        if reloads:
            tap.ok(any(k.startswith("reload: Success") for k in sc.told),
                   name + ": it was reloaded", dict(sc.told))
        elif alive:
            want = {s for mine in sc.left.values() for s in mine}
            tap.eq(sc.listed(), want, name + ": who was added, and not removed, is listed")
        if args.verbose:
            print("# %s %s" % (dict(sc.answers), dict(sc.told)))
        sc.proxy.stop()
        out = sc.proxy.output()
        if args.keep:
            with open(args.keep + "." + name.split()[0], "w") as f:
                f.write(out)
        tap.ok("Sanitizer" not in out and "BUG" not in out, name + ": no sanitizer complains",
               "%d reports\n%s" % (out.count("WARNING: ThreadSanitizer"),
                                   out[out.find("Sanitizer"):][:2500]))


def main():
    args = lib.arguments(__doc__, ("seconds", 4, "how long each of the two runs takes"),
                         ("threads", 8, "of the program"), ("keep", "", "file for its output"))
    tap = lib.Tap()
    quiet = ((Scene.crowd, 4), (Scene.changer, 4), (Scene.reader, 2))
    one(tap, args, "changes", quiet, False)
    one(tap, args, "reloads", quiet + ((Scene.reloader, 1),), True)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
