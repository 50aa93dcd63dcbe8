/* SPDX-License-Identifier: GPL-2.0-or-later */
/* field_smp.c - edge file: fetches that read the fields of a head
 *
 * req.hdr and similar fetches treat each comma-separated value as an occurrence, req.fhdr each
 * line. Occurrences are numbered from 1, or from the last one with negative numbers; 0 is the last
 * one, or each in turn where the caller iterates (ACLs). hdr reads the request or the response,
 * depending on where it is used.
 * Manual: configuration 7.3.6 req.hdr, req.fhdr, res.hdr.
 */
#include "stream/sample.h"

#include "codec/cookie.h"
#include "codec/uri.h"
#include "expr/pattern.h"

/* The oldest occurrence that can be asked for from the end. */
#define OCCURRENCE_MIN (-10)

/* What a fetch of this file looks at; its <data>. */
enum side { SIDE_REQUEST, SIDE_RESPONSE, SIDE_ANY };

struct field_source {
	enum side side;
	bool full;   /* whole lines, not comma-separated values */
};

static const struct field_source request_values = { SIDE_REQUEST, false };
static const struct field_source request_lines = { SIDE_REQUEST, true };
static const struct field_source response_values = { SIDE_RESPONSE, false };
static const struct field_source response_lines = { SIDE_RESPONSE, true };
static const struct field_source any_values = { SIDE_ANY, false };

/* A walk over the occurrences of a name, or of all names. */
struct walk {
	const struct http_fields *fields;
	struct slice name, rest; /* name none: all; rest none: take the next line */
	uint8_t id;
	bool full;
	int at;
};

static const struct http_msg *source_message(struct expr_ctx *ctx, const struct field_source *src,
					     enum expr_result *ret)
{
	if (src->side == SIDE_REQUEST ||
	    (src->side == SIDE_ANY && !(ctx->flags & EXPR_DIR_RESPONSE)))
		return smp_request(ctx, ret);
	return smp_response(ctx, ret);
}

static struct h1_field *walk_next_field(struct walk *w)
{
	unsigned i;

	if (w->name.ptr)
		return http_field_next(w->fields, &w->at, w->id, w->name);
	for (i = w->at + 1; i < w->fields->count; i++) {
		if (w->fields->list[i].name.ptr) {
			w->at = i;
			return &w->fields->list[i];
		}
	}
	return NULL;
}

/* Starts a walk; false: there is no message, see *ret. */
static bool walk_begin(struct walk *w, struct expr_ctx *ctx, const struct expr_arg *args,
		       enum expr_result *ret)
{
	const struct field_source *src = ctx->data;
	const struct http_msg *m = source_message(ctx, src, ret);

	if (!m)
		return false;
	*w = (struct walk){ .fields = &m->fields, .at = -1, .full = src->full };
	if (args[0].type == ARG_STR && args[0].text.len) {
		w->name = args[0].text;
		w->id = args[0].number;
	}
	return true;
}

static bool walk_next(struct walk *w, struct slice *out)
{
	struct h1_field *field;
	size_t len;

	if (!w->rest.ptr) {
		field = walk_next_field(w);
		if (!field)
			return false;
		w->rest = field->value.ptr ? field->value : SLICE("");
	}
	len = w->full ? w->rest.len : http_value_len(w->rest);
	*out = slice_trim(slice_sub(w->rest, 0, len));
	w->rest = len < w->rest.len ? slice_sub(w->rest, len + 1, w->rest.len) : slice_none();
	return true;
}

static unsigned walk_count(struct walk w)
{
	struct slice value;
	unsigned count = 0;

	while (walk_next(&w, &value))
		count++;
	return count;
}

static bool walk_last(struct walk w, struct slice *out)
{
	bool any = false;

	while (walk_next(&w, out))
		any = true;
	return any;
}

/* The occurrence of number <wanted>; 0 is the last. */
static bool walk_find(struct walk w, int64_t wanted, struct slice *out)
{
	if (!wanted)
		return walk_last(w, out);
	if (wanted < 0)
		wanted = (int64_t)walk_count(w) + wanted + 1;
	while (wanted > 0 && walk_next(&w, out)) {
		if (--wanted == 0)
			return true;
	}
	return false;
}

