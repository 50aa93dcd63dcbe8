#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Broken configurations: each is refused with exit status 1, its file and line, without a crash.

With --strict (the default when the program is not the reference, which has no carets): the message
also gives the line of the file and a caret below the column at fault.
Every configuration is checked once alone, and all files once together: one pass reports them all.
"""
import os
import re
import subprocess
import tempfile

import lib
from tables.bad_config import BAD

MARK = " <<<"
# differs: section-names
STARTS_THERE = ("frontend with a bad name",)


def prepare(folder, number, text):
    """Writes the file of a row; returns (path, number of the bad line, that line)."""
    lines = text.split("\n")
    at = next(i for i, line in enumerate(lines) if line.endswith(MARK))
    lines[at] = lines[at][:-len(MARK)]
    path = os.path.join(folder, "bad%03d.cfg" % number)
    with open(path, "w") as f:
        f.write("\n".join(lines))
    return path, at + 1, lines[at]


def check(program, files):
    args = [program, "-c"]
    for path in files:
        args += ["-f", path]
    r = subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                       stdin=subprocess.DEVNULL, timeout=lib.PATIENCE)
    return r.returncode, r.stdout.decode("latin-1")


def shows_caret(output, source):
    """The source line is shown, and the next line is a caret below one of its characters."""
    lines = output.split("\n")
    wanted = source.strip()
    for line, below in zip(lines, lines[1:]):
        at = line.replace("\t", " ").find(wanted.replace("\t", " "))
        if at < 0 or not re.match(r"^[\s|0-9]*\^[\^~\s]*$", below):
            continue
        return at <= below.index("^") <= at + len(wanted)
    return False


def judge(tap, name, path, at, source, result, strict):
    status, output = result
    errors = []
    where = "%s:%d" % (re.escape(os.path.basename(path)), at)
    if status != 1:
        errors.append("exit status %d" % status)
    if not re.search(where + r"\b", output):
        errors.append("the message does not name line %d" % at)
    if strict:
        if not shows_caret(output, source):
            errors.append("no source line with a caret below")
    if re.search(r"Sanitizer|runtime error:|FATAL|BUG", output):
        errors.append("a defect was reported")
    tap.ok(not errors, name, "\n".join(errors) + "\n" + output)


def together(tap, program, folder):
    """Several mistakes of one file are all reported by one run."""
    text = ("global\n\tnonsense-one\n\tnonsense-two\n"
            "defaults\n\tnonsense-three\n\ttimeout client 1x\n"
            "frontend f\n\tbind 127.0.0.1:port\n\tnonsense-four\n"
            "backend b\n\tserver s1\n\tnonsense-five\n")
    path = os.path.join(folder, "many.cfg")
    with open(path, "w") as f:
        f.write(text)
    status, output = check(program, [path])
    tap.eq(status, 1, "many mistakes: exit status 1")
    for at in (2, 3, 5, 6, 8, 9, 11, 12):
        named = re.search(r"many\.cfg:%d\b" % at, output)
        tap.ok(named, "many mistakes: line %d is named" % at, output)


def odd_files(tap, program, folder):
    """Files that cannot be read at all."""
    status, output = check(program, [os.path.join(folder, "nothere.cfg")])
    tap.ok(status == 1 and "nothere.cfg" in output, "a file that is not there", output)
    path = os.path.join(folder, "nul.cfg")
    with open(path, "wb") as f:
        f.write(b"global\n\tlog-tag a\0b\n")
    status, output = check(program, [path])
    tap.ok(status == 1 and "nul.cfg:2" in output, "a NUL byte in a file", output)
    path = os.path.join(folder, "binary.cfg")
    with open(path, "wb") as f:
        f.write(bytes(range(1, 256)) * 20)
    status, output = check(program, [path])
    tap.ok(status == 1 and "binary.cfg:" in output, "a binary file", output)
    path = os.path.join(folder, "words.cfg")
    with open(path, "w") as f:
        f.write("global\n\tlog-tag " + "x " * 5000 + "\n")
    status, output = check(program, [path])
    tap.ok(status == 1 and "words.cfg:2" in output, "a line of 5000 words", output)
    status, output = check(program, [folder + "/bad000.cfg", folder + "/bad001.cfg"])
    tap.ok(status == 1 and "bad000.cfg" in output, "two bad files", output)


def main():
    args = lib.arguments(__doc__, ("strict", False, "want the source line and a caret"),
                         ("lenient", False, "do not want them"))
    strict = args.strict or not (args.lenient or lib.is_reference(args.program))
    tap = lib.Tap()
    print("# %d configurations; carets are %schecked" % (len(BAD), "" if strict else "not "))
    with tempfile.TemporaryDirectory(prefix="hapt.") as folder:
        for i, (name, text) in enumerate(BAD):
            path, at, source = prepare(folder, i, text)
            if lib.is_reference(args.program) and name in STARTS_THERE:
                tap.ok(check(args.program, [path])[1].find("is not permitted in") > 0, name + ": said, no more")
                continue
            judge(tap, name, path, at, source, check(args.program, [path]), strict)
        together(tap, args.program, folder)
        odd_files(tap, args.program, folder)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
