/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cache_decide.c - what heads say of caches: may it be kept, how long, by what key; is it unchanged
 *
 * RFC 9111 3 (storing), 4.2.1 (freshness), 4.1 (Vary), 5 (fields); RFC 9110 13.1 (conditions);
 * RFC 8288 (links).
 */
#include "base/bug.h"
#include "base/hash.h"
#include "base/num.h"
#include "codec/date.h"
#include "cache_priv.h"

/* A name, and what stands behind its '='. */
struct directive {
	struct slice name, value; /* slice_none(): no '=' */
};

static struct directive directive_of(struct slice word)
{
	size_t at = slice_find_char(word, 0, '=');
	struct directive d = { .name = slice_trim(word), .value = slice_none() };

	if (at >= word.len)
		return d;
	d.name = slice_trim(slice_sub(word, 0, at));
	d.value = slice_trim(slice_sub(word, at + 1, word.len));
	if (d.value.len >= 2 && d.value.ptr[0] == '"' && d.value.ptr[d.value.len - 1] == '"')
		d.value = slice_sub(d.value, 1, d.value.len - 1);
	return d;
}

/* Seconds; what is no number is 0: stale. */
int64_t cache_seconds_of(struct slice text)
{
	size_t digits = 0;
	uint64_t v;

	while (digits < text.len && text.ptr[digits] >= '0' && text.ptr[digits] <= '9')
		digits++;
	if (!digits || digits != text.len)
		return 0;
	return !num_parse_u64(text, &v) || v > INT32_MAX ? INT32_MAX : (int64_t)v;
}

static const struct h1_field *field_of(const struct http_msg *m, uint8_t id)
{
	return http_field_find(&m->fields, id, slice_none());
}

static bool says_no_cache(const struct http_msg *m)
{
	const struct h1_field *f = field_of(m, FIELD_PRAGMA);

	return f && slice_eq_nocase(f->value, SLICE("no-cache"));
}

/* --- requests --------------------------------------------------------------------------------- */

/* The only one; *twice: there are more. */
static uint64_t hash_of_field(const struct http_msg *m, uint8_t id, bool *twice)
{
	const struct h1_field *f;
	uint64_t hash = 0;
	int at = -1;

	while ((f = http_field_next(&m->fields, &at, id, slice_none()))) {
		*twice = *twice || hash;
		hash = hash_xxh3(f->value.ptr, f->value.len, 1) | 1;
	}
	return hash;
}

static uint32_t encoding_of(struct slice name)
{
	static const struct { struct slice name; uint32_t bit; } known[] = {
		{ { "gzip", 4 }, CACHE_GZIP }, { { "x-gzip", 6 }, CACHE_GZIP },
		{ { "deflate", 7 }, CACHE_DEFLATE }, { { "br", 2 }, CACHE_BR },
		{ { "compress", 8 }, CACHE_COMPRESS }, { { "x-compress", 10 }, CACHE_COMPRESS },
		{ { "zstd", 4 }, CACHE_ZSTD }, { { "exi", 3 }, CACHE_EXI },
		{ { "pack200-gzip", 12 }, CACHE_PACK200 }, { { "identity", 8 }, 0 },
	};

	for (unsigned i = 0; i < ARRAY_LEN(known); i++)
		if (slice_eq_nocase(name, known[i].name))
			return known[i].bit;
	return CACHE_UNKNOWN;
}

/* Is it refused: a weight of 0? */
static bool is_refused(struct slice rest)
{
	size_t at = slice_find_char(rest, 0, '=');
	struct slice q = at < rest.len ? slice_trim(slice_sub(rest, at + 1, rest.len))
		: slice_none();

	if (!q.len || q.ptr[0] != '0')
		return false;
	for (size_t i = 1; i < q.len; i++)
		if (q.ptr[i] != '.' && q.ptr[i] != '0')
			return false;
	return true;
}

