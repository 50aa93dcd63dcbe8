#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What haload and haterm cost beside the tools that they stand for: CPU time of a request of haload, wrk (h2load for
HTTP/2) and the bench's own client, asking the same origin; and of haterm and the bench's origin, asked by the same wrk.
Runs take turns (A B C, C B A); ratios are of paired runs. --instructions counts user-space instructions by callgrind
instead: slow, but what else the machine does is no part of it.

    bench/load_tools.py --seconds 5 --rounds 5
    bench/load_tools.py --instructions
"""
import argparse
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import types

import compare

TOP = os.path.dirname(compare.HERE)
SMALL, LARGE = 2000, 12000      # requests of the two runs of which --instructions takes the difference


def parse():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--program", default=os.path.join(TOP, "haproxy"), help="what haload and haterm are names of")
    p.add_argument("--seconds", type=int, default=5, help="of each run")
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--conns", type=int, default=64)
    p.add_argument("--sizes", default="16,1024", help="of the answers' bodies")
    p.add_argument("--cpu-tool", type=int, default=0, help="CPU of the tool that is measured")
    p.add_argument("--cpu-peer", type=int, default=1, help="CPU of the one that it talks to")
    p.add_argument("--base-port", type=int, default=21900)
    p.add_argument("--instructions", action="store_true", help="count them, by valgrind --tool=callgrind")
    p.add_argument("--only", choices=("clients", "servers", "h2"), help="one part")
    return p.parse_args()


class Tools:
    """Programs, ports and what runs."""

    def __init__(self, opt):
        o = types.SimpleNamespace(threads=1, cpu_proxy=opt.cpu_tool, cpu_load=opt.cpu_peer, keep=False,
                                  base_port=opt.base_port)
        self.opt, self.bench = opt, compare.Bench(o)
        self.bench.build()
        self.tool = self.bench.tool
        for name in ("haload", "haterm"):
            path = os.path.join(self.bench.dir, name)
            os.symlink(os.path.abspath(opt.program), path)
            self.tool[name] = path

    def serve(self, name, cpu, wrapper=()):
        """A server's process and its port."""
        port = self.bench.port()
        argv = {"haterm": [self.tool["haterm"], "-q", "-t", "1", "-L", "127.0.0.1:%d" % port],
                "origin": [self.tool["backend"], str(port)]}[name]
        return compare.Process(self.bench, list(wrapper) + argv, cpu, name + ".log", port), port

    def client(self, name, port, size, seconds, requests=None):
        """A command line. With <requests>: as many, where the tool can."""
        o, url = self.opt, "http://127.0.0.1:%d/?s=%d" % (port, size)
        until = ["-n", str(requests)] if requests else ["-d", str(seconds)]
        return {
            "haload": [self.tool["haload"], "-q", "-c", str(o.conns)] + until + [url],
            "haload-h2": [self.tool["haload"], "-q", "-2", "-c", "16", "-m", "32"] + until + [url],
            "wrk": ["wrk", "-t1", "-c%d" % o.conns, "-d%ds" % seconds, url],
            "load": [self.tool["load"], "-p", str(port), "-c", str(o.conns), "-d", str(seconds), "-u", "/?s=%d" % size],
            "h2load": ["h2load", "-t1", "-c16", "-m32"] +
                      (until if requests else ["-D%d" % seconds]) + [url],
        }[name]

    def run(self, argv, cpu):
        """A client's requests and its CPU time in seconds."""
        p = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                             preexec_fn=compare.starter(cpu, self.bench.nofile))
        p.stdin.write(b"go\n")
        p.stdin.close()
        out = p.stdout.read().decode()
        _, status, usage = os.wait4(p.pid, 0)
        p.returncode = os.waitstatus_to_exitcode(status)
        requests = count(out)
        if p.returncode or not requests:
            raise compare.Failure("%s: exit %d\n%s" % (argv[0], p.returncode, out))
        return requests, usage.ru_utime + usage.ru_stime


def count(out):
    """How many requests a client says that it made; 0: or that some failed."""
    if out.startswith("ready"):
        got = json.loads(out.split("\n")[1])
        return got["requests"] if not any(got["errors"].values()) else 0
    m = re.search(r"^# (\d+) requests|(\d+) requests in|requests: .* (\d+) succeeded", out, re.M)
    bad = re.search(r"^# [1-9]\d* errors|Socket errors|Non-2xx|[1-9]\d* failed", out, re.M)
    return int(next(g for g in m.groups() if g)) if m and not bad else 0


# --- CPU time

