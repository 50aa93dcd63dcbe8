# SPDX-License-Identifier: GPL-2.0-or-later
"""What stateful.py needs: test servers whose health is a matter of words, a program that is under test, what is seen of
it, and how what two programs say is made comparable.

Origin     the servers of both programs: answers, refuses, holds back; agents that say what they are told
World      one program on the configuration, its logs, held requests, reloads
observe()  everything that a user can see of it, as named lists of lines
"""
import base64
import hashlib
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import threading
import time

import lib

HANG = 10.0        # seconds without an answer: a hang
SETTLE = 3.0       # at most so long two programs may differ in what changes by itself

CONF = """
    nbthread {threads}
    maxconn 200
    log 127.0.0.1:{log} format raw local0
    server-state-file {dir}/state
    hard-stop-after 5s
    {more_global}
defaults
    mode http
    log global
    log-format "%f %b/%s %ST %tsc %rc %sq/%bq %hr %r"
    timeout connect 2s
    timeout client 20s
    timeout server 20s
    timeout queue 500ms
    timeout check 5s
    retries 1
    option redispatch
    load-server-state-from-file global
    default-server inter 40ms fastinter 40ms downinter 40ms rise 1 fall 1
frontend fe
    bind 127.0.0.1:{port} name first
    maxconn 100
    option socket-stats
    http-request deny status 403 if {{ req.hdr(x-ip) -m ip -f {dir}/ips.acl }}
    http-request deny status 404 if {{ path -m beg -f {dir}/paths.acl }}
    http-request set-header x-map "%[path,map({dir}/str.map,none)]/%[path,map_beg({dir}/beg.map)]/%[req.hdr(x-ip),map_ip({dir}/ip.map,no)]/%[req.hdr(x-int),map_int({dir}/int.map,-)]/%[path,map_reg({dir}/reg.map,-)]/%[path,map_str_int({dir}/num.map,7)]"
    http-request set-header x-var "%[var(proc.one)]/%[var(proc.two)]"
    use_backend %[req.hdr(x-be)] if {{ req.hdr(x-be) -m found }}
    default_backend rr
frontend fe2
    bind 127.0.0.1:{port2} name second
    maxconn 50
    default_backend rr
backend rr
    balance roundrobin
    option httpchk GET /health
    server s1 127.0.0.1:{o1} check weight 10
    server s2 127.0.0.1:{o2} check weight 20 maxconn 2
    server s3 127.0.0.1:{o3} check weight 10 backup
backend lc
    balance roundrobin
    server a1 127.0.0.1:{o1} check weight 50 agent-check agent-port {g1} agent-inter 40ms
    server a2 127.0.0.1:{o2} weight 50 agent-check agent-port {g2} agent-inter 40ms agent-send hello\\n
backend ch
    balance hdr(k)
    hash-type consistent
    server h1 127.0.0.1:{o1}
    server h2 127.0.0.1:{o2} disabled
    server h3 127.0.0.1:{o3} maxconn 1 maxqueue 2
backend ck
    balance roundrobin
    cookie SRV insert indirect
    dynamic-cookie-key secret
    server c1 127.0.0.1:{o1} cookie one
    server c2 127.0.0.1:{o2} cookie two
    server c3 127.0.0.1:{o3}
backend tr
    balance static-rr
    server t1 127.0.0.1:{o1} track rr/s1
    server t2 127.0.0.1:{o2} track lc/a1
    server t3 127.0.0.1:{o3}
backend dy
    balance random
    option httpchk GET /health
{more}
"""
FILES = {"ips.acl": "10.0.0.1\n10.1.0.0/16\n", "paths.acl": "/deny\n/no/\n", "str.map": "/a 1\n/b 2\n/c three\n",
         "beg.map": "/a x\n/ab xy\n/ z\n", "ip.map": "10.0.0.0/8 ten\n::1 six\n", "int.map": "1 one\n1:5 low\n",
         "reg.map": "^/a.* first\nb$ second\n", "num.map": "/a 17\n/b -3\n", "state": ""}


