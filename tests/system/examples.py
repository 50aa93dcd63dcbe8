#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Every file of examples/ runs and answers: a line "# try: METHOD ADDRESS:PORT/PATH -> STATUS" in its first
comment says what. Its ports are moved to free ones. Run with the reference too, except for extensions.
"""
import glob
import os
import re
import shutil
import subprocess
import tempfile

import lib

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
EXTENSIONS = ("reload-in-process.cfg",)


def moved(text, folder):
    """The text with its ports and paths of /tmp moved; and the ports, old to new."""
    old = sorted(set(re.findall(r"127\.0\.0\.1:(\d+)", text)))
    ports = dict(zip(old, lib.ports(len(old))))
    text = re.sub(r"127\.0\.0\.1:(\d+)", lambda m: "127.0.0.1:%d" % ports[m.group(1)], text)
    return text.replace("/tmp/", folder + "/"), ports


def ask(method, port, path):
    try:
        with lib.connect(port) as s:
            s.sendall(("%s %s HTTP/1.1\r\nHost: example.com\r\nConnection: close\r\n\r\n"
                       % (method, path)).encode())
            got = lib.Reader(s).response()
            return got and got[0]
    except OSError:
        return None


def run(tap, args, path):
    name = os.path.basename(path)
    folder = tempfile.mkdtemp(prefix="hape.")
    with open(path) as f:
        text, ports = moved(f.read(), folder)
    conf = os.path.join(folder, name)
    with open(conf, "w") as f:
        f.write(text)
    p = subprocess.Popen([args.program, "-db", "-f", conf], stdout=subprocess.DEVNULL,
                         stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    tries = re.findall(r"^# try: (\w+) 127\.0\.0\.1:(\d+)(\S+) -> (\d+)", text, re.M)
    tap.ok(tries or name == "quickstart.cfg", name + " says what to try")
    for method, port, url, status in tries:
        tap.ok(lib.until(lambda: ask(method, int(port), url) == int(status)),
               "%s: %s %s: %s" % (name, method, url, status), ask(method, int(port), url))
    p.terminate()
    p.wait(lib.PATIENCE)
    shutil.rmtree(folder, ignore_errors=True)


def main():
    args = lib.arguments(__doc__)
    tap = lib.Tap()
    for path in sorted(glob.glob(os.path.join(ROOT, "examples", "*.cfg"))):
        if lib.is_reference(args.program) and os.path.basename(path) in EXTENSIONS:
            tap.skip(os.path.basename(path), "an extension")
            continue
        run(tap, args, path)
    tap.done()


lib.guarded(main)