def in_turns(opt, names, one):
    """{name: [microseconds a request]}, of each round."""
    found = {n: [] for n in names}
    for r in range(opt.rounds):
        for n in names if r % 2 == 0 else names[::-1]:
            requests, seconds = one(n)
            found[n].append(seconds * 1e6 / requests)
    return found


def tell(title, names, found, unit):
    first = names[0]
    print(title)
    for n in names:
        ratios = [a / b for a, b in zip(found[n], found[first])]
        print("  %-10s %8.2f %s   %.3f  (%.3f..%.3f)" % (n, statistics.median(found[n]), unit, statistics.median(ratios),
                                                       min(ratios), max(ratios)))


def clients(t, size, names, server):
    peer, port = t.serve(server, t.opt.cpu_peer)
    found = in_turns(t.opt, names, lambda n: t.run(t.client(n, port, size, t.opt.seconds), t.opt.cpu_tool))
    peer.stop()
    tell("clients asking %s for %d bytes, CPU of a request" % (server, size), names, found, "us")


def servers(t, size, client):
    names = ["origin", "haterm"]
    running = {n: t.serve(n, t.opt.cpu_tool) for n in names}

    def one(name):
        process, port = running[name]
        before = compare.cpu_time(process.pids())
        requests, _ = t.run(t.client(client, port, size, t.opt.seconds), t.opt.cpu_peer)
        return requests, compare.cpu_time(process.pids())[0] - before[0]
    found = in_turns(t.opt, names, one)
    for process, _ in running.values():
        process.stop()
    tell("servers asked by %s for %d bytes, CPU of a request" % (client, size), names, found, "us")


# --- instructions

def collected(t, label, argv_of, size):
    """Runs it short and long under callgrind. Instructions a request: the difference, so no start-up."""
    totals = []
    for n in (SMALL, LARGE):
        out = os.path.join(t.bench.dir, "callgrind.%s.%d" % (label, n))
        requests = argv_of(["valgrind", "--tool=callgrind", "--callgrind-out-file=" + out], n)
        with open(out) as f:
            totals.append((requests, int(re.search(r"^(?:summary|totals): (\d+)", f.read(), re.M).group(1))))
    (r0, i0), (r1, i1) = totals
    return (i1 - i0) / (r1 - r0)


def count_client(t, name, size, server):
    def one(wrapper, n):
        peer, port = t.serve(server, None)
        # wrk knows seconds only
        requests, _ = t.run(wrapper + t.client(name, port, size, 2 if n == SMALL else 5, n), None)
        peer.stop()
        return requests
    return collected(t, name, one, size)


def count_server(t, name, size, client):
    def one(wrapper, n):
        process, port = t.serve(name, None, wrapper)
        requests, _ = t.run(t.client(client, port, size, 0, n), None)
        process.p.send_signal(signal.SIGTERM if name == "origin" else signal.SIGUSR1)
        process.p.wait(60)
        return requests
    return collected(t, name, one, size)


def tell_counts(title, names, one):
    found = {n: [one(n)] for n in names}
    tell(title, names, found, "instructions")


# ---

def plan(t, size):
    """(what, clients or servers, their names, the peer) of all that is to be measured."""
    h2 = ["h2load"] if shutil.which("h2load") else []
    if t.opt.only in (None, "clients"):
        # valgrind does not know the waiting call of "load"
        yield clients, count_client, ["wrk", "haload"] if t.opt.instructions else ["wrk", "load", "haload"], "origin"
    if t.opt.only in (None, "servers"):
        yield servers, count_server, ["origin", "haterm"], "haload" if t.opt.instructions else "wrk"
    if t.opt.only in (None, "h2"):
        yield clients, count_client, h2 + ["haload-h2"], "haterm"


def main():
    opt = parse()
    if shutil.which("wrk") is None:
        sys.exit("load_tools.py: wrk is missing")
    if os.geteuid() == 0 and not opt.instructions:
        compare.own_network()
    t = Tools(opt)
    try:
        for size in (int(s) for s in opt.sizes.split(",")):
            for measure, counter, names, peer in plan(t, size):
                if opt.instructions:
                    tell_counts("%s, %d bytes, user-space instructions of a request (with %s)"
                                % (measure.__name__, size, peer), names, lambda n: counter(t, n, size, peer))
                elif measure is servers:
                    servers(t, size, peer)
                else:
                    clients(t, size, names, peer)
    except compare.Failure as e:
        sys.exit("load_tools.py: %s" % e)
    finally:
        t.bench.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
