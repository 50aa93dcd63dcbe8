/* SPDX-License-Identifier: GPL-2.0-or-later */
/* latency.c - histograms of the phases of requests
 *
 * One set of counters: for each kind the sum of its values, then its buckets; and behind all one
 * that is never read, for the kinds that a request has not reached: so there is nothing to decide.
 */
#include <stdlib.h>
#include "base/histogram.h"
#include "proxy/counters.h"
#include "proxy_priv.h"

#define KIND_SIZE (LATENCY_BUCKETS + 1)
#define NOT_REACHED (TIME_KINDS * KIND_SIZE)

void latency_want(struct config *cfg)
{
	proxies_of(cfg)->latencies_wanted = true;
}

bool latency_is_wanted(const struct config *cfg)
{
	return proxies_of(cfg)->latencies_wanted;
}

static struct counter_set *counters_of(const struct latency_set *l)
{
	return __atomic_load_n(&l->counters, __ATOMIC_ACQUIRE);
}

/* The first request of all: two threads may both be. */
static struct counter_set *make_counters(struct latency_set *l)
{
	struct counter_set *c = malloc(sizeof(*c)), *none = NULL;

	if (!c || !counter_set_init(c, NOT_REACHED + 1)) {
		free(c);
		return NULL;
	}
	if (__atomic_compare_exchange_n(&l->counters, &none, c, false, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE))
		return c;
	counter_set_fini(c);
	free(c);
	return none;
}

void latency_set_fini(struct latency_set *l)
{
	if (!l->counters)
		return;
	counter_set_fini(l->counters);
	free(l->counters);
	l->counters = NULL;
}

static unsigned bucket_of(uint64_t us)
{
	unsigned i = histogram_index(us, LATENCY_BITS);

	if (i <= LATENCY_FIRST)
		return 0;
	return i - LATENCY_FIRST < LATENCY_BUCKETS ? i - LATENCY_FIRST : LATENCY_BUCKETS - 1;
}

void latency_sample_make(struct latency_sample *s, const uint64_t us[TIME_KINDS])
{
	for (unsigned k = 0; k < TIME_KINDS; k++) {
		bool reached = us[k] != LATENCY_NONE;

		s->us[k] = reached ? us[k] : 0;
		s->bucket[k] = reached ? k * KIND_SIZE + 1 + bucket_of(us[k]) : NOT_REACHED;
	}
}

/* What the loop of latency_set_add() does, where no other thread writes there. */
static inline void add_alone(uint64_t *mine, const struct latency_sample *s, enum time_kind k)
{
	uint64_t *bucket = mine + s->bucket[k], *sum = mine + (unsigned)k * KIND_SIZE;

	__atomic_store_n(bucket, *bucket + 1, __ATOMIC_RELAXED);
	__atomic_store_n(sum, *sum + s->us[k], __ATOMIC_RELAXED);
}

void latency_set_add(struct latency_set *l, const struct latency_sample *s)
{
	struct counter_set *c = counters_of(l);
	uint64_t *mine;

	if (!STATS_ARE_COUNTED)
		return;
	if (unlikely(!c) && !(c = make_counters(l)))
		return;
	mine = counter_mine(c, 0);
	if (thread_group_is_single) {
		add_alone(mine, s, TIME_QUEUE);
		add_alone(mine, s, TIME_CONNECT);
		add_alone(mine, s, TIME_RESPONSE);
		add_alone(mine, s, TIME_TOTAL);
		return;
	}
	SHARED_WRITE(group);
	for (unsigned k = 0; k < TIME_KINDS; k++) {
		if (s->bucket[k] == NOT_REACHED)
			continue;
		counter_bump(mine + s->bucket[k], 1);
		if (s->us[k])
			counter_bump(mine + k * KIND_SIZE, (int64_t)s->us[k]);
	}
}

bool latency_set_read(const struct latency_set *l, struct latency_view *out)
{
	const struct counter_set *c = counters_of(l);

	for (unsigned k = 0; c && k < TIME_KINDS; k++) {
		for (unsigned i = 0; i < LATENCY_BUCKETS; i++)
			out->counts[k][i] = counter_read(c, k * KIND_SIZE + 1 + i);
		out->sum_us[k] = counter_read(c, k * KIND_SIZE);
	}
	return c != NULL;
}

uint64_t latency_percentile(const uint64_t counts[LATENCY_BUCKETS], unsigned permille, bool *above)
{
	uint64_t total = 0, seen = 0;
	unsigned at = 0;

	for (unsigned i = 0; i < LATENCY_BUCKETS; i++)
		total += counts[i];
	for (; at < LATENCY_BUCKETS - 1; at++) {
		seen += counts[at];
		if (seen * 1000 >= permille * total)
			break;
	}
	*above = at == LATENCY_BUCKETS - 1;
	return total ? histogram_end(LATENCY_FIRST + at - *above, LATENCY_BITS) : 0;
}

void latency_set_clear(struct latency_set *l)
{
	struct counter_set *c = counters_of(l);

	for (unsigned i = 0; c && i < c->count; i++)
		counter_clear(c, i);
}
