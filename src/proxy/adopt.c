/* SPDX-License-Identifier: GPL-2.0-or-later */
/* adopt.c - what a new generation takes over of the one before: the states of what is the same
 *
 *	proxy     same name and sides              counters, rates, switches, the queue
 *	server    same name, address as written    health, weight, limits, counters, the queue
 *	listener  same frontend, address           counters
 *
 * Both generations then share them: sessions of the old one go on counting in the same place.
 */
#include <string.h>
#include "base/clock.h"
#include "core/lock.h"
#include "proxy/balance.h"
#include "proxy/bind.h"
#include "proxy/proxy.h"
#include "proxy/server.h"
#include "check_state_priv.h"
#include "server_priv.h"

/* `disabled` was added to the server's line, or taken away; or its name is resolved now. */
static void admin_adopt(struct server_state *st, const struct server *to, const struct server *from)
{
	unsigned admin = __atomic_load_n(&st->admin, __ATOMIC_RELAXED), was = admin;

	if (to->disabled != from->disabled) {
		admin &= ~(unsigned)(SERVER_CMAINT | SERVER_FMAINT);
		admin |= to->disabled ? SERVER_CMAINT | SERVER_FMAINT : 0;
	}
	if (!to->resolve.resolvers && to->at.unresolved != from->at.unresolved) {
		admin &= ~(unsigned)SERVER_RMAINT;
		admin |= to->at.unresolved ? SERVER_RMAINT : 0;
	}
	if (admin == was)
		return;
	__atomic_store_n(&st->admin, admin, __ATOMIC_RELAXED);
	if (!(admin & SERVER_MAINT) != !(was & SERVER_MAINT))
		__atomic_store_n(&st->oper, admin & SERVER_MAINT ? SERVER_STOPPED : SERVER_RUNNING,
				 __ATOMIC_RELAXED);
	__atomic_store_n(&st->changed_us, clock_read_wall_us(), __ATOMIC_RELAXED);
}

/* What name servers have said is better than what the system says now. */
static void address_adopt(struct server_state *st, const struct server *to,
			  const struct server *from)
{
	struct server_addr addr;

	if (!to->resolve.resolvers || !to->at.unresolved || st->address_len || from->at.unresolved)
		return;
	server_address(from, &addr);
	server_address_publish(st, &addr);
}

static void server_adopt(struct server *to, const struct server *from)
{
	struct server_state *st = server_state_take(from->state);

	if (to->uweight != from->uweight)
		__atomic_store_n(&st->uweight, to->uweight, __ATOMIC_RELAXED);
	if (to->limits.maxconn != from->limits.maxconn ||
	    to->limits.minconn != from->limits.minconn) {
		if (!to->limits.maxconn != !__atomic_load_n(&st->maxconn, __ATOMIC_RELAXED))
			__atomic_store_n(&st->queue.mixed, true, __ATOMIC_RELAXED);
		__atomic_store_n(&st->maxconn, to->limits.maxconn, __ATOMIC_RELAXED);
		__atomic_store_n(&st->minconn, to->limits.minconn, __ATOMIC_RELAXED);
	}
	admin_adopt(st, to, from);
	address_adopt(st, to, from);
	check_adopt(to, from);
	if (!to->proxy->outlier.interval_ms || to->backup)
		__atomic_store_n(&st->outlier.is_out, 0, __ATOMIC_RELAXED);
	server_state_drop(&to->state);
	to->state = st;
}

/* Is <st> the state of a listener of <fe>? */
static bool state_is_used(const struct proxy *fe, const struct listener_state *st)
{
	struct bind_conf *b;
	struct listener_conf *l;

	list_for_each(b, &fe->binds, link)
		list_for_each(l, &b->listeners, link)
			if (l->state == st)
				return true;
	return false;
}

/* The listener of <from> whose state <l> takes: the same place and address; with <anywhere>, the
 * same address if it is not taken yet. NULL: none.
 */
static struct listener_conf *listener_twin(const struct listener_conf *l, const struct proxy *from,
					   bool anywhere)
{
	const char *mine = l->state->identity, *its;
	struct listener_conf *was;
	struct bind_conf *b;

	list_for_each(b, &from->binds, link) {
		list_for_each(was, &b->listeners, link) {
			its = was->state->identity;
			if (!anywhere && strcmp(mine, its) == 0)
				return was;
			if (anywhere && strcmp(strchr(mine, '@'), strchr(its, '@')) == 0 &&
			    !state_is_used(l->bind->proxy, was->state))
				return was;
		}
	}
	return NULL;
}

/* Exact twins first: other lines may stand in front of a line now. */
static void listeners_adopt(struct proxy *to, const struct proxy *from)
{
	struct bind_conf *b;
	struct listener_conf *lc, *was;

	for (int anywhere = 0; anywhere < 2; anywhere++) {
		list_for_each(b, &to->binds, link) {
			list_for_each(lc, &b->listeners, link) {
				was = state_is_used(from, lc->state) ? NULL
				      : listener_twin(lc, from, anywhere);
				if (!was)
					continue;
				listener_state_drop(&lc->state);
				lc->state = listener_state_take(was->state);
			}
		}
	}
}

/* For loads of servers that an older generation's requests still change. */
static struct server *live_heir(const struct server *srv)
{
	return server_heir(proxies_current(), srv);
}

static void proxy_adopt(struct proxy *to, struct proxy *from)
{
	struct proxy_state *st = proxy_state_take(from->state);
	struct server *srv;

	if (to->maxconn != from->maxconn)
		__atomic_store_n(&st->maxconn, to->maxconn, __ATOMIC_RELAXED);
	if (to->balancing.unpublished != from->balancing.unpublished)
		__atomic_store_n(&st->unpublished, to->balancing.unpublished, __ATOMIC_RELAXED);
	/* one that was shut down is wanted again: it stands in the file */
	if (__atomic_exchange_n(&st->stopped, 0, __ATOMIC_RELAXED))
		__atomic_store_n(&st->disabled, 0, __ATOMIC_RELAXED);
	proxy_state_drop(&to->state);
	to->state = st;
	list_for_each(srv, &to->servers, link) {
		const struct server *old = server_find(from, srv->name);

		if (old && strcmp(old->state->identity, srv->state->identity) == 0)
			server_adopt(srv, old);
	}
	listeners_adopt(to, from);
	balance_update(to);
	balance_put_aside(from, live_heir);
	if (to->caps & PROXY_BE) {
		lock_take(&st->change_lock);
		__atomic_store_n(&st->was_up, balance_has_usable(to), __ATOMIC_RELAXED);
		lock_drop(&st->change_lock);
	}
}

void proxies_adopt(struct config *next, struct config *prev)
{
	for (struct proxy *px = proxies_first(next); px; px = proxy_next(px)) {
		struct proxy *old = proxy_find(prev, px->name, px->caps);

		if (old && old->caps == px->caps)
			proxy_adopt(px, old);
	}
}

void proxies_settle(struct config *live)
{
	for (struct proxy *px = proxies_first(live); px; px = proxy_next(px))
		balance_update(px);
}
