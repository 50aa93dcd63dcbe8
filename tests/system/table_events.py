#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The same random sequence of requests, connections and commands for this program and the reference: what rules track,
add, set and fetch, errors, failures, bytes, rates of an hour and stickiness leave the same tables, and the answers, which
tell fetches, are the same. The sequence is in order: one connection at a time, its requests one behind the other.

    table_events.py --events 100000 --seed 7     the long run; skipped without a reference
"""
import contextlib
import os
import random
import re
import tempfile

import lib

COUNTED = ("conn_cnt,conn_rate(1h),conn_cur,sess_cnt,sess_rate(1h),http_req_cnt,http_req_rate(1h),http_err_cnt,"
           "http_err_rate(1h),http_fail_cnt,http_fail_rate(1h),bytes_in_cnt,bytes_in_rate(1h),bytes_out_cnt,"
           "bytes_out_rate(1h),glitch_cnt,glitch_rate(1h)")
CONF = """
	nbthread 2
	tune.stick-counters 6
defaults
	mode http
	timeout connect 5s
	timeout client 5s
	timeout server 5s
	timeout tarpit 1ms
	log-format "%ST"
frontend fe
	bind 127.0.0.1:PORT0
	tcp-request connection track-sc0 src table ips if { src 127.0.1.0/26 }
	tcp-request connection sc-inc-gpc0(0) if { src 127.0.1.0/28 }
	tcp-request connection reject if { src 127.0.1.13 }
	tcp-request session track-sc1 src,ipmask(28) table nets unless { src 127.0.1.64/27 }
	tcp-request session sc-set-gpt(1,1) int(77) if { src 127.0.1.80/30 }
	tcp-request session reject if { src 127.0.1.15 }
	tcp-request content sc-inc-gpc(2,1) if { src 127.0.1.32/28 }
	tcp-request content track-sc5 src table ips unless { src 127.0.1.0/26 }
RULES
	http-request set-var(txn.path) path
	http-request track-sc2 hdr(x-a) table legacy if { hdr(x-a) -m found }
	http-request track-sc3 hdr(x-b),lower table arrays if { hdr(x-b) -m found }
	http-request track-sc4 hdr(x-i) table numbers if { hdr(x-i) -m found }
	http-request sc-inc-gpc0(2) if { hdr(x-do) inc0 }
	http-request sc-inc-gpc1(2) if { hdr(x-do) inc1 }
	http-request sc-set-gpt0(2) hdr(x-v) if { hdr(x-do) set0 }
	http-request sc-add-gpc(1,3) hdr(x-v) if { hdr(x-do) add1 }
	http-request sc-add-gpc(0,3) 3 if { hdr(x-do) add0 }
	http-request sc-inc-gpc(2,3) if { hdr(x-do) inc2 }
	http-request sc-inc-gpc0(3) if { hdr(x-do) inc3 }
	http-request sc-set-gpt(2,3) hdr(x-v),mul(3) if { hdr(x-do) set2 }
	http-request sc-set-gpt(0,3) 12 if { hdr(x-do) set1 }
	http-request sc-inc-gpc(0,5) if { hdr(x-do) ips }
	http-request set-var(txn.a) sc_inc_gpc0(2) if { hdr(x-do) fetch0 }
	http-request set-var(txn.a) sc_clr_gpc0(2) if { hdr(x-do) clear0 }
	http-request set-var(txn.a) sc_inc_gpc(1,3) if { hdr(x-do) fetch1 }
	http-request set-var(txn.a) sc_clr_gpc(2,3) if { hdr(x-do) clear2 }
	http-request set-var(txn.a) src_inc_gpc0(ips) if { hdr(x-do) src0 }
	http-request set-var(txn.a) src_clr_gpc0(ips) if { hdr(x-do) src1 }
	http-request set-var(txn.a) sc2_inc_gpc1 if { hdr(x-do) old1 }
	http-request set-var(txn.a) sc_http_req_cnt(3,legacy) if { hdr(x-do) other }
	http-request track-sc4 hdr(x-late) table numbers if { hdr(x-late) -m found }
	http-request deny if { path /deny }
	http-request deny deny_status 503 if { path /deny503 }
	http-request tarpit if { path /tarpit }
	http-request redirect location /x if { path /redirect }
	http-request auth realm x if { path /auth }
	http-request return status 404 if { path /return404 }
	http-request return status 200 content-type text/plain string abc if { path /return }
	use_backend none if { path /none }
	use_backend stick if { hdr(x-s) -m found }
	default_backend far
