#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The black-box tests of reg-tests/http, h2, rules and tls once more over HTTP/3, by this program and by the reference: to clients
(what a client of varnishtest asks goes through a gateway that asks it over QUIC), to servers (their servers are behind a gateway that
QUIC reaches), and from the one to the other (frontends of tls, which their own backends reach). What varnishtest expects comes true with
both programs; what clients and servers got, lines of logs and counters at the end are the same. What cannot be said in HTTP/3 is left
out, each with the reason (--list)."""
import concurrent.futures
import glob
import os
import re
import shutil
import subprocess
import tempfile
import threading

import lib
import lib_gateway
import lib_quic

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
AREAS = ("http", "h2", "rules", "tls")
GLOBAL = """
	global
		limited-quic
		expose-experimental-directives
"""
COUNTERS = ("stot", "bin", "bout", "dreq", "dresp", "ereq", "econ", "wretr", "wredis", "lbtot", "hrsp_1xx", "hrsp_2xx",
            "hrsp_3xx", "hrsp_4xx", "hrsp_5xx", "hrsp_other", "req_tot", "cli_abrt", "srv_abrt", "conn_tot", "intercepted", "dcon", "dses",
            "wrew", "connect", "reuse", "cache_lookups", "cache_hits", "qcur")
TO_STAT = """
delay .1
haproxy %s -cli {
	send "show stat"
	expect ~ "# pxname"
}
"""
# "-proxy1": nothing says so over QUIC; the client has that address itself
PROXY_LINE = threading.Lock()


class Left(Exception):
    """Why a test is left out."""


# ---- a test and what becomes of it

# What depends on the time over QUIC, where it does not over TCP
STOPS = "when an upload stops that was answered depends on the time"
OF_TIME = {
    "clients": {
        "http/abortonclose_by_default.vtc": "a client of QUIC that closes has left: nothing is half-closed",
        "http/early_answer_keeps_the_connection.vtc": STOPS,
        "http/early_answer_of_bad_rest_closes.vtc": STOPS,
        "http/early_response_to_upload.vtc": STOPS,
        "h2/client_reset.vtc": "what came before a reset depends on the time",
        "rules/silent_drop_is_denied.vtc": "a client asks and leaves at once: one of both is seen first",
    },
    "servers": {
        "http/early_response_to_upload.vtc": STOPS,
        "http/splice_answer_to_head_has_no_body.vtc": STOPS,
        "h2/client_reset.vtc": "what came before a reset depends on the time",
        "h2/two_streams_out_of_order.vtc": "whether the second request finds a connection depends on the time",
        "rules/set_timeout_server.vtc": "whether the request comes before the timeout depends on the time",
    },
}


def left_out(text, way, name):
    """The reasons that can be read off."""
    if name in OF_TIME.get(way, ()):
        raise Left(OF_TIME[way][name])
    head = "".join(re.findall(r"^#.*\n", text, re.M))
    if re.search(r"^# *(extension|differs):", head, re.M | re.I):
        raise Left("an extension, or a difference on purpose")
    if not re.search(r"^client c\d+ -connect \$\{h\d_", text, re.M):
        raise Left("no client of varnishtest")


QUIC_HAS_NO = re.compile(r" (accept-proxy|proto h2|idle-ping \S+|alpn \S+|transparent|defer-accept|tfo|interface \S+|mss \S+|ktls \S+)")
ONLY_OLDER = re.compile(r"force-tlsv1[012]|ssl-max-ver (TLSv1\.[012]|SSL)|no-tlsv13|force-sslv3")


def bind_of(line, port, address, crt):
    """The line of QUIC that goes with a line of TCP."""
    options = QUIC_HAS_NO.sub("", re.sub(r'^\s*bind (\S+|"[^"]*")', "", line.rstrip()))
    if ONLY_OLDER.search(options):
        raise Left("TLS before 1.3")
    if " ssl" not in options:
        options += " ssl crt %s" % crt
    return "\t\tbind quic4@%s:%d%s alpn h3" % (address, port, options)


class Work:
    """One test on its way to being run by one program."""

    def __init__(self, text, session, crt):
        self.text, self.session, self.crt, self.proxied = text, session, crt, "-proxy1" in text

    def clients(self):
        """Frontends that clients reach get a line of QUIC, and clients reach that."""
        names = set(re.findall(r"^client c\d+ -connect \$\{h\d+_(\w+)_sock\}", self.text, re.M))
        addresses = set(re.findall(r'-proxy1 "([\d.:]+) ([\d.:]+)"', self.text))
        if self.proxied and (len(addresses) != 1 or len(names) != 1):
            raise Left("PROXY lines of more than one address")
        if re.search("-proxy[12]", self.text) and not self.proxied:
            raise Left("PROXY lines that are not of version 1")
        address = "127.0.0.1"
        if self.proxied:
            old = addresses.pop()
            new = [re.sub(r"^\d+\.", "127.", a) for a in old]
            for a, b in zip(old, new):
                self.text = self.text.replace(a, b)
            self.text = re.sub(r"\b10\.", "127.", self.text)
            address, port = new[1].split(":")
        for name in names:
            bind = re.search(r'^\s*bind "fd@\$\{%s\}".*$' % name, self.text, re.M)
            if not bind:
                raise Left("a listener that is none of varnishtest's")
            if "ssl" in bind.group(0).split():
                raise Left("clients that speak TLS themselves")
            quic = int(port) if self.proxied else lib.ports(1)[0]
            self.text = self.text.replace(bind.group(0), bind.group(0) + "\n" + bind_of(bind.group(0), quic, address, self.crt))
            front = self.session.front((address, quic), self.proxied)
            self.text = re.sub(r"^(client c\d+ -connect )\$\{h\d+_%s_sock\}" % name, r"\g<1>127.0.0.1:%d" % front, self.text, flags=re.M)

    def servers(self):
        """Servers of varnishtest are behind QUIC."""
        if not re.search(r"^server s\d+[^{\n]*\{", self.text, re.M):
            raise Left("no server of varnishtest")
        for name in set(re.findall(r"^server (s\d+)[^{\n]*\{", self.text, re.M)):
            if re.search(r"^server %s[^{\n]*\{\s*(rxpri|loop \d+ \{\s*rxpri)" % name, self.text, re.M):
                raise Left("a server of HTTP/2")
            real = lib.ports(1)[0]
            back = self.session.back(("127.0.0.1", real))
            self.text = re.sub(r"^(server %s)( [^{\n]*)?\{" % name, r"\1 -listen 127.0.0.1:%d\2 {" % real, self.text, flags=re.M)
            line = re.compile(r"^(\s*server(?:-template)? \S+) \[?\$\{%s_addr\}\]?:\$\{%s_port\}(.*)$" % (name, name), re.M)
            if not line.search(self.text):
                raise Left("a server that no line of the configuration names so")
            self.text = line.sub(lambda m: "%s quic4@127.0.0.1:%d ssl verify none%s" % (m.group(1), back, QUIC_HAS_NO.sub("", m.group(2))), self.text)

    def chain(self):
        """Frontends of TLS that a backend reaches: over QUIC."""
        line = re.compile(r"^(\s*server \S+) \$\{(h\d)_(\w+)_addr\}:\$\{\2_\3_port\}( ssl.*)$", re.M)
        names = {m.group(3) for m in line.finditer(self.text)}
        ports = {}
        for name in names:
            bind = re.search(r'^\s*bind "fd@\$\{%s\}" ssl.*$' % name, self.text, re.M)
            if bind:
                ports[name] = lib.ports(1)[0]
                self.text = self.text.replace(bind.group(0), bind.group(0) + "\n" + bind_of(bind.group(0), ports[name], "127.0.0.1", self.crt))
        if not ports:
            raise Left("no backend that reaches a frontend of TLS")

        def to_quic(m):
            if m.group(3) not in ports:
                return m.group(0)
            if ONLY_OLDER.search(m.group(4)):
                raise Left("TLS before 1.3")
            return "%s quic4@127.0.0.1:%d%s" % (m.group(1), ports[m.group(3)], QUIC_HAS_NO.sub("", m.group(4)))
        self.text = line.sub(to_quic, self.text)

    def plain(self):
        """As it stands."""

    def whole(self, path):
        """The text for varnishtest."""
        text = re.sub(r"^(haproxy h\d+ (?:-\w+ )*-conf \{)", lambda m: m.group(1) + GLOBAL, self.text, flags=re.M)
        for h in sorted(set(re.findall(r"^haproxy (h\d+) (?:-\w+ )*-conf \{", text, re.M))):
            if not re.search(r"^haproxy %s -(wait|stop|start -wait)" % h, text, re.M):
                text += TO_STAT % h
        return text.replace("${testdir}", os.path.dirname(path))


class Result:
    """What varnishtest said; notes of the gateway."""

    def __init__(self, passed, log, notes):
        self.passed, self.log, self.notes = passed, log, notes

    def failure(self):
        found = re.search(r"^-{4} .*$", self.log, re.M)
        return found.group(0) if found else "no line tells"


VARNISHTEST = os.path.join(TOP, "build/tools/varnishtest")


def run(program, path, way, gateway, crt, folder):
    """A Result; raises Left."""
    with open(path, encoding="utf-8") as f:
        text = f.read()
    if way != "plain":
        left_out(text, way, os.path.relpath(path, os.path.join(TOP, "reg-tests")))
    session = lib_gateway.Session(gateway)
    try:
        work = Work(text, session, crt)
        getattr(work, way)()
        with tempfile.TemporaryDirectory(dir=folder) as own:
            copy = os.path.join(own, os.path.basename(path))
            with open(copy, "w", encoding="utf-8") as f:
                f.write(work.whole(path))
            env = dict(os.environ, HAPROXY_PROGRAM=program, TMPDIR=own)
            command = [VARNISHTEST, "-v", "-t", "40", "-b", "8M", copy]

            def go():
                return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=env)
            if work.proxied:
                with PROXY_LINE:
                    out = go()
            else:
                out = go()
            return Result(out.returncode == 0, out.stdout.decode("latin-1").replace(own, "FOLDER"), session.notes)
    finally:
        session.close()


# ---- what is compared

OWN = [(re.compile(p), w) for p, w in (
    (r"<(\d+)>\w{3} [ \d]\d \d\d:\d\d:\d\d ", r"<\1>DATE "),
    (r"haproxy(-3.4)?\[\d+\]", "haproxy[]"),
    (r"\d\d/\w{3}/\d{4}:\d\d:\d\d:\d\d(\.\d+)?( \+0000)?", "DATE"),
    (r"(127\.0\.0\.1):\d{4,5}", r"\1:PORT"),
    (r"/tmp/vtc\.[\d.a-f]+", "TMP"),
    (r"vtc\.\d+\.[0-9a-f]+", "VTC"),
    (r" -?\d+/-?\d+/-?\d+/-?\d+/[+-]?\d+ ", " TIMERS "),
    (r"^date: .*", "date: DATE"),
    (r"\b[0-9a-fA-F]{24,}\b", "RANDOM"),
    (r"^x-src: \d+$", "x-src: PORT"))]


def plain(text):
    for pattern, with_ in OWN:
        text = pattern.sub(with_, text)
    return text


LINE = re.compile(r"^\*+ +(\w+)(?:\.\d+)? +(.*)$")


def heard(log):
    """{who: [what came to it]}: heads (fields in order of their names), lengths and contents of bodies, lines of logs; counters."""
    out, head, stat = {}, {}, {}
    for line in log.splitlines():
        m = LINE.match(line)
        if not m:
            continue
        who, what = m.groups()
        if who.startswith("h"):
            if what.startswith("CLI recv|"):
                counters_of(what[9:], who, stat)
            continue
        if what.startswith("rxhdr|"):
            what = plain(what[6:].replace("\\r", ""))
            if what:
                head.setdefault(who, []).append(what)
                continue
            # differs: h3-authority
            lines = [l for l in head.pop(who, []) if l != "host: 127.0.0.1:PORT"]
            out.setdefault(who, []).append(named(lines))
        elif re.match(r"header\[", what):
            out.setdefault(who, []).append(plain(re.sub(r"^header\[ *\d+\]: ", "", what)))
        elif what.startswith("chunk|") and out.get(who) and str(out[who][-1]).startswith("chunk|"):
            out[who][-1] += what[6:]
        elif re.match(r"(c-l|bodylen|chunk|syslog)\b", what):
            out.setdefault(who, []).append(plain(what))
    for who, lines in out.items():
        if all(isinstance(one, str) for one in lines):
            out[who] = sorted(lines)
    return out, stat


def named(line):
    """Names of fields in small letters; the reason of an interim answer is a program's own."""
    if isinstance(line, str):
        return line
    first = [re.sub(r"^(HTTP/1.1 1\d\d) .*", r"\1", l) for l in line[:1]]
    return first + sorted(re.sub(r"^[^:]*:", lambda m: m.group(0).lower(), l) for l in line[1:])


