/* SPDX-License-Identifier: GPL-2.0-or-later */
/* memory_profile_glibc.c - functions that stand in for the C library's
 *
 *	caller, in the program or in any library --> malloc() here --> the next malloc(): that of
 *	                                                               the C library, or of a
 *	                                                               preloaded one
 *
 * All functions that allocate memory are here, so that one library has allocated all of it. The
 * next functions are looked up at the first call; memory that the dynamic linker allocates
 * meanwhile comes from a small area and stays there.
 */
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "base/memory_profile.h"

#define HERE __builtin_return_address(0)
#define EARLY_SIZE 4096

static struct {
	void *(*malloc)(size_t size);
	void *(*calloc)(size_t count, size_t size);
	void *(*realloc)(void *p, size_t size);
	void (*free)(void *p);
	void *(*memalign)(size_t align, size_t size);
	void *(*aligned_alloc)(size_t align, size_t size);
	int (*posix_memalign)(void **out, size_t align, size_t size);
	size_t (*malloc_usable_size)(void *p);
	bool known;
} next;

static struct {
	bool searching;
	size_t used;
	char area[EARLY_SIZE] __attribute__((aligned(16)));
} early;

bool memory_profile_exists(void)
{
	return true;
}

/* --- the first call --------------------------------------------------------------------------- */

static inline bool is_early(const void *p)
{
	return (uintptr_t)p - (uintptr_t)early.area < EARLY_SIZE;
}

/* Zeroed: nothing of the area is used twice. */
static void *early_alloc(size_t size)
{
	size_t at = early.used;

	size = (size + 15) & ~(size_t)15;
	if (size > EARLY_SIZE - at) {
		errno = ENOMEM;
		return NULL;
	}
	early.used += size;
	return early.area + at;
}

#define FIND(name) next.name = (__typeof__(next.name))(uintptr_t)dlsym(RTLD_NEXT, #name)

/* The process has one thread yet: its libraries' own start has asked for memory. */
static __attribute__((noinline, cold)) bool find_first(void)
{
	if (early.searching)
		return false;
	early.searching = true;
	FIND(malloc);
	FIND(calloc);
	FIND(realloc);
	FIND(free);
	FIND(memalign);
	FIND(aligned_alloc);
	FIND(posix_memalign);
	FIND(malloc_usable_size);
	__atomic_store_n(&next.known, true, __ATOMIC_RELEASE);
	early.searching = false;
	return true;
}

static inline bool find_next(void)
{
	return likely(__atomic_load_n(&next.known, __ATOMIC_ACQUIRE)) || find_first();
}

/* The usual state: known, and nothing counts. */
static inline bool is_plain(void)
{
	return likely(__atomic_load_n(&next.known, __ATOMIC_ACQUIRE)) &&
	       likely(!memory_profile_is_on());
}

/* --- counting --------------------------------------------------------------------------------- */

static void *counted(enum memory_method method, const void *at, void *p)
{
	if (unlikely(memory_profile_is_on()) && p)
		memory_profile_note(method, at, next.malloc_usable_size(p), 0);
	return p;
}

/* What <p> holds, where that is counted; else 0. */
static size_t size_of(void *p)
{
	return unlikely(memory_profile_is_on()) && p ? next.malloc_usable_size(p) : 0;
}

/* --- the functions: plain, and what they do else -------------------------------------------- */

#define SLOW static __attribute__((noinline, cold))

SLOW void *slow_malloc(size_t size, const void *at)
{
	if (!find_next())
		return early_alloc(size);
	return counted(MEMORY_MALLOC, at, next.malloc(size));
}

void *malloc(size_t size)
{
	return is_plain() ? next.malloc(size) : slow_malloc(size, HERE);
}

SLOW void *slow_calloc(size_t count, size_t size, const void *at)
{
	if (!find_next())
		return count && size > EARLY_SIZE / count ? NULL : early_alloc(count * size);
	return counted(MEMORY_CALLOC, at, next.calloc(count, size));
}

void *calloc(size_t count, size_t size)
{
	return is_plain() ? next.calloc(count, size) : slow_calloc(count, size, HERE);
}

SLOW void *slow_realloc(void *p, size_t size, const void *at)
{
	size_t had;
	void *q;

	if (!find_next() || is_early(p)) {
		size_t left = p ? (size_t)(early.area + EARLY_SIZE - (char *)p) : 0;

		q = next.known ? next.malloc(size) : early_alloc(size);
		if (q && p)
			memcpy(q, p, size < left ? size : left);
		return q;
	}
	had = size_of(p);
	q = next.realloc(p, size);
	if (memory_profile_is_on() && (q || !size))
		memory_profile_note(MEMORY_REALLOC, at, q ? next.malloc_usable_size(q) : 0, had);
	return q;
}

void *realloc(void *p, size_t size)
{
	if (is_plain() && likely(!is_early(p)))
		return next.realloc(p, size);
	return slow_realloc(p, size, HERE);
}

SLOW void slow_free(void *p, const void *at)
{
	size_t had;

	if (!p || is_early(p) || !find_next())
		return;
	had = size_of(p);
	if (had)
		memory_profile_note(MEMORY_FREE, at, 0, had);
	next.free(p);
}

void free(void *p)
{
	if (is_plain() && likely(!is_early(p)))
		next.free(p);
	else
		slow_free(p, HERE);
}

void *memalign(size_t align, size_t size)
{
	return find_next() ? counted(MEMORY_ALIGNED, HERE, next.memalign(align, size)) : NULL;
}

void *aligned_alloc(size_t align, size_t size)
{
	return find_next() ? counted(MEMORY_ALIGNED, HERE, next.aligned_alloc(align, size)) : NULL;
}

int posix_memalign(void **out, size_t align, size_t size)
{
	int error = find_next() ? next.posix_memalign(out, align, size) : ENOMEM;

	if (!error)
		counted(MEMORY_ALIGNED, HERE, *out);
	return error;
}

size_t malloc_usable_size(void *p)
{
	return p && !is_early(p) && find_next() ? next.malloc_usable_size(p) : 0;
}
