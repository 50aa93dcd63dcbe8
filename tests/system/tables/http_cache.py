# SPDX-License-Identifier: GPL-2.0-or-later
"""What RFC 9111 and its kin say of shared caches, as cases: (group, what, kind, steps). Kinds: `must` (the RFCs demand it), `may` (a good
cache does it). A step: what is asked (m: method, q: fields, p: added to the path), what the server would answer (a: fields, s: status,
b: body; v: 304 if it is asked with a condition), the wait before it (w: seconds), what must be (want: `+` the server is not asked, `-` it
is and its answer is given, `v` it is asked with a condition and what was kept is given, "" anything; st: status; has, no: fields of the
answer; sent, unsent: fields of the request that the server gets). Answers have a Date of now unless they have one: DAY-5 is five
seconds ago."""

MA = "Cache-Control: max-age=3600"
ETAG, OLD = 'ETag: "e1"', "Last-Modified: DAY-3600000"
CASES = []


def step(want="", **more):
    return dict(want=want, **more)


def add(group, kind, what, *steps):
    CASES.append((group, what, kind, steps))


def twice(group, kind, want, what, answer, ask=(), wait=0, status=200, **more):
    """One request to fill, one that must end so."""
    add(group, kind, what, step("", a=answer, s=status), step(want, q=list(ask), w=wait, a=answer, s=status, **more))


def freshness():
    g = "freshness"
    for what, answer in (("max-age", [MA]), ("s-maxage", ["Cache-Control: s-maxage=3600"]),
                         ("max-age above an Expires that is past", [MA, "Expires: DAY-100"]),
                         ("max-age above an Expires that cannot be read", [MA, "Expires: 0"]),
                         ("s-maxage above max-age=0", ["Cache-Control: max-age=0, s-maxage=3600"]),
                         ("Expires in the future", ["Expires: DAY+3600"]),
                         ("max-age with some Age left", [MA, "Age: 3000"]),
                         ("max-age of 2^31", ["Cache-Control: max-age=2147483648"]),
                         ("max-age of 2^31 - 1", ["Cache-Control: max-age=2147483647"]),
                         ("max-age of 99999999999", ["Cache-Control: max-age=99999999999"]),
                         ("max-age, Date in the past but Age small", [MA, "Date: DAY-1000"])):
        twice(g, "may", "+", "reuses: " + what, answer)
    for what, answer in (("max-age=0", ["Cache-Control: max-age=0"]), ("s-maxage=0", ["Cache-Control: s-maxage=0"]),
                         ("s-maxage=0 above max-age", ["Cache-Control: s-maxage=0, max-age=3600"]),
                         ("Expires of now", ["Expires: DAY+0"]), ("Expires in the past", ["Expires: DAY-100"]),
                         ("max-age=0 above Expires", ["Cache-Control: max-age=0", "Expires: DAY+3600"]),
                         ("max-age used up by Age", ["Cache-Control: max-age=100", "Age: 200"]),
                         ("s-maxage used up by Age", ["Cache-Control: s-maxage=100", "Age: 200"]),
                         ("max-age used up by a Date long ago", ["Cache-Control: max-age=100", "Date: DAY-1000"]),
                         ("Expires before a Date of the future", ["Expires: DAY+100", "Date: DAY+200"])):
        twice(g, "must", "-", "does not reuse: " + what, answer)
    for what, answer in (("max-age", ["Cache-Control: max-age=1"]), ("s-maxage", ["Cache-Control: s-maxage=1"]),
                         ("Expires", ["Expires: DAY+1"]), ("max-age and Age", ["Cache-Control: max-age=101", "Age: 100"])):
        twice(g, "must", "-", "is over after its time: " + what, answer, wait=3)
    twice(g, "must", "+", "Age grows", [MA, "Age: 30"], wait=2, has={"age": (31, 60)})
    twice(g, "must", "+", "Age is there", [MA], wait=2, has={"age": (1, 30)})


