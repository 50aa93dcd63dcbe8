/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stream_conf.c - start-up of net, mux and stream; what they compute of a configuration */
#include "base/clock.h"
#include "base/module.h"
#include "conf/conf.h"
#include "log/log.h"
#include "mux/mux_init.h"
#include "net/net_init.h"
#include "listen_priv.h"
#include "server_conn.h"
#include "stream_priv.h"

static struct {
	unsigned fields_max, maxrewrite;
} tunes = { .fields_max = 101, .maxrewrite = 1024 };

void stream_set_tunes(unsigned fields_max, unsigned maxrewrite)
{
	tunes.fields_max = fields_max;
	tunes.maxrewrite = maxrewrite;
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

static bool net_init(void)
{
	return conn_init() && listener_init();
}

static bool mux_init(void)
{
	return pass_init();
}

static bool mux_start(struct config *cfg, struct diag_list *diags)
{
	return h1_init(tunes.fields_max - 1);
}

static bool mux_thread_init(void)
{
	return pass_thread_init() && h1_thread_init();
}

static bool stream_module_init(void)
{
	server_conn_register();
	return session_init() && server_conn_init();
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

static bool stream_start(struct config *cfg, struct diag_list *diags)
{
	for (struct proxy *px = proxies_first(cfg); px; px = proxy_next(px)) {
		fill_settings(px, &stream_proxy(px)->front, false);
		fill_settings(px, &stream_proxy(px)->back, true);
	}
	return stream_init();
}

static struct slot *const stream_slots_list[] = { &stream_proxy_slot, NULL };

const struct module mod_net = { .name = "net", .init = net_init };
const struct module mod_mux = {
	.name = "mux", .init = mux_init, .start = mux_start,
	.thread_init = mux_thread_init, .thread_fini = h1_thread_fini,
};
const struct module mod_stream = {
	.name = "stream", .slots = stream_slots_list, .init = stream_module_init,
	.start = stream_start, .thread_init = session_thread_init,
};
