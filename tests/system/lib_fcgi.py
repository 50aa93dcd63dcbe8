# SPDX-License-Identifier: GPL-2.0-or-later
"""An application of FastCGI, good or bad, for tests.

App(answer)   listens; answer(request) gives the bytes that are sent once a request is there as a whole, or a list of
              bytes, and None for the end of the connection
"""
import struct

import lib

BEGIN, ABORT, END, PARAMS, STDIN, STDOUT, STDERR, DATA, GET_VALUES, GET_VALUES_RESULT, UNKNOWN = range(1, 12)


def record(kind, request, content=b"", padding=0):
    return struct.pack(">BBHHBB", 1, kind, request, len(content), padding, 0) + content + b"\0" * padding


def end(request, app=0, protocol=0):
    return record(END, request, struct.pack(">IB3x", app, protocol))


def whole(request, output, errors=b""):
    """All of an answer."""
    out = record(STDERR, request, errors) if errors else b""
    return out + record(STDOUT, request, output) + record(STDOUT, request) + end(request)


def length(data, at):
    if data[at] < 128:
        return data[at], at + 1
    return struct.unpack(">I", data[at:at + 4])[0] & 0x7fffffff, at + 4


def pairs(data):
    """The names and values of PARAMS and GET_VALUES."""
    out, at = [], 0
    while at < len(data):
        name, at = length(data, at)
        value, at = length(data, at)
        out.append((data[at:at + name].decode("latin1"), data[at + name:at + name + value].decode("latin1")))
        at += name + value
    return out


class Request:
    def __init__(self, number, content):
        self.number = number
        self.role, flags = struct.unpack(">HB", content[:3])
        self.keep = bool(flags & 1)
        self.params, self.body, self.aborted, self.sock = b"", b"", False, None

    def pairs(self):
        return pairs(self.params)


class App:
    def __init__(self, answer, values=None):
        """values: the content of what GET_VALUES is answered with; None: it is not; UNKNOWN: the application does not know it."""
        self.answer, self.values = answer, values
        self.requests, self.asked, self.connections, self.kinds = [], [], 0, []
        self.on_begin = None # what is sent when the parameters are there
        self.server = lib.Server(self.serve)
        self.port = self.server.port

    def send(self, sock, out):
        for part in out if isinstance(out, list) else [out]:
            if part is None:
                raise EOFError
            sock.sendall(part)

    def answer_all(self, answer):
        """Answers what has come so far, the last first."""
        for request in reversed(self.requests):
            request.sock.sendall(answer(request))

    def one(self, sock, open_requests):
        version, kind, number, size, padding, _ = struct.unpack(">BBHHBB", lib.recv_exactly(sock, 8))
        content = lib.recv_exactly(sock, size)
        lib.recv_exactly(sock, padding)
        self.kinds.append((version, kind))
        if kind == GET_VALUES:
            self.asked.append(pairs(content))
            if self.values == UNKNOWN:
                sock.sendall(record(UNKNOWN, 0, bytes([kind, 0, 0, 0, 0, 0, 0, 0])))
            elif self.values is not None:
                sock.sendall(record(GET_VALUES_RESULT, 0, self.values))
        elif kind == BEGIN:
            open_requests[number] = Request(number, content)
        elif kind == ABORT:
            request = open_requests.pop(number, None)
            if request: # (else it has been answered)
                request.aborted = True
                self.requests.append(request)
        elif kind == PARAMS:
            open_requests[number].params += content
            if not content and self.on_begin:
                self.send(sock, self.on_begin(open_requests[number]))
        elif kind == STDIN and content:
            open_requests[number].body += content
        elif kind == STDIN:
            request = open_requests.pop(number)
            request.sock = sock
            self.requests.append(request)
            self.send(sock, self.answer(request))
            if not request.keep:
                raise EOFError

    def serve(self, sock):
        self.connections += 1
        open_requests = {}
        try:
            while True:
                self.one(sock, open_requests)
        except (EOFError, OSError):
            pass

    def close(self):
        self.server.close()
