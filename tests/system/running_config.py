#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""show config and show config diff (an extension): what is running against files that were changed since: lines, included
files, secrets, files that are gone; no secret is shown; a reload ends all differences."""
import json
import os
import random
import re
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
    http-request set-header x-owner "%[req.hdr(host),map({dir}/owners.map,none)]" if !{{ path -f {dir}/open.lst }}
"""
SECRETS = ("Tooth", "Fairy", "Gnome")
# places where a secret may stand: it is the word with Fairy in it, or the part of one
PLACES = r"""
frontend places
    bind 127.0.0.1:{port}
    unique-id-format "%[req.hdr(x-id)]"
    http-request set-var(txn.a) str(x),hmac(sha256,RmFpcnk=),hex,hmac(sha256,RmFpcnky)
    http-request set-var(txn.b) str(x),jwt_verify(txn.alg,"FairyKey")
    http-request set-header Authorization "%[str(Basic Fairy)]"
    http-request set-var(txn.token) str(Fairy)
    http-request set-header X-U "http://bob:a/Fairy@h/"
    http-request set-header X-V "http://bob:p@Fairy@h/"
    http-request set-header X-W "https://Fairy@h/"
    http-request set-header X-X "http://a:Fairy@h/ http://b:Fairy@h/"
    http-request set-header X-Auth-Key Fairy
    http-request replace-header Authorization .* "Bearer Fairy"
    http-request set-header X-Z "%[str(x),hmac(sha256,\"RmFpcnk=\"),hex] http://a:Fairy@h/"
    http-request redirect location "/?token=Fairy&a=shown1" if {{ path /r }}
    acl ok req.hdr(authorization) -m str "Bearer Fairy"
    http-request set-header X-Shown "%[req.hdr(authorization)]" if {{ req.hdr(authorization) -m str Fairy }} !{{ path /shown2 }}
    http-request deny deny_status 403
backend checked
    option httpchk
    http-check send meth GET uri /?token=Fairy hdr Authorization "Basic Fairy"
    server s 127.0.0.1:1 send-proxy-v2 set-proxy-v2-tlv-fmt(0xE1) Fairy
backend payloads
    mode tcp
    option tcp-check
    tcp-check send "GET / HTTP/1.0\r\nAuthorization: Basic Fairy\r\n\r\n"
    tcp-check send-lf "AUTH Fairy\r\n"
    tcp-check send-binary 4661697279
    server s 127.0.0.1:1
"""


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


def general(tap, p):
    """Limits of the process, entries of files: told in the difference, and at their lines."""
    before = p.diff()
    for command in ("set maxconn global 77", "set rate-limit connections global 8000", "set rate-limit ssl-sessions global 9000",
                    "add map %s/owners.map a.example ann" % p.folder, "add acl %s/open.lst /open" % p.folder):
        p.ask(command)
    told = ["!global: maxconn 77", "!global: maxconnrate 8000", "!global: maxsslrate 9000",
            "!%s/open.lst: entries" % p.folder, "!%s/owners.map: entries" % p.folder]
    tap.eq((before, p.diff().split("\n")), ("", told), "limits of the process, a map and a list are told")
    lines = [x["changed"] for x in json.loads(p.ask("show config json"))["lines"] if "owners.map" in x["text"]]
    tap.eq(lines, [["entries of its file"]], "at the line that uses them")
    objects = json.loads(p.ask("show config diff json"))["changed"]
    tap.eq([(x.get("section", x.get("file", "").rpartition("/")[2]), x["changed"]) for x in objects],
           [("global", ["maxconn 77"]), ("global", ["maxconnrate 8000"]), ("global", ["maxsslrate 9000"]), ("open.lst", ["entries"]),
            ("owners.map", ["entries"])], "the same as JSON")
    for command in ("set maxconn global 0", "set rate-limit connections global 0", "set rate-limit ssl-sessions global 0"):
        p.ask(command)
    tap.eq(p.diff().split("\n"), told[3:], "set back, there is no difference")
    p.ask("reload")
    tap.eq(p.diff(), "", "a reload reads the files again")


def gone(tap, p, text):
    os.rename(p.folder + "/web.cfg", p.folder + "/away")
    tap.ok("Cannot open configuration file" in p.diff(), "the file is gone", p.diff())
    states = [subprocess.run([p.program, "--ask", p.sock, "reload"], stdout=subprocess.DEVNULL).returncode]
    os.rename(p.folder + "/away", p.folder + "/web.cfg")
    states.append(subprocess.run([p.program, "--ask", p.sock, "reload"], stdout=subprocess.DEVNULL).returncode)
    tap.eq(states, [1, 0], "--ask tells by its status whether a reload was done")
    p.write(text.replace("127.0.0.1:2\n", "127.0.0.1:3\n"))
    p.ask("set weight app/s1 7")
    tap.ok(p.diff().startswith("!app/s1: weight 7\n--- running"), "a change at run time comes first", p.diff())
    port = int(text.split("bind 127.0.0.1:")[1].split()[0])
    with lib.connect(port) as s:
        s.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        tap.ok(lib.recv_all(s).startswith(b"HTTP/1.1 503 "), "no server answers")
    before = p.ask("why")
    tap.ok("#1 " in before and "CONNECT_FAILED" in before, "a request that failed", before)
    p.ask("reload")
    tap.eq(p.ask("why"), before, "a reload keeps what is known of it")
    tap.eq(p.diff(), "!app/s1: weight 7", "a reload takes the files up, and keeps what was set")


def places(tap, args):
    """Secrets in places of all kinds; what stands beside them is shown. Bytes of clients are harmless for a terminal."""
    port = lib.ports(1)[0]
    conf = CONF[CONF.index("defaults"):CONF.index("frontend web")] + PLACES.format(port=port)
    with lib.Proxy(args.program, conf.replace("{{", "{").replace("}}", "}")) as proxy:
        for words in ("show config", "show config json"):
            text = proxy.ctl(words)
            tap.ok(not re.search("Fairy|RmFpcnk|4661697279", text), words + " has none of the secrets", text)
            tap.ok(all(x in text for x in ("shown1", "shown2", "%[req.hdr(authorization)]", "http://bob:***@h/", "sha256")),
                   words + " has what stands beside them", text)
        with lib.connect(port) as s:
            s.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nX-Id: \xc2\x9b31m\t\r\nConnection: close\r\n\r\n")
            lib.recv_all(s)
        text = proxy.ctl("why") + proxy.ctl("why #1")
        tap.ok("\\xC2\\x9B31m" in text and not re.search(r"[^\n -~]", text), "an id of bytes that terminals obey", text)
        tap.ok("request #1" not in proxy.ctl("why #1x"), "a number with a tail is none")


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
        p.write("b.example bob\n", "owners.map")
        p.write("/none\n", "open.lst")
        child = subprocess.Popen([p.program, "-f", folder + "/web.cfg"], stderr=subprocess.DEVNULL)
        try:
            lib.until(lambda: os.path.exists(p.sock) and p.ask("show version"))
            differences(tap, p, text)
            general(tap, p)
            gone(tap, p, text)
            shuffled(tap, p, text, args.seed)
            places(tap, args)
        finally:
            child.terminate()
            child.wait()
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
