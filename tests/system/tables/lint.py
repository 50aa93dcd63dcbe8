# SPDX-License-Identifier: GPL-2.0-or-later
"""Mistakes that --lint has to find: (identifier, configuration without its common beginning). A "!" before the
identifier: it must not be told of. The common beginning is D, or a text that begins with "global" or "defaults"."""

D = """defaults
 mode http
 log stdout format raw local0
 option httplog
 timeout connect 5s
 timeout client 30s
 timeout server 30s
 timeout http-request 10s
"""
F = "frontend f\n bind 127.0.0.1:8080\n"
B = "backend b\n server s 127.0.0.1:81\n"
FB = F + " default_backend b\n" + B
TLS = " bind 127.0.0.1:8443 ssl crt x.pem"

MISTAKES = [
    ("unused-backend", FB + "backend old\n server s 127.0.0.1:82\n"),
    ("!unused-backend", F + " use_backend %[path] if { path /x }\n" + B),
    ("!unused-backend", F + " use_backends b:1 c:1 by src\n" + B + "backend c\n server s 127.0.0.1:82\n"),
    ("rule-after-final", F + " use_backends b:1\n use_backend b if { path /a }\n" + B),
    ("default-backend-dead", F + " use_backends b:1\n default_backend b\n" + B),
    ("!unused-backend", FB + "backend tab\n stick-table type ip size 1k expire 1m store gpc0\n" +
     "backend x\n http-request track-sc0 src table tab\n server s 127.0.0.1:82 track b/s\n" +
     "frontend g\n bind 127.0.0.1:9\n default_backend x\n"),
    ("unused-acl", F + " acl never path /x\n default_backend b\n" + B),
    ("unused-acl", F + " acl a path /x\n http-request deny if { path /a }\n default_backend b\n" + B),
    ("!unused-acl", F + " acl a path /x\n http-request deny if !a\n default_backend b\n" + B),
    ("unused-section", "userlist people\n user u password x\n" + FB),
    ("unused-section", "resolvers dns\n nameserver a 127.0.0.1:53\n" + FB),
    ("unused-section", "cache small\n total-max-size 4\n" + FB),
    ("unused-section", "ruleset old a\n http-request deny if { path @{a} }\n" + FB),
    ("!unused-section", "ruleset used a\n http-request deny if { path @{a} }\n" + F +
     " use-ruleset used /x\n default_backend b\n" + B),
    ("!unused-acl", "ruleset used a\n http-request deny if @{a}\n" + F +
     " acl x path /x\n use-ruleset used x\n default_backend b\n" + B),
    ("!unused-backend", F + " use-routes\n" + B.replace("\n", "\n route from f\n", 1)),
    ("unused-defaults", FB + "defaults spare\n mode http\n"),
    ("unused-variable", F + " http-request set-var(txn.lost) path\n default_backend b\n" + B),
    ("!unused-variable", F + " http-request set-var(txn.x) path\n http-request deny if { var(txn.x) /a }\n"
     " default_backend b\n" + B),
    ("unused-table", F + " stick-table type ip size 1k expire 1m store gpc0\n default_backend b\n" + B),
    ("unused-check", F + " default_backend b\nbackend b\n option httpchk GET /\n server s 127.0.0.1:81\n"),
    ("!unused-check", F + " default_backend b\nbackend b\n option httpchk GET /\n server s 127.0.0.1:81 check\n"),
    ("rule-after-final", F + " http-request deny\n http-request set-header a b\n"),
    ("rule-after-final", F + " http-request return status 200\n http-request deny if { path /a }\n"),
    ("rule-after-final", F + " tcp-request connection accept\n tcp-request connection reject if { src 1.1.1.1 }\n"),
    ("rule-after-final", F + " use_backend b\n use_backend b if { path /a }\n" + B),
    ("rule-after-final", F + " http-response allow if TRUE\n http-response del-header a\n"),
    ("!rule-after-final", F + ".if defined(X)\n http-request deny\n.endif\n http-request set-header a b\n"),
    ("default-backend-dead", F + " use_backend b\n default_backend b\n" + B),
    ("same-condition", F + " use_backend b if { path /a }\n use_backend c if { path /a }\n" + B +
     "backend c\n server s 127.0.0.1:82\n"),
    ("same-condition", F + " http-request deny if { path /a }\n http-request allow if { path /a }\n"),
    ("!same-condition", F + " http-request deny if { path /a }\n http-request set-path /a\n"
     " http-request redirect location / if { path /a }\n"),
    ("never-true", F + " acl a path /a\n http-request deny if a !a\n"),
    ("never-true", F + " http-request deny if FALSE\n"),
    ("!never-true", F + " acl a path /a\n http-request deny if a or !a\n"),
    ("overridden", F + " mode http\n mode tcp\n"),
    ("overridden", F + " default_backend b\n maxconn 10\n maxconn 20\n" + B),
    ("overridden", "backend b\n timeout server 1s\n balance source\n timeout server 2s\n server s 127.0.0.1:81\n"),
    ("overridden", "backend b\n balance source\n balance roundrobin\n server s 127.0.0.1:81\n"),
    ("contradictory-option", F + " option dontlognull\n no option dontlognull\n"),
    ("duplicate-acl", F + " acl a path /a\n acl a path /a\n http-request deny if a\n"),
    ("duplicate-rule", F + " http-request set-header x y\n http-request set-header x y\n"),
    ("duplicate-bind", FB + "frontend g\n bind 127.0.0.1:8080\n default_backend b\n"),
    ("!duplicate-bind", F.replace("8080", "8080 namespace blue") + " default_backend b\n" + B +
     "frontend g\n bind 127.0.0.1:8080\n default_backend b\n"),
    ("duplicate-server", "backend b\n server s 127.0.0.1:81\n server t 127.0.0.1:81\n"),
    ("cookie-unset", "backend b\n cookie S insert httponly\n server s 127.0.0.1:81 cookie a\n server t 127.0.0.1:82\n"),
    ("cookie-unused", "backend b\n server s 127.0.0.1:81 cookie a\n"),
    ("acl-shadows", F + " acl METH_GET path /a\n http-request deny if METH_GET\n"),
    ("pattern-no-regex", F + " acl a path_reg ^/api\n http-request deny if a\n"),
    ("pattern-no-regex", F + " http-request deny if { path -m reg ^/x$ }\n"),
    ("!pattern-no-regex", F + " http-request deny if { path -m reg ^/x[0-9]$ }\n"),
    ("regex-dot", F + " http-request deny if { hdr(host) -m reg ^www.example.com$ }\n"),
    ("!regex-dot", F + " http-request deny if { hdr(host) -m reg ^www\\\\.example\\\\.(com|net)$ }\n"),
    ("host-substring", F + " use_backend b if { hdr_sub(host) example.com }\n" + B),
    ("host-suffix", F + " use_backend b if { hdr_end(host) example.com }\n" + B),
    ("!host-suffix", F + " use_backend b if { hdr_end(host) .example.com }\n" + B),
    ("host-case", F + " use_backend b if { req.hdr(host) WWW.example.com }\n" + B),
    ("redirect-loop", F + TLS + "\n redirect scheme https\n"),
    ("!redirect-loop", F + TLS + "\n redirect scheme https if !{ ssl_fc }\n"),
    ("counter-untracked", F + " stick-table type ip size 1k expire 1m store http_req_rate(10s)\n"
     " http-request deny if { sc_http_req_rate(0) gt 10 }\n"),
    ("counter-untracked", F + " http-request deny if { sc0_conn_cur gt 10 }\n"),
    ("counter-unstored", F + " stick-table type ip size 1k expire 1m store gpc0\n http-request track-sc0 src\n"
     " http-request deny if { sc_http_req_rate(0) gt 10 }\n"),
    ("!counter-unstored", F + " stick-table type ip size 1k expire 1m store http_req_rate(10s)\n"
     " http-request track-sc0 src\n http-request deny if { sc_http_req_rate(0) gt 10 }\n"),
    ("table-no-expire", F + " stick-table type ip size 1k store gpc0\n http-request track-sc0 src\n"),
    ("timeout-infinite", "defaults\n mode http\n timeout client 0\n timeout server 1s\n timeout connect 1s\n"),
    ("timeout-infinite", "backend b\n timeout tunnel 0s\n server s 127.0.0.1:81\n"),
    ("no-request-timeout", "defaults\n mode http\n timeout client 1s\n timeout server 1s\n timeout connect 1s\n"
     "frontend f\n bind :8080\n"),
    ("parser-warning", "defaults\n mode http\nfrontend f\n bind :8080\n"),
    ("partly-checked", "backend b\n server s 127.0.0.1:81 check\n server t 127.0.0.1:82\n"),
    ("only-backup", "backend b\n server s 127.0.0.1:81 backup\n"),
    ("maxconn-above", "global\n maxconn 100\n" + D + F + " maxconn 200\n"),
    ("log-nowhere", "defaults\n mode http\n log global\n option httplog\n" + F),
    ("log-daemon", "global\n daemon\n log stdout format raw local0\n" + FB),
    ("log-no-http", "defaults\n mode http\n log stdout format raw local0\n" + F),
    ("weak-tls-version", F + TLS + " ssl-min-ver TLSv1.0\n"),
    ("weak-tls-version", "global\n ssl-default-bind-options ssl-min-ver TLSv1.1\n" + FB),
    ("weak-tls-version", F + TLS + " force-tlsv10\n"),
    ("weak-cipher", F + TLS + " ciphers HIGH:RC4-SHA\n"),
    ("weak-cipher", "global\n ssl-default-bind-ciphers ECDHE-RSA-DES-CBC3-SHA\n" + FB),
    ("!weak-cipher", F + TLS + " ciphers HIGH:!aNULL:!MD5:!3DES\n"),
    ("weak-dh", "global\n tune.ssl.default-dh-param 1024\n" + FB),
    ("verify-none", "backend b\n server s 127.0.0.1:443 ssl verify none\n"),
    ("verify-none", "global\n ssl-server-verify none\n" + FB),
    ("early-data", F + TLS + " allow-0rtt\n"),
    ("!early-data", F + TLS + " allow-0rtt\n http-request wait-for-handshake if !METH_GET\n"),
    ("port-443", D + "frontend f\n bind :443\n"),
    ("secret-in-clear", "userlist people\n user u insecure-password hello\n" + F +
     " http-request auth if !{ http_auth(people) }\n"),
    ("secret-in-clear", F + " stats enable\n stats auth admin:hello\n"),
    ("secret-in-clear", F + " http-request set-header Authorization \"Basic YWRtaW46aGVsbG8=\"\n"),
    ("!secret-in-clear", F + " stats enable\n stats auth \"admin:$PASSWORD\"\n"),
    ("secret-in-clear", F + " http-request set-var(txn.m) req.hdr(x),hmac(sha256,c2VjcmV0)\n"),
    ("!secret-in-clear", F + " http-request set-var(txn.m) req.hdr(x),hmac(sha256,proc.key)\n"),
    ("!secret-in-clear", F + " http-request set-var(txn.m) req.hdr(x),jwt_verify(RS256,/etc/key.pem)\n"),
    ("secret-in-clear", F + B + " cookie s insert indirect nocache dynamic\n dynamic-cookie-key hello\n"),
    ("!secret-in-clear", F + B + " cookie s insert indirect nocache dynamic\n dynamic-cookie-key \"$KEY\"\n"),
    ("stats-open", D + "frontend f\n bind :8404\n stats enable\n stats uri /\n"),
    ("stats-admin", D + "frontend f\n bind :8404\n stats enable\n stats admin if TRUE\n"),
    ("!stats-open", F + " stats enable\n"),
    ("socket-open", "global\n stats socket ipv4@:9999 level admin\n" + FB),
    ("socket-open", "global\n stats socket /tmp/x.sock mode 666 level admin\n" + FB),
    ("runs-as-root", "global\n user root\n" + FB),
    ("cookie-script", "backend b\n cookie S insert\n server s 127.0.0.1:81 cookie a\n"),
    ("parser-error", F + " default_backen b\n"),
    ("parser-error", F + " default_backend nosuch\n"),
    ("!unused-acl", F + " acl a path /x # lint: ignore unused-acl\n"),
    ("!unused-acl", F + " # lint: ignore\n acl a path /x\n"),
]
