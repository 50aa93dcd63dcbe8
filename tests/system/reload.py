#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Reloads in the running process: what is the same goes on, what is wrong changes nothing. An extension:
the reference has no such command.

    reload.py --reloads 200    the long run under load (default: 40)
"""
import hashlib
import os
import re
import shutil
import socket
import ssl
import subprocess
import tempfile
import threading
import time

import lib
from wire import h2

CONF = """
	nbthread 3
defaults
	mode http
	timeout connect 5s
	timeout client 20s
	timeout server 20s
	option socket-stats
{body}
"""

BASE = """
listen px
	bind 127.0.0.1:{p[0]}
	http-response set-header x-version {version}
	server s1 127.0.0.1:{s} weight 10
"""


class Scene:
    def __init__(self, args, body=BASE, **values):
        self.tap = lib.Tap.last
        self.p = lib.ports(3, held=True) + lib.ports(1)
        self.server = lib.Server(lib.echo_handler)
        self.body = body
        self.proxy = lib.Proxy(args.program, self.text(body, version="v1", **values))

    def text(self, body, **values):
        return CONF.format(body=body.format(p=self.p, s=self.server.port, **values))

    def write(self, text):
        """Puts <text> into the file; the stats socket stays."""
        with open(self.proxy.conf_path) as f:
            first = "".join(f.readlines()[:2])
        with open(self.proxy.conf_path, "w") as f:
            f.write(first + text)

    def reload(self, body=None, **values):
        self.write(self.text(body or self.body, **dict({"version": "v1", "w2": 10}, **values)))
        return self.proxy.ctl("reload")

    def generations(self):
        return [l.split() for l in self.proxy.ctl("show generations").strip().split("\n")
                if l and l[0] != "#"]

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.sanitized = lib.is_sanitized("/proc/%d/exe" % self.proxy.process.pid)
        self.proxy.stop()
        text = self.proxy.output()
        if exc[0] is None and ("Sanitizer" in text or "BUG" in text):
            self.tap.ok(False, "no sanitizer has anything to say", text[max(0, text.find("Sanitizer") - 200):][:6000])
        self.proxy.__exit__()
        self.server.close()


class Client:
    """A kept connection."""

    def __init__(self, port):
        self.sock = lib.connect(port)
        self.reader = lib.Reader(self.sock)

    def get(self, path="/"):
        """Returns (status, fields), or None when the connection is closed."""
        try:
            self.sock.sendall(b"GET %s HTTP/1.1\r\nHost: x\r\n\r\n" % path.encode())
            got = self.reader.response()
        except OSError:
            return None
        return got and got[:2]

    def closed(self):
        """Has the other side closed it, without a byte more?"""
        try:
            return self.sock.recv(1) == b""
        except OSError:
            return False


def test_change(tap, args):
    with Scene(args) as sc:
        c = Client(sc.p[0])
        tap.eq(c.get()[1].get("x-version"), "v1", "the first configuration answers")
        tap.ok("Success=1" in sc.reload(version="v2"), "a good file is taken")
        tap.eq(c.get()[1].get("x-version"), "v2", "a kept connection has the new rules at once")
        tap.eq(Client(sc.p[0]).get()[1].get("x-version"), "v2", "and so has a new one")
        tap.eq(len(sc.generations()), 1, "nothing holds the old generation")
        tap.ok(lib.until(lambda: sc.proxy.stats()["px", "FRONTEND"]["hrsp_2xx"] == "3"),
               "counters go on")
        tap.ok(lib.until(lambda: sc.proxy.stats()["px", "FRONTEND"]["scur"] == "1"),
               "and so do gauges")


def test_bad(tap, args):
    with Scene(args) as sc:
        c = Client(sc.p[0])
        c.get()
        answer = sc.reload(body=BASE + "\tbogus word\n", version="v2")
        tap.ok("Success=0" in answer and "unknown keyword 'bogus'" in answer,
               "a bad file is refused, and says why to the caller", answer)
        tap.eq(c.get()[1].get("x-version"), "v1", "the old configuration goes on")
        os.rename(sc.proxy.conf_path, sc.proxy.conf_path + ".away")
        answer = sc.proxy.ctl("reload")
        tap.ok("Success=0" in answer and "Cannot open" in answer, "a file that is gone too", answer)
        os.rename(sc.proxy.conf_path + ".away", sc.proxy.conf_path)
        with socket.socket() as other:
            other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            other.bind(("127.0.0.1", sc.p[3]))
            other.listen(1)
            body = BASE + "\tbind 127.0.0.1:{p[2]}\n\tbind 127.0.0.1:{p[3]}\n"
            answer = sc.reload(body=body, version="v2")
            tap.ok("Success=0" in answer and "cannot bind socket" in answer,
                   "a port that is taken too", answer)
        tap.ok(lib.refused(sc.p[2]), "what could be opened is closed again")
        tap.eq(c.get()[1].get("x-version"), "v1", "the old configuration goes on")
        tap.eq(Client(sc.p[0]).get()[1].get("x-version"), "v1", "on new connections as well")
        with open(sc.proxy.conf_path, "r+") as f:
            f.truncate(f.read().rindex("bind ") + 2)  # within a word: half of it may be a good file
        tap.ok("Success=0" in sc.proxy.ctl("reload"), "a file that was written by half too")
        tap.ok("Success=1" in sc.reload(version="v3"), "and a good one is taken after all this")
        tap.eq(c.get()[1].get("x-version"), "v3", "by the same connection")


def test_binds(tap, args):
    two = BASE + "\tbind 127.0.0.1:{p[1]}\n"
    with Scene(args, two) as sc:
        kept, gone, busy = Client(sc.p[0]), Client(sc.p[1]), Client(sc.p[1])
        for c in (kept, gone, busy):
            c.get()
        busy.sock.sendall(b"GET / HTTP/1.1\r\n")
        lib.until(lambda: sc.proxy.stats()["px", "FRONTEND"]["req_tot"] == "3")
        time.sleep(0.05)
        tap.ok("Success=1" in sc.reload(body=BASE + "\tbind 127.0.0.1:{p[2]}\n", version="v2"),
               "one address goes, another comes")
        tap.ok(lib.refused(sc.p[1]), "nobody listens on the one that is gone")
        tap.eq(Client(sc.p[2]).get()[1].get("x-version"), "v2", "the new one answers")
        tap.eq(kept.get()[1].get("x-version"), "v2", "connections of the other address go on")
        tap.ok(gone.closed(), "an idle connection of the one that is gone is closed")
        busy.sock.sendall(b"Host: x\r\n\r\n")
        got = busy.reader.response()
        tap.ok(got and got[0] == 200 and got[1].get("connection") == "close" and busy.closed(),
               "one with a request on its way is answered, then closed", got)
        tap.ok(lib.until(lambda: len(sc.generations()) == 1), "the old generation is gone")
        # the same ports, other socket options, another name
        other = BASE.replace("listen px", "listen py").replace("p[0]}", "p[0]} backlog 50 tfo")
        tap.ok("Success=1" in sc.reload(body=other, version="v4"), "socket options change")
        tap.eq(Client(sc.p[0]).get()[1].get("x-version"), "v4", "and the port answers")
        tap.ok(lib.refused(sc.p[2]), "a port without a line is closed")


# global words which count when the process starts, of several modules: <word> <value> <another value>
AT_START = """tune.pipesize 65536 131072|tune.maxaccept 64 65|tune.rcvbuf.client 10000 20000|tune.sndbuf.server 10000 20000|
tune.http.maxhdr 101 102|tune.http.logurilen 1024 2048|tune.maxrewrite 1024 2048|tune.pool-low-fd-ratio 20 21|tune.bufsize 16384 32768"""


def test_at_start(tap, args):
    """What a reload cannot change is told, word by word; what it can is not."""
    rows = [row.split() for row in AT_START.replace("\n", "").split("|")]
    before = "".join("\t%s %s\n" % (r[0], r[1]) for r in rows)
    after = "".join("\t%s %s\n" % (r[0], r[2]) for r in rows)
    with Scene(args) as sc:
        text = sc.text(BASE, version="v1")
        sc.write(before + text)
        sc.proxy.ctl("reload")
        tap.ok("was changed" not in sc.proxy.ctl("reload"), "the same words again: nothing is said")
        sc.write(after + "\tharden.reject-privileged-ports.tcp on\n" + text)
        said = re.findall(r"'([^']*)' was changed: it keeps its value", sc.proxy.ctl("reload"))
        tap.eq(sorted(said), sorted(r[0] for r in rows), "each word that counts at the start only is told")


def test_states(tap, args):
    body = BASE + "\tserver s2 127.0.0.1:{s} weight {w2} maxconn 7\n"
    with Scene(args, body, w2=10) as sc:
        sc.proxy.ctl("set server px/s1 state maint;set server px/s2 weight 5")
        sc.proxy.ctl("set maxconn server px/s2 3")
        sc.reload(version="v2", w2=10)
        rows = sc.proxy.stats()
        tap.eq(rows["px", "s1"]["status"], "MAINT", "maintenance outlives a reload")
        tap.eq(rows["px", "s2"]["weight"], "5", "a weight that was set too")
        tap.eq(rows["px", "s2"]["slim"], "3", "and a limit")
        tap.eq(Client(sc.p[0]).get()[0], 200, "the other server serves")
        sc.reload(version="v2", w2=20)
        tap.eq(sc.proxy.stats()["px", "s2"]["weight"], "20", "the file wins where it has changed")
        tap.eq(sc.proxy.stats()["px", "s1"]["status"], "MAINT", "and only there")
        sc.reload(body=BASE.replace("weight 10", "weight 10 disabled") +
                  "\tserver s2 127.0.0.1:{s}\n")
        sc.reload(body=BASE + "\tserver s2 127.0.0.1:{s}\n")
        tap.eq(sc.proxy.stats()["px", "s1"]["status"], "no check",
               "'disabled' that leaves the file brings the server back")
        sc.reload(body=BASE + "\tserver s2 127.0.0.1:{s}\n\tserver s3 127.0.0.1:{s} init-state down\n")
        sc.reload(body=BASE + "\tserver s2 127.0.0.1:{s}\n\tserver s3 127.0.0.1:{s} init-state down\n")
        tap.eq(sc.proxy.stats()["px", "s3"]["status"], "DOWN", "what init-state took down outlives a reload")
        sc.reload(body=BASE + "\tserver s2 127.0.0.1:{s}\n\tserver s3 127.0.0.1:{s}\n")
        tap.eq(sc.proxy.stats()["px", "s3"]["status"], "no check",
               "'init-state down' that leaves the file brings the server back, which has no check")
        sc.proxy.ctl("shutdown frontend px")
        tap.ok(lib.refused(sc.p[0]), "a frontend is shut down")
        sc.reload()
        tap.eq(Client(sc.p[0]).get()[0], 200, "a reload brings it back")
        sc.proxy.ctl("disable frontend px")
        sc.reload()
        tap.ok(lib.refused(sc.p[0]), "one that is only disabled stays so")
        sc.proxy.ctl("enable frontend px")
        tap.eq(Client(sc.p[0]).get()[0], 200, "until it is enabled")


def test_checks(tap, args):
    """Checks go on with the next generation: what they know stays, what changes is seen."""
    body = BASE.replace("weight 10", "weight 10 check inter 50ms fall 1 rise 1")
    body += "\tserver s2 127.0.0.1:{s2} check inter 50ms fall 1 rise 1\n"
    with Scene(args, body, s2=1) as sc:
        tap.ok(lib.until(lambda: sc.proxy.stats()["px", "s2"]["status"] == "DOWN"),
               "a check finds a server down")
        changed = sc.proxy.stats()["px", "s1"]["status"]
        sc.reload(version="v2", s2=1)
        tap.eq(sc.proxy.stats()["px", "s2"]["status"], "DOWN", "which stays known")
        tap.eq((changed, sc.proxy.stats()["px", "s1"]["status"]), ("UP", "UP"),
               "and so does one that is up")
        late = lib.Server(lib.echo_handler)
        sc.reload(version="v3", s2=late.port)
        tap.ok(lib.until(lambda: sc.proxy.stats()["px", "s2"]["status"].startswith("UP")),
               "another address begins anew")
        late.close()
        tap.ok(lib.until(lambda: sc.proxy.stats()["px", "s2"]["status"] == "DOWN"),
               "checks of the new configuration run")
        tap.eq(len(sc.generations()), 1, "those of the old one hold nothing")


def test_idle(tap, args):
    with Scene(args, BASE + "\thttp-reuse always\n") as sc:
        c = Client(sc.p[0])
        c.get()
        tap.eq(sc.server.accepted, 1, "one connection to the server")
        for i in range(3):
            sc.reload(version="v%d" % i)
            c.get()
        tap.eq(sc.server.accepted, 1, "idle connections to servers outlive reloads")
        sc.reload(body=BASE.replace("weight", "send-proxy weight"))
        tap.ok(lib.until(lambda: int(sc.proxy.stats()["px", "s1"]["used_conn_cur"] or 0) +
                         int(sc.proxy.stats()["px", "s1"]["safe_conn_cur"] or 0) == 0),
               "those to a server that is reached in another way now do not")


QUEUE = """
frontend px
	bind 127.0.0.1:{p[0]}
	default_backend be
