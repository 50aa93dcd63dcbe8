#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What operators decide and see of QUIC: quic-initial rules, show quic, what fetches say of connections; WebSocket over HTTP/3. The client is
aioquic.
"""
import asyncio
import base64
import hashlib
import os
import re
import socket
import subprocess
import tempfile

import lib
import lib_quic

CONF = """
	limited-quic
	cluster-secret s
	stats timeout 1m
defaults
	mode http
	timeout connect 5s
	timeout client 10s
	timeout server 10s
defaults strict
	mode http
	timeout connect 5s
	timeout client 10s
	timeout server 10s
	quic-initial reject if {{ dst_port {inherited} }} {{ src 127.0.0.0/8 }}
frontend heir from strict
	bind quic4@127.0.0.1:{inherited} ssl crt {crt}
	http-request return status 200
frontend refused from strict
	bind quic4@127.0.0.1:{refused} ssl crt {crt}
	quic-initial reject if {{ src 127.0.0.0/8 }}
	http-request return status 200
listen dropped from strict
	bind quic4@127.0.0.1:{dropped} ssl crt {crt}
	quic-initial dgram-drop
	http-request return status 200
frontend proven from strict
	bind quic4@127.0.0.1:{proven} ssl crt {crt}
	quic-initial send-retry
	quic-initial reject
	http-request return status 200
frontend admitted from strict
	bind quic4@127.0.0.1:{admitted} ssl crt {crt}
	log {log} format raw local0
	log-format "%OG %ci %fp %f"
	quic-initial do-log
	quic-initial accept if {{ src 127.0.0.1 }} {{ dst_port {admitted} }} {{ fe_name admitted }}
	quic-initial reject
	http-request set-log-level silent
	http-request return status 200 content-type text/plain lf-string "{facts}"
