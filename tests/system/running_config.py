#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""show config and show config diff (an extension): what is running against files that were changed since: lines, included
files, secrets, files that are gone; no secret is shown; a reload ends all differences."""
import json
import os
import random
import subprocess
import tempfile

import lib

CONF = """global
    stats socket {dir}/s.sock level admin
    reload-mode in-process
    setenv PLACE here
userlist people
    user ann insecure-password Tooth
defaults
    mode http
    timeout connect 1s
    timeout client 5s
    timeout server 5s
frontend web
    bind 127.0.0.1:{port}
    http-request set-header x-place "${{PLACE}} and there"
    http-request set-header authorization "Bearer Fairy"
    default_backend app
.include "more/*.inc" optional
backend app
    server s1 127.0.0.1:1
    server s2 127.0.0.1:2
"""
SECRETS = ("Tooth", "Fairy", "Gnome")


class Program:
    def __init__(self, program, folder):
        self.program, self.folder, self.sock = program, folder, folder + "/s.sock"

    def ask(self, command):
        done = subprocess.run([self.program, "--ask", self.sock] + command.split(), stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL)
        return done.stdout.decode().strip("\n")

    def diff(self):
        return self.ask("show config diff")

    def write(self, text, name="web.cfg"):
        with open(self.folder + "/" + name, "w") as f:
            f.write(text)


def differences(tap, p, text):
    tap.eq(p.diff(), "", "the files are what is running")
    p.write("# a comment\n\n" + text.replace("    server s1", "\tserver   s1"))
    tap.eq(p.diff(), "", "comments, blanks and quotes are no difference")
    p.write(text.replace("s2 127.0.0.1:2", "s2 127.0.0.1:22").replace("    timeout client 5s\n", ""))
    name = p.folder + "/web.cfg"
    tap.eq(p.diff(), "--- running\n+++ files\n@@ defaults\n-%s:10\ttimeout client 5s\n@@ backend app\n"
           "-%s:20\tserver s2 127.0.0.1:2\n+%s:19\tserver s2 127.0.0.1:22" % (name, name, name), "two changes")
    d = json.loads(p.ask("show config diff json"))
    tap.eq([(x["only"], x["section"], x["line"], x["text"]) for x in d["differences"]],
           [("running", "defaults", 10, "timeout client 5s"), ("running", "backend app", 20, "server s2 127.0.0.1:2"),
            ("files", "backend app", 19, "server s2 127.0.0.1:22")], "the same as JSON")
    p.write(text.replace("PLACE here", "PLACE near"))
    tap.ok("+%s:14\thttp-request set-header x-place \"near and there\"" % name in p.diff(),
           "a variable that the file sets is followed", p.diff())
    p.write(text.replace("Tooth", "Gnome"))
    tap.eq(p.diff().split("\n")[-1], "+%s:6\tuser ann insecure-password ***" % name, "a secret was changed")
    p.write("backend more\n    server m 127.0.0.1:5\n", "more/a.inc")
    p.write(text)
    tap.ok("@@ backend more\n+%s/more/a.inc:1\tbackend more" % p.folder in p.diff(), "a file that is included by now", p.diff())
    os.unlink(p.folder + "/more/a.inc")
    for secret in SECRETS:
        tap.ok(secret not in p.ask("show config") + p.diff() + p.ask("show config json"), "a secret is not shown")


def gone(tap, p, text):
    os.rename(p.folder + "/web.cfg", p.folder + "/away")
    tap.ok("Cannot open configuration file" in p.diff(), "the file is gone", p.diff())
    os.rename(p.folder + "/away", p.folder + "/web.cfg")
    p.write(text.replace("127.0.0.1:2\n", "127.0.0.1:3\n"))
    p.ask("set weight app/s1 7")
    tap.ok(p.diff().startswith("!app/s1: weight 7\n--- running"), "a change at run time comes first", p.diff())
    port = int(text.split("bind 127.0.0.1:")[1].split()[0])
    with lib.connect(port) as s:
        s.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        tap.eq(lib.Reader(s).response("GET")[0], 503, "no server answers")
    before = p.ask("why")
    tap.ok("#1 " in before and "CONNECT_FAILED" in before, "a request that failed", before)
    p.ask("reload")
    tap.eq(p.ask("why"), before, "a reload keeps what is known of it")
    tap.eq(p.diff(), "!app/s1: weight 7", "a reload takes the files up, and keeps what was set")


def shuffled(tap, p, text, seed):
    """Applying the difference to what is running gives the lines of the file."""
    rng = random.Random(seed)
    p.write(text)
    p.ask("reload")
    wrong = []
    for turn in range(12):
        lines = text.split("\n")
        for _ in range(rng.randrange(1, 6)):
            at = rng.randrange(len(lines) - 9, len(lines))
            if rng.random() < 0.5:
                del lines[at]
            else:
                lines.insert(at, "    # x" if rng.random() < 0.2 else "    option httplog")
        p.write("\n".join(lines) + "\n")
        d = json.loads(p.ask("show config diff json"))["differences"]
        have = [x["text"] for x in json.loads(p.ask("show config json"))["lines"]]
        lost = [x["text"] for x in d if x["only"] == "running"]
        more = [x["text"] for x in d if x["only"] == "files"]
        want = sum(1 for x in lines if x.strip() and not x.strip().startswith(("#", ".")))
        if len(have) - len(lost) + len(more) != want or any(x not in have for x in lost):
            wrong.append((turn, len(have), lost, more, want))
    tap.eq(wrong, [], "12 random changes (--seed %d)" % seed)


def main():
    args = lib.arguments(__doc__, ("seed", 7, "of the random changes"))
    tap = lib.Tap()
    if lib.is_reference(args.program):
        tap.skip("all", "an extension")
        tap.done()
    with tempfile.TemporaryDirectory(prefix="hacfg.") as folder:
        os.mkdir(folder + "/more")
        p = Program(os.path.abspath(args.program), folder)
        text = CONF.format(dir=folder, port=lib.ports(1)[0])
        p.write(text)
        child = subprocess.Popen([p.program, "-f", folder + "/web.cfg"], stderr=subprocess.DEVNULL)
        try:
            lib.until(lambda: os.path.exists(p.sock) and p.ask("show version"))
            differences(tap, p, text)
            gone(tap, p, text)
            shuffled(tap, p, text, args.seed)
        finally:
            child.terminate()
            child.wait()
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
