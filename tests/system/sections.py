#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Where keywords may stand, and with which arguments: each line of tables/sections.txt is tried in all kinds of sections
and modes. The reply is one letter a place: + accepted, w with a warning, - refused. Of the reference, a row may say other
letters, and of which row of differences.txt they are.

A program that is made with SAN=... starts ten times slower: it is asked about one row in eight, all with --all.

--learn writes the table anew with what the program says; it is to be run with HAProxy. --only TEXT: rows that have it."""
# differs: conf-default-server
# differs: conf-early
# differs: conf-extra-words
# differs: conf-misplaced
# differs: conf-numbers
# differs: conf-observe
# differs: conf-ring-servers
# differs: tls-no-verifyhost
# differs: tls-npn
# differs: tls-versions-off
import concurrent.futures
import os
import re
import subprocess
import tempfile
import zlib

import lib

TABLE = os.path.join(os.path.dirname(os.path.realpath(__file__)), "tables", "sections.txt")
HEAD = """global
	stats socket @D/sock level admin
	localpeer local
	expose-deprecated-directives
userlist users
	user u insecure-password p
http-errors pages
	errorfile 404 @D/page
cache store
	total-max-size 4
fcgi-app app
	docroot /
ring ring
	size 32768
log-profile profile
	on any format x
resolvers names
	nameserver n 127.0.0.1:53
peers peers
	peer local 127.0.0.1:2
	table t type ip size 1k store gpc0
"""
TIMES = "\ttimeout connect 1s\n\ttimeout client 1s\n\ttimeout server 1s\n"
MAILERS = "mailers mails\n\tmailer m 127.0.0.1:25\n" # only where lines have it: it is warned of where it is in vain
OTHERS = """defaults plain
	mode MODE
%sbackend other from plain
	stick-table type ip size 1k store gpc0,gpc1,conn_cur,http_req_rate(10s)
	server s 127.0.0.1:1
