#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The HTTP client, by the command `httpclient`: requests, answers in parts, failures at each stage, names, TLS, what it
leaves in logs and in nobody's lists, cancellations."""
import os
import random
import shutil
import socket
import ssl
import subprocess
import tempfile
import time

import lib

CONF = """
	log 127.0.0.1:%(log)d local0
	%(settings)s
defaults
	mode http
	timeout connect 5s
	timeout client 30s
	timeout server 30s
frontend fe
	bind 127.0.0.1:%(port)d
"""
BIG = 3000000
PLAIN = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nX-A: b\r\n\r\nabc"
ANSWERS = {
    "/plain": PLAIN,
    "/chunks": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n",
    "/interim": b"HTTP/1.1 103 Early\r\nLink: a\r\n\r\nHTTP/1.1 404 Not\r\nContent-Length: 3\r\n\r\nabc",
    "/redirect": b"HTTP/1.1 302 F\r\nLocation: /plain\r\nContent-Length: 0\r\n\r\n",
    "/none": b"",
    "/short": b"HTTP/1.1 200 OK\r\nContent-Length: 3000\r\n\r\nabc",
    "/junk": b"garbage\r\n\r\n",
    "/big": b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % BIG + b"x" * BIG,
}


class Origin:
    """Answers by path, and keeps what it was asked."""

    def __init__(self):
        self.asked = []
        self.server = lib.Server(self.serve)
        self.port = self.server.port

    def serve(self, sock):
        head = lib.Reader(sock).head()
        if head:
            self.asked.append(head)
            path = head[0].split()[1]
            if path == "/never":
                sock.recv(1)
            else:
                sock.sendall(ANSWERS.get(path, PLAIN))


class Scene:
    def __init__(self, args, settings=""):
        self.origin, self.log = Origin(), lib.Syslog()
        self.url = "http://127.0.0.1:%d" % self.origin.port
        self.proxy = lib.Proxy(args.program, CONF % {"log": self.log.port, "settings": settings,
                                                     "port": lib.ports(1)[0]})

    def ask(self, url, method="GET"):
        return self.proxy.ctl("expert-mode on; httpclient %s %s" % (method, url)).strip("\n")

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.proxy.__exit__(*exc)
        self.origin.server.close()


def requests(tap, args, ours):
    with Scene(args) as sc:
        text = sc.ask(sc.url + "/plain?x=1")
        tap.eq(text, "HTTP/1.1 200 OK\ncontent-length: 3\r\nx-a: b\r\n\r\nabc", "an answer is shown")
        tap.eq((sc.origin.asked[-1][0], sc.origin.asked[-1][1]),
               ("GET /plain?x=1 HTTP/1.1", [("host", "127.0.0.1:%d" % sc.origin.port), ("accept", "*/*"),
                                            ("user-agent", "HAProxy")]), "this is what the server was asked")
        line = sc.log.wait(lambda lines: lines)
        tap.ok("<HTTPCLIENT> -/- " in sc.log.lines[-1] and '"GET %s/plain?x=1 HTTP/1.1"' % sc.url in sc.log.lines[-1],
               "it is logged", line)
        for path, want in (("/chunks", "abcde"), ("/interim", "HTTP/1.1 404 Not\n"), ("/redirect", "HTTP/1.1 302 F\nlocation: /plain"),
                           ("/none", "502 Bad Gateway"), ("/junk", "502 Bad Gateway"), ("/short", "content-length: 3000\r\n\r\nabc")):
            tap.ok(want in sc.ask(sc.url + path), "%s: %s" % (path, " ".join(want.split())), sc.ask(sc.url + path))
        for path, tries in (("/none", 4), ("/junk", 1)):    # httpclient.retries is 3
            before = len(sc.origin.asked)
            sc.ask(sc.url + path)
            tap.eq(len(sc.origin.asked) - before, tries, "%s: how often it is asked for" % path)
        text = sc.ask(sc.url + "/big")
        tap.eq(len(text.partition("\r\n\r\n")[2]), BIG, "a large answer comes in parts")
        sc.ask(sc.url, "POST")
        tap.eq(sc.origin.asked[-1][0], "POST / HTTP/1.1", "no path is the root's")
        sc.ask("http://user:word@127.0.0.1:%d/a" % sc.origin.port)
        tap.eq(dict(sc.origin.asked[-1][1])["host"], "127.0.0.1:%d" % sc.origin.port, "users are not sent to the server")
        tap.ok("503 Service" in sc.ask("http://127.0.0.1:1/"), "nobody there: 503")
        for words, name in (("GET", "no URL"), ("", "nothing"), ("GET 127.0.0.1/x", "no scheme")):
            tap.ok("Can't start the HTTP client" in sc.proxy.ctl("expert-mode on; httpclient " + words), "%s: refused" % name)
        tap.ok("expert" in sc.proxy.ctl("httpclient GET " + sc.url), "without expert-mode: refused")
        if ours:
            tap.ok("none of http" in sc.ask("ftp://127.0.0.1/x"), "another scheme is refused by name")
            tap.ok("ssl.ca-file" in sc.ask("https://127.0.0.1/x"), "https without authorities: what to add is said")
        for command in ("show backend", "show stat", "show servers state", "show servers conn", "show acl", "show map"):
            tap.ok("httpc" not in sc.proxy.ctl(command).lower(), "%s: it is not there" % command)
        sc.proxy.ctl("reload") if ours else None
        tap.ok("abc" in sc.ask(sc.url + "/plain"), "after a reload too")
    with Scene(args, "httpclient.retries 1") as sc:
        sc.ask(sc.url + "/none")
        tap.eq(len(sc.origin.asked), 2, "httpclient.retries: once more")


