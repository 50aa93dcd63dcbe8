#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Listeners that a .vtc cannot make: port ranges, IPv6, both families, abstract and UNIX sockets,
several threads, limits of rates; and the addresses of servers: ranges, offsets, families.
"""
import os
import pwd
import shutil
import socket
import tempfile

import lib

BASE = """
defaults
	mode http
	timeout connect 5s
	timeout client 5s
	timeout server 5s
"""


def ask(target, timeout=lib.PATIENCE):
    """One request to a port of 127.0.0.1, an (address, port) pair, a path or an abstract name."""
    if isinstance(target, (str, bytes)):
        s = socket.socket(socket.AF_UNIX)
        s.settimeout(timeout)
        s.connect(target)
    elif isinstance(target, tuple):
        s = lib.connect(target[1], timeout, target[0])
    else:
        s = lib.connect(target, timeout)
    try:
        s.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        got = lib.Reader(s).response()
        return got and (got[0], got[2].decode("latin-1"))
    except OSError as e:
        return e
    finally:
        s.close()


def refused(target):
    try:
        ask(target)
    except OSError:
        return True
    return False


def ranges(tap, args):
    a = lib.ports(4)
    conf = BASE + """frontend f
	bind 127.0.0.1:%d-%d
	http-request return status 200 content-type text/plain lf-string "%%[dst_port]"
""" % (a[0], a[2])
    with lib.Proxy(args.program, conf) as p:
        for port in a[:3]:
            tap.eq(ask(port), (200, str(port)), "port range: port %d of it" % (port - a[0]))
        tap.ok(refused(a[3]), "port range: the port behind is not bound")
        tap.ok(int(p.info()["Listeners"]) >= 3, "port range: three listeners")


def lists(tap, args):
    a = lib.ports(3)
    conf = BASE + """frontend f
	bind 127.0.0.1:%d,127.0.0.1:%d
	bind *:%d
	http-request return status 200 content-type text/plain lf-string "%%[dst_port]"
""" % tuple(a)
    with lib.Proxy(args.program, conf):
        for port in a:
            tap.eq(ask(port), (200, str(port)), "list of addresses: number %d" % a.index(port))


def has_ipv6():
    try:
        s = socket.socket(socket.AF_INET6)
        s.bind(("::1", 0))
        s.close()
        return True
    except OSError:
        return False


def families(tap, args):
    if not has_ipv6():
        tap.skip("IPv6", "the machine has no ::1")
        return
    a = lib.ports(4)
    conf = BASE + """frontend f
	bind [::1]:%d
	bind :::%d
	bind :::%d v4v6
	bind :::%d v6only
	http-request return status 200 content-type text/plain lf-string "%%[src]"
""" % tuple(a)
    with lib.Proxy(args.program, conf):
        tap.eq(ask(("::1", a[0])), (200, "::1"), "IPv6 address")
        tap.ok(refused(("127.0.0.1", a[0])), "IPv6 address: not on IPv4")
        tap.eq(ask(("::1", a[1])), (200, "::1"), ":::port serves IPv6")
        tap.eq(ask(("::1", a[2])), (200, "::1"), "v4v6 serves IPv6")
        tap.eq(ask(("127.0.0.1", a[2])), (200, "::ffff:127.0.0.1"), "v4v6 serves IPv4")
        tap.eq(ask(("::1", a[3])), (200, "::1"), "v6only serves IPv6")
        tap.ok(refused(("127.0.0.1", a[3])), "v6only does not serve IPv4")


def owners(tap, args):
    """uid, gid, user and group of UNIX sockets, those of unix-bind by default; other addresses have none."""
    if os.getuid():
        tap.apart("root", "owners of UNIX sockets")
        return
    folder = tempfile.mkdtemp(prefix="hapt.")
    port = lib.ports(1)[0]
    conf = BASE.replace("defaults", "global\n\tunix-bind uid 65534 gid 65533 mode 600\ndefaults", 1) + """frontend f
	bind unix@{d}/a
	bind unix@{d}/b uid 1 gid 2 mode 666
	bind unix@{d}/c user nobody group root
	bind 127.0.0.1:{port} uid 1 gid 2 user nobody group root
	http-request return status 200 content-type text/plain string ok
""".format(d=folder, port=port)
    with lib.Proxy(args.program, conf):
        told = [os.stat(os.path.join(folder, name)) for name in "abc"]
        tap.eq([(s.st_uid, s.st_gid, s.st_mode & 0o777) for s in told],
               [(65534, 65533, 0o600), (1, 2, 0o666), (pwd.getpwnam("nobody").pw_uid, 0, 0o600)], "owners of UNIX sockets")
        tap.eq(ask(("127.0.0.1", port)), (200, "ok"), "other addresses have none")
    shutil.rmtree(folder)


def unix(tap, args):
    name = "hapt-%d" % os.getpid()
    path = "/tmp/%s.sock" % name
    conf = BASE + """frontend f
	bind unix@%s mode 640
	bind abns@%s
	http-request return status 200 content-type text/plain string ok
