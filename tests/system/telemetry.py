#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Sections `telemetry`: spans of requests and of their tries beside the log and what servers saw, contexts in and out, sampling, a
collector that fails, reloads. An extension. --count N: requests with retries and redispatches."""
import contextlib
import re
import signal
import subprocess
import threading
import time
import tempfile
import os

import lib
import lib_otlp

CONF = """
%(global)s
telemetry otel
	otlp http://127.0.0.1:%(collector)d
	interval 50ms
	%(section)s
defaults
	mode http
	timeout connect 5s
	timeout client 10s
	timeout server 10s
	timeout queue 10s
	retries 3
	option redispatch 1
	retry-on conn-failure empty-response 503
	log 127.0.0.1:%(log)d local0
	log-format "%%[trace.id] %%[trace.span_id] %%ST %%b %%s %%TR %%Tw %%Tc %%Tr %%Ta %%tsc %%rc %%[trace.sampled] %%[stream_end] %%[trace.parent_id] %%HU"
frontend fe
	bind 127.0.0.1:%(port)d
	use-telemetry otel
	%(rules)s
	http-request return status 200 if { path /own }
	http-request deny if { path /denied }
	use_backend none if { path_beg /none }
	default_backend be
backend be
	server s1 127.0.0.1:%(app)d
	server s2 127.0.0.1:%(app)d
	%(third)s
backend none
	retry-delay 1ms
	server dead 127.0.0.1:%(dead)d
