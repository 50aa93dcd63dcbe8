/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* memory_profile.h - counts which callers allocate and free memory of the C library
 *
 * Purpose: while it is on, each call of malloc() and related functions, by this program or its
 *          libraries, is counted for the calling place: calls and bytes, in both directions.
 *          Allocations for a pool are counted for the pool. While off, a call costs one more
 *          branch.
 * Built  : where the library's functions can be replaced (USE_MEMORY_PROFILING, glibc without
 *          sanitizers); otherwise it is never on.
 * Owns   : one table per process, of fixed size; places that find no room are counted as "other".
 * Threads: any. Figures of a place may be read in the middle of an update.
 * Manual : configuration profiling.memory; management set/show profiling.
 */
#ifndef BASE_MEMORY_PROFILE_H
#define BASE_MEMORY_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum memory_method {
	MEMORY_OTHER, MEMORY_MALLOC, MEMORY_CALLOC, MEMORY_REALLOC, MEMORY_FREE, MEMORY_ALIGNED,
	MEMORY_POOL,
};

struct memory_place {
	const void *at;            /* return address; for MEMORY_POOL: the pool's name */
	enum memory_method method; /* MEMORY_OTHER: places without room; <at> is NULL */
	uint64_t allocs, frees;    /* calls */
	uint64_t alloc_bytes, free_bytes;
};

/* Is it built in? */
bool memory_profile_exists(void);
/* On: restarts counting from zero. No effect if not built in. */
void memory_profile_set(bool on);
extern bool memory_profile_counts; /* atomic */
static inline bool memory_profile_is_on(void)
{
	return __atomic_load_n(&memory_profile_counts, __ATOMIC_RELAXED);
}

/* Reads the <i>-th place, in no order; unused places have figures of zero. False: after the last.
 */
bool memory_profile_get(unsigned i, struct memory_place *out);
/* Returns when the current figures began and ended, monotonic ns; 0: never, or still running. */
void memory_profile_get_period(uint64_t *start_ns, uint64_t *stop_ns);

/* --- for pools: the pool for which this thread's allocations are counted; NULL: for the caller.
 * Volatile, since compilers assume to know what malloc() reads.
 */
extern __thread const char *volatile memory_profile_pool;

/* --- for the functions that replace the library's */
/* Counts for <at>: allocated <taken> bytes by <method>, and freed <given>; 0: none. */
void memory_profile_note(enum memory_method method, const void *at, size_t taken, size_t given);

#endif
