#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Class Socket of scripts: streams that end while their script waits, sockets that are lost or kept, TLS, reloads.
--count N: streams at once."""
import os
import random
import shutil
import socket
import ssl
import subprocess
import tempfile
import threading

import lib

SCRIPT = """
local kept
local function open(port, tls)
	local s = core.tcp()
	s:settimeout(100)
	local good, why = s[tls and "connect_ssl" or "connect"](s, "127.0.0.1", port)
	return s, good, why
end
core.register_action("wait", { "http-req" }, function(txn)
	local s = open(%(mute)d)
	s:send("x")
	s:receive("*l")
	s:close()
end)
core.register_action("push", { "http-req" }, function(txn)
	local s = open(%(mute)d)
	s:send(string.rep(string.rep("y", 8000), 1000))
end)
core.register_action("lose", { "http-req" }, function(txn)
	for i = 1, 20 do
		local s = open(%(echo)d)
		s:send("lost\\n")
	end
	collectgarbage()
	collectgarbage()
end)
core.register_action("ask", { "http-req" }, function(txn)
	local s = open(%(echo)d)
	local text = txn.sf:url()
	s:send(text .. "\\n")
	txn:set_var("txn.x", s:receive("*l"))
end)
core.register_action("keep", { "http-req" }, function(txn)
	if not kept then kept = open(%(echo)d) end
	kept:send(txn.sf:url() .. "\\n")
	txn:set_var("txn.x", kept:receive("*l"))
end)
core.register_action("much", { "http-req" }, function(txn)
	local s = open(%(echo)d)
	local text = string.rep("z", 3000000)
	local sent = s:send(text .. "\\n")
	local got = s:receive(3000001)
	txn:set_var("txn.x", sent .. " " .. #got)
	s:close()
end)
core.register_action("tls", { "http-req" }, function(txn)
	local s, good, why = open(%(tls)d, true)
	s:send(string.rep("t", 10000) .. "\\n")
	local got = s:receive("*l")
	txn:set_var("txn.x", tostring(good) .. " " .. #got)
	s:close()
end)
core.register_action("plain", { "http-req" }, function(txn)
	local s, good, why = open(%(echo)d, true)
	txn:set_var("txn.x", tostring(good) .. " " .. tostring(why))
end)
"""

CONF = """
global
	nbthread %(threads)d
	tune.lua.bool-sample-conversion normal
	lua-load %(script)s
defaults
	mode http
	timeout connect 5s
	timeout client 30s
	timeout server 30s
frontend fe
	bind 127.0.0.1:%(port)d
	http-request lua.wait if { path /wait }
	http-request lua.push if { path /push }
	http-request lua.lose if { path /lose }
	http-request lua.ask if { path_beg /ask }
	http-request lua.keep if { path_beg /keep }
	http-request lua.much if { path /much }
	http-request lua.tls if { path /tls }
	http-request lua.plain if { path /plain }
	http-request return status 200 content-type text/plain lf-string "%%[var(txn.x)]"
"""


class Mute:
    """Accepts and says nothing; knows how many are there."""

    def __init__(self):
        self.here, self.over, self.lock = 0, threading.Event(), threading.Lock()
        self.server = lib.Server(self.one, backlog=2000)
        self.port = self.server.port

    def one(self, sock):
        sock.recv(10)
        sock.setblocking(False) # (with a timeout, Python waits for bytes whatever the flags say)
        self.count(1)
        try:
            while not self.over.wait(.2):
                if not select_gone(sock):
                    continue
                break
        finally:
            self.count(-1)

    def count(self, more):
        with self.lock:
            self.here += more


def select_gone(sock):
    """Has the other side closed? What it sends is not read."""
    try:
        return sock.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


def echo(sock):
    while True:
        data = sock.recv(65536)
        if not data:
            return
        sock.sendall(data)


class Scene:
    def __init__(self, args, threads=2):
        self.folder = tempfile.mkdtemp(prefix="hapt.")
        self.mute, self.echo = Mute(), lib.Server(echo)
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                        "-keyout", self.folder + "/k", "-out", self.folder + "/c", "-days", "9", "-subj", "/CN=x"],
                       check=True, stderr=subprocess.DEVNULL)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.folder + "/c", self.folder + "/k")

        def secure(sock):
            with context.wrap_socket(sock, server_side=True) as s:
                echo(s)
        self.tls = lib.Server(secure)
        self.port = lib.ports(1)[0]
        with open(self.folder + "/a.lua", "w") as f:
            f.write(SCRIPT % {"mute": self.mute.port, "echo": self.echo.port, "tls": self.tls.port})
        self.proxy = lib.Proxy(args.program, CONF % {"port": self.port, "threads": threads, "script": self.folder + "/a.lua"})

    def ask(self, path):
        with lib.connect(self.port) as sock:
            sock.sendall(b"GET %s HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n" % path.encode())
            return lib.Reader(sock).response()[2].decode()

    def descriptors(self):
        return len(os.listdir("/proc/%d/fd" % self.proxy.process.pid))

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.proxy.__exit__(None, None, None)
        self.mute.over.set()
        for s in (self.mute.server, self.echo, self.tls):
            s.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def talks(tap, args):
    with Scene(args, 1) as s: # (a socket belongs to a thread)
        tap.eq(s.ask("/ask/1"), "/ask/1", "a line there and back")
        tap.eq([s.ask("/keep/%d" % i) for i in range(5)], ["/keep/%d" % i for i in range(5)],
               "a socket that a script keeps serves other streams")
        tap.eq(s.ask("/much"), "3000001 3000001", "three megabytes there and back")
        tap.eq(s.ask("/tls"), "1 10000", "TLS")
        tap.eq(s.ask("/plain"), "nil Can't connect", "TLS to a server that has none")
        tap.ok("LUA" not in s.proxy.ctl("show stat") and "lua-sockets" not in s.proxy.ctl("show servers state"),
               "the hidden server is not shown")


def lost(tap, args):
    with Scene(args) as s:
        before = s.descriptors()
        for _ in range(10):
            s.ask("/lose")
        tap.ok(lib.until(lambda: s.descriptors() <= before), "sockets that scripts lose are closed",
               "%d, before %d" % (s.descriptors(), before))


def cancelled(tap, args):
    rng = random.Random(5)
    with Scene(args) as s:
        before = s.descriptors()
        socks = []
        for i in range(args.count):
            sock = lib.connect(s.port)
            sock.sendall(b"GET /%s HTTP/1.1\r\nHost: h\r\n\r\n" % (b"push" if i % 30 == 29 else b"wait"))
            socks.append(sock)
        tap.ok(lib.until(lambda: s.mute.here == args.count), "%d scripts wait" % args.count, s.mute.here)
        tap.eq(s.ask("/ask/x"), "/ask/x", "others are served")
        rng.shuffle(socks)
        for i, sock in enumerate(socks):
            if i % 3:
                lib.reset(sock)
            else:
                sock.close()
        # (the script of a client that has only closed goes on: the other side ends it)
        s.mute.over.set()
        tap.ok(lib.until(lambda: s.mute.here == 0 and s.descriptors() <= before), "all are gone",
               "%d, descriptors %d, before %d" % (s.mute.here, s.descriptors(), before))
        tap.ok(s.proxy.alive(), "it lives")


def reloads(tap, args):
    if lib.is_reference(args.program):
        return
    with Scene(args, 1) as s:
        s.ask("/keep/1")
        before = s.descriptors()
        waits = [lib.connect(s.port) for _ in range(20)]
        for sock in waits:
            sock.sendall(b"GET /wait HTTP/1.1\r\nHost: h\r\n\r\n")
        lib.until(lambda: s.mute.here == 20)
        for _ in range(3):
            s.proxy.ctl("reload")
            s.ask("/keep/2")
        tap.eq(s.mute.here, 20, "what scripts of old generations wait for goes on")
        s.mute.over.set()
        for sock in waits:
            sock.close()
        tap.ok(lib.until(lambda: s.descriptors() <= before), "what old generations kept is closed",
               "%d, before %d" % (s.descriptors(), before))
        tap.eq(s.ask("/keep/3"), "/keep/3", "the new one has its own")


def main():
    args = lib.arguments(__doc__, ("count", 300, "streams at once"))
    tap = lib.Tap()
    tap.run((talks, lost, cancelled, reloads), args)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
