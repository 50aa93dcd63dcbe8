#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The unit of admin/systemd under systemd itself: what scripts/check-systemd runs in namespaces whose process 1 is systemd. It
writes /etc/haproxy and drop-ins of /etc/systemd/system, so that it refuses to run anywhere else.
"""
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "system"))
import lib  # noqa: E402

CONF = """global
	stats socket /run/haproxy/admin.sock mode 600 level admin
{glob}defaults
	mode http
	timeout connect 5s
	timeout client 5s
	timeout server 5s
frontend fe
	bind 127.0.0.1:80
	bind 127.0.0.1:8080
	http-request return status 200 content-type text/plain string "{version}" unless {{ path /slow }}
	default_backend slow
backend slow
	server s 127.0.0.1:9000
{more}"""
FILE = "/etc/haproxy/haproxy.cfg"
DROPIN = "/etc/systemd/system/haproxy.service.d/check.conf"
PORTS = (80, 8080)


def run(*argv, seconds=90):
    """(exit status, what it said)"""
    p = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True, timeout=seconds)
    return p.returncode, p.stdout


def ctl(*words, seconds=90):
    return run("systemctl", "--no-pager", *words, seconds=seconds)


def shown(name, unit="haproxy"):
    return ctl("show", unit, "--value", "-p", name)[1].strip()


def journal(*words):
    return run("journalctl", "--no-pager", "-q", *words)[1]


def write(version, glob="", more=""):
    with open(FILE, "w") as f:
        f.write(CONF.format(version=version, glob=glob, more=more))


def dropin(*lines):
    """The unit with these lines more. (No limit of starts: it would end what is tried here.)"""
    os.makedirs(os.path.dirname(DROPIN), exist_ok=True)
    with open(DROPIN, "w") as f:
        f.write("".join(x + "\n" for x in ("[Unit]", "StartLimitIntervalSec=0", "[Service]") + lines))
    ctl("daemon-reload")


def get(port=8080, path="/"):
    try:
        with lib.connect(port) as s:
            s.sendall(b"GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n" % path.encode())
            got = lib.Reader(s).response()
            return got and got[2].decode()
    except OSError as e:
        return repr(e)


class Crowd:
    """Clients that keep their connection, <kept> requests on each, and those that make one for each request. What counts as a
    failure: a connection that is refused or reset before anything was sent on it, or a request without an answer, unless it was sent
    on a connection that had an answer before (which the other side may close at any time: it is sent again on another)."""

    def __init__(self, clients=6, kept=50):
        self.over, self.lock = threading.Event(), threading.Lock()
        self.done, self.again, self.failures = 0, 0, []
        self.threads = [threading.Thread(target=self.run, args=(PORTS[i % 2], kept if i % 3 else 1), daemon=True) for i in range(clients)]
        for t in self.threads:
            t.start()

    def run(self, port, kept):
        while not self.over.is_set():
            answered = 0
            try:
                with lib.connect(port) as s:
                    reader = lib.Reader(s)
                    while answered < kept and not self.over.is_set():
                        s.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
                        got = reader.response()
                        if not got:
                            break
                        answered += 1
                        with self.lock:
                            self.done += 1
                        if "close" in got[1].get("connection", ""):
                            break
                    why = None if answered else "no answer"
            except OSError as e:
                why = None if answered else repr(e)
                self.again += answered > 0
            if why:
                with self.lock:
                    self.failures.append(why)

    def go_on(self, n):
        before = self.done
        return lib.until(lambda: self.done > before + n)

    def end(self):
        self.over.set()
        for t in self.threads:
            t.join(lib.PATIENCE)


def test_start(tap, args):
    """The unit as it is installed."""
    write("v1")
    status, said = run("systemd-analyze", "verify", "--man=no", "/etc/systemd/system/haproxy.service")
    tap.ok(not re.search(r"haproxy\.service:.*(unknown|failed|invalid|ignoring)", said, re.I), "systemd-analyze reads the unit", said)
    status, said = ctl("start", "haproxy")
    tap.eq((status, shown("ActiveState"), shown("SubState")), (0, "active", "running"), "it starts")
    tap.eq([get(p) for p in PORTS], ["v1"] * 2, "and serves when systemctl is back")
    tap.eq(shown("StatusText"), "Ready.", "it has told so")
    main = shown("MainPID")
    with open("/proc/%s/cmdline" % main) as f:
        tap.ok("-Ws" in f.read().split("\0"), "its main process is the master")
    tap.eq(shown("NFileDescriptorStore"), "3", "each listening socket is in the store")
    status, said = ctl("status", "haproxy")
    tap.ok(status == 0 and "HAProxy load balancer" in said, "systemctl status", said)


def test_reload(tap, args):
    main = shown("MainPID")
    crowd = Crowd()
    crowd.go_on(50)
    good = []
    for i in range(5):
        write("r%d" % i)
        good.append((ctl("reload", "haproxy")[0], lib.until(lambda: get() == "r%d" % i)))
        crowd.go_on(50)
    tap.eq(good, [(0, True)] * 5, "reloads under load")
    crowd.end()
    tap.eq(crowd.failures[:5], [], "no connection refused or cut, of %d requests" % crowd.done)
    tap.eq((shown("MainPID"), shown("NRestarts"), shown("StatusText")), (main, "0", "Ready."), "the master is the same")
    with open(FILE, "a") as f:
        f.write("frontend bad\n\tbind nowhere\n\tno such word\n")
    status, said = ctl("reload", "haproxy")
    tap.ok(status != 0, "a file that is wrong: systemctl reload says so", said)
    tap.ok(lib.until(lambda: "haproxy.cfg:17" in journal("-u", "haproxy", "-n", "60")), "the journal says what is wrong, and where",
           journal("-u", "haproxy", "-n", "30"))
    tap.eq((get(), shown("ActiveState"), shown("MainPID")), ("r4", "active", main), "what runs goes on")
    # a file that is valid, whose port is taken: -c does not see that
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(("127.0.0.1", 7999))
        taken.listen(1)
        write("never", more="frontend taken\n\tbind 127.0.0.1:7999\n")
        status, said = ctl("reload", "haproxy")
        tap.ok(status != 0, "a port that is taken, which only the reload itself sees: systemctl says so", said)
        tap.ok("failed" in shown("StatusText"), "the status as well", shown("StatusText"))
        tap.ok(lib.until(lambda: "127.0.0.1:7999" in journal("-u", "haproxy", "-n", "60")), "the journal says why",
               journal("-u", "haproxy", "-n", "60"))
        tap.eq((get(), shown("ActiveState"), shown("MainPID")), ("r4", "active", main), "what runs goes on")
    write("r5")
    tap.eq((ctl("reload", "haproxy")[0], lib.until(lambda: get() == "r5")), (0, True), "and the next one is good")
    tap.eq(shown("StatusText"), "Ready.", "the status is of the last one")


def test_in_process(tap, args):
    """The worker reloads by itself, with a user of its own: what it may not do its master does."""
    glob = "\tuser nobody\n\tgroup nogroup\n\tchroot /var/lib/haproxy\n\treload-mode in-process\n\tsandbox on\n"
    write("i0", glob)
    tap.eq((ctl("restart", "haproxy")[0], get(80)), (0, "i0"), "user, chroot and sandbox inside of the unit's walls")
    status, said = run(args.program, "--ask", "/run/haproxy/admin.sock", "show info")
    worker = re.search(r"^Pid: (\d+)", said, re.M)
    tap.ok(worker is not None, "the Runtime API answers", said)
    with open("/proc/%s/status" % worker.group(1)) as f:
        tap.ok(re.search(r"^Uid:\s+65534\s+65534", f.read(), re.M), "the worker has given its rights up")
    crowd = Crowd()
    crowd.go_on(50)
    good = []
    for i in range(1, 6):
        write("i%d" % i, glob, "frontend more\n\tbind 127.0.0.1:%d\n\thttp-request deny\n" % (700 + i))
        good.append((ctl("reload", "haproxy")[0], lib.until(lambda: get() == "i%d" % i), lib.until(lambda: not lib.is_refused(700 + i))))
        crowd.go_on(50)
    crowd.end()
    tap.eq(good, [(0, True, True)] * 5, "reloads in the process, each with another port below 1024")
    tap.eq(crowd.failures[:5], [], "no connection refused or cut, of %d requests" % crowd.done)
    tap.eq(run(args.program, "--ask", "/run/haproxy/admin.sock", "show info")[1].split("Pid: ")[1].split()[0], worker.group(1),
           "by the same worker")
    write("r6")
    tap.eq((ctl("restart", "haproxy")[0], get()), (0, "r6"), "back")


def test_restarts(tap, args):
    """The store of descriptors."""
    dropin()
    crowd = Crowd()
    crowd.go_on(50)
    good = 0
    for i in range(args.restarts):
        write("s%d" % i)
        status, said = ctl("restart", "haproxy")
        good += status == 0 and get() == "s%d" % i
        crowd.go_on(50)
    crowd.end()
    tap.eq(good, args.restarts, "%d restarts" % args.restarts)
    tap.eq(crowd.failures[:5], [], "no connection refused or cut, of %d requests" % crowd.done)
    tap.eq((shown("NFileDescriptorStore"), shown("ActiveState"), shown("NRestarts")), ("3", "active", "0"), "the store is as large as it was")
    tap.eq(run(args.program, "--ask", "/run/haproxy/admin.sock", "show version")[0], 0, "the Runtime API is where it was")
    for how in ("KILL", "SEGV"):
        dropin("RestartSec=0")
        main = shown("MainPID")
        crowd = Crowd()
        crowd.go_on(50)
        # those that the dead process had accepted are lost: what counts is that none is refused
        ctl("kill", "-s", how, "haproxy")
        tap.ok(lib.until(lambda: shown("ActiveState") == "active" and shown("MainPID") not in (main, "0")), "SIG%s: it is started again" % how,
               ctl("status", "haproxy")[1])
        crowd.go_on(50)
        crowd.end()
        tap.eq([x for x in crowd.failures if "Refused" in x], [], "SIG%s: no connection was refused" % how)
    dropin()


def test_worker_dies(tap, args):
    dropin("RestartSec=0")
    main = shown("MainPID")
    said = run(args.program, "--ask", "/run/haproxy/admin.sock", "show info")[1]
    os.kill(int(re.search(r"^Pid: (\d+)", said, re.M).group(1)), signal.SIGKILL)
    tap.ok(lib.until(lambda: shown("ActiveState") == "active" and shown("MainPID") not in (main, "0")), "a worker that dies: the unit is started again",
           ctl("status", "haproxy")[1])
    tap.ok(get().startswith("s"), "and serves")
    dropin()


def test_watchdog(tap, args):
    dropin("RestartSec=0", "WatchdogSec=2")
    ctl("restart", "haproxy")
    main = shown("MainPID")
    time.sleep(5)
    tap.eq((shown("MainPID"), shown("WatchdogUSec")), (main, "2s"), "with WatchdogSec=2 it goes on longer than that")
    os.kill(int(main), signal.SIGSTOP)
    tap.ok(lib.until(lambda: shown("NRestarts") == "1" and shown("ActiveState") == "active"), "a master that is stuck is started again",
           ctl("status", "haproxy")[1])
    tap.ok("atchdog" in journal("-u", "haproxy", "-n", "100") + journal("_PID=1", "-n", "100"), "by the watchdog")
    tap.ok(get().startswith("s"), "and serves")
    dropin()
    ctl("restart", "haproxy")


def test_journal(tap, args):
    """The journal itself: lines with fields, and what the program says when it starts."""
    glob = "\tlog journal local0\n"
    write("j", glob, more="")
    with open(FILE) as f:
        text = f.read().replace("\tmode http\n", "\tmode http\n\tlog global\n\toption httplog json\n", 1)
    with open(FILE, "w") as f:
        f.write(text)
    tap.eq(ctl("reload", "haproxy")[0], 0, "log journal")
    get(path="/in-the-journal")
    found = []
    def look():
        for line in journal("-u", "haproxy", "-o", "json", "HAPROXY_FRONTEND=fe").splitlines():
            entry = json.loads(line)
            if "in-the-journal" in str(entry.get("MESSAGE")):
                found.append(entry)
        return found
    tap.ok(lib.until(look), "a request is in it, with fields", journal("-u", "haproxy", "-n", "10"))
    if found:
        tap.eq([found[0].get(k) for k in ("HAPROXY_STATUS", "SYSLOG_IDENTIFIER", "_SYSTEMD_UNIT", "PRIORITY")],
               ["200", "haproxy", "haproxy.service", "6"], "which are those of the manual")
    write("s")
    ctl("reload", "haproxy")


def test_stop(tap, args):
    """A stop is soft: what is on its way is answered."""
    asked = threading.Event()
    def slow(s):
        lib.Reader(s).head()
        asked.set()
        time.sleep(1)
        s.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nslow")
    server = lib.Server(slow, port=9000)
    answers = []
    t = threading.Thread(target=lambda: answers.append(get(path="/slow")))
    t.start()
    asked.wait(lib.PATIENCE)
    tap.eq(ctl("stop", "haproxy")[0], 0, "systemctl stop")
    t.join(lib.PATIENCE)
    tap.eq(answers, ["slow"], "a request on its way is answered")
    tap.eq((shown("ActiveState"), shown("Result")), ("inactive", "success"), "and the unit ends well")
    tap.ok(all(lib.is_refused(p) for p in PORTS), "its ports are closed")
    tap.ok(not os.path.exists("/run/haproxy"), "and its folder is gone")
    server.close()
    write("x", "\tno such word\n")
    status, said = ctl("start", "haproxy")
    tap.ok(status != 0, "a start with a file that is wrong", said)
    tap.eq(shown("Result"), "exit-code", "is a failure of the unit")
    tap.ok(lib.until(lambda: "haproxy.cfg:3" in journal("-u", "haproxy", "-n", "60")), "the journal says which line it was", journal("-u", "haproxy", "-n", "30"))
    ctl("stop", "haproxy")
    ctl("reset-failed", "haproxy")
    write("back")
    tap.eq((ctl("start", "haproxy")[0], get()), (0, "back"), "it starts again")
    ctl("stop", "haproxy")


def test_socket_unit(tap, args):
    """systemd opens the ports, and starts the program for the first connection."""
    with open("/etc/systemd/system/haproxy.socket", "w") as f:
        f.write("[Socket]\nListenStream=127.0.0.1:80\nListenStream=127.0.0.1:8080\n")
    ctl("daemon-reload")
    write("unit")
    tap.eq(ctl("start", "haproxy.socket")[0], 0, "a socket unit")
    tap.eq(shown("ActiveState"), "inactive", "starts nothing by itself")
    tap.eq(get(80), "unit", "the first connection does, and is served")
    crowd = Crowd()
    crowd.go_on(50)
    good = 0
    for i in range(5):
        write("u%d" % i)
        good += ctl("restart", "haproxy")[0] == 0 and get() == "u%d" % i
        crowd.go_on(50)
    crowd.end()
    tap.eq((good, crowd.failures[:5]), (5, []), "restarts: no connection refused or cut, of %d requests" % crowd.done)
    ctl("stop", "haproxy.socket", "haproxy")
    os.unlink("/etc/systemd/system/haproxy.socket")
    ctl("daemon-reload")


def main():
    args = lib.arguments(__doc__, ("restarts", 50, "how many restarts under load"))
    tap = lib.Tap()
    with open("/proc/1/environ") as f:
        if "container=check" not in f.read().split("\0"):
            sys.exit("unit.py: only for scripts/check-systemd")
    tap.run((test_start, test_reload, test_in_process, test_restarts, test_worker_dies, test_watchdog, test_journal, test_stop,
             test_socket_unit), args)
    tap.done()


lib.guarded(main)
