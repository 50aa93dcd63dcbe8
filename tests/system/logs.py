#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Log targets and formats: each syslog header to UDP and to stdout, UNIX sockets, descriptors,
several targets, ranges of levels, samples. Manual: configuration 4.2, `log global` and the lines
behind it.
"""
import contextlib
import os
import re
import socket
import tempfile
import threading

import lib

BASE = """
defaults
	mode http
	timeout client 5s
	timeout connect 1s
	timeout server 1s
"""
DAY = r"[A-Z][a-z][a-z] [ 1-3]\d \d\d:\d\d:\d\d"
ISO = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}[+-]\d\d:\d\d"
FORMATS = (
    ("local", r"^<134>%s haproxy\[\d+\]: hello local$" % DAY),
    ("rfc3164", r"^<134>%s \S+ haproxy\[\d+\]: hello rfc3164$" % DAY),
    ("rfc5424", r"^<134>1 %s \S+ haproxy \d+ - - hello rfc5424$" % ISO),
    ("priority", r"^<134>hello priority$"),
    ("short", r"^<6>hello short$"),
    ("timed", r"^<6>%s hello timed$" % ISO),
    ("iso", r"^%s hello iso$" % ISO),
    ("raw", r"^hello raw$"),
)


def get(port, path="/"):
    s = lib.connect(port)
    s.sendall(b"GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n" % path.encode())
    got = lib.Reader(s).response()
    s.close()
    return got and got[0]


def frontend(name, port, lines):
    return "frontend %s\n%s\tbind 127.0.0.1:%d\n\thttp-request return status 200\n" % (
        name, "".join("\t%s\n" % l for l in lines), port)


def formats(tap, args):
    ports = lib.ports(len(FORMATS))
    targets = [lib.Syslog() for _ in FORMATS]
    conf = BASE
    for (name, _), port, target in zip(FORMATS, ports, targets):
        conf += frontend(name, port, ["log stdout format %s local0" % name,
                                      "log 127.0.0.1:%d format %s local0" % (target.port, name),
                                      'log-format "hello %s"' % name])
    with lib.Proxy(args.program, conf) as p:
        for (name, pattern), port, target in zip(FORMATS, ports, targets):
            tap.eq(get(port), 200, name + ": served")
            tap.ok(target.find(pattern), name + " to UDP", target.lines)
            found = lib.until(lambda: any(re.search(pattern, l) for l in p.output().split("\n")))
            tap.ok(found, name + " to stdout", p.output())


def unix_socket(tap, args):
    with tempfile.TemporaryDirectory(prefix="hapt.") as folder:
        path = os.path.join(folder, "log")
        s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        s.bind(path)
        s.settimeout(lib.PATIENCE)
        port = lib.ports(1)[0]
        conf = BASE + frontend("f", port, ["log %s local3" % path, "log-format hello"])
        with lib.Proxy(args.program, conf):
            get(port)
            line = s.recv(4096).decode("latin-1")
            pattern = r"^<158>%s haproxy\[\d+\]: hello\n?$" % DAY
            tap.ok(re.match(pattern, line), "UNIX socket, facility local3", repr(line))
        s.close()


def descriptor(tap, args):
    r, w = os.pipe()
    port = lib.ports(1)[0]
    conf = BASE + frontend("f", port, ["log fd@%d format raw local0" % w, "log-format hello"])
    with lib.Proxy(args.program, conf, pass_fds=(w,)):
        get(port)
        tap.eq(os.read(r, 100), b"hello\n", "fd@: one line")
    os.close(r)
    os.close(w)


def targets(tap, args):
    """Several targets; one takes only a range of levels; one takes every second line."""
    one, two, three = lib.Syslog(), lib.Syslog(), lib.Syslog()
    port = lib.ports(1)[0]
    conf = BASE + """frontend f
	log 127.0.0.1:%d local0
	log 127.0.0.1:%d local0 err
	log 127.0.0.1:%d sample 2:2 local0
	option httplog
	option log-separate-errors
	bind 127.0.0.1:%d
	http-request deny deny_status 500 if { path /bad }
	http-request return status 200
""" % (one.port, two.port, three.port, port)
    with lib.Proxy(args.program, conf):
        for path in ("/1", "/bad", "/3", "/4"):
            get(port, path)
        tap.ok(one.wait(lambda l: sum(1 for x in l if '"GET /' in x) == 4), "all lines", one.lines)
        tap.ok(two.find(r"^<131>.*GET /bad "), "level err and above", two.lines)
        tap.ok(not any("GET /1 " in l for l in two.lines), "no line of a lower level", two.lines)
        tap.ok(three.wait(lambda l: any("GET /4 " in x for x in l)), "sample 2:2 takes the second",
               three.lines)
        tap.eq(sum(1 for l in three.lines if '"GET /' in l), 2, "sample 2:2 takes half")


def several_threads(tap, args):
    """Lines of several threads to one file are never mixed."""
    port = lib.ports(1)[0]
    conf = "\tnbthread 4\n" + BASE + frontend("f", port, ["log stdout format raw local0",
                                                        'log-format "<%HP>"'])
    with lib.Proxy(args.program, conf) as p:
        def client(k):
            s = lib.connect(port)
            r = lib.Reader(s)
            for i in range(100):
                s.sendall(b"GET /%d-%d HTTP/1.1\r\nHost: x\r\n\r\n" % (k, i))
                r.response()
            s.close()

        crowd = [threading.Thread(target=client, args=(k,)) for k in range(8)]
        for t in crowd:
            t.start()
        for t in crowd:
            t.join()
        lost = int(p.info()["DroppedLogs"])
        def whole():
            return [l for l in p.output().split("\n")[:-1] if l.startswith("<")]

        lib.until(lambda: len(whole()) + lost >= 800)
        lines = whole()
        tap.ok(all(re.match(r"^</\d+-\d+>$", l) for l in lines), "lines are whole",
               [l for l in lines if not re.match(r"^</\d+-\d+>$", l)][:5])
        tap.ok(len(set(lines)) == len(lines) and len(lines) + lost == 800,
               "each request once, or counted in DroppedLogs", (len(lines), lost))


def standard_port(tap, args):
    """log global takes the targets of the section global; an address without a port is that of syslog, 514. One program for
    each: the reference sends to one family of addresses only."""
    for family, address, target in ((socket.AF_INET, "127.0.0.77", "127.0.0.77"), (socket.AF_INET6, "::1", "::1:")):
        with socket.socket(family, socket.SOCK_DGRAM) as sock:
            sock.settimeout(lib.PATIENCE)
            try:
                sock.bind((address, 514))
            except OSError as e:
                tap.skip("port 514", "%s: %s" % (address, e))
                continue
            port = lib.ports(1)[0]
            head = "global\n\tlog %s format raw local0\n" % target
            with lib.Proxy(args.program, head + BASE + frontend("f", port, ["log global", 'log-format "line %HU"'])):
                tap.eq(get(port, "/514"), 200, "log global: served")
                tap.ok(b"line /514" in sock.recv(4096), "log %s without a port goes to 514" % target)


def main():
    args = lib.arguments(__doc__)
    tap = lib.Tap()
    tap.run((formats, unix_socket, descriptor, targets, standard_port, several_threads), args)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