/* The next occurrence for a caller which iterates: the place is kept in the context. *last: there
 * is none behind it.
 */
static bool walk_iterate(struct walk *w, struct expr_ctx *ctx, struct slice *out, bool *last)
{
	w->at = (int)ctx->cursor[0] - 1;
	if (ctx->cursor[1])
		w->rest = slice_make((char *)(uintptr_t)ctx->cursor[1], ctx->cursor[2]);
	if (!walk_next(w, out))
		return false;
	ctx->cursor[0] = w->at + 1;
	ctx->cursor[1] = (uintptr_t)w->rest.ptr;
	ctx->cursor[2] = w->rest.len;
	*last = !w->rest.ptr && !walk_next_field(w);
	return true;
}

/* hdr and its kin: ([name[,occurrence]]) */
static enum expr_result fetch_field(struct expr_ctx *ctx, const struct expr_arg *args,
				    struct sample *out)
{
	int64_t wanted = args[0].type == ARG_STR && args[1].type == ARG_INT ? args[1].integer : 0;
	struct slice value = slice_none();
	enum expr_result ret = EXPR_NONE;
	bool last = false;
	struct walk w;

	if (!walk_begin(&w, ctx, args, &ret))
		return ret;
	if (wanted == 0 && !w.name.ptr && !(ctx->flags & EXPR_ITERATE))
		return EXPR_NONE; /* the last of all fields means nothing */
	if (wanted == 0 && (ctx->flags & EXPR_ITERATE)) {
		if (!walk_iterate(&w, ctx, &value, &last))
			return EXPR_NONE;
		smp_give_text(out, value.ptr ? value : SLICE(""));
		if (!last)
			out->flags |= SMP_NOT_LAST;
		return EXPR_FOUND;
	}
	if (!walk_find(w, wanted, &value))
		return EXPR_NONE;
	return smp_give_text(out, value.ptr ? value : SLICE(""));
}

static enum expr_result fetch_field_value(struct expr_ctx *ctx, const struct expr_arg *args,
					  struct sample *out)
{
	enum expr_result ret = fetch_field(ctx, args, out);

	return ret == EXPR_FOUND ? smp_text_to_int(out) : ret;
}

/* An address, an IPv6 one maybe in brackets; only an IPv4 one may have a port. */
static bool field_ip(struct slice text, struct addr *a)
{
	struct slice host, port_text;
	uint16_t port;

	if (addr_parse_ip(text, 0, a))
		return true;
	if (text.len > 2 && text.ptr[0] == '[' && text.ptr[text.len - 1] == ']')
		return addr_parse_ip(slice_sub(text, 1, text.len - 1), ADDR_INET6, a);
	return uri_parse_host(text, &host, &port_text, &port) && port_text.len &&
	       addr_parse_ip(host, ADDR_INET, a);
}

/* hdr_ip: values which are no address are skipped where the caller iterates */
static enum expr_result fetch_field_ip(struct expr_ctx *ctx, const struct expr_arg *args,
				       struct sample *out)
{
	enum expr_result ret;
	unsigned not_last;
	struct addr a;

	while ((ret = fetch_field(ctx, args, out)) == EXPR_FOUND) {
		not_last = out->flags & SMP_NOT_LAST;
		if (field_ip(out->text, &a)) {
			ret = smp_give_addr(out, &a);
			out->flags |= not_last;
			return ret;
		}
		if (!not_last)
			return EXPR_NONE;
	}
	return ret;
}

/* hdr_cnt */
static enum expr_result fetch_field_count(struct expr_ctx *ctx, const struct expr_arg *args,
					  struct sample *out)
{
	enum expr_result ret = EXPR_NONE;
	struct walk w;

	return walk_begin(&w, ctx, args, &ret) ? smp_give_int(out, walk_count(w)) : ret;
}

/* The delimiter argument of functions that list names: the first character of a longer word, as in
 * 3.4.
 */
static struct slice delimiter_of(const struct expr_arg *arg)
{
	return arg->type == ARG_STR && arg->text.len ? slice_make(arg->text.ptr, 1) : SLICE(",");
}

