#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""HTTP/3 over QUIC, with clients that others wrote: the reference program, and Python's aioquic where it is installed.

Requests and bodies of all kinds both ways, many at once, a network that loses, doubles and reorders datagrams; Retry, version
negotiation, stateless resets, updates of keys, clients that are idle, vanish, break off or do not keep to HTTP/3; a soft stop;
datagrams that are no packets; addresses and tokens that are forged, heads that grow. What else ill-meaning clients may do to the
transport is in tests/unit/quic/t_attack.c.
"""
import asyncio
import concurrent.futures
import contextlib
import hashlib
import os
import random
import re
import signal
import socket
import struct
import subprocess
import tempfile

import lib
import lib_quic

CONF = """
	limited-quic
	nbthread 2
	{tune}
defaults
	mode http
	timeout connect 5s
	timeout client 10s
	timeout server 10s
	timeout http-request {request}
	timeout http-keep-alive {keep}
frontend web
	bind quic4@127.0.0.1:{port} ssl crt {crt} {options}
	http-request set-var(txn.version) req.ver
	http-after-response set-header x-version %[var(txn.version)]
	http-after-response set-header x-tls %[ssl_fc_protocol]
	http-after-response set-header x-sni %[ssl_fc_sni]
	http-after-response set-header x-quic %[quic_enabled]
	http-request return status 204 if {{ path /none }}
	http-request return status 200 content-type text/plain lf-string "%[src] %[dst] %[dst_port]" if {{ path /who }}
	http-request deny deny_status 403 if {{ path /denied }}
	http-request silent-drop if {{ path /silent }}
	http-request reject if {{ path /rejected }}
	default_backend origin
backend origin
	server s1 127.0.0.1:{origin}
"""
CLIENT = """
	expose-experimental-directives
defaults
	mode http
	timeout connect 5s
	timeout client 30s
	timeout server 30s
frontend clear
	bind 127.0.0.1:{port}
	default_backend h3
backend h3
	server s1 quic4@127.0.0.1:{to} ssl verify none alpn h3 sni str(localhost)
