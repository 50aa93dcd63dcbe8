#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Two peers that share tables of five types: each teaches the other its half of the entries, then requests change them
on both sides while links are cut and clogged and processes reload, are killed and come back. In the end both have the
same, and no entry says less than what the other side has once acknowledged: a relay records all that peers say.

    peers_soak.py --entries 1000000 --rate 80000 --seconds 300 --partner PROGRAM       the long run, beside the reference
"""
import contextlib
import multiprocessing
import os
import random
import re
import selectors
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import time

import lib

CONF = """	nbthread 1
	localpeer {name}
	tune.stick-counters 5
	set-var proc.n int({offset})
	stats timeout 5m
defaults
	mode http
	timeout connect 5s
	timeout client 1m
	timeout server 1m
peers pp
	peer a 127.0.0.1:{a}
	peer b 127.0.0.1:{b}
frontend fill
	bind 127.0.0.1:{fill}
	http-request set-var(proc.n) var(proc.n),add(1)
{each}
frontend run
	bind 127.0.0.1:{run}
{drawn}
"""
# name, type, what is stored, how a number becomes a key
TABLES = (("ips", "ip", "gpc0,http_req_cnt", ",add(167772160)"), ("ip6s", "ipv6", "http_req_cnt", ",add(167772160)"),
          ("numbers", "integer", "gpt0,http_req_cnt", ""), ("texts", "string len 20", "http_req_cnt", ""),
          ("bytes", "binary len 8", "http_req_cnt,bytes_in_cnt", ""))
COUNT = 9  # the bit of http_req_cnt
NUMBER, TEXT, BYTES = 2, 6, 7


def rules(number):
    return "\n".join("\thttp-request track-sc%d %s%s table %s" % (i, number, t[3], t[0])
                     for i, t in enumerate(TABLES)) + "\n\thttp-request return status 200"


def tables(size):
    return "".join("backend %s\n\tstick-table type %s size %d expire 1h store %s peers pp\n" % (t[0], t[1], size, t[2])
                   for t in TABLES)


class Relay:
    """A process between two ports, told what to do by a pipe: cut and mend, clog and clear, end. It writes what passes
    into a file of each connection: a direction, a length, and bytes. Its name ends with .open as long as more may come."""

    def __init__(self, folder, port, to):
        self.folder, self.port, self.to = folder, port, to
        self.pipe, far = multiprocessing.Pipe()
        self.listener = socket.create_server(("127.0.0.1", port))
        self.process = multiprocessing.Process(target=self.run, args=(far,), daemon=True)
        self.process.start()
        self.listener.close()

    def tell(self, word):
        """The relay has done it when this returns; how many bytes it has moved so far."""
        self.pipe.send(word)
        return self.pipe.recv()

    def end(self):
        self.tell("end")
        self.process.join()

    def run(self, pipe):
        self.poll, self.ends, self.closed, self.count, self.moved = selectors.DefaultSelector(), {}, True, 0, 0
        self.poll.register(pipe, selectors.EVENT_READ)
        self.poll.register(self.listener, selectors.EVENT_READ)
        clogged, word = False, ""
        while word != "end":
            for key, _ in self.poll.select(0.05):
                if key.fileobj is pipe:
                    word = pipe.recv()
                    clogged = word == "clog" or clogged and word != "clear"
                    self.closed = word in ("cut", "end") or self.closed and word != "mend"
                    for sock in list(self.ends) if word in ("cut", "end") else ():
                        self.leave(sock)
                    pipe.send(self.moved)
                elif key.fileobj is self.listener:
                    self.accept()
                elif not clogged and key.fileobj in self.ends:
                    self.move(key.fileobj)
            if clogged:
                time.sleep(0.01)

    def accept(self):
        sock, _ = self.listener.accept()
        try:
            if self.closed:
                raise OSError
            other = socket.create_connection(("127.0.0.1", self.to))
        except OSError:
            sock.close()
            return
        self.count += 1
        out = open("%s/%d.%d.open" % (self.folder, self.port, self.count), "wb", 1 << 20)
        for way, pair in enumerate(((sock, other), (other, sock))):
            pair[0].setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.ends[pair[0]] = (way, pair[1], out)
            self.poll.register(pair[0], selectors.EVENT_READ)

    def move(self, sock):
        way, other, out = self.ends[sock]
        try:
            data = sock.recv(1 << 18)
            if data:
                other.sendall(data)
                out.write(struct.pack("<BI", way, len(data)) + data)
                self.moved += len(data)
                return
        except OSError:
            pass
        self.leave(sock)

    def leave(self, sock):
        _, other, out = self.ends.pop(sock, (0, None, None))
        for s in (sock, other) if other else ():
            self.ends.pop(s, None)
            self.poll.unregister(s)
            s.close()
        if out:
            out.close()
            os.rename(out.name, out.name[:-5])


# --- what was acknowledged ----------------------------------------------------------------------------------------

def varint(data, at):
    v = data[at]
    at += 1
    if v < 240:
        return v, at
    shift = 4
    while True:
        b = data[at]
        at += 1
        v += b << shift
        if b < 128:
            return v, at
        shift += 7


class Speaker:
    """What one side says on a connection, and what of it the other has acknowledged."""

    def __init__(self, lines):
        self.lines, self.rest = lines, b""  # of the hello
        self.tables, self.now = {}, None

    def define(self, data, at):
        ident, at = varint(data, at)
        size, at = varint(data, at)
        name, at = data[at:at + size].decode(), at + size
        kind, at = varint(data, at)
        length, at = varint(data, at)
        stored, at = varint(data, at)
        self.now = self.tables.setdefault(ident, {"waiting": [], "id": 0})  # it is defined again whenever it is meant
        self.now.update({"name": name.strip("/"), "kind": kind, "len": length,
                         "nth": bin(stored & ((1 << COUNT) - 1)).count("1")})

    def update(self, kind, data, at):
        """Notes a key, its count and its number; not those of a lesson."""
        t = self.now
        if kind == 128:
            t["id"] = int.from_bytes(data[at:at + 4], "big")
            at += 4
        elif kind == 129:
            t["id"] += 1
        else:
            return
        size = t["len"]
        if t["kind"] == TEXT:
            size, at = varint(data, at)
        key, at = data[at:at + size], at + size
        for _ in range(t["nth"]):
            _, at = varint(data, at)
        t["waiting"].append((t["id"], key, varint(data, at)[0]))

    def hear(self, data, other, acked):
        data, at = self.rest + data, 0
        while self.lines and (end := data.find(b"\n", at)) >= 0:
            self.lines, at = self.lines - 1, end + 1
        while not self.lines and len(data) - at >= 2:
            kind, body, size = data[at + 1], at + 2, 0
            if kind >= 128:
                try:
                    size, body = varint(data, body)
                except IndexError:
                    break
            if body + size > len(data):
                break
            if data[at] == 10 and kind == 132:
                ident, b = varint(data, body)
                other.agree(ident, int.from_bytes(data[b:b + 4], "big"), acked)
            elif data[at] == 10 and kind == 130:
                self.define(data, body)
            elif data[at] == 10 and kind == 131:
                self.now = self.tables[varint(data, body)[0]]
            elif data[at] == 10 and kind >= 128:
                self.update(kind, data, body)
            at = body + size
        self.rest = data[at:]

    def agree(self, ident, number, acked):
        """The reference acknowledges numbers that were never said, most often when much comes: these say nothing."""
        t = self.tables[ident]
        if ((t["id"] - number) & 0xffffffff) >= 1 << 31:
            return
        of, left = acked[t["name"]], []
        for u in t["waiting"]:
            if (number - u[0]) & 0xffffffff >= 1 << 31:
                left.append(u)
            elif of.get(u[1], -1) < u[2]:
                of[u[1]] = u[2]
        t["waiting"] = left


class Reader:
    """A process that reads what relays have written, when a connection has ended: it has time while others work."""

    def __init__(self, folder):
        self.folder = folder
        self.pipe, far = multiprocessing.Pipe()
        self.process = multiprocessing.Process(target=self.run, args=(far,), daemon=True)
        self.process.start()

    def end(self):
        """{table: {key, as in messages: the highest count that was acknowledged}}, and how many connections there were."""
        self.pipe.send("")
        got = self.pipe.recv()
        self.process.join()
        return got

    def run(self, pipe):
        os.nice(10)
        self.acked, done, over = {t[0]: {} for t in TABLES}, set(), False
        while not over:
            over = pipe.poll(0.5)
            for name in sorted(os.listdir(self.folder)):
                if name not in done and not name.endswith(".open"):
                    done.add(name)
                    self.read(name)
        pipe.send((self.acked, len(done)))

    def read(self, name):
        with open(os.path.join(self.folder, name), "rb") as f:
            data = f.read()
        sides, at = (Speaker(3), Speaker(1)), 0
        while at < len(data):
            way, size = struct.unpack_from("<BI", data, at)
            sides[way].hear(data[at + 5:at + 5 + size], sides[1 - way], self.acked)
            at += 5 + size


def shown_key(name, key):
    """A key of a message, as `show table` has it."""
    if name == "numbers":
        return b"%d" % struct.unpack(">i", key)
    if name in ("ips", "ip6s"):
        return socket.inet_ntop(socket.AF_INET if len(key) == 4 else socket.AF_INET6, key).encode()
    return key.hex().upper().encode() if name == "bytes" else key


# --- two processes ------------------------------------------------------------------------------------------------

class Side:
    """A process, the one that comes in its place, and requests to it unless it rests."""

    def __init__(self, program, name, values, entries, rate):
        at = dict(zip(("fill", "run"), lib.ports(2)), name=name, offset=values["offset"], a=values["a"], b=values["b"])
        self.conf = CONF.format(each=rules("var(proc.n)"), drawn=rules("rand(%d),add(%d)" % (
            entries // 10, values["offset"] + 1)), **at) + tables(entries // 5 + entries // 50 + 100)
        self.program, self.at, self.half, self.rate = program, at, entries // 10, rate
        self.sent, self.active, self.cpu, self.over, self.rest = 0, 0, 0, False, threading.Lock()
        self.start()

    def start(self, *args):
        self.proxy = lib.Proxy(self.program, self.conf, args, restless="peers")

    def ticks(self):
        with open("/proc/%d/stat" % self.proxy.process.pid) as f:
            return sum(map(int, f.read().rsplit(")", 1)[1].split()[11:13])) / os.sysconf("SC_CLK_TCK")

    def load(self, where, *args):
        """Requests; returns how many were answered."""
        r = subprocess.run([self.haload, "-q", "-c", "4", *args, "http://127.0.0.1:%d/" % self.at[where]],
                           capture_output=True, text=True)
        good = re.search(r"^# answers: 2xx (\d+)", r.stdout, re.M)
        return int(good[1]) if good else 0

    def fill(self):
        return self.load("fill", "-n", str(self.half))

    def run(self):
        while not self.over:
            with self.rest:
                begun = time.monotonic()
                self.sent += self.load("run", "-R", str(self.rate // 10), "-d", "1") * len(TABLES)
                self.active += time.monotonic() - begun
            time.sleep(0.02)  # for those who wait for its rest

    def used(self):
        return [int(x) for x in re.findall(r"used:(\d+)", self.proxy.ctl("show table"))]

    def is_full(self):
        return self.used() == [2 * self.half] * len(TABLES)

    def counts(self, table):
        """{key: what `show table` says of it}, but the times."""
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(60)
            s.connect(self.proxy.ctl_path)
            s.sendall(b"show table %s\n" % table.encode())
            text = lib.recv_all(s, 1 << 30)
        return dict(re.findall(rb"key=(\S+) use=\d+ exp=\d+ shard=\d+ (.*)", text))

    def leave(self):
        self.cpu += self.ticks()
        self.proxy.__exit__(None, None, None)

    def kill(self, other):
        self.cpu += self.ticks()
        self.proxy.process.kill()
        self.proxy.process.wait()
        with self.rest:  # until it knows all again: its counters begin with what it is taught
            self.proxy.__exit__(None, None, None)
            self.start()
            return lib.until(self.is_full, 60) or "%s of %d" % (self.used(), 2 * self.half)

    def reload(self, other):
        if not lib.is_reference(self.program):
            answer = self.proxy.ctl("reload")
            return "Success=1" in answer or answer
        return self.follow(other)

    def wait_quiet(self):
        """What both were sent has come, while they rest: nothing but heartbeats is said."""
        def is_quiet():
            before = sum(r.tell("") for r in Side.relays)
            time.sleep(1)
            return sum(r.tell("") for r in Side.relays) < before + 100 and self.proxy.info()["ConnectedPeers"] == "1"
        lib.until(is_quiet, 30)

    def follow(self, other):
        """Another process comes, which is taught by the one before it. The reference puts what it is taught over what
        peers have told since: there, the other side rests too, for as long as that takes (20 s with 1,000,000 entries)."""
        with contextlib.ExitStack() as both:
            both.enter_context(self.rest)  # what the old one counts meanwhile, the new one may count too
            if lib.is_reference(self.program):
                both.enter_context(other.rest)
                self.wait_quiet()
            old = self.proxy
            self.start("-sf", str(old.process.pid))
            good = lib.until(self.is_full, 120) and lib.until(lambda: not old.alive(), 120)
            why = "%s of %d, the old one lives: %s" % (self.used(), 2 * self.half, old.alive())
            old.__exit__(None, None, None)
            return good or why


def trouble(tap, rng, sides, relays, seconds):
    """Each kind in turn, but those of Side.spared; tells how often, and how long sides rested for them."""
    end, kinds, done, wrong, rests = time.monotonic() + seconds, [], {}, [], {}
    while time.monotonic() < end:
        time.sleep(rng.random() * min(8, seconds / 8))
        if not kinds:
            kinds = [(k, s) for k in ("cut", "clog", "reload", "kill", "follow") for s in sides]
            rng.shuffle(kinds)
        kind, side = kinds.pop()
        what = kind + " " + side.at["name"] if kind not in ("cut", "clog") else kind
        if what in Side.spared:
            continue
        good, begun = True, time.monotonic()
        if kind in ("cut", "clog"):
            for r in relays:
                r.tell(kind)
            time.sleep(rng.random() * min(6, seconds / 8))
            for r in relays:
                r.tell("mend" if kind == "cut" else "clear")
        else:
            good = getattr(side, kind)(sides[side is sides[0]])
            rests[what] = rests.get(what, 0) + time.monotonic() - begun
        done[what] = done.get(what, 0) + 1
        if good is not True:
            wrong.append("%s: %s" % (what, good))
    tap.ok(not wrong, "troubles: " + ", ".join("%d %s" % (n, w) for w, n in sorted(done.items())), "\n".join(wrong))
    print("# seconds that these took: " + ", ".join("%s %.0f" % x for x in sorted(rests.items())))


def same(a, b):
    return all(a.counts(t[0]) == b.counts(t[0]) for t in TABLES)


def difference(a, b):
    out = ["used: %s and %s" % (a.used(), b.used())]
    for t in TABLES:
        x, y = a.counts(t[0]), b.counts(t[0])
        differ = [k for k in {**x, **y} if x.get(k) != y.get(k)]
        out += ["%s: %d differ" % (t[0], len(differ))] + ["  %s: %s, %s" % (k, x.get(k), y.get(k)) for k in differ[:3]]
    return "\n".join(out)


def lost(reader, side):
    """What the end has less of than was acknowledged; how many keys and connections were compared."""
    acked, links = reader.end()
    out, keys = [], 0
    for name, of in acked.items():
        have = {k: int(re.search(rb"http_req_cnt=(\d+)", v)[1]) for k, v in side.counts(name).items()}
        keys += len(of)
        for key, count in of.items():
            if have.get(shown_key(name, key), -1) < count:
                out.append("%s %s: %s, %d was acknowledged" % (name, shown_key(name, key),
                                                               have.get(shown_key(name, key)), count))
    return out, keys, links


def soak(tap, args, folder, programs):
    own_a, own_b, to_a, to_b = lib.ports(4)
    relays = [Relay(folder + "/said", to_a, own_a), Relay(folder + "/said", to_b, own_b)]
    reader, half, Side.relays = Reader(folder + "/said"), args.entries // 10, relays
    a = Side(programs[0], "a", {"a": own_a, "b": to_b, "offset": 0}, args.entries, args.rate)
    b = Side(programs[1], "b", {"a": to_a, "b": own_b, "offset": half}, args.entries, args.rate)
    tap.eq((a.fill(), b.fill()), (half, half), "half of the entries on each side")
    begun, spent = time.monotonic(), (a.ticks(), b.ticks())
    for r in relays:
        r.tell("mend")
    tap.ok(lib.until(lambda: a.is_full() and b.is_full(), 120), "each teaches the other", (a.used(), b.used()))
    print("# %d entries are taught both ways in %.1f s, CPU %.2f and %.2f s" % (
        args.entries, time.monotonic() - begun, a.ticks() - spent[0], b.ticks() - spent[1]))
    tap.ok(lib.until(lambda: same(a, b), 60), "%d entries are the same" % args.entries, difference(a, b))
    begun, threads = time.monotonic(), [threading.Thread(target=s.run) for s in (a, b)]
    for t in threads:
        t.start()
    trouble(tap, random.Random(args.seed), (a, b), relays, args.seconds)
    a.over = b.over = True
    for t in threads:
        t.join()
    took = time.monotonic() - begun
    tap.ok(lib.until(lambda: same(a, b), 120), "the same on both sides", difference(a, b))
    sent = a.sent + b.sent
    tap.ok(sent, "%d updates in %.0f s: %.0f a second, %.0f while no side rests" % (
        sent, took, sent / took, sum(s.sent / s.active for s in (a, b))))
    for r in relays:
        r.end()
    gone, keys, links = lost(reader, a)
    tap.ok(keys and not gone, "%d entries were acknowledged on %d links, none is lost" % (keys, links), "\n".join(gone[:20]))
    for s in (a, b):
        s.leave()
        print("# %s: CPU %.1f s, with what was killed (%s)" % (s.at["name"], s.cpu, s.program))


def main():
    args = lib.arguments(__doc__, ("partner", "", "the program on the other side; the same"), ("seed", 1, "of the troubles"),
                         ("spare", "", "troubles to leave out: reload b,follow b"),
                         ("haload", "", "the program whose haload sends requests; --program"),
                         ("entries", 5000, "entries of all tables"), ("seconds", 4, "how long there is trouble"),
                         ("rate", 10000, "updates a second of both sides"))
    tap = lib.Tap()
    folder = tempfile.mkdtemp(prefix="hapt.")
    os.mkdir(folder + "/said")
    Side.haload, Side.spared = folder + "/haload", args.spare.split(",")
    os.symlink(os.path.abspath(args.haload or args.program), Side.haload)
    try:
        soak(tap, args, folder, (args.program, args.partner or args.program))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
