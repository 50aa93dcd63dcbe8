#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Wrong expressions, ACLs, rules and formats: each error names the word at fault, and what was
expected.

Of the reference only the exit status is asked.
"""
import re
import subprocess

import lib
from tables.bad_rules import rows

HEAD = ("defaults d\n\tmode http\n\ttimeout client 1s\n\ttimeout server 1s\n\ttimeout connect 1s\n"
        "backend other from d\n\tserver s 127.0.0.1:1\n")
PLACES = {
    "fe": "frontend f from d\n\tbind 127.0.0.1:1\n",
    "tcp": "frontend f from d\n\tmode tcp\n\tbind 127.0.0.1:1\n",
    "be": "backend be from d\n\tserver s 127.0.0.1:1\n",
    "li": "listen l from d\n\tbind 127.0.0.1:1\n",
    "defaults": "defaults\n", "user": "userlist u\n", "prof": "log-profile p\n",
    "errors": "http-errors e\n",
}


def check(program, place, line):
    head = HEAD + PLACES[place]
    r = subprocess.run([program, "-c", "-f", "/dev/stdin"],
                       input=(head + "\t" + line + "\n").encode(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=lib.PATIENCE)
    return r.returncode, r.stdout.decode("latin-1"), head.count("\n") + 1


def spoken(output, line):
    """The messages and hints, without the source line that is shown."""
    return "\n".join(x for x in output.split("\n")
                     if x.strip() != line.strip() and "NOTICE" not in x)


def judge(tap, program, row, reference):
    place, line, word, expected, everywhere = row
    status, output, at = check(program, place, line)
    errors = []
    if reference:
        if everywhere and status == 0:
            errors.append("accepted")
    else:
        text = spoken(output, line)
        if status != 1:
            errors.append("exit status %d" % status)
        if word not in text:
            errors.append("the word %r is not named" % word)
        if expected not in text:
            errors.append("%r is not said to be expected" % expected)
        if not re.search(r"stdin:%d\b" % at, text):
            errors.append("line %d is not named" % at)
        if re.search(r"Sanitizer|runtime error:|FATAL|BUG", output):
            errors.append("a defect was reported")
    tap.ok(not errors, "%s: %s" % (place, line), "\n".join(errors) + "\n" + output)


def main():
    args = lib.arguments(__doc__)
    reference = lib.is_reference(args.program)
    tap = lib.Tap()
    table = list(rows())
    for row in table:
        judge(tap, args.program, row, reference)
    tap.ok(len(table) >= 300, "%d rows" % len(table))
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