"""
TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
PARENT = "00-%s-%s-01" % (TRACE, SPAN)
CONTEXT = ("traceparent", "tracestate", "b3", "x-b3-traceid", "x-b3-spanid", "x-b3-sampled", "x-b3-flags", "x-b3-parentspanid")


class Scene:
    def __init__(self, args, section="", rules="", head="", third=""):
        self.collector, self.syslog, self.seen = lib_otlp.Collector(), lib.Syslog(), []
        self.gate, self.raw = threading.Event(), b""
        self.app = lib.Server(self.serve)
        self.port, self.dead = lib.ports(2)
        self.values = {"global": head, "third": third % {"dead": self.dead}, "port": self.port, "app": self.app.port, "dead": self.dead, "section": section,
                       "rules": rules, "collector": self.collector.port, "log": self.syslog.port}
        self.proxy = lib.Proxy(args.program, CONF % self.values)

    def serve(self, sock):
        """/503-N: the first N tries of it fail; /close-N: are closed."""
        r = lib.Reader(sock)
        while True:
            head = r.head()
            if not head:
                return
            self.raw += r.raw
            r.body(head[1])
            self.seen.append((head[0], head[1]))
            if "/held" in head[0]:
                self.gate.wait(lib.PATIENCE)
            path = head[0].split()[1]
            kind = re.match(r"/(503|close)-(\d+)-", path)
            done = len([1 for line, _ in self.seen if line == head[0]])
            if kind and done <= int(kind.group(2)):
                if kind.group(1) == "close":
                    return
                sock.sendall(b"HTTP/1.1 503 Busy\r\ncontent-length: 0\r\n\r\n")
                continue
            sock.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")

    def ask(self, path="/", fields=(), sock=None):
        text = "GET %s HTTP/1.1\r\nHost: www.example.com:8080\r\n%s\r\n" % (path, "".join("%s: %s\r\n" % f for f in fields))
        with lib.connect(self.port) as s:
            s.sendall(text.encode("latin-1"))
            got = lib.Reader(s).response()
            return got and got[0]

    def sent(self, path):
        """The fields of contexts that servers were sent for it, a dict for each try."""
        return [{n: v for n, v in fields if n in CONTEXT} for line, fields in self.seen if line.split()[1] == path]

    def figures(self):
        lines = [l.split() for l in self.proxy.ctl("show telemetry").strip().split("\n")]
        return {k: v if k in ("section", "signal") else int(v) for k, v in zip(lines[0][1:], lines[1])}

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.collector.close()
        self.proxy.__exit__(*exc)
        self.app.close()
        self.syslog.close()


def shapes(tap, args):
    for encoding in ("protobuf", "json"):
        with Scene(args, "encoding %s\n\theader x-key secret\n\tresource service.name shop\n\tresource deployment.environment.name test"
                   % encoding) as sc:
            sc.ask("/p%C3%A9th/;x?q=1&r='2'", [("traceparent", PARENT), ("tracestate", "a=b,c=d"), ("User-Agent", "t\xe9st")])
            sc.ask("/own")
            traces = sc.collector.wait(3)
            line, fields, _ = sc.collector.requests[0]
            tap.eq((line, fields["content-type"], fields.get("x-key")),
                   ("POST /v1/traces HTTP/1.1", "application/json" if encoding == "json" else "application/x-protobuf", "secret"),
                   encoding + ": the export")
            tap.eq(sc.collector.wrong, [], encoding + ": can be read")
            r = sc.collector.resources[0]
            tap.eq((r["service.name"], r["deployment.environment.name"], r["process.pid"]), ("shop", "test", sc.proxy.process.pid),
                   encoding + ": the resource")
            tap.ok(r["service.version"] and len(r["service.instance.id"]) == 36, encoding + ": version and instance")
            server, clients = traces.get(TRACE, (None, []))
            tap.eq((server["parentSpanId"], server["name"], server["kind"], server["traceState"], server["flags"], server.get("status")),
                   (SPAN, "GET", 2, "a=b,c=d", 1, None), encoding + ": the span of the request")
            a = server["attributes"]
            want = {"http.request.method": "GET", "url.path": "/p%C3%A9th/;x", "url.query": "q=1&r='2'", "url.scheme": "http",
                    "server.address": "www.example.com", "server.port": 8080, "client.address": "127.0.0.1",
                    "network.peer.address": None, "network.protocol.version": "1.1", "http.response.status_code": 200,
                    "user_agent.original": "t\xe9st", "haproxy.frontend.name": "fe", "haproxy.backend.name": "be",
                    "haproxy.termination_state": "----", "haproxy.end": None, "haproxy.retries": None, "haproxy.sampled_by": "parent"}
            tap.eq({k: a.get(k) for k in want}, want, encoding + ": its attributes")
            tap.eq([(c["parentSpanId"], c["kind"], c["name"]) for c in clients], [(server["spanId"], 3, "GET")],
                   encoding + ": one try below it")
            a = clients[0]["attributes"]
            want = {"http.request.method": "GET", "server.address": "127.0.0.1", "server.port": sc.app.port,
                    "http.response.status_code": 200, "haproxy.try": 1,
                    "haproxy.connection.reused": False, "http.request.resend_count": None,
                    "url.full": "http://127.0.0.1:%d/p%%C3%%A9th/;x?q=1&r='2'" % sc.app.port}
            tap.eq({k: a.get(k) for k in want}, want, encoding + ": its attributes")
            tap.eq(sc.sent("/p%C3%A9th/;x?q=1&r='2'"),
                   [{"traceparent": "00-%s-%s-01" % (TRACE, clients[0]["spanId"]), "tracestate": "a=b,c=d"}],
                   encoding + ": its span is the server's parent")
            own = [t for k, t in traces.items() if k != TRACE]
            tap.eq([(s["attributes"]["haproxy.end"], c, s.get("parentSpanId")) for s, c in own], [("RULE_ANSWER", [], None)],
                   encoding + ": an answer of the program has no try")
            lib_otlp.check_with_package(tap, sc.collector.raw, encoding == "json", "/v1/traces", "spans", 3,
                                        encoding + ": the definitions of OpenTelemetry agree")


# name, fields, (trace, span) of the parent or None, sampled or None: as without
GOOD = [
    ("traceparent", [("traceparent", PARENT)], (TRACE, SPAN), True),
    ("traceparent, not sampled", [("traceparent", PARENT[:-1] + "0")], (TRACE, SPAN), False),
    ("a later version", [("traceparent", "cc-" + PARENT[3:] + "-what")], (TRACE, SPAN), True),
    ("b3", [("b3", "%s-%s-1-%s" % (TRACE, SPAN, SPAN))], (TRACE, SPAN), True),
    ("b3, 64 bits", [("b3", "%s-%s-0" % (TRACE[16:], SPAN))], ("0" * 16 + TRACE[16:], SPAN), False),
    ("b3, undecided", [("b3", "%s-%s" % (TRACE, SPAN))], (TRACE, SPAN), None),
    ("b3, a decision only", [("b3", "0")], None, False),
    ("b3, several fields", [("X-B3-TraceId", TRACE), ("X-B3-SpanId", SPAN), ("X-B3-Sampled", "1"), ("X-B3-ParentSpanId", SPAN)],
     (TRACE, SPAN), True),
    ("b3, debug", [("X-B3-TraceId", TRACE), ("X-B3-SpanId", SPAN), ("X-B3-Flags", "1")], (TRACE, SPAN), True),
    ("traceparent before b3", [("b3", "%s-%s-1" % ("1" * 32, SPAN)), ("traceparent", PARENT)], (TRACE, SPAN), True),
    ("b3 where traceparent is bad", [("traceparent", "00-x"), ("b3", "%s-%s-1" % (TRACE, SPAN))], (TRACE, SPAN), True),
]
BAD = [[("traceparent", v)] for v in ("", "00", PARENT + "-", PARENT.upper(), "ff" + PARENT[2:], "00-%s-%s-01" % ("0" * 32, SPAN),
                                      "00-%s-%s-01" % (TRACE, "0" * 16), PARENT[:-1], PARENT.replace("-", "_"), "x" * 6000,
                                      PARENT + "\xff", " \t" + PARENT[1:])] + \
      [[("traceparent", PARENT), ("traceparent", PARENT)], [("tracestate", "a=b")]] + \
      [[("b3", v)] for v in ("", "x", "2", TRACE, "%s-%s-9" % (TRACE, SPAN), "%s-%s-1-" % (TRACE, SPAN), "-" * 60, "\xff" * 50)] + \
      [[("x-b3-traceid", TRACE)], [("x-b3-spanid", SPAN)], [("x-b3-sampled", "2")], [("x-b3-flags", "3"), ("x-b3-sampled", "1")],
       [("x-b3-traceid", TRACE + "0"), ("x-b3-spanid", SPAN)], [("x-b3-traceid", TRACE)] * 2 + [("x-b3-spanid", SPAN)],
       [("x-b3-parentspanid", "<script>")]]
STATES = [("a=b, c=d", "a=b, c=d"), ("A=b", None), ("a=b=c", None), ("a", None), ("x" * 600 + "=1", None), ("a=\x7f", None),
          (",".join("k%d=1" % i for i in range(32)), ",".join("k%d=1" % i for i in range(32))),
          (",".join("k%d=1" % i for i in range(33)), None)]


def contexts(tap, args):
    with Scene(args, "propagate w3c b3 b3multi\n\tsample 0\n\terrors ignore") as sc:
        for i, (name, fields, parent, sampled) in enumerate(GOOD):
            path = "/good-%d" % i
            sc.ask(path, fields)
            sent = sc.sent(path)[0]
            decision = "1" if sampled else "0"
            _, trace, span, flags = sent["traceparent"].split("-")
            tap.eq((flags, sent["b3"]), ("0" + decision, "%s-%s-%s" % (trace, span, decision)), name + ": the decision goes on, in all forms")
            tap.eq((sent["x-b3-traceid"], sent["x-b3-spanid"], sent["x-b3-sampled"]), (trace, span, decision), name + ": in several fields too")
            tap.eq(trace == (parent or ("",))[0], parent is not None, name + ": the trace goes on")
            if sampled:
                server, clients = sc.collector.wait(2)[trace]
                tap.eq((server.get("parentSpanId"), clients[0]["spanId"], sent["x-b3-parentspanid"]),
                       (parent and parent[1], span, server["spanId"]), name + ": the tree")
                sc.collector.forget()
    with Scene(args, "errors ignore") as sc:
        echoed, traced = [], 0
        for i, fields in enumerate(BAD):
            path = "/bad-%d" % i
            sc.ask(path, fields)
            for sent in sc.sent(path):
                traced += 1
                if set(sent) != {"traceparent"} or TRACE in sent["traceparent"] or not re.fullmatch(
                        "00-[0-9a-f]{32}-[0-9a-f]{16}-01", sent["traceparent"]):
                    echoed.append((fields, sent))
        tap.eq(echoed, [], "%d malformed contexts are ignored, and go no further" % len(BAD))
        tap.ok(traced >= len(BAD) - 2, "their requests do")
        traces = sc.collector.wait(2 * traced)
        tap.eq([s for s, _ in traces.values() if s.get("parentSpanId")], [], "and begin traces of their own")
        for i, (state, want) in enumerate(STATES):
            path = "/state-%d" % i
            sc.ask(path, [("traceparent", PARENT), ("tracestate", state)])
            tap.eq([s.get("tracestate") for s in sc.sent(path)], [want], "tracestate %.30s" % state)
    with Scene(args, "sample 0\n\tunsampled silent") as sc:
        for path, fields in (("/x", ()), ("/y", [("traceparent", PARENT[:-1] + "0"), ("tracestate", "a=b")]), ("/z", [("traceparent", PARENT)])):
            sc.ask(path, fields)
        tap.eq((sc.sent("/x"), sc.sent("/y"), [s["traceparent"][:35] for s in sc.sent("/z")]), ([{}], [{}], [PARENT[:35]]),
               "unsampled silent: servers hear of sampled traces only")
    rules = "http-request set-trace-sampling 100%% if { path_beg /%s }\n\thttp-request set-trace-sampling 0 if { path_beg /%s }"
    with Scene(args, "sample 0\n\tunsampled silent", rules=rules % ("on", "off"), third=(rules % ("late", "on/off")).replace("%", "%%")) as sc:
        for path in ("/on", "/late", "/on/off", "/off", "/503-1-late"):
            sc.ask(path)
        tap.eq([[len(f) for f in sc.sent(p)] for p in ("/on", "/late", "/on/off", "/off", "/503-1-late")], [[1], [1], [0], [0], [0, 0]],
               "unsampled silent: rules decide anew, in the backend too")
    with Scene(args, "parent ignore\n\tpropagate none") as sc:
        sc.ask("/x", [("traceparent", PARENT), ("tracestate", "a=b"), ("b3", "1")])
        tap.eq(sc.sent("/x"), [{}], "parent ignore, propagate none: nothing goes on")
        tap.ok(TRACE not in sc.collector.wait(2), "the trace is another one")


def log_line(text):
    m = re.search(r": (\w{32}) (\w{16}) (\d+) (\S+) (\S+) (-?\d+) (-?\d+) (-?\d+) (-?\d+) (\d+) (\S{4}) (\+?\d+) (\d) (\w+) (\w+|-) (\S+)$", text)
    keys = "trace span status backend server TR Tw Tc Tr Ta ts rc sampled end parent path".split()
    return dict(zip(keys, m.groups())) if m else None


def compare_trace(line, server, clients, sent):
    """What a trace says otherwise than the line of the log, or than what servers were sent."""
    wrong, a = [], server["attributes"]
    pairs = [("http.response.status_code", int(line["status"])), ("haproxy.backend.name", line["backend"] if line["backend"] != "fe" else None),
             ("haproxy.termination_state", line["ts"]), ("haproxy.end", line["end"] if line["end"] != "NONE" else None),
             ("haproxy.retries", int(line["rc"].lstrip("+")) or None), ("url.path", line["path"])]
    pairs += [("haproxy.time.%s_ms" % n, int(line[k])) for n, k in
              (("request", "TR"), ("queue", "Tw"), ("connect", "Tc"), ("response", "Tr"), ("active", "Ta")) if int(line[k]) >= 0]
    wrong += ["%s: %r, not %r" % (k, a.get(k), v) for k, v in pairs if a.get(k) != v]
    if (server["spanId"], server.get("parentSpanId", "-")) != (line["span"], line["parent"]):
        wrong.append("another span")
    if bool(a.get("haproxy.redispatched")) != line["rc"].startswith("+"):
        wrong.append("redispatched")
    tries = 0 if line["path"] in ("/own", "/denied") else int(line["rc"].lstrip("+")) + 1
    if len(clients) != tries:
        wrong.append("%d tries, not %d" % (len(clients), tries))
    if clients and clients[-1]["attributes"]["haproxy.server.name"] != line["server"]:
        wrong.append("the last server is another")
    at = server["startTimeUnixNano"]
    for i, c in enumerate(clients):
        b = c["attributes"]
        if c["parentSpanId"] != server["spanId"] or b["haproxy.try"] != i + 1 or b.get("http.request.resend_count", 0) != i:
            wrong.append("try %d is at a wrong place" % i)
        if not at <= c["startTimeUnixNano"] <= c["endTimeUnixNano"] <= server["endTimeUnixNano"]:
            wrong.append("try %d is at another time" % i)
        at = c["endTimeUnixNano"]
        if b["haproxy.server.name"] == "dead" and (b.get("error.type") != "CONNECT_FAILED" or c["status"]["code"] != 2 or
                                                   "haproxy.connection.error" not in b):
            wrong.append("try %d: no error" % i)
    reached = [c["spanId"] for c in clients if c["attributes"]["haproxy.server.name"] != "dead"]
    if sorted(reached) != sorted(s["traceparent"].split("-")[2] for s in sent):
        wrong.append("servers saw other spans")
    return wrong


def unsampled(tap, args):
    """What is not sampled is an id until more is asked: servers, lines and errors must still agree on it."""
    third = "http-request set-header x-edited 1 if { path_beg /edited }\n\thttp-request add-header x-added 1 if { path_beg /added }\n" \
            "\thttp-request set-header traceparent own if { path_beg /mine }"
    for name, head, more in (("", "", ""), (", names in another case", "\th1-case-adjust traceparent TraceParent",
                                            "\toption h1-case-adjust-bogus-server\n")):
        with Scene(args, "sample 0", head=head, third=more + third) as sc:
            paths = ["/plain", "/edited", "/added", "/mine", "/503-1-retried", "/close-2-retried", "/503-9-fails"]
            for path in paths:
                sc.ask(path)
            for path in paths:
                sc.syslog.find(" %s$" % path)
            lines = {line["path"]: line for line in map(log_line, sc.syslog.lines) if line}
            for path in paths:
                sent = [v for line, fields in sc.seen if line.split()[1] == path for n, v in fields if n.lower() == "traceparent"]
                parts = [v.split("-") for v in sent]
                tries = int(lines[path]["rc"].lstrip("+")) + 1
                tap.eq((len(sent), {len(v) for v in sent}, {(p[0], p[1], p[3]) for p in parts}, len({p[2] for p in parts})),
                       (tries, {55}, {("00", lines[path]["trace"], "00")}, tries), path + ": each try has a span of the line's trace" + name)
                tap.ok(lines[path]["span"] not in [p[2] for p in parts], path + ": and another one than the line" + name)
            counts = [len(re.findall(b"\r\n%s: " % n, sc.raw)) for n in (b"traceparent", b"TraceParent")]
            tap.eq(counts[::-1] if name else counts, [len([1 for _, f in sc.seen if "traceparent" in dict(f)]), 0], "the name of the field" + name)
            server, clients = sc.collector.wait(5).get(lines["/503-9-fails"]["trace"], (None, []))
            tap.eq((server and server["spanId"], [c["spanId"] for c in clients]), (lines["/503-9-fails"]["span"], [p[2] for p in parts]),
                   "one that fails is exported with the spans that servers were told" + name)
            with lib.connect(sc.port) as s:
                s.sendall(b"POST /chunks HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n")
                lib.Reader(s).response()
            fields = [[(n.lower(), v) for n, v in f] for line, f in sc.seen if "/chunks" in line]
            tap.ok(len(fields) == 1 and dict(fields[0]).get("transfer-encoding") == "chunked" and
                   [n for n, _ in fields[0]].count("traceparent") == 1, "chunks have it, too" + name, str(fields))


def trees(tap, args, count):
    paths = ["/ok-%d", "/503-1-%d", "/close-1-%d", "/503-9-%d", "/none-%d", "/own", "/denied", "/close-9-%d", "/503-2-%d"]
    with Scene(args, "queue 64m", head="\tnbthread 2", third="server dead 127.0.0.1:%(dead)d") as sc:
        for i in range(count):
            p = paths[i % len(paths)]
            sc.ask(p % i if "%" in p else p, [("b3", "%032x-%s" % (i + 1, SPAN))] if i % 2 else ())
        lines = sc.syslog.wait(lambda all: len(all) >= count and all)
        lines = [log_line(l) for l in lines]
        tap.ok(all(lines), "the log can be read")
        lib.until(lambda: sc.figures()["recorded"] == len(sc.collector.spans) or sc.collector.wrong)
        traces, wrong = sc.collector.traces(), []
        by_path = {}
        for line, fields in sc.seen:
            by_path.setdefault(line.split()[1], []).append({n: v for n, v in fields if n in CONTEXT})
        for l in lines:
            server, clients = traces.get(l["trace"], (None, []))
            w = compare_trace(l, server, clients, by_path.get(l["path"], [])) if server else ["no trace"]
            if w:
                wrong.append((l, w))
        tap.eq(sc.collector.wrong, [], "all exports can be read")
        tap.eq((len(traces), len(wrong), wrong[:2]), (count, 0, []), "%d trees say what the log says" % count)
        many = [c for _, c in traces.values() if len(c) > 2]
        tap.ok(many and any(l["rc"].startswith("+") for l in lines), "with several tries, and other servers")
        f = sc.figures()
        tap.eq((f["recorded"], f["exported"], f["dropped"], f["failures"]), (len(sc.collector.spans),) * 2 + (0, 0), "the counters agree")


def removed(tap, args):
    """A server that was tried is removed, and others come in its place, before the request is over."""
    asked, leave = threading.Event(), threading.Event()

    def goes(sock):
        lib.Reader(sock).head()
        asked.set()
        leave.wait(lib.PATIENCE)
    with Scene(args) as sc, contextlib.closing(lib.Server(goes)) as first:
        sc.proxy.ctl("add server be/gone localhost:%d; set server be/gone addr 127.0.0.1; enable server be/gone" % first.port)
        sc.proxy.ctl("disable server be/s1; disable server be/s2")
        got = []
        client = threading.Thread(target=lambda: got.append(sc.ask("/held")))
        client.start()
        tap.ok(asked.wait(lib.PATIENCE), "a server has the request")
        sc.proxy.ctl("enable server be/s1; disable server be/gone")
        leave.set()
        tap.ok(lib.until(lambda: sc.seen, lib.PATIENCE), "it fails, and another one has it")
        tap.ok("Server deleted." in sc.proxy.ctl("wait 5s srv-removable be/gone; del server be/gone"), "the first one is removed")
        for i in range(100):
            sc.proxy.ctl("; ".join("add server be/x%d-%s 127.0.0.1:1; del server be/x%d-%s" % (n, "x" * 30, n, "x" * 30) for n in range(4)))
        sc.gate.set()
        client.join()
        (_, clients), = sc.collector.wait(3).values()
        tap.eq((got, [(c["attributes"]["server.address"], c["attributes"]["haproxy.server.name"]) for c in clients]),
               ([200], [("localhost", "gone"), ("127.0.0.1", "s1")]), "what is told of both")


def sampling(tap, args):
    def is_sampled(trace, percent):
        return int(trace[18:], 16) >= (1 << 56) - int(percent / 100 * (1 << 56))
    with Scene(args, "sample 20%", "http-request set-trace-sampling 100% if { path /all }\n"
               "\thttp-request set-trace-sampling 0 if { path /nothing }\n"
               "\thttp-request set-trace-sampling req.hdr(x-part) if { path /part }") as sc:
        for i in range(200):
            sc.ask("/x-%d" % i)
        sent = [s["traceparent"].split("-") for line, f in sc.seen for s in [dict(f)]]
        tap.eq([s for s in sent if (s[3] == "01") != is_sampled(s[1], 20)], [], "a part of 200, by the trace's id, and servers are told")
        for path, fields in (("/all", ()), ("/nothing", [("traceparent", PARENT)]), ("/part", [("x-part", "100")]),
                             ("/part", [("x-part", "0"), ("traceparent", PARENT)]), ("/part", [("traceparent", PARENT)])):
            sc.seen.clear()
            sc.ask(path, fields)
            want = "01" if path == "/all" or ("x-part", "100") in fields or (path == "/part" and len(fields) == 1) else "00"
            tap.eq(sc.seen and dict(sc.seen[0][1])["traceparent"][-2:], want, "rules: %s %s" % (path, dict(fields).get("x-part", "")))
            sent += [dict(f)["traceparent"].split("-") for _, f in sc.seen]
        sampled = {s[1] for s in sent if s[3] == "01"}
        traces = sc.collector.wait(2 * len(sampled))
        tap.eq(set(traces), sampled, "what servers are told is what is exported")
        sc.collector.forget()
        for path in ("/none", "/503-9-s", "/denied", "/ok"):
            sc.ask(path, [("traceparent", PARENT[:-1] + "0")])
        traces = sc.collector.wait(7)
        ends = sorted((s["attributes"]["url.path"], s["attributes"]["haproxy.sampled_by"], s["status"]["code"], s["flags"])
                      for s in sc.collector.spans if s["kind"] == 2)
        tap.eq(ends, [("/503-9-s", "error", 2, 0), ("/none", "error", 2, 0)], "what fails is exported in any case")


def troubles(tap, args):
    with Scene(args, "queue 256k\n\ttimeout 300ms", head="\thttpclient.retries 0") as sc:
        sc.ask("/one")
        sc.collector.wait(2)
        for how, column in ((b"HTTP/1.1 400 No\r\ncontent-length: 0\r\n\r\n", "refused"),
                            (b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\n\x0a\x02\x08\x01", "rejected")):
            sc.collector.answer(how)
            before = sc.figures()[column]
            sc.ask("/two")
            lib.until(lambda: sc.figures()[column] > before)
            tap.eq(sc.figures()[column] - before, 2 if column == "refused" else 1, column + ": " + how.decode("latin-1").split("\r")[0])
        for name, how in (("429", b"HTTP/1.1 429 Slow\r\nretry-after: 1\r\ncontent-length: 0\r\n\r\n"),
                          ("503", b"HTTP/1.1 503 No\r\ncontent-length: 0\r\n\r\n"), ("cut", b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nx"),
                          ("close", "close"), ("hold", "hold")):
            sc.collector.answer(how)
            sc.collector.forget()
            failures = sc.figures()["failures"]
            tap.eq(sc.ask("/" + name), 200, name + ": the request has its answer")
            lib.until(lambda: sc.figures()["failures"] > failures)
            sc.collector.answer("ok")
            traces = sc.collector.wait(2)
            tap.eq([s["attributes"]["url.path"] for s, _ in traces.values()], ["/" + name], name + ": the export is tried again")
        sc.collector.answer("hold")
        for i in range(400):
            sc.ask("/full-%d" % i)
        f = sc.figures()
        tap.ok(f["dropped"] > 0 and f["bytes"] <= 256 * 1024, "a collector that is dead: bounded", str(f))
        sc.collector.answer("ok")
        lib.until(lambda: sc.figures()["bytes"] == 0)
        f = sc.figures()
        tap.eq(f["recorded"], sum(f[k] for k in ("exported", "rejected", "refused", "given_up", "dropped")), "all is accounted for")
    port = lib.ports(1)[0]
    with Scene(args, "otlp http://127.0.0.1:%d" % port, head="\thttpclient.retries 0") as sc:
        sc.ask("/x")
        lib.until(lambda: sc.figures()["failures"] > 0)
        tap.eq((sc.ask("/y"), sc.figures()["status"]), (200, 503), "nobody there")
        late = lib_otlp.Collector(port)
        tap.eq(len(late.wait(4)), 2, "until somebody is")
        late.close()


def stops(tap, args):
    with Scene(args, "interval 1h") as sc:
        sc.ask("/last")
        sc.proxy.process.send_signal(signal.SIGUSR1)
        sc.proxy.process.wait(lib.PATIENCE)
        tap.eq([s["attributes"]["url.path"] for s, _ in sc.collector.wait(2).values()], ["/last"], "a soft stop exports what waits")
    with Scene(args, "interval 10ms", head="\thttpclient.retries 0") as sc:
        sc.collector.answer("hold")
        sc.ask("/last")
        lib.until(lambda: sc.figures()["requests"])
        sc.proxy.process.send_signal(signal.SIGUSR1)
        tap.eq(sc.proxy.process.wait(lib.PATIENCE), 0, "but does not wait for a collector that never answers")
    with Scene(args, "interval 1h", head="\thttpclient.retries 0") as sc:
        sc.collector.answer("hold")
        sc.ask("/last")
        sc.proxy.process.send_signal(signal.SIGTERM)
        tap.ok(sc.proxy.process.wait(lib.PATIENCE) is not None, "a hard stop does not wait")


HOPS = """
defaults
	mode http
	timeout connect 5s
	timeout client 10s
	timeout server 10s
	use-telemetry otel
