/* SPDX-License-Identifier: GPL-2.0-or-later */
/* forward_auth_ask.c - sends the authorization request and applies its answer
 *
 * The stream waits in its rule while the authorization request runs as a stream of its own.
 */
#include <string.h>
#include "base/block.h"
#include "base/bug.h"
#include "stream/inside.h"
#include "stream/reply.h"
#include "stream/track.h"
#include "stream/wait.h"
#include "forward_auth_priv.h"

/* An answer that is handed to the client is kept until it is whole. */
#define BODY_MAX 65536

struct question {
	struct stream_wait wait;
	const struct fa_action *action;
	struct inside *inside;       /* NULL: it has ended */
	struct arena *arena;         /* the stream's */
	uint16_t status;             /* of the answer; 0: none came */
	struct slice reason;
	struct fa_pairs fields;      /* of the answer: all, but those that frame it */
	struct strbuf body;
	bool whole, failed;
	struct slice key;            /* of the grant; slice_none(): it is not remembered */
};

/* A text of the configuration, made of this request. slice_none(): no memory, or it may be cut. */
static struct slice made(const struct rule_text *t, struct expr_ctx *ctx)
{
	struct slice s = rule_text_make(t, ctx);

	return s.len < block_size() ? s : slice_none();
}

/* --- fields ----------------------------------------------------------------------------------- */