def parsing():
    g = "Cache-Control"
    for what, text in (("upper case", "MAX-AGE=3600"), ("mixed case", "mAx-aGe=3600"), ("blanks before", "  max-age=3600"),
                       ("an unknown one before", "foobar, max-age=3600"), ("an unknown one with a value", "foo=bar, max-age=3600"),
                       ("an unknown one with a quoted value", 'foo="bar, baz", max-age=3600'), ("tabs", "\tfoo,\tmax-age=3600"),
                       ("empty members", ", ,max-age=3600,"), ("leading zeros", "max-age=0003600")):
        twice(g, "may", "+", what, ["Cache-Control: " + text])
    for what, text in (("max-age without a value", "max-age"), ("max-age in words", "max-age=soon"), ("negative", "max-age=-3600"),
                       ("max-age inside a quoted string", 'foo="max-age=3600"'), ("a blank, then a value", "foo max-age=3600"),
                       ("a longer name", "max-agea=3600"), ("a prefix of it", "a-max-age=3600"),
                       ("no-store in a list", "max-age=3600, no-store"), ("No-Store", "max-age=3600, No-Store"),
                       ("no-store with a value", "max-age=3600, no-store=bar"), ("no-store before", "no-store, max-age=3600")):
        twice(g, "must", "-", what, ["Cache-Control: " + text])
    twice(g, "may", "+", "on two lines", ["Cache-Control: foo", MA])
    twice(g, "must", "-", "no-store on the second line", [MA, "Cache-Control: no-store"])
    twice(g, "must", "-", "private on the second line", [MA, "Cache-Control: private"])
    twice(g, "must", "-", "private", ["Cache-Control: private, max-age=3600"])
    twice(g, "must", "-", "PRIVATE", ["Cache-Control: PRIVATE, max-age=3600"])
    twice(g, "must", "-", "no-store", ["Cache-Control: no-store"])
    twice(g, "must", "-", "no-store with validators", ["Cache-Control: no-store, max-age=3600", ETAG, OLD])
    add(g, "must", "no-cache is not given without asking", step(a=["Cache-Control: no-cache, max-age=3600", ETAG]),
        step("-", a=["Cache-Control: no-cache", 'ETag: "e2"']))
    add(g, "may", "no-cache is kept, and validated", step(a=["Cache-Control: no-cache, max-age=3600", ETAG]),
        step("v", v=True, a=["Cache-Control: no-cache", ETAG]))
    add(g, "may", "must-revalidate is given while it is fresh", step(a=["Cache-Control: max-age=3600, must-revalidate"]), step("+"))
    add(g, "must", "must-revalidate is not given stale", step(a=["Cache-Control: max-age=1, must-revalidate"]),
        step("-", w=3, a=[MA]))
    twice(g, "may", "+", "an extension after must-understand", ["Cache-Control: must-understand, max-age=3600"])


def dates():
    g = "Expires"
    for what, text in (("an IMF date", "DAY+3600"), ("of a far year", "Fri, 31 Dec 2094 23:59:59 GMT")):
        twice(g, "may", "+", what, ["Expires: " + text])
    for what, text in (("0", "0"), ("a word", "foo"), ("no zone", "Thu, 18 Aug 2094 02:01:18"), ("another zone", "Thu, 18 Aug 2094 02:01:18 PST"),
                       ("empty", ""), ("negative", "-1"), ("a number", "1000000000000")):
        twice(g, "must", "-", "cannot be read: " + what, ["Expires: " + text, OLD.replace("3600000", "10")], wait=3)
    twice(g, "must", "-", "two, the first is past", ["Expires: DAY-100", "Expires: DAY-50"])


def ages():
    g = "Age"
    for what, text, want in (("0", "0", "+"), ("blanks", " 10 ", "+")):
        twice(g, "may", want, what, [MA, "Age: " + text])
    for what, lines in (("larger than the time", ["Age: 7200"]), ("2^31", ["Age: 2147483648"]), ("2^31 - 1", ["Age: 2147483647"]),
                        ("very large", ["Age: 99999999999"]), ("two lines, the first is too large", ["Age: 7200", "Age: 0"]),
                        ("with a parameter", ["Age: 7200;foo=bar"]), ("two in one, the first is too large", ["Age: 7200, 0"])):
        twice(g, "must", "-", what, [MA] + lines)


