#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What health checks cost: CPU time of proxies that have nothing to do but to check many servers, in turns
(A B C, C B A, ...). All servers are one origin on the loopback, which runs on another CPU.

    bench/checks.py --proxy ref=haproxy --proxy new=./haproxy --servers 5000 --inter 2s --seconds 20
    bench/checks.py --kind http --threads 2 --instructions     # perf counts instructions in user space
    bench/checks.py --syscalls                                 # strace counts system calls of one check
    bench/checks.py --kind http --floor                        # and what the system calls alone cost
"""
import argparse
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

CONF = """
global
    nbthread {threads}
    stats socket {dir}/sock level admin
defaults
    mode http
    timeout connect 2s
    timeout client 5s
    timeout server 5s
    timeout check 2s
{body}
"""
KINDS = {"tcp": "", "http": "    option httpchk\n", "none": ""}
PER_BACKEND = 100


def parse():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--proxy", action="append", metavar="NAME=PROGRAM", default=[])
    p.add_argument("--kind", action="append", choices=sorted(KINDS), default=[],
                   help="tcp: connections; http: option httpchk; none: servers without checks")
    p.add_argument("--servers", type=int, default=5000)
    p.add_argument("--inter", default="2s")
    p.add_argument("--seconds", type=float, default=20, help="of each run")
    p.add_argument("--warm", type=float, default=5, help="before that: a whole interval at least")
    p.add_argument("--rounds", type=int, default=2)
    p.add_argument("--threads", type=int, default=1, help="of the proxies")
    p.add_argument("--base-port", type=int, default=21900)
    p.add_argument("--instructions", action="store_true")
    p.add_argument("--syscalls", action="store_true")
    p.add_argument("--floor", action="store_true", help="of http: the system calls of a check alone")
    a = p.parse_args()
    a.proxy = [x.split("=", 1) for x in a.proxy] or [["new", os.path.join(TOP, "haproxy")]]
    a.kind = a.kind or ["tcp", "http"]
    return a


def pin(cpu):
    cpus = sorted(os.sched_getaffinity(0))
    return lambda: os.sched_setaffinity(0, {cpus[cpu % len(cpus)]})


def compile_tool(name, where):
    exe = os.path.join(where, name)
    subprocess.run(os.environ.get("CC", "cc").split() +
                   ["-O2", "-o", exe, os.path.join(TOP, "bench/src/%s.c" % name)], check=True)
    return exe


def start_origin(a, where):
    exe = compile_tool("backend", where)
    ports = [a.base_port + i for i in range(4)]
    return ports, subprocess.Popen([exe] + [str(p) for p in ports], preexec_fn=pin(0))


def write_conf(a, kind, ports, where):
    body = []
    for i in range(a.servers):
        if i % PER_BACKEND == 0:
            body.append("backend b%d\n%s" % (i // PER_BACKEND, KINDS[kind]))
        check = "" if kind == "none" else " check inter " + a.inter
        body.append("    server s%d 127.0.0.1:%d%s\n" % (i, ports[i % len(ports)], check))
    path = os.path.join(where, "conf")
    with open(path, "w") as f:
        f.write(CONF.format(threads=a.threads, dir=where, body="".join(body)))
    return path


def ask(where, command):
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(20)
        s.connect(os.path.join(where, "sock"))
        s.sendall(command.encode() + b"\n")
        out = b""
        while True:
            data = s.recv(1 << 16)
            if not data:
                return out.decode()
            out += data


def cpu_of(pid):
    """Seconds in user space and in the kernel, and both as the scheduler counts them."""
    with open("/proc/%d/stat" % pid) as f:
        fields = f.read().rsplit(")", 1)[1].split()
    tick = os.sysconf("SC_CLK_TCK")
    exact = 0
    for task in os.listdir("/proc/%d/task" % pid):
        with open("/proc/%d/task/%s/schedstat" % (pid, task)) as f:
            exact += int(f.read().split()[0])
    return int(fields[11]) / tick, int(fields[12]) / tick, exact / 1e9


def states(where):
    rows = ask(where, "show stat").strip().split("\n")
    names = rows[0].lstrip("# ").split(",")
    at = names.index("check_status")
    out = {}
    for row in rows[1:]:
        cells = row.split(",")
        if cells[1] not in ("BACKEND", "FRONTEND"):
            word = cells[at].lstrip("* ")
            out[word] = out.get(word, 0) + 1
    return out


def instructions(pid, seconds):
    r = subprocess.run(["perf", "stat", "-x,", "-e", "instructions:u,instructions:k", "-p", str(pid), "--", "sleep",
                        str(seconds)], stderr=subprocess.PIPE, text=True)
    found = re.findall(r"^(\d+),[^,]*,instructions:([uk])", r.stderr, re.M)
    return {side: int(n) for n, side in found}


def syscalls(pid, seconds):
    # ended by SIGINT alone: strace must not end what it watches
    tracer = subprocess.Popen(["strace", "-f", "-c", "-p", str(pid)], stderr=subprocess.PIPE, text=True)
    time.sleep(seconds)
    tracer.send_signal(signal.SIGINT)
    text = tracer.communicate()[1]
    return {m[1]: int(m[0]) for m in re.findall(r"^ *[\d.]+ +[\d.]+ +\d+ +(\d+) +(?:\d+ +)?(\w+)$", text, re.M)
            if m[1] != "total"}


def run(a, name, program, conf, where):
    p = subprocess.Popen([program, "-db", "-f", conf], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                         preexec_fn=pin(1) if a.threads == 1 else None)
    try:
        time.sleep(a.warm)
        if p.poll() is not None:
            sys.exit("%s did not start" % name)
        before, then = cpu_of(p.pid), time.monotonic()
        extra = {}
        if a.syscalls:
            extra = syscalls(p.pid, a.seconds)
        elif a.instructions:
            extra = instructions(p.pid, a.seconds)
        else:
            time.sleep(a.seconds)
        after, span = cpu_of(p.pid), time.monotonic() - then
        return [y - x for x, y in zip(before, after)], span, states(where), extra
    finally:
        p.terminate()
        p.wait()


def floor(a, exe, rate):
    r = subprocess.run([exe, str(a.base_port), str(rate), str(a.seconds)], stdout=subprocess.PIPE, check=True,
                       preexec_fn=pin(1))
    print("  %-10s the system calls alone: %.1f us a check" % ("floor", float(r.stdout)))


def interval_s(text):
    n, unit = re.fullmatch(r"(\d+)(ms|s|m)?", text).groups()
    return int(n) * {"ms": 0.001, None: 0.001, "s": 1, "m": 60}[unit]


def main():
    a = parse()
    with tempfile.TemporaryDirectory() as where:
        ports, origin = start_origin(a, where)
        try:
            for kind in a.kind:
                conf = write_conf(a, kind, ports, where)
                measure(a, kind, conf, where)
        finally:
            origin.terminate()
            origin.wait()


def measure(a, kind, conf, where):
    rate = a.servers / interval_s(a.inter)
    totals = {}
    print("%s: %d servers every %s: %.0f checks a second, %d thread(s)" % (kind, a.servers, a.inter, rate, a.threads))
    exe = compile_tool("check_floor", where) if a.floor and kind == "http" else None
    for turn in range(a.rounds):
        if exe:
            floor(a, exe, rate)
        for name, program in a.proxy if turn % 2 == 0 else a.proxy[::-1]:
            (user, system, exact), span, seen, extra = run(a, name, program, conf, where)
            checks = rate * span
            totals.setdefault(name, []).append(exact / span)
            text = " ".join("%s %d" % i for i in sorted(seen.items()))
            print("  %-10s %6.2f %% CPU (user %4.1f, system %4.1f), %5.1f us a check, %s" % (
                name, 100 * exact / span, 100 * user / span, 100 * system / span, 1e6 * exact / checks, text))
            if a.instructions and extra:
                print("             instructions a check: " +
                      ", ".join("%s %.0f" % (k, v / checks) for k, v in sorted(extra.items())))
            if a.syscalls and extra:
                print("             calls a check: " + ", ".join(
                    "%s %.2f" % (k, v / checks) for k, v in sorted(extra.items(), key=lambda i: -i[1])[:10]))
            sys.stdout.flush()
    best = {n: min(t) for n, t in totals.items()}
    for name, _ in a.proxy:
        print("  %s: least %.2f %% CPU" % (name, 100 * best[name]) + "".join(
            ", %.2f of %s" % (best[name] / best[n], n) for n, _ in a.proxy if n != name))


main()
