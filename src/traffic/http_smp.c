/* SPDX-License-Identifier: GPL-2.0-or-later */
/* http_smp.c - edge file: fetches that read start lines and targets
 *
 * Fields are in field_smp.c. Manual: configuration 7.3.6.
 */
#include "stream/sample.h"

#include <endian.h>
#include "base/bug.h"
#include "base/hash.h"
#include "codec/uri.h"
#include "expr/pattern.h"

static struct slice smp_join(struct expr_ctx *ctx, struct slice a, struct slice b)
{
	char *text = arena_alloc(ctx->arena, a.len + b.len + 1);

	if (!text)
		return slice_none();
	if (a.len)
		memcpy(text, a.ptr, a.len);
	if (b.len)
		memcpy(text + a.len, b.ptr, b.len);
	text[a.len + b.len] = '\0';
	return slice_make(text, a.len + b.len);
}

/* Fetches which give a piece of the request, by function. */
struct request_piece {
	struct slice (*get)(const struct http_msg *m);
};

static struct slice piece_url(const struct http_msg *m)
{
	return m->uri;
}

/* "1.1" of "HTTP/1.1" */
static struct slice piece_version(const struct http_msg *m)
{
	/* others pass by accept-unsafe-violations only, and are not compared with */
	if (m->version_text.len)
		return m->version_text.len == 8 && slice_starts(m->version_text, SLICE("HTTP/")) ?
			slice_sub(m->version_text, 5, 8) : SLICE("");
	switch (m->version) {
	case 9:
	case 10:
		return SLICE("1.0");
	case 11:
		return SLICE("1.1");
	case 20:
		return SLICE("2.0");
	case 30:
		return SLICE("3.0");
	default:
		return SLICE("");
	}
}

static const struct request_piece request_url = { piece_url };
static const struct request_piece request_path = { http_msg_path };
static const struct request_piece request_pathq = { http_msg_pathq };

static enum expr_result fetch_piece(struct expr_ctx *ctx, const struct expr_arg *args,
				    struct sample *out)
{
	const struct request_piece *piece = ctx->data;
	enum expr_result ret;
	const struct http_msg *m = smp_request(ctx, &ret);

	return m ? smp_give_text(out, piece->get(m)) : ret;
}

/* The request, of which a little is known as long as the stream lasts: its method and version. */
static const struct http_msg *lasting_request(struct expr_ctx *ctx, enum expr_result *ret)
{
	const struct stream *s = ctx->stream;

	return s && s->flags & STRM_HTTP && s->req.method_text.ptr ? &s->req
								   : smp_request(ctx, ret);
}

static enum expr_result fetch_version(struct expr_ctx *ctx, const struct expr_arg *args,
				      struct sample *out)
{
	enum expr_result ret;
	const struct http_msg *m = lasting_request(ctx, &ret);

	return m ? smp_give_text(out, piece_version(m)) : ret;
}

/* Fetches know one method less than messages do. */
static enum http_method fetched_method(enum http_method method)
{
	return method == HTTP_METH_PATCH ? HTTP_METH_OTHER : method;
}

/* The method that the client sent, as HAProxy has it, unless it is one of no number: that one may
 * be replaced (`set-method`).
 */
static enum expr_result fetch_method(struct expr_ctx *ctx, const struct expr_arg *args,
				     struct sample *out)
{
	const struct stream *s = ctx->stream;
	enum expr_result ret;
	const struct http_msg *m = lasting_request(ctx, &ret);

	if (!m)
		return ret;
	out->type = SMP_METH;
	out->flags = SMP_CONST;
	out->method = fetched_method(m->method);
	out->text = m->method_text;
	if (m == &s->req && s->log.method.len) {
		enum http_method known = fetched_method(http_method_of(s->log.method));

		if (known) {
			out->method = known;
			out->text = s->log.method;
		}
	}
	return EXPR_FOUND;
}

/* query([with_qm]) */
static enum expr_result fetch_query(struct expr_ctx *ctx, const struct expr_arg *args,
				    struct sample *out)
{
	enum expr_result ret;
	const struct http_msg *m = smp_request(ctx, &ret);
	struct slice query;

