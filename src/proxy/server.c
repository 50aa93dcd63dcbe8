/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "proxy/server.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "address_priv.h"
#include "base/bug.h"
#include "base/clock.h"
#include "conf/conf.h"
#include "lock_priv.h"
#include "proxy/balance.h"
#include "proxy/proxy.h"
#include "proxy/queue.h"
#include "proxy_priv.h"
#include "server_state_priv.h"

#define SLOTS_OFFSET ((sizeof(struct server) + 15) & ~(size_t)15)

struct slot_area *server_slots(const struct server *srv)
{
	return (struct slot_area *)((char *)(uintptr_t)srv + SLOTS_OFFSET);
}

/* --- life ----------------------------------------------------------------------------------- */

/* What holds without any setting. */
static void server_set_defaults(struct server *srv)
{
	srv->uweight = 1;
	srv->pool_max_conn = -1;
	srv->pool_purge_delay_ms = 5000;
	srv->max_reuse = -1;
}

/* Who takes the servers that are parsed now (at run time); NULL: their backend. */
static __thread struct server **capture;

void server_set_capture(struct server **out)
{
	capture = out;
}

struct server *server_new(struct proxy *px, const char *name)
{
	size_t size = SLOTS_OFFSET + slot_class_size(SLOT_SERVER) + 15;
	char *p = arena_zalloc(&px->config->arena, size);
	const struct server *from = capture ? NULL : px->default_server;
	struct server *srv;

	if (!p)
		return NULL;
	srv = (struct server *)(((uintptr_t)p + 15) & ~(uintptr_t)15);
	if (from)
		*srv = *from;
	else
		server_set_defaults(srv);
	list_init(&srv->link);
	srv->name = name;
	srv->proxy = px;
	srv->state = NULL;
	if (!slot_area_init(SLOT_SERVER, server_slots(srv)))
		return NULL;
	if (from && !slot_area_inherit(SLOT_SERVER, server_slots(srv), server_slots(from))) {
		slot_area_fini(SLOT_SERVER, server_slots(srv));
		return NULL;
	}
	return srv;
}

void server_complete(struct server *srv)
{
	/* limits that complete each other */
	if (srv->minconn > srv->maxconn && !srv->maxconn)
		srv->maxconn = srv->minconn;
	if (!srv->minconn || srv->minconn > srv->maxconn)
		srv->minconn = srv->maxconn;
	if (!srv->source)
		srv->source = srv->proxy->source;
}

void server_link(struct server *srv)
{
	if (capture) {
		*capture = srv;
		return;
	}
	srv->index = srv->proxy->server_count++;
	list_append(&srv->proxy->servers, &srv->link);
}

void server_close(struct server *srv)
{
	server_state_drop(&srv->state);
	slot_area_fini(SLOT_SERVER, server_slots(srv));
}

struct server_state *server_state_new(const struct server *srv)
{
	struct server_state *st = aligned_alloc(64, sizeof(*st));

	if (!st)
		return NULL;
	memset(st, 0, sizeof(*st));
	st->refs = 1;
	st->admin = (srv->disabled ? SERVER_CMAINT | SERVER_FMAINT : 0) |
		    (srv->unresolved ? SERVER_RMAINT : 0);
	st->oper = st->admin & SERVER_MAINT ? SERVER_STOPPED : SERVER_RUNNING;
	st->uweight = srv->uweight;
	st->maxconn = srv->maxconn;
	st->minconn = srv->minconn;
	st->changed_us = clock_read_wall_us();
	if (asprintf(&st->identity, "%s/%s@%s", srv->proxy->name, srv->name,
		     srv->address_text ? srv->address_text : "") < 0)
		st->identity = NULL;
	if (!st->identity || !counter_set_init(&st->counters, CNT_BACK_COUNT) ||
	    !rate_set_init(&st->session_rate) || !time_set_init(&st->times)) {
		server_state_drop(&st);
		return NULL;
	}
	return st;
}

struct server_state *server_state_take(struct server_state *st)
{
	__atomic_add_fetch(&st->refs, 1, __ATOMIC_RELAXED);
	return st;
}

void server_state_drop(struct server_state **pst)
{
	struct server_state *st = *pst;

	*pst = NULL;
	if (!st || __atomic_sub_fetch(&st->refs, 1, __ATOMIC_ACQ_REL))
		return;
	counter_set_fini(&st->counters);
	rate_set_fini(&st->session_rate);
	time_set_fini(&st->times);
	free(st->identity);
	free(st);
}

