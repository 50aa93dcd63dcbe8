#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""HTTP/2 clients that do as the standards say, and that do not (RFC 9113, RFC 7541, RFC 8441).

Each row of tables/h2.py is one connection to a running proxy whose server is a raw HTTP/1 socket that
records what arrives. Checked: what happens to the stream and to the connection; that a refused message
is not forwarded; that what is forwarded reads as exactly the requests that were made for a strict
parser; and that the proxy serves another connection afterwards.

--learn prints what the program does, in the form of the table.
"""
import socket

import lib
from h1_conformance import Recorder
from tables import h2 as table
from wire import h2

CONF = """
defaults
	mode http
	timeout connect 2s
	timeout client 2s
	timeout server 2s
	timeout http-request 1s
frontend f
	bind 127.0.0.1:{fe} proto h2
	default_backend recorder
backend recorder
	server s1 127.0.0.1:{s1}
"""
MARK = b"the-mark"
GROUPS = (("preface", table.RAW), ("frame", table.FRAMES), ("stream", table.STREAMS),
          ("head", table.HEADS), ("hpack", table.HPACK))


class Outcome:
    """What happened on a connection while one stream was watched."""

    def __init__(self):
        self.status = self.reset = self.code = None
        self.ended = self.closed = self.marked = False
        self.silent = False

    def note(self, e, stream):
        if e is None:
            self.closed = True
        elif e[0] == "goaway":
            self.code = h2.error_name(e[2])
        elif e[0] == "ping" and e[2] and e[1] == MARK:
            self.marked = True
        elif e[0] == "rst" and e[1] == stream:
            self.reset = self.reset or h2.error_name(e[2])
        elif e[0] in ("headers", "data") and e[1] == stream:
            if e[0] == "headers":
                self.status = dict(e[2]).get(":status", self.status)
            self.ended = e[3]

    def is_final(self, want_stream):
        over = self.reset or self.ended or not want_stream
        return self.closed or (self.marked and over and self.code is None)

    def __str__(self):
        if self.code is not None:
            return "goaway " + self.code + ("" if self.closed else " and open")
        if self.closed:
            return "closed"
        if self.silent:
            return "silent"
        # an answer that is whole may be followed by NO_ERROR: the rest of the request is not needed
        if self.reset and not (self.ended and self.reset == "NO_ERROR"):
            return "rst " + self.reset
        return self.status or "alive"


def play(port, raw, greet, stream, want):
    """Sends <raw> and a PING; returns the Outcome."""
    c = h2.Client(lib.connect(port), greet=greet, timeout=4.0)
    out = Outcome()
    ends = [w for w in want.split("|") if w[0].isdigit() or w.startswith("rst")]
    want_stream = stream and ends and "alive" not in want
    c.send(raw + h2.ping(MARK))
    while not out.is_final(want_stream):
        try:
            out.note(c.next(), stream)
        except socket.timeout:
            out.silent = True
            break
    c.close()
    return out


def allowed(want, got, count):
    for one in want.split("|"):
        name, _, forwarded = one.partition("+")
        fine = got == name or (name.startswith("goaway") and got == "closed")
        if fine and count == int(forwarded or (1 if name.startswith("2") else 0)):
            return True
    return False


def settled(recorder, proxy_port):
    """What was forwarded: another request through the proxy tells that all before it is done."""
    c = h2.Client(lib.connect(proxy_port))
    c.send(h2.headers(1, h2.request("/probe")))
    status, _, _, how = c.answer(1)
    c.close()
    seen, problems = recorder.take()
    seen = [s for s in seen if s[0] != "incomplete" and s[1] != b"/probe"]
    return seen, problems, (status, how) == (200, "end")


def run_row(tap, recorder, port, group, row, learn):
    name, raw, stream, want = row
    recorder.take()
    try:
        got = str(play(port, raw, group != "preface", stream, want))
    except (ValueError, IndexError) as e:
        got = "broken: %s" % e
    seen, problems, probed = settled(recorder, port)
    problems = [p for p in problems if "amid" not in p]
    if learn:
        print("%-60s %-40s %s%s" % (name, want, got, "+%d" % len(seen) if seen else ""))
        return
    errors = []
    if not allowed(want, got, len(seen)):
        errors.append("got %s, forwarded %d; wanted %s" % (got, len(seen), want))
    if any(b"evil" in s[1] for s in seen):
        errors.append("smuggled: %r" % (seen,))
    if problems:
        errors.append("forwarded in a way that a strict parser refuses: %r" % problems)
    if not probed:
        errors.append("another connection was not served")
    tap.ok(not errors, "%s: %s" % (group, name), "\n".join(errors))


def main():
    args = lib.arguments(__doc__, ("learn", False, "print the outcomes, judge nothing"),
                         ("only", "", "rows whose name has this text"))
    tap = lib.Tap()
    recorder = Recorder()
    fe = lib.ports(1)[0]
    with lib.Proxy(args.program, CONF.format(fe=fe, s1=recorder.server.port)) as proxy:
        start = lib.time.monotonic()
        for group, rows in GROUPS:
            for row in rows:
                if args.only in row[0]:
                    run_row(tap, recorder, fe, group, row, args.learn)
                if tap.out_of_time(start, 150, "all rows"):
                    tap.done()
        tap.ok(proxy.alive(), "the proxy is alive", proxy.output())
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
