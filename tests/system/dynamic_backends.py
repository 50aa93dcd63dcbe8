#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Backends added and removed at run time: thousands of times under traffic from several threads, with servers and
without, and over a reload, which gives back what removed ones have left.

    dynamic_backends.py --rounds 10000    changes of backends without servers (default: 2000)
"""
import collections
import re
import threading

import lib

CONF = """
	nbthread 4
defaults plan
	mode http
	timeout connect 5s
	timeout client 10s
	timeout server 10s
	http-response set-header x-be %b
defaults basic
	mode http
	timeout connect 5s
	timeout client 10s
	timeout server 10s
	timeout tarpit 2s
defaults stall from basic
	http-request tarpit
frontend fe from basic
	bind 127.0.0.1:{fe}
	use_backend %[path,field(2,/)]
	default_backend last
frontend origin from basic
	bind 127.0.0.1:{origin}
	http-request return status 200
backend last from plan
	http-request return status 404
backend spare from plan
"""
NAMES = ["app%d" % i for i in range(8)]


class Scene:
    def __init__(self, args):
        self.fe, self.origin = lib.ports(2)
        self.proxy = lib.Proxy(args.program, CONF.format(fe=self.fe, origin=self.origin))
        self.stop, self.lost, self.got = threading.Event(), [], collections.Counter()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.proxy.__exit__()

    def ctl(self, command):
        return self.proxy.ctl(command).strip()

    def resident_kb(self):
        with open("/proc/%d/status" % self.proxy.process.pid) as f:
            return int(re.search(r"VmRSS:\s*(\d+)", f.read())[1])

    def get(self, path):
        with lib.connect(self.fe) as s:
            s.sendall(b"GET %s HTTP/1.1\r\nHost: x\r\n\r\n" % path.encode())
            answer = lib.Reader(s).response()
            return answer[0] if answer else None

    def crowd(self):
        while not self.stop.is_set():
            try:
                with lib.connect(self.fe) as s:
                    r = lib.Reader(s)
                    for name in NAMES * 2:
                        s.sendall(b"GET /%s HTTP/1.1\r\nHost: x\r\n\r\n" % name.encode())
                        self.got[r.response()[0]] += 1
            except (OSError, TypeError) as e:
                self.lost.append(repr(e))

    def reload(self, more):
        with open(self.proxy.conf_path) as f:
            first = "".join(f.readlines()[:2])
        with open(self.proxy.conf_path, "w") as f:
            f.write(first + CONF.format(fe=self.fe, origin=self.origin) + more)
        return self.ctl("reload")

    def under_traffic(self, work):
        clients = [threading.Thread(target=self.crowd) for _ in range(4)]
        for c in clients:
            c.start()
        try:
            work()
        finally:
            self.stop.set()
            for c in clients:
                c.join()
        self.stop.clear()


def churn(tap, args):
    """Without servers: each command must succeed, for nothing holds such a backend for longer than a request."""
    with Scene(args) as sc:
        answers, resident = collections.Counter(), []

        def work():
            for i in range(0, args.rounds, 8):
                if i >= args.rounds // 2 and not resident:
                    resident.append(sc.resident_kb())
                made = "; ".join("add backend %s from plan; publish backend %s" % (n, n) for n in NAMES)
                answers.update(l for l in sc.ctl(made).split("\n") if l)
                for n in NAMES:
                    gone = sc.ctl("unpublish backend %s; wait 5s be-removable %s; del backend %s" % (n, n, n))
                    answers.update(l for l in gone.split("\n") if l)
            resident.append(sc.resident_kb())

        sc.under_traffic(work)
        rounds = (args.rounds + 7) // 8 * 8
        for text in ("New backend registered.", "Backend published.", "Backend unpublished.", "Backend deleted."):
            tap.ok(answers[text] == rounds, "each time: " + text, answers)
        tap.ok(not sc.lost, "no client was left alone", sc.lost[:3])
        tap.ok(not set(sc.got) - {404, 503}, "they were answered by the default backend, or got 503", sc.got)
        tap.eq(sc.ctl("show backend"), "# name\nlast\nspare", "none is left")
        if not lib.is_sanitized(args.program): # they keep what was freed
            grown = resident[1] - resident[0]
            tap.ok(grown < 1024 + rounds // 2 * 6, "one that is removed leaves 6 KB at most, until a reload", "%d KB" % grown)
            if not lib.is_reference(args.program):
                before = sc.resident_kb()
                tap.ok("Success=1" in sc.reload(""), "a reload")
                tap.ok(lib.until(lambda: before - sc.resident_kb() > rounds // 2), "which gives it back", (before, sc.resident_kb()))
        tap.ok(sc.proxy.alive(), "alive", sc.proxy.output()[-500:])


def with_servers(tap, args):
    with Scene(args) as sc:
        deleted = []

        def work():
            for i in range(60):
                n = NAMES[i % len(NAMES)]
                sc.ctl("add backend %s from plan; add server %s/s 127.0.0.1:%d; enable server %s/s; publish backend %s"
                       % (n, n, sc.origin, n, n))
                if i % 3 == 0:
                    tap.eq(sc.get("/" + n), 200, "round %d: it serves" % i)
                sc.ctl("unpublish backend %s; disable server %s/s" % (n, n))
                sc.ctl("wait 5s srv-removable %s/s" % n)
                sc.ctl("del server %s/s" % n)
                sc.ctl("wait 5s be-removable %s" % n)
                deleted.append("Backend deleted." in sc.ctl("del backend " + n))

        sc.under_traffic(work)
        tap.eq(sum(deleted), 60, "each was removed in its round")
        tap.ok(not sc.lost, "no client was left alone", sc.lost[:3])
        tap.ok(sc.got[200] > 0, "traffic went through them", sc.got)
        tap.ok(sc.proxy.alive(), "alive", sc.proxy.output()[-500:])


def held_by_streams(tap, args):
    with Scene(args) as sc:
        sc.ctl("add backend slow from stall; publish backend slow")
        with lib.connect(sc.fe) as s:
            s.sendall(b"GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
            lib.until(lambda: "\nslow,BACKEND,0,0,1," in sc.ctl("show stat slow 2 -1"))
            tap.ok("Backend unpublished." in sc.ctl("unpublish backend slow"), "not chosen any more")
            tap.eq(sc.ctl("del backend slow"), "Backend still has attached streams on it.", "a stream holds it")
            tap.ok(sc.ctl("wait 10ms be-removable slow").endswith("Backend still has attached streams on it."),
                   "that can be waited for")
            tap.eq(lib.Reader(s).response()[0], 500, "the stream ends as it would have")
        tap.ok("Done." in sc.ctl("wait 5s be-removable slow"), "then it can be removed")
        tap.ok("Backend deleted." in sc.ctl("del backend slow"), "and is")
        tap.eq(sc.get("/slow"), 404, "nothing leads there")


def over_reload(tap, args):
    """Ours alone: a reload in the process. A backend that the file does not have is gone, as with a new process; one
    that the file has got by then is that of the file, with its figures."""
    if lib.is_reference(args.program):
        return
    with Scene(args) as sc:
        for n in ("app0", "kept", "slow"):
            sc.ctl("add backend %s from %s; add server %s/s 127.0.0.1:%d; enable server %s/s; publish backend %s"
                   % (n, "stall" if n == "slow" else "plan", n, sc.origin, n, n))
        tap.eq([sc.get("/app0"), sc.get("/kept")], [200, 200], "both serve")
        sc.ctl("unpublish backend spare; unpublish backend kept; del backend spare")
        with lib.connect(sc.fe) as s:
            s.sendall(b"GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
            lib.until(lambda: "\nslow,BACKEND,0,0,1," in sc.ctl("show stat slow 2 -1"))
            more = "backend kept from plan\n\tserver s 127.0.0.1:%d\n" % sc.origin
            tap.ok("Success=1" in sc.reload(more), "reload")
            tap.eq(sc.ctl("show backend"), "# name\nlast\nspare\nkept", "what is there is what the file says")
            tap.eq(lib.Reader(s).response()[0], 500, "a stream in one that has gone ends as it would have")
        tap.eq(sc.get("/app0"), 404, "one that was added is gone")
        tap.eq(sc.get("/kept"), 200, "one that the file has now serves")
        stot = [l.split(",")[7] for l in sc.ctl("show stat kept 2 -1").split("\n") if l.startswith("kept,BACKEND")]
        tap.eq(stot, ["2"], "its figures go on")
        tap.eq(sc.ctl("add backend app0 from plan"), "New backend registered.", "it can be added again")
        tap.ok(sc.proxy.alive(), "alive", sc.proxy.output()[-500:])


def main():
    args = lib.arguments(__doc__, ("rounds", 2000, "changes of backends without servers"))
    tap = lib.Tap()
    tap.run((churn, with_servers, held_by_streams, over_reload), args)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
