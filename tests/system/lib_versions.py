# SPDX-License-Identifier: GPL-2.0-or-later
"""Probes of what a configuration means: each runs small configurations under traffic and returns a short text.

Two versions of HAProxy that answer a probe with different texts give the same lines another meaning. What is left to
chance or to a clock is not in the text.
"""
import os
import re
import socket
import struct
import subprocess
import threading

import lib

VERSION = r"(?i)version[^0-9a-z]*(?:<[^>]*>[^0-9a-z]*)*\d\.\d"
D = "defaults\n\tmode http\n\ttimeout connect 5s\n\ttimeout client 5s\n\ttimeout server 5s\n"


confs = []  # what the probes have run since the list was emptied


class Proxy(lib.Proxy):
    def __init__(self, program, conf):
        confs.append(conf)
        super().__init__(program, conf, restless="half-open clients and old versions")


def certificate(folder):
    """A file with a certificate and its key, made once."""
    path = os.path.join(folder, "site.pem")
    if not os.path.exists(path):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=site",
                        "-keyout", path + ".key", "-out", path + ".crt"], check=True, stderr=subprocess.DEVNULL)
        with open(path, "w") as out:
            for part in (".crt", ".key"):
                with open(path + part) as f:
                    out.write(f.read())
        os.unlink(path + ".key")
    return path


class Named:
    """A server that answers with its name and keeps what it was sent."""

    def __init__(self, name, delay=None, body=b"", extra=b""):
        self.name, self.delay, self.body, self.extra = name, delay, body, extra
        self.heads = []
        self.server = lib.Server(self.serve)
        self.port = self.server.port

    def serve(self, sock):
        while True:
            data = b""
            while b"\r\n\r\n" not in data:
                got = sock.recv(65536)
                if not got:
                    return
                data += got
            self.heads.append(data.decode("latin-1"))
            if self.delay:
                self.delay.wait(lib.PATIENCE)
            sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nX-Name: %s\r\n%s\r\n%s" % (
                len(self.body), self.name.encode(), self.extra, self.body))
            if b"connection: close" in data.lower():
                return

    def close(self):
        self.server.close()


def ask(port, request, half_close=False):
    """All that the proxy answers to the bytes of a request until it closes."""
    with lib.connect(port) as s:
        s.sendall(request)
        if half_close:
            s.shutdown(socket.SHUT_WR)
        try:
            return lib.recv_all(s).decode("latin-1")
        except OSError:
            return ""


def get(port, path="/", headers="", host="site.example"):
    return ask(port, ("GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n%s\r\n" % (path, host, headers)).encode())


def status_of(answer):
    m = re.match(r"HTTP/1\.[01] (\d+)", answer)
    return m.group(1) if m else "none"


def name_of(answer):
    m = re.search(r"x-name: (.*)\r", answer, re.I)
    return m.group(1) if m else "none"


class Hello:
    """A server that reads one ClientHello a connection, and hangs up."""

    def __init__(self):
        self.hellos = []
        self.changed = threading.Condition()
        self.server = lib.Server(self.serve)
        self.port = self.server.port

    def serve(self, sock):
        head = lib.recv_exactly(sock, 5)
        body = lib.recv_exactly(sock, struct.unpack(">H", head[3:5])[0])
        with self.changed:
            self.hellos.append(parse_hello(body))
            self.changed.notify_all()

    def first(self):
        with self.changed:
            self.changed.wait_for(lambda: self.hellos, lib.PATIENCE)
            return self.hellos[0] if self.hellos else {}

    def close(self):
        self.server.close()


def parse_hello(body):
    """{"sni": ..., "alpn": ...}: what the ClientHello offers; "" where it does not."""
    at = 4 + 2 + 32
    at += 1 + body[at]
    at += 2 + struct.unpack(">H", body[at:at + 2])[0]
    at += 1 + body[at]
    at += 2
    out = {"sni": "", "alpn": ""}
    while at + 4 <= len(body):
        kind, size = struct.unpack(">HH", body[at:at + 4])
        data = body[at + 4:at + 4 + size]
        if kind == 0:
            out["sni"] = data[5:].decode()
        elif kind == 16:
            names, data = [], data[2:]
            while data:
                names.append(data[1:1 + data[0]].decode())
                data = data[1 + data[0]:]
            out["alpn"] = ",".join(names)
        at += 4 + size
    return out


def frontend(port, more=""):
    return "frontend f\n\tbind 127.0.0.1:%d\n%s\tdefault_backend b\n" % (port, more)


# --- balancing ---------------------------------------------------------------------------------

