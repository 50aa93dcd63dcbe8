#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What each name of the Lua API does (tables/lua_does.txt), in the place where a script has it: the body of a script, fetches, actions,
services, callbacks of filters. Each name of tables/lua_api.txt, which is the manual's index, has at least one line; what it returns is what
the reference returns, but where a line tells what that returns instead. And each function that needs arguments says so where it has none."""
import os
import re
import shutil
import tempfile

import lib
import lua_api

TABLE = os.path.join(os.path.dirname(os.path.realpath(__file__)), "tables", "lua_does.txt")
# differs: lua-set-eom
PLACES = ("load", "fetch", "action", "answer", "tcp", "service", "raw", "head", "body", "bytes")
# functions that take none of what they need for an error: nil is a value for them, or they look at it later
LENIENT = {"Server.get_maxconn", "Socket.setoption", "core.match_addr"}

SCRIPT = r"""
local folder, port, rows = ...
port = tonumber(port)
local file, acl, other = folder .. "/file", folder .. "/acl", folder .. "/other"
local known, known_other = Map.new(file, Map._str), Map.new(other, Map._str)
local results, current, started, later = {}, nil, nil, nil
local event = {}
local function found(method, key) return Map.new(folder .. "/" .. method, Map[method]):lookup(key) end
local function said() return "said" end
local function text(...)
	local t = table.pack(...)
	for i = 1, t.n do t[i] = tostring(t[i]) end
	return (table.concat(t, " ", 1, t.n):gsub("\n", "\\n"))
end
if core.use_native_mailers_config then core.use_native_mailers_config() end
core.register_init(function() started = "init" end)
core.event_sub({ "SERVER_CHECK", "SERVER_STATE" }, function(kind, data)
	if data.name ~= "s1" then return end
	event.check = event.check or data.check
	if data.state and data.state.check then event.state = event.state or data.state end
end)
local does, places = {}, {}
%s
local function caught(n, ...)
	if results[n] then return end
	local r = table.pack(pcall(does[n], ...))
	if not r[1] then results[n] = "error " .. tostring(r[2])
	elseif r.n > 1 then results[n] = text(table.unpack(r, 2, r.n)) end
