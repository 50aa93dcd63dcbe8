/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture.c - texts of a request and its answer kept up to the log: fields, cookies, samples
 *
 * A frontend has numbered slots for its requests and its responses (manual: capture, declare
 * capture); a stream whose frontend has any gets its own set when its request arrives. Texts are
 * copied, so that they outlive the heads.
 */
#include <stdlib.h>
#include <string.h>
#include "codec/cookie.h"
#include "stream/process.h"
#include "stream/sample.h"
#include "capture_priv.h"
#include "rule_priv.h"
#include "stream_conf_priv.h"

enum capture_side { CAPTURE_REQUEST, CAPTURE_RESPONSE, CAPTURE_SIDES };

/* One place of a frontend: filled from a field, or by a rule. */
struct capture {
	struct capture *next;      /* the one before it */
	struct slice field;        /* its name, slice_none(): filled by rules only */
	uint8_t id;                /* http_field_id() of it */
	unsigned index;
	size_t len;                /* longest text */
};

struct capture_proxy {
	struct capture *newest[CAPTURE_SIDES]; /* frontends share those of their defaults section */
	unsigned count[CAPTURE_SIDES];
	struct slice cookie;       /* how names of cookies to capture begin; slice_none(): none */
	size_t cookie_len;
};

/* What a stream holds: an array per side, absent texts being slice_none(). */
struct captures {
	struct slice *texts[CAPTURE_SIDES];
	struct slice cookies[CAPTURE_SIDES];
};


static bool capture_proxy_inherit(void *data, const void *from)
{
	*(struct capture_proxy *)data = *(const struct capture_proxy *)from;
	return true;
}

static struct slot capture_proxy_slot = {
	.of = SLOT_PROXY, .size = sizeof(struct capture_proxy), .inherit = capture_proxy_inherit,
};
static struct slot capture_stream_slot = { .of = SLOT_STREAM, .size = sizeof(struct captures *) };

static const struct capture_proxy *capture_proxy_of(const struct proxy *px)
{
	return slot_of(&capture_proxy_slot, proxy_slots(px));
}

static struct captures *captures_of(const struct stream *s)
{
	struct captures **at = slot_of(&capture_stream_slot, stream_slots((struct stream *)s));

	return *at;
}

/* The set of a stream, made on first use; NULL: no memory. */
static struct captures *captures_get(struct stream *s)
{
	struct captures **at = slot_of(&capture_stream_slot, stream_slots(s));
	const struct capture_proxy *cp = capture_proxy_of(s->fe);
	size_t requests = cp->count[CAPTURE_REQUEST], all = requests + cp->count[CAPTURE_RESPONSE];
	struct captures *c = *at;

	if (c)
		return c;
	c = arena_zalloc(&s->arena, sizeof(*c) + all * sizeof(struct slice));
	if (!c)
		return NULL;
	c->texts[CAPTURE_REQUEST] = (struct slice *)(c + 1);
	c->texts[CAPTURE_RESPONSE] = c->texts[CAPTURE_REQUEST] + requests;
	*at = c;
	return c;
}

static const struct capture *capture_find(const struct proxy *fe, enum capture_side side,
					  int64_t index)
{
	const struct capture *c = capture_proxy_of(fe)->newest[side];

	while (c && c->index != index)
		c = c->next;
	return c;
}

static void capture_text(struct stream *s, enum capture_side side, const struct capture *where,
			 struct slice text)
{
	struct captures *c = captures_get(s);

	if (c)
		c->texts[side][where->index] = arena_copy(&s->arena,
							  slice_sub(text, 0, where->len));
}

/* --- what the frontend wants of each message -------------------------------------------------- */

/* The last field of that name, whole. */
static struct slice last_field(const struct http_msg *m, const struct capture *c)
{
	struct slice value = slice_none();
	struct h1_field *f;
	int at = -1;

