#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The Runtime API as a terminal sees it: sockets of each level, TCP and UNIX, the prompt, several
commands on a line, payloads, JSON that parses, columns that agree between the formats.
"""
import json
import os
import re
import socket
import threading
import time

import lib

CONF = """	stats socket 127.0.0.1:{tcp} level operator
	stats socket 127.0.0.1:{user} level user
	stats socket 127.0.0.1:{plain}
	stats timeout 2s
	nbthread 2
defaults
	mode http
	timeout connect 1s
	timeout client 5s
	timeout server 5s
frontend fe
	bind 127.0.0.1:{fe}
	default_backend be
backend be
	balance roundrobin
	server s1 127.0.0.1:{s1} weight 5
	server s2 127.0.0.1:{s1}
"""


def tcp(port, text):
    """Sends lines to a TCP socket and returns all that comes until the end."""
    s = lib.connect(port)
    s.sendall(text.encode())
    s.shutdown(socket.SHUT_WR)
    out = lib.recv_all(s).decode("latin-1")
    s.close()
    return out


class Terminal:
    """A session in interactive mode."""

    def __init__(self, path):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(lib.PATIENCE)
        self.sock.connect(path)
        self.sock.sendall(b"prompt\n")
        self.first = self.answer()

    def answer(self):
        """Reads up to the next prompt."""
        data = b""
        while not re.search(rb"(^|\n)> $", data):
            part = self.sock.recv(65536)
            if not part:
                break
            data += part
        return data.decode("latin-1")

    def ask(self, text):
        self.sock.sendall(text.encode() + b"\n")
        return self.answer()


def levels(tap, proxy, ports):
    tap.ok("operator" in tcp(ports["tcp"], "show cli level\n"), "a TCP socket of level operator")
    tap.ok("user" in tcp(ports["user"], "show cli level\n"), "a TCP socket of level user")
    tap.ok("operator" in tcp(ports["plain"], "show cli level\n"), "the default level is operator")
    for what in ("disable server be/s1", "set weight be/s1 1", "set maxconn global 10"):
        tap.ok("Permission denied" in tcp(ports["user"], what + "\n"), "user may not: " + what)
        tap.ok("Permission denied" in tcp(ports["tcp"], what + "\n"), "operator may not: " + what)
    tap.ok("Permission denied" in tcp(ports["user"], "show sess\n"), "user may not: show sess")
    tap.ok("Permission denied" not in tcp(ports["tcp"], "show sess\n"), "operator may: show sess")
    tap.ok("Name: HAProxy" in tcp(ports["user"], "show info\n"), "user may: show info")
    help_user = tcp(ports["user"], "help\n")
    tap.ok(re.search(r"^  show info .*: ", help_user, re.M), "help lists what user may", help_user)
    row = proxy.stats()["be", "s1"]
    tap.eq((row["status"], row["weight"]), ("no check", "5"), "nothing was changed")


def terminal(tap, proxy):
    t = Terminal(proxy.ctl_path)
    tap.eq(t.first, "\n> ", "prompt answers with a prompt")
    one = t.ask("show version")
    tap.ok(re.match(r"^3\.4\S*\n\n> $", one), "an answer, an empty line, a prompt", repr(one))
    both = t.ask("show version; show cli level")
    good = re.match(r"^3\.4\S*\n\n?(> )?\n?admin\n\n> $", both)
    tap.ok(good, "two commands on a line", repr(both))
    tap.ok("Unknown command: 'nonsense'" in t.ask("nonsense"), "the session survives an error")
    tap.ok("admin" in t.ask("show cli level"), "it is still there")
    tap.eq(t.ask(""), "\n> ", "an empty line")
    t.ask("operator")
    tap.ok("Permission denied" in t.ask("disable server be/s1"), "a lowered level stays lowered")
    t.sock.sendall(b"quit\n")
    tap.eq(lib.recv_all(t.sock), b"", "quit ends the session")
    s = socket.socket(socket.AF_UNIX)
    s.connect(proxy.ctl_path)
    s.sendall(b"show version\nshow version\n")
    out = lib.recv_all(s).decode()
    tap.ok(len(re.findall(r"^3\.4", out, re.M)) == 1, "without prompt one line is answered", out)
    s.close()


def documents(tap, proxy):
    info = json.loads(proxy.ctl("show info json"))
    plain = proxy.info()
    names = [f["field"]["name"] for f in info]
    tap.eq(names, [l.split(":")[0] for l in proxy.ctl("show info").split("\n") if l],
           "show info: the same fields in plain text and JSON")
    typed = [l.split(".", 2)[1] for l in proxy.ctl("show info typed").split("\n") if l]
    tap.eq(typed, names, "show info: the same fields typed")
    tap.eq([f["value"]["value"] for f in info if f["field"]["name"] == "Nbthread"], [2],
           "show info json: numbers are numbers")
    tap.eq(plain["Pid"], str(proxy.process.pid), "show info: Pid")
    rows = json.loads(proxy.ctl("show stat json"))
    tap.eq([(r[0]["objType"], r[1]["value"]["value"]) for r in rows],
           [("Frontend", "FRONTEND"), ("Server", "s1"), ("Server", "s2"), ("Backend", "BACKEND")],
           "show stat json: objects in order")
    header = proxy.ctl("show stat").split("\n")[0].lstrip("# ").rstrip(",").split(",")
    header = [h for h in header if h != "-"]
    good = [f["field"]["name"] for r in rows for f in r]
    tap.ok(set(good) <= set(header), "show stat json: names are columns of the CSV",
           sorted(set(good) - set(header)))
    columns = proxy.ctl("show stat").split("\n")
    tap.eq({l.count(",") for l in columns if l}, {columns[0].count(",")},
           "show stat: each row has as many columns as the header")
    weight = [f["value"]["value"] for f in rows[1] if f["field"]["name"] == "weight"]
    tap.eq(weight, [5], "show stat json: a weight")
    typed = proxy.ctl("show stat typed")
    good = re.search(r"^S\.\d+\.1\.18\.weight\.1:\w+:u32:5$", typed, re.M)
    tap.ok(good, "show stat typed: a weight", typed[:600])


def profiling(tap, proxy):
    """An extension: show profiling json."""
    proxy.ctl("set profiling tasks on; set profiling memory on")
    lib.until(lambda: json.loads(proxy.ctl("show profiling tasks json"))["tasks"]) # one has run, and is counted
    all_of = json.loads(proxy.ctl("show profiling json"))
    tap.eq(all_of["status"]["tasks"], "on", "show profiling json: the state")
    tap.ok(all(set(t) == {"function", "calls", "cpu_ns", "latency_ns"} and t["calls"] > 0 for t in all_of["tasks"]) and
           all_of["tasks"], "and functions", all_of["tasks"][:3])
    tap.ok(all(set(m) == {"place", "allocs", "frees", "alloc_bytes", "free_bytes"} for m in all_of.get("memory", [])),
           "and places", all_of.get("memory", [])[:3])
    for what in ("status", "tasks", "memory"):
        part = json.loads(proxy.ctl("show profiling %s json 1" % what))
        tap.ok(set(part) <= {what} and len(part.get(what, [])) <= (2 if what == "status" else 1), "of them " + what, part)
    proxy.ctl("set profiling tasks auto; set profiling memory off")


def ends(tap, program):
    """debug dev exit ends it with this status, debug dev bug and panic by a signal."""
    for name in ("ASAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS"):
        if name in os.environ:  # this end is no report
            os.environ[name] += ":handle_abort=0"
    for what, want in (("exit 7", 7), ("bug", -6), ("panic", -6)):
        with lib.Proxy(program, "", restless="it is asked to end by a signal") as proxy:
            tap.ok("restricted" in proxy.ctl("debug dev " + what) and proxy.alive(), "debug dev %s: not at once" % what)
            try:
                proxy.ctl("expert-mode on; debug dev " + what)
            except OSError:
                pass
            got = proxy.process.wait(lib.PATIENCE)
            tap.ok(got == want or (want < 0 and got < 0), "debug dev %s: and then" % what, got)


def changes(tap, proxy, ports):
    """What is changed here is seen by the traffic."""
    def ask():
        s = lib.connect(ports["fe"])
        s.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        got = lib.Reader(s).response()
        s.close()
        return got and got[0]

    tap.eq(ask(), 200, "traffic passes")
    proxy.ctl("disable server be/s1; disable server be/s2")
    tap.eq(ask(), 503, "all servers disabled: 503")
    proxy.ctl("enable server be/s2")
    tap.eq(ask(), 200, "one enabled: served")
    proxy.ctl("set server be/s2 state drain")
    tap.eq(ask(), 503, "in drain: no new request")
    proxy.ctl("set server be/s2 state ready")
    tap.eq(ask(), 200, "ready: served")
    other = lib.Server(lambda s: s.sendall(b"HTTP/1.1 418 Moved\r\ncontent-length: 0\r\n\r\n"))
    proxy.ctl("set server be/s2 addr 127.0.0.1 port %d" % other.port)
    tap.eq(ask(), 418, "set server addr: the new address is used")
    state = proxy.ctl("show servers state be")
    tap.ok(" - %d " % other.port in state, "set server addr: the new port is shown", state)
    proxy.ctl("disable frontend fe")
    tap.eq(proxy.stats()["fe", "FRONTEND"]["status"], "PAUSED", "disable frontend: shown")
    tap.ok(lib.refused(ports["fe"]), "disable frontend: the port is released")
    proxy.ctl("enable frontend fe")
    tap.eq(ask(), 418, "enable frontend: served")
    proxy.ctl("shutdown frontend fe")
    tap.eq(proxy.stats()["fe", "FRONTEND"]["status"], "STOP", "shutdown frontend: shown")
    tap.ok(lib.refused(ports["fe"]), "shutdown frontend: the port is closed")
    tap.ok("cannot enable" in proxy.ctl("enable frontend fe"), "shutdown frontend: it is for good")


def storm(tap, proxy, ports):
    """Looks at, ends and pauses what other threads are busy with; some who ask leave early."""
    end = time.monotonic() + 1.5
    request = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"

    def traffic():
        while time.monotonic() < end:
            try:
                with socket.create_connection(("127.0.0.1", ports["fe"]), timeout=1) as s:
                    for what in (request, request, b"GE(T / HTTP/1.1\r\n\r\n"):
                        s.sendall(what)
                        s.recv(4096)
            except OSError:
                time.sleep(0.01)

    def orders():
        while time.monotonic() < end:
            for what in ("show sess all", "show fd", "show errors", "clear counters all",
                         "shutdown sessions server be/s2",
                         "disable frontend fe; enable frontend fe"):
                proxy.ctl(what)
                with socket.socket(socket.AF_UNIX) as s:
                    s.connect(proxy.ctl_path)
                    s.sendall(what.encode() + b"\n")

    threads = [threading.Thread(target=f) for f in (traffic, traffic, traffic, orders)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    proxy.ctl("enable frontend fe")
    tap.ok(proxy.process.poll() is None, "the process survives orders under traffic")
    tap.eq(tcp(ports["tcp"], "show cli level\n").strip(), "operator", "it still answers")


def deaf(tap, proxy):
    """Clients that ask and never read: bounded memory, and others are served."""
    def resident():
        with open("/proc/%d/status" % proxy.process.pid) as f:
            return int(re.search(r"VmRSS:\s*([0-9]+)", f.read()).group(1))

    def ask(what):
        s = socket.socket(socket.AF_UNIX)
        s.connect(proxy.ctl_path)
        s.setblocking(False)
        try:
            while True:
                s.send(what)
        except (BlockingIOError, BrokenPipeError): # (on a slow machine: it has been too long)
            return s

    before = resident()
    socks = [ask(b"show stat typed;show stat json;show info json;show fd\n" * 100)
             for _ in range(6)]
    tap.ok("Name: HAProxy" in proxy.ctl("show info"), "others are served beside clients that do "
           "not read")
    tap.ok(resident() - before < 16384, "which take little memory", (before, resident()))
    for s in socks:
        s.close()


def left(tap, proxy, ports):
    """A client that leaves while its command waits: that is given up, and what it has asked for behind it is done."""
    for words, before in (b"wait 60s\n", b""), (b"wait 60s;disable server be/s1\n", b""), (b"wait 60s\n", b"show info;"):
        s = socket.socket(socket.AF_UNIX)
        s.connect(proxy.ctl_path)
        s.sendall(before + words)
        there = lib.until(lambda: proxy.ctl("show sess").count("fe=GLOBAL") > 1)
        s.close()
        tap.ok(there and lib.until(lambda: proxy.ctl("show sess").count("fe=GLOBAL") == 1),
               "%s: its client leaves" % (before + words).decode().strip(), proxy.ctl("show sess"))
    tap.ok(lib.until(lambda: proxy.stats()["be", "s1"]["status"] == "MAINT"), "what follows is done")
    proxy.ctl("enable server be/s1")


def main():
    args = lib.arguments(__doc__)
    tap = lib.Tap()
    names = ("tcp", "user", "plain", "fe")
    ports = dict(zip(names, lib.ports(4)))
    server = lib.Server(lib.echo_handler)
    with lib.Proxy(args.program, CONF.format(s1=server.port, **ports)) as proxy:
        levels(tap, proxy, ports)
        terminal(tap, proxy)
        documents(tap, proxy)
        if not lib.is_reference(args.program):
            profiling(tap, proxy)
        left(tap, proxy, ports)
        deaf(tap, proxy)
        storm(tap, proxy, ports)
        changes(tap, proxy, ports)
    ends(tap, args.program)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
