#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Generated conversations with a stats socket and with a master's socket: prefixes, contexts, prompts, modes, levels,
severities, payloads, commands that are unknown or wrong, in any order. This program and the reference say the same, byte
for byte. Skipped without a reference.

    cli_generated.py --count 2000 --seed 7
"""
import os
import random
import re
import socket

import lib
from lib_master import Master

WORKER = ["show cli level", "echo hello", "expert-mode", "expert-mode on", "expert-mode off", "experimental-mode on", "experimental-mode",
          "set server be/s1 state bogus", "set server be/nobody state ready", "get weight be/s1", "bogus", "bogus again x", "show bogus",
          "user", "operator", "set severity-output number", "set severity-output string", "set severity-output none",
          "set severity-output x", "set severity-output", "prompt", "prompt i", "prompt p", "prompt n", "prompt x", "quit", "", " ",
          "show cli level;echo a", "echo a;echo b;bogus", "echo a\\;b", "echo \"a;b\"", "echo a # comment", "help bogus", "help show cli",
          "set timeout cli x", "disable frontend nobody", "show servers state nobody", "show map x", "get var proc.x",
          "add map x <<\na b\n", "add map x <<END\na b\n\nEND", "echo a <<\nx\n", "show cli level <<\n", "@1 echo a", "@ echo a",
          "wait", "wait x", "set maxconn frontend fe", "enable health be/s1", "set weight be/s1 x"]
# the reference has no severities of the master's own commands: those of workers are asked for on their lines
MASTER = [w for w in WORKER if "severity" not in w and w not in ("quit", "prompt n", "prompt x")] + ["@1 show cli level", "@1 echo hello", "@1", "@", "@master", "@0 echo a", 
                   "@!W show cli level", "@1 user", "@1 operator;show cli level", "@1 expert-mode", "@1 expert-mode on", "@1 bogus",
                   "@@1 echo a;echo b", "@@1 bogus", "@@1 set severity-output number;bogus",
                   "@1 set server be/s1 state bogus", "@1 echo a;@1 echo b", "@1;echo a;@;echo b", "@master show cli level",
                   "@1 add map x <<\na b\n", "@1 echo a <<END\nx\nEND", "mcli-debug-mode", "show proc bogus",
                   "@1 prompt", "@1 set severity-output number", "@1 get weight be/s1", "@1   echo   a", "  @1 echo a", "@1;@1;echo a",
                   "@1 @1 echo a", "@1 @ echo a", "@1 wait x", "@1 help bogus"]
# what stands behind these in the same packet is forgotten by the reference
LAST = ["@99 echo a", "@1x echo a", "@!0 echo a", "@@99 echo a", "@99", "@!99999999", "@x", "@!", "@-1 echo a", "@1.5 echo a", "@01 echo a",
        "quit", "prompt n", "prompt x", "@1 quit", "mcli-debug-mode on", "@@ echo a", "@@x", "@@!0", "@@1", "@@!W", "@@1 quit"]
CONF = """	default_backend be
backend be
	balance roundrobin
	server s1 127.0.0.1:1 weight 3
"""


def plain(text, pid):
    text = re.sub(r"(?m)^(  \S.{30,}: .*\n)+", "<HELP>\n", text)
    text = re.sub(r"(Usage: [^\n]*\n)(?:[^\n]+\n)+", r"\1", text)
    return re.sub(r"\b%d\b" % pid, "W", text)


def talk(path, lines, pid, patience=lib.PATIENCE):
    """Everything that comes until the program closes."""
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(patience)
        s.connect(path)
        got = b""
        try:
            s.sendall("".join(l + "\n" for l in lines).replace("W", str(pid)).encode())
            s.shutdown(socket.SHUT_WR)
            while True:
                data = s.recv(65536)
                if not data:
                    break
                got += data
        except OSError as e:
            got += ("<%s>" % type(e).__name__).encode()
    return plain(got.decode("latin-1"), pid)


def same(got, want):
    """After a refusal the reference's master forgets what stands behind it in the same packet, or waits for more."""
    waits = want.endswith("<TimeoutError>")
    want = want[:-len("<TimeoutError>")] if waits else want
    refusal = re.search(r"(Permission denied!\n|'@[^'\n]*'\n|Usage: prompt [^\n]*\n)\S*( |$)$", want)
    return got == want or ((waits or refusal) and got.startswith(want))


def is_odd(lines):
    """Modes before a lower level: the reference's master repeats them in front of each command, and each is refused there."""
    text = "\n".join(lines)
    return re.search(r"mode on(.|\n)*\b(user|operator)\b", text)


def compare(tap, args, ours, theirs, name, words, last, path_of):
    rng = random.Random("%s %d" % (name, args.seed))
    pids = [m.procs()["workers"][0][0] for m in (ours, theirs)]
    bad = []
    for _ in range(args.count):
        lines = [rng.choice(words) for _ in range(rng.randint(1, 6))] + rng.sample(last, min(len(last), rng.randint(0, 1)))
        if is_odd(lines):
            continue
        got, want = talk(path_of(ours), lines, pids[0]), talk(path_of(theirs), lines, pids[1], 2)
        if not same(got, want):
            bad.append((lines, got, want))
    tap.ok(not bad, "%s: %d conversations" % (name, args.count),
           "\n".join("%r\n got  %r\n want %r" % (l, g[:700], w[:700]) for l, g, w in bad[:8]) + "\n%d differ" % len(bad))
    tap.ok(all(m.process.poll() is None for m in (ours, theirs)), name + ": the program lives")


def main():
    args = lib.arguments(__doc__, ("count", 150, "conversations of each kind"), ("seed", 1, "of the choice"),
                         ("reference", lib.REFERENCE, "to compare with"))
    tap = lib.Tap()
    if lib.is_reference(args.program) or not os.access(args.reference, os.X_OK):
        tap.apart("reference", "generated conversations")
        tap.done()
    program, args.program = args.program, args.reference
    with Master(args, more=CONF) as theirs:
        args.program = program
        with Master(args, more=CONF) as ours:
            compare(tap, args, ours, theirs, "the stats socket", WORKER, [], lambda m: m.dir + "/ctl.sock")
            compare(tap, args, ours, theirs, "the master's socket", MASTER, LAST, lambda m: m.path)
    tap.done()


lib.guarded(main)
