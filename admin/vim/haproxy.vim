" SPDX-License-Identifier: GPL-2.0-or-later
" Vim syntax file for haproxy.cfg; made by scripts/make-completion: do not edit
" Copy it to ~/.vim/syntax/haproxy.vim, and for *.cfg of haproxy: setfiletype haproxy
if exists("b:current_syntax")
  finish
endif
setlocal iskeyword=@,48-57,_,-,.,192-255
syn match haproxyComment /#.*$/
syn region haproxyString start=/"/ skip=/\\./ end=/"/ contains=haproxyVariable,haproxyFormat
syn region haproxyString start=/'/ end=/'/
syn match haproxyVariable /\$\({[A-Za-z0-9_-]*}\|[A-Za-z_][A-Za-z0-9_]*\)/
syn match haproxyFormat /%\[[^\]]*\]/
syn match haproxyNumber /\<\d\+\(us\|ms\|s\|m\|h\|d\|k\|g\)\?\>/
syn match haproxyDirective /^\s*\.\w\+/
syn keyword haproxySection backend defaults frontend global http-errors listen log-profile userlist
syn keyword haproxyKeyword abortonclose accept-netscaler-cip accept-proxy accept-unsafe-violations-in-http-request accept-unsafe-violations-in-http-response acl addr agent-addr
syn keyword haproxyKeyword agent-check agent-inter agent-port agent-send allbackups alpn backlog backup
syn keyword haproxyKeyword balance bind busy-polling ca-base ca-file ca-ignore-err ca-verify-file capture
syn keyword haproxyKeyword check check-proto check-reuse-pool check-send-proxy check-via-socks4 checkcache chroot ciphers
syn keyword haproxyKeyword ciphersuites client client-fin client-hs client-sigalgs clitcpka clitcpka-cnt clitcpka-idle
syn keyword haproxyKeyword clitcpka-intvl clitimeout close-spread-time cluster-secret compression connect connection content
syn keyword haproxyKeyword contimeout contstats cookie cpu-map cpu-policy cpu-set crl-file crt
syn keyword haproxyKeyword crt-base crt-ignore-err crt-list curves daemon declare default-crt default-path
syn keyword haproxyKeyword default-server default_backend defer-accept description disable-h2-upgrade disabled dispatch dontlog-normal
syn keyword haproxyKeyword dontlognull downinter dynamic-cookie-key ecdhe email-alert enabled error-limit error-log-format
syn keyword haproxyKeyword errorfile errorfiles errorloc errorloc302 errorloc303 expose-deprecated-directives expose-experimental-directives expose-fd
syn keyword haproxyKeyword external-check fail fall fastinter fd-hard-limit force-persist force-tlsv10 force-tlsv11
syn keyword haproxyKeyword force-tlsv12 force-tlsv13 forwarded forwardfor fullconn gid grace group
syn keyword haproxyKeyword guid guid-prefix h1-case-adjust h1-case-adjust-bogus-client h1-case-adjust-bogus-server h1-case-adjust-file hard-stop-after harden.reject-privileged-ports.quic
syn keyword haproxyKeyword harden.reject-privileged-ports.tcp hash-balance-factor hash-key hash-preserve-affinity hash-type header http-after-response http-buffer-request
syn keyword haproxyKeyword http-check http-drop-request-trailers http-drop-response-trailers http-error http-ignore-probes http-keep-alive http-no-delay http-pretend-keepalive
syn keyword haproxyKeyword http-request http-response http-restrict-req-hdr-names http-reuse http-send-name-header http-server-close http-use-proxy-header httpchk
syn keyword haproxyKeyword httpclose httplog httpslog id idle-close-on-response idle-ping ignore-persist independent-streams
syn keyword haproxyKeyword init-addr init-state insecure-fork-wanted insecure-setuid-wanted inspect-delay inter interface key-base
syn keyword haproxyKeyword label ldap-check level load-server-state-from-file localpeer log log-bufsize log-format
syn keyword haproxyKeyword log-format-sd log-health-checks log-proto log-send-hostname log-separate-errors log-steps log-tag logasap
syn keyword haproxyKeyword master-worker max-keep-alive-queue max-reuse max-session-srv-conns max-threads-per-group maxconn maxconnrate maxpipes
syn keyword haproxyKeyword maxqueue maxsessrate maxsslconn maxsslrate minconn mode monitor monitor-uri
syn keyword haproxyKeyword mss mworker-max-reloads mysql-check name namespace nbconn nbthread nice
syn keyword haproxyKeyword no-agent-check no-alpn no-backup no-ca-names no-check no-check-reuse-pool no-check-ssl no-memory-trimming
syn keyword haproxyKeyword no-send-proxy no-send-proxy-v2 no-send-proxy-v2-ssl no-send-proxy-v2-ssl-cn no-ssl no-ssl-reuse no-sslv3 no-strict-sni
syn keyword haproxyKeyword no-tfo no-tls-tickets no-tlsv10 no-tlsv11 no-tlsv12 no-tlsv13 node noepoll
syn keyword haproxyKeyword noevports nogetaddrinfo nokqueue nolinger non-stick nopoll noreuseport nosplice
syn keyword haproxyKeyword numa-cpu-mapping observe on on-error on-marked-down on-marked-up option originalto
syn keyword haproxyKeyword persist pgsql-check pidfile pool-conn-name pool-low-conn pool-max-conn pool-purge-delay port
syn keyword haproxyKeyword prealloc-fd prefer-client-ciphers prefer-last-server presetenv profiling.memory profiling.tasks proto proxy-v2-options
syn keyword haproxyKeyword queue quic-cc-algo quic-force-retry quic-socket quiet rate-limit redir redirect
syn keyword haproxyKeyword redis-check redispatch reload-mode request resetenv resolve-net resolve-opts resolve-prefer
syn keyword haproxyKeyword resolvers response retries retry-on rise send-proxy send-proxy-v2 send-proxy-v2-ssl
syn keyword haproxyKeyword send-proxy-v2-ssl-cn server server-fin server-state-file-name server-template session sessions set-dumpable
syn keyword haproxyKeyword set-var set-var-fmt setcap setenv severity-output shard shards sigalgs
syn keyword haproxyKeyword slowstart smtpchk sni socket socket-stats socks4 source splice-auto
syn keyword haproxyKeyword splice-request splice-response spop-check srvtcpka srvtcpka-cnt srvtcpka-idle srvtcpka-intvl srvtimeout
syn keyword haproxyKeyword ssl ssl-default-bind-ciphers ssl-default-bind-ciphersuites ssl-default-bind-client-sigalgs ssl-default-bind-curves ssl-default-bind-options ssl-default-bind-sigalgs ssl-default-server-ciphers
syn keyword haproxyKeyword ssl-default-server-ciphersuites ssl-default-server-client-sigalgs ssl-default-server-curves ssl-default-server-options ssl-default-server-sigalgs ssl-dh-param-file ssl-hello-chk ssl-load-extra-del-ext
syn keyword haproxyKeyword ssl-load-extra-files ssl-max-ver ssl-min-ver ssl-propquery ssl-provider ssl-provider-path ssl-reuse ssl-security-level
syn keyword haproxyKeyword ssl-server-verify stats stick stick-table strict-limits strict-maxconn strict-sni tarpit
syn keyword haproxyKeyword tcp-check tcp-request tcp-response tcp-smart-accept tcp-smart-connect tcp-ut tcpka tcplog
syn keyword haproxyKeyword tfo thread thread-group thread-groups thread-hard-limit timeout tls-ticket-keys tls-tickets
syn keyword haproxyKeyword track transparent tune.applet.zero-copy-forwarding tune.buffers.limit tune.buffers.reserve tune.bufsize tune.disable-fast-forward tune.disable-zero-copy-forwarding
syn keyword haproxyKeyword tune.epoll.mask-events tune.events.max-events-at-once tune.fail-alloc tune.fd.edge-triggered tune.glitches.kill.cpu-usage tune.h1.zero-copy-fwd-recv tune.h1.zero-copy-fwd-send tune.h2.be.glitches-threshold
syn keyword haproxyKeyword tune.h2.be.initial-window-size tune.h2.be.max-concurrent-streams tune.h2.be.max-frames-at-once tune.h2.be.rxbuf tune.h2.fe.glitches-threshold tune.h2.fe.initial-window-size tune.h2.fe.max-concurrent-streams tune.h2.fe.max-frames-at-once
syn keyword haproxyKeyword tune.h2.fe.max-rst-at-once tune.h2.fe.max-total-streams tune.h2.fe.rxbuf tune.h2.header-table-size tune.h2.initial-window-size tune.h2.log-errors tune.h2.max-concurrent-streams tune.h2.max-frame-size
syn keyword haproxyKeyword tune.h2.zero-copy-fwd-send tune.http.logurilen tune.http.maxhdr tune.idle-pool.shared tune.idletimer tune.listener.default-shards tune.listener.multi-queue tune.max-rules-at-once
syn keyword haproxyKeyword tune.maxaccept tune.maxpollevents tune.maxrewrite tune.memory.hot-size tune.notsent-lowat.client tune.notsent-lowat.server tune.pipesize tune.pool-high-fd-ratio
syn keyword haproxyKeyword tune.pool-low-fd-ratio tune.pt.zero-copy-forwarding tune.rcvbuf.backend tune.rcvbuf.client tune.rcvbuf.frontend tune.rcvbuf.server tune.recv_enough tune.renice.runtime
syn keyword haproxyKeyword tune.runqueue-depth tune.sched.low-latency tune.sndbuf.backend tune.sndbuf.client tune.sndbuf.frontend tune.sndbuf.server tune.ssl.cachesize tune.ssl.capture-buffer-size
syn keyword haproxyKeyword tune.ssl.capture-cipherlist-size tune.ssl.default-dh-param tune.ssl.force-private-cache tune.ssl.hard-maxrecord tune.ssl.lifetime tune.ssl.maxrecord tune.vars.global-max-size tune.vars.proc-max-size
syn keyword haproxyKeyword tune.vars.reqres-max-size tune.vars.sess-max-size tune.vars.txn-max-size tunnel uid ulimit-n unique-id-format unique-id-header
syn keyword haproxyKeyword unsetenv use-fcgi-app use-server use_backend user v4v6 v6only verify
syn keyword haproxyKeyword verifyhost warn-blocked-traffic-after weight zero-warning
syn keyword haproxyAction accept add-header allow attach-srv auth cache-store cache-use close
syn keyword haproxyAction del-header deny disable-l7-retry do-log do-resolve early-hint expect-netscaler-cip expect-proxy
syn keyword haproxyAction normalize-uri pause reject replace-header replace-path replace-pathq replace-uri replace-value
syn keyword haproxyAction return send-spoe-group set-bandwidth-limit set-bc-mark set-bc-tos set-dst set-dst-port set-fc-mark
syn keyword haproxyAction set-fc-tos set-header set-log-level set-mark set-method set-nice set-path set-pathq
syn keyword haproxyAction set-priority-class set-priority-offset set-query set-retries set-src set-src-port set-status set-timeout
syn keyword haproxyAction set-tos set-uri silent-drop strict-mode switch-mode unset-var use-service wait-for-body
syn keyword haproxyAction wait-for-handshake
hi def link haproxyComment Comment
hi def link haproxyString String
hi def link haproxyVariable Identifier
hi def link haproxyFormat Special
hi def link haproxyNumber Number
hi def link haproxyDirective PreProc
hi def link haproxySection Structure
hi def link haproxyKeyword Statement
hi def link haproxyAction Function
hi def link haproxyFetch Type
let b:current_syntax = "haproxy"
