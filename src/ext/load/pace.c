/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pace.c - when requests may start
 *
 * With a rate R and a ramp of T seconds the rate grows linearly: after t seconds R t^2 / 2T
 * requests were due, and from T on R more each second. A request that starts late, because no
 * connection was free or this program was busy, is measured from when it was due: a server that
 * stalls cannot hide this by receiving fewer requests (coordinated omission).
 */
#include <math.h>
#include "base/clock.h"
#include "load_priv.h"

/* A request that begins this much after it was due is not late: the tick's own grain. */
#define GRAIN_NS (2 * NS_PER_MS)
#define RAMP_TICK_MS 10

/* Requests due after <s> seconds. */
static double due_count(const struct load_thread *t, double s)
{
	double ramp = (double)load.plan->ramp_ms / 1000;

	return s < ramp ? t->rate * s * s / (2 * ramp) : t->rate * (s - ramp / 2);
}

/* When request <n>, from 0, was due: seconds from the start. */
static double due_at(const struct load_thread *t, uint64_t n)
{
	double ramp = (double)load.plan->ramp_ms / 1000, count = (double)n;

	return count < t->rate * ramp / 2 ? sqrt(2 * count * ramp / t->rate)
					  : count / t->rate + ramp / 2;
}

unsigned pace_clients(const struct load_thread *t, uint64_t now_ns)
{
	uint64_t ms = (now_ns - t->begin_ns) / NS_PER_MS, ramp = (uint64_t)load.plan->ramp_ms;

	if (ms >= ramp)
		return t->client_count;
	return (unsigned)((ms * t->client_count + ramp - 1) / ramp);
}

bool pace_take(struct load_thread *t, uint64_t now_ns, uint64_t *start_ns)
{
	uint64_t due_ns;

	*start_ns = now_ns;
	if (t->begun >= t->quota)
		return false;
	if (t->rate > 0) {
		double s = (double)(now_ns - t->begin_ns) / NS_PER_SEC;

		if ((double)t->begun + 1 > due_count(t, s))
			return false;
		due_ns = t->begin_ns + (uint64_t)(due_at(t, t->begun + 1) * NS_PER_SEC);
		if (due_ns + GRAIN_NS < now_ns)
			*start_ns = due_ns;
	}
	t->begun++;
	return true;
}

uint64_t pace_next_ms(const struct load_thread *t, uint64_t now_ms)
{
	if (t->rate > 0)
		return now_ms + 1;
	return t->client_live < t->client_count ? now_ms + RAMP_TICK_MS : TIMER_NEVER;
}
