#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults: servers that refuse, reset, stay silent, drip or close under a request; clients that
vanish at each stage; connections, descriptors and memory exhausted. Checked: the status, the end
state and the counters of the log line; that the proxy serves the next request, not restarted.
"""
import os
import resource
import socket
import threading
import time

import lib

CONF = """
	{glob}
	log 127.0.0.1:{log} local0
defaults
	mode http
	log global
	option httplog
	timeout connect 300ms
	timeout client {client}
	timeout server 1200ms
	timeout http-request 1200ms
	timeout http-keep-alive 2s
	retries {retries}
frontend fe
	bind 127.0.0.1:{fe}
	default_backend be
backend be
	server s1 127.0.0.1:{s1}{server}
"""
TIMERS = r"-?\d+/-?\d+/-?\d+/-?\d+/-?\d+"


class Scene:
    """One proxy, one scripted server, one log."""

    def __init__(self, program, handler=None, server="", retries=1, glob="nbthread 2",
                 client="1500ms", more="", **kw):
        self.log = lib.Syslog()
        self.fe, port, self.extra = lib.ports(3)
        self.server = lib.Server(handler, port) if handler else None
        conf = CONF.format(log=self.log.port, fe=self.fe, s1=port, server=server, retries=retries,
                           glob=glob, client=client)
        self.proxy = lib.Proxy(program, conf + more.format(extra=self.extra), **kw)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.proxy.__exit__()
        if self.server:
            self.server.close()

    def ask(self, path="/", method="GET", body=b"", headers=b"", timeout=lib.PATIENCE):
        """One request on its own connection: (status, fields, body), or None if closed."""
        s = lib.connect(self.fe, timeout)
        length = b"Content-Length: %d\r\n" % len(body) if body else b""
        try:
            s.sendall(b"%s %s HTTP/1.1\r\nHost: x\r\n%s%s\r\n%s" %
                      (method.encode(), path.encode(), headers, length, body))
            return lib.Reader(s).response(method)
        except (ConnectionError, EOFError) as e:
            return e
        finally:
            s.close()

    def status(self, *a, **kw):
        got = self.ask(*a, **kw)
        return got[0] if isinstance(got, tuple) else got

    def logged(self, tap, name, status, state, request, where="be/s1", retries=r"\+?\d+"):
        """A line with this status, termination state and request must come."""
        pattern = r" fe %s %s %s \d+ - - %s \d+/\d+/\d+/\d+/%s \d+/\d+ \"%s" % (
            where, TIMERS, status, state, retries, request)
        tap.ok(self.log.find(pattern), name + ": logged as %s %s" % (status, state),
               "wanted %s\n%s" % (pattern, "\n".join(self.log.lines)))

    def recovers(self, tap, name, path="/ok"):
        tap.ok(lib.until(lambda: self.status(path) == 200), name + ": the next request is served",
               "\n".join(self.log.lines[-3:]))
        tap.ok(self.proxy.alive(), name + ": same process", self.proxy.output())


def scripted(steps):
    """A handler that plays steps[path](sock, reader) and answers 200 to every other path."""
    def run(sock):
        r = lib.Reader(sock)
        while True:
            head = r.head()
            if not head:
                return
            path = head[0].split(" ")[1]
            if path in steps:
                if not steps[path](sock, r, dict(head[1])):
                    return
                continue
            r.body(head[1])
            sock.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")
    return run


def rst_now(sock, r, fields):
    lib.reset(sock)


def close_now(sock, r, fields):
    return False


def rst_amid_head(sock, r, fields):
    sock.sendall(b"HTTP/1.1 200 OK\r\nContent-")
    time.sleep(0.05)
    lib.reset(sock)


def close_amid_head(sock, r, fields):
    sock.sendall(b"HTTP/1.1 200 OK\r\nContent-")


def rst_amid_body(sock, r, fields):
    sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\npart")
    time.sleep(0.05)
    lib.reset(sock)


def close_amid_body(sock, r, fields):
    sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\npart")


def close_amid_chunks(sock, r, fields):
    sock.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n64\r\npart")


def silent(sock, r, fields):
    lib.recv_all(sock)


def silent_amid_body(sock, r, fields):
    sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\npart")
    lib.recv_all(sock)


def drip(sock, r, fields):
    for c in b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello":
        sock.sendall(bytes([c]))
        time.sleep(0.002)
    return True


def garbage(sock, r, fields):
    sock.sendall(b"\x15\x03\x01\x00\x02\x02\x46")


def stream(sock, r, fields):
    """Sends without end until the other side goes away."""
    sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000000000\r\n\r\n")
    while True:
        sock.sendall(b"x" * 65536)


def slow_answer(sock, r, fields):
    time.sleep(0.2)
    sock.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")
    return True


def rst_in_tunnel(sock, r, fields):
    sock.sendall(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n"
                 b"Upgrade: foo\r\n\r\n")
    r.exactly(1)
    lib.reset(sock)


STEPS = {
    "/rst": rst_now, "/close": close_now,
    "/rst-head": rst_amid_head, "/close-head": close_amid_head,
    "/rst-body": rst_amid_body, "/close-body": close_amid_body, "/close-chunks": close_amid_chunks,
    "/silent": silent, "/silent-body": silent_amid_body, "/drip": drip, "/garbage": garbage,
    "/stream": stream, "/slow": slow_answer,
    "/tunnel": rst_in_tunnel,
}


def servers(tap, program):
    """What servers can do wrong, one path each, on one proxy."""
    rows = (
        ("a server that drips", "/drip", "GET", 200, "----"),
        ("a server silent", "/silent", "GET", 504, "sH--"),
        ("a server that closes at once", "/close", "POST", 502, "SH--"),
        ("a server that resets at once", "/rst", "POST", 502, "SH--"),
        ("a server that resets amid its headers", "/rst-head", "GET", 502, "PH--"),
        ("a server that closes amid its headers", "/close-head", "GET", 502, "PH--"),
        ("a server that speaks no HTTP", "/garbage", "GET", 502, "PH--"),
        ("a server that resets amid its body", "/rst-body", "GET", "cut", "SD--"),
        ("a server that closes amid its body", "/close-body", "GET", "cut", "SD--"),
        ("a server that closes amid its chunks", "/close-chunks", "GET", "cut", "SD--"),
        ("a server silent amid its body", "/silent-body", "GET", "cut", "sD--"),
    )
    with Scene(program, scripted(STEPS)) as sc:
        for name, path, method, status, state in rows:
            body = b"x" if method == "POST" else b""
            got = sc.ask(path, method, body)
            if status == "cut":
                cut = isinstance(got, (EOFError, ConnectionError))
                tap.ok(cut, name + ": the client sees a cut", got)
                status = 200
            else:
                tap.ok(isinstance(got, tuple) and got[0] == status, "%s: %d" % (name, status), got)
            sc.logged(tap, name, status, state, "%s %s " % (method, path))
            sc.recovers(tap, name)
        row = sc.proxy.stats()["be", "s1"]
        tap.ok(int(row["eresp"]) > 0, "errors of responses are counted", row["eresp"])


def refusing(tap, program):
    """No one listens behind the server line; later someone does."""
    with Scene(program, retries=2) as sc:
        tap.eq(sc.status("/x"), 503, "a server that refuses: 503")
        sc.logged(tap, "a server that refuses", 503, "SC--", "GET /x ", retries="2")
        row = sc.proxy.stats()["be", "s1"]
        tap.eq((row["econ"], row["wretr"]), ("1", "2"), "a server that refuses: econ 1, wretr 2")
        port = int(row["addr"].split(":")[1])
        sc.server = lib.Server(lib.echo_handler, port)
        sc.recovers(tap, "a server that comes back")


def kept_connection_closed(tap, program):
    """The server closes a kept connection when the next request arrives on it: sent again."""
    seen = []

    def handler(sock):
        r = lib.Reader(sock)
        first = True
        while True:
            head = r.head()
            if not head:
                return
            seen.append(head[0])
            body = r.body(head[1])
            if not first and ("/again" in head[0] or body):
                return
            first = False
            sock.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")

    with Scene(program, handler) as sc:
        s = lib.connect(sc.fe)
        r = lib.Reader(s)
        for path, count in (("/first", 1), ("/again", 2)):
            s.sendall(b"GET %s HTTP/1.1\r\nHost: x\r\n\r\n" % path.encode())
            got = r.response()
            if path == "/first":
                tap.ok(got and got[0] == 200, "a kept connection: first request served", got)
        # the reference closes both sides without an answer; sending a safe request again is better
        again = sum(1 for line in seen if "/again" in line)
        fine = got is None or got[0] == 200
        tap.ok(fine, "a kept connection closed under a request: sent again or closed",
               "%r %r" % (got, seen))
        tap.ok(again in (1, 2), "a kept connection closed under a request: sent twice at most",
               seen)
        s.close()
        sc.recovers(tap, "a kept connection closed under a request")

        s = lib.connect(sc.fe)
        r = lib.Reader(s)
        del seen[:]
        s.sendall(b"GET /p1 HTTP/1.1\r\nHost: x\r\n\r\n")
        r.response()
        s.sendall(b"POST /p2 HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody")
        got = r.response()
        sent = sum(1 for line in seen if "/p2" in line)
        tap.eq(sent, 1, "a POST that was read is not sent again")
        tap.ok(got is None or got[0] in (502, 503), "a POST lost under a close is no success", got)
        s.close()


def clients(tap, program):
    """Clients that vanish at each stage."""
    with Scene(program, scripted(STEPS), client="400ms") as sc:
        def start(data):
            s = lib.connect(sc.fe)
            s.sendall(data)
            return s

        s = start(b"GET /c1 HTTP/1.1\r\nHo")
        s.close()
        sc.logged(tap, "a client that leaves amid its headers", 400, "CR--", "<BADREQ>",
                  where="fe/<NOSRV>")
        s = start(b"GET /c2 HTTP/1.1\r\nHo")
        got = lib.Reader(s).response()
        tap.ok(got and got[0] == 408, "a client silent amid its headers: 408", got)
        sc.logged(tap, "a client silent amid its headers", 408, "cR--", "<BADREQ>",
                  where="fe/<NOSRV>")
        s.close()
        s = start(b"POST /silent HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\npart")
        time.sleep(0.05)
        lib.reset(s)
        sc.logged(tap, "a client that resets amid its body", r"(400|-1|499|502)", "C[HDL]--",
                  "POST /silent ")
        s = start(b"GET /stream HTTP/1.1\r\nHost: x\r\n\r\n")
        s.recv(1000)
        lib.reset(s)
        sc.logged(tap, "a client that resets amid the response", 200, "CD--", "GET /stream ")
        s = start(b"GET /stream HTTP/1.1\r\nHost: x\r\nX: stall\r\n\r\n")
        s.recv(1000)
        tap.ok(sc.log.wait(lambda lines: any(" cD-- " in l and "/stream" in l for l in lines)),
               "a client that stops reading: logged as cD", "\n".join(sc.log.lines[-4:]))
        s.close()
        for _ in range(20):
            lib.reset(lib.connect(sc.fe))
        sc.recovers(tap, "vanishing clients")
        tap.ok(lib.until(lambda: sc.proxy.stats()["fe", "FRONTEND"]["scur"] == "0"),
               "vanishing clients: no session is left", sc.proxy.ctl("show sess"))
        tap.ok(lib.until(lambda: sc.proxy.stats()["be", "s1"]["scur"] == "0"),
               "vanishing clients: no server session is left", sc.proxy.ctl("show sess"))


def abort_on_close(tap, program):
    """With option abortonclose a queued request whose client left is dropped."""
    more = "\ttimeout queue 5s\n\toption abortonclose\n"
    with Scene(program, scripted(STEPS), server=" maxconn 1", more=more) as sc:
        holder = lib.connect(sc.fe)
        holder.sendall(b"GET /silent HTTP/1.1\r\nHost: x\r\n\r\n")
        taken = lib.until(lambda: sc.proxy.stats()["be", "s1"]["scur"] == "1")
        tap.ok(taken, "the only slot is taken")
        s = lib.connect(sc.fe)
        s.sendall(b"GET /queued HTTP/1.1\r\nHost: x\r\n\r\n")
        lib.until(lambda: sc.proxy.stats()["be", "BACKEND"]["qcur"] == "1")
        lib.reset(s)
        sc.logged(tap, "a queued client that leaves", r"(400|-1|503)", "CQ--", "GET /queued ",
                  where="be/<NOSRV>")
        holder.close()
        sc.recovers(tap, "a queue")


def connections_exhausted(tap, program):
    """More clients than maxconn: they wait and are served, none is refused."""
    with Scene(program, scripted(STEPS), glob="nbthread 2\n\tmaxconn 20") as sc:
        held = [lib.connect(sc.fe) for _ in range(40)]
        tap.ok(lib.until(lambda: int(sc.proxy.stats()["fe", "FRONTEND"]["scur"]) <= 20),
               "maxconn: no more sessions than allowed")
        tap.ok(lib.until(lambda: int(sc.proxy.stats()["fe", "FRONTEND"]["smax"]) >= 19),
               "maxconn: the allowed ones are used", sc.proxy.stats()["fe", "FRONTEND"])
        for s in held[:30]:
            s.close()
        s = held[-1]
        s.sendall(b"GET /late HTTP/1.1\r\nHost: x\r\n\r\n")
        got = lib.Reader(s).response()
        tap.ok(got and got[0] in (200, 408), "maxconn: one that waited is served", got)
        for s in held[30:]:
            s.close()
        sc.recovers(tap, "maxconn")


def descriptors_exhausted(tap, program):
    """A hard limit of descriptors: the program adapts its maxconn, and survives a crowd."""
    def limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (300, 300))

    with Scene(program, scripted(STEPS), preexec=limit) as sc:
        tap.ok(int(sc.proxy.info()["Maxconn"]) < 300, "descriptors: maxconn is adapted",
               sc.proxy.info()["Maxconn"])
        held = []
        for i in range(400):
            s = lib.connect(sc.fe)
            s.setblocking(False)
            try:
                s.send(b"GET /silent HTTP/1.1\r\nHost: x\r\nX: %d\r\n\r\n" % i)
            except OSError:
                pass
            held.append(s)
        time.sleep(0.2)
        tap.ok(sc.proxy.alive(), "descriptors: a crowd does not end the process", sc.proxy.output())
        for s in held:
            s.close()
        sc.recovers(tap, "descriptors")


# differs: process-memory
def memory_limited(tap, program):
    """-m bounds the memory: what does not fit is refused, and the process goes on."""
    few = "nbthread 2\n\tmaxconn 1000"
    with Scene(program, scripted(STEPS), args=("-m", "60"), glob=few) as sc:
        held = []
        for i in range(300):
            try:
                s = lib.connect(sc.fe, 2)
                s.sendall(b"POST /up HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n")
                s.sendall(b"x" * 8000)
                held.append(s)
            except OSError:
                pass
        time.sleep(0.2)
        tap.ok(sc.proxy.alive(), "memory: a crowd does not end the process", sc.proxy.output())
        for s in held:
            s.close()
        sc.recovers(tap, "memory")


def crowd(sc, stop):
    """A client that does a bit of everything on connections of its own, whatever happens to it."""
    asks = (b"GET /ok HTTP/1.1\r\nHost: x\r\n\r\n",
            b"POST /up HTTP/1.1\r\nHost: x\r\nContent-Length: 30000\r\n\r\n" + b"x" * 30000,
            b"POST /up HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
            b"3\r\nabc\r\n0\r\n\r\n")
    n = 0
    while not stop.is_set():
        try:
            with lib.connect(sc.fe, 2) as s:
                for _ in range(3):
                    n += 1
                    s.sendall(asks[n % 3])
                    if n % 17 == 0:
                        break
                    lib.Reader(s).response()
        except (OSError, EOFError, ValueError):
            pass


def allocations_failing(tap, program):
    """One allocation in ten fails: streams are lost, never the process nor a place in it."""
    with Scene(program, scripted(STEPS), args=("-dMfail",),
               glob="nbthread 2\n\ttune.fail-alloc 10") as sc:
        stop = threading.Event()
        clients = [threading.Thread(target=crowd, args=(sc, stop)) for _ in range(6)]
        for c in clients:
            c.start()
        failed = lib.until(lambda: fails(sc.proxy) > 500, 60)
        stop.set()
        for c in clients:
            c.join()
        tap.ok(failed, "failing allocations: they do fail")
        tap.ok(sc.proxy.alive(), "failing allocations: the process lives", sc.proxy.output())
        tap.ok(lib.until(lambda: is_empty(sc.proxy)), "failing allocations: no stream is stuck")
        sc.proxy.process.send_signal(lib.signal.SIGUSR1)
        tap.ok(lib.until(lambda: not sc.proxy.alive()), "failing allocations: the process ends")
        tap.eq(sc.proxy.process.returncode, 0, "failing allocations: with status 0")


def answer(ask):
    """An answer of the Runtime API, whose own allocations may fail too; None then."""
    try:
        return ask()
    except (OSError, KeyError, ValueError, IndexError):
        return None


def fails(proxy):
    info = answer(proxy.info)
    return int(info.get("PoolFailed", 0)) if info else 0


def is_empty(proxy):
    stats = answer(proxy.stats)
    return bool(stats) and all(stats[row]["scur"] == "0" for row in
                               (("fe", "FRONTEND"), ("be", "BACKEND"), ("be", "s1")))


def half_close(tap, program):
    """TCP mode: each side may end its sending while the other goes on."""
    more = ("listen tcp\n\tmode tcp\n\tno log\n\ttimeout tunnel 5s\n\ttimeout server 5s\n"
            "\ttimeout client 5s\n\tbind 127.0.0.1:{extra}\n\tserver s1 127.0.0.1:%d\n")

    def count(sock):
        data = lib.recv_all(sock)
        sock.sendall(b"got %d" % len(data))

    counter = lib.Server(count)
    with Scene(program, scripted(STEPS), more=more % counter.port) as sc:
        s = lib.connect(sc.extra)
        s.sendall(b"x" * 100000)
        s.shutdown(socket.SHUT_WR)
        tap.eq(lib.recv_all(s), b"got 100000", "a client half-closes and still gets its answer")
        s.close()

    def say_and_listen(sock):
        sock.sendall(b"banner")
        sock.shutdown(socket.SHUT_WR)
        heard.append(lib.recv_all(sock))

    heard = []
    talker = lib.Server(say_and_listen)
    with Scene(program, scripted(STEPS), more=more % talker.port) as sc:
        s = lib.connect(sc.extra)
        tap.eq(lib.recv_all(s), b"banner", "a server half-closes: its bytes and its end arrive")
        s.sendall(b"late bytes")
        s.shutdown(socket.SHUT_WR)
        tap.ok(lib.until(lambda: heard == [b"late bytes"]), "a server that half-closed still hears",
               heard)
        s.close()


def cut_answer_of_1_0(tap, program):
    """A chunked answer that breaks off: a client of HTTP/1.0, which got it without chunks, must not take its end for
    the end of the body."""
    # differs: http-1.0-chunked-answer
    with Scene(program, scripted({"/cut": close_amid_chunks})) as sc, lib.connect(sc.fe) as s:
        s.sendall(b"GET /cut HTTP/1.0\r\nHost: x\r\n\r\n")
        got, reset = b"", False
        try:
            while True:
                part = s.recv(65536)
                if not part:
                    break
                got += part
        except ConnectionResetError:
            reset = True
        chunked = b"transfer-encoding" in got.lower() # then the last chunk is missed
        tap.ok(b" 200 " in got and (reset or chunked), "cut answer of HTTP/1.0: it is seen", "%r %r" % (got, reset))


def no_backend(tap, program):
    """A TCP frontend without a backend reads what has come before it closes: an end, not a reset. With defer-accept
    the bytes are there when the connection is accepted."""
    port = lib.ports(1)[0]
    conf = "frontend t\n\tmode tcp\n\ttimeout client 5s\n\tbind 127.0.0.1:%d defer-accept\n" % port
    with lib.Proxy(program, conf):
        got = []
        for _ in range(10):
            with lib.connect(port) as s:
                s.sendall(b"hello")
                try:
                    got.append(s.recv(100))
                except ConnectionResetError as e:
                    got.append(e)
        tap.eq(got, [b""] * 10, "no backend: an end")


def tunnel_reset(tap, program):
    """A server that resets a tunnel ends it, towards both sides and in the log."""
    with Scene(program, scripted(STEPS)) as sc:
        with lib.connect(sc.fe) as s:
            s.sendall(b"GET /tunnel HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\n"
                      b"Upgrade: foo\r\n\r\n")
            head = lib.Reader(s).head()
            tap.ok(head and " 101 " in head[0], "tunnel: it opens", head)
            s.sendall(b"x")
            lib.recv_all(s)
        sc.logged(tap, "tunnel: a server's reset", 101, "SD--", "GET /tunnel ")
        tap.ok(lib.until(lambda: sc.proxy.stats()["be", "s1"]["scur"] == "0"),
               "tunnel: nothing is left of it")
        sc.recovers(tap, "tunnel")


def soft_stop(tap, program):
    """SIGUSR1 lets what runs finish, then the process ends with status 0."""
    with Scene(program, scripted(STEPS), client="3s") as sc:
        s = lib.connect(sc.fe)
        s.sendall(b"GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
        lib.until(lambda: sc.proxy.stats()["be", "s1"]["scur"] == "1")
        sc.proxy.process.send_signal(lib.signal.SIGUSR1)
        got = lib.Reader(s).response()
        tap.ok(got and got[0] == 200, "soft stop: a running request is finished", got)
        s.close()
        tap.ok(lib.until(lambda: not sc.proxy.alive()), "soft stop: the process ends")
        tap.eq(sc.proxy.process.returncode, 0, "soft stop: with status 0")


def main():
    args = lib.arguments(__doc__, ("only", "", "run one scene"))
    tap = lib.Tap()
    for scene in (servers, refusing, kept_connection_closed, clients, abort_on_close,
                  connections_exhausted, descriptors_exhausted, memory_limited,
                  allocations_failing, half_close, cut_answer_of_1_0, no_backend, tunnel_reset,
                  soft_stop):
        if args.only in ("", scene.__name__):
            tap.run((scene,), args.program)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
