/* SPDX-License-Identifier: GPL-2.0-or-later */
/* balance_round.c - roundrobin: each server in turn, as often as its weight (the order:
 * wheel_priv.h)
 *
 * The order is a sequence, which depends on nothing but weights. So a thread takes a ticket, one
 * atomic addition, and the sequence says whose it is. Turns are made BATCH at a time under the
 * group's lock by the thread that finds that there are no more; a change of weight takes back those
 * that were not taken yet.
 *
 *      ring   ... 3 1 3 2 3 1 | 3 2 3 1 ...
 *                  taken     ^next      ^made
 *
 * Active and backup servers have a wheel each, so that each goes on where it was.
 */
#include <stdlib.h>
#include "base/bug.h"
#include "core/lock.h"
#include "proxy/proxy.h"
#include "proxy/server.h"
#include "balance_priv.h"
#include "log_backend.h"
#include "wheel_priv.h"

#define BATCH 8  /* a power of two, as RING is */
#define TRIES 32
#define RING 32 /* a thread that was interrupted for so many turns reads another one's */

/* One wheel and what was made of it, per group and kind of server. Invariant: no more than BATCH
 * turns are made and not taken, so that each of them can be undone.
 */
struct turns {
	uint64_t next __attribute__((aligned(64))); /* atomic: ticket of the next turn */
	uint64_t made __attribute__((aligned(64))); /* atomic: tickets below have a turn */
	unsigned lock;
	struct wheel *wheel;                        /* owned */
	struct wheel_undo undo[BATCH];              /* of the last turns made */
	uint32_t ring[RING];                        /* atomic: index of a server */
};

/* There are many backends, most without a backup server: those have no turns of that kind. */
struct round {
	struct turns *kinds[2]; /* owned; active, backup: atomic, NULL until there is one */
};

static void turns_drop(struct turns *t)
{
	if (t)
		free(t->wheel);
	free(t);
}

static void round_fini(struct balance *b)
{
	for (unsigned g = 0; g < thread_group_count(); g++) {
		struct round *r = b->group[g];

		if (!r)
			continue;
		turns_drop(r->kinds[0]);
		turns_drop(r->kinds[1]);
		free(r);
		b->group[g] = NULL;
	}
}

/* The weight that <e> has in the wheel of backup servers or of the others. */
static uint32_t wheel_weight(const struct server_balance *e, bool backup)
{
	return e->own && e->server->backup == backup ? balance_fine_weight(e->balance, e->own) : 0;
}

/* Each group begins at another server, so that few requests on many groups spread as well. */
static void turns_start(struct turns *t, const struct balance *b, unsigned group, bool backup)
{
	unsigned shift = (unsigned)((uint64_t)group * b->count / thread_group_count());

	for (unsigned n = 0; n < b->count; n++) {
		unsigned i = (n + shift) % b->count;

		wheel_start(t->wheel, i, wheel_weight(&b->entries[i], backup));
	}
}

/* Is any server of this kind, whatever its weight? */
static bool kind_exists(const struct balance *b, bool backup)
{
	for (unsigned i = 0; i < b->count; i++)
		if (b->entries[i].server && b->entries[i].server->backup == backup)
			return true;
	return false;
}

/* NULL: no memory. */
static struct turns *turns_new(const struct balance *b, unsigned group, bool backup)
{
	struct turns *t = balance_lines_alloc(sizeof(*t));

	if (!t)
		return NULL;
	t->wheel = wheel_new(b->room);
	if (!t->wheel) {
		free(t);
		return NULL;
	}
	turns_start(t, b, group, backup);
	return t;
}

static bool round_init(struct balance *b)
{
	for (unsigned g = 0; g < thread_group_count(); g++) {
		struct round *r = b->group[g] = calloc(1, sizeof(*r));

		for (unsigned kind = 0; r && kind < 2; kind++)
			if (kind_exists(b, kind))
				r->kinds[kind] = turns_new(b, g, kind);
		if (!r || (kind_exists(b, false) && !r->kinds[0]) ||
		    (kind_exists(b, true) && !r->kinds[1])) {
			round_fini(b);
			return false;
		}
	}
	return true;
}

