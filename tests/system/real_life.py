#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Whole configurations as users write them (real_life/NAME/): each is started, its requests are sent to it
one after the other, and the answers and log lines are compared with those of the reference program, which
expected.txt holds. Dates, times, ports and process numbers are masked.

A folder has haproxy.cfg, its maps and certificates, requests.txt and expected.txt. In the configuration
${X_PORT} is a port to listen on, ${X_SERVER} the address of an origin server that tells what it
received, ${LOG} where the logs go, ${DIR} the folder. In requests.txt a request begins with a line
"=== X_PORT [option=value ...]" and goes on to the next one:
  proxy=1.2.3.4   a PROXY protocol line comes first
  end=eof         the client closes its side after it
  again           on the connection of the request before
  crlf            the body's lines end with CRLF, and an empty line ends it
  hex             the lines are hexadecimal
  line            a line, not HTTP; all: read until the other side closes
--record writes expected.txt of the configurations from what the given program does: run it with the
reference program only."""
import difflib
import os
import re
import socket
import sys

import lib

HERE = os.path.join(os.path.dirname(os.path.realpath(__file__)), "real_life")


def origin(name):
    """An origin server: its body tells the request; its path may ask for something special."""

    def handler(sock):
        reader = lib.Reader(sock)
        while True:
            head = reader.head()
            if not head:
                return
            fields = dict(head[1])
            if not re.search(r" HTTP/1\.[01]$", head[0]):  # not HTTP: a mail server and its like
                sock.sendall(("%s got %s\r\n" % (name, head[0])).encode("latin-1"))
                continue
            method, url, _ = head[0].split(" ", 2)
            body = reader.body(head[1])
            if fields.get("upgrade", "").lower() == "websocket":
                sock.sendall(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
                             b"Connection: Upgrade\r\n\r\n")
                data = reader.buf
                while data:
                    sock.sendall(b"%s echoes %s" % (name.encode(), data))
                    data = sock.recv(65536)
                return
            m = re.search(r"origin-status=(\d+)", url)
            status = int(m.group(1)) if m else 200
            text = "%s\n%s\n%s" % (name, head[0], "".join("%s: %s\n" % f for f in head[1]))
            text = (text + "\n" + body.decode("latin-1")).encode("latin-1")
            extra = "".join("%s: %s\r\n" % (n, v.replace("+", " ")) for n, v in
                            re.findall(r"origin-header=([\w-]+):([^&\s]*)", url))
            answer = ("HTTP/1.1 %d Whatever\r\nServer: origin\r\n%sContent-Length: %d\r\n\r\n"
                      % (status, extra, 0 if status in (204, 304) else len(text))).encode("latin-1")
            # in one piece: a rule that answers instead sees all of it or nothing
            sock.sendall(answer + (b"" if method == "HEAD" or status in (204, 304) else text))
            if fields.get("connection", "").lower() == "close":
                return

    return handler


class Line:
    """A server that speaks first, line by line."""

    def __init__(self, name):
        self.name = name

    def __call__(self, sock):
        sock.sendall(b"220 %s ready\r\n" % self.name.encode())
        reader = lib.Reader(sock)
        while True:
            line = reader.line()
            if line.upper() == b"QUIT":
                sock.sendall(b"221 bye\r\n")
                return
            sock.sendall(b"250 %s got %s\r\n" % (self.name.encode(), line))


def read_requests(path):
    """[(port name, {option: value}, bytes)]"""
    requests = []
    for part in re.split(r"(?m)^=== ", open(path).read())[1:]:
        head, _, text = part.partition("\n")
        words = head.split()
        options = dict((w.split("=", 1) + [""])[:2] for w in words[1:])
        if "hex" in options:
            data = bytes.fromhex(re.sub(r"\s", "", text))
        else:
            text, _, body = text.partition("\n\n")
            data = text.strip("\n").replace("\n", "\r\n").encode("latin-1") + b"\r\n"
            if "line" not in options:
                body = body.strip("\n").encode("latin-1")
                if "crlf" in options:
                    body = body.replace(b"\n", b"\r\n") + b"\r\n\r\n"
                data += b"\r\n" + body
        requests.append((words[0], options, data))
    return requests


class Run:
    """One configuration under one program."""

    def __init__(self, program, folder):
        self.folder = folder
        self.log = lib.Syslog()
        self.servers, self.ports = [], {}
        conf = open(os.path.join(folder, "haproxy.cfg")).read()
        self.log_targets = conf.split("\ndefaults")[0].count("log ${LOG}")  # of section global
        self.conf = re.sub(r"\$\{(\w+)\}", self.value, conf)
        self.proxy = lib.Proxy(program, "\n" + self.conf)
        self.connection = None

    def value(self, m):
        name = m.group(1)
        if name == "LOG":
            return "127.0.0.1:%d" % self.log.port
        if name == "DIR":
            return self.folder
        if name.endswith("_PORT"):
            if name not in self.ports:
                self.ports[name] = lib.ports(1)[0]
            return str(self.ports[name])
        if not name.endswith("_SERVER"):
            return m.group()
        if name not in self.ports:
            short = name[:-len("_SERVER")].lower()
            server = lib.Server(Line(short) if short.startswith("line") else origin(short))
            self.servers.append(server)
            self.ports[name] = server.port
        return "127.0.0.1:%d" % self.ports[name]

    def answer(self, data, options):
        """What came back: the head's lines and the body, or all bytes until the end."""
        reader = self.connection
        if "end" in options:
            reader.sock.shutdown(socket.SHUT_WR)
        if "hex" in options or "line" in options:
            if "end" in options or "all" in options:
                while reader.fill():
                    pass
            else:
                reader.fill()
            got, reader.buf = reader.buf, b""
            return got.decode("latin-1")
        head = reader.head()
        if not head:
            return "(closed)\n"
        status = int(head[0].split()[1])
        text = head[0] + "\n" + "".join("%s: %s\n" % f for f in head[1])
        if data.startswith(b"HEAD ") or status in (204, 304):
            return text
        if status == 101:
            reader.sock.sendall(b"ping")
            reader.fill()
            got, reader.buf = reader.buf, b""
            return text + "\n" + got.decode("latin-1") + "\n"
        return text + "\n" + reader.body(head[1], True).decode("latin-1")

    def one(self, port, options, data, lines):
        """The answer to a request and what was logged of it; when all of the <lines> that are expected are there, no more are waited for."""
        if "again" not in options or not self.connection:
            if self.connection:
                self.connection.sock.close()
            sock = lib.connect(self.ports[port])
            if "proxy" in options:
                data = b"PROXY TCP4 %s 192.0.2.1 40000 80\r\n%s" % (options["proxy"].encode(), data)
            self.connection = lib.Reader(sock)
        seen = len(self.log.lines)
        self.connection.sock.sendall(data)
        try:
            text = self.answer(data.split(b"\r\n", 1)[1] if "proxy" in options else data, options)
        except (OSError, EOFError, ValueError) as e:
            text = "(%s)\n" % type(e).__name__
        if "line" in options or "hex" in options or "101" in text[:16]:
            self.connection.sock.close()
            self.connection = None
        if "nolog" not in options:
            self.log.wait(lambda there: len(there) >= seen + (self.log_targets if lines else 1), 5.0 if lines else 0.3)
        return text, self.log.lines[seen:]

    def close(self):
        if self.connection:
            self.connection.sock.close()
        self.proxy.stop()
        for s in self.servers:
            s.close()


