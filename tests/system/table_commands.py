#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# differs: ctl-set-table-alone
"""show table, set table and clear table: each operator, several filters, cells of arrays, entries by key and by ptr, entries that are
tracked, and rates that fall while they are asked for. The answers are the same of both programs."""
import re

import lib

CONF = """
	localpeer me
defaults
	mode http
	timeout connect 5s
	timeout client 20s
	timeout server 5s
peers pp
	bind 127.0.0.1:{p[1]}
	server me
	shards 9
	table shared type ip size 100 store gpc0
frontend fe
	bind 127.0.0.1:{p[0]}
	tcp-request connection track-sc0 src table held
	http-request return status 200
backend numbers
	stick-table type integer size 100 store gpc0,gpc0_rate(200),bytes_in_cnt
backend arrays
	stick-table type string size 100 store gpc(3),gpt(3)
backend held
	stick-table type ip size 100 store conn_cnt
"""


def keys(proxy, command):
    return sorted(re.findall(r"key=(\S+)", proxy.ctl(command)))


def filters(tap, proxy):
    proxy.ctl(";".join("set table numbers key %d data.gpc0 %d data.bytes_in_cnt %d" % (k, k, k * 10000000000) for k in (1, 2, 3, 4)))
    for op, want in (("eq", "2"), ("ne", "1 3 4"), ("le", "1 2"), ("ge", "2 3 4"), ("lt", "1"), ("gt", "3 4")):
        tap.eq(keys(proxy, "show table numbers data.gpc0 %s 2" % op), want.split(), "show table ... " + op)
        tap.eq(keys(proxy, "show table numbers data.bytes_in_cnt %s 20000000000" % op), want.split(), op + ", of 64 bits")
    tap.eq(keys(proxy, "show table numbers data.gpc0 gt 1 data.gpc0 ne 3 data.bytes_in_cnt lt 40000000000"), ["2"], "several filters")
    proxy.ctl(";".join("set table arrays key k%d data.gpc[1] %d data.gpt[2] 7" % (k, k) for k in (1, 2, 3)))
    tap.eq(keys(proxy, "show table arrays data.gpc[1] ge 2"), ["k2", "k3"], "a cell of an array")
    tap.eq(keys(proxy, "show table arrays data.gpt[2] eq 7 data.gpc[1] lt 2"), ["k1"], "and of another")
    proxy.ctl("clear table arrays data.gpc[1] le 2")
    tap.eq(keys(proxy, "show table arrays"), ["k3"], "clear table with a filter on a cell")
    proxy.ctl("clear table numbers data.gpc0 ge 3")
    tap.eq(keys(proxy, "show table numbers"), ["1", "2"], "clear table with a filter")
    proxy.ctl("clear table numbers key 1")
    tap.eq(keys(proxy, "show table numbers"), ["2"], "clear table with a key")
    proxy.ctl("clear table numbers")
    tap.eq(keys(proxy, "show table numbers"), [], "clear table")
    proxy.ctl("set table numbers key 5 data.gpc0_rate 100")
    tap.eq(keys(proxy, "show table numbers data.gpc0_rate ge 0"), ["5"], "a rate")
    tap.ok(lib.until(lambda: not keys(proxy, "show table numbers data.gpc0_rate gt 1")), "which falls with time")


def no_key(tap, proxy, program):
    proxy.ctl("set table numbers key 7 data.gpc0 1")
    before = keys(proxy, "show table numbers")
    answer = proxy.ctl("set table numbers")
    if not lib.is_reference(program):
        tap.ok(answer.startswith("Required arguments:"), "set table without a key is refused", answer)
        tap.eq(keys(proxy, "show table numbers"), before, "and changes nothing")
    proxy.ctl("clear table numbers")


def pointers(tap, proxy):
    proxy.ctl("set table arrays key one data.gpc[0] 1; set table arrays key two data.gpc[0] 2")
    ptr = dict(re.findall(r"(0x\w+): key=(\S+)", proxy.ctl("show table arrays")))
    one = next(p for p, k in ptr.items() if k == "one")
    tap.eq(keys(proxy, "show table arrays ptr " + one), ["one"], "show table ... ptr")
    proxy.ctl("set table arrays ptr %s data.gpc[0] 77" % one)
    tap.eq(keys(proxy, "show table arrays data.gpc[0] eq 77"), ["one"], "set table ... ptr")
    proxy.ctl("clear table arrays ptr " + one)
    tap.ok("one" not in keys(proxy, "show table arrays") and "two" in keys(proxy, "show table arrays"), "clear table ... ptr")


def held(tap, proxy, port):
    s = lib.connect(port)
    s.sendall(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n")
    lib.Reader(s).response()
    tap.eq(keys(proxy, "show table held"), ["127.0.0.1"], "an entry that a connection tracks")
    answer = proxy.ctl("clear table held key 127.0.0.1")
    tap.ok("in use" in answer and keys(proxy, "show table held"), "is not removed: that is said", answer)
    s.close()
    tap.ok(lib.until(lambda: "use=0" in proxy.ctl("show table held")), "until it has gone")
    proxy.ctl("clear table held key 127.0.0.1")
    tap.eq(keys(proxy, "show table held"), [], "then it is")


def tables(tap, proxy):
    text = proxy.ctl("show table")
    for line in ("# table: numbers, type: integer, size:100, used:", "# table: arrays, type: string, size:100, used:",
                 "# table: held, type: ip, size:100, used:", "# table: pp/shared, type: ip, size:100, used:"):
        tap.ok(line in text, "show table: " + line, text)
    proxy.ctl(";".join("set table pp/shared key 10.0.0.%d data.gpc0 1" % i for i in range(40)))
    shards = set(re.findall(r"shard=(\d+)", proxy.ctl("show table pp/shared")))
    tap.ok(len(shards) > 3 and shards <= set("123456789"), "keys of a section with shards have one", shards)
    tap.eq(set(re.findall(r"shard=(\d+)", proxy.ctl("show table arrays"))), {"0"}, "others have 0")


def main():
    args = lib.arguments(__doc__)
    tap, p = lib.Tap(), lib.ports(2)
    with lib.Proxy(args.program, CONF.format(p=p)) as proxy:
        tap.attempt("filters", filters, tap, proxy)
        tap.attempt("no key", no_key, tap, proxy, args.program)
        tap.attempt("pointers", pointers, tap, proxy)
        tap.attempt("held", held, tap, proxy, p[0])
        tap.attempt("tables", tables, tap, proxy)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
