#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Which lines of a configuration are taken: each case of tables/verdicts.txt is one file, read by one run of -c, and the
letter in front of each line is what was said of it: + nothing, w a warning, - an error. The last line is the exit status.
Hundreds of lines that may or may not stand somewhere cost few runs.

--learn writes the table anew with what the program says; it is to be run with HAProxy. A line that ends with
"# other: ROW w+" is one of which HAProxy (first letter) and this program (second) think otherwise on purpose: see
tests/differences.txt. --only TEXT: cases whose names have it."""
# differs: conf-backend-in-tables
# differs: conf-default-prefix
# differs: conf-deprecated-off
# differs: conf-early
# differs: conf-extra-words
# differs: conf-late-threads
# differs: conf-misplaced
# differs: conf-nul
# differs: conf-numbers
# differs: conf-use-htx
# differs: conf-variable-scope
# differs: log-forward-maxconn
# differs: log-forward-unix
# differs: trace-sources
import os
import re
import subprocess
import tempfile

import lib

TABLE = os.path.join(os.path.dirname(os.path.realpath(__file__)), "tables", "verdicts.txt")
SAID = re.compile(r"\[(ALERT|WARNING)\].*?\[\S*?x\.cfg:(\d+)\](?!: too many fatal errors)")
DIFFERS = re.compile(r"# other: (\S+) ([-w+])([-w+])$")
FILES = {"list": "a\n", "map": "a b\n", "page": "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", "empty": ""}
CERTS = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../reg-tests/tls/certs")


def cases():
    """(what stands above, [(name, [(letter, line)])]) of the table."""
    with open(TABLE) as f:
        head, *parts = re.split(r"^== ", f.read(), flags=re.M)
    found = []
    for part in parts:
        name, *lines = part.rstrip("\n").split("\n")
        found.append((name, [(line[:1], line[2:]) for line in lines]))
    return head, found


def verdicts(program, folder, lines):
    """The letter of each line, and what was printed; the last one is the exit status. HAProxy reads no further than some
    errors: lines that are refused are taken out, and it is asked again, until it refuses no other."""
    for name, text in FILES.items():
        with open(os.path.join(folder, name), "w") as f:
            f.write(text)
    text = [DIFFERS.sub("", line).replace("@D", folder).replace("@C", CERTS) for _, line in lines[:-1]]
    refused, said = set(), ""
    for _ in lines:
        out, found, status = run(program, folder, text)
        said, first = said or out, first if refused else status
        new = {at for at, letter in found.items() if letter == "-"} - refused
        if not new:
            break
        refused |= new
        text = ["" if at in new else line for at, line in enumerate(text)]
    letters = ["-" if at in refused else found.get(at, "+") for at in range(len(text))]
    return letters + [str(first)], said


def run(program, folder, text):
    """What is printed, {index of a line: its letter}, and the exit status."""
    with open(os.path.join(folder, "x.cfg"), "w") as f:
        f.write("".join(line + "\n" for line in text))
    r = subprocess.run([program, "-c", "-f", "x.cfg"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                       stdin=subprocess.DEVNULL, timeout=lib.PATIENCE)
    out, found = r.stdout.decode("latin-1"), {}
    for kind, number in SAID.findall(out):
        at = int(number) - 1
        found[at] = "-" if kind == "ALERT" or found.get(at) == "-" else "w"
    return out, found, r.returncode


def expected(letter, line, reference):
    """What the program is to say of a line."""
    differs = DIFFERS.search(line)
    return differs.group(2 if reference else 3) if differs else letter


def main():
    args = lib.arguments(__doc__, ("learn", False, "write the table"), ("only", "", "some cases"))
    tap, reference, text = lib.Tap(), lib.is_reference(args.program), ""
    head, found = cases()
    with tempfile.TemporaryDirectory() as folder:
        for name, lines in found:
            letters, out = verdicts(args.program, folder, lines) if args.only in name else ([x for x, _ in lines], "")
            wrong = ["got %s %s" % (got, line) for got, (letter, line) in zip(letters, lines)
                     if got != expected(letter, line, reference)]
            if args.only in name:
                tap.ok(not wrong, name, "\n".join(wrong[:60] + [out[:2000]]))
            text += "== %s\n" % name
            text += "".join("%s %s\n" % (letter if DIFFERS.search(line) else got, line)
                            for got, (letter, line) in zip(letters, lines))
    if args.learn:
        with open(TABLE, "w") as f:
            f.write(head + text)
    tap.done()


lib.guarded(main)