"""
MEGABYTE = 1 << 20


class Bed:
    """The program with an origin behind it."""

    def __init__(self, args, crt, options="", tune="", keep="10s", request="5s"):
        self.origin = lib.Server(lib_quic.origin)
        self.port = lib.ports(1)[0]
        self.conf = CONF.format(port=self.port, crt=crt, origin=self.origin.port, options=options, tune=tune, keep=keep,
                                request=request)
        self.proxy = lib.Proxy(args.program, self.conf)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.proxy.__exit__(*exc)
        self.origin.close()


# ---- the reference program as a client

def by_reference(tap, args, crt):
    if not os.access(lib.REFERENCE, os.X_OK):
        tap.apart("reference", "the reference program as a client")
        return
    with Bed(args, crt) as bed:
        port = lib.ports(1)[0]
        with lib.Proxy(lib.REFERENCE, CLIENT.format(port=port, to=bed.port)):
            shapes(tap, port)
            many(tap, port)
        # (as a server, the reference gives up what was lost several times)
        loss = 0.002 if lib.is_reference(args.program) else 0.03
        relay = lib_quic.Relay(bed.port, 7, loss, loss / 3, loss)
        port = lib.ports(1)[0]
        with lib.Proxy(lib.REFERENCE, CLIENT.format(port=port, to=relay.port)):
            lossy(tap, port, relay)
        relay.close()
        tap.ok(bed.proxy.alive(), "the program still runs")


def shapes(tap, port):
    status, fields, body = lib_quic.ask(port, path="/100")
    tap.eq((status, body), (200, lib_quic.body_of(100)), "reference: GET")
    tap.eq([fields.get("x-" + n) for n in ("version", "tls", "sni", "quic")], ["3.0", "TLSv1.3", "localhost", "1"],
           "what fetches say of the connection")
    tap.eq(lib_quic.ask(port, path="/none")[0], 204, "reference: 204")
    tap.eq(lib_quic.ask(port, path="/denied")[0], 403, "reference: a request that is denied")
    tap.ok(lib_quic.is_whole(lib_quic.ask(port, path="/chunked/30000"), 30000), "reference: an answer without a length")
    for n in 0, 1, 1000, 100000:
        body = lib_quic.body_of(n)
        tap.eq(lib_quic.ask(port, "POST", "/", body)[2], lib_quic.digest(body), "reference: POST of %d bytes" % n)
        tap.eq(lib_quic.ask(port, "POST", "/", body, chunked=True)[2], lib_quic.digest(body), "reference: POST of %d bytes in chunks" % n)
    large = [("x-large-%d" % i, "v" * 900) for i in range(12)]
    tap.eq(lib_quic.ask(port, path="/1", fields=large)[0], 200, "reference: a head of 11 kB")
    body = os.urandom(10 * MEGABYTE)
    tap.eq(lib_quic.ask(port, "POST", "/", body)[2], lib_quic.digest(body), "reference: 10 MB up")
    tap.ok(lib_quic.is_whole(lib_quic.ask(port, path="/10000000"), 10000000), "reference: 10 MB down")


def many(tap, port):
    sizes = [(i * 7919) % 200000 for i in range(300)]
    with concurrent.futures.ThreadPoolExecutor(100) as pool:
        got = list(pool.map(lambda n: lib_quic.ask(port, path="/%d" % n), sizes))
        good = sum(lib_quic.is_whole(a, n) for a, n in zip(got, sizes))
        tap.eq(good, len(sizes), "reference: 300 downloads, 100 at once")
        bodies = [lib_quic.body_of(n) for n in sizes]
        got = list(pool.map(lambda b: lib_quic.ask(port, "POST", "/", b), bodies))
        wrong = [(len(b), g) for g, b in zip(got, bodies) if g[2] != lib_quic.digest(b)]
        tap.eq(wrong, [], "reference: 300 uploads, 100 at once")


def lossy(tap, port, relay):
    body = os.urandom(2 * MEGABYTE)
    tap.eq(lib_quic.ask(port, "POST", "/", body)[2], lib_quic.digest(body), "lossy network: 2 MB up")
    tap.ok(lib_quic.is_whole(lib_quic.ask(port, path="/2000000"), 2000000), "lossy network: 2 MB down")
    with concurrent.futures.ThreadPoolExecutor(20) as pool:
        got = list(pool.map(lambda n: lib_quic.ask(port, path="/%d" % n), [20000] * 60))
    tap.eq(sum(lib_quic.is_whole(a, 20000) for a in got), 60, "lossy network: 60 downloads, 20 at once")
    tap.ok(relay.lost, "lossy network: some of %d datagrams were lost" % relay.passed)


# ---- aioquic

async def talk(tap, bed):
    async with lib_quic.client(bed.port, server_name="a.test") as c:
        status, fields, body, _ = await c.request("GET", "/who")
        tap.eq((status, body.split()), (200, [b"127.0.0.1", b"127.0.0.1", b"%d" % bed.port]), "aioquic: addresses")
        tap.eq((fields.get(b"x-version"), fields.get(b"x-sni")), (b"3.0", b"a.test"), "aioquic: version and name")
        status, fields, body, _ = await c.request("HEAD", "/100")
        tap.eq((status, fields.get(b"content-length"), body), (200, b"100", b""), "aioquic: HEAD")
        _, _, body, trailers = await c.request("GET", "/chunked/50000")
        tap.eq((body == lib_quic.body_of(50000), dict(trailers or [])),
               (True, {b"x-sum": hashlib.md5(body).hexdigest().encode()}), "aioquic: trailers of an answer")
        up = os.urandom(300000)
        _, _, body, _ = await c.request("POST", "/", up, trailers=[(b"x-tail", b"1")])
        tap.eq(body, lib_quic.digest(up), "aioquic: a body with trailers")
        _, _, body, _ = await c.request("POST", "/", up, extra=[(b"content-length", b"300000")])
        tap.eq(body, lib_quic.digest(up), "aioquic: a body with a length")
        got = await asyncio.gather(*(c.request("GET", "/%d" % (i * 301)) for i in range(100)))
        tap.eq(sum(g[2] == lib_quic.body_of(i * 301) for i, g in enumerate(got)), 100, "aioquic: 100 requests at once")
        got = await asyncio.gather(*(c.request("POST", "/", up[:i * 1000]) for i in range(100)))
        tap.eq(sum(g[2] == lib_quic.digest(up[:i * 1000]) for i, g in enumerate(got)), 100, "aioquic: 100 uploads at once")
        for i in range(4):
            c._quic.request_key_update()
            _, _, body, _ = await c.request("GET", "/100000")
            tap.ok(body == lib_quic.body_of(100000), "aioquic: update of keys %d" % (i + 1))
        for i in range(500):
            status = (await c.request("GET", "/1"))[0]
            if status != 200:
                break
        tap.eq(status, 200, "aioquic: 500 requests one after the other")


async def break_off(tap, bed):
    async with lib_quic.client(bed.port) as c:
        streams = [c.begin("GET", "/never") for _ in range(20)] + [c.begin("GET", "/10000000") for _ in range(5)]
        uploads = [c.begin("POST", "/", ended=False) for _ in range(20)]
        for s in uploads:
            c.h3.send_data(s, b"x" * 5000, False)
        c.transmit()
        await asyncio.sleep(0.3)
        for s in streams + uploads:
            if s in uploads or s % 3:
                c._quic.reset_stream(s, 0x10c) if s in uploads else None
            c._quic.stop_stream(s, 0x10c)
        c.transmit()
        tap.eq((await c.request("GET", "/5000"))[2], lib_quic.body_of(5000), "aioquic: a request behind 45 that are broken off")
    streams = lambda: bed.proxy.stats()["origin", "BACKEND"]["scur"] == "0"
    tap.ok(lib.until(streams, 3 * lib.PATIENCE), "aioquic: nothing is left of them")


async def expect_end(tap, bed, name, codes, act):
    """The connection ends with one of <codes> once <act> was done."""
    async with lib_quic.client(bed.port) as c:
        await c.request("GET", "/1")
        act(c)
        for _ in range(200):
            if c.ended is not None:
                break
            await asyncio.sleep(0.05)
        tap.ok(c.ended in codes, "bad client: " + name, "ended with %r" % c.ended)


async def expect_reset(tap, bed, name, act):
    """The stream is reset, or answered by 4xx, and the connection goes on."""
    async with lib_quic.client(bed.port) as c:
        await c.request("GET", "/1")
        try:
            status = (await c.answer(act(c)))[0]
        except ConnectionError as e:
            status = 400 if "reset" in str(e) else str(e)
        tap.ok(str(status).startswith("4") and (await c.request("GET", "/1"))[0] == 200, "bad request: " + name, status)


async def bad_clients(tap, bed):
    frame = lambda kind, body=b"": bytes([kind]) + bytes([len(body)]) + body
    ours = not lib.is_reference(bed.proxy.process.args[0])
    await expect_end(tap, bed, "DATA before HEADERS", [0x105], lambda c: c.raw(frame(0, b"abc"), True))
    await expect_end(tap, bed, "SETTINGS on a request", [0x105], lambda c: c.raw(frame(4), False))
    await expect_end(tap, bed, "a dynamic table that is not there", [0x200], lambda c: c.raw(frame(1, b"\2\0\x80"), True))
    if ours:
        await expect_end(tap, bed, "the control stream is closed", [0x104],
                         lambda c: (c._quic.send_stream_data(c.h3._local_control_stream_id, b"", True), c.transmit()))
        await expect_end(tap, bed, "our control stream is to end", [0x104], lambda c: (c._quic.stop_stream(3, 0x100), c.transmit()))
        await expect_end(tap, bed, "a frame that is cut", [0x106], lambda c: c.raw(frame(1)[:1] + b"\x40", True))
    on = lambda which, data: lambda c: (c._quic.send_stream_data(getattr(c.h3, "_local_%s_stream_id" % which), data), c.transmit())
    await expect_end(tap, bed, "its encoder makes a table", [0x201], on("encoder", b"\x3f\xe1\x1f"))
    await expect_end(tap, bed, "its encoder fills a table", [0x201], on("encoder", b"\xc0\1a"))
    await expect_end(tap, bed, "its decoder has got nothing", [0x202], on("decoder", b"\0"))
    await expect_end(tap, bed, "it cancels a push", [0x108], on("control", b"\3\1\0"))
    await expect_end(tap, bed, "its GOAWAY is empty", [0x106], on("control", b"\7\0"))
    await expect_end(tap, bed, "its SETTINGS come again", [0x105], on("control", b"\4\0"))
    if ours:
        await expect_end(tap, bed, "its decoder acknowledges nothing", [0x202], on("decoder", b"\x44\x7f\x81\1\x80"))
        await expect_end(tap, bed, "its MAX_PUSH_ID goes back", [0x108], on("control", b"\x0d\1\x3f\x0d\1\x3e"))
    async with lib_quic.client(bed.port) as c:
        await c.request("GET", "/1")
        for which, data in ("encoder", b"\x20"), ("decoder", b"\x44\x7f\x81\1"), ("control", b"\x0d\1\x3f\7\1\0\x21\0"):
            on(which, data)(c)
        tap.eq((await c.request("GET", "/1"))[0], 200, "what such streams may say")
    heads = {
        "no :path": [(b":method", b"GET"), (b":scheme", b"https"), (b":authority", b"a")],
        "upper case in a name": [(b":method", b"GET"), (b":scheme", b"https"), (b":authority", b"a"), (b":path", b"/"),
                                 (b"X-Up", b"1")],
        "Connection": [(b":method", b"GET"), (b":scheme", b"https"), (b":authority", b"a"), (b":path", b"/"),
                       (b"connection", b"close")],
        "a Host that is not the authority": [(b":method", b"GET"), (b":scheme", b"https"), (b":authority", b"a"), (b":path", b"/"),
                                             (b"host", b"b")],
        "no host at all": [(b":method", b"GET"), (b":scheme", b"https"), (b":path", b"/")],
        "an authority that is empty": [(b":method", b"GET"), (b":scheme", b"https"), (b":authority", b""), (b":path", b"/")],
        "Transfer-Encoding": [(b":method", b"POST"), (b":scheme", b"https"), (b":authority", b"a"), (b":path", b"/"),
                              (b"transfer-encoding", b"chunked")],
    }
    for name, pseudo in heads.items():
        # the client's own checks are passed by
        def act(c, pseudo=pseudo):
            encoder, section = c.h3._encoder.encode(0, pseudo)
            return c.raw(b"\1" + struct.pack(">H", 0x4000 | len(section)) + section, True)
        await expect_reset(tap, bed, name, act)
    if ours:
        await expect_reset(tap, bed, "an end before the head", lambda c: c.raw(b"", True))

        def short(c):
            stream = c.begin("POST", "/", extra=[(b"content-length", b"10")], ended=False)
            c.h3.send_data(stream, b"12345", True)
            c.transmit()
            return stream
        await expect_reset(tap, bed, "less body than announced", short)


async def reloads(tap, bed):
    async with lib_quic.client(bed.port) as c:
        stream = c.begin("POST", "/", ended=False)
        c.h3.send_data(stream, b"a" * 1000, False)
        c.transmit()
        await asyncio.sleep(0.2)
        tap.ok("Success=1" in bed.proxy.ctl("reload"), "reload: the configuration is taken")
        c.h3.send_data(stream, b"b" * 1000, True)
        c.transmit()
        tap.eq((await c.answer(stream))[2], lib_quic.digest(b"a" * 1000 + b"b" * 1000), "reload: a connection goes on")
        for i in range(10):
            async with lib_quic.client(bed.port) as other:
                status = (await other.request("GET", "/100"))[0]
            if status != 200:
                break
        tap.eq(status, 200, "reload: 10 other clients come in")
        tap.eq((await c.request("GET", "/100"))[0], 200, "reload: the connection still goes on")


async def kills(tap, bed):
    for path, code in ("/silent", None), ("/rejected", 0x107):
        async with lib_quic.client(bed.port) as c:
            await c.request("GET", "/1")
            c.begin("GET", path)
            await asyncio.sleep(1)
            tap.eq(c.ended, code, "a rule ends the connection: " + path)


async def goes_idle(tap, args, crt):
    with Bed(args, crt, tune="tune.quic.fe.max-idle-timeout 1s") as bed:
        async with lib_quic.client(bed.port) as c:
            await c.request("GET", "/1")
            busy = lambda: bed.proxy.info()["CurrConns"] == "0"
            tap.ok(lib.until(busy), "an idle client's connection ends")
    with Bed(args, crt, keep="1s") as bed:
        async with lib_quic.client(bed.port) as c:
            await c.request("GET", "/1")
            for _ in range(200):
                if c.ended is not None:
                    break
                await asyncio.sleep(0.05)
            tap.eq(c.ended, 0x100, "timeout http-keep-alive ends a connection with H3_NO_ERROR")
    with Bed(args, crt, keep="30m", request="1s") as bed:
        async with lib_quic.client(bed.port) as c:
            await c.request("GET", "/1")
            c.raw(b"\1\x10\0")
            for _ in range(400):
                if c.ended is not None:
                    break
                await asyncio.sleep(0.05)
            tap.eq(c.ended, 0x100, "timeout http-request ends one whose second head does not come")


async def vanishes(tap, args, crt):
    with Bed(args, crt, tune="tune.quic.fe.max-idle-timeout 2s") as bed:
        relay = lib_quic.Relay(bed.port, 1, 0, 0, 0)
        async with lib_quic.client(relay.port) as c:
            await c.request("GET", "/1")
            c.begin("GET", "/10000000")
            c.begin("GET", "/never")
            await asyncio.sleep(0.2)
            relay.silent = True
            gone = lambda: bed.proxy.info()["CurrConns"] == "0"
            ended = await asyncio.get_event_loop().run_in_executor(None, lib.until, gone, 3 * lib.PATIENCE)
            tap.ok(ended, "a client that vanishes in the middle is let go of")
        relay.close()


# differs: quic-socket-default
SOCKETS = (("", "", None), ("quic-socket connection", "", True), ("", "tune.quic.fe.sock-per-conn default-on", True),
           ("quic-socket listener", "tune.quic.fe.sock-per-conn default-on", False),
           ("quic-socket connection", "tune.quic.fe.sock-per-conn force-off", False))


async def own_sockets(tap, args, crt):
    loop = asyncio.get_event_loop()
    for options, tune, own in SOCKETS:
        if own is None:
            own = lib.is_reference(args.program)
        with Bed(args, crt, options=options, tune=tune) as bed:
            async with contextlib.AsyncExitStack() as stack: # (two threads: two shared sockets)
                clients = [await stack.enter_async_context(lib_quic.client(bed.port)) for _ in range(4)]
                got = [await c.request("POST", "/", b"x" * 100000) for c in clients]
                text = await loop.run_in_executor(None, bed.proxy.ctl, "show quic full")
                fds = re.findall(r"fd=(-?\d+)", text)
                tap.eq(([g[2] for g in got], len(set(fds)) == 4), ([lib_quic.digest(b"x" * 100000)] * 4, own),
                       "sockets of connections: %s %s" % (options, tune))
            # (what the old connection says yet goes to the same socket)
            port = lib.ports(1)[0]
            for i in range(3):
                async with lib_quic.client(bed.port, local_port=port) as c:
                    tap.eq((await c.request("GET", "/30000"))[2], lib_quic.body_of(30000),
                           "the same port of the client, time %d: %s %s" % (i + 1, options, tune))


async def taken_over(tap, args, crt):
    """With sockets of their own, connections stay with the old process when a new one takes over."""
    if lib.is_reference(args.program): # (it breaks off what is on its way)
        return
    loop = asyncio.get_event_loop()
    with Bed(args, crt, tune="tune.quic.fe.sock-per-conn default-on") as bed:
        async with lib_quic.client(bed.port) as c:
            await c.request("GET", "/1")
            stream = c.begin("POST", "/", ended=False)
            c.h3.send_data(stream, b"a" * 1000, False)
            c.transmit()
            await loop.run_in_executor(None, lib.until, lambda: "txoff" in bed.proxy.ctl("show quic stream"))
            new = await loop.run_in_executor(None, lambda: lib.Proxy(args.program, bed.conf, ("-sf", str(bed.proxy.process.pid))))
            with new:
                async with lib_quic.client(bed.port) as d:
                    tap.eq((await d.request("GET", "/30000"))[2], lib_quic.body_of(30000), "taken over: the new process serves")
                    more = b"b" * 300000
                    c.h3.send_data(stream, more, True)
                    c.transmit()
                    tap.eq((await c.answer(stream))[2], lib_quic.digest(b"a" * 1000 + more), "taken over: the old one ends what it has begun")
                    old = bed.proxy.process
                    tap.eq(await loop.run_in_executor(None, old.wait, 3 * lib.PATIENCE), 0, "taken over: then it ends")
                    tap.eq((await d.request("GET", "/30000"))[2], lib_quic.body_of(30000), "taken over: the new one goes on")


async def moves(tap, args, crt):
    if lib.is_reference(args.program): # (such clients wait in vain)
        return
    for tune in "", "tune.quic.fe.sock-per-conn default-on":
        await moves_about(tap, args, crt, tune)


async def moves_about(tap, args, crt, tune):
    with Bed(args, crt, tune=tune) as bed:
        relay = lib_quic.Relay(bed.port, 1, 0, 0, 0)
        async with lib_quic.client(relay.port) as c:
            await c.request("GET", "/1")
            for i in range(5):
                down = c.begin("GET", "/1000000")
                await asyncio.sleep(0.02)
                relay.move()
                up = os.urandom(200000)
                got = await c.request("POST", "/", up)
                tap.eq((got[2], (await c.answer(down))[2] == lib_quic.body_of(1000000)), (lib_quic.digest(up), True),
                       "a client whose port changes, time %d %s" % (i + 1, tune))
        relay.close()


async def retries(tap, args, crt):
    with Bed(args, crt, options="quic-force-retry", tune="cluster-secret x") as bed:
        async with lib_quic.client(bed.port) as c:
            tap.eq((await c.request("GET", "/30000"))[2], lib_quic.body_of(30000), "quic-force-retry")
            tap.ok(c._quic._retry_source_connection_id, "the client was sent a Retry")
    for algo in "newreno", "cubic(100k)", "nocc":
        with Bed(args, crt, "quic-cc-algo " + algo, "expose-experimental-directives") as bed:
            async with lib_quic.client(bed.port) as c:
                tap.eq((await c.request("GET", "/1000000"))[2], lib_quic.body_of(1000000), "quic-cc-algo " + algo)
    with Bed(args, crt, tune="tune.quic.fe.stream.max-total 3") as bed:
        async with lib_quic.client(bed.port) as c:
            got = [(await c.request("GET", "/1"))[0] for _ in range(3)]
            for _ in range(200):
                if c.ended is not None:
                    break
                await asyncio.sleep(0.05)
            tap.eq((got, c.ended), ([200] * 3, 0x100), "3 requests in all, then the connection ends")
    with Bed(args, crt, tune="tune.quic.fe.stream.max-concurrent 5\n\ttune.quic.fe.stream.rxbuf 32k") as bed:
        async with lib_quic.client(bed.port) as c:
            up = os.urandom(100000)
            got = await asyncio.gather(*(c.request("POST", "/", up) for _ in range(20)))
            tap.eq(sum(g[2] == lib_quic.digest(up) for g in got), 20, "20 uploads, 5 at once, through small windows")


V1, V2 = 1, 0x6b3343cf


async def versions(tap, args, crt):
    """Of the versions that a client lists the first that is known is used (RFC 9368, RFC 9369)."""
    up = os.urandom(100000)
    for options in "", "quic-force-retry":
        with Bed(args, crt, options=options, tune="cluster-secret x") as bed:
            relay = lib_quic.Relay(bed.port, 11, 0, 0.02, 0.05)
            for first, listed in ((V1, [V1]), (V2, [V2]), (V1, [V2, V1]), (V1, [V1, V2]), (V2, [V2, V1]), (V2, [V1, V2])):
                what = "%s begins with %x, lists %s" % (options or "a client", first, ["%x" % v for v in listed])
                async with lib_quic.client(relay.port, original_version=first, supported_versions=listed) as c:
                    got = await c.request("POST", "/", up), await c.request("GET", "/300000")
                    c._quic.request_key_update()
                    more = await c.request("GET", "/300000")
                    tap.eq((c._quic._version, got[0][2], lib_quic.is_whole(got[1], 300000), lib_quic.is_whole(more, 300000)),
                           (listed[0], lib_quic.digest(up), True, True), what)
                    if not options:
                        loop = asyncio.get_event_loop()
                        text = (await loop.run_in_executor(None, bed.proxy.ctl, "show quic full"))
                        said = [line.strip() for line in text.split("\n") if "versions:" in line]
                        tap.eq(said, ["versions:chosen=0x%08x,negotiated=0x%08x" % (first, listed[0])], what + ": show quic")
            relay.close()


async def congestion_marks(tap, args, crt):
    """Explicit congestion notification: marks that come are told, and ours end with a peer that does not tell of them, as aioquic."""
    if lib.is_reference(args.program):
        return
    connection, kinds = lib_quic.QuicConnection, []
    plain = connection._handle_ack_frame
    connection._handle_ack_frame = lambda self, context, kind, buf: (kinds.append(int(kind)), plain(self, context, kind, buf))[1]
    try:
        with Bed(args, crt) as bed:
            for mark, name in (0, "no mark"), (2, "ECT(0)"), (3, "CE"):
                relay = lib_quic.Relay(bed.port, 1, loss=0, twice=0, late=0, mark=mark)
                kinds.clear()
                async with lib_quic.client(relay.port) as c:
                    got = [await c.request("GET", "/100000") for _ in range(3)]
                relay.close()
                tap.eq([g[0] for g in got], [200] * 3, "marks: %s: requests are answered" % name)
                tap.eq(set(kinds), {3 if mark else 2}, "marks: %s: what is acknowledged tells of it" % name)
                tap.ok(relay.marks[0] == 2 and set(relay.marks) == {0, 2} and set(relay.marks[-20:]) == {0},
                       "marks: %s: ours end when the peer does not tell of them" % name, relay.marks[:40])
    finally:
        connection._handle_ack_frame = plain


def first_datagrams(bed, token=b""):
    """What a client says first."""
    c = lib_quic.QuicConnection(configuration=lib_quic.QuicConfiguration(is_client=True, alpn_protocols=lib_quic.H3_ALPN,
                                                                         token=token))
    c.connect(("127.0.0.1", bed.port), now=0)
    return [d for d, _ in c.datagrams_to_send(now=0)]


def answers_to(bed, datagrams, seconds=0.5, first=None):
    """What comes back within a while, to a client that says no more; the first may take longer."""
    got = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.connect(("127.0.0.1", bed.port))
        for d in datagrams:
            s.send(d)
        s.settimeout(first or seconds)
        try:
            while True:
                got.append(s.recv(65536))
                s.settimeout(seconds)
        except (TimeoutError, ConnectionError):
            return got


def is_retry(datagram):
    return datagram[:1] and datagram[0] & 0xf0 == 0xf0 and datagram[1:5] == b"\0\0\0\1"


async def forgeries(tap, args, crt):
    if lib.is_reference(args.program):
        return
    with Bed(args, crt) as bed:
        first = first_datagrams(bed)
        got = answers_to(bed, first[:1], 4)
        tap.ok(2 <= len(got) and sum(map(len, got)) <= 3 * len(first[0]),
               "an address that is not proved gets at most three times what came from it", [len(g) for g in got])
        noise = [first[0][:30] + os.urandom(len(first[0]) - 30) for _ in range(300)]
        tap.eq(answers_to(bed, noise), [], "300 first packets that are noise are not answered")
        tap.ok(lib.until(lambda: bed.proxy.info()["CurrConns"] == "0"), "and nothing is left of them")
        async with lib_quic.client(bed.port) as c:
            tap.eq((await c.request("GET", "/1"))[0], 200, "nor do others have to prove their address because of them")
        resets = [answers_to(bed, [b"\x41" + bytes((0, thread)) + os.urandom(60)], 0.3, lib.PATIENCE)
                  for thread in (0, 1) for _ in range(8)]
        tap.eq([(len(r), r[0][0] & 0xc0, len(r[0]) < 63) for r in resets], [(1, 0x40, True)] * 16,
               "packets of connections that nobody knows are answered by shorter resets, whichever thread gets them")
        resets = [answers_to(bed, [b"\x41\0\0" + bytes(60)], 0.3, lib.PATIENCE)[0][-16:] for _ in range(2)]
        tap.ok(resets[0] == resets[1], "the token of a reset is that of its id")
    with Bed(args, crt, options="quic-force-retry", tune="cluster-secret x") as bed:
        got = answers_to(bed, first_datagrams(bed)[:1])
        tap.ok(len(got) == 1 and is_retry(got[0]) and len(got[0]) < 300, "a Retry is one small datagram")
        at = 6 + got[0][5]
        token = got[0][at + 1 + got[0][at]:-16]
        # differs: quic-bad-tokens
        forged = [b"", b"\x51" + os.urandom(len(token) - 1), b"x", b"x" * 500, token[:-1], b"\x52" * 80]
        kinds = [[is_retry(g) for g in answers_to(bed, first_datagrams(bed, t)[:1])] for t in forged]
        tap.eq(kinds, [[True]] * len(forged), "tokens that are none of ours prove nothing")
        forged = [token, token[:-1] + bytes([token[-1] ^ 1])]
        kinds = [[(g[0] & 0xf0, len(g) < 100) for g in answers_to(bed, first_datagrams(bed, t)[:1])] for t in forged]
        tap.eq(kinds, [[(0xc0, True)]] * len(forged), "tokens of another client, or changed: it is told at once, in a small packet")


async def backlog(tap, args, crt):
    """Half as many handshakes as a line's backlog go on at the same time: first packets beyond that are passed over."""
    with Bed(args, crt, options="backlog 4", request="5s\n\ttimeout client-hs 3s") as bed, contextlib.ExitStack() as stack:
        def is_answered(seconds):
            s = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
            s.connect(("127.0.0.1", bed.port))
            s.send(first_datagrams(bed)[0])
            s.settimeout(seconds)
            try:
                return len(s.recv(65536)) > 0
            except TimeoutError:
                return False
        row = lambda: int(bed.proxy.stats()["web", "FRONTEND"]["quic_half_open_conn"])
        tap.eq([is_answered(lib.PATIENCE) for _ in range(2)], [True, True], "two handshakes of a backlog of 4 are answered")
        tap.eq(row(), 2, "both go on")
        tap.ok(not is_answered(0.5), "a third one is not answered")
        tap.eq(row(), 2, "nor counted")
        tap.ok(lib.until(lambda: row() < 2), "until one has ended")
        async with lib_quic.client(bed.port) as c:
            tap.eq((await c.request("GET", "/1"))[0], 200, "then others are served")


