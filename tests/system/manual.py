#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What the manual says of keywords and their words, case by case (tables/manual*.txt): each case is a frontend, a backend
with server A (with A, B and C where it balances) unless it has its own, and requests; what the client gets, what the
server got and what is logged is compared. tables/manual.txt tells the form; lib_manual.py has what a case can do
besides whole requests: clients step by step, commands of the Runtime API, runs of the program. In tables/manual-differs.txt is
what this program does otherwise than HAProxy on purpose.

--learn writes the tables anew with what the program does; it is to be run with HAProxy. --only takes the cases whose
name, or that of whose table, has the word (and learns nothing of others)."""
import concurrent.futures
import glob
import itertools
import os
import re
import socket
import tempfile
import warnings

import lib
import lib_manual

TABLES = os.path.join(os.path.dirname(os.path.realpath(__file__)), "tables", "manual*.txt")
GLOBAL = """global
	log 127.0.0.1:%d local0
	expose-experimental-directives
defaults
	mode http
	timeout connect 2s
	timeout client 5s
	timeout server 5s
	timeout tarpit 50ms
"""
warnings.simplefilter("ignore", DeprecationWarning)  # escapes of requests that Python does not know
STEP = re.compile(r"([>$!%#&<L=?])(\d?)(?: (.*)|$)")
CERTS = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../reg-tests/tls/certs")
DULL = ("content-length", "connection", "date", "cache-control", "content-type", "www-authenticate")


def cases(table):
    """(name, its lines up to the next one) of a table."""
    with open(table) as f:
        head, *parts = re.split(r"^== ", f.read(), flags=re.M)
    return head, [part.rstrip("\n").split("\n", 1) for part in parts]


def serve(name, sock):
    """Answers each request with the request; `X-Answer: 404, Field: value|Field: value` tells how."""
    r = lib.Reader(sock)
    while True:
        first, fields = read_head(r)
        if first is None:
            return
        length = int(dict(fields).get("content-length", 0))
        while len(r.buf) < length and r.fill():
            pass
        body, r.buf = r.buf[:length], r.buf[length:]
        status, _, more = dict(fields).get("x-answer", "200").partition(", ")
        status, _, case = status.partition("@")
        if lib_manual.misbehave(sock, status, more, case):
            return
        seen = ["%s %s" % (name, first)] + ["%s: %s" % f for f in fields if f[0] not in ("connection", "x-answer")
                                            and f != ("host", "h.example.com")]
        text = " | ".join(seen + ([body.decode("latin-1")] if body else [])).encode("latin-1")
        text = b"" if status in ("204", "304") else text
        head = "HTTP/1.1 %s Text\r\n" % status + "".join(f + "\r\n" for f in more.split("|") if f)
        sock.sendall(("%sContent-Length: %d\r\n\r\n" % (head, len(text))).encode("latin-1") + (b"" if first.startswith("HEAD") else text))


def read_head(r):
    while b"\r\n\r\n" not in r.buf:
        if not r.fill():
            return None, []
    raw, r.buf = r.buf.split(b"\r\n\r\n", 1)
    first, *lines = raw.decode("latin-1").split("\r\n")
    return first, [(n.lower(), v.strip()) for n, _, v in (line.partition(":") for line in lines)]


def request(line):
    """The bytes of "GET /a HTTP/1.0 | Name: value | =body"."""
    first, *fields = line.split(" | ")
    words = first.split(" ")
    body = "".join(f[1:] for f in fields if f.startswith("="))
    fields = [f for f in fields if not f.startswith("=")]
    if not any(f.lower().startswith("host:") for f in fields):
        fields.append("Host: h.example.com")
    if body:
        fields.append("Content-Length: %d" % len(body.encode("latin-1").decode("unicode_escape")))
    fields.append("Connection: close")
    text = " ".join(words[:2]) + " " + (words[2] if len(words) > 2 else "HTTP/1.1") + "\r\n"
    return (text + "".join(f + "\r\n" for f in fields) + "\r\n" + body).encode("latin-1").decode("unicode_escape").encode("latin-1")


def answer(raw):
    """What the client got, in a line."""
    head, _, body = raw.decode("latin-1").partition("\r\n\r\n")
    first, *lines = head.split("\r\n")
    fields = [(n.lower(), v.strip()) for n, _, v in (line.partition(":") for line in lines)]
    said = ["%s: %s" % f for f in fields if f[0] not in DULL]
    body = "" if body.startswith("<html>") else body.strip()
    return " | ".join([" ".join(first.split(" ")[1:2])] + said) + (" -> " + body if body else "")


def ask(port, line, read=answer):
    with socket.create_connection(("127.0.0.1", port), lib.PATIENCE) as s:
        s.settimeout(lib.PATIENCE)
        s.sendall(request(line))
        return read(lib.recv_all(s))


def configuration(lines, port, servers, log):
    """The configuration of a case: lines before "backend", if there is one, are the frontend's."""
    first = "".join("\t%s\n" % line[6:] for line in lines if line.startswith("first "))
    text = "\n".join("\t" + line for line in lines if not line.startswith("first "))
    front, _, back = text.partition("\tbackend\n")
    before, _, front = front.rpartition("\tfrontend\n")
    if "\tserver" not in back:
        back += "\n\tserver A @A cookie a\n"
        back += "\tserver B @B cookie b weight 2\n\tserver C @C\n" if "\tbalance" in back else ""
    logs = "\tlog global\n" if re.search("log-format|option (?:http|tcp|https)log", front) and not re.search("\tlog ", front) else ""
    bind = "" if re.search(r"\tbind (?:unix@|@PORT)", front) else "\tbind 127.0.0.1:%d\n" % port
    text = "%sfrontend f\n%s%s%s\n\tdefault_backend b\nbackend b\n%s\n" % (
        before.replace("\t", "", 1).replace("\n\t", "\n"), bind, logs, front, back)
    for s in servers:
        text = text.replace("@" + s[0], "127.0.0.1:%d" % s[1])
    text = text.replace("@PORT", "127.0.0.1:%d" % port).replace("@OTHER", "127.0.0.1:%d" % (
        lib.ports(1)[0] if "@OTHER" in text else 0)).replace("@LOG", "127.0.0.1:%d" % log.port)
    return GLOBAL.replace("global\n", "global\n" + first, 1) % log.port + text, bool(logs) or bool(re.search(r"^\s*log \S", text, re.M))


