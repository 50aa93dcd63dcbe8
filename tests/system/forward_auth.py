#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`http-request forward-auth`: what an authentication server is asked, what its answers do, what a client cannot forge,
servers that fail at each stage, grants that are remembered. An extension. --attempts N: forged requests."""
import concurrent.futures
import random
import re
import threading
import time

import lib

CONF = """
	log 127.0.0.1:%(log)d local0
defaults
	mode http
	log global
	option httplog
	timeout connect 1s
	timeout client 5s
	timeout server %(server)s
frontend fe
	bind 127.0.0.1:%(port)d
	http-request forward-auth auth %(options)s
	default_backend app
backend auth
	server a 127.0.0.1:%(auth)d
backend app
	server s 127.0.0.1:%(app)d
"""


class Auth:
    """Answers as it is told; keeps what it was asked."""

    def __init__(self):
        self.asked, self.answer, self.hold = [], b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n", threading.Event()
        self.hold.set()
        self.server = lib.Server(self.serve)
        self.port = self.server.port

    def serve(self, sock):
        r = lib.Reader(sock)
        while True:
            head = r.head()
            if not head:
                return
            self.asked.append(head)
            self.hold.wait(3 * lib.PATIENCE)
            if self.answer is None:
                return
            sock.sendall(self.answer if isinstance(self.answer, bytes) else self.answer(head))


reached = [] # heads of what applications were sent


def app(sock):
    """Tells what it was sent: its start line and fields, and how long the body was."""
    r = lib.Reader(sock)
    while True:
        head = r.head()
        if not head:
            return
        reached.append(head)
        body = r.body(head[1])
        text = "\n".join([head[0]] + ["%s: %s" % f for f in head[1]] + ["body %d" % len(body)]).encode("latin-1")
        sock.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(text) + text)


class Scene:
    def __init__(self, args, options, server="1s"):
        self.auth, self.app, self.log = Auth(), lib.Server(app), lib.Syslog()
        self.port = lib.ports(1)[0]
        self.proxy = lib.Proxy(args.program, CONF % {"port": self.port, "auth": self.auth.port, "app": self.app.port,
                                                     "options": options, "server": server, "log": self.log.port})

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.auth.hold.set()
        self.proxy.__exit__(*exc)
        self.log.close()

    def ask(self, request):
        """(status, fields, body)"""
        s = lib.connect(self.port)
        s.sendall(request)
        got = lib.Reader(s).response()
        s.close()
        return got


GET = b"GET /page?x=1 HTTP/1.1\r\nHost: www.example.com\r\n"


def seen(body, name):
    return [l.split(": ", 1)[1] for l in body.decode("latin-1").split("\n") if l.lower().startswith(name + ": ")]


def granted(tap, args):
    with Scene(args, "path /verify copy Remote-User,remote-groups") as x:
        x.auth.answer = (b"HTTP/1.1 204 OK\r\nRemote-User: ann\r\nRemote-Groups: a\r\nremote-groups: b\r\nset-cookie: no=1\r\n"
                         b"x-other: 1\r\n\r\n")
        got = x.ask(GET + b"Cookie: session=5\r\nRemote-User: root\r\nremote_user: root\r\nREMOTE-GROUPS: wheel\r\n"
                    b"X-Forwarded-For: 9.9.9.9\r\nX_Forwarded_User: z\r\nX-Forwarded-Uri: /open\r\nIf-None-Match: *\r\n"
                    b"Range: bytes=0-1\r\nConnection: x-secret\r\nx-secret: 1\r\n\r\n")
        line, fields = x.auth.asked[0]
        names = dict(fields)
        tap.eq(line, "GET /verify HTTP/1.1", "the question")
        tap.eq([names.get(n) for n in ("x-forwarded-method", "x-forwarded-proto", "x-forwarded-host", "x-forwarded-uri",
                                       "x-forwarded-for", "host", "cookie")],
               ["GET", "http", "www.example.com", "/page?x=1", "127.0.0.1", "www.example.com", "session=5"],
               "what it says of the request")
        tap.eq([n for n, _ in fields if n in ("if-none-match", "range", "x-secret")], [], "what it does not say")
        tap.eq(len([n for n, _ in fields if n == "x-forwarded-for"]), 1, "nothing of the client's is beside it")
        body = got[2]
        tap.eq((got[0], seen(body, "remote-user"), seen(body, "remote-groups"), seen(body, "remote_user")),
               (200, ["ann"], ["a", "b"], []), "its fields replace those of the client")
        tap.eq(seen(body, "x-other"), [], "others are not copied")
        tap.eq(seen(body, "cookie"), ["session=5"], "the rest of the request is as it was")
        x.auth.answer = b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nyes"
        got = x.ask(b"POST /in HTTP/1.1\r\nHost: h\r\nRemote-User: root\r\nContent-Length: 200000\r\n\r\n" + b"p" * 200000)
        tap.eq((got[0], seen(got[2], "remote-user"), got[2].split(b"\n")[-1]), (200, [], b"body 200000"),
               "a body waits, and goes to the server")
        tap.ok("content-length" not in dict(x.auth.asked[-1][1]), "not to the one who is asked", x.auth.asked[-1])


def words(tap, args):
    with Scene(args, "method HEAD path /v/%[req.cook(t)] pass cookie,x-a hdr X-Forwarded-Uri %[path] hdr X-Key \"a key\" hdr Host auth.local") as x:
        x.auth.answer = b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n" # to a HEAD
        got = x.ask(GET + b"Cookie: t=77\r\nX-A: 1\r\nX-B: 2\r\nAuthorization: z\r\n\r\n")
        line, fields = x.auth.asked[0]
        tap.eq((got[0], line), (200, "HEAD /v/77 HTTP/1.1"), "method and path")
        tap.eq(sorted(fields), [("cookie", "t=77"), ("host", "auth.local"), ("x-a", "1"), ("x-forwarded-for", "127.0.0.1"),
                                ("x-forwarded-host", "www.example.com"), ("x-forwarded-method", "GET"),
                                ("x-forwarded-proto", "http"), ("x-forwarded-uri", "/page"), ("x-key", "a key")],
               "pass and hdr")


def refused(tap, args):
    with Scene(args, "") as x:
        for status, more, text in ((401, "www-authenticate: Basic realm=\"x\"\r\n", "who?"), (403, "", "no"),
                                   (302, "location: https://login/?u=1\r\nset-cookie: s=1\r\nset-cookie: t=2\r\n", ""),
                                   (304, "", ""), (404, "", "x" * 60000)):
            x.auth.answer = ("HTTP/1.1 %d Why\r\n%sconnection: keep-alive\r\ncontent-length: %d\r\n\r\n%s" %
                             (status, more, len(text), text)).encode()
            s = lib.connect(x.port)
            s.sendall(GET + b"\r\n")
            reader = lib.Reader(s)
            line, fields = reader.head()
            got = b"" if status == 304 else reader.exactly(int(dict(fields)["content-length"]))
            s.close()
            want = [tuple(m.split(": ")) for m in more.strip().split("\r\n") if m]
            tap.eq((line, [f for f in fields if f in want], got), ("HTTP/1.1 %d Why" % status, want, text.encode()),
                   "%d is the client's" % status)
        x.auth.answer = b"HTTP/1.1 403 No\r\ntransfer-encoding: chunked\r\n\r\n2\r\nno\r\n3\r\n!!!\r\n0\r\n\r\n"
        tap.eq(x.ask(GET + b"\r\n")[2], b"no!!!", "in chunks too")
        tap.eq(x.proxy.stats()["app", "BACKEND"]["stot"], "0", "none of them has met the server")


def made(tap, args):
    """What is made of the client's bytes adds no field, and asks no other question; nor does fail-open pass what cannot be asked."""
    with Scene(args, "path /v/%[url_param(p),url_dec] hdr X-Key %[url_param(k),url_dec] fail-open") as x:
        got = x.ask(b"GET /?k=a%0d%0aRemote-User:%20root%0d%0a%0d%0aGET%20/ HTTP/1.1\r\nHost: h\r\n\r\n")
        tap.eq((got[0], x.auth.asked[0][0], dict(x.auth.asked[0][1]).get("x-key"), "remote-user" in dict(x.auth.asked[0][1])),
               (200, "GET /v/ HTTP/1.1", "a%0D%0ARemote-User: root%0D%0A%0D%0AGET /", False), "line breaks in a field are escaped")
        for name, path in (("a blank", b"a%20HTTP/1.1"), ("a line break and a blank", b"%0d%0aX:%201")):
            tap.eq(x.ask(b"GET /?p=%s HTTP/1.1\r\nHost: h\r\n\r\n" % path)[0], 500, name + " in the path: no question, no answer")
        tap.eq(x.ask(b"GET /?p=ok HTTP/1.1\r\nHost: h\r\n\r\n")[0], 200, "another one passes")
        tap.eq([a[0] for a in x.auth.asked[1:]], ["GET /v/ok HTTP/1.1"], "and is the only one that was asked about")
    for what in ("path /%[req.hdr(x)]%[req.hdr(x)]", "hdr X-Key %[req.hdr(x)]%[req.hdr(x)]"):
        with Scene(args, what + " fail-open") as x:
            tap.eq((x.ask(GET + b"X: " + b"x" * 9000 + b"\r\n\r\n")[0], x.auth.asked), (500, []), "too long to be asked: " + what)
    with Scene(args, "cache %[req.hdr(x)]%[req.hdr(x)]%[path] for 1h") as x:
        tap.eq([x.ask(b"GET /%d HTTP/1.1\r\nHost: h\r\nX: %s\r\n\r\n" % (n, b"x" * 9000))[0] for n in (1, 2)], [200, 200], "keys that would be cut")
        tap.eq(len(x.auth.asked), 2, "are not those of others")


