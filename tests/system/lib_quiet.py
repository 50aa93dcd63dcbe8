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
import socket
import struct

DEADLY = (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGILL, signal.SIGFPE)
SPARE = 12      # sockets of logs, of resolvers, of a reload: a few, opened when they are needed first
STATES = ESTABLISHED, CLOSE_WAIT, LISTENING = "01", "08", "0A"
TCP_ROW = re.compile(r"^ *\d+: \w+:(\w+) \w+:(\w+) (%s)(?: +\S+){5} +(\d+)" % "|".join(STATES), re.M)
SOCK_DIAG, BY_FAMILY, DUMP, SHOW_PEER, PEER = 4, 20, 0x301, 4, 2    # of linux/sock_diag.h and linux/unix_diag.h


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


def sockets(family, protocol, states, show=0):
    """The messages of the kernel, sock_diag(7), about sockets of a family in some states, in the name space of the test."""
    where = struct.pack("=BBBBI48x", family, protocol, 0, 0, states)
    asked = struct.pack("=BBHIIIII", family, 0, 0, states, 0, show, 0, 0) if family == socket.AF_UNIX else where
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, SOCK_DIAG) as s:
        s.sendall(struct.pack("=IHHII", 16 + len(asked), BY_FAMILY, DUMP, 1, 0) + asked)
        while data := s.recv(1 << 16):
            while data:
                size, kind = struct.unpack_from("=IH", data)
                if kind != BY_FAMILY:  # the end, or an error
                    return
                yield data[16:size]
                data = data[(size + 3) & ~3:]


def tcp(pid):
    """{inode: (state, local port, remote port)} of the process's name space: those that listen or may still be written to. Those that
    only wait for their time to end are thousands here, and cost most of the time of many a test where they are read too."""
    try:
        if os.readlink("/proc/%d/ns/net" % pid) == os.readlink("/proc/self/ns/net"):
            return {str(struct.unpack_from("=I", row, 68)[0]): ("%02X" % row[1],) + struct.unpack_from(">HH", row, 4)
                    for family in (socket.AF_INET, socket.AF_INET6)
                    for row in sockets(family, socket.IPPROTO_TCP, sum(1 << int(s, 16) for s in STATES))}
    except OSError:
        pass
    return tcp_rows(pid)


def tcp_rows(pid):
    """The same, as text: of a process in another name space."""
    out = {}
    for name in ("tcp", "tcp6"):
        try:
            with open("/proc/%d/net/%s" % (pid, name)) as f:
                rows = TCP_ROW.findall(f.read())
        except OSError:
            continue
        out.update((inode, (state, int(local, 16), int(remote, 16))) for local, remote, state, inode in rows)
    return out


def unix_peers():
    """{inode: inode of the other end} of connected UNIX sockets."""
    out = {}
    for row in sockets(socket.AF_UNIX, 0, 1 << int(ESTABLISHED, 16), SHOW_PEER):
        at = 16
        while at < len(row):
            length, name = struct.unpack_from("=HH", row, at)
            if name == PEER:
                out[struct.unpack_from("=I", row, 4)[0]] = struct.unpack_from("=I", row, at + 4)[0]
            at += (length + 3) & ~3
    return out


def unix_clients(pid, inodes):
    """How many of the UNIX sockets of a process were accepted from itself: these have the name of the listening one."""
    try:
        with open("/proc/%d/net/unix" % pid) as f:
            named = [row.split()[6] for row in f if len(row.split()) > 7]
        peers = unix_peers() if any(i in inodes for i in named) else {}
    except OSError:
        return 0
    return sum(1 for i in named if i in inodes and str(peers.get(int(i))) in inodes)


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
        mine = [known[i] for i in inodes if i in known]
        listening = set(local for state, local, _ in mine if state == LISTENING)
        open_ones = [(local, remote) for state, local, remote in mine if state in (ESTABLISHED, CLOSE_WAIT)]
        others = set(pair for pair in open_ones if pair[0] not in listening)
        clients = [pair for pair in open_ones if pair[0] in listening]
        own = sum(1 for local, remote in clients if (remote, local) in others)
        return len(clients) - own, len(others), len(held) - len(open_ones), own + unix_clients(self.pid, inodes)

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
