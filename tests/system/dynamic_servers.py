#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Servers added and removed at run time: who gets traffic when, what is refused, and both under
traffic from several threads, where no request may be lost. What is removed gives its memory back.

    dynamic_servers.py --rounds 10000    servers of which the allocations are counted (default: 120)
"""
import collections
import re
import subprocess
import threading

import lib

CONF = "\n\tnbthread {threads}" + lib.FRONTEND + """frontend origin
	bind 127.0.0.1:{origin}
	http-request return status 200
backend be
	balance {balance}
	http-reuse {reuse}
	http-response set-header x-srv %s
	server s1 127.0.0.1:{origin}
	server s2 127.0.0.1:{origin}
	use-server s2 if {{ path /two }}
backend tracked
	server s1 127.0.0.1:{origin} check inter 30s
backend fixed
	balance static-rr
	server s1 127.0.0.1:{origin}
"""


class Scene:
    def __init__(self, args, balance="roundrobin", threads=1, reuse="safe"):
        self.fe, self.origin = lib.ports(2)
        self.proxy = lib.Proxy(args.program, CONF.format(
            fe=self.fe, origin=self.origin, balance=balance, threads=threads, reuse=reuse))

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.proxy.__exit__()

    def ctl(self, command):
        return self.proxy.ctl(command).strip()

    def add(self, name, options=""):
        return self.ctl("add server be/%s 127.0.0.1:%d %s" % (name, self.origin, options))

    def ask(self, n, extra=""):
        """How many requests each server got."""
        got = collections.Counter()
        with lib.connect(self.fe) as s:
            r = lib.Reader(s)
            for _ in range(n):
                s.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n%s\r\n" % extra.encode())
                status, fields, _ = r.response()
                got[fields.get("x-srv", status)] += 1
        return got


def life(tap, args):
    for balance in ("roundrobin", "leastconn", "random", "first", "hdr(k)\n\thash-type consistent"):
        name = balance.split("\n")[0]
        with Scene(args, balance) as sc:
            tap.eq(sc.add("d1", "weight 1 id 90"), "New server registered.", name + ": added")
            tap.eq("d1" in sc.ask(20), False, name + ": a new server is in maintenance")
            sc.ctl("enable server be/d1")
            sc.ctl("disable server be/s1")
            sc.ctl("disable server be/s2")
            tap.eq(dict(sc.ask(10)), {"d1": 10}, name + ": it serves alone")
            for i in range(30):
                sc.add("e%d" % i)
                sc.ctl("enable server be/e%d" % i)
            sc.ctl("disable server be/d1")
            served = sc.ask(60, "k: a\r\n" if name == "first" else "")
            tap.ok("d1" not in served and all(k[0] == "e" for k in served),
                   name + ": thirty more take its place", served)
            tap.eq(sc.ctl("wait 5s srv-removable be/d1"), "Done.", name + ": it can be removed")
            tap.eq(sc.ctl("del server be/d1"), "Server deleted.", name + ": removed")
            tap.eq(sc.ctl("get weight be/d1"), "No such server.", name + ": nobody knows it")
            tap.eq(sc.add("d1"), "New server registered.", name + ": its name is free again")


def refused(tap, args):
    with Scene(args) as sc:
        for command, answer in (
                ("add server be/s1 127.0.0.1:1",
                 "Already exists a server with the same name in backend."),
                ("add server fixed/d1 127.0.0.1:1",
                 "Backend does not support dynamic servers : backend 'fixed' uses a non dynamic load balancing method."),
                ("add server nope/d1 127.0.0.1:1", "No such backend."),
                ("add server be/d1", "'server' expects <name> and <addr>[:<port>] as arguments."),
                ("add server be/d1 127.0.0.1:1 redir x",
                 "'redir' option is not accepted for dynamic server"),
                ("del server be/s1", "Only servers in maintenance mode can be deleted."),
                ("del server be/s2", "This server cannot be removed at runtime due to other "
                 "configuration elements pointing to it."),
                ("del server be/nope", "No such server."),
                ("del server be", "Require 'backend/server'."),
                ("wait 1ms srv-removable", "Missing server name (<backend>/<server>).")):
            tap.eq(sc.ctl(command), answer, command)
        got = sc.ctl("wait 1ms srv-removable be/s1")  # 3.4 says why, 3.2 does not
        tap.ok(got in ("Failed.", "Failed. Only servers in maintenance mode can be deleted."), "wait for what cannot be", got)
        sc.add("g1", "guid some-id")
        tap.eq(sc.add("g2", "guid some-id"), "'guid': duplicate entry with server be/g1.", "guid")


def under_traffic(tap, args):
    """Four threads, crowds of clients; servers come, serve, and go all the time."""
    for balance in ("roundrobin", "leastconn", "hdr(k)\n\thash-type consistent"):
        with Scene(args, balance, 4, "always") as sc:
            stop, lost, served = threading.Event(), [], collections.Counter()

            def crowd(sc=sc, stop=stop, lost=lost, served=served):
                while not stop.is_set():
                    try:
                        got = sc.ask(20)
                    except (OSError, TypeError) as e:
                        lost.append(str(e))
                        continue
                    served.update(got)

            clients = [threading.Thread(target=crowd) for _ in range(6)]
            for c in clients:
                c.start()
            removed = 0
            for i in range(25):
                sc.add("d%d" % i)
                sc.ctl("enable server be/d%d" % i)
                if i >= 3:
                    sc.ctl("disable server be/d%d" % (i - 3))
                    sc.ctl("wait 3s srv-removable be/d%d" % (i - 3))
                    removed += sc.ctl("del server be/d%d" % (i - 3)) == "Server deleted."
            stop.set()
            for c in clients:
                c.join()
            bad = [k for k in served if not isinstance(k, str)]
            name = balance.split("\n")[0]
            tap.ok(not lost and not bad, name + ": no request is lost", (lost[:3], bad))
            tap.ok(sum(k[0] == "d" for k in served) > 5, name + ": new servers serve", served)
            tap.ok(sc.proxy.alive(), name + ": alive", sc.proxy.output()[-500:])
            tap.ok(removed > 0, name + ": servers were removed meanwhile", removed)


LINES = ("", "check inter 10s agent-check agent-port 1", "maxconn 3 strict-maxconn slowstart 5s check",
         "ssl verify none sni req.hdr(host),regsub(a,b) pool-conn-name var(txn.n),map(virt@m)",
         "send-proxy-v2 set-proxy-v2-tlv-fmt(0xE0) %[src]%[nbsrv(be)] source 127.0.0.1 cookie c",
         "track tracked/s1 weight 3 tier 2 pool-max-conn 5")


def memory(tap, args):
    """Allocations are counted, not pages. Ours alone, for the reference counts otherwise."""
    features = subprocess.run([args.program, "-vv"], stdout=subprocess.PIPE, text=True, check=True).stdout
    if lib.is_reference(args.program) or "+MEMORY_PROFILING" not in features:
        return
    with Scene(args, threads=4) as sc:
        gone, stop = [0], threading.Event()

        def in_use():
            return int(re.search(r"(-?\d+)\s+total of", sc.ctl("show profiling memory"))[1])

        def rounds(count, line):
            for i in range(0, count, 20):
                gone[0] += sc.ctl("; ".join(
                    "add server be/m%d 127.0.0.1:%d %s; del server be/m%d" % (n, sc.origin, line, n)
                    for n in range(20))).count("Server deleted.")

        def crowd():
            while not stop.is_set():
                sc.ask(20)

        sc.ctl("set profiling memory on")
        for line in LINES:
            rounds(2 * args.rounds // 3, line)  # what libraries keep of the first ones
            before = in_use()
            rounds(args.rounds, line)
            # the last ones have some tours of the threads before them, and traffic fills pools; a server had 2,100 bytes
            tap.ok(lib.until(lambda b=before: in_use() - b < args.rounds * 16 + 150000),
                   "those that are removed leave nothing: " + line, "%d bytes" % (in_use() - before))
        clients = [threading.Thread(target=crowd) for _ in range(4)]
        for c in clients:
            c.start()
        for i in range(40):
            for n in range(args.rounds // 60):
                sc.add("t%d" % n)
                sc.ctl("enable server be/t%d" % n)
            for n in range(args.rounds // 60):
                sc.ctl("disable server be/t%d; wait 5s srv-removable be/t%d" % (n, n))
                gone[0] += sc.ctl("del server be/t%d" % n) == "Server deleted."
            if i == 20:
                before = in_use()
        stop.set()
        for c in clients:
            c.join()
        tap.ok(lib.until(lambda: in_use() - before < 1 << 20), "nor those that served", "%d bytes" % (in_use() - before))
        tap.eq(gone[0], len(LINES) * ((2 * args.rounds // 3 + 19) // 20 + (args.rounds + 19) // 20) * 20 +
               40 * (args.rounds // 60), "all were removed")


def held(tap, args):
    """What has a server that is removed: a stream that is kept by its client, one whose cookie names it, an error."""
    with Scene(args, threads=4) as sc:
        if lib.is_reference(args.program):
            return
        sc.add("h", "cookie h")
        sc.ctl("enable server be/h; disable server be/s1; disable server be/s2")
        with lib.connect(sc.fe) as s:
            r = lib.Reader(s)
            s.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            tap.eq(r.response()[1].get("x-srv"), "h", "it serves")
            sc.ctl("enable server be/s1; disable server be/h; wait 5s srv-removable be/h")
            tap.eq(sc.ctl("del server be/h"), "Server deleted.", "it is removed")
            for _ in range(3):
                sc.add("h")
                sc.ctl("del server be/h")
            s.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            tap.eq(r.response()[1].get("x-srv"), "s1", "its client goes on with another one")
        for command in ("show stat", "show servers state", "show servers conn", "show backend", "show errors", "show sess all"):
            sc.ctl(command)
        tap.ok(sc.proxy.alive(), "alive", sc.proxy.output()[-500:])


def main():
    args = lib.arguments(__doc__, ("rounds", 120, "servers of which the allocations are counted"))
    tap = lib.Tap()
    tap.run((life, refused, under_traffic, memory, held), args)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
