/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slice.c - a read-only run of bytes somewhere else */
#include "base/slice.h"
#include <stdlib.h>

/* The 8 bytes at <p>, capital letters made small: each byte alone, so whatever their order. */
static inline uint64_t lower_word(const char *p)
{
	const uint64_t ones = 0x0101010101010101ull, tops = ones * 128;
	uint64_t x, low, capital;

	memcpy(&x, p, sizeof(x));
	low = x & ~tops;
	capital = ((low + ones * (128 - 'A')) ^ (low + ones * (127 - 'Z'))) & ~x & tops;
	return x | capital >> 2;
}

bool bytes_eq_nocase(const char *a, const char *b, size_t len)
{
	size_t i;

	for (i = 0; i + 8 <= len; i += 8)
		if (lower_word(a + i) != lower_word(b + i))
			return false;
	if (i && i < len) /* the last 8: some of them once more */
		return lower_word(a + len - 8) == lower_word(b + len - 8);
	for (; i < len; i++)
		if (ascii_lower(a[i]) != ascii_lower(b[i]))
			return false;
	return true;
}

int slice_cmp(struct slice a, struct slice b)
{
	size_t n = a.len < b.len ? a.len : b.len;
	int diff = n ? memcmp(a.ptr, b.ptr, n) : 0;

	if (diff)
		return diff;
	return (a.len > b.len) - (a.len < b.len);
}

bool slice_starts(struct slice s, struct slice prefix)
{
	return s.len >= prefix.len && slice_eq(slice_make(s.ptr, prefix.len), prefix);
}

bool slice_starts_nocase(struct slice s, struct slice prefix)
{
	return s.len >= prefix.len && slice_eq_nocase(slice_make(s.ptr, prefix.len), prefix);
}

bool slice_ends(struct slice s, struct slice suffix)
{
	if (s.len < suffix.len)
		return false;
	return slice_eq(slice_make(s.ptr + (s.len - suffix.len), suffix.len), suffix);
}

size_t slice_find_char(struct slice s, size_t from, char c)
{
	const char *hit = from < s.len ? memchr(s.ptr + from, c, s.len - from) : NULL;

	return hit ? (size_t)(hit - s.ptr) : SIZE_MAX;
}

size_t slice_find(struct slice s, struct slice needle)
{
	const char *hit;

	if (!needle.len)
		return 0;
	hit = s.len >= needle.len ? memmem(s.ptr, s.len, needle.ptr, needle.len) : NULL;
	return hit ? (size_t)(hit - s.ptr) : SIZE_MAX;
}

/* The first <c> from <p> on; <end> when there is none. */
static const char *find_byte(const char *p, const char *end, char c)
{
	const char *hit = p < end ? memchr(p, c, (size_t)(end - p)) : NULL;

	return hit ? hit : end;
}

size_t slice_find_nocase(struct slice s, struct slice needle)
{
	const char *end, *low, *high, *at;
	char first;

	if (needle.len > s.len)
		return SIZE_MAX;
	if (!needle.len)
		return 0;
	/* both cases of the first letter, each searched once */
	first = ascii_lower(needle.ptr[0]);
	end = s.ptr + (s.len - needle.len) + 1;
	low = find_byte(s.ptr, end, first);
	high = first >= 'a' && first <= 'z' ? find_byte(s.ptr, end, (char)(first - 32)) : end;
	while ((at = low < high ? low : high) < end) {
		if (slice_eq_nocase(slice_make(at, needle.len), needle))
			return (size_t)(at - s.ptr);
		if (at == low)
			low = find_byte(at + 1, end, first);
		else
			high = find_byte(at + 1, end, (char)(first - 32));
	}
	return SIZE_MAX;
}

struct slice slice_trim(struct slice s)
{
	while (s.len && (s.ptr[0] == ' ' || s.ptr[0] == '\t')) {
		s.ptr++;
		s.len--;
	}
	while (s.len && (s.ptr[s.len - 1] == ' ' || s.ptr[s.len - 1] == '\t'))
		s.len--;
	return s;
}

struct slice slice_sub(struct slice s, size_t from, size_t to)
{
	if (to > s.len)
		to = s.len;
	if (from > to)
		from = to;
	return slice_make(s.ptr ? s.ptr + from : NULL, to - from);
}

char *slice_dup(struct slice s)
{
	char *copy = malloc(s.len + 1);

	if (!copy)
		return NULL;
	if (s.len)
		memcpy(copy, s.ptr, s.len);
	copy[s.len] = 0;
	return copy;
}

size_t slice_copy(struct slice s, char *dst, size_t size)
{
	size_t n = s.len;

	if (!size)
		return 0;
	if (n > size - 1)
		n = size - 1;
	if (n)
		memcpy(dst, s.ptr, n);
	dst[n] = 0;
	return n;
}
