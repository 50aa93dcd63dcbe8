#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Servers of QUIC behind the program: itself, the reference program, and Python's aioquic where it is installed.

Requests and bodies of all kinds, many at once on few connections, a network that loses, doubles and reorders datagrams, Retry; servers
that are not there, whose certificate is not good, that stop, reset, or answer what is no HTTP/3; health checks; settings.
"""
import asyncio
import concurrent.futures
import os
import re
import socket
import subprocess
import tempfile
import threading

import lib
import lib_quic

SERVER = """
	limited-quic
	cluster-secret s
	nbthread 2
defaults
	mode http
	timeout connect 5s
	timeout client 30s
	timeout server 30s
frontend web
	bind quic4@127.0.0.1:{port} ssl crt {crt} {options}
	http-request return status 200 content-type text/plain lf-string "%[ssl_fc_sni] %[req.hdr(host)] %[req.ver] %[method] %[path]" if {{ path_beg /say }}
	http-request return status 204 if {{ path /none }}
	http-request deny deny_status 403 if {{ path /denied }}
	default_backend origin
backend origin
	server s1 127.0.0.1:{origin}
"""
CLIENT = """
	limited-quic
	expose-experimental-directives
	nbthread 2
	{tune}
defaults
	mode http
	timeout connect {connect}
	timeout client 30s
	timeout server 30s
	retries 1
frontend clear
	bind 127.0.0.1:{port}
	default_backend h3
backend h3
	http-reuse always
	{check}
	http-response set-header x-facts "%[bc_http_major] %[ssl_bc_protocol] %[ssl_bc_alpn] %[bc_dst]:%[bc_dst_port]"
	server s1 quic4@127.0.0.1:{to} ssl {verify} {options}