	if (!m)
		return ret;
	query = http_msg_query(m);
	if (!query.ptr)
		return EXPR_NONE;
	if (query.len && args[0].type == ARG_STR && args[0].text.len)
		query = slice_make(query.ptr - 1, query.len + 1); /* the '?' is just before */
	return smp_give_text(out, query);
}

static bool check_query(struct conf_line *l, struct expr_arg *args, const char **error)
{
	if (args[0].type != ARG_STR || !args[0].text.len ||
	    slice_eq(args[0].text, SLICE("with_qm")))
		return true;
	*error = "invalid option, only 'with_qm' is supported";
	return false;
}

/* base, baseq: the host and the path, with the query or not */
static enum expr_result fetch_base(struct expr_ctx *ctx, const struct expr_arg *args,
				   struct sample *out)
{
	const struct request_piece *piece = ctx->data;
	enum expr_result ret;
	const struct http_msg *m = smp_request(ctx, &ret);
	struct h1_field *host;
	struct slice path;

	if (!m)
		return ret;
	host = http_field_find(&m->fields, FIELD_HOST, slice_none());
	path = piece->get(m);
	if (!host)
		return smp_give_text(out, path);
	return smp_give_text(out, path.len ? smp_join(ctx, host->value, path) : host->value);
}

/* Both are joined as `base` does it, then hashed by SDBM and spread. */
static uint32_t hash_target(const struct http_msg *m, struct slice target)
{
	const struct h1_field *host = http_field_find(&m->fields, FIELD_HOST, slice_none());
	struct slice parts[2] = { host ? host->value : slice_none(), target };
	uint32_t hash = 0;

	for (int i = 0; i < 2; i++)
		for (size_t k = 0; k < parts[i].len; k++)
			hash = hash * 65599 + (unsigned char)parts[i].ptr[k];
	return hash_avalanche(hash);
}

/* base32 and url32 */
static enum expr_result fetch_target_hash(struct expr_ctx *ctx, const struct expr_arg *args,
					  struct sample *out)
{
	const struct request_piece *piece = ctx->data;
	enum expr_result ret;
	const struct http_msg *m = smp_request(ctx, &ret);

	return m ? smp_give_int(out, hash_target(m, piece->get(m))) : ret;
}

/* The hash in network order, then the client's address. */
static enum expr_result fetch_target_hash_src(struct expr_ctx *ctx, const struct expr_arg *args,
					      struct sample *out)
{
	const struct addr *src = ctx->session ? session_src(ctx->session) : NULL;
	const struct request_piece *piece = ctx->data;
	enum expr_result ret;
	const struct http_msg *m = smp_request(ctx, &ret);
	char bytes[4 + 16];
	size_t len = 4;
	uint32_t hash;

	if (!m)
		return ret;
	hash = htobe32(hash_target(m, piece->get(m)));
	memcpy(bytes, &hash, 4);
	if (src && src->family == ADDR_INET)
		memcpy(bytes + 4, &src->v4, 4), len += 4;
	else if (src && src->family == ADDR_INET6)
		memcpy(bytes + 4, src->v6, 16), len += 16;
	ret = smp_give_text(out, arena_copy(ctx->arena, slice_make(bytes, len)));
	out->type = SMP_BIN;
	return ret;
}

static bool char_ends_param(char c)
{
	return c == '&' || c == ';';
}

/* Gives the next "name=value" of the list and moves it on; parameters without '=' are skipped. */
static bool param_next(struct slice *list, struct slice *name, struct slice *value)
{
	while (list->len) {
		size_t end = 0, equal = SIZE_MAX;
		struct slice whole = *list;

		for (; end < whole.len && !char_ends_param(whole.ptr[end]); end++) {
			if (whole.ptr[end] == '=' && equal == SIZE_MAX)
				equal = end;
		}
		*list = end < whole.len ? slice_sub(whole, end + 1, whole.len) : slice_none();
		if (equal == SIZE_MAX)
			continue;
		*name = slice_sub(whole, 0, equal);
		*value = slice_sub(whole, equal + 1, end);
		return true;
	}
	return false;
}

