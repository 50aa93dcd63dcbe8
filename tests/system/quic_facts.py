#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What fetches say of a connection of QUIC behind its handshake, when the program has freed OpenSSL's object of it: the same as of one
over TCP with TLS 1.3, without and with a client's certificate. A client that has more to say to TLS is told that this is an error.
"""
import asyncio
import os
import socket
import ssl
import subprocess
import tempfile

import lib
import lib_quic

CONF = """
	limited-quic
defaults
	mode http
	timeout connect 5s
	timeout client 20s
	timeout server 20s
frontend web
	bind quic4@127.0.0.1:{port} ssl crt {dir}/srv.pem {options}
	bind 127.0.0.1:{port} ssl crt {dir}/srv.pem alpn http/1.1 ssl-min-ver TLSv1.3 {options}
	http-request return status 200 content-type text/plain lf-string "{text}"
"""
# the same on both transports
SAME = """ssl_fc ssl_fc_cipher ssl_fc_protocol ssl_fc_alg_keysize ssl_fc_use_keysize ssl_fc_sni ssl_fc_has_sni ssl_fc_has_crt ssl_fc_crtname
ssl_fc_is_resumed ssl_f_sha1,hex ssl_f_serial,hex ssl_f_s_dn ssl_f_i_dn ssl_f_sig_alg ssl_f_key_alg ssl_f_notafter
ssl_c_used ssl_c_verify ssl_c_err ssl_c_ca_err ssl_c_s_dn ssl_c_i_dn ssl_c_serial,hex ssl_c_sha1,hex ssl_c_der,length
ssl_c_chain_der,length ssl_c_r_dn ssl_c_version ssl_c_key_alg ssl_c_sig_alg""".split()
# of a length that is the same
LENGTHS = "ssl_fc_client_random ssl_fc_server_random ssl_fc_session_key ssl_fc_unique_id".split()
ALL = ["%%[%s]" % f for f in SAME] + ["%%[%s,hex,length]" % f for f in LENGTHS] + ["%[ssl_fc_client_random,hex] %[ssl_fc_server_random,hex] %[ssl_fc_curve]"]


def pem(path, *more):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "9",
                    *more, "-keyout", path + ".key", "-out", path], check=True, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with open(path, "a") as f, open(path + ".key") as g:
        f.write(g.read())


def over_tcp(port, crt):
    ctx = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    ctx.check_hostname, ctx.verify_mode = False, ssl.CERT_NONE
    ctx.set_alpn_protocols(["http/1.1"])
    if crt:
        ctx.load_cert_chain(crt)
    with ctx.wrap_socket(socket.create_connection(("127.0.0.1", port), lib.PATIENCE), server_hostname="localhost") as s:
        s.sendall(b"GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n")
        return lib.Reader(s).response("GET")[2].decode().split("|")


async def over_quic(port, crt, act=None):
    conf = lib_quic.QuicConfiguration(is_client=True, alpn_protocols=lib_quic.H3_ALPN, verify_mode=ssl.CERT_NONE, server_name="localhost")
    if crt:
        conf.load_cert_chain(crt)
    async with lib_quic.aio_connect("127.0.0.1", port, configuration=conf, create_protocol=lib_quic.Client) as c:
        first = (await c.request("GET", "/"))[2].decode().split("|")
        again = (await c.request("GET", "/"))[2].decode().split("|")
        if act:
            act(c)
            c.transmit()
            await asyncio.wait_for(c.wait_closed(), lib.PATIENCE)
            return c.ended
        return first, again


def more_for_tls(c):
    """A KeyUpdate message of TLS, which QUIC does not have (RFC 9001 6)."""
    from aioquic.tls import Epoch
    c._quic._crypto_streams[Epoch.ONE_RTT].sender.write(b"\x18\0\0\1\0")


def compare(tap, args, folder, name, options, crt):
    port = lib.ports(1)[0]
    conf = CONF.format(dir=folder, port=port, options=options, text="|".join(ALL))
    with lib.Proxy(args.program, conf):
        tcp = over_tcp(port, crt)
        quic, again = asyncio.run(over_quic(port, crt))
        for i, f in enumerate(SAME + LENGTHS):
            tap.eq(quic[i], tcp[i], "%s: %s" % (name, f))
        tap.ok(quic == again and len(set(quic[-1].split())) == 3, "%s: random bytes and curve stay what they were" % name, (quic, again))


VERSIONS = """
	limited-quic
	expose-experimental-directives
	ssl-default-bind-options {bind}
	ssl-default-server-options {server}
defaults
	mode http
	timeout connect 5s
	timeout client 5s
	timeout server 5s
frontend web
	bind quic4@127.0.0.1:{port} ssl crt-list {dir}/list alpn h3
	http-request return status 200 content-type text/plain lf-string "%[ssl_fc_protocol]"
frontend clear
	bind 127.0.0.1:{clear}
	default_backend same
backend same
	server s1 quic4@127.0.0.1:{port} ssl verify none
"""


def versions(tap, args, folder):
    """What is said of versions is about TCP: QUIC has TLS 1.3 only. A certificate of a list may be kept away from it."""
    for bind, server, line in (("ssl-max-ver TLSv1.2", "", ""), ("no-tlsv13", "", ""), ("", "ssl-max-ver TLSv1.2", ""), ("", "no-tlsv13", ""),
                               ("", "", " [ssl-max-ver TLSv1.2]")):
        with open(folder + "/list", "w") as f:
            f.write("%s/srv.pem%s localhost\n%s/cli.pem\n" % (folder, line, folder))
        port, clear = lib.ports(2)
        said = "versions of lines %r, servers %r, certificates %r" % (bind, server, line)
        with lib.Proxy(args.program, VERSIONS.format(dir=folder, port=port, clear=clear, bind=bind or "ssl-min-ver TLSv1.2",
                                                     server=server or "ssl-min-ver TLSv1.2")):
            try:
                got = asyncio.run(over_quic(port, None))[0]
            except ConnectionError:
                got = "refused"
            tap.eq(got, "refused" if line else ["TLSv1.3"], said)
            with lib.connect(clear) as s:
                s.sendall(b"GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n")
                status, _, body, *_ = lib.Reader(s).response("GET")
                tap.eq((status, body if status == 200 else b""), (503, b"") if line else (200, b"TLSv1.3"), said + ": to a server")


def facts(tap, args, folder):
    compare(tap, args, folder, "a client", "", None)
    compare(tap, args, folder, "a client with a certificate", "verify required ca-file %s/cli.pem" % folder, folder + "/cli.pem")
    if lib.is_reference(args.program):
        tap.skip("a KeyUpdate message of TLS", "the reference does not look at it")
        return
    port = lib.ports(1)[0]
    with lib.Proxy(args.program, CONF.format(dir=folder, port=port, options="", text="ok")):
        tap.eq(asyncio.run(over_quic(port, None, more_for_tls)), 0x10a, "a KeyUpdate message of TLS is an error")


def main():
    args = lib.arguments(__doc__)
    tap = lib.Tap()
    if not lib_quic.HAVE_AIOQUIC:
        tap.skip("facts of connections of QUIC", "aioquic is not installed")
        tap.done()
    with tempfile.TemporaryDirectory(prefix="hapt.") as folder:
        try:
            pem(os.path.join(folder, "srv.pem"), "-subj", "/CN=localhost")
            pem(os.path.join(folder, "cli.pem"), "-subj", "/O=Clients/CN=client")
        except OSError:
            tap.skip("facts of connections of QUIC", "there is no openssl to make a certificate")
            tap.done()
        tap.run([facts, versions], args, folder)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
