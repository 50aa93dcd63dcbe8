#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""User-space instructions of a request, counted by callgrind: each proxy lives twice under it, for a short and a long
run, and the difference is of the requests alone. What else the machine does does not matter, and the kernel's part is
not seen. haload of this tree asks, the origin of bench answers.

    bench/instructions.py --proxy before=../before/haproxy --proxy now=./haproxy
    bench/instructions.py --proxy now=./haproxy --scenario h2c --conns 1
"""
import argparse
import os
import re
import signal
import statistics
import subprocess
import sys
import types

import compare

TOP = os.path.dirname(compare.HERE)
GZIP = ["-H", "accept-encoding: gzip"]
# what is asked for: the scenario of compare.py whose configuration it has, arguments of haload, what one is called
KINDS = {
    "h1": ("h1-keepalive", [], "a kept request"),
    "h1-close": ("h1-close", ["-r", "1"], "a request on its own connection"),
    "h2c": ("h2c", ["-2", "-m", "8"], "a stream of HTTP/2"),
    "tls": ("tls-keepalive", [], "a kept request over TLS"),
    "tls-close": ("tls-full", ["-r", "1"], "a request with a handshake"),
    "tcp": ("tcp", [], "an exchange in mode tcp"),
    "lua-action": ("lua-action", [], "a kept request, an action of Lua"),
    "lua-converter": ("lua-converter", [], "a kept request, a converter of Lua"),
    "lua-service": ("lua-service", [], "a kept request, a service of Lua"),
    "compress-16k": ("compress-16k", GZIP, "16 KB of text, compressed"),
    "compress-1m": ("compress-1m", GZIP, "1 MB of text, compressed"),
    "cache-1k": ("cache-1k", [], "a hit of 1 KB"),
    "cache-100k": ("cache-100k", [], "a hit of 100 KB"),
    "spoe": ("spoe", [], "a kept request, an SPOE message"),
    "fcgi": ("fcgi", [], "a kept request, FastCGI"),
    "forward-auth": ("forward-auth", [], "a kept request, forward-auth remembers"),
    "telemetry-none": ("telemetry-none", [], "a kept request, as the next two untraced"),
    "telemetry": ("telemetry", [], "a kept request, traced, 1 % sampled"),
    "telemetry-silent": ("telemetry-silent", [], "the same with unsampled silent"),
    "log-udp": ("log-udp", [], "a kept request, httplog over UDP"),
    "log-file": ("log-file", [], "a kept request, httplog json to a file"),
    "mirror": ("mirror", [], "a kept request and its copy"),
    "stick": ("stick", [], "a kept request that is tracked"),
}


def parse():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--proxy", action="append", help="NAME=PROGRAM; the others are compared with the first")
    p.add_argument("--scenario", default="h1,h2c,tls", help="of " + " ".join(KINDS))
    p.add_argument("--conns", type=int, default=4)
    p.add_argument("--requests", type=int, default=4000, help="by which the long run is longer")
    p.add_argument("--rounds", type=int, default=1, help="all are counted so often, in turns; the medians are shown")
    p.add_argument("--keep", metavar="DIR", help="keep the long runs' files for callgrind_annotate there")
    p.add_argument("--base-port", type=int, default=23000)
    return p.parse_args()


def turns(text):
    """How often the program has asked for events, by a file of callgrind."""
    number = re.search(r"^c?fn=\((\d+)\) epoll_wait$", text, re.M)
    return sum(map(int, re.findall(r"^cfn=\(%s\).*\ncalls=(\d+)" % number.group(1), text, re.M))) if number else 0


def lived(bench, proxy, kind, opt, requests, out):
    """Instructions of a whole life of the proxy, and turns of its loop."""
    sc, args, _ = KINDS[kind]
    sc, port = compare.SCENARIOS[sc], bench.port()
    argv = ["valgrind", "--tool=callgrind", "--callgrind-out-file=" + out] + proxy.command(bench, sc, port)
    process = compare.Process(bench, argv, None, "%s.log" % proxy.name, port)
    subprocess.run([os.path.join(TOP, "haload"), "-q", "-e", "-c", str(opt.conns), "-n", str(requests)] + args +
                   ["http%s://127.0.0.1:%d%s" % ("s" if sc.tls else "", port, sc.path)], check=True,
                   stdout=subprocess.DEVNULL)
    process.p.send_signal(signal.SIGTERM)
    process.p.wait(60)
    with open(out) as f:
        text = f.read()
    return int(re.search(r"^(?:summary|totals): (\d+)", text, re.M).group(1)), turns(text)


def per_request(bench, proxy, kind, opt):
    base = os.path.join(opt.keep or bench.dir, "callgrind.%s.%s" % (proxy.name, kind))
    few = opt.requests // 4
    many = few + opt.requests
    long, short = lived(bench, proxy, kind, opt, many, base), lived(bench, proxy, kind, opt, few, base + ".short")
    return (long[0] - short[0]) / opt.requests, (long[1] - short[1]) / opt.requests


def main():
    opt = parse()
    named = [p.split("=", 1) for p in opt.proxy or ["ours=" + os.path.join(TOP, "haproxy")]]
    if os.geteuid() == 0:
        compare.own_network()
    bench = compare.Bench(types.SimpleNamespace(threads=1, cpu_proxy=0, cpu_load=1, keep=False, client="load",
                                                base_port=opt.base_port, conns=opt.conns, certificate="rsa"))
    try:
        bench.prepare()
        kinds, counted = opt.scenario.split(","), {}
        # with some connections a turn of the program's loop serves one of them or more, as it happens
        for _ in range(opt.rounds):
            for kind in kinds:
                for name, path in named:
                    proxy = compare.Proxy(name, "haproxy", os.path.abspath(path))
                    counted.setdefault((kind, name), []).append(per_request(bench, proxy, kind, opt))
        for kind in kinds:
            first = None
            for name, _ in named:
                n, loops = (statistics.median(column) for column in zip(*counted[kind, name]))
                first = first or n
                print("%-10s %-10s %9.0f instructions %-32s %+.2f %%, %.2f turns" % (
                    kind, name, n, KINDS[kind][2], 100 * (n / first - 1), loops), flush=True)
    except compare.Failure as e:
        sys.exit("instructions.py: %s" % e)
    finally:
        bench.close()


if __name__ == "__main__":
    main()
