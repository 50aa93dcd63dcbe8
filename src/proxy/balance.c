/* SPDX-License-Identifier: GPL-2.0-or-later */
/* balance.c - chooses the server for the next request */
#include "proxy/balance.h"
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "core/lock.h"
#include "core/mailbox.h"
#include "proxy/proxy.h"
#include "proxy/queue.h"
#include "proxy/server.h"
#include "balance_priv.h"

/* At least so many servers can be added without making a new table. */
#define SPARE_ENTRIES 2

static const struct balance_algorithm *const algorithms[] = {
#define X(name) &balance_##name,
	BALANCE_ALGORITHMS(X)
#undef X
};

const struct balance_algorithm *balance_at(unsigned i)
{
	return i < ARRAY_LEN(algorithms) ? algorithms[i] : NULL;
}

const struct balance_algorithm *balance_find(const char *name)
{
	for (unsigned i = 0; i < ARRAY_LEN(algorithms); i++)
		if (strcmp(algorithms[i]->name, name) == 0)
			return algorithms[i];
	return NULL;
}

bool balance_has_dynamic_weights(const struct proxy *be)
{
	const struct balance_algorithm *a = be->balancing.algorithm;

	return !a || a->dynamic_weights ||
	       (a->hashes && be->balancing.hash.method == HASH_CONSISTENT);
}

/* The table in force. */
static struct balance *balance_of(const struct proxy *be)
{
	return __atomic_load_n(&be->balance, __ATOMIC_ACQUIRE);
}

/* --- servers in use ------------------------------------------------------------------------- */

/* Is any server on its way to full weight? */
static bool is_warming(const struct balance *b)
{
	for (unsigned i = 0; i < b->count; i++)
		if (!b->entries[i].vacant &&
		    server_weight_sixteenths(b->entries[i].server) !=
		    server_weight(b->entries[i].server) * SERVER_WARM)
			return true;
	return false;
}

/* In sixteenths while a server starts slowly, if the algorithm can use them. */
static unsigned weight_of(const struct balance *b, const struct server *srv)
{
	return b->warming ? server_weight_sixteenths(srv) : server_weight(srv);
}

/* A tier that has less of its weight than this leaves work to the next. */
#define TIER_WELL_PERCENT 70

/* The last tier that serves now: together with those before it, it has enough usable weight. */
static int64_t tiers_in_use(const struct balance *b)
{
	uint64_t all[SERVER_TIERS_MAX + 1] = { 0 }, usable[SERVER_TIERS_MAX + 1] = { 0 };
	uint64_t has = 0, wants = 0;

	for (unsigned i = 0; i < b->count; i++) {
		const struct server_balance *e = &b->entries[i];

		if (e->vacant || e->server->backup)
			continue;
		all[e->server->tier] += e->server->uweight;
		usable[e->server->tier] += e->own ? server_weight(e->server) : 0;
	}
	for (int64_t t = 1; t < SERVER_TIERS_MAX; t++) {
		/* those behind stand in for what the first one lacks */
		wants = wants ? wants : all[t];
		has += usable[t];
		if (wants && has * 100 >= wants * TIER_WELL_PERCENT)
			return t;
	}
	return SERVER_TIERS_MAX;
}

/* Leaves those out whose tier is not needed. */
static void tiers_select(struct balance *b)
{
	int64_t last = tiers_in_use(b);

	for (unsigned i = 0; i < b->count; i++)
		if (!b->entries[i].server->backup && b->entries[i].server->tier > last)
			b->entries[i].own = 0;
}

/* Finds the usable servers and what each would weigh. With <ejected>, those count as well. */
static void entries_weigh(struct balance *b, bool ejected, unsigned *active, unsigned *backup)
{
	*active = *backup = 0;
	for (unsigned i = 0; i < b->count; i++) {
		const struct server *srv = b->entries[i].server;
		bool usable = !b->entries[i].vacant &&
			(server_is_usable(srv) || (ejected && server_is_only_ejected(srv)));

		b->entries[i].own = usable ? weight_of(b, srv) : 0;
		if (b->entries[i].own)
			*(srv->backup ? backup : active) += 1;
	}
}

/* Publishes the weight of each entry: usable active servers, or when there is none the first
 * usable backup (all with option allbackups).
 */
static void entries_select(struct balance *b)
{
	unsigned active, backup, in_use = 0, total = 0;
	bool all = b->proxy->options & PROXY_OPT_ALLBACKUPS;

	__atomic_store_n(&b->warming, balance_has_dynamic_weights(b->proxy) && is_warming(b),
			 __ATOMIC_RELAXED);
	entries_weigh(b, false, &active, &backup);
	/* one that was ejected is better than none: it comes back (server_publish()) */
	if (!active && b->proxy->outlier.interval_ms)
		entries_weigh(b, true, &active, &backup);
	if (b->has_tiers)
		tiers_select(b);
	for (unsigned i = 0; i < b->count; i++) {
		unsigned weight = b->entries[i].own;

		if (weight && (b->proxy->direct || b->entries[i].server->backup != !active ||
			       (!active && !all && in_use)))
			weight = 0;
		__atomic_store_n(&b->entries[i].weight, weight, __ATOMIC_RELAXED);
		__atomic_store_n(&b->entries[i].before, total, __ATOMIC_RELAXED);
		in_use += weight > 0;
		total += weight;
	}
	__atomic_store_n(&b->active, active, __ATOMIC_RELAXED);
	__atomic_store_n(&b->backup, backup, __ATOMIC_RELAXED);
	__atomic_store_n(&b->in_use, in_use, __ATOMIC_RELAXED);
	__atomic_store_n(&b->total_weight, total, __ATOMIC_RELAXED);
}

