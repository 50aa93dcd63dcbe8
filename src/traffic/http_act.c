/* SPDX-License-Identifier: GPL-2.0-or-later */
/* http_act.c - edge file: actions that edit a message: fields, method, target, status
 *
 * Texts are built in the stream's arena, or are constants of the configuration and are not copied.
 * A rewrite that cannot be done (memory, or a result that would not be valid on the wire) is an
 * error of the rule unless strict-mode is off.
 * Manual: configuration 4.4.
 */
#include "stream/action.h"

#include <stdlib.h>
#include "base/block.h"
#include "base/bug.h"
#include "base/regex.h"

enum match_kind { MATCH_STR, MATCH_BEG, MATCH_END, MATCH_SUB, MATCH_REG };

struct edit {
	struct slice name;       /* of the field, lower case */
	uint8_t id;
	enum match_kind match;   /* del-header -m */
	struct regex *regex;     /* of the proxy */
	struct rule_text text;
	unsigned status;         /* set-status */
	struct slice reason;
};

/* What part of the request a target action replaces. */
struct target_part {
	struct slice (*get)(const struct http_msg *m);
	bool (*set)(struct http_msg *m, struct slice text);
};

/* --- parsing ------------------------------------------------------------------------------ */

static struct edit *edit_new(struct conf_line *l, struct rule *r)
{
	struct edit *e = arena_zalloc(&l->cfg->arena, sizeof(*e));

	if (!e)
		rule_no_memory(l, r);
	r->data = e;
	return e;
}

/* How many words stand before the end or the condition. */
static int edit_words(const struct conf_line *l)
{
	int at = l->at;

	while (at < l->count && strcmp(l->words[at], "if") != 0 &&
	       strcmp(l->words[at], "unless") != 0)
		at++;
	return at - l->at;
}

static bool edit_set_name(struct conf_line *l, struct rule *r, struct edit *e, bool checked)
{
	e->name = rule_take_name(l, r, !checked);
	if (slice_is_none(e->name))
		return false;
	e->id = http_field_id(e->name);
	return true;
}

static bool edit_take_text(struct conf_line *l, struct rule *r, struct edit *e)
{
	if (!rule_text_parse(l, conf_peek(l), rule_phases(r->proxy, r->set), LOGFORMAT_HTTP,
			     &e->text))
		return false;
	l->at++;
	return true;
}

static bool edit_take_regex(struct conf_line *l, struct rule *r, struct edit *e)
{
	e->regex = rule_regex_new(l, r, l->at, 0);
	l->at++;
	return e->regex != NULL;
}

/* set-header, add-header <name> <fmt> */
static bool header_parse(struct conf_line *l, struct rule *r)
{
	struct edit *e = edit_new(l, r);

	if (!e)
		return false;
	if (edit_words(l) < 2 || !*conf_peek(l))
		return rule_error(l, r, l->at, "expects exactly 2 arguments");
	return edit_set_name(l, r, e, true) && edit_take_text(l, r, e);
}

static bool del_header_take_method(struct conf_line *l, struct rule *r, struct edit *e)
{
	static const char *const methods[] = {
		[MATCH_STR] = "str", [MATCH_BEG] = "beg", [MATCH_END] = "end", [MATCH_SUB] = "sub",
		[MATCH_REG] = "reg",
	};
	const char *word;
	unsigned i;

	l->at++;
	word = conf_peek(l);
	if (!word || rule_at_end(l))
		return rule_error(l, r, l->at, "-m flag expects exactly 1 argument");
	for (i = 0; i < ARRAY_LEN(methods); i++) {
		if (strcmp(word, methods[i]) == 0) {
			e->match = i;
			l->at++;
			return true;
		}
	}
	return rule_error(l, r, l->at, "-m with unsupported matching method '%s'", word);
}

/* del-header <name> [-m <method>] */
static bool del_header_parse(struct conf_line *l, struct rule *r)
{
	struct edit *e = edit_new(l, r);
	int at = l->at;

	if (!e)
		return false;
	if (edit_words(l) < 1 || !*conf_peek(l))
		return rule_error(l, r, l->at, "expects at least 1 argument");
	if (!edit_set_name(l, r, e, false))
		return false;
	if (conf_peek(l) && strcmp(conf_peek(l), "-m") == 0 && !del_header_take_method(l, r, e))
		return false;
	if (e->match != MATCH_REG)
		return true;
	/* names are in lower case: a letter in upper case matches none */
	e->regex = rule_regex_new(l, r, at, 0);
	return e->regex != NULL;
}

