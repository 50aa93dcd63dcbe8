#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How exact bandwidth limits are: bwlim-in and bwlim-out, of each stream and of a key that all share, with 1, 100 and 1,000
streams at once that take or give as much as they can. Prints what the receiving end got in SECONDS from its first byte on, in
percent of the limit: of the streams the least, the median and the most, of a key their sum and the unfairest; and the CPU.
<late>: the longest turn of this program's own loop; where it is long, the machine was too busy to measure.

    bench/limits.py --proxy ref=haproxy --proxy new=./haproxy
"""
import argparse
import os
import resource
import selectors
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CONF = """global
    nbthread 1
    maxconn 4000
defaults
    mode %(mode)s
    timeout connect 5s
    timeout client 1m
    timeout server 1m
frontend fe
    bind 127.0.0.1:%(port)d backlog 2000
    stick-table type ip size 10 expire 1h store bytes_in_rate(%(period)s),bytes_out_rate(%(period)s)
    filter bwlim-%(side)s l %(filter)s %(more)s
    %(rules)s
    default_backend be
backend be
    server s 127.0.0.1:%(server)d maxconn 4000
"""
PIECE = b"x" * 65536
ENDLESS = 1 << 40


class Stream:
    """One exchange: what its receiving end has got, and when."""

    def __init__(self, seconds):
        self.seconds, self.begun, self.got, self.total = seconds, None, 0, 0
        self.moments = []

    def count(self, n, now):
        if not n:
            return
        if self.begun is None:
            self.begun = now
        if now <= self.begun + self.seconds:
            self.got += n
        self.moments.append((now, n))


class End:
    """A socket of a client or a server: reads a head, then counts or sends."""

    def __init__(self, loop, sock, sends, stream=None, say=b""):
        self.loop, self.sock, self.sends, self.stream = loop, sock, sends, stream
        self.head, self.say, self.writing = b"", say, None
        sock.setblocking(False)
        loop.register(sock, selectors.EVENT_READ | (selectors.EVENT_WRITE if say or sends else 0), self)

    def write(self):
        try:
            if self.say:
                self.say = self.say[self.sock.send(self.say):]
            for _ in range(16 if self.sends and not self.say else 0):
                self.sock.send(PIECE)
        except BlockingIOError:
            pass
        if not self.say and not self.sends:
            self.loop.modify(self.sock, selectors.EVENT_READ, self)

    def read(self, now, streams):
        try:
            data = self.sock.recv(1 << 20)
        except BlockingIOError:
            return
        if not data:
            self.loop.unregister(self.sock)
            return
        if self.stream and not self.sends:
            if self.head is not None:
                data = self.past_head(data)
            self.stream.count(len(data), now)
        elif not self.stream:
            data = self.past_head(data)
            if self.head is None:
                self.stream = streams[self.number]
                self.sends = self.get
                if self.get:
                    self.say = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % ENDLESS
                    self.loop.modify(self.sock, selectors.EVENT_READ | selectors.EVENT_WRITE, self)
                self.stream.count(0 if self.get else len(data), now)

    def past_head(self, data):
        """What of <data> is behind the head; self.head becomes None with its end."""
        self.head += data
        at = self.head.find(b"\r\n\r\n")
        if at < 0:
            return b""
        line = self.head.split(b"\r\n")[0].split(b" ")
        self.get, self.number = line[0] == b"GET", int(line[1][1:]) if line[0] in (b"GET", b"POST") else 0
        rest, self.head = self.head[at + 4:], None
        return rest


def accept_all(loop, listen, ends):
    try:
        while True:
            ends.append(End(loop, listen.accept()[0], False))
    except BlockingIOError:
        pass


def run(program, opt, side, shared, count):
    """The limit, the streams of one case, the proxy's seconds of CPU, the longest turn of the loop."""
    folder = tempfile.mkdtemp(prefix="bench-limits.")
    listen = socket.create_server(("127.0.0.1", 0), backlog=2000)
    with socket.create_server(("127.0.0.1", 0)) as s:
        port = s.getsockname()[1]
    limit = opt.total if shared else opt.total // count
    rule = "http-request set-bandwidth-limit l"
    conf = CONF % {"mode": "http", "port": port, "server": listen.getsockname()[1], "side": side, "rules": rule,
                   "period": opt.period, "more": opt.more,
                   "filter": ("limit %d key src" if shared else "default-limit %d default-period " + opt.period) % limit}
    with open(folder + "/conf", "w") as f:
        f.write(conf)
    process = subprocess.Popen([program, "-db", "-f", folder + "/conf"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    loop = selectors.EpollSelector()
    listen.setblocking(False)
    loop.register(listen, selectors.EVENT_READ)
    streams = [Stream(opt.seconds) for _ in range(count)]
    for _ in range(100):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            break
        except OSError:
            time.sleep(0.05)
    ends, asked, before, late, now = [], 0, cpu(process.pid), 0, None
    over = time.monotonic() + opt.seconds + 30
    while time.monotonic() < over:
        for _ in range(min(50, count - asked)):
            say = (b"GET /%d HTTP/1.1\r\nHost: x\r\n\r\n" % asked if side == "out" else
                   b"POST /%d HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % (asked, ENDLESS))
            sock = socket.create_connection(("127.0.0.1", port))
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            ends.append(End(loop, sock, side == "in", streams[asked], say))
            asked += 1
        time.sleep(0.01)
        last, events, now = now, loop.select(1), time.monotonic()
        late = max(late, now - last) if asked == count and last else 0
        for key, mask in events:
            if key.data is None:
                accept_all(loop, listen, ends)
                continue
            if mask & selectors.EVENT_READ:
                key.data.read(now, streams)
            if mask & selectors.EVENT_WRITE:
                key.data.write()
        if all(s.begun is not None and now > s.begun + opt.seconds for s in streams):
            break
    used = cpu(process.pid) - before
    for e in ends:
        e.sock.close()
    listen.close()
    process.terminate()
    process.wait()
    shutil.rmtree(folder, ignore_errors=True)
    return limit, streams, used, late


def cpu(pid):
    with open("/proc/%d/stat" % pid) as f:
        words = f.read().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def show(name, opt, side, shared, count, result):
    periods = {"s": 1, "m": 60}
    period = float(opt.period[:-2]) / 1000 if opt.period.endswith("ms") else float(opt.period[:-1]) * periods[opt.period[-1]]
    limit, streams, used, late = result
    full = limit / period * opt.seconds
    if shared:
        first = min((s.begun for s in streams if s.begun is not None), default=0)
        moved = sum(n for s in streams for t, n in s.moments if t <= first + opt.seconds)
        share = sorted(sum(n for t, n in s.moments if t <= first + opt.seconds) * count / max(1, moved) for s in streams)
        text = "sum %6.1f %%   of an even share: %.2f to %.2f" % (moved * 100 / full, share[0], share[-1])
    else:
        parts = sorted(s.got * 100 / full for s in streams)
        text = "least %6.1f  median %6.1f  most %6.1f %%" % (parts[0], statistics.median(parts), parts[-1])
    print("%-6s %-4s %-7s %5d  %s   CPU %.2f s  late %.0f ms" %
          (name, side, "key" if shared else "stream", count, text, used, late * 1000), flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--proxy", action="append", metavar="NAME=PROGRAM", default=[])
    p.add_argument("--seconds", type=float, default=10)
    p.add_argument("--period", default="1s")
    p.add_argument("--total", type=int, default=10000000, help="bytes of a period, of all streams together")
    p.add_argument("--streams", default="1,100,1000")
    p.add_argument("--sides", default="out,in")
    p.add_argument("--kinds", default="stream,key")
    p.add_argument("--more", default="", help="words for the filter: min-size 2k")
    opt = p.parse_args()
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    programs = [x.split("=", 1) for x in opt.proxy] or [["new", os.path.join(TOP, "haproxy")]]
    for side in opt.sides.split(","):
        for kind in opt.kinds.split(","):
            for count in map(int, opt.streams.split(",")):
                for name, program in programs:
                    show(name, opt, side, kind == "key", count, run(program, opt, side, kind == "key", count))


if __name__ == "__main__":
    sys.exit(main())
