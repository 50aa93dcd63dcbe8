#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""TLS as clients see it: versions, names and resumption; bad bytes in every stage of a handshake;
certificates replaced again and again under load; many idle connections.
"""
import base64
import os
import shutil
import socket
import ssl
import subprocess
import tempfile
import threading
import time

import lib

CERTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../reg-tests/tls/certs")
CONF = """	nbthread 2
	tune.ssl.lifetime 60
	tune.ssl.certificate-compression off
defaults
	mode http
	timeout connect 1s
	timeout client 3s
	timeout client-hs 1s
	timeout server 5s
frontend fe
	bind 127.0.0.1:{tls} ssl crt {certs}/a.pem crt {certs}/b.pem alpn http/1.1 ssl-min-ver TLSv1.2
	bind 127.0.0.1:{cache} ssl crt {certs}/a.pem no-tls-tickets alpn http/1.1
	bind 127.0.0.1:{must} ssl crt {certs}/a.pem ca-file {certs}/ca.crt verify required alpn http/1.1
	http-request return status 200 content-type text/plain lf-string "%[ssl_f_s_dn]" if {{ path /cert }}
	http-request return status 200 content-type text/plain lf-string "%[ssl_fc_is_resumed]"
"""
# a sanitized program takes its time for a hello in five hundred pieces
CONF = CONF.replace("client-hs 1s", "client-hs %ds" % (lib.PATIENCE / 10))
VERSIONS = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}


def context(version=None, cert=None):
    c = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    c.check_hostname = False
    c.verify_mode = ssl.CERT_NONE
    if version:
        c.minimum_version = c.maximum_version = VERSIONS[version]
    if cert:
        c.load_cert_chain(os.path.join(CERTS, cert))
    return c


def get(port, c, path="/", name="a.example.com", session=None):
    """One request on a connection of its own. Returns (body, session)."""
    with c.wrap_socket(lib.connect(port), server_hostname=name, session=session) as s:
        s.sendall(b"GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n" % path.encode())
        data = b""
        while True:
            part = s.recv(65536)
            if not part:
                break
            data += part
        return data.split(b"\r\n\r\n", 1)[1].decode(), s.session


def resumption(tap, ports):
    for port, how in (("tls", "tickets"), ("cache", "the cache")):
        for version in VERSIONS:
            c = context(version)
            first, session = get(ports[port], c)
            again, _ = get(ports[port], c, session=session)
            tap.eq((first, again), ("0", "1"), "%s: resumed by %s" % (version, how))
    c = context("TLSv1.2")
    _, session = get(ports["tls"], c)
    body, _ = get(ports["must"], context("TLSv1.2", "client.pem"))
    tap.eq(body, "0", "a client certificate opens the listener that wants one")
    c.load_cert_chain(os.path.join(CERTS, "stranger.pem"))
    refused = False
    try:
        get(ports["must"], c, session=session)
    except (ssl.SSLError, OSError):
        refused = True
    tap.ok(refused, "a session of another listener does not replace the certificate")


def hello():
    """The bytes of a ClientHello."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    s = context().wrap_bio(incoming, outgoing, server_hostname="a.example.com")
    try:
        s.do_handshake()
    except ssl.SSLWantReadError:
        pass
    return outgoing.read()


def send(port, pieces, pause=0.0):
    """Sends pieces; returns whatever comes until the end, or None if it does not end."""
    s = lib.connect(port)
    try:
        for p in pieces:
            s.sendall(p)
            if pause:
                time.sleep(pause)
        return lib.recv_all(s)
    except ConnectionError:
        return b""
    except socket.timeout:
        return None
    finally:
        s.close()


