#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""HTTP/3 with stacks that others wrote, as clients of the program and as its servers: a table of what works.

  python3 tests/interop/interop.py [--program ./haproxy] [--bytes 200000000] [--write doc/internals/quic-interop.md]

aioquic is taken from where scripts/install-deps puts it, quic-go and quinn are built by go and cargo from tests/interop/quic-go and
tests/interop/quinn, curl is what scripts/get-curl unpacks, Chromium that of the system. What is not there is told below the table.
Cases "down" and "up" carry --bytes, compared by SHA-256. Exit status 1: something failed.
"""
import argparse
import asyncio
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(HERE, "../system"))
import lib
import lib_quic

TOOLS = os.path.join(HERE, "../../build/tools")
SERVE = """
	limited-quic
	nbthread 2
defaults
	mode http
	timeout connect 5s
	timeout client 60s
	timeout server 60s
frontend web
	bind quic4@127.0.0.1:{port} ssl crt {crt} alpn h3 {options}
	http-request return status 200 content-type text/html file {page} if {{ path /page }}
	http-request set-var(txn.early) ssl_fc_has_early
	http-after-response set-header x-early %[var(txn.early)]
	http-after-response set-header x-resumed %[ssl_fc_is_resumed]
	default_backend origin
backend origin
	server s1 127.0.0.1:{to}
"""
ASK = """
	limited-quic
	expose-experimental-directives
defaults
	mode http
	timeout connect 5s
	timeout client 60s
	timeout server 60s
frontend web
	bind 127.0.0.1:{port}
	default_backend h3
backend h3
	server s1 quic4@127.0.0.1:{to} ssl verify none alpn h3 sni str(localhost)