class Origin:
    """Servers o1..o4 and agents g1..g4 on ports of their own, for both programs at the same time."""

    def __init__(self):
        self.names = ["o1", "o2", "o3", "o4"]
        self.health, self.agents, self.held, self.ports = {}, {}, {}, {}
        self.servers = []
        for i, name in enumerate(self.names):
            agent = "g%d" % (i + 1)
            self.health[name], self.agents[agent] = "up", "up"
            for what, handler in ((name, self.serve), (agent, self.agent)):
                s = lib.Server(lambda sock, n=what, h=handler: h(n, sock))
                self.servers.append(s)
                self.ports[what] = s.port
        self.changed = threading.Condition()

    def serve(self, name, sock):
        r = lib.Reader(sock)
        sock.settimeout(60)
        while True:
            head = r.head()
            if not head:
                return
            method, url, _ = head[0].split(" ", 2)
            fields = dict(head[1])
            r.body(head[1])
            health = self.health[name]
            if health == "closed":
                return
            if url == "/health":
                status = {"up": 200, "404": 404}.get(health, 503)
                sock.sendall(b"HTTP/1.1 %d X\r\nContent-Length: 0\r\n\r\n" % status)
                continue
            if url.startswith("/hold"):
                with self.changed:
                    self.held[url] = self.held.get(url, 0) + 1
                    self.changed.notify_all()
                    while self.held.get(url):
                        self.changed.wait(60)
            body = "%s %s %s %s" % (name, url, fields.get("x-map", ""), fields.get("x-var", ""))
            status = 500 if health == "500" and not url.startswith("/hold") else 200
            sock.sendall(b"HTTP/1.1 %d X\r\nContent-Length: %d\r\n\r\n%s" % (status, len(body), body.encode("latin-1")))

    def agent(self, name, sock):
        text = self.agents[name]
        if text == "closed":
            return
        sock.sendall(text.encode() + b"\n")

    def release(self, url):
        with self.changed:
            self.held.pop(url, None)
            self.changed.notify_all()

    def reset(self):
        for name in self.health:
            self.health[name] = "up"
        for name in self.agents:
            self.agents[name] = "up"
        for url in list(self.held):
            self.release(url)

    def close(self):
        self.reset()
        for s in self.servers:
            s.close()


class Ended(Exception):
    """The program is not there any more, or does not answer."""


