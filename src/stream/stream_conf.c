/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stream_conf.c - edge file: global words about streams, and the start-up of this folder */
#include <string.h>
#include "base/clock.h"
#include "base/module.h"
#include "conf/rows.h"
#include "front/listen.h"
#include "log/log.h"
#include "stream/error_capture.h"
#include "stream/inside.h"
#include "stream/persist.h"
#include "stream/rule_list.h"
#include "stream/split.h"
#include "stream/trail.h"
#include "account_priv.h"
#include "engine_priv.h"
#include "filter/filter_priv.h"
#include "http_proxy.h"
#include "preconnect_priv.h"
#include "server_conn.h"
#include "session_priv.h"
#include "start_priv.h"
#include "stream_conf_priv.h"
#include "trace_priv.h"

/* --- words of the section `global` ------------------------------------------------------------ */

static bool parse_idle_sharing(struct conf_line *l)
{
	const char *word = conf_next(l);

	if (strcmp(word, "full") == 0)
		conf_note(l, l->at - 1, "'%s full' is 'on' here: idle connections stay in "
			  "their group of threads.", l->words[0]);
	else if (strcmp(word, "on") != 0 && strcmp(word, "off") != 0)
		return conf_error(l, l->at - 1, NULL, "'%s' expects 'full', 'on' or 'off' but got "
				  "'%s'.", l->words[0], word);
	stream_tune_of(l->cfg)->idle_apart = strcmp(word, "off") == 0;
	return true;
}

#define AT(member) .slot = &stream_tune_slot, .offset = offsetof(struct stream_tune, member)

static const struct conf_keyword keywords[] = {
	SIZE("tune.maxrewrite", engine.maxrewrite, 0, 1 << 24,
	     "part of a buffer kept for rewriting"),
	NUMBER("tune.http.maxhdr", engine.fields_max, 1, 32767, "most fields of a message"),
	NUMBER("tune.http.cookielen", engine.cookie_max, 0, 65535, "bytes of a captured cookie"),
	SWITCH("h1-accept-payload-with-any-method", engine.any_payload,
	       "bodies of GET, HEAD and DELETE in HTTP/1.0"),
	SWITCH("h1-do-not-close-on-insecure-transfer-encoding", engine.lax_framing,
	       "keep connections whose message had two kinds of length"),
	SIZE("tune.http.logurilen", engine.log_uri_max, 1, 1 << 20, "bytes of a URI in logs"),
	SOCKET("tune.rcvbuf.server", engine.server.rcvbuf, "kernel's receive buffer of servers"),
	SOCKET("tune.sndbuf.server", engine.server.sndbuf, "kernel's send buffer of servers"),
	SOCKET("tune.notsent-lowat.server", engine.server.notsent_lowat,
	       "unsent bytes in the kernel"),
	{ GLOBAL("tune.idle-pool.shared"), .min_args = 1, .max_args = 1,
	  .parse = parse_idle_sharing, .syntax = "{ full | on | off }",
	  .help = "threads give each other idle server connections" },
	NUMBER("tune.pool-high-fd-ratio", idle_high_percent, 0, 100,
	       "part of the descriptors beyond which new connections push idle ones out"),
	NUMBER("tune.pool-low-fd-ratio", idle_low_percent, 0, 100,
	       "part of the descriptors beyond which no idle connection is kept"),
	{ 0 }
};

/* --- life ------------------------------------------------------------------------------------ */

static bool stream_module_init(void)
{
	server_conn_register();
	server_flush_init();
	stream_set_stages(stream_stages, filter_stages, filters_instead);
	listen_init();
	listen_set_accept(session_accept);
	listen_set_accept_quic(session_accept_quic);
	listen_set_judge_quic(session_judge_quic);
	listen_set_reverse(preconnect_start);
	event_log_init();
	server_shutdown_init();
	session_addr_init();
	return session_init() && server_conn_init() && backend_init();
}

static bool stream_thread_init(void)
{
	preconnect_thread_init();
	return session_thread_init() && server_conn_thread_init();
}

static void stream_thread_fini(void)
{
	preconnect_thread_fini();
	server_conn_thread_fini();
	stream_page_thread_fini();
}

static bool stream_start(struct config *cfg, struct diag_list *diags)
{
	stream_fill_settings(cfg);
	return stream_init() && inside_init();
}

/* Logs are no streams: what backends in `mode log` have for those is warned of. */
static void check_log_backend(const struct proxy *px, struct diag_list *diags)
{
	static const struct diag_place nowhere = { .form = DIAG_BARE };
	const struct rule_proxy *rp = rule_proxy_of(px);
	const struct {
		bool is_there;
		const char *what;
	} vain[] = {
		{ !list_is_empty(&rp->rules[RULES_TCP_CONTENT]), "use tcp-request rules" },
		{ !list_is_empty(&rp->rules[RULES_TCP_RESPONSE]), "use tcp-response rules" },
		{ !list_is_empty(&rp->servers), "use \"use-server\" rules" },
		{ persist_of_proxy(px)->key, "set \"dynamic-cookie-key\"" },
		{ http_proxy_of(px)->name_header.len, "set \"http-send-name-header\"" },
	};

	for (unsigned i = 0; i < ARRAY_LEN(vain); i++)
		if (vain[i].is_there)
			diag_add(diags, DIAG_WARNING, &nowhere, NULL, "Cannot %s with 'mode log' "
				 "in backend '%s'. It has no effect.", vain[i].what, px->name);
}

static void stream_check(struct config *cfg, struct diag_list *diags)
{
	for (const struct proxy *px = proxies_first(cfg); px; px = proxy_next(px))
		if (px->mode == PROXY_MODE_LOG && px->caps & PROXY_BE)
			check_log_backend(px, diags);
}

static void stream_check_added(struct proxy *be, struct diag_list *diags)
{
	stream_fill_proxy(be);
}

static void stream_adopt(struct config *next, struct config *prev)
{
	for (struct proxy *px = proxies_first(prev); px; px = proxy_next(px)) {
		error_capture_pass_on(next, px);
		failures_pass_on(next, px);
		split_adopt(next, px);
	}
	stream_settings_count(next);
}

static struct slot *const stream_slots_list[] = {
	&stream_tune_slot, &stream_proxy_slot, &error_capture_slot, NULL
};

static struct trace_source *const stream_traces[] = { &trace_stream, &trace_session,
						       &trace_applet, NULL };

const struct module mod_stream = {
	.name = "stream", .keywords = keywords, .slots = stream_slots_list,
	.init = stream_module_init, .check = stream_check, .check_backend = stream_check_added,
	.start = stream_start, .adopt = stream_adopt, .traces = stream_traces,
	.thread_init = stream_thread_init, .thread_fini = stream_thread_fini,
};
