#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Log files (`log file@PATH`, an extension): lines, rotation by size, logrotate's way, reloads, kill -9, full disks, bad
lines of the configuration. --requests N: of the load; --kills N: times that it is killed; --flood N: requests that haload makes
as fast as it can (--rate N: so many a second), two lines each; --hostile N: requests with fields that would break JSON, which jq reads."""
import glob
import json
import os
import random
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time

import lib

CONF = """
global
	nbthread 2
%(globals)s
defaults
	mode http
	timeout connect 5s
	timeout client 10s
	timeout server 10s
	option httplog%(form)s
frontend fe
	bind 127.0.0.1:%(port)d
	log file@%(path)s %(options)s local0
	capture request header x-n len 400
	http-request return status 200
"""


def setup(args, path, options="", form="", globals_=""):
    port = lib.ports(1)[0]
    return port, lib.Proxy(args.program, CONF % {"port": port, "path": path, "options": options, "form": form, "globals": globals_})


def ask(port, first, count, value="x"):
    """<count> requests on a connection, numbered."""
    s = lib.connect(port)
    r = lib.Reader(s)
    for n in range(first, first + count):
        s.sendall(("GET /n%d HTTP/1.1\r\nHost: h\r\nX-N: %s\r\n\r\n" % (n, value)).encode())
        r.response()
    s.close()


def opened(pid):
    """The files that a process has open, as far as they stay so while they are looked at."""
    found = []
    for name in os.listdir("/proc/%d/fd" % pid):
        try:
            found.append(os.readlink("/proc/%d/fd/%s" % (pid, name)))
        except FileNotFoundError:
            pass
    return found


def lines(path):
    """Of all files of the name, the oldest first."""
    out = []
    for p in sorted(glob.glob(path + "*"), key=lambda p: -int(p.rsplit(".", 1)[1]) if p != path else 0):
        with open(p, "rb") as f:
            out += f.read().splitlines(True)
    return out


def numbers(path):
    return [int(m[1]) for m in (re.search(rb'"GET /n(\d+) HTTP/1.1"\n$', x) for x in lines(path)) if m]


def plain(tap, args):
    with tempfile.TemporaryDirectory() as d:
        path = d + "/log"
        port, proxy = setup(args, path)
        with proxy:
            ask(port, 0, 300)
            tap.ok(lib.until(lambda: numbers(path) == list(range(300))), "each request has its line, in order")
            tap.eq(os.stat(path).st_mode & 0o777, 0o640, "not for everybody's eyes")
            # logrotate's ways
            os.rename(path, path + ".1")
            ask(port, 300, 10)
            time.sleep(1.2)
            ask(port, 310, 10)
            tap.ok(lib.until(lambda: numbers(path) and numbers(path)[-10:] == list(range(310, 320))), "renamed: a new file")
            tap.ok(os.path.exists(path) and numbers(path) == list(range(320)), "nothing is lost, nothing is there twice", len(numbers(path)))
            with open(path, "w"):
                pass
            ask(port, 320, 5)
            tap.ok(lib.until(lambda: os.path.getsize(path) > 0 and b"\0" not in open(path, "rb").read()), "emptied (copytruncate): goes on at its begin")
            os.unlink(path)
            time.sleep(1.2)
            ask(port, 330, 5)
            tap.ok(lib.until(lambda: os.path.exists(path) and numbers(path)[-5:] == list(range(330, 335))), "removed: a new one")
            ask(port, 335, 5)
        tap.eq(numbers(path)[-5:], list(range(335, 340)), "what waits at the end is written")


def rotation(tap, args):
    with tempfile.TemporaryDirectory() as d:
        path = d + "/log"
        port, proxy = setup(args, path, "rotate 20k keep 3")
        with proxy:
            threads = [threading.Thread(target=ask, args=(port, 100000 * i, args.requests // 4)) for i in range(4)]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
        sizes = [os.path.getsize(p) for p in glob.glob(path + "*")]
        tap.eq(sorted(os.path.basename(p) for p in glob.glob(path + "*")), ["log", "log.1", "log.2", "log.3"], "three are kept")
        tap.ok(max(sizes) <= 20480 and sorted(sizes)[1] > 20000, "each of the size that was asked for", sizes)
        got = lines(path)
        tap.ok(all(re.match(rb'127\.0\.0\.1:.* "GET /n\d+ HTTP/1.1"\n$', x) for x in got), "each line is whole")
        for i in range(4):
            mine = [n for n in numbers(path) if n // 100000 == i]
            tap.ok(mine == list(range(mine[0], 100000 * i + args.requests // 4)) if mine else True, "the last ones, without a gap", mine[:3])
        # all of them
        path = d + "/all"
        port, proxy = setup(args, path, "rotate 50k keep 900")
        with proxy:
            ask(port, 0, args.requests)
        tap.eq(numbers(path), list(range(args.requests)), "with room for all nothing is lost")
        with open(d + "/none", "w") as f:
            f.write("x" * 200 + "\n")
        port, proxy = setup(args, d + "/none", "rotate 1k keep 0")
        with proxy:
            ask(port, 0, 40)
        tap.eq(glob.glob(d + "/none*"), [d + "/none"], "keep 0: one file")


def hostile(tap, args):
    """JSON, with fields that would break it."""
    with tempfile.TemporaryDirectory() as d:
        path = d + "/log"
        port, proxy = setup(args, path, form=" json")
        values = ['"\\', "\\u0000\\\"}", "\x7f\x80\xff", "{}[],:", "</script>", "a" * 300, "\t\t", "%s%n%x"]
        with proxy:
            for n, v in enumerate(values):
                ask(port, n, 1, v)
        got = lines(path)
        ok = True
        for x in got:
            try:
                json.loads(x)
            except ValueError:
                ok = False
        tap.ok(ok and len(got) == len(values), "each line is JSON", got[:3])


def hostile_fields(seed, count):
    """Texts of all bytes that a field may have, many of which mean something to JSON, to UTF-8 or to terminals."""
    r = random.Random(seed)
    likely = b'"\\{}[]:,/\x80\xc2\xc3\xe2\xed\xf0\xf4\xff\t \'%#un0'
    for _ in range(count):
        text = bytes(r.choice(likely) if r.random() < 0.7 else r.randrange(0x80, 0x100) for _ in range(r.randrange(1, 60)))
        yield text.strip(b" \t") or b"x"


def without_rights(tap, args):
    """A process that is an ordinary user's, and may start no programs: its writer starts all the same."""
    with tempfile.TemporaryDirectory() as d:
        os.chmod(d, 0o777)
        path = d + "/log"
        port, proxy = setup(args, path, globals_="\tuser nobody" if os.geteuid() == 0 else "")
        with proxy:
            ask(port, 0, 5)
            tap.ok(lib.until(lambda: numbers(path) == list(range(5))), "lines of a process without rights", numbers(path))


