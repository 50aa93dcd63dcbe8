#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# differs: spoe-hello
# differs: spoe-parent
# differs: spoe-sessions
"""Agents of SPOE: what they get at each event, what their answers set, and what becomes of a stream when an agent is slow,
wrong, gone or never there; many streams at once, and clients that leave. --count N streams at once (200)."""
import os
import shutil
import tempfile
import threading
import time

import lib
import lib_spop as spop

CONF = """
	nbthread 2
defaults
	mode http
	timeout connect 2s
	timeout client 20s
	timeout server 20s
frontend fe
	bind 127.0.0.1:{fe}
	{before}
	filter spoe engine e config {dir}/agent.conf
	http-request send-spoe-group e g if {{ path /group }}
	http-request set-var(txn.path) path
	http-request return status 200 content-type text/plain lf-string "{shown}" if {{ path_beg /early }}
	default_backend be
backend be
	http-response set-header x-shown "{shown}"
	server s 127.0.0.1:{server} maxconn 64
backend agents
	mode spop
	timeout server 30s
	{backend}
	server a 127.0.0.1:{agent}
"""
SHOWN = "%[var(txn.p.got)] %[var(sess.p.mine)] %[var(txn.p.err)]"
AGENT = """[e]
spoe-agent ag
	messages session request response
	groups g
	option var-prefix p
	option set-on-error err
	register-var-names extra
	timeout processing {timeout}
	use-backend agents
	{more}
spoe-message session
	args ip=src yes=bool(true) number=int(-7) none=var(sess.nothing) text=str(x) bytes=bin(00ff) six=ipv6(::1)
	event on-client-session
spoe-message request
	args path=path method=method host=req.hdr(host) absent=req.hdr(absent) long=req.hdr(long)
	acl skipped path -m end skip
	event on-frontend-http-request if !skipped
spoe-message response
	args status=status
	event on-http-response
spoe-message grouped
	args path
spoe-group g
	messages grouped
"""


class Scene:
    def __init__(self, args, agent, timeout="5s", more="", shown=SHOWN, before="", quiet=True, backend=""):
        self.agent = agent
        self.dir = tempfile.mkdtemp(prefix="hapr.")
        with open(os.path.join(self.dir, "agent.conf"), "w") as f:
            f.write(AGENT.format(timeout=timeout, more=more))
        self.server = lib.Server(lib.echo_handler)
        self.port = lib.ports(1)[0]
        conf = CONF.format(fe=self.port, server=self.server.port, agent=agent.port if agent else lib.ports(1)[0],
                           dir=self.dir, shown=shown, before=before, backend=backend)
        self.proxy = lib.Proxy(args.program, conf, restless="" if quiet else "an agent that does not let go")

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.proxy.__exit__(*exc)
        self.server.close()
        if self.agent:
            self.agent.close()
        shutil.rmtree(self.dir, ignore_errors=True)

    def get(self, path="/", more=""):
        """(status, what the variables are)"""
        sock = lib.connect(self.port)
        try:
            sock.sendall(("GET %s HTTP/1.1\r\nhost: h\r\n%sconnection: close\r\n\r\n" % (path, more)).encode())
            reader = lib.Reader(sock)
            head = reader.head()
            body = reader.body(head[1], True)
            return int(head[0].split()[1]), dict(head[1]).get("x-shown", body.decode("latin-1"))
        finally:
            sock.close()


