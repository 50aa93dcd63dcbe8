/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hash_key.c - the hashes that choose servers: old, simple, and fixed for ever */
#include "base/hash.h"

uint32_t hash_sdbm(const void *data, size_t len)
{
	const uint8_t *at = data;
	uint32_t hash = 0;

	while (len--)
		hash = hash * 65599 + *at++;
	return hash;
}

uint32_t hash_djb2(const void *data, size_t len)
{
	const uint8_t *at = data;
	uint32_t hash = 5381;

	while (len--)
		hash = hash * 33 + *at++;
	return hash;
}

static uint32_t rotate_left(uint32_t v, unsigned bits)
{
	return v << bits | v >> (-bits & 31);
}

/* Two words that swap places at each byte, rotated by amounts that they choose themselves. */
uint32_t hash_wt6(const void *data, size_t len)
{
	uint32_t first = 0xa53c965a, second = 0x5ca6953a, swap;
	unsigned first_bits = 18, second_bits = 6;
	const uint8_t *at = data;

	for (; len--; at++) {
		first = ~(first ^ *at);
		second = ~(second + *at);
		swap = rotate_left(second, second_bits);
		second = rotate_left(first, first_bits);
		first = swap;
		swap = (first >> 16 ^ second) & 0xffff;
		second_bits = swap & 31;
		first_bits = swap >> 11;
	}
	return first ^ second;
}
