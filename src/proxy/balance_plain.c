/* SPDX-License-Identifier: GPL-2.0-or-later */
/* static-rr, random and first.
 *
 * static-rr: a schedule computed in advance, each server as often as its weight (divided by the
 * common divisor), evenly spread; a pick is one step of the group's cursor. A new schedule
 * replaces the old when a server comes or goes.
 *
 * random: draws servers with the probability of their weights and keeps the least loaded of
 * them. A tree of sums turns a draw into O(log n), and a change of weight too.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "balance_priv.h"
#include "base/bug.h"
#include "base/clock.h"
#include "conf/conf.h"
#include "proxy/proxy.h"
#include "proxy/queue.h"
#include "proxy/server.h"

/* --- static-rr ------------------------------------------------------------------------------ */

struct schedule {
	unsigned count;
	uint32_t turns[]; /* entries */
};

/* The group's place in the schedule. */
struct cursor {
	uint32_t at; /* atomic */
};

static unsigned divisor_of(unsigned a, unsigned b)
{
	while (b) {
		unsigned rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* Fills <s>: at each turn the credit of every server grows by its weight, and who has most pays
 * the total for its turn. Credits are compared in whole totals only, equals in order of the file:
 * that makes the sequence which users of the reference know.
 */
static void schedule_fill(struct schedule *s, const struct balance *b, int64_t *credit)
{
	int64_t total = b->total_weight;

	for (unsigned i = 0; i < b->count; i++)
		credit[i] = 0;
	for (unsigned turn = 0; turn < s->count; turn++) {
		unsigned best = 0;
		int64_t most = -1;

		for (unsigned i = 0; i < b->count; i++) {
			unsigned weight = balance_entry_weight(&b->entries[i]);

			if (!weight)
				continue;
			credit[i] += weight;
			if ((credit[i] + total) / total > most) {
				most = (credit[i] + total) / total;
				best = i;
			}
		}
		credit[best] -= total;
		s->turns[turn] = best;
	}
}

/* The schedule of the weights as they are now; NULL: no memory. */
static struct schedule *schedule_new(const struct balance *b)
{
	unsigned divisor = 0, turns;
	struct schedule *s;
	int64_t *credit;

	for (unsigned i = 0; i < b->count; i++)
		divisor = divisor_of(balance_entry_weight(&b->entries[i]), divisor);
	turns = divisor ? b->total_weight / divisor : 0;
	s = malloc(sizeof(*s) + turns * sizeof(s->turns[0]));
	credit = malloc((b->count ? b->count : 1) * sizeof(*credit));
	if (s && credit) {
		s->count = turns;
		schedule_fill(s, b, credit);
	} else {
		free(s);
		s = NULL;
	}
	free(credit);
	return s;
}

static void static_rr_fini(struct balance *b)
{
	for (unsigned g = 0; g < GROUPS_MAX; g++) {
		free(b->group[g]);
		b->group[g] = NULL;
	}
	free(b->data);
	b->data = NULL;
}

static bool static_rr_init(struct balance *b)
{
	b->data = schedule_new(b);
	for (unsigned g = 0; b->data && g < thread_group_count(); g++) {
		b->group[g] = balance_lines_alloc(sizeof(struct cursor));
		if (!b->group[g]) {
			static_rr_fini(b);
			return false;
		}
	}
	return b->data != NULL;
}

/* Without memory the old schedule stays: picks skip the servers that left. */
static void static_rr_update(struct balance *b)
{
	struct schedule *next = schedule_new(b), *old = b->data;

	if (!next)
		return;
	if (old && old->count == next->count &&
	    memcmp(old->turns, next->turns, next->count * sizeof(next->turns[0])) == 0) {
		free(next);
		return;
	}
	__atomic_store_n((struct schedule **)&b->data, next, __ATOMIC_RELEASE);
	balance_retire(old);
}

/* Begins again at the end, and where a new schedule is shorter. */
static uint32_t cursor_take(struct cursor *c, uint32_t count)
{
	uint32_t old = __atomic_load_n(&c->at, __ATOMIC_RELAXED), at;

	SHARED_WRITE(group);
	do
		at = old < count ? old : 0;
	while (!__atomic_compare_exchange_n(&c->at, &old, at + 1, true, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED));
	return at;
}

static struct server *static_rr_pick(struct balance *b, const struct balance_pick_args *args)
{
	const struct schedule *s = __atomic_load_n((struct schedule **)&b->data, __ATOMIC_ACQUIRE);

	for (unsigned n = 0; n < s->count; n++) {
		uint32_t at = cursor_take(b->group[thread_group], s->count);
		const struct server_balance *e = &b->entries[s->turns[at]];

		if (balance_entry_fits(e, args->avoid))
			return e->server;
	}
	return NULL;
}

const struct balance_algorithm balance_static_rr = {
	.name = "static-rr",
	.init = static_rr_init,
	.fini = static_rr_fini,
	.update = static_rr_update,
	.pick = static_rr_pick,
};

/* --- random --------------------------------------------------------------------------------- */

/* sums[n] is the weight below node n; leaves start at <size>. */
struct sums {
	unsigned size;
	uint32_t sums[]; /* atomic */
};

static bool random_init(struct balance *b)
{
	unsigned size = 1;
	struct sums *s;

	while (size < b->count)
		size *= 2;
	s = balance_lines_alloc(sizeof(*s) + 2 * (size_t)size * sizeof(s->sums[0]));
	if (s)
		s->size = size;
	b->data = s;
	return s != NULL;
}

static void random_fini(struct balance *b)
{
	free(b->data);
	b->data = NULL;
}

/* Readers may see old and new sums at once: the worst is a draw that lands on a server which is
 * not in use, and is repeated.
 */
static void random_update(struct balance *b)
{
	struct sums *s = b->data;

	for (unsigned i = 0; i < b->count; i++)
		__atomic_store_n(&s->sums[s->size + i], balance_entry_weight(&b->entries[i]),
				 __ATOMIC_RELAXED);
	for (unsigned n = s->size - 1; n >= 1; n--)
		__atomic_store_n(&s->sums[n], s->sums[2 * n] + s->sums[2 * n + 1],
				 __ATOMIC_RELAXED);
}

/* A number of this thread's sequence (splitmix64). */
static uint64_t random_next(void)
{
	static __thread uint64_t state;
	uint64_t z;

	if (!state)
		state = clock_read_ns() * 2 + 1 + ((uint64_t)thread_id << 48);
	z = state += 0x9e3779b97f4a7c15u;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

static unsigned sums_draw(const struct sums *s)
{
	uint32_t total = __atomic_load_n(&s->sums[1], __ATOMIC_RELAXED);
	uint32_t point = total ? (uint32_t)((random_next() >> 32) * total >> 32) : 0;
	unsigned n = 1;

	while (n < s->size) {
		uint32_t left = __atomic_load_n(&s->sums[2 * n], __ATOMIC_RELAXED);

		n *= 2;
		if (point >= left) {
			point -= left;
			n++;
		}
	}
	return n - s->size;
}

/* Requests of this group on <e>'s server, for comparison: a/wa < b/wb without division. */
static uint64_t entry_load(const struct server_balance *e)
{
	return __atomic_load_n(counter_at(&e->server->state->counters, thread_group, CNT_SESS_CUR),
			       __ATOMIC_RELAXED);
}

static bool entry_is_lighter(const struct server_balance *a, const struct server_balance *b)
{
	return entry_load(a) * balance_entry_weight(b) < entry_load(b) * balance_entry_weight(a);
}

/* The least loaded server with room; for when draws found none. */
static struct server *random_scan(struct balance *b, const struct server *avoid)
{
	const struct server_balance *best = NULL;

	for (unsigned i = 0; i < b->count; i++) {
		const struct server_balance *e = &b->entries[i];

		if (balance_entry_fits(e, avoid) && (!best || entry_is_lighter(e, best)))
			best = e;
	}
	return best ? best->server : NULL;
}

static struct server *random_pick(struct balance *b, const struct balance_pick_args *args)
{
	unsigned draws = b->proxy->random_draws ? b->proxy->random_draws : 2;
	const struct server_balance *best = NULL;

	if (!__atomic_load_n(&b->in_use, __ATOMIC_RELAXED))
		return NULL;
	while (draws--) {
		unsigned i = sums_draw(b->data);
		const struct server_balance *e = &b->entries[i];

		if (i >= b->count || !balance_entry_fits(e, args->avoid))
			continue;
		if (!best || entry_is_lighter(e, best))
			best = e;
	}
	return best ? best->server : random_scan(b, args->avoid);
}

/* `random`, `random(<draws>)`: the word itself is split by the caller. */
const struct balance_algorithm balance_random = {
	.name = "random",
	.dynamic_weights = true,
	.init = random_init,
	.fini = random_fini,
	.update = random_update,
	.pick = random_pick,
};

/* --- first ---------------------------------------------------------------------------------- */

/* Entries in order of the servers' ids. */
static bool first_init(struct balance *b)
{
	uint32_t *order = malloc((b->count ? b->count : 1) * sizeof(*order));

	if (!order)
		return false;
	for (unsigned i = 0; i < b->count; i++) {
		unsigned at = i;

		while (at > 0 && b->entries[order[at - 1]].server->id > b->entries[i].server->id) {
			order[at] = order[at - 1];
			at--;
		}
		order[at] = i;
	}
	b->data = order;
	return true;
}

static void first_fini(struct balance *b)
{
	free(b->data);
	b->data = NULL;
}

static void first_update(struct balance *b)
{
}

static struct server *first_pick(struct balance *b, const struct balance_pick_args *args)
{
	const uint32_t *order = b->data;

	for (unsigned i = 0; i < b->count; i++)
		if (balance_entry_fits(&b->entries[order[i]], args->avoid))
			return b->entries[order[i]].server;
	return NULL;
}

const struct balance_algorithm balance_first = {
	.name = "first",
	.dynamic_weights = true,
	.init = first_init,
	.fini = first_fini,
	.update = first_update,
	.pick = first_pick,
};
