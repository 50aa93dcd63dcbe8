/* SPDX-License-Identifier: GPL-2.0-or-later */
/* http_proxy.c - monitor requests, and the header that names the server */
#include "http_proxy.h"

#include "engine_priv.h"

static bool http_proxy_init(void *data)
{
	struct http_proxy *hp = data;

	hp->fails_tail = &hp->fails;
	return true;
}

static bool http_proxy_inherit(void *data, const void *from)
{
	const struct http_proxy *parent = from;
	struct http_proxy *hp = data;

	hp->monitor_uri = parent->monitor_uri;
	hp->name_header = parent->name_header;
	hp->pages = parent->pages;
	return true;
}

struct slot http_proxy_slot = {
	.of = SLOT_PROXY, .size = sizeof(struct http_proxy), .init = http_proxy_init,
	.inherit = http_proxy_inherit,
};

const struct reply *http_proxy_reply(const struct proxy *px, unsigned status)
{
	return reply_of_pages(http_proxy_of(px)->pages, proxy_slots(px), status);
}

void http_proxy_name_server(struct stream *s)
{
	const struct http_proxy *hp = http_proxy_of(s->be);

	if (hp->name_header.ptr && s->flags & STRM_HTTP && stream_server(s))
		http_msg_set_field(&s->req, hp->name_header, slice_of(s->server->name));
}

/* --- monitor requests --------------------------------------------------------------------- */

/* What begins with a slash is compared with path and query, else with the whole target. */
static bool is_monitor_request(const struct stream *s, const struct http_proxy *hp)
{
	struct slice uri = hp->monitor_uri;

	if (!uri.len || !(s->flags & STRM_HTTP))
		return false;
	return slice_eq(uri, uri.ptr[0] == '/' ? http_msg_pathq(&s->req) : s->req.uri);
}

static bool monitor_fails(const struct http_proxy *hp, struct stream *s)
{
	struct expr_ctx *ctx = stream_expr(s, EXPR_DIR_REQUEST | EXPR_FINAL);

	for (const struct monitor_fail *f = hp->fails; f; f = f->next)
		if (condition_eval(f->condition, ctx) == EXPR_FOUND)
			return true;
	return false;
}

enum step stage_monitor(struct stream *s)
{
	const struct http_proxy *hp = http_proxy_of(s->fe);

	if (!is_monitor_request(s, hp))
		return STEP_NEXT;
	s->flags |= STRM_LOGGED; /* never logged */
	stream_set_end(s, END_MONITOR);
	counter_add(&s->fe->state->fe, CNT_INTERCEPTED, 1);
	if (stream_reply_page(s, monitor_fails(hp, s) ? 503 : 200))
		return stream_reply(s);
	return stream_goto(s, STAGE_END);
}
