#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What is said of the commonest mistakes, of command lines and of the build, beside HAProxy 3.4.

tables/messages.py holds what this program says, and a verdict of how HAProxy 3.4 says it. Where the reference is
present, the verdicts are compared with what it says now; the program itself always is.
"""
# differs: conf-empty-condition
import os
import re
import socket
import subprocess
import tempfile

import lib
from tables.messages import BUILD, COLUMNS, COMMAND_LINES, MESSAGES

VERDICTS = ("same", "other", "better", "differs")
LINE = re.compile(r"\[(ALERT|WARNING)\] +\(\d+\) : (.*)")
SUMS = ("Error(s) found", "Fatal errors found")


def run(program, folder, *words):
    p = subprocess.run([program] + list(words), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, cwd=folder, timeout=lib.PATIENCE)
    return p.returncode, p.stdout.decode(errors="replace")


def told(program, folder, text):
    """(exit status, alerts and warnings) of a configuration"""
    with open(os.path.join(folder, "x.cfg"), "w") as f:
        f.write(text)
    status, output = run(program, folder, "-c", "-f", "x.cfg")
    found = [LINE.match(l) for l in output.split("\n")]
    return status, [m.group(1) + " " + m.group(2) for m in found if m and not any(s in m.group(2) for s in SUMS)]


def agrees(said, wanted):
    """A text that ends with "..." is the beginning of what is said."""
    return len(said) == len(wanted) and all(
        s.startswith(w[:-3]) if w.endswith("...") else s == w for s, w in zip(said, wanted))


def test_mistakes(tap, program, reference, folder):
    for name, verdict, text, status, wanted in MESSAGES:
        if not lib.is_reference(program):
            own = told(program, folder, text)
            tap.ok(own[0] == status and agrees(own[1], wanted), name, own)
        if reference and not lib.is_reference(program):
            other = told(reference, folder, text)
            tap.ok((other == own) == (verdict == "same") and (verdict.split(" ")[0] == "differs" or
                                                             other[0] == own[0]),
                   "%s: %s beside the reference" % (name, verdict), (other, own))


def test_command_lines(tap, program, reference, folder):
    with open(os.path.join(folder, "ok.cfg"), "w") as f:
        f.write("frontend f\n\tbind 127.0.0.1:8399\n\ttimeout client 1s\n")
    for words, verdict, status, wanted in COMMAND_LINES:
        name = "haproxy " + " ".join(words)
        own = run(program, folder, *words)
        if not lib.is_reference(program):
            tap.ok(own[0] == status and re.search(wanted, own[1], re.M), name, own)
        elif verdict != "differs":
            tap.eq(own[0], status, name + ": the status of the reference")
        if reference and not lib.is_reference(program):
            other = run(reference, folder, *words)
            tap.ok((other[0] == own[0]) == (verdict != "differs") and
                   (verdict != "same" or bool(re.search(wanted, other[1], re.M))),
                   "%s: %s beside the reference" % (name, verdict), (other, own))


def test_build(tap, program, reference, folder):
    own = run(program, folder, "-vv")[1]
    for verdict, pattern in BUILD:
        if not lib.is_reference(program):
            tap.ok(re.search(pattern, own, re.M), "-vv: " + pattern, own)
        if reference and verdict == "same":
            tap.ok(re.search(pattern, run(reference, folder, "-vv")[1], re.M), "-vv of the reference: " + pattern)


def test_port_in_use(tap, program, folder):
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        s.listen(1)
        port = s.getsockname()[1]
        with open(os.path.join(folder, "used.cfg"), "w") as f:
            f.write("frontend f\n\tbind 127.0.0.1:%d\n\ttimeout client 1s\n" % port)
        status, output = run(program, folder, "-f", "used.cfg", "-db")
    where = r"cannot bind socket \(Address already in use\) for \[127.0.0.1:%d\]" % port
    tap.ok(status == 1 and re.search(where, output), "a port in use is named, exit status 1", output)


def test_columns(tap, program, folder):
    """The names in what tools read: in the order of HAProxy 3.4, neither more nor less."""
    path = os.path.join(folder, "s.sock")
    with open(os.path.join(folder, "run.cfg"), "w") as f:
        f.write("global\n\tstats socket " + path + " level admin\ndefaults\n\ttimeout client 1s\n\ttimeout connect 1s\n"
                "\ttimeout server 1s\nbackend b\n\tserver s 127.0.0.1:1\n")
    p = subprocess.Popen([program, "-db", "-f", "run.cfg"], cwd=folder, stdin=subprocess.DEVNULL,
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        lib.until(lambda: os.path.exists(path))
        for command, names in COLUMNS:
            with socket.socket(socket.AF_UNIX) as s:
                s.settimeout(lib.PATIENCE)
                s.connect(path)
                s.sendall(command.encode() + b"\n")
                text = b"".join(iter(lambda: s.recv(65536), b"")).decode()
            head = re.search(r"^# (.*?),?$", text, re.M)
            found = re.split("[ ,]", head.group(1)) if head else re.findall(r"^([\w -]+):", text, re.M)
            found = [x for x in found if "ZlibMemUsage" not in x] # told where zlib is built in
            tap.eq(" ".join(found), names, command + ": names in their order")
    finally:
        p.kill()
        p.wait()


def main():
    args = lib.arguments(__doc__)
    tap = lib.Tap()
    program = os.path.abspath(args.program)
    reference = lib.REFERENCE if os.access(lib.REFERENCE, os.X_OK) else ""
    verdicts = [row[1].split(" ")[0] for row in MESSAGES]
    print("# %d mistakes: %s" % (len(MESSAGES), ", ".join("%d %s" % (verdicts.count(v), v) for v in VERDICTS)))
    with tempfile.TemporaryDirectory(prefix="hapt.") as folder:
        test_mistakes(tap, program, reference, folder)
        test_command_lines(tap, program, reference, folder)
        test_build(tap, program, reference, folder)
        test_port_in_use(tap, program, folder)
        test_columns(tap, program, folder)
    tap.done()


lib.guarded(main)