	while ((f = http_field_next(&m->fields, &at, c->id, c->field)) != NULL)
		value = f->value.ptr ? f->value : SLICE("");
	return value;
}

static void capture_fields(struct stream *s, enum capture_side side, const struct http_msg *m)
{
	const struct capture *c;

	for (c = capture_proxy_of(s->fe)->newest[side]; c; c = c->next) {
		struct slice value = c->field.ptr ? last_field(m, c) : slice_none();

		if (value.ptr)
			capture_text(s, side, c, value);
	}
}

static bool cookie_is_wanted(const struct capture_proxy *cp, const struct cookie *cookie)
{
	return slice_starts(cookie->whole, cp->cookie);
}

static void capture_cookie(struct stream *s, enum capture_side side, const struct http_msg *m)
{
	const struct capture_proxy *cp = capture_proxy_of(s->fe);
	struct captures *c = cp->cookie.ptr ? captures_of(s) : NULL;
	uint8_t id = side == CAPTURE_REQUEST ? FIELD_COOKIE : FIELD_SET_COOKIE;
	struct cookie cookie = { .whole = slice_none() };
	struct h1_field *f;
	size_t max = cp->cookie_len;
	bool found = false;
	int at = -1;

	if (!c)
		return;
	if (max > (size_t)stream_tunes()->cookie_max)
		max = (size_t)stream_tunes()->cookie_max;
	while (!found && (f = http_field_next(&m->fields, &at, id, slice_none())) != NULL) {
		struct slice list = f->value, attributes;

		if (side == CAPTURE_RESPONSE)
			found = cookie_parse_set(list, &cookie, &attributes) &&
				cookie_is_wanted(cp, &cookie);
		else
			while (!found && cookie_next(&list, &cookie))
				found = cookie_is_wanted(cp, &cookie);
	}
	if (found)
		c->cookies[side] = arena_copy(&s->arena, slice_sub(cookie.whole, 0, max));
}

static void capture_message(struct stream *s, enum capture_side side, const struct http_msg *m)
{
	const struct capture_proxy *cp = capture_proxy_of(s->fe);
	bool wanted = cp->count[CAPTURE_REQUEST] || cp->count[CAPTURE_RESPONSE] || cp->cookie.ptr;

	if (!wanted || !captures_get(s))
		return;
	capture_fields(s, side, m);
}

void capture_request(struct stream *s)
{
	capture_message(s, CAPTURE_REQUEST, &s->req);
}

bool capture_wants_cookie(const struct proxy *fe)
{
	return capture_proxy_of(fe)->cookie.ptr != NULL;
}

void capture_request_cookie(struct stream *s)
{
	capture_cookie(s, CAPTURE_REQUEST, &s->req);
}

void capture_response(struct stream *s)
{
	capture_message(s, CAPTURE_RESPONSE, &s->res);
}

void capture_response_cookie(struct stream *s)
{
	capture_cookie(s, CAPTURE_RESPONSE, &s->res);
}

/* --- configuration ---------------------------------------------------------------------------- */

/* A new place at the end; NULL: no memory, reported. */
static struct capture *capture_add(struct conf_line *l, enum capture_side side, int64_t len)
{
	struct capture_proxy *cp = slot_of(&capture_proxy_slot, l->slots);
	struct capture *c = arena_zalloc(&l->cfg->arena, sizeof(*c));

	if (!c) {
		conf_error(l, 0, NULL, "out of memory.");
		return NULL;
	}
	c->len = (size_t)len;
	c->index = cp->count[side]++;
	c->next = cp->newest[side];
	cp->newest[side] = c;
	return c;
}

/* "<name> len <number>" and nothing else. */
static bool take_name_len(struct conf_line *l, const char *what, struct slice *name, int64_t *len)
{
	if (l->count - l->at < 3 || strcmp(l->words[l->at + 1], "len") != 0)
		return conf_error(l, l->at, NULL, "'%s' expects <name> 'len' <length>.", what);
	*name = slice_of(conf_strdup(l->cfg, l->words[l->at]));
	if (!name->ptr)
		return conf_error(l, l->at, NULL, "out of memory.");
	l->at += 2;
	return conf_take_int(l, 0, 65535, len) && conf_take_end(l);
}