def heuristics():
    g = "heuristics"
    for status in (200, 203, 204, 404, 405, 410, 414, 501):
        twice(g, "may", "+", "Last-Modified long ago, %d" % status, [OLD], status=status)
    for status in (201, 202, 403, 502, 503, 504):
        twice(g, "must", "-", "nothing said, %d" % status, [OLD], status=status)
    twice(g, "may", "+", "599 if it is public", [OLD, "Cache-Control: public"], status=599)
    twice(g, "must", "-", "Last-Modified of now", ["Last-Modified: DAY-1"], wait=3)


def statuses():
    g = "statuses"
    for status in (200, 203, 204, 299, 301, 302, 303, 307, 308, 400, 404, 410, 499, 500, 502, 503, 504, 599):
        twice(g, "may", "+", "fresh %d is given" % status, [MA] + (["Location: /x"] if 300 <= status < 309 else []), status=status)
        twice(g, "must", "-", "stale %d is not" % status, ["Cache-Control: max-age=1"], status=status, wait=3)


def requests():
    g = "requests"
    for what, text in (("max-age=0", "max-age=0"), ("no-cache", "no-cache"), ("max-age=1 of what is older", "max-age=1")):
        twice(g, "may", "-", "new by " + what, [MA], ["Cache-Control: " + text], wait=2)
    add(g, "may", "min-fresh of more than is left", step(a=["Cache-Control: max-age=1000"]),
        step("-", q=["Cache-Control: min-fresh=2000"], a=[MA]))
    twice(g, "may", "+", "max-age of more than its age", [MA], ["Cache-Control: max-age=1000"])
    twice(g, "may", "+", "min-fresh of less than is left", [MA], ["Cache-Control: min-fresh=10"])
    twice(g, "may", "+", "max-stale of what is fresh", [MA], ["Cache-Control: max-stale=1000"])
    twice(g, "may", "+", "max-stale of what is stale, a little", ["Cache-Control: max-age=1"], ["Cache-Control: max-stale=1000"], wait=3)
    add(g, "may", "no-store is not kept", step(q=["Cache-Control: no-store"], a=[MA]), step("-", a=[MA]))
    add(g, "may", "only-if-cached of what is not: 504", step("", q=["Cache-Control: only-if-cached"], a=[MA], st=504, asked=False))
    twice(g, "may", "+", "only-if-cached of what is", [MA], ["Cache-Control: only-if-cached"])
    twice("Pragma", "may", "-", "no-cache of a request", [MA], ["Pragma: no-cache"])
    twice("Pragma", "may", "+", "no-cache of a request that has Cache-Control", [MA], ["Pragma: no-cache", "Cache-Control: max-age=1000"])
    twice("Pragma", "may", "+", "an unknown one", [MA, "Pragma: foo"])


def methods():
    g = "methods"
    add(g, "must", "POST is not answered by a GET's", step(a=[MA]), step("-", m="POST", q=["Content-Length: 0"], a=[MA]))
    add(g, "must", "GET is not answered by a POST's", step(m="POST", q=["Content-Length: 0"], a=[MA]), step("-", a=[MA]))
    add(g, "may", "HEAD is answered by a GET's", step(a=[MA]), step("+", m="HEAD"))
    add(g, "must", "GET is not answered by a HEAD's", step(m="HEAD", a=[MA]), step("-", a=[MA]))
    add(g, "must", "unknown methods go to the server", step(m="FOO", q=["Content-Length: 0"], a=[MA]),
        step("-", m="FOO", q=["Content-Length: 0"], a=[MA]))
    add(g, "must", "OPTIONS goes to the server", step(m="OPTIONS", a=[MA]), step("-", m="OPTIONS", a=[MA]))


