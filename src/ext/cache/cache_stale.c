/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cache_stale.c - stale objects: validated by the server, and used when it fails
 *
 * RFC 9111 4.3 (validation), 3.2 (the head of 304), 4.2.4 and RFC 5861 (stale answers).
 */
#include <string.h>
#include "base/clock.h"
#include "cache_priv.h"

/* A server that has failed is not asked about a stale object so long. */
#define FAILING_MS 1000

/* <tags> and one more, in the message's arena. */
static struct slice with_tag(const struct http_msg *m, struct slice tags, struct slice tag)
{
	char *text;

	if (!tags.len)
		return tag;
	text = arena_alloc(m->arena, tags.len + 2 + tag.len);
	if (!text)
		return tag;
	memcpy(text, tags.ptr, tags.len);
	memcpy(text + tags.len, ", ", 2);
	memcpy(text + tags.len + 2, tag.ptr, tag.len);
	return slice_make(text, tags.len + 2 + tag.len);
}

/* All of If-None-Match in one line; slice_none(): there is none. */
static struct slice tags_of(const struct http_msg *m)
{
	struct slice all = slice_none();
	const struct h1_field *f;
	int at = -1;

	while ((f = http_field_next(&m->fields, &at, FIELD_IF_NONE_MATCH, slice_none())))
		all = slice_is_none(all) ? f->value : with_tag(m, all, f->value);
	return all;
}

/* What the client has is forgotten meanwhile, but for its date. */
static bool ask_since(struct cache_state *st, struct http_msg *m)
{
	const struct h1_field *f;

	f = http_field_find(&m->fields, FIELD_IF_MODIFIED_SINCE, slice_none());
	st->since = f ? f->value : slice_none();
	return http_msg_set_field(m, SLICE("if-modified-since"),
				  cache_value_of(st->stale, st->stale->last_modified));
}

/* All rules have run: asks the server whether it has changed, in words of its own (RFC 9111 4.3.1).
 * The client's tags stay: one of them may be the current one.
 */
void cache_ask(struct cache_state *st, struct http_msg *m)
{
	const struct cache_object *o = st->stale;

	if (!o || !st->request.is_get)
		return;
	st->tags = tags_of(m);
	if (slice_eq(st->tags, SLICE("*")))
		return;
	if (cache_value_of(o, o->etag).len)
		st->asks = http_msg_set_field(m, SLICE("if-none-match"),
					      with_tag(m, st->tags, cache_value_of(o, o->etag)));
	else if (cache_value_of(o, o->last_modified).len && slice_is_none(st->tags))
		st->asks = ask_since(st, m);
}

/* The validators that ask() has added go: what is left are the client's own conditions. */
static void forget_asking(struct cache_state *st, struct http_msg *m)
{
	bool by_tag = cache_value_of(st->stale, st->stale->etag).len != 0;
	struct slice name = by_tag ? SLICE("if-none-match") : SLICE("if-modified-since");
	struct slice before = by_tag ? st->tags : st->since;

	if (slice_is_none(before))
		http_msg_del_field(m, name);
	else
		http_msg_set_field(m, name, before);
}

/* Does "304" mean <stale>, and not something that the client has? */
static bool is_about_ours(const struct cache_state *st, const struct http_msg *m)
{
	const struct h1_field *f = http_field_find(&m->fields, FIELD_ETAG, slice_none());
	struct slice tag = cache_value_of(st->stale, st->stale->etag);

	if (f && tag.len)
		return slice_eq(cache_tag(f->value), cache_tag(tag));
	return slice_is_none(st->tags);
}

/* Of a 304: may its field replace that of what is kept? RFC 9111 3.2. */
static bool updates(const struct http_msg *m, const struct h1_field *f)
{
	return f->name.ptr && !slice_starts(f->name, SLICE("content-")) && cache_keeps_field(m, f);
}

/* The head of <o> with the fields of the server's 304. False: no memory. */
static bool merge(const struct cache_object *o, const struct http_msg *m, struct http_msg *out)
{
	for (unsigned i = 0; i < o->field_count; i++) {
		struct slice name = cache_name_of(o, i);
		const struct h1_field *f;

		f = http_field_find(&m->fields, cache_fields_of(o)[i].id, name);
		if (!(f && updates(m, f)) && !http_msg_add_field(out, name, cache_value_of(o, i)))
			return false;
	}
	for (unsigned i = 0; i < m->fields.count; i++) {
		const struct h1_field *f = &m->fields.list[i];

		if (updates(m, f) && !http_msg_add_field(out, f->name, f->value))
			return false;
	}
	return http_msg_set_status(out, o->status, slice_none());
}

/* It has not changed: an object with a new head and the old body, in the cache unless the server
 * forbids it now. Held. NULL: no memory.
 */
static struct cache_object *freshen(struct stream *s, const struct cache_state *st,
				    const struct cache_conf *c)
{
	struct cache_object *o = NULL;
	struct cache_answer a;
	struct http_msg head;
	const struct h1_field *age;

	http_msg_init(&head, &s->arena);
	if ((st->asked || !c->rfc9111) && merge(st->stale, &s->res, &head)) {
		age = http_field_find(&s->res.fields, FIELD_AGE, slice_none());
		if (age && !http_msg_add_field(&head, age->name, age->value))
			age = NULL;
		cache_look_at_answer(&head, &st->request, c, cache_wall_s(), &a);
		if (c->hints != CACHE_HINTS_OFF)
			cache_hints_look(c, st->key, &head, &st->request, &a);
		a.second.vary |= cache_second_of(st->stale)->vary & CACHE_VARY_OURS;
		o = cache_object_new(st->key, &head, st->stale->body, &a, c);
	}
	if (o)
		cache_remove_object(c->cache, st->stale);
	if (o && cache_may_store(c, &head, &a))
		cache_add(c->cache, o, (unsigned)c->max_secondary);
	http_msg_fini(&head);
	return o;
}

/* RFC 5861 4. */
static bool is_failure(unsigned status)
{
	return status == 500 || (status >= 502 && status <= 504);
}

/* A server that cannot answer about <o> is not asked by all requests at the same time. */
static struct cache_object *despite_failure(struct cache_object *o)
{
	__atomic_store_n(&o->failing_until_ms, clock_now_ms() + FAILING_MS, __ATOMIC_RELAXED);
	return cache_object_take(o);
}

static bool is_good_for_errors(const struct cache_object *o)
{
	return clock_now_ms() < o->end_ms + o->error_s * 1000ULL;
}

/* A server's head has come, or none will. */
const struct service_kind *cache_instead(struct filter *f, unsigned status, bool is_servers,
					 const void **arg)
{
	const struct cache_conf *c = cache_filter_data(f)->conf;
	struct cache_state *st = f->state;
	struct stream *s = f->stream;
	struct cache_object *o = NULL;

	if (!st->stale)
		return NULL;
	if (is_servers && status == 304 && st->asks && is_about_ours(st, &s->res))
		o = freshen(s, st, c);
	else if (is_failure(status) && is_good_for_errors(st->stale))
		o = despite_failure(st->stale);
	if (!o)
		return NULL;
	if (st->asks)
		forget_asking(st, &s->req);
	st->asks = false;
	cache_hit(s, st, o, c->ranges);
	st->hit.is_conditional = true; /* rules may have edited it meanwhile */
	*arg = &st->hit;
	return cache_services;
}
