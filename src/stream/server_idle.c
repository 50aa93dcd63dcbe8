/* SPDX-License-Identifier: GPL-2.0-or-later */
/* server_idle.c - idle connections to servers
 *
 * They wait in one list per server and thread, newest first: the newest is the least likely to be
 * closed by the server meanwhile, and its memory is warm. A timer per list closes those that were
 * not needed during a whole pool-purge-delay: as many as the lowest length of the list in that
 * time.
 *
 * A thread keeps no more of them than it had in use at once since the last purge but one: under
 * "http-reuse safe" each client's first request opens a connection, and without this limit all of
 * them would accumulate until descriptors run out. Two more limits count the descriptors of the
 * process: beyond tune.pool-low-fd-ratio no connection is kept, beyond tune.pool-high-fd-ratio a
 * new one replaces an idle one of its thread.
 */
#include <stdlib.h>
#include "base/bug.h"
#include "base/clock.h"
#include "conf/conf.h"
#include "core/fd.h"
#include "core/thread.h"
#include "proxy/walk.h"
#include "stream/process.h"
#include "server_conn_priv.h"

/* In a server's slot: one list per thread, made on first use. */
struct server_pool {
	struct idle_list **lists; /* thread_count() of them; both levels atomic */
	unsigned attached;        /* atomic: rhttp@: connections that rules attached */
};

static struct slot server_pool_slot;
static int keep_below = INT32_MAX;  /* descriptors, tune.pool-low-fd-ratio */
static int evict_above = INT32_MAX; /* descriptors, tune.pool-high-fd-ratio */
static __thread struct list idle_lists; /* those of this thread that are not empty */

static void pool_slot_fini(void *data)
{
	struct server_pool *p = data;

	if (!p->lists)
		return;
	for (unsigned i = 0; i < thread_count(); i++)
		free(p->lists[i]);
	free(p->lists);
}

static bool pool_slot_inherit(void *data, const void *from)
{
	return true; /* nothing of it is configuration */
}

static struct slot server_pool_slot = {
	.of = SLOT_SERVER, .size = sizeof(struct server_pool),
	.fini = pool_slot_fini, .inherit = pool_slot_inherit,
};

static void conn_figures(const struct server *srv, unsigned thread,
			 struct server_conn_figures *out);
static void forget_server(struct server *srv);

void server_conn_register(void)
{
	slot_register(&server_pool_slot);
	server_set_conn_figures_hook(conn_figures);
	proxies_set_forget_hook(forget_server);
}

void stream_set_idle_descriptors(int low, int high)
{
	keep_below = low;
	evict_above = high;
}

/* --- idle lists ------------------------------------------------------------------------------ */

static void idle_purge(struct timer *t);

struct idle_list *idle_list_get(struct server *srv, bool make)
{
	struct server_pool *p = slot_of(&server_pool_slot, server_slots(srv));
	struct idle_list **lists = __atomic_load_n(&p->lists, __ATOMIC_ACQUIRE), **none = NULL;
	struct idle_list *l;

	if (!lists) {
		if (!make)
			return NULL;
		lists = calloc(thread_count(), sizeof(*lists));
		if (!lists)
			return NULL;
		if (!__atomic_compare_exchange_n(&p->lists, &none, lists, false, __ATOMIC_ACQ_REL,
						 __ATOMIC_ACQUIRE)) {
			free(lists);
			lists = none;
		}
	}
	l = lists[thread_id];
	if (l || !make)
		return l;
	l = calloc(1, sizeof(*l));
	if (!l)
		return NULL;
	list_init(&l->conns);
	list_init(&l->roomy);
	list_init(&l->thread_link);
	timer_init(&l->timer, idle_purge);
	l->server = srv;
	__atomic_store_n(&lists[thread_id], l, __ATOMIC_RELEASE);
	return l;
}

