#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The Runtime API over HTTP (use-service runtime-api, an extension): what it answers is what the socket of the same
level says; nothing above one's level is carried out; hostile input gets an answer and harms nobody."""
import json
import random
import re
import socket
import subprocess
import urllib.parse

import lib

CONF = """
    stats socket {dir}/user.sock level user
    stats socket {dir}/operator.sock level operator
defaults
    mode http
    timeout connect 1s
    timeout client 5s
    timeout server 5s
frontend api
    bind 127.0.0.1:{port}
    http-request use-service runtime-api level admin if {{ path /admin }}
    http-request use-service runtime-api level operator if {{ path /operator }}
    http-request use-service runtime-api if {{ path /user }}
    http-request use-service runtime-api level operator if {{ path_beg /v1/ }}
    http-request use-service runtime-api if {{ path_beg /user/v1/ }}
    default_backend be
frontend failing
    bind 127.0.0.1:{port2}
    unique-id-format %[req.hdr(x-id)]
    http-request deny
backend be
    balance roundrobin
    server s1 127.0.0.1:1
    server s2 127.0.0.1:1
    http-request return status 200 content-type text/plain lf-string %[path,map({dir}/map)]
"""
LEVELS = ("user", "operator", "admin")


class Api:
    def __init__(self, port):
        self.port = port

    def post(self, path, body, method=b"POST", kind=b"application/json"):
        """Status, fields, body as it came."""
        if not isinstance(body, bytes):
            body = json.dumps(body).encode()
        s = lib.connect(self.port)
        try:
            s.sendall(b"%s %s HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s"
                      % (method, path.encode(), kind, len(body), body))
            return lib.Reader(s).response(method.decode())
        except OSError:
            return None
        finally:
            s.close()

    def run(self, level, body):
        r = self.post("/" + level, body)
        return json.loads(r[2].decode()) if r else None

    def one(self, level, command):
        return self.run(level, {"command": command})["results"][0]


def socket_of(proxy, level):
    return proxy.ctl_path if level == "admin" else "%s/%s.sock" % (proxy.sockets, level)


def ask_socket(proxy, level, command):
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(lib.PATIENCE)
    s.connect(socket_of(proxy, level))
    s.sendall(command.encode() + b"\n")
    try:
        return lib.recv_all(s).decode("latin-1").rstrip("\n")
    finally:
        s.close()


def answers(tap, api, proxy):
    for level in LEVELS:
        for command in ("show version", "show backend", "help show stat", "", "nonsense", "show acl #99", "operator",
                        "set weight be/s9 1", "show servers state be"):
            tap.eq(api.one(level, command)["output"].strip("\n"),
                   re.sub(r"^\[\d\]: ", "", ask_socket(proxy, level, command)).strip("\n"),
                   "%s: %r says what the socket says" % (level, command))
    r = api.one("admin", "set weight be/s9 1")
    tap.eq((r["command"], r.get("severity")), ("set weight be/s9 1", 3), "an error has its severity")
    tap.ok("severity" not in api.one("user", "show stat"), "an output without severity has none")
    r = api.one("user", "show stat json")
    tap.ok(isinstance(r.get("data"), list) and r["data"][0][0]["objType"] == "Frontend" and "output" not in r,
           "JSON is given as it is", str(r)[:200])
    tap.ok(isinstance(api.one("user", "show info json")["data"], list), "show info json too")
    r = api.run("admin", {"commands": ["show version", "set weight be/s1 7", "get weight be/s1"]})["results"]
    tap.eq([x["output"] for x in r][1:], ["", "7 (initial 1)"], "three commands, in their order")
    tap.eq(api.one("admin", "set weight be/s1 5; get weight be/s1")["output"], "\n5 (initial 1)", "two of one line")
    r = api.run("admin", {"command": "add map %s/map" % proxy.sockets, "payload": "/k v\nE0\n/l E1\n"})
    tap.ok("'E0'" in r["results"][0]["output"], "the end of a payload is no line of it", r)
    r = api.run("admin", {"command": "add map %s/map" % proxy.sockets, "payload": "/m caf\u00e9\n/l E0"})
    tap.eq(r["results"][0]["output"], "", "a payload is taken")
    tap.ok('/l E0' in ask_socket(proxy, "admin", "show map %s/map" % proxy.sockets), "with all its lines")
    for text in ("caf\u00e9 \u20ac \U0001d11e", "\x01\x7f\t\"\\"):
        r = api.one("user", "help " + text) if text.isprintable() else None
        tap.ok(r is None or r["command"] == "help " + text, "the command is given back: %r" % text)
    tap.eq(api.one("admin", "prompt; show version")["output"].strip("> \n"), api.one("user", "show version")["output"],
           "an interactive session ends")
    tap.ok(api.one("admin", "quit") is not None and api.one("admin", "quit; show version")["output"] == "", "quit")
    tap.eq(api.one("admin", "wait 10ms")["output"], ask_socket(proxy, "admin", "wait 10ms"), "a command that waits")
    lines = api.one("admin", "show sess")["output"]
    tap.ok("proto=" in lines, "a command of all threads", lines)


