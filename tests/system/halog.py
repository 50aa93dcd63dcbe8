#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""halog: filters and reports on lines that the program logs and on odd ones made here, beside the
counts of a naive reader of the same lines.
"""
import os
import random
import re
import socket
import subprocess
import time

import lib

DATE = rb"\[(../[A-Z][a-z][a-z]/\d{4}:\d\d:\d\d:\d\d)\.(\d{3})\]"
HEAD = re.compile(rb"(?:^|.*? )([^ ]+) " + DATE + rb" (.*)", re.S)
NUMBER = rb"[-+]?\d+"
REQUEST = re.compile(rb'(?:\{([^}]*)\} ?)?(?:\{([^}]*)\} ?)?[^"]*"(?:[^ "]* ([^ "]*)|([^ "]*))', re.S)
NONE, HEADED, TIMED, ANSWERED, ENDED, QUEUED = range(6)
PERCENTS = (1, 10, 50, 90, 99, 100)


class Line:
    """What the naive reader finds in a line; has: how far it can be read. Every word but the last of the
    queues has to be followed by a space: a word that is cut is none."""

    def __init__(self, text):
        self.text, self.has, self.http, self.url = text, NONE, False, None
        m = HEAD.match(text[:-1] if text.endswith(b"\r") else text)
        if not m:
            return
        self.client = m.group(1).rpartition(b":")[0] or m.group(1)
        self.ms = None
        if re.match(rb"\d\d/", m.group(2)):
            self.time = time.mktime(time.strptime(m.group(2).decode(), "%d/%b/%Y:%H:%M:%S"))
            self.ms = int(self.time) * 1000 + int(m.group(3))
        words = m.group(4).split(b" ")
        last, rest = words.pop(), m.group(4)
        for part in (self.head, self.timed, self.answered, self.ended):
            if not part(words):
                return
            self.has += 1
        at = 3 + (5 if self.http else 2)
        if len(words) > at and re.fullmatch(NUMBER + b"/" + NUMBER, (words + [last])[at + 1]):
            self.queues = [int(n) for n in (words + [last])[at + 1].split(b"/")]
            self.has = QUEUED
            r = REQUEST.match(rest.split(b" ", at + 2)[-1]) if self.http and len(words) > at + 1 else None
            if r:
                self.url = r.group(3) if r.group(3) is not None else r.group(4)
                self.captures = [r.group(1) or b"", r.group(2) or b""]

    def head(self, words):
        if len(words) < 2 or not words[0] or b"/" not in words[1]:
            return False
        self.server = words[1]
        return True

    def timed(self, words):
        if len(words) < 3 or not re.fullmatch(NUMBER + b"(?:/" + NUMBER + b")*", words[2]):
            return False
        n = [int(x) for x in words[2].split(b"/")]
        self.http = len(n) == 5
        self.timers = n if self.http else [-1] + n[:2] + [-1] + n[2:]
        return len(n) in (3, 5)

    def answered(self, words):
        n = words[3:5] if self.http else words[3:4]
        if len(n) != 1 + self.http or not all(re.fullmatch(NUMBER, x) for x in n):
            return False
        self.status, self.bytes = int(n[0]) if self.http else None, int(n[-1])
        return True

    def ended(self, words):
        at = 7 if self.http else 4
        if len(words) <= at or not all(words[:at]) or len(words[at]) != (4 if self.http else 2):
            return False
        self.state = words[at]
        self.failed = self.status < 0 or 500 <= self.status < 600 if self.http else self.state[:1] not in b"-Cc"
        self.took = self.timers[3] if self.timers[3] >= 0 else 0 if self.http else max(0, self.timers[4])
        return True


def logs(count, seed):
    """Lines as the program writes them, of many kinds."""
    rnd = random.Random(seed)
    prefixes = ("Feb  6 12:14:14 lb1 haproxy[14389]: ", "<134>Feb  6 12:14:14 haproxy[1]: ", "",
                "<134>1 2026-02-06T12:14:14.5+01:00 lb haproxy 12 - - ", "2026-02-06T12:14:14Z lb[3] x[1]: ")
    for _ in range(count):
        client = rnd.choice(("10.0.1.%d" % rnd.randrange(30), "2001:db8::%x" % rnd.randrange(9))) + ":%d" % rnd.randrange(65536)
        head = "%s%s [%02d/Feb/2026:%02d:%02d:%02d.%03d] fe~ be%d/%s " % (
            rnd.choice(prefixes), client, rnd.randrange(1, 29), rnd.randrange(24), rnd.randrange(60),
            rnd.randrange(60), rnd.randrange(1000), rnd.randrange(3), rnd.choice(("s1", "s2", "<NOSRV>")))
        queues = "%d/%d/0/0/0 %d/%d" % (rnd.randrange(9), rnd.randrange(9), rnd.choice((0, 0, 3)), rnd.choice((0, 0, 12)))
        times = [rnd.choice((-1, 0, rnd.randrange(50), rnd.randrange(3000), rnd.randrange(200000))) for _ in range(5)]
        if rnd.random() < 0.2:
            yield head + "%d/%d/%s%d %d %s %s" % (times[0], times[1], rnd.choice(("", "+")), abs(times[4]),
                                                 rnd.randrange(10**9), rnd.choice(("--", "CD", "SC", "sD", "cD")), queues)
            continue
        captures = rnd.choice(("", "{1wt.eu|Mozilla/5.0 (X11)} {} ", "{a b|} ", "{|x|y z} {nginx|7} "))
        request = rnd.choice(("GET /a/%d HTTP/1.1" % rnd.randrange(40), "POST /b?x=%d HTTP/1.0" % rnd.randrange(40),
                              "<BADREQ>", "GET /old", "OPTIONS * HTTP/1.1"))
        tail = rnd.choice(("", "", " 0/0/0/0/0 1wt.eu/TLSv1.3/TLS_AES_256_GCM_SHA384"))
        yield head + "%s %d %d %s - %s %s %s\"%s\"%s" % (
            "/".join(map(str, times)), rnd.choice((200, 200, 204, 302, 404, 405, 499, 500, 503, -1, 101, 600)),
            rnd.randrange(10**6), rnd.choice(("-", "SRV=s1")), rnd.choice(("----", "--VN", "SHVN", "sH--", "CD--", "PR--")),
            queues, captures, request, tail)


def odd_lines():
    """Hand-made ones: cut everywhere, binary, very long, without some fields, hardly a log."""
    good = next(l for l in logs(50, 7) if "Mozilla" in l).encode()
    yield from (good[:n] for n in range(len(good)))
    yield from (b"", b" ", b"[", b"[[[[", b"]", b"\0", bytes(range(256)).replace(b"\n", b""), b"\xff" * 300)
    yield b"Feb  6 12:14:14 lb haproxy[1]: 127.0.0.1:1 [06/Feb/2026:12:14:14.655] fe/1: Connection error during SSL handshake"
    yield b"Feb  6 12:14:14 lb haproxy[1]: Proxy fe started."
    yield good.replace(b" 10.", b" x" * 50 + b" 10.")
    yield good.replace(b"be", b"\0\1\2")
    yield good.replace(b"\"", b"")
    yield good.replace(b"/a", b"/" + b"A" * 5000000)
    yield b"x" * 3000000
    yield b"x" * 3000000 + b" " + good
    yield good + b"\r"
    yield good.replace(b"[", b"(")
    yield re.sub(DATE, b"[xx/Feb/2026:12:14:14.655]", good.replace(b"haproxy[", b"haproxy ["))


def run(args, options, data, status=0):
    p = subprocess.run([args.halog] + options, input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
    if p.returncode != status:
        raise RuntimeError("halog %s: status %d\n%s" % (" ".join(options), p.returncode, p.stderr.decode()))
    return p.stdout


def filters(middle):
    """(the part that is needed, options, what the lines have that pass)."""
    yield TIMED, ["-H"], lambda l: l.http
    yield ENDED, ["-e"], lambda l: l.failed
    yield ENDED, ["-E"], lambda l: not l.failed
    yield TIMED, ["-rt", "40"], lambda l: l.timers[3] > 40
    yield TIMED, ["-RT", "40"], lambda l: 0 <= l.timers[3] < 40
    yield QUEUED, ["-Q"], lambda l: max(l.queues) > 0
    yield QUEUED, ["-QS"], lambda l: l.queues[0] > 0
    yield ANSWERED, ["-hs", "404"], lambda l: l.http and l.status == 404
    yield ANSWERED, ["-hs", "400:499"], lambda l: l.http and 400 <= l.status <= 499
    yield ANSWERED, ["-hs", "500:"], lambda l: l.http and l.status >= 500
    yield ANSWERED, ["-hs", ":299"], lambda l: l.http and l.status <= 299
    yield ANSWERED, ["-hs", "-1"], lambda l: l.http and l.status == -1
    yield ANSWERED, ["-HS", "200:399"], lambda l: l.http and not 200 <= l.status <= 399
    yield ENDED, ["-tcn", "SH"], lambda l: l.state[:2] == b"SH"
    yield ENDED, ["-TCN", "--"], lambda l: l.state[:2] != b"--"
    yield HEADED, ["-time", "%d:" % middle], lambda l: l.ms and l.time >= middle
    yield HEADED, ["-time", ":%d" % middle], lambda l: l.ms and l.time <= middle
    yield HEADED, ["-time", "%d:%d" % (middle - 86400, middle)], lambda l: l.ms and middle - 86400 <= l.time <= middle
    yield ENDED, ["-H", "-e", "-rt", "100"], lambda l: l.http and l.failed and l.timers[3] > 100


def check_filters(tap, args, texts, what):
    """Each filter, as lines, counted, and inverted."""
    data = b"".join(t + b"\n" for t in texts)
    lines = [Line(t) for t in texts]
    middle = int(time.mktime((2026, 2, 14, 12, 0, 0, 0, 0, -1)))
    tap.eq(run(args, [], data) == data, True, what + ": without options everything")
    tap.eq(int(run(args, ["-c"], data)), len(texts), what + ": -c")
    for needs, options, test in filters(middle):
        want = [l for l in lines if l.has >= needs and test(l)]
        name = "%s: %s" % (what, " ".join(options))
        got = run(args, ["-q"] + options, data)
        tap.ok(got == b"".join(l.text + b"\n" for l in want), name, "%d lines, %d wanted" % (got.count(b"\n"), len(want)))
        tap.eq(int(run(args, ["-q", "-v", "-c"] + options, data)), len(texts) - len(want), name + " -v")


def table(lines, key):
    """Sums per key: req err ttot oktot bytes."""
    rows = {}
    for l in lines:
        r = rows.setdefault(key(l), [0] * 5)
        for i, v in enumerate((1, l.failed, l.took, 0 if l.failed else l.took, l.bytes)):
            r[i] += v
    return rows


def request_rows(rows, order):
    out = []
    for name, (req, err, ttot, oktot, size) in rows.items():
        ok = req - err
        out.append(((req, err, ttot, ttot // req, oktot, oktot // ok if ok else 0, size // req, size), name))
    out.sort(key=lambda r: (-r[0][order] if order is not None else 0, r[1]))
    return [b" ".join(b"%d" % n for n in numbers) + b" " + name for numbers, name in out]


def check_requests(tap, args, data, lines, what):
    requests = [l for l in lines if l.url is not None]
    rows = table(requests, lambda l: l.url.split(b"?")[0])
    for option, order in (("-u", None), ("-uc", 0), ("-ue", 1), ("-ut", 2), ("-ua", 3), ("-uto", 4),
                          ("-uao", 5), ("-uba", 6), ("-ubt", 7)):
        got = run(args, ["-q", option], data).split(b"\n")
        tap.eq(got[0], b"#req err ttot tavg oktot okavg bavg btot url", what + ": head of " + option)
        tap.ok(got[1:-1] == request_rows(rows, order), what + ": " + option)
    got = run(args, ["-q", "-u", "-qry"], data).split(b"\n")[1:-1]
    tap.ok(got == request_rows(table(requests, lambda l: l.url), None), what + ": -u -qry")
    got = run(args, ["-q", "-uc", "-m", "3"], data).split(b"\n")[1:-1]
    tap.ok(got == request_rows(rows, 0)[:3], what + ": -uc -m 3")
    got = run(args, ["-q", "-ic"], data).split(b"\n")[1:-1]
    known = [l for l in lines if l.has >= ENDED]
    tap.ok(got == request_rows(table(known, lambda l: l.client), 0), what + ": -ic")
    for option, block, field in (("1:1", 0, 0), ("1:2", 0, 1), ("2:1", 1, 0), ("2:4", 1, 3)):
        want = b"".join(((l.captures[block].split(b"|") + [b""] * 4)[field]) + b"\n" for l in requests)
        tap.ok(run(args, ["-q", "-hdr", option], data) == want, what + ": -hdr " + option)


def server_rows(known):
    for server in sorted({l.server for l in known}):
        mine = [l for l in known if l.server == server]
        classes = [0] * 6
        for l in mine:
            n = (l.status or 0) // 100
            classes[n - 1 if 1 <= n <= 5 else 5] += 1
        connects = [l.timers[2] for l in mine if l.timers[2] >= 0]
        answered = sum(1 for l in mine if l.timers[3] >= 0 or not l.http)
        ok = sum(1 for l in mine if not l.failed)
        yield b"%s %s %d %d %.1f %d %d" % (
            server, b" ".join(b"%d" % c for c in classes), len(mine), ok, 100.0 * ok / len(mine),
            sum(connects) // len(connects) if connects else 0, sum(l.took for l in mine) // answered if answered else 0)


def counted(names):
    return {n: names.count(n) for n in set(names)}


def check_counts(tap, args, data, lines, what):
    known = [l for l in lines if l.has >= ENDED]
    http = [l for l in known if l.http]
    got = run(args, ["-q", "-srv"], data).split(b"\n")[1:-1]
    tap.eq(got, list(server_rows(known)), what + ": -srv")
    for option, names in (("-tc", [l.state[:2] for l in known]), ("-cc", [l.state[2:] for l in http])):
        rows = sorted(counted(names).items(), key=lambda r: (-r[1], r[0]))
        tap.eq(run(args, ["-q", option], data), b"".join(b"%d %s\n" % (n, c) for c, n in rows), what + ": " + option)
    rows = sorted(counted([b"%d" % l.status for l in lines if l.has >= ANSWERED and l.http]).items())
    tap.eq(run(args, ["-q", "-st"], data), b"".join(b"%s %d\n" % r for r in rows), what + ": -st")


def check_times(tap, args, data, lines, what):
    timers = [sorted(l.timers[i] for l in lines if l.has >= TIMED and l.timers[i] >= 0) for i in range(5)]
    got = {float(l.split()[0]): l.split()[1:] for l in run(args, ["-q", "-pct"], data).split(b"\n")[1:-2]}
    for p in PERCENTS:
        want = [b"%d" % t[max(0, -(-len(t) * p // 100) - 1)] for t in timers]
        tap.eq(got.get(float(p)), want, "%s: -pct, %d %%" % (what, p))
    want = b"#ms TR Tw Tc Tr Ta\n"
    counts = [counted(t) for t in timers]
    for ms in sorted(set().union(*timers)):
        want += b"%d %s\n" % (ms, b" ".join(b"%d" % c.get(ms, 0) for c in counts))
    tap.ok(run(args, ["-q", "-gt"], data) == want, what + ": -gt")


def check_activity(tap, args, data, lines, what):
    times = sorted(l.ms for l in lines if l.has >= HEADED and l.ms)
    for silence, least in ((600000, 1), (600000, 4), (1800000, 10), (0, 1)):
        bursts = []
        for i, ms in enumerate(times):
            gap = ms - times[i - 1] if i else 0
            if not i or (gap and gap >= silence):
                bursts.append([ms, gap, []])
            bursts[-1][2].append(ms)
        want = [b"%d.%03d %d %d %d" % (b[0] // 1000, b[0] % 1000, b[1], b[2][-1] - b[0], len(b[2]))
                for b in bursts if len(b[2]) >= least]
        got = run(args, ["-q", "-ad", str(silence), "-ac", str(least)], data).split(b"\n")
        tap.ok(got[1:-1] == want, "%s: -ad %d -ac %d" % (what, silence, least), "%r\n%r" % (got[:3], want[:2]))


def check_all(tap, args, texts, what):
    data = b"".join(t + b"\n" for t in texts)
    lines = [Line(t) for t in texts]
    check_filters(tap, args, texts, what)
    check_requests(tap, args, data, lines, what)
    check_counts(tap, args, data, lines, what)
    check_times(tap, args, data, lines, what)


def command_line(tap, args):
    line = b"Feb  6 12:14:14 lb haproxy[1]: 10.0.0.1:5 [06/Feb/2026:12:14:14.655] f b/s 0/1/2 3 -- 1/1/1/1/0 0/0\n"
    bare = line.split(b"]: ")[1]
    for options in (["-x"], ["-m"], ["-m", "0"], ["-m", "x"], ["-hs", ""], ["-hs", "a:b"], ["-rt", "-5"], ["-tcn", "ABCDE"],
                    ["-time", "1-2"], ["-s", "-6"], ["-hdr", "3:1"], ["-u", "-st"], ["-ac"], ["stray"]):
        p = subprocess.run([args.halog] + options, input=line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
        tap.ok(p.returncode == 1 and not p.stdout and p.stderr.startswith(b"halog: "), "refused: %r" % options, p.stderr)
    help_text = run(args, ["-h"], b"")
    for option in "-H -e -E -rt -RT -Q -QS -hs -HS -tcn -TCN -time -v -q -m -s -qry -c -u -uc -ue -ut -ua -uto -uao " \
                  "-ubt -uba -ic -srv -st -tc -cc -pct -gt -ad -ac -hdr".split():
        tap.ok(re.search(r"[ \n]%s[ ,]" % option, help_text.decode()), "help speaks of " + option)
    for options, data, count in ((["-s", "5"], line, 1), (["-s", "5"], bare, 0), (["-s", "0"], bare, 1), (["-s", "4"], line, 0),
                                 (["-s", "-5"], bare, 1), (["-s", "-1"], line[4:], 1), ([], bare, 1), (["-m", "2"], line * 3, 2)):
        tap.eq(int(run(args, ["-E", "-q", "-c"] + options, data)), count, "%r finds %d" % (options, count))
    tap.eq(run(args, ["-m", "2"], line * 3), line * 2, "-m 2 prints two")
    tap.eq(run(args, ["-E"], line[:-1]), line, "a last line without line feed")
    p = subprocess.run([args.halog, "-st"], input=b"x\n" + line, stderr=subprocess.PIPE, stdout=subprocess.PIPE, timeout=60)
    tap.eq(p.stderr, b"halog: 1 lines were not understood\n", "says how many were not understood")


def real_lines(tap, args):
    """Lines of the program itself: HTTP and TCP, to httplog, httpslog and tcplog."""
    ports = lib.ports(4)
    server = lib.Server(lib.echo_handler, ports[3])
    syslog = lib.Syslog()
    conf = "\tlog 127.0.0.1:%d format rfc3164 local0\ndefaults\n\ttimeout client 5s\n\ttimeout connect 1s\n\ttimeout server 5s\n" \
           "\tlog global\n" % syslog.port
    for name, port, mode, option in zip(("web", "secure", "raw"), ports, ("http", "http", "tcp"), ("httplog", "httpslog", "tcplog")):
        conf += "listen %s\n\tmode %s\n\toption %s\n\tbind 127.0.0.1:%d\n\tserver s1 127.0.0.1:%d\n" % (name, mode, option, port, ports[3])
        if mode == "http":
            conf += "\thttp-request deny if { path /no }\n\tcapture request header user-agent len 32\n"
    with lib.Proxy(args.program, conf):
        for port in ports[:3]:
            for path in ("/one", "/two?q=1", "/no", "/one"):
                s = lib.connect(port)
                s.sendall(b"GET %s HTTP/1.1\r\nHost: x\r\nUser-Agent: a b\r\nConnection: close\r\n\r\n" % path.encode())
                if port == ports[2]:
                    s.shutdown(socket.SHUT_WR)  # neither end would close a tunnel
                lib.recv_all(s)
                s.close()
        ours = syslog.wait(lambda ls: (lambda f: f if len(f) == 12 else None)([l for l in ls if "] web" in l or "] secure" in l or "] raw" in l]))
    server.close()
    if not tap.ok(ours, "the program logged 12 lines", syslog.lines):
        return
    texts = [l.encode("latin-1") for l in ours]
    data = b"".join(t + b"\n" for t in texts)
    tap.eq(run(args, ["-H", "-c"], data), b"8\n", "8 of them are HTTP")
    tap.eq(run(args, ["-hs", "403", "-c"], data), b"2\n", "2 were denied")
    tap.eq([l.split()[0::8] for l in run(args, ["-u"], data).split(b"\n")[1:-1]],
           [[b"2", b"/no"], [b"4", b"/one"], [b"2", b"/two"]], "requests per URL")
    tap.eq([l.split()[0] for l in run(args, ["-ic"], data).split(b"\n")[1:-1]], [b"12"], "one client")
    tap.eq(run(args, ["-hdr", "1:1"], data), b"a b\n" * 8, "captured header")
    tap.eq([l.split()[0] for l in run(args, ["-srv"], data).split(b"\n")[1:-1]],
           [b"raw/s1", b"secure/<NOSRV>", b"secure/s1", b"web/<NOSRV>", b"web/s1"], "servers")
    check_all(tap, args, texts, "real")


def in_common_format(text):
    """The same line as "option httplog clf", or tcplog clf, has it; None: it is cut, or has captures."""
    m = re.fullmatch(rb'(?P<head>.*? )?(?P<client>[^ ]+):(?P<port>\d+) \[(?P<date>[^.\]]*)\.(?P<ms>\d{3})\] (?P<fe>[^ ]+) '
                     rb'(?P<be>[^/ ]+)/(?P<srv>[^ ]+) (?P<timers>[-\d/]+) (?:(?P<status>-?\d+) )?\+?(?P<bytes>\d+) (?:(?P<cc>\S+) '
                     rb'(?P<sc>\S+) )?(?P<state>\S+) (?P<conns>[\d/]+) (?P<queues>\d+/\d+)(?: "(?P<request>[^"]*)")?', text)
    if not m:
        return None
    f = {k: v or b"" for k, v in m.groupdict().items()}
    timers = f["timers"].split(b"/")
    if f["request"]:
        request, status, state = f["request"], f["status"], f["state"]
    else:
        request, status, state = b"TCP ", b"000", f["state"] + b"--"
        timers = [b"0"] + timers + [b"29"]
    zone = time.strftime("%z", time.strptime(f["date"].decode(), "%d/%b/%Y:%H:%M:%S")).encode() or b"+0000"
    return b'%s%s - - [%s %s] "%s" %s %s "" "" %s %s "%s" "%s" "%s" %s %s %s %s "" "" ' % (
        f["head"], f["client"], f["date"], zone, request, status, f["bytes"], f["port"], f["ms"], f["fe"], f["be"], f["srv"],
        b" ".join(timers), state, f["conns"].replace(b"/", b" "), f["queues"].replace(b"/", b" "))


def common_format(tap, args):
    """Lines with "clf": every report and filter tells the same as of the usual format."""
    line = b'Feb  6 12:14:14 lb haproxy[1]: 10.0.0.%d:5%d [06/Feb/2026:12:14:%02d.655] fe be/s%d %s 1/1/1/1/%d %d/%d%s\n'
    rng = random.Random(7)
    texts = []
    for i in range(400):
        queues = (rng.randrange(3), rng.randrange(3), rng.randrange(2))
        if i % 4:
            status = rng.choice((200, 304, 404, 500, 503, -1))
            rest = b"%d/0/%d/%d/%d %d %d - - %s" % (rng.randrange(9), rng.randrange(5), rng.choice((-1, 3, 700)), rng.randrange(900),
                                                    status, rng.randrange(9999), rng.choice((b"----", b"SH--", b"CD--", b"--VN")))
            tail = b' "GET /%d?q=%d HTTP/1.1"' % (rng.randrange(20), i)
        else:
            rest = b"%d/%d/%d %d %s" % (rng.randrange(9), rng.randrange(9), rng.randrange(900), rng.randrange(9999),
                                        rng.choice((b"--", b"SC", b"cD")))
            tail = b""
        texts.append((line % ((rng.randrange(5), i, i % 60, rng.randrange(4), rest) + queues + (tail,)))[:-1])
    clf = [in_common_format(t) for t in texts]
    tap.ok(all(clf), "all lines can be told in common format")
    data, other = (b"".join(t + b"\n" for t in lines) for lines in (texts, clf))
    middle = int(time.mktime((2026, 2, 6, 12, 14, 30, 0, 0, -1)))
    for options in (["-H"], ["-e"], ["-E"], ["-Q"], ["-QS"], ["-rt", "100"], ["-RT", "100"], ["-hs", "500:"], ["-HS", "404"],
                    ["-tcn", "S"], ["-time", "%d:" % middle], ["-time", ":%d" % middle]):
        a, b = (int(run(args, ["-c"] + options, d)) for d in (data, other))
        tap.ok(a == b and 0 < a < 400, "common format: %s" % " ".join(options), "%d and %d" % (a, b))
    for options in (["-u"], ["-uc"], ["-ubt"], ["-u", "-qry"], ["-ic"], ["-srv"], ["-st"], ["-tc"], ["-cc"], ["-pct"], ["-gt"],
                    ["-ad", "500"]):
        a, b = (run(args, options, d) for d in (data, other))
        tap.ok(a == b and a.count(b"\n") > 1, "common format: %s" % " ".join(options), "%r\n%r" % (a[:400], b[:400]))
    cut = b"".join(t[:rng.randrange(len(t))] + b"\n" for t in clf)
    tap.ok(int(run(args, ["-q", "-c"], cut)) == 400, "common format: cut lines are counted")
    run(args, ["-q", "-u"], cut)


def main():
    args = lib.arguments(__doc__, ("halog", "", "the program to test; default: beside --program, else ./halog"))
    beside = os.path.join(os.path.dirname(args.program), "halog")
    args.halog = args.halog or os.environ.get("HALOG_PROGRAM") or (beside if os.access(beside, os.X_OK) else "./halog")
    args.halog = os.path.abspath(args.halog)
    tap = lib.Tap()
    command_line(tap, args)
    common_format(tap, args)
    texts = [l.encode() for l in logs(4000, 1)]
    check_all(tap, args, texts, "made")
    check_activity(tap, args, b"".join(t + b"\n" for t in texts), [Line(t) for t in texts], "made")
    check_all(tap, args, [l.encode() for l in logs(200, 2)] + list(odd_lines()), "odd")
    real_lines(tap, args)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
