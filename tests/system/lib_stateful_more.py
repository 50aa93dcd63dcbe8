# SPDX-License-Identifier: GPL-2.0-or-later
"""Further random steps for stateful.py: certificates, authorities, revocation lists and crt-lists with handshakes that use
them; stick tables; backends that come and go; sessions that are shut; limits; and every other command, of which only
whether it fails is compared, since what it shows is of one program. make() is to be called once, World gets MORE and
the folder of files."""
import os
import shutil

import lib_stateful_ops as ops
import tls_commands

CONF = """frontend tls
    bind 127.0.0.1:{tls} name three ssl crt-list {dir}/list
    bind 127.0.0.1:{tls2} name four ssl crt {dir}/one.pem ca-file {dir}/ca.crt verify optional crl-file {dir}/crl.pem tls-ticket-keys {dir}/tickets
    http-request track-sc0 req.hdr(x-t) table tb
    http-request track-sc1 src table ti
    http-request sc-set-gpt0(0) req.hdr(x-gpt) if {{ req.hdr(x-gpt) -m found }}
    http-request set-var(txn.be) req.hdr(x-be)
    http-request del-header x-be
    use_backend %[var(txn.be)] if {{ var(txn.be) -m len gt 0 }}
    default_backend answer
backend answer
    http-request return status 200 content-type text/plain lf-string "%[ssl_fc_sni] %[ssl_c_verify] %[ssl_c_s_dn(cn)] %[ssl_fc_has_crt]"
backend ts
    balance roundrobin
    server v 127.0.0.1:{tls2} ssl ca-file {dir}/ca.crt verify required verifyhost one.example.com crt {dir}/client.pem
    server w 127.0.0.1:{tls} ssl verify none sni str(two.example.com)
backend tb
    stick-table type string len 20 size 200 store gpc0,gpc1,gpt0,http_req_cnt,conn_cnt,server_id
backend ti
    stick-table type ip size 200 store gpc(2),gpt(2),http_err_cnt,bytes_in_cnt
defaults named
    mode http
    timeout connect 2s
    timeout client 20s
    timeout server 20s
"""
GLOBAL = """
    ssl-default-bind-options ssl-min-ver TLSv1.2
"""
FILES = ("one.pem", "two.pem", "one.crt", "two.crt", "client.pem", "list.pem", "ca.crt", "ca2.crt", "crl.pem", "one.pem.ocsp",
         "one.key", "two.key")
CERTS = ["{dir}/one.pem", "{dir}/two.pem", "{dir}/list.pem", "{dir}/client.pem", "new1", "new2"]
NAMES = ["one.example.com", "two.example.com", "a.example.com", "not.example.com", "other.test", "list.example.com", "-"]


def make(folder):
    """Certificates and keys, for all sequences."""
    tls_commands.make(folder)
    with open(os.path.join(folder, "tickets"), "w") as out:
        for c in "abc":
            out.write(c * 64 + "\n")


def place(folder, to):
    """The files in the folder of a world."""
    for name in FILES + ("tickets",):
        shutil.copy(os.path.join(folder, name), to)
    with open(os.path.join(to, "list"), "w") as out:
        out.write("{0}/list.pem [alpn h2,http/1.1] *.example.com !not.example.com\n{0}/two.pem\n".format(to))


def payload(name):
    return "<<\\n{file %s}\\n" % name


def transaction(r):
    """One file at a time: the reference has one transaction of a kind for all (row tls-transactions)."""
    kind = r.choice(["cert", "cert", "cert", "ca-file", "crl-file"])
    if kind == "cert":
        f = r.choice(CERTS)
        texts = ["one.pem", "two.pem", "one.pem", "two.pem", "list.pem", "client.pem"]
    else:
        f = r.choice(["{dir}/ca.crt", "{dir}/ca2.crt", "new1"] if kind == "ca-file" else ["{dir}/crl.pem", "newcrl"])
        texts = ["ca.crt", "ca2.crt"] if kind == "ca-file" else ["crl.pem"]
    steps = ["set ssl %s %s %s" % (kind, f, payload(r.choice(texts)))]
    if kind == "ca-file" and r.random() < 0.4:
        steps.append("add ssl ca-file %s %s" % (f, payload(r.choice(texts))))
    if r.random() < 0.2:
        steps.append("set ssl %s %s %s" % (kind, f, payload(r.choice(texts))))
    if r.random() < 0.4 and not f.startswith("new"):
        steps.append("show ssl %s *%s" % (kind, f))
    steps.append("%s ssl %s %s" % (r.choice(["commit", "commit", "abort"]), kind, f))
    if steps[-1].startswith("commit"):
        steps.append("abort ssl %s %s" % (kind, f))
    return "seq " + " | ".join(steps)


CRT_OPTIONS = ["", "", "[ca-file {dir}/ca.crt verify optional]", "[ca-file {dir}/ca2.crt]", "[crl-file {dir}/crl.pem]", "[verify none]",
               "[ca-verify-file {dir}/ca.crt]", "[alpn http/1.1]", "[ssl-min-ver TLSv1.3]", "[bad]", "[ca-file {dir}/none]",
               "[alpn]", "[verify bad]", "[verify none]]", "]", "[curves X25519]", "[ciphersuites TLS_AES_128_GCM_SHA256]", "[no-alpn]"]