/* Makes turns up to that of <ticket>, under the lock. */
static void turns_make(struct turns *t, uint64_t ticket)
{
	uint64_t made = __atomic_load_n(&t->made, __ATOMIC_RELAXED);

	uint64_t end = ticket < made ? made : ticket + BATCH;

	for (; made < end; made++) {
		unsigned index = wheel_turn(t->wheel, &t->undo[made % BATCH]);

		if (index == WHEEL_NONE)
			return; /* no server is left: for this turn any one is right */
		__atomic_store_n(&t->ring[made % RING], index, __ATOMIC_RELAXED);
		__atomic_store_n(&t->made, made + 1, __ATOMIC_RELEASE);
	}
}

/* The entry whose turn it is. */
static unsigned turns_take(struct turns *t)
{
	uint64_t ticket;

	SHARED_WRITE(group);
	ticket = __atomic_fetch_add(&t->next, 1, __ATOMIC_RELAXED);
	if (unlikely(ticket >= __atomic_load_n(&t->made, __ATOMIC_ACQUIRE))) {
		lock_take_in_group(&t->lock);
		turns_make(t, ticket);
		lock_drop(&t->lock);
	}
	return __atomic_load_n(&t->ring[ticket % RING], __ATOMIC_RELAXED);
}

/* Takes back the turns that were not taken, and sets the weights as they are now. */
static void turns_update(struct turns *t, const struct balance *b, bool backup)
{
	uint64_t next, made;

	lock_take_in_group(&t->lock);
	next = __atomic_load_n(&t->next, __ATOMIC_RELAXED);
	made = __atomic_load_n(&t->made, __ATOMIC_RELAXED);
	if (made < next) /* tickets that no server was found for */
		__atomic_store_n(&t->next, made, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < BATCH && made > next; i++)
		wheel_undo(t->wheel, &t->undo[--made % BATCH]);
	__atomic_store_n(&t->made, made, __ATOMIC_RELEASE);
	for (unsigned i = 0; i < b->count; i++)
		wheel_set(t->wheel, i, wheel_weight(&b->entries[i], backup));
	lock_drop(&t->lock);
}

/* A server may be the first of its kind. Without memory for its turns round_pick() finds it by
 * searching.
 */
static void round_update(struct balance *b)
{
	for (unsigned g = 0; g < thread_group_count(); g++) {
		struct round *r = b->group[g];

		for (unsigned kind = 0; kind < 2; kind++) {
			if (r->kinds[kind])
				turns_update(r->kinds[kind], b, kind);
			else if (kind_exists(b, kind))
				__atomic_store_n(&r->kinds[kind], turns_new(b, g, kind),
						 __ATOMIC_RELEASE);
		}
	}
}

/* For when turn after turn falls on servers that are full, or when there was no memory for turns:
 * any that fits, the search beginning behind <from>.
 */
static struct server *any_that_fits(const struct balance *b, unsigned from,
				    const struct balance_avoid *avoid)
{
	unsigned count = balance_count(b);

	for (unsigned n = 1; n <= count; n++) {
		const struct server_balance *e = &b->entries[(from + n) % count];

		if (balance_entry_fits(e, avoid))
			return balance_entry_server(e);
	}
	return NULL;
}

static struct server *round_pick(struct balance *b, const struct balance_pick_args *args)
{
	struct round *r = b->group[thread_group];
	bool backup = !__atomic_load_n(&b->active, __ATOMIC_RELAXED);
	struct turns *t = __atomic_load_n(&r->kinds[backup], __ATOMIC_ACQUIRE);
	unsigned i = 0, count = balance_count(b);

	if (!__atomic_load_n(&b->in_use, __ATOMIC_RELAXED))
		return NULL;
	for (unsigned n = 0; t && n < TRIES && n < 2 * count; n++) {
		i = turns_take(t);
		if (balance_entry_fits(&b->entries[i], args->avoid))
			return balance_entry_server(&b->entries[i]);
	}
	return any_that_fits(b, i, args->avoid);
}

const struct balance_algorithm balance_roundrobin = {
	.name = "roundrobin",
	.for_logs = true,
	.dynamic_weights = true,
	.init = round_init,
	.fini = round_fini,
	.update = round_update,
	.pick = round_pick,
};

/* Of log backends, which hash lines themselves (log_backend.c): what has no hash goes round. */
const struct balance_algorithm balance_log_hash = {
	.name = "log-hash",
	.syntax = "<converters>",
	.parse = log_backend_parse_hash,
	.for_logs = true,
	.dynamic_weights = true,
	.init = round_init,
	.fini = round_fini,
	.update = round_update,
	.pick = round_pick,
};
