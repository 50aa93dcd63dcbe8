#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Every kind of check against a real server of it, out of Debian's packages: well, with a wrong
answer, over TLS, frozen, thawed, killed. With a reference program (--reference) both check the same
servers at the same time: statuses and the log's lines must be the same.

What is not installed is skipped by name; `make check-servers` unpacks all under build/tools/servers.
The servers are processes of their own on 127.0.0.1, in a temporary folder.
"""
import glob
import os
import pwd
import re
import select
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
import time

import lib

UNPACKED = os.path.abspath("build/tools/servers")
CONF = """
	log 127.0.0.1:{log} len 2000 local0
	insecure-fork-wanted
defaults
	mode tcp
	timeout connect 3s
	timeout client 5s
	timeout server 5s
	timeout check 1500ms
	log global
	option log-health-checks
	default-server check inter 300ms rise 1 fall 1
listen unused
	bind 127.0.0.1:{port}
{backends}
"""


def find(name, *places):
    """The path of a program, installed or unpacked; None."""
    for p in [shutil.which(name)] + ["%s/%s/%s" % (UNPACKED, d, name)
                                     for d in ("usr/sbin", "usr/bin")] + list(places):
        for path in glob.glob(p or ""):
            if os.access(path, os.X_OK):
                return path
    return None


def environment():
    libs = glob.glob(UNPACKED + "/usr/lib/*-linux-*") + glob.glob(UNPACKED + "/lib/*-linux-*")
    return dict(os.environ, LD_LIBRARY_PATH=":".join(libs),
                PYTHONPATH=UNPACKED + "/usr/lib/python3/dist-packages")


def become_nobody():
    os.setgid(65534)
    os.setuid(65534)


class Daemon:
    """A server's process; is_frozen while it is stopped."""

    def __init__(self, folder, name):
        self.folder = os.path.join(folder, name)
        os.mkdir(self.folder)
        self.port = lib.ports(1)[0]
        self.prepare()
        self.output = open(self.folder + ".out", "wb")
        self.process = subprocess.Popen(self.command(), env=environment(), stdout=self.output,
                                        stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                        cwd="/", preexec_fn=self.rights())
        if not lib.until(self.accepts, 30):
            raise RuntimeError("%s did not start: %s" % (name, open(self.folder + ".out").read()))

    def run(self, *words):
        subprocess.run(words, env=environment(), check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, cwd="/",
                       preexec_fn=self.rights())

    def rights(self):
        return None

    def prepare(self):
        pass

    def accepts(self):
        return lib.accepts(self.port)

    def signal(self, number):
        self.process.send_signal(number)

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.output.close()


class MariaDB(Daemon):
    what, program = "MariaDB", find("mariadbd")

    def prepare(self):
        base = self.program[:-len("/sbin/mariadbd")]
        self.words = ["--no-defaults", "--basedir=" + base, "--datadir=%s/data" % self.folder,
                      "--user=" + pwd.getpwuid(os.getuid())[0]]
        self.run(find("mariadb-install-db"), *self.words, "--skip-test-db", "--skip-name-resolve",
                 "--auth-root-authentication-method=normal")
        with open(self.folder + "/init", "w") as f:
            f.write("CREATE USER haproxy@'%';\n")

    def command(self):
        return [self.program] + self.words + [
            "--port=%d" % self.port, "--bind-address=127.0.0.1", "--skip-name-resolve",
            "--socket=%s/sock" % self.folder, "--pid-file=%s/pid" % self.folder,
            "--max-connect-errors=1000000", "--init-file=%s/init" % self.folder]


