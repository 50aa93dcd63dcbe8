#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The conversation of a control plane with a process (tables/data_plane.txt): what it asks about itself and its servers,
servers, map and ACL entries, certificates and their lists, authorities and lists of revoked certificates that come, change and
go, and what is wrong. Each command as such clients send it: a connection of its own that asks for severities as numbers, to the
stats socket, and through a master to its worker. The answers are the reference's.

    data_plane.py --record     writes the answers of --program (the reference) to the table
"""
import os
import re
import shutil
import socket
import subprocess
import tempfile

import lib

HERE = os.path.dirname(os.path.abspath(__file__))
TABLE = HERE + "/tables/data_plane.txt"
CERTS = HERE + "/../../reg-tests/tls/certs/"
EMPTY = "(nothing)"
CONF = """global
	stats socket {dir}/ctl.sock level admin
	setenv DATA_PLANE yes
defaults
	mode http
	timeout connect 5s
	timeout client 5s
	timeout server 5s
frontend fe
	bind 127.0.0.1:{p[0]} name plain
	bind 127.0.0.1:{p[1]} name tls ssl crt {dir}/site.pem ca-file {dir}/ca.crt crl-file {dir}/crl.pem verify optional
	bind 127.0.0.1:{p[2]} name list ssl crt-list {dir}/list
	http-request deny if {{ path -f {dir}/one.acl }}
	http-request set-header x-map %[path,map({dir}/one.map)]
	default_backend be
backend be
	balance roundrobin
	server s1 127.0.0.1:1 weight 10 maxconn 100
	server s2 127.0.0.1:1 check inter 1h disabled
	server s3 127.0.0.1:1 disabled
	server s4 127.0.0.1:1 ssl verify none
backend other
	balance source
	server o1 127.0.0.1:1
