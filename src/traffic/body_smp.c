/* SPDX-License-Identifier: GPL-2.0-or-later */
/* body_smp.c - edge file: fetches that read bodies, whole heads, and bytes at offsets
 *
 * Manual: configuration 7.3.5 req.payload and its kin, 7.3.6 req.body, req.hdrs.
 */
#include "stream/sample.h"

#include "base/num.h"
#include "codec/varint.h"
#include "expr/pattern.h"

/* Which side: <data> of the fetches below. */
enum side { SIDE_REQUEST, SIDE_RESPONSE, SIDE_ANY };

static const enum side request_side = SIDE_REQUEST, response_side = SIDE_RESPONSE,
	any_side = SIDE_ANY;

static bool is_response(const struct expr_ctx *ctx)
{
	enum side side = *(const enum side *)ctx->data;

	return side == SIDE_RESPONSE || (side == SIDE_ANY && ctx->flags & EXPR_DIR_RESPONSE);
}

static struct endpoint *side_of(const struct expr_ctx *ctx)
{
	return is_response(ctx) ? &ctx->stream->back : &ctx->stream->front;
}

static enum expr_result give_bytes(struct sample *out, struct slice bytes, bool may_change)
{
	enum expr_result ret = smp_give_text(out, bytes);

	out->type = SMP_BIN;
	if (may_change)
		out->flags |= SMP_MAY_CHANGE;
	return ret;
}

/* The head of the side. NULL: *ret tells. */
static const struct http_msg *message_of(struct expr_ctx *ctx, enum expr_result *ret)
{
	return is_response(ctx) ? smp_response(ctx, ret) : smp_request(ctx, ret);
}

/* --- bodies ------------------------------------------------------------------------------- */

/* The body as far as it is there: that of an answer of our own waits apart. */
static const struct block_queue *body_queue(const struct expr_ctx *ctx)
{
	if (is_response(ctx) && ctx->stream->flags & STRM_LOCAL_REPLY)
		return &ctx->stream->local.body;
	return &side_of(ctx)->rx;
}

/* May more of it come? */
static bool body_grows(const struct expr_ctx *ctx)
{
	return !(side_of(ctx)->flags & EP_RX_END) &&
		!(is_response(ctx) && ctx->stream->flags & STRM_LOCAL_REPLY);
}

/* What there is of the body. False: there is no message, see *ret. */
static bool body_bytes(struct expr_ctx *ctx, struct slice *out, enum expr_result *ret)
{
	if (!message_of(ctx, ret))
		return false;
	if (ctx->check) {
		*out = ctx->check->body;
		*ret = EXPR_NONE;
		return out->ptr != NULL;
	}
	if (!(ctx->stream->flags & STRM_HTTP))
		return false;
	*out = smp_bytes(ctx->stream, body_queue(ctx));
	*ret = EXPR_NONE;
	return out->ptr != NULL;
}

static enum expr_result fetch_body(struct expr_ctx *ctx, const struct expr_arg *args,
				   struct sample *out)
{
	enum expr_result ret = EXPR_NONE;
	struct slice body;

	if (!body_bytes(ctx, &body, &ret))
		return ret;
	return give_bytes(out, body, ctx->stream && body_grows(ctx));
}

static enum expr_result fetch_body_len(struct expr_ctx *ctx, const struct expr_arg *args,
				       struct sample *out)
{
	enum expr_result ret = EXPR_NONE;

	if (!message_of(ctx, &ret))
		return ret;
	if (ctx->check)
		return smp_give_int(out, (int64_t)ctx->check->body.len);
	smp_give_int(out, (int64_t)body_queue(ctx)->len);
	if (body_grows(ctx))
		out->flags |= SMP_MAY_CHANGE;
	return EXPR_FOUND;
}

/* What was announced, or what there is. */
static enum expr_result fetch_body_size(struct expr_ctx *ctx, const struct expr_arg *args,
					struct sample *out)
{
	enum expr_result ret = EXPR_NONE;
	const struct http_msg *m = message_of(ctx, &ret);