end
for n, place in pairs(places) do if place == "load" then caught(n) end end
local function number(txn) return tonumber(txn:get_var("txn.n")) end
core.register_fetches("fetch", function(txn) return text(does[number(txn)](txn)) end)
core.register_action("action", { "http-req" }, function(txn) txn:set_var("txn.got", text(does[number(txn)](txn))) end)
core.register_action("answer", { "http-res" }, function(txn) txn:set_var("txn.got", text(does[number(txn)](txn))) end)
core.register_action("tcp", { "tcp-req" }, function(txn) txn:set_var("txn.got", text(does[current](txn))) end)
core.register_action("done", { "http-req" }, function(txn) txn:done(txn:reply({ status = 418, body = "over" })) end)
core.register_action("again", { "http-req" }, function(txn)
	local n = (txn:get_priv() or 0) + 1
	txn:set_priv(n)
	if n < 3 then act:wake_time(10) return act.YIELD end
	txn:set_var("txn.got", n)
end)
core.register_action("arity", { "http-req" }, function(txn)
	local objects = { core = core, TXN = txn, HTTP = txn.http, Proxy = core.backends.be, Server = core.backends.be.servers.s3, Queue = core.queue(), Concat = core.concat(),
		HTTPClient = core.httpclient(), Reply = txn:reply(), Socket = core.tcp(), Regex = select(2, Regex.new("a", true)), Map = known,
		Patref = core.get_patref(other), StickTable = core.backends.be.stktable, act = act, CertCache = CertCache }
	local silent = {}
	for line in io.lines(rows) do
		local class, name = line:match("^(%%w+)%%.([%%w_]+)$")
		local o = objects[class]
		if o and line ~= "core.done" then -- which would end this
			local good
			if class == "core" or class == "act" or class == "CertCache" then good = pcall(o[name])
			elseif name == "new" then good = pcall(_G[class].new)
			else good = pcall(o[name], o) end
			if good then silent[#silent + 1] = line end
		end
	end
	table.sort(silent)
	txn:set_var("txn.got", table.concat(silent, " "))
end)
local function answer(applet, status, body, fields)
	applet:set_status(status)
	applet:add_header("content-length", tostring(#body))
	for name, value in pairs(fields or {}) do applet:add_header(name, value) end
	applet:start_response()
	if applet.method ~= "HEAD" then applet:send(body) end
end
core.register_service("say", "http", function(applet) answer(applet, 200, "hello", { ["x-method"] = applet.method }) end)
core.register_service("service", "http", function(applet) answer(applet, 200, text(does[tonumber(applet.path:match("%%d+$"))](applet))) end)
core.register_service("current", "http", function(applet) current = tonumber(applet.path:match("%%d+$")) answer(applet, 200, "") end)
core.register_service("result", "http", function(applet) answer(applet, 200, tostring(results[tonumber(applet.path:match("%%d+$"))])) end)
core.register_service("raw", "tcp", function(applet)
	local n = tonumber((applet:getline():gsub("%%s", "")))
	applet:send(text(does[n](applet)))
end)
core.register_service("got", "tcp", function(applet) applet:send(applet:get_var("txn.got")) end)
local function register(name, method, flags)
	local F = { id = name, flags = flags }
	F.__index = F
	function F:new() return setmetatable({}, F) end
	function F:start_analyze(txn, chn) if method ~= "http_headers" then filter.register_data_filter(self, chn) end end
	F[method] = function(self, txn, what) if places[current] == name then caught(current, txn, what, self) end end
	core.register_filter(name, F, function(f) return f end)
end
register("head", "http_headers", filter.FLT_CFG_FL_HTX)
register("body", "http_payload", filter.FLT_CFG_FL_HTX)
register("bytes", "tcp_payload", 0)
"""
ARGUMENTS = {"head": "txn, msg, self", "body": "txn, msg, self", "bytes": "txn, chn, self", "service": "applet", "raw": "applet"}
CONF = """
	nbthread 1
	tune.lua.bool-sample-conversion normal
	set-var proc.set str(yes)
	log 127.0.0.1:{log} len 1024 local0 debug
	lua-load {folder}/a.lua {folder} {ports[0]} {folder}/rows
mailers mm
	mailer one 127.0.0.1:1
defaults
	mode http
	log global
	option dontlog-normal
	timeout connect 5s
	timeout client 20s
	timeout server 20s
frontend fe
	bind 127.0.0.1:{ports[0]} name web
	acl known path -f {folder}/acl
	acl of_file path,map({folder}/file) -m found
	acl of_other path,map({folder}/other) -m found
	http-request set-var(txn.n) path,field(3,/)
	http-request track-sc0 str(key) table be if {{ path /track }}
	http-request sc-inc-gpc0(0) if {{ path /track }}
	http-request return status 200 if {{ path /track }} or known or of_file or of_other
	http-request use-service lua.say if {{ path /say }}
	http-request use-service lua.service if {{ path_beg /service/ }}
	http-request use-service lua.current if {{ path_beg /current/ }}
	http-request use-service lua.result if {{ path_beg /result/ }}
	http-request lua.done if {{ path /done }}
	http-request lua.again if {{ path /again }}
	http-request return status 200 content-type text/plain lf-string "%[var(txn.got)]" if {{ path /again }}
	http-request lua.arity if {{ path /arity }}
	http-request set-var(txn.got) lua.fetch if {{ path_beg /fetch/ }}
	http-request lua.action if {{ path_beg /action/ }}
	http-request return status 200 hdr got "%[var(txn.got)]" if !{{ path_beg /answer/ }}
	http-response lua.answer
	http-response set-header got "%[var(txn.got)]"
	default_backend be
frontend filtered
	bind 127.0.0.1:{ports[1]}
	filter lua.head
	filter lua.body
	default_backend be
frontend other
	bind 127.0.0.1:{ports[2]}
	default_backend be
listen bytes
	mode tcp
	bind 127.0.0.1:{ports[3]}
	filter lua.bytes
	server s 127.0.0.1:{echo}
frontend raw
	mode tcp
	bind 127.0.0.1:{ports[4]}
	tcp-request content use-service lua.raw
frontend tcp
	mode tcp
	bind 127.0.0.1:{ports[5]}
	tcp-request inspect-delay 10s
	tcp-request content lua.tcp if {{ req.len gt 0 }}
	tcp-request content use-service lua.got
backend be
	stick-table type string size 100 store gpc0
	email-alert mailers mm
	email-alert from a@example.com
	email-alert to b@example.com
	server s1 127.0.0.1:{server} check inter 200ms rise 1 fall 1 init-state down
	server s2 127.0.0.1:{server}
	server s3 127.0.0.1:{server} backup
backend checked
	server c 127.0.0.1:1 check inter 1h
	server a 127.0.0.1:1 agent-check agent-port 1 agent-inter 1h
	server t 127.0.0.1:1 track checked/c
"""
FILES = {"file": "a 1\n", "other": "a 1\n", "acl": "old\n", "_int": "7 yes\n", "_ip": "10.0.0.0/8 yes\n", "_beg": "ab yes\n", "_sub": "ab yes\n",
         "_dir": "ab yes\n", "_dom": "ab yes\n", "_end": "ab yes\n", "_reg": "a.* yes\n"}


def lines():
    """[(names, place, code, result, that of the reference)] of the table."""
    out = []
    with open(TABLE) as f:
        for line in f:
            if line.strip() and not line.startswith("#"):
                m = re.fullmatch(r"(.+?) @ (\w+): (.+?)(?: => (.*?)(?: <=> (.*))?)?", line.rstrip("\n"))
                out.append((m.group(1).split(), m.group(2), m.group(3), m.group(4), m.group(5) or m.group(4)))
    return out


def serve(sock):
    r = lib.Reader(sock)
    while True:
        head = r.head()
        if not head:
            return
        r.body(head[1])
        sock.sendall(b"HTTP/1.1 200 OK\r\nx-one: 1\r\ncontent-length: 10\r\n\r\n0123456789")


def echo(sock):
    sock.sendall(sock.recv(100))


class Scene:
    def __init__(self, args, table):
        self.folder = tempfile.mkdtemp(prefix="luad.")
        functions = "".join("does[%d] = function(%s) %s end\nplaces[%d] = %r\n" % (n, ARGUMENTS.get(place, "txn"), code, n, place)
                            for n, (_, place, code, _, _) in enumerate(table))
        texts = dict(FILES, **{"a.lua": SCRIPT % functions, "rows": "".join(row[0] + "\n" for row in lua_api.rows() if row[1][0] not in "-0")})
        for name, text in texts.items():
            with open(os.path.join(self.folder, name), "w") as f:
                f.write(text)
        self.server, self.echo, self.log, self.ports = lib.Server(serve), lib.Server(echo), lib.Syslog(), lib.ports(6)
        self.proxy = lib.Proxy(args.program, CONF.format(folder=self.folder, log=self.log.port, ports=self.ports, server=self.server.port, echo=self.echo.port),
                               restless="scripts have stopped a frontend")

    def ask(self, path, port=0, method="GET", body=b""):
        with lib.connect(self.ports[port], 30) as s:
            s.sendall(("%s %s HTTP/1.1\r\nhost: h\r\nx-a: 1\r\ncontent-length: %d\r\n\r\n" % (method, path, len(body))).encode() + body)
            got = lib.Reader(s).response()
            return (dict(got[1]).get("got") or "error", got[2].decode("latin-1")) if got else ("nothing", "nothing")

    def exchange(self, port, data):
        with lib.connect(self.ports[port], 30) as s:
            s.sendall(data)
            return lib.recv_all(s).decode("latin-1")

    def get(self, n, place):
        """What the function of line <n> has returned."""
        if place in ("fetch", "action", "answer"):
            return self.ask("/%s/%d" % (place, n))[0]
        if place == "service":
            return self.ask("/service/%d?q=1" % n, method="POST", body=b"first\nabcdefg")[1]
        if place == "raw":
            return self.exchange(4, b"%d\nfirst\nabcrest" % n)
        self.ask("/current/%d" % n)
        if place == "tcp":
            return self.exchange(5, b"first\nrest")
        try: # what the function makes of the message may not be one
            if place == "bytes":
                self.exchange(3, b"0123456789")
            else:
                self.ask("/filtered", port=1)
        except (OSError, EOFError, ValueError):
            pass
        return self.ask("/result/%d" % n)[1]

    def close(self):
        for part in (self.server, self.echo, self.log):
            part.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def main():
    args = lib.arguments(__doc__, ("record", 0, "1: print the table with what is returned now"))
    tap = lib.Tap()
    table, all_rows = lines(), lua_api.rows()
    tap.eq(sorted({row[0] for row in all_rows} ^ {name for line in table for name in line[0]}), [], "each name of the API has a line")
    tap.eq([line[1] for line in table if line[1] not in PLACES or line[3] is None and not args.record], [], "each line tells a place and a result")
    x = Scene(args, table)
    with x.proxy:
        x.ask("/track")
        for n, (names, place, code, want, theirs) in enumerate(table):
            try:
                got = x.get(n, place)
            except OSError as e:
                got = type(e).__name__
            if args.record:
                print("%s @ %s: %s => %s" % (" ".join(names), place, code, got))
            tap.eq(got, theirs if lib.is_reference(args.program) else want, "%s: %s" % (place, " ".join(names)[:90]))
        if lib.is_reference(args.program):
            tap.skip("functions that need arguments say so", "the reference ends the stream at one of them")
        else:
            tap.eq(sorted(set(x.ask("/arity")[0].split()) ^ LENIENT), [], "functions that need arguments say so")
        for word in ("said by log", "said by Debug", "said by Info", "said by Warning", "said by Alert", "txn by log", "txn by deflog", "txn by Debug",
                     "txn by Info", "txn by Warning", "txn by Alert"):
            tap.ok(x.log.find(word), "logged: " + word)
    x.close()
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
