#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The statistics page in a real browser, headless Chromium driven by its WebDriver: search, filter, sort, history,
reading on, themes, an action, the page of one server, and axe-core finds no barrier; screenshots of three widths, both themes, 3
and 500 servers go to --shots. And what `compression` makes, by each algorithm, is read. Needs chromium
and chromedriver (scripts/install-deps page): make check-page."""
import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "system"))
import compression  # noqa: E402
import lib  # noqa: E402

CONF = """
defaults
    mode http
    timeout connect 1s
    timeout client 5s
    timeout server 5s
frontend page
    bind 127.0.0.1:{port}
    stats uri /s
    stats show-legends
    stats admin if TRUE
    default_backend {name}
backend few
    balance roundrobin
    server alpha 127.0.0.1:{origin} cookie a
    server beta 127.0.0.1:{origin} weight 7
    server gamma 127.0.0.1:1 check inter 100 fall 1
backend many
{servers}
"""


class Browser:
    """A session of chromedriver; script() runs in the page."""

    def __init__(self):
        port = lib.ports(1)[0]
        self.dir = tempfile.mkdtemp(prefix="page-")
        self.driver = subprocess.Popen(["chromedriver", "--port=%d" % port, "--log-level=OFF"],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.base = "http://127.0.0.1:%d" % port
        lib.until(self.is_ready)
        options = {"args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                            "--user-data-dir=" + self.dir]}
        caps = {"browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        self.base += "/session/" + self.call("/session", {"capabilities": {"alwaysMatch": caps}})["sessionId"]

    def is_ready(self):
        try:
            return self.call("/status")["ready"]
        except OSError:
            return False

    def call(self, path, data=None):
        body = None if data is None else json.dumps(data).encode()
        request = urllib.request.Request(self.base + path, data=body, headers={"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as r:
            return json.load(r)["value"]

    def go(self, url):
        self.call("/url", {"url": url})

    def script(self, text, *args):
        return self.call("/execute/sync", {"script": text, "args": list(args)})

    def cdp(self, command, **params):
        return self.call("/goog/cdp/execute", {"cmd": command, "params": params})

    def shot(self, path):
        with open(path, "wb") as f:
            f.write(base64.b64decode(self.call("/screenshot")))

    def resize(self, width, height):
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def errors(self):
        return [e["message"] for e in self.call("/se/log", {"type": "browser"}) if e["level"] == "SEVERE"]

    def close(self):
        try:
            urllib.request.urlopen(urllib.request.Request(self.base, method="DELETE"), timeout=20).close()
        finally:
            self.driver.terminate()
            self.driver.wait()
            shutil.rmtree(self.dir, ignore_errors=True)


SHOWN = "return [...document.querySelectorAll('tbody tr')].filter(r => r.offsetParent).map(r => r.dataset.k)"
IN_DOM = "return document.querySelectorAll('tbody tr').length"
SCROLL = """const row = k => document.querySelector(`tr[data-k="${k}"]`);
for (const e of document.querySelectorAll('.scroll > *')) e.scrollIntoView();
return !!row(arguments[0]) && row(arguments[0]).offsetHeight > 0;"""
KEYS = "document.dispatchEvent(new KeyboardEvent('keydown', { key: 'f', ctrlKey: true }))"
PAINTED = "const over = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(over, 50)))"
PARTS = "return [...document.querySelectorAll('tbody')].map(b => b.rows.length)"
PAGES = 50
WIDTHS = (1400, 800, 420)
AXE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../build/tools/page/node_modules/axe-core/axe.min.js")
FIND_BARRIERS = """const over = arguments[0];
axe.run().then(r => over(r.violations.map(v => v.id + ": " + v.nodes[0].html.slice(0, 200))), e => over([String(e)]));"""
FOCUS_WAY = """const a = document.querySelector('tr[data-k="few/alpha"] th a');
a.focus(); return document.activeElement === a;"""
PINNED = """const box = [...document.querySelectorAll('.scroll')].pop(), name = box.querySelector('tbody th');
box.scrollLeft = 300;
return [box.scrollLeft, Math.round(name.getBoundingClientRect().left - box.getBoundingClientRect().left)];"""
SEARCH = """const i = document.querySelector('#tools input'); i.value = arguments[0]; i.oninput();
const s = document.querySelector('#tools select'); s.value = arguments[1]; s.onchange();"""
SORT = """const t = [...document.querySelectorAll('section')].find(s => s.textContent.includes(arguments[0]));
[...t.querySelectorAll('th.sort')].find(h => (h.dataset.f || 'name') === arguments[1]).click();
return [...t.querySelectorAll('tbody tr')].map(r => r.dataset.k);"""
CELL = """const t = document.querySelector(`tr[data-k="${arguments[0]}"]`);
const n = [...t.closest('table').tHead.rows[1].cells].findIndex(h => h.dataset.f === arguments[1]);
return t.cells[n + 1].textContent;"""


def tools(tap, b, url):
    b.go(url)
    rows = b.script(SHOWN)
    tap.eq(len(rows), 5, "all rows are shown")
    b.script(SEARCH, "alpha", "all")
    tap.eq(b.script(SHOWN), ["few/alpha"], "search by name")
    b.script(SEARCH, "no check", "all")
    tap.ok("few/beta" in b.script(SHOWN) and "few/gamma" not in b.script(SHOWN), "search by status")
    b.script(SEARCH, "", "down")
    tap.eq(b.script(SHOWN), ["few/gamma"], "filter by state")
    b.script(SEARCH, "nobody", "all")
    tap.eq(b.script(SHOWN), [], "nothing found")
    b.go(url)
    tap.eq(b.script(SHOWN), [], "the search is remembered")
    b.script(SEARCH, "", "all")
    tap.eq(b.script(SORT, "few", "weight"), ["few/beta", "few/alpha", "few/gamma", "few/BACKEND"], "sorted, largest first")
    tap.eq(b.script(SORT, "few", "weight")[-2:], ["few/beta", "few/BACKEND"], "and the other way round")
    tap.eq(b.script(SORT, "few", "name")[0], "few/gamma", "sorted by name")
    outside = b.script("return performance.getEntriesByType('resource').map(e => e.name)")
    tap.ok(all(u.startswith(url.split("/s")[0]) for u in outside), "nothing is fetched from elsewhere", outside)


def live(tap, b, url, port):
    b.go(url)
    before = int(b.script(CELL, "few/alpha", "stot"))
    b.script("[...document.querySelectorAll('#tools button')].find(x => x.textContent === 'live').click()")

    def request(path):
        s = lib.connect(port)
        s.sendall(b"GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n" % path)
        lib.recv_all(s)
        s.close()

    def grown():
        for _ in range(20):
            request(b"/x")
        return int(b.script(CELL, "few/alpha", "stot")) > before

    tap.ok(lib.until(grown, 30), "figures change without a reload")
    tap.ok(lib.until(lambda: request(b"/x") or b.script("return document.querySelectorAll('svg.spark').length") > 0, 30),
           "a history is drawn")
    b.script("[...document.querySelectorAll('#tools button')].find(x => x.textContent === 'live').click()")


def themes(tap, b, url):
    seen = set()
    for name in ("light", "dark"):
        b.go(url)
        b.script("localStorage.setItem('haproxy-theme', arguments[0])", name)
        b.go(url)
        seen.add(b.script("return getComputedStyle(document.body).backgroundColor"))
    tap.eq(len(seen), 2, "two themes: two backgrounds")
    b.script("localStorage.setItem('haproxy-theme', 'auto')")
    for name, want in (("dark", "rgb(20, 23, 26)"), ("light", "rgb(255, 255, 255)")):
        b.cdp("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])
        b.go(url)
        tap.eq(b.script("return getComputedStyle(document.body).backgroundColor"), want, "auto follows %s" % name)


def without_script(tap, b, url, ctl):
    b.cdp("Emulation.setScriptExecutionDisabled", value=True)
    b.go(url)
    box = b.call("/elements", {"using": "css selector", "value": "input[value=beta]"})
    tap.eq(len(box), 1, "without JavaScript: a box")
    b.call("/element/%s/click" % list(box[0].values())[0], {})
    option = b.call("/elements", {"using": "css selector", "value": "option[value=maint]"})
    b.call("/element/%s/click" % list(option[0].values())[0], {})
    button = b.call("/elements", {"using": "css selector", "value": "fieldset button"})
    b.call("/element/%s/click" % list(button[0].values())[0], {})
    tap.ok(lib.until(lambda: "MAINT" in ctl("show stat")), "an action is carried out")
    note = b.call("/elements", {"using": "css selector", "value": ".note"})
    tap.eq(len(note), 1, "and its result is told")
    b.cdp("Emulation.setScriptExecutionDisabled", value=False)


def one_object(tap, b, url, shots):
    """The way to the page of one server by keyboard, with charts; the reason of a DOWN; names stay in sight."""
    tap.ok(lib.until(lambda: b.go(url) or b.script("return !!document.querySelector('svg.spark path')"), 30), "a line by the server")
    tap.ok("refused" in b.script(CELL, "few/gamma", "check_status"), "a DOWN says why on its row")
    tap.ok(b.script(FOCUS_WAY), "a way that the keyboard finds")
    b.call("/actions", {"actions": [{"type": "key", "id": "k", "actions": [{"type": "keyDown", "value": "\ue007"},
                                                                           {"type": "keyUp", "value": "\ue007"}]}]})
    charts = "return document.querySelectorAll('svg.chart').length"
    tap.ok(lib.until(lambda: b.script(charts) == 4), "leads to charts")
    b.shot(os.path.join(shots, "page-alpha.png"))
    b.resize(420, 900)
    b.go(url)
    moved, left = b.script(PINNED)
    tap.ok(moved > 100 and left <= 1, "names stay when a table is moved sideways", (moved, left))
    b.resize(1400, 900)


def barriers(tap, b, url):
    if not os.path.exists(AXE):
        return tap.skip("no barriers", "axe-core is not installed: scripts/install-deps page, where there is npm")
    with open(AXE) as f:
        axe = f.read()
    for path in ("", ";all", ";px=few;sv=alpha", ";px=none;sv=none"):
        for theme in ("dark", "light"):
            b.go(url + path)
            b.script("localStorage.setItem('haproxy-theme', arguments[0])", theme)
            for width in WIDTHS:
                b.resize(width, 900)
                b.go(url + path)
                b.script(axe)
                tap.eq(b.call("/execute/async", {"script": FIND_BARRIERS, "args": []}), [],
                       "no barriers: page%s, %s, %d pixels" % (path, theme, width))
    b.resize(1400, 900)


def pictures(tap, b, url, many, shots):
    os.makedirs(shots, exist_ok=True)
    for width in WIDTHS:
        b.resize(width, 900)
        for theme in ("light", "dark"):
            b.go(url)
            b.script("localStorage.setItem('haproxy-theme', arguments[0])", theme)
            b.go(url)
            b.shot(os.path.join(shots, "page-%s-%d-%s.png" % ("500" if many else "3", width, theme)))
            wide = b.script("return document.documentElement.scrollWidth")
            tap.ok(wide <= width, "%d servers, %d pixels, %s: tables scroll, not the page" % (500 if many else 3, width,
                                                                                           theme), wide)


def cpu_seconds(pid):
    with open("/proc/%d/stat" % pid) as f:
        return sum(map(int, f.read().rsplit(")")[-1].split()[11:13])) / os.sysconf("SC_CLK_TCK")


def cost(b, url, ours):
    """Milliseconds of CPU that loading takes, to the second picture: in the page's process (the browser's own start is not
    in it; all, scripts, style, layout), and in the process <ours>, which makes the page."""
    b.cdp("Performance.enable", timeDomain="threadTicks")
    b.resize(1400, 900)
    best = (1e9,)
    for _ in range(5):
        b.go("about:blank")
        b.go(url)
        b.call("/execute/async", {"script": PAINTED, "args": []})
        m = {x["name"]: x["value"] * 1000 for x in b.cdp("Performance.getMetrics")["metrics"]}
        best = min(best, tuple(m[n + "Duration"] for n in ("Task", "Script", "RecalcStyle", "Layout")))
    before = cpu_seconds(ours)
    for _ in range(PAGES):
        urllib.request.urlopen(url, timeout=30).read()
    return best + ((cpu_seconds(ours) - before) * 1000 / PAGES,)


def many_rows(tap, b, url, rows):
    b.cdp("Emulation.setScriptExecutionDisabled", value=True)
    b.go(url)
    found = b.call("/elements", {"using": "css selector", "value": "tbody tr"})
    tap.eq(len(found), rows, "500 servers are there without JavaScript")
    b.cdp("Emulation.setScriptExecutionDisabled", value=False)
    b.resize(1400, 900)
    b.go(url)
    first = b.script(IN_DOM)
    tap.ok(30 <= first < rows, "with it those that one sees first", first)
    tap.ok(lib.until(lambda: b.script(SCROLL, "many/srv499")), "the others when one comes near")
    b.go(url)
    b.script(KEYS)
    tap.eq(b.script(IN_DOM), rows, "and all when the browser is to search them")
    b.go(url)
    b.script(SEARCH, "srv49", "all")
    tap.eq(len(b.script(SHOWN)), 10, "500 servers are searched")
    b.go(url)
    tap.eq(len(b.script(SHOWN)), 10, "which is remembered")
    b.script(SEARCH, "", "maint")
    tap.eq(len(b.script(SHOWN)), 56, "and filtered")
    b.script(SEARCH, "", "all")
    tap.eq(len(b.script(SHOWN)), rows, "all are shown again")
    b.go(url)
    order = b.script(SORT, "many", "name")
    names = ["many/srv%03d" % i for i in range(499, -1, -1)]
    tap.eq([k for k in order if "srv" in k], names, "and sorted")
    tap.eq((max(b.script(PARTS)), order[-1]), (15, "many/BACKEND"), "in parts as large as before")


def run(tap, args, browser, many):
    port = lib.ports(1)[0]
    origin = lib.Server(lambda s: s.recv(4096) and s.sendall(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"))
    servers = "\n".join("    server srv%03d 127.0.0.1:1%s" % (i, " disabled" if i % 9 == 0 else "") for i in
                        range(500 if many else 0))
    conf = CONF.format(port=port, origin=origin.port, name="few", servers=servers)
    if not many:
        conf = conf[:conf.index("backend many")]
    with lib.Proxy(args.program, conf) as proxy:
        lib.until(lambda: "DOWN" in proxy.ctl("show stat"))
        url = "http://127.0.0.1:%d/s" % port
        pictures(tap, browser, url, many, args.shots)
        if not many:
            rows = 5
            tools(tap, browser, url)
            live(tap, browser, url, port)
            themes(tap, browser, url)
            one_object(tap, browser, url, args.shots)
            barriers(tap, browser, url)
            without_script(tap, browser, url, proxy.ctl)
        else:
            rows = 506
            many_rows(tap, browser, url, rows)
        print("# loading %d rows: %.0f ms of CPU, of these scripts %.0f, style %.0f, layout %.0f; ours %.1f ms"
              % ((rows,) + cost(browser, url, proxy.process.pid)))
        tap.eq(browser.errors(), [], "no error on the console")


SIZES = "const e = performance.getEntriesByType('navigation')[0]; return [e.encodedBodySize, e.decodedBodySize]"


def codings(tap, browser, args):
    """What is compressed is what the browser shows. It asks for br and zstd too, of this host."""
    text, server, at, conf = compression.served(args.program)
    with lib.Proxy(args.program, conf):
        for name, port in at.items():
            browser.go("http://127.0.0.1:%d/" % port)
            shown = browser.script("return document.body.innerText")
            sizes = browser.script(SIZES)
            tap.ok(shown.strip() == text.decode().strip() and sizes[0] < len(text) // 2 and sizes[1] == len(text),
                   "it reads %s: %d bytes of %d" % (name, sizes[0], len(text)), (sizes, shown[:100]))
    server.close()


def main():
    args = lib.arguments(__doc__, ("shots", "build/page", "folder of the screenshots"))
    tap = lib.Tap()
    browser = Browser()
    try:
        run(tap, args, browser, False)
        run(tap, args, browser, True)
        codings(tap, browser, args)
    finally:
        browser.close()
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
