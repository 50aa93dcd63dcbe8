#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What -d shows: the events of streams, as lines on standard output.

Each scene is a client, and the lines that are expected of its streams, without the numbers of streams, descriptors and
ports: those are compared with each other. The lines of one stream are told apart from others by its number; what
HAProxy shows of its own Runtime API (GLOBAL) is passed over."""
# differs: ctl-debug
import os
import re
import socket
import ssl
import threading

import lib
from wire import h2

CERT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "reg-tests", "tls", "certs", "a.pem")
CONF = """
	nbthread {threads}
defaults
	mode http
	timeout connect 30s
	timeout client 30s
	timeout server 30s
	retries 0
frontend fe
	bind 127.0.0.1:{http}
	bind 127.0.0.1:{tls} ssl crt {cert} alpn h2,http/1.1
	bind 127.0.0.1:{proxy} accept-proxy
	bind {unix}
	http-request set-header x-rule request
	http-request redirect location /there if {{ path /redirect }}
	http-request set-path /changed if {{ path /path }}
	http-response set-header x-rule response
	use_backend empty if {{ path /empty }}
	use_backend closed if {{ path /closed }}
	default_backend be
backend be
	http-request set-header x-rule backend
	server s 127.0.0.1:{server}
backend empty
backend closed
	server s 127.0.0.1:{closed}
listen page
	bind 127.0.0.1:{page}
	stats enable
	stats uri /
listen plain
	mode tcp
	bind 127.0.0.1:{tcp}
	server s 127.0.0.1:{bytes}
listen refused
	mode tcp
	bind 127.0.0.1:{refused}
	tcp-request content reject
	server s 127.0.0.1:{bytes}
"""
LINE = re.compile(r"([0-9a-f]{8}):(\w+)\.(?:"
                  r"accept\((?P<bind>[0-9a-f]+)\)=(?P<fd>[0-9a-f]+) from \[(?P<src>\S+)\] ALPN=(?P<alpn>\S+)|"
                  r"(?P<head>clireq|clihdr|srvrep|srvhdr)\[(?P<c>[0-9a-f]+):(?P<s>[0-9a-f]+)\]: (?P<text>.*)|"
                  r"(?P<end>srvcls|clicls|closed)\[(?P<ec>[0-9a-f]{4}):(?P<es>[0-9a-f]{4})\])$")


def echo(sock):
    """A server of bytes: ends the connection itself when it is asked to."""
    while True:
        got = sock.recv(100)
        if not got or b"end" in got:
            return
        sock.sendall(got)


def answer(sock):
    """A server of HTTP/1: what it answers is in the path."""
    reader = lib.Reader(sock)
    for line, fields in iter(reader.head, None):
        length = int(dict(fields).get("content-length", 0))
        reader.exactly(length)
        path = line.split()[1]
        if path == "/tunnel":
            sock.sendall(b"HTTP/1.1 101 Other\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n")
            echo(sock)
            return
        hints = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" if path == "/hints" else b""
        sock.sendall(hints + b"HTTP/1.1 200 Fine\r\nContent-Length: 2\r\nX-Server: A b\r\n\r\nok")


class Bench:
    """The program with -d, and what it has said so far."""

    def __init__(self, program, threads=1, args=("-d",)):
        self.server, self.bytes = lib.Server(answer), lib.Server(echo)
        names = ("http", "tls", "proxy", "tcp", "refused", "page", "closed")
        self.port = dict(zip(names, lib.ports(len(names))))
        self.unix = os.path.join(lib.tempfile.mkdtemp(prefix="hapt."), "fe.sock")
        conf = CONF.format(threads=threads, cert=CERT, unix=self.unix, server=self.server.port, bytes=self.bytes.port, **self.port)
        self.proxy = lib.Proxy(program, conf, args=args)
        self.seen = 0

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.proxy.__exit__(*exc)
        self.server.close()
        self.bytes.close()
        lib.shutil.rmtree(os.path.dirname(self.unix))

    def lines(self):
        """Lines of streams, parsed, those of the Runtime API left out."""
        found = (LINE.match(x) for x in self.proxy.output().split("\n"))
        return [m for m in found if m and m[2] not in ("GLOBAL", "MASTER")]

    def streams(self, count):
        """The lines of the <count> streams that have come since the last call, a list each, when all are closed."""
        want = self.seen + count
        lib.until(lambda: len(re.findall(r":(?!GLOBAL|MASTER)\w+\.closed\[.*\n", self.proxy.output())) >= want)
        streams = {}
        for m in self.lines():
            streams.setdefault(m[1], []).append(m)
        out, self.seen = list(streams.values())[self.seen:], want
        return out


def told(lines):
    """What a stream's lines say, without numbers."""
    return ["%s.%s" % (m[2], m["end"] or ("accept " + m["alpn"] if m["fd"] else "%s %s" % (m["head"], m["text"]))) for m in lines]


