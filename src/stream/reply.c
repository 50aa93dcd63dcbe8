/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reply.c - answers made by rules: deny, tarpit, return */
#include "stream/reply.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/block.h"
#include "base/file.h"
#include "http/error_page.h"

enum reply_kind {
	REPLY_UNSET,
	REPLY_EMPTY,     /* a head alone */
	REPLY_PAGES,     /* the error page in force */
	REPLY_PAGE,      /* one errorfile */
	REPLY_GROUP,     /* a page of a http-errors section, else the one in force */
	REPLY_RAW,       /* a string or a file as it is */
	REPLY_FORMAT,    /* with %[...] */
};

struct reply_field {
	struct reply_field *next;
	struct slice name;   /* lower case */
	uint8_t id;
	struct rule_text value;
};

struct reply {
	enum reply_kind kind;
	const char *kind_word;         /* as written, for messages */
	unsigned status;
	struct slice content_type;     /* none: not given */
	const struct http_page *page;
	const char *group;
	struct slice raw;
	const struct logformat *format;
	struct reply_field *fields, **fields_tail;
};

/* What is being parsed. */
struct reply_parser {
	struct conf_line *l;
	const struct rule *rule;
	struct reply *reply;
	unsigned phase;
	bool deny, bare;   /* bare: nothing but deny_status was given */
};

/* Reports what is wrong at word <at>: of a rule, or of a line http-error (no rule). */
static bool __attribute__((format(printf, 3, 4)))
reply_error(struct reply_parser *p, int at, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (p->rule)
		return rule_error(p->l, p->rule, at, "%s", text);
	return conf_error(p->l, at, NULL, "http-error : %s.", text);
}

/* --- parsing ------------------------------------------------------------------------------ */

static bool reply_error_missing(struct reply_parser *p, const char *word, const char *what)
{
	return reply_error(p, p->l->at, "'%s' expects %s as argument", word, what);
}

/* Reads a whole file, at most tune.bufsize, into the configuration. */
static bool reply_read_file(struct reply_parser *p, const char *path, struct slice *out)
{
	size_t room = block_size(), len;
	char *bytes = file_load(path, room, &len);

	if (!bytes && errno == EFBIG)
		return reply_error(p, p->l->at,
				  "file '%s' is larger than tune.bufsize (%zu bytes)", path, room);
	if (!bytes)
		return reply_error(p, p->l->at, "error opening file '%s'", path);
	*out = arena_copy(&p->l->cfg->arena, slice_make(bytes, len));
	free(bytes);
	if (slice_is_none(*out))
		return reply_error(p, p->l->at, "out of memory reading '%s'", path);
	return true;
}

static bool reply_take_status(struct reply_parser *p, const char *word)
{
	const char *value = conf_peek(p->l);
	char *end;
	long status;

	if (!value || !*value)
		return reply_error(p, p->l->at,
				  "'status' expects <status_code> as argument");
	status = strtol(value, &end, 10);
	if (!p->rule && http_page_index((unsigned)status) < 0)
		return conf_error(p->l, p->l->at, NULL, "http-error: status code '%s' not handled.",
				  value);
	if (*end || status < 200 || status > 599)
		return reply_error(p, p->l->at, "Unexpected status code '%s'", value);
	p->reply->status = status;
	p->bare &= strcmp(word, "deny_status") == 0;
	p->l->at++;
	return true;
}

/* What a header's value may hold in the configuration, and its name. */
static bool reply_take_field(struct reply_parser *p)
{
	const char *name = conf_next(p->l), *value = name ? conf_peek(p->l) : NULL;
	struct reply_field *f = arena_zalloc(&p->l->cfg->arena, sizeof(*f));
	char *copy, *at;

	if (!name || !*name || !value)
		return reply_error(p, p->l->at,
				  "'hdr' expects <name> and <value> as arguments");
	if (!h1_is_token(slice_of(name)))
		return reply_error(p, p->l->at - 1, "invalid header name '%s'", name);
	copy = conf_strdup(p->l->cfg, name);
	if (!f || !copy)
		return reply_error(p, 0, "out of memory");
	for (at = copy; *at; at++)
		*at = ascii_lower(*at);
	f->name = slice_of(copy);
	f->id = http_field_id(f->name);
	if (!rule_text_parse(p->l, value, p->phase, LOGFORMAT_HTTP, &f->value))
		return false;
	p->l->at++;
	*p->reply->fields_tail = f;
	p->reply->fields_tail = &f->next;
	return true;
}