/* Under the lock: servers or weights are other ones. */
static void tell_algorithm(struct balance *b)
{
	if (b->algorithm->update)
		b->algorithm->update(b);
}

void balance_update(struct proxy *be)
{
	struct balance *b;

	if (!balance_of(be))
		return;
	lock_take(&be->state->change_lock);
	b = be->balance;
	entries_select(b);
	tell_algorithm(b);
	lock_drop(&be->state->change_lock);
}

void balance_put_aside(struct proxy *be, struct server *(*heir)(const struct server *srv))
{
	if (!be->balance)
		return;
	balance_update(be);
	__atomic_store_n(&be->balance->heir, heir, __ATOMIC_RELEASE);
}

void balance_load(struct server *srv, unsigned count)
{
	struct balance *b = balance_of(srv->proxy);

	if (b && unlikely(__atomic_load_n(&b->heir, __ATOMIC_ACQUIRE) != NULL)) {
		srv = b->heir(srv);
		b = srv ? balance_of(srv->proxy) : NULL;
	}
	if (b && b->algorithm->load)
		b->algorithm->load(b, srv, count);
}

void balance_observe(const struct server *srv, uint64_t ns)
{
	struct balance *b = balance_of(srv->proxy);

	if (b && b->algorithm->observe)
		b->algorithm->observe(b, srv, ns);
}

/* --- life ----------------------------------------------------------------------------------- */

/* Room for servers that are added at run time, where the algorithm can take them. */
static unsigned room_for(const struct proxy *be, unsigned count)
{
	return balance_has_dynamic_weights(be) ? count + count / 4 + SPARE_ENTRIES : count;
}

/* The entries of <old> (NULL: none) in a table with more room; NULL: no memory. */
static struct balance *balance_make(struct proxy *be, const struct balance *old, unsigned count)
{
	struct balance *b = calloc(1, sizeof(*b) + thread_group_count() * sizeof(b->group[0]));

	if (!b)
		return NULL;
	b->proxy = be;
	b->algorithm = be->balancing.algorithm ? be->balancing.algorithm : &balance_roundrobin;
	b->room = room_for(be, count);
	b->entries = calloc(b->room ? b->room : 1, sizeof(*b->entries));
	if (!b->entries) {
		free(b);
		return NULL;
	}
	for (unsigned i = 0; i < b->room; i++)
		b->entries[i] = (struct server_balance){ .balance = b, .index = i };
	b->count = old ? old->count : 0;
	for (unsigned i = 0; i < b->count; i++) {
		b->entries[i].vacant = old->entries[i].vacant;
		b->entries[i].server = old->entries[i].server;
	}
	b->has_tiers = old && old->has_tiers;
	return b;
}

static void balance_destroy(void *ctx)
{
	struct balance *b = ctx;

	if (b->algorithm->fini)
		b->algorithm->fini(b);
	free(b->entries);
	free(b);
}

/* Makes the algorithm's data once the entries are known; false: no memory, <b> was freed. */
static bool balance_begin(struct balance *b)
{
	entries_select(b);
	if (b->algorithm->init && !b->algorithm->init(b)) {
		free(b->entries);
		free(b);
		return false;
	}
	tell_algorithm(b);
	return true;
}

bool balance_new(struct proxy *be)
{
	struct balance *b = balance_make(be, NULL, be->server_count);
	struct server *srv;

	if (!b)
		return false;
	list_for_each(srv, &be->servers, link) {
		BUG_ON(b->count >= b->room);
		srv->index = b->count;
		b->entries[b->count++].server = srv;
		b->has_tiers |= srv->tier > 1;
	}
	if (!balance_begin(b))
		return false;
	be->balance = b;
	return true;
}

void balance_free(struct proxy *be)
{
	struct balance *b = be->balance;

	be->balance = NULL;
	if (b)
		balance_destroy(b);
}

/* --- servers that come and go --------------------------------------------------------------- */

static void nothing(void *ctx)
{
}

/* A place for one more server, in a larger table if there is none; NULL: no memory. Under the lock.
 */
static struct server_balance *entry_vacant(struct proxy *be)
{
	struct balance *b = be->balance, *larger;

	for (unsigned i = 0; i < b->count; i++)
		if (b->entries[i].vacant)
			return &b->entries[i];
	if (b->count < b->room)
		return &b->entries[b->count];
	larger = balance_make(be, b, b->count + 1);
	if (!larger || !balance_begin(larger))
		return NULL;
	/* a caller that picks uses a table within one turn of its thread */
	__atomic_store_n(&be->balance, larger, __ATOMIC_RELEASE);
	thread_call_all(nothing, balance_destroy, b);
	return &larger->entries[larger->count];
}

