#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What this program says and HAProxy 3.4 says, item by item: every option of the command line, every line of -vv, every word of
-dKall, every command that `help` lists, what `show info`, `show stat`, `show errors`, `show ssl *` and `show servers
state` have for fields, in their order, with their types and tags.

tables/side_by_side.txt has a row for each: same, other (as much in other words), better (with what is better), or differs
(with the name of a row of tests/differences.txt). The texts behind a command or a field are each program's own and do not
count; what tools read does. What else the tests hold of it: messages.py the commonest mistakes, figures.py the values of
figures, data_plane.py the answers to 300 commands, options.py what options do while the program runs.
Needs the reference.

    side_by_side.py --learn      writes the table anew: rows that are not "same" keep what they say, new ones say "?"
"""
# differs: conf-numbers
# differs: ctl-debug-dev
# differs: expr-declared-types
# differs: internal-htx
# differs: master-severity
# differs: opentracing
# differs: tls-crt-list-options
# differs: tls-ktls
# differs: tls-system-ca
# differs: words-not-there
import os
import re
import subprocess
import tempfile

import lib

HERE = os.path.dirname(os.path.abspath(__file__))
TABLE = os.path.join(HERE, "tables/side_by_side.txt")
VERDICTS = ("same", "other", "better", "differs")
CERTS = os.path.join(HERE, "../../reg-tests/tls/certs/")

# option: the words of a command line that shows what it does; the same words must give the same of both
CHECK = "-c -f ok.cfg"
OPTIONS = ["-v", "-vq", "-vqs", "-vqb", "-h", "--", "-c -- ok.cfg ok.cfg", "-c -f folder", "-c -f empty", "-c -f nothere.cfg",
           "-C folder -c -f a.cfg", "-C nothere -c -f a.cfg", "-c", "-c -V -f ok.cfg", "-c -q -f bad.cfg", "-q -V -c -f bad.cfg", "-c -f bad.cfg", "-c -f warned.cfg",
           "-dW -c -f warned.cfg", "-dD -c -f odd.cfg", "-cc version_atleast(3.4)", "-cc version_atleast(9.0)", "-cc true", "-cc feature(NOTHERE)", "-cc",
           "-dC -c -f ok.cfg", "-dC,line -c -f ok.cfg", "-dCkey -c -f ok.cfg", "-dCkey,line -c -f ok.cfg", "-dM -c -f ok.cfg", "-dM0x40 -c -f ok.cfg", "-dMhelp", "-dMno-merge,tag -c -f ok.cfg",
           "-dMnothere -c -f ok.cfg", "-dA -c -f ok.cfg", "-dKhelp", "-dKnothere -c -f ok.cfg", "-dt help", "-dt h1:error:clean -c -f ok.cfg", "-dt nothere -c -f ok.cfg",
           "-dt -c -f ok.cfg", "-L name -c -f ok.cfg", "-n 100 -c -f ok.cfg", "-n x -c -f ok.cfg", "-n", "-N 100 -c -f ok.cfg", "-N x -c -f ok.cfg",
           "-m 500 -c -f ok.cfg", "-m x -c -f ok.cfg", "-p x.pid -c -f ok.cfg", "-p", "-S x.sock -c -f ok.cfg", "-W -S x.sock,level,user -c -f ok.cfg",
           "-x nothere.sock -c -f ok.cfg", "-x", "-c -f ok.cfg -sf", "-c -f ok.cfg -sf 999999", "-c -f ok.cfg -st 999999 999998", "-sf x -c -f ok.cfg",
           "-dc -c -f ok.cfg", "-dL -c -f ok.cfg", "-zz", "-f", "-C", "-L", "-m", "-N", "-S", "-dr -c -f unresolved.cfg", "-c -f unresolved.cfg"]
OPTIONS += ["%s %s" % (word, CHECK) for word in "-d -db -dF -dG -dI -dR -dS -dT -dV -dZ -de -dk -dp -dv -D -W -Ws -4 -V -q".split()]
FILES = {"ok.cfg": "frontend f\n\tbind 127.0.0.1:8399\n\ttimeout client 1s\n", "folder/a.cfg": "defaults\n\ttimeout client 1s\n",
         "folder/b.cfg": "frontend f\n\tbind 127.0.0.1:8399\n", "empty/x": "", "bad.cfg": "frontend f\n\tbindd :1\n",
         "warned.cfg": "frontend f\n\tbind 127.0.0.1:8399\n", "odd.cfg": "frontend f\n\tbind 127.0.0.1:8399\n\ttimeout client 1s\nglobal\n\tmaxconn 10\n",
         "unresolved.cfg": "backend b\n\ttimeout server 1s\n\ttimeout connect 1s\n\tserver s 1.2.3.4.5:80\n"}

CONF = """	nbthread 2
	node here