/* The words that say where the answer's text comes from. */
static const struct reply_source {
	const char *word;
	enum reply_kind kind;
	const char *argument;
	bool is_file;
} reply_sources[] = {
	{ "default-errorfiles", REPLY_PAGES, NULL, false },
	{ "errorfile", REPLY_PAGE, "<fmt>", true },
	{ "errorfiles", REPLY_GROUP, "<name>", false },
	{ "file", REPLY_RAW, "<file>", true },
	{ "lf-file", REPLY_FORMAT, "<file>", true },
	{ "string", REPLY_RAW, "<str>", false },
	{ "lf-string", REPLY_FORMAT, "<fmt>", false },
};

static const struct reply_source *reply_source_find(const char *word)
{
	unsigned i;

	for (i = 0; i < sizeof(reply_sources) / sizeof(reply_sources[0]); i++) {
		if (strcmp(reply_sources[i].word, word) == 0)
			return &reply_sources[i];
	}
	return NULL;
}

static bool reply_set_source(struct reply_parser *p, const struct reply_source *src,
			     const char *value)
{
	struct reply *reply = p->reply;
	const char *error = NULL;
	struct slice text = slice_of(value);

	switch (src->kind) {
	case REPLY_PAGE:
		reply->page = http_page_load(p->l->cfg, value, &error);
		return reply->page || reply_error(p, p->l->at, "%s", error);
	case REPLY_GROUP:
		reply->group = value;
		return true;
	default:
		if (src->is_file && !reply_read_file(p, value, &text))
			return false;
		reply->raw = text;
		if (src->kind != REPLY_FORMAT)
			return true;
		reply->format = logformat_parse(p->l, text.ptr, p->phase, 0);
		return reply->format != NULL;
	}
}

static bool reply_take_source(struct reply_parser *p, const struct reply_source *src)
{
	struct reply *reply = p->reply;
	const char *value = NULL;

	if (reply->kind != REPLY_UNSET)
		return reply_error(p, p->l->at - 1,
				  "unexpected '%s' argument, '%s' already defined", src->word,
				  reply->kind_word);
	reply->kind = src->kind;
	reply->kind_word = src->word;
	p->bare = false;
	if (!src->argument)
		return true;
	value = conf_peek(p->l);
	if (!value || !*value)
		return reply_error_missing(p, src->word, src->argument);
	if (!reply_set_source(p, src, value))
		return false;
	p->l->at++;
	return true;
}

/* One argument; *more is false when the word is none of ours. */
static bool reply_take_word(struct reply_parser *p, bool *more)
{
	const char *word = conf_peek(p->l);
	const struct reply_source *src = reply_source_find(word);

	*more = true;
	p->l->at++;
	if (src)
		return reply_take_source(p, src);
	if (strcmp(word, "status") == 0 || (p->deny && strcmp(word, "deny_status") == 0))
		return reply_take_status(p, word);
	if (strcmp(word, "hdr") == 0) {
		p->bare = false;
		return reply_take_field(p);
	}
	if (strcmp(word, "content-type") == 0) {
		const char *type = conf_next(p->l);

		p->bare = false;
		if (!type || !*type)
			return reply_error_missing(p, "content-type", "<ctype>");
		if (strpbrk(type, "\r\n"))
			return reply_error(p, p->l->at - 1, "invalid content type");
		p->reply->content_type = slice_of(type);
		return true;
	}
	p->l->at--;
	*more = false;
	return true;
}

/* Decides what was left open, and refuses what does not go together. */
static bool reply_finish(struct reply_parser *p)
{
	struct reply *reply = p->reply;
	bool has_body;

	if (reply->kind == REPLY_UNSET)
		reply->kind = p->deny && p->bare ? REPLY_PAGES : REPLY_EMPTY;
	has_body = (reply->kind == REPLY_RAW || reply->kind == REPLY_FORMAT) && reply->raw.len;
	if (reply->kind >= REPLY_PAGES && reply->kind <= REPLY_GROUP && reply->kind != REPLY_PAGE &&
	    http_page_index(reply->status) < 0)
		return reply_error(p, p->l->at,
				  "status code '%u' not handled by default "
				  "with '%s' argument", reply->status, reply->kind_word ?
				  reply->kind_word : "default-errorfiles");
	if (has_body && (reply->status == 204 || reply->status == 304))
		return reply_error(p, p->l->at, "No body expected for %u responses",
				   reply->status);
	if (has_body && !reply->content_type.ptr)
		return reply_error(p, p->l->at, "a content type must be defined when "
				  "non-empty payload is configured");
	if (!has_body && reply->content_type.ptr) {
		conf_warn(p->l, p->l->at, NULL, "content-type '%s' ignored by the http reply %s.",
			  reply->content_type.ptr, reply->kind == REPLY_EMPTY ?
			  "because neither errorfile nor payload defined" :
			  reply->kind_word && reply->raw.ptr ? "because the payload is empty" :
			  "when used with an errorfile");
		reply->content_type = slice_none();
	}
	if (reply->fields && reply->kind >= REPLY_PAGES && reply->kind <= REPLY_GROUP) {
		conf_warn(p->l, p->l->at, NULL,
			  "hdr parameters ignored by the http reply when used with an errorfile.");
		reply->fields = NULL;
	}
	return true;
}

