#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`http-request call` and `on-state-change`: what is delivered, what is tried again, given up, dropped. An extension."""
import json
import threading
import time

import lib

CONF = """
defaults
	mode http
	timeout connect 1s
	timeout client 10s
	timeout server 3s
frontend fe
	bind 127.0.0.1:%(port)d
	http-request call http://127.0.0.1:%(hook)d/plain if { path /plain }
	http-request call http://127.0.0.1:%(hook)d/made?p=%%[path,url_enc] method PUT body "%%[method] %%[path]" hdr X-Key "%%[req.hdr(x-key)]" if { path_beg /made }
	http-request call http://127.0.0.1:%(hook)d/field hdr X-Made %%[url_param(x),url_dec] hdr X-Bytes %%[url_param(b),b64dec] if { path /field }
	http-request call http://127.0.0.1:%(hook)d/url/%%[url_param(x),url_dec] if { path /url }
	http-response call http://127.0.0.1:%(hook)d/answer hdr X-Status %%[status] if { status 204 }
	http-request return status 200 unless { path /be }
	default_backend be
backend be
	on-state-change http://127.0.0.1:%(hook)d/change hdr X-Token secret
	http-response set-status 204
	server s1 127.0.0.1:%(app)d
	server s2 127.0.0.1:%(app)d
"""


class Hook:
    """Keeps what it is told; <how> says what it answers."""

    def __init__(self):
        self.seen, self.how, self.lock = [], [], threading.Lock()
        self.hold = threading.Event()
        self.hold.set()
        self.server = lib.Server(self.serve)
        self.port = self.server.port

    def serve(self, sock):
        r = lib.Reader(sock)
        while True:
            head = r.head()
            if not head:
                return
            body = r.body(head[1])
            with self.lock:
                self.seen.append((head[0], dict(head[1]), body))
                how = self.how.pop(0) if self.how else b"200 OK"
            self.hold.wait(lib.PATIENCE)
            if how == b"close":
                return
            sock.sendall(b"HTTP/1.1 %s\r\ncontent-length: 0\r\n\r\n" % how)


class Scene:
    def __init__(self, args, head="\tnbthread 1\n"):
        self.hook, self.app, self.port = Hook(), lib.Server(lib.echo_handler), lib.ports(1)[0]
        self.proxy = lib.Proxy(args.program, head + CONF % {"port": self.port, "hook": self.hook.port, "app": self.app.port})

    def ask(self, path, fields=b""):
        with lib.connect(self.port) as sock:
            sock.sendall(b"GET %s HTTP/1.1\r\nHost: h\r\n%s\r\n" % (path, fields))
            return lib.Reader(sock).response()[0]

    def told(self, count):
        lib.until(lambda: len(self.hook.seen) >= count)
        return self.hook.seen

    def figures(self):
        return dict(line.split(": ") for line in self.proxy.ctl("show calls").strip().split("\n"))

    def rest(self):
        lib.until(lambda: self.figures()["waiting"] == "0", 3 * lib.PATIENCE)
        return {k: int(v) for k, v in self.figures().items() if v != "0"}

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.hook.hold.set()
        self.proxy.__exit__(*exc)
        self.hook.server.close()
        self.app.close()


def rules(tap, args):
    with Scene(args) as sc:
        tap.eq(sc.ask(b"/plain"), 200, "the client has its answer")
        line, fields, body = sc.told(1)[0]
        tap.eq((line, body), ("GET /plain HTTP/1.1", b""), "a call without a body is a GET")
        sc.ask(b"/made/x?y", b"X-Key: k1\r\n")
        line, fields, body = sc.told(2)[1]
        tap.eq((line, body, fields.get("x-key")), ("PUT /made?p=%2Fmade%2Fx HTTP/1.1", b"GET /made/x", "k1"),
               "URL, method, body and fields are made of the request")
        sc.ask(b"/be")
        tap.eq(sc.told(3)[2][1].get("x-status"), "204", "an answer can cause one too")
        tap.eq(sc.rest(), {"made": 3, "delivered": 3, "tries": 3}, "three were delivered")
        sc.ask(b"/field?x=a%0d%0aEvil:%201&b=AGV2aWwAMQ==")
        line, fields, body = sc.told(4)[3]
        tap.eq((fields.get("x-made"), "evil" in fields), ("a%0D%0AEvil: 1", False), "bytes of a client add no field")
        sc.ask(b"/url?x=a%20HTTP/1.1%0d%0aEvil:%201")
        sc.ask(b"/url?x=good")
        line, fields, body = sc.told(5)[4]
        tap.eq((line, "evil" in fields), ("GET /url/good HTTP/1.1", False), "nor a line; what is no URL is not called")
        tap.eq(sc.rest(), {"made": 6, "delivered": 5, "tries": 6, "refused": 1}, "nor kept")


