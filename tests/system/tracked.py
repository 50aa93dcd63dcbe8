#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What is tracked is let go of, whatever becomes of it. Clients of HTTP/1, HTTP/2 and TCP, in processes that are killed at
random, ask, half-close, reset, stall and vanish; servers are killed, cut their answers and send garbage; requests wait in
queues and tarpits, are tried again, become tunnels; sessions are shut down by commands and, but with the reference, the
configuration is reloaded. track-sc0 to 2 are of connections, sessions, contents and requests. When all have gone, no entry
of any table is held, and conn_cur is 0 in each.

    tracked.py --streams 500000      the long run: until so many requests came
"""
import multiprocessing
import os
import random
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

import lib

CONF = """
	nbthread 4
	tune.h2.initial-window-size 1048576
defaults
	mode http
	timeout connect 200ms
	timeout client 500ms
	timeout server 400ms
	timeout queue 150ms
	timeout tarpit 100ms
	timeout http-request 300ms
	timeout http-keep-alive 300ms
	timeout tunnel 400ms
	timeout client-fin 200ms
	timeout server-fin 200ms
	retries 2
	option redispatch
	retry-on all-retryable-errors
frontend early
	bind 127.0.0.1:{p[0]}
	bind 127.0.0.1:{p[1]} proto h2
	tcp-request connection track-sc0 src table clients
	tcp-request session track-sc1 src,ipmask(31) table nets if {{ src_port,mod(2) 0 }}
	http-request track-sc2 path table paths
	use_backend %[path,field(2,/)] if {{ path_beg /none /queue /cut /ws /odd }}
	{rules}
	default_backend far
frontend late
	bind 127.0.0.1:{p[2]}
	bind 127.0.0.1:{p[3]} proto h2
	tcp-request inspect-delay 100ms
	tcp-request session track-sc0 src table few
	tcp-request content track-sc1 src,concat(-) table texts if {{ src_port,mod(2) 0 }}
	tcp-request content accept if HTTP
	http-request track-sc2 req.hdr(x-key) table few if {{ req.hdr(x-key) -m found }}
	http-request track-sc2 path table paths
	use_backend %[path,field(2,/)] if {{ path_beg /none /queue /cut /ws /odd }}
	{rules}
	default_backend far
frontend bytes
	mode tcp
	bind 127.0.0.1:{p[4]}
	tcp-request inspect-delay 100ms
	tcp-request connection track-sc0 src table clients
	tcp-request content track-sc1 req.payload(0,4) table texts if {{ req.len ge 4 }}
	tcp-request content reject if {{ req.payload(0,1) -m str X }}
	default_backend tunnel
backend far
	balance random
	tcp-request content track-sc1 src table nets
	http-request track-sc2 path table paths
	server f1 127.0.0.1:{s[0]}
	server f2 127.0.0.1:{s[0]} maxconn 20
	server dead 127.0.0.1:{s[2]} backup
backend none
	http-request track-sc0 path table paths
	server dead 127.0.0.1:{s[2]}
backend queue
	http-request track-sc1 path table paths
	server q 127.0.0.1:{s[1]} maxconn 2
backend cut
	stick on path table sticky
	server o1 127.0.0.1:{s[1]}
	server o2 127.0.0.1:{s[1]}
backend ws
	http-request track-sc1 path table few
	server o 127.0.0.1:{s[1]}
backend odd
	balance random
	http-request track-sc1 path table kept
	http-response track-sc2 status table few
	server o 127.0.0.1:{s[1]}
	server dead 127.0.0.1:{s[2]}
backend tunnel
	mode tcp
	tcp-request content track-sc2 src table few
	server o 127.0.0.1:{s[1]}
backend clients
	stick-table type ip size {size} expire 1h store conn_cnt,conn_cur,sess_cnt,http_req_cnt,gpc0,bytes_out_rate(1s)
backend nets
	stick-table type ip size 100 expire 1h store conn_cnt,conn_cur{more}
backend paths
	stick-table type string len 20 size 2k expire 1h store conn_cur,http_req_cnt,http_err_cnt,http_fail_cnt
backend texts
	stick-table type string len 20 size 100 expire 1h store conn_cur,conn_cnt,bytes_in_cnt
backend few
	stick-table type string len 20 size 3 expire 1h store conn_cur,conn_cnt
backend kept
	stick-table type string len 20 size 20 expire 1h nopurge store conn_cur,http_req_rate(1s)
backend sticky
	stick-table type string len 20 size 50 expire 1h
