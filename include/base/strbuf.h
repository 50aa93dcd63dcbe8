/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* strbuf.h - a growing text buffer
 *
 * A buffer is either on the heap (strbuf_init()) or a fixed area that never grows
 * (strbuf_init_fixed()). It is always NUL-terminated once something was added. When out of memory
 * or room, <overflow> is set and the text is cut: callers may check once at the end. Threads: the
 * owner's.
 */
#ifndef BASE_STRBUF_H
#define BASE_STRBUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include "base/slice.h"

struct strbuf {
	char *ptr;
	size_t len, size; /* used bytes, and room including the NUL */
	bool fixed, overflow;
};

/* Initialises an empty buffer that grows on the heap; strbuf_fini() frees it. */
void strbuf_init(struct strbuf *b);
void strbuf_init_fixed(struct strbuf *b, char *area, size_t size);
void strbuf_fini(struct strbuf *b);

static inline void strbuf_reset(struct strbuf *b)
{
	b->len = 0;
	b->overflow = false;
}

static inline struct slice strbuf_slice(const struct strbuf *b)
{
	return slice_make(b->ptr, b->len);
}

/* Makes room for <more> bytes and the NUL. False: not possible. */
bool strbuf_reserve(struct strbuf *b, size_t more);
/* Slow part of strbuf_add(): there may be no room. */
bool strbuf_add_slow(struct strbuf *b, struct slice s);

/* Adds bytes. False: no room; in a fixed buffer, what fits is added. */
static inline bool strbuf_add(struct strbuf *b, struct slice s)
{
	if (s.len >= b->size - b->len)
		return strbuf_add_slow(b, s);
	if (s.len)
		memcpy(b->ptr + b->len, s.ptr, s.len);
	b->len += s.len;
	b->ptr[b->len] = 0;
	return true;
}

static inline bool strbuf_add_char(struct strbuf *b, char c)
{
	if (b->size - b->len < 2)
		return strbuf_add_slow(b, slice_make(&c, 1));
	b->ptr[b->len++] = c;
	b->ptr[b->len] = 0;
	return true;
}

/* Adds a NUL-terminated text. */
bool strbuf_add_str(struct strbuf *b, const char *str);
/* Slow part of strbuf_add_uint(), for any number of digits. */
bool strbuf_add_digits(struct strbuf *b, uint64_t v);

/* Adds decimal digits. */
static inline bool strbuf_add_uint(struct strbuf *b, uint64_t v)
{
	return v < 10 ? strbuf_add_char(b, (char)('0' + v)) : strbuf_add_digits(b, v);
}

/* As strbuf_add_uint(), with a '-' if negative. */
bool strbuf_add_int(struct strbuf *b, int64_t v);
/* Adds text like printf(3). */
bool strbuf_printf(struct strbuf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Adds text like vprintf(3). */
bool strbuf_vprintf(struct strbuf *b, const char *fmt, va_list ap);
/* Adds a duration in its two largest units: "4m58s", "1m", "0s". */
bool strbuf_add_span(struct strbuf *b, uint64_t ms);

#endif
