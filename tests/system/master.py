#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Master and worker: start, reload, failed reload, stop, a worker that dies; the master's socket; sockets
that pass from process to process; what the service manager is told. Passes with the reference too.

differs: master-debug
"""
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time

import lib
from lib_master import Master


def test_start(tap, args):
    with Master(args) as m:
        p = m.procs()
        tap.eq(p["master"], [(m.process.pid, 0, 0)], "the master is listed")
        tap.eq([w[1:] for w in p["workers"]], [(0, 0)], "with one worker")
        tap.eq(p["old"], [], "and no old one")
        tap.ok(p["workers"][0][0] != m.process.pid, "which is another process")
        tap.eq(m.get(), "v1", "it serves")
        worker = p["workers"][0][0]
        tap.ok("Pid: %d\n" % worker in m.cli("@1 show info"), "@1 is the worker")
        tap.ok("Pid: %d\n" % worker in m.cli("@!%d show info" % worker), "@!<pid> too")
        tap.ok("#<PID>" in m.cli("@master show proc"), "@master is the master")
        tap.eq(m.cli("@99 show info"), "Can't find the target PID matching the prefix '@99'\n",
               "a number that nobody has")
        tap.ok("Unknown command" in m.cli("show sess"), "workers' commands are not the master's")
        tap.eq(m.cli("show cli level"), "admin\n\n", "the level is admin")
        tap.eq(m.cli("@1 show cli level"), "admin\n\n", "in the worker as well")
        tap.eq(m.cli("user;show cli level"), "user\n\n", "it can be lowered")
        tap.eq(m.cli("user;@1 show cli level"), "user\n\n", "for workers, too")
        tap.eq(m.cli("echo a; @1 echo b; echo c"), "a\n\nb\n\nc\n\n",
               "several commands on a line, in order")
        tap.eq(m.cli("@1\necho a\n@\nshow cli level"), "a\n\nadmin\n\n", "lines, and a context")
        tap.eq(m.cli("@@1 echo a; echo b"), "a\n\nb\n\n", "@@ hands over the whole line")
        tap.eq(m.cli("prompt\necho a\n@1\necho b"),
               "master> a\n\nmaster> %d> b\n\n%d> " % (worker, worker), "prompts")
        tap.ok("Unknown command" in m.cli("show pools"), "commands of workers are not the master's")
        tap.ok("pools usage" in m.cli("mcli-debug-mode on; show pools"), "but some are, with mcli-debug-mode")
        tap.ok("Unknown command" in m.cli("mcli-debug-mode on; mcli-debug-mode off; show pools"), "as long as it is on")
        tap.ok("show pools" in m.cli("mcli-debug-mode on; help") and "show pools" not in m.cli("help"), "help lists them then")
        tap.ok(m.cli("_loadstatus").startswith("Success=1\n--\n"), "_loadstatus: how the start went")
        tap.eq(m.cli("prompt\nexperimental-mode on\nexpert-mode on"),
               "master> master(x)> master(xe)> ", "modes")
        m.process.terminate()
        tap.eq(m.wait(), 0, "SIGTERM ends all, with 0")
        text = m.output()
        tap.ok("Exiting Master process" in text and
               "Current worker (%d) exited with code 143" % worker in text and
               "All workers exited. Exiting... (0)" in text, "and says so", text)


def test_stop(tap, args):
    for sig, status in ((signal.SIGUSR1, 0), (signal.SIGINT, 130)):
        with Master(args) as m:
            m.process.send_signal(sig)
            tap.eq(m.wait(), status, "%s ends all, with %d" % (sig.name, status))


def test_reload(tap, args):
    with Master(args) as m:
        first = m.procs()["workers"][0][0]
        slow = lib.connect(m.port)
        slow.sendall(b"GET / HTTP/1.1\r\n")
        time.sleep(0.1)
        m.write("v2")
        answer = m.reload()
        tap.ok(answer.startswith("Success=1\n--\n") and "Loading success." in answer,
               "a reload tells its success", answer)
        tap.ok(lib.until(lambda: m.get() == "v2"), "the new worker serves")
        p = m.procs()
        tap.eq((p["master"], len(p["workers"])), ([(m.process.pid, 1, 0)], 1), "it was counted")
        tap.eq([o[:2] for o in p["old"]], [(first, 1)], "the old worker finishes what it has")
        slow.sendall(b"Host: x\r\n\r\n")
        tap.eq(lib.Reader(slow).response()[2], b"v1", "with its own configuration")
        slow.close()
        tap.ok(lib.until(lambda: not m.procs()["old"]), "then leaves")
        m.write("v3", more="\tbogus\n")
        current = m.procs()["workers"][0][0]
        answer = m.reload()
        tap.ok(answer.startswith("Success=0\n--\n") and "unknown keyword 'bogus'" in answer,
               "a reload tells why it failed", answer)
        tap.eq(m.get(), "v2", "the worker of before serves")
        p = m.procs()
        tap.eq((p["workers"], [o[0] for o in p["old"]]), ([], [current]), "as an old one")
        tap.eq(p["master"][0][2], 1, "the failure was counted")
        tap.ok("unknown keyword 'bogus'" in m.cli("show startup-logs"), "show startup-logs tells")
        tap.ok("master[ReloadFailed]> " in m.cli("prompt"), "so does the prompt")
        m.write("v4")
        m.process.send_signal(signal.SIGUSR2)
        tap.ok(lib.until(lambda: m.get() == "v4"), "SIGUSR2 reloads")
        m.write("v5")
        tap.ok("Success=1" in m.cli("hard-reload") or True, "hard-reload is taken")
        tap.ok(lib.until(lambda: m.get() == "v5"), "and reloads")
        tap.eq(m.process.poll(), None, "one master all the time")


def test_failures(tap, args):
    with Master(args, glob="\tbogus\n", wait=False) as m:
        tap.eq(m.wait(), 1, "a bad file: no start, 1")
    with Master(args) as m:
        worker = m.procs()["workers"][0][0]
        os.kill(worker, signal.SIGKILL)
        tap.eq(m.wait(), 137, "a worker that is killed ends the master")
        tap.ok("Current worker (%d) exited with code 137" % worker in m.output(), "who says so")
        tap.ok(lib.is_refused(m.port), "nothing listens any more")
    with Master(args) as m:
        worker = m.procs()["workers"][0][0]
        m.process.kill()
        m.process.wait()
        tap.ok(lib.until(lambda: lib.is_refused(m.port)), "a worker without its master leaves")
    done = subprocess.run([args.program, "-S", "/nowhere", "-f", m.conf_path],
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    tap.eq(done.returncode, 1, "-S without -W is refused")


def test_daemon(tap, args):
    pid_path = tempfile.mktemp(prefix="hapm.")
    with Master(args, ("-W", "-D", "-p", pid_path), wait=False) as m:
        tap.eq(m.wait(), 0, "a daemon's starter leaves with 0")
        tap.eq(m.get(), "v1", "when it serves")
        with open(pid_path) as f:
            pid = int(f.read())
        tap.eq(m.procs()["master"][0][0], pid, "the pid file names the master")
        m.write("v2")
        m.reload()
        tap.ok(lib.until(lambda: m.get() == "v2"), "it can be reloaded")
        tap.eq(m.procs()["master"][0][:2], (pid, 1), "by the same process")
        os.kill(pid, signal.SIGTERM)
        tap.ok(lib.until(lambda: lib.is_refused(m.port)), "and ended")
        os.unlink(pid_path)
    with Master(args, ("-W", "-D"), glob="\tbogus\n", wait=False) as m:
        tap.eq(m.wait(), 1, "a bad file is told to the starter")


def test_max_reloads(tap, args):
    with Master(args, (), glob="\tmaster-worker\n", sock=False) as m:
        tap.eq(m.get(), "v1", "'master-worker' is -W")
        m.write("v2")
        m.process.send_signal(signal.SIGUSR2)
        tap.ok(lib.until(lambda: m.get() == "v2"), "and reloads")
    with Master(args, glob="\tmworker-max-reloads 1\n") as m:
        hold = lib.connect(m.port)
        hold.sendall(b"GET / HTTP/1.1\r\n")
        time.sleep(0.1)
        m.reload()
        tap.eq(len(m.procs()["old"]), 1, "an old worker outlives one reload")
        m.reload()
        tap.ok(lib.until(lambda: not m.procs()["old"]), "not more than mworker-max-reloads")
        hold.close()


class Hammer(threading.Thread):
    """New connections one after the other."""

    def __init__(self, port):
        super().__init__(daemon=True)
        self.port, self.stop, self.done, self.failures = port, False, 0, []

    def run(self):
        while not self.stop:
            try:
                with lib.connect(self.port) as s:
                    s.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                    got = lib.Reader(s).response()
                if got and got[0] == 200:
                    self.done += 1
                else:
                    self.failures.append(repr(got))
            except OSError as e:
                self.failures.append(repr(e))


def test_no_loss(tap, args):
    with Master(args) as m:
        crowd = [Hammer(m.port) for _ in range(3)]
        for t in crowd:
            t.start()
        for i in range(4):
            m.write("v%d" % i)
            m.reload()
        for t in crowd:
            t.stop = True
        for t in crowd:
            t.join()
        tap.eq([f for t in crowd for f in t.failures], [], "no connection is lost during reloads")


def test_transfer_fails(tap, args):
    """A new process that got the sockets and cannot start, or ends, leaves them to the old one as they were."""
    def serves():
        try:
            return m.get()
        except OSError:
            return None
    with Master(args, ("-db",), sock=False, wait=False) as m:
        lib.until(lambda: not lib.is_refused(m.port))
        command = [args.program, "-db", "-f", m.conf_path + ".3", "-x", m.dir + "/ctl.sock"]
        with open(m.conf_path) as f:
            text = f.read()
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            with open(m.conf_path + ".2", "w") as f:
                f.write(text + "\nlisten other\n\tbind 127.0.0.1:%d\n" % taken.getsockname()[1])
            for more in ([], ["-sf", str(m.process.pid)]):
                new = subprocess.run([args.program, "-db", "-f", m.conf_path + ".2", "-x", m.dir + "/ctl.sock"] + more,
                                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                tap.eq(new.returncode, 1, "-x: a new process that cannot start %s" % " ".join(more[:1]))
                tap.ok(lib.until(serves), "and the old one serves")
        with open(m.conf_path + ".3", "w") as f:
            f.write(text.replace(m.dir + "/ctl.sock", m.dir + "/new.sock"))
        for sig in (signal.SIGTERM, signal.SIGUSR1):
            new = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            lib.until(lambda: os.path.exists(m.dir + "/new.sock"))
            time.sleep(0.1)
            new.send_signal(sig)
            new.wait(lib.PATIENCE)
            tap.eq([serves() for _ in range(4)], ["v1"] * 4, "-x: after %s of the new process too" % sig.name)


def test_transfer(tap, args):
    """-x: the new process listens on the sockets of the old one."""
    with Master(args, ("-db",), sock=False, wait=False) as m:
        lib.until(lambda: not lib.is_refused(m.port))
        m.write("v2")
        new = subprocess.Popen([args.program, "-db", "-f", m.conf_path, "-x", m.dir + "/ctl.sock",
                                "-sf", str(m.process.pid)], stderr=subprocess.DEVNULL)
        tap.eq(m.wait(), 0, "-x -sf: the old process leaves")
        tap.ok(lib.until(lambda: m.get() == "v2"), "the new one serves")
        with open("/proc/net/tcp") as f:
            lines = [l for l in f if ":%04X 00000000:0000 0A" % m.port in l]
        tap.eq(len(lines) >= 1, True, "it listens")
        new.terminate()
        new.wait()
    test_transfer_fails(tap, args)
    none = subprocess.run([args.program, "-db", "-f", m.conf_path, "-x", "/nowhere/ctl.sock"],
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    tap.eq(none.returncode, 1, "-x with a socket that is not there is refused")


class Manager:
    """The service manager's side of sd_notify."""

    def __init__(self):
        self.dir = tempfile.mkdtemp(prefix="hapm.")
        self.path = self.dir + "/notify"
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.sock.bind(self.path)
        self.sock.settimeout(lib.PATIENCE)

    def next(self):
        try:
            return dict(l.split("=", 1) for l in self.sock.recv(4096).decode().split("\n") if l)
        except socket.timeout:
            return {}

    def close(self):
        self.sock.close()
        shutil.rmtree(self.dir, ignore_errors=True)


