#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Private keys leave the memory of the process when nothing uses them any more: after a certificate is deleted or
replaced, neither its file's text, nor its DER, nor a number of the key is found there."""
import base64
import os
import re
import subprocess
import tempfile

import lib
import tls

CONF = """	nbthread 4
defaults
	mode http
	timeout connect 1s
	timeout client 5s
	timeout server 5s
frontend fe
	bind 127.0.0.1:{port} ssl crt {folder}/first.pem crt-list {folder}/list
	http-request return status 200 content-type text/plain lf-string "%[ssl_f_s_dn]"
"""


def make(folder, name, kind):
    """A certificate for <name> and the secrets that its memory would show."""
    cert, key = "%s/%s.crt" % (folder, name), "%s/%s.key" % (folder, name)
    subprocess.run(["openssl", "req", "-x509", "-newkey"] + kind + [
        "-nodes", "-keyout", key, "-out", cert, "-days", "30", "-subj", "/CN=%s.test" % name],
        check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with open(key) as f:
        text = f.read()
    with open(cert) as f:
        pem = f.read() + text
    with open("%s/%s.pem" % (folder, name), "w") as f:
        f.write(pem)
    lines = text.split("\n")
    der = base64.b64decode("".join(lines[1:-2]))
    shown = subprocess.run(["openssl", "pkey", "-in", key, "-noout", "-text"], check=True,
                           stdout=subprocess.PIPE).stdout.decode()
    secrets = {"a line of its text": lines[2].encode()[:48] if len(lines) > 6 else lines[1].encode()[24:56]}
    for part in ("privateExponent", "prime1", "prime2", "exponent1", "coefficient", "priv"):
        found = re.search(r"^%s:\n((?: +[0-9a-f:]+\n)+)" % part, shown, re.M)
        if not found:
            continue
        number = bytes.fromhex(re.sub(r"[\s:]", "", found.group(1)))
        secrets[part + " as it is written"] = number[-24:]
        secrets[part + " as OpenSSL keeps it"] = number[::-1][:24]
        assert number[-24:] in der
    return pem, secrets


def memory(pid):
    with open("/proc/%d/maps" % pid) as maps, open("/proc/%d/mem" % pid, "rb", 0) as mem:
        for line in maps:
            first, last = (int(x, 16) for x in line.split()[0].split("-"))
            if "rw" not in line.split()[1] or "[v" in line:
                continue
            try:
                mem.seek(first)
                yield mem.read(last - first)
            except (OSError, OverflowError):
                continue


def seen(pid, secrets):
    found = set()
    for area in memory(pid):
        found |= {name for name, value in secrets.items() if value in area}
    return found


def payload(pem):
    return "\n".join(line for line in pem.split("\n") if line.strip())


def handshakes(port, name):
    return {tls.get(port, tls.context(v), "/", name)[0] for v in list(tls.VERSIONS) * 12}


def deleted(tap, proxy, port, folder, made, name):
    """One that commands bring and take away."""
    pem, secrets = made[name]
    path = "%s/%s.late.pem" % (folder, name)
    out = proxy.ctl("new ssl cert " + path) + proxy.ctl("set ssl cert %s <<\n%s\n" % (path, payload(pem)))
    out += proxy.ctl("commit ssl cert " + path) + proxy.ctl("add ssl crt-list %s/list %s" % (folder, path))
    tap.eq(handshakes(port, name + ".test"), {"/CN=%s.test" % name}, "%s: added and shown" % name)
    tap.ok(seen(proxy.process.pid, secrets), "%s: its key is in memory while it is used" % name, out)
    out = proxy.ctl("del ssl crt-list %s/list %s" % (folder, path)) + proxy.ctl("del ssl cert " + path)
    tap.ok("deleted" in out, "%s: deleted" % name, out)
    lib.until(lambda: not seen(proxy.process.pid, secrets))
    tap.eq(seen(proxy.process.pid, secrets), set(), "%s: nothing of its key is left" % name)


def replaced(tap, proxy, port, folder, made, name, by):
    path = "%s/%s.pem" % (folder, name)
    tap.ok(handshakes(port, name + ".test") and seen(proxy.process.pid, made[name][1]),
           "%s: its key is in memory while it is used" % name)
    out = proxy.ctl("set ssl cert %s <<\n%s\n" % (path, payload(made[by][0]))) + proxy.ctl("commit ssl cert " + path)
    tap.ok("Success!" in out, "%s: replaced" % name, out)
    lib.until(lambda: not seen(proxy.process.pid, made[name][1]))
    tap.eq(seen(proxy.process.pid, made[name][1]), set(), "%s: nothing of its key is left" % name)


def main():
    args = lib.arguments(__doc__)
    tap = lib.Tap()
    if lib.is_sanitized(args.program):
        tap.skip("keys in memory", "a sanitizer keeps what is freed")
        tap.done()
        return
    with tempfile.TemporaryDirectory(prefix="hapt.") as folder:
        made = {name: make(folder, name, kind) for name, kind in (
            ("first", ["rsa:2048"]), ("rsa", ["rsa:2048"]), ("ecdsa", ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"]),
            ("other", ["rsa:2048"]), ("listed", ["ec", "-pkeyopt", "ec_paramgen_curve:P-384"]))}
        with open(folder + "/list", "w") as f:
            f.write(folder + "/listed.pem\n")
        port = lib.ports(1)[0]
        with lib.Proxy(args.program, CONF.format(port=port, folder=folder)) as proxy:
            if lib.is_reference(args.program):
                tap.skip("keys in memory", "it wipes less")
                tap.done()
                return
            if not lib.until(lambda: proxy.alive()) or not any(memory(proxy.process.pid)):
                tap.skip("keys in memory", "its memory cannot be read")
                tap.done()
                return
            deleted(tap, proxy, port, folder, made, "rsa")
            deleted(tap, proxy, port, folder, made, "ecdsa")
            replaced(tap, proxy, port, folder, made, "first", "other")
            replaced(tap, proxy, port, folder, made, "listed", "ecdsa")
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
