# SPDX-License-Identifier: GPL-2.0-or-later
"""An authority that speaks ACME (RFC 8555), for tests: strict about what it is sent, and faulty where it is told to be.

It checks each signature, nonce and URL with the module `cryptography`, asks for the challenge http-01 at a port of
its own choice, and signs what it is asked for.
"""
import datetime
import hashlib
import hmac
import http.client
import http.server
import json
import os
import threading

from lib_jose import b64, unb64

try:
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa, utils
    from cryptography.x509.oid import NameOID
    AVAILABLE = True
except ImportError:
    AVAILABLE = False

HASH = {"RS256": "SHA256", "ES256": "SHA256", "ES384": "SHA384", "ES512": "SHA512"}
CURVE = {"P-256": ("SECP256R1", "ES256"), "P-384": ("SECP384R1", "ES384"), "P-521": ("SECP521R1", "ES512")}


class Refused(Exception):
    def __init__(self, status, kind, detail):
        super().__init__(detail)
        self.status, self.kind, self.detail = status, kind, detail


def public_key(jwk):
    number = lambda name: int.from_bytes(unb64(jwk[name]), "big")
    if jwk["kty"] == "RSA":
        return rsa.RSAPublicNumbers(number("e"), number("n")).public_key(), "RS256"
    curve, alg = CURVE[jwk["crv"]]
    return ec.EllipticCurvePublicNumbers(number("x"), number("y"), getattr(ec, curve)()).public_key(), alg


def thumbprint(jwk):
    members = ("e", "kty", "n") if jwk["kty"] == "RSA" else ("crv", "kty", "x", "y")
    text = json.dumps({m: jwk[m] for m in members}, separators=(",", ":"), sort_keys=True)
    return b64(hashlib.sha256(text.encode()).digest())


def verify(jwk, alg, text, signature):
    key, wanted = public_key(jwk)
    if alg != wanted:
        raise Refused(400, "badSignatureAlgorithm", "algorithm %s" % alg)
    digest = getattr(hashes, HASH[alg])()
    try:
        if alg == "RS256":
            key.verify(signature, text, padding.PKCS1v15(), digest)
        else:
            half = len(signature) // 2
            assert half == (key.curve.key_size + 7) // 8
            der = utils.encode_dss_signature(int.from_bytes(signature[:half], "big"), int.from_bytes(signature[half:], "big"))
            key.verify(der, text, ec.ECDSA(digest))
    except Exception:
        raise Refused(400, "malformed", "the signature is wrong")