def vary():
    g = "Vary"
    for n in ("Foo", "Accept-Encoding", "Accept-Language", "User-Agent", "Origin"):
        value = "gzip" if n == "Accept-Encoding" else "1"
        add(g, "may", "the same %s" % n, step(q=[n + ": " + value], a=[MA, "Vary: " + n]), step("+", q=[n + ": " + value]))
        other = "identity;q=0" if n == "Accept-Encoding" else "2"
        add(g, "must", "another %s" % n, step(q=[n + ": " + value], a=[MA, "Vary: " + n]), step("-", q=[n + ": " + other], a=[MA, "Vary: " + n]))
    add(g, "must", "a field that was not there", step(a=[MA, "Vary: Foo"]), step("-", q=["Foo: 1"], a=[MA, "Vary: Foo"]))
    add(g, "must", "a field that is not there any more", step(q=["Foo: 1"], a=[MA, "Vary: Foo"]), step("-", a=[MA, "Vary: Foo"]))
    add(g, "may", "none of it both times", step(a=[MA, "Vary: Foo"]), step("+"))
    add(g, "may", "two variants are kept", step(q=["Foo: 1"], a=[MA, "Vary: Foo"]), step(q=["Foo: 2"], a=[MA, "Vary: Foo"]),
        step("+", q=["Foo: 1"]), step("+", q=["Foo: 2"]))
    add(g, "may", "two fields, both the same", step(q=["Foo: 1", "Bar: a"], a=[MA, "Vary: Foo, Bar"]), step("+", q=["Bar: a", "Foo: 1"]))
    add(g, "must", "two fields, one is another", step(q=["Foo: 1", "Bar: a"], a=[MA, "Vary: Foo, Bar"]),
        step("-", q=["Foo: 1", "Bar: b"], a=[MA]))
    add(g, "must", "Vary on two lines, the second counts", step(q=["Foo: 1", "Bar: a"], a=[MA, "Vary: Foo", "Vary: Bar"]),
        step("-", q=["Foo: 1", "Bar: b"], a=[MA]))
    add(g, "may", "fields that it does not name", step(q=["Foo: 1", "Other: 2"], a=[MA, "Vary: Foo"]), step("+", q=["Foo: 1", "Other: 3"]))
    add(g, "may", "in other letters", step(q=["Foo: 1"], a=[MA, "Vary: fOO"]), step("+", q=["foo: 1"]))
    for what, text in (("*", "*"), ("*, Foo", "*, Foo"), ("Foo, *", "Foo, *"), (", *", ", *"), ("* on a second line", None)):
        lines = ["Vary: " + text] if text else ["Vary: Foo", "Vary: *"]
        add(g, "must", what, step(a=[MA] + lines), step("-", a=[MA] + lines))


