#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""HTTP/2 clients that mean harm: each attack runs for a bounded number of frames against a running proxy.

Checked during and after each: the proxy lives, another client's requests are answered all along, the
memory of the process stays bounded, and what becomes of the attacker's connection: it is closed
with a documented code, or it goes on being served within its bounds. Nothing asserts how fast.

--figures prints what each attack costs: CPU time, memory at its peak, and how long the other client's
requests took at most (99 of 100). Each attack is then repeated for a second, twice: first on another
process of the program, so that both latencies are of a machine that is as busy.
--against PROGRAM runs each attack on that one as well, in turn.
"""
import multiprocessing
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
	http-request return status 204 hdr x-large {large} if {{ path /none }}
	use_backend w if {{ path /w }}
	default_backend b
backend b
	server s 127.0.0.1:{s}
backend w
	server s 127.0.0.1:{w}
"""
# MB that an attack may add to the process
MEMORY_MB = 80
PATIENCE = 4.0


def serve(sock):
    """The server: answers at once, /slow never, /big with 1 MB; /stuck does not even read."""
    r = lib.Reader(sock)
    while True:
        head = r.head()
        if not head:
            return
        path = head[0].split(" ")[1]
        if path.startswith("/stuck"):
            time.sleep(10)
            return
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
        self.windows = {0: 65535}
        if reading:
            threading.Thread(target=self.read_all, daemon=True).start()

    def read_all(self):
        try:
            while True:
                f = self.frame()
                if f is None:
                    break
                self.counts[f.type] = self.counts.get(f.type, 0) + 1
                if f.type == h2.WINDOW_UPDATE:
                    more = int.from_bytes(f.payload, "big")
                    self.windows[f.stream] = self.windows.get(f.stream, 0) + more
                if f.type == h2.GOAWAY:
                    self.code = h2.error_name(int.from_bytes(f.payload[4:8], "big"))
        except OSError:
            return
        self.closed.set()

    def pour(self, raw, times):
        """Sends <raw> up to <times> times. False: the peer has enough, or takes no more."""
        self.sock.settimeout(PATIENCE)
        for _ in range(times):
            if self.closed.is_set():
                return False
            try:
                self.sock.sendall(raw)
            except OSError:
                return False
        return True

    def upload(self, streams, most=1 << 20):
        """Sends bodies as far as the windows allow, until nothing more is allowed."""
        left = dict.fromkeys(streams, most)
        quiet = 0
        while quiet < 3 and not self.closed.is_set():
            quiet += 1
            for s in left:
                n = min(left[s], 16384, 16384 + self.windows.get(s, 0), self.windows.get(0, 65535))
                if n > 0:
                    quiet = 0
                    left[s] -= n
                    self.windows[s] = self.windows.get(s, 0) - n
                    self.windows[0] = self.windows.get(0, 65535) - n
                    self.pour(data(s, b"x" * n), 1)
            if quiet:
                time.sleep(0.1)

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


def unread_heads(a):
    """Answers without a body are not held up by windows: they must not be queued without end."""
    for i in range(600):
        first = 1 + 100 * i
        if not a.pour(b"".join(headers(s, request("/none")) for s in range(first, first + 100, 2)), 1):
            return
        time.sleep(0.002)


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


def stalled_uploads(a):
    """As much as the windows allow, to a server that does not read."""
    streams = range(1, 40, 2)
    a.pour(b"".join(headers(s, request("/stuck", "POST"), end=False) for s in streams), 1)
    a.upload(streams, most=8 << 20)


def crumbs(a):
    """One byte of a body at a time, with much else between them: it must not hold the buffers."""
    a.pour(headers(1, request("/stuck", "POST"), end=False), 1)
    a.upload((1,), most=8 << 20)
    a.pour(headers(3, request("/stuck", "POST"), end=False), 1)
    a.pour(data(3, b"x") + frame(0x99, 0, 0, b"x" * 16000), 12000)


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
    (tiny_window, True, False), (unread_answers, True, True), (unread_heads, True, True), (dribble, True, False),
    (too_many_streams, True, False), (bad_requests, True, False), (padded_nothing, True, False),
    (stalled_uploads, True, False), (crumbs, True, False),
)
CODES = ("open", "closed", "ENHANCE_YOUR_CALM", "PROTOCOL_ERROR", "COMPRESSION_ERROR",
         "FRAME_SIZE_ERROR", "FLOW_CONTROL_ERROR", "STREAM_CLOSED", "NO_ERROR", "INTERNAL_ERROR")


