/* SPDX-License-Identifier: GPL-2.0-or-later */
/* conv_hash.c - converters that hash: none is for secrets */
#include <string.h>
#include "base/hash.h"
#include "expr_priv.h"

/* <avalanche>, when it is given and not zero: the result is spread. */
static bool give_hash(const struct expr_arg *args, struct sample *s, uint32_t hash)
{
	bool spread = args[0].type == ARG_INT && args[0].integer;

	s->integer = spread ? hash_avalanche(hash) : hash;
	s->type = SMP_INT;
	return true;
}

static bool convert_crc32(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	return give_hash(args, s, hash_crc32(0, s->text.ptr, s->text.len));
}

static bool convert_crc32c(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	return give_hash(args, s, hash_crc32c(0, s->text.ptr, s->text.len));
}

static bool convert_djb2(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	return give_hash(args, s, hash_djb2(s->text.ptr, s->text.len));
}

static bool convert_sdbm(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	return give_hash(args, s, hash_sdbm(s->text.ptr, s->text.len));
}

/* --- XXH32, as its specification has it --------------------------------------------------- */

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

static uint32_t xxh32(const unsigned char *p, size_t len, uint32_t seed)
{
	const unsigned char *end = p + len;
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

static bool convert_xxh32(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	uint32_t seed = args[0].type == ARG_INT ? (uint32_t)args[0].integer : 0;

	s->integer = xxh32((const unsigned char *)s->text.ptr, s->text.len, seed);
	s->type = SMP_INT;
	return true;
}

static bool convert_xxh64(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	uint64_t seed = args[0].type == ARG_INT ? (uint64_t)args[0].integer : 0;

	s->integer = (int64_t)hash_bytes(s->text.ptr, s->text.len, seed);
	s->type = SMP_INT;
	return true;
}

static bool convert_xxh3(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	uint64_t seed = args[0].type == ARG_INT ? (uint64_t)args[0].integer : 0;

	s->integer = (int64_t)hash_xxh3(s->text.ptr, s->text.len, seed);
	s->type = SMP_INT;
	return true;
}

#define HASH(n, f, w, h) \
	{ .name = n, .args = { ARG_INT }, .in = SMP_BIN, .out = SMP_INT, .convert = f, \
	  .syntax = w, .help = h }

const struct expr_converter expr_hash_converters[] = {
	HASH("crc32", convert_crc32, "[(<avalanche>)]", "CRC-32 of Ethernet and gzip"),
	HASH("crc32c", convert_crc32c, "[(<avalanche>)]", "CRC-32 of Castagnoli"),
	HASH("djb2", convert_djb2, "[(<avalanche>)]", "DJB2 hash, 32 bits"),
	HASH("sdbm", convert_sdbm, "[(<avalanche>)]", "SDBM hash, 32 bits"),
	HASH("xxh3", convert_xxh3, "[(<seed>)]", "XXH3, 64 bits"),
	HASH("xxh32", convert_xxh32, "[(<seed>)]", "XXH32"),
	HASH("xxh64", convert_xxh64, "[(<seed>)]", "XXH64"),
	{ 0 }
};