	if (!m)
		return ret;
	if (m->body != HTTP_BODY_LENGTH)
		return fetch_body_len(ctx, args, out);
	return smp_give_int(out, (int64_t)m->content_length);
}

/* --- heads -------------------------------------------------------------------------------- */

static size_t head_size(const struct http_msg *m, size_t per_field)
{
	size_t size = per_field;

	for (unsigned i = 0; i < m->fields.count; i++)
		size += m->fields.list[i].name.len + m->fields.list[i].value.len + per_field;
	return size;
}

static char *put(char *at, struct slice s)
{
	return s.len ? mempcpy(at, s.ptr, s.len) : at;
}

static enum expr_result fetch_head(struct expr_ctx *ctx, const struct expr_arg *args,
				   struct sample *out)
{
	enum expr_result ret = EXPR_NONE;
	const struct http_msg *m = message_of(ctx, &ret);
	char *text, *at;

	if (!m)
		return ret;
	text = at = arena_alloc(ctx->arena, head_size(m, 4));
	for (unsigned i = 0; text && i < m->fields.count; i++) {
		const struct h1_field *f = &m->fields.list[i];

		if (!f->name.ptr)
			continue;
		at = put(put(put(put(at, f->name), SLICE(": ")), f->value), SLICE("\r\n"));
	}
	if (!text)
		return EXPR_NONE;
	at = put(at, SLICE("\r\n"));
	return give_bytes(out, slice_make(text, (size_t)(at - text)), false);
}

/* A text behind its length, as SPOE writes them. */
static char *put_counted(char *at, struct slice s)
{
	at += varint_put(s.len, (unsigned char *)at);
	return put(at, s);
}

static enum expr_result fetch_head_binary(struct expr_ctx *ctx, const struct expr_arg *args,
					  struct sample *out)
{
	enum expr_result ret = EXPR_NONE;
	const struct http_msg *m = message_of(ctx, &ret);
	char *text, *at;

	if (!m)
		return ret;
	text = at = arena_alloc(ctx->arena, head_size(m, 2 * VARINT_MAX));
	for (unsigned i = 0; text && i < m->fields.count; i++) {
		const struct h1_field *f = &m->fields.list[i];

		if (!f->name.ptr)
			continue;
		at = put_counted(at, f->name);
		at = put_counted(at, f->value);
	}
	if (!text)
		return EXPR_NONE;
	*at++ = 0;
	*at++ = 0;
	return give_bytes(out, slice_make(text, (size_t)(at - text)), false);
}

/* --- bytes at offsets, mode tcp ----------------------------------------------------------- */

/* The bytes of the side. False: there are none to look at. */
static bool payload_bytes(struct expr_ctx *ctx, struct slice *out, bool *more)
{
	if (ctx->check && !ctx->check->response && is_response(ctx)) {
		*out = ctx->check->body;
		*more = false;
		return out->ptr != NULL;
	}
	if (!ctx->stream || ctx->stream->flags & STRM_HTTP)
		return false;
	*out = smp_bytes(ctx->stream, &side_of(ctx)->rx);
	*more = !(side_of(ctx)->flags & EP_RX_END) && !(ctx->flags & EXPR_FINAL);
	return out->ptr != NULL;
}

static bool check_payload(struct conf_line *l, struct expr_arg *args, const char **error)
{
	*error = "offsets and lengths must not be negative";
	return args[0].integer >= 0 && args[1].integer >= 0;
}

/* (<offset>,<length>); length 0: up to the end */
static enum expr_result fetch_payload(struct expr_ctx *ctx, const struct expr_arg *args,
				      struct sample *out)
{
	uint64_t from = (uint64_t)args[0].integer, len = (uint64_t)args[1].integer;
	struct slice bytes;
	bool more;

	if (!payload_bytes(ctx, &bytes, &more))
		return EXPR_NONE;
	if (from > bytes.len || len > bytes.len - from || (!len && from == bytes.len))
		return more ? EXPR_WAIT : EXPR_NONE;
	bytes = slice_make(bytes.ptr + from, len ? (size_t)len : bytes.len - (size_t)from);
	return give_bytes(out, bytes, more && !len);
}

