#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Sections peers: two processes that share tables through a relay that is cut and clogged, restarts, reloads, the
process that takes over (-sf), TLS; then a scripted peer that is wrong, mute, slow, or sends nonsense.
--partner PROGRAM: what runs on the other side; the reference is tried too where it is there. --entries N: of a full
lesson."""
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time

import lib
from lib_spop import varint


PAIR = """	localpeer %(name)s
%(glob)s
defaults
	mode http
	timeout connect 5s
	timeout client 5s
	timeout server 5s
%(logs)s
peers pp
%(lines)s
	table texts type string len 20 size 1k expire 10m store http_req_cnt,gpt(2),gpc(3),gpc_rate(2,1h),bytes_in_cnt,conn_cur
	table bytes type binary len 8 size 1k expire 10m store http_req_cnt
	table plain type string size 1k expire 10m store gpc0
backend ips
	stick-table type ip size 200k expire 10m peers pp store gpc0,server_id,gpc0_rate(1h)
backend ip6s
	stick-table type ipv6 size 1k expire 10m peers pp store gpc0,gpt0
backend numbers
	stick-table type integer size 1k expire 10m peers pp
	balance roundrobin
	stick on hdr(x-i)
	server s1 127.0.0.1:%(page)d
	server s2 127.0.0.1:%(page)d
frontend fe
	bind 127.0.0.1:%(http)d
	http-request track-sc0 hdr(x-k) table pp/texts
	http-request track-sc1 hdr(x-b) table pp/bytes
	http-request sc-inc-gpc0(0)
	default_backend numbers
frontend page
	bind 127.0.0.1:%(page)d
	http-request return status 200
