#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Clients and servers of HTTP/2 that others wrote, as far as they are installed: gRPC, curl, nghttp.

gRPC (the Python module grpc on both sides, through two proxies that speak HTTP/2 to each other): all
four kinds of calls, a conversation in which each side waits for the other, errors, trailers, metadata,
large messages, cancelled calls, many calls at once. curl, nghttp and Python's h2: downloads and uploads, many at
once, compared byte by byte.
"""
import collections
import concurrent.futures
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import threading

import lib

try:
    import grpc
except ImportError:
    grpc = None
try:
    import h2.config
    import h2.connection
    import h2.events
    HYPER = True
except ImportError:
    HYPER = False
# packages of the distribution are known to its own Python only
SYSTEM_PYTHON = "/usr/bin/python3"

CONF = """
defaults
	mode http
	timeout connect 5s
	timeout client 20s
	timeout server 20s
	timeout tunnel 20s
	http-reuse always
frontend rpc
	bind 127.0.0.1:{rpc} proto h2
	default_backend again
backend again
	server s1 127.0.0.1:{mid} proto h2
frontend middle
	bind 127.0.0.1:{mid} proto h2
	default_backend service
backend service
	server s1 127.0.0.1:{service} proto h2
frontend web
	bind 127.0.0.1:{web}
	default_backend pages
backend pages
	server s1 127.0.0.1:{pages}
