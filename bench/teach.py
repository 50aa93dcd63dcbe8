#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What big stick tables cost: memory of an entry (type ip, http_req_rate), the full teaching of a table to a peer that has just
started (seconds, CPU of both sides), and how long `show table` holds a thread: the longest turn of its loop, as strace tells.

    bench/teach.py --proxy ref=haproxy --proxy new=./haproxy
"""
import argparse
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CONF = """global
    nbthread 1
    localpeer %(name)s
    stats socket %(dir)s/%(name)s.sock level admin
    stats timeout 5m
defaults
    mode http
    timeout connect 5s
    timeout client 1m
    timeout server 1m
peers pp
    peer a 127.0.0.1:%(a)d
    peer b 127.0.0.1:%(b)d
backend t
    stick-table type ip size %(size)d expire 1h store http_req_rate(10s) peers pp
"""
PER_LINE = 200


class Process:
    def __init__(self, program, folder, name, values):
        self.path = "%s/%s" % (folder, name)
        with open(self.path + ".conf", "w") as f:
            f.write(CONF % dict(values, name=name, dir=folder))
        self.process = subprocess.Popen([program, "-db", "-f", self.path + ".conf"], stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        while not os.path.exists(self.path + ".sock"):
            time.sleep(0.02)

    def ask(self, text, whole=True):
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(300)
            s.connect(self.path + ".sock")
            s.sendall(text.encode())
            out = []
            while chunk := s.recv(1 << 20):
                out.append(chunk if whole or not out else b"")
            return b"".join(out).decode()

    def fill(self, size):
        for first in range(0, size, PER_LINE):
            self.ask(";".join("set table t key 10.%d.%d.%d data.http_req_rate 1" % (n >> 16, n >> 8 & 255, n & 255)
                              for n in range(first, min(first + PER_LINE, size))) + "\n")

    def used(self):
        return int(re.search(r"used:(\d+)", self.ask("show table\n"))[1])

    def memory(self):
        with open("/proc/%d/status" % self.process.pid) as f:
            return int(re.search(r"VmRSS:\s+(\d+)", f.read())[1]) * 1024

    def cpu(self):
        with open("/proc/%d/stat" % self.process.pid) as f:
            words = f.read().rsplit(")", 1)[1].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")

    def end(self):
        self.process.terminate()
        self.process.wait()


def turns(process):
    """Milliseconds of the turns of the loop while `show table` runs, the longest last."""
    log = process.path + ".strace"
    tracer = subprocess.Popen(["strace", "-f", "-q", "-ttt", "-T", "-e", "trace=epoll_wait,epoll_pwait", "-o", log, "-p",
                               str(process.process.pid)])
    time.sleep(1)
    process.ask("show table t\n", False)
    tracer.terminate()
    tracer.wait()
    found, woken = [], None
    with open(log) as f:
        for line in f:
            m = re.match(r"\d+ +([\d.]+) epoll.* <([\d.]+)>$", line)
            if not m:
                woken = None
                continue
            if woken is not None:
                found.append((float(m[1]) - woken) * 1000)
            woken = float(m[1]) + float(m[2])
    return sorted(found)


def measure(name, program, size):
    folder = tempfile.mkdtemp(prefix="bench-teach.")
    socks = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
    values = {"size": size + size // 10, "a": socks[0].getsockname()[1], "b": socks[1].getsockname()[1]}
    for s in socks:
        s.close()
    a = Process(program, folder, "a", values)
    before = a.memory()
    a.fill(size)
    print("%-8s an entry  %6.1f bytes" % (name, (a.memory() - before) / size), flush=True)
    begun, cpu = time.monotonic(), a.cpu()
    b = Process(program, folder, "b", values)
    while (used := b.used()) < size and time.monotonic() < begun + 300:
        time.sleep(0.1)
    print("%-8s teaching  %6.2f s  CPU %.2f of the teacher, %.2f of the pupil (%d entries)" %
          (name, time.monotonic() - begun, a.cpu() - cpu, b.cpu(), used), flush=True)
    b.end()
    if shutil.which("strace"):
        ms = turns(a)
        print("%-8s show table, a turn  median %.2f ms, 99 %% %.2f, longest %.2f (of %d)" %
              (name, ms[len(ms) // 2], ms[len(ms) * 99 // 100], ms[-1], len(ms)) if ms else "no turns", flush=True)
    a.end()
    shutil.rmtree(folder, ignore_errors=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--proxy", action="append", metavar="NAME=PROGRAM", default=[])
    p.add_argument("--size", type=int, default=1000000)
    opt = p.parse_args()
    for name, program in [x.split("=", 1) for x in opt.proxy] or [["new", os.path.join(TOP, "haproxy")]]:
        measure(name, program, opt.size)


if __name__ == "__main__":
    sys.exit(main())
