/* SPDX-License-Identifier: GPL-2.0-or-later */
/* block_pool.c - blocks of the usual size come from a pool, others from the C library */
#include "base/block.h"
#include <stdlib.h>
#include "core/pool.h"
#include "pool_priv.h"

enum block_kind { BLOCK_POOLED, BLOCK_ODD };

static struct pool *blocks;

static struct block *pooled_take(size_t size)
{
	bool usual = size == block_size();
	struct block *b = usual ? pool_alloc(blocks) : malloc(sizeof(*b) + size);

	if (b)
		b->kind = usual ? BLOCK_POOLED : BLOCK_ODD;
	return b;
}

static void pooled_release(struct block *b)
{
	if (b->kind == BLOCK_POOLED)
		pool_free(blocks, b);
	else
		free(b);
}

bool block_pool_start(void)
{
	static const struct block_allocator allocator = { pooled_take, pooled_release };

	blocks = pool_new("buffer", sizeof(struct block) + block_size());
	if (!blocks)
		return false;
	block_set_allocator(&allocator);
	return true;
}
