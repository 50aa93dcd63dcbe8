#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A service manager's store of descriptors (FDSTORE): listening sockets outlive the process, and no connection is refused while
it is replaced. The manager here does what systemd does: it takes datagrams on $NOTIFY_SOCKET, keeps the descriptors that
come with FDSTORE=1 under their name, drops them on FDSTOREREMOVE=1, and hands them to the next process by $LISTEN_FDS.

The long form: --restarts 50
"""
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import threading

import lib

CONF = """global
	stats socket {dir}/ctl.sock level admin
{glob}defaults
	mode http
	timeout connect 5s
	timeout client 5s
	timeout server 5s
frontend fe
{binds}	http-request return status 200 content-type text/plain string "{version}"
"""
START = 'LISTEN_PID=$$ exec "$0" "$@"'


class Manager:
    """A unit with FileDescriptorStoreMax=<room>; 0: none."""

    def __init__(self, args, ports, room=64):
        self.args, self.ports, self.room = args, ports, room
        self.dir = tempfile.mkdtemp(prefix="hasm.")
        self.conf = self.dir + "/test.cfg"
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.sock.bind(self.dir + "/notify")
        self.store = []   # (name, descriptor)
        self.refused = 0  # descriptors that there was no room for
        self.process, self.told = None, []
        self.output = open(self.dir + "/output", "ab")
        self.write("v1")

    def write(self, version, glob="", more=""):
        binds = "".join("\tbind 127.0.0.1:%d\n" % p for p in self.ports) + "\tbind unix@%s/web.sock\n" % self.dir
        with open(self.conf, "w") as f:
            f.write(CONF.format(dir=self.dir, version=version, glob=glob, binds=binds + more))

    def start(self, options=("-Ws",), socket_unit=()):
        """Descriptors of the socket unit come first, then those of the store."""
        given = [("web.socket", s.fileno()) for s in socket_unit] + self.store
        env = dict(os.environ, NOTIFY_SOCKET=self.dir + "/notify")
        if self.room:
            env["FDSTORE"] = str(self.room)
        if given:
            env.update(LISTEN_FDS=str(len(given)), LISTEN_FDNAMES=":".join(n for n, _ in given))
        high = [os.dup2(fd, 300 + i, inheritable=True) for i, (_, fd) in enumerate(given)]
        def place():
            for i, fd in enumerate(high):
                os.dup2(fd, 3 + i, inheritable=True)
            os.closerange(3 + len(high), 1024)
        self.process = subprocess.Popen(["/bin/sh", "-c", START, self.args.program, *options, "-f", self.conf], env=env,
                                        preexec_fn=place, close_fds=False, stdout=self.output, stderr=self.output,
                                        stdin=subprocess.DEVNULL)
        for fd in high:
            os.close(fd)

    def receive(self, seconds):
        """Takes one message into account and returns it as a dictionary; None: none came."""
        if not select.select([self.sock], [], [], seconds)[0]:
            return None
        data, fds, _, _ = socket.recv_fds(self.sock, 4096, 253)
        told = dict(l.split("=", 1) for l in data.decode().split("\n") if l)
        name = told.get("FDNAME", "stored")
        if told.get("FDSTOREREMOVE") == "1":
            for _, fd in [x for x in self.store if x[0] == name]:
                os.close(fd)
            self.store = [x for x in self.store if x[0] != name]
        for fd in fds:
            if told.get("FDSTORE") == "1" and len(self.store) < self.room:
                self.store.append((name, fd))
            else:
                os.close(fd)
                self.refused += 1
        self.told.append(told)
        return told

    def until(self, key, value):
        """Receives until <key> has that value. False: it did not come, or the process has ended."""
        for _ in range(200):
            told = self.receive(lib.PATIENCE / 100 if self.process.poll() is None else 0)
            if told and told.get(key) == value:
                return True
            if told is None and self.process.poll() is not None:
                return False
        return False

    def stop(self, sig=signal.SIGUSR1):
        self.process.send_signal(sig)
        status = self.process.wait(lib.PATIENCE * 3)
        while self.receive(0):
            pass
        return status

    def restart(self):
        self.stop()
        self.start()
        return self.until("READY", "1")

    def addresses(self):
        out = []
        for _, fd in self.store:
            with socket.socket(fileno=os.dup(fd)) as s:
                name = s.getsockname()
                # a path was bound under a temporary name
                out.append(re.sub(r"\.\d+\.tmp$", "", name) if isinstance(name, str) else name[1])
        return sorted(out, key=str)

    def log(self):
        with open(self.dir + "/output", errors="replace") as f:
            return f.read()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for _, fd in self.store:
            os.close(fd)
        self.sock.close()
        self.output.close()
        shutil.rmtree(self.dir, ignore_errors=True)


def get(port=None, path=None):
    with lib.connect(port) if port else socket.socket(socket.AF_UNIX) as s:
        if path:
            s.settimeout(lib.PATIENCE)
            s.connect(path)
        s.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        got = lib.Reader(s).response()
        return got and got[2].decode()


class Crowd:
    """Threads that make connections one after the other, each with a request; counts what fails."""

    def __init__(self, targets):
        self.over = threading.Event()
        self.done, self.failures = 0, []
        self.lock = threading.Lock()
        self.threads = [threading.Thread(target=self.run, args=(t,), daemon=True) for t in targets]
        for t in self.threads:
            t.start()

    def run(self, target):
        while not self.over.is_set():
            try:
                got = get(**target)
            except OSError as e:
                got, why = None, repr(e)
            else:
                why = "no answer"
            with self.lock:
                self.done += got is not None
                if got is None:
                    self.failures.append(why)

    def end(self):
        self.over.set()
        for t in self.threads:
            t.join(lib.PATIENCE)


def test_restarts(tap, args):
    ports = lib.ports(2)
    with Manager(args, ports) as m:
        m.start()
        if not tap.ok(m.until("READY", "1"), "it is ready", m.log()):
            return
        tap.eq(m.addresses(), sorted(ports + [m.dir + "/web.sock", m.dir + "/ctl.sock"], key=str),
               "and has stored each listening socket, before it said so")
        tap.eq({n for n, _ in m.store}, {"haproxy"}, "under one name")
        crowd = Crowd([{"port": ports[0]}, {"port": ports[1]}, {"port": ports[0]}, {"path": m.dir + "/web.sock"}])
        good = 0
        for i in range(args.restarts):
            m.write("v%d" % i)
            before = crowd.done
            lib.until(lambda: crowd.done > before + 20)
            good += m.restart()
        lib.until(lambda: crowd.done > before + 100)
        crowd.end()
        tap.eq(good, args.restarts, "%d restarts" % args.restarts)
        tap.eq(crowd.failures[:5], [], "and no connection was refused or cut, of %d" % crowd.done)
        tap.eq([get(p) for p in ports], ["v%d" % (args.restarts - 1)] * 2, "the last process serves")
        tap.eq(len(m.store), 4, "the store is as large as it was")
        tap.eq(m.stop(), 0, "a stop")
        tap.ok(not lib.is_refused(ports[0]), "what connects waits as long as the manager has the socket")


def test_waits(tap, args):
    """Connections that come between two processes are served by the second one."""
    port, = lib.ports(1)
    with Manager(args, [port]) as m:
        m.start()
        m.until("READY", "1")
        m.stop()
        with lib.connect(port) as early:
            early.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            m.write("v2", glob="\tbogus\n")
            m.start()
            tap.ok(not m.until("READY", "1"), "a start that fails")
            tap.eq((m.process.wait(lib.PATIENCE), len(m.store)), (1, 3), "leaves the store as it was")
            m.write("v2")
            m.start()
            tap.ok(m.until("READY", "1"), "the next one", m.log())
            tap.eq(lib.Reader(early).response()[2], b"v2", "serves what came before it")
        for how in (signal.SIGKILL, signal.SIGTERM):
            m.stop(how)
            with lib.connect(port) as early:
                early.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                m.start()
                m.until("READY", "1")
                tap.eq(lib.Reader(early).response()[2], b"v2", "as after %s" % how.name)


def test_paths(tap, args):
    """UNIX sockets whose folder the manager has removed with the unit's other runtime files."""
    port, = lib.ports(1)
    with Manager(args, [port]) as m:
        m.start()
        m.until("READY", "1")
        m.stop()
        os.unlink(m.dir + "/web.sock")
        os.unlink(m.dir + "/ctl.sock")
        m.start()
        tap.ok(m.until("READY", "1"), "paths that are gone: it starts", m.log())
        tap.ok(os.path.exists(m.dir + "/web.sock") and os.path.exists(m.dir + "/ctl.sock"), "they are there again", os.listdir(m.dir))
        tap.eq((get(port), get(path=m.dir + "/web.sock")), ("v1", "v1"), "port and path serve")
        tap.eq(len(m.store), 3, "the store has the new ones only")
        m.restart()
        tap.eq((get(port), get(path=m.dir + "/web.sock")), ("v1", "v1"), "as after another restart")
        m.stop()


