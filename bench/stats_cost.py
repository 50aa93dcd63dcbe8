#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What figures cost a request: h1-keepalive through ./haproxy with all counters, latency histograms and a scrape of the
Prometheus exporter every second, beside the same through build/uncounted/haproxy ("make STATS=none"), which counts
nothing, and is not scraped. Runs take turns; the ratio is of paired runs. --instructions counts user-space
instructions of the proxies by callgrind instead, without the scrapes, and tells what one scrape costs apart.

    make && make STATS=none && bench/stats_cost.py --seconds 5 --rounds 7
    bench/stats_cost.py --instructions
"""
import argparse
import os
import re
import signal
import statistics
import subprocess
import sys
import threading
import types
import urllib.request

import compare

TOP = os.path.dirname(compare.HERE)
SHORT, LONG = 4000, 16000       # requests of the two runs of which --instructions takes the difference
SCRAPES = 40

# what makes the histograms count, and what is scraped
EXPORTER = """
frontend metrics
    bind 127.0.0.1:%d
    http-request use-service prometheus-exporter
"""


class Proxy(compare.Proxy):
    """A proxy of the bench; with an exporter where there is something to export."""

    def __init__(self, name, path, scraped):
        super().__init__(name, "haproxy", os.path.abspath(path))
        self.scraped, self.metrics = scraped, None

    def config(self, bench, sc, port):
        path = super().config(bench, sc, port)
        if self.scraped:
            self.metrics = bench.port()
            with open(path, "a") as f:
                f.write(EXPORTER % self.metrics)
        return path

    def scrape(self):
        with urllib.request.urlopen("http://127.0.0.1:%d/metrics" % self.metrics, timeout=10) as r:
            return len(r.read())


class Scraper(threading.Thread):
    """Asks once a second, until it is stopped."""

    def __init__(self, proxy):
        super().__init__(daemon=True)
        self.proxy, self.over, self.bytes = proxy, threading.Event(), 0
        self.start()

    def run(self):
        while not self.over.wait(1):
            self.bytes = self.proxy.scrape()

    def stop(self):
        self.over.set()
        self.join()


def parse():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--program", default=os.path.join(TOP, "haproxy"))
    p.add_argument("--uncounted", default=os.path.join(TOP, "build/uncounted/haproxy"))
    p.add_argument("--seconds", type=float, default=5, help="of each run")
    p.add_argument("--rounds", type=int, default=7)
    p.add_argument("--conns", type=int, default=64)
    p.add_argument("--cpu-proxy", type=int, default=0)
    p.add_argument("--cpu-load", type=int, default=1)
    p.add_argument("--base-port", type=int, default=22000)
    p.add_argument("--instructions", action="store_true", help="count them, by valgrind --tool=callgrind")
    return p.parse_args()


def times(bench, opt, proxies, sc):
    """Microseconds of CPU a request, of each round."""
    running = {p: p.start(bench, sc) for p in proxies}
    found = {p.name: [] for p in proxies}
    for p in proxies:
        bench.run(running[p], sc, 1)
    for n in range(opt.rounds):
        for p in proxies if n % 2 == 0 else proxies[::-1]:
            scraper = Scraper(p) if p.scraped else None
            got = bench.run(running[p], sc, opt.seconds)
            if scraper:
                scraper.stop()
            if any(got["errors"].values()):
                raise compare.Failure("%s: errors %s" % (p.name, got["errors"]))
            found[p.name].append(got["cpu_us"])
    for r in running.values():
        r.stop()
    return found


def collected(bench, proxy, sc, requests, scrapes):
    """Instructions of a whole life of the proxy."""
    port, out = bench.port(), os.path.join(bench.dir, "callgrind.%s" % proxy.name)
    argv = ["valgrind", "--tool=callgrind", "--callgrind-out-file=" + out] + proxy.command(bench, sc, port)
    process = compare.Process(bench, argv, None, "%s.log" % proxy.name, port)
    subprocess.run([os.path.join(TOP, "haload"), "-q", "-e", "-c", "64", "-n", str(requests),
                    "http://127.0.0.1:%d/" % port], check=True, stdout=subprocess.DEVNULL)
    for _ in range(scrapes):
        proxy.scrape()
    process.p.send_signal(signal.SIGTERM)
    process.p.wait(60)
    with open(out) as f:
        return int(re.search(r"^(?:summary|totals): (\d+)", f.read(), re.M).group(1))


def counts(bench, proxies, sc):
    """Instructions a request; prints those of a scrape."""
    found = {}
    for p in proxies:
        long = collected(bench, p, sc, LONG, 0)
        found[p.name] = [(long - collected(bench, p, sc, SHORT, 0)) / (LONG - SHORT)]
        if p.scraped:
            print("a scrape: %.0f instructions" % ((collected(bench, p, sc, LONG, SCRAPES) - long) / SCRAPES))
    return found


def main():
    opt = parse()
    for path in (opt.program, opt.uncounted):
        if not os.access(path, os.X_OK):
            sys.exit("stats_cost.py: there is no %s (make, make STATS=none)" % path)
    if os.geteuid() == 0:
        compare.own_network()
    bench = compare.Bench(types.SimpleNamespace(threads=1, cpu_proxy=opt.cpu_proxy, cpu_load=opt.cpu_load, keep=False,
                                                base_port=opt.base_port, client="load", conns=opt.conns,
                                                certificate="rsa"))
    proxies = [Proxy("uncounted", opt.uncounted, False), Proxy("counted", opt.program, True)]
    sc = compare.SCENARIOS["h1-keepalive"]
    try:
        bench.prepare()
        found = counts(bench, proxies, sc) if opt.instructions else times(bench, opt, proxies, sc)
    except compare.Failure as e:
        sys.exit("stats_cost.py: %s" % e)
    finally:
        bench.close()
    ratios = [a / b for a, b in zip(found["counted"], found["uncounted"])]
    for name, values in found.items():
        print("%-10s %8.2f %s a request" % (name, statistics.median(values),
                                          "instructions" if opt.instructions else "us of CPU"))
    print("ratio %.4f (%.4f..%.4f)" % (statistics.median(ratios), min(ratios), max(ratios)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
