#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""admin/upgrade-check on the configurations of tests/upgrade, written for HAProxy 1.4 to 3.2: what it says of
each, and of all. Each file tells at its top what to expect ("# expect:", "# reference:" where HAProxy 3.2
differs) and, a pattern a line, every message ("# says:").
"""
import glob
import os
import re
import shutil
import subprocess
import tempfile

import lib

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
CHECK = os.path.join(TOP, "admin/upgrade-check")


def run(args, *paths):
    p = subprocess.run([CHECK, "-p", args.program] + list(paths), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                       stdin=subprocess.DEVNULL, text=True)
    return p.returncode, p.stdout


def told(text):
    """({file: verdict}, [(count, message)], the line of the sums)"""
    verdicts = dict(reversed(l.split(None, 1)) for l in text.split("\n") if re.match(r"(ok|warnings|REFUSED) ", l))
    messages = [(int(m.group(1)), m.group(2)) for m in re.finditer(r"^ *(\d+) ((?:ALERT|WARNING) .*)$", text, re.M)]
    sums = re.search(r"^(\d+) accepted, (\d+) accepted with warnings, (\d+) refused$", text, re.M)
    return verdicts, messages, sums and tuple(int(n) for n in sums.groups())


def test_file(tap, args, path):
    reference = lib.is_reference(args.program)
    with open(path) as f:
        head = f.read()
    expected = re.search(r"^# expect: (.*)$", head, re.M).group(1)
    other = re.search(r"^# reference: (.*)$", head, re.M)
    if reference and other:
        expected = other.group(1)
    says = [] if reference and other else re.findall(r"^# says: (.*)$", head, re.M)
    status, text = run(args, path)
    verdicts, messages, sums = told(text)
    name = os.path.basename(path)
    tap.eq((verdicts.get(path), status), (expected.replace("refused", "REFUSED"), int(expected == "refused")),
           "%s: %s" % (name, expected))
    if reference and other:
        return
    missing = [s for s in says if not any(re.search(s, m) for _, m in messages)]
    extra = [m for _, m in messages if not any(re.search(s, m) for s in says)]
    tap.ok(not missing and not extra, "%s: what it says, all of it" % name,
           "missing %r\nextra %r\n%s" % (missing, extra, text))


# refused by 2.6 too, so it is no change that --compat knows of
GONE_BEFORE = re.compile(r"appsession|forceclose|mode health|monitor-net|independant-streams|http-use-htx|tune\.chksize|hash-type avalanche|"
                         r"unknown keyword 'blance'")


def test_predicted(tap, args, path):
    """Each line of which something is said is one that --compat names."""
    version = max(os.path.basename(path)[:3], "2.0")
    text = subprocess.run([args.program, "--compat", version, "-c", "-f", path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          stdin=subprocess.DEVNULL, text=True).stdout
    said = re.findall(r"^\[(?:ALERT|WARNING)\].* parsing \[[^]]*:(\d+)\] ?: (.*)$", text, re.M)
    named = set(re.findall(r"^[^[\n]*:(\d+): [^[\n]*\[[a-z0-9-]+\]", text, re.M))
    left = [s for s in said if s[0] not in named and not GONE_BEFORE.search(s[1])]
    tap.ok(not left, "%s: --compat %s names every line that is refused or warned of" % (os.path.basename(path), version),
           "%r\n%s" % (left, text))


def test_all(tap, args, files):
    status, text = run(args, os.path.join(TOP, "tests/upgrade"))
    verdicts, messages, sums = told(text)
    counts = tuple(sum(v == w for v in verdicts.values()) for w in ("ok", "warnings", "REFUSED"))
    tap.eq((status, len(verdicts), sums), (1, len(files), counts), "a folder: every file, and the sums")
    tap.ok(messages == sorted(messages, key=lambda m: -m[0]) and messages[0][0] > 1,
           "the most frequent message comes first", messages[:3])
    folder = tempfile.mkdtemp(prefix="hapu.")
    os.mkdir(folder + "/below")
    shutil.copy(os.path.join(TOP, "tests/upgrade/3.2-plain.cfg"), folder + "/below/a b.cfg")
    status, text = run(args, folder)
    tap.eq((status, told(text)[2]), (0, (1, 0, 0)), "folders below it, names with blanks; 0 when none is refused")
    shutil.rmtree(folder)
    tap.eq(run(args)[0], 2, "without a file it says how it is used")


def main():
    args = lib.arguments(__doc__)
    tap = lib.Tap()
    files = sorted(glob.glob(os.path.join(TOP, "tests/upgrade/*.cfg")))
    tap.ok(len(files) >= 30, "there are at least 30 configurations", len(files))
    for path in files:
        test_file(tap, args, path)
        if not lib.is_reference(args.program):
            test_predicted(tap, args, path)
    test_all(tap, args, files)
    tap.done()


lib.guarded(main)
