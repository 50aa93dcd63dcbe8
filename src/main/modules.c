/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modules.c - the one list of modules, floors bottom-up: the start-up order
 *
 * A new module is one line here. Its descriptor is the only symbol that its edge file exports.
 */
#include "expr/modules.h"
#include "options_priv.h"

#define MODULES(X) \
	/* 1 conf, ctl */ \
	X(conf) X(conf_legacy) X(ctl) X(ctl_anon) \
	/* 2 core */ \
	X(core) X(core_ctl) X(place_ctl) X(debug_ctl) X(fd_ctl) X(sink) X(trace) \
	/* main's own settings are applied before anything is made of them */ \
	X(settings) X(moot) X(sandbox) \
	/* 3 expr */ \
	EXPR_MODULES(X) \
	/* 4 net, http */ \
	X(net) X(netns) X(http_error_page) X(userlist) \
	/* 5 mux, tls, log */ \
	X(table) X(table_ctl) \
	X(mux) X(h2) X(quic) X(h3) X(tls) X(tls_bind) X(tls_server) X(tls_smp) X(tls_hello_smp) \
	X(tls_cert_smp) X(tls_store) X(tls_keylog) X(tls_cert_ctl) X(tls_jwt) X(tls_ca_ctl) \
	X(tls_list_ctl) X(tls_ocsp_ctl) X(tls_ocsp_conf) X(resolvers) X(log) \
	X(log_profile) X(tls_use_conf) \
	/* 6 proxy, 7 check, 8 manage */ \
	X(http_client_conf) X(telemetry_early) X(lua_sockets) \
	X(balance) X(direct) X(proxy) X(proxy_options) X(forwarded) X(bind) X(unix_bind) X(server) \
	X(check) X(outlier) \
	X(mail) X(state_file) X(stats_file) X(stats_shared) X(stats_history) X(resolve) \
	X(ring) X(log_backend) \
	X(proxy_ctl) X(server_ctl) X(server_dynamic_ctl) X(backend_dynamic_ctl) \
	X(stats_ctl) X(latency_ctl) \
	/* 9 front */ \
	X(listen) \
	/* 10 stream, 11 traffic: in the order in which -dK lists their words */ \
	X(track) \
	X(rule) X(route) X(ruleset) X(tcp_act) X(preamble_act) X(http_act) X(headers_bin_act) \
	X(reply_act) X(service_act) X(var_act) X(capture) X(addr_act) X(resolve_act) \
	X(stream_act) X(uri_act) X(hint_act) X(early_act) X(reverse_act) X(opentracing_act) \
	X(auth_act) X(track_act) X(rate_limit_act) X(table_smp) \
	X(http_conf) X(map_act) X(sniff) X(upgrade) X(conn_smp) X(conn_error_smp) X(http_smp) \
	X(field_smp) X(proxy_smp) X(auth_smp) X(acl_smp) X(body_smp) X(stream_smp) \
	X(req_ssl_smp) X(proxy_tlv_smp) \
	X(transport_smp) X(process_smp) X(persist) X(stick) X(stream_alias) X(stream_log) \
	X(stream_unique_id) X(filter) X(stream) X(sess_ctl) X(failures) X(errors_ctl) \
	X(rules_ctl) X(split_ctl) X(why_ctl) X(mux_smp) \
	X(inside_ctl) X(persist_ctl) \
	/* 12 ext */ \
	X(prometheus) X(stats_page) X(haterm) X(load) X(log_forward) X(runtime_api) \
	X(filter_trace) X(filter_bwlim) X(compression) X(decompression) X(spoe) \
	X(peers) X(peers_ctl) \
	X(forward_auth) X(cache) X(cache_beyond) X(cache_compressed) X(cache_ctl) X(fcgi) X(lua) \
	X(acme) X(mirror) X(call) X(telemetry) X(http_client_ctl) X(http_client_fetch) \
	/* 13 main */ \
	X(stats_socket) X(info) X(process_ctl) X(reload) X(reload_ctl) X(config_ctl) \
	X(trim) X(handoff_ctl) X(master_ctl) X(start) X(old_process) X(worker)

#define X(name) extern const struct module mod_##name;
MODULES(X)
#undef X

#define X(name) &mod_##name,
const struct module *const main_modules[] = { MODULES(X) NULL };
#undef X
