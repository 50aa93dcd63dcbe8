#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A scripted FastCGI application behind this program and behind the reference: each case is a request, with or without a body,
and what the application does is drawn from the case's number, so that both programs meet the same application.

Its answer comes cut into records and pieces of every size, padded, with records of other types and requests between, with
stderr before, amid and behind it; several at once on a connection and in another order; with lengths that are wrong, heads that
are none, an end too early or never; or it closes, resets, or dies amid a record. Compared are the status, the fields and the
body that the client gets, whether it is whole, how the log says that it ended, and the parameters that the application gets.
What the two do otherwise is in tests/differences.txt; no request may hang.

Without a reference program (--reference, or $REFERENCE) only the last is tested. --cases N of each kind, --seed S, --only KIND,
--show N; the long run is fcgi_differential.py --cases 10000."""
# differs: fcgi-version
# differs: fcgi-whole
import os
import random
import re
import struct
import threading
import time

import lib
import lib_fcgi as fcgi

CONF = """
	nbthread 1
	log 127.0.0.1:{log} len 8192 local0
defaults
	mode http
	timeout connect 2s
	timeout client 20s
	timeout server {timeout}
	log global
	log-format "%HU %ST %ts"
frontend fe
	bind 127.0.0.1:{fe}
	default_backend be
backend be
	http-reuse {reuse}
	retries 0
	use-fcgi-app app
	server s 127.0.0.1:{app} proto fcgi
fcgi-app app
	docroot /srv
	index index.php
	path-info ^(/.+\\.php)(/.*)?$
	option mpxs-conns
	option max-reqs 20
