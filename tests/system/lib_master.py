# SPDX-License-Identifier: GPL-2.0-or-later
"""Master     a master on a configuration, its output, its socket
"""
import os
import re
import shutil
import socket
import subprocess
import tempfile

import lib

CONF = """global
	stats socket {dir}/ctl.sock level admin expose-fd listeners
{glob}defaults
	mode http
	timeout connect 5s
	timeout client {client}
	timeout server 5s
frontend fe
	bind 127.0.0.1:{port}
{reply}{more}
"""

REPLY = """	http-request return status 200 content-type text/plain string "{version}"
"""


class Master:
    def __init__(self, args, options=("-W",), glob="", sock=True, env=None, wait=True, preexec=None,
                 cwd=None, more="", reply=True, client="5s"):
        """<more>: what follows the frontend; without <reply> that has no answer of its own. <client>: its clients' timeout."""
        self.program = args.program
        self.dir = tempfile.mkdtemp(prefix="hapm.")
        self.conf_path = self.dir + "/test.cfg"
        self.path = self.dir + "/master.sock"
        self.port = lib.ports(1)[0]
        self.glob, self.reply, self.client = glob, reply, client
        self.write("v1", more)
        self.log_path = self.dir + "/output"
        command = [args.program] + list(options) + ["-f", self.conf_path]
        if sock:
            command += ["-S", self.path]
        self.out = open(self.log_path, "wb")
        self.process = subprocess.Popen(command, stdout=self.out, stderr=subprocess.STDOUT,
                                        stdin=subprocess.DEVNULL, env=env, preexec_fn=preexec, cwd=cwd)
        if wait:
            lib.until(lambda: self.process.poll() is not None or "Loading success" in self.output())

    def write(self, version, more=""):
        with open(self.conf_path + ".new", "w") as f:
            f.write(CONF.format(dir=self.dir, port=self.port, more=more, glob=self.glob, client=self.client,
                                reply=REPLY.format(version=version) if self.reply else ""))
        os.rename(self.conf_path + ".new", self.conf_path)

    def output(self):
        with open(self.log_path, errors="replace") as f:
            return f.read()

    def cli(self, text, path=None):
        """Sends lines and reads until the end."""
        s = socket.socket(socket.AF_UNIX)
        try:
            s.connect(path or self.path)  # without a timeout it waits for room in a short queue
            s.settimeout(lib.PATIENCE)
            s.sendall(text.encode() + b"\n")
            s.shutdown(socket.SHUT_WR)
            return lib.recv_all(s).decode("latin-1")
        finally:
            s.close()

    def reload(self):
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(self.path)
            s.settimeout(lib.PATIENCE)
            s.sendall(b"reload\n")
            return lib.recv_all(s).decode("latin-1")

    def get(self):
        s = lib.connect(self.port)
        with s:
            s.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            got = lib.Reader(s).response()
            return got and got[2].decode()

    def procs(self):
        """{"master": [(pid, reloads, failed)], "workers": [...], "old": [...]}"""
        out = {"master": [], "workers": [], "old": []}
        into = None
        for line in self.cli("show proc").split("\n"):
            if line.startswith("# workers"):
                into = "workers"
            elif line.startswith("# old"):
                into = "old"
            m = re.match(r"(\d+) +(\w+) +(\d+)(?: \[failed: (\d+)\])?", line)
            if m:
                key = "master" if m.group(2) == "master" else into
                out[key].append((int(m.group(1)), int(m.group(3)), int(m.group(4) or 0)))
        return out

    def wait(self):
        try:
            return self.process.wait(lib.PATIENCE)
        except subprocess.TimeoutExpired:
            return None

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        if self.process.poll() is None:
            self.process.terminate()
            if self.wait() is None:
                self.process.kill()
                self.process.wait()
        self.out.close()
        shutil.rmtree(self.dir, ignore_errors=True)
