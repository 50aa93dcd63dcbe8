# SPDX-License-Identifier: GPL-2.0-or-later
"""What is said of the commonest mistakes, beside HAProxy 3.4: see tests/system/messages.py.

A row is (mistake, verdict, configuration, exit status, alerts and warnings without carets and hints). The verdict
says how HAProxy 3.4 tells of it: "same" in the same words, "other" in other words that say as much, "better" less
well (no line, no suggestion, words that are not there), or "differs" and the name of a row of tests/differences.txt.
A text that ends with "..." is the beginning of a longer one.
"""
import os

D = "defaults\n\tmode http\n\ttimeout connect 5s\n\ttimeout client 5s\n\ttimeout server 5s\n"
F = D + "frontend f\n\tbind 127.0.0.1:1\n"
B = D + "backend b\n"

CPUS = len(os.sched_getaffinity(0))

MESSAGES = [
    ("misspelt keyword", "same", F + "\tdefualt_backend b\n", 1, [
        "ALERT config : parsing [x.cfg:8] : unknown keyword 'defualt_backend' in 'frontend' section; did you "
        "mean 'default_backend' maybe ?",
    ]),
    ("misspelt section", "same", "fronted f\n", 1, [
        "ALERT config : parsing [x.cfg:1]: unknown keyword 'fronted' out of section.",
    ]),
    ("keyword outside of a section", "same", "bind :80\n", 1, [
        "ALERT config : parsing [x.cfg:1]: unknown keyword 'bind' out of section.",
    ]),
    ("missing argument of a timeout", "other", D + "\ttimeout client\n", 1, [
        "ALERT config : parsing [x.cfg:6] : 'timeout client' expects <delay> as argument.",
    ]),
    ("bad time", "same", D + "\ttimeout client 5x\n", 1, [
        "ALERT config : parsing [x.cfg:6] : unexpected character 'x' in 'timeout client'",
    ]),
    ("time too long", "same", D + "\ttimeout client 99d\n", 1, [
        "ALERT config : parsing [x.cfg:6] : timer overflow in argument '99d' to 'timeout client' (maximum val"
        "ue is 2147483647 ms or ~24.8 days)",
    ]),
    ("unknown timeout", "better", D + "\ttimeout clinet 5s\n", 1, [
        "ALERT config : parsing [x.cfg:6] : 'timeout' supports 'check', 'client', 'client-fin', 'client-hs', "
        "'connect', 'http...",
    ]),
    ("bad size", "same", "global\n\ttune.bufsize 16x\n", 1, [
        "ALERT config : parsing [x.cfg:2] : unexpected 'x' after size passed to 'tune.bufsize'",
    ]),
    ("bad number", "same", "global\n\tmaxconn abc\n", 1, [
        "ALERT config : parsing [x.cfg:2] : cannot parse 'maxconn' value 'abc', an integer is expected.",
    ]),
    ("missing value of maxconn", "same", "global\n\tmaxconn\n", 1, [
        "ALERT config : parsing [x.cfg:2] : 'maxconn' expects an integer argument.",
    ]),
    ("bad address of bind", "other", F + "\tbind 1.2.3.4.5:80\n", 1, [
        "ALERT config : parsing [x.cfg:8] : 'bind' : could not resolve address '1.2.3.4.5'",
    ]),
    ("bind without port", "same", F + "\tbind 127.0.0.1\n", 1, [
        "ALERT config : parsing [x.cfg:8] : 'bind' : missing port specification in '127.0.0.1'",
    ]),
    ("port too large", "same", F + "\tbind :70000\n", 1, [
        "ALERT config : parsing [x.cfg:8] : 'bind' : invalid port '70000'",
    ]),
    ("bind without argument", "same", F + "\tbind\n", 1, [
        "ALERT config : parsing [x.cfg:8] : 'bind' expects {<path>|[addr1]:port1[-end1]}{,[addr]:port[-end]}."
        ".. as arguments.",
    ]),
    ("unknown option of bind", "same", F + "\tbind :80 sssl\n", 1, [
        "ALERT config : parsing [x.cfg:8] : 'bind :80' in section 'frontend': unknown keyword 'sssl'; did you"
        " mean 'ssl' maybe ?",
    ]),
    ("missing certificate", "same", F + "\tbind :80 ssl crt /nowhere/x.pem\n", 1, [
        "ALERT config : parsing [x.cfg:8] : 'bind :80' in section 'frontend' : unable to stat SSL certificate"
        " from file '/nowhere/x.pem' : No such file or directory.",
    ]),
    ("tls without certificate", "same", F + "\tbind :80 ssl\n", 1, [
        "ALERT Proxy 'f': no SSL certificate specified for bind ':80' at [x.cfg:8] (use 'crt').",
    ]),
    ("unknown backend", "same", F + "\tdefault_backend nothere\n", 1, [
        "ALERT Proxy 'f': unable to find required default_backend: 'nothere'.",
    ]),
    ("unknown backend of a rule", "better", F + "\tuse_backend nothere if TRUE\n", 1, [
        "ALERT config : parsing [x.cfg:8] : Proxy 'f': unable to find required use_backend: 'nothere'.",
    ]),
    ("use_backend without condition word", "same", F + "\tuse_backend b path /x\nbackend b\n", 1, [
        "ALERT config : parsing [x.cfg:8] : unexpected keyword 'path' after switching rule, only 'if' and 'un"
        "less' are allowed.",
    ]),
    ("acl without name", "better", F + "\tacl\n", 1, [
        "ALERT config : parsing [x.cfg:8] : missing ACL name.",
    ]),
    ("acl without criterion", "same", F + "\tacl a\n", 1, [
        "ALERT config : parsing [x.cfg:8] : error detected while parsing ACL 'a' : missing fetch method in AC"
        "L expression ''.",
    ]),
    ("acl with unknown fetch", "same", F + "\tacl a pth /x\n", 1, [
        "ALERT config : parsing [x.cfg:8] : error detected while parsing ACL 'a' : unknown fetch method 'pth'"
        " in ACL expression 'pth'.",
    ]),
    ("acl that is not there", "same", F + "\thttp-request deny if a\n", 1, [
        "ALERT config : parsing [x.cfg:8] : error detected while parsing an 'http-request deny' condition : n"
        "o such ACL : 'a'.",
    ]),
    ("condition without acl", "differs conf-empty-condition", F + "\thttp-request deny if\n", 1, [
        "ALERT config : parsing [x.cfg:8] : error detected while parsing an 'http-request deny' condition : n"
        "o term after 'if'.",
    ]),
    ("unclosed brace", "same", F + "\thttp-request deny if { path /x\n", 1, [
        "ALERT config : parsing [x.cfg:8] : error detected while parsing an 'http-request deny' condition : m"
        "issing closing '}' in condition.",
    ]),
    ("unknown action", "better", F + "\thttp-request denny\n", 1, [
        "ALERT config : parsing [x.cfg:8] : 'http-request' expects 'allow', 'reject', 'set-log-level', 'set-n"
        "ice', 'silent-dr...",
    ]),
    ("action without argument", "same", F + "\thttp-request set-header X\n", 1, [
        "ALERT config : parsing [x.cfg:8] : error detected in frontend 'f' while parsing 'http-request set-he"
        "ader' rule : expects exactly 2 arguments.",
    ]),
    ("unknown fetch in a format", "same", F + "\thttp-request set-header X %[srcc]\n", 1, [
        "ALERT config : parsing [x.cfg:8] : error detected in frontend 'f' while parsing 'http-request set-he"
        "ader' rule : failed to parse sample expression <srcc]> : unknown fetch method 'srcc'.",
    ]),
    ("unknown converter", "same", F + "\thttp-request set-header X %[src,uper]\n", 1, [
        "ALERT config : parsing [x.cfg:8] : error detected in frontend 'f' while parsing 'http-request set-he"
        "ader' rule : failed to parse sample expression <src,uper]> : unknown converter 'uper'.",
    ]),
    ("unclosed format", "same", F + "\thttp-request set-header X %[src\n", 1, [
        "ALERT config : parsing [x.cfg:8] : error detected in frontend 'f' while parsing 'http-request set-he"
        "ader' rule : missing ']' after 'src'.",
    ]),
    ("bad status of a redirect", "same", F + "\thttp-request redirect location / code 399\n", 1, [
        "ALERT config : parsing [x.cfg:8] : error detected in frontend 'f' while parsing 'http-request redire"
        "ct' rule : 'code': unsupported HTTP code '399' (must be one of 301, 302, 303, 307 or 308).",
    ]),
    ("bad regular expression", "same", F + "\thttp-request replace-header X ( y\n", 1, [
        "ALERT config : parsing [x.cfg:8] : error detected in frontend 'f' while parsing 'http-request replac"
        "e-header' rule : regex '(' is invalid (error=missing closing parenthesis, erroffset=1).",
    ]),
    ("response fetch in a request rule", "same", F + "\thttp-request set-header X %[status]\n", 1, [
        "ALERT config : parsing [x.cfg:8] : error detected in frontend 'f' while parsing 'http-request set-he"
        "ader' rule : sample fetch <status> may not be reliably used here because it needs 'HTTP response' wh"
        "ich is not available here.",
    ]),
    ("server without address", "same", B + "\tserver s\n", 1, [
        "ALERT config : [x.cfg:7] : 'server' expects <name> and <addr>[:<port>] as arguments.",
    ]),
    ("server with a bad address", "same", B + "\tserver s 1.2.3.4.5:80\n", 1, [
        "ALERT [x.cfg:7] : 'server b/s' : could not resolve address '1.2.3.4.5'.",
        "ALERT Failed to initialize server(s) addr.",
    ]),
    ("unknown option of server", "same", B + "\tserver s 127.0.0.1:80 chek\n", 1, [
        "ALERT config : [x.cfg:7] : 'server b/s' : unknown keyword 'chek'; did you mean 'check' maybe ?",
    ]),
    ("weight too large", "other", B + "\tserver s 127.0.0.1:80 weight 300\n", 1, [
        "ALERT config : [x.cfg:7] : 'server b/s' : weight of server s is not within 0 and 256 (300).",
    ]),
    ("inter without value", "other", B + "\tserver s 127.0.0.1:80 check inter\n", 1, [
        "ALERT config : [x.cfg:7] : 'server b/s' : 'inter' : missing value",
    ]),
    ("two servers of one name", "same", B + "\tserver s 127.0.0.1:80\n\tserver s 127.0.0.1:81\n", 1, [
        "ALERT parsing [x.cfg:8] : backend 'b', another server named 's' was already defined at line 7, pleas"
        "e use distinct names.",
    ]),
    ("missing ca-file", "other", B + "\tserver s 127.0.0.1:80 ssl ca-file /nowhere/ca.pem\n", 1, [
        "ALERT config : Couldn't open the ca-file '/nowhere/ca.pem' (No such file or directory).",
        "ALERT config : [x.cfg:7] : 'server b/s' : 'ca-file' : unable to load /nowhere/ca.pem",
    ]),
    ("unknown resolvers", "same", B + "\tserver s a.example:80 resolvers r init-addr none\n", 1, [
        "ALERT backend 'b', server 's': unable to find required resolvers 'r'",
    ]),
    ("unknown algorithm", "better", B + "\tbalance roundrobn\n", 1, [
        "ALERT config : parsing [x.cfg:7] : balance only supports 'roundrobin', 'static-rr', 'leastconn', 'so"
        "urce', 'uri', 'u...",
    ]),
    ("unknown mode", "same", D + "\tmode htpp\n", 1, [
        "ALERT config : parsing [x.cfg:6] : unknown proxy mode 'htpp'.",
    ]),
    ("unknown option", "same", D + "\toption httplg\n", 1, [
        "ALERT config : parsing [x.cfg:6] : unknown option 'httplg'; did you mean 'httplog' maybe ?",
    ]),
    ("option with extra words", "same", D + "\toption httplog clf x\n", 1, [
        "ALERT config : parsing [x.cfg:6] : 'option httplog' cannot handle unexpected argument 'x'.",
    ]),
    ("unknown log facility", "same", "global\n\tlog 127.0.0.1 local9\n", 1, [
        "ALERT config : parsing [x.cfg:2] : log : unknown log facility 'local9'",
    ]),
    ("missing error file", "same", D + "\terrorfile 503 /nowhere/503.http\n", 1, [
        "ALERT config : parsing [x.cfg:6] : errorfile : error opening file '/nowhere/503.http'.",
    ]),
    ("unknown stick table", "same", F + "\thttp-request track-sc0 src table nothere\n", 1, [
        "ALERT Proxy 'f': unable to find table 'nothere' referenced by track-sc0.",
    ]),
    ("stick table without type", "same", B + "\tstick-table size 1k\n", 1, [
        "ALERT config : parsing [x.cfg:7] : stick-table: missing type.",
    ]),
    ("missing map", "same", F + "\thttp-request set-header X %[src,map(/nowhere/m)]\n", 1, [
        "ALERT config : parsing [x.cfg:8] : error detected in frontend 'f' while parsing 'http-request set-he"
        "ader' rule : fai...",
    ]),
    ("unclosed quote", "same", F + "\thttp-request set-header X \"a\n", 1, [
        "ALERT config : parsing [x.cfg:8]: unmatched quote at position 28:",
    ]),
    ("tcp rule in http terms", "better", F + "\ttcp-request contnt accept\n", 1, [
        "ALERT config : parsing [x.cfg:8] : 'tcp-request' expects 'inspect-delay', 'connection', 'session', o"
        "r 'content' in frontend 'f' (got 'contnt')",
    ]),
    ("http rules in mode tcp", "same", D + "frontend f\n\tmode tcp\n\tbind 127.0.0.1:1\n\thttp-request deny\n", 0, [
        "WARNING 'http-request' rules ignored for frontend 'f' as they require HTTP mode.",
    ]),
    ("unknown user of a userlist", "other", F + "\thttp-request auth unless { http_auth(nothere) }\n", 1, [
        "ALERT config : parsing [x.cfg:8] : unable to find userlist 'nothere' referenced in arg 1 of fetch me"
        "thod 'http_auth'.",
    ]),
    ("missing peers", "same", B + "\tstick-table type ip size 1k peers nothere\n", 1, [
        "ALERT Proxy 'b': unable to find sync peers 'nothere'.",
    ]),
    ("frontend without bind", "same", D + "frontend f\n", 2, [
        "WARNING frontend 'f' has no 'bind' directive. Please declare it as a backend if this was intended.",
    ]),
    ("listen in one line", "same", "listen f :80\n", 1, [
        "ALERT config : parsing [x.cfg:1] : please use the 'bind' keyword for listening addresses.",
    ]),
    ("removed option", "other", D + "\toption forceclose\n", 1, [
        "ALERT config : parsing [x.cfg:6] : option 'forceclose' is not supported any more since HAProxy 2.0, "
        "please just remove it, or use 'option httpclose' if absolutely needed.",
    ]),
    ("removed nbproc", "same", "global\n\tnbproc 2\n", 1, [
        "ALERT config : parsing [x.cfg:2] : nbproc is not supported any more since HAProxy 2.5. Threads will "
        "automatically be used on multi-processor machines if available.",
    ]),
    ("unknown user", "other", "global\n\tuser nosuchuser\n", 1, [
        "ALERT config : parsing [x.cfg:2] : cannot find user id for 'nosuchuser' (not found)",
    ]),
    ("if without endif", "same", ".if defined(X)\nglobal\n", 1, [
        "ALERT config : parsing [x.cfg:2]: non-terminated '.if' block.",
    ]),
    ("timeout said twice", "same", F +
     "\ttimeout client-fin 1s\n\ttimeout client-fin 2s\n", 0, [
        "WARNING config : parsing [x.cfg:9] : overwriting 'timeout client-fin' which was al"
        "ready specified",
    ]),
    ("tcp-request content behind http-request", "same", F +
     "\thttp-request allow if TRUE\n\ttcp-request content accept if TRUE\n\tdefault_backend b\nba"
     "ckend b\n", 0, [
        "WARNING config : parsing [x.cfg:9] : a 'tcp-request content' rule placed after an "
        "'http-request' rule will still be processed before.",
    ]),
    ("tcp-response content behind http-response", "same", B +
     "\thttp-response allow if TRUE\n\ttcp-response content accept if TRUE\n", 2, [
        "WARNING config : parsing [x.cfg:8] : a 'tcp-response content' rule placed after an"
        " 'http-response' rule will still be processed before.",
    ]),
    ("http-request behind use_backend", "same", F +
     "\tuse_backend b if TRUE\n\thttp-request allow if TRUE\nbackend b\n", 0, [
        "WARNING config : parsing [x.cfg:9] : a 'http-request' rule placed after a 'use_bac"
        "kend' rule will still be processed before.",
    ]),
    ("tcp-request session behind two that come later: the next one is named", "same", F +
     "\ttcp-request content accept if TRUE\n\tuse_backend b if TRUE\n\ttcp-request session accept if TRUE\nbackend b\n",
     0, [
        "WARNING config : parsing [x.cfg:10] : a 'tcp-request session' rule placed after a 'tcp-request content' rule "
        "will still be processed before.",
    ]),
    ("monitor fail behind http-request", "same", F +
     "\thttp-request allow if TRUE\n\tmonitor fail if FALSE\n", 0, [
        "WARNING config : parsing [x.cfg:9] : a 'monitor fail' rule placed after an 'http-request' rule will still be "
        "processed before.",
    ]),
    ("tcp-request connection behind monitor fail", "same", F +
     "\tmonitor fail if FALSE\n\ttcp-request connection accept if TRUE\n", 0, [
        "WARNING config : parsing [x.cfg:9] : a 'tcp-request connection' rule placed after a 'monitor fail' rule will "
        "still be processed before.",
    ]),
    ("inspect-delay said twice", "same", F +
     "\ttcp-request inspect-delay 1s\n\ttcp-request inspect-delay 2s\n", 0, [
        "WARNING config : parsing [x.cfg:9] : ignoring tcp-request inspect-delay (was alrea"
        "dy defined) in frontend 'f'",
    ]),
    ("a log format replaced in defaults", "other", D +
     "\tlog-format a\n\toption httplog\nfrontend f\n\tbind 127.0.0.1:1\n\tlog 127.0.0.1:1 local0\n", 0, [
        "WARNING config : parsing [x.cfg:7] : 'option httplog' overrides previous 'log-form"
        "at' in 'defaults' section.",
    ]),
    ("unknown status of errorfile", "same", F +
     "\terrorfile 999 /x\n", 1, [
        "ALERT config : parsing [x.cfg:8] : errorfile : status code '999' not handled.",
    ]),
    ("errorfile that is not there", "same", F +
     "\terrorfile 503 /no/such/file\n", 1, [
        "ALERT config : parsing [x.cfg:8] : errorfile : error opening file '/no/such/file'.",
    ]),
    ("unknown server of use-server", "better", B +
     "\tuse-server x if TRUE\n\tserver s 127.0.0.1:1\n", 1, [
        "ALERT config : parsing [x.cfg:7] : backend 'b' : unable to find server 'x' referen"
        "ced in a 'use-server' rule.",
    ]),
    ("unknown action of http-response", "other", F +
     "\thttp-response frobnicate\n", 1, [
        "ALERT config : parsing [x.cfg:8] : 'http-response' expects 'allow', 'se...",
    ]),
    ("unknown action of tcp-request content", "other", F +
     "\ttcp-request content frobnicate\n", 1, [
        "ALERT config : parsing [x.cfg:8] : 'tcp-request content' expects 'accept', 'r...",
    ]),
    ("unknown algorithm of balance", "other", B +
     "\tbalance roundrobbin\n", 1, [
        "ALERT config : parsing [x.cfg:7] : balance only supports 'roundrobin', 'static-rr'"
        ", 'leastconn', 'source', 'uri', 'url_param', 'hash', 'hdr(<name>) [use_domain_only"
        "]', 'rdp-cookie', 'random', 'first', 'sticky', 'peak-ewma', 'log-hash' options.",
    ]),
    ("cookie without arguments", "same", B +
     "\tcookie\n", 1, [
        "ALERT config : parsing [x.cfg:7] : 'cookie' expects <cookie_name> as argument.",
    ]),
    ("bad option of cookie", "same", B +
     "\tcookie a insrt\n", 1, [
        "ALERT config : parsing [x.cfg:7] : 'cookie' supports 'rewrite', 'insert', 'prefix'"
        ", 'indirect', 'nocache', 'postonly', 'domain', 'maxidle', 'dynamic', 'maxlife' and"
        " 'attr' options.",
    ]),
    ("redirect without a kind", "same", F +
     "\thttp-request redirect http://a\n", 1, [
        "ALERT config : parsing [x.cfg:8] : error detected in frontend 'f' while parsing 'h"
        "ttp-request redirect' rule : expects 'code', 'prefix', 'location', 'scheme', 'set-"
        "cookie', 'set-cookie-fmt', 'clear-cookie', 'drop-query', 'keep-query', 'ignore-emp"
        "ty' or 'append-slash' (was 'http://a').",
    ]),
    ("bad code of redirect", "same", F +
     "\thttp-request redirect location / code 200\n", 1, [
        "ALERT config : parsing [x.cfg:8] : error detected in frontend 'f' while parsing 'h"
        "ttp-request redirect' rule : 'code': unsupported HTTP code '200' (must be one of 3"
        "01, 302, 303, 307 or 308).",
    ]),
    ("stick-table without a size", "same", B +
     "\tstick-table type ip\n", 1, [
        "ALERT config : parsing [x.cfg:7] : stick-table: missing size.",
    ]),
    ("bad type of stick-table", "same", B +
     "\tstick-table type ipp size 1k\n", 1, [
        "ALERT config : parsing [x.cfg:7] : stick-table: unknown type 'ipp'.",
    ]),
    ("track-sc without a table", "same", F +
     "\thttp-request track-sc0 src\n", 1, [
        "ALERT Proxy 'f': unable to find table 'f' referenced by track-sc0.",
    ]),
    ("log-format that cannot be read", "other", F +
     "\tlog-format %{+Q}[src\n\tlog 127.0.0.1:1 local0\n", 1, [
        "ALERT config : parsing [x.cfg:8] : missing ']' after 'src'.",
    ]),
    ("unknown facility", "same", F +
     "\tlog 127.0.0.1:1 locl0\n", 1, [
        "ALERT config : parsing [x.cfg:8] : log : unknown log facility 'locl0'",
    ]),
    ("unknown scope of a variable", "same", F +
     "\thttp-request set-var(foo.a) int(1)\n", 1, [
        "ALERT config : parsing [x.cfg:8] : error detected in frontend 'f' while parsing 'h"
        "ttp-request set-var(foo.a)' rule : invalid variable name 'foo.a'. A variable name "
        "must start with its scope. The scope can be 'proc', '(p)sess', '(p)txn', '(p)req',"
        " '(p)res' or 'check'.",
    ]),
    ("deny_status that is no number", "better", F +
     "\thttp-request deny deny_status abc\n", 1, [
        "ALERT config : parsing [x.cfg:8] : error detected in frontend 'f' while parsing 'h"
        "ttp-request deny' rule : Unexpected status code 'abc'.",
    ]),
    ("tcp-check without option", "same", B +
     "\ttcp-check connect\n\tserver s 127.0.0.1:1 check\n", 2, [
        "WARNING backend 'b' uses tcp-check rules without 'option tcp-check', so the rules "
        "are ignored.",
    ]),
    ("server with a bad weight", "other", B +
     "\tserver s 127.0.0.1:1 weight 300\n", 1, [
        "ALERT config : [x.cfg:7] : 'server b/s' : weight of server s is not within 0 and 2"
        "56 (300).",
    ]),
    ("check on a server without port", "other", B +
     "\tserver s 127.0.0.1 check\n", 1, [
        "ALERT config: backend 'b': server 's' has neither service port nor check port nor "
        "tcp_check rule 'connect' with port information.",
    ]),
    ("capture in a backend", "better", B +
     "\tcapture request header a len 3\n", 2, [
        "WARNING config : parsing [x.cfg:7] : 'capture request header' ignored because back"
        "end 'b' has no frontend capability.",
    ]),
    ("stats uri without argument", "same", F +
     "\tstats uri\n", 1, [
        "ALERT config : parsing [x.cfg:8] : 'uri' needs an URI prefix.",
    ]),
]

