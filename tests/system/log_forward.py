#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""log-forward: messages of RFC 3164, RFC 5424 and neither, as datagrams and in both framings of
streams, come out in the form that each target asks for; what is no frame ends its connection only.
"""
import re
import socket
import time

import lib

FORMATS = ("", "rfc5424", "rfc3164", "raw", "local", "timed", "short", "priority", "iso")

CONF = """log-forward lf
	dgram-bind 127.0.0.1:{udp}
	bind 127.0.0.1:{tcp}
	maxconn {maxconn}
	timeout client 5s
{options}
{targets}
"""

NOW3164 = r"[A-Z][a-z][a-z] [ 0-9][0-9] [0-9:]{8}"
NOW = r"20[0-9-]{8}T[0-9:.]{15}[+-][0-9:]{5}"
YEAR = time.strftime("%Y")

BSD = "<13>Nov 21 04:00:01 myhost app[12]: hello world"
IETF = ("<165>1 2003-10-11T22:14:15.003Z mymachine.example.com evntslog 77 ID47 "
        "[exampleSDID@32473 iut=\"3\"] BOMAn event")
PLAIN = "hello no pri"

WANTED = {
    BSD: {
        "": re.escape(BSD), "rfc3164": re.escape(BSD), "raw": "hello world",
        "rfc5424": "<13>1 %s-11-21T04:00:01-00:00 myhost app 12 - - hello world" % YEAR,
        "local": re.escape("<13>Nov 21 04:00:01 app[12]: hello world"),
        "timed": "<5>%s-11-21T04:00:01-00:00 hello world" % YEAR, "short": "<5>hello world",
        "priority": "<13>hello world", "iso": "%s-11-21T04:00:01-00:00 hello world" % YEAR},
    IETF: {
        "": re.escape(IETF), "rfc5424": re.escape(IETF), "raw": "BOMAn event",
        "rfc3164": re.escape("<165>Oct 11 22:14:15 mymachine.example.com evntslog[77]: "
                             "BOMAn event"),
        "local": re.escape("<165>Oct 11 22:14:15 evntslog[77]: BOMAn event"),
        "timed": re.escape("<5>2003-10-11T22:14:15.003Z BOMAn event"),
        "short": "<5>BOMAn event", "priority": "<165>BOMAn event",
        "iso": re.escape("2003-10-11T22:14:15.003Z BOMAn event")},
    PLAIN: {
        "": "<128>%s 127.0.0.1 hello no pri" % NOW3164,
        "rfc3164": "<128>%s 127.0.0.1 hello no pri" % NOW3164, "raw": "hello no pri",
        "rfc5424": "<128>1 %s 127.0.0.1 - - - - hello no pri" % NOW,
        "local": "<128>%s hello no pri" % NOW3164, "timed": "<0>%s hello no pri" % NOW,
        "short": "<0>hello no pri", "priority": "<128>hello no pri",
        "iso": "%s hello no pri" % NOW},
}


class Target:
    """A UDP log server."""

    def __init__(self):
        self.sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.sock.bind(("127.0.0.1", 0))
        self.sock.settimeout(lib.PATIENCE)
        self.port = self.sock.getsockname()[1]

    def next(self):
        try:
            return self.sock.recv(65536).decode("latin-1")
        except socket.timeout:
            return None

    def is_quiet(self):
        self.sock.settimeout(0.05)
        try:
            return not self.sock.recv(65536)
        except socket.timeout:
            return True
        finally:
            self.sock.settimeout(lib.PATIENCE)


class Forward:
    """The program with one section and a target per format."""

    def __init__(self, program, options="", formats=FORMATS, maxconn=10):
        self.targets = {f: Target() for f in formats}
        self.udp, self.tcp = lib.ports(2)
        lines = ["\tlog 127.0.0.1:%d len 4096 %s local0" % (t.port, "format " + f if f else "")
                 for f, t in self.targets.items()]
        self.proxy = lib.Proxy(program, CONF.format(
            udp=self.udp, tcp=self.tcp, options=options, maxconn=maxconn,
            targets="\n".join(lines)))
        self.sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)

    def datagram(self, text):
        self.sender.sendto(text.encode("latin-1"), ("127.0.0.1", self.udp))

    def stream(self, text):
        """Sends on a new connection; returns what it answers: b"" when it was closed."""
        s = lib.connect(self.tcp)
        try:
            s.sendall(text.encode("latin-1"))
            s.shutdown(socket.SHUT_WR)
            return lib.recv_all(s)
        except OSError:
            return b"" # it was closed before all was sent
        finally:
            s.close()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.proxy.__exit__()


def every_form(tap, program):
    with Forward(program) as f:
        for text, wanted in WANTED.items():
            f.datagram(text)
            for name, target in f.targets.items():
                got = target.next()
                tap.ok(got and re.fullmatch(wanted[name] + "\n", got),
                       "%.20s as %s" % (text, name or "it is"), got)
        f.datagram("")
        f.datagram("<13>")
        f.datagram("<13>after\n")
        got = f.targets["raw"].next()
        tap.eq(got, "after\n", "empty messages are none")


def framings(tap, program):
    with Forward(program, formats=("raw",)) as f:
        target = f.targets["raw"]
        f.stream("%d %s" % (len(BSD), BSD) + "5 <13>a7 <13>bcd")
        tap.eq([target.next() for _ in range(3)], ["hello world\n", "a\n", "bcd\n"],
               "octet counting")
        f.stream(BSD + "\n<13>x\n")
        tap.eq([target.next() for _ in range(2)], ["hello world\n", "x\n"], "lines")
        f.stream("5 <13>a<13>b\n5 <13>c")
        tap.eq([target.next() for _ in range(3)], ["a\n", "b\n", "c\n"], "both on one connection")
        s = lib.connect(f.tcp)
        for c in "5 <13>d":
            s.sendall(c.encode())
            time.sleep(0.005)
        tap.eq(target.next(), "d\n", "byte by byte")
        s.close()
        for bad in ("abc\n<13>z\n", "9999999999 x", "12x <13>foo\n", "0 <13>x\n", " <13>x\n"):
            tap.eq(f.stream(bad), b"", "no frame: %r is closed" % bad)
        tap.ok(target.is_quiet(), "and passes nothing on")
        f.stream("<13>end\n")
        tap.eq(target.next(), "end\n", "others go on")
        tap.eq(f.stream("<13>" + "x" * 100000), b"", "a line without end is closed")
        tap.ok(f.proxy.alive(), "the process lives")


def options(tap, program):
    with Forward(program, "\toption assume-rfc6587-ntf", formats=("raw",)) as f:
        f.stream("12 <13>foo\nbar\n")
        got = [f.targets["raw"].next() for _ in range(2)]
        tap.eq(got, ["12 <13>foo\n", "bar\n"], "assume-rfc6587-ntf: all are lines")
    with Forward(program, "\toption dont-parse-log", formats=("raw",)) as f:
        f.datagram(IETF)
        tap.eq(f.targets["raw"].next(), IETF + "\n", "dont-parse-log: as it came")
    named, unnamed = BSD, "<13>no name"
    for how, want, without in (("replace", "127.0.0.1", "127.0.0.1"),
                               ("fill", "myhost", "127.0.0.1"), ("keep", "myhost", "localhost"),
                               ("append", "myhost,127.0.0.1", "127.0.0.1")):
        with Forward(program, "\toption host " + how, formats=("rfc3164",)) as f:
            f.datagram(named)
            got = f.targets["rfc3164"].next()
            tap.ok(got and got.split()[3] == want, "host %s of a name" % how, got)
            f.datagram(unnamed)
            got = f.targets["rfc3164"].next()
            tap.ok(got and got.split()[3] == without, "host %s without one" % how, got)


def limits(tap, program):
    with Forward(program, formats=("raw",), maxconn=2) as f:
        held = [lib.connect(f.tcp) for _ in range(2)]
        for n, s in enumerate(held):
            s.sendall(b"<13>first %d\n" % n)
        got = sorted([f.targets["raw"].next(), f.targets["raw"].next()])
        tap.eq(got, ["first 0\n", "first 1\n"], "as many connections as maxconn")
        third = lib.connect(f.tcp)
        third.sendall(b"<13>third\n")
        tap.ok(f.targets["raw"].is_quiet(), "one more waits")
        held[0].close()
        tap.eq(f.targets["raw"].next(), "third\n", "until another leaves")


def levels(tap, program):
    udp, target = lib.ports(1)[0], Target()
    conf = ("log-forward lf\n\tdgram-bind 127.0.0.1:%d\n\tlog 127.0.0.1:%d format priority local0 "
            "notice err\n" % (udp, target.port))
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with lib.Proxy(program, conf):
        for text in (b"<15>debug", b"<8>emergency", b"<13>notice"):
            sender.sendto(text, ("127.0.0.1", udp))
        tap.eq([target.next(), target.next()], ["<11>emergency\n", "<13>notice\n"],
               "levels above the greatest are not passed on, the least is applied")


def reload(tap, program):
    with Forward(program, formats=("raw",)) as f:
        held = lib.connect(f.tcp)
        held.sendall(b"<13>before\n")
        tap.eq(f.targets["raw"].next(), "before\n", "before a reload")
        f.proxy.ctl("reload")
        held.sendall(b"<13>kept\n")
        tap.eq(f.targets["raw"].next(), "kept\n", "a connection goes on across it")
        for n in range(5):
            f.datagram("<13>datagram")
            tap.eq(f.targets["raw"].next(), "datagram\n", "datagrams come in after it")
        f.stream("<13>stream\n")
        tap.eq(f.targets["raw"].next(), "stream\n", "connections, too")


def threads(tap, program):
    """Several inputs and connections on four threads, and a reload meanwhile: all comes out, each sender's in its order."""
    ours = not lib.is_reference(program)
    target, ports, tcp = Target(), lib.ports(4), lib.ports(1)[0]
    target.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
    conf = ("\tnbthread 4\nlog-forward lf\n\tmaxconn 20\n\tbind 127.0.0.1:%d\n\tlog 127.0.0.1:%d format raw local0\n"
            % (tcp, target.port)) + "".join("\tdgram-bind 127.0.0.1:%d\n" % p for p in ports)
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with lib.Proxy(program, conf) as proxy:
        conns = [lib.connect(tcp) for _ in range(8)]
        want = []
        for turn in range(3):
            for n in range(40):
                for i, p in enumerate(ports):
                    sender.sendto(b"<13>udp%d %d" % (i, 100 * turn + n), ("127.0.0.1", p))
                    want.append("udp%d %d\n" % (i, 100 * turn + n))
                for i, s in enumerate(conns):
                    s.sendall(b"<13>tcp%d %d\n" % (i, 100 * turn + n))
                    want.append("tcp%d %d\n" % (i, 100 * turn + n))
            got = [target.next() for _ in range(12 * 40)]
            tap.eq(sorted(str(m) for m in got), sorted(want), "four threads: all messages come out")
            for who in sorted({m.split()[0] for m in want}) if ours else []:
                numbers = [int(m.split()[1]) for m in got if m and m.split()[0] == who]
                tap.ok(numbers == sorted(numbers), "those of %s in their order" % who, numbers)
            want.clear()
            if ours and turn < 2:
                tap.ok("Success" in proxy.ctl("reload"), "a reload")
                conns += [lib.connect(tcp)]
                conns.pop(0).close()
        for s in conns:
            s.close()
        tap.ok(proxy.alive(), "the process lives")


def main():
    args = lib.arguments(__doc__)
    tap = lib.Tap()
    every_form(tap, args.program)
    framings(tap, args.program)
    options(tap, args.program)
    limits(tap, args.program)
    levels(tap, args.program)
    threads(tap, args.program)
    if not lib.is_reference(args.program):
        reload(tap, args.program)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
