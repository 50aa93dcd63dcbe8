/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cache_rfc.c - `rfc9111 on`: the parts of RFC 9111 that the reference omits
 *
 * 4.1 (Vary, whatever field), 4.2.2 (heuristics), 4.2.3 (age by Date), 4.4 (invalidation by
 * Location), 5.2.1 (directives of requests).
 */
#include "base/clock.h"
#include "base/hash.h"
#include "codec/date.h"
#include "cache_priv.h"

/* --- Vary ------------------------------------------------------------------------------------- */

bool cache_vary_note(const struct http_msg *m, struct slice name, struct cache_second *out)
{
	char *text, *at;

	if (slice_eq(name, SLICE("*")))
		return false;
	text = at = arena_alloc(m->arena, out->others.len + 1 + name.len);
	if (!text)
		return false;
	for (size_t i = 0; i < out->others.len; i++)
		*at++ = out->others.ptr[i];
	*at++ = ',';
	for (size_t i = 0; i < name.len; i++)
		*at++ = ascii_lower(name.ptr[i]);
	out->others = slice_make(text, (size_t)(at - text));
	out->vary |= CACHE_VARY_OTHERS;
	return true;
}

/* All lines of a field, in their order; none is something else than an empty one. */
static uint64_t hash_of_lines(const struct http_msg *m, struct slice name, uint64_t seed)
{
	uint8_t id = http_field_id(name);
	const struct h1_field *f;
	int at = -1;

	while ((f = http_field_next(&m->fields, &at, id, name)))
		seed = hash_xxh3(f->value.ptr, f->value.len, seed + 1);
	return hash_xxh3(name.ptr, name.len, seed);
}

uint64_t cache_vary_hash(const struct http_msg *request, struct slice others)
{
	uint64_t hash = 0;
	size_t end;

	for (size_t at = 1; at < others.len; at = end + 1) {
		end = slice_find_char(others, at, ',');
		end = end < others.len ? end : others.len;
		hash = hash_of_lines(request, slice_sub(others, at, end), hash);
	}
	return hash;
}

struct http_msg *cache_fields_copy(const struct http_msg *request)
{
	struct http_msg *m = arena_alloc(request->arena, sizeof(*m));

	if (!m)
		return NULL;
	http_msg_init(m, request->arena);
	for (unsigned i = 0; i < request->fields.count; i++) {
		const struct h1_field *f = &request->fields.list[i];

		if (f->name.ptr && !http_msg_add_field(m, f->name, f->value))
			return NULL;
	}
	return m;
}

/* --- wishes of requests ----------------------------------------------------------------------- */

bool cache_wish_take(struct cache_request *rq, struct slice name, struct slice value)
{
	if (slice_eq_nocase(name, SLICE("only-if-cached")))
		rq->only_if_cached = true;
	else if (slice_eq_nocase(name, SLICE("max-age")))
		rq->max_age_s = cache_seconds_of(value);
	else if (slice_eq_nocase(name, SLICE("min-fresh")))
		rq->min_fresh_s = cache_seconds_of(value);
	else if (slice_eq_nocase(name, SLICE("max-stale"))) /* alone: however stale */
		rq->max_stale_s = slice_is_none(value) ? INT32_MAX : cache_seconds_of(value);
	else
		return false;
	return true;
}

bool cache_is_fresh_for(const struct cache_object *o, const struct cache_request *rq)
{
	uint64_t now_ms = clock_now_ms();

	if (rq->max_age_s >= 0 &&
	    (int64_t)(now_ms - o->stored_ms) + o->age_s * 1000LL >= rq->max_age_s * 1000)
		return false;
	if (rq->min_fresh_s >= 0)
		return now_ms + (uint64_t)rq->min_fresh_s * 1000 < o->end_ms;
	if (rq->max_stale_s >= 0 && !o->never_stale)
		return now_ms < o->end_ms + (uint64_t)rq->max_stale_s * 1000;
	return now_ms < o->end_ms;
}

/* --- freshness -------------------------------------------------------------------------------- */

/* RFC 9110 15.1: these may be kept although they do not say so. */
static bool is_heuristic(unsigned status)
{
	static const uint16_t known[] = { 200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501 };

	for (unsigned i = 0; i < ARRAY_LEN(known); i++)
		if (status == known[i])
			return true;
	return false;
}

static bool date_of(const struct http_msg *m, uint8_t id, int64_t *out)
{
	const struct h1_field *f = http_field_find(&m->fields, id, slice_none());

	return f && date_parse(f->value, out);
}

/* A tenth of the time that it has not changed for, as RFC 9111 4.2.2 suggests. */
int64_t cache_heuristic_s(const struct http_msg *m, bool is_public, int64_t now_s)
{
	int64_t modified_s, date_s = now_s;

	if ((!is_heuristic(m->status) && !is_public) ||
	    !date_of(m, FIELD_LAST_MODIFIED, &modified_s))
		return 0;
	date_of(m, FIELD_DATE, &date_s);
	return modified_s < date_s ? (date_s - modified_s) / 10 : 0;
}

int64_t cache_apparent_age_s(const struct http_msg *m, int64_t now_s)
{
	int64_t date_s;

	return date_of(m, FIELD_DATE, &date_s) && date_s < now_s ? now_s - date_s : 0;
}

/* --- invalidation ----------------------------------------------------------------------------- */

/* <target> is a path, or an address, of the same host as <key>: its key is in <out>. */
static bool key_of_target(struct slice key, struct slice target, struct strbuf *out)
{
	size_t host_end = slice_find_char(key, 8, '/'), end = slice_find_char(target, 0, '#');
	struct slice host = slice_sub(key, 0, host_end < key.len ? host_end : key.len);

	target = slice_sub(target, 0, end < target.len ? end : target.len);
	if (slice_starts_nocase(target, host))
		target = slice_sub(target, host.len, target.len);
	else if (slice_starts(target, SLICE("//")))
		return false;
	if (target.len && target.ptr[0] != '/')
		return false;
	strbuf_add(out, host);
	strbuf_add(out, target.len ? target : SLICE("/"));
	return true;
}

void cache_forget_named(struct cache *c, struct slice key, const struct http_msg *answer)
{
	static const uint8_t ids[] = { FIELD_LOCATION, FIELD_CONTENT_LOCATION };

	for (unsigned i = 0; i < ARRAY_LEN(ids); i++) {
		const struct h1_field *f = http_field_find(&answer->fields, ids[i], slice_none());
		struct strbuf b;
		char *area = f ? arena_alloc(answer->arena, key.len + f->value.len + 1) : NULL;

		if (!area)
			continue;
		strbuf_init_fixed(&b, area, key.len + f->value.len + 1);
		if (key_of_target(key, f->value, &b))
			cache_remove(c, strbuf_slice(&b));
	}
}
