#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Logs over TLS: to servers of rings and of log backends, which are verified and may ask who we are; and of clients of
a log-forward section, in both framings, who may have to show a certificate."""
import shutil
import socket
import ssl
import tempfile

import lib
from log_forward import Target
from tls import CERTS

RINGS = """	log ring@trusted format raw local0
	log ring@stranger format raw local0
	log ring@other-name format raw local0
	log ring@known format raw local0
	log backend@logs format raw local0
	nbthread 2
{rings}
defaults
	timeout connect 2s
	timeout client 5s
	timeout server 5s
backend logs
	mode log
	server s 127.0.0.1:{backend} ssl ca-file {c}/ca.crt verifyhost a.example.com log-proto octet-count
defaults
	mode http
	log global
	log-format "n=%HP end"
	timeout connect 1s
	timeout client 5s
	timeout server 5s
frontend fe
	bind 127.0.0.1:{fe}
	http-request return status 200
"""
RING = """ring {name}
	size 65536
	timeout connect 2s
	timeout server 4s
	server s1 127.0.0.1:{port} ssl {how} log-proto octet-count
"""
SERVERS = {
    "trusted": "ca-file {c}/ca.crt verifyhost a.example.com", "stranger": "ca-file {c}/other_ca.crt",
    "other-name": "ca-file {c}/ca.crt verifyhost b.example.com", "known": "verify none crt {c}/client.pem",
}
RENEWED = """	log ring@known format raw local0
	nbthread 2
{ring}
defaults
	mode http
	log global
	log-format "n=%HP end"
	timeout connect 1s
	timeout client 5s
	timeout server 5s
frontend fe
	bind 127.0.0.1:{fe}
	http-request return status 200
"""
FORWARD = """	nbthread 2
log-forward open
	bind 127.0.0.1:{open} ssl crt {c}/a.pem
	timeout client 5s
	log 127.0.0.1:{target} format raw local0
log-forward closed
	bind 127.0.0.1:{closed} ssl crt {c}/a.pem ca-file {c}/ca.crt verify required
	timeout client 5s
	log 127.0.0.1:{target} format raw local0
