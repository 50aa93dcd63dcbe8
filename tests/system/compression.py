#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Generated answers through `compression`: which are compressed is what the manual says (worked out here once more), each
arrives whole, by every algorithm, level, size and cut; clients and servers that break off leave nothing behind.
--count N answers (300). --beside N answers (60), of up to 5 MB, that this program and the reference must treat
alike: head, body after decompression, how it ends; skipped without a reference (--reference). curl and Node, where they are, read what is made."""
import os
import random
import shutil
import subprocess
import threading
import time
import zlib

import lib

CONF = """
	tune.comp.maxlevel {level}
defaults
	mode http
	timeout connect 5s
	timeout client 10s
	timeout server 10s
frontend fe
	bind 127.0.0.1:{fe}
	compression type text/ application/json
	use_backend be-all if {{ path_beg /all }}
	default_backend be-gzip
backend be-gzip
	compression algo gzip
	compression minsize-res 100
	server s 127.0.0.1:{server}
backend be-all
	compression algo gzip deflate raw-deflate
	compression type text/ application/json
	server s 127.0.0.1:{server}
"""
WINDOWS = {"gzip": (31,), "deflate": (-15,)}
TYPES = (None, "text/html", "Text/Plain; charset=utf-8", "application/json", "image/png", "multipart/x", "texts")
ETAGS = ((), ('"a"',), ('W/"a"',), ("a",), ('"a"', '"b"'))


class Case:
    """One answer, and what the request takes."""

    sizes = (0, 1, 99, 100, 1000, 16384, 70000, 300000)
    pause = 0

    def __init__(self, chance):
        self.accept = chance.choice((None, "gzip", "deflate", "gzip, deflate", "deflate;q=0.9, gzip;q=0.3", "br", "*",
                                     "gzip;q=0", "identity", "deflate, gzip;q=0.0"))
        self.path = chance.choice(("/gzip", "/all"))
        self.status = chance.choice((200, 200, 200, 200, 201, 202, 203, 404, 206, 500))
        self.type = chance.choice(TYPES)
        self.etags = chance.choice(ETAGS)
        self.control = chance.choice((None, None, None, "max-age=3", "public, no-transform"))
        self.encoding = chance.choice((None, None, None, None, "br"))
        self.vary = chance.choice((None, None, "cookie", "Accept-Encoding"))
        self.chunked = chance.random() < 0.4
        size = chance.choice(self.sizes)
        kind = chance.random()
        self.body = bytes(chance.getrandbits(8) for _ in range(size)) if kind < 0.3 and size < 20000 else \
            (b"some text, again and again %d\n" % chance.randrange(1000) * (size // 20 + 1))[:size]
        self.cuts = sorted(chance.randrange(size + 1) for _ in range(chance.choice((0, 0, 1, 5)))) if size else []
        self.ends_early = size > 1000 and chance.random() < 0.1
        self.client_leaves = size > 1000 and chance.random() < 0.1

    def algorithm(self):
        """What the manual has it compressed by."""
        offers = {"gzip"} if self.path == "/gzip" else {"gzip", "deflate"}
        best, quality = None, 0.0
        for word in (self.accept or "").split(","):
            name, _, q = word.strip().partition(";q=")
            q = float(q) if q else 1.0
            if name == "*":
                name = "gzip" if self.path == "/gzip" else "deflate"
            if name in offers and q > quality:
                best, quality = name, q
        if self.status not in (200, 201, 202, 203) or self.encoding or "no-transform" in (self.control or ""):
            return None
        if not (self.type or "").lower().startswith(("text/", "application/json")) or not (self.body or self.chunked):
            return None
        if len(self.etags) > 1 or any('"' not in e for e in self.etags):
            return None
        if self.path == "/gzip" and len(self.body) < 100:
            return None if not self.chunked else (None if not self.cuts else "either")
        return best

    def head(self):
        lines = ["HTTP/1.1 %d X" % self.status]
        lines += ["etag: " + e for e in self.etags]
        for name, value in (("content-type", self.type), ("cache-control", self.control), ("vary", self.vary),
                            ("content-encoding", self.encoding)):
            if value:
                lines.append("%s: %s" % (name, value))
        lines.append("transfer-encoding: chunked" if self.chunked else "content-length: %d" % len(self.body))
        return ("\r\n".join(lines) + "\r\n\r\n").encode()

    def parts(self):
        """What the server sends, one after the other."""
        ends = self.cuts + [len(self.body)]
        runs = [self.body[a:b] for a, b in zip([0] + ends, ends)]
        if self.chunked:
            runs = [b"%x\r\n%s\r\n" % (len(r), r) for r in runs if r]
            if runs and not self.cuts:
                runs[-1] += b"0\r\n\r\n"
            else:
                runs.append(b"0\r\n\r\n")
        if self.ends_early:
            runs[-1] = runs[-1][:-6]
        return [self.head() + runs[0]] + runs[1:]

    def __str__(self):
        return "%s %s, %d %s %s %s, %d bytes%s" % (self.path, self.accept, self.status, self.type, self.etags, self.control,
                                                   len(self.body), ", chunked" if self.chunked else "")


class Scene:
    def __init__(self, program, level):
        self.case = None
        self.server = lib.Server(self.serve)
        self.port = lib.ports(1)[0]
        self.proxy = lib.Proxy(program, CONF.format(fe=self.port, server=self.server.port, level=level))

    def serve(self, sock):
        reader = lib.Reader(sock)
        while reader.head():
            case = self.case
            for i, part in enumerate(case.parts()):
                time.sleep(case.pause if i else 0)
                sock.sendall(part)
            if case.ends_early:
                return

    def run(self, case):
        """What is wrong with the answer; "" if nothing."""
        self.case = case
        sock = lib.connect(self.port)
        accept = "accept-encoding: %s\r\n" % case.accept if case.accept else ""
        sock.sendall(("GET %s HTTP/1.1\r\nhost: x\r\n%s\r\n" % (case.path, accept)).encode())
        reader = lib.Reader(sock)
        try:
            if case.client_leaves:
                sock.recv(100)
                return ""
            return judge(case, reader)
        finally:
            sock.close()


def judge(case, reader):
    head = reader.head()
    fields = [(n.lower(), v) for n, v in head[1]]
    values = dict(fields)
    want, got = case.algorithm(), values.get("content-encoding")
    if want == "either":
        want = got if got in ("gzip", None) else "gzip or nothing"
    if got != (want or case.encoding):
        return "encoding is %s, should be %s" % (got, want or case.encoding)
    if want and ("content-length" in values or values.get("transfer-encoding") != "chunked"):
        return "framing: %s" % fields
    if want and "accept-encoding" not in values.get("vary", "").lower():
        return "vary: %s" % fields
    etags = [("W/" + e if want and e.startswith('"') else e) for e in case.etags]
    if [v for n, v in fields if n == "etag"] != etags:
        return "etag: %s" % fields
    try:
        body = reader.body(head[1], True)
    except (OSError, EOFError, ValueError) as e:
        return "" if case.ends_early else "%s: %s" % (type(e).__name__, e)
    if case.ends_early:
        return "an answer that was cut looks whole"
    if want:
        z = zlib.decompressobj(WINDOWS[want][0])
        body = z.decompress(body)
        if not z.eof or z.unused_data:
            return "what is compressed does not end where it should"
    return "" if body == case.body else "%d other bytes" % len(body)


def generated(tap, args, level):
    chance = random.Random(args.seed + level)
    scene = Scene(args.program, level)
    wrong, done = [], 0
    with scene.proxy:
        for _ in range(args.count):
            case = Case(chance)
            text = scene.run(case)
            done += 1
            if text:
                wrong.append("%s: %s" % (case, text))
        tap.ok(not wrong, "level %d: %d answers" % (level, done), "\n".join(wrong[:10]))
        tap.ok(lib.until(lambda: scene.proxy.info()["CurrConns"] == "0"), "level %d: nothing stays" % level)
    scene.server.close()


def together(tap, args):
    """Many streams at once: states that threads keep are not mixed up."""
    scene = Scene(args.program, 1)
    body = bytes(random.Random(5).getrandbits(7) for _ in range(50000))
    scene.case = Case(random.Random(1))
    for name, value in (("status", 200), ("type", "text/html"), ("etags", ()), ("control", None), ("encoding", None),
                        ("body", body), ("cuts", [100, 20000]), ("ends_early", False), ("chunked", False)):
        setattr(scene.case, name, value)
    wrong = []

    def client(n):
        for i in range(5):
            sock = lib.connect(scene.port)
            algorithm = ("gzip", "deflate")[(n + i) % 2]
            sock.sendall(b"GET /all HTTP/1.1\r\nhost: x\r\naccept-encoding: %s\r\n\r\n" % algorithm.encode())
            reader = lib.Reader(sock)
            try:
                head = reader.head()
                if zlib.decompress(reader.body(head[1], True), WINDOWS[algorithm][0]) != body:
                    wrong.append("other bytes")
            except (OSError, EOFError, ValueError, zlib.error) as e:
                wrong.append(str(e))
            sock.close()

    with scene.proxy:
        threads = [threading.Thread(target=client, args=(n,)) for n in range(20)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        tap.ok(not wrong, "100 at once", "\n".join(wrong[:10]))
        row = scene.proxy.stats()["be-all", "BACKEND"]
        tap.eq((row["comp_in"], row["comp_rsp"]), (str(100 * len(body)), "100"), "all are counted")
    scene.server.close()


class LargeCase(Case):
    """Some are large, some are slow, some have fields of which the filter must keep off."""
    sizes = Case.sizes + (1 << 20, 5 << 20)

    def __init__(self, chance):
        super().__init__(chance)
        self.pause = 0.02 if self.cuts and chance.random() < 0.1 else 0
        self.client_leaves = False
        if chance.random() < 0.2:
            self.accept = chance.choice(("gzip;q=0.001", "GZIP", " gzip ,deflate", "gzip;q=1;x=2", "gzip;x=1;q=0", "deflate;q=0.5,gzip;q=0.5",
                                         "identity;q=1, gzip;q=0.5", "*;q=0", "gzip, *;q=0", "x-gzip", "gzip;q=2", "gzip;q=", ",", "gzip gzip",
                                         "gzip x;q=0", "x gzip", "deflate gzip, gzip;q=0.5"))
        if chance.random() < 0.1:
            self.control = chance.choice(("NO-TRANSFORM", "no-transform=1", '"no-transform"', "x=no-transform", "no-transform, max-age=1"))
        if chance.random() < 0.1:
            self.encoding = chance.choice(("identity", "gzip", ""))
        if chance.random() < 0.1:
            self.status = chance.choice((204, 205, 299, 301, 304, 400, 503))


def treated(scene, case):
    """What a client is given: the head's part that matters, the body, how it ends."""
    scene.case = case
    sock = lib.connect(scene.port)
    try:
        accept = "accept-encoding: %s\r\n" % case.accept if case.accept else ""
        sock.sendall(("GET %s HTTP/1.1\r\nhost: x\r\n%s\r\n" % (case.path, accept)).encode())
        reader = lib.Reader(sock)
        head = reader.head()
        if not head:
            return None
        names = ("content-type", "etag", "vary", "cache-control", "content-encoding", "content-length", "transfer-encoding")
        fields = sorted((n, v) for n, v in head[1] if n in names)
        raw, end = b"", "whole"
        try:
            if int(head[0].split()[1]) not in (204, 304):
                raw = reader.body(head[1], True)
        except (OSError, EOFError, ValueError):
            end = "cut"
        return head[0], fields, plain_of(dict(fields).get("content-encoding"), raw, case), end
    finally:
        sock.close()