def balance(program, line="", ask_one=None, mode="http"):
    """The servers of 40 requests, as letters."""
    servers = [Named(n) for n in "abcd"]
    port, = lib.ports(1)
    conf = D.replace("mode http", "mode " + mode) + frontend(port) + "backend b\n" + (line and "\t%s\n" % line)
    conf += "".join("\tserver %s 127.0.0.1:%d\n" % (s.name, s.port) for s in servers)
    with Proxy(program, "\tnbthread 1\n" + conf):
        got = "".join(name_of(ask_one(port, i) if ask_one else get(port)) for i in range(40))
    for s in servers:
        s.close()
    return got


def in_turn(line="", mode="http"):
    """Do requests go round the servers?"""
    def probe(program, folder):
        got = balance(program, line, mode=mode)
        return "in turn" if got in "abcd" * 11 else "at random"
    return probe


def hash_of(line, ask_one):
    return lambda program, folder: balance(program, line, ask_one)


def by_uri(port, i):
    return get(port, "/path/%d?q=%d" % (i, i))


def by_header(port, i):
    return get(port, headers="X-Key: key-%d\r\n" % i)


# --- clients that half-close -------------------------------------------------------------------

def half_closed(option="", mode="http"):
    """A client that half-closes behind its request while it is queued: what does it get?"""
    return lambda program, folder: half_close_queued(program, option, mode)


def half_close_queued(program, option, mode):
    release = threading.Event()
    server = Named("a", delay=release)
    port, = lib.ports(1)
    conf = D.replace("mode http", "mode " + mode) + "\ttimeout queue 5s\n" + frontend(port) + "backend b\n" + option
    conf += "\tserver a 127.0.0.1:%d maxconn 1\n" % server.port
    got = []
    with Proxy(program, conf):
        first = threading.Thread(target=get, args=(port,))
        first.start()
        lib.until(lambda: server.heads)
        second = threading.Thread(target=lambda: got.append(
            ask(port, b"GET /second HTTP/1.1\r\nHost: site.example\r\n\r\n", half_close=True)))
        second.start()
        second.join(1)
        release.set()
        second.join()
        first.join()
    server.close()
    return status_of(got[0])


# --- TLS -----------------------------------------------------------------------------------------

def server_hello(key, option="", check=False, mode="http"):
    def probe(program, folder):
        server = Hello()
        port, = lib.ports(1)
        conf = D.replace("mode http", "mode " + mode) + frontend(port) + "backend b\n"
        conf += "\tserver a 127.0.0.1:%d ssl verify none %s %s\n" % (
            server.port, option, "check inter 50ms" if check else "")
        with Proxy(program, conf):
            if not check:
                get(port)
            got = server.first().get(key, "no hello")
        server.close()
        return got or "none"
    return probe


def bind_alpn(option=""):
    """What a client that offers HTTP/2 and HTTP/1 gets."""
    def probe(program, folder):
        port, = lib.ports(1)
        conf = D + "frontend f\n\tbind 127.0.0.1:%d ssl crt %s %s\n" % (port, certificate(folder), option)
        with Proxy(program, conf + "\thttp-request return status 200\n"):
            return alpn_of(port)
    return probe


