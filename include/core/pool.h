/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pool.h - objects of one size, with a cache per thread
 *
 * Allocating and freeing on the same thread touches only that thread's cache (LIFO: hot). A cache
 * that is too full returns clusters to the shared list, which in turn returns them to the C library
 * above a limit. An object may be freed by another thread than the one that allocated it. Objects
 * are not zeroed.
 * Fails: NULL when memory is out or above -m; tests inject failures (-dMfail, tune.fail-alloc).
 * Manual: management -dM, show pools; configuration tune.memory.hot-size.
 */
#ifndef CORE_POOL_H
#define CORE_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pool;

/* Creates a pool with the name for `show pools` (<name> is borrowed, static). Pools of the same
 * size may be merged unless debugging. At start-up only. NULL: out of memory.
 */
struct pool *pool_new(const char *name, size_t size);
void *pool_alloc(struct pool *p);
void *pool_zalloc(struct pool *p);
/* Allocates an object whose first <bytes> are zeroed; the rest is left as it is. */
void *pool_alloc_clear(struct pool *p, size_t bytes);
/* Frees an object. NULL is harmless. */
void pool_free(struct pool *p, void *object);
/* Returns the calling thread's spare objects (idle, stopping). */
void pool_trim_thread(void);
/* Returns the process's spare objects (SIGQUIT, stopping) and asks the C library to return memory
 * to the system, unless pool_set_trimming(false) (no-memory-trimming).
 */
void pool_trim_shared(void);
void pool_set_trimming(bool on);
/* Parses the options of -dM ("poison,no-cache", "0x50", "help"...): comma-separated, a leading byte
 * value is the poison. False: an unknown option or "help"; <message> (static) is the text to print.
 * Before any pool exists.
 */
bool pool_set_options(const char *text, const char **message);
/* Sets how many bytes a thread's cache may hold (tune.memory.hot-size). */
void pool_set_hot_size(uint64_t bytes);
/* Sets the percentage of allocations that fail on purpose (tune.fail-alloc), 0..100. */
void pool_set_fail_percent(unsigned percent);

/* Figures of one pool, for `show pools` and `show info`. */
struct pool_stats {
	const char *name;
	size_t size;          /* of an object */
	uint64_t allocated;   /* objects obtained from the C library and not returned */
	uint64_t used;        /* of these, in use by the program */
	uint64_t cached;      /* of these, in the threads' caches */
	uint64_t failures;
	unsigned users;       /* number of names that share this pool */
	const void *address;
};

/* Reads the figures of the <i>-th pool, from 0. False: after the last. */
bool pool_get_stats(unsigned i, struct pool_stats *out);
/* Returns the sums in bytes over all pools, and failures: PoolAlloc_MB, PoolUsed_MB, PoolFailed. */
void pool_get_totals(uint64_t *allocated, uint64_t *used, uint64_t *failures);
/* Sets the limit of -m in bytes; 0: none. */
void pool_set_limit(uint64_t bytes);

/* Makes blocks (base/block.h) of block_size() come from a pool from now on. After block_set_size(),
 * before the threads start. False: out of memory.
 */
bool block_pool_start(void);

#endif