/* Where the parameters begin: behind the first '?', or another character. */
static struct slice params_of(const struct http_msg *m, const struct expr_arg *args)
{
	char mark = args[0].type == ARG_STR && args[1].type == ARG_STR && args[1].text.len ?
		args[1].text.ptr[0] : '?';
	size_t at = slice_find_char(m->uri, 0, mark);

	return at == SIZE_MAX ? slice_none() : slice_sub(m->uri, at + 1, m->uri.len);
}

/* url_param([name[,delimiter[,i]]]): the first one, or all of that name in turn */
static enum expr_result fetch_param(struct expr_ctx *ctx, const struct expr_arg *args,
				    struct sample *out)
{
	bool nocase = args[0].type == ARG_STR && args[1].type == ARG_STR &&
		args[2].type == ARG_STR && args[2].text.len;
	struct slice wanted = args[0].type == ARG_STR ? args[0].text : slice_none();
	struct slice name, value, list;
	enum expr_result ret;
	const struct http_msg *m = smp_request(ctx, &ret);

	if (!m)
		return ret;
	list = (ctx->flags & EXPR_ITERATE) && ctx->cursor[0] ?
		slice_make((char *)(uintptr_t)ctx->cursor[0], ctx->cursor[1]) : params_of(m, args);
	while (param_next(&list, &name, &value)) {
		if (wanted.len && !(nocase ? slice_eq_nocase(name, wanted) :
				    slice_eq(name, wanted)))
			continue;
		smp_give_text(out, value);
		if ((ctx->flags & EXPR_ITERATE) && list.len) {
			ctx->cursor[0] = (uintptr_t)list.ptr;
			ctx->cursor[1] = list.len;
			out->flags |= SMP_NOT_LAST;
		}
		return EXPR_FOUND;
	}
	return EXPR_NONE;
}

static enum expr_result fetch_param_value(struct expr_ctx *ctx, const struct expr_arg *args,
					  struct sample *out)
{
	enum expr_result ret = fetch_param(ctx, args, out);

	return ret == EXPR_FOUND ? smp_text_to_int(out) : ret;
}

/* req.body_param([<name>[,i]]): the same of a form in the body */
static enum expr_result fetch_body_param(struct expr_ctx *ctx, const struct expr_arg *args,
					 struct sample *out)
{
	bool nocase = args[0].type == ARG_STR && args[1].type == ARG_STR && args[1].text.len;
	struct slice wanted = args[0].type == ARG_STR ? args[0].text : slice_none();
	struct slice name, value, list;
	enum expr_result ret;

	if (!smp_request(ctx, &ret))
		return ret;
	list = (ctx->flags & EXPR_ITERATE) && ctx->cursor[0] ?
		slice_make((char *)(uintptr_t)ctx->cursor[0], ctx->cursor[1]) :
		smp_bytes(ctx->stream, &ctx->stream->front.rx);
	while (param_next(&list, &name, &value)) {
		if (wanted.len && !(nocase ? slice_eq_nocase(name, wanted) :
				    slice_eq(name, wanted)))
			continue;
		ret = smp_give_text(out, value);
		out->type = SMP_BIN;
		if ((ctx->flags & EXPR_ITERATE) && list.len) {
			ctx->cursor[0] = (uintptr_t)list.ptr;
			ctx->cursor[1] = list.len;
			out->flags |= SMP_NOT_LAST;
		}
		return ret;
	}
	return EXPR_NONE;
}

static bool check_param(struct conf_line *l, struct expr_arg *args, const char **error)
{
	if (args[0].type == ARG_STR && args[1].type == ARG_STR && args[1].text.len > 1) {
		*error = "delimiter must be one character";
		return false;
	}
	if (args[0].type == ARG_STR && args[1].type == ARG_STR && args[2].type == ARG_STR &&
	    !slice_eq(args[2].text, SLICE("i"))) {
		*error = "only 'i' is supported as third argument";
		return false;
	}
	return true;
}

/* The host and port of an absolute target, or of CONNECT's. False: it has none. */
static bool url_host(const struct http_msg *m, struct slice *host, uint16_t *port)
{
	struct slice authority = http_msg_authority(m), port_text;
	const char *at = authority.len ? memrchr(authority.ptr, '@', authority.len) : NULL;

	if (at)
		authority = slice_sub(authority, at + 1 - authority.ptr, authority.len);
	if (!authority.len || !uri_parse_host(authority, host, &port_text, port))
		return false;
	if (!port_text.len)
		*port = slice_starts_nocase(m->uri, SLICE("https")) ? 443 : 80;
	return true;
}

