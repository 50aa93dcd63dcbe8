#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Names that are resolved at run time, against a scripted name server: how servers come, change and
go, what is logged and counted, and what hostile answers do.
"""
import os
import re
import tempfile
import time

import lib_dns as d
import lib
import lib_manual

CONF = """
	log 127.0.0.1:{log} local0
	{glob}
resolvers dns
	nameserver d1 {ns}127.0.0.1:{dns}
	timeout resolve 100
	timeout retry {retry}
	{tries}
	hold nx {hold}
	hold other {hold}
	hold refused {hold}
	hold timeout {silence}
	{section}
defaults
	mode http
	log global
	timeout connect 2s
	timeout client 5s
	timeout server 5s
frontend fe
	bind 127.0.0.1:{port}
	{fe}
	default_backend be
backend be
	{be}
"""
S1 = "server s1 foo.example.com:80 resolvers dns init-addr none"
FOO = "foo.example.com"
SERVICE = "_http._tcp.example.com"


class Scene:
    """A name server, a log server and the program."""

    def __init__(self, args, be=S1, zone=None, **more):
        self.dns = d.Dns(zone)
        self.log = lib.Syslog()
        self.port = lib.ports(1)[0]
        # <retry>: an answer that comes later than three times this is none, also where all is slow.
        # <silence>: for how long that is without effect
        words = dict(glob="", section="", fe="", ns="", hold="200", retry="500", silence="1h",
                     tries="resolve_retries 2")
        words.update(more)
        self.conf = CONF.format(log=self.log.port, dns=self.dns.port, port=self.port,
                                be="\n\t".join(be.split("\n")), **words)
        self.proxy = lib.Proxy(args.program, self.conf)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.proxy.__exit__()
        self.dns.close()

    def rows(self):
        """{server: (address, operational, admin, weight, name, port, service)}"""
        out = {}
        for line in self.proxy.ctl("show servers state be").split("\n")[2:]:
            f = line.split()
            if f:
                out[f[3]] = (f[4], f[5], f[6], f[7], f[17], f[18], f[19])
        return out

    def addresses(self):
        return sorted(r[0] for r in self.rows().values())

    def becomes(self, tap, want, name):
        """Waits until the addresses of the servers, sorted, are <want>."""
        got = lib.until(lambda: self.addresses() == sorted(want))
        tap.ok(got, name, "got %r want %r\n%s" % (self.addresses(), want, self.proxy.output()))

    def figures(self, ns="d1"):
        text = self.proxy.ctl("show resolvers dns").split(" nameserver %s:\n" % ns)[1]
        return {k: int(v) for k, v in re.findall(r"^  (\w+): +(\d+)$",
                                                 text.split(" nameserver")[0], re.M)}

    def told(self):
        return [line.split("]: ", 1)[1] for line in self.log.lines]

    def has(self, tap, text, name):
        found = lib.until(lambda: any(text in line for line in self.told()))
        tap.ok(found, name, "no %r in\n%s" % (text, "\n".join(self.told())))

    def get(self, *headers):
        """The headers of an answer."""
        with lib.connect(self.port) as s:
            s.sendall(b"GET / HTTP/1.1\r\nhost: x\r\n%s\r\n" % b"".join(
                h.encode() + b"\r\n" for h in headers))
            return lib.Reader(s).response()


LEFT = " %d active and 0 backup servers left. 0 sessions active, 0 requeued, 0 remaining in queue."


def many_names(tap, args):
    """Asked at once: neither are their answers lost, nor does a burst of them end the conversation."""
    names = ["h%d.example.com" % i for i in range(1500)]
    be = "\n".join("server s%d %s:80 resolvers dns init-addr none" % i for i in enumerate(names))
    slow = "timeout retry 1s\n\tresolve_retries 20\n\ttimeout resolve 1h"
    with Scene(args, be=be, zone={n: [d.a("127.0.0.5")] for n in names}, section=slow) as s:
        tap.ok(lib.until(lambda: s.addresses() == ["127.0.0.5"] * 1500, 3 * lib.PATIENCE / 2),
               "1500 names get their addresses", s.figures())


def one_server(tap, args):
    with Scene(args, zone={FOO: [d.a("127.0.0.5")]}) as s:
        s.becomes(tap, ["127.0.0.5"], "a name gets its address")
        tap.eq(s.rows()["s1"], ("127.0.0.5", "2", "0", "1", FOO, "80", "-"), "and is up")
        s.dns.zone[FOO] = [d.a("127.0.0.6")]
        s.becomes(tap, ["127.0.0.6"], "another address is taken")
        s.dns.zone[FOO] = d.NXDOMAIN
        s.becomes(tap, ["-"], "no address: NXDOMAIN")
        tap.eq(s.rows()["s1"], ("-", "0", "32", "1", FOO, "80", "-"), "in maintenance")
        tap.eq(s.proxy.stats()["be", "s1"]["status"], "MAINT (resolution)", "so says show stat")
        s.dns.zone[FOO] = [d.a("127.0.0.6")]
        s.becomes(tap, ["127.0.0.6"], "it comes back")
        up = ["be/s1: IP changed from '(none)' to '127.0.0.%d' by 'dns/d1'.",
              "Server be/s1 ('foo.example.com') is UP/READY (resolves again).",
              "Server be/s1 administratively READY thanks to valid DNS answer."]
        want = [up[0] % 5] + up[1:] + [
            "be/s1: IP changed from '127.0.0.5' to '127.0.0.6' by 'dns/d1'.",
            "Server be/s1 is going DOWN for maintenance (DNS NX status)." + LEFT % 0,
            "backend be has no server available!", up[0] % 6] + up[1:]
        lib.until(lambda: len(s.told()) >= len(want))
        tap.eq(s.told(), want, "all of it is told")
        levels = [int(line[1:line.index(">")]) & 7 for line in s.log.lines]
        tap.eq(levels, [5, 5, 5, 5, 1, 0, 5, 5, 5], "with the levels of such events")
        f = s.figures()
        tap.eq(f["update"], 3, "changed addresses are counted")
        tap.ok(f["valid"] >= 3 and f["nx"] > 1 and f["sent"] >= f["valid"] + f["nx"],
               "and so are answers", f)
        kinds = {q.kind for q in s.dns.seen}
        tap.eq(kinds, {d.A, d.AAAA}, "both families are asked for")
        tap.eq({q.payload for q in s.dns.seen}, {512}, "the size is announced")
        tap.ok(len({q.id for q in s.dns.seen}) > 2, "identifiers change")
        if not lib.is_reference(args.program):
            tap.ok(len({q.peer for q in s.dns.seen}) > 2, "ports change")


def always_waiting(tap, args):
    """An answer is always missing: the port that answers come to changes all the same."""
    if lib.is_reference(args.program):
        return
    be = S1 + "\nserver s2 silent.example.com:80 resolvers dns init-addr none"
    with Scene(args, be, {FOO: [d.a("127.0.0.5")], "silent.example.com": None}, retry="100") as s:
        def ports():
            return {q.peer[1] for q in list(s.dns.seen)}
        lib.until(lambda: len(ports()) > 4, 20)
        tap.ok(len(ports()) > 4, "the port changes while a query waits", ports())
        s.dns.zone[FOO] = [d.a("127.0.0.6")]
        s.becomes(tap, ["127.0.0.6", "-"], "answers are heard")


def reasons(tap, args):
    for answer, counter, reason in (
            (d.REFUSED, "refused", "DNS refused status"), (d.SERVFAIL, "other", "unspecified DNS "
             "error"), (None, None, "DNS timeout status"), ([], "any_err", "unspecified DNS error"),
            (d.NOTIMP, "other", "unspecified DNS error")):
        with Scene(args, zone={FOO: [d.a("127.0.0.5")]}, silence="200" if answer is None else "1h") as s:
            s.becomes(tap, ["127.0.0.5"], "up before %s" % answer)
            before = s.figures()
            s.dns.zone[FOO] = answer
            s.becomes(tap, ["-"], "down by %s" % answer)
            s.has(tap, "is going DOWN for maintenance (%s)." % reason, "told why")
            if counter:
                tap.ok(s.figures()[counter] > before[counter] + 1, "counted as " + counter)
    with Scene(args, zone={FOO: [d.a("127.0.0.5")]}, hold="1h") as s:
        s.becomes(tap, ["127.0.0.5"], "up")
        s.dns.zone[FOO] = d.NXDOMAIN
        seen = s.figures()["nx"]
        tap.ok(lib.until(lambda: s.figures()["nx"] > seen + 8), "many NXDOMAIN within `hold nx`")
        tap.eq(s.addresses(), ["127.0.0.5"], "are without effect")


def templates(tap, args):
    be = "server-template t 4 foo.example.com:80 resolvers dns init-addr none resolve-prefer ipv4"
    with Scene(args, be, {FOO: [d.a("127.0.0.%d" % i) for i in (1, 2, 3)]}) as s:
        s.becomes(tap, ["-", "127.0.0.1", "127.0.0.2", "127.0.0.3"], "each takes one address")
        tap.eq({q.kind for q in s.dns.seen}, {d.A}, "of the preferred family")
        n = len(s.dns.seen)
        tap.ok(n <= s.figures()["valid"] + 2, "one resolution for all", n)
        s.dns.zone[FOO] = [d.a("127.0.0.2"), d.a("127.0.0.9")]
        s.becomes(tap, ["-", "-", "127.0.0.2", "127.0.0.9"], "those that are gone are left")
        s.has(tap, "is going DOWN for maintenance (No IP for server ).", "told so")
        s.dns.zone[FOO] = [d.a("127.0.0.%d" % i) for i in range(1, 9)]
        lib.until(lambda: "-" not in s.addresses())
        tap.eq(len(set(s.addresses())), 4, "none is taken twice")
    be = "\n".join("server s%d foo.example.com:80 resolvers dns init-addr none "
                   "resolve-opts allow-dup-ip" % i for i in (1, 2))
    with Scene(args, be, {FOO: [d.a("127.0.0.1")]}) as s:
        s.becomes(tap, ["127.0.0.1"] * 2, "allow-dup-ip: both take the only address")
    be = "default-server resolvers dns init-addr none resolve-opts allow-dup-ip\n" + \
        "\n".join("server s%d foo.example.com:80%s" % (i, " resolve-opts prevent-dup-ip" if i > 1 else "") for i in (1, 2, 3))
    with Scene(args, be, {FOO: [d.a("127.0.0.1"), d.a("127.0.0.2")]}) as s:
        s.becomes(tap, ["-", "127.0.0.1", "127.0.0.2"], "prevent-dup-ip, against default-server")
    be = ("server s1 foo.example.com:80 resolvers dns init-addr none resolve-prefer ipv4 "
          "resolve-net 127.0.5.0/24,127.0.7.0/24")
    with Scene(args, be, {FOO: [d.a("127.0.0.%d" % i) for i in range(1, 9)] +
                          [d.a("127.0.7.1")]}) as s:
        s.becomes(tap, ["127.0.7.1"], "resolve-net: the address of a network")
        s.dns.zone[FOO] = [d.a("127.0.0.1")]
        s.becomes(tap, ["127.0.0.1"], "another one when there is none")
    zone = {FOO: [d.a("127.0.0.1"), d.aaaa("::1")]}
    for words, want in (("", "::1"), (" resolve-prefer ipv6", "::1"),
                        (" resolve-prefer ipv4", "127.0.0.1")):
        with Scene(args, S1 + words, zone) as s:
            s.becomes(tap, [want], "family%s" % words)
    with Scene(args, S1, zone, glob="dns-accept-family ipv4") as s:
        s.becomes(tap, ["127.0.0.1"], "dns-accept-family ipv4")
        tap.eq({q.kind for q in s.dns.seen}, {d.A}, "nothing else is asked for")
    with Scene(args, S1 + " resolve-prefer ipv4", zone, glob="dns-accept-family ipv6") as s:
        s.becomes(tap, ["::1"], "dns-accept-family ipv6, against the preference")
        tap.eq({q.kind for q in s.dns.seen}, {d.AAAA}, "nothing else is asked for")


def administration(tap, args):
    """Maintenance by command and by names, checks, servers that track, addresses set by hand."""
    be = S1 + "\nserver s2 127.0.0.1:1 track be/s1"
    server = lib.Server(lib.echo_handler)
    be = be.replace(":80", ":%d" % server.port) + "\n" + (
        "server s3 foo.example.com:1 resolvers dns init-addr none check inter 50 fall 1 "
        "resolve-opts allow-dup-ip")
    be = be.replace("init-addr none\n", "init-addr none check inter 50 resolve-opts allow-dup-ip\n")
    with Scene(args, be, {FOO: [d.a("127.0.0.1")]}) as s:
        s.has(tap, "Server be/s2 is UP/READY (leaving maintenance).", "who tracks is up as well")
        s.has(tap, "Server be/s3 is DOWN, reason: Layer4 connection problem", "checks go on")
        s.dns.zone[FOO] = d.NXDOMAIN
        s.has(tap, "Server be/s2 is going DOWN for maintenance (DNS NX status) via be/s1.",
              "who tracks goes down as well")
        s.has(tap, "Server be/s3 was DOWN and now enters maintenance (DNS NX status).",
              "one that was down")
    with Scene(args, S1) as s:
        s.proxy.ctl("set server be/s1 state maint")
        s.dns.zone[FOO] = [d.a("127.0.0.1")]
        s.has(tap, "Server be/s1 ('foo.example.com') resolves again but remains in maintenance.",
              "maintenance by command stays")
        tap.eq(s.rows()["s1"][:3], ("127.0.0.1", "0", "1"), "with an address")
        s.proxy.ctl("set server be/s1 state ready")
        s.has(tap, "Server be/s1 is UP/READY (leaving forced maintenance).", "until it ends")
        s.proxy.ctl("set server be/s1 addr 127.0.0.9")
        seen = s.figures()["valid"]
        lib.until(lambda: s.figures()["valid"] > seen + 2)
        tap.eq(s.addresses(), ["127.0.0.9"], "an address set by hand")
        s.dns.zone[FOO] = [d.a("127.0.0.2")]
        s.becomes(tap, ["127.0.0.2"], "stays until the answer changes")
        s.dns.zone[FOO] = d.NXDOMAIN
        s.becomes(tap, ["-"], "no address")
        tap.eq(s.proxy.ctl("set server be/s1 addr 127.0.0.9").strip(), "Update for the current "
               "server address family is only supported through configuration file.",
               "which no command gives")
    be = "server-template t 4 foo.example.com:80 resolvers dns init-addr none resolve-prefer ipv4"
    with Scene(args, be, {FOO: [d.a("127.0.0.1")]}, section="hold obsolete 1h") as s:
        for i in (1, 2, 3):
            s.dns.zone[FOO] = [d.a("127.0.0.%d" % i)]
            s.becomes(tap, ["-"] * (4 - i) + ["127.0.0.%d" % n for n in range(1, i + 1)],
                      "hold obsolete: answers that tell a part each, %d" % i)
    server.close()


def services(tap, args):
    be = "server-template t 3 %s resolvers dns init-addr none" % SERVICE
    zone = {"h1.example.com": [d.a("127.0.0.1")], "h2.example.com": [d.a("127.0.0.2")],
            SERVICE: [d.srv("h1.example.com", 81, 0), d.srv("h2.example.com", 82, 65535)]}

    def rows(s):
        return sorted(r for r in s.rows().values() if r[0] != "-")

    def become(s, want, name):
        lib.until(lambda: rows(s) == sorted(want))
        tap.eq(rows(s), sorted(want), name)

    with Scene(args, be, zone, section="accepted_payload_size 8192") as s:
        one = ("127.0.0.1", "2", "64", "0", "h1.example.com", "81", SERVICE)
        two = ("127.0.0.2", "2", "64", "256", "h2.example.com", "82", SERVICE)
        become(s, [one, two], "two services, with ports and weights")
        s.has(tap, "changed its FQDN from (null) to h1.example.com by 'SRV record'", "told so")
        three = ("127.0.0.3", "2", "64", "2", "h3.example.com", "83", SERVICE)
        s.dns.zone[SERVICE] = [d.srv("h2.example.com", 82, 257), d.srv("h3.example.com", 83, 512),
                               d.a("127.0.0.3", name="h3.example.com", extra=True)]
        two = two[:3] + ("2",) + two[4:]
        become(s, [two, three], "one goes, one comes, one has another weight")
        s.has(tap, "is going DOWN for maintenance (entry removed from SRV record).", "told so")
        s.has(tap, "to '127.0.0.3', port changed from '", "with the port that it came with")
        s.has(tap, "by 'DNS additional record'.", "and from where")
        tap.eq({q.payload for q in s.dns.seen}, {8192}, "the size is announced")
        s.dns.zone["h2.example.com"] = d.NXDOMAIN
        become(s, [three], "its name is gone")
        s.dns.zone[SERVICE] = d.NXDOMAIN
        become(s, [], "all are gone")
        s.dns.zone[SERVICE] = [d.srv("h%d.example.com" % i, 80 + i) for i in range(1, 30)]
        s.dns.zone.update(("h%d.example.com" % i, [d.a("127.0.0.%d" % i)]) for i in range(1, 30))
        lib.until(lambda: len(rows(s)) == 3)
        got = rows(s)
        tap.eq(len({r[4] for r in got}), 3, "more services than servers: three are taken")
        tap.ok(all(int(r[5]) == 80 + int(r[0].split(".")[3]) for r in got),
               "ports and addresses belong together", got)
    be += " resolve-opts ignore-weight weight 7"
    zone = {"h1.example.com": [d.a("127.0.0.1")], SERVICE: [d.srv("h1.example.com", 81, 65535)]}
    with Scene(args, be, zone) as s:
        become(s, [("127.0.0.1", "2", "64", "7", "h1.example.com", "81", SERVICE)],
               "ignore-weight")
    zone = {"h1.example.com": [d.a("127.0.0.1")], SERVICE: [
        d.srv("h1.example.com", 81), d.srv("h1.example.com", 82), d.srv("h1.example.com", 81)]}
    with Scene(args, be + " resolve-opts allow-dup-ip", zone) as s:
        lib.until(lambda: len(rows(s)) == 2)
        tap.eq(sorted(r[5] for r in rows(s)), ["81", "82"], "one name with two ports: two servers")


def flood(tap, args):
    """A name server that talks without end, over TCP: it is not listened to for long."""
    given_up = []

    def talk(sock):
        try:
            while True:
                sock.sendall(b"\0\2ab\0\0" * 1000)
        except OSError:
            given_up.append(True)

    server = lib.Server(talk)
    with Scene(args, section="nameserver f tcp@127.0.0.1:%d" % server.port,
               zone={FOO: [d.a("127.0.0.5")]}) as s:
        s.becomes(tap, ["127.0.0.5"], "another name server is heard")
        if not lib.is_reference(args.program):
            tap.ok(lib.until(lambda: len(given_up) > 1), "its connections are closed")
    server.close()


def hostile(tap, args):
    """Answers that are none: the server stays down, and what was wrong is counted."""
    good = d.a("127.0.0.5")
    end = len(d.wire_name(FOO)) + 4 + 12
    record = b"\0\1\0\1\0\0\0\1\0\4\x7f\0\0\5"
    many = [d.a("127.0.%d.%d" % (i // 250, i % 250 + 1)) for i in range(60)]
    cases = (
        ("another identifier", lambda q: q.reply([good], id=q.id ^ 1), "outdated"),
        ("another question", lambda q: q.reply(
            [good], question=d.wire_name("bar.example.com") + q.question[-4:]), "invalid"),
        ("no question", lambda q: q.reply([good], question=b"", counts=(0, 1, 0, 0)), "invalid"),
        ("truncated", lambda q: q.reply([good], flags=0x8380), "truncated"),
        ("larger than announced", lambda q: q.reply(many), "too_big"),
        ("zeroes", lambda q: b"\0" * 40, "outdated"),
        ("8 bytes", lambda q: q.data[:8], "invalid"),
        ("a name that is itself", lambda q: q.reply([], counts=(1, 1, 0, 0)) +
         bytes((0xc0 | end >> 8, end & 255)) + record, "invalid"),
        ("two names in a circle", lambda q: q.reply([], counts=(1, 1, 0, 0)) + bytes(
            (0xc0, end + 2, 0xc0, end)) + record, "invalid"),
        ("a name beyond the end", lambda q: q.reply([], counts=(1, 1, 0, 0)) + b"\xff\xff" + record,
         "invalid"),
        ("fewer records than said", lambda q: q.reply([good], counts=(1, 9, 0, 0)), "invalid"),
        ("65535 records that are not there", lambda q: q.reply([], counts=(1, 65535, 0, 0)),
         "invalid"),
        ("an address of 5 bytes", lambda q: q.reply([d.Record(q.kind, b"\x7f\0\0\5\1")]),
         "invalid"),
        ("an address of another name", lambda q: q.reply(
            [d.a("127.0.0.8", name="c.example.com")]), "invalid"),
        ("an alias without address", lambda q: q.reply([d.cname("b.example.com")]), "cname_error"),
        ("an alias of something else", lambda q: q.reply(
            [d.cname("b.example.com"), d.a("127.0.0.8", name="c.example.com")]), "cname_error"),
        ("nothing", lambda q: q.reply([]), "any_err"),
        ("a text", lambda q: q.reply([d.Record(d.TXT, b"\3abc")]), None),
        ("an alias to itself", lambda q: q.reply([d.cname(FOO)] * 9), "cname_error"),
    )
    with Scene(args, S1 + " resolve-prefer ipv4", retry="100") as s:
        for name, answer, counter in cases:
            before = s.figures()
            s.dns.zone[FOO] = answer
            seen = len(s.dns.seen)
            lib.until(lambda: len(s.dns.seen) > seen + 5)
            tap.eq(s.addresses(), ["-"], name + ": no address")
            if counter:
                tap.ok(lib.until(lambda: s.figures()[counter] > before[counter]),
                       name + ": counted as " + counter, s.figures())
        s.dns.zone[FOO] = [d.cname("b.example.com"), d.cname("c.example.com",
                                                             name="b.example.com"),
                           d.a("127.0.0.8", name="c.example.com")]
        s.becomes(tap, ["127.0.0.8"], "aliases one behind the other are followed")
        s.dns.zone[FOO] = lambda q: [q.reply([good]), q.reply([d.a("127.0.0.6")])]
        s.becomes(tap, ["127.0.0.5"], "the first of two answers counts")
        tap.ok(s.figures()["outdated"] > 0, "the second is too late")
        s.dns.zone[FOO] = lambda q: q.reply([good], question=d.wire_name(FOO.upper()) +
                                            q.question[-4:])
        seen = s.figures()["valid"]
        tap.ok(lib.until(lambda: s.figures()["valid"] > seen + 2), "case does not matter")
        tap.ok(s.proxy.alive(), "the program is alive")


def transports(tap, args):
    many = [d.a("127.0.%d.%d" % (i // 250, i % 250 + 1)) for i in range(400)]
    be = "server-template t 5 foo.example.com:80 resolvers dns init-addr none"
    with Scene(args, be, {FOO: many}, ns="tcp@", section="accepted_payload_size 65535") as s:
        lib.until(lambda: "-" not in s.addresses())
        tap.eq(len(set(s.addresses())), 5, "TCP: an answer of 6 kB")
        tap.ok(all(q.tcp for q in s.dns.seen), "all came over TCP")
        tap.eq(s.dns.tcp.accepted, 1, "over one connection")
        s.dns.zone[FOO] = lambda q: [b"\0\0\1\2\3", b"", b"\0", q.reply([d.a("127.0.0.9")])]
        s.becomes(tap, ["-"] * 4 + ["127.0.0.9"], "messages that are too short are passed over")
    with Scene(args, S1, {FOO: [d.a("127.0.0.1")]}, ns="tcp@", silence="200") as s:
        s.becomes(tap, ["127.0.0.1"], "TCP")
        first = s.dns.tcp.accepted

        def cut(q):
            raise OSError
        s.dns.zone[FOO] = cut
        s.becomes(tap, ["-"], "a name server that closes")
        s.dns.zone[FOO] = [d.a("127.0.0.2")]
        s.becomes(tap, ["127.0.0.2"], "and comes back")
        tap.ok(s.dns.tcp.accepted > first, "over another connection")
    second = d.Dns({FOO: [d.a("127.0.0.2")]})
    with Scene(args, S1, {FOO: d.NXDOMAIN},
               section="nameserver d2 127.0.0.1:%d" % second.port, silence="200") as s:
        s.becomes(tap, ["127.0.0.2"], "two name servers: the valid answer counts")
        s.has(tap, "by 'dns/d2'.", "and who gave it is told")
        tap.ok(s.figures("d1")["nx"] > 0 and s.figures("d2")["valid"] > 0, "each has its figures")
        second.zone[FOO] = None
        s.becomes(tap, ["-"], "one is silent, the other says no")
    second.close()


def everywhere():
    """A server on all addresses that tells at which it was reached."""
    def handler(sock):
        r = lib.Reader(sock)
        while r.head():
            sock.sendall(b"HTTP/1.1 200 OK\r\nserver-ip: %s\r\ncontent-length: 0\r\n\r\n"
                         % sock.getsockname()[0].encode())
    return lib.Server(handler, address="0.0.0.0")


def resolve_action(tap, args):
    fe = ("http-request do-resolve(txn.ip,dns,ipv4) req.hdr(name)\n"
          "\thttp-request do-resolve(txn.six,dns,ipv6) req.hdr(name) if { req.hdr(name) both.example.com }\n"
          "\thttp-request return status 200 hdr ip %[var(txn.ip)] hdr six %[var(txn.six)]")
    zone = {FOO: [d.a("127.0.0.5")], "both.example.com": [d.a("127.0.0.6"), d.aaaa("::6")], "six.example.com": [d.aaaa("::5")],
            "slow.example.com": None}
    with Scene(args, "", zone, fe=fe, section="hold valid 1h") as s:
        tap.eq(s.get("name: foo.example.com")[1].get("ip"), "127.0.0.5", "do-resolve: an address")
        both = s.get("name: both.example.com")[1]
        tap.eq((both.get("ip"), both.get("six")), ("127.0.0.6", "::6"), "do-resolve: the family that is preferred")
        tap.eq(s.get("name: FOO.example.com")[1].get("ip"), "127.0.0.5", "again")
        tap.eq(len(s.dns.asked(FOO)), 1, "asked once within `hold valid`")
        tap.eq(s.get("name: six.example.com")[1].get("ip"), "::5", "the other family")
        for name in ("nx.example.com", "slow.example.com", "a..b", "x" * 300, ""):
            got = s.get("name: " + name)
            tap.ok(got and got[0] == 200 and "ip" not in got[1], "no address: " + name[:20], got)
        with lib.connect(s.port) as c:
            c.sendall(b"GET / HTTP/1.1\r\nhost: x\r\nname: slow.example.com\r\n\r\n")
        tap.eq(s.get("name: foo.example.com")[1].get("ip"), "127.0.0.5", "a client that left")
    fe = ("http-request do-resolve(txn.ip,dns,ipv4) hdr(name)\n"
          "\thttp-request set-dst var(txn.ip)\n\thttp-request set-dst-port int(%d)")
    zone = {"%d.example.com" % i: [d.a("127.0.0.%d" % i)] for i in (1, 2)}
    server = everywhere()
    with Scene(args, "http-reuse always\nserver any 0.0.0.0:0", zone,
               fe=fe % server.port) as s:
        for i in (1, 2, 1):
            got = s.get("name: %d.example.com" % i)
            tap.eq(got[1].get("server-ip"), "127.0.0.%d" % i, "a request goes where its name says")
    fe = ("mode tcp\n\ttcp-request inspect-delay 5s\n"
          "\ttcp-request content do-resolve(txn.ip,dns,ipv4) req.payload(0,15)\n"
          "\ttcp-request content set-dst var(txn.ip)\n"
          "\ttcp-request content set-dst-port int(%d)" % server.port)
    with Scene(args, "mode tcp\nserver any 0.0.0.0:0", {FOO: [d.a("127.0.0.1")]}, fe=fe) as s:
        with lib.connect(s.port) as c:
            c.sendall(b"foo.exa")
            c.sendall(b"mple.com / HTTP/1.1\r\n\r\n")
            tap.ok(lib.Reader(c).head(), "tcp-request content do-resolve")
    server.close()


def sequences(tap, args):
    """What is asked until the answer is that there is none: types, how often, with one name server and with two."""
    fe = ("http-request do-resolve(txn.ip,dns,ipv4) req.hdr(name)\n"
          "\thttp-request return status 200 hdr ip %[var(txn.ip)]")

    def truncated(q):
        return q.reply([d.a("127.0.0.5")], flags=0x8380)

    def late(q):
        time.sleep(0.05)
        return d.REFUSED

    def kinds(dns):
        return "".join({d.A: "4", d.AAAA: "6"}[q.kind] for q in dns.seen)

    for tries, answer, want in (
            ("", None, "444"), ("", d.NXDOMAIN, "464646"), ("resolve_retries 2", None, "44"),
            ("resolve_retries 2", d.REFUSED, "4646"), ("resolve_retries 2", truncated, "4646")):
        silent = answer is None # what is lost is asked for again after a while, which is short here only
        with Scene(args, "", {FOO: answer}, fe=fe, tries=tries, retry="100" if silent else "5000") as s:
            tap.ok("ip" not in s.get("name: " + FOO)[1], "no address")
            tap.eq(kinds(s.dns), want, "%s: what is asked, %s" % (tries or "3 tries", answer))
    for one, other, want, what in (
            (d.NXDOMAIN, truncated, "464", "NXDOMAIN and a truncated answer: the other type is next"),
            (d.NXDOMAIN, None, "464", "NXDOMAIN and silence: the other type is next"),
            (None, None, "44", "silence: the same type is next")):
        second = d.Dns({FOO: other})
        with Scene(args, "", {FOO: one}, fe=fe, retry="500",
                   section="nameserver d2 127.0.0.1:%d" % second.port) as s:
            tap.ok("ip" not in s.get("name: " + FOO)[1], "no address")
            # (the reference may give up one question earlier)
            tap.eq((kinds(s.dns)[:3], kinds(second)[:3]), (want, want), what)
        second.close()
    second = d.Dns({FOO: [d.a("127.0.0.5")]})
    with Scene(args, S1, {FOO: [d.a("127.0.0.5")]}, retry="5000",
               section="hold nx 1h\n\tnameserver d2 127.0.0.1:%d" % second.port) as s:
        s.becomes(tap, ["127.0.0.5"], "two name servers")
        s.dns.zone[FOO], second.zone[FOO] = d.NXDOMAIN, late
        s.has(tap, "is going DOWN for maintenance (DNS refused status).", "of two errors the last one counts")
    second.close()


def asked_by_checks(tap, args):
    """A check that cannot connect in time has the name resolved, long before it is time for that."""
    name, port = lib_manual.bad_servers()[1]
    be = ("timeout check 100\nserver s1 foo.example.com:%d resolvers dns init-addr none check inter 100 "
          "fall 1000 resolve-prefer ipv4" % port)
    with Scene(args, be, {FOO: [d.a("127.0.0.1")]}, section="timeout resolve 1h\n\thold valid 100") as s:
        s.becomes(tap, ["127.0.0.1"], "an address where nobody answers")
        tap.ok(lib.until(lambda: len(s.dns.asked(FOO)) > 2), "it is asked for again", len(s.dns.seen))
    server = lib.Server(lib.echo_handler)
    be = "option httpchk\n" + be.replace(":%d" % port, ":%d" % server.port)
    with Scene(args, be, {FOO: [d.a("127.0.0.1")]}, section="timeout resolve 1h\n\thold valid 100") as s:
        s.becomes(tap, ["127.0.0.1"], "an address where somebody answers")
        tap.ok(lib.until(lambda: server.accepted > 8), "checks are well")
        tap.eq(len(s.dns.asked(FOO)), 1, "and it is not asked for again")
    server.close()


def of_the_system(tap, args):
    """parse-resolv-conf, and the section that is there by itself."""
    path = "/etc/resolv.conf"
    text = open(path).read() if os.path.exists(path) else ""
    names = re.findall(r"^nameserver[ \t]+([\d.]+)[ \t]*$", text, re.M)
    if not names or len(names) != len(re.findall("^[^#;\n]*nameserver", text, re.M)):
        tap.skip("parse-resolv-conf", "this system has no plain " + path)
        return
    be = "server s1 foo.example.com:80 resolvers default init-addr none"
    with Scene(args, be, section="nameserver last 127.0.0.1:1\nresolvers system\n\tparse-resolv-conf") as s:
        for section, before in ("system", []), ("default", []):
            got = re.findall(r"^ nameserver (\S+):$", s.proxy.ctl("show resolvers " + section), re.M)
            tap.eq(got, before + names, "name servers of section %s, in order" % section)


def killed_while_waiting(tap, args):
    """A stream whose rule waits for a name server can be ended at any time; the answer comes too late for it."""
    fe = ("http-request do-resolve(txn.ip,dns,ipv4) req.hdr(name)\n"
          "\thttp-request return status 200 hdr ip %[var(txn.ip)]")
    with Scene(args, "", {FOO: [d.a("127.0.0.5")], "slow.example.com": None}, fe=fe, retry="2000") as s:
        with lib.connect(s.port) as c:
            c.sendall(b"GET / HTTP/1.1\r\nhost: x\r\nname: slow.example.com\r\n\r\n")
            found = lib.until(lambda: re.search(r"(0x\w+): \[[^\0]*?frontend=fe .*\n[^\0]*?current_rule=\"do-resolve",
                                                s.proxy.ctl("show sess all")))
            tap.ok(found, "the rule that waits is shown")
            if not lib.is_reference(args.program):
                tap.ok(" stage=HTTP_REQUEST_FE waits=do-resolve\n" in found.group(0), "and what for", found.group(0))
            s.proxy.ctl("shutdown session " + found.group(1))
            tap.ok(lib.until(lambda: "frontend=fe " not in s.proxy.ctl("show sess all")), "the stream is gone")
        tap.eq(s.get("name: foo.example.com")[1].get("ip"), "127.0.0.5", "others go on")
        s.dns.zone["slow.example.com"] = [d.a("127.0.0.6")]
        tap.eq(s.get("name: slow.example.com")[1].get("ip"), "127.0.0.6", "and may ask for that name")


def crowd(tap, args):
    """Requests on all threads ask for names, some of which are the same."""
    fe = ("http-request do-resolve(txn.ip,dns,ipv4) req.hdr(name)\n"
          "\thttp-request return status 200 hdr ip %[var(txn.ip)]")
    zone = {"n%d.example.com" % i: [d.a("127.0.1.%d" % i)] for i in range(1, 9)}
    zone["n9.example.com"] = None
    results = []
    with Scene(args, "", zone, fe=fe, glob="nbthread 4", section="hold valid 20") as s:
        def client(seed):
            for i in range(40):
                n = (seed * 7 + i * 3) % 10
                got = s.get("name: n%d.example.com" % n)
                want = None if n in (0, 9) else "127.0.1.%d" % n
                results.append((got and got[1].get("ip")) == want)

        threads = [lib.threading.Thread(target=client, args=(i,)) for i in range(12)]
        for t in threads:
            t.start()
        while not lib.is_reference(args.program) and any(t.is_alive() for t in threads):
            s.proxy.ctl("reload")
        for t in threads:
            t.join()
        tap.eq((len(results), results.count(False)), (480, 0), "each gets its own address")


def set_name(tap, args):
    be = (S1 + "\nserver s2 127.0.0.1:80\nserver s3 127.0.0.1:80 resolvers dns\n"
          "server s4 %s resolvers dns" % SERVICE)
    zone = {FOO: [d.a("127.0.0.5")], "bar.example.com": [d.a("127.0.0.7")]}
    refused = "set server <b>/<s> fqdn failed because "
    with Scene(args, be, zone) as s:
        for server, name, want in (
                ("s1", "", "set server <b>/<s> fqdn requires a FQDN."),
                ("s1", "bar.example.com", "be/s1 changed its FQDN from foo.example.com to "
                 "bar.example.com by 'stats socket command'"),
                ("s1", "bar.example.com", "no need to change the FDQN by 'stats socket command'"),
                ("s1", "a..b", "could not update be/s1 FQDN by 'stats socket command'"),
                ("s2", FOO, refused + "no resolution is configured."),
                ("s3", FOO, "be/s3 changed its FQDN from (null) to foo.example.com by 'stats "
                 "socket command'"),
                ("s4", FOO, refused + "SRV resolution is configured.")):
            tap.eq(s.proxy.ctl("set server be/%s fqdn %s" % (server, name)).strip(), want,
                   "set server %s fqdn %s" % (server, name))
        s.becomes(tap, ["-", "127.0.0.1", "127.0.0.5", "127.0.0.7"], "the new names are asked for")
        tap.eq(s.rows()["s1"], ("127.0.0.7", "2", "64", "1", "bar.example.com", "80", "-"),
               "show servers state tells of it")


def first_address(tap, args):
    for words, want in (("none", "-"), ("127.0.0.9", "127.0.0.9"), ("last,none", "-"),
                        ("none,127.0.0.9", "-"), ("libc,127.0.0.8", "127.0.0.8")):
        with Scene(args, "server s1 no.such.name.invalid:80 init-addr " + words) as s:
            tap.eq(s.addresses(), [want], "init-addr " + words)
    folder = tempfile.mkdtemp(prefix="hapt.")
    path = os.path.join(folder, "state")
    be = (S1 + "\nserver s2 foo.example.com:80 init-addr last,none\n"
          "server s3 foo.example.com:80 init-addr none,last resolvers dns\n"
          "server-template t 1 %s resolvers dns\nload-server-state-from-file global" % SERVICE)
    be = be.replace("init-addr none\n", "init-addr last,none\n")
    zone = {FOO: [d.a("127.0.0.5")], "h1.example.com": [d.a("127.0.0.1")],
            SERVICE: [d.srv("h1.example.com", 81, 65535)]}
    with Scene(args, be, zone) as s:
        s.becomes(tap, ["-", "-", "127.0.0.1", "127.0.0.5"], "before the state file")
        text = s.proxy.ctl("show servers state").strip() + "\n"
    lines = text.split("\n")
    one = next(l for l in lines if " s1 " in l)
    text = "\n".join(lines[:2] + [l for l in lines[2:] if " s1 " in l or " t1 " in l] +
                     [one.replace(" s1 ", " s2 "), one.replace(" s1 ", " s3 ")]) + "\n"
    with open(path, "w") as f:
        f.write(text)
    silent = {FOO: None, SERVICE: None}
    with Scene(args, be, silent, hold="1h", glob="server-state-file " + path) as s:
        got = s.rows()
        tap.eq(got["s1"][:3], ("127.0.0.5", "2", "0"), "`last`: from the state file")
        tap.eq(got["s2"][:3], ("127.0.0.5", "2", "0"), "without resolvers too")
        tap.eq(got["s3"][0], "-", "not behind a method that worked")
        tap.eq(got["t1"], ("127.0.0.1", "2", "0", "256", "h1.example.com", "81", SERVICE),
               "a service is found again")


def reload(tap, args):
    if lib.is_reference(args.program):
        tap.skip("a reload in the process", "not what this program does")
        return
    be = S1 + "\nserver-template t 2 %s resolvers dns" % SERVICE
    zone = {FOO: [d.a("127.0.0.5")], "h1.example.com": [d.a("127.0.0.1")],
            SERVICE: [d.srv("h1.example.com", 81, 65535)]}
    with Scene(args, be, zone, hold="1h") as s:
        s.becomes(tap, ["-", "127.0.0.1", "127.0.0.5"], "before a reload")
        s.proxy.ctl("set server be/s1 weight 1")
        before, sent = s.rows(), s.figures()["sent"]
        s.log.settle()
        lines = len(s.log.lines)
        s.dns.zone.update({FOO: None, SERVICE: None, "h1.example.com": None})
        with open(s.proxy.conf_path, "a") as f:
            f.write("backend other\n\tserver s1 127.0.0.1:1\n")
        for i in range(3):
            tap.ok("Success=1" in s.proxy.ctl("reload"), "reload %d" % i)
        tap.eq(s.rows(), before, "addresses, names and ports are kept")
        seen = len(s.dns.seen)
        tap.ok(lib.until(lambda: len(s.dns.asked(FOO)) > 3 and len(s.dns.seen) > seen + 8),
               "the new generation asks on")
        tap.eq(s.rows(), before, "the last valid answer is remembered")
        tap.ok(s.figures()["sent"] >= sent, "figures are kept")
        tap.eq([l for l in s.told()[lines:] if "be/" in l], [], "nothing is told")
        s.dns.zone.update({FOO: [d.a("127.0.0.6")], "h1.example.com": [d.a("127.0.0.2")],
                           SERVICE: [d.srv("h1.example.com", 82, 1)]})
        s.becomes(tap, ["-", "127.0.0.2", "127.0.0.6"], "and changes are followed")
        text = open(s.proxy.conf_path).read()
        with open(s.proxy.conf_path, "w") as f:
            f.write(text.replace(S1, "server s1 127.0.0.9:80").replace("server-template t 2",
                                                                     "server-template t 1"))
        tap.ok("Success=1" in s.proxy.ctl("reload"), "a reload that takes names away")
        s.becomes(tap, ["127.0.0.2", "127.0.0.9"], "no names for those servers")
        lib.until(lambda: not s.dns.asked(FOO) or s.dns.seen.clear())
        seen = len(s.dns.asked(SERVICE))
        lib.until(lambda: len(s.dns.asked(SERVICE)) > seen + 5)
        s.dns.seen.clear()
        lib.until(lambda: len(s.dns.asked(SERVICE)) > 5)
        tap.eq(s.dns.asked(FOO), [], "nobody asks for them any more")


def traffic(tap, args):
    """Requests follow the address; the client's connection is kept."""
    server = everywhere()
    be = "http-reuse always\n" + S1.replace(":80", ":%d" % server.port)
    with Scene(args, be, {FOO: None}) as s:
        tap.eq(s.get()[0], 503, "no address yet: 503")
        s.dns.zone[FOO] = [d.a("127.0.0.1")]
        s.becomes(tap, ["127.0.0.1"], "an address")
        for ip in ("127.0.0.1", "127.0.0.2", "127.0.0.3"):
            s.dns.zone[FOO] = [d.a(ip)]
            s.becomes(tap, [ip], "address " + ip)
            tap.eq([s.get()[1].get("server-ip") for _ in range(4)], [ip] * 4,
                   "requests go to " + ip)
        s.dns.zone[FOO] = d.NXDOMAIN
        s.becomes(tap, ["-"], "no address")
        tap.eq(s.get()[0], 503, "no server: 503")
    server.close()


