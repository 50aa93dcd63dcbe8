# SPDX-License-Identifier: GPL-2.0-or-later
"""What a case of manual.py can do besides whole requests:

client(port, "STEP | STEP", proxy)   a client step by step: "text" is sent; answer (one), end (all that comes until the end),
                                     more (some bytes), gone (it is waited for, whatever comes), shut, reset, close, new (another
                                     connection; the first goes on), old (back to the first), seen (a server got a request), ctl COMMAND,
                                     send N (that many bytes), columns PROXY/OBJECT COLUMN ...
                                     (as "#" below), until COMMAND ~ PATTERN
run("!", COMMAND, ...)               a command of the Runtime API; more of them on one line with ";"
                                     "until COMMAND ~ PATTERN": once more until its answer has it
run("&", TEXT, ...)                  what a client sends to the stats socket at once, with escapes of Python, and all that it gets
run("#", "PROXY/OBJECT COLUMN ...", ...)  the values of columns of show stat; COLUMN+ tells "+" of any but nothing and zero. It waits for
                                     those that the table has: a connection that came and went may not be counted yet
run("%", ARGUMENTS, ...)             a run of the program on the configuration: its exit status; @CFG is the file
misbehave(sock, status, more, case)  what a server does whose X-Answer is no status
rules_of, values_of, with_values     cases whose lines are "? EXPRESSION": each is set as a variable by a rule of the frontend, after
                                     the rules of the case; the values, one for each request, are what is compared;
                                     "?1 EXPRESSION": by rules for the response
by_way                               "way BIND -> SERVER": the frontend is reached by a server of another proxy, with these options
plain(line)                          a line of the log without what changes from run to run
"""
import collections
import contextlib
import os
import re
import select
import socket
import subprocess
import threading

import lib

SEEN = collections.defaultdict(threading.Event)  # by the port of the case, which its X-Answer has behind "@"
SHAPES = (
    (r"^<134>[A-Z][a-z]{2} +\d+ [\d:]+ haproxy[-.\w]*\[\d+\]: ", ""),
    (r"^(<\d+>)[A-Z][a-z]{2} +\d+ [\d:]+ (?:\S+ haproxy[-.\w]*|(\S+))\[\d+\]: ", r"\1\2: "),
    (r"^(<\d+>)1 \S+ \S+ (\S+) \d+ - ", r"\g<1>1 \2 "),
    (r"^(<\d+>(?:1 )?)haproxy[-.\w]*", r"\1haproxy"),
    (r"( (?:\d{3}|-1) )\+?\d+( - - )", r"\1B\2"),
    (r"\b(S=\w*)(?:\|(?:a[v-z]|b[\w+/])[\w+/]{3})+", r"\1|NOW"),
    (r"\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d(?:\.\d{3}| [+-]\d{4})", "DATE"),
    (r"\b\d{4}-\d\d-\d\dT[\d:.]+[+-]\d\d:\d\d", "DATE"),
    (r"127\.0\.0\.1:\d+", "127.0.0.1:PORT"),
    (r"=(\d+)=\1(?!\d)", "=SAME"),
    (r"check duration: \d+ms", "check duration: MS"),
    (r"( f~ .*-- )\d+/", r"\1N/"),
)


def plain(line):
    for shape, by in SHAPES:
        line = re.sub(shape, by, line)
    line = re.sub(r'(" \d{3} \d+ "[^"]*" "[^"]*") \d+ \d+ ("[^"]*" "[^"]*" "[^"]*")((?: -?\d+)+)', lambda m: m.expand(r"\1 PORT MS \2") +
                  re.sub(r"(?<![-\d])\d+", "T", m.group(3)), line)
    line = re.sub(r"(?<!\S)(?:-?\d+/){7,}-?\d+", lambda m: re.sub(r"(?<![-\d])\d+", "T", m.group()), line)
    line = re.sub(r"(?<= )(?!HTTP/)(\S+/\S+ )((?:(?:\+?\d+|-1)/){2,4}\+?\d+)(?= [+\d-]|$)",
                  lambda m: m.group(1) + re.sub(r"(?<![-\d])\d+", "T", m.group(2)), line)
    return line.strip()


def dated(line):
    """Without the dates of cookies."""
    return re.sub(*SHAPES[5], line)


def visible(line):
    """With control bytes as \\x03, for the tables to be text."""
    return re.sub(r"[\x00-\x08\x0b-\x1f\x7f]", lambda m: "\\x%02x" % ord(m.group()), line)