class PostgreSQL(Daemon):
    what, program = "PostgreSQL", find("postgres", "/usr/lib/postgresql/*/bin/postgres")

    def rights(self):
        return become_nobody if os.getuid() == 0 else None

    def prepare(self):
        if os.getuid() == 0:
            os.chown(self.folder, 65534, 65534)
        there = os.path.dirname(os.path.realpath(self.program))
        self.run(there + "/initdb", "-D", self.folder + "/data", "-A", "trust", "-U", "haproxy")
        path = self.folder + "/data/pg_hba.conf"
        with open(path) as f:
            rules = f.read()
        with open(path, "w") as f:
            f.write("host all stranger 127.0.0.1/32 reject\n" + rules)

    def command(self):
        return [self.program, "-D", self.folder + "/data", "-p", str(self.port), "-h", "127.0.0.1",
                "-c", "unix_socket_directories=" + self.folder]


class Redis(Daemon):
    what, program = "Redis", find("redis-server")
    extra = []

    def command(self):
        return [self.program, "--port", str(self.port), "--bind", "127.0.0.1", "--save", "",
                "--dir", self.folder] + self.extra


class RedisWithPassword(Redis):
    extra = ["--requirepass", "secret"]


class OpenLDAP(Daemon):
    what, program = "OpenLDAP", find("slapd")
    extra = ""

    def prepare(self):
        root = UNPACKED if self.program.startswith(UNPACKED) else ""
        os.mkdir(self.folder + "/data")
        with open(self.folder + "/conf", "w") as f:
            f.write("include %s/etc/ldap/schema/core.schema\nmodulepath %s/usr/lib/ldap\n"
                    "moduleload back_mdb\n%s\ndatabase mdb\nsuffix \"dc=x\"\ndirectory %s/data\n"
                    % (root, root, self.extra, self.folder))

    def command(self):
        return [self.program, "-f", self.folder + "/conf", "-d", "0", "-h",
                "ldap://127.0.0.1:%d/" % self.port]


class OpenLDAPWithNames(OpenLDAP):
    extra = "disallow bind_anon"


def has_module(name):
    return not subprocess.run([system_python(), "-c", "import " + name], env=environment(),
                              stderr=subprocess.DEVNULL).returncode


def system_python():
    """That of the packages."""
    return "/usr/bin/python3" if os.access("/usr/bin/python3", os.X_OK) else sys.executable


SMTP = """
import sys, time
from aiosmtpd.controller import Controller
class Handler:
    async def handle_EHLO(self, server, session, envelope, hostname, responses):
        session.host_name = hostname
        return ["550 go away"] if hostname == "stranger" else responses
Controller(Handler(), hostname="127.0.0.1", port=int(sys.argv[1])).start()
time.sleep(1e6)
"""


class Smtp(Daemon):
    what, program = "aiosmtpd", has_module("aiosmtpd.controller") and system_python()

    def command(self):
        return [self.program, "-c", SMTP, str(self.port)]


# the health service by hand: its module is not in Debian
GRPC = """
import sys, time
from concurrent import futures
import grpc
def answer(request, context):
    service = request[2:]
    if service == b"nobody":
        context.abort(grpc.StatusCode.NOT_FOUND, "unknown service")
    if service == b"stuck":
        time.sleep(3)
    return b"\\x08\\x02" if service == b"ill" else b"\\x08\\x01"
class Health(grpc.GenericRpcHandler):
    def service(self, details):
        if details.method == "/grpc.health.v1.Health/Check" and sys.argv[2] == "health":
            return grpc.unary_unary_rpc_method_handler(answer)
server = grpc.server(futures.ThreadPoolExecutor(20))
server.add_generic_rpc_handlers((Health(),))
server.add_insecure_port("127.0.0.1:" + sys.argv[1])
server.start()
time.sleep(1e6)
"""


class Grpc(Daemon):
    what, program = "gRPC", has_module("grpc") and system_python()
    extra = "health"

    def command(self):
        return [self.program, "-c", GRPC, str(self.port), self.extra]


class GrpcWithoutHealth(Grpc):
    extra = ""


