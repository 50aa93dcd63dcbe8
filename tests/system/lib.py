# SPDX-License-Identifier: GPL-2.0-or-later
"""What the black-box tests of this folder share.

Tap      prints TAP and counts
Proxy    starts the program on a configuration, waits until it serves, stops it by its pid
Server   a raw-socket server: one thread per connection, a function decides what happens
Syslog   receives log datagrams
ports()  free TCP ports of 127.0.0.1, below the range from which the kernel takes its own

No test of this folder asserts how long something takes; the timeouts here only bound a failing run.
"""
import argparse
import functools
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback

import lib_quiet

PATIENCE = float(os.environ.get("TEST_PATIENCE", 10))  # seconds until what a test waits for counts as missing
# what tests compare with, where they can: the release that this program is a drop-in for
REFERENCE = os.environ.get("REFERENCE") or os.path.expanduser("~/.cache/haproxy-reference/haproxy-3.4")


def use_tools():
    """Finds the modules that scripts/install-deps has put under build/tools, before those of the system: what they need may
    be younger than Debian's (aioquic's cryptography)."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../build/tools/python/lib/python%d.%d/site-packages"
                        % sys.version_info[:2])
    if path not in sys.path:
        sys.path.insert(1, path)


def arguments(doc, *extra):
    """Parses the command line: --program, and what <extra> adds: (name, default, help)."""
    p = argparse.ArgumentParser(description=doc)
    p.add_argument("--program", default=os.environ.get("HAPROXY_PROGRAM", "./haproxy"))
    p.add_argument("--verbose", action="store_true")
    for name, default, text in extra:
        if isinstance(default, bool):
            p.add_argument("--" + name, action="store_true", help=text)
        else:
            p.add_argument("--" + name, type=type(default), default=default, help=text)
    args = p.parse_args()
    if os.sep in args.program:
        args.program = os.path.abspath(args.program)
    else:
        args.program = shutil.which(args.program) or args.program
    if not os.access(args.program, os.X_OK):
        print("1..0 # skip %s cannot be executed" % args.program)
        sys.exit(1)
    return args


@functools.lru_cache
def is_reference(program):
    """Is this the program to compare with? It refuses some spellings that ours accepts."""
    out = subprocess.run([program, "-v"], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL).stdout
    return b"Known bugs:" in out


# What make check does without and says once, in one line (scripts/run-tap): checks that others have to bring something for
APART = {
    "reference": "comparisons with HAProxy 3.4 (REFERENCE=PROGRAM)",
    "servers": "real servers (make check-servers)",
    "others": "agents and tools of others (node, php-fpm, h2spec, pebble; scripts/install-deps agents)",
    "counters": "counted writes of threads (DEBUG=1)",
    "openssl": "OpenSSL 3.5 (scripts/get-openssl)",
    "systemd": "the unit for systemd, where there is none (make check-systemd)",
    "root": "what only root may do (sudo make check)",
}


class Tap:
    """What a test has found, a line each; threads may report at once."""
    last = None

    def __init__(self):
        self.count = self.failed = 0
        self.lock = threading.Lock()
        Tap.last = self

    def line(self, state, name, below=()):
        with self.lock: # in one piece: a line end that another thread writes first would join two lines
            self.count += 1
            self.failed += state != "ok"
            sys.stdout.write("".join(x + "\n" for x in ["%s %d - %s" % (state, self.count, name), *below]))
            sys.stdout.flush()

    def ok(self, good, name, detail=""):
        below = [] if good else ["#   " + x[:300] for x in str(detail).split("\n")[:25]]
        self.line("ok" if good else "not ok", name.replace("#", ""), below)
        return good

    def eq(self, got, want, name):
        return self.ok(got == want, name, "got  %r\nwant %r" % (got, want))

    def skip(self, name, why):
        """What this machine cannot do."""
        self.line("ok", "%s # skip %s" % (name, why))

    def apart(self, kind, name):
        """What needs things that are not installed for make check: a kind of APART."""
        self.line("ok", "%s # skip apart: %s" % (name, APART[kind]))

    def attempt(self, name, function, *args):
        """Calls it; an exception is a failed line, and what comes behind is still run."""
        try:
            function(*args)
        except Exception:
            self.ok(False, name + " ran to its end", traceback.format_exc())

    def run(self, parts, *args):
        """Calls each part with this and <args>."""
        for part in parts:
            self.attempt(part.__name__, part, self, *args)

    def out_of_time(self, start, seconds, what):
        """Says once that a run which should be short is not; the caller then stops."""
        if time.monotonic() - start < seconds:
            return False
        self.ok(False, "%s within %d seconds" % (what, seconds))
        return True

    def done(self):
        print("1..%d" % self.count)
        sys.exit(1 if self.failed or not self.count else 0)


def guarded(main):
    """Runs <main>; an exception becomes a failed line, so that there always is a plan. SIGTERM ends it in order."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        main()
    except Exception:
        tap = Tap.last or Tap()
        tap.ok(False, "the test ran to its end", traceback.format_exc())
        tap.done()


