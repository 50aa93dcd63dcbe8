#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A soft stop and the clients that are there: a request that was sent is answered, and its answer tells the client that the
connection ends. An idle client that had an answer a moment ago may send once more; the others are closed, once nothing of
them is waiting. No client is forgotten: those in a handshake or in the backlog at the stop are told like the others.

differs: stop-idle-clients
differs: stop-h2-streams
"""
import os
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import threading
import time

import lib
from wire import h2

CONF = """	nbthread {threads}
	hard-stop-after {hard}
{glob}defaults
	mode http
	timeout connect 5s
	timeout client 10s
	timeout server 10s
	{options}
frontend fe
	bind 127.0.0.1:{p[0]}
	bind 127.0.0.1:{p[1]} ssl crt {dir}/site.pem alpn h2,http/1.1
	bind 127.0.0.1:{p[2]} accept-proxy
	http-request return status 200 content-type text/plain string "hello" if {{ path /now }}
	http-response set-header x-stopping "%[stopping] %[str(S),when(stopping)]"
	default_backend be
backend be
	server s1 127.0.0.1:{server}
"""


class Slow:
    """A server: /slow is answered when it is told to, /body has half of its body before that."""

    def __init__(self):
        self.go = threading.Event()
        self.server = lib.Server(self.handle)
        self.port = self.server.port

    def handle(self, sock):
        r = lib.Reader(sock)
        while True:
            head = r.head()
            if not head:
                return
            url = head[0].split(" ")[1]
            if url == "/slow":
                self.go.wait(lib.PATIENCE)
            sock.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n01234")
            if url == "/body":
                self.go.wait(lib.PATIENCE)
            sock.sendall(b"56789")


class Scene:
    def __init__(self, args, threads=1, options="", glob="", hard="20s"):
        self.slow = Slow()
        self.dir = tempfile.mkdtemp(prefix="haps.")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", self.dir + "/site.key", "-out",
                        self.dir + "/site.crt", "-days", "2", "-subj", "/CN=localhost"], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        with open(self.dir + "/site.pem", "wb") as out:
            for name in ("crt", "key"):
                with open(self.dir + "/site." + name, "rb") as f:
                    out.write(f.read())
        self.p = lib.ports(3)
        self.proxy = lib.Proxy(args.program, CONF.format(p=self.p, dir=self.dir, server=self.slow.port, threads=threads,
                                                         options=options, glob=glob, hard=hard))

    def stop(self):
        self.proxy.process.send_signal(signal.SIGUSR1)
        # its socket listens no more
        lib.refused(self.p[2])

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.slow.go.set()
        self.proxy.__exit__()
        self.slow.server.close()
        shutil.rmtree(self.dir, ignore_errors=True)


class Http:
    def __init__(self, sock):
        self.sock, self.reader = sock, lib.Reader(sock)

    def send(self, url):
        self.sock.sendall(b"GET %s HTTP/1.1\r\nHost: x\r\n\r\n" % url.encode())
        return self

    def get(self):
        """(status, what it says of the connection), or how it ended."""
        try:
            got = self.reader.response()
        except (OSError, EOFError, ValueError) as e:
            return type(e).__name__
        return (got[0], got[1].get("connection", "")) if got else "end"


def ends(tap, scene, name):
    try:
        tap.eq(scene.proxy.process.wait(lib.PATIENCE), 0, name + ": the process leaves")
    except subprocess.TimeoutExpired:
        tap.ok(False, name + ": the process leaves", scene.proxy.output()[-500:])


def test_with_request(tap, args):
    """A request that is on its way, with or without its answer's head."""
    for threads in (1, 2):
        with Scene(args, threads) as sc:
            slow, body = Http(lib.connect(sc.p[0])).send("/slow"), Http(lib.connect(sc.p[0])).send("/body")
            tap.ok(body.reader.head(), "a head has come")
            half = Http(lib.connect(sc.p[0]))
            half.sock.sendall(b"GET /now HTTP/1.1\r\n")
            time.sleep(0.2)
            sc.stop()
            sc.slow.go.set()
            tap.eq(slow.get(), (200, "close"), "a request that waits: answered, and told that it was the last one")
            half.sock.sendall(b"Host: x\r\n\r\n")
            tap.eq(half.get(), (200, "close"), "half a request: the same")
            tap.eq(body.reader.exactly(10), b"0123456789", "an answer that has begun is whole")
            body.send("/now")
            tap.eq(body.get(), (200, "close"), "its client was not told: it may send once more")
            for c in (slow, half, body):
                tap.eq(c.get(), "end", "then the connection ends")
                c.sock.close()
            ends(tap, sc, "%d threads" % threads)


