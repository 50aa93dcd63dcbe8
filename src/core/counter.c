/* SPDX-License-Identifier: GPL-2.0-or-later */
/* counter.c - shards and rates */
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "core/counter.h"

#define CACHE_LINE 64

/* Of one group. */
static size_t stride_of(unsigned count)
{
	size_t size = (count * sizeof(uint64_t) + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;

	return size ? size : CACHE_LINE;
}

size_t counter_set_size(unsigned count)
{
	return stride_of(count) * thread_group_count();
}

void counter_set_place(struct counter_set *s, unsigned count, void *lines)
{
	s->count = count;
	s->stride = (unsigned)stride_of(count);
	s->shards = lines;
}

bool counter_set_init(struct counter_set *s, unsigned count)
{
	size_t size = counter_set_size(count);
	void *lines = aligned_alloc(CACHE_LINE, size);

	if (!lines)
		return false;
	memset(lines, 0, size);
	counter_set_place(s, count, lines);
	return true;
}

void counter_set_fini(struct counter_set *s)
{
	free(s->shards);
	s->shards = NULL;
}

uint64_t counter_read(const struct counter_set *s, unsigned i)
{
	uint64_t sum = 0;

	for (unsigned g = 0; s->shards && g < thread_group_count(); g++)
		sum += __atomic_load_n(counter_at(s, g, i), __ATOMIC_RELAXED);
	return sum;
}

void counter_clear(struct counter_set *s, unsigned i)
{
	for (unsigned g = 0; s->shards && g < thread_group_count(); g++)
		__atomic_store_n(counter_at(s, g, i), 0, __ATOMIC_RELAXED);
}

/* The first to come in a new second closes the former one. An event counted by another thread in
 * between may go to either second.
 */
bool rate_add(struct rate *r, unsigned n, struct rate_closed *closed)
{
	uint64_t seen = __atomic_load_n(&r->current_sec, __ATOMIC_RELAXED);
	uint64_t sec = clock_now_ns() / NS_PER_SEC;
	bool first;
	uint32_t last;

	if (rate_add_within(r, n))
		return false;
	first = seen < sec &&
		__atomic_compare_exchange_n(&r->current_sec, &seen, sec, false, __ATOMIC_ACQ_REL,
					    __ATOMIC_RELAXED);
	if (first) {
		last = __atomic_exchange_n(&r->current, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&r->previous, seen + 1 == sec ? last : 0, __ATOMIC_RELAXED);
		*closed = (struct rate_closed){ .sec = seen, .count = last };
	}
	rate_add_within(r, n); /* the first thread to arrive has made it this second */
	return first;
}

uint32_t rate_of_second(const struct rate *r, uint64_t sec)
{
	uint64_t current = __atomic_load_n(&r->current_sec, __ATOMIC_RELAXED);

	if (current == sec)
		return __atomic_load_n(&r->current, __ATOMIC_RELAXED);
	return current == sec + 1 ? __atomic_load_n(&r->previous, __ATOMIC_RELAXED) : 0;
}

uint32_t rate_read(const struct rate *r)
{
	uint64_t now = clock_now_ns(), sec = now / NS_PER_SEC;
	uint64_t seen = __atomic_load_n(&r->current_sec, __ATOMIC_RELAXED);
	uint64_t current = __atomic_load_n(&r->current, __ATOMIC_RELAXED);
	uint64_t left_ms = 1000 - now % NS_PER_SEC / NS_PER_MS;

	if (seen >= sec) {
		uint64_t previous = __atomic_load_n(&r->previous, __ATOMIC_RELAXED);

		return (uint32_t)(current + (previous * left_ms + 500) / 1000);
	}
	if (seen + 1 == sec)
		return (uint32_t)((current * left_ms + 500) / 1000);
	return 0;
}
