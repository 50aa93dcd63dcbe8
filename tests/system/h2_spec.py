#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs h2spec, where it is installed, against HTTP/2 listeners in clear and over TLS: no case may fail.

It is looked for in $H2SPEC, in the path, in build/tools and where Go installs programs. Where there is Go,
scripts/install-deps test makes it, as does
    go install github.com/summerwind/h2spec/cmd/h2spec@latest
The answers come from a listener which waits for the whole body, so that mistakes in it are seen first.
"""
import os
import re
import shutil
import subprocess
import tempfile

import lib

CONF = """
defaults
	mode http
	timeout connect 2s
	timeout client 3s
	timeout server 3s
frontend answers
	bind 127.0.0.1:{s1}
	http-request wait-for-body time 3s
	http-request return status 200 content-type text/plain string "{text}"
frontend f
	bind 127.0.0.1:{fe} proto h2
	{tls}
	default_backend b
backend b
	server s1 127.0.0.1:{s1}
"""


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


def run_tool(tap, tool, name, port, *options):
    run = subprocess.run([tool, "-h", "127.0.0.1", "-p", str(port), "-o", "3", *options],
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=100)
    text = run.stdout.decode("utf-8", "replace")
    total = re.search(r"(\d+) tests, (\d+) passed, (\d+) skipped, (\d+) failed", text)
    tap.ok(total and int(total.group(1)) > 100, name + ": h2spec ran", text)
    failures = text[text.find("Failures:"):] if "Failures:" in text else ""
    tap.ok(total and total.group(4) == "0", name + ": no case of h2spec fails", failures)


def main():
    args = lib.arguments(__doc__)
    tap = lib.Tap()
    tool = find_tool()
    if not tool:
        tap.skip("h2spec", "not installed")
        tap.done()
    fe, s1, secure = lib.ports(3)
    with tempfile.TemporaryDirectory() as folder:
        pem = certificate(folder)
        tls = "bind 127.0.0.1:%d ssl crt %s alpn h2" % (secure, pem) if pem else ""
        conf = CONF.format(fe=fe, s1=s1, tls=tls, text="x" * 64)
        with lib.Proxy(args.program, conf) as proxy:
            run_tool(tap, tool, "in clear", fe)
            if pem:
                run_tool(tap, tool, "over TLS", secure, "-t", "-k")
            else:
                tap.skip("over TLS", "no openssl")
            tap.ok(proxy.alive(), "the proxy is alive", proxy.output())
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
