/* SPDX-License-Identifier: GPL-2.0-or-later */
/* xxh3.c - XXH3, the 64-bit variant, after its published specification
 * (github.com/Cyan4973/xxHash, doc/xxhash_spec.md)
 */
#include <string.h>
#include "base/hash.h"

#define PRIME32_1 0x9E3779B1u
#define PRIME32_2 0x85EBCA77u
#define PRIME32_3 0xC2B2AE3Du
#define PRIME64_1 0x9E3779B185EBCA87ull
#define PRIME64_2 0xC2B2AE3D27D4EB4Full
#define PRIME64_3 0x165667B19E3779F9ull
#define PRIME64_4 0x85EBCA77C2B2AE63ull
#define PRIME64_5 0x27D4EB2F165667C5ull
#define PRIME_MX1 0x165667919E3779F9ull
#define PRIME_MX2 0x9FB21C651E98DF25ull

#define SECRET_LEN 192
#define STRIPE_LEN 64
#define STRIPES_PER_BLOCK ((SECRET_LEN - STRIPE_LEN) / 8)

static const uint8_t secret[SECRET_LEN] = {
	0xb8, 0xfe, 0x6c, 0x39, 0x23, 0xa4, 0x4b, 0xbe, 0x7c, 0x01, 0x81, 0x2c, 0xf7, 0x21, 0xad,
	0x1c, 0xde, 0xd4, 0x6d, 0xe9, 0x83, 0x90, 0x97, 0xdb, 0x72, 0x40, 0xa4, 0xa4, 0xb7, 0xb3,
	0x67, 0x1f, 0xcb, 0x79, 0xe6, 0x4e, 0xcc, 0xc0, 0xe5, 0x78, 0x82, 0x5a, 0xd0, 0x7d, 0xcc,
	0xff, 0x72, 0x21, 0xb8, 0x08, 0x46, 0x74, 0xf7, 0x43, 0x24, 0x8e, 0xe0, 0x35, 0x90, 0xe6,
	0x81, 0x3a, 0x26, 0x4c, 0x3c, 0x28, 0x52, 0xbb, 0x91, 0xc3, 0x00, 0xcb, 0x88, 0xd0, 0x65,
	0x8b, 0x1b, 0x53, 0x2e, 0xa3, 0x71, 0x64, 0x48, 0x97, 0xa2, 0x0d, 0xf9, 0x4e, 0x38, 0x19,
	0xef, 0x46, 0xa9, 0xde, 0xac, 0xd8, 0xa8, 0xfa, 0x76, 0x3f, 0xe3, 0x9c, 0x34, 0x3f, 0xf9,
	0xdc, 0xbb, 0xc7, 0xc7, 0x0b, 0x4f, 0x1d, 0x8a, 0x51, 0xe0, 0x4b, 0xcd, 0xb4, 0x59, 0x31,
	0xc8, 0x9f, 0x7e, 0xc9, 0xd9, 0x78, 0x73, 0x64, 0xea, 0xc5, 0xac, 0x83, 0x34, 0xd3, 0xeb,
	0xc3, 0xc5, 0x81, 0xa0, 0xff, 0xfa, 0x13, 0x63, 0xeb, 0x17, 0x0d, 0xdd, 0x51, 0xb7, 0xf0,
	0xda, 0x49, 0xd3, 0x16, 0x55, 0x26, 0x29, 0xd4, 0x68, 0x9e, 0x2b, 0x16, 0xbe, 0x58, 0x7d,
	0x47, 0xa1, 0xfc, 0x8f, 0xf8, 0xb8, 0xd1, 0x7a, 0xd0, 0x31, 0xce, 0x45, 0xcb, 0x3a, 0x8f,
	0x95, 0x16, 0x04, 0x28, 0xaf, 0xd7, 0xfb, 0xca, 0xbb, 0x4b, 0x40, 0x7e,
};

static inline uint64_t rotate(uint64_t v, int bits)
{
	return v << bits | v >> (64 - bits);
}

static inline uint64_t read64(const uint8_t *at)
{
	uint64_t v;

	memcpy(&v, at, 8);
	return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? __builtin_bswap64(v) : v;
}

static inline uint32_t read32(const uint8_t *at)
{
	uint32_t v;

	memcpy(&v, at, 4);
	return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? __builtin_bswap32(v) : v;
}

static inline void write64(uint8_t *at, uint64_t v)
{
	for (int i = 0; i < 8; i++)
		at[i] = (uint8_t)(v >> (8 * i));
}

