#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The Runtime API under random commands, on sockets of each level and over HTTP: words of its own commands with names of
the configuration, with numbers, with rubbish; cut anywhere, with payloads, left early or never read. A level changes
nothing that is above it, the process lives, memory is bounded. Seeded: --seed, --rounds."""
import json
import random
import re
import socket

import lib

CONF = """
    stats socket {dir}/user.sock level user
    stats socket {dir}/operator.sock level operator
    stats socket {dir}/admin.sock level admin
    stats timeout 1s
defaults
    mode http
    timeout connect 1s
    timeout client 5s
    timeout server 5s
ring events
    format raw
    size 8192
frontend fe
    bind 127.0.0.1:{port}
    http-request use-service runtime-api level admin if {{ path /admin }}
    http-request use-service runtime-api level operator if {{ path /operator }}
    http-request use-service runtime-api if {{ path /user }}
    http-request deny if {{ src -f {dir}/list }}
    http-request set-header x %[path,map({dir}/map,none)]
    default_backend be
backend be
    balance roundrobin
    server s1 127.0.0.1:1 check inter 60s
    server s2 127.0.0.1:1 agent-check agent-port 1 agent-inter 60s
    server s3 127.0.0.1:1 disabled
"""
LEVELS = ("user", "operator", "admin")
# Ends the process, on purpose; waits; stops listening, so that nothing could be asked any more.
LEFT_OUT = re.compile(r"^(debug dev (exit|panic|loop|bug|warn|deadlock|delay|sched|stream|delinj|memstats|tkill|hash|hex|fd|"
                      r"close|exec|sym|write|task|counters|check|log|tainted)|_|reload|wait|shutdown frontend|"
                      r"disable frontend|expert-mode|set timeout)")
NASTY = ["", "-1", "0", "1", "4294967296", "99999999999999999999", "#1", "#-1", "#99999999999", "be/s1", "be/s2", "be/s3",
         "be/", "/s1", "be", "fe", "nobody", "be/s1/x", "on", "off", "all", "typed", "json", "up", "no-maint", "desc", "help",
         "ready", "drain", "maint", "50%", "-5%", "101%", "0%", "addr", "127.0.0.1", "port", "::1", "+1", "weight", "state",
         "health", "agent", "check-port", "fqdn", "ssl", "@1", "@2147483647", "@", "0x0", "0x123", "0xffffffffffffffff",
         "'", '"', "\\", "\\ ", "%s%n%p", "%", "\t", "a" * 300, "\x01", "\x7f", "\xff\xfe", "*", "..", "/etc/passwd",
         "<<", "<<EOF", "-f", "-", "key", "older", "5s", "show-uri", "frontend", "backend", "server", "susp", "global",
         "events", "domain", "resolvers", "sink", "source", "level", "tasks", "memory", "bytime", "aggr", "10", "a;b"]
# What does change something, for who may: chance alone seldom finds such arguments.
CHANGES = ["set server be/s1 weight 50%", "disable server be/s2", "set maxconn server be/s1 7", "enable server be/s3"]


def words_of(proxy):
    text = proxy.ctl("expert-mode on; experimental-mode on; help")
    found = set()
    for m in re.finditer(r"^  ([a-z_][a-z0-9_ @|-]*?)(?: [<\[{+(*].*| *:.*)$", text, re.M):
        for one in m.group(1).split("|"):
            found.add(one.strip())
    return sorted(w for w in found if w and not LEFT_OUT.match(w))


class Fuzz:
    def __init__(self, seed, words, names):
        self.rng = random.Random(seed)
        self.words = words
        self.names = names

    def arguments(self):
        out = []
        for _ in range(self.rng.randrange(5)):
            w = self.rng.choice(NASTY + self.names * 3)
            out.append(w)
        return " ".join(out)

    def command(self):
        if self.rng.random() < 0.03:
            return self.rng.choice(CHANGES)
        text = (self.rng.choice(self.words) + " " + self.arguments()).strip()
        roll = self.rng.random()
        if roll < 0.05:
            text = text[:self.rng.randrange(len(text) + 1)]
        elif roll < 0.1:
            at = self.rng.randrange(len(text) + 1)
            text = text[:at] + self.rng.choice(["\0", "\r", ";", "  ", "\\", "\\;", '"', "'"]) + text[at:]
        if LEFT_OUT.match(text.lstrip(" ;")) or re.search(r"[;\n] *" + LEFT_OUT.pattern[1:], text):
            return "show version"
        return text

    def line(self):
        text = "; ".join(self.command() for _ in range(self.rng.choice((1, 1, 1, 2, 5))))
        if self.rng.random() < 0.1:
            text += " <<\n" + "\n".join(self.arguments() for _ in range(self.rng.randrange(6))) + "\n"
        return text


def send(rng, path, line):
    """Some leave at once, some read a little, most read all."""
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(lib.PATIENCE)
    try:
        s.connect(path)
        data = line.encode("latin-1") + b"\n"
        cut = rng.randrange(1, len(data)) if len(data) > 1 and rng.random() < 0.2 else len(data)
        s.sendall(data[:cut])
        if cut < len(data):
            s.sendall(data[cut:])
        roll = rng.random()
        if roll < 0.05:
            return None
        if roll < 0.1:
            return s.recv(10)
        return lib.recv_all(s)
    except OSError:
        return None
    finally:
        s.close()


def post(rng, port, level, line):
    body = {"command": line.split("\n")[0]}
    if rng.random() < 0.2:
        body = {"commands": line.split(";")[:64]}
    elif "<<" not in body["command"] and rng.random() < 0.2:
        body["payload"] = line
    data = json.dumps(body).encode()
    s = lib.connect(port)
    try:
        s.sendall(b"POST /%s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
                  % (level.encode(), len(data), data))
        r = lib.Reader(s).response("POST")
        if r and r[0] == 200:
            json.loads(r[2].decode())
        return r and r[0]
    except OSError:
        return None
    finally:
        s.close()


def resident(proxy):
    with open("/proc/%d/status" % proxy.process.pid) as f:
        return int(re.search(r"VmRSS:\s*([0-9]+)", f.read()).group(1))


def snapshot(proxy, sockets):
    """What only an administrator may change."""
    out = []
    for line in proxy.ctl("show servers state").split("\n")[2:]:
        cells = line.split()
        out.append(cells[:9] if cells else cells)
    for what in ("show map %s/map" % sockets, "show acl %s/list" % sockets, "show servers conn"):
        out.append(re.sub(r"0x[0-9a-f]+", "", proxy.ctl(what)))
    out.append([(r["pxname"], r["svname"], r["status"].split()[0], r["slim"]) for r in proxy.stats().values()])
    return out


def level_holds(tap, proxy, sockets, port, args, level, words):
    names = ["%s/map" % sockets, "%s/list" % sockets, "events", "stderr", "s1", "fe", "be"]
    fuzz = Fuzz("%s %s" % (args.seed, level), words, names)
    before = snapshot(proxy, sockets)
    bad = []
    for i in range(args.rounds):
        line = fuzz.line()
        if i % 4:
            send(fuzz.rng, "%s/%s.sock" % (sockets, level), line)
        else:
            status = post(fuzz.rng, port, level, line)
            if status not in (200, 400, 413, None):
                bad.append((status, line))
        if i % 50 == 0 and not proxy.alive():
            break
    tap.ok(proxy.alive(), "%s: the process lives" % level, proxy.output()[-2000:])
    tap.eq(bad[:3], [], "%s: over HTTP, a JSON answer or a refusal" % level)
    if not proxy.alive():
        return
    after = snapshot(proxy, sockets)
    if level == "admin":
        tap.ok("Name: HAProxy" in proxy.ctl("show info"), "admin: it answers")
        tap.ok(after != before, "admin: the same commands do change something")
    else:
        tap.eq([x for x in after if x not in before][:3], [], "%s: nothing above the level was changed" % level)


def deaf(tap, proxy, sockets, args, words):
    """Who never reads: its session ends with its timeout, and holds little."""
    fuzz = Fuzz("%s deaf" % args.seed, [w for w in words if w.startswith("show")], ["%s/map" % sockets])
    before = resident(proxy)
    socks = []
    for _ in range(8):
        s = socket.socket(socket.AF_UNIX)
        s.connect("%s/user.sock" % sockets)
        s.setblocking(False)
        try:
            while True:
                s.send((fuzz.line() + "\n").encode("latin-1"))
        except OSError:
            socks.append(s)
    tap.ok("Name: HAProxy" in proxy.ctl("show info"), "deaf clients: others are served")
    tap.ok(resident(proxy) - before < 16384, "deaf clients: little memory", (before, resident(proxy)))
    for s in socks:
        s.close()


def main():
    args = lib.arguments(__doc__, ("seed", 1, "of the random commands"), ("rounds", 700, "lines for each level"))
    tap = lib.Tap()
    if lib.is_reference(args.program):
        tap.skip("all", "the API over HTTP is an extension")
        tap.done()
    port = lib.ports(1)[0]
    import shutil
    import tempfile
    sockets = tempfile.mkdtemp(prefix="hapf.")
    for name, text in (("map", "/a 1\n/b 2\n"), ("list", "10.0.0.1\n")):
        with open("%s/%s" % (sockets, name), "w") as f:
            f.write(text)
    try:
        with lib.Proxy(args.program, CONF.format(port=port, dir=sockets)) as proxy:
            # its first check ends when it will, and is no command's doing; the agent of s2 is not there: no change
            tap.ok(lib.until(lambda: proxy.stats()["be", "s1"]["status"] == "DOWN"), "s1 was checked")
            words = words_of(proxy)
            tap.ok(len(words) > 90, "help lists the commands", len(words))
            for level in LEVELS[:2]:
                level_holds(tap, proxy, sockets, port, args, level, words)
            deaf(tap, proxy, sockets, args, words)
            first = resident(proxy)
            level_holds(tap, proxy, sockets, port, args, "admin", words)
            second = resident(proxy) if proxy.alive() else 0
            tap.ok(second - first < 65536, "admin: bounded memory", (first, second))
    finally:
        shutil.rmtree(sockets)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
