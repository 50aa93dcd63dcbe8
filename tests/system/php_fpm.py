#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""PHP-FPM behind a backend with `proto fcgi`: a front controller, path-info, forms, uploads, streaming, redirects, stderr.
Skipped where it is not installed; passes on the reference too."""
import glob
import hashlib
import json
import os
import shutil
import subprocess
import tempfile

import lib

CONF = """
	log 127.0.0.1:%(log)d local0
	nbthread 2
defaults
	mode http
	timeout connect 5s
	timeout client 30s
	timeout server 30s
frontend fe
	bind 127.0.0.1:%(port)d
	http-request set-path /index.php%%[path] if { path_beg /blog/ }
	default_backend php
backend php
	use-fcgi-app php
	server fpm unix@%(folder)s/fpm.sock proto fcgi
fcgi-app php
	docroot %(folder)s/www
	index index.php
	path-info ^(/.+\\.php)(/.*)?$
	log-stderr global
"""
FPM = """
[global]
error_log=%(folder)s/fpm.log
daemonize=no
[www]
%(user)s
listen=%(folder)s/fpm.sock
listen.mode=0666
pm=static
pm.max_children=6
php_admin_value[post_max_size]=200M
php_admin_flag[log_errors]=on
php_admin_flag[display_errors]=off
"""
SCRIPTS = {
    "index.php": """<?php header("X-Via: front"); $s=$_SERVER;
echo json_encode(["script"=>$s["SCRIPT_NAME"],"info"=>$s["PATH_INFO"]??null,"uri"=>$s["REQUEST_URI"],"method"=>$s["REQUEST_METHOD"],
"a"=>$s["HTTP_X_A"]??null,"proxy"=>$s["HTTP_PROXY"]??null,"get"=>$_GET,"post"=>$_POST,"cookie"=>$_COOKIE,"host"=>$s["HTTP_HOST"]]);""",
    "up.php": """<?php $c=hash_init("md5"); $n=0; $f=fopen("php://input","rb");
while(!feof($f)){$d=fread($f,65536);$n+=strlen($d);hash_update($c,$d);} echo $n." ".hash_final($c);""",
    "stream.php": """<?php for($i=0;$i<100;$i++){echo str_repeat("x",100000);flush();}""",
    "err.php": """<?php error_log("boom from php"); http_response_code(503); echo "err";""",
    "go.php": """<?php header("Location: /there"); setcookie("a","b"); setcookie("c","d");""",
}


class Fpm:
    def __init__(self, program):
        self.folder = tempfile.mkdtemp(prefix="hapt.")
        os.chmod(self.folder, 0o755)
        os.mkdir(self.folder + "/www")
        for name, text in SCRIPTS.items():
            with open(os.path.join(self.folder, "www", name), "w") as f:
                f.write(text)
        with open(self.folder + "/fpm.conf", "w") as f:
            f.write(FPM % {"folder": self.folder, "user": "user=nobody\ngroup=nogroup" if os.getuid() == 0 else ""})
        self.process = subprocess.Popen([program, "-n", "-y", self.folder + "/fpm.conf"], stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        lib.until(lambda: os.path.exists(self.folder + "/fpm.sock"))

    def close(self):
        lib.end(self.process)
        shutil.rmtree(self.folder, ignore_errors=True)


def ask(port, target, method="GET", fields=(), body=None):
    head = "%s %s HTTP/1.1\r\nHost: h.example\r\nConnection: close\r\n" % (method, target)
    head += "".join("%s: %s\r\n" % f for f in fields)
    if body is not None:
        head += "Content-Length: %d\r\n" % len(body)
    with lib.connect(port, 30) as sock:
        sock.sendall(head.encode() + b"\r\n" + (body or b""))
        r = lib.Reader(sock)
        line, got = r.head()[:2]
        return int(line.split()[1]), got, b"" if method == "HEAD" else r.body(got, True)


def run(tap, port, log):
    status, fields, text = ask(port, "/?a=1&b=2", fields=[("X-A", "1"), ("Proxy", "evil"), ("Cookie", "k=v")])
    said = json.loads(text)
    tap.eq((status, dict(fields).get("x-via"), "date" in dict(fields)), (200, "front", True), "the front controller answers")
    tap.eq((said["script"], said["get"], said["cookie"], said["a"], said["proxy"], said["host"]),
           ("/index.php", {"a": "1", "b": "2"}, {"k": "v"}, "1", None, "h.example"), "with what the request had, but no Proxy")
    said = json.loads(ask(port, "/index.php/some/path?x=y")[2])
    tap.eq((said["script"], said["info"], said["uri"]), ("/index.php", "/some/path", "/index.php/some/path?x=y"), "path-info")
    said = json.loads(ask(port, "/blog/2026/hello%20world/?x=y")[2])
    tap.eq((said["script"], said["info"], said["get"]), ("/index.php", "/blog/2026/hello world/", {"x": "y"}), "any path is the front controller's, by a rule")
    said = json.loads(ask(port, "/", "POST", [("Content-Type", "application/x-www-form-urlencoded")], b"p=1&q=%32")[2])
    tap.eq((said["method"], said["post"]), ("POST", {"p": "1", "q": "2"}), "a form")
    body = os.urandom(1 << 20) * 100
    kind = [("Content-Type", "application/octet-stream")]
    tap.eq(ask(port, "/up.php", "POST", kind, body)[2].decode(), "%d %s" % (len(body), hashlib.md5(body).hexdigest()),
           "an upload of 100 MB")
    tap.eq(len(ask(port, "/stream.php")[2]), 10000000, "an answer that streams")
    status, fields, text = ask(port, "/go.php")
    tap.eq((status, [v for n, v in fields if n == "set-cookie"]), (302, ["a=b", "c=d"]), "a redirection with two cookies")
    tap.eq(ask(port, "/err.php")[0], 503, "a status")
    tap.ok(lib.until(lambda: any("php" in x and "boom from php" in x for x in log.lines)), "what is written to stderr is logged", log.lines[-3:])
    tap.eq((ask(port, "/none.php")[0], ask(port, "/index.php", "HEAD")[2]), (404, b""), "no such script; HEAD")


def main():
    args = lib.arguments(__doc__)
    tap = lib.Tap()
    found = sorted(glob.glob("/usr/sbin/php-fpm*"))
    if not found:
        tap.apart("others", "PHP-FPM")
        tap.done()
    fpm, log, port = Fpm(found[-1]), lib.Syslog(), lib.ports(1)[0]
    try:
        with lib.Proxy(args.program, CONF % {"folder": fpm.folder, "log": log.port, "port": port}):
            run(tap, port, log)
    finally:
        fpm.close()
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
