#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Requests that the program begins by itself, through a backend: rules, bodies, queues, retries, log; and the client
leaves (here: the command that began it is given up) at every stage, without a trace. Over TLS and HTTP/2, to another
server when the first one refuses, and with one allocation in ten that fails.

ours only
"""
import os
import signal
import socket
import tempfile
import threading

import lib
import lib_inside
import lib_quic

CONF = """	nbthread 2{more}
	log 127.0.0.1:{log} format raw local0
defaults
	mode http
	log global
	option httplog
	timeout connect 20s
	timeout client 20s
	timeout server 20s
	timeout queue 20s
	timeout tarpit 20s
	retries 3
""" + lib_inside.BACKENDS


class Peer:
    """A server: echoes what it was asked, or stops where the path says."""

    def __init__(self):
        self.hold = threading.Event()
        self.begun = threading.Semaphore(0)

    def __call__(self, sock):
        reader = lib.Reader(sock)
        while True:
            got = reader.head()
            if not got:
                return
            head = "\r\n".join([got[0]] + ["%s: %s" % f for f in got[1]]).encode()
            body = reader.body(got[1])
            if b" /silent" in head:
                self.begun.release()
                self.hold.wait(lib.PATIENCE)
                return
            if b" /half" in head:
                sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
                self.begun.release()
                self.hold.wait(lib.PATIENCE)
                return
            text = head + b"<" + body + b">"
            if b" /big" in head:
                text = b"x" * 3000000
            sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(text) + text)


def request(proxy, words):
    return proxy.ctl("expert-mode on;debug dev request " + words)


def answers(tap, proxy, log):
    got = request(proxy, "plain /a?b=c")
    tap.ok("200 OK" in got and "x-after: yes" in got, "the backend's rules see the answer", got)
    tap.ok("GET /a?b=c HTTP/1.1" in got and "x-rule: plain" in got, "and the request", got)
    tap.ok("whole: NONE" in got, "it comes whole", got)
    tap.ok(log.find(r'plain plain/s [0-9/]+ 200 .* "GET /a\?b=c HTTP/1.1"'), "it is logged", "\n".join(log.lines))
    got = request(proxy, "plain /post some-body")
    tap.ok("POST /post" in got and "<some-body>" in got, "with a body", got)
    got = request(proxy, "proxied /")
    tap.ok("PROXY UNKNOWN" in got or "PROXY TCP" in got, "with a PROXY protocol header", got)
    for words, want in (("plain /deny", ("403", "whole: RULE_DENY")), ("plain /none", ("204", "whole")),
                        ("empty /", ("503", "whole: NO_SERVER")), ("plain /big", ("200", "whole: NONE")),
                        ("refused /", ("503", "whole: CONNECT_FAILED"))):
        got = request(proxy, words)
        tap.ok(all(w in got for w in want), words, got[:2000])
    tap.ok("No such backend" in request(proxy, "nobody /"), "no such backend")


def elsewhere(tap, proxy, log):
    for words, want in (("secure /", "HTTP/1.1 tls"), ("h2 /", "HTTP/2.0 tls"), ("h2 /", "HTTP/2.0 tls")):
        got = request(proxy, words)
        tap.ok("200 OK" in got and want in got, words + ": " + want, got)
    got = request(proxy, "moved /there")
    tap.ok("200 OK" in got and "GET /there" in got, "redispatched to a server that is there", got)
    tap.ok(log.find(r'moved moved/s [0-9/]+ 200 .*/\+1 .* "GET /there'), "and the log says so", "\n".join(log.lines[-3:]))


def answered(ask, *words):
    """What the Runtime API says, whose own allocations may fail too; "" then."""
    try:
        return ask(*words)
    except (OSError, KeyError, ValueError, IndexError):
        return ""


def failing(tap, program, conf):
    """Each kind of request many times; some are given up. Nothing is left behind (ASAN also sees what leaks)."""
    with lib.Proxy(program, conf, args=("-dMfail",)) as proxy:
        whole, cut, rounds = 0, 0, 40
        for n in range(rounds):
            for words in lib_inside.KINDS:
                if n % 4 == 3:
                    s = answered(give_up, proxy, words)
                    if s:
                        s.close()
                    continue
                got = answered(request, proxy, words)
                whole += "200 OK" in got or "204" in got
                cut += "200 OK" not in got and "204" not in got
        tap.ok(whole and cut, "failing allocations: some requests are answered, others are not", (whole, cut))
        tap.ok(proxy.alive(), "failing allocations: the process lives", proxy.output())
        tap.ok(lib.until(lambda: answered(proxy.ctl, "show info") and not answered(streams, proxy)),
               "failing allocations: no stream is stuck")
        proxy.process.send_signal(signal.SIGUSR1)
        tap.ok(lib.until(lambda: not proxy.alive()), "failing allocations: the process ends")
        tap.eq(proxy.process.returncode, 0, "failing allocations: with status 0")


def give_up(proxy, words):
    """Begins a request, and leaves once it is under way."""
    s = socket.socket(socket.AF_UNIX)
    s.connect(proxy.ctl_path)
    s.sendall(("expert-mode on;debug dev request %s\n" % words).encode())
    return s


def streams(proxy):
    return [l for l in proxy.ctl("show sess").split("\n") if "fe=" in l and "fe=GLOBAL" not in l]


def queued(proxy):
    """How many wait, for the server or for any of its backend."""
    stats = proxy.stats()
    return int(stats["narrow", "s"]["qcur"]) + int(stats["narrow", "BACKEND"]["qcur"])


def leaves(tap, proxy, peer):
    for words, begun in (("plain /tarpit", False), ("plain /silent", True), ("plain /half", True),
                         ("refused /", False)):
        s = give_up(proxy, words)
        there = lib.until(lambda: streams(proxy))
        if begun:
            peer.begun.acquire(timeout=lib.PATIENCE)
        s.close()
        tap.ok(there and lib.until(lambda: not streams(proxy)), words + ": its client leaves", str(there))
    first, second = give_up(proxy, "narrow /silent"), None
    peer.begun.acquire(timeout=lib.PATIENCE)
    second = give_up(proxy, "narrow /")
    tap.ok(lib.until(lambda: queued(proxy) == 1), "one waits in the queue")
    second.close()
    tap.ok(lib.until(lambda: len(streams(proxy)) == 1), "and leaves it")
    tap.eq(queued(proxy), 0, "the queue is empty")
    second = give_up(proxy, "narrow /")
    lib.until(lambda: queued(proxy) == 1)
    first.close()
    second.settimeout(lib.PATIENCE)
    got = lib.recv_all(second)
    tap.ok(b"200 OK" in got, "the next one in the queue has the server", got.decode("latin-1"))
    tap.ok(lib.until(lambda: not streams(proxy)), "nothing is left")
    stats = proxy.stats()
    tap.eq([stats[k]["scur"] for k in (("plain", "s"), ("narrow", "s"), ("refused", "s"), ("plain", "BACKEND"))],
           ["0"] * 4, "nor counted")


def main():
    args = lib.arguments(__doc__)
    tap, peer, log = lib.Tap(), Peer(), lib.Syslog()
    server, (closed, tls) = lib.Server(peer), lib.ports(2)
    with tempfile.TemporaryDirectory() as folder:
        ports = {"log": log.port, "server": server.port, "closed": closed, "tls": tls,
                 "crt": os.path.join(folder, "crt.pem")}
        tap.ok(lib_quic.certificate(ports["crt"]), "a certificate")
        with lib.Proxy(args.program, CONF.format(more="", header="send-proxy", **ports)) as proxy:
            tap.attempt("answers", answers, tap, proxy, log)
            tap.attempt("elsewhere", elsewhere, tap, proxy, log)
            tap.attempt("leaves", leaves, tap, proxy, peer)
            s = give_up(proxy, "plain /tarpit")
            lib.until(lambda: streams(proxy))
            s.close()
            tap.eq(proxy.stop(signal.SIGUSR1), 0, "it stops")
        tap.attempt("failing", failing, tap, args.program, CONF.format(more="\n\ttune.fail-alloc 10", header="send-proxy", **ports))
    peer.hold.set()
    server.close()
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