backend be
	timeout queue 60s
	server a 127.0.0.1:{s} maxconn 1
	server b 127.0.0.1:{s2} maxconn 1 backup
	use-server b if {{ path /b }}
"""


def test_queue(tap, args):
    """A slot that a stream of the old generation gives back goes to whom the states of now give it."""
    go = threading.Event()

    def slow(sock):
        lib.Reader(sock).head()
        go.wait(lib.PATIENCE * 3)
        sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")

    backup = lib.Server(slow)
    with Scene(args, QUEUE, s2=backup.port) as sc:
        with lib.connect(sc.p[0]) as one, lib.connect(sc.p[0]) as two:
            one.sendall(b"GET /b HTTP/1.1\r\nHost: x\r\n\r\n")
            tap.ok(lib.until(lambda: sc.proxy.stats()["be", "b"]["scur"] == "1"), "the backup server is full")
            sc.reload(s2=backup.port)
            sc.proxy.ctl("set server be/a state maint")
            two.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            tap.ok(lib.until(lambda: sc.proxy.stats()["be", "BACKEND"]["qcur"] == "1"),
                   "it serves since the reload: a request waits for it")
            go.set()
            tap.eq(lib.Reader(one).response()[0], 200, "the request from before the reload is answered")
            tap.eq(lib.Reader(two).response()[0], 200, "and leaves its place to the one that waits")
    backup.close()


def test_tunnel(tap, args):
    body = BASE + """
