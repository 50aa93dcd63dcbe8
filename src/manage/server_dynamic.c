/* SPDX-License-Identifier: GPL-2.0-or-later */
/* server_dynamic.c - servers that are added and removed at run time
 *
 * The list of a backend's servers is read by every thread without a lock, forwards only. So a new
 * member is complete before the last pointer leads to it, and a removed one keeps its own pointers:
 * a thread that is at it can continue from there. A server added at run time has memory of its own,
 * which is freed when no thread needs it (proxy/walk.h); one of the file is freed with its
 * generation.
 */
#include "server_dynamic_priv.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "check/run.h"
#include "conf/conf.h"
#include "core/lock.h"
#include "manage/stats_history.h"
#include "proxy/balance.h"
#include "proxy/proxy.h"
#include "proxy/queue.h"
#include "proxy/server.h"
#include "proxy/server_event.h"
#include "proxy/walk.h"
#include "tls/tls.h"

/* One change of a list at a time, in the whole process. */
static unsigned changing;

static bool id_is_free(const struct proxy *be, const struct server *self, int id)
{
	const struct server *it;

	list_for_each(it, &be->servers, link)
		if (it != self && it->id == id)
			return false;
	return true;
}

/* Behind the others, complete before any thread sees it. */
static void list_publish(struct proxy *be, struct server *srv)
{
	struct list *last = be->servers.prev;

	srv->link.next = &be->servers;
	srv->link.prev = last;
	be->servers.prev = &srv->link;
	__atomic_store_n(&last->next, &srv->link, __ATOMIC_RELEASE);
	__atomic_store_n(&be->server_count, be->server_count + 1, __ATOMIC_RELAXED);
}

/* Its own pointers stay, for threads that stand on it. */
static void list_withdraw(struct proxy *be, struct server *srv)
{
	srv->link.next->prev = srv->link.prev;
	__atomic_store_n(&srv->link.prev->next, srv->link.next, __ATOMIC_RELEASE);
	__atomic_store_n(&be->server_count, be->server_count - 1, __ATOMIC_RELAXED);
}

static void put_aside(struct proxy *be, struct server *srv)
{
	if (srv->life.own) {
		server_leaves(srv);
		return;
	}
	srv->life.removed_next = be->run.removed;
	be->run.removed = srv;
}

/* Servers that were removed, under `changing`: tells a server from the next one with its number. */
static unsigned removals;

/* Gives a parsed server its number and its state: in maintenance. False: no memory. */
static bool server_begin(struct proxy *be, struct server *srv)
{
	srv->life.revision = removals;
	for (int id = 1; !srv->id_forced && !srv->id; id++)
		srv->id = id_is_free(be, srv, id) ? id : 0;
	srv->state = server_state_new(srv);
	if (!srv->state)
		return false;
	srv->state->admin = (srv->state->admin & ~(unsigned)SERVER_CMAINT) | SERVER_FMAINT;
	srv->state->oper = SERVER_STOPPED;
	/* checks wait for `enable health` and `enable agent` */
	srv->state->check.flags &= ~(unsigned)(CHECK_ENABLED | CHECK_PAUSED);
	srv->state->agent.flags &= CHECK_CONFIGURED | CHECK_AGENT;
	/* and for an address */
	if (srv->disabled || (srv->at.unresolved && srv->checks.health.on))
		srv->state->check.flags |= CHECK_PAUSED;
	srv->state->check.health = 0;
	return true;
}

/* With the lock held. */
static bool server_add_locked(struct proxy *be, char **words, int count, char *error, size_t size)
{
	struct server *srv;

	if (server_find(be, words[1])) {
		snprintf(error, size, "Already exists a server with the same name in backend.");
		return false;
	}
	srv = server_dynamic_parse(be, words, count, error, size);
	if (!srv)
		return false;
	if (!server_begin(be, srv) || !balance_add(srv)) {
		snprintf(error, size, "Out of memory.");
		server_end(srv);
		return false;
	}
	if (!checks_add_server(srv)) {
		snprintf(error, size, "Out of memory.");
		balance_remove(srv);
		put_aside(be, srv);
		return false;
	}
	list_publish(be, srv);
	if (srv->checks.track) {
		check_track_join(srv);
		server_follow(srv, __atomic_load_n(&srv->checks.track->state->admin,
						   __ATOMIC_RELAXED));
	}
	return true;
}

bool server_add(struct proxy *be, char **words, int count, char *error, size_t size)
{
	const struct server *srv;
	bool added;

	if (!balance_has_dynamic_weights(be)) {
		snprintf(error, size, "Backend does not support dynamic servers : backend '%s' "
			 "uses a non dynamic load balancing method.", be->name);
		return false;
	}
	lock_take(&changing);
	added = server_add_locked(be, words, count, error, size);
	lock_drop(&changing);
	srv = added ? server_find(be, words[1]) : NULL;
	if (srv)
		server_event_tell(&(struct server_event){ .kind = SERVER_EVENT_ADD, .srv = srv });
	return added;
}

enum server_removal server_removal_state(const struct server *srv, const char **why)
{
	const struct counter_set *set = &srv->state->counters;

	*why = "This server cannot be removed at runtime due to other configuration elements "
		"pointing to it.";
	if (srv->life.is_referenced || __atomic_load_n(&srv->checks.trackers, __ATOMIC_RELAXED))
		return SERVER_REMOVAL_NEVER;
	*why = "Only servers in maintenance mode can be deleted.";
	if (!(__atomic_load_n(&srv->state->admin, __ATOMIC_RELAXED) & SERVER_MAINT))
		return SERVER_REMOVAL_NEVER;
	*why = "Server still has connections attached to it, cannot remove it.";
	if (counter_read(set, CNT_SESS_CUR) || counter_read(set, CNT_USED_CUR) ||
	    counter_read(set, CNT_IDLE_CUR) || counter_read(set, CNT_SAFE_CUR) ||
	    queue_length_server(srv))
		return SERVER_REMOVAL_LATER;
	return SERVER_REMOVAL_NOW;
}

static server_flush_fn *flush_hook;

void server_set_flush_hook(server_flush_fn *fn)
{
	flush_hook = fn;
}

bool server_flush(struct server *srv, void (*done)(void *ctx), void *ctx)
{
	const struct counter_set *set = &srv->state->counters;
	bool any = counter_read(set, CNT_IDLE_CUR) || counter_read(set, CNT_SAFE_CUR);

	return any && flush_hook && flush_hook(srv, done, ctx);
}

bool server_remove(struct server *srv, const char **error)
{
	struct proxy *be = srv->proxy;
	bool removed = false;

	config_edit_begin();
	lock_take(&changing);
	*error = "No such server.";
	if (server_find(be, srv->name) == srv &&
	    server_removal_state(srv, error) == SERVER_REMOVAL_NOW) {
		removals++;
		__atomic_store_n(&srv->life.is_removed, true, __ATOMIC_RELAXED);
		list_withdraw(be, srv);
		if (srv->checks.track)
			check_track_leave(srv);
		balance_remove(srv);
		checks_remove_server(srv);
		put_aside(be, srv);
		removed = true;
	}
	lock_drop(&changing);
	config_edit_end();
	if (removed) {
		tls_server_leave(server_slots(srv));
		stats_history_forget(srv);
		server_event_tell(&(struct server_event){ .kind = SERVER_EVENT_DEL, .srv = srv });
	}
	return removed;
}
