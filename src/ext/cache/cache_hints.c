/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cache_hints.c - `early-hints`: sends the last answer's links first, as a 103 (RFC 8297)
 *
 *	an answer with `Link: </a.css>; rel=preload` passes cache-store    its links are kept
 *	the same is asked for, and a server must be asked                  they go before its answer
 *
 * They are an object of their own beside that of the answer, under the same key: it has only a few
 * bytes, outlives the answer, and exists for answers that may not be stored, too. An extension.
 */
#include "base/clock.h"
#include "stream/stream.h"
#include "cache_priv.h"

/* --- keeping ---------------------------------------------------------------------------------- */

/* Recipients take about 100 fields in a head, and give up the answer behind a longer one. */
#define LINKS_MAX 50

/* The first links of <m>, one a line, in <out>. False: none, or no memory. */
static bool take_links(const struct http_msg *m, struct http_msg *out)
{
	const struct h1_field *f;
	int at = -1;

	while ((f = http_field_next(&m->fields, &at, FIELD_LINK, slice_none()))) {
		struct slice rest = f->value;

		while (rest.len && out->fields.count < LINKS_MAX) {
			struct slice link = cache_link_next(&rest);

			if (cache_link_is_hint(link) &&
			    !http_msg_add_field(out, SLICE("link"), link))
				return false;
		}
	}
	return out->fields.count > 0;
}

/* What they can be removed by is kept with them, and not sent. */
static bool take_tags(const struct http_msg *m, const struct cache_conf *c, struct http_msg *out)
{
	const struct h1_field *f = NULL;

	if (c->tag_field)
		f = http_field_find(&m->fields, http_field_id(slice_of(c->tag_field)),
				    slice_of(c->tag_field));
	return !f || http_field_id(f->name) == FIELD_LINK ||
	       http_msg_add_field(out, slice_of(c->tag_field), f->value);
}

/* Are the links of <o> those of <head>, for long enough? */
static bool is_good_still(const struct cache_object *o, const struct http_msg *head)
{
	uint64_t half_ms = (o->end_ms - o->stored_ms) / 2;

	if (o->field_count != head->fields.count || clock_now_ms() >= o->stored_ms + half_ms)
		return false;
	for (unsigned i = 0; i < o->field_count; i++)
		if (!slice_eq(cache_value_of(o, i), head->fields.list[i].value))
			return false;
	return true;
}

/* What they vary by: not by the coding, which a head has nothing of. False: unknown. */
static bool second_of(const struct cache_answer *a, const struct cache_conf *c,
		      struct cache_second *out)
{
	*out = a->second;
	out->vary &= (uint8_t)~(CACHE_VARY_ENCODING | CACHE_VARY_OURS);
	out->encodings = 0;
	return !a->vary_is_unknown && (!out->vary || c->process_vary || c->rfc9111);
}

static void store(struct cache *cache, struct slice key, const struct http_msg *head,
		  const struct cache_answer *a, const struct cache_conf *c)
{
	struct cache_object *o = cache_object_new(key, head, NULL, a, c);

	if (!o)
		return;
	o->kept_s = o->stale_s = o->error_s = 0;
	if (cache_object_size(o) <= cache_max_object(c))
		cache_add(cache, o, (unsigned)c->max_secondary);
	cache_object_drop(o);
}

void cache_hints_look(const struct cache_conf *c, struct slice key, const struct http_msg *m,
		      const struct cache_request *rq, const struct cache_answer *a)
{
	struct cache_answer hints = *a;
	struct cache_object *old;
	struct http_msg head;

	if (m->status != 200)
		return; /* it says nothing about the page */
	old = cache_find_hints(c->cache, key, &rq->second);
	http_msg_init(&head, m->arena);
	head.status = CACHE_HINTS_STATUS;
	head.body = HTTP_BODY_LENGTH;
	hints.fresh_ms = c->hints_age_s * 1000;
	hints.age_s = 0;
	if (!a->may_hint || !second_of(a, c, &hints.second) || !take_links(m, &head) ||
	    !take_tags(m, c, &head)) {
		if (old)
			cache_remove_object(c->cache, old);
	} else if (!old || !is_good_still(old, &head)) {
		store(c->cache, key, &head, &hints, c);
	}
	cache_object_drop(old);
	http_msg_fini(&head);
}

/* --- sending ---------------------------------------------------------------------------------- */

/* May its client be sent one? A client that asks for another protocol waits for the answer to
 * that.
 */
static bool is_able(const struct stream *s, const struct cache_conf *c)
{
	return (s->req.version >= 20 || c->hints_http1) && !(s->req.flags & HTTP_MSG_UPGRADE);
}

void cache_hints_send(struct stream *s, struct cache_state *st, const struct cache_conf *c)
{
	struct cache_object *o;
	struct http_msg head;

	if (c->hints == CACHE_HINTS_OFF || st->hints || !st->request.is_get || !is_able(s, c))
		return;
	o = cache_find_hints(c->cache, st->key, &st->request.second);
	if (o && st->request.has_authorization && !o->for_authorized) {
		cache_object_drop(o);
		o = NULL;
	}
	if (!o)
		return;
	st->hints = o; /* its text is of use until the answer has left */
	http_msg_init(&head, &s->arena);
	head.flags = HTTP_MSG_RESPONSE | HTTP_MSG_INTERIM;
	head.status = CACHE_HINTS_STATUS;
	head.reason = SLICE("Early Hints");
	for (unsigned i = 0; i < o->field_count; i++)
		if (cache_fields_of(o)[i].id == FIELD_LINK)
			http_msg_add_field(&head, SLICE("link"), cache_value_of(o, i));
	if (head.fields.count)
		stream_send_interim(s, &head);
	http_msg_fini(&head);
}
