#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Exact bytes of HTTP/1 heads: what the server and what the client receive, for each row of
tables/h1_wire.py, with its options in a frontend or a backend. Bodies are compared as decoded.

--learn prints what the program does, in the form of the table.
"""
import re

import lib
from tables.h1_wire import ROWS

GLOBAL = """	h1-case-adjust x-adjust-me X-aDJUST-mE
	h1-case-adjust content-length Content-LENGTH
defaults
	mode http
	timeout connect 2s
	timeout client 2s
	timeout server 2s
"""


class Peer(lib.Reader):
    """Keeps the raw head beside the parsed one."""

    def raw_head(self):
        while b"\r\n\r\n" not in self.buf:
            if not self.fill():
                return None
        raw, self.buf = self.buf.split(b"\r\n\r\n", 1)
        fields = []
        for line in raw.split(b"\r\n")[1:]:
            name, _, value = line.partition(b":")
            fields.append((name.lower().decode("latin-1"), value.strip().decode("latin-1")))
        return raw + b"\r\n\r\n", fields


def serve(seen, sock):
    r = Peer(sock)
    first = b""
    # a PROXY header first: v1 ends with a line, v2 says its length
    while len(r.buf) < 16:
        if not r.fill():
            return
    if r.buf.startswith(b"PROXY "):
        first = r.line() + b"\r\n"
    elif r.buf.startswith(b"\r\n\r\n\0\r\nQUIT\n"):
        first = r.exactly(16 + int.from_bytes(r.buf[14:16], "big"))
    while True:
        got = r.raw_head()
        if not got:
            return
        raw, fields = got
        number = int(re.search(rb"/(\d+)", raw.split(b"\r\n")[0]).group(1))
        body = r.body(fields)
        seen[number] = (first + raw, body)
        response = ROWS[number][4]
        sock.sendall(response)
        if b"\r\n\r\nuntil" in response or b" 101 " in response:
            return


def client_side(port, request):
    """Sends the request; returns the heads received, as one, and the decoded body."""
    s = lib.connect(port, 3)
    s.sendall(request)
    r = Peer(s)
    heads = b""
    try:
        while True:
            got = r.raw_head()
            if not got:
                return heads, None
            heads += got[0]
            status = int(got[0].split(b" ")[1])
            if status >= 200 or status == 101:
                break
        if request.startswith(b"HEAD") or status in (204, 304):
            return heads, b""
        if status == 101:
            return heads, lib.recv_all(s) if not r.buf else r.buf
        return heads, r.body(got[1], True)
    except (OSError, EOFError, ValueError):
        return heads, None
    finally:
        s.close()


def variable(data, ports):
    """Replaces what differs from run to run: ports."""
    if data is None:
        return None
    for name, port in ports.items():
        data = re.sub(rb"\b%d\b" % port, name, data)
    return re.sub(rb"^(PROXY TCP4 127.0.0.1 127.0.0.1) \d+ ", rb"\1 SPORT ", data)


def configuration(front, back):
    conf = GLOBAL
    for i, row in enumerate(ROWS):
        options = ""
        lines = row[2].split("\n") if row[2] else []
        for line in list(lines):
            if line.startswith("server-options "):
                options = line[len("server-options"):]
                lines.remove(line)
        conf += "frontend f%d\n\tbind 127.0.0.1:%d\n\t%s\n\tdefault_backend b%d\n" % (
            i, front[i], row[1], i)
        conf += "backend b%d\n%s\tserver s 127.0.0.1:%d%s\n" % (
            i, "".join("\t%s\n" % l for l in lines), back, options)
    return conf


def main():
    args = lib.arguments(__doc__, ("learn", False, "print the outcomes, judge nothing"))
    tap = lib.Tap()
    seen = {}
    server = lib.Server(lambda s: serve(seen, s))
    front = lib.ports(len(ROWS))
    with lib.Proxy(args.program, configuration(front, server.port)) as proxy:
        start = lib.time.monotonic()
        for i, row in enumerate(ROWS):
            if tap.out_of_time(start, 60, "all rows"):
                break
            ports = {b"FPORT": front[i]}
            heads, body = client_side(front[i], row[3])
            request, request_body = seen.get(i, (None, None))
            if request and request.startswith(b"\r\n\r\n\0\r\nQUIT\n"):
                # the last four bytes of the addresses are the ports
                request = request[:24] + b"PORT" + request[28:]
            got = (variable(request, ports), request_body, variable(heads, ports), body)
            if args.learn:
                print(repr((row[0], got)))
                continue
            for what, mine, want in zip(("request head", "request body", "response head",
                                         "response body"), got, row[5:9]):
                tap.eq(mine, want, "%s: %s" % (row[0], what))
        if not args.learn:
            tap.ok(proxy.alive(), "the proxy is still there")
            tap.done()


if __name__ == "__main__":
    lib.guarded(main)
