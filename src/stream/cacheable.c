/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cacheable.c - option checkcache: does an answer set a cookie that a cache could give to others?
 *
 * Manual: configuration 4.2 option checkcache; RFC 9111.
 */
#include "log/log.h"
#include "engine_priv.h"

/* What the fields of an answer say about caches. */
struct cache_facts {
	bool is_public, refused; /* refused: caches must not give it to others */
	bool without_cookie;     /* they must not keep Set-Cookie */
	bool fresh, validator;
};

static bool status_is_cacheable(unsigned status)
{
	switch (status) {
	case 200: case 203: case 204: case 206: case 300: case 301:
	case 404: case 405: case 410: case 414: case 501:
		return true;
	}
	return false;
}

static bool method_is_cacheable(const struct http_msg *req)
{
	return req->method == HTTP_METH_GET || req->method == HTTP_METH_HEAD ||
	       req->method == HTTP_METH_OPTIONS || req->method == HTTP_METH_TRACE;
}

bool stream_is_cacheable(const struct stream *s)
{
	return status_is_cacheable(s->res.status) && method_is_cacheable(&s->req);
}

/* One element of Cache-Control. */
static void look_at_directive(struct slice word, struct cache_facts *f)
{
	static const struct slice refusals[] = {
		{ "private", 7 }, { "no-store", 8 }, { "no-cache", 8 }, { "max-age=0", 9 },
		{ "s-maxage=0", 10 },
	};

	for (size_t i = 0; i < sizeof(refusals) / sizeof(*refusals); i++)
		if (slice_eq_nocase(word, refusals[i]))
			f->refused = true;
	if (slice_eq_nocase(word, SLICE("public")))
		f->is_public = true;
	if (slice_eq_nocase(word, SLICE("no-cache=\"set-cookie\"")) ||
	    slice_starts_nocase(word, SLICE("no-cache=\"set-cookie,")) ||
	    slice_eq_nocase(word, SLICE("no-cache=set-cookie")))
		f->without_cookie = true;
	if (slice_starts_nocase(word, SLICE("max-age=")) ||
	    slice_starts_nocase(word, SLICE("s-maxage=")))
		f->fresh = true;
}

static bool has_field(const struct http_msg *m, const char *name)
{
	return http_field_find(&m->fields, field_id_of(slice_of(name)),
			       slice_of(name)) != NULL;
}

static struct cache_facts facts_of(const struct http_msg *m)
{
	struct cache_facts f = {
		.fresh = has_field(m, "expires"),
		.validator = has_field(m, "etag") || has_field(m, "last-modified"),
	};
	struct slice rest = slice_none(), word;
	int at = -1;

	while (http_value_next(&m->fields, &at, &rest, field_id_of(SLICE("cache-control")),
			       SLICE("cache-control"), &word))
		look_at_directive(word, &f);
	at = -1;
	rest = slice_none();
	while (http_value_next(&m->fields, &at, &rest, field_id_of(SLICE("pragma")),
			       SLICE("pragma"), &word))
		if (slice_eq_nocase(word, SLICE("no-cache")))
			f.refused = true;
	return f;
}

bool stream_response_has_cookie(const struct stream *s)
{
	return s->be->options & PROXY_OPT_CHECKCACHE && s->res.status >= 200 &&
		(has_field(&s->res, "set-cookie") || has_field(&s->res, "set-cookie2"));
}

bool stream_response_leaks_cookie(struct stream *s)
{
	struct cache_facts f = facts_of(&s->res);

	if (f.refused || f.without_cookie || !(f.fresh || f.validator))
		return false;
	if (!f.is_public && !stream_is_cacheable(s))
		return false;
	log_printf(s->config, slot_of(&log_proxy_slot, proxy_slots(s->be)), LOG_LVL_ALERT,
		   "Blocking cacheable cookie in response from instance %s, server %s.",
		   s->be->name, s->server ? s->server->name : "<dispatch>");
	return true;
}