/* (<offset of the length>,<its size>[,<offset>]); a signed offset is relative to the end of the
 * length. args[3] remembers which.
 */
static bool check_payload_lv(struct conf_line *l, struct expr_arg *args, const char **error)
{
	const char *text = args[2].type == ARG_STR ? args[2].name.ptr : "+0";

	args[2].type = ARG_INT;
	args[3].integer = *text == '+' || *text == '-';
	*error = "payload length must be > 0";
	if (args[1].integer <= 0)
		return false;
	*error = "payload offset too negative";
	if (args[0].integer < 0)
		return false;
	*error = "payload offset2 is not a number";
	if (!num_parse_i64(slice_of(text), &args[2].integer))
		return false;
	*error = "payload length is too large";
	return args[1].integer <= 8 && args[0].integer < INT32_MAX &&
	       args[2].integer > INT32_MIN && args[2].integer < INT32_MAX;
}

static enum expr_result fetch_payload_lv(struct expr_ctx *ctx, const struct expr_arg *args,
					 struct sample *out)
{
	size_t at = (size_t)args[0].integer, size = (size_t)args[1].integer;
	int64_t from;
	uint64_t len = 0;
	struct slice bytes;
	bool more;

	if (!payload_bytes(ctx, &bytes, &more))
		return EXPR_NONE;
	if (at + size > bytes.len)
		return more ? EXPR_WAIT : EXPR_NONE;
	for (size_t i = 0; i < size; i++)
		len = len << 8 | (uint8_t)bytes.ptr[at + i];
	from = args[2].integer + (args[3].integer ? (int64_t)(at + size) : 0);
	if (from < 0 || !len || len > INT32_MAX)
		return EXPR_NONE;
	if ((uint64_t)from + len > bytes.len)
		return more ? EXPR_WAIT : EXPR_NONE;
	return give_bytes(out, slice_make(bytes.ptr + from, (size_t)len), false);
}

/* --- distcc ------------------------------------------------------------------------------- */

/* Tokens of four letters and a number of eight hexadecimal digits; some are followed by as many
 * bytes.
 */
#define DISTCC_HEADER 12

static bool distcc_has_body(struct slice token)
{
	static const char with_body[] = "ARGV CWD  CDIR DOTI DOTO FILE LINK NAME SERR SOUT ";

	for (const char *t = with_body; *t; t += 5)
		if (slice_eq(token, slice_make(t, 4)))
			return true;
	return false;
}

/* Finds the token of that occurrence. EXPR_WAIT: bytes are missing. */
static enum expr_result distcc_find(struct expr_ctx *ctx, const struct expr_arg *args,
				    uint64_t *param, struct slice *body)
{
	int64_t wanted = args[1].type == ARG_INT && args[1].integer > 0 ? args[1].integer : 1;
	struct slice in;
	bool more;

	if (!payload_bytes(ctx, &in, &more))
		return EXPR_NONE;
	while (in.len >= DISTCC_HEADER) {
		struct slice token = slice_sub(in, 0, 4);
		uint64_t len;

		if (!num_parse_hex(slice_sub(in, 4, DISTCC_HEADER), param))
			return EXPR_NONE;
		len = distcc_has_body(token) ? *param : 0;
		in = slice_make(in.ptr + DISTCC_HEADER, in.len - DISTCC_HEADER);
		*body = slice_sub(in, 0, (size_t)len);
		if (slice_eq(token, args[0].text) && --wanted == 0)
			return len <= in.len ? EXPR_FOUND : more ? EXPR_WAIT : EXPR_NONE;
		if (len > in.len)
			break;
		in = slice_make(in.ptr + len, in.len - (size_t)len);
	}
	return more ? EXPR_WAIT : EXPR_NONE;
}

