#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What a full table costs: requests of a new key each, at a fixed rate, into a table that is full and into an empty one, in
turns. Prints p50, p99 and p99.9 of the time to an answer as haload saw it (the median of the rounds and their range), and
those of requests while `show table` walks a full one.

    bench/table.py --proxy ref=haproxy --proxy new=./haproxy
"""
import argparse
import os
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CONF = """global
    nbthread 1
    stats socket %(dir)s/sock level admin
    stats timeout 5m
defaults
    mode http
    timeout connect 5s
    timeout client 1m
    timeout server 1m
frontend fe
    bind 127.0.0.1:%(port)d
    http-request track-sc0 rand(2000000000) table t
    http-request return status 200
backend t
    stick-table type integer size %(size)d expire 1h store http_req_rate(10s)
"""
PERCENTILES = ("50", "99", "99.9")


class Proxy:
    def __init__(self, program, size, full):
        self.dir = tempfile.mkdtemp(prefix="bench-table.")
        with socket.create_server(("127.0.0.1", 0)) as s:
            self.port = s.getsockname()[1]
        self.size = size
        conf = os.path.join(self.dir, "conf")
        with open(conf, "w") as f:
            f.write(CONF % {"dir": self.dir, "port": self.port, "size": size})
        self.process = subprocess.Popen([program, "-db", "-f", conf], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(100):
            if os.path.exists(self.dir + "/sock"):
                break
            time.sleep(0.05)
        if full:
            self.fill()

    def ask(self, text):
        s = socket.socket(socket.AF_UNIX)
        s.settimeout(120)
        s.connect(self.dir + "/sock")
        s.sendall(text.encode())
        n, head = 0, b""
        while chunk := s.recv(1 << 20):
            n += len(chunk)
            head = head or chunk
        s.close()
        return n, head

    def fill(self):
        for first in range(0, self.size, 200):
            line = ";".join("set table t key %d data.http_req_rate 1" % (3000000000 + n) for n in range(first, min(first + 200, self.size)))
            self.ask(line + "\n")

    def used(self):
        return int(re.search(rb"used:(\d+)", self.ask("show table\n")[1])[1])

    def end(self):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.dir, ignore_errors=True)


def load(port, rate, seconds):
    """{percentile: microseconds}; latencies count from when the request was due."""
    out = subprocess.run([os.path.join(TOP, "haload"), "-q", "-c", "16", "-R", str(rate), "-d", str(seconds),
                          "http://127.0.0.1:%d/" % port], stdout=subprocess.PIPE, text=True).stdout
    return {m[1]: float(m[2]) for m in re.finditer(r"^([\d.]+) +[\d.]+ +([\d.]+)$", out, re.M)}


def load_beside(proxy, command):
    """Like load(), while <command> runs over and over."""
    over = time.monotonic() + 2
    child = os.fork()
    if not child:
        while time.monotonic() < over:
            proxy.ask(command)
        os._exit(0)
    got = load(proxy.port, 1000, 2)
    os.waitpid(child, 0)
    return got


def line(name, rounds):
    cells = []
    for p in PERCENTILES:
        v = sorted(r[p] for r in rounds)
        cells.append("%6.0f (%.0f to %.0f)" % (statistics.median(v), v[0], v[-1]))
    print("%-18s %s" % (name, "  ".join("%-24s" % c for c in cells)))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--proxy", action="append", metavar="NAME=PROGRAM", default=[])
    p.add_argument("--size", type=int, default=1000000)
    p.add_argument("--rate", type=int, default=3000)
    p.add_argument("--seconds", type=int, default=5)
    p.add_argument("--rounds", type=int, default=5)
    opt = p.parse_args()
    programs = [x.split("=", 1) for x in opt.proxy] or [["new", os.path.join(TOP, "haproxy")]]
    proxies = [(name, full, Proxy(program, opt.size, full)) for name, program in programs for full in (False, True)]
    results = {(name, full): [] for name, full, _ in proxies}
    for _ in range(opt.rounds):
        for name, full, proxy in proxies:
            results[name, full].append(load(proxy.port, opt.rate, opt.seconds))
    print("us at                " + "  ".join("%-24s" % (x + " %") for x in PERCENTILES))
    for name, full, proxy in proxies:
        line(name + (" full" if full else " empty"), results[name, full])
        used = proxy.used()
        if full != (used >= opt.size):
            print("  (%d of %d entries!)" % (used, opt.size))
    for name, full, proxy in proxies:
        if full:
            line(name + " show table", [load_beside(proxy, "show table t\n")])
        proxy.end()


if __name__ == "__main__":
    sys.exit(main())