class Authority:
    """<challenge_port>: where names are asked for their tokens. <faults>: set of words, see where they are used. <retry>: Retry-After of those that ask for patience.
    <records>: called with a name, it gives the texts of its TXT records, for the challenges dns-01 and dns-persist-01."""

    def __init__(self, challenge_port, days=90, faults=(), eab=None, records=lambda name: [], retry="7200"):
        self.records, self.retry = records, retry
        self.challenge_port, self.days, self.faults, self.eab = challenge_port, days, set(faults), eab
        self.accounts, self.orders, self.nonces, self.log = {}, [], set(), []
        self.counts = {}
        self.lock = threading.Lock()
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test authority")])
        owner = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                self.serve(b"")

            do_HEAD = do_GET

            def do_POST(self):
                if self.headers["content-length"]:
                    self.serve(self.rfile.read(int(self.headers["content-length"])))
                    return
                body = b""
                while True: # chunks
                    piece = self.rfile.read(int(self.rfile.readline(), 16))
                    self.rfile.readline()
                    if not piece:
                        break
                    body += piece
                self.serve(body)

            def serve(self, body):
                owner.serve(self, body)

            def log_message(self, *args):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.base = "http://127.0.0.1:%d" % self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def certificate(self):
        now = datetime.datetime.now(datetime.timezone.utc)
        return (x509.CertificateBuilder().subject_name(self.name).issuer_name(self.name).public_key(self.key.public_key())
                .serial_number(1).not_valid_before(now - datetime.timedelta(1)).not_valid_after(now + datetime.timedelta(999))
                .add_extension(x509.BasicConstraints(True, None), True).sign(self.key, hashes.SHA256()))

    # --- what is asked

    def serve(self, h, body):
        with self.lock:
            n = self.counts[h.path] = self.counts.get(h.path, 0) + 1
            self.log.append((h.command, h.path))
        headers = {}
        try:
            status, answer = self.dispatch(h, body, headers, n)
        except Refused as r:
            status, answer = r.status, {"type": "urn:ietf:params:acme:error:" + r.kind, "detail": r.detail}
        except Exception as e:
            status, answer = 400, {"type": "urn:ietf:params:acme:error:malformed", "detail": repr(e)}
        if isinstance(answer, dict):
            answer = json.dumps(answer).encode()
        nonce = b64(os.urandom(12))
        self.nonces.add(nonce)
        h.send_response(status)
        if "no-nonce" not in self.faults:
            h.send_header("Replay-Nonce", nonce)
        for name, value in headers.items():
            h.send_header(name, value)
        h.send_header("Content-Length", str(len(answer)))
        h.end_headers()
        if h.command != "HEAD":
            h.wfile.write(answer)

    def dispatch(self, h, body, headers, n):
        path = h.path.strip("/").split("/")
        if path[0] in self.faults: # "order", ...: this question is refused
            raise Refused(403, "unauthorized", "no \"%s\"\x01 today" % path[0])
        if "later-" + path[0] in self.faults:
            headers["Retry-After"] = self.retry
            raise Refused(429, "rateLimited", "too many")
        if "garbage-" + path[0] in self.faults:
            return 200, b"<html>" + b"\"\\" * 500
        if "huge-" + path[0] in self.faults:
            return 200, b"[" * (1 << 20)
        if path[0] == "directory":
            return 200, {"newNonce": self.base + "/nonce", "newAccount": self.base + "/account", "newOrder": self.base + "/order",
                         "meta": {"externalAccountRequired": bool(self.eab)}}
        if path[0] == "nonce":
            return 200, b""
        header, payload = self.message(h, body, n)
        return getattr(self, "on_" + path[0])(path, header, payload, headers, n)

    def message(self, h, body, n):
        m = json.loads(body)
        header = json.loads(unb64(m["protected"]))
        if h.headers["content-type"] != "application/jose+json":
            raise Refused(415, "malformed", "content type")
        if header["nonce"] not in self.nonces or ("bad-nonce" in self.faults and n == 1):
            self.nonces.discard(header["nonce"])
            raise Refused(400, "badNonce", "nonce")
        self.nonces.remove(header["nonce"])
        if header["url"] != self.base + h.path:
            raise Refused(400, "malformed", "url %s" % header["url"])
        if ("jwk" in header) == ("kid" in header) or ("jwk" in header) != (h.path == "/account"):
            raise Refused(400, "malformed", "jwk or kid")
        jwk = header.get("jwk") or self.accounts[header["kid"]]
        verify(jwk, header["alg"], (m["protected"] + "." + m["payload"]).encode(), unb64(m["signature"]))
        header["key"] = jwk
        return header, json.loads(unb64(m["payload"])) if m["payload"] else None

    def on_account(self, path, header, payload, headers, n):
        kid = self.base + "/kid/" + thumbprint(header["jwk"])
        if payload.get("onlyReturnExisting") and kid not in self.accounts:
            raise Refused(400, "accountDoesNotExist", "no account")
        if payload.get("termsOfServiceAgreed") is not True and kid not in self.accounts:
            raise Refused(400, "userActionRequired", "terms")
        if self.eab:
            b = payload["externalAccountBinding"]
            p = json.loads(unb64(b["protected"]))
            mac = hmac.new(self.eab[1], (b["protected"] + "." + b["payload"]).encode(), "sha" + p["alg"][2:]).digest()
            if p["kid"] != self.eab[0] or p["url"] != header["url"] or json.loads(unb64(b["payload"])) != header["jwk"] \
               or mac != unb64(b["signature"]):
                raise Refused(400, "externalAccountRequired", "wrong binding")
        new = kid not in self.accounts
        self.accounts[kid] = header["jwk"]
        self.contact = payload.get("contact")
        headers["Location"] = kid
        return 201 if new else 200, {"status": "valid"}

    def on_order(self, path, header, payload, headers, n):
        if len(path) == 1:
            self.profile = payload.get("profile")
            self.orders.append({"names": payload["identifiers"], "valid": set(), "certificate": None, "polls": 0, "key": header["key"]})
            number = len(self.orders) - 1
        else:
            number = int(path[1])
            self.orders[number]["polls"] += 1
        o = self.orders[number]
        headers["Location"] = "%s/order/%d" % (self.base, number)
        status = "pending" if len(o["valid"]) < len(o["names"]) else "ready"
        if o["certificate"]:
            status = "processing" if o["polls"] < 1 or "slow" in self.faults else "valid"
            if "slow" in self.faults:
                headers["Retry-After"] = self.retry
        out = {"status": status, "finalize": "%s/finalize/%d" % (self.base, number),
               "authorizations": ["%s/authz/%d/%d" % (self.base, number, i) for i in range(len(o["names"]))]}
        if "no-url" in self.faults:
            out["authorizations"].append("authz/of/no/url")
        if status == "valid":
            out["certificate"] = "%s/cert/%d" % (self.base, number)
        return 201 if len(path) == 1 else 200, out

    def on_authz(self, path, header, payload, headers, n):
        o, i = self.orders[int(path[1])], int(path[2])
        token = b64(hashlib.sha256(("%s/%s" % (path[1], path[2])).encode()).digest())
        status = "valid" if i in o["valid"] else "invalid" if ("failed", i) in o["valid"] else "pending"
        challenge = {"type": "http-01", "url": "%s/chall/%s/%s" % (self.base, path[1], path[2]), "token": token, "status": status}
        if "bad-token" in self.faults:
            challenge["token"] = "../\"x"
        if status == "invalid":
            challenge["error"] = {"detail": "wrong key authorization"}
        others = [] if "no-http" in self.faults else [challenge]
        dns = dict(challenge, type="dns-01", url=challenge["url"] + "/dns")
        persist = dict(challenge, type="dns-persist-01", url=challenge["url"] + "/persist")
        del persist["token"]
        persist["issuer-domain-names"] = ["authority.example", "other.example"]
        if "bad-issuer" in self.faults:
            persist["issuer-domain-names"] = ["\"\n"]
        out = {"status": status, "identifier": o["names"][i], "challenges": [dns, persist] + others}
        if o["names"][i]["value"].startswith("*."):
            out.update(identifier={"type": "dns", "value": o["names"][i]["value"][2:]}, wildcard=True)
        if "other-name" in self.faults:
            out["identifier"] = {"type": "dns", "value": "other.example"}
        return 200, out

    def on_chall(self, path, header, payload, headers, n):
        o, i = self.orders[int(path[1])], int(path[2])
        token = b64(hashlib.sha256(("%s/%s" % (path[1], path[2])).encode()).digest())
        if payload is None: # asked how it goes
            return 200, {"status": "valid" if i in o["valid"] else "invalid" if ("failed", i) in o["valid"] else "pending"}
        if len(path) > 3:
            return self.on_chall_of_dns(path[3], o, i, token)
        c = http.client.HTTPConnection("127.0.0.1", self.challenge_port, timeout=5)
        c.request("GET", "/.well-known/acme-challenge/" + token, headers={"host": o["names"][i]["value"]})
        body = c.getresponse().read().decode().strip()
        good = body == token + "." + thumbprint(o["key"])
        o["valid"].add(i if good and "invalid" not in self.faults else ("failed", i))
        return 200, {"status": "processing"}

    def on_chall_of_dns(self, kind, o, i, token):
        name = o["names"][i]["value"]
        name, policy = (name[2:], "policy=wildcard") if name.startswith("*.") else (name, "")
        if kind == "dns":
            digest = hashlib.sha256((token + "." + thumbprint(o["key"])).encode()).digest()
            good = b64(digest) in self.records("_acme-challenge." + name)
        else:
            account = "accounturi=" + self.base + "/kid/" + thumbprint(o["key"])
            good = any(r.startswith("authority.example") and account in r and policy in r for r in self.records("_validation-persist." + name))
        o["valid"].add(i if good else ("failed", i))
        return 200, {"status": "processing"}

    def on_finalize(self, path, header, payload, headers, n):
        o = self.orders[int(path[1])]
        csr = x509.load_der_x509_csr(unb64(payload["csr"]))
        names = csr.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        got = [("dns", d) for d in names.get_values_for_type(x509.DNSName)] + [("ip", str(a)) for a in names.get_values_for_type(x509.IPAddress)]
        if not csr.is_signature_valid or sorted(got) != sorted((x["type"], x["value"]) for x in o["names"]):
            raise Refused(400, "badCSR", "names %r" % got)
        now = datetime.datetime.now(datetime.timezone.utc)
        key = csr.public_key() if "other-key" not in self.faults else ec.generate_private_key(ec.SECP256R1()).public_key()
        o["certificate"] = (x509.CertificateBuilder().subject_name(csr.subject).issuer_name(self.name).public_key(key)
                            .serial_number(1000 + len(self.orders)).not_valid_before(now - datetime.timedelta(1))
                            .not_valid_after(now + datetime.timedelta(self.days)).add_extension(names, False).sign(self.key, hashes.SHA256()))
        return self.on_order(["order", path[1]], header, None, headers, n)

    def on_cert(self, path, header, payload, headers, n):
        pem = serialization.Encoding.PEM
        return 200, self.orders[int(path[1])]["certificate"].public_bytes(pem) + self.certificate().public_bytes(pem)