/* --- looking up ----------------------------------------------------------------------------- */

struct server *server_first(const struct proxy *be)
{
	return list_is_empty(&be->servers) ? NULL : list_first(&be->servers, struct server, link);
}

struct server *server_next(const struct server *srv)
{
	return srv->link.next == &srv->proxy->servers ? NULL
		: list_entry(srv->link.next, struct server, link);
}

struct server *server_find(const struct proxy *be, const char *name)
{
	struct server *srv;
	int id = name[0] == '#' ? atoi(name + 1) : 0;

	list_for_each(srv, &be->servers, link)
		if (name[0] == '#' ? srv->id == id : strcmp(srv->name, name) == 0)
			return srv;
	return NULL;
}

struct server *server_heir(const struct config *cfg, const struct server *srv)
{
	const struct proxy *be = proxy_heir(cfg, srv->proxy);
	struct server *it = be ? server_find(be, srv->name) : NULL;

	return it && it->state == srv->state ? it : NULL;
}

uint64_t server_digest_add(uint64_t digest, const char *word)
{
	do
		digest = (digest ^ (uint8_t)*word) * 0x100000001b3u;
	while (*word++);
	return digest;
}

struct server *server_find_path(struct config *cfg, const char *path, const char **error)
{
	const char *slash = path ? strchr(path, '/') : NULL;
	struct proxy *be;
	struct server *srv;
	char *name;

	if (!slash) {
		*error = "Require 'backend/server'.";
		return NULL;
	}
	name = strndup(path, (size_t)(slash - path));
	be = name ? proxy_find(cfg, name, PROXY_BE) : NULL;
	free(name);
	if (!be) {
		*error = "No such backend.";
		return NULL;
	}
	srv = server_find(be, slash + 1);
	if (!srv)
		*error = "No such server.";
	return srv;
}

/* --- state ---------------------------------------------------------------------------------- */

const char *server_status_name(const struct server *srv)
{
	unsigned admin = __atomic_load_n(&srv->state->admin, __ATOMIC_RELAXED);

	if (admin & SERVER_RMAINT)
		return "MAINT (resolution)";
	if (admin & SERVER_IMAINT)
		return "MAINT (via)";
	if (admin & SERVER_MAINT)
		return "MAINT";
	switch (__atomic_load_n(&srv->state->oper, __ATOMIC_RELAXED)) {
	case SERVER_STOPPED:
		return "DOWN";
	case SERVER_STOPPING:
		return "NOLB";
	default:
		return admin & SERVER_DRAIN ? "DRAIN" : "no check";
	}
}

/* --- changes -------------------------------------------------------------------------------- */

/* Says what a change of administrative state means. */
static void admin_tell(const struct server *srv, unsigned old, unsigned new, unsigned requeued)
{
	const struct proxy *be = srv->proxy;
	unsigned active = balance_active_count(be), backup = balance_backup_count(be);
	unsigned waiting = queue_length_backend(be);

	if (!(old & SERVER_MAINT) && (new & SERVER_MAINT))
		proxy_tell(be, PROXY_EVENT_DOWN, "Server %s/%s is going DOWN for maintenance. %u "
			    "active and %u backup servers left.%s %lld sessions active, %u "
			    "requeued, %u remaining in queue.", be->name, srv->name, active, backup,
			    backup && !active ? " Running on backup." : "",
			    (long long)counter_read(&srv->state->counters, CNT_SESS_CUR), requeued,
			    waiting);
	else if ((old & SERVER_MAINT) && !(new & SERVER_MAINT)) {
		proxy_tell(be, PROXY_EVENT_NOTICE, "Server %s/%s is UP/%s (leaving forced "
			   "maintenance).", be->name, srv->name,
			   new & SERVER_DRAIN ? "DRAIN" : "READY");
		if (new & SERVER_FDRAIN)
			proxy_tell(be, PROXY_EVENT_NOTICE, "Server %s/%s remains in forced drain "
				   "mode.", be->name, srv->name);
	}
	if (old & SERVER_MAINT || new & SERVER_MAINT)
		return;
	if (!(old & SERVER_DRAIN) && (new & SERVER_DRAIN))
		proxy_tell(be, PROXY_EVENT_NOTICE, "Server %s/%s enters drain state. %u active "
			    "and %u backup servers online.%s %u sessions requeued, %u total in "
			    "queue.", be->name, srv->name, active, backup,
			    backup && !active ? " Running on backup." : "", requeued, waiting);
	else if ((old & SERVER_DRAIN) && !(new & SERVER_DRAIN))
		proxy_tell(be, PROXY_EVENT_NOTICE, "Server %s/%s is UP (leaving forced drain).",
			    be->name, srv->name);
}

