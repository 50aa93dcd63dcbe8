#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Memory of objects of a cache: asks for many addresses through each proxy, whose configuration is that of `cache-1k`,
and divides what the process has grown by their number, and by the bytes of their heads and bodies.

    bench/cache_memory.py --proxy ours=./haproxy --proxy ref=PATH --objects 1000000
"""
import argparse
import os
import re
import socket
import sys
import types

import compare

SIZE = 1024


def parse():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--proxy", action="append", help="NAME=PROGRAM")
    p.add_argument("--objects", type=int, default=100000)
    p.add_argument("--base-port", type=int, default=23400)
    return p.parse_args()


def resident(pid):
    with open("/proc/%d/status" % pid) as f:
        return int(re.search(r"VmRSS:\s+(\d+)", f.read()).group(1)) * 1024


def fill(port, first, count):
    """Asks for so many addresses on one connection, a hundred in a row. Returns the bytes of one head."""
    s = socket.create_connection(("127.0.0.1", port))
    head, last = 0, first + count
    while first < last:
        some = range(first, min(first + 100, last))
        s.sendall(b"".join(b"GET /%07d?s=%d HTTP/1.1\r\nHost: h\r\n\r\n" % (n, SIZE) for n in some))
        got, data = 0, b""
        while got < len(some):
            part = s.recv(1 << 20)
            if not part:
                raise compare.Failure("the proxy has closed")
            data += part
            while True:
                end = data.find(b"\r\n\r\n")
                if end < 0 or len(data) < end + 4 + SIZE:
                    break
                head = end
                data = data[end + 4 + SIZE:]
                got += 1
        first += len(some)
    s.close()
    return head


def main():
    opt = parse()
    if os.geteuid() == 0:
        compare.own_network()
    bench = compare.Bench(types.SimpleNamespace(threads=1, cpu_proxy=0, cpu_load=1, keep=False, client="load",
                                                base_port=opt.base_port, conns=4, certificate="rsa"))
    try:
        bench.prepare()
        for name, path in [p.split("=", 1) for p in opt.proxy or []]:
            proxy, port = compare.Proxy(name, "haproxy", os.path.abspath(path)), bench.port()
            argv = proxy.command(bench, compare.SCENARIOS["cache-1k"], port)
            conf = argv[argv.index("-f") + 1]
            with open(conf) as f:
                text = f.read()
            with open(conf, "w") as f:
                f.write(text.replace("total-max-size 64", "total-max-size 4000"))
            process = compare.Process(bench, argv, None, "%s.log" % name, port)
            fill(port, 9000000, 1000)
            before = resident(process.p.pid)
            head = fill(port, 0, opt.objects)
            each = (resident(process.p.pid) - before) / opt.objects
            print("%-10s %8d objects of %d + %d bytes: %7.1f bytes each, %.2f of their size" %
                  (name, opt.objects, head, SIZE, each, each / (head + SIZE)), flush=True)
            process.p.terminate()
            process.p.wait(30)
    except compare.Failure as e:
        sys.exit("cache_memory.py: %s" % e)
    finally:
        bench.close()


if __name__ == "__main__":
    main()
