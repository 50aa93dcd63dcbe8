#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Health checks and agents against servers that misbehave: answers without end, byte by byte, before
being asked, garbage, and none at all; many servers at once; programs; reloads. Each server must end
in the state that its behaviour deserves, and the process must go on."""
import csv
import os
import signal
import socket
import struct
import tempfile
import time

import lib

CONF = """%s
defaults
	mode http
	timeout connect 2s
	timeout client 5s
	timeout server 5s
frontend fe
	bind 127.0.0.1:%d
%s"""


def say(data, after=b""):
    """Waits for <after>, says <data> and closes."""
    def behave(c):
        got = b""
        while after not in got:
            part = c.recv(4096)
            if not part:
                return
            got += part
        c.sendall(data)
    return behave


def endless(piece, after=b""):
    def behave(c):
        if after:
            say(b"", after)(c)
        while True:
            c.sendall(piece)
    return behave


def dribble(data):
    def behave(c):
        for i in range(len(data)):
            c.sendall(data[i:i + 1])
            time.sleep(0.002)
        c.recv(1000)
    return behave


def silent(c):
    while c.recv(4096):
        pass


def reset(c):
    c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


class Running(lib.Proxy):
    """The program on some backends."""

    def __init__(self, program, conf, glob=""):
        super().__init__(program, CONF % (glob, lib.ports(1)[0], conf))

    def rows(self):
        lines = self.ctl("show stat").strip().split("\n")
        names = lines[0].lstrip("# ").split(",")
        return {(r[0], r[1]): dict(zip(names, r)) for r in csv.reader(lines[1:])}

    def wait(self, backend, field, want):
        """Waits until a column of server s has one of the values <want>; returns the last value."""
        end = time.monotonic() + lib.PATIENCE
        while True:
            got = self.rows().get((backend, "s"), {}).get(field, "no row").lstrip("* ")
            if got in want or time.monotonic() > end:
                return got
            time.sleep(0.02)


# name: lines of the backend, behaviour, statuses that it may end in
HOSTILE = {
    "http_endless_head": (["option httpchk"], endless(b"x-a: b\r\n" * 100), ["SOCKERR"]),
    "http_endless_head2": (["option httpchk"],
                           lambda c: (c.sendall(b"HTTP/1.1 200 OK\r\n"),
                                      endless(b"x-a: b\r\n" * 100)(c)), ["SOCKERR"]),
    "http_endless_body": (["option httpchk", "http-check expect string never"],
                          lambda c: (c.sendall(b"HTTP/1.1 200 OK\r\n\r\n"), endless(b"a" * 999)(c)),
                          ["L7RSP"]),
    "http_endless_chunks": (["option httpchk", "http-check expect string never"],
                            lambda c: (c.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked"
                                                 b"\r\n\r\n"), endless(b"1\r\na\r\n")(c)),
                            ["L7RSP"]),
    "http_huge_chunk": (["option httpchk", "http-check expect string never"],
                        say(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffff\r\n",
                            b"\r\n\r\n"), ["SOCKERR", "L7RSP"]),
    "http_bad_status": (["option httpchk"], say(b"HTTP/1.1 2x0 OK\r\n\r\n", b"\r\n\r\n"),
                        ["SOCKERR"]),
    "http_truncated_head": (["option httpchk"], say(b"HTTP/1.1 200 O", b"\r\n\r\n"), ["SOCKERR"]),
    "http_reset": (["option httpchk"], reset, ["SOCKERR", "L4CON"]),
    "http_before_asked": (["option httpchk"], say(b"HTTP/1.1 200 OK\r\n\r\n"), ["L7OK", "SOCKERR"]),
    "http_byte_by_byte": (["option httpchk", "timeout check 5s"],
                          dribble(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), ["L7OK"]),
    "http_silent": (["option httpchk"], silent, ["L7TOUT"]),
    "tcp_endless": (["option tcp-check", "tcp-check expect string never"], endless(b"a" * 999),
                    ["L7RSP"]),
    "tcp_endless_regex": (["option tcp-check", "tcp-check expect rstring (a+)+$"],
                          endless(b"a" * 999 + b"b"), ["L7RSP"]),
    "tcp_rbinary_byte_by_byte": (["option tcp-check", "tcp-check expect rbinary 6162$",
                                  "timeout check 5s"], dribble(b"x" * 50 + b"ab"), ["L7OK"]),
    "redis_garbage": (["option redis-check"], endless(b"\0\1\2" * 300), ["L7STS"]),
    "smtp_endless": (["option smtpchk"], endless(b"220-" + b"a" * 100 + b"\r\n"),
                     ["L7RSP", "L7STS", "L7OK", "L7TOUT"]),
    "smtp_garbage": (["option smtpchk"], say(b"2\0\0\0\r\n"), ["L7RSP"]),
    "mysql_garbage": (["option mysql-check user a"], say(b"\xff" * 200), ["L7RSP"]),
    "mysql_short": (["option mysql-check user a"], say(b"\x05\0\0\0\xff"), ["L7RSP"]),
    "mysql_empty_packet": (["option mysql-check user a"], say(b"\0\0\0\0"), ["L7RSP"]),
    "pgsql_garbage": (["option pgsql-check user a"], say(b"E" * 300, b"\0"), ["L7RSP", "L7STS"]),
    "ldap_garbage": (["option ldap-check"], say(b"\x30\x84\xff\xff\xff\xff" * 20, b"\x80"),
                     ["L7RSP"]),
    "ldap_short": (["option ldap-check"], say(b"\x30\x0c\x02\x01\x01", b"\x80"), ["L7RSP"]),
    "ssl_nothing": (["option ssl-hello-chk"], say(b"", b"\x16"), ["L6RSP"]),
}

# name: line of the agent, what it must not or must have changed
AGENTS = {
    "a_endless": (endless(b"up " * 100), {"weight": "10", "status": "no check"}),
    "a_long_words": (say(b"x" * 5000 + b"\n"), {"weight": "10", "status": "no check"}),
    "a_binary": (say(bytes(range(1, 10)) + b"\xff\xfe%%%\n"), {"status": "no check"}),
    "a_numbers": (say(b"weight:-1 maxconn:99999999999999999999 257% -5%\n"),
                  {"status": "no check"}),
    "a_good_in_garbage": (say(b"what,,, weight:3 \t ?? up\r\n"), {"weight": "3"}),
    "a_silent": (silent, {"weight": "10", "status": "no check"}),
    "a_reset": (reset, {"weight": "10", "status": "no check"}),
}


def test_hostile(tap, program):
    conf = ""
    for name, (lines, behave, _) in HOSTILE.items():
        conf += "backend %s\n" % name + "".join("  %s\n" % x for x in lines)
        conf += "  server s 127.0.0.1:%d check inter 300ms rise 1 fall 1\n" % lib.Server(behave).port
    good = lib.Server(say(b"")).port
    for name, (behave, _) in AGENTS.items():
        conf += "backend %s\n  server s 127.0.0.1:%d weight 10 agent-check agent-inter 800ms " \
                "agent-port %d agent-send hello\n" % (name, good, lib.Server(behave).port)
    with Running(program, conf) as p:
        for name, (_, _, want) in HOSTILE.items():
            got = p.wait(name, "check_status", want)
            tap.ok(got in want, "check: " + name.replace("_", " "), "%s, not %s" % (got, want))
        for name, (_, want) in AGENTS.items():
            for field, value in want.items():
                got = p.wait(name, field, [value])
                tap.eq(got, value, "agent: %s: %s" % (name.replace("_", " "), field))
        tap.eq(p.stop(signal.SIGUSR1), 0, "hostile servers: the process ends well")


def test_many(tap, program):
    """Half of the servers refuse; all must be known after a moment, whatever the thread."""
    port = lib.Server(say(b"")).port
    conf = "backend be\n"
    for i in range(300):
        conf += "  server s%d 127.0.0.1:%d check inter 1s rise 1 fall 1\n" % (
            i, port if i % 2 else 1)
    with Running(program, conf, "  tune.max-checks-per-thread 20\n  spread-checks 20\n") as p:
        end = time.monotonic() + lib.PATIENCE
        while True:
            rows = p.rows()
            wrong = [k for k, r in rows.items() if k[0] == "be" and k[1][0] == "s" and
                     (r["status"] != ("UP" if int(k[1][1:]) % 2 else "DOWN"))]
            if not wrong or time.monotonic() > end:
                break
            time.sleep(0.1)
        tap.ok(not wrong, "300 servers are known", wrong[:5])
        tap.eq(rows[("be", "BACKEND")]["act"], "150", "and the backend counts those that are up")
        tap.eq(p.stop(signal.SIGUSR1), 0, "300 servers: the process ends well")


def test_external(tap, program):
    scripts = {"good": "test -n \"$HAPROXY_SERVER_NAME\" -a \"$3\" = 127.0.0.1", "bad": "exit 3",
               "slow": "sleep 30"}
    with tempfile.TemporaryDirectory() as tmp:
        for name, text in scripts.items():
            path = os.path.join(tmp, name)
            with open(path, "w") as f:
                f.write("#!/bin/sh\n%s\n" % text)
            os.chmod(path, 0o755)
        conf = ""
        for name in ("good", "bad", "slow", "missing"):
            conf += "backend %s\n  option external-check\n  external-check path /usr/bin:/bin\n" \
                    "  external-check command %s/%s\n" \
                    "  server s 127.0.0.1:1 check inter 400ms rise 1 fall 1\n" % (name, tmp, name)
        with Running(program, conf, "  external-check\n  insecure-fork-wanted\n") as p:
            for name, want in (("good", ["PROCOK"]), ("bad", ["PROCERR"]), ("slow", ["PROCTOUT"]),
                               ("missing", ["PROCERR", "SOCKERR"])):
                got = p.wait(name, "check_status", want)
                tap.ok(got in want, "program: " + name, got)
            tap.eq(p.wait("good", "status", ["UP"]), "UP", "a program that passes: UP")
            tap.eq(p.wait("bad", "status", ["DOWN"]), "DOWN", "a program that fails: DOWN")
            tap.eq(p.stop(signal.SIGUSR1), 0, "programs: the process ends well")


def smtp_server(mails):
    """A mail server that keeps what it was told, a text for each mail."""
    def smtp(c):
        lines, in_mail = [], False
        f = c.makefile("rwb", buffering=0)
        f.write(b"220-hello\r\n220 mail\r\n")
        for line in f:
            lines.append(line)
            if in_mail:
                if line == b".\r\n":
                    in_mail = False
                    f.write(b"250 queued\r\n")
            elif line.startswith(b"DATA"):
                in_mail = True
                f.write(b"354 go on\r\n")
            elif line.startswith(b"QUIT"):
                mails.append(b"".join(lines))
                f.write(b"221 bye\r\n")
                return
            else:
                f.write(b"250 ok\r\n")
    return lib.Server(smtp)


def test_mail(tap, program):
    """A server goes down: each mailer gets the mail; one that answers nonsense does no harm."""
    mails = []
    conf = """mailers m
	timeout mail 5s
	mailer one 127.0.0.1:%d
	mailer bad 127.0.0.1:%d
	mailer none 127.0.0.1:1
	mailer two 127.0.0.1:%d
