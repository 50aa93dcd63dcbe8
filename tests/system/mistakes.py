#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Mistakes that users make: the exit status of -c, how many alerts and warnings there are, and the lines that they name.

tables/mistakes.txt holds what this program says, and "same" where HAProxy 3.4 says as much at the same places, else why not.
Where the reference is present, it is asked, too.
"""
# differs: conf-empty-condition
# differs: conf-misplaced
# differs: conf-numbers
# differs: section-names
import os
import re
import subprocess
import tempfile

import lib

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tables/mistakes.txt")
FILES = {"bad.pem": "junk\n", "empty.pem": "", "bad.map": "onlykey\n", "err.http": "no header\n",
         "big.http": "HTTP/1.0 503 x\r\n\r\n" + "x" * 40000}
SUMS = re.compile(r"Error\(s\) found|Fatal errors|Warnings were")


def table():
    """[(name, verdict, configuration, what is told)]"""
    with open(TABLE) as f:
        text = f.read()
    found = re.findall(r"^== (.*) \| (.*)\n((?:(?!== |= ).*\n)*)= (.*)\n", text, re.M)
    head = re.search(r"^#common\n((?:.+\n)+)", text, re.M)[1]
    return [(name, verdict, conf.replace("...\n", head), told) for name, verdict, conf, told in found]


def told(program, folder, conf):
    """"STATUS A8 W" and so on: an alert at line 8, a warning that names no line."""
    with open(os.path.join(folder, "x.cfg"), "w") as f:
        f.write(conf)
    r = subprocess.run([os.path.abspath(program), "-c", "-f", "x.cfg"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, cwd=folder, timeout=lib.PATIENCE, check=False)
    said = []
    for line in r.stdout.decode(errors="replace").split("\n"):
        kind = re.match(r"\[(A)LERT\]|\[(W)ARNING\]", line)
        if kind and not SUMS.search(line):
            said.append((kind[1] or kind[2]) + (re.findall(r"x\.cfg:(\d+)", line) or [""])[0])
    return " ".join([str(r.returncode)] + sorted(said))


def main():
    args = lib.arguments(__doc__, ("reference", lib.REFERENCE, "the program to compare with"))
    tap, both = lib.Tap(), os.access(args.reference, os.X_OK) and not lib.is_reference(args.program)
    rows = table()
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "dir"))
        for name, text in FILES.items():
            with open(os.path.join(folder, name), "w") as f:
                f.write(text)
        for name, verdict, conf, wanted in rows:
            if not lib.is_reference(args.program):
                tap.eq(told(args.program, folder, conf), wanted, name)
            elif verdict == "same":
                tap.eq(told(args.program, folder, conf), wanted, name)
            if both:
                other = told(args.reference, folder, conf)
                tap.eq(other == wanted, verdict == "same", "%s: beside the reference, %s (it: %s)" % (name, verdict, other))
    tap.ok(len(rows) > 150, "%d mistakes" % len(rows))
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