def read_by_name(tap, api, failing):
    def get(path):
        r = api.post(path, b"", b"GET")
        return r[0], json.loads(r[2].decode())

    ids = ["plain", "with/slash", "a;b", "\\", "<<", "json"]
    for i in ids:
        s = lib.connect(failing)
        s.sendall(b"GET /x HTTP/1.1\r\nHost: x\r\nX-Id: %s\r\n\r\n" % i.encode())
        tap.eq(lib.Reader(s).response("GET")[0], 403, "a request that is denied")
        s.close()
    status, data = get("/v1/requests")
    tap.eq((status, sorted(r["id"] for r in data["requests"] if r["frontend"] == "failing")), (200, sorted(ids)),
           "requests that ended badly")
    for i in ids:
        status, data = get("/v1/requests/" + urllib.parse.quote(i, safe=""))
        tap.eq((status, [(r["id"], r["end"], r["rules"][-1]["rule"], r["rules"][-1]["decided"])
                         for r in data["requests"]]),
               (200, [(i, "RULE_DENY", "http-request deny", True)]), "one of them, by its id %r" % i)
    tap.eq(get("/v1/requests/nosuch"), (200, {"requests": [], "missed": 0}), "none by an id that nobody has")
    status, data = get("/v1/config")
    tap.eq((status, [x["text"] for x in data["lines"] if x["opens"]][-1]), (200, "backend be"), "the configuration")
    tap.eq(get("/v1/config/diff")[0], 200, "how it differs from the files")
    for path, status in (("/v1/nosuch", 404), ("/v1/requests/", 404), ("/v1/requests/a%20b", 404), ("/v1/requests/%0a", 404),
                         ("/v1/requests/%zz", 404), ("/v1/requests/" + "x" * 600, 404), ("/user/v1/requests", 403)):
        got, data = get(path)
        tap.eq((got, list(data)), (status, ["error"]), "GET %s is refused" % path[:40])


def refused(tap, api):
    ok = b'{"command":"show version"}'
    for name, status, kwargs in (
            ("GET", 405, {"method": b"GET", "body": b""}), ("PUT", 405, {"method": b"PUT", "body": ok}),
            ("a form", 415, {"kind": b"application/x-www-form-urlencoded", "body": ok}),
            ("text", 415, {"kind": b"text/plain", "body": ok}),
            ("no object", 400, {"body": b"[]"}), ("nothing", 400, {"body": b""}), ("not JSON", 400, {"body": b"{"}),
            ("a number", 400, {"body": b'{"command":1}'}), ("nothing asked", 400, {"body": b"{}"}),
            ("both", 400, {"body": b'{"command":"a","commands":["b"]}'}),
            ("an empty list", 400, {"body": b'{"commands":[]}'}),
            ("a list of numbers", 400, {"body": b'{"commands":["show version",2]}'}),
            ("two lines", 400, {"body": b'{"command":"show version\\nshow info"}'}),
            ("a carriage return", 400, {"body": b'{"command":"show version\\rshow info"}'}),
            ("NUL", 400, {"body": b'{"command":"show version\\u0000"}'}),
            ("a hidden payload", 400, {"body": b'{"command":"add map x <<"}'}),
            ("a hidden payload with a pattern", 400, {"body": b'{"command":"add map x <<EOF"}'}),
            ("a payload of many", 400, {"body": b'{"commands":["a"],"payload":"x"}'}),
            ("a payload that is no string", 400, {"body": b'{"command":"a","payload":1}'}),
            ("65 commands", 400, {"body": json.dumps({"commands": ["show version"] * 65}).encode()}),
            ("70 kB", 413, {"body": b'{"command":"' + b"a" * 70000 + b'"}'})):
        r = api.post("/admin", **kwargs)
        good = r and r[0] == status and r[1].get("content-type") == "application/json" and "error" in json.loads(r[2])
        tap.ok(good, "%s: %d" % (name, status), r)
    tap.eq(api.post("/admin", ok, kind=b"Application/JSON; charset=utf-8")[0], 200, "parameters of the type do not matter")
    tap.eq(len(api.run("user", {"commands": ["show version"] * 64})["results"]), 64, "64 commands")


def commands_of(program):
    """(words, level) of every command."""
    out = subprocess.run([program, "-dKdoc"], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL).stdout.decode()
    found = []
    for line in out.split("\n"):
        cells = line.split("\t")
        if cells[0] == "command" and len(cells) > 2:
            found.append((cells[1], cells[2]))
    return found