def test_known_to_rules(tap, args):
    """The fetch stopping, and when(stopping)."""
    with Scene(args) as sc:
        before, after = [Http(lib.connect(sc.p[0])) for _ in range(2)]
        sc.slow.go.set()
        tap.eq(before.send("/slow").reader.response()[1]["x-stopping"].strip(), "0", "stopping: not yet")
        sc.slow.go.clear()
        after.send("/slow")
        tap.ok(lib.until(lambda: sc.proxy.stats()["be", "BACKEND"]["scur"] == "1"), "a request waits")
        sc.stop()
        sc.slow.go.set()
        tap.eq(after.reader.response()[1]["x-stopping"], "1 S", "stopping: rules for its answer know")
        for c in (before, after):
            c.sock.close()
        ends(tap, sc, "rules know")


def test_idle(tap, args):
    with Scene(args) as sc:
        now, never, kept = [Http(lib.connect(sc.p[0])) for _ in range(3)]
        for c in (never, kept):
            tap.eq(c.send("/now").get(), (200, ""), "an answer before")
        time.sleep(1.5)
        tap.eq(now.send("/now").get(), (200, ""), "and one a moment ago")
        sc.stop()
        tap.eq(now.send("/now").get(), (200, "close"), "the client of that one may send once more")
        tap.eq([never.get(), kept.get()], ["end"] * 2, "clients that were idle for longer are closed")
        for c in (now, never, kept):
            c.sock.close()
        ends(tap, sc, "idle clients")
    with Scene(args) as sc:
        c = Http(lib.connect(sc.p[0]))
        tap.eq(c.send("/now").get(), (200, ""), "an answer")
        sc.stop()
        tap.eq(c.get(), "end", "who sends nothing is closed, too")
        ends(tap, sc, "an idle client that does not close")
    with Scene(args, options="option idle-close-on-response") as sc:
        c = Http(lib.connect(sc.p[0]))
        tap.eq(c.send("/now").get(), (200, ""), "idle-close-on-response: an answer")
        sc.stop()
        time.sleep(2)
        tap.eq(c.send("/now").get(), (200, "close"), "later than that it is answered, still")
        c.sock.close()
        ends(tap, sc, "idle-close-on-response")


def test_not_begun(tap, args):
    """Clients that were no clients yet when all were told."""
    with Scene(args, 2) as sc:
        tls, proxy = lib.connect(sc.p[1]), lib.connect(sc.p[2])
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.set_alpn_protocols(["http/1.1"])
        time.sleep(0.2)
        os.kill(sc.proxy.process.pid, signal.SIGSTOP)
        waiting = [Http(lib.connect(sc.p[0])).send("/now") for _ in range(4)]
        sc.proxy.process.send_signal(signal.SIGUSR1)
        os.kill(sc.proxy.process.pid, signal.SIGCONT)
        # they may be accepted before the signal is looked at, but not all threads know of it then
        got = [c.get() for c in waiting]
        end = time.monotonic() + lib.PATIENCE
        again = got
        while (200, "") in again and time.monotonic() < end:
            again = [c.send("/now").get() if g == (200, "") else g for c, g in zip(waiting, again)]
        tap.eq(again, [(200, "close")] * 4, "clients of the backlog are served and told")
        lib.refused(sc.p[2])
        c = Http(context.wrap_socket(tls)).send("/now")
        tap.eq(c.get(), (200, "close"), "a TLS handshake that ends after the stop")
        proxy.sendall(b"PROXY TCP4 127.0.0.1 127.0.0.1 1 2\r\n")
        d = Http(proxy).send("/now")
        tap.eq(d.get(), (200, "close"), "a PROXY header that comes after it")
        for x in waiting + [c, d]:
            x.sock.close()
        ends(tap, sc, "late clients")


def events(c, last=None):
    """What is received until the end, or until <last> holds."""
    out = []
    while not out or not (last and last(out[-1])):
        try:
            e = c.next()
        except socket.timeout:
            return out + ["silent"]
        if e is None:
            return out + ["end"]
        if e[0] in ("headers", "goaway", "rst"):
            out.append((e[0], e[1], dict(e[2]).get(":status") if e[0] == "headers" else e[2]))
    return out