def read_by_jq(tap, args):
    """Many more of these, read by a program that others wrote: as many objects as requests, numbers that are numbers."""
    if not shutil.which("jq"):
        tap.skip("read by jq", "it is not installed")
        return
    with tempfile.TemporaryDirectory() as d:
        path = d + "/log"
        port, proxy = setup(args, path, "rotate 1m keep 900", form=" json")
        with proxy:
            s = lib.connect(port)
            r = lib.Reader(s)
            for n, field in enumerate(hostile_fields(7, args.hostile)):
                s.sendall(b"GET /n%d HTTP/1.1\r\nHost: h\r\nX-N: %s\r\n\r\n" % (n, field))
                r.response()
            s.close()
        files = sorted(glob.glob(path + "*"), key=lambda p: -int(p.rsplit(".", 1)[1]) if p != path else 0)
        p = subprocess.run(["jq", "-r", '[.uri, (.status|type), (.time_active|type), (.request_headers|type)] | @tsv',
                            *files], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        tap.eq((p.returncode, p.stderr[-300:]), (0, b""), "jq reads %d files" % len(files))
        got = p.stdout.splitlines()
        want = [b"/n%d\tnumber\tnumber\tstring" % n for n in range(args.hostile)]
        tap.ok(got == want, "%d objects, each of its request, in their order" % args.hostile,
               [x for x in zip(got, want) if x[0] != x[1]][:3] or (len(got), len(want)))


FLOOD = """
global
	nbthread 2
defaults
	mode http
	timeout connect 5s
	timeout client 10s
	timeout server 10s
	option httplog
frontend fe
	bind 127.0.0.1:%(port)d proto h2
	log file@%(path)s rotate 8m keep 900 local0
	log file@%(other)s local0
	http-request return status 200
"""
FLOOD_LINE = re.compile(rb'127\.0\.0\.1:\d+ \[.{24}\] fe .* "GET http://127\.0\.0\.1:\d+/ HTTP/2\.0"\n$')


def flood(tap, args):
    """Two lines for each request, as fast as they come: one file is rotated by size, the other one is renamed under the writer's hands."""
    haload = os.path.join(os.path.dirname(os.path.abspath(args.program)), "haload")
    with tempfile.TemporaryDirectory() as d:
        path, other, port, over, renamed = d + "/log", d + "/other", lib.ports(1)[0], threading.Event(), [0]

        def rotate():
            while not over.wait(0.3):
                if os.path.exists(other) and os.path.getsize(other):
                    renamed[0] += 1
                    os.rename(other, "%s.%d" % (other, renamed[0]))
        with lib.Proxy(args.program, FLOOD % {"port": port, "path": path, "other": other}) as proxy:
            t = threading.Thread(target=rotate)
            t.start()
            start = time.monotonic()
            subprocess.run([haload, "-q", "-e", "-2", "-m", "32", "-c", "8", "-R", str(args.rate), "-n", str(args.flood), "http://127.0.0.1:%d/" % port],
                           check=True, stdout=subprocess.DEVNULL)
            seconds = time.monotonic() - start
            over.set()
            t.join()
            dropped = int(re.search(r"^DroppedLogs: (\d+)", proxy.ctl("show info"), re.M).group(1))
        whole = {}
        for name in path, other:
            found = lines(name)
            whole[name] = sum(1 for x in found if FLOOD_LINE.match(x))
            tap.eq([x for x in found if not FLOOD_LINE.match(x)][:3], [], "each line of %s is whole" % os.path.basename(name))
        tap.eq(sum(whole.values()) + dropped, 2 * args.flood, "%d requests: lines that are there, and %d that are counted as lost" % (
            args.flood, dropped))
        print("# %d lines/s, %d files by size, %d renamed" % (2 * args.flood / seconds, len(glob.glob(path + "*")), renamed[0]))


def reloads(tap, args):
    with tempfile.TemporaryDirectory() as d:
        path = d + "/log"
        port, proxy = setup(args, path, "rotate 30k keep 900")
        over, count = threading.Event(), [0]

        def client():
            while not over.is_set():
                ask(port, count[0], 20)
                count[0] += 20
        with proxy:
            t = threading.Thread(target=client)
            t.start()
            for _ in range(8):
                time.sleep(0.1)
                proxy.ctl("reload")
            over.set()
            t.join()
            tap.eq(opened(proxy.process.pid).count(path), 1, "one descriptor, whatever number of generations")
        # (of two threads, whose lines need not come in the order of the answers)
        tap.eq(sorted(numbers(path)), list(range(count[0])), "reloads lose nothing")


def killed(tap, args):
    """kill -9 amid writing: each line is whole after the next start, and what is there has no gap."""
    with tempfile.TemporaryDirectory() as d:
        path, bad = d + "/log", []
        for i in range(args.kills):
            port, proxy = setup(args, path, "rotate 100k keep 5")
            stop = threading.Event()

            def client():
                n = i * 100000
                while not stop.is_set():
                    try:
                        ask(port, n, 50)
                    except (OSError, EOFError, TypeError, ValueError):
                        return
                    n += 50
            t = threading.Thread(target=client)
            t.start()
            time.sleep(0.15 + i % 5 * 0.02)
            proxy.process.send_signal(signal.SIGKILL)
            proxy.process.wait()
            stop.set()
            t.join()
        with open(path, "ab") as f:
            f.write(b"half of a li")
        port, proxy = setup(args, path)
        with proxy:
            ask(port, 99900000, 1)
        for x in lines(path):
            if not re.match(rb'127\.0\.0\.1:.* "GET /n\d+ HTTP/1.1"\n$', x):
                bad.append(x)
        got = numbers(path)
        gaps = [(a, b) for a, b in zip(got, got[1:]) if b != a + 1 and b % 100000 != 0]
        tap.ok(not bad, "killed %d times: each line is whole" % args.kills, bad[:3])
        tap.ok(not gaps, "and none is missing amid", gaps[:5])


def full(tap, args):
    """A disk without room, where one can be mounted: lines wait, then some are counted as lost, and those that are there are whole."""
    with tempfile.TemporaryDirectory() as d:
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", d], stderr=subprocess.DEVNULL).returncode:
            tap.skip("a full disk", "no file system can be mounted here")
            return
        try:
            path = d + "/log"
            port, proxy = setup(args, path)
            with proxy:
                ask(port, 0, 1500)
                time.sleep(0.3)
                tap.ok(os.path.getsize(path) <= 65536, "the disk is full")
                subprocess.run(["mount", "-o", "remount,size=10m", d], check=True)
                tap.ok(lib.until(lambda: numbers(path) == list(range(1500))), "there is room again: all that waited is there", len(numbers(path)))
        finally:
            subprocess.run(["umount", "-l", d])


def refused(tap, args):
    with tempfile.TemporaryDirectory() as d:
        for line, want in (("file@ local0", "expects the name of a file"), ("file@%s/ local0" % d, "expects the name of a file"),
                           ("file@%s/x rotate local0" % d, "rotate"), ("file@%s/x rotate 0 local0" % d, "size or a period"),
                           ("file@%s/x keep 1000 local0" % d, "1000"), ("stdout rotate 1m local0", "only files can be rotated"),
                           ("127.0.0.1 keep 3 local0", "only files can be rotated")):
            with open(d + "/conf", "w") as f:
                f.write("global\n\tlog %s\n" % line)
            p = subprocess.run([args.program, "-c", "-f", d + "/conf"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            tap.ok(p.returncode == 1 and want in p.stdout, "log " + line.replace(d, "DIR"), p.stdout)
        with open(d + "/conf", "w") as f:
            f.write("global\n\tlog file@%s/x/y local0\nfrontend f\n\tmode http\n\tbind 127.0.0.1:%d\n\ttimeout client 1s\n" % (d, lib.ports(1)[0]))
        p = subprocess.run([args.program, "-c", "-f", d + "/conf"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        tap.eq(p.returncode, 0, "a check opens nothing")
        p = subprocess.run([args.program, "-db", "-f", d + "/conf"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        tap.ok(p.returncode == 1 and "cannot open the file" in p.stdout and "No such file" in p.stdout, "a start says what is missing", p.stdout)


def main():
    args = lib.arguments(__doc__, ("requests", 2000, "of the load"), ("kills", 6, "times that it is killed"),
                         ("flood", 10000, "requests as fast as they come"),
                         ("rate", 0, "or so many a second"), ("hostile", 300, "requests with fields that jq reads"))
    tap = lib.Tap()
    tap.run((plain, without_rights, rotation, hostile, read_by_jq, flood, reloads, killed, full, refused), args)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