static bool check_distcc(struct conf_line *l, struct expr_arg *args, const char **error)
{
	*error = "token name must be exactly 4 characters";
	return args[0].type == ARG_STR && args[0].text.len == 4;
}

static enum expr_result fetch_distcc_body(struct expr_ctx *ctx, const struct expr_arg *args,
					  struct sample *out)
{
	enum expr_result ret;
	struct slice body;
	uint64_t param;

	ret = distcc_find(ctx, args, &param, &body);
	return ret == EXPR_FOUND ? give_bytes(out, body.ptr ? body : SLICE(""), false) : ret;
}

static enum expr_result fetch_distcc_param(struct expr_ctx *ctx, const struct expr_arg *args,
					   struct sample *out)
{
	enum expr_result ret;
	struct slice body;
	uint64_t param;

	ret = distcc_find(ctx, args, &param, &body);
	return ret == EXPR_FOUND ? smp_give_int(out, (int64_t)param) : ret;
}

#define REQ EXPR_USE_HTTP_REQUEST_VOLATILE
#define RES EXPR_USE_HTTP_RESPONSE_VOLATILE
#define FETCH(n, type, uses, which, function, text) \
	{ .name = n, .out = type, .use = uses, .fetch = function, .data = &which, .help = text }
#define BODIES(name, uses, which) \
	FETCH(name ".body", SMP_BIN, uses, which, fetch_body, "what was received of the body"), \
	FETCH(name ".body_len", SMP_INT, uses, which, fetch_body_len, \
	      "how much of the body was received"), \
	FETCH(name ".body_size", SMP_INT, uses, which, fetch_body_size, \
	      "the announced length of the body"), \
	FETCH(name ".hdrs", SMP_BIN, uses, which, fetch_head, "all fields as text"), \
	FETCH(name ".hdrs_bin", SMP_BIN, uses, which, fetch_head_binary, \
	      "all fields as texts behind their lengths")
#define PAYLOAD(n, uses, which) \
	{ .name = n, .args_min = 2, .args = { ARG_INT, ARG_INT }, .out = SMP_BIN, \
	  .use = uses, .fetch = fetch_payload, .check = check_payload, .data = &which, \
	  .syntax = "<offset>,<length>", .help = "bytes received and not yet sent" }, \
	{ .name = n "_lv", .args_min = 2, .args = { ARG_INT, ARG_INT, ARG_STR }, \
	  .out = SMP_BIN, .use = uses, .fetch = fetch_payload_lv, .check = check_payload_lv, \
	  .data = &which, .syntax = "<offset of the length>,<its size>[,<offset>]", \
	  .help = "bytes received that stand behind their length" }
#define DISTCC(n, type, function, text) \
	{ .name = n, .args_min = 1, .args = { ARG_STR, ARG_INT }, .out = type, \
	  .use = EXPR_USE_L6_REQUEST | EXPR_USE_L6_RESPONSE, .fetch = function, \
	  .check = check_distcc, .data = &any_side, .syntax = "<token>[,<occurrence>]", \
	  .help = text }

static const struct expr_fetch fetches[] = {
	BODIES("req", REQ, request_side),
	BODIES("res", RES, response_side),
	DISTCC("distcc_body", SMP_BIN, fetch_distcc_body, "the body of a token of distcc"),
	DISTCC("distcc_param", SMP_INT, fetch_distcc_param, "the number of a token of distcc"),
	PAYLOAD("payload", EXPR_USE_L6_REQUEST | EXPR_USE_L6_RESPONSE, any_side),
	PAYLOAD("req.payload", EXPR_USE_L6_REQUEST, request_side),
	PAYLOAD("res.payload", EXPR_USE_L6_RESPONSE, response_side),
	{ 0 }
};

static const struct expr_acl_keyword acl_keywords[] = {
	{ "payload", "req.payload", PATTERN_BIN },
	{ "payload_lv", "req.payload_lv", PATTERN_BIN },
	{ 0 }
};

const struct module mod_body_smp = {
	.name = "body-fetches", .fetches = fetches, .acl_keywords = acl_keywords,
};
