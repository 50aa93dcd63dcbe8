#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The program on its command line: exit codes, versions, checks, daemons, pid files, signals."""
# differs: conf-numbers
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import tarfile
import tempfile

import lib

GOOD = ("global\n\tmaxconn 100\ndefaults\n\tmode http\n\ttimeout client 5s\n"
        "frontend f\n\tbind 127.0.0.1:%d\n\thttp-request return status 200\n")


class Bench:
    def __init__(self, program, folder):
        self.program, self.dir = program, folder
        self.port = lib.ports(1)[0]

    def file(self, name, text):
        path = os.path.join(self.dir, name)
        with open(path, "w") as f:
            f.write(text)
        return path

    def run(self, *args, **kw):
        r = subprocess.run([self.program] + list(args), stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, timeout=lib.PATIENCE,
                           **kw)
        return r.returncode, r.stdout.decode("latin-1"), r.stderr.decode("latin-1")

    def start(self, *args, **kw):
        p = subprocess.Popen([self.program] + list(args), stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, **kw)
        up = lib.until(lambda: self.serves() or p.poll() is not None)
        return p, up and p.poll() is None

    def serves(self):
        try:
            s = lib.connect(self.port, 2)
            s.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            got = lib.Reader(s).response()
            s.close()
            return got and got[0] == 200
        except OSError:
            return False


def versions(tap, b):
    status, out, err = b.run("-v")
    tap.eq(status, 0, "-v: exit status 0")
    tap.ok(re.match(r"HAProxy version 3\.4\S* \d{4}/\d\d/\d\d - .+\n", out), "-v: first line", out)
    status, out, err = b.run("-vv")
    tap.eq(status, 0, "-vv: exit status 0")
    for name in ("Build options :", "  TARGET  = ", "  CC      = ", "  CFLAGS  = ", "  OPTIONS = ",
                 "Feature list : ", "Default settings :", "bufsize = 16384, maxrewrite = 1024",
                 "Built with multi-threading support (MAX_TGROUPS=", "Built with PCRE2 version : ",
                 "Built with SSL library version : OpenSSL ", "Running on SSL library version : OpenSSL ",
                 "SSL library default verify directory : /", "OpenSSL providers loaded : default",
                 "Built with gcc compiler version |Built with clang compiler version ",
                 "Available polling systems :", "      epoll : pref=300,  test result OK",
                 "       poll : pref=200,  test result OK",
                 "     select : pref=150,  test result OK", "3 usable\\), will use epoll.",
                 "Available multiplexer protocols :", "Available services :",
                 "Available filters :"):
        pattern = name if "|" in name or "\\" in name else re.escape(name)
        tap.ok(re.search(pattern, out), "-vv: " + name.split("|")[0].strip(), out[:200])
    status, out, err = b.run("-h")
    tap.ok(status == 1 and "Usage : haproxy" in out + err, "-h: usage and exit status 1", out + err)
    status, out, err = b.run()
    tap.ok(status == 1 and "Usage : haproxy" in out + err, "no argument: usage and exit status 1")
    status, out, err = b.run("-Z")
    tap.ok(status == 1 and "Usage : haproxy" in out + err, "unknown option: usage, exit status 1")


def answers(tap, b):
    """Options that print something and go, and those of a check."""
    good = b.file("good.cfg", GOOD % b.port)
    tap.ok(re.fullmatch(r"3\.4\.\d+\S*\n", b.run("-vq")[1]), "-vq: the version alone", b.run("-vq"))
    tap.ok(re.fullmatch(r"3\.4\.\d+\n", b.run("-vqs")[1]), "-vqs: its numbers", b.run("-vqs"))
    tap.eq(b.run("-vqb")[:2], (0, "3.4\n"), "-vqb: the branch")
    status, out, err = b.run("-dt", "help", "-c", "-f", good)
    tap.ok(status == 0 and "-dt h1 " in out + err and "-dt all:user" in out + err, "-dt help", out + err)
    status, out, err = b.run("-dt", "nosource", "-c", "-f", good)
    tap.ok(status == 1 and "nosource" in out + err, "-dt with a source that does not exist", out + err)
    tap.eq(b.run("-dt", "h1:user:clean,stream", "-c", "-f", good)[0], 0, "-dt takes the next word")
    status, out, err = b.run("-dc", "-c", "-f", good)
    tap.ok(status == 0 and re.search(r"^\[keep\] cpu= +\d+ pk=\d\d no=\d\d cl=\d{3}\(\d{3}\) ", out, re.M)
           and re.search(r"^CPU clusters:\n +0  cpus= *\d+ cores= *\d+ capa=\d+\n", out, re.M)
           and re.search(r"^  Tgrp/Thr  Tid        CPU set\n  1/1\S* +1\S* +\d+: \d", out, re.M), "-dc: CPUs, clusters, threads", out)
    path = os.path.join(b.dir, "libs.tar")
    tap.eq(b.run("-dA" + path, "-c", "-f", good)[0], 0, "-dA<file>")
    with tarfile.open(path) as tar:
        members = {m.name.split("/", 1)[1]: m for m in tar}
        libc = [m for name, m in members.items() if "libc.so" in name or "ld-musl" in name]
        program = os.path.realpath(b.program).lstrip("/")
        tap.ok(program in members and libc and tar.extractfile(libc[0]).read(4) == b"\x7fELF",
               "-dA: a tar file with the program and its libraries", sorted(members))
        with open(b.program, "rb") as f:
            tap.ok(program not in members or tar.extractfile(members[program]).read() == f.read(), "whole ones")
    status, out, err = b.run("-dA", "-c", "-f", good)
    tap.ok(status == 1 and "missing output file name" in err, "-dA without a file", err)
    status, out, err = b.run("-dA" + b.dir + "/nothere/x", "-c", "-f", good)
    tap.ok(status == 1 and "Cannot create output file" in err, "-dA to nowhere", err)
    no_ca = b.file("no-ca.cfg", GOOD % b.port + "backend tls\n\tserver s 127.0.0.1:1 ssl\n")
    tap.eq(b.run("-c", "-f", no_ca)[0], 1, "a server with TLS and no authorities")
    tap.eq(b.run("-dV", "-c", "-f", no_ca)[0], 0, "-dV: its certificate is not looked at")
    for option in ("-dF", "-dZ", "-dS", "-dT"):
        tap.eq(b.run(option, "-c", "-f", good), (0, "", ""), option)


