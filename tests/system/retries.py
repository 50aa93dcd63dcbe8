#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""retry-on: which failures make a request be sent again, how often, to whom, and what the log says.
Servers follow a script, one action for each request that reaches them.
"""
import threading

import lib

CONF = """
	nbthread 1
	log 127.0.0.1:{log} local0
defaults
	mode http
	timeout connect 5s
	timeout client 10s
	timeout server {timeout}
frontend fe
	bind 127.0.0.1:{fe}
	log global
	log-format "%s %ts %rc %ST"
	default_backend be
backend be
	balance roundrobin
{conf}
{servers}
"""
GET = b"GET /x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"


def post(body, head=b"", fields=b""):
    return (b"POST /p HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + fields +
            (head or b"Content-Length: %d\r\n" % len(body)) + b"\r\n" + body)


CHUNKED = post(b"5\r\nhello\r\n0\r\n\r\n", b"Transfer-Encoding: chunked\r\n")
# name: settings of the backend; what the servers do; the request; then what shall be seen: the
# status, the requests that reached servers (server, length of the body), the log line
CASES = [
    ("503", ["retry-on 503"], "503 200", GET, 200, [(1, 0), (1, 0)], "s1 -- 1 200"),
    ("as often as `retries`", ["retry-on 503", "retries 2"], "503 503 503 503", GET,
     503, [(1, 0)] * 3, "s1 -- 2 503"),
    ("another status", ["retry-on 503"], "404 200", GET, 404, [(1, 0)], "s1 -- 0 404"),
    ("every status", ["retry-on 401 403 404 408 421 425 429 500 501 502 504", "retries 11"],
     "401 403 404 408 421 425 429 500 501 502 504 200", GET, 200, [(1, 0)] * 12, "s1 -- 11 200"),
    ("closed without an answer", ["retry-on empty-response"], "close 200", GET,
     200, [(1, 0)] * 2, "s1 -- 1 200"),
    ("closed, not asked for", ["retry-on conn-failure"], "close 200", GET,
     502, [(1, 0)], "s1 SH 0 502"),
    ("reset", ["retry-on empty-response"], "reset 200", GET, 200, [(1, 0)] * 2, "s1 -- 1 200"),
    ("no HTTP", ["retry-on junk-response"], "junk 200", GET, 200, [(1, 0)] * 2, "s1 -- 1 200"),
    ("no HTTP, not asked for", ["retry-on empty-response"], "junk 200", GET,
     502, [(1, 0)], "s1 PH 0 502"),
    ("half a head", ["retry-on junk-response"], "partial 200", GET,
     200, [(1, 0)] * 2, "s1 -- 1 200"),
    ("half a head is no empty answer", ["retry-on empty-response"], "partial 200", GET,
     502, [(1, 0)], "s1 PH 0 502"),
    ("too slow", ["retry-on response-timeout"], "slow 200", GET, 200, [(1, 0)] * 2, "s1 -- 1 200"),
    ("too slow, not asked for", ["retry-on empty-response"], "slow 200", GET,
     504, [(1, 0)], "s1 sH 0 504"),
    ("all-retryable-errors: closed", ["retry-on all-retryable-errors"], "close 200", GET,
     200, [(1, 0)] * 2, "s1 -- 1 200"),
    ("all-retryable-errors: no HTTP", ["retry-on all-retryable-errors"], "junk 200", GET,
     200, [(1, 0)] * 2, "s1 -- 1 200"),
    ("all-retryable-errors: 500, 502", ["retry-on all-retryable-errors"], "500 502 200", GET,
     200, [(1, 0)] * 3, "s1 -- 2 200"),
    ("404 is none of all", ["retry-on all-retryable-errors"], "404 200", GET,
     404, [(1, 0)], "s1 -- 0 404"),
    ("a body is sent again", ["retry-on 500"], "500 200", post(b"hello"),
     200, [(1, 5)] * 2, "s1 -- 1 200"),
    ("a chunked body too", ["retry-on 500"], "500 200", CHUNKED,
     200, [(1, 5)] * 2, "s1 -- 1 200"),
    ("a body of nearly a buffer", ["retry-on 500"], "500 200", post(b"a" * 14000),
     200, [(1, 14000)] * 2, "s1 -- 1 200"),
    ("a body larger than a buffer is not", ["retry-on 500"], "500 200", post(b"a" * 40000),
     500, [(1, 40000)], "s1 -- 0 500"),
    ("redispatch at each retry", ["retry-on 503", "option redispatch 1"], "503 200", GET,
     200, [(1, 0), (2, 0)], "s2 -- +1 200"),
    ("no redispatch", ["retry-on 503"], "503 200", GET, 200, [(1, 0)] * 2, "s1 -- 1 200"),
    ("retries 0", ["retry-on 503", "retries 0"], "503 200", GET, 503, [(1, 0)], "s1 -- 0 503"),
    ("an answer that breaks off was begun", ["retry-on all-retryable-errors"], "half 200", GET,
     200, [(1, 0)], "s1 SD 0 200"),
    ("disable-l7-retry", ["retry-on 503", "http-request disable-l7-retry if { path /x }"],
     "503 200", GET, 503, [(1, 0)], "s1 -- 0 503"),
    ("rules see the last answer only", ["retry-on 503", "http-response deny if { status 503 }"],
     "503 200", GET, 200, [(1, 0)] * 2, "s1 -- 1 200"),
]
ANSWERS = {"junk": b"garbage\r\n\r\n", "partial": b"HTTP/1.1 200 OK\r\ncontent-len",
           "half": b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc"}


class Servers:
    def __init__(self, script, count):
        self.script, self.seen, self.lock = script.split(), [], threading.Lock()
        self.end = threading.Event()
        self.list = [lib.Server(lambda sock, i=i: self.serve(i, sock))
                     for i in range(1, count + 1)]

    def serve(self, number, sock):
        r = lib.Reader(sock)
        head = r.head()
        if not head:
            return
        body = r.body(head[1])
        with self.lock:
            action = self.script.pop(0) if self.script else "200"
            self.seen.append((number, len(body)))
        if action == "reset":
            lib.reset(sock)
        elif action == "slow":
            self.end.wait(lib.PATIENCE)
        elif action in ANSWERS:
            sock.sendall(ANSWERS[action])
        elif action != "close":
            sock.sendall(b"HTTP/1.1 %s X\r\nconnection: close\r\n"
                         b"content-length: 2\r\n\r\nhi" % action.encode())

    def close(self):
        self.end.set()
        for s in self.list:
            s.close()


def one(tap, args, case):
    name, settings, script, request, status, seen, line = case
    servers = Servers(script, 2 if any("redispatch" in s for s in settings) else 1)
    log, fe = lib.Syslog(), lib.ports(1)[0]
    conf = CONF.format(
        log=log.port, fe=fe, timeout="300ms" if "slow" in script else "10s",
        conf="\n".join("\t" + s for s in settings),
        servers="\n".join("\tserver s%d 127.0.0.1:%d" % (i + 1, s.port)
                          for i, s in enumerate(servers.list)))
    with lib.Proxy(args.program, conf):
        sock = lib.connect(fe)
        sock.sendall(request)
        got = lib.recv_all(sock)
        sock.close()
        log.wait(lambda lines: lines)
    servers.close()
    said = log.lines[0].split("]: ")[-1] if log.lines else "nothing"
    tap.eq((got[9:12], servers.seen, said), (b"%d" % status, seen, line), name)


def main():
    args = lib.arguments(__doc__)
    tap = lib.Tap()
    for case in CASES:
        one(tap, args, case)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