static bool capture_header_parse(struct conf_line *l, enum capture_side side)
{
	struct slice name;
	struct capture *c;
	int64_t len;

	if (!take_name_len(l, l->keyword->words, &name, &len))
		return false;
	c = capture_add(l, side, len);
	if (!c)
		return false;
	c->field = name;
	c->id = http_field_id(name);
	return true;
}

static bool capture_request_parse(struct conf_line *l)
{
	return capture_header_parse(l, CAPTURE_REQUEST);
}

static bool capture_response_parse(struct conf_line *l)
{
	return capture_header_parse(l, CAPTURE_RESPONSE);
}

static bool capture_cookie_parse(struct conf_line *l)
{
	struct capture_proxy *cp = slot_of(&capture_proxy_slot, l->slots);
	int64_t len;

	if (!take_name_len(l, l->keyword->words, &cp->cookie, &len))
		return false;
	cp->cookie_len = (size_t)len; /* tune.http.cookielen may be less */
	return true;
}

static bool declare_capture_parse(struct conf_line *l)
{
	const char *side = conf_next(l), *word;
	bool response = side && strcmp(side, "response") == 0;
	int64_t len;

	if (!side || (!response && strcmp(side, "request") != 0))
		return conf_error(l, l->at, NULL, "'declare capture' requires a direction "
				  "('request' or 'response')%s%s", side ? ", not " : "",
				  side ? side : "");
	word = conf_next(l);
	if (!word || strcmp(word, "len") != 0)
		return conf_error(l, l->at, NULL,
				  "'declare capture' requires a capture length ('len')");
	return conf_take_int(l, 1, 65535, &len) && conf_take_end(l) &&
	       capture_add(l, response ? CAPTURE_RESPONSE : CAPTURE_REQUEST, len);
}

/* Places for texts are those of frontends. */
static void check_heir(const struct proxy *px, struct diag_list *diags)
{
	const struct diag_place at = { .form = DIAG_TIGHT, .file = px->file, .line = px->line };
	const struct capture_proxy *cp = px->defaults ? capture_proxy_of(px->defaults) : NULL;

	if (cp && (cp->count[CAPTURE_REQUEST] || cp->count[CAPTURE_RESPONSE]) &&
	    !(px->caps & PROXY_FE))
		diag_add(diags, DIAG_ALERT, &at, NULL,
			 "backend or defaults sections cannot inherit from a defaults section "
			 "defining captures (defaults section at %s:%d).",
			 px->defaults->file, px->defaults->line);
}

static void capture_check(struct config *cfg, struct diag_list *diags)
{
	static const struct diag_place nowhere = { .form = DIAG_BARE };
	int most = stream_tune_of(cfg)->engine.cookie_max;

	for (const struct proxy *px = proxies_first(cfg); px; px = proxy_next(px)) {
		const struct capture_proxy *cp = slot_of(&capture_proxy_slot, proxy_slots(px));

		if (!slice_is_none(cp->cookie) && cp->cookie_len > (size_t)most)
			diag_add(diags, DIAG_WARNING, &nowhere, NULL, "truncating capture length "
				 "to %d bytes for %s '%s'.", most, proxy_kind_name(px), px->name);

		if (!slice_is_none(cp->cookie) && px->mode != PROXY_MODE_HTTP)
			diag_add(diags, DIAG_WARNING, &nowhere, NULL, "'capture' statement ignored "
				 "for %s '%s' as it requires HTTP mode.", proxy_kind_name(px),
				 px->name);
		check_heir(px, diags);
	}
}

