/* SPDX-License-Identifier: GPL-2.0-or-later */
/* auth.c - who sends a request, by its password */
#include "stream/auth.h"

#include "stream/stream.h"

bool stream_is_for_proxy(const struct stream *s)
{
	return s->fe->options & PROXY_OPT_USE_PROXY_HEADER && s->log_uri.len &&
	       s->log_uri.ptr[0] != '/' && s->log_uri.ptr[0] != '*';
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

static void verdict_is_there(void *ctx)
{
	struct stream *s = ctx;

	s->overrides->auth_job = NULL;
	stream_run(s);
}

/* A hash must be computed. */
static enum expr_result await_verdict(struct expr_ctx *ctx, const struct auth_user *user,
				      struct slice password)
{
	struct stream_overrides *o = stream_overrides_get(ctx->stream);

	if (o && !o->auth_job)
		o->auth_job = auth_job_begin(user, password, verdict_is_there, ctx->stream);
	return o && o->auth_job ? EXPR_WAIT : EXPR_NONE;
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