/* What follows any change of who serves: weights are published, waiters find a server. Returns
 * whether the backend has just lost its last server: to be told behind the change itself.
 */
static bool server_publish(struct server *srv)
{
	struct proxy *be = srv->proxy;
	bool up, down = false;

	balance_update(be);
	up = balance_has_usable(be);
	if (be->state->was_up != (unsigned)up) {
		uint64_t now = clock_read_wall_us();

		if (up)
			be->state->down_ms += (now - be->state->changed_us) / 1000;
		else
			counter_add(&be->state->be, CNT_CHECK_DOWNS, 1);
		down = !up;
		__atomic_store_n(&be->state->changed_us, now, __ATOMIC_RELAXED);
		be->state->was_up = up;
	}
	queue_wake(be, NULL);
	return down;
}

static void no_server_tell(const struct proxy *be)
{
	proxy_tell(be, PROXY_EVENT_NO_SERVER, "%s '%s' has no server available!",
		   proxy_kind_name(be), be->name);
}

static void server_note_change(struct server *srv)
{
	uint64_t now = clock_read_wall_us();

	__atomic_store_n(&srv->state->changed_us, now, __ATOMIC_RELAXED);
}

bool server_set_weight(struct server *srv, const char *text, const char **error)
{
	char *end;
	long v = strtol(text, &end, 10);

	if (end == text) {
		*error = "Empty weight string empty or preceded by garbage";
		return false;
	}
	if (strcmp(end, "%") == 0) {
		if (v < 0) {
			*error = "Relative weight must be positive.";
			return false;
		}
		v = v > 25600 ? 25600 : v;
		v = (long)srv->uweight * v / 100;
		if (v > 256)
			v = 256;
	} else if (*end) {
		*error = "Trailing garbage in weight string";
		return false;
	} else if (v < 0 || v > 256) {
		*error = "Absolute weight can only be between 0 and 256 inclusive.";
		return false;
	}
	if (!balance_has_dynamic_weights(srv->proxy) && v && v != (long)srv->uweight) {
		*error = "Backend is using a static LB algorithm and only accepts weights "
			"'0%' and '100%'.";
		return false;
	}
	__atomic_store_n(&srv->state->uweight, (unsigned)v, __ATOMIC_RELAXED);
	server_publish(srv);
	return true;
}

bool server_set_maxconn(struct server *srv, const char *text, const char **error)
{
	struct server_state *st = srv->state;
	int64_t old = __atomic_load_n(&st->maxconn, __ATOMIC_RELAXED);
	char *end;
	long v = strtol(text, &end, 10);

	if (end == text) {
		*error = "maxconn string empty or preceded by garbage";
		return false;
	}
	if (*end) {
		*error = "Trailing garbage in maxconn string";
		return false;
	}
	if (v < 0) {
		*error = "Value out of range.";
		return false;
	}
	if (!old != !v)
		__atomic_store_n(&st->queue.mixed, true, __ATOMIC_SEQ_CST);
	if (srv->minconn == srv->maxconn || __atomic_load_n(&st->minconn, __ATOMIC_RELAXED) > v)
		__atomic_store_n(&st->minconn, v, __ATOMIC_RELAXED);
	__atomic_store_n(&st->maxconn, v, __ATOMIC_SEQ_CST);
	queue_wake(srv->proxy, srv);
	return true;
}