#define KEYWORD(name, function, what, text) \
	{ .words = name, .where = CONF_FE, .max_args = -1, .parse = function, .syntax = what, \
	  .help = text }

static const struct conf_keyword keywords[] = {
	KEYWORD("capture cookie", capture_cookie_parse, "<name> len <length>",
		"keep the first cookie whose name begins so, for logs"),
	KEYWORD("capture request header", capture_request_parse, "<name> len <length>",
		"keep the last request field of that name, for logs"),
	KEYWORD("capture response header", capture_response_parse, "<name> len <length>",
		"keep the last response field of that name, for logs"),
	KEYWORD("declare capture", declare_capture_parse, "{request|response} len <length>",
		"a place that capture rules may fill"),
	{ 0 }
};

/* --- rules ------------------------------------------------------------------------------------ */

struct capture_action {
	const struct expr *expr;
	const struct capture *where;  /* `len`: a place of its own */
	const struct proxy *owner;    /* whose place it is: not for streams of other frontends */
	int64_t id;                   /* without <where>: that of the stream's frontend */
};

static enum capture_side rule_side(const struct rule *r)
{
	return r->set == RULES_HTTP_RESPONSE || r->set == RULES_HTTP_AFTER ? CAPTURE_RESPONSE :
	       CAPTURE_REQUEST;
}

static bool capture_rule_len(struct conf_line *l, struct rule *r, struct capture_action *a)
{
	const char *word = conf_next(l);
	char *end;
	int64_t len = word ? strtoll(word, &end, 10) : 0;

	if (!(r->proxy->caps & (PROXY_FE | PROXY_DEFAULTS)))
		return rule_error(l, r, l->at - 1, "proxy '%s' has no frontend capability",
				  r->proxy->name);
	if (len <= 0 || len > 65535 || *end)
		return rule_error(l, r, l->at - 1, "length must be > 0, not '%s'",
				  l->words[l->at - 1]);
	a->where = capture_add(l, rule_side(r), len);
	a->owner = r->proxy;
	return a->where != NULL;
}

static bool capture_rule_id(struct conf_line *l, struct rule *r, struct capture_action *a)
{
	const char *word = conf_next(l);
	char *end;

	a->id = strtoll(word, &end, 10);
	if (end == word || *end || a->id < 0)
		return rule_error(l, r, l->at - 1, "cannot parse id '%s'", word);
	return true;
}

#define CAPTURE_SYNTAX "expects <expression> [ 'len' <length> | id <idx> ]"

static bool capture_rule_parse(struct conf_line *l, struct rule *r)
{
	struct capture_action *a = arena_zalloc(&l->cfg->arena, sizeof(*a));
	bool has_len = rule_side(r) == CAPTURE_REQUEST, has_id = r->set != RULES_TCP_CONTENT;
	const char *word;

	if (!a)
		return rule_no_memory(l, r);
	r->data = a;
	if (rule_at_end(l))
		return rule_error(l, r, l->at, CAPTURE_SYNTAX);
	a->expr = expr_take(l, rule_phases(r->proxy, r->set));
	if (!a->expr)
		return false;
	word = conf_next(l);
	if (!word || !conf_peek(l))
		return rule_error(l, r, l->at, CAPTURE_SYNTAX);
	if (has_len && strcmp(word, "len") == 0)
		return capture_rule_len(l, r, a);
	if (has_id && strcmp(word, "id") == 0)
		return capture_rule_id(l, r, a);
	return rule_error(l, r, l->at - 1, "expects %s, found '%s'",
			  !has_id ? "'len'" : has_len ? "'len' or 'id'" : "'id'", word);
}