"""
FACTS = ("fc_rtt(us)", "fc_rtt", "fc_rttvar(us)", "fc_lost", "fc_reordering", "fc_retrans", "fc_unacked", "fc_sacked", "fc_fackets",
         "fc_http_major", "fc_nb_streams", "fc_glitches")
PORTS = "inherited", "refused", "dropped", "proven", "admitted"


async def asks(port):
    """The status of an answer, or the number of the error that the connection ends with."""
    client = None
    try:
        async with lib_quic.client(port, idle_timeout=2.0) as client:
            status, _, body, _ = await client.request("GET", "/")
            return status, body.decode(), client._quic._retry_count
    except ConnectionError:
        return None


def ended_with(port):
    """What an Initial packet is answered: the code of CONNECTION_CLOSE; None: nothing."""
    codes = []

    class Watch(lib_quic.Client):
        def quic_event_received(self, event):
            if isinstance(event, lib_quic.ConnectionTerminated):
                codes.append(event.error_code)
            super().quic_event_received(event)

    async def run():
        conf = lib_quic.QuicConfiguration(is_client=True, alpn_protocols=lib_quic.H3_ALPN, idle_timeout=2.0,
                                          verify_mode=lib_quic.ssl.CERT_NONE)
        try:
            async with lib_quic.aio_connect("127.0.0.1", port, configuration=conf, create_protocol=Watch):
                pass
        except ConnectionError:
            pass
    asyncio.run(run())
    return codes[0] if codes else None


def rules(tap, args, crt):
    ports = dict(zip(PORTS, lib.ports(len(PORTS))))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as log:
        log.bind(("127.0.0.1", 0))
        log.settimeout(lib.PATIENCE)
        facts = " ".join("%%[%s]" % f for f in FACTS)
        conf = CONF.format(crt=crt, facts=facts, log="127.0.0.1:%d" % log.getsockname()[1], **ports)
        with lib.Proxy(args.program, conf) as proxy:
            tap.eq(ended_with(ports["refused"]), 2, "reject: the client is told CONNECTION_REFUSED")
            # differs: quic-initial-defaults
            if not lib.is_reference(args.program): # (its frontends do not inherit these rules, whatever its manual says)
                tap.eq(ended_with(ports["inherited"]), 2, "a rule of a defaults section")
            # (aioquic gives up with 1, INTERNAL_ERROR of its own, when nothing comes)
            tap.eq(ended_with(ports["dropped"]), 1, "dgram-drop: there is no answer")
            got = asyncio.run(asks(ports["proven"]))
            tap.eq(got and (got[0], got[2]), (200, 1), "send-retry: once, then rules behind it do not count")
            got = asyncio.run(asks(ports["admitted"]))
            tap.eq(got and (got[0], got[2]), (200, 0), "accept: rules behind it do not count; addresses and frontend")
            tap.eq(log.recv(500).split(), [b"quic-init", b"127.0.0.1", b"%d" % ports["admitted"], b"admitted"], "do-log")
            facts_are(tap, got[1])
            asyncio.run(shown(tap, proxy, ports["admitted"]))
            if not lib.is_reference(args.program):
                traced(tap, proxy, ports["admitted"])
            tap.ok(proxy.alive(), "the program still runs")


COLUMNS = "# conn/frontend                     state   in_flight infl_p lost_p         Local Address           Foreign Address  " \
          "    local & remote CIDs"
LEVELS = {
    "tp": ("loc. TPs: odcid=", "rem. TPs: iscid=", "midle_timeout=30000ms", "ms_bidi=100 ms_uni=3", "(no_act_migr,stless_rst_tok)",
           "versions:chosen=0x00000001,negotiated=0x00000001"),
    "sock": ("local_addr=127.0.0.1:", "foreign_addr=127.0.0.1:"),
    "pktns": ("[01rtt] rx.ackrng=",),
    "cc": ("cc: state=ss ssthresh=4294967295", "srtt=", "rttvar=", "rttmin=", "ptoc=0", "cwnd=", "lostpkts=0", "reorderedpkts=0"),
    "mux": ("qcc=0x", "qcs=0x", " id=2 ", " id=3 ", " st=OPN "),
}


async def shown(tap, proxy, port):
    """What is listed while one connection is idle."""
    async with lib_quic.client(port) as client:
        await client.request("GET", "/")
        lines = proxy.ctl("show quic").splitlines()
        tap.eq(lines[0], COLUMNS, "show quic: columns")
        found = re.match(r"(0x[0-9a-f]+)\[\d\d\]/admitted +ESTAB +\d+ +\d+ +0 +127.0.0.1:%d +127.0.0.1:\d+ [0-9a-f]+ [0-9a-f]+$" % port,
                         lines[1])
        tap.ok(found, "show quic: a line", lines[1])
        number = found.group(1)
        tap.eq(proxy.ctl("show quic oneline %s" % number).splitlines()[1].split()[0], lines[1].split()[0], "one connection")
        for command, count in ("oneline 0x1234", 0), ("all", 1), ("oneline all", 1), ("clo", 0), ("be", 0):
            tap.eq(len(re.findall("ESTAB", proxy.ctl("show quic " + command))), count, "show quic " + command)
        full = proxy.ctl("show quic full")
        tap.ok(re.match(r"\* %s\[\d\d\]: scid=[0-9a-f]+\.* dcid=[0-9a-f]+\.*\n" % number, full), "show quic full: ids", full)
        for level, texts in LEVELS.items():
            part = proxy.ctl("show quic " + level)
            for text in texts:
                tap.ok(text in part and text in full, "show quic %s: %s" % (level, text), part)
            tap.ok(re.search(r"st=opened +mux=ready +expire=\d\ds", part), "show quic %s: state" % level, part)
            others = [t for n, ts in LEVELS.items() if n != level for t in ts if t in part]
            tap.eq(others, [], "show quic %s: nothing else" % level)
        both = proxy.ctl("show quic tp,mux")
        tap.ok("loc. TPs" in both and "qcc=" in both and "cwnd=" not in both, "show quic tp,mux", both)
        tap.ok("Usage: show quic" in proxy.ctl("show quic help"), "show quic help")
        for wrong, what in ("foo", "argument"), ("full foo", "argument"), ("tp,foo", "field"), ("sock foo all", "argument"):
            tap.eq(proxy.ctl("show quic " + wrong).strip(), "Invalid %s, use 'help' for more options." % what, "show quic " + wrong)


def traced(tap, proxy, port):
    """The sources quic and h3 of `trace`: their events tell of a request."""
    for source in "quic", "h3":
        tap.ok("rx_" in proxy.ctl("trace %s event" % source), "trace %s event" % source)
        for words in "sink buf0", "level developer", "verbosity clean", "start now":
            proxy.ctl("trace %s %s" % (source, words))
    asyncio.run(asks(port))
    proxy.ctl("trace 0")
    text = proxy.ctl("show events buf0")
    for source, said in (("quic", "a connection begins"), ("quic", "transport parameters came"), ("quic", "keys to write, level 2"),
                         ("quic", "of level 2 came"), ("quic", "of level 2 leaves"), ("h3", "sending SETTINGS"),
                         ("h3", "received a frame of type 1"), ("h3", "sending HEADERS, 200")):
        tap.ok(re.search(r"\[..\|%s\|.*%s" % (source, said), text), "trace %s: %s" % (source, said), text[-3000:])


def facts_are(tap, text):
    got = dict(zip(FACTS, text.split(" ")))
    tap.ok(int(got["fc_rtt(us)"]) > 0 and int(got["fc_rtt(us)"]) // 1000 == int(got["fc_rtt"]), "fc_rtt", text)
    tap.ok(int(got["fc_rttvar(us)"]) >= 0, "fc_rttvar", text)
    tap.eq((got["fc_lost"], got["fc_reordering"]), ("0", "0"), "fc_lost, fc_reordering")
    tap.eq([got[n] for n in ("fc_retrans", "fc_unacked", "fc_sacked", "fc_fackets")], [""] * 4, "what only TCP has")
    tap.eq([got[n] for n in ("fc_http_major", "fc_nb_streams", "fc_glitches")], ["3", "1", "0"], "the mux's own")


# ---- WebSocket (RFC 9220), an extension

SOCKETS = """
	limited-quic
