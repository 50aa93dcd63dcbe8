#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The language server: completion and hover at the places of tables/language_server.py, definition, references, rename,
symbols, formatting, diagnostics while a file is typed, positions with characters of more than a byte, messages that are
none; pygls' client where it is installed (scripts/install-deps test). --lines 5000 prints how long changes take. An extension."""
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import lib
from tables import language_server as table

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


class Client:
    """A client that speaks the protocol by itself."""

    def __init__(self, args, encodings=("utf-16",)):
        self.process = subprocess.Popen([args.program, "--language-server"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.number, self.published = 0, {}
        self.capabilities = self.ask("initialize", {"processId": None, "rootUri": None, "capabilities": {
            "general": {"positionEncodings": list(encodings)}}})["capabilities"]
        self.tell("initialized", {})

    def send(self, body):
        data = json.dumps(body).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(data), data))
        self.process.stdin.flush()

    def receive(self):
        length = 0
        while True:
            line = self.process.stdout.readline()
            if not line:
                raise EOFError("the server has ended")
            if line == b"\r\n":
                break
            length = int(line.split(b":")[1])
        message = json.loads(self.process.stdout.read(length))
        if message.get("method") == "textDocument/publishDiagnostics":
            self.published.setdefault(message["params"]["uri"], []).append(message["params"]["diagnostics"])
        return message

    def tell(self, method, params):
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def ask(self, method, params):
        self.number += 1
        self.send({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        while True:
            message = self.receive()
            if message.get("id") == self.number:
                return message["result"] if "result" in message else message

    def open(self, uri, text):
        self.tell("textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": "haproxy", "version": 1, "text": text}})

    def change(self, uri, *changes):
        self.tell("textDocument/didChange", {"textDocument": {"uri": uri, "version": 2}, "contentChanges": list(changes)})

    def diagnostics(self, uri):
        """The next ones."""
        seen = len(self.published.get(uri, []))
        while len(self.published.get(uri, [])) == seen:
            self.receive()
        return self.published[uri][-1]

    def at(self, method, uri, line, character, **more):
        return self.ask("textDocument/" + method, {"textDocument": {"uri": uri}, "position": {
            "line": line, "character": character}, **more})

    def end(self):
        self.ask("shutdown", None)
        self.tell("exit", None)
        self.process.stdin.close()
        status = self.process.wait(lib.PATIENCE)
        self.process.stdout.close()
        return status


def place(base, line):
    """(text, line, character): the cursor at "|", or at the end of the line."""
    at = line.find("|")
    return base + line.replace("|", "", 1) + "\n", base.count("\n"), at if at >= 0 else len(line)


def completion(tap, args):
    client, wrong, count = Client(args), [], 0
    backend = table.BASE[:table.BASE.index("frontend web")]
    rows = [(table.BASE, r) for r in table.COMPLETION] + [(backend, r) for r in table.COMPLETION_BACKEND]
    for base, (line, wanted, unwanted) in rows:
        text, row, column = place(base, line)
        client.open("file:///x.cfg", text)
        items = client.at("completion", "file:///x.cfg", row, column)
        labels = [x["label"] for x in items]
        count += 1
        if (wanted and wanted not in labels) or unwanted in labels:
            wrong.append("%r: %s" % (line, labels[:12]))
        for item in items:
            span = item["textEdit"]["range"]
            if span["end"] != {"line": row, "character": column} or span["start"]["character"] > column:
                wrong.append("%r: range %s" % (line, span))
                break
    tap.ok(count >= 40 and not wrong, "completion at %d places" % count, "\n".join(wrong))
    text = table.BASE
    client.open("file:///x.cfg", text)
    labels = [x["label"] for x in client.at("completion", "file:///x.cfg", text.count("\n"), 0)]
    tap.ok("backend" in labels and "bind" in labels, "behind the last line", labels[:5])
    tap.eq(client.end(), 0, "shutdown, then exit: status 0")


