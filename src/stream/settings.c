/* SPDX-License-Identifier: GPL-2.0-or-later */
/* settings.c - the stream engine's slot in proxies, and what the muxes are told of a proxy */
#include "base/bug.h"
#include "mux/h1_case.h"
#include "mux/mux.h"
#include "stream/process.h"
#include "stream_conf_priv.h"

static struct stream_tunes tunes = {
	.fields_max = 101, .maxrewrite = 1024, .log_uri_max = 1024, .cookie_max = 63,
};

void stream_set_tunes(const struct stream_tunes *t)
{
	tunes = *t;
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

static void fill_settings(struct config *cfg, const struct proxy *px, struct mux_settings *set,
			  bool back)
{
	uint64_t adjust = back ? PROXY_OPT_H1_ADJUST_SERVER : PROXY_OPT_H1_ADJUST_CLIENT;
	const struct proxy_timeouts *t = &px->timeout;

	mux_settings_init(set, cfg);
	set->fields_max = tunes.fields_max;
	set->head_max = block_size() - tunes.maxrewrite;
	set->options = h1_options(px->options, back);
	set->request_ms = t->http_request;
	set->keep_alive_ms = t->http_keep_alive ? t->http_keep_alive : t->http_request;
	set->client_ms = t->client;
	set->fcgi = back ? px->http.fcgi : NULL;
	set->adjust = px->options & adjust ? h1_case_of(cfg) : NULL;
}

static void count_settings(struct proxy *px)
{
	struct mux_settings *front = &stream_proxy(px)->front;
	struct mux_settings *back = &stream_proxy(px)->back;

	front->counters = &px->state->fe;
	front->h1_counts = CNT_H1_CONNS;
	front->h2_counts = CNT_H2_HEADERS;
	back->counters = &px->state->be;
	back->h1_counts = CNT_BACK_H1_CONNS;
	back->h2_counts = CNT_BACK_H2_HEADERS;
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
	if (stream_proxy(px)->direct)
		stream_proxy(px)->front.options |= MUX_OPT_ANSWERS;
	count_settings(px);
}

void stream_fill_settings(struct config *cfg)
{
	for (struct proxy *px = proxies_first(cfg); px; px = proxy_next(px))
		stream_fill_proxy(px);
}