def failing(tap, args):
    answers = {
        "500": b"HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n", "nothing": None, "no HTTP": b"hello\r\n\r\n",
        "a cut answer": b"HTTP/1.1 403 No\r\ncontent-length: 9\r\n\r\nno",
        "a body without end": b"HTTP/1.1 403 No\r\ncontent-length: 100000\r\n\r\n" + b"x" * 100000,
    }
    ends = {"500": "500 .* ----", "nothing": "502 .* SH--", "no HTTP": "502 .* PH--", "a cut answer": "403 .* SD--", "a body without end": "403 1000.. .* ----"}
    for mode, want in (("", 503), ("fail-closed", 503), ("fail-open", 200)):
        with Scene(args, mode + " copy remote-user") as x:
            for name, answer in answers.items():
                x.auth.answer = answer
                if name == "a cut answer":
                    x.auth.answer = lambda head, a=answer: a # then closes
                got = x.ask(GET + b"Remote-User: root\r\n\r\n") if name != "a cut answer" else cut(x, answer)
                tap.eq(got[0], want, "%s %s" % (mode or "by default", name))
                tap.ok(x.log.find(r" auth auth/a .* %s " % ends[name]), "the log of the question says what was wrong", x.log.lines[-2:])
                if want == 200:
                    tap.eq(seen(got[2], "remote-user"), [], "without what the client says of itself")
            x.auth.hold.clear()
            tap.eq(x.ask(GET + b"\r\n")[0], want, "%s: no answer in time" % (mode or "by default"))
            tap.ok(x.log.find(r" auth auth/a .* 504 .* sH-- "), "as the log says")
            x.auth.hold.set()
            x.proxy.ctl("disable server auth/a")
            tap.eq(x.ask(GET + b"\r\n")[0], want, "%s: no server" % (mode or "by default"))
            tap.ok(x.log.find(r" auth auth/<NOSRV> .* 503 .* SC-- "), "as the log says")
            tap.ok(want == 200 or x.log.find(r" fe fe/<NOSRV> .* 503 .* LR-- "), "and that the client's answer is the program's own")