"""
PLAIN = "\tpeer a 127.0.0.1:%(a)d\n\tpeer b 127.0.0.1:%(b)d"


class Relay:
    """Between two ports: can be cut, refuse, and stand still."""

    def __init__(self, port, to):
        self.to, self.closed, self.stuck, self.socks = to, False, False, []
        self.listener = socket.create_server(("127.0.0.1", port))
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            try:
                c, _ = self.listener.accept()
                if self.closed:
                    c.close()
                    continue
                s = socket.create_connection(("127.0.0.1", self.to))
            except OSError:
                if self.listener.fileno() < 0:
                    return
                c.close()
                continue
            self.socks += [c, s]
            for pair in ((c, s), (s, c)):
                threading.Thread(target=self.pump, args=pair, daemon=True).start()

    def pump(self, a, b):
        try:
            while True:
                while self.stuck:
                    time.sleep(0.02)
                data = a.recv(65536)
                if not data:
                    break
                b.sendall(data)
        except OSError:
            pass
        for s in (a, b):
            s.close()

    def cut(self):
        self.closed = True
        for s in self.socks:
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        self.socks = []

    def mend(self):
        self.closed = False

    def end(self):
        self.cut()
        self.listener.close()


class Pair:
    """Processes a and b; each reaches the other through a relay of its own."""

    def __init__(self, programs, lines=PLAIN, glob="", logs=""):
        own_a, own_b, to_a, to_b = lib.ports(4)
        self.http, self.programs = {}, dict(zip("ab", programs))
        self.conf = {}
        for name, at in (("a", {"a": own_a, "b": to_b}), ("b", {"a": to_a, "b": own_b})):
            http, page = lib.ports(2)
            self.http[name] = http
            text = lines if isinstance(lines, str) else lines[name]
            self.conf[name] = PAIR % {"name": name, "lines": text % at, "http": http, "page": page, "glob": glob,
                                      "logs": logs}
        self.relays = [Relay(to_a, own_a), Relay(to_b, own_b)]
        self.at = {}

    def start(self, name, args=()):
        self.at[name] = lib.Proxy(self.programs[name], self.conf[name], args, restless="peers")
        return self.at[name]

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        for p in self.at.values():
            p.__exit__(*exc)
        for r in self.relays:
            r.end()

    def get(self, name, **fields):
        s = lib.connect(self.http[name])
        s.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n" +
                  b"".join(b"x-%s: %s\r\n" % (k.encode(), str(v).encode()) for k, v in fields.items()) +
                  b"Connection: close\r\n\r\n")
        lib.recv_all(s)
        s.close()


def rows(proxy, table):
    """What a table has, but times and places."""
    out = {}
    for line in proxy.ctl("show table " + table).split("\n"):
        if line.startswith("0x"):
            words = dict(w.split("=", 1) for w in line.split()[1:])
            key = words.pop("key")
            for w in ("use", "exp", "shard"):
                words.pop(w)
            out[key] = words
    return out


def left_ms(proxy, table, key):
    """How long an entry has still to live; 0: it is not there."""
    m = re.search(r" key=%s use=\d+ exp=(\d+)" % re.escape(key), proxy.ctl("show table %s" % table))
    return int(m[1]) if m else 0


def aged(proxy, table, key, ms):
    """What an entry has left once it has not been used for that long."""
    first = left_ms(proxy, table, key)
    lib.until(lambda: left_ms(proxy, table, key) < first - ms)
    return left_ms(proxy, table, key)


TABLES = ("ips", "ip6s", "numbers", "pp/texts", "pp/bytes", "pp/plain")


def same(p, q):
    return all(rows(p, t) == rows(q, t) for t in TABLES)


def difference(p, q):
    """A few entries that one has, or has otherwise."""
    out = []
    for t in TABLES:
        x, y = rows(p, t), rows(q, t)
        out += ["%s %s: %s, %s" % (t, k, x.get(k), y.get(k)) for k in {**x, **y} if x.get(k) != y.get(k)][:5]
    return "\n".join(out)


def set_some(p, first, count=5):
    p.ctl(";".join(["set table ips key 10.1.%d.%d data.gpc0 %d data.server_id 7 data.gpc0_rate 5" %
                    (i >> 8, i & 255, 300 + i) for i in range(first, first + count)] +
                   ["set table ip6s key 2001:db8::%x data.gpc0 3 data.gpt0 70000" % first,
                    "set table numbers key %d data.server_id 2" % first,
                    "set table pp/texts key text-%d data.gpc[2] 3 data.gpt[1] 9 data.bytes_in_cnt 5000000000" % first,
                    "set table pp/plain key %s-%d data.gpc0 1" % ("x" * 40, first)]))


def together(tap, programs, how):
    """Taught at the start, then told each change; restarts; what changed while they were apart."""
    with Pair(programs) as pair:
        a = pair.start("a")
        set_some(a, 1, 100)
        b = pair.start("b")
        tap.ok(lib.until(lambda: same(a, b)), how + "b, which comes, is taught all of a", difference(a, b))
        set_some(a, 200)
        set_some(b, 300)
        for i in range(4):
            pair.get("ab"[i & 1], k="key-%d" % i, b="bin%d" % i, i=1000 + i)
        tap.ok(lib.until(lambda: same(a, b)), how + "each change of both is seen by the other", difference(a, b))
        tap.eq(sorted({e["server_key"] for e in rows(b, "numbers").values()}), ["-", "s1", "s2"],
               how + "servers' keys arrive")
        for i in range(3): # the texts are known by numbers now
            pair.get("a", k="more-%d" % i, b="more%d" % i, i=2000 + i)
        tap.ok(lib.until(lambda: same(a, b)), how + "and when their texts were sent before", difference(a, b))
        tap.eq((a.info()["ConnectedPeers"], b.info()["ConnectedPeers"]), ("1", "1"), how + "show info")
        b.stop()
        b.__exit__(None, None, None)
        set_some(a, 400)
        b = pair.start("b")
        tap.ok(lib.until(lambda: same(a, b)), how + "b is back: taught again", difference(a, b))
        for r in pair.relays:
            r.cut()
        lib.until(lambda: a.info()["ConnectedPeers"] == "0" and b.info()["ConnectedPeers"] == "0")
        set_some(a, 500, 50)
        set_some(b, 600, 50)
        pair.get("a", k="apart", b="apart", i=3000)
        for r in pair.relays:
            r.mend()
        tap.ok(lib.until(lambda: same(a, b)), how + "what changed on both sides of a partition", difference(a, b))
        tap.ok(a.alive() and b.alive(), how + "both live")


def alone(tap, program):
    """What needs no other program: reloads, taking over, configuration."""
    with Pair((program, program)) as pair:
        a, b = pair.start("a"), pair.start("b")
        set_some(a, 1)
        lib.until(lambda: same(a, b))
        tap.ok("Success=1" in a.ctl("reload"), "a reload")
        set_some(a, 20)
        set_some(b, 30)
        tap.ok(lib.until(lambda: same(a, b)), "a reload keeps the link and the tables", difference(a, b))
        tap.eq(a.info()["ConnectedPeers"], "1", "the link is the same")
        with open(a.conf_path) as f:
            text = f.read()
        for p in (a, b): # a new table on both sides, then none
            with open(p.conf_path) as f:
                mine = f.read()
            with open(p.conf_path, "w") as f:
                f.write(mine + "backend more\n\tstick-table type ip size 10 peers pp store gpc0\n")
            p.ctl("reload")
            p.ctl("set table more key 10.0.0.%s data.gpc0 5" % (1 if p is a else 2))
        tap.ok(lib.until(lambda: len(rows(a, "more")) == 2 and rows(a, "more") == rows(b, "more")),
               "a table that a reload brings", "%s %s" % (rows(a, "more"), rows(b, "more")))
        with open(a.conf_path, "w") as f:
            f.write(re.sub(r"peers pp\n.*?backend ips", "backend ips", text, flags=re.S).replace(" peers pp", "")
                    .replace("table pp/texts", "table ips").replace("table pp/bytes", "table ips"))
        answer = a.ctl("reload")
        tap.ok(lib.until(lambda: b.info()["ConnectedPeers"] == "0"), "a reload without the section ends the link", answer)
        with open(a.conf_path, "w") as f:
            f.write(text)
        a.ctl("reload")
        set_some(b, 40)
        tap.ok(lib.until(lambda: same(a, b)), "and one with it begins again", difference(a, b))


def taken_over(tap, program):
    """-sf: the new process is taught by the old one, which ends then."""
    with Pair((program, program)) as pair:
        a = pair.start("a")
        set_some(a, 1, 200)
        pair.get("a", k="key", b="bin", i=5)
        before = {t: rows(a, t) for t in TABLES}
        new = lib.Proxy(program, pair.conf["a"], ("-sf", str(a.process.pid)), restless="peers")
        try:
            tap.ok(lib.until(lambda: all(rows(new, t) == before[t] for t in TABLES)), "the new process has all",
                   {t: rows(new, t) for t in TABLES if rows(new, t) != before[t]})
            a.process.wait(lib.PATIENCE)
            tap.eq(a.process.returncode, 0, "the old one has ended")
        finally:
            new.__exit__(None, None, None)
    with Pair((program, program)) as pair: # what the other side was not told when the process went
        a, b = pair.start("a"), pair.start("b")
        set_some(a, 1)
        lib.until(lambda: same(a, b) and len(rows(b, "ips")) == 5)
        for r in pair.relays:
            r.cut()
        lib.until(lambda: a.info()["ConnectedPeers"] == "0")
        set_some(a, 20, 50)
        pair.get("a", k="apart", b="apart", i=6)
        want, left = {t: rows(a, t) for t in TABLES}, aged(a, "ips", "10.1.0.20", 1000)
        pair.start("a", ("-sf", str(a.process.pid)))
        a.process.wait(lib.PATIENCE)
        a.__exit__(None, None, None)
        a = pair.at["a"]
        tap.ok(0 < left_ms(a, "ips", "10.1.0.20") <= left, "what was used before expires no later", left)
        for r in pair.relays:
            r.mend()
        tap.ok(lib.until(lambda: all(rows(b, t) == want[t] for t in TABLES)) and same(a, b),
               "what its predecessor could not tell, the new process tells", difference(a, b))
    with Pair((program, program)) as pair: # nobody takes over
        a = pair.start("a")
        set_some(a, 1)
        a.process.send_signal(signal.SIGUSR1)
        a.process.wait(lib.PATIENCE)
        tap.eq(a.process.returncode, 0, "a soft stop that nobody follows ends too")


def secured(tap, program):
    folder = tempfile.mkdtemp(prefix="hapt.")
    try:
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                        "-keyout", folder + "/k", "-out", folder + "/c", "-days", "9", "-subj", "/CN=peers"],
                       check=True, stderr=subprocess.DEVNULL)
        with open(folder + "/pem", "w") as out:
            for name in "ck":
                with open("%s/%s" % (folder, name)) as f:
                    out.write(f.read())
        lines = {"a": "\tbind 127.0.0.1:%(a)d\n\tserver a\n\tserver b 127.0.0.1:%(b)d",
                 "b": "\tbind 127.0.0.1:%(b)d\n\tserver b\n\tserver a 127.0.0.1:%(a)d"}
        head = " default-bind ssl crt %s/pem\n default-server ssl ca-file %s/c\n" % (folder, folder)
        with Pair((program, program), {k: head + v for k, v in lines.items()}) as pair:
            a = pair.start("a")
            set_some(a, 1, 300)
            b = pair.start("b")
            tap.ok(lib.until(lambda: same(a, b)), "over TLS: taught", difference(a, b))
            a.ctl("reload")
            set_some(b, 20)
            tap.ok(lib.until(lambda: same(a, b)), "over TLS: behind a reload", difference(a, b))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


# --- a scripted peer ---------------------------------------------------------------------------------------------

def number(n):
    return varint(n)


def message(kind, body):
    return bytes([10, kind]) + varint(len(body)) + body


def define(ident, name, keys, key_len, data, expire=60000, more=b""):
    return message(130, number(ident) + number(len(name)) + name.encode() + number(keys) + number(key_len) +
                   number(data) + number(expire) + more)


class Scripted:
    """Peer b, or somebody who says so, at the port of a."""

    def __init__(self, port, hello=b"HAProxyS 2.1\na\nb 1 1\n"):
        self.sock = lib.connect(port)
        self.sock.sendall(hello)

    def until(self, what):
        """Receives until <what> has come; all of it."""
        got = b""
        self.sock.settimeout(lib.PATIENCE)
        try:
            while what not in got:
                part = self.sock.recv(65536)
                if not part:
                    break
                got += part
        except OSError:
            pass
        return got

    def close(self):
        self.sock.close()


ONE = """	localpeer a
defaults
	mode http
	timeout connect 5s
	timeout client 5s
	timeout server 5s
