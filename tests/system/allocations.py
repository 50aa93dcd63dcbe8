#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Each allocation of an exchange fails once: the first, the second, and so on until the exchange comes to its end before its
turn has come. Requests that the program begins by itself, given up at every stage too, and those of clients. The process
lives, no stream stays, and (SAN=address) nothing leaks. The short form takes some of the allocations only, --every takes all,
--more lets all behind the one fail as well.

ours only
"""
import os
import random
import signal
import socket
import ssl
import tempfile
import threading

import lib
import lib_failing
import lib_inside
import lib_quic

CONF = """	nbthread 1
	log 127.0.0.1:{log} format raw local0
	stats timeout 60s
defaults
	mode http
	log global
	option httplog
	timeout connect 200ms
	timeout client 20s
	timeout server 20s
	timeout queue 20s
	timeout tarpit 20ms
	retries 3
	http-reuse never
	default-server pool-max-conn 0
""" + lib_inside.BACKENDS + """frontend fe
	bind 127.0.0.1:{fe}
	bind 127.0.0.1:{fetls} ssl crt {crt}
	stick-table type ip size 100 expire 1h store http_req_rate(10s),gpc0
	http-request track-sc0 src
	http-request set-var(txn.x) path,lower
	http-request capture req.hdr(host) len 20
	use_backend rich if {{ path_beg /rich }}
	default_backend plain
backend rich
	filter trace quiet
	filter compression
	filter bwlim-out slow default-limit 1g default-period 1s
	compression algo gzip
	compression type text/plain
	cookie SRV insert
	stick-table type string len 20 size 100 expire 1h
	stick on path
	http-request set-bandwidth-limit slow
	http-request wait-for-body time 1s
	http-response set-header x-time "%[date,http_date]"
	server s 127.0.0.1:{server} cookie s
listen tcp
	mode tcp
	option tcplog
	bind 127.0.0.1:{tcp}
	tcp-request inspect-delay 5s
	tcp-request content accept if {{ req.len gt 5 }}
	server s 127.0.0.1:{server}
