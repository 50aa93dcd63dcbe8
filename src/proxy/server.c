/* SPDX-License-Identifier: GPL-2.0-or-later */
/* server.c - a server of a backend: its settings, and its state, which outlives a reload */
#include "proxy/server.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "base/clock.h"
#include "base/history.h"
#include "base/num.h"
#include "conf/conf.h"
#include "core/lock.h"
#include "expr/expr.h"
#include "proxy/address.h"
#include "proxy/proxy.h"
#include "proxy_priv.h"
#include "server_priv.h"
#include "server_state_priv.h"

#define LINE_SIZE 64
#define SLOTS_OFFSET ((sizeof(struct server) + 15) & ~(size_t)15)

struct slot_area *server_slots(const struct server *srv)
{
	return (struct slot_area *)((char *)(uintptr_t)srv + SLOTS_OFFSET);
}

struct server *server_of_slots(const struct slot_area *slots)
{
	return (struct server *)((char *)(uintptr_t)slots - SLOTS_OFFSET);
}

/* --- life ----------------------------------------------------------------------------------- */

/* What holds without any setting. */
static void server_set_defaults(struct server *srv)
{
	srv->uweight = 1;
	srv->tier = 1;
	srv->pool.max_conn = -1;
	srv->idle.purge_delay_ms = 5000;
	srv->pool.max_reuse = -1;
	server_checks_set_defaults(&srv->checks);
}

/* Where the servers go that are parsed now (at run time); NULL: to their backend. */
static __thread struct server **capture;

void server_set_capture(struct server **out)
{
	capture = out;
}

static size_t size_of_server(void)
{
	return SLOTS_OFFSET + slot_class_size(SLOT_SERVER) + LINE_SIZE - 1;
}

/* With the settings of <from>; NULL: those that hold without any. */
static struct server *server_make(struct proxy *px, const char *name, const struct server *from)
{
	char *p = arena_zalloc(capture ? &px->config->arena : proxy_arena(px),
			       size_of_server());
	struct server *srv;

