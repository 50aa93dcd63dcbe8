# SPDX-License-Identifier: GPL-2.0-or-later
"""What the scripts of this folder share: the top folder, C source reading, sanitizer settings, the line
of totals that every test runner ends with ("NAME: N passed, N failed, N skipped", read by check)."""
import os
import re
import shutil
import subprocess
import sys

# PROJECT_TOP: another tree to look at, for the tests of the scripts
TOP = os.environ.get("PROJECT_TOP") or os.path.dirname(os.path.dirname(os.path.realpath(__file__)))


def finish(name, passed, failed, skipped=0):
    """Prints the line of totals; the exit status."""
    print("%s: %d passed, %d failed, %d skipped" % (name, passed, failed, skipped), flush=True)
    return 1 if failed else 0


def project_files(*suffixes):
    """Paths, relative to TOP, of the files that git knows or would add, with one of the suffixes."""
    try:
        out = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=TOP, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout
        names = out.splitlines()
    except (OSError, subprocess.CalledProcessError):  # a tarball
        names = [os.path.relpath(os.path.join(d, f), TOP) for d, _, fs in os.walk(TOP) for f in fs]
        names = [n for n in names if not n.startswith(("build/", ".git/"))]
    return sorted(n for n in set(names) if n.endswith(suffixes) and os.path.isfile(os.path.join(TOP, n)))


def read(path):
    with open(os.path.join(TOP, path), encoding="utf-8", errors="replace") as f:
        return f.read()


def waivers(check):
    """{subject: reason} of the lines "check subject reason" of scripts/waivers.txt."""
    found = {}
    for line in read("scripts/waivers.txt").splitlines():
        words = line.split(None, 2)
        if len(words) == 3 and words[0] == check:
            found[words[1]] = words[2]
    return found


TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def blank(text):
    """C text with comments, strings and character constants made blank, line breaks kept."""
    return TOKEN.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)


def comments(text):
    """(line, text) of each comment of a C text."""
    for m in TOKEN.finditer(text):
        if m.group().startswith(("/*", "//")):
            yield text.count("\n", 0, m.start()) + 1, m.group()


def functions(text):
    """(name, first line, last line) of each function body of a C text in the style of this project:
    the brace that opens it is alone in the first column, so is the one that closes it."""
    plain = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda m: "\n" * m.group().count("\n"), blank(text), flags=re.M)
    lines = plain.splitlines()
    found, start = [], None
    for number, line in enumerate(lines, 1):
        if line.startswith("{"):
            start = number
        elif line.startswith("}") and start:
            head = "\n".join(lines[max(0, start - 9):start - 1])
            head = re.split(r"[;}]", head)[-1]
            name = re.search(r"(\w+)\s*\(", re.sub(r"__attribute__\s*\(\(.*?\)\)", "", head, flags=re.S))
            first = start - len(head.strip().splitlines())
            if name:
                found.append((name.group(1), first, number))
            start = None
    return found


def parameters(text, name, first):
    """How many parameters the function <name> takes whose head starts in line <first> of a C text."""
    head = "\n".join(blank(text).split("\n")[first - 1:first + 15])
    m = re.search(r"\b%s\s*\(" % name, head)
    if not m:
        return 0
    depth, count = 1, 1
    for c in head[m.end():]:
        depth += (c == "(") - (c == ")")
        count += c == "," and depth == 1
        if not depth:
            break
    return count


def test_environment(flavour, logs):
    """The environment of a tested program: sanitizer reports go to files starting with <logs>, so that a
    program whose exit status nobody looks at cannot hide one."""
    env = dict(os.environ)
    if flavour in ("address", "thread"):
        env.setdefault("TEST_PATIENCE", "60")  # these programs are slow
    common = "exitcode=99:log_path=%s:handle_abort=1" % logs
    if flavour in ("address", "fuzz"):
        env["ASAN_OPTIONS"] = common + ":detect_leaks=1:strict_string_checks=1:detect_stack_use_after_return=1"
        env["UBSAN_OPTIONS"] = common + ":print_stacktrace=1"
        env["LSAN_OPTIONS"] = "suppressions=%s:print_suppressions=0" % os.path.join(TOP, "scripts/leaks.txt")
    if flavour == "thread":
        env["TSAN_OPTIONS"] = (common + ":second_deadlock_stack=1:history_size=4:print_suppressions=0:suppressions=" +
                               os.path.join(TOP, "scripts/races.txt"))
    return env


def launcher(flavour):
    """What to put before a command: ThreadSanitizer's fixed shadow addresses need unrandomised ones."""
    command = ["setarch", "-R"]
    if flavour != "thread" or not shutil.which("setarch"):
        return []
    return command if subprocess.run(command + ["true"], stderr=subprocess.DEVNULL).returncode == 0 else []


def reports(logs):
    """The sanitizer reports written under <logs>, removed from there."""
    folder, prefix = os.path.split(logs)
    found = []
    for name in sorted(os.listdir(folder)):
        if name.startswith(prefix + "."):
            path = os.path.join(folder, name)
            with open(path, errors="replace") as f:
                found.append(f.read())
            os.unlink(path)
    return found


if __name__ == "__main__":
    sys.exit("common.py is for the other scripts")
