/* SPDX-License-Identifier: GPL-2.0-or-later */
/* conn_error_smp.c - edge file: fetches about the failure of a client's connection
 *
 * Manual: configuration 7.3.3, fc_err.
 */
#include "stream/conn_error.h"
#include "stream/sample.h"
#include "stream/stream.h"

/* NULL: nothing is wrong, or there is no connection. */
static const struct conn_error *error_of(const struct expr_ctx *ctx)
{
	return ctx->session ? conn_error_find(ctx->session->error) : NULL;
}

static enum expr_result fetch_id(struct expr_ctx *ctx, const struct expr_arg *args,
				 struct sample *out)
{
	return ctx->session ? smp_give_int(out, ctx->session->error) : EXPR_NONE;
}

static enum expr_result fetch_name(struct expr_ctx *ctx, const struct expr_arg *args,
				   struct sample *out)
{
	const struct conn_error *e = error_of(ctx);

	if (!ctx->session)
		return EXPR_NONE;
	return smp_give_text(out, e ? slice_of(e->name) : SLICE(""));
}

static enum expr_result fetch_message(struct expr_ctx *ctx, const struct expr_arg *args,
				      struct sample *out)
{
	const struct conn_error *e = error_of(ctx);

	if (!ctx->session)
		return EXPR_NONE;
	return smp_give_text(out, slice_of(e ? e->message : "Success"));
}

#define FETCH(n, type, function, text) \
	{ .name = n, .out = type, .use = EXPR_USE_L4_CLIENT, .fetch = function, .help = text }

static const struct expr_fetch fetches[] = {
	FETCH("fc_err", SMP_INT, fetch_id, "number of the error of the client's connection"),
	FETCH("fc_err_name", SMP_STR, fetch_name, "name of that error"),
	FETCH("fc_err_str", SMP_STR, fetch_message, "that error in words"),
	{ 0 }
};

const struct module mod_conn_error_smp = {
	.name = "connection-error-fetches", .fetches = fetches,
};
