/* SPDX-License-Identifier: GPL-2.0-or-later */
/* settings.c - the stream engine's slot in proxies, what the muxes are told of a proxy, and the
 * stages in which a proxy has nothing to do
 */
#include "base/bug.h"
#include "mux/h1_case.h"
#include "mux/mux.h"
#include "stream/persist.h"
#include "stream/process.h"
#include "stream/rule.h"
#include "stream/rule_list.h"
#include "stream/service.h"
#include "stream/stream.h"
#include "table/table.h"
#include "capture_priv.h"
#include "http_proxy.h"
#include "stream_conf_priv.h"

#define DEFAULT_TUNES \
	{ .fields_max = 101, .maxrewrite = 1024, .log_uri_max = 1024, .cookie_max = 63 }

static struct stream_tunes tunes = DEFAULT_TUNES; /* in force */

static bool stream_tune_init(void *data)
{
	*(struct stream_tune *)data = (struct stream_tune){
		.engine = DEFAULT_TUNES, .idle_low_percent = 20, .idle_high_percent = 25,
	};
	return true;
}

struct slot stream_tune_slot = {
	.of = SLOT_CONFIG, .size = sizeof(struct stream_tune), .init = stream_tune_init,
};

struct stream_tune *stream_tune_of(const struct config *cfg)
{
	return slot_of(&stream_tune_slot, config_slots(cfg));
}

void stream_apply_tunes(const struct config *cfg)
{
	tunes = stream_tune_of(cfg)->engine;
}

const struct stream_tunes *stream_tunes(void)
{
	return &tunes;
}

static bool stream_proxy_inherit(void *data, const void *from)
{
	struct stream_proxy *to = data;
	const struct stream_proxy *src = from;

	*to = *src;
	return true;
}

struct slot stream_proxy_slot = {
	.of = SLOT_PROXY, .size = sizeof(struct stream_proxy), .inherit = stream_proxy_inherit,
};

unsigned stream_fields_max(void)
{
	return tunes.fields_max;
}

/* What an option of a proxy is for the mux of one of its sides. */
static const struct {
	uint64_t option;
	bool back;
	unsigned bit;
} mux_options[] = {
	{ PROXY_OPT_UNSAFE_REQUEST, false, MUX_OPT_UNSAFE },
	{ PROXY_OPT_UNSAFE_RESPONSE, true, MUX_OPT_UNSAFE },
	{ PROXY_OPT_HTTP_IGNORE_PROBES, false, MUX_OPT_IGNORE_PROBES },
	{ PROXY_OPT_DROP_RESPONSE_TRAILERS, false, MUX_OPT_DROP_TRAILERS },
	{ PROXY_OPT_DROP_REQUEST_TRAILERS, true, MUX_OPT_DROP_TRAILERS },
	{ PROXY_OPT_PRETEND_KEEPALIVE, true, MUX_OPT_PRETEND_KEEP_ALIVE },
	{ PROXY_OPT_USE_PROXY_HEADER, false, MUX_OPT_PROXY_HEADER },
	{ PROXY_OPT_IDLE_CLOSE, false, MUX_OPT_IDLE_CLOSE },
};

static unsigned h1_options(uint64_t options, bool back)
{
	unsigned bits = 0;

	for (size_t i = 0; i < ARRAY_LEN(mux_options); i++)
		if (mux_options[i].back == back && options & mux_options[i].option)
			bits |= mux_options[i].bit;
	if (tunes.any_payload && !back)
		bits |= MUX_OPT_ANY_PAYLOAD;
	return bits | (tunes.lax_framing ? MUX_OPT_LAX_FRAMING : 0);
}

/* At least half of a block is for the head. */
static size_t maxrewrite(void)
{
	size_t half = block_size() / 2;

	return tunes.maxrewrite < half ? tunes.maxrewrite : half;
}

static void fill_settings(struct config *cfg, const struct proxy *px, struct mux_settings *set,
			  bool back)
{
	uint64_t adjust = back ? PROXY_OPT_H1_ADJUST_SERVER : PROXY_OPT_H1_ADJUST_CLIENT;
	const struct proxy_timeouts *t = &px->timeout;

	mux_settings_init(set, cfg);
	set->fields_max = tunes.fields_max;
	set->head_max = block_size() - maxrewrite();
	set->options = h1_options(px->options, back);
	set->request_ms = t->http_request;
	set->keep_alive_ms = t->http_keep_alive ? t->http_keep_alive : t->http_request;
	set->client_ms = t->client;
	set->fcgi = back ? px->http.fcgi : NULL;
	set->adjust = px->options & adjust ? h1_case_of(cfg) : NULL;
}

/* --- idle stages -----------------------------------------------------------------------------
 * The driver passes over a stage when the one before it is done and its step would do nothing but
 * say so, for any stream of this frontend and backend. A stage that is the business of one of them
 * is idle for the other.
 */

