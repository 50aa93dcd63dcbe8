#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Reloads under keep-alive load, in each of the three ways: in the process, by a new worker (-W and SIGUSR2), by a new
process (-sf with -x). No request is lost: a client that has sent one gets its answer, and learns there that the connection
ends. Storms of signals, at 90 ms and at random moments, that meet each other. The master keeps its descriptors.

    reload_lossless.py --signals 300 --processes 100    the long run (default: 25 and 8)

The reference closes idle clients at once, and loses a request now and then: its figures are printed only.
"""
import os
import random
import select
import signal
import socket
import subprocess
import threading
import time

import lib
from lib_master import Master

MORE = """	default_backend be
backend be
	http-reuse always
	server s1 127.0.0.1:{server}
"""


class Client(threading.Thread):
    """Requests on one connection after the other; each connection is used until it is told to end."""

    def __init__(self, port, think, seed):
        super().__init__(daemon=True)
        self.port, self.think, self.rng = port, think, random.Random(seed)
        self.stop, self.done, self.told, self.closed, self.lost = False, 0, 0, 0, []

    def rest(self):
        if self.think:
            time.sleep(min(self.rng.expovariate(1 / self.think), 3))

    def serve(self, s):
        """One connection."""
        reader = lib.Reader(s)
        while not self.stop:
            self.rest()
            if select.select([s], [], [], 0)[0]:
                self.closed += 1  # an end that came before anything was sent: nothing is lost
                return
            s.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            got = reader.response()
            if not got or got[0] != 200:
                raise EOFError(repr(got))
            self.done += 1
            if got[1].get("connection") == "close":
                self.told += 1
                return

    def run(self):
        while not self.stop:
            try:
                with lib.connect(self.port) as s:
                    self.serve(s)
            except (OSError, EOFError) as e:
                self.lost.append(repr(e))


class Load:
    def __init__(self, port, seed):
        self.crowd = [Client(port, think, "%s %d" % (seed, i)) for i, think in enumerate((0, 0, 0, 0.002, 0.01, 0.05, 0.2, 0.5))]
        for c in self.crowd:
            c.start()

    def end(self):
        """Returns (answers, connections that were told to end, that ended idle, what was lost)."""
        for c in self.crowd:
            c.stop = True
        for c in self.crowd:
            c.join(3 * lib.PATIENCE)
        return [sum(getattr(c, f) for c in self.crowd) for f in ("done", "told", "closed")] + [sum((c.lost for c in self.crowd), [])]


def judge(tap, args, name, load, ends):
    """<ends>: connections end with the reload."""
    done, told, closed, lost = load.end()
    print("# %s: %d answers, %d connections told to end, %d ended idle, %d requests lost" % (name, done, told, closed, len(lost)))
    if lib.is_reference(args.program):
        tap.skip(name + ": no request is lost", "the reference loses one now and then")
        return
    tap.eq(lost[:5], [], "%s: no request of %d is lost" % (name, done))
    tap.ok(done > 100 and (told > 0) == ends, "%s: connections %s" % (name, "are told to end" if ends else "go on"), (done, told))


def descriptors(pid):
    return len(os.listdir("/proc/%d/fd" % pid))


def storms(args):
    rng = random.Random(args.seed)
    yield "%d signals at 90 ms" % args.signals, [0.09] * args.signals
    yield "%d signals at random" % args.signals, [rng.uniform(0, 0.18) for _ in range(args.signals)]


def by_signals(tap, args, server, name, glob, ends):
    with Master(args, glob=glob, more=MORE.format(server=server.port), reply=False) as m:
        with lib.connect(m.port) as s:
            s.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            tap.ok(lib.Reader(s).response(), name + ": it serves")
        before = lib.until(lambda: descriptors(m.process.pid))
        for storm, gaps in storms(args):
            load = Load(m.port, args.seed)
            time.sleep(0.3)
            for gap in gaps:
                m.process.send_signal(signal.SIGUSR2)
                time.sleep(gap)
            lib.until(lambda: not m.procs()["old"] and m.procs()["workers"])
            judge(tap, args, name + ", " + storm, load, ends)
            tap.eq(m.process.poll(), None, name + ", " + storm + ": the master lives")
            tap.ok(lib.until(lambda: descriptors(m.process.pid) <= before), name + ", " + storm + ": with its descriptors",
                   (before, descriptors(m.process.pid)))
        reloads = m.procs()["master"][0]
        tap.ok(reloads[1] >= 2 and not reloads[2], name + ": reloads were done, none failed", reloads)


def by_process(tap, args, server):
    """-x and -sf: each new process gets the sockets of the one before, and tells it to leave."""
    with Master(args, ("-db",), sock=False, more=MORE.format(server=server.port), reply=False, wait=False) as m:
        lib.until(lambda: os.path.exists(m.dir + "/ctl.sock") and m.cli("show version", m.dir + "/ctl.sock"))
        load = Load(m.port, args.seed)
        running, old = m.process, []
        for _ in range(args.processes):
            time.sleep(0.3)
            # its socket is that of the new one, once that listens
            before = m.cli("show info", m.dir + "/ctl.sock")
            old.append(running)
            running = subprocess.Popen([args.program, "-db", "-f", m.conf_path, "-x", m.dir + "/ctl.sock", "-sf",
                                        str(running.pid)], stdout=m.out, stderr=m.out)
            lib.until(lambda: "Pid: %d\n" % running.pid in ask(m) and before)
        left = [p for p in old if lib.until(lambda: p.poll() is not None) is None]
        judge(tap, args, "-sf with -x, %d processes" % args.processes, load, True)
        tap.eq([p.poll() for p in old], [0] * len(old), "-sf with -x: each old process leaves, with 0")
        lib.end(running)
        for p in left:
            p.kill()


def ask(m):
    try:
        return m.cli("show info", m.dir + "/ctl.sock")
    except OSError:
        return ""


def main():
    args = lib.arguments(__doc__, ("signals", 25, "of each storm"), ("processes", 8, "one after the other"),
                         ("seed", 1, "of random moments"))
    tap = lib.Tap()
    server = lib.Server(lib.echo_handler)
    try:
        tap.attempt("-W", by_signals, tap, args, server, "-W", "", True)
        tap.attempt("-sf", by_process, tap, args, server)
        if lib.is_reference(args.program):
            tap.skip("in the process", "the reference has no such reload")
        else:
            tap.attempt("in the process", by_signals, tap, args, server, "in the process", "\treload-mode in-process\n", False)
    finally:
        server.close()
    tap.done()


lib.guarded(main)