def plain_of(encoding, raw, case):
    if encoding == case.encoding or encoding not in WINDOWS or not raw:
        return raw
    for window in WINDOWS[encoding] + (15,):
        try:
            return zlib.decompress(raw, window)
        except zlib.error:
            pass
    return b"cannot be decompressed: " + raw[:50]


def without_chance(got, case):
    """Answers in chunks are measured by what has come of them when their head is looked at; of those that break off, who knows what came."""
    if not got or not (case.chunked and case.path == "/gzip" and len(case.body) < 100) and not case.ends_early:
        return got
    return got[0], got[3]


def has_no_say(case):
    """Of a quality that ends the field, the reference sees digits behind it now and then, and none the next time: gzip;q=0.0 is then
    good, and the second of two equal ones the better one. There is nothing to compare with."""
    return bool(case.accept) and case.accept.endswith(("gzip;q=0.0", "deflate;q=0.5,gzip;q=0.5"))


def beside(tap, args):
    if lib.is_reference(args.program) or not os.access(args.reference, os.X_OK):
        tap.apart("reference", "beside the reference")
        return
    ours, theirs = Scene(args.program, 1), Scene(args.reference, 1)
    wrong = []
    with ours.proxy, theirs.proxy:
        for n in range(args.beside):
            case = LargeCase(random.Random("%d %d" % (args.seed, n)))
            if has_no_say(case):
                continue
            a, b = without_chance(treated(ours, case), case), without_chance(treated(theirs, case), case)
            if a != b:
                wrong.append("%d: %s\n ours   %.300r\n theirs %.300r" % (n, case, a, b))
        tap.ok(not wrong, "%d answers are treated as the reference treats them" % args.beside, "%d others\n%s" % (len(wrong), "\n".join(wrong[:20])))
    for scene in ours, theirs:
        scene.server.close()


