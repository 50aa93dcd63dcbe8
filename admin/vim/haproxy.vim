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
syn keyword haproxyKeyword calculate-max-counters capture cc challenge challenge-ready check check-alpn check-pool-conn-name
syn keyword haproxyKeyword check-proto check-reuse-pool check-send-proxy check-sni check-sni-auto check-ssl check-via-socks4 checkcache
syn keyword haproxyKeyword chroot ciphers ciphersuites client client-fin client-hs client-sigalgs clitcpka
syn keyword haproxyKeyword clitcpka-cnt clitcpka-idle clitcpka-intvl clitimeout close-spread-time cluster-secret collapse-requests compression
syn keyword haproxyKeyword connect connection contact content contimeout continue-on-error contstats cookie
syn keyword haproxyKeyword cpu-affinity cpu-map cpu-policy cpu-set crl-file crt crt-base crt-ignore-err
syn keyword haproxyKeyword crt-list crt-watch curves daemon debug.counters declare default-bind default-crt
syn keyword haproxyKeyword default-path default-server default_backend defer-accept description dgram-bind directory disable-h2-upgrade
syn keyword haproxyKeyword disabled dispatch dns-accept-family dns-delay dns-timeout docroot dont-parse-log dontlog-normal
syn keyword haproxyKeyword dontlognull downinter dynamic-cookie-key eab-key-id eab-mac-alg eab-mac-key early-hints early-hints-max-age
syn keyword haproxyKeyword ecdhe email-alert enable enabled encoding error-limit error-log-format errorfile
syn keyword haproxyKeyword errorfiles errorloc errorloc302 errorloc303 errors event expose-deprecated-directives expose-experimental-directives
syn keyword haproxyKeyword expose-fd external-check fail fall fastinter fd-hard-limit filter force-be-switch
syn keyword haproxyKeyword force-cfg-parser-pause force-persist force-set-var force-sslv3 force-tlsv10 force-tlsv11 force-tlsv12 force-tlsv13
syn keyword haproxyKeyword format forwarded forwardfor fullconn generate-certificates get-values gid grace
syn keyword haproxyKeyword group groups grpc-check guid guid-prefix h1-accept-payload-with-any-method h1-case-adjust h1-case-adjust-bogus-client
syn keyword haproxyKeyword h1-case-adjust-bogus-server h1-case-adjust-file h1-do-not-close-on-insecure-transfer-encoding h2-workaround-bogus-websocket-clients hard-stop-after harden.reject-privileged-ports.quic harden.reject-privileged-ports.tcp hash-balance-factor
syn keyword haproxyKeyword hash-key hash-preserve-affinity hash-type header hello hide-version history hold
syn keyword haproxyKeyword host http-after-response http-buffer-request http-check http-drop-request-trailers http-drop-response-trailers http-err-codes http-error
syn keyword haproxyKeyword http-fail-codes http-ignore-probes http-keep-alive http-no-delay http-pretend-keepalive http-request http-response http-restrict-req-hdr-names
syn keyword haproxyKeyword http-reuse http-send-name-header http-server-close http-use-proxy-header httpchk httpclient.resolvers.disabled httpclient.resolvers.id httpclient.resolvers.prefer
syn keyword haproxyKeyword httpclient.retries httpclient.ssl.ca-file httpclient.ssl.verify httpclient.timeout.connect httpclose httplog httpslog id
syn keyword haproxyKeyword idle idle-close-on-response idle-ping ignore-persist independent-streams index init-addr init-state
syn keyword haproxyKeyword insecure-fork-wanted insecure-setuid-wanted inspect-delay inter interface interval issuers-chain-path jwt.allow_none_alg
syn keyword haproxyKeyword jwt.decrypt_alg_list jwt.decrypt_enc_list keep-conn key-base keytype ktls label ldap-check
syn keyword haproxyKeyword level limited-quic load load-server-state-from-file localpeer log log-bufsize log-format
syn keyword haproxyKeyword log-format-sd log-health-checks log-proto log-send-hostname log-separate-errors log-slow log-stderr log-steps
syn keyword haproxyKeyword log-tag logasap logs lua-load lua-load-per-thread lua-prepend-path mail mailer
syn keyword haproxyKeyword map master-worker match max-age max-frame-size max-keep-alive-queue max-object-size max-reqs
syn keyword haproxyKeyword max-reuse max-secondary-entries max-session-srv-conns max-spread-checks max-threads-per-group max-waiting-frames maxcompcpuusage maxcomprate
syn keyword haproxyKeyword maxconn maxconnrate maxerrrate maxlen maxpipes maxqueue maxsessrate maxsslconn
syn keyword haproxyKeyword maxsslrate maxzlibmem messages metrics minconn mode monitor monitor-uri
syn keyword haproxyKeyword mpxs-conns mss mworker-max-reloads mysql-check name nameserver namespace nbconn
syn keyword haproxyKeyword nbproc nbthread nice no-agent-check no-alpn no-backup no-ca-names no-check
syn keyword haproxyKeyword no-check-reuse-pool no-check-send-proxy no-check-sni-auto no-check-ssl no-memory-trimming no-renegotiate no-send-proxy no-send-proxy-v2
syn keyword haproxyKeyword no-send-proxy-v2-ssl no-send-proxy-v2-ssl-cn no-sni-auto no-ssl no-ssl-reuse no-sslv3 no-strict-sni no-tfo
syn keyword haproxyKeyword no-tls-tickets no-tlsv10 no-tlsv11 no-tlsv12 no-tlsv13 no-verifyhost node noepoll
syn keyword haproxyKeyword noevports nogetaddrinfo nokqueue noktls nolinger non-stick nopoll noreuseport
syn keyword haproxyKeyword nosplice npn numa-cpu-mapping observe ocsp-update.disable ocsp-update.httpproxy ocsp-update.maxdelay ocsp-update.mindelay
syn keyword haproxyKeyword ocsp-update.mode on on-error on-marked-down on-marked-up on-state-change option originalto
syn keyword haproxyKeyword otlp outlier-ejection parent parse-resolv-conf pass-header path-info peer peer-template
syn keyword haproxyKeyword persist pgsql-check pidfile pipelining pool-conn-name pool-low-conn pool-max-conn pool-purge-delay
syn keyword haproxyKeyword port pp2-never-send-local prealloc-fd prefer-client-ciphers prefer-last-server presetenv process-vary processing
syn keyword haproxyKeyword profile profiling.memory profiling.tasks propagate proto provider-name proxy-v2-options queue
syn keyword haproxyKeyword quic-cc-algo quic-force-retry quic-initial quic-socket quick-exit quiet rate-limit realm
syn keyword haproxyKeyword redir redirect redis-check redispatch refresh register-var-names reload-mode renegotiate
syn keyword haproxyKeyword request resetenv resolve-net resolve-opts resolve-prefer resolve_retries resource response
syn keyword haproxyKeyword retries retry-budget retry-delay retry-on reuse-key revalidate rfc9111 rise
syn keyword haproxyKeyword route sample sandbox scope send-frag-payload send-proxy send-proxy-v2 send-proxy-v2-ssl
syn keyword haproxyKeyword send-proxy-v2-ssl-cn serve-ranges server server-fin server-state-base server-state-file server-state-file-name server-template
syn keyword haproxyKeyword session sessions set-dumpable set-on-error set-param set-process-time set-proxy-v2-tlv-fmt set-total-time
syn keyword haproxyKeyword set-var set-var-fmt setcap setenv severity-output shard shards shm-stats-file
syn keyword haproxyKeyword shm-stats-file-max-objects show-desc show-latencies show-legends show-modules show-node show-version sigalgs
syn keyword haproxyKeyword size slowstart smtpchk sni sni-auto socket socket-stats socks4
syn keyword haproxyKeyword source splice-auto splice-request splice-response spop-check spread-checks srvtcpka srvtcpka-cnt
syn keyword haproxyKeyword srvtcpka-idle srvtcpka-intvl srvtimeout ssl ssl-default-bind-ciphers ssl-default-bind-ciphersuites ssl-default-bind-client-sigalgs ssl-default-bind-curves
syn keyword haproxyKeyword ssl-default-bind-options ssl-default-bind-sigalgs ssl-default-server-ciphers ssl-default-server-ciphersuites ssl-default-server-client-sigalgs ssl-default-server-curves ssl-default-server-options ssl-default-server-sigalgs
syn keyword haproxyKeyword ssl-dh-param-file ssl-f-use ssl-fast-aes ssl-hello-chk ssl-load-extra-del-ext ssl-load-extra-files ssl-max-ver ssl-min-ver
syn keyword haproxyKeyword ssl-mode-async ssl-passphrase-cmd ssl-propquery ssl-provider ssl-provider-path ssl-reuse ssl-security-level ssl-server-verify
syn keyword haproxyKeyword ssl-skip-self-issued-ca stale-if-error stale-while-revalidate stats stats-file stick stick-table store-request
syn keyword haproxyKeyword store-response stress-level strict-limits strict-maxconn strict-sni table tags-from tarpit
syn keyword haproxyKeyword tcp-check tcp-md5sig tcp-request tcp-response tcp-smart-accept tcp-smart-connect tcp-ss tcp-ut
syn keyword haproxyKeyword tcpka tcplog tfo thread thread-group thread-groups thread-hard-limit tier
syn keyword haproxyKeyword timeout tls-ticket-keys tls-tickets total-max-size trace track transparent tune.applet.zero-copy-forwarding
syn keyword haproxyKeyword tune.buffers.limit tune.buffers.reserve tune.bufsize tune.bufsize.large tune.bufsize.small tune.chksize tune.cli.max-payload-size tune.comp.isal
syn keyword haproxyKeyword tune.comp.maxlevel tune.defaults.purge tune.disable-fast-forward tune.disable-zero-copy-forwarding tune.epoll.mask-events tune.events.max-events-at-once tune.fail-alloc tune.failed-requests
syn keyword haproxyKeyword tune.fd.edge-triggered tune.glitches.kill.cpu-usage tune.h1.be.glitches-threshold tune.h1.fe.glitches-threshold tune.h1.zero-copy-fwd-recv tune.h1.zero-copy-fwd-send tune.h2.be.glitches-threshold tune.h2.be.initial-window-size
syn keyword haproxyKeyword tune.h2.be.max-concurrent-streams tune.h2.be.max-frames-at-once tune.h2.be.rxbuf tune.h2.fe.glitches-threshold tune.h2.fe.initial-window-size tune.h2.fe.max-concurrent-streams tune.h2.fe.max-frames-at-once tune.h2.fe.max-rst-at-once
syn keyword haproxyKeyword tune.h2.fe.max-total-streams tune.h2.fe.rxbuf tune.h2.header-table-size tune.h2.initial-window-size tune.h2.log-errors tune.h2.max-concurrent-streams tune.h2.max-frame-size tune.h2.zero-copy-fwd-send
syn keyword haproxyKeyword tune.http.cookielen tune.http.logurilen tune.http.maxhdr tune.idle-pool.shared tune.idletimer tune.listener.default-shards tune.listener.multi-queue tune.lua.bool-sample-conversion
syn keyword haproxyKeyword tune.lua.burst-timeout tune.lua.forced-yield tune.lua.log.loggers tune.lua.log.stderr tune.lua.maxmem tune.lua.openlibs tune.lua.service-timeout tune.lua.session-timeout
syn keyword haproxyKeyword tune.lua.shared-size tune.lua.task-timeout tune.max-checks-per-thread tune.max-rules-at-once tune.maxaccept tune.maxpollevents tune.maxrewrite tune.memory.hot-size
syn keyword haproxyKeyword tune.notsent-lowat.client tune.notsent-lowat.server tune.pattern.cache-size tune.peers.max-updates-at-once tune.pipesize tune.pool-high-fd-ratio tune.pool-low-fd-ratio tune.pt.zero-copy-forwarding
syn keyword haproxyKeyword tune.quic.be.cc.cubic-min-losses tune.quic.be.cc.hystart tune.quic.be.cc.max-frame-loss tune.quic.be.cc.max-win-size tune.quic.be.cc.reorder-ratio tune.quic.be.max-idle-timeout tune.quic.be.sec.glitches-threshold tune.quic.be.stream.data-ratio
syn keyword haproxyKeyword tune.quic.be.stream.max-concurrent tune.quic.be.stream.rxbuf tune.quic.be.tx.pacing tune.quic.be.tx.udp-gso tune.quic.cc-hystart tune.quic.cc.cubic.min-losses tune.quic.disable-tx-pacing tune.quic.disable-udp-gso
syn keyword haproxyKeyword tune.quic.fe.cc.cubic-min-losses tune.quic.fe.cc.hystart tune.quic.fe.cc.max-frame-loss tune.quic.fe.cc.max-win-size tune.quic.fe.cc.reorder-ratio tune.quic.fe.max-idle-timeout tune.quic.fe.sec.glitches-threshold tune.quic.fe.sec.retry-threshold
syn keyword haproxyKeyword tune.quic.fe.sock-per-conn tune.quic.fe.stream.data-ratio tune.quic.fe.stream.max-concurrent tune.quic.fe.stream.max-total tune.quic.fe.stream.rxbuf tune.quic.fe.tx.pacing tune.quic.fe.tx.udp-gso tune.quic.frontend.default-max-window-size
syn keyword haproxyKeyword tune.quic.frontend.glitches-threshold tune.quic.frontend.max-data-size tune.quic.frontend.max-idle-timeout tune.quic.frontend.max-streams-bidi tune.quic.frontend.max-tx-mem tune.quic.frontend.stream-data-ratio tune.quic.listen tune.quic.max-frame-loss
syn keyword haproxyKeyword tune.quic.mem.tx-max tune.quic.reorder-ratio tune.quic.retry-threshold tune.quic.socket-owner tune.quic.zero-copy-fwd-send tune.rcvbuf.backend tune.rcvbuf.client tune.rcvbuf.frontend
syn keyword haproxyKeyword tune.rcvbuf.server tune.recv_enough tune.renice.runtime tune.renice.startup tune.ring.queues tune.runqueue-depth tune.sched.low-latency tune.sndbuf.backend
syn keyword haproxyKeyword tune.sndbuf.client tune.sndbuf.frontend tune.sndbuf.server tune.ssl.cachesize tune.ssl.capture-buffer-size tune.ssl.capture-cipherlist-size tune.ssl.certificate-compression tune.ssl.default-dh-param
syn keyword haproxyKeyword tune.ssl.force-private-cache tune.ssl.hard-maxrecord tune.ssl.keylog tune.ssl.keyupdate-rate-limit tune.ssl.lifetime tune.ssl.maxrecord tune.ssl.ocsp-update.maxdelay tune.ssl.ocsp-update.mindelay
syn keyword haproxyKeyword tune.ssl.ssl-ctx-cache-size tune.stick-counters tune.streams-elasticity tune.takeover-other-tg-connections tune.vars.check-max-size tune.vars.global-max-size tune.vars.proc-max-size tune.vars.reqres-max-size
syn keyword haproxyKeyword tune.vars.sess-max-size tune.vars.txn-max-size tune.zlib.memlevel tune.zlib.windowsize tunnel type uid ulimit-n
syn keyword haproxyKeyword unique-id-format unique-id-header unix-bind unsampled unsetenv uri use-backend use-fcgi-app
syn keyword haproxyKeyword use-routes use-ruleset use-server use-small-buffers use-telemetry use_backend use_backends user
syn keyword haproxyKeyword usesrc v4v6 v6only var-prefix verify verifyhost warn-blocked-traffic-after weight
syn keyword haproxyKeyword ws zero-warning
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