def levels(tap, api, proxy, program):
    """Each command that the level below may not use is refused, by the socket and here alike."""
    text = api.one("admin", "help")["output"]
    words = sorted(set(m.group(1).strip() for m in re.finditer(r"^  ([a-z][a-z0-9 @|-]*?)(?: [<\[{+(*].*| *:.*)$", text, re.M)))
    tap.ok(len(words) > 60, "help lists the commands", len(words))
    for level in ("user", "operator"):
        denied = differ = 0
        for w in words:
            command = w.split("|")[0].strip() + " x"
            there = ask_socket(proxy, level, command)
            if "Permission denied" not in there:
                continue
            here = api.one(level, command)
            denied += 1
            differ += (here["output"].strip(), here.get("severity")) != ("Permission denied", 3)
        tap.ok(denied > 20 and not differ, "%s: %d commands are denied as on the socket" % (level, denied), differ)
    for command in ("set weight be/s2 9", "disable server be/s2", "shutdown sessions server be/s2", "expert-mode on",
                    "clear counters all", "set server be/s2 state maint", "operator; disable server be/s2",
                    "expert-mode on; debug dev exit 1", "user; operator; disable server be/s2"):
        for level in ("user", "operator"):
            api.one(level, command)
    tap.ok(" 1 (" in ask_socket(proxy, "admin", "get weight be/s2") or
           ask_socket(proxy, "admin", "get weight be/s2").startswith("1 "), "nothing was changed",
           ask_socket(proxy, "admin", "get weight be/s2"))
    tap.ok(proxy.stats()["be", "s2"]["status"] == "no check", "no server either", proxy.stats()["be", "s2"]["status"])
    tap.eq(api.one("admin", "user; set weight be/s2 3")["output"].split("\n")[-1], "Permission denied",
           "a level that was lowered stays so")


def hostile(tap, api, proxy):
    rng = random.Random(20)
    seeds = [b'{"command":"show stat json"}', b'{"commands":["show info","help"]}', b'{"command":"show map","payload":"a b"}',
             b'{"command":"show \\u00e9 \\"x\\" \\\\ <<"}', b"[" * 3000, b'{"command":' * 400, b'{"commands":' + b"[" * 500]
    bad = []
    for _ in range(600):
        body = bytearray(rng.choice(seeds))
        for _ in range(rng.randrange(6)):
            at = rng.randrange(len(body) + 1)
            what = rng.random()
            if what < 0.4 and at < len(body):
                body[at] = rng.randrange(256)
            elif what < 0.7:
                body[at:at] = rng.choice([b'"', b"{", b"}", b"[", b"\\", b"\0", b"\\ud800", b";", b"<<", b"\n", b","])
            else:
                del body[at:at + rng.randrange(8)]
        r = api.post("/" + rng.choice(LEVELS[:2]), bytes(body))
        try:
            if r[0] not in (200, 400, 413):
                raise ValueError(r[0])
            json.loads(r[2].decode())
        except (ValueError, TypeError) as e:
            bad.append((bytes(body)[:80], r and r[:1], str(e)))
    tap.eq(bad[:3], [], "600 random bodies: each gets a JSON answer")
    for amount in (1, 100, 4000):
        socks = []
        for path in (b"/admin", b"/user"):
            s = lib.connect(api.port)
            s.sendall(b"POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9999\r\n\r\n%s"
                      % (path, b'{"command":"' + b"a" * amount))
            socks.append(s)
        for s in socks:
            lib.reset(s)
    s = lib.connect(api.port)
    body = json.dumps({"commands": ["show stat json"] * 64}).encode()
    s.sendall(b"POST /user HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
              % (len(body), body))
    s.recv(10)
    tap.eq(api.one("user", "show version")["command"], "show version", "a client that does not read holds nobody")
    lib.reset(s)
    s = lib.connect(api.port)
    body = b'{"command":"wait 60s"}'
    s.sendall(b"POST /admin HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
              % (len(body), body))
    s.recv(10)
    lib.reset(s)
    tap.ok(proxy.alive() and api.one("user", "show version"), "the program lives")


def configuration(tap, program):
    base = "defaults\n mode http\n timeout client 1s\nfrontend f\n bind 127.0.0.1:1\n http-request use-service runtime-api%s\n"
    for rest, code, text in ((" level root", 1, "'level' expects"), (" level", 1, "'level' expects"), ("", 0, ""),
                             (" level admin", 0, "without a condition"), (" if { path / }", 0, ""),
                             (" level operator if { path / }", 0, "")):
        r = subprocess.run([program, "-c", "-f", "/dev/stdin"], input=(base % rest).encode(), stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT)
        tap.ok(r.returncode == code and text in r.stdout.decode() and (text or b"level" not in r.stdout),
               "use-service runtime-api%s: exit %d" % (rest, code), r.stdout.decode())


def main():
    args = lib.arguments(__doc__)
    tap = lib.Tap()
    if lib.is_reference(args.program):
        tap.skip("all", "an extension")
        tap.done()
    port, port2 = lib.ports(2)
    import shutil
    import tempfile
    sockets = tempfile.mkdtemp(prefix="hapi.")
    open(sockets + "/map", "w").close()
    try:
        with lib.Proxy(args.program, CONF.format(port=port, port2=port2, dir=sockets)) as proxy:
            proxy.sockets = sockets
            api = Api(port)
            answers(tap, api, proxy)
            refused(tap, api)
            read_by_name(tap, api, port2)
            levels(tap, api, proxy, args.program)
            hostile(tap, api, proxy)
    finally:
        shutil.rmtree(sockets)
    configuration(tap, args.program)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
