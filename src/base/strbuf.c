/* SPDX-License-Identifier: GPL-2.0-or-later */
/* strbuf.c - a growing text buffer */
#include "base/strbuf.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

void strbuf_init(struct strbuf *b)
{
	*b = (struct strbuf){ 0 };
}

void strbuf_init_fixed(struct strbuf *b, char *area, size_t size)
{
	*b = (struct strbuf){ .ptr = area, .size = size, .fixed = true };
	if (size)
		area[0] = 0;
}

void strbuf_fini(struct strbuf *b)
{
	if (!b->fixed)
		free(b->ptr);
	*b = (struct strbuf){ 0 };
}

bool strbuf_reserve(struct strbuf *b, size_t more)
{
	size_t want = b->len + more + 1, size = b->size ? b->size : 64;
	char *grown;

	if (want <= b->size)
		return true;
	if (b->fixed || more > SIZE_MAX / 4) {
		b->overflow = true;
		return false;
	}
	while (size < want)
		size *= 2;
	grown = realloc(b->ptr, size);
	if (!grown) {
		b->overflow = true;
		return false;
	}
	b->ptr = grown;
	b->size = size;
	return true;
}

bool strbuf_add_slow(struct strbuf *b, struct slice s)
{
	bool fits = strbuf_reserve(b, s.len);

	if (!fits) {
		if (!b->fixed || b->len + 1 >= b->size)
			return false;
		s.len = b->size - 1 - b->len;
	}
	if (s.len)
		memcpy(b->ptr + b->len, s.ptr, s.len);
	b->len += s.len;
	b->ptr[b->len] = 0;
	return fits;
}

bool strbuf_add_str(struct strbuf *b, const char *str)
{
	return strbuf_add(b, slice_of(str));
}

bool strbuf_add_digits(struct strbuf *b, uint64_t v)
{
	char digits[20], *at = digits + sizeof(digits);

	do
		*--at = (char)('0' + v % 10);
	while (v /= 10);
	return strbuf_add(b, slice_make(at, (size_t)(digits + sizeof(digits) - at)));
}

bool strbuf_add_int(struct strbuf *b, int64_t v)
{
	if (v >= 0)
		return strbuf_add_uint(b, (uint64_t)v);
	return strbuf_add_char(b, '-') && strbuf_add_uint(b, 0 - (uint64_t)v);
}

bool strbuf_vprintf(struct strbuf *b, const char *fmt, va_list ap)
{
	va_list again;
	int len;
	bool fits;

	va_copy(again, ap);
	len = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	if (len < 0)
		return false;
	fits = strbuf_reserve(b, (size_t)len);
	if (!fits && (!b->fixed || b->len + 1 >= b->size))
		return false;
	vsnprintf(b->ptr + b->len, b->size - b->len, fmt, ap);
	b->len = fits ? b->len + (size_t)len : b->size - 1;
	return fits;
}

bool strbuf_printf(struct strbuf *b, const char *fmt, ...)
{
	va_list ap;
	bool fits;

	va_start(ap, fmt);
	fits = strbuf_vprintf(b, fmt, ap);
	va_end(ap);
	return fits;
}

bool strbuf_add_span(struct strbuf *b, uint64_t ms)
{
	static const struct { unsigned seconds; char unit; } units[] = {
		{ 86400, 'd' }, { 3600, 'h' }, { 60, 'm' }, { 1, 's' },
	};
	uint64_t s = ms / 1000;
	unsigned i = 0;
	bool ok;

	while (i < 3 && s < units[i].seconds)
		i++;
	ok = strbuf_add_uint(b, s / units[i].seconds) && strbuf_add_char(b, units[i].unit);
	s %= units[i].seconds;
	if (i < 3 && s / units[i + 1].seconds)
		ok = ok && strbuf_add_uint(b, s / units[i + 1].seconds) &&
		     strbuf_add_char(b, units[i + 1].unit);
	return ok;
}