def validation():
    for g, valid, name in (("ETag", ETAG, "if-none-match"), ("Last-Modified", OLD, "if-modified-since")):
        add(g, "may", "what is stale is validated", step(a=["Cache-Control: max-age=1", valid]), step("v", w=3, v=True, a=["Cache-Control: max-age=1", valid]))
        add(g, "must", "what has changed is given new", step(a=["Cache-Control: max-age=1", valid]), step("-", w=3, a=["Cache-Control: max-age=1"]))
    g = "ETag"
    for what, tag in (("weak", 'W/"w"'), ("with a comma", '"a,b"'), ("empty", '""')):
        add(g, "may", "a tag that is " + what, step(a=["Cache-Control: max-age=1", "ETag: " + tag]),
            step("v", w=3, v=True, a=["Cache-Control: max-age=1", "ETag: " + tag], sent={"if-none-match": tag}))
    for what, tag, st in (("the same", '"e1"', 304), ("in a list", '"x", "e1"', 304), ("weakly", 'W/"e1"', 304), ("any", "*", 304), ("another", '"x"', 200),
                          ("without quotes", "e1", 200), ("in a list without blanks", '"x","e1"', 304)):
        twice(g, "may" if st == 304 else "must", "+", "a client's condition, %s: %d" % (what, st), [MA, ETAG], ["If-None-Match: " + tag], st=st)
    twice(g, "must", "+", "If-None-Match goes before If-Modified-Since", [MA, ETAG, OLD], ['If-None-Match: "x"', "If-Modified-Since: DAY+0"], st=200)
    twice(g, "must", "+", "304 has the tag and the time", [MA, ETAG, "Vary: Foo"], ['If-None-Match: "e1"'], st=304, has={"etag": '"e1"', "cache-control": "max-age=3600"})
    g = "Last-Modified"
    for what, when, st in (("later", "DAY-1000", 304), ("the same", "DAY-3600000", 304), ("earlier", "DAY-4000000", 200), ("no date", "x", 200)):
        twice(g, "may" if st == 304 else "must", "+", "a client's condition, %s: %d" % (what, st), [MA, OLD], ["If-Modified-Since: " + when], st=st)
    g = "304"
    first = ["Cache-Control: max-age=1", ETAG, "X-A: 1", "Content-Type: text/plain"]
    add(g, "may", "makes fresh again", step(a=first), step("v", w=3, v=True, a=[MA, ETAG]), step("+"))
    add(g, "must", "new fields replace those kept", step(a=first), step("v", w=3, v=True, a=[MA, ETAG, "X-A: 2"], has={"x-a": "2"}), step("+", has={"x-a": "2"}))
    add(g, "must", "those of the body stay", step(a=first), step("v", w=3, v=True, a=[MA, ETAG, "Content-Encoding: foo"], no=["content-encoding"]))
    add(g, "must", "other fields are there still", step(a=first), step("v", w=3, v=True, a=[MA, ETAG], has={"x-a": "1", "content-type": "text/plain"}))


def heads():
    g = "fields"
    for name in ("X-Any", "Content-Type", "Content-Language", "Server", "Set-Cookie-X", "Link", "Access-Control-Allow-Origin"):
        twice(g, "must", "+", name + " is kept", [MA, name + ": v"], has={name.lower(): "v"})
    for name in ("Connection: X-Hop", "Keep-Alive: timeout=7", "Proxy-Connection: foo", "TE: foo", "Upgrade: foo/1"):
        twice(g, "must", "+", name.split(":")[0] + " is not kept", [MA, "X-Hop: secret", name], no=["x-hop"] if name.startswith("Connection") else [name.split(":")[0].lower()],
              loose=True)
    twice(g, "may", "+", "Set-Cookie keeps nothing out that max-age lets in", [MA, "Set-Cookie: a=b"])
    twice(g, "may", "+", "a request with Cookie", [MA], ["Cookie: a=b"])
    twice(g, "must", "+", "a body's length", [MA], has={"content-length": (1, 9)})


def invalidation():
    g = "invalidation"
    for m in ("POST", "PUT", "DELETE", "M-SEARCH"):
        add(g, "must", m + " of the same", step(a=[MA]), step(m=m, q=["Content-Length: 0"], a=[]), step("-", a=[MA]))
        add(g, "may", m + " that fails", step(a=[MA]), step(m=m, q=["Content-Length: 0"], a=[], s=500), step("+"))
    for name in ("Location", "Content-Location"):
        add(g, "may", "by " + name, step(a=[MA]), step(m="POST", p="-other", q=["Content-Length: 0"], a=[name + ": {path}"], s=201), step("-", a=[MA]))
        add(g, "may", "by %s of another host: not" % name, step(a=[MA]),
            step(m="POST", p="-other", q=["Content-Length: 0"], a=[name + ": http://elsewhere.example{path}"], s=201), step("+"))
    add(g, "may", "a safe method does not", step(a=[MA]), step(m="OPTIONS", a=[]), step("+"))


