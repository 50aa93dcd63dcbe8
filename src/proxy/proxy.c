/* SPDX-License-Identifier: GPL-2.0-or-later */
/* proxy.c - frontends, backends, listens and defaults: settings, state that outlives reloads */
#include "proxy/proxy.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "base/clock.h"
#include "base/history.h"
#include "base/num.h"
#include "conf/conf.h"
#include "core/lock.h"
#include "proxy/balance.h"
#include "proxy/bind.h"
#include "proxy/server.h"
#include "proxy_priv.h"

/* --- the generation's slot ------------------------------------------------------------------ */

static bool proxies_init(void *data)
{
	struct proxies *p = data;

	list_init(&p->all);
	list_init(&p->hidden);
	list_init(&p->defaults);
	list_init(&p->forwards);
	return true;
}

void proxy_close(struct proxy *px)
{
	struct server *srv, *next;
	struct bind_conf *b;

	balance_free(px);
	list_for_each_safe(srv, next, &px->servers, link)
		server_end(srv);
	for (srv = px->run.removed; srv; srv = srv->life.removed_next)
		server_close(srv);
	if (px->run.stand_in)
		server_close(px->run.stand_in);
	if (px->dflt.is_own)
		server_close(px->dflt.server);
	if (px->direct)
		server_close(px->direct);
	list_for_each(b, &px->binds, link) {
		struct listener_conf *lc;

		list_for_each(lc, &b->listeners, link)
			listener_state_drop(&lc->state);
		slot_area_fini(SLOT_BIND, bind_slots(b));
	}
	slot_area_fini(SLOT_PROXY, proxy_slots(px));
	proxy_state_drop(&px->state);
}

void proxy_end(struct proxy *px)
{
	struct arena *memory = px->run.memory;

	proxy_close(px);
	if (!memory)
		return;
	arena_fini(memory);
	free(memory);
}

static void proxies_fini(void *data)
{
	struct proxies *p = data;
	struct proxy *px, *next;
	struct server *srv;

	while ((srv = p->leaving)) {
		p->leaving = srv->life.own->next;
		server_end(srv);
	}
	list_for_each_safe(px, next, &p->all, link)
		proxy_end(px);
	for (px = p->removed; px; px = next) {
		next = px->run.next_removed;
		proxy_end(px);
	}
	list_for_each(px, &p->hidden, link)
		proxy_close(px);
	list_for_each(px, &p->defaults, link)
		proxy_close(px);
}

struct slot proxies_slot = {
	.of = SLOT_CONFIG,
	.size = sizeof(struct proxies),
	.init = proxies_init,
	.fini = proxies_fini,
};

struct proxies *proxies_of(const struct config *cfg)
{
	return slot_of(&proxies_slot, config_slots(cfg));
}

static struct config *current;

struct config *proxies_current(void)
{
	return __atomic_load_n(&current, __ATOMIC_ACQUIRE);
}

void proxies_publish(struct config *cfg)
{
	__atomic_store_n(&current, cfg, __ATOMIC_RELEASE);
}

/* --- making --------------------------------------------------------------------------------- */

static void proxy_set_defaults(struct proxy *px)
{
	px->mode = PROXY_MODE_TCP;
	px->reuse = REUSE_SAFE;
	px->retry.count = 3;
	px->http.max_session_server_conns = 5;
	px->retry.on = PROXY_RETRY_CONN_FAILURE;
	px->http.max_keep_alive_queue = -1;
	px->balancing.random_draws = 2;
	px->retry.on = PROXY_RETRY_CONN_FAILURE;
	px->balancing.algorithm = balance_find("random");
}

/* What a section has for itself, whatever the defaults section says. */
static void proxy_set_own(struct proxy *px, struct config *cfg, const char *name, unsigned caps)
{
	list_init(&px->link);
	list_init(&px->servers);
	list_init(&px->binds);
	memset(&px->by_name, 0, sizeof(px->by_name));
	px->name = name;
	px->caps = caps;
	px->config = cfg;
	px->guid = px->description = NULL;
	px->id = 0;
	px->id_forced = false;
	px->server_count = 0;
	px->state = NULL;
	px->balance = NULL;
	px->dflt.is_own = false;
	px->run = (struct proxy_run){ 0 };
}

