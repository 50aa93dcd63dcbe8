#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The master's socket, conversation by conversation (tables/master_cli.py): prefixes, contexts, prompts, modes, levels,
severities, payloads. The worker that serves is @1, after a reload that failed too. Clients that are slow, or leave.

differs: master-severity
"""
import os
import re
import socket
import tempfile
import threading
import time

import lib
from lib_master import Master
from tables import master_cli


def plain(text, worker):
    text = re.sub(r"(?m)^(  \S.{36,}: .*\n)+", "<HELP>\n", text)
    return re.sub(r"\[\d+:\d\d:\d\d:\d\d\]", "[T]", re.sub(r"\b%d\b" % worker, "W", text))


class Client:
    def __init__(self, path):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(path)
        self.sock.settimeout(lib.PATIENCE)

    def send(self, part):
        if part == "SHUT":
            self.sock.shutdown(socket.SHUT_WR)
        else:
            self.sock.sendall(part.encode())

    def expect(self, wanted, worker):
        """Reads until <wanted> has come, or something else."""
        got = ""
        self.sock.settimeout(lib.PATIENCE)
        try:
            while plain(got, worker) != wanted and not got.endswith("<EOF>"):
                data = self.sock.recv(65536)
                got += data.decode("latin-1") if data else "<EOF>"
                if not wanted.startswith(plain(got, worker)[:1]):
                    break
        except (socket.timeout, ConnectionError) as e:
            got += "<%s>" % type(e).__name__
        return plain(got, worker)

    def close(self):
        self.sock.close()


def talk(m, parts, wanted, worker):
    c = Client(m.path)
    got = []
    for part, want in zip(parts, wanted):
        c.send(part.replace("W", str(worker)))
        if want:
            got.append(c.expect(want, worker))
        else:
            time.sleep(0.05)  # nothing is to come; what does is seen by the next part
            got.append("")
    c.close()
    return got


def test_table(tap, args, m):
    worker = m.procs()["workers"][0][0]
    for name, parts, wanted in master_cli.BOTH + ([] if lib.is_reference(args.program) else master_cli.OWN):
        got = talk(m, parts, wanted, worker)
        tap.ok(got == wanted, name, "got  %r\nwant %r" % (str(got)[:1500], str(wanted)[:1500]))


def test_serving(tap, args, m):
    """Whoever serves is @1, whatever the last reload came to."""
    m.write("v2", more="\tbogus\n")
    tap.ok("Success=0" in m.reload(), "a reload that fails")
    worker = m.procs()["old"][0][0]
    tap.ok("Pid: %d\n" % worker in m.cli("@1 show info"), "@1 is the worker that serves still")
    tap.eq(talk(m, ["prompt\n", "@1\n"], ["master[ReloadFailed]> ", "W> "], worker), ["master[ReloadFailed]> ", "W> "],
           "and may be a context")
    m.write("v3")
    tap.ok("Success=1" in m.reload(), "one that does not")
    now = m.procs()["workers"][0][0]
    tap.ok(now != worker and "Pid: %d\n" % now in m.cli("@1 show info"), "@1 is the new one")


def test_slow(tap, args, m):
    """Much that is not read yet, and clients that are gone: others are served."""
    if lib.is_reference(args.program):
        tap.skip("slow clients", "sizes are ours")
        return
    socks = []
    for line in (b"expert-mode on;@1 debug dev write 8000000\n", b"@@1 expert-mode on; debug dev write 8000000\n"):
        c = Client(m.path)
        c.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        c.sock.sendall(line)
        socks.append(c)
    tap.eq(m.cli("@1 echo a"), "a\n\n", "beside clients that do not read")
    seen = [0, 0]

    def read(i):
        while seen[i] < 8000001:
            data = socks[i].sock.recv(65536)
            if not data:
                break
            seen[i] += len(data)
    threads = [threading.Thread(target=read, args=(i,)) for i in (0, 1)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(3 * lib.PATIENCE)
    tap.ok(min(seen) >= 8000001, "they get all in the end", seen)
    for c in socks:
        c.close()
    for _ in range(20):
        c = Client(m.path)
        c.sock.sendall(b"expert-mode on;@1 debug dev write 8000000\n")
        c.close()
    tap.eq(m.cli("@1 echo a"), "a\n\n", "after clients that left")
    tap.eq(m.process.poll(), None, "the master lives")


def test_mode(tap, args, _):
    """The socket of the master has the umask's mode, or the one that its options tell."""
    for mask, options, mode in ((0o027, "", 0o750), (0, ",mode,660", 0o660)):
        with tempfile.TemporaryDirectory(prefix="hapm.") as d:
            with Master(args, options=("-W", "-S", d + "/m.sock" + options), sock=False, preexec=lambda: os.umask(mask)):
                tap.eq(oct(os.stat(d + "/m.sock").st_mode & 0o777), oct(mode), "umask %o, '%s'" % (mask, options))


def main():
    args = lib.arguments(__doc__)
    tap = lib.Tap()
    with Master(args) as m:
        tap.run((test_table, test_serving, test_slow, test_mode), args, m)
    tap.done()


lib.guarded(main)
