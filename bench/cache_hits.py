#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Hit ratio of caches: the same seeded sequence of requests, in which few of many objects are wanted often (Zipf), goes
through each, on one connection; the origin counts what it is asked for. What is in the cache comes to a twentieth of all.

    bench/cache_hits.py --proxy ours=./haproxy --proxy ref=PATH --varnish varnishd --exponent 0.9

Sizes of objects are 200 B to 64 kB, most of them small. The first third of the requests fills the cache, and does not count.
"""
import argparse
import bisect
import itertools
import os
import random
import shutil
import socket
import subprocess
import tempfile
import threading
import time

CONF = """global
	nbthread 1
	stats socket {folder}/ctl level admin
defaults
	mode http
	timeout connect 5s
	timeout client 60s
	timeout server 60s
listen fe
	bind 127.0.0.1:{port}
	http-reuse always
	http-request cache-use c
	http-response cache-store c
	server s 127.0.0.1:{origin}
cache c
	total-max-size {mb}
	max-object-size 100000
	max-age 86400
"""
BATCH = 40


def parse():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--proxy", action="append", default=[], help="NAME=PROGRAM")
    p.add_argument("--varnish", help="varnishd")
    p.add_argument("--objects", type=int, default=100000)
    p.add_argument("--requests", type=int, default=300000)
    p.add_argument("--exponent", type=float, action="append", help="of Zipf's law; may be given more than once (0.9)")
    p.add_argument("--share", type=float, default=0.05, help="of all bytes, in the cache")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--base-port", type=int, default=23600)
    return p.parse_args()


def sizes_of(count, rng):
    return [min(65536, max(200, int(rng.lognormvariate(8, 1)))) for _ in range(count)]


def sequence(count, objects, exponent, rng):
    """Numbers of objects; which of them is popular has nothing to do with its size."""
    sums = list(itertools.accumulate(1 / (i + 1) ** exponent for i in range(objects)))
    names = list(range(objects))
    rng.shuffle(names)
    return [names[bisect.bisect_left(sums, rng.random() * sums[-1])] for _ in range(count)]


class Origin:
    """Answers /N with an object of its size; counts."""

    def __init__(self, port, sizes):
        self.sizes, self.count, self.bytes = sizes, 0, 0
        self.body = bytes(max(sizes))
        self.sock = socket.create_server(("127.0.0.1", port), backlog=64)
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            s, _ = self.sock.accept()
            s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self.serve, args=(s,), daemon=True).start()

    def serve(self, s):
        data = b""
        while True:
            more = s.recv(65536)
            if not more:
                return
            data += more
            *heads, data = data.split(b"\r\n\r\n")
            for head in heads:
                size = self.sizes[int(head.split(b" ", 2)[1][1:])]
                self.count += 1
                self.bytes += size
                s.sendall(b"HTTP/1.1 200 OK\r\ncache-control: max-age=86400\r\ncontent-length: %d\r\n\r\n" % size + self.body[:size])


def receive(s, count, data):
    """So many answers, none of which has the end of a head in its body. Returns what is behind them."""
    for _ in range(count):
        while (end := data.find(b"\r\n\r\n")) < 0:
            data += s.recv(1 << 18)
        head = data[:end].lower()
        if not head.startswith(b"http/1.1 200"):
            raise RuntimeError(head.decode("latin-1"))
        need = end + 4 + int(head.split(b"content-length: ")[1].split(b"\r", 1)[0])
        while len(data) < need:
            data += s.recv(1 << 18)
        data = data[need:]
    return data


def play(port, wanted):
    s, data = socket.create_connection(("127.0.0.1", port), 60), b""
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for i in range(0, len(wanted), BATCH):
        some = wanted[i:i + BATCH]
        s.sendall(b"".join(b"GET /%d HTTP/1.1\r\nHost: h\r\n\r\n" % n for n in some))
        data = receive(s, len(some), data)
    s.close()


def start(kind, program, folder, port, origin, mb):
    if kind == "varnish":
        command = [program, "-F", "-j", "none", "-n", folder + "/v", "-a", "127.0.0.1:%d" % port, "-b", "127.0.0.1:%d" % origin,
                   "-s", "malloc,%dM" % mb, "-s", "Transient=malloc,%dM" % mb, "-p", "default_grace=0", "-p", "default_keep=0"]
    else:
        with open(folder + "/cfg", "w") as f:
            f.write(CONF.format(folder=folder, port=port, origin=origin, mb=mb))
        command = [program, "-db", "-f", folder + "/cfg"]
    p = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(300):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return p
        except OSError:
            time.sleep(0.1)
    raise RuntimeError("%s does not start" % program)


def measure(kind, program, args, exponent, ports):
    """(hit ratio of requests, of bytes)"""
    sizes = sizes_of(args.objects, random.Random(args.seed))
    wanted = sequence(args.requests, args.objects, exponent, random.Random(args.seed + 1))
    mb = max(1, round(sum(sizes) * args.share / (1 << 20)))
    origin, folder = Origin(ports[1], sizes), tempfile.mkdtemp()
    p = start(kind, program, folder, ports[0], ports[1], mb)
    try:
        warm = len(wanted) // 3
        play(ports[0], wanted[:warm])
        origin.count = origin.bytes = 0
        play(ports[0], wanted[warm:])
    finally:
        p.terminate()
        p.wait()
        shutil.rmtree(folder, ignore_errors=True)
        origin.sock.close()
    rest = wanted[warm:]
    return 1 - origin.count / len(rest), 1 - origin.bytes / sum(sizes[n] for n in rest), mb


def main():
    args = parse()
    caches = [(*x.split("=", 1), "haproxy") for x in args.proxy] + ([("varnish", args.varnish, "varnish")] if args.varnish else [])
    port = args.base_port
    print("%-10s %8s %8s %8s %8s" % ("cache", "exponent", "MB", "hits", "bytes"))
    for exponent in args.exponent or [0.9]:
        for name, program, kind in caches:
            hits, by_bytes, mb = measure(kind, os.path.abspath(shutil.which(program) or program), args, exponent, (port, port + 1))
            port += 2
            print("%-10s %8.2f %8d %7.2f%% %7.2f%%" % (name, exponent, mb, 100 * hits, 100 * by_bytes), flush=True)


if __name__ == "__main__":
    main()