def placed(text, folder):
    """With paths for @C and @D."""
    return text.replace("@C/", CERTS + "/").replace("@D/", folder + "/")


def unplaced(text, folder):
    return text.replace(CERTS + "/", "@C/").replace(folder + "/", "@D/")


def files(lines, folder):
    """Writes the files of a case, and returns its lines without @C and @D."""
    lines = [placed(line, folder) for line in lines]
    for _, name, text in (line.split(" ", 2) for line in lines if line.startswith("+ ")):
        with open(os.path.join(folder, name), "w") as f:
            f.write(text.replace("\\n", "\n") + "\n")
    return [line for line in lines if not line.startswith("+ ")]


def expected(lines, at):
    """What the table has the command of a line say, or nothing."""
    after = lines[at + 1] if at + 1 < len(lines) else ""
    return after[2:] if after.startswith("= ") else None


def is_silent(lines, at):
    """Does the table have nothing logged of the step of a line?"""
    told = itertools.takewhile(lambda line: line[:1] in ("<", "L", "="), lines[at + 1:])
    return "L nothing" in told


def left(proxy):
    """Waits until all clients of the frontend have gone."""
    lib.until(lambda: proxy.stats()["f", "FRONTEND"]["scur"] == "0")


def miscounted(text):
    """The first step of a case that waits for another number of log lines than it has, or nothing: it would not see the rest."""
    steps = re.findall(r"^([>$!%#&].*)((?:\n[<L=].*)*)", text, re.M)
    for step, told in steps:
        logged = len(re.findall(r"^L (?!nothing)", told, re.M))
        if logged and logged != int(STEP.match(step).group(2) or step[0] in ">$"):
            return step
    return None


def play(program, text, servers):
    with tempfile.TemporaryDirectory(prefix="hapt.") as folder:
        return play_in(folder, program, text, servers)