def events(tap, args):
    seen = []

    def reply(messages, stream, number):
        seen.extend(messages)
        out = b""
        for name, _ in messages:
            out += spop.set_var("txn", "got", name) + spop.set_var("sess", "mine", 5)
        return out

    agent = spop.Agent(reply)
    with Scene(args, agent) as sc:
        status, shown = sc.get("/a", "long: %s\r\n" % ("x" * 3000))
        tap.eq((status, shown), (200, "response 5"), "answers set variables")
        h = agent.hellos[0]
        tap.eq((h["supported-versions"], h["max-frame-size"], h["capabilities"]),
               (("str", b"2.0"), ("uint32", 16380), ("str", b"pipelining")), "the hello")
        tap.eq(len(h["engine-id"][1]), 36, "has the engine's id")
        tap.eq([m[0] for m in seen], ["session", "request", "response"], "the events in their order")
        tap.eq(seen[0][1], [("ip", ("ipv4", "127.0.0.1")), ("yes", ("bool", True)), ("number", ("int64", -7)),
                            ("none", ("null", None)), ("text", ("str", b"x")), ("bytes", ("bin", b"\x00\xff")),
                            ("six", ("ipv6", "::1"))], "types of values")
        tap.eq(seen[1][1], [("path", ("str", b"/a")), ("method", ("str", b"GET")), ("host", ("str", b"h")),
                            ("absent", ("null", None)), ("long", ("str", b"x" * 3000))], "what a request has")
        tap.eq(seen[2][1], [("status", ("int64", 200))], "what an answer has")
        del seen[:]
        sc.get("/skip")
        tap.eq([m[0] for m in seen], ["session", "response"], "a condition that does not hold")
        del seen[:]
        tap.eq(sc.get("/group")[0], 200, "a group that a rule sends")
        tap.eq([m for m in seen if m[0] == "grouped"], [("grouped", [("", ("str", b"/group"))])], "is sent once")
        tap.eq(sc.get("/early")[1], "request 5 ", "its variables are there for later rules")
        if not lib.is_reference(args.program):
            row = sc.proxy.stats()["agents", "BACKEND"]
            tap.ok(0 < int(row["stot"]) <= 2 < agent.notifies, "a session of the backend is a connection", row["stot"])


def parents(tap, args):
    """Rules of the agents' backend cannot set variables of the stream that asks."""
    rules = "\n\t".join("tcp-request content set-var(%s) %s" % (name, value) for name, value in (
        ("ptxn.mine", "str(bad)"), ("psess.mine", "str(bad)"), ("preq.mine", "str(bad)"), ("proc.been", "str(been)"),
        ("proc.parent", "var(ptxn.path)")))
    shown = "%[var(txn.mine)]%[var(sess.mine)]%[var(req.mine)]|%[var(proc.been)]|%[var(proc.parent)]"
    with Scene(args, spop.Agent(lambda m, s, n: b""), shown=shown, backend=rules) as sc:
        sc.get("/x")
        tap.eq(sc.get("/x"), (200, "|been|/x" if lib.is_reference(args.program) else "|been|"),
               "rules of the backend set none of the parent's variables")


def values(tap, args):
    """Every type that an agent can send, scopes, what it may not set."""
    actions = {
        "/int32": b"\x02" + spop.varint(2 ** 64 - 3), "/long": b"\x02" + spop.varint(2 ** 40), "/uint32": b"\x03" + spop.varint(7), "/uint64": b"\x05" + spop.varint(9),
        "/int64": b"\x04" + spop.varint(2 ** 64 - 5), "/true": b"\x11", "/ipv4": b"\x06\x01\x02\x03\x04",
        "/ipv6": b"\x07" + b"\0" * 15 + b"\1", "/text": b"\x08" + spop.text(b"hi"), "/null": b"\x00",
        "/binary": b"\x09" + spop.text(b"hi"),
    }
    want = {"/int32": "-3", "/long": "1099511627776", "/uint32": "7", "/uint64": "9", "/int64": "-5", "/true": "1", "/ipv4": "1.2.3.4", "/ipv6": "::1",
            "/text": "hi", "/null": "", "/binary": "hi"}

    def reply(messages, stream, number):
        name, fields = messages[0]
        if name != "request":
            return b""
        path = dict(fields)["path"][1].decode()
        if path in actions:
            return spop.set_var("txn", "got", actions[path])
        return {"/unset": spop.set_var("txn", "got", "x") + spop.unset_var("txn", "got"),
                "/unknown": spop.set_var("txn", "nobody.knows", "x") + spop.set_var("txn", "got", "y"),
                "/proc": spop.set_var("proc", "got", "p") + spop.set_var("req", "got", "r")}[path]

    shown = "%[var(txn.p.got)]|%[var(req.p.got)]|%[var(txn.p.err)]"
    with Scene(args, spop.Agent(reply), shown=shown) as sc:
        for path in actions:
            tap.eq(sc.get("/early" if path == "none" else path)[1].split("|")[0], want[path], "a value: " + path[1:])
        tap.eq(sc.get("/unset")[1], "||", "unset-var")
        tap.eq(sc.get("/unknown")[1], "y||", "names that no line has are passed over")