peers pp
	log 127.0.0.1:%(log)d local0
%(shards)s
	peer a 127.0.0.1:%(a)d
	peer b 127.0.0.1:%(b)d
	table t type ip size 100 expire 1m store gpc0
	table seen type ip size 100 expire 1m recv-only store gpc0,conn_cur write-to marks
	table small type integer size 3 expire 1m store gpt0
backend marks
	stick-table type ip size 100 expire 1m store gpc0,gpt0,server_id
"""


def nonsense(tap, program):
    log = lib.Syslog()
    a, b = lib.ports(2)
    with lib.Proxy(program, ONE % {"a": a, "b": b, "log": log.port, "shards": ""}, restless="peers") as p:
        for hello, status in ((b"HAProxyS 2.1\nx\nb 1 1\n", b"503"), (b"HAProxyS 2.1\na\nzz 1 1\n", b"504"),
                              (b"HAProxyS 3.0\na\nb 1 1\n", b"502"), (b"HAProxyS 1.0\na\nb 1 1\n", b"502"),
                              (b"GET / HTTP/1.1\r\n", b"501"), (b"HAProxyS 2.1\na\nb 1 1\n", b"200"),
                              (b"HAProxyS 2.0\na\nb 1 1\n", b"200")):
            s = Scripted(a, hello)
            got = s.until(b"\n")
            tap.eq(got[:3], status, "%r is answered %s" % (hello, status.decode()))
            s.close()
        if lib.is_reference(program):
            return
        good = define(1, "/t", 4, 4, 4)
        cases = {
            "a class that is not": b"\x55\x01", "a body that is too long": b"\x0a\x80" + varint(10 << 20),
            "an integer without end": b"\x0a\x80" + b"\xff" * 12,
            "a definition that is cut": message(130, b"\x01\x05/t"),
            "an update that is cut": good + message(128, b"\0\0\0\1\x0a"),
            "a value that is cut": good + message(128, b"\0\0\0\1\x0a\0\0\1\xf4"),
            "an ack that is cut": message(132, b"\x01\0"),
        }
        for name, data in cases.items():
            s = Scripted(a)
            s.until(b"200\n")
            s.sock.sendall(data)
            got = s.until(b"\x01\x00") + s.until(b"\x01\x01")
            tap.ok(b"\x01\x00" in got or b"\x01\x01" in got, name + ": told so, and left", got)
            s.close()
        tap.ok(log.find(r"peer 'b'.*broke the protocol"), "it is logged", log.lines)
        s = Scripted(a)
        s.until(b"200\n")
        # what cannot be used is passed over: an unknown table, other keys, unknown data, a later type of message
        s.sock.sendall(define(3, "/nobody", 4, 4, 4) + message(128, b"\0\0\0\1\x0a\0\0\1\1") +
                       define(4, "/t", 6, 10, 4) + message(128, b"\0\0\0\1\x03abc\1") +
                       message(200, b"later") + message(131, b"\x63") + message(128, b"nothing is meant") +
                       define(1, "/t", 4, 4, 4) + message(128, b"\0\0\0\7\x0a\0\0\1\x05") +
                       message(129, b"\x0a\0\0\2\x06") + message(133, b"\0\0\0\x09\0\0\x30\x00\x0a\0\0\3\x07"))
        tap.ok(lib.until(lambda: len(rows(p, "pp/t")) == 3), "what follows is learned", rows(p, "pp/t"))
        tap.eq({k: e["gpc0"] for k, e in rows(p, "pp/t").items()},
               {"10.0.0.1": "5", "10.0.0.2": "6", "10.0.0.3": "7"}, "with its values")
        left = int(re.search(r"key=10\.0\.0\.3 .*?exp=(\d+)", p.ctl("show table pp/t")).group(1))
        tap.ok(left <= 0x3000, "and, in a lesson, the time that it has left", left)
        tap.ok(log.find("keys of another type or length"), "a table with other keys is told of", log.lines)
        got = s.until(b"\x0a\x84\x05\x01\0\0\0\x08")
        tap.ok(b"\x0a\x84\x05\x01\0\0\0\x08" in got, "updates are acknowledged, lessons are not", got)
        s.close()


class Wrong:
    """A process that listens at the port of b, and is no peer: what it does with a connection is changed meanwhile."""

    def __init__(self, port):
        self.way, self.seen, self.over = "mute", 0, threading.Event()
        self.server = lib.Server(self.one, port)

    def one(self, sock):
        way, beat = self.way, b"\0\4"
        if way != "gone":
            sock.recv(1000)
        self.seen += 1
        if way == "foreign":
            sock.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        elif way == "refuses":
            sock.sendall(b"504\n")
        elif way in ("well", "garbage"):
            sock.sendall(b"200\n" + (beat if way == "well" else b"\x55\x01"))
        while way in ("mute", "well") and way == self.way and not self.over.wait(.5):
            if way == "well":
                sock.sendall(beat)


WRONG = (("mute", "does not answer our hello"), ("foreign", "what it answered is no answer to a hello"),
         ("gone", "its connection was closed before it answered"), ("refuses", "it knows no peer of our name (localpeer)"),
         ("garbage", "it broke the protocol: a message of an unknown class"))


def told(tap, program):
    """Peers that are wrong: each fault is one line of the log, however often it is tried again, and so is its end."""
    def one(way, message):
        log, wrong = lib.Syslog(), Wrong(lib.ports(1)[0])
        conf = ONE % {"a": lib.ports(1)[0], "b": wrong.server.port, "log": log.port, "shards": ""}
        wrong.way = way
        with lib.Proxy(program, conf, restless="peers") as p:
            lib.until(lambda: wrong.seen >= 2, 4 * lib.PATIENCE)
            wrong.way = "well"
            lib.until(lambda: any("is back" in l for l in log.lines), 2 * lib.PATIENCE)
            lines = [l.split("Peers section 'pp': ")[1] for l in log.lines if "Peers section" in l]
            tap.ok(len(lines) == 2 and message in lines[0] and lines[1] == "peer 'b' is back.",
                   "%s: one line when it begins, one when it is over" % way, lines)
            tap.ok(p.info()["ConnectedPeers"] == "1", way + ": it is a peer then")
        wrong.over.set()
        wrong.server.close()
        log.close()
    threads = [threading.Thread(target=tap.attempt, args=(w[0], one) + w) for w in WRONG]
    for t in threads:
        t.start()
    for t in threads:
        t.join()


def differing(tap, program):
    """Tables that are not the same at a peer: one line for each of them, and no second one at its next connection."""
    log = lib.Syslog()
    a, b = lib.ports(2)
    with lib.Proxy(program, ONE % {"a": a, "b": b, "log": log.port, "shards": ""}, restless="peers") as p:
        for turn in range(3):
            s = Scripted(a)
            s.until(b"200\n")
            # /t of other keys, /seen with gpt0 and a rate and without conn_cur, /small as it is here
            s.sock.sendall(define(1, "/t", 6, 10, 4) + message(128, b"\0\0\0\1\x03abc\1") +
                           define(2, "/seen", 4, 4, 2 | 4 | 8, more=number(3) + number(10000)) +
                           message(128, bytes((0, 0, 0, 2, 10, 0, 0, 1, 9, 5 + turn, 0, 0, 0))) +
                           define(3, "/small", 2, 4, 2) + message(128, bytes((0, 0, 0, 3, 0, 0, 0, turn, 7))))
            tap.ok(lib.until(lambda: str(turn) in rows(p, "pp/small")), "what agrees is learned, connection %d" % turn)
            tap.eq(rows(p, "pp/seen").get("10.0.0.1"), {"gpc0": str(5 + turn), "conn_cur": "0"}, "and what both store")
            tap.eq(rows(p, "pp/t"), {}, "nothing of another kind of keys")
            s.close()
        lines = sorted(l.split("table ")[1] for l in log.lines if "table '" in l)
        tap.eq(lines, ["'pp/seen' does not store the same at peer 'b': gpt0, gpc0_rate, conn_cur. Only what both have is learned.",
                       "'pp/t' has keys of another type or length at peer 'b': nothing is learned of it."],
               "one line for each table that differs")
    log.close()


def special(tap, program):
    """recv-only, write-to, full tables, shards."""
    log = lib.Syslog()
    a, b = lib.ports(2)
    with lib.Proxy(program, ONE % {"a": a, "b": b, "log": log.port, "shards": ""}, restless="peers") as p:
        p.ctl("set table marks key 10.0.0.9 data.gpc0 1")
        s = Scripted(a)
        s.until(b"200\n")
        s.sock.sendall(b"\0\1") # the lesson that it was asked for
        # gpc0 5, conn_cur 3: bits 2 and 6; then gpt0 of small, whose entries are too many
        s.sock.sendall(define(1, "/seen", 4, 4, 4 | 64) + message(128, b"\0\0\0\1\x0a\0\0\x09\x05\x03") +
                       define(2, "/small", 2, 4, 2) +
                       b"".join(message(128, bytes([0, 0, 0, i, 0, 0, 0, i, 8])) for i in range(1, 9)))
        tap.ok(lib.until(lambda: "10.0.0.9" in rows(p, "pp/seen")), "recv-only: learned")
        tap.eq(rows(p, "pp/seen").get("10.0.0.9"), {"gpc0": "5", "conn_cur": "3"}, "with what is counted there now")
        tap.eq(rows(p, "marks").get("10.0.0.9"), {"gpc0": "1", "gpt0": "0", "server_id": "0"},
               "write-to: counters of others stay theirs")
        tap.ok(lib.until(lambda: sorted(rows(p, "pp/small"), key=int) == ["6", "7", "8"]),
               "a full table keeps the newest", rows(p, "pp/small"))
        p.ctl("set table pp/seen key 10.7.7.7 data.gpc0 1")
        p.ctl("set table pp/t key 10.7.7.8 data.gpc0 1")
        got = s.until(b"\x0a\x07\x07\x08")
        tap.ok(b"\x0a\x07\x07\x08" in got and b"\x0a\x07\x07\x07" not in got, "recv-only: nothing of it is sent", got)
        s.close()
    if lib.is_reference(program):
        return
    conf = (ONE % {"a": a, "b": b, "log": log.port, "shards": "\tshards 3"}).replace("b 127.0.0.1:%d" % b,
                                                                                   "b 127.0.0.1:%d shard 2" % b)
    with lib.Proxy(program, conf, restless="peers") as p:
        p.ctl(";".join("set table pp/t key 10.0.0.%d data.gpc0 1" % i for i in range(60)))
        wanted = {m[0] for m in re.findall(r"key=(\S+) .*?shard=(\d)", p.ctl("show table pp/t")) if m[1] == "2"}
        tap.ok(0 < len(wanted) < 60, "keys are of 3 shards", wanted)
        s = Scripted(a)
        s.until(b"200\n")
        s.sock.sendall(b"\0\0")
        got = s.until(b"\0\x02")
        sent = {".".join(map(str, m)) for m in re.findall(b"\x0a\x85.\0\0\0.....(\x0a\0\0.)", got, re.S)}
        tap.eq(sent, wanted, "a peer of shard 2 gets those of shard 2")
        s.close()


def mute(tap, program):
    """Who says nothing more is left; who does not read is caught up with later."""
    with Pair((program, program)) as pair:
        a, b = pair.start("a"), pair.start("b")
        set_some(a, 1)
        lib.until(lambda: same(a, b))
        for r in pair.relays:
            r.stuck = True
        for first in range(0, 30000, 500): # more than the log of a table and the sockets hold
            a.ctl(";".join("set table ips key 10.%d.%d.%d data.gpc0 1" % (2 + (i >> 16), i >> 8 & 255, i & 255)
                           for i in range(first, first + 500)))
        tap.ok(lib.until(lambda: a.info()["ConnectedPeers"] == "0"), "a peer that is mute is left")
        for r in pair.relays:
            r.cut()
            r.stuck = False
            r.mend()
        tap.ok(lib.until(lambda: "used:%d" % len(rows(a, "ips")) in b.ctl("show table").split("ips,")[1][:60], 60),
               "and has all when it is back", b.ctl("show table"))
        tap.ok(lib.until(lambda: same(a, b)), "the same", difference(a, b))


def silent_teacher(tap, program):
    """A peer that lives, but does not teach what it is asked for, is not waited for."""
    log = lib.Syslog()
    a, b = lib.ports(2)
    with lib.Proxy(program, ONE % {"a": a, "b": b, "log": log.port, "shards": ""}, restless="peers") as p:
        s = Scripted(a)
        s.until(b"\0\0")
        p.ctl("set table pp/t key 10.7.7.8 data.gpc0 1")
        over = threading.Event()

        def beat():
            while not over.wait(1):
                s.sock.sendall(b"\0\4")
        t = threading.Thread(target=beat)
        t.start()
        got = s.until(b"\x0a\x07\x07\x08")
        over.set()
        t.join()
        tap.ok(b"\x0a\x07\x07\x08" in got, "who does not teach is told all the same", got)
        s.close()


def told_in_a_lesson(tap, program):
    """What a peer tells while another one teaches is newer than the lesson, and is not undone by it."""
    log = lib.Syslog()
    a, b, c = lib.ports(3)
    conf = (ONE % {"a": a, "b": b, "log": log.port, "shards": ""}).replace("\ttable t ", "\tpeer c 127.0.0.1:%d\n\ttable t " % c)
    with lib.Proxy(program, conf, restless="peers") as p:
        teacher = Scripted(a)
        teacher.until(b"\0\0") # it is asked for everything
        other = Scripted(a, b"HAProxyS 2.1\na\nc 1 1\n")
        other.until(b"200\n")
        good = define(1, "/t", 4, 4, 4)
        other.sock.sendall(good + message(128, b"\0\0\0\1\x0a\0\0\1\x09") + b"\0\4")
        lib.until(lambda: rows(p, "pp/t"), 0.5) # it would be there by now
        teacher.sock.sendall(good + message(133, b"\0\0\0\1\0\0\x30\0\x0a\0\0\1\5") +
                             message(133, b"\0\0\0\2\0\0\x30\0\x0a\0\0\2\6") + b"\0\2")
        want = {"10.0.0.1": {"gpc0": "9"}, "10.0.0.2": {"gpc0": "6"}}
        tap.ok(b"\x0a\x84\x05" in other.until(b"\x0a\x84\x05"), "told in a lesson: acknowledged behind it")
        tap.ok(lib.until(lambda: rows(p, "pp/t") == want), "told in a lesson: it stays", rows(p, "pp/t"))
        other.sock.sendall(message(129, b"\x0a\0\0\1\x0a"))
        tap.ok(lib.until(lambda: rows(p, "pp/t")["10.0.0.1"]["gpc0"] == "10"), "and what follows is heard", rows(p, "pp/t"))
        teacher.close()
        other.close()


def collisions(tap, program):
    """Both begin at the same moment, again and again; one link stays."""
    with Pair((program, program)) as pair:
        a, b = pair.start("a"), pair.start("b")
        for turn in range(5):
            lib.until(lambda: a.info()["ConnectedPeers"] == "1" and b.info()["ConnectedPeers"] == "1")
            for r in pair.relays:
                r.cut()
                r.mend()
            set_some(a, 10 + turn)
            set_some(b, 20 + turn)
        tap.ok(lib.until(lambda: same(a, b)), "they meet after each cut", difference(a, b))
        for x in range(5): # two that come under the same name
            s = Scripted(int(re.search(r"peer a 127.0.0.1:(\d+)", pair.conf["a"]).group(1)))
            s.until(b"200\n")
            tap.eq(a.info()["ConnectedPeers"], "1", "who comes last stays, turn %d" % x)
            s.close()
        set_some(b, 40)
        tap.ok(lib.until(lambda: same(a, b)), "b comes back behind it", difference(a, b))


def many(tap, program, count):
    """A full lesson, and traffic of both meanwhile."""
    with Pair((program, program), glob="\ttune.peers.max-updates-at-once 1000") as pair:
        a = pair.start("a")
        keys = list(range(count))
        for first in range(0, count, 500):
            a.ctl(";".join("set table ips key 10.%d.%d.%d data.gpc0 %d" % (i >> 16, i >> 8 & 255, i & 255, i)
                           for i in keys[first:first + 500]))
        b = pair.start("b")
        rng = random.Random(7)
        for _ in range(40):
            for p in (a, b):
                set_some(p, rng.randrange(1000), 20)
        tap.ok(lib.until(lambda: "used:%d" % len(rows(a, "ips")) in b.ctl("show table").split("ips,")[1][:60], 60),
               "%d entries are taught" % count, b.ctl("show table"))
        tap.ok(lib.until(lambda: same(a, b)), "and are the same on both sides", difference(a, b))


SUMS = """	localpeer %(name)s
defaults
	mode http
	timeout connect 5s
	timeout client 30s
	timeout server 5s
