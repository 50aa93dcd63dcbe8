#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests of the checks of lint and of run-tap: each is shown a small tree with one fault, and has to find it, and a tree
without fault, and has to be silent. Each check that lint runs must have one. Prints TAP."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.realpath(__file__))
GPL = "/* SPDX-License-Identifier: GPL-2.0-or-later */\n"
LGPL = "/* SPDX-License-Identifier: LGPL-2.1-or-later */\n"
HEADER = LGPL + "#ifndef %s\n#define %s\n/* what it does */\nint %s(void);\n#endif\n"
BODY = "\nint %s(void)\n{\n%s\treturn %s;\n}\n"
GOOD = {
    "doc/internals/layers.txt": "0 base\n1 conf\n1 codec\n8 ext\n",
    "scripts/waivers.txt": "",
    "include/base/low.h": HEADER % (("BASE_LOW_H",) * 2 + ("low",)),
    "src/base/low.c": GPL + '#include "base/low.h"\n' + BODY % ("low", "", "1"),
    "include/codec/high.h": HEADER % (("CODEC_HIGH_H",) * 2 + ("high",)),
    "src/codec/high.c": GPL + '#include "base/low.h"\n#include "codec/high.h"\n' + BODY % ("high", "", "low()"),
}
results = []
tested = []  # (script, what it had to say)


def files(changes):
    """The good tree with these changes; None takes a file away."""
    return {path: text for path, text in {**GOOD, **changes}.items() if text is not None}


def made(script, changes, path, *args):
    """The file that a script writes in the good tree with these changes."""
    with tempfile.TemporaryDirectory() as top:
        write(top, files(changes))
        subprocess.run([sys.executable, os.path.join(HERE, script)] + list(args), cwd=top, check=True, stdout=subprocess.DEVNULL,
                       env={**os.environ, "PROJECT_TOP": top})
        with open(os.path.join(top, path)) as f:
            return f.read()


def write(top, tree):
    for path, text in tree.items():
        os.makedirs(os.path.join(top, os.path.dirname(path)), exist_ok=True)
        with open(os.path.join(top, path), "w") as f:
            f.write(text)
        if text.startswith("#!"):
            os.chmod(os.path.join(top, path), 0o755)