/* The frontend's own places are known; those of the frontends of a backend are not. */
static bool capture_rule_check(struct config *cfg, struct rule *r, struct diag_list *diags)
{
	const struct capture_action *a = r->data;
	struct diag_place place = { .file = r->file, .line = r->line };

	if (r->set == RULES_TCP_CONTENT && !rules_inspect_delay_ms(r->proxy, false) &&
	    expr_uses(a->expr) & (EXPR_USE_L6_REQUEST | EXPR_USE_HTTP_REQUEST_VOLATILE |
				  EXPR_USE_HTTP_REQUEST))
		diag_add(diags, DIAG_WARNING, NULL, NULL,
			 "%s '%s' : a 'tcp-request capture' rule explicitly depending on request "
			 "contents without any 'tcp-request inspect-delay' setting. This means "
			 "that this rule will randomly find its contents. This can be fixed by "
			 "setting the tcp-request inspect-delay.", proxy_kind_name(r->proxy),
			 r->proxy->name);
	if (a->where || !(r->proxy->caps & PROXY_FE) ||
	    capture_find(r->proxy, rule_side(r), a->id))
		return true;
	diag_add(diags, DIAG_ALERT, &place, NULL,
		 "Proxy '%s': unable to find capture id '%lld' referenced by %s capture rule.",
		 r->proxy->name, (long long)a->id, ruleset_name(r->set));
	return false;
}

static enum rule_result capture_rule_run(const struct rule *r, struct expr_ctx *ctx, bool *first)
{
	const struct capture_action *a = r->data;
	const struct capture *where = a->where;
	struct stream *s = ctx->stream;
	struct slice text;
	enum expr_result ret;

	if (!where)
		where = capture_find(s->fe, rule_side(r), a->id);
	else if (a->owner != s->fe && !(a->owner->caps & PROXY_DEFAULTS))
		return RULE_CONTINUE;
	ret = where ? expr_eval_string(a->expr, ctx, &text) : EXPR_NONE;
	if (ret == EXPR_WAIT)
		return RULE_WAIT;
	if (ret == EXPR_FOUND)
		capture_text(s, rule_side(r), where, text);
	return RULE_CONTINUE;
}

static const struct rule_action actions[] = {
	{ .words = "capture", .rulesets = RULES_BIT(RULES_TCP_CONTENT) |
	  RULES_BIT(RULES_HTTP_REQUEST) | RULES_BIT(RULES_HTTP_RESPONSE) |
	  RULES_BIT(RULES_HTTP_AFTER), .parse = capture_rule_parse, .run = capture_rule_run,
	  .check = capture_rule_check, .syntax = "<sample> {len <length>|id <id>}",
	  .help = "keep a sample for logs" },
	{ 0 }
};

/* --- fetches and converters ------------------------------------------------------------------- */

static const int sides[CAPTURE_SIDES] = { CAPTURE_REQUEST, CAPTURE_RESPONSE };

static bool check_index(struct conf_line *l, struct expr_arg *args, const char **error)
{
	*error = "capture identifier must be >= 0";
	return args[0].integer >= 0;
}

static enum expr_result fetch_captured(struct expr_ctx *ctx, const struct expr_arg *args,
				       struct sample *out)
{
	const enum capture_side side = *(const int *)ctx->data;
	const struct captures *c = ctx->stream ? captures_of(ctx->stream) : NULL;

	if (!c || args[0].integer >= capture_proxy_of(ctx->stream->fe)->count[side])
		return EXPR_NONE;
	return smp_give_text(out, c->texts[side][args[0].integer]);
}

static enum expr_result fetch_method(struct expr_ctx *ctx, const struct expr_arg *args,
				     struct sample *out)
{
	return ctx->stream ? smp_give_text(out, ctx->stream->log.method) : EXPR_NONE;
}

/* From the first slash of the path on. */
static enum expr_result fetch_uri(struct expr_ctx *ctx, const struct expr_arg *args,
				  struct sample *out)
{
	struct http_msg m = { .uri = slice_none() };

	if (!ctx->stream || !ctx->stream->log.uri.ptr)
		return EXPR_NONE;
	m.uri = ctx->stream->log.uri;
	return smp_give_text(out, http_msg_pathq(&m));
}

