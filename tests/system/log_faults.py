#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Log servers that vanish, block or come late, over datagrams and over connections ("log tcp@...", which has a ring of its
own), and backing files on a full disk: requests are served all the same, what is lost is counted, memory is bounded."""
import os
import re
import socket
import subprocess
import tempfile
import threading

import lib

CONF = """
    nbthread 2
    {targets}
defaults
    mode http
    log global
    log-format "n=%HP end %HQ"
    timeout connect 1s
    timeout client 5s
    timeout server 5s
frontend fe
    bind 127.0.0.1:{fe}
    {own}
    http-request return status 200
"""


class Collector:
    """Lines over connections, from a listening socket; .hold: it accepts and never reads."""

    def __init__(self, listener, hold=False):
        self.listener, self.hold = listener, hold
        self.lines, self.lock, self.socks = [], threading.Lock(), []
        listener.listen(8)
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while True:
            try:
                s, _ = self.listener.accept()
            except OSError:
                return
            self.socks.append(s)
            if not self.hold:
                threading.Thread(target=self.read, args=(s,), daemon=True).start()

    def read(self, s):
        data = b""
        while True:
            try:
                part = s.recv(65536)
            except OSError:
                return
            if not part:
                return
            *whole, data = (data + part).split(b"\n")
            with self.lock:
                self.lines += [l.decode() for l in whole]

    def numbers(self):
        with self.lock:
            return [int(n) for l in self.lines for n in re.findall(r"n=/([0-9]+) end", l)]

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.thread.join()  # as in lib.Server
        self.listener.close()
        for s in self.socks:
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            s.close()


def tcp(port):
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    s.bind(("127.0.0.1", port))
    return s


def request(port, n, query=b""):
    s = lib.connect(port)
    try:
        s.sendall(b"GET /%d%s HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n" % (n, query))
        return lib.recv_all(s).startswith(b"HTTP/1.1 200")
    finally:
        s.close()


def resident(proxy):
    with open("/proc/%d/status" % proxy.process.pid) as f:
        return int(re.search(r"VmRSS:\s*([0-9]+)", f.read()).group(1))


def streams(tap, program):
    port, late, fe = lib.ports(3)
    folder = tempfile.mkdtemp(prefix="hapl.")
    path = os.path.join(folder, "log.sock")
    unix = socket.socket(socket.AF_UNIX)
    unix.bind(path)
    one, two = Collector(tcp(port)), Collector(unix)
    targets = "log tcp@127.0.0.1:%d len 400 format rfc5424 local0\n log uxst@%s local1 info" % (port, path)
    own = "log tcp4@127.0.0.1:%d format raw local3" % late
    with lib.Proxy(program, CONF.format(targets=targets, own=own, fe=fe)) as proxy:
        tap.ok(all(request(fe, i) for i in range(20)), "requests are served")
        tap.ok(lib.until(lambda: one.numbers() == list(range(20))), "tcp@: all lines, in order", one.lines[:3])
        tap.ok(lib.until(lambda: two.numbers() == list(range(20))), "uxst@: all lines, in order", two.lines[:3])
        lines = [l for l in one.lines if "n=" in l]
        tap.ok(all(re.match(r"<134>1 20\S+ \S+ haproxy \d+ - - n=", l) for l in lines), "in the format of the line", lines[:2])
        tap.ok(all(re.match(r"<142>\w+ .\d [0-9:]+ haproxy\[\d+\]: n=", l) for l in two.lines if "n=" in l),
               "or in the one of old", two.lines[:2])
        tap.ok("ring#1 " in proxy.ctl("show events") and "ring#3 " in proxy.ctl("show events"), "each has a ring",
               proxy.ctl("show events"))
        three = Collector(tcp(late))
        tap.ok(lib.until(lambda: three.numbers() == list(range(20)), 2 * lib.PATIENCE), "one that comes late gets what was kept", three.lines)
        tap.ok(all(l.startswith("n=") for l in three.lines), "format raw: nothing is added", three.lines[:2])
        one.close()
        tap.ok(all(request(fe, i) for i in range(20, 30)), "a server has gone: requests are served")
        one = Collector(tcp(port))
        # the reference may lose what it wrote before it saw the end
        missed = set(range(25 if lib.is_reference(program) else 20, 30))
        tap.ok(lib.until(lambda: missed <= set(one.numbers()), 2 * lib.PATIENCE), "it is back, and gets what it missed", one.numbers())
        for c in (one, two, three):
            c.close()
    os.unlink(path)
    os.rmdir(folder)


def blocked(tap, program):
    """A server that accepts and never reads: its ring fills, no more."""
    port, fe = lib.ports(2)
    c = Collector(tcp(port), hold=True)
    with lib.Proxy(program, CONF.format(targets="log tcp@127.0.0.1:%d len 8192 local0" % port, own="", fe=fe)) as proxy:
        good = all(request(fe, i) for i in range(50))
        before = resident(proxy)
        count = 50

        def more():
            nonlocal count, good
            for _ in range(100):  # of long lines, as the kernel holds some megabytes of them
                good = request(fe, count, b"?" + b"x" * 7000) and good
                count += 1
            return int(re.search(r"ring#1 .* (\d+) dropped", proxy.ctl("show events")).group(1)) > 0

        if lib.is_reference(program): # it overwrites
            for _ in range(20):
                more()
        else:
            tap.ok(lib.until(more, 60), "a server that does not read: what finds no room is dropped and counted")
        tap.ok(good, "every request is served")
        if lib.is_sanitized(program):
            tap.skip("memory is bounded", "a sanitizer keeps what was freed")
        else:
            tap.ok(resident(proxy) - before < 8192, "memory is bounded", (before, resident(proxy)))
        if not lib.is_reference(program):
            tap.ok(int(proxy.info()["DroppedLogs"]) > 0, "and is in show info")
    c.close()


def datagrams(tap, program):
    """Nobody on the port; a UNIX socket that is full; one that is not there."""
    gone, fe = lib.ports(2)
    folder = tempfile.mkdtemp(prefix="hapl.")
    path = os.path.join(folder, "full")
    full = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    full.bind(path)
    targets = "log 127.0.0.1:%d local0\n log %s local0\n log %s/none local0" % (gone, path, folder)
    with lib.Proxy(program, CONF.format(targets=targets, own="", fe=fe)) as proxy:
        tap.ok(all(request(fe, i) for i in range(1500)), "datagrams: a server that is gone, or full, holds nobody")
        tap.ok(lib.until(lambda: int(proxy.info()["DroppedLogs"]) >= 1400), "what is lost is counted",
               proxy.info()["DroppedLogs"])
        tap.ok(proxy.alive(), "the process lives")
    full.close()
    os.unlink(path)
    os.rmdir(folder)


def udp(port):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind(("127.0.0.1", port))
    s.settimeout(lib.PATIENCE)
    return s


def udp_numbers(s, count):
    return sorted(int(re.search(rb"n=/([0-9]+) end", s.recv(4096)).group(1)) for _ in range(count))


def several(tap, program):
    """More servers over UDP than have a socket of their own, one of them away for a while."""
    *ports, fe = lib.ports(8)
    live = [udp(p) for p in ports[1:]]
    targets = "\n ".join("log 127.0.0.1:%d local0" % p for p in ports)
    with lib.Proxy(program, CONF.format(targets=targets, own="", fe=fe)) as proxy:
        tap.ok(all(request(fe, i) for i in range(50)), "several servers, the first is away")
        tap.eq([udp_numbers(s, 50) for s in live], [list(range(50))] * len(live), "the others get all lines")
        late = udp(ports[0])
        tap.ok(all(request(fe, i) for i in range(50, 60)), "it is there")
        tap.eq(udp_numbers(late, 10), list(range(50, 60)), "and gets what comes from then on")
        tap.eq(proxy.info()["DroppedLogs"], "0", "nothing was dropped by the process")
    for s in live + [late]:
        s.close()


FULL = r"""
set -e
mount -t tmpfs -o size=64k none "$1"
printf 'global\n stats socket %s/s level admin\nring r\n size 1048576\n backing-file %s/ring\nfrontend f\n bind 127.0.0.1:%s\n mode http\n timeout client 1s\n log ring@r local0\n' "$2" "$1" "$3" > "$2/cfg"
"$4" -c -f "$2/cfg"
"""


def full_disk(tap, program):
    """The space of a backing file is taken when it is made: a full disk is an error then, and no signal later."""
    room, folder = tempfile.mkdtemp(prefix="hapd."), tempfile.mkdtemp(prefix="hapl.")
    if subprocess.run(["unshare", "-m", "true"], stderr=subprocess.DEVNULL).returncode:
        tap.skip("a full disk", "no mount namespaces")
        return
    r = subprocess.run(["unshare", "-m", "sh", "-c", FULL, "sh", room, folder, str(lib.ports(1)[0]), program],
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    text = r.stdout.decode()
    tap.ok(r.returncode == 1 and "ring" in text and "No space left" in text, "a disk without room for a backing file: refused",
           (r.returncode, text))
    for name in os.listdir(folder):
        os.unlink(os.path.join(folder, name))
    os.rmdir(folder)
    os.rmdir(room)


def main():
    args = lib.arguments(__doc__)
    tap = lib.Tap()
    streams(tap, args.program)
    blocked(tap, args.program)
    datagrams(tap, args.program)
    several(tap, args.program)
    if not lib.is_reference(args.program):
        full_disk(tap, args.program)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