static uint32_t accepted(const struct http_msg *m)
{
	uint32_t welcome = 0, refused = 0;
	struct slice rest = slice_none(), word;
	bool star = false, star_refused = false, any = false;
	int at = -1;

	while (http_value_next(&m->fields, &at, &rest, FIELD_ACCEPT_ENCODING, slice_none(),
			       &word)) {
		size_t end = slice_find_char(word, 0, ';');
		struct slice name = slice_trim(end < word.len ? slice_sub(word, 0, end) : word);
		bool no = end < word.len && is_refused(slice_sub(word, end + 1, word.len));
		uint32_t bit = encoding_of(name);

		any = true;
		if (slice_eq(name, SLICE("*"))) {
			star = !no;
			star_refused = no;
		} else if (slice_eq_nocase(name, SLICE("identity"))) {
			refused |= no ? CACHE_NOT_PLAIN : 0;
		} else if (no) {
			refused |= bit;
		} else {
			welcome |= bit;
		}
	}
	if (!any)
		return CACHE_ANY;
	if (star)
		welcome |= (CACHE_UNKNOWN - 1) & ~refused;
	if (star_refused)
		refused |= CACHE_NOT_PLAIN;
	return (welcome & ~refused) | (refused & CACHE_NOT_PLAIN);
}

/* Fresh enough? The reference asks the server whatever number is said. */
static void look_at_wish(const struct directive *d, const struct cache_conf *c,
			 struct cache_request *out)
{
	static const struct slice fresh[] = {
		{ "no-cache", 8 }, { "max-age", 7 }, { "max-stale", 9 }, { "min-fresh", 9 },
	};

	if (slice_eq_nocase(d->name, SLICE("no-store")))
		out->no_store = true;
	if (c->rfc9111 && cache_wish_take(out, d->name, d->value))
		return;
	for (unsigned i = 0; i < ARRAY_LEN(fresh); i++)
		if (slice_eq_nocase(d->name, fresh[i]))
			out->no_lookup = true;
}

static void look_at_wishes(const struct http_msg *m, const struct cache_conf *c,
			   struct cache_request *out)
{
	struct slice rest = slice_none(), word;
	bool any = false;
	int at = -1;

	while (http_value_next(&m->fields, &at, &rest, FIELD_CACHE_CONTROL, slice_none(),
			       &word)) {
		struct directive d = directive_of(word);

		any = true;
		look_at_wish(&d, c, out);
	}
	if (!any && says_no_cache(m))
		out->no_lookup = true;
}

#define FIELD_BIT(id) (1ULL << (id))

void cache_look_at_request(const struct http_msg *m, const struct cache_conf *c,
			   struct cache_request *out)
{
	uint64_t there = http_fields_there(&m->fields);

	*out = (struct cache_request){
		.is_get = m->method == HTTP_METH_GET, .is_head = m->method == HTTP_METH_HEAD,
		.is_unsafe = m->method != HTTP_METH_GET && m->method != HTTP_METH_HEAD &&
			     m->method != HTTP_METH_OPTIONS && m->method != HTTP_METH_TRACE,
		.has_authorization = there & FIELD_BIT(FIELD_AUTHORIZATION),
		.has_condition = there & (FIELD_BIT(FIELD_IF_NONE_MATCH) |
					  FIELD_BIT(FIELD_IF_MODIFIED_SINCE)),
		.max_age_s = -1, .min_fresh_s = -1, .max_stale_s = -1, .second.fields = m,
		.second.encodings = CACHE_ANY,
	};
	if (there & (FIELD_BIT(FIELD_CACHE_CONTROL) | FIELD_BIT(FIELD_PRAGMA)))
		look_at_wishes(m, c, out);
	if (there & FIELD_BIT(FIELD_ACCEPT_ENCODING))
		out->second.encodings = accepted(m);
	if (there & FIELD_BIT(FIELD_REFERER))
		out->second.referer = hash_of_field(m, FIELD_REFERER, &out->second.ambiguous);
	if (there & FIELD_BIT(FIELD_ORIGIN))
		out->second.origin = hash_of_field(m, FIELD_ORIGIN, &out->second.ambiguous);
}

/* --- answers ---------------------------------------------------------------------------------- */

struct lifetime {
	bool refused, no_cache, is_public, must_revalidate, never_stale;
	int64_t max_age, shared;  /* -1: not said */
	int64_t stale_revalidate, stale_error;
};