"""
LARGE = os.urandom(1 << 20)


# ---- gRPC: messages are bytes, so that no compiler of definitions is needed

def talk(requests, context):
    """Answers each message before it takes the next one."""
    for r in requests:
        yield b"re:" + r


def fail(request, context):
    context.set_trailing_metadata((("x-why", "asked"), ("x-raw-bin", b"\0\xff")))
    context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "no more %s" % request.decode())


def tell(request, context):
    context.send_initial_metadata((("x-seen", dict(context.invocation_metadata()).get("x-mine", "")),))
    return request


def service(cancelled):
    def forever(request, context):
        context.add_callback(cancelled.set)
        while context.is_active() and not cancelled.wait(0.05):
            yield b"tick"

    handlers = {
        "Unary": grpc.unary_unary_rpc_method_handler(tell),
        "Count": grpc.unary_stream_rpc_method_handler(
            lambda r, c: (b"%d" % i for i in range(int(r)))),
        "Sum": grpc.stream_unary_rpc_method_handler(lambda rs, c: b"%d" % sum(len(r) for r in rs)),
        "Talk": grpc.stream_stream_rpc_method_handler(talk),
        "Fail": grpc.unary_unary_rpc_method_handler(fail),
        "Forever": grpc.unary_stream_rpc_method_handler(forever),
    }
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(max_workers=16))
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("t.S", handlers),))
    return server


def conversation(channel):
    """Each message is sent when the answer to the one before has come."""
    turn = threading.Semaphore(1)

    def questions():
        for i in range(20):
            turn.acquire()
            yield b"%d" % i
    got = []
    for answer in channel.stream_stream("/t.S/Talk")(questions(), timeout=10):
        got.append(answer)
        turn.release()
    return got


def check_grpc(tap, port, cancelled):
    with grpc.insecure_channel("127.0.0.1:%d" % port) as channel:
        unary = channel.unary_unary("/t.S/Unary")
        answer, call = unary.with_call(b"hello", metadata=(("x-mine", "1"),), timeout=10)
        tap.eq((answer, dict(call.initial_metadata()).get("x-seen")), (b"hello", "1"),
               "gRPC: a call and its metadata")
        tap.eq(unary(LARGE, timeout=10), LARGE, "gRPC: 1 MB each way")
        got = list(channel.unary_stream("/t.S/Count")(b"500", timeout=10))
        tap.eq(got, [b"%d" % i for i in range(500)], "gRPC: a stream of answers")
        got = channel.stream_unary("/t.S/Sum")((b"x" * i for i in range(500)), timeout=10)
        tap.eq(got, b"%d" % sum(range(500)), "gRPC: a stream of questions")
        tap.eq(conversation(channel), [b"re:%d" % i for i in range(20)], "gRPC: a conversation")
        try:
            channel.unary_unary("/t.S/Fail")(b"soup", timeout=10)
            error = None
        except grpc.RpcError as e:
            error = e.code(), e.details(), sorted(e.trailing_metadata())
        tap.eq(error, (grpc.StatusCode.RESOURCE_EXHAUSTED, "no more soup",
                       [("x-raw-bin", b"\0\xff"), ("x-why", "asked")]),
               "gRPC: an answer of trailers only")
        call = channel.unary_stream("/t.S/Forever")(b"", timeout=10)
        next(call)
        call.cancel()
        tap.ok(cancelled.wait(10), "gRPC: the server hears of a cancelled call")
        calls = [unary.future(b"%d" % i, timeout=10) for i in range(300)]
        tap.eq([c.result() for c in calls], [b"%d" % i for i in range(300)],
               "gRPC: 300 calls at once")


# ---- curl and nghttp

def pages(sock):
    """A body of as many bytes as the path says; a POST gets the digest of its body."""
    r = lib.Reader(sock)
    while True:
        head = r.head()
        if not head:
            return
        method, path, _ = head[0].split(" ")
        fields = dict(head[1])
        if fields.get("expect"):
            sock.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        body = r.body(head[1])
        out = LARGE[:int(path.strip("/"))]
        if method in ("POST", "PUT"):
            out = hashlib.sha256(body).hexdigest().encode()
        sock.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(out) + out)


def run(argv):
    return subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          stdin=subprocess.DEVNULL, timeout=60)


def has(tap, tool, want=""):
    if not shutil.which(tool):
        tap.skip(tool, "not installed")
        return False
    if want and want not in run([tool, "-V"]).stdout.decode():
        tap.skip(tool, "without " + want)
        return False
    return True


def check_curl(tap, port, folder):
    base = ["curl", "-s", "-S", "--http2-prior-knowledge", "--max-time", "30"]
    url = "http://127.0.0.1:%d/" % port
    p = run(base + [url + "1000000", "-w", "%{stderr}%{http_version} %{http_code}"])
    tap.eq((p.stdout == LARGE[:1000000], p.stderr), (True, b"2 200"), "curl: a download")
    with open(os.path.join(folder, "up"), "wb") as f:
        f.write(LARGE)
    want = hashlib.sha256(LARGE).hexdigest().encode()
    tap.eq(run(base + ["-T", f.name, url + "0"]).stdout, want, "curl: an upload")
    p = run(base + ["-X", "POST", "-H", "transfer-encoding: chunked", "--data-binary",
                    "@" + f.name, url + "0"])
    tap.eq(p.stdout, want, "curl: an upload whose length is not announced")
    p = run(["curl", "-s", "--http2", url + "10"])
    tap.eq(p.stdout, LARGE[:10], "curl: an upgrade that may be refused")


def check_nghttp(tap, port, folder):
    url = "http://127.0.0.1:%d/" % port
    p = run(["nghttp", "-m", "20", url + "300000"])
    want = {byte: 20 * n for byte, n in collections.Counter(LARGE[:300000]).items()}
    tap.eq(collections.Counter(p.stdout) == want, True,
           "nghttp: the same 20 times at once, mixed")
    p = run(["nghttp", "-w", "10", "-W", "12", url + "300000"])
    tap.eq(p.stdout == LARGE[:300000], True, "nghttp: with small windows")
    p = run(["nghttp", "-d", os.path.join(folder, "up"), url + "0"])
    tap.eq(p.stdout, hashlib.sha256(LARGE).hexdigest().encode(), "nghttp: an upload")
    p = run(["nghttp", "--trailer", "x-end: 1", "-d", os.path.join(folder, "up"), url + "0"])
    tap.eq(p.stdout, hashlib.sha256(LARGE).hexdigest().encode(), "nghttp: an upload with trailers")


# ---- the Python module h2, which checks strictly what it receives

class Hyper:
    def __init__(self, port):
        self.sock = lib.connect(port)
        self.conn = h2.connection.H2Connection(h2.config.H2Configuration(header_encoding="utf-8"))
        self.conn.initiate_connection()
        self.left = {}    # bytes to upload, by stream
        self.status, self.bodies, self.ended = {}, collections.defaultdict(bytes), set()
        self.pongs = 0

    def flush(self):
        self.sock.sendall(self.conn.data_to_send())

    def ask(self, method, path, body=None):
        s = self.conn.get_next_available_stream_id()
        self.conn.send_headers(s, [(":method", method), (":scheme", "http"), (":path", path),
                                   (":authority", "h")], end_stream=body is None)
        if body is not None:
            self.left[s] = body
        return s

    def upload(self):
        """Sends of all bodies what the windows allow."""
        for s in list(self.left):
            body = self.left[s]
            while body:
                n = min(self.conn.local_flow_control_window(s), self.conn.max_outbound_frame_size,
                        len(body))
                if n <= 0:  # a smaller initial window may have made it negative
                    break
                self.conn.send_data(s, body[:n])
                body = body[n:]
            self.left[s] = body
            if not body:
                self.conn.end_stream(s)
                del self.left[s]
        self.flush()

    def take(self, e):
        if isinstance(e, h2.events.ResponseReceived):
            self.status[e.stream_id] = dict(e.headers)[":status"]
        elif isinstance(e, h2.events.DataReceived):
            self.bodies[e.stream_id] += e.data
            self.conn.acknowledge_received_data(e.flow_controlled_length, e.stream_id)
        elif isinstance(e, h2.events.StreamEnded):
            self.ended.add(e.stream_id)
        elif isinstance(e, h2.events.PingAckReceived):
            self.pongs += 1

    def run(self, streams):
        """Until all of <streams> have their answers. False: the connection ended before."""
        while not self.ended.issuperset(streams):
            self.upload()
            raw = self.sock.recv(65536)
            if not raw:
                return False
            for e in self.conn.receive_data(raw):
                self.take(e)
        return True


def check_hyper(tap, port):
    c = Hyper(port)
    gets = [c.ask("GET", "/300000") for _ in range(20)]
    posts = [c.ask("POST", "/0", LARGE[:200000]) for _ in range(5)]
    c.conn.ping(b"12345678")
    tap.ok(c.run(gets + posts), "h2 of Python: 25 streams at once end")
    tap.ok(all(c.status[s] == "200" for s in gets + posts), "h2 of Python: and succeed", c.status)
    tap.ok(all(c.bodies[s] == LARGE[:300000] for s in gets), "h2 of Python: the downloads")
    want = hashlib.sha256(LARGE[:200000]).hexdigest().encode()
    tap.ok(all(c.bodies[s] == want for s in posts), "h2 of Python: the uploads")
    tap.eq(c.pongs, 1, "h2 of Python: PING")
    c.sock.close()


def use_system_python():
    """Goes on with the Python that has grpc, when this one has not."""
    if grpc or not os.path.exists(SYSTEM_PYTHON) or os.environ.get("H2_CLIENTS_AGAIN"):
        return
    if run([SYSTEM_PYTHON, "-c", "import grpc"]).returncode == 0:
        os.environ["H2_CLIENTS_AGAIN"] = "1"
        os.execv(SYSTEM_PYTHON, [SYSTEM_PYTHON] + sys.argv)


def main():
    use_system_python()
    args = lib.arguments(__doc__)
    tap = lib.Tap()
    rpc, mid, at, web = lib.ports(4)
    server = lib.Server(pages)
    cancelled = threading.Event()
    conf = CONF.format(rpc=rpc, mid=mid, service=at, web=web, pages=server.port)
    with lib.Proxy(args.program, conf) as proxy, tempfile.TemporaryDirectory() as folder:
        if grpc:
            peer = service(cancelled)
            peer.add_insecure_port("127.0.0.1:%d" % at)
            peer.start()
            check_grpc(tap, rpc, cancelled)
            peer.stop(None)
        else:
            tap.apart("servers", "gRPC")
        if has(tap, "curl", "HTTP2"):
            check_curl(tap, web, folder)
        if has(tap, "nghttp"):
            check_nghttp(tap, web, folder)
        if HYPER:
            check_hyper(tap, web)
        else:
            tap.skip("h2 of Python", "the module is not installed")
        tap.ok(proxy.alive(), "the proxy is alive", proxy.output())
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