async def bombs(tap, args, crt):
    """Heads that are small on the wire."""
    with Bed(args, crt) as bed:
        static = b"\xc0" + bytes([0x80 | 0x40 | 17]) + bytes([0xc0 | 1, 0xc0 | 23])
        frame = lambda fields: b"\1" + struct.pack(">I", 0x80000000 | len(fields) + 2) + b"\0\0" + fields
        await expect_reset(tap, bed, "150 fields", lambda c: c.raw(frame(static + b"\xc2" * 150), True))
        await expect_reset(tap, bed, "a head beyond a block", lambda c: c.raw(frame(static + b"\xc2" * 60000), False))
        # (these stand for several times what may be kept: no honest client sends them, codec/h2_head.h)
        for name, fields in {
            "9000 short fields": b"\xc2" * 9000, "4500 long ones": b"\xff\x16" * 4500,
            "a Huffman string that grows": b"\x23x-a" + b"\xff\xe1\x5c" + bytes(12000),
        }.items():
            await expect_end(tap, bed, "a bomb of " + name, [0x200, 0x107], lambda c, f=fields: c.raw(frame(static + f), True))
        for name, prefix in ("a count of insertions", b"\x05\0"), ("a base", b"\xff\xff\xff\x01\x80"):
            await expect_end(tap, bed, "a head that waits for a table: " + name, [0x200],
                             lambda c, prefix=prefix: c.raw(b"\1" + bytes([len(prefix) + 1]) + prefix + b"\x80", True))
        tap.ok(bed.proxy.alive(), "the program still runs")