def test_notify(tap, args):
    manager = Manager()
    env = dict(os.environ, NOTIFY_SOCKET=manager.path)
    with Master(args, ("-Ws",), env=env) as m:
        pid = str(m.process.pid)
        tap.eq(manager.next(), {"READY": "1", "MAINPID": pid, "STATUS": "Ready."}, "-Ws: ready")
        m.process.send_signal(signal.SIGUSR2)
        told = manager.next()
        tap.eq((told.get("RELOADING"), told.get("STATUS")), ("1", "Reloading Configuration."),
               "reloading")
        tap.ok(told.get("MONOTONIC_USEC", "").isdigit(), "with its time")
        tap.eq(manager.next(), {"READY": "1", "MAINPID": pid, "STATUS": "Ready."}, "ready again")
        m.write("v2", more="\tbogus\n")
        m.process.send_signal(signal.SIGUSR2)
        tap.eq(manager.next().get("RELOADING"), "1", "reloading")
        tap.eq(manager.next(), {"READY": "1", "STATUS": "Reload failed!"}, "a failed reload")
        m.write("v3")
        m.process.send_signal(signal.SIGUSR2)
        tap.eq([manager.next().get("RELOADING"), manager.next().get("STATUS")], ["1", "Ready."],
               "and a good one")
        time.sleep(0.3)
        m.process.send_signal(signal.SIGUSR1)
        tap.eq(manager.next(), {"STOPPING": "1"}, "stopping")
        tap.eq(m.wait(), 0, "and over")
    if not lib.is_reference(args.program):
        env["WATCHDOG_USEC"] = "200000"
        with Master(args, ("-Ws",), env=env) as m:
            seen = [manager.next() for _ in range(4)]
            tap.ok({"WATCHDOG": "1"} in seen, "the watchdog hears of it", seen)
    manager.close()


