#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The latency that a proxy adds, by percentile: haload asks haterm at a fixed rate, beside the proxy and through it, in
turns, while another haload keeps both the proxy and its server busy. Prints a table and draws one picture of all:
each way's latency, and what each proxy adds to the direct one. The method of the published tests: 2 minutes, of which
the load beside takes 30 seconds to grow; requests of the fixed rate count from when they were due.

    bench/latency.py                                                    # ./haproxy, and the reference where there is one
    bench/latency.py --short --svg /tmp/latency.svg                     # the same in seconds
    bench/latency.py --proxy ref=haproxy --proxy new=./haproxy --load 20000
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
REFERENCE = os.environ.get("REFERENCE") or os.path.expanduser("~/.cache/haproxy-reference/haproxy")
PERCENTILES = ("50", "90", "99", "99.9", "99.99")
ADDED = ("50", "99", "99.9", "99.99")
COLOURS = ("#888", "#36c", "#c33", "#2a2", "#a4a")

CONF = """
global
    nbthread {threads}
defaults
    mode http
    timeout connect 5s
    timeout client 1m
    timeout server 1m
frontend fe
    bind 127.0.0.1:{port}
    default_backend be
backend be
    server s 127.0.0.1:{server}
"""


def parse():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--proxy", action="append", metavar="NAME=PROGRAM", default=[])
    p.add_argument("--seconds", type=int, default=120, help="of each run, the ramp included")
    p.add_argument("--ramp", type=int, default=30, help="seconds until the load beside has its full rate")
    p.add_argument("--short", action="store_true", help="--seconds 4 --ramp 1: to see that it works")
    p.add_argument("--rate", type=int, default=1000, help="requests a second of the client that is measured")
    p.add_argument("--load", type=int, default=5000, help="requests a second of the client beside it; 0: none")
    p.add_argument("--conns", type=int, default=50)
    p.add_argument("--threads", type=int, default=1, help="of the proxies")
    p.add_argument("--size", default="1k", help="of the answers")
    p.add_argument("--rounds", type=int, default=1)
    p.add_argument("--base-port", type=int, default=21800)
    p.add_argument("--tools", default=TOP, help="the folder of haload and haterm")
    p.add_argument("--svg", default="latency.svg", help="where the picture goes")
    a = p.parse_args()
    if a.short:
        a.seconds, a.ramp = 4, 1
    a.proxy = [x.split("=", 1) for x in a.proxy]
    if not a.proxy:
        a.proxy = [["reference", REFERENCE]] if os.access(REFERENCE, os.X_OK) else []
        a.proxy.append(["new", os.path.join(TOP, "haproxy")])
    return a


def wait_for(port):
    end = time.monotonic() + 10
    while time.monotonic() < end:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.05)
    sys.exit("latency.py: nothing listens on port %d" % port)


def load_args(a, url, rate, conns, ramp):
    return [os.path.join(a.tools, "haload"), "-q", "-c", str(conns), "-R", str(rate), "-s", str(ramp),
            "-d", str(a.seconds), url]