_given = set()
_held = []  # sockets that keep ports from other tests
_random = random.Random()  # not seeded: two tests at once take different ports


def ports(n, held=False):
    """Returns <n> consecutive ports that were free a moment ago, never given twice. <held>: other tests do not get them even
    while the program does not listen on them, as between reloads; only a program that shares its ports (SO_REUSEPORT) does.
    """
    base, span = 20000, 10000
    if "TEST_PORT_BASE" in os.environ:
        base = int(os.environ["TEST_PORT_BASE"])
        span = int(os.environ.get("TEST_PORT_SPAN", 1000))
    for _ in range(500):
        first = _random.randrange(base, base + span - n)
        wanted = range(first, first + n)
        if any(p in _given for p in wanted):
            continue
        socks = []
        try:
            for p in wanted:
                s = socket.socket()
                # sockets that do not listen share a port by SO_REUSEADDR alone
                s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT if held else socket.SO_REUSEADDR, 1)
                socks.append(s)
                s.bind(("127.0.0.1", p))
            if held:
                _held.extend(socks)
                socks = []
        except OSError:
            continue
        finally:
            for s in socks:
                s.close()
        _given.update(wanted)
        return list(wanted)
    raise RuntimeError("no free ports")


def is_sanitized(program):
    """Is it made with SAN=...? Its memory is not like that of others. A process: /proc/<pid>/exe."""
    with open(program, "rb") as f:
        text = f.read()
        return b"__asan_init" in text or b"__tsan_init" in text