def bad_bytes(tap, proxy, ports):
    good = hello()
    port = ports["tls"]
    alert = lambda got: got is not None and (not got or got[0] == 21)
    tap.ok(alert(send(port, [b"GET / HTTP/1.1\r\n\r\n"])), "a request without TLS is refused")
    tap.ok(alert(send(port, [b"\x16\x03\x01\xff\xff" + bytes(70000)])), "an oversized record")
    tap.ok(alert(send(port, [os.urandom(3000)])), "random bytes")
    tap.ok(alert(send(port, [b"\x17\x03\x03\x00\x10" + bytes(16)])), "data before the handshake")
    tap.ok(alert(send(port, [good[:200]])), "half a hello, then nothing: closed in time")
    wrong = [good[:i] + bytes([good[i] ^ 0x55]) + good[i + 1:] for i in range(5, len(good), 3)]
    tap.ok(all(send_and_close(port, w) for w in wrong), "%d hellos with one byte changed" % len(wrong))
    tap.ok(all(send_and_close(port, good[:i]) for i in range(1, len(good), 7)), "truncated hellos")
    got = send_until_answer(port, [good[i:i + 1] for i in range(len(good))])
    tap.ok(got[:1] == b"\x16", "a hello in pieces of one byte is answered", got[:20])
    got = send_until_answer(port, [b"\x16\x03\x01\x00\x01" + good[i:i + 1]
                                   for i in range(5, len(good))])
    tap.ok(got[:1] == b"\x16", "and one in records of one byte", got[:20])
    tap.eq(get(port, context())[0], "0", "others are served all the while")
    tap.ok(proxy.process.poll() is None, "the process lives")
    lib.until(lambda: proxy.info()["CurrSslConns"] == "0")
    tap.eq(proxy.info()["CurrSslConns"], "0", "no connection is left")


