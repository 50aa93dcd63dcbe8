/* SPDX-License-Identifier: GPL-2.0-or-later */
/* memory_profile.c - the table of places
 *
 * Open addressing without locks: an entry is claimed by its address, permanently; counters are
 * added atomically. No code here may allocate memory.
 */
#include "base/memory_profile.h"
#include "base/bug.h"
#include "base/clock.h"
#include "base/hash.h"

#define PLACES 2048 /* a power of two; the last one beyond is for the others */
#define PROBES 32

__thread const char *volatile memory_profile_pool;
bool memory_profile_counts;

static struct memory_place places[PLACES + 1];
static uint64_t started_ns, stopped_ns;

static struct memory_place *place_of(const void *at, enum memory_method method)
{
	uint64_t from = hash_u64((uintptr_t)at);

	for (unsigned i = 0; i < PROBES; i++) {
		struct memory_place *p = &places[(from + i) & (PLACES - 1)];
		const void *found = __atomic_load_n(&p->at, __ATOMIC_ACQUIRE);

		if (!found && __atomic_compare_exchange_n(&p->at, &found, at, false,
							  __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
			__atomic_store_n(&p->method, method, __ATOMIC_RELEASE);
			return p;
		}
		if (found == at)
			return p;
	}
	return &places[PLACES];
}

void memory_profile_note(enum memory_method method, const void *at, size_t taken, size_t given)
{
	const char *pool = memory_profile_pool;
	struct memory_place *p = pool ? place_of(pool, MEMORY_POOL) : place_of(at, method);

	if (taken) {
		__atomic_fetch_add(&p->allocs, 1, __ATOMIC_RELAXED);
		__atomic_fetch_add(&p->alloc_bytes, taken, __ATOMIC_RELAXED);
	}
	if (given) {
		__atomic_fetch_add(&p->frees, 1, __ATOMIC_RELAXED);
		__atomic_fetch_add(&p->free_bytes, given, __ATOMIC_RELAXED);
	}
}

void memory_profile_set(bool on)
{
	if (!memory_profile_exists() || on == memory_profile_is_on())
		return;
	for (unsigned i = 0; on && i <= PLACES; i++) {
		__atomic_store_n(&places[i].allocs, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&places[i].frees, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&places[i].alloc_bytes, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&places[i].free_bytes, 0, __ATOMIC_RELAXED);
	}
	if (on)
		__atomic_store_n(&started_ns, clock_read_ns(), __ATOMIC_RELAXED);
	__atomic_store_n(&stopped_ns, on ? 0 : clock_read_ns(), __ATOMIC_RELAXED);
	__atomic_store_n(&memory_profile_counts, on, __ATOMIC_RELAXED);
}

bool memory_profile_get(unsigned i, struct memory_place *out)
{
	const struct memory_place *p = places;

	if (i > PLACES)
		return false;
	p += i;
	out->at = __atomic_load_n(&p->at, __ATOMIC_ACQUIRE);
	out->method = __atomic_load_n(&p->method, __ATOMIC_ACQUIRE);
	out->allocs = __atomic_load_n(&p->allocs, __ATOMIC_RELAXED);
	out->frees = __atomic_load_n(&p->frees, __ATOMIC_RELAXED);
	out->alloc_bytes = __atomic_load_n(&p->alloc_bytes, __ATOMIC_RELAXED);
	out->free_bytes = __atomic_load_n(&p->free_bytes, __ATOMIC_RELAXED);
	return true;
}

void memory_profile_get_period(uint64_t *start_ns, uint64_t *stop_ns)
{
	*start_ns = __atomic_load_n(&started_ns, __ATOMIC_RELAXED);
	*stop_ns = __atomic_load_n(&stopped_ns, __ATOMIC_RELAXED);
}
