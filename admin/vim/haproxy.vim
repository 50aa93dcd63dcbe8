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
syn keyword haproxyKeyword downinter dynamic-cookie-key eab-key-id eab-mac-alg eab-mac-key early-hints early-hints-max-age ecdhe
syn keyword haproxyKeyword email-alert enable enabled encoding error-limit error-log-format errorfile errorfiles
syn keyword haproxyKeyword errorloc errorloc302 errorloc303 errors event expose-deprecated-directives expose-experimental-directives expose-fd
syn keyword haproxyKeyword external-check fail fall fastinter fd-hard-limit filter force-be-switch force-cfg-parser-pause
syn keyword haproxyKeyword force-persist force-set-var force-sslv3 force-tlsv10 force-tlsv11 force-tlsv12 force-tlsv13 format
syn keyword haproxyKeyword forwarded forwardfor fullconn generate-certificates get-values gid grace group
syn keyword haproxyKeyword groups grpc-check guid guid-prefix h1-accept-payload-with-any-method h1-case-adjust h1-case-adjust-bogus-client h1-case-adjust-bogus-server
syn keyword haproxyKeyword h1-case-adjust-file h1-do-not-close-on-insecure-transfer-encoding h2-workaround-bogus-websocket-clients hard-stop-after harden.reject-privileged-ports.quic harden.reject-privileged-ports.tcp hash-balance-factor hash-key
syn keyword haproxyKeyword hash-preserve-affinity hash-type header hello hide-version history hold host
syn keyword haproxyKeyword http-after-response http-buffer-request http-check http-drop-request-trailers http-drop-response-trailers http-err-codes http-error http-fail-codes
syn keyword haproxyKeyword http-ignore-probes http-keep-alive http-no-delay http-pretend-keepalive http-request http-response http-restrict-req-hdr-names http-reuse
syn keyword haproxyKeyword http-send-name-header http-server-close http-use-proxy-header httpchk httpclient.resolvers.disabled httpclient.resolvers.id httpclient.resolvers.prefer httpclient.retries
syn keyword haproxyKeyword httpclient.ssl.ca-file httpclient.ssl.verify httpclient.timeout.connect httpclose httplog httpslog id idle
syn keyword haproxyKeyword idle-close-on-response idle-ping ignore-persist independent-streams index init-addr init-state insecure-fork-wanted
syn keyword haproxyKeyword insecure-setuid-wanted inspect-delay inter interface interval issuers-chain-path jwt.allow_none_alg jwt.decrypt_alg_list
syn keyword haproxyKeyword jwt.decrypt_enc_list keep-conn key-base keytype ktls label ldap-check level
syn keyword haproxyKeyword limited-quic load load-server-state-from-file localpeer log log-bufsize log-format log-format-sd
syn keyword haproxyKeyword log-health-checks log-proto log-send-hostname log-separate-errors log-slow log-stderr log-steps log-tag
syn keyword haproxyKeyword logasap logs lua-load lua-load-per-thread lua-prepend-path mail mailer map
syn keyword haproxyKeyword master-worker match max-age max-frame-size max-keep-alive-queue max-object-size max-reqs max-reuse
syn keyword haproxyKeyword max-secondary-entries max-session-srv-conns max-spread-checks max-threads-per-group max-waiting-frames maxcompcpuusage maxcomprate maxconn
syn keyword haproxyKeyword maxconnrate maxerrrate maxlen maxpipes maxqueue maxsessrate maxsslconn maxsslrate
syn keyword haproxyKeyword maxzlibmem messages metrics minconn mode monitor monitor-uri mpxs-conns
syn keyword haproxyKeyword mss mworker-max-reloads mysql-check name nameserver namespace nbconn nbproc
syn keyword haproxyKeyword nbthread nice no-agent-check no-alpn no-backup no-ca-names no-check no-check-reuse-pool
syn keyword haproxyKeyword no-check-send-proxy no-check-sni-auto no-check-ssl no-memory-trimming no-renegotiate no-send-proxy no-send-proxy-v2 no-send-proxy-v2-ssl
syn keyword haproxyKeyword no-send-proxy-v2-ssl-cn no-sni-auto no-ssl no-ssl-reuse no-sslv3 no-strict-sni no-tfo no-tls-tickets
syn keyword haproxyKeyword no-tlsv10 no-tlsv11 no-tlsv12 no-tlsv13 no-verifyhost node noepoll noevports
syn keyword haproxyKeyword nogetaddrinfo nokqueue noktls nolinger non-stick nopoll noreuseport nosplice
syn keyword haproxyKeyword npn numa-cpu-mapping observe ocsp-update.disable ocsp-update.httpproxy ocsp-update.maxdelay ocsp-update.mindelay ocsp-update.mode
syn keyword haproxyKeyword on on-error on-marked-down on-marked-up on-state-change option originalto otlp
syn keyword haproxyKeyword outlier-ejection parent parse-resolv-conf pass-header path-info peer peer-template persist
syn keyword haproxyKeyword pgsql-check pidfile pipelining pool-conn-name pool-low-conn pool-max-conn pool-purge-delay port
syn keyword haproxyKeyword pp2-never-send-local prealloc-fd prefer-client-ciphers prefer-last-server presetenv process-vary processing profile
syn keyword haproxyKeyword profiling.memory profiling.tasks propagate proto provider-name proxy-v2-options queue quic-cc-algo
syn keyword haproxyKeyword quic-force-retry quic-initial quic-socket quick-exit quiet rate-limit realm redir
syn keyword haproxyKeyword redirect redis-check redispatch refresh register-var-names reload-mode renegotiate request
syn keyword haproxyKeyword resetenv resolve-net resolve-opts resolve-prefer resolve_retries resource response retries
syn keyword haproxyKeyword retry-budget retry-delay retry-on reuse-key revalidate rfc9111 rise route
syn keyword haproxyKeyword sample sandbox scope send-frag-payload send-proxy send-proxy-v2 send-proxy-v2-ssl send-proxy-v2-ssl-cn
syn keyword haproxyKeyword serve-ranges server server-fin server-state-base server-state-file server-state-file-name server-template session
syn keyword haproxyKeyword sessions set-dumpable set-on-error set-param set-process-time set-proxy-v2-tlv-fmt set-total-time set-var
syn keyword haproxyKeyword set-var-fmt setcap setenv severity-output shard shards shm-stats-file shm-stats-file-max-objects
syn keyword haproxyKeyword show-desc show-latencies show-legends show-modules show-node show-version sigalgs size
syn keyword haproxyKeyword slowstart smtpchk sni sni-auto socket socket-stats socks4 source
syn keyword haproxyKeyword splice-auto splice-request splice-response spop-check spread-checks srvtcpka srvtcpka-cnt srvtcpka-idle
syn keyword haproxyKeyword srvtcpka-intvl srvtimeout ssl ssl-default-bind-ciphers ssl-default-bind-ciphersuites ssl-default-bind-client-sigalgs ssl-default-bind-curves ssl-default-bind-options
syn keyword haproxyKeyword ssl-default-bind-sigalgs ssl-default-server-ciphers ssl-default-server-ciphersuites ssl-default-server-client-sigalgs ssl-default-server-curves ssl-default-server-options ssl-default-server-sigalgs ssl-dh-param-file
syn keyword haproxyKeyword ssl-f-use ssl-fast-aes ssl-hello-chk ssl-load-extra-del-ext ssl-load-extra-files ssl-max-ver ssl-min-ver ssl-mode-async
syn keyword haproxyKeyword ssl-passphrase-cmd ssl-propquery ssl-provider ssl-provider-path ssl-reuse ssl-security-level ssl-server-verify ssl-skip-self-issued-ca
syn keyword haproxyKeyword stale-if-error stale-while-revalidate stats stats-file stick stick-table store-request store-response
syn keyword haproxyKeyword stress-level strict-limits strict-maxconn strict-sni table tags-from tarpit tcp-check
syn keyword haproxyKeyword tcp-md5sig tcp-request tcp-response tcp-smart-accept tcp-smart-connect tcp-ss tcp-ut tcpka
syn keyword haproxyKeyword tcplog tfo thread thread-group thread-groups thread-hard-limit tier timeout
syn keyword haproxyKeyword tls-ticket-keys tls-tickets total-max-size trace track transparent tune.applet.zero-copy-forwarding tune.buffers.limit
syn keyword haproxyKeyword tune.buffers.reserve tune.bufsize tune.bufsize.large tune.bufsize.small tune.chksize tune.cli.max-payload-size tune.comp.isal tune.comp.maxlevel
syn keyword haproxyKeyword tune.defaults.purge tune.disable-fast-forward tune.disable-zero-copy-forwarding tune.epoll.mask-events tune.events.max-events-at-once tune.fail-alloc tune.failed-requests tune.fd.edge-triggered
syn keyword haproxyKeyword tune.glitches.kill.cpu-usage tune.h1.be.glitches-threshold tune.h1.fe.glitches-threshold tune.h1.zero-copy-fwd-recv tune.h1.zero-copy-fwd-send tune.h2.be.glitches-threshold tune.h2.be.initial-window-size tune.h2.be.max-concurrent-streams
syn keyword haproxyKeyword tune.h2.be.max-frames-at-once tune.h2.be.rxbuf tune.h2.fe.glitches-threshold tune.h2.fe.initial-window-size tune.h2.fe.max-concurrent-streams tune.h2.fe.max-frames-at-once tune.h2.fe.max-rst-at-once tune.h2.fe.max-total-streams
syn keyword haproxyKeyword tune.h2.fe.rxbuf tune.h2.header-table-size tune.h2.initial-window-size tune.h2.log-errors tune.h2.max-concurrent-streams tune.h2.max-frame-size tune.h2.zero-copy-fwd-send tune.http.cookielen
syn keyword haproxyKeyword tune.http.logurilen tune.http.maxhdr tune.idle-pool.shared tune.idletimer tune.listener.default-shards tune.listener.multi-queue tune.lua.bool-sample-conversion tune.lua.burst-timeout
syn keyword haproxyKeyword tune.lua.forced-yield tune.lua.log.loggers tune.lua.log.stderr tune.lua.maxmem tune.lua.openlibs tune.lua.service-timeout tune.lua.session-timeout tune.lua.shared-size
syn keyword haproxyKeyword tune.lua.task-timeout tune.max-checks-per-thread tune.max-rules-at-once tune.maxaccept tune.maxpollevents tune.maxrewrite tune.memory.hot-size tune.notsent-lowat.client
syn keyword haproxyKeyword tune.notsent-lowat.server tune.pattern.cache-size tune.peers.max-updates-at-once tune.pipesize tune.pool-high-fd-ratio tune.pool-low-fd-ratio tune.pt.zero-copy-forwarding tune.quic.be.cc.cubic-min-losses
syn keyword haproxyKeyword tune.quic.be.cc.hystart tune.quic.be.cc.max-frame-loss tune.quic.be.cc.max-win-size tune.quic.be.cc.reorder-ratio tune.quic.be.max-idle-timeout tune.quic.be.sec.glitches-threshold tune.quic.be.stream.data-ratio tune.quic.be.stream.max-concurrent
syn keyword haproxyKeyword tune.quic.be.stream.rxbuf tune.quic.be.tx.pacing tune.quic.be.tx.udp-gso tune.quic.cc-hystart tune.quic.cc.cubic.min-losses tune.quic.disable-tx-pacing tune.quic.disable-udp-gso tune.quic.fe.cc.cubic-min-losses
syn keyword haproxyKeyword tune.quic.fe.cc.hystart tune.quic.fe.cc.max-frame-loss tune.quic.fe.cc.max-win-size tune.quic.fe.cc.reorder-ratio tune.quic.fe.max-idle-timeout tune.quic.fe.sec.glitches-threshold tune.quic.fe.sec.retry-threshold tune.quic.fe.sock-per-conn
syn keyword haproxyKeyword tune.quic.fe.stream.data-ratio tune.quic.fe.stream.max-concurrent tune.quic.fe.stream.max-total tune.quic.fe.stream.rxbuf tune.quic.fe.tx.pacing tune.quic.fe.tx.udp-gso tune.quic.frontend.default-max-window-size tune.quic.frontend.glitches-threshold
syn keyword haproxyKeyword tune.quic.frontend.max-data-size tune.quic.frontend.max-idle-timeout tune.quic.frontend.max-streams-bidi tune.quic.frontend.max-tx-mem tune.quic.frontend.stream-data-ratio tune.quic.listen tune.quic.max-frame-loss tune.quic.mem.tx-max
syn keyword haproxyKeyword tune.quic.reorder-ratio tune.quic.retry-threshold tune.quic.socket-owner tune.quic.zero-copy-fwd-send tune.rcvbuf.backend tune.rcvbuf.client tune.rcvbuf.frontend tune.rcvbuf.server
syn keyword haproxyKeyword tune.recv_enough tune.renice.runtime tune.renice.startup tune.ring.queues tune.runqueue-depth tune.sched.low-latency tune.sndbuf.backend tune.sndbuf.client
syn keyword haproxyKeyword tune.sndbuf.frontend tune.sndbuf.server tune.ssl.cachesize tune.ssl.capture-buffer-size tune.ssl.capture-cipherlist-size tune.ssl.certificate-compression tune.ssl.default-dh-param tune.ssl.force-private-cache
syn keyword haproxyKeyword tune.ssl.hard-maxrecord tune.ssl.keylog tune.ssl.keyupdate-rate-limit tune.ssl.lifetime tune.ssl.maxrecord tune.ssl.ocsp-update.maxdelay tune.ssl.ocsp-update.mindelay tune.ssl.ssl-ctx-cache-size
syn keyword haproxyKeyword tune.stick-counters tune.streams-elasticity tune.takeover-other-tg-connections tune.vars.check-max-size tune.vars.global-max-size tune.vars.proc-max-size tune.vars.reqres-max-size tune.vars.sess-max-size
syn keyword haproxyKeyword tune.vars.txn-max-size tune.zlib.memlevel tune.zlib.windowsize tunnel type uid ulimit-n unique-id-format
syn keyword haproxyKeyword unique-id-header unix-bind unsampled unsetenv uri use-backend use-fcgi-app use-routes
syn keyword haproxyKeyword use-ruleset use-server use-small-buffers use-telemetry use_backend use_backends user usesrc
syn keyword haproxyKeyword v4v6 v6only var-prefix verify verifyhost warn-blocked-traffic-after weight ws
syn keyword haproxyKeyword zero-warning
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