# words of the command line, verdict (of "differs", only the exit status differs: HAProxy 3.4 takes what is no
# number for one, or has no such word), exit status, what is said
COMMAND_LINES = [
    (["-v"], "other", 0, r"^HAProxy version 3\.4"),
    (["-zz"], "other", 1, r"^Usage : "),
    (["--bogus"], "other", 1, r"^Usage : "),
    (["-h"], "other", 1, r"^Usage : "),
    (["-c"], "other", 1, r"^Usage : "),
    (["-f"], "other", 1, r"^Usage : "),
    (["-f", "nothere.cfg"], "same", 1,
     r"Cannot open configuration file/directory nothere\.cfg : No such file or directory"),
    (["-c", "-f", "ok.cfg"], "same", 0, r"^$"),
    (["-c", "-V", "-f", "ok.cfg"], "same", 0, r"^Configuration file is valid$"),
    (["-c", "-q", "-f", "ok.cfg"], "same", 0, r"^$"),
    (["-c", "-dW", "-f", "ok.cfg"], "same", 0, r"^$"),
    (["-c", "--", "ok.cfg"], "same", 0, r"^$"),
    (["-c", "-f", "/dev/null"], "same", 2,
     r"^Configuration file has no error but will not start \(no listener\) => exit\(2\)\.$"),
    (["-C", "/nowhere", "-c", "-f", "ok.cfg"], "same", 1, r"/nowhere"),
    (["-n", "x", "-c", "-f", "ok.cfg"], "differs", 1, r"'x' is not a number that option '-n' can use"),
    (["-m", "x", "-c", "-f", "ok.cfg"], "differs", 1, r"'x' is not a number that option '-m' can use"),
    (["-N", "x", "-c", "-f", "ok.cfg"], "differs", 1, r"'x' is not a number that option '-N' can use"),
    (["-cc", "version_atleast(3.4)"], "same", 0, r"^$"),
    (["-cc", "version_atleast(3.5)"], "same", 1, r"^$"),
    (["-cc", "feature(OPENSSL)"], "same", 0, r"^$"),
    (["-cc", ""], "same", 1, r"^$"),
    (["-cc", "true"], "same", 2, r"unparsable conditional expression 'true'"),
    (["-dKbogus", "-c", "-f", "ok.cfg"], "differs", 1, r"^# List of supported keyword classes:"),
    (["-dMbogus", "-c", "-f", "ok.cfg"], "other", 1, r"unknown memory debugging option 'bogus'"),
    (["-sf", "x", "-c", "-f", "ok.cfg"], "other", 1, r"^Usage : "),
    (["-de", "-dp", "-c", "-f", "ok.cfg"], "same", 0, r"^$"),
    (["-4", "-dr", "-dG", "-dR", "-dV", "-c", "-f", "ok.cfg"], "same", 0, r"^$"),
]

