/* SPDX-License-Identifier: GPL-2.0-or-later */
/* conn_error_smp.c - edge file: why a client's connection never came to a request
 *
 * Manual: configuration 7.3.3, fc_err_str has the table.
 */
#include "base/num.h"
#include "base/bug.h"
#include "smp_priv.h"
#include "stream/session.h"

static const struct conn_error {
	uint8_t id;
	const char *name, *message;
} errors[] = {
	{ 11, "PRX_EMPTY", "Connection closed while waiting for PROXY protocol header" },
	{ 12, "PRX_ABORT", "Connection error while waiting for PROXY protocol header" },
	{ 13, "PRX_TIMEOUT", "Timeout while waiting for PROXY protocol header" },
	{ 14, "PRX_TRUNCATED", "Truncated PROXY protocol header received" },
	{ 15, "PRX_NOT_HDR",
	  "Received something which does not look like a PROXY protocol header" },
	{ 18, "CIP_EMPTY", "Connection closed while waiting for NetScaler Client IP header" },
	{ 19, "CIP_ABORT", "Connection error while waiting for NetScaler Client IP header" },
	{ 20, "CIP_TIMEOUT", "Timeout while waiting for a NetScaler Client IP header" },
	{ 21, "CIP_TRUNCATED", "Truncated NetScaler Client IP header received" },
	{ 22, "CIP_BAD_MAGIC", "Received an invalid NetScaler Client IP magic number" },
	{ 23, "CIP_BAD_PROTO",
	  "Received an unhandled protocol in the NetScaler Client IP header" },
	{ 24, "SSL_EMPTY", "Connection closed during SSL handshake" },
	{ 25, "SSL_ABORT", "Connection error during SSL handshake" },
	{ 26, "SSL_TIMEOUT", "Timeout during SSL handshake" },
	{ 27, "SSL_TOO_MANY", "Too many SSL connections" },
	{ 30, "SSL_CA_FAIL", "SSL client CA chain cannot be verified" },
	{ 31, "SSL_CRT_FAIL", "SSL client certificate not trusted" },
	{ 34, "SSL_HANDSHAKE", "SSL handshake failure" },
};

uint8_t conn_error_id(const char *message)
{
	for (size_t i = 0; i < ARRAY_LEN(errors); i++)
		if (strncmp(message, errors[i].message, strlen(errors[i].message)) == 0)
			return errors[i].id;
	return 6; /* a socket error in general */
}

/* NULL: nothing is wrong, or there is no connection. */
static const struct conn_error *error_of(const struct expr_ctx *ctx)
{
	for (size_t i = 0; ctx->session && i < ARRAY_LEN(errors); i++)
		if (errors[i].id == ctx->session->error)
			return &errors[i];
	return NULL;
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
