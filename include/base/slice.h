/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* slice.h - a read-only run of bytes that another object owns
 *
 * A slice owns nothing: its creator knows what keeps the bytes alive (a block, an arena, the
 * configuration). It is not NUL-terminated. An empty slice may have a NULL pointer; "absent" is a
 * NULL pointer (slice_none()).
 */
#ifndef BASE_SLICE_H
#define BASE_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct slice {
	const char *ptr;
	size_t len;
};

/* A slice of a string literal (no strlen at run time). */
#define SLICE(literal) ((struct slice){ .ptr = "" literal, .len = sizeof(literal) - 1 })
/* For printf: "%.*s", SLICE_FMT(s) */
#define SLICE_FMT(s) (int)(s).len, (s).ptr

static inline struct slice slice_make(const char *ptr, size_t len)
{
	return (struct slice){ .ptr = ptr, .len = len };
}

static inline struct slice slice_none(void)
{
	return (struct slice){ .ptr = NULL, .len = 0 };
}

/* A slice of a NUL-terminated string; NULL gives slice_none(). */
static inline struct slice slice_of(const char *str)
{
	return (struct slice){ .ptr = str, .len = str ? strlen(str) : 0 };
}

static inline bool slice_is_none(struct slice s)
{
	return s.ptr == NULL;
}

static inline bool slice_eq(struct slice a, struct slice b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

/* Are the <len> bytes equal, ignoring the case of ASCII letters? */
bool bytes_eq_nocase(const char *a, const char *b, size_t len);

/* ASCII case is ignored; the locale never matters. */
static inline bool slice_eq_nocase(struct slice a, struct slice b)
{
	return a.len == b.len && bytes_eq_nocase(a.ptr, b.ptr, a.len);
}

/* Orders by bytes, then by length: <0, 0, >0. */
int slice_cmp(struct slice a, struct slice b);
bool slice_starts(struct slice s, struct slice prefix);
bool slice_starts_nocase(struct slice s, struct slice prefix);
bool slice_ends(struct slice s, struct slice suffix);
/* Returns the index of the first <c> at or after <from>, or SIZE_MAX. */
size_t slice_find_char(struct slice s, size_t from, char c);
/* Return the index of the first <needle>, or SIZE_MAX. */
size_t slice_find(struct slice s, struct slice needle);
size_t slice_find_nocase(struct slice s, struct slice needle);
/* Returns the slice without blanks (space, tab) on both sides. */
struct slice slice_trim(struct slice s);
/* Returns the bytes <from> up to <to> (exclusive), both clamped to the length. */
struct slice slice_sub(struct slice s, size_t from, size_t to);
/* Returns a NUL-terminated heap copy (free()). NULL: out of memory. */
char *slice_dup(struct slice s);
/* Copies at most size-1 bytes and a NUL into <dst>; returns the number of bytes copied. */
size_t slice_copy(struct slice s, char *dst, size_t size);

static inline char ascii_lower(char c)
{
	return (c >= 'A' && c <= 'Z') ? (char)(c | 0x20) : c;
}

static inline char ascii_upper(char c)
{
	return (c >= 'a' && c <= 'z') ? (char)(c & ~0x20) : c;
}

static inline bool ascii_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

#endif