def test_h2(tap, args):
    """GOAWAY: what is on its way is answered, and so is what the client sent before it could know."""
    with Scene(args) as sc:
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.set_alpn_protocols(["h2"])
        late = lib.connect(sc.p[1])
        c = h2.Client(context.wrap_socket(lib.connect(sc.p[1])))
        c.send(h2.headers(1, h2.request("/slow", scheme="https")))
        time.sleep(0.2)
        sc.stop()
        tap.eq(events(c, lambda e: e[0] == "goaway"), [("goaway", 0x7fffffff, 0)], "GOAWAY that refuses nothing comes")
        c.send(h2.headers(3, h2.request("/now", scheme="https")))
        sc.slow.go.set()
        got = events(c)
        tap.eq(sorted(got[:2]), [("headers", 1, "200"), ("headers", 3, "200")], "both requests are answered")
        tap.eq(got[2:], [("goaway", 3, 0), "end"], "then it tells the last stream, and ends")
        d = h2.Client(context.wrap_socket(late))
        d.send(h2.headers(1, h2.request("/now", scheme="https")))
        tap.eq(events(d), [("goaway", 0x7fffffff, 0), ("headers", 1, "200"), ("goaway", 1, 0), "end"],
               "a handshake that ends after the stop: served, and told")
        c.close()
        d.close()
        ends(tap, sc, "HTTP/2")


def no_answer(c, number):
    """Waits for what becomes of a stream."""
    while True:
        e = c.next()
        if e is None or e[0] in ("headers", "rst") and e[1] == number:
            return e[0] == "rst" and e[2] if e else "end"


def test_held(tap, args):
    """Who would like to keep the process: always a stream under way, half a head, one byte of a body now and then."""
    with Scene(args) as sc:
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.set_alpn_protocols(["h2"])
        c = h2.Client(context.wrap_socket(lib.connect(sc.p[1])))
        c.send(h2.headers(1, h2.request("/slow", scheme="https")))
        time.sleep(0.2)
        sc.stop()
        number, got, start = 1, False, time.monotonic()
        while got is False and time.monotonic() < start + 15:
            number += 2
            c.send(h2.headers(number, h2.request("/now", scheme="https")))
            got = no_answer(c, number)
            time.sleep(0.1)
        tap.ok(number > 5 and got == 7, "HTTP/2: streams without end are refused, sooner or later", (number, got))
        sc.slow.go.set()
        tap.eq(events(c), [("headers", 1, "200"), "end"], "what is on its way is answered")
        c.close()
        ends(tap, sc, "streams without end")
    with Scene(args, hard="2s") as sc:
        half, body = Http(lib.connect(sc.p[0])), Http(lib.connect(sc.p[0]))
        for x in (half, body):
            tap.eq(x.send("/now").get(), (200, ""), "an answer before")
        sc.stop()
        half.sock.sendall(b"GET /now HTTP/1.1\r\n")
        body.sock.sendall(b"POST / HTTP/1.1\r\nHost: x\r\ncontent-length: 1000\r\n\r\n")
        until = time.monotonic() + lib.PATIENCE
        try:
            while sc.proxy.process.poll() is None and time.monotonic() < until:
                body.sock.sendall(b"x")
                half.sock.sendall(b"a: b\r\n")
                time.sleep(0.2)
        except OSError:
            pass
        ends(tap, sc, "hard-stop-after: clients that never come to an end")


def test_spread(tap, args):
    """A client is asked to go in HTTP/1, while it has not said yet that it speaks HTTP/2."""
    with Scene(args, glob="\tclose-spread-time 4s\n") as sc:
        c = lib.connect(sc.p[0])
        time.sleep(0.2)
        sc.stop()
        time.sleep(1)
        c = h2.Client(c)
        c.send(h2.headers(1, h2.request("/now")))
        tap.eq(events(c, lambda e: e[0] == "headers"), [("goaway", 0x7fffffff, 0), ("headers", 1, "200")], "HTTP/2 told so late: GOAWAY")
        tap.eq(events(c), [("goaway", 1, 0), "end"], "and the end")
        c.close()
        ends(tap, sc, "close-spread-time")


def test_reloaded(tap, args):
    """Reloads in the process may change the time of idle clients: it is not known then since when they are idle."""
    with Scene(args, options="timeout http-keep-alive 60s", glob="\treload-mode in-process\n") as sc:
        c = Http(lib.connect(sc.p[0]))
        tap.eq(c.send("/now").get(), (200, ""), "an answer")
        path = sc.proxy.conf_path
        with open(path) as f:
            text = f.read()
        with open(path, "w") as f:
            f.write(text.replace("keep-alive 60s", "keep-alive 1s"))
        sc.proxy.process.send_signal(signal.SIGUSR2)
        time.sleep(1)
        sc.stop()
        tap.eq(c.get(), "end", "a client that is idle since nobody knows when is closed")
        ends(tap, sc, "another timeout http-keep-alive")


def main():
    args = lib.arguments(__doc__)
    tap = lib.Tap()
    if lib.is_reference(args.program):
        tap.skip("all", "the reference closes idle clients at once")
        tap.done()
    if not shutil.which("openssl"):
        tap.skip("all", "no openssl")
        tap.done()
    tap.run((test_with_request, test_known_to_rules, test_idle, test_not_begun, test_h2, test_held, test_spread, test_reloaded), args)
    tap.done()


lib.guarded(main)