async def glitches(tap, args, crt):
    if lib.is_reference(args.program): # (faults of heads are none to it)
        return
    with Bed(args, crt, tune="tune.quic.fe.sec.glitches-threshold 4") as bed:
        for faults, code in (3, None), (4, 0x107):
            async with lib_quic.client(bed.port) as c:
                await c.request("GET", "/1")
                for _ in range(faults):
                    c.raw(b"\1\2\0\0", True)
                for _ in range(100 if code else 5):
                    if c.ended is None:
                        await asyncio.sleep(0.1)
                tap.eq(c.ended, code, "tune.quic.fe.sec.glitches-threshold 4, %d faults" % faults)
    for tune in "tune.quic.fe.tx.pacing off", "tune.quic.fe.tx.udp-gso off", "tune.quic.fe.cc.hystart on", \
            "tune.quic.fe.cc.cubic-min-losses 2", "tune.quic.fe.sock-per-conn force-off":
        with Bed(args, crt, tune=tune) as bed:
            async with lib_quic.client(bed.port) as c:
                tap.eq((await c.request("GET", "/1000000"))[2], lib_quic.body_of(1000000), tune)


async def soft_stop(tap, args, crt):
    with Bed(args, crt) as bed:
        async with lib_quic.client(bed.port) as c:
            await c.request("GET", "/1")
            stream = c.begin("POST", "/", ended=False)
            c.h3.send_data(stream, b"a" * 1000, False)
            c.transmit()
            await asyncio.sleep(0.3)
            bed.proxy.process.send_signal(signal.SIGUSR1)
            await asyncio.sleep(0.3)
            c.h3.send_data(stream, b"b" * 1000, True)
            c.transmit()
            tap.eq((await c.answer(stream))[2], lib_quic.digest(b"a" * 1000 + b"b" * 1000), "soft stop: what is on its way is served")
            stopped = await asyncio.get_event_loop().run_in_executor(None, bed.proxy.process.wait, 3 * lib.PATIENCE)
            tap.eq(stopped, 0, "soft stop: then the process ends")


