# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the language server is asked. COMPLETION: (line of section SECTION, a label that must be there, one that must
not); the cursor is at the end of the line, or at "|". HOVER: (line with "|", a text of the answer)."""

BASE = """global
    maxconn 100

defaults base
    mode http
    timeout client 10s
    timeout server 10s
    timeout connect 10s
    timeout http-request 10s

userlist people
    user a password x

resolvers dns
    nameserver n 127.0.0.1:53

ruleset fence prefix
    http-request deny if { path_beg @{prefix} }

backend api
    server one 127.0.0.1:81
    server two 127.0.0.1:82

backend pages
    server one 127.0.0.1:83

frontend web
    bind 127.0.0.1:8080
    acl is_api path_beg /api
    acl is_old path_beg /old
"""

# in frontend web
COMPLETION = [
    ("    def", "default_backend", "balance"), ("    time", "timeout client", "timeout server"),
    ("    timeout cl", "client", "timeout client"), ("    option ", "httplog", "option httplog"),
    ("    option forw", "forwardfor", "httplog"), ("    no option ", "httplog", None),
    ("    http-request ", "deny", "set-status"), ("    http-request set-h", "set-header", "deny"),
    ("    http-response ", "set-status", "tarpit"), ("    http-after-response ", "del-header", "deny"),
    ("    tcp-request connection ", "reject", "set-header"), ("    tcp-request content ", "accept", "deny"),
    ("    use_backend ", "api", "web"), ("    use_backend p", "pages", "api"),
    ("    default_backend ", "pages", "web"), ("    use_backend api if ", "is_api", "is"),
    ("    use_backend api if is_api ", "is_old", None), ("    use_backend api if !is_", "is_old", None),
    ("    http-request deny if { ", "src", None), ("    http-request deny if { pat", "path_beg", "src"),
    ("    http-request deny if { path,low", "lower", "path"), ("    http-request deny unless ", "METH_GET", None),
    ("    http-request set-header a %[re", "req.hdr", "src"), ("    http-request set-header a %[src,", "ipmask", "src"),
    ("    http-request set-header a %[req.hdr(host),low", "lower", None), ("    acl x ", "path_beg", None),
    ("    acl x hdr", "hdr_beg", "path"), ("    bind :443 ss", "ssl", "check"), ("    bind :443 ssl ", "alpn", "weight"),
    ("    stats ", "enable", None), ("    stats u", "uri", "enable"), ("    filter ", "trace", None),
    ("    log", "log", "balance"), ("    cap", "capture request header", None), ("    .e", ".endif", ".if"),
    (".i", ".include", ".endif"), ("back", "backend", "frontend"), ("    mo|de http", "mode", None),
    ("    error", "errorfile", None), ("    # use_back|", None, "use_backend"),
    ("frontend next from ", "base", "api"), ("    unique-id-", "unique-id-format", None),
    ("    errorfiles ", None, "api"), ("    use_backends ", "api", "web"), ("    use_backends api:9 p", "pages", "api"),
    ("    use_backends api:9 pages:1 by req.co", None, "pages"), ("    use-ruleset ", "fence", "api"),
    ("    use-rou", "use-routes", "use-ruleset"), ("    route from ", "web", "api"), ("    use-ruleset fence /a if is_", "is_api", None),
]
# in backend pages
COMPLETION_BACKEND = [
    ("    rou", "route", "use-routes"), ("    use-rul", "use-ruleset", "use-routes"),
    ("    bal", "balance", "bind"), ("    server three 127.0.0.1:1 ch", "check", "ssl"),
    ("    server three 127.0.0.1:1 resolvers ", "dns", "api"), ("    use-server ", "one", "two"),
    ("    default-server ", "weight", "alpn x"), ("    stick-table type ip size 1k peers ", None, "dns"),
]

HOVER = [
    ("    time|out client 1s", "timeout client"), ("    option http|log", "option httplog"),
    ("    http-request de|ny", "deny"), ("    bind :443 s|sl", "ssl"), ("    acl x pa|th /a", "path"),
    ("    http-request set-header a %[src,lo|wer]", "lower"), ("front|end x", "frontend"),
    ("    use_b|ackend api", "use_backend"),
]
