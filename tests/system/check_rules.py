#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Health checks by their rules, case by case (tables/check_rules.txt): each case is a backend whose server is checked once by all
of its rules. What the server got, connection by connection, how the check ended by "show stat", and its line in the log are
compared. All cases are in one process.

--learn writes the table anew with what the program does; it is to be run with HAProxy. --only takes the cases whose name has
the word (and learns nothing of others)."""
import os
import re
import socket
import ssl
import tempfile
import threading

import lib

HERE = os.path.dirname(os.path.realpath(__file__))
TABLE = HERE + "/tables/check_rules.txt"
ADDRESS = "127.9.9.9"  # other tests look for ports that are free at 127.0.0.1
CERTS = HERE + "/../../reg-tests/tls/certs"
GLOBAL = """	nbthread 1
	log 127.0.0.1:%d local0
	external-check
	insecure-fork-wanted
	max-spread-checks 100
defaults
	mode http
	log global
	option log-health-checks
	timeout connect 5s
	timeout client 5s
	timeout server 5s
	timeout check 5s
"""
GREETINGS = {"mysql": b"\x4b\0\0\0\x0a5.5.5-x\0\1\0\0\0abcdefgh\0\xff\xf7\x08\2\0\x0f\x80\x15" + b"\0" * 10 + b"ijklmnopqrst\0"
             b"mysql_native_password\0"}


def unescaped(text):
    return text.encode("latin-1").decode("unicode_escape").encode("latin-1")


class Case:
    def __init__(self, number, name, text):
        self.number, self.name = number, name
        self.lines = [line for line in text.split("\n") if line[:2] not in ("S ", "< ", "L ", "F ")]
        self.scripts = {kind: [line[3:].split(" | ") for line in self.lines if line[:3] == kind] for kind in ("@S ", "@Q ")}
        if "no connection" in self.lines:
            self.scripts["@S "] = []
        elif not self.scripts["@S "] and not self.scripts["@Q "]:
            self.scripts["@S "] = [["head", r'"HTTP/1.0 200 OK\r\n\r\n"']]
        self.seen, self.done, self.lock = {}, 0, threading.Lock()
        self.server = lib.Server(lambda sock: self.serve("@S ", sock), address=ADDRESS)
        self.other = lib.Server(lambda sock: self.serve("@Q ", sock), address=ADDRESS)

    def serve(self, kind, sock):
        with self.lock:
            number = kind + str(len([n for n in self.seen if n.startswith(kind)]))
            self.seen[number] = ""
        try:
            for step in self.scripts[kind].pop(0) if self.scripts[kind] else ["more than expected"]:
                sock = self.step(number, sock, step)
        except (OSError, EOFError):
            pass
        finally:
            self.done += 1
            sock.close()

    def step(self, number, sock, step):
        word, _, rest = step.partition(" ")
        if word.startswith('"'):
            sock.sendall(unescaped(step[1:-1]))
        elif word == "head":
            r = lib.Reader(sock)
            _, fields = r.head()
            self.told(number, b"")
            length = int(dict(fields).get("content-length", 0))
            head = "".join("%s: %s | " % f for f in fields)
            self.seen[number] += _ + " | " + head + r.exactly(length).decode("latin-1")
        elif word == "need":
            got = b""
            while unescaped(rest) not in got:
                got += lib.recv_exactly(sock, 1)
            self.told(number, got)
        elif word == "bytes":
            self.told(number, lib.recv_exactly(sock, int(rest)))
        elif word == "packet":
            head = lib.recv_exactly(sock, 4)
            self.told(number, head + lib.recv_exactly(sock, head[0] + (head[1] << 8)))
        elif word == "greet":
            sock.sendall(GREETINGS[rest])
        elif word == "tls":
            sock = self.encrypted(number, sock, rest)
        elif word == "end":
            self.seen[number] += self.ended(sock)
        elif word == "wait":
            lib.recv_all(sock)
        else:
            self.seen[number] += step
        return sock

    def told(self, number, data):
        self.seen[number] += "".join(chr(c) if 32 <= c < 127 and c != 92 else "\\x%02x" % c for c in data)

    def encrypted(self, number, sock, protocols):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(CERTS + "/a.pem")
        if protocols:
            context.set_alpn_protocols(protocols.split(","))
        names = []
        context.sni_callback = lambda sock, name, context: names.append(name)
        sock = context.wrap_socket(sock, server_side=True)
        self.seen[number] += "[tls sni=%s alpn=%s] " % (names[0] if names else None, sock.selected_alpn_protocol())
        return sock

    @staticmethod
    def ended(sock):
        try:
            while sock.recv(4096):
                pass
        except ConnectionResetError:
            return "[reset]"
        return "[closed]"

    def configuration(self, folder):
        lines = [line for line in self.lines if not line.startswith(("@S ", "@Q ", "no conn", "+ ", "file "))]
        files = [line.split(" ", 2)[1:] for line in self.lines if line.startswith("+ ")]
        for name, text in files:
            path = "%s/%d.%s" % (folder, self.number, name)
            with open(path, "w") as f:
                f.write(self.placed(text.replace("\\n", "\n") + "\n", folder))
            os.chmod(path, 0o755)
        servers = [line for line in lines if line.startswith("server ")]
        lines = [line for line in lines if not line.startswith("server ")] + (servers or ["server @S"])
        text = "".join("\t%s\n" % re.sub("^server ?([^ ]+)", r"server s \1 check inter 10m rise 1 fall 1", line) for line in lines)
        return self.placed("backend b%d\n%s" % (self.number, text), folder)

    def placed(self, text, folder):
        for word, by in (("@S", "%s:%d" % (ADDRESS, self.server.port)), ("@A", ADDRESS), ("@P", str(self.server.port)), ("@Q", str(self.other.port)),
                         ("@C/", CERTS + "/"), ("@D/", "%s/%d." % (folder, self.number))):
            text = text.replace(word, by)
        return text

    def finished(self, rows):
        """Has the check ended, and have all connections?"""
        status = rows["b%d" % self.number, "s"]["check_status"]
        return status not in ("INI", "") and status[0] != "*" and self.done == len(self.seen) and not any(self.scripts.values())

    def logged(self, log):
        mine = [line for line in log if re.search(r"ealth check for server b%d/s " % self.number, line)]
        return self.plain(mine[0].split("]: ", 1)[1]) if mine else "nothing"

    def plain(self, text):
        text = re.sub(r"\bb%d\b" % self.number, "b", text)
        for port in (self.server.port, self.other.port):
            text = re.sub(r"(?<!\d)%d(?!\d)" % port, "PORT", text)
            text = text.replace("\\x%02x\\x%02x" % divmod(port, 256), "PORT")
        for shape, by in ((r"check duration: \d+ms", "check duration: MS"), (r"(returned by OS) \([^)]*\)", r"\1"),
                          (r"TCP4 127.0.0.1 127.9.9.9 \d+ ", "TCP4 127.0.0.1 127.9.9.9 P ")):
            text = re.sub(shape, by, text)
        return text

    def result(self, row, log, folder):
        out = self.lines + ["S " + self.plain(self.seen[n]).strip() for n in sorted(self.seen, reverse=True)]
        out.append(("< %s %s %s" % (row["check_status"].lstrip("* "), row["check_code"], row["status"])).replace("  ", " "))
        out.append("L " + self.logged(log))
        if self.done < len(self.seen) or any(self.scripts.values()):
            out.append("L connections are missing, or do not end")
        for name in (line[5:] for line in self.lines if line.startswith("file ")):
            with open("%s/%d.%s" % (folder, self.number, name)) as f:
                out += ["F " + self.plain(line.rstrip()) for line in f]
        return out


def main():
    args = lib.arguments(__doc__, ("learn", False, "write the table"), ("only", "", "a word of the names of cases"))
    tap = lib.Tap()
    with open(TABLE) as f:
        head, *parts = re.split(r"^== ", f.read(), flags=re.M)
    parts = [part.rstrip("\n").split("\n", 1) for part in parts]
    all_cases = [Case(n, name, text) for n, (name, text) in enumerate(parts)]
    cases = [c for c in all_cases if args.only in c.name]
    log = lib.Syslog()
    results = {}
    with tempfile.TemporaryDirectory(prefix="hapt.") as folder:
        conf = GLOBAL % log.port + "".join(c.configuration(folder) for c in cases)
        with lib.Proxy(args.program, conf, restless="sockets of checks are kept for the next ones") as proxy:
            lib.until(lambda: all(c.finished(rows) for rows in [proxy.stats()] for c in cases))
            rows = proxy.stats()
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:  # what was logged before comes before
                s.sendto(b"the end", ("127.0.0.1", log.port))
            log.find("the end")
            for c in cases:
                results[c.number] = c.result(rows["b%d" % c.number, "s"], log.lines, folder)
    learnt = head
    for c, (name, text) in zip(all_cases, parts):
        want = text.split("\n")
        got = results.get(c.number, want)
        if c.number in results:
            differ = [(g, w) for g, w in zip(got + [""], want + [""]) if g != w][:3]
            tap.ok(got == want, name, "\n".join("got  %s\nwant %s" % d for d in differ))
        learnt += "== %s\n%s\n" % (name, "\n".join(got))
    if args.learn:
        with open(TABLE, "w") as f:
            f.write(learnt)
    tap.done()


lib.guarded(main)
