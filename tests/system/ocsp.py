#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""OCSP answers fetched from responders that are not well: in chunks, torn, too large, about somebody else, out of
date, signed by a stranger, never ending. What is good is stapled, what is not leaves the former answer."""
import os
import subprocess
import tempfile
import threading
import time

import lib
import tls

CONF = """	nbthread 2
	ocsp-update.mindelay 100
	ocsp-update.maxdelay 200
	{proxy}
	log 127.0.0.1:{log} local0 notice
defaults
	mode http
	timeout connect 1s
	timeout client 5s
	timeout server 5s
frontend fe
	bind 127.0.0.1:{port} ssl crt-list {folder}/list
	http-request return status 200 content-type text/plain string "0"
"""
SUCCESS, HTTP, CHECK, INSERT = "Update successful", "HTTP error", "OCSP response check failure", "Error during insertion"
HEADER = "Missing \"ocsp-response\" header"
IDS = {"Unknown": "0", SUCCESS: "1", HTTP: "2", HEADER: "3", CHECK: "4", INSERT: "5"}


def openssl(*args):
    subprocess.run(["openssl"] + list(args), check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def make(folder, port):
    """An authority, a stranger of the same name, a certificate, another one, and answers about them."""
    f = folder + "/"
    for name in ("ca", "stranger"):
        openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", f + name + ".key", "-out", f + name + ".crt",
                "-days", "30", "-subj", "/CN=OCSP CA")
    with open(f + "ext", "w") as out:
        out.write("authorityInfoAccess=OCSP;URI:http://127.0.0.1:%d/x\n" % port)
    with open(f + "index", "w") as out:
        for serial, name in (("1001", "one"), ("1002", "two")):
            openssl("req", "-newkey", "rsa:2048", "-nodes", "-keyout", f + name + ".key", "-out", f + name + ".csr",
                    "-subj", "/CN=%s.example.com" % name)
            openssl("x509", "-req", "-in", f + name + ".csr", "-CA", f + "ca.crt", "-CAkey", f + "ca.key", "-set_serial",
                    "0x" + serial, "-days", "30", "-extfile", f + "ext", "-out", f + name + ".crt")
            out.write("V\t350101000000Z\t\t%s\tunknown\t/CN=%s.example.com\n" % (serial, name))
    open(f + "nothing", "w").close()
    with open(f + "revoked", "w") as out:
        out.write("R\t350101000000Z\t200101000000Z\t1001\tunknown\t/CN=one.example.com\n")

    def answer(out, cert, index="index", signer="ca", days="10"):
        openssl("ocsp", "-index", f + index, "-rsigner", f + signer + ".crt", "-rkey", f + signer + ".key", "-CA",
                f + "ca.crt", "-issuer", f + "ca.crt", "-cert", f + cert + ".crt", "-respout", f + out, "-ndays", days,
                "-no_nonce")
        with open(f + out, "rb") as der:
            return der.read()

    answers = {"good": answer("good.der", "one"), "two": answer("two.der", "two"),
               "stranger": answer("stranger.der", "one", signer="stranger"),
               "revoked": answer("revoked.der", "one", index="revoked"),
               "unknown": answer("unknown.der", "one", index="nothing")}
    subprocess.run("cat %sone.crt %sca.crt %sone.key >%sone.pem" % (f, f, f, f), shell=True, check=True)
    with open(f + "list", "w") as out:
        out.write(f + "one.pem [ocsp-update on]\n")
    return answers


def chunked(body, size=100):
    parts = [body[i:i + size] for i in range(0, len(body), size)]
    return b"".join(b"%x;ext=1\r\n%s\r\n" % (len(p), p) for p in parts) + b"0\r\nTrailer: x\r\n\r\n"


class Responder:
    """Answers each request with what it was told to."""

    def __init__(self):
        self.seen, self.send, self.drip = [], b"", False
        self.server = lib.Server(self.serve)

    def serve(self, sock):
        head = b""
        while b"\r\n\r\n" not in head:
            more = sock.recv(4096)
            if not more:
                return
            head += more
        self.seen.append(head)
        sock.sendall(self.send)
        while self.drip:
            sock.sendall(b"x")
            time.sleep(0.1)


def head(fields, body=b"", status=b"200 OK"):
    return b"HTTP/1.1 %s\r\nContent-Type: application/ocsp-response\r\n%s\r\n%s" % (
        status, b"".join(f + b"\r\n" for f in fields), body)


def sized(body, said=None):
    return head([b"Content-Length: %d" % (len(body) if said is None else said)], body)


def cases(a):
    good = a["good"]
    return [
        ("with its length", sized(good), SUCCESS),
        ("up to the end of the connection", head([], good), SUCCESS),
        ("in chunks", head([b"Transfer-Encoding: chunked"], chunked(good)), SUCCESS),
        ("in chunks of one byte", head([b"Transfer-Encoding: chunked"], chunked(good, 1)), SUCCESS),
        ("in chunks without an end", head([b"Transfer-Encoding: chunked"], chunked(good)[:-30]), HTTP),
        ("in chunks of no size", head([b"Transfer-Encoding: chunked"], b"zz\r\n" + good), HTTP),
        ("shorter than it says", sized(good, len(good) + 10), HTTP),
        ("no HTTP", b"\0\1\2\3" * 100, HTTP),
        ("nothing at all", b"", HTTP),
        ("500", head([b"Content-Length: 0"], b"", b"500 No"), HTTP),
        ("of 200 kB", sized(bytes(200000)), HTTP),
        ("a head of 200 kB", head([b"X: " + b"x" * 200000], good), HTTP),
        ("of another type", sized(good).replace(b"application/ocsp-response", b"text/html"), HEADER),
        ("of no type", sized(good).replace(b"Content-Type", b"X-Type"), HEADER),
        ("garbage", sized(os.urandom(500)), CHECK),
        ("torn", sized(good[:len(good) // 2]), CHECK),
        ("signed by a stranger", sized(a["stranger"]), CHECK),
        ("about another certificate", sized(a["two"]), INSERT),
        ("that knows nothing", sized(a["unknown"]), INSERT),
    ]


def outcome(proxy):
    out = proxy.ctl("show ssl ocsp-updates").strip().split("\n")[-1]
    return [w.strip() for w in out.split("|")]


def stapled(port, status="Cert Status: good"):
    out = subprocess.run(["openssl", "s_client", "-connect", "127.0.0.1:%d" % port, "-status"], timeout=30,
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    return status.encode() in out


def update(proxy, folder):
    """Has it fetch once; the outcome as it is shown."""
    before = outcome(proxy)
    count = sum(int(x) for x in before[4:6])
    proxy.ctl("update ssl ocsp-response %s/one.pem" % folder)
    lib.until(lambda: sum(int(x) for x in outcome(proxy)[4:6]) > count, 30)
    return outcome(proxy)[-1]


def served(tap, proxy, responder, folder, port, answers):
    lib.until(lambda: outcome(proxy)[-1] == SUCCESS)
    tap.ok(stapled(port), "the first answer is stapled", outcome(proxy))
    for name, sent, want in cases(answers):
        responder.send = sent
        got = update(proxy, folder)
        tap.eq((got, stapled(port)), (want, True), "an answer %s" % name)
        tap.eq(outcome(proxy)[-2], IDS[want], "and its number")
    responder.send, responder.drip = head([b"Content-Length: 60000"]), True
    slow = threading.Thread(target=update, args=(proxy, folder))
    slow.start()
    tap.eq(tls.get(port, tls.context(), name="one.example.com")[0], "0", "clients are served while one drips")
    slow.join()
    responder.drip = False
    tap.eq(outcome(proxy)[-1], HTTP, "an answer that never ends")
    responder.send = sized(answers["good"])
    tap.eq(update(proxy, folder), SUCCESS, "and a good one after all these")
    responder.send = sized(answers["revoked"])
    tap.eq((update(proxy, folder), stapled(port, "Cert Status: revoked")), (SUCCESS, True), "a revocation is told")
    responder.send = sized(answers["good"])
    tap.eq((update(proxy, folder), stapled(port)), (SUCCESS, True), "and taken back")
    tap.ok(proxy.process.poll() is None, "the process lives")


def main():
    args = lib.arguments(__doc__)
    tap = lib.Tap()
    if lib.is_reference(args.program):
        tap.skip("answers of bad responders", "it fetches in another way")
        tap.done()
        return
    responder, log = Responder(), lib.ports(1)[0]
    with tempfile.TemporaryDirectory(prefix="hapt.") as folder:
        answers = make(folder, responder.server.port)
        responder.send = sized(answers["good"])
        port = lib.ports(1)[0]
        with lib.Proxy(args.program, CONF.format(port=port, folder=folder, log=log, proxy="")) as proxy:
            served(tap, proxy, responder, folder, port, answers)
        responder.seen.clear()
        by = "ocsp-update.httpproxy 127.0.0.1:%d" % responder.server.port
        with open(folder + "/ext", "w") as out:
            out.write("authorityInfoAccess=OCSP;URI:http://responder.invalid:8080/y\n")
        openssl("x509", "-req", "-in", folder + "/one.csr", "-CA", folder + "/ca.crt", "-CAkey", folder + "/ca.key",
                "-set_serial", "0x1001", "-days", "30", "-extfile", folder + "/ext", "-out", folder + "/one.crt")
        subprocess.run("cat %s/one.crt %s/ca.crt %s/one.key >%s/one.pem" % ((folder,) * 4), shell=True, check=True)
        with lib.Proxy(args.program, CONF.format(port=port, folder=folder, log=log, proxy=by)) as proxy:
            lib.until(lambda: outcome(proxy)[-1] == SUCCESS)
            tap.eq(outcome(proxy)[-1], SUCCESS, "an answer by way of a proxy")
            first = responder.seen[0] if responder.seen else b""
            tap.ok(first.startswith(b"GET http://responder.invalid:8080/y/") and b"\r\nhost: responder.invalid" in first.lower(),
                   "which is asked for the whole URL", first[:200])
    responder.server.close()
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