def cut(x, answer):
    """The answer is cut by the end of its connection."""
    def once(sock):
        lib.Reader(sock).head()
        sock.sendall(answer)
    x.auth.server.handler, old = once, x.auth.server.handler
    try:
        return x.ask(GET + b"\r\n")
    finally:
        x.auth.server.handler = old


def remembered(tap, args):
    with Scene(args, "cache %[req.cook(s)] for 1h max 3 copy remote-user") as x:
        x.auth.answer = lambda head: b"HTTP/1.1 200 OK\r\nremote-user: u%d\r\ncontent-length: 0\r\n\r\n" % len(x.auth.asked)
        users = [seen(x.ask(GET + b"Cookie: s=%d\r\nRemote-User: root\r\n\r\n" % i)[2], "remote-user")[0] for i in (1, 1, 2, 1, 2)]
        tap.eq((users, len(x.auth.asked)), (["u1", "u1", "u2", "u1", "u2"], 2), "asked once for each key")
        for i in (3, 4): # 4 is one too many
            x.ask(GET + b"Cookie: s=%d\r\n\r\n" % i)
        x.ask(GET + b"Cookie: s=1\r\n\r\n")
        tap.eq(len(x.auth.asked), 5, "the oldest has left")
        for _ in range(2):
            x.ask(GET + b"\r\n")
        tap.eq(len(x.auth.asked), 7, "no key: nothing is remembered")
        x.auth.answer = b"HTTP/1.1 403 No\r\ncontent-length: 0\r\n\r\n"
        for _ in range(2):
            x.ask(GET + b"Cookie: s=9\r\n\r\n")
        tap.eq(len(x.auth.asked), 9, "nor what was refused")
        x.proxy.ctl("reload")
        tap.eq(x.ask(GET + b"Cookie: s=1\r\n\r\n")[0], 403, "a reload forgets")
    with Scene(args, "cache %[req.cook(s)] for 1ms") as x:
        for _ in range(2):
            x.ask(GET + b"Cookie: s=1\r\n\r\n")
            time.sleep(0.05)
        tap.eq(len(x.auth.asked), 2, "nor beyond its time")


