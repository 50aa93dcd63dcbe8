/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mirror_copy.c - copies of requests, as they pass
 *
 *	rule      notes that the request is wanted
 *	head      each mirror gets a stream of its own with the fields that the server gets
 *	data      pieces of the body are shared with those that still take them
 */
#include <stdlib.h>
#include <string.h>
#include "base/num.h"
#include "core/thread.h"
#include "stream/inside.h"
#include "mirror_priv.h"

#define PART 16384

/* One request to one mirror. */
struct copy {
	struct copy *next;            /* of the original, while its body comes */
	struct mirror_rule *rule;
	struct inside *inside;
	struct block_queue waiting;   /* what the mirror has not taken */
	bool is_held;                 /* it is in its original's list */
	bool has_all, is_broken;      /* the body's end came; no end will come */
};

/* What the rules want. */
struct wanted {
	struct wanted *next;
	struct mirror_rule *rule;
};

struct mirror_state {
	struct wanted *wanted;
	struct copy *copies;
};

static void count(struct mirror_rule *m, enum mirror_count which, int64_t n)
{
	counter_add(&m->counts, which, n);
}

/* --- the mirror's side ------------------------------------------------------------------------ */

static enum inside_result copy_part(struct inside *x, struct block_queue *to)
{
	struct copy *c = x->ctx;

	if (c->is_broken || !block_queue_move_len(to, &c->waiting, PART))
		return INSIDE_ERROR;
	if (c->waiting.len)
		return INSIDE_MORE;
	return c->has_all ? INSIDE_DONE : INSIDE_WAIT;
}

static void copy_head(struct inside *x, const struct http_msg *m)
{
	struct copy *c = x->ctx;

	if (!(m->flags & HTTP_MSG_INTERIM) && !c->is_broken)
		count(c->rule, m->status < 500 ? MIRROR_ANSWERED : MIRROR_ERRORS, 1);
}

static void copy_free(struct copy *c)
{
	block_queue_clear(&c->waiting);
	free(c);
}

static void copy_end(struct inside *x, bool whole, enum stream_end why)
{
	struct copy *c = x->ctx;

	c->inside = NULL;
	count(c->rule, MIRROR_RUNNING, -1);
	if (!whole)
		count(c->rule, MIRROR_CUT, 1);
	if (!c->is_held)
		copy_free(c);
}

static const struct inside_kind with_body = {
	.name = "MIRROR", .part = copy_part, .head = copy_head, .end = copy_end,
};
static const struct inside_kind without_body = {
	.name = "MIRROR", .head = copy_head, .end = copy_end,
};

/* --- the original's side: the head ------------------------------------------------------------ */

/* What is about the original's connection. */
static bool is_about_connection(const struct http_msg *m, struct slice name)
{
	static const char *const names[] = {
		"connection", "keep-alive", "proxy-connection", "te", "transfer-encoding",
		"upgrade", "expect", "http2-settings",
	};
	struct slice rest = slice_none(), value;
	int at = -1;

	for (unsigned i = 0; i < ARRAY_LEN(names); i++)
		if (slice_eq_nocase(name, slice_of(names[i])))
			return true;
	if (slice_eq_nocase(name, SLICE("content-length")))
		return m->body != HTTP_BODY_NONE; /* (else it says 0) */
	while (http_value_next(&m->fields, &at, &rest, FIELD_CONNECTION, slice_none(), &value))
		if (slice_eq_nocase(value, name))
			return true;
	return false;
}

static bool copy_fields(const struct http_msg *from, struct http_msg *to)
{
	for (unsigned i = 0; i < from->fields.count; i++) {
		const struct h1_field *f = &from->fields.list[i];

		if (f->name.ptr && !is_about_connection(from, f->name) &&
		    !http_msg_add_field(to, f->name, f->value))
			return false;
	}
	return true;
}

/* As the original's: what is not said by a field is said by chunks. */
static bool frame(const struct http_msg *from, struct http_msg *to)
{
	char digits[24];

	to->body = from->body;
	if (from->body != HTTP_BODY_LENGTH)
		return true;
	to->content_length = from->content_length;
	snprintf(digits, sizeof(digits), "%llu", (unsigned long long)from->content_length);
	return http_msg_add_field(to, SLICE("content-length"), slice_of(digits));
}

static bool has_body(const struct http_msg *m)
{
	return m->body == HTTP_BODY_CHUNKED || (m->body == HTTP_BODY_LENGTH && m->content_length);
}