def certificates(r):
    f, kind = r.choice(CERTS), r.choice(["cert", "cert", "cert", "ca-file", "crl-file"])
    roll = r.random()
    if roll < 0.4:
        return transaction(r)
    if roll < 0.6:
        options = r.choice(CRT_OPTIONS)
        f = "{dir}/one.pem" if "ad]" in options or options in ("[alpn]", "[verify none]]", "]") or "ca2" in options or "none]" in options else f    # one mistake at a time
        line = " ".join([f] + [w for w in [options] if w] + r.choice([[], ["list.example.com"], ["*.list.test", "!other.test"]]))    # (no name of another: row tls-renewed-order)
        return "ctl " + r.choice(["add ssl crt-list {dir}/list <<\\n%s\\n" % line] * 3 + [
            "add ssl crt-list {dir}/list " + f, "del ssl crt-list {dir}/list " + f, "del ssl crt-list {dir}/list " + f,
            "del ssl crt-list {dir}/none " + f])
    n = r.choice(["new1", "new2", "{dir}/one.pem", "{dir}/client.pem", "{dir}/ca.crt", "none"])
    new = "newcrl" if kind == "crl-file" else r.choice(["new1", "new2"])    # (row tls-kinds-of-files)
    return "ctl " + r.choice([
        "new ssl %s %s" % (kind, new), "new ssl %s %s" % (kind, new),
        "del ssl %s %s" % (kind, "newcrl" if kind == "crl-file" and "new" in n else n), "show ssl " + kind, "show ssl cert " + f, "show ssl crt-list", "show ssl crt-list -n {dir}/list",
        "show ssl ca-file {dir}/ca.crt", "show ssl crl-file {dir}/crl.pem", "show ssl sni -f tls", "show ssl sni",
        "dump ssl cert " + r.choice(["{dir}/one.pem", "none", f]), "show ssl jwt", "add ssl jwt " + r.choice(CERTS),
        "del ssl jwt " + r.choice(CERTS), "show ssl ocsp-response", "show ssl ocsp-response {dir}/one.pem",
        "show ssl ocsp-updates", "update ssl ocsp-response {dir}/two.pem", "set ssl ocsp-response {base64 one.crt}", "show tls-keys", "show tls-keys {dir}/tickets",
        "set ssl tls-key {dir}/tickets " + r.choice(["Y" * 64, "x"]), "set ssl tls-key #0 " + "Z" * 64, "show tls-keys *",
        "update ssl ocsp-response none"])


def handshake(r):
    if r.random() < 0.25:
        return "tls tls /x - x-be=ts"
    fields = ["x-t=k%d" % r.randrange(4)] if r.random() < 0.5 else []
    if r.random() < 0.2:
        fields.append("x-gpt=%d" % r.randrange(99))
    return " ".join(["tls", r.choice(["tls", "tls", "tls2"]), "/", r.choice(NAMES),
                     "client=" + r.choice(["", "", "client.pem", "list.pem"])] + fields)


def tables(r):
    t = r.choice(["tb"] * 3 + ["ti"] * 2 + ["none", "rr"])
    key = r.choice(["k0", "k1", "k2", "new", "a\\ b"] if t == "tb" else ["127.0.0.1", "10.0.0.1", "::1", "bad"])
    data = r.choice(["gpc0", "gpc1", "gpt0", "http_req_cnt", "conn_cnt", "http_err_cnt", "bytes_in_cnt", "gpc[1]", "gpc[9]", "gpt[0]",
                     "server_id", "bad"])
    value = r.choice(["0", "1", "5", "77", "-1", "x", "4294967296"])
    op = r.choice(["gt", "eq", "lt", "ge", "le", "ne", "bad"])
    return "ctl " + r.choice([
        "set table %s key %s data.%s %s" % (t, key, data, value), "set table %s key %s data.%s %s data.gpc0 3" % (t, key, data, value),
        "set table %s key %s" % (t, key), "clear table %s key %s" % (t, key), "clear table %s data.%s %s %s" % (t, data, op, value),
        "show table %s data.%s %s %s" % (t, data, op, value), "show table %s key %s" % (t, key), "show table " + t, "show table",
        "clear table " + t, "set table none", "set table %s key" % t, "show table %s data.gpc0 gt 0 data.gpc1 lt 9" % t,
        "show table %s ptr 0x1" % t, "set table %s ptr 0x1 data.gpc0 1" % t, "clear table %s ptr zz" % t])


