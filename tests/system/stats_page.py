#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The statistics page as a browser sees it: well-formed, whatever names and texts are written in the configuration,
complete with many servers, without assets from elsewhere; its forms and options work."""
import html
import html.parser
import json
import re
import time

import urllib.error
import urllib.request

import lib

VOID = {"meta", "link", "input", "br"}
SERVERS = 600

CONF = """
global
    node n.o_d-e
defaults
    mode http
    timeout connect 1s
    timeout client 5s
    timeout server 5s
listen page
    bind 127.0.0.1:{port}
    stats uri /s
    stats show-node
    stats show-desc "<b>'five\\" & six</b>"
    stats show-legends
    stats show-modules
    stats hide-version
    stats refresh 3s
    stats history off
    stats admin if {{ req.hdr(x-admin) yes }}
backend b.1
    server a-b_c:d.1 127.0.0.1:1 cookie "<c>&'" disabled
backend many
{servers}
"""

SCOPED = """
defaults
    mode http
    timeout connect 1s
    timeout client 5s
    timeout server 5s
listen page
    bind 127.0.0.1:{port}
    stats uri /s
    stats scope app
    http-request return status 404 if {{ path /check }}
backend app
    option httpchk GET /check
    server closed 127.0.0.1:1 check inter 100 fall 1
    server wrong 127.0.0.1:{port} check inter 100 fall 1
backend hidden
    server secret 127.0.0.1:1