def checks(tap, b):
    good = b.file("good.cfg", GOOD % b.port)
    warn = b.file("warn.cfg", "defaults\n\tmode http\nfrontend f\n\tbind 127.0.0.1:%d\n" % b.port)
    bad = b.file("bad.cfg", "global\n\tnonsense\n")
    none = b.file("none.cfg", "global\n\tmaxconn 10\n")
    more = b.file("more.cfg", "backend more\n")
    tap.eq(b.run("-c", "-f", good), (0, "", ""), "-c of a good file: 0 and silence")
    status, out, err = b.run("-c", "-V", "-f", good)
    tap.ok(status == 0 and "Configuration file is valid" in out, "-c -V says that it is valid", out)
    tap.eq(b.run("-c", "-q", "-f", good), (0, "", ""), "-c -q: 0 and silence")
    status, out, err = b.run("-c", "-f", warn)
    tap.ok(status == 0 and "[WARNING]" in err, "warnings are shown and accepted", err)
    tap.ok("missing timeouts for frontend 'f'" in err, "missing timeouts are told", err)
    status, out, err = b.run("-c", "-q", "-f", warn)
    tap.eq((status, out + err), (0, ""), "-q hides warnings")
    status, out, err = b.run("-c", "-f", bad)
    tap.ok(status == 1 and "[ALERT]" in err and "bad.cfg:2]" in err, "errors: exit status 1", err)
    status, out, err = b.run("-c", "-f", none)
    tap.ok(status == 2 and "no listener" in out + err, "no listener: exit status 2", out + err)
    tap.eq(b.run("-c", "-f", os.path.join(b.dir, "nothere"))[0], 1, "no such file: exit status 1")
    tap.eq(b.run("-c", "-f", good, "-f", more)[0], 0, "several -f")
    tap.eq(b.run("-c", "--", good, more)[0], 0, "files behind --")
    status, out, err = b.run("-c", "-f", good, "-f", bad)
    tap.ok(status == 1 and "bad.cfg:2]" in err, "an error in the second file", err)
    folder = os.path.join(b.dir, "many")
    os.mkdir(folder)
    b.file("many/10.cfg", GOOD % b.port)
    b.file("many/20.cfg", "backend b\n")
    b.file("many/30.txt", "nonsense\n")
    tap.eq(b.run("-c", "-f", folder)[0], 0, "a folder: its .cfg files, in order, and nothing else")
    b.file("many/05.cfg", "backend b\n")
    tap.eq(b.run("-c", "-f", folder)[0], 1, "a folder: a duplicate in two files is seen")
    tap.eq(b.run("-C", b.dir, "-c", "-f", "good.cfg")[0], 0, "-C changes the folder before")
    tap.eq(b.run("-C", b.dir + "/nothere", "-c", "-f", "good.cfg")[0], 1, "-C to nowhere")
    for option in ("-f", "-n", "-N", "-m", "-L", "-p"):
        tap.eq(b.run(option)[0], 1, option + " without its value: exit status 1")
    env = dict(os.environ, PORT=str(b.port), WAIT="5s")
    by_env = b.file("env.cfg", (GOOD % b.port).replace("client 5s", "client $WAIT"))
    tap.eq(b.run("-c", "-f", by_env, env=env)[0], 1, "variables outside quotes are not expanded")
    by_env = b.file("env.cfg", (GOOD % b.port).replace("client 5s", 'client "${WAIT}"'))
    tap.eq(b.run("-c", "-f", by_env, env=env)[0], 0, "variables in double quotes are expanded")
    by_env = b.file("env.cfg", (GOOD % 0).replace("127.0.0.1:0", "127.0.0.1:$PORT"))
    tap.eq(b.run("-c", "-f", by_env, env=env)[0], 0, "variables in addresses are expanded")


def silent_options(tap, b):
    """Nothing is accepted without a word that has no effect; names without address and -dr."""
    good = b.file("options.cfg", GOOD % b.port)
    for option in ("-dG",):
        status, out, err = b.run("-c", option, "-f", good)
        tap.ok(status == 0 and "option '%s'" % option in err, option + ": told to be of no use",
               err)
    lost = b.file("lost.cfg", (GOOD % b.port) + "backend b\n\ttimeout server 1s\n"
                  "\ttimeout connect 1s\n\tserver s no.such.name.invalid:80\n")
    status, out, err = b.run("-c", "-f", lost)
    tap.ok(status == 1 and "could not resolve address 'no.such.name.invalid'" in err,
           "a server without address is an error", err)
    tap.eq(b.run("-c", "-dr", "-f", lost)[0], 0, "-dr: it is not")
    local = b.file("local.cfg", (GOOD % b.port) + "backend b\n\ttimeout server 1s\n"
                   "\ttimeout connect 1s\n\tserver s localhost:80\n")
    tap.eq(b.run("-c", "-f", local), (0, "", ""), "names of servers are resolved")
    status, out, err = b.run("-c", "-dL", "-f", good)
    tap.ok("List of loaded object files:\n" in out and "libc" in out, "-dL lists libraries", out)
    status, out, err = b.run("-dC,line", "-c", "-f", good)
    tap.ok("1\tglobal \n" in out, "-dC,line: with their numbers", out)
    peer = b.file("peer.cfg", (GOOD % b.port).replace("frontend f", 'frontend "$HAPROXY_LOCALPEER"'))
    status, out, err = b.run("-dC", "-L", "joe", "-c", "-f", peer)
    tap.ok(status == 0 and "frontend joe" in out, "-L sets HAPROXY_LOCALPEER", out + err)