def ranges():
    g = "ranges"
    body = "0123456789"
    for what, spec, content, part in (("the first bytes", "0-3", "bytes 0-3/10", "0123"), ("the last", "-2", "bytes 8-9/10", "89"),
                                      ("from one on", "5-", "bytes 5-9/10", "56789"), ("beyond its end", "8-20", "bytes 8-9/10", "89")):
        add(g, "may", what + " of what is kept whole", step(a=[MA], b=body), step("+", q=["Range: bytes=" + spec], st=206, has={"content-range": content}, body=part))
    add(g, "must", "a part is not given for the whole", step(q=["Range: bytes=0-3"], a=[MA, "Content-Range: bytes 0-3/10"], s=206, b="0123"), step("-", a=[MA], b=body))
    add(g, "must", "a part is not given for another part", step(q=["Range: bytes=0-3"], a=[MA, "Content-Range: bytes 0-3/10"], s=206, b="0123"),
        step("-", q=["Range: bytes=5-6"], a=[MA, "Content-Range: bytes 5-6/10"], s=206, b="56"))
    add(g, "must", "other units are the server's, or the whole", step(a=[MA], b=body), step("", q=["Range: lines=0-3"], a=[MA], b=body, body=body))
    add(g, "may", "If-Range of another: the whole", step(a=[MA, ETAG], b=body), step("+", q=["Range: bytes=0-3", 'If-Range: "x"'], st=200, body=body))
    add(g, "may", "what is not there: 416", step(a=[MA], b=body), step("+", q=["Range: bytes=20-30"], st=416))


def authorization():
    g = "Authorization"
    auth = "Authorization: Basic YTpi"
    for what, answer, want, kind in (("max-age alone", [MA], "-", "must"), ("public", ["Cache-Control: public, max-age=3600"], "+", "may"),
                                     ("s-maxage", ["Cache-Control: s-maxage=3600"], "+", "may"),
                                     ("must-revalidate", ["Cache-Control: max-age=3600, must-revalidate"], "+", "may")):
        add(g, kind, what, step(q=[auth], a=answer), step(want, q=[auth], a=answer))
        add(g, kind, what + ", then without", step(q=[auth], a=answer), step(want, a=answer))
    add(g, "may", "what all may have", step(a=["Cache-Control: public, max-age=3600"]), step("+", q=[auth]))


def stale():
    g = "stale"
    add(g, "may", "stale-while-revalidate is given at once", step(a=["Cache-Control: max-age=1, stale-while-revalidate=3600"]),
        step("", w=3, a=["Cache-Control: max-age=1, stale-while-revalidate=3600"], old=True))
    add(g, "must", "stale-while-revalidate is over", step(a=["Cache-Control: max-age=1, stale-while-revalidate=1"]), step("-", w=4, a=[MA]))
    for status in (500, 502, 503, 504):
        add(g, "may", "stale-if-error, %d" % status, step(a=["Cache-Control: max-age=1, stale-if-error=3600"]), step("", w=3, s=status, a=[], st=200, old=True))
    add(g, "must", "stale-if-error is over", step(a=["Cache-Control: max-age=1, stale-if-error=1"]), step("-", w=4, s=503, a=[]))
    for what in ("must-revalidate", "proxy-revalidate", "s-maxage=1", "no-cache"):
        add(g, "must", what + ": not when the server breaks off", step(a=["Cache-Control: max-age=1, " + what]), step("", w=3, die=True, fails=True))
        add(g, "must", what + ": not when it says 503", step(a=["Cache-Control: max-age=1, " + what]), step("-", w=3, s=503, a=[]))


def others():
    g = "others"
    add(g, "must", "other queries are others", step(p="?a=1", a=[MA]), step("-", p="?a=2", a=[MA]))
    add(g, "may", "the same query", step(p="?a=1", a=[MA]), step("+", p="?a=1"))
    add(g, "must", "103 is passed on, and not kept", step(a=[MA], early=103), step("+"))
    add(g, "must", "what was cut off is not given", step(a=[MA], cut=True), step("-", a=[MA]))
    add(g, "must", "chunked is kept whole", step(a=[MA], chunked=True, b="hello there"), step("+", body="hello there"))
    add(g, "must", "chunked and cut off is not", step(a=[MA], chunked=True, cut=True, b="hello there"), step("-", a=[MA]))


for make in (freshness, parsing, dates, ages, heuristics, statuses, requests, methods, vary, validation, heads, invalidation, ranges, authorization, stale, others):
    make()