listen tcp
	mode tcp
	bind 127.0.0.1:{p[1]}
	server s1 127.0.0.1:{s}
"""
    with Scene(args, body) as sc:
        t = Client(sc.p[1])
        t.get()
        sc.reload(version="v2")
        tap.eq(len(sc.generations()), 2, "a TCP connection holds the generation of its beginning")
        tap.eq(t.get()[0], 200, "and goes on")
        sc.reload(body=BASE, version="v3")
        tap.ok(lib.refused(sc.p[1]), "its frontend is gone")
        tap.eq(t.get()[0], 200, "it goes on all the same")
        tap.eq(len(sc.generations()), 2, "generations without users are gone")
        t.sock.close()
        tap.ok(lib.until(lambda: len(sc.generations()) == 1), "the old one ends with it")


def test_hard_stop(tap, args):
    """hard-stop-after bounds what a generation that was replaced may still hold."""
    body = BASE + """
listen tcp
	mode tcp
	bind 127.0.0.1:{p[1]}
	server s1 127.0.0.1:{s}
global
	hard-stop-after 300ms
"""
    with Scene(args, body) as sc:
        t = Client(sc.p[1])
        t.get()
        sc.reload(version="v2")
        tap.eq(len(sc.generations()), 2, "a connection holds the old generation")
        tap.ok(t.closed(), "hard-stop-after ends it")
        tap.ok(lib.until(lambda: len(sc.generations()) == 1), "and the generation with it")
        fresh = Client(sc.p[1])
        fresh.get()
        time.sleep(0.4)
        tap.eq(fresh.get()[0], 200, "those of the live one go on")


def test_h2(tap, args):
    """Requests on their way end as they began; those that follow have the new configuration."""
    free = threading.Event()

    def handler(sock):
        r = lib.Reader(sock)
        while True:
            head = r.head()
            if not head:
                return
            if "/slow" in head[0]:
                free.wait(lib.PATIENCE)
            sock.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")

    with Scene(args, BASE.replace("p[0]}", "p[0]} proto h2")) as sc:
        sc.server.handler = handler
        c = h2.Client(lib.connect(sc.p[0]))
        c.send(h2.headers(1, h2.request("/slow")))
        tap.ok(lib.until(lambda: sc.proxy.stats()["px", "s1"]["scur"] == "1"),
               "a request over HTTP/2 is on its way")
        tap.ok("Success=1" in sc.reload(version="v2"), "the configuration changes")
        c.send(h2.headers(3, h2.request("/")))
        tap.eq(dict(c.answer(3)[1]).get("x-version"), "v2", "the next request has the new one")
        tap.eq(len(sc.generations()), 2, "the old one is held")
        free.set()
        tap.eq(dict(c.answer(1)[1]).get("x-version"), "v1", "the first ends with the old one")
        tap.ok(lib.until(lambda: len(sc.generations()) == 1), "which is gone then")
        c.close()


TABLES = """
frontend px
	bind 127.0.0.1:{p[0]}
	tcp-request connection track-sc0 src table clients
	http-request track-sc1 path table paths
	http-request return status 200 hdr x-version {version} hdr n %[sc0_http_req_cnt] hdr cur %[sc0_conn_cur] hdr path %[sc1_http_req_cnt] hdr left %[src,table_expire(clients)]