static struct idle_list *idle_list_of(const struct server *srv, unsigned thread)
{
	struct server_pool *p = slot_of(&server_pool_slot, server_slots(srv));
	struct idle_list **lists = __atomic_load_n(&p->lists, __ATOMIC_ACQUIRE);

	return lists ? __atomic_load_n(&lists[thread], __ATOMIC_ACQUIRE) : NULL;
}

unsigned idle_count_of(const struct server *srv, unsigned thread)
{
	struct idle_list *l = idle_list_of(srv, thread);

	return l ? __atomic_load_n(&l->count, __ATOMIC_RELAXED) : 0;
}

static void conn_figures(const struct server *srv, unsigned thread,
			 struct server_conn_figures *out)
{
	*out = (struct server_conn_figures){ .idle = idle_count_of(srv, thread) };
	for (unsigned i = 0; i < thread_count(); i++) {
		struct idle_list *l = idle_list_of(srv, i);
		unsigned peak = l ? __atomic_load_n(&l->peak, __ATOMIC_RELAXED) : 0;
		unsigned before = l ? __atomic_load_n(&l->peak_before, __ATOMIC_RELAXED) : 0;

		out->most_used += l ? __atomic_load_n(&l->most, __ATOMIC_RELAXED) : 0;
		out->needed += peak > before ? peak : before;
	}
}

void idle_attached_add(const struct server *srv, int n)
{
	struct server_pool *p = slot_of(&server_pool_slot, server_slots(srv));

	__atomic_add_fetch(&p->attached, n, __ATOMIC_RELAXED);
}

unsigned server_conn_attached(const struct server *srv)
{
	struct server_pool *p = slot_of(&server_pool_slot, server_slots(srv));

	return __atomic_load_n(&p->attached, __ATOMIC_RELAXED);
}

unsigned server_conn_idle_count(const struct server *srv)
{
	unsigned n = 0;

	for (unsigned i = 0; i < thread_count(); i++)
		n += idle_count_of(srv, i);
	return n;
}

void idle_leave(struct server_conn *sc)
{
	struct idle_list *l = sc->idle;

	if (list_is_linked(&sc->link))
		list_remove(&sc->link);
	if (sc->is_kept)
		counter_add(&sc->server->state->counters, CNT_PRIVATE_CUR, -1);
	sc->is_kept = false;
	if (!l)
		return;
	sc->idle = NULL;
	__atomic_store_n(&l->count, l->count - 1, __ATOMIC_RELAXED);
	if (l->count < l->low)
		l->low = l->count;
	counter_add(&sc->server->state->counters, sc->proven ? CNT_SAFE_CUR : CNT_IDLE_CUR, -1);
	if (l->count)
		return;
	timer_cancel(&l->timer);
	list_remove(&l->thread_link);
}

static void idle_arm(struct idle_list *l)
{
	int64_t ms = l->server->idle.purge_delay_ms;

	l->low = l->count;
	/* (what was attached is for its other end to close) */
	if (l->count && ms > 0 && !l->server->is_reverse)
		timer_set(&l->timer, clock_now_ms() + (uint64_t)ms);
}

void idle_put(struct idle_list *l, struct server_conn *sc)
{
	sc->session = NULL;
	sc->idle = l;
	list_prepend(&l->conns, &sc->link);
	__atomic_store_n(&l->count, l->count + 1, __ATOMIC_RELAXED);
	counter_add(&sc->server->state->counters, sc->proven ? CNT_SAFE_CUR : CNT_IDLE_CUR, 1);
	if (!list_is_linked(&l->thread_link))
		list_append(&idle_lists, &l->thread_link);
	if (!timer_is_set(&l->timer))
		idle_arm(l);
}

void idle_use_begin(struct server_conn *sc)
{
	struct idle_list *l = idle_list_get(sc->server, true);

	if (!l)
		return; /* no memory: it will not be kept either */
	sc->used = l;
	counter_add(&sc->server->state->counters, CNT_USED_CUR, 1);
	if (++l->used > l->peak)
		__atomic_store_n(&l->peak, l->used, __ATOMIC_RELAXED);
	if (l->used > l->most)
		__atomic_store_n(&l->most, l->used, __ATOMIC_RELAXED);
}