class Tls(Daemon):
    what, program = "openssl s_server", find("openssl")

    def command(self):
        return [self.program, "s_server", "-accept", "127.0.0.1:%d" % self.port, "-www", "-quiet",
                "-cert", self.certificate]


# it serves one connection after the other: each kind has its own
class TlsHttp(Tls):
    pass


class TlsHttpAlone(Tls):
    pass


class TlsConnect(Tls):
    pass


class TlsRelay:
    """Speaks TLS in front of a port."""

    def __init__(self, port, certificate):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        context.set_alpn_protocols(["h2"])
        self.context, self.behind = context, port
        self.server = lib.Server(self.one)
        self.port = self.server.port

    def one(self, s):
        try:
            there = lib.connect(self.behind)
        except OSError:
            s.recv(1)
            lib.reset(s)
            return
        with there:
            s = self.context.wrap_socket(s, server_side=True)
            while True:
                ready = [s] if s.pending() else select.select([s, there], [], [], 10)[0]
                for a, b in ((s, there), (there, s)):
                    part = a.recv(65536) if a in ready else None
                    if part == b"" or not ready:
                        return
                    if part:
                        b.sendall(part)


class Closing(Daemon):
    """No real server: it hears what is said and goes away."""
    what, program = "a server that closes", sys.executable

    def command(self):
        return [self.program, "-c", "import socket, sys\nl = socket.create_server(('127.0.0.1', "
                "int(sys.argv[1])), backlog=100)\nwhile True:\n"
                " s = l.accept()[0]\n s.settimeout(0.1)\n try: s.recv(9999)\n"
                " except OSError: pass\n s.close()\n", str(self.port)]


# name: daemon, what the backend says, is it well
KINDS = {
    "mysql": (MariaDB, "option mysql-check user haproxy", True),
    "mysql41": (MariaDB, "option mysql-check user haproxy post-41", True),
    "mysql_old": (MariaDB, "option mysql-check user haproxy pre-41", True),
    "mysql_no_user": (MariaDB, "option mysql-check", True),
    "mysql_stranger": (MariaDB, "option mysql-check user stranger", False),
    "mysql_is_redis": (MariaDB, "option redis-check", False),
    "pgsql": (PostgreSQL, "option pgsql-check user haproxy", True),
    "pgsql_stranger": (PostgreSQL, "option pgsql-check user stranger", False),
    "pgsql_is_smtp": (PostgreSQL, "option smtpchk", False),
    "redis": (Redis, "option redis-check", True),
    "redis_password": (RedisWithPassword, "option redis-check", False),
    "redis_rules": (Redis, "option tcp-check\n\ttcp-check send PING\\r\\n\n"
                    "\ttcp-check expect string +PONG\n\ttcp-check send info\\ replication\\r\\n\n"
                    "\ttcp-check expect string role:master\n\ttcp-check send QUIT\\r\\n\n"
                    "\ttcp-check expect string +OK", True),
    "redis_replica": (Redis, "option tcp-check\n\ttcp-check send info\\ replication\\r\\n\n"
                      "\ttcp-check expect string role:slave", False),
    "redis_is_mysql": (Redis, "option mysql-check user haproxy", False),
    "redis_is_pgsql": (Redis, "option pgsql-check user haproxy", False),
    "redis_is_http": (Redis, "option httpchk GET /", False),
    "redis_is_ldap": (Redis, "option ldap-check", False),
    "redis_is_tls": (Redis, "option ssl-hello-chk", False),
    "ldap": (OpenLDAP, "option ldap-check", True),
    "ldap_not_anonymous": (OpenLDAPWithNames, "option ldap-check", False),
    "smtp": (Smtp, "option smtpchk", True),
    "smtp_ehlo": (Smtp, "option smtpchk EHLO mail.example.com", True),
    "smtp_stranger": (Smtp, "option smtpchk EHLO stranger", False),
    "smtp_is_mysql": (Smtp, "option mysql-check user haproxy", False),
    "smtp_is_pgsql": (Smtp, "option pgsql-check user haproxy", False),
    "smtp_is_redis": (Smtp, "option redis-check", False),
    "smtp_is_ldap": (Smtp, "option ldap-check", False),
    "closing_mysql": (Closing, "option mysql-check user haproxy", False),
    "closing_mysql_no_user": (Closing, "option mysql-check", False),
    "closing_pgsql": (Closing, "option pgsql-check user haproxy", False),
    "closing_redis": (Closing, "option redis-check", False),
    "closing_ldap": (Closing, "option ldap-check", False),
    "closing_smtp": (Closing, "option smtpchk", False),
    "closing_tls": (Closing, "option ssl-hello-chk", False),
    "closing_http": (Closing, "option httpchk GET /", False),
    "closing_rules": (Closing, "option tcp-check\n\ttcp-check send PING\\r\\n\n"
                      "\ttcp-check expect string +PONG", False),
    "grpc": (Grpc, "option grpc-check", True),
    "grpc_service": (Grpc, "option grpc-check some.Service", True),
    "grpc_ill": (Grpc, "option grpc-check ill", False),
    "grpc_nobody": (Grpc, "option grpc-check nobody", False),
    "grpc_stuck": (Grpc, "option grpc-check stuck", False),
    "grpc_no_health": (GrpcWithoutHealth, "option grpc-check", False),
    "grpc_is_redis": (Redis, "option grpc-check", False),
    "grpc_is_smtp": (Smtp, "option grpc-check", False),
    "grpc_closing": (Closing, "option grpc-check", False),
    "tls": (Tls, "option ssl-hello-chk", True),
    "tls_http": (TlsHttp, "option httpchk GET /\n\tdefault-server check-ssl verify none", True),
    "tls_http_alone": (TlsHttpAlone, "option httpchk GET /", False),
    "tls_connect": (TlsConnect, "default-server check-ssl verify none", True),
}
# those that are asked over TLS as well
OVER_TLS = ("mysql", "mysql_stranger", "pgsql", "pgsql_stranger", "redis", "redis_password",
            "redis_rules", "ldap", "smtp", "smtp_stranger", "grpc", "grpc_ill")