/* Are there neither http-request rules nor any other line that stage_http_request_*() looks at? */
static bool leaves_requests_alone(const struct proxy *px)
{
	return !rules_any(px, RULES_HTTP_REQUEST) && px->http.restrict_names != RESTRICT_DELETE &&
	       px->http.restrict_names != RESTRICT_REJECT && !service_may_be_chosen(px) &&
	       list_is_empty(&rule_proxy_of(px)->redirects);
}

/* Does stage_prepare() add nothing for it, and look for nothing? */
static bool prepares_nothing(const struct proxy *px, bool back)
{
	const struct proxy_http *h = &px->http;

	/* (the last by bodies of POST) */
	if (h->forward_for.enabled || h->original_to.enabled || px->balancing.hash.body_key)
		return false;
	if (back)
		return !h->forwarded && !persist_may_act(px) && !tables_are_used() &&
		       list_is_empty(&rule_proxy_of(px)->servers);
	return !stream_proxy(px)->unique_header && !capture_wants_cookie(px);
}

/* Does stage_response_rules_fe(), or that of the backend, find nothing to do? */
static bool leaves_responses_alone(const struct proxy *px, bool back)
{
	if (rules_any(px, RULES_HTTP_AFTER))
		return false;
	if (back)
		return !persist_may_act(px) && !tables_are_used() &&
		       !(px->options & PROXY_OPT_CHECKCACHE);
	return !rules_any(px, RULES_HTTP_RESPONSE) && !capture_wants_cookie(px);
}

static uint32_t find_idle_stages(const struct proxy *px, bool back)
{
	bool content = rules_any(px, RULES_TCP_CONTENT);
	bool buffers = px->options & PROXY_OPT_HTTP_BUFFER_REQUEST;
	bool quiet = leaves_requests_alone(px);
	const struct {
		uint32_t stages;
		bool front_idle, back_idle;
	} found[] = {
		/* it counts requests in tables too */
		{ 1u << STAGE_TCP_CONTENT_FE, !content && !tables_are_used(), true },
		{ 1u << STAGE_MONITOR, !http_proxy_of(px)->monitor_uri.len, true },
		{ 1u << STAGE_BODY_FE, !buffers, true },
		{ 1u << STAGE_HTTP_REQUEST_FE, quiet, true },
		{ 1u << STAGE_TCP_CONTENT_BE, true, !content },
		{ 1u << STAGE_BODY_BE, true, !buffers },
		/* those behind some are for streams that go there, or have filters */
		{ 1u << STAGE_HTTP_REQUEST_BE | 1u << STAGE_TARPIT | 1u << STAGE_UPGRADE, true,
		  quiet },
		{ 1u << STAGE_PREPARE | 1u << STAGE_FILTER_REQUEST, prepares_nothing(px, false),
		  prepares_nothing(px, true) },
		{ 1u << STAGE_TCP_RESPONSE, true, !rules_any(px, RULES_TCP_RESPONSE) },
		{ 1u << STAGE_RESPONSE_RULES_BE, true, !rules_any(px, RULES_HTTP_RESPONSE) },
		{ 1u << STAGE_RESPONSE_RULES_FE | 1u << STAGE_FILTER_RESPONSE,
		  leaves_responses_alone(px, false), leaves_responses_alone(px, true) },
	};
	uint32_t idle = 0;

	for (size_t i = 0; i < ARRAY_LEN(found); i++)
		if (back ? found[i].back_idle : found[i].front_idle)
			idle |= found[i].stages;
	return idle;
}

/* --- at the start of a generation ------------------------------------------------------------- */

static void count_settings(struct proxy *px)
{
	struct mux_settings *front = &stream_proxy(px)->front;
	struct mux_settings *back = &stream_proxy(px)->back;

	front->counters = &px->state->fe;
	front->h1_counts = CNT_H1_CONNS;
	front->h2_counts = CNT_H2_HEADERS;
	front->quic_counts = CNT_H3_DATA;
	back->counters = &px->state->be;
	back->h1_counts = CNT_BACK_H1_CONNS;
	back->h2_counts = CNT_BACK_H2_HEADERS;
	back->quic_counts = CNT_BACK_H3_DATA;
}

void stream_settings_count(struct config *cfg)
{
	for (struct proxy *px = proxies_first(cfg); px; px = proxy_next(px))
		count_settings(px);
}

void stream_fill_proxy(struct proxy *px)
{
	fill_settings(px->config, px, &stream_proxy(px)->front, false);
	fill_settings(px->config, px, &stream_proxy(px)->back, true);
	/* a request that is answered without a stream is not traced */
	if (stream_proxy(px)->direct && !stream_proxy(px)->traced)
		stream_proxy(px)->front.options |= MUX_OPT_ANSWERS;
	stream_proxy(px)->begins_more = stream_proxy(px)->traced || stream_proxy(px)->filters;
	stream_proxy(px)->idle_front = find_idle_stages(px, false);
	stream_proxy(px)->idle_back = find_idle_stages(px, true);
	count_settings(px);
}

void stream_fill_settings(struct config *cfg)
{
	for (struct proxy *px = proxies_first(cfg); px; px = proxy_next(px))
		stream_fill_proxy(px);
}