def hover(tap, args):
    client, wrong = Client(args), []
    for line, wanted in table.HOVER:
        text, row, column = place(table.BASE, line)
        client.open("file:///x.cfg", text)
        got = client.at("hover", "file:///x.cfg", row, column)
        if not got or wanted not in got["contents"]["value"]:
            wrong.append("%r: %s" % (line, got))
    tap.ok(not wrong, "hover at %d places" % len(table.HOVER), "\n".join(wrong))
    tap.eq(client.at("hover", "file:///x.cfg", 2, 0), None, "hover on an empty line")
    client.end()


NAMES = """defaults
    mode http
    timeout client 1s
    timeout server 1s
    timeout connect 1s
    timeout http-request 1s
frontend web-app
    bind 127.0.0.1:8080
    acl api path_beg /api
    acl other path /api
    http-request deny if !api other or { nbsrv(app) lt 1 }
    http-request deny if { acl(api,other) }
    use_backend app if api { hdr(x) -m str app }
    default_backend app   # app and api
backend app
    server api 127.0.0.1:81 track next/api
    use-server api if { path /app }
backend next
    server api 127.0.0.1:81 check
"""


def apply(text, edits):
    lines = text.split("\n")
    for e in sorted(edits, key=lambda e: (e["range"]["start"]["line"], e["range"]["start"]["character"]), reverse=True):
        a, b = e["range"]["start"], e["range"]["end"]
        line = lines[a["line"]]
        lines[a["line"]] = line[:a["character"]] + e["newText"] + line[b["character"]:]
    return "\n".join(lines)


def names(tap, args):
    client, uri = Client(args), "file:///x.cfg"
    client.open(uri, NAMES)
    lines = NAMES.split("\n")

    def cursor(line, word):
        return next(i for i, x in enumerate(lines) if x.startswith("    " + line) or x == line), \
            next(x.index(word, len(line) - len(word)) for x in lines if x.startswith("    " + line) or x == line)

    def renamed(line, word):
        got = client.at("rename", uri, *cursor(line, word), newName="fresh")
        new = apply(NAMES, got["changes"][uri])
        return [i + 1 for i, (a, b) in enumerate(zip(lines, new.split("\n"))) if a != b], new

    got = client.at("definition", uri, *cursor("use_backend app", "app"))
    tap.eq([x["range"]["start"]["line"] + 1 for x in got], [15], "definition of a backend")
    got = client.at("definition", uri, *cursor("http-request deny if !api", "api"))
    tap.eq([x["range"]["start"] for x in got], [{"line": 8, "character": 8}], "definition of an ACL")
    got = client.at("references", uri, *cursor("acl api", "api"), context={"includeDeclaration": True})
    tap.eq([x["range"]["start"]["line"] + 1 for x in got], [9, 11, 12, 13], "references of an ACL")
    rows, new = renamed("acl api", "api")
    tap.eq(rows, [9, 11, 12, 13], "rename of an ACL")
    tap.ok("path_beg /api" in new and "# app and api" in new and "server api" in new, "and of nothing else", new)
    rows, new = renamed("backend app", "app")
    tap.eq(rows, [11, 13, 14, 15], "rename of a backend")
    tap.ok("frontend web-app" in new and "str app }" in new and "# app and api" in new and "/app" in new, "and of nothing else", new)
    rows, _ = renamed("use-server api", "api")
    tap.eq(rows, [16, 17], "rename of a server")
    folder = tempfile.mkdtemp(prefix="hapt.")
    with open(folder + "/x.cfg", "w") as f:
        f.write(new)
    p = subprocess.run([args.program, "-c", "-f", folder + "/x.cfg"], stderr=subprocess.PIPE)
    shutil.rmtree(folder)
    tap.eq((p.returncode, p.stderr), (0, b""), "the renamed file is accepted")
    got = client.at("rename", uri, *cursor("acl api", "api"), newName="two words")
    tap.ok("error" in got, "a name with a blank is refused", got)
    got = client.at("rename", uri, 0, 0, newName="x")
    tap.ok("error" in got, "a keyword is not renamed", got)
    got = client.ask("textDocument/documentSymbol", {"textDocument": {"uri": uri}})
    tap.eq([(x["detail"], x["name"], x["range"]["end"]["line"] + 1) for x in got],
           [("defaults", "defaults", 6), ("frontend", "web-app", 14), ("backend", "app", 17), ("backend", "next", 19)], "symbols")
    text = table.BASE + "    use_backends api:90 pages:10 by src if is_api\n    use-ruleset fence /api\n    use-routes\n" \
        "backend more\n    route from web\n"
    rows = text.split("\n")
    client.open(uri, text)
    for line, word, starts in (("use_backends api:90 pages:10 by src if is_api", "pages", ("backend pages", "use_backends")),
                               ("use-ruleset fence /api", "fence", ("ruleset fence", "use-ruleset")),
                               ("route from web", "web", ("frontend web", "route from"))):
        row = next(i for i, x in enumerate(rows) if x.strip() == line)
        got = client.at("rename", uri, row, rows[row].index(word) + 1, newName="fresh")
        new = apply(text, got["changes"][uri]).split("\n")
        tap.eq([b for a, b in zip(rows, new) if a != b],
               [x.replace(word, "fresh", 1) for x in rows if x.strip().startswith(starts)], "rename by %r" % line)
    client.end()


