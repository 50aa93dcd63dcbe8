/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rate.c - event rates: a sliding window of two periods
 *
 * A period begins with the first event after two quiet ones. Its end is noticed by the next event,
 * whose thread marks this in <start_ms> while it shifts the counts; others wait for these few
 * instructions, no lock is needed.
 */
#include <sched.h>
#include "base/bug.h"
#include "table/table.h"

#define CHANGING 1u
/* Clocks of threads differ by a turn of their loops at most; what is above is long ago. */
#define BEHIND_MS 65536u

static uint32_t elapsed_ms(uint32_t start_ms, uint32_t now_ms)
{
	uint32_t elapsed = now_ms - start_ms;

	return elapsed > UINT32_MAX - BEHIND_MS ? 0 : elapsed;
}

/* No start is 0 or CHANGING. */
static uint32_t start_at(uint32_t ms)
{
	return ms <= CHANGING ? CHANGING + 1 : ms;
}

static uint32_t start_of(const struct table_rate *r)
{
	uint32_t start;

	while (unlikely((start = __atomic_load_n(&r->start_ms, __ATOMIC_ACQUIRE)) == CHANGING))
		sched_yield();
	return start;
}

/* The period is over: the next one begins, unless another thread has done that. */
static void shift(struct table_rate *r, uint32_t start, uint32_t period_ms, uint32_t now_ms)
{
	bool follows = start && (uint64_t)elapsed_ms(start, now_ms) < 2ull * period_ms;
	uint32_t was;

	if (!__atomic_compare_exchange_n(&r->start_ms, &start, CHANGING, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_RELAXED))
		return;
	was = __atomic_exchange_n(&r->current, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&r->previous, follows ? was : 0, __ATOMIC_RELAXED);
	__atomic_store_n(&r->start_ms, start_at(follows ? start + period_ms : now_ms),
			 __ATOMIC_RELEASE);
}

void table_rate_add(struct table_rate *r, uint32_t period_ms, uint32_t n, uint32_t now_ms)
{
	uint32_t start = start_of(r);

	if (!start || elapsed_ms(start, now_ms) >= period_ms)
		shift(r, start, period_ms, now_ms);
	__atomic_fetch_add(&r->current, n, __ATOMIC_RELAXED);
}

struct table_rate table_rate_copy(const struct table_rate *r)
{
	struct table_rate copy;

	do {
		copy.start_ms = start_of(r);
		copy.current = __atomic_load_n(&r->current, __ATOMIC_ACQUIRE);
		copy.previous = __atomic_load_n(&r->previous, __ATOMIC_ACQUIRE);
	} while (unlikely(copy.start_ms != __atomic_load_n(&r->start_ms, __ATOMIC_RELAXED)));
	return copy;
}

uint32_t table_rate_read(const struct table_rate *r, uint32_t period_ms, uint32_t now_ms)
{
	struct table_rate copy = table_rate_copy(r);
	uint32_t start = copy.start_ms, current = copy.current, previous = copy.previous, elapsed;

	elapsed = elapsed_ms(start, now_ms);
	if (!start || (uint64_t)elapsed >= 2ull * period_ms)
		return 0;
	if (elapsed >= period_ms) {
		previous = current;
		current = 0;
		elapsed -= period_ms;
	}
	if (previous <= 1 && !current)
		return previous;
	return current + (uint32_t)((uint64_t)previous * (period_ms - elapsed) / period_ms);
}

void table_rate_put(struct table_rate *r, const struct table_rate *from)
{
	uint32_t start;

	do
		start = start_of(r);
	while (!__atomic_compare_exchange_n(&r->start_ms, &start, CHANGING, false,
					    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
	__atomic_store_n(&r->current, from->current, __ATOMIC_RELAXED);
	__atomic_store_n(&r->previous, from->previous, __ATOMIC_RELAXED);
	__atomic_store_n(&r->start_ms, start_at(from->start_ms), __ATOMIC_RELEASE);
}

void table_rate_set(struct table_rate *r, uint32_t n, uint32_t now_ms)
{
	const struct table_rate now = { .start_ms = now_ms, .current = n };

	table_rate_put(r, &now);
}
