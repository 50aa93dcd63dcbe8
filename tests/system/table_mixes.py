#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Random stick tables, the rules that track and count in them, and commands that show and change them, on this program and
the reference: both refuse the same lines, answer the same requests alike, log the same and show the same entries. Without a
reference there is nothing to compare with, and the test is skipped.

    table_mixes.py --seed 7 --cases 120 --list      other mixes, more of them, all differences in full
    table_mixes.py --seed 7 --only 33               one of them, with its configuration
"""
# differs: log-control-bytes
# differs: log-values-missing
# differs: table-set-nothing
# differs: table-updt-leak
import random
import re

import lib
import option_mixes

BATCH = 12     # frontends of a configuration
TRIES = 8      # connections to each of them
STEPS = 6      # commands behind each of these connections, at most

TYPES = ("ip", "ip", "ipv6", "integer", "string", "string len 8", "string len 40", "binary", "binary len 4")
# (bytes_in of requests: differs bytes-at-once)
STORED = ("gpc0", "gpc0_rate(1h)", "gpc1", "gpc1_rate(1h)", "gpt0", "gpc(3)", "gpc_rate(3,1h)", "gpt(2)", "conn_cnt", "conn_cur", "conn_rate(1h)", "sess_cnt", "sess_rate(1h)",
          "http_req_cnt", "http_req_rate(1h)", "http_err_cnt", "http_err_rate(1h)", "http_fail_cnt", "http_fail_rate(1h)", "server_id", "glitch_cnt", "glitch_rate(1h)", "server_key")
KEYS = ("src", "src", "path", "hdr(x-a)", "req.hdr(host)", "url_param(id)", "int(7)", "str(const)", "method", "req.cook(S)", "src,ipmask(24)", "path,length", "hdr(x-a),crc32", "ipv6(2001:db8::1)",
        "url_param(id),add(0)", "base32", "base32+src", "bin(0a0b0c0d0e)", "hdr(x-a),lower,field(1,e)", "dst", "fc_src", "var(txn.k)", "hdr(x-a),bool")
CONNECTION_KEYS = ("src", "dst", "src,ipmask(16)", "int(5)", "str(conn)", "ipv4(10.0.0.9)")
READ = ("sc_conn_cnt({n})", "sc_conn_cur({n})", "sc_conn_rate({n})", "sc_sess_cnt({n})", "sc_sess_rate({n})", "sc_http_req_cnt({n})", "sc_http_req_rate({n})", "sc_http_err_cnt({n})", "sc_http_err_rate({n})",
        "sc_http_fail_cnt({n})", "sc_http_fail_rate({n})", "sc_get_gpc0({n})", "sc_get_gpc1({n})", "sc_get_gpc({i},{n})", "sc_get_gpt0({n})", "sc_get_gpt({i},{n})", "sc_gpc0_rate({n})", "sc_gpc1_rate({n})", "sc_gpc_rate({i},{n})",
        "sc_tracked({n})", "sc_trackers({n})", "sc_clr_gpc0({n})", "sc_clr_gpc1({n})", "sc_clr_gpc({i},{n})", "sc_inc_gpc0({n})", "sc_inc_gpc1({n})", "sc_inc_gpc({i},{n})", "sc_kbytes_in({n})", "sc_bytes_out_rate({n})", "sc{n}_http_req_cnt",
        "sc_glitch_cnt({n})", "sc_http_req_cnt({n},t{t})", "sc_get_gpt0({n},t{t})", "sc_key({n})", "src_http_req_cnt(t{t})", "src_conn_cnt(t{t})", "src_get_gpc0(t{t})", "src_inc_gpc0(t{t})", "src_clr_gpc0(t{t})", "src_get_gpt0(t{t})",
        "src_get_gpc({i},t{t})", "src_conn_cur(t{t})", "src_sess_rate(t{t})", "src_http_err_cnt(t{t})", "src_kbytes_out(t{t})", "src_inc_gpc({i},t{t})", "table_avail(t{t})", "table_cnt(t{t})",
        "{k},in_table(t{t})", "{k},table_http_req_cnt(t{t})", "{k},table_http_req_rate(t{t})", "{k},table_conn_cnt(t{t})", "{k},table_gpc0(t{t})", "{k},table_gpt0(t{t})", "{k},table_gpc({i},t{t})", "{k},table_gpt({i},t{t})", "{k},table_trackers(t{t})",
        "{k},table_sess_cnt(t{t})", "{k},table_gpc1_rate(t{t})", "{k},table_http_err_cnt(t{t})", "{k},table_http_fail_cnt(t{t})", "{k},table_conn_cur(t{t})", "{k},table_server_id(t{t})", "{k},table_kbytes_in(t{t})", "{k},table_expire(t{t}),div(100000)",
        "{k},table_idle(t{t}),div(100000)", "{k},table_gpc_rate({i},t{t})", "{k},table_glitch_cnt(t{t})")
WRITES = ("sc-inc-gpc0({n})", "sc-inc-gpc1({n})", "sc-inc-gpc({i},{n})", "sc-add-gpc({i},{n}) {v}", "sc-set-gpt0({n}) {v}", "sc-set-gpt({i},{n}) {v}")
VALUES = ("3", "0", "4294967295", "hdr(x-a),length", "url_param(id)", "hdr(x-n)", "int(-1)", "str(12)", "path,length")
# (not /part: whether HAProxy counts an answer that is cut short depends on how it comes)
PATHS = ("/cl", "/cl", "/500", "/503", "/404", "/ch", "/early", "/204", "/bad", "/deny", "/cookie")


class Maker:
    def __init__(self, rng):
        self.rng = rng

    def fill(self, text):
        pick = self.rng.choice
        return text.replace("{n}", str(pick((0, 0, 0, 1, 2)))).replace("{i}", str(pick((0, 0, 1, 2, 3)))).replace("{t}", str(pick((self.at, self.at, self.at + 1000)))).replace("{k}", pick(KEYS)).replace("{v}", pick(VALUES))

    def table(self, like="", sizes=("100", "1k", "4 nopurge", "3 nopurge")):
        """With the type of the line <like>, if that is to be written to."""
        stored = self.rng.sample(STORED, self.rng.randint(0, 7))
        # arrays and the single ones of their kind exclude each other
        if any(s.startswith("gpc(") for s in stored):
            stored = [s for s in stored if not re.match(r"gpc[01]$", s)]
        # (which entry has to go when there is no room is not the same one)
        line = "stick-table type %s size %s" % (self.rng.choice(TYPES), self.rng.choice(sizes))
        line += "".join(self.rng.sample((" expire 1h", " srvkey addr", " srvkey name"), self.rng.choice((0, 1, 1, 2))))
        line += " store " + ",".join(stored) if stored else ""
        if like and self.rng.random() < 0.2:
            line = re.sub("type .* size", re.search("type .* size", like)[0], line) + " write-to t%d" % (self.at + 1000)
        return line

    def condition(self):
        if self.rng.random() < 0.6:
            return ""
        return self.fill(" %s { %s %s }" % (self.rng.choice(("if", "unless")), self.rng.choice(READ), self.rng.choice(("gt 0", "-m found", "ge 2", "-m int lt 4"))))

    def rule(self, words, keys):
        if self.rng.random() < 0.5:
            n = self.rng.choice((0, 0, 1, 2))
            table = self.rng.choice(("" if self.own else " table t%d" % self.at, " table t%d" % self.at, " table t%d" % self.at, " table t%d" % (self.at + 1000)))
            return "%s track-sc%d %s%s%s" % (words, n, self.rng.choice(keys), table, self.condition())
        return "%s %s%s" % (words, self.fill(self.rng.choice(WRITES)), self.condition())

    def case(self, at, port):
        self.at = at
        pick = self.rng.choice
        fe = ["frontend fe%d" % at, "bind 127.0.0.1:%d" % port, "default_backend be%d" % at]
        self.own = self.rng.random() < 0.3
        if self.own:
            fe.append(self.table())
        fe += [self.rule("tcp-request connection", CONNECTION_KEYS) for _ in range(pick((0, 0, 1)))]
        fe += [self.rule("tcp-request session", CONNECTION_KEYS) for _ in range(pick((0, 0, 1)))]
        if self.rng.random() < 0.3:
            fe += ["tcp-request inspect-delay 1s"] + [self.rule("tcp-request content", KEYS) for _ in range(pick((1, 2)))]
        if self.rng.random() < 0.5:
            fe.append("http-request set-var(txn.k) " + pick(("src", "path", "int(3)")))
        fe += [self.rule("http-request", KEYS) for _ in range(pick((1, 2, 3, 4)))]
        if self.rng.random() < 0.4:
            fe.append("http-request deny deny_status 429 if { path /deny }")
        if self.rng.random() < 0.3:
            fe.append(self.fill("http-request deny if { %s gt %d }" % (pick(READ), pick((1, 3)))))
        fe += [self.rule(pick(("http-response", "http-after-response")), KEYS[:1]).replace("http-after-response track", "http-response track") for _ in range(pick((0, 0, 1, 2)))]
        fe += ["http-after-response set-header x-%d %%[%s]" % (i, self.fill(pick(READ))) for i in range(3)]
        fe += ["log-format %s" % " ".join(["%ft %b/%s %ST %tsc"] + ["%%[%s]" % self.fill(pick(READ)) for _ in range(2)]).replace(" ", "\\ ")]
        be = ["backend be%d" % at, "balance roundrobin"]
        self.own = False
        if self.rng.random() < 0.5:
            # (with HAProxy, a rule that stores needs room also for a key that is there)
            be.append(self.table(sizes=("100", "1k")))
            be += [pick(("stick on %s", "stick match %s", "stick store-request %s", "stick on %s table t%d" % ("%s", at))) % pick(KEYS) for _ in range(pick((1, 1, 2)))]
            if self.rng.random() < 0.3:
                be.append("stick store-response res.hdr(x-kind)")
        be += [self.rule("http-request", KEYS) for _ in range(pick((0, 0, 1)))]
        be += ["server s%d 127.0.0.1:@S%d%s" % (i + 1, i, pick(("", "", " non-stick", " id %d" % (i + 10)))) for i in range(pick((1, 2)))]
        if pick((0, 0, 1)):
            be.append(pick(("http-err-codes 500", "http-fail-codes 404 +503", "http-err-codes -404")))
        other = self.table()
        tables = ["backend t%d" % at, self.table(other), "backend t%d" % (at + 1000), other]
        return [l if l.startswith(("frontend", "backend")) else "\t" + l for l in tables + fe + be]

    def request(self):
        pick = self.rng.choice
        path = pick(PATHS) + pick(("", "", "?id=1", "?id=22", "?id=x"))
        lines = ["%s %s HTTP/1.1" % (pick(("GET", "GET", "HEAD", "POST")), path), "Host: " + pick(("a", "b.example.org"))]
        lines += self.rng.sample(("X-A: one", "X-A: 10.1.2.3", "X-A: A long value that no key holds whole", "Cookie: S=s2; T=1", "X-N: 4", "X-A:", "X-N: 99999999999"), pick((0, 1, 1, 2)))
        if lines[0].startswith("POST"):
            lines.append("Content-Length: 0")
        return lines[0].split(" ")[0], option_mixes.text(lines)

    def talk(self):
        if self.rng.random() < 0.1:
            return [(("GET",), self.rng.choice((b"BAD\r\n\r\n", b"", b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n")))]
        return [([m], data) for m, data in (self.request() for _ in range(self.rng.choice((1, 1, 2, 3))))]

    def commands(self, made):
        """Commands on tables, in an order that both programs answer in the same way: single entries, or all."""
        pick = self.rng.choice
        result = []
        for _ in range(self.rng.randint(0, STEPS)):
            table = pick(("t%d" % self.at, "t%d" % (self.at + 1000), "be%d" % self.at, "fe%d" % self.at))
            key = pick(("127.0.0.1", "10.1.2.3", "/cl", "one", "7", "::1", "const", "0a0b0c0d", "\\x0a", "s2", "GET", "22", "-1", "4294967296", "127.0.0.0"))
            binary = re.search(r"end %s\n(\t.*\n)*\tstick-table type binary" % table, "\n".join(made))
            data = pick(("gpc0", "gpt0", "http_req_cnt", "conn_cur", "gpc1", "gpc(1)", "gpt(0)", "gpc0_rate", "bogus", "gpc[1]", "http_err_rate", "conn_cnt", "sess_cnt", "http_fail_cnt", "gpc[5]"))
            if binary: # differs: table-set-nothing
                table += "x"
            result.append(pick((
                "show table %s key %s" % (table, key), "set table %s key %s data.%s %s" % (table, key, data, pick(("1", "0", "77", "-1", "x", "4294967296"))),
                "clear table %s key %s" % (table, key), "clear table %s data.%s %s 2" % (table, data, pick(("gt", "lt", "eq", "ne", "le", "ge", "xx"))), "show table %s data.%s gt 0" % (table, data),
                "set table %s key %s" % (table, key), "clear table %s" % table, "show table %s data.%s ge 1 data.gpc0 lt 9" % (table, data), "show table %s key" % table, "clear table %s ptr 0x1" % table,
                "set table %s key %s data.gpc0 4 data.%s 2" % (table, key, data), "show table %s ptr 0" % table, "show table nosuch", "show table %s data.%s" % (table, data))))
        return result


HEAD = option_mixes.HEAD[:option_mixes.HEAD.index("cache c")]


def sorted_table(text):
    """The order of entries and what a clock or an address says are nobody's business."""
    lines = re.sub(r"0x[0-9a-f]+:", "0x:", text).replace("exp=0 ", "exp=N ").split("\n")
    lines = [re.sub(r"exp=\d+", "exp=N", re.sub(r" shard=\d+", "", l)) for l in lines]
    result, block = [], []
    for l in lines:
        if l.startswith("0x:"):
            block.append(l)
        else:
            result += sorted(block) + [l]
            block = []
    return result + sorted(block)