def formatting(tap, args):
    client, uri = Client(args), "file:///x.cfg"
    client.open(uri, "global\n\tdaemon\n")
    got = client.ask("textDocument/formatting", {"textDocument": {"uri": uri}, "options": {"tabSize": 4, "insertSpaces": True}})
    tap.eq([x["newText"] for x in got], ["global\n    daemon\n"], "formatting")
    client.open(uri, got[0]["newText"])
    got = client.ask("textDocument/formatting", {"textDocument": {"uri": uri}, "options": {"tabSize": 4, "insertSpaces": True}})
    tap.eq(got, [], "nothing to change")
    client.end()


def typing(tap, args):
    """Changes as an editor sends them: what is told in the end is what is told of the whole text."""
    for encodings in (("utf-16",), ("utf-8", "utf-16")):
        client, uri = Client(args, encodings), "file:///typed.cfg"
        is_utf8 = client.capabilities["positionEncoding"] == "utf-8"
        tap.eq(is_utf8, encodings[0] == "utf-8", "encoding %s" % encodings[0])

        def characters(text):
            return len(text.encode()) if is_utf8 else len(text.encode("utf-16-le")) // 2

        client.open(uri, "")
        client.diagnostics(uri)
        text = "# \u00e9\u20ac\U0001f600 caf\u00e9\n" + NAMES.replace("server api", "serveur api", 1).replace("app and", "\U0001f600 and")
        rng, done = random.Random(args.seed), ""
        while done != text:  # some characters are typed, now and then some are taken back
            head, _, last = done.rpartition("\n")
            row = done.count("\n")
            if done and rng.random() < .2:
                keep = last[:max(0, len(last) - 2)]
                client.change(uri, {"range": {"start": {"line": row, "character": characters(keep)}, "end": {
                    "line": row, "character": characters(last)}}, "text": ""})
                done = (head + "\n" if row else "") + keep
                continue
            more = text[len(done):len(done) + rng.randrange(1, 40)]
            here = {"line": row, "character": characters(last)}
            client.change(uri, {"range": {"start": here, "end": here}, "text": more})
            done += more
        got = client.ask("textDocument/hover", {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 0}})
        client.open("file:///other.cfg", text)
        want = [dict(x, message=x["message"].replace("/other.cfg", "/typed.cfg")) for x in client.diagnostics("file:///other.cfg")]
        while client.published[uri][-1] != want and len(client.published[uri]) < 200:
            client.receive()  # of a state before, perhaps: each is answered at last
        tap.eq(got, None, "no hover on a comment")
        tap.eq(client.published[uri][-1], want, "%s: typed text and whole text have the same faults" % encodings[0])
        faults = [(x["code"], x["range"]["start"]["line"], x["severity"]) for x in want]
        tap.ok(("parser-error", 16, 1) in faults, "the misspelt keyword is told of", faults)
        client.change(uri, {"text": NAMES})
        fixed = client.diagnostics(uri)
        tap.ok(not [x for x in fixed if x["severity"] == 1], "and is gone when it is mended", fixed)
        tap.eq(client.end(), 0, "ends well")


