/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cache_object.c - a stored answer: a head, and a body that several heads may share
 *
 * An object is immutable once it can be found: when a server answers "not modified", a new head is
 * made for it, with the body of the old one.
 */
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "codec/date.h"
#include "cache_priv.h"

#define PART_MIN 2048
#define PART_MAX 65536

/* --- bodies ----------------------------------------------------------------------------------- */

static struct cache_part *last_part(struct cache_body *b)
{
	return b->last ? b->last : &b->first;
}

static void body_drop(struct cache_body *b)
{
	struct cache_part *p, *next;

	if (!b || __atomic_sub_fetch(&b->refs, 1, __ATOMIC_ACQ_REL))
		return;
	for (p = b->first.next; p; p = next) {
		next = p->next;
		free(p);
	}
	free(b);
}

/* A part for the body of <m>: for all of it, if that is known and not too much to wait for. */
static struct cache_body *body_new(const struct http_msg *m)
{
	uint32_t room = PART_MIN;
	struct cache_body *b;

	if (m->body == HTTP_BODY_LENGTH)
		room = m->content_length > PART_MAX ? PART_MAX : (uint32_t)m->content_length;
	b = malloc(sizeof(*b) + room);
	if (b)
		*b = (struct cache_body){ .refs = 1, .room = room, .first.room = room };
	return b;
}

/* Room for some more; parts of large bodies are large. */
static struct cache_part *part_add(struct cache_body *b)
{
	struct cache_part *last = last_part(b), *p;
	uint32_t room = last->room * 2 > PART_MAX ? PART_MAX
		: last->room < PART_MIN ? PART_MIN : last->room * 2;

	p = malloc(sizeof(*p) + room);
	if (!p)
		return NULL;
	*p = (struct cache_part){ .room = room };
	last->next = b->last = p;
	b->room += sizeof(*p) + room;
	return p;
}

/* More of the body. False: no memory. */
static bool cache_object_add(struct cache_object *o, const char *bytes, size_t len)
{
	struct cache_body *b = o->body;

	while (len) {
		struct cache_part *p = last_part(b);
		size_t n;

		if (p->len == p->room && !(p = part_add(b)))
			return false;
		n = len < p->room - p->len ? len : p->room - p->len;
		memcpy(p->data + p->len, bytes, n);
		p->len += (uint32_t)n;
		b->len += n;
		bytes += n;
		len -= n;
	}
	return true;
}

bool cache_object_keep(struct cache_object *o, const struct block_queue *in, uint64_t max_len)
{
	for (const struct piece *p = in->first; p; p = p->next)
		if (o->body->len + p->len > max_len || !cache_object_add(o, p->ptr, p->len))
			return false;
	return true;
}

/* The first part is in one piece with the body, which no other thread knows of yet. */
static void shrink_first(struct cache_object *o)
{
	struct cache_body *b = o->body;

	if (b->first.len == b->first.room)
		return;
	b = realloc(b, sizeof(*b) + b->first.len);
	if (!b)
		return;
	b->room = b->first.room = b->first.len;
	o->body = b;
}

void cache_object_shrink(struct cache_object *o)
{
	struct cache_body *b = o->body;
	struct cache_part *p = b->last, **at = &b->first.next, *small;

	if (!p) {
		shrink_first(o);
		return;
	}
	if (p->len == p->room)
		return;
	while (*at != p)
		at = &(*at)->next;
	small = realloc(p, sizeof(*p) + p->len);
	if (!small)
		return;
	b->room -= small->room - small->len;
	small->room = small->len;
	*at = b->last = small;
}

struct slice cache_body_next(const struct cache_part **at, uint64_t *skip)
{
	const struct cache_part *p = *at;
	struct slice bytes;

	while (p && *skip >= p->len) {
		*skip -= p->len;
		p = p->next;
	}
	*at = p ? p->next : NULL;
	if (!p)
		return slice_none();
	bytes = slice_make(p->data + *skip, p->len - *skip);
	*skip = 0;
	return bytes;
}

/* --- objects ---------------------------------------------------------------------------------- */

const struct cache_second cache_no_second;

uint64_t cache_object_size(const struct cache_object *o)
{
	return o->head_size + sizeof(*o->body) + o->body->room;
}

struct cache_object *cache_object_take(struct cache_object *o)
{
	__atomic_fetch_add(&o->refs, 1, __ATOMIC_RELAXED);
	return o;
}

void cache_object_drop(struct cache_object *o)
{
	if (!o || __atomic_sub_fetch(&o->refs, 1, __ATOMIC_ACQ_REL))
		return;
	body_drop(o->body);
	free(o);
}

static struct slice put(char **at, struct slice s)
{
	struct slice copy = slice_make(*at, s.len);

	if (s.len)
		memcpy(*at, s.ptr, s.len);
	*at += s.len;
	return copy;
}

