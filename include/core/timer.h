/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* timer.h - one-shot timers of a thread, in a hierarchical wheel of milliseconds
 *
 * Setting and cancelling are O(1) and touch no more of other memory than a list link does. Moving a
 * timer later costs one store: it stays in its slot and is reinserted when the slot comes up
 * ("lazy"). A timer belongs to the thread that set it and is embedded in its owner; it must be
 * cancelled before its memory is freed. A timer never fires early; its lateness is bounded by the
 * turn of the loop.
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
	uint64_t expire_ms; /* on the scale of clock_now_ms(); TIMER_NEVER: not set */
	uint64_t slot_ms;   /* when the wheel looks at it again; <= expire_ms */
	void (*fire)(struct timer *t);
};

static inline void timer_init(struct timer *t, void (*fire)(struct timer *t))
{
	list_init(&t->link);
	t->expire_ms = TIMER_NEVER;
	t->slot_ms = TIMER_NEVER;
	t->fire = fire;
}

/* Links <t> (slow part of timer_set()). */
void timer_link(struct timer *t);

/* Makes <t> fire at <at_ms>. TIMER_NEVER: like timer_cancel(), but lazily: it stays linked. */
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

/* Unlinks the timer; required before its memory is freed. */
static inline void timer_cancel(struct timer *t)
{
	t->expire_ms = t->slot_ms = TIMER_NEVER;
	if (list_is_linked(&t->link))
		list_remove(&t->link);
}

/* Appends the time left until <at_ms>, like strbuf_add_span(); <never> if it is TIMER_NEVER. */
void timer_put_left(struct strbuf *out, uint64_t at_ms, const char *never);

#endif
