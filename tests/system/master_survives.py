#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What must not end a master or make it grow: reloads of every kind, signals at every moment of them, no descriptor left,
a folder or file that is gone, a client that does not read. What its children inherit.

    master_survives.py --signals 300    storms of that many signals (default 40)

differs: master-reload
"""
import os
import random
import re
import resource
import shutil
import signal
import socket
import subprocess
import tempfile
import time

import lib
from lib_master import Master

CHECK = """#!/bin/sh
{ ls -l /proc/self/fd; grep -E 'Sig(Blk|Ign)' /proc/self/status; } >$0.out.new
mv $0.out.new $0.out
"""


def descriptors(pid):
    """What is open in the process, by kind, the three standard ones left out."""
    out = []
    for name in os.listdir("/proc/%d/fd" % pid):
        try:
            if int(name) > 2:
                out.append(re.sub(r"\[\d+\]", "", os.readlink("/proc/%d/fd/%s" % (pid, name))))
        except OSError:
            pass
    return sorted(out)


def settled(pid):
    """The same, once clients of the Runtime API are gone."""
    seen = [descriptors(pid)]
    while len(seen) < 5 or len(set(map(tuple, seen[-5:]))) > 1:
        time.sleep(0.05)
        seen.append(descriptors(pid))
    return seen[-1]


def serves(m, version):
    try:
        return m.get() == version
    except OSError:
        return False


def reload_with(m, kind, version):
    """Reloads once, and waits for its end."""
    m.write(version, more="\tbogus\n" if kind == "bad" else "")
    count = m.procs()["master"][0]
    if kind in ("SIGUSR2", "SIGHUP"):
        m.process.send_signal(getattr(signal, kind))
    elif kind == "bad":
        m.reload()
    else:
        m.cli(kind)
    if kind == "bad":
        return lib.until(lambda: m.procs()["master"][0][1:] != count[1:])
    return lib.until(lambda: serves(m, version) and not m.procs()["old"])


def test_descriptors(tap, args):
    """After reloads of each kind, master and worker have open what they began with."""
    for glob in ("", "\treload-mode in-process\n"):
        if glob and lib.is_reference(args.program):
            break
        with Master(args, glob=glob) as m:
            reload_with(m, "SIGUSR2", "v0")  # from now on there was a reload
            worker = m.procs()["workers"][0][0]
            before = settled(m.process.pid), settled(worker)
            for kind in ("SIGUSR2", "SIGHUP", "reload", "hard-reload", "bad", "SIGUSR2"):
                done = [bool(reload_with(m, kind, "%s-%d" % (kind, i))) for i in range(4)]
                tap.ok(all(done), "4 times %s%s" % (kind, ", in the process" if glob else ""), (done, m.output()[-1500:]))
                tap.ok(lib.until(lambda: descriptors(m.process.pid) == before[0]), "the master has open what it began with",
                       (before[0], descriptors(m.process.pid)))
            worker = m.procs()["workers"][0][0]
            tap.ok(lib.until(lambda: descriptors(worker) == before[1]), "so has its worker", (before[1], descriptors(worker)))


def test_children(tap, args):
    """A program that a worker starts gets the three standard descriptors, no signal blocked, none ignored."""
    if lib.is_reference(args.program):
        tap.skip("external checks", "the reference's program gets the signals that it ignores")
        return
    folder = tempfile.mkdtemp(prefix="hapm.")
    try:
        with open(folder + "/check", "w") as f:
            f.write(CHECK)
        os.chmod(folder + "/check", 0o755)
        more = "backend b\n\toption external-check\n\texternal-check path /usr/bin:/bin\n\texternal-check command %s/check\n" \
               "\tserver s 127.0.0.1:1 check inter 3s\n" % folder
        with Master(args, glob="\texternal-check\n\tinsecure-fork-wanted\n") as m:
            for version in ("v2", "v3"):
                m.write(version, more=more)
                m.reload()
                lib.until(lambda: serves(m, version))
            if os.path.exists(folder + "/check.out"):
                os.unlink(folder + "/check.out")
            tap.ok(lib.until(lambda: os.path.exists(folder + "/check.out")), "the check runs", m.output()[-1000:])
            with open(folder + "/check.out") as f:
                text = f.read()
            fds = re.findall(r" (\d+) -> (\S+)", text)
            tap.eq([(n, to) for n, to in fds if int(n) > 2 and not to.startswith("/proc/")], [], "it inherits no descriptor")
            own = 3 << 31  # of the C library, which posix_spawn() ignores
            tap.eq([int(n, 16) & ~own for n in re.findall(r"Sig(?:Blk|Ign):\s*(\w+)", text)], [0, 0], "nor anything of signals")
    finally:
        shutil.rmtree(folder)


def storm(m, signals, gap):
    for sig in signals:
        if m.process.poll() is not None:
            return
        m.process.send_signal(sig)
        time.sleep(gap())


def test_storms(tap, args):
    """Signals that ask for a reload while one goes on, at every moment of it."""
    rng = random.Random(args.seed)
    storms = [("%d at 90 ms" % args.signals, [signal.SIGUSR2] * args.signals, lambda: 0.09),
              ("%d at random" % args.signals, [rng.choice((signal.SIGUSR2, signal.SIGHUP)) for _ in range(args.signals)],
               lambda: rng.uniform(0, 0.18)),
              ("%d that also ask for news" % args.signals,
               [rng.choice((signal.SIGUSR2, signal.SIGTTIN, signal.SIGCHLD)) for _ in range(args.signals)],
               lambda: rng.uniform(0, 0.1))]
    with Master(args) as m:
        before = settled(m.process.pid)
        for name, signals, gap in storms[:2 if lib.is_reference(args.program) else 3]:
            storm(m, signals, gap)
            tap.eq(m.process.poll(), None, name + ": the master lives")
            m.write(name)
            m.process.send_signal(signal.SIGUSR2)
            tap.ok(lib.until(lambda: serves(m, name)), name + ": and reloads", m.output()[-1000:])
            tap.ok(lib.until(lambda: not m.procs()["old"] and descriptors(m.process.pid) == before),
                   name + ": with the descriptors that it began with", (before, descriptors(m.process.pid), m.procs()))


def forty_descriptors():
    resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))


def test_no_descriptors(tap, args):
    """With few descriptors, reloads work for ever; with none left they fail, and the workers stay."""
    if lib.is_reference(args.program):
        tap.skip("40 descriptors", "the reference does not start with them")
        return
    # (its clients stay longer than all reloads take)
    with Master(args, glob="\tmaxconn 5\n", preexec=forty_descriptors, client="600s") as m:
        before = settled(m.process.pid)
        tap.ok(all([reload_with(m, "SIGUSR2", "v%d" % i) for i in range(40)]), "40 reloads with 40 descriptors", m.output()[-900:])
        tap.eq(settled(m.process.pid), before, "of which the master uses as many as at first")
        held = []
        for i in range(50):
            held.append(lib.connect(m.port))
            held[-1].sendall(b"GET / HTTP/1.1\r\n")
            time.sleep(0.02)
            failed = m.procs()["master"][0][2]
            if "Success=1" not in m.reload():
                break
        tap.ok(i < 49, "workers that have something to finish use them up", m.output()[-900:])
        tap.ok(m.process.poll() is None and serves(m, "v39"), "then a reload fails, and the worker of before serves")
        tap.ok(m.procs()["master"][0][2] > failed, "it is counted as failed", m.procs())
        for s in held:
            s.close()
        tap.ok(lib.until(lambda: len(m.procs()["old"]) <= 1), "the old ones leave", m.procs())
        tap.ok(reload_with(m, "SIGUSR2", "later"), "and it reloads again", m.output()[-900:])
        crowd = []
        for _ in range(40):
            crowd.append(socket.socket(socket.AF_UNIX))
            crowd[-1].settimeout(0.1)
            try:
                crowd[-1].connect(m.path)
            except OSError:
                break  # those that cannot be accepted fill the queue
        lib.until(lambda: len(os.listdir("/proc/%d/fd" % m.process.pid)) == 40)
        used = cpu_ticks(m.process.pid)
        time.sleep(0.5)
        tap.ok(cpu_ticks(m.process.pid) - used < 20, "clients that cannot be accepted do not keep it busy")
        for s in crowd:
            s.close()
        tap.ok(lib.until(lambda: "#<PID>" in m.cli("show proc")), "they are once others have left")


def cpu_ticks(pid):
    with open("/proc/%d/stat" % pid) as f:
        words = f.read().rsplit(")", 1)[1].split()
    return int(words[11]) + int(words[12])


def test_gone(tap, args):
    """The file or the folder of the start is gone when a reload wants it: the reload fails, nothing else."""
    if lib.is_reference(args.program):
        tap.skip("a file that is gone", "ends the reference's master")
        return
    with Master(args, (), glob="\tmaster-worker\n", sock=False) as m:
        os.rename(m.conf_path, m.conf_path + ".away")
        m.process.send_signal(signal.SIGUSR2)
        tap.ok(lib.until(lambda: "Failed to load worker" in m.output()), "the file that says master-worker is gone: said",
               m.output()[-900:])
        tap.ok(m.process.poll() is None and serves(m, "v1"), "the worker serves")
        m.write("v2")
        m.process.send_signal(signal.SIGUSR2)
        tap.ok(lib.until(lambda: serves(m, "v2")), "with a file again, it reloads")
    folder = tempfile.mkdtemp(prefix="hapm.")
    os.mkdir(folder + "/sub")
    os.symlink(args.program, folder + "/program")
    args = type(args)(**dict(vars(args), program="./program"))
    try:
        with Master(args, ("-W", "-C", "sub"), cwd=folder) as m:
            tap.ok(reload_with(m, "SIGUSR2", "v2"), "-C with a folder below: a reload", m.output()[-900:])
            os.rename(folder + "/sub", folder + "/away")
            m.write("v3")
            tap.ok("Success=0" in m.reload() and serves(m, "v2"), "the folder of -C is gone: the reload fails", m.output()[-900:])
            os.rename(folder + "/away", folder + "/sub")
            tap.ok(reload_with(m, "SIGUSR2", "v4"), "it is there again", m.output()[-900:])
            os.unlink(folder + "/program")
            tap.ok("Success=0" in m.reload() and serves(m, "v4"), "the program is gone: the reload fails", m.output()[-900:])
            worker = m.procs()["workers"][0][0]
            tap.ok("HAPROXY_PROCESSES" not in m.cli("show env"), "nothing of it stays in the environment")
            storm(m, [signal.SIGUSR2] * 5, lambda: 0.02)
            tap.eq((m.process.poll(), m.procs()["workers"][0][0]), (None, worker), "and more of them change nothing")
    finally:
        shutil.rmtree(folder)


def test_deaf(tap, args):
    """The answer to a reload is long, and its client does not read: others are served meanwhile."""
    if lib.is_reference(args.program):
        tap.skip("deaf clients", "the length of what is said is not the reference's")
        return
    with Master(args, glob="\treload-mode in-process\n") as m:
        m.write("v2", more="".join("\tbogus%d %s\n" % (i, "x" * 1000) for i in range(3000)))
        with socket.socket(socket.AF_UNIX) as s:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            s.connect(m.path)
            s.sendall(b"reload\n")
            lib.until(lambda: "goes on with its configuration" in m.output())
            tap.ok("goes on with its configuration" in m.output(), "the reload ends", m.output()[-500:])
            tap.ok("#<PID>" in m.cli("show proc"), "another client is answered")
            s.settimeout(lib.PATIENCE)
            text = lib.recv_all(s)
            tap.ok(text.startswith(b"Success=0\n") and len(text) > 500000, "what waited is read at last", len(text))


def end_unaccepted(m):
    """The process is told of a client, and ends before it has accepted it. Returns the client."""
    tracer = subprocess.Popen(["strace", "-f", "-q", "-o", "/dev/null", "-e", "inject=accept4:error=EAGAIN", "-p",
                               str(m.process.pid)], stderr=subprocess.DEVNULL)
    lib.until(lambda: traced(m.process.pid))
    c = lib.connect(m.port)
    c.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    time.sleep(0.3)
    m.process.kill()
    m.process.wait()
    tracer.wait(lib.PATIENCE)
    return c


def traced(pid):
    with open("/proc/%d/status" % pid) as f:
        return not re.search(r"TracerPid:\s*0\n", f.read())


def test_old_process(tap, args):
    """The kernel tells one process of a client: when that one ends, the one that has the same sockets serves it."""
    if lib.is_reference(args.program) or not shutil.which("strace"):
        tap.skip("an old process that does not accept", "the reference wakes all processes" if shutil.which("strace")
                 else "there is no strace")
        return
    with Master(args, ("-db",), sock=False, glob="\tnbthread 1\n") as m:
        lib.until(lambda: serves(m, "v1"))
        with open(m.conf_path) as f:
            text = f.read()
        with open(m.conf_path + ".2", "w") as f:
            f.write(text.replace("ctl.sock", "ctl2.sock").replace("v1", "v2"))
        # it stands for the old process, whose end the new one waits for
        other = subprocess.Popen(["/bin/sh", "-c", "trap '' USR1; echo; read line"], stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE)
        other.stdout.readline()
        new = subprocess.Popen([args.program, "-db", "-f", m.conf_path + ".2", "-x", m.dir + "/ctl.sock", "-sf", str(other.pid)],
                               stderr=subprocess.DEVNULL)
        lib.until(lambda: os.path.exists(m.dir + "/ctl2.sock") and m.cli("show version", m.dir + "/ctl2.sock"))
        c = end_unaccepted(m)
        other.communicate(b"\n")
        try:
            got = lib.Reader(c).response()
            tap.eq(got and got[2], b"v2", "a client that an old process was told of is served by the new one")
        except OSError as e:
            tap.ok(False, "a client that an old process was told of is served by the new one", repr(e))
        lib.end(new)


def test_hard_reloads(tap, args):
    with Master(args) as m:
        stuck = 0
        for _ in range(30):
            m.cli("hard-reload")
            for _ in range(4):
                try:
                    m.get()
                except socket.timeout:
                    stuck += 1
                except OSError:
                    pass  # accepted by the worker that was told to end at once
        tap.eq(stuck, 0, "30 hard reloads: no client waits for ever")


def main():
    args = lib.arguments(__doc__, ("signals", 40, "of each storm"), ("seed", 1, "of random moments"))
    tap = lib.Tap()
    tap.run((test_descriptors, test_children, test_storms, test_no_descriptors, test_gone, test_deaf,
             test_old_process, test_hard_reloads), args)
    tap.done()


lib.guarded(main)
