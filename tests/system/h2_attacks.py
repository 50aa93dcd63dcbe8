#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""HTTP/2 clients that mean harm: each attack runs for a bounded number of frames against a running proxy.

Checked during and after each: the proxy lives, another client's requests are answered all along, the
memory of the process stays bounded, and what becomes of the attacker's connection: it is closed
with a documented code, or it goes on being served within its bounds. Nothing asserts how fast.

--figures prints what each attack costs: CPU time, memory at its peak, and how long the other client's
requests took at most (99 of 100). What is compared, and how it is kept from measuring the attacker's
machine instead of the proxy:
- The proxy has one core for itself, all others share another one: the other client and its server first;
  the attacker and the attacked servers get all of that core that these leave (SCHED_IDLE). It is enough to
  keep the proxy's core busy where an attack can. --realtime, for root, puts the other client before
  everything else of the machine.
- The other client asks at a fixed rate, on its own connections, RATE times a second for --seconds:
  --repeats runs, quiet ones and attacks in turn. The least p99 counts: what else the machine does, or the
  hypervisor below it, only adds. On a busy machine all of them are wrong.
- "Quiet" is the same client while, in the attacker's place, a well-behaved client asks as fast as it gets
  its answers: both cores are awake and shared in both runs, as one that sleeps would answer later. "Idle" is
  printed at the beginning: nobody else does anything.
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
	{threads}
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
	{servers}
backend w
	server s 127.0.0.1:{w}