def errors(tap, args):
    """What the variable of set-on-error is, and that the stream goes on."""
    frame, hello = spop.frame, spop.hello
    cases = [
        ("an answer that does not come", lambda m, s, n: None, None, 1),
        ("a disconnect", lambda m, s, n: spop.Raw(frame(spop.AGENT_DISCONNECT, spop.disconnect(99))), None, 256 + 99),
        ("no version", None, frame(spop.AGENT_HELLO, hello(version=None)), 256 + 5),
        ("another version", None, frame(spop.AGENT_HELLO, hello(version=b"1.0")), 256 + 8),
        ("frames too small", None, frame(spop.AGENT_HELLO, hello(size=200)), 256 + 9),
        ("frames too large", None, frame(spop.AGENT_HELLO, hello(size=16381)), 256 + 9),
        ("a disconnect as hello", None, frame(spop.AGENT_DISCONNECT, spop.disconnect(13)), 256 + 13),
    ]
    if not lib.is_reference(args.program):
        cases.append(("a frame too large", lambda m, s, n: spop.Raw(b"\0\xff\xff\xff"), None, 256 + 3))
        cases.append(("no frame", lambda m, s, n: spop.Raw(b"\0\0\0\1x"), None, 256 + 4))
        cases.append(("an answer to nothing", lambda m, s, n: spop.Raw(frame(spop.ACK, b"", 99, 1)), None, 256 + 12))
        cases.append(("an answer in parts", lambda m, s, n: spop.Raw(frame(spop.ACK, b"", s, n, 0)), None, 256 + 10))
    cases.append(("actions that are none", lambda m, s, n: b"\7\7\7", None, ""))
    cases.append(("an answer that is given up", lambda m, s, n: spop.Raw(frame(spop.ACK, b"", s, n, 3)), None, ""))
    for name, reply, answer, want in cases:
        agent = spop.Agent(reply or (lambda m, s, n: b""), answer)
        # (the reference waits in many cases)
        with Scene(args, agent, timeout="300ms" if want == 1 or lib.is_reference(args.program) else "20s", quiet=False) as sc:
            status, shown = sc.get("/")
            tap.eq((status, shown), (200, str(1 if lib.is_reference(args.program) and answer else want)), name)
    for name, answer in (("size", hello(size=None)), ("capabilities", hello(capabilities=None))):
        with Scene(args, spop.Agent(lambda m, s, n: b"", frame(spop.AGENT_HELLO, answer)), timeout="2s") as sc:
            tap.eq(sc.get("/"), (200, ""), "a hello without " + name + " will do")
    with Scene(args, None, timeout="1s") as sc:
        status, shown = sc.get("/")
        tap.ok(status == 200 and shown.isdigit() and int(shown) > 0, "no agent at all", (status, shown))


def after_errors(tap, args):
    """The other events of the stream."""
    seen = []

    def reply(messages, stream, number):
        seen.extend(m[0] for m in messages)
        return None if messages[0][0] == "session" else spop.set_var("txn", "got", messages[0][0])

    for more, want, shown in (("", ["session"], "1"),
                              ("option continue-on-error", ["session", "request", "response"], "response  1")):
        del seen[:]
        with Scene(args, spop.Agent(reply), timeout="200ms", more=more) as sc:
            tap.eq(sc.get("/")[1], shown, "%s: variables" % (more or "an error ends all"))
            tap.eq(seen, want, "%s: events" % (more or "an error ends all"))


