#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The same sequences of commands about certificates, authorities, revocation lists, crt-lists, names, providers and OCSP for
this program and for the reference: the answers are compared. Skipped without a reference."""
import base64
import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile

import lib
import ocsp

CONF = """	nbthread 2
crt-store st
	load crt {d}/two.pem alias two
defaults
	mode http
	timeout connect 1s
	timeout client 5s
	timeout server 5s
frontend fe
	bind 127.0.0.1:{port} name one ssl crt {d}/one.pem ca-file {d}/ca.crt verify optional crl-file {d}/crl.pem
	bind 127.0.0.1:{other} name two ssl crt-list {d}/list
backend be
	server s 127.0.0.1:1 ssl ca-file {d}/ca2.crt verify required crt {d}/client.pem disabled
"""

# each is run on programs that have just started; {d} is the folder, a file in angle brackets is a payload
SEQUENCES = {
    "show ssl cert": ["show ssl cert", "show ssl cert {d}/one.pem", "show ssl cert @st/two", "show ssl cert {d}/client.pem",
                      "show ssl cert *{d}/one.pem", "show ssl cert nothing", "show ssl cert {d}/one.pem x", "show ssl cert {d}/list.pem",
                      "show ssl cert {d}/one.pem.ocsp", "show ssl cert {d}/unused.pem"],
    "set ssl cert": ["set ssl cert", "set ssl cert {d}/one.pem", "set ssl cert nothing <one.pem>", "set ssl cert {d}/one.pem <nothing>",
                     "set ssl cert {d}/one.pem <one.pem>", "show ssl cert", "show ssl cert *{d}/one.pem",
                     "set ssl cert {d}/one.pem <one.pem>", "commit ssl cert {d}/list.pem", "commit ssl cert",
                     "commit ssl cert nothing", "abort ssl cert", "abort ssl cert nothing", "abort ssl cert {d}/list.pem",
                     "abort ssl cert {d}/one.pem", "abort ssl cert {d}/one.pem", "commit ssl cert {d}/one.pem", "show ssl cert"],
    "commit ssl cert": ["set ssl cert {d}/one.pem <two.pem>", "commit ssl cert {d}/one.pem", "show ssl cert {d}/one.pem",
                        "set ssl cert {d}/client.pem <two.pem>", "commit ssl cert {d}/client.pem",
                        "set ssl cert {d}/list.pem <one.pem>", "commit ssl cert {d}/list.pem", "show ssl cert {d}/list.pem"],
    "inconsistent": ["set ssl cert {d}/one.pem <two.crt>", "commit ssl cert {d}/one.pem", "abort ssl cert {d}/one.pem",
                     "set ssl cert {d}/one.pem.key <two.key>", "commit ssl cert {d}/one.pem",
                     "set ssl cert {d}/one.pem.key <nothing>", "show ssl cert *{d}/one.pem", "abort ssl cert {d}/one.pem"],
    "new ssl cert": ["new ssl cert", "new ssl cert {d}/one.pem", "new ssl cert new", "new ssl cert new", "show ssl cert new",
                     "show ssl cert", "commit ssl cert new", "set ssl cert new <two.crt>", "show ssl cert new", "show ssl cert *new",
                     "commit ssl cert new", "abort ssl cert new", "set ssl cert new <two.pem>", "commit ssl cert new",
                     "show ssl cert new", "del ssl cert new", "show ssl cert new"],
    "del ssl cert": ["del ssl cert", "del ssl cert nothing", "del ssl cert {d}/one.pem", "del ssl cert {d}/client.pem",
                     "del ssl cert {d}/list.pem", "del ssl cert @st/two", "show ssl cert"],
    "dump ssl cert": ["dump ssl cert", "dump ssl cert nothing", "dump ssl cert {d}/one.pem", "dump ssl cert *{d}/one.pem"],
    "ca-file": ["show ssl ca-file {d}/ca.crt", "show ssl ca-file {d}/ca.crt:1", "show ssl ca-file {d}/ca.crt:2",
                "show ssl ca-file nothing", "show ssl ca-file *{d}/ca.crt", "set ssl ca-file", "set ssl ca-file {d}/ca.crt",
                "set ssl ca-file nothing <ca2.crt>", "set ssl ca-file {d}/ca.crt <nothing>", "set ssl ca-file {d}/ca.crt <ca2.crt>",
                "show ssl ca-file *{d}/ca.crt", "commit ssl ca-file", "commit ssl ca-file nothing", "commit ssl ca-file {d}/ca2.crt",
                "commit ssl ca-file {d}/ca.crt", "show ssl ca-file {d}/ca.crt", "commit ssl ca-file {d}/ca.crt",
                "abort ssl ca-file", "abort ssl ca-file nothing", "abort ssl ca-file {d}/ca.crt"],
    "add ssl ca-file": ["add ssl ca-file", "add ssl ca-file {d}/ca.crt", "add ssl ca-file nothing <ca2.crt>",
                        "add ssl ca-file {d}/ca.crt <nothing>", "add ssl ca-file {d}/ca.crt <ca2.crt>", "show ssl ca-file *{d}/ca.crt",
                        "abort ssl ca-file {d}/ca.crt", "add ssl ca-file {d}/ca.crt <ca2.crt>", "commit ssl ca-file {d}/ca.crt",
                        "show ssl ca-file {d}/ca.crt"],
    "new ssl ca-file": ["new ssl ca-file", "new ssl ca-file {d}/ca.crt", "new ssl ca-file new", "new ssl ca-file new",
                        "show ssl ca-file new", "commit ssl ca-file new", "set ssl ca-file new <ca2.crt>", "commit ssl ca-file new",
                        "show ssl ca-file new", "del ssl ca-file", "del ssl ca-file nothing", "del ssl ca-file {d}/ca.crt",
                        "del ssl ca-file new", "show ssl ca-file new"],
    "crl-file": ["show ssl crl-file", "show ssl crl-file {d}/crl.pem", "show ssl crl-file {d}/crl.pem:1",
                 "show ssl crl-file {d}/crl.pem:9", "show ssl crl-file nothing", "set ssl crl-file", "set ssl crl-file {d}/crl.pem",
                 "set ssl crl-file nothing <crl.pem>", "set ssl crl-file {d}/crl.pem <nothing>", "set ssl crl-file {d}/crl.pem <crl.pem>",
                 "show ssl crl-file", "show ssl crl-file *{d}/crl.pem", "commit ssl crl-file", "commit ssl crl-file nothing",
                 "commit ssl crl-file {d}/crl.pem", "commit ssl crl-file {d}/crl.pem", "abort ssl crl-file", "abort ssl crl-file nothing",
                 "abort ssl crl-file {d}/crl.pem", "new ssl crl-file", "new ssl crl-file {d}/crl.pem", "new ssl crl-file new",
                 "new ssl crl-file new", "show ssl crl-file new", "del ssl crl-file", "del ssl crl-file nothing",
                 "del ssl crl-file {d}/crl.pem", "del ssl crl-file new"],
    "authorities that nobody asks": [
        "new ssl ca-file new", "set ssl ca-file new <ca.crt>", "commit ssl ca-file new",
        "add ssl crt-list {d}/list <<{d}/one.pem [verify none ca-file new] x.test>>", "show ssl ca-file new",
        "add ssl crt-list {d}/list <<{d}/one.pem [ca-file new] y.test>>", "set ssl ca-file new <ca.crt>", "commit ssl ca-file new",
        "add ssl crt-list {d}/list <<{d}/one.pem [verify optional ca-file new] z.test>>", "show ssl ca-file new",
        "set ssl ca-file new <ca.crt>", "commit ssl ca-file new", "del ssl ca-file new", "set ssl ca-file {d}/ca.crt <ca.crt>",
        "add ssl crt-list {d}/list <<{d}/one.pem [crl-file {d}/crl.pem] v.test>>", "set ssl crl-file {d}/crl.pem <crl.pem>",
        "commit ssl crl-file {d}/crl.pem"],
    "the other kind": ["del ssl crl-file {d}/ca.crt", "del ssl crl-file {d}/one.pem", "del ssl ca-file {d}/one.pem",
                       "show ssl crl-file {d}/ca.crt", "show ssl ca-file {d}/crl.pem", "new ssl crl-file {d}/ca.crt",
                       "new ssl ca-file {d}/crl.pem", "new ssl ca-file new", "del ssl crl-file new", "commit ssl crl-file {d}/ca.crt",
                       "set ssl crl-file {d}/ca.crt <crl.pem>", "set ssl ca-file {d}/crl.pem <ca.crt>"],
    "crt-list": ["show ssl crt-list", "show ssl crt-list {d}/list", "show ssl crt-list -n {d}/list", "show ssl crt-list nothing",
                 "show ssl crt-list -n", "show ssl crt-list -n nothing", "add ssl crt-list", "add ssl crt-list {d}/list",
                 "add ssl crt-list nothing {d}/one.pem", "add ssl crt-list {d}/list nothing", "add ssl crt-list {d}/list {d}/one.pem",
                 "show ssl crt-list -n {d}/list", "new ssl cert new", "add ssl crt-list {d}/list new",
                 "del ssl crt-list {d}/list new", "del ssl crt-list {d}/none new", "del ssl crt-list",
                 "del ssl crt-list {d}/list", "del ssl crt-list nothing {d}/one.pem", "del ssl crt-list {d}/list nothing",
                 "del ssl crt-list {d}/list {d}/one.pem", "del ssl crt-list {d}/list {d}/one.pem", "del ssl crt-list {d}/list {d}/list.pem:9",
                 "show ssl crt-list {d}/list"],
    # <<...>> is a payload of one line or more
    "lines of crt-lists": ["add ssl crt-list {d}/list <<%s>>" % text for text in (
        "{d}/one.pem [bad] x", "{d}/one.pem [alpn] x", "{d}/one.pem [ca-file] x", "{d}/one.pem [verify] x", "{d}/one.pem [ciphers] x",
        "{d}/one.pem [ca-file {d}/nothing] x", "{d}/one.pem [verify bad] x", "{d}/one.pem [ocsp-update x] x", "{d}/one.pem [jwt] x",
        "{d}/one.pem [ssl-min-ver X] x", "{d}/one.pem [ssl-min-ver] x", "{d}/one.pem ] x", "{d}/one.pem [verify none]] x",
        "{d}/one.pem [[verify none] x", "{d}/one.pem [verify none] [alpn h2] x", "[bad] x", "{d}/nothing [bad] x", "{d}/nothing x",
        "{d}/one.pem a\n{d}/two.pem b", "# a comment\n{d}/one.pem b", "# a comment", "   ", "{d}/one.pem a]b", "{d}/one.pem [alpn h2 # a] b",
        "  {d}/one.pem  blanks.test  ", "{d}/one.pem[alpn h2]tight.test", "{d}/one.pem 'quoted.test'",
        "{d}/one.pem lost.test [verify required ca-file {d}/ca.crt] kept.test", "{d}/one.pem [alpn h2] # not.a.comment", "{d}/one.pem [] none.test")]
    + ["add ssl crt-list {d}/list [bad]", "add ssl crt-list {d}/list {d}/one.pem[alpn]", "show ssl crt-list -n {d}/list",
       "add ssl crt-list {d}/list <<{d}/one.pem [verify none x>>", "add ssl crt-list {d}/list <<{d}/two.pem [ocsp-update off] x>>",
       "add ssl crt-list {d}/list <<{d}/two.pem [jwt on] x>>", "add ssl crt-list {d}/list <<{d}/two.pem [ocsp-update on] x>>"],
    "others": ["show ssl providers", "show ssl sni", "show ssl sni -f fe", "show ssl sni -f nothing", "show ssl sni x", "show ssl sni -f",
               "show ssl sni -A", "show tls-keys", "show tls-keys nothing", "show tls-keys *", "set ssl tls-key", "set ssl tls-key nothing x",
               "show ssl jwt", "add ssl jwt nothing"],
    "ocsp answer that has gone": ["set ssl cert {d}/one.pem <one.pem>", "commit ssl cert {d}/one.pem",
                                  "show ssl ocsp-response {d}/one.pem", "show ssl ocsp-response", "set ssl ocsp-response {ocsp}"],
    "ocsp": ["show ssl ocsp-response", "show ssl ocsp-response nothing", "show ssl ocsp-response {d}/one.pem",
             "show ssl ocsp-response text {d}/one.pem", "show ssl ocsp-response base64 {d}/one.pem", "show ssl ocsp-response base64",
             "show ssl ocsp-response text", "set ssl ocsp-response", "set ssl ocsp-response nothing", "set ssl ocsp-response bm90aGluZw==",
             "show ssl ocsp-updates", "update ssl ocsp-response", "update ssl ocsp-response nothing", "update ssl ocsp-response {d}/one.pem",
             "update ssl ocsp-response {d}/two.pem"],
}

# What differs on purpose: command, what the reference answers then, why
KNOWN = (
    # differs: tls-transactions
    (r"^(commit|abort) ssl", r"^The ongoing transaction is about", "each file has a transaction of its own"),
    # differs: tls-inconsistent
    (r"^commit ssl cert", r"^unable to load SSL private key into SSL Context", "refused before anything changes, to be mended"),
    (r"^abort ssl cert {d}/one.pem$", r"^No ongoing transaction!", "it was not mended"),
    # differs: tls-command-messages
    (r"^(add|del) ssl jwt$", r"^'(add|del) ssl cert' expects", "theirs names another command"),
    (r"^add ssl ca-file", r"^'set ssl ca-file' expects", "theirs names another command"),
    (r"^commit ssl crl-file$", r"^'commit ssl ca-file' expects", "theirs names another command"),
    (r"^set ssl cert {d}/one.pem.key", r"^unable to load private key from file '{d}/one.pem'", "ours names the file of the key"),
    # differs: tls-crt-list-brackets
    (r"\[verify none x", r"^Success!", "a bracket that is not closed is an error"),
    # differs: tls-ocsp-again
    (r"^set ssl ocsp-response {ocsp}", r"Certificate ID does not match", "its certificate is known"),
    # differs: tls-kinds-of-files
    (r"^set ssl c(rl-file {d}/ca.crt|a-file {d}/crl.pem)", r"^transaction created", "it is not of this kind"),
    # differs: tls-crt-list-again
    (r"\[(jwt|ocsp-update) \w+\]", r"Can't use the certificate previously defined without any keyword", "they do not contradict"),
    (r"\[jwt\]", r"value 'x'", "a value is not looked for beyond the bracket"),
    (r"^show ssl ca-file new$", r"^$", "an empty file is shown as what it is"),
    (r"^show ssl providers", "", "another version of OpenSSL"),
)


def make(folder):
    ocsp.make(folder, 1)
    f = folder + "/"

    def join(out, *names):
        with open(f + out, "wb") as o:
            for name in names:
                with open(f + name, "rb") as i:
                    o.write(i.read())
    for name in ("one", "two"):
        join(name + ".pem", name + ".crt", name + ".key", "ca.crt")
    join("client.pem", "two.crt", "two.key")
    join("list.pem", "one.crt", "one.key")
    with open(f + "list", "w") as o:
        o.write("%slist.pem [alpn h2,http/1.1] *.example.com !not.example.com\n# a comment\n%stwo.pem\n" % (f, f))
    ocsp.openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", f + "ca2.key", "-out", f + "ca2.crt", "-days", "30",
                 "-subj", "/CN=another")
    with open(f + "ca.cnf", "w") as o:
        o.write("[ca]\ndefault_ca=d\n[d]\ndatabase=%srevoked\ncrlnumber=%snumber\ndefault_md=sha256\ndefault_crl_days=30\n" % (f, f))
    with open(f + "number", "w") as o:
        o.write("01\n")
    ocsp.openssl("ca", "-config", f + "ca.cnf", "-gencrl", "-keyfile", f + "ca.key", "-cert", f + "ca.crt", "-out", f + "crl.pem")
    with open(f + "nothing", "w") as o:
        o.write("nothing\n")
    subprocess.run(["openssl", "ocsp", "-index", f + "index", "-rsigner", f + "ca.crt", "-rkey", f + "ca.key", "-CA", f + "ca.crt", "-issuer",
                    f + "ca.crt", "-cert", f + "one.crt", "-respout", f + "one.pem.ocsp", "-ndays", "10", "-no_nonce"], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def complete(command, folder):
    """With its payload."""
    command = command.replace("{d}", folder)
    if "{ocsp}" in command:
        with open(folder + "/one.pem.ocsp", "rb") as f:
            command = command.replace("{ocsp}", base64.b64encode(f.read()).decode())
    m = re.match(r"(.*) <<(.*)>>$", command, re.S)
    if m:
        return "%s <<\n%s\n" % m.groups()
    m = re.match(r"(.*) <([\w.]+)>$", command)
    if not m:
        return command
    with open(folder + "/" + m.group(2)) as f:
        return "%s <<\n%s\n" % (m.group(1), "\n".join(x for x in f.read().split("\n") if x))


def comparable(text, folder):
    text = text.replace(folder, "{d}").replace("\0]", "]")  # (the reference has a NUL in lists)
    text = re.sub(r"/[\w./]*/test.cfg", "CONF", text)
    text = re.sub(r"(from file '[^']*')( \(error:.*\)|: [\w ]+)", r"\1 (WHY)", text)  # in the words of OpenSSL's version
    return [line.rstrip() for line in text.rstrip("\n").split("\n")]


def answers(program, folder, commands):
    port, other = lib.ports(2)
    with lib.Proxy(program, CONF.format(d=folder, port=port, other=other)) as proxy:
        return [comparable(proxy.ctl(complete(c, folder)), folder) for c in commands]


def known(command, theirs):
    text = "\n".join(theirs)
    return next((why for pattern, says, why in KNOWN if re.search(pattern, command) and re.search(says, text, re.M)), None)


def sequence(tap, args, folder, name, commands):
    ours, theirs = (answers(p, folder, commands) for p in (args.program, lib.REFERENCE))
    for i, command in enumerate(commands):
        text = "%s: %d %s" % (name, i, command.replace("\n", " "))
        if ours[i] == theirs[i]:
            tap.ok(True, text)
        elif known(command, theirs[i]):
            tap.skip(text, known(command, theirs[i]))
        else:
            diff = list(difflib.unified_diff(theirs[i], ours[i], "theirs", "ours", lineterm="", n=1))
            tap.ok(False, text, "\n".join(diff[2:]))


def main():
    args = lib.arguments(__doc__, ("only", "", "name of a sequence"))
    tap = lib.Tap()
    if not os.access(lib.REFERENCE, os.X_OK):
        tap.apart("reference", "commands of certificates")
        tap.done()
    if not shutil.which("openssl"):
        tap.skip("commands of certificates", "no openssl")
        tap.done()
    with tempfile.TemporaryDirectory(prefix="hapt.") as folder:
        make(folder)
        for name, commands in SEQUENCES.items():
            if args.only in ("", name):
                tap.attempt(name, sequence, tap, args, folder, name, commands)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