def run(script, changes, *args):
    """The text and exit status of a script that looks at the good tree with these changes."""
    with tempfile.TemporaryDirectory() as top:
        write(top, files(changes))
        if "--objects" in args:
            for path in files(changes):
                if path.endswith(".c") and path.startswith("src/"):
                    os.makedirs(os.path.join(top, "build", os.path.dirname(path)), exist_ok=True)
                    subprocess.run([os.environ.get("CC", "cc"), "-w", "-Iinclude", "-c", path, "-o",
                                    "build/" + path[:-2] + ".o"], cwd=top, check=True)
        p = subprocess.run([sys.executable, os.path.join(HERE, script)] + list(args), cwd=top, text=True,
                           env={**os.environ, "PROJECT_TOP": top}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return p.stdout, p.returncode


def expect(name, script, changes, said, *args):
    """The script finds the fault and names it by <said>; with "" it finds nothing."""
    text, status = run(script, changes, *args)
    tested.append((script, said))
    good = (status != 0 and said in text) if said else status == 0
    results.append(good)
    print("%sok %d - %s: %s" % ("" if good else "not ", len(results), script, name))
    if not good:
        print("# status %d, expected: %s\n# %s" % (status, said or "nothing", text.replace("\n", "\n# ")))


def edit(path, old, new):
    assert old in GOOD[path]
    return {path: GOOD[path].replace(old, new)}


def prototypes(*names):
    return "".join("int %s(void);\n" % n for n in names)


def format_tests():
    form, low = "check-format", "src/base/low.c"
    expect("a good tree", form, {}, "")
    expect("licence", form, edit(low, "GPL-2.0", "GPL-3.0"), "low.c:1: the first line")
    expect("licence of headers", form, edit("include/base/low.h", "LGPL-2.1", "GPL-2.0"), "low.h:1: the first line")
    expect("trailing blank", form, edit(low, "{\n", "{ \n"), "low.c:5: trailing blanks")
    expect("spaces", form, edit(low, "\treturn", "        return"), "low.c:6: indented with spaces")
    expect("long line", form, edit(low, "return 1", "return " + "1 + " * 30 + "1"), "low.c:6: 137 columns")
    expect("100 columns", form, edit(low, "return 1;", "/* %s */" % ("x" * 86)), "")
    expect("condition in a function", form, edit(low, "\treturn", "#ifdef A\n#endif\n\treturn"),
           "low.c:6: preprocessor condition inside low()")
    expect("condition outside", form, edit(low, "\nint", "\n#ifdef A\n#endif\nint"), "")
    expect("typedef", form, edit(low, "\nint", "\ntypedef struct x y;\nint"), "low.c:4: typedef")
    expect("replaced call", form, edit(low, "return 1", 'return atoi("1")'), "low.c:6: atoi(): use num_prefix_int()")
    expect("its name in a text", form, edit(low, "\treturn", "\t/* atoi() */\n\treturn"), "")
    expect("no guard", form, edit("include/base/low.h", "#define BASE_LOW_H\n", ""), "no header guard")
    expect("same guard twice", form, {"include/base/too.h": HEADER % (("BASE_LOW_H",) * 2 + ("too",))}, "is that of")
    expect("no comment", form, edit("include/base/low.h", "/* what it does */\n", ""), "without a comment")
    expect("a blank before a question mark", form, edit(low, "\treturn", "\t/* is it ? */\n\treturn"), "low.c:6: a blank before")
    for word in "who", "Whoever", "whom", "nobody's", "somebody", "anyone", "everybody":
        expect("a person in a comment", form, edit(low, "\treturn", "\t/* one line,\n\t * then %s\n\t */\n\treturn" % word),
               "low.c:7: '%s' in a comment: name the actor (doc/internals/style.md, rule 3)" % word)
    expect("a person in a header", form, edit("include/base/low.h", "what it does", "for who calls"), "low.h:4: 'who' in a comment")
    for text in "the user who asks", "of an administrator,\n\t * who may", "whose it is", "<who>", "`who`", "who() tells", "NOBODY":
        expect("no person, or one", form, edit(low, "\treturn", "\t/* %s */\n\treturn" % text), "")
    expect("a person in a text", form, edit(low, "1", '"/* who"[0] - "*/"[0]'), "")


def size_tests():
    size, low = "check-size", "src/base/low.c"
    long = edit(low, "\treturn", "\tlow();\n" * 147 + "\treturn")
    expect("a good tree", size, {}, "")
    expect("64 lines", size, edit(low, "\treturn", "\tlow();\n" * 60 + "\treturn"), "")
    expect("65 lines", size, edit(low, "\treturn", "\tlow();\n" * 61 + "\treturn"), "")
    expect("66 lines", size, edit(low, "\treturn", "\tlow();\n" * 62 + "\treturn"), "REFUSED src/base/low.c:low: 66,")
    expect("long function", size, long, "REFUSED src/base/low.c:low: 151,")
    expect("waived", size, {**long, "scripts/waivers.txt": "size src/base/low.c:low a table\n"}, "")
    expect("waiver for nothing", size, {"scripts/waivers.txt": "size src/base/low.c:low a table\n"}, "nothing needs")
    expect("parameters", size, edit(low, "low(void)", "low(" + "int a, " * 7 + "int b)"), "low.c:low: 8, 7 accepted")
    expect("40 members", size, edit("include/base/low.h", "/* what", "struct s {\n%s};\n/* what" % ("\tint a;\n" * 40)), "")
    expect("41 members", size, edit("include/base/low.h", "/* what", "struct s {\n%s};\n/* what" % ("\tint a;\n" * 41)),
           "REFUSED include/base/low.h:s: 41")
    expect("60 files", size, {"src/base/f%d.c" % i: GPL for i in range(59)}, "")
    expect("61 files", size, {"src/base/f%d.c" % i: GPL for i in range(60)}, "REFUSED src/base: 61")
    expect("long file", size, edit(low, "\nint", "\n/* */" * 1000 + "\nint"), "REFUSED src/base/low.c: 1007,")


def layer_tests():
    layers, low = "check-layers", "src/base/low.c"
    objects = ("--objects", "build")
    expect("a good tree", layers, {}, "", *objects)
    expect("include above", layers, edit(low, "base/low", "codec/high"), "may not use codec/high.h")
    expect("include beside", layers, {"src/conf/a.c": GPL + '#include "codec/high.h"\n'}, "may not use codec/high.h")
    expect("symbol above", layers, {low: GPL + prototypes("high") + BODY % ("low", "", "high()")},
           "may not use high of codec", *objects)
    expect("symbol beside", layers, {"src/conf/a.c": GPL + prototypes("high") + BODY % ("a", "", "high()")},
           "may not use high of codec", *objects)
    expect("waived", layers, {"src/conf/a.c": GPL + prototypes("high") + BODY % ("a", "", "high()"),
                              "scripts/waivers.txt": "layers src/conf/a.c:high until then\n"}, "", *objects)
    expect("a room of a folder", layers, {
        "src/base/a_priv.h": GPL, "src/base/room/b_priv.h": GPL, "src/base/room/b.c": GPL + '#include "../a_priv.h"\n',
        "src/base/c.c": GPL + '#include "room/b_priv.h"\n'}, "", *objects)
    expect("a header of another folder", layers, {
        "src/codec/a_priv.h": GPL, "src/base/c.c": GPL + '#include "../codec/a_priv.h"\n'}, "or a sibling", *objects)
    looks = GPL + "\nint look(struct conn *c)\n{\n\treturn c->fd;\n}\n"
    expect("a descriptor", layers, {"src/codec/a.c": looks}, "only net, tls and quic know descriptors")
    expect("one of something else", layers, {"src/codec/a.c": looks.replace("conn", "file")}, "")
    expect("unknown folder", layers, {"src/odd/a.c": GPL}, "the table of layers has no odd")
    expect("edge file", layers, {"src/codec/x_ctl.c": GPL + BODY % ("a", "", "1") + BODY % ("b", "", "1")},
           "an edge file exports one symbol", *objects)
    rooms = {"src/ext/cache_conf.c": GPL + prototypes("spoe") + BODY % ("cache", "", "spoe()"),
             "src/ext/spoe.c": GPL + BODY % ("spoe", "", "1")}
    expect("rooms of ext", layers, rooms, "another room", *objects)
    ring = {"src/codec/k%d.c" % i: GPL + prototypes("k%d" % (i % 5 + 1)) + BODY % ("k%d" % i, "", "k%d()" % (i % 5 + 1))
            for i in range(1, 6)}
    expect("knot of 5", layers, ring, "5 objects all need each other", *objects)
    ring["src/codec/k5.c"] = GPL + BODY % ("k5", "", "1")
    expect("a chain", layers, ring, "", *objects)


def rot_tests():
    rot, low, header = "check-rot", "src/base/low.c", "include/base/low.h"
    objects = ("--objects", "build")
    user = {"src/codec/main.c": GPL + "int high(void);\nint main(void)\n{\n\treturn high();\n}\n"}

    def said(name, text, changes):
        expect(name, rot, {**user, **changes}, text, *objects)

    def declared(text):
        return edit(header, "/* what", text + "\n/* what")
    said("a good tree", "", {})
    expect("a dead function", rot, {}, "high is used nowhere", *objects)
    said("a function of one file", "other is used by this file only: static",
         {low: GOOD[low] + BODY % ("other", "", "1") + BODY % ("another", "", "other()"),
          header: GOOD[header], "src/codec/main.c": user["src/codec/main.c"].replace("high()", "high() + another()")})
    said("a function for unit tests", "", {low: GOOD[low] + BODY % ("other", "", "1"), "tests/unit/base/t.c": "other();\n"})
    said("a dead flag", "A_B is never named again", declared("enum a { A_A = 1 << 0, A_B = 1 << 1 };\n/* A_A */\nint a(int A_A);\nint b(int a, int b);"))
    said("a dead number", "A_B is never named again", declared("enum a { A_A, A_B = 7, A_C };\nint low_c(int A_A, int A_C);"))
    said("a dead last one", "A_C is never named again", declared("enum a { A_A, A_B, A_C };"))
    said("a dead macro", "MOST is never named again", declared("#define MOST 3"))
    said("a dead prototype", "lost is never named again", declared("int lost(void);"))
    said("a dead extern", "gone is never named again", declared("extern int gone;"))
    said("a comment before a comment", "this comment describes another comment",
         edit(header, "/* what", "/* of something that went */\n/* what"))
    said("a static with an exported name", "has the name of an exported one",
         {"src/codec/low_too.c": GPL + "\nstatic int low(void)\n{\n\treturn 2;\n}\n"
          "\nint low_too(void)\n{\n\treturn low();\n}\n",
          "src/codec/main.c": user["src/codec/main.c"].replace("high()", "high() + low_too()")})
    said("a waiver", "", {**declared("#define MOST 3"), "scripts/waivers.txt": "rot MO* a reason\n"})
    said("a waiver for nothing", "nothing needs any more: rot MO*", {"scripts/waivers.txt": "rot MO* a reason\n"})


def setting_tests():
    """A tree that has all that check-settings looks for: structs of one member, lists of one bit, all of it read."""
    rule = "check-settings"
    with open(os.path.join(HERE, rule)) as f:
        known = {}
        exec(compile(f.read().split("def members")[0], rule, "exec"), known)  # its tables
    tree, user = {path: GPL for path in known["APPLIED"]}, []
    for header, structs in known["STRUCTS"].items():
        tree[header] = LGPL + "".join("struct %s {\n\tint %s_a;\n};\n" % (s, s) for s in structs)
        user += ["x->%s_a" % s for s in structs]
    for header, tables in known["BITS"].items():
        tree[header] += "".join("#define %s(X) \\\n\tX(ONE, 0)\n" % t for t in tables)
        user += [prefix + "ONE" for prefix in tables.values()]
    reader, waived = "src/proxy/user.c", "scripts/waivers.txt"

    def code(without=""):
        return {reader: GPL + "int user(void)\n{\n\treturn %s;\n}\n" % " + ".join(u for u in user if u != without)}
    good = {**tree, **code()}
    expect("all is read", rule, good, "")
    expect("a member that nobody reads", rule, {**good, **code("x->server_a")}, "struct server: nobody reads server_a")
    expect("a member that is set only", rule,
           {**good, **code("x->server_a"), "src/proxy/set.c": GPL + "x->server_a = 1;\n"}, "nobody reads server_a")
    expect("a member that the configuration's file alone reads", rule,
           {**good, **code("x->server_a"), "src/proxy/server_conf.c": GPL + "y = x->server_a;\n"}, "nobody reads server_a")
    expect("a member that is handed over", rule,
           {**good, **code("x->tls_global_a"), "src/tls/tls_conf.c": GPL + "apply(x->tls_global_a);\n"}, "")
    expect("a member in a comment", rule,
           {**good, **code("x->server_a"), "src/proxy/said.c": GPL + "/* x->server_a */\n"}, "nobody reads server_a")
    expect("a bit that nobody reads", rule, {**good, **code("BIND_ONE")}, "nobody reads BIND_ONE")
    expect("a waived one", rule, {**good, **code("BIND_ONE"), waived: "settings BIND_ONE a reason\n"}, "")
    expect("a struct that went", rule, {**good, "include/proxy/server.h": LGPL}, "no struct server")
    expect("a list that went", rule, {**good, "include/proxy/bind.h": good["include/proxy/bind.h"].replace("BIND_OPTIONS", "B")},
           "no table BIND_OPTIONS")


# what stands for the program: it prints the tables of -dK
PROGRAM = """#!/bin/sh
case "$*" in
*-dKsmp*) echo "# fetches"; echo "  [ YN.] alpha.one : x" ;;
*-dKcnv*) echo "  beta(<n>)" ;;
*-dKacl*) echo "  gamma" ;;
esac
exit 2
"""


def vocabulary_tests():
    rule, test = "check-vocabulary", "reg-tests/x/a.vtc"
    good = {"program": PROGRAM, test: "# alpha.one, beta(3) and gamma\n"}

    def said(name, text, changes):
        expect(name, rule, {**good, **changes}, text, "--program", "./program")
    said("each word has a test", "", {})
    said("a fetch without a test", "sample fetch alpha.one: no test names it", {test: "# alpha, beta, gamma\n"})
    said("a converter without a test", "converter beta: no test names it", {test: "# alpha.one betas gamma\n"})
    said("an ACL without a test", "ACL keyword gamma: no test names it", {test: "# alpha.one beta\n"})
    said("a word of the code", "gamma: no test", {test: "# alpha.one beta\n", "src/base/low.c": GPL + "/* gamma */\n"})
    said("a program without tables", "has no table smp", {"program": "#!/bin/sh\n"})


def lint_tests():
    """Is each check that lint runs shown a fault here? cppcheck is not ours, check-tables needs the program."""
    with open(os.path.join(HERE, "lint")) as f:
        run_by_lint = set(re.findall(r'"scripts/([\w-]+)"', f.read())) - {"make-keyword-tables"}
    missing = sorted(run_by_lint - {rule for rule, said in tested if said})
    results.append(not missing)
    print("%sok %d - lint: each of its %d checks is shown a fault%s"
          % ("" if not missing else "not ", len(results), len(run_by_lint), "".join(", but " + m for m in missing)))


def guide_tests():
    guides, page, low = "check-guides", "doc/internals/adding-a-thing.md", "src/base/low.c"
    tables = ("| opened | for |\n| --- | --- |\n| `src/base/low.c` | it |\n\n"
              "| changed | how |\n| --- | --- |\n| `src/base/low.c` | so |\n\n")
    blocks = "```diff\n%s\n-\treturn %s;\n+\treturn 2;\n```\n\n```vtc\n```\n"
    good = tables + blocks % (low, "1")
    rest = {low: GOOD[low]}
    expect("an edit of lines that are not there", guides, {**rest, page: good.replace("return 1", "return 3")}, "are not in src/base/low.c")
    expect("an edit of a file that is not there", guides, {**rest, page: good.replace(low, "src/base/no.c")}, "no.c is not there")
    expect("a file that no table names", guides, {**rest, page: good.replace("| `src/base/low.c` | so", "| `src/x` | so")}, "not among what is changed")
    expect("too many files", guides, {**rest, page: good.replace("| `src/base/low.c` | so |\n", "| `src/base/low.c` | so |\n" * 5)}, "5 files changed")
    expect("no test", guides, {**rest, page: good.replace("```vtc\n```\n", "")}, "no test")
    expect("code that is not C", guides, {**rest, "build/flags": "cc -Iinclude ;  ; ", page: good.replace("return 2", "return two")},
           "is not built", "--objects", "build")


def header_tests():
    rule, header, flags = "check-headers", "include/base/low.h", {"build/flags": "cc -Iinclude ;  ; "}
    expect("each stands alone", rule, flags, "", "--objects=build")
    expect("a type that is not there", rule, {**flags, **edit(header, "int low(void)", "bool low(void)")},
           "include/base/low.h does not stand alone", "--objects=build")
    expect("a private header", rule, {**flags, "src/base/low_priv.h": GPL + "struct low { uint8_t x; };\n"},
           "src/base/low_priv.h does not stand alone", "--objects=build")
    expect("what is beside it", rule, {**flags, "src/base/low_priv.h": GPL + '#include "other.h"\n', "src/base/other.h": GPL}, "",
           "--objects=build")


def doc_tests():
    rule = "check-docs"

    def said(name, text, page):
        expect(name, rule, {"doc/internals/base.md": page}, text)
    said("a good page", "", "`low()` is in `src/base/low.c`, [this page](base.md).\n")
    said("a function that went", "gone() is defined nowhere", "`gone()` does it\n")
    said("a file that went", "src/base/gone.c is not there", "see `src/base/gone.c`\n")
    said("a file without its folder that went", "gone.c is not there", "| `gone.c` | it |\n")
    said("a page that went", "link to gone.md", "see [it](gone.md)\n")
    said("a heading that is there", "", "# One `x`, two\n\n[it](base.md#one-x-two), [it](#here)<a id=\"here\"></a>\n")
    said("a heading that went", "link to base.md#gone, a heading", "# One\n\n[it](base.md#gone)\n")
    said("a heading of the page that went", "link to #gone, a heading", "# One\n\n[it](#gone)\n")
    said("a function of another file", "low is not in codec/high.c", "`low()` (`src/codec/high.c`)\n")
    # a program that knows one word
    program = "#!/bin/sh\ncase $1 in -dKall) echo '  http-request deny' ;; esac\n"

    def users(name, text, page):
        expect(name, rule, {"doc/start.md": page, "program": program}, text, "--program", "./program")
    users("what is missing", "", "`frobnicate` is not built yet.\n")
    users("what is there by now", "`deny` is said to be missing, and is there", "The action `deny` is not supported.\n")
    users("a chapter of what is missing", "`deny` is said to be missing, and is there", "## What is not there yet\n\n`deny`, `x`\n")
    users("missing without a name", "does not name it", "Lua is not built yet.\n")
    said("a step of the walk in another file", "low is not in codec/high.c", "| 1 | `low` | codec/high.c | so |\n")


def file_tests():
    rule, page = "make-file-tables", "doc/internals/files.md"
    good = {page: "", "src/base/low.c": GPL + "/* low.c - low things */\n", "src/codec/high.c": GPL + "/* high.c - high ones */\n"}
    good[page] = made(rule, good, page)
    expect("each file is in the page", rule, good, "", "--check")
    expect("a file that the page does not name", rule, {**good, "src/base/new.c": GPL + "/* new.c - new */\n"}, "make doc", "--check")
    expect("a file that does not say what it is for", rule, {**good, "src/base/new.c": GPL}, "does not say", "--check")


def completion_tests():
    rule, made_files = "make-completion", ("admin/completion/haproxy.bash", "admin/completion/_haproxy", "admin/vim/haproxy.vim")
    good = {"program": PROGRAM}
    good.update({path: made(rule, good, path, "--program", "./program") for path in made_files})
    expect("what is made", rule, good, "", "--check", "--program", "./program")
    expect("a file that was edited", rule, {**good, made_files[2]: "edited"}, "haproxy.vim: not what", "--check", "--program", "./program")


def commit_tests():
    def said(name, message, text):
        expect(name, "check-commits", {"message": message}, text, "--hook", "message")
    said("a good message", "CLEAN/minor: base: less of it\n", "")
    said("no kind", "less of it\n", "message")
    said("a long subject", "CLEAN/minor: base: %s\n" % ("x" * 90), "90")
    said("a mistake without a body", "BUG/minor: base: less of it\n", "body")


def difference_tests():
    rule, listed, page = "make-differences", "tests/differences.txt", "doc/configuration/differences.md"
    row = "%s | where `a|b` | ours | theirs <x> | why | reg-tests/x/%s.vtc\n"
    good = {page: "", listed: "# the list\n\n[One]\n" + row % ("a-b", "a") + "[Two]\n" + row % ("a-a", "b"),
            "reg-tests/x/a.vtc": "# differs: a-b\n", "reg-tests/x/b.vtc": "# differs: a-a\n"}
    expect("a good list", rule, {**good, page: made(rule, good, page)}, "", "--check")
    expect("a page of another list", rule, good, "run `make doc`", "--check")

    def wrong(name, said, changes):
        expect(name, rule, {**good, **changes}, said)
    wrong("a cell is missing", "differences.txt:2: not", {listed: "[One]\na-b | where | ours\n"})
    wrong("no chapter", "differences.txt:1: not", {listed: good[listed].replace("[One]\n", "").replace("# the list\n\n", "")})
    wrong("not sorted", "a-a is not sorted", {listed: good[listed].replace("[Two]\n", "")})
    wrong("twice", "a-b is there twice", {listed: good[listed] + "[Three]\n" + row % ("a-b", "a")})
    wrong("a bad name", "the name A_b", {listed: good[listed] + "[Three]\n" + row % ("A_b", "a")})
    wrong("no such test", "names reg-tests/x/a.vtc, which is not there", {"reg-tests/x/a.vtc": None})
    wrong("a test that does not say it", "a.vtc: has no line", {"reg-tests/x/a.vtc": "# x\n"})
    wrong("a test of no row", "\"differs: a-c\" is no row", {"reg-tests/x/c.vtc": "# differs: a-c\n"})
    wrong("a test that its row does not name", "does not name reg-tests/x/c.vtc", {"reg-tests/x/c.vtc": "# differs: a-b\n"})


def finding_tests():
    rule, listed = "check-findings", "tests/findings.txt"
    row = "%s | was wrong | %s\n"
    good = {listed: "# the list\n\n[Severe]\n" + row % ("a", "reg-tests/x/a.vtc:word differs:a-b") + "  class: all others\n"
            "[Others]\n" + row % ("b", "reg-tests/x/a.vtc"),
            "tests/differences.txt": "[One]\na-b | x | x | x | x | x\n", "reg-tests/x/a.vtc": "# a word\n"}
    expect("a good list", rule, good, "")
    for name, said, changes in (
            ("no such test", "a.vtc: no test", {"reg-tests/x/a.vtc": None}),
            ("a test without the word", "has no 'word'", {"reg-tests/x/a.vtc": "# other\n"}),
            ("no such difference", "no row of", {"tests/differences.txt": "[One]\na-c | x | x | x | x | x\n"}),
            ("a severe one without its class", "which class", {listed: good[listed].replace("  class: all others\n", "")}),
            ("twice", "b: is there twice", {listed: good[listed] + row % ("b", "reg-tests/x/a.vtc")}),
            ("a cell is missing", "not \"name", {listed: good[listed] + "c | x\n"})):
        expect(name, rule, {**good, **changes}, said)


def manual_tests():
    rule, table, test = "check-manual", "tests/manual/configuration-5.txt", "reg-tests/x/a.vtc"
    text = ("5. Options\n----------\n\nOnce.\n\n5.1. Of bind\n------------\n\nalpha <n>\n  Sets %s.\n\n"
            "  Example:\n\n      alpha 1\n\n  See also: none.\n\nbeta\n  Is off.\n")
    folder = {"manual/configuration.txt": text % "n", "manual/management.txt": "", test: "bind x alpha 1\n"}
    argument = ("--manual", "manual", "--update")
    with tempfile.TemporaryDirectory() as top:
        write(top, files(folder))
        subprocess.run([sys.executable, os.path.join(HERE, rule), *argument], cwd=top, check=True,
                       env={**os.environ, "PROJECT_TOP": top}, stdout=subprocess.DEVNULL)
        made_of = {}
        for name in os.listdir(os.path.join(top, "tests/manual")):
            with open(os.path.join(top, "tests/manual", name)) as f:
                made_of["tests/manual/" + name] = f.read()
    states = [line.split(" | ")[4] for line in made_of[table].splitlines()[1:]]
    results.append(states == ["open", "open", "example", "example", "text", "open"])
    print("%sok %d - %s: a table of a manual: %s" % ("" if results[-1] else "not ", len(results), rule, " ".join(states)))
    good = {**folder, **made_of}

    def with_state(number, state):
        lines = made_of[table].splitlines()
        lines[number] = " | ".join(lines[number].split(" | ")[:4] + [state])
        return {**good, table: "\n".join(lines) + "\n"}
    expect("a good table", rule, good, "")
    expect("a tested paragraph", rule, with_state(2, "tested:" + test + " | sets it"), "")
    expect("the manual is the same", rule, good, "", "--manual", "manual")
    expect("a paragraph has changed", rule, {**good, "manual/configuration.txt": text % "two"},
           "no row for alpha of section 5.1", "--manual", "manual")
    expect("no such state", rule, with_state(2, "perhaps"), "configuration-5.txt:3: not section")
    expect("no such test", rule, with_state(2, "tested:reg-tests/x/b.vtc"), "names reg-tests/x/b.vtc, which is not there")
    expect("a test of something else", rule, with_state(6, "tested:" + test), "a.vtc does not name beta")
    expect("no test", rule, with_state(2, "tested:"), "names no test")
    expect("no reason", rule, with_state(2, "other:"), "does not say why")


def tap_tests():
    tap = "run-tap"

    def program(text, status=0):
        return {"t.py": "print(%r)\nraise SystemExit(%d)\n" % (text, status)}
    expect("passes", tap, program("1..1\nok 1"), "", "t.py")
    expect("not ok", tap, program("1..1\nnot ok 1 - this one"), "not ok 1 - this one", "t.py")
    expect("no plan", tap, program("ok 1"), "no plan", "t.py")
    expect("short", tap, program("1..2\nok 1"), "planned 2, ran 1", "t.py")
    expect("exit status", tap, program("1..1\nok 1", 3), "exit status 3", "t.py")
    unsteady = {"t.py": "import os\nfirst = not os.path.exists('f')\nopen('f', 'w')\n"
                "print('1..1\\n' + ('not ok 1' if first else 'ok 1'))\n"}
    expect("unsteady", tap, unsteady, "not ok 1", "t.py")
    text, status = run(tap, unsteady, "--again", "1", "t.py")
    results.append(status == 0 and "not ok 1" in text and "UNSTEADY t.py" in text)
    print("%sok %d - run-tap: what passes the second time is said" % ("" if results[-1] else "not ", len(results)))
    expect("fails twice", tap, program("1..1\nnot ok 1"), "tap: 0 passed, 1 failed", "--again", "1", "t.py")
    text, _ = run(tap, program("1..2\nok 1 # skip no such thing\nok 2"), "t.py")
    results.append("tap: 1 passed, 0 failed, 1 skipped" in text)
    print("%sok %d - run-tap: a skipped test is no passed one" % ("" if results[-1] else "not ", len(results)))
    text, _ = run(tap, program("1..3\nok 1 - a # skip apart: servers\nok 2 - b # skip apart: servers\nok 3"), "t.py")
    results.append("left out: 2 of servers\ntap: 1 passed, 0 failed, 0 skipped" in text)
    print("%sok %d - run-tap: what needs more is told once" % ("" if results[-1] else "not ", len(results)))


format_tests()
size_tests()
if shutil.which("nm"):
    layer_tests()
    rot_tests()
setting_tests()
vocabulary_tests()
header_tests()
doc_tests()
file_tests()
completion_tests()
commit_tests()
guide_tests()
difference_tests()
finding_tests()
manual_tests()
tap_tests()
lint_tests()
print("1..%d" % len(results))
sys.exit(0 if all(results) else 1)