def engine(tap, args):
    """The backend of agents knows the id that the hello has."""
    agent = spop.Agent(lambda m, s, n: b"")
    with Scene(args, agent, shown="%[var(proc.engine)]", backend="tcp-request content set-var(proc.engine) spoe.engine-id") as sc:
        tap.eq(sc.get("/")[1], agent.hellos[0]["engine-id"][1].decode(), "spoe.engine-id")


def after_answers(tap, args):
    """The event behind one that was answered: it has a timeout of its own, and variables of the answer that it is about."""
    shown = "%[var(txn.p.err)] %[var(res.p.late)]"
    with Scene(args, spop.Agent(lambda m, s, n: None if m[0][0] == "response" else b""), timeout="300ms", shown=shown) as sc:
        tap.eq(sc.get("/"), (200, "1"), "no answer to the second event")
    with Scene(args, spop.Agent(lambda m, s, n: spop.set_var("res", "late", 7)), shown=shown) as sc:
        tap.eq(sc.get("/")[1].split(), ["7"], "a variable of the scope res")


def together(tap, args):
    """Many streams, answers out of order, clients that leave, an agent that comes and goes."""
    held, lock = [], threading.Lock()

    def reply(messages, stream, number):
        name, fields = messages[0]
        if name != "request":
            return b""
        path = dict(fields)["path"][1].decode()
        with lock:
            held.append(path)
        if "slow" in path:
            time.sleep(0.05)
        return spop.set_var("txn", "got", path[1:])

    agent = spop.Agent(reply)
    wrong = []
    with Scene(args, agent, timeout="10s") as sc:
        def client(n):
            path = "/%d%s" % (n, "slow" if n % 10 == 0 else "")
            try:
                if n % 7 == 3:
                    sock = lib.connect(sc.port)
                    sock.sendall(b"GET /gone HTTP/1.1\r\nhost: h\r\n\r\n")
                    sock.close()
                    return
                status, shown = sc.get(path)
                if (status, shown) != (200, path[1:]):
                    wrong.append((path, status, shown))
            except (OSError, EOFError, ValueError) as e:
                wrong.append((path, str(e)))

        threads = [threading.Thread(target=client, args=(n,)) for n in range(args.count)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        tap.ok(not wrong, "%d streams at once" % args.count, wrong[:5])
        tap.ok(lib.until(lambda: sc.proxy.info()["CurrConns"] == "0"), "none of them stays", sc.proxy.ctl("show info; show sess all; show fd"))


class Patient(spop.Agent):
    """Never leaves by itself."""

    def serve(self, sock):
        sock.settimeout(600)
        super().serve(sock)


def lost(tap, args):
    """An agent that has lost so many questions that no connection has a place left, and then works again."""
    answers = threading.Event()
    agent = Patient(lambda m, s, n: spop.set_var("txn", "got", "y") if answers.is_set() else None,
                    spop.frame(spop.AGENT_HELLO, spop.hello(capabilities=b"")))
    with Scene(args, agent, timeout="50ms", shown="%[var(txn.p.got)]|%[var(txn.p.err)]", backend="timeout server 1h") as sc:
        got = []
        threads = [threading.Thread(target=lambda: got.extend(sc.get("/early") for _ in range(25))) for _ in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        tap.eq(set(got), {(200, "|1")}, "an agent that loses all that it is asked")
        answers.set()
        tap.ok(lib.until(lambda: {sc.get("/early") for _ in range(10)} == {(200, "y|")}), "is asked again when it works")


def main():
    args = lib.arguments(__doc__, ("count", 200, "streams at once"))
    tap = lib.Tap()
    for test in (events, parents, values, errors, after_errors, after_answers, engine, lost, together):
        test(tap, args)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
