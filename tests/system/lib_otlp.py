# SPDX-License-Identifier: GPL-2.0-or-later
"""A collector of OpenTelemetry for tests: OTLP over HTTP, both encodings, as one form of Python's dicts and lists; it can also be
slow, refuse or fail. Protocol Buffers are decoded by a table of the fields' numbers; where PyPI's opentelemetry-proto is installed,
check_with_package() compares."""
import json
import struct
import threading

import lib

# message: {number: (name of JSON, kind)}; a kind in brackets is a list; other words are messages
MESSAGES = {
    "TracesData": {1: ("resourceSpans", ["ResourceSpans"])},
    "ResourceSpans": {1: ("resource", "Resource"), 2: ("scopeSpans", ["ScopeSpans"])},
    "ScopeSpans": {1: ("scope", "Scope"), 2: ("spans", ["Span"])},
    "Resource": {1: ("attributes", ["KeyValue"])},
    "Scope": {1: ("name", "text"), 2: ("version", "text")},
    "KeyValue": {1: ("key", "text"), 2: ("value", "AnyValue")},
    "AnyValue": {1: ("stringValue", "text"), 2: ("boolValue", "bool"), 3: ("intValue", "int"), 4: ("doubleValue", "double")},
    "Span": {1: ("traceId", "id"), 2: ("spanId", "id"), 3: ("traceState", "text"), 4: ("parentSpanId", "id"), 5: ("name", "text"),
             6: ("kind", "int"), 7: ("startTimeUnixNano", "fixed64"), 8: ("endTimeUnixNano", "fixed64"),
             9: ("attributes", ["KeyValue"]), 15: ("status", "Status"), 16: ("flags", "fixed32")},
    "Status": {2: ("message", "text"), 3: ("code", "int")},
    "MetricsData": {1: ("resourceMetrics", ["ResourceMetrics"])},
    "ResourceMetrics": {1: ("resource", "Resource"), 2: ("scopeMetrics", ["ScopeMetrics"])},
    "ScopeMetrics": {1: ("scope", "Scope"), 2: ("metrics", ["Metric"])},
    "Metric": {1: ("name", "text"), 2: ("description", "text"), 5: ("gauge", "Points"), 7: ("sum", "Points"),
               9: ("histogram", "Histograms")},
    "Points": {1: ("dataPoints", ["Point"]), 2: ("aggregationTemporality", "int"), 3: ("isMonotonic", "bool")},
    "Histograms": {1: ("dataPoints", ["Histogram"]), 2: ("aggregationTemporality", "int")},
    "Point": {2: ("startTimeUnixNano", "fixed64"), 3: ("timeUnixNano", "fixed64"), 4: ("asDouble", "double"),
              7: ("attributes", ["KeyValue"])},
    "Histogram": {2: ("startTimeUnixNano", "fixed64"), 3: ("timeUnixNano", "fixed64"), 4: ("count", "fixed64"), 5: ("sum", "double"),
                  6: ("bucketCounts", "fixed64s"), 7: ("explicitBounds", "doubles"), 9: ("attributes", ["KeyValue"])},
    "LogsData": {1: ("resourceLogs", ["ResourceLogs"])},
    "ResourceLogs": {1: ("resource", "Resource"), 2: ("scopeLogs", ["ScopeLogs"])},
    "ScopeLogs": {1: ("scope", "Scope"), 2: ("logRecords", ["LogRecord"])},
    "LogRecord": {1: ("timeUnixNano", "fixed64"), 2: ("severityNumber", "int"), 3: ("severityText", "text"), 5: ("body", "AnyValue"),
                  6: ("attributes", ["KeyValue"]), 8: ("flags", "fixed32"), 9: ("traceId", "id"), 10: ("spanId", "id"),
                  11: ("observedTimeUnixNano", "fixed64")},
}
ROOTS = {"/v1/traces": "TracesData", "/v1/metrics": "MetricsData", "/v1/logs": "LogsData"}


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7f) << shift
        at += 1
        if data[at - 1] < 0x80:
            return value, at
        shift += 7


def value_of(kind, wire, data):
    if isinstance(kind, str) and kind in MESSAGES:
        return decode(kind, data)
    if kind == "text":
        return data.decode("utf-8")
    if kind == "id":
        return data.hex()
    if kind == "bool":
        return bool(data)
    if kind == "double":
        return struct.unpack("<d", data)[0]
    if kind in ("fixed64", "fixed32"):
        if len(data) != (8 if kind == "fixed64" else 4):
            raise ValueError("%s of %d bytes" % (kind, len(data)))
        return int.from_bytes(data, "little")
    if kind == "fixed64s":
        return [v[0] for v in struct.iter_unpack("<Q", data)]
    if kind == "doubles":
        return [v[0] for v in struct.iter_unpack("<d", data)]
    return data - (1 << 64) if data >> 63 else data


def decode(message, data):
    """Strict: a field that the table does not have, or that does not end with its message, is an error."""
    out, at = {}, 0
    while at < len(data):
        tag, at = varint(data, at)
        name, kind = MESSAGES[message][tag >> 3]
        wire = tag & 7
        if wire == 0:
            value, at = varint(data, at)
        else:
            size = 8 if wire == 1 else 4 if wire == 5 else None
            if size is None:
                size, at = varint(data, at)
            if at + size > len(data):
                raise ValueError("%s.%s is cut" % (message, name))
            value, at = data[at:at + size], at + size
        if isinstance(kind, list):
            out.setdefault(name, []).append(value_of(kind[0], wire, value))
        else:
            out[name] = value_of(kind, wire, value)
    return out


