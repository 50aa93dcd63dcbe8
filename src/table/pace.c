/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pace.c - an even pace and a burst: the generic cell rate algorithm */
#include "core/activity.h"
#include "table/pace.h"
#include <string.h>
#include "base/clock.h"

bool table_pace_make(struct table_pace *p, uint64_t events, uint64_t period_ns, uint64_t burst)
{
	memset(p, 0, sizeof(*p));
	if (!events || events > period_ns || period_ns > TABLE_PACE_MAX_NS)
		return false;
	p->interval_ns = period_ns / events;
	if (burst > TABLE_PACE_MAX_NS / p->interval_ns)
		return false;
	p->burst = burst;
	p->early_ns = burst * p->interval_ns;
	return true;
}

/* How early an event is now: a date that is over makes it late, which counts for nothing. */
static uint64_t early_by(uint64_t date, uint64_t now_ns)
{
	return date > now_ns ? date - now_ns : 0;
}

void table_pace_take(uint64_t *date, const struct table_pace *p, uint64_t now_ns,
		     struct table_admission *out)
{
	uint64_t was = __atomic_load_n(date, __ATOMIC_RELAXED), early, next;

	SHARED_LINE(date);
	do {
		early = early_by(was, now_ns);
		next = now_ns + early + p->interval_ns;
		if (early > p->early_ns && early - p->early_ns > p->delay_ns) {
			*out = (struct table_admission){ .verdict = TABLE_REFUSE,
				.wait_ns = early - p->early_ns, .reset_ns = early };
			return;
		}
	} while (!__atomic_compare_exchange_n(date, &was, next, true, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	*out = (struct table_admission){ .verdict = TABLE_PASS,
					 .reset_ns = early + p->interval_ns };
	if (early > p->early_ns) {
		out->verdict = TABLE_WAIT;
		out->wait_ns = early - p->early_ns;
	} else {
		out->left = (p->early_ns - early) / p->interval_ns;
	}
}

uint64_t table_pace_left_ms(const uint64_t *date, uint64_t now_ns)
{
	uint64_t early = early_by(__atomic_load_n(date, __ATOMIC_RELAXED), now_ns);

	return early / NS_PER_MS + (early % NS_PER_MS != 0);
}

void table_pace_set_ms(uint64_t *date, uint64_t ms, uint64_t now_ns)
{
	if (ms > TABLE_PACE_MAX_NS / NS_PER_MS)
		ms = TABLE_PACE_MAX_NS / NS_PER_MS;
	__atomic_store_n(date, ms ? now_ns + ms * NS_PER_MS : 0, __ATOMIC_RELAXED);
}
