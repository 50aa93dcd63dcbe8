#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What big stick tables cost: memory of an entry (type ip, http_req_rate), the full teaching of a table to a peer that has just
started (seconds, CPU of both sides), and how long `show table` holds a thread: the CPU time of its loop's longest turn.

    bench/teach.py --proxy ref=haproxy --proxy new=./haproxy

--five: the teaching alone, of tables of five types that share the entries; each program teaches itself and every other, in turns.
"""
import argparse
import os
import re
import shutil
import signal
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
"""
# Keys of bytes cannot be set: requests make them.
REQUESTS = """frontend fe
    bind 127.0.0.1:%(http)d
    http-request track-sc0 uuid,sha1 table t_binary
    http-request return status 200
"""
TABLE = """backend t%(suffix)s
    stick-table type %(type)s size %(size)d expire 1h store %(data)s peers pp
"""
# a suffix, a type, what is stored, a key of a number
ONE = (("", "ip", "http_req_rate(10s)", lambda n: "10.%d.%d.%d" % (n >> 16, n >> 8 & 255, n & 255)),)
FIVE = (
    ("_ip", "ip", "http_req_rate(10s)", ONE[0][3]),
    ("_ipv6", "ipv6", "gpc0,conn_rate(10s)", lambda n: "2001:db8::%x:%x" % (n >> 16, n & 65535)),
    ("_integer", "integer", "gpc0", "%d".__mod__),
    ("_string", "string len 32", "http_req_cnt,http_req_rate(10s)", "session-%08x".__mod__),
    ("_binary", "binary len 16", "gpt0,bytes_in_cnt", None),
)
PER_LINE = 100


class Process:
    def __init__(self, program, folder, name, values, tables=ONE, preload=""):
        self.path = "%s/%s" % (folder, name)
        self.tables, self.http = tables, values["http"]
        with open(self.path + ".conf", "w") as f:
            f.write(CONF % dict(values, name=name, dir=folder))
            for suffix, kind, data, key in tables:
                if not key:
                    f.write(REQUESTS % values)
                f.write(TABLE % {"suffix": suffix, "type": kind, "size": values["size"], "data": data})
        self.process = subprocess.Popen([program, "-db", "-f", self.path + ".conf"], stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL,
                                        env=dict(os.environ, LD_PRELOAD=preload, TURNS=self.path + ".turns"))
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
        for suffix, _, data, key in self.tables:
            if not key:
                subprocess.run([os.path.join(TOP, "haload"), "-q", "-c", "4", "-n", str(size),
                                "http://127.0.0.1:%d/" % self.http], stdout=subprocess.DEVNULL, check=True)
                continue
            row = "set table t%s key %%s data.%s 1" % (suffix, re.sub(r"\(.*?\)", "", data).replace(",", " 1 data."))
            for first in range(0, size, PER_LINE):
                self.ask(";".join(row % key(n) for n in range(first, min(first + PER_LINE, size))) + "\n")

    def used(self):
        return sum(map(int, re.findall(r"used:(\d+)", self.ask("show table\n"))))

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


def build_turns(folder):
    """The library that counts turns of a loop (src/turns.c), or "" where it cannot be made."""
    path = os.path.join(folder, "turns.so")
    made = subprocess.run(os.environ.get("CC", "cc").split() + ["-O2", "-shared", "-fPIC", "-o", path, os.path.join(
        TOP, "bench", "src", "turns.c"), "-ldl"], stderr=subprocess.DEVNULL)
    return "" if made.returncode else path


def turns(process):
    """Turns of the loop while `show table` runs three times, microseconds of CPU of the longest, and those above 2 ms."""
    process.process.send_signal(signal.SIGRTMAX)
    for _ in range(3):
        process.ask("show table t\n", False)
    process.process.send_signal(signal.SIGRTMAX)
    while not os.path.exists(process.path + ".turns") or not os.path.getsize(process.path + ".turns"):
        time.sleep(0.05)
    with open(process.path + ".turns") as f:
        return [int(x) for x in f.read().split()]


def ports():
    socks = [socket.create_server(("127.0.0.1", 0)) for _ in range(3)]
    values = dict(zip(("a", "b", "http"), (s.getsockname()[1] for s in socks)))
    for s in socks:
        s.close()
    return values


def teach(label, a, program, size, values):
    """A pupil of <program> that was taught by <a>; its CPU is that of its whole life: also that of its start."""
    begun, cpu = time.monotonic(), a.cpu()
    b = Process(program, os.path.dirname(a.path), "b", values, a.tables)
    while (used := b.used()) < size and time.monotonic() < begun + 60:
        time.sleep(0.1)
    print("%-12s teaching  %6.2f s  CPU %.2f of the teacher, %.2f of the pupil, %.2f together (%d entries)" %
          (label, time.monotonic() - begun, a.cpu() - cpu, b.cpu(), a.cpu() - cpu + b.cpu(), used), flush=True)
    return b


def teach_all(programs, size, rounds):
    folder = tempfile.mkdtemp(prefix="bench-teach.")
    each = size // len(FIVE)
    for name, program in programs:
        values = dict(ports(), size=each + each // 10)
        a = Process(program, folder, "a", values, FIVE)
        a.fill(each)
        size = a.used()
        for _ in range(rounds):
            for other, pupil in programs:
                teach("%s -> %s" % (name, other), a, pupil, size, dict(values, http=ports()["http"])).end()
                os.unlink(folder + "/b.sock")
        a.end()
        os.unlink(folder + "/a.sock")
    shutil.rmtree(folder, ignore_errors=True)


def measure(name, program, size):
    folder = tempfile.mkdtemp(prefix="bench-teach.")
    values = dict(ports(), size=size + size // 10)
    library = build_turns(folder)
    a = Process(program, folder, "a", values, preload=library)
    before = a.memory()
    a.fill(size)
    print("%-12s an entry  %6.1f bytes" % (name, (a.memory() - before) / size), flush=True)
    teach(name, a, program, size, values).end()
    if library:
        print("%-12s show table: %d turns, the longest %d us of CPU, %d above 2 ms" % (name, *turns(a)), flush=True)
    a.end()
    shutil.rmtree(folder, ignore_errors=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--proxy", action="append", metavar="NAME=PROGRAM", default=[])
    p.add_argument("--size", type=int, default=1000000)
    p.add_argument("--five", action="store_true")
    p.add_argument("--rounds", type=int, default=3)
    opt = p.parse_args()
    programs = [x.split("=", 1) for x in opt.proxy] or [["new", os.path.join(TOP, "haproxy")]]
    if opt.five:
        teach_all(programs, opt.size, opt.rounds)
        return
    for name, program in programs:
        measure(name, program, opt.size)


if __name__ == "__main__":
    sys.exit(main())
