#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""--format and --lint. Format: of the configurations in reg-tests and examples and of generated files, twice is once, and
what the program reads (-dC) and says is the same before and after (--all: of all reg-tests). Lint: each mistake of
tables/lint.py is found; the three forms of output. Extensions."""
import glob
import json
import os
import random
import re
import shutil
import subprocess
import tempfile

import lib
from tables import lint as table

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def run(args, *words, text=None):
    p = subprocess.run([args.program, *words], input=text, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       timeout=lib.PATIENCE * 6)
    return p.returncode, p.stdout, p.stderr.decode(errors="replace")


# --- format -----------------------------------------------------------------------------------------------

def configurations(everything):
    """(name, text) of examples and reg-tests."""
    paths = sorted(glob.glob(TOP + "/reg-tests/*/*.vtc"))
    for path in sorted(glob.glob(TOP + "/examples/*.cfg")):
        with open(path, "rb") as f:
            yield os.path.basename(path), f.read()
    for path in paths if everything else paths[::20]:
        with open(path, "rb") as f:
            text = f.read()
        for n, m in enumerate(re.finditer(rb"^haproxy \w+ .*?-conf \{\n(.*?)^\}", text, re.S | re.M)):
            yield "%s, %d" % (os.path.relpath(path, TOP), n + 1), m.group(1)


def generated(rng, vocabulary):
    """A file with lines, words and blanks of any kind."""
    words = ["a", "'b c'", '"d $e"', "f\\ g", '"${H-i}"', "{", "}", "%[src]", "if", "\\#", '""', "\\x41", "'#'"]
    lines, depth = [], 0
    for _ in range(rng.randrange(40)):
        kind = rng.random()
        blank = rng.choice(["", " ", "\t", "   ", "\t\t "])
        tail = rng.choice(["", "", "", " # why", "\t#x  ", "#y"])
        if kind < .1:
            lines.append(rng.choice(["", "  ", "\t"]))
        elif kind < .25:
            lines.append(blank + "#" + rng.choice(["", " remark", "\ttabs  ", "# 'open"]))
        elif kind < .4:
            lines.append(blank + rng.choice(["frontend f%d", "backend b%d", "defaults d%d", "userlist u%d"]) %
                         rng.randrange(9) + " " * (len(tail) > 0) + tail)
        elif kind < .45 and depth < 4:
            depth += 1
            lines.append(blank + ".if defined(X%d)" % depth)
        elif kind < .5 and depth:
            lines.append(blank + rng.choice([".else", ".elif true"]))
        elif kind < .58 and depth:
            depth -= 1
            lines.append(blank + ".endif")
        elif kind < .62:
            lines.append(blank + rng.choice(["'open", "\\xzz", "word \\x00", "end\r", "mid\rdle"]))
        else:
            text = rng.choice(vocabulary)
            for _ in range(rng.randrange(5)):
                text += rng.choice([" ", "  ", "\t"]) + rng.choice(words)
            lines.append(blank + text + (" " if tail else "") + tail)
    lines += [".endif"] * depth
    return "".join(x + "\n" for x in lines).encode()


def reading(args, path):
    """What is read from a file, and what is said of it, without places and source lines."""
    status, out, err = run(args, "-c", "-dC", "-f", path)
    said = sorted(re.sub(r"\[[^]]*\] *:|\(\d+\)|/[12]/x.cfg(:\d+)?|line \d+|position \d+", "", x) for x in err.split("\n")
                  if x.startswith("["))
    return status, out, said


def check_one(args, folder, text):
    """None: all is as it should be."""
    before, after = os.path.join(folder, "1", "x.cfg"), os.path.join(folder, "2", "x.cfg")
    for path in (before, after):
        os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(before, "wb") as f:
        f.write(text)
    status, out, err = run(args, "--format", before)
    if status:
        return "status %d: %s" % (status, err)
    with open(after, "wb") as f:
        f.write(out)
    again = run(args, "--format", after)[1]
    if again != out:
        return "not the same a second time:\n%r\n%r" % (out, again)
    one, other = reading(args, before), reading(args, after)
    if one != other:
        return "is read in another way:\n%r\n%r\n%r\n%r" % (text, out, one, other)
    return None


def formats(tap, args, folder):
    count, wrong = 0, []
    for name, text in configurations(args.all):
        count += 1
        why = check_one(args, folder, text)
        if why:
            wrong.append("%s: %s" % (name, why))
    tap.ok(count > 60 and not wrong, "%d configurations of examples and reg-tests" % count, "\n".join(wrong))
    vocabulary = re.findall(r"^keyword\t([^\t]+)", run(args, "-dKdoc", "-c", "-f", TOP + "/examples/tcp.cfg")[1].decode(),
                            re.M)
    rng, wrong = random.Random(args.seed), []
    for n in range(args.count):
        why = check_one(args, folder, generated(rng, vocabulary))
        if why:
            wrong.append("%d: %s" % (n, why))
    tap.ok(len(vocabulary) > 500 and not wrong, "%d generated files" % args.count, "\n".join(wrong[:3]))


LAYOUT = (b"# top\nglobal\n\tdaemon\n\n\n\nfrontend  f   # one\n  bind :80   name 'a  b'\n.if defined(X)\n  acl a path /\\ b\\#c#d\n"
          b".endif\n# of b\nbackend b\n\n# inside\n\n.if true\nbackend c\n.endif\n",
          b"# top\nglobal\n    daemon\n\nfrontend f  # one\n    bind :80 name 'a  b'\n    .if defined(X)\n"
          b"        acl a path /\\ b\\#c  #d\n    .endif\n\n# of b\nbackend b\n\n# inside\n\n.if true\nbackend c\n.endif\n")


def layout(tap, args, folder):
    path = os.path.join(folder, "layout.cfg")
    tap.eq(run(args, "--format", "-", text=LAYOUT[0])[1], LAYOUT[1], "blanks, empty lines, comments, .if")
    with open(path, "wb") as f:
        f.write(LAYOUT[0])
    os.chmod(path, 0o640)
    status, out, err = run(args, "--format", path, "--check")
    tap.ok(status == 1 and not out and path in err, "--check tells that it differs", err)
    with open(path, "rb") as f:
        tap.eq(f.read(), LAYOUT[0], "and writes nothing")
    status, _, err = run(args, "--format", path, "--write")
    with open(path, "rb") as f:
        tap.eq((status, f.read()), (0, LAYOUT[1]), "--write replaces the file")
    tap.eq(os.stat(path).st_mode & 0o777, 0o640, "whose rights stay")
    tap.eq(run(args, "--format", path, "--check")[0], 0, "then --check has nothing to tell")
    status, out, err = run(args, "--format", "-", text=b"global")
    tap.ok(status == 2 and not out and "truncated" in err, "a file that ends within a line is refused", err)
    tap.eq(run(args, "--format", folder + "/nosuch.cfg")[0], 2, "a file that is not there")


# --- lint -------------------------------------------------------------------------------------------------

def findings(args, path):
    status, out, err = run(args, "--lint", path, "--output=json")
    return status, [json.loads(x) for x in out.decode().splitlines()], err


def mistakes(tap, args, folder):
    path, pem = os.path.join(folder, "lint.cfg"), os.path.join(folder, "x.pem")
    found, wrong, planted = set(), [], 0
    for wanted, text in table.MISTAKES:
        if not text.startswith(("global", "defaults")):
            text = table.D + text
        elif "defaults" not in text:
            first, rest = re.match(r"(global\n(?: .*\n)*)(.*)", text, re.S).groups()
            text = first + table.D + rest
        with open(path, "w") as f:
            f.write(text.replace("x.pem", pem))
        _, said, err = findings(args, path)
        ids = {x["id"] for x in said}
        planted += wanted[0] != "!"
        found |= ids
        if (wanted.lstrip("!") in ids) != (wanted[0] != "!"):
            wrong.append("%s: %s %s\n%s" % (wanted, sorted(ids), err, text))
    tap.ok(planted >= 60 and not wrong, "%d planted mistakes are found" % planted, "\n".join(wrong))
    with open(os.path.join(TOP, "src/tools/lint_rules.c")) as f:
        known = set(re.findall(r'(?:NOTE|WARN|ERROR)\("([a-z0-9-]+)"', f.read()))
    tap.eq(sorted(known - found), ["parser-diagnostic"], "every rule has a mistake that shows it")


def outputs(tap, args, folder):
    path = os.path.join(folder, "out.cfg")
    with open(path, "w") as f:
        f.write(table.D + "frontend f\n    bind 127.0.0.1:1\n    acl never path /x\n    default_backend nosuch\n")
    status, out, _ = run(args, "--lint", path)
    out = out.decode()
    tap.eq(status, 1, "status 1 with warnings and errors")
    tap.ok("%s:11:9: warning: no condition uses the ACL 'never' [unused-acl]\n  acl never path /x\n      ^~~~~\n" % path in out,
           "text: place, message, identifier, line", out)
    tap.ok("[parser-error]" in out and "1 error, 1 warning, 0 notes" in out, "what the parser says, and a sum", out)
    status, said, _ = findings(args, path)
    tap.eq([(x["id"], x["line"], x["severity"]) for x in said],
           [("parser-error", 9, "error"), ("unused-acl", 11, "warning")], "JSON: an object a line")
    sarif = json.loads(run(args, "--lint", path, "--output=sarif")[1])
    rules = sarif["runs"][0]["tool"]["driver"]["rules"]
    results = sarif["runs"][0]["results"]
    tap.ok(sarif["version"] == "2.1.0" and [rules[x["ruleIndex"]]["id"] for x in results] ==
           [x["ruleId"] for x in results] == ["parser-error", "unused-acl"], "SARIF: rules and results", results)
    region = results[1]["locations"][0]["physicalLocation"]["region"]
    tap.eq(region, {"startLine": 11, "startColumn": 9, "endColumn": 14}, "SARIF: the place")
    tap.eq(run(args, "--lint", folder + "/nosuch.cfg")[0], 2, "a file that is not there")
    os.makedirs(folder + "/parts")
    with open(folder + "/parts/a.cfg", "w") as f:
        f.write("backend in_a\n    server s 127.0.0.1:1\n")
    with open(path, "w") as f:
        f.write(table.D + "frontend f\n    bind 127.0.0.1:1\n    use_backend in_a if { path /x }\n.include parts/*.cfg\n")
    tap.eq(findings(args, path)[:2], (0, []), "included files are part of it")


def main():
    args = lib.arguments(__doc__, ("all", False, "format the configurations of all reg-tests"),
                         ("count", 40, "generated files"), ("seed", 7, "of the generator"))
    tap = lib.Tap()
    if lib.is_reference(args.program):
        tap.skip("--format, --lint", "extensions")
        tap.done()
    folder = tempfile.mkdtemp(prefix="hapt.")
    try:
        tap.run((formats, layout, mistakes, outputs), args, folder)
    finally:
        shutil.rmtree(folder)
    tap.done()


lib.guarded(main)
