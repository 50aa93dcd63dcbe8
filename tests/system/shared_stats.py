#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# differs: shm-stats-layout
# differs: shm-stats-left
"""shm-stats-file: counters of what has a guid go on in the next process, whether the one before it is asked to finish, still
serves, or was killed; they begin again after a proper stop; files that are full, in the way, or of somebody else."""
import os
import signal
import subprocess
import tempfile
import time

import lib

CONF = """global
	stats socket {folder}/s.sock level admin
	shm-stats-file {file}
	{more}
defaults
	mode http
	timeout connect 5s
	timeout client 30s
	timeout server 30s
frontend fe
	{guid}
	bind 127.0.0.1:{port} guid-prefix sock
	http-request return status 200 content-type text/plain string hi
frontend other
	bind 127.0.0.1:{other}
	http-request return status 200
"""


class Bench:
    def __init__(self, program, folder):
        self.program, self.dir = program, folder
        self.file = os.path.join(folder, "counters")
        self.port, self.other = lib.ports(2)
        self.conf = os.path.join(folder, "c.cfg")
        self.running = []

    def start(self, *args, more="", guid="guid web", wait=True):
        with open(self.conf, "w") as f:
            f.write(CONF.format(folder=self.dir, file=self.file, port=self.port, other=self.other, more=more, guid=guid))
        log = open(os.path.join(self.dir, "log"), "w")
        p = subprocess.Popen([self.program, "-db", "-f", self.conf, *args], stdout=log, stderr=subprocess.STDOUT,
                             stdin=subprocess.DEVNULL)
        self.running.append(p)
        if wait:
            lib.until(lambda: p.poll() is not None or self.pid() == p.pid)
        return p

    def ctl(self, command):
        s = lib.socket.socket(lib.socket.AF_UNIX)
        try:
            s.connect(self.dir + "/s.sock")
            s.sendall(command.encode() + b"\n")
            return lib.recv_all(s).decode()
        except OSError:
            return ""
        finally:
            s.close()

    def pid(self):
        for line in self.ctl("show info").splitlines():
            if line.startswith("Pid: "):
                return int(line[5:])
        return 0

    def count(self, name="fe", row="FRONTEND", column="req_tot"):
        lines = self.ctl("show stat").splitlines()
        names = lines[0].lstrip("# ").split(",") if lines else []
        for line in lines[1:]:
            words = line.split(",")
            if words[:2] == [name, row]:
                return int(words[names.index(column)])
        return -1

    def ask(self, port=None, n=1):
        for _ in range(n):
            with lib.connect(port or self.port) as s:
                s.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                lib.recv_all(s)

    def stop(self, p, sig):
        p.send_signal(sig)
        p.wait(lib.PATIENCE)

    def log(self):
        with open(os.path.join(self.dir, "log")) as f:
            return f.read()

    def close(self):
        for p in self.running:
            if p.poll() is None:
                self.stop(p, signal.SIGKILL)


def successors(tap, b):
    first = b.start()
    b.ask(n=3)
    b.ask(b.other)
    tap.eq((b.count(), b.count("other"), b.count(column="hrsp_2xx")), (3, 1, 3), "the first process counts")
    slow = lib.connect(b.port)
    slow.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n")
    lib.until(lambda: b.count(column="scur") == 1)
    second = b.start("-sf", str(first.pid))
    lib.until(lambda: b.count() == 3)
    tap.eq((b.count(), b.count("other"), b.count(column="scur")), (3, 0, 0),
           "the second goes on with what has a guid, but for gauges")
    slow.sendall(b"Connection: close\r\n\r\n")
    lib.recv_all(slow)
    slow.close()
    first.wait(lib.PATIENCE)
    tap.ok(lib.until(lambda: b.count() == 4), "what the first counts meanwhile is in the sum", b.count())
    b.ctl("clear counters all")
    tap.eq(b.count(), 0, "clear counters all")
    b.ask()
    b.stop(second, signal.SIGUSR1)
    last = b.start()
    tap.eq(b.count(), 0, "after a proper stop they begin again")
    b.ask()
    b.stop(last, signal.SIGTERM)


def killed(tap, b):
    b.file = os.path.join(b.dir, "killed")
    first = b.start()
    b.ask(n=2)
    lib.until(lambda: b.count() == 2)
    time.sleep(1.2) # what was counted within the last second is lost with a process that is killed
    b.stop(first, signal.SIGKILL)
    second = b.start()
    tap.eq(b.count(), 2, "a process that was killed leaves its counters")
    b.stop(second, signal.SIGTERM)


def other_names(tap, b):
    b.file = os.path.join(b.dir, "names")
    first = b.start()
    b.ask(n=2)
    lib.until(lambda: b.count() == 2)
    second = b.start("-sf", str(first.pid), guid="guid another")
    first.wait(lib.PATIENCE)
    tap.eq(b.count(), 0, "another guid is another object")
    third = b.start("-sf", str(second.pid))
    second.wait(lib.PATIENCE)
    if not lib.is_reference(b.program): # there it is kept as long as a process uses the file
        tap.eq(b.count(), 0, "an object that no process uses is gone")
    b.stop(third, signal.SIGTERM)


def full(tap, b):
    os.unlink(b.file)
    p = b.start(more="shm-stats-file-max-objects 1", wait=False)
    tap.ok(p.wait(lib.PATIENCE) == 1 and 'Adjust "shm-stats-file-max-objects" directive if needed.' in b.log(),
           "too many objects: refused at the start", b.log())


def in_the_way(tap, b):
    """Of this program alone: HAProxy has another layout."""
    with open(b.file, "w") as f:
        f.write("somebody's text\n")
    p = b.start()
    b.ask()
    tap.eq(b.count(), 1, "a file of something else: counters begin")
    tap.ok(os.path.exists(b.file + ".bak") and ".bak' now" in b.log(), "and it is kept under another name", b.log())
    b.stop(p, signal.SIGTERM)
    b.file = os.path.join(b.dir, "nowhere", "counters")
    p = b.start(wait=False)
    tap.ok(p.wait(lib.PATIENCE) == 1 and "cannot open shm stats file" in b.log(), "a folder that is not there: refused", b.log())


def masters(tap, b):
    """A worker takes the place of another one."""
    b.file = os.path.join(b.dir, "workers")
    p = b.start("-W", wait=False)
    lib.until(lambda: b.pid() > 0)
    worker = b.pid()
    b.ask(n=2)
    p.send_signal(signal.SIGUSR2)
    lib.until(lambda: b.pid() not in (0, worker))
    tap.ok(lib.until(lambda: b.count() == 2), "a reload of a master keeps them", b.count())
    b.stop(p, signal.SIGTERM)


def main():
    args = lib.arguments(__doc__)
    tap = lib.Tap()
    with tempfile.TemporaryDirectory() as folder:
        b = Bench(args.program, folder)
        try:
            tap.run((successors, other_names, full, killed) + (() if lib.is_reference(args.program) else (in_the_way,)) + (masters,), b)
        finally:
            b.close()
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