/* replace-header, replace-value <name> <regex> <fmt> */
static bool replace_header_parse(struct conf_line *l, struct rule *r)
{
	struct edit *e = edit_new(l, r);

	if (!e)
		return false;
	if (edit_words(l) < 3 || !*conf_peek(l))
		return rule_error(l, r, l->at, "expects exactly 3 arguments");
	return edit_set_name(l, r, e, false) && edit_take_regex(l, r, e) && edit_take_text(l, r, e);
}

/* set-path, set-method... <fmt> */
static bool target_parse(struct conf_line *l, struct rule *r)
{
	struct edit *e = edit_new(l, r);

	if (!e)
		return false;
	if (edit_words(l) != 1)
		return rule_error(l, r, l->at, "expects exactly 1 argument <format>");
	return edit_take_text(l, r, e);
}

/* replace-path, replace-pathq, replace-uri <regex> <fmt> */
static bool target_replace_parse(struct conf_line *l, struct rule *r)
{
	struct edit *e = edit_new(l, r);

	if (!e)
		return false;
	if (edit_words(l) != 2 || !*conf_peek(l))
		return rule_error(l, r, l->at, "expects exactly 2 arguments <match-regex> and "
				  "<replace-format>");
	return edit_take_regex(l, r, e) && edit_take_text(l, r, e);
}

/* set-status <status> [reason <text>] */
static bool status_parse(struct conf_line *l, struct rule *r)
{
	struct edit *e = edit_new(l, r);
	char *end;
	long status;

	if (!e)
		return false;
	if (edit_words(l) < 1)
		return rule_error(l, r, l->at, "expects 1 argument: <status>; or 3 arguments: "
				  "<status> reason <fmt>");
	status = strtol(conf_peek(l), &end, 10);
	if (*end || status < 100 || status > 999)
		return rule_error(l, r, l->at,
				  "expects an integer status code between 100 and 999");
	l->at++;
	e->status = status;
	if (conf_peek(l) && strcmp(conf_peek(l), "reason") == 0 && l->at + 1 < l->count) {
		e->reason = slice_of(l->words[l->at + 1]);
		if (strpbrk(e->reason.ptr, "\r\n"))
			return rule_error(l, r, l->at + 1, "a reason cannot hold line breaks");
		l->at += 2;
	}
	return true;
}

static bool strict_mode_parse(struct conf_line *l, struct rule *r)
{
	const char *word = conf_peek(l);

	if (!word || rule_at_end(l))
		return rule_error(l, r, l->at, "expects exactly 1 arguments");
	if (strcmp(word, "on") != 0 && strcmp(word, "off") != 0)
		return rule_error(l, r, l->at, "Unexpected value '%s'. Only 'on' and 'off' are "
				  "supported", word);
	r->number = strcmp(word, "off") == 0;
	l->at++;
	return true;
}

/* --- fields ------------------------------------------------------------------------------- */

static enum rule_result edit_result(struct stream *s, bool good)
{
	return good ? RULE_CONTINUE : rule_rewrite_failed(s);
}

/* Adds the field; a request's Host is also in an absolute target. */
static bool header_put(const struct edit *e, struct http_msg *m, struct slice value)
{
	return http_msg_put_field(m, e->id, e->name, value) &&
	       http_msg_target_follows(m, e->id, value);
}

static enum rule_result set_header_run(const struct rule *r, struct expr_ctx *ctx, bool *first)
{
	struct http_msg *m = rule_message(r, ctx->stream);
	const struct edit *e = r->data;
	struct slice value = rule_text_make(&e->text, ctx);

	if (!value.ptr || !http_fields_reserve(&m->fields, m->arena, 1))
		return rule_rewrite_failed(ctx->stream);
	http_msg_del_field_of(m, e->id, e->name);
	return edit_result(ctx->stream, header_put(e, m, value));
}