frontend first
	bind 127.0.0.1:%(first)d
	default_backend to_second
backend to_second
	server s 127.0.0.1:%(second)d proto h2
frontend second
	bind 127.0.0.1:%(second)d proto h2
	compression algo gzip
	compression type text/plain
	filter compression
	filter trace quiet
	http-request set-header traceparent mine if { path /own-field }
	default_backend to_third
backend to_third
	server s 127.0.0.1:%(third)d proto h2
frontend third
	bind 127.0.0.1:%(third)d proto h2
	no use-telemetry
	http-request return status 200 content-type text/plain lf-string %%[req.hdr(traceparent)]
listen raw
	mode tcp
	bind 127.0.0.1:%(raw)d
	tcp-request inspect-delay 5s
	tcp-request content switch-mode http if HTTP
	use_backend to_third if TRUE
"""


def hops(tap, args):
    """HTTP/2 on both sides, filters, a chain of programs, a connection that becomes HTTP."""
    numbers = dict(zip(("first", "second", "third", "raw"), lib.ports(4)))
    collector = lib_otlp.Collector()
    text = "telemetry otel\n\totlp http://127.0.0.1:%d\n\tinterval 50ms\n" % collector.port + HOPS % numbers
    with lib.Proxy(args.program, text) as proxy:
        for path in ("/x", "/own-field"):
            with lib.connect(numbers["first"]) as s:
                s.sendall(b"GET %s HTTP/1.1\r\nHost: h:99\r\nAccept-Encoding: gzip\r\n\r\n" % path.encode())
                tap.eq(lib.Reader(s).response()[0], 200, path + ": answered through two hops")
            traces = collector.wait(4)
            spans = {s["spanId"]: s for s in collector.spans}
            chain, at = [], next(s for s in spans.values() if not s.get("parentSpanId"))
            while at:
                a = at["attributes"]
                chain.append((at["kind"], a.get("network.protocol.version") or a["haproxy.backend.name"], a.get("url.path")))
                at = next((s for s in spans.values() if s.get("parentSpanId") == at["spanId"]), None)
            tap.eq((len(traces), chain), (1, [(2, "1.1", path), (3, "to_second", None), (2, "2", path), (3, "to_third", None)]),
                   path + ": one trace, each hop below the try of the one before")
            collector.forget()
        with lib.connect(numbers["raw"]) as s:
            s.sendall(b"GET /up HTTP/1.1\r\nHost: h\r\ntraceparent: %s\r\n\r\n" % PARENT.encode())
            got = lib.Reader(s).response()
        server, clients = collector.wait(2).get(TRACE, (None, []))
        tap.eq((got[2].decode(), server and server["attributes"]["haproxy.frontend.name"]),
               ("00-%s-%s-01" % (TRACE, clients and clients[0]["spanId"]), "raw"), "a connection that became HTTP")
        tap.ok(proxy.alive(), "alive")
    collector.close()


def exposed(text):
    """{(name, labels): value} of Prometheus' text; the kinds of the families."""
    values, kinds = {}, {}
    for line in text.split("\n"):
        m = re.fullmatch(r'([a-z0-9_]+)(?:\{(.*)\})? (\S+)', line)
        if line.startswith("# TYPE "):
            kinds[line.split()[2]] = line.split()[3]
        elif m and m.group(3) != "NaN":
            labels = re.findall(r'([a-z]+)="((?:[^"\\]|\\.)*)"', m.group(2) or "")
            values[m.group(1), frozenset((k, v.replace('\\"', '"').replace("\\\\", "\\")) for k, v in labels)] = float(m.group(3))
    return values, kinds


