/* SPDX-License-Identifier: GPL-2.0-or-later */
/* headers_bin_act.c - edge file: actions that edit many fields at once, from one binary text
 *
 * add-headers-bin, set-headers-bin: names and values, each after its length (codec/varint.h), up to
 * an empty name with an empty value: the format of req.hdrs_bin. del-headers-bin: names, up to an
 * empty one. A truncated text is an error of the rule at the place where it ends: the fields before
 * it have been applied. So is a name or a value that would make another message on the wire.
 * Manual: configuration 4.4.
 */
#include <string.h>
#include "codec/varint.h"
#include "stream/action.h"

enum match_kind { MATCH_STR, MATCH_BEG, MATCH_END, MATCH_SUB };

struct bin_edit {
	const struct expr *expr;
	struct slice prefix;     /* of the names to take, letter by letter */
	enum match_kind match;   /* del-headers-bin -m */
	bool replace;            /* set-headers-bin */
};

/* --- parsing ------------------------------------------------------------------------------ */

static struct bin_edit *bin_edit_take(struct conf_line *l, struct rule *r, const char *missing)
{
	struct bin_edit *e = arena_zalloc(&l->cfg->arena, sizeof(*e));

	if (!e) {
		rule_no_memory(l, r);
		return NULL;
	}
	r->data = e;
	if (rule_at_end(l) || !*conf_peek(l)) {
		rule_error(l, r, l->at, "%s", missing);
		return NULL;
	}
	e->expr = expr_take(l, rule_phases(r->proxy, r->set));
	if (!e->expr)
		return NULL;
	if (!sample_can_cast(expr_type(e->expr), SMP_BIN)) {
		rule_error(l, r, l->at - 1, "expects a binary expression, '%s' is none",
			   l->words[l->at - 1]);
		return NULL;
	}
	return e;
}

/* <expr> [prefix <str>] */
static bool put_parse(struct conf_line *l, struct rule *r, bool replace)
{
	struct bin_edit *e = bin_edit_take(l, r, "expects exactly one argument or three arguments "
					   "<headers> prefix <pfx>");
	const char *word;

	if (!e)
		return false;
	e->replace = replace;
	if (rule_at_end(l) || strcmp(conf_peek(l), "prefix") != 0)
		return true;
	l->at++;
	if (rule_at_end(l))
		return rule_error(l, r, l->at, "expects 1 argument: <headers>; or 3 arguments: "
				  "<headers> prefix <pfx>");
	word = conf_strdup(l->cfg, conf_next(l));
	if (!word)
		return rule_no_memory(l, r);
	e->prefix = slice_of(word);
	return true;
}

static bool add_headers_parse(struct conf_line *l, struct rule *r)
{
	return put_parse(l, r, false);
}

static bool set_headers_parse(struct conf_line *l, struct rule *r)
{
	return put_parse(l, r, true);
}

/* <expr> [-m <method>] */
static bool del_headers_parse(struct conf_line *l, struct rule *r)
{
	static const char *const methods[] = {
		[MATCH_STR] = "str", [MATCH_BEG] = "beg", [MATCH_END] = "end", [MATCH_SUB] = "sub",
	};
	struct bin_edit *e = bin_edit_take(l, r, "expects at least 1 argument");
	const char *word;

	if (!e)
		return false;
	if (rule_at_end(l) || strcmp(conf_peek(l), "-m") != 0)
		return true;
	l->at++;
	if (rule_at_end(l))
		return rule_error(l, r, l->at, "-m flag expects exactly 1 argument");
	word = conf_next(l);
	for (unsigned i = 0; i < ARRAY_LEN(methods); i++) {
		if (strcmp(word, methods[i]) == 0) {
			e->match = i;
			return true;
		}
	}
	if (strcmp(word, "reg") == 0)
		return rule_error(l, r, l->at - 1, "-m reg is unsupported with del-headers-bin due "
				  "to performance reasons");
	return rule_error(l, r, l->at - 1, "-m with unsupported matching method '%s'", word);
}

/* --- work --------------------------------------------------------------------------------- */

/* The text behind its length; false: it is cut. */
static bool text_take(struct slice *in, struct slice *out)
{
	uint64_t len;

	if (varint_take(in, &len) != VARINT_TAKEN || len > in->len)
		return false;
	*out = slice_sub(*in, 0, len);
	*in = slice_sub(*in, len, in->len);
	return true;
}

/* May it be a value? What ends a line or a text would be read as something else by the next. */
static bool is_value(struct slice value)
{
	for (size_t i = 0; i < value.len; i++)
		if (value.ptr[i] == '\r' || value.ptr[i] == '\n' || !value.ptr[i])
			return false;
	return true;
}