backend clients
	stick-table type ip size {size} expire {expire} store http_req_cnt,conn_cur,http_req_rate(1h)
backend paths
	stick-table type string len {length} size 100 store http_req_cnt
"""


def test_tables(tap, args):
    """A table of the same name, key and data keeps its entries, and those who track them; its size and expiry may change."""
    with Scene(args, TABLES, size=10, expire="1m", length=8) as sc:
        c = Client(sc.p[0])
        c.get("/a")
        fields = c.get("/a")[1]
        tap.eq((fields["n"], fields["cur"], fields["path"]), ("2", "1", "2"), "requests are counted")
        sc.proxy.ctl("set table clients key 192.0.2.1 data.http_req_cnt 7")
        tap.ok("Success=1" in sc.reload(version="v2", size=2000, expire="1h", length=8), "a table gets other limits")
        fields = c.get("/a")[1]
        tap.eq((fields["x-version"], fields["n"], fields["cur"], fields["path"]), ("v2", "3", "1", "3"),
               "its entries go on, that of a kept connection too")
        tap.ok(int(fields["left"]) > 3500000, "the new expiry holds for it")
        shown = sc.proxy.ctl("show table clients")
        tap.ok("size:2000, used:2" in shown and "key=192.0.2.1 use=0" in shown, "and the new size", shown)
        tap.ok("Success=1" in sc.reload(version="v3", size=2000, expire="1h", length=9), "another gets other keys")
        fields = c.get("/a")[1]
        tap.eq((fields["x-version"], fields["n"], fields["path"]), ("v3", "4", "1"), "that one starts afresh")
        tap.eq(len(sc.generations()), 1, "nothing holds the old generations")
        c.sock.close()
        tap.ok(lib.until(lambda: "key=127.0.0.1 use=0" in sc.proxy.ctl("show table clients") and
                         "conn_cur=0" in sc.proxy.ctl("show table clients key 127.0.0.1")),
               "the connection ends where it began")
        body = TABLES.replace("type ip size", "type ipv6 size")
        kept = Client(sc.p[0])
        tap.eq(kept.get("/b")[1]["n"], "5", "another connection")
        tap.ok("Success=1" in sc.reload(body=body, version="v4", size=2000, expire="1h", length=9),
               "a table of another type")
        tap.eq(kept.get("/b")[1]["n"], "6", "a kept connection goes on with what it tracks")
        tap.eq(Client(sc.p[0]).get("/b")[1]["n"], "1", "a new one does not know it")
        plain = TABLES.split("\ttcp-request")[0] + "\thttp-request return status 200 hdr x-version {version}\n"
        tap.ok("Success=1" in sc.reload(body=plain, version="v5"), "all tables go")
        tap.eq(kept.get("/b")[1]["x-version"], "v5", "and the connections stay")


def make_certificate(path, name):
    """A key and a certificate of its own, in one file; False: there is no openssl."""
    if not shutil.which("openssl"):
        return False
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "9", "-subj",
                    "/CN=" + name, "-keyout", path + ".key", "-out", path + ".crt"],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with open(path, "w") as out:
        for part in (".crt", ".key"):
            with open(path + part) as f:
                out.write(f.read())
    return True


class TlsClient(Client):
    def __init__(self, port):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        self.sock = context.wrap_socket(lib.connect(port))
        self.reader = lib.Reader(self.sock)

    def certificate(self):
        return hashlib.sha256(self.sock.getpeercert(True)).hexdigest()


def commands_meanwhile(tap, sc, path):
    """Commands about certificates work on one generation from beginning to end."""
    over, wrong = threading.Event(), []

    def ask():
        while not over.is_set():
            try:
                out = sc.proxy.ctl("show ssl sni;show ssl cert %s;show cli sockets;"
                                   "del ssl cert %s" % (path, path))
            except OSError as e:
                out = repr(e)
            if "Status: Used" not in out or "in use" not in out:
                wrong.append(out)
                return

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for t in threads:
        t.start()
    good = sum("Success=1" in sc.reload(version="v%d" % i) for i in range(30))
    over.set()
    for t in threads:
        t.join()
    tap.eq(good, 30, "30 reloads while certificates are asked about")
    tap.eq(wrong, [], "each answer is about one generation")


def test_tls(tap, args):
    """Certificates are read again; connections go on."""
    folder = tempfile.mkdtemp(prefix="hapr.")
    path = folder + "/site.pem"
    if not make_certificate(path, "one"):
        tap.skip("reloading certificates", "no openssl")
        return
    body = BASE.replace("p[0]}", "p[0]} ssl crt " + path)
    with Scene(args, body) as sc:
        kept = TlsClient(sc.p[0])
        first = kept.certificate()
        tap.eq(kept.get()[1].get("x-version"), "v1", "TLS: the first configuration answers")
        make_certificate(path, "two")
        tap.ok("Success=1" in sc.reload(version="v2"), "a certificate changes")
        tap.eq(kept.get()[1].get("x-version"), "v2", "a connection goes on, with the new rules")
        fresh = TlsClient(sc.p[0])
        tap.ok(fresh.certificate() != first, "a new one sees the new certificate")
        tap.eq(fresh.get()[1].get("x-version"), "v2", "and is served")
        with open(path, "w") as f:
            f.write("nothing\n")
        answer = sc.reload(version="v3")
        tap.ok("Success=0" in answer and "site.pem" in answer, "a file that is no certificate is refused",
               answer)
        tap.eq(fresh.get()[1].get("x-version"), "v2", "nothing has changed")
        again = TlsClient(sc.p[0])
        tap.eq(again.certificate(), fresh.certificate(), "for new connections neither")
        make_certificate(path, "three")
        commands_meanwhile(tap, sc, path)
    shutil.rmtree(folder)


def test_tls_limit(tap, args):
    """maxsslconn comes with a reload: connections from before it have no place of it to give back."""
    folder = tempfile.mkdtemp(prefix="hapr.")
    path = folder + "/site.pem"
    if not make_certificate(path, "one"):
        tap.skip("a limit that a reload brings", "no openssl")
        return
    body = BASE.replace("p[0]}", "p[0]} ssl crt " + path)
    with Scene(args, body) as sc:
        old = [TlsClient(sc.p[0]) for _ in range(3)]
        tap.ok("Success=1" in sc.reload("global\n\tmaxsslconn 2\n" + body), "maxsslconn comes")
        for c in old:
            c.sock.close()
        lib.until(lambda: sc.proxy.info()["CurrSslConns"] == "0")
        fresh = [TlsClient(sc.p[0]) for _ in range(2)]
        tap.ok(all(c.get() for c in fresh), "so many are served")
        tap.ok("Success=1" in sc.reload(body), "maxsslconn goes")
        more = [TlsClient(sc.p[0]) for _ in range(3)]
        tap.ok(all(c.get() for c in more + fresh), "there is no limit")
    shutil.rmtree(folder)


def make_authority(folder, name):
    make_certificate(folder + "/one.pem", name)
    with open(folder + "/one.pem") as f, open(folder + "/ca.crt", "w") as out:
        out.write(re.search("-----BEGIN CERT.*?-----END CERT[^\n]*\n", f.read(), re.S).group(0))


def resumed(port, version, session=None):
    """A handshake: was it one that is resumed? And the session for the next one."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.minimum_version = context.maximum_version = version
    if session:
        context = session[0]
    with context.wrap_socket(lib.connect(port), session=session and session[1]) as s:
        s.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        lib.recv_all(s)
        return s.session_reused, (context, s.session)