def mask(run, text):
    """What differs from run to run becomes a word."""
    for name, port in run.ports.items():
        text = re.sub(r"\b%d\b" % port, name, text)
    text = text.replace(run.folder, "DIR")
    text = re.sub(r"\[\d\d/\w{3}/\d{4}:\d\d:\d\d:\d\d(\.\d{3})?\]", "[DATE]", text)
    text = re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+[+-]\d\d:\d\d - haproxy \d+ ", "DATE - haproxy PID ", text)
    text = re.sub(r"\w{3} [ \d]\d \d\d:\d\d:\d\d ", "DATE ", text)
    text = re.sub(r"\[\d\d/\w{3}/\d{4}:[\d:]+ [+-]\d{4}\]", "[DATE]", text)
    text = re.sub(r'"" "" \d+ \d+ ', '"" "" PORT MS ', text)
    text = re.sub(r'" \d+ \d{3} (?="\w+" "\w+" ")', '" PORT MS ', text)
    text = re.sub(r"(=\w+)\|[\w+/]{5}\|[\w+/]{5}", r"\1|DATE|DATE", text)
    text = re.sub(r" \d{3}/-1/\d{3} (?=\d+ SC)", " T/no/T ", text)
    text = re.sub(r"(\w+)\[\d+\]: ", r"\1[PID]: ", text)
    text = re.sub(r"127\.0\.0\.1:\d{4,5}", "127.0.0.1:PORT", text)
    text = re.sub(r"(?<= )\+?-?\d+/-?\d+/-?\d+/-?\d+/\+?-?\d+(?= )", lambda m: re.sub(r"\d+", "T", re.sub(r"-1", "no", m.group())), text)
    text = re.sub(r" (-1|\d+)/(-1|\d+)/\d+ (?=\d+ [-A-Za-z]{2} )",
                  lambda m: " %s/T " % "/".join("no" if t == "-1" else "T" for t in m.groups()), text)
    # connections of the process and of the frontend: the last client may still be leaving
    text = re.sub(r"( [-A-Za-z]{4}) \d+ \d+(?= \d+ \d+ \d+ )", r"\1 N N", text)
    text = re.sub(r"\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT", "DATE", text)
    text = re.sub(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "UUID", text)
    return text