static bool put_one(const struct bin_edit *e, struct http_msg *m, struct slice name,
		    struct slice value)
{
	if (!h1_is_token(name) || !is_value(value))
		return false;
	return (e->replace ? http_msg_set_field : http_msg_add_field)(m, name, value) &&
	       http_msg_target_follows(m, http_field_id(name), value);
}

/* What became of a list: the log has P for one that is wrong, I for one whose end is missing. */
enum list_end { LIST_DONE, LIST_BAD, LIST_WITHOUT_END };

static enum list_end put_all(const struct bin_edit *e, struct http_msg *m, struct slice list)
{
	struct slice name, value;

	while (list.len) {
		if (!text_take(&list, &name) || !text_take(&list, &value))
			return LIST_BAD;
		if (!name.len)
			return value.len ? LIST_BAD : LIST_DONE;
		if (slice_starts(name, e->prefix) && !put_one(e, m, name, value))
			return LIST_BAD;
	}
	return LIST_WITHOUT_END;
}

static bool del_matches(const struct bin_edit *e, struct slice field, struct slice name)
{
	switch (e->match) {
	case MATCH_BEG:
		return slice_starts(field, name);
	case MATCH_END:
		return slice_ends(field, name);
	case MATCH_SUB:
		return slice_find(field, name) != SIZE_MAX;
	default:
		return slice_eq(field, name);
	}
}

static struct slice lower_copy(struct arena *arena, struct slice name)
{
	char *copy = arena_alloc(arena, name.len);

	for (size_t i = 0; copy && i < name.len; i++)
		copy[i] = ascii_lower(name.ptr[i]);
	return copy ? slice_make(copy, name.len) : slice_none();
}

static enum list_end del_all(const struct bin_edit *e, struct http_msg *m, struct slice list)
{
	struct slice name;

	while (list.len) {
		if (!text_take(&list, &name))
			return LIST_BAD;
		if (!name.len)
			return LIST_DONE;
		name = lower_copy(m->arena, name);
		if (!name.ptr)
			return LIST_BAD;
		for (unsigned i = 0; i < m->fields.count; i++) {
			struct h1_field *field = &m->fields.list[i];

			if (field->name.ptr && del_matches(e, field->name, name))
				http_msg_drop_field(m, field);
		}
	}
	return LIST_WITHOUT_END;
}

/* No value: nothing to do. */
static enum rule_result bin_run(const struct rule *r, struct expr_ctx *ctx,
				enum list_end (*work)(const struct bin_edit *e,
						      struct http_msg *m, struct slice list))
{
	const struct bin_edit *e = r->data;
	struct sample value;
	enum expr_result ret;
	enum list_end end;

	if (r->set != RULES_HTTP_AFTER)
		ctx->flags |= EXPR_MAY_WAIT;
	ret = expr_eval(e->expr, ctx, &value);
	ctx->flags &= ~EXPR_MAY_WAIT;
	if (ret == EXPR_WAIT)
		return RULE_WAIT;
	if (ret != EXPR_FOUND)
		return RULE_CONTINUE;
	if (!sample_cast(&value, SMP_BIN, ctx->arena))
		return rule_rewrite_failed(ctx->stream);
	end = work(e, rule_message(r, ctx->stream), value.text);
	if (end == LIST_WITHOUT_END)
		return RULE_ERROR; /* with strict-mode off, too */
	return end == LIST_DONE ? RULE_CONTINUE : rule_rewrite_failed(ctx->stream);
}

static enum rule_result put_run(const struct rule *r, struct expr_ctx *ctx, bool *first)
{
	return bin_run(r, ctx, put_all);
}

static enum rule_result del_run(const struct rule *r, struct expr_ctx *ctx, bool *first)
{
	return bin_run(r, ctx, del_all);
}

#define HTTP_ALL \
	(RULES_BIT(RULES_HTTP_REQUEST) | RULES_BIT(RULES_HTTP_RESPONSE) | \
	 RULES_BIT(RULES_HTTP_AFTER))
#define ACTION(name, parser, runner, what, text) \
	{ .words = name, .rulesets = HTTP_ALL, .parse = parser, .run = runner, .syntax = what, \
	  .help = text }

static const struct rule_action actions[] = {
	ACTION("add-headers-bin", add_headers_parse, put_run, "<expr> [prefix <str>]",
	       "add the fields that a binary text lists, as req.hdrs_bin does"),
	ACTION("del-headers-bin", del_headers_parse, del_run, "<expr> [-m {str|beg|end|sub}]",
	       "delete the fields whose names a binary text lists"),
	ACTION("set-headers-bin", set_headers_parse, put_run, "<expr> [prefix <str>]",
	       "set the fields that a binary text lists, replacing those of their names"),
	{ 0 }
};

const struct module mod_headers_bin_act = { .name = "headers-bin-actions", .actions = actions };
