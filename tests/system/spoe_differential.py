#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A scripted agent of SPOE behind this program and behind the reference: each case is a request, and what the agent does at
each of its events is drawn from the case's number, so that both programs meet the same agent.

Its ACK comes in pieces, twice, for a frame that is none, without FIN, with ABORT, behind frames of unknown types, with
actions of all types, mutated or cut, in another order than it was asked for; or it says nothing, disconnects, closes, resets,
or dies amid a frame. Compared are what the agent gets (messages, their order and values), status, variables, the error, the log
lines. What the two do otherwise is in tests/differences.txt; nothing may hang, and no client goes without an answer.

Without a reference program (--reference, or $REFERENCE) only the last is tested. --cases N of each kind, --seed S, --only KIND
--show; the long run is spoe_differential.py --cases 10000."""
# differs: spoe-frames
# differs: spoe-numbers
import os
import random
import re
import shutil
import struct
import tempfile
import threading
import time

import lib
import lib_spop as spop

CONF = """
	nbthread 1
	log 127.0.0.1:{log} len 8192 local0
defaults
	mode http
	timeout connect 2s
	timeout client 20s
	timeout server 20s
	timeout http-keep-alive 20s
frontend fe
	bind 127.0.0.1:{fe}
	filter spoe engine e config {dir}/agent.conf
	http-request set-var(txn.case) path
	http-request send-spoe-group e g if {{ path_end /g }}
	default_backend be
backend be
	http-response set-header x-shown "{shown}"
	server s 127.0.0.1:{origin}
frontend origin
	bind 127.0.0.1:{origin}
	timeout client 60s
	http-request return status 200 content-type text/plain string hello
backend agents
	mode spop
	timeout server 30s
	server a 127.0.0.1:{agent}
"""
NAMES = ("a", "b", "c", "err")
SHOWN = "|".join("%%[var(%s.p.%s)]" % (scope, name) for name in NAMES for scope in ("txn", "sess", "req", "res"))
AGENT = """[e]
spoe-agent ag
	messages first second response
	groups g
	log 127.0.0.1:{log} len 8192 local1
	option var-prefix p
	option set-on-error err
	option continue-on-error
	timeout processing {timeout}
	use-backend agents
spoe-message first
	args case=path method src=src yes=always_true number=int(-77) bytes=bin(00ff7f) long=req.hdr(long)
	event on-frontend-http-request
spoe-message second
	args case=path none=req.hdr(none) six=ipv6(2001:db8::1)
	event on-frontend-http-request
spoe-message response
	args case=var(txn.case) status=status
	event on-http-response
spoe-message grouped
	args case=path query
spoe-group g
	messages grouped
