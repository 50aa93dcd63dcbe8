#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Clients that leave while what their request has begun is under way: a question of forward-auth, copies of a mirror, a message of SPOE,
a request of FastCGI, a call of a webhook, a tail of each other. They close or reset at random points of heads and bodies, and the
servers behind answer soon, late, in part, or die. Then nothing is left: no connection, no stream, no copy, no call.
--count N clients (400; 100000 for the long run), --seed S; made for SAN=address and SAN=thread."""
import random
import tempfile
import threading
import time

import lib
import lib_fcgi as fcgi
import lib_spop as spop

CONF = """
	nbthread 2
defaults
	mode http
	timeout connect 5s
	timeout client 10s
	timeout server 400ms
	option http-no-delay
	option abortonclose
frontend fe
	bind 127.0.0.1:{port}
	filter spoe engine e config {folder}/agent.conf
	http-request forward-auth auth copy x-user if {{ path_beg /auth }}
	http-request forward-auth auth cache %[req.hdr(x-key)] for 50ms max 5 fail-open if {{ path_beg /kept }}
	http-request mirror copies if {{ path_beg /mirror }}
	http-request mirror copies max 3 buffer 20k if {{ path_beg /mirror }}
	http-request send-spoe-group e g if {{ path_beg /spoe }}
	http-request call http://127.0.0.1:{server}/hook hdr x-a b if {{ path_beg /call }}
	http-response call http://127.0.0.1:{server}/hook if {{ path_beg /late }}
	use_backend app if {{ path_beg /fcgi }}
	default_backend be
backend be
	server s 127.0.0.1:{server}
backend auth
	server s 127.0.0.1:{server}
backend copies
	server s 127.0.0.1:{server}
backend app
	use-fcgi-app app
	server s 127.0.0.1:{fcgi} proto fcgi
fcgi-app app
	docroot /srv
	option mpxs-conns
backend agents
	mode spop
	server s 127.0.0.1:{agent}
"""
AGENT = """[e]
spoe-agent ag
	groups g
	option var-prefix p
	option continue-on-error
	timeout processing 300ms
	use-backend agents
spoe-message m
	args a=path b=req.hdr(x-key) c=src
spoe-group g
	messages m
"""
PATHS = ("/auth", "/kept", "/mirror", "/spoe", "/call", "/late", "/fcgi")
ANSWER = b"HTTP/1.1 200 OK\r\nx-user: u\r\ncontent-length: 5\r\n\r\nhello"
calm = threading.Event() # all is answered well from now on


def mood(rng):
    """Waits a little, or not. What becomes of it: "well", "part", "close", "reset"."""
    if calm.is_set():
        return "well"
    if rng.random() < 0.4:
        time.sleep(rng.choice((0.001, 0.003, 0.01, 0.03)))
    return rng.choice(("well",) * 12 + ("part", "close", "reset"))


def serve(sock):
    rng, r = random.Random(), lib.Reader(sock)
    while True:
        head = r.head()
        if not head:
            return
        if rng.random() < 0.1 and not calm.is_set():
            sock.sendall(ANSWER) # before the body has come
            return
        r.body(head[1])
        how = mood(rng)
        sock.sendall(ANSWER if how == "well" else ANSWER[:rng.randrange(len(ANSWER))] if how == "part" else b"")
        if how == "reset":
            lib.reset(sock)
        if how != "well":
            return


def notify(messages, stream, number):
    rng = random.Random()
    how, out = mood(rng), spop.frame(spop.ACK, spop.set_var("txn", "x", "y"), stream, number)
    if how in ("close", "reset"):
        raise EOFError
    return spop.Raw(out if how == "well" else out[:rng.randrange(len(out))])


def application(request):
    rng = random.Random()
    how = mood(rng)
    out = fcgi.whole(request.number, b"content-type: text/plain\r\n\r\nhello", b"warning")
    if how == "well":
        return out
    return [out[:rng.randrange(len(out))] if how == "part" else b"", None]


def client(port, rng, path, whole):
    body = b"b" * (0 if rng.random() < 0.4 else rng.choice((1, 1000, 30000, 150000)))
    data = ("%s %s/x HTTP/1.1\r\nhost: h\r\nx-key: %d\r\n" % ("POST" if body else "GET", path, rng.randrange(8))).encode()
    data += b"content-length: %d\r\n\r\n" % len(body) + body if body else b"\r\n"
    with lib.connect(port, 30) as s:
        if whole:
            s.sendall(data)
            return lib.Reader(s).response()[0] == 200
        s.sendall(data[:rng.choice((len(data), len(data), rng.randrange(len(data)), rng.randrange(min(len(data), 300))))])
        lib.leave(s, rng)
    return True


def many(port, rng, left, lock, failed):
    while True:
        with lock:
            if not left[0]:
                return
            left[0] -= 1
        try:
            client(port, rng, rng.choice(PATHS), False)
        except ConnectionError:
            pass
        except OSError as e:
            failed.append(repr(e))


def mirror_rest(proxy):
    """Of the rules of `show mirror`: how many copies are running."""
    lines = [l.split() for l in proxy.ctl("show mirror").strip().split("\n")]
    return sum(int(l[lines[0].index("running") - 1]) for l in lines[1:])


def calls_waiting(proxy):
    return dict(l.split(": ") for l in proxy.ctl("show calls").strip().split("\n"))["waiting"]


def main():
    args = lib.arguments(__doc__, ("count", 400, "clients"), ("seed", 1, "of the clients"))
    tap = lib.Tap()
    if lib.is_reference(args.program):
        tap.skip("cancelled", "most of it is an extension")
        tap.done()
    folder = tempfile.mkdtemp(prefix="hapr.")
    with open(folder + "/agent.conf", "w") as f:
        f.write(AGENT)
    server, agent, app, port = lib.Server(serve), spop.Agent(notify), fcgi.App(application), lib.ports(1)[0]
    conf = CONF.format(port=port, server=server.port, agent=agent.port, fcgi=app.port, folder=folder)
    with lib.Proxy(args.program, conf) as proxy:
        failed, left, lock = [], [args.count], threading.Lock()
        threads = [threading.Thread(target=many, args=(port, random.Random("%d %d" % (args.seed, n)), left, lock, failed))
                   for n in range(12)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        tap.ok(not failed, "%d clients leave" % args.count, failed[:5])
        calm.set()
        tap.ok(lib.until(lambda: proxy.info()["CurrConns"] == "0", 20), "no connection is left", proxy.info()["CurrConns"])
        tap.ok(lib.until(lambda: mirror_rest(proxy) == 0, 20), "no copy is left", proxy.ctl("show mirror"))
        tap.ok(lib.until(lambda: calls_waiting(proxy) == "0", 60), "no call is left", proxy.ctl("show calls"))
        tap.ok(lib.until(lambda: proxy.ctl("show sess").count("proto=") <= 1, 20), "no stream is left", proxy.ctl("show sess")[:2000])
        for path in PATHS:
            tap.ok(lib.until(lambda: client(port, random.Random(1), path, True), 20), "%s is answered" % path)
    for x in (server, agent, app):
        x.close()
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