static size_t size_of_proxy(void)
{
	return PROXY_SLOTS_AT + slot_class_size(SLOT_PROXY) + 15;
}

/* In <memory>. */
static struct proxy *proxy_make(struct arena *memory, struct config *cfg, unsigned caps,
				struct proxy *defaults)
{
	char *p = arena_zalloc(memory, size_of_proxy());
	struct proxy *px;

	if (!p)
		return NULL;
	px = (struct proxy *)(((uintptr_t)p + 15) & ~(uintptr_t)15);
	if (defaults)
		*px = *defaults;
	else
		proxy_set_defaults(px);
	proxy_set_own(px, cfg, "", caps);
	px->defaults = defaults;
	if (!slot_area_init(SLOT_PROXY, proxy_slots(px)))
		return NULL;
	if (!defaults || slot_area_inherit(SLOT_PROXY, proxy_slots(px), proxy_slots(defaults)))
		return px;
	slot_area_fini(SLOT_PROXY, proxy_slots(px));
	return NULL;
}

struct proxy *proxy_new(struct config *cfg, const char *name, unsigned caps,
			struct proxy *defaults)
{
	struct proxy *px = proxy_make(&cfg->arena, cfg, caps, defaults);

	if (px)
		px->name = name;
	return px;
}

/* Room for the names and the lists of rules beside the section. */
#define ADDED_ROOM 256

struct proxy *proxy_new_added(struct config *cfg, const char *name, struct proxy *defaults)
{
	struct arena *memory = malloc(sizeof(*memory));
	const char *copy;
	struct proxy *px;

	if (!memory)
		return NULL;
	arena_init(memory, size_of_proxy() + ADDED_ROOM);
	copy = arena_copy(memory, slice_of(name)).ptr;
	px = copy ? proxy_make(memory, cfg, PROXY_BE, defaults) : NULL;
	if (!px) {
		arena_fini(memory);
		free(memory);
		return NULL;
	}
	px->name = copy;
	px->run.memory = memory;
	return px;
}

struct arena *proxy_arena(const struct proxy *px)
{
	return px->run.memory ? px->run.memory : &px->config->arena;
}

static uint64_t name_hash(const char *name)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (; *name; name++)
		h = (h ^ (uint8_t)*name) * 0x100000001b3u;
	return h;
}

void proxy_link(struct proxy *px)
{
	struct proxies *all = proxies_of(px->config);

	if (px->caps & PROXY_DEFAULTS) {
		list_append(&all->defaults, &px->link);
		return;
	}
	list_append(&all->all, &px->link);
	tree_insert(&all->by_name, &px->by_name, name_hash(px->name));
}

static struct proxy **bucket_of(struct proxies *all, const char *name)
{
	return &all->added[name_hash(name) % PROXY_BUCKETS];
}

/* Behind the others, complete before any thread sees it. */
void proxy_publish_added(struct proxy *be)
{
	struct proxies *all = proxies_of(be->config);
	struct proxy **bucket = bucket_of(all, be->name);
	struct list *last = all->all.prev;

	be->run.is_added = true;
	be->run.next_added = *bucket;
	__atomic_store_n(bucket, be, __ATOMIC_RELEASE);
	be->link.next = &all->all;
	be->link.prev = last;
	all->all.prev = &be->link;
	__atomic_store_n(&last->next, &be->link, __ATOMIC_RELEASE);
}

/* Its own pointers stay, for threads that stand on it. */
void proxy_withdraw(struct proxy *be)
{
	struct proxies *all = proxies_of(be->config);
	struct proxy **at = bucket_of(all, be->name);

	__atomic_store_n(&be->run.is_removed, 1, __ATOMIC_RELEASE);
	if (list_is_linked(&be->link)) {
		be->link.next->prev = be->link.prev;
		__atomic_store_n(&be->link.prev->next, be->link.next, __ATOMIC_RELEASE);
	}
	while (*at && *at != be)
		at = &(*at)->run.next_added;
	if (*at)
		__atomic_store_n(at, be->run.next_added, __ATOMIC_RELEASE);
	be->run.next_removed = all->removed;
	all->removed = be;
}

void proxy_hide(struct proxy *px, const char *name)
{
	struct proxies *all = proxies_of(px->config);

	list_remove(&px->link);
	tree_remove(&all->by_name, &px->by_name);
	list_append(&all->hidden, &px->link);
	px->name = name;
}