def useless_keywords(tap, b):
    """What there is nothing to tune with is accepted, without a warning; -dD tells that it has no effect."""
    conf = "global\n\tzero-warning\n\ttune.buffers.limit 3\n\ttune.buffers.reserve 4\n"
    conf = b.file("useless.cfg", conf + (GOOD % b.port))
    status, out, err = b.run("-c", "-f", conf)
    tap.ok(status == 0 and "buffers" not in err, "what has no effect is no reason for a warning", err)
    status, out, err = b.run("-c", "-dD", "-f", conf)
    tap.ok(status == 0 and err.count("buffers") >= 2 and "memory is limited by -m" in err, "-dD tells what has no effect", err)
    for name, conf in (("npn", GOOD.replace("%d\n", "%d npn h2\n")),
                       ("tune.idle-pool.shared full", GOOD.replace("global\n", "global\n\ttune.idle-pool.shared full\n"))):
        status, out, err = b.run("-dW", "-c", "-f", b.file("moot.cfg", conf % b.port))
        tap.ok(status == 0 and ("[NOTICE]" in err and name in err or lib.is_reference(b.program)), name + ": no warning", err)


def signals(tap, b):
    good = b.file("run.cfg", GOOD % b.port)
    for sig, want in ((signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGUSR1, 0)):
        p, up = b.start("-db", "-f", good)
        tap.ok(up, "%s: started" % sig.name)
        p.send_signal(sig)
        got = p.wait(lib.PATIENCE)
        allowed = (want, -sig) if want else (0,)
        tap.ok(got in allowed, "%s: exit status %d" % (sig.name, want), got)
        p.stdout.close()
    p, up = b.start("-db", "-f", good)
    p.send_signal(signal.SIGHUP)
    tap.ok(up and b.serves() and p.poll() is None, "SIGHUP does not stop the process")
    p.terminate()
    p.wait(lib.PATIENCE)
    p.stdout.close()


def take_over(tap, b):
    """-sf and -st: a new process takes the place of the old one."""
    good = b.file("run.cfg", GOOD % b.port)
    for option in ("-sf", "-st"):
        old, up = b.start("-db", "-f", good)
        tap.ok(up, option + ": the old process serves")
        new = subprocess.Popen([b.program, "-db", "-f", good, option, str(old.pid)],
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               stdin=subprocess.DEVNULL)
        tap.ok(lib.until(lambda: old.poll() is not None), option + ": the old process ends")
        tap.ok(lib.until(b.serves) and new.poll() is None, option + ": the new process serves")
        for p in (old, new):
            if p.poll() is None:
                p.terminate()
            p.wait(lib.PATIENCE)
            p.stdout.close()


def take_over_alone(tap, b):
    """Without SO_REUSEPORT the old process must leave its sockets first; it takes them back when
    the new one cannot start."""
    one = b.file("alone.cfg", "global\n\tnoreuseport\n" + GOOD[GOOD.index("defaults"):] % b.port)
    old, up = b.start("-db", "-f", one)
    tap.ok(up, "noreuseport: the old process serves")
    other = socket.socket()
    other.bind(("127.0.0.1", 0))
    other.listen()
    with open(one) as f:
        text = f.read()
    both = b.file("both.cfg", text + "\tbind 127.0.0.1:%d\n" % other.getsockname()[1])
    status, out, err = b.run("-db", "-f", both, "-sf", str(old.pid))
    tap.ok(status == 1 and "Address already in use" in err, "a new process that cannot start", err)
    tap.ok(lib.until(b.serves) and old.poll() is None, "leaves the old one serving")
    other.close()
    new = subprocess.Popen([b.program, "-db", "-f", one, "-sf", str(old.pid)],
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           stdin=subprocess.DEVNULL)
    tap.ok(lib.until(lambda: old.poll() is not None), "noreuseport: the old process ends")
    tap.ok(lib.until(b.serves) and new.poll() is None, "noreuseport: the new process serves")
    for p in (old, new):
        if p.poll() is None:
            p.terminate()
        p.wait(lib.PATIENCE)
        p.stdout.close()


def alive(pid):
    try:
        os.kill(pid, 0)
        with open("/proc/%d/stat" % pid) as f:
            return f.read().split(") ")[1][0] != "Z"
    except OSError:
        return False


def daemons(tap, b):
    good = b.file("run.cfg", GOOD % b.port)
    pidfile = os.path.join(b.dir, "pid")
    for name, args, conf in (("-D -p", ["-D", "-p", pidfile, "-f", good], None),
                             ("daemon and pidfile", ["-f", os.path.join(b.dir, "daemon.cfg")],
                              "global\n\tdaemon\n\tpidfile %s\n" % pidfile + GOOD % b.port)):
        if conf:
            b.file("daemon.cfg", conf)
        r = subprocess.run([b.program] + args, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, timeout=lib.PATIENCE)
        tap.eq(r.returncode, 0, name + ": the parent returns 0")
        tap.ok(lib.until(b.serves), name + ": the daemon serves")
        with open(pidfile) as f:
            text = f.read()
        if tap.ok(re.match(r"^\d+\n$", text), name + ": one pid in the file", repr(text)):
            pid = int(text)
            tap.ok(alive(pid), name + ": it is the pid of a process")
            os.kill(pid, signal.SIGTERM)
            tap.ok(lib.until(lambda: not alive(pid)), name + ": SIGTERM ends it")
        os.unlink(pidfile)