def misbehave(sock, status, more, case):
    """Does it and returns true, or false where it is a status. <case>: the port of the one that asks, or nothing."""
    if not status.isdigit():  # "seen" is of requests that get no answer, not of those before
        SEEN[case].set()
    if status == "hang":
        while sock.recv(65536):
            pass
    elif status == "reset":
        lib.reset(sock)
    elif status == "deaf":  # it neither says anything nor closes when the client has
        poll = select.poll()
        poll.register(sock, 0)
        poll.poll(lib.PATIENCE * 1000)
    elif status == "raw":
        sock.sendall(more.encode("latin-1").decode("unicode_escape").encode("latin-1"))
    elif status == "stay":
        sock.sendall(more.encode("latin-1").decode("unicode_escape").encode("latin-1"))
        while sock.recv(65536):
            pass
    elif status == "cut":
        sock.sendall(more.encode("latin-1").decode("unicode_escape").encode("latin-1"))
        lib.reset(sock)
    elif status != "close":
        return False
    return True


def rules_of(expressions):
    """The rules that tell the values of the expressions of lines "? EXPRESSION" or "?1 EXPRESSION"."""
    when = "http-response" if expressions[0].startswith("?1 ") else "http-request"
    rules = ["%s set-var(txn.q%d) %s" % (when, i, text.split(" ", 1)[1]) for i, text in enumerate(expressions)]
    told = "".join("%%[var(txn.q%d,NOTHING)];;" % i for i in range(len(expressions)))
    return rules + [when + ' return content-type a/b lf-string "%s"' % told]


def by_way(lines, folder):
    """The lines of a case; "way BIND -> SERVER" among them makes a proxy in front of the frontend."""
    ways = [line for line in lines if line.startswith("way ")]
    if not ways:
        return lines
    bind, _, server = ways[0][4:].partition(" -> ")
    rest = [line for line in lines if line != ways[0]]
    before, rest = (rest[:rest.index("frontend")], rest[rest.index("frontend") + 1:]) if "frontend" in rest else ([], rest)
    front = ["listen way", "bind @PORT", "http-reuse never", "server f unix@%s/way %s" % (folder, server), "frontend"]
    return before + front + ["bind unix@%s/way %s" % (folder, bind)] + rest


def before_backend(lines, rules):
    """The lines of a case with rules at the end of its frontend."""
    at = lines.index("backend") if "backend" in lines else len(lines)
    return lines[:at] + rules + lines[at:]


def values_of(raw):
    head, _, body = raw.decode("latin-1").partition("\r\n\r\n")
    if not head.startswith("HTTP/1.1 200"):
        raise ValueError("no values: " + head.split("\r\n")[0])
    said = [re.sub(r"[^ -~]|\\", lambda m: "\\x%02x" % ord(m.group()), text) for text in body.split(";;")[:-1]]
    return [{"NOTHING": "nothing", "": '""'}.get(text, text) for text in said]


def with_values(lines, values):
    """The lines of a case; each expression is followed by its values."""
    out = []
    for line in lines:
        if not line.startswith("="):
            out.append(line)
        if line.startswith("?"):
            out.append("= " + " | ".join(next(values)))
    return out


def bad_servers():
    """(letter, port) of what a server line may be given: R refuses, F answers no connection."""
    full = socket.socket()
    full.bind(("127.0.0.1", 0))
    full.listen(0)
    held = []
    for _ in range(2):
        held.append(socket.socket())
        held[-1].setblocking(False)
        held[-1].connect_ex(full.getsockname())
    bad_servers.held = held + [full]
    return [("R", lib.ports(1, held=True)[0]), ("F", full.getsockname()[1])]


def text_of(raw):
    head, _, body = raw.decode("latin-1").partition("\r\n\r\n")
    words = [" ".join(head.split("\r\n")[0].split(" ")[:2])]
    words += [line for line in head.split("\r\n")[1:] if re.match("x-|location|set-cookie", line, re.I)]
    return " ".join((" | ".join(words) + ("" if body.startswith("<html>") else " -> " + body)).split())


