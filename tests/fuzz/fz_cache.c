/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fuzzes what caches read of heads: Cache-Control, Vary, Age, dates, conditions, ranges, links.
 * The first byte chooses the section's settings; then fields of the request, an empty line, those
 * of the answer. What is decided is checked against a second, naive look at the same fields.
 */
#include <stdint.h>
#include <stdlib.h>
#include "../../src/ext/cache/cache_priv.h"

#define NOW 1700000000

static void must(bool right)
{
	if (!right)
		abort();
}

/* Takes lines "name: value" up to an empty one. */
static struct slice fill(struct http_msg *m, struct slice text)
{
	while (text.len) {
		size_t end = slice_find_char(text, 0, '\n'), colon;
		struct slice line = slice_sub(text, 0, end < text.len ? end : text.len);

		text = slice_sub(text, end < text.len ? end + 1 : text.len, text.len);
		if (!line.len)
			break;
		colon = slice_find_char(line, 0, ':');
		if (!colon || colon >= line.len || m->fields.count > 50)
			continue;
		http_msg_add_field(m, slice_sub(line, 0, colon),
				   slice_trim(slice_sub(line, colon + 1, line.len)));
	}
	return text;
}

/* Is <word> an element of a line of Cache-Control, with or without a value? Lines with quoted
 * strings do not count.
 */
static bool says(const struct http_msg *m, struct slice word)
{
	const struct h1_field *f;
	int at = -1;

	while ((f = http_field_next(&m->fields, &at, FIELD_CACHE_CONTROL, slice_none()))) {
		struct slice rest = f->value;

		if (slice_find_char(rest, 0, '"') < rest.len)
			continue;
		while (rest.len) {
			size_t end = slice_find_char(rest, 0, ',');
			struct slice one = slice_sub(rest, 0, end < rest.len ? end : rest.len);
			size_t eq = slice_find_char(one, 0, '=');

			rest = slice_sub(rest, end < rest.len ? end + 1 : rest.len, rest.len);
			one = slice_trim(slice_sub(one, 0, eq < one.len ? eq : one.len));
			if (slice_eq_nocase(one, word))
				return true;
		}
	}
	return false;
}

static void check_answer(const struct http_msg *q, const struct http_msg *a,
			 const struct cache_conf *c)
{
	struct cache_request rq;
	struct cache_answer out;

	cache_look_at_request(q, c, &rq);
	cache_look_at_answer(a, &rq, c, NOW, &out);
	must(out.fresh_ms >= 0 && out.fresh_ms <= c->max_age_s * 1000);
	if (out.fresh_ms || out.may_be_validated)
		must(!says(a, SLICE("no-store")) && !says(a, SLICE("private")));
	if (out.fresh_ms)
		must(!says(a, SLICE("no-cache")) && out.age_s >= 0);
	if (says(q, SLICE("no-store")))
		must(rq.no_store);
	if (says(q, SLICE("no-cache")))
		must(rq.no_lookup);
	/* the client that has asked may have it, unless it is in a coding that the client does not
	 * name
	 */
	if (!out.vary_is_unknown && !rq.second.ambiguous &&
	    !(out.second.vary & CACHE_VARY_ENCODING))
		must(cache_second_fits(&out.second, &rq.second));
	for (unsigned i = 0; i < a->fields.count; i++)
		cache_keeps_field(a, &a->fields.list[i]);
}

/* Is there a field of this name? */
static bool has(const struct http_msg *m, uint8_t id)
{
	return http_field_find(&m->fields, id, slice_none()) != NULL;
}

/* What an answer varies by: a request that differs in such a field must not be given it, one that
 * has the same fields must, if they are there once.
 */
static void check_vary(const struct http_msg *q, const struct http_msg *a,
		       const struct cache_conf *c)
{
	struct cache_request rq, none;
	struct cache_answer out;
	struct http_msg empty;

	http_msg_init(&empty, q->arena);
	cache_look_at_request(q, c, &rq);
	cache_look_at_request(&empty, c, &none);
	cache_look_at_answer(a, &rq, c, NOW, &out);
	out.second.vary &= (uint8_t)~CACHE_VARY_ENCODING;
	if (!out.vary_is_unknown && !rq.second.ambiguous) {
		must(cache_second_fits(&out.second, &rq.second));
		if ((out.second.vary & CACHE_VARY_ORIGIN && has(q, FIELD_ORIGIN)) ||
		    (out.second.vary & CACHE_VARY_REFERER && has(q, FIELD_REFERER)))
			must(!cache_second_fits(&out.second, &none.second));
	}
	if (!c->rfc9111)
		must(!(out.second.vary & CACHE_VARY_OTHERS) && !out.second.others.len);
	http_msg_fini(&empty);
}

/* Each link is a part of its field, and what is a hint names what it is for. */
static void check_links(const struct http_msg *a)
{
	const struct h1_field *f;
	int at = -1;

	while ((f = http_field_next(&a->fields, &at, FIELD_LINK, slice_none()))) {
		struct slice rest = f->value, link;

		while (rest.len) {
			size_t before = rest.len;

			link = cache_link_next(&rest);
			must(rest.len < before);
			must(!link.len || (link.ptr >= f->value.ptr &&
					   link.ptr + link.len <= f->value.ptr + f->value.len));
			if (cache_link_is_hint(link))
				must(link.ptr[0] == '<' &&
				     slice_find_char(link, 0, '>') < link.len &&
				     slice_find_char(link, 0, '=') < link.len);
		}
	}
}

static void check_conditions(const struct http_msg *q, const struct http_msg *a)
{
	const struct h1_field *f = http_field_find(&a->fields, FIELD_ETAG, slice_none());
	struct slice etag = f ? f->value : slice_none();
	uint64_t from = 0, to = 0, len = 1000;

	if (!has(q, FIELD_IF_NONE_MATCH) && !has(q, FIELD_IF_MODIFIED_SINCE))
		must(!cache_is_unchanged(q, etag, NOW));
	if (cache_is_unchanged(q, etag, 0)) /* without a date, a tag has decided, or "*" */
		must(has(q, FIELD_IF_NONE_MATCH));
	if (cache_range_of(q, etag, NOW, len, &from, &to) == CACHE_PART)
		must(from <= to && to < len);
	if (cache_range_of(q, etag, 0, 0, &from, &to) == CACHE_PART)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice text = slice_make((const char *)data, size);
	struct cache_conf c = { .max_age_s = 1000, .process_vary = true };
	struct http_msg q, a;
	struct arena arena;

	if (!size)
		return 0;
	c.rfc9111 = data[0] & 1;
	c.max_age_s = data[0] & 2 ? INT32_MAX : 1000;
	arena_init(&arena, 1024);
	http_msg_init(&q, &arena);
	http_msg_init(&a, &arena);
	q.method = data[0] & 4 ? HTTP_METH_HEAD : HTTP_METH_GET;
	a.status = data[0] & 8 ? 404 : 200;
	text = fill(&q, slice_sub(text, 1, text.len));
	fill(&a, text);
	check_answer(&q, &a, &c);
	check_vary(&q, &a, &c);
	check_links(&a);
	check_conditions(&q, &a);
	http_msg_fini(&q);
	http_msg_fini(&a);
	arena_fini(&arena);
	return 0;
}
