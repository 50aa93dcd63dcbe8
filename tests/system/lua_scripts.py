#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Scripts as people run them, written anew after what their authors document: an authentication request to another server, a verifier
of JSON Web Tokens with a JSON module of the distribution (package lua-dkjson), a service that answers ACME's http-01 challenges, CORS,
a limiter with a bucket of tokens on a stick table; and scripts that misbehave in each kind of callback (an endless loop, one that eats
memory, one that raises): they are ended and logged, and others are served. And modules of others (lua-json, lua-cjson, LuaSocket)."""
import base64
import glob
import hashlib
import hmac
import json
import os
import re
import tempfile
import threading

import lib

AUTH = r"""
-- asks another server; what it says of the user goes on with the request
core.register_action("auth_request", { "http-req" }, function(txn, url)
	local fields = {}
	for name, values in pairs(txn.http:req_get_headers()) do
		if name ~= "content-length" and name ~= "connection" and name ~= "transfer-encoding" then
			fields[name] = {}
			for i = 0, #values do fields[name][#fields[name] + 1] = values[i] end
		end
	end
	local answer = core.httpclient():get { url = url, headers = fields, timeout = 2000 }
	txn:set_var("txn.auth_status", answer.status)
	if answer.status >= 200 and answer.status < 300 then
		local user = answer.headers and answer.headers["x-user"]
		if user then txn.http:req_set_header("x-user", user[0]) end
		return
	end
	if answer.status == 401 or answer.status == 403 then
		local reply = txn:reply { status = answer.status, body = "refused\n" }
		local asks = answer.headers["www-authenticate"]
		if asks then reply:add_header("www-authenticate", asks[0]) end
		txn:done(reply)
	end
	txn:done(txn:reply { status = 503, body = "nobody knows\n" })
end, 1)
"""
JWT = r"""
local json = require("dkjson")
local secret, issuer = ...
local function decoded(txn, part)
	local text = txn.c:ub64dec(part)
	return text and json.decode(text)
