#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs h2spec, where it is installed, against an HTTP/2 listener: no case may fail.

It is looked for in $H2SPEC, in the path and where Go installs programs:
go install github.com/summerwind/h2spec/cmd/h2spec@latest
The answers come from a listener which waits for the whole body, so that mistakes in it are seen first.
"""
import os
import re
import shutil
import subprocess

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
	default_backend b
backend b
	server s1 127.0.0.1:{s1}
"""


def find_tool():
    for path in (os.environ.get("H2SPEC"), shutil.which("h2spec"),
                 os.path.expanduser("~/go/bin/h2spec")):
        if path and os.access(path, os.X_OK):
            return path
    return None


def main():
    args = lib.arguments(__doc__)
    tap = lib.Tap()
    tool = find_tool()
    if not tool:
        tap.skip("h2spec", "not installed")
        tap.done()
    fe, s1 = lib.ports(2)
    with lib.Proxy(args.program, CONF.format(fe=fe, s1=s1, text="x" * 64)) as proxy:
        run = subprocess.run([tool, "-h", "127.0.0.1", "-p", str(fe), "-o", "3"],
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=100)
        text = run.stdout.decode("utf-8", "replace")
        total = re.search(r"(\d+) tests, (\d+) passed, (\d+) skipped, (\d+) failed", text)
        tap.ok(total and int(total.group(1)) > 100, "h2spec ran", text)
        failures = text[text.find("Failures:"):] if "Failures:" in text else ""
        tap.ok(total and total.group(4) == "0", "no case of h2spec fails", failures)
        tap.ok(proxy.alive(), "the proxy is alive", proxy.output())
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
