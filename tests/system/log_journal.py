#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Lines for systemd's journal (`log journal`, an extension): the fields of its native protocol, of texts with line ends, of JSON
objects; lines of others; what is refused. A socket of the test stands for the journal's; where there is systemd-journald and
namespaces can be made (root), the journal itself is asked as well: --journald.

differs: log-journal
"""
import json
import os
import shutil
import socket
import struct
import subprocess
import tempfile

import lib

CONF = """
global
	log journal@%(path)s daemon notice
defaults
	mode http
	timeout connect 5s
	timeout client 10s
	timeout server 10s
frontend fe
	bind 127.0.0.1:%(port)d
	log journal@%(path)s local3
	log-tag web
	%(form)s
	capture request header x-n len 400
	http-request return status 204
%(more)s
"""
FORWARD = """
log-forward others
	dgram-bind 127.0.0.1:%d
	log journal@%s local0
"""


def fields(data):
    """{name: bytes} of a datagram."""
    out = {}
    while data:
        line, _, rest = data.partition(b"\n")
        name, equals, value = line.partition(b"=")
        if not equals:
            size, = struct.unpack("<Q", rest[:8])
            value, rest = rest[8:8 + size], rest[9 + size:]
        out[name.decode()] = value
        data = rest
    return out


class Journal:
    def __init__(self):
        self.dir = tempfile.mkdtemp(prefix="haj.")
        self.path = self.dir + "/socket"
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.sock.bind(self.path)
        self.sock.settimeout(lib.PATIENCE)

    def next(self):
        return fields(self.sock.recv(1 << 18))

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.sock.close()
        shutil.rmtree(self.dir)


def ask(port, n, value):
    with lib.connect(port) as s:
        s.sendall(b"GET /n%d HTTP/1.1\r\nHost: h\r\nX-N: %s\r\nConnection: close\r\n\r\n" % (n, value))
        return lib.Reader(s).response()


def test_lines(tap, args):
    with Journal() as j:
        port = lib.ports(1)[0]
        with lib.Proxy(args.program, CONF % {"port": port, "path": j.path, "form": "option httplog", "more": ""}):
            ask(port, 1, b"x")
            got = j.next()
            while b"GET /n1" not in got["MESSAGE"]:
                got = j.next()
            tap.ok(got.pop("MESSAGE").endswith(b'"GET /n1 HTTP/1.1"'), "a line is its text, without a header")
            tap.ok(got.pop("SYSLOG_PID").isdigit(), "its fields: the process")
            tap.eq(got, {"PRIORITY": b"6", "SYSLOG_FACILITY": b"19", "SYSLOG_IDENTIFIER": b"web"}, "the level, the facility, the tag")


def test_json(tap, args):
    values = [b'"\\', b"\\u0000\\\"}", b"\x7f\x80\xff", b"{}[],:", b"a" * 390, b"%s%n%x", b"x=y"]
    with Journal() as j:
        port = lib.ports(1)[0]
        with lib.Proxy(args.program, CONF % {"port": port, "path": j.path, "form": "option httplog json", "more": ""}):
            good, first = True, None
            for n, v in enumerate(values):
                ask(port, n, v)
                got = j.next()
                while not got["MESSAGE"].startswith(b"{"):
                    got = j.next()
                first = first or got
                text = json.loads(got["MESSAGE"])
                for name, value in text.items():
                    have = got.get("HAPROXY_" + name.upper())
                    want = None if value in (None, "") else str(value).lower() if isinstance(value, bool) else value
                    if isinstance(want, (dict, list)):
                        good = good and json.loads(have) == want
                    elif isinstance(want, str):
                        good = good and have.decode("latin-1") == want
                    else:
                        good = good and have == (None if want is None else b"%d" % want)
                    if not good:
                        tap.ok(False, "field %s" % name, (have, want))
                        return
            tap.ok(good, "members of a JSON object are fields, with hostile values too")
            tap.eq((first["HAPROXY_STATUS"], first["HAPROXY_METHOD"], first["HAPROXY_URI"], first["HAPROXY_FRONTEND"]),
                   (b"204", b"GET", b"/n0", b"fe"), "HAPROXY_STATUS and others")


def test_others(tap, args):
    with Journal() as j:
        port = lib.ports(2)
        more = FORWARD % (port[1], j.path)
        with lib.Proxy(args.program, CONF % {"port": port[0], "path": j.path, "form": "", "more": more}):
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
                s.sendto(b"<29>Nov 22 10:11:12 there cron[42]: it is late", ("127.0.0.1", port[1]))
            got = j.next()
            while got["MESSAGE"] != b"it is late":
                got = j.next()
            tap.eq(got, {"MESSAGE": b"it is late", "PRIORITY": b"5", "SYSLOG_FACILITY": b"3", "SYSLOG_IDENTIFIER": b"cron",
                         "SYSLOG_PID": b"42", "SYSLOG_TIMESTAMP": b"Nov 22 10:11:12", "HAPROXY_HOSTNAME": b"there"},
                   "a line of somebody else keeps what it says of itself")
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
                s.sendto(b"<29>Nov 22 10:11:12 there cron[42]: two\nlines=and\nPRIORITY=0", ("127.0.0.1", port[1]))
            got = j.next()
            tap.eq((got["MESSAGE"], got["PRIORITY"]), (b"two\nlines=and\nPRIORITY=0", b"5"), "line ends make no fields")


def test_lost(tap, args):
    """Nobody listens: traffic goes on."""
    port = lib.ports(1)[0]
    with lib.Proxy(args.program, CONF % {"port": port, "path": "/nowhere/socket", "form": "option httplog", "more": ""}):
        tap.eq([ask(port, n, b"x")[0] for n in range(3)], [204] * 3, "without a journal requests are served")


def test_refused(tap, args):
    for words, text in (("journal@x local0", "expects the path of a socket"), ("journal format raw local0", "'format' means nothing"),
                        ("journal rotate 1k local0", "only files can be rotated"), ("journal", "expects <address> and <facility>")):
        with tempfile.NamedTemporaryFile("w", suffix=".cfg") as f:
            f.write("global\n\tlog %s\nfrontend fe\n\tbind 127.0.0.1:1\n" % words)
            f.flush()
            done = subprocess.run([args.program, "-c", "-f", f.name], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        tap.ok(done.returncode == 1 and text in done.stdout.decode(), "log %s is refused" % words, done.stdout)


JOURNALD = """set -e
mount -t tmpfs none /run; mkdir -p /run/systemd/journal /run/log/journal
/lib/systemd/systemd-journald >/dev/null 2>&1 & journald=$!
trap 'kill $journald' EXIT
for i in 1 2 3 4 5 6 7 8 9 10; do test -S /run/systemd/journal/socket && break; sleep 0.3; done
"$1" -db -f "$2" & proxy=$!
trap 'kill $journald $proxy' EXIT
for i in 1 2 3 4 5 6 7 8 9 10; do "$1" --ask "$3" "show version" >/dev/null 2>&1 && break; sleep 0.3; done
/usr/bin/env python3 -c "import urllib.request; urllib.request.urlopen('http://127.0.0.1:$4/a?b=1')"
for i in 1 2 3 4 5 6 7 8 9 10; do
	journalctl -o json -n 5 HAPROXY_STATUS=204 2>/dev/null | grep . && break; sleep 0.3
done
"""


def test_journald(tap, args):
    """The journal itself, in a namespace of mounts."""
    if not args.journald:
        return
    port = lib.ports(1)[0]
    with tempfile.TemporaryDirectory() as d:
        text = CONF % {"port": port, "path": "", "form": "option httplog json", "more": ""}
        with open(d + "/cfg", "w") as f:
            f.write(text.replace("journal@", "journal").replace("global", "global\n\tstats socket %s/ctl level admin" % d, 1))
        done = subprocess.run(["unshare", "-m", "/bin/sh", "-c", JOURNALD, "sh", args.program, d + "/cfg", d + "/ctl", str(port)],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
    lines = [json.loads(x) for x in done.stdout.splitlines()]
    tap.ok(len(lines) == 1 and lines[0].get("HAPROXY_URI") == "/a?b=1" and lines[0].get("SYSLOG_IDENTIFIER") == "web",
           "journalctl finds the line by its field", (lines, done.stderr))


def main():
    args = lib.arguments(__doc__, ("journald", False, "asks systemd-journald, too"))
    tap = lib.Tap()
    if lib.is_reference(args.program):
        tap.skip("log journal", "an extension")
    else:
        tap.run((test_lines, test_json, test_others, test_lost, test_refused, test_journald), args)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