def counters_of(line, who, stat):
    if line.startswith("# pxname,"):
        stat[who] = {"names": line[2:].split(","), "rows": {}}
        return
    row = line.split(",")
    if who in stat and len(row) == len(stat[who]["names"]):
        named = dict(zip(stat[who]["names"], row))
        for k in COUNTERS:
            if named.get(k, "0") not in ("", "0"):
                stat[who]["rows"]["%s/%s %s" % (row[0], row[1], k)] = named[k]


def has_own(rows):
    """Has it answered itself? Such bytes are counted in other ways (row log-own-bytes of tests/differences.txt)."""
    def answers(of):
        return sum(int(v) for k, v in rows.items() if " hrsp_" in k and "hrsp_1xx" not in k and (k.split(" ")[0].endswith("/FRONTEND")) == of
                   and "/BACKEND " not in k)
    return answers(True) != answers(False) or any(k.split(" ")[1] in ("dreq", "dresp", "ereq", "eresp", "intercepted") for k in rows)


def near(k, x, y, requests):
    """For each request there may be one byte more there."""
    # differs: h3-bytes-of-ends
    if k.split(" ")[1] not in ("bin", "bout") or x is None or y is None:
        return False
    return 0 <= int(y) - int(x) <= requests


def differences(ours, theirs, way):
    """{what: (ours, theirs)}"""
    (a, a_stat), (b, b_stat) = heard(ours.log), heard(theirs.log)
    out = {"what %s got" % who: (a.get(who), b.get(who)) for who in set(a) | set(b) if a.get(who) != b.get(who)}
    for who in set(a_stat) | set(b_stat):
        x, y = a_stat.get(who, {}).get("rows", {}), b_stat.get(who, {}).get("rows", {})
        requests = sum(int(v) for k, v in x.items() if k.endswith("/FRONTEND req_tot"))
        for k in set(x) | set(y):
            if x.get(k) == y.get(k) or (has_own(x) and k.endswith(" bout")) or near(k, x.get(k), y.get(k), requests):
                continue
            # (a part of a body that never was whole: when it is counted is a program's own)
            if way == "clients" and k.endswith("/FRONTEND bin") and x.get(k.replace(" bin", " hrsp_4xx")):
                continue
            # differs: h3-authority
            if way == "chain" and k.endswith(" bin"):
                continue
            # differs: h3-bad-logged
            bad = int(x.get(k.split(" ")[0] + " ereq", 0))
            if way == "clients" and k.split(" ")[1] in ("ereq", "req_tot") and int(x.get(k, 0)) - int(y.get(k, 0)) == bad:
                continue
            out["%s: %s" % (who, k)] = x.get(k), y.get(k)
    return out


