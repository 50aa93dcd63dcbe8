#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What goes with a release: the tarball (the same bytes each time), the list of what the program is made of (CycloneDX), the manual
pages, the dashboard for Grafana against what the exporter prints, the files of the Debian package. `make check-deb` installs that."""
import glob
import hashlib
import json
import os
import re
import shutil
import subprocess
import tarfile
import tempfile
import urllib.request

import lib

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
DEBIAN = TOP + "/admin/debian"
EXPORTER = """
defaults
	mode http
	timeout connect 5s
	timeout client 5s
	timeout server 5s
frontend fe
	bind 127.0.0.1:%d
	http-request use-service prometheus-exporter if { path /metrics }
	default_backend be
backend be
	server s 127.0.0.1:%d check
listen app
	bind 127.0.0.1:%d
	http-request return status 200
"""


def run(*command, **more):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=TOP, **more)


def test_dist(tap, args):
    if run("git", "rev-parse", "--verify", "-q", "HEAD").returncode:
        tap.skip("make dist", "no clone of git")
        return
    with tempfile.TemporaryDirectory() as d:
        made = []
        for name, zone in (("a", "UTC"), ("b", "Asia/Tokyo")):
            os.umask(0o077 if name == "b" else 0o022)
            done = run("scripts/make-dist", "9.9", d + "/" + name, env=dict(os.environ, TZ=zone, LC_ALL="C"))
            os.umask(0o022)
            with open(d + "/" + name + "/haproxy-9.9.tar.gz", "rb") as f:
                made.append(f.read())
        tap.ok(done.returncode == 0 and hashlib.sha256(made[0]).hexdigest().encode() in done.stdout, "its sum is told", done.stdout)
        tap.ok(made[0] == made[1], "the same commit gives the same bytes")
        with tarfile.open(d + "/a/haproxy-9.9.tar.gz") as t:
            names = t.getnames()
            files = [m.name for m in t.getmembers() if m.isfile()]
            date = t.extractfile("haproxy-9.9/VERDATE").read().decode()
            owners = {(m.uid, m.gid, m.mtime) for m in t.getmembers()}
    tap.ok(re.fullmatch(r"\d{4}/\d\d/\d\d", date), "the date of the commit goes with it", date)
    tap.ok(all(n == "haproxy-9.9" or n.startswith("haproxy-9.9/") for n in names) and "haproxy-9.9/Makefile" in names, "all is in one folder")
    tap.eq([n for n in files if "/build/" in n or n.endswith((".o", "/haproxy"))], [], "nothing that was built")
    tap.eq(len(owners), 1, "one owner, one time")


ENGINE = """#!/bin/sh
for word; do last=$word; done
echo "$@" >"$OUT/words"
ls -A "$last" >"$OUT/names"
"""


def test_image(tap, args):
    """What an engine is asked for; tests/system/container.py goes through the recipe's steps."""
    if run("git", "rev-parse", "--verify", "-q", "HEAD").returncode:
        tap.skip("make image", "no clone of git")
        return
    with tempfile.TemporaryDirectory() as d:
        with open(d + "/docker", "w") as f:
            f.write(ENGINE)
        os.chmod(d + "/docker", 0o755)
        done = run("scripts/make-image", "9.9", env=dict(os.environ, PATH=d + ":" + os.environ["PATH"], OUT=d))
        with open(d + "/words") as f:
            words = f.read().split()
        with open(d + "/names") as f:
            names = f.read().split()
    tap.ok(done.returncode == 0 and words[0] == "build" and words[words.index("-t") + 1] == "haproxy:9.9", "an engine is asked for an image", done.stdout)
    tap.ok(os.path.exists(os.path.join(TOP, words[words.index("-f") + 1])), "by the recipe of the tree that was packed")
    tap.ok("VERDATE" in names and ".git" not in names and "build" not in names, "and is given what is committed", names)
    shutil.rmtree(TOP + "/build/image")