def by_aioquic(tap, args, crt):
    if not lib_quic.HAVE_AIOQUIC:
        tap.skip("aioquic as a client", "the Python module aioquic is not installed")
        return
    with Bed(args, crt) as bed:
        asyncio.run(talk(tap, bed))
        asyncio.run(break_off(tap, bed))
        asyncio.run(bad_clients(tap, bed))
        if not lib.is_reference(args.program):
            asyncio.run(kills(tap, bed))
            asyncio.run(reloads(tap, bed))
        tap.ok(bed.proxy.alive(), "the program still runs")
    for part in goes_idle, vanishes, retries, versions, own_sockets, taken_over, moves, forgeries, backlog, bombs, glitches, congestion_marks:
        asyncio.run(part(tap, args, crt))
    asyncio.run(soft_stop(tap, args, crt))


# ---- settings

OLD_NAMES = {
    "tune.quic.cc.cubic.min-losses": ("2", "fe.cc.cubic-min-losses"),
    "tune.quic.cc-hystart": ("on", "fe.cc.hystart"),
    "tune.quic.disable-tx-pacing": ("", "fe.tx.pacing"),
    "tune.quic.disable-udp-gso": ("", "fe.tx.udp-gso"),
    "tune.quic.frontend.default-max-window-size": ("100k", "fe.cc.max-win-size"),
    "tune.quic.frontend.glitches-threshold": ("10", "fe.sec.glitches-threshold"),
    "tune.quic.frontend.max-data-size": ("100k", "fe.stream.rxbuf"),
    "tune.quic.frontend.max-idle-timeout": ("10s", "fe.max-idle-timeout"),
    "tune.quic.frontend.max-streams-bidi": ("10", "fe.stream.max-concurrent"),
    "tune.quic.frontend.stream-data-ratio": ("50", "fe.stream.data-ratio"),
    "tune.quic.retry-threshold": ("5", "fe.sec.retry-threshold"),
    "tune.quic.socket-owner": ("listener", "fe.sock-per-conn"),
    "tune.quic.frontend.max-tx-mem": ("10m", "mem.tx-max"),
    "tune.quic.max-frame-loss": ("5", "fe.cc.max-frame-loss"),
    "tune.quic.reorder-ratio": ("20", "fe.cc.reorder-ratio"),
}
BAD_VALUES = {
    "tune.quic.fe.cc.hystart maybe": "'tune.quic.fe.cc.hystart' expects 'on' or 'off'.",
    "tune.quic.fe.tx.pacing maybe": "'tune.quic.fe.tx.pacing' expects 'on' or 'off'.",
    "tune.quic.fe.tx.udp-gso maybe": "'tune.quic.fe.tx.udp-gso' expects 'on' or 'off'.",
    "tune.quic.cc-hystart x": "'tune.quic.cc-hystart' expects 'on' or 'off'.",
    "tune.quic.fe.sock-per-conn maybe":
        "'tune.quic.fe.sock-per-conn' expects either 'default-on' or 'force-off' but got 'maybe'.",
    "tune.quic.socket-owner x": "'tune.quic.socket-owner' expects either 'listener' or 'connection' but got 'x'.",
    "tune.quic.fe.sec.glitches-threshold x": "'tune.quic.fe.sec.glitches-threshold'",
    "tune.quic.fe.cc.max-frame-loss 0": "'tune.quic.fe.cc.max-frame-loss'",
    "tune.quic.be.cc.reorder-ratio x": "'tune.quic.be.cc.reorder-ratio'",
    "tune.quic.mem.tx-max 0": "'tune.quic.mem.tx-max' expects a positive integer.",
    "tune.quic.frontend.max-streams-bidi x": "'tune.quic.frontend.max-streams-bidi'",
}