def leaving(tap, args):
    """Clients that go while the question is open."""
    with Scene(args, "", "30s") as x:
        x.auth.hold.clear()
        socks = []
        for i in range(30):
            s = lib.connect(x.port)
            s.sendall(GET + b"\r\n")
            socks.append(s)
        tap.ok(lib.until(lambda: len(x.auth.asked) == 30), "30 questions are open", len(x.auth.asked))
        for i, s in enumerate(socks):
            lib.reset(s) if i & 1 else s.close()
        tap.ok(lib.until(lambda: x.proxy.stats()["auth", "BACKEND"]["scur"] == "0"), "all end with their clients",
               x.proxy.stats()["auth", "BACKEND"]["scur"])
        x.auth.hold.set()
        tap.eq(x.ask(GET + b"\r\n")[0], 200, "the next one passes")
    with Scene(args, "", "30s") as x:
        x.auth.hold.clear()
        s = lib.connect(x.port)
        s.sendall(GET + b"\r\n")
        lib.until(lambda: x.auth.asked)
        x.proxy.ctl("reload")
        x.auth.hold.set()
        tap.eq(lib.Reader(s).response()[0], 200, "a reload while it is open")
        s.close()


NAMES = [b"Remote-User", b"remote_user", b"REMOTE-USER", b"remote-User", b"Remote_User"]
INNER = b"GET /smuggled HTTP/1.1\r\nHost: x\r\nCookie: %s\r\nRemote-User: root\r\n\r\n"
BODIES = (b"5\r\nhello\r\n0\r\nRemote-User: root\r\n\r\n", b"0\r\n\r\n" + INNER % b"bad",
          b"5;x=\"\r\nhello\r\n0\r\n\r\n" + INNER % b"bad", b"5\nhello\n0\n\n" + INNER % b"bad",
          b"%x\r\n" % len(INNER % b"good") + INNER % b"good" + b"\r\n0\r\n\r\n", b"05 \r\nhello\r\n0\r\n\r\n",
          b"5\r\nhelloGET / HTTP/1.1\r\n\r\n0\r\n\r\n", b"-5\r\nhello\r\n0\r\n\r\n",
          b"10000000000000005\r\nhello\r\n0\r\n\r\n")


