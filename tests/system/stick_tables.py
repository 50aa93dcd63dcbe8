#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Clients that come, ask, break off and vanish on four threads, while tables are shown, changed, cleared and full,
and, but with the reference, while the configuration is reloaded. When all have gone, nothing is held, no connection is
counted any more, and all requests were.

    stick_tables.py --seconds 120      the long run; made for SAN=address and SAN=thread
"""
import random
import re
import socket
import struct
import threading
import time

import lib

CONF = """
	nbthread 4
	tune.stick-counters 4
defaults
	mode http
	timeout connect 5s
	timeout client 5s
	timeout server 5s
frontend fe
	bind 127.0.0.1:{p[0]}
	tcp-request connection track-sc0 src table clients
	http-request track-sc1 path table paths
	http-request track-sc2 path,field(2,/) table small
	http-request sc-inc-gpc0(0)
	http-request deny if {{ path_beg /deny }}
	http-request return status 200 hdr n %[sc1_http_req_cnt] if {{ path_beg /own }}
	default_backend be
backend be
	balance roundrobin
	stick on path table sticky
	http-response track-sc3 str(all) table small
	server s1 127.0.0.1:{s}
	server s2 127.0.0.1:{s}
backend clients
	stick-table type ipv6 size {size} expire 1h store conn_cnt,conn_cur,sess_cnt,http_req_cnt,http_err_cnt,gpc0,bytes_out_rate(1s)
backend paths
	stick-table type string len 20 size 2k expire 1s store conn_cur,http_req_cnt,http_req_rate(100)
backend small
	stick-table type string len 20 size 3 store conn_cur,conn_cnt
backend sticky
	stick-table type string len 20 size 50 srvkey addr
"""

TABLES = ("clients", "paths", "small", "sticky")


class Crowd:
    def __init__(self, port, seed):
        self.port, self.random = port, random.Random(seed)
        self.asked = self.denied = self.connections = 0

    def path(self):
        return "/%s/%d" % (self.random.choice(("own", "deny", "far", "x%d" % self.random.randrange(9))),
                           self.random.randrange(4000))

    def one(self):
        r = self.random
        s = lib.connect(self.port)
        self.connections += 1
        reader = lib.Reader(s)
        for _ in range(r.randrange(6)):
            path = self.path()
            s.sendall(b"GET %s HTTP/1.1\r\nHost: a\r\n\r\n" % path.encode())
            self.asked += 1
            self.denied += path.startswith("/deny")
            if r.random() < .1:
                break  # leaves without its answer, which may not be looked for
            if not reader.response():
                break
        if r.random() < .2:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        s.close()

    def run(self, until):
        while time.monotonic() < until:
            try:
                self.one()
            except OSError:
                pass


def disturb(proxy, until, reference, conf, failures):
    r = random.Random(5)
    while time.monotonic() < until:
        command = r.choice((
            "show table", "show table paths", "show table paths data.http_req_cnt gt 1", "show table sticky",
            "set table paths key /own/%d data.http_req_cnt 1" % r.randrange(4000),
            "clear table paths data.http_req_cnt gt 3", "clear table sticky", "set table sticky key /far/1 data.server_id 2",
            "clear table small", "reload"))
        if command == "reload":
            if reference:
                continue
            text = conf(r.choice((100, 5000)))
            with open(proxy.conf_path) as f:
                first = "".join(f.readlines()[:2])
            with open(proxy.conf_path, "w") as f:
                f.write(first + text)
        try:
            answer = proxy.ctl(command)
        except OSError as e:
            failures.append("%s: %s" % (command, e))
            return
        if command == "reload" and "Success=1" not in answer:
            failures.append(answer)
        time.sleep(.01)


def shown(proxy, table):
    return [dict(re.findall(r"(\S+?)(?:\(\d+\))?=(\S+)", line)) for line in
            proxy.ctl("show table " + table).splitlines() if "key=" in line]


def main():
    args = lib.arguments(__doc__, ("seconds", 4.0, "how long"))
    tap, reference = lib.Tap(), lib.is_reference(args.program)
    p, server = lib.ports(1), lib.Server(lib.echo_handler)

    def conf(size):
        return CONF.format(p=p, s=server.port, size=size)

    with lib.Proxy(args.program, conf(100)) as proxy:
        until, failures = time.monotonic() + args.seconds, []
        crowds = [Crowd(p[0], i) for i in range(6)]
        threads = [threading.Thread(target=c.run, args=(until,)) for c in crowds]
        threads.append(threading.Thread(target=disturb, args=(proxy, until, reference, conf, failures)))
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        tap.eq(failures, [], "commands and reloads are carried out")
        asked, denied = sum(c.asked for c in crowds), sum(c.denied for c in crowds)
        connections = sum(c.connections for c in crowds)
        print("# %d requests on %d connections" % (asked, connections))
        tap.ok(asked > 100, "there was traffic", "%d requests" % asked)

        def idle():
            return all(e["use"] == "0" and e.get("conn_cur", "0") == "0" for t in TABLES for e in shown(proxy, t))
        if not tap.ok(lib.until(idle), "nothing is held, no connection counted any more"):
            print("# " + "\n# ".join(str(e) for t in TABLES for e in shown(proxy, t) if e["use"] != "0")[:2000])
        client = shown(proxy, "clients")[0]
        tap.eq(int(client["conn_cnt"]), connections, "each connection was counted once")
        # a request that was cut off before it was complete may not have come; one that was reset may not have been read
        tap.ok(asked * .85 <= int(client["gpc0"]) <= asked, "and each request",
               "%s of %d" % (client["gpc0"], asked))
        tap.ok(int(client["http_err_cnt"]) >= denied * .8, "with its errors",
               "%s of %d" % (client["http_err_cnt"], denied))
        tap.ok(len(shown(proxy, "small")) <= 3 and len(shown(proxy, "sticky")) <= 50, "no table is above its size")
        tap.ok(lib.until(lambda: "used:0" in proxy.ctl("show table paths")), "what expires goes")
        proxy.stop()
        text = proxy.output()
        tap.ok("Sanitizer" not in text and "BUG" not in text, "no sanitizer has anything to say",
               text[max(0, text.find("Sanitizer") - 200):][:4000])
    server.close()
    tap.done()


lib.guarded(main)
