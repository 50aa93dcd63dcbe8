/* SPDX-License-Identifier: GPL-2.0-or-later */
/* varint.c - integers of the length that they need */
#include "codec/varint.h"
#include "base/bug.h"

#define FIRST 0xf0 /* bytes from here on are not all */

size_t varint_put(uint64_t v, unsigned char out[VARINT_MAX])
{
	size_t n = 1;

	if (v < FIRST) {
		out[0] = (unsigned char)v;
		return 1;
	}
	out[0] = (unsigned char)(v | FIRST);
	for (v = (v - FIRST) >> 4; v >= 0x80; v = (v - 0x80) >> 7)
		out[n++] = (unsigned char)(v | 0x80);
	out[n++] = (unsigned char)v;
	return n;
}

enum varint_result varint_take(struct slice *s, uint64_t *v)
{
	const unsigned char *p = (const unsigned char *)s->ptr;
	unsigned shift = 4;
	uint64_t value;
	size_t n = 1;

	if (!s->len)
		return VARINT_CUT;
	value = p[0];
	if (likely(value < FIRST)) {
		s->ptr++;
		s->len--;
		*v = value;
		return VARINT_TAKEN;
	}
	while (value >= FIRST && (n == 1 || p[n - 1] >= 0x80)) {
		if (n == VARINT_MAX)
			return VARINT_INVALID;
		if (n == s->len)
			return VARINT_CUT;
		/* what is added is never masked: 0x80 stands for itself, too */
		if (p[n] > UINT64_MAX >> shift || value > UINT64_MAX - ((uint64_t)p[n] << shift))
			return VARINT_INVALID;
		value += (uint64_t)p[n++] << shift;
		shift += 7;
	}
	s->ptr += n;
	s->len -= n;
	*v = value;
	return VARINT_TAKEN;
}
