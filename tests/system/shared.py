#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes to memory that threads share, per request on kept connections: none process-wide; where a request is tracked,
two cache lines of its entry and one of the part of the table that it is in, for the lookup; where a script of its thread
runs, none. Needs a program made with
DEBUG=1, which counts them (doc/internals/shared-memory.md); skipped otherwise.
"""
import subprocess
import tempfile

import lib

REQUESTS = 500
CONF = """
	nbthread {threads}
	thread-groups 2
defaults
	mode http
	timeout connect 5s
	timeout client 10s
	timeout server 10s
frontend fe
	bind 127.0.0.1:{port}
	default_backend be
backend be
	balance {balance}
	server s1 127.0.0.1:{server}
"""


TRACKED = """
	nbthread {threads}
	thread-groups 2
defaults
	mode http
	timeout client 10s
	timeout connect 10s
	timeout server 10s
frontend fe
	bind 127.0.0.1:{port}
	http-request track-sc0 src table t
	{rule}
	http-request return status 200
backend t
	stick-table type ip size 100k expire 1h {store}
"""


LUA = """
core.register_action("act", { "http-req" }, function(txn) txn.http:req_set_header("x-a", txn.sf:path() .. txn:get_var("txn.a")) end)
core.register_converters("conv", function(text) local t = {} for i = 1, 20 do t[i] = text end return table.concat(t) end)
"""
SCRIPTED = """
	nbthread 4
	thread-groups 2
	tune.lua.bool-sample-conversion normal
	tune.lua.maxmem 64
	{line} {script}
defaults
	mode http
	timeout client 10s
	timeout connect 10s
	timeout server 10s
frontend fe
	bind 127.0.0.1:{port}
	http-request set-var(txn.a) path,lua.conv
	http-request lua.act
	default_backend be
backend be
	server s1 127.0.0.1:{server}
"""


def counts(proxy):
    """{name: sum over the threads} of the lines of show activity that are asked for."""
    found = {}
    for line in proxy.ctl("show activity 0").split("\n"):
        name, _, value = line.partition(":")
        if name.startswith("shared_"):
            found[name] = int(value.split()[0])
    return found


def counted(tap, proxy, port, what):
    """The counters, twice before and once behind REQUESTS on one connection."""
    with lib.connect(port) as s:
        r = lib.Reader(s)

        def ask(n):
            good = 0
            for _ in range(n):
                s.sendall(b"GET /x HTTP/1.1\r\nHost: x\r\n\r\n")
                got = r.response()
                good += bool(got and got[0] == 200)
            return good
        ask(50)
        before, between = counts(proxy), counts(proxy)
        tap.eq(ask(REQUESTS), REQUESTS, what + ": served on one connection")
        return before, between, counts(proxy)


def kept(tap, args, balance):
    port = lib.ports(1)[0]
    server = lib.Server(lib.echo_handler)
    conf = CONF.format(port=port, balance=balance, server=server.port, threads=args.threads)
    with lib.Proxy(args.program, conf) as proxy:
        if not counts(proxy):
            tap.skip("kept requests: %s" % balance, "not made with DEBUG=1")
            server.close()
            return
        before, between, after = counted(tap, proxy, port, balance)
        # reading the counters is a connection of its own, and maxima and seconds move now and then
        process = (after["shared_process"] - between["shared_process"]
                   - (between["shared_process"] - before["shared_process"]))
        group = after["shared_group"] - between["shared_group"]
        tap.ok(process < REQUESTS / 10, balance + ": no process-wide write per request", process)
        tap.ok(group >= REQUESTS, balance + ": the group's are counted", group)
    server.close()


def tracked(tap, args, store, rule, lines):
    """A request that is tracked: what it writes of the table, and nothing else of the process."""
    port = lib.ports(1)[0]
    what = store or "nothing stored"
    with lib.Proxy(args.program, TRACKED.format(port=port, store=store, rule=rule, threads=args.threads)) as proxy:
        if "shared_lines" not in counts(proxy):
            tap.skip("tracked requests: " + what, "not made with DEBUG=1")
            return
        before, between, after = counted(tap, proxy, port, what)
        per = {n: (after[n] - 2 * between[n] + before[n]) / REQUESTS for n in after}
        # the order of use moves an entry once a second; a rate begins a period
        tap.ok(lines - .1 < per["shared_lines"] < lines + .1, "%s: %d lines of the table" % (what, lines), per)
        tap.ok(.9 < per["shared_process"] < 1.1, what + ": of the process, the lock of the lookup", per)


def scripted(tap, args, line, locks):
    """A request with an action and a converter of a script: who waits for whom."""
    port = lib.ports(1)[0]
    server = lib.Server(lib.echo_handler)
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as f:
        f.write(LUA)
        f.flush()
        with lib.Proxy(args.program, SCRIPTED.format(port=port, line=line, script=f.name, server=server.port)) as proxy:
            if not counts(proxy):
                tap.skip("scripts: " + line, "not made with DEBUG=1")
            elif "Lua" not in subprocess.run([args.program, "-vv"], stdout=subprocess.PIPE, text=True).stdout:
                tap.skip("scripts: " + line, "made without Lua")
            else:
                before, between, after = counted(tap, proxy, port, line)
                per = (after["shared_process"] - 2 * between["shared_process"] + before["shared_process"]) / REQUESTS
                tap.ok(per > 5 if locks else per < .1, "%s: %s lock between threads" % (line, "the" if locks else "no"), per)
    server.close()


def main():
    args = lib.arguments(__doc__, ("threads", 4, "of the process"))
    tap = lib.Tap()
    with lib.Proxy(args.program, TRACKED.format(port=lib.ports(1)[0], store="", rule="", threads=args.threads)) as proxy:
        if not counts(proxy):
            tap.apart("counters", "writes to what threads share")
            tap.done()
    for balance in ("roundrobin", "static-rr", "leastconn", "random"):
        tap.attempt(balance, kept, tap, args, balance)
    for store, rule, lines in (("", "", 2), ("store http_req_rate(10s)", "", 2),
                               ("store gpc0,gpc0_rate(10s),conn_cur,http_req_rate(10s),bytes_out_cnt,bytes_out_rate(10s)",
                                "http-request sc-inc-gpc0(0)", 3)):
        tap.attempt(store, tracked, tap, args, store, rule, lines)
    for line, locks in (("lua-load-per-thread", False), ("lua-load", True)):
        tap.attempt(line, scripted, tap, args, line, locks)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
