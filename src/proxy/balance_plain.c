/* SPDX-License-Identifier: GPL-2.0-or-later */
/* balance_plain.c - random, first and sticky
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
#include "proxy/proxy.h"
#include "proxy/queue.h"
#include "proxy/server.h"

/* --- random --------------------------------------------------------------------------------- */

/* sums[n] is the weight below node n; leaves start at <size>. */
struct sums {
	unsigned size;
	uint32_t sums[]; /* atomic */
};

bool balance_sums_init(struct balance *b)
{
	unsigned size = 1;
	struct sums *s;

	while (size < b->room)
		size *= 2;
	s = balance_lines_alloc(sizeof(*s) + 2 * (size_t)size * sizeof(s->sums[0]));
	if (s)
		s->size = size;
	b->data = s;
	return s != NULL;
}

void balance_sums_fini(struct balance *b)
{
	free(b->data);
	b->data = NULL;
}

/* Readers may see old and new sums mixed: the worst is a draw that lands on a server which is not
 * in use, and is repeated.
 */
void balance_sums_update(struct balance *b)
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

unsigned balance_sums_draw(const struct balance *b)
{
	const struct sums *s = b->data;
	uint32_t total, point;
	unsigned n = 1;

	if (balance_count(b) == 1) /* there is no choice */
		return 0;
	total = __atomic_load_n(&s->sums[1], __ATOMIC_RELAXED);
	point = total ? (uint32_t)((random_next() >> 32) * total >> 32) : 0;
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
	return __atomic_load_n(counter_at(&balance_entry_server(e)->state->counters, thread_group,
					  CNT_SESS_CUR), __ATOMIC_RELAXED);
}

static bool entry_is_lighter(const struct server_balance *a, const struct server_balance *b)
{
	return entry_load(a) * balance_entry_weight(b) < entry_load(b) * balance_entry_weight(a);
}

/* The least loaded server with room; for when draws found none. */
static struct server *random_scan(struct balance *b, const struct balance_avoid *avoid)
{
	const struct server_balance *best = NULL;
	unsigned count = balance_count(b);

	for (unsigned i = 0; i < count; i++) {
		const struct server_balance *e = &b->entries[i];

		if (balance_entry_fits(e, avoid) && (!best || entry_is_lighter(e, best)))
			best = e;
	}
	return best ? balance_entry_server(best) : NULL;
}

static struct server *random_pick(struct balance *b, const struct balance_pick_args *args)
{
	unsigned draws = b->proxy->balancing.random_draws ? b->proxy->balancing.random_draws : 2;
	uint64_t allowed = balance_load_allowed(b);
	const struct server_balance *best = NULL;

	if (!__atomic_load_n(&b->in_use, __ATOMIC_RELAXED))
		return NULL;
	if (balance_count(b) == 1)
		draws = 1;
	while (draws--) {
		unsigned i = balance_sums_draw(b);
		const struct server_balance *e = &b->entries[i];

		if (i >= balance_count(b) || !balance_entry_fits(e, args->avoid) ||
		    !balance_entry_is_light(e, allowed))
			continue;
		if (!best || entry_is_lighter(e, best))
			best = e;
	}
	return best ? balance_entry_server(best) : random_scan(b, args->avoid);
}

/* `random`, `random(<draws>)`: the word itself is split by the caller. */
const struct balance_algorithm balance_random = {
	.name = "random",
	.syntax = "[(<draws>)]",
	.takes_parenthesis = true,
	.parse = balance_parse_random,
	.for_logs = true,
	.dynamic_weights = true,
	.init = balance_sums_init,
	.fini = balance_sums_fini,
	.update = balance_sums_update,
	.pick = random_pick,
};

/* --- first ---------------------------------------------------------------------------------- */

/* Entries in order of the servers' ids, those that are not taken yet at the end; NULL: no memory.
 */
static uint32_t *first_order(const struct balance *b)
{
	uint32_t *order = malloc((b->room ? b->room : 1) * sizeof(*order));

	for (unsigned i = 0; order && i < b->room; i++) {
		unsigned at = i;

		while (at > 0 && i < b->count &&
		       b->entries[order[at - 1]].server->id > b->entries[i].server->id) {
			order[at] = order[at - 1];
			at--;
		}
		order[at] = i;
	}
	return order;
}

static bool first_init(struct balance *b)
{
	b->data = first_order(b);
	return b->data != NULL;
}

static void first_fini(struct balance *b)
{
	free(b->data);
	b->data = NULL;
}

/* Servers may have been added. Without memory the old order stays. */
static void first_update(struct balance *b)
{
	uint32_t *next = first_order(b), *old = b->data;

	if (!next)
		return;
	if (memcmp(next, old, b->room * sizeof(*next)) == 0) {
		free(next);
		return;
	}
	__atomic_store_n((uint32_t **)&b->data, next, __ATOMIC_RELEASE);
	balance_retire(old);
}

static struct server *first_pick(struct balance *b, const struct balance_pick_args *args)
{
	unsigned count = balance_count(b); /* first: the order has these at least */
	const uint32_t *order = __atomic_load_n((uint32_t **)&b->data, __ATOMIC_ACQUIRE);

	for (unsigned i = 0; i < count; i++)
		if (balance_entry_fits(&b->entries[order[i]], args->avoid))
			return balance_entry_server(&b->entries[order[i]]);
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

/* --- sticky --------------------------------------------------------------------------------- */

/* The server that came first serves, until it leaves: <since> sorts the servers by the time of
 * their coming.
 */
#define NOBODY UINT32_MAX

struct stay {
	uint32_t first;    /* atomic: entry, or NOBODY */
	uint64_t tickets;
	uint64_t since[];  /* per entry, 0: not in use */
};

static bool sticky_init(struct balance *b)
{
	struct stay *s = calloc(1, sizeof(*s) + b->room * sizeof(s->since[0]));

	if (s)
		s->first = NOBODY;
	b->data = s;
	return s != NULL;
}

static void sticky_update(struct balance *b)
{
	struct stay *s = b->data;
	uint32_t first = NOBODY;

	for (unsigned i = 0; i < b->count; i++) {
		if (!balance_entry_weight(&b->entries[i]))
			s->since[i] = 0;
		else if (!s->since[i])
			s->since[i] = ++s->tickets;
		if (s->since[i] && (first == NOBODY || s->since[i] < s->since[first]))
			first = i;
	}
	__atomic_store_n(&s->first, first, __ATOMIC_RELAXED);
}

static struct server *sticky_pick(struct balance *b, const struct balance_pick_args *args)
{
	const struct stay *s = b->data;
	uint32_t first = __atomic_load_n(&s->first, __ATOMIC_RELAXED);

	return first != NOBODY ? balance_entry_server(&b->entries[first]) : NULL;
}

/* Its server is kept without regard to room: requests wait for it. */
const struct balance_algorithm balance_sticky = {
	.name = "sticky",
	.for_logs = true,
	.dynamic_weights = true,
	.hashes = true,
	.init = sticky_init,
	.fini = balance_sums_fini,
	.update = sticky_update,
	.pick = sticky_pick,
};

/* --- none ----------------------------------------------------------------------------------- */

static bool none_init(struct balance *b)
{
	return true;
}

static void none_done(struct balance *b)
{
}

static struct server *none_pick(struct balance *b, const struct balance_pick_args *args)
{
	return NULL;
}

const struct balance_algorithm balance_none = {
	.name = "none",
	.init = none_init,
	.fini = none_done,
	.update = none_done,
	.pick = none_pick,
};
