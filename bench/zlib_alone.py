#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compression by zlib in each proxy beside zlib alone (src/deflate.c), of the same text at the same level: CPU time of an answer
that the proxy compresses, of one that it passes on, and of zlib alone; what compression adds, and the whole, as parts of the latter.

    bench/zlib_alone.py --proxy new=./haproxy --rounds 3 --time 2
"""
import argparse
import os
import re
import statistics
import subprocess
import sys
import types
import urllib.request

import compare

SIZES = (16384, 1 << 20)


def parse():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--proxy", action="append", default=[], help="NAME=PROGRAM")
    p.add_argument("--level", type=int, default=1)
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--time", type=float, default=2, help="seconds of each run")
    p.add_argument("--conns", type=int, default=1, help="at once: each has a state of its own, of 268 kB, which the caches of a CPU see")
    p.add_argument("--base-port", type=int, default=23800)
    return p.parse_args()


def start(bench, proxy, level):
    """The proxy of the scenarios compress-*, with zlib for its engine."""
    port = bench.port()
    argv = proxy.command(bench, compare.SCENARIOS["compress-16k"], port)
    conf = argv[argv.index("-f") + 1]
    with open(conf) as f:
        text = f.read()
    more = "    tune.comp.maxlevel %d\n" % level
    if subprocess.run([proxy.path, "-cc", "feature(ISAL)"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0:
        more += "    tune.comp.isal off\n"
    with open(conf, "w") as f:
        f.write(re.sub(r"^global\n", lambda m: m[0] + more, text, flags=re.M))
    process = compare.Process(bench, argv, bench.cpu_proxy, "%s.log" % proxy.name, port)
    return compare.Running(proxy, process, port)


def alone(bench, tool, size, opt):
    name = os.path.join(bench.dir, "text.%d" % size)
    if not os.path.exists(name):
        with open(name, "wb") as f, urllib.request.urlopen("http://127.0.0.1:%d/?s=%d" % (bench.backend_ports[0], size)) as r:
            f.write(r.read())
    out = subprocess.run([tool, name, str(opt.level), str(opt.time)], stdout=subprocess.PIPE, check=True, text=True,
                         preexec_fn=compare.starter(bench.cpu_proxy, bench.nofile)).stdout.split()
    return float(out[0]), int(out[1])


def load(bench, running, size, secs, accept):
    sc = compare.Scenario("compress", "", (compare.GZIP if accept else []) + ["-c", str(bench.opt.conns)], size=size, wrk=False)
    got = bench.run(running, sc, secs)
    if any(got["errors"].values()) or not got["requests"]:
        raise compare.Failure("errors: %s" % got["errors"])
    return got["cpu_us"], got["bytes"] / got["requests"]


def main():
    opt = parse()
    if os.geteuid() == 0:
        compare.own_network()
    bench = compare.Bench(types.SimpleNamespace(threads=1, cpu_proxy=0, cpu_load=1, keep=False, client="load",
                                                base_port=opt.base_port, conns=opt.conns, certificate="rsa"))
    tool = os.path.join(bench.dir, "deflate")
    try:
        bench.prepare()
        subprocess.run(["cc", "-O2", "-o", tool, os.path.join(compare.HERE, "src/deflate.c"), "-lz"], check=True)
        proxies = [start(bench, compare.Proxy(n, "haproxy", os.path.abspath(p)), opt.level) for n, p in
                   (x.split("=", 1) for x in opt.proxy)]
        print("%-9s %-8s %11s %11s %11s %7s %7s %11s" % ("body", "proxy", "zlib us", "passed us", "whole us", "added", "whole", "bytes"))
        for size in SIZES:
            rows = {p.proxy.name: [] for p in proxies}
            for _ in range(opt.rounds):
                for p in proxies:
                    zlib, best = alone(bench, tool, size, opt)
                    whole, made = load(bench, p, size, opt.time, True)
                    passed, _ = load(bench, p, size, opt.time / 2, False)
                    rows[p.proxy.name].append((zlib, passed, whole, (whole - passed) / zlib, whole / zlib, made / best))
            for name, rounds in rows.items():
                print("%-9d %-8s %11.1f %11.1f %11.1f %7.3f %7.3f %11.3f" % ((size, name) + tuple(
                    statistics.median(r[i] for r in rounds) for i in range(6))), flush=True)
    except compare.Failure as e:
        sys.exit("zlib_alone.py: %s" % e)
    finally:
        bench.close()


if __name__ == "__main__":
    main()
