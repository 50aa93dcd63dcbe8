#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Dumps of very many servers, in one backend and in many: each comes in pieces, so that a client who does not read costs
little memory and holds nobody; rows are complete, in order, each once, also when servers are removed meanwhile."""
import json
import re
import socket

import lib

MANY = 800
CONF = """
    stats timeout 10m
    nbthread 1
defaults
    mode http
    timeout connect 1s
    timeout client 30s
    timeout server 5s
frontend page
    bind 127.0.0.1:{port} name one
    bind 127.0.0.1:{second} name two
    bind 127.0.0.1:{third}-{last}
    option socket-stats
    stats uri /s
    http-request use-service prometheus-exporter if {{ path /metrics }}
backend large
    balance random
{servers}
{backends}
"""


def resident(proxy):
    with open("/proc/%d/status" % proxy.process.pid) as f:
        return int(re.search(r"VmRSS:\s*([0-9]+)", f.read()).group(1))


def asked(proxy, command):
    """A client which asked and has read nothing so far."""
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(lib.PATIENCE)
    s.connect(proxy.ctl_path)
    s.sendall(command.encode() + b"\n")
    return s


def fetch(port, target):
    s = lib.connect(port)
    try:
        s.sendall(b"GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n" % target.encode())
        return lib.Reader(s).response()[2].decode()
    finally:
        s.close()


def names_of(csv):
    return [tuple(l.split(",")[:2]) for l in csv.strip().split("\n")[1:]]


def deaf(tap, proxy, port):
    """What a client does not read is not made."""
    for what in ("show stat", "show stat typed", "show stat json", "show servers state", "show servers conn"):
        proxy.ctl("show info")
        before = resident(proxy)
        socks = [asked(proxy, what) for _ in range(2)]
        tap.ok("Name: HAProxy" in proxy.ctl("show info"), "%s, not read: others are served" % what)
        grown = resident(proxy) - before
        tap.ok(grown < 4096, "%s, not read: little memory" % what, grown)
        for s in socks:
            s.close()
    for what in ("/s", "/s;json", "/s;csv"):
        before = resident(proxy)
        socks = [lib.connect(port) for _ in range(2)]
        for s in socks:
            s.sendall(b"GET %s HTTP/1.1\r\nHost: x\r\n\r\n" % what.encode())
        tap.ok("Name: HAProxy" in proxy.ctl("show info"), "%s, not read: others are served" % what)
        grown = resident(proxy) - before
        tap.ok(grown < 4096, "%s, not read: little memory" % what, grown)
        for s in socks:
            lib.reset(s)


def complete(tap, proxy, port, want):
    csv = proxy.ctl("show stat")
    tap.eq(names_of(csv), want, "show stat: each row once, in order")
    tap.eq(names_of(fetch(port, "/s;csv")), want, "the page's CSV: the same rows")
    for name, text in (("show stat json", proxy.ctl("show stat json")), ("the page's JSON", fetch(port, "/s;json"))):
        rows = [tuple(f["value"]["value"] for f in r[:2]) for r in json.loads(text)]
        tap.eq(rows, want, "%s: the same rows" % name)
    html = re.findall(r'data-k="([^"]*)"', fetch(port, "/s"))
    tap.eq(html, ["/".join(r) for r in want], "the page: the same rows")
    servers = [r for r in want if r[0] != "page" and r[1] != "BACKEND"]
    text = fetch(port, "/metrics")
    got = re.findall(r'^haproxy_server_weight\{proxy="([^"]*)",server="([^"]*)"\}', text, re.M)
    tap.eq(got, servers, "the exporter: each server")
    got = re.findall(r'^haproxy_backend_agg_server_status\{proxy="([^"]*)",state="UP"\} (\d+)', text, re.M)
    count = {}
    for px, _ in servers:
        count[px] = count.get(px, 0) + 1
    tap.eq([(p, int(n)) for p, n in got], list(count.items()), "and how many of each backend are up")
    got = [tuple(l.split()[i] for i in (1, 3)) for l in proxy.ctl("show servers state").split("\n")[2:] if l]
    tap.eq(got, servers, "show servers state: each server")
    tap.eq(len(proxy.ctl("show servers conn").strip().split("\n")), 1 + len(servers), "show servers conn: each server")


def selected(tap, proxy, want):
    for command, rows in (("show stat large 4 17", [("large", "s17")]), ("show stat large 2 0", [("large", "BACKEND")]),
                          ("show stat page 8 -1", [r for r in want if r[0] == "page"][1:]),
                          ("show stat -1 1 0", [("page", "FRONTEND")]), ("show stat large 4 999999", [])):
        tap.eq(names_of(proxy.ctl(command)), rows, command)
    proxy.ctl("disable server large/s5")
    tap.ok(("large", "s5") not in names_of(proxy.ctl("show stat no-maint")), "no-maint leaves one out")
    tap.eq(len(names_of(proxy.ctl("show stat up"))), len(want) - 1, "up: all but one")
    proxy.ctl("enable server large/s5")


def removed(tap, proxy):
    """Servers leave while a dump stands among them, also the one on which it stands."""
    s = asked(proxy, "show stat json")
    start = s.recv(1000)
    for i in range(1, MANY - 20):
        if i % 50 == 1:
            proxy.ctl("disable server large/s%d; del server large/s%d" % (i, i))
    for i in range(1, 400):
        proxy.ctl("disable server large/s%d; del server large/s%d" % (i, i))
    rows = json.loads((start + lib.recv_all(s, 1 << 28)).decode())
    s.close()
    got = [r[1]["value"]["value"] for r in rows if r[0]["value"]["value"] == "large"]
    tap.ok(len(got) == len(set(got)) and got[-1] == "BACKEND", "no row twice, and the last one is there", got[-3:])
    left = set("s%d" % i for i in range(400, MANY + 1) if i % 50 != 1 or i >= MANY - 20)
    tap.ok(left <= set(got), "none is missing that stayed", sorted(left - set(got))[:5])
    tap.ok(len(names_of(proxy.ctl("show stat"))) < len(rows), "and later those that left are gone")


def main():
    args = lib.arguments(__doc__)
    tap = lib.Tap()
    if lib.is_reference(args.program):
        tap.skip("all", "the page and the exporter are of this program")
        tap.done()
    ports = lib.ports(6)
    ports.sort()
    first = ports[2]
    servers = "\n".join("    server s%d 127.0.0.1:%d" % (i, i) for i in range(1, MANY + 1))
    backends = "\n".join("backend b%d\n    server a 127.0.0.1:1\n    server b 127.0.0.1:1" % i for i in range(400))
    conf = CONF.format(port=ports[0], second=ports[1], third=first, last=first, servers=servers, backends=backends)
    want = [("page", "FRONTEND"), ("page", "one"), ("page", "two"), ("page", "sock-3")]
    want += [("large", "s%d" % i) for i in range(1, MANY + 1)] + [("large", "BACKEND")]
    for i in range(400):
        want += [("b%d" % i, "a"), ("b%d" % i, "b"), ("b%d" % i, "BACKEND")]
    with lib.Proxy(args.program, conf) as proxy:
        complete(tap, proxy, ports[0], want)
        selected(tap, proxy, want)
        deaf(tap, proxy, ports[0])
        removed(tap, proxy)
        tap.ok(proxy.alive(), "the process lives")
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
