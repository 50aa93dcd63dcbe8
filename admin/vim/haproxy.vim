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
syn keyword haproxySection ring ruleset spoe-agent spoe-group spoe-message traces userlist
syn keyword haproxyKeyword abortonclose accept-netscaler-cip accept-proxy accept-unsafe-violations-in-http-request accept-unsafe-violations-in-http-response accepted_payload_size account-key acl
syn keyword haproxyKeyword acme-vars acme.scheduler addr admin agent-addr agent-check agent-inter agent-port
syn keyword haproxyKeyword agent-send allbackups allow-0rtt alpn anonkey args assume-rfc6587-ntf async
syn keyword haproxyKeyword auth backing-file backlog backup balance be-unpublished bind bits
syn keyword haproxyKeyword busy-polling ca-base ca-file ca-ignore-err ca-sign-file ca-sign-pass ca-verify-file capture
syn keyword haproxyKeyword cc challenge challenge-ready check check-alpn check-pool-conn-name check-proto check-reuse-pool
syn keyword haproxyKeyword check-send-proxy check-sni check-sni-auto check-ssl check-via-socks4 checkcache chroot ciphers
syn keyword haproxyKeyword ciphersuites client client-fin client-hs client-sigalgs clitcpka clitcpka-cnt clitcpka-idle
syn keyword haproxyKeyword clitcpka-intvl clitimeout close-spread-time cluster-secret collapse-requests compression connect connection
syn keyword haproxyKeyword contact content contimeout continue-on-error contstats cookie cpu-affinity cpu-map
syn keyword haproxyKeyword cpu-policy cpu-set crl-file crt crt-base crt-ignore-err crt-list crt-watch
syn keyword haproxyKeyword curves daemon debug.counters declare default-bind default-crt default-path default-server
syn keyword haproxyKeyword default_backend defer-accept description dgram-bind directory disable-h2-upgrade disabled dispatch
syn keyword haproxyKeyword dns-accept-family dns-delay dns-timeout docroot dont-parse-log dontlog-normal dontlognull downinter
syn keyword haproxyKeyword dynamic-cookie-key eab-key-id eab-mac-alg eab-mac-key ecdhe email-alert enable enabled
syn keyword haproxyKeyword error-limit error-log-format errorfile errorfiles errorloc errorloc302 errorloc303 event
syn keyword haproxyKeyword expose-deprecated-directives expose-experimental-directives expose-fd external-check fail fall fastinter fd-hard-limit
syn keyword haproxyKeyword filter force-be-switch force-cfg-parser-pause force-persist force-set-var force-sslv3 force-tlsv10 force-tlsv11
syn keyword haproxyKeyword force-tlsv12 force-tlsv13 format forwarded forwardfor fullconn generate-certificates get-values
syn keyword haproxyKeyword gid grace group groups grpc-check guid guid-prefix h1-accept-payload-with-any-method
syn keyword haproxyKeyword h1-case-adjust h1-case-adjust-bogus-client h1-case-adjust-bogus-server h1-case-adjust-file h1-do-not-close-on-insecure-transfer-encoding h2-workaround-bogus-websocket-clients hard-stop-after harden.reject-privileged-ports.quic
syn keyword haproxyKeyword harden.reject-privileged-ports.tcp hash-balance-factor hash-key hash-preserve-affinity hash-type header hello hide-version
syn keyword haproxyKeyword hold host http-after-response http-buffer-request http-check http-drop-request-trailers http-drop-response-trailers http-err-codes
syn keyword haproxyKeyword http-error http-fail-codes http-ignore-probes http-keep-alive http-no-delay http-pretend-keepalive http-request http-response
syn keyword haproxyKeyword http-restrict-req-hdr-names http-reuse http-send-name-header http-server-close http-use-proxy-header httpchk httpclient.resolvers.disabled httpclient.resolvers.id
syn keyword haproxyKeyword httpclient.resolvers.prefer httpclient.retries httpclient.ssl.ca-file httpclient.ssl.verify httpclient.timeout.connect httpclose httplog httpslog
syn keyword haproxyKeyword id idle idle-close-on-response idle-ping ignore-persist independent-streams index init-addr
syn keyword haproxyKeyword init-state insecure-fork-wanted insecure-setuid-wanted inspect-delay inter interface issuers-chain-path jwt.allow_none_alg
syn keyword haproxyKeyword jwt.decrypt_alg_list jwt.decrypt_enc_list keep-conn key-base keytype ktls label ldap-check
syn keyword haproxyKeyword level limited-quic load load-server-state-from-file localpeer log log-bufsize log-format
syn keyword haproxyKeyword log-format-sd log-health-checks log-proto log-send-hostname log-separate-errors log-slow log-stderr log-steps
syn keyword haproxyKeyword log-tag logasap lua-load lua-load-per-thread lua-prepend-path mail mailer map
syn keyword haproxyKeyword master-worker match max-age max-frame-size max-keep-alive-queue max-object-size max-reqs max-reuse
syn keyword haproxyKeyword max-secondary-entries max-session-srv-conns max-spread-checks max-threads-per-group max-waiting-frames maxcompcpuusage maxcomprate maxconn
syn keyword haproxyKeyword maxconnrate maxerrrate maxlen maxpipes maxqueue maxsessrate maxsslconn maxsslrate
syn keyword haproxyKeyword maxzlibmem messages minconn mode monitor monitor-uri mpxs-conns mss
syn keyword haproxyKeyword mworker-max-reloads mysql-check name nameserver namespace nbconn nbproc nbthread
syn keyword haproxyKeyword nice no-agent-check no-alpn no-backup no-ca-names no-check no-check-reuse-pool no-check-send-proxy
syn keyword haproxyKeyword no-check-sni-auto no-check-ssl no-memory-trimming no-renegotiate no-send-proxy no-send-proxy-v2 no-send-proxy-v2-ssl no-send-proxy-v2-ssl-cn
syn keyword haproxyKeyword no-sni-auto no-ssl no-ssl-reuse no-sslv3 no-strict-sni no-tfo no-tls-tickets no-tlsv10
syn keyword haproxyKeyword no-tlsv11 no-tlsv12 no-tlsv13 no-verifyhost node noepoll noevports nogetaddrinfo
syn keyword haproxyKeyword nokqueue noktls nolinger non-stick nopoll noreuseport nosplice npn
syn keyword haproxyKeyword numa-cpu-mapping observe ocsp-update.disable ocsp-update.httpproxy ocsp-update.maxdelay ocsp-update.mindelay ocsp-update.mode on
syn keyword haproxyKeyword on-error on-marked-down on-marked-up on-state-change option originalto outlier-ejection parse-resolv-conf
syn keyword haproxyKeyword pass-header path-info peer peer-template persist pgsql-check pidfile pipelining
syn keyword haproxyKeyword pool-conn-name pool-low-conn pool-max-conn pool-purge-delay port pp2-never-send-local prealloc-fd prefer-client-ciphers
syn keyword haproxyKeyword prefer-last-server presetenv process-vary processing profile profiling.memory profiling.tasks proto
syn keyword haproxyKeyword provider-name proxy-v2-options queue quic-cc-algo quic-force-retry quic-initial quic-socket quiet
syn keyword haproxyKeyword rate-limit realm redir redirect redis-check redispatch refresh register-var-names
syn keyword haproxyKeyword reload-mode renegotiate request resetenv resolve-net resolve-opts resolve-prefer resolve_retries
syn keyword haproxyKeyword response retries retry-budget retry-delay retry-on reuse-key revalidate rfc9111
syn keyword haproxyKeyword rise route sandbox scope send-frag-payload send-proxy send-proxy-v2 send-proxy-v2-ssl
syn keyword haproxyKeyword send-proxy-v2-ssl-cn serve-ranges server server-fin server-state-base server-state-file server-state-file-name server-template
syn keyword haproxyKeyword session sessions set-dumpable set-on-error set-param set-process-time set-proxy-v2-tlv-fmt set-total-time
syn keyword haproxyKeyword set-var set-var-fmt setcap setenv severity-output shard shards shm-stats-file
syn keyword haproxyKeyword shm-stats-file-max-objects show-desc show-legends show-modules show-node show-version sigalgs size
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
syn keyword haproxyKeyword unique-id-header unix-bind unsetenv uri use-backend use-fcgi-app use-routes use-ruleset
syn keyword haproxyKeyword use-server use-small-buffers use_backend use_backends user usesrc v4v6 v6only
syn keyword haproxyKeyword var-prefix verify verifyhost warn-blocked-traffic-after weight ws zero-warning
syn keyword haproxyAction accept add-acl add-header add-headers-bin allow attach-srv cache-purge cache-store
syn keyword haproxyAction cache-use call close del-acl del-header del-headers-bin del-map deny
syn keyword haproxyAction dgram-drop disable-l7-retry do-log do-resolve early-hint expect-netscaler-cip expect-proxy forward-auth
syn keyword haproxyAction mirror normalize-uri ot-group pause reject replace-header replace-path replace-pathq
syn keyword haproxyAction replace-uri replace-value return sc-add-gpc sc-inc-gpc sc-inc-gpc0 sc-inc-gpc1 sc-set-gpt
syn keyword haproxyAction sc-set-gpt0 send-retry send-spoe-group set-bandwidth-limit set-bc-mark set-bc-tos set-dst set-dst-port
syn keyword haproxyAction set-fc-mark set-fc-tos set-header set-headers-bin set-log-level set-map set-mark set-method
syn keyword haproxyAction set-nice set-path set-pathq set-priority-class set-priority-offset set-query set-retries set-src
syn keyword haproxyAction set-src-port set-status set-timeout set-tos set-uri silent-drop strict-mode switch-mode
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
