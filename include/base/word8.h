/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* word8.h - texts as words of 8 bytes, to compare 8 bytes at a time
 *
 * Owns: nothing. Pure, any thread.
 */
#ifndef BASE_WORD8_H
#define BASE_WORD8_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Returns the 8 bytes at <p>, which need not be aligned. */
static inline uint64_t word8_at(const char *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* Returns a word for a text of 1 to 7 bytes: some bytes occur twice, and missing ones are letters.
 */
static inline uint64_t word8_of_short(const char *p, size_t len)
{
	uint32_t first, last;

	if (len < 4)
		return 0x6161616161000000ull | (uint64_t)(uint8_t)p[0] << 16 |
		       (uint64_t)(uint8_t)p[len / 2] << 8 | (uint8_t)p[len - 1];
	memcpy(&first, p, 4);
	memcpy(&last, p + len - 4, 4);
	return (uint64_t)first << 32 | last;
}

#endif
