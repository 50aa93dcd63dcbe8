#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Encrypted JSON Web Tokens of every algorithm for keys and contents, by secrets, JSON Web Keys and certificates; tokens
changed at random, which give nothing or what they gave before; keys and headers that do not fit. Tokens come from
lib_jose.py, which shares no code with the program's library."""
import base64
import http.client
import json
import os
import random
import tempfile

import lib
import lib_jose as jose

CONF = """	tune.bufsize 65536
	jwt.decrypt_alg_list ALL
crt-store keys
	load crt {d}/RSA.pem alias RSA jwt on
	load crt {d}/P-256.pem alias P-256 jwt on
	load crt {d}/P-384.pem alias P-384 jwt on
	load crt {d}/P-521.pem alias P-521 jwt on
defaults
	mode http
	timeout connect 5s
	timeout client 10s
	timeout server 5s
frontend fe
	bind 127.0.0.1:{port}
	http-request set-var(txn.token) req.hdr(x-token)
	http-request set-var(txn.key) req.fhdr(x-key)
	http-request return status 200 hdr x-secret "%[var(txn.token),jwt_decrypt_secret(txn.key),hex]" hdr x-jwk "%[var(txn.token),jwt_decrypt_jwk(txn.key),hex]" hdr x-cert "%[var(txn.token),jwt_decrypt_cert(txn.key),hex]"
"""
SYMMETRIC = ("A128KW", "A192KW", "A256KW", "A128GCMKW", "A192GCMKW", "A256GCMKW", "dir")
RSA = ("RSA1_5", "RSA-OAEP", "RSA-OAEP-256")
ECDH = ("ECDH-ES", "ECDH-ES+A128KW", "ECDH-ES+A192KW", "ECDH-ES+A256KW")


class Client:
    def __init__(self, port):
        self.conn = http.client.HTTPConnection("127.0.0.1", port, timeout=lib.PATIENCE)

    def ask(self, token, key):
        """What the three converters give, None for nothing."""
        self.conn.request("GET", "/", headers={"x-token": token, "x-key": key})
        res = self.conn.getresponse()
        res.read()
        found = [res.getheader(x) for x in ("x-secret", "x-jwk", "x-cert")]
        return [bytes.fromhex(x) if x else None for x in found]


def size_of(alg, enc):
    return jose.SIZES[enc] if alg == "dir" else int(alg[1:4]) // 8


def oct_key(secret):
    return json.dumps({"kty": "oct", "k": jose.b64(secret)})


def all_symmetric(tap, client, keys):
    for enc in jose.SIZES:
        wrong = []
        for alg in SYMMETRIC:
            secret, text = os.urandom(size_of(alg, enc)), os.urandom(random.randrange(1, 200))
            token = jose.symmetric(alg, enc, secret, text)
            if client.ask(token, base64.b64encode(secret).decode()) != [text, None, None]:
                wrong.append((alg, "secret"))
            if client.ask(token, oct_key(secret)) != [None, text, None]:
                wrong.append((alg, "jwk"))
            if client.ask(token, oct_key(os.urandom(len(secret)))) != [None] * 3:
                wrong.append((alg, "another key"))
            if client.ask(token, oct_key(secret[:-1])) != [None] * 3:
                wrong.append((alg, "a short key"))
        tap.eq(wrong, [], "%s with %s" % (enc, ", ".join(SYMMETRIC)))


def all_asymmetric(tap, client, keys):
    for enc in jose.SIZES:
        wrong = []
        for alg in RSA + ECDH:
            for name in ("RSA",) if alg in RSA else tuple(jose.CURVES):
                key, text = keys[name], os.urandom(random.randrange(1, 200))
                if alg in RSA:
                    token = jose.rsa(alg, enc, key, text)
                else:
                    names = random.choice(({}, {"apu": "QWxpY2U", "apv": "Qm9i"}))
                    token = jose.ecdh(alg, enc, key, text, keys["folder"], **names)
                if client.ask(token, json.dumps(key.jwk)) != [None, text, None]:
                    wrong.append((alg, name, "jwk"))
                if client.ask(token, "@keys/" + name) != [None, None, text]:
                    wrong.append((alg, name, "cert"))
                if client.ask(token, "@keys/" + ("P-384" if name != "P-384" else "RSA")) != [None] * 3:
                    wrong.append((alg, name, "another certificate"))
        tap.eq(wrong, [], "%s with %s" % (enc, ", ".join(RSA + ECDH)))


def change(rnd, token):
    parts = token.split(".")
    which = rnd.randrange(len(parts))
    text = parts[which]
    at = rnd.randrange(len(text) + 1)
    how = rnd.randrange(6)
    if how == 0:
        text = text[:at] + rnd.choice("ABCxyz019-_") + text[at + 1:]
    elif how == 1:
        text = text[:at]
    elif how == 2:
        text = text[:at] + "".join(rnd.choice("ABab01-_=.+/!") for _ in range(rnd.randrange(1, 40))) + text[at:]
    elif how == 3:
        text = parts[rnd.randrange(len(parts))]
    elif how == 4:
        raw = bytearray(jose.unb64(text))
        if raw:
            raw[rnd.randrange(len(raw))] ^= 1 << rnd.randrange(8)
        text = jose.b64(bytes(raw))
    else:
        text = ""
    parts[which] = text
    return ".".join(parts)


