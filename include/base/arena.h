/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* arena.h - memory that is freed as a whole
 *
 * Bump allocation from chunks. Used for text that lives as long as a stream or a configuration.
 * Owner: the object that embeds it. Threads: the owner's. Fails: NULL when out of memory.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>
#include "base/slice.h"

struct arena_chunk;

struct arena {
	char *at, *end;             /* free room of the current chunk */
	struct arena_chunk *chunks; /* newest first */
	size_t chunk_size;          /* size of a new chunk in bytes */
};

/* Initialises an arena; nothing is allocated until the first use. <chunk_size> 0 means 4096. */
void arena_init(struct arena *a, size_t chunk_size);
/* As arena_init(), but begins in <area> (8-byte aligned), which the caller owns and which must
 * outlive the arena.
 */
void arena_init_in(struct arena *a, void *area, size_t size, size_t chunk_size);
/* Frees everything. The arena may be used again. */
void arena_fini(struct arena *a);
/* Slow part of arena_alloc(): the current chunk has no room. */
void *arena_alloc_slow(struct arena *a, size_t size);
/* Returns <size> bytes, 8-byte aligned, not zeroed. NULL: out of memory. */
static inline void *arena_alloc(struct arena *a, size_t size)
{
	void *p = a->at;

	size = (size + 7) & ~(size_t)7;
	if (__builtin_expect(size > (size_t)(a->end - a->at), 0))
		return arena_alloc_slow(a, size);
	a->at += size;
	return p;
}
/* As arena_alloc(), but zeroed. */
void *arena_zalloc(struct arena *a, size_t size);
/* Copies bytes and adds a NUL after them; slice_none(): out of memory. */
struct slice arena_copy(struct arena *a, struct slice s);
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