# What the reference does otherwise, or not at all: the row of tests/differences.txt, or that it is an extension.
OTHER = {
    "clients": {
        "http/splice_answer_to_head_has_no_body.vtc": "differs: h3-head-bodies",
        "http/method_pri_is_refused.vtc": "differs: h3-method-pri",
        "h2/websocket_refused.vtc": "an extension",
        "h2/websocket_not_offered.vtc": "an extension",
    },
    "servers": {
        "http/head_has_no_body.vtc": "differs: h3-answers",
        "h2/head_has_no_body.vtc": "differs: h3-answers",
        "http/head_larger_than_a_first_read.vtc": "differs: h3-answers",
        "http/send_name_header.vtc": "differs: h3-name-header",
    },
    "chain": {
        "tls/certificates_are_made.vtc": "differs: quic-made-certificates",
        "tls/server_handshake_error.vtc": "differs: quic-handshake-errors",
    },
}
# of those, what does not pass here either: it expects what TCP has
NOT_EITHER = ("http/method_pri_is_refused.vtc", "h2/websocket_not_offered.vtc")


class Tests:
    """All of them one way; judged one by one."""

    def __init__(self, tap, args, gateway, crt, folder):
        self.tap, self.args, self.gateway, self.crt, self.folder = tap, args, gateway, crt, folder
        self.left, self.counts = [], {}

    def one(self, job):
        way, path = job
        try:
            return way, path, [run(p, path, way, self.gateway, self.crt, self.folder) for p in (self.args.program, lib.REFERENCE)]
        except Left as e:
            return way, path, str(e)

    def go(self, jobs):
        with concurrent.futures.ThreadPoolExecutor(self.args.jobs) as pool:
            for way, path, results in pool.map(self.one, jobs):
                self.judge(way, os.path.relpath(path, os.path.join(TOP, "reg-tests")), results)

    def judge(self, way, name, results):
        if isinstance(results, str):
            self.left.append((way, name, results))
            return
        ours, theirs = results
        self.keep_logs(way, name, results)
        if ours.notes or theirs.notes:
            self.left.append((way, name, "it cannot be said: " + (theirs.notes + ours.notes)[0]))
        elif not ours.passed and not theirs.passed:
            self.left.append((way, name, "not as over HTTP/1 or 2: " + theirs.failure()))
        elif name in OTHER.get(way, ()):
            self.counts[way] = self.counts.get(way, 0) + 1
            self.tap.ok(ours.passed != (name in NOT_EITHER), "%s, %s: alone; %s" % (name, way, OTHER[way][name]), ours.failure())
        else:
            self.counts[way] = self.counts.get(way, 0) + 1
            self.compare(way, name, ours, theirs)

    def compare(self, way, name, ours, theirs):
        """Passed or not, what was heard, and counters. What is not the same without HTTP/3 either is for other tests."""
        said = "%s, %s" % (name, way)
        why = ours.failure() if theirs.passed else "the reference: " + theirs.failure()
        if not self.tap.ok(ours.passed == theirs.passed, said + ": passes", why):
            return
        found = differences(ours, theirs, way)
        if found:
            path = os.path.join(TOP, "reg-tests", name)
            plain_ways = [run(p, path, "plain", self.gateway, self.crt, self.folder) for p in (self.args.program, lib.REFERENCE)]
            known = differences(*plain_ways, way)
            found = {k: v for k, v in found.items() if k not in known}
        for what, (a, b) in sorted(found.items()):
            self.tap.eq(a, b, "%s: %s" % (said, what))
        self.tap.ok(not found, said + ": all is the same")

    def keep_logs(self, way, name, results):
        if self.args.keep:
            os.makedirs(self.args.keep, exist_ok=True)
            for r, of in zip(results, ("ours", "theirs")):
                with open(os.path.join(self.args.keep, "%s.%s.%s" % (name.replace("/", "_"), way, of)), "w", encoding="utf-8") as f:
                    f.write(r.log)