def test_sbom(tap, args):
    with open(args.program, "rb") as f:
        program = f.read()
    if program[:4] != b"\x7fELF":
        tap.skip("make-sbom", "the program is a script that starts another")
        return
    done = run("scripts/make-sbom", args.program)
    if not tap.eq(done.returncode, 0, "make-sbom"):
        return
    bom = json.loads(done.stdout)
    own = bom["metadata"]["component"]
    tap.eq((bom["bomFormat"], bom["specVersion"], own["name"]), ("CycloneDX", "1.5", "haproxy"), "a list in CycloneDX 1.5")
    tap.eq(own["hashes"][0]["content"], hashlib.sha256(program).hexdigest(), "of this very program")
    refs = {c["bom-ref"] for c in bom["components"]} | {own["bom-ref"]}
    tap.ok({d["ref"] for d in bom["dependencies"]} == refs and all(x in refs for d in bom["dependencies"] for x in d["dependsOn"]),
           "what depends on what is all in it", refs)
    asked = [r for r in refs if re.search(r"libpcre2-8\.so", r)]
    tap.ok(asked and asked[0] in bom["dependencies"][0]["dependsOn"], "PCRE2 among it", bom["dependencies"][0])
    tap.ok(run("scripts/make-sbom", args.program).stdout == done.stdout, "twice the same")
    validator = TOP + "/build/tools/python/bin/python3"
    code = ("import sys; from cyclonedx.validation.json import JsonStrictValidator as V; from cyclonedx.schema import SchemaVersion as S; "
            "e = V(S.V1_5).validate_str(sys.stdin.read()); sys.exit(e is not None)")
    if os.path.exists(validator) and run(validator, "-c", "import cyclonedx").returncode == 0:
        tap.eq(run(validator, "-c", code, input=done.stdout).returncode, 0, "valid by its schema")
    else:
        tap.skip("valid by its schema", "no cyclonedx-python-lib (pip)")


def test_manual_pages(tap, args):
    names = ["haproxy", "halog", "haterm", "haload"]
    tap.eq(sorted(os.path.basename(p) for p in glob.glob(TOP + "/doc/*.1")), sorted(n + ".1" for n in names), "a manual page for each program")
    with open(TOP + "/doc/halog.1") as f:
        page = re.sub(r"\\f.", "", f.read().replace("\\-", "-"))
    halog = os.path.join(os.path.dirname(args.program), "halog")
    if not os.access(halog, os.X_OK):
        tap.skip("options of halog", "it is not beside the program")
        return
    text = run(halog, "-h").stdout.decode()
    options = set(re.findall(r"(?<![\w<])(-[a-zA-Z]+)(?=[ ,])", text.split("Filters:")[1]))
    tap.ok(len(options) > 30, "halog -h lists options", options)
    tap.eq([o for o in sorted(options) if not re.search(r"(?<![\w-])%s(?![\w])" % re.escape(o), page)], [], "and its page has them all")


def test_dashboard(tap, args):
    with tempfile.TemporaryDirectory() as d:
        with open(TOP + "/admin/grafana/make-dashboard") as f, open(d + "/make-dashboard", "w") as to:
            to.write(f.read())
        run("python3", d + "/make-dashboard")
        with open(d + "/haproxy.json") as a, open(TOP + "/admin/grafana/haproxy.json") as b:
            made, kept = a.read(), b.read()
    tap.ok(made == kept, "the dashboard is what admin/grafana/make-dashboard writes")
    board = json.loads(kept)
    queries = [(p["title"], t["expr"]) for p in board["panels"] for t in p.get("targets", [])]
    queries += [(v["name"], v["query"]) for v in board["templating"]["list"] if v["type"] == "query"]
    tap.ok(len(queries) > 40, "it asks much", len(queries))
    ports = lib.ports(2)
    with lib.Proxy(args.program, EXPORTER % (ports[0], ports[1], ports[1])):
        for _ in range(3):
            urllib.request.urlopen("http://127.0.0.1:%d/x" % ports[0]).read()
        text = urllib.request.urlopen("http://127.0.0.1:%d/metrics?histograms" % ports[0]).read().decode()
    series = {}
    for name, labels in re.findall(r"^(haproxy_\w+)(?:\{(.*)\})? \S+$", text, re.M):
        series.setdefault(name, set()).update(re.findall(r'(\w+)="', labels))
    unknown, labels = [], []
    for title, query in queries:
        for name, match in re.findall(r"(haproxy_\w+)(?:\{([^}]*)\})?", query):
            if name not in series:
                unknown.append((title, name))
                continue
            # job and instance come with the scrape
            wanted = set(re.findall(r"(\w+)[=!]", match)) | set(re.findall(r"\b(proxy|server|code|state|le)\b(?=[,)])", query.split("haproxy_")[0]))
            labels += [(title, name, x) for x in wanted - {"job", "instance"} - series[name]]
    tap.eq(unknown, [], "each metric is one of the exporter")
    tap.eq(labels, [], "and has the labels that it is asked by")
    boxes = [(p["gridPos"]["x"], p["gridPos"]["y"], p["gridPos"]["w"], p["gridPos"]["h"]) for p in board["panels"]]
    clash = [(a, b) for i, a in enumerate(boxes) for b in boxes[:i]
             if a[0] < b[0] + b[2] and b[0] < a[0] + a[2] and a[1] < b[1] + b[3] and b[1] < a[1] + a[3]]
    tap.ok(not clash and all(b[0] + b[2] <= 24 for b in boxes), "no panel lies on another", clash)


