#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Agents of SPOE that others have written, unchanged: haproxyspoa (Python, asyncio) and the example agent of the crate spop (Rust,
tokio). What they are sent and set, many at once, checks, agents that are killed and come back. Passes on the reference too.
Skipped where they are not installed: scripts/install-deps agents. --count N requests."""
import os
import shutil
import subprocess
import sys
import tempfile
import threading

import lib

TOOLS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../build/tools")
CONF = """
	nbthread 2
defaults
	mode http
	timeout connect 2s
	timeout client 20s
	timeout server 20s
frontend fe
	bind 127.0.0.1:{fe}
	filter spoe engine e config {dir}/agent.conf
	http-request return status 200 content-type text/plain lf-string "%[var(txn.{prefix}.{name})]|%[var(txn.{prefix}.err)]"
backend agents
	mode spop
	{check}
	timeout server 30s
	server a 127.0.0.1:{agent} {server}
"""
AGENT = """[e]
spoe-agent ag
	messages {message}
	option var-prefix {prefix}
	option set-on-error err
	timeout processing 5s
	use-backend agents
spoe-message {message}
	args {args}
	event on-frontend-http-request
"""
PYTHON = """
from haproxyspoa.payloads.ack import AckPayload
from haproxyspoa.spoa_server import SpoaServer
agent = SpoaServer()
@agent.handler("echo")
async def echo(**args):
    return AckPayload().set_txn_var("said", " ".join("%s=%s" % p for p in sorted(args.items())))
agent.run(host="127.0.0.1", port=int(__import__("sys").argv[1]))
"""


class Python:
    name, message, prefix, variable = "haproxyspoa (Python)", "echo", "py", "said"
    args = "path=path ip=src six=ipv6(2001:db8::1) number=int(77) text=str(x) none=req.hdr(none) long=req.hdr(long)"
    checks = False # (it does not close after one; and it reads no booleans)

    def __init__(self):
        self.port = lib.ports(1)[0]

    def program(self):
        path = os.path.join(TOOLS, "python/bin/python3")
        for python in (path, sys.executable):
            if os.access(python, os.X_OK) and not subprocess.run([python, "-c", "import haproxyspoa"], stderr=subprocess.DEVNULL).returncode:
                return [python, "-c", PYTHON, str(self.port)]
        return None

    def want(self, path, long):
        return "ip=127.0.0.1 long=%s none=None number=77 path=%s six=2001:db8::1 text=x" % (long, path)


class Rust:
    name, message, prefix, variable = "spop (Rust)", "echo-args", "spoe_args", "summary"
    args = "answer=int(42) str(first) src country=path country=str(shadowed) long=req.hdr(long) str(second)"
    checks = True
    port = 12346 # (of the example)

    def program(self):
        path = os.path.join(TOOLS, "bin/agent_args")
        return [path] if os.access(path, os.X_OK) else None

    def want(self, path, long):
        return ("answer=42 country=%s lossy=missing unnamed=first,127.0.0.1,second all=answer:42,:first,:127.0.0.1,country:%s,"
                "country:shadowed,long:%s,:second") % (path, path, long)


class Scene:
    def __init__(self, args, agent):
        self.agent, self.dir, self.fe = agent, tempfile.mkdtemp(prefix="hapr."), lib.ports(1)[0]
        self.start()
        with open(self.dir + "/agent.conf", "w") as f:
            f.write(AGENT.format(message=agent.message, prefix=agent.prefix, args=agent.args))
        self.proxy = lib.Proxy(args.program, CONF.format(
            fe=self.fe, agent=agent.port, dir=self.dir, prefix=agent.prefix, name=agent.variable,
            check="option spop-check" if agent.checks else "", server="check inter 100ms" if agent.checks else ""))

    def start(self):
        self.process = subprocess.Popen(self.agent.program(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        lib.until(lambda: lib.accepts(self.agent.port))

    def ask(self, path, long):
        with lib.connect(self.fe) as sock:
            sock.sendall(b"GET %s HTTP/1.1\r\nHost: h\r\nConnection: close\r\nlong: %s\r\n\r\n" % (path.encode(), long.encode()))
            return lib.Reader(sock).response()[2].decode()

    def close(self):
        self.proxy.__exit__(None, None, None)
        lib.end(self.process)
        shutil.rmtree(self.dir, ignore_errors=True)


def one(tap, args, agent):
    sc = Scene(args, agent)
    try:
        tap.eq(sc.ask("/a", "x"), agent.want("/a", "x") + "|", agent.name + ": what it gets, and sets")
        tap.eq(sc.ask("/b", "y" * 3000), agent.want("/b", "y" * 3000) + "|", agent.name + ": a large frame")
        wrong = []

        def client(first):
            for n in range(first, args.count, 8):
                try:
                    got = sc.ask("/%d" % n, "z" * (n % 500 + 1))
                except (OSError, TypeError) as e:
                    got = repr(e)
                if got != agent.want("/%d" % n, "z" * (n % 500 + 1)) + "|":
                    wrong.append((n, got))

        threads = [threading.Thread(target=client, args=(n,)) for n in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        tap.ok(not wrong, "%s: %d requests from 8 clients" % (agent.name, args.count), wrong[:3])
        if agent.checks:
            tap.ok(lib.until(lambda: sc.proxy.stats()["agents", "a"]["check_status"].strip("* ") == "L7OK"), agent.name + ": its check")
        sc.process.kill()
        sc.process.wait()
        got = sc.ask("/c", "x")
        tap.ok(got.startswith("|") and got[1:].isdigit(), agent.name + ": killed, the variable says so", got)
        sc.start()
        tap.ok(lib.until(lambda: sc.ask("/d", "x") == agent.want("/d", "x") + "|"), agent.name + ": it is back")
    finally:
        sc.close()


def main():
    args = lib.arguments(__doc__, ("count", 400, "requests"))
    tap = lib.Tap()
    for kind in (Python, Rust):
        agent = kind()
        if not agent.program():
            tap.apart("others", agent.name)
        else:
            tap.attempt(agent.name, one, tap, args, agent)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
