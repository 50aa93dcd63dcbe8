/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cache_range.c - ranges of stored bodies: Range and If-Range (RFC 9110 14.1.2, 14.2, 13.1.5)
 *
 * A single range of bytes is supported. Several would cost more than the whole, and are often an
 * attack: a client that requests several gets the whole, as the RFC allows.
 */
#include "base/num.h"
#include "codec/date.h"
#include "cache_priv.h"

/* If-Range: a strong tag, or a date, that is the object's. */
static bool is_still_that(const struct http_msg *m, struct slice etag, int64_t modified_s)
{
	const struct h1_field *f = http_field_find(&m->fields, FIELD_IF_RANGE, slice_none());
	int64_t at;

	if (!f)
		return true;
	if (f->value.len && f->value.ptr[0] == '"')
		return slice_eq(f->value, etag);
	return date_parse(f->value, &at) && modified_s && at == modified_s;
}

/* Digits only; what is larger than any body is UINT64_MAX. */
static bool take_number(struct slice text, uint64_t *out)
{
	for (size_t i = 0; i < text.len; i++)
		if (text.ptr[i] < '0' || text.ptr[i] > '9')
			return false;
	if (!text.len)
		return false;
	if (!num_parse_u64(text, out))
		*out = UINT64_MAX;
	return true;
}

/* "500-999", "500-", "-500". */
static enum cache_range take_range(struct slice spec, uint64_t len, uint64_t *from, uint64_t *to)
{
	size_t dash = slice_find_char(spec, 0, '-');
	struct slice first, last;
	uint64_t n;

	if (dash >= spec.len)
		return CACHE_WHOLE;
	first = slice_trim(slice_sub(spec, 0, dash));
	last = slice_trim(slice_sub(spec, dash + 1, spec.len));
	if (!first.len) {
		if (!take_number(last, &n))
			return CACHE_WHOLE;
		*from = n < len ? len - n : 0;
		*to = len - 1;
		return n && len ? CACHE_PART : CACHE_OUTSIDE;
	}
	*to = UINT64_MAX;
	if (!take_number(first, from) || (last.len && !take_number(last, to)) || *to < *from)
		return CACHE_WHOLE;
	if (*from >= len)
		return CACHE_OUTSIDE;
	*to = *to < len ? *to : len - 1;
	return CACHE_PART;
}

enum cache_range cache_range_of(const struct http_msg *m, struct slice etag, int64_t modified_s,
				uint64_t len, uint64_t *from, uint64_t *to)
{
	const struct h1_field *f;
	struct slice spec;
	int at = -1;

	if (m->method != HTTP_METH_GET)
		return CACHE_WHOLE;
	f = http_field_next(&m->fields, &at, FIELD_RANGE, slice_none());
	if (!f || http_field_next(&m->fields, &at, FIELD_RANGE, slice_none()) ||
	    !slice_starts_nocase(f->value, SLICE("bytes=")) || !is_still_that(m, etag, modified_s))
		return CACHE_WHOLE;
	spec = slice_trim(slice_sub(f->value, 6, f->value.len));
	if (slice_find_char(spec, 0, ',') < spec.len)
		return CACHE_WHOLE;
	return take_range(spec, len, from, to);
}
