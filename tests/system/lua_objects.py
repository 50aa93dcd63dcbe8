#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Objects of scripts that outlive what they stand for: a reload, a server that is removed, a map that is changed, a call
that ends while it waits for a value. What a script keeps of a former configuration still answers; subscriptions and tasks
end with theirs. An extension: the reference has no reload in the running process."""
import os
import shutil
import tempfile
import threading

import lib

SCRIPT = r"""
local folder, version = ...
local queue, events, maps = core.queue(), 0, 0
local function show(...)
	local t = table.pack(...)
	for i = 1, t.n do t[i] = tostring(t[i]) end
	return table.concat(t, " ")
end
local function exists(name)
	local f = io.open(folder .. "/" .. name)
	if f then f:close() end
	return f ~= nil
end
core.event_sub({ "SERVER_ADMIN" }, function() core.msleep(1) events = events + 1 end)
core.register_init(function()
	core.backends.be.servers.s1:event_sub({ "SERVER_ADMIN" }, function() events = events + 100 end)
	core.get_patref(folder .. "/m.map"):event_sub({ "PAT_REF_SET" }, function() maps = maps + 1 end)
end)
for i = 1, 3 do core.register_task(function() while true do queue:pop_wait() end end) end
core.register_action("hold", { "http-req" }, function(txn)
	local be = core.backends.be
	local s1, s2, map, tab = be.servers.s1, be.servers.s2, core.get_patref(folder .. "/m.map"), be.stktable
	local sub = core.event_sub({ "SERVER" }, function() core.msleep(100000) end)
	io.open(folder .. "/held", "w"):close()
	while not exists("go") do core.msleep(2) end
	txn:set_var("txn.held", show(version, s1:get_name(), s1:set_weight("3"), s1:get_stats().svname, s2:get_name(), s2:get_addr(),
		s2:set_weight("9"), be:get_name(), be:get_stats().pxname, be.servers.s2, map.a, map:set("a", "old"), tab:info().type,
		core.get_patref(folder .. "/m.map").a))
	sub:unsub()
end)
core.register_action("stuck", { "http-req" }, function(txn)
	local own = core.queue()
	own:alarm()
	io.open(folder .. "/stuck", "w"):close()
	own:pop_wait()
end)
core.register_fetches("counts", function(txn) queue:push(1) return show(version, events, maps) end)
"""

CONF = """
	nbthread 3
	tune.lua.bool-sample-conversion normal
	lua-load {folder}/a.lua {folder} {version}
	lua-load-per-thread {folder}/b.lua {folder} {version}
defaults
	mode http
	timeout connect 5s
	timeout client 20s
	timeout server 20s
frontend fe
	bind 127.0.0.1:{port}
	acl known path,map({folder}/m.map) -m found
	http-request lua.hold if {{ path /hold }}
	http-request lua.stuck if {{ path /stuck }}
	http-request return status 200 hdr held "%[var(txn.held)]" hdr counts "%[lua.counts]" if !known
backend be
	stick-table type string size 100 store gpc0
	server s1 127.0.0.1:1 weight 10
	server s2 127.0.0.1:2 weight 10