"""
INSIDE = lib_inside.KINDS + ("plain /tarpit",)
SAMPLE = 5


class Peer:
    """A server: echoes what it was asked; /silent waits until it is let go of."""

    def __init__(self):
        self.begun = threading.Semaphore(0)

    def __call__(self, sock):
        reader = lib.Reader(sock)
        while True:
            got = reader.head()
            if not got:
                return
            head = "\r\n".join([got[0]] + ["%s: %s" % f for f in got[1]]).encode()
            body = reader.body(got[1])
            if b" /silent" in head or b" /half" in head:
                if b" /half" in head:
                    sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
                self.begun.release()
                reader.fill()
                return
            text = head + b"<" + body + b">"
            if b" /big" in head:
                text = b"x" * 300000
            sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n" % len(text) + text)


class World:
    def __init__(self, proxy, peer, ports):
        self.proxy, self.peer, self.ports = proxy, peer, ports
        self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self.tls.check_hostname, self.tls.verify_mode = False, ssl.CERT_NONE

    def begin(self, words):
        """A request by the command; its socket, or None."""
        s = socket.socket(socket.AF_UNIX)
        s.settimeout(lib.PATIENCE)
        try:
            s.connect(self.proxy.ctl_path)
            s.sendall(("expert-mode on;debug dev request %s\n" % words).encode())
        except OSError:
            s.close()
            return None
        return s

    def inside(self, words):
        s = self.begin(words)
        return s is None or ended(s)

    def http(self, path, port="fe", body=b""):
        s = lib.connect(self.ports[port])
        try:
            if port == "fetls":
                s = self.tls.wrap_socket(s)
            s.sendall(b"POST %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAccept-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" %
                      (path.encode(), len(body)) + body)
            if port == "tcp":
                s.shutdown(socket.SHUT_WR)
        except OSError:
            s.close()
            return True
        return ended(s)

    def streams(self):
        return [l for l in self.proxy.ctl("show sess").split("\n") if "fe=" in l and "fe=GLOBAL" not in l]


def ended(s):
    """Reads until the other end closes. False: it does not."""
    with s:
        try:
            while s.recv(65536):
                pass
        except socket.timeout:
            return False
        except OSError:
            pass
    return True


def exchanges(world):
    out = {words: lambda words=words: world.inside(words) for words in INSIDE}
    out["a client"] = lambda: world.http("/")
    out["a client over TLS"] = lambda: world.http("/", "fetls")
    out["a client, a table, filters, a cookie"] = lambda: world.http("/rich", body=b"body")
    out["a client of bytes"] = lambda: world.http("/", "tcp")
    return out


def positions(world, failing, exchange, args):
    """The numbers to try, in their order: all until none is reached, or some of those that there are."""
    if args.every:
        return range(1, args.bound)
    failing.arm(1 << 60)
    exchange()
    count = failing.disarm()
    return sorted(set([1, 2, 3] + random.Random(args.seed).sample(range(1, count + 1), min(SAMPLE, count))))


def each(tap, world, failing, name, exchange, args):
    """Runs <exchange> with each of its allocations failing."""
    stuck, n, count = [], 0, 0
    exchange()
    for n in positions(world, failing, exchange, args):
        failing.arm(n, args.more)
        good = exchange()
        count = failing.disarm()
        if not good:
            stuck.append(n)
        if not world.proxy.alive() or len(stuck) > 3 or (args.every and count < n):
            break
    if args.every:
        tap.ok(count < n, "%s: all of %d allocations" % (name, n - 1), (n, count))
    tap.ok(world.proxy.alive(), name + ": the process lives", "allocation %d\n%s" % (n, world.proxy.output()[-6000:]))
    if world.proxy.alive():
        tap.eq(stuck, [], name + ": every exchange ends")
        tap.ok(lib.until(lambda: not world.streams()), name + ": no stream is left", world.streams())


def give_up(world, failing, words, begun, early):
    """A request that is left: while it runs (<early>: its allocations fail), or whose end fails. How many allocations."""
    def one(n, more=False):
        if early:
            failing.arm(n, more)
        s = world.begin(words)
        if s and begun:
            world.peer.begun.acquire(timeout=0.05 if early else lib.PATIENCE)
        elif s:
            lib.until(lambda: False, 0.005)
        if not early:
            failing.arm(n, more)
        if s:
            s.close()
        lib.until(lambda: False, 0.005)
    return one


def leaves(tap, world, failing, words, begun, early, args):
    name = "%s, given up%s" % (words, " as it comes" if early else "")
    one, count, n = give_up(world, failing, words, begun, early), 0, 0
    for n in range(1, args.bound if args.every else 10):
        one(n, args.more)
        count = failing.disarm()
        if not world.proxy.alive() or count < n:
            break
    tap.ok(world.proxy.alive(), name + ": the process lives", "allocation %d\n%s" % (n, world.proxy.output()[-6000:]))
    if world.proxy.alive():
        tap.ok(lib.until(lambda: not world.streams()), name + ": no stream is left", world.streams())


def run(tap, args, failing, ports, peer):
    with lib.Proxy(args.program, CONF.format(header="send-proxy-v2", **ports), args=("-dMno-cache",), env=failing.environment()) as proxy:
        world = World(proxy, peer, ports)
        for name, exchange in exchanges(world).items():
            if args.only in name and proxy.alive():
                tap.attempt(name, each, tap, world, failing, name, exchange, args)
        for words, begun in ("plain /silent", True), ("plain /half", True), ("plain /tarpit", False):
            for early in True, False:
                if args.only in words and proxy.alive():
                    tap.attempt(words, leaves, tap, world, failing, words, begun, early, args)
        proxy.process.send_signal(signal.SIGUSR1)
        tap.ok(lib.until(lambda: not proxy.alive()), "the process ends")
        tap.ok(proxy.process.returncode == 0, "with status 0, and nothing has leaked", proxy.output()[-6000:])


def main():
    args = lib.arguments(__doc__, ("every", False, "each allocation, not some"), ("more", False, "those behind it fail too"),
                         ("only", "", "exchanges whose name has this in it"), ("seed", 1, "which ones the short form takes"),
                         ("bound", 20000, "so many of an exchange at most"))
    tap, peer, log = lib.Tap(), Peer(), lib.Syslog()
    with tempfile.TemporaryDirectory() as folder:
        failing = lib_failing.Failing(folder)
        if not failing.ready:
            print("1..0 # skip there is no C compiler")
            return
        names = ("closed", "tls", "fe", "fetls", "tcp")
        server, ports = lib.Server(peer), dict(zip(names, lib.ports(len(names))))
        ports.update(log=log.port, server=server.port, crt=os.path.join(folder, "crt.pem"))
        tap.ok(lib_quic.certificate(ports["crt"]), "a certificate")
        run(tap, args, failing, ports, peer)
        server.close()
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
