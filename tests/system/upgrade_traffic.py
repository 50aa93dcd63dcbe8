#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The configurations of tests/upgrade under traffic: what clients, servers and the log see, and what they saw with 3.2.

Each file that HAProxy 3.2 takes runs as it is, but for its ports and for `user` and `daemon`. The same requests are sent
to each, and a transcript is made of the answers, of what the servers were sent and of the log. tests/upgrade/traffic.txt
has the transcripts of 3.2; `upgrade_traffic.py --program PATH-OF-3.2 --record` writes it. Where this program differs, EXPLAINED
names the row of --compat that foretells it, and --compat has to name that row for the file; no other difference is allowed.
What is left to chance (the server, where `balance` is foretold) or to clocks is not in a transcript.
"""
import base64
import glob
import os
import re
import subprocess
import threading

import lib

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
RECORD = os.path.join(TOP, "tests/upgrade/traffic.txt")
GET = "GET %s HTTP/1.1\r\nHost: %s\r\n%sConnection: close\r\n\r\n"
AUTH = "Authorization: Basic %s\r\n" % base64.b64encode(b"admin:secret").decode()
# (name, bytes that are sent on one connection)
REQUESTS = [(name, text.encode("latin-1")) for name, text in (
    ("plain", GET % ("/", "site.example", "")),
    ("fields", GET % ("/f?a=1&b=2", "Site.Example", "X-CamelCase: 1\r\nx_y: 2\r\nX-Forwarded-For: 192.0.2.1\r\nCookie: SRV=b; k=v\r\n")),
    ("old path", GET % ("/old/x/y", "site.example", "")),
    ("admin", GET % ("/admin/z", "site.example", "")),
    ("alive", GET % ("/alive", "site.example", "")),
    ("other host", GET % ("/p.css", "example.com", "")),
    ("shop", GET % ("/cart", "SHOP.example.com", "")),
    ("statistics without password", GET % ("/stats", "site.example", "")),
    ("statistics", GET % ("/stats;csv", "site.example", AUTH)),
    ("two requests", "GET /1 HTTP/1.1\r\nHost: a\r\n\r\n" + GET % ("/2", "a", "")),
    ("body", "POST /b HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello"),
    ("chunks", "POST /c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n3\r\nabc\r\n0\r\n\r\n"),
    ("HTTP/1.0", "GET /10 HTTP/1.0\r\n\r\n"),
    ("HTTP/1.0 kept", "GET /10 HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET /11 HTTP/1.0\r\n\r\n"),
    ("head", "HEAD /h HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"),
    ("redirecting server", GET % ("/redirect", "a", "")),
    ("upgrade", "GET /u HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n" + GET % ("/", "a", "")),
    ("upgrade with a body", "POST /u HTTP/1.1\r\nHost: a\r\nConnection: upgrade, close\r\nUpgrade: x\r\nContent-Length: 3\r\n\r\nabc"),
    ("field with NUL", GET % ("/", "a", "X: a\x00b\r\n")),
    ("slash in Host", GET % ("/", "a/b", "")),
    ("quote in the path", GET % ("/\"q", "a", "")),
    ("fragment", GET % ("/a#b", "a", "")),
    ("bytes above 127 in the path", GET % ("/\xe4", "a", "")),
    ("two hosts", GET % ("/", "a", "Host: b\r\n")),
    ("no host", "GET / HTTP/1.1\r\nConnection: close\r\n\r\n"),
    ("not HTTP", "hello\r\n\r\n"),
)]
# (file, name of the request or "*") -> the row of --compat that foretells it
EXPLAINED = {
    ("3.1-disabled.cfg", "old path"): "use-backend-disabled",
    ("3.2-quic.cfg", "*"): "no-quic",
}
# where HAProxy 3.4 differs and this program does not: rows of tests/differences.txt
# differs: log-own-bytes
REFERENCE = {("2.6-typical.cfg", "other host")}


def received(sock):
    """What comes next; EOFError ends the server of this connection."""
    data = sock.recv(65536)
    if not data:
        raise EOFError
    return data


class Site:
    """Servers that answer with what they were sent; checks are answered, and not in the answer of anything else."""

    def __init__(self, names):
        self.ports = {}
        self.servers = []
        for name in names:
            self.servers.append(lib.Server(lambda sock, name=name: self.serve(sock, name)))
            self.ports[name] = self.servers[-1].port

    @staticmethod
    def serve(sock, name):
        data = b""
        while True:
            while b"\r\n\r\n" not in data:
                data += received(sock)
            head, data = data.split(b"\r\n\r\n", 1)
            size = int((re.search(rb"(?i)content-length: *(\d+)", head) or [0, 0])[1])
            while len(data) < size:
                data += received(sock)
            if re.search(rb"(?i)transfer-encoding: *chunked", head):
                while b"0\r\n\r\n" not in data:
                    data += received(sock)
                size = data.find(b"0\r\n\r\n") + 5
            body = b"%s: %s\n%s" % (name.encode(), head.replace(b"\r\n", b"\n"), data[:size])
            data = data[size:]
            line = b"302 Found\r\nLocation: http://there.example/" if b"/redirect" in head else b"200 OK"
            close = b"" if b"HTTP/1.1" in head.split(b"\n")[0] else b"Connection: close\r\n"
            sock.sendall(b"HTTP/1.1 %s\r\nServer: s\r\n%sContent-Length: %d\r\n\r\n" % (line, close, len(body)))
            if not head.startswith(b"HEAD"):
                sock.sendall(body)
            if close or b"close" in head.lower():
                return

    def close(self):
        for server in self.servers:
            server.close()


def moved(text, site, syslog):
    """The configuration on other ports; what it would need the superuser for is left out. (text, the port to ask)"""
    binds = {}
    for port in re.findall(r"^\tbind 127\.0\.0\.1:(\d+)", text, re.M):
        binds[port] = lib.ports(1)[0]
        text = text.replace("bind 127.0.0.1:%s" % port, "bind 127.0.0.1:%d" % binds[port])
    text = re.sub(r"(\tserver (\w+) 127\.0\.0\.1):\d+", lambda m: "%s:%d" % (m.group(1), site.ports[m.group(2)]), text)
    text = text.replace("log 127.0.0.1 ", "log 127.0.0.1:%d " % syslog.port)
    text = re.sub(r"^\t(user .*|daemon)\n", "", text, flags=re.M)
    # times that a file has in ms by mistake are over before a busy machine answers
    text = re.sub(r"^(\ttimeout (?:connect|server)) (\d{1,2})$", r"\1 \g<2>000", text, flags=re.M)
    return text, next(iter(binds.values()), 0)


def steady(text, chance):
    """Without what clocks, ports and chance put into it."""
    text = re.sub(r"(?im)^date: .*$", "date: D", text)
    text = re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:P", text)
    text = re.sub(r"^<\d+>.*?\]: ", "", text)
    text = re.sub(r"\[\d\d/\w{3}/\d{4}:[\d:.]+\]", "[D]", text)
    text = re.sub(r" -?\d+(/-?\d+)*/\+?-?\d+ (?=\d{3} |\d+ [-\w]{2} )", " T ", text)  # timers
    text = re.sub(r" \d+/\d+/\d+/\d+/(\d+) \d+/\d+", r" C/\1 Q", text)  # connections, places in queues
    text = re.sub(r"(?s)<html><body><h1>.*?</html>\n", "(page)\n", text)
    text = re.sub(r"(?s)\n[0-9A-F]+\n# pxname,.*", "\n(statistics)\n", text)
    if chance:
        text = re.sub(r"(?m)^[ab]: ", "S: ", text)
        text = re.sub(r"/[ab] ", "/S ", text)
        text = re.sub(r"SRV=[ab]", "SRV=S", text)
    return text


def ask(port, data):
    with lib.connect(port) as s:
        s.sendall(data)
        return lib.recv_all(s).decode("latin-1").replace("\r\n", "\n")


def transcript(program, path, chance):
    """{name of a request: what was seen of it}; {"*": what it says} if the file is refused."""
    with open(path) as f:
        text = f.read()
    site, syslog = Site(set(re.findall(r"^\tserver (\w+)", text, re.M)) or {"a"}), lib.Syslog()
    out = {}
    try:
        text, port = moved(text, site, syslog)
        logs = "local0" in text
        with lib.Proxy(program, text, restless="upgraded files have no short timeouts") as proxy:
            for name, data in REQUESTS:
                seen = len(syslog.lines)
                answer = ask(port, data)
                lines = []
                if logs:
                    want = len(re.findall(r"^HTTP/1\.[01] [2-5]", answer, re.M)) if "option tcplog" not in text else 1
                    syslog.wait(lambda l: len([x for x in l[seen:] if " www " in x or " db " in x]) >= want, 5)
                    lines = [x for x in syslog.lines[seen:] if re.search(r" (www|db) ", x)]
                out[name] = steady(answer, chance) + "".join("log: %s\n" % steady(x, chance) for x in lines)
            del proxy
    except RuntimeError:
        out["*"] = "refused\n"
    finally:
        site.close()
        syslog.close()
    return out


def compat(program, path):
    text = subprocess.run([program, "--compat", "3.2", "-c", "-f", path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          stdin=subprocess.DEVNULL, text=True).stdout
    return set(re.findall(r"\[([a-z0-9-]+)\]", text))


def by_chance(text):
    """Whether 3.4 leaves the server to chance where 3.2 takes one after the other; ties of leastconn are broken by clocks."""
    return not re.search(r"balance (?!leastconn)", text) and len(set(re.findall(r"^\tserver (\w+)", text, re.M))) > 1


def write(all_):
    with open(RECORD, "w", encoding="latin-1") as out:
        out.write("# SPDX-License-Identifier: GPL-2.0-or-later\n"
                  "# What HAProxy 3.2 does with the files of tests/upgrade: written by tests/system/upgrade_traffic.py --record.\n")
        for name, seen in sorted(all_.items()):
            out.write("\n[%s]\n" % name)
            alike = {}
            for request, text in seen.items():
                alike.setdefault(text, []).append(request)
            for text, requests in alike.items():
                out.write("> %s\n%s" % ("; ".join(requests), quoted(text)))


def quoted(text):
    return "".join("| %s\n" % escaped(line) for line in text.rstrip("\n").split("\n"))


def escaped(line):
    return line.encode("unicode_escape").decode().rstrip()


def read():
    """{file: {request: transcript}}"""
    out, here = {}, None
    with open(RECORD, encoding="latin-1") as f:
        for line in f:
            if line.startswith("["):
                here = out[line.strip()[1:-1]] = {}
            elif line.startswith("> "):
                last = line[2:].strip().split("; ")
                here.update((name, "") for name in last)
            elif line.startswith("|"):
                here.update((name, here[name] + line) for name in last)
    return out


def test_file(tap, args, name, expected):
    path = os.path.join(TOP, "tests/upgrade", name)
    with open(path) as f:
        chance = by_chance(f.read())
    seen = transcript(args.program, path, chance)
    named = set() if lib.is_reference(args.program) else compat(args.program, path)
    wrong = []
    for request in dict.fromkeys(list(expected) + list(seen)):
        got = quoted(seen[request]) if request in seen else ""
        row = EXPLAINED.get((name, request))
        if lib.is_reference(args.program) and (name, request) in REFERENCE:
            continue
        if "*" in seen and request != "*":
            continue
        if (got != expected.get(request)) != (row is not None) or (row and named and row not in named):
            wrong.append("%s: %s\nnow:\n%swith 3.2:\n%s" % (request, row or "not explained", got, expected.get(request)))
    tap.ok(not wrong, "%s: as with 3.2, but for what --compat foretells" % name, "\n".join(wrong))


def main():
    args = lib.arguments(__doc__, ("record", False, "write the transcripts of --program"))
    files = sorted(glob.glob(os.path.join(TOP, "tests/upgrade/*.cfg")))
    if args.record:
        all_ = {}
        for path in files:
            with open(path) as f:
                seen = transcript(args.program, path, by_chance(f.read()))
            if "*" not in seen:
                all_[os.path.basename(path)] = seen
        write(all_)
        return
    tap = lib.Tap()
    expected = read()
    tap.ok(len(expected) >= 15, "transcripts of at least 15 files", sorted(expected))
    lock, work = threading.Lock(), sorted(expected.items())

    def worker():
        while True:
            with lock:
                if not work:
                    return
                name, seen = work.pop()
            test_file(tap, args, name, seen)
    threads = [threading.Thread(target=worker) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    tap.done()


lib.guarded(main)
