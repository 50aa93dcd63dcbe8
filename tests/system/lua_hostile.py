#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Scripts that mean harm, or that are wrong in the same ways: objects that are forged or whose hidden fields are overwritten, methods of
metatables called by hand, objects of calls of other threads, loops that catch their own end, coroutines made before anybody watched,
finalizers that wait, what the collector takes while somebody waits for it. The script may fail; the process may not."""
import os
import re
import shutil
import tempfile
import threading

import lib

# name, body of a function (txn), what it returns, or an error that is logged
CASES = (
    ("another-userdata", 'return setmetatable({ [0] = core.parse_addr("1.2.3.4") }, getmetatable(txn)):get_var("txn.a")', "class TXN is expected"),
    ("a-file", 'return setmetatable({ [0] = io.stdout }, getmetatable(txn)):get_var("txn.a")', "class TXN is expected"),
    ("a-queue", 'return setmetatable({ [0] = core.queue()[0] }, getmetatable(txn)):get_var("txn.a")', "class TXN is expected"),
    ("no-handle", 'txn[0] = nil return txn:get_var("txn.a")', "class TXN is expected"),
    ("foreign-socket", 'return setmetatable({ [0] = txn[0] }, getmetatable(core.tcp())):close()', "class Socket is expected"),
    ("foreign-map", 'return setmetatable({ [0] = txn[0] }, getmetatable(core.queue())):size()', "class Queue is expected"),
    ("side-beyond", 'txn.req[1] = 77777777 return tostring(txn.req:input())', "0"),
    ("side-below", 'txn.req[1] = -5 return tostring(txn.req:may_recv())', "true"),
    ("side-text", 'txn.req[1] = "x" return tostring(txn.req:is_resp())', "false"),
    ("collect-nothing", 'return tostring((pcall(getmetatable(core.tcp()[0]).__gc, nil)))', "true"),
    ("collect-a-file", 'return tostring((pcall(getmetatable(core.tcp()[0]).__gc, io.stdout)))', "true"),
    ("collect-twice", 'local s = core.tcp() for i = 1, 3 do getmetatable(s[0]).__gc(s[0]) end return s:getpeername()', "class Socket is expected"),
    ("collected-regex", 'local _, r = Regex.new("a", true) for i = 1, 3 do getmetatable(r).__gc(r[0]) end return r:exec("a")', "is gone"),
    ("collected-queue", 'local q = core.queue() for i = 1, 3 do getmetatable(q).__gc(q[0]) end q:push(1) return tostring(q:pop())', "1"),
    ("finalizer-sleeps", 'setmetatable({}, { __gc = function() core.msleep(60000) end }) collectgarbage() return "ok"', "ok"),
    ("finalizer-raises", 'setmetatable({}, { __gc = function() error("x") end }) collectgarbage() return "ok"', "ok"),
    ("field-raises", 'local t = setmetatable({}, { __index = function() error("hidden") end }) return txn.sf:req_hdr(t)', "string expected"),
    ("text-raises", 'error(setmetatable({}, { __tostring = function() error("hidden") end }))', "runtime error"),
    ("applet-of-none", 'return setmetatable({ [0] = txn[0] }, http_meta):get_var("txn.a")', "class AppletHTTP is expected"),
    ("raw-applet", 'return setmetatable({ [0] = txn[0] }, tcp_meta):send("x")', "class AppletTCP is expected"),
    ("caught", 'while true do pcall(function() while true do end end) end', "timeout"),
    ("caught-in-coroutine", 'coroutine.wrap(function() while true do pcall(function() while true do end end) end end)()', "timeout"),
    ("caught-in-sort", 'table.sort({ 1, 2, 3 }, function() while true do pcall(function() while true do end end) end end)', "timeout"),
    ("caught-by-handler", 'while true do xpcall(function() while true do end end, function() while true do end end) end', "timeout"),
    ("many-coroutines", 'while true do coroutine.wrap(function() while true do end end)() end', "timeout"),
    ("early-coroutine", 'early() return "x"', "timeout"),
)
# in actions only: they may wait
WAITING = (
    ("done-again", 'pcall(txn.done, txn) while true do pcall(txn.done, txn) end', None),
    ("alarm-of-none", 'core.queue():alarm() collectgarbage() core.wait(20) return "ok"', "ok"),
    ("alarm-collected", 'local q = core.queue() q:alarm() getmetatable(q).__gc(q[0]) q:push(1) core.wait(20) return "ok"', "ok"),
    ("client-in-coroutine", 'local good, why = pcall(coroutine.wrap(function() core.httpclient():get { url = "http://127.0.0.1:1/" } end)) '
     'return tostring(good) .. tostring(why)', "HTTPClient: waiting is not possible here"),
    ("socket-in-coroutine", 'local good, why = pcall(coroutine.wrap(function() core.tcp():connect("127.0.0.1", 1) end)) '
     'return tostring(good) .. tostring(why)', "connect: waiting is not possible here"),
)
SCRIPT = r"""
local port = tonumber((...))
early = coroutine.wrap(function() while true do end end)
local function try(name, f)
	core.register_fetches(name, f)
	core.register_action(name, { "http-req" }, function(txn) txn:set_var("txn.got", f(txn) or "") end)
