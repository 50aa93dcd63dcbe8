/* SPDX-License-Identifier: GPL-2.0-or-later */
/* redirect.c - redirections: the `redirect` statement, and the action of the same name
 *
 * The statement's texts are literal; the action's may contain %[...].
 * Manual: configuration 4.2 redirect.
 */
#include "rule_priv.h"

#include "base/block.h"
#include "base/strbuf.h"

enum redirect_kind { REDIRECT_NONE, REDIRECT_LOCATION, REDIRECT_PREFIX, REDIRECT_SCHEME };

enum redirect_flags {
	REDIRECT_DROP_QUERY = 1 << 0,
	REDIRECT_KEEP_QUERY = 1 << 1,
	REDIRECT_APPEND_SLASH = 1 << 2,
	REDIRECT_IGNORE_EMPTY = 1 << 3,
};

struct redirect {
	enum redirect_kind kind;
	unsigned status, flags;
	struct rule_text text;
	struct rule_text cookie;  /* of the Set-Cookie field */
	bool has_cookie;
};

/* What is being parsed. */
struct redirect_parser {
	struct conf_line *l;
	const struct rule *rule;
	struct redirect *rd;
	bool format;
	unsigned phase;
};

/* The value of an option, which must be there; NULL: reported. */
static const char *redirect_take_value(struct redirect_parser *p, const char *option)
{
	const char *value = conf_peek(p->l);

	if (!value || !*value) {
		rule_error(p->l, p->rule, p->l->at, "missing argument for '%s'", option);
		return NULL;
	}
	return value;
}

static bool redirect_set_text(struct redirect_parser *p, const char *text, bool format,
			      struct rule_text *out)
{
	if (strpbrk(text, "\r\n"))
		return rule_error(p->l, p->rule, p->l->at, "line breaks are not allowed here");
	if (!format) {
		out->constant = slice_of(text);
		return true;
	}
	return rule_text_parse(p->l, text, p->phase, LOGFORMAT_HTTP, out);
}

static bool redirect_take_code(struct redirect_parser *p, const char *value)
{
	static const char *const codes[] = { "301", "302", "303", "307", "308" };
	unsigned i;

	for (i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		if (strcmp(value, codes[i]) == 0) {
			p->rd->status = 300 + (codes[i][2] - '0');
			return true;
		}
	}
	return rule_error(p->l, p->rule, p->l->at,
			  "'code': unsupported HTTP code '%s' (must be one "
			  "of 301, 302, 303, 307 or 308)", value);
}

static bool redirect_take_cookie(struct redirect_parser *p, const char *option, const char *value)
{
	struct rule_text *cookie = &p->rd->cookie;
	char *text;

	p->rd->has_cookie = true;
	text = arena_printf(&p->l->cfg->arena, "%s; path=/;%s", value,
			    strcmp(option, "clear-cookie") == 0 ? " Max-Age=0;" : "");
	if (!text)
		return rule_no_memory(p->l, p->rule);
	return redirect_set_text(p, text, strcmp(option, "set-cookie-fmt") == 0, cookie);
}

/* An option with a value; the line is at the value. */
static bool redirect_take_option(struct redirect_parser *p, const char *option, const char *value)
{
	struct redirect *rd = p->rd;

	if (strcmp(option, "code") == 0)
		return redirect_take_code(p, value);
	if (strstr(option, "cookie"))
		return redirect_take_cookie(p, option, value);
	rd->kind = option[0] == 'l' ? REDIRECT_LOCATION : option[0] == 'p' ? REDIRECT_PREFIX :
		REDIRECT_SCHEME;
	return redirect_set_text(p, value, p->format, &rd->text);
}

static unsigned redirect_flag(const char *word)
{
	static const struct {
		const char *word;
		unsigned flag;
	} flags[] = {
		{ "drop-query", REDIRECT_DROP_QUERY }, { "keep-query", REDIRECT_KEEP_QUERY },
		{ "append-slash", REDIRECT_APPEND_SLASH },
		{ "ignore-empty", REDIRECT_IGNORE_EMPTY },
	};
	unsigned i;

	for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		if (strcmp(word, flags[i].word) == 0)
			return flags[i].flag;
	}
	return 0;
}

static bool redirect_has_value(const char *word)
{
	static const char *const words[] = {
		"location", "prefix", "scheme", "code", "set-cookie", "set-cookie-fmt",
		"clear-cookie",
	};
	unsigned i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(word, words[i]) == 0)
			return true;
	}
	return false;
}

static bool redirect_take_word(struct redirect_parser *p)
{
	const char *word = conf_next(p->l), *value;
	unsigned flag = redirect_flag(word);
	bool good;

	if (flag) {
		p->rd->flags |= flag;
		return true;
	}
	if (!redirect_has_value(word))
		return rule_error(p->l, p->rule, p->l->at - 1, "expects 'code', 'prefix', "
				  "'location', 'scheme', 'set-cookie', 'set-cookie-fmt', "
				  "'clear-cookie', 'drop-query', 'keep-query', 'ignore-empty' or "
				  "'append-slash' (was '%s')", word);
	value = redirect_take_value(p, word);
	good = value && redirect_take_option(p, word, value);
	p->l->at++;
	return good;
}

struct redirect *redirect_parse(struct conf_line *l, const struct rule *r, bool format)
{
	struct redirect_parser p = {
		.l = l, .rule = r, .format = format, .phase = rule_phases(r->proxy, r->set),
		.rd = arena_zalloc(&l->cfg->arena, sizeof(struct redirect)),
	};

