/* SPDX-License-Identifier: GPL-2.0-or-later */
/* balance_order.c - leastconn: the server of the smallest key is next, one tournament per thread
 * group (balance_tournament_priv.h)
 *
 * The key is the number of requests per unit of weight, then a ticket drawn at each change:
 * equals are served in turn.
 */
#include <stdlib.h>
#include "balance_priv.h"
#include "base/bug.h"
#include "proxy/proxy.h"
#include "proxy/server.h"
#include "balance_tournament_priv.h"

#define LOAD_SCALE 256
#define LOAD_SHIFT 32

struct order {
	struct tournament *tree; /* owned */
	uint32_t ticket;         /* atomic: leastconn */
};

static void order_fini(struct balance *b)
{
	for (unsigned g = 0; g < thread_group_count(); g++) {
		struct order *o = b->group[g];

		if (!o)
			continue;
		free(o->tree);
		free(o);
		b->group[g] = NULL;
	}
}

static bool order_init(struct balance *b)
{
	for (unsigned g = 0; g < thread_group_count(); g++) {
		struct order *o = balance_lines_alloc(sizeof(*o));

		b->group[g] = o;
		if (o)
			o->tree = tournament_new(b->room);
		if (!o || !o->tree) {
			order_fini(b);
			return false;
		}
	}
	return true;
}

/* What entry_fits() needs to know. */
struct order_search {
	const struct balance *balance;
	const struct balance_avoid *avoid;
};

static bool entry_fits(unsigned i, const void *ctx)
{
	const struct order_search *s = ctx;

	return balance_entry_fits(&s->balance->entries[i], s->avoid);
}

/* The best entry that may serve now: nearly always the best of all. */
static unsigned order_best(const struct balance *b, const struct order *o,
			   const struct balance_avoid *avoid)
{
	struct order_search s = { .balance = b, .avoid = avoid };
	unsigned i = tournament_best(o->tree);

	if (likely(i != TOURNAMENT_NONE && entry_fits(i, &s)))
		return i;
	return i == TOURNAMENT_NONE ? i : tournament_best_that(o->tree, entry_fits, &s);
}

/* Each group begins at another server, so that few requests on many groups spread as well. */
static unsigned group_shift(const struct balance *b, unsigned group)
{
	return (unsigned)((uint64_t)group * b->count / thread_group_count());
}

/* --- leastconn ------------------------------------------------------------------------------ */

static void leastconn_place(struct balance *b, struct order *o, unsigned i, unsigned count)
{
	unsigned weight = balance_entry_weight(&b->entries[i]);
	uint32_t ticket = __atomic_fetch_add(&o->ticket, 1, __ATOMIC_RELAXED);
	int64_t load;

	if (!weight || (int)count < 0)
		count = 0;
	load = weight ? (int64_t)count * LOAD_SCALE / weight : 0;
	if (load > INT32_MAX / 2)
		load = INT32_MAX / 2;
	tournament_set(o->tree, i, load << LOAD_SHIFT | ticket);
}

static void leastconn_load(struct balance *b, struct server *srv, unsigned count)
{
	leastconn_place(b, b->group[thread_group], srv->index, count);
}

static struct server *leastconn_pick(struct balance *b, const struct balance_pick_args *args)
{
	unsigned i = order_best(b, b->group[thread_group], args->avoid);

	return i == TOURNAMENT_NONE ? NULL : balance_entry_server(&b->entries[i]);
}

static void leastconn_update(struct balance *b)
{
	for (unsigned g = 0; g < thread_group_count(); g++) {
		struct order *o = b->group[g];
		unsigned shift = group_shift(b, g);

		for (unsigned n = 0; n < b->count; n++) {
			unsigned i = (n + shift) % b->count;
			const struct server_state *st = b->entries[i].server->state;
			bool use = balance_entry_weight(&b->entries[i]) > 0;
			uint64_t count = __atomic_load_n(counter_at(&st->counters, g, CNT_SESS_CUR),
							 __ATOMIC_RELAXED);
			leastconn_place(b, o, i, (unsigned)count);
			if (use != tournament_is_used(o->tree, i))
				tournament_use(o->tree, i, use);
		}
	}
}

const struct balance_algorithm balance_leastconn = {
	.name = "leastconn",
	.dynamic_weights = true,
	.init = order_init,
	.fini = order_fini,
	.update = leastconn_update,
	.pick = leastconn_pick,
	.load = leastconn_load,
};
