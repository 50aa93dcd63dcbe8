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
