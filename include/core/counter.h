/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* counter.h - counters sharded by thread group, added up when read
 *
 * A set of counters is an array of uint64_t per group, each group's on its own cache lines, one
 * behind the other. Adding is one relaxed atomic on memory that only the group writes; a plain add
 * where the group is one thread. Gauges (current sessions) are counters that go down too: a shard
 * alone means nothing, the sum does.
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

/* False in a build that only tells what counting costs: "make STATS=none". What decides something
 * stays: the gauges of gauge_add(), the activity of threads.
 */
#ifndef STATS_ARE_COUNTED
#define STATS_ARE_COUNTED true
#endif

struct counter_set {
	char *shards;     /* NULL before counter_set_init() */
	unsigned stride;  /* bytes from one group's to the next: whole cache lines */
	unsigned count;
};

/* Makes shards for thread_group_count() groups. False: no memory. */
bool counter_set_init(struct counter_set *s, unsigned count);
/* For objects that are many: the bytes of the shards of <count> counters, whole cache lines, and a
 * set on such a piece of zeroed memory, which stays the caller's (no counter_set_fini()).
 */
size_t counter_set_size(unsigned count);
void counter_set_place(struct counter_set *s, unsigned count, void *lines);
void counter_set_fini(struct counter_set *s);
/* The sum over the groups. */
uint64_t counter_read(const struct counter_set *s, unsigned i);
void counter_clear(struct counter_set *s, unsigned i);

/* Counter <i> of group <group>: for reading, atomically. */
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

/* This group's counters from <first> on, for several additions: counter_bump(). */
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

/* A rate over a sliding second, sharded by group like the counters: events per second. */
struct rate {
	uint64_t current_sec;  /* atomic: second of <current> */
	uint32_t current, previous;
};

/* A second that is over: which, and what was counted in it. */
struct rate_closed {
	uint64_t sec;
	uint32_t count;
};

/* Counts <n> events now. Any thread. True: this call is the first behind a second, told in
 * *closed.
 */
bool rate_add(struct rate *r, unsigned n, struct rate_closed *closed);
/* As rate_add(), within a second that has begun. False: nothing was done, rate_add() has more to
 * do.
 */
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
/* Events of second <sec>, as long as it is known: it is the last one that had some, or the one
 * before it.
 */
uint32_t rate_of_second(const struct rate *r, uint64_t sec);
/* Events of the second that just passed, the older part of it by proportion. */
uint32_t rate_read(const struct rate *r);

#endif
