/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sample.h - helpers shared by sample fetches of traffic. All run on the stream's thread. */
#ifndef STREAM_SAMPLE_H
#define STREAM_SAMPLE_H

#include "base/addr.h"
#include "expr/expr.h"
#include "expr/give.h"
#include "http/msg.h"
#include "proxy/proxy.h"
#include "stream/stream.h"

/* Gives a text that outlives the evaluation. No text: no sample. */
static inline enum expr_result smp_give_text(struct sample *out, struct slice text)
{
	if (!text.ptr)
		return EXPR_NONE;
	out->type = SMP_STR;
	out->flags = SMP_CONST;
	out->text = text;
	return EXPR_FOUND;
}

/* Gives an IPv4 or IPv6 address. Another family: no sample. */
static inline enum expr_result smp_give_addr(struct sample *out, const struct addr *a)
{
	out->flags = 0;
	if (a && a->family == ADDR_INET) {
		out->type = SMP_IPV4;
		out->ipv4 = a->v4;
		return EXPR_FOUND;
	}
	if (!a || a->family != ADDR_INET6)
		return EXPR_NONE;
	out->type = SMP_IPV6;
	memcpy(out->ipv6, a->v6, sizeof(out->ipv6));
	return EXPR_FOUND;
}

/* Returns all bytes of <q> in one piece, copied to the stream's arena if they are in several.
 * slice_none(): out of memory.
 */
struct slice smp_bytes(struct stream *s, const struct block_queue *q);
/* Parses the first bytes of a TCP stream as a request. NULL: *ret tells why. */
const struct http_msg *smp_sniff(struct expr_ctx *ctx, enum expr_result *ret);

/* Returns the request's head. Rules on responses do not see it, because it counts as sent. NULL:
 * *ret tells whether it may still come.
 */
static inline const struct http_msg *smp_request(struct expr_ctx *ctx, enum expr_result *ret)
{
	const struct stream *s = ctx->stream;

	*ret = EXPR_NONE;
	if (ctx->flags & EXPR_DIR_RESPONSE)
		return NULL;
	if (s && (s->flags & STRM_HTTP) && s->req.method_text.ptr)
		return &s->req;
	if (s && !(s->flags & STRM_HTTP))
		return smp_sniff(ctx, ret);
	*ret = s && !(ctx->flags & EXPR_FINAL) ? EXPR_WAIT : EXPR_NONE;
	return NULL;
}

/* Returns the response's head. NULL: there is none (yet), *ret tells. */
static inline const struct http_msg *smp_response(struct expr_ctx *ctx, enum expr_result *ret)
{
	const struct stream *s = ctx->stream;

	if (ctx->check && ctx->check->response)
		return ctx->check->response;
	if (s && (s->flags & STRM_HTTP) && s->res.status)
		return &s->res;
	*ret = s && (s->flags & STRM_HTTP) && (ctx->flags & EXPR_DIR_RESPONSE) &&
		!(ctx->flags & EXPR_FINAL) ? EXPR_WAIT : EXPR_NONE;
	return NULL;
}

/* Turns a text into the number at its start, as *_val fetches do. 0 without digits; a number beyond
 * 64 bits gives the least or the largest one.
 */
static inline enum expr_result smp_text_to_int(struct sample *out)
{
	struct slice s = out->text;
	bool negative = s.len && s.ptr[0] == '-', over = false;
	int64_t value = 0;

	for (size_t i = negative; i < s.len && ascii_is_digit(s.ptr[i]); i++) {
		int digit = s.ptr[i] - '0';

		over |= __builtin_mul_overflow(value, 10, &value) ||
			__builtin_add_overflow(value, negative ? -digit : digit, &value);
	}
	out->type = SMP_INT;
	out->integer = !over ? value : negative ? INT64_MIN : INT64_MAX;
	return EXPR_FOUND;
}


#endif
