#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What RFC 9111 and its kin say of shared caches (`tables/http_cache.py`: 265 cases), asked of a cache with all of its lines: it must pass
every case that the RFCs demand, and all that a good cache does, but for those of EXPECTED. An extension.

  http_cache.py --table FILE [--nginx PATH] [--varnish PATH] [--reference PATH]

asks other caches too, and writes a table of how many cases of each group each passes. --only TEXT: cases with it in their names."""
import os
import re
import shutil
import subprocess
import tempfile
import threading
import time
from email.utils import formatdate

import lib
from tables import http_cache as table

# what we do otherwise, and why; all are `may`
EXPECTED = {("stale", "stale-while-revalidate is given at once"): "the one who asks the server waits for it, and only the others do not"}

OURS = """
global
	nbthread 2
	tune.bufsize 16384
defaults
	mode http
	timeout connect 5s
	timeout client 30s
	timeout server 30s
	retries 0
frontend fe
	bind 127.0.0.1:%(port)d
	default_backend be
backend be
	http-request cache-use c
	http-response cache-store c
	server s 127.0.0.1:%(server)d
cache c
	total-max-size 64
	max-age 2147483647
	process-vary on
%(lines)s
"""
LINES = ("rfc9111 on", "revalidate 3600", "serve-ranges on")
NGINX = """
daemon off;
worker_processes 1;
pid %(dir)s/pid;
error_log %(dir)s/error.log;
events { worker_connections 2000; }
http {
	access_log off;
	client_body_temp_path %(dir)s/t1; proxy_temp_path %(dir)s/t2; fastcgi_temp_path %(dir)s/t3; uwsgi_temp_path %(dir)s/t4; scgi_temp_path %(dir)s/t5;
	proxy_cache_path %(dir)s/cache keys_zone=c:10m inactive=1h;
	upstream s { server 127.0.0.1:%(server)d max_fails=0; keepalive 50; }
	server {
		listen 127.0.0.1:%(port)d;
		location / {
			proxy_pass http://s; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Host $http_host;
			proxy_cache c; proxy_cache_key $scheme$http_host$request_uri; proxy_cache_revalidate on;
		}
	}
}
"""
VCL = """vcl 4.1;
backend default { .host = "127.0.0.1"; .port = "%(server)d"; }
"""


class Other:
    """Another cache, started on a port."""

    def __init__(self, kind, program, server, library_path=""):
        self.dir = tempfile.mkdtemp(prefix="cach.")
        self.port, more = lib.ports(2)
        words = {"dir": self.dir, "server": server, "port": self.port}
        with open(self.dir + "/conf", "w") as f:
            f.write((NGINX if kind == "nginx" else VCL) % words)
        env = dict(os.environ, **({"LD_LIBRARY_PATH": library_path} if library_path else {}))
        cmd = [program, "-c", self.dir + "/conf", "-e", self.dir + "/early.log"] if kind == "nginx" else \
            [program, "-F", "-f", self.dir + "/conf", "-a", "127.0.0.1:%d" % self.port, "-T", "127.0.0.1:%d" % more, "-n", self.dir + "/work",
             "-j", "none", "-p", "default_grace=0", "-p", "default_keep=3600", "-p", "default_ttl=0", "-s", "malloc,64m"]
        self.log = open(self.dir + "/output", "wb")
        os.chmod(self.dir, 0o755)
        self.process = subprocess.Popen(cmd, stdout=self.log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env=env)
        if not lib.until(lambda: lib.accepts(self.port), 30):
            with open(self.dir + "/output", errors="replace") as f:
                raise RuntimeError("%s did not start: %s" % (program, f.read()))

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.process.terminate()
        self.process.wait(20)
        self.log.close()
        shutil.rmtree(self.dir, ignore_errors=True)


class Origin:
    """Answers as the step of the case says that the request names."""

    def __init__(self):
        self.asked, self.lock, self.base = [], threading.Lock(), int(time.time())
        self.server = lib.Server(self.serve, backlog=1000)

    def dated(self, text):
        # dates that are validators must not move from answer to answer: seconds of hours count from the start
        def date(m):
            return formatdate((self.base if abs(int(m[1])) > 100000 else time.time()) + int(m[1]), usegmt=True)
        return re.sub(r"DAY([+-]\d+)", date, text)

    def serve(self, sock):
        r = lib.Reader(sock)
        while True:
            head = r.head()
            if not head:
                return
            r.body(head[1])
            fields = dict(head[1])
            method, path = head[0].split(" ")[:2]
            number, nth = int(path.split("/")[1]), int(fields.get("x-step", 0))
            with self.lock:
                self.asked.append((number, nth, fields))
            if not self.answer(sock, table.CASES[number][3][nth], "/%d/x" % number, method, nth, fields):
                return

    def answer(self, sock, s, path, method, nth, fields):
        if s.get("die"):
            return False
        asked = "if-none-match" in fields or "if-modified-since" in fields
        status = 304 if s.get("v") and asked else s.get("s", 200)
        lines = [self.dated(f.replace("{path}", path)) for f in s.get("a", [])]
        if not any(f.lower().startswith("date:") for f in lines):
            lines.append("Date: " + formatdate(usegmt=True))
        body = s.get("b", "body%d" % nth).encode() if status not in (204, 304) else b""
        if s.get("early"):
            sock.sendall(b"HTTP/1.1 %d Early\r\nLink: </a>\r\n\r\n" % s["early"])
        if s.get("chunked"):
            lines.append("Transfer-Encoding: chunked")
            data = b"5\r\n" + body[:5] + b"\r\n" + (b"" if s.get("cut") else b"%x\r\n%s\r\n0\r\n\r\n" % (len(body) - 5, body[5:]))
        else:
            if status not in (204, 304):
                lines.append("Content-Length: %d" % (len(body) + (5 if s.get("cut") else 0)))
            data = body if method != "HEAD" else b""
        sock.sendall(("HTTP/1.1 %d X\r\n%s\r\n\r\n" % (status, "\r\n".join(lines))).encode() + data)
        return not s.get("cut")

    def requests(self, number, nth):
        with self.lock:
            return [f for n, i, f in self.asked if (n, i) == (number, nth)]


def ask(origin, port, number, nth, s):
    """(status, fields, body); (0, {}, why) if there is none."""
    sock = lib.connect(port, 30)
    lines = "".join(origin.dated(f) + "\r\n" for f in s.get("q", []))
    method = s.get("m", "GET")
    try:
        sock.sendall(("%s /%d/x%s HTTP/1.1\r\nHost: h\r\nX-Step: %d\r\n%s\r\n" % (method, number, s.get("p", ""), nth, lines)).encode())
        return lib.Reader(sock).response(method) or (0, {}, b"closed")
    except (OSError, EOFError, ValueError) as e:
        return 0, {}, str(e).encode()
    finally:
        sock.close()


def judge(s, nth, got, asked, first):
    """What is wrong with what step <nth> got; "" if nothing. <first>: what the first one got."""
    status, fields, body = got
    conditional = any("if-none-match" in f or "if-modified-since" in f for f in asked)
    want = s["want"]
    if want == "+" and asked:
        return "the server was asked"
    if want in ("-", "v") and not asked:
        return "the server was not asked"
    if want == "-" and status != s.get("s", 200) and not s.get("st"):
        return "status %d" % status
    if want == "v" and (not conditional or status != 200 or body != first[2]):
        return "no validation: %d %r, asked %d" % (status, body, conditional)
    if "st" in s and status != s["st"]:
        return "status %d, not %d" % (status, s["st"])
    if s.get("old") and body != first[2]:
        return "what is stale was not given: %d %r" % (status, body)
    if s.get("fails") and status and status < 500:
        return "what is stale was given"
    if "body" in s and body != s["body"].encode():
        return "body %r" % body
    if s.get("asked") is False and asked:
        return "the server was asked"
    return judge_fields(s, fields, asked)


def judge_fields(s, fields, asked):
    for name, value in s.get("has", {}).items():
        text = fields.get(name, "")
        if isinstance(value, tuple):
            if not text.isdigit() or not value[0] <= int(text) <= value[1]:
                return "%s: %s" % (name, text)
        elif text != value:
            return "%s: %s" % (name, text)
    for name in s.get("no", []):
        if name in fields:
            return "%s is there" % name
    for name, value in s.get("sent", {}).items():
        if not any(f.get(name) == value for f in asked):
            return "the server was not sent %s: %s" % (name, value)
    return ""


def one(origin, port, number, found):
    steps, first = table.CASES[number][3], None
    for nth, s in enumerate(steps):
        time.sleep(s.get("w", 0))
        got = ask(origin, port, number, nth, s)
        first = first or got
        why = judge(s, nth, got, origin.requests(number, nth), first)
        if why:
            found[number] = "step %d: %s" % (nth + 1, why)
            return


def examine(port, origin, only=""):
    """{number of a case: what went wrong}"""
    found = {}
    threads = [threading.Thread(target=one, args=(origin, port, n, found))
               for n, case in enumerate(table.CASES) if only in "%s %s" % case[:2]]
    for i, t in enumerate(threads):
        t.start()
        if i % 20 == 19:
            time.sleep(0.1)
    for t in threads:
        t.join()
    origin.server.close()
    return found


def ours(args, lines):
    origin = Origin()
    port = lib.ports(1)[0]
    text = OURS % {"port": port, "server": origin.server.port, "lines": "".join("\t%s\n" % x for x in lines)}
    return origin, lib.Proxy(args, text), port


def examine_all(args):
    """[(name, version, what went wrong)]"""
    all_of = []
    for name, program, lines in (("haproxy (this)", args.program, LINES), ("the same, without its own lines", args.program, ()),
                                 ("HAProxy 3.4", args.reference, ())):
        if program:
            origin, proxy, port = ours(program, lines)
            with proxy:
                all_of.append((name, examine(port, origin, args.only)))
    for name, program in (("nginx", args.nginx), ("Varnish", args.varnish)):
        if program:
            origin = Origin()
            with Other(name, program, origin.server.port, args.libraries) as other:
                all_of.append((name, examine(other.port, origin, args.only)))
    return all_of


def write_table(path, all_of, verbose):
    groups = list(dict.fromkeys(c[0] for c in table.CASES))
    lines = ["| group | " + " | ".join(name for name, _ in all_of) + " |", "| --- |" + " --- |" * len(all_of)]

    def row(title, members):
        cells = []
        for _, found in all_of:
            parts = []
            for kind in ("must", "may"):
                of = [n for n in members if table.CASES[n][2] == kind]
                parts.append("%d/%d" % (len([n for n in of if n not in found]), len(of)) if of else "-")
            cells.append(", ".join(parts))
        lines.append("| %s | %s |" % (title, " | ".join(cells)))

    for g in groups:
        row(g, [n for n, c in enumerate(table.CASES) if c[0] == g])
    row("all", list(range(len(table.CASES))))
    text = "\n".join(lines) + "\n"
    if path == "-":
        print(text)
    else:
        with open(path) as f:
            before = f.read()
        begin, end = "<!-- made by tests/system/http_cache.py --table -->\n", "<!-- end -->\n"
        with open(path, "w") as f:
            f.write(before[:before.index(begin) + len(begin)] + text + before[before.index(end):])
    if verbose:
        for name, found in all_of:
            for n in sorted(found):
                print("%s: %s, %s (%s): %s" % ((name,) + table.CASES[n][:3] + (found[n],)))


def main():
    args = lib.arguments(__doc__, ("table", "", "file to write to, - for the screen"), ("nginx", "", "program"), ("varnish", "", "varnishd"),
                         ("libraries", "", "folder of libraries of both"), ("reference", "", "program"), ("only", "", "part of names"))
    if args.table:
        write_table(args.table, examine_all(args), args.verbose)
        return
    tap = lib.Tap()
    if lib.is_reference(args.program):
        tap.skip("http_cache", "an extension")
        tap.done()
        return
    origin, proxy, port = ours(args.program, LINES)
    with proxy:
        found = examine(port, origin, args.only)
    for group in dict.fromkeys(c[0] for c in table.CASES):
        members = [n for n, c in enumerate(table.CASES) if c[0] == group]
        bad = ["%s: %s" % (table.CASES[n][1], found[n]) for n in members if n in found and table.CASES[n][:2] not in EXPECTED]
        tap.ok(not bad, "%s: %d cases" % (group, len(members)), "\n".join(bad))
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
