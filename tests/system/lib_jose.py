# SPDX-License-Identifier: GPL-2.0-or-later
"""JSON Web Encryption (RFC 7516, 7518) for tests: tokens made with nothing but Python and the program openssl.

AES is written out here, slowly and independently of any library: block (FIPS 197), GCM (SP 800-38D), CBC with
HMAC (RFC 7518, 5.2), key wrap (RFC 3394). openssl makes keys, RSA encryption and key agreement.
"""
import base64
import hashlib
import hmac
import json
import os
import struct
import subprocess

SIZES = {"A128CBC-HS256": 32, "A192CBC-HS384": 48, "A256CBC-HS512": 64, "A128GCM": 16, "A192GCM": 24, "A256GCM": 32}
HASHES = {32: hashlib.sha256, 48: hashlib.sha384, 64: hashlib.sha512}
CURVES = {"P-256": ("prime256v1", 32), "P-384": ("secp384r1", 48), "P-521": ("secp521r1", 66)}


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def unb64(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


# --- AES -------------------------------------------------------------------------------------------------------------

def _tables():
    power, log, value = [0] * 256, [0] * 256, 1
    for i in range(255):
        power[i], log[value] = value, i
        value ^= (value << 1) ^ (0x11b if value & 0x80 else 0)
        value &= 0xff
    box = [0x63] * 256
    for i in range(1, 256):
        x = power[(255 - log[i]) % 255]
        box[i] = 0x63
        for turn in range(5):
            box[i] ^= (x << turn | x >> (8 - turn)) & 0xff
    return box


BOX = _tables()


def _double(x):
    return (x << 1 ^ (0x11b if x & 0x80 else 0)) & 0xff


class Aes:
    """One key; encrypts blocks of 16 bytes."""

    def __init__(self, key):
        words = [list(key[i:i + 4]) for i in range(0, len(key), 4)]
        n, factor = len(words), 1
        while len(words) < 4 * (n + 7):
            word = list(words[-1])
            if len(words) % n == 0:
                word = [BOX[b] for b in word[1:] + word[:1]]
                word[0] ^= factor
                factor = _double(factor)
            elif n > 6 and len(words) % n == 4:
                word = [BOX[b] for b in word]
            words.append([a ^ b for a, b in zip(words[-n], word)])
        self.keys = [sum(words[i:i + 4], []) for i in range(0, len(words), 4)]

    def block(self, data):
        state = [a ^ b for a, b in zip(data, self.keys[0])]
        for number, key in enumerate(self.keys[1:], 1):
            state = [BOX[state[(i + 4 * (i % 4)) % 16]] for i in range(16)]
            if number < len(self.keys) - 1:
                mixed = []
                for c in range(0, 16, 4):
                    col = state[c:c + 4]
                    whole = col[0] ^ col[1] ^ col[2] ^ col[3]
                    mixed += [col[i] ^ whole ^ _double(col[i] ^ col[(i + 1) % 4]) for i in range(4)]
                state = mixed
            state = [a ^ b for a, b in zip(state, key)]
        return bytes(state)


def _xor(a, b):
    return bytes(x ^ y for x, y in zip(a, b))


def gcm(key, nonce, text, more):
    """(encrypted, tag); <nonce> has 12 bytes."""
    aes = Aes(key)
    factor = int.from_bytes(aes.block(bytes(16)), "big")
    out = b""
    for i in range(0, len(text), 16):
        out += _xor(text[i:i + 16], aes.block(nonce + struct.pack(">I", 2 + i // 16)))
    total = 0
    padded = more + bytes(-len(more) % 16) + out + bytes(-len(out) % 16)
    padded += struct.pack(">QQ", 8 * len(more), 8 * len(out))
    for i in range(0, len(padded), 16):
        left, right = total ^ int.from_bytes(padded[i:i + 16], "big"), factor
        total = 0
        for bit in range(127, -1, -1):
            total ^= right if left >> bit & 1 else 0
            right = right >> 1 ^ (0xe1 << 120 if right & 1 else 0)
    return out, _xor(total.to_bytes(16, "big"), aes.block(nonce + b"\0\0\0\1"))


def cbc(key, start, text):
    aes, out = Aes(key), b""
    text += bytes([16 - len(text) % 16]) * (16 - len(text) % 16)
    for i in range(0, len(text), 16):
        start = aes.block(_xor(text[i:i + 16], start))
        out += start
    return out


def wrap(key, text):
    aes, first = Aes(key), b"\xa6" * 8
    parts = [text[i:i + 8] for i in range(0, len(text), 8)]
    for turn in range(6):
        for i, part in enumerate(parts):
            both = aes.block(first + part)
            first = _xor(both[:8], struct.pack(">Q", turn * len(parts) + i + 1))
            parts[i] = both[8:]
    return first + b"".join(parts)


# --- keys ------------------------------------------------------------------------------------------------------------

def openssl(*args, data=None):
    return subprocess.run(("openssl",) + args, input=data, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          check=True).stdout


def _numbers(pem):
    """The integers and octet strings of a DER structure of openssl, in order."""
    out, at = [], 0

    def walk(data):
        at = 0
        while at + 2 <= len(data):
            tag, size, at = data[at], data[at + 1], at + 2
            if size & 0x80:
                n = size & 0x7f
                size, at = int.from_bytes(data[at:at + n], "big"), at + n
            if tag & 0x20:
                walk(data[at:at + size])
            elif tag in (2, 3, 4):
                out.append(data[at:at + size].lstrip(b"\0") if tag != 4 else data[at:at + size])
            at += size
    walk(pem)
    return out


class Key:
    """A private key in a PEM file, and as a JSON Web Key."""

    def __init__(self, folder, kind, bits=2048):
        self.kind, self.path = kind, os.path.join(folder, "%s-%s.key" % (kind, bits))
        if kind == "RSA":
            openssl("genrsa", "-traditional", "-out", self.path, str(bits))
            n = _numbers(openssl("rsa", "-in", self.path, "-outform", "DER", "-traditional"))
            self.jwk = dict(zip(("n", "e", "d", "p", "q", "dp", "dq", "qi"), [b64(x) for x in n[1:9]]), kty="RSA")
        else:
            curve, self.size = CURVES[kind]
            openssl("ecparam", "-name", curve, "-genkey", "-noout", "-out", self.path)
            n = _numbers(openssl("ec", "-in", self.path, "-outform", "DER"))
            point = n[2][-2 * self.size:]
            self.jwk = {"kty": "EC", "crv": kind, "d": b64(n[1].rjust(self.size, b"\0")),
                        "x": b64(point[:self.size]), "y": b64(point[self.size:])}
        self.public = self.path + ".pub"
        openssl("pkey", "-in", self.path, "-pubout", "-out", self.public)

    def certificate(self, path):
        text = openssl("req", "-new", "-x509", "-key", self.path, "-subj", "/CN=jose", "-days", "30")
        with open(path, "wb") as f, open(self.path, "rb") as key:
            f.write(text + key.read())
        return path


def derive(secret, name, size, apu=b"", apv=b""):
    """Concat KDF (RFC 7518, 4.6.2)."""
    def field(b):
        return struct.pack(">I", len(b)) + b
    out, n = b"", 0
    while len(out) < size:
        n += 1
        out += hashlib.sha256(struct.pack(">I", n) + secret + field(name.encode()) + field(apu) + field(apv) +
                              struct.pack(">I", 8 * size)).digest()
    return out[:size]


# --- tokens ----------------------------------------------------------------------------------------------------------

def seal(header, key, text, encrypted_key, enc):
    """The token, once header and keys are known."""
    head = b64(json.dumps(header).encode())
    if "GCM" in enc:
        nonce = os.urandom(12)
        out, tag = gcm(key, nonce, text, head.encode())
    else:
        nonce, half = os.urandom(16), len(key) // 2
        out = cbc(key[half:], nonce, text)
        tag = hmac.new(key[:half], head.encode() + nonce + out + struct.pack(">Q", 8 * len(head)),
                       HASHES[len(key)]).digest()[:half]
    return ".".join((head, b64(encrypted_key), b64(nonce), b64(out), b64(tag)))


def symmetric(alg, enc, secret, text, **more):
    """A token of A*KW, A*GCMKW or dir."""
    header = dict({"alg": alg, "enc": enc}, **more)
    if alg == "dir":
        return seal(header, secret, text, b"", enc)
    key = os.urandom(SIZES[enc])
    if alg.endswith("GCMKW"):
        nonce = os.urandom(12)
        out, tag = gcm(secret, nonce, key, b"")
        header.update(iv=b64(nonce), tag=b64(tag))
    else:
        out = wrap(secret, key)
    return seal(header, key, text, out, enc)


def rsa(alg, enc, key, text, **more):
    modes = {"RSA1_5": (), "RSA-OAEP": ("-pkeyopt", "rsa_padding_mode:oaep"),
             "RSA-OAEP-256": ("-pkeyopt", "rsa_padding_mode:oaep", "-pkeyopt", "rsa_oaep_md:sha256")}
    content = os.urandom(SIZES[enc])
    out = openssl("pkeyutl", "-encrypt", "-pubin", "-inkey", key.public, *modes[alg], data=content)
    return seal(dict({"alg": alg, "enc": enc}, **more), content, text, out, enc)


def ecdh(alg, enc, key, text, folder, **more):
    other = Key(folder, key.kind, "ephemeral")
    secret = openssl("pkeyutl", "-derive", "-inkey", other.path, "-peerkey", key.public)
    header = dict({"alg": alg, "enc": enc}, **more)
    header["epk"] = {k: v for k, v in other.jwk.items() if k != "d"}
    direct = alg == "ECDH-ES"
    size = SIZES[enc] if direct else int(alg[9:12]) // 8
    shared = derive(secret, enc if direct else alg, size, unb64(more.get("apu", "")), unb64(more.get("apv", "")))
    if direct:
        return seal(header, shared, text, b"", enc)
    content = os.urandom(SIZES[enc])
    return seal(header, content, text, wrap(shared, content), enc)
