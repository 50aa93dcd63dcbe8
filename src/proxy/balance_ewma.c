/* SPDX-License-Identifier: GPL-2.0-or-later */
/* balance_ewma.c - peak-ewma: the server that is likely to answer first (an extension)
 *
 * Of two servers drawn by weight, the one of the smaller product wins: its usual latency times the
 * requests that it has, this one included, for its weight. The latency is an average that decays
 * with time (TAU), except that a higher one counts immediately: a server that gets slow is left
 * immediately, and asked again little by little. What was never measured is asked once, then waited
 * for.
 *
 * Each group measures for itself. Two threads that measure at the same instant may lose one.
 */
#include <stdlib.h>
#include "balance_priv.h"
#include "base/clock.h"
#include "core/activity.h"
#include "proxy/proxy.h"
#include "proxy/server.h"

#define TAU_NS (10 * 1000000000ull)
#define DRAWS 2
#define DRAWS_MAX 8 /* a server that is drawn twice does not count twice */
/* Stands for a latency that is not known while the first answer is on its way. */
#define UNKNOWN_NS (60 * 1000000000ull)

struct latency {
	uint64_t average_ns; /* atomic */
	uint64_t at_ns;      /* atomic: when it was measured; 0: never */
};

static void ewma_fini(struct balance *b)
{
	for (unsigned g = 0; g < thread_group_count(); g++) {
		free(b->group[g]);
		b->group[g] = NULL;
	}
	balance_sums_fini(b);
}

static bool ewma_init(struct balance *b)
{
	if (!balance_sums_init(b))
		return false;
	for (unsigned g = 0; g < thread_group_count(); g++) {
		b->group[g] = balance_lines_alloc(b->room * sizeof(struct latency));
		if (!b->group[g]) {
			ewma_fini(b);
			return false;
		}
	}
	return true;
}

/* What is expected of a server now, per unit of weight. */
static double expected_of(const struct balance *b, unsigned i, uint64_t now)
{
	const struct latency *l = (const struct latency *)b->group[thread_group] + i;
	const struct server_balance *e = &b->entries[i];
	uint64_t at = __atomic_load_n(&l->at_ns, __ATOMIC_RELAXED);
	double load = (double)__atomic_load_n(
		counter_at(&balance_entry_server(e)->state->counters, thread_group,
			   CNT_SESS_CUR),
		__ATOMIC_RELAXED);
	double usual = (double)__atomic_load_n(&l->average_ns, __ATOMIC_RELAXED);

	if (!at)
		usual = load > 0 ? (double)UNKNOWN_NS : 0;
	else if (now > at)
		usual *= (double)TAU_NS / (double)(TAU_NS + (now - at));
	return usual * (load + 1) / balance_entry_weight(e);
}

static struct server *ewma_pick(struct balance *b, const struct balance_pick_args *args)
{
	uint64_t now = clock_now_ns();
	double least = 0;
	unsigned best = UINT32_MAX, seen = 0;

	if (!__atomic_load_n(&b->in_use, __ATOMIC_RELAXED))
		return NULL;
	for (unsigned draw = 0; draw < DRAWS_MAX && seen < DRAWS; draw++) {
		unsigned i = balance_sums_draw(b);
		double expected;

		if (i >= balance_count(b) || i == best ||
		    !balance_entry_fits(&b->entries[i], args->avoid))
			continue;
		seen++;
		expected = expected_of(b, i, now);
		if (best == UINT32_MAX || expected < least) {
			best = i;
			least = expected;
		}
	}
	for (unsigned i = 0; best == UINT32_MAX && i < balance_count(b); i++)
		if (balance_entry_fits(&b->entries[i], args->avoid))
			best = i;
	return best == UINT32_MAX ? NULL : balance_entry_server(&b->entries[best]);
}

static void ewma_observe(struct balance *b, const struct server *srv, uint64_t ns)
{
	struct latency *l = (struct latency *)b->group[thread_group] + srv->index;
	uint64_t old = __atomic_load_n(&l->average_ns, __ATOMIC_RELAXED), now = clock_now_ns();
	uint64_t at = __atomic_load_n(&l->at_ns, __ATOMIC_RELAXED);

	if (at && now > at && ns < old)
		ns = old - (uint64_t)((double)(old - ns) * (double)(now - at) /
				      (double)(TAU_NS + (now - at)));
	else if (at && ns < old)
		ns = old;
	SHARED_WRITE(group);
	__atomic_store_n(&l->average_ns, ns, __ATOMIC_RELAXED);
	__atomic_store_n(&l->at_ns, now, __ATOMIC_RELAXED);
}

const struct balance_algorithm balance_peak_ewma = {
	.name = "peak-ewma",
	.dynamic_weights = true,
	.init = ewma_init,
	.fini = ewma_fini,
	.update = balance_sums_update,
	.pick = ewma_pick,
	.observe = ewma_observe,
};
