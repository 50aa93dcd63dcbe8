#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""TLS in every combination: bind lines, versions, ciphers, names, ALPN, client certificates, resumption. This
program and the reference get the same handshakes: each must succeed in both, with the same outcome, or fail in
both with the same alert.

Without a reference program (--reference, or $REFERENCE) there is nothing to compare with, and the test is
skipped. Cells are drawn at random (--seed); --count 0 takes all of them."""
import itertools
import os
import random
import ssl
import subprocess
import tempfile
import warnings

import lib

CERTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../reg-tests/tls/certs")
# what differs between bind lines
LINES = {
    "plain": "crt {c}/a.pem crt {c}/b.pem crt {c}/dual.pem ssl-min-ver TLSv1.0",
    "alpn": "crt {c}/a.pem crt {c}/dual.pem alpn h2,http/1.1",
    "strict": "crt {c}/a.pem crt {c}/b.pem strict-sni",
    "required": "crt {c}/a.pem ca-file {c}/ca.crt verify required",
    "optional": "crt {c}/a.pem ca-file {c}/ca.crt verify optional",
    "old": "crt {c}/a.pem ssl-max-ver TLSv1.2 no-tls-tickets",
    "new": "crt {c}/a.pem crt {c}/dual.pem ssl-min-ver TLSv1.3",
    "client-order": "crt {c}/a.pem prefer-client-ciphers ciphers ECDHE-RSA-AES256-GCM-SHA384:ECDHE-RSA-AES128-GCM-SHA256",
    "list": "crt-list {t}/list",
}
LIST = """{c}/a.pem [ssl-max-ver TLSv1.2 alpn http/1.1] a.example.com
{c}/b.pem [verify required ca-file {c}/ca.crt] *.example.com !x.example.com
{c}/dual.pem.rsa
"""
VERSIONS = {"1.1": ssl.TLSVersion.TLSv1_1, "1.2": ssl.TLSVersion.TLSv1_2, "1.3": ssl.TLSVersion.TLSv1_3}
CIPHERS = (None, "ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES256-GCM-SHA384", "AES128-SHA",
           "ECDHE-RSA-AES128-GCM-SHA256:ECDHE-RSA-AES256-GCM-SHA384", "ECDHE-RSA-CHACHA20-POLY1305:ECDHE-RSA-AES128-GCM-SHA256")
NAMES = (None, "a.example.com", "B.example.com", "x.wild.example.com", "x.example.com", "dual.example.com", "nobody.test")
PROTOCOLS = (None, ("h2",), ("http/1.1",), ("http/1.1", "h2"), ("foo",))
CLIENTS = (None, "client.pem", "stranger.pem")
DIMENSIONS = (tuple(LINES), tuple(VERSIONS), CIPHERS, NAMES, PROTOCOLS, CLIENTS, (False, True))


def context(cell):
    _, version, ciphers, _, protocols, client, _ = cell
    c = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    c.check_hostname = False
    c.verify_mode = ssl.CERT_NONE
    c.minimum_version = c.maximum_version = VERSIONS[version]
    c.set_ciphers((ciphers or "DEFAULT") + ":@SECLEVEL=0")
    if protocols:
        c.set_alpn_protocols(list(protocols))
    if client:
        c.load_cert_chain("%s/%s" % (CERTS, client))
    return c


def once(port, c, cell, session):
    """The outcome of one handshake and request, and the session."""
    with c.wrap_socket(lib.connect(port), server_hostname=cell[3], session=session) as s:
        if s.selected_alpn_protocol() == "h2":
            s.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(3) + b"\4" + bytes(5))
            head = b"settings" if s.recv(4096)[3:4] == b"\4" else b"no settings"
        else:
            s.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            head = b""
            while True:
                more = s.recv(4096)
                if not more:
                    break
                head += more
        der = s.getpeercert(True)
        return (s.version(), s.cipher()[0], s.selected_alpn_protocol(), hash(der), head.split(b"\r\n\r\n")[-1]
                if head[:4] == b"HTTP" else head, s.session_reused), s.session


def outcome(port, cell):
    try:
        c = context(cell)
        result, session = once(port, c, cell, None)
        if cell[6]:
            result += once(port, c, cell, session)[0]
        return result
    except ssl.SSLError as e:
        return ("SSLError", e.reason)
    except ConnectionResetError:
        return ("closed",)
    except OSError as e:
        return ("closed",) if not str(e) or "EOF" in str(e) else ("OSError", str(e))


def configuration(folder, ports):
    conf = ("\tnbthread 1\n\ttune.ssl.default-dh-param 2048\n\tssl-default-bind-ciphers DEFAULT:@SECLEVEL=0\ndefaults\n"
            "\tmode http\n\ttimeout connect 5s\n\ttimeout client 5s\n\ttimeout server 5s\nfrontend fe\n")
    for (name, line), port in zip(LINES.items(), ports):
        conf += "\tbind 127.0.0.1:%d name %s ssl %s\n" % (port, name, line.format(c=CERTS, t=folder))
    return conf + ('\thttp-request return status 200 content-type text/plain lf-string '
                   '"%[ssl_fc_protocol] %[ssl_fc_cipher] %[ssl_fc_alpn] %[ssl_f_s_dn] %[ssl_c_s_dn] %[ssl_c_verify] '
                   '%[ssl_c_used] %[ssl_fc_sni] %[ssl_fc_has_sni] %[ssl_fc_has_early]"\n')


def early(program, folder):
    """What s_client says of early data on a line that lets it in, and on another one."""
    ports = lib.ports(2)
    conf = ("\tnbthread 1\ndefaults\n\tmode http\n\ttimeout connect 5s\n\ttimeout client 2s\n\ttimeout server 5s\n"
            "frontend fe\n\tbind 127.0.0.1:%d ssl crt %s/a.pem allow-0rtt\n\tbind 127.0.0.1:%d ssl crt %s/a.pem\n"
            "\thttp-request return status 200\n" % (ports[0], CERTS, ports[1], CERTS))
    request = folder + "/request"
    with open(request, "w") as f:
        f.write("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    said = []
    with lib.Proxy(program, conf):
        for port in ports:
            base = ["openssl", "s_client", "-ign_eof", "-tls1_3", "-connect", "127.0.0.1:%d" % port]
            with open(request) as f:
                subprocess.run(base + ["-sess_out", folder + "/session"], stdin=f, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, timeout=30)
            out = subprocess.run(base + ["-sess_in", folder + "/session", "-early_data", request], timeout=30,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout
            said.append([line for line in out.decode(errors="replace").splitlines()
                         if line.startswith(("Early data", "HTTP/1.1", "Reused", "New,"))])
    return said


def main():
    args = lib.arguments(__doc__, ("reference", lib.REFERENCE, "the program to compare with"),
                         ("count", 1200, "how many cells, 0: all"), ("seed", 1, "which ones"))
    warnings.simplefilter("ignore", DeprecationWarning)  # versions of TLS that are old, as they are meant to be
    tap = lib.Tap()
    if not os.access(args.reference, os.X_OK) or lib.is_reference(args.program):
        tap.apart("reference", "handshakes of both programs")
        tap.done()
        return
    cells = list(itertools.product(*DIMENSIONS))
    if args.count:
        cells = random.Random(args.seed).sample(cells, min(args.count, len(cells)))
    with tempfile.TemporaryDirectory(prefix="hapt.") as folder:
        with open(folder + "/list", "w") as f:
            f.write(LIST.format(c=CERTS))
        ports = [lib.ports(len(LINES)) for _ in range(2)]
        wrong, worked = {}, 0
        with lib.Proxy(args.program, configuration(folder, ports[0])), \
                lib.Proxy(args.reference, configuration(folder, ports[1])):
            for cell in cells:
                at = list(LINES).index(cell[0])
                ours, theirs = outcome(ports[0][at], cell), outcome(ports[1][at], cell)
                worked += len(ours) > 2
                if ours != theirs:
                    wrong.setdefault(cell[0], []).append("%s\n  ours      %s\n  reference %s" % (cell, ours, theirs))
        for name in LINES:
            few = wrong.get(name, [])
            tap.ok(not few, "handshakes with the line '%s' end alike" % name, "\n".join(few[:3]) +
                   "\n%d of them differ" % len(few))
        tap.ok(worked > len(cells) // 10, "%d of %d handshakes were good" % (worked, len(cells)))
        tap.eq(early(args.program, folder), early(args.reference, folder), "early data are taken where they may come")
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
