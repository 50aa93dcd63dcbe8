/* SPDX-License-Identifier: GPL-2.0-or-later */
/* queue.c - requests that wait for a slot of a server, and their order
 *
 * The slots of a server with a limit are one atomic number. A stream that releases a slot checks
 * for waiters afterwards; a stream that starts to wait checks for free slots afterwards. Both sides
 * write before they read (sequentially consistent), so that one of them sees the other and no slot
 * is lost. Grants are made under the lock, which is the only place where waiters are linked and
 * unlinked.
 *
 * Slots taken while there was no limit are counted per thread group (CNT_SLOTS_FREE). The
 * number in use is the sum of both; the second part is read only for a server whose limit was
 * switched.
 */
#include "base/bug.h"
#include "base/clock.h"
#include "core/lock.h"
#include "core/task.h"
#include "proxy/balance.h"
#include "proxy/proxy.h"
#include "proxy/queue.h"
#include "proxy/server.h"
#include "server_slot_priv.h"

/* --- slots ---------------------------------------------------------------------------------- */

/* Takes a free slot even if others are queued. */
static bool slot_try(const struct server *srv)
{
	struct server_state *st = srv->state;
	int64_t limit = server_limit(srv);
	int64_t served = __atomic_load_n(&st->queue.served, __ATOMIC_SEQ_CST);
	int64_t unlimited = slot_unlimited_count(st);

	if (!limit) {
		/* The limit went away while requests were waiting: they count as limited ones. */
		SHARED_WRITE(process);
		__atomic_add_fetch(&st->queue.served, 1, __ATOMIC_SEQ_CST);
		return true;
	}
	do {
		if (served + unlimited >= limit)
			return false;
		SHARED_WRITE(process);
	} while (!__atomic_compare_exchange_n(&st->queue.served, &served, served + 1, false,
					      __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
	return true;
}

/* Counts a request that begins (+1) or ends (-1) on this thread. */
static void slot_count(struct server *srv, int change)
{
	struct server_state *st = srv->state;

	balance_load(srv, (unsigned)gauge_add(&st->counters, CNT_SESS_CUR, change,
					      &st->session_max));
}

bool server_slot_take(struct server *srv)
{
	struct server_state *st = srv->state;

	if (likely(!__atomic_load_n(&st->maxconn, __ATOMIC_RELAXED)))
		counter_add(&st->counters, CNT_SLOTS_FREE, 1);
	else if (__atomic_load_n(&st->queue.length, __ATOMIC_RELAXED) || !slot_try(srv))
		return false;
	slot_count(srv, 1);
	return true;
}

void server_slot_release(struct server *srv)
{
	struct server_state *st = srv->state;

	slot_count(srv, -1);
	if (likely(!__atomic_load_n(&st->maxconn, __ATOMIC_RELAXED))) {
		counter_add(&st->counters, CNT_SLOTS_FREE, -1);
		return;
	}
	SHARED_WRITE(process);
	__atomic_sub_fetch(&st->queue.served, 1, __ATOMIC_SEQ_CST);
	queue_wake(srv->proxy, srv);
}

/* --- waiters -------------------------------------------------------------------------------- */

/* The class first, then the time in ms, moved by the offset. */
static uint64_t waiter_key(int priority_class, int offset_ms)
{
	uint64_t class = (uint64_t)(priority_class + 2048) & 0xfff;
	uint64_t when = (clock_now_ms() + (1u << 20) + (uint64_t)(int64_t)offset_ms) &
		(((uint64_t)1 << 52) - 1);

	return class << 52 | when;
}

/* How many of its queue were granted a slot, under the lock. */
static unsigned *waiter_passed(const struct queue_waiter *w)
{
	return w->server ? &w->server->state->queue.passed : &w->backend->state->queue.passed;
}

/* Unlinks <w>, under the lock. */
static void waiter_unlink(struct queue_waiter *w)
{
	struct proxy_state *ps = w->backend->state;

	if (w->server) {
		tree_remove(&w->server->state->queue.waiters, &w->node);
		__atomic_sub_fetch(&w->server->state->queue.length, 1, __ATOMIC_SEQ_CST);
		counter_add(&w->server->state->counters, CNT_QUEUE_CUR, -1);
	} else {
		tree_remove(&ps->queue.waiters, &w->node);
		__atomic_sub_fetch(&ps->queue.length, 1, __ATOMIC_SEQ_CST);
		counter_add(&ps->be, CNT_QUEUE_CUR, -1);
	}
	w->position = *waiter_passed(w) - w->since + 1;
}

/* The task is woken under the lock: its owner leaves the queue through the lock too, hence it
 * cannot die before we have finished with it.
 */
static void waiter_finish(struct queue_waiter *w, enum queue_state state)
{
	waiter_unlink(w);
	if (state == QUEUE_SLOT_GRANTED)
		++*waiter_passed(w);
	__atomic_store_n(&w->state, state, __ATOMIC_RELEASE);
	task_wake(w->task, TASK_WOKEN_RES);
}

/* The server of the waiter's own generation which has this state. */
static struct server *server_for(const struct queue_waiter *w, struct server *srv)
{
	struct server *it;

	if (w->backend == srv->proxy)
		return srv;
	for (it = server_first(w->backend); it; it = server_next(it))
		if (it->state == srv->state)
			return it;
	return NULL;
}

/* May requests that any server may serve go to <srv>? */
static bool serves_all(const struct server *srv)
{
	return (server_is_usable(srv) || server_is_only_ejected(srv)) && balance_serves(srv);
}

/* The waiter that is next for <srv>: the best of its own queue and of the backend's; its own wins a
 * tie.
 */
static struct queue_waiter *waiter_next(const struct proxy_state *ps, struct server *srv)
{
	struct tree_node *own = tree_first(&srv->state->queue.waiters);
	struct tree_node *any = serves_all(srv) ? tree_first(&ps->queue.waiters) : NULL;
	struct tree_node *best = own;

	if (any && (!own || any->key < own->key))
		best = any;
	return best ? container_of(best, struct queue_waiter, node) : NULL;
}

/* Grants <srv>'s free slots, under the lock. */
static void slots_grant(struct proxy_state *ps, struct server *srv)
{
	struct queue_waiter *w;

	while ((w = waiter_next(ps, srv)) != NULL) {
		struct server *granted = w->server ? w->server : server_for(w, srv);

		if (!granted) {
			/* Its generation has no such server: let it choose again. */
			waiter_finish(w, QUEUE_RETURNED);
			continue;
		}
		if (!slot_try(granted))
			return;
		/* (its owner may look at it meanwhile: see_servers()) */
		__atomic_store_n(&w->granted, granted, __ATOMIC_RELAXED);
		waiter_finish(w, QUEUE_SLOT_GRANTED);
	}
}

static void slots_grant_all(struct proxy *be)
{
	struct server *srv;

	for (srv = server_first(be); srv; srv = server_next(srv))
		slots_grant(be->state, srv);
}

void queue_wake(struct proxy *be, struct server *srv)
{
	struct proxy_state *ps = be->state;

	if (!__atomic_load_n(&ps->queue.length, __ATOMIC_SEQ_CST) &&
	    (srv && !__atomic_load_n(&srv->state->queue.length, __ATOMIC_SEQ_CST)))
		return;
	lock_take(&ps->queue.lock);
	if (srv)
		slots_grant(ps, srv);
	else
		slots_grant_all(be);
	lock_drop(&ps->queue.lock);
}

/* Links <w>, under the lock, and counts it. */
static void waiter_link(struct queue_waiter *w, uint64_t key)
{
	struct proxy_state *ps = w->backend->state;
	struct server_state *st;

	if (w->server) {
		st = w->server->state;
		__atomic_add_fetch(&st->queue.length, 1, __ATOMIC_SEQ_CST);
		gauge_add(&st->counters, CNT_QUEUE_CUR, 1, &st->queue_max);
		tree_insert(&st->queue.waiters, &w->node, key);
	} else {
		__atomic_add_fetch(&ps->queue.length, 1, __ATOMIC_SEQ_CST);
		gauge_add(&ps->be, CNT_QUEUE_CUR, 1, &ps->be_queue_max);
		tree_insert(&ps->queue.waiters, &w->node, key);
	}
	w->since = *waiter_passed(w);
	__atomic_store_n(&w->state, w->server ? QUEUE_ON_SERVER : QUEUE_ON_BACKEND,
			 __ATOMIC_RELEASE);
}

enum queue_result queue_enter(struct queue_waiter *w, struct proxy *be, struct server *srv,
			      int priority_class, int offset_ms)
{
	struct proxy_state *ps = be->state;
	enum queue_result result = QUEUE_WAITING;

	BUG_ON(queue_waiter_state(w) != QUEUE_OUT);
	w->backend = be;
	w->server = srv;
	w->granted = NULL;
	lock_take(&ps->queue.lock);
	if (srv && srv->limits.maxqueue &&
	    __atomic_load_n(&srv->state->queue.length, __ATOMIC_RELAXED) >= srv->limits.maxqueue) {
		lock_drop(&ps->queue.lock);
		return QUEUE_REFUSED;
	}
	waiter_link(w, waiter_key(priority_class, offset_ms));
	/* A slot may have been given back since the caller saw none. */
	if (srv)
		slots_grant(ps, srv);
	else
		slots_grant_all(be);
	if (queue_waiter_state(w) == QUEUE_SLOT_GRANTED)
		result = QUEUE_GRANTED;
	lock_drop(&ps->queue.lock);
	if (result == QUEUE_GRANTED) {
		__atomic_store_n(&w->state, QUEUE_OUT, __ATOMIC_RELAXED);
		slot_count(w->granted, 1);
	}
	return result;
}

enum queue_state queue_leave(struct queue_waiter *w)
{
	struct proxy_state *ps;
	enum queue_state state;

	if (queue_waiter_state(w) == QUEUE_OUT)
		return QUEUE_OUT;
	ps = w->backend->state;
	lock_take(&ps->queue.lock);
	state = queue_waiter_state(w);
	if (state == QUEUE_ON_SERVER || state == QUEUE_ON_BACKEND) {
		waiter_unlink(w);
		state = QUEUE_OUT;
	}
	__atomic_store_n(&w->state, QUEUE_OUT, __ATOMIC_RELAXED);
	lock_drop(&ps->queue.lock);
	if (state == QUEUE_SLOT_GRANTED)
		slot_count(w->granted, 1);
	return state;
}

unsigned queue_redistribute(struct server *srv)
{
	struct proxy_state *ps = srv->proxy->state;
	struct tree_node *node;
	unsigned count = 0;

	if (!__atomic_load_n(&srv->state->queue.length, __ATOMIC_SEQ_CST))
		return 0;
	lock_take(&ps->queue.lock);
	while ((node = tree_first(&srv->state->queue.waiters)) != NULL) {
		waiter_finish(container_of(node, struct queue_waiter, node), QUEUE_RETURNED);
		count++;
	}
	lock_drop(&ps->queue.lock);
	return count;
}

unsigned queue_length_backend(const struct proxy *be)
{
	return __atomic_load_n(&be->state->queue.length, __ATOMIC_RELAXED);
}
