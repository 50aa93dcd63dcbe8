/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* memory_profile.h - which callers ask the C library for memory, and give it back
 *
 * Purpose: while it is on, each call of malloc() and its kin, in this program and in its libraries,
 *          is counted for the place that called: calls and bytes, both ways. What a pool asks for
 *          is counted for the pool. Off, a call costs one more branch.
 * Built  : where the library's functions can be replaced (USE_MEMORY_PROFILING, glibc without
 *          sanitizers); else it is never on.
 * Owns   : one table per process, fixed in size; a place that finds no room is counted as "other".
 * Threads: any. Figures of one place may be read amid a change of it.
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
	const void *at;            /* return address; of MEMORY_POOL: the pool's name */
	enum memory_method method; /* MEMORY_OTHER: of places without room; <at> is NULL */
	uint64_t allocs, frees;    /* calls */
	uint64_t alloc_bytes, free_bytes;
};

/* Is it built in? */
bool memory_profile_exists(void);
/* On: counts from zero. No effect where it is not built in. */
void memory_profile_set(bool on);
extern bool memory_profile_counts; /* atomic */
static inline bool memory_profile_is_on(void)
{
	return __atomic_load_n(&memory_profile_counts, __ATOMIC_RELAXED);
}

/* The <i>th place, in no order: figures all zero where nothing is. False after the last. */
bool memory_profile_get(unsigned i, struct memory_place *out);
/* When the current figures began and ended, monotonic ns; 0: never, still going on. */
void memory_profile_get_period(uint64_t *start_ns, uint64_t *stop_ns);

/* --- for pools: what this thread asks the library for now is counted for the pool of this name;
 * NULL: for the caller. Volatile: compilers believe to know what malloc() reads.
 */
extern __thread const char *volatile memory_profile_pool;

/* --- for the functions that stand in for the library's */
/* <at> has got <taken> bytes by <method>, and has given <given> back; 0: not. */
void memory_profile_note(enum memory_method method, const void *at, size_t taken, size_t given);

#endif