def test_package(tap, args):
    with tempfile.TemporaryDirectory() as d:
        with open(DEBIAN + "/haproxy.cfg") as f:
            text = f.read()
        own = re.sub(r"(?m)^\s*(user|group|chroot|daemon)\b.*\n", "", text.replace("/etc/haproxy/errors", DEBIAN + "/errors"))
        own = own.replace("/run/haproxy/admin.sock", d + "/admin.sock")
        with open(d + "/cfg", "w") as f:
            f.write(own)
        done = run(args.program, "-c", "-f", d + "/cfg")
        # 3.4 says 2 for a file without frontends, or 0
        tap.ok(done.returncode in (0, 2) and b"ALERT" not in done.stdout and b"WARNING" not in done.stdout,
               "the configuration of the package is valid, without a warning", done.stdout)
        numbers = sorted(int(os.path.basename(p)[:3]) for p in glob.glob(DEBIAN + "/errors/*.http"))
        tap.eq(numbers, [400, 403, 408, 500, 502, 503, 504], "it brings the error pages that Debian's has")
        tap.eq(sorted(int(n) for n in re.findall(r"errorfile (\d+) /etc/haproxy/errors/\1.http", text)), numbers, "which it names")
        port = lib.ports(1)[0]
        rules = "".join("\thttp-request deny deny_status %d if { path /%d }\n" % (n, n) for n in numbers)
        with lib.Proxy(args.program, "defaults\n\tmode http\n\ttimeout client 5s\nfrontend fe\n\tbind 127.0.0.1:%d\n%s" % (port, rules)):
            wrong = []
            for n in numbers:
                with lib.connect(port) as s:
                    s.sendall(b"GET /%d HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n" % n)
                    got = lib.Reader(s).response()
                with open(DEBIAN + "/errors/%d.http" % n, "rb") as f:
                    page = f.read()
                if got[0] != n or page.split(b"\r\n\r\n", 1)[1] != got[2]:
                    wrong.append(n)
        tap.eq(wrong, [], "they are the pages of the program")
    with open(TOP + "/admin/systemd/haproxy.service.in") as f:
        unit = f.read()
    with open(DEBIAN + "/rules") as f:
        rules = f.read()
    tap.ok("-S /run/haproxy/master.sock" in unit and re.search(r"(?m)^Environment=CONFIG=", unit),
           "the unit has what the package puts something else in the place of")
    tap.eq([p for p in re.findall(r"(admin/[\w./]+\w|doc/[\w.]+\.md)", rules) if not os.path.exists(TOP + "/" + p)], [], "files of the rules are there")


def main():
    args = lib.arguments(__doc__)
    tap = lib.Tap()
    if lib.is_reference(args.program):
        tap.skip("what goes with a release", "it is not for the reference")
    else:
        tap.run((test_dist, test_image, test_sbom, test_manual_pages, test_dashboard, test_package), args)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