# what the reference does not know
EXTENSIONS = tuple(n for n in KINDS if n.startswith("grpc"))

WELL = ("L7OK", "L6OK", "L4OK", "L7OKC")


class Running:
    """One program that checks them all."""

    def __init__(self, program, backends):
        self.log = lib.Syslog()
        self.proxy = lib.Proxy(program, CONF.format(log=self.log.port, port=lib.ports(1)[0],
                                                    backends=backends))
        self.read = 0

    def states(self):
        return {be: (row["status"].split(" ")[0], row["check_status"].lstrip("* "))
                for (be, sv), row in self.proxy.stats().items() if sv == "s"}

    def told(self):
        """The last line of each server's checks since this was asked last, but for times."""
        out = {}
        for line in self.log.lines[self.read:]:
            m = re.search(r"Health check for server (\S+)/s (.*)", line)
            if m:
                text = re.sub(r"check duration: \d+ms", "check duration: Nms", m[2])
                # where in its rules a check was when its server stopped is chance
                out[m[1]] = re.sub(r"(Layer7 timeout, info: . at) step.*?\)\"", r"\1", text)
        self.read = len(self.log.lines)
        return out


def settle(running, good):
    """Waits until each program's servers are as <good>(backend, state) says, in two looks."""
    def look():
        found = [r.states() for r in running]
        if all(good(be, state) for states in found for be, state in states.items()):
            time.sleep(0.7)
            return [r.states() for r in running] == found
        return False
    lib.until(look, 20)
    return [r.states() for r in running]


