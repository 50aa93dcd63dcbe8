#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Every file of examples/ is accepted without a word, by --lint too, runs and answers: a line "# try: METHOD
[https://NAME@]ADDRESS:PORT/PATH -> STATUS" in its first comment says what; with a name over TLS, with a certificate of that
name. Certificates that it names are made. Its ports are moved to free ones. Run with the reference too, except for extensions.
"""
import glob
import os
import re
import shutil
import ssl
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


def certificates(text):
    """Makes the files behind the words `crt`: each for the name that its own name begins with."""
    for path in set(re.findall(r" crt (\S+\.pem)", re.sub(r"(?m)^#.*", "", text))):
        name = os.path.basename(path)[:-len(".pem")]
        os.makedirs(os.path.dirname(path), exist_ok=True)
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                        "-days", "2", "-subj", "/CN=" + name, "-addext", "subjectAltName=DNS:" + name, "-keyout",
                        path + ".key", "-out", path], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def ask(method, name, port, path, folder):
    try:
        with lib.connect(port) as s:
            if name:
                tls = ssl.create_default_context(cafile=glob.glob(folder + "/*/%s.pem" % name)[0])
                s = tls.wrap_socket(s, server_hostname=name)
            s.sendall(("%s %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n"
                       % (method, path, name or "example.com")).encode())
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
    certificates(text)
    said = subprocess.run([args.program, "-c", "-f", conf], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    tap.ok(said.returncode == 0 and not re.search("WARNING|ALERT", said.stdout), name + " is accepted without a word", said.stdout)
    if not lib.is_reference(args.program):
        said = subprocess.run([args.program, "--lint", conf], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        tap.eq((said.returncode, said.stdout), (0, ""), "lint has nothing to say of " + name)
    p = subprocess.Popen([args.program, "-db", "-f", conf], stdout=subprocess.DEVNULL,
                         stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    tries = re.findall(r"^# try: (\w+) (?:https://([\w.]+)@)?127\.0\.0\.1:(\d+)(\S+) -> (\d+)", text, re.M)
    tap.ok(tries or name == "quickstart.cfg", name + " says what to try")
    for method, site, port, url, status in tries:
        tap.ok(lib.until(lambda: ask(method, site, int(port), url, folder) == int(status)),
               "%s: %s %s%s: %s" % (name, method, site, url, status), ask(method, site, int(port), url, folder))
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
