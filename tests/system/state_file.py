#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# differs: server-state-stopping
"""server-state-file: what a process has left in a file is found again by the next one; files that
are wrong are told and not applied.
"""
import os
import shutil
import tempfile

import lib

CONF = """
	{glob}
defaults
	mode http
	timeout connect 1s
	timeout client 1s
	timeout server 1s
frontend fe
	bind 127.0.0.1:{fe}
backend be
	{load}
{servers}
"""
HEAD = ("1\n# be_id be_name srv_id srv_name srv_addr srv_op_state srv_admin_state srv_uweight "
        "srv_iweight srv_time_since_last_change srv_check_status srv_check_result srv_check_health "
        "srv_check_state srv_agent_state bk_f_forced_id srv_f_forced_id srv_fqdn srv_port srvrecord "
        "srv_use_ssl srv_check_port srv_check_addr srv_agent_addr srv_agent_port\n")


class Scene:
    def __init__(self, args, glob, load, disabled=()):
        servers = "\n".join("\tserver s%d 127.0.0.1:2%s" % (i, " disabled" * (i in disabled))
                            for i in range(1, 7))
        self.proxy = lib.Proxy(args.program, CONF.format(glob=glob, load=load, servers=servers,
                                                         fe=lib.ports(1)[0]))

    def __enter__(self):
        return self.proxy

    def __exit__(self, *exc):
        self.proxy.__exit__()


def states(proxy):
    """{server: (operational state, administrative state, weight, initial weight, port)}"""
    out = {}
    for line in proxy.ctl("show servers state be").split("\n")[2:]:
        f = line.split()
        if f:
            out[f[3]] = (f[5], f[6], f[7], f[8], f[18])
    return out


def line(name, oper="2", admin="0", weight="1", initial="1", port="2", age="500"):
    return "3 be 1 %s 127.0.0.1 %s %s %s %s %s 1 0 2 0 0 0 0 - %s - 0 0 - - 0\n" % (
        name, oper, admin, weight, initial, age, port)


FRESH = ("2", "0", "1", "1", "2")


def kept(tap, args, folder):
    path = os.path.join(folder, "all")
    load = "load-server-state-from-file global\n\tdefault-server fall 1"
    with Scene(args, "", "") as p:
        for command in ("set server be/s1 weight 7", "disable server be/s2",
                        "set server be/s3 state drain", "set server be/s4 addr 127.0.0.1 port 99",
                        "set server be/s5 health down", "set server be/s6 health stopping"):
            p.ctl(command)
        left = p.ctl("show servers state")
    with open(path, "w") as f:
        f.write(left.strip() + "\n")
    with Scene(args, "server-state-file " + path, load) as p:
        got = states(p)
    tap.eq(got["s1"], ("2", "0", "7", "1", "2"), "the weight is kept")
    tap.eq(got["s2"], ("0", "1", "1", "1", "2"), "maintenance is kept")
    tap.eq(got["s3"], ("2", "8", "1", "1", "2"), "drain is kept")
    tap.eq(got["s4"], ("2", "0", "1", "1", "99"), "the port is kept")
    tap.eq(got["s5"][0], "0", "a server without checks that is down stays down")
    tap.eq(got["s6"][0], "0" if lib.is_reference(args.program) else "3", "one that stops goes on stopping")
    with Scene(args, "server-state-file " + path, "load-server-state-from-file none") as p:
        tap.eq(set(states(p).values()), {FRESH}, "none: nothing is loaded")


def rules(tap, args, folder):
    path = os.path.join(folder, "be")
    with open(path, "w") as f:
        f.write(HEAD + line("s1", weight="7", initial="3") + line("s2", admin="0") +
                line("s3", oper="0", admin="5") + line("s4", admin="9", weight="4") +
                line("s5", weight="300") + line("unknown") + line("s6", weight="0"))
    for name in ("", "server-state-file-name use-backend-name", "server-state-file-name be",
                 "server-state-file-name " + path):
        with Scene(args, "server-state-base " + folder,
                   "load-server-state-from-file local\n\t" + name, (2,)) as p:
            got, out = states(p), p.output()
        tap.eq(got["s1"][2:4], ("1", "1"), name + ": a weight of another file is not taken")
        tap.eq(got["s2"][1], "5", name + ": `disabled` of the file wins")
        tap.eq(got["s3"][1], "0", name + ": `disabled` of the old file is not taken")
        tap.eq(got["s4"], FRESH, name + ": impossible state: not applied")
        tap.eq(got["s5"], FRESH, name + ": impossible weight: not applied")
        tap.eq(got["s6"][2], "0", name + ": weight 0")
        tap.ok("invalid srv_admin_state value '9'" in out, name + ": told so", out)
        tap.ok("invalid srv_uweight value '300'" in out, name + ": told so", out)


def wrong(tap, args, folder):
    path = os.path.join(folder, "x")
    load = "load-server-state-from-file global"
    for text, message in ((HEAD + line("s1", weight="9") + "garbage\n", "corrupted global server "
                           "state file '%s' at line 3." % path),
                          ("2" + HEAD[1:] + line("s1", weight="9"), "Can't get version of the "
                           "global server state file '%s'." % path),
                          ("", "Empty global server state file '%s'." % path),
                          (None, "Can't open global server state file '%s'" % path)):
        if os.path.exists(path):
            os.unlink(path)
        if text is not None:
            with open(path, "w") as f:
                f.write(text)
        with Scene(args, "server-state-file " + path, load) as p:
            tap.eq(set(states(p).values()), {FRESH}, message[:30] + ": not applied")
            tap.ok(message in p.output(), message[:30] + ": told so", p.output())


def addresses(tap, args, folder):
    """An address that was changed at run time is kept, unless init-addr has another order."""
    path = os.path.join(folder, "addresses")
    conf = CONF.replace("{servers}", "\tserver s1 localhost:2{s1}\n\tserver s2 127.0.0.1:2")
    load = "load-server-state-from-file global"

    def run(glob, s1):
        return lib.Proxy(args.program, conf.format(glob=glob, load=load, fe=lib.ports(1)[0], s1=s1))

    def address_of(proxy, name):
        return next(f[4] for f in map(str.split, proxy.ctl("show servers state be").split("\n")[2:]) if f and f[3] == name)
    with run("", " init-addr 127.0.0.3") as p:
        tap.eq(address_of(p, "s1"), "127.0.0.3", "init-addr: an address")
        p.ctl("set server be/s1 addr 127.0.0.5")
        p.ctl("set server be/s2 addr 127.0.0.6")
        with open(path, "w") as f:
            f.write(p.ctl("show servers state").strip() + "\n")
    for s1, want in (("", "127.0.0.5"), (" init-addr last,127.0.0.3", "127.0.0.5"), (" init-addr 127.0.0.3,last", "127.0.0.3")):
        with run("server-state-file " + path, s1) as p:
            tap.eq(address_of(p, "s1"), want, "load-server-state-from-file: the address of a name, with '%s'" % s1)
            tap.eq(address_of(p, "s2"), "127.0.0.1", "load-server-state-from-file: the address of a line that has one is the line's")


def main():
    args = lib.arguments(__doc__)
    tap = lib.Tap()
    folder = tempfile.mkdtemp(prefix="hapt.")
    try:
        for part in (kept, rules, addresses, wrong):
            part(tap, args, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
