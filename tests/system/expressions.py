#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Thousands of expressions, made from the tables of converters and fetches (-dKcnv, -dKsmp) over inputs
of every type, are asked of this program and of the reference: each must be refused by both, or give
the same text. Where they differ, each step of the chain is asked of both, and a row of tests/differences.txt must
explain the first one at which they part.

Without a reference program (--reference, or $REFERENCE) there is nothing to compare with, and the
test is skipped. --seed makes other expressions, --count says how many chains."""
# differs: bytes-at-once
# differs: expr-boolean-sums
# differs: expr-dates
# differs: expr-le2dec
# differs: expr-left-arguments
# differs: expr-long-numbers
# differs: expr-padded-base64
# differs: expr-port-only
# differs: expr-rfc7239-nn
# differs: expr-term-events
# differs: packet-headers-odd
# differs: tarpit-frontends
import os
import random
import re
import subprocess
import tempfile

import lib

PER_RULE = 40

STRINGS = ["", "abc", "A,b;c d", "/a/b/c?x=1&y=2", "12", "-5x", "f1_f2_f3__f5", "1.2.3.4", "::1",
           "fr;q=0.5,en", "fe", "www.a.b.example.com.", "..a", "a%41+b%zz", "SGVsbG8=", "host.example.com:8080", "[::1]:80",
           "9223372036854775807", " trim ", "x=1&y=2;z", "Sun, 06 Nov 1994 08:49:37 GMT",
           "for=1.2.3.4;proto=http", "0x1F", "deadBEEF", "_obf:80", "GET"]
BYTES = ["", "00", "ff00fe01", "0d0a", "7b2261223a5b312c2262225d2c2262223a7b2263223a322e357d7d",
         "0102030405060708090a", "c3a9e282ac", "0896011204746578741a0408011200",
         "383d4649582e342e3401393d31350133353d410134393d530135363d540131303d32323401",
         "100c00044d5154540402003c0000", "2003000000"]
# SYNs over IPv4, IPv6, Ethernet, a VLAN; without a header of IP or options; cut
IP4 = "4510003c1c4640004006b1e6ac100a63ac100a0c"
IP6 = "6010000000280640" + "20010db8" + "0" * 23 + "1" + "20010db8" + "0" * 22 + "1f"
TCP = "c6b60050000000010000000%sa0c2faf000000000020405b40402080a00001122000000000103030%s"
MACS = "00112233445566778899aabb"
BYTES += [IP4 + TCP % (0, 7), IP6 + TCP % (1, 0), MACS + "0800" + IP4 + TCP % (0, 7), MACS + "86dd" + IP6 + TCP % (9, "f"),
          MACS + "81000064" + "0800" + IP4 + TCP % (0, 1), TCP % (0, 7), "c6b600500000000100000000500210000000" + "0000",
          (MACS + "0800" + IP4 + TCP % (0, 7))[:90], IP4[:30], (TCP % (0, 7))[:50]]
INTEGERS = ["0", "1", "-1", "42", "1700000000", "2147483648", "9223372036854775807",
            "-9223372036854775808"]
INPUTS = (["str('%s')" % s for s in STRINGS] +
          ["bin(%s)" % b for b in BYTES if b] +
          ["int(%s)" % i for i in INTEGERS] +
          ["ipv4(10.1.2.3)", "ipv4(255.255.255.255)", "ipv6(::1)", "ipv6(2001:db8::ffff:1)",
           "ipv6(::ffff:1.2.3.4)", "bool(1)", "bool(0)", "meth(GET)", "meth(FOO)"])

# arguments that make sense, by converter; the others get words of the type that the table says
ARGUMENTS = {
    "add_item": ["(-,,x)", "(-,txn.no)", "(',',txn.t,end)"], "aes_gcm_dec": ["(128,Zm9vb2Zvb29mb29v,Zm9vb2Zvb29mb29wZm9vbw==,Zm9vb2Zvb29mb29wZm9vbw==)"],
    "aes_gcm_enc": ["(128,Zm9vb2Zvb29mb29v,Zm9vb2Zvb29mb29wZm9vbw==,txn.tag)", "(64,a,b,c)"],
    "aes_cbc_enc": ["(128,Zm9vb2Zvb29mb29vZm9vbw==,Zm9vb2Zvb29mb29vZm9vbw==)", "(128,Zm9v,Zm9v)", "(256,txn.b,txn.b)", "(64,a,b)"],
    "aes_cbc_dec": ["(128,Zm9vb2Zvb29mb29vZm9vbw==,Zm9vb2Zvb29mb29vZm9vbw==)", "(128,txn.no,Zm9v)"],
    "ip.fp": ["", "(1)", "(2)", "(4)", "(7)", "(8)"],
    "add": ["(1)", "(-9223372036854775808)", "(txn.n)", "(txn.no)", "(x)"],
    "be2dec": ["(:,2)", "(-,3,1)", "(,8)", "(:,9)"], "le2dec": ["(:,2)", "(-,3,1)", "(,8)"],
    "be2hex": ["", "(:)", "(:,2)", "(-,3,1)"],
    "bytes": ["(0)", "(1,2)", "(5,100)", "(100)", "(txn.n,1)", "(-1)"],
    "concat": ["(-)", "(-,txn.t)", "(-,txn.no,+)", "(,txn.n)"],
    "digest": ["(sha256)", "(md5)", "(nothing)"], "hmac": ["(sha256,Zm9v)", "(sha1,txn.b)", "(md5,x)"],
    "field": ["(1,_)", "(2,_,2)", "(-1,'/.')", "(-2,_,0)", "(9,_)", "(0,_)", "(1,)"],
    "word": ["(1,_)", "(2,_,2)", "(-1,'/.')", "(-2,_,0)", "(9,_)"],
    "fix_tag_value": ["(35)", "(MsgType)", "(10)", "(99)"],
    "has_ctl": ["", "(any)", "(http)", "(0x401)", "(x)"],
    "hex2i": [""], "http_date": ["", "(10)", "(0,ms)", "(0,us)", "(0,x)"],
    "iif": ["(yes,no)", "(a,)"], "ipmask": ["(24)", "(255.0.255.0)", "(8,64)", "(33)"],
    "json": ["", "(utf8)", "(utf8s)", "(utf8p)", "(utf8ps)", "(ascii)", "(x)"],
    "json_query": ["('$.a')", "('$.a[1]')", "('$.b.c')", "('$.b.c',int)", "('$.z')", "('')"],
    "jwt_header_query": ["", "('$.alg')"], "jwt_payload_query": ["", "('$.sub',int)"],
    "jwt_verify": ["(HS256,secret)", "(none,x)", "(foo,x)", "(RS256,/nonexistent)"],
    "language": ["(en;fr)", "(de,none)", "(fr-FR;en,x)"],
    "ltime": ["(%Y)", "('%H:%M:%S',3600)"], "utime": ["(%Y-%m-%d)", "('%H:%M:%S',3600)"],
    "ms_ltime": ["('%S.%N')"], "ms_utime": ["('%S.%N')", "(%Y,-1)"], "us_ltime": ["('%S.%N')"],
    "us_utime": ["('%S.%N')", "(%j)"],
    "ltrim": ["(' fa/')"], "rtrim": ["(' c5/')"],
    "mqtt_field_value": ["(connect,flags)", "(1,keepalive)", "(connack,17)", "(connack,x)"],
    "param": ["(x)", "(y,;)", "(z,xx)"], "protobuf": ["(1)", "(1,int32)", "(2)", "(3.1,sint64)"],
    "ungrpc": ["(1)", "(2,bool)"],
    "regsub": ["('[a-f]',X)", "('(.)',<\\1>,g)", "('A',z,i)", "('x*',-,g)", "('(',x)"],
    "rfc7239_field": ["(for)", "(proto)"],
    "secure_memcmp": ["(txn.t)", "(txn.no)"], "strcmp": ["(txn.t)", "(txn.no)"],
    "set-var": ["(txn.z)", "(nothing.z)"], "unset-var": ["(txn.z)"],
    "sha2": ["(224)", "(256)", "(384)", "(512)", "(1)"],
    "url_dec": ["", "(0)", "(1)"], "url_enc": ["", "(query)", "(x)"],
    "when": ["(normal)", "(error)", "(!normal)", "(acl,yes)", "(acl,no)", "(x)"],
    "crc32": ["", "(0)", "(1)"], "crc32c": ["", "(1)"], "djb2": ["", "(1)"], "sdbm": ["", "(1)"],
    "xxh3": ["(0)", "(7)", "(-1)"], "xxh32": ["(0)", "(7)"], "xxh64": ["(0)", "(7)"],
    "debug": ["(x,stderr)", "(x)", "(x,buf0)"],
}
WORDS = {"string": ["a", "1", "-", "''"], "integer": ["0", "1", "-2", "x"], "IPv4 mask": ["24"],
         "IPv6 mask": ["64"], "regex": ["'a+'"], "Protocol buffers field number": ["1"]}

# fetches that cannot be the same in two programs, or are about things that the request below has not
VOLATILE = re.compile(
    r"^(accept_date|request_date|date|date_us|rand|uuid|pid|thread|.*timer.*|uptime|.*port|so_name|"
    r"txn\.id32|.*_rtt.*|fc_.*(unacked|lost|sacked|retrans|fackets|reordering)|cpu_.*|lat_.*|"
    r"unique-id|.*_rate|act_conn|.*conn.*|sc.*|src_.*|ssl_.*|table_.*|quic.*|hostname|env|proc|"
    r"http_auth.*|internal\.htx.*|.*debug_str|res\..*|resp.*|s?cook.*resp.*|scook.*|shdr.*)$")
FETCH_ARGUMENTS = {
    "req.hdr": ["", "(host)", "(x-list)", "(x-list,2)", "(x-list,-1)", "(x-none)", "(x-list,9)"],
    "req.fhdr": ["", "(x-list)", "(x-list,1)", "(x-list,-1)"],
    "hdr": ["(x-list,1)", "(host)"], "req.hdr_cnt": ["", "(x-list)", "(x-none)"],
    "req.fhdr_cnt": ["", "(x-list)"], "req.hdr_val": ["(x-num)", "(x-list)"],
    "req.hdr_ip": ["(x-ip)", "(x-ip,2)", "(x-list)"], "req.hdr_names": ["(-)"],
    "req.cook": ["", "(a)", "(b)", "(none)"], "req.cook_cnt": ["", "(a)"], "req.cook_val": ["(n)"],
    "req.cook_names": ["", "(;)"], "cookie": ["(a)"], "url_param": ["", "(x)", "(y)", "(X,,i)", "(none)"],
    "urlp": ["(x)", "(z)"], "urlp_val": ["(x)", "(y)"], "query": ["", "(with_qm)", "(x)"],
    "req.body_param": ["(a)", "(A,i)", "(none)"], "acl": ["(yes)", "(!yes)", "(yes,no)", "(none)"],
    "var": ["(txn.t)", "(txn.no)", "(txn.no,default)", "(x)"], "nbsrv": ["", "(be)", "(none)"],
    "be_name": [""], "srv_is_up": ["(be/s1)", "(be/s2)", "(be/none)"], "srv_weight": ["(be/s1)"],
    "srv_uweight": ["(be/s1)"], "srv_iweight": ["(be/s1)"], "srv_queue": ["(be/s1)"],
    "queue": ["(be)"], "avg_queue": ["(be)"], "capture.req.hdr": ["(0)"], "meth": ["(POST)", "(X)"],
    "bool": ["(true)", "(0)", "(x)"], "int": ["(5)", "(x)"], "str": ["(x)", "()"], "bin": ["(4142)", "(4)"],
    "ipv4": ["(1.2.3.4)", "(1.2.3)"], "ipv6": ["(::1)", "(x)"], "payload": ["(0,1)"],
    "fc_pp_tlv": ["(1)", "(x)"],
}
REQUESTS = [
    "GET /dir/file.html?x=1&y=two&x=3 HTTP/1.1\r\nHost: a.Example.com:8080\r\nX-List: one, two,three\r\n"
    "X-List: \"q,uoted\", four\r\nX-Num: -12x\r\nX-Ip: 1.2.3.4, [::1]:80, junk\r\n"
    "Cookie: a=1; b=\"two\"; n=77; a=2\r\n",
    "POST http://h.org:81/p%41th;a=b? HTTP/1.0\r\nHost: h.org:81\r\nContent-Length: 14\r\nCookie: \r\n"
    "X-Empty:\r\n",
    "OPTIONS * HTTP/1.1\r\nHost: x\r\nX-Num: 99999999999999999999\r\n",
]
BODIES = ["", "a=1&B=2&A=%33&", ""]

def number(text):
    """The integer at the start of a text, as casts read it."""
    m = re.match(rb" *(-?[0-9]+)", text)
    return int(m.group(1)) if m else 0


# What differs on purpose: the row of tests/differences.txt, the step of the chain (a fetch, a converter with its
# arguments) at which the two programs part, and what must hold of what went into the step (equal in both), of what
# came out of it in this program, and in the reference.
DATES = r"(ms_|us_)?[lu]time\(.*|http_date(\(.*)?"
EXPLAINED = [
    ("expr-dates", DATES, lambda given, ours, theirs: not 1 << 25 < number(given) < 1 << 53),
    ("expr-boolean-sums", r"(add|sub|mul|div|mod|and|or|xor|neg|cpl)\b.*", None),
    ("expr-le2dec", r"le2dec\(,8\)", lambda given, ours, theirs: ours == b"".join(
        b"%d" % int.from_bytes(given[n:n + 8], "little") for n in range(0, len(given), 8)) and (len(given) > 4 or given[3:] > b"\x7f")),
    ("expr-padded-base64", r"ub64dec|jwt_(header|payload)_query.*", lambda given, ours, theirs: b"=" in given),
    ("expr-port-only", r"port_only", lambda given, ours, theirs: not re.search(rb":[0-9]+$", given)),
    ("expr-long-numbers", r"x509_v_err_str", lambda given, ours, theirs: abs(number(given)) >> 31),
    ("expr-long-numbers", r"req\.hdr_val\(x-num\)", lambda given, ours, theirs: len(ours) > 10),
    ("packet-headers-odd", r"ip\.(data|hdr)", lambda given, ours, theirs: ours == b"" and given[:1] < b"E"),
    ("tarpit-frontends", r"fe_tarpit_timeout", lambda given, ours, theirs: (ours, theirs) == (b"5000", b"0")),
    ("bytes-at-once", r"(req\.)?bytes_in", lambda given, ours, theirs: theirs == b"0"),
    ("expr-term-events", r"term_events", lambda given, ours, theirs: ours == b"-"),
    # the text is right, what reads it finds other bytes
    ("expr-rfc7239-nn", r"rfc7239_nn", lambda given, ours, theirs: ours == theirs),
    # its order is that of a hash with a seed
    ("", r"dump_all_vars", lambda given, ours, theirs: sorted(ours.split(b", ")) == sorted(theirs.split(b", "))),
]

# Without arguments the reference takes those that an earlier converter has left.
LEFT_OVER = {"http_date", "sdbm", "djb2", "crc32", "crc32c", "xxh3", "be2hex", "url_enc", "url_dec", "json"}


def table(program, which):
    """{name: [argument words of the table]} of -dK<which>."""
    out = subprocess.run([program, "-dK" + which, "-c", "-f", os.devnull],
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout.decode()
    found = {}
    for line in out.split("\n"):
        m = re.match(r"(?:\[[ Y.]*\] )?([a-z][^\s(:]*)(?:\((.*)\))?: [a-z]", line)
        if m:
            found[m.group(1)] = m.group(2) or ""
    return found


def generic_arguments(words, rng):
    """Some lists of arguments for a signature such as "integer,string[,integer]"."""
    must, _, may = words.partition("[")
    must = [w for w in must.strip(",").split(",") if w]
    may = [w for w in may.rstrip("]").strip(",").split(",") if w]
    lists = [must] if must else [[]]
    if may:
        lists.append(must + may[:1])
    made = set()
    for names in lists:
        for _ in range(2):
            made.add("(%s)" % ",".join(rng.choice(WORDS.get(n, ["a"])) for n in names)
                     if names else "")
    return sorted(made)


def make_expressions(program, reference, rng, chains):
    ours, theirs = table(program, "cnv"), table(reference, "cnv")
    skipped = re.compile(r"^(map.*|table_.*|in_table|capture-.*|srv_.*|nbsrv|wt6|jwt_decrypt.*)$")
    steps = []
    exprs = []
    for name in sorted(set(ours) & set(theirs)):
        if skipped.match(name):
            continue
        lists = ARGUMENTS.get(name) or generic_arguments(theirs[name], rng)
        for arguments in lists:
            steps.append(name + arguments)
            exprs += ["%s,%s%s" % (i, name, arguments) for i in INPUTS]
    for _ in range(chains):
        exprs.append(",".join([rng.choice(INPUTS)] +
                              [rng.choice(steps) for _ in range(rng.randint(2, 4))]))
    fetches = []
    ours, theirs = table(program, "smp"), table(reference, "smp")
    for name in sorted(set(ours) & set(theirs)):
        if VOLATILE.match(name):
            continue
        for arguments in FETCH_ARGUMENTS.get(name, [""]):
            fetches.append(name + arguments)
            fetches.append("%s%s,length" % (name, arguments))
            fetches.append("%s%s,hex" % (name, arguments))
    missing = sorted(n for n in set(theirs) - set(ours) if not VOLATILE.match(n))
    return exprs, fetches, missing


class Asker:
    """One of the programs: which expressions it refuses, and what the others give."""

    def __init__(self, program):
        self.program = program
        self.folder = tempfile.mkdtemp(prefix="expressions-")
        self.port = lib.ports(1)[0]

    def conf(self, rules):
        head = ["global", "\ttune.bufsize 131072", "defaults", "\tmode http",
                "\ttimeout connect 5s", "\ttimeout client 10s", "\ttimeout server 10s",
                "backend be", "\tserver s1 127.0.0.1:1 weight 7",
                "\tserver s2 127.0.0.1:1 disabled", "frontend fe", "\tbind 127.0.0.1:%d" % self.port,
                "\toption http-buffer-request", "\tacl yes always_true", "\tacl no always_false",
                "\thttp-request set-var(txn.t) str(abc)", "\thttp-request set-var(txn.n) int(2)",
                "\thttp-request set-var(txn.b) str(Zm9v)"]
        path = os.path.join(self.folder, "haproxy.cfg")
        with open(path, "w", encoding="latin-1") as f:
            f.write("\n".join(head + rules) + "\n")
        return path, len(head) + 1

    @staticmethod
    def quote(expr):
        return expr.replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$")

    def refused(self, exprs, likely=frozenset()):
        """Which the configuration may not hold: the program tells one or some at a time. Those that
        are <likely> come first: a program that ends at its first error reads little behind it."""
        live, bad = sorted(exprs, key=lambda e: e not in likely), set()
        while True:
            path, first = self.conf(['\thttp-request set-header x "%%[%s]"' % self.quote(e)
                                     for e in live])
            r = subprocess.run([self.program, "-c", "-f", path], stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT)
            if r.returncode == 0:
                return bad
            text = "\n".join(line for line in r.stdout.decode("latin-1").split("\n")
                             if not line.startswith(("[WARNING]", "[NOTICE]")))
            wrong = set(int(n) - first for n in re.findall(r"haproxy\.cfg:(\d+)\]", text))
            wrong = set(live[n] for n in wrong if 0 <= n < len(live))
            if not wrong:  # told elsewhere: by name only
                wrong = set(e for e in live if re.search(
                    r"'%s'" % re.escape(re.split(r"[(,]", e)[0]), text))
            if not wrong:
                raise RuntimeError("%s: %s" % (self.program, text[:400]))
            bad |= wrong
            live = [e for e in live if e not in wrong]

    def values(self, exprs, request, body):
        """{expression: text}, asked by forties."""
        rules = []
        for n in range(0, len(exprs), PER_RULE):
            text = "".join("\\n@%d<%%[%s]>" % (n + k, self.quote(e))
                           for k, e in enumerate(exprs[n:n + PER_RULE]))
            rules.append('\thttp-request return status 200 content-type text/plain lf-string "%s" '
                         "if { req.hdr(x-n) %d }" % (text, n))
        path, _ = self.conf(rules)
        found = {}
        with open(path, encoding="latin-1") as f:
            conf = f.read().partition("\n")[2]  # without "global", which is there already
        with lib.Proxy(self.program, conf):
            for n in range(0, len(exprs), PER_RULE):
                s = lib.connect(self.port)
                s.sendall((request + "X-N: %d\r\nConnection: close\r\n\r\n%s" %
                           (n, body)).encode("latin-1"))
                data = b""
                while True:
                    more = s.recv(65536)
                    if not more:
                        break
                    data += more
                s.close()
                data = data.partition(b"\r\n\r\n")[2]
                parts = re.split(rb"\n@(\d+)<", b"\n" + data)
                for number, text in zip(parts[1::2], parts[2::2]):
                    if int(number) < len(exprs):
                        found[exprs[int(number)]] = text[:-1] if text.endswith(b">") else text
        return found


def steps_of(expr):
    """["str('a,b')", "field(1,_)"]: the fetch and the converters."""
    return re.findall(r"(?:[^,('\"]|'[^']*'|\((?:[^()']|'[^']*'|\([^()]*\))*\))+", expr)


def prefixes(expr):
    steps = steps_of(expr)
    assert ",".join(steps) == expr, expr
    return [",".join(steps[:n]) for n in range(1, len(steps) + 1)]


class Judge:
    """Finds the step at which two programs part, for some expressions at a time."""

    def __init__(self, askers, request, body):
        self.askers, self.request, self.body = askers, request, body
        self.known = [{}, {}]

    def ask(self, exprs):
        exprs = [e for e in dict.fromkeys(exprs) if e not in self.known[0]]
        if not exprs:
            return
        refused = set()
        for a, known in zip(self.askers, self.known):
            bad = a.refused(exprs, refused)
            refused |= bad
            known.update((e, None) for e in bad)
            known.update(a.values([e for e in exprs if e not in bad], self.request, self.body))

    def differs(self, expr):
        return any(self.known[0].get(e) != self.known[1].get(e) for e in (expr, expr + ",hex"))

    @staticmethod
    def variants(expr):
        """The chain, if it ends with a converter of LEFT_OVER, with arguments that another one may have left."""
        name = steps_of(expr)[-1]
        return [expr + a for a in ["(1)", "(2)", "(7)"] + ARGUMENTS[name] if a] if name in LEFT_OVER else []

    def learn(self, exprs):
        """Asks what reason() wants to know, at once."""
        parts = [p for e in exprs for p in prefixes(e)]
        self.ask([q for p in parts for q in (p, p + ",hex")])
        self.ask([v for p in parts if self.differs(p) for v in self.variants(p)])

    def reason(self, expr):
        """The row that explains it; None: there is none."""
        parts = prefixes(expr)
        at = next((n for n, p in enumerate(parts) if self.differs(p)), None)
        if at is None or self.known[0].get(expr) == self.known[1].get(expr) and at == len(parts) - 1:
            # elsewhere in a file, or another time, the reference says the same as this program
            if expr.startswith("dump_all_vars"):
                return ""
            return "expr-left-arguments" if LEFT_OVER & set(steps_of(expr)) else None
        step = steps_of(expr)[at]
        given = self.known[0].get(parts[at - 1]) if at else b""
        if step == "le2dec(,8)": # its bytes, which the text ends at a NUL of
            given = bytes.fromhex((self.known[0].get(parts[at - 1] + ",hex") or b"").decode())
        ours, theirs = (k.get(parts[at]) for k in self.known)
        for row, pattern, holds in EXPLAINED:
            if re.fullmatch(pattern, step) and (not holds or holds(given or b"", ours or b"", theirs or b"")):
                return row
        if self.known[1].get(parts[at]) in [self.known[0].get(v) for v in self.variants(parts[at])]:
            return "expr-left-arguments"
        return None


def compare(tap, name, askers, exprs, request, body):
    """Asks both; one line of TAP, with the differences that no row explains. The rows that do."""
    ours, theirs = askers
    refused = [ours.refused(exprs)]
    refused.append(theirs.refused(exprs, refused[0]))
    live = [e for e in exprs if e not in refused[0] and e not in refused[1]]
    got = [a.values(live, request, body) for a in askers]
    judge = Judge(askers, request, body)
    different = [e for e in exprs if (e in refused[0]) != (e in refused[1]) or got[0].get(e) != got[1].get(e)]
    judge.learn(different)
    reasons = {e: judge.reason(e) for e in different}
    details = ["%s\n  ours      %s\n  reference %s" % (
        e, *("refused" if e in refused[i] else repr(got[i].get(e)) for i in (0, 1)))
        for e in different if reasons[e] is None]
    tap.ok(not details, "%s: %d expressions, %d refused by both, %d explained" % (
        name, len(exprs), len(refused[0] & refused[1]), len(different) - len(details)), "\n".join(details))
    return [r for r in reasons.values() if r is not None]


def main():
    args = lib.arguments(__doc__, ("reference", lib.REFERENCE, "the program to compare with"),
                         ("seed", 1, "of the generator"), ("count", 1500, "chains of converters"))
    tap = lib.Tap()
    if not os.access(args.reference, os.X_OK) or lib.is_reference(args.program):
        tap.apart("reference", "expressions of both programs")
        tap.done()
    rng = random.Random(args.seed)
    exprs, fetches, missing = make_expressions(args.program, args.reference, rng, args.count)
    askers = Asker(args.program), Asker(args.reference)
    print("# fetches not compared, for this program has them not: %s" % " ".join(missing))
    rows = []
    for n in range(0, len(exprs), 1000):
        rows += compare(tap, "converters from %d" % n, askers, exprs[n:n + 1000], REQUESTS[0], "")
    for n, (request, body) in enumerate(zip(REQUESTS, BODIES)):
        rows += compare(tap, "fetches of request %d" % n, askers, fetches, request, body)
    for row in sorted(set(rows)):
        print("# %d times: %s" % (rows.count(row), row or "an order that the reference leaves to chance"))
    tap.ok(len(exprs) + len(REQUESTS) * len(fetches) >= 5000, "5,000 expressions at least: %d" %
           (len(exprs) + len(REQUESTS) * len(fetches)))
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