void server_set_admin(struct server *srv, unsigned set, unsigned clear)
{
	struct server_state *st = srv->state;
	unsigned old, new;
	bool last;

	lock_take(&srv->proxy->state->change_lock);
	old = __atomic_load_n(&st->admin, __ATOMIC_RELAXED);
	new = (old & ~clear) | set;
	__atomic_store_n(&st->admin, new, __ATOMIC_RELAXED);
	if (!(old & SERVER_MAINT) && (new & SERVER_MAINT))
		__atomic_store_n(&st->oper, SERVER_STOPPED, __ATOMIC_RELAXED);
	else if ((old & SERVER_MAINT) && !(new & SERVER_MAINT))
		__atomic_store_n(&st->oper, SERVER_RUNNING, __ATOMIC_RELAXED);
	lock_drop(&srv->proxy->state->change_lock);
	if (old == new)
		return;
	if (!(old & SERVER_MAINT) != !(new & SERVER_MAINT))
		server_note_change(srv);
	last = server_publish(srv);
	admin_tell(srv, old, new, server_is_usable(srv) ? 0 : queue_redistribute(srv));
	if (last)
		no_server_tell(srv->proxy);
}

void server_set_oper(struct server *srv, enum server_oper oper)
{
	if (__atomic_exchange_n(&srv->state->oper, (unsigned)oper, __ATOMIC_RELAXED) ==
	    (unsigned)oper)
		return;
	server_note_change(srv);
	if (server_publish(srv))
		no_server_tell(srv->proxy);
	if (oper == SERVER_STOPPED)
		queue_redistribute(srv);
}

/* Writes the new address for readers of all threads, under the change lock. */
static void address_publish(struct server_state *st, const struct server_addr *addr)
{
	__atomic_add_fetch(&st->address_turn, 1, __ATOMIC_SEQ_CST);
	server_address_copy(&st->address, &addr->sa);
	__atomic_store_n(&st->address_len, addr->len, __ATOMIC_RELEASE);
	__atomic_add_fetch(&st->address_turn, 1, __ATOMIC_SEQ_CST);
}

/* The port as users write it: with its sign when it is an offset. */
static void port_text(char *to, size_t size, int port, bool offset)
{
	snprintf(to, size, offset ? "%+d" : "%d", port);
}

bool server_set_address(struct server *srv, const char *address, const char *port, char *message,
			size_t size)
{
	char old_ip[64], new_ip[64], port_part[80] = "", ip_part[160] = "", was[16], now[16];
	struct server_addr addr;
	struct address parsed;
	int new_port;

	server_address(srv, &addr);
	if (addr.sa.ss_family != AF_INET && addr.sa.ss_family != AF_INET6) {
		snprintf(message, size, "Update for the current server address family is only "
			 "supported through configuration file.");
		return false;
	}
	new_port = address_port((struct sockaddr *)&addr.sa);
	port_text(was, sizeof(was), new_port, false);
	address_ip_text((struct sockaddr *)&addr.sa, old_ip, sizeof(old_ip));
	if (address) {
		if (!address_parse(address, ADDRESS_NO_NAMES | ADDRESS_PORT_NONE, &parsed)) {
			snprintf(message, size, "Invalid addr '%s'", address);
			return false;
		}
		address_ip_text((struct sockaddr *)&parsed.addr.sa, new_ip, sizeof(new_ip));
		if (strcmp(old_ip, new_ip) != 0)
			snprintf(ip_part, sizeof(ip_part), "IP changed from '%s' to '%s'", old_ip,
				 new_ip);
		addr = parsed.addr;
	}
	if (port) {
		char *end;
		long v = strtol(port, &end, 10);

		if (!*port || *end || *port == '+' || *port == '-') {
			snprintf(message, size, *port == '+' || *port == '-'
				 ? "port offsets cannot be set at run time ('%s')"
				 : "problem converting port '%s' to an int", port);
			return false;
		}
		if (v < 0 || v > 65535) {
			snprintf(message, size, "invalid port '%s'", port);
			return false;
		}
		port_text(now, sizeof(now), (int)v, false);
		if (v != new_port)
			snprintf(port_part, sizeof(port_part), "port changed from '%s' to '%s'",
				 was, now);
		new_port = (int)v;
	}
	if (!*ip_part && !*port_part) {
		snprintf(message, size, "nothing changed");
		return true;
	}
	address_set_port((struct sockaddr *)&addr.sa, new_port);
	lock_take(&srv->proxy->state->change_lock);
	address_publish(srv->state, &addr);
	lock_drop(&srv->proxy->state->change_lock);
	if (address && __atomic_load_n(&srv->state->admin, __ATOMIC_RELAXED) & SERVER_RMAINT)
		server_set_admin(srv, 0, SERVER_RMAINT);
	snprintf(message, size, "%s%s%s by 'stats socket command'", ip_part,
		 *ip_part && *port_part ? ", " : "", port_part);
	return true;
}