defaults
	mode http
	timeout connect 5s
	timeout client 10s
	timeout server 10s
frontend web
	bind quic4@127.0.0.1:{port} ssl crt {crt}
	http-request deny deny_status 403 if {{ path /denied }}
	default_backend origin
backend origin
	server s1 127.0.0.1:{origin}
"""


def echo(sock):
    """Accepts what asks to become a WebSocket, and then sends back what comes."""
    r = lib.Reader(sock)
    head = r.head()
    fields = dict(head[1])
    if fields.get("upgrade") != "websocket":
        sock.sendall(b"HTTP/1.1 400 Bad\r\ncontent-length: 0\r\n\r\n")
        return
    accept = base64.b64encode(hashlib.sha1((fields["sec-websocket-key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest())
    sock.sendall(b"HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\nx-path: %s\r\n"
                 b"sec-websocket-accept: %s\r\n\r\n" % (head[0].split(" ")[1].encode(), accept))
    data = r.buf
    while True:
        data = data or sock.recv(65536)
        if not data:
            return
        sock.sendall(data)
        data = b""


async def talk(tap, port):
    async with lib_quic.client(port) as c:
        def begin(path):
            return c.begin("CONNECT", path, ended=False, pseudo=[
                (b":method", b"CONNECT"), (b":protocol", b"websocket"), (b":scheme", b"https"), (b":authority", b"localhost"),
                (b":path", path.encode()), (b"sec-websocket-version", b"13")])

        async def received(stream, n):
            while len(b"".join(c.answers.get(stream, [None, []])[1])) < n:
                await asyncio.sleep(0.01)
            return b"".join(c.answers[stream][1])
        stream = begin("/chat")
        c.h3.send_data(stream, b"early", False) # before there is an answer
        c.transmit()
        got = await asyncio.wait_for(received(stream, 5), lib.PATIENCE)
        fields = dict(c.answers[stream][0])
        tap.eq((fields[b":status"], fields.get(b"x-path"), b"sec-websocket-accept" in fields, b"upgrade" in fields, got),
               (b"200", b"/chat", False, False, b"early"), "WebSocket: it opens, and what came before goes through")
        c.h3.send_data(stream, b"x" * 100000, False)
        c.transmit()
        tap.eq(len(await asyncio.wait_for(received(stream, 100005), lib.PATIENCE)), 100005, "WebSocket: 100 kB and back")
        c.h3.send_data(stream, b"", True)
        c.transmit()
        tap.eq((await c.answer(stream))[0], 200, "WebSocket: both sides end")
        stream = begin("/denied")
        tap.eq((await c.answer(stream))[0], 403, "WebSocket: denied by a rule")


def sockets(tap, args, crt):
    if lib.is_reference(args.program):
        tap.skip("WebSocket over HTTP/3", "the reference has none")
        return
    origin = lib.Server(echo)
    port = lib.ports(1)[0]
    with lib.Proxy(args.program, SOCKETS.format(port=port, crt=crt, origin=origin.port)) as proxy:
        asyncio.run(talk(tap, port))
        tap.ok(proxy.alive(), "the program still runs")
    origin.close()


WRONG = {
    "quic-initial foo": "but got 'foo'.",
    "quic-initial": "but got '' (missing argument)",
    "quic-initial set-var(txn.a) int(1)": "but got 'set-var(txn.a)'",
    "quic-initial accept unless nowhere": "nowhere",
}


def check(args, folder, text):
    path = os.path.join(folder, "check.cfg")
    with open(path, "w") as f:
        f.write(text)
    out = subprocess.run([args.program, "-c", "-f", path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return out.returncode, out.stdout


def mistakes(tap, args, crt):
    folder = os.path.dirname(crt)
    front = "defaults\n\tmode http\nfrontend f\n\tbind 127.0.0.1:1\n\t"
    for line, message in WRONG.items():
        code, text = check(args, folder, front + line + "\n")
        tap.ok(code == 1 and message in text, "refused: " + line, text)
    code, text = check(args, folder, front + "quic-initial foo\n")
    known = re.search(r"'quic-initial' expects (.*), but got 'foo'", text)
    tap.eq(sorted(known.group(1).split(", ")) if known else text,
           ["'accept'", "'dgram-drop'", "'do-log'", "'reject'", "'send-retry'"], "all actions are named")
    for text, message in (("backend b\n\tmode http\n\tquic-initial accept\n", "'quic-initial' : proxy 'b' has no frontend capability"),
                          ("frontend f\n\tmode tcp\n\tquic-initial accept\n", "'quic-initial' : proxy 'f' does not use HTTP mode"),
                          ("defaults\n\tmode http\n\tquic-initial accept\n",
                           "quic-initial is not allowed in anonymous 'defaults' sections")):
        code, said = check(args, folder, text)
        tap.ok(code == 1 and message in said, "refused: " + message, said)
    code, said = check(args, folder, front + "quic-initial reject if { path / }\n")
    tap.ok("will never match" in said and "frontend tcp-request connection rule" in said, "a fetch that has no value there", said)


def main():
    args = lib.arguments(__doc__)
    tap = lib.Tap()
    if not lib_quic.HAVE_AIOQUIC:
        tap.skip("operators and QUIC", "the Python module aioquic is not installed")
        tap.done()
    with tempfile.TemporaryDirectory(prefix="hapt.") as folder:
        crt = os.path.join(folder, "localhost.pem")
        if not lib_quic.certificate(crt):
            tap.skip("operators and QUIC", "there is no openssl to make a certificate")
            tap.done()
        tap.run([mistakes, rules, sockets], args, crt)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