end
%s
local kept, waits
core.register_action("keep", { "http-req" }, function(txn) kept = txn core.msleep(10000) end)
core.register_fetches("kept", function(txn) return kept and tostring(select(2, pcall(kept.get_var, kept, "txn.a"))) or "none" end)
core.register_action("wait", { "http-req" }, function(txn)
	local s = core.tcp()
	s:connect("127.0.0.1", port)
	waits = s
	local got = s:receive("*l")
	txn:set_var("txn.got", got or "")
end)
core.register_fetches("lose", function(txn)
	if not waits then return "none" end
	getmetatable(waits[0]).__gc(waits[0])
	waits[0] = nil
	waits = nil
	collectgarbage()
	return "lost"
end)
core.register_service("http", "http", function(applet)
	http_meta = http_meta or getmetatable(applet)
	applet:set_status(200)
	applet:start_response()
	local good = pcall(applet.add_header, applet, "content-length", "1")
	applet:send(tostring(good) .. tostring((pcall(applet.set_status, setmetatable({ [0] = io.stdout }, http_meta), 200))))
end)
core.register_service("tcp", "tcp", function(applet)
	tcp_meta = tcp_meta or getmetatable(applet)
	applet[1] = io.stdout
	applet:send("one\n")
	applet[1] = nil
	applet:send(tostring((pcall(getmetatable(applet).__index, setmetatable({ [0] = applet[0] }, http_meta), "headers"))))
end)
core.register_cli({ "be", "wild" }, "be wild", function(applet)
	local t = setmetatable({ [0] = applet[0] }, http_meta)
	applet:send(tostring((pcall(function() return t.method end))) .. tostring((pcall(function() return t:receive() end))) .. "\n")
end)
local W = { id = "wild" }
W.__index = W
function W:new() return setmetatable({}, W) end
core.register_filter("wild", W, function() return setmetatable({ new = W.new, flags = filter.FLT_CFG_FL_HTX }, { __index = error }) end)
"""
CONF = """
	nbthread 2
	tune.lua.bool-sample-conversion normal
	tune.lua.burst-timeout 100ms
	tune.lua.session-timeout 300ms
	lua-load {script} {mute}
defaults
	mode http
	timeout connect 5s
	timeout client 30s
	timeout server 30s
frontend one
	bind 127.0.0.1:{ports[0]} thread 1
	filter lua.wild
	http-request use-service lua.http if {{ path /http }}
	http-request lua.keep if {{ path /keep }}
	http-request lua.wait if {{ path /wait }}
{rules}
	http-request return status 200 hdr got "%[var(txn.got)]"