defaults
	mode http
	timeout connect 1s
	timeout client 5s
	timeout server 5s
frontend fe
	bind 127.0.0.1:{port} name one
	bind 127.0.0.1:{tls} ssl crt {certs}a.pem ca-file {certs}ca.crt verify optional crt-list {dir}/list tls-ticket-keys {dir}/keys
	option socket-stats
	default_backend be
backend be
	balance roundrobin
	cookie S insert
	server s1 127.0.0.1:1 cookie one
	server s2 127.0.0.1:2 disabled
	server s3 127.0.0.1:3 id 7 ssl verify none
"""
# what is asked of both while they run; of those with {..} the answer is split into an item for each field
ASKED = ["show ssl cert", "show ssl cert {certs}a.pem", "show ssl cert nothere", "show ssl ca-file", "show ssl ca-file {certs}ca.crt", "show ssl ca-file nothere",
         "show ssl crl-file", "show ssl crl-file nothere", "show ssl crt-list", "show ssl crt-list {dir}/list", "show ssl crt-list -n {dir}/list", "show ssl crt-list nothere",
         "show ssl ocsp-response", "show ssl ocsp-response 00", "show ssl ocsp-updates", "show ssl providers", "show ssl sni", "show ssl sni -f fe", "show ssl sni -f nothere",
         "show ssl sni -A", "show ssl jwt", "show tls-keys", "show tls-keys {dir}/keys", "show tls-keys nothere", "show servers state", "show servers state be", "show servers state nothere",
         "show servers conn", "show servers conn be", "show errors", "show errors fe", "show errors fe request", "show errors -1 response", "show errors nothere", "show schema json"]


def said(program, folder, words):
    """(exit status, what it printed without what is the program's own: its name, version, numbers of processes)"""
    for name in ("x.sock", "x.pid"):
        if os.path.exists(os.path.join(folder, name)):
            os.remove(os.path.join(folder, name))
    try:
        p = subprocess.run([program] + words.split(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           cwd=folder, timeout=lib.PATIENCE, check=False)
    except subprocess.TimeoutExpired as e:
        return "it does not end", e.stdout
    text = p.stdout.decode("latin-1")
    if "Usage : " in text: # its words are our own
        text = "usage"
    text = re.sub(r"\[NOTICE\] +\(\d+\) : (haproxy version is|path to executable is) .*\n", "", text)
    text = re.sub(r"HAProxy version .*\n(Status: .*\n)?(Known bugs: .*\n)?", "HAProxy version\n", text)
    text = re.sub(r"(?m)^3\.4\.[\w.-]+$", "VERSION", text)
    text = re.sub(r"\(\d+\) : ", "() : ", text)
    text = re.sub(r".*(Error\(s\) found in|Fatal errors found in).*\n", "", text)
    text = re.sub(r"(List of loaded object files:\n)(?s:.*)", r"\1", text)
    text = re.sub(r"(?m)^( {2}\S.*|  *\^~*|\s*\^)\n", "", text) if re.search(r"\[(ALERT|WARNING|NOTICE)\]", text) else text # the line at fault, with a mark below it
    return p.returncode, text


def options(program, folder):
    return {"option " + words: said(program, folder, words) for words in OPTIONS}


def build(program):
    """Of -vv: the features, pollers, multiplexers and filters, one by one, and the names of the other lines with what
    is not about this very build."""
    text = subprocess.run([program, "-vv"], stdout=subprocess.PIPE, check=True).stdout.decode()
    found = {}
    for line in text.split("\n"):
        line = line.strip()
        m = re.match(r"Feature list : (.*)", line)
        if m:
            found.update(("-vv feature " + word[1:], word[0]) for word in m[1].split())
            continue
        m = re.match(r"(Built with|Running on) (.*?) version : (\d+|\S+ \d+)\.", line)
        if m:
            found["-vv %s %s version" % m.group(1, 2)] = "a number"
        elif re.match(r"(CC|CFLAGS|OPTIONS|TARGET|DEBUG)\b", line):
            found["-vv " + line.split(" ")[0]] = "a text"
        elif line.startswith("HAProxy version"):
            found["-vv HAProxy version"] = "3.4"
        elif re.match(r"(Built with gcc|Running on: |Status: |Known bugs: )", line):
            found["-vv " + re.match(r"Built with gcc compiler|Running on|\w+( \w+)*", line)[0]] = "a text"
        elif line.startswith("Available services"):
            found["-vv Available services"] = "a list"
        elif line:
            key, _, value = line.partition(" : ")
            value = re.sub(r" +", " ", value)
            if line.startswith("Built with multi-threading"):
                key, value = "Built with multi-threading", "MAX_TGROUPS, MAX_THREADS, default"
            key = "-vv " + re.sub(r" +", " ", key)
            found[key] = "; ".join(sorted(found[key].split("; ") + [value])) if key in found else value
    return found


def words(program, kind):
    """{word: what is said of it} of -dK<kind>, in configurations beside the words of the section."""
    text = subprocess.run([program, "-dK" + kind, "-c", "-f", os.devnull], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout.decode()
    found, section = {}, ""
    for line in text.rstrip().split("\n"):
        if line.startswith(("#", "Configuration file has no error")) or not line.strip():
            continue
        if kind == "cfg":
            if not line.startswith(("\t", " ")):
                section = line.strip()
                found.setdefault("-dKcfg section " + section, "")
                continue
            m = re.match(r"(.*?)((?: \+\d+)?(?: \[.*\])?)$", line.strip())
            found.setdefault("-dKcfg %s: %s" % (section, m[1]), m[2].strip())
        elif kind == "cli":
            m = re.match(r"(.*?) ((?:\[\w+\] ?)+)$", line)
            name = "-dKcli " + m[1].strip()
            found[name] = " ".join(sorted(set(found.get(name, "").split() + m[2].split())))
        else:
            m = re.match(r"(\[[ Y.]+\] )?([^\s(:]+)(.*)$", line)
            name = "-dK%s %s" % (kind, m[2])
            found[name] = (m[1] or "") + m[3].strip() if name not in found else found[name] + " | " + (m[1] or "") + m[3].strip()
    return found


class Side:
    """One of the programs while it runs."""

    def __init__(self, program, folder, ports):
        self.folder = folder
        self.proxy = lib.Proxy(program, CONF.format(port=ports[0], tls=ports[1], certs=CERTS, dir=folder), restless="here only answers count")
        with lib.connect(ports[0]) as s:
            s.sendall(b"GET /bad\x01 HTTP/1.1\r\nHost: x\r\n\r\n")
            lib.recv_all(s)
        lib.until(lambda: self.proxy.stats()["fe", "FRONTEND"]["scur"] == "0")

    def ask(self, command):
        text = self.proxy.ctl(command.format(certs=CERTS, dir=self.folder)).rstrip("\n")
        text = re.sub(r"\d\d/\w{3}/\d{4}:\d\d:\d\d:\d\d\.\d+", "DATE", text.replace(self.proxy.dir, "DIR"))
        text = re.sub(r"(src [\d.]+):\d+|(time_since\S* )\d+|(event #)\d+", r"\1\2\3N", text)
        if command.startswith("show errors"): # what a parser keeps for itself
            text = re.sub(r"(flags 0x)\w+|(wraps at )\d+|(msg state )\w+\(\d+\)", r"\1\2\3N", text)
        if command.startswith("show servers state"): # seconds since the start
            text = re.sub(r"(?m)^((?:\S+ ){9})\d+", r"\1N", text)
        if command == "show schema json":
            return "a schema" if text.startswith("{\"$schema\":") else text
        return text

    def help(self):
        """Each command that is listed, at the level of an administrator who is an expert."""
        text = self.proxy.ctl("expert-mode on; experimental-mode on; help")
        return {"help " + re.sub(r"\s*([\[<{#|(].*)?$", "", line[2:].split(":")[0].rstrip()): "listed" for line in text.split("\n") if line.startswith("  ")}

    def fields(self):
        """Of `show info` and `show stat`, in all their forms: each field by its number, with type and tags."""
        found = {}
        for line in self.proxy.ctl("show info typed").split("\n"):
            m = re.match(r"(\d+)\.([^.:]+)\.(\d+):(\w+):(\w+):", line)
            if m:
                found["show info " + m[2]] = m.group(1, 3, 4, 5)
        for line in self.proxy.ctl("show info").split("\n"):
            name, _, value = line.partition(":")
            if value:
                found["show info " + name] = found.get("show info " + name, ()) + (re.sub(r"[\d.]+", "N", value) if name in ("Uptime",) else "",)
        for line in self.proxy.ctl("show stat typed").split("\n"):
            m = re.match(r"([FBSL])\.\d+\.\d+\.(\d+)\.([^.]+)\.(\d+):(\w+):(\w+):", line)
            if m:
                found.setdefault("show stat " + m[3], set()).add(m.group(1, 2, 4, 5, 6))
        head = self.proxy.ctl("show stat").split("\n")[0].lstrip("# ").split(",")
        for n, name in enumerate(head):
            if name:
                found.setdefault("show stat " + name, set()).add(n)
        return found

    def all(self):
        found = {c: self.ask(c) for c in ASKED}
        found.update(self.help())
        found.update(self.fields())
        for form, last in (("show info desc", r'^(\w+): .*:".+"$'), ("show stat desc typed", r'^\S+\.(\w+)\.\d+:\w+:\w+:.*:".+"$')):
            lines = self.proxy.ctl(form).strip().split("\n")
            found[form] = "each field has a text" if all(re.match(last, l) or "Build info" in l for l in lines[1:]) else "not all have"
        return found


def everything(program, folder, ports):
    found = options(program, folder)
    found.update(build(program))
    for kind in "acl cfg cli cnv flt smp svc".split():
        found.update(words(program, kind))
    side = Side(program, folder, ports)
    try:
        found.update(side.all())
    finally:
        side.proxy.stop()
    return found


def read_table():
    """{item: (verdict, note)}"""
    rows = {}
    if os.path.exists(TABLE):
        with open(TABLE) as f:
            for line in f:
                if line.strip() and not line.startswith("#"):
                    cells = [c.strip() for c in line.split(" | ")]
                    rows[cells[0].replace("\\|", "|")] = (cells[1], cells[2] if len(cells) > 2 else "")
    return rows


HEAD = """# What this program says beside HAProxy 3.4, item by item: see tests/system/side_by_side.py, which writes it with --learn.
#
# A row: item | verdict | of "better" and "other" why; of "differs" the row of tests/differences.txt.
# Of -dK, whose words are 3,000, only those have a row that are not the same; each that only this program has is its own.
"""


def learn(ours, theirs):
    rows = read_table()
    with open(TABLE, "w") as f:
        f.write(HEAD)
        for item in theirs:
            same = ours.get(item) == theirs[item]
            if same and item.startswith("-dK"):
                continue
            verdict, note = ("same", "") if same else rows.get(item, ("?", ""))
            if verdict == "same" and not same:
                verdict = "?"
            f.write("%s | %s%s\n" % (item.replace("|", "\\|"), verdict, " | " + note if note else ""))


def judge(tap, rows, ours, theirs):
    """One line of TAP for each kind of item."""
    kinds = {}
    with open(os.path.join(HERE, "../differences.txt")) as f:
        known = re.findall(r"(?m)^([a-z0-9.-]+) \| ", f.read())
    for item in theirs:
        same = ours.get(item) == theirs[item]
        verdict, note = rows.get(item, ("same" if item.startswith("-dK") else "(no row)", ""))
        good = same if verdict == "same" else not same and (bool(note) if verdict in ("other", "better") else verdict == "differs" and note in known)
        kinds.setdefault(item.split(" ")[0] if item[0] == "-" else " ".join(item.split(" ")[:2 if item.startswith("show") else 1]), []).append(
            (verdict, "" if good else "%s: %s\n  ours      %r\n  reference %r" % (item, verdict, ours.get(item), theirs[item])))
    for kind, found in kinds.items():
        wrong = [text for _, text in found if text]
        counts = ", ".join("%d %s" % (n, v) for v in VERDICTS for n in [sum(1 for f in found if f[0] == v)] if n)
        tap.ok(not wrong, "%s: %d items, %s" % (kind, len(found), counts), "\n".join(wrong))
    gone = [item for item in rows if item not in theirs]
    tap.eq(gone, [], "no row is about what is not there")
    more = [item for item in ours if item not in theirs]
    print("# %d items are this program's own" % len(more))


def main():
    args = lib.arguments(__doc__, ("reference", lib.REFERENCE, "the program to compare with"), ("learn", False, "write the table anew"),
                         ("list", False, "print all that is not the same"))
    tap = lib.Tap()
    if not os.access(args.reference, os.X_OK) or lib.is_reference(args.program):
        tap.apart("reference", "what both programs say")
        tap.done()
    with tempfile.TemporaryDirectory(prefix="hapt.") as folder:
        for name, text in FILES.items():
            os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
            with open(os.path.join(folder, name), "w") as f:
                f.write(text)
        with open(os.path.join(folder, "list"), "w") as f:
            f.write("%sa.pem [alpn h2 verify none] *.example.org !no.example.org\n" % CERTS)
        with open(os.path.join(folder, "keys"), "w") as f:
            f.write("".join(c * 64 + "\n" for c in "ABC"))
        ports = lib.ports(2)
        ours, theirs = (everything(p, folder, ports) for p in (args.program, args.reference))
    if args.list:
        for item in theirs:
            if ours.get(item) != theirs[item]:
                print("%s\n  ours      %r\n  reference %r" % (item, ours.get(item), theirs[item]))
    if args.learn:
        learn(ours, theirs)
    judge(tap, read_table(), ours, theirs)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
