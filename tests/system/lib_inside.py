# SPDX-License-Identifier: GPL-2.0-or-later
"""Backends for requests that the program begins by itself, whatever may happen to one: rules that answer, a queue, TLS, HTTP/2, a
PROXY protocol header (`header`: the server's option), servers that are not there. Its braces are those of str.format()."""

BACKENDS = """backend plain
	option forwardfor
	http-request deny if {{ path /deny }}
	http-request tarpit if {{ path /tarpit }}
	http-request return status 204 if {{ path /none }}
	http-request set-header x-rule "%[be_name]"
	http-response set-header x-after yes
	server s 127.0.0.1:{server}
backend proxied
	server s 127.0.0.1:{server} {header}
backend narrow
	server s 127.0.0.1:{server} maxconn 1
backend refused
	option redispatch
	retries 1
	server s 127.0.0.1:{closed}
backend empty
backend moved
	balance first
	option redispatch 1
	retries 2
	server gone 127.0.0.1:{closed}
	server s 127.0.0.1:{server}
frontend origin
	bind 127.0.0.1:{tls} ssl crt {crt} alpn h2,http/1.1
	http-request return status 200 content-type text/plain lf-string "%HV %[ssl_fc,iif(tls,clear)]"
backend secure
	server s 127.0.0.1:{tls} ssl verify none alpn http/1.1
backend h2
	server s 127.0.0.1:{tls} ssl verify none alpn h2
"""
# what is asked for: words of `debug dev request`
KINDS = ("plain /", "plain /post some-body", "plain /none", "plain /deny", "proxied /", "secure /", "h2 /", "moved /",
         "refused /", "empty /", "plain /big")
