#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""--compat: which lines it names, for which versions, and that what it says to write keeps it silent.

Each row of src/main/compat_rows.c has a case here: a configuration whose line it names, and the same with what keeps
the old meaning, of which it says nothing. tests/system/changed_defaults.py shows that the facts are true.
"""
import os
import re
import subprocess
import tempfile

import lib

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
D = "defaults\n\tmode http\n\ttimeout connect 5s\n\ttimeout client 5s\n\ttimeout server 5s\n"
F = "frontend f\n\tbind 127.0.0.1:8399\n"
TLS = "frontend f\n\tbind 127.0.0.1:8399 ssl crt @CRT@"
B = "backend b\n"
G = "global\n\tnbthread 1\n"
TWO = "\tserver a 127.0.0.1:1\n\tserver c 127.0.0.1:2\n"
CHECK = "\toption httpchk\n\thttp-check send meth GET uri / hdr Host x\n\tserver a 127.0.0.1:1 ssl verify none check"

# (row, configuration with the word @X@ where the line that is named begins, a text that keeps the old meaning, and
# what of the first text it replaces)
CASES = [
    ("balance", D + "@X@" + B + TWO, TWO, "\tbalance roundrobin\n" + TWO),
    ("balance", D + "@X@" + B + "\tserver-template s 3 127.0.0.1:1\n", D, D + "\tbalance roundrobin\n"),
    ("balance", D.replace("http", "tcp") + "@X@listen b\n" + TWO, TWO, TWO.split("\n")[0] + "\n"),
    ("abortonclose", D + "@X@" + B, B, B + "\tno option abortonclose\n"),
    ("abortonclose", D + "@X@" + B, "mode http", "mode tcp"),
    ("abortonclose-tls", D + TLS.replace("\tbind", "@X@\tbind") + "\n", D, D + "\tno option abortonclose\n"),
    ("sni-auto", D + B + "@X@\tserver a 127.0.0.1:1 ssl verify none\n", " ssl", " no-sni-auto ssl"),
    ("sni-auto", D + "\tdefault-server ssl verify none\n" + B + "@X@\tserver a 127.0.0.1:1\n", " ssl", " sni str(x) ssl"),
    ("check-sni-auto", D + B + CHECK.replace("\tserver", "@X@\tserver") + "\n", " check\n", " check no-check-sni-auto\n"),
    ("alpn", D + TLS.replace("\tbind", "@X@\tbind") + "\n", "@CRT@", "@CRT@ no-alpn"),
    ("tls-version", D + TLS.replace("\tbind", "@X@\tbind") + "\n", "@CRT@", "@CRT@ ssl-min-ver TLSv1.0"),
    ("tls-version", D + TLS.replace("\tbind", "@X@\tbind") + "\n", D,
     "global\n\tssl-default-bind-options ssl-min-ver TLSv1.0\n" + D),
    ("stats-version", D + F + "@X@\tstats enable\n", "\tstats enable", "\tstats show-version\n\tstats enable"),
    ("stats-version", D + F + "@X@\tstats uri /s\n", "\tstats", "\tstats show-version\n\tstats"),
    ("cpu-policy", "@X@global\n" + D, "global\n", "global\n\tcpu-policy first-usable-node\n"),
    ("thread-groups", "global\n@X@\tnbthread 17\n" + D, "17", "16"),
    ("thread-groups", "global\n@X@\tnbthread 17\n" + D, "global\n", "global\n\tmax-threads-per-group 64\n"),
    ("dns-accept-family", "@X@resolvers r\n\tnameserver n 127.0.0.1:53\n" + D, "@X@",
     "global\n\tdns-accept-family ipv4,ipv6\n@X@"),
    ("idle-close", D + "@X@" + F, F, F + "\toption idle-close-on-response\n"),
    ("strict-limits", "@X@global\n\tmaxconn 10\n" + D, "global\n", "global\n\tno strict-limits\n"),
    ("use-backend-disabled", D + F + "@X@\tuse_backend b\n" + B + "\tdisabled\n", "\tdisabled\n", ""),
    ("h1-strict", D + "@X@" + F, "mode http", "mode tcp"),
    ("upgrade-body", D + "@X@" + F, "mode http", "mode tcp"),
    ("master-worker", "global\n@X@\tmaster-worker\n" + D, "\tmaster-worker\n", ""),
    ("master-worker", "global\n@X@\tmaster-worker\n" + D, "\tmaster-worker\n", "\tmaster-worker no-exit-on-failure\n"),
    ("no-quic", "global\n@X@\tno-quic\n" + D, "no-quic", "tune.quic.listen off"),
    ("dispatch", D + B + "@X@\tdispatch 127.0.0.1:1\n", "\tdispatch", "\tserver dispatch"),
    ("transparent", D + B + "@X@\toption transparent\n", "\toption transparent", "\tserver transparent 0.0.0.0"),
    ("accept-invalid", D + F + "@X@\toption accept-invalid-http-request\n", "accept-invalid-http",
     "accept-unsafe-violations-in-http"),
    ("small-timeout", D + B + "@X@\ttimeout server 50\n", "50\n", "50ms\n"),
    ("small-resolver-time", D + "resolvers r\n@X@\thold valid 20\n", "20\n", "20ms\n"),
    ("cpu-map-threads", "global\n@X@\tcpu-map 1/1 0\n" + D, "\tcpu-map 1/1 0\n", ""),
    ("header-colon", D + F + "@X@\thttp-request set-header X: y\n", "X:", "X"),
    ("same-name", D + F + "@X@backend f\n", "backend f", "backend other"),
    ("empty-word", D + F + '@X@\tmaxconn 5 ""\n', ' ""', ""),
    ("program", D + "@X@program p\n\tcommand true\n", "program p\n\tcommand true\n", ""),
    ("quic-buffers", "global\n@X@\ttune.quic.frontend.conn-tx-buffers.limit 30\n" + D, "\ttune.quic.frontend.conn-tx-buffers.limit 30\n", ""),
    ("httpchk-headers", D + B + "@X@\toption httpchk GET / HTTP/1.1\\r\\nHost:\\ x\n", "\\r\\nHost:\\ x", ""),
    ("bind-process", D + "frontend f\n@X@\tbind 127.0.0.1:8399 process 1\n", "process 1", "thread 1"),
    ("proxy-process", D + F + "@X@\tbind-process 1\n", "\tbind-process 1\n", ""),
    ("stats-process", "global\n@X@\tstats socket /tmp/none process 1\n" + D, "process 1", "thread 1"),
    ("nbproc", "global\n@X@\tnbproc 2\n" + D, "nbproc", "nbthread"),
    ("grace", D + F + "@X@\tgrace 5s\n", "\tgrace 5s\n", ""),
    ("http-proxy", D + B + "@X@\toption http_proxy\n", "\toption http_proxy\n", ""),
    ("debug", "global\n@X@\tdebug\n" + D, "\tdebug\n", ""),
    ("timeout-names", D + B + "@X@\tsrvtimeout 5s\n", "srvtimeout", "timeout server"),
    ("redispatch", D + B + "@X@\tredispatch\n", "redispatch", "option redispatch"),
    ("header-colon", D + "ruleset r name\n@X@\thttp-request set-header X: @{name}\n" + F + "\tuse-ruleset r y\n", "X:", "X"),
    ("use-backend-disabled", D + "ruleset r\n@X@\tuse_backend b\n" + F + "\tuse-ruleset r\n" + B + "\tdisabled\n", "\tdisabled\n", ""),
    ("block", D + "ruleset r\n@X@\tblock if TRUE\n" + F + "\tuse-ruleset r\n", "block", "http-request deny"),
    ("block", D + F + "@X@\tblock if TRUE\n", "block", "http-request deny"),
    ("request-rewrite", D + F + "@X@\treqidel ^X-A:\n", "reqidel ^X-A:", "http-request del-header X-A"),
    ("response-rewrite", D + F + "@X@\trspadd X-A:\\ b\n", "rspadd X-A:\\ b", "http-response add-header X-A b"),
    ("http-tunnel", D + F + "@X@\toption http-tunnel\n", "\toption http-tunnel\n", ""),
] + [(row, "global\n@X@\t%s %s\n" % (old, value) + D, "\t%s %s\n" % (old, value), "\t%s %s\n" % (new, other))
     for row, old, value, new, other in (
         ("quic-idle", "tune.quic.frontend.max-idle-timeout", "30s", "tune.quic.fe.max-idle-timeout", "30s"),
         ("quic-streams", "tune.quic.frontend.max-streams-bidi", "30", "tune.quic.fe.stream.max-concurrent", "30"),
         ("quic-data", "tune.quic.frontend.max-data-size", "30k", "tune.quic.fe.stream.rxbuf", "30k"),
         ("quic-window", "tune.quic.frontend.default-max-window-size", "30k", "tune.quic.fe.cc.max-win-size", "30k"),
         ("quic-ratio", "tune.quic.frontend.stream-data-ratio", "30", "tune.quic.fe.stream.data-ratio", "30"),
         ("quic-glitches", "tune.quic.frontend.glitches-threshold", "30", "tune.quic.fe.sec.glitches-threshold", "30"),
         ("quic-retry", "tune.quic.retry-threshold", "30", "tune.quic.fe.sec.retry-threshold", "30"),
         ("quic-sockets", "tune.quic.socket-owner", "listener", "tune.quic.fe.sock-per-conn", "force-off"),
         ("quic-hystart", "tune.quic.cc-hystart", "on", "tune.quic.fe.cc.hystart", "on"),
         ("quic-losses", "tune.quic.cc.cubic.min-losses", "3", "tune.quic.fe.cc.cubic-min-losses", "3"),
         ("quic-pacing", "tune.quic.disable-tx-pacing", "", "tune.quic.fe.tx.pacing", "off"),
         ("quic-gso", "tune.quic.disable-udp-gso", "", "tune.quic.fe.tx.udp-gso", "off"),
         ("quic-tx-memory", "tune.quic.frontend.max-tx-mem", "30k", "tune.quic.mem.tx-max", "30k"),
         ("quic-frame-loss", "tune.quic.max-frame-loss", "3", "tune.quic.fe.cc.max-frame-loss", "3"),
         ("quic-reorder", "tune.quic.reorder-ratio", "50", "tune.quic.fe.cc.reorder-ratio", "50"))]


def rows():
    """{name: (last version with the old meaning, first with the new one)} of the table"""
    with open(os.path.join(TOP, "src/main/compat_rows.c")) as f:
        table = f.read().split("compat_rows[] = {")[1]
    found = {}
    for m in re.finditer(r'\{ \.name = "([\w-]+)",(?: \.before = (\d+),)? \.since = (\d+)', table):
        found[m.group(1)] = int(m.group(3))
    for m in re.finditer(r'GONE\("([\w-]+)", (\d+)', table):
        found[m.group(1)] = int(m.group(2))
    for m in re.finditer(r'RENAMED\("([\w-]+)"', table):
        found[m.group(1)] = 303
    return found


def compat(program, folder, version, text, *words):
    """{(row, line)} that it names, its output"""
    path = os.path.join(folder, "x.cfg")
    with open(path, "w") as f:
        f.write(text.replace("@CRT@", os.path.join(folder, "site.pem")))
    p = subprocess.run([program, "--compat", version, "-c", "-q", "-f", path] + list(words), stdin=subprocess.DEVNULL,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=lib.PATIENCE)
    return {(m.group(2), int(m.group(1))) for m in re.finditer(r"^.*x\.cfg:(\d+): .*?\[([\w-]+)\]", p.stdout, re.M)}, p


def number(version):
    """202 becomes "2.2"."""
    return "%d.%d" % (version // 100, version % 100)


def previous(version):
    return number({300: 209}.get(version, version - 1))


def test_cases(tap, program, folder):
    since = rows()
    for row, text, old, new in CASES:
        line = text.split("@X@")[0].count("\n") + 1
        text = text.replace("@X@", "", 1) if "@X@" in text else text
        before = "2.0" if since[row] <= 206 else previous(since[row])
        found, p = compat(program, folder, before, text)
        tap.ok((row, line) in found, "%s is named at line %d for %s" % (row, line, before), p.stdout)
        if since[row] <= 303:
            found, p = compat(program, folder, number(since[row]), text)
            tap.ok(row not in {r for r, _ in found}, "%s is not named for %s" % (row, number(since[row])), p.stdout)
        changed = text.replace(old.replace("@X@", ""), new.replace("@X@", ""), 1)
        tap.ok(changed != text, "%s: what keeps the meaning is another text" % row)
        found, p = compat(program, folder, "2.0", changed)
        tap.ok(row not in {r for r, _ in found}, "%s is not named of what keeps the meaning" % row, p.stdout)
    tap.eq({row for row, *_ in CASES}, set(since), "each row has a case")


def test_inheritance(tap, program, folder):
    text = ("defaults one\n\tmode http\n\tbalance roundrobin\ndefaults two\n\tmode http\n" +
            "backend a from one\n" + TWO + "backend b\n" + TWO + "backend c from two\n" + TWO)
    found, p = compat(program, folder, "3.2", text)
    tap.eq({n for r, n in found if r == "balance"}, {9, 12}, "a section inherits from the defaults that it names")
    text = ".if version_atleast(9.9)\nbackend x\n" + TWO + ".endif\n" + "defaults\n\tmode http\n\tbalance first\nbackend b\n" + TWO
    found, p = compat(program, folder, "3.2", text)
    tap.ok("balance" not in {r for r, _ in found}, "lines of a condition that does not hold do not count", p.stdout)
    with open(os.path.join(folder, "part.inc"), "w") as f:
        f.write("\tbalance roundrobin\n")
    found, p = compat(program, folder, "3.2", D + B + '.include "part.inc"\n' + TWO)
    tap.ok("balance" not in {r for r, _ in found}, "included lines count", p.stdout)
    tap.ok(re.search(r"^[1-9]\d* meanings? changed since 3\.2\.$", p.stdout, re.M), "the sum comes last", p.stdout)


def test_command_line(tap, program, folder):
    for version in ("1.8", "3.4", "9", "", "x", "2.60"):
        p = compat(program, folder, version, D)[1]
        tap.ok(p.returncode == 1, "--compat %s is refused" % version, p.stdout)
    for version in ("2.0", "2.6.12", "3.2.26", "3.3"):
        found, p = compat(program, folder, version, D + F)
        tap.ok(p.returncode == 0 and "changed since %s." % version[:3] in p.stdout, "--compat %s" % version, p.stdout)
    p = subprocess.run([program, "--compat"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    tap.ok(p.returncode == 1 and b"Usage" in p.stdout, "--compat without a version")
    p = subprocess.run([program, "--compat", "2.6", "-f", os.path.join(folder, "x.cfg")], stdin=subprocess.DEVNULL,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=lib.PATIENCE)
    tap.eq(p.returncode, 0, "it only checks, without -c")


def test_diagnostics(tap, program, folder):
    path = os.path.join(folder, "d.cfg")
    with open(path, "w") as f:
        f.write(D + F + B + TWO)
    for words, told in (("-dD",), True), ((), False):
        p = subprocess.run([program, "-c", "-f", path] + list(words), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, text=True)
        got = re.findall(r"^\[DIAG\].*d\.cfg:(\d+)\].*balance roundrobin", p.stdout, re.M)
        tap.ok(got == (["8"] if told else []) and p.returncode == 0 and "[WARNING]" not in p.stdout,
               "-dD tells of a default that has changed" if told else "without -dD nothing is said", p.stdout)


def main():
    args = lib.arguments(__doc__)
    tap = lib.Tap()
    if lib.is_reference(args.program):
        tap.skip("--compat", "an extension")
        tap.done()
    with tempfile.TemporaryDirectory(prefix="hapt.") as folder:
        import lib_versions
        lib_versions.certificate(folder)
        tap.run([test_cases, test_inheritance, test_command_line, test_diagnostics], args.program, folder)
    tap.done()


lib.guarded(main)
