/* SPDX-License-Identifier: GPL-2.0-or-later */
/* t_timer.c - the wheel against a sorted table, with random operations */
#include <stdlib.h>
#include "../../../src/core/worker_priv.h"
#include "core/timer.h"
#include "tap.h"

#define TIMERS 300
#define STEPS 60000

struct entry {
	struct timer timer;
	uint64_t expect; /* what the naive model says; TIMER_NEVER: not set */
};

static struct entry entries[TIMERS];
static uint64_t now_ms = 1700000000000ull;
static unsigned early, late, unexpected, fired;
static uint64_t seed = 88172645463325252ull;

static uint64_t random64(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	return seed ^= seed << 17;
}

static void on_fire(struct timer *t)
{
	struct entry *e = (struct entry *)t;

	fired++;
	if (e->expect == TIMER_NEVER)
		unexpected++;
	else if (e->expect > now_ms)
		early++;
	e->expect = TIMER_NEVER;
	if (random64() % 4 == 0) {
		e->expect = now_ms + random64() % 100;
		timer_set(&e->timer, e->expect);
	}
}

/* A delay of any magnitude, rarely in the past. */
static uint64_t random_time(void)
{
	unsigned bits = (unsigned)(random64() % 34);

	if (random64() % 16 == 0)
		return now_ms - random64() % 50;
	return now_ms + random64() % (1ull << bits);
}

static uint64_t naive_next(void)
{
	uint64_t next = TIMER_NEVER;

	for (int i = 0; i < TIMERS; i++) {
		if (entries[i].expect < next)
			next = entries[i].expect;
	}
	return next;
}

static void step(void)
{
	struct wheel *w = &worker_self->wheel;
	struct entry *e = &entries[random64() % TIMERS];
	uint64_t next;

	switch (random64() % 8) {
	case 0:
		timer_cancel(&e->timer);
		e->expect = TIMER_NEVER;
		return;
	case 1:
		timer_set(&e->timer, TIMER_NEVER);
		e->expect = TIMER_NEVER;
		return;
	case 2:
		/* Sleep as the loop would. */
		next = wheel_next_ms(w);
		if (next != TIMER_NEVER && next > now_ms)
			now_ms = next;
		break;
	case 3:
		now_ms += random64() % (1u << random64() % 20);
		break;
	default:
		e->expect = random_time();
		timer_set(&e->timer, e->expect);
		return;
	}
	wheel_advance(w, now_ms);
	/* Set by a handler for this very millisecond: due at the next turn. */
	wheel_advance(w, now_ms);
	wheel_advance(w, now_ms);
	next = naive_next();
	if (next < now_ms)
		late++;
	if (wheel_next_ms(w) > next)
		late++;
}

int main(void)
{
	struct wheel *w = &worker_self->wheel;
	struct entry one;

	is_int(wheel_next_ms(w), (long long)TIMER_NEVER, "an empty wheel waits for nothing");
	wheel_advance(w, now_ms);
	for (int i = 0; i < TIMERS; i++) {
		timer_init(&entries[i].timer, on_fire);
		entries[i].expect = TIMER_NEVER;
	}
	for (int i = 0; i < STEPS; i++)
		step();
	ok(fired > 1000, "timers fired (%u)", fired);
	is_int(early, 0, "none was early");
	is_int(late, 0, "none was late, none would be slept over");
	is_int(unexpected, 0, "none fired after it was cancelled or twice");
	for (int i = 0; i < TIMERS; i++)
		timer_cancel(&entries[i].timer);
	is_int(wheel_next_ms(w), (long long)TIMER_NEVER, "empty again");

	timer_init(&one.timer, on_fire);
	one.expect = now_ms + 1000;
	timer_set(&one.timer, one.expect);
	is_int(one.timer.slot_ms <= one.expect, 1, "looked at in time");
	fired = 0;
	timer_set(&one.timer, now_ms + 5000);
	one.expect = now_ms + 5000;
	now_ms += 1500;
	wheel_advance(w, now_ms);
	is_int(fired, 0, "moved later: not at the first time");
	now_ms += 4000;
	wheel_advance(w, now_ms);
	is_int(fired, 1, "but at the second");
	timer_cancel(&one.timer);
	timer_init(&one.timer, on_fire);
	timer_set(&one.timer, TIMER_NEVER - 1);
	ok(timer_is_set(&one.timer), "the end of time can be asked for");
	timer_cancel(&one.timer);
	return done_testing();
}