def test_kept(tap, args):
    """What clients and administrators have from before a reload is good after it."""
    if not shutil.which("openssl"):
        tap.skip("what is kept", "no openssl")
        return
    with tempfile.TemporaryDirectory() as d:
        make_certificate(d + "/site.pem", "localhost")
        make_authority(d, "one")
        body = "listen px\n\tbind 127.0.0.1:{p[0]}\n\tbind 127.0.0.1:{p[1]} ssl crt %s/site.pem ca-file %s/ca.crt " \
               "verify optional\n\thttp-response set-header x-version {version}\n\tlog-format %%lc\n\tlog stdout " \
               "format raw local0\n\tserver s1 127.0.0.1:{s}\n" % (d, d)
        with Scene(args, body) as sc:
            sessions = {}
            for v in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
                sessions[v] = resumed(sc.p[1], v)[1]
                tap.ok(resumed(sc.p[1], v, sessions[v])[0], "kept: %s is resumed" % v.name)
            with lib.connect(sc.p[0]) as bad:
                bad.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nbad header: x\r\n\r\n")
                lib.recv_all(bad)
            sc.reload(version="v2")
            for v, session in sessions.items():
                tap.ok(resumed(sc.p[1], v, session)[0], "kept: %s after a reload" % v.name)
            errors = sc.proxy.ctl("show errors").split("\n", 1)[1]  # the first line is the time of the day
            sc.reload(version="v3")
            tap.eq(sc.proxy.ctl("show errors").split("\n", 1)[1], errors, "kept: show errors")
            tap.ok("bad header" in errors, "kept: with the request", errors)
            make_authority(d, "two")
            sc.reload(version="v4")
            for v, session in sessions.items():
                tap.ok(not resumed(sc.p[1], v, session)[0], "kept: %s, not where others are trusted" % v.name)
            sc.proxy.ctl("show info")
            lines = [l for l in sc.proxy.output().split("\n") if l.isdigit()]
            tap.eq(lines, [str(i) for i in range(len(lines))], "kept: lines of logs are counted on")
            tap.ok("New server registered" in sc.proxy.ctl("add server px/dyn 127.0.0.1:%d" % sc.server.port),
                   "kept: a server is added")
            answer = sc.reload(version="v5")
            tap.ok("'px/dyn' was added at run time" in answer and "Success=1" in answer,
                   "kept: a server of no file is not, and that is said", answer)