def changed(tap, client, keys):
    rnd = random.Random(keys["seed"])
    secret = bytes(range(64))
    tokens = [(jose.symmetric(alg, enc, secret[:size_of(alg, enc)], b"text"), base64.b64encode(secret[:size_of(alg, enc)]).decode())
              for alg, enc in (("dir", "A128GCM"), ("dir", "A256CBC-HS512"), ("A128KW", "A128CBC-HS256"), ("A256GCMKW", "A192GCM"))]
    tokens += [(jose.rsa(alg, "A128GCM", keys["RSA"], b"text"), "@keys/RSA") for alg in RSA]
    tokens += [(jose.ecdh(alg, "A128CBC-HS256", keys["P-521"], b"text", keys["folder"]), json.dumps(keys["P-521"].jwk)) for alg in ECDH]
    wrong = []
    for i in range(keys["count"]):
        token, key = tokens[i % len(tokens)]
        token = change(rnd, token)
        got = set(client.ask(token, key)) - {None, b"text"}
        if got:
            wrong.append((token, got))
    tap.eq(wrong, [], "%d changed tokens give nothing, or the text" % keys["count"])


def headers(tap, client, keys):
    secret = bytes(range(32))
    good = {"alg": "dir", "enc": "A256GCM"}
    b64 = base64.b64encode(secret).decode()
    for name, header, want in (
            ("members that are not needed", dict(good, kid="x", typ="JWT", n=[1, {"alg": "A128KW"}]), b"text"),
            ("members of others", {"x": {"alg": "A128KW", "enc": "A128GCM"}, **good}, b"text"),
            ("no alg", {"enc": "A256GCM"}, None), ("no enc", {"alg": "dir"}, None),
            ("alg in capitals", dict(good, alg="DIR"), None), ("alg of signatures", dict(good, alg="HS256"), None),
            ("alg is a number", dict(good, alg=1), None), ("enc of another length", dict(good, enc="A128GCM"), None),
            ("alg of a public key", dict(good, alg="RSA-OAEP"), None), ("alg with a peer", dict(good, alg="ECDH-ES"), None)):
        token = jose.seal(header, secret, b"text", b"", "A256GCM")
        tap.eq(client.ask(token, b64)[0], want, "header: " + name)
    token = jose.seal(good, secret, b"text", b"key", "A256GCM")
    tap.eq(client.ask(token, b64)[0], None, "dir with an encrypted key")


def peers(tap, client, keys):
    """A key of another curve, or none: it must not be used."""
    mine = keys["P-256"]
    token = jose.ecdh("ECDH-ES", "A128GCM", mine, b"text", keys["folder"])
    head, rest = token.split(".", 1)
    head = json.loads(jose.unb64(head))
    far = dict(head["epk"], y=head["epk"]["x"])
    for name, epk in (("none", None), ("a text", "x"), ("nothing in it", {}), ("of another curve", keys["P-384"].jwk),
                      ("no point of the curve", far), ("short", dict(far, x="AAAA")), ("without a curve", dict(far, crv="X"))):
        changed_token = jose.b64(json.dumps(dict(head, epk=epk)).encode()) + "." + rest
        tap.eq(client.ask(changed_token, json.dumps(mine.jwk)), [None] * 3, "peer: " + name)


def bad_keys(tap, client, keys):
    rsa, ec = keys["RSA"], keys["P-256"]
    for key, token in ((rsa, jose.rsa("RSA-OAEP", "A128GCM", rsa, b"text")),
                       (ec, jose.ecdh("ECDH-ES", "A128GCM", ec, b"text", keys["folder"]))):
        for member in sorted(key.jwk):
            jwk = {k: v for k, v in key.jwk.items() if k != member}
            tap.eq(client.ask(token, json.dumps(jwk)), [None] * 3, "%s without %s" % (key.kind, member))
        tap.eq(client.ask(token, json.dumps(dict(key.jwk, kty="oct", k="AAAA"))), [None] * 3, key.kind + " that says oct")
        for text in ("", "{", "x", "[]", '{"kty":', json.dumps(key.jwk)[:-40]):
            tap.eq(client.ask(token, text), [None] * 3, "no key: %r" % text[:20])


def main():
    args = lib.arguments(__doc__, ("count", 600, "changed tokens"), ("seed", 1, "of what is changed"))
    tap = lib.Tap()
    port, = lib.ports(1)
    with tempfile.TemporaryDirectory(prefix="hapt.") as folder:
        keys = {"folder": folder, "count": args.count, "seed": args.seed, "RSA": jose.Key(folder, "RSA")}
        keys.update((c, jose.Key(folder, c)) for c in jose.CURVES)
        for name in ("RSA", *jose.CURVES):
            keys[name].certificate("%s/%s.pem" % (folder, name))
        with lib.Proxy(args.program, CONF.replace("{d}", folder).replace("{port}", str(port))) as proxy:
            client = Client(port)
            tap.run((all_symmetric, all_asymmetric, changed, headers, peers, bad_keys), client, keys)
            tap.ok(proxy.alive(), "the program goes on")
            client.conn.close()
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