def check(args, folder, lines):
    path = os.path.join(folder, "check.cfg")
    with open(path, "w") as f:
        f.write("global\n" + "".join("\t%s\n" % line for line in lines) +
                "defaults\n\ttimeout connect 1s\n\ttimeout client 1s\n\ttimeout server 1s\nlisten a\n\tbind 127.0.0.1:1\n")
    out = subprocess.run([args.program, "-c", "-f", path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return out.returncode, out.stdout


def settings(tap, args, crt):
    folder = os.path.dirname(crt)
    code, text = check(args, folder, ["%s %s" % (name, value) for name, (value, _) in OLD_NAMES.items()])
    tap.ok(code == 0, "old names of settings are taken", text)
    for name, (_, new) in OLD_NAMES.items():
        tap.ok("'%s' is deprecated in 3.3 and will be removed in 3.5. Please use the newer keyword syntax 'tune.quic.%s'."
               % (name, new) in text, name, text)
    code, text = check(args, folder, ["tune.quic.zero-copy-fwd-send off"])
    tap.ok(code == 0, "tune.quic.zero-copy-fwd-send", text)
    for line, message in BAD_VALUES.items():
        code, text = check(args, folder, [line])
        tap.ok(code == 1 and message in text, "refused: " + line, text)
    for line in "tune.quic.fe.sock-per-conn default-on", "tune.quic.socket-owner connection":
        code, text = check(args, folder, [line])
        tap.ok(code == 0, "taken: " + line, text)


# ---- datagrams

def by_hand(tap, args, crt):
    rnd = random.Random(5)
    with Bed(args, crt) as bed, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.settimeout(lib.PATIENCE)
        s.connect(("127.0.0.1", bed.port))
        dcid, scid = b"12345678", b"abcd"
        odd = b"\xc0\x1a\x2a\x3a\x4a" + bytes([len(dcid)]) + dcid + bytes([len(scid)]) + scid
        s.send(odd + bytes(1200 - len(odd)))
        got = s.recv(2000)
        versions = [got[i:i + 4] for i in range(7 + len(dcid) + len(scid), len(got), 4)]
        tap.eq((got[0] & 0x80, got[1:5], got[5:7 + len(dcid) + len(scid)]),
               (0x80, bytes(4), bytes([len(scid)]) + scid + bytes([len(dcid)]) + dcid), "version negotiation")
        for name, v in ("1", b"\0\0\0\1"), ("2", b"\x6b\x33\x43\xcf"):
            tap.ok(v in versions, "it offers version " + name, versions)
        for i in range(3000):
            n = rnd.choice((0, 1, 5, 20, 21, 43, 100, 1200, 1200, 1400))
            data = bytearray(rnd.randbytes(n))
            if n > 20 and i % 3:
                data[:14] = bytes([0xc0 | rnd.randrange(64)]) + b"\0\0\0\1" + b"\x08" + rnd.randbytes(8)
            s.send(bytes(data))
        tap.ok(bed.proxy.alive() and bed.proxy.info(), "3000 datagrams that are none of QUIC")


def main():
    args = lib.arguments(__doc__)
    tap = lib.Tap()
    with tempfile.TemporaryDirectory(prefix="hapt.") as folder:
        crt = os.path.join(folder, "localhost.pem")
        if not lib_quic.certificate(crt):
            tap.skip("QUIC", "there is no openssl to make a certificate")
            tap.done()
        tap.run([settings, by_hand, by_reference, by_aioquic], args, crt)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
