#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Prometheus itself scrapes the exporter, every second under traffic: no scrape fails, and where there is a reference
program it finds the same series there, but for ours. Needs prometheus (make check-prometheus unpacks Debian's)."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "system"))
import lib  # noqa: E402

REFERENCE = os.environ.get("REFERENCE") or os.path.expanduser("~/.cache/haproxy-reference/haproxy-3.4")

CONF = """
defaults
    mode http
    timeout connect 1s
    timeout client 5s
    timeout server 5s
frontend fe
    bind 127.0.0.1:{port} name one
    option socket-stats
    http-request use-service prometheus-exporter if {{ path /metrics }}
    use_backend "b2" if {{ path /b }}
    default_backend be
backend be
    balance roundrobin
    option httpchk
    server s1 127.0.0.1:{origin} check inter 200ms
    server s2 127.0.0.1:1 disabled
backend b2
    server s3 127.0.0.1:1
listen raw
    mode tcp
    bind 127.0.0.1:{raw}
    server s4 127.0.0.1:{origin}
"""

# series that this program has and the reference has not
OURS = ("_latency_seconds_bucket", "_latency_seconds_sum", "_latency_seconds_count")


def find():
    for path in ("build/tools/prometheus/usr/bin/prometheus", shutil.which("prometheus") or ""):
        if os.access(path, os.X_OK):
            return os.path.abspath(path)
    print("1..0 # skip there is no prometheus")
    sys.exit(0)


class Prometheus:
    def __init__(self, program, targets):
        self.dir = tempfile.mkdtemp(prefix="prom-")
        self.port = lib.ports(1)[0]
        with open(self.dir + "/prometheus.yml", "w") as f:
            f.write("global: { scrape_interval: 1s, scrape_timeout: 900ms }\nscrape_configs:\n")
            for name, port in targets.items():
                f.write("  - job_name: %s\n    params: { histograms: [\"\"], extra-counters: [\"\"] }\n"
                        "    static_configs:\n      - targets: [ \"127.0.0.1:%d\" ]\n" % (name, port))
        self.p = subprocess.Popen([program, "--config.file=" + self.dir + "/prometheus.yml", "--storage.tsdb.path=" + self.dir
                                   + "/data", "--web.listen-address=127.0.0.1:%d" % self.port, "--log.level=error"])
        lib.until(self.is_ready, 30)

    def is_ready(self):
        try:
            return urllib.request.urlopen("http://127.0.0.1:%d/-/ready" % self.port, timeout=5).status == 200
        except OSError:
            return False

    def api(self, path, **args):
        with urllib.request.urlopen("http://127.0.0.1:%d/api/v1/%s?%s" % (self.port, path, urllib.parse.urlencode(args)),
                                    timeout=30) as r:
            return json.load(r)["data"]

    def query(self, text):
        """{job: value}"""
        return {r["metric"].get("job", ""): float(r["value"][1]) for r in self.api("query", query=text)["result"]}

    def series(self, job):
        """Names with their labels, but for addresses."""
        out = set()
        for s in self.api("series", **{"match[]": '{job="%s"}' % job}):
            out.add((s["__name__"],) + tuple(sorted((k, v) for k, v in s.items() if k not in
                                                     ("__name__", "job", "instance", "version", "le"))))
        return {s for s in out if not s[0].startswith(("scrape_", "up"))}

    def stop(self):
        self.p.terminate()
        self.p.wait()
        shutil.rmtree(self.dir, ignore_errors=True)


def main():
    args = lib.arguments(__doc__, ("reference", REFERENCE, "the program to compare with"),
                         ("seconds", 20, "how long it scrapes"))
    tap = lib.Tap()
    program = find()
    origin = lib.Server(lambda s: s.recv(4096) and s.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"))
    jobs, proxies = {}, []
    for name, path in (("ours", args.program), ("reference", args.reference)):
        if os.access(path, os.X_OK):
            port, raw = lib.ports(2)
            proxies.append(lib.Proxy(path, CONF.format(port=port, raw=raw, origin=origin.port)))
            jobs[name] = port
    over = threading.Event()

    def traffic(port):
        while not over.wait(0.02):
            s = lib.connect(port)
            s.sendall(b"GET /x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            lib.recv_all(s)
            s.close()

    threads = [threading.Thread(target=traffic, args=(port,), daemon=True) for port in jobs.values()]
    prometheus = Prometheus(program, jobs)
    try:
        for t in threads:
            t.start()
        time.sleep(args.seconds)
        window = "[%ds]" % args.seconds
        up = prometheus.query("min_over_time(up%s)" % window)
        tap.ok(up.get("ours") == 1, "every scrape is understood", up)
        count = prometheus.query("count_over_time(up%s)" % window).get("ours", 0)
        tap.ok(count >= args.seconds / 2, "%d scrapes in %d seconds" % (count, args.seconds))
        q = prometheus.query("histogram_quantile(0.5, sum by (le, job) (rate(haproxy_server_total_latency_seconds_bucket%s)))"
                             % window)
        tap.ok(0 < q.get("ours", 0) < 5, "a quantile of a histogram", q)
        rate = prometheus.query("sum by (job) (rate(haproxy_frontend_http_requests_total%s))" % window)
        tap.ok(rate.get("ours", 0) > 1, "a rate of requests", rate)
        resets = prometheus.query("sum by (job) (resets(haproxy_server_total_latency_seconds_count%s))" % window)
        tap.eq(resets.get("ours"), 0.0, "no counter goes backwards")
        print("# seconds of a scrape: %s; samples: %s" % (prometheus.query("max_over_time(scrape_duration_seconds%s)" % window),
                                                          prometheus.query("scrape_samples_scraped")))
        if "reference" in jobs:
            a, b = prometheus.series("ours"), prometheus.series("reference")
            built = subprocess.run([args.program, "-vv"], stdout=subprocess.PIPE).stdout
            missing = [s for s in sorted(b - a) if "_zlib_" not in s[0] or b" +ZLIB" in built]
            tap.eq(missing[:10], [], "every series of the reference is here (%d)" % len(b))
            more = [s for s in sorted(a - b) if not s[0].endswith(OURS) and ("mod", "h3") not in s and ("mod", "quic") not in s]
            tap.eq(more[:10], [], "and others are our histograms, or of QUIC, which not every build of it has")
        else:
            tap.skip("the series of the reference", "there is none")
    finally:
        over.set()
        for t in threads:
            t.join()
        prometheus.stop()
        for p in proxies:
            p.stop()
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