void idle_use_end(struct server_conn *sc)
{
	if (!sc->used)
		return;
	sc->used->used--;
	sc->used = NULL;
	counter_add(&sc->server->state->counters, CNT_USED_CUR, -1);
}

void idle_close(struct server_conn *sc)
{
	sc->mux->kind->back_close(sc->mux);
}

/* Closes half of the connections that were not needed for a whole period, at least one. */
static void idle_purge(struct timer *t)
{
	struct idle_list *l = container_of(t, struct idle_list, timer);
	struct config *cfg;
	unsigned n = (l->low + 1) / 2;

	if (list_is_empty(&l->conns))
		return;
	/* closing the last one may let the generation go */
	cfg = config_take(list_first(&l->conns, struct server_conn, link)->config);
	while (n-- && !list_is_empty(&l->conns)) {
		struct server_conn *sc = list_last(&l->conns, struct server_conn, link);

		idle_leave(sc);
		idle_close(sc);
	}
	__atomic_store_n(&l->peak_before, l->peak, __ATOMIC_RELAXED);
	__atomic_store_n(&l->peak, l->used, __ATOMIC_RELAXED);
	idle_arm(l);
	config_drop(&cfg);
}

void server_conn_close_idle(struct server *srv)
{
	struct idle_list *l = idle_list_get(srv, false);
	struct config *cfg;

	if (!l || list_is_empty(&l->conns))
		return;
	cfg = config_take(srv->proxy->config);
	while (!list_is_empty(&l->conns)) {
		struct server_conn *sc = list_last(&l->conns, struct server_conn, link);

		idle_leave(sc);
		idle_close(sc);
	}
	config_drop(&cfg);
}

/* The timer of this thread's list runs on when it is empty. */
static void forget_server(struct server *srv)
{
	struct idle_list *l = idle_list_get(srv, false);

	if (l)
		timer_cancel(&l->timer);
}

bool server_conn_thread_init(void)
{
	list_init(&idle_lists);
	return true;
}

void server_conn_thread_fini(void)
{
	while (!list_is_empty(&idle_lists)) {
		struct idle_list *l = list_first(&idle_lists, struct idle_list, thread_link);
		struct server_conn *sc = list_first(&l->conns, struct server_conn, link);
		struct config *cfg = config_take(sc->config);

		idle_leave(sc);
		idle_close(sc);
		config_drop(&cfg);
	}
}

/* How many idle connections are of use: a purge begins a period whose peak is not known yet. */
static unsigned idle_needed(const struct idle_list *l)
{
	return l->peak > l->peak_before ? l->peak : l->peak_before;
}

unsigned idle_max(const struct server *srv)
{
	int64_t max = srv->pool.max_conn;
	unsigned n = thread_count();

	if (max < 0)
		return UINT32_MAX;
	return (unsigned)((max + n - 1) / n);
}

bool idle_has_room(const struct idle_list *l)
{
	return l->count < idle_needed(l) && l->count < idle_max(l->server) &&
	       fd_count() < keep_below;
}

void idle_evict(void)
{
	struct idle_list *l;
	struct server_conn *sc;
	struct config *cfg;

	if (likely(fd_count() <= evict_above))
		return;
	list_for_each(l, &idle_lists, thread_link)
		if (!l->server->is_reverse)
			break;
	if (&l->thread_link == &idle_lists)
		return;
	sc = list_last(&l->conns, struct server_conn, link);
	cfg = config_take(sc->config);
	idle_leave(sc);
	idle_close(sc);
	config_drop(&cfg);
}

void idle_follow(void (*follow)(struct idle_list *l))
{
	struct idle_list *l, *next;

	list_for_each_safe(l, next, &idle_lists, thread_link)
		if (l->server->proxy->config != proxies_current())
			follow(l);
}