def points(metrics):
    """The same of metrics of OTLP, histograms as the text has them."""
    values, kinds = {}, {}
    for m in metrics:
        kind = next(k for k in ("gauge", "sum", "histogram") if k in m)
        kinds[m["name"]] = {"sum": "counter"}.get(kind, kind)
        for p in m[kind]["dataPoints"]:
            labels = frozenset(lib_otlp.attributes(p.get("attributes")).items())
            if kind != "histogram":
                values[m["name"], labels] = p["asDouble"]
                continue
            values[m["name"] + "_sum", labels], values[m["name"] + "_count", labels] = p["sum"], p["count"]
            bounds = ["%f" % b for b in p["explicitBounds"]] + ["+Inf"]
            for i, bound in enumerate(bounds):
                values[m["name"] + "_bucket", labels | {("le", bound)}] = sum(p["bucketCounts"][:i + 1])
        if kind != "gauge" and (m[kind]["aggregationTemporality"], m[kind].get("isMonotonic", True)) != (2, True):
            kinds[m["name"]] = "not cumulative"
    return values, kinds


def metrics(tap, args):
    with Scene(args, "metrics 300ms", third="server s3 127.0.0.1:%(dead)d disabled",
               rules="http-request use-service prometheus-exporter if { path /metrics }") as sc:
        for i in range(9):
            sc.ask("/503-1-%d" % i)
        with lib.connect(sc.port) as s:
            s.sendall(b"GET /metrics?histograms HTTP/1.1\r\nHost: h\r\n\r\n")
            text = lib.Reader(s).response()[2].decode()

        now_ns = time.time_ns()

        def rounds():
            """Where those begin that were read after the text."""
            with sc.collector.lock:
                return [i for i, m in enumerate(sc.collector.metrics) if m["name"] == "haproxy_process_nbthread" and
                        m["gauge"]["dataPoints"][0]["timeUnixNano"] > now_ns]
        lib.until(lambda: len(rounds()) >= 2 or sc.collector.wrong)
        tap.eq(sc.collector.wrong, [], "metrics can be read")
        with sc.collector.lock:
            raw, count = list(sc.collector.raw), len(sc.collector.metrics)
        lib_otlp.check_with_package(tap, raw, False, "/v1/metrics", "metrics", count, "the definitions of OpenTelemetry agree")
        at = rounds()
        got, kinds = points(sc.collector.metrics[at[0]:at[1]])
        want, want_kinds = exposed(text)
        shown = {k for k in want_kinds if any(n.startswith(k) for n, _ in want)}
        tap.eq(({k: v for k, v in kinds.items() if k in shown}, len(shown) > 150), ({k: want_kinds[k] for k in shown}, True),
               "the families of the exporter, of the same kinds")
        tap.eq(sorted(map(str, set(want) ^ set(got)))[:5], [], "the same series")
        quiet = [k for k in want if k[0].startswith(("haproxy_backend_", "haproxy_server_")) and
                 not re.search("last|seconds_total|rate|idle_conn", k[0])]
        tap.eq(([(k, want[k], got.get(k)) for k in quiet if want[k] != got.get(k)][:3], len(quiet) > 300), ([], True),
               "%d of the same values" % len(quiet))
        counted = {dict(k[1])["state"]: v for k, v in want.items() if k[0] == "haproxy_telemetry_elements_total" and
                   ("signal", "traces") in k[1]}
        tap.ok(counted.get("recorded") == 27 and "dropped" in counted, "the exporter counts spans", str(counted))
        rows = [l.split()[1] for l in sc.proxy.ctl("show telemetry").strip().split("\n")]
        tap.eq((rows, "-telemetry-" in sc.proxy.ctl("show stat")), (["section", "traces", "metrics"], False),
               "they are counted, the backend that gives them is hidden")