def run(program, conf, cases, origins):
    """{case: [what clients got, answers to commands and tables in turns, lines of the log]}"""
    result, log = {}, lib.Syslog()
    with lib.Proxy(program, conf.replace("@LOG", str(log.port))) as proxy:
        for at, port, talks in cases:
            for o in origins:
                o.seen.clear()
            log.settle()
            del log.lines[:]
            got, shown = [], []
            for steps, commands in talks:
                got.append(option_mixes.ask(port, steps))
                option_mixes.counters(proxy, at)
                for c in commands:
                    shown.append([c] + sorted_table(proxy.ctl(c)))
                for t in ("t%d" % at, "t%d" % (at + 1000), "be%d" % at, "fe%d" % at):
                    shown.append(["%s behind connection %d" % (t, len(got))] + sorted_table(proxy.ctl("show table " + t)))
            log.settle()
            # differs: log-values-missing
            result[at] = [got, shown, [l.replace("\x7f", "#7F") for l in log.lines if l.startswith("fe")]]
    log.close()
    return result


def batch(maker, pair, tap, args, first):
    *fronts, s0, s1 = lib.ports(BATCH + 2)
    lines, cases, owner = list(HEAD), [], {}
    origins = [option_mixes.Origin(p) for p in (s0, s1)]
    for i, port in enumerate(fronts):
        at = first + i
        made = maker.case(at, port)
        talks = [(maker.talk(), maker.commands(made)) for _ in range(TRIES)]
        if args.only and at != args.only:
            continue
        owner.update((len(lines) + k, at) for k in range(len(made)))
        lines += [re.sub(r"@S(\d)", lambda m: str((s0, s1)[int(m[1])]), l) for l in made]
        cases.append((at, port, talks))
    found, conf = [], ""
    if cases:
        refused = [pair.refused(p, [l.replace("@LOG", "1") for l in lines], owner) for p in pair.programs]
        found += ["verdict: %s\n  %s refuses it" % (lines[i].strip(), "only ours" if i in refused[0] else "only the reference") for i in sorted(refused[0] ^ refused[1])]
        out = refused[0] | refused[1]
        conf = "\n".join("" if i in out else l for i, l in enumerate(lines)) + "\n"
        if args.only:
            print(conf, "\n".join("%r\n  %s" % ([d for _, d in steps], commands) for steps, commands in cases[0][2]))
        cases = [c for c in cases if not all(i in out for i in owner if owner[i] == c[0])]
        ours, theirs = (run(p, conf, cases, origins) for p in pair.programs)
        for at, _, talks in cases:
            shown = "\n".join("    " + lines[i] for i in owner if owner[i] == at and i not in out)
            mine, other = ours[at], theirs[at]
            for n, (steps, _) in enumerate(talks):
                a, b = option_mixes.tidy(mine[0][n], steps), option_mixes.tidy(other[0][n], steps)
                if a != b:
                    found.append("answer in case %d to %r\n  ours      %r\n  reference %r\n%s" % (at, [d for _, d in steps], a, b, shown))
            for what, i in (("tables", 1), ("log", 2)):
                for x, y in zip(mine[i], other[i]):
                    if x != y:
                        found.append("%s in case %d\n  ours      %r\n  reference %r\n%s" % (what, at, x, y, shown))
                        break
                if len(mine[i]) != len(other[i]):
                    found.append("%s in case %d: %d and %d" % (what, at, len(mine[i]), len(other[i])))
        lost = len(fronts) - len(cases)
        tap.ok(not found, "cases from %d: %d lines, %d refused by both, with %d cases" % (first, len(owner), len(refused[0] & refused[1]), lost), "\n".join(found[:4]))
    for o in origins:
        o.close()
    if args.list or args.only:
        print("\n".join(found))


def main():
    lib.compare_generated(__doc__, Maker, option_mixes.Pair, batch, BATCH, seed=2, first=1, what="tables", more=[("only", 0, "this case alone")])


if __name__ == "__main__":
    lib.guarded(main)