/* --- looking up ----------------------------------------------------------------------------- */

static bool is_removed(const struct proxy *px)
{
	return __atomic_load_n(&px->run.is_removed, __ATOMIC_RELAXED);
}

/* The first one from <at> on that was not removed. */
static struct proxy *proxy_from(const struct proxies *all, struct list *const *at)
{
	struct list *link;

	while ((link = __atomic_load_n(at, __ATOMIC_ACQUIRE)) != &all->all) {
		struct proxy *px = list_entry(link, struct proxy, link);

		if (!is_removed(px))
			return px;
		at = &link->next;
	}
	return NULL;
}

struct proxy *proxies_first(const struct config *cfg)
{
	const struct proxies *all = proxies_of(cfg);

	return proxy_from(all, &all->all.next);
}

struct proxy *proxy_next(const struct proxy *px)
{
	return proxy_from(proxies_of(px->config), &px->link.next);
}

static bool is_called(const struct proxy *px, const char *name, unsigned caps)
{
	return (px->caps & caps) == caps && !is_removed(px) && strcmp(px->name, name) == 0;
}

/* Among those made at run time. */
static struct proxy *find_added(const struct config *cfg, const char *name, unsigned caps)
{
	struct proxy **at = bucket_of(proxies_of(cfg), name), *px;

	for (; (px = __atomic_load_n(at, __ATOMIC_ACQUIRE)); at = &px->run.next_added)
		if (is_called(px, name, caps))
			return px;
	return NULL;
}

struct proxy *proxy_find(const struct config *cfg, const char *name, unsigned caps)
{
	uint64_t key = name_hash(name);
	struct tree_node *n = tree_find(&proxies_of(cfg)->by_name, key);
	struct proxy *px;

	for (; n && n->key == key; n = tree_next(n)) {
		px = container_of(n, struct proxy, by_name);
		if (is_called(px, name, caps))
			return px;
	}
	px = find_added(cfg, name, caps);
	if (px || name[0] != '#')
		return px;
	for (px = proxies_first(cfg); px; px = proxy_next(px))
		if ((px->caps & caps) == caps && px->id == num_prefix_int(name + 1, NULL))
			return px;
	return NULL;
}

struct proxy *proxy_find_kept(const struct config *cfg, const char *name, unsigned caps)
{
	struct proxy *px = proxy_find(cfg, name, caps);

	if (px)
		px->run.is_referenced = true;
	return px;
}

struct name_walk {
	const struct proxy *at;
	unsigned caps;
};

static const char *next_name(void *ctx)
{
	struct name_walk *w = ctx;
	const struct proxy *px = w->at;

	while (px && !(px->caps & w->caps))
		px = proxy_next(px);
	w->at = px ? proxy_next(px) : NULL;
	return px ? px->name : NULL;
}

const char *proxy_hint(struct config *cfg, const char *name, unsigned caps)
{
	struct name_walk walk = { .at = proxies_first(cfg), .caps = caps };
	const char *near = conf_closest(name, next_name, &walk);

	return near ? arena_printf(&cfg->arena, "did you mean '%s' ?", near) : NULL;
}

struct proxy *proxy_heir(const struct config *cfg, const struct proxy *px)
{
	struct proxy *it = px->name[0] == '#' ? NULL : proxy_find(cfg, px->name, px->caps);

	return it && it->state == px->state ? it : NULL;
}

struct proxy *proxy_next_defaults(const struct config *cfg, const struct proxy *px)
{
	struct list *all = &proxies_of(cfg)->defaults, *next = px ? px->link.next : all->next;

	return next == all ? NULL : list_entry(next, struct proxy, link);
}

struct proxy *proxy_find_defaults(const struct config *cfg, const char *name)
{
	struct proxy *px, *last = NULL;

	list_for_each(px, &proxies_of(cfg)->defaults, link)
		if (strcmp(px->name, name) == 0)
			last = px;
	return last;
}

struct proxy *proxy_find_kept_defaults(const struct config *cfg, const char *name)
{
	struct proxy *px = *name ? proxy_find_defaults(cfg, name) : NULL;

	return px && (px->run.is_referenced || !proxies_of(cfg)->purges) ? px : NULL;
}