def reloads(tap, args):
    def load(text):
        with open(sc.proxy.conf_path, "w") as f:
            f.write("global\n\tstats socket %s level admin mode 600\n%s" % (sc.proxy.ctl_path, text))
        return sc.proxy.ctl("reload")
    with Scene(args) as sc:
        sc.ask("/one")
        sc.collector.wait(2)
        tap.ok("Success=1" in load(CONF % dict(sc.values, section="encoding json")), "reloaded")
        sc.ask("/two")
        sc.collector.wait(4)
        tap.eq(sc.collector.requests[-1][1]["content-type"], "application/json", "the section of the new generation counts")
        tap.eq(sc.figures()["recorded"], 4, "the counters go on")
        sc.collector.answer("close")
        sc.ask("/three")
        lib.until(lambda: sc.figures()["failures"])
        text = CONF % sc.values
        load(text.replace("telemetry otel\n", "telemetry other\n", 1).replace("use-telemetry otel", "no use-telemetry")
             .replace("%[trace.id]", "-"))
        sc.ask("/four")
        sc.collector.answer("ok")
        tap.eq([s["attributes"]["url.path"] for s, _ in sc.collector.wait(6).values() if s][-1], "/three",
               "what waited is exported by the section that is gone")
        tap.eq((sc.sent("/four"), sc.figures()["section"], sc.figures()["recorded"]), ([{}], "other", 0), "and no more is recorded")
        sc.collector.requests.clear()
        load(text)
        slow = threading.Thread(target=sc.ask, args=("/held",))
        slow.start()
        lib.until(lambda: sc.sent("/held"))
        load(text)
        load(text.replace("telemetry otel\n", "telemetry other\n", 1).replace("use-telemetry otel", "no use-telemetry")
             .replace("%[trace.id]", "-"))
        lib.until(lambda: "otel" not in sc.proxy.ctl("show telemetry"))
        sc.gate.set()
        slow.join()
        tap.ok(lib.until(lambda: "/held" in [s["attributes"].get("url.path") for s, _ in sc.collector.wait(2).values() if s]),
               "a request of the generation before the last one that had the section is exported")
        load(text.replace("use-telemetry otel", "use-telemetry missing"))
        tap.eq(sc.figures()["section"], "other", "a reload that fails changes nothing")