"""
MEGABYTE = 1 << 20


class Front:
    """The program in front of a server of QUIC at <to>."""

    def __init__(self, args, to, verify="verify none", options="sni str(localhost)", check="", tune="", connect="10s"):
        self.port = lib.ports(1)[0]
        self.proxy = lib.Proxy(args.program, CLIENT.format(port=self.port, to=to, verify=verify, options=options, check=check,
                                                           tune=tune, connect=connect))

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.proxy.__exit__(*exc)

    def column(self, name):
        return int(self.proxy.stats()["h3", "s1"][name] or 0)


class Server:
    """<program> as a server of HTTP/3."""

    def __init__(self, program, crt, options="", port=None):
        self.origin = lib.Server(lib_quic.origin)
        self.port = port or lib.ports(1)[0]
        self.proxy = lib.Proxy(program, SERVER.format(port=self.port, crt=crt, origin=self.origin.port, options=options))

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.proxy.__exit__(*exc)
        self.origin.close()


# ---- what works

def shapes(tap, who, front, server):
    status, fields, body = lib_quic.ask(front.port, path="/say/1")
    tap.eq((status, body), (200, b"localhost www.test 3.0 GET /say/1"), who + ": what the server sees")
    tap.eq(fields.get("x-facts"), "3 TLSv1.3 h3 127.0.0.1:%d" % server, who + ": what fetches say of the connection")
    tap.eq(lib_quic.ask(front.port, path="/none")[0], 204, who + ": 204")
    tap.eq(lib_quic.ask(front.port, path="/denied")[0], 403, who + ": 403")
    tap.eq(lib_quic.ask(front.port, "HEAD", "/100")[1].get("content-length"), "100", who + ": HEAD")
    tap.ok(lib_quic.is_whole(lib_quic.ask(front.port, path="/chunked/30000"), 30000), who + ": an answer without a length")
    for n in 0, 1, 1000, 100000:
        body = lib_quic.body_of(n)
        tap.eq(lib_quic.ask(front.port, "POST", "/", body)[2], lib_quic.digest(body), who + ": POST of %d bytes" % n)
        answer = lib_quic.ask(front.port, "POST", "/", body, chunked=True)
        tap.eq(answer[2], lib_quic.digest(body), who + ": POST of %d bytes in chunks" % n)
    large = [("x-large-%d" % i, "v" * 900) for i in range(12)]
    tap.eq(lib_quic.ask(front.port, path="/1", fields=large)[0], 200, who + ": a head of 11 kB")
    body = os.urandom(MEGABYTE)
    tap.eq(lib_quic.ask(front.port, "POST", "/", body)[2], lib_quic.digest(body), who + ": 1 MB up")
    tap.ok(lib_quic.is_whole(lib_quic.ask(front.port, path="/1000000"), 1000000), who + ": 1 MB down")
    with lib.connect(front.port) as s:
        s.sendall(b"GET /ws HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\n"
                  b"sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
        if not lib.is_reference(front.proxy.process.args[0]):
            tap.ok(lib.Reader(s).response()[0] >= 500, who + ": a WebSocket cannot be asked for")
    if not lib.is_reference(front.proxy.process.args[0]):
        with lib.connect(front.port) as s:
            s.sendall(b"GET /say/2 HTTP/1.0\r\n\r\n")
            tap.eq(lib.Reader(s).response()[2], b"localhost 127.0.0.1:%d 3.0 GET /say/2" % server, who + ": a request without Host")


def many(tap, who, front):
    sizes = [(i * 7919) % 30000 for i in range(60)]
    with concurrent.futures.ThreadPoolExecutor(15) as pool:
        got = list(pool.map(lambda n: lib_quic.ask(front.port, path="/%d" % n), sizes))
        tap.eq(sum(lib_quic.is_whole(a, n) for a, n in zip(got, sizes)), len(sizes), who + ": 60 downloads, 15 at once")
        bodies = [lib_quic.body_of(n) for n in sizes]
        got = list(pool.map(lambda b: lib_quic.ask(front.port, "POST", "/", b), bodies))
        tap.eq([(len(b), g) for g, b in zip(got, bodies) if g[2] != lib_quic.digest(b)], [], who + ": 60 uploads, 15 at once")
    opened, reused = front.column("connect"), front.column("reuse")
    tap.ok(opened < 30 and reused > 80, who + ": few connections carry them", (opened, reused))


def by_programs(tap, args, crt):
    for who, program in ("itself", args.program), ("the reference", lib.REFERENCE):
        if not os.access(program, os.X_OK):
            tap.apart("reference", "%s as a server" % who)
            continue
        with Server(program, crt) as server, Front(args, server.port) as front:
            shapes(tap, who, front, server.port)
            many(tap, who, front)
            tap.ok(front.proxy.alive() and server.proxy.alive(), who + ": both still run")
        with Server(program, crt, "quic-force-retry") as server, Front(args, server.port) as front:
            tap.eq(lib_quic.ask(front.port, path="/say")[0], 200, who + ": a Retry")
            tap.ok(lib_quic.is_whole(lib_quic.ask(front.port, path="/100000"), 100000), who + ": 100 kB behind a Retry")
        with Server(program, crt, "quic-cc-algo bbr") as server, Front(args, server.port, options="quic-cc-algo bbr") as front:
            body = os.urandom(MEGABYTE // 2)
            tap.eq(lib_quic.ask(front.port, "POST", "/", body)[2], lib_quic.digest(body), who + ": 512 kB up with BBR")
            tap.ok(lib_quic.is_whole(lib_quic.ask(front.port, path="/500000"), 500000), who + ": 500 kB down with BBR")


def over_a_bad_network(tap, args, crt):
    with Server(args.program, crt) as server:
        relay = lib_quic.Relay(server.port, 7)
        with Front(args, relay.port) as front:
            body = os.urandom(MEGABYTE // 4)
            tap.eq(lib_quic.ask(front.port, "POST", "/", body)[2], lib_quic.digest(body), "lossy network: 256 kB up")
            tap.ok(lib_quic.is_whole(lib_quic.ask(front.port, path="/250000"), 250000), "lossy network: 250 kB down")
            with concurrent.futures.ThreadPoolExecutor(6) as pool:
                got = list(pool.map(lambda n: lib_quic.ask(front.port, path="/%d" % n), [20000] * 12))
            tap.eq(sum(lib_quic.is_whole(a, 20000) for a in got), 12, "lossy network: 12 downloads, 6 at once")
            tap.ok(relay.lost, "lossy network: some of %d datagrams were lost" % relay.passed)
        relay.close()


# ---- what does not

def fails(tap, args, crt):
    nobody = lib.ports(1)[0]
    with Front(args, nobody, check="option httpchk GET /say", options="check inter 100ms fall 1 rise 1") as front:
        tap.eq(lib_quic.ask(front.port)[0], 503, "a server that is not there")
        lib.until(lambda: front.proxy.stats()["h3", "s1"]["status"].startswith("DOWN"), 3 * lib.PATIENCE)
        tap.ok(front.proxy.stats()["h3", "s1"]["status"].startswith("DOWN"), "a check finds out", front.proxy.stats()["h3", "s1"])
        with Server(args.program, crt, port=nobody):
            lib.until(lambda: front.proxy.stats()["h3", "s1"]["status"].startswith("UP"), 3 * lib.PATIENCE)
            tap.eq(front.proxy.stats()["h3", "s1"]["check_status"].lstrip("* "), "L7OK", "a check over HTTP/3")
            tap.eq(lib_quic.ask(front.port, path="/say")[0], 200, "a server that is there again")
    with Server(args.program, crt) as server:
        other = os.path.join(os.path.dirname(crt), "other")
        lib_quic.certificate(other)
        with Front(args, server.port, verify="ca-file %s" % (other + ".crt")) as front:
            tap.eq(lib_quic.ask(front.port, path="/say")[0], 503, "a certificate of an authority that is not trusted")
        with Front(args, server.port, verify="ca-file %s verifyhost localhost" % crt, options="sni str(localhost)") as front:
            tap.eq(lib_quic.ask(front.port, path="/say")[0], 200, "a certificate that is trusted")
        with Front(args, server.port, options="alpn h9") as front:
            tap.eq(lib_quic.ask(front.port, path="/say")[0], 503, "a server without our protocol")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as deaf:
        deaf.bind(("127.0.0.1", 0))
        with Front(args, deaf.getsockname()[1], connect="300ms") as front:
            tap.eq(lib_quic.ask(front.port)[0], 503, "a server that does not answer: timeout connect")
            tap.eq(front.column("idle_conn_cur") + front.column("safe_conn_cur"), 0, "nothing of it is kept")
    with Server(args.program, crt) as server, Front(args, server.port) as front:
        tap.eq(lib_quic.ask(front.port, path="/say")[0], 200, "before the server stops")
        server.proxy.stop()
        tap.eq(lib_quic.ask(front.port, path="/say")[0], 503, "behind a server that has stopped")
        with Server(args.program, crt, port=server.port):
            tap.eq(lib_quic.ask(front.port, path="/say")[0], 200, "a server that was started again")


# ---- aioquic as a server

class Strange:
    """A server of aioquic in a thread of its own; <act>(protocol, stream, path) does as it likes."""

    def __init__(self, crt, act):
        self.port = lib.ports(1)[0]
        self.loop = asyncio.new_event_loop()
        self.ready = threading.Event()
        self.thread = threading.Thread(target=self.run, args=(crt, act), daemon=True)
        self.thread.start()
        self.ready.wait(lib.PATIENCE)

    def run(self, crt, act):
        from aioquic.asyncio import serve
        from aioquic.quic.events import ProtocolNegotiated

        class Protocol(lib_quic.QuicConnectionProtocol):
            h3 = None

            def quic_event_received(self, event):
                if isinstance(event, ProtocolNegotiated):
                    self.h3 = lib_quic.H3Connection(self._quic)
                for e in self.h3.handle_event(event) if self.h3 else ():
                    if isinstance(e, lib_quic.HeadersReceived):
                        act(self, e.stream_id, dict(e.headers).get(b":path", b"").decode())
                        self.transmit()

        conf = lib_quic.QuicConfiguration(is_client=False, alpn_protocols=lib_quic.H3_ALPN)
        conf.load_cert_chain(crt + ".crt", crt + ".key")
        asyncio.set_event_loop(self.loop)
        self.loop.run_until_complete(serve("127.0.0.1", self.port, configuration=conf, create_protocol=Protocol))
        self.loop.call_soon(self.ready.set)
        self.loop.run_forever()

    def close(self):
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(lib.PATIENCE)


def answer(p, stream, path):
    quic = p._quic
    ok = [(b":status", b"200"), (b"content-type", b"text/plain")]
    if path == "/good":
        p.h3.send_headers(stream, [(b":status", b"103"), (b"link", b"</a>")])
        p.h3.send_headers(stream, ok)
        p.h3.send_data(stream, b"good", False)
        p.h3.send_headers(stream, [(b"x-sum", b"1")], True)
    elif path == "/hints":
        for i in range(3):
            p.h3.send_headers(stream, [(b":status", b"103"), (b"link", b"</%d>" % i)])
        p.h3.send_headers(stream, ok)
        p.h3.send_data(stream, b"good", True)
    elif path == "/early":
        p.h3.send_headers(stream, [(b":status", b"413")])
        p.h3.send_data(stream, b"no", True)
        quic.stop_stream(stream, 0x100)
    elif path in ("/faulty", "/trailers"):
        # (the user of the stream is at work while what is behind an interim head is read)
        p.h3.send_headers(stream, [(b":status", b"103")])
        if path == "/trailers":
            p.h3.send_headers(stream, ok)
        quic.send_stream_data(stream, b"\1\5\0\0\x51\1x", False)
    elif path == "/cut":
        quic.send_stream_data(stream, b"\1\x40\x40\0\0", True)
    elif path == "/reset":
        p.h3.send_headers(stream, ok)
        p.h3.send_data(stream, b"some", False)
        quic.reset_stream(stream, 0x102)
    elif path == "/rejected":
        quic.reset_stream(stream, 0x10b)
    elif path == "/short":
        p.h3.send_headers(stream, ok + [(b"content-length", b"10")])
        p.h3.send_data(stream, b"12345", True)
    elif path == "/long":
        p.h3.send_headers(stream, ok + [(b"content-length", b"2")])
        p.h3.send_data(stream, b"12345", True)
    elif path == "/empty":
        quic.send_stream_data(stream, b"", True)
    elif path == "/data":
        quic.send_stream_data(stream, b"\0\3abc", True)
    elif path == "/upper":
        p.h3.send_headers(stream, [(b":status", b"200"), (b"X-Up", b"1")], True)
    elif path == "/status":
        p.h3.send_headers(stream, [(b":status", b"20x")], True)
    elif path == "/table":
        quic.send_stream_data(stream, b"\1\3\2\0\x80", True)
    elif path == "/push":
        quic.send_stream_data(stream, b"\5\1\0", False)
    elif path == "/settings":
        quic.send_stream_data(stream, b"\4\0", False)
    elif path == "/control":
        quic.send_stream_data(p.h3._local_control_stream_id, b"", True)
    elif path == "/goaway":
        quic.send_stream_data(p.h3._local_control_stream_id, b"\7\1\0", False)
    elif path == "/twice":
        quic.send_stream_data(p.h3._local_control_stream_id, b"\4\0", False)
    elif path == "/bidi":
        quic.send_stream_data(quic.get_next_available_stream_id(), b"x", False)
    elif path == "/stop":
        quic.stop_stream(2, 0x100)
    elif path == "/close":
        quic.close(0x102)


BAD = ("/reset", "/short", "/long", "/empty", "/data", "/upper", "/status", "/table", "/push", "/settings", "/control", "/twice",
       "/stop", "/close", "/rejected", "/goaway", "/faulty", "/trailers")


def in_one_datagram(tap, front):
    with lib.connect(front.port, 3 * lib.PATIENCE) as s:
        s.sendall(b"GET /hints HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n")
        heads = re.findall(rb"HTTP/1.1 (\d+)|link: (\S+)", lib.recv_all(s))
        tap.eq(b" ".join(a or b for a, b in heads), b"103 </0> 103 </1> 103 </2> 200", "aioquic: interim answers in the datagram of the final one")
    got = lib_quic.ask(front.port, "POST", "/early", b"a" * 500000)
    tap.eq((got[0], got[2]), (413, b"no"), "aioquic: an early answer, and no more of the request")
    tap.eq(lib_quic.ask(front.port, path="/cut")[0], 502, "aioquic: a stream that ends within a head is not waited for")


def by_aioquic(tap, args, crt):
    if not lib_quic.HAVE_AIOQUIC:
        tap.skip("aioquic as a server", "the Python module aioquic is not installed")
        return
    server = Strange(crt, answer)
    with Front(args, server.port) as front:
        status, _, body = lib_quic.ask(front.port, path="/good")
        tap.eq((status, body), (200, b"good"), "aioquic: interim answer, body, trailers")
        in_one_datagram(tap, front)
        for path in BAD:
            got = lib_quic.ask(front.port, path=path)
            tap.ok(not got or got[0] >= 500 or got[2] in (b"some", b"12345", b"12", None), "aioquic: %s is no good answer" % path, got)
            tap.eq((lib_quic.ask(front.port, path="/good") or [0])[0], 200, "aioquic: and the next request is answered, behind " + path)
        tap.ok(front.proxy.alive(), "the program still runs")
    server.close()


# ---- settings

GOOD = ["tune.quic.be.cc.cubic-min-losses 2", "tune.quic.be.cc.hystart on", "tune.quic.be.cc.max-win-size 100k",
        "tune.quic.be.max-idle-timeout 10s", "tune.quic.be.sec.glitches-threshold 10", "tune.quic.be.stream.data-ratio 50",
        "tune.quic.be.stream.max-concurrent 10", "tune.quic.be.stream.rxbuf 100k", "tune.quic.be.tx.pacing off",
        "tune.quic.be.tx.udp-gso off", "tune.quic.be.cc.max-frame-loss 5", "tune.quic.be.cc.reorder-ratio 20", "tune.quic.mem.tx-max 10m"]
LINES = {
    "quic4@127.0.0.1:1 ssl verify none quic-cc-algo newreno(2m)": None,
    "quic6@[::1]:1 ssl verify none alpn h3 proto quic": None,
    "quic4@127.0.0.1:1 ssl verify none quic-cc-algo bbr": None,
    "quic4@127.0.0.1:1 ssl verify none proto h2": "MUX protocol 'h2' is not usable for server 's'",
    "127.0.0.1:1 ssl verify none proto quic": "MUX protocol 'quic' is not usable for server 's'",
    "quic4@127.0.0.1:1 ssl verify none quic-cc-algo foo": "unknown control congestion algorithm",
    "quic4@127.0.0.1:1 verify none": "QUIC protocol detected, enabling ssl. Use 'ssl' to shut this warning.",
}


def settings(tap, args, crt):
    path = os.path.join(os.path.dirname(crt), "check.cfg")

    def check(glob, mode, server):
        with open(path, "w") as f:
            f.write("global\n\tlimited-quic\n\t%s\ndefaults\n\tmode %s\n\ttimeout connect 1s\n\ttimeout client 1s\n\ttimeout server 1s\n"
                    "listen l\n\tbind 127.0.0.1:1\n\tserver s %s\n" % ("\n\t".join(glob), mode, server))
        out = subprocess.run([args.program, "-c", "-f", path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return out.returncode, out.stdout
    free = ["expose-experimental-directives"]
    code, text = check(free + GOOD, "http", "quic4@127.0.0.1:1 ssl verify none")
    tap.ok(code == 0, "tune.quic.be.*", text)
    for line, message in LINES.items():
        code, text = check(free, "http", line)
        tap.ok((code == 0 and not message) or (message and message in text), line, text)
    code, text = check([], "http", "quic4@127.0.0.1:1 ssl verify none")
    tap.ok(code == 1 and re.search("QUIC is experimental for server 's', must be allowed via a global "
                                   "'expose-experimental-directives'", text), "experimental", text)
    code, text = check(free, "tcp", "quic4@127.0.0.1:1 ssl verify none")
    tap.ok(code == 1 and "MUX protocol 'quic' is not usable for server 's'" in text, "mode tcp", text)
    if not lib.is_reference(args.program):
        # differs: quic-server-prelude
        for what in "send-proxy", "socks4 127.0.0.1:2":
            code, text = check(free, "http", "quic4@127.0.0.1:1 ssl verify none " + what)
            tap.ok(code == 1 and "cannot be used with QUIC" in text, "refused: " + what, text)


def main():
    args = lib.arguments(__doc__)
    tap = lib.Tap()
    with tempfile.TemporaryDirectory(prefix="hapt.") as folder:
        crt = os.path.join(folder, "localhost.pem")
        if not lib_quic.certificate(crt):
            tap.skip("QUIC", "there is no openssl to make a certificate")
            tap.done()
        tap.run([settings, by_programs, over_a_bad_network, fails, by_aioquic], args, crt)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
