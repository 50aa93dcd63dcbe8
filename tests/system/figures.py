#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The figures of both programs after the same scripted traffic: `show info`, `show stat` (CSV, typed, JSON), `show
servers state` and the page's forms have the same rows, fields, order, types and tags, and the same values where neither
time nor the machine plays a part. Needs the reference program (--reference, or $REFERENCE)."""
# differs: rewritten-bytes
import json
import os
import re
import urllib.request

import lib


CONF = """
    nbthread 1
    maxconn 500
    node here
    description "some, words"
defaults
    mode http
    timeout connect 1s
    timeout client 5s
    timeout server 5s
    retries 1
frontend web
    id 10
    maxconn 100
    bind 127.0.0.1:{web} name first
    option socket-stats
    rate-limit sessions 1000
    stats uri /stats
    stats show-legends
    description a frontend
    http-request deny if {{ path /denied }}
    http-request return status 200 content-type text/plain string own if {{ path /own }}
    http-response deny if {{ status 418 }}
    use_backend none if {{ path /none }}
    use_backend refused if {{ path /refused }}
    use_backend limits if {{ path /limits }}
    default_backend app
backend app
    id 20
    balance roundrobin
    cookie SRV insert indirect nocache
    option httpchk GET /health
    fullconn 50
    server a 127.0.0.1:{origin} id 5 cookie ca check inter 100ms fastinter 100ms weight 30
    server b 127.0.0.1:{origin} cookie cb check inter 100ms weight 0 disabled
    server c 127.0.0.1:{origin} backup track app/a
    server d 127.0.0.1:{closed} check inter 100ms fall 1
backend limits
    option http-server-close
    server l 127.0.0.1:{origin} maxconn 2 minconn 1 maxqueue 10
backend none
backend refused
    server r 127.0.0.1:{closed}
listen raw
    mode tcp
    bind 127.0.0.1:{raw}
    server t 127.0.0.1:{origin} check inter 100ms agent-check agent-port {agent} agent-inter 100ms weight 100
frontend off
    bind 127.0.0.1:{off}
    disabled
"""

# Values that depend on time, speed, the machine or the moment, of any object.
CHANGING = set("""
    scur smax rate rate_max req_rate req_rate_max conn_rate conn_rate_max lastchg downtime lastsess qtime ctime rtime ttime
    qtime_max ctime_max rtime_max ttime_max check_duration agent_duration check_status addr idle_conn_cur safe_conn_cur
    srv_icur used_conn_cur need_conn_est agent_status last_agt pid chkfail chkdown eint
    """.split())
# What this program counts in another way, with the reason.
OTHERWISE = {
    "bin": "the reference counts other bytes of refused requests", "bout": "the same of its own answers",
    "algo": "random is unknown there", "reqbin": "as bin", "reqbout": "the reference counts its own storage of heads", "resbout": "the same of answers",
}
# The same of backends whose servers are checked: the reference's checks are HTTP connections like others.
OF_CHECKS = {"h1_open_connections", "h1_open_streams", "h1_total_connections", "h1_total_streams", "h1_bytes_in", "h1_bytes_out"}
# The same of `show info`.
INFO_CHANGING = set("""
    Name Version Release_date Uptime Uptime_sec Start_time_sec Pid Memmax_MB PoolAlloc_MB PoolUsed_MB PoolAlloc_bytes
    PoolUsed_bytes Ulimit-n Maxsock CurrConns ConnRate MaxConnRate SessRate MaxSessRate Tasks Run_queue Idle_pct CumConns
    CumReq CurrSslConns Jobs Listeners BytesOutRate TotalBytesOut Warnings MaxSslRate Build Nbthread DroppedLogs
    TotalSplicedBytesOut Build info BootTime_ms CumStreams Memmax_bytes Process_num Maxpipes TotalWarnings SslFrontendMaxKeyRate
    PatternsAdded Niced_tasks
    """.split()) | {"Build info"}


def serve(s):
    data = b""
    while True:
        part = s.recv(65536)
        if not part:
            return
        data += part
        while b"\r\n\r\n" in data:
            head, data = data.split(b"\r\n\r\n", 1)
            m = re.search(rb"(?i)content-length: *(\d+)", head)
            need = int(m.group(1)) if m else 0
            while len(data) < need:
                data += s.recv(65536)
            data = data[need:]
            m = re.match(rb"\S+ /s(\d+)", head)
            status = int(m.group(1)) if m else 200
            s.sendall(b"HTTP/1.1 %d X\r\nContent-Length: 4\r\n\r\nbody" % status)
            if re.search(rb"(?i)connection: close", head):
                return


def one(port, path, method=b"GET", body=b"", raw=None):
    s = lib.connect(port)
    s.sendall(raw or b"%s %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s"
              % (method, path, len(body), body))
    answer = lib.recv_all(s)
    s.close()
    return answer


def traffic(p):
    for path in (b"/", b"/", b"/s301", b"/s404", b"/s404", b"/s500", b"/denied", b"/own", b"/s418", b"/none", b"/refused",
                 b"/limits", b"/limits"):
        one(p["web"], path)
    one(p["web"], b"/", b"POST", b"z" * 1000)
    one(p["web"], b"", raw=b"nonsense\r\n\r\n")
    s = lib.connect(p["web"])
    for i in range(3):
        s.sendall(b"GET /kept HTTP/1.1\r\nHost: x\r\nCookie: SRV=ca\r\n\r\n")
        lib.Reader(s).response()
    s.close()
    one(p["raw"], b"/")


class Side:
    def __init__(self, tap, program, origin, agent, closed):
        self.p = dict(zip(("web", "raw", "off"), lib.ports(3)))
        self.proxy = lib.Proxy(program, CONF.format(origin=origin, agent=agent, closed=closed, **self.p))
        settled = lib.until(lambda: self.settled(), 15)
        traffic(self.p)
        lib.until(lambda: self.proxy.stats()["web", "FRONTEND"]["scur"] == "0")
        tap.ok(settled, "checks have settled", self.proxy.ctl("show stat") if not settled else "")

    def settled(self):
        s = self.proxy.stats()
        return s["app", "d"]["status"].startswith("DOWN") and "L7OK" in s["app", "a"]["check_status"] and \
            "L4OK" in s["raw", "t"]["check_status"] and "L7OK" in s["raw", "t"]["agent_status"]

    def page(self, form):
        with urllib.request.urlopen("http://127.0.0.1:%d/stats;%s" % (self.p["web"], form)) as r:
            return r.read().decode()


def typed(text):
    """[(object, field, tag, type, value)]: the object is without its numbers of fields."""
    out = []
    for line in text.strip().split("\n"):
        m = re.match(r"([FBSL]\.\d+\.\d+)\.(\d+)\.([^.]+)\.1:(\w+):(\w+):(.*)$", line)
        out.append(m.groups() if m else (line,))
    return out


def shape(rows):
    return [r[:5] for r in rows]


def same(tap, ours, theirs, name):
    """Two lists are equal; a failure shows where not."""
    pairs = ["%r, reference %r" % (a, b) for a, b in zip(ours, theirs) if a != b]
    if len(ours) != len(theirs):
        pairs.append("%d lines, reference %d" % (len(ours), len(theirs)))
    tap.ok(not pairs, name, "\n".join(pairs))


def differing(a, b):
    """The values that are not the same, of two lists of typed()."""
    names = {}
    for r in a:
        if r[2] in ("pxname", "svname"):
            names.setdefault(r[0], []).append(r[5])
    values = dict(((r[0], r[2]), r[5]) for r in b)
    return ["%s %s: %s, reference %s" % ("/".join(names[r[0]]), r[2], r[5], values.get((r[0], r[2]))) for r in a
            if r[2] not in CHANGING and r[2] not in OTHERWISE and
            not (r[2] in OF_CHECKS and names[r[0]] == ["app", "BACKEND"]) and values.get((r[0], r[2])) != r[5]]


def compare_stat(tap, ours, theirs):
    a, b = typed(ours), typed(theirs)
    tap.eq([x for x in shape(b) if x not in shape(a)][:10], [], "show stat typed: nothing is missing")
    tap.eq([x for x in shape(a) if x not in shape(b)][:10], [], "nothing is there that should not be")
    same(tap, shape(a), shape(b), "the same order, numbers, tags and types")
    differ = differing(a, b)
    tap.ok(not differ, "the same values", "\n".join(differ))


def filled(text):
    """Of each object of `show stat`, its name and the names of its cells that are not empty."""
    lines = [line.split(",") for line in text.strip().split("\n")]
    return [[cells[1]] + [name for name, cell in zip(lines[0], cells) if cell] for cells in lines[1:]]


def at_rest(ask, view, wrong=lambda ours, theirs: False):
    """What ask() gives of both sides, at a moment when view() of the two is the same, and nothing wrong(): the cells of a
    check or an agent are empty while it runs, on both sides, ten times a second, and those of its result change behind it.
    The last pair if there is none in 10 s."""
    last = []

    def alike():
        last[:] = ask()
        return view(last[0]) == view(last[1]) and not wrong(*last)

    lib.until(alike, 10)
    return last


def compare_csv(tap, ours, theirs):
    tap.eq(ours.split("\n")[0], theirs.split("\n")[0], "show stat: the same columns")
    full = [[" ".join(cells) for cells in filled(side)] for side in (ours, theirs)]
    same(tap, full[0], full[1], "show stat: the same cells are filled")


def objects(text):
    """The objects of a JSON listing, with types for values."""
    def strip(x):
        if isinstance(x, list):
            return [strip(y) for y in x]
        return {k: (v["type"] if k == "value" else v) for k, v in x.items()}

    return [y for x in strip(json.loads(text)) for y in (x if isinstance(x, list) else [x])]


def compare_json(tap, name, ours, theirs):
    """The same objects, but for values."""
    same(tap, objects(ours), objects(theirs), name + ": the same objects, types and tags")


def without_zlib(lines):
    """HAProxy tells of zlib's memory only where it is built with zlib, which the reference is not."""
    return [x for x in lines if "ZlibMemUsage" not in x]


def compare_info(tap, ours, theirs, typed_ours, typed_theirs):
    a, b = [[l.split(": ", 1) for l in without_zlib(t.strip().split("\n"))] for t in (ours, theirs)]
    # ours has more of its own at the end
    tap.eq([x[0] for x in a][:len(b)], [x[0] for x in b], "show info: the same fields in the same order")
    ours_by, theirs_by = dict((x + [""])[:2] for x in a), dict((x + [""])[:2] for x in b)
    tap.eq(["%s: %s, reference %s" % (k, ours_by.get(k), v) for k, v in theirs_by.items()
            if k not in INFO_CHANGING and ours_by.get(k) != v], [], "show info: the same values")
    lines = [[":".join(x.split(":")[:3]) for x in without_zlib(t.strip().split("\n"))] for t in (typed_ours, typed_theirs)]
    same(tap, lines[0][:len(lines[1])], lines[1], "show info typed: the same numbers, tags and types")


def compare_state(tap, ours, theirs):
    # "srv_time_since_last_change" and the check's status and results move
    def cut(text):
        out = []
        for line in text.strip().split("\n"):
            cells = line.split(" ")
            if len(cells) > 12 and cells[0].isdigit():
                for i in (4, 9, 10, 11, 12, 13, 14, 15, 18):
                    cells[i] = "*"
            out.append(cells)
        return out

    same(tap, cut(ours), cut(theirs), "show servers state: the same lines")


def main():
    args = lib.arguments(__doc__, ("reference", lib.REFERENCE, "the program to compare with"))
    tap = lib.Tap()
    if not os.access(args.reference, os.X_OK) or lib.is_reference(args.program):
        tap.apart("reference", "figures of both programs")
        tap.done()
    origin = lib.Server(serve)
    agent = lib.Server(lambda s: s.sendall(b"up ready 50%\n"))
    closed = lib.ports(1)[0]
    sides = [Side(tap, p, origin.port, agent.port, closed) for p in (args.program, args.reference)]
    try:
        def both(command):
            return [s.proxy.ctl(command) for s in sides]

        compare_stat(tap, *at_rest(lambda: both("show stat typed"), lambda text: shape(typed(text)),
                                   lambda a, b: shape(typed(a)) == shape(typed(b)) and differing(typed(a), typed(b))))
        compare_csv(tap, *at_rest(lambda: both("show stat"), filled))
        compare_json(tap, "show stat json", *at_rest(lambda: both("show stat json"), objects))
        compare_json(tap, "show info json", *["[%s]" % ",".join(without_zlib(json.dumps(x) for x in json.loads(t))[:60])
                                              for t in both("show info json")])
        compare_info(tap, *(both("show info") + both("show info typed")))
        compare_state(tap, *both("show servers state"))
        for form, view in (("csv", lambda text: [l.split(",")[:2] for l in text.split("\n")]), ("json", objects),
                           ("typed", lambda text: [":".join(l.split(":")[:3]) for l in text.split("\n")])):
            a, b = at_rest(lambda: [s.page(form) for s in sides], view)
            same(tap, view(a), view(b), "the page's %s: the same lines" % form)
    finally:
        for s in sides:
            s.proxy.stop()
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