""" % TIMES
# what a line is put into; FROM: defaults of the mode, with timeouts
PLACES = {
    "d": "defaults\n\tmode MODE\n\tLINE\n",
    "F": "defaults named\n\tmode MODE\n%s\tLINE\nfrontend f from named\n\tbind 127.0.0.1:1\n\tdefault_backend other\n" % TIMES,
    "B": "defaults named\n\tmode MODE\n%s\tLINE\nbackend b from named\n\tserver s 127.0.0.1:1\n" % TIMES,
    "f": "frontend f from plain\n\tbind 127.0.0.1:1\n\tLINE\n",
    "l": "listen l from plain\n\tbind 127.0.0.1:1\n\tserver s 127.0.0.1:1\n\tLINE\n",
    "b": "backend b from plain\n\tserver s 127.0.0.1:1\n\tLINE\n",
}
BIND = "frontend f from plain\n\tbind %s LINE\n\tdefault_backend other\n"
SERVER = "backend b from plain\n\t%s LINE\n"
# of rows that begin with "bind + ", "server + " and "context + ": the options of one
OPTIONS = {
    "p": BIND % "127.0.0.1:1", "c": BIND % "127.0.0.1:1 ssl crt @D/c.pem", "u": BIND % "@D/s.sock",
    "s": SERVER % "server t 127.0.0.1:1", "v": SERVER % "server t 127.0.0.1:1 check ssl verify none",
    "e": SERVER.replace("LINE", "LINE\n\tserver t 127.0.0.1:1") % "default-server",
    "a": "defaults named from plain\n\tdefault-server LINE\nbackend b from named\n\tserver t 127.0.0.1:1\n",
    "t": SERVER % "server-template t 1-2 127.0.0.1:1",
    "P": "peers others\n\tpeer local 127.0.0.1:3\n\tserver t 127.0.0.1:1 LINE\n",
    "R": "ring other\n\ttimeout connect 1s\n\ttimeout server 1s\n\tserver t 127.0.0.1:1 LINE\n",
}
OPTION_MODES = {"bind + ": (("http", "pcu"), ("tcp", "p")), "server + ": (("http", "sveat"), ("tcp", "s")),
                "context + ": (("http", "s"), ("tcp", "s"), ("log", "s"), ("none", "P"), ("none", "R"))}
MODES = (("http", "dFBflb"), ("tcp", "dFBflb"), ("log", "Bb"), ("spop", "Bb"))


def table():
    """(line, its letters, those of the reference and why) of each row; comments are ("# ...", None, None)."""
    with open(TABLE) as f:
        for row in f.read().split("\n"):
            line, *letters = row.split(" | ")
            if row.startswith("#") or not letters:
                yield row, None, None
            else:
                yield line, letters[0], letters[1] if len(letters) > 1 else None


def verdict(program, folder, mode, place, line):
    others = OTHERS.replace("MODE", mode if mode in ("http", "tcp") else "tcp")
    own = PLACES.get(place) or OPTIONS[place]
    own = own.replace("MODE", mode).replace("LINE", line.partition(" + ")[2] or line.replace("\\n", "\n\t"))
    if place in "flbs" and mode not in ("http", "tcp"):
        own = own.replace(" from plain\n", " from plain\n\tmode %s\n" % mode, 1)
    more = MAILERS if "mails" in line else ""
    text = (HEAD + more + others + own).replace("@D", folder)
    r = subprocess.run([program, "-c", "-f", "/dev/stdin"], input=text.encode(), stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, timeout=lib.PATIENCE)
    out = r.stdout.decode("latin-1")
    if r.returncode not in (0, 1) or re.search(r"Sanitizer|runtime error:", out):
        return "!", out
    return ("-" if r.returncode else "w" if "[WARNING]" in out or "[ALERT]" in out else "+"), out


def places_of(line):
    return next((modes for start, modes in OPTION_MODES.items() if line.startswith(start)), MODES)


def letters(program, folder, line):
    """What is said of the line everywhere: the letters, and what was printed where."""
    said, told = [], {}
    for mode, places in places_of(line):
        word = ""
        for place in places:
            letter, told[mode, place] = verdict(program, folder, mode, place, line)
            word += letter
        said.append(word)
    return " ".join(said), told


def files(folder):
    """What lines name."""
    with open(os.path.join(folder, "page"), "w") as f:
        f.write("HTTP/1.0 404 Not Found\r\nContent-Length: 0\r\n\r\n")
    with open(os.path.join(folder, "list"), "w") as f:
        f.write("a b\n")
    subprocess.run("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=localhost -days 30"
                   " -keyout c.key -out c.crt && cat c.crt c.key >c.pem", shell=True, check=True, cwd=folder,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def differences(line, got, want, told):
    """The output for each place that differs."""
    cells = [(mode, place) for mode, places in places_of(line) for place in places]
    for cell, g, w in zip(cells, got.replace(" ", ""), want.replace(" ", "")):
        if g != w:
            yield "%s %s: %s" % (*cell, "".join(x + "; " for x in told[cell].split("\n")
                                               if "NOTICE" not in x and ("[" in x or "|" in x))[:280])


def main():
    args = lib.arguments(__doc__, ("learn", False, "write the table"), ("only", "", "some rows"),
                         ("all", False, "all rows, of a program with SAN=..., too"))
    tap, rows = lib.Tap(), list(table())
    if lib.is_sanitized(args.program) and not (args.all or args.only or args.learn):
        rows = [row for row in rows if zlib.crc32(row[0].encode()) % 8 == 0]
    reference = lib.is_reference(args.program)
    with tempfile.TemporaryDirectory() as folder:
        files(folder)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            found = list(pool.map(lambda row: letters(args.program, folder, row[0])
                                  if row[1] is not None and args.only in row[0] else None, rows))
    for (line, want, other), result in zip(rows, found):
        if result:
            got, told = result
            want = other.rpartition(" ")[0] if reference and other else want
            tap.ok(got == want, line, "\n".join(["got  " + got, "want " + want, *differences(line, got, want, told)]))
    if args.learn:
        with open(TABLE, "w") as f:
            f.write("\n".join(" | ".join(x for x in (line, result[0] if result and not other else want, other) if x)
                              for (line, want, other), result in zip(rows, found)))
    tap.done()


lib.guarded(main)