static enum expr_result fetch_url_ip(struct expr_ctx *ctx, const struct expr_arg *args,
				     struct sample *out)
{
	enum expr_result ret;
	const struct http_msg *m = smp_request(ctx, &ret);
	struct slice host;
	struct addr a;
	uint16_t port;

	if (!m)
		return ret;
	if (!url_host(m, &host, &port) || !addr_parse_ip(host, ADDR_INET, &a))
		return EXPR_NONE;
	return smp_give_addr(out, &a);
}

/* Like url_ip, nothing of a target that has a name: no name is resolved for it. */
static enum expr_result fetch_url_port(struct expr_ctx *ctx, const struct expr_arg *args,
				       struct sample *out)
{
	enum expr_result ret;
	const struct http_msg *m = smp_request(ctx, &ret);
	struct slice host;
	struct addr a;
	uint16_t port;

	if (!m)
		return ret;
	if (!url_host(m, &host, &port) || !addr_parse_ip(host, ADDR_INET, &a))
		return EXPR_NONE;
	return smp_give_int(out, port);
}

static enum expr_result fetch_proto_http(struct expr_ctx *ctx, const struct expr_arg *args,
					 struct sample *out)
{
	enum expr_result ret;

	return smp_request(ctx, &ret) ? smp_give_bool(out, true) : ret;
}

static enum expr_result fetch_first_request(struct expr_ctx *ctx, const struct expr_arg *args,
					    struct sample *out)
{
	return ctx->session ? smp_give_bool(out, ctx->session->requests <= 1) : EXPR_NONE;
}

static enum expr_result fetch_status(struct expr_ctx *ctx, const struct expr_arg *args,
				     struct sample *out)
{
	enum expr_result ret;
	const struct http_msg *m = smp_response(ctx, &ret);

	return m ? smp_give_int(out, m->status) : ret;
}

/* What the client gets or got, once that is known. */
static enum expr_result fetch_txn_status(struct expr_ctx *ctx, const struct expr_arg *args,
					 struct sample *out)
{
	const struct stream *s = ctx->stream;
	unsigned status = !s ? 0 : s->res.status ? s->res.status : s->answer.status;

	return status ? smp_give_int(out, status) : EXPR_NONE;
}

static enum expr_result fetch_response_version(struct expr_ctx *ctx, const struct expr_arg *args,
					       struct sample *out)
{
	enum expr_result ret;
	const struct http_msg *m = smp_response(ctx, &ret);

	return m ? smp_give_text(out, piece_version(m)) : ret;
}

#define REQUEST EXPR_USE_HTTP_REQUEST_VOLATILE
#define FETCH(n, type, uses, function, text) \
	{ .name = n, .out = type, .use = uses, .fetch = function, .help = text }
#define PIECE(n, which, text) \
	{ .name = n, .out = SMP_STR, .use = REQUEST, .fetch = fetch_piece, .data = which, \
	  .help = text }
#define PARAM(n, type, function) \
	{ .name = n, .args = { ARG_STR, ARG_STR, ARG_STR }, .out = type, .use = REQUEST, \
	  .fetch = function, .check = check_param, .syntax = "[<name>[,<delimiter>[,i]]]", \
	  .help = "a parameter of the query" }