def activate(n):
    """In the child: descriptor 3 is the socket, as a service manager hands it over."""
    def run():
        os.dup2(n, 3)
        os.set_inheritable(3, True)
    return run


def test_ask(tap, args):
    if lib.is_reference(args.program):
        tap.skip("--ask", "an extension")
        return
    with Master(args) as m:
        for path, words in ((m.dir + "/ctl.sock", ["show version"]), (m.path, ["show version"]),
                            (m.dir + "/ctl.sock", ["show", "version"])):
            done = subprocess.run([args.program, "--ask", path] + words,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            tap.eq((done.returncode, done.stdout.count(b".") >= 1), (0, True),
                   "--ask prints what a process answers, and exits with 0")
    done = subprocess.run([args.program, "--ask", m.path, "show version"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    tap.eq((done.returncode, b"'stats socket <path> level admin'" in done.stderr), (1, True), "1 when nobody answers, and what is wanted")


def test_sockets(tap, args):
    """Several sockets of the master, with levels; what a lonely process does with SIGUSR2."""
    with Master(args) as m:
        text = m.cli("@1 show cli sockets")
        tap.ok(text.startswith("# socket lvl processes\n") and
               "\nunix@%s/ctl.sock admin all\n" % m.dir in text, "show cli sockets", text)
    with Master(args, ("-W", "-S", "/tmp/hapm.%d.sock,level,user,mode,600" % os.getpid())) as m:
        low = "/tmp/hapm.%d.sock" % os.getpid()
        tap.eq(m.cli("show cli level", low), "user\n\n", "-S with a level")
        tap.eq(os.stat(low).st_mode & 0o777, 0o600, "and a mode")
        tap.eq(m.cli("show cli level"), "admin\n\n", "beside another one")
        tap.eq(m.cli("reload", low), "Permission denied\n\n", "a user may not reload")
        os.unlink(low)
    with Master(args, ("-db",), sock=False, wait=False) as m:
        lib.until(lambda: not lib.is_refused(m.port))
        m.get()  # before it serves, signals do what they do to any process
        m.process.send_signal(signal.SIGUSR2)
        time.sleep(0.1)
        tap.eq(m.get(), "v1", "SIGUSR2 means nothing to a process without a master")


def test_activation(tap, args):
    if lib.is_reference(args.program):
        tap.skip("socket activation", "the reference knows fd@ only")
        return
    with Master(args, ("-db",), sock=False, wait=False) as m:
        m.process.terminate()
        m.wait()
        with socket.socket() as s:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            s.bind(("127.0.0.1", m.port))
            s.listen(16)
            c = lib.connect(m.port)
            script = 'LISTEN_PID=$$ LISTEN_FDS=1 exec "$0" -db -f "$1"'
            p = subprocess.Popen(["/bin/sh", "-c", script, args.program, m.conf_path],
                                 preexec_fn=activate(s.fileno()), close_fds=False,
                                 stderr=subprocess.DEVNULL)
            c.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            got = lib.Reader(c).response()
            tap.eq(got and got[2], b"v1", "a client that came before the process is served")
            c.close()
            p.terminate()
            p.wait()


def test_crash(tap, args):
    """What becomes of old workers when the current one dies."""
    for words, survives in (("", False), (" no-exit-on-failure", True)):
        with Master(args, glob="\tmaster-worker%s\n" % words) as m:
            slow = lib.connect(m.port)
            slow.sendall(b"GET / HTTP/1.1\r\n")
            time.sleep(0.1)
            m.write("v2")
            m.reload()
            p = m.procs()
            tap.eq(len(p["old"]), 1, "an old worker has something to finish")
            os.kill(p["workers"][0][0], signal.SIGILL)  # sanitizers take SIGSEGV
            lib.until(lambda: "exited with code 132" in m.output())
            if survives:
                tap.eq(m.procs()["workers"], [], "no-exit-on-failure: the current worker died")
                slow.sendall(b"Host: x\r\nConnection: close\r\n\r\n")
                got = lib.Reader(slow).response()
                tap.eq(got and got[2], b"v1", "the old one finishes")
            else:
                tap.eq(lib.recv_all(slow), b"", "without it the old one is ended too")
            slow.close()
            tap.eq(m.wait(), 132, "and the master leaves with the status of the one that died")
    with Master(args, glob="\tmaster-worker no-exit-on-failure\n") as m:
        slow = lib.connect(m.port)
        slow.sendall(b"GET / HTTP/1.1\r\n")
        time.sleep(0.1)
        m.reload()
        os.kill(m.procs()["workers"][0][0], signal.SIGILL)
        lib.until(lambda: "exited with code 132" in m.output())
        m.write("v3")
        tap.ok("Success=1" in m.reload() and lib.until(lambda: not lib.is_refused(m.port) and m.get() == "v3"),
               "a reload brings another worker")
        slow.close()


def test_upgrade(tap, args):
    """The program's file is replaced: a reload takes it up, the master's process stays."""
    with open(args.program, "rb") as f:
        if f.read(2) == b"#!":
            tap.skip("a new program file", "this one is a script that starts another")
            return
    folder = tempfile.mkdtemp(prefix="hapm.")
    program = folder + "/haproxy"
    shutil.copy(args.program, program)
    args = type(args)(**dict(vars(args), program=program))
    with Master(args) as m:
        before = os.stat("/proc/%d/exe" % m.process.pid).st_ino
        held = lib.connect(m.port)
        shutil.copy(program, program + ".new")
        os.rename(program + ".new", program)
        m.write("v2")
        tap.ok("Success=1" in m.reload(), "a new program file")
        tap.ok(os.stat("/proc/%d/exe" % m.process.pid).st_ino != before, "is what the same master runs then")
        worker = m.procs()["workers"][0][0]
        tap.eq(os.stat("/proc/%d/exe" % worker).st_ino, os.stat(program).st_ino, "and its worker")
        tap.ok(lib.until(lambda: m.get() == "v2"), "which serves, once the old one has left")
        held.close()
        with open(program + ".new", "w") as f:
            f.write("no program\n")
        os.rename(program + ".new", program)
        m.write("v3")
        m.process.send_signal(signal.SIGUSR2)
        tap.ok(lib.until(lambda: "Failed to reexecute" in m.output()), "one that cannot be run: said")
        tap.eq((m.get(), m.process.poll()), ("v2", None), "and the worker of before serves")
    shutil.rmtree(folder, ignore_errors=True)


def test_startup_logs(tap, args):
    """Without a master, the process keeps what it said at its start."""
    quiet = "\tmaxconn 100\n" + ("" if os.getuid() else "\tchroot /\n\tuser root\n")
    with Master(args, ("-db",), glob=quiet, sock=False, wait=False) as m:
        def said():
            try:
                return m.cli("show startup-logs", m.dir + "/ctl.sock")
            except OSError:
                return None

        tap.eq(lib.until(said), "\n", "nothing was said")
        m.process.terminate()
        m.wait()
        with open(m.conf_path) as f:
            text = f.read()
        with open(m.conf_path, "w") as f:
            f.write(text.replace("timeout client 5s", ""))
        p = subprocess.Popen([args.program, "-db", "-f", m.conf_path], stderr=subprocess.DEVNULL)
        text = lib.until(said) or ""
        tap.ok("missing timeouts for frontend 'fe'" in text, "a warning can be read later", text)
        p.terminate()
        p.wait()


def test_unit(tap, args):
    """The unit of admin/systemd, as it is installed."""
    if lib.is_reference(args.program):
        tap.skip("the unit for the service manager", "ours")
        return
    if not shutil.which("systemd-analyze"):
        tap.apart("systemd", "the unit for the service manager")
        return
    top = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    folder = tempfile.mkdtemp(prefix="hapm.")
    shutil.copy(args.program, folder + "/haproxy")
    with open(top + "/admin/systemd/haproxy.service.in") as f:
        text = f.read().replace("@SBINDIR@", folder)
    with open(folder + "/haproxy.service", "w") as f:
        f.write(text)
    got = subprocess.run(["systemd-analyze", "verify", "--man=no", folder + "/haproxy.service"],
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    said = [l for l in got.stdout.split("\n") if "haproxy" in l]
    tap.eq((got.returncode, said), (0, []), "systemd-analyze verify has nothing to say")
    got = subprocess.run(["systemd-analyze", "security", "--offline=true", folder + "/haproxy.service"],
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    level = re.search(r"exposure level for \S+: ([0-9.]+)", got.stdout)
    if level:
        tap.ok(float(level.group(1)) < 3.5, "systemd-analyze security: exposed by less than 3.5", got.stdout[-300:])
    else:
        tap.skip("systemd-analyze security", "this version does not look at files")
    shutil.rmtree(folder, ignore_errors=True)


def main():
    args = lib.arguments(__doc__)
    tap = lib.Tap()
    for test in (test_start, test_stop, test_reload, test_failures, test_daemon, test_max_reloads,
                 test_no_loss, test_transfer, test_notify, test_sockets, test_activation, test_ask,
                 test_crash, test_upgrade, test_startup_logs, test_unit):
        test(tap, args)
    tap.done()


lib.guarded(main)