def backends(r):
    b = r.choice(["b1", "b2", "b1", "b2", "rr", "none", "fe", "dy"])
    roll = r.random()
    if roll < 0.3:
        if r.random() < 0.1:
            return "ctl add backend b1 from none"
        return "ctl add backend %s from named%s" % (b, r.choice(
            ["", " mode http", " mode http guid gb%d" % r.randrange(2), " mode tcp", " mode log", " bad", " mode", " guid"]))
    if roll < 0.5:
        return "ctl %s backend %s" % (r.choice(["publish", "publish", "unpublish"]), b)
    if roll < 0.65:
        return "ctl del backend " + b
    if roll < 0.75:
        return "ctl add server %s/x%d 127.0.0.1:{o%d}%s" % (b, r.randrange(2), r.randrange(1, 4), r.choice(["", " enabled", " weight 3"]))
    if roll < 0.85:
        return "ctl " + r.choice(["del server %s/x%d", "enable server %s/x%d", "set server %s/x%d state maint"]) % (b, r.randrange(2))
    return r.choice(["get port /a x-be=" + b, "ctl wait 20ms be-removable " + b, "shape show servers state " + b, "ctl show backend"])


def ends(r):
    n = r.randrange(4)
    return r.choice([
        "ctl shutdown session {sess %d}" % n, "ctl shutdown session 0x1", "ctl shutdown session", "ctl shutdown session zz",
        "ctl shutdown sessions server " + ops.server(r), "ctl shutdown frontend " + r.choice(["none", "rr", ""]),
        "hold %d x-be=rr" % n, "hold %d x-be=lc" % n, "release %d" % n])


# "acme renew" without a name is none of them: behind it the reference has its certificates locked for ever
# what is shown is of one program, or of the moment: whether it is refused is compared; "reload" here is an extension
SHAPES = [
    "show activity", "show activity -1", "show activity 0", "show anon", "show cache", "show cli level", "show cli sockets", "show dev",
    "show env", "show env PATH", "show env nothing", "show errors", "show errors rr request", "show events", "show events none",
    "show fd", "show fd 3", "show fd -l", "show info", "show info json", "show info typed", "show info desc", "show info float",
    "show libs", "show peers", "show peers none", "show pools", "show pools byname", "show pools match x 2", "show profiling",
    "show profiling tasks", "show profiling memory 3", "show quic", "show quic help", "show resolvers", "show resolvers none",
    "show schema json", "show servers conn", "show servers conn rr", "show sess", "show sess all", "show sess 0x1", "show sess help",
    "show ssl providers", "show startup-logs", "show stat json", "show stat typed", "show stat up", "show stat no-maint", "show stat desc",
    "show stat 1 4 -1", "show tasks", "show threads", "show trace", "show trace h1", "show version", "help", "help show", "trace", "trace 0",
    "trace h1", "trace h1 sink", "trace h1 sink none", "trace h1 level", "trace h1 level user", "trace h1 verbosity clean", "trace h1 start now",
    "trace h1 stop now", "trace none", "trace h1 event +any", "trace h1 bad", "trace stream lock", "debug counters", "debug counters reset",
    "debug counters off", "debug counters on", "debug counters bad", "debug dev check", "debug dev close 9999", "debug dev delay 3",
    "debug dev hash x", "debug dev fd", "debug dev loop 3", "debug dev sym 0x1", "debug dev task 0x1", "debug dev",
    "set profiling tasks off", "set profiling memory on", "set profiling memory off", "set profiling bad on", "set profiling",
    "set rate-limit connections global 0", "set rate-limit sessions global 0", "set rate-limit ssl-sessions global 0",
    "set rate-limit ssl-sessions global 1000", "set rate-limit http-compression global 100", "set rate-limit bad global 1",
    "set rate-limit connections bad 1", "set rate-limit", "set timeout cli 5", "set timeout cli x", "set timeout x 5", "set timeout",
    "set anon on", "set anon on 17", "set anon off", "set anon bad", "set anon global-key 7", "set anon", "set severity-output none",
    "set severity-output string", "set severity-output bad", "set severity-output", "prompt", "prompt n", "prompt i", "prompt p",
    "prompt timed", "prompt help", "prompt bad", "quit", "wait 1ms", "wait 1ms srv-removable none/s", "wait 1ms be-removable none",
    "wait 1ms bad", "wait -h", "wait", "wait x", "acme status", "acme renew none", "acme challenge_ready x domain y", "acme bad", "operator", "user", "user; show env", "user; debug dev hash x", "operator; show fd",
    "user; set anon on", "operator; add ssl crt-list x", "user; show ssl cert", "user; show table tb", "operator; set table tb key z",
    "user; add backend b9 from named", "expert-mode off; debug dev hash x", "experimental-mode off; add backend b9 from named",
    "expert-mode off; trace h1 sink", "expert-mode", "expert-mode bad", "mcli-debug-mode on", "experimental-mode", "@1 show info",
    "set", "show", "add", "del", "clear", "bogus", "get", "enable", "disable", "commit", "prepare", "abort", "new", "update", "publish", ""]


def others(r):
    if r.random() < 0.85:
        return "shape " + r.choice(SHAPES)
    return "ctl " + r.choice(["httpclient GET http://127.0.0.1:{o1}/client", "echo one two", "get var proc.one", "show anon"])


GROUPS = [(certificates, 22), (handshake, 14), (tables, 10), (backends, 12), (ends, 5), (others, 10)]