static inline uint64_t fold_product(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t avalanche(uint64_t h)
{
	h = (h ^ h >> 37) * PRIME_MX1;
	return h ^ h >> 32;
}

static inline uint64_t avalanche_xxh64(uint64_t h)
{
	h = (h ^ h >> 33) * PRIME64_2;
	h = (h ^ h >> 29) * PRIME64_3;
	return h ^ h >> 32;
}

static uint64_t hash_to_16(const uint8_t *in, size_t len, uint64_t seed)
{
	uint64_t low, high, keyed;

	if (len > 8) {
		low = read64(in) ^ ((read64(secret + 24) ^ read64(secret + 32)) + seed);
		high = read64(in + len - 8) ^ ((read64(secret + 40) ^ read64(secret + 48)) - seed);
		return avalanche(len + __builtin_bswap64(low) + high + fold_product(low, high));
	}
	if (len >= 4) {
		seed ^= (uint64_t)__builtin_bswap32((uint32_t)seed) << 32;
		keyed = (read32(in + len - 4) + ((uint64_t)read32(in) << 32)) ^
			((read64(secret + 8) ^ read64(secret + 16)) - seed);
		keyed ^= rotate(keyed, 49) ^ rotate(keyed, 24);
		keyed *= PRIME_MX2;
		keyed ^= (keyed >> 35) + len;
		keyed *= PRIME_MX2;
		return keyed ^ keyed >> 28;
	}
	if (len) {
		keyed = (uint64_t)in[0] << 16 | (uint64_t)in[len >> 1] << 24 | in[len - 1] |
			len << 8;
		return avalanche_xxh64(keyed ^ ((read32(secret) ^ read32(secret + 4)) + seed));
	}
	return avalanche_xxh64(seed ^ read64(secret + 56) ^ read64(secret + 64));
}

static inline uint64_t mix16(const uint8_t *in, const uint8_t *key, uint64_t seed)
{
	return fold_product(read64(in) ^ (read64(key) + seed),
			    read64(in + 8) ^ (read64(key + 8) - seed));
}

static uint64_t hash_to_128(const uint8_t *in, size_t len, uint64_t seed)
{
	uint64_t acc = len * PRIME64_1;

	for (int i = (int)(len - 1) / 32; i >= 0; i--) {
		acc += mix16(in + 16 * i, secret + 32 * i, seed);
		acc += mix16(in + len - 16 * (i + 1), secret + 32 * i + 16, seed);
	}
	return avalanche(acc);
}

static uint64_t hash_to_240(const uint8_t *in, size_t len, uint64_t seed)
{
	uint64_t acc = len * PRIME64_1;
	unsigned rounds = (unsigned)len / 16;

	for (unsigned i = 0; i < 8; i++)
		acc += mix16(in + 16 * i, secret + 16 * i, seed);
	acc = avalanche(acc);
	for (unsigned i = 8; i < rounds; i++)
		acc += mix16(in + 16 * i, secret + 16 * (i - 8) + 3, seed);
	return avalanche(acc + mix16(in + len - 16, secret + 136 - 17, seed));
}

static void add_stripe(uint64_t acc[8], const uint8_t *in, const uint8_t *key)
{
	for (int i = 0; i < 8; i++) {
		uint64_t data = read64(in + 8 * i), keyed = data ^ read64(key + 8 * i);

		acc[i ^ 1] += data;
		acc[i] += (keyed & 0xffffffff) * (keyed >> 32);
	}
}

static void scramble(uint64_t acc[8], const uint8_t *key)
{
	for (int i = 0; i < 8; i++)
		acc[i] = (acc[i] ^ acc[i] >> 47 ^ read64(key + 8 * i)) * PRIME32_1;
}

static uint64_t hash_long(const uint8_t *in, size_t len, uint64_t seed)
{
	uint64_t acc[8] = { PRIME32_3, PRIME64_1, PRIME64_2, PRIME64_3,
			    PRIME64_4, PRIME32_2, PRIME64_5, PRIME32_1 };
	size_t stripes = (len - 1) / STRIPE_LEN;
	uint64_t result = len * PRIME64_1;
	uint8_t key[SECRET_LEN];

	for (int i = 0; i < SECRET_LEN; i += 16) {
		write64(key + i, read64(secret + i) + seed);
		write64(key + i + 8, read64(secret + i + 8) - seed);
	}
	for (size_t n = 0; n < stripes; n++) {
		add_stripe(acc, in + n * STRIPE_LEN, key + 8 * (n % STRIPES_PER_BLOCK));
		if (n % STRIPES_PER_BLOCK == STRIPES_PER_BLOCK - 1)
			scramble(acc, key + SECRET_LEN - STRIPE_LEN);
	}
	add_stripe(acc, in + len - STRIPE_LEN, key + SECRET_LEN - STRIPE_LEN - 7);
	for (int i = 0; i < 4; i++)
		result += fold_product(acc[2 * i] ^ read64(key + 11 + 16 * i),
				       acc[2 * i + 1] ^ read64(key + 11 + 16 * i + 8));
	return avalanche(result);
}

uint64_t hash_xxh3(const void *data, size_t len, uint64_t seed)
{
	const uint8_t *in = data;

	if (len <= 16)
		return hash_to_16(in, len, seed);
	if (len <= 128)
		return hash_to_128(in, len, seed);
	return len <= 240 ? hash_to_240(in, len, seed) : hash_long(in, len, seed);
}