def show(tap, args):
    with Scene(args, zone={FOO: [d.a("127.0.0.1")]}) as s:
        s.becomes(tap, ["127.0.0.1"], "an address")
        text = s.proxy.ctl("show resolvers dns")
        tap.ok(re.match(r"Resolvers section dns\n nameserver d1:\n  sent:        \d+\n"
                        r"  snd_error:   0\n  valid:       \d+\n  update:      1\n", text),
               "show resolvers", text)
        tap.eq(s.proxy.ctl("show resolvers x").strip(), "Can't find that resolvers section",
               "show resolvers of no section")
        lines = s.proxy.ctl("show stat domain resolvers").split("\n")
        tap.eq(lines[0], "# id,pid,sent,send_error,valid,update,cname,cname_error,any_err,nx,"
               "timeout,refused,other,invalid,too_big,truncated,outdated,", "show stat domain")
        tap.ok(re.match(r"d1,dns,\d+,0,\d+,1,0,0,\d+,0,", lines[1]), "a line for a name server",
               lines[1])


def main():
    args = lib.arguments(__doc__)
    tap = lib.Tap()
    for part in (many_names, flood, one_server, always_waiting, reasons, templates, administration, services,
                 hostile, transports, resolve_action, sequences, asked_by_checks, of_the_system, killed_while_waiting,
                 crowd, set_name, first_address, reload, traffic, show):
        part(tap, args)
    tap.done()


lib.guarded(main)