def transcript(program, folder, logged):
    """What happens to the requests of a folder; logged(number): whether lines are expected of a request."""
    run = Run(program, folder)
    out = []
    try:
        for number, (port, options, data) in enumerate(read_requests(os.path.join(folder, "requests.txt")), 1):
            text, lines = run.one(port, options, data, logged(number))
            shown = data.decode("latin-1").split("\r\n")[0][:100]
            out.append("### %d %s %s\n%s\n%s" % (number, port, shown if "hex" not in options else "(bytes)",
                                                mask(run, text).rstrip("\n"),
                                                "".join("log: %s\n" % mask(run, l) for l in lines)))
        if not run.proxy.alive():
            out.append("### the program died\n" + run.proxy.output())
    finally:
        run.close()
    return out


def main():
    args = lib.arguments(__doc__, ("record", False, "write expected.txt"), ("only", "", "this configuration"),
                         ("show", False, "print what happens"))
    tap = lib.Tap()
    for name in sorted(os.listdir(HERE)):
        folder = os.path.join(HERE, name)
        if not os.path.exists(os.path.join(folder, "haproxy.cfg")) or args.only not in ("", name):
            continue
        path = os.path.join(folder, "expected.txt")
        want = []
        if not args.record:
            want = re.split(r"(?m)^(?=### )", open(path, encoding="latin-1", newline="\n").read())[1:]
        silent = set(w.split()[1] for w in want if not re.search("(?m)^log: ", w))
        try:
            got = transcript(args.program, folder, lambda number: str(number) not in silent)
        except RuntimeError as e:
            tap.ok(False, name + ": starts", e)
            continue
        text = "\n".join(got)
        got = re.split(r"(?m)^(?=### )", "\n" + text)[1:]
        if args.record:
            open(path, "w", encoding="latin-1", newline="\n").write(text)
            want = got
        if args.show:
            sys.stderr.write(text)
        tap.eq(len(got), len(want), "%s: number of answers" % name)
        for g, w in zip(got, want):
            diff = difflib.unified_diff(w.split("\n"), g.split("\n"), "want", "got", lineterm="", n=2)
            tap.ok(g == w, "%s: %s" % (name, g.split("\n")[0][4:]), "\n".join(diff))
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