/* What is asked for by name later, among the fields that are kept. */
static void look_at_fields(struct cache_object *o, const struct http_msg *m, const char *tag_field)
{
	const struct h1_field *f;
	struct slice modified;

	o->etag = o->last_modified = o->tags = CACHE_NO_FIELD;
	for (uint16_t i = 0; i < o->field_count; i++) {
		struct slice name = cache_name_of(o, i);

		if (slice_eq(name, SLICE("etag")))
			o->etag = i;
		else if (slice_eq(name, SLICE("last-modified")))
			o->last_modified = i;
		if (tag_field && slice_eq_nocase(name, slice_of(tag_field)))
			o->tags = i;
	}
	modified = cache_value_of(o, o->last_modified);
	if (modified.len && date_parse(modified, &o->modified_s))
		return;
	f = http_field_find(&m->fields, FIELD_DATE, slice_none());
	if (!f || !date_parse(f->value, &o->modified_s))
		o->modified_s = (int64_t)(clock_wall_us() / 1000000);
}

static bool is_kept(const struct http_msg *m, const struct h1_field *f)
{
	return f->name.ptr && f->name.len <= UINT16_MAX && cache_keeps_field(m, f);
}

static void copy_fields(struct cache_object *o, const struct http_msg *m, char **at)
{
	struct cache_field *to = cache_fields_of(o);

	for (unsigned i = 0; i < m->fields.count; i++) {
		const struct h1_field *f = &m->fields.list[i];

		if (!is_kept(m, f))
			continue;
		*to++ = (struct cache_field){
			.name_len = (uint16_t)f->name.len, .value_len = (uint32_t)f->value.len,
			.id = http_field_id(f->name),
		};
		put(at, f->name);
		put(at, SLICE(": "));
		put(at, f->value);
		put(at, SLICE("\r\n"));
	}
}

static uint32_t seconds_within(int64_t s)
{
	return s > UINT32_MAX ? UINT32_MAX : (uint32_t)s;
}

/* When it becomes stale, and what it is good for then. */
static void set_dates(struct cache_object *o, const struct cache_answer *a,
		      const struct cache_conf *c)
{
	bool known = o->etag != CACHE_NO_FIELD || o->last_modified != CACHE_NO_FIELD;
	int64_t while_s = 0, error_s = 0, kept_s;

	if ((c->stale_revalidate_s || c->rfc9111) && !a->never_stale)
		while_s = a->stale_revalidate_s >= 0 ? a->stale_revalidate_s
						     : c->stale_revalidate_s;
	if ((c->stale_error_s || c->rfc9111) && !a->never_stale)
		error_s = a->stale_error_s >= 0 ? a->stale_error_s : c->stale_error_s;
	kept_s = while_s > error_s ? while_s : error_s;
	if (c->revalidate_s > kept_s && (known || c->rfc9111)) /* or for max-stale of requests */
		kept_s = c->revalidate_s;
	o->age_s = seconds_within(a->age_s);
	o->stored_ms = clock_now_ms();
	o->end_ms = o->stored_ms + (uint64_t)a->fresh_ms;
	o->stale_s = seconds_within(while_s);
	o->error_s = seconds_within(error_s);
	o->kept_s = seconds_within(kept_s);
}

/* Memory for the head and what is behind it, with the counts of both set. */
static struct cache_object *object_alloc(struct slice key, const struct http_msg *m,
					 const struct cache_answer *a)
{
	size_t text = key.len + a->second.others.len, count = 0, size;
	struct cache_object *o;

	for (unsigned i = 0; i < m->fields.count; i++) {
		const struct h1_field *f = &m->fields.list[i];

		if (!is_kept(m, f))
			continue;
		text += f->name.len + f->value.len + 4;
		count++;
	}
	size = sizeof(*o) + (a->second.vary ? sizeof(a->second) : 0) +
	       count * sizeof(struct cache_field) + text;
	o = count < CACHE_NO_FIELD && size <= UINT32_MAX ? malloc(size) : NULL;
	if (o)
		*o = (struct cache_object){
			.refs = 1, .varies = a->second.vary != 0, .status = m->status,
			.field_count = (uint16_t)count, .key_len = (uint32_t)key.len,
			.head_size = (uint32_t)size, .never_stale = a->never_stale,
			.for_authorized = a->for_authorized,
		};
	return o;
}

struct cache_object *cache_object_new(struct slice key, const struct http_msg *m,
				      struct cache_body *body, const struct cache_answer *a,
				      const struct cache_conf *c)
{
	struct cache_object *o = object_alloc(key, m, a);
	struct cache_second second = a->second;
	char *at;

	if (!o)
		return NULL;
	if (body)
		__atomic_fetch_add(&body->refs, 1, __ATOMIC_RELAXED);
	o->body = body ? body : body_new(m);
	if (!o->body) {
		cache_object_drop(o);
		return NULL;
	}
	at = cache_text_of(o);
	put(&at, key);
	copy_fields(o, m, &at);
	second.fields = NULL;
	second.others = put(&at, second.others);
	if (o->varies)
		memcpy(o + 1, &second, sizeof(second));
	look_at_fields(o, m, c->tag_field);
	set_dates(o, a, c);
	return o;
}

bool cache_object_has_tag(const struct cache_object *o, struct slice word)
{
	struct slice tags = cache_value_of(o, o->tags);

	for (size_t at = 0, end; at < tags.len; at = end + 1) {
		for (end = at; end < tags.len && tags.ptr[end] != ' ' && tags.ptr[end] != ',';
		     end++)
			;
		if (slice_eq(slice_sub(tags, at, end), word))
			return true;
	}
	return false;
}
