#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Every name of the Lua API (tables/lua_api.txt: the name, how many arguments it takes besides its object, its state) is
where a script looks for it: in the tables, and in an object of each class. Where the manual's index of names is at hand,
the table has all of them, and no other."""
import os
import re

import lib

TABLE = os.path.join(os.path.dirname(os.path.realpath(__file__)), "tables", "lua_api.txt")
MANUAL = os.path.join(os.path.dirname(lib.REFERENCE), "manual-3.4", "lua-api.txt")

SCRIPT = r"""
local names, map = ...
local objects = { core = core, act = act, filter = filter, CertCache = CertCache }
local event, check, state, admin = {}, nil, nil, nil
core.event_sub({ "SERVER" }, function(kind, data)
	for name, value in pairs(data) do event[name] = value end
	check = data.check or check
	state = data.state and (data.state.check and data.state or state or data.state) or state
	admin = data.admin or admin
end)
local seen = {}
local function note(class)
	local object = objects[class]
	for line in io.lines(names) do
		local owner, name = line:match("^(%w+)%.([%w_]+)$")
		if owner == class and object ~= nil then
			local ok, value = pcall(function() return object[name] end)
			if not (ok and value ~= nil) and (class == "Map" or class == "Regex") then value = _G[class][name] end
			if value ~= nil then seen[#seen + 1] = line end
		end
	end
end
objects.Map = Map.new(map, Map._str)
local _, regex = Regex.new("x", true)
objects.Regex = regex
if core.use_native_mailers_config then core.use_native_mailers_config() end
core.register_action("collect", { "http-req" }, function(txn)
	local be = core.backends.be
	objects.TXN, objects.HTTP, objects.Channel = txn, txn.http, txn.req
	objects.Reply = txn:reply({ status = 200, reason = "OK", body = "x" })
	objects.Proxy, objects.Server, objects.StickTable = be, be.servers.s1, be.stktable
	objects.ProxyMailers = be.get_mailers and be:get_mailers()
	objects.Listener = core.frontends.fe.listeners.web
	objects.EventSub = nil -- its methods are not its fields in every program: tried below
	local sub = core.event_sub({ "SERVER_DEL" }, function() end)
	if pcall(function() sub:unsub() end) then seen[#seen + 1] = "EventSub.unsub" end
	objects.Queue, objects.Concat, objects.HTTPClient = core.queue(), core.concat(), core.httpclient()
	objects.Patref = core.get_patref(map)
	objects.Socket = core.tcp and core.tcp()
	be.servers.s2:set_maint()
	for i = 1, 500 do
		if check and admin and state and state.check then break end
		core.msleep(10)
	end
	objects.ServerEvent, objects.ServerEventCheckRes = event, check
	objects.ServerEventState, objects.ServerEventAdmin = state, admin
	for class in pairs(objects) do note(class) end
end)
local Looker = { id = "looker", flags = filter.FLT_CFG_FL_HTX }
Looker.__index = Looker
function Looker:new() return setmetatable({}, Looker) end
function Looker:start_analyze(txn, chn)
	if objects.HTTPMessage then return end
	for _, name in ipairs({ "http_req", "http_res" }) do
		if txn[name] ~= nil then seen[#seen + 1] = "TXN." .. name end
	end
	objects.HTTPMessage = txn.http_req
end
core.register_filter("looker", Looker, function(flt, args) return flt end)
core.register_cli({ "look", "around" }, "look around", function(applet)
	local before = objects
	objects = { AppletTCP = applet }
	note("AppletTCP")
	objects = before
end)
core.register_service("tell", "http", function(applet)
	objects = { AppletHTTP = applet }
	note("AppletHTTP")
	local text = table.concat(seen, "\n") .. "\n"
	applet:set_status(200)
	applet:add_header("content-length", #text)
	applet:start_response()
	applet:send(text)
end)
"""

CONF = """
	tune.lua.bool-sample-conversion normal
	lua-load {script} {names} {map}
mailers mm
	mailer one 127.0.0.1:1
defaults
	mode http
	timeout connect 5s
	timeout client 10s
	timeout server 10s
frontend fe
	bind 127.0.0.1:{port} name web
	filter lua.looker
	acl known path,map({map}) -m found
	http-request lua.collect
	http-request use-service lua.tell if !known
backend be
	stick-table type string size 100 store gpc0
	email-alert mailers mm
	email-alert from a@example.com
	email-alert to b@example.com
	server s1 127.0.0.1:{port} check inter 100ms rise 1 fall 1 init-state down
	server s2 127.0.0.1:{port}
"""


def rows():
    """[(name, arguments, state)] of the table."""
    with open(TABLE) as f:
        lines = [line.strip() for line in f if line.strip() and not line.startswith("#")]
    return [tuple(part.strip() for part in line.split("|")) for line in lines]


def index():
    """The names that the manual describes."""
    names = []
    with open(MANUAL, errors="replace") as f:
        for line in f:
            m = re.match(r"\.\. js:(?:function|attribute):: ([\w:.]+)", line)
            if m:
                names.append(m.group(1).replace("act:", "act.").replace("patref.", "Patref."))
    return set(names)


def found(program):
    """The names of the table that a script finds."""
    import tempfile
    with tempfile.TemporaryDirectory() as folder:
        paths = {name: os.path.join(folder, name) for name in ("script", "names", "map")}
        texts = {"script": SCRIPT, "names": "".join(row[0] + "\n" for row in rows()), "map": "a b\n"}
        for name, path in paths.items():
            with open(path, "w") as f:
                f.write(texts[name])
        port = lib.ports(1)[0]
        with lib.Proxy(program, CONF.format(port=port, **paths), restless="its server is its own frontend") as p:
            p.ctl("look around")
            sock = lib.connect(port)
            sock.sendall(b"GET /x HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n")
            answer = lib.recv_all(sock).decode("latin-1")
            sock.close()
            return set(answer.partition("\r\n\r\n")[2].split()), answer[:200] + p.output()[-1000:]


def main():
    args = lib.arguments(__doc__)
    tap = lib.Tap()
    table = rows()
    there, text = found(args.program)
    tap.ok(len(there) > 100, "a script looks for the names", text)
    for name, arguments, state in table:
        if state == "there":
            tap.ok(name in there, name + " is there")
        elif name in there and not lib.is_reference(args.program):
            print("# %s is there now: its state in tables/lua_api.txt is '%s'" % (name, state))
    wrong = [row for row in table if not re.fullmatch(r"-|\d+(-\d+)?", row[1]) or row[2] not in ("there", "open")]
    tap.eq(wrong, [], "each row tells the arguments and the state")
    if os.path.exists(MANUAL):
        tap.eq(sorted(index() ^ {row[0] for row in table}), [], "the table has what the manual's index has")
    else:
        tap.apart("reference", "the table has what the manual's index has")
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
