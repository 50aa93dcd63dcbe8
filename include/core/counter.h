/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* counter.h - counters sharded by thread group, summed up when read
 *
 * A set of counters is an array of uint64_t per group, on cache lines of its own. Adding is one
 * relaxed atomic operation on memory that only the group writes, or a plain addition if the group
 * is one thread. Gauges (current sessions) are counters that also decrease: a single shard means
 * nothing, only the sum does.
 */
#ifndef CORE_COUNTER_H
#define CORE_COUNTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bug.h"
#include "base/clock.h"
#include "core/activity.h"
#include "core/thread.h"

/* False in a build that measures the cost of counting: "make STATS=none". Counters that decide
 * something stay: the gauges of gauge_add() and the activity of threads.
 */
#ifndef STATS_ARE_COUNTED
#define STATS_ARE_COUNTED true
#endif

struct counter_set {
	char *shards;     /* NULL before counter_set_init() */
	unsigned stride;  /* bytes from one group's shard to the next: whole cache lines */
	unsigned count;
};

/* Allocates shards for thread_group_count() groups. False: out of memory. */
bool counter_set_init(struct counter_set *s, unsigned count);
/* For numerous objects: counter_set_size() returns the size of the shards of <count> counters, in
 * whole cache lines; counter_set_place() builds a set on that much zeroed memory, which the caller
 * keeps owning (no counter_set_fini()).
 */
size_t counter_set_size(unsigned count);
void counter_set_place(struct counter_set *s, unsigned count, void *lines);
void counter_set_fini(struct counter_set *s);
/* Returns the sum over the groups. */
uint64_t counter_read(const struct counter_set *s, unsigned i);
void counter_clear(struct counter_set *s, unsigned i);

/* Returns the address of counter <i> of group <group>, to be read atomically. */
static inline uint64_t *counter_at(const struct counter_set *s, unsigned group, unsigned i)
{
	return (uint64_t *)(void *)(s->shards + (size_t)group * s->stride) + i;
}

static inline void counter_add(struct counter_set *s, unsigned i, int64_t n)
{
	uint64_t *c = counter_at(s, thread_group, i);

	if (!STATS_ARE_COUNTED)
		return;
	if (thread_group_is_single) {
		__atomic_store_n(c, *c + (uint64_t)n, __ATOMIC_RELAXED);
		return;
	}
	SHARED_WRITE(group);
	__atomic_fetch_add(c, (uint64_t)n, __ATOMIC_RELAXED);
}

/* Returns this group's counters from <first> on, for several calls of counter_bump(). */
static inline uint64_t *counter_mine(struct counter_set *s, unsigned first)
{
	return counter_at(s, thread_group, first);
}

static inline void counter_bump(uint64_t *c, int64_t n)
{
	if (!STATS_ARE_COUNTED)
		return;
	if (thread_group_is_single)
		__atomic_store_n(c, *c + (uint64_t)n, __ATOMIC_RELAXED);
	else
		__atomic_fetch_add(c, (uint64_t)n, __ATOMIC_RELAXED);
}

/* Adds to a gauge and returns this group's new value (for per-group maxima). */
static inline uint64_t counter_add_read(struct counter_set *s, unsigned i, int64_t n)
{
	uint64_t *c = counter_at(s, thread_group, i);

	if (thread_group_is_single) {
		__atomic_store_n(c, *c + (uint64_t)n, __ATOMIC_RELAXED);
		return *c;
	}
	SHARED_WRITE(group);
	return __atomic_add_fetch(c, (uint64_t)n, __ATOMIC_RELAXED);
}

/* A rate, sharded by group like the counters: events per second, over a sliding second. */
struct rate {
	uint64_t current_sec;  /* atomic: second of <current> */
	uint32_t current, previous;
};

/* A completed second, and the events counted in it. */
struct rate_closed {
	uint64_t sec;
	uint32_t count;
};

/* Counts <n> events now. Any thread. True: this call is the first after a second, which *closed
 * describes.
 */
bool rate_add(struct rate *r, unsigned n, struct rate_closed *closed);
/* As rate_add(), within a second that has begun. False: nothing was done, call rate_add(). */
static inline bool rate_add_within(struct rate *r, unsigned n)
{
	if (unlikely(__atomic_load_n(&r->current_sec, __ATOMIC_RELAXED) <
		     clock_now_ns() / NS_PER_SEC))
		return false;
	if (likely(thread_group_is_single)) {
		__atomic_store_n(&r->current, r->current + n, __ATOMIC_RELAXED);
	} else {
		SHARED_WRITE(group);
		__atomic_fetch_add(&r->current, n, __ATOMIC_RELAXED);
	}
	return true;
}
/* Returns the events of second <sec>, if known: the last one with events, or the one before it. */
uint32_t rate_of_second(const struct rate *r, uint64_t sec);
/* Returns the events of the last second, the older part of it by proportion. */
uint32_t rate_read(const struct rate *r);

#endif