def is_one_piece(lines):
    """Do all lines of a stream name the same descriptors, as far as they are known?"""
    fd = lines[0]["fd"]
    clients = {m["c"] or m["ec"] for m in lines if not m["fd"]}
    servers = {(m["s"] or m["es"])[-4:] for m in lines if m["s"] or m["es"]} - {"ffff"}
    asked = {m["s"] for m in lines if (m["head"] or "").startswith("cli")}
    return clients == {fd} and len(servers) < 2 and asked <= {"ffffffff"}


def speak(sock, text):
    sock.sendall(text.encode())
    return lib.Reader(sock).response()


def get(path, *more):
    return "GET %s HTTP/1.1\r\n%s\r\n" % (path, "".join(x + "\r\n" for x in ("Host: a",) + more))


def request(*lines):
    return ["fe.accept <none>", "fe.clireq " + lines[0]] + ["fe.clihdr " + x for x in ("host: a",) + lines[1:]]


def response(*lines):
    return ["be.srvrep " + lines[0]] + ["be.srvhdr " + x for x in lines[1:]]


FINE = response("HTTP/1.1 200 Fine", "content-length: 2", "x-server: A b")
ENDS = ["srvcls", "clicls", "closed"]


def ends(name, events=ENDS):
    return [name + "." + x for x in events]


def requests(tap, program):
    """Requests of HTTP/1 on TCP: heads before any rule, and the ends."""
    with Bench(program) as b:
        with lib.connect(b.port["http"]) as s:
            speak(s, get("/path", "X-Mixed:  Aa  "))
            speak(s, "POST /hints HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nab")
            two = b.streams(2)
            port = s.getsockname()[1]
        tap.eq(told(two[0]), request("GET /path HTTP/1.1", "x-mixed: Aa") + FINE + ends("be"), "a request, its answer, its end")
        hints = response("HTTP/1.1 103 Early Hints", "link: </a>")
        tap.eq(told(two[1]), request("POST /hints HTTP/1.1", "content-length: 2") + hints + FINE + ends("be"),
               "the next on its connection, with an interim answer")
        tap.ok(all(is_one_piece(x) for x in two) and two[0][0]["fd"] == two[1][0]["fd"], "descriptors are the same", two)
        tap.eq([x[0]["src"] for x in two], ["127.0.0.1:%d" % port] * 2, "the client's address")
        tap.eq([int(x[0][1], 16) for x in two], sorted(int(x[0][1], 16) for x in two), "numbers of streams rise")
        where = "/proc/%d/fd/%d" % (b.proxy.process.pid, int(two[0][0]["bind"], 16))
        tap.ok(os.readlink(where).startswith("socket:"), "the listening socket is one of the process")
        for path, name, events in (("/redirect", "fe", ENDS[1:]), ("/empty", "empty", ENDS[1:]), ("/closed", "closed", ENDS[1:])):
            with lib.connect(b.port["http"]) as s:
                speak(s, get(path))
            got, = b.streams(1)
            tap.eq(told(got), request("GET %s HTTP/1.1" % path) + ends(name, events), path + ": no answer of a server, no srvcls")
        with lib.connect(b.port["http"]) as s:
            s.sendall(get("/tunnel", "Connection: upgrade", "Upgrade: x").encode())
            reader = lib.Reader(s)
            reader.head()
            s.sendall(b"!")
            reader.exactly(1)
        got, = b.streams(1)
        tap.eq(told(got)[-6:], response("HTTP/1.1 101 Other", "upgrade: x", "connection: upgrade") + ends("be"),
               "a tunnel, that the client closes")
        with lib.connect(b.port["http"]) as s:
            s.sendall(b"GET / HTTP/1.1\r\nHo st: a\r\n\r\n")
            s.recv(100)
        with lib.connect(b.port["page"]) as s:
            speak(s, get("/"))
        got, = b.streams(1)
        names = [x.split()[0] for x in told(got)]
        tap.eq(names[:4] + names[-3:], ["page.accept", "page.clireq", "page.clihdr", "page.srvrep"] + ends("page"),
               "a bad head shows nothing; a service answers as a server does")
        tap.ok({(m["s"] or m["es"] or "ffff")[-4:] for m in got} == {"ffff"}, "a service has no descriptor", told(got))