def included(tap, args):
    """What files of .include hold counts; their errors are told at the line that leads there."""
    folder = tempfile.mkdtemp(prefix="hapt.")
    text = NAMES.replace("backend app\n", ".include \"more/*.cfg\"\nbackend app\n", 1) + "backend old\n    server s 127.0.0.1:82\n"
    os.mkdir(folder + "/more")
    uri = "file://%s/x.cfg" % folder

    def told(more):
        with open(folder + "/more/a.cfg", "w") as f:
            f.write(".include \"../b.cfg\" optional\n")
        with open(folder + "/b.cfg", "w") as f:
            f.write(more)
        client.open(uri, text)
        return [(d["range"]["start"]["line"] + 1, d["code"], d["message"].split("\n")[0]) for d in client.diagnostics(uri)]

    client = Client(args)
    old = text.split("\n").index("backend old") + 1
    tap.ok((old, "unused-backend", "nothing uses backend 'old'") in told("# nothing\n"), "a backend that nothing uses")
    tap.eq([d for d in told("frontend other\n    bind 127.0.0.1:8081\n    default_backend old\n    acl never path /\n") if d[0] in (15, old)], [],
           "an included file uses it; warnings about that file are its own")
    tap.eq([d for d in told("frontend other\n    bind 127.0.0.1:8081\n    nonsense\n    default_backend old\n") if d[0] in (15, 1)],
           [(15, "parser-error", "%s/more/../b.cfg:3: unknown keyword 'nonsense' in 'frontend' section" % folder)],
           "an error of a file that is included by one that is included")
    client.end()
    shutil.rmtree(folder)


def family(tap, args):
    """Names of files that are read together: asked for in either, and renamed in all; an open document stands for its file."""
    folder = tempfile.mkdtemp(prefix="hapt.")
    files = {
        "main.cfg": "defaults\n    mode http\n.include \"parts/web.cfg\"\nbackend app\n.include \"common rules.cfg\"\n"
                    "    http-request deny if inner\nbackend other\n.include \"common rules.cfg\"\n    server s 127.0.0.1:1\n",
        "parts/web.cfg": "frontend web\n    bind 127.0.0.1:8080\n    acl inner path /never\n    use_backend app if inner\n    default_backend other\n",
        "common rules.cfg": "acl inner path /x\nhttp-request set-header x-y z if inner\nhttp-request set-\n",
    }
    os.mkdir(folder + "/parts")
    for name, text in files.items():
        with open(folder + "/" + name, "w") as f:
            f.write(text)
    client = Client(args)
    uris = {name: "file://%s/%s" % (folder, name.replace(" ", "%20")) for name in files}

    def at(name, line, word):
        row = next(i for i, x in enumerate(files[name].split("\n")) if line in x)
        return uris[name], row, files[name].split("\n")[row].index(word)

    def renamed(where):
        got = client.at("rename", *where, newName="fresh").get("changes", {})
        new = {name: apply(text, got.get(uris[name], [])) for name, text in files.items()}
        return {name: [i + 1 for i, (a, b) in enumerate(zip(files[name].split("\n"), text.split("\n"))) if a != b] for name, text in new.items()
                if text != files[name]}, set(got) <= set(uris.values())

    client.open(uris["main.cfg"], files["main.cfg"])
    tap.eq(renamed(at("main.cfg", "backend app", "app")), ({"main.cfg": [4], "parts/web.cfg": [4]}, True), "a backend is renamed in both files")
    got = client.at("definition", *at("main.cfg", "deny if inner", "inner"))
    tap.eq([(x["uri"], x["range"]["start"]) for x in got], [(uris["common rules.cfg"], {"line": 0, "character": 4})],
           "an ACL is found in the file that makes it")
    for name in "parts/web.cfg", "common rules.cfg":
        client.open(uris[name], files[name])
    labels = [x["label"] for x in client.at("completion", uris["parts/web.cfg"], 4, len("    default_backend "))]
    tap.eq(labels, ["app", "other"], "backends of the file that includes it are offered")
    labels = [x["label"] for x in client.at("completion", uris["common rules.cfg"], 2, len("http-request set-"))]
    tap.ok("set-header" in labels, "a file without a section is of the one that includes it", labels[:3])
    tap.eq(renamed(at("parts/web.cfg", "default_backend other", "other")), ({"main.cfg": [7], "parts/web.cfg": [5]}, True),
           "asked for in a file that is included")
    tap.eq(renamed(at("common rules.cfg", "acl inner", "inner")), ({"main.cfg": [6], "common rules.cfg": [1, 2]}, True),
           "an ACL of two backends, not that of a frontend")
    files["parts/web.cfg"] = "# not saved\n" + files["parts/web.cfg"]
    client.open(uris["parts/web.cfg"], files["parts/web.cfg"])
    tap.eq(renamed(at("main.cfg", "backend app", "app")), ({"main.cfg": [4], "parts/web.cfg": [5]}, True), "lines are those of the open document")
    tap.eq(client.end(), 0, "ends well")
    shutil.rmtree(folder)