const char *proxy_mode_name(enum proxy_mode mode)
{
	static const char *const names[] = {
		[PROXY_MODE_TCP] = "tcp", [PROXY_MODE_HTTP] = "http",
		[PROXY_MODE_LOG] = "syslog", [PROXY_MODE_SPOP] = "spop",
	};

	return names[mode];
}

const char *proxy_kind_name(const struct proxy *px)
{
	if (px->caps & PROXY_DEFAULTS)
		return "defaults";
	if ((px->caps & PROXY_LISTEN) == PROXY_LISTEN)
		return "proxy";
	return px->caps & PROXY_FE ? "frontend" : "backend";
}

void proxy_log_format_said(struct conf_line *l, const char *what)
{
	struct proxy *px = l->object;

	if (px->caps & PROXY_DEFAULTS && px->log_option.said)
		conf_warn(l, 0, NULL, "'%s' overrides previous '%s' in 'defaults' section.", what,
			  px->log_option.said);
	px->log_option.said = what;
}

/* --- state ---------------------------------------------------------------------------------- */

static bool init_front_figures(struct proxy_state *st)
{
	return (st->fe_conn_rate.shards || rate_set_init(&st->fe_conn_rate)) &&
	       (st->fe_session_rate.shards || rate_set_init(&st->fe_session_rate)) &&
	       (st->fe_request_rate.shards || rate_set_init(&st->fe_request_rate)) &&
	       (st->fe.shards || counter_set_init(&st->fe, CNT_FRONT_COUNT));
}

bool proxy_figures_of_front(struct proxy *px)
{
	struct proxy_state *st = px->state;
	bool good;

	if (px->caps & PROXY_FE)
		return true;
	lock_take(&st->change_lock);
	good = init_front_figures(st);
	lock_drop(&st->change_lock);
	return good;
}

/* Frontends and backends of one name are two things. */
static bool state_init(struct proxy_state *st, const struct proxy *px)
{
	if (asprintf(&st->identity, "%u:%s", px->caps, px->name) < 0) {
		st->identity = NULL;
		return false;
	}
	if (px->caps & PROXY_FE && !init_front_figures(st))
		return false;
	if ((px->caps & PROXY_BE) &&
	    (!counter_set_init(&st->be, CNT_BACKEND_COUNT) ||
	     !rate_set_init(&st->be_session_rate) ||
	     !time_set_init(&st->times)))
		return false;
	return true;
}

/* A fresh state; NULL: no memory. */
static struct proxy_state *proxy_state_new(const struct proxy *px)
{
	struct proxy_state *st = aligned_alloc(64, sizeof(*st));

	if (!st)
		return NULL;
	memset(st, 0, sizeof(*st));
	st->refs = 1;
	st->maxconn = px->maxconn;
	st->changed_us = clock_read_wall_us();
	if (!state_init(st, px))
		proxy_state_drop(&st);
	return st;
}

struct proxy_state *proxy_state_take(struct proxy_state *st)
{
	__atomic_add_fetch(&st->refs, 1, __ATOMIC_RELAXED);
	return st;
}

void proxy_state_drop(struct proxy_state **pst)
{
	struct proxy_state *st = *pst;

	*pst = NULL;
	if (!st || __atomic_sub_fetch(&st->refs, 1, __ATOMIC_ACQ_REL))
		return;
	counter_set_fini(&st->fe);
	counter_set_fini(&st->be);
	rate_set_fini(&st->fe_conn_rate);
	rate_set_fini(&st->fe_session_rate);
	rate_set_fini(&st->fe_request_rate);
	rate_set_fini(&st->be_session_rate);
	time_set_fini(&st->times);
	latency_set_fini(&st->fe_latency);
	latency_set_fini(&st->be_latency);
	history_free(&st->fe_history);
	history_free(&st->be_history);
	free(st->identity);
	free(st);
}

bool proxy_make_states(struct proxy *px)
{
	struct bind_conf *b;
	struct server *srv;

	px->state = proxy_state_new(px);
	if (!px->state)
		return false;
	list_for_each(srv, &px->servers, link) {
		srv->state = server_state_new(srv);
		if (!srv->state)
			return false;
	}
	if (px->direct && !(px->direct->state = server_state_new(px->direct)))
		return false;
	list_for_each(b, &px->binds, link)
		if (!bind_make_states(b))
			return false;
	if ((px->caps & PROXY_BE) && !balance_new(px))
		return false;
	px->state->was_up = balance_has_usable(px);
	px->state->unpublished = px->balancing.unpublished;
	return true;
}

