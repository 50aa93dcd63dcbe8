#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""peer-template: peers that a name server tells of. Members come, go and come back; reloads, -sf, a wildcard address,
limits on sums over all. An extension."""
import re
import subprocess

import lib
from lib_dns import Dns, a


CONF = """defaults
	mode http
	timeout connect 5s
	timeout client 5s
	timeout server 5s
resolvers dns
	nameserver one 127.0.0.1:%(dns)d
	hold valid 100ms
	hold obsolete 0s
	timeout resolve 100ms
	timeout retry 200ms
peers pp
	bind %(bind)s
	peer-template %(name)s:%(port)d resolvers dns resolve-prefer ipv4
	table keys type string len 20 size 1k expire 10m store gpc0
	table sums type string len 20 size 1k expire 10m store http_req_cnt sum
frontend fe
	bind 127.0.0.1:%(http)d
	http-request track-sc0 hdr(x-k) table pp/sums
	http-request return status 200
"""


class Group:
    """Members at addresses of their own, all at one port; the zone says who is there."""

    def __init__(self, program):
        self.program, self.port = program, lib.ports(1)[0]
        self.zone = {}
        self.dns = Dns(self.zone)
        self.at, self.http = {}, {}
        self.listed = []

    def list(self, *hosts):
        self.listed = list(hosts)
        self.zone["lbs.test"] = [a("127.0.0.%d" % h) for h in hosts]

    def conf(self, host, bind=None, name="lbs.test"):
        self.http.setdefault(host, lib.ports(1)[0])
        return CONF % {"dns": self.dns.port, "bind": bind or "127.0.0.%d:%d" % (host, self.port), "port": self.port,
                       "http": self.http[host], "name": name}

    def start(self, host, bind=None, args=()):
        self.at[host] = lib.Proxy(self.program, self.conf(host, bind), args, restless="peers")
        return self.at[host]

    def reload(self, host, conf):
        p = self.at[host]
        with open(p.conf_path, "w") as f:
            f.write("global\n\tstats socket %s level admin mode 600\n%s" % (p.ctl_path, conf))
        return "Success=1" in p.ctl("reload")

    def name(self, host):
        return "127.0.0.%d:%d" % (host, self.port)

    def connected(self, count, *hosts):
        return lib.until(lambda: all(self.at[h].info()["ConnectedPeers"] == str(count) for h in hosts or self.at))

    def names(self, host):
        return sorted(re.findall(r"id=(\S+)\(remote,", self.at[host].ctl("show peers pp")))

    def show(self):
        return {h: (p.info()["ConnectedPeers"], self.names(h)) for h, p in self.at.items()}

    def set(self, host, key, value):
        self.at[host].ctl("set table pp/keys key %s data.gpc0 %d" % (key, value))

    def has(self, host, key, value, table="pp/keys", data="gpc0"):
        want = "%s=%d" % (data, value)
        return lib.until(lambda: any("key=%s " % key in x and x.rstrip().endswith(want)
                                     for x in self.at[host].ctl("show table " + table).splitlines()))

    def get(self, host, key):
        with lib.connect(self.http[host]) as s:
            s.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nx-k: %s\r\n\r\n" % key.encode())
            lib.Reader(s).response()

    def end(self, host):
        p = self.at.pop(host)
        p.process.kill()
        p.process.wait()
        p.__exit__(None, None, None)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        for p in self.at.values():
            p.__exit__(*exc)
        self.dns.close()


def members(tap, program):
    with Group(program) as g:
        g.list(2)
        g.start(2)
        g.set(2, "old", 1)
        tap.ok(lib.until(lambda: "resync_timeout=<PAST>" in g.at[2].ctl("show peers pp"), 20), "it begins alone")
        tap.eq(g.names(2), [], "and is no peer of its own")
        g.list(2, 3)
        g.start(3)
        tap.ok(g.connected(1), "a second one is met", g.show())
        tap.eq((g.names(2), g.names(3)), ([g.name(3)], [g.name(2)]), "peers are called by their addresses")
        tap.ok(g.has(3, "old", 1), "it is taught")
        g.list(2, 3, 4)
        g.start(4)
        tap.ok(g.connected(2), "all three meet", g.show())
        g.set(4, "new", 7)
        tap.ok(g.has(2, "new", 7) and g.has(3, "new", 7), "and tell each other")
        for h, times in ((2, 5), (3, 3), (4, 2)):
            for _ in range(times):
                g.get(h, "k")
        tap.ok(all(g.has(h, "k", 10, "pp/sums", "http_req_cnt") for h in (2, 3, 4)), "sums are over all of them")
        g.list(2, 3)
        seen = len(g.dns.asked("lbs.test"))
        lib.until(lambda: len(g.dns.asked("lbs.test")) > seen + 6)
        tap.ok(g.connected(2, 2), "one that the name does not stand for any more keeps its link", g.show())
        g.end(4)
        tap.ok(lib.until(lambda: g.names(2) == [g.name(3)] and g.names(3) == [g.name(2)]),
               "and is forgotten when that ends", g.show())
        tap.ok(g.has(2, "k", 10, "pp/sums", "http_req_cnt"), "what it has counted stays")
        g.list(2, 3, 4)
        g.start(4)
        tap.ok(g.connected(2) and g.has(4, "new", 7), "it is back, and is taught", g.show())
        g.zone["lbs.test"] = 2 # SERVFAIL
        g.end(3)
        tap.ok(lib.until(lambda: g.at[2].info()["ConnectedPeers"] == "1"), "an answer that is an error")
        tap.eq(g.names(2), [g.name(3), g.name(4)], "changes nothing")
        g.start(3)
        g.list(2, 3, 4)
        tap.ok(g.connected(2), "all are back", g.show())


def reloads(tap, program):
    with Group(program) as g:
        g.list(2, 3)
        for h in (2, 3):
            g.start(h)
        tap.ok(g.connected(1), "two are connected", g.show())
        g.set(2, "x", 3)
        good = g.reload(2, g.conf(2).replace("size 1k", "size 2k"))
        tap.ok(good and g.connected(1) and g.names(2) == [g.name(3)], "a reload keeps the link", g.show())
        g.set(2, "x", 4)
        tap.ok(g.has(3, "x", 4), "which works")
        g.zone["other.test"] = [a("127.0.0.2")]
        g.reload(2, g.conf(2, name="other.test"))
        tap.ok(lib.until(lambda: g.names(2) == []), "another name: whom the last one stood for is left", g.show())
        g.reload(2, g.conf(2))
        tap.ok(g.connected(1), "and found again", g.show())
        old = g.at.pop(2)
        g.start(2, args=["-sf", str(old.process.pid)])
        tap.ok(lib.until(lambda: old.process.poll() is not None, 30), "with -sf the old process ends")
        tap.ok(g.has(2, "x", 4) and g.connected(1), "and the new one has its tables", g.show())
        old.__exit__(None, None, None)


def wildcard(tap, program):
    """Which of the addresses is its own, it reads off its interfaces."""
    with Group(program) as g:
        g.list(1, 2)
        g.start(1, bind=":%d" % g.port)
        g.start(2)
        tap.ok(g.connected(1), "one listens at all addresses", g.show())
        tap.eq((g.names(1), g.names(2)), ([g.name(2)], [g.name(1)]), "and is called by one of them")


def lines(tap, program):
    head = "global\n\tlocalpeer me\nresolvers dns\n\tnameserver n 127.0.0.1:53\npeers pp\n"
    for text, want in (
            ("\tbind :10000\n\tpeer-template lbs.test:10000\n", "no resolvers section for the name"),
            ("\tbind :10000\n\tpeer-template lbs.test resolvers dns\n", "missing port"),
            ("\tbind :10000\n\tpeer-template\n", "expects a name and a port"),
            ("\tbind :10000\n\tpeer-template 192.0.2.1:10000 resolvers dns\n", "expects a name, but got"),
            ("\tbind :10000\n\tpeer-template _p._tcp.x.test:1 resolvers dns\n", "services (SRV) are not supported"),
            ("\tbind :10000\n\tpeer-template x.test:1 resolvers dns\n\tpeer-template y.test:1 resolvers dns\n",
             "another one is already there"),
            ("\tbind :10000\n\tpeer-template x.test:1 resolvers none\n", "there is no section 'resolvers none'"),
            ("\tpeer-template x.test:1 resolvers dns\n", "needs a 'bind' line"),
            ("\tbind :10000\n\tpeer-template x.test:1 resolvers dns\n\tserver me\n",
             "local peer name already referenced")):
        run = subprocess.run([program, "-c", "-f", "/dev/stdin"], input=head + text, capture_output=True, text=True)
        tap.ok(run.returncode == 1 and want in run.stderr, want, run.stderr)


def main():
    args = lib.arguments(__doc__)
    tap = lib.Tap()
    tap.run((members, reloads, wildcard, lines), args.program)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
