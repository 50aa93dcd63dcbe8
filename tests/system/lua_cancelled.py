#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Clients that leave while a script waits for them: asleep, in a socket, in an HTTP request, at a queue, in a service that sends, in a
filter, in an action of the answer. They close or reset at random moments; then nothing is left: no stream, no connection, no memory that
grows. --count N clients (600; 100000 for the long run), --seed S."""
import random
import shutil
import tempfile
import threading

import lib

SCRIPT = r"""
local port = tonumber((...))
local queue = core.queue()
core.register_action("wait", { "http-req", "http-res" }, function(txn)
	local how = txn.sf:req_hdr("x-how")
	local tables = {}
	for i = 1, 50 do tables[i] = { i, tostring(i) } end
	if how == "sleep" then core.msleep(50)
	elseif how == "yields" then for i = 1, 20 do core.yield() core.msleep(1) end
	elseif how == "socket" then
		local s = core.tcp()
		s:settimeout(1)
		if s:connect("127.0.0.1", port) then s:send("GET /slow HTTP/1.0\r\n\r\n") s:receive("*l") end
		s:close()
	elseif how == "forgotten" then
		local s = core.tcp()
		s:connect("127.0.0.1", port)
		s:send("GET /slow HTTP/1.0\r\n\r\n")
		s:receive("*a")
	elseif how == "client" then core.httpclient():get { url = "http://127.0.0.1:" .. port .. "/slow", timeout = 1000 }
	elseif how == "queue" then queue:pop_wait()
	elseif how == "wake" then txn:set_var("txn.n", #tables) core.sleep(1)
	end
end)
core.register_task(function() while true do core.msleep(20) queue:push(1) end end)
core.register_service("slow", "http", function(applet)
	applet:set_status(200)
	applet:start_response()
	for i = 1, 50 do applet:send(string.rep("x", 5000)) core.msleep(1) end
end)
core.register_service("reads", "http", function(applet)
	local body = applet:receive()
	applet:set_status(200)
	applet:start_response()
	applet:send(tostring(#body))
end)
local F = { id = "slow", flags = filter.FLT_CFG_FL_HTX }
F.__index = F
function F:new() return setmetatable({ big = string.rep("y", 1000) }, F) end
function F:start_analyze(txn, chn) filter.register_data_filter(self, chn) end
function F:http_payload(txn, msg) if not msg:eom() then return filter.WAIT end end
core.register_filter("slow", F, function(flt, args) return flt end)
"""
CONF = """
	nbthread 2
	tune.lua.bool-sample-conversion normal
	lua-load {folder}/a.lua {server}
	lua-load-per-thread {folder}/b.lua {server}
defaults
	mode http
	timeout connect 5s
	timeout client 10s
	timeout server 10s
	option http-no-delay
frontend fe
	bind 127.0.0.1:{port}
	option abortonclose
	http-request use-service lua.slow if {{ path /service }}
	http-request use-service lua.reads if {{ path /reads }}
	filter lua.slow
	http-request lua.wait if {{ path_beg /request }}
	http-request lua.waits if {{ path_beg /thread }}
	http-response lua.wait if {{ var(txn.later) -m found }}
	http-request set-var(txn.later) int(1) if {{ path_beg /response }}
	default_backend be
backend be
	option abortonclose
	server s 127.0.0.1:{server}
"""
HOW = ("sleep", "yields", "socket", "forgotten", "client", "queue", "wake")


def serve(sock):
    sock.settimeout(5)  # what a script reads to the end ends then: before the client's patience does, however slow the program is
    r = lib.Reader(sock)
    while True:
        head = r.head()
        if not head:
            return
        r.body(head[1])
        if "/slow" in head[0]:
            threading.Event().wait(0.05)
        sock.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello")


def client(port, rng, whole):
    s = lib.connect(port, 30)
    path = how = ""
    try:
        path = rng.choice(("/request", "/request", "/thread", "/response", "/service", "/reads", "/plain"))
        how = rng.choice(HOW)
        head = "%s %s HTTP/1.1\r\nhost: h\r\nx-how: %s\r\n" % ("POST" if path == "/reads" else "GET", path, how)
        if path == "/reads":
            head += "content-length: 1000\r\n"
        s.sendall((head + "\r\n").encode() + (b"x" * rng.choice((0, 500)) if path == "/reads" and not whole else b"x" * 1000 if path == "/reads" else b""))
        if whole:
            return lib.Reader(s).response() is not None
        lib.leave(s, rng, (0, 0.001, 0.005, 0.03, 0.06))
        return True
    except TimeoutError:
        raise OSError("no answer to %s %s" % (path, how))
    finally:
        s.close()


def main():
    args = lib.arguments(__doc__, ("count", 600, "clients"), ("seed", 1, "of the clients"))
    tap = lib.Tap()
    if lib.is_reference(args.program):
        tap.skip("cancelled", "the reference keeps streams of services whose clients have left")
        tap.done()
        return
    folder = tempfile.mkdtemp(prefix="luac.")
    for name, text in (("a", SCRIPT), ("b", SCRIPT.split("core.register_service")[0].replace('"wait"', '"waits"'))):
        with open("%s/%s.lua" % (folder, name), "w") as f:
            f.write(text)
    server, port = lib.Server(serve), lib.ports(1)[0]
    with lib.Proxy(args.program, CONF.format(folder=folder, server=server.port, port=port)) as proxy:
        failed, left, lock = [], [args.count], threading.Lock()

        def many(n):
            rng = random.Random("%d %d" % (args.seed, n))
            while True:
                with lock:
                    if not left[0]:
                        return
                    left[0] -= 1
                try:
                    if not client(port, rng, rng.random() < 0.05):
                        failed.append("no answer")
                except ConnectionError:
                    pass
                except OSError as e:
                    failed.append(repr(e))

        threads = [threading.Thread(target=many, args=(n,)) for n in range(20)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        tap.ok(not failed, "%d clients: who stays is answered" % args.count, (len(failed), failed[:5]))
        tap.ok(lib.until(lambda: proxy.info()["CurrConns"] == "0", 20), "no connection is left", proxy.info()["CurrConns"])
        tap.ok(lib.until(lambda: proxy.ctl("show sess").count("proto=tcpv4") == 0, 20), "no stream is left", proxy.ctl("show sess")[:2000])
        tap.ok(client(port, random.Random(1), True), "it answers")
    server.close()
    shutil.rmtree(folder, ignore_errors=True)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