def served(program):
    """A text, a server that has it, a port for each algorithm that is built in, and the configuration of these."""
    text = b"".join(b"some text, again and again %d\n" % n for n in range(3000))
    built = subprocess.run([program, "-vv"], capture_output=True, text=True).stdout
    names = [n for n in ("gzip", "deflate", "raw-deflate", "br", "zstd") if '%s("' % n in built]
    server = lib.Server(lambda s: lib.Reader(s).head() and s.sendall(b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: %d\r\n\r\n" % len(text) + text))
    at = dict(zip(names, lib.ports(len(names))))
    conf = "defaults\n\tmode http\n\ttimeout connect 5s\n\ttimeout client 10s\n\ttimeout server 10s\n" + "".join(
        "listen l-%s\n\tbind 127.0.0.1:%d\n\tcompression algo %s\n\tcompression type text/\n\tserver s 127.0.0.1:%d\n" % (n, port, n, server.port)
        for n, port in at.items())
    return text, server, at, conf


def readers(tap, args):
    """What clients of the world make of it: curl, and Node, with each coding that they and this program know."""
    text, server, at, conf = served(args.program)
    script = """const [,, port, coding] = process.argv;
fetch("http://127.0.0.1:" + port, {headers: {"accept-encoding": coding}}).then(async r =>
  process.stdout.write((r.headers.get("content-encoding") ? "" : "plain: ") + await r.text()))"""
    with lib.Proxy(args.program, conf):
        for name, port in at.items():
            coding = name.replace("raw-", "")
            for tool, command, features in (
                    ("curl", ["curl", "-sS", "--compressed", "-w", "%{stderr}%{size_download}", "-H", "Accept-Encoding: " + coding, "http://127.0.0.1:%d/" % port], ["curl", "-V"]),
                    ("node", ["node", "-e", script, "x", str(port), coding], None)):
                has = shutil.which(tool) and (not features or coding not in ("br", "zstd") or
                                              {"br": "brotli"}.get(coding, coding) in subprocess.run(features, capture_output=True, text=True).stdout)
                if not has and tool == "node":
                    tap.apart("others", "%s reads %s" % (tool, name))
                    continue
                if not has or (tool == "node" and coding == "zstd"): # (a recent one knows it)
                    tap.apart("others", "%s reads %s" % (tool, name))
                    continue
                p = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL)
                small = tool != "curl" or (p.stderr.isdigit() and int(p.stderr) < len(text) // 2)
                tap.ok(p.stdout == text and small, "%s reads %s" % (tool, name), (p.returncode, len(p.stdout), p.stdout[:60], p.stderr[-200:]))
    server.close()


def main():
    args = lib.arguments(__doc__, ("count", 300, "answers"), ("seed", 1, "of the generator"), ("beside", 60, "answers"),
                         ("reference", lib.REFERENCE, "program"))
    tap = lib.Tap()
    built = "feature(ZLIB) || feature(SLZ)"
    if subprocess.run([args.program, "-cc", built], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
        tap.skip("compression", "not built in")
        tap.done()
        return
    generated(tap, args, 1)
    generated(tap, args, 6)
    together(tap, args)
    beside(tap, args)
    tap.attempt("readers", readers, tap, args)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
