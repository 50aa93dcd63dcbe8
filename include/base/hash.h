/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* hash.h - hashes and checksums of bytes. Pure, any thread. None is cryptographic, except SipHash
 * with a secret key.
 */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* XXH64 with <seed>: fast and well distributed; for hash tables inside the program. */
uint64_t hash_bytes(const void *data, size_t len, uint64_t seed);

/* SipHash-1-3 under a secret key: for tables whose keys are chosen by clients. */
uint64_t hash_sip13(const void *data, size_t len, const uint64_t key[2]);
/* SipHash-2-4, as published. */
uint64_t hash_sip24(const void *data, size_t len, const uint64_t key[2]);

/* Mixes a 64-bit number: for keys that are numbers or pointers. */
static inline uint64_t hash_u64(uint64_t v)
{
	v ^= v >> 33;
	v *= 0xff51afd7ed558ccdull;
	v ^= v >> 33;
	v *= 0xc4ceb9fe1a85ec53ull;
	return v ^ v >> 33;
}

/* Hashes that choose a server by a key; their results are part of the configuration's meaning:
 * those of the sdbm library and of D. J. Bernstein.
 */
uint32_t hash_sdbm(const void *data, size_t len);
uint32_t hash_djb2(const void *data, size_t len);
/* XXH32. */
uint32_t hash_xxh32(const void *data, size_t len, uint32_t seed);
/* XXH3, 64 bits. */
uint64_t hash_xxh3(const void *data, size_t len, uint64_t seed);

/* Spreads the bits of a 32-bit hash: a change of any bit of <v> changes about half of the result's
 * bits. It is the "full avalanche" integer hash that Bob Jenkins published, with six shifts, times
 * a prime. HAProxy's results were measured, not read from its source.
 */
uint32_t hash_avalanche(uint32_t v);

/* CRC-32 as in gzip and Ethernet. <crc> is 0 to start, or the result for the bytes before. */
uint32_t hash_crc32(uint32_t crc, const void *data, size_t len);
/* CRC-32C (Castagnoli), RFC 4960 appendix B; same chaining. */
uint32_t hash_crc32c(uint32_t crc, const void *data, size_t len);

#endif
