/* SPDX-License-Identifier: GPL-2.0-or-later */
/* siphash.c - SipHash, the hash under a secret key of J.-P. Aumasson and D. J. Bernstein
 *
 * An attacker that does not know the key cannot choose inputs that collide.
 */
#include <string.h>
#include "base/hash.h"

static inline uint64_t rotate(uint64_t v, int bits)
{
	return v << bits | v >> (64 - bits);
}

static inline uint64_t little(uint64_t v)
{
	return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? __builtin_bswap64(v) : v;
}

static inline void sip_round(uint64_t v[4])
{
	v[0] += v[1];
	v[2] += v[3];
	v[1] = rotate(v[1], 13) ^ v[0];
	v[3] = rotate(v[3], 16) ^ v[2];
	v[0] = rotate(v[0], 32);
	v[2] += v[1];
	v[0] += v[3];
	v[1] = rotate(v[1], 17) ^ v[2];
	v[3] = rotate(v[3], 21) ^ v[0];
	v[2] = rotate(v[2], 32);
}

static inline void sip_block(uint64_t v[4], uint64_t block, unsigned rounds)
{
	v[3] ^= block;
	for (unsigned i = 0; i < rounds; i++)
		sip_round(v);
	v[0] ^= block;
}

/* The last <left> bytes (0 to 7), the first one lowest; in three steps, not one for each byte. */
static inline uint64_t sip_tail(const uint8_t *at, size_t left)
{
	uint64_t last = 0;
	unsigned shift = 0;

	if (left & 4) {
		last = at[0] | (uint64_t)at[1] << 8 | (uint64_t)at[2] << 16 |
		       (uint64_t)at[3] << 24;
		at += 4;
		shift = 32;
	}
	if (left & 2) {
		last |= (at[0] | (uint64_t)at[1] << 8) << shift;
		at += 2;
		shift += 16;
	}
	if (left & 1)
		last |= (uint64_t)at[0] << shift;
	return last;
}

static inline uint64_t siphash(const uint8_t *at, size_t len, const uint64_t key[2],
			       unsigned rounds, unsigned last_rounds)
{
	uint64_t v[4] = {
		key[0] ^ 0x736f6d6570736575ull, key[1] ^ 0x646f72616e646f6dull,
		key[0] ^ 0x6c7967656e657261ull, key[1] ^ 0x7465646279746573ull,
	};
	uint64_t last = (uint64_t)len << 56, block;
	size_t left;

	for (left = len; left >= 8; left -= 8, at += 8) {
		memcpy(&block, at, 8);
		sip_block(v, little(block), rounds);
	}
	sip_block(v, last | sip_tail(at, left), rounds);
	v[2] ^= 0xff;
	for (unsigned i = 0; i < last_rounds; i++)
		sip_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

uint64_t hash_sip13(const void *data, size_t len, const uint64_t key[2])
{
	return siphash(data, len, key, 1, 3);
}

uint64_t hash_sip24(const void *data, size_t len, const uint64_t key[2])
{
	return siphash(data, len, key, 2, 4);
}
