#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Random settings of health checks and agents, in front of servers that follow a script check by check, on this program and the
reference: the same lines in the log in the same order, the same states and counts at the end. Without a reference there is
nothing to compare with, and the test is skipped.

    check_mixes.py --seed 7 --cases 120 --list      other mixes, more of them, all differences in full
    check_mixes.py --seed 7 --only 33               one of them, with its configuration
"""
import random
import re
import threading
import time

import lib

BATCH = 24      # backends of a configuration
CHECKS = 9      # that a server's script has; the last one stays
INTERVAL = "120ms"

# What a server does with one check: a name for the script, and what it sends (None: it closes at once)
OUTCOMES = {"ok": b"HTTP/1.0 200 OK\r\n\r\n", "moved": b"HTTP/1.0 302 Found\r\n\r\n", "gone": b"HTTP/1.0 404 Gone\r\n\r\n", "busy": b"HTTP/1.0 503 Busy\r\n\r\n", "word": b"HTTP/1.0 200 OK\r\nContent-Length: 4\r\n\r\ngood",
            "junk": b"HELLO\r\n\r\n", "close": None, "interim": b"HTTP/1.1 100 Go\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"}
AGENT = (b"up\n", b"down\n", b"ready\n", b"drain\n", b"50%\n", b"75% up\n", b"0%\n", b"stopped #gone home\n", b"fail\n", b"down #why not\n", b"up ready 20%\n", b"maxconn:7\n", b"\n", b"nonsense\n", b"100%, up\n",
         b"stopped\r\n", b"ready\n", b"up\n", b"300%\n", b"UP\n", b"up maxconn:3 10%\n", b"ready drain\n", b"down\tup\n", b"weight 3\n", b"-5%\n", b"up ready\n")
PROXY = ("option httpchk", "option httpchk GET /x", "option httpchk\n\thttp-check expect status 200", "option httpchk\n\thttp-check expect ! rstatus ^5", "option httpchk\n\thttp-check disable-on-404",
         "option httpchk\n\thttp-check expect string good", "option httpchk\n\thttp-check disable-on-404\n\thttp-check send-state", "option tcp-check\n\ttcp-check send GET\\ /\\r\\n\\r\\n\n\ttcp-check expect string 200",
         "option httpchk\n\thttp-check expect status 200-299,302", "option httpchk\n\thttp-check expect min-recv 4 status 200", "option httpchk\n\thttp-check expect status 200 ok-status L7OKC error-status L7RSP",
         "option httpchk\n\thttp-check expect status 404 on-error \"bad thing\" on-success fine", "")
SERVER = ("rise 1", "rise 2", "rise 3", "fall 1", "fall 2", "fall 3", "rise 2 fall 2", "init-state down", "init-state fully-down", "init-state up", "disabled", "backup", "weight 50", "weight 0", "slowstart 30s",
          "on-error mark-down", "on-error fastinter", "on-marked-down shutdown-sessions", "fastinter 30ms", "downinter 90ms", "error-limit 2", "observe layer4", "check-send-proxy")


class Script(lib.Server):
    """Follows its script, a step for each connection; the last step is repeated."""

    def __init__(self, steps, reads):
        self.steps, self.reads, self.at, self.lock = steps, reads, 0, threading.Lock()
        super().__init__(self.serve)

    def serve(self, sock):
        with self.lock:
            step = self.steps[min(self.at, len(self.steps) - 1)]
            self.at += 1
        if self.reads and step is not None:
            data = b""
            while b"\r\n\r\n" not in data:
                got = sock.recv(4096)
                if not got:
                    return
                data += got
        if step is not None:
            sock.sendall(step)


class Maker:
    def __init__(self, rng):
        self.rng = rng

    def server(self, number, may_track):
        """(words of the line, steps of its checks or None, steps of its agent or None)"""
        pick = self.rng.choice
        words = {w.split(" ")[0]: w for w in self.rng.sample(SERVER, pick((0, 1, 2, 3)))}
        checks = agent = None
        if may_track and self.rng.random() < 0.5:
            words = {w: words[w] for w in words if w not in ("init-state", "observe", "disabled")}
            words["track"] = "track @B/s1"
        else:
            if self.rng.random() < 0.7:
                words["check"] = "check inter " + INTERVAL
                run = [pick(("ok", "ok", "ok", "word", "gone", "busy", "junk", "close", "moved", "interim")) for _ in range(CHECKS)]
                # outcomes that last a while are what rise and fall are about
                checks = [OUTCOMES[o] for o in run for _ in range(pick((1, 1, 2, 3)))][:CHECKS]
            elif self.rng.random() < 0.8: # (of check and agent, which comes first is chance)
                words["agent"] = "agent-check agent-port @A%d agent-inter %s" % (number, INTERVAL)
                agent = [pick(AGENT) for _ in range(pick((1, 2, 4)))]
        return " ".join(words.values()), checks, agent

    def case(self, at):
        lines, servers, rules = [], [], self.rng.choice(PROXY)
        for i in range(self.rng.choice((1, 1, 2))):
            # (of two with checks of their own, which changes first is chance)
            # differs: check-tracker-start
            words, checks, agent = self.server(i, i and "init-state" not in servers[0][0] and (servers[0][1] or servers[0][2]))
            if i and (checks or agent is not None):
                continue
            rules = "option httpchk" if agent is not None else rules
            lines.append("server s%d 127.0.0.1:@S%d %s" % (i + 1, i, words.replace("@B", "be%d" % at)))
            servers.append((words, checks, agent))
        lines = ["backend be%d" % at, "mode http", rules] + lines
        lines = [l for group in lines for l in group.split("\n") if l]
        return [l if l.startswith("backend") else "\t" + l.strip() for l in lines], servers


HEAD = """	nbthread 1
	max-spread-checks 1000
	spread-checks 0
	log 127.0.0.1:@LOG format raw daemon