def names(tap, args):
    with Scene(args) as sc:
        tap.ok("abc" in sc.ask("http://localhost:%d/plain" % sc.origin.port), "localhost is this host")
    with Scene(args, "httpclient.resolvers.disabled on") as sc:
        tap.ok("503" in sc.ask("http://name.example:%d/" % sc.origin.port), "resolvers.disabled: names are not looked up")
        tap.ok(" LR-- " in sc.log.wait(lambda lines: lines) or " LR-- " in sc.log.lines[-1], "and the log says LR")


def certificate(folder):
    key, cert = os.path.join(folder, "k.pem"), os.path.join(folder, "c.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", cert, "-days", "3",
                    "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"], check=True,
                   stderr=subprocess.DEVNULL)
    return cert, key


def secure(tap, args):
    folder = tempfile.mkdtemp(prefix="hapt.")
    cert, key = certificate(folder)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    seen = []

    def serve(sock):
        try:
            with context.wrap_socket(sock, server_side=True) as t:
                seen.append(lib.Reader(t).head())
                t.sendall(PLAIN)
        except OSError:
            pass
    server = lib.Server(serve)
    for settings, good in (("httpclient.ssl.verify none", True), ("httpclient.ssl.ca-file " + cert, True),
                           ("httpclient.ssl.ca-file @system-ca", False)):
        with Scene(args, settings + "\n\thttpclient.retries 0") as sc:
            text = sc.ask("https://localhost:%d/x" % server.port)
            tap.eq("abc" in text, good, "%s: %s" % (settings.split(folder)[0], "verified" if good else "refused"))
    server.close()
    shutil.rmtree(folder)


def wrong(tap, args):
    for line, word in (("retries x", "x"), ("resolvers.disabled maybe", "maybe"), ("resolvers.prefer ipv5", "ipv5"),
                       ("ssl.verify optional", "optional"), ("timeout.connect soon", "soon"), ("ssl.ca-file /no/file", "/no/file"),
                       ("resolvers.id nobody", "nobody")):
        path = os.path.join(tempfile.gettempdir(), "http_client.%d.cfg" % os.getpid())
        with open(path, "w") as f:
            f.write("global\n\thttpclient.%s\n" % line)
        r = subprocess.run([args.program, "-c", "-f", path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        tap.ok(r.returncode == 1 and word in r.stdout.decode(), "httpclient.%s: an error" % line, r.stdout.decode())
        os.unlink(path)


def cancelled(tap, args, attempts):
    """Sessions that go away at any point leave nothing."""
    with Scene(args) as sc:
        rng = random.Random(1)
        for _ in range(attempts):
            s = socket.socket(socket.AF_UNIX)
            s.connect(sc.proxy.ctl_path)
            s.sendall(b"expert-mode on; httpclient GET %s%s\n" % (sc.url.encode(), rng.choice([b"/never", b"/big", b"/plain"])))
            if rng.random() < 0.7:
                time.sleep(rng.random() * 0.01)
            if rng.random() < 0.5:
                s.recv(rng.randint(1, 100000))
            s.close()
        tap.ok("abc" in sc.ask(sc.url + "/plain"), "%d sessions that went away" % attempts)


def main():
    args = lib.arguments(__doc__, ("attempts", 100, "sessions that are cut"))
    tap = lib.Tap()
    ours = not lib.is_reference(args.program)
    requests(tap, args, ours)
    secure(tap, args) if ours else None  # (it asks a name server for localhost)
    if ours:
        names(tap, args)
        wrong(tap, args)
    cancelled(tap, args, args.attempts)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