/* What becomes of it when it is stale: RFC 9111 4.2.4, RFC 5861. */
static void look_at_stale(struct lifetime *l, const struct directive *d)
{
	if (slice_eq_nocase(d->name, SLICE("must-revalidate")) ||
	    slice_eq_nocase(d->name, SLICE("proxy-revalidate")))
		l->never_stale = true;
	if (slice_eq_nocase(d->name, SLICE("must-revalidate")))
		l->must_revalidate = true;
	else if (slice_eq_nocase(d->name, SLICE("stale-while-revalidate")))
		l->stale_revalidate = cache_seconds_of(d->value);
	else if (slice_eq_nocase(d->name, SLICE("stale-if-error")))
		l->stale_error = cache_seconds_of(d->value);
}

static struct lifetime lifetime_of(const struct http_msg *m)
{
	struct lifetime l = { .max_age = -1, .shared = -1, .stale_revalidate = -1,
			      .stale_error = -1, .no_cache = says_no_cache(m) };
	struct slice rest = slice_none(), word;
	int at = -1;

	while (http_value_next(&m->fields, &at, &rest, FIELD_CACHE_CONTROL, slice_none(),
			       &word)) {
		struct directive d = directive_of(word);

		if (slice_eq_nocase(d.name, SLICE("private")) ||
		    slice_eq_nocase(d.name, SLICE("no-store")))
			l.refused = true;
		else if (slice_eq_nocase(d.name, SLICE("no-cache")))
			l.no_cache = true;
		else if (slice_eq_nocase(d.name, SLICE("public")))
			l.is_public = true;
		else if (slice_eq_nocase(d.name, SLICE("max-age")))
			l.max_age = cache_seconds_of(d.value);
		else if (slice_eq_nocase(d.name, SLICE("s-maxage")))
			l.shared = cache_seconds_of(d.value);
		else
			look_at_stale(&l, &d);
	}
	/* RFC 9111 5.2.2.10: s-maxage means proxy-revalidate, but for what RFC 5861 says */
	l.never_stale |= l.shared >= 0 && l.stale_revalidate < 0 && l.stale_error < 0;
	return l;
}

/* Until Expires; -1: there is none. A date that cannot be read is past. */
static int64_t expires_in(const struct http_msg *m, int64_t now_s)
{
	const struct h1_field *f = field_of(m, FIELD_EXPIRES), *date = field_of(m, FIELD_DATE);
	int64_t at, from = now_s;

	if (!f)
		return -1;
	if (!date_parse(f->value, &at))
		return 0;
	if (date)
		date_parse(date->value, &from);
	return at > from ? at - from : 0;
}

/* Seconds; -1: Age is no number. */
static int64_t age_of(const struct http_msg *m)
{
	const struct h1_field *f = field_of(m, FIELD_AGE);

	if (!f)
		return 0;
	return f->value.len && f->value.ptr[0] >= '0' && f->value.ptr[0] <= '9' &&
	       (cache_seconds_of(f->value) || slice_eq(f->value, SLICE("0")))
		? cache_seconds_of(f->value) : -1;
}

static bool has_validator(const struct http_msg *m)
{
	return field_of(m, FIELD_ETAG) || field_of(m, FIELD_LAST_MODIFIED);
}

/* As long as it lives, of what has <age_s> behind it; not more than the section allows. */
static int64_t fresh_s(const struct http_msg *m, const struct lifetime *l,
		       const struct cache_conf *c, int64_t now_s, int64_t age_s)
{
	int64_t said = l->shared >= 0 ? l->shared : l->max_age >= 0 ? l->max_age
		: expires_in(m, now_s);

	if (l->no_cache)
		return 0;
	if (said < 0 && !c->rfc9111) /* what can be validated may be kept a little */
		return has_validator(m) ? c->max_age_s : 0;
	if (said < 0)
		said = cache_heuristic_s(m, l->is_public, now_s);
	said -= age_s;
	return said < c->max_age_s ? said : c->max_age_s;
}

static void look_at_vary(const struct http_msg *m, const struct cache_conf *c,
			 struct cache_answer *out)
{
	struct slice rest = slice_none(), word;
	int at = -1;

	while (http_value_next(&m->fields, &at, &rest, FIELD_VARY, slice_none(), &word)) {
		if (slice_eq_nocase(word, SLICE("accept-encoding")))
			out->second.vary |= CACHE_VARY_ENCODING;
		else if (slice_eq_nocase(word, SLICE("referer")))
			out->second.vary |= CACHE_VARY_REFERER;
		else if (slice_eq_nocase(word, SLICE("origin")))
			out->second.vary |= CACHE_VARY_ORIGIN;
		else if (!c->rfc9111 || (word.len && !cache_vary_note(m, word, &out->second)))
			out->vary_is_unknown = true;
	}
	if (!c->rfc9111 && field_of(m, FIELD_VARY) && !out->second.vary)
		out->vary_is_unknown = true;
}