def test_reloads(tap, args):
    """The store follows the configuration, whichever way it is reloaded."""
    ports = lib.ports(3)
    for glob, way in (("", "by a new worker"), ("\treload-mode in-process\n", "in the process")):
        with Manager(args, ports[:2]) as m:
            m.write("v1", glob)
            m.start()
            m.until("READY", "1")
            m.restart()
            m.ports = [ports[0], ports[2]]
            m.write("v2", glob)
            m.process.send_signal(signal.SIGUSR2)
            tap.ok(m.until("RELOADING", "1") and m.until("READY", "1"), "a reload %s" % way, m.log())
            tap.eq([x for x in m.addresses() if isinstance(x, int)], sorted(m.ports),
                   "the store has the new socket, and no more the one that is gone")
            tap.ok(lib.until(lambda: lib.is_refused(ports[1])), "which nothing holds any longer")
            m.write("v3", glob + "\tbogus\n")
            m.process.send_signal(signal.SIGUSR2)
            tap.ok(m.until("STATUS", "Reload failed!"), "a reload that fails")
            tap.eq(len(m.store), 4, "changes nothing")
            m.write("v4", glob)
            m.restart()
            tap.eq([get(p) for p in m.ports], ["v4"] * 2, "and a restart goes on with them")
            m.ports = [ports[0]]
            m.write("v5", glob)
            m.restart()
            tap.eq(get(ports[0]), "v5", "a restart with fewer")
            tap.eq([x for x in m.addresses() if isinstance(x, int)], [ports[0]], "leaves fewer in the store")
            tap.ok(lib.until(lambda: lib.is_refused(ports[2])), "the others are closed")
            m.stop()