# Lines of -vv that tools look for, of both programs ("same") or of this one.
BUILD = [
    ("same", r"^HAProxy version 3\.4"),
    ("same", r"^Running on: Linux "),
    ("same", r"^Build options :"),
    ("same", r"^  TARGET  = \S"),
    ("same", r"^  CC      = \S"),
    ("same", r"^  CFLAGS  = \S"),
    ("same", r"^  OPTIONS ="),
    ("same", r"^  DEBUG   ="),
    ("same", r"^Feature list : .*\+EPOLL.* \+NETFILTER.* \+OPENSSL.* \+PCRE2.* \+THREAD"),
    ("same", r"^Default settings :\n  bufsize = 16384, maxrewrite = 1024, maxpollevents = 200$"),
    ("same", r"^Built with multi-threading support \(MAX_TGROUPS=\d+, MAX_THREADS=\d+, default=%d\)\.$" % CPUS),
    ("same", r"^Built with SSL library version : OpenSSL 3"),
    ("same", r"^Running on SSL library version : OpenSSL 3"),
    ("same", r"^SSL library supports TLS extensions : yes$"),
    ("same", r"^SSL library supports SNI : yes$"),
    ("same", r"^SSL library default verify directory : /"),
    ("same", r"^SSL library supports : TLSv1\.0 TLSv1\.1 TLSv1\.2 TLSv1\.3$"),
    ("same", r"^OpenSSL providers loaded : default$"),
    ("same", r"^Built with Lua version : Lua 5\.4"),
    ("same", r"^Built with the Prometheus exporter as a service$"),
    ("same", r"^Built with network namespace support\.$"),
    ("same", r"^Compression algorithms supported : identity\(\"identity\"\), deflate\(\"deflate\"\)"),
    ("same", r"^Built with transparent proxy support using: IP_TRANSPARENT IPV6_TRANSPARENT IP_FREEBIND$"),
    ("same", r"^Built with PCRE2 version : 10\."),
    ("same", r"^PCRE2 library supports JIT : yes$"),
    ("same", r"^Encrypted password support via crypt\(3\): yes$"),
    ("same", r"^Built with gcc compiler version "),
    ("same", r"^Available polling systems :"),
    ("same", r"^      epoll : pref=300,  test result OK$"),
    ("same", r"^Total: 3 \(\d usable\), will use epoll\.$"),
    ("same", r"^Available multiplexer protocols :"),
    ("same", r"^  <default> : mode=HTTP +side=FE\|BE +mux=H1 +flags=HTX$"),
    ("same", r"^         h1 : mode=HTTP +side=FE\|BE +mux=H1 +flags=HTX\|NO_UPG$"),
    ("same", r"^         h2 : mode=HTTP +side=FE\|BE +mux=H2 +flags=HTX\|HOL_RISK\|NO_UPG$"),
    ("same", r"^       fcgi : mode=HTTP +side=BE +mux=FCGI +flags=HTX\|HOL_RISK\|NO_UPG$"),
    ("same", r"^       none : mode=TCP +side=FE\|BE +mux=PASS +flags=NO_UPG$"),
    ("same", r"^Available services : "),
    ("same", r"^Available filters :"),
    ("same", r"^\t\[SPOE\] spoe$"),
    ("other", r"^Built with zlib version : 1\."),
]

