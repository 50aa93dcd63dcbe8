/* SPDX-License-Identifier: GPL-2.0-or-later */
/* balance_map.c - a schedule computed in advance: each server as often as its weight (divided by
 * the common divisor), evenly spread.
 *
 * static-rr goes through it with a cursor per group; hashing with `hash-type map-based` looks a
 * hash up in it. A new schedule replaces the old when a server comes or goes.
 */
#include <stdlib.h>
#include <string.h>
#include "balance_priv.h"
#include "base/bug.h"
#include "proxy/proxy.h"

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

/* Fills <s>: at each turn the credit of every server grows by its weight, and the one with the
 * highest pays the total for its turn. Credits are compared in whole totals only, equals in order
 * of the file: that makes the sequence which users of the reference know.
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

void balance_map_fini(struct balance *b)
{
	for (unsigned g = 0; g < thread_group_count(); g++) {
		free(b->group[g]);
		b->group[g] = NULL;
	}
	free(b->data);
	b->data = NULL;
}

bool balance_map_init(struct balance *b)
{
	b->data = schedule_new(b);
	for (unsigned g = 0; b->data && g < thread_group_count(); g++) {
		b->group[g] = balance_lines_alloc(sizeof(struct cursor));
		if (!b->group[g]) {
			balance_map_fini(b);
			return false;
		}
	}
	return b->data != NULL;
}

/* Without memory the old schedule stays: picks skip the servers that left. */
void balance_map_update(struct balance *b)
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

struct server *balance_map_next(struct balance *b, const struct balance_avoid *avoid)
{
	const struct schedule *s = __atomic_load_n((struct schedule **)&b->data, __ATOMIC_ACQUIRE);

	for (unsigned n = 0; n < s->count; n++) {
		uint32_t at = cursor_take(b->group[thread_group], s->count);
		const struct server_balance *e = &b->entries[s->turns[at]];

		if (balance_entry_fits(e, avoid))
			return balance_entry_server(e);
	}
	return NULL;
}

struct server *balance_map_at(struct balance *b, uint32_t hash)
{
	const struct schedule *s = __atomic_load_n((struct schedule **)&b->data, __ATOMIC_ACQUIRE);

	return s->count ? balance_entry_server(&b->entries[s->turns[hash % s->count]]) : NULL;
}

static struct server *static_rr_pick(struct balance *b, const struct balance_pick_args *args)
{
	return balance_map_next(b, args->avoid);
}

const struct balance_algorithm balance_static_rr = {
	.name = "static-rr",
	.init = balance_map_init,
	.fini = balance_map_fini,
	.update = balance_map_update,
	.pick = static_rr_pick,
};