static struct slice capture_version_text(const struct http_msg *m)
{
	return m->version == 10 ? SLICE("HTTP/1.0") : SLICE("HTTP/1.1");
}

static enum expr_result fetch_req_version(struct expr_ctx *ctx, const struct expr_arg *args,
					  struct sample *out)
{
	const struct stream *s = ctx->stream;

	return s && s->log.method.ptr ? smp_give_text(out, capture_version_text(&s->req))
				      : EXPR_NONE;
}

static enum expr_result fetch_res_version(struct expr_ctx *ctx, const struct expr_arg *args,
					  struct sample *out)
{
	const struct stream *s = ctx->stream;

	if (s && s->flags & STRM_LOCAL_REPLY && (s->answer.status || s->res.status))
		return smp_give_text(out, SLICE("HTTP/1.1"));
	if (!s || !s->res.status || s->flags & STRM_LOCAL_REPLY)
		return EXPR_NONE;
	return smp_give_text(out, capture_version_text(&s->res));
}

static const struct expr_fetch fetches[] = {
	{ .name = "capture.req.hdr", .args_min = 1, .args = { ARG_INT }, .out = SMP_STR,
	  .use = EXPR_USE_HTTP_REQUEST, .fetch = fetch_captured, .check = check_index,
	  .data = &sides[CAPTURE_REQUEST], .syntax = "(<id>)",
	  .help = "what was captured of the request" },
	{ .name = "capture.req.method", .out = SMP_STR, .use = EXPR_USE_HTTP_REQUEST,
	  .fetch = fetch_method, .help = "the method as received, to the end" },
	{ .name = "capture.req.uri", .out = SMP_STR, .use = EXPR_USE_HTTP_REQUEST,
	  .fetch = fetch_uri, .help = "the path and query as received, to the end" },
	{ .name = "capture.req.ver", .out = SMP_STR, .use = EXPR_USE_HTTP_REQUEST,
	  .fetch = fetch_req_version, .help = "the request's version, to the end" },
	{ .name = "capture.res.hdr", .args_min = 1, .args = { ARG_INT }, .out = SMP_STR,
	  .use = EXPR_USE_HTTP_RESPONSE, .fetch = fetch_captured, .check = check_index,
	  .data = &sides[CAPTURE_RESPONSE], .syntax = "(<id>)",
	  .help = "what was captured of the response" },
	{ .name = "capture.res.ver", .out = SMP_STR, .use = EXPR_USE_HTTP_REQUEST,
	  .fetch = fetch_res_version, .help = "the response's version, to the end" },
	{ 0 }
};

static bool convert_capture(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	const enum capture_side side = *(const int *)ctx->data;
	const struct capture *where = ctx->stream ?
		capture_find(ctx->stream->fe, side, args[0].integer) : NULL;

	if (!where)
		return false;
	capture_text(ctx->stream, side, where, s->text);
	return true;
}

#define CAPTURE(n, side, h) \
	{ .name = n, .args_min = 1, .args = { ARG_INT }, .in = SMP_STR, .out = SMP_STR, \
	  .context = true, .convert = convert_capture, .check = check_index, \
	  .data = &sides[side], .syntax = "(<id>)", .help = h }

static const struct expr_converter converters[] = {
	CAPTURE("capture-req", CAPTURE_REQUEST, "keeps it in a place of the request"),
	CAPTURE("capture-res", CAPTURE_RESPONSE, "keeps it in a place of the response"),
	{ 0 }
};

/* --- logs ------------------------------------------------------------------------------------- */

#define ALIAS_ARGS struct expr_ctx *ctx, const struct logformat_item *item, struct strbuf *out

static bool put_cookie(ALIAS_ARGS, enum capture_side side)
{
	const struct captures *c = captures_of(ctx->stream);

	return logformat_put_text(item, out, c ? c->cookies[side] : slice_none());
}

