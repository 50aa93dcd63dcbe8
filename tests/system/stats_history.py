#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The last hour and day of statistics pages (an extension): what `show history` tells adds up to the counters, a reload
keeps it, a removed server takes its own with it, and `stats history` bounds or forbids it."""
import re
import urllib.request
import xml.etree.ElementTree

import lib

CONF = """
global
    reload-mode in-process
    {word}
defaults
    mode http
    timeout connect 1s
    timeout client 5s
    timeout server 5s
frontend web
    bind 127.0.0.1:{port}
    http-request return status 500 if {{ path /wrong }}
    default_backend app
backend app
    retries 0
    default-server pool-max-conn 0
    server good 127.0.0.1:{origin}
    server gone 127.0.0.1:1 weight 0
    use-server gone if {{ path /gone }}
{page}
frontend origin
    bind 127.0.0.1:{origin}
    http-request return status 200
"""
PAGE = """listen page
    bind 127.0.0.1:{page_port}
    stats uri /s
    {line}
"""


def conf(word="", line="", page=True):
    numbers = lib.ports(3)
    text = PAGE.format(page_port=numbers[2], line=line) if page else ""
    return CONF.format(word=word, port=numbers[0], origin=numbers[1], page=text), numbers[0], numbers[2]


def request(port, path, count):
    with lib.connect(port) as s:
        reader = lib.Reader(s)
        for _ in range(count):
            s.sendall(b"GET %s HTTP/1.1\r\nHost: x\r\n\r\n" % path)
            reader.response()


def totals(proxy):
    return dict(line.split(": ") for line in proxy.ctl("show history").splitlines() if line)


def points(proxy, words):
    """Rows of figures: done, errors, open."""
    lines = proxy.ctl("show history " + words).splitlines()
    return [[int(n) for n in line.split(",")[1:]] for line in lines[1:] if line]


def sums(proxy, words):
    return tuple(sum(p[i] for p in points(proxy, words)) for i in (0, 1))


EXPECTED = {"web FRONTEND": (70, 40), "app BACKEND": (50, 20), "app good": (30, 0), "app gone": (0, 20)}


def kept(tap, proxy, port, idle):
    request(port, b"/x", 30)
    request(port, b"/wrong", 10)
    request(port, b"/gone", 10)
    tap.ok("Success=1" in proxy.ctl("reload"), "a reload")
    request(port, b"/wrong", 10)
    request(port, b"/gone", 10)
    for words, want in EXPECTED.items():
        tap.ok(lib.until(lambda w=words, n=want: sums(proxy, w) == n), "steps of %s add up to its counters" % words,
               (sums(proxy, words), want))
    tap.ok("Success=1" in proxy.ctl("reload"), "another reload")
    tap.eq({words: sums(proxy, words) for words in EXPECTED}, EXPECTED, "it keeps what was")
    tap.eq([sums(proxy, w + " minutes")[0] <= n[0] for w, n in EXPECTED.items()], [True] * 4, "minutes are shown too")
    tap.eq(totals(idle)["objects"], "0", "what counts nothing has no ring")


def fetch(port, target):
    with urllib.request.urlopen("http://127.0.0.1:%d%s" % (port, target), timeout=lib.PATIENCE) as r:
        return r.read().decode()


def row(text, key):
    return re.search(r'<tr [^>]*data-k="%s">(.*)' % re.escape(key), text).group(1)


def pictured(tap, proxy, port):
    """What pages show; each SVG is XML, and has figures only."""
    tap.ok(lib.until(lambda: 'path class="bad"' in row(fetch(port, "/s"), "app/gone")), "a line of errors, two steps old")
    text = fetch(port, "/s")
    tap.ok('<svg class="spark"' in row(text, "web/FRONTEND"), "a line of requests")
    tap.ok("<svg" in row(text, "app/good") and 'path class="bad"' not in row(text, "app/good"), "and no errors where none were")
    tap.ok("errors a second</dt>" in text and "Lines: requests" in text, "the summary tells errors")
    one = fetch(port, "/s;px=app;sv=gone")
    tap.eq(one.count('<svg class="chart"'), 4, "a page of one server has charts of hour and day")
    tap.ok('errors <b class="bad">' in one, "which tell errors")
    tap.ok("<svg" not in fetch(port, "/s;csv") + fetch(port, "/s;json"), "CSV and JSON have none of it")
    for svg in re.findall(r"<svg.*?</svg>", text + one):
        paths = [e.get("d") for e in xml.etree.ElementTree.fromstring(svg)]
        good = all(re.fullmatch(r"M\d+ \d+(?:h\d+|l\d+(?: |-)\d+)*", d) for d in paths)
        inside = good and all(0 <= y <= 80 for d in paths for y in heights(d))
        if not inside:
            tap.ok(False, "an SVG", svg)
    tap.ok("Success=1" in proxy.ctl("reload"), "a third reload")
    tap.ok('path class="bad"' in row(fetch(port, "/s"), "app/gone"), "lines are still there")


def heights(path):
    y, out = 0, []
    for word in re.findall(r"M\d+ (\d+)|l\d+ ?(-?\d+)", path):
        y += int(word[0] or word[1])
        out.append(y)
    return out


def freed(tap, proxy):
    before = int(totals(proxy)["objects"])
    tap.eq(int(totals(proxy)["bytes"]), before * int(totals(proxy)["object_bytes"]), "memory is told")
    tap.ok(int(totals(proxy)["object_bytes"]) <= 13056, "13 kB for each object")
    proxy.ctl("set server app/good state maint")
    tap.ok("deleted" in proxy.ctl("del server app/good"), "a server is removed")
    tap.ok(lib.until(lambda: int(totals(proxy)["objects"]) == before - 1), "its ring is freed")
    tap.ok("No such" in proxy.ctl("show history app good"), "and it is not found")


def wrong_words(tap, proxy):
    for words in ("none FRONTEND", "web", "web BACKEND", "app none", "app BACKEND hours", "app BACKEND minutes x"):
        answer = proxy.ctl("show history " + words)
        tap.ok("No such" in answer or "Expects" in answer, "show history " + words, answer)


def main():
    args = lib.arguments(__doc__)
    tap = lib.Tap()
    kinds = {"on": {}, "idle": {}, "no page": {"page": False}, "page off": {"line": "stats history off"},
             "off": {"word": "stats history off"}, "bounded": {"word": "stats history 14000"}}
    texts = {kind: conf(**words) for kind, words in kinds.items()}
    proxies = {kind: lib.Proxy(args.program, text) for kind, (text, _, _) in texts.items()}
    try:
        for proxy in proxies.values():
            proxy.wait_ready()
        for kind in ("no page", "page off", "off", "bounded"):
            request(texts[kind][1], b"/x", 5)
        kept(tap, proxies["on"], texts["on"][1], proxies["idle"])
        for kind in ("no page", "page off", "off"):
            told = totals(proxies[kind])
            tap.eq((told["state"], told["objects"]), ("off", "0"), "%s: nothing is kept" % kind)
        tap.ok(lib.until(lambda: totals(proxies["bounded"])["objects"] == "1"), "as many as there is room for")
        wrong_words(tap, proxies["on"])
        pictured(tap, proxies["on"], texts["on"][2])
        tap.ok("<svg" not in fetch(texts["page off"][2], "/s"), "page off: no lines")
        freed(tap, proxies["on"])
        for kind, proxy in proxies.items():
            tap.ok(proxy.alive(), "%s: the program lives" % kind)
    finally:
        for proxy in proxies.values():
            proxy.stop()
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