def broken(tap, args):
    client = Client(args)
    got = client.ask("textDocument/nosuch", {})
    tap.eq(got["error"]["code"], -32601, "an unknown method")
    got = client.at("hover", "file:///nosuch.cfg", 0, 0)
    tap.eq(got, None, "a document that is not open")
    client.open("file:///x.cfg", "\x01'\n\u00ff\n" * 50)
    for row in range(52):
        client.at("completion", "file:///x.cfg", row, 99)
        client.at("hover", "file:///x.cfg", row, 1)
    tap.eq(client.end(), 0, "lines that are none")
    for text in (b"hello\r\n\r\n", b"Content-Length: 5\r\n\r\n12345", b"Content-Length: 99999999999\r\n\r\n", b"x" * 9000):
        p = subprocess.run([args.program, "--language-server"], input=text, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, timeout=lib.PATIENCE)
        tap.eq(p.returncode, 1, "ends without a crash: %r" % text[:30])


def cpu_ms(pid):
    """CPU time of a process and of its children that have ended."""
    with open("/proc/%d/stat" % pid) as f:
        return sum(map(int, f.read().rpartition(")")[2].split()[11:15])) * 1000 / os.sysconf("SC_CLK_TCK")


def large(tap, args):
    """A long file; the times are printed only."""
    rows = args.lines // 6
    text = table.BASE[:table.BASE.index("frontend web")] + "frontend web\n    bind 127.0.0.1:8080\n"
    for n in range(rows):
        text += "    acl a%d path_beg /x%d\n    http-request set-header x-%d %%[src] if a%d\n" % (n, n, n, n)
        text += "    use_backend b%d if a%d { req.hdr(x) -m found }\n" % (n, n)
    for n in range(rows):
        text += "backend b%d\n    balance roundrobin\n    server s 127.0.0.1:%d\n" % (n, 1 + n % 60000)
    client, uri = Client(args), "file:///large.cfg"
    client.open(uri, text)
    client.diagnostics(uri)
    row, times = text[:text.index("use_backend b5 ")].count("\n"), []
    for method, more in (("completion", {}), ("hover", {}), ("definition", {}), ("rename", {"newName": "z"})):
        start = time.monotonic()
        got = client.at(method, uri, row, 17, **more)
        times.append("%s %.1f ms" % (method, 1000 * (time.monotonic() - start)))
        tap.ok("error" not in (got or ()), "%s in %d lines" % (method, text.count("\n")), got)
    start = time.monotonic()
    client.change(uri, {"range": {"start": {"line": row, "character": 0}, "end": {"line": row, "character": 0}}, "text": " "})
    client.at("hover", uri, row, 8)
    times.append("a change %.1f ms" % (1000 * (time.monotonic() - start)))
    start = time.monotonic()
    client.change(uri, {"range": {"start": {"line": row, "character": 0}, "end": {"line": row, "character": 0}}, "text": " "})
    client.diagnostics(uri)
    times.append("a change and what is wrong %.1f ms" % (1000 * (time.monotonic() - start)))
    if args.lines >= 5000:
        before = cpu_ms(client.process.pid)
        for _ in range(20):
            client.change(uri, {"range": {"start": {"line": row, "character": 0}, "end": {"line": row, "character": 0}}, "text": " "})
            client.diagnostics(uri)
        times.append("%.1f ms of CPU time" % ((cpu_ms(client.process.pid) - before) / 20))
    print("# %d lines: %s" % (text.count("\n"), ", ".join(times)))
    client.end()