def jobs_of(args):
    out = []
    for area in AREAS:
        for path in sorted(glob.glob(os.path.join(TOP, "reg-tests", area, "*.vtc"))):
            for way in ("chain",) if area == "tls" else ("clients", "servers"):
                if re.search(args.only, "%s %s" % (os.path.relpath(path, TOP), way)):
                    out.append((way, path))
    return [j for i, j in enumerate(out) if i % args.every == args.first]


def main():
    args = lib.arguments(__doc__, ("only", "", "a regular expression of files, and of clients, servers or chain"),
                         ("every", 41, "only each so many-th test"), ("first", 0, "which of them is the first"),
                         ("jobs", 3, "how many at once"), ("list", False, "what is left out, and why"),
                         ("keep", "", "a folder for the logs of varnishtest"))
    tap = lib.Tap()
    with tempfile.TemporaryDirectory(prefix="hapt.") as folder:
        crt = os.path.join(folder, "localhost.pem")
        if not os.access(lib.REFERENCE, os.X_OK) or not lib_quic.HAVE_AIOQUIC or not lib_quic.certificate(crt) or not shutil.which(VARNISHTEST):
            tap.skip("black-box tests over HTTP/3", "the reference is not installed, or varnishtest, or Python's aioquic, or openssl")
            tap.done()
        gateway = lib_gateway.Gateway(crt)
        tests = Tests(tap, args, gateway, crt, folder)
        tests.go(jobs_of(args))
        gateway.close()
        if args.list:
            for left in tests.left:
                print("# left out, %s, %s: %s" % left)
        print("# carried over: %s; left out: %d" % (", ".join("%d %s" % (n, w) for w, n in tests.counts.items()), len(tests.left)))
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
