# SPDX-License-Identifier: GPL-2.0-or-later
"""Wrong expressions, ACLs, rules and formats.

A row is "place | line | word at fault | what was expected": the message must hold both texts (in its
hint, if it has one). Places: fe, be, li (listen), defaults, tcp (a frontend in mode tcp), user, prof,
errors; "\\n" in a line is a line end. "-" as the last cell: nothing to be expected is known. A '+'
before the place: the reference accepts it, or says so elsewhere.
"""

RULESETS = (
    ("http-request", "fe"), ("http-response", "fe"), ("http-after-response", "fe"),
    ("tcp-request connection", "fe"), ("tcp-request session", "fe"), ("tcp-request content", "fe"),
    ("tcp-response content", "be"),
)

# where each of these is not an action
MISPLACED = (
    ("set-status 200", "http-request", "http-response"), ("auth", "http-response", "http-request"),
    ("accept", "http-request", "tcp-request connection"),
    ("deny", "tcp-request content", "http-request"),
    ("set-path /", "http-response", "http-request"), ("allow", "tcp-request session", "http-request"),
    ("close", "tcp-request content", "tcp-response content"),
    ("set-nice 1", "http-after-response", "http-request"),
    ("pause 1s", "http-after-response", "http-request"),
    ("set-src src", "http-response", "http-request"), ("reject", "http-response", "http-request"),
    ("tarpit", "http-response", "http-request"), ("return", "http-after-response", "http-response"),
    ("redirect location /", "http-after-response", "http-response"),
    ("wait-for-body time 1s", "tcp-request content", "http-request"),
    ("early-hint a b", "http-response", "http-request"),
    ("set-method GET", "tcp-request content", "http-request"),
    ("del-header a", "tcp-request content", "http-request"),
    ("set-header a b", "tcp-request session", "http-request"),
    ("set-log-level info", "tcp-request connection", "tcp-request content"),
    ("set-priority-class int(1)", "http-response", "http-request"),
    ("silent-drop", "http-after-response", "http-request"),
    ("disable-l7-retry", "http-response", "http-request"),
    ("set-timeout client 1s", "http-after-response", "http-request"),
)