static enum rule_result add_header_run(const struct rule *r, struct expr_ctx *ctx, bool *first)
{
	struct http_msg *m = rule_message(r, ctx->stream);
	const struct edit *e = r->data;
	struct slice value = rule_text_make(&e->text, ctx);

	return edit_result(ctx->stream, value.ptr && header_put(e, m, value));
}

static bool del_header_matches(const struct edit *e, struct slice name)
{
	switch (e->match) {
	case MATCH_BEG:
		return slice_starts(name, e->name);
	case MATCH_END:
		return slice_ends(name, e->name);
	case MATCH_SUB:
		return slice_find(name, e->name) != SIZE_MAX;
	case MATCH_REG:
		return regex_match(e->regex, name);
	default:
		return slice_eq(name, e->name);
	}
}

static enum rule_result del_header_run(const struct rule *r, struct expr_ctx *ctx, bool *first)
{
	struct http_msg *m = rule_message(r, ctx->stream);
	const struct edit *e = r->data;
	unsigned i;

	if (e->match == MATCH_STR) {
		http_msg_del_field_of(m, e->id, e->name);
		return RULE_CONTINUE;
	}
	for (i = 0; i < m->fields.count; i++) {
		struct h1_field *field = &m->fields.list[i];

		if (field->name.ptr && del_header_matches(e, field->name))
			http_msg_drop_field(m, field);
	}
	return RULE_CONTINUE;
}

/* Rewrites the fields that the rule names, or with <elements> the values between their commas. */
static enum rule_result replace_run(const struct rule *r, struct expr_ctx *ctx, bool elements)
{
	struct http_msg *m = rule_message(r, ctx->stream);
	const struct edit *e = r->data;
	struct slice format;
	int at = -1;

	if (!http_field_next(&m->fields, &at, e->id, e->name))
		return RULE_CONTINUE;
	format = rule_text_make(&e->text, ctx);
	return edit_result(ctx->stream, format.ptr && http_msg_replace(m, e->id, e->name, e->regex,
								      format, elements));
}

static enum rule_result replace_header_run(const struct rule *r, struct expr_ctx *ctx, bool *first)
{
	return replace_run(r, ctx, false);
}

static enum rule_result replace_value_run(const struct rule *r, struct expr_ctx *ctx, bool *first)
{
	return replace_run(r, ctx, true);
}

/* --- start line --------------------------------------------------------------------------- */

static struct slice target_uri(const struct http_msg *m)
{
	return m->uri;
}

static const struct target_part part_path = { http_msg_path, http_msg_set_path };
static const struct target_part part_pathq = { http_msg_pathq, http_msg_set_pathq };
static const struct target_part part_query = { http_msg_query, http_msg_set_query };
static const struct target_part part_uri = { target_uri, http_msg_set_uri };

static const struct target_part *target_part_of(const struct rule *r)
{
	static const struct {
		const char *name;
		const struct target_part *part;
	} parts[] = {
		{ "path", &part_path }, { "pathq", &part_pathq }, { "query", &part_query },
		{ "uri", &part_uri },
	};
	const char *name = strchr(r->action->words, '-') + 1;
	unsigned i;

	for (i = 0; i < ARRAY_LEN(parts); i++) {
		if (strcmp(parts[i].name, name) == 0)
			return parts[i].part;
	}
	return &part_uri;
}

/* May these bytes stand in a request target? A blank would end it, and what follows would be read
 * as something else by the server.
 */
static bool target_is_safe(struct slice text)
{
	size_t i;

	for (i = 0; i < text.len; i++) {
		if ((unsigned char)text.ptr[i] <= ' ' || text.ptr[i] == 0x7f)
			return false;
	}
	return true;
}

static enum rule_result target_set_run(const struct rule *r, struct expr_ctx *ctx, bool *first)
{
	struct http_msg *m = rule_message(r, ctx->stream);
	const struct edit *e = r->data;
	struct slice text = rule_text_make(&e->text, ctx);

	return edit_result(ctx->stream, text.ptr && target_is_safe(text) &&
			   target_part_of(r)->set(m, text));
}

