# SPDX-License-Identifier: GPL-2.0-or-later
"""Random steps for stateful.py: lines as its scripts have them. Each group is a function that takes the random numbers
and returns one step; GROUPS says how often each is chosen. Not among them is what changes a limit or a port here and not
there (rows ctl-values, ctl-addresses and server-state-port of tests/differences.txt): all that follows would differ."""

SERVERS = ["rr/s1", "rr/s2", "rr/s3", "lc/a1", "lc/a2", "ch/h1", "ch/h2", "ch/h3", "ck/c1", "ck/c2", "ck/c3", "tr/t1", "tr/t2",
           "tr/t3"]
DYNAMIC = ["dy/d1", "dy/d2", "dy/d3", "rr/n1", "lc/n2", "ck/n3", "ch/n4"]
WRONG = ["rr/none", "none/s1", "rr", "rr/", "/s1", "rr/s1/x", "fe/first"]
BACKENDS = ["rr", "lc", "ch", "ck", "tr", "dy"]
MAPS = ["str.map", "beg.map", "ip.map", "int.map", "reg.map", "num.map"]
ACLS = ["ips.acl", "paths.acl"]
KEYS = {"ip": ["10.0.0.1", "10.1.0.0/16", "10.0.0.0/8", "1.2.3.4", "::1", "2001:db8::/32", "10.1.2.3", "bad", "0.0.0.0/0"],
        "int": ["1", "5", "1:5", "0", "-1", "100:", ":3", "x"],
        "reg": ["^/a.*", "b$", "x", "(", "."], "str": ["/a", "/b", "/c", "/ab", "/", "/new", "a b"]}
VALUES = ["1", "two", "-3", "long-value", "x,y", "99999999999"]


def server(r):
    roll = r.random()
    return r.choice(SERVERS if roll < 0.7 else DYNAMIC if roll < 0.95 else WRONG)


def state(r):
    s = server(r)
    return "ctl " + r.choice([
        "set server %s state " % s + r.choice(["ready", "drain", "maint", "ready", "drain", "maint", "other"]),
        "set server %s health " % s + r.choice(["up", "stopping", "down", "other"]),
        "set server %s agent " % s + r.choice(["up", "down", "other"]),
        "enable server " + s, "disable server " + s, "enable health " + s, "disable health " + s,
        "enable agent " + s, "disable agent " + s, "shutdown sessions server " + s])


def setting(r):
    s = server(r)
    weight = r.choice(["0", "1", "5", "20", "50%", "100%", "200%", "0%", "256", "257", "-1", "x", "%", "2000%"])
    return "ctl " + r.choice([
        "set server %s weight %s" % (s, weight), "set weight %s %s" % (s, weight), "get weight " + s,
        "set server %s addr 127.0.0.1 port {o%d}" % (s, r.randrange(1, 5)),
        "set server %s addr 127.0.0.%d" % (s, r.randrange(1, 3)),
        "set server %s addr %s" % (s, r.choice(["::1", "bad", "127.0.0.1 port", "127.0.0.1 port x", "127.0.0.1 foo"])),
        "set server %s check-port %s" % (s, r.choice(["{o1}", "{o2}", "x", "99999"])),
        "set server %s check-addr %s" % (s, r.choice(["bad", "bad port {o1}"])),
        "set server %s agent-port %s" % (s, r.choice(["{g1}", "{g2}", "x"])),
        "set server %s agent-addr %s" % (s, r.choice(["127.0.0.1", "127.0.0.1 port {g1}", "bad"])),
        "set server %s agent-send %s" % (s, r.choice(["hello", "", "a b"])),
        "set server %s fqdn host.example" % s, "set server %s ssl %s" % (s, r.choice(["on", "off", "x"])),
        "set maxconn server %s %s" % (s, r.choice(["0", "1", "3", "100", "x"])), "set server %s" % s,
        "set server %s other" % s])


# ("track" of a server in maintenance: row server-added-track; "disabled" is what they are; with "check" the reference never checks them: row server-added-disabled)
OPTIONS = ["weight 5", "weight 0", "check", "check inter 40ms", "check port {o1}", "maxconn 2", "backup",
           "enabled", "cookie dd", "agent-check agent-port {g1} agent-inter 40ms", "check addr 127.0.0.1",
           "observe layer4", "slowstart 1s", "id 50", "id 1", "guid g1", "ssl verify none", "minconn 1", "maxqueue 1", "init-addr none",
           "pool-max-conn 2", "send-proxy", "check fall 1 rise 1", "error-limit 2", "on-error mark-down"]


def dynamic(r):
    s = r.choice(DYNAMIC * 4 + SERVERS + WRONG)
    roll = r.random()
    if roll < 0.45:
        words = " ".join(r.sample(OPTIONS, r.choice([0, 1, 1, 2, 3])))
        return ("ctl add server %s 127.0.0.1:{o%d} %s" % (s, r.randrange(1, 5), words)).rstrip()
    if roll < 0.75:
        return "ctl " + r.choice(["enable server ", "enable server ", "enable health ", "enable agent ", "disable server "]) + s
    if roll < 0.95:
        return "ctl del server " + s
    return "ctl wait 20ms srv-removable " + s


def pattern(r, name):
    kind = name.split(".")[0]
    kind = {"ips": "ip", "ip": "ip", "int": "int", "reg": "reg"}.get(kind, "str")
    return r.choice(KEYS[kind])


