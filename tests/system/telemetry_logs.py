#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Sections `telemetry` with `logs export`: records of OTLP beside the lines that a log server gets of the same requests, with hostile
bytes, in both encodings; severities, traces, frontends without log servers, a collector that is dead, reloads. An extension.
--count N: requests of each encoding."""
import codecs
import random
import re
import subprocess
import threading

import lib
import lib_otlp

CONF = """
global
	nbthread 2
	%(head)s
telemetry otel
	otlp http://127.0.0.1:%(collector)d
	interval 50ms
	%(section)s
defaults
	mode http
	timeout connect 5s
	timeout client 10s
	timeout server 10s
	use-telemetry otel
	log 127.0.0.1:%(log)d len 16384 format raw local0
frontend fe
	bind 127.0.0.1:%(port)d
	option log-separate-errors
	log-format "%%[trace.id] %%[trace.span_id] %%[trace.sampled] %%ST %%b %%s %%ci:%%cp %%tsc %%B %%{+Q}r %%[var(txn.hostile)]"
	http-request set-var(txn.hostile) req.fhdr(x-hostile)
	error-log-format "bad %%ci:%%cp %%ST"
	http-request set-log-level silent if { path /silent }
	http-request set-log-level warning if { path /warning }
	http-request return status 502 if { path /broken }
	http-request return status 204
frontend quiet
	bind 127.0.0.1:%(quiet)d
	no log
	http-request return status 204
frontend raw
	mode tcp
	bind 127.0.0.1:%(tcp)d
	option tcplog
	tcp-request inspect-delay 5s
	tcp-request content reject if { req.len gt 0 }
