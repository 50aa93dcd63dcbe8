#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Persistence by cookie: what the server sees of the request's cookies, what the client gets, which
server serves and what the log says, for every mode and many shapes of cookies (the table was made
with --learn from the reference program); and the dates of maxidle and maxlife.
"""
import pprint
import re
import time

import lib
from tables.persistence import CASES, EXPECTED

CONF = """
	nbthread 1
	log 127.0.0.1:{log} local0
defaults
	mode http
	timeout connect 1s
	timeout client 5s
	timeout server 5s
frontend fe
	bind 127.0.0.1:{fe}
	log global
	capture cookie SRV len 30
	log-format "%s %ts %tsc %CC %CS %ST"
	default_backend be
backend be
	balance roundrobin
{conf}
"""
SHOWN = re.compile(r"(?i)set-cookie|cache-control|location")


class Scene:
    """A backend with up to three servers, ADDR1 to ADDR3; DEAD is nobody's address."""

    def __init__(self, args, conf, commands=()):
        self.seen = []
        self.servers = [lib.Server(self.serve) for _ in range(3)]
        self.log = lib.Syslog()
        self.fe, dead = lib.ports(2)
        for i, s in enumerate(self.servers):
            conf = conf.replace("ADDR%d" % (i + 1), "127.0.0.1:%d" % s.port)
        conf = conf.replace("DEAD", "127.0.0.1:%d" % dead)
        self.proxy = lib.Proxy(args.program,
                               CONF.format(log=self.log.port, fe=self.fe, conf=conf))
        for command in commands:
            self.proxy.ctl(command)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.proxy.__exit__()
        for s in self.servers:
            s.close()

    def serve(self, sock):
        """Answers with the status and the fields that x-status and x-resp ask for."""
        r = lib.Reader(sock)
        head = r.head()
        if not head:
            return
        r.body(head[1])
        fields = dict(head[1])
        self.seen.append([v for k, v in head[1] if k == "cookie"])
        more = "".join(line + "\r\n" for line in fields.get("x-resp", "").split("|") if line)
        sock.sendall(("HTTP/1.1 %s X\r\ncontent-length: 0\r\n%s\r\n" %
                      (fields.get("x-status", "200"), more)).encode())

    def ask(self, method, lines):
        """(status, cookies at the server, fields of the answer, log line)"""
        before, logged = len(self.seen), len(self.log.lines)
        text = "%s / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n%s%s\r\n" % (
            method, "content-length: 0\r\n" if method == "POST" else "",
            "".join(line + "\r\n" for line in lines))
        sock = lib.connect(self.fe)
        sock.sendall(text.encode())
        head = lib.recv_all(sock).split(b"\r\n\r\n")[0].decode().split("\r\n")
        sock.close()
        self.log.wait(lambda all: len(all) > logged)
        return (head[0].split(" ")[1], self.seen[before:], [l for l in head if SHOWN.match(l)],
                self.log.lines[logged].split("]: ")[-1])


def run(args, case):
    name, conf, commands, requests = case
    with Scene(args, "\n".join("\t" + line for line in conf), commands) as sc:
        return [sc.ask(method, lines) for method, lines in requests]


DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def date(seconds_ago):
    v = (int(time.time()) - seconds_ago) >> 2
    return "".join(DIGITS[v >> 6 * k & 63] for k in range(4, -1, -1))


def dates(tap, args):
    """How a cookie with dates is taken, and the dates of the one that is given."""
    servers = "\tserver s1 ADDR1 cookie A\n\tserver s2 ADDR2 cookie B"
    limits = {"idle": "maxidle 1000", "life": "maxlife 10000",
              "both": "maxidle 1000 maxlife 10000", "none": ""}
    hour, day = date(3600), date(86400)
    for limit, value, letters, shape in (
            ("idle", "B", "VU", 1), ("idle", "B|" + hour, "EI", 1),
            ("idle", "B|%s|%s" % (date(100), day), "VU", 1), ("idle", "Z", "II", 1),
            ("idle", "B|" + date(-200000), "EI", 1),
            ("life", "B", "VU", 2), ("life", "B|%s|%s" % (date(50), day), "OI", 2),
            ("life", "B|%s|%s" % (date(50), hour), "VU", 2),
            ("both", "B|%s|%s" % (date(50), hour), "VU", 2),
            ("both", "B|%s|%s" % (hour, hour), "EI", 2), ("both", "B|no|no", "VU", 2),
            ("both", "B||" + hour, "VU", 2), ("none", "B|%s|%s" % (hour, hour), "VU", 0)):
        with Scene(args, "\tcookie SRV insert %s\n%s" % (limits[limit], servers)) as sc:
            first = date(0)
            got = sc.ask("GET", ["cookie: SRV=" + value])
            now = (first, date(0))
        name = "%s, SRV=%s" % (limits[limit] or "no limit", re.sub(r"\|\w{5}", "|date", value))
        tap.eq(got[3].split(" ")[2][2:], letters, name + ": letters")
        m = re.match(r"set-cookie: SRV=[AB]((?:\|\S{5})*); path=/$", (got[2] or [""])[0])
        parts = m.group(1).split("|")[1:] if m else None
        good = parts is not None and len(parts) == shape and (not parts or parts[0] in now)
        if good and shape == 2 and letters == "VU" and hour in value:
            good = parts[1] == hour
        elif good and shape == 2:
            good = parts[1] in now
        tap.ok(good, name + ": dates of the new cookie", got)


def dynamic(tap, args):
    """The key can be set, and dynamic cookies switched, at run time."""
    servers = "\tserver s1 ADDR1\n\tserver s2 ADDR2 cookie B"
    with Scene(args, "\tdynamic-cookie-key one\n\tcookie SRV insert dynamic\n" + servers) as sc:
        def value():
            for _ in range(2):
                got = sc.ask("GET", [])
                if got[3].startswith("s1 "):
                    return re.sub("set-cookie: SRV=|;.*", "", got[2][0])
        first = value()
        tap.ok(re.match("[0-9a-f]{16}$", first), "dynamic: 16 hexadecimal digits", first)
        got = sc.ask("GET", ["cookie: SRV=" + first])
        tap.eq(got[3][:9], "s1 -- --V", "dynamic: the cookie means the server")
        sc.proxy.ctl("set dynamic-cookie-key backend be two")
        second = value()
        tap.ok(second != first and re.match("[0-9a-f]{16}$", second), "another key", second)
        sc.proxy.ctl("disable dynamic-cookie backend be")
        tap.eq(value(), "", "disabled: the server has no cookie")
        sc.proxy.ctl("enable dynamic-cookie backend be")
        tap.eq(value(), second, "enabled again")


def main():
    args = lib.arguments(__doc__, ("learn", False, "print the table that this program makes"))
    if args.learn:
        pprint.pprint([run(args, case) for case in CASES], width=100)
        return
    tap = lib.Tap()
    for case, expected in zip(CASES, EXPECTED):
        for request, got, want in zip(case[3], run(args, case), expected):
            tap.eq(got, want, "%s: %s" % (case[0], " ".join([request[0]] + request[1])))
    dates(tap, args)
    dynamic(tap, args)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