"""

# What need not be ended in HTML, and what ends it.
ENDED_BY = {"td": ("td", "th"), "th": ("td", "th"), "tr": ("td", "th", "tr"), "tbody": ("td", "th", "tr", "tbody"),
            "/table": ("td", "th", "tr", "tbody")}


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.open, self.wrong, self.tags, self.text = [], [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        while self.open and self.open[-1] in ENDED_BY.get(tag, ()):
            self.open.pop()
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        while self.open and self.open[-1] != tag and self.open[-1] in ENDED_BY["/table"]:
            self.open.pop()
        if not self.open or self.open.pop() != tag:
            self.wrong.append((tag, self.getpos()))

    def handle_data(self, data):
        self.text.append(data)

    def values(self, tag, name):
        return [a[name] for t, a in self.tags if t == tag and name in a]


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args):
        return None


def get(port, path, data=None, **fields):
    request = urllib.request.Request("http://127.0.0.1:%d%s" % (port, path), data=data, headers=fields)
    try:
        with urllib.request.build_opener(NoRedirect).open(request, timeout=lib.PATIENCE) as r:
            return r.status, dict(r.headers), r.read().decode()
    except urllib.error.HTTPError as e:
        return e.code, dict(e.headers), e.read().decode()


def look(tap, port):
    status, fields, text = get(port, "/s;st=PART", **{"x-admin": "yes"})
    page = Page(text)
    shown = "".join(page.text)
    tap.eq(status, 200, "the page")
    tap.ok("<title>Statistics Report for HAProxy</title>" in text, "its title is the one that scripts look for")
    tap.ok(not page.wrong and not page.open, "it is well-formed", (page.wrong, page.open))
    tap.ok("n.o_d-e" in shown and "<b>'five\" & six</b>" in shown, "texts are escaped, not lost")
    tap.ok("b" not in [t for t, _ in page.tags], "no tag comes from the configuration")
    tap.ok("in part" in shown, "the result of a form is told")
    tap.ok("version" not in shown and "3.4." not in shown, "hide-version hides the version")
    tap.eq(fields.get("refresh"), "3", "it is loaded again")
    boxes = page.values("input", "value")
    tap.eq(len([b for b in boxes if b.startswith("srv")]), SERVERS, "all servers can be chosen")
    tap.ok("a-b_c:d.1" in boxes, "a name with every character that names may have")
    tap.ok(any("<c>&'" in t for t in page.values("th", "title")), "legends show cookies")
    links = page.values("a", "href") + page.values("link", "href") + page.values("form", "action")
    tap.ok(all(u.startswith(("/s", "data:")) for u in links), "nothing leads elsewhere", links)
    scripts = [a for t, a in page.tags if t == "script"]
    tap.eq(scripts, [{}], "one script, within the page")
    tap.ok(all(k in text for k in ('data-k="many/srv5"', 'data-f="rate"', 'data-t="s"')), "what the script looks for")
    for link in page.values("a", "href"):
        tap.eq(get(port, link)[0], 200, "link " + link)


def summary_of(text):
    return dict(re.findall(r"<dt>([a-z0-9 ]+)</dt><dd>([^<]*)</dd>", text))


def dashboard(tap, port):
    text = get(port, "/s")[2]
    found = summary_of(text)
    tap.eq((found.get("servers up"), found.get("down"), found.get("maintenance")), (str(SERVERS), "0", "1"),
           "servers are summed up")
    tap.ok("requests a second" in found and "errors a second" not in found, "errors a second come with a history", found)
    columns = len(set(Page(text).values("th", "data-f")))
    every = get(port, "/s;all")[2]
    tap.eq((columns, len(set(Page(every).values("th", "data-f")))), (15, 33), "chosen columns, and all of them")
    tap.ok("/s;all" in Page(text).values("a", "href") and "/s" in Page(every).values("a", "href"), "links lead to either")
    tap.ok(len(every) > len(text), "of which the page is made")


def objects(tap, port):
    ways = Page(get(port, "/s")[2]).values("a", "href")
    for path, name, column in (("/s;px=page;sv=FRONTEND", "page / FRONTEND", "req_rate"), ("/s;px=b.1;sv=BACKEND", "b.1 / BACKEND", "act"),
                               ("/s;px=b.1;sv=a-b_c:d.1", "b.1 / a-b_c:d.1", "cookie")):
        tap.ok(path in ways, "a way to " + path)
        status, fields, text = get(port, path)
        page = Page(text)
        tap.eq((status, page.wrong, page.open, fields.get("refresh")), (200, [], [], "3"), "it is well-formed")
        shown = "".join(page.text)
        tap.ok(name in shown and "<title>Statistics Report for HAProxy</title>" in text, "it tells whose it is")
        rows = dict(zip(re.findall(r"<tr><th scope=\"row\">(\w+)</th>", text), re.findall(r"</th><td>([^<]*)</td>", text)))
        tap.ok(column in rows and rows["pxname"] == name.split()[0], "columns by name", rows)
        tap.eq([t for t, _ in page.tags if t in ("form", "b") and "form" == t], [], "nothing is changed there")
    csv = get(port, "/s;csv")[2].splitlines()
    server = dict(zip(csv[0][2:].split(","), next(r for r in csv if r.startswith("b.1,a-b_c:d.1")).split(",")))
    rows = dict(re.findall(r"<tr><th scope=\"row\">(\w+)</th><td>([^<]*)</td>", text))
    wrong = [c for c, v in server.items() if v not in ("", "0") and c in rows and c not in ("lastchg",) and
             html.unescape(rows[c]) != v.strip('"')]
    tap.eq(wrong, [], "they have the values of the CSV")
    for path in ("/s;px=none;sv=BACKEND", "/s;px=many;sv=none", "/s;px=b.1;sv=FRONTEND", "/s;px=b.1", "/s;px=" + "x" * 300,
                 "/s;px=%3Cb%3E;sv='<b>\"x", "/s;px=many;sv=%00"):
        target = path.replace("<", "%3c").replace('"', "%22")
        status, _, text = get(port, target)
        page = Page(text)
        tap.ok(status == 200 and "no such" in text and not page.wrong and not page.open, "none: " + path[:40])
    raw = lib.connect(port)
    raw.sendall(b"GET /s;px='><b>;sv=\"<b> HTTP/1.0\r\n\r\n")
    text = lib.recv_all(raw).decode("latin-1")
    raw.close()
    tap.ok("<b>;" not in text and "'><b>" not in text, "what a client writes is escaped, or refused", text[:300])


def past(text):
    """What is told of earlier checks: [(result, how often)]."""
    table = re.search(r'id="checks">(.*?)</table>', text, re.S)
    return [(name, int(times)) for name, times in re.findall(r'<th scope="row">([^<]*)</th><td>(\d+)</td>', table.group(1) if table else "")]


def scoped(tap, args):
    numbers = lib.ports(1)
    with lib.Proxy(args.program, SCOPED.format(port=numbers[0])) as proxy:
        lib.until(lambda: all(proxy.stats()["app", name]["status"] == "DOWN" for name in ("closed", "wrong")))
        text = get(numbers[0], "/s;norefresh")[2]
        tap.eq((summary_of(text).get("servers up"), summary_of(text).get("down")), ("0", "2"), "the summary has what is in scope")
        tap.ok(re.search(r"<td class=\"text\">(\* )?L4CON 0?[0-9]+ms: [^<]*[Cc]onnection refused", text), "a DOWN says why")
        tap.ok(re.search(r"<td class=\"text\">(\* )?L7STS 404 [0-9]+ms: [^<]+", text), "with the status")
        tap.ok("no such" in get(numbers[0], "/s;px=hidden;sv=secret")[2], "no page of what is out of scope")
        one = get(numbers[0], "/s;px=app;sv=closed")[2]
        tap.ok("L4CON" in one and "DOWN" in one, "the page of one server says why, too")
        tap.ok("127.0.0.1:1<" not in one, "without show-legends there is no address")
        lib.until(lambda: past(get(numbers[0], "/s;px=app;sv=wrong")[2])[0][1] > 2)
        found = past(get(numbers[0], "/s;px=app;sv=wrong")[2])
        tap.ok(len(found) == 1 and found[0][0] == "L7STS 404" and found[0][1] > 2, "results that are the same are one line", found)
        proxy.ctl("set server app/wrong check-port 1")
        lib.until(lambda: past(get(numbers[0], "/s;px=app;sv=wrong")[2])[0][0] == "L4CON")
        found = past(get(numbers[0], "/s;px=app;sv=wrong")[2])
        tap.eq([name for name, _ in found], ["L4CON", "L7STS 404"], "others are a new one, the newest first")
        tap.eq(past(get(numbers[0], "/s;px=app;sv=BACKEND")[2]), [], "a backend has none")


LATENT = """
defaults
    mode http
    timeout connect 1s
    timeout client 5s
    timeout server 5s
