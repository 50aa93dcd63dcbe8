#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The statistics page as a browser sees it: well-formed, whatever names and texts are written in the configuration,
complete with many servers, without assets from elsewhere; its forms and options work."""
import html.parser
import json

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
    stats admin if {{ req.hdr(x-admin) yes }}
backend b.1
    server a-b_c:d.1 127.0.0.1:1 cookie "<c>&'"
backend many
{servers}
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
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
