#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Random sequences of HTTP rules and random log formats, of this program and the reference: both refuse the same lines, answer
the same requests with the same bytes, send the same to servers, and log the same. Without a reference there is nothing to
compare with, and the test is skipped.

    rule_sequences.py --seed 7 --cases 300 --list    other ones, more of them, all differences in full
"""
# differs: answers-204-length
# differs: bytes-at-once
# differs: capture-in-conditions
# differs: conf-backend-in-tables
# differs: expr-boolean-sums
# differs: expr-port-only
# differs: http-target-bytes
# differs: log-status
# differs: log-values-missing
# differs: res-ver-none
# differs: response-return-reads
# differs: timeouts-in-rules
import collections
import os
import re
import signal
import socket

import lib

BATCH = 24     # frontends of a configuration
REQUESTS = 5   # to each of them
HEADERS = ("x-a", "x-b", "X-C", "cookie", "accept", "user-agent")
VALUES = ("1", "abc", "a,b, c", "a=1; b=2", "text/html", "%20x", "A-B/c", "10.0.0.7", "", "ab\"c'd")
PATHS = ("/", "/a", "/a/b/../c", "/a//b/./c?x=1&y=2", "/%7Euser/%2e/x?q=a%20b", "/index.html?b=2&a=1&a=", "/A/b")
METHODS = ("GET", "POST", "PUT", "HEAD", "DELETE", "OPTIONS")

# Fetches that mean something in a request, in an answer, in a log line; each with what may follow it.
# (cur_server_timeout and cur_tunnel_timeout are not among them: differs timeouts-in-rules)
REQUEST = ("path", "pathq", "url", "query", "method", "base", "req.hdr(x-a)", "req.fhdr(x-b,1)", "req.hdr(x-c,-1)", "req.hdr_cnt(x-a)",
           "req.hdr_names", "req.cook(a)", "req.cook_names", "url_param(x)", "urlp(a,,i)", "req.ver", "req.hdrs", "hdr(host)",
           "path,field(2,/)", "req.body", "req.body_len", "req.body_size", "req.bytes_in,and(0)", "url,url_dec", "http_auth_type")
ANYWHERE = ("var(txn.a)", "var(req.b)", "var(proc.p)", "str(xY)", "int(-7)", "bool(1)", "ipv4(10.1.2.3)", "ipv6(2001:db8::1)", "bin(00ff)",
            "src", "dst", "fe_name", "fe_defbe", "nbthread", "be_name", "fe_client_timeout", "be_server_timeout", "be_connect_timeout",
            "be_queue_timeout", "be_tarpit_timeout", "cur_client_timeout", "cur_connect_timeout",
            "cur_queue_timeout", "cur_tarpit_timeout", "be_connect_retries", "cur_connect_retries", "fc_rcvd_proxy", "fc_http_major", "sc0_tracked",
            "sc_http_req_cnt(0)", "sc_get_gpc(0,0)", "sc_get_gpt(0,0)", "txn.status", "srv_name", "str(app),fe_exists", "method,lower", "bc_http_major",
            "distcc_param(x)", "stopping", "always_true", "nbsrv(origins)", "res.timer.hdr,sub(0),and(0)", "queue(origins)", "act_conns,and(0)")
RESPONSE = ("status", "res.hdr(x-s)", "res.hdr_cnt(x-s)", "res.hdr_names", "res.ver", "res.cook(c)", "res.hdrs", "capture.req.method",
            "capture.req.uri", "capture.req.hdr(0)", "capture.res.hdr(0)", "capture.req.ver", "res.bytes_in,and(0)", "res.cook_names", "txn.sess_term_state")
LOGGED = [f for f in RESPONSE if f != "status"]  # differs log-status
CONVERTERS = ("", "", "", "lower", "upper", "length", "hex", "base64", "b64dec", "url_enc", "reverse", "reverse_dom", "add(3)", "mul(2)", "field(1,a)",
              "word(2,/)", "bytes(1,2)", "regsub([a-c]+,<\\0>,g)", "concat(-,txn.a,+)", "sha1,hex", "crc32", "djb2", "xxh64(3)", "mod(7)", "bool", "not",
              "iif(yes,no)", "json", "host_only", "port_only", "map_beg(virt@m,none)", "in_table(t)", "ltrim(a)", "rtrim(c)", "cut_crlf", "ipmask(24,64)",
              "set-var(txn.a)", "strcmp(txn.a)", "htonl", "be2dec(:,1)", "be2hex(:,1)", "language(en;fr,en)", "add_item(;,txn.a)", "param(x,&)", "digest(md5),hex",
              "when(forwarded)", "and(65535),add(86400),http_date(1)", "and(65535),add(86400000),ms_utime(%Y)", "protobuf(1,string)", "neg", "fe_exists", "date", "json_query($.a)", "jwt_header_query(alg)")
LOG_ALIASES = ("b(%B)b", "%CC", "%CS", "%H", "%HM", "%HP", "%HPO", "%HQ", "%HU", "%HV", "%ST", "%b", "%ci", "%fi", "%f", "%ft", "%hr", "%hrl", "%hs", "%hsl",
               "%r", "%s", "%si", "%sp", "%ts", "%tsc", "%rc", "%sq", "%bq", "a(%ac)a", "%o", "%{+Q}o", "%{-Q}o", "%{+X}o", "%{+E}o", "%{+json}o", "%{-X,-E}o",
               "%{+Q}r", "%{+E}HP", "%{+X}ST", "%{+Q,+E}hr", "%(name)ST", "%(n:int)ST", "%(t:str)HM", "%{+json}(x)HM", "l(%lc)l", "%%", "b(%U)b", "%bi", "T(%Tq)T")


def quote(text):
    return '"%s"' % text.replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$")


class Maker:
    """Rules, formats and requests of a case."""

    def __init__(self, rng):
        self.rng = rng

    def expr(self, pools):
        pick = self.rng.choice
        first = pick(pick(pools))
        tail = [pick(CONVERTERS) for _ in range(self.rng.choice((0, 0, 1, 1, 2)))]
        return ",".join([first] + [t for t in tail if t])

    def fmt(self, pools):
        flags = self.rng.choice(("", "", "", "+Q", "+E", "+X", "+Q,+E"))
        parts = [self.rng.choice(("", "v=", "<", "%%", "é ", "a b")), "%%%s[%s]" % ("{%s}" % flags if flags else "", self.expr(pools))]
        if self.rng.random() < 0.3:
            parts.append("/%%[%s]" % self.expr(pools))
        return "".join(parts)

    def target(self, pools):
        """No blanks or control bytes, of which no target is made here: differs http-target-bytes."""
        return "%s%%[%s,url_enc]" % (self.rng.choice(("", "v=", "<", "%%", "é")), self.expr(pools))

    def condition(self, pools):
        if self.rng.random() < 0.45:
            return ""
        pick = self.rng.choice
        found = []
        for _ in range(pick((1, 1, 2))):
            kind = pick(("found", "str", "beg", "sub", "reg", "int", "len", "named", "end", "dir", "dom", "bool"))
            if kind == "named":
                found.append(pick(("is_post", "!is_post", "in_a", "FALSE", "TRUE", "!HTTP", "METH_GET", "HTTP_1.1", "{ method POST PUT }", "{ path -i /A /b }")))
                continue
            value = {"found": "", "str": "-m str -i ABC 1", "beg": "-m beg /a", "sub": "-m sub b c", "reg": "-m reg ^[a/]", "int": "-m int ge 1", "len": "-m len gt 2",
                     "end": "-m end l c", "dir": "-m dir a", "dom": "-m dom b", "bool": "-m bool"}[kind]
            found.append("{ %s%s %s }" % (pick(("", "", "!")), self.expr(pools), value or "-m found"))
        return " %s %s" % (pick(("if", "if", "unless")), pick((" ", " || ")).join(found))

    def edit(self, pools):
        """What all three sets have."""
        pick = self.rng.choice
        name = pick(HEADERS + ("x-new", "via"))
        return pick((
            lambda: "set-header %s %s" % (name, quote(self.fmt(pools))),
            lambda: "add-header %s %s" % (name, quote(self.fmt(pools))),
            lambda: "del-header %s%s" % (pick(("x-", "x-a", "-a", "^x")), pick(("", " -m beg", " -m reg", " -m sub", " -m end"))),
            lambda: "replace-header %s %s %s" % (name, quote(pick(("(.*)", "a(.)c?", "[0-9]+", "^$", "b"))), quote(pick(("<\\1>", "x", "%[var(txn.a)]\\0", "")))),
            lambda: "replace-value %s %s %s" % (name, quote(pick(("(.*)", "^a$", "[abc]"))), quote(pick(("<\\1>", "y", "\\0\\0")))),
            lambda: "set-var(txn.%s) %s" % (pick("ab"), self.expr(pools)),
            lambda: "set-var(txn.%s,%s) %s" % (pick("ab"), pick(("ifexists", "ifnotexists", "ifempty", "ifnotempty", "ifset", "ifnotset", "ifgt", "iflt")), self.expr(pools)),
            lambda: "set-var-fmt(txn.%s) %s" % (pick("ab"), quote(self.fmt(pools))),
            lambda: "unset-var(txn.%s)" % pick("ab"),
            lambda: "set-log-level %s" % pick(("info", "silent", "notice", "err")),
            lambda: "sc-inc-gpc(0,0)", lambda: "sc-inc-gpc0(0)", lambda: "sc-add-gpc(0,0) %s" % pick(("2", self.expr(pools))),
            lambda: "sc-set-gpt(0,0) %s" % pick(("5", self.expr(pools))), lambda: "sc-set-gpt0(0) %s" % pick(("5", self.expr(pools))),
            lambda: "strict-mode %s" % pick(("on", "off")), lambda: "do-log",
            lambda: "set-map(virt@m) %s %s" % (quote(self.fmt(pools)), quote(self.fmt(pools))), lambda: "del-map(virt@m) %s" % quote(self.fmt(pools)),
            lambda: "add-acl(virt@l) %s" % quote(self.fmt(pools)), lambda: "del-acl(virt@l) %s" % quote(self.fmt(pools)),
            lambda: "add-headers-bin %s%s" % (pick(("var(txn.bin)", "str(),hex", "bin(03782d62023131)", "bin(00)")), pick(("", " prefix p-"))),
            lambda: "set-headers-bin %s%s" % (pick(("var(txn.bin)", "bin(03782d61023939)")), pick(("", " prefix q-"))),
            lambda: "del-headers-bin %s%s" % (pick(("bin(03782d6103782d62)", "bin(03782d6103782d62)", "var(txn.bin)")), pick(("", " prefix x-"))),
        ))()

    def request_rule(self):
        pick, pools = self.rng.choice, (REQUEST, REQUEST, ANYWHERE)
        own = pick((
            lambda: "set-path %s" % quote("/p" + self.target(pools)), lambda: "set-pathq %s" % quote("/q" + self.target(pools) + "?z"),
            lambda: "set-query %s" % quote(self.target(pools)), lambda: "set-uri %s" % quote("http://h/u" + self.target(pools)),
            lambda: "replace-path %s %s" % (quote(pick(("(.*)", "/a(/.*)?", "[a-z]+$"))), quote(pick(("/x\\1", "/y", "%[method]/\\0")))),
            lambda: "replace-pathq %s %s" % (quote(pick(("([^?]*)(.*)", "\\?.*"))), quote(pick(("/x\\1\\2&w", "/n")))),
            lambda: "replace-uri %s %s" % (quote("(.*)"), quote(pick(("/r\\1", "http://o\\1")))),
            lambda: "set-method %s" % quote(pick(("GET", "PATCH", "%[method,lower]"))),
            lambda: "normalize-uri %s" % pick(("path-merge-slashes", "path-strip-dot", "path-strip-dotdot", "path-strip-dotdot full", "fragment-strip", "fragment-encode",
                                               "percent-decode-unreserved", "percent-decode-unreserved strict", "percent-to-uppercase", "percent-to-uppercase strict",
                                               "query-sort-by-name")),
            lambda: "set-src %s" % self.expr(pools), lambda: "set-dst %s" % self.expr(pools), lambda: "set-src-port %s" % pick(("int(1234)", "int(70000)")),
            lambda: "capture %s len 12" % self.expr(pools), lambda: "track-sc0 %s table t" % self.expr(pools), lambda: "track-sc0 src table t",
            lambda: "set-timeout %s %s" % (pick(("server", "tunnel", "client", "connect", "queue", "tarpit")), pick(("2s", "int(3000)", "var(txn.a)"))),
            lambda: "set-retries %s" % pick(("2", "int(5)", "var(txn.a)")), lambda: "disable-l7-retry", lambda: "set-nice 3",
            lambda: "set-priority-class int(3)", lambda: "set-priority-offset int(-5)", lambda: "wait-for-body time 1s", lambda: "early-hint link %s" % quote("<%[path]>"),
            lambda: "deny%s" % pick(("", " deny_status 429", " status 418 content-type text/x string no", " status 400 hdr x-d %s" % quote(self.fmt(pools)), " default-errorfiles")),
            lambda: "return status %s content-type text/plain lf-string %s" % (pick(("200", "404", "503", "201")), quote(self.fmt(pools))),
            lambda: "return status 204 hdr x-r %s" % quote(self.fmt(pools)), lambda: "return",
            lambda: "redirect %s %s%s" % (pick(("location", "prefix", "scheme")), quote(pick(("/l", "http://o/%[path]", "https"))),
                                          pick(("", " code 303", " code 308 drop-query", " append-slash", " set-cookie S=1", " clear-cookie S", " ignore-empty",
                                                " keep-query", " code 307 append-slash drop-query"))),
            lambda: "auth realm %s" % quote(pick(("r", "a b"))), lambda: "allow", lambda: "reject", lambda: "pause 1",
        ))
        rule = self.edit(pools) if self.rng.random() < 0.5 else own()
        return "http-request %s%s" % (rule, self.condition(pools))

    def response_rule(self, kind):
        pick, pools = self.rng.choice, (RESPONSE, RESPONSE, ANYWHERE)
        own = [lambda: "set-status %s" % pick(("202", "404 reason %s" % quote("Not me"), "599", "503 reason x")), lambda: "allow", lambda: "capture res.hdr(x-s) id 0"]
        if kind == "http-response":
            own += [lambda: "deny%s" % pick(("", " deny_status 503", " status 500 content-type a/b string x")), lambda: "return status 200 content-type t/p lf-string %s" % quote(self.fmt(pools)),
                    lambda: "redirect location /r code 302", lambda: "track-sc0 status table t", lambda: "wait-for-body time 1s at-least 2"]
        rule = self.edit(pools) if self.rng.random() < 0.65 else pick(own)()
        return "%s %s%s" % (kind, rule, self.condition(pools))

    def log_format(self):
        parts = []
        for _ in range(self.rng.randint(2, 7)):
            if self.rng.random() < 0.55:
                parts.append(self.rng.choice(LOG_ALIASES))
            else:
                name = self.rng.choice(("", "", "", "(n%d)" % self.rng.randint(1, 9), "(m:int)", "(b:bool)", "(s:str)"))
                flags = self.rng.choice(("", "", "+Q", "+E", "+X", "+json", "+Q,+X", "+M"))
                parts.append("%%%s%s[%s]" % ("{%s}" % flags if flags else "", name, self.expr((REQUEST, LOGGED, ANYWHERE))))
        return self.rng.choice((" ", "|", ", ")).join(parts)

    def request(self, number):
        pick = self.rng.choice
        method, body = pick(METHODS), ""
        lines = ["%s %s HTTP/1.1" % (method, pick(PATHS) if method != "OPTIONS" else pick(("*", "/o"))), "Host: %s" % pick(("h", "h:8080", "A.example.org")), "X-N: %d" % number]
        for _ in range(self.rng.randint(0, 4)):
            lines.append("%s: %s" % (pick(HEADERS), pick(VALUES)))
        if method in ("POST", "PUT"):
            body = pick(("", "a=1&b=2", "{\"a\": \"x\"}", "z" * 300))
            lines.append("Content-Length: %d" % len(body))
        return ("\r\n".join(lines + ["Connection: close"]) + "\r\n\r\n" + body).encode()

    def case(self, at, port):
        """(lines of a frontend and its backend, requests)"""
        fe = ["frontend fe%d" % at, "\tbind 127.0.0.1:%d" % port, "\tdeclare capture request len 20", "\tdeclare capture response len 20", "\tacl is_post method POST",
              "\tacl in_a path_beg /a", "\thttp-request set-var(txn.k) req.hdr(x-n)", "\thttp-request set-var(txn.bin) bin(03782d6102323203782d630233330000)",
              # conditions know what is captured only where something else keeps it: differs capture-in-conditions
              "\thttp-request set-var-fmt(txn.kept) \"%[capture.req.method] %[capture.req.uri]\""]
        fe += ["\t" + self.request_rule() for _ in range(self.rng.randint(1, 6))]
        fe += ["\t" + self.response_rule("http-response") for _ in range(self.rng.randint(0, 3))]
        fe += ["\t" + self.response_rule("http-after-response") for _ in range(self.rng.randint(0, 3))]
        fe += ["\tlog-format %s" % quote("=%d/%%[var(txn.k)]= %s" % (at, self.log_format())), "\tdefault_backend be%d" % at]
        be = ["backend be%d" % at] + ["\t" + self.request_rule() for _ in range(self.rng.randint(0, 3))]
        be += ["\t" + self.response_rule("http-response") for _ in range(self.rng.randint(0, 3))] + ["\tserver origin 127.0.0.1:@ORIGIN"]
        return fe + be, [self.request(at * 100 + n) for n in range(REQUESTS)]


# What is known to differ, by the text of the difference: what was seen, and the rules of that frontend.
EXPLAINED = (
    # such a rule has answered: its type tells, or nothing came
    (r"(?s)^answer [^\n]*\n  ours      b'[^\n]*content-type: t/p[^\n]*\n  reference b'([^\n]*content-type: t/p[^\n]*|HTTP/1.1 200 OK\\r\\ncontent-length: 0\\r\\n[^\n]*)?'\n"
     r".*\n\s+http-response return [^\n]*lf-string [^\n]*\[(res\.|status|capture\.res)", "response-return-reads"),
    (r"^verdict: http-request sc-(set-gpt0?|add-gpc)\([0-9,]+\) (be_|cur_(server|tunnel|connect|queue|tarpit)_timeout|srv_name|bc_)\S*( if .*| unless .*)?"
     r"\n  only the reference refuses it", "conf-backend-in-tables"),
    # expressions.py has it, too
    (r"(?s)^log [^\n]*\n  ours      [^\n]*\n  reference [^\n]*\b(true|false)\b[^\n]*\n.*\n\s+log-format [^\n]*\+json\}[^\n]*(,bool|,not|\[bool\(1\)|"
     r"always_true|fc_rcvd_proxy|,fe_exists|,strcmp\([^)]*\)|sc0_tracked|stopping),(add|mul|mod|neg|and)\b", "expr-boolean-sums"),
    (r"(?s)^(log|answer) .*(,bool|,not|\[bool\(1\)|always_true|fc_rcvd_proxy|,fe_exists|,strcmp\([^)]*\)|sc0_tracked|stopping),(add|mul|mod|neg|and)"
     r"(\([^)]*\))?,(be2hex|be2dec|hex|sha1|digest|base64|crc32|djb2|xxh64|bytes)\b", "expr-boolean-sums"),
    (r"(?s)^(answer|log) .*be2hex\(:,1\),port_only", "expr-port-only"),
    # text of something else, where nothing has answered
    (r"(?s)^log [^\n]*\n  ours      [^\n]*\n  reference [^\n]*\d\.\d[^\n]*\n.*\n\s+http-request reject.*\n\s+log-format [^\n]*\[res\.ver", "res-ver-none"),
)


def same_204(answer):
    """What the reference says in its own answers 204: differs answers-204-length."""
    return re.sub(rb"(HTTP/1\.1 204 (?:(?!\r\n\r\n).)*?)content-length: 0\r\n", rb"\1", answer, flags=re.S)


class Crashed(Exception):
    """The reference did, at the requests to this port."""


def origin(sock):
    """Answers with what it got, and fields to work on."""
    head = b""
    while b"\r\n\r\n" not in head:
        part = sock.recv(65536)
        if not part:
            return
        head += part
    head, body = head.split(b"\r\n\r\n", 1)
    length = re.search(rb"(?i)\ncontent-length: (\d+)", head)
    while length and len(body) < int(length[1]):
        part = sock.recv(65536)
        if not part:
            return
        body += part
    text = head + b"\n\n" + body
    answer = b"HTTP/1.1 200 OK\r\nx-s: 1, two\r\nX-S: three\r\nset-cookie: c=9; path=/\r\ncontent-type: text/html\r\ncontent-length: %d\r\nconnection: close\r\n\r\n" % len(text)
    sock.sendall(answer if head.startswith(b"HEAD ") else answer + text)


class Pair:
    def __init__(self, args, folder):
        self.programs, self.folder = (args.program, args.reference), folder

    def refused(self, program, lines):
        return lib.lines_refused(program, os.path.join(self.folder, "c.cfg"), lines)

    @staticmethod
    def has_crashed(proxy, got):
        """Nothing may be the answer, too (reject): the Runtime API then tells."""
        if all(a.startswith(b"HTTP/1.") for a in got):
            return False
        try:
            return not proxy.ctl("show info")
        except OSError:
            return True

    def answers(self, program, conf, cases):
        """({number: bytes}, {number: sorted log lines})"""
        got, lines, log = {}, {}, lib.Syslog()
        with lib.Proxy(program, conf.replace("@LOG", str(log.port))) as proxy:
            for port, requests in cases:
                for number, request in requests:
                    got[number] = ask(port, request)
                if program == self.programs[1] and self.has_crashed(proxy, [got[number] for number, _ in requests]):
                    log.close()
                    raise Crashed(port)
            proxy.stop(signal.SIGUSR1) # it ends behind its last stream: what is to be logged was sent by then
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.sendto(b"=end=", ("127.0.0.1", log.port))
        log.find("^=end=")
        for line in log.lines[:-1]:
            key = re.search(r"=(\d+)/(\d*)=", line)
            line = re.sub(r"^(Connect from \S+):\d+", r"\1", line)
            # how many bytes have been read when a line is made is not the same: differs bytes-at-once
            line = re.sub(r"b\(\d+\)b", "b()b", line)
            # a time, connections of the moment, how many lines there were before
            line = re.sub(r"([Tal])\(-?\d+\)[Tal]", r"\1()", line)
            lines.setdefault(int(key[2] or key[1]) if key else -1, []).append(line)
        log.close()
        return got, {k: sorted(v) for k, v in lines.items()}


def ask(port, request):
    data = b""
    try:
        s = lib.connect(port)
    except ConnectionRefusedError:
        return b"(refused)"
    with s:
        s.sendall(request)
        while True:
            try:
                part = s.recv(65536)
            except ConnectionResetError:
                return data + b"(reset)"
            if not part:
                return data
            data += part


HEAD = """defaults
	mode http
	timeout connect 5s
	timeout client 5s
	timeout server 5s
	timeout tarpit 1s
	log 127.0.0.1:@LOG format raw local0