def port_taken(tap, b):
    port = lib.ports(1)[0]
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind(("127.0.0.1", port))
    s.listen(1)
    status, out, err = b.run("-db", "-f", b.file("taken.cfg", GOOD % port))
    s.close()
    tap.eq(status, 1, "a port that is taken: exit status 1")
    tap.ok("[ALERT]" in err and "[127.0.0.1:%d]" % port in err and "taken.cfg:7" in err,
           "a port that is taken: address, file and line are told", err)


def limits(tap, b):
    """Limits from the command line as show info tells them."""
    conf = "defaults\n\tmode http\n\ttimeout client 5s\nfrontend f\n\tbind 127.0.0.1:%d\n" % b.port
    with lib.Proxy(b.program, conf, args=("-n", "123")) as p:
        info = p.info()
        tap.eq(info["Maxconn"], "123", "-n sets maxconn")
        tap.eq(p.stats()["f", "FRONTEND"]["slim"], "123", "-n limits the frontends")
    with lib.Proxy(b.program, conf, args=("-N", "55")) as p:
        tap.eq(p.stats()["f", "FRONTEND"]["slim"], "55", "-N limits each proxy by default")
    with lib.Proxy(b.program, conf, args=("-m", "77")) as p:
        tap.eq(p.info()["Memmax_MB"], "77", "-m limits the memory")
    for size, maxconn in (("3", "85"), ("7", "190"), ("70", "1900")):
        with lib.Proxy(b.program, conf, args=("-m", size)) as p:
            tap.eq(p.info()["Maxconn"], maxconn, "-m %s leaves room for so many connections" % size)
    with lib.Proxy(b.program, "\tmaxconn 50\n\tnbthread 3\n" + conf) as p:
        info = p.info()
        tap.eq((info["Maxconn"], info["Nbthread"]), ("50", "3"), "maxconn and nbthread")
    for poller, args in (("poll", ("-de",)), ("select", ("-de", "-dp"))):
        with lib.Proxy(b.program, "\tmaxconn 100\n" + conf, args=args + ("-V",)) as p:
            said = re.search(r"using %s\(\)|will use %s\." % (poller, poller), p.output().lower())
            tap.ok(said, " ".join(args) + ": " + poller, p.output())


MEMORY = ("fail no-fail no-merge merge cold-first hot-first integrity no-integrity no-global global no-cache cache caller no-caller tag "
          "no-tag poison no-poison backup no-backup").split()


def for_debugging(tap, b):
    """Options of the command line that developers ask for: -dR, -dM, -dD, -d."""
    good = b.file("debugging.cfg", GOOD % b.port)
    conf = "defaults\n\tmode http\n\ttimeout client 5s\nfrontend f\n\tbind 127.0.0.1:%d\n\thttp-request return status 200\n"
    for args, shared in (((), True), (("-dR",), False)):
        port = lib.ports(1)[0]
        with lib.Proxy(b.program, conf % port, args=args):
            s = socket.socket()
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            tap.eq(s.connect_ex(("127.0.0.1", port)), 0, "it listens")
            s.close()
            with socket.socket() as s:
                s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
                try:
                    s.bind(("127.0.0.1", port))
                    took = True
                except OSError:
                    took = False
            tap.eq(took, shared, "%s: its port can%s be shared" % (" ".join(args) or "without -dR", "" if shared else " not"))
    wrong = [o for o in MEMORY if b.run("-dM" + o, "-c", "-f", good)[0]]
    tap.eq(wrong, [], "-dM with each of its words")
    tap.eq([b.run(o, "-c", "-f", good)[0] for o in ("-dM", "-dM0", "-dM80,no-merge,tag", "-dMnothing")], [0, 0, 0, 1],
           "-dM, with a byte, with words behind it, with a word that is none")
    status, out, err = b.run("-dMhelp")
    lacking = [o for o in MEMORY if not o.startswith("no-") and o not in ("hot-first", "merge") and o not in out + err]
    tap.ok(status == 0 and not lacking, "-dMhelp lists them", (status, lacking, out + err))
    odd = b.file("odd.cfg", GOOD % b.port + "backend odd\n\tserver s 127.0.0.1:1 cookie a\n\tserver t 127.0.0.1:2 cookie a\n"
                 "\ttimeout connect 5s\n\ttimeout server 5s\n\tcookie x insert\n")
    tap.eq([("[DIAG]" in err, status) for status, _, err in [b.run(*o, "-c", "-f", odd) for o in ((), ("-dD",))]],
           [(False, 0), (True, 0)], "-dD tells what is odd")
    port = lib.ports(1)[0]
    with lib.Proxy(b.program, "\tdaemon\n" + conf % port, args=("-d",)) as p:
        lib.connect(port).sendall(b"GET /seen HTTP/1.0\r\n\r\n")
        tap.ok(p.alive(), "-d is stronger than daemon: it stays in the foreground")


