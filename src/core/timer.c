/* SPDX-License-Identifier: GPL-2.0-or-later */
/* timer.c - the wheel
 *
 * Seven levels of 64 slots. Level 0 has one slot per millisecond of the current 64 ms, level 1
 * one per 64 ms of the current 4096 ms, and so on. A timer is in the level of the highest group of
 * six bits in which its time differs from the wheel's:
 *
 *	now      = .... 000101 110010 001111
 *	expire   = .... 000101 111000 010001   -> level 1, slot 111000 = 56
 *
 * so everything in level N is sooner than everything in level N + 1, and the next slot to look at
 * is the lowest bit set in the lowest level that has one. When the time of a slot of level N > 0
 * comes, its timers are spread over the levels below. Moving the wheel forward never changes the
 * place of a timer that it does not pass, because they share all the bits above.
 *
 * Cancelling does not clear the bit of a slot: the bit is dropped when the slot is found empty.
 */
#include <stddef.h>
#include "base/bug.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "core/timer.h"
#include "worker_priv.h"

static void wheel_put(struct wheel *w, struct timer *t)
{
	uint64_t at = t->expire_ms, differ, bit;
	unsigned level, slot;

	if (at <= w->now_ms) {
		t->slot_ms = at;
		list_append(&w->due, &t->link);
		return;
	}
	differ = at ^ w->now_ms;
	level = (63 - (unsigned)__builtin_clzll(differ)) / 6;
	if (level >= WHEEL_LEVELS) {
		/* Further than the wheel goes: looked at when its last slot comes. */
		level = WHEEL_LEVELS - 1;
		slot = 63;
	} else {
		slot = (at >> (6 * level)) & 63;
	}
	bit = 1ull << slot;
	if (!(w->occupied[level] & bit)) {
		list_init(&w->slot[level][slot]);
		w->occupied[level] |= bit;
	}
	t->slot_ms = ((w->now_ms >> (6 * (level + 1))) << (6 * (level + 1))) |
		     ((uint64_t)slot << (6 * level));
	list_append(&w->slot[level][slot], &t->link);
}

void timer_link(struct timer *t)
{
	if (list_is_linked(&t->link))
		list_remove(&t->link);
	wheel_put(&worker_self->wheel, t);
}

/* Looks at each timer of <timers>: fires it, puts it elsewhere if it was moved later, or
 * forgets it. Firing may link, unlink and free any timer, those of <timers> too.
 */
static void wheel_expire(struct wheel *w, struct list *timers)
{
	while (!list_is_empty(timers)) {
		struct timer *t = list_first(timers, struct timer, link);

		list_remove(&t->link);
		t->slot_ms = TIMER_NEVER;
		if (t->expire_ms == TIMER_NEVER)
			continue;
		if (t->expire_ms > w->now_ms) {
			wheel_put(w, t);
			continue;
		}
		t->expire_ms = TIMER_NEVER;
		t->fire(t);
	}
}

/* Finds the next slot which has timers. False: there is none. */
static bool wheel_next_slot(struct wheel *w, unsigned *level, unsigned *slot, uint64_t *start_ms)
{
	for (unsigned l = 0; l < WHEEL_LEVELS; l++) {
		while (w->occupied[l]) {
			unsigned s = (unsigned)__builtin_ctzll(w->occupied[l]);

			if (list_is_empty(&w->slot[l][s])) {
				w->occupied[l] &= ~(1ull << s);
				continue;
			}
			*level = l;
			*slot = s;
			*start_ms = ((w->now_ms >> (6 * (l + 1))) << (6 * (l + 1))) |
				    ((uint64_t)s << (6 * l));
			return true;
		}
	}
	return false;
}

void wheel_advance(struct wheel *w, uint64_t now_ms)
{
	struct list timers = LIST_HEAD(timers);
	unsigned level, slot;
	uint64_t start_ms;

	if (!list_is_empty(&w->due)) {
		list_splice(&timers, &w->due);
		wheel_expire(w, &timers);
	}
	while (wheel_next_slot(w, &level, &slot, &start_ms) && start_ms <= now_ms) {
		w->now_ms = start_ms;
		w->occupied[level] &= ~(1ull << slot);
		list_splice(&timers, &w->slot[level][slot]);
		wheel_expire(w, &timers);
	}
	if (now_ms > w->now_ms)
		w->now_ms = now_ms;
}

uint64_t wheel_next_ms(struct wheel *w)
{
	unsigned level, slot;
	uint64_t start_ms;

	if (!list_is_empty(&w->due))
		return w->now_ms;
	if (!wheel_next_slot(w, &level, &slot, &start_ms))
		return TIMER_NEVER;
	return start_ms;
}

void timer_put_left(struct strbuf *out, uint64_t at_ms, const char *never)
{
	uint64_t now = clock_now_ms();

	if (at_ms == TIMER_NEVER)
		strbuf_add_str(out, never);
	else
		strbuf_add_span(out, at_ms > now ? at_ms - now : 0);
}