def numbers(value):
    """JSON has 64 bits as texts."""
    if isinstance(value, dict):
        return {k: int(v) if k in ("intValue", "startTimeUnixNano", "endTimeUnixNano", "timeUnixNano", "observedTimeUnixNano", "count")
                else [int(x) for x in v] if k == "bucketCounts" else numbers(v) for k, v in value.items()}
    return [numbers(v) for v in value] if isinstance(value, list) else value


def attributes(items):
    return {a["key"]: next(iter(a["value"].values())) for a in items or []}


class Collector:
    """<how>: "ok"; "hold": no answer until it changes; "close": the connection; or the beginning of an answer."""

    def __init__(self, port=None):
        self.how, self.lock = "ok", threading.Lock()
        self.spans, self.metrics, self.logs, self.requests, self.resources, self.wrong = [], [], [], [], [], []
        self.raw = []
        self.free = threading.Event()
        self.free.set()
        self.meanwhile = None  # called before each answer
        self.server = lib.Server(self.serve, port)
        self.port = self.server.port

    def answer(self, how):
        self.how = how
        if how == "hold":
            self.free.clear()
        else:
            self.free.set()

    def serve(self, sock):
        r = lib.Reader(sock)
        while True:
            head = r.head()
            if not head:
                return
            body = r.body(head[1])
            how = self.how
            with self.lock:
                self.requests.append((head[0], dict(head[1]), how))
            if self.meanwhile:
                self.meanwhile()
            if how == "hold":
                self.free.wait(lib.PATIENCE)
                how = self.how
            if how == "close":
                return
            if how == "ok":
                self.take(head[0].split()[1], dict(head[1]), body)
                how = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"
            sock.sendall(how)

    def take(self, path, fields, body):
        with self.lock:
            self.raw.append((path, body))
        try:
            if fields["content-type"] == "application/json":
                data = numbers(json.loads(body.decode("utf-8")))
            else:
                data = decode(ROOTS[path], body)
            with self.lock:
                self.keep(data)
        except Exception as e:  # whatever it is, the test says so
            self.wrong.append("%s: %r: %r" % (path, e, body[:200]))

    def keep(self, data):
        for r in data.get("resourceSpans", []):
            self.resources.append(attributes(r["resource"].get("attributes")))
            for scope in r["scopeSpans"]:
                for s in scope["spans"]:
                    s["attributes"] = attributes(s.get("attributes"))
                    self.spans.append(s)
        for r in data.get("resourceMetrics", []):
            for scope in r["scopeMetrics"]:
                self.metrics += scope["metrics"]
        for r in data.get("resourceLogs", []):
            for scope in r["scopeLogs"]:
                for l in scope["logRecords"]:
                    l["attributes"] = attributes(l.get("attributes"))
                    self.logs.append(l)

    def forget(self):
        with self.lock:
            self.spans, self.requests = [], []

    def traces(self):
        """{trace: (server span, [client spans by their start and try])}, of what has come so far."""
        with self.lock:
            spans = list(self.spans)
        out = {}
        for s in spans:
            out.setdefault(s["traceId"], [None, []])
            if s["kind"] == 2:
                out[s["traceId"]][0] = s
            else:
                out[s["traceId"]][1].append(s)
        for t in out.values():
            t[1].sort(key=lambda s: s["attributes"]["haproxy.try"])
        return out

    def wait(self, count, timeout=lib.PATIENCE):
        """Until so many spans have come; returns the traces."""
        lib.until(lambda: len(self.spans) >= count or self.wrong, timeout)
        return self.traces()

    def close(self):
        self.answer("ok")
        self.server.close()


def check_with_package(tap, raw, is_json, path, list_name, count, name):
    """The definitions of PyPI's package find the same number of elements, and no field that they do not have. In JSON, ids are
    hexadecimal in OTLP and base64 to the package: they are not looked at."""
    lib.use_tools()
    try:
        from google.protobuf import json_format
        from opentelemetry.proto.logs.v1 import logs_pb2
        from opentelemetry.proto.metrics.v1 import metrics_pb2
        from opentelemetry.proto.trace.v1 import trace_pb2
    except ImportError:
        tap.skip(name, "opentelemetry-proto is not installed (scripts/install-deps test)")
        return
    kinds = {"/v1/traces": (trace_pb2.TracesData, "resource_spans", "scope_spans"),
             "/v1/metrics": (metrics_pb2.MetricsData, "resource_metrics", "scope_metrics"),
             "/v1/logs": (logs_pb2.LogsData, "resource_logs", "scope_logs")}
    kind, outer, inner = kinds[path]
    found, wrong = 0, []
    for at, body in raw:
        if at != path:
            continue
        m = kind()
        try:
            if is_json:
                json_format.Parse(body, m)
            else:
                m.ParseFromString(body)
                before = m.ByteSize()
                m.DiscardUnknownFields()
                if m.ByteSize() != before:
                    wrong.append("%d bytes are of fields that it does not know" % (before - m.ByteSize()))
        except Exception as e:  # whatever it is, the test says so
            wrong.append(repr(e)[:300])
        found += sum(len(getattr(s, list_name)) for r in getattr(m, outer) for s in getattr(r, inner))
    tap.eq((found, wrong[:2]), (count, []), name)
