/* SPDX-License-Identifier: GPL-2.0-or-later */
/* counters.c - the counters of frontends, listeners, backends and servers */
#include "proxy/counters.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"

#define TIME_SAMPLES 1024

/* Zeroed memory that shares its cache lines with nothing else. */
static void *lines_alloc(size_t size)
{
	size_t rounded = (size + COUNTER_LINE - 1) & ~(size_t)(COUNTER_LINE - 1);
	void *p = aligned_alloc(COUNTER_LINE, rounded);

	if (p)
		memset(p, 0, rounded);
	return p;
}

/* Raises *<max> to <value> if that is more. */
static void raise_max(uint64_t *max, uint64_t value)
{
	uint64_t old = __atomic_load_n(max, __ATOMIC_RELAXED);

	while (value > old) {
		SHARED_WRITE(process);
		if (__atomic_compare_exchange_n(max, &old, value, true, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED))
			break;
	}
}

/* --- rates ---------------------------------------------------------------------------------- */

size_t shard_lines_size(void)
{
	return thread_group_count() * COUNTER_LINE;
}

void rate_set_place(struct rate_set *r, void *lines)
{
	*r = (struct rate_set){ .shards = lines };
}

bool rate_set_init(struct rate_set *r)
{
	rate_set_place(r, lines_alloc(shard_lines_size()));
	return r->shards != NULL;
}

void rate_set_fini(struct rate_set *r)
{
	free(r->shards);
	r->shards = NULL;
}

uint32_t rate_set_read(const struct rate_set *r)
{
	uint32_t sum = 0;

	for (unsigned g = 0; g < thread_group_count(); g++)
		sum += rate_read(rate_set_shard(r, g));
	return sum;
}

/* The events of second <sec> in all groups but <but>. */
static uint32_t rate_second_elsewhere(const struct rate_set *r, uint64_t sec, unsigned but)
{
	uint32_t sum = 0;

	for (unsigned g = 0; g < thread_group_count(); g++)
		if (g != but)
			sum += rate_of_second(rate_set_shard(r, g), sec);
	return sum;
}

/* Of the <sum> events of second <sec>, those that came since the maximum was cleared. */
static uint32_t since_cleared(const struct rate_set *r, uint64_t sec, uint32_t sum)
{
	uint64_t cleared = __atomic_load_n(&r->cleared_sec, __ATOMIC_RELAXED);
	uint32_t spared = __atomic_load_n(&r->spared, __ATOMIC_RELAXED);

	if (sec != cleared)
		return sec > cleared ? sum : 0;
	return sum > spared ? sum - spared : 0;
}

/* All threads share the maximum: it is updated when a second is over, not at each event. */
void rate_set_begin(struct rate_set *r, unsigned n)
{
	struct rate_closed closed;
	uint32_t sum, old;

	if (!rate_add(rate_set_shard(r, thread_group), n, &closed))
		return;
	sum = since_cleared(r, closed.sec,
			    closed.count + rate_second_elsewhere(r, closed.sec, thread_group));
	old = __atomic_load_n(&r->max, __ATOMIC_RELAXED);
	while (sum > old) {
		SHARED_WRITE(process);
		if (__atomic_compare_exchange_n(&r->max, &old, sum, true, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED))
			break;
	}
}

uint32_t rate_set_max(const struct rate_set *r)
{
	uint64_t now = clock_now_ns() / NS_PER_SEC;
	uint32_t max = __atomic_load_n(&r->max, __ATOMIC_RELAXED), sum = rate_set_read(r);

	/* (what passes now has to do with the second before) */
	if (sum > max && now > __atomic_load_n(&r->cleared_sec, __ATOMIC_RELAXED) + 1)
		max = sum;
	/* seconds that no thread has closed yet */
	for (unsigned g = 0; g < thread_group_count(); g++) {
		uint64_t sec = __atomic_load_n(&rate_set_shard(r, g)->current_sec,
					       __ATOMIC_RELAXED);

		sum = since_cleared(r, sec, rate_second_elsewhere(r, sec, UINT32_MAX));
		if (sum > max)
			max = sum;
	}
	return max;
}

void rate_set_clear_max(struct rate_set *r)
{
	uint64_t now = clock_now_ns() / NS_PER_SEC;

	__atomic_store_n(&r->cleared_sec, now, __ATOMIC_RELAXED);
	__atomic_store_n(&r->spared, rate_second_elsewhere(r, now, UINT32_MAX), __ATOMIC_RELAXED);
	__atomic_store_n(&r->max, 0, __ATOMIC_RELAXED);
}

static struct rate_set *of_process; /* set before the threads */

void rate_set_of_process(struct rate_set *r)
{
	of_process = r;
}

void rate_set_clear_process_max(void)
{
	if (of_process)
		rate_set_clear_max(of_process);
}

unsigned rate_set_wait_ms(const struct rate_set *r, uint32_t limit)
{
	uint32_t now = rate_set_read(r);
	uint64_t wait;

	if (!limit || now < limit)
		return 0;
	/* The window empties at the pace of the limit: wait for the excess, at least one event.
	 */
	wait = ((uint64_t)now - limit + 1) * 1000 / limit;
	return wait > 1000 ? 1000 : wait < 1 ? 1 : (unsigned)wait;
}

/* --- gauges with a maximum ------------------------------------------------------------------ */

/* This group's share alone could make a new maximum. Returns it. */
static __attribute__((noinline)) uint64_t gauge_raise(struct counter_set *s, unsigned i,
						      uint64_t own, uint64_t *max)
{
	raise_max(max, thread_group_count() > 1 ? counter_read(s, i) : own);
	return own;
}

