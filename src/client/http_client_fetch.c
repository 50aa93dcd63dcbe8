/* SPDX-License-Identifier: GPL-2.0-or-later */
/* http_client_fetch.c - edge file: one small document, for what TLS needs (OCSP answers) */
#include <string.h>
#include "base/addr.h"
#include "base/block.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "core/timer.h"
#include "proxy/proxy.h"
#include "tls/tls.h"
#include "http_client_priv.h"

/* How long all of it may take, ms. */
#define FETCH_MS 10000

static struct {
	struct http_call *call;      /* NULL: none is under way */
	tls_fetched_fn *done;
	const char *accept;          /* borrowed */
	bool is_wanted;              /* the answer is of that type */
	uint16_t status;
	struct strbuf body;
	bool is_large;
	struct timer timer;
} me;

/* Is the answer of that type, whatever its parameters? */
static bool is_of_type(const struct http_msg *m, const char *type)
{
	const struct h1_field *f = http_field_find(&m->fields, FIELD_CONTENT_TYPE,
						   SLICE("content-type"));
	struct slice value = f ? f->value : slice_none();
	const char *end = value.len ? memchr(value.ptr, ';', value.len) : NULL;

	if (end)
		value.len = (size_t)(end - value.ptr);
	return slice_eq_nocase(slice_trim(value), slice_of(type));
}

static void fetch_head(struct http_call *c, const struct http_msg *m)
{
	if (m->flags & HTTP_MSG_INTERIM)
		return;
	me.status = m->status;
	me.is_wanted = is_of_type(m, me.accept);
}

static void fetch_data(struct http_call *c, struct block_queue *from)
{
	for (const struct piece *p = from->first; p && !me.is_large; p = p->next)
		me.is_large = me.body.len + p->len > TLS_FETCH_MAX ||
			      !strbuf_add(&me.body, slice_make(p->ptr, p->len));
	block_queue_clear(from);
}

static void finish(unsigned status)
{
	struct strbuf body = me.body; /* done() may begin another one */

	timer_cancel(&me.timer);
	me.call = NULL;
	strbuf_init(&me.body);
	me.done(status, me.is_wanted, strbuf_slice(&body));
	strbuf_fini(&body);
}

static void fetch_end(struct http_call *c, bool whole, enum stream_end why)
{
	finish(whole && !me.is_large ? me.status : 0);
}

static void timed_out(struct timer *t)
{
	http_call_cancel(me.call);
	finish(0);
}

static const struct http_call_kind fetch_kind = {
	.name = "FETCH", .head = fetch_head, .data = fetch_data, .end = fetch_end,
};

static bool fetch_is_busy(void)
{
	return me.call != NULL;
}

static bool fetch_start(const char *url, const char *accept, const struct addr *via,
			tls_fetched_fn *done)
{
	const char *why;

	me.call = http_call_new(proxies_current(), &fetch_kind, NULL, SLICE("GET"), slice_of(url),
				&why);
	if (!me.call)
		return false;
	me.done = done;
	me.accept = accept;
	me.is_wanted = false;
	me.status = 0;
	me.is_large = false;
	strbuf_init(&me.body);
	http_call_be_silent(me.call);
	if ((!addr_is_inet(via) || http_call_via(me.call, via)) &&
	    http_msg_add_field(me.call->request, SLICE("accept"), slice_of(accept))) {
		timer_init(&me.timer, timed_out);
		timer_set(&me.timer, clock_now_ms() + FETCH_MS);
		http_call_start(me.call);
		return true;
	}
	http_call_cancel(me.call);
	me.call = NULL;
	return false;
}

static void fetch_stop(void)
{
	if (!me.call)
		return;
	timer_cancel(&me.timer);
	http_call_cancel(me.call);
	me.call = NULL;
	strbuf_fini(&me.body);
}

static const struct tls_fetcher fetcher = {
	.start = fetch_start, .is_busy = fetch_is_busy, .stop = fetch_stop,
};

static bool fetch_init(void)
{
	tls_set_fetcher(&fetcher);
	return true;
}

const struct module mod_http_client_fetch = { .name = "http-client-fetch", .init = fetch_init };