def test_manager(tap, args):
    """Managers without a store, with a small one, and a socket unit beside it."""
    ports = lib.ports(2)
    with Manager(args, ports, room=0) as m:
        m.start()
        m.until("READY", "1")
        tap.eq([t for t in m.told if any("FD" in k for k in t)], [], "without $FDSTORE nothing is stored")
        m.stop()
        tap.ok(lib.is_refused(ports[0]), "and ports are closed by a stop")
    with Manager(args, ports, room=2) as m:
        m.start()
        m.until("READY", "1")
        tap.eq((len(m.store), m.refused), (2, 0), "no more than the manager keeps")
        tap.ok("set FileDescriptorStoreMax to more" in m.log(), "which is said", m.log())
        tap.ok(m.restart(), "and a restart goes on with those")
    ports = lib.ports(2)
    with Manager(args, ports) as m, socket.socket() as unit:
        unit.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        unit.bind(("127.0.0.1", ports[0]))
        unit.listen(16)
        for i in range(2):
            m.start(socket_unit=[unit])
            tap.ok(m.until("READY", "1"), "a socket unit beside the store", m.log())
            tap.eq([get(p) for p in ports], ["v1"] * 2, "both serve, start %d" % (i + 1))
            m.stop()
        m.start(options=("-db",))
        tap.ok(lib.until(lambda: not lib.is_refused(ports[0])) and get(ports[1]) == "v1",
               "a process without a master takes what is stored, too", m.log())
        m.stop()


def main():
    args = lib.arguments(__doc__, ("restarts", 6, "how many restarts under load"))
    tap = lib.Tap()
    if lib.is_reference(args.program):
        tap.skip("the store of descriptors", "an extension")
    else:
        tap.run((test_restarts, test_waits, test_paths, test_reloads, test_manager), args)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
