/* SPDX-License-Identifier: GPL-2.0-or-later */
/* balance_entry.c - shared by the algorithms: entries, and memory that others still read */
#include <stdlib.h>
#include <string.h>
#include "balance_priv.h"
#include "base/bug.h"
#include "core/mailbox.h"
#include "proxy/proxy.h"
#include "proxy/queue.h"
#include "proxy/server.h"

void *balance_lines_alloc(size_t size)
{
	size_t rounded = (size + 63) & ~(size_t)63;
	void *p = aligned_alloc(64, rounded ? rounded : 64);

	if (p)
		memset(p, 0, rounded ? rounded : 64);
	return p;
}

static void retire_nothing(void *ctx)
{
}

static void retire_free(void *ctx)
{
	free(ctx);
}

/* A pick never spans two turns of a thread's loop: when every thread has run a message, none can
 * hold the old memory. Without memory for the messages it is left behind: a leak of a few bytes
 * is better than a wrong read.
 */
void balance_retire(void *memory)
{
	if (memory)
		thread_call_all(retire_nothing, retire_free, memory);
}

void balance_avoid_add(struct balance_avoid *avoid, const struct server *srv)
{
	avoid->last = srv;
	avoid->tried[avoid->count++ % BALANCE_AVOID_MAX] = srv;
}

bool balance_is_avoided(const struct balance_avoid *avoid, const struct server *srv)
{
	unsigned count;

	if (likely(!avoid))
		return false;
	count = avoid->count < BALANCE_AVOID_MAX ? avoid->count : BALANCE_AVOID_MAX;
	for (unsigned i = 0; i < count; i++)
		if (avoid->tried[i] == srv)
			return true;
	return false;
}

bool balance_entry_fits(const struct server_balance *e, const struct balance_avoid *avoid)
{
	const struct server *srv = balance_entry_server(e);

	return balance_entry_weight(e) && !balance_is_avoided(avoid, srv) &&
	       server_has_room(srv);
}

/* With a bound of the load of each server: what all of them together may have, in requests. */
uint64_t balance_load_allowed(const struct balance *b)
{
	unsigned factor = b->proxy->balancing.hash.balance_factor;
	unsigned count = factor ? balance_count(b) : 0;
	uint64_t all = 1;

	for (unsigned i = 0; i < count; i++) {
		const struct server *srv = balance_entry_server(&b->entries[i]);

		if (balance_entry_weight(&b->entries[i]))
			all += counter_read(&srv->state->counters, CNT_SESS_CUR);
	}
	return factor ? (all * factor + 99) / 100 : 0;
}

/* Each may have the share of its weight. What roundings leave over is spread along the list, so
 * that the shares add up: there always is a server below its own.
 */
bool balance_entry_is_light(const struct server_balance *e, uint64_t allowed)
{
	uint64_t load, total = __atomic_load_n(&e->balance->total_weight, __ATOMIC_RELAXED);
	uint64_t before = __atomic_load_n(&e->before, __ATOMIC_RELAXED), share;

	if (!allowed || !total)
		return true;
	load = counter_read(&balance_entry_server(e)->state->counters, CNT_SESS_CUR);
	share = (before + balance_entry_weight(e)) * allowed / total - before * allowed / total;
	return !load || load < share;
}
