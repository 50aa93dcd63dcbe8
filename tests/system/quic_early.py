#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Early data (0-RTT) over QUIC, by aioquic as the client: `allow-0rtt` on a line of QUIC, with an OpenSSL that has an interface for it
(3.5 and later: scripts/get-openssl builds one). Requests that leave with the first packet, their mark towards servers, rules that
wait, answers 425, sessions that bring early data once, limits that have changed, packets that are lost, sockets of their own.
"""
# differs: quic-early-marked
import asyncio
import os
import subprocess
import tempfile

import lib
import lib_quic

CONF = """
	limited-quic
	{tune}
defaults
	mode http
	timeout connect 5s
	timeout client 20s
	timeout http-keep-alive 2s
	timeout server 20s
frontend web
	bind quic4@127.0.0.1:{port} ssl crt {crt} {options}
	http-request wait-for-handshake if {{ path_beg /wait }}
	http-request return status 200 content-type text/plain lf-string "%[ssl_fc_has_early]" if {{ path_end /self }}
	http-after-response set-header x-resumed %[ssl_fc_is_resumed]
	default_backend origin
backend origin
	server s1 127.0.0.1:{origin}
"""


class Origin(lib.Server):
    """Tells in its answer what the field early-data said; /early is refused as long as it is there, /big has a body."""

    def __init__(self):
        super().__init__(self.serve)

    @staticmethod
    def serve(sock):
        r = lib.Reader(sock)
        while True:
            head = r.head()
            if not head:
                return
            r.body(head[1])
            path, said = head[0].split(" ")[1], dict(head[1]).get("early-data")
            status = b"425 Too Early" if path == "/early" and said else b"200 OK"
            text = lib_quic.body_of(300000) if path == "/big" else b"%s" % str(said).encode()
            sock.sendall(b"HTTP/1.1 " + status + b"\r\ncontent-length: %d\r\n\r\n" % len(text) + text)


class Bed:
    def __init__(self, args, crt, options="allow-0rtt", tune=""):
        self.origin = Origin()
        self.port = lib.ports(1)[0]
        self.proxy = lib.Proxy(args.program, CONF.format(port=self.port, crt=crt, origin=self.origin.port, options=options, tune=tune))

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.proxy.__exit__(*exc)
        self.origin.close()


class Client(lib_quic.Client):
    """Notes whether its early data were taken."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.done = asyncio.get_event_loop().create_future()

    def quic_event_received(self, event):
        if type(event).__name__ == "HandshakeCompleted":
            self.done.set_result(event.early_data_accepted)
        super().quic_event_received(event)

    async def wait_closed(self):
        """It is not waited until late packets cannot come any more."""

    async def taken(self):
        return await asyncio.wait_for(self.done, 3 * lib.PATIENCE)


def connect(port, tickets, ticket=None, versions=None):
    options = {"supported_versions": versions, "original_version": versions[0]} if versions else {}
    conf = lib_quic.QuicConfiguration(is_client=True, alpn_protocols=lib_quic.H3_ALPN, verify_mode=lib_quic.ssl.CERT_NONE,
                                      session_ticket=ticket, **options)
    return lib_quic.aio_connect("127.0.0.1", port, configuration=conf, create_protocol=Client, session_ticket_handler=tickets.append,
                                wait_connected=ticket is None)


async def tickets_of(port):
    """Sessions of a first connection."""
    tickets = []
    async with connect(port, tickets) as c:
        await c.request("GET", "/")
        for _ in range(100):
            if len(tickets) > 1:
                break
            await asyncio.sleep(0.05)
    return tickets


async def once(port, ticket, path, method="GET", body=None):
    """One early request: (status, body, were they taken, was the session resumed)."""
    async with connect(port, [], ticket) as c:
        got = await c.request(method, path, body)
        return got[0], got[2].decode("latin-1"), await c.taken(), got[1].get(b"x-resumed")



async def requests(tap, bed):
    tickets = await tickets_of(bed.port)
    tap.eq([t.max_early_data_size for t in tickets], [0xffffffff] * len(tickets), "sessions say that early data may be any amount")
    tap.eq(await once(bed.port, tickets[0], "/self"), (200, "1", True, b"1"), "a request with the first packet: ssl_fc_has_early")
    again = await once(bed.port, tickets[0], "/self")
    tap.eq(again[:3], (200, "0", False), "the same session brings early data once")
    tap.eq(await once(bed.port, tickets[1], "/"), (200, "1", True, b"1"), "a server is told: early-data: 1")
    tickets = await tickets_of(bed.port)
    tap.eq(await once(bed.port, tickets[0], "/wait"), (200, "None", True, b"1"), "wait-for-handshake: it is not told any more")
    tap.eq(await once(bed.port, tickets[1], "/waited/self"), (200, "0", True, b"1"), "and ssl_fc_has_early is false then")
    tickets = await tickets_of(bed.port)
    got = await once(bed.port, tickets[0], "/early")
    tap.eq(got[:3], (425, "1", True), "an answer 425 reaches the client")
    got = await once(bed.port, tickets[1], "/big")
    tap.eq((got[0], got[1].encode() == lib_quic.body_of(300000), got[2]), (200, True, True), "a large answer to an early request")
    tickets = await tickets_of(bed.port)
    got = await once(bed.port, tickets[0], "/", "POST", bytes(8000))
    tap.eq(got[:3], (200, "1", True), "an early request with a body")
    async with connect(bed.port, [], tickets[1]) as c:
        streams = [c.begin("GET", "/self") for _ in range(20)]
        got = [await c.answer(s) for s in streams]
        tap.eq(({g[0] for g in got}, {g[2] for g in got}), ({200}, {b"1"}), "twenty early requests at once")
        await c.taken()
        tap.eq((await c.request("GET", "/self"))[2], b"0", "one behind the handshake is none")