def environment_without_leaks():
    """For a program made with SAN=address that gives up its rights, changes its root folder or is traced:
    looking for leaks needs what it then has no more."""
    return dict(os.environ, ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0")


def end(process):
    """Asks a process to end. One that does not is ended with its children, and the test fails."""
    process.terminate()
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        for pid in children(process.pid):
            os.kill(pid, signal.SIGKILL)
        process.kill()
        process.wait()
        raise RuntimeError("process %d did not end within %d s of SIGTERM" % (process.pid, PATIENCE)) from None


def children(pid):
    """The pids of its child processes, as /proc tells: a bare machine has no ps."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open("/proc/%s/stat" % name) as f:
                    parent = f.read().rsplit(")", 1)[1].split()[1]
            except OSError:
                continue
            if int(parent) == pid:
                found.append(int(name))
    return sorted(found)


def connect(port, timeout=PATIENCE, address="127.0.0.1"):
    s = socket.create_connection((address, port), timeout)
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return s


def reset(sock):
    """Closes <sock> with an RST."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    sock.close()


def recv_exactly(sock, n):
    """Reads so many bytes; an end before them is an EOFError."""
    data = b""
    while len(data) < n:
        more = sock.recv(n - len(data))
        if not more:
            raise EOFError
        data += more
    return data


def recv_all(sock, limit=1 << 26):
    """Reads until the end; an error ends it as well."""
    data = bytearray()
    try:
        while len(data) < limit:
            part = sock.recv(65536)
            if not part:
                break
            data += part
    except OSError:
        pass
    return bytes(data)


# what configurations with one backend begin with
FRONTEND = """
defaults
	mode http
	timeout connect 5s
	timeout client 10s
	timeout server 10s
	timeout queue 10s
frontend fe
	bind 127.0.0.1:{fe}
	default_backend be
"""


class Reader:
    """Reads HTTP/1 messages off a socket with a naive parser."""

    def __init__(self, sock):
        self.sock = sock
        self.buf = b""
        self.raw = b""  # the last head, as it came
        self.eof = False

    def fill(self):
        try:
            part = self.sock.recv(65536)
        except ConnectionError:
            part = b""
        if not part:
            self.eof = True
        self.buf += part
        return bool(part)

    def head(self):
        """Returns (first line, [(name, value)]) or None at the end."""
        while b"\r\n\r\n" not in self.buf:
            if not self.fill():
                return None
        self.raw, self.buf = self.buf.split(b"\r\n\r\n", 1)
        lines = self.raw.split(b"\r\n")
        fields = []
        for line in lines[1:]:
            name, _, value = line.partition(b":")
            fields.append((name.lower().decode("latin-1"), value.strip().decode("latin-1")))
        return lines[0].decode("latin-1"), fields

    def requests(self):
        """(method, target, [(name, value)]) of each request; its body is still to be read."""
        for line, fields in iter(self.head, None):
            method, target = (line.split(" ") + [""])[:2]
            yield method, target, fields

    def gather(self, n=None):
        """Reads until there are <n> bytes, or the end; in linear time. False: it was the end."""
        parts, more = bytearray(self.buf), True
        while more and (n is None or len(parts) < n):
            self.buf = b""
            more = self.fill()
            parts += self.buf
        self.buf = bytes(parts)
        return more

    def exactly(self, n):
        if len(self.buf) < n and not self.gather(n):
            raise EOFError("%d bytes missing" % (n - len(self.buf)))
        data, self.buf = self.buf[:n], self.buf[n:]
        return data

    def line(self):
        while b"\r\n" not in self.buf:
            if not self.fill():
                raise EOFError("line without end")
        data, self.buf = self.buf.split(b"\r\n", 1)
        return data

    def chunks(self):
        body = bytearray()
        while True:
            size = int(self.line().split(b";")[0], 16)
            if not size:
                break
            body += self.exactly(size)
            if self.exactly(2) != b"\r\n":
                raise ValueError("chunk without end")
        while self.line():
            pass
        return bytes(body)

    def body(self, fields, until_close=False):
        names = dict(fields)
        if names.get("transfer-encoding", "").lower() == "chunked":
            return self.chunks()
        if "content-length" in names:
            return self.exactly(int(names["content-length"]))
        if until_close:
            self.gather()
            data, self.buf = self.buf, b""
            return data
        return b""

    def response(self, method="GET"):
        """Returns (status, fields, body) of the next final response, or None at the end."""
        while True:
            head = self.head()
            if not head:
                return None
            status = int(head[0].split(" ")[1])
            if status >= 200 or status == 101:
                break
        if method == "HEAD" or status in (101, 204, 304):
            return status, dict(head[1]), b""
        return status, dict(head[1]), self.body(head[1], True)


class Server:
    """Listens on a port, of 127.0.0.1 mostly; handler(sock) runs in a thread for each connection."""

    def __init__(self, handler, port=None, backlog=128, address="127.0.0.1"):
        self.port = port or ports(1)[0]
        self.sock = socket.socket()
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.sock.bind((address, self.port))
        self.sock.listen(backlog)
        self.handler = handler
        self.accepted = 0
        self.closed = False
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while not self.closed:
            try:
                s, _ = self.sock.accept()
            except OSError:
                return
            self.accepted += 1
            threading.Thread(target=self.one, args=(s,), daemon=True).start()

    def one(self, s):
        s.settimeout(PATIENCE)
        try:
            self.handler(s)
        except (OSError, EOFError, ValueError):
            pass
        finally:
            try:
                s.close()
            except OSError:
                pass

    def close(self):
        self.closed = True
        try:
            self.sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        # its thread may be about to call accept(): the number of the descriptor must not be another's then
        self.thread.join(PATIENCE)
        self.sock.close()


class Syslog:
    """Receives datagrams on 127.0.0.1:port and keeps them as text."""

    def __init__(self):
        self.sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 23)
        self.sock.bind(("127.0.0.1", 0))
        self.port = self.sock.getsockname()[1]
        self.lines = []
        self.changed = threading.Condition()
        self.marks = 0
        self.closed = False
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while True:
            data = self.sock.recv(65536)
            if self.closed:
                return
            with self.changed:
                if data:
                    self.lines.append(data.decode("latin-1").rstrip("\n"))
                else:
                    self.marks += 1
                self.changed.notify_all()

    def settle(self):
        """Returns once all that was sent here before is among the lines: an empty datagram is behind it."""
        with self.changed:
            end = self.marks + 1
        self.sock.sendto(b"", self.sock.getsockname())
        return self.wait(lambda lines: self.marks >= end)

    def close(self):
        """Its thread ends: a datagram wakes it, closing would not."""
        self.closed = True
        self.sock.sendto(b"", self.sock.getsockname())
        self.thread.join(PATIENCE)
        self.sock.close()

    def wait(self, test, timeout=PATIENCE):
        """Waits until test(lines) holds; returns its result."""
        end = time.monotonic() + timeout
        with self.changed:
            while not test(self.lines) and time.monotonic() < end:
                self.changed.wait(max(0.01, end - time.monotonic()))
            return test(self.lines)

    def find(self, pattern, timeout=PATIENCE):
        """Waits for a line that matches and returns it, or None."""
        rx = re.compile(pattern)

        def look(lines):
            return next((l for l in lines if rx.search(l)), None)
        return self.wait(look, timeout)


