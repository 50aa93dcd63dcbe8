/* SPDX-License-Identifier: GPL-2.0-or-later */
/* settings.c - the stream engine's slot in proxies, and what the muxes are told of a proxy */
#include "stream/listen.h"
#include "stream_priv.h"

static struct stream_tunes tunes = {
	.fields_max = 101, .maxrewrite = 1024, .log_uri_max = 1024,
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

static unsigned h1_options(uint64_t options, bool back)
{
	unsigned bits = 0;

	if (options & (back ? PROXY_OPT_UNSAFE_RESPONSE : PROXY_OPT_UNSAFE_REQUEST))
		bits |= H1_CONN_UNSAFE;
	if (options & (back ? PROXY_OPT_H1_ADJUST_SERVER : PROXY_OPT_H1_ADJUST_CLIENT))
		bits |= H1_CONN_ADJUST_CASE;
	if (!back && options & PROXY_OPT_HTTP_IGNORE_PROBES)
		bits |= H1_CONN_IGNORE_PROBES;
	return bits;
}

static void fill_settings(const struct proxy *px, struct h1_settings *set, bool back)
{
	const struct proxy_timeouts *t = &px->timeout;

	set->fields_max = tunes.fields_max;
	set->head_max = block_size() - tunes.maxrewrite;
	set->options = h1_options(px->options, back);
	set->request_ms = t->http_request ? t->http_request : t->client;
	set->keep_alive_ms = t->http_keep_alive ? t->http_keep_alive
			     : t->http_request ? t->http_request : t->client;
	set->client_ms = t->client;
}

void stream_fill_settings(struct config *cfg)
{
	for (struct proxy *px = proxies_first(cfg); px; px = proxy_next(px)) {
		fill_settings(px, &stream_proxy(px)->front, false);
		fill_settings(px, &stream_proxy(px)->back, true);
	}
}
