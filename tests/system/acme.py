#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Certificates that an authority gives by ACME: with a scripted one (lib_acme.py), good, strict and faulty.

With --pebble PROGRAM (or $PEBBLE) that authority, of github.com/letsencrypt/pebble, is asked too, over TLS:
    go install github.com/letsencrypt/pebble/v2/cmd/pebble@latest
"""
import email.utils
import ipaddress
import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import tempfile
import threading
import time

import lib
import lib_acme
import lib_dns
from lib_jose import b64

CONF = """	expose-experimental-directives
	nbthread 2
	log {log} local0
{glob}acme LE
	directory {base}/directory
	account-key {dir}/account.key
{section}
defaults
	mode http
	timeout connect 5s
	timeout client 5s
	timeout server 5s
frontend web
	bind 127.0.0.1:{p[0]}
	http-request return status 200 content-type text/plain lf-string "%[path,field(-1,/)].%[path,field(-1,/),map(virt@acme)]" if {{ path_beg /.well-known/acme-challenge/ }}
	http-request return status 404
crt-store certs
	load crt {dir}/site.pem acme LE {names} alias site
frontend tls
	bind 127.0.0.1:{p[1]} ssl crt @certs/site
	http-request return status 200
"""
USUAL = "	contact me@example.com\n	map virt@acme"


def served(port, name="a.example"):
    """The certificate that is shown, parsed."""
    ctx = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    ctx.check_hostname, ctx.verify_mode = False, ssl.CERT_NONE
    with socket.create_connection(("127.0.0.1", port), lib.PATIENCE) as s, ctx.wrap_socket(s, server_hostname=name) as t:
        return lib_acme.x509.load_der_x509_certificate(t.getpeercert(True))


def issuer(port):
    return served(port).issuer.rfc4514_string()


class Scene:
    def __init__(self, args, section=USUAL, names="domains a.example,b.example", glob="", **authority):
        self.dir = tempfile.mkdtemp(prefix="hapa.")
        self.p = lib.ports(2)
        self.syslog = lib.Syslog()
        self.ca = lib_acme.Authority(self.p[0], **authority)
        self.conf = CONF.format(dir=self.dir, p=self.p, base=self.ca.base, section=section.replace("DIR", self.dir), names=names, glob=glob,
                                log="127.0.0.1:%d" % self.syslog.port)
        self.program, self.proxy = args.program, None

    def start(self):
        self.proxy = lib.Proxy(self.program, self.conf)
        return self

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        if self.proxy:
            self.proxy.stop()
        self.ca.close()
        self.syslog.close()
        shutil.rmtree(self.dir, ignore_errors=True)

    def issued(self, orders=1):
        return lib.until(lambda: len(self.ca.orders) >= orders and issuer(self.p[1]) == "CN=test authority", 3 * lib.PATIENCE)


def first(tap, args):
    """No certificate, no account: both come."""
    with Scene(args) as sc:
        sc.start()
        tap.ok(sc.issued(), "a certificate is asked for when there is no file, and served", sc.ca.log)
        c = served(sc.p[1])
        names = c.extensions.get_extension_for_class(lib_acme.x509.SubjectAlternativeName).value.get_values_for_type(lib_acme.x509.DNSName)
        tap.eq(names, ["a.example", "b.example"], "it has the names of the line")
        tap.eq(c.public_key().curve.name, "secp384r1", "its key is of P-384")
        tap.eq(sc.ca.contact, ["mailto:me@example.com"], "the account has the contact")
        tap.ok(sc.syslog.find(r"acme: @certs/site: Successful update of the certificate"), "the log says so")
        tap.eq(oct(os.stat(sc.dir + "/account.key").st_mode & 0o777), "0o600", "the account's key was written, for us only")
        tap.ok("0 1" not in sc.proxy.ctl("show map virt@acme") and not sc.proxy.ctl("show map virt@acme").strip(), "no token is left in the map")
        status = sc.proxy.ctl("acme status").split("\n")
        tap.ok(status[0].startswith("# certificate\tsection\tstate\t") and status[1].startswith("@certs/site\tLE\tScheduled\t"),
               "acme status tells of it", status)
        tap.ok("PRIVATE KEY" in sc.proxy.ctl("dump ssl cert @certs/site"), "it can be dumped")
        serial = c.serial_number
        sc.proxy.ctl("acme renew @certs/site")
        tap.ok(lib.until(lambda: served(sc.p[1]).serial_number != serial, 3 * lib.PATIENCE), "acme renew gets another one")
        tap.eq(len(sc.ca.accounts), 1, "of the same account")
        tap.ok(served(sc.p[1]).public_key().public_numbers() != c.public_key().public_numbers(), "with another key")
        serial = served(sc.p[1]).serial_number
        tap.ok("Success=1" in sc.proxy.ctl("reload"), "a reload is taken")
        tap.ok(lib.until(lambda: served(sc.p[1]).serial_number == serial), "a reload keeps what was issued")
        tap.ok("find" in sc.proxy.ctl("acme renew nothing"), "acme renew of something else is refused")


def kinds(tap, args):
    for section, check, what in [("	keytype RSA\n	bits 2048", lambda k: k.key_size == 2048, "RSA"),
                                 ("	keytype ECDSA\n	curves P-256", lambda k: k.curve.name == "secp256r1", "P-256"),
                                 ("	keytype ECDSA\n	curves P-521", lambda k: k.curve.name == "secp521r1", "P-521")]:
        with Scene(args, section=USUAL + "\n" + section, faults=("bad-nonce",), names="domains a.example ips 127.0.0.1") as sc:
            sc.start()
            tap.ok(sc.issued() and check(served(sc.p[1]).public_key()), "%s, for a name and an address, nonces refused once" % what, sc.ca.log)


def bound(tap, args):
    secret = os.urandom(64)
    for alg in ("HS256", "HS384", "HS512"):
        with Scene(args, section=USUAL + "\n	eab-key-id DIR/id\n	eab-mac-key DIR/mac\n	eab-mac-alg %s\n	profile shortlived" % alg, eab=("kid-7", secret)) as sc:
            with open(sc.dir + "/id", "w") as f:
                f.write("kid-7\n")
            with open(sc.dir + "/mac", "w") as f:
                f.write(b64(secret) + "\n")
            sc.start()
            tap.ok(sc.issued(), "an external account is bound, %s" % alg, sc.ca.log)
            tap.eq(sc.ca.profile, "shortlived", "the order has the profile")


def reused(tap, args):
    with Scene(args, section=USUAL + "\n	reuse-key on", days=1000) as sc:
        sc.start()
        tap.ok(sc.issued(), "reuse-key: a first certificate")
        c = served(sc.p[1])
        sc.proxy.ctl("acme renew @certs/site")
        tap.ok(lib.until(lambda: served(sc.p[1]).serial_number != c.serial_number, 3 * lib.PATIENCE), "reuse-key: a second one")
        tap.ok(served(sc.p[1]).public_key().public_numbers() == c.public_key().public_numbers(), "has the same key")


def files(tap, args):
    """A file that is good for long is left alone; one that ends soon is renewed; acme.scheduler off."""
    for days, glob, wanted in ((300, "", False), (-1, "", True), (-1, "	acme.scheduler off\n", False)):
        with Scene(args, glob=glob) as sc:
            key = lib_acme.ec.generate_private_key(lib_acme.ec.SECP256R1())
            now = lib_acme.datetime.datetime.now(lib_acme.datetime.timezone.utc)
            day = lib_acme.datetime.timedelta(1)
            name = lib_acme.x509.Name([lib_acme.x509.NameAttribute(lib_acme.NameOID.COMMON_NAME, "old")])
            cert = (lib_acme.x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key()).serial_number(5)
                    .not_valid_before(now - 100 * day).not_valid_after(now + days * day).sign(key, lib_acme.hashes.SHA256()))
            ser = lib_acme.serialization
            with open(sc.dir + "/site.pem", "wb") as f:
                f.write(cert.public_bytes(ser.Encoding.PEM) + key.private_bytes(ser.Encoding.PEM, ser.PrivateFormat.PKCS8, ser.NoEncryption()))
            sc.start()
            if wanted:
                tap.ok(sc.issued(), "a certificate whose time is over is renewed", sc.ca.log)
                continue
            sc.proxy.ctl("acme status")
            tap.eq((issuer(sc.p[1]), len(sc.ca.orders)), ("CN=old", 0), "a file stays in use (%d days, %s)" % (days, glob.strip() or "auto"))
            if glob:
                tap.ok("\tStopped\t" in sc.proxy.ctl("acme status"), "acme.scheduler off: nothing is scheduled")
                sc.proxy.ctl("acme renew @certs/site")
                tap.ok(sc.issued(), "but acme renew asks", sc.ca.log)


RECORD = re.compile(r'"_acme-challenge\.(\S+)" TXT record to "(\S+)" and use the "acme challenge_ready @certs/site domain (\S+)"')


def dns_by_command(tap, args):
    """Somebody else writes the records, and says so."""
    zone = {}
    with Scene(args, section="	challenge dns-01\n	provider-name \"my provider\"\n	acme-vars 'a=\"1\"'", names="domains a.example,*.b.example",
               records=lambda name: zone.get(name, [])) as sc:
        sc.start()
        ready = "acme challenge_ready @certs/site domain "
        wanted = []
        for name in ("a.example", "b.example"):
            line = sc.syslog.find(r'dns-01 requires to set the "_acme-challenge\.' + re.escape(name))
            wanted += RECORD.findall(str(line))
        tap.eq([w[0] for w in wanted], ["a.example", "b.example"], "the log has the records that are wanted, and the command")
        events = sc.proxy.ctl("show events dpapi")
        for name, value, _ in wanted:
            tap.ok(re.search(r'acme deploy @certs/site thumbprint \S{43}\nprovider-name "my provider"\nacme-vars "a=\\"1\\""\ndns-01-record "%s"\n\{.*"%s"'
                             % (re.escape(value), re.escape(name)), events), "the ring dpapi tells of %s" % name, events)
        tap.ok("Not enough parameters" in sc.proxy.ctl("acme challenge_ready @certs/site") and
               "Couldn't find an ACME task" in sc.proxy.ctl(ready + "c.example"), "names that are not waited for are refused")
        tap.eq(len([x for x in sc.ca.log if "/chall/" in x[1]]), 0, "no challenge is answered yet")
        zone.update(("_acme-challenge." + name, [value]) for name, value, _ in wanted)
        tap.ok("1 'b.example' challenge(s) ready! Remaining challenges to deploy: 1" in sc.proxy.ctl(ready + "b.example"), "one is ready")
        tap.ok("already READY" in sc.proxy.ctl(ready + "b.example"), "once")
        tap.ok("All challenges ready" in sc.proxy.ctl(ready + "a.example"), "all are ready")
        tap.ok(sc.issued(), "and the certificate comes, that of a wildcard too", sc.ca.log)
        tap.ok(lib.until(lambda: "acme newcert @certs/site\n" in sc.proxy.ctl("show events dpapi")), "which is told of")
        tap.ok("Couldn't find" in sc.proxy.ctl(ready + "a.example"), "nothing is waited for any more")


def dns_by_resolvers(tap, args):
    """The records are looked for until they are there."""
    zone = {}
    dns = lib_dns.Dns()
    text = "	challenge dns-01\n	challenge-ready dns,delay\n	dns-delay 1s\n	dns-timeout %%s\nresolvers default\n	nameserver n 127.0.0.1:%d" % dns.port
    with Scene(args, section=text % "10m", names="domains a.example", records=lambda name: zone.get(name, [])) as sc:
        sc.start()
        tap.ok(sc.syslog.find('dns-01: Couldn.t get the TXT record for "_acme-challenge.a.example"'), "a record is not there")
        value = re.search(r'dns-01-record "(\S+)"', sc.proxy.ctl("show events dpapi")).group(1)
        dns.zone["_acme-challenge.a.example"] = [lib_dns.txt("other"), lib_dns.txt(value[1:])]
        seen = len(dns.seen)
        lib.until(lambda: len(dns.seen) > seen + 1)
        tap.eq(len([x for x in sc.ca.log if "/chall/" in x[1]]), 0, "others are not it")
        zone["_acme-challenge.a.example"] = [value]
        dns.zone["_acme-challenge.a.example"] = [lib_dns.txt("other"), lib_dns.txt(value[:7], value[7:])]
        tap.ok(sc.issued(), "when it is there, the challenge is answered", sc.ca.log)
        tap.ok(all(q.kind == lib_dns.TXT for q in dns.seen), "it was asked for TXT records only")
    dns.zone.clear()
    with Scene(args, section=text % "1s", names="domains a.example") as sc:
        sc.start()
        tap.ok(sc.syslog.find("cannot get a certificate: dns-01: the TXT records are not there after 1s"), "dns-timeout")
    with Scene(args, section="	challenge dns-01\n	challenge-ready none", names="domains a.example") as sc:
        sc.start()
        tap.ok(sc.syslog.find("cannot get a certificate: the challenge failed"), "challenge-ready none: nothing is waited for")
    dns.close()


def dns_persists(tap, args):
    """dns-persist-01: a record that stays."""
    zone = {}
    dns = lib_dns.Dns()
    text = "	challenge dns-persist-01\n%%sresolvers default\n	nameserver n 127.0.0.1:%d" % dns.port
    with Scene(args, section=text % "	dns-delay 1s\n", names="domains *.a.example", records=lambda name: zone.get(name, [])) as sc:
        sc.start()
        tap.ok(sc.syslog.find("dns-persist-01: waiting 1s"), "it is not there: what challenge-ready says is waited for")
        value = re.search(r'dns-persist-01-record "([^"]+)"', sc.proxy.ctl("show events dpapi")).group(1)
        tap.ok(re.fullmatch(r"authority\.example; accounturi=%s/kid/\S+; policy=wildcard" % re.escape(sc.ca.base), value), "what it is to be", value)
        zone["_validation-persist.a.example"] = [value]
        dns.zone["_validation-persist.a.example"] = [lib_dns.txt(value)]
        tap.ok(sc.issued(), "the certificate comes", sc.ca.log)
    with Scene(args, section=text % "	challenge-ready cli\n", names="domains *.a.example",
               records=lambda name: ["authority.example; policy=wildcard; accounturi=%s/kid/%s" % (sc.ca.base, list(sc.ca.accounts)[0].split("/")[-1])]) as sc:
        sc.start()
        tap.ok(sc.issued(), "where it is there already, nothing is waited for", sc.ca.log)
    with Scene(args, section=text % "", names="domains a.example", faults=("bad-issuer",)) as sc:
        sc.start()
        tap.ok(sc.syslog.find("cannot get a certificate: no record can meet the challenge"), "a wrong issuer is refused")
    with Scene(args, section="	challenge dns-01\n	challenge-ready none", names="domains *.a.example,b.example", faults=("other-name",)) as sc:
        sc.start()
        tap.ok(sc.syslog.find("cannot get a certificate: no record can meet the challenge"), "no record of a name that was not ordered is asked for")
        tap.ok("other.example" not in sc.proxy.ctl("show events dpapi"), "nor is anybody told of it")
    dns.close()


def faulty(tap, args):
    for fault, text in [("directory", "the directory is none: 403"), ("account", "the account is refused: 403"), ("order", "the order is refused: 403"),
                        ("authz", "no challenge http-01 is offered: 403"), ("no-http", "no challenge http-01 is offered"),
                        ("chall", "the challenge is refused: 403"), ("invalid", "the challenge failed: wrong key authorization"),
                        ("finalize", "the order fails: 403"), ("cert", "no certificate: 403"), ("no-nonce", "no nonce"),
                        ("garbage-directory", "the directory is none"), ("garbage-order", "the order is refused"), ("garbage-authz", "no challenge"),
                        ("huge-account", "no whole answer"), ("garbage-cert", "cannot get a certificate"), ("other-key", "cannot get a certificate"),
                        ("bad-token", "no challenge http-01"), ("no-url", "the order has no authorizations")]:
        with Scene(args, faults=(fault,)) as sc:
            sc.start()
            tap.ok(sc.syslog.find(r"acme: @certs/site: cannot get a certificate: .*" + text.replace("cannot get a certificate", "")),
                   "fault %s is told of" % fault, sc.ca.log)
            tap.ok("test authority" not in issuer(sc.p[1]), "fault %s: the certificate stays" % fault)
            tap.ok("\tScheduled\t" in sc.proxy.ctl("acme status"), "fault %s: it is tried again later" % fault)
            tap.ok(not sc.proxy.ctl("show map virt@acme").strip(), "fault %s: no token is left" % fault)


def scheduled_minutes(sc):
    """In how many minutes the next try is, as `acme status` says."""
    d, h, m = re.search(r"(\d+)d (\d+)h(\d+)m\d+s$", sc.proxy.ctl("acme status").strip().split("\n")[1]).groups()
    return int(d) * 1440 + int(h) * 60 + int(m)


def patient(tap, args):
    """The authority says when it wants to be asked again; a certificate that is over when it comes is no reason to hurry."""
    day = email.utils.formatdate(time.time() + 5 * 3600, usegmt=True)
    for fault, retry, least, most, text in (("later-order", "7200", 100, 120, "the order is refused: 429"),
                                            ("later-order", day, 270, 300, "the order is refused: 429"),
                                            ("later-order", "999999999", 1400, 1440, "the order is refused: 429"),
                                            ("later-order", "soon", 0, 1, "the order is refused: 429"),
                                            ("slow", "3600", 50, 60, "the authority wants to be asked again in 3600s only"),
                                            ("later-finalize", "0", 0, 1, "the order fails: 429")):
        with Scene(args, faults=(fault,), retry=retry) as sc:
            sc.start()
            tap.ok(sc.syslog.find("cannot get a certificate: " + text), "%s, Retry-After: %s: it is told of" % (fault, retry), sc.ca.log)
            lib.until(lambda: "\tScheduled\t" in sc.proxy.ctl("acme status"))
            minutes = scheduled_minutes(sc)
            tap.ok(least <= minutes <= most, "%s, Retry-After: %s: the next try" % (fault, retry), minutes)
    with Scene(args, days=0) as sc:
        sc.start()
        tap.ok(sc.issued(), "a certificate whose time is over when it comes", sc.ca.log)
        lib.until(lambda: "\tScheduled\t" in sc.proxy.ctl("acme status"))
        tap.ok(50 <= scheduled_minutes(sc) <= 60, "the next one is asked for in an hour", sc.proxy.ctl("acme status"))
        tap.eq(len(sc.ca.orders), 1, "one order")
    with Scene(args, days=30) as sc:
        sc.start()
        tap.ok(sc.issued(), "a certificate for a month")
        write_site(sc.dir + "/later", days=99)
        with open(sc.dir + "/later.crt") as crt, open(sc.dir + "/later.key") as key, open(sc.dir + "/site.pem", "w") as out:
            out.write(crt.read() + key.read())
        sc.proxy.ctl("reload")
        tap.ok(lib.until(lambda: issuer(sc.p[1]) == "CN=pebble"), "a later one in the file takes its place at a reload", issuer(sc.p[1]))


def write_site(path, days=1):
    """A certificate for 127.0.0.1 and its key: <path>.crt, <path>.key."""
    x509, ser = lib_acme.x509, lib_acme.serialization
    key = lib_acme.ec.generate_private_key(lib_acme.ec.SECP256R1())
    now, day = lib_acme.datetime.datetime.now(lib_acme.datetime.timezone.utc), lib_acme.datetime.timedelta(1)
    name = x509.Name([x509.NameAttribute(lib_acme.NameOID.COMMON_NAME, "pebble")])
    cert = (x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key()).serial_number(3)
            .not_valid_before(now - day).not_valid_after(now + days * day)
            .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False)
            .sign(key, lib_acme.hashes.SHA256()))
    with open(path + ".crt", "wb") as f:
        f.write(cert.public_bytes(ser.Encoding.PEM))
    with open(path + ".key", "wb") as f:
        f.write(key.private_bytes(ser.Encoding.PEM, ser.PrivateFormat.PKCS8, ser.NoEncryption()))


def with_pebble(tap, args):
    if not args.pebble:
        tap.apart("others", "pebble")
        return
    with Scene(args, names="ips 127.0.0.1") as sc:
        ports = lib.ports(2)
        write_site(sc.dir + "/ca")
        with open(sc.dir + "/pebble.json", "w") as f:
            json.dump({"pebble": {"listenAddress": "127.0.0.1:%d" % ports[0], "managementListenAddress": "127.0.0.1:%d" % ports[1],
                                  "certificate": sc.dir + "/ca.crt", "privateKey": sc.dir + "/ca.key", "httpPort": sc.p[0],
                                  "tlsPort": 1, "ocspResponderURL": "", "externalAccountBindingRequired": False}}, f)
        sc.conf = sc.conf.replace(sc.ca.base + "/directory", "https://127.0.0.1:%d/dir" % ports[0])
        sc.conf = "\thttpclient.ssl.ca-file %s/ca.crt\n" % sc.dir + sc.conf
        with open(sc.dir + "/pebble.log", "wb") as out:
            pebble = subprocess.Popen([args.pebble, "-config", sc.dir + "/pebble.json"], stdout=out, stderr=out,
                                      env=dict(os.environ, PEBBLE_VA_NOSLEEP="1", PEBBLE_WFE_NONCEREJECT="30"))
        try:
            lib.until(lambda: not lib_connects(ports[0]))
            sc.start()
            tap.ok(lib.until(lambda: "Pebble" in issuer(sc.p[1]), 3 * lib.PATIENCE), "pebble gives a certificate", sc.proxy.output())
        finally:
            lib.end(pebble)


def lib_connects(port):
    """Why not; nothing: it does."""
    try:
        lib.connect(port).close()
        return ""
    except OSError as e:
        return str(e)


def main():
    args = lib.arguments(__doc__, ("pebble", os.environ.get("PEBBLE", ""), "the authority to ask besides"))
    tap = lib.Tap()
    if not lib_acme.AVAILABLE:
        tap.skip("acme", "Python has no module cryptography")
        tap.done()
    # they wait most of the time: beside the others
    waiting = [threading.Thread(target=tap.attempt, args=(part.__name__, part, tap, args))
               for part in (dns_by_command, dns_by_resolvers, dns_persists)]
    for t in waiting:
        t.start()
    tap.run((first, kinds, bound, reused, files, faulty, patient, with_pebble), args)
    for t in waiting:
        t.join()
    tap.done()


lib.guarded(main)