class Proxy:
    """The program running on <conf>; a stats socket is added. Use as a context manager."""

    def __init__(self, program, conf, args=(), preexec=None, pass_fds=(), restless="", env=None):
        self.restless = restless or ("the reference" if is_reference(program) else "")
        self.dir = tempfile.mkdtemp(prefix="hapt.")
        self.ctl_path = os.path.join(self.dir, "ctl.sock")
        self.conf_path = os.path.join(self.dir, "test.cfg")
        with open(self.conf_path, "w") as f:
            f.write("global\n\tstats socket %s level admin mode 600\n%s" % (self.ctl_path, conf))
        self.log_path = os.path.join(self.dir, "output")
        self.out = open(self.log_path, "wb")
        cmd = [program, "-db", "-f", self.conf_path] + list(args)
        self.process = subprocess.Popen(cmd, stdout=self.out, stderr=subprocess.STDOUT,
                                        stdin=subprocess.DEVNULL, preexec_fn=preexec,
                                        pass_fds=pass_fds, env=env)
        self.wait_ready()
        self.quiet = lib_quiet.Quiet(self.process.pid)

    def wait_ready(self):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if self.process.poll() is not None:
                break
            try:
                if self.ctl("show info"): # whatever it says: it serves
                    return
            except OSError:
                pass
            time.sleep(0.02)
        text = self.output()
        self.stop()
        raise RuntimeError("the proxy did not start:\n" + text)

    def output(self):
        with open(self.log_path, errors="replace") as f:
            return f.read()

    def ctl(self, command):
        """Runs one command of the Runtime API and returns its answer."""
        s = socket.socket(socket.AF_UNIX)
        s.settimeout(PATIENCE)
        try:
            s.connect(self.ctl_path)
            s.sendall(command.encode() + b"\n")
            return recv_all(s).decode("latin-1")
        finally:
            s.close()

    def stats(self):
        """Returns {(proxy, service): {column: value}}."""
        rows = self.ctl("show stat").strip().split("\n")
        cols = rows[0].lstrip("# ").split(",")
        out = {}
        for row in rows[1:]:
            d = dict(zip(cols, row.split(",")))
            out[d["pxname"], d["svname"]] = d
        return out

    def info(self):
        return dict(l.split(": ", 1) for l in self.ctl("show info").split("\n") if ": " in l)

    def alive(self):
        return self.process.poll() is None

    def stop(self, sig=signal.SIGTERM):
        """Stops the process if it still runs; returns its exit status."""
        if self.process.poll() is None:
            self.process.send_signal(sig)
            try:
                self.process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.out.close()
        return self.process.returncode

    def watch(self):
        """Nothing is left of clients that are gone, no thread has stood still; else the test fails."""
        pid = self.process.pid
        try:
            left = self.alive() and self.quiet.pid == pid and until_quiet(lambda: self.quiet.wrong(self.ctl))
        except (OSError, AttributeError):
            return
        if left and Tap.last:
            Tap.last.ok(False, "the process lets go of what clients have left", left)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        if not self.restless and not any(exc):
            self.watch()
        status = self.stop()
        text = lib_quiet.ended(status, self.output())
        if text and Tap.last and not self.restless:
            Tap.last.ok(False, "the process ends when it is asked to", text)
        shutil.rmtree(self.dir, ignore_errors=True)


