/* SPDX-License-Identifier: GPL-2.0-or-later */
/* retry.c - limits of retries per backend: their number at a time, and their delay
 *
 * When servers are overloaded, every retry makes it worse. A budget limits the requests being
 * retried to a share of the active ones; a delay that grows with each try, and is random, spreads
 * those that fail at the same time.
 */
#include <stdlib.h>
#include "proxy/proxy.h"
#include "stream/trail.h"
#include "engine_priv.h"
#include "trace_priv.h"

#define DELAY_DOUBLINGS_MAX 20

/* Takes one of the backend's places for requests that are tried again. */
static bool budget_take(struct stream *s)
{
	const struct proxy *be = s->be;
	uint64_t active, allowed;
	unsigned trying;

	if (!be->retry.percent || s->flags & STRM_IN_BUDGET)
		return true;
	active = counter_read(&be->state->be, CNT_SESS_CUR);
	allowed = active * (uint64_t)be->retry.percent / 100;
	if (allowed < (uint64_t)be->retry.least)
		allowed = (uint64_t)be->retry.least;
	trying = __atomic_add_fetch(&be->state->trying_again, 1, __ATOMIC_RELAXED);
	if (trying > allowed) {
		__atomic_sub_fetch(&be->state->trying_again, 1, __ATOMIC_RELAXED);
		return false;
	}
	s->flags |= STRM_IN_BUDGET;
	return true;
}

bool retry_take(struct stream *s, enum stream_end why)
{
	if (!s->retry.left || !budget_take(s)) {
		STREAM_TRACE(USER, s, RETRY, "no more tries: %u left%s", s->retry.left,
			     s->retry.left ? ", the budget is used up" : "");
		return false;
	}
	trail_note_try(s, why);
	s->retry.left--;
	s->retry.count++;
	STREAM_TRACE(USER, s, RETRY, "tries again, %u tries are left", s->retry.left);
	return true;
}

void retry_end(struct stream *s)
{
	if (!(s->flags & STRM_IN_BUDGET))
		return;
	s->flags &= ~STRM_IN_BUDGET;
	__atomic_sub_fetch(&s->be->state->trying_again, 1, __ATOMIC_RELAXED);
}

/* Pause before the next try, random; 0: no delay is set. */
static int64_t retry_delay_ms(const struct stream *s)
{
	int64_t most = s->be->retry.delay_max_ms, delay = s->be->retry.delay_ms;

	for (int n = 1; delay && n < s->retry.count && n < DELAY_DOUBLINGS_MAX && delay < most; n++)
		delay *= 2;
	if (delay > most)
		delay = most;
	/* from its half on */
	return delay - random() % (delay / 2 + 1);
}

enum step retry_go(struct stream *s)
{
	if (!s->be->retry.delay_ms || !s->retry.count)
		return stream_goto(s, STAGE_ASSIGN);
	stream_wait_ms(s, retry_delay_ms(s));
	return stream_goto(s, STAGE_TURN_AROUND);
}
