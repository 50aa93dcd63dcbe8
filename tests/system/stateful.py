#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Random sequences of everything that changes or shows something at run time, on this program and the reference with the
same configuration and the same servers: every answer, state, counter, map and log line must be the same. What differs,
ends or hangs is replayed on new processes; when it happens again, the sequence is made as short as it gets and printed.

    stateful.py                               a short run with fixed seeds
    stateful.py --seconds 3600 --seed 7       a long one, over other sequences
    stateful.py --replay FILE [--verbose]     a script as it is printed

Without the reference program (--reference, or $REFERENCE) ours runs alone: hangs, ends and answers that contradict each
other are looked for. Differences on purpose are those of KNOWN, which names rows of tests/differences.txt."""
import os
import random
import re
import sys
import tempfile
import time

import lib
import lib_stateful
import lib_stateful_more
import lib_stateful_ops
from lib_stateful import Ended, Origin, World

# differs: balance-first-turn
# differs: bytes-at-once
# differs: ctl-added-places
# differs: ctl-addresses
# differs: ctl-messages-of-others
# differs: ctl-table-order
# differs: eresp-once
# differs: patterns-entry-count
# differs: stat-algo-random
# differs: tls-crt-list-options
# differs: tls-system-ca
# (row of tests/differences.txt, which steps or observations, what is taken out of both answers)
KNOWN = [
    ("ctl-added-places", r"ctl add server", r"already used at (CLI|\(null\)):0"),
    ("ctl-addresses", r"^(answer to )?ctl set server \S+ ((check|agent)-)?(addr|port)", r"\[[34]\]: "),
    ("ctl-messages-of-others", r"ctl del backend", r"^(\[6\]: )?((Backup )?Server \S+ is (UP|DOWN)\b.*|\w+ \S+ has no server available!)|^\[6\]: "),
    ("eresp-once", r"^show stat$", r" eresp=\d+"),
    ("bytes-at-once", r"show table|^show table$", r" bytes_in_cnt=\d+"),
    ("tls-system-ca", r"show ssl ca-file", r"@system-ca - \d+ certificate.*"),
    ("patterns-entry-count", r"^(answer to ctl |ctl )?show (map|acl)$", r"entry_cnt=\d+"),
    ("stat-algo-random", r"^show stat$", r"algo=(random|unknown)"),
    ("tls-crt-list-options", r"^show ssl$|show ssl crt-list", r"\[[^]]*\]"),
]


def without_known(where, text):
    for _, rx, pattern in KNOWN:
        if re.search(rx, where):
            text = re.sub(pattern, "", text)
    return text


class Found(Exception):
    """A difference, hang or end: kind tells two of them apart, more is for people."""

    def __init__(self, kind, more):
        Exception.__init__(self, kind)
        self.kind, self.more = kind, more


def different(where, lines):
    """Lines of each side that the other has not."""
    a, b = ([l for l in (without_known(where, l) for l in side) if l] for side in lines)
    if "show ssl sni" in where or "show table " in where:    # (row ctl-table-order)
        a, b = sorted(a), sorted(b)    # the order of those that have the same name is told nowhere
    if a == b:
        return None
    left, right = list(a), list(b)
    for l in a:
        if l in right:
            right.remove(l)
            left.remove(l)
    if not left and not right:
        return "order:\n  ours %s\n  ref  %s" % (a, b)
    out = []
    for i in range(max(len(left), len(right))):
        x, y = (left + [""] * 99)[i], (right + [""] * 99)[i]
        out += ["ours " + shortened(x, y), "ref  " + shortened(y, x)]
    return "\n".join(out[:12])


def shortened(x, y):
    """Of lines with many fields: the first, and those that the other has not."""
    a, b = x.split(" "), y.split(" ")
    if len(a) < 12 or a[0] != b[0] and not a[0].isdigit():
        return x
    if "=" in a[3]:
        return a[0] + " " + " ".join(v for v in a[1:] if v not in b)
    return " ".join(a[:5]) + " ... " + " ".join("%d:%s" % (i, v) for i, v in enumerate(a) if i > 4 and b[i:i + 1] != [v])


READS = re.compile(r"ctl (show|get) ")
WAITS = re.compile(r"^(health|agent)|enable (health|agent|server)|disable|set server \S+ (state|health|agent|addr|check|weight)|add server")


class Run:
    """One sequence on fresh processes."""

    def __init__(self, args, programs, origin):
        self.args = args
        origin.reset()
        self.origin = origin
        self.worlds = []
        alone = len(programs) == 1
        try:
            for name, program in programs:
                self.worlds.append(World(program, name, origin, threads=2 if alone else 1, inside=alone and args.inside, inter=args.inter,
                                         more=lib_stateful_more.CONF, more_global=lib_stateful_more.GLOBAL,
                                         place=lambda to: lib_stateful_more.place(args.folder, to)))
        except RuntimeError as e:
            self.close()
            if len(self.worlds) == 1:    # the one of the reference
                raise Reference("it did not start: %s" % e)
            raise
        except Exception:
            self.close()
            raise

    def close(self):
        self.origin.reset()
        for w in self.worlds:
            w.close()

    def settle(self, where, look, kind):
        """Both see the same, now or soon."""
        end = time.monotonic() + lib_stateful.SETTLE
        while True:
            seen = [look(w) for w in self.worlds]
            if len(seen) == 1:
                return
            wrong = next(((n, d) for n in seen[0] for d in [different(n, [s[n] for s in seen])] if d), None)
            if not wrong:
                return
            if time.monotonic() > end:
                raise Found("%s after %s" % (wrong[0], kind), "%s after %s\n%s" % (wrong[0], where, wrong[1]))
            time.sleep(0.03)

    def logs(self, op):
        """Lines may come late; those of both are the same, in whatever order."""
        seen = [[] for _ in self.worlds]
        end = time.monotonic() + 1
        while True:
            for w, lines in zip(self.worlds, seen):
                lines.extend(w.logs())
            d = different("log", [sorted(s) for s in seen]) if len(seen) == 2 else None
            if not d:
                return
            if time.monotonic() > end:
                raise Found("log", "log lines after %s\n%s" % (op, d))
            time.sleep(0.03)

    def step(self, i, op):
        kind = " ".join(re.sub(r"\S*[/{]\S*", "X", op).split()[:5])
        answers = [w.do(op) for w in self.worlds]
        if self.args.verbose:
            print("# %d %s\n#   %r" % (i, op, answers[0][:300]))
        if READS.match(op) and len(answers) == 2 and answers[0] != answers[1]:
            self.settle(op, lambda w: {"answer to " + op: w.do(op).split("\n")}, kind)
        else:
            d = different(op, [a.split("\n") for a in answers]) if len(answers) == 2 else None
            if d:
                raise Found("answer to " + kind, "answer to %s\n%s" % (op, d))
        if WAITS.search(op):
            time.sleep(self.args.inter * 0.003)
        everything = i % 10 == 9 or op == "reload"
        self.settle(op, lambda w: lib_stateful.observe(w, everything), kind)
        for w in self.worlds:
            w.alive()

    def first_turn(self):
        """The first request without a key goes round the ring while no server is full (row balance-first-turn)."""
        for w in self.worlds:
            w.do("get port /a x-be=ch")

    def play(self, ops):
        """Raises Found, or nothing."""
        i, op = -1, "the start"
        try:
            self.first_turn()
            time.sleep(self.args.inter * 0.003)
            self.settle(op, lambda w: lib_stateful.observe(w, True), "start")
            for w in self.worlds:
                w.logs()
            for i, op in enumerate(ops):
                self.step(i, op)
                if op == "reload":    # what both say of the end of the one before and of checks at start
                    self.first_turn()
                    time.sleep(self.args.inter * 0.003)
                    for w in self.worlds:
                        w.logs()
                elif i % 5 == 4:
                    self.logs(op)
            for k in range(4):
                self.step(9, "release %d" % k)
            self.settle("the end", lambda w: lib_stateful.observe(w, True), "the end")
            self.logs("the end")
        except Ended as e:
            first = str(e).split("\n")[0]
            if first.startswith("ref"):
                raise Reference(str(e))
            raise Found(re.sub(r"\d+", "N", first)[:60], str(e) + "\nat step %d: %s" % (i, op))
        except Found as e:
            e.at = i
            raise


class Reference(Exception):
    """The reference ended or hung, or the machine was too slow for checks: nothing to compare with."""


SLOW = re.compile(r"(Layer4|Layer7) timeout")    # no server of Origin makes a check wait so long


def check_timed_out(run):
    """Has a check of the reference timed out? A sign of a busy machine. One of ours alone is a finding when it happens again."""
    for w in run.worlds[1:]:
        with w.log.changed:
            if any(SLOW.search(l) for l in w.log.lines):
                return w.name
    return None


def result(args, programs, origin, ops):
    """None: all the same. A Found otherwise."""
    run = Run(args, programs, origin)
    try:
        run.play(ops)
    except Found as e:
        slow = check_timed_out(run)
        if slow:
            raise Reference("%s: a check timed out, the machine is too slow (%s)" % (slow, e.kind))
        return e
    finally:
        run.close()
    return None


def shorter(args, programs, origin, ops, kind, seconds):
    """Takes steps out as long as the same happens (delta debugging), within some time."""
    end = time.monotonic() + seconds
    size = max(1, len(ops) // 2)
    while time.monotonic() < end:
        i, any_gone = 0, False
        while i < len(ops) and time.monotonic() < end:
            rest = ops[:i] + ops[i + size:]
            try:
                found = result(args, programs, origin, rest)
            except Reference:
                found = None
            if found and found.kind == kind:
                ops, any_gone = rest[:found.at + 1] if found.at >= 0 else rest, True
            else:
                i += size
        if size == 1 and not any_gone:
            break
        if not any_gone or size > len(ops):
            size = max(1, size // 2)
    return ops


def examine(tap, args, programs, origin, name, ops, left):
    """One sequence; what is found must happen twice to count."""
    try:
        found = result(args, programs, origin, ops)
        if not found:
            return True
        ops = ops[:found.at + 1] if getattr(found, "at", -1) >= 0 else ops
        again = result(args, programs, origin, ops)
        if not again:
            print("# %s: once only: %s" % (name, found.more.replace("\n", "\n#   ")))
            return True
        if getattr(again, "at", -1) < 0:
            ops = []
        else:
            ops = shorter(args, programs, origin, ops, again.kind, left)
        found = result(args, programs, origin, ops) or again
    except Reference as e:
        print("# %s: the reference: %s" % (name, str(e).replace("\n", "\n#   ")[:1500]))
        return True
    tap.ok(False, name, found.more + "\nthe script:\n" + "\n".join(ops))
    return False


def main():
    args = lib.arguments(__doc__, ("seconds", 20.0, "how long"), ("seed", 1, "of the first sequence"), ("length", 60, "steps of one"),
                         ("reference", lib.REFERENCE, "the program to compare with; empty: none"), ("replay", "", "a script"),
                         ("groups", "", "only these, as state,maps"), ("skip", "", "steps that match are left out"),
                         ("inter", 40, "ms between checks: more on a busy machine"),
                         ("inside", False, "reloads happen in the process, when ours runs alone"),
                         ("go-on", False, "look for more after a first finding"))
    tap = lib.Tap()
    if lib.is_reference(args.program):
        tap.skip("all", "the reference is not compared with itself")
        tap.done()
    programs = [("ours", args.program)]
    if args.reference and os.access(args.reference, os.X_OK):
        programs.append(("ref", args.reference))
    else:
        tap.apart("reference", "comparison")
    origin = Origin()
    folder = tempfile.TemporaryDirectory(prefix="hapf.")
    args.folder = folder.name
    lib_stateful_more.make(args.folder)
    if args.replay:
        with open(args.replay) as f:
            ops = [l.rstrip("\n") for l in f if l.strip() and not l.startswith("#")]
        found = result(args, programs, origin, ops)
        tap.ok(not found, args.replay, found and found.more)
        tap.done()
    groups = [g for g in lib_stateful_ops.GROUPS + lib_stateful_more.GROUPS if not args.groups or g[0].__name__ in args.groups.split(",")]
    end = time.monotonic() + args.seconds
    seed, steps = args.seed, 0
    while time.monotonic() < end:
        ops = lib_stateful_ops.sequence(random.Random(seed), args.length, groups)
        if args.skip:
            ops = [o for o in ops if not re.search(args.skip, o)]
        good = examine(tap, args, programs, origin, "seed %d" % seed, ops, max(60, args.seconds / 20))
        steps += len(ops)
        if not good and not args.go_on:
            break
        seed += 1
    tap.ok(tap.failed == 0, "sequences %d to %d: all the same" % (args.seed, seed - 1), "see above")
    print("# %d steps" % steps)
    origin.close()
    tap.done()


if __name__ == "__main__":
    sys.setswitchinterval(0.001)
    lib.guarded(main)