uint64_t gauge_add(struct counter_set *s, unsigned i, int64_t n, uint64_t *max)
{
	uint64_t own = counter_add_read(s, i, n);

	if (likely(n <= 0 || own <= __atomic_load_n(max, __ATOMIC_RELAXED) / thread_group_count()))
		return own;
	return gauge_raise(s, i, own, max);
}

/* --- times ---------------------------------------------------------------------------------- */

/* Sums of a sliding window: each sample replaces an average one once the window is full. A lost
 * update between threads of a group only makes the average a little less exact.
 */
struct time_shard {
	uint64_t sum[TIME_KINDS];
	uint32_t max[TIME_KINDS];
	uint32_t count; /* samples in the window, up to TIME_SAMPLES */
};

static_assert(sizeof(struct time_shard) <= COUNTER_LINE, "a shard is one cache line");

static struct time_shard *time_shard(const struct time_set *t, unsigned group)
{
	return (struct time_shard *)(t->shards + group * COUNTER_LINE);
}

void time_set_place(struct time_set *t, void *lines)
{
	t->shards = lines;
}

bool time_set_init(struct time_set *t)
{
	time_set_place(t, lines_alloc(shard_lines_size()));
	return t->shards != NULL;
}

void time_set_fini(struct time_set *t)
{
	free(t->shards);
	t->shards = NULL;
}

/* Adds a sample while the window is not full. */
static void time_shard_fill(struct time_shard *s, uint32_t count, const uint64_t ms[TIME_KINDS])
{
	for (int k = 0; k < TIME_KINDS; k++) {
		uint64_t sum = __atomic_load_n(&s->sum[k], __ATOMIC_RELAXED);

		__atomic_store_n(&s->sum[k], sum + ms[k], __ATOMIC_RELAXED);
	}
	__atomic_store_n(&s->count, count + 1, __ATOMIC_RELAXED);
}

/* Adds a sample of <k> once the window is full. */
static inline void time_shard_slide(struct time_shard *s, enum time_kind k, uint64_t ms)
{
	uint64_t sum = __atomic_load_n(&s->sum[k], __ATOMIC_RELAXED);

	sum -= (sum + TIME_SAMPLES - 1) / TIME_SAMPLES;
	__atomic_store_n(&s->sum[k], sum + ms, __ATOMIC_RELAXED);
}

static inline void time_shard_max(struct time_shard *s, enum time_kind k, uint64_t ms)
{
	if (unlikely(ms > __atomic_load_n(&s->max[k], __ATOMIC_RELAXED)))
		__atomic_store_n(&s->max[k], ms < UINT32_MAX ? (uint32_t)ms : UINT32_MAX,
				 __ATOMIC_RELAXED);
}

void time_set_add(struct time_set *t, const uint64_t ms[TIME_KINDS])
{
	struct time_shard *s = time_shard(t, thread_group);
	uint32_t count = __atomic_load_n(&s->count, __ATOMIC_RELAXED);

	if (!STATS_ARE_COUNTED)
		return;
	SHARED_WRITE(group);
	if (likely(count >= TIME_SAMPLES)) {
		time_shard_slide(s, TIME_QUEUE, ms[TIME_QUEUE]);
		time_shard_slide(s, TIME_CONNECT, ms[TIME_CONNECT]);
		time_shard_slide(s, TIME_RESPONSE, ms[TIME_RESPONSE]);
		time_shard_slide(s, TIME_TOTAL, ms[TIME_TOTAL]);
	} else {
		time_shard_fill(s, count, ms);
	}
	time_shard_max(s, TIME_QUEUE, ms[TIME_QUEUE]);
	time_shard_max(s, TIME_CONNECT, ms[TIME_CONNECT]);
	time_shard_max(s, TIME_RESPONSE, ms[TIME_RESPONSE]);
	time_shard_max(s, TIME_TOTAL, ms[TIME_TOTAL]);
}

uint32_t time_set_average(const struct time_set *t, enum time_kind kind)
{
	uint64_t sum = 0, count = 0;

	for (unsigned g = 0; g < thread_group_count(); g++) {
		sum += __atomic_load_n(&time_shard(t, g)->sum[kind], __ATOMIC_RELAXED);
		count += __atomic_load_n(&time_shard(t, g)->count, __ATOMIC_RELAXED);
	}
	return count ? (uint32_t)((sum + count - 1) / count) : 0;
}

uint32_t time_set_max(const struct time_set *t, enum time_kind kind)
{
	uint32_t max = 0;

	for (unsigned g = 0; g < thread_group_count(); g++) {
		uint32_t v = __atomic_load_n(&time_shard(t, g)->max[kind], __ATOMIC_RELAXED);

		if (v > max)
			max = v;
	}
	return max;
}

void time_set_clear(struct time_set *t)
{
	for (unsigned g = 0; g < thread_group_count(); g++)
		for (int k = 0; k < TIME_KINDS; k++)
			__atomic_store_n(&time_shard(t, g)->max[k], 0, __ATOMIC_RELAXED);
}

void time_set_clear_averages(struct time_set *t)
{
	for (unsigned g = 0; g < thread_group_count(); g++) {
		struct time_shard *s = time_shard(t, g);

		__atomic_store_n(&s->count, 0, __ATOMIC_RELAXED);
		for (int k = 0; k < TIME_KINDS; k++)
			__atomic_store_n(&s->sum[k], 0, __ATOMIC_RELAXED);
	}
}