/* NULL: no memory. */
static struct copy *copy_new(struct mirror_rule *m, const struct http_msg *original)
{
	struct copy *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->rule = m;
	c->inside = inside_new(m->backend, has_body(original) ? &with_body : &without_body, c,
			       original->method_text, original->uri);
	if (c->inside && frame(original, c->inside->request) &&
	    copy_fields(original, c->inside->request))
		return c;
	if (c->inside)
		inside_cancel(c->inside);
	free(c);
	return NULL;
}

static void copy_begin(struct mirror_state *st, struct mirror_rule *m, const struct http_msg *msg)
{
	uint64_t most = (uint64_t)m->max / thread_group_count();
	struct copy *c;

	if (counter_add_read(&m->counts, MIRROR_RUNNING, 1) > (most ? most : 1)) {
		count(m, MIRROR_RUNNING, -1);
		count(m, MIRROR_BUSY, 1);
		return;
	}
	c = copy_new(m, msg);
	if (!c) {
		count(m, MIRROR_RUNNING, -1);
		count(m, MIRROR_MEMORY, 1);
		return;
	}
	count(m, MIRROR_STARTED, 1);
	if (has_body(msg)) {
		c->is_held = true;
		c->next = st->copies;
		st->copies = c;
	}
	inside_start(c->inside);
}

static enum filter_result on_head(struct filter *f, enum filter_side side, struct http_msg *msg)
{
	struct mirror_state *st = f->state;

	if (side != FILTER_REQUEST || msg->flags & HTTP_MSG_UPGRADE ||
	    msg->method == HTTP_METH_CONNECT)
		return FILTER_NEXT;
	for (const struct wanted *w = st->wanted; w; w = w->next)
		copy_begin(st, w->rule, msg);
	st->wanted = NULL;
	if (st->copies)
		filter_watch(f, FILTER_REQUEST);
	return FILTER_NEXT;
}

/* --- the original's side: the body ------------------------------------------------------------ */

/* Lets go of <c>, whose end may have come. */
static void copy_leave(struct copy *c)
{
	c->is_held = false;
	if (c->inside)
		inside_continue(c->inside);
	else
		copy_free(c);
}

/* No more of the body is for this one. */
static void copy_break(struct copy *c)
{
	c->is_broken = true;
	block_queue_clear(&c->waiting);
	copy_leave(c);
}

static bool share(struct block_queue *to, const struct block_queue *from)
{
	for (const struct piece *p = from->first; p; p = p->next)
		if (p->block ? !block_queue_add(to, p->block, p->ptr, p->len)
			     : !block_queue_add_static(to, slice_make(p->ptr, p->len)))
			return false;
	return true;
}

/* False: it takes no more. */
static bool copy_feed(struct copy *c, const struct block_queue *in, bool end)
{
	if (!c->inside) { /* the mirror did not want all of it */
		copy_leave(c);
		return false;
	}
	if (c->waiting.len + in->len > c->rule->buffer || !share(&c->waiting, in)) {
		count(c->rule, MIRROR_SLOW, 1);
		copy_break(c);
		return false;
	}
	c->has_all = end;
	if (end)
		copy_leave(c);
	else
		inside_continue(c->inside);
	return !end;
}

static enum filter_result on_data(struct filter *f, enum filter_side side, struct block_queue *in,
				  struct block_queue *out, bool end)
{
	struct mirror_state *st = f->state;
	struct copy **at = &st->copies, *c;

	while ((c = *at)) {
		struct copy *next = c->next;

		if (copy_feed(c, in, end))
			at = &c->next;
		else
			*at = next;
	}
	block_queue_move(out, in);
	return FILTER_NEXT;
}

/* The original has ended: a body that it did not finish is not the mirror's to guess. */
static void on_detach(struct filter *f)
{
	struct mirror_state *st = f->state;

	for (struct copy *c = st->copies, *next; c; c = next) {
		next = c->next;
		copy_break(c);
	}
	st->copies = NULL;
}

const struct filter_kind mirror_filter = {
	.name = "mirror", .group = "MIRROR", .id = "mirror filter",
	.state_size = sizeof(struct mirror_state), .head = on_head, .data = on_data,
	.detach = on_detach,
};

/* --- the rule --------------------------------------------------------------------------------- */

enum rule_result mirror_run(const struct rule *r, struct expr_ctx *ctx, bool *first)
{
	struct mirror_rule *m = r->data;
	struct stream *s = ctx->stream;
	struct filter *f = filter_of_stream(s, m->filter);
	struct wanted *w;

	count(m, MIRROR_SEEN, 1);
	if (!f || num_random() >> 32 >= m->sample)
		return RULE_CONTINUE;
	w = arena_alloc(&s->arena, sizeof(*w));
	if (w) {
		struct mirror_state *st = f->state;

		*w = (struct wanted){ .next = st->wanted, .rule = m };
		st->wanted = w;
	}
	return RULE_CONTINUE;
}