/* --- limits and counting -------------------------------------------------------------------- */

static void fullconn_add(struct proxy *fe, struct proxy *be)
{
	if (be->caps & PROXY_BE && !be->is_set.fullconn)
		be->fullconn += fe->maxconn;
}

bool proxy_add_target(struct proxy *fe, struct proxy *be)
{
	struct proxy_target *t = fe->switching.targets;

	while (t && t->proxy != be)
		t = t->next;
	if (t || be == fe)
		return true;
	t = arena_alloc(&fe->config->arena, sizeof(*t));
	if (!t)
		return false;
	*t = (struct proxy_target){ .next = fe->switching.targets, .proxy = be };
	fe->switching.targets = t;
	return true;
}

/* A backend's fullconn is a tenth of what the frontends that send to it accept. */
static void fullconn_compute(struct config *cfg)
{
	struct proxy *px;

	for (px = proxies_first(cfg); px; px = proxy_next(px))
		if (!px->is_set.fullconn)
			px->fullconn = 0;
	for (px = proxies_first(cfg); px; px = proxy_next(px)) {
		if (!(px->caps & PROXY_FE))
			continue;
		fullconn_add(px, px);
		if (px->switching.backend && px->switching.backend != px)
			fullconn_add(px, px->switching.backend);
		for (struct proxy_target *t = px->switching.targets; t; t = t->next)
			if (t->proxy != px->switching.backend)
				fullconn_add(px, t->proxy);
	}
	for (px = proxies_first(cfg); px; px = proxy_next(px))
		if ((px->caps & PROXY_BE) && !px->is_set.fullconn)
			px->fullconn = px->fullconn > 10 ? (px->fullconn + 9) / 10 : 1;
}

void proxies_set_process_maxconn(struct config *cfg, int64_t maxconn)
{
	for (struct proxy *px = proxies_first(cfg); px; px = proxy_next(px)) {
		if (!(px->caps & PROXY_FE) || px->is_set.maxconn)
			continue;
		px->maxconn = maxconn;
		if (px->state && !__atomic_load_n(&px->state->maxconn, __ATOMIC_RELAXED))
			__atomic_store_n(&px->state->maxconn, maxconn, __ATOMIC_RELAXED);
	}
	fullconn_compute(cfg);
}

void proxy_count_connection(struct proxy *fe)
{
	counter_add(&fe->state->fe, CNT_CONN_TOT, 1);
	rate_set_add(&fe->state->fe_conn_rate, 1);
}

void proxy_count_session(struct proxy *fe)
{
	counter_add(&fe->state->fe, CNT_SESS_TOT, 1);
	rate_set_add(&fe->state->fe_session_rate, 1);
}

void proxy_count_request(struct proxy *fe)
{
	counter_add(&fe->state->fe, CNT_REQ_TOT, 1);
	rate_set_add(&fe->state->fe_request_rate, 1);
}

unsigned proxy_accept_wait_ms(const struct proxy *fe)
{
	if (likely(!fe->session_rate_limit))
		return 0;
	return rate_set_wait_ms(&fe->state->fe_session_rate, (uint32_t)fe->session_rate_limit);
}

uint64_t proxy_fe_sessions(const struct proxy *px)
{
	return counter_read(&px->state->fe, CNT_SESS_CUR);
}

uint64_t proxy_be_sessions(const struct proxy *px)
{
	return counter_read(&px->state->be, CNT_SESS_CUR);
}

/* --- hooks ---------------------------------------------------------------------------------- */

static bool (*listen_hook)(struct proxy *fe, int what);
static void (*limit_hook)(struct proxy *fe);

void proxy_set_listen_hook(bool (*hook)(struct proxy *fe, int what))
{
	listen_hook = hook;
}

void proxy_set_limit_hook(void (*hook)(struct proxy *fe))
{
	limit_hook = hook;
}

bool proxy_listen_change(struct proxy *fe, int what)
{
	return !listen_hook || listen_hook(fe, what);
}

void proxy_limit_change(struct proxy *fe)
{
	if (limit_hook)
		limit_hook(fe);
}