static const struct expr_fetch fetches[] = {
	{ .name = "base", .out = SMP_STR, .use = REQUEST, .fetch = fetch_base,
	  .data = &request_path, .help = "the first Host and the path" },
	{ .name = "base32", .out = SMP_INT, .use = REQUEST, .fetch = fetch_target_hash,
	  .data = &request_path, .help = "a hash of the first Host and the path" },
	{ .name = "base32+src", .out = SMP_BIN, .use = REQUEST, .fetch = fetch_target_hash_src,
	  .data = &request_path, .help = "base32 and the client's address" },
	{ .name = "baseq", .out = SMP_STR, .use = REQUEST, .fetch = fetch_base,
	  .data = &request_pathq, .help = "the first Host, the path and the query" },
	FETCH("http_first_req", SMP_BOOL, EXPR_USE_HTTP_REQUEST, fetch_first_request,
	      "is it the first request of its connection?"),
	FETCH("method", SMP_METH, EXPR_USE_HTTP_REQUEST, fetch_method, "the method"),
	PIECE("path", &request_path, "the path of the target"),
	PIECE("pathq", &request_pathq, "the path and the query"),
	{ .name = "query", .args = { ARG_STR }, .out = SMP_STR, .use = REQUEST,
	  .fetch = fetch_query, .check = check_query, .syntax = "[with_qm]",
	  .help = "what follows the first '?'" },
	{ .name = "req.body_param", .args = { ARG_STR, ARG_STR }, .out = SMP_BIN, .use = REQUEST,
	  .fetch = fetch_body_param, .syntax = "[<name>[,i]]",
	  .help = "a parameter of the form in the body" },
	FETCH("req.proto_http", SMP_BOOL, EXPR_USE_HTTP_REQUEST, fetch_proto_http, "is it HTTP?"),
	FETCH("req.ver", SMP_STR, EXPR_USE_HTTP_REQUEST, fetch_version,
	      "the version of the request"),
	FETCH("req_proto_http", SMP_BOOL, EXPR_USE_HTTP_REQUEST, fetch_proto_http, "is it HTTP?"),
	FETCH("req_ver", SMP_STR, EXPR_USE_HTTP_REQUEST, fetch_version,
	      "the version of the request"),
	FETCH("res.ver", SMP_STR, EXPR_USE_HTTP_RESPONSE, fetch_response_version,
	      "the version of the response"),
	FETCH("resp_ver", SMP_STR, EXPR_USE_HTTP_RESPONSE, fetch_response_version,
	      "the version of the response"),
	FETCH("status", SMP_INT, EXPR_USE_HTTP_RESPONSE, fetch_status,
	      "the status of the response"),
	FETCH("txn.status", SMP_INT, EXPR_USE_HTTP_RESPONSE, fetch_txn_status,
	      "the status of the answer to the client"),
	PIECE("url", &request_url, "the whole target"),
	FETCH("url_ip", SMP_IPV4, REQUEST, fetch_url_ip, "the IPv4 address of the target"),
	PARAM("url_param", SMP_STR, fetch_param),
	FETCH("url_port", SMP_INT, REQUEST, fetch_url_port, "the port of the target"),
	{ .name = "url32", .out = SMP_INT, .use = REQUEST, .fetch = fetch_target_hash,
	  .data = &request_pathq, .help = "a hash of the first Host, the path and the query" },
	{ .name = "url32+src", .out = SMP_BIN, .use = REQUEST, .fetch = fetch_target_hash_src,
	  .data = &request_pathq, .help = "url32 and the client's address" },
	PARAM("urlp", SMP_STR, fetch_param),
	PARAM("urlp_val", SMP_INT, fetch_param_value),
	{ 0 }
};

/* name_beg, name_end...: the criteria made of a fetch. */
#define DERIVED(name, fetch) \
	{ name "_beg", fetch, PATTERN_BEG }, { name "_dir", fetch, PATTERN_DIR }, \
	{ name "_dom", fetch, PATTERN_DOM }, { name "_end", fetch, PATTERN_END }, \
	{ name "_len", fetch, PATTERN_LEN }, { name "_reg", fetch, PATTERN_REG }, \
	{ name "_sub", fetch, PATTERN_SUB }

static const struct expr_acl_keyword acl_keywords[] = {
	{ "base", "base", PATTERN_STR },
	DERIVED("base", "base"),
	{ "method", "method", PATTERN_METH },
	{ "path", "path", PATTERN_STR },
	DERIVED("path", "path"),
	{ "req_ver", "req.ver", PATTERN_STR },
	{ "resp_ver", "res.ver", PATTERN_STR },
	{ "url", "url", PATTERN_STR },
	DERIVED("url", "url"),
	{ "urlp", "urlp", PATTERN_STR },
	DERIVED("urlp", "urlp"),
	{ 0 }
};

const struct module mod_http_smp = {
	.name = "http-fetches", .fetches = fetches, .acl_keywords = acl_keywords,
};