MISTAKES = [
    ("telemetry\n", "expects a name"),
    ("telemetry a\n", "has no line 'otlp'"),
    ("telemetry a\n\totlp 127.0.0.1:4318\n", "is no URL of http or https"),
    ("telemetry a\n\totlp http://x/?q\n", "is no URL of http or https"),
    ("telemetry a\n\totlp http://127.0.0.1:1\n\tsample 101\n", "is no part of 100"),
    ("telemetry a\n\totlp http://127.0.0.1:1\n\tencoding xml\n", "expects 'protobuf' or 'json'"),
    ("telemetry a\n\totlp http://127.0.0.1:1\n\taccept jaeger\n", "expects w3c, b3, b3multi or none"),
    ("telemetry a\n\totlp http://127.0.0.1:1\n\theader a: b\n", "is no field"),
    ("telemetry a\n\totlp http://127.0.0.1:1\n\theader Content-Length 5\n", "what the program says itself"),
    ("telemetry a\n\totlp http://127.0.0.1:1\n\tqueue 1k\n", "262144 bytes at least"),
    ("telemetry a\n\totlp http://127.0.0.1:1\ntelemetry a\n", "there is another section 'telemetry a'"),
    ("frontend f\n\tmode http\n\tbind 127.0.0.1:1\n\tuse-telemetry b\n", "there is no section 'telemetry b'"),
    ("frontend f\n\tmode http\n\tbind 127.0.0.1:1\n\thttp-request set-trace-sampling\n", "expects a part of 100"),
    ("frontend f\n\tmode http\n\tbind 127.0.0.1:1\n\thttp-request set-trace-sampling 101%\n", "is no part of 100"),
]


def mistakes(tap, args):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "t.cfg")
        for text, want in MISTAKES:
            with open(path, "w") as f:
                f.write(text)
            got = subprocess.run([args.program, "-c", "-f", path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                 text=True, errors="replace", check=False)
            tap.ok(got.returncode == 1 and want in got.stdout and "t.cfg:" in got.stdout, "refused: " + want, got.stdout)


def main():
    args = lib.arguments(__doc__, ("count", 180, "requests with retries and redispatches"))
    tap = lib.Tap()
    if lib.is_reference(args.program):
        tap.skip("telemetry", "an extension")
        tap.done()
    for test in (shapes, contexts, removed, sampling, unsampled, hops, troubles, stops, metrics, reloads, mistakes):
        tap.attempt(test.__name__, test, tap, args)
    tap.attempt("trees", trees, tap, args, args.count)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
