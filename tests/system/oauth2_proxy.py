#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""oauth2-proxy behind `forward-auth`, as doc/configuration/forward-auth.md has it: users with a password or a session are let in and named,
others get its form or its redirection, forged names and sessions do nothing. An extension. Skipped where it is not installed:
scripts/install-deps agents."""
import base64
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import urllib.parse

import lib

TOOL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../build/tools/bin/oauth2-proxy")
CONF = """
defaults
	mode http
	timeout connect 2s
	timeout client 20s
	timeout server 20s
frontend www
	bind 127.0.0.1:{port}
	acl oauth path_beg /oauth2/
	http-request forward-auth oauth path / copy X-Auth-Request-User,X-Auth-Request-Email if !oauth
	use_backend oauth if oauth
	default_backend app
backend oauth
	server a 127.0.0.1:{oauth}
backend app
	server s 127.0.0.1:{app}
"""


class Scene:
    def __init__(self, args, program):
        self.folder, self.reached = tempfile.mkdtemp(prefix="oauth."), []
        self.oauth, self.port = lib.ports(2)
        digest = base64.b64encode(hashlib.sha1(b"secret").digest()).decode()
        with open(self.folder + "/users", "w") as f:
            f.write("ann:{SHA}%s\n" % digest)
        self.program = [program, "--http-address=127.0.0.1:%d" % self.oauth, "--reverse-proxy", "--set-xauthrequest", "--upstream=static://202",
                        "--provider=github", "--client-id=i", "--client-secret=s", "--cookie-secret=" + "0123456789abcdef" * 2, "--cookie-secure=false",
                        "--email-domain=*", "--htpasswd-file=" + self.folder + "/users"]
        self.start()
        self.app = lib.Server(self.serve)
        self.proxy = lib.Proxy(args.program, CONF.format(port=self.port, oauth=self.oauth, app=self.app.port))

    def start(self):
        with open(self.folder + "/log", "ab") as log:
            self.process = subprocess.Popen(self.program, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        lib.until(lambda: self.process.poll() is not None or lib.accepts(self.oauth))

    def serve(self, sock):
        r = lib.Reader(sock)
        while True:
            head = r.head()
            if not head:
                return
            r.body(head[1])
            self.reached.append(head)
            sock.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\napp")

    def ask(self, path="/page", fields=(), method="GET", body=b""):
        """The status, the fields and the body; what has reached the application."""
        del self.reached[:]
        with lib.connect(self.port) as s:
            s.sendall(("%s %s HTTP/1.1\r\nHost: www.example\r\n%scontent-length: %d\r\n\r\n" % (
                method, path, "".join(f + "\r\n" for f in fields), len(body))).encode() + body)
            got = lib.Reader(s).response(method)
        return got, list(self.reached)

    def close(self):
        lib.end(self.process)
        self.app.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def basic(password):
    return "Authorization: Basic " + base64.b64encode(b"ann:" + password).decode()


def names(reached):
    return [value for name, value in reached[0][1] if name == "x-auth-request-user"] if reached else None


def run(tap, x):
    got, reached = x.ask()
    tap.ok(got[0] == 403 and b"<form" in got[2] and not reached, "nobody: its form", got[:2])
    got, reached = x.ask(fields=[basic(b"secret"), "X-Auth-Request-User: root", "X-Auth-Request-User: admin"])
    tap.eq((got[0], got[2], names(reached)), (200, b"app", ["ann"]), "a password: let in and named, whatever the client says")
    for what, fields in (("a wrong password", [basic(b"wrong")]), ("a forged session", ["Cookie: _oauth2_proxy=YW5u|1|x"]),
                         ("a forged name", ["X-Auth-Request-User: ann"]), ("forged addresses", ["X-Forwarded-Uri: /oauth2/sign_in", "X-Forwarded-For: 127.0.0.1"])):
        got, reached = x.ask(fields=fields)
        tap.ok(got[0] in (401, 403) and not reached, what + " is refused", got[:2])
    got, _ = x.ask("/oauth2/start?rd=%2Fpage")
    location = dict(got[1]).get("location", "")
    query = urllib.parse.parse_qs(urllib.parse.urlsplit(location).query)
    tap.ok(got[0] == 302 and location.startswith("https://github.com/login/oauth/authorize?") and query["redirect_uri"] == ["http://www.example/oauth2/callback"],
           "it redirects to the provider, and back to the host that was asked", got[:2])
    got, _ = x.ask("/oauth2/sign_in", ["Content-Type: application/x-www-form-urlencoded"], "POST", b"username=ann&password=secret&rd=%2Fpage")
    cookie = re.match("[^;]*", dict(got[1]).get("set-cookie", "")).group()
    tap.ok(got[0] == 302 and "=" in cookie, "a login at its form", got[:2])
    session = ["Cookie: " + cookie]
    got, reached = x.ask(fields=session)
    tap.eq((got[0], names(reached)), (200, ["ann"]), "its session")
    got, reached = x.ask(fields=[session[0][:-8] + "AAAAAAAA"])
    tap.ok(got[0] == 403 and not reached, "a session that was changed", got[:2])
    lib.end(x.process)
    got, reached = x.ask(fields=session)
    tap.ok(got[0] == 503 and not reached, "it is dead: nobody is let in", got[:2])
    x.start()
    tap.ok(lib.until(lambda: x.ask(fields=session)[0][0] == 200), "it is back")


def main():
    args = lib.arguments(__doc__)
    tap = lib.Tap()
    program = TOOL if os.access(TOOL, os.X_OK) else shutil.which("oauth2-proxy")
    if lib.is_reference(args.program):
        tap.skip("oauth2-proxy", "the reference has no forward-auth")
        tap.done()
    if not program:
        tap.apart("others", "oauth2-proxy")
        tap.done()
    x = Scene(args, program)
    try:
        with x.proxy:
            tap.run((run,), x)
    finally:
        x.close()
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