peers pp
%(lines)s
	table clients type string len 20 size 1k expire 10m store http_req_cnt,http_req_rate(1h),gpc0,gpt0,bytes_in_cnt sum
	table conns type ip size 100 expire 10m store conn_cur sum
frontend fe
	bind 127.0.0.1:%(http)d
	tcp-request connection track-sc1 src table pp/conns
	http-request track-sc0 hdr(x-k) table pp/clients
	http-request sc-inc-gpc0(0) if { hdr(x-c) 1 }
	http-request return status 200 hdr x-sum %%[sc_http_req_cnt(0)]/%%[sc_http_req_rate(0)]/%%[sc_get_gpc0(0)]/%%[hdr(x-k),table_http_req_cnt(pp/clients)] hdr x-conns %%[sc_conn_cur(1)]
"""


def sums(tap, program):
    """Three processes that count together; one leaves and comes back. An extension."""
    names = "abc"
    peers, https = lib.ports(3), lib.ports(3)
    lines = "\n".join("\tpeer %s 127.0.0.1:%d" % x for x in zip(names, peers))
    at = {}

    def start(n, args=()):
        conf = SUMS % {"name": n, "lines": lines, "http": https[names.index(n)]}
        at[n] = lib.Proxy(program, conf, args, restless="peers")

    def get(n, key, count="", keep=False):
        s = lib.connect(https[names.index(n)])
        s.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nx-k: %s\r\nx-c: %s\r\n\r\n" % (key.encode(), count.encode()))
        fields = dict(lib.Reader(s).response()[1])
        if keep:
            return s, fields
        s.close()
        return fields

    def told(n, key, want, table="pp/clients"):
        """All that matter of what <n> says of a key."""
        got = {}

        def look():
            got.clear()
            got.update(rows(at[n], table).get(key, {}))
            return all(got.get(k) == v for k, v in want.items())
        return lib.until(look), got

    try:
        for n in names:
            start(n)
        tap.ok(lib.until(lambda: all(p.info()["ConnectedPeers"] == "2" for p in at.values())), "three are connected")
        for n, times in (("a", 5), ("b", 3), ("c", 2)):
            for _ in range(times):
                get(n, "k", "1")
        for n in names:
            good, got = told(n, "k", {"http_req_cnt": "10", "http_req_rate(3600000)": "10", "gpc0": "10"})
            tap.ok(good, "%s tells the sum of all" % n, got)
        tap.eq(get("b", "k")["x-sum"], "11/11/10/11", "so do fetches and converters")
        for n in names: # (what is still on its way would set the tag back: the last word counts)
            told(n, "k", {"http_req_cnt": "11"})
        at["a"].ctl("set table pp/clients key k data.gpt0 9")
        told("b", "k", {"gpt0": "9"})
        good, got = told("c", "k", {"gpt0": "9", "http_req_cnt": "11"})
        tap.ok(good, "tags are no numbers to add", got)
        for n in names: # nothing is counted twice by what is sent to and fro
            get(n, "k")
        good, got = told("a", "k", {"http_req_cnt": "14"})
        tap.ok(good, "nothing is counted twice", got)
        open_ones = [get(n, "o", keep=True)[0] for n in "aabbbc"]
        for n in names:
            good, got = told(n, "127.0.0.1", {"conn_cur": "6"}, "pp/conns")
            tap.ok(good, "%s knows all connections" % n, got)
        at["b"].process.kill()
        at["b"].process.wait()
        good, got = told("a", "127.0.0.1", {"conn_cur": "3"}, "pp/conns")
        tap.ok(good, "who is gone has no connections", got)
        good, got = told("a", "k", {"http_req_cnt": "14"})
        tap.ok(good, "but what it has counted stays", got)
        at["b"].__exit__(None, None, None)
        start("b")
        good, got = told("b", "k", {"gpt0": "9"})
        tap.ok(good, "it is back, and is told by both", got)
        good, got = told("b", "k", {"http_req_cnt": "9"})
        tap.ok(good, "what the others have counted", got)
        get("b", "k")
        good, got = told("a", "k", {"http_req_cnt": "10"})
        tap.ok(good, "its own count begins again", got)
        old, left = at["c"], aged(at["c"], "pp/clients", "k", 1000)
        start("c", ("-sf", str(old.process.pid)))
        good, got = told("c", "k", {"http_req_cnt": "10", "gpt0": "9"})
        tap.ok(good, "-sf: the successor has what its predecessor counted", got)
        tap.ok(0 < left_ms(at["c"], "pp/clients", "k") <= left, "which expires no later", left)
        for s in open_ones:
            s.close()
        old.process.wait(lib.PATIENCE)
        old.__exit__(None, None, None)
        get("c", "k")
        good, got = told("a", "k", {"http_req_cnt": "11"})
        tap.ok(good, "and goes on with it", got)
        at["a"].ctl("reload")
        get("a", "k")
        for n in names:
            good, got = told(n, "k", {"http_req_cnt": "12"})
            tap.ok(good, "%s: a reload changes nothing" % n, got)
        good, got = told("a", "127.0.0.1", {"conn_cur": "0"}, "pp/conns")
        tap.ok(good, "all have left", got)
    finally:
        for p in at.values():
            p.__exit__(None, None, None)


def shown(tap, program):
    with Pair((program, program)) as pair:
        a, b = pair.start("a"), pair.start("b")
        set_some(a, 1)
        pair.get("a", k="k", b="b", i=1)
        lib.until(lambda: same(a, b))
        text = a.ctl("show peers")
        tap.ok(re.search(r"^0x[0-9a-f]+: \[\d\d/\w{3}/\d{4}:\d\d:\d\d:\d\d\] id=pp disabled=0 flags=0x[0-9a-f]+ resync_timeout=",
                         text), "show peers: the section", text)
        tap.ok(re.search(r"\n  0x[0-9a-f]+: id=a\(local,inactive\) addr=127.0.0.1:\d+ app_state=STOPPED", text), "itself", text)
        tap.ok(re.search(r"\n  0x[0-9a-f]+: id=b\(remote,active\) addr=127.0.0.1:\d+ app_state=RUNNING "
                         r"learn_state=\w+ last_status=ESTA last_hdshk=\d+s\n +reconnect=\d+s heartbeat=\d+s confirm=0", text),
               "the other", text)
        tap.ok(re.search(r"last_acked=\d+ last_pushed=\d+ last_get=\d+ teaching_origin=\d+ update=\d+\n +table:0x[0-9a-f]+ id=ips",
                         text), "its tables", text)
        tap.ok('(use "show peers dict")' in text and '(use "show peers dict")' not in a.ctl("show peers dict"), "texts on demand")
        tap.eq(a.ctl("show peers nosuch"), "No such peers\n\n", "a section that is not")
        tap.ok("id=pp" in a.ctl("show peers pp") and "id=pp" in a.ctl("show peers - pp"), "one section")


def main():
    args = lib.arguments(__doc__, ("partner", "", "the program on the other side"),
                         ("entries", 20000, "entries of a full lesson"))
    tap = lib.Tap()
    random.seed(1)
    tap.attempt("together", together, tap, (args.program, args.partner or args.program), "")
    if not args.partner and not lib.is_reference(args.program):
        if os.access(lib.REFERENCE, os.X_OK):
            tap.attempt("with the reference", together, tap, (args.program, lib.REFERENCE), "before the reference: ")
            tap.attempt("with the reference", together, tap, (lib.REFERENCE, args.program), "behind the reference: ")
        else:
            tap.apart("reference", "with the reference")
    tap.attempt("nonsense", nonsense, tap, args.program)
    tap.attempt("special", special, tap, args.program)
    if not lib.is_reference(args.program):
        tap.attempt("told", told, tap, args.program)
        tap.attempt("differing", differing, tap, args.program)
        tap.attempt("alone", alone, tap, args.program)
        tap.attempt("taken over", taken_over, tap, args.program)
        tap.attempt("secured", secured, tap, args.program)
        tap.attempt("mute", mute, tap, args.program)
        tap.attempt("silent teacher", silent_teacher, tap, args.program)
        tap.attempt("told in a lesson", told_in_a_lesson, tap, args.program)
        tap.attempt("collisions", collisions, tap, args.program)
        tap.attempt("many", many, tap, args.program, args.entries)
        tap.attempt("shown", shown, tap, args.program)
        tap.attempt("sums", sums, tap, args.program)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