static enum expr_result fetch_field_names(struct expr_ctx *ctx, const struct expr_arg *args,
					  struct sample *out)
{
	struct slice delimiter = delimiter_of(&args[0]);
	enum expr_result ret = EXPR_NONE;
	const struct http_msg *m = source_message(ctx, ctx->data, &ret);
	size_t size = 1;
	char *text, *at;
	unsigned i;

	if (!m)
		return ret;
	for (i = 0; i < m->fields.count; i++)
		size += m->fields.list[i].name.len + delimiter.len;
	text = at = arena_alloc(ctx->arena, size);
	for (i = 0; text && i < m->fields.count; i++) {
		struct slice name = m->fields.list[i].name;

		if (!name.ptr)
			continue;
		if (at != text)
			at = mempcpy(at, delimiter.ptr, delimiter.len);
		at = mempcpy(at, name.ptr, name.len);
	}
	return text ? smp_give_text(out, slice_make(text, at - text)) : EXPR_NONE;
}

static bool check_field(struct conf_line *l, struct expr_arg *args, const char **error)
{
	if (args[0].type == ARG_STR && args[1].type == ARG_INT &&
	    args[1].integer < OCCURRENCE_MIN) {
		*error = "header occurrence must be >= -10";
		return false;
	}
	if (args[0].type == ARG_STR)
		args[0].number = http_field_id(args[0].text);
	return true;
}

/* --- cookies ------------------------------------------------------------------------------ */

static enum expr_result cookie_sample(struct expr_ctx *ctx, const struct expr_arg *args,
				      struct sample *out, unsigned *count)
{
	const struct field_source *src = ctx->data;
	struct slice wanted = args[0].type == ARG_STR ? args[0].text : slice_none();
	enum expr_result ret = EXPR_NONE;
	const struct http_msg *m = source_message(ctx, src, &ret);
	bool response = m && (m->flags & HTTP_MSG_RESPONSE), found = false;
	uint8_t id = response ? FIELD_SET_COOKIE : FIELD_COOKIE;
	struct slice list, attributes;
	struct h1_field *field;
	struct cookie c;
	int at = -1;

	if (!m)
		return ret;
	*count = 0;
	while ((field = http_field_next(&m->fields, &at, id, slice_none())) != NULL) {
		list = field->value;
		while (response ? list.len && cookie_parse_set(list, &c, &attributes) :
		       cookie_next(&list, &c)) {
			if (response)
				list = slice_none();
			if (!c.value.ptr || (wanted.len && !slice_eq(c.name, wanted)))
				continue;
			++*count;
			if (!found || wanted.len || (ctx->flags & EXPR_ITERATE))
				smp_give_text(out, c.value);
			found = true;
			/* a caller which iterates gets each in turn; another one the last of that
			 * name, or the first of all
			 */
			if ((ctx->flags & EXPR_ITERATE) && *count > ctx->cursor[0]) {
				ctx->cursor[0] = *count;
				out->flags |= SMP_NOT_LAST;
				return EXPR_FOUND;
			}
		}
	}
	return found && !(ctx->flags & EXPR_ITERATE) ? EXPR_FOUND : EXPR_NONE;
}

/* <names>, the delimiter unless it is the first, and one more. */
static struct slice names_add(struct expr_ctx *ctx, struct slice names, struct slice delimiter,
			      struct slice name)
{
	if (!names.ptr)
		delimiter = SLICE("");
	return slice_of(arena_printf(ctx->arena, "%.*s%.*s%.*s", SLICE_FMT(names),
				     SLICE_FMT(delimiter), SLICE_FMT(name)));
}

/* cook_names([<delimiter>]) */
static enum expr_result fetch_cookie_names(struct expr_ctx *ctx, const struct expr_arg *args,
					   struct sample *out)
{
	struct slice delimiter = delimiter_of(&args[0]);
	struct slice names = slice_none(), list, attributes;
	enum expr_result ret = EXPR_NONE;
	const struct http_msg *m = source_message(ctx, ctx->data, &ret);
	bool response = m && (m->flags & HTTP_MSG_RESPONSE);
	uint8_t id = response ? FIELD_SET_COOKIE : FIELD_COOKIE;
	struct h1_field *field;
	struct cookie c;
	int at = -1;