"""
# MB that an attack may add to the process
MEMORY_MB = 80
PATIENCE = 4.0
# requests a second of the client that means no harm, with --figures, and on each of its connections
RATE = 1000
ON_CONNECTION = 50
# bytes of one system call of ours: a longer one would keep the core from others
PART = 16384
SERVERS = 8


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
            sock.settimeout(10)
            sock.recv(1)  # as long as somebody waits
            return
        size = 1000000 if path.startswith("/big") else 2
        part = b"x" * min(size, PART)
        sock.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % size + part)
        for at in range(len(part), size, PART):
            sock.sendall(part[:size - at])


class Backend(lib.Server):
    def __init__(self, address):
        super().__init__(serve, address=address)
        self.address = address


class Attacker(h2.Client):
    """Sends without waiting; a thread reads what comes, so that nothing is held up by us."""

    def __init__(self, port, pairs=(), reading=True):
        super().__init__(lib.connect(port), pairs=pairs, timeout=PATIENCE, auto=False)
        self.code = None
        self.closed = threading.Event()
        self.windows = {0: 65535}
        if reading:
            threading.Thread(target=self.read_all, daemon=True).start()

    def read_all(self):
        """Takes what comes as fast as it can, and only looks at frames that matter."""
        buf = b""
        try:
            while True:
                part = self.sock.recv(1 << 18)
                if not part:
                    break
                buf = self.look_at(buf + part)
        except OSError:
            return
        self.closed.set()

    def look_at(self, buf):
        """Returns what follows the whole frames of <buf>."""
        at, end = 0, len(buf)
        while at + 9 <= end:
            length = (buf[at] << 16) + (buf[at + 1] << 8) + buf[at + 2]
            if at + 9 + length > end:
                break
            kind, payload = buf[at + 3], at + 9
            if kind == h2.WINDOW_UPDATE:
                stream = int.from_bytes(buf[at + 5:payload], "big")
                more = int.from_bytes(buf[payload:payload + 4], "big")
                self.windows[stream] = self.windows.get(stream, 0) + more
            elif kind == h2.GOAWAY:
                self.code = h2.error_name(int.from_bytes(buf[payload + 4:payload + 8], "big"))
            at = payload + length
        return buf[at:]

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


def ordinary(a):
    """No attack: what a busy client does, for comparison. Ten requests at a time, as their answers come."""
    a.auto = True
    for s in range(1, 401, 2):
        a.send(headers(s, request()))
        if s % 20 == 19:
            while a.next()[:2] != ("headers", s):
                pass


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

    def __init__(self, port, priority):
        self.port = port
        self.priority = priority
        self.pipe, theirs = multiprocessing.Pipe()
        self.process = multiprocessing.Process(target=self.live, args=(theirs,), daemon=True)
        self.process.start()

    def live(self, pipe):
        go_first(self.priority)
        lib.Server(serve, self.port)
        while True:
            order = pipe.recv()
            if order:
                pipe.send(self.ask(pipe, order))

    @staticmethod
    def ask(pipe, port):
        """Asks at a steady rate until anything is said, on one connection at least. Returns good and
        bad answers, and the milliseconds of each.
        """
        good = bad = 0
        took = []
        while not took or not pipe.poll():
            c = h2.Client(lib.connect(port), timeout=lib.PATIENCE)
            due = time.monotonic()
            for s in range(1, 2 * ON_CONNECTION, 2):
                due = max(due + 1 / RATE, time.monotonic())
                time.sleep(max(0.0, due - time.monotonic()))
                raw = headers(s, request("/w"))
                start = time.monotonic()
                c.send(raw)
                status = c.answer(s)[0]
                took.append((time.monotonic() - start) * 1000)
                good += status == 200
                bad += status != 200
            c.close()
        return good, bad, took

    def begin(self, port):
        self.pipe.send(port)

    def end(self):
        self.pipe.send(None)
        return self.pipe.recv() if self.pipe.poll(3 * lib.PATIENCE) else (0, 1, [])


def use_core(n):
    """This process, and those that it starts, run on one core; where there is only one, on that."""
    os.sched_setaffinity(0, {min(n, os.cpu_count() - 1)})


def go_first(n):
    """This process goes before all others of the machine, if <n> is not 0."""
    if n:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(n))


def place_proxy(args):
    """Before a proxy starts: its core, and with --realtime before what else the machine does there."""
    if args.figures:
        use_core(1)
        os.nice(-20 if args.realtime else 0)


def go_last():
    """This process goes behind all others: it gets what they leave, and wakes nobody late."""
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))


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


def attack_once(port, attack, unread, wait):
    """Returns how it ended, if that is waited for."""
    a = Attacker(port, reading=not unread)
    attack(a)
    how = a.end() if wait else None
    a.close()
    return how


class Target:
    """A running program that is attacked."""

    def __init__(self, name, program, servers, witness, args):
        self.name = name
        self.witness = witness
        self.args = args
        self.lenient = lib.is_reference(program)
        self.port = lib.ports(1)[0]
        lines = ["server s%d %s:%d" % (i, s.address, s.port) for i, s in enumerate(servers)]
        conf = CONF.format(fe=self.port, servers="\n\t".join(lines), w=witness.port, large="v" * 4000,
                           threads="nbthread 1" if args.figures else "")
        self.proxy = lib.Proxy(program, conf, preexec=lambda: place_proxy(args))
        self.pid = self.proxy.process.pid

    def watch(self, attack, unread):
        """Attacks for a while, if that is not None. Returns what the other client met, and the CPU time
        in percent.
        """
        before = cpu_of(self.pid)
        self.witness.begin(self.port)
        start = time.monotonic()
        while time.monotonic() - start < self.args.seconds:
            if attack:
                attack_once(self.port, attack, unread, False)
            else:
                time.sleep(self.args.seconds)
        spent = time.monotonic() - start
        met = self.witness.end()
        return met, (cpu_of(self.pid) - before) / spent * 100

    def idle(self):
        print("# %-24s %-6s p99 %5.2f ms" % ("idle", self.name, p99(self.watch(None, False)[0][2])),
              flush=True)

    def compare(self, attack, unread, how, more):
        """Prints what the attack costs the process and its other client."""
        quiet, busy, cpu = [], [], []
        for _ in range(self.args.repeats):
            quiet.append(p99(self.watch(ordinary, True)[0][2]))  # it reads by itself
            met, percent = self.watch(attack, unread)
            busy.append(p99(met[2]))
            cpu.append(percent)
        ratio = min(busy) / max(min(quiet), 0.001)
        print("# %-24s %-6s cpu %5.1f%%  +%5.1f MB  p99 %5.2f ms, quiet %5.2f: %5.2f times%s  %s" %
              (attack.__name__.replace("_", " "), self.name, max(cpu), more, min(busy), min(quiet),
               ratio, " (!)" if ratio > 2 else "", how), flush=True)

    def run(self, tap, attack, may_stay, unread):
        proxy = self.proxy
        forget_peak(self.pid)
        memory = memory_of(self.pid)
        self.witness.begin(self.port)
        how = attack_once(self.port, attack, unread, True)
        good, bad = self.witness.end()[:2]
        more = memory_of(self.pid, "VmHWM") - memory
        name = attack.__name__.replace("_", " ")
        if self.args.figures:
            self.compare(attack, unread, how, more)
        name = "%s%s: " % (self.name and self.name + ", ", name)
        may_stay = may_stay or self.lenient
        tap.ok(proxy.alive(), name + "the proxy lives", proxy.output())
        tap.ok(how in CODES and (may_stay or how != "open"), name + "how it ends", how)
        tap.ok(good and not bad, name + "others are served", "%d good, %d bad" % (good, bad))
        tap.ok(more < MEMORY_MB, name + "memory", "%.1f MB more" % more)

    def finish(self, tap):
        tap.ok(self.proxy.alive(), "the proxy is alive " + self.name, self.proxy.output())
        c = h2.Client(lib.connect(self.port))
        c.send(headers(1, request("/w")))
        tap.eq(c.answer(1)[0], 200, "and serves " + self.name)
        self.proxy.stop()


def main():
    args = lib.arguments(__doc__, ("figures", False, "print CPU, memory and latency of each attack"),
                         ("against", "", "another program to attack in turn"),
                         ("repeats", 3, "runs of each attack, with --figures"),
                         ("seconds", 3.0, "of each such run"),
                         ("realtime", False, "the other client goes before all else"),
                         ("only", "", "attacks whose name has one of these texts, with commas between"))
    tap = lib.Tap()
    # what a sanitizer keeps from being used again is no memory of the program's
    os.environ["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=8"
    # several addresses have ports for more connections
    servers = [Backend("127.0.0.%d" % i) for i in range(1, SERVERS + 1)]
    args.figures = bool(args.figures or args.against)
    if args.figures:
        use_core(0)
    witness = Witness(lib.ports(1)[0], 1 if args.realtime else 0)
    targets = [Target("first" if args.against else "", args.program, servers, witness, args)]
    if args.against:
        targets.append(Target("second", args.against, servers, witness, args))
    if args.figures:
        go_last()
        for target in targets:
            target.idle()
    for attack, may_stay, unread in ATTACKS:
        for target in targets:
            if any(t in attack.__name__ for t in args.only.split(",")) and target.proxy.alive():
                target.run(tap, attack, may_stay, unread)
    for target in targets:
        target.finish(tap)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
