#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Files of more than one hand (extensions): shares of use_backends that move at run time and outlive a reload."""
import collections
import re
import subprocess

import lib

HEAD = """global
    reload-mode in-process
defaults
    mode http
    timeout connect 1s
    timeout client 5s
    timeout server 5s
"""
CANARY = HEAD + """frontend web
    bind 127.0.0.1:{port}
    use_backends stable:90 canary:10 by req.hdr(x-user) if {{ path /key }}
    use_backends stable:90 canary:10 unless {{ path /other }}
    use_backends stable:90 canary:10 by req.hdr(x-user) if {{ path /other }}
backend stable
    http-request return status 200 hdr x-name stable
backend canary
    http-request return status 200 hdr x-name canary
"""
USERS = 400


def ask(port, paths_and_users):
    """The backends that answer, over one connection."""
    names = []
    with lib.connect(port) as s:
        reader = lib.Reader(s)
        for path, user in paths_and_users:
            s.sendall(b"GET %s HTTP/1.1\r\nHost: x\r\nx-user: %s\r\n\r\n" % (path.encode(), user.encode()))
            names.append(reader.response()[1].get("x-name", ""))
    return names


def users(port, path):
    return ask(port, [(path, "user%d" % i) for i in range(USERS)])


def weights(proxy):
    return re.findall(r"^web/(\d) (\w+) (\d+) (\d+) (\d+) ", proxy.ctl("show use_backends web"), re.M)


def change_port(proxy, old, new):
    with open(proxy.conf_path) as f:
        text = f.read()
    with open(proxy.conf_path, "w") as f:
        f.write(text.replace(old, new))


def shares(tap, args):
    port = lib.ports(1)[0]
    with lib.Proxy(args.program, CANARY.format(port=port)) as proxy:
        before = users(port, "/key")
        tap.ok(0 < before.count("canary") < USERS // 4, "users are shared by weight", collections.Counter(before))
        tap.eq(users(port, "/key"), before, "users stay where they are")
        chance = [users(port, "/") for _ in range(2)]
        tap.ok(chance[0] != chance[1] and 0 < chance[0].count("canary") < USERS // 4, "by chance", chance[0])
        proxy.ctl("set use_backends web/1 stable:50 canary:50")
        after = users(port, "/key")
        tap.ok(all(b == "canary" for a, b in zip(before, after) if a == "canary"), "none leaves the backend that gains")
        tap.ok(USERS // 4 < after.count("canary") < USERS * 3 // 4, "the share has grown", collections.Counter(after))
        tap.eq(users(port, "/other"), before, "another rule is as it was")
        proxy.ctl("set use_backends web/2 canary:90")
        counts = {(n, name): int(c) for n, name, _, _, c in weights(proxy)}
        tap.eq(counts["1", "stable"] + counts["1", "canary"], 3 * USERS, "what each backend got is counted")
        proxy.ctl("reload")
        tap.eq([int(w) for _, _, w, _, _ in weights(proxy)], [50, 50, 90, 90, 90, 10],
               "a reload keeps the weights, of each rule its own")
        tap.eq(users(port, "/key"), after, "and the users where they are")
        change_port(proxy, "canary:10 by req.hdr(x-user) if { path /key", "canary:20 by req.hdr(x-user) if { path /key")
        proxy.ctl("reload")
        tap.eq([int(w) for _, _, w, _, _ in weights(proxy)], [90, 20, 90, 90, 90, 10],
               "a rule that the file has changed has the file's weights")


def chain(tap, args):
    """Rulesets that use one another, as far as that goes."""
    for n, status in (63, 0), (5000, 1):
        text = "".join("ruleset r%d\n\tuse-ruleset r%d\n" % (i, i + 1) for i in range(n))
        text += ("ruleset r%d\n\thttp-request deny\ndefaults\n\tmode http\n\ttimeout connect 1s\n\ttimeout client 1s\n\ttimeout server 1s\n"
                 "frontend f\n\tbind 127.0.0.1:1\n\tuse-ruleset r0\n") % n
        r = subprocess.run([args.program, "-c", "-f", "/dev/stdin"], input=text.encode(), stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, timeout=6 * lib.PATIENCE)
        tap.eq((r.returncode, b"more than 64 rulesets use one another" in r.stdout), (status, bool(status)),
               "a chain of %d rulesets" % (n + 1))


def main():
    args = lib.arguments(__doc__)
    tap = lib.Tap()
    if lib.is_reference(args.program):
        tap.skip("all", "an extension")
        tap.done()
    tap.attempt("shares", shares, tap, args)
    tap.attempt("chain", chain, tap, args)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