	if (!m)
		return ret;
	while ((field = http_field_next(&m->fields, &at, id, slice_none())) != NULL) {
		/* what has no '=' has no value, and is no cookie to the other fetches either */
		if (response && cookie_parse_set(field->value, &c, &attributes) && c.value.ptr)
			names = names_add(ctx, names, delimiter, c.name);
		list = response ? slice_none() : field->value;
		while (cookie_next(&list, &c))
			if (c.value.ptr)
				names = names_add(ctx, names, delimiter, c.name);
	}
	return smp_give_text(out, names.ptr ? names : SLICE(""));
}

static enum expr_result fetch_cookie(struct expr_ctx *ctx, const struct expr_arg *args,
				     struct sample *out)
{
	unsigned count;

	return cookie_sample(ctx, args, out, &count);
}

static enum expr_result fetch_cookie_value(struct expr_ctx *ctx, const struct expr_arg *args,
					   struct sample *out)
{
	enum expr_result ret = fetch_cookie(ctx, args, out);

	return ret == EXPR_FOUND ? smp_text_to_int(out) : ret;
}

static enum expr_result fetch_cookie_count(struct expr_ctx *ctx, const struct expr_arg *args,
					   struct sample *out)
{
	unsigned flags = ctx->flags, count = 0;
	enum expr_result ret;

	if (!source_message(ctx, ctx->data, &ret))
		return ret;
	ctx->flags &= ~EXPR_ITERATE;
	cookie_sample(ctx, args, out, &count);
	ctx->flags = flags;
	return smp_give_int(out, count);
}

#define HEAD_REQ EXPR_USE_HTTP_REQUEST_VOLATILE
#define HEAD_RES EXPR_USE_HTTP_RESPONSE_VOLATILE
#define FIELD(n, type, uses, source, function) \
	{ .name = n, .args = { ARG_STR, ARG_INT }, .out = type, .use = uses, .fetch = function, \
	  .check = check_field, .data = source, .syntax = "[<name>[,<occurrence>]]", \
	  .help = "a field of the message" }
#define COUNT(n, uses, source, function, text) \
	{ .name = n, .args = { ARG_STR }, .out = SMP_INT, .use = uses, .fetch = function, \
	  .check = check_field, .data = source, .syntax = "[<name>]", .help = text }
#define NAMES(n, uses, source) \
	{ .name = n, .args = { ARG_STR }, .out = SMP_STR, .use = uses, .fetch = fetch_field_names, \
	  .data = source, .syntax = "[<delimiter>]", .help = "the names of all fields" }
#define COOKIE(n, uses, source) \
	{ .name = n, .args = { ARG_STR }, .out = SMP_STR, .use = uses, .fetch = fetch_cookie, \
	  .data = source, .syntax = "[<name>]", .help = "a cookie" }
#define COOKIE_VALUE(n, uses, source) \
	{ .name = n, .args = { ARG_STR }, .out = SMP_INT, .use = uses, \
	  .fetch = fetch_cookie_value, \
	  .data = source, .syntax = "[<name>]", .help = "a cookie" }
#define HELP_COUNT "how many there are"