static char folded(char c)
{
	return c == '_' ? '-' : c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_same(struct slice a, struct slice b)
{
	size_t i = 0;

	while (i < a.len && i < b.len && folded(a.ptr[i]) == folded(b.ptr[i]))
		i++;
	return i == a.len && i == b.len;
}

/* An underscore is as good as a hyphen: servers behind us may think so. */
static bool names_have(const struct fa_names *names, struct slice name)
{
	for (unsigned n = 0; n < names->count; n++)
		if (is_same(names->list[n], name))
			return true;
	return false;
}

/* What is about this message and its connection, or would make the answer another one. */
static bool is_about_message(struct slice name)
{
	static const char *const names[] = {
		"connection", "keep-alive", "proxy-connection", "te", "trailer",
		"transfer-encoding", "upgrade", "content-length", "expect", "host",
		"http2-settings", "if-match", "if-none-match", "if-modified-since",
		"if-unmodified-since", "if-range", "range",
	};

	for (unsigned i = 0; i < ARRAY_LEN(names); i++)
		if (slice_eq_nocase(name, slice_of(names[i])))
			return true;
	return false;
}

/* Is it named by a Connection field? */
static bool is_of_connection(const struct http_fields *f, struct slice name)
{
	struct slice rest = slice_none(), value;
	int at = -1;

	while (http_value_next(f, &at, &rest, FIELD_CONNECTION, slice_none(), &value))
		if (slice_eq_nocase(value, name))
			return true;
	return false;
}

static bool is_set(const struct fa_action *a, struct slice name)
{
	for (const struct fa_field *f = a->fields; f; f = f->next)
		if (is_same(f->name, name))
			return true;
	return false;
}

static bool pass_fields(const struct fa_action *a, const struct http_msg *from,
			struct http_msg *to)
{
	for (unsigned i = 0; i < from->fields.count; i++) {
		const struct h1_field *f = &from->fields.list[i];

		if (!f->name.ptr || is_about_message(f->name) || is_set(a, f->name) ||
		    (!a->pass_all && !names_have(&a->pass, f->name)) ||
		    is_of_connection(&from->fields, f->name))
			continue;
		if (!http_msg_add_field(to, f->name, f->value))
			return false;
	}
	return true;
}

static bool set_fields(const struct fa_action *a, struct expr_ctx *ctx, struct http_msg *to)
{
	for (const struct fa_field *f = a->fields; f; f = f->next) {
		struct slice value = made(&f->value, ctx);

		if (slice_is_none(value))
			return false;
		if (value.len && !http_msg_add_field(to, f->name, value))
			return false;
	}
	return true;
}

/* --- the answer ------------------------------------------------------------------------------- */

static struct slice arena_slice(struct arena *arena, struct slice s)
{
	char *copy = arena_alloc(arena, s.len + 1);

	if (!copy)
		return slice_none();
	memcpy(copy, s.ptr, s.len);
	copy[s.len] = '\0';
	return slice_make(copy, s.len);
}

static void answer_head(struct inside *x, const struct http_msg *m)
{
	struct question *q = x->ctx;

	if (m->flags & HTTP_MSG_INTERIM)
		return;
	q->status = m->status;
	q->reason = arena_slice(q->arena, m->reason);
	q->fields.list = arena_alloc(q->arena, (m->fields.count + 1) * sizeof(struct fa_pair));
	if (!q->fields.list || slice_is_none(q->reason)) {
		q->failed = true;
		return;
	}
	for (unsigned i = 0; i < m->fields.count; i++) {
		const struct h1_field *f = &m->fields.list[i];
		struct fa_pair *p = &q->fields.list[q->fields.count];

		if (!f->name.ptr || is_about_message(f->name) ||
		    is_of_connection(&m->fields, f->name))
			continue;
		p->name = arena_slice(q->arena, f->name);
		p->value = arena_slice(q->arena, f->value);
		q->failed = q->failed || slice_is_none(p->name) || slice_is_none(p->value);
		q->fields.count++;
	}
}

static bool is_granted(const struct question *q)
{
	return q->status >= 200 && q->status < 300;
}

static void answer_data(struct inside *x, struct block_queue *from)
{
	struct question *q = x->ctx;

	for (const struct piece *i = from->first; i && !q->failed && !is_granted(q); i = i->next)
		q->failed = q->body.len + i->len > BODY_MAX ||
			    !strbuf_add(&q->body, slice_make(i->ptr, i->len));
	block_queue_clear(from);
}

static void answer_end(struct inside *x, bool whole, enum stream_end why)
{
	struct question *q = x->ctx;

	q->inside = NULL;
	q->whole = whole;
	stream_wake(&q->wait);
}

static const struct inside_kind question_kind = {
	.name = "FORWARD-AUTH", .head = answer_head, .data = answer_data, .end = answer_end,
};

static void question_cancel(struct stream_wait *w)
{
	struct question *q = container_of(w, struct question, wait);

	if (q->inside)
		inside_cancel(q->inside);
	q->inside = NULL;
	strbuf_fini(&q->body);
}

static const struct stream_wait_kind wait_kind = {
	.name = "forward-auth", .cancel = question_cancel,
};

/* --- what becomes of the request -------------------------------------------------------------- */

/* The fields of <copy> are those of the answer only. */
static bool copy_fields(const struct fa_action *a, struct http_msg *m,
			const struct fa_pairs *pairs)
{
	for (unsigned i = 0; i < m->fields.count; i++)
		if (m->fields.list[i].name.ptr &&
		    names_have(&a->copy, m->fields.list[i].name))
			http_msg_drop_field(m, &m->fields.list[i]);
	for (unsigned i = 0; i < pairs->count; i++)
		if (names_have(&a->copy, pairs->list[i].name) &&
		    !http_msg_add_field(m, pairs->list[i].name, pairs->list[i].value))
			return false;
	return true;
}

static enum rule_result fail(const struct fa_action *a, struct stream *s)
{
	static const struct fa_pairs nothing;

	if (a->fail_open && copy_fields(a, &s->req, &nothing))
		return RULE_CONTINUE;
	return stream_reply_page(s, 503) ? RULE_REPLY : RULE_CLOSE;
}

/* The answer is the client's. */
static enum rule_result hand_over(struct question *q, struct stream *s)
{
	stream_reply_begin(s, q->status, q->reason);
	for (unsigned i = 0; i < q->fields.count; i++)
		if (!http_msg_add_field(&s->res, q->fields.list[i].name, q->fields.list[i].value))
			return RULE_ERROR;
	if (!stream_reply_body(s, strbuf_slice(&q->body), true))
		return RULE_ERROR;
	if (q->status == 401 || q->status == 403)
		track_refused(s);
	return RULE_REPLY;
}

/* What is remembered is only what will be asked for. */
static void remember(const struct question *q)
{
	struct fa_pairs kept = { .list = q->fields.list };

	for (unsigned i = 0; i < q->fields.count; i++)
		if (names_have(&q->action->copy, q->fields.list[i].name))
			q->fields.list[kept.count++] = q->fields.list[i];
	fa_cache_add(q->action->cache, q->key, &kept);
}

static enum rule_result decide(struct question *q, struct stream *s)
{
	const struct fa_action *a = q->action;
	enum rule_result r;

	if (q->failed || !q->whole || q->status < 200 || q->status >= 500) {
		r = fail(a, s);
	} else if (!is_granted(q)) {
		r = hand_over(q, s);
	} else {
		r = copy_fields(a, &s->req, &q->fields) ? RULE_CONTINUE : RULE_ERROR;
		if (!slice_is_none(q->key))
			remember(q);
	}
	strbuf_fini(&q->body);
	return r;
}

/* --- the question ----------------------------------------------------------------------------- */

/* Could it stand in a request line? */
static bool is_target(struct slice s)
{
	for (size_t i = 0; i < s.len; i++)
		if ((unsigned char)s.ptr[i] <= ' ' || s.ptr[i] == 0x7f)
			return false;
	return s.ptr != NULL;
}

/* False: no memory, or what the configuration makes of this request is none or too long. That is
 * the client's doing, and no failure of the server that is asked.
 */
static bool ask(struct question *q, struct expr_ctx *ctx)
{
	const struct fa_action *a = q->action;
	struct stream *s = ctx->stream;
	struct slice target = a->has_path ? made(&a->path, ctx) : http_msg_pathq(&s->req);
	const struct h1_field *host = http_field_find(&s->req.fields, FIELD_HOST, slice_none());
	struct http_msg *m;

	if (a->has_path && !is_target(target))
		return false;
	if (!target.len || *target.ptr != '/')
		target = SLICE("/");
	q->inside = inside_new(a->backend, &question_kind, q, a->method, target);
	if (!q->inside)
		return false;
	m = q->inside->request;
	if (pass_fields(a, &s->req, m) && set_fields(a, ctx, m) &&
	    (is_set(a, SLICE("host")) ||
	     http_msg_add_field(m, SLICE("host"), host ? host->value : slice_of(a->backend->name))))
		return true;
	inside_cancel(q->inside);
	q->inside = NULL;
	return false;
}

static enum rule_result begin(const struct fa_action *a, struct expr_ctx *ctx)
{
	struct stream *s = ctx->stream;
	struct slice key = a->cache ? made(&a->key, ctx) : slice_none();
	struct fa_pairs granted = { 0 };
	struct question *q;

	if (key.len && fa_cache_find(a->cache, key, &s->arena, &granted))
		return copy_fields(a, &s->req, &granted) ? RULE_CONTINUE : RULE_ERROR;
	q = arena_zalloc(&s->arena, sizeof(*q));
	if (!q)
		return fail(a, s);
	q->action = a;
	q->arena = &s->arena;
	strbuf_init(&q->body);
	q->key = key.len ? arena_slice(&s->arena, key) : slice_none();
	if (!ask(q, ctx))
		return RULE_ERROR;
	stream_wait_begin(s, &q->wait, &wait_kind);
	s->rule.data = q;
	inside_start(q->inside);
	return RULE_WAIT;
}

enum rule_result fa_run(const struct rule *r, struct expr_ctx *ctx, bool *first)
{
	struct question *q = ctx->stream->rule.data;

	if (!q)
		return begin(r->data, ctx);
	if (!stream_wait_is_over(&q->wait))
		return RULE_WAIT;
	return decide(q, ctx->stream);
}
