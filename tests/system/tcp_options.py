#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Options of sockets: what the kernel says of the program's sockets, for each row of tables/sockets.txt; cc and tcp-md5sig
of bind lines and servers, and who can connect.

--learn writes the table anew with what the program does; it is to be run with HAProxy."""
import contextlib
import ctypes
import os
import socket
import struct
import subprocess

import lib

TCP_MD5SIG = 14
PIDFD_GETFD = 438
TABLE = os.path.join(os.path.dirname(os.path.realpath(__file__)), "tables", "sockets.txt")
TCP, IP = socket.IPPROTO_TCP, socket.IPPROTO_IP
# what may differ from a plain configuration: name, level, number
OPTIONS = (("keepalive", socket.SOL_SOCKET, socket.SO_KEEPALIVE), ("mark", socket.SOL_SOCKET, 36),
           ("keepidle", TCP, socket.TCP_KEEPIDLE), ("keepintvl", TCP, socket.TCP_KEEPINTVL),
           ("keepcnt", TCP, socket.TCP_KEEPCNT), ("defer-accept", TCP, socket.TCP_DEFER_ACCEPT),
           ("user-timeout", TCP, 18), ("fastopen", TCP, 23), ("save-syn", TCP, 27), ("fastopen-connect", TCP, 30),
           ("maxseg", TCP, socket.TCP_MAXSEG), ("tos", IP, socket.IP_TOS), ("transparent", IP, 19),
           ("no-port", IP, 24))
ROW = """defaults
	mode http
	timeout connect 2s
	timeout client 5s
	timeout server 5s
%s
frontend fe
	bind 127.0.0.1:%d %s
	default_backend be
%s
backend be
	server s 127.0.0.1:%d %s
%s
"""
CONF = """defaults
	mode http
	timeout connect 2s
	timeout client 5s
	timeout server 5s
	retries 0
frontend fe
	bind 127.0.0.1:{port} {bind}
	default_backend be
backend be
	server s 127.0.0.1:{back} {server}
"""


def set_key(sock, address, key):
    """TCP MD5 signatures with that peer; False: the kernel has none."""
    peer = struct.pack("=HH4s", socket.AF_INET, 0, socket.inet_aton(address)).ljust(128, b"\0")
    try:
        sock.setsockopt(socket.IPPROTO_TCP, TCP_MD5SIG, peer + struct.pack("=BBHI", 0, 0, len(key), 0) + key.ljust(80, b"\0"))
    except OSError:
        return False
    return True


def sockets_of(process):
    """Copies of the program's TCP sockets."""
    libc = ctypes.CDLL(None, use_errno=True)
    pidfd = os.pidfd_open(process.pid)
    found = []
    for name in os.listdir("/proc/%d/fd" % process.pid):
        fd = libc.syscall(PIDFD_GETFD, pidfd, int(name), 0)
        if fd < 0:
            continue
        try:
            sock = socket.socket(fileno=fd)
        except OSError:
            os.close(fd)
            continue
        if sock.family == socket.AF_INET and sock.type == socket.SOCK_STREAM:
            found.append(sock)
        else:
            sock.close()
    os.close(pidfd)
    return found


def algorithms(process, back):
    """{"listens", "client", "server": the algorithm}"""
    out = {}
    for sock in sockets_of(process):
        with sock:
            name = sock.getsockopt(socket.IPPROTO_TCP, 13, 16).rstrip(b"\0").decode()
            try:
                kind = "server" if sock.getpeername()[1] == back else "client"
            except OSError:
                kind = "listens"
            out[kind] = name
    return out


def options(sock):
    """{name: value} of a socket, as far as the kernel knows them."""
    out = {"interface": sock.getsockopt(socket.SOL_SOCKET, 25, 16).rstrip(b"\0").decode()}
    for name, level, number in OPTIONS:
        try:
            out[name] = sock.getsockopt(level, number)
        except OSError:
            pass
    if sock.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
        out["backlog"] = struct.unpack_from("=I", sock.getsockopt(TCP, socket.TCP_INFO, 104), 28)[0]
    return out


def seen(program, row):
    """{kind: {name: value}} of the sockets of a row: "WHERE LINE + WHERE LINE", where: bind, server (their options),
    defaults, frontend, backend."""
    parts = [part.partition(" ")[::2] for part in row.split(" + ") if part]
    text = {where: " ".join(line for w, line in parts if w == where) for where in ("bind", "server")}
    lines = {where: "".join("\t%s\n" % line for w, line in parts if w == where) for where in ("defaults", "frontend", "backend")}
    port, found = lib.ports(1)[0], {}
    with contextlib.closing(lib.Server(answer)) as server:
        conf = ROW % (lines["defaults"], port, text["bind"], lines["frontend"], server.port, text["server"], lines["backend"])
        with lib.Proxy(program, conf) as proxy, lib.connect(port) as client:
            found["status"] = {"is": request(client).decode()}
            for sock in sockets_of(proxy.process):
                with sock:
                    kind = "listens"
                    with contextlib.suppress(OSError):
                        kind = "server" if sock.getpeername()[1] == server.port else "client"
                    if kind == "client" and sock.getpeername() != client.getsockname():
                        continue
                    found[kind] = dict(options(sock), source=sock.getsockname()[0])
    return found


