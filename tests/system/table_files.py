#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`stick-table ... file`: tables that come back after a stop, a crash and a kill at any moment, files that are
refused, files that cannot be written. An extension: skipped with the reference. --kills N: how often the process
is killed while it writes."""
import os
import re
import random
import shutil
import signal
import subprocess
import tempfile
import time

import lib

CONF = """
	%s
defaults
	mode http
	timeout connect 1s
	timeout client 1s
	timeout server 1s
frontend fe
	bind 127.0.0.1:%d
	http-request track-sc0 src table clients
	http-request return status 200
backend clients
	stick-table type ip size 100k expire 10m store gpc0,http_req_cnt,conn_cur file %s/clients every %s
%s
"""
MORE = "backend pages\n\tstick-table type string len 40 size 100 store gpt(2),gpc_rate(1,1h) file %s/pages every 0"


class Scene:
    def __init__(self, args, folder, every="100ms", more="", glob="", run=()):
        self.port = lib.ports(1)[0]
        self.proxy = lib.Proxy(args.program, CONF % (glob, self.port, folder, every, more), run)

    def __enter__(self):
        return self.proxy

    def __exit__(self, *exc):
        self.proxy.__exit__(*exc)


def fill(proxy, count, gpc0):
    """The same figure in <count> entries."""
    for first in range(0, count, 200):
        proxy.ctl(";".join("set table clients key 10.0.%d.%d data.gpc0 %d" % (i >> 8, i & 255, gpc0)
                           for i in range(first, min(first + 200, count))))


def entries(proxy, table="clients"):
    out = {}
    for line in proxy.ctl("show table " + table).split("\n"):
        words = line.split()
        if line.startswith("0x"):
            out[words[1][4:]] = dict(w.split("=") for w in words[2:])
    return out


def kept(tap, args, folder):
    more = MORE % folder
    with Scene(args, folder, more=more) as p:
        tap.eq(entries(p), {}, "no file: nothing, and nothing is said")
        tap.ok("WARNING" not in re.sub(".*started as .*root.*", "", p.output()), "no warning", p.output())
        fill(p, 300, 7)
        p.ctl("set table pages key /page data.gpt[1] 5 data.gpc_rate[0] 1000")
        s = lib.connect(lib_port(p))
        s.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        lib.Reader(s).response()
        tap.ok(lib.until(lambda: os.path.exists(folder + "/clients")), "written at a period")
        tap.ok(not os.path.exists(folder + "/pages"), "every 0: not before the end")
        s.close()
        p.stop(signal.SIGUSR1)
    tap.eq(os.stat(folder + "/clients").st_mode & 0o777, 0o600, "for its user only")
    with Scene(args, folder, more=more) as p:
        got = entries(p)
        tap.eq(len(got), 301, "all are there behind a soft stop")
        tap.eq({e["gpc0"] for k, e in got.items() if k != "127.0.0.1"}, {"7"}, "with what was counted")
        tap.eq((got["127.0.0.1"]["http_req_cnt"], got["127.0.0.1"]["conn_cur"]), ("1", "0"),
               "requests, and nobody who is connected")
        tap.ok(0 < int(got["10.0.0.1"]["exp"]) < 600000, "they are older", got["10.0.0.1"]["exp"])
        page = entries(p, "pages")
        tap.eq([e["gpt1"] for e in page.values()], ["5"], "another table: %s" % page)
        rate = [int(e["gpc0_rate(3600000)"]) for e in page.values()]
        tap.ok(rate and 900 < rate[0] <= 1000, "its rate", rate)
        fill(p, 1, 8)
        p.stop(signal.SIGTERM)
    with Scene(args, folder, more=more) as p:
        tap.eq(entries(p)["10.0.0.0"]["gpc0"], "8", "behind a hard stop too")


def lib_port(proxy):
    """The port of fe."""
    with open(proxy.conf_path) as f:
        return int(f.read().split("bind 127.0.0.1:")[1].split()[0])


def reloaded(tap, args, folder):
    """A reload within the process keeps what is in memory: the file, which is older, is not read over it."""
    with Scene(args, folder, every="1h") as p:
        fill(p, 10, 1)
        p.stop()
    with Scene(args, folder, every="1h") as p:
        fill(p, 20, 2)
        answer = p.ctl("reload")
        got = entries(p)
        tap.eq((len(got), {e["gpc0"] for e in got.values()}), (20, {"2"}), "a reload: %s" % answer[:60].strip())
        with open(p.conf_path) as f:
            text = f.read()
        with open(p.conf_path, "w") as f:
            f.write(text + "\n" + MORE % folder + "\n")
        answer = p.ctl("reload")
        tap.ok("No such table" not in p.ctl("show table pages"), "a table with a file that a reload brings", answer)
        tap.ok(p.alive(), "the process lives")


def refused(tap, args, folder):
    path = folder + "/clients"
    with Scene(args, folder) as p:
        fill(p, 50, 3)
        p.stop()
    with open(path, "rb") as f:
        whole = f.read()
    cases = {
        "cut": (whole[:-10], "it is cut or damaged"),
        "empty": (b"", "it is empty"),
        "changed": (whole[:200] + bytes([whole[200] ^ 1]) + whole[201:], "it is cut or damaged"),
        "foreign": (b"\x7fELF" * 100, "it is no snapshot of a stick-table"),
        "of another version": (whole[:8] + b"\x63" + whole[9:], "version 99"),
    }
    for name, (data, message) in cases.items():
        with open(path, "wb") as f:
            f.write(data)
        with Scene(args, folder, every="1h") as p:
            tap.eq(entries(p), {}, name + ": the table starts empty")
            tap.ok(message in p.output() and path in p.output(), name + ": told so", p.output())
    for name, ends, message in (("a terabyte of nothing", (b"", b""), "it is no snapshot of a stick-table"),
                                ("a terabyte between a head and an end", (whole[:100], whole[-24:]), "it is cut or damaged")):
        with open(path, "wb") as f: # sparse: there is neither disk nor memory for so much
            f.write(ends[0])
            f.truncate((1 << 40) - len(ends[1]))
            f.seek(0, os.SEEK_END)
            f.write(ends[1])
        with Scene(args, folder, every="1h") as p:
            tap.eq(entries(p), {}, name + ": the table starts empty")
            tap.ok(message in p.output(), name + ": told so", p.output())
    with open(path, "wb") as f:
        f.write(whole)
    more = "backend other\n\tstick-table type ipv6 size 10 store gpc0 file %s/other" % folder
    shutil.copy(path, folder + "/other")
    with Scene(args, folder, every="1h", more=more) as p:
        tap.eq((len(entries(p)), len(entries(p, "other"))), (50, 0), "another shape")
        tap.ok("'type ip len 4 store gpc0,conn_cur,http_req_cnt', and this one is 'type ipv6 len 16 store gpc0'"
               in p.output(), "both are told", p.output())
    os.unlink(path)
    os.mkdir(path)
    with Scene(args, folder) as p:
        tap.ok("is refused" in p.output(), "a folder: told so", p.output())
        tap.ok(lib.until(lambda: "cannot write" in p.output()), "and that it cannot be written", p.output())
        time.sleep(0.4)
        tap.eq(p.output().count("cannot write"), 1, "once")
        os.rmdir(path)
        tap.ok(lib.until(lambda: os.path.isfile(path)), "it is tried again")
        tap.ok(lib.until(lambda: "is written again" in p.output()), "which is told", p.output())


def wrong(tap, args, folder):
    """Configurations that do not start."""
    table = "backend %s\n\tstick-table type ip size 10 store gpc0 file %s"
    cases = [
        (table % ("t", "relative/name"), "expects the absolute name of a file"),
        (table % ("t", folder + "/"), "expects the absolute name of a file"),
        (table % ("t", folder + "/a every"), "missing argument after 'every'"),
        (table % ("t", folder + "/a every 1x"), "is no time between two snapshots"),
        (table % ("t", folder + "/a every 10ms"), "is no time between two snapshots"),
        (table % ("t", folder + "/a") + "\n" + table % ("u", folder + "/a"), "is the file of table 't'"),
        (table % ("t", folder + "/a") + "\n" + table % ("u", folder + "/./a"), "is the file of table 't' too"),
        (table % ("t", folder + "/nowhere/a"), "cannot open the folder"),
    ]
    for text, message in cases:
        conf = os.path.join(folder, "cfg")
        with open(conf, "w") as f:
            f.write("defaults\n\ttimeout client 1s\nfrontend f\n\tbind 127.0.0.1:%d\n%s\n"
                    % (lib.ports(1)[0], text))
        r = subprocess.run([args.program, "-db", "-f", conf], capture_output=True, text=True, timeout=20)
        tap.ok(r.returncode == 1 and message in r.stderr, message, r.stderr)


def two_processes(tap, args, folder):
    """A process that ends later than the one that took its place leaves the file alone."""
    with Scene(args, folder, every="1h") as old:
        fill(old, 5, 1)
        with Scene(args, folder) as new:
            fill(new, 9, 2)
            tap.ok(lib.until(lambda: os.path.exists(folder + "/clients")), "the new one has written")
            old.stop()
            tap.ok("is left to the process that was started after this one" in old.output(), "told",
                   old.output())
            new.stop()
    with Scene(args, folder) as p:
        tap.eq(len(entries(p)), 9, "the file is the new one's")


def killed(tap, args, folder):
    """kill -9, most often while the file is written: it is the old one or the new one."""
    path, oldest, during, bad, before_it = folder + "/clients", 1, 0, [], {}
    for turn in range(1, args.kills + 1):
        with Scene(args, folder) as p:
            got = entries(p)
            # a snapshot may be taken between two commands of fill(): of a key, the file has what the last process has
            # found in it, or what that process has set
            marks = sorted({int(e["gpc0"]) for e in got.values()})
            strange = [k for k, e in got.items() if int(e["gpc0"]) not in (before_it.get(k), turn - 1)]
            before_it = {k: int(e["gpc0"]) for k, e in got.items()}
            if "refused" in p.output() or turn > 1 and (len(got) != 2000 or strange or marks[0] < oldest):
                bad.append("turn %d: %d entries of turns %s, %s" % (turn, len(got), marks, p.output()))
            oldest = marks[-1] if len(marks) == 1 else oldest
            fill(p, 2000, turn)
            before = os.stat(path).st_ino if os.path.exists(path) else 0
            if turn == 1 or turn % 4 == 0: # a whole one, behind the one that may have begun before
                for _ in range(2):
                    if not lib.until(lambda: os.path.exists(path) and os.stat(path).st_ino != before):
                        bad.append("turn %d: not written" % turn)
                    before = os.stat(path).st_ino
                oldest = turn
                time.sleep(random.random() * 0.2)
            else:
                lib.until(lambda: os.path.exists(path + ".tmp"))
                time.sleep(random.random() * 0.003 * (turn % 4 - 1))
            during += os.path.exists(path + ".tmp")
            p.process.kill()
            p.process.wait()
    tap.ok(not bad, "%d kills, %d while it was written" % (args.kills, during), "\n".join(bad[:5]))


def main():
    args = lib.arguments(__doc__, ("kills", 40, "how often the process is killed"))
    tap = lib.Tap()
    if lib.is_reference(args.program):
        tap.skip("stick-table file", "an extension")
        tap.done()
        return
    for part in (kept, reloaded, refused, wrong, two_processes, killed):
        folder = tempfile.mkdtemp(prefix="hapt.")
        try:
            part(tap, args, folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