class Witness:
    """Another client, which asks all along. It lives in a process of its own, with its server, so that
    the attacker does not slow it down by itself.
    """

    def __init__(self, port):
        self.port = port
        self.pipe, theirs = multiprocessing.Pipe()
        self.process = multiprocessing.Process(target=self.live, args=(theirs,), daemon=True)
        self.process.start()

    def live(self, pipe):
        lib.Server(serve, self.port)
        while True:
            order = pipe.recv()
            if isinstance(order, int):
                pipe.send(self.ask(order, pipe))

    @staticmethod
    def ask(port, pipe):
        """Asks until anything is said, ten times at least. Returns good and bad answers, and the milliseconds of each."""
        good = bad = 0
        took = []
        while not took or not pipe.poll():
            c = h2.Client(lib.connect(port), timeout=lib.PATIENCE)
            for s in range(1, 20, 2):
                start = time.monotonic()
                c.send(headers(s, request("/w")))
                status = c.answer(s)[0]
                took.append((time.monotonic() - start) * 1000)
                good += status == 200
                bad += status != 200
                time.sleep(0.002)
            c.close()
        return good, bad, took

    def begin(self, port):
        self.pipe.send(port)

    def end(self):
        self.pipe.send(None)
        return self.pipe.recv() if self.pipe.poll(3 * lib.PATIENCE) else (0, 1, [])


def p99(took):
    return sorted(took)[len(took) * 99 // 100] if took else 0.0


def cpu_of(pid):
    """CPU seconds of a process."""
    with open("/proc/%d/stat" % pid) as f:
        words = f.read().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def memory_of(pid, name="VmRSS"):
    """MB of a process; VmHWM: at most, since forget_peak()."""
    with open("/proc/%d/status" % pid) as f:
        return next(int(l.split()[1]) for l in f if l.startswith(name)) / 1024


def forget_peak(pid):
    try:
        with open("/proc/%d/clear_refs" % pid, "w") as f:
            f.write("5")
    except OSError:
        pass


def attack_once(port, attack, unread):
    """Returns how it ended."""
    a = Attacker(port, reading=not unread)
    attack(a)
    how = a.end()
    a.close()
    return how


class Target:
    """A running program that is attacked. <decoy>: so is another process of it, for comparison."""

    def __init__(self, name, program, server, witness, decoy):
        self.name = name
        self.witness = witness
        self.lenient = lib.is_reference(program)
        self.ports = lib.ports(2)
        self.proxies = [self.start(program, p, server) for p in self.ports[:2 if decoy else 1]]

    def start(self, program, port, server):
        return lib.Proxy(program, CONF.format(fe=port, s=server.port, w=self.witness.port,
                                                large="v" * 4000))

    def figures(self, attack, unread):
        """What others met while the other process was attacked."""
        self.witness.begin(self.ports[0])
        self.repeat(self.ports[1], attack, unread, 1.0)
        return p99(self.witness.end()[2])

    @staticmethod
    def repeat(port, attack, unread, seconds):
        start = time.monotonic()
        how = attack_once(port, attack, unread)
        while time.monotonic() - start < seconds:
            how = attack_once(port, attack, unread)
        return how, time.monotonic() - start

    def run(self, tap, attack, may_stay, unread):
        proxy, pid = self.proxies[0], self.proxies[0].process.pid
        decoy = len(self.proxies) > 1
        quiet = self.figures(attack, unread) if decoy else 0
        forget_peak(pid)
        cpu, memory = cpu_of(pid), memory_of(pid)
        self.witness.begin(self.ports[0])
        how, spent = self.repeat(self.ports[0], attack, unread, 1.0 if decoy else 0)
        good, bad, took = self.witness.end()
        more = memory_of(pid, "VmHWM") - memory
        name = attack.__name__.replace("_", " ")
        if decoy:
            print("# %-24s %-6s cpu %5.1f%%  +%5.1f MB  p99 %6.2f ms for %6.2f  %-18s %d served" %
                  (name, self.name, (cpu_of(pid) - cpu) / spent * 100, more, p99(took), quiet,
                   how, good))
        name = "%s%s: " % (self.name and self.name + ", ", name)
        may_stay = may_stay or self.lenient
        tap.ok(proxy.alive(), name + "the proxy lives", proxy.output())
        tap.ok(how in CODES and (may_stay or how != "open"), name + "how it ends", how)
        tap.ok(good and not bad, name + "others are served", "%d good, %d bad" % (good, bad))
        tap.ok(more < MEMORY_MB, name + "memory", "%.1f MB more" % more)

    def finish(self, tap):
        tap.ok(self.proxies[0].alive(), "the proxy is alive " + self.name,
               self.proxies[0].output())
        c = h2.Client(lib.connect(self.ports[0]))
        c.send(headers(1, request("/after")))
        tap.eq(c.answer(1)[0], 200, "and serves " + self.name)
        for proxy in self.proxies:
            proxy.stop()


def main():
    args = lib.arguments(__doc__, ("figures", False, "print CPU, memory and latency of each attack"),
                         ("against", "", "another program to attack in turn"),
                         ("only", "", "attacks whose name has this text"))
    tap = lib.Tap()
    os.environ.setdefault("ASAN_OPTIONS", "quarantine_size_mb=8")  # it is no memory of the program's
    server = lib.Server(serve)
    witness = Witness(lib.ports(1)[0])
    decoy = bool(args.figures or args.against)
    targets = [Target("first" if args.against else "", args.program, server, witness, decoy)]
    if args.against:
        targets.append(Target("second", args.against, server, witness, decoy))
    for attack, may_stay, unread in ATTACKS:
        for target in targets:
            if args.only in attack.__name__ and target.proxies[0].alive():
                target.run(tap, attack, may_stay, unread)
    for target in targets:
        target.finish(tap)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
