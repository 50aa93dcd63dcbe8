#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""HTTP/3 of several programs side by side: CPU time for each request, and for each megabyte, of the proxy alone.

  bench/h3.py --proxy new=./haproxy --proxy ref=~/.cache/haproxy-reference/haproxy-3.4 [--rounds 3] [--rows h3,h3-16k,h3-10m,h2]

The client is this program's haload -3 (--client: where that is), the origin its haterm. All programs take turns in each round; the least of a program's rounds
counts, as other work on the machine can only add. Row h2 is HTTP/2 over TLS with the same answers, for comparison.
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
	timeout client 30s
	timeout server 30s
frontend web
	bind quic4@127.0.0.1:{port} ssl crt {dir}/crt.pem
	bind 127.0.0.1:{port} ssl crt {dir}/crt.pem alpn h2
	http-request return status 200 content-type text/plain string "ok" if {{ path /1 }}
	default_backend origin
backend origin
	server s 127.0.0.1:{origin}
"""
# path, option of haload, requests, requests at once on each of 10 connections, bytes of an answer
ROWS = {
    "h3": ("/1", "-3", 30000, 10, 2),
    "h3-16k": ("/?s=16k", "-3", 10000, 10, 16384),
    "h3-10m": ("/?s=10m", "-3", 40, 1, 10 << 20),
    "h2": ("/1", "-2", 30000, 10, 2),
}


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def cpu_seconds(pid):
    with open("/proc/%d/stat" % pid) as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


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


def measure(client, program, row, folder, origin):
    """Microseconds of CPU for each request; None: not all were answered."""
    path, option, count, streams, _ = ROWS[row]
    port = free_port()
    name = os.path.join(folder, "%d.cfg" % port)
    with open(name, "w") as f:
        f.write(CONF.format(dir=folder, port=port, origin=origin))
    p = Program([program, "-q", "-db", "-f", name], port)
    try:
        before = cpu_seconds(p.process.pid)
        out = subprocess.run([client, option, "-c", "10", "-m", str(streams), "-n", str(count), "-e", "-q",
                              "https://127.0.0.1:%d%s" % (port, path)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
        spent = cpu_seconds(p.process.pid) - before
    finally:
        p.close()
    return spent / count * 1e6 if out.returncode == 0 else None


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