INFO = (
    "Name Version Release_date Nbthread Nbproc Process_num Pid Uptime Uptime_sec Memmax_MB PoolAlloc_MB "
    "PoolUsed_MB PoolFailed Ulimit-n Maxsock Maxconn Hard_maxconn CurrConns CumConns CumReq MaxSslConns "
    "CurrSslConns CumSslConns Maxpipes PipesUsed PipesFree ConnRate ConnRateLimit MaxConnRate SessRate "
    "SessRateLimit MaxSessRate SslRate SslRateLimit MaxSslRate SslFrontendKeyRate SslFrontendMaxKeyRate "
    "SslFrontendSessionReuse_pct SslBackendKeyRate SslBackendMaxKeyRate SslCacheLookups SslCacheMisses "
    "CompressBpsIn CompressBpsOut CompressBpsRateLim Tasks Run_queue Idle_pct node Stopping Jobs Unstoppable "
    "Jobs Listeners ActivePeers ConnectedPeers DroppedLogs BusyPolling FailedResolutions TotalBytesOut "
    "TotalSplicedBytesOut BytesOutRate DebugCommandsIssued CumRecvLogs Build info Memmax_bytes PoolAlloc_bytes "
    "PoolUsed_bytes Start_time_sec Tainted TotalWarnings MaxconnReached BootTime_ms Niced_tasks CurrStreams "
    "CumStreams BlockedTrafficWarnings PatternsAdded PatternsFreed NbThreadGroups"
)
STAT = (
    "pxname svname qcur qmax scur smax slim stot bin bout dreq dresp ereq econ eresp wretr wredis status "
    "weight act bck chkfail chkdown lastchg downtime qlimit pid iid sid throttle lbtot tracked type rate "
    "rate_lim rate_max check_status check_code check_duration hrsp_1xx hrsp_2xx hrsp_3xx hrsp_4xx hrsp_5xx "
    "hrsp_other hanafail req_rate req_rate_max req_tot cli_abrt srv_abrt comp_in comp_out comp_byp comp_rsp "
    "lastsess last_chk last_agt qtime ctime rtime ttime agent_status agent_code agent_duration check_desc "
    "agent_desc check_rise check_fall check_health agent_rise agent_fall agent_health addr cookie mode algo "
    "conn_rate conn_rate_max conn_tot intercepted dcon dses wrew connect reuse cache_lookups cache_hits "
    "srv_icur src_ilim qtime_max ctime_max rtime_max ttime_max eint idle_conn_cur safe_conn_cur used_conn_cur "
    "need_conn_est uweight agg_server_status agg_server_check_status agg_check_status srid sess_other h1sess "
    "h2sess h3sess req_other h1req h2req h3req proto priv_idle_cur reqbin reqbout resbin resbout - ssl_sess "
    "ssl_reused_sess ssl_failed_handshake ssl_ocsp_staple ssl_failed_ocsp_staple h3_data h3_headers "
    "h3_cancel_push h3_push_promise h3_max_push_id h3_goaway h3_settings h3_no_error h3_general_protocol_error "
    "h3_internal_error h3_stream_creation_error h3_closed_critical_stream h3_frame_unexpected h3_frame_error "
    "h3_excessive_load h3_id_error h3_settings_error h3_missing_settings h3_request_rejected "
    "h3_request_cancelled h3_request_incomplete h3_message_error h3_connect_error h3_version_fallback "
    "pack_decompression_failed qpack_encoder_stream_error qpack_decoder_stream_error quic_rxbuf_full "
    "quic_dropped_pkt quic_dropped_pkt_bufoverrun quic_dropped_parsing_pkt quic_socket_full quic_sendto_err "
    "quic_sendto_err_unknwn quic_sent_pkt quic_lost_pkt quic_too_short_dgram quic_retry_sent "
    "quic_retry_validated quic_retry_error quic_half_open_conn quic_hdshk_fail quic_stless_rst_sent "
    "quic_conn_migration_done quic_transp_err_no_error quic_transp_err_internal_error "
    "quic_transp_err_connection_refused quic_transp_err_flow_control_error quic_transp_err_stream_limit_error "
    "quic_transp_err_stream_state_error quic_transp_err_final_size_error quic_transp_err_frame_encoding_error "
    "quic_transp_err_transport_parameter_error quic_transp_err_connection_id_limit "
    "quic_transp_err_protocol_violation_error quic_transp_err_invalid_token quic_transp_err_application_error "
    "quic_transp_err_crypto_buffer_exceeded quic_transp_err_key_update_error "
    "quic_transp_err_aead_limit_reached quic_transp_err_no_viable_path quic_transp_err_crypto_error "
    "quic_transp_err_unknown_error quic_data_blocked quic_stream_data_blocked quic_streams_blocked_bidi "
    "quic_streams_blocked_uni quic_ncbuf_gap_limit h2_headers_rcvd h2_data_rcvd h2_settings_rcvd "
    "h2_rst_stream_rcvd h2_goaway_rcvd h2_detected_conn_protocol_errors h2_detected_strm_protocol_errors "
    "h2_rst_stream_resp h2_goaway_resp h2_open_connections h2_backend_open_streams h2_total_connections "
    "h2_backend_total_streams h1_open_connections h1_open_streams h1_total_connections h1_total_streams "
    "h1_bytes_in h1_bytes_out h1_spliced_bytes_in h1_spliced_bytes_out"
)
STATE = (
    "be_id be_name srv_id srv_name srv_addr srv_op_state srv_admin_state srv_uweight srv_iweight "
    "srv_time_since_last_change srv_check_status srv_check_result srv_check_health srv_check_state "
    "srv_agent_state bk_f_forced_id srv_f_forced_id srv_fqdn srv_port srvrecord srv_use_ssl srv_check_port "
    "srv_check_addr srv_agent_addr srv_agent_port"
)

# command, the names in the line that begins with "# ", or before the first colon of each
COLUMNS = [("show info", INFO), ("show stat", STAT), ("show servers state", STATE)]
