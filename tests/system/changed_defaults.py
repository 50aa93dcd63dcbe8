#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What small configurations mean under traffic, in HAProxy 2.6, 3.2 and 3.4: what this program does is what 3.4 does.

A row of PROBES is (name, row of --compat or "", probe, what 2.6, 3.2 and 3.4 answer). Where the answers differ --compat
names that row for the configuration of the probe, and no probe whose answers are the same has a row that it would name
besides those of ALWAYS. Run on one of the three versions (--program), the test checks its column: that is how the table
was made. KEPT are the same with what --compat says to write: they give the old answer.
"""
# differs: conf-small-resolver-times
import os
import re
import subprocess
import tempfile

import lib
import lib_versions as v

H = b"Host: a\r\n"
END = b"Connection: close\r\n\r\n"
KEY = "balance hdr(X-Key)"
SEND = "\toption httpchk\n\thttp-check send meth GET uri / ver HTTP/1.1 hdr Host x.example\n"
NUL = b"GET / HTTP/1.1\r\n" + H + b"X: a\x00b\r\n" + END
SLASH = b"GET / HTTP/1.1\r\nHost: a/b\r\n" + END
BARE = b"POST / HTTP/1.1\r\n" + H + b"Transfer-Encoding: chunked\r\n" + END + b"3\nabc\n0\n\n"
UPGRADE = b"POST / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: x\r\nContent-Length: 3\r\n\r\nabc"
B = "backend b\n"
T = "defaults\n\ttimeout client 5s\n\ttimeout connect 5s\n\ttimeout server 5s\n"
DISABLED = "\tuse_backend one if TRUE\n\tdefault_backend two\n"


def only(pattern, probe):
    """Of what the probe tells, whether the pattern is in it."""
    return lambda program, folder: "yes" if re.search(pattern, probe(program, folder)) else "no"


PROBES = [
    ("balance", "balance", v.in_turn(), "in turn", "in turn", "at random"),
    ("balance in mode tcp", "balance", v.in_turn(mode="tcp"), "in turn", "in turn", "at random"),
    ("balance in mode log", "balance", v.log_balance(), None, "in turn", "at random"),
    ("half-closed client in the queue", "abortonclose", v.half_closed(), "200", "200", "none"),
    ("half-closed client in the queue, mode tcp", "", v.half_closed(mode="tcp"), *["200"] * 3),
    ("SNI to servers", "sni-auto", v.server_hello("sni"), "none", "none", "site.example"),
    ("SNI to servers in mode tcp", "", v.server_hello("sni", mode="tcp"), "none", "none", "none"),
    ("ALPN to servers", "", v.server_hello("alpn"), "none", "none", "none"),
    ("SNI of plain checks", "", v.server_hello("sni", check=True), "none", "none", "none"),
    ("SNI of checks with Host", "check-sni-auto", v.check_hello(SEND), "none", "none", "x.example"),
    ("SNI of checks with http-check connect", "",
     v.check_hello(SEND.replace("\thttp-check", "\thttp-check connect ssl\n\thttp-check")), "none", "none", "none"),
    ("ALPN to clients", "alpn", v.bind_alpn(), "none", "h2", "h2"),
    ("version on the statistics page", "stats-version", v.page("", "/haproxy?stats", v.VERSION), "yes", "yes", "no"),
    ("use_backend of a disabled backend", "use-backend-disabled", v.chosen(DISABLED, "\tdisabled\n"),
     "503 none", "503 none", "200 two"),
    ("force-be-switch of a disabled backend", "", v.chosen("\tforce-be-switch if TRUE\n" + DISABLED, "\tdisabled\n"),
     None, None, "503 none"),
    ("default_backend that is disabled", "", v.chosen("\tdefault_backend one\n", "\tdisabled\n"),
     "503 none", "503 none", "503 none"),
    ("NUL in a field", "h1-strict", v.request(NUL), "200", "400", "400"),
    ("slash in Host", "h1-strict", v.request(SLASH), "200", "400", "400"),
    ("chunk with a bare LF", "h1-strict", v.request(BARE), "200", "400", "400"),
    ("Upgrade with a body", "upgrade-body", only("upgrade: x", v.forwarded(raw=UPGRADE)), "no", "yes", "yes"),
    ("a frontend and a backend of one name", "same-name",
     v.accepts(T + "frontend b\n\tbind 127.0.0.1:1\n" + B), "ok", "warning", "refused"),
    ("an empty word", "empty-word", v.accepts(T + B + '\tfullconn 5 ""\n'), "warning", "warning", "refused"),
    ("master-worker", "master-worker", v.accepts("global\n\tmaster-worker\n" + T + B), "ok", "ok", "warning"),
    ("dispatch", "dispatch", v.accepts(T + B + "\tdispatch 127.0.0.1:1\n"), "ok", "ok", "warning"),
    ("option transparent", "transparent", v.accepts(T + B + "\toption transparent\n"), "ok", "ok", "warning"),
    ("option accept-invalid-http-request", "accept-invalid",
     v.accepts(v.D + "frontend f\n\toption accept-invalid-http-request\n\tbind 127.0.0.1:1\n"), "ok", "warning", "warning"),
    ("a timeout of 50", "small-timeout", v.accepts(T + B + "\ttimeout server 50\n"), "ok", "warning", "warning"),
    ("timeout resolve of 20", "small-resolver-time",
     v.accepts("resolvers r\n\tnameserver n 127.0.0.1:53\n\ttimeout resolve 20\n" + T + B), "ok", "warning", "warning"),
    ("a colon behind a field's name", "header-colon",
     v.accepts(v.D + "frontend f\n\tbind 127.0.0.1:1\n\thttp-request set-header X: y\n"), "ok", "warning", "warning"),
    ("headers behind the version of httpchk", "httpchk-headers",
     v.accepts(v.D + B + "\toption httpchk GET / HTTP/1.1\\r\\nHost:\\ x\n"), "warning", "refused", "refused"),
    ("bind process", "bind-process", v.accepts(T + "frontend f\n\tbind 127.0.0.1:1 process 1\n"),
     "warning", "refused", "refused"),
    ("bind-process", "proxy-process", v.accepts(T + "frontend f\n\tbind-process 1\n\tbind 127.0.0.1:1\n"),
     "warning", "refused", "refused"),
    ("stats socket process", "stats-process", v.accepts("global\n\tstats socket /tmp/none process 1\n" + T + B),
     "warning", "refused", "refused"),
    ("an older name of a setting of QUIC", "quic-retry", v.accepts("global\n\ttune.quic.retry-threshold 30\n" + T + B),
     None, "ok", "warning"),
    ("a setting of QUIC that is gone", "quic-buffers",
     v.accepts("global\n\ttune.quic.frontend.conn-tx-buffers.limit 30\n" + T + B), None, "warning", "refused"),
    ("connections without http-reuse", "", v.connections(), *["2"] * 3),
    ("http-reuse never", "", v.connections("\thttp-reuse never\n"), *["2"] * 3),
    ("http-reuse always", "", v.connections("\thttp-reuse always\n"), *["1"] * 3),
    ("what a check sends", "", v.checked("\toption httpchk\n"), *["OPTIONS / HTTP/1.0\r\n\r\n"] * 3),
    ("what a check of GET sends", "", v.checked("\toption httpchk GET /h\n"), *["GET /h HTTP/1.0\r\n\r\n"] * 3),
    ("case and order of fields", "", v.forwarded(raw=b"GET / HTTP/1.1\r\nHOST: a\r\nX-CamelCase: 1\r\nx_y: 2\r\n" + END),
     *["GET / HTTP/1.1\r\nhost: a\r\nx-camelcase: 1\r\nx_y: 2\r\n\r\n"] * 3),
    ("option forwardfor", "", only("x-forwarded-for: 127.0.0.1", v.forwarded("\toption forwardfor\n")), *["yes"] * 3),
    ("option httpclose", "", only("connection: close", v.forwarded("\toption httpclose\n")), *["yes"] * 3),
    ("redirect", "", only("^HTTP/1.1 302 ", v.answered("\thttp-request redirect location /x\n")), *["yes"] * 3),
    ("deny", "", only("^HTTP/1.1 403 ", v.answered("\thttp-request deny\n")), *["yes"] * 3),
    ("a fragment", "", v.request(b"GET /a#b HTTP/1.1\r\n" + H + END), *["400"] * 3),
    ("two hosts", "", v.request(b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n" + END), *["400"] * 3),
    ("a length and chunks", "",
     v.request(b"POST / HTTP/1.1\r\n" + H + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n" + END + b"0\r\n\r\n"),
     *["200"] * 3),
] + [("%s: which server" % line.replace("\n\t", ", "), "", v.hash_of(line, ask), *[got] * 3) for line, ask, got in (
    ("balance uri", v.by_uri, "bcdabcdabccdabcdabcdbcdabcdabcabcdabcdab"),
    ("balance uri whole", v.by_uri, "cacacacacaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
    ("balance uri depth 2", v.by_uri, "bcdabcdabccdabcdabcdbcdabcdabcabcdabcdab"),
    (KEY, v.by_header, "cdabcdabcdbcdabcdabcabcdabcdabdabcdabcda"),
    (KEY + "\n\thash-type consistent", v.by_header, "abbadacbccabbacbdbbbcdbbbcbbdbaaacbabcba"),
    (KEY + "\n\thash-type map-based djb2 avalanche", v.by_header, "cbccaadbaadcdbaacbdddabccbadbcdcbaabccaa"),
    ("balance hash req.hdr(X-Key)", v.by_header, "cdabcdabcdbcdabcdabcabcdabcdabdabcdabcda"),
    ("balance roundrobin", v.by_header, "abcd" * 10),
    ("balance static-rr", v.by_header, "abcd" * 10),
    ("balance first", v.by_header, "a" * 40))]

# with what --compat says to write: (row, probe, what 3.2 answered)
KEPT = [
    ("balance", v.in_turn("balance roundrobin"), "in turn"),
    ("balance", v.log_balance("\tbalance roundrobin\n"), "in turn"),
    ("abortonclose", v.half_closed("\tno option abortonclose\n"), "200"),
    ("sni-auto", v.server_hello("sni", "no-sni-auto"), "none"),
    ("check-sni-auto", v.check_hello(SEND, "no-check-sni-auto"), "none"),
    ("alpn", v.bind_alpn("no-alpn"), "none"),
    ("stats-version", v.page("\tstats show-version\n", "/haproxy?stats", v.VERSION), "yes"),
    ("use-backend-disabled", v.chosen("\thttp-request deny deny_status 503 if TRUE\n" + DISABLED, "\tdisabled\n"),
     "503 none"),
    ("upgrade-body", only("upgrade: x", v.forwarded(
        more_front="\thttp-request del-header upgrade if { req.body_size gt 0 }\n", raw=UPGRADE)), "no"),
]

# rows that --compat names for nearly every configuration: they are about clients that the other probes do not have
ALWAYS = {"balance", "abortonclose", "abortonclose-tls", "h1-strict", "upgrade-body", "cpu-policy", "idle-close",
          "tls-version", "sni-auto", "alpn", "check-sni-auto"}


def column(program):
    """Which answer of a row is this program's?"""
    text = subprocess.run([program, "-v"], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True).stdout
    return {"2.6": 0, "3.2": 1}.get(re.search(r"version (\d\.\d)", text).group(1), 2)