def precedence(tap, b):
    """The command line is stronger than the file; lists of classes, of pids, of files."""
    good = b.file("precedence.cfg", GOOD % b.port)
    conf = "defaults\n\tmode http\n\ttimeout client 5s\nfrontend f\n\tbind 127.0.0.1:%d\n" % b.port
    if not lib.is_reference(b.program): # (it reads 0 there)
        tap.eq([b.run("-m", size, "-c", "-f", good)[0] for size in ("x", "-5", "60")], [1, 1, 0], "-m takes numbers only")
    with lib.Proxy(b.program, "\tmaxconn 50\n" + conf, args=("-n", "20", "-m", "88")) as p:
        info = p.info()
        tap.eq((info["Maxconn"], info["Memmax_MB"]), ("20", "88"), "-n is stronger than maxconn")
    warned = b.file("warned.cfg", (GOOD % b.port).replace("\ttimeout client 5s\n", ""))
    tap.ok("[WARNING]" in b.run("-c", "-f", warned)[2], "a file with a warning")
    tap.eq([b.run(*o, "-c", "-f", warned)[0] for o in ((), ("-dW",))], [0, 1], "-dW: it is refused")
    tap.eq(b.run("-sf", "-c", "-f", good)[0], 0, "-sf: an empty list, which the next option ends")
    tap.eq(b.run("-st", "1234567", "7654321", "-c", "-f", good)[0], 0, "-st: several pids")
    servers = b.file("servers.cfg", "\tserver s 127.0.0.1:1\n")
    tap.eq(b.run("-c", "-f", good, "-f", servers)[0], 1, "each file begins with a section")
    tap.eq(b.run("-c", "--", good, servers)[0], 1, "behind -- too")
    text = b.run("-dKcfg,smp", "-q", "-c", "-f", good)[1]
    tap.ok(re.search(r"^global\b", text, re.M) and re.search(r"\breq\.hdr\(", text), "-dKcfg,smp: both classes", text[:300])
    tap.ok("req.hdr(" not in b.run("-dKcfg", "-q", "-c", "-f", good)[1], "-dKcfg: not the other one")
    tap.ok("req.hdr(" in b.run("-dKall", "-q", "-c", "-f", good)[1], "-dKall: all")
    text = "".join(b.run("-dKhelp", "-c", "-f", good)[1:])
    tap.ok(re.search(r"\bcfg\b", text) and re.search(r"\bsmp\b", text), "-dKhelp: the classes", text)
    text = b.run("-dKall", "-f", "/dev/null", "-c", "-q")
    tap.ok(text[0] != 0 and "req.hdr(" in text[1], "-dK without a configuration: not 0", text[0])
    text = b.run("-V", "-dL", "-c", "-f", good)[1]
    tap.ok(re.search(r"0x[0-9a-f]+.*libc", text), "-V -dL: with addresses", text[:300])
    tap.ok("0x" not in b.run("-V", "-q", "-dL", "-c", "-f", good)[1], "but not with -q")


def descriptors(tap, b):
    """How limits of descriptors follow from the configuration, told by differences."""
    def info(glob="\tnbthread 1\n\tmaxconn 1000\n", listeners=1, limit=None, args=(), more=""):
        conf = glob + "defaults\n\tmode http\n\ttimeout client 5s\n" + more
        for port in lib.ports(listeners):
            conf += "frontend f%d\n\tbind 127.0.0.1:%d\n" % (port, port)

        def lower():
            if limit:
                resource.setrlimit(resource.RLIMIT_NOFILE, limit)

        with lib.Proxy(b.program, conf, args=args, preexec=lower) as p:
            got = p.info()
            slim = next(r["slim"] for k, r in p.stats().items() if k[1] == "FRONTEND")
            return int(got["Maxsock"]), int(got["Maxconn"]), int(got["Ulimit-n"]), int(slim)

    base = info()
    tap.eq(base[1], 1000, "maxconn is taken as it is")
    tap.eq(base[3], 1000, "a frontend without maxconn has that of the process")
    tap.ok(2000 < base[0] < 2200, "two descriptors for each connection, and some", base)
    tap.eq(info("\tnbthread 1\n\tmaxconn 1500\n")[0] - base[0], 1000, "500 more connections")
    tap.eq(info(listeners=4)[0] - base[0], 3, "three more listeners")
    tap.eq(info("\tnbthread 1\n\tmaxconn 1000\n\tmaxpipes 100\n")[0] - base[0], 200, "100 pipes")
    line = "\tserver s%d 127.0.0.1:1 "
    late = "backend b\n\ttimeout connect 5s\n\ttimeout server 5s\n\tdefault-server inter 60s\n"
    tap.eq(info(more=late + (line + "check\n") * 3 % (1, 2, 3))[0] - base[0], 3, "three checks")
    tap.eq(info(more=late + line % 1 + "check agent-check agent-port 5\n")[0] - base[0], 3, "a check and an agent")
    port = lib.ports(1)[0]
    tap.eq(info(more="peers p\n\tpeer me 127.0.0.1:%d\n\tpeer a 127.0.0.1:1\n" % port, args=("-L", "me"))[0] -
           base[0], 7, "two peers, and the socket of one")
    tap.eq(base[2], base[0], "Ulimit-n is what is needed")
    got = info("\tnbthread 1\n", limit=(512, 3000))
    tap.ok(2900 < got[0] <= 3000, "without maxconn: as many as the hard limit allows", got)
    tap.ok(1400 < got[1] < 1500, "without maxconn: about half of it", got)
    got = info("\tnbthread 1\n\tfd-hard-limit 2000\n")
    tap.ok(1900 < got[0] <= 2000 and 900 < got[1] < 1000, "fd-hard-limit bounds them", got)
    got = info("\tnbthread 1\n\tmaxconn 500\n\tulimit-n 3000\n")
    tap.eq((got[1], got[2]), (500, 3000), "ulimit-n is taken as it is")
    conf = b.file("many.cfg", "global\n\tmaxconn 100000\n" + GOOD[GOOD.index("defaults"):] % b.port)

    def low():
        resource.setrlimit(resource.RLIMIT_NOFILE, (1024, 1024))

    status, out, err = b.run("-db", "-f", conf, preexec_fn=low)
    tap.ok(status == 1 and "limit is 1024" in err, "more than the system allows is refused", err)


