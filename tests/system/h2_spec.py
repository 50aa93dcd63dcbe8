#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs h2spec, where it is installed, against HTTP/2 listeners in clear and over TLS: no case may fail.

It is looked for in $H2SPEC, in the path, in build/tools and where Go installs programs. Where there is Go,
scripts/install-deps test makes it, as does
    go install github.com/summerwind/h2spec/cmd/h2spec@latest
Strict, against the plainest configurations: an answer made by a rule, the one of a server, the statistics page;
each in clear and over TLS.

Of one case nothing can be said for sure: 6.9.1/3 asks, in a frame and a packet of its own, for too large a window
of a stream whose request is complete. When the answer has left by then, the stream is closed, and the frame must be
ignored (RFC 9113 5.1), which h2spec takes for a failure. This case alone may be run up to 9 times, and has failed when it
never passes; how often that was needed is said.
"""
import os
import shutil
import subprocess
import tempfile
import xml.etree.ElementTree

import lib

CONF = """
defaults
	mode http
	timeout connect 2s
	timeout client 3s
	timeout server 3s
frontend origin
	bind 127.0.0.1:{origin}
	http-request return status 200 content-type text/plain file {text}
frontend return
	bind 127.0.0.1:{return} proto h2
	{return_tls}
	http-request return status 200 content-type text/plain file {text}
frontend server
	bind 127.0.0.1:{server} proto h2
	{server_tls}
	default_backend b
frontend stats
	bind 127.0.0.1:{stats} proto h2
	{stats_tls}
	stats uri /
backend b
	server s1 127.0.0.1:{origin}
"""
KINDS = ("return", "server", "stats")
MAY_COME_LATE = ("http2/6.9.1/3",)
# HAProxy does not look any more at the body of a request whose answer has left
MAY_COME_LATE_THERE = MAY_COME_LATE + ("http2/8.1.2.6/1", "http2/8.1.2.6/2")
AGAIN = 8


def find_tool():
    for path in (os.environ.get("H2SPEC"), shutil.which("h2spec"), "build/tools/h2spec",
                 os.path.expanduser("~/go/bin/h2spec")):
        if path and os.access(path, os.X_OK):
            return path
    return None


def certificate(folder):
    """A key and a certificate of its own, in one file; None: there is no openssl."""
    if not shutil.which("openssl"):
        return None
    run = subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "9",
                          "-subj", "/CN=localhost", "-keyout", folder + "/key", "-out",
                          folder + "/crt"], stderr=subprocess.DEVNULL)
    if run.returncode:
        return None
    with open(folder + "/site.pem", "w") as out:
        for name in ("crt", "key"):
            with open(os.path.join(folder, name)) as part:
                out.write(part.read())
    return folder + "/site.pem"


def run_tool(tool, port, folder, options, cases=()):
    """Runs all cases, or <cases>. Returns how many there were, those that failed, and what was said."""
    report = os.path.join(folder, "report.xml")
    run = subprocess.run([tool, "-S", "-h", "127.0.0.1", "-p", str(port), "-o", "3", "-j", report, *options, *cases],
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=200)
    count, failed = 0, []
    for suite in xml.etree.ElementTree.parse(report).getroot().iter("testsuite"):
        for number, case in enumerate(suite.findall("testcase"), 1):
            count += 1
            if case.find("failure") is not None or case.find("error") is not None:
                failed.append("%s/%d" % (suite.get("package"), number))
    return count, failed, run.stdout.decode("utf-8", "replace")


def passes_alone(tool, port, folder, options, case):
    for _ in range(AGAIN):
        count, failed, _ = run_tool(tool, port, folder, options, (case,))
        if count and not failed:
            return True
    return False


def run_listener(tap, tool, name, may_come_late, port, folder, *options):
    count, failed, text = run_tool(tool, port, folder, options)
    tap.ok(count > 100, name + ": h2spec ran", text)
    late = [c for c in failed if c in may_come_late]
    bad = [c for c in failed if c not in late or not passes_alone(tool, port, folder, options, c)]
    if late:
        print("# %s: run again alone: %s" % (name, ", ".join(late)))
    tap.ok(not bad, name + ": no case of h2spec fails", "\n".join(bad) + "\n" + text[text.find("Failures:"):])


def main():
    args = lib.arguments(__doc__)
    tap = lib.Tap()
    tool = find_tool()
    if not tool:
        tap.apart("others", "h2spec")
        tap.done()
    late = MAY_COME_LATE_THERE if lib.is_reference(args.program) else MAY_COME_LATE
    origin, *rest = lib.ports(1 + 2 * len(KINDS))
    with tempfile.TemporaryDirectory() as folder:
        pem = certificate(folder)
        with open(folder + "/text", "w") as f:
            f.write("x" * 1024)
        where = dict(origin=origin, text=folder + "/text")
        for kind, clear, tls in zip(KINDS, rest[::2], rest[1::2]):
            where[kind] = clear
            where[kind + "_tls"] = "bind 127.0.0.1:%d ssl crt %s alpn h2" % (tls, pem) if pem else ""
        with lib.Proxy(args.program, CONF.format(**where)) as proxy:
            for kind, tls in zip(KINDS, rest[1::2]):
                run_listener(tap, tool, kind + ", in clear", late, where[kind], folder)
                if pem:
                    run_listener(tap, tool, kind + ", over TLS", late, tls, folder, "-t", "-k")
                else:
                    tap.skip(kind + ", over TLS", "no openssl")
            tap.ok(proxy.alive(), "the proxy is alive", proxy.output())
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