"""


def as_text(error):
    """Bytes that are no UTF-8 count as Latin-1."""
    return error.object[error.start:error.end].decode("latin-1"), error.end


codecs.register_error("latin", as_text)


class Scene:
    def __init__(self, args, section="logs export", head=""):
        self.collector, self.syslog = lib_otlp.Collector(), lib.Syslog()
        self.port, self.quiet, self.tcp = lib.ports(3)
        self.proxy = lib.Proxy(args.program, CONF % {
            "section": section, "head": head, "collector": self.collector.port, "log": self.syslog.port, "port": self.port,
            "quiet": self.quiet, "tcp": self.tcp})

    def ask(self, path="/", port=None):
        with lib.connect(port or self.port) as s:
            s.sendall(b"GET %s HTTP/1.1\r\nHost: h\r\n\r\n" % path.encode())
            got = lib.Reader(s).response()
            return got and got[0]

    def figures(self):
        lines = [l.split() for l in self.proxy.ctl("show telemetry").strip().split("\n")]
        for line in lines[1:]:
            if line[1] == "logs":
                return {k: int(v) for k, v in zip(lines[0][3:], line[2:])}
        return None

    def records(self, count):
        lib.until(lambda: len(self.collector.logs) >= count or self.collector.wrong)
        with self.collector.lock:
            return list(self.collector.logs)

    def lines(self, count):
        """As bytes."""
        return [l.encode("latin-1") for l in self.syslog.wait(lambda all: len(all) >= count and list(all)) or []]

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.collector.close()
        self.proxy.__exit__(*exc)
        self.syslog.close()


def hostile(rng):
    """A value of a field: any bytes but those that no field may have."""
    kinds = (lambda: bytes(rng.choice(range(0x80, 0x100)) for _ in range(rng.randrange(1, 9))),
             lambda: "\u00e9\u20ac\U0001f600\u0000"[rng.randrange(3)].encode(), lambda: b"\xed\xa0\x80", lambda: b"\xc0\x80\xf4\x90\x80\x80",
             lambda: b"\"\\/\\u0000{}[]", lambda: b"\t", lambda: b"%00%0a%n%s", lambda: b"x" * rng.randrange(900),
             lambda: b"</script>&amp;", lambda: b"\x7f")
    return b"v" + b"".join(rng.choice(kinds)() for _ in range(rng.randrange(5))) + b"v"


def send_many(sc, rng, count):
    """On kept connections."""
    done = 0
    while done < count:
        with lib.connect(sc.port) as s:
            reader = lib.Reader(s)
            for _ in range(min(100, count - done)):
                s.sendall(b"GET /%d?q=%s HTTP/1.1\r\nHost: h\r\nx-hostile: %s\r\n\r\n" % (
                    done, bytes(rng.choice(b"abc%'`{}|~&=") for _ in range(6)), hostile(rng)))
                reader.response()
                done += 1


def disagreement(record, line):
    """What a record says otherwise than its line."""
    a = record["attributes"]
    trace, span, sampled, status, backend, server, client, state, sent, request = line.split(" ", 10)[:9] + [line.split('"')[1]]
    pairs = (("traceId", record.get("traceId"), trace), ("spanId", record.get("spanId"), span), ("flags", record.get("flags"), int(sampled)),
             ("status", a.get("http.response.status_code"), int(status)), ("backend", a.get("haproxy.backend.name", "fe"), backend),
             ("server", a.get("haproxy.server.name", "<NOSRV>"), server),
             ("client", "%s:%s" % (a.get("client.address"), a.get("client.port")), client),
             ("state", a.get("haproxy.termination_state"), state), ("bytes", a.get("haproxy.bytes.sent"), int(sent)),
             ("request", "%s %s?%s HTTP/%s" % (a["http.request.method"], a["url.path"], a.get("url.query"), a["network.protocol.version"]), request))
    return ["%s: %r, not %r" % p for p in pairs if p[1] != p[2]]


def lines(tap, args):
    for encoding in ("protobuf", "json"):
        with Scene(args, "logs export\n\tqueue 64m\n\tencoding %s\n\tsample 50%%" % encoding) as sc:
            send_many(sc, random.Random(args.seed), args.count)
            want = sorted(l.decode("utf-8", "latin") for l in sc.lines(args.count))
            records = sorted(sc.records(args.count), key=lambda r: r["body"]["stringValue"])
            tap.eq(sc.collector.wrong, [], encoding + ": can be read")
            lib_otlp.check_with_package(tap, sc.collector.raw, encoding == "json", "/v1/logs", "log_records", args.count,
                                        encoding + ": the definitions of OpenTelemetry agree")
            got = [r["body"]["stringValue"] for r in records]
            tap.eq((len(got), [(a, b) for a, b in zip(got, want) if a != b][:2]), (args.count, []),
                   encoding + ": %d bodies are the lines of the log server" % args.count)
            wrong = [w for r, l in zip(records, want) for w in disagreement(r, l)]
            tap.eq(wrong[:3], [], encoding + ": attributes and traces are those of the lines")
            tap.ok(all((r["severityNumber"], r["severityText"]) == (9, "info") and
                       r["timeUnixNano"] == r["observedTimeUnixNano"] for r in records), encoding + ": severity and time")
            tap.ok(0 < len([r for r in records if r["flags"]]) < args.count, encoding + ": sampled or not")
            tap.eq([dict(f)["content-type"] for l, f, _ in sc.collector.requests if "/v1/logs" in l][0],
                   "application/json" if encoding == "json" else "application/x-protobuf", encoding + ": the export")
            f = sc.figures()
            tap.eq((f["recorded"], f["dropped"]), (args.count, 0), encoding + ": the counters agree")


def kinds(tap, args):
    with Scene(args) as sc:
        for path in ("/silent", "/warning", "/broken", "/plain"):
            sc.ask(path)
        by_path = {r["attributes"]["url.path"]: r for r in sc.records(3)}
        tap.eq({k: (v["severityNumber"], v["severityText"]) for k, v in by_path.items()},
               {"/warning": (13, "warning"), "/broken": (17, "err"), "/plain": (9, "info")}, "severities; what is silent is not exported")
        tap.eq(by_path["/broken"]["attributes"].get("error.type"), "502", "why it failed")
        with lib.connect(sc.port) as s:
            s.sendall(b"GET / HTTP/1.1\r\nHost : h\r\n\r\n")
            lib.Reader(s).response()
        bad = sc.records(4)[3]
        tap.ok(re.match(r"bad 127\.0\.0\.1:\d+ 400$", bad["body"]["stringValue"]) and "traceId" not in bad and
               bad["attributes"].get("client.address") == "127.0.0.1" and bad["attributes"]["http.response.status_code"] == 400,
               "a request that is none", str(bad))
        sc.ask("/there", sc.quiet)
        quiet = sc.records(5)[4]
        tap.ok(' quiet quiet/<NOSRV> ' in quiet["body"]["stringValue"] and '"GET /there HTTP/1.1"' in quiet["body"]["stringValue"],
               "a frontend without a log server and format", str(quiet))
        tap.eq(quiet["attributes"]["haproxy.frontend.name"], "quiet", "its name")
        with lib.connect(sc.tcp) as s:
            s.sendall(b"hello")
            s.recv(10)
        tcp = sc.records(6)[5]
        tap.ok(" raw raw/<NOSRV> " in tcp["body"]["stringValue"] and tcp["attributes"]["haproxy.termination_state"] == "PR--" and
               "traceId" not in tcp and tcp["attributes"]["client.address"] == "127.0.0.1", "a connection in mode tcp", str(tcp))
        p = subprocess.run([args.program, "-c", "-f", sc.proxy.conf_path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        tap.ok(b"no log address" not in p.stdout, "no warning about a format that is of use", p.stdout)
        text = sc.proxy.ctl("show telemetry")
        tap.eq([l.split()[1] for l in text.strip().split("\n")], ["section", "traces", "logs"], "show telemetry has a line of them")
    with Scene(args, "") as sc:
        sc.ask("/plain")
        sc.collector.wait(1)
        lib.until(lambda: sc.collector.spans)
        tap.eq((sc.figures(), [l for l, _, _ in sc.collector.requests if "logs" in l]), (None, []), "without `logs export` there are none")


def troubles(tap, args):
    with Scene(args, "logs export\n\tsample 0\n\terrors ignore\n\tqueue 256k\n\ttimeout 300ms", head="httpclient.retries 0") as sc:
        sc.collector.answer("hold")
        rng = random.Random(args.seed)
        while sc.figures()["dropped"] == 0 and sc.figures()["recorded"] < 5000:
            send_many(sc, rng, 100)
        f = sc.figures()
        tap.ok(f["dropped"] > 0 and f["bytes"] <= 256 * 1024, "a collector that is dead: bounded, dropped, counted", str(f))
        tap.eq(len(sc.lines(f["recorded"])), f["recorded"], "log servers get all of it")
        sc.collector.answer("ok")
        lib.until(lambda: sc.figures()["bytes"] == 0)
        f = sc.figures()
        tap.eq(f["recorded"], sum(f[k] for k in ("exported", "rejected", "refused", "given_up", "dropped")), "all is accounted for")
        tap.eq(sc.collector.wrong, [], "what came can be read")


def turns(tap, args):
    """Each export finds that more has come when it is answered."""
    with Scene(args) as sc:
        def meanwhile():
            if len(sc.collector.requests) < 20:
                sc.ask()
        sc.collector.meanwhile = meanwhile
        sc.ask()
        lib.until(lambda: len(sc.collector.requests) >= 20)
        paths = [r[0].split()[1] for r in sc.collector.requests[:20]]
        tap.ok(min(paths.count("/v1/traces"), paths.count("/v1/logs")) >= 8, "traces and logs take turns", str(paths))


def reloads(tap, args):
    with Scene(args, "logs export\n\tqueue 64m") as sc:
        sender = threading.Thread(target=send_many, args=(sc, random.Random(args.seed), 300))
        sender.start()
        good = ["Success=1" in sc.proxy.ctl("reload") for _ in range(3)]
        sender.join()
        want = sorted(l.decode("utf-8", "latin") for l in sc.lines(300))
        got = sorted(r["body"]["stringValue"] for r in sc.records(300))
        tap.eq((good, len(want), got == want), ([True] * 3, 300, True), "three reloads lose and repeat nothing")


def main():
    args = lib.arguments(__doc__, ("count", 600, "requests of each encoding"), ("seed", 5, "of hostile bytes"))
    tap = lib.Tap()
    if lib.is_reference(args.program):
        tap.skip("telemetry", "an extension")
        tap.done()
    tap.run((lines, kinds, troubles, turns, reloads), args)
    tap.done()


lib.guarded(main)