static enum rule_result target_replace_run(const struct rule *r, struct expr_ctx *ctx, bool *first)
{
	struct http_msg *m = rule_message(r, ctx->stream);
	const struct target_part *part = target_part_of(r);
	const struct edit *e = r->data;
	struct slice format = rule_text_make(&e->text, ctx), old = part->get(m);
	bool good = format.ptr != NULL;
	struct strbuf out;

	if (!old.ptr)
		return RULE_CONTINUE;
	strbuf_init(&out);
	if (good && http_replace_text(e->regex, format, old, &out, &good) && good)
		good = target_is_safe(strbuf_slice(&out)) && part->set(m, strbuf_slice(&out));
	strbuf_fini(&out);
	return edit_result(ctx->stream, good);
}

static enum rule_result set_method_run(const struct rule *r, struct expr_ctx *ctx, bool *first)
{
	const struct edit *e = r->data;
	struct slice text = rule_text_make(&e->text, ctx);

	return edit_result(ctx->stream, text.ptr && h1_is_token(text) &&
			   http_msg_set_method(rule_message(r, ctx->stream), text));
}

static enum rule_result set_status_run(const struct rule *r, struct expr_ctx *ctx, bool *first)
{
	const struct edit *e = r->data;

	return edit_result(ctx->stream, http_msg_set_status(rule_message(r, ctx->stream), e->status,
							    e->reason));
}

static enum rule_result strict_mode_run(const struct rule *r, struct expr_ctx *ctx, bool *first)
{
	ctx->stream->rule.lax = r->number;
	return RULE_CONTINUE;
}

#define HTTP_REQ RULES_BIT(RULES_HTTP_REQUEST)
#define HTTP_RES (RULES_BIT(RULES_HTTP_RESPONSE) | RULES_BIT(RULES_HTTP_AFTER))
#define HTTP_ALL (HTTP_REQ | HTTP_RES)
#define ACTION(name, sets, parser, runner, what, text) \
	{ .words = name, .rulesets = sets, .parse = parser, .run = runner, .syntax = what, \
	  .help = text }

static const struct rule_action actions[] = {
	ACTION("add-header", HTTP_ALL, header_parse, add_header_run, "<name> <fmt>", "add a field"),
	ACTION("del-header", HTTP_ALL, del_header_parse, del_header_run,
	       "<name> [-m {str|beg|end|sub|reg}]", "delete fields by name"),
	ACTION("replace-header", HTTP_ALL, replace_header_parse, replace_header_run,
	       "<name> <regex> <fmt>", "rewrite whole fields that match"),
	ACTION("replace-path", HTTP_REQ, target_replace_parse, target_replace_run, "<regex> <fmt>",
	       "rewrite the path if it matches"),
	ACTION("replace-pathq", HTTP_REQ, target_replace_parse, target_replace_run, "<regex> <fmt>",
	       "rewrite path and query if they match"),
	ACTION("replace-uri", HTTP_REQ, target_replace_parse, target_replace_run, "<regex> <fmt>",
	       "rewrite the whole target if it matches"),
	ACTION("replace-value", HTTP_ALL, replace_header_parse, replace_value_run,
	       "<name> <regex> <fmt>", "rewrite comma-separated values that match"),
	ACTION("set-header", HTTP_ALL, header_parse, set_header_run, "<name> <fmt>",
	       "set a field, replacing those of that name"),
	ACTION("set-method", HTTP_REQ, target_parse, set_method_run, "<fmt>", "change the method"),
	ACTION("set-path", HTTP_REQ, target_parse, target_set_run, "<fmt>", "change the path"),
	ACTION("set-pathq", HTTP_REQ, target_parse, target_set_run, "<fmt>",
	       "change path and query"),
	ACTION("set-query", HTTP_REQ, target_parse, target_set_run, "<fmt>", "change the query"),
	ACTION("set-status", HTTP_RES, status_parse, set_status_run, "<status> [reason <text>]",
	       "change the status"),
	ACTION("set-uri", HTTP_REQ, target_parse, target_set_run, "<fmt>", "change the target"),
	ACTION("strict-mode", HTTP_ALL, strict_mode_parse, strict_mode_run, "{on|off}",
	       "is a failed rewrite an error?"),
	{ 0 }
};

const struct module mod_http_act = { .name = "http-actions", .actions = actions };