def test_two_at_once(tap, args):
    with Scene(args) as sc:
        filler = "".join("backend b%d\n\tserver s 127.0.0.1:1\n" % i for i in range(3000))
        sc.write(sc.text(BASE + filler.replace("{", "{{"), version="v2"))
        answers = []
        crowd = [threading.Thread(target=lambda: answers.append(sc.proxy.ctl("reload")))
                 for _ in range(6)]
        for t in crowd:
            t.start()
        for t in crowd:
            t.join()
        good = sum("Success=1" in a for a in answers)
        busy = sum("Another reload is going on" in a for a in answers)
        tap.ok(good >= 1 and good + busy == 6, "reloads at once: one after the other, or refused",
               answers)
        tap.eq(Client(sc.p[0]).get()[1].get("x-version"), "v2", "the file is taken")


LIMIT = "global\n\tstats timeout 500ms\n"


def test_long_reload(tap, args):
    """A reload that takes longer than `stats timeout`, and whose client others try to shut down, is answered."""
    with Scene(args, BASE + LIMIT) as sc:
        fifo = os.path.join(sc.proxy.dir, "map")
        os.mkfifo(fifo)
        sc.write(sc.text(BASE + "\thttp-request set-header x-m %[path,map(" + fifo + ")]\n" + LIMIT, version="v2"))
        answer = []
        t = threading.Thread(target=lambda: answer.append(sc.proxy.ctl("reload")))
        t.start()
        with open(fifo, "w") as f:  # is opened when the reload has come to it
            time.sleep(1)
            for line in sc.proxy.ctl("show sess all").split("\n"):
                if line.startswith("0x"):
                    sc.proxy.ctl("shutdown session " + line.split(":")[0])
            f.write("/a b\n")
        t.join()
        tap.ok(answer and answer[0].startswith("Success=1"), "a long reload: who asked is answered", answer)
        tap.eq(Client(sc.p[0]).get()[1].get("x-version"), "v2", "the file is taken")