	if (!p.rd) {
		rule_no_memory(l, r);
		return NULL;
	}
	p.rd->status = 302;
	while (!rule_at_end(l)) {
		if (!redirect_take_word(&p))
			return NULL;
	}
	if (p.rd->kind == REDIRECT_NONE) {
		rule_error(l, r, l->at,
			   "redirection type expected ('prefix', 'location', or 'scheme')");
		return NULL;
	}
	if (r->set == RULES_HTTP_RESPONSE && p.rd->kind != REDIRECT_LOCATION) {
		rule_error(l, r, l->at, "response only supports redirect type 'location'");
		return NULL;
	}
	return p.rd;
}

bool redirect_line_parse(struct conf_line *l)
{
	struct rule_proxy *rp = slot_of(&rule_proxy_slot, l->slots);
	struct redirect_rule *rr = arena_zalloc(&l->cfg->arena, sizeof(*rr));

	if (!rr)
		return conf_error(l, 0, NULL, "out of memory.");
	rr->rule = (struct rule){ .set = RULES_HTTP_REQUEST, .proxy = l->object,
				  .file = rule_file(l), .line = l->place.line };
	list_init(&rr->link);
	list_init(&rr->rule.link);
	rule_warn_order(l, ORDER_REDIRECT);
	rr->redirect = redirect_parse(l, &rr->rule, false);
	if (!rr->redirect || !rule_take_condition(l, "redirect",
						  rule_phases(l->object, RULES_HTTP_REQUEST),
						  &rr->rule.condition))
		return false;
	list_append(&rp->redirects, &rr->link);
	return true;
}

/* --- at run time -------------------------------------------------------------------------- */

/* Adds the request's path and, unless dropped, its query; and the final slash if asked for. */
static void redirect_put_path(const struct redirect *rd, const struct http_msg *req,
			      struct strbuf *out)
{
	struct slice path = rd->flags & REDIRECT_DROP_QUERY ? http_msg_path(req) :
		http_msg_pathq(req);

	strbuf_add(out, path.ptr ? path : SLICE("/"));
	if ((rd->flags & REDIRECT_APPEND_SLASH) && out->len && out->ptr[out->len - 1] != '/')
		strbuf_add_char(out, '/');
}

static void redirect_put_location(const struct redirect *rd, struct slice text,
				  const struct http_msg *req, struct strbuf *out)
{
	struct h1_field *host;
	struct slice query;

	switch (rd->kind) {
	case REDIRECT_SCHEME:
		host = http_field_find(&req->fields, FIELD_HOST, slice_none());
		strbuf_add(out, text);
		strbuf_add(out, SLICE("://"));
		if (host)
			strbuf_add(out, host->value);
		redirect_put_path(rd, req, out);
		break;
	case REDIRECT_PREFIX:
		if (!slice_eq(text, SLICE("/")))
			strbuf_add(out, text);
		redirect_put_path(rd, req, out);
		break;
	default:
		strbuf_add(out, text);
		query = http_msg_query(req);
		if ((rd->flags & REDIRECT_KEEP_QUERY) && query.len) {
			strbuf_add_char(out, slice_find_char(text, 0, '?') == SIZE_MAX ? '?' : '&');
			strbuf_add(out, query);
		}
	}
}

enum rule_result redirect_run(const struct redirect *rd, struct expr_ctx *ctx)
{
	struct stream *s = ctx->stream;
	struct slice text = rule_text_make(&rd->text, ctx), cookie = slice_none();
	size_t room = text.len + s->req.uri.len + 300;
	struct h1_field *host = http_field_find(&s->req.fields, FIELD_HOST, slice_none());
	struct strbuf out;
	char *area;
	bool good;

	if (text.ptr && !text.len && (rd->flags & REDIRECT_IGNORE_EMPTY))
		return RULE_CONTINUE;
	room += host ? host->value.len : 0;
	area = arena_alloc(&s->arena, room);
	if (rd->has_cookie)
		cookie = rule_text_make(&rd->cookie, ctx);
	if (!text.ptr || !area || (rd->has_cookie && !cookie.ptr))
		return RULE_ERROR;
	strbuf_init_fixed(&out, area, room);
	redirect_put_location(rd, text, &s->req, &out);
	stream_reply_begin(s, rd->status, slice_none());
	good = !out.overflow && stream_reply_body(s, SLICE(""), false) &&
		http_msg_put_field(&s->res, FIELD_LOCATION, SLICE("location"),
				   slice_make(area, out.len));
	/* 301 and 308 are meant to be kept by browsers */
	if (rd->status != 301 && rd->status != 308)
		good = good && http_msg_put_field(&s->res, FIELD_CACHE_CONTROL,
						  SLICE("cache-control"), SLICE("no-cache"));
	if (rd->has_cookie)
		good = good && http_msg_put_field(&s->res, FIELD_SET_COOKIE, SLICE("set-cookie"),
						  cookie);
	return good ? RULE_REPLY : RULE_ERROR;
}

enum rule_result rules_redirect(struct proxy *px, struct expr_ctx *ctx, const struct rule **which)
{
	const struct rule_proxy *rp = rule_proxy_of(px);
	struct redirect_rule *rr;
	struct rule_hits *hits;
	enum rule_result ret;

	if (list_is_empty(&rp->redirects))
		return RULE_CONTINUE;
	hits = rule_hits_mine(rp);
	list_for_each(rr, &rp->redirects, link) {
		if (hits)
			rule_hit(&hits[rr->number].evaluated);
		if (condition_eval(rr->rule.condition, ctx) != EXPR_FOUND)
			continue;
		if (hits)
			rule_hit(&hits[rr->number].matched);
		stream_note_rule(ctx->stream, rr->number | stream_rule_side(ctx->stream, px));
		ret = redirect_run(rr->redirect, ctx);
		if (ret == RULE_CONTINUE)
			continue;
		*which = &rr->rule;
		ctx->stream->last_rule = &rr->rule;
		return ret;
	}
	return RULE_CONTINUE;
}