def measure(a, port, load_port):
    """{percentile: microseconds} of one run, and its errors."""
    url = "http://127.0.0.1:%d/?s=" + a.size
    beside = None
    if a.load:
        beside = subprocess.Popen(load_args(a, url % load_port, a.load, a.conns, a.ramp), stdout=subprocess.DEVNULL)
    out = subprocess.run(load_args(a, url % port, a.rate, max(2, a.conns // 10), 0), stdout=subprocess.PIPE).stdout.decode()
    if beside:
        beside.wait()
    found = {m.group(1): float(m.group(2)) for m in re.finditer(r"^([\d.]+) +[\d.]+ +([\d.]+)$", out, re.M)}
    errors = re.search(r"# (\d+) errors", out)
    if not found or not errors:
        sys.exit("latency.py: haload said:\n" + out)
    return found, int(errors.group(1))


def draw(path, results):
    """One picture: percentiles to the right by nines, time upwards by its logarithm."""
    import math
    keys = ["50", "75", "90", "95", "99", "99.5", "99.9", "99.95", "99.99"]
    direct = next(iter(results.values()))
    top = math.log10(max(r[k] for r in results.values() for k in keys))
    low = math.log10(max(1, min([r["50"] for r in results.values()] +
                                [r["50"] - direct["50"] for r in list(results.values())[1:]]))) - 0.2

    def place(k, us):
        nines = -math.log10(1 - float(k) / 100)
        return "%.1f,%.1f" % (70 + 700 * (nines - 0.3) / 3.7, 330 - 290 * (math.log10(max(us, 1)) - low) / (top - low))

    out = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 800 %d" font-family="sans-serif" font-size="12">'
           % (370 + 16 * len(results)),
           '<rect width="100%" height="100%" fill="#fff"/>',
           '<text x="70" y="20" font-weight="bold">latency by percentile (us), requests counted from when they were due</text>']
    for k in ("50", "90", "99", "99.9", "99.99"):
        x, _ = place(k, 1).split(",")
        out.append('<text x="%s" y="350" text-anchor="middle">%s %%</text><line x1="%s" x2="%s" y1="40" y2="330" '
                   'stroke="#ddd"/>' % (x, k, x, x))
    for d in range(math.ceil(low), math.floor(top) + 1):
        _, y = place("50", 10 ** d).split(",")
        out.append('<text x="64" y="%s" text-anchor="end">%d</text><line x1="70" x2="770" y1="%s" y2="%s" stroke="#ddd"/>'
                   % (y, 10 ** d, y, y))
    for (name, r), colour in zip(results.items(), COLOURS):
        out.append('<polyline fill="none" stroke="%s" stroke-width="1.5" points="%s"/>'
                   % (colour, " ".join(place(k, r[k]) for k in keys)))
    for i, ((name, r), colour) in enumerate(zip(results.items(), COLOURS)):
        text = name
        # what a proxy adds: dashed where it adds something, and in figures
        if r is not direct:
            added = {k: r[k] - direct[k] for k in keys}
            out.append('<polyline fill="none" stroke="%s" stroke-dasharray="4 3" points="%s"/>'
                       % (colour, " ".join(place(k, added[k]) for k in keys if added[k] >= 1)))
            text += " adds (dashed) " + ", ".join("%.0f us at %s %%" % (added[k], k) for k in ADDED)
        out.append('<text x="70" y="%d" fill="%s">%s</text>' % (375 + 16 * i, colour, text))
    with open(path, "w") as f:
        f.write("\n".join(out) + "\n</svg>\n")


def main():
    a = parse()
    procs, conf = [], tempfile.mkdtemp(prefix="latency-")
    server = a.base_port
    try:
        procs.append(subprocess.Popen([os.path.join(a.tools, "haterm"), "-q", "-t", "1", "-L", "127.0.0.1:%d" % server]))
        wait_for(server)
        ports = {"direct": server}
        for i, (name, program) in enumerate(a.proxy):
            ports[name] = a.base_port + 1 + i
            path = os.path.join(conf, "%d.cfg" % i)
            with open(path, "w") as f:
                f.write(CONF.format(port=ports[name], server=server, threads=a.threads))
            procs.append(subprocess.Popen([program, "-db", "-f", path], stderr=subprocess.DEVNULL))
            wait_for(ports[name])
        runs = {name: [] for name in ports}
        errors = dict.fromkeys(ports, 0)
        for r in range(a.rounds):
            for name in list(ports) if r % 2 == 0 else list(ports)[::-1]:
                # the load beside a direct run goes straight too: the server has the same to do
                found, bad = measure(a, ports[name], ports[name])
                runs[name].append(found)
                errors[name] += bad
        results = {n: {k: sorted(x[k] for x in rs)[len(rs) // 2] for k in rs[0]} for n, rs in runs.items()}
        print("%d requests/s measured, %d beside them, %d s (ramp %d s), %s, %d round(s); microseconds"
              % (a.rate, a.load, a.seconds, a.ramp, a.size, a.rounds))
        print("%-10s" % "" + "".join("%12s" % (p + " %") for p in PERCENTILES) + "      errors")
        for name, r in results.items():
            print("%-10s" % name + "".join("%12.0f" % r[p] for p in PERCENTILES) + "%12d" % errors[name])
        for name in list(results)[1:]:
            print("%-10s" % ("+ " + name) + "".join("%12.0f" % (results[name][p] - results["direct"][p]) for p in PERCENTILES))
        draw(a.svg, results)
    finally:
        for p in procs:
            p.send_signal(signal.SIGTERM)
            p.wait()
        subprocess.run(["rm", "-rf", conf])
    return 1 if any(errors.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