class Load(threading.Thread):
    """Requests one after the other, on kept connections or on new ones."""

    def __init__(self, port, kept):
        super().__init__(daemon=True)
        self.port, self.kept = port, kept
        self.stop = False
        self.done = 0
        self.failures = []

    def run(self):
        c = None
        n = 0
        while not self.stop:
            n += 1
            try:
                if not c or not self.kept or n % 50 == 0:
                    c = Client(self.port)
                got = c.get("/%d" % n)
                if not got or got[0] != 200 or got[1].get("x-url") != "/%d" % n:
                    self.failures.append("request %d: %r" % (n, got))
                    c = None
                else:
                    self.done += 1
                    if got[1].get("connection") == "close":
                        c = None
            except Exception as e:
                self.failures.append("request %d: %s: %s" % (n, type(e).__name__, e))
                c = None


def memory_kb(pid):
    with open("/proc/%d/status" % pid) as f:
        return int(next(l for l in f if l.startswith("VmRSS")).split()[1])


def descriptors(pid):
    return len(os.listdir("/proc/%d/fd" % pid))


def variant(i):
    """Half of the reloads change something, a tenth of them is wrong."""
    body = BASE
    if i % 2:
        body += "\tserver t%d 127.0.0.1:{s}\n" % (i % 4)
        body += "\tbind 127.0.0.1:{p[%d]}\n" % (1 + i % 3)
        body += "backend b%d\n\tserver x 127.0.0.1:1\n" % i
    if i % 10 == 9:
        body += "\tmistake\n"
    return body


