#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Keys that change within a TLS connection: servers of TLS 1.2 that renegotiate (renegotiate, no-renegotiate), clients of
TLS 1.3 that send KeyUpdate (tune.ssl.keyupdate-rate-limit). The peers are those of the program openssl."""
import os
import socket
import subprocess
import tempfile
import threading
import time

import lib
import lib_jose

SERVER = """	{options}
defaults
	mode tcp
	timeout connect 5s
	timeout client 10s
	timeout server 10s
listen l
	bind 127.0.0.1:{port}
	server s 127.0.0.1:{back} ssl verify none {words}
"""
CLIENT = """	{options}
defaults
	mode http
	timeout connect 5s
	timeout client 10s
	timeout server 10s
frontend f
	bind 127.0.0.1:{port} ssl crt {folder}/RSA.pem
	http-request return status 200 content-type text/plain string "found"
"""


class Openssl:
    """A run of the program openssl; what it prints is gathered."""

    def __init__(self, *args):
        self.process = subprocess.Popen(("openssl",) + args, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT)
        self.printed = b""
        self.thread = threading.Thread(target=self.gather, daemon=True)
        self.thread.start()

    def gather(self):
        while True:
            data = os.read(self.process.stdout.fileno(), 65536)
            if not data:
                return
            self.printed += data

    def type(self, text):
        try:
            self.process.stdin.write(text)
            self.process.stdin.flush()
            return True
        except OSError:
            return False

    def shows(self, text):
        return lib.until(lambda: text in self.printed)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        lib.end(self.process)
        self.thread.join(lib.PATIENCE)
        try:
            self.process.stdin.close()
        except OSError:
            pass # what it did not read
        self.process.stdout.close()


def renegotiates(program, folder, options, words, version="-tls1_2"):
    """Can both sides talk on after the server has asked for another handshake?"""
    port, back = lib.ports(2)
    conf = SERVER.format(options=options, port=port, back=back, words=words)
    with Openssl("s_server", "-accept", "127.0.0.1:%d" % back, "-cert", folder + "/RSA.pem", version) as server:
        if not server.shows(b"ACCEPT"):
            return "no server"
        with lib.Proxy(program, conf) as proxy, lib.connect(port) as client:
            client.sendall(b"first\n")
            if not server.shows(b"first\n"):
                return "no connection"
            server.type(b"r\n")
            server.shows(b"SSL_do_handshake -> 1")
            time.sleep(0.1)
            try:
                client.sendall(b"second\n" * 3)
                server.type(b"answer\n")
                got = client.recv(100)
            except OSError:
                got = b""
            ok = b"answer" in got and server.shows(b"second\nsecond\nsecond\n")
            client.close()
            return "goes on" if ok and proxy.alive() else "ends"


def test_servers(tap, program, folder):
    for options, words, want in (("", "", "goes on"), ("", "renegotiate", "goes on"), ("", "no-renegotiate", "ends"),
                                 ("ssl-default-server-options no-renegotiate", "", "ends"),
                                 ("ssl-default-server-options no-renegotiate", "renegotiate", "goes on"),
                                 ("ssl-default-server-options renegotiate", "no-renegotiate", "ends")):
        if words == "no-renegotiate" and lib.is_reference(program):
            # differs: tls-no-renegotiate
            tap.skip("a server renegotiates: '%s' '%s'" % (options, words), "a difference on purpose")
            continue
        tap.eq(renegotiates(program, folder, options, words), want, "a server renegotiates: '%s' '%s'" % (options, words))


def updates(program, folder, options, most):
    """How a client that sends KeyUpdate as often as it can, <most> times, fares."""
    port, = lib.ports(1)
    with lib.Proxy(program, CLIENT.format(options=options, port=port, folder=folder)) as proxy, \
            Openssl("s_client", "-connect", "127.0.0.1:%d" % port, "-tls1_3", "-crlf") as client:
        client.shows(b"Verify return code")
        for _ in range(most):
            if client.process.poll() is not None or not client.type(b"k\n"):
                break
            time.sleep(0.01)
        end = False
        for _ in range(20): # what is typed too early behind a command is taken for a part of it
            if not end:
                client.type(b"GET / HTTP/1.1\nHost: a\n\n")
                end = lib.until(lambda: b"found" in client.printed or client.process.poll() is not None, 1)
        return ("answered" if b"found" in client.printed else "closed" if end else "silent") if proxy.alive() else "dead"


def test_updates(tap, program, folder):
    tap.eq(updates(program, folder, "tune.ssl.keyupdate-rate-limit 2", 300), "closed", "too many KeyUpdate end the connection")
    tap.eq(updates(program, folder, "tune.ssl.keyupdate-rate-limit 0", 40), "answered", "0: any number of KeyUpdate")
    tap.eq(updates(program, folder, "tune.ssl.keyupdate-rate-limit 100", 20), "answered", "a few KeyUpdate are welcome")
    tap.eq(updates(program, folder, "", 20), "answered", "by default, too")


def main():
    args = lib.arguments(__doc__)
    tap = lib.Tap()
    with tempfile.TemporaryDirectory(prefix="hapt.") as folder:
        lib_jose.Key(folder, "RSA").certificate(folder + "/RSA.pem")
        tap.run((test_servers, test_updates), args.program, folder)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