frontend chain
	bind 127.0.0.1:%d
	default_backend %%[path,field(2,/)]
	use_backend b_%%[path,field(2,/)]
backend b_unix
	server s1 unix@%s
backend b_abns
	server s1 abns@%s
"""
    port = lib.ports(1)[0]
    conf = conf.replace("\tdefault_backend %%[path,field(2,/)]\n", "")
    with lib.Proxy(args.program, conf % (path, name, port, path, name)):
        tap.eq(ask(path), (200, "ok"), "UNIX socket")
        tap.eq(oct(os.stat(path).st_mode & 0o777), oct(0o640), "UNIX socket: mode")
        # an abstract name fills the whole address with zeroes
        tap.eq(ask(b"\0" + name.encode().ljust(107, b"\0")), (200, "ok"), "abstract socket")
        for kind in ("unix", "abns"):
            s = lib.connect(port)
            s.sendall(b"GET /%s HTTP/1.1\r\nHost: x\r\n\r\n" % kind.encode())
            got = lib.Reader(s).response()
            s.close()
            tap.eq(got and got[0], 200, "a server on %s@" % kind)
    if os.path.exists(path):
        os.unlink(path)


def threads(tap, args):
    """Connections are spread on all threads whatever the way of sharing the listener."""
    for how in ("shards 1", "shards 2", "shards by-thread", "shards by-group"):
        port = lib.ports(1)[0]
        conf = "\tnbthread 4\n" + BASE + """frontend f
	bind 127.0.0.1:%d %s
	http-request return status 200 content-type text/plain string ok
""" % (port, how)
        with lib.Proxy(args.program, conf) as p:
            good = sum(1 for _ in range(60) if ask(port) == (200, "ok"))
            tap.eq(good, 60, how + ": every connection is served")
            tap.eq(p.stats()["f", "FRONTEND"]["stot"], "60", how + ": every session is counted")
    port = lib.ports(1)[0]
    conf = "\tnbthread 4\n\tthread-groups 2\n" + BASE + """frontend f
	bind 127.0.0.1:%d thread 2/all
	http-request return status 200 content-type text/plain string ok
""" % port
    with lib.Proxy(args.program, conf) as p:
        tap.eq(sum(1 for _ in range(20) if ask(port) == (200, "ok")), 20, "bind thread 2/all")


def limits(tap, args):
    """Options of listeners that need a port of their own."""
    a = lib.ports(4)
    conf = BASE + """frontend f
	bind 127.0.0.1:%d tfo defer-accept backlog 50 mss 1400 interface lo
	bind 127.0.0.1:%d maxconn 1 name one id 77
	bind 127.0.0.1:%d nice -20 tcp-ut 10s
	option socket-stats
	http-request return status 200 content-type text/plain string ok
listen t
	mode tcp
	bind 127.0.0.1:%d
	server s1 127.0.0.1:%d
""" % (a[0], a[1], a[2], a[3], a[0])
    with lib.Proxy(args.program, conf) as p:
        for i, what in enumerate(("tfo defer-accept backlog mss interface", "maxconn name id",
                                  "nice tcp-ut", "a TCP relay to the first")):
            tap.eq(ask(a[i]), (200, "ok"), "bind options: " + what)
        rows = p.stats()
        tap.ok(("f", "one") in rows and rows["f", "one"]["sid"] == "77",
               "option socket-stats: a row with name and id", sorted(rows))
        tap.eq(rows["f", "one"]["stot"], "1", "option socket-stats: its session")


def server_addresses(tap, args):
    """A server without port takes the port of the client's connection; +n and -n shift it."""
    backs = lib.ports(3)
    servers = [lib.Server(lib.echo_handler, p) for p in backs]
    listen = lib.ports(3)
    conf = BASE + """listen a
	bind 127.0.0.1:%d
	server s1 127.0.0.1:+%d
""" % (listen[0], backs[0] - listen[0]) if backs[0] > listen[0] else BASE + """listen a
	bind 127.0.0.1:%d
	server s1 127.0.0.1:-%d
""" % (listen[0], listen[0] - backs[0])
    conf += """listen b
	bind 127.0.0.1:%d
	server s1 localhost:%d
""" % (listen[1], backs[1])
    with lib.Proxy(args.program, conf):
        tap.eq((ask(listen[0]) or (0,))[0], 200, "a server port relative to the client's")
        tap.eq((ask(listen[1]) or (0,))[0], 200, "a server by name, resolved at start")
    for s in servers:
        s.close()


def main():
    args = lib.arguments(__doc__)
    tap = lib.Tap()
    tap.run((ranges, lists, families, owners, unix, threads, limits, server_addresses), args)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