def more_checks_than_connections(tap, b):
    """Checks that wait for an answer, more than maxconn has descriptors for: nothing else goes short of them."""
    reads = []

    def silent(s):
        reads.append(s.recv(1000))
        s.recv(1)

    server = lib.Server(silent, backlog=1000)
    conf = ("\tmaxconn 10\n\tnbthread 1\n\tspread-checks 0\n\tmax-spread-checks 10\n"
            "defaults\n\tmode http\n\ttimeout client 60s\n\ttimeout server 60s\n\ttimeout connect 60s\n"
            "\ttimeout check 60s\nfrontend f\n\tbind 127.0.0.1:%d\n\thttp-request return status 200\n"
            "backend b\n\toption httpchk\n\tdefault-server check inter 1s fall 1\n" % b.port)
    conf += "".join("\tserver s%d 127.0.0.1:%d\n" % (i, server.port) for i in range(200))
    with lib.Proxy(b.program, conf) as p:
        tap.ok(lib.until(lambda: len(reads) == 200), "200 checks have connections at once", len(reads))
        with lib.connect(b.port) as s:
            s.sendall(b"GET / HTTP/1.0\r\n\r\n")
            tap.ok(lib.recv_all(s).startswith(b"HTTP/1.1 200"), "a client is served meanwhile")
        states = [r["check_status"] for k, r in p.stats().items() if k[0] == "b" and k[1].startswith("s")]
        tap.eq(sum("SOCKERR" in s for s in states), 0, "no check failed for want of a descriptor")
    server.close()


def rights(tap, b):
    """chroot, uid and gid are in force once the program serves."""
    if os.getuid():
        tap.apart("root", "chroot, uid, gid")
        return
    root = os.path.join(b.dir, "root")
    os.mkdir(root)
    conf = "global\n\tchroot %s\n\tuid 65534\n\tgid 65533\n" % root
    conf = b.file("rights.cfg", conf + GOOD[GOOD.index("defaults"):] % b.port)
    p, up = b.start("-db", "-f", conf, env=lib.environment_without_leaks())
    tap.ok(up, "chroot: serves")
    with open("/proc/%d/status" % p.pid) as f:
        text = f.read()
    tap.ok(re.search(r"^Uid:\t65534\t65534\t65534", text, re.M), "uid is in force", text)
    tap.ok(re.search(r"^Gid:\t65533\t65533\t65533", text, re.M), "gid is in force", text)
    tap.eq(os.readlink("/proc/%d/root" % p.pid), root, "chroot is in force")
    p.terminate()
    p.wait(lib.PATIENCE)
    p.stdout.close()


def said_when_up(b, name, lines, look=lambda pid: None, **kw):
    """What is written until it serves and ends again, and the root folder that it has. look(pid): while it serves."""
    conf = b.file(name, "global\n%s" % lines + GOOD[GOOD.index("defaults"):] % b.port)
    p, up = b.start("-db", "-f", conf, env=lib.environment_without_leaks(), **kw)
    try:
        root = os.readlink("/proc/%d/root" % p.pid) if up else ""
        if up:
            look(p.pid)
    finally:
        p.terminate()
    said = p.communicate(timeout=lib.PATIENCE)[0].decode("latin-1")
    return (root if up else "ended"), said


def same_user(tap, b):
    """chroot without root's rights: user and group that the process has already, capabilities that it was given."""
    own = "\tchroot auto\n\tuid 4321\n\tgid 4322\n"
    who = {"user": 4321, "group": 4322, "extra_groups": []}
    root, said = said_when_up(b, "own.cfg", own, **who)
    tap.ok(root.endswith(" (deleted)"), "chroot without rights: uid and gid of the process itself", (root, said))
    if not shutil.which("setpriv"):
        tap.skip("chroot with capabilities", "no setpriv")
        return
    program = b.program
    for caps, kept in (("net_bind_service", False), ("net_bind_service,sys_chroot", True)):
        given, has = ",".join("+" + c for c in caps.split(",")), []
        b.program = os.path.join(os.path.dirname(program), "with-caps")
        with open(b.program, "w") as f:
            f.write("#!/bin/sh\nexec setpriv --reuid 4321 --regid 4322 --clear-groups --inh-caps=-all,%s --ambient-caps=%s %s \"$@\"\n" %
                    (given, given, program))
        os.chmod(b.program, 0o755)
        root, said = said_when_up(b, "caps.cfg", "\tchroot auto\n\tsetcap cap_net_bind_service\n", look=lambda pid: has.append(
            re.search(r"CapPrm:\s*(\S+)", open("/proc/%d/status" % pid).read()).group(1)))
        tap.ok(root.endswith(" (deleted)"), "chroot with %s" % caps, (root, said))
        tap.eq(([int(h, 16) for h in has], "'setcap' has no effect" in said), ([1 << 10 if kept else 0], not kept),
               "chroot with %s: what is left" % caps)
    b.program = program


def rights_of_root(tap, b):
    """Who starts it as root and keeps root's rights, or the root folder, is warned; chroot auto."""
    if os.getuid():
        tap.apart("root", "rights of root")
        return
    for lines, folder, user in (("", True, True), ("\tchroot /\n", False, True), ("\tuid 0\n", True, False),
                                ("\tuser root\n\tchroot /\n", False, False), ("\tgid 0\n", True, True),
                                ("\tuid 65534\n\tgid 65534\n", True, False)):
        warned = [w for w in said_when_up(b, "root.cfg", lines)[1].splitlines() if "[WARNING]" in w]
        tap.eq((any(re.search(r"as root without [^.]*'chroot'", w) for w in warned),
                any(re.search(r"as (the )?root (user )?and [^.]*", w) for w in warned)), (folder, user),
               "started as root with %r: warnings of chroot and user" % lines.split())
    root, said = said_when_up(b, "auto.cfg", "\tchroot auto\n\tuid 65534\n\tgid 65534\n")
    tap.ok(root.endswith(" (deleted)"), "chroot auto: a folder without a name", (root, said))
    tap.ok(not os.path.exists(root.split(" ")[0]), "chroot auto: nothing of it is left", root)
    if lib.is_reference(b.program): # (which other users cannot read)
        return
    if subprocess.run(["unshare", "-U", "true"], user=65534, group=65534, stderr=subprocess.DEVNULL).returncode:
        tap.skip("chroot without rights", "no name spaces of users for ordinary users here")
        return
    shared = tempfile.mkdtemp()
    try:
        os.chmod(shared, 0o755)
        program = b.program
        b.program = shutil.copy(program, shared)
        os.chmod(b.dir, 0o755)
        root, said = said_when_up(b, "auto.cfg", "\tchroot auto\n", user=65534, group=65534, extra_groups=[])
        tap.ok(root.endswith(" (deleted)"), "chroot without rights: in a name space of its own", (root, said))
        same_user(tap, b)
        b.program = program
    finally:
        shutil.rmtree(shared)


