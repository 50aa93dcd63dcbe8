#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Clients that half-close, vanish or stall, at every stage of a stream, with every kind of answer pending.

Each client speaks HTTP/1 or HTTP/2, in clear or over TLS, sends a request or a part of it, takes a part of the answer
or nothing, shuts its side or not, and then does nothing for ever: its socket stays open. Servers answer, stall, hang,
refuse or upgrade to a WebSocket. Whatever the combination, the proxy must let go of the connection when the longest of
its timeouts is over: no session, stream or connection is left, and a soft stop ends the process.

--count N clients of the random part (in lots of 50); --seed S starts elsewhere."""
import os
import random
import signal
import socket
import ssl
import subprocess
import tempfile
import time

import lib
from wire import h2

LOT = 50
CONF = """
	nbthread 2
defaults
	mode http
	timeout connect 300ms
	timeout client 500ms
	timeout server 400ms
	timeout queue 300ms
	timeout tarpit 200ms
	timeout http-request 400ms
	timeout http-keep-alive 300ms
	timeout tunnel 600ms
	timeout client-fin 200ms
	timeout server-fin 200ms
	retries 0
frontend f
	bind 127.0.0.1:{clear}
	bind 127.0.0.1:{tls} ssl crt {pem} alpn h2,http/1.1
	http-request deny if {{ path /deny }}
	http-request return status 200 content-type text/plain lf-string "%[str(a),concat(b)]" if {{ path /return }}
	http-request tarpit if {{ path /tarpit }}
	http-request wait-for-body time 300ms if {{ path /body }}
	use_backend none if {{ path /none }}
	use_backend refused if {{ path /refused }}
	use_backend full if {{ path /full }}
	default_backend b
frontend patient
	no option abortonclose
	bind 127.0.0.1:{patient} ssl crt {pem}
	http-request return status 200
backend b
	server s 127.0.0.1:{server}
backend none
backend refused
	server s 127.0.0.1:{closed}
backend full
	server s 127.0.0.1:{server} maxconn 1
listen t
	mode tcp
	bind 127.0.0.1:{tcp}
	server s 127.0.0.1:{server}