def restless(tap, proxy, port):
    """Clients that want to negotiate again and again, or new keys all the time."""
    for version, letter, what in (("-tls1_2", b"R\n", "renegotiations"), ("-tls1_3", b"K\n", "updates of keys")):
        handshakes = int(proxy.info()["CumSslConns"])
        client = subprocess.Popen(["openssl", "s_client", version, "-connect", "127.0.0.1:%d" % port],
                                  stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(60):
            try:
                client.stdin.write(letter)
                client.stdin.flush()
            except OSError:
                break
            time.sleep(0.01)
        tap.eq(get(port, context())[0], "0", "others are served amid %s" % what)
        tap.ok(int(proxy.info()["CumSslConns"]) <= handshakes + 2, "%s are no handshakes" % what)
        client.kill()
        client.communicate()
    tap.ok(proxy.process.poll() is None, "the process lives")


def bad_files(tap, program):
    """Files that are no certificate with its key: refused in words, with nothing done."""
    with tempfile.TemporaryDirectory(prefix="hapt.") as folder:
        def run(*args):
            subprocess.run(["openssl"] + list(args), check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

        def write(name, text):
            with open("%s/%s" % (folder, name), "wb") as f:
                f.write(text)

        good = open(CERTS + "/a.pem", "rb").read()
        key = good[good.index(b"-----BEGIN PRIVATE") if b"-----BEGIN PRIVATE" in good else good.index(b"-----BEGIN RSA"):]
        cert = good[good.index(b"-----BEGIN CERTIFICATE"):good.index(b"-----END CERTIFICATE-----")] + b"-----END CERTIFICATE-----\n"
        write("key.pem", key)
        run("pkey", "-in", folder + "/key.pem", "-aes256", "-passout", "pass:x", "-out", folder + "/locked.key")
        write("encrypted.pem", cert + open(folder + "/locked.key", "rb").read())
        write("empty.pem", b"")
        write("no-key.pem", cert)
        write("no-cert.pem", key)
        write("garbage.pem", os.urandom(5000))
        write("torn.pem", good[:len(good) // 3])
        write("nul.pem", good.replace(b"M", b"\0"))
        write("mismatched.pem", open(CERTS + "/mismatched.pem", "rb").read())
        write("keys", b"".join(base64.b64encode(os.urandom(n)) + b"\n" for n in (48, 80, 48)))
        write("few", b"".join(base64.b64encode(os.urandom(48)) + b"\n" for n in range(2)))
        lines = {name: "crt %s/%s.pem" % (folder, name) for name in (
            "encrypted", "empty", "no-key", "no-cert", "garbage", "torn", "nul", "mismatched", "missing")}
        lines["folder of nothing good"] = "crt-list %s/garbage.pem" % folder
        lines["ticket keys of two sizes"] = "crt %s/a.pem tls-ticket-keys %s/keys" % (CERTS, folder)
        lines["kernel TLS"] = "crt %s/a.pem ktls on" % CERTS
        lines["too few ticket keys"] = "crt %s/a.pem tls-ticket-keys %s/few" % (CERTS, folder)
        lines["authorities that are none"] = "crt %s/a.pem verify required ca-file %s/garbage.pem" % (CERTS, folder)
        lines["revocations that are none"] = "crt %s/a.pem verify required ca-file %s/ca.crt crl-file %s/empty.pem" % (
            CERTS, CERTS, folder)
        for name, line in lines.items():
            write("cfg", ("defaults\n\tmode http\n\ttimeout connect 1s\n\ttimeout client 1s\n\ttimeout server 1s\n"
                          "frontend fe\n\tbind 127.0.0.1:1 ssl %s\n" % line).encode())
            p = subprocess.run([program, "-c", "-f", folder + "/cfg"], stdout=subprocess.PIPE, timeout=60,
                               stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
            tap.ok(p.returncode == 1 and b"ALERT" in p.stdout and b"/cfg:7" in p.stdout, "refused: %s" % name,
                   p.stdout.decode(errors="replace"))


def send_and_close(port, data):
    try:
        s = lib.connect(port)
        s.sendall(data)
        s.close()
    except ConnectionError:
        pass
    return True


def send_until_answer(port, pieces):
    with lib.connect(port) as s:
        for p in pieces:
            s.sendall(p)
        return s.recv(5)


def payload(name):
    with open(os.path.join(CERTS, name)) as f:
        return "\n".join(line for line in f.read().split("\n") if line.strip())


def rss(proxy):
    with open("/proc/%d/status" % proxy.process.pid) as f:
        return int(next(l for l in f if l.startswith("VmRSS")).split()[1])


def replaced(tap, proxy, ports, rounds, sanitized):
    path = CERTS + "/a.pem"
    texts = [payload("a2.pem"), payload("a.pem")]
    stop, errors, served = threading.Event(), [], []

    def load():
        c = context()
        while not stop.is_set():
            try:
                served.append(get(ports["tls"], c, "/cert")[0])
            except Exception as e:
                errors.append(repr(e))

    threads = [threading.Thread(target=load) for _ in range(2)]
    for t in threads:
        t.start()
    good = start = 0
    for i in range(rounds):
        out = proxy.ctl("set ssl cert %s <<\n%s\n" % (path, texts[i % 2]))
        out += proxy.ctl("commit ssl cert %s" % path)
        good += "Success!" in out
        if i == rounds // 5:
            start = rss(proxy)
    grown = rss(proxy) - start
    stop.set()
    for t in threads:
        t.join()
    tap.eq(good, rounds, "a certificate is replaced %d times" % rounds)
    tap.ok(not errors and len(served) > 5, "no request failed of %d" % len(served), errors[:5])
    names = {"/CN=a.example.com", "/CN=a.example.com/O=Second"}
    tap.ok(set(served) <= names, "each had one or the other", set(served) - names)
    tap.ok(grown < 3000 or sanitized, "memory does not grow: %d kB" % grown)
    out = proxy.ctl("set ssl cert %s <<\n%s\n" % (path, payload("mismatched.pem")))
    out += proxy.ctl("commit ssl cert %s" % path)
    tap.ok("Success" not in out and "inconsistencies" in out, "a wrong key is refused", out)
    proxy.ctl("abort ssl cert %s" % path)
    tap.eq(get(ports["tls"], context(), "/cert")[0] in names, True, "and changes nothing")


def idle(tap, proxy, ports, count, sanitized):
    c = context()
    before = rss(proxy)
    conns = [c.wrap_socket(lib.connect(ports["tls"]), server_hostname="a.example.com")
             for _ in range(count)]
    for s in conns:
        s.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        s.recv(4096)
    each = (rss(proxy) - before) * 1024 // count
    tap.ok(each < 30000 or sanitized, "an idle connection costs %d bytes" % each)
    for s in conns:
        s.close()


def many(tap, program, count):
    """More certificates than are decoded when they are read: each is shown when it is asked for."""
    with tempfile.TemporaryDirectory(prefix="hapt.") as folder:
        names = ("a", "b", "below")
        for i in range(count):
            shutil.copy("%s/%s.pem" % (CERTS, names[i % 3]), "%s/%05d.pem" % (folder, i))
        port = lib.ports(1)[0]
        conf = CONF.split("frontend")[0] + "frontend fe\n\tbind 127.0.0.1:%d ssl crt %s\n" % (
            port, folder) + ('\thttp-request return status 200 content-type text/plain '
                             'lf-string "%[ssl_f_s_dn]"\n')
        with lib.Proxy(program, conf) as proxy:
            for name in names:
                host = name + ".example.com"
                tap.eq(get(port, context(), "/", host)[0], "/CN=" + host, "one of many: " + host)
            last = "%s/%05d.pem" % (folder, count - 1)
            out = proxy.ctl("show ssl cert " + last)
            tap.ok("Subject: /CN=" in out and "Status: Used" in out, "the last one is shown", out)
        shutil.copy(CERTS + "/mismatched.pem", last)
        with open(last + ".cfg", "w") as f:
            f.write(conf)
        p = subprocess.run([program, "-c", "-f", last + ".cfg"], stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        tap.ok(p.returncode and b"inconsistencies" in p.stdout, "the last one has a wrong key",
               p.stdout.decode())


def limits(tap, program):
    """maxsslconn: the third client waits in the kernel's queue until one leaves."""
    port = lib.ports(1)[0]
    conf = "\tmaxsslconn 2\n" + CONF.split("frontend")[0] + (
        "frontend fe\n\tbind 127.0.0.1:%d ssl crt %s/a.pem\n\thttp-request return status 200\n" % (
            port, CERTS))
    with lib.Proxy(program, conf) as proxy:
        c = context()
        conns = [c.wrap_socket(lib.connect(port), server_hostname="a.example.com")
                 for _ in range(2)]
        waiting = lib.connect(port)
        waiting.sendall(hello())
        waiting.settimeout(0.3)
        try:
            early = waiting.recv(1)
        except socket.timeout:
            early = None
        tap.eq(early, None, "a third connection waits for maxsslconn 2")
        conns[0].close()
        waiting.settimeout(lib.PATIENCE)
        if lib.is_reference(program):
            tap.skip("and is served when one has left", "there it waits longer")
        else:
            tap.eq(waiting.recv(1), b"\x16", "and is served when one has left")
        tap.eq(proxy.info()["MaxSslConns"], "2", "show info tells the limit")
        waiting.close()


def lists(tap, program):
    """A line of a crt-list that is refused at run time leaves nothing behind."""
    port = lib.ports(1)[0]
    cert = CERTS + "/a.pem"
    with tempfile.TemporaryDirectory(prefix="hapt.") as folder:
        path = folder + "/list"
        with open(path, "w") as f:
            f.write(cert + "\n")
        conf = CONF.split("frontend")[0] + (
            "frontend fe\n\tbind 127.0.0.1:%d ssl crt-list %s\n\thttp-request return status 200 "
            'content-type text/plain lf-string "%%[ssl_f_s_dn]"\n' % (port, path))
        with lib.Proxy(program, conf) as proxy:
            add = "add ssl crt-list %s <<\n%s [ciphers NONESUCH] b.example.com\n"
            out = proxy.ctl(add % (path, cert))
            tap.ok("Success" not in out, "a crt-list line with wrong ciphers is refused", out)
            out = proxy.ctl("show ssl crt-list " + path)
            tap.ok("b.example.com" not in out, "it is not listed", out)
            proxy.ctl("set ssl cert %s <<\n%s\n" % (cert, payload("a2.pem")))
            out = proxy.ctl("commit ssl cert " + cert)
            tap.ok("Success!" in out, "its certificate is replaced", out)
            for host in ("a.example.com", "b.example.com"):
                tap.eq(get(port, context(), "/", host)[0], "/CN=a.example.com/O=Second",
                       "%s is served" % host)


def tickets(tap, program):
    """Ticket keys of a file: those added by command outlive a reload, unless the file says something else then."""
    port = lib.ports(1)[0]
    with tempfile.TemporaryDirectory(prefix="hapt.") as folder:
        path = folder + "/keys"

        def keys():
            return [base64.b64encode(os.urandom(48)).decode() for _ in range(3)]

        def write(some):
            with open(path, "w") as f:
                f.write("".join(k + "\n" for k in some))

        def shown(proxy):
            return [line.split()[1] for line in proxy.ctl("show tls-keys *").splitlines() if line.startswith("0.")]

        first, second, added = keys(), keys(), keys()[0]
        write(first)
        conf = CONF.split("frontend")[0] + (
            "frontend fe\n\tbind 127.0.0.1:%d ssl crt %s/a.pem tls-ticket-keys %s\n\thttp-request return status 200 "
            'content-type text/plain lf-string "%%[ssl_fc_is_resumed]"\n' % (port, CERTS, path))
        with lib.Proxy(program, conf) as proxy:
            tap.eq(sorted(shown(proxy)), sorted(first), "the keys of the file are used")
            proxy.ctl("set ssl tls-key %s %s" % (path, added))
            now = shown(proxy)
            tap.ok(added in now, "a key is added by command", now)
            c = context()
            body, session = get(port, c)[:2]
            tap.eq(get(port, c, session=session)[0], "1", "a session is resumed")
            if lib.is_reference(program):
                tap.skip("reloads in the process", "it has none")
                return
            tap.ok("Success=1" in proxy.ctl("reload"), "a reload")
            tap.eq(shown(proxy), now, "a reload keeps the keys")
            tap.eq(get(port, c, session=session)[0], "1", "and resumes that session")
            write(second)
            tap.ok("Success=1" in proxy.ctl("reload"), "a reload")
            tap.ok(lib.until(lambda: sorted(shown(proxy)) == sorted(second)), "another reload takes those that the file has now")
            tap.eq(get(port, c, session=session)[0], "0", "whose sessions are others")


def authorities(tap, program):
    """Those of the system are there for a server that is added at run time, whether a line names them or not. What is
    not read, or is empty, is no file of authorities. The list has them once they were named: differs: tls-system-ca"""
    front, peer = lib.ports(2)
    with tempfile.TemporaryDirectory(prefix="hapt.") as folder:
        shutil.copy(CERTS + "/ca.crt", folder)
        os.environ["SSL_CERT_DIR"] = folder
        conf = CONF.split("frontend")[0] + (
            "frontend peer\n\tbind 127.0.0.1:%d ssl crt %s/a.pem\n\thttp-request return status 200\n"
            "listen px\n\tbind 127.0.0.1:%d\n\tbalance roundrobin\n" % (peer, CERTS, front))
        try:
            proxy = lib.Proxy(program, conf)
        finally:
            del os.environ["SSL_CERT_DIR"]
        with proxy:
            if not lib.is_reference(program):
                tap.ok("@system-ca" not in proxy.ctl("show ssl ca-file"), "no line names the system's authorities")
            add = "add server px/%s 127.0.0.1:" + str(peer) + " ssl verify required sni str(a.example.com) ca-file %s"
            proxy.ctl("new ssl ca-file empty")
            for name in ("empty", folder + "/ca.crt"):
                out = proxy.ctl(add % ("s", name))
                tap.ok("unable to load" in out, "no authorities: " + os.path.basename(name), out)
            out = proxy.ctl(add % ("s", "@system-ca"))
            tap.ok("New server registered" in out, "a server is added with those of the system", out)
            proxy.ctl("enable server px/s")
            with lib.connect(front) as s:
                s.sendall(b"GET / HTTP/1.1\r\nHost: a.example.com\r\nConnection: close\r\n\r\n")
                tap.eq(lib.recv_all(s)[9:12], b"200", "they are what it is verified by")
            out = proxy.ctl("show ssl ca-file")
            tap.ok("@system-ca - 1 certificate(s)" in out, "they are listed", out)
            tap.ok("CN=Test CA" in proxy.ctl("show ssl ca-file @system-ca:1"), "and shown")


def main():
    args = lib.arguments(__doc__, ("rounds", 100, "how often a certificate is replaced"))
    tap = lib.Tap()
    names = ("tls", "cache", "must")
    ports = dict(zip(names, lib.ports(3)))
    with lib.Proxy(args.program, CONF.format(certs=CERTS, **ports)) as proxy:
        resumption(tap, ports)
        bad_bytes(tap, proxy, ports)
        restless(tap, proxy, ports["tls"])
        sanitized = lib.is_sanitized(args.program)
        replaced(tap, proxy, ports, args.rounds, sanitized)
        idle(tap, proxy, ports, 200, sanitized)
    many(tap, args.program, 150)
    bad_files(tap, args.program)
    limits(tap, args.program)
    lists(tap, args.program)
    tickets(tap, args.program)
    authorities(tap, args.program)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
