#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Every command of the Runtime API with every odd number, size, address and identifier at each place: the process lives
and answers. A number that does not fit is never taken for another one: what is said of N + 2^32 is not what is said of N.

differs: ctl-numbers
"""
import re
import shutil
import socket
import tempfile

import lib

CONF = """
    stats timeout 5s
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
    http-request deny if {{ src -f {dir}/list }}
    http-request set-header x %[path,map({dir}/map,none)]
    default_backend be
backend be
    balance roundrobin
    server s1 127.0.0.1:1
    server s2 127.0.0.1:1 check inter 60s
    server s3 127.0.0.1:1 agent-check agent-port 1 agent-inter 60s
"""
WRAP = 1 << 32
NUMBERS = [-1, 0, 1, 2, 255, 256, 65535, 65536, 99999, 1 << 20, 100000000, (1 << 31) - 1, 1 << 31, WRAP - 1, WRAP, WRAP + 1,
           99999999999, (1 << 63) - 1, 1 << 63, (1 << 64) - 1, 1 << 64, (1 << 64) + 1, 10 ** 30, -WRAP, -(1 << 63), -(10 ** 30)]
ODD = ["", "x", "1x", "0x", "0x1", "0xffffffff", "0xffffffffffffffff", "0x10000000000000001", "1e9", "1.5", "01", "+1", "-",
       "--1", "%", "100%", "-1%", "99999999999999999999%", "1k", "1g", "99999999999g", "1d", "99999999999d", "5us", "#", "@", "@@"]
# What stands before the number; each is tried with each command.
PLACES = ["", "be/s1", "be/s2", "be/s3", "be", "fe", "#1", "1", "{dir}/map", "{dir}/list", "events"]
SPELLINGS = ["%s", "#%s", "@%s", "be/#%s", "#%s/s1", "#%s/#1", "x:%s", "0x%s"]
# More words before the number than PLACES has.
MORE = ["set server be/s1 " + w for w in ("weight", "addr", "addr 127.0.0.1 port", "check-addr", "check-port", "agent-addr",
                                          "agent-port", "maxconn", "state", "health", "agent", "fqdn", "ssl", "agent-send")]
MORE += [m.replace("be/s1", "be/s2") for m in MORE] + [m.replace("be/s1", "be/s3") for m in MORE]
MORE += ["set rate-limit %s global" % w for w in ("connections", "sessions", "ssl-sessions", "http-compression")]
MORE += ["show stat", "show stat 1", "show stat 1 1", "show stat -1 4", "show sess older", "show sess", "show fd !l", "show fd c",
         "set timeout cli", "set anon on", "set anon global-key", "show profiling tasks", "show profiling all byaddr",
         "show profiling memory", "show pools byname", "show pools match x", "show map @", "clear map @", "commit map @",
         "add map @1 {dir}/map", "set map {dir}/map #", "set map {dir}/map", "del map {dir}/map #", "del acl {dir}/list #",
         "get map {dir}/map", "add acl @", "clear acl @", "show events events -w -n", "trace fd sink", "trace fd level",
         "debug dev hex 0x1000", "add server be/new 127.0.0.1:1 id", "add server be/new 127.0.0.1:1 weight",
         "add server be/new 127.0.0.1:1 maxconn", "add server be/new 127.0.0.1:1 inter", "set maxconn frontend fe"]
# These end, hold or change the process so that it cannot be asked any more; or wait.
LEFT_OUT = re.compile(r"(debug dev (exit|panic|loop|bug|warn|deadlock|delay|sched|stream|delinj|memstats|tkill|fd|close|exec|"
                      r"task|counters|check|tainted|sym|hash|write|delock)|_|reload|wait|shutdown frontend|disable frontend|"
                      r"quit|prompt|help|user|operator|expert-mode|experimental-mode|echo|show env|@)")
# (command, a number that it takes, what to ask then): N + 2^32 and N + 2^64 must not do what N does.
WRAPPED = [
    ("show fd {n}", 4, None), ("show stat {n} -1 -1", 3, None), ("show stat 3 {n} -1", 4, None), ("show stat 3 4 {n}", 2, None),
    ("show servers state #{n}", 3, None), ("show servers conn #{n}", 3, None), ("get weight be/#{n}", 1, None),
    ("get weight #{n}/s1", 3, None), ("set server be/s1 weight {n}", 7, "get weight be/s1"),
    ("set weight be/s1 {n}", 7, "get weight be/s1"), ("set maxconn server be/s1 {n}", 7, "show stat 3 4 1"),
    ("set server be/s1 addr 127.0.0.1 port {n}", 81, "show servers state be"), ("set maxconn frontend fe {n}", 7, "show stat 2 1 -1"),
    ("set server be/s2 check-port {n}", 81, "show servers state be"), ("set server be/s3 agent-port {n}", 81, "show servers state be"),
    ("set maxconn global {n}", 7, "show info"), ("set rate-limit sessions global {n}", 7, "show info"),
    ("set rate-limit connections global {n}", 7, "show info"), ("show acl #{n}", 0, None),
    ("show map @{n} {dir}/map", 1, None), ("show threads {n}", 1, None), ("show activity {n}", 1, None),
    ("set anon on {n}; show anon", 7, None),
]


def words_of(proxy):
    text = proxy.ctl("expert-mode on; experimental-mode on; help")
    found = set()
    for m in re.finditer(r"^  ([a-z_][a-z0-9_ @|-]*?)(?: [<\[{+(*].*| *:.*)$", text, re.M):
        found.update(one.strip() for one in m.group(1).split("|"))
    return sorted(w for w in found if w and not LEFT_OUT.match(w))


def ask(proxy, lines):
    """Sends them on one connection, in the interactive mode; returns all answers. None: broken."""
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(lib.PATIENCE)
    try:
        s.connect(proxy.ctl_path)
        s.sendall(("prompt i\nexpert-mode on\nexperimental-mode on\n" + "\n".join(lines) + "\n").encode("latin-1"))
        s.shutdown(socket.SHUT_WR)
        return lib.recv_all(s)
    except OSError:
        return None
    finally:
        s.close()


def try_commands(proxy, lines, size=60):
    """False: one of them ended the process; the shortest run of lines that did is printed."""
    for i in range(0, len(lines), size):
        part = lines[i:i + size]
        ask(proxy, part)
        if not proxy.alive() or not proxy.ctl("show version"):
            print("# it ended after one of: " + "; ".join(part)[:2000])
            return False
    return True


def every_command(tap, proxy, folder):
    """Identifiers are tried with the commands that look one up, numbers with all."""
    words = words_of(proxy)
    more = [m.replace("{dir}", folder) for m in MORE]
    tap.ok(len(words) > 70, "help lists the commands", len(words))
    places = [p.replace("{dir}", folder) for p in PLACES]
    texts = [str(n) for n in NUMBERS]
    for group, values in (("numbers", texts), ("odd texts", ODD)):
        lines = [" ".join(x for x in (w, p, v) if x) for w in words for p in places for v in values]
        tap.ok(try_commands(proxy, lines), "%d commands with %s" % (len(lines), group), proxy.output()[-2000:])
    lines = ["%s %s" % (w, form % n) for w in words for form in SPELLINGS for n in texts]
    tap.ok(try_commands(proxy, lines), "%d commands with identifiers" % len(lines), proxy.output()[-2000:])
    lines = [m + ("" if m.endswith(("@", "#")) else " ") + v for m in more for v in texts + ODD]
    tap.ok(try_commands(proxy, lines), "%d longer commands" % len(lines), proxy.output()[-2000:])
    tap.ok("Name: HAProxy" in proxy.ctl("show info"), "it still answers")


def settings(text):
    """Of `show info`, what commands change; other texts whole."""
    found = [l for l in text.split("\n") if re.match(r"Maxconn:|\w+Limit:", l)]
    return "\n".join(found) if found else text


def said_of(program, conf, command, look):
    """What a new process says of <command>, and to <look>. Without that, figures are left out: they change."""
    with lib.Proxy(program, conf) as proxy:
        text = proxy.ctl(command)
        text = text + settings(proxy.ctl(look)) if look else re.sub(r"0x[0-9a-f]+|\d+", "N", text)
        return text if proxy.alive() else "it ended"


def nothing_wraps(tap, conf, program, folder):
    for command, n, look in WRAPPED:
        said = [said_of(program, conf, command.replace("{dir}", folder).format(n=value), look)
                for value in (n, n + WRAP, n + (1 << 64))]
        tap.ok(said[0] not in said[1:], command + " does not wrap", said)


def main():
    args = lib.arguments(__doc__)
    tap = lib.Tap()
    if lib.is_reference(args.program):
        tap.skip("all", "some of these commands end the reference, others take a number for another one")
        tap.done()
    folder = tempfile.mkdtemp(prefix="hapn.")
    for name, text in (("map", "/a 1\n/b 2\n"), ("list", "10.0.0.1\n")):
        with open("%s/%s" % (folder, name), "w") as f:
            f.write(text)
    conf = CONF.format(port=lib.ports(1)[0], dir=folder)
    try:
        with lib.Proxy(args.program, conf) as proxy:
            every_command(tap, proxy, folder)
        nothing_wraps(tap, conf, args.program, folder)
    finally:
        shutil.rmtree(folder)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