def play_in(folder, program, text, servers):
    """The lines of a case with what the program does."""
    lines = text.split("\n")
    log, port = lib.Syslog(), lib.ports(1)[0]
    asked = [line for line in lines if line.startswith("?")]
    rules = lib_manual.rules_of([placed(line, folder) for line in asked]) if asked else []
    own = lib_manual.before_backend([line for line in files(lines, folder) if not STEP.match(line)], rules)
    own = lib_manual.by_way(own, folder)
    conf, logs = configuration(own, port, servers, log)
    out, seen = [], 0
    with lib.Proxy(program, conf) as proxy:
        if asked:
            told = [ask(port, line[2:], lib_manual.values_of) for line in lines if line.startswith("> ")] or [
                ask(port, "GET /", lib_manual.values_of)]
            return lib_manual.with_values(lines, zip(*told))
        for at, line in enumerate(lines):
            step = STEP.match(line)
            if step and step.group(1) in "<L=":
                continue
            out.append(line)
            if not step:
                continue
            kind, count, rest = step.groups()
            if kind in ">$#":  # those before are gone: logs count connections
                left(proxy)
            if kind == ">":
                out.append(("< " + lib_manual.dated(ask(port, rest))).rstrip())
            elif kind == "$":
                out += ["< " + said for said in lib_manual.client(port, rest, proxy)]
            else:
                said = lib_manual.run(kind, placed(rest, folder), proxy, program, port, expected(lines, at))
                out += ["= " + unplaced(line, folder) for line in said]
            wanted = int(count or (kind in ">$")) if logs else 0
            if is_silent(lines, at):  # a line is sent before its connection is counted off
                left(proxy)
                log.settle()
            else:
                log.wait(lambda told, end=seen + wanted: len(told) >= end)
            told = log.lines[seen:] if logs else []
            seen += len(told)
            told += ["nothing"] if len(told) < wanted else []
            out += [("L " + lib_manual.plain(line)).rstrip() for line in told]
    log.close()
    return [lib_manual.visible(line) for line in out]


def safely(program, text, servers):
    try:
        return play(program, text, servers)
    except (RuntimeError, OSError, EOFError, ValueError) as e:
        return text.split("\n") + ["failed: " + line for line in str(e).split("\n")]


def alone(tables, again, is_other):
    """Plays the cases that failed beside others once more, if they are few: some have timeouts of a tenth of a second."""
    failed = [(played, i) for table, _, played in tables if not (is_other and "differs" in table)
              for i, (_, text, done) in enumerate(played) if done and done.result() != text.split("\n")]
    for played, i in failed if len(failed) <= 5 else []:
        name, text, first = played[i]
        done = concurrent.futures.Future()
        done.set_result(again(text))
        if done.result() == text.split("\n"):
            print("# UNSTEADY %s: it failed beside others, and passed alone" % name)
            print("".join("#   got  %s\n#   want %s\n" % d for d in differing(first.result(), text)))
        played[i] = (name, text, done)


def differing(got, text):
    """The first lines of a case that differ, got and wanted."""
    return [(g, w) for g, w in zip(got + [""], text.split("\n") + [""]) if g != w][:3]


def judge(tap, name, text, done, differs):
    """Reports on a case that was played, and gives its lines as they are to be learnt. <differs>: of the reference, which
    is to do otherwise."""
    want = text.split("\n")
    got = done.result() if done else want
    failed = any(line.startswith("failed: ") for line in got)
    differ = differing(got, text)
    if done and differs:
        tap.ok(got != want, name + ": still otherwise")
    elif done:
        tap.ok(got == want and not miscounted(text), name, "\n".join("got  %s\nwant %s" % d for d in differ) or
               "it has another number of log lines than it waits for: %s" % miscounted(text))
    return "== %s\n%s\n" % (name, "\n".join(want if failed or differs else got))


def main():
    args = lib.arguments(__doc__, ("learn", False, "write the tables"), ("only", "", "a word of the names of cases or tables"))
    tap = lib.Tap()
    servers, is_other = [], lib.is_reference(args.program)
    for name in "ABC":
        s = lib.Server(lambda sock, name=name: serve(name, sock))
        servers.append((name, s.port))
    servers += lib_manual.bad_servers()
    # each case has a program of its own, and most of its time waits: for a timeout, or for no log line to come
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        tables = []
        for table in sorted(glob.glob(TABLES)):
            head, parts = cases(table)
            played = [(name, text, pool.submit(safely, args.program, text, servers)
                       if args.only in os.path.basename(table) + ": " + name else None) for name, text in parts]
            tables.append((table, head, played))
        concurrent.futures.wait([done for _, _, played in tables for _, _, done in played if done])
        if not args.learn:
            alone(tables, lambda text: safely(args.program, text, servers), is_other)
        for table, learnt, played in tables:
            learnt += "".join(judge(tap, name, text, done, is_other and "differs" in table) for name, text, done in played)
            if args.learn:
                with open(table, "w") as f:
                    f.write(learnt)
    tap.done()


lib.guarded(main)
