/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pool.h - objects of one size, with a cache per thread
 *
 * Allocating and freeing on the same thread touches only that thread's cache (LIFO: hot). A cache too full
 * gives clusters back to the shared list, and that to the C library above a bound.
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

/* A pool named as `show pools` prints it (<name> is borrowed, static). Same sizes may be merged unless
 * debugging. At start-up only. NULL: no memory.
 */
struct pool *pool_new(const char *name, size_t size);
void *pool_alloc(struct pool *p);
void *pool_zalloc(struct pool *p);
/* NULL is harmless. */
void pool_free(struct pool *p, void *object);
size_t pool_object_size(const struct pool *p);
/* Gives the calling thread's spare objects back (idle, stopping). */
void pool_trim_thread(void);
/* The limit of -m in bytes, 0: none. */
void pool_set_limit(uint64_t bytes);

#endif