backend far
	http-request track-sc5 hdr(x-c) table blocks if { hdr(x-c) -m found }
	http-request sc-inc-gpc0(5) if { hdr(x-do) blocks }
	http-response track-sc4 status table numbers if { var(txn.path) -m str /track }
	http-response sc-inc-gpc0(2) if { status 404 }
	http-response sc-inc-gpc(1,3) if { var(txn.path) -m str /s500 }
	http-response sc-set-gpt0(3) status if { var(txn.path) -m str /s501 /s302 }
	http-response deny if { var(txn.path) -m str /refused }
	http-after-response set-header x-got "%[var(txn.a)] %[sc_http_req_cnt(2)] %[sc_bytes_in_rate(2)] %[sc_gpc0_rate(2)] %[sc_get_gpc(1,3)] %[sc_get_gpt(2,3)] %[sc_gpc_rate(0,3)] %[sc_conn_cur(4)] %[sc_http_err_cnt(3)] %[sc_trackers(2)] %[src,table_gpc0(ips)] %[sc_tracked(4)]"
	http-after-response sc-inc-gpc0(4) if { status 200 410 }
	server s 127.0.0.1:PORT2
backend none
backend stick
	balance roundrobin
	stick match hdr(x-s) table sticky
	stick store-request hdr(x-s) table sticky if { hdr(x-do) store }
	stick store-response res.hdr(x-t) table sticky
	http-response set-header x-server %s
	server s1 127.0.0.1:PORT2
	server s2 127.0.0.1:PORT2
	server s3 127.0.0.1:PORT2
listen bytes
	mode tcp
	bind 127.0.0.1:PORT1
	tcp-request connection track-sc0 src table nets
	tcp-request inspect-delay 5s
	tcp-request content track-sc2 req.payload(0,7) table legacy if { req.len ge 7 }
	tcp-request content sc-inc-gpc1(2)
	server s 127.0.0.1:PORT2
backend ips
	stick-table type ip size 10k expire 1h store gpc0,gpc0_rate(1h),COUNTED
backend nets
	stick-table type ipv6 size 10k expire 1h store gpt(2),gpc(3),gpc_rate(3,1h),COUNTED
backend legacy
	stick-table type string len 7 size 10k expire 1h store gpt0,gpc0,gpc0_rate(1h),gpc1,gpc1_rate(1h),COUNTED
backend arrays
	stick-table type string len 20 size 10k expire 1h brates-factor 7 store gpt(3),gpc(3),gpc_rate(3,1h),COUNTED
backend numbers
	stick-table type integer size 10k expire 1h store gpc0,COUNTED
backend blocks
	stick-table type binary len 5 size 10k expire 1h store gpc0,http_req_cnt,bytes_out_cnt
backend sticky
	stick-table type string size 10k expire 1h srvkey name store gpt0
frontend server
	bind 127.0.0.1:PORT2
	http-request wait-for-body time 5s
	http-request set-header x-status %[path,regsub(/s,,)]
SERVED
	http-request return status 200 content-type text/plain hdr x-t t%[path,length] lf-string "%[path,concat(1234567890)]"
