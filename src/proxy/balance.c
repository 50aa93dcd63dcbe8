/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "proxy/balance.h"
#include <stdlib.h>
#include <string.h>
#include "balance_priv.h"
#include "base/bug.h"
#include "core/mailbox.h"
#include "lock_priv.h"
#include "proxy/proxy.h"
#include "proxy/queue.h"
#include "proxy/server.h"

static const struct balance_algorithm *const algorithms[] = {
	&balance_roundrobin, &balance_leastconn, &balance_static_rr, &balance_random,
	&balance_first, &balance_sticky, &balance_source, &balance_uri, &balance_url_param,
	&balance_hdr, &balance_rdp_cookie, &balance_hash,
};

const struct balance_algorithm *balance_find(const char *name)
{
	for (unsigned i = 0; i < ARRAY_LEN(algorithms); i++)
		if (strcmp(algorithms[i]->name, name) == 0)
			return algorithms[i];
	return NULL;
}

bool balance_has_dynamic_weights(const struct proxy *be)
{
	const struct balance_algorithm *a = be->algorithm;

	return !a || a->dynamic_weights || (a->hashes && be->hash.method == HASH_CONSISTENT);
}

/* --- who is in use -------------------------------------------------------------------------- */

/* Publishes the weight of each entry: usable active servers, or when there is none the first
 * usable backup (all with option allbackups).
 */
static void entries_select(struct balance *b)
{
	unsigned active = 0, backup = 0, in_use = 0, total = 0;
	bool all = b->proxy->options & PROXY_OPT_ALLBACKUPS;

	for (unsigned i = 0; i < b->count; i++) {
		const struct server *srv = b->entries[i].server;

		b->entries[i].own = server_is_usable(srv) ? server_weight(srv) : 0;
		if (!b->entries[i].own)
			continue;
		if (srv->backup)
			backup++;
		else
			active++;
	}
	for (unsigned i = 0; i < b->count; i++) {
		bool chosen = b->entries[i].server->backup == !active && (active || all || !in_use);
		unsigned weight = chosen ? b->entries[i].own : 0;

		__atomic_store_n(&b->entries[i].weight, weight, __ATOMIC_RELAXED);
		in_use += weight > 0;
		total += weight;
	}
	__atomic_store_n(&b->active, active, __ATOMIC_RELAXED);
	__atomic_store_n(&b->backup, backup, __ATOMIC_RELAXED);
	__atomic_store_n(&b->in_use, in_use, __ATOMIC_RELAXED);
	__atomic_store_n(&b->total_weight, total, __ATOMIC_RELAXED);
}

void balance_update(struct proxy *be)
{
	struct balance *b = be->balance;

	if (!b)
		return;
	lock_take(&be->state->change_lock);
	entries_select(b);
	b->algorithm->update(b);
	lock_drop(&be->state->change_lock);
}

void balance_put_aside(struct proxy *be)
{
	if (!be->balance)
		return;
	balance_update(be);
	__atomic_store_n(&be->balance->aside, true, __ATOMIC_RELEASE);
}

void balance_load(struct server *srv, unsigned count)
{
	struct balance *b = srv->proxy->balance;

	if (b && unlikely(__atomic_load_n(&b->aside, __ATOMIC_ACQUIRE))) {
		srv = server_heir(proxies_current(), srv);
		b = srv ? srv->proxy->balance : NULL;
	}
	if (b && b->algorithm->load)
		b->algorithm->load(b, srv, count);
}

/* --- life ----------------------------------------------------------------------------------- */

bool balance_new(struct proxy *be)
{
	struct balance *b = calloc(1, sizeof(*b));
	struct server *srv;
	unsigned i = 0;

	if (!b)
		return false;
	b->proxy = be;
	b->algorithm = be->algorithm ? be->algorithm : &balance_roundrobin;
	b->count = be->server_count;
	b->entries = calloc(b->count ? b->count : 1, sizeof(*b->entries));
	if (!b->entries) {
		free(b);
		return false;
	}
	list_for_each(srv, &be->servers, link) {
		BUG_ON(i >= b->count);
		b->entries[i] = (struct server_balance){ .server = srv, .balance = b, .index = i };
		srv->balance = &b->entries[i];
		srv->index = i++;
	}
	entries_select(b);
	if (!b->algorithm->init(b)) {
		free(b->entries);
		free(b);
		return false;
	}
	be->balance = b;
	b->algorithm->update(b);
	return true;
}

void balance_free(struct proxy *be)
{
	struct balance *b = be->balance;
	struct server *srv;

	if (!b)
		return;
	be->balance = NULL;
	list_for_each(srv, &be->servers, link)
		srv->balance = NULL;
	b->algorithm->fini(b);
	free(b->entries);
	free(b);
}

/* --- questions ------------------------------------------------------------------------------ */

struct server *balance_pick(struct proxy *be, const struct balance_pick_args *args)
{
	struct balance *b = be->balance;
	struct balance_pick_args again;
	struct server *srv;

	if (unlikely(!b))
		return NULL;
	srv = b->algorithm->pick(b, args);
	if (likely(srv) || !args->avoid)
		return srv;
	/* The one to avoid is still better than none. */
	again = (struct balance_pick_args){ .expr = args->expr };
	/* no algorithm returns a part of its arguments */
	/* cppcheck-suppress returnDanglingLifetime */
	return b->algorithm->pick(b, &again);
}

bool balance_has_usable(const struct proxy *be)
{
	return be->balance && __atomic_load_n(&be->balance->in_use, __ATOMIC_RELAXED);
}

unsigned balance_active_count(const struct proxy *be)
{
	return be->balance ? __atomic_load_n(&be->balance->active, __ATOMIC_RELAXED) : 0;
}

unsigned balance_backup_count(const struct proxy *be)
{
	return be->balance ? __atomic_load_n(&be->balance->backup, __ATOMIC_RELAXED) : 0;
}

unsigned balance_usable_count(const struct proxy *be)
{
	return be->balance ? __atomic_load_n(&be->balance->in_use, __ATOMIC_RELAXED) : 0;
}

unsigned balance_total_weight(const struct proxy *be)
{
	return be->balance ? __atomic_load_n(&be->balance->total_weight, __ATOMIC_RELAXED) : 0;
}