backend be
	email-alert mailers m
	email-alert from a@from.test
	email-alert to b@to.test
	email-alert myhostname me.test
	server s 127.0.0.1:1 check inter 300ms
""" % (smtp_server(mails).port, lib.Server(say(b"nonsense\r\n")).port, smtp_server(mails).port)
    with Running(program, conf) as p:
        lib.until(lambda: len(mails) >= 2)
        tap.eq(len(mails), 2, "two mailers take a mail each")
        want = [b"HELO me.test\r\nMAIL FROM:<a@from.test>\r\nRCPT TO:<b@to.test>\r\nDATA\r\n",
                b"From: a@from.test\r\nTo: b@to.test\r\nDate: ",
                b"\r\nSubject: [HAProxy Alert] Server be/s is DOWN, reason: Layer4 connection problem",
                b"\r\n\r\nServer be/s is DOWN, reason: ", b"\r\n.\r\nQUIT\r\n"]
        for part in want:
            tap.ok(mails and all(part in m for m in mails), "mail: %r" % part[:40], mails[:1])
        tap.eq(p.stop(signal.SIGUSR1), 0, "mails: the process ends well")


def test_mail_levels(tap, program):
    """email-alert level: what is worth a mail; by default what is as bad as an alert. The name is the machine's."""
    if lib.is_reference(program):
        tap.skip("levels of mails", "it sends mails by a script only")
        return
    levels = {"usual": "", "emerg": "email-alert level emerg", "alert": "email-alert level alert", "notice": "email-alert level notice",
              "info": "email-alert level info\n\toption log-health-checks"}
    mails = {name: [] for name in levels}
    conf = ""
    for name, line in levels.items():
        conf += "mailers m%s\n\tmailer a 127.0.0.1:%d\nbackend %s\n\temail-alert mailers m%s\n\temail-alert from a@x\n" \
                "\temail-alert to b@x\n\t%s\n\tserver down 127.0.0.1:1 check inter 100ms\n\tserver drained 127.0.0.1:1\n" % (
                    name, smtp_server(mails[name]).port, name, name, line)
    with Running(program, conf) as p:
        tap.ok(lib.until(lambda: all(any(b"is DOWN" in m for m in mails[n]) for n in levels if n != "emerg")), "level: DOWN is an alert", mails)
        for name in levels:
            p.ctl("set server %s/drained state drain" % name)
        drained = lib.until(lambda: all(any(b"drained" in m for m in mails[n]) for n in ("notice", "info")))
        tap.ok(drained, "level notice and info: entering drain is a notice", mails)
        tap.ok(any(b"Health check for server info/down failed" in m for m in mails["info"]), "level info: of checks", mails["info"])
        tap.ok(not any(b"Health check" in m for m in mails["notice"]), "level notice: not of checks", mails["notice"])
        tap.ok(not any(b"drained" in m for n in ("usual", "alert") for m in mails[n]), "level alert, and by default: no notice", mails)
        tap.eq(mails["emerg"], [], "level emerg: nothing")
        tap.ok(all(m.startswith(b"HELO %s\r\n" % socket.gethostname().encode()) for m in mails["usual"]), "no myhostname", mails["usual"])


def main():
    args = lib.arguments(__doc__)
    tap = lib.Tap()
    test_hostile(tap, args.program)
    test_many(tap, args.program)
    test_external(tap, args.program)
    test_mail(tap, args.program)
    test_mail_levels(tap, args.program)
    tap.done()


lib.guarded(main)