def row(bed):
    return bed.proxy.stats()["web", "FRONTEND"]


async def column(bed, name, want):
    """Waits until it is that, and returns what it is."""
    for _ in range(1000):
        if row(bed)[name] == str(want):
            break
        await asyncio.sleep(0.01)
    return int(row(bed)[name])


async def vanish(tap, bed):
    """A client that never ends its handshake: its requests are taken, nothing of it stays."""
    tickets = await tickets_of(bed.port)
    relay = lib_quic.Mute(bed.port, 1, 0, 0, 0)
    want = int(row(bed)["h3_headers"]) + 2
    async with connect(relay.port, [], tickets[0]) as c:
        for path in "/wait", "/self":
            c.begin("GET", path)
        tap.eq(await column(bed, "h3_headers", want), want, "what says nothing behind its early requests is listened to")
    relay.close()


async def broken(tap, args, crt):
    """Early data that are no request end the connection while its handshake goes on, which is counted no more."""
    with Bed(args, crt) as bed:
        tickets = await tickets_of(bed.port)
        relay = lib_quic.Mute(bed.port, 1, 0, 0, 0)
        async with connect(relay.port, [], tickets[0]) as c:
            c._quic.send_stream_data(0, b"\0\3abc", end_stream=True) # DATA without HEADERS
            c.transmit()
            tap.eq(await column(bed, "h3_data", 1), 1, "early data that are no request")
            tap.eq(await column(bed, "quic_half_open_conn", 0), 0, "their handshake goes on no more")
        relay.close()


async def lossy(tap, bed):
    relay = lib_quic.Relay(bed.port, 5, 0.08, 0.05, 0.1)
    tickets = [t[0] for t in await asyncio.gather(*[tickets_of(bed.port) for _ in range(8)])]
    got = await asyncio.gather(*[once(relay.port, t, "/big") for t in tickets])
    relay.close()
    tap.eq([(g[0], len(g[1])) for g in got], [(200, 300000)] * 8, "datagrams are lost, doubled and late: all are answered")


def change(bed, old, new):
    with open(bed.proxy.conf_path) as f:
        text = f.read()
    with open(bed.proxy.conf_path, "w") as f:
        f.write(text.replace(old, new))
    return "Success=1" in bed.proxy.ctl("reload")


async def limits(tap, args, crt):
    """A session is of the limits that its client was told; a reload changes them."""
    name = "tune.quic.fe.stream.max-concurrent "
    with Bed(args, crt, tune=name + "100") as bed:
        tickets = await tickets_of(bed.port)
        tap.ok(change(bed, name + "100", name + "10"), "a reload with fewer requests at once")
        tap.eq((await once(bed.port, tickets[0], "/self"))[:3], (200, "0", False), "its early data are refused, then sent again")
        tickets = await tickets_of(bed.port)
        tap.eq((await once(bed.port, tickets[0], "/self"))[:3], (200, "1", True), "those of a session since then are taken")


async def others(tap, args, crt):
    with Bed(args, crt, "allow-0rtt quic-socket connection") as bed:
        tickets = await tickets_of(bed.port)
        tap.eq(await once(bed.port, tickets[0], "/"), (200, "1", True, b"1"), "with sockets of their own")
    with Bed(args, crt, "") as bed:
        tickets = await tickets_of(bed.port)
        tap.ok(not tickets or tickets[0].max_early_data_size is None, "without allow-0rtt sessions say nothing of it")
        if tickets:
            tap.eq((await once(bed.port, tickets[0], "/self"))[:3], (200, "0", False), "and are resumed without")


async def versions(tap, bed):
    """A session is of its version (RFC 9369 5)."""
    tickets = []
    async with connect(bed.port, tickets, versions=[0x6b3343cf]) as c:
        await c.request("GET", "/")
        for _ in range(100):
            if len(tickets) > 1:
                break
            await asyncio.sleep(0.05)
    tap.eq((await once(bed.port, tickets[0], "/self"))[:3], (200, "0", False), "a session of version 2 brings none by version 1")


def main():
    args = lib.arguments(__doc__)
    tap = lib.Tap()
    info = subprocess.run([args.program, "-vv"], stdout=subprocess.PIPE, text=True).stdout
    if not lib_quic.HAVE_AIOQUIC:
        tap.skip("early data over QUIC", "the Python module aioquic is not installed")
        tap.done()
    if "+QUIC " not in info or "+QUIC_OPENSSL_COMPAT" in info:
        tap.apart("openssl", "early data over QUIC")
        tap.done()
    with tempfile.TemporaryDirectory(prefix="hapt.") as folder:
        crt = os.path.join(folder, "localhost.pem")
        if not lib_quic.certificate(crt):
            tap.skip("early data over QUIC", "there is no openssl to make a certificate")
            tap.done()
        theirs = lib.is_reference(args.program)
        with Bed(args, crt) as bed:
            for part in [lossy] if theirs else [requests, vanish, lossy, versions]:
                asyncio.run(part(tap, bed))
            tap.ok(bed.proxy.alive(), "the program still runs")
        for part in [] if theirs else [broken, limits, others]:
            asyncio.run(part(tap, args, crt))
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