"""
PATHS = ("/ok /hang /late /half /chunks /big /bad /gone /upgrade /deny /return /tarpit /body /none /refused "
         "/full").split()


def serve(sock):
    """Does what the path says, once."""
    reader = lib.Reader(sock)
    while True:
        head = reader.head()
        words = head[0].split(" ") if head else []
        if len(words) < 2:  # the bytes of a tunnel
            return
        path = words[1]
        if path == "/ok" or path == "/body":
            sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2000\r\n\r\n" + b"x" * 2000)
            continue
        if path == "/half":
            sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 50000\r\n\r\n" + b"x" * 20000)
        elif path == "/chunks":
            sock.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
        elif path == "/big":
            sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5000000\r\n\r\n" + b"x" * 5000000)
        elif path == "/bad":
            sock.sendall(b"nonsense\r\n\r\n")
        elif path == "/gone":
            return
        elif path == "/upgrade":
            sock.sendall(b"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\nhello")
        elif path == "/late":
            time.sleep(0.2)
            sock.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")
        time.sleep(lib.PATIENCE)


class Someone:
    """One client. It does its part and then holds its socket."""

    def __init__(self, port, tls, version, path, window, cut, take, shut):
        self.name = "%s%s %s window %d cut %s take %d %s" % (
            "h%d" % version, " tls" if tls else "", path, window, cut, take, "shut" if shut else "silent")
        self.sock = socket.create_connection(("127.0.0.1", port), lib.PATIENCE)
        self.raw = self.sock
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            context.set_alpn_protocols(["h2"] if version == 2 else ["http/1.1"])
            self.sock = context.wrap_socket(self.sock)
        text = self.h2(path, window) if version == 2 else self.h1(path)
        text = text if cut is None else text[:int(len(text) * cut)]
        try:
            self.sock.sendall(text)
            if take:
                self.sock.settimeout(0.3)
                self.sock.recv(take)
            if shut:
                self.raw.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    @staticmethod
    def h1(path):
        more = b"Connection: upgrade\r\nUpgrade: x\r\n" if path == "/upgrade" else b""
        body = b"Content-Length: 1000\r\n\r\n" + b"y" * 1000 if path == "/body" else b"\r\n"
        return b"%s %s HTTP/1.1\r\nHost: a\r\n%s%s" % (
            b"POST" if path == "/body" else b"GET", path.encode(), more, body)

    @staticmethod
    def h2(path, window):
        first = h2.PREFACE + h2.settings((4, window))
        if path == "/body":
            return first + h2.headers(1, h2.request(path, "POST"), end=False) + h2.data(1, b"y" * 1000, end=True)
        return first + h2.headers(1, h2.request(path))


def certificate(folder):
    path = os.path.join(folder, "a.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
                    "/CN=a", "-days", "30", "-keyout", path + ".key", "-out", path + ".crt"], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with open(path, "w") as out:
        for part in (".crt", ".key"):
            with open(path + part) as f:
                out.write(f.read())
    return path


def left(proxy):
    """What is still there of clients; '' when nothing is."""
    if proxy.info()["CurrConns"] == "0":
        return ""
    return "\n".join(l for l in proxy.ctl("show sess").split("\n") if "fe=GLOBAL" not in l) or "connections"


def lot(tap, proxy, clients, what):
    """Waits until the proxy has forgotten <clients>, which still hold their sockets."""
    found = [None]

    def none_left():
        found[0] = left(proxy)
        return not found[0]
    good = lib.until(none_left)
    tap.ok(good, what, "%s\n%s" % (found[0], "\n".join(c.name for c in clients)))
    for c in clients:
        c.sock.close()
    return good


def closed_windows(tap, proxy, where):
    """The answers that wait for a window which can never be opened again."""
    for tls in (False, True):
        for window in (0, 50):
            clients = [Someone(where["tls" if tls else "clear"], tls, 2, path, window, None, 0, True)
                       for path in PATHS if path != "/full"]
            lot(tap, proxy, clients, "window %d, half-closed%s: all are gone" % (window, ", TLS" if tls else ""))


def at_random(tap, proxy, where, count, seed):
    rng = random.Random(seed)
    for at in range(0, count, LOT):
        clients = []
        for _ in range(min(LOT, count - at)):
            tls, version = rng.random() < 0.4, rng.choice((1, 2))
            cut = rng.choice((None, None, None, rng.random()))
            clients.append(Someone(where["tls" if tls else "clear"], tls, version, rng.choice(PATHS),
                                   rng.choice((0, 1, 50, 1000, 65535)), cut, rng.choice((0, 0, 10, 3000)),
                                   rng.random() < 0.6))
        if not lot(tap, proxy, clients, "clients %d to %d, seed %d: all are gone" % (at, at + len(clients), seed)):
            return


def tls_bytes(version, resumed=None):
    """A client of TLS without a socket: its end, what comes, what goes. resumed: another one, whose session it has."""
    c = resumed.context if resumed else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    c.check_hostname, c.verify_mode = False, ssl.CERT_NONE
    c.minimum_version = c.maximum_version = version
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    return c.wrap_bio(incoming, outgoing, server_hostname="x", session=resumed and resumed.session), incoming, outgoing


def goes_on(end, outgoing):
    """What the client has to say next."""
    try:
        end.do_handshake()
        end.write(b"GET /return HTTP/1.1\r\nHost: x\r\n\r\n")
    except ssl.SSLWantReadError:
        pass
    return outgoing.read()


def stopped(pid):
    """Are all threads?"""
    states = []
    for task in os.listdir("/proc/%d/task" % pid):
        with open("/proc/%d/task/%s/stat" % (pid, task)) as f:
            states.append(f.read().rsplit(")", 1)[1].split()[0])
    return set(states) == {"T"}


def gave_up(proxy, port, version, flights, resumed=None):
    """Bytes that come for the flight with which the client closes its side. The process sees both at once."""
    end, incoming, outgoing = tls_bytes(version, resumed)
    s = lib.connect(port)
    for _ in range(flights - 1):
        s.sendall(goes_on(end, outgoing))
        incoming.write(s.recv(1 << 16))
    proxy.process.send_signal(signal.SIGSTOP)
    lib.until(lambda: stopped(proxy.process.pid))
    s.sendall(goes_on(end, outgoing))
    s.shutdown(socket.SHUT_WR)
    # its end is acknowledged (FIN_WAIT2)
    lib.until(lambda: s.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0] == 5)
    proxy.process.send_signal(signal.SIGCONT)
    got = 0
    while True:
        part = s.recv(1 << 16)
        if not part:
            s.close()
            return got
        got += len(part)


def handshakes_given_up(tap, proxy, where):
    """option abortonclose of a frontend: a client that has left costs no handshake."""
    for version, flights in ((ssl.TLSVersion.TLSv1_3, 1), (ssl.TLSVersion.TLSv1_2, 1), (ssl.TLSVersion.TLSv1_2, 2)):
        what = "%s, closed with flight %d" % (version.name, flights)
        got = gave_up(proxy, where["tls"], version, flights)
        tap.ok(got == 0, what + ": not answered", got)
        tap.ok(gave_up(proxy, where["patient"], version, flights) > 0, what + ", no option abortonclose: answered")
    first = tls_bytes(ssl.TLSVersion.TLSv1_2)[0].context.wrap_socket(lib.connect(where["tls"]), server_hostname="x")
    tap.ok(gave_up(proxy, where["tls"], ssl.TLSVersion.TLSv1_2, 2, first) > 0,
           "TLSv1_2, resumed: a request and the end with the last flight: answered")
    first.close()
    tap.ok(gave_up(proxy, where["tls"], ssl.TLSVersion.TLSv1_3, 2) > 0, "a request and the end behind the handshake: answered")


def told_why(tap, proxy, port):
    """A handshake that fails while the client has more to say ends with an alert and an end, not with a reset."""
    proxy.process.send_signal(signal.SIGSTOP)
    lib.until(lambda: stopped(proxy.process.pid))
    s = lib.connect(port)
    s.sendall(b"\x16\x03\x01\x00\x05hello" + b"x" * 50000)
    proxy.process.send_signal(signal.SIGCONT)
    got = []
    try:
        while not got or got[-1]:
            got.append(s.recv(1 << 16)[:1])
    except OSError as e:
        got.append(type(e).__name__)
    s.close()
    tap.eq(got, [b"\x15", b""], "no hello, and more: an alert and an end")


def main():
    args = lib.arguments(__doc__, ("count", 100, "clients of the random part"), ("seed", 1, "of the random part"))
    tap = lib.Tap()
    clear, tls, tcp, closed, patient = lib.ports(5)
    server = lib.Server(serve)
    with tempfile.TemporaryDirectory() as folder:
        where = dict(clear=clear, tls=tls, tcp=tcp, closed=closed, patient=patient, server=server.port, pem=certificate(folder))
        with lib.Proxy(args.program, CONF.format(**where)) as proxy:
            handshakes_given_up(tap, proxy, where)
            told_why(tap, proxy, where["tls"])
            closed_windows(tap, proxy, where)
            at_random(tap, proxy, where, args.count, args.seed)
            tap.ok(proxy.alive(), "the proxy lives")
            proxy.process.send_signal(signal.SIGUSR1)
            tap.ok(lib.until(lambda: not proxy.alive()), "a soft stop ends it")
    server.close()
    tap.done()


lib.guarded(main)