"""


class Collector:
    """A log server that speaks TLS."""

    def __init__(self, asks):
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(CERTS + "/a.pem")
        if asks:
            self.context.verify_mode = ssl.CERT_REQUIRED
            self.context.load_verify_locations(CERTS + "/ca.crt")
        self.text, self.failed, self.names = b"", 0, []
        self.server = lib.Server(self.serve)

    def serve(self, sock):
        try:
            with self.context.wrap_socket(sock, server_side=True) as s:
                s.settimeout(None)
                self.names.append(s.getpeercert())
                while True:
                    more = s.recv(65536)
                    if not more:
                        return
                    self.text += more
        except OSError:
            self.failed += 1


def servers(tap, program):
    collectors = {name: Collector(name == "known") for name in list(SERVERS) + ["backend"]}
    rings = "".join(RING.format(name=name, port=collectors[name].server.port, how=how.format(c=CERTS))
                    for name, how in SERVERS.items())
    fe = lib.ports(1)[0]
    conf = RINGS.format(rings=rings, fe=fe, c=CERTS, backend=collectors["backend"].server.port)
    with lib.Proxy(program, conf) as proxy:
        for n in range(50):
            with lib.connect(fe) as s:
                s.sendall(b"GET /%d HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n" % n)
                lib.recv_all(s)
        for name in ("trusted", "known", "backend"):
            c = collectors[name]
            tap.ok(lib.until(lambda: b"n=/49 end" in c.text), "%s: the last line came" % name, c.text[-200:])
            tap.eq([c.text.count(b"n=/%d end" % n) for n in range(50)], [1] * 50, "%s: each came once" % name)
        tap.ok(any(collectors["known"].names), "a server that asks sees our certificate")
        for name in ("stranger", "other-name"):
            c = collectors[name]
            tap.ok(lib.until(lambda: c.failed > 0), "%s: the handshake fails" % name)
            tap.eq(c.text, b"", "%s: and no line goes there" % name)
        tap.ok(proxy.process.poll() is None, "the process lives")


def common_name(cert):
    return dict(pair for part in cert["subject"] for pair in part)["commonName"]


def renewed(tap, program):
    """differs: tls-renewed-idle"""
    if lib.is_reference(program):
        tap.skip("lines go with the certificate of now", "the reference goes on with the connection")
        return
    collector, folder, fe = Collector(True), tempfile.mkdtemp(prefix="logs."), lib.ports(1)[0]
    shutil.copy(CERTS + "/client.pem", folder)
    ring = RING.format(name="known", port=collector.server.port, how="verify none crt %s/client.pem" % folder)
    conf = RENEWED.format(ring=ring, fe=fe)

    def ask(n, name, how):
        with lib.connect(fe) as s:
            s.sendall(b"GET /%d HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n" % n)
            lib.recv_all(s)
        tap.ok(lib.until(lambda: b"n=/%d end" % n in collector.text), how + ": the line came", collector.text[-200:])
        tap.eq([common_name(c) for c in collector.names][-1:], [name], how + ": it was sent with the certificate of now")
    with lib.Proxy(program, conf) as proxy:
        ask(1, "client.name", "start")
        ask(2, "client.name", "again")
        with open(CERTS + "/dual.pem.rsa") as f:
            proxy.ctl("set ssl cert %s/client.pem <<\n%s\n" % (folder, f.read()))
        tap.ok("Success!" in proxy.ctl("commit ssl cert %s/client.pem" % folder), "our certificate is replaced")
        ask(3, "dual.example.com", "commit")
        tap.ok("Success=1" in proxy.ctl("reload"), "a reload has the one of the file")
        ask(4, "client.name", "reload")
        tap.ok("Success=1" in proxy.ctl("reload"), "a reload without changes")
        ask(5, "client.name", "reload again")
        tap.eq(len(collector.names), 3, "a connection for each certificate")
        tap.eq([collector.text.count(b"n=/%d end" % n) for n in range(1, 6)], [1] * 5, "each line came once")
    shutil.rmtree(folder)


def send(port, text, cert=None):
    """Sends it, if that is possible. Returns the connection, open still: who closes it may lose the line."""
    c = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    c.check_hostname, c.verify_mode = False, ssl.CERT_NONE
    if cert:
        c.load_cert_chain(CERTS + "/" + cert)
    try:
        s = c.wrap_socket(lib.connect(port))
        s.sendall(text)
        return s
    except OSError:
        return None


def comes(target, text):
    target.sock.settimeout(lib.PATIENCE)
    try:
        return target.sock.recv(65536).decode().rstrip("\n") == text
    except socket.timeout:
        return False


def clients(tap, program):
    target, ports = Target(), lib.ports(2)
    conf = FORWARD.format(open=ports[0], closed=ports[1], target=target.port, c=CERTS)
    with lib.Proxy(program, conf) as proxy:
        first = send(ports[0], b"<13>one line\n")
        tap.ok(comes(target, "one line"), "a line ended by a newline")
        second = send(ports[0], b"17 <13>counted bytes")
        tap.ok(comes(target, "counted bytes"), "a counted one")
        first.close()
        second.close()
        bad = [send(ports[1], b"<13>nobody\n"), send(ports[1], b"<13>stranger\n", "stranger.pem")]
        with lib.connect(ports[0]) as s:
            s.sendall(b"<13>in the clear\n")
            lib.recv_all(s)
        stalled = [lib.connect(ports[1]) for _ in range(6)]
        for s in stalled:
            s.sendall(b"\x16\x03\x01\x02\x00\x01")
        good = send(ports[1], b"<13>known\n", "client.pem")
        tap.ok(comes(target, "known"), "where a certificate is asked for, only who shows a good one is heard")
        for s in stalled + bad + [good]:
            if s:
                s.close()
        tap.ok(proxy.process.poll() is None, "the process lives")


def main():
    args = lib.arguments(__doc__)
    tap = lib.Tap()
    servers(tap, args.program)
    renewed(tap, args.program)
    clients(tap, args.program)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