"""
HEAD = b"Content-Type: t/p\r\n\r\n"


# --- what the application does: functions (rng, number, body) that give the pieces, and what is done then -------------------

def head(rng):
    lines = [b"Content-Type: text/plain"]
    if rng.random() < 0.5:
        lines.append(rng.choice((b"Status: 404 Not Here", b"Status: 201", b"Status: 500 x", b"status:403", b"Status: 200 OK",
                                 b"Status: 404\tNot Here", b"Status: 410;x", b"Status: 409, 410")))
    if rng.random() < 0.2:
        lines.append(b"Location: /there")
    for n in range(rng.randrange(3)):
        lines.append(b"X-%d: %s" % (n, b"v" * rng.choice((0, 1, 30, 500))))
    rng.shuffle(lines)
    end = rng.choice((b"\r\n", b"\r\n", b"\n"))
    return end.join(lines) + end + end


def text(rng):
    return bytes(rng.choice(b"abcdefgh\r\n:0") for _ in range(rng.choice((0, 1, 10, 200)))) * rng.choice((1, 1, 1, 100))


def output(rng):
    """Head and body, with a length sometimes."""
    body = text(rng)
    if rng.random() < 0.3:
        return b"Content-Length: %d\r\n" % len(body) + head(rng).replace(b"\n", b"\r\n").replace(b"\r\r\n", b"\r\n") + body
    return head(rng) + body


def records(rng, number, data, noise=True):
    """STDOUT in records of any size, with records between that change nothing."""
    out, at = [], 0
    while at < len(data):
        size = rng.choice((1, 2, 7, 8, 100, 1000, 60000))
        out.append(fcgi.record(fcgi.STDOUT, number, data[at:at + size], rng.choice((0, 0, 1, 7, 255))))
        at += size
        if noise and rng.random() < 0.2:
            out.append(rng.choice((fcgi.record(fcgi.STDERR, number, b"careful\n" * rng.randrange(1, 40)), fcgi.record(77, number, b"abc"),
                                   fcgi.record(fcgi.STDOUT, number + 50, b"evil"), fcgi.record(fcgi.STDERR, number),
                                   fcgi.record(fcgi.GET_VALUES_RESULT, 0), fcgi.record(fcgi.UNKNOWN, 0, b"\0" * 8))))
    return out


def closed(rng, number):
    return ([fcgi.record(fcgi.STDOUT, number)] if rng.random() < 0.7 else []) + [fcgi.end(number, rng.choice((0, 0, 1, 255)))]


def cut(rng, data):
    """The same bytes in pieces."""
    if len(data) < 200 and rng.random() < 0.2:
        return [data[i:i + 1] for i in range(len(data))]
    at = sorted({rng.randrange(len(data)) for _ in range(rng.randrange(6))} - {0})
    return [data[a:b] for a, b in zip([0] + at, at + [len(data)])]


def good(rng, number):
    return [fcgi.whole(number, output(rng))], None


def pieces(rng, number):
    return cut(rng, b"".join(records(rng, number, output(rng)) + closed(rng, number))), None


def later(rng, number):
    return [b"".join(records(rng, number, output(rng), False) + closed(rng, number))], "later"


def flood(rng, number):
    errors = fcgi.record(fcgi.STDERR, number, b"e" * rng.choice((1, 8000, 60000))) * rng.randrange(1, 20)
    out = records(rng, number, output(rng), False)
    out.insert(rng.randrange(len(out) + 1), errors)
    return [b"".join(out + closed(rng, number))], None


def no_length(rng, number):
    """Fields of length that are none, twice or not true."""
    field = rng.choice((b"Content-Length: 3", b"Content-Length: x", b"Content-Length: -1", b"Content-Length: 5\r\nContent-Length: 6",
                        b"Content-Length: 99", b"Content-Length: 5, 5", b"Content-Length: +5", b"Content-Length: 5 5",
                        b"Content-Length: 99999999999999999999", b"Content-Length: "))
    return [fcgi.whole(number, field + b"\r\n" + HEAD + b"hello")], "close"


def no_head(rng, number):
    data = rng.choice((b"abc\r\n\r\n", b"HTTP/1.1 200 OK\r\n\r\nhello", b"A b: c\r\n\r\n", b": x\r\n\r\n", b"A: b\r\n c\r\n\r\nhello", b"\0: x\r\n\r\n",
                       b"A: b\rc\r\n\r\n", b"A" * 20000 + b": b\r\n\r\n",
                       b"A: " + b"b" * 20000 + b"\r\n\r\n", b"\r\n", b"A:b\n\n", b"A@: b\r\n\r\nx", b"(): b\r\n\r\nx", b""))
    return [fcgi.whole(number, data)], "close"


def early(rng, number):
    """The end too early, or not as FastCGI has it."""
    data = output(rng)
    part = data[:rng.randrange(len(data))]
    return rng.choice((([fcgi.end(number)], "close"), ([fcgi.end(number, 0, rng.randrange(1, 5))], "close"), ([fcgi.whole(number, part)], "close"),
                       ([fcgi.record(fcgi.STDOUT, number, data), fcgi.record(fcgi.STDOUT, number)], "close"),
                       ([fcgi.record(fcgi.STDOUT, number, data)], "close"),
                       ([fcgi.whole(number, data) + fcgi.whole(number, data)], "close"),
                       ([struct.pack(">BBHHBB", 1, fcgi.END, number, 4, 0, 0) + b"\0" * 4], "close")))


def dies(rng, number):
    data = b"".join(records(rng, number, output(rng), False) + closed(rng, number))
    return [data[:rng.randrange(len(data))]], "close"


def lies(rng, number):
    """Records whose head is not true."""
    data = output(rng)
    pack = lambda *fields: struct.pack(">BBHHBB", *fields)
    return [rng.choice((pack(1, fcgi.STDOUT, number, len(data) + 10, 0, 0) + data, pack(2, fcgi.STDOUT, number, len(data), 0, 0) + data,
                        pack(1, fcgi.STDOUT, 0, len(data), 0, 0) + data, pack(0, 0, 0, 0, 0, 0) * 3, b"HTTP/1.1 200 OK\r\n\r\nhello",
                        pack(1, fcgi.END, number, 8, 255, 0) + b"\0" * 8, pack(1, fcgi.STDOUT, number, 65535, 255, 0),
                        pack(1, fcgi.BEGIN, number, 8, 0, 0) + b"\0" * 8 + fcgi.whole(number, data)))], "close"


def silent(rng, number):
    return [], None


# kind: (steps, clients at once, timeout server, http-reuse)
KINDS = {
    "records in pieces": ((good, pieces, pieces), 8, "10s", "always"),
    "another order": ((good, later, later), 8, "10s", "always"),
    "floods of stderr": ((good, flood, flood), 4, "10s", "always"),
    "lengths that are wrong": ((good, no_length), 4, "2s", "never"),
    "heads that are none": ((good, no_head), 4, "2s", "never"),
    "ends too early": ((good, early), 4, "2s", "never"),
    "applications that die": ((good, dies), 4, "2s", "never"),
    "records that lie": ((good, lies), 4, "1s", "never"),
    "no answer": ((good, silent), 16, "1s", "never"),
}


class Scripted(fcgi.App):
    """The application of one program. got: {case: [(parameters, body)]}"""

    def __init__(self, kind, seed):
        self.steps, self.seed, self.got, self.lock = KINDS[kind][0], seed, {}, threading.Lock()
        self.held = {}
        fcgi.App.__init__(self, self.reply)

    def flush(self, sock):
        with self.lock:
            parts = self.held.pop(sock, [])[::-1]
        for part in parts:
            sock.sendall(part)

    def reply(self, request):
        params = {k: v for k, v in request.pairs() if k not in ("SERVER_PORT", "REMOTE_PORT", "SERVER_SOFTWARE", "SERVER_NAME")}
        case = params["REQUEST_URI"]
        with self.lock:
            self.got.setdefault(case, []).append((sorted(params.items()), request.body))
        rng = random.Random("%s %s" % (self.seed, case))
        parts, then = rng.choice(self.steps)(rng, request.number)
        if then == "later":
            with self.lock:
                self.held.setdefault(request.sock, []).extend(parts)
            threading.Timer(0.01, self.flush, (request.sock,)).start()
            return b""
        for part in parts:
            request.sock.sendall(part)
            if len(parts) > 1:
                time.sleep(0.0003)
        self.flush(request.sock)
        return [None] if then == "close" else b""


def request_of(seed, case):
    """The request: its path, fields and body are drawn, too."""
    rng = random.Random("%s %d" % (seed, case))
    path = rng.choice(("/", "/a.php", "/a.php/info", "/d%20x/", "/x%2fy?q=1", "/a.php?%00", "/i.php/a//b/../c"))
    fields = "".join(rng.sample(("X-A: 1\r\n", "x_b: 2\r\n", "Cookie: k=v\r\n", "Proxy: evil\r\n", "Content-Type: t/p\r\n", "Accept: */*\r\n"), 2))
    body = bytes(rng.choice(b"xyz\0\xff") for _ in range(rng.choice((0, 1, 100)))) * rng.choice((1, 1, 50))
    method = rng.choice(("GET", "GET", "POST", "PUT"))
    if method != "GET" and rng.random() < 0.5:
        fields += "Transfer-Encoding: chunked\r\n"
        body = (b"%x\r\n" % len(body) + body + b"\r\n" if body else b"") + b"0\r\n\r\n"
    elif method != "GET":
        fields += "Content-Length: %d\r\n" % len(body)
    else:
        body = b""
    sep = "&" if "?" in path else "?"
    version = "1.0" if "chunked" not in fields and rng.random() < 0.25 else "1.1"
    return "%s%scase=%d" % (path, sep, case), ("%s %s%scase=%d HTTP/%s\r\nHost: h\r\nConnection: close\r\n%s\r\n" % (
        method, path, sep, case, version, fields)).encode() + body


def ask(port, data):
    """(status, fields, body, is it whole) or why not"""
    try:
        with lib.connect(port, 15) as sock:
            sock.sendall(data)
            reader = lib.Reader(sock)
            first = reader.head()
            if not first:
                return "no answer"
            fields = sorted((n, v) for n, v in first[1] if n not in ("date", "connection", "transfer-encoding"))
            fields.append(first[0].split(" ")[::2]) # the version of the answer, and its reason
            try:
                return int(first[0].split()[1]), fields, reader.body(first[1], True), True
            except (EOFError, ValueError, OSError) as e:
                return int(first[0].split()[1]), fields, b"", "cut" if not isinstance(e, TimeoutError) else "no end"
    except (OSError, EOFError, ValueError) as e:
        return "no answer: %r" % e


def run(program, kind, seed, count):
    """[(answer, log, what the application got)] of each case"""
    steps, clients, timeout, reuse = KINDS[kind]
    app, log, fe = Scripted(kind, seed), lib.Syslog(), lib.ports(1)[0]
    out, todo, lock = [None] * count, list(range(count)), threading.Lock()

    def client():
        while True:
            with lock:
                if not todo:
                    return
                case = todo.pop(0)
            out[case] = ask(fe, request_of(seed, case)[1])

    with lib.Proxy(program, CONF.format(log=log.port, fe=fe, app=app.port, timeout=timeout, reuse=reuse)):
        threads = [threading.Thread(target=client) for _ in range(clients)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        log.wait(lambda lines: len(lines) >= count)
    said = {}
    for text_ in log.lines:
        m = re.search(r" (\S+) (-?\d+) (\S\S)$", text_)
        if m:
            said[m.group(1)] = m.groups()[1:]
    app.close()
    log.close()
    uris = [request_of(seed, n)[0] for n in range(count)]
    return [(out[n], said.get(uris[n]), app.got.get(uris[n])) for n in range(count)]


def step_of(kind, seed, case):
    return random.Random("%s %s" % (seed, request_of(seed, case)[0])).choice(KINDS[kind][0]).__name__


FAILED = "failed"


def outcome(case):
    """What is compared: of an answer that failed, that it did. How a body is framed, and how much of one that is cut comes, is a
    matter of time; a client of HTTP/1.0 may not see that it is."""
    answer, said, got = case
    is_cut = said and said[1] != "--" and not isinstance(answer, str) and answer[1][-1][0] == "HTTP/1.0"
    if isinstance(answer, str) or answer[0] in (502, 504) or answer[3] is not True or is_cut:
        return FAILED, "--" if said and said[1] == "--" else FAILED, got
    return (answer[0], [f for f in answer[1] if f[0] != "content-length"], answer[2]), said, got


def is_same(args, kind, case, ours, theirs):
    """The reference may fail where the application breaks off behind all of a body whose length it has announced, and it does not
    look at versions."""
    ours, theirs = outcome(ours), outcome(theirs)
    if ours == theirs:
        return True
    text_ = "%s %s" % (args.seed, request_of(args.seed, case)[0])
    if ours[0] == FAILED: # records of version 2 are none
        rng = random.Random(text_)
        return rng.choice(KINDS[kind][0])(rng, 1)[0][0].startswith(b"\2")
    rng = random.Random(text_)
    rng.choice(KINDS[kind][0])
    return theirs[0] == FAILED and output(rng).startswith(b"Content-Length:")


def compared(tap, args, kind, has_reference):
    ours = run(args.program, kind, args.seed, args.cases)
    lost = [(n, case[0]) for n, case in enumerate(ours) if isinstance(case[0], str) or case[0][3] == "no end"]
    tap.ok(not lost, "%s: none of %d requests hangs" % (kind, args.cases), lost[:5])
    if not has_reference:
        return
    theirs = run(args.reference, kind, args.seed, args.cases)
    other = [n for n in range(args.cases) if not is_same(args, kind, n, ours[n], theirs[n])]
    show = ["case %d: %s\n ours   %r\n theirs %r" % (n, step_of(kind, args.seed, n),
            *([(o, t) for o, t in zip(outcome(ours[n]), outcome(theirs[n])) if o != t][0])) for n in other[:args.show]]
    tap.ok(not other, "%s: %d cases as with the reference" % (kind, args.cases), "%d others\n%s" % (len(other), "\n".join(show)))


def main():
    args = lib.arguments(__doc__, ("cases", 100, "of each kind"), ("seed", 1, "of the cases"), ("only", "", "a kind"),
                         ("show", 5, "differences to print"), ("reference", lib.REFERENCE, "the program to compare with"))
    tap = lib.Tap()
    has_reference = os.access(args.reference, os.X_OK) and not lib.is_reference(args.program)
    for kind in KINDS:
        if args.only in kind:
            tap.attempt(kind, compared, tap, args, kind, has_reference)
    if not has_reference:
        tap.apart("reference", "beside the reference")
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