def totals(tap, b):
    """TotalWarnings and CumConns as show info tells them: all that was warned of; checks are connections too."""
    conf = "defaults\n\tmode http\n\ttimeout client 5s\n\ttimeout server 5s\n\ttimeout connect 5s\nfrontend f\n\tbind 127.0.0.1:%d\n" % b.port
    dead = lib.ports(1)[0]
    with lib.Proxy(b.program, "\tchroot /\n\tuser root\n" + conf) as p:
        first = p.info()
        tap.eq(first["TotalWarnings"], "0", "TotalWarnings: none")
    with lib.Proxy(b.program, "\tchroot /\n\tuser root\n" + conf.replace("\ttimeout client 5s\n", "")) as p:
        tap.eq(p.info()["TotalWarnings"], "1", "TotalWarnings: one of the configuration")
        tap.ok("[NOTICE]" in p.output() and re.search(r"Automatically setting global.maxconn to %s\.\n" % p.info()["Maxconn"], p.output()),
               "the notice of maxconn", p.output())
    with lib.Proxy(b.program, "\tmaxconn 50\n\tchroot /\n\tuser root\n" + conf +
                   "backend d\n\tserver s 127.0.0.1:%d check inter 100 fall 2\n" % dead) as p:
        lib.until(lambda: p.info()["TotalWarnings"] == "1")
        info = p.info()
        tap.eq(info["TotalWarnings"], "1", "TotalWarnings: the server that went down")
        before = int(info["CumConns"])
        # (each question is a connection as well: in one time more are counted than asked)
        tap.ok(lib.until(lambda: int(p.info()["CumConns"]) - int(p.info()["CumReq"]) > 3), "CumConns: checks", before)
        tap.ok("Automatically" not in p.output(), "no notice with maxconn", p.output())


def environment_is_reset(tap, b):
    """resetenv without names leaves no variable, and the Runtime API goes on."""
    conf = "defaults\n\tmode http\n\ttimeout client 5s\nfrontend f\n\tbind 127.0.0.1:%d\n" % b.port
    with lib.Proxy(b.program, "\tresetenv\n" + conf) as p:
        said = p.ctl("show env")
        tap.ok("PATH=" not in said and p.info()["Pid"], "show env answers, and so does what is asked next", said[:300])


def stops(tap, b):
    """hard-stop-after ends a soft stop that lasts."""
    conf = "\thard-stop-after 300ms\n" + GOOD[GOOD.index("defaults"):] % b.port
    conf = conf.replace("5s", "60s")
    with lib.Proxy(b.program, conf) as p:
        s = lib.connect(b.port)
        s.sendall(b"GET / HTTP/1.1\r\nHo")
        lib.until(lambda: p.stats()["f", "FRONTEND"]["scur"] == "1")
        p.process.send_signal(signal.SIGUSR1)
        tap.ok(lib.until(lambda: not p.alive()), "hard-stop-after: the process ends")
        s.close()


HIDDEN = """global
  maxconn 10
  user nobody
frontend ff
  mode http
  timeout client 10s
  acl a1 path_beg /x /y
  bind 127.0.0.1:%d name x
  bind 192.168.1.1:80,[::1]:81 name yy
  http-request set-var(txn.a) path if a1
  errorloc303 503 /tmp/x
  use_backend bb if a1
  default_backend bb
backend bb
  balance roundrobin
  mode http
  timeout connect 10s
  timeout server 10s
  cookie SRV insert
  server s1 ipv4@10.0.0.1:80 weight 3
  server s3 [2001:db8::1]:80
  option httpchk GET /health
userlist uu
  user a insecure-password xxx
"""
# the reference prints the same, but for errorloc, which it shows as it is
HIDDEN_SHOWN = """global
	maxconn 10
	user ID(5323b1)
frontend ID(ed7c4e)
	mode http
	timeout client 10s
	acl ID(f6cc90) path_beg [...]
	bind 127.0.0.1:%d [...]
	bind a52ff0 [...]
	http-request set-var(txn.a) [...]
	errorloc303 503 PATH(0aefc7)
	use_backend ID(3fbbe9) [...]
	default_backend ID(3fbbe9)
backend ID(3fbbe9)
	balance roundrobin
	mode http
	timeout connect 10s
	timeout server 10s
	cookie ID(7194e4) insert
	server ID(c935d1) IPV4(920680):80 [...]
	server ID(fac2bf) IPV6(09b68e):80
	option httpchk GET [...]
userlist ID(a77b74)
	user ID(82c2a8) [...]"""


def dumps(tap, b):
    """-dC shows the configuration as it was read; -dK lists keywords."""
    good = b.file("dump.cfg", GOOD % b.port)
    status, out, err = b.run("-dC", "-c", "-f", good)
    wanted = [" ".join(l.split()) for l in (GOOD % b.port).split("\n") if l]
    got = [" ".join(l.split()) for l in out.split("\n") if l]
    tap.eq(got[:len(wanted)], wanted, "-dC: every line, in order")
    hidden = b.file("hidden.cfg", HIDDEN % b.port)
    status, out, err = b.run("-dC7", "-c", "-f", hidden)
    lines = [l.rstrip() for l in out.split("\n") if l.strip()]
    tap.eq("\n".join(lines), HIDDEN_SHOWN % b.port, "-dC<key>: names and addresses as hashes, no secrets")
    status, out, err = b.run("-dCx", "-c", "-f", good)
    tap.ok(status == 1 and "dC" in err, "-dC takes a number only", out + err)
    status, out, err = b.run("-dKcfg", "-c", "-q", "-f", good)
    for word in ("maxconn", "nbthread"):
        tap.ok(re.search(r"\b%s\b" % word, out), "-dKcfg lists " + word, out[:300])