def phase(tap, name, running, good, but="none"):
    """What ends in <but> is not compared with the reference."""
    states = settle(running, good)
    bad = {be: s for be, s in states[0].items() if not good(be, s)}
    tap.ok(not bad, "%s: %d servers are as they deserve" % (name, len(states[0])), bad)
    time.sleep(0.2)
    told = [r.told() for r in running]
    if len(running) == 1:
        return
    differ = {be: [s[be] for s in states] for be in states[1]
              if states[0][be] != states[1][be] and not be.endswith(but)}
    tap.ok(not differ, name + ": the reference says the same", differ)
    differ = {be: [t.get(be) for t in told] for be in states[1]
              if told[0].get(be) != told[1].get(be) and not be.endswith(but)}
    tap.ok(not differ, name + ": the logs say the same",
           "\n".join("%s\n   ours %s\n   its  %s" % (be, *d) for be, d in sorted(differ.items())))


def kinds_here(tap):
    """The kinds whose servers are here."""
    missing = {d.what for d, _, _ in KINDS.values() if not d.program}
    for what in sorted(missing):
        tap.apart("servers", what)
    return {n: k for n, k in KINDS.items() if k[0].program}


def backends_of(kinds, daemons, relays):
    text = ""
    for name, (daemon, lines, _) in kinds.items():
        text += "backend %s\n\t%s\n\tserver s 127.0.0.1:%d\n" % (name, lines, daemons[daemon].port)
        if name in OVER_TLS:
            text += "backend %s_over_tls\n\t%s\n\tserver s 127.0.0.1:%d check-ssl verify none\n" % (
                name, lines, relays[daemon].port)
    return text


def run(tap, kinds, daemons, running):
    def is_well(be):
        return kinds[be.replace("_over_tls", "")][2]

    def as_deserved(be, state):
        return (state[1] in WELL and state[0] == "UP") == is_well(be) and \
            state[1] not in ("INI", "UNK")

    def down(be, state):
        return state[0] == "DOWN" and state[1] not in WELL

    def late(be, state):
        # the kernel still takes connections
        return state[0] == "DOWN" and state[1] in ("L7TOUT", "L6TOUT")

    def all_signal(number):
        for d in daemons.values():
            d.signal(number)

    phase(tap, "at first", running, as_deserved)
    all_signal(signal.SIGSTOP)
    # how far the relays of TLS come is chance: a frozen server takes only so many connections
    phase(tap, "frozen", running, late, "_over_tls")
    all_signal(signal.SIGCONT)
    phase(tap, "thawed", running, as_deserved)
    for d in daemons.values():
        d.kill()
    # that a relay of TLS resets is said in several ways, by chance
    phase(tap, "killed", running, down, "_over_tls")


def certificate_in(folder):
    path = folder + "/cert.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
                    "-subj", "/CN=x", "-keyout", path + ".key", "-out", path + ".crt"], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with open(path, "w") as f:
        for part in (".key", ".crt"):
            f.write(open(path + part).read())
    return path


def main():
    args = lib.arguments(__doc__, ("reference", "", "a program to compare with"))
    tap, running, daemons = lib.Tap(), [], {}
    kinds = kinds_here(tap)
    folder = tempfile.mkdtemp(prefix="hapt.")
    os.chmod(folder, 0o755)
    try:
        Tls.certificate = certificate_in(folder)
        for kind in {k[0] for k in kinds.values()}:
            daemons[kind] = kind(folder, kind.__name__)
        relays = {k: TlsRelay(d.port, Tls.certificate) for k, d in daemons.items()}
        running.append(Running(args.program, backends_of(kinds, daemons, relays)))
        if args.reference:
            known = {n: k for n, k in kinds.items() if n not in EXTENSIONS}
            running.append(Running(args.reference, backends_of(known, daemons, relays)))
        run(tap, kinds, daemons, running)
        tap.ok(running[0].proxy.alive(), "alive", running[0].proxy.output()[-500:])
    finally:
        for r in running:
            r.proxy.__exit__()
        for d in daemons.values():
            d.kill()
        shutil.rmtree(folder, ignore_errors=True)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
