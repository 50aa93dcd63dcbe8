#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Backends added and removed at run time: thousands of times under traffic from several threads, with servers and
without, while others still look at them, and over a reload. What is removed gives its memory back.

    dynamic_backends.py --rounds 10000    changes of backends without servers (default: 2000)
"""
import collections
import re
import socket
import subprocess
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
defaults upload from basic
	option httplog
	option httpchk
	http-request set-header x-rule %[method]
	compression algo gzip
	balance leastconn
defaults stall from basic
	http-request tarpit
frontend fe from basic
	bind 127.0.0.1:{fe}
	use_backend %[path,field(2,/)]
	default_backend last
frontend figures from basic
	bind 127.0.0.1:{figures}
	http-request use-service prometheus-exporter if {{ path /metrics }}
	stats enable
	stats uri /
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
        self.fe, self.origin, self.figures = lib.ports(3)
        self.proxy = lib.Proxy(args.program, self.conf())
        self.stop, self.lost, self.got = threading.Event(), [], collections.Counter()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.proxy.__exit__()

    def conf(self):
        return CONF.format(fe=self.fe, origin=self.origin, figures=self.figures)

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
            f.write(first + self.conf() + more)
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
            tap.ok(grown < 1500, "the process does not grow by them", "%d KB" % grown)
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


def memory(tap, args):
    """Bytes are counted, not pages. Ours alone, for the reference counts otherwise."""
    features = subprocess.run([args.program, "-vv"], stdout=subprocess.PIPE, text=True, check=True).stdout
    if lib.is_reference(args.program) or "+MEMORY_PROFILING" not in features:
        return
    with Scene(args) as sc:
        def in_use():
            return int(re.search(r"(-?\d+)\s+total of", sc.ctl("show profiling memory"))[1])

        def rounds(first, count, defaults):
            for i in range(first, first + count, 20):
                said = sc.ctl("; ".join("add backend b%d from %s guid g%d; publish backend b%d; unpublish backend b%d; del backend b%d"
                                        % (n, defaults, n, n, n, n) for n in range(i, i + 20)))
                gone[0] += said.count("Backend deleted.")

        sc.ctl("set profiling memory on")
        gone = [0]
        for defaults in ("plan", "upload"):
            rounds(0, 20, defaults)
            before = in_use()
            rounds(20, 300, defaults)
            # the answers themselves take some, and the last ones have a tour of the threads before them
            tap.ok(lib.until(lambda b=before: in_use() - b < 300 * 16), "300 that are removed leave nothing (%s)" % defaults,
                   "%d bytes" % (in_use() - before))
        tap.eq(gone[0], 640, "all were removed")


def looked_at(tap, args):
    """Answers that stop half-way, for their reader does, are at a backend that is removed meanwhile."""
    with Scene(args) as sc:
        names = ["%s%d" % ("n" * 100, i) for i in range(400)]

        def change(*commands):
            for i in range(0, len(names), 40):
                sc.ctl("; ".join(c % n for n in names[i:i + 40] for c in commands))

        def begin(port, request):
            s = lib.connect(port) if port else socket.socket(socket.AF_UNIX)
            s.settimeout(20)
            if not port:
                s.connect(sc.proxy.ctl_path)
            s.sendall(request)
            return s, s.recv(1)

        change("add backend %s from plan")
        readers = [begin(0, b"show stat typed\n"), begin(0, b"show servers state\n"), begin(0, b"show errors\n"),
                   begin(sc.figures, b"GET / HTTP/1.0\r\n\r\n"), begin(sc.figures, b"GET /;csv HTTP/1.0\r\n\r\n")]
        if not lib.is_reference(args.program):
            readers.append(begin(sc.figures, b"GET /metrics HTTP/1.0\r\n\r\n"))
        change("unpublish backend %s", "del backend %s")
        tap.ok(lib.until(lambda: names[-1] not in sc.ctl("show backend")), "all are removed")
        for s, text in readers:
            while True:
                part = s.recv(65536)
                text += part
                if not part:
                    break
            s.close()
            tap.ok(len(text) > 20, "an answer comes to its end", text[-100:])
        change("add backend %s from plan", "unpublish backend %s", "del backend %s")
        tap.ok(sc.proxy.alive(), "alive", sc.proxy.output()[-500:])


def named_by_errors(tap, args):
    """A request that turned out to be wrong when it was on its way to a backend that is gone now."""
    with Scene(args) as sc:
        sc.ctl("add backend up from plan; add server up/s 127.0.0.1:%d; enable server up/s; publish backend up" % sc.origin)
        with lib.connect(sc.fe) as s:
            s.sendall(b"POST /up HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n")
            tap.eq(lib.Reader(s).response()[0], 200, "it is answered")
        with lib.connect(sc.fe) as s:
            s.sendall(b"POST /up HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\nzzzz\r\n")
            while s.recv(4096):
                pass
        shown = sc.ctl("show errors")
        tap.ok("frontend fe (#" in shown, "the request is kept", shown)
        sc.ctl("unpublish backend up; disable server up/s; shutdown sessions server up/s")
        sc.ctl("wait 5s srv-removable up/s")
        sc.ctl("del server up/s; wait 5s be-removable up")
        tap.ok("Backend deleted." in sc.ctl("del backend up"), "its backend is removed")
        for _ in range(20):
            sc.ctl("add backend other from plan; unpublish backend other; del backend other")
        again = sc.ctl("show errors")
        tap.eq(re.sub(r"(?m)^Total.*", "", again), re.sub(r"(?m)^Total.*", "", shown), "and named as before")
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
    tap.run((churn, with_servers, memory, looked_at, named_by_errors, held_by_streams, over_reload), args)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