def client(port, text, proxy):
    """What the client saw, a line for each step that reads."""
    try:
        socks = [lib.connect(port)]
    except ConnectionResetError:
        if text.strip() != "gone": # which it is already
            raise
        return []
    readers = [lib.Reader(socks[0])]
    said, at, case = [], 0, str(port)
    SEEN[case].clear()
    if re.search(r"\| *seen\b", text):
        text = re.sub(r"(X-Answer: \w+)", r"\1@" + case, text)
    for step in re.findall(r'"(?:[^"\\]|\\.)*"|[^|]+', text):
        word, _, rest = step.strip().partition(" ")
        s, r = socks[at], readers[at]
        if step.strip().startswith('"'):
            s.sendall(step.strip()[1:-1].encode("latin-1").decode("unicode_escape").encode("latin-1"))
        elif word == "answer":
            got = r.response("HEAD" if rest == "HEAD" else "GET")
            said.append("%s %s" % (got[0], got[2].decode("latin-1").split("\r\n")[0]) if got else "end")
            said[-1] = re.sub(r" <html>.*", "", said[-1]).strip()
        elif word == "gone":
            with contextlib.suppress(ConnectionResetError):
                lib.recv_all(s)
        elif word == "end":
            try:
                rest = r.buf + lib.recv_all(s)
            except ConnectionResetError:
                rest = b"reset"
            r.buf = b""
            said.append(text_of(rest) if rest else "nothing")
        elif word == "more":
            r.fill()
            said.append(text_of(r.buf))
            r.buf = b""
        elif word == "shut":
            with contextlib.suppress(OSError): # it was closed already
                s.shutdown(socket.SHUT_WR)
        elif word == "reset":
            lib.reset(s)
        elif word == "close":
            s.close()
        elif word == "send":
            s.sendall(b"x" * int(rest))
        elif word == "new":
            socks.append(lib.connect(port))
            readers.append(lib.Reader(socks[-1]))
            at = len(socks) - 1
        elif word == "old":
            at = 0
        elif word == "seen":
            if not SEEN[case].wait(lib.PATIENCE):
                said.append("no server saw it")
            SEEN[case].clear()
        elif word == "ctl":
            said += lines_of(proxy.ctl(rest))
        elif word == "columns":
            said.append(columns(proxy.stats(), *rest.split()))
        elif word == "until": # until CTL COMMAND ~ PATTERN
            command, _, pattern = rest.partition(" ~ ")
            if not lib.until(lambda: re.search(pattern, proxy.ctl(command))):
                said.append("never: " + pattern)
        elif word:
            said.append("unknown step " + word)
    for s in socks:
        s.close()
    return said


def lines_of(text):
    return [line.rstrip() for line in text.rstrip("\n").split("\n") if line.strip()]


def shaped(line, proxy, port):
    line = line.replace(proxy.dir, "DIR").replace(":%d" % port, ":PORT")
    line = re.sub(r"0x[0-9a-f]{6,}", "0xPTR", line)
    words = line.split(" ")
    if len(words) >= 24 and words[2].isdigit(): # of show servers state: how long ago, ports
        words[9] = "T"
        words[18:22] = ["PORT" if len(w) > 3 else w for w in words[18:22]]
        line = " ".join(words)
    line = re.sub(r"\bexp=\d+", "exp=MS", line)
    line = re.sub(r"^\[\d+:\d\d:\d\d:\d\d\]>", "[UPTIME]>", line)
    if line.count(",") > 80: # of show stat: whose they are
        line = ",".join(line.split(",", 2)[:2]) + ",..."
    return plain(line)


def columns(stats, name, *wanted):
    """The values of the columns of an object, in a line."""
    row = stats.get(tuple(name.split("/", 1)), {})
    values = [row.get(column.rstrip("+"), "missing") for column in wanted]
    values = ["+" if column.endswith("+") and v not in ("", "0", "missing") else v for column, v in zip(wanted, values)]
    return " ".join(v.replace(" ", "_") or '""' for v in values)


def conversation(proxy, text):
    """What a client gets that sends all at once and closes its side."""
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(lib.PATIENCE)
    with s:
        s.connect(proxy.ctl_path)
        s.sendall(text.encode("latin-1").decode("unicode_escape").encode("latin-1"))
        with contextlib.suppress(OSError): # it may be closed already
            s.shutdown(socket.SHUT_WR)
        got = b""
        with contextlib.suppress(ConnectionResetError): # there were lines that it has not read
            while part := s.recv(65536):
                got += part
        return got.decode("latin-1")


def run(kind, text, proxy, program, port, expected=None):
    """The lines that come of a command, or the exit status of a run. <expected>: what columns are waited for."""
    if kind == "&":
        return [shaped(line, proxy, port) for line in conversation(proxy, text).split("\n")] or ["nothing"]
    if kind == "#":
        lib.until(lambda: expected in (None, columns(proxy.stats(), *text.split())), 5)
        return [columns(proxy.stats(), *text.split())]
    if text.startswith("until "):
        command, _, pattern = text[6:].partition(" ~ ")
        seen = lib.until(lambda: re.search(pattern, proxy.ctl(command)))
        return ["seen" if seen else line for line in lines_of(proxy.ctl(command))][:1 if seen else None]
    if kind == "!":
        return [shaped(line, proxy, port) for line in lines_of(proxy.ctl(text))] or ["nothing"]
    full = [program] + text.replace("@CFG", proxy.conf_path).split()
    done = subprocess.run(full, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                          timeout=lib.PATIENCE, cwd=proxy.dir, env=dict(os.environ, LC_ALL="C"))
    return ["exit %d" % done.returncode]