def test_load(tap, args):
    with Scene(args) as sc:
        crowd = [Load(sc.p[0], i % 2) for i in range(6)]
        for t in crowd:
            t.start()
        pid, last, back, wrong, early = sc.proxy.process.pid, 0, [], [], 0
        for i in range(args.reloads):
            answer = sc.reload(body=variant(i), version="v%d" % i)
            if ("Success=1" in answer) == (i % 10 == 9):
                wrong.append(answer)
            total = int(sc.proxy.stats()["px", "FRONTEND"]["req_tot"])
            if total < last:
                back.append((last, total))
            last = total
            if i == args.reloads // 2:
                early, fds = memory_kb(pid), descriptors(pid)
        late = memory_kb(pid)
        for t in crowd:
            t.stop = True
        for t in crowd:
            t.join()
        failures = [f for t in crowd for f in t.failures]
        tap.eq(wrong, [], "%d reloads, each as it should" % args.reloads)
        tap.eq(failures, [], "no failed request of %d" % sum(t.done for t in crowd))
        tap.eq(back, [], "no counter went back")
        tap.ok(lib.is_sanitized("/proc/%d/exe" % pid) or late < early * 1.25 + 4096, "memory does not grow", "%d KB, then %d" % (early, late))
        tap.ok(lib.until(lambda: descriptors(pid) <= fds + 6), "descriptors do not gather")
        tap.ok(lib.until(lambda: len(sc.generations()) == 1), "one generation is left",
               sc.generations())
        served = sum(t.done for t in crowd)
        tap.ok(lib.until(lambda: int(sc.proxy.stats()["px", "FRONTEND"]["hrsp_2xx"]) == served),
               "every answer was counted")


def main():
    args = lib.arguments(__doc__, ("reloads", 40, "how many under load"))
    tap = lib.Tap()
    if lib.is_reference(args.program):
        tap.skip("reloads in the process", "the reference has none")
        tap.done()
    for test in (test_change, test_bad, test_at_start, test_binds, test_states, test_checks, test_idle, test_queue,
                 test_tunnel, test_hard_stop, test_h2, test_tables, test_tls, test_tls_limit, test_kept, test_two_at_once,
                 test_long_reload, test_load):
        test(tap, args)
    tap.done()


lib.guarded(main)
