#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How exact a limit over several processes is: sums of stick tables (an extension).

Three processes share a table with `sum` and let LIMIT requests a second of one key pass, all together. CLIENTS ask as fast
as they can, each of one process. A process is killed a third of the time in, and is back at the second third. Prints what
passed in each part: a second's worth of 97 to 103 % is the aim.
"""
import argparse
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

CONF = """global
	localpeer %(name)s
	nbthread 1
defaults
	mode http
	timeout connect 5s
	timeout client 30s
	timeout server 5s
peers pp
%(lines)s
	table clients type string len 20 size 1k expire 10m store gpc0,gpc0_rate(1s) sum
frontend fe
	bind 127.0.0.1:%(http)d
	http-request track-sc0 str(all) table pp/clients
	http-request return status 429 if { sc_gpc0_rate(0) ge %(limit)d }
	http-request sc-inc-gpc0(0)
	http-request return status 200
"""


def ports(n):
    socks = [socket.create_server(("127.0.0.1", 0)) for _ in range(n)]
    out = [s.getsockname()[1] for s in socks]
    for s in socks:
        s.close()
    return out


class Clients:
    """Each asks its process again and again, with a pause; <passed> has the moments of what passed."""

    def __init__(self, https, count, pause):
        self.passed, self.failed, self.over = [], 0, False
        self.threads = [threading.Thread(target=self.run, args=(https[i % len(https)], pause)) for i in range(count)]
        for t in self.threads:
            t.start()

    def run(self, port, pause):
        sock = None
        while not self.over:
            try:
                if not sock:
                    sock = socket.create_connection(("127.0.0.1", port), 2)
                sock.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
                head = sock.recv(4096)
                if not head:
                    raise OSError
                if head.startswith(b"HTTP/1.1 200"):
                    self.passed.append(time.monotonic())
            except OSError:
                self.failed += 1
                sock = None
                time.sleep(0.1)
            time.sleep(pause)

    def end(self):
        self.over = True
        for t in self.threads:
            t.join()


def start(program, folder, name, lines, http, limit):
    path = os.path.join(folder, name + ".cfg")
    with open(path, "w") as f:
        f.write(CONF % {"name": name, "lines": lines, "http": http, "limit": limit})
    return subprocess.Popen([program, "-db", "-f", path], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--program", default="./haproxy")
    p.add_argument("--seconds", type=float, default=60)
    p.add_argument("--clients", type=int, default=30)
    p.add_argument("--limit", type=int, default=100)
    p.add_argument("--pause", type=float, default=0.03, help="seconds between two requests of a client")
    args = p.parse_args()
    names, own, https = "abc", ports(3), ports(3)
    lines = "\n".join("\tpeer %s 127.0.0.1:%d" % x for x in zip(names, own))
    with tempfile.TemporaryDirectory(prefix="bench-sums.") as folder:
        made = [start(args.program, folder, n, lines, h, args.limit) for n, h in zip(names, https)]
        time.sleep(2)
        clients = Clients(https, args.clients, args.pause)
        time.sleep(2)
        begin, third = time.monotonic(), args.seconds / 3
        time.sleep(third)
        made[1].send_signal(signal.SIGKILL)
        made[1].wait()
        time.sleep(third)
        made[1] = start(args.program, folder, "b", lines, https[1], args.limit)
        time.sleep(third)
        clients.end()
        for m in made:
            m.terminate()
            m.wait()
    parts = [sum(begin + i * third <= t < begin + (i + 1) * third for t in clients.passed) / third for i in range(3)]
    for what, rate in zip(("all three", "one killed", "it is back"), parts):
        print("%-12s %6.1f/s  %5.1f %%" % (what, rate, rate * 100 / args.limit))
    rate = sum(parts) / 3
    print("%-12s %6.1f/s  %5.1f %%" % ("together", rate, rate * 100 / args.limit))
    return 0


if __name__ == "__main__":
    sys.exit(main())
