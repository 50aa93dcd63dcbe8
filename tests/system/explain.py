#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What the program tells beyond the reference: --explain, --diagnostics=json, --help-keyword."""
import json
import os
import subprocess
import tempfile

import lib

CONFIG = """
userlist u
 user a insecure-password b
defaults
 mode http
 timeout client 5s
 timeout server 5s
 timeout connect 5s
frontend fe
 bind 127.0.0.1:1
 tcp-request connection reject if { src 9.9.9.9 }
 http-request set-header x-host %[req.hdr(host)]
 http-request auth if { path_beg /admin } !{ http_auth(u) }
 http-request deny deny_status 429 if { path /limit }
 http-request pause 1s
 redirect location /new code 301 if { path_beg /old }
 use_backend api if { req.hdr(x-host) api }
 default_backend www
backend api
 http-request return status 201 if { path /hello }
 use-server s2 if { path_end /two }
 server s1 127.0.0.1:1
 server s2 127.0.0.1:2
backend www
 server w1 127.0.0.1:1
 server w2 127.0.0.1:1
"""

# request line, options, last line, a line that must be there
REQUESTS = (
    ("GET / HTTP/1.1", (), "result: backend www, servers w1, w2", "http-request pause"),
    ("GET /", (), "result: backend www, servers w1, w2", "http-request set-header"),
    ("GET /admin HTTP/1.1", (), "result: 401", "http-request auth (%s:13): applied, answers"),
    ("GET /admin HTTP/1.1", ("--header", "Authorization: Basic YTpi"),
     "result: backend www, servers w1, w2", "http-request auth (%s:13): not met"),
    ("GET /limit HTTP/1.1", (), "result: 429", "http-request deny (%s:14): applied, denies"),
    ("GET /old/x HTTP/1.1", (), "result: 301 /new", "redirect (%s:16): applied, answers"),
    ("GET /a/two HTTP/1.1", ("--header", "Host: api"), "result: backend api, server s2",
     "use_backend api (%s:17): chosen"),
    ("GET /a HTTP/1.1", ("--header", "Host: api"), "result: backend api, servers s1, s2",
     "use-server s2 (%s:21): not met"),
    ("GET /hello HTTP/1.1", ("--header", "Host: api"), "result: 201", "backend api"),
    ("GET / HTTP/1.1", ("--src", "9.9.9.9"), "result: closed",
     "tcp-request connection reject (%s:11): applied, closes"),
    ("GET / HTTP/1.1", ("--src", "::1", "--frontend", "fe"),
     "result: backend www, servers w1, w2", "frontend fe"),
)

WRONG = (
    ("GET", ()), ("GET /", ("--src", "x")), ("GET /", ("--frontend", "nosuch")),
    ("GET /", ("--header", "x")), ("G(T /", ()),
)


P = "defaults\n mode http\n timeout client 5s\n timeout server 5s\n timeout connect 5s\n"
F = P + "frontend f\n bind 127.0.0.1:1\n acl is_static path /\n"

# a mistake, and the hint below the message
HINTS = (
    ("global\n peerz a\n", "is a section 'peers' meant to begin here ?"),
    ("\ufeff" + P, "the file begins with a byte order mark: save it without one"),
    (F + " use_backend a if {path /a}\n", "braces are words of their own: '{ path /a }'"),
    (F + " use_backend a if is_static && { path /b }\n",
     "conditions that stand behind one another must all hold: there is no word for 'and'"),
    (F + " use_backend a if is_statik\n", "did you mean 'is_static' ?"),
    (F + " http-request set-header x %[path,lowr]\n", "did you mean 'lower' ?"),
    (F + " http-request deny if { path,lowr /a }\n", "did you mean 'lower' ?"),
    (F + " http-request deny if { req.hdrr(a) b }\n", "did you mean 'req.hdr' ?"),
    (P + "backend b\n balance roundrobbin\n", "did you mean 'roundrobin' ?"),
    (F + " use_backend aplication\nbackend application\n", "did you mean 'application' ?"),
    (F + " default_backend aplication\nbackend application\n", "did you mean 'application' ?"),
)


def run(program, *args):
    r = subprocess.run([program] + list(args), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       stdin=subprocess.DEVNULL, timeout=lib.PATIENCE)
    return r.returncode, r.stdout.decode(), r.stderr.decode()


def explain(tap, program, folder):
    path = os.path.join(folder, "a.cfg")
    with open(path, "w") as f:
        f.write(CONFIG)
    for line, options, last, wanted in REQUESTS:
        status, out, err = run(program, "-c", "-f", path, "--explain", line, *options)
        good = (status == 0 and out.rstrip().split("\n")[-1] == last and
                wanted.replace("%s", path) in out)
        tap.ok(good, "--explain '%s' %s" % (line, " ".join(options)), out + err)
    for line, options in WRONG:
        status, out, err = run(program, "-c", "-f", path, "--explain", line, *options)
        tap.ok(status == 1 and "--" in err, "wrong: --explain '%s' %s" % (line, " ".join(options)),
               out + err)


def diagnostics(tap, program, folder):
    path = os.path.join(folder, "b.cfg")
    with open(path, "w") as f:
        f.write("frontend f\n mode http\n bind 127.0.0.1:1\n http-request dney\n \"quoted\n")
    status, out, err = run(program, "-c", "--diagnostics=json", "-f", path)
    rows = [json.loads(x) for x in out.split("\n") if x]
    tap.eq(status, 1, "--diagnostics=json: exit status")
    tap.ok([r for r in rows if r["severity"] == "alert" and r.get("line") == 4 and
            r["file"] == path and r["column"] == 15 and "dney" in r["message"] and
            "deny" in r["hint"]], "an alert with its place and hint", out)
    tap.ok([r for r in rows if r.get("line") == 5], "the next one as well", out)
    tap.ok(all("severity" in r and "message" in r for r in rows), "all have a message", out)
    tap.ok("ALERT" in err, "the text is still there", err)


def help_keyword(tap, program):
    for word, wanted in (("set-timeout", "action set-timeout {client|connect|queue|server|tarpit|tunnel}"),
                         ("timeout client", "keyword timeout client"), ("lower", "converter lower"),
                         ("src", "fetch src"), ("show rules", "command show rules"),
                         ("userlist", "section userlist"), ("timeout", "keyword timeout server")):
        status, out, err = run(program, "--help-keyword", word)
        tap.ok(status == 0 and wanted in out, "--help-keyword '%s'" % word, out + err)
    status, out, err = run(program, "--help-keyword", "set-timeoutt")
    tap.ok(status == 1 and "set-timeout" in err, "a word that is not known, with a suggestion", err)


def hints(tap, program, folder):
    path = os.path.join(folder, "hints.cfg")
    for text, hint in HINTS:
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        status, _, err = run(program, "-c", "-f", path)
        tap.ok(status == 1 and "   | " + hint in err.split("\n"), "hint: " + hint, err)
    _, _, err = run(program, "--nosuch")
    tap.ok("'--nosuch'" in err, "an unknown option is named", err[-200:])


def main():
    args = lib.arguments(__doc__)
    tap = lib.Tap()
    if lib.is_reference(args.program):
        tap.skip("all", "extensions")
    else:
        with tempfile.TemporaryDirectory(prefix="hapt.") as folder:
            explain(tap, args.program, folder)
            diagnostics(tap, args.program, folder)
            hints(tap, args.program, folder)
        help_keyword(tap, args.program)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