def maps(r):
    name = r.choice(MAPS)
    f = "{dir}/" + name
    key, value = pattern(r, name), r.choice(VALUES)
    at = "@%d " % r.randrange(0, 5)
    esc = key.replace(" ", "\\ ")
    return "ctl " + r.choice([
        "add map %s %s %s" % (f, esc, value), "add map %s %s %s" % (f, esc, value), "set map %s %s %s" % (f, esc, value),
        "del map %s %s" % (f, esc), "get map %s %s" % (f, esc), "show map " + f, "clear map " + f, "prepare map " + f,
        "prepare map " + f, "add map %s%s %s %s" % (at, f, esc, value), "add map %s%s %s %s" % (at, f, esc, value),
        "commit map %s%s" % (at, f), "show map %s%s" % (at, f), "clear map %s%s" % (at, f),
        "del map %s #{ref map %s %d}" % (f, name, r.randrange(4)), "set map %s #{ref map %s %d} %s" % (f, name, r.randrange(4), value),
        "add map %s <<\\n%s\\n%s %s\\n" % (f, "\\n".join("%s %s" % (k, r.choice(VALUES)) for k in r.sample(KEYS["str"][:6], 2)), key, value),
        "add map %s%s <<\\n%s %s\\n" % (at, f, key, value), "del map %s #0x1" % f, "set map %s %s" % (f, esc), "add map %s" % f,
        "show map", "add map {dir}/none x y", "get map " + f])


def acls(r):
    name = r.choice(ACLS)
    f = "{dir}/" + name
    key = pattern(r, name).replace(" ", "\\ ")
    at = "@%d " % r.randrange(0, 5)
    return "ctl " + r.choice([
        "add acl %s %s" % (f, key), "add acl %s %s" % (f, key), "del acl %s %s" % (f, key), "get acl %s %s" % (f, key),
        "show acl " + f, "clear acl " + f, "prepare acl " + f, "add acl %s%s %s" % (at, f, key), "commit acl %s%s" % (at, f),
        "clear acl %s%s" % (at, f), "show acl %s%s" % (at, f), "del acl %s #{ref acl %s %d}" % (f, name, r.randrange(4)),
        "add acl %s <<\\n%s\\n" % (f, key), "show acl", "add acl " + f, "del acl %s #0x1" % f])


def request(r):
    path = r.choice(["/a", "/b", "/c", "/ab", "/abc", "/deny", "/new", "/x"])
    fields = []
    if r.random() < 0.7:
        fields.append("x-be=" + r.choice(BACKENDS))
    if r.random() < 0.3:
        fields.append("x-ip=" + r.choice(["10.0.0.1", "10.1.2.3", "1.2.3.4", "::1"]))
    if r.random() < 0.2:
        fields.append("x-int=" + r.choice(["1", "3", "100", "-1"]))
    if r.random() < 0.5:
        fields.append("k=%d" % r.randrange(8))
    if r.random() < 0.2:
        fields.append("cookie=SRV=" + r.choice(["one", "two", "dd", "none"]))
    return " ".join(["get", r.choice(["port"] * 5 + ["port2"]), path] + fields)


def held(r):
    n = r.randrange(4)
    if r.random() < 0.5:
        return "release %d" % n
    return "hold %d x-be=%s k=%d" % (n, r.choice(["rr", "lc", "ch", "ck"]), r.randrange(8))


def health(r):
    if r.random() < 0.5:
        return "health o%d %s" % (r.randrange(1, 4), r.choice(["up", "up", "503", "closed", "500", "404"]))
    return "agent g%d %s" % (r.randrange(1, 3), r.choice([
        "up", "up", "ready", "drain", "maint", "down", "stopped", "fail", "up 50%", "75%", "0%", "100%", "ready up 100%", "down #why",
        "maxconn:3", "other", "closed", "up ready", "drain 20%"]))


def whole(r):
    b = r.choice(BACKENDS + ["none", "fe"])
    f = r.choice(["fe2", "fe2", "fe2", "fe", "rr", "none"])
    return "ctl " + r.choice([
        "disable frontend fe2", "enable frontend fe2", "enable frontend fe2", "set maxconn frontend %s %s" % (f, r.choice(["5", "50"])),
        "set maxconn global %s" % r.choice(["100", "200", "0"]), "clear counters", "clear counters all",
        "show backend", "show errors " + b,
        "enable dynamic-cookie backend " + b, "disable dynamic-cookie backend " + b, "set dynamic-cookie-key backend %s k%d" % (b, r.randrange(3)),
        "set rate-limit sessions global %s" % r.choice(["0", "1000"]), "set rate-limit connections global 0",
        "set var proc.one %s" % r.choice(["str(a)", "int(3)", "fmt a%[int(2)]", "expr str(z)", "bad(", ""]), "set var proc.two fmt x",
        "get var proc.one", "get var proc.two", "get var proc.none", "get var other",
        "operator; set server rr/s1 weight 10", "user; show map", "user; get weight rr/s1", "operator; show cli level", "user; clear counters",
        "set timeout cli 10s", "echo some words", "show cli sockets x", "get weight x"])


GROUPS = [(state, 20), (setting, 14), (dynamic, 16), (maps, 16), (acls, 6), (request, 22), (held, 8), (health, 8), (whole, 8)]


def sequence(r, length, groups=None, reloads=0.01):
    groups = groups or GROUPS
    functions, weights = zip(*groups)
    out = []
    for _ in range(length):
        if r.random() < reloads:
            out.append("reload")
        else:
            out.append(r.choices(functions, weights)[0](r))
    return out
