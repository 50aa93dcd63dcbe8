/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cache_object.c - what is kept of an answer: a head, and a body that several heads may have
 *
 * An object does not change once it can be found: a server that says "not modified" makes a new
 * head of it, with the body of the old one.
 */
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "codec/date.h"
#include "cache_priv.h"

#define PART_MIN 2048
#define PART_MAX 65536

struct cache_part {
	struct cache_part *next;
	size_t len, room;
	char data[];
};

/* --- bodies ----------------------------------------------------------------------------------- */

static void body_drop(struct cache_body *b)
{
	if (!b || __atomic_sub_fetch(&b->refs, 1, __ATOMIC_ACQ_REL))
		return;
	while (b->first) {
		struct cache_part *p = b->first;

		b->first = p->next;
		free(p);
	}
	free(b);
}

/* Room for some more; parts of large bodies are large. */
static struct cache_part *part_add(struct cache_body *b)
{
	size_t room = b->last ? b->last->room * 2 : PART_MIN;
	struct cache_part *p;

	room = room > PART_MAX ? PART_MAX : room;
	p = malloc(sizeof(*p) + room);
	if (!p)
		return NULL;
	*p = (struct cache_part){ .room = room };
	if (b->last)
		b->last->next = p;
	else
		b->first = p;
	b->last = p;
	b->room += sizeof(*p) + room;
	return p;
}

bool cache_object_add(struct cache_object *o, const char *bytes, size_t len)
{
	struct cache_body *b = o->body;

	while (len) {
		struct cache_part *p = b->last;
		size_t n;

		if ((!p || p->len == p->room) && !(p = part_add(b)))
			return false;
		n = len < p->room - p->len ? len : p->room - p->len;
		memcpy(p->data + p->len, bytes, n);
		p->len += n;
		b->len += n;
		bytes += n;
		len -= n;
	}
	return true;
}

void cache_object_shrink(struct cache_object *o)
{
	struct cache_body *b = o->body;
	struct cache_part *p = b->last, **at = &b->first, *small;

	if (!p || p->len == p->room)
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

uint64_t cache_object_size(const struct cache_object *o)
{
	return sizeof(*o) + o->head_size + o->field_count * sizeof(struct cache_field) +
	       sizeof(*o->body) + o->body->room;
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
	free(o->fields);
	free(o->text);
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

	for (unsigned i = 0; i < o->field_count; i++) {
		const struct cache_field *k = &o->fields[i];

		if (slice_eq(k->name, SLICE("etag")))
			o->etag = k->value;
		else if (slice_eq(k->name, SLICE("last-modified")))
			o->last_modified = k->value;
		if (tag_field && slice_eq_nocase(k->name, slice_of(tag_field)))
			o->tags = k->value;
	}
	if (o->last_modified.len && date_parse(o->last_modified, &o->modified_s))
		return;
	f = http_field_find(&m->fields, FIELD_DATE, slice_none());
	if (!f || !date_parse(f->value, &o->modified_s))
		o->modified_s = (int64_t)(clock_wall_us() / 1000000);
}

static void copy_fields(struct cache_object *o, const struct http_msg *m, char *at)
{
	for (unsigned i = 0; i < m->fields.count; i++) {
		const struct h1_field *f = &m->fields.list[i];
		struct cache_field *to = &o->fields[o->field_count];

		if (!f->name.ptr || !cache_keeps_field(m, f))
			continue;
		to->name = put(&at, f->name);
		to->value = put(&at, f->value);
		o->field_count++;
	}
}

static struct cache_body *body_new(void)
{
	struct cache_body *b = calloc(1, sizeof(*b));

	if (b)
		b->refs = 1;
	return b;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* When it becomes stale, and what it is good for then. */
static void set_dates(struct cache_object *o, const struct cache_answer *a,
		      const struct cache_conf *c)
{
	int64_t while_s = 0, error_s = 0;
	bool known = o->etag.len || o->last_modified.len;

	if ((c->stale_revalidate_s || c->rfc9111) && !a->never_stale)
		while_s = a->stale_revalidate_s >= 0 ? a->stale_revalidate_s
						     : c->stale_revalidate_s;
	if ((c->stale_error_s || c->rfc9111) && !a->never_stale)
		error_s = a->stale_error_s >= 0 ? a->stale_error_s : c->stale_error_s;
	o->age_s = a->age_s;
	o->stored_ms = clock_now_ms();
	o->end_ms = o->stored_ms + (uint64_t)a->fresh_ms;
	o->stale_ms = o->end_ms + (uint64_t)while_s * 1000;
	o->error_ms = o->end_ms + (uint64_t)error_s * 1000;
	o->kept_ms = later(o->stale_ms, o->error_ms);
	if (c->revalidate_s && (known || c->rfc9111)) /* or for max-stale of requests */
		o->kept_ms = later(o->kept_ms, o->end_ms + (uint64_t)c->revalidate_s * 1000);
}

struct cache_object *cache_object_new(struct slice key, const struct http_msg *m,
				      struct cache_body *body, const struct cache_answer *a,
				      const struct cache_conf *c)
{
	struct cache_object *o = calloc(1, sizeof(*o));
	size_t size = key.len + a->second.others.len;
	char *at;

	if (!o)
		return NULL;
	o->refs = 1;
	for (unsigned i = 0; i < m->fields.count; i++)
		size += m->fields.list[i].name.len + m->fields.list[i].value.len;
	o->text = at = malloc(size + 1);
	o->fields = malloc((m->fields.count + 1) * sizeof(*o->fields));
	if (body)
		__atomic_fetch_add(&body->refs, 1, __ATOMIC_RELAXED);
	o->body = body ? body : body_new();
	if (!o->text || !o->fields || !o->body) {
		cache_object_drop(o);
		return NULL;
	}
	o->key = put(&at, key);
	o->second = a->second;
	o->second.fields = NULL;
	o->second.others = put(&at, a->second.others);
	o->status = m->status;
	o->never_stale = a->never_stale;
	o->for_authorized = a->for_authorized;
	copy_fields(o, m, at);
	o->head_size = size;
	look_at_fields(o, m, c->tag_field);
	set_dates(o, a, c);
	return o;
}

bool cache_object_has_tag(const struct cache_object *o, struct slice word)
{
	for (size_t at = 0, end; at < o->tags.len; at = end + 1) {
		for (end = at; end < o->tags.len && o->tags.ptr[end] != ' ' &&
			       o->tags.ptr[end] != ','; end++)
			;
		if (slice_eq(slice_sub(o->tags, at, end), word))
			return true;
	}
	return false;
}
