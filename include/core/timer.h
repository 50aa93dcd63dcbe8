/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* timer.h - one-shot timers of a thread, in a hierarchical wheel of milliseconds
 *
 * Setting and cancelling are O(1) and touch no neighbour's memory more than a list link does.
 * Moving a timer later costs one store: it stays where it is and is put back when its slot comes
 * ("lazy"). A timer belongs to the thread that set it, embedded in its owner; it must be cancelled
 * before its memory goes. A timer never fires early; lateness is bounded by the turn of the loop.
 */
#ifndef CORE_TIMER_H
#define CORE_TIMER_H

#include <stdbool.h>
#include <stdint.h>
#include "base/list.h"

struct strbuf;

#define TIMER_NEVER UINT64_MAX

struct timer {
	struct list link;
	uint64_t expire_ms; /* clock_now_ms() scale; TIMER_NEVER: not set */
	uint64_t slot_ms;   /* when the wheel looks at it; <= expire_ms */
	void (*fire)(struct timer *t);
};

static inline void timer_init(struct timer *t, void (*fire)(struct timer *t))
{
	list_init(&t->link);
	t->expire_ms = TIMER_NEVER;
	t->slot_ms = TIMER_NEVER;
	t->fire = fire;
}

/* Links <t> (slow part of timer_set). */
void timer_link(struct timer *t);

/* Fires at <at_ms> (TIMER_NEVER: like timer_cancel but lazy: it stays linked). */
static inline void timer_set(struct timer *t, uint64_t at_ms)
{
	t->expire_ms = at_ms;
	if (at_ms < t->slot_ms)
		timer_link(t);
}

static inline bool timer_is_set(const struct timer *t)
{
	return t->expire_ms != TIMER_NEVER;
}

/* Unlinks; required before the memory goes. */
static inline void timer_cancel(struct timer *t)
{
	t->expire_ms = t->slot_ms = TIMER_NEVER;
	if (list_is_linked(&t->link))
		list_remove(&t->link);
}

/* What is left until <at_ms>, as strbuf_add_span(); <never> when that is TIMER_NEVER. */
void timer_put_left(struct strbuf *out, uint64_t at_ms, const char *never);

#endif