	if (!p)
		return NULL;
	srv = (struct server *)(((uintptr_t)p + LINE_SIZE - 1) & ~(uintptr_t)(LINE_SIZE - 1));
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

struct server *server_new(struct proxy *px, const char *name)
{
	return server_make(px, name, capture ? NULL : px->dflt.server);
}

struct server *server_new_bare(struct proxy *px, const char *name)
{
	return server_make(px, name, NULL);
}

bool server_address_is_any(const struct sockaddr *sa)
{
	if (sa->sa_family == AF_INET)
		return ((const struct sockaddr_in *)sa)->sin_addr.s_addr == INADDR_ANY;
	return sa->sa_family == AF_INET6 &&
	       IN6_IS_ADDR_UNSPECIFIED(&((const struct sockaddr_in6 *)sa)->sin6_addr);
}

void server_set_line_address(struct server *srv, const struct sockaddr *sa, socklen_t len)
{
	srv->at.sa = sa;
	srv->at.len = len;
	srv->at.is_any = server_address_is_any(sa);
}

void server_complete(struct server *srv)
{
	/* limits that complete each other */
	if (srv->limits.minconn > srv->limits.maxconn && !srv->limits.maxconn)
		srv->limits.maxconn = srv->limits.minconn;
	if (!srv->limits.minconn || srv->limits.minconn > srv->limits.maxconn)
		srv->limits.minconn = srv->limits.maxconn;
	if (!srv->source)
		srv->source = srv->proxy->source;
}

void server_sends_no_header(const struct server *srv, struct diag_list *diags)
{
	struct diag_place place = { .file = srv->place.file, .line = srv->place.line };

	if (srv->send_proxy)
		diag_add(diags, DIAG_WARNING, &place, NULL, "'server %s/%s' : 'send-proxy*' has no "
			 "effect here: no PROXY protocol header is sent.", srv->proxy->name,
			 srv->name);
}

void server_resolve_once(struct config *cfg, struct server *srv, struct diag_list *diags)
{
	struct diag_place place = { .file = srv->place.file, .line = srv->place.line };
	struct sockaddr *copy = NULL;
	struct address a;
	bool good = address_parse(srv->at.text, ADDRESS_UNIX, &a);

	if (good)
		copy = arena_alloc(&cfg->arena, a.addr.len);
	if (!copy) {
		diag_add(diags, DIAG_ALERT, &place, NULL, "'server %s/%s' : %s",
			 srv->proxy->name, srv->name, good ? "out of memory" : a.error);
		return;
	}
	memcpy(copy, &a.addr.sa, a.addr.len);
	server_set_line_address(srv, copy, a.addr.len);
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

/* Room for names, addresses and the like. */
#define OWN_ROOM 256

struct server_own *server_own_new(void)
{
	struct server_own *own = calloc(1, sizeof(*own));

	if (own)
		arena_init(&own->memory, size_of_server() + OWN_ROOM);
	return own;
}

void server_own_free(struct server_own *own)
{
	arena_fini(&own->memory);
	expr_owned_free(own->owned);
	free(own);
}

void server_end(struct server *srv)
{
	struct server_own *own = srv->life.own;

	server_close(srv);
	if (own)
		server_own_free(own);
}

/* A zeroed state and its shards, in one block: servers are many. */
static struct server_state *state_alloc(void)
{
	size_t counters = counter_set_size(CNT_BACK_COUNT), lines = shard_lines_size();
	size_t size = sizeof(struct server_state) + counters + 2 * lines;
	struct server_state *st = aligned_alloc(64, size);
	char *at;

	if (!st)
		return NULL;
	memset(st, 0, size);
	at = (char *)(st + 1);
	counter_set_place(&st->counters, CNT_BACK_COUNT, at);
	rate_set_place(&st->session_rate, at + counters);
	time_set_place(&st->times, at + counters + lines);
	return st;
}

struct server_state *server_state_new(const struct server *srv)
{
	struct server_state *st = state_alloc();

	if (!st)
		return NULL;
	st->refs = 1;
	st->admin = (srv->disabled ? SERVER_CMAINT | SERVER_FMAINT : 0) |
		    (srv->at.unresolved ? SERVER_RMAINT : 0);
	st->oper = st->admin & SERVER_MAINT ? SERVER_STOPPED : SERVER_RUNNING;
	st->uweight = srv->uweight;
	st->warm = SERVER_WARM;
	st->maxconn = srv->limits.maxconn;
	st->minconn = srv->limits.minconn;
	st->changed_us = clock_read_wall_us();
	check_states_init(srv, st);
	if (asprintf(&st->identity, "%s/%s@%s", srv->proxy->name, srv->name,
		     srv->at.text ? srv->at.text : "") < 0)
		st->identity = NULL;
	if (!st->identity) {
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
	check_state_fini(&st->check);
	check_state_fini(&st->agent);
	resolve_state_free(&st->resolve);
	latency_set_fini(&st->latency);
	history_free(&st->history);
	free(st->identity);
	free(st);
}

/* --- looking up ----------------------------------------------------------------------------- */

/* What follows a link in the list of <be>. */
static struct server *server_behind(const struct proxy *be, const struct list *link)
{
	struct list *next = __atomic_load_n(&link->next, __ATOMIC_ACQUIRE);

	return next == &be->servers ? NULL : list_entry(next, struct server, link);
}

struct server *server_first(const struct proxy *be)
{
	return server_behind(be, &be->servers);
}

struct server *server_next(const struct server *srv)
{
	return server_behind(srv->proxy, &srv->link);
}

struct server *server_find(const struct proxy *be, const char *name)
{
	struct server *srv;
	int id = name[0] == '#' ? num_prefix_int(name + 1, NULL) : 0;

	for (srv = server_first(be); srv; srv = server_next(srv))
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

	if (!slash || !slash[1]) {
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

/* Writes the new address for readers of all threads, under the change lock. */
void server_address_publish(struct server_state *st, const struct server_addr *addr)
{
	__atomic_add_fetch(&st->address_turn, 1, __ATOMIC_SEQ_CST);
	server_address_copy(&st->address, &addr->sa);
	__atomic_store_n(&st->address_len, addr->len, __ATOMIC_RELEASE);
	__atomic_add_fetch(&st->address_turn, 1, __ATOMIC_SEQ_CST);
}