"""
SERVED = "\n".join('\thttp-request return status %d content-type text/plain string "%s" if { path /s%d }'
                   % (n, "e" * (1 + n % 100), n) for n in (201, 404, 403, 410, 500, 501, 502, 503))
RULES = "\n".join("\thttp-request sc-inc-gpc(%d,1) if { hdr(x-do) nets%d }" % (i, i) for i in range(3))
TABLES = ("ips", "nets", "legacy", "arrays", "numbers", "blocks", "sticky")
WORDS = ("inc0 inc1 set0 add1 add0 inc2 inc3 set2 set1 ips fetch0 clear0 fetch1 clear2 src0 src1 old1 other blocks store "
         "nets0 nets1 nets2").split()
PATHS = ("/far /far/long/path /s201 /s404 /s403 /s410 /s500 /s501 /s502 /s503 /track /refused /deny /deny503 /tarpit /redirect "
         "/auth /return404 /return /none").split()
ENDS_IT = ("/tarpit", "/deny503")


class Sequence:
    """What is sent, and how many events that makes."""

    def __init__(self, seed):
        self.random, self.events = random.Random(seed), 0

    def request(self):
        r, fields = self.random, []
        path = r.choice(PATHS[:2] * 5 + PATHS)
        for name, some in (("x-a", "key%d"), ("x-b", "KEY-%d"), ("x-i", "%d"), ("x-c", "c%dlonger"), ("x-s", "s%d"),
                           ("x-late", "%d")):
            if r.random() < .5:
                fields.append("%s: %s\r\n" % (name, some % r.randrange(30)))
        for word in r.sample(WORDS, r.randrange(5)):
            fields.append("x-do: %s\r\n" % word)
        fields.append("x-v: %s\r\n" % r.choice(("1", "5", "4294967295", "x", "-1", "100000", "0")))
        body = "b" * r.randrange(200) if r.random() < .2 else ""
        self.events += len(fields) + 2
        return "%s %s HTTP/1.1\r\nhost: a\r\n%s%s\r\n%s" % ("POST" if body else "GET", path, "".join(fields), "content-length: %d\r\n"
                                                            % len(body) if body else "", body)

    def command(self):
        r = self.random
        return r.choice((
            "set table legacy key key%d data.gpc0 %d data.gpt0 5" % (r.randrange(40), r.randrange(100)),
            "set table arrays key key-%d data.gpc[1] %d data.gpt[2] 9" % (r.randrange(40), r.randrange(100)),
            "set table numbers key %d data.http_req_cnt %d" % (r.randrange(40), r.randrange(100)),
            "set table legacy key key%d data.http_req_rate %d" % (r.randrange(40), r.randrange(100)),
            "clear table legacy key key%d" % r.randrange(40), "clear table numbers key %d" % r.randrange(40),
            "clear table ips data.gpc0 gt 20", "clear table arrays data.http_err_cnt gt 9",
            "show table legacy key key%d" % r.randrange(40), "show table numbers data.http_req_cnt gt 3"))

    def step(self):
        """(kind, address, what is sent, how many answers are waited for)"""
        r, address = self.random, "127.0.1.%d" % (1 + self.random.randrange(120))
        kind = r.random()
        if kind < .1:
            return "command", None, self.command(), 0
        if kind < .15:
            self.events += 4
            return "tcp", address, "GET /s%d HTTP/1.0\r\nx: y%s\r\n\r\n" % (r.choice((201, 404, 500)), "z" * r.randrange(50)), 1
        asked = [self.request() for _ in range(r.randrange(1, 25))]
        for i, text in enumerate(asked):
            if text.split(" ")[1] in ENDS_IT:
                asked = asked[:i + 1]
                break
        if r.random() < .2:
            asked.append(r.choice(("GARBAGE\r\n\r\n", "GET /x HTTP/1.1\r\nhost: a\r\nhost : b\r\n\r\n",
                                   "GET /x HTTP/1.1\r\nHost: a\r\nContent-Length: 1x\r\n\r\n", "GET / HTTP/1.1\r\nab: c\r\n")))
        self.events += 3
        return "http", address, "".join(asked), len(asked)


def carried_out(proxy, ports, step):
    kind, address, text, answers = step
    if kind == "command":
        settled(proxy)
        return "\n".join(sorted(re.sub(r"0x\w+:|exp=\d+|used:\d+", "", proxy.ctl(text)).split("\n")))
    s = lib.socket.socket()
    s.settimeout(lib.PATIENCE)
    s.bind((address, 0))
    out = []
    try:
        s.connect(("127.0.0.1", ports[kind == "tcp"]))
        s.sendall(text.encode())
        if text.endswith("ab: c\r\n"):
            answers -= 1
        reader = lib.Reader(s)
        for _ in range(answers):
            got = reader.response()
            if not got:
                out.append("end")
                break
            out.append("%d %s %s" % (got[0], got[1].get("x-got"), got[1].get("x-server")))
        if text.endswith("ab: c\r\n"):
            s.shutdown(lib.socket.SHUT_WR)
            out.append(lib.recv_all(s).split(b"\r\n")[0].decode())
    except OSError:
        out.append("end")
    finally:
        s.close()
    return "\n".join(out)


def settled(proxy):
    """Nothing is on its way any more; the tables then, an entry a line, without what depends on the time."""
    def idle():
        text = "".join(proxy.ctl("show table " + t) for t in TABLES)
        return text if " use=0" in text and not re.search(r" use=[1-9]| conn_cur=[1-9]", text) else None
    text = lib.until(idle)
    out = {}
    table = None
    for line in (text or "").split("\n"):
        m = re.match(r"# table: (\S+),", line)
        table = m.group(1) if m else table
        m = re.match(r"0x\w+: key=(\S*) use=0 exp=\d+ (?:shard=\d+ )?(.*)", line)
        if m:
            out[table, m.group(1)] = m.group(2)
    return out


def compare(tap, args, stack):
    sequence, both = Sequence(args.seed), []
    for program in (args.program, lib.REFERENCE):
        ports = lib.ports(3)
        conf = CONF.replace("RULES", RULES).replace("SERVED", SERVED).replace("COUNTED", COUNTED)
        for i, port in enumerate(ports):
            conf = conf.replace("PORT%d" % i, str(port))
        both.append((stack.enter_context(lib.Proxy(program, conf, restless="compared below")), ports))
    done, wrong, checked, tables = 0, [], 0, {}
    while sequence.events < args.events and len(wrong) < 5:
        step = sequence.step()
        mine, theirs = (carried_out(proxy, ports, step) for proxy, ports in both)
        done += 1
        if mine != theirs:
            wrong.append("step %d: %r\nmine:   %r\ntheirs: %r" % (done, step, mine, theirs))
        if done % 50 and sequence.events < args.events:
            continue
        tables, others = (settled(proxy) for proxy, _ in both)
        checked += 1
        for at in sorted(set(tables) | set(others)):
            if tables.get(at) != others.get(at) and len(wrong) < 5:
                a, b = tables.get(at, "").split(), others.get(at, "").split()
                wrong.append("%s behind step %d: %s, theirs %s" % (at, done, [x for x in a if x not in b],
                                                                   [x for x in b if x not in a]))
    tap.ok(not wrong, "%d events in %d steps: the same answers, and %d times the same tables of %d entries"
           % (sequence.events, done, checked, len(tables)), "\n".join(wrong))
    tap.ok(len(tables) > 60 and {t for t, _ in tables} == set(TABLES), "all tables are used", str({t for t, _ in tables}))


def main():
    args = lib.arguments(__doc__, ("events", 20000, "how many"), ("seed", 1, "of the sequence"))
    tap = lib.Tap()
    if lib.is_reference(args.program) or not os.path.exists(lib.REFERENCE):
        tap.apart("reference", "the same tables")
        tap.done()
    with contextlib.ExitStack() as stack:
        compare(tap, args, stack)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