"""


def read_table():
    """[(section, command, answer)]"""
    out, section = [], ""
    with open(TABLE) as f:
        for line in f.read().split("\n"):
            if line.startswith("## "):
                section = line
            elif line.startswith("> "):
                out.append((section, line[2:], []))
            elif line.startswith("  "):
                out[-1][2].append(line[2:])
            elif out and out[-1][0] == section:
                out[-1][2].append("")
    for _, _, answer in out:
        while answer and not answer[-1]:
            answer.pop()
    return out


def write_table(rows):
    with open(TABLE) as f:
        head = f.read().split("\n\n")[0]
    text, last = head + "\n", ""
    for section, command, answer in rows:
        if section != last:
            text += "\n" + section + "\n"
        text += "> " + command + "\n" + "".join(("  " + l).rstrip() + "\n" for l in answer)
        last = section
    with open(TABLE, "w") as f:
        f.write(text)


def payload(name, folder):
    with open(os.path.join(folder if name == "crl.pem" else CERTS, name)) as f:
        return "".join(l for l in f if l.strip())


def to_send(command, folder):
    command = command.replace("{dir}", folder)
    line, _, name = command.partition(" < ")
    if name:
        line += " <<\n" + payload(name, folder)
    elif " <<|" in line:
        line = line.replace("|", "\n")
    return line


def plain(text, folder):
    """What is no property of the program, or of its version, goes; so do the entries of a help."""
    text = text.replace(folder, "{dir}").replace("\0", "")
    text = re.sub(r"(?m)^(  \S.{36,}: .*\n)+", "<HELP>\n", text)
    text = re.sub(r"0x[0-9a-f]+", "0x..", text)
    text = re.sub(r"(127\.0\.0\.1|::1):\d{4,}", r"\1:PORT", text)
    text = re.sub(r"\b\d+\.\d+(\.\d+)?(-dev\d+)?-\w+\b[^\n]*", "VERSION", text)
    text = re.sub(r"((?:Last|Next) Update: ).*", r"\1DATE", text)
    text = re.sub(r"(?m)^\[6\]: \d+\.\d+\.\d+$", "[6]: VERSION", text)
    text = re.sub(r"(?m)^sockpair@\d+ .*\n", "", text)
    # servers: the time since a change, and what checks without a result are said to be
    text = re.sub(r"(?m)^(\d+ \w+ \d+ \w+(?: \S+){5}) \d+( \d+ \d+) \d+ \d+", r"\1 T\2 N N", text)
    text = re.sub(r"(?m)^\d+ .*'httpclient'.*\n", "", text)
    text = re.sub(r"(?m)^@system-ca - .*\n", "", text)  # there when it is used
    text = re.sub(r"\[\d+/\w+/[\d:.]+\]", "[DATE]", text)
    lines = [l.rstrip() for l in text.split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    while lines and not lines[0]:  # the answer to the command that sets severities
        del lines[0]
    return lines or [EMPTY]


class Scene:
    """The program with its files; ask() as a tool that talks to the process, or to its master."""

    def __init__(self, program, through_master):
        self.through_master = through_master
        self.dir = tempfile.mkdtemp(prefix="hapd.")
        for name, source in (("site.pem", "a.pem"), ("listed.pem", "a2.pem"), ("ca.crt", "ca.crt")):
            shutil.copy(CERTS + source, os.path.join(self.dir, name))
        for name, text in (("list", self.dir + "/listed.pem [alpn h2] listed.test\n"), ("one.map", "first 1\nsecond 2\n"),
                           ("one.acl", "first\nsecond\n"),
                           ("test.cfg", CONF.format(dir=self.dir, p=lib.ports(3)))):
            with open(os.path.join(self.dir, name), "w") as f:
                f.write(text)
        self.revocations()
        self.path = self.dir + ("/master.sock" if through_master else "/ctl.sock")
        self.out = open(self.dir + "/output", "wb")
        options = ["-W", "-S", self.path] if through_master else ["-db"]
        self.process = subprocess.Popen([program] + options + ["-f", self.dir + "/test.cfg"], stdout=self.out,
                                        stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        if not lib.until(self.serves):
            raise RuntimeError(self.output())

    def output(self):
        with open(self.dir + "/output", errors="replace") as f:
            return f.read()

    def revocations(self):
        """A list of revoked certificates of an authority of its own."""
        with open(self.dir + "/ca.cnf", "w") as f:
            f.write("[ca]\ndefault_ca=d\n[d]\ndatabase=index\ndefault_md=sha256\ndefault_crl_days=30\n")
        with open(self.dir + "/index", "w") as f:
            f.write("R\t350101000000Z\t250203040506Z,keyCompromise\t0ABC\tunknown\t/CN=revoked\n")
        for command in ("req -x509 -newkey rsa:2048 -nodes -keyout own.key -out own.crt -days 30 -subj /C=FR/CN=Lists",
                        "ca -config ca.cnf -gencrl -keyfile own.key -cert own.crt -out crl.pem"):
            subprocess.run(["openssl"] + command.split(), cwd=self.dir, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def serves(self):
        if self.through_master and "Loading success" not in self.output():
            return False
        try:
            return "6]" in self.ask("show cli level")
        except OSError:
            return False

    def ask(self, command):
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(lib.PATIENCE)
            s.connect(self.path)
            form = "set severity-output number;@1 %s%s" if self.through_master else "set severity-output number;%s%s"
            # a payload is all that follows its line
            s.sendall((form % (command, "\n" if "\n" in command or not self.through_master else ";quit\n")).encode())
            if self.through_master and "\n" in command:
                s.shutdown(socket.SHUT_WR)
            return lib.recv_all(s).decode("latin-1")

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        lib.end(self.process)
        self.out.close()
        shutil.rmtree(self.dir, ignore_errors=True)


def answers(scene, rows):
    for section, command, wanted in rows:
        try:
            got = plain(scene.ask(to_send(command, scene.dir)), scene.dir)
        except OSError as e:
            got = ["(%s)" % type(e).__name__]
        yield section, command, wanted, got


def main():
    args = lib.arguments(__doc__, ("record", False, "write the table"))
    tap = lib.Tap()
    if not shutil.which("openssl"):
        tap.skip("all", "no openssl")
        tap.done()
    rows = read_table()
    if args.record:
        with Scene(args.program, False) as scene:
            write_table([(section, command, got) for section, command, _, got in answers(scene, rows)])
        rows = read_table()
    for name, through_master in (("the stats socket", False), ("the master's socket", True)):
        with Scene(args.program, through_master) as scene:
            for section, command, wanted, got in answers(scene, rows):
                tap.ok(got == wanted, "%s: %s" % (name, command), "got\n%s\nwant\n%s" % ("\n".join(got), "\n".join(wanted)))
            tap.ok(scene.process.poll() is None, name + ": the program lives")
    tap.done()


lib.guarded(main)
