#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What scripts in Lua cost others. First --streams clients whose scripts sleep: threads and memory of the process, before and meanwhile.
Then the latency of ordinary requests at a fixed rate, in turns: quiet, and while other clients ask for scripts that loop for ever, loop and
catch the error of their end, take memory, or raise an error, in actions, fetches, converters, services and filters.

    bench/scripts.py --proxy ref=haproxy --proxy new=./haproxy
"""
import argparse
import os
import resource
import shutil
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SCRIPT = r"""
local function wild(kind)
	if kind == "loop" then while true do end end
	if kind == "caught" then while true do pcall(function() while true do end end) end end
	if kind == "memory" then local t = {} while true do t[#t + 1] = string.rep("x", 100000) .. #t end end
	if kind == "raise" then error("raised on purpose") end
	return kind
end
core.register_action("sleep", { "http-req" }, function(txn) core.sleep(600) end)
core.register_action("wild", { "http-req" }, function(txn) wild(txn.sf:req_hdr("x-kind")) end)
core.register_fetches("wild", function(txn) return wild(txn.sf:req_hdr("x-kind")) end)
core.register_converters("wild", function(kind) return wild(kind) end)
core.register_service("wild", "http", function(applet) wild(applet.headers["x-kind"][0]) end)
local F = { id = "wild", flags = filter.FLT_CFG_FL_HTX }
F.__index = F
function F:new() return setmetatable({}, F) end
function F:http_headers(txn, msg)
	local h = msg:get_headers()["x-filter"]
	if h and not msg:is_resp() then wild(h[0]) end
end
core.register_filter("wild", F, function(f) return f end)
"""
CONF = """global
    nbthread 2
    maxconn 2000
    stats socket %(folder)s/s level admin
    tune.lua.bool-sample-conversion normal
    tune.lua.maxmem 256
    tune.lua.burst-timeout %(burst)s
    tune.lua.session-timeout %(burst)s
    tune.lua.service-timeout %(burst)s
    %(load)s %(folder)s/a.lua
defaults
    mode http
    timeout connect 5s
    timeout client 20m
    timeout server 20m
frontend fe
    bind 127.0.0.1:%(port)d
    bind 127.0.0.1:%(h2)d proto h2
    http-request lua.sleep if { path /sleep }
    http-request return status 200
frontend wild
    bind 127.0.0.1:%(wild)d
    filter lua.wild
    http-request lua.wild if { path /action }
    http-request set-header x-got %%[lua.wild] if { path /fetch }
    http-request set-header x-got %%[req.hdr(x-kind),lua.wild] if { path /converter }
    http-request use-service lua.wild if { path /service }
    http-request return status 200
"""
KINDS = ("loop", "caught", "memory", "raise")
PLACES = ("action", "fetch", "converter", "service", "filter")


def parse():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--proxy", action="append", metavar="NAME=PROGRAM", default=[])
    p.add_argument("--streams", type=int, default=10000, help="that sleep")
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--seconds", type=int, default=5, help="of each turn")
    p.add_argument("--rate", type=int, default=400, help="ordinary requests a second")
    p.add_argument("--wild", type=float, default=2, help="wild scripts a second")
    p.add_argument("--burst", default="10ms", help="tune.lua.burst-timeout and the like")
    p.add_argument("--load", default="lua-load-per-thread", choices=("lua-load", "lua-load-per-thread"))
    p.add_argument("--base-port", type=int, default=21900)
    return p.parse_args()


# GET /sleep of http://h
HEAD = b"\x82\x86\x04\x06/sleep\x41\x01h"


def frame(kind, flags, stream, payload):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def status(pid):
    with open("/proc/%d/status" % pid) as f:
        fields = dict(line.split(":", 1) for line in f)
    return int(fields["Threads"]), int(fields["VmRSS"].split()[0])


def ask(port, path, fields="", sock=None):
    s = sock or socket.create_connection(("127.0.0.1", port), 30)
    try:
        s.sendall(("GET %s HTTP/1.1\r\nhost: h\r\n%s\r\n" % (path, fields)).encode())
        return s.recv(4096)
    except OSError:
        return b""
    finally:
        if not sock:
            s.close()


class Running:
    def __init__(self, a, program):
        self.a, self.folder = a, tempfile.mkdtemp(prefix="scripts.")
        with open(self.folder + "/a.lua", "w") as f:
            f.write(SCRIPT)
        with open(self.folder + "/h.cfg", "w") as f:
            f.write(CONF % {"folder": self.folder, "burst": a.burst, "load": a.load, "port": a.base_port, "wild": a.base_port + 1, "h2": a.base_port + 2})
        with open(self.folder + "/log", "wb") as log:
            self.process = subprocess.Popen([program, "-db", "-f", self.folder + "/h.cfg"], stdout=log, stderr=log)
        for _ in range(500):
            try:
                if ask(a.base_port, "/x"):
                    return
            except OSError:
                time.sleep(0.02)
        sys.exit("%s did not start: %s" % (program, open(self.folder + "/log").read()))

    def ctl(self, command):
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(self.folder + "/s")
            s.sendall(command.encode() + b"\n")
            return b"".join(iter(lambda: s.recv(1 << 20), b"")).decode("latin-1")

    def sleepers(self):
        before = status(self.process.pid)
        socks = []
        for n in range(0, self.a.streams, 100): # as many as a connection may have
            s = socket.create_connection(("127.0.0.1", self.a.base_port + 2), 30)
            s.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0, b"") +
                      b"".join(frame(1, 5, 2 * i + 1, HEAD) for i in range(min(100, self.a.streams - n))))
            socks.append(s)
        asleep = 0
        for _ in range(100):
            time.sleep(0.1)
            asleep = self.ctl("show sess").count("be=<NONE>")
            if asleep >= self.a.streams:
                break
        meanwhile = status(self.process.pid)
        began = time.monotonic()
        good = ask(self.a.base_port, "/x").startswith(b"HTTP/1.1 200")
        took = (time.monotonic() - began) * 1000
        for s in socks:
            s.close()
        return before, meanwhile, asleep, took if good else -1

    def latencies(self, is_wild):
        """Seconds from when each request was due until its answer, sorted; and how many wild ones there were."""
        over, counted = threading.Event(), [0]

        def be_wild():
            while not over.wait(1 / self.a.wild):
                place, kind = PLACES[counted[0] % len(PLACES)], KINDS[counted[0] // len(PLACES) % len(KINDS)]
                counted[0] += 1
                ask(self.a.base_port + 1, "/" + place, "x-%s: %s\r\n" % ("filter" if place == "filter" else "kind", kind))

        thread = threading.Thread(target=be_wild)
        if is_wild:
            thread.start()
        out, socks = [], [socket.create_connection(("127.0.0.1", self.a.base_port), 30) for _ in range(8)]
        began = time.monotonic()
        for n in range(self.a.rate * self.a.seconds):
            due = began + n / self.a.rate
            time.sleep(max(0, due - time.monotonic()))
            if not ask(0, "/x", sock=socks[n % 8]).startswith(b"HTTP/1.1 200"):
                sys.exit("an ordinary request failed")
            out.append(time.monotonic() - due)
        over.set()
        for s in socks:
            s.close()
        if is_wild:
            thread.join()
        return sorted(out), counted[0]

    def close(self):
        self.process.terminate()
        self.process.wait(20)
        text = open(self.folder + "/log").read()
        shutil.rmtree(self.folder)
        return sum(text.count(word) for word in ("timeout.", "not enough memory", "raised on purpose"))


def main():
    a = parse()
    proxies = [p.partition("=")[::2] for p in a.proxy] or [("new", os.path.join(TOP, "haproxy"))]
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    print("%-8s %8s %8s %8s %8s %10s %10s" % ("asleep", "streams", "threads", "now", "MB now", "KB/stream", "other, ms"))
    for name, program in proxies:
        r = Running(a, program)
        before, meanwhile, asleep, took = r.sleepers()
        print("%-8s %8d %8d %8d %8.1f %10.1f %10.1f" % (name, asleep, before[0], meanwhile[0], meanwhile[1] / 1024,
                                                        (meanwhile[1] - before[1]) / a.streams, took))
        r.close()
    print("%-8s %6s %9s %9s %9s %9s %6s %7s" % ("latency", "wild", "p50 ms", "p50 wild", "p99 ms", "p99 wild", "ratio", "logged"))
    for name, program in proxies:
        r = Running(a, program)
        rows, wild = {False: [], True: []}, 0
        for n in range(2 * a.rounds):
            got, count = r.latencies(n % 2 == 1)
            wild += count
            rows[n % 2 == 1].append((got[len(got) // 2] * 1000, got[len(got) * 99 // 100] * 1000))
        quiet, loud = ([statistics.median(row[i] for row in rows[is_wild]) for i in (0, 1)] for is_wild in (False, True))
        ratio = statistics.median(w[1] / q[1] for q, w in zip(rows[False], rows[True]))
        print("%-8s %6d %9.2f %9.2f %9.2f %9.2f %6.2f %7d" % (name, wild, quiet[0], loud[0], quiet[1], loud[1], ratio, r.close()))


if __name__ == "__main__":
    main()
