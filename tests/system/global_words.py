#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Words of the section `global` that say where files are and who may connect: default-path, ca-base,
harden.reject-privileged-ports.tcp."""
import os
import shutil
import socket
import subprocess
import tempfile

import lib
import tls_commands

CONF = """global
	%s
defaults
	mode http
	timeout connect 5s
	timeout client 5s
	timeout server 5s
frontend f
	bind 127.0.0.1:%d%s
	http-request return status 200 content-type text/plain %s
"""


def default_path(tap, args):
    """Where files with relative names are looked for: default-path current, config, parent, origin; the last one counts."""
    with tempfile.TemporaryDirectory(prefix="hapt.") as d:
        for name in ("", "a", "a/b", "other"):
            os.makedirs(os.path.join(d, name), exist_ok=True)
            with open(os.path.join(d, name, "page"), "w") as f:
                f.write("here: %s" % name)
        for words, path, cwd, want in (
                ("", "a/b/c", "", ""), ("default-path current", "a/b/c", "", ""), ("default-path config", "a/b/c", "", "a/b"),
                ("default-path parent", "a/b/c", "", "a"), ("default-path origin %s/other" % d, "a/b/c", "", "other"),
                ("default-path config", "c", "a", "a"), ("default-path parent", "c", "a/b", "a"), ("default-path origin other", "c", "", "other"),
                ("default-path config\n\tdefault-path current", "a/b/c", "other", None),
                ("default-path origin %s/other\n\tdefault-path config" % d, "a/b/c", "", None)):
            port = lib.ports(1)[0]
            at = "/".join([d, path] if "/" in path else [d, cwd or ".", path])
            with open(at, "w") as f:
                f.write(CONF % (words, port, "", "file page"))
            if path == "a/b/c" and cwd == "other":
                path = "../" + path
            p = subprocess.Popen([args.program, "-db", "-f", path], cwd=os.path.join(d, cwd), stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT)
            try:
                def body():
                    try:
                        with lib.connect(port) as s:
                            s.sendall(b"GET / HTTP/1.0\r\n\r\n")
                            return lib.Reader(s).response()[2].decode()
                    except OSError:
                        return None
                lib.until(lambda: p.poll() is not None or body())
                got = body()
            finally:
                p.kill()
                out = p.communicate()[0].decode()
            name = " then ".join(words.replace(d, "D").split("\n\t")) or "no default-path"
            tap.eq(got, "here: %s" % {None: "a/b" if "origin" in words else "other"}.get(want, want) if got else out, name)


def ca_base(tap, args):
    """ca-base: ca-file, ca-verify-file and crl-file with relative names; an absolute one ignores it."""
    with tempfile.TemporaryDirectory(prefix="hapt.") as d:
        tls_commands.make(d)
        os.mkdir(d + "/base")
        for f in ("ca.crt", "crl.pem", "ca2.crt"):
            shutil.copy(os.path.join(d, f), d + "/base/" + f + ".base")
        for words, good in (("ca-file ca.crt.base", True), ("ca-file ca2.crt.base ca-verify-file ca.crt.base", True),
                            ("ca-file ca.crt.base crl-file crl.pem.base", True), ("ca-file %s/ca.crt" % d, True),
                            ("ca-file ca.crt", False), ("ca-file ca.crt.base crl-file crl.pem", False)):
            conf = d + "/conf"
            with open(conf, "w") as f:
                f.write(CONF % ("ca-base %s/base" % d, 1, " ssl crt %s/one.pem verify optional " % d + words, "string x"))
            r = subprocess.run([args.program, "-c", "-f", conf], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            tap.ok((r.returncode == 0) == good, "ca-base: " + words.replace(d, "D"), r.stdout)


def privileged_ports(tap, args):
    """Clients whose port is below 1024 are refused with harden.reject-privileged-ports.tcp on; by default they are not."""
    if os.geteuid() != 0:
        tap.apart("root", "ports below 1024")
        return
    for words, good in (("", True), ("harden.reject-privileged-ports.tcp off", True), ("harden.reject-privileged-ports.tcp on", False)):
        port = lib.ports(1)[0]
        text = (CONF % (words, port, "", "string x")).split("global\n", 1)[1]
        with lib.Proxy(args.program, text) as proxy:
            for low in (True, False):
                s = socket.socket()
                s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                s.settimeout(lib.PATIENCE)
                for p in range(1023, 600, -1) if low else ():
                    try:
                        s.bind(("127.0.0.1", p))
                        break
                    except OSError:
                        continue
                try:
                    s.connect(("127.0.0.1", port))
                    s.sendall(b"GET / HTTP/1.0\r\n\r\n")
                    got = s.recv(4096)[:12]
                except OSError:
                    got = b""
                s.close()
                tap.eq(got, b"HTTP/1.1 200" if good or not low else b"", "%s: a port %s" % (
                    words or "the default", "below 1024" if low else "of users"))
            tap.ok(proxy.alive(), "it lives")


def main():
    args = lib.arguments(__doc__)
    tap = lib.Tap()
    tap.run((default_path, ca_base, privileged_ports), args)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