defaults
	mode http
	log global
	option log-health-checks
	timeout connect 2s
	timeout client 2s
	timeout server 2s
	timeout check 2s
	# differs: check-first-health
	default-server init-addr none
""".rstrip("\n").split("\n")
SHOWN = "status weight act bck chkfail chkdown check_status check_code check_desc last_chk agent_status agent_code agent_desc last_agt check_rise check_fall check_health agent_rise agent_fall agent_health hanafail tracked slim".split()


def masked(line):
    line = re.sub(r"check duration: \d+ms", "check duration: MS", line).replace(" (Connection reset by peer)", "")
    return re.sub(r"127\.0\.0\.1:\d+", "ADDRESS", line)


def states(proxy):
    """The rows of servers and backends, each taken while none of its checks runs: "* L7OK" and what goes with it is chance."""
    found = {}
    for _ in range(40):
        rows = [l.split(",") for l in proxy.ctl("show stat").split("\n") if l]
        names = [n.lstrip("# ") for n in rows[0]]
        for r in (dict(zip(names, r)) for r in rows[1:]):
            key = r["pxname"], r["svname"]
            if key not in found or found[key]["check_status"].startswith("*") or found[key]["agent_status"].startswith("*"):
                found[key] = r
        time.sleep(0.013)
    return list(found.values())


def run(program, conf, cases):
    """{case: [lines of the log, states at the end]}"""
    log, made, text = lib.Syslog(), {}, "\n".join(conf)
    for at, lines, servers in cases:
        scripts = []
        part = "\n".join(lines)
        for i, (_, checks, agent) in enumerate(servers):
            asks = "httpchk" in part or "tcp-check" in part # a connection alone may be gone before it is accepted
            s = Script(checks or [b""], bool(checks) and asks)
            part = part.replace("@S%d" % i, str(s.port))
            scripts.append((s, asks and "disabled" not in part and len(checks or ())))
            if agent is not None:
                a = Script(agent, False)
                part = part.replace("@A%d" % i, str(a.port))
                scripts.append((a, "disabled" not in part and len(agent)))
        text += "\n" + part
        made[at] = scripts
    result = {}
    with lib.Proxy(program, text.replace("@LOG", str(log.port)) + "\n") as proxy:
        # all scripts are through, and what they lead to has been seen
        lib.until(lambda: all(s.at > n + 6 for scripts in made.values() for s, n in scripts if n), timeout=30)
        time.sleep(0.5)
        log.settle()
        rows = states(proxy)
        for at, _, _ in cases:
            lines = [masked(l) for l in log.lines if re.search(r"\bbe%d\b" % at, l)]
            shown = ["%s %s" % (r["svname"], " ".join("%s=%s" % (n, r[n].replace("* ", "").replace(" (Connection reset by peer)", "")) for n in SHOWN)) for r in rows if r["pxname"] == "be%d" % at]
            result[at] = [lines, shown]
            if len(cases) == 1:
                print("\n".join([program] + lines))
    for scripts in made.values():
        for s, _ in scripts:
            s.close()
    log.close()
    return result


def by_server(lines):
    """What happens to two servers may come in any order; what happens to one, by check and by agent, too."""
    found = {}
    for l in lines:
        name = re.search(r"be\d+(/s\d)?", l)[0]
        kind = "agent" if "gent" in l.split("reason")[0] or "Agent" in l else "check"
        if not found.setdefault((name, kind), []) or found[name, kind][-1] != l: # the same again: how often is time's
            found[name, kind].append(l)
    return found


def batch(maker, _, tap, args, first):
    cases = []
    for at in range(first, first + BATCH):
        made, servers = maker.case(at)
        if not args.only or at == args.only:
            cases.append((at, made, servers))
    if not cases:
        return
    ours, theirs = (run(p, HEAD, cases) for p in (args.program, args.reference))
    found = []
    for at, lines, servers in cases:
        shown = "\n".join(["    " + l for l in lines] + ["    %r %r" % (c, a) for _, c, a in servers])
        a, b = by_server(ours[at][0]), by_server(theirs[at][0])
        for key in sorted(set(a) | set(b)):
            if a.get(key) != b.get(key):
                found.append("log of %s\n  ours      %s\n  reference %s\n%s" % (key, "\n            ".join(a.get(key, [])), "\n            ".join(b.get(key, [])), shown))
        if ours[at][1] != theirs[at][1]:
            found.append("state in case %d\n  ours      %s\n  reference %s\n%s" % (at, "\n            ".join(ours[at][1]), "\n            ".join(theirs[at][1]), shown))
    tap.ok(not found, "cases from %d" % first, "\n".join(found[:4]))
    if args.list or args.only:
        print("\n".join(found))


def main():
    lib.compare_generated(__doc__, Maker, lambda args, folder: None, batch, BATCH, seed=2, first=1, what="checks", more=[("only", 0, "this case alone")])


if __name__ == "__main__":
    lib.guarded(main)