def forged_case(seed):
    """(is it granted, its fields, the bytes)"""
    rng = random.Random(seed)
    good = rng.random() < 0.5
    fields = [rng.choice(NAMES) + rng.choice((b": ", b":", b":\t", b":  ")) + b"root" + rng.choice((b"", b" ", b"\t"))
              for _ in range(rng.randrange(4))]
    fields += rng.sample([b"Connection: remote-user", b"Connection: close, cookie", b"Connection: x-forwarded-for",
                          b"Transfer-Encoding: chunked", b"Content-Length: 5", b"Expect: 100-continue",
                          b"Upgrade: websocket", b"X: " + b"y" * rng.randrange(6000), b" folded: remote-user: root",
                          b"Cookie: bad", b"Host: other", b"TE: trailers",
                          b"Remote-User: " + b"r" * rng.choice((1000, 16000, 20000)),
                          b"Z" * rng.choice((1000, 20000)) + b": 1", b"Remote-User:\r\n root",
                          b"Remote-User: x\rRemote-User: root", b"X: 1\nRemote-User: root", b"Remote-User\0: root",
                          b"Transfer-Encoding: x, chunked", b"Content-Length: 6", b"Transfer-Encoding : chunked",
                          b"Transfer-Encoding: identity", b"Cookie: good\r\n Cookie: bad", b"X-Forwarded-Uri: /open",
                          b"Remote-User : root"], rng.randrange(4))
    if good:
        fields.append(b"Cookie: good")
    rng.shuffle(fields)
    body = b""
    if any(f.startswith(b"Tr") for f in fields):
        body = rng.choice(BODIES)
    elif any(f.startswith(b"Content") for f in fields):
        body = b"hello"
    return good, fields, b"GET / HTTP/1.1\r\nHost: x\r\n" + b"".join(f + b"\r\n" for f in fields) + b"\r\n" + body


def forge(port, seed):
    """What is wrong with the answer; None: nothing."""
    good, fields, raw = forged_case(seed)
    s = lib.connect(port)
    try:
        s.sendall(raw)
        got = lib.Reader(s).response()
    except (OSError, ValueError, IndexError):
        got = None
    s.close()
    if not got or got[0] != 200:
        return None
    text = got[2].decode("latin-1").lower()
    if good and "remote-user: ann" in text and not re.search(r"(?m)^remote.user: *root", text):
        return None
    return seed, fields, got


def forged(tap, args):
    """Whatever a client sends, the server never sees a user that was not granted, nor a request that was not asked about."""
    del reached[:]
    with Scene(args, "copy Remote-User") as x, concurrent.futures.ThreadPoolExecutor(60) as pool:
        x.auth.answer = lambda head: (b"HTTP/1.1 200 OK\r\nRemote-User: ann\r\ncontent-length: 0\r\n\r\n"
                                      if dict(head[1]).get("cookie") == "good" else
                                      b"HTTP/1.1 403 No\r\ncontent-length: 0\r\n\r\n")
        bad = [b for b in pool.map(lambda i: forge(x.port, i), range(args.attempts)) if b]
        tap.ok(not bad, "%d forged requests" % args.attempts, bad[:3])
        users = [[v for n, v in head[1] if re.fullmatch("remote.user", n)] for head in reached]
        bad = [head for head, user in zip(reached, users) if user != ["ann"] or "/smuggled" in head[0] or "good" not in dict(head[1]).get("cookie", "")]
        tap.ok(not bad, "%d of them have reached the server, all of them granted" % len(reached), bad[:3])
        tap.ok(reached, "some have", len(reached))


def wrong(tap, args):
    import subprocess
    base = "defaults\n mode http\n timeout client 1s\n timeout connect 1s\n timeout server 1s\nfrontend f\n bind :1\n http-request forward-auth %s\nbackend b\nbackend t\n mode tcp\nlisten l\n http-request forward-auth l\n bind :2\n"
    for options, message in (("", "expects a value"), ("x", "there is no backend 'x' in mode http"), ("t", "there is no backend 't' in mode http"),
                             ("b path", "'path' expects a value"), ("b foo", "unknown option 'foo'"), ("b copy a,,b", "names of fields"),
                             ("b cache k", "expects a key, 'for' and a time"), ("b method PUT", "expects GET, HEAD or POST"),
                             ("b", "asks itself")):
        out = subprocess.run([args.program, "-c", "-f", "/dev/stdin"], input=(base % options).encode(), capture_output=True)
        tap.ok(out.returncode == 1 and message in out.stderr.decode(), "%r: %s" % (options, message), out.stderr.decode())


def main():
    args = lib.arguments(__doc__, ("attempts", 1000, "forged requests"))
    tap = lib.Tap()
    if lib.is_reference(args.program):
        tap.skip("forward-auth", "an extension")
        tap.done()
    tap.run((granted, words, made, refused, failing, remembered, leaving, forged, wrong), args)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
