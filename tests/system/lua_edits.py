#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Generated edits of bodies by filters in Lua, for this program and the reference: HTTPMessage and Channel, each with insert, append,
prepend, remove, set, send, forward, body/data, line, input, output, at offsets and of lengths that fit and that do not, on bodies of 0, 1 and
more bytes, in both directions. What the functions return, what raises an error, and what client and server get must be the same. Without a
reference (--reference) it is skipped. --cases N of each kind (150), --seed S, --show N differences."""
import os
import random
import socket
import tempfile
import threading

import lib

SCRIPT = r"""
local function words(text, sep)
	local out = {}
	for w in string.gmatch(text, "[^" .. sep .. "]+") do out[#out + 1] = w end
	return out
end
-- the reference takes nil for a number that is wrong: arguments end before the first of them
local function number(w) if w == "n" then return nil end return tonumber(w) end
-- each step is "name,text,offset,length"; n: not given
local function apply(m, steps, is_http)
	local said = {}
	for _, s in ipairs(words(steps, ";")) do
		local w = words(s, ",")
		local name, text, offset, length = w[1], w[2], number(w[3]), number(w[4])
		if text == "e" then text = "" end
		local good, got
		local args = {}
		if not offset then length = nil end
		if name == "insert" then args = { text, offset }
		elseif name == "append" or name == "prepend" or name == "send" then args = { text }
		elseif name == "set" then args = { text, offset, length }
		elseif name == "remove" or name == "data" or name == "line" then args = { offset, length }
		elseif name == "forward" then args = { length or 1 } end
		if name == "data" and is_http then name = "body" end
		good, got = pcall(function() return m[name](m, table.unpack(args)) end)
		-- of nothing, the reference wants to wait, which it cannot here
		if (name == "data" or name == "line") and got == "" then good = false end
		said[#said + 1] = good and tostring(got) or "error"
	end
	return table.concat(said, ",")
end
local results, current = {}, nil
local F = { id = "edits", flags = filter.FLT_CFG_FL_HTX }
F.__index = F
function F:new() return setmetatable({ done = {} }, F) end
function F:start_analyze(txn, chn) filter.register_data_filter(self, chn) end
function F:http_headers(txn, msg)
	if not msg:is_resp() then
		local h = msg:get_headers()
		self.request = h["x-request"] and h["x-request"][0]
		self.response = h["x-response"] and h["x-response"][0]
		self.number = h["x-number"] and h["x-number"][0]
	end
	if (msg:is_resp() and self.response) or (not msg:is_resp() and self.request) then msg:set_body_len("chunked") end
	return filter.CONTINUE
end
function F:http_payload(txn, msg)
	local side = msg:is_resp() and "response" or "request"
	if self.done[side] or not self[side] then return end
	if not msg:eom() then return filter.WAIT end
	self.done[side] = true
	results[self.number .. side] = apply(msg, self[side], true)
end
core.register_filter("edits", F, function(flt, args) return flt end)
local G = { id = "bytes", flags = 0 }
G.__index = G
function G:new() return setmetatable({ done = {} }, G) end
function G:start_analyze(txn, chn) filter.register_data_filter(self, chn) end
function G:tcp_payload(txn, chn)
	local side = chn:is_resp() and "response" or "request"
	if self.done[side] or chn:input() == 0 then return end
	self.done[side] = true
	results[current.number .. side] = apply(chn, current[side], false)
end
core.register_filter("bytes", G, function(flt, args) return flt end)
core.register_service("results", "http", function(applet)
	local key = applet.qs
	if applet.path == "/steps" then -- of the next connection
		local h = applet.headers
		current = { number = key, request = h["x-up"][0], response = h["x-down"][0] }
	end
	local body = results[key] or "none"
	applet:set_status(200)
	applet:add_header("content-length", tostring(#body))
	applet:start_response()
	applet:send(body)
end)
"""
CONF = """
	tune.lua.bool-sample-conversion normal
	lua-load {script}
defaults
	timeout connect 5s
	timeout client 5s
	timeout server 5s
frontend http
	mode http
	bind 127.0.0.1:{http}
	http-request use-service lua.results if {{ path /results /steps }}
	filter lua.edits
	default_backend app
backend app
	mode http
	server s 127.0.0.1:{http_server}
listen tcp
	mode tcp
	bind 127.0.0.1:{tcp}
	filter lua.bytes
	server s 127.0.0.1:{tcp_server}
"""
# differs: lua-channel-edits
# HTTPMessage has no line(). Channel's append(), send() and forward() are left out: in filters of the reference the first puts bytes in
# front, the second returns -1 always, and after the third bytes are lost; here all three do what the manual says.
# not output(): the reference counts the head that has not left yet
NAMES = ("insert", "insert", "append", "prepend", "remove", "remove", "set", "set", "send", "forward", "data", "input", "line")


class Scene:
    def __init__(self, program, script):
        self.got, self.over = [], threading.Event()
        self.servers = lib.Server(self.serve_http), lib.Server(self.serve_tcp)
        self.http, self.tcp = lib.ports(2)
        self.proxy = lib.Proxy(program, CONF.format(script=script, http=self.http, tcp=self.tcp, http_server=self.servers[0].port,
                                                    tcp_server=self.servers[1].port))

    def serve_http(self, sock):
        r = lib.Reader(sock)
        while True:
            head = r.head()
            if not head:
                return
            self.got.append(r.body(head[1]))
            body = self.answer
            sock.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body))

    def serve_tcp(self, sock):
        sock.settimeout(0.2) # there may be nothing left of what the client says
        try:
            first = sock.recv(65536)
        except TimeoutError:
            first = b""
        sock.settimeout(lib.PATIENCE)
        sock.sendall(self.answer)
        sock.shutdown(socket.SHUT_WR)
        self.got.append(first + lib.recv_all(sock))
        self.over.set()

    def results(self, key, path="results", fields=""):
        sock = lib.connect(self.http)
        sock.sendall(("GET /%s?%s HTTP/1.1\r\nhost: x\r\n%s\r\n" % (path, key, fields)).encode())
        got = lib.Reader(sock).response()
        sock.close()
        return got[2]

    def run(self, case):
        del self.got[:]
        self.answer = case.answer
        if not case.http:
            self.results(case.name, "steps", "x-up: %s\r\nx-down: %s\r\n" % (case.request, case.response))
        self.over.clear()
        sock = lib.connect(case.http and self.http or self.tcp)
        try:
            if case.http:
                sock.sendall(("POST / HTTP/1.1\r\nhost: x\r\nx-number: %s\r\nx-request: %s\r\nx-response: %s\r\ncontent-length: %d\r\n\r\n" %
                              (case.name, case.request, case.response, len(case.body))).encode() + case.body)
                got = lib.Reader(sock).response()
                seen = got and (got[0], got[2])
            else:
                sock.sendall(case.body)
                seen = lib.recv_all(sock)
        except (OSError, EOFError, ValueError) as e:
            seen = type(e).__name__
        finally:
            sock.close()
        if not case.http:
            self.over.wait(2)
        return seen, list(self.got), self.results("%srequest" % case.name), self.results("%sresponse" % case.name)


class Case:
    def __init__(self, rng, number, http):
        self.name, self.http = "%s%d" % ("http" if http else "tcp", number), http
        self.body = text(rng, http)
        self.answer = text(rng, http)
        self.request, self.response = steps(rng, http), steps(rng, http)

    def __str__(self):
        return "%s %r %s / %r %s" % ("HTTP" if self.http else "TCP", self.body, self.request, self.answer, self.response)


def text(rng, http):
    least = 0 if http else 1
    size = rng.choice((least, 1, 1, 2, 5, 10, 20, 3000))
    return bytes(rng.choice(b"abcdefgh\n") for _ in range(size))


def steps(rng, http):
    out = []
    for _ in range(rng.randrange(1, 7)):
        name = rng.choice([n for n in NAMES if n not in (("line",) if http else ("append", "send", "forward"))])
        words = rng.choice(("e", "X", "YZ", "long" * 10))
        number = [str(rng.choice((rng.randrange(-25, 25), rng.randrange(-3, 4), "n"))) for _ in range(2)]
        out.append("%s,%s,%s,%s" % (name, words, number[0], number[1]))
    return ";".join(out)


def main():
    args = lib.arguments(__doc__, ("cases", 150, "of each kind"), ("seed", 1, "of the generator"), ("show", 5, "differences to print"),
                         ("reference", lib.REFERENCE, "program"))
    tap = lib.Tap()
    if lib.is_reference(args.program) or not os.access(args.reference, os.X_OK):
        tap.apart("reference", "beside the reference")
        tap.done()
        return
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as f:
        f.write(SCRIPT)
        f.flush()
        ours, theirs = Scene(args.program, f.name), Scene(args.reference, f.name)
        with ours.proxy, theirs.proxy:
            for http in (True, False):
                other = []
                for n in range(args.cases):
                    case = Case(random.Random("%d %d %d" % (args.seed, n, http)), n, http)
                    a, b = ours.run(case), theirs.run(case)
                    if a != b:
                        other.append("%d: %s\n ours   %.400r\n theirs %.400r" % (n, case, a, b))
                tap.ok(not other, "%s: %d cases" % ("HTTPMessage" if http else "Channel", args.cases),
                       "%d others\n%s" % (len(other), "\n".join(other[:args.show])))
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