static bool alias_CC(ALIAS_ARGS)
{
	return put_cookie(ctx, item, out, CAPTURE_REQUEST);
}

static bool alias_CS(ALIAS_ARGS)
{
	return put_cookie(ctx, item, out, CAPTURE_RESPONSE);
}

/* How many are told: empty ones of what is no HTTP, none of requests that could not be read. */
static unsigned told(const struct stream *s, enum capture_side side)
{
	return captures_of(s) || !(s->flags & STRM_HTTP) ? capture_proxy_of(s->fe)->count[side] : 0;
}

static struct slice text_of(const struct stream *s, enum capture_side side, unsigned i)
{
	const struct captures *c = captures_of(s);

	return c ? c->texts[side][i] : slice_none();
}

/* "{a|b}"; nothing at all when nothing is to be captured. */
static bool put_braces(ALIAS_ARGS, enum capture_side side)
{
	unsigned count = told(ctx->stream, side);

	if (!count)
		return true;
	logformat_put_quote(item, out);
	for (unsigned i = 0; i < count; i++) {
		strbuf_add_char(out, i ? '|' : '{');
		logformat_put_encoded(item, out, text_of(ctx->stream, side, i), "{|}");
	}
	strbuf_add_char(out, '}');
	return logformat_put_quote(item, out);
}

static bool alias_hr(ALIAS_ARGS)
{
	return put_braces(ctx, item, out, CAPTURE_REQUEST);
}

static bool alias_hs(ALIAS_ARGS)
{
	return put_braces(ctx, item, out, CAPTURE_RESPONSE);
}

/* One word each. */
static bool put_words(ALIAS_ARGS, enum capture_side side)
{
	unsigned count = told(ctx->stream, side);

	for (unsigned i = 0; i < count; i++) {
		struct slice text = text_of(ctx->stream, side, i);

		if (i)
			strbuf_add_char(out, ' ');
		if (!text.len) {
			logformat_put_text(item, out, slice_none());
			continue;
		}
		logformat_put_quote(item, out);
		logformat_put_encoded(item, out, text, "{|}");
		logformat_put_quote(item, out);
	}
	return !out->overflow;
}

static bool alias_hrl(ALIAS_ARGS)
{
	return put_words(ctx, item, out, CAPTURE_REQUEST);
}

static bool alias_hsl(ALIAS_ARGS)
{
	return put_words(ctx, item, out, CAPTURE_RESPONSE);
}

static const struct expr_alias aliases[] = {
	{ .name = "CC", .print = alias_CC, .flags = ALIAS_HTTP,
	  .absent = "", .help = "captured request cookie" },
	{ .name = "CS", .print = alias_CS, .flags = ALIAS_HTTP,
	  .absent = "", .help = "captured response cookie" },
	{ .name = "hr", .print = alias_hr,
	  .flags = ALIAS_HTTP | ALIAS_CAPTURES | ALIAS_PIECES,
	  .absent = "", .help = "captured request fields" },
	{ .name = "hrl", .print = alias_hrl,
	  .flags = ALIAS_HTTP | ALIAS_CAPTURES | ALIAS_LIST,
	  .absent = "", .help = "captured request fields, CLF" },
	{ .name = "hs", .print = alias_hs,
	  .flags = ALIAS_HTTP | ALIAS_CAPTURES | ALIAS_PIECES,
	  .absent = "", .help = "captured response fields" },
	{ .name = "hsl", .print = alias_hsl,
	  .flags = ALIAS_HTTP | ALIAS_CAPTURES | ALIAS_LIST,
	  .absent = "", .help = "captured response fields, CLF" },
	{ 0 }
};

static struct slot *const slots[] = { &capture_proxy_slot, &capture_stream_slot, NULL };

const struct module mod_capture = {
	.name = "capture", .keywords = keywords, .actions = actions, .fetches = fetches,
	.converters = converters, .aliases = aliases, .slots = slots, .check = capture_check,
};
