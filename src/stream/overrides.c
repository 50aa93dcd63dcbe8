/* SPDX-License-Identifier: GPL-2.0-or-later */
/* overrides.c - settings of one stream made by rules: addresses, timeouts, marks */
#include "stream/stream.h"

struct stream_overrides *stream_overrides_get(struct stream *s)
{
	if (!s->overrides) {
		s->overrides = arena_zalloc(&s->arena, sizeof(*s->overrides));
		s->run.idle_stages &= ~(1u << STAGE_RESPONSE_RULES_FE); /* fields of the answer */
	}
	return s->overrides;
}

bool stream_answer_field(struct stream *s, struct slice name, struct slice value)
{
	struct stream_overrides *o = stream_overrides_get(s);
	struct answer_field *f = o ? o->answer_fields : NULL;

	while (f && !slice_eq(f->name, name))
		f = f->next;
	if (o && !f) {
		f = arena_zalloc(&s->arena, sizeof(*f));
		if (f) {
			f->name = name;
			f->next = o->answer_fields;
			o->answer_fields = f;
		}
	}
	if (f)
		f->value = value;
	return f != NULL;
}

const struct addr *stream_src(struct stream *s)
{
	if (s->overrides && s->overrides->src.family != ADDR_NONE)
		return &s->overrides->src;
	return session_src(s->sess);
}

const struct addr *stream_dst(struct stream *s)
{
	if (s->overrides && s->overrides->dst.family != ADDR_NONE)
		return &s->overrides->dst;
	return session_dst(s->sess);
}

const struct addr *context_src(const struct expr_ctx *ctx)
{
	if (ctx->stream)
		return stream_src(ctx->stream);
	return ctx->session ? session_src(ctx->session) : NULL;
}

const struct addr *context_dst(const struct expr_ctx *ctx)
{
	if (ctx->stream)
		return stream_dst(ctx->stream);
	return ctx->session ? session_dst(ctx->session) : NULL;
}

int64_t proxy_timeout_ms(const struct proxy *px, enum stream_timeout which)
{
	const struct proxy_timeouts *t = &px->timeout;

	switch (which) {
	case STREAM_TIMEOUT_CLIENT:
		return t->client;
	case STREAM_TIMEOUT_SERVER:
		return t->server;
	case STREAM_TIMEOUT_CONNECT:
		return t->connect;
	case STREAM_TIMEOUT_QUEUE:
		return t->queue ? t->queue : t->connect;
	case STREAM_TIMEOUT_TARPIT:
		return t->tarpit ? t->tarpit : t->connect;
	default:
		return t->tunnel;
	}
}

int64_t stream_timeout_ms(const struct stream *s, enum stream_timeout which)
{
	int64_t own = s->overrides ? s->overrides->timeout_ms[which] : 0;

	return own ? own : proxy_timeout_ms(which == STREAM_TIMEOUT_CLIENT ? s->fe : s->be, which);
}

void stream_forget_backend_overrides(struct stream *s)
{
	if (!s->overrides)
		return;
	s->overrides->timeout_ms[STREAM_TIMEOUT_SERVER] = 0;
	s->overrides->timeout_ms[STREAM_TIMEOUT_TUNNEL] = 0;
	s->overrides->timeout_ms[STREAM_TIMEOUT_CONNECT] = 0;
	s->overrides->timeout_ms[STREAM_TIMEOUT_QUEUE] = 0;
}
