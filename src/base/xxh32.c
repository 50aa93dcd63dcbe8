/* SPDX-License-Identifier: GPL-2.0-or-later */
/* xxh32.c - XXH32 after its published specification (github.com/Cyan4973/xxHash) */
#include "base/hash.h"

#define XXH32_PRIME1 0x9e3779b1u
#define XXH32_PRIME2 0x85ebca77u
#define XXH32_PRIME3 0xc2b2ae3du
#define XXH32_PRIME4 0x27d4eb2fu
#define XXH32_PRIME5 0x165667b1u

static uint32_t rotate(uint32_t v, unsigned bits)
{
	return v << bits | v >> (32 - bits);
}

static uint32_t read_le32(const unsigned char *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

uint32_t hash_xxh32(const void *data, size_t len, uint32_t seed)
{
	const unsigned char *p = data, *end = p + len;
	uint32_t lanes[4] = { seed + XXH32_PRIME1 + XXH32_PRIME2, seed + XXH32_PRIME2, seed,
			      seed - XXH32_PRIME1 };
	uint32_t h = seed + XXH32_PRIME5;

	if (len >= 16) {
		for (; end - p >= 16; p += 16)
			for (int i = 0; i < 4; i++)
				lanes[i] = rotate(lanes[i] + read_le32(p + 4 * i) * XXH32_PRIME2,
						  13) * XXH32_PRIME1;
		h = rotate(lanes[0], 1) + rotate(lanes[1], 7) + rotate(lanes[2], 12) +
		    rotate(lanes[3], 18);
	}
	h += (uint32_t)len;
	for (; end - p >= 4; p += 4)
		h = rotate(h + read_le32(p) * XXH32_PRIME3, 17) * XXH32_PRIME4;
	for (; p < end; p++)
		h = rotate(h + *p * XXH32_PRIME5, 11) * XXH32_PRIME1;
	h = (h ^ h >> 15) * XXH32_PRIME2;
	h = (h ^ h >> 13) * XXH32_PRIME3;
	return h ^ h >> 16;
}
