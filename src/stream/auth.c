/* SPDX-License-Identifier: GPL-2.0-or-later */
/* auth.c - the user that sends a request, by its password */
#include "stream/auth.h"
#include "stream/stream.h"
#include "stream/wait.h"

bool stream_is_for_proxy(const struct stream *s)
{
	return s->fe->options & PROXY_OPT_USE_PROXY_HEADER && s->log.uri.len &&
	       s->log.uri.ptr[0] != '/' && s->log.uri.ptr[0] != '*';
}

bool stream_auth_fields(struct expr_ctx *ctx, struct slice field, struct auth_fields *out)
{
	struct stream *s = ctx->stream;

	if (!s || !(s->flags & STRM_HTTP) || ctx->flags & EXPR_DIR_RESPONSE)
		return false;
	if (!field.len)
		field = stream_is_for_proxy(s) ? SLICE("proxy-authorization")
					       : SLICE("authorization");
	return auth_fields_parse(&s->req, field, ctx->arena, out);
}

/* A password is being checked; in the stream's arena. The verdict is remembered by the thread. */
struct verdict_wait {
	struct stream_wait wait;
	struct auth_job *job;
};

static void verdict_cancel(struct stream_wait *wait)
{
	auth_job_cancel(container_of(wait, struct verdict_wait, wait)->job);
}

static const struct stream_wait_kind verdict_kind = {
	.name = "password", .cancel = verdict_cancel,
};

static void verdict_is_there(void *ctx)
{
	struct verdict_wait *v = ctx;

	stream_wake(&v->wait);
}

/* A hash must be computed, unless one is being computed for this stream. */
static enum expr_result await_verdict(struct expr_ctx *ctx, const struct auth_user *user,
				      struct slice password)
{
	struct stream *s = ctx->stream;
	struct verdict_wait *v;

	if (stream_wait_find(s, &verdict_kind))
		return EXPR_WAIT;
	v = arena_zalloc(&s->arena, sizeof(*v));
	if (v)
		v->job = auth_job_begin(user, password, verdict_is_there, v);
	if (!v || !v->job)
		return EXPR_NONE;
	stream_wait_begin(s, &v->wait, &verdict_kind);
	return EXPR_WAIT;
}

enum expr_result stream_auth_user(struct expr_ctx *ctx, const struct userlist *list,
				  const struct auth_user **user)
{
	struct auth_fields fields;
	enum auth_verdict verdict;

	if (!list || !stream_auth_fields(ctx, slice_none(), &fields) || !fields.user.ptr)
		return EXPR_NONE;
	*user = userlist_user(list, fields.user);
	if (!*user)
		return EXPR_NONE;
	verdict = auth_verdict_known(*user, fields.password);
	if (verdict == AUTH_UNKNOWN && ctx->flags & EXPR_MAY_WAIT)
		return await_verdict(ctx, *user, fields.password);
	if (verdict == AUTH_UNKNOWN)
		verdict = auth_verdict_now(*user, fields.password) ? AUTH_RIGHT : AUTH_WRONG;
	return verdict == AUTH_RIGHT ? EXPR_FOUND : EXPR_NONE;
}