backend t
	stick-table type string len 64 size 1k expire 1h store gpc(2),gpt(2),http_req_cnt
backend origins
	server s1 127.0.0.1:1
""".rstrip("\n").split("\n")


def without_crashes(pair, conf, asked):
    """(what the reference answers, the ports at which it crashed: nothing to compare with)"""
    crashed = set()
    while True:
        try:
            return pair.answers(pair.programs[1], conf, [a for a in asked if a[0] not in crashed]), crashed
        except Crashed as e:
            crashed.add(e.args[0])


def batch(maker, pair, tap, args, first):
    *ports, at_origin = lib.ports(BATCH + 1)
    lines, asked, owner = list(HEAD), [], {}
    server = lib.Server(origin, at_origin)
    for at in range(BATCH):
        text, requests = maker.case(at, ports[at])
        owner.update((len(lines) + i, at) for i in range(len(text)))
        lines += [l.replace("@ORIGIN", str(server.port)) for l in text]
        asked.append((ports[at], [(at * 100 + n, r) for n, r in enumerate(requests)]))
    refused = [pair.refused(p, [l.replace("@LOG", "1") for l in lines]) for p in pair.programs]
    found = ["verdict: %s\n  %s refuses it" % (lines[i].strip(), "only ours" if i in refused[0] else "only the reference")
             for i in sorted(refused[0] ^ refused[1])]
    conf = "\n".join(l for i, l in enumerate(lines) if i not in refused[0] | refused[1]) + "\n"
    theirs, crashed = without_crashes(pair, conf, asked)
    asked = [a for a in asked if a[0] not in crashed]
    ours = pair.answers(args.program, conf, asked)
    server.close()
    requests = {number: request for _, several in asked for number, request in several}
    for number in sorted(ours[0]):
        at, request = number // 100, requests[number]
        text = "\n".join("    " + lines[i] for i in owner if owner[i] == at and i not in refused[0] | refused[1])
        for what, mine, other in (("answer", ours[0][number], same_204(theirs[0][number])),
                                  ("log", ours[1].get(number), theirs[1].get(number))):
            if mine != other:
                found.append("%s of %r\n  ours      %r\n  reference %r\n%s" % (what, request, mine, other, text))
    live = [f for f in found if not any(re.search(e, f) for e, _ in EXPLAINED)]
    tap.ok(not live, "cases from %d: %d lines, %d refused by both, %d explained%s" % (
        first, len(owner), len(refused[0] & refused[1]), len(found) - len(live),
        ", the reference crashed in %d" % len(crashed) if crashed else ""), "\n".join(live if args.list else live[:4]))
    mine, other = (collections.Counter(l for l in x[1].get(-1, ()) if not l.startswith("stick table: invalid expression")) for x in (ours, theirs))
    tap.ok(mine == other, "and no other line in the log", "only ours %s\nonly the reference %s" % (mine - other, other - mine))


def main():
    lib.compare_generated(__doc__, Maker, Pair, batch, BATCH, seed=1, what="rules")


if __name__ == "__main__":
    lib.guarded(main)