"""
ECT0 = 2
# What a browser does; its words are in the document at the end. Bodies are those of lib_quic.body_of().
PAGE = """<!DOCTYPE html><title>HTTP/3</title><body><script>
const [kind, n] = location.search.slice(1).split(",");
const hex = b => Array.from(new Uint8Array(b), x => x.toString(16).padStart(2, "0")).join("");
const sum = async b => hex(await crypto.subtle.digest("SHA-256", b));
const over = url => performance.getEntriesByName(new URL(url, location).href).map(e => e.nextHopProtocol);
async function body(size) {
	const line = [];
	for (let i = 0; i < 4096; i++)
		line.push(String(i).padStart(7, "0") + "\\n");
	return new TextEncoder().encode(line.join("").repeat(size / 32768 + 1)).slice(0, size);
}
async function play() {
	performance.setResourceTimingBufferSize(5000);
	if (kind == "many") {
		const all = await Promise.all([...Array(1000).keys()].map(i => fetch("/100", { cache: "no-store" }).then(r => r.arrayBuffer())));
		return [over("/100").every(p => p == "h3"), all.length, new Set(await Promise.all(all.map(sum))).size, await sum(all[0])].join(" ");
	}
	let said = "";
	if (kind != "up")
		said += await sum(await (await fetch("/" + n)).arrayBuffer());
	if (kind != "down")
		said += " " + await (await fetch("/", { method: "POST", body: await body(+n) })).text();
	return over(kind == "up" ? "/" : "/" + n).join() + " " + said;
}
play().catch(e => "failed: " + e).then(t => document.body.textContent = "said: " + t + ".");
</script>
"""


class Failed(Exception):
    pass


class Not(Exception):
    """The other side cannot do it."""


def need(condition, text):
    if not condition:
        raise Failed(text)


# ---- clients

class Aioquic:
    def __init__(self):
        if not lib_quic.HAVE_AIOQUIC:
            raise Not("not installed")
        import aioquic
        self.name = "aioquic " + aioquic.__version__

    def run(self, address, case, n):
        asyncio.run(asyncio.wait_for(self.play(int(address.split(":")[1]), case, n), 300))

    def connect(self, port, tickets=None, ticket=None, wait=True, **options):
        conf = lib_quic.QuicConfiguration(is_client=True, alpn_protocols=lib_quic.H3_ALPN, verify_mode=lib_quic.ssl.CERT_NONE,
                                          session_ticket=ticket, max_data=1 << 26, max_stream_data=1 << 26, **options)
        return lib_quic.aio_connect("127.0.0.1", port, configuration=conf, create_protocol=lib_quic.Client,
                                    session_ticket_handler=tickets.append if tickets is not None else None,
                                    wait_connected=wait)

    async def play(self, port, case, n):
        if case in ("resumption", "0-RTT"):
            return await self.again(port, case == "0-RTT")
        if case == "ECN":
            raise Not("marks are not reported by it")
        options = {"supported_versions": [0x6b3343cf], "original_version": 0x6b3343cf} if case == "version 2" else {}
        async with self.connect(port, **options) as c:
            if case == "1,000 streams":
                got = await asyncio.gather(*(c.request("GET", "/100") for _ in range(1000)))
                need(all(g[2] == lib_quic.body_of(100) for g in got), "not all were answered")
                return
            for _ in range(3 if case == "key update" else 0):
                c._quic.request_key_update()
                await c.request("GET", "/1000")
            if case in ("up", "both"):
                body = lib_quic.body_of(n)
                need((await c.request("POST", "/", body))[2] == lib_quic.digest(body), "another body arrived")
            if case != "up":
                need((await c.request("GET", "/%d" % n))[2] == lib_quic.body_of(n), "another body came")

    async def again(self, port, early):
        tickets = []
        async with self.connect(port, tickets) as c:
            await c.request("GET", "/1")
            for _ in range(200):
                if tickets:
                    break
                await asyncio.sleep(0.05)
        need(tickets, "no session came")
        async with self.connect(port, [], tickets[0], wait=not early) as c:
            fields = (await c.request("GET", "/1"))[1]
        need(fields.get(b"x-resumed") == b"1", "the session was not resumed")
        need(not early or fields.get(b"x-early") == b"1", "it was not early")

    def serve(self, crt):
        """Its server: (port, what ends it)."""
        import quic_servers

        def act(protocol, stream, path):
            protocol.h3.send_headers(stream, [(b":status", b"200")])
            protocol.h3.send_data(stream, lib_quic.body_of(int(path.strip("/") or 0)), True)
        server = quic_servers.Strange(crt, act)
        return server.port, server.close


class Tool:
    """A program of ours made of a stack of others: "client ADDRESS CASE BYTES", "server ADDRESS CERTIFICATE KEY"."""
    cannot = {}

    def run(self, address, case, n):
        if case in self.cannot:
            raise Not(self.cannot[case])
        try:
            out = subprocess.run([self.tool, "client", address, case, str(n)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                 timeout=300)
        except subprocess.TimeoutExpired:
            raise Failed("takes more than 300 s")
        need(not out.returncode, out.stdout.strip().split("\n")[-1][:100])

    def build(self, name, *command):
        folder = os.path.join(HERE, name)
        self.tool = os.path.abspath(os.path.join(TOOLS, "interop-" + name))
        try:
            built = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        except OSError:
            raise Not(command[0] + " is not installed")
        if built.returncode:
            raise Not("%s cannot build it: %s" % (command[0], built.stdout.strip().split("\n")[-1]))
        return folder

    def serve(self, crt):
        port = lib.ports(1)[0]
        p = subprocess.Popen([self.tool, "server", "127.0.0.1:%d" % port, crt + ".crt", crt + ".key"], stdin=subprocess.PIPE,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

        def end():
            p.stdin.close()
            p.wait(lib.PATIENCE)
        return port, end


class QuicGo(Tool):
    cannot = {"key update": "it has no call for it"}

    def __init__(self):
        folder = self.build("quic-go", "go", "build", "-o", os.path.abspath(os.path.join(TOOLS, "interop-quic-go")), ".")
        with open(os.path.join(folder, "go.mod")) as f:
            self.name = "quic-go " + re.search(r"quic-go/quic-go (\S+)", f.read()).group(1)


class Quinn(Tool):
    cannot = {"version 2": "it knows version 1 only"}

    def __init__(self):
        target = os.path.abspath(os.path.join(TOOLS, "interop-quinn.build"))
        folder = self.build("quinn", "cargo", "build", "-q", "--release", "--locked", "--target-dir", target)
        self.tool = os.path.join(target, "release", "interop-quinn")
        with open(os.path.join(folder, "Cargo.lock")) as f:
            self.name = "quinn " + re.search(r'name = "quinn"\nversion = "(\S+)"', f.read()).group(1)


class Curl:
    """The one of scripts/get-curl, with the libraries that came with it: ngtcp2."""

    def __init__(self):
        folder = os.path.join(TOOLS, "newer/usr")
        libs = os.path.join(folder, "lib/x86_64-linux-gnu")
        self.command = [os.path.join(libs, "ld-linux-x86-64.so.2"), "--library-path", libs, os.path.join(folder, "bin/curl")]
        try:
            text = subprocess.run(self.command + ["--version"], stdout=subprocess.PIPE, text=True).stdout
        except OSError:
            raise Not("scripts/get-curl was not run")
        self.name = "curl %s (ngtcp2 %s)" % (text.split()[1], re.search(r"ngtcp2/(\S+)", text).group(1))

    def ask(self, *args, **options):
        out = subprocess.run(self.command + ["-k", "-sS", "--http3-only", "--max-time", "300", *args], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, **options)
        need(not out.returncode, out.stderr.decode().strip()[-100:])
        return out.stdout

    def run(self, address, case, n):
        if case in ("resumption", "0-RTT", "key update", "ECN", "version 2"):
            raise Not("it has no option for it")
        url = "https://%s/" % address
        if case == "1,000 streams":
            urls = "".join('url = "%s100"\noutput = /dev/null\n' % url for _ in range(1000))
            got = self.ask("--parallel", "--parallel-max", "300", "-w", "%{http_code} %{size_download}\n", "-K", "-", input=urls.encode())
            need(got.split(b"\n").count(b"200 100") == 1000, "not all were answered")
            return
        body = lib_quic.body_of(n)
        if case in ("up", "both"):
            need(self.ask("--data-binary", "@-", url, input=body) == lib_quic.digest(body), "another body arrived")
        if case != "up":
            need(self.ask("%s%d" % (url, n)) == body, "another body came")

    def serve(self, crt):
        raise Not("it is no server")


class Chromium:
    """A browser without a window."""

    def __init__(self):
        tool = shutil.which("chromium") or shutil.which("chromium-browser")
        if not tool:
            raise Not("not installed")
        self.tool = tool
        text = subprocess.run([tool, "--version"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
        self.name = "Chromium " + re.search(r"\d+(\.\d+)*", text).group(0)

    def ask(self, address, kind, n):
        key = subprocess.run("openssl x509 -in '%s.crt' -pubkey -noout | openssl pkey -pubin -outform der | openssl dgst -sha256 -binary | "
                             "openssl base64" % self.crt, shell=True, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
        with tempfile.TemporaryDirectory(prefix="hapt.") as home:
            out = subprocess.run([self.tool, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--user-data-dir=" + home,
                                  "--origin-to-force-quic-on=" + address, "--ignore-certificate-errors-spki-list=" + key,
                                  "--virtual-time-budget=120000", "--dump-dom", "https://%s/page?%s,%d" % (address, kind, n)],
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=200)
        found = re.search(r"said: (.*)\.", out.stdout)
        need(found, "it says nothing: " + (out.stderr.strip().split("\n") or [""])[-1][-80:])
        return found.group(1)

    def run(self, address, case, n):
        if case in ("resumption", "0-RTT", "key update", "ECN", "version 2"):
            raise Not("it has no option for it")
        if case == "1,000 streams":
            said = self.ask(address, "many", 100)
            need(said == "true 1000 1 " + self.sum(100), "it says " + said)
            return
        kind = case if case in ("up", "both") else "down"
        down, up = self.sum(n), lib_quic.digest(lib_quic.body_of(n)).decode()
        want = "h3 " + {"down": down, "up": " " + up, "both": down + " " + up}[kind]
        said = self.ask(address, kind, n)
        need(said == want, "it says " + said)

    @staticmethod
    def sum(n):
        return hashlib.sha256(lib_quic.body_of(n)).hexdigest()

    def serve(self, crt):
        raise Not("it is no server")


# ---- cases

CASES = ["handshake", "retry", "resumption", "0-RTT", "key update", "down", "up", "1,000 streams", "ECN", "loss 1 %", "loss 5 %",
         "reordering", "version 2"]
OPTIONS = {"retry": "quic-force-retry", "0-RTT": "allow-0rtt"}
# (loss, twice, late)
NETWORKS = {"loss 1 %": (0.01, 0, 0), "loss 5 %": (0.05, 0, 0), "reordering": (0, 0.02, 0.05), "ECN": (0, 0, 0)}


def has_early(program):
    info = subprocess.run([program, "-vv"], stdout=subprocess.PIPE, text=True).stdout
    return "+QUIC " in info and "+QUIC_OPENSSL_COMPAT" not in info


def as_client(args, crt, stack, case, back):
    if case == "0-RTT" and not has_early(args.program):
        raise Not("this OpenSSL has no interface for it")
    port = lib.ports(1)[0]
    conf = SERVE.format(port=port, crt=crt, to=back.port, page=crt + ".html", options=OPTIONS.get(case, ""))
    with lib.Proxy(args.program, conf):
        n, relay = args.bytes if case in ("down", "up") else 1000000 if case in NETWORKS else 10000, None
        if case in NETWORKS:
            relay = lib_quic.Relay(port, 7, *NETWORKS[case], mark=ECT0 if case == "ECN" else 0)
            port = relay.port
        if case == "ECN":
            relay.front.setsockopt(lib_quic.socket.IPPROTO_IP, lib_quic.socket.IP_TOS, ECT0)
        try:
            stack.run("127.0.0.1:%d" % port, "both" if case in NETWORKS and case != "ECN" else case, n)
        finally:
            if relay:
                relay.close()
        if case == "ECN":
            need(relay.marks.count(ECT0) > 0.9 * len(relay.marks), "marks stop: %d of %d" % (relay.marks.count(ECT0), len(relay.marks)))


def as_server(args, crt, stack, case):
    to, end = stack.serve(crt)
    port = lib.ports(1)[0]
    try:
        with lib.Proxy(args.program, ASK.format(port=port, to=to)):
            n = args.bytes if case == "down" else 1000
            if case == "up":
                if isinstance(stack, Aioquic):
                    raise Not("its server here reads no bodies")
                body = lib_quic.body_of(args.bytes)
                need(lib_quic.ask(port, "POST", "/", body)[2] == lib_quic.digest(body), "another body arrived")
            else:
                need(lib_quic.is_whole(lib_quic.ask(port, path="/%d" % n), n), "another body came")
    finally:
        end()


def outcome(fn, *args):
    try:
        fn(*args)
    except Not as e:
        return "- (%s)" % e
    except Failed as e:
        return "FAILED: %s" % e
    except Exception as e: # pylint: disable=broad-except
        return "FAILED: %r" % e
    return "yes"


def table(args, crt):
    stacks, absent = [], []
    with open(crt + ".html", "w") as f:
        f.write(PAGE)
    for make in Aioquic, QuicGo, Quinn, Curl, Chromium:
        if not re.search(args.only, make.__name__.lower()):
            continue
        try:
            stacks.append(make())
            stacks[-1].crt = crt
        except Not as e:
            absent.append("%s: %s" % (make.__name__.lower(), e))
    rows = [["", *(s.name for s in stacks)]]
    back = lib.Server(lib_quic.origin)
    for case in CASES:
        rows.append(["client: " + case] + [outcome(as_client, args, crt, s, case, back) for s in stacks])
        print(rows[-1], file=sys.stderr, flush=True)
    for case in "handshake", "down", "up":
        rows.append(["server: " + case] + [outcome(as_server, args, crt, s, case) for s in stacks])
        print(rows[-1], file=sys.stderr, flush=True)
    back.close()
    absent.append("h2load: Debian's, the newest too, is built without HTTP/3")
    return rows, absent


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--program", default="./haproxy")
    ap.add_argument("--bytes", type=int, default=10000000)
    ap.add_argument("--only", default="", metavar="PATTERN", help="only stacks whose names it finds")
    ap.add_argument("--write", metavar="FILE")
    args = ap.parse_args()
    with tempfile.TemporaryDirectory(prefix="hapt.") as folder:
        crt = os.path.join(folder, "localhost.pem")
        if not lib_quic.certificate(crt):
            raise SystemExit("there is no openssl to make a certificate")
        rows, absent = table(args, crt)
    info = subprocess.run([args.program, "-vv"], stdout=subprocess.PIPE, text=True).stdout
    library = re.search(r"Running on SSL library version : (\S+ \S+)", info).group(1)
    text = ["# QUIC with stacks that others wrote", "",
            "Made by `python3 tests/interop/interop.py --bytes %d --write doc/internals/quic-interop.md`, the program with %s." % (
                args.bytes, library), ""]
    text += ["| " + " | ".join(r) + " |" for r in rows[:1]] + ["|" + " --- |" * len(rows[0])]
    text += ["| " + " | ".join(r) + " |" for r in rows[1:]]
    text += [""] + ["Not tried: " + a + "." for a in absent]
    if args.write:
        with open(args.write, "w") as f:
            f.write("\n".join(text).rstrip("\n") + "\n")
    print("\n".join(text))
    sys.exit(any("FAILED" in c for r in rows for c in r))


if __name__ == "__main__":
    main()