def until_quiet(left):
    """The last thing that is left, or nothing, when all timeouts of a test are over."""
    end, pause = time.monotonic() + 3 * PATIENCE, 0.005
    while True:
        text = left()
        if not text or time.monotonic() > end:
            return text
        time.sleep(pause)
        pause = min(2 * pause, 0.05)


def until(test, timeout=PATIENCE):
    """Polls test() until it holds; returns its last result."""
    end = time.monotonic() + timeout
    while True:
        got = test()
        if got or time.monotonic() > end:
            return got
        time.sleep(0.02)


def leave(s, rng, pauses=(0, 0.001, 0.005, 0.02)):
    """What a client does that has asked and does not stay: it waits or not, reads a little or not; its socket is then to be closed,
    which resets it or not. <rng>: a random.Random."""
    if rng.random() < 0.5:
        time.sleep(rng.choice(pauses))
    if rng.random() < 0.3:
        s.settimeout(0.02)
        try:
            s.recv(rng.choice((1, 100, 10000)))
        except TimeoutError:
            pass
    if rng.random() < 0.5:
        reset(s)


def is_refused(port):
    """Are connections refused now?"""
    try:
        connect(port).close()
        return False
    except ConnectionRefusedError:
        return True
    except ConnectionResetError:  # it was closed while this waited in its queue
        return False


def refused(port):
    """Are connections refused, once the threads have taken who had come before?"""
    return until(lambda: is_refused(port))


def accepts(port):
    """Does something listen there?"""
    try:
        connect(port).close()
        return True
    except OSError:
        return False


def echo_handler(sock):
    """A plain keep-alive HTTP server that answers 200 and tells in x-url what it saw."""
    r = Reader(sock)
    for method, url, fields in r.requests():
        body = r.body(fields)
        text = b"" if method == "HEAD" else b"%d" % len(body)
        sock.sendall(b"HTTP/1.1 200 OK\r\nx-url: %s\r\ncontent-length: %d\r\n\r\n%s"
                     % (url.encode("latin-1"), len(b"%d" % len(body)), text))


def lines_refused(program, path, lines, more=lambda said: ()):
    """The indices of lines of a configuration that it refuses, written to <path>; those are left out until it takes the rest. What
    it says without a line is for more(said), which gives indices."""
    bad, name = set(), re.escape(os.path.basename(path))
    while True:
        with open(path, "w") as f:
            f.write("".join(("" if i in bad else line) + "\n" for i, line in enumerate(lines)))
        r = subprocess.run([program, "-c", "-f", path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60, check=False)
        if r.returncode == 0:
            return bad
        said = r.stdout.decode("latin-1")
        found = set(int(n) - 1 for l in said.split("\n") if l.startswith("[ALERT]") for n in re.findall(name + r":(\d+)\]?", l)) - bad
        found = found or set(more(said)) - bad
        if not found:
            raise RuntimeError("%s: %s" % (program, said[-2000:]))
        bad |= found


def compare_generated(doc, make, pair, batch, size, *, seed, first=0, what, more=()):
    """The main() of tests that make cases for this program and the reference: calls batch(maker, pair, tap, args, n) for each <size> of
    them. make(random) and pair(args, folder) give what it works with; <what> is compared, <more> are options."""
    args = arguments(doc, ("reference", REFERENCE, "the program to compare with"), ("seed", seed, "of the generator"), ("cases", 24, "frontends"),
                     ("list", False, "print the differences in full"), *more)
    tap, maker = Tap(), make(random.Random(args.seed))
    if not os.access(args.reference, os.X_OK):
        tap.apart("reference", what + " of both programs")
        tap.done()
    with tempfile.TemporaryDirectory() as folder:
        work = pair(args, folder)
        for n in range(first, args.cases, size):
            batch(maker, work, tap, args, n)
    tap.done()