uint32_t cache_encodings_of(const struct http_msg *m)
{
	struct slice rest = slice_none(), word;
	uint32_t encodings = 0;
	int at = -1;

	while (http_value_next(&m->fields, &at, &rest, FIELD_CONTENT_ENCODING, slice_none(),
			       &word))
		encodings |= encoding_of(word);
	return encodings;
}

static void look_at_encoding(const struct http_msg *m, const struct cache_conf *c,
			     struct cache_answer *out)
{
	out->second.encodings = cache_encodings_of(m);
	if (out->second.vary & CACHE_VARY_ENCODING && out->second.encodings & CACHE_UNKNOWN)
		out->vary_is_unknown = true;
	if (c->keeps_compressed) /* there will be others beside it */
		out->second.vary |= CACHE_VARY_ENCODING;
}

/* Is the status one of those that are kept? Parts, and what belongs to conditions, are not. */
static bool status_fits(unsigned status, const struct cache_conf *c)
{
	return status == 200 ||
	       (c->rfc9111 && status > 200 && status != 206 && status != 304 && status != 416);
}

/* RFC 9111 3.5; the reference knows `public` alone. */
static bool is_for_authorized(const struct lifetime *l, const struct cache_conf *c)
{
	return l->is_public || (c->rfc9111 && (l->shared >= 0 || l->must_revalidate));
}

static int64_t age_at_arrival(const struct http_msg *m, const struct cache_conf *c, int64_t now_s)
{
	int64_t age_s = age_of(m), apparent_s = c->rfc9111 ? cache_apparent_age_s(m, now_s) : 0;

	return age_s >= 0 && age_s < apparent_s ? apparent_s : age_s;
}

void cache_look_at_answer(const struct http_msg *m, const struct cache_request *rq,
			  const struct cache_conf *c, int64_t now_s, struct cache_answer *out)
{
	struct lifetime l = lifetime_of(m);
	int64_t fresh;

	*out = (struct cache_answer){
		.age_s = age_at_arrival(m, c, now_s), .never_stale = l.never_stale || l.no_cache,
		.for_authorized = is_for_authorized(&l, c),
		.stale_revalidate_s = l.stale_revalidate, .stale_error_s = l.stale_error,
	};
	look_at_vary(m, c, out);
	if (out->second.others.len)
		out->second.others_hash = cache_vary_hash(rq->second.fields, out->second.others);
	look_at_encoding(m, c, out);
	out->second.referer = rq->second.referer;
	out->second.origin = rq->second.origin;
	if (!status_fits(m->status, c) || l.refused || out->age_s < 0 ||
	    (rq->has_authorization && !out->for_authorized) ||
	    (out->second.vary && rq->second.ambiguous))
		return;
	out->may_hint = true;
	out->may_be_validated = c->rfc9111 && has_validator(m);
	fresh = fresh_s(m, &l, c, now_s, out->age_s);
	out->fresh_ms = fresh > 0 ? fresh * 1000 : 0;
}

bool cache_second_fits(const struct cache_second *a, const struct cache_second *r)
{
	if (!a->vary)
		return true;
	if (r->ambiguous ||
	    (a->vary & CACHE_VARY_REFERER && a->referer != r->referer) ||
	    (a->vary & CACHE_VARY_ORIGIN && a->origin != r->origin) ||
	    (a->vary & CACHE_VARY_OTHERS &&
	     a->others_hash != cache_vary_hash(r->fields, a->others)))
		return false;
	if (a->vary & CACHE_VARY_OURS && r->encodings & CACHE_ANY)
		return false;
	if (!(a->vary & CACHE_VARY_ENCODING) || r->encodings & CACHE_ANY)
		return true;
	return a->encodings ? !(a->encodings & ~r->encodings)
		: !(r->encodings & CACHE_NOT_PLAIN);
}

