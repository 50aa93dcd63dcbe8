#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""HTTP/2 clients that mean harm: each attack runs for a bounded number of frames against a running proxy.

Checked during and after each: the proxy lives, another client's requests are answered all along, the
memory of the process stays bounded, and what becomes of the attacker's connection: it is closed
with a documented code, or it goes on being served within its bounds. Nothing asserts how fast.

--figures prints CPU time and memory per attack, for comparing programs.
"""
import os
import socket
import threading
import time

import lib
from wire import h2
from wire.h2 import data, frame, headers, ping, priority, request, rst, settings, window

CONF = """
	tune.h2.fe.glitches-threshold 500
defaults
	mode http
	timeout connect 2s
	timeout client 3s
	timeout server 3s
	timeout http-request 2s
frontend f
	bind 127.0.0.1:{fe} proto h2
	default_backend b
backend b
	server s 127.0.0.1:{s}
"""
# MB that an attack may add to the process
MEMORY_MB = 80
PATIENCE = 4.0


def serve(sock):
    """The server: answers at once, /slow never, /big with 1 MB."""
    r = lib.Reader(sock)
    while True:
        head = r.head()
        if not head:
            return
        path = head[0].split(" ")[1]
        r.body(head[1])
        if path.startswith("/slow"):
            time.sleep(10)
            return
        body = b"x" * (1000000 if path.startswith("/big") else 2)
        sock.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(body) + body)


class Attacker(h2.Client):
    """Sends without waiting; a thread reads what comes, so that nothing is held up by us."""

    def __init__(self, port, pairs=(), reading=True):
        super().__init__(lib.connect(port), pairs=pairs, timeout=PATIENCE, auto=False)
        self.code = None
        self.closed = threading.Event()
        self.counts = {}
        if reading:
            threading.Thread(target=self.read_all, daemon=True).start()

    def read_all(self):
        try:
            while True:
                f = self.frame()
                if f is None:
                    break
                self.counts[f.type] = self.counts.get(f.type, 0) + 1
                if f.type == h2.GOAWAY:
                    self.code = h2.error_name(int.from_bytes(f.payload[4:8], "big"))
        except OSError:
            return
        self.closed.set()

    def pour(self, raw, times):
        """Sends <raw> up to <times> times, until the peer has enough or takes no more."""
        self.sock.settimeout(PATIENCE)
        for _ in range(times):
            if self.closed.is_set():
                return
            try:
                self.sock.sendall(raw)
            except OSError:
                return

    def end(self):
        """Waits for the end that follows a GOAWAY; "open" when none came."""
        self.closed.wait(1.0 if self.code is None else PATIENCE)
        if self.code is not None:
            return self.code
        return "closed" if self.closed.is_set() else "open"


def rapid_reset(a):
    for i in range(60):
        first = 1 + 200 * i
        a.pour(b"".join(headers(s, request("/slow")) + rst(s)
                        for s in range(first, first + 200, 2)), 1)


def made_you_reset(a):
    """The server resets: each request is followed by a frame that is wrong for its stream."""
    for i in range(60):
        first = 1 + 200 * i
        a.pour(b"".join(headers(s, request("/slow"), end=False) + window(s, 0)
                        for s in range(first, first + 200, 2)), 1)


def continuation_flood(a):
    a.pour(h2.raw_headers(1, h2.block(request()), done=False), 1)
    a.pour(frame(h2.CONTINUATION, 0, 1, h2.literal("x-a", "b" * 100)) * 50, 400)


def empty_continuation_flood(a):
    a.pour(h2.raw_headers(1, h2.block(request()), done=False), 1)
    a.pour(frame(h2.CONTINUATION, 0, 1) * 200, 400)


def ping_flood(a):
    a.pour(ping() * 500, 400)


def ping_flood_unread(a):
    """The answers are never read: the proxy must not queue them without end."""
    a.pour(ping() * 500, 2000)


def settings_flood(a):
    a.pour(settings((4, 65535)) * 300, 400)


def settings_window_flips(a):
    """Each SETTINGS changes the windows of many open streams."""
    a.pour(b"".join(headers(s, request("/slow")) for s in range(1, 200, 2)), 1)
    a.pour((settings((4, 0)) + settings((4, 65535))) * 150, 200)


def priority_flood(a):
    a.pour(b"".join(priority(s, (s + 2) | 1) for s in range(1, 1000, 2)), 400)


def window_update_flood(a):
    a.pour(window(0, 1) * 500, 400)


def reset_flood(a):
    a.pour(headers(1, request("/slow")) + rst(1), 1)
    a.pour(rst(1) * 500, 200)


def empty_data_flood(a):
    a.pour(headers(1, request("/slow", "POST"), end=False), 1)
    a.pour(data(1) * 500, 200)


def unknown_frame_flood(a):
    a.pour(frame(0x99, 0, 0, b"x" * 10) * 500, 200)


def hpack_bomb(a):
    """A large entry, named a thousand times by one byte each."""
    block = h2.block(request()) + h2.literal("x-a", "b" * 3900, 0x40) + b"\xbe" * 8000
    for s in range(1, 200, 2):
        a.pour(headers(s, block), 1)


def hpack_churn(a):
    """Entries that evict each other."""
    block = h2.block(request()) + b"".join(h2.literal("x-%d" % i, "v" * 50, 0x40) for i in range(100))
    for s in range(1, 1000, 2):
        a.pour(headers(s, block), 1)


def many_fields(a):
    block = h2.block(request()) + h2.literal("a", "") * 3000
    for s in range(1, 400, 2):
        a.pour(headers(s, block), 1)


def cookie_crumbs(a):
    block = h2.block(request()) + h2.literal("cookie", "") * 1200
    for s in range(1, 400, 2):
        a.pour(headers(s, block), 1)


def zero_window(a):
    """Asks for much, takes nothing."""
    a.pour(settings((4, 0)), 1)
    a.pour(b"".join(headers(s, request("/big")) for s in range(1, 200, 2)), 1)


def tiny_window(a):
    a.pour(settings((4, 1)), 1)
    a.pour(b"".join(headers(s, request("/big")) for s in range(1, 200, 2)), 1)
    for _ in range(100):
        a.pour(b"".join(window(s, 1) for s in range(1, 200, 2)), 1)


def unread_answers(a):
    """Large windows, but nothing is read from the socket."""
    a.pour(settings((4, h2.INITIAL_WINDOW_SIZE << 24)) + window(0, 1 << 30), 1)
    a.pour(b"".join(headers(s, request("/big")) for s in range(1, 200, 2)), 1)


def dribble(a):
    raw = b"".join(headers(s, request()) for s in range(1, 40, 2))
    for i in range(len(raw)):
        a.pour(raw[i:i + 1], 1)


def too_many_streams(a):
    a.pour(b"".join(headers(s, request("/slow")) for s in range(1, 20000, 2)), 1)


def bad_requests(a):
    for i in range(100):
        first = 1 + 200 * i
        a.pour(b"".join(headers(s, request(more=[("X", "y")]))
                        for s in range(first, first + 200, 2)), 1)


def padded_nothing(a):
    a.pour(headers(1, request("/slow", "POST"), end=False), 1)
    a.pour(data(1, b"", pad=255) * 50, 100)


# attack, may the connection stay open (it is bounded by its nature), does it leave answers unread
ATTACKS = (
    (rapid_reset, True, False), (made_you_reset, True, False), (continuation_flood, False, False),
    (empty_continuation_flood, False, False), (ping_flood, True, False),
    (ping_flood_unread, True, True), (settings_flood, True, False),
    (settings_window_flips, True, False), (priority_flood, True, False),
    (window_update_flood, True, False), (reset_flood, True, False), (empty_data_flood, True, False),
    (unknown_frame_flood, True, False), (hpack_bomb, True, False), (hpack_churn, True, False),
    (many_fields, True, False), (cookie_crumbs, True, False), (zero_window, True, False),
    (tiny_window, True, False), (unread_answers, True, True), (dribble, True, False),
    (too_many_streams, True, False), (bad_requests, True, False), (padded_nothing, True, False),
)
CODES = ("open", "closed", "ENHANCE_YOUR_CALM", "PROTOCOL_ERROR", "COMPRESSION_ERROR",
         "FRAME_SIZE_ERROR", "FLOW_CONTROL_ERROR", "STREAM_CLOSED", "NO_ERROR", "INTERNAL_ERROR")


class Witness(threading.Thread):
    """Another client, which asks all along."""

    def __init__(self, port):
        super().__init__(daemon=True)
        self.port = port
        self.over = False
        self.good = self.bad = 0

    def run(self):
        while not self.over:
            c = h2.Client(lib.connect(self.port), timeout=lib.PATIENCE)
            for s in range(1, 20, 2):
                c.send(headers(s, request("/w")))
                if c.answer(s)[0] == 200:
                    self.good += 1
                else:
                    self.bad += 1
                time.sleep(0.005)
            c.close()


def usage(pid):
    """CPU seconds and MB of a process."""
    with open("/proc/%d/stat" % pid) as f:
        words = f.read().rsplit(")", 1)[1].split()
    with open("/proc/%d/statm" % pid) as f:
        pages = int(f.read().split()[1])
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK"), pages * 4096 / 1e6


def run_attack(tap, proxy, port, attack, may_stay, unread, figures):
    pid = proxy.process.pid
    witness = Witness(port)
    cpu, memory = usage(pid)
    witness.start()
    a = Attacker(port, reading=not unread)
    start = time.monotonic()
    attack(a)
    most = usage(pid)[1]
    how = a.end()
    spent = time.monotonic() - start
    witness.over = True
    a.close()
    witness.join(20)
    cpu_after = usage(pid)[0]
    name = attack.__name__.replace("_", " ")
    if figures:
        print("# %-26s cpu %5.2f s of %5.2f  +%5.1f MB  %-18s witness %d" %
              (name, cpu_after - cpu, spent, most - memory, how, witness.good))
    tap.ok(proxy.alive(), name + ": the proxy lives", proxy.output())
    tap.ok(how in CODES and (may_stay or how != "open"), name + ": how it ends", how)
    tap.ok(witness.good and not witness.bad, name + ": others are served",
           "%d good, %d bad" % (witness.good, witness.bad))
    tap.ok(most - memory < MEMORY_MB, name + ": memory", "%.1f MB more" % (most - memory))


def main():
    args = lib.arguments(__doc__, ("figures", False, "print CPU and memory of each attack"),
                         ("only", "", "attacks whose name has this text"))
    tap = lib.Tap()
    server = lib.Server(serve)
    fe = lib.ports(1)[0]
    with lib.Proxy(args.program, CONF.format(fe=fe, s=server.port)) as proxy:
        for attack, may_stay, unread in ATTACKS:
            if args.only in attack.__name__ and proxy.alive():
                run_attack(tap, proxy, fe, attack, may_stay, unread, args.figures)
        tap.ok(proxy.alive(), "the proxy is alive", proxy.output())
        c = h2.Client(lib.connect(fe))
        c.send(headers(1, request("/after")))
        tap.eq(c.answer(1)[0], 200, "and serves")
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