"""
RULES = """http-request sc-inc-gpc0(0)
	http-request deny if { path_beg /deny }
	http-request tarpit if { path_beg /tarpit }
	http-request reject if { path_beg /reject }
	http-request silent-drop if { path_beg /drop }
	http-request redirect location / if { path_beg /redirect }
	http-request wait-for-body time 100ms if { path_beg /body }
	http-request set-var(txn.d) rand(60) if { path_beg /pause }
	http-request pause 50 if { path_beg /pause }
	http-request return status 200 content-type text/plain lf-string "%[sc2_http_req_cnt]" if { path_beg /own }"""
TABLES = ("clients", "nets", "paths", "texts", "few", "kept", "sticky")
FAR = """global
	nbthread 1
defaults
	mode http
	timeout client 10s
frontend f
	bind 127.0.0.1:%d
	http-request pause 30 if { rand(20) 0 }
	http-request return status 500 if { rand(20) 0 }
	http-request return status 200 content-type text/plain string "%s"
"""
PLACES = ("own own own far far far deny tarpit reject drop redirect body pause none queue cut cut ws odd odd").split()


# --- servers ----------------------------------------------------------------------------------------------------------

def odd_one(sock, rng):
    """A server that seldom does as it should."""
    reader = lib.Reader(sock)
    while True:
        head = reader.head()
        if not head or len(head[0].split(" ")) < 3:
            return
        fields, path = dict(head[1]), head[0].split(" ")[1]
        if "upgrade" in fields and path.startswith("/ws"):
            sock.sendall(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nhello")
            for _ in range(rng.randrange(4)):
                sock.sendall(sock.recv(1000) or b"x")
            if rng.random() < .5:
                lib.reset(sock)
            return
        what = rng.randrange(9)
        if what == 0:
            return
        if what == 1:
            lib.reset(sock)
            return
        if what == 2:
            sock.sendall(b"NOT/HTTP at all\r\n\r\n")
            return
        if what == 3:
            sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 90000\r\n\r\n" + b"x" * 20000)
            return
        if what == 4:
            sock.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
            time.sleep(rng.random() * .6)
            return
        if what == 5:
            time.sleep(rng.random() * .6)
        if what == 6:
            sock.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        if what != 7:
            reader.body(list(fields.items()))
        body = b"x" * rng.choice((0, 10, 200000))
        sock.sendall(b"HTTP/1.1 %d OK\r\nContent-Length: %d\r\n\r\n%s" % (rng.choice((200, 404, 500, 503)), len(body), body))


def odd_server(port):
    rng = random.Random()
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    sock.bind(("127.0.0.1", port))
    sock.listen(200)
    server = lib.Server.__new__(lib.Server)
    server.sock, server.closed, server.accepted = sock, False, 0
    server.handler = lambda s: odd_one(s, rng)
    server.run()


def far_server(program, path):
    return subprocess.Popen([program, "-db", "-f", path], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


# --- clients ----------------------------------------------------------------------------------------------------------

def address(rng):
    return "127.0.%d.%d" % (rng.randrange(3), 1 + rng.randrange(60))


def opened(rng, port):
    s = socket.socket()
    s.bind((address(rng), 0))
    s.settimeout(1)
    s.connect(("127.0.0.1", port))
    return s


def path_of(rng, place=None):
    return "/%s/%d" % (place or rng.choice(PLACES), rng.randrange(3000))


def leave(rng, s):
    """Goes, in one of many ways."""
    what = rng.randrange(6)
    if what == 0:
        lib.reset(s)
        return
    if what == 1:
        s.shutdown(socket.SHUT_WR)
    if what <= 3:
        s.settimeout(rng.random() * .8)
        lib.recv_all(s)
    s.close()


def head(rng, path, more=""):
    key = "x-key: k%d\r\n" % rng.randrange(5) if rng.random() < .3 else ""
    return ("%s %s HTTP/1.1\r\nhost: a\r\n%s%s\r\n" % ("POST" if more else "GET", path, key, more)).encode()


def h1_many(rng, p):
    """Requests in one piece, whose answers are looked for or not."""
    s = opened(rng, p[rng.choice((0, 2))])
    n = rng.choice((rng.randrange(1, 40), 600))
    quick = n == 600 or rng.random() < .6
    s.sendall(b"".join(head(rng, path_of(rng, rng.choice(("own", "far")) if quick else None)) for _ in range(n)))
    if rng.random() < .8:
        reader = lib.Reader(s)
        for _ in range(n):
            if not reader.response():
                break
    leave(rng, s)


def h1_body(rng, p):
    """Bodies that are whole, cut, or wrong."""
    s = opened(rng, p[rng.choice((0, 2))])
    path = path_of(rng, rng.choice(("body", "far", "odd", "cut", "own")))
    if rng.random() < .5:
        s.sendall(head(rng, path, "content-length: 1000\r\n") + b"x" * rng.choice((0, 500, 1000, 1001)))
    else:
        s.sendall(head(rng, path, "transfer-encoding: chunked\r\n") + rng.choice((b"", b"5\r\nhello\r\n", b"zz\r\n", b"0\r\n\r\n")))
    leave(rng, s)


def h1_bad(rng, p):
    s = opened(rng, p[rng.choice((0, 2))])
    s.sendall(rng.choice((b"", b"GET /own/1 HT", b"\0\1\2\r\n\r\n", b"GET / HTTP/1.1\r\nhost: a\r\nx-key: 5\r\n", b"PRI * HTTP/2.0\r\n")))
    leave(rng, s)


def upgrade(rng, p):
    s = opened(rng, p[rng.choice((0, 2))])
    s.sendall(b"GET %s HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
              b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n" % path_of(rng, "ws").encode())
    lib.Reader(s).response()
    for _ in range(rng.randrange(3)):
        s.sendall(b"some bytes")
    leave(rng, s)


def literal(name, value):
    return b"\x00" + bytes([len(name)]) + name + bytes([len(value)]) + value


def frame(kind, flags, stream, data=b""):
    return struct.pack(">I", len(data))[1:] + bytes((kind, flags)) + struct.pack(">I", stream) + data


def h2_many(rng, p):
    """Streams at once, of which some are reset; and WebSockets."""
    s = opened(rng, p[rng.choice((1, 3))])
    out = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0, b"\x00\x04\x00\x7f\xff\xff") + frame(8, 0, 0, b"\x3f\xff\xff\xff")
    quick = rng.random() < .7
    for i in range(rng.choice((20, 90)) if quick else rng.randrange(1, 40)):
        stream, ends = 2 * i + 1, rng.random() < .9
        fields = [(b":scheme", b"http"), (b":authority", b"a")]
        path = path_of(rng, rng.choice(("own", "far")) if quick else None)
        if path.startswith("/ws"):
            fields += [(b":method", b"CONNECT"), (b":protocol", b"websocket")]
            ends = False
        else:
            fields += [(b":method", b"GET" if ends else b"POST")]
        fields.append((b":path", path.encode()))
        out += frame(1, 5 if ends else 4, stream, b"".join(literal(*f) for f in fields))
        if not ends and rng.random() < .5:
            out += frame(0, rng.randrange(2), stream, b"x" * 100)
        if rng.random() < .1:
            out += frame(3, 0, stream, b"\0\0\0\x08")
        if rng.random() < .1:
            s.sendall(out)
            out = b""
            time.sleep(rng.random() * .02)
    if rng.random() < .1:
        out += rng.choice((b"\xff" * 20, frame(7, 0, 0, b"\0" * 8), frame(3, 0, 0, b"\0\0\0\1"), frame(0, 0, 1, b"x")))
    s.sendall(out)
    leave(rng, s)


def tcp(rng, p):
    s = opened(rng, p[4])
    s.sendall(rng.choice((b"", b"GE", b"Xyz0", b"GET /odd/1 HTTP/1.1\r\nhost: a\r\n\r\n", b"GET /cut/1 HTTP/1.1\r\n\r\n")))
    leave(rng, s)


KINDS = (h1_many,) * 5 + (h2_many,) * 5 + (h1_body, h1_bad, upgrade, tcp)


def crowd(ports, seed):
    rng = random.Random(seed)
    while True:
        try:
            rng.choice(KINDS)(rng, ports)
        except (OSError, EOFError, ValueError, IndexError):
            pass


# --- what happens meanwhile -------------------------------------------------------------------------------------------

class Scene:
    """The processes beside the proxy, and what is done to them and to it."""

    def __init__(self, args, proxy, p, s, folder):
        self.args, self.proxy, self.p, self.s = args, proxy, p, s
        self.reference = lib.is_reference(args.program)
        self.rng, self.failures, self.reloads, self.kills = random.Random(args.seed), [], 0, 0
        self.far_path = os.path.join(folder, "far.cfg")
        with open(self.far_path, "w") as f:
            f.write(FAR % (s[0], "x" * 500))
        self.far = far_server(args.program, self.far_path)
        self.odd = self.child(odd_server, s[1])
        self.crowds = [self.child(crowd, p, self.rng.random()) for _ in range(args.crowds)]

    @staticmethod
    def child(function, *args):
        process = multiprocessing.Process(target=function, args=args, daemon=True)
        process.start()
        return process

    def conf(self):
        return CONF.format(p=self.p, s=self.s, rules=RULES, size=self.rng.choice((20, 1000)),
                           more=self.rng.choice(("", ",gpc1")))

    def reload(self):
        with open(self.proxy.conf_path) as f:
            first = "".join(f.readlines()[:2])
        with open(self.proxy.conf_path, "w") as f:
            f.write(first + self.conf())
        answer = self.proxy.ctl("reload")
        self.reloads += 1
        if "Success=1" not in answer:
            self.failures.append(answer)

    def kill(self):
        self.kills += 1
        what = self.rng.randrange(10)
        if what == 0:
            self.far.kill()
            self.far.wait()
            time.sleep(.03)
            self.far = far_server(self.args.program, self.far_path)
        elif what == 1:
            self.odd.kill()
            self.odd.join()
            self.odd = self.child(odd_server, self.s[1])
        else:
            i = self.rng.randrange(len(self.crowds))
            self.crowds[i].kill()
            self.crowds[i].join()
            self.crowds[i] = self.child(crowd, self.p, self.rng.random())

    def command(self):
        r = self.rng
        text = r.choice(("show table paths", "clear table paths", "clear table few", "clear table clients data.conn_cur gt 1",
                         "shutdown sessions server odd/o", "shutdown sessions server far/f1", "shutdown sessions server ws/o",
                         "set server far/f2 state maint", "set server far/f2 state ready", "set server queue/q state drain",
                         "set server queue/q state ready", "show sess", "session"))
        if text == "session":
            ids = re.findall(r"^(0x\w+): proto=tcp", self.proxy.ctl("show sess"), re.M)
            text = "; ".join("shutdown session " + i for i in r.sample(ids, min(len(ids), 5))) or "show info"
        self.proxy.ctl(text)

    def turn(self):
        what = self.rng.random()
        if what < .1:
            self.kill()
        elif what < .2 and not self.reference:
            self.reload()
        else:
            self.command()

    def end(self):
        for process in self.crowds + [self.odd]:
            process.kill()
            process.join()
        self.far.kill()
        self.far.wait()


def held(proxy):
    """The lines of entries that something holds, or that count connections."""
    out = []
    for table in TABLES:
        for line in proxy.ctl("show table " + table).split("\n"):
            found = dict(re.findall(r"(\S+?)(?:\(\d+\))?=(\S+)", line))
            if "key" in found and (found["use"] != "0" or found.get("conn_cur", "0") != "0"):
                out.append(table + ": " + line)
    return out


def run(tap, args, folder):
    p, s = lib.ports(5, held=True), lib.ports(3, held=True)
    first = CONF.format(p=p, s=s, rules=RULES, size=1000, more="")
    with lib.Proxy(args.program, first) as proxy:
        start = time.monotonic()
        scene = Scene(args, proxy, p, s, folder)
        try:
            while int(proxy.info().get("CumReq", 0)) < args.streams:
                for _ in range(10):
                    scene.turn()
                    time.sleep(.02)
                if not args.patient and time.monotonic() - start > 9:
                    break
        except OSError as e:
            scene.failures.append(str(e))
        finally:
            scene.end()
        if not tap.eq(scene.failures, [], "commands and reloads are carried out"):
            print("# " + proxy.output()[-3000:].replace("\n", "\n# "))
        seen = int(proxy.info().get("CumReq", 0))
        tap.ok(seen > 500, "%d streams in %d s, %d kills, %d reloads" % (seen, time.monotonic() - start, scene.kills,
                                                                        scene.reloads))
        lib.until(lambda: not held(proxy), 3 * lib.PATIENCE)
        left = held(proxy)
        tap.ok(not left, "no entry is held, no connection counted any more", "\n".join(left))
        counts = [re.search(r"table: (\S+), .*used:(\d+)", proxy.ctl("show table " + t)).group(2) for t in TABLES]
        lines = [str(proxy.ctl("show table " + t).count(" key=")) for t in TABLES]
        tap.eq(lines, counts, "as many entries as are counted")
        proxy.ctl("; ".join("clear table " + t for t in TABLES))
        tap.eq([t for t in TABLES if "used:0" not in proxy.ctl("show table " + t)], [], "all can be removed")
        for table in TABLES:
            proxy.ctl("clear table " + table)
        proxy.stop()
        text = proxy.output()
        tap.ok("Sanitizer" not in text and "BUG" not in text, "no sanitizer has anything to say",
               text[max(0, text.find("Sanitizer") - 200):][:6000])


def main():
    args = lib.arguments(__doc__, ("streams", 0, "go on until so many streams came"), ("crowds", 6, "processes of clients"),
                         ("seed", 1, "of what is done"))
    args.patient, args.streams = bool(args.streams), args.streams or 20000
    tap = lib.Tap()
    with tempfile.TemporaryDirectory(prefix="hapt.") as folder:
        run(tap, args, folder)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