bool cache_keeps_field(const struct http_msg *m, const struct h1_field *f)
{
	static const char *const names[] = {
		"connection", "keep-alive", "proxy-connection", "te", "trailer",
		"transfer-encoding", "upgrade", "content-length", "age", "proxy-authenticate",
		"proxy-authentication-info",
	};
	struct slice rest = slice_none(), word;
	int at = -1;

	for (unsigned i = 0; i < ARRAY_LEN(names); i++)
		if (slice_eq_nocase(f->name, slice_of(names[i])))
			return false;
	while (http_value_next(&m->fields, &at, &rest, FIELD_CONNECTION, slice_none(), &word))
		if (slice_eq_nocase(f->name, word))
			return false;
	return true;
}

/* --- conditions ------------------------------------------------------------------------------- */

struct slice cache_tag(struct slice tag)
{
	return slice_starts(tag, SLICE("W/")) ? slice_sub(tag, 2, tag.len) : tag;
}

static bool matches_tag(const struct http_msg *m, struct slice etag)
{
	struct slice rest = slice_none(), word;
	int at = -1;

	while (http_value_next(&m->fields, &at, &rest, FIELD_IF_NONE_MATCH, slice_none(), &word))
		if (slice_eq(word, SLICE("*")) ||
		    (etag.len && slice_eq(cache_tag(word), cache_tag(etag))))
			return true;
	return false;
}

bool cache_is_unchanged(const struct http_msg *request, struct slice etag, int64_t modified_s)
{
	const struct h1_field *f;
	int64_t since;

	if (field_of(request, FIELD_IF_NONE_MATCH))
		return matches_tag(request, etag);
	f = field_of(request, FIELD_IF_MODIFIED_SINCE);
	return f && date_parse(f->value, &since) && modified_s && modified_s <= since;
}

/* --- links (RFC 8288) ------------------------------------------------------------------------- */

/* Up to <c>, outside of quoted strings and of what stands between '<' and '>'. */
static size_t end_of(struct slice s, char c)
{
	bool in_quotes = false, in_target = false;
	size_t i;

	for (i = 0; i < s.len; i++) {
		char x = s.ptr[i];

		if (in_quotes && x == '\\')
			i++;
		else if (x == '"' && !in_target)
			in_quotes = !in_quotes;
		else if (!in_quotes && (x == '<' || x == '>'))
			in_target = x == '<';
		else if (x == c && !in_quotes && !in_target)
			break;
	}
	return i < s.len ? i : s.len;
}

static struct slice take_until(struct slice *rest, char c)
{
	size_t end = end_of(*rest, c);
	struct slice word = slice_trim(slice_sub(*rest, 0, end));

	*rest = slice_sub(*rest, end < rest->len ? end + 1 : end, rest->len);
	return word;
}

/* One of the words of rel. What is for later (prefetch, next) is nothing to begin with early. */
static bool is_for_now(struct slice rel)
{
	static const struct slice known[] = {
		{ "preload", 7 }, { "modulepreload", 13 }, { "preconnect", 10 },
		{ "dns-prefetch", 12 },
	};

	if (rel.len >= 2 && rel.ptr[0] == '"' && rel.ptr[rel.len - 1] == '"')
		rel = slice_sub(rel, 1, rel.len - 1);
	while (rel.len) {
		size_t end = slice_find_char(rel, 0, ' ');
		struct slice word = slice_sub(rel, 0, end < rel.len ? end : rel.len);

		rel = slice_sub(rel, end < rel.len ? end + 1 : rel.len, rel.len);
		for (unsigned i = 0; i < ARRAY_LEN(known); i++)
			if (slice_eq_nocase(word, known[i]))
				return true;
	}
	return false;
}

bool cache_link_is_hint(struct slice link)
{
	struct slice target = take_until(&link, ';'), rel = slice_none();

	if (target.len < 3 || target.ptr[0] != '<' || target.ptr[target.len - 1] != '>')
		return false;
	while (link.len) {
		struct slice value = take_until(&link, ';'), name = take_until(&value, '=');

		if (slice_eq_nocase(name, SLICE("anchor"))) /* it is about something else */
			return false;
		if (slice_eq_nocase(name, SLICE("rel")) && slice_is_none(rel))
			rel = value; /* later ones do not count: RFC 8288 3.3 */
	}
	return !slice_is_none(rel) && is_for_now(rel);
}

struct slice cache_link_next(struct slice *rest)
{
	return take_until(rest, ',');
}