static const struct expr_fetch fetches[] = {
	COOKIE("cook", HEAD_REQ, &request_values),
	COUNT("cook_cnt", HEAD_REQ, &request_values, fetch_cookie_count, HELP_COUNT),
	COOKIE_VALUE("cook_val", HEAD_REQ, &request_values),
	COOKIE("cookie", HEAD_REQ | HEAD_RES, &any_values),
	FIELD("hdr", SMP_STR, HEAD_REQ | HEAD_RES, &any_values, fetch_field),
	COUNT("hdr_cnt", HEAD_REQ, &any_values, fetch_field_count, HELP_COUNT),
	FIELD("hdr_ip", SMP_ADDR, HEAD_REQ, &any_values, fetch_field_ip),
	FIELD("hdr_val", SMP_INT, HEAD_REQ, &any_values, fetch_field_value),
	COOKIE("req.cook", HEAD_REQ, &request_values),
	COUNT("req.cook_cnt", HEAD_REQ, &request_values, fetch_cookie_count, HELP_COUNT),
	COOKIE_VALUE("req.cook_val", HEAD_REQ, &request_values),
	{ .name = "req.cook_names", .args = { ARG_STR }, .out = SMP_STR, .use = HEAD_REQ,
	  .fetch = fetch_cookie_names, .data = &request_values, .syntax = "[<delimiter>]",
	  .help = "the names of all cookies" },
	FIELD("req.fhdr", SMP_STR, HEAD_REQ, &request_lines, fetch_field),
	COUNT("req.fhdr_cnt", HEAD_REQ, &request_lines, fetch_field_count, HELP_COUNT),
	FIELD("req.hdr", SMP_STR, HEAD_REQ, &request_values, fetch_field),
	COUNT("req.hdr_cnt", HEAD_REQ, &request_values, fetch_field_count, HELP_COUNT),
	FIELD("req.hdr_ip", SMP_ADDR, HEAD_REQ, &request_values, fetch_field_ip),
	NAMES("req.hdr_names", HEAD_REQ, &request_values),
	FIELD("req.hdr_val", SMP_INT, HEAD_REQ, &request_values, fetch_field_value),
	COOKIE("res.cook", HEAD_RES, &response_values),
	COUNT("res.cook_cnt", HEAD_RES, &response_values, fetch_cookie_count, HELP_COUNT),
	COOKIE_VALUE("res.cook_val", HEAD_RES, &response_values),
	{ .name = "res.cook_names", .args = { ARG_STR }, .out = SMP_STR, .use = HEAD_RES,
	  .fetch = fetch_cookie_names, .data = &response_values, .syntax = "[<delimiter>]",
	  .help = "the names of all cookies" },
	FIELD("res.fhdr", SMP_STR, HEAD_RES, &response_lines, fetch_field),
	COUNT("res.fhdr_cnt", HEAD_RES, &response_lines, fetch_field_count, HELP_COUNT),
	FIELD("res.hdr", SMP_STR, HEAD_RES, &response_values, fetch_field),
	COUNT("res.hdr_cnt", HEAD_RES, &response_values, fetch_field_count, HELP_COUNT),
	FIELD("res.hdr_ip", SMP_ADDR, HEAD_RES, &response_values, fetch_field_ip),
	NAMES("res.hdr_names", HEAD_RES, &response_values),
	FIELD("res.hdr_val", SMP_INT, HEAD_RES, &response_values, fetch_field_value),
	COOKIE("scook", HEAD_RES, &response_values),
	COUNT("scook_cnt", HEAD_RES, &response_values, fetch_cookie_count, HELP_COUNT),
	COOKIE_VALUE("scook_val", HEAD_RES, &response_values),
	FIELD("shdr", SMP_STR, HEAD_RES, &response_values, fetch_field),
	COUNT("shdr_cnt", HEAD_RES, &response_values, fetch_field_count, HELP_COUNT),
	FIELD("shdr_ip", SMP_ADDR, HEAD_RES, &response_values, fetch_field_ip),
	FIELD("shdr_val", SMP_INT, HEAD_RES, &response_values, fetch_field_value),
	{ 0 }
};

#define DERIVED(name, fetch) \
	{ name, fetch, PATTERN_STR }, \
	{ name "_beg", fetch, PATTERN_BEG }, { name "_dir", fetch, PATTERN_DIR }, \
	{ name "_dom", fetch, PATTERN_DOM }, { name "_end", fetch, PATTERN_END }, \
	{ name "_len", fetch, PATTERN_LEN }, { name "_reg", fetch, PATTERN_REG }, \
	{ name "_sub", fetch, PATTERN_SUB }

static const struct expr_acl_keyword acl_keywords[] = {
	DERIVED("cook", "req.cook"),
	DERIVED("hdr", "req.hdr"),
	DERIVED("scook", "res.cook"),
	DERIVED("shdr", "res.hdr"),
	{ 0 }
};

const struct module mod_field_smp = {
	.name = "field-fetches", .fetches = fetches, .acl_keywords = acl_keywords,
};
