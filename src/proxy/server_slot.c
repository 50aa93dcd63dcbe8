/* SPDX-License-Identifier: GPL-2.0-or-later */
/* server_slot.c - the slots of a server, and whether one is free: asked by balancing and by queues
 */
#include "base/bug.h"
#include "proxy/proxy.h"
#include "proxy/queue.h"
#include "proxy/server.h"
#include "server_slot_priv.h"

/* While it starts slowly, a part of <limit> that grows with time, and at least 1. */
static int64_t warm_part(const struct server *srv, int64_t limit)
{
	int64_t part = limit * __atomic_load_n(&srv->state->warm, __ATOMIC_RELAXED) / SERVER_WARM;

	return limit && !part ? 1 : part;
}

static int64_t full_limit(const struct server *srv)
{
	const struct proxy *be = srv->proxy;
	int64_t max = __atomic_load_n(&srv->state->maxconn, __ATOMIC_RELAXED);
	int64_t min = __atomic_load_n(&srv->state->minconn, __ATOMIC_RELAXED);
	int64_t now, limit;

	if (!max || min >= max || !min || !be->fullconn)
		return max;
	now = (int64_t)counter_read(&be->state->be, CNT_SESS_CUR);
	if (now >= be->fullconn)
		return max;
	limit = max * now / be->fullconn;
	return limit > min ? limit : min;
}

int64_t server_limit(const struct server *srv)
{
	return warm_part(srv, full_limit(srv));
}

int64_t slot_unlimited_count(const struct server_state *st)
{
	return __atomic_load_n(&st->queue.mixed, __ATOMIC_RELAXED)
		? (int64_t)counter_read(&st->counters, CNT_SLOTS_FREE) : 0;
}

bool server_has_room(const struct server *srv)
{
	const struct server_state *st = srv->state;

	if (likely(!__atomic_load_n(&st->maxconn, __ATOMIC_RELAXED)))
		return true;
	if (__atomic_load_n(&st->queue.length, __ATOMIC_RELAXED))
		return false;
	return __atomic_load_n(&st->queue.served, __ATOMIC_RELAXED) + slot_unlimited_count(st) <
		server_limit(srv);
}

unsigned queue_length_server(const struct server *srv)
{
	return __atomic_load_n(&srv->state->queue.length, __ATOMIC_RELAXED);
}
