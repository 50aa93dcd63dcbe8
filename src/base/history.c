/* SPDX-License-Identifier: GPL-2.0-or-later */
/* history.c - recent counts of one object */
#include "base/history.h"
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"

#define MANTISSA_BITS 11
#define LARGEST ((uint64_t)0xfff << 30)

_Static_assert(sizeof(struct history) <= 13056, "the manual says 13 kB");

static uint64_t count;   /* atomic */

/* --- numbers ---------------------------------------------------------------------------------- */

uint16_t history_pack(uint64_t value)
{
	unsigned shift;

	if (value >= LARGEST)
		value = LARGEST;
	if (value >> MANTISSA_BITS == 0)
		return (uint16_t)value;
	shift = 63 - (unsigned)__builtin_clzll(value) - MANTISSA_BITS;
	return (uint16_t)((shift << MANTISSA_BITS) + (value >> shift));
}

uint64_t history_unpack(uint16_t kept)
{
	unsigned shift = kept >> MANTISSA_BITS;
	uint64_t mantissa = kept & ((1u << MANTISSA_BITS) - 1);

	return shift ? (mantissa + (1u << MANTISSA_BITS)) << (shift - 1) : mantissa;
}

static void put(uint16_t *point, uint64_t value)
{
	__atomic_store_n(point, history_pack(value), __ATOMIC_RELAXED);
}

/* --- life ------------------------------------------------------------------------------------- */

struct history *history_new(uint64_t step, const uint64_t totals[HISTORY_COUNTED])
{
	struct history *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	h->step = step;
	memcpy(h->totals, totals, sizeof(h->totals));
	__atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
	return h;
}

void history_free(struct history **h)
{
	if (!*h)
		return;
	free(*h);
	*h = NULL;
	__atomic_sub_fetch(&count, 1, __ATOMIC_RELAXED);
}

uint64_t history_count(void)
{
	return __atomic_load_n(&count, __ATOMIC_RELAXED);
}

/* --- writing ---------------------------------------------------------------------------------- */

/* The step behind the last one. */
static void add_step(struct history *h, const uint64_t values[HISTORY_FIGURES])
{
	uint64_t step = h->step + 1, minute = step / HISTORY_MINUTE;

	if (step % HISTORY_MINUTE == 0)
		memset(h->minute, 0, sizeof(h->minute));
	for (unsigned f = 0; f < HISTORY_FIGURES; f++) {
		if (f < HISTORY_COUNTED)
			h->minute[f] += values[f];
		else if (values[f] > h->minute[f])
			h->minute[f] = values[f];
		put(&h->steps[f][step % HISTORY_STEPS], values[f]);
		put(&h->minutes[f][minute % HISTORY_MINUTES], h->minute[f]);
	}
	__atomic_store_n(&h->step, step, __ATOMIC_RELEASE);
}

/* It stood still for so long that nothing can be told of the time between. */
static void begin_again(struct history *h, uint64_t step)
{
	memset(h->minute, 0, sizeof(h->minute));
	for (unsigned f = 0; f < HISTORY_FIGURES; f++) {
		for (unsigned i = 0; i < HISTORY_STEPS; i++)
			put(&h->steps[f][i], 0);
		for (unsigned i = 0; i < HISTORY_MINUTES; i++)
			put(&h->minutes[f][i], 0);
	}
	__atomic_store_n(&h->step, step - 1, __ATOMIC_RELEASE);
}

void history_add(struct history *h, uint64_t step, const uint64_t values[HISTORY_FIGURES])
{
	uint64_t counted[HISTORY_COUNTED], each[HISTORY_FIGURES], steps;

	if (step <= h->step)
		return;
	for (unsigned f = 0; f < HISTORY_COUNTED; f++) {
		counted[f] = values[f] < h->totals[f] ? values[f] : values[f] - h->totals[f];
		h->totals[f] = values[f];
	}
	if (step - h->step > HISTORY_STEPS)
		begin_again(h, step);
	each[HISTORY_OPEN] = values[HISTORY_OPEN];
	for (steps = step - h->step; steps; steps--) {
		for (unsigned f = 0; f < HISTORY_COUNTED; f++) {
			each[f] = counted[f] / steps;
			counted[f] -= each[f];
		}
		add_step(h, each);
	}
}

/* --- reading ---------------------------------------------------------------------------------- */

uint64_t history_step(const struct history *h, enum history_figure f, uint64_t step)
{
	uint64_t last = __atomic_load_n(&h->step, __ATOMIC_ACQUIRE);

	if (step > last || last - step >= HISTORY_STEPS)
		return 0;
	return history_unpack(__atomic_load_n(&h->steps[f][step % HISTORY_STEPS],
					      __ATOMIC_RELAXED));
}

uint64_t history_minute(const struct history *h, enum history_figure f, uint64_t minute)
{
	uint64_t last = __atomic_load_n(&h->step, __ATOMIC_ACQUIRE) / HISTORY_MINUTE;

	if (minute > last || last - minute >= HISTORY_MINUTES)
		return 0;
	return history_unpack(__atomic_load_n(&h->minutes[f][minute % HISTORY_MINUTES],
					      __ATOMIC_RELAXED));
}