UNSET = """.if "${UNSET_A}"
 .alert "A"
.elif "${SET_B}" && !defined(UNSET_A)
 .notice "only B"
.else
 .alert "none"
.endif
"""
KEYS = ("CLIENT_RANDOM", "CLIENT_EARLY_TRAFFIC_SECRET", "CLIENT_HANDSHAKE_TRAFFIC_SECRET", "SERVER_HANDSHAKE_TRAFFIC_SECRET",
        "CLIENT_TRAFFIC_SECRET_0", "SERVER_TRAFFIC_SECRET_0", "EXPORTER_SECRET", "EARLY_EXPORTER_SECRET")


def conditions(tap, b):
    """What .if and -cc know of the command line, of variables, and of what was built in."""
    for option, name in (("-de", "EPOLL"), ("-dp", "POLL"), ("-dS", "SPLICE"), ("-dR", "REUSEPORT")):
        asked = "enabled(%s)" % name
        tap.eq((b.run("-cc", asked)[0], b.run(option, "-cc", asked)[0]), (0, 1), "%s: %s" % (option, asked))
        told = b.file("told.cfg", ".if %s\n.notice Yes\n.else\n.notice No\n.endif\n" % asked + GOOD % b.port)
        tap.ok("'No'" in b.run(option, "-c", "-f", told)[2] and "'Yes'" in b.run("-c", "-f", told)[2], asked + " in a file")
    asked = "enabled(SERVER-SSL-VERIFY-NONE)"
    tap.eq((b.run("-cc", asked)[0], b.run("-dV", "-cc", asked)[0]), (1, 0), "-dV: " + asked)
    for name in ("ACME", "LINUX_CAP", "SHM_OPEN", "TRACE", "HAVE_TCP_MD5SIG", "MATH", "DL"):
        tap.eq(b.run("-cc", "feature(%s)" % name)[0], 0, "feature(%s)" % name)
    tap.eq(b.run("-cc", "feature(WURFL)")[0], 1, "feature(WURFL): not built in")
    empty = b.file("unset.cfg", UNSET + GOOD % b.port)
    status, out, err = b.run("-c", "-dW", "-f", empty, env=dict(os.environ, SET_B="1"))
    tap.ok(status == 0 and "'only B'" in err and "WARNING" not in err, "a variable that is not set is false, without a warning", err)
    shown = b.file("keys.cfg", "".join('.notice "${HAPROXY_KEYLOG_%s_LOG_FMT}"\n' % side for side in ("FC", "BC")) + GOOD % b.port)
    told = b.run("-c", "-f", shown)[2]
    for side in ("fc", "bc"):
        lines = re.findall(r"^(?:.*')?([A-Z_0-9]+) +%%\[ssl_%s_client_random,hex\] +%%\[ssl_%s_\w+(?:,hex)?\]" % (side, side), told, re.M)
        tap.eq(tuple(dict.fromkeys(lines)), KEYS, "HAPROXY_KEYLOG_%s_LOG_FMT: the key log's lines" % side.upper())
    unused = "global\n\texpose-experimental-directives\n"
    status, out, err = b.run("-c", "-f", b.file("unused.cfg", unused + GOOD % b.port))
    tap.ok(status == 0 and "WARNING" in err and "expose-experimental-directives" in err, "expose-experimental-directives without need", err)
    used = b.file("used.cfg", unused + "\tforce-cfg-parser-pause 1\n" + GOOD % b.port)
    tap.eq(b.run("-c", "-dW", "-f", used), (0, "", ""), "expose-experimental-directives that is needed")
    late = b.file("late.cfg", GOOD % b.port + "global\n\tmaxconn 50\n")
    tap.ok(re.search(r"\[DIAG\].*late.cfg:9\] : global section", b.run("-c", "-dD", "-f", late)[2])
           and "DIAG" not in b.run("-c", "-f", late)[2], "-dD: a section global behind others")
    tap.ok(re.search(r"\[DIAG\].*Created \d+ threads split into \d+ groups", b.run(
        "-c", "-dD", "-f", b.file("good.cfg", GOOD % b.port))[2]), "-dD: threads and groups that were chosen")


def table_of_descriptors(tap, b):
    """prealloc-fd: the kernel's table is as large as it will get; quick-exit: it ends well."""
    room = {}
    for name, lines in (("without", ""), ("with", "\tprealloc-fd\n\tquick-exit\n")):
        cfg = b.file("table.cfg", GOOD.replace("maxconn 100", "maxconn 3000\n" + lines) % b.port)
        p, up = b.start("-db", "-f", cfg)
        with open("/proc/%d/status" % p.pid) as f:
            room[name] = int(re.search(r"FDSize:\s*(\d+)", f.read()).group(1)) if up else None
        p.send_signal(signal.SIGUSR1)
        p.communicate(timeout=lib.PATIENCE)
        tap.eq(p.returncode, 0, name + " prealloc-fd and quick-exit: exit status 0")
    tap.ok(room["without"] and room["without"] < 6000 <= room["with"], "prealloc-fd: FDSize", room)


def main():
    args = lib.arguments(__doc__)
    tap = lib.Tap()
    with tempfile.TemporaryDirectory(prefix="hapt.") as folder:
        b = Bench(args.program, folder)
        tap.run((versions, answers, checks, silent_options, useless_keywords, signals, take_over, take_over_alone, daemons, port_taken, limits,
                     for_debugging, precedence, descriptors, more_checks_than_connections, rights, rights_of_root, totals, environment_is_reset, stops,
                     dumps, conditions, table_of_descriptors), b)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