ROWS = """
be | http-request set-retries | set-retries | integer
be | http-request set-retries -1 | -1 | 0 and 100
be | http-request set-retries 101 | 101 | 0 and 100
be | http-request set-retries ten | ten | -
fe | http-request set-retries 3 | set-retries | backend
fe | http-request set-timeout | set-timeout | 2 arguments
fe | http-request set-timeout foo 3 | foo | tunnel
fe | http-request set-timeout server 3 | backend | -
be | http-request set-timeout client 3 | frontend | -
fe | http-request set-timeout client | set-timeout | 2 arguments
fe | http-request set-timeout client bar | bar | -
fe | http-request set-timeout client 0 | null | -
fe | http-request set-timeout client 1z | 1z | -
fe | http-request wait-for-body | wait-for-body | time <time>
fe | http-request wait-for-body 1s | 1s | time <time>
fe | http-request wait-for-body time | time | argument
fe | http-request wait-for-body time 1z | 1z | time
fe | http-request wait-for-body time 1s at-least | at-least | argument
fe | http-request wait-for-body time 1s at-least x | 'x' | size
fe | http-request wait-for-body time 1s at-most 3 | at-most | at-least
fe | http-request normalize-uri path-strip-dot | normalize-uri | expose-experimental-directives
fe | http-request pause | pause | time
fe | http-request pause foo | foo | -
fe | http-request pause 1z | 1z | -
fe | http-request pause 0 | null | -
fe | http-request early-hint a | early-hint | 2 arguments
fe | http-request early-hint a b c | 'c' | 'if' or 'unless'
+fe | http-request early-hint a:b c | a:b | -
fe | http-request set-src | set-src | fetch
fe | http-request set-src foo | foo | -
fe | http-request set-dst | set-dst | fetch
fe | http-request set-src-port | set-src-port | fetch
fe | http-request set-dst-port nothing | nothing | -
fe | http-request do-log now | now | 'if' or 'unless'
fe | http-request disable-l7-retry always | always | 'if' or 'unless'
fe | http-request wait-for-handshake now | now | 'if' or 'unless'
fe | http-request auth now | now | 'if' or 'unless'
fe | http-request auth realm | realm | value
fe | http-request set-bc-mark | set-bc-mark | argument
fe | http-request set-bc-tos bar | bar | -
fe | http-request set-fc-mark 0xzz | 0xzz | -
fe | http-request set-nice | set-nice | integer
+fe | http-request set-nice much | much | integer
fe | http-request set-log-level | set-log-level | level
fe | http-request set-log-level loud | set-log-level | level
fe | http-request set-priority-class | set-priority-class | fetch
fe | http-request set-priority-offset hot | hot | -
fe | http-request strict-mode | strict-mode | 1 argument
fe | http-request strict-mode maybe | maybe | 'on' and 'off'
fe | http-request silent-drop rst-ttl | rst-ttl | value
fe | http-request silent-drop rst-ttl 0 | rst-ttl | [1-255]
fe | http-request silent-drop rst-ttl 256 | rst-ttl | [1-255]
fe | http-request silent-drop hard | hard | 'if' or 'unless'
fe | http-request set-header | set-header | 2 arguments
fe | http-request set-header a | set-header | 2 arguments
+fe | http-request set-header a:b c | a:b | -
fe | http-request set-header a b c | 'c' | 'if' or 'unless'
fe | http-request add-header x | add-header | 2 arguments
fe | http-request add-header x %[foo] | foo | -
fe | http-request del-header | del-header | 1 argument
fe | http-request del-header a -m | -m | 1 argument
fe | http-request del-header a -m foo | foo | -
fe | http-request del-header ( -m reg | ( | -
fe | http-request replace-header a b | replace-header | 3 arguments
fe | http-request replace-header a ( c | ( | -
fe | http-request replace-value a | replace-value | 3 arguments
fe | http-request replace-path a | replace-path | 2 arguments
fe | http-request replace-uri [ b | [ | -
fe | http-request replace-pathq a b c | replace-pathq | 2 arguments
fe | http-request set-path | set-path | 1 argument
fe | http-request set-path /a /b | set-path | 1 argument
fe | http-request set-path %[nofetch] | nofetch | -
fe | http-request set-query | set-query | 1 argument
fe | http-request set-uri | set-uri | 1 argument
fe | http-request set-method | set-method | 1 argument
fe | http-response set-status | set-status | <status>
fe | http-response set-status 99 | set-status | 100 and 999
fe | http-response set-status 1000 | set-status | 100 and 999
fe | http-response set-status ok | set-status | 100 and 999
fe | http-request set-var | set-var | -
fe | http-request set-var(txn.a | set-var | -
fe | http-request set-var(a) src | a | -
fe | http-request set-var(foo.a) src | foo.a | scope
fe | http-request set-var(txn.a-b) src | - | invalid syntax at char '-'
fe | http-request set-var-fmt(txn.a+b) x | + | invalid syntax at char '+'
fe | http-request unset-var(txn.a/b) | / | invalid syntax at char '/'
fe | http-request set-header x %[var(txn.a-b)] | - | invalid syntax at char '-'
fe | http-request set-header x %[src,set-var(txn.a:b)] | : | invalid syntax at char ':'
fe | http-request deny if { var(txn.a-b) -m found } | - | invalid syntax at char '-'
fe | http-request set-var(txn.a) | set-var | fetch
fe | http-request set-var(txn.a) foo | foo | -
+fe | http-request set-var-fmt(txn.a) | set-var-fmt | format
fe | http-request set-var-fmt(txn.a) %[foo] | foo | -
fe | http-request unset-var | unset-var | -
fe | http-request capture | capture | -
fe | http-request capture src | capture | len
fe | http-request capture src len | len | -
fe | http-request capture src len x | x | -
fe | http-request capture src id | id | -
fe | http-request capture src size 3 | size | len
fe | http-request capture foo len 3 | foo | -
be | http-request capture src len 3 | capture | -
fe | http-request deny status | status | <status_code>
fe | http-request deny status 99 | 99 | -
fe | http-request deny status 700 | 700 | -
fe | http-request deny deny_status abc | abc | -
fe | http-request deny now | now | 'if' or 'unless'
fe | http-request deny content-type | content-type | <ctype>
fe | http-request deny hdr a | hdr | <value>
+fe | http-request deny hdr a:b c | a:b | -
fe | http-request deny errorfile | errorfile | <fmt>
fe | http-request deny errorfile /nonexistent | /nonexistent | -
fe | http-request deny errorfiles | errorfiles | <name>
fe | http-request return file | file | <file>
fe | http-request return file /nonexistent content-type a/b | /nonexistent | -
fe | http-request return string x | content type | -
fe | http-request return content-type a/b string | string | <str>
fe | http-request return content-type a/b string x lf-string y | lf-string | already
fe | http-request return content-type a/b lf-string %[foo] | foo | -
fe | http-request return status 201 default-errorfiles | 201 | -
fe | http-request tarpit status x | x | -
fe | http-request redirect | redirect | location
fe | http-request redirect /x | /x | location
fe | http-request redirect location | location | -
fe | http-request redirect code 200 location / | 200 | -
fe | http-request redirect location / code | code | -
fe | http-request redirect scheme | scheme | -
fe | http-request redirect location / foo | foo | -
fe | redirect location | location | -
fe | redirect location / code 404 | 404 | -
fe | http-request use-service | use-service | -
fe | http-request use-service nosuch | nosuch | -
fe | http-request foo if | foo | -
+fe | http-request deny if | if | term
+fe | http-request deny unless | unless | term
fe | http-request deny if nosuchacl | nosuchacl | ACL
fe | http-request deny if { | condition | }
fe | http-request deny if { path /a | condition | }
fe | http-request deny if { nosuchfetch a } | nosuchfetch | -
+fe | http-request deny if ! | ! | term
+fe | http-request deny if TRUE or | or | term
+fe | http-request deny if or TRUE | or | term
+fe | http-request deny if TRUE || | || | term
fe | http-request deny if { path -m } | method | -
fe | http-request deny if { path -m foo /a } | foo | -
fe | http-request deny if { path -f } | file | -
fe | http-request deny if { path -f /nonexistent } | /nonexistent | -
fe | http-request deny if { src 1.2.3.4/33 } | 1.2.3.4/33 | -
fe | http-request deny if { src ::g } | ::g | -
fe | http-request deny if { dst_port abc } | abc | -
fe | http-request deny if { dst_port 1:x } | 1:x | -
fe | http-request deny if { dst_port gx 3 } | gx | -
fe | http-request deny if { path_reg ( } | ( | -
fe | http-request deny if { path -m reg [a } | [a | -
fe | http-request deny if { path,nosuchconv /a } | nosuchconv | -
fe | http-request deny if { hdr( } | hdr | -
fe | http-request deny if { path -x /a } | -x | -
fe | http-request deny if { bin(zz) -m bin aa } | zz | -
fe | http-request deny if { req.hdr(a) -m int x } | x | -
fe | http-request deny if { req.hdr(a) -m ip x } | x | -
fe | acl | ACL | name
fe | acl a | a | -
fe | acl a/b path / | / | name
fe | acl or path / | or | never match
fe | acl a nosuchfetch | nosuchfetch | -
fe | acl a path -m | method | -
fe | acl a path -m foo | foo | -
fe | acl a src 1.2.3.400 | 1.2.3.400 | -
fe | acl a dst_port ge x | x | -
fe | acl a path,foo x | foo | -
fe | acl a path_beg -f /nonexistent | /nonexistent | -
fe | acl a hdr(x | x | )
defaults | acl a path / | acl | anonymous
defaults | http-request deny | http-request | anonymous
defaults | tcp-request connection reject | tcp-request | anonymous
fe | http-request set-header a %[src | src | ']'
fe | http-request set-header a %[] | ] | fetch
fe | http-request set-header a %[src,] | src | -
fe | http-request set-header a %[src,foo] | foo | -
fe | http-request set-header a %[src(] | src | -
fe | http-request set-header a %[src(1)] | src | -
fe | http-request set-header a %[hdr(a,b)] | b | -
fe | http-request set-header a %[req.hdr(a,1,2)] | req.hdr | -
fe | http-request set-header a %[srcx] | srcx | src
fe | http-request set-header a %[path,lowwer] | lowwer | -
fe | http-request set-header a %[path,field] | field | integer
fe | http-request set-header a %[path,field(a,b)] | a | -
fe | http-request set-header a %[path,regsub(a)] | regsub | argument
fe | http-request set-header a %[path,regsub((,b)] | regsub | -
fe | http-request set-header a %[int] | int | integer
fe | http-request set-header a %[int(a)] | a | -
fe | http-request set-header a %[bool(x)] | x | -
fe | http-request set-header a %[ipv4(1.2)] | 1.2 | -
fe | http-request set-header a %[bin(f)] | f | -
fe | http-request set-header a %[meth(FOO] | meth | -
fe | http-request set-header a %[var(foo)] | foo | -
fe | http-request set-header a %[var()] | var | -
fe | http-request set-header a %[be_conn(nosuch)] | nosuch | -
fe | http-request set-header a %[nbsrv(nosuch)] | nosuch | -
fe | http-request set-header a %[srv_conn(nosuch/x)] | nosuch/x | -
fe | http-request set-header a %[fe_conn(nosuch)] | nosuch | -
fe | http-request set-header a %[src,ipmask(33)] | 33 | -
fe | http-request set-header a %[src,ipmask(a)] | a | -
fe | http-request set-header a %[path,map(/nonexistent)] | /nonexistent | -
fe | http-request set-header a %[path,map()] | map | -
fe | http-request set-header a %[path,word(1)] | word | argument
fe | http-request set-header a %[path,add(x)] | x | -
fe | http-request set-header a %[rand(a)] | a | -
fe | http-request set-header a %zz | zz | -
fe | http-request set-header a % | % | -
fe | http-request set-header a %{+Q | +Q | -
fe | http-request set-header a %(name | name | -
fe | http-request set-header a %(n:float)[src] | float | sint
fe | http-request set-header a %{+E} | % | -
fe | http-request set-header a %[res.hdr(x)] | res.hdr | -
fe | http-request set-header a %[status] | status | -
fe | http-request set-header a %[http_auth(nosuch)] | nosuch | userlist
fe | http-request set-header a %[http_auth] | http_auth | userlist
fe | http-request deny if { http_auth(nosuch) } | nosuch | userlist
fe | http-request deny if { http_auth_group(nosuch) g } | nosuch | userlist
tcp | tcp-request content set-var(txn.a) foo | foo | -
tcp | tcp-request content accept now | now | 'if' or 'unless'
tcp | tcp-request content reject if { req.ssl_sni -m foo x } | foo | -
tcp | tcp-request content reject if { distcc_param(abc) 3 } | distcc_param(abc) | exactly 4 characters
tcp | tcp-request content reject if { distcc_param 3 } | distcc_param | exactly 4 characters
fe | tcp-request | tcp-request | connection
fe | tcp-request foo | foo | connection
fe | tcp-request inspect-delay | inspect-delay | -
fe | tcp-request inspect-delay x | x | -
fe | tcp-request connection | tcp-request connection | accept
be | tcp-response | tcp-response | content
be | tcp-response foo | foo | content
be | tcp-response inspect-delay 3y | y | -
fe | tcp-response content accept | tcp-response content | backend
be | tcp-request connection accept | tcp-request connection | frontend
be | tcp-request session reject | tcp-request session | frontend
fe | use_backend | use_backend | -
fe | use_backend nosuch if TRUE | nosuch | -
fe | use_backend be if nosuchacl | nosuchacl | ACL
fe | use_backend be iff TRUE | iff | 'if' and 'unless'
fe | use_backend %[foo] | foo | -
be | use-server | use-server | -
be | use-server s | use-server | condition
be | use-server nosuch if TRUE | nosuch | -
be | use-server s if nosuchacl | nosuchacl | ACL
fe | monitor-uri | monitor-uri | URI
fe | monitor-uri /a /b | /b | -
fe | monitor fail | monitor fail | 'if' or 'unless'
fe | monitor fail now | monitor fail | 'if' or 'unless'
fe | monitor fail if nosuchacl | nosuchacl | ACL
fe | monitor foo | foo | fail
be | http-send-name-header | http-send-name-header | header
+be | http-send-name-header a:b | a:b | -
fe | http-error | http-error | status
fe | http-error foo | http-error | status
fe | http-error status | status | <status_code>
fe | http-error status abc | abc | -
fe | http-error status 201 | 201 | -
fe | http-error status 400 foo | foo | -
fe | http-error status 400 string x | content type | -
fe | http-error status 400 errorfile /nonexistent | /nonexistent | -
fe | http-error status 400 errorfiles nosuch | nosuch | http-errors
fe | http-error status 400 content-type a/b lf-string %[foo] | foo | -
fe | errorfile | errorfile | <status_code>
fe | errorfile 400 | errorfile | <file>
fe | errorfile 201 /tmp/x | 201 | -
fe | errorfile 400 /nonexistent | /nonexistent | -
fe | errorfiles | errorfiles | <name>
fe | errorfiles nosuch 400 | nosuch | http-errors
fe | errorfiles x 201 | 201 | -
fe | errorloc 400 | errorloc | <url>
fe | errorloc 201 / | 201 | -
fe | log-format | log-format | -
fe | log-format %zz | zz | -
fe | log-format %[foo] | foo | -
fe | log-format %[src,foo] | foo | -
fe | log-format "%{+Q" | +Q | -
fe | log-format "%(a" | a | -
fe | log-format-sd %zz | zz | -
fe | error-log-format %zz | zz | -
fe | unique-id-format %[foo] | foo | -
+fe | log-steps | log-steps | all
fe | log-steps foo | foo | accept
fe | log-steps close,foo | foo | accept
fe | log 127.0.0.1:514 | log | facility
fe | log 127.0.0.1:514 nosuch | nosuch | -
fe | log 127.0.0.1:514 local0 loud | loud | emerg
fe | log 127.0.0.1:514 len x local0 | x | -
fe | log 127.0.0.1:514 format nosuch local0 | nosuch | -
fe | log 127.0.0.1:514 sample x local0 | sample | size
fe | log 127.0.0.1:514 sample 5:2 local0 | 5 | -
+fe | log 127.0.0.1:514 profile nosuch local0 | nosuch | log-profile
fe | capture request header | capture | -
fe | capture request header a | len | -
+fe | capture request header a len x | x | -
fe | capture response foo | response | -
fe | capture cookie | cookie | -
fe | declare capture | capture | -
fe | declare capture foo len 3 | foo | request
fe | declare capture request | len | -
user | user | user | <name>
user | user a foo | foo | password
+user | user a password | password | -
user | user a insecure-password x groups nosuch | nosuch | group
user | group | group | <name>
user | group g foo | foo | users
user | group g users nosuch | nosuch | user
user | nosuch | nosuch | -
fe | http-request set-map(a | set-map | -
fe | http-request add-acl | add-acl | name
+fe | http-request set-map() a b | set-map | name
fe | http-request set-map(/dev/null) | set-map | <key>
fe | http-request set-map(/dev/null) a | set-map | <value>
fe | http-request set-map(/dev/null) a b c | 'c' | 'if' or 'unless'
+fe | http-request del-map(/nonexistent) a | /nonexistent | -
fe | http-response del-acl(/dev/null) | del-acl | <key>
fe | http-request del-map(/dev/null) %[foo] | foo | -
fe | http-response pause | pause | time
fe | http-response set-timeout client | set-timeout | 2 arguments
fe | http-response set-header a %[path,json(x)] | x | -
fe | http-response replace-value a b | replace-value | 3 arguments
fe | http-after-response set-header a | set-header | 2 arguments
fe | http-after-response set-var(foo.x) src | foo.x | scope
fe | http-after-response del-header a -m zz | zz | -
be | tcp-response content set-log-level x | set-log-level | level
be | tcp-response content set-nice a | 'a' | integer
be | http-request use-service nosuch | nosuch | -
be | http-request deny if { nbsrv(nosuch) 1 } | nosuch | -
be | http-response capture res.hdr(a) len 3 | capture | -
tcp | tcp-request content capture src | capture | len
tcp | tcp-request content set-retries 3 | set-retries | backend
tcp | tcp-request content set-priority-class | set-priority-class | fetch
prof | on | on | accept
prof | on foo | foo | accept
prof | on close | close | format
prof | on close foo | foo | format
prof | on close format | format | -
prof | on close format %zz | zz | -
prof | on close format x sd | sd | -
prof | log-tag | log-tag | tag
prof | nosuch | nosuch | -
errors | errorfile | errorfile | <status_code>
errors | errorfile 201 /x | 201 | -
errors | errorfile 400 /nonexistent | /nonexistent | -
errors | nosuch | nosuch | -
tcp | tcp-request content switch-mode | switch-mode | http
tcp | tcp-request content switch-mode tcp | 'tcp' | http
tcp | tcp-request content switch-mode http proto | proto | h1 or h2
tcp | tcp-request content switch-mode http proto h9 | 'h9' | h1 or h2
tcp | tcp-request content switch-mode http now | now | 'if' or 'unless'
be | tcp-request content switch-mode http | 'be' | frontend
+fe | http-request rate-limit | rate-limit | missing 'rate
+fe | http-request rate-limit rate 1/s | rate-limit | missing 'key
+fe | http-request rate-limit key src rate | rate | expects an argument
+fe | http-request rate-limit key src rate 10 | 10 | expects <number>/<time>
+fe | http-request rate-limit key src rate 10/ | 10/ | expects <number>/<time>
+fe | http-request rate-limit key src rate x/s | x/s | expects <number>/<time>
+fe | http-request rate-limit key src rate 0/s | 0/s | cannot be kept
+fe | http-request rate-limit key src rate 1/25d | 1/25d | cannot be kept
+fe | http-request rate-limit key src rate 1001/1us | 1001/1us | cannot be kept
+fe | http-request rate-limit key src rate 1/d burst 25 | 25 | smaller 'burst'
+fe | http-request rate-limit key src rate 1/d burst -1 | -1 | 'burst' expects
+fe | http-request rate-limit key src rate 1/s delay x | x | 'delay' expects
+fe | http-request rate-limit key src rate 1/s var x | x | scope
+fe | http-request rate-limit key src rate 1/s brust 5 | brust | unknown word
+fe | tcp-request content rate-limit key src rate 1/s delay 1s | delay | for http-request
+fe | tcp-request content rate-limit key src rate 1/s headers | headers | for http-request
+fe | tcp-request content rate-limit key src rate 1/s status 429 | status | unknown word
+fe | tcp-request connection rate-limit key src rate 1/s var txn.x | txn.x | scopes
+fe | http-request rate-limit key src rate 1/s table nowhere | rate-limit | no stick-table
+fe | http-request mirror | mirror | name of a backend
+fe | http-request mirror nobody | nobody | no backend
+fe | http-request mirror be sample 101% | 101% | a part of 100
+fe | http-request mirror be sample x | x | a part of 100
+fe | http-request mirror be max 0 | 0 | -
+fe | http-request mirror be size 3 | size | sample, max
fe | http-request track-sc7 src | track-sc7 | tune.stick-counters
fe | http-request track-sc0 | track-sc0 | fetch
fe | http-request track-sc0 src table | table | table name
fe | http-request sc-inc-gpc0(9) | sc-inc-gpc0(9) | tune.stick-counters
fe | http-request sc-set-gpt(1) 3 | sc-set-gpt(1) | GPT ID
+fe | http-request deny if { internal.htx.data gt 3 } | internal.htx.data | HTX
+fe | http-request set-header a %[int(1),wt6] | wt6 | none is public
fe | http-request set-header a %[str(a),jwt_verify(RS256,/no/key)] | /no/key | a public key in PEM
fe | http-request set-header a %[str(a),jwt_verify(none,'')] | jwt_verify | a public key in PEM
fe | http-request set-header a %[str(a),ip.dst,sub(1)] | sub | cannot be applied
fe | http-request set-header a %[src_prt] | src_prt | unknown
fe | http-request set-header a %[res.hdr(a)] | res.hdr | HTTP response headers
fe | http-response set-header a %[path] | path | HTTP request headers
"""


def rows():
    """Yields (place, line, word, expected, whether the reference refuses it too)."""
    for name, place in RULESETS:
        yield place, name + " frobnicate", "frobnicate", name, True
        yield place, name + " set-vra(txn.a) src", "set-vra", "set-var", True
    for line, ruleset, where in MISPLACED:
        place = "be" if ruleset == "tcp-response content" else "fe"
        yield place, "%s %s" % (ruleset, line), line.split()[0], where, True
    for row in ROWS.strip().split("\n"):
        place, line, word, expected = [cell.strip() for cell in row.split(" | ")]
        yield (place.lstrip("+"), line, word, "" if expected == "-" else expected,
               not place.startswith("+"))