"""


# numbers of more than 64 bits, and NUL in texts, of which the reference shows what is in front
# (the upper half of a type is flags)
STRANGE = re.compile(rb"[\x80-\xff]{9}|[%s].{1,60}?\0" % re.escape(bytes(range(8, 256, 16))), re.S)


# --- cases -----------------------------------------------------------------------------------------------------------------

def value(rng):
    """A typed value, with the bytes that it has on the wire."""
    kind = rng.randrange(11)
    number = rng.choice((0, 1, 239, 240, 2287, 2288, 264431, 264432, 33818864, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 63 - 1,
                         2 ** 63, 2 ** 64 - 1, rng.getrandbits(rng.randrange(1, 64))))
    text = bytes(rng.choice(b"abcXYZ019-_.") for _ in range(rng.choice((0, 1, 5, 239, 240, 300))))
    return (b"\x00", b"\x11", b"\x01", b"\x02" + spop.varint(number), b"\x03" + spop.varint(number), b"\x04" + spop.varint(number),
            b"\x05" + spop.varint(number), b"\x06" + bytes(rng.randrange(256) for _ in range(4)),
            b"\x07" + bytes(rng.randrange(256) for _ in range(16)), b"\x08" + spop.text(text), b"\x09" + spop.text(text))[kind]


def actions(rng):
    out = b""
    for _ in range(rng.choice((0, 1, 1, 2, 3, 6))):
        scope, name = rng.choice(("sess", "txn", "req", "res", "txn")), rng.choice(("a", "b", "c", "unknown"))
        out += spop.unset_var(scope, name) if rng.random() < 0.2 else spop.set_var(scope, name, value(rng))
    return out


def mutated(rng, data):
    data = bytearray(data or spop.set_var("txn", "a", "x"))
    for _ in range(rng.choice((1, 1, 2))):
        at = rng.randrange(len(data)) if data else 0
        how = rng.randrange(4)
        if how == 0:
            data[at:] = b""
        elif how == 1 and data:
            data[at] = rng.choice((0, 1, 2, 3, 4, 5, 15, 16, 127, 128, 239, 240, 255))
        elif how == 2:
            data[at:at] = bytes([rng.randrange(256)])
        elif data:
            del data[at]
        if not data:
            break
    return bytes(data)


def cuts(rng, data):
    """The same bytes in pieces."""
    if rng.random() < 0.1:
        return [data[i:i + 1] for i in range(min(len(data), 40))] + ([data[40:]] if len(data) > 40 else [])
    at = sorted({rng.randrange(len(data)) for _ in range(rng.randrange(1, 6))} - {0})
    return [data[a:b] for a, b in zip([0] + at, at + [len(data)])]


# A step is a function (rng, stream, number) that gives the pieces which are sent, and what the agent does then: None, "close",
# "reset", "later" (others are answered first), or "stuck" (it reads on, answers nothing more, and closes after the timeout).
def good(rng, stream, number):
    return [spop.frame(spop.ACK, actions(rng), stream, number)], None


def pieces(rng, stream, number):
    return cuts(rng, spop.frame(spop.ACK, actions(rng), stream, number)), None


def later(rng, stream, number):
    return [spop.frame(spop.ACK, actions(rng), stream, number)], "later"


def strange(rng, stream, number):
    """A frame of no known type, in front."""
    kind = rng.choice((0, 4, 50, 100, 104, 255))
    return [spop.frame(kind, b"xyz" * rng.randrange(5), rng.choice((0, stream)), rng.choice((0, 1)))
            + spop.frame(spop.ACK, actions(rng), stream, number)], None


def wrong_actions(rng, stream, number):
    data = mutated(rng, actions(rng))
    while STRANGE.search(data):
        data = mutated(rng, actions(rng))
    return [spop.frame(spop.ACK, data, stream, number)], None


def abort(rng, stream, number):
    return [spop.frame(spop.ACK, actions(rng), stream, number, 3)], None


def twice(rng, stream, number):
    data = spop.frame(spop.ACK, actions(rng), stream, number)
    return [data + data], None


def unasked(rng, stream, number):
    """An ACK of what was not asked, then the right one."""
    other = rng.choice(((stream + 2, number), (stream, number + 1), (0, 0), (stream + 1, number), (2 ** 40, 1)))
    return [spop.frame(spop.ACK, actions(rng), *other) + spop.frame(spop.ACK, actions(rng), stream, number)], None


def unfinished(rng, stream, number):
    return [spop.frame(spop.ACK, actions(rng), stream, number, rng.choice((0, 2)))], "stuck"


def no_answer(rng, stream, number):
    return [], None


def goodbye(rng, stream, number):
    status = rng.choice((0, 1, 2, 3, 5, 12, 13, 99, 100, 1000))
    return [spop.frame(spop.AGENT_DISCONNECT, spop.disconnect(status))], "close"


def gone(rng, stream, number):
    return [], rng.choice(("close", "reset"))


def dies(rng, stream, number):
    """Amid a frame."""
    data = spop.frame(spop.ACK, actions(rng), stream, number)
    return [data[:rng.randrange(1, len(data))]], rng.choice(("close", "reset"))


def bad_size(rng, stream, number):
    return [rng.choice((b"\0\xff\xff\xff", struct.pack(">I", 16381) + b"x" * 50, b"\0\0\0\1x", b"\0\0\0\0", b"\0\0\0\6gghhii"))], "stuck"


def bad_type(rng, stream, number):
    return [rng.choice((spop.frame(spop.AGENT_HELLO, spop.hello()), spop.frame(spop.NOTIFY, b"", stream, number),
                        spop.frame(spop.HELLO, spop.hello())))], "stuck"


TIMEOUT = "1"
# kind: (steps, clients at once). With one client the agent breaks the protocol or its connection: the reference may wait for its
# timeout then, where this program knows what is wrong.
KINDS = {
    "frames in pieces": ((good, pieces, pieces), 8),
    "another order": ((good, later, later), 8),
    "actions that are wrong": ((wrong_actions,), 4),
    "agents that die": ((good, gone, dies, goodbye), 1),
    "other types": ((good, strange, bad_type), 1),
    "answers that are wrong": ((good, abort, twice, unasked, unfinished), 1),
    "sizes that are wrong": ((good, bad_size), 1),
    "no answer": ((good, good, good, no_answer), 8),
}


def peers(port):
    """What the kernel knows of connections to a port of 127.0.0.1, seen from the other end: {its port: (state, bytes that it has not read)}"""
    with open("/proc/net/tcp") as f:
        rows = [line.split() for line in f][1:]
    return {int(row[1][9:], 16): (row[3], int(row[4].split(":")[1], 16)) for row in rows if row[2] == "0100007F:%04X" % port}


class Scripted:
    """The agent of one program. got: {case: [messages of each frame]}"""

    def __init__(self, kind, seed):
        self.steps, self.seed = KINDS[kind][0], seed
        self.got, self.lock, self.stuck, self.left = {}, threading.Lock(), 0, set()
        self.server = lib.Server(self.serve)
        self.port = self.server.port

    def has_settled(self):
        """Has the program let go of all connections that the agent has ended?"""
        there = peers(self.port)
        return not self.stuck and not [p for p in tuple(self.left) if p in there and there[p][0] in ("01", "08")] # established, close-wait

    def flush(self, sock, held):
        """What was held back, the last first."""
        with self.lock:
            parts = held[::-1]
            del held[:]
        for part in parts:
            sock.sendall(part)

    def stay(self, sock):
        """Reads on for longer than streams wait."""
        with self.lock:
            self.stuck += 1
        try:
            sock.settimeout(0.7)
            while sock.recv(65536):
                pass
        finally:
            with self.lock:
                self.stuck -= 1

    def answer(self, sock, c, stream, number, held):
        messages = c.messages()
        case = dict(messages[0][1]).get("case", ("", b"?"))[1].decode()
        with self.lock:
            self.got.setdefault(case, []).append(messages)
        rng = random.Random("%s %s %s" % (self.seed, case, messages[0][0]))
        parts, then = rng.choice(self.steps)(rng, stream, number)
        if then == "later":
            with self.lock:
                held.extend(parts)
            threading.Timer(0.01, self.flush, (sock, held)).start()
            return
        for part in parts:
            sock.sendall(part)
            if len(parts) > 1:
                time.sleep(0.0003)
        self.flush(sock, held)
        if then in ("reset", "close"): # what was sent is read first: a reset would overtake it
            peer = sock.getpeername()[1]
            lib.until(lambda: peers(self.port).get(peer, ("", 0))[1] == 0)
            self.left.add(peer)
        if then == "reset":
            lib.reset(sock)
        if then == "stuck":
            self.stay(sock)
        if then:
            raise EOFError

    def serve(self, sock):
        held = []
        while True:
            size = struct.unpack(">I", lib.recv_exactly(sock, 4))[0]
            c = spop.Cursor(lib.recv_exactly(sock, size))
            kind = c.byte()
            c.bytes(4)
            stream, number = c.varint(), c.varint()
            if kind == spop.HELLO:
                sock.sendall(spop.frame(spop.AGENT_HELLO, spop.hello()))
            elif kind == spop.NOTIFY:
                self.answer(sock, c, stream, number, held)
            else:
                return

    def close(self):
        self.server.close()


def line(rng, case):
    """The request: what it carries is drawn, too."""
    long = "long: %s\r\n" % ("x" * rng.choice((1, 200, 240, 3000))) if rng.random() < 0.3 else ""
    return ("GET /%d%s HTTP/1.1\r\nhost: h\r\n%sconnection: close\r\n\r\n" % (case, rng.choice(("", "", "/g")), long)).encode()


def ask(port, data):
    """(status, variables) or why not"""
    try:
        with lib.connect(port, 15) as sock:
            sock.sendall(data)
            reader = lib.Reader(sock)
            head = reader.head()
            if not head:
                return "no answer"
            reader.body(head[1], True)
            return int(head[0].split()[1]), dict(head[1]).get("x-shown")
    except (OSError, EOFError, ValueError) as e:
        return "no answer: %r" % e


STATE = re.compile(r"SPOE: \[ag\] <([^>]*)> sid=\d+ st=(\d+) \d+ \d+/\d+")


def run(program, kind, seed, count):
    """[(answer, what the agent got)] of each case, log lines"""
    agent, log, folder = Scripted(kind, seed), lib.Syslog(), tempfile.mkdtemp(prefix="hapr.")
    fe, origin = lib.ports(2)
    out = [None] * count
    with open(folder + "/agent.conf", "w") as f:
        f.write(AGENT.format(log=log.port, timeout="400ms" if KINDS[kind][1] == 1 or kind == "no answer" else "5s"))
    conf = CONF.format(log=log.port, fe=fe, origin=origin, agent=agent.server.port, dir=folder, shown=SHOWN)
    todo, lock = list(range(count)), threading.Lock()

    def client():
        while True:
            with lock:
                if not todo:
                    return
                case = todo.pop(0)
            out[case] = ask(fe, line(random.Random("%s %d" % (seed, case)), case))
            if KINDS[kind][1] == 1: # what this one has left is no matter of the next one
                lib.until(agent.has_settled)

    with lib.Proxy(program, conf, restless="agents that do not answer"):
        threads = [threading.Thread(target=client) for _ in range(KINDS[kind][1])]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    log.settle()
    said = {}
    for found in filter(None, map(STATE.search, log.lines)):
        said[found.groups()] = said.get(found.groups(), 0) + 1
    agent.close()
    log.close()
    shutil.rmtree(folder, ignore_errors=True)
    frames = [[m for key in ("/%d" % n, "/%d/g" % n) for m in agent.got.get(key, [])] for n in range(count)]
    return list(zip(out, frames)), said


def error_of(case):
    """What the variable of set-on-error is."""
    return case[0][1].split("|")[4 * NAMES.index("err")] if case[0][0] == 200 else None


def is_chance(ours, theirs):
    """Of agents that break off: the reference has waited for its timeout, where this program knows what is wrong; or it has read half a
    frame and the end of the connection so closely that it speaks of the end alone (257), where this program says that the frame is wrong
    (260), whenever it has read it."""
    return theirs == TIMEOUT or (ours, theirs) == ("260", "257")


def compared(tap, args, kind, has_reference):
    lax = KINDS[kind][1] == 1
    count = args.cases if not lax else max(1, args.cases // 4) # each of which waits for a timeout
    ours, said = run(args.program, kind, args.seed, count)
    lost = [(n, got) for n, (got, _) in enumerate(ours) if got[0] != 200]
    tap.ok(not lost, "%s: each of %d requests is answered" % (kind, count), lost[:5])
    if not has_reference:
        return
    theirs, said_there = run(args.reference, kind, args.seed, count)
    other = [n for n in range(count) if ours[n] != theirs[n] and not (lax and is_chance(error_of(ours[n]), error_of(theirs[n])))]
    which = [0 if ours[n][0] != theirs[n][0] else 1 for n in range(count)]
    text = "\n".join("%s\n ours   %r\n theirs %r" % (cause_of(kind, args.seed, n), ours[n][which[n]], theirs[n][which[n]])
                     for n in other[:args.show or 5])
    tap.ok(not other, "%s: %d cases as with the reference" % (kind, count), "%d others\n%s" % (len(other), text))
    if lax:
        tap.ok(said.keys() - said_there.keys() <= {k for k in said if k[1] > "255"}, "%s: kinds of log lines" % kind, (said, said_there))
    else:
        tap.eq(said, said_there, "%s: the log lines" % kind)


def cause_of(kind, seed, case):
    names = []
    for suffix in ("", "/g"):
        for message in ("first", "grouped", "response"):
            rng = random.Random("%s /%d%s %s" % (seed, case, suffix, message))
            names.append(rng.choice(KINDS[kind][0]).__name__)
    return "case %d: %s" % (case, " ".join(names))


def main():
    args = lib.arguments(__doc__, ("cases", 100, "of each kind"), ("seed", 1, "of the cases"), ("only", "", "a kind"),
                         ("show", 0, "differences to print"), ("reference", lib.REFERENCE, "the program to compare with"))
    tap = lib.Tap()
    has_reference = os.access(args.reference, os.X_OK) and not lib.is_reference(args.program)
    for kind in KINDS:
        if args.only in kind:
            tap.attempt(kind, compared, tap, args, kind, has_reference)
    if not has_reference:
        tap.apart("reference", "beside the reference")
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