listen page
    bind 127.0.0.1:{0}
    stats uri /s
    {2}
frontend web
    bind 127.0.0.1:{1}
    default_backend app
backend app
    balance roundrobin
    server quick 127.0.0.1:{3}
    server slow 127.0.0.1:{4}
"""


def latencies(tap, args):
    """Percentiles of each proxy and server: on the page, on its own page, by command."""
    ports = lib.ports(2)
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

    pauses = {"quick": 0, "slow": 0.2}

    def after(which):
        def handle(s):
            lib.Reader(s).head()
            time.sleep(pauses[which])
            s.sendall(answer)
        return handle
    quick, slow = lib.Server(after("quick")), lib.Server(after("slow"))

    def cells(text, name):
        row = re.search(r'<tr[^>]*data-k="%s">.*' % re.escape(name), text).group(0)
        fields = re.findall(r'data-f="([^"]+)"', re.search(r'<thead>.*?</thead>', text, re.S).group(0))
        values = [re.match(r'(?: data-v="([^"]*)")?', x).group(1) for x in row.split("<td")[1:]]
        return dict(zip(fields, values))
    with lib.Proxy(args.program, LATENT.format(*ports, "", quick.port, slow.port)) as proxy:
        get(ports[1], "/")
        tap.ok('data-f="p50"' not in get(ports[0], "/s")[2], "no percentiles where they are not measured")
        tap.ok("not measured" in proxy.ctl("show latencies"), "which the command says")
    with lib.Proxy(args.program, LATENT.format(*ports, "stats show-latencies", quick.port, slow.port)) as proxy:
        tap.eq(len(proxy.ctl("show latencies").strip().splitlines()), 1, "no line of what has served nothing")
        for _ in range(8):
            get(ports[1], "/")
        rows = {tuple(x.split()[:2]): x.split()[2:] for x in proxy.ctl("show latencies").splitlines()[1:] if x}
        tap.eq({k[0]: v[0] for k, v in rows.items() if k[1] == "total"}, {"web/FRONTEND": "8", "app/BACKEND": "8", "app/quick": "4", "app/slow": "4"},
               "show latencies: each proxy and server")
        tap.ok(float(rows["app/slow", "response"][2]) >= 200 > float(rows["app/quick", "connect"][2]) and
               float(rows["app/BACKEND", "total"][4]) >= 200, "with what they took", rows)
        only = [x for x in proxy.ctl("show latencies app").splitlines()[1:] if x]
        tap.ok(only and all(x.startswith("app/") for x in only), "of one proxy", only)
        tap.ok("No such proxy" in proxy.ctl("show latencies none"), "or none of that name")
        text = get(ports[0], "/s")[2]
        found = {name: cells(text, name) for name in ("web/FRONTEND", "app/quick", "app/slow", "app/BACKEND")}
        tap.eq({k: "%.3f" % (int(v["p99"]) / 1000) for k, v in found.items()}, {k: rows[k, "total"][4] for k in found},
               "the page has the same p99 in each row")
        tap.eq(found["app/slow"]["p50"] >= "200000", True, "and p50")
        one = get(ports[0], "/s;px=app;sv=slow")[2].partition('id="latencies"')[2].partition("</table>")[0]
        tap.eq(re.findall(r'<tr><th scope="row">(queue|connect|response|total)</th>', one), ["queue", "connect", "response", "total"],
               "the page of one has the phases")
        pauses["slow"] = 1.1
        for _ in range(2):
            get(ports[1], "/")
        pages = [get(ports[0], path)[2] for path in ("/s", "/s;px=app;sv=slow")]
        shown = [re.findall(r'>(?:&[lg]t; )?(\d[\d.]*(?:e[+-]\d+)?)(?: ms)?</?(?:td|dd)', x) for x in pages]
        tap.ok(all(any(float(n) > 1000 for n in x) and not any("e" in n for n in x) for x in shown),
               "times above a second are told without an exponent", shown)
        proxy.ctl("clear counters all")
        tap.eq(len(proxy.ctl("show latencies app").strip().splitlines()), 1, "clear counters all forgets them")
    for s in (quick, slow):
        s.close()


def forms(tap, port):
    page = Page(get(port, "/s")[2])
    tap.ok("form" not in [t for t, _ in page.tags], "no forms for who is no admin")
    data = b"b=many&action=maint&" + b"&".join(b"s=srv%d" % i for i in range(100))
    status, fields, _ = get(port, "/s", data, **{"x-admin": "yes"})
    tap.eq((status, fields.get("location")), (303, "/s;st=DONE"), "a form with a hundred servers")
    rows = [line.split(",") for line in get(port, "/s;csv")[2].splitlines()]
    tap.eq(len([r for r in rows if r[0] == "many" and r[17] == "MAINT"]), 100, "they are in maintenance")
    rows = get(port, "/s;csv;no-maint")[2].splitlines()
    tap.eq(len([r for r in rows if r.startswith("many,srv")]), SERVERS - 100, "no-maint hides them")
    data = b"b=many&action=ready&" + b"&".join(b"s=srv%d" % i for i in range(100, 500)) * 12
    tap.eq(get(port, "/s", data, **{"x-admin": "yes"})[1].get("location"), "/s;st=EXCD", "a form too long")
    for data in (b"b=%zz&s=srv1&action=ready", b"b=many&s=%00&action=ready", b"%", b"=&=&&", b"b&s&action"):
        status, fields, _ = get(port, "/s", data, **{"x-admin": "yes"})
        tap.ok(status == 303 and fields["location"][-4:] in ("ERRP", "NONE"), "bad form %r" % data, fields)


def main():
    args = lib.arguments(__doc__)
    tap = lib.Tap()
    port = lib.ports(1)[0]
    servers = "\n".join("    server srv%d 127.0.0.1:1" % i for i in range(SERVERS))
    with lib.Proxy(args.program, CONF.format(port=port, servers=servers)) as proxy:
        dashboard(tap, port)
        objects(tap, port)
        look(tap, port)
        forms(tap, port)
        schema = json.loads(get(port, "/s;json-schema")[2])
        words = schema["definitions"]["tags"]["properties"]
        kinds = [v["properties"]["type"]["enum"][0] for v in schema["definitions"]["typedValue"]["anyOf"]]
        wrong = [f for row in json.loads(get(port, "/s;json")[2]) for f in row
                 if any(f["tags"][k] not in words[k]["enum"] for k in words) or f["value"]["type"] not in kinds
                 or isinstance(f["value"]["value"], str) != (f["value"]["type"] == "str")]
        tap.eq(wrong, [], "JSON is as the schema says")
        typed = get(port, "/s;typed")[2].splitlines()
        tap.ok("S.3.1.1.svname.1:KNSV:str:a-b_c:d.1" in typed, "typed lines", typed[:3])
        rows = json.loads(get(port, "/s;json;norefresh")[2])
        tap.eq(len(rows), SERVERS + 5, "JSON has every row")
        tap.ok(proxy.alive(), "the program lives")
    scoped(tap, args)
    latencies(tap, args)
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
