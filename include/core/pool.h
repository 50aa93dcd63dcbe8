/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pool.h - objects of one size, with a cache per thread
 *
 * Allocating and freeing on the same thread touches only that thread's cache (LIFO: hot). A cache
 * too full gives clusters back to the shared list, and that to the C library above a bound.
 * An object may be freed by another thread than took it. Not zeroed.
 * Fails: NULL when memory is out or above -m; tests inject failures (-dMfail, tune.fail-alloc).
 * Manual: management -dM, show pools; configuration tune.memory.hot-size.
 */
#ifndef CORE_POOL_H
#define CORE_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pool;

/* A pool named as `show pools` prints it (<name> is borrowed, static). Same sizes may be merged
 * unless debugging. At start-up only. NULL: no memory.
 */
struct pool *pool_new(const char *name, size_t size);
void *pool_alloc(struct pool *p);
void *pool_zalloc(struct pool *p);
/* An object whose first <bytes> are zero, the rest is as it was left. */
void *pool_alloc_clear(struct pool *p, size_t bytes);
/* NULL is harmless. */
void pool_free(struct pool *p, void *object);
/* Gives the calling thread's spare objects back (idle, stopping). */
void pool_trim_thread(void);
/* Gives back what the process shares (SIGQUIT, stopping), and asks the C library to return what it
 * can to the system, unless pool_set_trimming(false) (no-memory-trimming).
 */
void pool_trim_shared(void);
void pool_set_trimming(bool on);
/* Reads the options of -dM ("poison,no-cache", "0x50", "help"...): comma separated, a leading
 * byte value is the poison. False: unknown option or help was asked for: <message> (static) says
 * it. Before any pool exists.
 */
bool pool_set_options(const char *text, const char **message);
/* Bytes that a thread may keep for itself (tune.memory.hot-size). */
void pool_set_hot_size(uint64_t bytes);
/* Percentage of allocations that fail on purpose (tune.fail-alloc), 0..100. */
void pool_set_fail_percent(unsigned percent);

/* What `show pools` and `show info` tell of one pool. */
struct pool_stats {
	const char *name;
	size_t size;          /* of an object */
	uint64_t allocated;   /* objects asked from the C library and not given back */
	uint64_t used;        /* of these, in the hands of the program */
	uint64_t cached;      /* of these, in the threads' caches */
	uint64_t failures;
	unsigned users;       /* names that share this pool */
	const void *address;
};

/* The <i>th pool, from 0; false after the last. */
bool pool_get_stats(unsigned i, struct pool_stats *out);
/* Sums in bytes over all pools, and failures: PoolAlloc_MB, PoolUsed_MB, PoolFailed. */
void pool_get_totals(uint64_t *allocated, uint64_t *used, uint64_t *failures);
/* The limit of -m in bytes, 0: none. */
void pool_set_limit(uint64_t bytes);

/* Blocks (base/block.h) of block_size() come from a pool from now on; after block_set_size(),
 * before the threads. False: no memory.
 */
bool block_pool_start(void);

#endif