PYGLS = r'''
import asyncio, json, sys
from lsprotocol import types as t
from pygls.lsp.client import BaseLanguageClient

async def main(program, text):
    client, seen, told = BaseLanguageClient("test", "1"), [], asyncio.Event()

    @client.feature(t.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    def published(params):
        seen.append([d.code for d in params.diagnostics])
        told.set()

    await client.start_io(program, "--language-server")
    await client.initialize_async(t.InitializeParams(capabilities=t.ClientCapabilities(), process_id=None, root_uri=None))
    client.initialized(t.InitializedParams())
    uri = "file:///x.cfg"
    client.text_document_did_open(t.DidOpenTextDocumentParams(
        text_document=t.TextDocumentItem(uri=uri, language_id="haproxy", version=1, text=text)))
    await asyncio.wait_for(told.wait(), 30)
    here, at = t.TextDocumentIdentifier(uri=uri), lambda l, c: t.Position(line=l, character=c)
    items = await client.text_document_completion_async(t.CompletionParams(text_document=here, position=at(13, 20)))
    hover = await client.text_document_hover_async(t.HoverParams(text_document=here, position=at(7, 5)))
    places = await client.text_document_definition_async(t.DefinitionParams(text_document=here, position=at(12, 17)))
    edit = await client.text_document_rename_async(t.RenameParams(text_document=here, position=at(8, 8), new_name="z"))
    symbols = await client.text_document_document_symbol_async(t.DocumentSymbolParams(text_document=here))
    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()
    print(json.dumps([[i.label for i in items], hover.contents.value, [p.range.start.line for p in places],
                      len(edit.changes[uri]), [s.name for s in symbols], seen]))

asyncio.run(main(sys.argv[1], sys.stdin.read()))
'''


def real_client(tap, args):
    for python in (sys.executable, TOP + "/build/tools/python/bin/python3", os.environ.get("PYGLS_PYTHON", "")):
        if os.path.exists(python) and not subprocess.run([python, "-c", "import pygls.lsp.client"],
                                                         stderr=subprocess.DEVNULL).returncode:
            break
    else:
        tap.skip("pygls", "not installed")
        return
    p = subprocess.run([python, "-c", PYGLS, args.program], input=NAMES.encode(), stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, timeout=lib.PATIENCE * 6)
    if not tap.eq(p.returncode, 0, "pygls' client: a session"):
        print("# " + p.stderr.decode()[-2000:].replace("\n", "\n# "))
        return
    items, said, places, edits, symbols, seen = json.loads(p.stdout.decode().strip().split("\n")[-1])
    tap.ok("app" in items and "next" in items, "pygls: completion", items)
    tap.ok("bind" in said, "pygls: hover", said)
    tap.eq((places, edits, symbols), ([14], 4, ["defaults", "web-app", "app", "next"]), "pygls: definition, rename, symbols")
    tap.ok(seen, "pygls: diagnostics", seen)


def main():
    args = lib.arguments(__doc__, ("seed", 3, "of what is typed"), ("lines", 600, "of the long file"))
    tap = lib.Tap()
    if lib.is_reference(args.program):
        tap.skip("--language-server", "an extension")
        tap.done()
    tap.run((completion, hover, names, formatting, typing, included, family, broken, large, real_client), args)
    tap.done()


lib.guarded(main)