def table(tap, program, learn):
    """Each row of the table: how sockets differ from those of a plain configuration."""
    if not hasattr(os, "pidfd_open") or os.geteuid():
        tap.skip("tables/sockets.txt", "no pidfd_open, or not root: marks and transparent sockets need it")
        return
    usual, out = seen(program, ""), []
    with open(TABLE) as f:
        rows = f.read().rstrip("\n").split("\n")
    for line in rows:
        row, _, want = line.partition(" | ")
        if row.startswith("#") or not row:
            out.append(line)
            continue
        try:
            got = seen(program, row)
        except RuntimeError as e:
            got = {"it": {"is": "refused" if "ALERT" in str(e) else str(e)}}
        differ = ["%s %s=%s" % (kind, name, value) for kind in sorted(got) for name, value in sorted(got[kind].items())
                  if value != usual.get(kind, {}).get(name) and (kind, name[:4]) != ("listens", "keep")] # inherited or set: no matter
        tap.eq(", ".join(differ) or "nothing", want, row)
        out.append("%s | %s" % (row, ", ".join(differ) or "nothing"))
    if learn:
        with open(TABLE, "w") as f:
            f.write("\n".join(out) + "\n")


def request(sock):
    try:
        sock.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        return sock.recv(100).split(b" ")[1]
    except (OSError, IndexError):
        return b"none"


def answer(sock):
    while sock.recv(4096):
        sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")


def start(program, port, server, bind="", words=""):
    return lib.Proxy(program, CONF.format(port=port, back=server.port, bind=bind, server=words))


def congestion(tap, program):
    with open("/proc/sys/net/ipv4/tcp_available_congestion_control") as f:
        names = f.read().split()
    with open("/proc/sys/net/ipv4/tcp_congestion_control") as f:
        usual = f.read().strip()
    other = [n for n in names if n != usual][:1]
    if not other or not hasattr(os, "pidfd_open"):
        tap.skip("cc", "one algorithm only")
        return
    for bind, words, want in (("", "", (usual, usual)), ("cc " + other[0], "", (other[0], usual)),
                              ("", "cc " + other[0], (usual, other[0])), ("cc none-such", "cc none-such", (usual, usual))):
        port, = lib.ports(1)
        with contextlib.closing(lib.Server(answer)) as server, start(program, port, server, bind, words) as proxy:
            with lib.connect(port) as client:
                status = request(client)
                got = algorithms(proxy.process, server.port)
            tap.eq((status, got.get("listens"), got.get("client"), got.get("server")), (b"200", want[0], want[0], want[1]),
                   "bind: '%s', server: '%s'" % (bind, words))
            if "none" in bind:
                tap.ok("congestion control algorithm" in proxy.output(), "an unknown algorithm is told", proxy.output())


def reach(port, key):
    """The status of a request to the port, with a key or none."""
    with socket.socket() as sock:
        sock.settimeout(2)
        if key:
            set_key(sock, "127.0.0.1", key)
        try:
            sock.connect(("127.0.0.1", port))
        except OSError:
            return b"none"
        return request(sock)


def signatures(tap, program):
    with socket.socket() as probe:
        if not set_key(probe, "127.0.0.1", b"x"):
            tap.skip("tcp-md5sig", "the kernel has no TCP MD5 signatures")
            return
    port, = lib.ports(1)
    with contextlib.closing(lib.Server(answer)) as server, start(program, port, server, "tcp-md5sig right"):
        tap.eq([reach(port, k) for k in (b"right", b"wrong", None)], [b"200", b"none", b"none"], "bind: the right key only")
    for words, want in (("tcp-md5sig right", b"200"), ("tcp-md5sig wrong", b"503"), ("", b"503")):
        port, = lib.ports(1)
        with contextlib.closing(lib.Server(answer)) as server:
            if not set_key(server.sock, "127.0.0.1", b"right"):
                tap.skip("server: '%s'" % words, "no key for a listening socket")
                continue
            with start(program, port, server, words=words):
                with lib.connect(port) as client:
                    client.settimeout(8)
                    tap.eq(request(client), want, "server: '%s'" % words)


def wrong(tap, program):
    for bind, words in (("cc", ""), ("", "cc"), ("tcp-md5sig", ""), ("", "tcp-md5sig"), ("tcp-md5sig " + "a" * 81, ""),
                        ("", "tcp-md5sig " + "a" * 81)):
        conf = CONF.format(port=1, back=1, bind=bind, server=words)
        run = subprocess.run([program, "-c", "-f", "/dev/stdin"], input=conf.encode(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        tap.ok(b"[ALERT]" in run.stdout, "refused: bind '%s' server '%s'" % (bind[:20], words[:20]), run.stdout)


def main():
    args = lib.arguments(__doc__, ("learn", False, "write the table"))
    tap = lib.Tap()
    table(tap, args.program, args.learn)
    tap.run((congestion, signatures, wrong), args.program)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
