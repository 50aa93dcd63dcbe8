#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""HTTP/3 of several programs side by side: CPU time for each request, and for each megabyte, of the proxy alone.

  bench/h3.py --proxy new=./haproxy --proxy ref=~/.cache/haproxy-reference/haproxy-3.4 [--rounds 3] [--rows h3,h3-16k,h3-10m,...]

The client is this program's haload -3 (--client: where that is), the origin its haterm. All programs take turns in each round; the least of a program's rounds
counts, as other work on the machine can only add. Row h3-handshake is one request on each connection, h2 is HTTP/2 over TLS with the same
answers, for comparison; h3-idle is memory: KB for each connection that has had one request.
"""
import argparse
import os
import signal
import socket
import subprocess
import tempfile
import time

CONF = """
global
	nbthread 1
	limited-quic
	stats socket {dir}/ctl mode 600
defaults
	mode http
	timeout connect 5s
	timeout client 90s
	timeout server 30s
frontend web
	bind quic4@127.0.0.1:{port} ssl crt {dir}/crt.pem
	bind 127.0.0.1:{port} ssl crt {dir}/crt.pem alpn h2
	http-request return status 200 content-type text/plain string "ok" if {{ path /1 }}
	default_backend origin
backend origin
	server s 127.0.0.1:{origin}
"""
# path, requests, options of haload: 10 connections
ROWS = {
    "h3": ("/1", 30000, ["-3", "-m", "10"]),
    "h3-16k": ("/?s=16k", 10000, ["-3", "-m", "10"]),
    "h3-10m": ("/?s=10m", 40, ["-3"]),
    "h3-handshake": ("/1", 1000, ["-3", "-r", "1"]),
    "h2": ("/1", 30000, ["-2", "-m", "10"]),
    "h3-idle": None,
}
IDLE = 1000


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def cpu_seconds(pid):
    """Of all its threads, by the scheduler, which knows nanoseconds."""
    total = 0
    for task in os.listdir("/proc/%d/task" % pid):
        with open("/proc/%d/task/%s/schedstat" % (pid, task)) as f:
            total += int(f.read().split()[0])
    return total / 1e9


def resident_kb(pid):
    with open("/proc/%d/smaps_rollup" % pid) as f:
        return next(int(line.split()[1]) for line in f if line.startswith("Rss:"))


class Program:
    """A program that runs until it is closed."""

    def __init__(self, words, port):
        self.process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + 20
        while time.monotonic() < end and self.process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                return
            except OSError:
                time.sleep(0.02)
        self.close()
        raise SystemExit("does not start: " + " ".join(words))

    def close(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        self.process.wait()


def run(client, port, path, count, options, **kwargs):
    return subprocess.Popen([client, "-c", "10", *options, "-n", str(count), "-e", "-q", "https://127.0.0.1:%d%s" % (port, path)],
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **kwargs)


def connections(folder):
    """Of clients, as the program says."""
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(os.path.join(folder, "ctl"))
        s.sendall(b"show info\n")
        text = b"".join(iter(lambda: s.recv(65536), b"")).decode()
    return int(next(l.split()[1] for l in text.split("\n") if l.startswith("CurrConns:")))


def idle(client, pid, port, folder):
    """KB for each of IDLE connections, which come one after the other: 200 a second. None: they did not."""
    run(client, port, "/1", 100, ["-3", "-r", "1"]).wait(60)
    before = resident_kb(pid)
    load = run(client, port, "/1", 10 * IDLE, ["-3", "-c", str(IDLE), "-R", "200", "-s", "5", "-T", "60000"])
    end = time.monotonic() + 60
    while time.monotonic() < end and connections(folder) < IDLE:
        time.sleep(0.1)
    time.sleep(2) # what handshakes needed is given back
    came, now = connections(folder), resident_kb(pid)
    load.kill()
    load.wait()
    return (now - before) / came if came >= IDLE else None


def measure(client, program, row, folder, origin):
    """Microseconds of CPU for each request; None: not all were answered."""
    port = free_port()
    name = os.path.join(folder, "%d.cfg" % port)
    with open(name, "w") as f:
        f.write(CONF.format(dir=folder, port=port, origin=origin))
    p = Program([program, "-q", "-db", "-f", name], port)
    try:
        if row == "h3-idle":
            return idle(client, p.process.pid, port, folder)
        path, count, options = ROWS[row]
        before = cpu_seconds(p.process.pid)
        status = run(client, port, path, count, options).wait(300)
        spent = cpu_seconds(p.process.pid) - before
    finally:
        p.close()
    return spent / count * 1e6 if status == 0 else None


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--proxy", action="append", required=True, metavar="NAME=PROGRAM")
    ap.add_argument("--rounds", type=int, default=3)
    ap.add_argument("--rows", default=",".join(ROWS))
    ap.add_argument("--client", default="./haproxy")
    args = ap.parse_args()
    proxies = [(n, os.path.expanduser(p)) for n, p in (x.split("=", 1) for x in args.proxy)]
    with tempfile.TemporaryDirectory(prefix="hapbench.") as folder:
        client = os.path.join(folder, "haload")
        os.symlink(os.path.abspath(args.client), client)
        crt = os.path.join(folder, "crt.pem")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
                        "/CN=localhost", "-keyout", crt + ".key", "-out", crt], check=True, stderr=subprocess.DEVNULL)
        with open(crt, "a") as f, open(crt + ".key") as g:
            f.write(g.read())
        port = free_port()
        haterm = os.path.join(folder, "haterm")
        os.symlink(os.path.abspath(args.client), haterm)
        origin = Program([haterm, "-L", "127.0.0.1:%d" % port], port)
        try:
            print("| row | " + " | ".join("%s, us a request" % n for n, _ in proxies) + " | first / last |")
            print("|---" * (len(proxies) + 2) + "|")
            for row in args.rows.split(","):
                rounds = [[measure(client, path, row, folder, port) for _, path in proxies] for _ in range(args.rounds)]
                best = [min((r[i] for r in rounds if r[i] is not None), default=None) for i in range(len(proxies))]
                ratio = "%.2f" % (best[0] / best[-1]) if all(best) else "-"
                print("| %s | %s | %s |" % (row, " | ".join("failed" if b is None else "%.1f" % b for b in best), ratio), flush=True)
        finally:
            origin.close()


if __name__ == "__main__":
    main()
