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
syn keyword haproxySection acme backend cache crt-store defaults fcgi-app frontend global
syn keyword haproxySection healthcheck http-errors listen log-forward log-profile mailers peers resolvers
syn keyword haproxySection ring ruleset spoe-agent spoe-group spoe-message telemetry traces userlist
syn keyword haproxyKeyword abortonclose accept accept-netscaler-cip accept-proxy accept-unsafe-violations-in-http-request accept-unsafe-violations-in-http-response accepted_payload_size account-key
syn keyword haproxyKeyword acl acme-vars acme.scheduler addr admin agent-addr agent-check agent-inter
syn keyword haproxyKeyword agent-port agent-send allbackups allow-0rtt alpn anonkey args assume-rfc6587-ntf
syn keyword haproxyKeyword async auth backing-file backlog backup balance be-unpublished bind
syn keyword haproxyKeyword bits busy-polling ca-base ca-file ca-ignore-err ca-sign-file ca-sign-pass ca-verify-file
syn keyword haproxyKeyword capture cc challenge challenge-ready check check-alpn check-pool-conn-name check-proto
syn keyword haproxyKeyword check-reuse-pool check-send-proxy check-sni check-sni-auto check-ssl check-via-socks4 checkcache chroot
syn keyword haproxyKeyword ciphers ciphersuites client client-fin client-hs client-sigalgs clitcpka clitcpka-cnt
syn keyword haproxyKeyword clitcpka-idle clitcpka-intvl clitimeout close-spread-time cluster-secret collapse-requests compression connect
syn keyword haproxyKeyword connection contact content contimeout continue-on-error contstats cookie cpu-affinity
syn keyword haproxyKeyword cpu-map cpu-policy cpu-set crl-file crt crt-base crt-ignore-err crt-list
syn keyword haproxyKeyword crt-watch curves daemon debug.counters declare default-bind default-crt default-path
syn keyword haproxyKeyword default-server default_backend defer-accept description dgram-bind directory disable-h2-upgrade disabled
syn keyword haproxyKeyword dispatch dns-accept-family dns-delay dns-timeout docroot dont-parse-log dontlog-normal dontlognull
syn keyword haproxyKeyword downinter dynamic-cookie-key eab-key-id eab-mac-alg eab-mac-key ecdhe email-alert enable
syn keyword haproxyKeyword enabled encoding error-limit error-log-format errorfile errorfiles errorloc errorloc302
syn keyword haproxyKeyword errorloc303 errors event expose-deprecated-directives expose-experimental-directives expose-fd external-check fail
syn keyword haproxyKeyword fall fastinter fd-hard-limit filter force-be-switch force-cfg-parser-pause force-persist force-set-var
syn keyword haproxyKeyword force-sslv3 force-tlsv10 force-tlsv11 force-tlsv12 force-tlsv13 format forwarded forwardfor
syn keyword haproxyKeyword fullconn generate-certificates get-values gid grace group groups grpc-check
syn keyword haproxyKeyword guid guid-prefix h1-accept-payload-with-any-method h1-case-adjust h1-case-adjust-bogus-client h1-case-adjust-bogus-server h1-case-adjust-file h1-do-not-close-on-insecure-transfer-encoding
syn keyword haproxyKeyword h2-workaround-bogus-websocket-clients hard-stop-after harden.reject-privileged-ports.quic harden.reject-privileged-ports.tcp hash-balance-factor hash-key hash-preserve-affinity hash-type
syn keyword haproxyKeyword header hello hide-version history hold host http-after-response http-buffer-request
syn keyword haproxyKeyword http-check http-drop-request-trailers http-drop-response-trailers http-err-codes http-error http-fail-codes http-ignore-probes http-keep-alive
syn keyword haproxyKeyword http-no-delay http-pretend-keepalive http-request http-response http-restrict-req-hdr-names http-reuse http-send-name-header http-server-close
syn keyword haproxyKeyword http-use-proxy-header httpchk httpclient.resolvers.disabled httpclient.resolvers.id httpclient.resolvers.prefer httpclient.retries httpclient.ssl.ca-file httpclient.ssl.verify
syn keyword haproxyKeyword httpclient.timeout.connect httpclose httplog httpslog id idle idle-close-on-response idle-ping
syn keyword haproxyKeyword ignore-persist independent-streams index init-addr init-state insecure-fork-wanted insecure-setuid-wanted inspect-delay
syn keyword haproxyKeyword inter interface interval issuers-chain-path jwt.allow_none_alg jwt.decrypt_alg_list jwt.decrypt_enc_list keep-conn
syn keyword haproxyKeyword key-base keytype ktls label ldap-check level limited-quic load
syn keyword haproxyKeyword load-server-state-from-file localpeer log log-bufsize log-format log-format-sd log-health-checks log-proto
syn keyword haproxyKeyword log-send-hostname log-separate-errors log-slow log-stderr log-steps log-tag logasap lua-load
syn keyword haproxyKeyword lua-load-per-thread lua-prepend-path mail mailer map master-worker match max-age
syn keyword haproxyKeyword max-frame-size max-keep-alive-queue max-object-size max-reqs max-reuse max-secondary-entries max-session-srv-conns max-spread-checks
syn keyword haproxyKeyword max-threads-per-group max-waiting-frames maxcompcpuusage maxcomprate maxconn maxconnrate maxerrrate maxlen
syn keyword haproxyKeyword maxpipes maxqueue maxsessrate maxsslconn maxsslrate maxzlibmem messages metrics
syn keyword haproxyKeyword minconn mode monitor monitor-uri mpxs-conns mss mworker-max-reloads mysql-check
syn keyword haproxyKeyword name nameserver namespace nbconn nbproc nbthread nice no-agent-check
syn keyword haproxyKeyword no-alpn no-backup no-ca-names no-check no-check-reuse-pool no-check-send-proxy no-check-sni-auto no-check-ssl
syn keyword haproxyKeyword no-memory-trimming no-renegotiate no-send-proxy no-send-proxy-v2 no-send-proxy-v2-ssl no-send-proxy-v2-ssl-cn no-sni-auto no-ssl
syn keyword haproxyKeyword no-ssl-reuse no-sslv3 no-strict-sni no-tfo no-tls-tickets no-tlsv10 no-tlsv11 no-tlsv12
syn keyword haproxyKeyword no-tlsv13 no-verifyhost node noepoll noevports nogetaddrinfo nokqueue noktls
syn keyword haproxyKeyword nolinger non-stick nopoll noreuseport nosplice npn numa-cpu-mapping observe
syn keyword haproxyKeyword ocsp-update.disable ocsp-update.httpproxy ocsp-update.maxdelay ocsp-update.mindelay ocsp-update.mode on on-error on-marked-down
syn keyword haproxyKeyword on-marked-up on-state-change option originalto otlp outlier-ejection parent parse-resolv-conf
syn keyword haproxyKeyword pass-header path-info peer peer-template persist pgsql-check pidfile pipelining
syn keyword haproxyKeyword pool-conn-name pool-low-conn pool-max-conn pool-purge-delay port pp2-never-send-local prealloc-fd prefer-client-ciphers
syn keyword haproxyKeyword prefer-last-server presetenv process-vary processing profile profiling.memory profiling.tasks propagate
syn keyword haproxyKeyword proto provider-name proxy-v2-options queue quic-cc-algo quic-force-retry quic-initial quic-socket
syn keyword haproxyKeyword quiet rate-limit realm redir redirect redis-check redispatch refresh
syn keyword haproxyKeyword register-var-names reload-mode renegotiate request resetenv resolve-net resolve-opts resolve-prefer
syn keyword haproxyKeyword resolve_retries resource response retries retry-budget retry-delay retry-on reuse-key
syn keyword haproxyKeyword revalidate rfc9111 rise route sample sandbox scope send-frag-payload
syn keyword haproxyKeyword send-proxy send-proxy-v2 send-proxy-v2-ssl send-proxy-v2-ssl-cn serve-ranges server server-fin server-state-base
syn keyword haproxyKeyword server-state-file server-state-file-name server-template session sessions set-dumpable set-on-error set-param
syn keyword haproxyKeyword set-process-time set-proxy-v2-tlv-fmt set-total-time set-var set-var-fmt setcap setenv severity-output
syn keyword haproxyKeyword shard shards shm-stats-file shm-stats-file-max-objects show-desc show-latencies show-legends show-modules
syn keyword haproxyKeyword show-node show-version sigalgs size slowstart smtpchk sni sni-auto
syn keyword haproxyKeyword socket socket-stats socks4 source splice-auto splice-request splice-response spop-check
syn keyword haproxyKeyword spread-checks srvtcpka srvtcpka-cnt srvtcpka-idle srvtcpka-intvl srvtimeout ssl ssl-default-bind-ciphers
syn keyword haproxyKeyword ssl-default-bind-ciphersuites ssl-default-bind-client-sigalgs ssl-default-bind-curves ssl-default-bind-options ssl-default-bind-sigalgs ssl-default-server-ciphers ssl-default-server-ciphersuites ssl-default-server-client-sigalgs
syn keyword haproxyKeyword ssl-default-server-curves ssl-default-server-options ssl-default-server-sigalgs ssl-dh-param-file ssl-f-use ssl-fast-aes ssl-hello-chk ssl-load-extra-del-ext
syn keyword haproxyKeyword ssl-load-extra-files ssl-max-ver ssl-min-ver ssl-mode-async ssl-passphrase-cmd ssl-propquery ssl-provider ssl-provider-path
syn keyword haproxyKeyword ssl-reuse ssl-security-level ssl-server-verify ssl-skip-self-issued-ca stale-if-error stale-while-revalidate stats stats-file
syn keyword haproxyKeyword stick stick-table store-request store-response stress-level strict-limits strict-maxconn strict-sni
syn keyword haproxyKeyword table tags-from tarpit tcp-check tcp-md5sig tcp-request tcp-response tcp-smart-accept
syn keyword haproxyKeyword tcp-smart-connect tcp-ss tcp-ut tcpka tcplog tfo thread thread-group
syn keyword haproxyKeyword thread-groups thread-hard-limit tier timeout tls-ticket-keys tls-tickets total-max-size trace
syn keyword haproxyKeyword track transparent tune.applet.zero-copy-forwarding tune.buffers.limit tune.buffers.reserve tune.bufsize tune.bufsize.large tune.bufsize.small
syn keyword haproxyKeyword tune.chksize tune.cli.max-payload-size tune.comp.isal tune.comp.maxlevel tune.defaults.purge tune.disable-fast-forward tune.disable-zero-copy-forwarding tune.epoll.mask-events
syn keyword haproxyKeyword tune.events.max-events-at-once tune.fail-alloc tune.failed-requests tune.fd.edge-triggered tune.glitches.kill.cpu-usage tune.h1.be.glitches-threshold tune.h1.fe.glitches-threshold tune.h1.zero-copy-fwd-recv
syn keyword haproxyKeyword tune.h1.zero-copy-fwd-send tune.h2.be.glitches-threshold tune.h2.be.initial-window-size tune.h2.be.max-concurrent-streams tune.h2.be.max-frames-at-once tune.h2.be.rxbuf tune.h2.fe.glitches-threshold tune.h2.fe.initial-window-size
syn keyword haproxyKeyword tune.h2.fe.max-concurrent-streams tune.h2.fe.max-frames-at-once tune.h2.fe.max-rst-at-once tune.h2.fe.max-total-streams tune.h2.fe.rxbuf tune.h2.header-table-size tune.h2.initial-window-size tune.h2.log-errors
syn keyword haproxyKeyword tune.h2.max-concurrent-streams tune.h2.max-frame-size tune.h2.zero-copy-fwd-send tune.http.cookielen tune.http.logurilen tune.http.maxhdr tune.idle-pool.shared tune.idletimer
syn keyword haproxyKeyword tune.listener.default-shards tune.listener.multi-queue tune.lua.bool-sample-conversion tune.lua.burst-timeout tune.lua.forced-yield tune.lua.log.loggers tune.lua.log.stderr tune.lua.maxmem
syn keyword haproxyKeyword tune.lua.openlibs tune.lua.service-timeout tune.lua.session-timeout tune.lua.shared-size tune.lua.task-timeout tune.max-checks-per-thread tune.max-rules-at-once tune.maxaccept
syn keyword haproxyKeyword tune.maxpollevents tune.maxrewrite tune.memory.hot-size tune.notsent-lowat.client tune.notsent-lowat.server tune.pattern.cache-size tune.peers.max-updates-at-once tune.pipesize
syn keyword haproxyKeyword tune.pool-high-fd-ratio tune.pool-low-fd-ratio tune.pt.zero-copy-forwarding tune.quic.be.cc.cubic-min-losses tune.quic.be.cc.hystart tune.quic.be.cc.max-frame-loss tune.quic.be.cc.max-win-size tune.quic.be.cc.reorder-ratio
syn keyword haproxyKeyword tune.quic.be.max-idle-timeout tune.quic.be.sec.glitches-threshold tune.quic.be.stream.data-ratio tune.quic.be.stream.max-concurrent tune.quic.be.stream.rxbuf tune.quic.be.tx.pacing tune.quic.be.tx.udp-gso tune.quic.cc-hystart
syn keyword haproxyKeyword tune.quic.cc.cubic.min-losses tune.quic.disable-tx-pacing tune.quic.disable-udp-gso tune.quic.fe.cc.cubic-min-losses tune.quic.fe.cc.hystart tune.quic.fe.cc.max-frame-loss tune.quic.fe.cc.max-win-size tune.quic.fe.cc.reorder-ratio
syn keyword haproxyKeyword tune.quic.fe.max-idle-timeout tune.quic.fe.sec.glitches-threshold tune.quic.fe.sec.retry-threshold tune.quic.fe.sock-per-conn tune.quic.fe.stream.data-ratio tune.quic.fe.stream.max-concurrent tune.quic.fe.stream.max-total tune.quic.fe.stream.rxbuf
syn keyword haproxyKeyword tune.quic.fe.tx.pacing tune.quic.fe.tx.udp-gso tune.quic.frontend.default-max-window-size tune.quic.frontend.glitches-threshold tune.quic.frontend.max-data-size tune.quic.frontend.max-idle-timeout tune.quic.frontend.max-streams-bidi tune.quic.frontend.max-tx-mem
syn keyword haproxyKeyword tune.quic.frontend.stream-data-ratio tune.quic.listen tune.quic.max-frame-loss tune.quic.mem.tx-max tune.quic.reorder-ratio tune.quic.retry-threshold tune.quic.socket-owner tune.quic.zero-copy-fwd-send
syn keyword haproxyKeyword tune.rcvbuf.backend tune.rcvbuf.client tune.rcvbuf.frontend tune.rcvbuf.server tune.recv_enough tune.renice.runtime tune.renice.startup tune.ring.queues
syn keyword haproxyKeyword tune.runqueue-depth tune.sched.low-latency tune.sndbuf.backend tune.sndbuf.client tune.sndbuf.frontend tune.sndbuf.server tune.ssl.cachesize tune.ssl.capture-buffer-size
syn keyword haproxyKeyword tune.ssl.capture-cipherlist-size tune.ssl.certificate-compression tune.ssl.default-dh-param tune.ssl.force-private-cache tune.ssl.hard-maxrecord tune.ssl.keylog tune.ssl.keyupdate-rate-limit tune.ssl.lifetime
syn keyword haproxyKeyword tune.ssl.maxrecord tune.ssl.ocsp-update.maxdelay tune.ssl.ocsp-update.mindelay tune.ssl.ssl-ctx-cache-size tune.stick-counters tune.streams-elasticity tune.takeover-other-tg-connections tune.vars.check-max-size
syn keyword haproxyKeyword tune.vars.global-max-size tune.vars.proc-max-size tune.vars.reqres-max-size tune.vars.sess-max-size tune.vars.txn-max-size tune.zlib.memlevel tune.zlib.windowsize tunnel
syn keyword haproxyKeyword type uid ulimit-n unique-id-format unique-id-header unix-bind unsampled unsetenv
syn keyword haproxyKeyword uri use-backend use-fcgi-app use-routes use-ruleset use-server use-small-buffers use-telemetry
syn keyword haproxyKeyword use_backend use_backends user usesrc v4v6 v6only var-prefix verify
syn keyword haproxyKeyword verifyhost warn-blocked-traffic-after weight ws zero-warning
syn keyword haproxyAction add-acl add-header add-headers-bin allow attach-srv cache-purge cache-store cache-use
syn keyword haproxyAction call close del-acl del-header del-headers-bin del-map deny dgram-drop
syn keyword haproxyAction disable-l7-retry do-log do-resolve early-hint expect-netscaler-cip expect-proxy forward-auth mirror
syn keyword haproxyAction normalize-uri ot-group pause reject replace-header replace-path replace-pathq replace-uri
syn keyword haproxyAction replace-value return sc-add-gpc sc-inc-gpc sc-inc-gpc0 sc-inc-gpc1 sc-set-gpt sc-set-gpt0
syn keyword haproxyAction send-retry send-spoe-group set-bandwidth-limit set-bc-mark set-bc-tos set-dst set-dst-port set-fc-mark
syn keyword haproxyAction set-fc-tos set-header set-headers-bin set-log-level set-map set-mark set-method set-nice
syn keyword haproxyAction set-path set-pathq set-priority-class set-priority-offset set-query set-retries set-src set-src-port
syn keyword haproxyAction set-status set-timeout set-tos set-trace-sampling set-uri silent-drop strict-mode switch-mode
syn keyword haproxyAction track-sc unset-var use-service wait-for-body wait-for-handshake
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
