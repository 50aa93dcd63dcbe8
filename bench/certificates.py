#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""CPU time that programs take to load many certificates, in turns: linear in their number?

  certificates.py --proxy ours=./haproxy [--proxy other=/usr/sbin/haproxy] [--counts 10000,20000] [--rounds 3]

The certificates share a key and are alike but for the name; nobody looks at their signatures here. A name
is asked for at the end: the last certificate must be shown for it."""
import argparse
import base64
import os
import re
import socket
import ssl
import subprocess
import sys
import tempfile
import time

NAME = b"n000000.example.com"
CONF = """global
	maxconn 100
defaults
	mode http
	timeout connect 5s
	timeout client 5s
	timeout server 5s
frontend fe
	bind 127.0.0.1:%d ssl crt %s
	http-request return status 200
"""


def model(folder):
    """The DER of a certificate for NAME, and its key as PEM."""
    key, cert = folder + "/key", folder + "/cert"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-keyout", key, "-out", cert, "-days", "300", "-subj", "/CN=" + NAME.decode(),
                    "-addext", "subjectAltName=DNS:" + NAME.decode()], check=True, stderr=subprocess.DEVNULL)
    with open(cert) as f:
        der = base64.b64decode(re.sub(r"-----.*?-----|\s", "", f.read()))
    with open(key) as f:
        return der, f.read()


def make(folder, count, der, key):
    os.mkdir(folder)
    for i in range(count):
        text = base64.encodebytes(der.replace(NAME, b"n%06d.example.com" % i)).decode()
        with open("%s/%06d.pem" % (folder, i), "w") as f:
            f.write("-----BEGIN CERTIFICATE-----\n%s-----END CERTIFICATE-----\n%s" % (text, key))


def cpu_of(program, conf):
    """Seconds of CPU that `-c` takes."""
    pid = os.posix_spawn(program, [program, "-c", "-f", conf], os.environ,
                         file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
                                       (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0)])
    _, status, usage = os.wait4(pid, 0)
    if status:
        sys.exit("certificates: %s -c failed" % program)
    return usage.ru_utime + usage.ru_stime


def shown(program, conf, port, count):
    """Is the last certificate shown for its name? And the memory of the process, MB."""
    proxy = subprocess.Popen([program, "-db", "-f", conf], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    name = b"n%06d.example.com" % (count - 1)
    try:
        for _ in range(600):
            try:
                with context.wrap_socket(socket.create_connection(("127.0.0.1", port)),
                                         server_hostname=name.decode()) as s:
                    der = s.getpeercert(True)
                break
            except ConnectionRefusedError:
                time.sleep(0.1)
        else:
            sys.exit("certificates: %s does not listen" % program)
        with open("/proc/%d/status" % proxy.pid) as f:
            return name in der, int(re.search(r"VmRSS:\s*(\d+)", f.read()).group(1)) // 1024
    finally:
        proxy.terminate()
        proxy.wait()


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--proxy", action="append", default=[], help="NAME=PATH; the first is compared with the others")
    p.add_argument("--counts", default="10000,20000")
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--port", type=int, default=21900)
    args = p.parse_args()
    proxies = [x.split("=", 1) for x in args.proxy or ["ours=./haproxy"]]
    counts = [int(x) for x in args.counts.split(",")]
    with tempfile.TemporaryDirectory(prefix="certificates.") as top:
        der, key = model(top)
        best = {}
        for count in counts:
            folder = "%s/%d" % (top, count)
            make(folder, count, der, key)
            with open(folder + ".cfg", "w") as f:
                f.write(CONF % (args.port, folder))
            for _ in range(args.rounds):
                for name, path in proxies:
                    took = cpu_of(path, folder + ".cfg")
                    best[name, count] = min(took, best.get((name, count), took))
            for name, path in proxies:
                right, memory = shown(path, folder + ".cfg", args.port, count)
                print("%-8s %6d certificates: %6.2f s, %5d MB%s" % (name, count, best[name, count], memory,
                                                                  "" if right else ", WRONG CERTIFICATE"))
        for name, _ in proxies:
            print("%-8s %d against %d: %.2f times the time" % (name, counts[-1], counts[0],
                                                               best[name, counts[-1]] / best[name, counts[0]]))
        for name, _ in proxies[1:]:
            print("%s takes %.3f of the time of %s" % (proxies[0][0], best[proxies[0][0], counts[-1]] /
                                                       best[name, counts[-1]], name))


if __name__ == "__main__":
    main()