bool balance_add(struct server *srv)
{
	struct proxy *be = srv->proxy;
	struct server_balance *e;

	lock_take(&be->state->change_lock);
	e = entry_vacant(be);
	if (e) {
		srv->index = e->index;
		e->vacant = false;
		e->balance->has_tiers |= srv->tier > 1;
		__atomic_store_n(&e->server, srv, __ATOMIC_RELEASE);
		if (e->index == e->balance->count)
			__atomic_store_n(&e->balance->count, e->index + 1, __ATOMIC_RELEASE);
		entries_select(e->balance);
		tell_algorithm(e->balance);
	}
	lock_drop(&be->state->change_lock);
	return e != NULL;
}

/* Its pointer stays: a thread that looked at its weight a moment ago may still follow it. */
void balance_remove(struct server *srv)
{
	struct proxy *be = srv->proxy;

	lock_take(&be->state->change_lock);
	be->balance->entries[srv->index].vacant = true;
	entries_select(be->balance);
	tell_algorithm(be->balance);
	lock_drop(&be->state->change_lock);
}

/* The server that vacant entries have: never used. NULL: no memory. */
static struct server *stand_in_of(struct proxy *be)
{
	struct server *srv = be->run.stand_in;

	if (srv)
		return srv;
	srv = server_new_bare(be, "");
	if (!srv)
		return NULL;
	srv->state = server_state_new(srv);
	if (!srv->state) {
		server_close(srv);
		return NULL;
	}
	srv->state->admin = SERVER_FMAINT;
	srv->state->oper = SERVER_STOPPED;
	be->run.stand_in = srv;
	return srv;
}

bool balance_forget(struct server *srv)
{
	struct proxy *be = srv->proxy;
	struct server *instead = stand_in_of(be);

	if (!instead)
		return false;
	lock_take(&be->state->change_lock);
	for (unsigned i = 0; i < be->balance->count; i++)
		if (be->balance->entries[i].server == srv)
			__atomic_store_n(&be->balance->entries[i].server, instead,
					 __ATOMIC_RELEASE);
	lock_drop(&be->state->change_lock);
	return true;
}

/* --- questions ------------------------------------------------------------------------------ */

struct server *balance_pick(struct proxy *be, const struct balance_pick_args *args)
{
	struct balance *b = balance_of(be);
	struct balance_pick_args again = { .expr = args->expr };
	struct balance_avoid last = { 0 };
	struct server *srv;

	if (unlikely(!b))
		return NULL;
	srv = b->algorithm->pick(b, args);
	if (likely(srv) || !args->avoid)
		return srv;
	/* those to avoid are still better than none: the last one least */
	balance_avoid_add(&last, args->avoid->last);
	again.avoid = &last;
	srv = b->algorithm->pick(b, &again);
	again.avoid = NULL;
	/* no algorithm returns a part of its arguments */
	/* cppcheck-suppress returnDanglingLifetime */
	return srv ? srv : b->algorithm->pick(b, &again);
}

bool balance_has_usable(const struct proxy *be)
{
	const struct balance *b = balance_of(be);

	return b && __atomic_load_n(&b->in_use, __ATOMIC_RELAXED);
}

unsigned balance_active_count(const struct proxy *be)
{
	const struct balance *b = balance_of(be);

	return b ? __atomic_load_n(&b->active, __ATOMIC_RELAXED) : 0;
}

unsigned balance_backup_count(const struct proxy *be)
{
	const struct balance *b = balance_of(be);

	return b ? __atomic_load_n(&b->backup, __ATOMIC_RELAXED) : 0;
}

bool balance_serves(const struct server *srv)
{
	const struct balance *b = balance_of(srv->proxy);
	struct server *(*heir)(const struct server *) =
		b ? __atomic_load_n(&b->heir, __ATOMIC_ACQUIRE) : NULL;
	const struct server *live = heir ? heir(srv) : NULL;

	/* changes are published to the generation in force only */
	if (unlikely(live != NULL)) {
		srv = live;
		b = balance_of(live->proxy);
	}
	return b && srv->index < __atomic_load_n(&b->count, __ATOMIC_ACQUIRE) &&
	       __atomic_load_n(&b->entries[srv->index].weight, __ATOMIC_RELAXED);
}

unsigned balance_usable_count(const struct proxy *be)
{
	const struct balance *b = balance_of(be);

	return b ? __atomic_load_n(&b->in_use, __ATOMIC_RELAXED) : 0;
}

unsigned balance_total_weight(const struct proxy *be)
{
	const struct balance *b = balance_of(be);
	unsigned total;

	if (!b)
		return 0;
	total = __atomic_load_n(&b->total_weight, __ATOMIC_RELAXED);
	return __atomic_load_n(&b->warming, __ATOMIC_RELAXED)
		? (total + SERVER_WARM - 1) / SERVER_WARM : total;
}