class World:
    def __init__(self, program, name, origin, threads=1, inside=False, more="", more_global="", place=None, inter=40):
        self.program, self.name, self.origin = program, name, origin
        self.inter = "inter %dms" % inter
        self.inside = inside    # reloads happen in the process
        self.dir = tempfile.mkdtemp(prefix="haps.")
        self.log = lib.Syslog()
        self.read_lines = 0
        self.holds = {}
        self.ports = dict(zip(("port", "port2", "tls", "tls2"), lib.ports(4)))
        for f, text in FILES.items():
            with open(os.path.join(self.dir, f), "w") as out:
                out.write(text)
        if place:
            place(self.dir)
        fill = dict(origin.ports, dir=self.dir, log=self.log.port, threads=threads, **self.ports)
        more, more_global = more.format(**fill), more_global.format(**fill)
        self.conf = re.sub(r"inter 40ms", self.inter, CONF.format(more=more, more_global=more_global, **fill))
        self.proxy = lib.Proxy(program, self.conf)
        self.words = [(self.dir, "DIR"), (self.proxy.dir, "CONF")]
        self.words += [(str(p), n.upper()) for n, p in list(origin.ports.items()) + list(self.ports.items())]
        self.words += [(str(self.log.port), "LOG")]
        self.rx = re.compile("|".join(re.escape(a) if not a.isdigit() else r"\b%s\b" % a for a, _ in self.words))
        self.by = dict(self.words)

    def close(self):
        for url in list(self.holds):
            self.origin.release(url)
        for s in self.holds.values():
            s.close()
        self.proxy.__exit__()
        self.log.close()
        shutil.rmtree(self.dir, ignore_errors=True)

    def plain(self, text):
        """Without what is this process's own: folders, ports, addresses of memory."""
        text = self.rx.sub(lambda m: self.by[m.group(0)], text)
        text = re.sub(r"\b(exp|age|use)=\d+", r"\1=N", text)
        text = re.sub(r"check duration: \d+ms", "check duration: Tms", text)
        text = re.sub(r"captured on \[[^]]*\]", "captured on [DATE]", text)
        text = text.replace(" returned by OS (Connection refused)", " returned by OS")    # not always, in the reference
        text = re.sub(r"\d+ \(\) acl 'var' file 'httpclient' .*\n", "", text)    # what it has for itself
        return re.sub(r"\b0x[0-9a-f]{6,}\b", "PTR", text)

    def filled(self, text):
        """Names of ports, folders in braces become what they are here; {ref FILE N}: the address of an entry."""
        def one(m):
            words = m.group(1).split()
            if words[0] == "dir":
                return self.dir
            if words[0] in ("file", "base64"):
                with open(os.path.join(self.dir, words[1]), "rb") as f:
                    text = f.read()
                return base64.b64encode(text).decode() if words[0] == "base64" else text.decode().strip()
            if words[0] == "sess":
                return self.session_of(int(words[1]))
            if words[0] == "ref":
                lines = self.ask("show %s %s/%s" % (words[1], self.dir, words[2])).strip().split("\n")
                lines = [l for l in lines if l.startswith("0x")]
                return lines[int(words[3]) % len(lines)].split()[0] if lines else "0x1"
            return str(self.origin.ports.get(words[0]) or self.ports.get(words[0]) or m.group(0))
        text = text.replace("inter 40ms", self.inter)
        return re.sub(r"\{(dir|(?:ref|file|base64|sess) [^}]*|[og][1-4])\}", one, text)

    def session_of(self, n):
        """The address of the session of a held request."""
        s = self.holds.get("/hold%d-%s" % (n, self.name[0]))
        if not s:
            return "0x1"
        mark = "src=127.0.0.1:%d " % s.getsockname()[1]
        found = [l for l in self.ask("show sess").split("\n") if mark in l]
        return found[0].split(":")[0] if found else "0x1"

    def ask(self, text):
        s = socket.socket(socket.AF_UNIX)
        s.settimeout(HANG)
        try:
            s.connect(self.proxy.ctl_path)
            s.sendall(text.encode("latin-1") + b"\n")
            if "; prompt" in text:    # it would wait for more, as long as HANG
                s.shutdown(socket.SHUT_WR)
            out = b""
            while True:
                part = s.recv(1 << 16)
                if not part:
                    return out.decode("latin-1")
                out += part
        except (socket.timeout, TimeoutError):
            raise Ended("%s: no answer within %d s to %s" % (self.name, HANG, text))
        except OSError as e:
            if lib.until(lambda: not self.proxy.alive(), 1):
                raise Ended("%s ended (%s) at: %s\n%s" % (self.name, self.proxy.process.returncode, text,
                                                        self.proxy.output()[-3000:]))
            return "(%s)" % e.__class__.__name__
        finally:
            s.close()

    def alive(self):
        if not self.proxy.alive():
            raise Ended("%s ended (%s)\n%s" % (self.name, self.proxy.process.returncode, self.proxy.output()[-3000:]))

    # ---- what can be done: each returns a text

    def do(self, op):
        kind, rest = (op.split(" ", 1) + [""])[:2]
        return self.plain(getattr(self, "do_" + kind)(rest))

    def do_ctl(self, text):
        """Every answer with its severity."""
        if text.startswith("clear counters") and self.holds:
            return ""    # the reference clears how many there are now (row clear-gauges), and counts what begins before its end
        return self.ask("expert-mode on; experimental-mode on; set severity-output number; " + self.filled(text).replace("\\n", "\n"))

    def do_seq(self, text):
        """Commands one after the other, each on a connection of its own."""
        return "\n".join(self.do_ctl(t) for t in text.split(" | "))

    def do_shape(self, text):
        """Whether a command is refused, and with which severity, not what it shows."""
        got = self.do_ctl(text)
        m = re.match(r"\[(\d)\]: ", got)
        return "severity " + m.group(1) if m and m.group(1) in "345" else "answered"

    def do_tls(self, rest):
        """tls PORT PATH SNI [client=FILE] [field=value]...: which certificate was shown, and the answer."""
        words = rest.split()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        fields = [w for w in words[3:] if not w.startswith("client=")]
        for w in words[3:]:
            if w.startswith("client=") and len(w) > 7:
                context.load_cert_chain(os.path.join(self.dir, w[7:]))
        try:
            s = lib.connect(self.ports[words[0]], HANG)
            s = context.wrap_socket(s, server_hostname=None if words[2] == "-" else words[2])
            shown = hashlib.sha256(s.getpeercert(binary_form=True)).hexdigest()[:8]
            lines = ["GET %s HTTP/1.1" % words[1], "Host: x", "Connection: close"] + [f.replace("=", ": ", 1) for f in fields]
            s.sendall(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"))
        except (socket.timeout, TimeoutError):
            raise Ended("%s: a handshake without an end within %d s" % (self.name, HANG))
        except OSError as e:
            return e.__class__.__name__
        return shown + " " + self.answer(s)

    def request(self, path, fields, port="port"):
        s = lib.connect(self.ports[port], HANG)
        lines = ["GET %s HTTP/1.1" % path, "Host: x"] + fields
        s.sendall(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"))
        return s

    def answer(self, s):
        try:
            got = lib.Reader(s).response()
        except (socket.timeout, TimeoutError):
            raise Ended("%s: a request without an answer within %d s" % (self.name, HANG))
        except (OSError, EOFError):
            return "broken"
        finally:
            s.close()
        if not got:
            return "no answer"
        return "%d %s %s" % (got[0], got[1].get("set-cookie", ""), got[2].decode("latin-1") if got[0] in (200, 500) else "")

    def do_get(self, rest):
        """get PORT PATH [field=value]..."""
        words = rest.split()
        try:
            s = self.request(words[1], ["Connection: close"] + [w.replace("=", ": ", 1) for w in words[2:]], words[0])
        except OSError as e:
            return e.__class__.__name__
        return self.answer(s)

    def do_hold(self, rest):
        """hold N [field=value]...: a request that is not answered before its release."""
        words = rest.split()
        url = "/hold%s-%s" % (words[0], self.name[0])
        if url in self.holds:
            return ""
        try:
            s = self.request(url, ["Connection: close"] + [w.replace("=", ": ", 1) for w in words[1:]])
        except OSError as e:
            return e.__class__.__name__
        s.settimeout(0.15)
        self.holds[url] = s
        held = lib.until(lambda: self.origin.held.get(url), 0.3)
        return "" if held else "waits"

    def do_release(self, rest):
        url = "/hold%s-%s" % (rest, self.name[0])
        s = self.holds.pop(url, None)
        if not s:
            return ""
        s.settimeout(HANG)
        end = time.monotonic() + HANG
        box = []
        t = threading.Thread(target=lambda: box.append(self.try_answer(s)), daemon=True)
        t.start()
        while t.is_alive() and time.monotonic() < end:   # it may be queued still: it is held later then
            self.origin.release(url)
            t.join(0.02)
        if not box:
            raise Ended("%s: a held request was not answered" % self.name)
        return re.sub(r"-%s\b" % self.name[0], "", box[0])

    def try_answer(self, s):
        try:
            return self.answer(s)
        except Ended:
            return "hang"

    def do_health(self, rest):
        """health oN up|404|503|500|closed"""
        name, how = rest.split()
        self.origin.health[name] = how
        return ""

    def do_agent(self, rest):
        """agent gN text"""
        name, how = rest.split(" ", 1)
        self.origin.agents[name] = how
        return ""

    def do_sleep(self, rest):
        time.sleep(float(rest))
        return ""

    def do_write(self, rest):
        """write FILE: the file is what the map or list has become, as an operator keeps it."""
        what = "acl" if rest.endswith("acl") else "map"
        lines = self.ask("show %s %s/%s" % (what, self.dir, rest)).split("\n")
        with open(os.path.join(self.dir, rest), "w") as f:
            f.write("".join(l.split(" ", 1)[1] + "\n" for l in lines if l.startswith("0x")))
        return ""

    def do_reload(self, _):
        """The state is saved, as the manual says, then a new process takes over; or the process itself."""
        if self.inside:
            return self.ask("reload") and ""
        lines = self.ask("show servers state").split("\n")
        # differences on purpose: server-state-check-places, server-state-stopping
        lines = [" ".join(l.split()[:21] + ["0", "-", "-", "0"]) if len(l.split()) == 25 and l[0] != "#" else l for l in lines]
        lines = [re.sub(r"^((?:\S+ ){5})3 ", r"\g<1>2 ", l) for l in lines]
        with open(os.path.join(self.dir, "state"), "w") as f:
            f.write("\n".join(lines))
        for url in list(self.holds):
            self.do_release(url[len("/hold"):].split("-")[0])
        old = self.proxy.process
        p = self.proxy
        p.process = subprocess.Popen([self.program, "-db", "-f", p.conf_path, "-sf", str(old.pid)], stdout=p.out,
                                     stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        try:
            old.wait(HANG)
        except subprocess.TimeoutExpired:
            old.send_signal(signal.SIGABRT)
            old.wait()
            raise Ended("%s: the former process does not end" % self.name)
        lib.until(lambda: self.ready(p))
        self.alive()
        return ""

    def ready(self, p):
        try:
            return p.process.poll() is not None or re.search(r"^Pid: %d$" % p.process.pid, p.ctl("show info"), re.M)
        except OSError:
            return False

    # ---- what can be seen

    def servers(self):
        out = []
        for line in self.ask("show servers state").split("\n")[2:]:
            f = line.split()
            if len(f) > 14:
                f[9] = "T"                            # seconds since the last change
                f[11] = "R"                           # the same, but unknown while a check is on its way
                f[13] = str(int(f[13]) & ~1)          # a check is on its way
                f[14] = str(int(f[14]) & ~1)
                out.append(self.plain(" ".join(f)))
        return out

    def stats(self):
        out = []
        rows = self.ask("show stat").strip().split("\n")
        cols = rows[0].lstrip("# ").split(",")
        for row in rows[1:]:
            d = dict(zip(cols, row.split(",")))
            keep = [c for c in sorted(cols) if c not in NOT_COMPARED and not (self.holds and c in AT_THE_END)
                    and not re.match("h3_|quic_|q?pack_", c) and not (c in OF_SERVERS and d["type"] in "12")]
            fields = ["%s=%s" % (c, re.sub(r"^\* ", "", d[c]).replace(" ", "_")) for c in keep if d[c] not in ("", "-")]
            out.append(self.plain("%s/%s: %s" % (d["pxname"], d["svname"], " ".join(fields))))
        return out

    def patterns(self, what):
        """The list of maps or ACLs, and what is in each that has a file."""
        out = []
        for line in self.ask("show " + what).split("\n"):
            m = re.match(r"(-?\d+) \(([^)]*)\)", line)
            if not m or "'httpclient'" in line:
                continue
            out.append(self.plain(line))
            if m.group(2).startswith(self.dir):
                entries = self.ask("show %s %s" % (what, m.group(2)))
                out += ["   " + self.plain(l) for l in entries.strip().split("\n")]
        return out

    def certificates(self):
        """The lists of all kinds of files, and the crt-list's lines."""
        asked = "show ssl cert", "show ssl ca-file", "show ssl crl-file", "show ssl crt-list -n %s/list" % self.dir
        return [self.plain(l) for text in asked for l in self.ask(text).strip().split("\n") if "@system-ca" not in l]

    def tables(self):
        out = []
        for t in ("tb", "ti"):
            lines = self.ask("show table " + t).strip().split("\n")
            out += [self.plain(re.sub(r"^0x\w+: ", "", l)) for l in [lines[0]] + sorted(lines[1:], key=lambda l: l.split()[1:2])]
        return out

    def logs(self):
        """Lines since the last call; those of start and end of a process are not of the sequence."""
        with self.log.changed:
            lines = self.log.lines[self.read_lines:]
            self.read_lines = len(self.log.lines)
        return [re.sub(r"-%s\b" % self.name[0], "", self.plain(log_plain(l))) for l in lines]


def log_plain(line):
    """Without times, ports of clients, and what OpenSSL says of an alert: the reference sends none to servers."""
    line = re.sub(r"SSL handshake failure \(error.*\)", "SSL handshake failure", line)
    line = re.sub(r"(<HTTPCLIENT> \S+) [0-9/-]+( 50[234] )?\d*", r"\1 TIMES\2", line)    # nor how long its own pages are
    return re.sub(r"^127.0.0.1:\d+ ", "CLIENT ", re.sub(r"\[\d+/\w+/[0-9:.]+\]", "[DATE]", line))


# Columns of `show stat` that depend on time, speed or the moment. Those of QUIC are of what this program has not.
NOT_COMPARED = {
    "scur": "the moment", "smax": "the moment", "rate": "time", "rate_max": "time", "req_rate": "time", "req_rate_max": "time",
    "conn_rate": "time", "conn_rate_max": "time", "lastchg": "time", "downtime": "time", "lastsess": "time", "qtime": "time",
    "ctime": "time", "rtime": "time", "ttime": "time", "qtime_max": "time", "ctime_max": "time", "rtime_max": "time",
    "ttime_max": "time", "check_duration": "time", "agent_duration": "time", "pid": "of the process", "qmax": "the moment",
    "idle_conn_cur": "when a server closes", "safe_conn_cur": "the same", "srv_icur": "the same", "used_conn_cur": "the same",
    "need_conn_est": "estimated over time", "last_chk": "may say how long it took", "last_agt": "the same",
    "connect": "depends on when a server closes", "reuse": "the same", "bin": "other bytes of refused requests", "bout": "the same",
    "reqbin": "other bytes", "reqbout": "other bytes", "resbin": "other bytes", "resbout": "other bytes",
    "priv_idle_cur": "when a server closes",
    "h1_open_connections": "idle ones of a backend to a frontend of the same process (row tls-renewed-idle)",
    "check_code": "0 while a check is on its way", "agent_code": "the same",
    "chkfail": "how many checks fall into the time that a server fails", "eint": "the same",
}
# They are equal when no request is on its way: one counts at the beginning, the other at the end.
AT_THE_END = ("req_tot", "h1_bytes_in", "h1_bytes_out")
# The same, of servers and backends: the reference's checks are HTTP connections like others.
OF_SERVERS = {c: "checks are HTTP connections of the reference" for c in (
    "h1_open_connections", "h1_open_streams", "h1_total_connections", "h1_total_streams", "h1_bytes_in", "h1_bytes_out")}


def observe(world, everything):
    """Named lists of lines."""
    out = {"show servers state": world.servers()}
    if everything:
        out["show stat"] = world.stats()
        out["show map"] = world.patterns("map")
        out["show acl"] = world.patterns("acl")
        out["show ssl"] = world.certificates()
        out["show table"] = world.tables()
    return out