frontend two
	bind 127.0.0.1:{ports[1]} thread 2
	http-request return status 200 hdr got "%[lua.kept]" if {{ path /kept }}
	http-request return status 200 hdr got "%[lua.lose]"
frontend raw
	mode tcp
	bind 127.0.0.1:{ports[2]}
	tcp-request content use-service lua.tcp
"""


def ask(port, path):
    s = lib.connect(port, 30)
    try:
        s.sendall(("GET /%s HTTP/1.1\r\nhost: h\r\n\r\n" % path).encode())
        got = lib.Reader(s).response()
        return got and (got[0], dict(got[1]).get("got"), got[2])
    except (OSError, EOFError, ValueError) as e:
        return type(e).__name__
    finally:
        s.close()


def said(proxy, seen):
    """What was logged since the last time."""
    text = proxy.output()
    new = "".join(line for line in text[seen[0]:].split("\n") if "Lua " in line)
    seen[0] = len(text)
    return new


def applets(tap, proxy, ports):
    tap.eq(ask(ports[0], "http")[2], b"falsefalse", "an answer that has begun keeps its head")
    with lib.connect(ports[2]) as s:
        tap.eq(lib.recv_all(s), b"one\ntrue", "what an AppletTCP has hidden is not what it talks to")
    tap.eq(proxy.ctl("be wild").strip(), "falsefalse", "no command is an AppletHTTP")


def one_by_one(tap, proxy, ports):
    seen = [0]
    for kind, cases in (("fetch", CASES), ("action", CASES + WAITING)):
        for name, _, want in cases:
            got = ask(ports[0], "%s-%s" % (kind, name))
            log = said(proxy, seen)
            alive = proxy.alive() and ask(ports[0], "x") == (200, None, b"")
            if not alive:
                tap.ok(False, "%s in a %s" % (name, kind), proxy.output()[-2000:])
                return
            if want is None:
                tap.ok(got is None or got[0] != 200, "%s in a %s" % (name, kind), got)
            else:
                tap.ok(got and got[0] == 200 and (got[1] and want in got[1] or re.search(want, log)), "%s in a %s" % (name, kind), (got, log))


def others(tap, proxy, ports):
    """Two requests: one waits, one has its hands on what the first waits with."""
    for first, second, want in (("keep", "kept", "class TXN is of another thread"), ("wait", "lose", "lost")):
        thread = threading.Thread(target=ask, args=(ports[0], first), daemon=True) # it may wait as long as the process lives
        thread.start()
        got = []
        tap.ok(lib.until(lambda: got.append(ask(ports[1], second)) or got[-1][1] != "none") and want in (got[-1][1] or ""), "%s: %s" % (first, want), got[-1:])
    tap.eq(ask(ports[0], "x"), (200, None, b""), "it answers")


def mute(sock):
    sock.settimeout(2)
    sock.recv(1)


def main():
    args = lib.arguments(__doc__)
    tap = lib.Tap()
    if lib.is_reference(args.program):
        tap.skip("scripts that mean harm", "most of them end the reference")
        tap.done()
        return
    folder = tempfile.mkdtemp(prefix="luah.")
    path = os.path.join(folder, "a.lua")
    with open(path, "w") as f:
        f.write(SCRIPT % "\n".join('try("%s", function(txn) %s end)' % (name, body) for name, body, _ in CASES + WAITING))
    rules = "".join('\thttp-request set-var(txn.got) lua.%s if { path /fetch-%s }\n' % (n, n) for n, _, _ in CASES)
    rules += "".join('\thttp-request lua.%s if { path /action-%s }\n' % (n, n) for n, _, _ in CASES + WAITING)
    server, ports = lib.Server(mute), lib.ports(3)
    with lib.Proxy(args.program, CONF.format(script=path, mute=server.port, ports=ports, rules=rules), restless="scripts that were ended") as proxy:
        tap.run((applets, one_by_one, others), proxy, ports)
        tap.ok(proxy.alive(), "the process lives")
    server.close()
    shutil.rmtree(folder, ignore_errors=True)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