def named(program, folder, confs):
    """The rows of --compat 2.6 for these configurations."""
    rows, path = set(), os.path.join(folder, "named.cfg")
    for conf in confs:
        with open(path, "w") as f:
            f.write(conf if conf.startswith(("defaults", "global", "resolvers")) else "global\n" + conf)
        p = subprocess.run([program, "--compat", "2.6", "-q", "-c", "-f", path], stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        rows |= set(re.findall(r"^\S*named\.cfg:\d+: .*?\[([\w-]+)\]", p.stdout, re.M))
    return rows


def test_probe(tap, args, folder, row):
    name, change, probe, *answers = row
    at = column(args.program)
    if answers[at] is None:
        return
    v.confs.clear()
    got = probe(args.program, folder)
    if args.learn:
        print("# %s: %r" % (name, got))
    tap.eq(got, answers[at], name)
    if lib.is_reference(args.program):
        return
    rows = named(args.program, folder, v.confs)
    if change:
        tap.ok(change in rows, "%s: --compat tells of it as %s" % (name, change), rows)
        tap.ok(len({a for a in answers if a}) > 1, "%s: the versions differ" % name)
    else:
        tap.eq(rows - ALWAYS - {change for change in rows if name.startswith("force")}, set(), "%s: the versions agree, and --compat tells of nothing else" % name)
        tap.eq(len({a for a in answers if a}), 1, "%s: one answer" % name)


def test_kept(tap, args, folder, row):
    change, probe, answer = row
    v.confs.clear()
    tap.eq(probe(args.program, folder), answer, "%s: the old meaning is kept" % change)
    rows = named(args.program, folder, v.confs)
    if change not in ("upgrade-body", "use-backend-disabled"): # a rule does not silence what --compat sees
        tap.ok(change not in rows, "%s: --compat is silent" % change, rows)


def main():
    args = lib.arguments(__doc__, ("learn", False, "print what each probe answers"))
    tap = lib.Tap()
    with tempfile.TemporaryDirectory(prefix="hapt.") as folder:
        v.certificate(folder)
        for row in PROBES:
            tap.attempt(row[0], test_probe, tap, args, folder, row)
        for row in KEPT if column(args.program) == 2 else []:
            tap.attempt(row[0] + " kept", test_kept, tap, args, folder, row)
    tap.done()


lib.guarded(main)
