/* SPDX-License-Identifier: GPL-2.0-or-later */
/* conv_hash.c - converters that hash: none is for secrets */
#include <string.h>
#include "base/hash.h"
#include "expr/modules.h"
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

static bool convert_xxh32(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	uint32_t seed = args[0].type == ARG_INT ? (uint32_t)args[0].integer : 0;

	s->integer = hash_xxh32(s->text.ptr, s->text.len, seed);
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

static const struct expr_converter converters[] = {
	HASH("crc32", convert_crc32, "[(<avalanche>)]", "CRC-32 of Ethernet and gzip"),
	HASH("crc32c", convert_crc32c, "[(<avalanche>)]", "CRC-32 of Castagnoli"),
	HASH("djb2", convert_djb2, "[(<avalanche>)]", "DJB2 hash, 32 bits"),
	HASH("sdbm", convert_sdbm, "[(<avalanche>)]", "SDBM hash, 32 bits"),
	HASH("xxh3", convert_xxh3, "[(<seed>)]", "XXH3, 64 bits"),
	HASH("xxh32", convert_xxh32, "[(<seed>)]", "XXH32"),
	HASH("xxh64", convert_xxh64, "[(<seed>)]", "XXH64"),
	{ 0 }
};

const struct module mod_conv_hash = { .name = "conv_hash", .converters = converters };
