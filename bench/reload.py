#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Reloads under load: how long until the new configuration serves, how many requests fail, memory at most.
In the process (this program), and by master and worker (this program and the reference).

    bench/reload.py [--program ./haproxy] [--reference PATH] [--reloads 15]"""
import argparse
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "system"))
import lib  # noqa: E402

CONF = """global
	nbthread 2
	stats socket {dir}/ctl.sock level admin expose-fd listeners
defaults
	mode http
	timeout connect 5s
	timeout client 5s
	timeout server 5s
frontend fe
	bind 127.0.0.1:{port}
	http-response set-header x-version {version}
	default_backend be
backend be
	server s 127.0.0.1:{server}
"""


def ask(port):
    """The version that answers, on a connection of its own."""
    with lib.connect(port) as s:
        s.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        got = lib.Reader(s).response()
        return got and got[1].get("x-version")


class Load(threading.Thread):
    def __init__(self, port):
        super().__init__(daemon=True)
        self.port, self.stop, self.requests, self.failed = port, False, 0, 0

    def run(self):
        while not self.stop:
            self.requests += 1
            try:
                self.failed += not ask(self.port)
            except OSError:
                self.failed += 1


def memory_kb(pid):
    """Of a process and its children."""
    pids = [pid]
    out = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], stdout=subprocess.PIPE, text=True).stdout
    total = 0
    for p in pids + [int(x) for x in out.split()]:
        try:
            with open("/proc/%d/status" % p) as f:
                total += next((int(l.split()[1]) for l in f if l.startswith("VmRSS")), 0)
        except OSError:
            pass
    return total


def measure(program, in_process, reloads):
    folder = tempfile.mkdtemp(prefix="hapb.")
    server = lib.Server(lib.echo_handler)
    port = lib.ports(1)[0]

    def write(version):
        with open(folder + "/new", "w") as f:
            f.write(CONF.format(dir=folder, port=port, server=server.port, version=version))
        os.rename(folder + "/new", folder + "/test.cfg")

    write("v0")
    control = folder + ("/ctl.sock" if in_process else "/master.sock")
    mode = ["-db"] if in_process else ["-W", "-S", control]
    p = subprocess.Popen([program] + mode + ["-f", folder + "/test.cfg"], stderr=subprocess.DEVNULL)
    lib.until(lambda: os.path.exists(control) and not refused(port))
    crowd = [Load(port) for _ in range(2)]
    for t in crowd:
        t.start()
    times, most = [], 0
    for i in range(1, reloads + 1):
        write("v%d" % i)
        start = time.monotonic()
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(control)
            s.sendall(b"reload\n")
            while answer(port) != "v%d" % i:
                pass
            times.append((time.monotonic() - start) * 1000)
            most = max(most, memory_kb(p.pid))
            lib.recv_all(s)
    for t in crowd:
        t.stop = True
    for t in crowd:
        t.join()
    p.send_signal(signal.SIGTERM)
    p.wait()
    server.close()
    shutil.rmtree(folder)
    times.sort()
    return (times[len(times) // 2], times[-1], sum(t.requests for t in crowd),
            sum(t.failed for t in crowd), most)


def refused(port):
    try:
        lib.connect(port).close()
        return False
    except OSError:
        return True


def answer(port):
    try:
        return ask(port)
    except OSError:
        return None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", default="./haproxy")
    parser.add_argument("--reference", default=os.path.expanduser("~/.cache/haproxy-reference/haproxy"))
    parser.add_argument("--reloads", type=int, default=15)
    args = parser.parse_args()
    print("%-28s %10s %10s %10s %8s %10s" % ("", "median ms", "worst ms", "requests", "failed", "most KB"))
    for name, program, in_process in (("in the process", args.program, True),
                                      ("master and worker", args.program, False),
                                      ("reference, master and worker", args.reference, False)):
        if os.access(program, os.X_OK):
            print("%-28s %10.1f %10.1f %10d %8d %10d"
                  % ((name,) + measure(os.path.abspath(program), in_process, args.reloads)))


main()