end
core.register_action("jwt_verify", { "http-req" }, function(txn)
	local function refuse(why) txn:done(txn:reply { status = 401, body = why .. "\n", headers = { ["www-authenticate"] = { "Bearer" } } }) end
	local field = txn.sf:req_hdr("authorization")
	local token = string.match(field or "", "^[Bb]earer%s+(%S+)$")
	if not token then return refuse("no token") end
	local head, body, signature = string.match(token, "^([^.]+)%.([^.]+)%.([^.]*)$")
	if not head then return refuse("three parts are needed") end
	local h, claims = decoded(txn, head), decoded(txn, body)
	if type(h) ~= "table" or type(claims) ~= "table" then return refuse("no JSON") end
	if h.alg ~= "HS256" then return refuse("algorithm " .. tostring(h.alg)) end
	if tostring(txn.c:jwt_verify(token, "HS256", secret)) ~= "1" then return refuse("signature") end
	if claims.exp and claims.exp < core.now().sec then return refuse("expired") end
	if claims.iss ~= issuer then return refuse("issuer") end
	txn:set_var("txn.sub", claims.sub)
	local roles = {}
	for _, r in ipairs(claims.roles or {}) do roles[#roles + 1] = r end
	table.sort(roles)
	txn:set_var("txn.roles", table.concat(roles, ","))
end)
"""
ACME = r"""
-- http-01: the token and the account's thumbprint
local thumbprint = ...
local known = Map.new(({...})[2], Map._str)
core.register_service("acme", "http", function(applet)
	local token = string.match(applet.path, "^/%.well%-known/acme%-challenge/([%w_-]+)$")
	local body, status = "", 404
	if applet.method ~= "GET" then status = 405
	elseif token and known:lookup(token) then body, status = token .. "." .. thumbprint, 200 end
	applet:set_status(status)
	applet:add_header("content-type", "text/plain")
	applet:add_header("content-length", tostring(#body))
	applet:start_response()
	applet:send(body)
end)
"""
CORS = r"""
local allowed, methods = { ["https://a.example"] = true, ["https://b.example"] = true }, "GET, PUT"
core.register_action("cors", { "http-req" }, function(txn)
	local origin = txn.http:req_get_headers()["origin"]
	origin = origin and origin[0]
	txn:set_priv(allowed[origin] and origin)
	if txn.sf:method() ~= "OPTIONS" or not txn.sf:req_hdr("access-control-request-method") then return end
	local reply = txn:reply { status = 204 }
	reply:add_header("vary", "origin")
	if allowed[origin] then
		reply:add_header("access-control-allow-origin", origin)
		reply:add_header("access-control-allow-methods", methods)
		reply:add_header("access-control-max-age", "600")
	end
	txn:done(reply)
end)
core.register_action("cors", { "http-res" }, function(txn)
	local origin = txn:get_priv()
	txn.http:res_add_header("vary", "origin")
	if origin then txn.http:res_set_header("access-control-allow-origin", origin) end
end)
"""
BUCKET = r"""
-- a bucket of five, filled at one a minute: what a client has had is what the table has counted
local size = 5
core.register_action("bucket", { "http-req" }, function(txn)
	local key = txn.sf:req_hdr("x-client")
	local entry = core.backends.clients.stktable:lookup(key)
	local had = entry and entry.http_req_cnt or 0
	txn:set_var("txn.left", size - had)
	if had > size then
		txn:done(txn:reply { status = 429, headers = { ["retry-after"] = { "60" } }, body = "slower\n" })
	end
end)
"""
WILD = r"""
local function wild(kind)
	if kind == "loop" then while true do end end
	if kind == "memory" then local t = {} while true do t[#t + 1] = string.rep("x", 100000) .. #t end end
	if kind == "raise" then error("raised on purpose") end
	if kind == "deep" then local function f() return 1 + f() end f() end
	if kind == "table" then error({ a = 1 }) end
	return kind
end
core.register_action("wild", { "http-req", "http-res" }, function(txn) wild(txn.sf:req_hdr("x-kind")) end)
core.register_fetches("wild", function(txn, kind) return wild(kind) end)
core.register_converters("wild", function(kind) return wild(kind) end)
core.register_service("wild", "http", function(applet) wild(applet.headers["x-kind"][0]) applet:set_status(200) applet:start_response() applet:send("fine") end)
local F = { id = "wild", flags = filter.FLT_CFG_FL_HTX }
F.__index = F
function F:new() return setmetatable({}, F) end
function F:start_analyze(txn, chn) filter.register_data_filter(self, chn) end
function F:http_headers(txn, msg)
	local h = msg:get_headers()["x-filter"]
	if h then wild(h[0]) end
end
core.register_filter("wild", F, function(flt, args) return flt end)
"""
CONF = """
	tune.lua.bool-sample-conversion normal
	tune.lua.maxmem 32
	tune.lua.burst-timeout 200ms
	lua-prepend-path {modules}
	lua-load {folder}/auth.lua
	lua-load {folder}/jwt.lua {secret} https://issuer.example
	lua-load {folder}/acme.lua thumb-print {folder}/tokens.map
	lua-load {folder}/cors.lua
	lua-load {folder}/bucket.lua
	lua-load {folder}/wild.lua
	log {log} len 4096 local0 info
defaults
	mode http
	timeout connect 5s
	timeout client 10s
	timeout server 10s
frontend fe
	bind 127.0.0.1:{port}
	http-request use-service lua.acme if {{ path_beg /.well-known/acme-challenge/ }}
	http-request lua.auth_request http://127.0.0.1:{auth}/check if {{ path /auth }}
	http-request lua.jwt_verify if {{ path /jwt }}
	http-request return status 200 hdr sub "%[var(txn.sub)]" hdr roles "%[var(txn.roles)]" if {{ path /jwt }}
	http-request lua.cors if {{ path /cors }}
	http-response lua.cors if {{ var(txn.cors) -m found }}
	http-request set-var(txn.cors) int(1) if {{ path /cors }}
	http-request track-sc0 req.hdr(x-client) table clients if {{ path /bucket }}
	http-request lua.bucket if {{ path /bucket }}
	http-request return status 200 hdr left "%[var(txn.left)]" if {{ path /bucket }}
	default_backend app
frontend wild
	bind 127.0.0.1:{wild}
	filter lua.wild
	http-request lua.wild if {{ path /action }}
	http-request set-header x-got "%[lua.wild(loop)]" if {{ path /fetch-loop }}
	http-request set-header x-got "%[lua.wild(memory)]" if {{ path /fetch-memory }}
	http-request set-header x-got "%[lua.wild(raise)]" if {{ path /fetch-raise }}
	http-request set-header x-got "%[req.hdr(x-kind),lua.wild]" if {{ path /converter }}
	http-request use-service lua.wild if {{ path /service }}
	http-response lua.wild if {{ res.hdr(x-after) -m found }}
	http-request set-var(txn.path) path
	default_backend app
backend app
	server s 127.0.0.1:{app}
backend clients
	stick-table type string size 100 store http_req_cnt
"""


# differs: lua-socket
MODULES = """
	nbthread 1
	tune.lua.bool-sample-conversion normal
	lua-prepend-path /usr/share/lua/5.1/?.lua
	lua-prepend-path /usr/share/lua/5.1/?/init.lua
	lua-load {script}
defaults
	mode http
	timeout client 5s
frontend fe
	bind 127.0.0.1:{port}
	http-request lua.act
	http-request return status 200 hdr got "%[var(txn.got)]"
"""


class Scene:
    def __init__(self, args, modules):
        self.folder = tempfile.mkdtemp(prefix="luas.")
        for name, text in (("auth", AUTH), ("jwt", JWT), ("acme", ACME), ("cors", CORS), ("bucket", BUCKET), ("wild", WILD)):
            with open("%s/%s.lua" % (self.folder, name), "w") as f:
                f.write(text)
        with open(self.folder + "/tokens.map", "w") as f:
            f.write("tok-1 1\nTOK_2 1\n")
        self.asked = []
        self.auth, self.app, self.log = lib.Server(self.serve_auth), lib.Server(self.serve_app), lib.Syslog()
        self.port, self.wild = lib.ports(2)
        self.proxy = lib.Proxy(args.program, CONF.format(modules=modules, folder=self.folder, secret=SECRET, log="127.0.0.1:%d" % self.log.port,
                                                         port=self.port, wild=self.wild, auth=self.auth.port, app=self.app.port),
                               restless="scripts that were ended")

    def serve_auth(self, sock):
        r = lib.Reader(sock)
        while True:
            head = r.head()
            if not head:
                return
            self.asked.append(head)
            user = dict(head[1]).get("cookie")
            answer = {"ann": "200 OK\r\nx-user: ann", "bob": "403 No", "slow": None, "broken": "500 Oh"}.get(
                user, '401 Who\r\nwww-authenticate: Basic realm="r"')
            if answer is None:
                return
            sock.sendall(("HTTP/1.1 %s\r\ncontent-length: 0\r\n\r\n" % answer).encode())

    def serve_app(self, sock):
        r = lib.Reader(sock)
        while True:
            head = r.head()
            if not head:
                return
            fields = dict(head[1])
            body = fields.get("x-user", "-").encode()
            after = "x-after: 1\r\n" if fields.get("x-after") else ""
            sock.sendall(("HTTP/1.1 200 OK\r\n%scontent-length: %d\r\n\r\n" % (after, len(body))).encode() + body)

    def ask(self, path, fields=(), method="GET", port=None):
        s = lib.connect(port or self.port, 30)
        try:
            s.sendall(("%s %s HTTP/1.1\r\nhost: h\r\n%s\r\n" % (method, path, "".join(f + "\r\n" for f in fields))).encode())
            return lib.Reader(s).response(method)
        except (OSError, EOFError, ValueError):
            return None
        finally:
            s.close()


SECRET = "c2VjcmV0"


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def token(claims, alg="HS256", key=SECRET):
    text = b64(json.dumps({"alg": alg, "typ": "JWT"}).encode()) + "." + b64(json.dumps(claims).encode())
    return text + "." + b64(hmac.new(key.encode(), text.encode(), hashlib.sha256).digest())


def ordinary(tap, x):
    got = x.ask("/auth", ["cookie: ann", "x-user: root"])
    tap.eq((got[0], got[2]), (200, b"ann"), "authentication request: granted, the user is the server's")
    tap.eq(x.asked[-1][0].split(" ")[1], "/check", "it was asked")
    tap.eq([x.ask("/auth", ["cookie: " + c])[0] for c in ("bob", "eve", "broken", "slow")], [403, 401, 503, 503], "refused, and no answer")
    tap.eq(dict(x.ask("/auth")[1]).get("www-authenticate"), 'Basic realm="r"', "with the field of the one who refuses")
    good = {"iss": "https://issuer.example", "sub": "ann", "exp": 4000000000, "roles": ["b", "a"]}
    got = x.ask("/jwt", ["authorization: Bearer " + token(good)])
    tap.eq((got[0], dict(got[1]).get("sub"), dict(got[1]).get("roles")), (200, "ann", "a,b"), "a token that is right")
    for why, field in (("no token", "Basic eA=="), ("three parts are needed", "Bearer a.b"), ("no JSON", "Bearer YQ.YQ.YQ"),
                       ("algorithm none", "Bearer " + token(good, "none")), ("signature", "Bearer " + token(good, key="other")),
                       ("expired", "Bearer " + token(dict(good, exp=1))), ("issuer", "Bearer " + token(dict(good, iss="x")))):
        got = x.ask("/jwt", ["authorization: " + field])
        tap.eq((got[0], got[2].decode().strip()), (401, why), "a token: " + why)
    acme = "/.well-known/acme-challenge/"
    tap.eq([x.ask(acme + t)[::2] for t in ("tok-1", "TOK_2", "other", "../x", "tok-1?a")],
           [(200, b"tok-1.thumb-print"), (200, b"TOK_2.thumb-print"), (404, b""), (404, b""), (200, b"tok-1.thumb-print")], "challenges")
    tap.eq(x.ask(acme + "tok-1", method="DELETE")[0], 405, "challenges are read only")


def origins(tap, x):
    asks = ["access-control-request-method: PUT"]
    got = x.ask("/cors", ["origin: https://a.example"] + asks, "OPTIONS")
    tap.eq((got[0],) + tuple(dict(got[1]).get("access-control-" + n) for n in ("allow-origin", "allow-methods", "max-age")),
           (204, "https://a.example", "GET, PUT", "600"), "CORS: may I?")
    got = x.ask("/cors", ["origin: https://evil.example"] + asks, "OPTIONS")
    tap.eq((got[0], dict(got[1]).get("access-control-allow-origin"), dict(got[1]).get("vary")), (204, None, "origin"), "CORS: no")
    got = x.ask("/cors", ["origin: https://b.example"])
    tap.eq((got[0], dict(got[1]).get("access-control-allow-origin"), dict(got[1]).get("vary")), (200, "https://b.example", "origin"), "CORS: an answer")
    got = x.ask("/cors")
    tap.eq((got[0], dict(got[1]).get("access-control-allow-origin")), (200, None), "CORS: nobody asks")
    tap.eq([x.ask("/bucket", ["x-client: a"])[0] for _ in range(7)], [200] * 5 + [429] * 2, "a bucket of five")
    tap.eq(dict(x.ask("/bucket", ["x-client: a"])[1]).get("retry-after"), "60", "it says when")
    tap.eq(x.ask("/bucket", ["x-client: b"])[0], 200, "others have their own")


def misbehaving(tap, x):
    """What the client gets is an error or an answer without the script's part; the others go on."""
    for path, field in (("/action", "x-kind"), ("/service", "x-kind"), ("/converter", "x-kind"), ("/filtered", "x-filter"), ("/after", "x-kind")):
        for kind in ("loop", "memory", "raise", "deep", "table"):
            seen = []
            thread = threading.Thread(target=lambda: seen.append(x.ask(path, ["%s: %s" % (field, kind), "x-after: 1" if path == "/after" else "x: 1"], port=x.wild)))
            thread.start()
            got = x.ask("/cors")
            thread.join()
            tap.ok(got and got[0] == 200 and seen and (seen[0] is None or seen[0][0] in (200, 400, 500, 502, 503)),
                   "%s in %s is ended, others are served" % (kind, path), (got, seen))
    for kind in ("loop", "memory", "raise"):
        got = x.ask("/fetch-" + kind, port=x.wild)
        tap.ok(got is None or got[0] in (200, 500), "%s in a fetch is ended" % kind, got)
    text = x.proxy.output() + "\n".join(x.log.lines)
    for word in ("raised on purpose", "(?i)timeout|too long|burst", "(?i)memory"):
        tap.ok(re.search(word, text), "it is logged: " + word, text[-3000:])
    tap.eq(x.ask("/cors")[0], 200, "all is well")


def module_says(args, code):
    """What the action of a script with this code has set."""
    port = lib.ports(1)[0]
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as f:
        f.write(code)
        f.flush()
        with lib.Proxy(args.program, MODULES.format(script=f.name, port=port), restless="it may wait in LuaSocket") as proxy:
            with lib.connect(port, 30) as s:
                s.sendall(b"GET / HTTP/1.1\r\nhost: h\r\n\r\n")
                got = lib.Reader(s).response()
            return dict(got[1]).get("got") if got else proxy.output()[-1000:]


def modules(tap, args):
    """Modules of others. Those in C may have names that the program has too: a reason to skip them where a sanitizer has the names."""
    action = 'core.register_action("act", { "http-req" }, function(txn) %s end)'
    beside = lib.is_reference(args.program)
    if glob.glob("/usr/share/lua/5.*/json.lua"):
        code = 'local json = require("json") ' + action % (
            'local claims = json.decode(txn.c:ub64dec("eyJzdWIiOiJhbm4iLCJyb2xlcyI6WyJhIiwiYiJdfQ")) '
            'txn:set_var("txn.got", claims.sub .. #claims.roles .. json.encode(claims.roles))')
        tap.eq(module_says(args, code), 'ann2["a","b"]', "lua-json")
    else:
        tap.skip("lua-json", "it is not installed (scripts/install-deps test)")
    if lib.is_sanitized(args.program) or not glob.glob("/usr/lib/*/lua/5.4/cjson.so"):
        tap.skip("lua-cjson", "it is not installed (scripts/install-deps test), or the program is sanitized")
    else:
        code = 'local json = require("cjson") ' + action % 'txn:set_var("txn.got", json.encode({ ("x"):rep(3000) }):sub(-3) .. #json.decode("[1,2,3]"))'
        tap.eq(module_says(args, code), 'x"]3', "lua-cjson, whose names are its own")
        tap.ok("none.such" in module_says(args, 'local _, why = pcall(require, "none.such") ' + action % 'txn:set_var("txn.got", why)'), "no module")
        tap.eq(module_says(args, 'local f, _, w = package.loadlib("/none.so", "f") ' + action % 'txn:set_var("txn.got", tostring(f) .. w)'), "nilopen", "no library")
    if lib.is_sanitized(args.program) or not glob.glob("/usr/lib/*/lua/5.4/socket/core.so"):
        tap.skip("LuaSocket", "it is not installed (scripts/install-deps test), or the program is sanitized")
        return
    try_it = 'local s = socket.tcp() s:settimeout(1) local _, why = s:connect("127.0.0.1", 1) '
    code = 'local socket = require("socket") ' + try_it + action % 'txn:set_var("txn.got", why)'
    tap.eq(module_says(args, code), "connection refused", "LuaSocket while the program starts")
    code = 'local socket = require("socket") ' + action % (
        'local t = { tostring(socket.gettime() > 0) } for _, f in ipairs({ socket.tcp, socket.udp, socket.sleep, socket.select, socket.dns.toip }) do '
        'local good, why = pcall(f, 0) t[#t + 1] = good and "done" or why:match("use core.tcp") or why end txn:set_var("txn.got", table.concat(t, " "))')
    got = module_says(args, code)
    tap.ok(beside or got == "true" + " use core.tcp" * 5, "LuaSocket is refused where it would stop a thread", got)


def main():
    args = lib.arguments(__doc__)
    tap = lib.Tap()
    tap.attempt("modules", modules, tap, args)
    module = glob.glob("/usr/share/lua/5.*/dkjson.lua")
    if not module:
        tap.skip("scripts", "the JSON module is not installed (scripts/install-deps test)")
        tap.done()
        return
    x = Scene(args, os.path.dirname(module[0]) + "/?.lua")
    with x.proxy:
        tap.run((ordinary, origins, misbehaving), x)
    x.auth.close()
    x.app.close()
    x.log.close()
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
