# SPDX-License-Identifier: GPL-2.0-or-later
"""What a process must have let go of when all clients of a test have left: connections, streams, descriptors; and how it
may not end. lib.Proxy asks it at its exit; Proxy(..., restless="why") is for tests that leave something behind on purpose.

Quiet(pid)   remembers the descriptors of a process that has just started
wrong()      what is left of connections and streams after a while: "" or a text
ended()      what its exit status and its output tell of an end that nobody asked for: "" or a text
"""
import os
import re
import signal

DEADLY = (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGILL, signal.SIGFPE)
SPARE = 12      # sockets of logs, of resolvers, of a reload: a few, opened when they are needed first
ESTABLISHED, CLOSE_WAIT = "01", "08"


def descriptors(pid):
    """{number: what it is}"""
    out = {}
    try:
        for fd in os.listdir("/proc/%d/fd" % pid):
            try:
                out[int(fd)] = os.readlink("/proc/%d/fd/%s" % (pid, fd))
            except OSError:
                pass
    except OSError:
        pass
    return out


def tcp(pid):
    """{inode: (state, local port, remote port)} of the process's name space."""
    out = {}
    for name in ("tcp", "tcp6"):
        try:
            with open("/proc/%d/net/%s" % (pid, name)) as f:
                rows = f.read().split("\n")[1:]
        except OSError:
            continue
        for row in rows:
            f = row.split()
            if len(f) > 9:
                out[f[9]] = (f[3],) + tuple(int(f[i].rsplit(":", 1)[1], 16) for i in (1, 2))
    return out


class Quiet:
    def __init__(self, pid):
        self.pid = pid
        self.first = len(descriptors(pid))

    def connections(self):
        """How many connections the process holds of clients and to others, how many descriptors that are none, and how many
        of the clients it is itself: a proxy that is its own server keeps these idle for a while, as it would any server's.
        """
        held, known = descriptors(self.pid), tcp(self.pid)
        inodes = [m.group(1) for m in (re.match(r"socket:\[(\d+)\]", t) for t in held.values()) if m]
        sockets = [known[i] for i in inodes if i in known]
        listening = set(local for state, local, _ in sockets if state == "0A")
        open_ones = [(local, remote) for state, local, remote in sockets if state in (ESTABLISHED, CLOSE_WAIT)]
        others = set(pair for pair in open_ones if pair[0] not in listening)
        clients = [pair for pair in open_ones if pair[0] in listening]
        own = sum(1 for local, remote in clients if (remote, local) in others)
        return len(clients) - own, len(others), len(held) - len(open_ones), own

    def wrong(self, ask):
        """ask(command) is the Runtime API. What is still there, or ""."""
        info = dict(l.split(": ", 1) for l in ask("show info").split("\n") if ": " in l)
        if "CurrConns" not in info or info.get("Stopping", "0") != "0":
            return ""
        out = []
        clients, _, rest, own = self.connections()
        if int(info["CurrConns"]) > own:
            out.append("CurrConns is %s, %d of them its own" % (info["CurrConns"], own))
        # those of the Runtime API, and those that the program has begun (links to agents), are nobody's
        streams = [l for l in ask("show sess").split("\n")
                   if l.startswith("0x") and "fe=GLOBAL" not in l and " src=unix:0 " not in l]
        if streams:
            out.append("show sess: " + "; ".join(l[:160] for l in streams[:3]))
        if clients:
            out.append("%d connections of clients" % clients)
        if rest > self.first + SPARE:
            out.append("%d descriptors beside connections, %d at start" % (rest, self.first))
        return ", ".join(out)


def ended(status, output):
    """A process that was not killed by the test."""
    if status is not None and status < 0 and -status in DEADLY:
        return "it ended by signal %d:\n%s" % (-status, output[-3000:])
    m = re.search(r"^PANIC: .*(?:\n.*){0,40}", output, re.M)
    return m.group(0) if m else ""
