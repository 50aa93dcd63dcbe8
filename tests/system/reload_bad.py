#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Reloads that cannot succeed: whatever is wrong with what they read, or with the moment, the process goes on
with what it has, tells the caller why, and keeps nothing. In the process (an extension), and by a master.
"""
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time

import lib

CONF = """global
	nbthread 2
	stats socket {dir}/ctl.sock level admin expose-fd listeners
defaults
	mode http
	timeout connect 5s
	timeout client 300s
	timeout server 20s
frontend fe
	bind 127.0.0.1:{p[0]}
	bind 127.0.0.1:{p[1]} ssl crt {dir}/site.pem
	http-request return status 200 content-type text/plain string {version}
{more}
"""


def certificate(path, name):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                    "-days", "9", "-subj", "/CN=" + name, "-keyout", path + ".k", "-out", path + ".c"],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    parts = []
    for end in (".c", ".k"):
        with open(path + end) as f:
            parts.append(f.read())
        os.unlink(path + end)
    with open(path, "w") as f:
        f.write("".join(parts))
    return parts


class Scene:
    """<user>: it gives up its rights, with a master for reloads."""

    def __init__(self, args, user=False):
        self.dir = tempfile.mkdtemp(prefix="hapr.")
        os.chmod(self.dir, 0o711)
        self.p = lib.ports(4)
        self.conf_path = self.dir + "/test.cfg"
        self.user = user
        self.one = certificate(self.dir + "/site.pem", "one")
        self.write("v1")
        self.log = open(self.dir + "/output", "wb")
        # of several heaps of the C library each would keep something: that is no leak, but not constant
        env = dict(os.environ, MALLOC_ARENA_MAX="1")
        self.process = subprocess.Popen([args.program] + (["-W"] if user else []) + ["-db", "-f", self.conf_path],
                                        stdout=self.log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env=env)
        if not lib.until(self.version):
            raise RuntimeError(self.output())
        self.pid = int(re.search(r"^Pid: (\d+)", self.ctl("show info"), re.M).group(1))
        self.kept = lib.connect(self.p[0])

    def write(self, version, more=""):
        text = CONF.format(dir=self.dir, p=self.p, version=version, more=more)
        if self.user:
            text = text.replace("\n", "\n\tuser nobody\n\tgroup nogroup\n\tchroot %s\n" % self.dir, 1)
        with open(self.conf_path, "w") as f:
            f.write(text)

    def output(self):
        with open(self.dir + "/output", errors="replace") as f:
            return f.read()

    def ctl(self, text):
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(60)
            s.connect(self.dir + "/ctl.sock")
            s.sendall(text.encode() + b"\n")
            return lib.recv_all(s).decode("latin-1")

    def version(self, sock=None):
        try:
            s = sock or lib.connect(self.p[0])
            s.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            got = lib.Reader(s).response()
            if not sock:
                s.close()
            return got and got[2].decode()
        except OSError:
            return None

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        lib.end(self.process)
        self.log.close()
        shutil.rmtree(self.dir, ignore_errors=True)


def reloaded(sc):
    """The answer; None: the one before has not ended."""
    answer = sc.ctl("reload")
    return None if "Another reload is going on" in answer else answer


def descriptors(pid):
    return len(os.listdir("/proc/%d/fd" % pid))


def memory_kb(pid):
    """What it has once it gave back what it can: SIGQUIT asks for that."""
    os.kill(pid, signal.SIGQUIT)
    time.sleep(0.05)
    with open("/proc/%d/status" % pid) as f:
        return int(next(l for l in f if l.startswith("RssAnon")).split()[1])


# --- what may be wrong: each prepares, and returns what undoes it -------------------------------

def folder_instead(sc):
    """Not readable whoever reads it."""
    os.rename(sc.conf_path, sc.conf_path + ".away")
    os.mkdir(sc.conf_path)

    def undo():
        os.rmdir(sc.conf_path)
        os.rename(sc.conf_path + ".away", sc.conf_path)
    return undo


def loop_of_links(sc):
    os.rename(sc.conf_path, sc.conf_path + ".away")
    os.symlink(sc.conf_path, sc.conf_path)

    def undo():
        os.unlink(sc.conf_path)
        os.rename(sc.conf_path + ".away", sc.conf_path)
    return undo


def vanished(sc):
    os.rename(sc.conf_path, sc.conf_path + ".away")
    return lambda: os.rename(sc.conf_path + ".away", sc.conf_path)


def empty(sc):
    open(sc.conf_path, "w").close()
    return lambda: sc.write("v1")


def half(sc):
    sc.write("v9", "backend be\n\tserver s 127.0.0.1:1 weight 10\n")
    with open(sc.conf_path, "r+") as f:
        f.truncate(len(f.read()) - 10)
    return lambda: sc.write("v1")


def enormous(sc):
    """More than is read at all; its size is on no disk."""
    sc.write("v9")
    os.truncate(sc.conf_path, (1 << 30) + 1)
    return lambda: sc.write("v1")


def many_mistakes(sc):
    sc.write("v9", "".join("\tmistake %d\n" % i for i in range(4000)))
    return lambda: sc.write("v1")


def long_line(sc):
    sc.write("v9", "\thttp-request set-header x " + "y" * 3000000 + "\n\tmistake\n")
    return lambda: sc.write("v1")


def binary(sc):
    with open(sc.conf_path, "wb") as f:
        f.write(bytes(range(256)) * 400)
    return lambda: sc.write("v1")


def other_key(sc):
    other = certificate(sc.dir + "/other.pem", "two")
    with open(sc.dir + "/site.pem", "w") as f:
        f.write(sc.one[0] + other[1])

    def undo():
        with open(sc.dir + "/site.pem", "w") as f:
            f.write("".join(sc.one))
    return undo


def no_certificate(sc):
    os.rename(sc.dir + "/site.pem", sc.dir + "/away.pem")
    return lambda: os.rename(sc.dir + "/away.pem", sc.dir + "/site.pem")


def taken_port(sc):
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind(("127.0.0.1", sc.p[3]))
    s.listen(1)
    sc.write("v9", "\tbind 127.0.0.1:%d\n\tbind 127.0.0.1:%d\n" % (sc.p[2], sc.p[3]))

    def undo():
        s.close()
        sc.write("v1")
    return undo


def limit_of(pid, new=None):
    """The limits of descriptors of a process, which are set before: (soft, hard). As its own user: root may lack the right to."""
    child = os.fork() if new else 0
    if new and not child:
        try:
            st = os.stat("/proc/%d" % pid)
            os.setresgid(*[st.st_gid] * 3)
            os.setresuid(*[st.st_uid] * 3)
            resource.prlimit(pid, resource.RLIMIT_NOFILE, new)
            os._exit(0)
        finally:
            os._exit(1)
    if new and os.waitpid(child, 0)[1]:
        raise PermissionError("limits of %d" % pid)
    with open("/proc/%d/limits" % pid) as f:
        return tuple(int(x) for x in re.search(r"Max open files\s+(\d+)\s+(\d+)", f.read()).groups())


def no_descriptors(sc):
    """None is left in the process that reloads."""
    limit = limit_of(sc.pid)
    sc.write("v9", "".join("\tbind 127.0.0.1:%d\n" % p for p in sc.p[2:]))
    limit_of(sc.pid, (descriptors(sc.pid) + 2, limit[1]))

    def undo():
        limit_of(sc.pid, limit)
        sc.write("v1")
    return undo


def no_listener(sc):
    with open(sc.conf_path, "w") as f:
        f.write("backend be\n\tmode http\n\tserver s 127.0.0.1:1\n")
    return lambda: sc.write("v1")


WRONG = (
    (folder_instead, r"Success=0"), (loop_of_links, "levels of symbolic links|Cannot open|Could not open"),
    (vanished, "No such file"), (empty, "listener|bind"), (half, "ALERT"), (enormous, "File too large|EFBIG|ALERT"),
    (many_mistakes, "unknown keyword 'mistake'"), (long_line, "unknown keyword 'mistake'"),
    (binary, "ALERT"), (other_key, "site.pem"), (no_certificate, "site.pem"), (taken_port, "cannot bind socket"),
    (no_descriptors, "Too many open files|Cannot|cannot"), (no_listener, "listener"),
)


def test_wrong(tap, args, user):
    how = "without rights" if user else "in the process"
    with Scene(args, user) as sc:
        sanitized = lib.is_sanitized("/proc/%d/exe" % sc.pid)
        for make, pattern in WRONG:
            name = "%s: %s" % (how, make.__name__.replace("_", " "))
            counts, memory = [], []
            for i in range(7):
                undo = make(sc)
                try:
                    answer = lib.until(lambda: reloaded(sc)) or "another goes on"
                except OSError as e:
                    answer = "no answer: %r" % e
                undo()
                if i == 1 or i == 6:
                    lib.until(lambda: not counts or descriptors(sc.pid) <= counts[0], 2)
                    counts.append(descriptors(sc.pid))
                    # the answer is freed when the session that it went to has ended
                    lib.until(lambda: not memory or memory_kb(sc.pid) <= memory[0] * 1.1 + 256, 2)
                    memory.append(memory_kb(sc.pid))
            tap.ok("Success=0" in answer and re.search(pattern, answer), name + ": is refused, and why", answer[:400])
            tap.eq((sc.version(), sc.version(sc.kept)), ("v1", "v1"),
                   name + ": new and kept connections have the old one")
            tap.ok(counts[1] <= counts[0], name + ": no descriptor is kept", counts)
            tap.ok(sanitized or memory[1] <= memory[0] * 1.1 + 256, name + ": nor memory", memory)
        sc.write("v2")
        answer = sc.ctl("reload")
        tap.ok("Success=1" in answer and sc.version(sc.kept) == "v2", how + ": a good one is taken after all this",
               answer)
        tap.eq(sc.ctl("show generations").count(" old "), 0, how + ": no generation is left over")


def test_at_once(tap, args, user):
    with Scene(args, user) as sc:
        sc.write("v2", "".join("backend b%d\n\tserver s 127.0.0.1:1\n" % i for i in range(2000)))
        sc.version(sc.kept)  # it is accepted: its descriptor is counted
        before, answers = descriptors(sc.pid), []
        crowd = [threading.Thread(target=lambda: answers.append(sc.ctl("reload"))) for _ in range(8)]
        for t in crowd:
            t.start()
        for t in crowd:
            t.join()
        tap.ok(all("Success=1" in a or "Another reload" in a for a in answers) and
               any("Success=1" in a for a in answers), "at once: one after the other, or refused", answers)
        tap.eq(sc.version(sc.kept), "v2", "at once: the file is taken")
        tap.ok(lib.until(lambda: descriptors(sc.pid) <= before), "at once: nothing is kept",
               "%d descriptors, then %d" % (before, descriptors(sc.pid)))


def test_stopping(tap, args):
    with Scene(args) as sc:
        busy = lib.connect(sc.p[0])
        busy.sendall(b"GET / HTTP/1.1\r\n")
        cli = socket.socket(socket.AF_UNIX)
        cli.settimeout(lib.PATIENCE)
        cli.connect(sc.dir + "/ctl.sock")
        sc.ctl("show info")  # those who came before were accepted
        sc.process.send_signal(signal.SIGUSR1)
        lib.until(lambda: sc.version() is None)
        cli.sendall(b"reload\n")
        answer = lib.recv_all(cli).decode()
        tap.ok("The process is stopping" in answer, "soft stop: a reload is refused", answer)
        busy.sendall(b"Host: x\r\n\r\n")
        got = lib.Reader(busy).response()
        tap.eq(got and got[2], b"v1", "soft stop: what was on its way is answered")
        busy.close()
        cli.close()
        sc.kept.close()  # it has not asked for anything yet, and may
        tap.eq(sc.process.wait(lib.PATIENCE), 0, "soft stop: and the process ends")
    with Scene(args) as sc:
        sc.write("v2", "".join("backend b%d\n\tserver s 127.0.0.1:1\n" % i for i in range(3000)))
        t = threading.Thread(target=lambda: sc.ctl("reload"))
        t.start()
        time.sleep(0.02)
        sc.process.send_signal(signal.SIGUSR1)
        sc.kept.close()
        tap.eq(sc.process.wait(lib.PATIENCE), 0, "soft stop: during a reload it ends as well")
        t.join()
        text = sc.output()
        tap.ok("Sanitizer" not in text, "soft stop: nothing is kept", text[-2000:])


def main():
    args = lib.arguments(__doc__)
    tap = lib.Tap()
    if lib.is_reference(args.program) or not shutil.which("openssl"):
        tap.skip("reloads that fail", "the reference has none in the process; openssl makes certificates")
        tap.done()
    for user in (False, True) if os.geteuid() == 0 else (False,):
        test_wrong(tap, args, user)
        test_at_once(tap, args, user)
    test_stopping(tap, args)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
