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
    total = 0
    for p in [pid] + lib.children(pid):
        try:
            with open("/proc/%d/status" % p) as f:
                total += next((int(l.split()[1]) for l in f if l.startswith("VmRSS")), 0)
        except OSError:
            pass
    return total


NGINX = """daemon off;
master_process on;
worker_processes 2;
pid {dir}/nginx.pid;
error_log /dev/null;
events {{ }}
http {{
	access_log off;
	server {{
		listen 127.0.0.1:{port} reuseport;
		location / {{
			add_header x-version {version} always;
			proxy_http_version 1.1;
			proxy_set_header Connection "";
			proxy_pass http://127.0.0.1:{server};
		}}
	}}
}}
"""


class Proxy:
    """One of the ways: a process, how it is told to reload, and when that is over."""

    def __init__(self, kind, program):
        self.kind = kind
        self.dir = tempfile.mkdtemp(prefix="hapb.")
        os.chmod(self.dir, 0o711)
        self.server = lib.Server(lib.echo_handler)
        self.port = lib.ports(1)[0]
        self.write("v0")
        self.control = self.dir + ("/ctl.sock" if kind in ("process", "rights") else "/master.sock")
        command = {"process": [program, "-db", "-f"], "rights": [program, "-W", "-f"],
                   "master": [program, "-W", "-S", self.control, "-f"], "nginx": [program, "-p", self.dir, "-c"]}[kind]
        self.process = subprocess.Popen(command + [self.dir + "/test.cfg"], stderr=subprocess.DEVNULL)
        lib.until(lambda: (kind == "nginx" or os.path.exists(self.control)) and not refused(self.port))

    def write(self, version):
        text = NGINX if self.kind == "nginx" else CONF
        text = text.format(dir=self.dir, port=self.port, server=self.server.port, version=version)
        if self.kind == "rights":
            text = text.replace("global\n", "global\n\tchroot /var/empty\n\tuser nobody\n\tsandbox on\n"
                                .replace("/var/empty", self.dir), 1)
        with open(self.dir + "/new", "w") as f:
            f.write(text)
        os.rename(self.dir + "/new", self.dir + "/test.cfg")

    def reload(self, version):
        """Returns once the new configuration has answered, and how long that took, ms."""
        start = time.monotonic()
        if self.kind == "nginx":
            self.process.send_signal(signal.SIGHUP)
        else:
            s = socket.socket(socket.AF_UNIX)
            s.connect(self.control)
            s.sendall(b"reload\n")
        while answer(self.port) != version:
            pass
        took = (time.monotonic() - start) * 1000
        if self.kind != "nginx":
            lib.recv_all(s)
            s.close()
        return took

    def close(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()
        self.server.close()
        shutil.rmtree(self.dir)


def measure(kind, program, reloads):
    proxy = Proxy(kind, program)
    crowd = [Load(proxy.port) for _ in range(2)]
    for t in crowd:
        t.start()
    times, most = [], 0
    for i in range(1, reloads + 1):
        proxy.write("v%d" % i)
        times.append(proxy.reload("v%d" % i))
        most = max(most, memory_kb(proxy.process.pid))
    for t in crowd:
        t.stop = True
    for t in crowd:
        t.join()
    proxy.close()
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
    for name, program, kind in (("in the process", args.program, "process"),
                                ("same, sandboxed, by master", args.program, "rights"),
                                ("master and worker", args.program, "master"),
                                ("reference, master and worker", args.reference, "master"),
                                ("nginx", shutil.which("nginx") or "", "nginx")):
        if os.access(program, os.X_OK) and (kind != "rights" or os.geteuid() == 0):
            print("%-28s %10.1f %10.1f %10d %8d %10d"
                  % ((name,) + measure(kind, os.path.abspath(program), args.reloads)))
            sys.stdout.flush()


main()