static struct reply *reply_parse_words(struct reply_parser *p, unsigned status)
{
	bool more = true;

	p->reply = arena_zalloc(&p->l->cfg->arena, sizeof(struct reply));
	if (!p->reply) {
		reply_error(p, 0, "out of memory");
		return NULL;
	}
	p->reply->status = status;
	p->reply->fields_tail = &p->reply->fields;
	while (more && (p->rule ? !rule_at_end(p->l) : conf_peek(p->l) != NULL)) {
		if (!reply_take_word(p, &more))
			return NULL;
	}
	if (more || p->rule)
		return reply_finish(p) ? p->reply : NULL;
	reply_error(p, p->l->at, "unknown keyword '%s'", conf_peek(p->l));
	return NULL;
}

struct reply *reply_parse(struct conf_line *l, const struct rule *r, unsigned status, bool deny)
{
	struct reply_parser p = {
		.l = l, .rule = r, .deny = deny, .bare = true,
		.phase = rule_phases(r->proxy, r->set),
	};

	return reply_parse_words(&p, status);
}

bool reply_check(struct config *cfg, struct reply *reply, const struct rule *r,
		 struct diag_list *diags)
{
	struct diag_place place = { .file = r->file, .line = r->line };
	bool found;

	if (reply->kind != REPLY_GROUP)
		return true;
	reply->page = http_page_of_group(cfg, reply->group, reply->status, &found);
	if (!found)
		diag_add(diags, DIAG_ALERT, &place, NULL,
			 "unable to find the http-errors section '%s' referenced by '%s %s' rule.",
			 reply->group, ruleset_name(r->set), r->action->words);
	return found;
}

/* --- http-error --------------------------------------------------------------------------- */

static bool reply_is_constant(const struct reply *reply)
{
	const struct reply_field *f;

	for (f = reply->fields; f; f = f->next)
		if (!f->value.constant.ptr)
			return false;
	return !reply->format;
}

/* The whole text that a constant reply sends, for http_page_parse(). */
static struct http_page *reply_to_page(struct config *cfg, const struct reply *reply,
				       const char **error)
{
	struct http_page *page = NULL;
	const struct reply_field *f;
	struct strbuf text;

	*error = "out of memory";
	strbuf_init(&text);
	strbuf_printf(&text, "HTTP/1.1 %u %.*s\r\n", reply->status,
		      SLICE_FMT(http_reason(reply->status)));
	for (f = reply->fields; f; f = f->next)
		if (f->value.constant.len)
			strbuf_printf(&text, "%.*s: %.*s\r\n", SLICE_FMT(f->name),
				      SLICE_FMT(f->value.constant));
	strbuf_printf(&text, "content-length: %zu\r\n", reply->raw.len);
	if (reply->raw.len)
		strbuf_printf(&text, "content-type: %.*s\r\n", SLICE_FMT(reply->content_type));
	strbuf_add_str(&text, "\r\n");
	if (reply->raw.len)
		strbuf_add(&text, reply->raw);
	if (!text.overflow)
		page = http_page_parse(cfg, strbuf_slice(&text), error);
	strbuf_fini(&text);
	return page;
}

bool reply_error_line_parse(struct conf_line *l, const struct reply_pages **shared)
{
	struct reply_parser p = {
		.l = l, .bare = true,
		.phase = rule_phases(l->object, RULES_HTTP_REQUEST) |
			 rule_phases(l->object, RULES_HTTP_RESPONSE),
	};
	struct reply_pages *pages = arena_zalloc(&l->cfg->arena, sizeof(*pages));
	const struct http_page *page;
	struct reply *reply;
	const char *error;
	int index;

	if (!pages)
		return conf_error(l, 0, NULL, "out of memory.");
	if (*shared)
		*pages = **shared;
	*shared = pages;
	if (!conf_peek(l) || strcmp(conf_peek(l), "status") != 0)
		return conf_error(l, l->at, NULL,
				  "http-error : expects at least a <status> as arguments.");
	reply = reply_parse_words(&p, 0);
	if (!reply)
		return false;
	index = http_page_index(reply->status);
	pages->replies[index] = NULL;
	if (reply->kind == REPLY_GROUP)
		return http_page_import(l, index, reply->group);
	if (reply->kind == REPLY_PAGES || reply->kind == REPLY_PAGE)
		return http_page_set(l, index, reply->page);
	if (!reply_is_constant(reply)) {
		pages->replies[index] = reply;
		pages->since[index] = http_page_mark(l->slots, index);
		return true;
	}
	page = reply_to_page(l->cfg, reply, &error);
	if (!page)
		return conf_error(l, 0, NULL, "http-error : %s.", error);
	return http_page_set(l, index, page);
}