def addresses(tap, program):
    """Where clients come from, and with which protocol."""
    with Bench(program) as b:
        with lib.connect(b.port["proxy"]) as s:
            speak(s, "PROXY TCP4 192.0.2.1 192.0.2.2 11 22\r\n" + get("/"))
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(lib.PATIENCE)
            s.connect(b.unix)
            speak(s, get("/"))
        got = b.streams(2)
        tap.eq([x[0]["src"] for x in got], ["192.0.2.1:11", "unix:4"], "of the PROXY protocol, and UNIX: the number of the bind line")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        for alpn in ([], ["http/1.1"]):
            if alpn:
                context.set_alpn_protocols(alpn)
            with context.wrap_socket(lib.connect(b.port["tls"])) as s:
                speak(s, get("/"))
        tap.eq([told(x)[0] for x in b.streams(2)], ["fe.accept <none>", "fe.accept http/1.1"], "ALPN")
        context.set_alpn_protocols(["h2"])
        with context.wrap_socket(lib.connect(b.port["tls"])) as s:
            fields = [(":method", "GET"), (":scheme", "https"), (":authority", "a"), (":path", "/h2"), ("x-one", "1")]
            s.sendall(h2.PREFACE + h2.settings() + h2.headers(1, fields) + h2.headers(3, fields))
            two = b.streams(2)
        want = ["fe.accept h2", "fe.clireq GET https://a/h2 HTTP/2.0", "fe.clihdr host: a", "fe.clihdr x-one: 1"] + FINE + ends("be")
        tap.eq([told(x) for x in two], [want, want], "two streams of HTTP/2")
        tap.ok(two[0][0][1] != two[1][0][1] and two[0][0]["fd"] == two[1][0]["fd"], "two numbers, one descriptor")


def tcp(tap, program):
    """In mode tcp the side that closes last is shown first."""
    with Bench(program) as b:
        for text, order in ((b"go", ["srvcls", "clicls"]), (b"end", ["clicls", "srvcls"])):
            with lib.connect(b.port["tcp"]) as s:
                s.sendall(text)
                s.recv(100)
            got, = b.streams(1)
            tap.eq(told(got), ["plain.accept <none>"] + ends("plain", order + ["closed"]), "the %s closes first" %
                   ("server" if text == b"end" else "client"))
            tap.ok(is_one_piece(got) and got[-1]["es"] != "ffff", "with both descriptors", told(got))
        with lib.connect(b.port["refused"]) as s:
            s.sendall(b"x")
            lib.recv_all(s)
        got, = b.streams(1)
        tap.eq(told(got), ["refused.accept <none>"] + ends("refused", ENDS[1:]), "refused by a rule")


def threads(tap, program):
    """Lines are whole, whoever writes at the same time."""
    def client():
        for number in range(30):
            with lib.connect(b.port["http"]) as s:
                speak(s, get("/%d" % number, *("X-Long-%d: %s" % (i, "v" * 200) for i in range(30))))

    with Bench(program, threads=4) as b:
        clients = [threading.Thread(target=client) for _ in range(4)]
        for c in clients:
            c.start()
        for c in clients:
            c.join()
        got = b.streams(120)
        odd = [told(x) for x in got if len(x) != 1 + 1 + 31 + len(FINE) + 3 or not is_one_piece(x)]
        tap.ok(len(got) == 120 and not odd, "120 requests on four threads", odd[:1])
        text = b.proxy.output()
        odd = [x for x in text[text.index("accept("):].split("\n")[1:-1] if not LINE.match(x) and not x.startswith("[")]
        tap.eq(odd, [], "no line is broken")


def options(tap, program):
    """-q does not hide them; without -d there is nothing."""
    for args, count in ((("-d", "-q"), 1), (("-d", "-V", "-dV"), 1), ((), 0), (("-V",), 0)):
        with Bench(program, args=args) as b:
            with lib.connect(b.port["http"]) as s:
                speak(s, get("/"))
            tap.eq(len(b.streams(count)), count, " ".join(args) or "no option")
            shown = ":GLOBAL." in b.proxy.output()
            tap.eq(shown, bool(count) and lib.is_reference(program), "events of the Runtime API")


def main():
    args = lib.arguments(__doc__)
    tap = lib.Tap()
    tap.run((requests, addresses, tcp, threads, options), args.program)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