def alpn_of(port):
    out = subprocess.run(["openssl", "s_client", "-connect", "127.0.0.1:%d" % port, "-alpn", "h2,http/1.1"],
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    m = re.search(rb"ALPN protocol: (.*)", out)
    return m.group(1).decode() if m else "none"


# --- HTTP ------------------------------------------------------------------------------------------

def request(raw):
    """What the proxy answers to odd bytes: a status."""
    def probe(program, folder):
        server = Named("a")
        port, = lib.ports(1)
        with Proxy(program, D + frontend(port) + "backend b\n\tserver a 127.0.0.1:%d\n" % server.port):
            got = status_of(ask(port, raw))
        server.close()
        return got
    return probe


def forwarded(lines="", raw=None, more_front=""):
    """The head that the server gets."""
    def probe(program, folder):
        server = Named("a")
        port, = lib.ports(1)
        conf = D + frontend(port, more_front) + "backend b\n" + lines + "\tserver a 127.0.0.1:%d\n" % server.port
        with Proxy(program, conf):
            if raw:
                ask(port, raw)
            else:
                get(port)
        server.close()
        return re.sub(r":%d\b" % server.port, ":PORT", server.heads[0]) if server.heads else "nothing"
    return probe


def answered(lines="", raw=None, top=D, extra=b""):
    """What the client gets."""
    def probe(program, folder):
        server = Named("a", extra=extra, body=b"x" * 4000)
        port, = lib.ports(1)
        conf = top + frontend(port) + "backend b\n" + lines + "\tserver a 127.0.0.1:%d\n" % server.port
        with Proxy(program, conf):
            got = ask(port, raw) if raw else get(port)
        server.close()
        return got
    return probe


def checked(lines, option="check inter 50ms"):
    """What a check sends."""
    def probe(program, folder):
        server = Named("a")
        conf = D + "backend b\n" + lines + "\tserver a 127.0.0.1:%d %s\n" % (server.port, option)
        with Proxy(program, conf):
            lib.until(lambda: server.heads)
        server.close()
        return server.heads[0] if server.heads else "nothing"
    return probe


def check_hello(lines, option=""):
    """The name in the TLS handshake of a check."""
    def probe(program, folder):
        server = Hello()
        conf = D + "backend b\n" + lines
        conf += "\tserver a 127.0.0.1:%d ssl verify none check inter 50ms %s\n" % (server.port, option)
        with Proxy(program, conf):
            got = server.first()
        server.close()
        return got.get("sni") or "none"
    return probe


def log_balance(line=""):
    """Do log lines go round the servers?"""
    def probe(program, folder):
        targets, got = [lib.Syslog() for _ in range(4)], ""
        port, = lib.ports(1)
        conf = "log-forward l\n\tdgram-bind 127.0.0.1:%d\n\tlog backend@b local0\n" % port
        conf += "backend b\n\tmode log\n" + line
        conf += "".join("\tserver s%d udp@127.0.0.1:%d\n" % (i, t.port) for i, t in enumerate(targets))
        with Proxy(program, "\tnbthread 1\n" + conf), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            for i in range(30):
                s.sendto(b"<14>Nov 24 03:00:00 h p[1]: line-%02d" % i, ("127.0.0.1", port))
                got += lib.until(lambda: [str(n) for n, t in enumerate(targets)
                                          if any(l.endswith("line-%02d" % i) for l in list(t.lines))])[0]
        for t in targets:
            t.close()
        return "in turn" if got in "0123" * 9 else "at random"
    return probe


def connections(lines=""):
    """How many connections to the server do two clients of two requests each take?"""
    def probe(program, folder):
        server = Named("a")
        port, = lib.ports(1)
        conf = D + frontend(port) + "backend b\n" + lines + "\tserver a 127.0.0.1:%d\n" % server.port
        with Proxy(program, "\tnbthread 1\n" + conf):
            for _ in range(2):
                one = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
                with lib.connect(port) as s:
                    for _ in range(2):
                        s.sendall(one)
                        while not s.recv(65536).endswith(b"\r\n\r\n"):
                            pass
            got = server.server.accepted
        server.close()
        return str(got)
    return probe


def logged(lines, raw=None):
    """The log line, without dates, ports and times."""
    def probe(program, folder):
        log, server = lib.Syslog(), Named("a")
        port, = lib.ports(1)
        conf = D + "\tlog 127.0.0.1:%d local0\n" % log.port + lines
        conf += frontend(port) + "backend b\n\tserver a 127.0.0.1:%d\n" % server.port
        with Proxy(program, conf):
            ask(port, raw) if raw else get(port)
            line = log.find(r"\S+\[\d+\]:(?! Proxy| Stopping)") or "none"
        log.close()
        server.close()
        line = re.sub(r"^.*?\]: ", "", line)
        line = re.sub(r"\[\d\d/.*?\]", "[DATE]", line)
        line = re.sub(r":\d{4,5}\b", ":PORT", line)
        return re.sub(r"\b\d+/\d+/\d+/\d+/\d+ (?=\d)", "TIMES ", line)
    return probe


def chosen(lines, back):
    """Which backend takes the request?"""
    def probe(program, folder):
        one, two = Named("one"), Named("two")
        port, = lib.ports(1)
        conf = D + "frontend f\n\tbind 127.0.0.1:%d\n%s" % (port, lines)
        conf += "backend one\n%s\tserver a 127.0.0.1:%d\n" % (back, one.port)
        conf += "backend two\n\tserver a 127.0.0.1:%d\n" % two.port
        with Proxy(program, conf):
            answer = get(port)
        one.close()
        two.close()
        return status_of(answer) + " " + name_of(answer)
    return probe


def page(lines, path, pattern):
    """A part of the statistics page."""
    def probe(program, folder):
        port, = lib.ports(1)
        conf = D + "frontend f\n\tbind 127.0.0.1:%d\n\tstats enable\n%s" % (port, lines)
        with Proxy(program, conf):
            answer = get(port, path)
        return "yes" if re.search(pattern, answer) else "no"
    return probe


def accepts(text):
    """Is the configuration accepted, silently?"""
    def probe(program, folder):
        path = os.path.join(folder, "x.cfg")
        confs.append(text)
        with open(path, "w") as f:
            f.write(text)
        p = subprocess.run([program, "-c", "-f", path], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, text=True)
        if p.returncode not in (0, 2): # 2: nothing listens
            return "refused"
        return "warning" if "[WARNING]" in p.stdout or "[ALERT]" in p.stdout else "ok"
    return probe
