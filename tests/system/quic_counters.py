#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The columns of `show stat` about QUIC and HTTP/3: what clients of aioquic do, frame by frame and error by error, and what each of it
adds to the columns of the frontend; what servers say, to those of the backend. The reference adds the same."""
import asyncio
import os
import socket
import tempfile

import lib
import lib_quic
import quic
import quic_servers

QUIC_ERRORS = ["no_error", "internal_error", "connection_refused", "flow_control_error", "stream_limit_error", "stream_state_error",
               "final_size_error", "frame_encoding_error", "transport_parameter_error", "connection_id_limit",
               "protocol_violation_error", "invalid_token", "application_error", "crypto_buffer_exceeded", "key_update_error",
               "aead_limit_reached", "no_viable_path", "unknown_error"]
H3_ERRORS = ["no_error", "general_protocol_error", "internal_error", "stream_creation_error", "closed_critical_stream",
             "frame_unexpected", "frame_error", "excessive_load", "id_error", "settings_error", "missing_settings",
             "request_rejected", "request_cancelled", "request_incomplete", "message_error", "connect_error", "version_fallback"]
QPACK_ERRORS = ["pack_decompression_failed", "qpack_encoder_stream_error", "qpack_decoder_stream_error"]
# what each program counts by itself: packets in its own way of acknowledging, and when it forgets a connection
OWN = ("quic_sent_pkt", "quic_lost_pkt", "quic_dropped_pkt", "quic_half_open_conn", "quic_dropped_pkt_bufoverrun")
# what a client of aioquic says that asks for a page
BEGIN = {"h3_settings": 1, "h3_max_push_id": 1, "h3_headers": 1}


class Columns:
    """What was added to the columns of one row since the last look."""

    def __init__(self, proxy, row):
        self.proxy, self.row, self.last = proxy, row, {}
        self.last = self.now()

    def now(self):
        row = self.proxy.stats()[self.row]
        return {k: int(v) for k, v in row.items() if k.startswith(("h3_", "quic_", "qpack_", "pack_"))}

    def added(self):
        self.seen = self.now()
        return {k: v - self.last[k] for k, v in self.seen.items() if v != self.last[k] and k not in OWN}

    def expect(self, tap, expected, name):
        got = []
        lib.until(lambda: got.append(self.added()) or got[-1] == expected, lib.PATIENCE)
        tap.eq(got[-1], expected, name)
        self.last = self.seen


async def gone():
    """Instead of wait_closed(): the client does not wait until late packets cannot come any more."""


def page(act=None):
    """A client that asks for a page, then does <act>."""
    async def run(bed):
        async with lib_quic.client(bed.port) as c:
            c.wait_closed = gone
            await c.request("GET", "/1")
            if act:
                act(c)
                c.transmit()
                await asyncio.sleep(0.01)
    return run


def on(which, data):
    return lambda c: c._quic.send_stream_data(getattr(c.h3, "_local_%s_stream_id" % which), data)


def frame(kind, body):
    """A frame of QUIC of any type, in a packet of its own."""
    def act(c):
        from aioquic.quic.packet import QuicPacketType
        from aioquic.tls import Epoch
        write = c._quic._write_application

        def and_ours(builder, path, now):
            write(builder, path, now)
            c._quic._write_application = write
            builder.start_packet(QuicPacketType.ONE_RTT, c._quic._cryptos[Epoch.ONE_RTT])
            builder.start_frame(kind, capacity=len(body) + 1).push_bytes(body)
        c._quic._write_application = and_ours
    return act


def close(code, transport):
    return lambda c: c._quic.close(error_code=code, frame_type=0 if transport else None)


async def bodies(bed):
    async with lib_quic.client(bed.port) as c:
        for _ in range(3):
            await c.request("GET", "/1")
        await c.request("POST", "/", b"x" * 100)
        await c.request("POST", "/", b"x" * 100, trailers=[(b"a", b"b")])


async def strange_alpn(bed):
    conf = lib_quic.QuicConfiguration(is_client=True, alpn_protocols=["h9"], verify_mode=0)
    try:
        async with lib_quic.aio_connect("127.0.0.1", bed.port, configuration=conf):
            pass
    except ConnectionError:
        pass


def datagram(data):
    async def run(bed):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.sendto(data, ("127.0.0.1", bed.port))
    return run


LONG = b"\xc0\0\0\0\1\x08" + b"12345678" + b"\x08" + b"abcdefgh"
# (name, what is done, what it adds to BEGIN)
PAGES = [
    ("a page", None, {}),
    ("DATA on the control stream", on("control", b"\0\1\0"), {"h3_data": 1}),
    ("CANCEL_PUSH", on("control", b"\3\1\0"), {"h3_cancel_push": 1}),
    ("PUSH_PROMISE", on("control", b"\5\1\0"), {"h3_push_promise": 1}),
    ("GOAWAY", on("control", b"\7\1\0"), {"h3_goaway": 1}),
    ("a GOAWAY that is empty", on("control", b"\7\0"), {"h3_goaway": 1}),
    ("SETTINGS again", on("control", b"\4\0"), {"h3_settings": 1}),
    ("SETTINGS on a request", lambda c: c.raw(b"\4\0"), {"h3_settings": 1}),
    ("MAX_PUSH_ID", on("control", b"\x0d\1\x3f"), {"h3_max_push_id": 1}),
    ("HEADERS that cannot be read", lambda c: c.raw(b"\1\3\2\0\x80", True), {"h3_headers": 1}),
    ("a frame that is unknown", lambda c: c.raw(b"\x21\3abc"), {}),
    ("DATA_BLOCKED", frame(0x14, b"\5"), {"quic_data_blocked": 1}),
    ("STREAM_DATA_BLOCKED", frame(0x15, b"\0\5"), {"quic_stream_data_blocked": 1}),
    ("STREAMS_BLOCKED", frame(0x16, b"\5"), {"quic_streams_blocked_bidi": 1}),
    ("STREAMS_BLOCKED of one direction", frame(0x17, b"\5"), {"quic_streams_blocked_uni": 1}),
    ("a frame of QUIC that is unknown", frame(0x3e, b""), {"quic_dropped_parsing_pkt": 1}),
    ("HANDSHAKE_DONE", frame(0x1e, b""), {"quic_dropped_parsing_pkt": 1}),
    ("a stream beyond the limit", frame(0x0a, b"\x7f\xfc\1a"), {"quic_dropped_parsing_pkt": 1}),
    ("a stream of the server's", frame(0x0a, b"\1\1a"), {"quic_dropped_parsing_pkt": 1}),
    ("data beyond the window", frame(0x0e, b"\x40\x40\xbf\xff\xff\xff\1a"), {}),
    ("a stream that is broken off", lambda c: c._quic.reset_stream(c.begin("POST", "/", ended=False), 0x102), {"h3_headers": 1}),
] + [
    ("a connection is closed with %#x" % code, close(code, True), {"quic_transp_err_" + name: 1})
    for code, name in list(enumerate(QUIC_ERRORS)) + [(0x128, "crypto_error"), (0x178, "crypto_error"), (0x3e, "unknown_error")]
] + [
    ("a connection is closed with %#x of HTTP/3" % (0x100 + i), close(0x100 + i, False), {"h3_" + name: 1})
    for i, name in enumerate(H3_ERRORS)
] + [
    ("a connection is closed with %#x of QPACK" % (0x200 + i), close(0x200 + i, False), {name: 1})
    for i, name in enumerate(QPACK_ERRORS)
] + [
    ("a connection is closed with an unknown error", close(0x123, False), {}),
]
OTHERS = [
    ("requests with bodies and trailers", bodies, {"h3_settings": 1, "h3_max_push_id": 1, "h3_headers": 6, "h3_data": 2}),
    ("an unknown connection", datagram(b"\x40" + b"x" * 60), {"quic_stless_rst_sent": 1}),
    ("an Initial that is too small", datagram(LONG + b"\0\x40\x30" + b"z" * 48), {"quic_too_short_dgram": 1}),
    ("a version that is unknown", datagram(b"\xc0\x1a\x2a\x3a\x4a" + LONG[5:] + b"\0\x44\x90" + b"z" * 1177), {}),
]


def plus(a, b):
    return {k: a.get(k, 0) + b.get(k, 0) for k in {**a, **b}}


def frontends(tap, args, crt):
    with quic.Bed(args, crt) as bed:
        columns = Columns(bed.proxy, ("web", "FRONTEND"))
        for name, act, more in PAGES:
            asyncio.run(page(act)(bed))
            columns.expect(tap, plus(BEGIN, more), name)
        for name, run, expected in OTHERS:
            asyncio.run(run(bed))
            columns.expect(tap, expected, name)
        # (the reference counts them when it forgets the connection)
        tap.ok(lib.until(lambda: columns.now()["quic_sent_pkt"] > 3 * len(PAGES), lib.PATIENCE), "packets that were sent")
        now = columns.now()
        tap.ok(now["quic_dropped_pkt"] >= 2, "packets that were of no use", now["quic_dropped_pkt"])
        tap.eq(now["quic_half_open_conn"], 0, "no handshake goes on")
        if not lib.is_reference(args.program): # (it tells some failures only)
            asyncio.run(strange_alpn(bed))
            lib.until(lambda: "quic_hdshk_fail" in columns.added(), lib.PATIENCE)
            tap.eq(columns.added().get("quic_hdshk_fail"), 1, "a handshake that fails")
        before = columns.now()
        bed.proxy.ctl("clear counters")
        after = columns.now()
        tap.ok(before["h3_headers"] > 50 and not any(after.values()), "clear counters", after)


async def moving(bed, relay):
    async with lib_quic.client(relay.port) as c:
        await c.request("GET", "/1")
        relay.move()
        await c.request("GET", "/1")


def on_the_way(tap, args, crt):
    with quic.Bed(args, crt, options="quic-force-retry") as bed:
        columns = Columns(bed.proxy, ("web", "FRONTEND"))
        asyncio.run(page()(bed))
        columns.expect(tap, {**BEGIN, "quic_retry_sent": 1, "quic_retry_validated": 1}, "a Retry")
        retry = quic.answers_to(bed, quic.first_datagrams(bed)[:1])[0]
        at = 6 + retry[5]
        token = retry[at + 1 + retry[at]:-16]
        quic.answers_to(bed, quic.first_datagrams(bed, token[:-1] + bytes([token[-1] ^ 1]))[:1])
        columns.expect(tap, {"quic_retry_sent": 1, "quic_retry_error": 1}, "a token that was changed")
    if lib.is_reference(args.program): # (it closes a connection whose address changes)
        return
    with quic.Bed(args, crt) as bed:
        columns = Columns(bed.proxy, ("web", "FRONTEND"))
        relay = lib_quic.Relay(bed.port, 1, 0, 0, 0)
        asyncio.run(moving(bed, relay))
        relay.close()
        columns.expect(tap, plus(BEGIN, {"h3_headers": 1, "quic_conn_migration_done": 1}), "a client that moves")
        relay = lib_quic.Relay(bed.port, 1, 0.1, 0, 0)

        async def fetch():
            async with lib_quic.client(relay.port) as c:
                await c.request("GET", "/200000")
        asyncio.run(fetch())
        relay.close()
        tap.ok(columns.now()["quic_lost_pkt"] > 0, "packets that were lost", columns.now()["quic_lost_pkt"])
    with quic.Bed(args, crt) as bed:
        relay = lib_quic.Mute(bed.port, 1, 0, 0, 0)
        asyncio.run(half(tap, Columns(bed.proxy, ("web", "FRONTEND")), relay))
        relay.close()


async def half(tap, columns, relay):
    task = asyncio.ensure_future(page()(relay))
    for _ in range(1000):
        if columns.now()["quic_half_open_conn"]:
            break
        await asyncio.sleep(0.01)
    tap.eq(columns.now()["quic_half_open_conn"], 1, "a handshake that goes on")
    task.cancel()


def backends(tap, args, crt):
    with quic_servers.Server(args.program, crt) as server, quic_servers.Front(args, server.port) as front:
        columns = Columns(front.proxy, ("h3", "BACKEND"))
        tap.eq(lib_quic.ask(front.port, path="/say")[0], 200, "a server answers")
        columns.expect(tap, {"h3_settings": 1, "h3_headers": 1, "h3_data": 1}, "what a server says")
        if not lib.is_reference(args.program): # (it counts them when it forgets the connection)
            tap.ok(lib.until(lambda: columns.now()["quic_sent_pkt"], lib.PATIENCE), "packets to servers", columns.now())
    with quic_servers.Server(args.program, crt) as server, quic_servers.Front(args, server.port, options="alpn h9") as front:
        columns = Columns(front.proxy, ("h3", "BACKEND"))
        tap.eq(lib_quic.ask(front.port, path="/say")[0], 503, "a server without our protocol")
        lib.until(lambda: columns.added().get("quic_transp_err_crypto_error"), lib.PATIENCE)
        tap.ok(columns.added().get("quic_transp_err_crypto_error"), "its error", columns.added())


def main():
    args = lib.arguments(__doc__)
    tap = lib.Tap()
    with tempfile.TemporaryDirectory(prefix="hapt.") as folder:
        crt = os.path.join(folder, "localhost.pem")
        if not lib_quic.HAVE_AIOQUIC or not lib_quic.certificate(crt):
            tap.skip("counters of QUIC", "the Python module aioquic is not installed, or openssl")
            tap.done()
        tap.run([frontends, on_the_way, backends], args, crt)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