"""

# the same subscriptions in the state of each thread, and nothing that has a name
THREAD_SCRIPT = r"""
core.event_sub({ "SERVER" }, function() core.msleep(1) end)
local q = core.queue()
core.register_task(function() while true do q:pop_wait() end end)
core.register_task(function() while true do core.msleep(5) q:push({}) end end)
"""


class Scene:
    def __init__(self, args):
        self.folder = tempfile.mkdtemp(prefix="hapt.")
        self.port = lib.ports(1)[0]
        for name, text in (("a.lua", SCRIPT), ("b.lua", THREAD_SCRIPT), ("m.map", "a 1\n")):
            with open(self.path(name), "w") as f:
                f.write(text)
        self.proxy = lib.Proxy(args.program, self.conf("v0"))

    def path(self, name):
        return os.path.join(self.folder, name)

    def conf(self, version):
        return CONF.format(folder=self.folder, version=version, port=self.port)

    def get(self, path, name):
        """The field <name> of the answer."""
        sock = lib.connect(self.port)
        sock.sendall(b"GET %s HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n" % path.encode())
        text = lib.recv_all(sock).decode("latin-1")
        sock.close()
        return dict(l.split(": ", 1) for l in text.split("\r\n") if ": " in l).get(name, text)

    def reload(self, version):
        with open(self.proxy.conf_path) as f:
            first = "".join(f.readlines()[:2])
        with open(self.proxy.conf_path, "w") as f:
            f.write(first + self.conf(version))
        return self.proxy.ctl("reload")

    def wait_file(self, name):
        return lib.until(lambda: os.path.exists(self.path(name)))

    def generations(self):
        return [l for l in self.proxy.ctl("show generations").split("\n") if l and l[0] != "#"]


def held_over_reload(tap, scene):
    got = []
    client = threading.Thread(target=lambda: got.append(scene.get("/hold", "held")), daemon=True)
    client.start()
    tap.ok(scene.wait_file("held"), "a call keeps objects")
    scene.proxy.ctl("set server be/s2 state maint")
    tap.ok("deleted" in scene.proxy.ctl("del server be/s2"), "one of its servers is removed")
    scene.reload("v1")
    tap.ok(lib.until(lambda: scene.get("/", "counts").startswith("v1")), "another configuration serves")
    open(scene.path("go"), "w").close()
    client.join(lib.PATIENCE)
    tap.eq(got, ["v0 s1 nil s1 nil nil nil be be nil 1 true string old"], "its objects answer as before")
    tap.eq(scene.proxy.ctl("get weight be/s1").strip(), "3 (initial 10)", "what they change is in force")
    tap.ok(lib.until(lambda: len(scene.generations()) == 1), "nothing holds the former configuration")


def events_after_reload(tap, scene):
    scene.proxy.ctl("set server be/s1 state maint")
    scene.proxy.ctl("set server be/s1 state ready")
    scene.proxy.ctl("set map %s a 5" % scene.path("m.map"))
    tap.ok(lib.until(lambda: scene.get("/", "counts") == "v1 202 1"),
           "the subscriptions of the configuration in force, once each", scene.get("/", "counts"))


def client_leaves(tap, scene):
    sock = lib.connect(scene.port)
    sock.sendall(b"GET /stuck HTTP/1.1\r\nhost: a\r\n\r\n")
    tap.ok(scene.wait_file("stuck"), "a call waits for a value")
    lib.reset(sock)
    tap.ok(lib.until(lambda: "lua.stuck" not in scene.proxy.ctl("show sess all")), "its client leaves")
    tap.eq(scene.get("/", "counts"), "v1 202 1", "others are served")


def many_reloads(tap, scene):
    for n in range(2, 8):
        scene.reload("v%d" % n)
        scene.proxy.ctl("set server be/s1 weight %d" % n)
        scene.proxy.ctl("set server be/s1 state drain")
        scene.proxy.ctl("set server be/s1 state ready")
    tap.ok(lib.until(lambda: scene.get("/", "counts").startswith("v7")), "reloads under events")
    tap.ok(lib.until(lambda: len(scene.generations()) == 1), "nothing holds the former ones", scene.generations())


def main():
    args = lib.arguments(__doc__)
    tap = lib.Tap()
    if lib.is_reference(args.program):
        tap.skip("objects of scripts over a reload", "the reference has no reload in the running process")
        tap.done()
    scene = Scene(args)
    with scene.proxy:
        tap.run((held_over_reload, events_after_reload, client_leaves, many_reloads), scene)
        scene.proxy.stop()
        text = scene.proxy.output()
        tap.ok("Sanitizer" not in text and "BUG" not in text, "no sanitizer has anything to say", text[-3000:])
    shutil.rmtree(scene.folder, ignore_errors=True)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