def changes(tap, args):
    with Scene(args) as sc:
        sc.proxy.ctl("set server be/s1 state maint; set server be/s2 state maint; set server be/s1 state ready")
        texts = []
        for line, fields, body in sc.told(4):
            told = json.loads(body)
            texts.append((told["level"], told["proxy"], told["text"].split(".")[0]))
            tap.ok(line == "POST /change HTTP/1.1" and fields["content-type"] == "application/json" and
                   fields["x-token"] == "secret" and told["host"] and told["time"].endswith("Z"), "a change: %s" % told["text"][:40])
        tap.eq(sorted(texts), [("alert", "be", "Server be/s1 is going DOWN for maintenance"),
                               ("alert", "be", "Server be/s2 is going DOWN for maintenance"),
                               ("emerg", "be", "backend 'be' has no server available!"),
                               ("notice", "be", "Server be/s1 is UP/READY (leaving forced maintenance)")], "these were told")


def troubles(tap, args):
    with Scene(args) as sc:
        sc.hook.how = [b"503 No", b"close", b"429 Wait"]
        sc.ask(b"/plain")
        tap.eq(len(sc.told(4)), 4, "what fails is tried again")
        tap.eq(sc.rest(), {"made": 1, "delivered": 1, "tries": 3}, "until it is delivered; a connection that closes without an answer is asked again within a try")
        sc.hook.how = [b"404 No"]
        sc.ask(b"/plain")
        tap.eq(sc.rest(), {"made": 2, "delivered": 1, "tries": 4, "refused": 1}, "a 404 is final")
    with Scene(args) as sc:
        sc.hook.hold.clear()
        sc.told(0)
        with lib.connect(sc.port) as sock:
            r = lib.Reader(sock)
            for _ in range(1100):
                sock.sendall(b"GET /plain HTTP/1.1\r\nHost: h\r\n\r\n")
                r.response()
        got = sc.figures()
        tap.eq((got["made"], got["dropped"], got["waiting"]), ("1100", "100", "1000"), "1,000 are kept, the oldest that waits leaves")
        sc.hook.hold.set()
        tap.eq(sc.rest(), {"made": 1100, "dropped": 100, "delivered": 1000, "tries": 1000}, "the others are delivered")
    with Scene(args) as sc:
        sc.hook.server.close()
        sc.ask(b"/plain")
        tap.eq(sc.ask(b"/x"), 200, "nobody waits for a hook that is not there")


def wrong(tap, args):
    import subprocess
    for line, word in (("on-state-change nowhere", "nowhere"), ("on-state-change ftp://x/", "ftp://x/"), ("on-state-change", "on-state-change"),
                       ("on-state-change http://x/ hdr a", "hdr"), ("http-request call", "URL"), ("http-request call /x", "/x"),
                       ("http-request call http://x/ header a b", "header"), ("http-request call http://x/ body", "body")):
        r = subprocess.run([args.program, "-c", "-f", "/dev/stdin"], input=("backend b\n\tmode http\n\t%s\n" % line).encode(),
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        tap.ok(r.returncode == 1 and word in r.stdout.decode(), "%s: an error" % line, r.stdout.decode())


def main():
    args = lib.arguments(__doc__)
    tap = lib.Tap()
    if lib.is_reference(args.program):
        tap.skip("webhooks", "an extension")
        tap.done()
    for test in (rules, changes, troubles, wrong):
        tap.attempt(test.__name__, test, tap, args)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