const struct reply *reply_of_pages(const struct reply_pages *pages, const struct slot_area *slots,
				   unsigned status)
{
	int index = http_page_index(status);

	if (!pages || index < 0 || !pages->replies[index] ||
	    pages->since[index] != http_page_mark(slots, index))
		return NULL;
	return pages->replies[index];
}

/* --- at run time -------------------------------------------------------------------------- */

/* Adds the fields to s->res, those without a value left out; they were made before it was reset. */
static bool reply_put_fields(const struct reply *reply, struct stream *s,
			     const struct slice *values)
{
	const struct reply_field *f;
	unsigned i = 0;

	for (f = reply->fields; f; f = f->next, i++) {
		if (values[i].len && !http_msg_put_field(&s->res, f->id, f->name, values[i]))
			return false;
	}
	return true;
}

/* Values of all fields, in the context's arena. NULL: no memory. */
static struct slice *reply_make_values(const struct reply *reply, struct expr_ctx *ctx)
{
	const struct reply_field *f;
	struct slice *values;
	unsigned i = 0;

	for (f = reply->fields; f; f = f->next)
		i++;
	values = arena_alloc(ctx->arena, (i + 1) * sizeof(*values));
	i = 0;
	for (f = reply->fields; f && values; f = f->next) {
		values[i] = rule_text_make(&f->value, ctx);
		if (!values[i++].ptr)
			return NULL;
	}
	return values;
}

/* A head of ours, with fields and body. Everything is evaluated before s->res is reset: it may be
 * the response that the texts speak of.
 */
static enum reply_result reply_make_own(const struct reply *reply, struct stream *s,
					struct expr_ctx *ctx)
{
	struct slice *values = reply_make_values(reply, ctx);
	struct slice body = reply->raw.ptr ? reply->raw : SLICE("");
	bool good;

	if (reply->format)
		body = logformat_make(reply->format, ctx, block_size());
	if (!values || !body.ptr)
		return REPLY_FAILED;
	stream_reply_begin(s, reply->status, slice_none());
	good = reply_put_fields(reply, s, values) &&
		stream_reply_body(s, body, reply->format != NULL);
	if (good && body.len && reply->content_type.ptr)
		good = http_msg_put_field(&s->res, FIELD_CONTENT_TYPE, SLICE("content-type"),
					  reply->content_type);
	return good ? REPLY_DONE : REPLY_FAILED;
}

static enum reply_result reply_make_page(const struct http_page *page, unsigned status,
					 struct stream *s)
{
	struct slice body = slice_none();

	if (page->silent)
		return REPLY_SILENT;
	stream_reply_begin(s, page->status, page->reason);
	if (page->status != status)
		s->answer.asked = (uint16_t)status;
	if (!http_page_fill(page, &s->res, &body))
		return REPLY_FAILED;
	if (body.len && !block_queue_add_static(&s->local.body, body))
		return REPLY_FAILED;
	return REPLY_DONE;
}

enum reply_result reply_make(const struct reply *reply, struct stream *s, struct expr_ctx *ctx)
{
	switch (reply->kind) {
	case REPLY_PAGE:
	case REPLY_GROUP:
		if (reply->page)
			return reply_make_page(reply->page, reply->status, s);
		/* fall through */
	case REPLY_PAGES:
		return stream_reply_page(s, reply->status) ? REPLY_DONE : REPLY_SILENT;
	default:
		return reply_make_own(reply, s, ctx);
	}
}

/* The rule's own answer; NULL: it has none. */
static const struct reply *rule_reply(const struct rule *r)
{
	return r->action && r->action->reply ? r->action->reply(r) : NULL;
}

unsigned rule_deny_status(const struct rule *r)
{
	const struct reply *reply = rule_reply(r);

	return reply ? reply->status : 403;
}

bool rule_deny_reply(const struct rule *r, struct stream *s)
{
	const struct reply *reply = rule_reply(r);
	struct expr_ctx *ctx;

	if (!reply)
		return stream_reply_page(s, 403);
	ctx = stream_expr(s,
			  (r->set == RULES_HTTP_RESPONSE ? EXPR_DIR_RESPONSE : EXPR_DIR_REQUEST) |
			  EXPR_FINAL);
	switch (reply_make(reply, s, ctx)) {
	case REPLY_DONE:
		return true;
	case REPLY_SILENT:
		return false;
	default:
		return stream_reply_page(s, 500);
	}
}
