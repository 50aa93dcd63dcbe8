/* SPDX-License-Identifier: GPL-2.0-or-later */
/* peers.c - sections of this process: generations that come and go, their peers, soft stops
 *
 * At a soft stop all links end, and the new process, which uses the address of this one by then, is
 * taught.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "base/clock.h"
#include "core/symbol.h"
#include "core/task.h"
#include "core/thread.h"
#include "ext/peers.h"
#include "front/listen.h"
#include "proxy/walk.h"
#include "peers_priv.h"

/* At a stop: what listens at our address may be this process, for a moment. */
#define TAUGHT_TRIES 30

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct list sections = LIST_HEAD(sections); /* under <lock>: only gets longer */
static unsigned next_home;                         /* of thread 0 */

/* --- peers of a generation -------------------------------------------------------------------- */

static struct server *line_of(const struct peers_conf *c, const char *name)
{
	struct server *srv;

	list_for_each(srv, &c->proxy->servers, link)
		if (srv != c->template && strcmp(srv->name, name) == 0)
			return srv;
	return NULL;
}

static void peer_free(struct peer *peer)
{
	if (peer->up)
		peers_link_end(peer->up);
	peers_shares_free(peer);
	list_remove(&peer->link);
	free(peer->name);
	free(peer);
}

static bool same_address(const struct server *a, const struct server *b)
{
	return a->at.len == b->at.len && a->digest == b->digest &&
	       (!a->at.sa || memcmp(a->at.sa, b->at.sa, a->at.len) == 0);
}

static struct peer *peer_find(const struct peers *p, const char *name)
{
	struct peer *peer;

	list_for_each(peer, &p->peers, link)
		if (strcmp(peer->name, name) == 0)
			return peer;
	return NULL;
}

static struct peer *peer_new(struct peers *p, const char *name, struct server *srv)
{
	struct peer *peer = calloc(1, sizeof(*peer));

	if (peer)
		peer->name = strdup(name);
	if (!peer || !peer->name) {
		free(peer);
		return NULL;
	}
	list_init(&peer->shares);
	peer->section = p;
	peer->srv = srv;
	list_append(&p->peers, &peer->link);
	return peer;
}

/* --- those of a template ---------------------------------------------------------------------- */

static bool is_found(const struct peer *peer)
{
	return peer->found.family != ADDR_NONE;
}

/* Removes peers that the name servers do not report any more; while their links are up only if
 * <now>.
 */
static void leave_gone(struct peers *p, bool now)
{
	struct peer *peer, *next;

	list_for_each_safe(peer, next, &p->peers, link)
		if (is_found(peer) && !peer->is_listed && (now || !peer->up))
			peer_free(peer);
}

/* Is it this process, or a peer that has a line of its own? */
static bool is_known(const struct peers *p, const struct addr *a)
{
	struct server_addr to;
	struct peer *peer;
	struct addr at;

	list_for_each(peer, &p->peers, link) {
		if (is_found(peer) || !peers_address(peer, &to))
			continue;
		at = addr_from_sockaddr(&to.sa, to.len);
		if (addr_eq(&at, a))
			return true;
	}
	return peers_is_own(p->conf, a);
}

static void add_found(struct peers *p, const struct addr *a)
{
	char name[ADDR_MAX];
	struct peer *peer;

	addr_put(a, name, sizeof(name));
	peer = peer_find(p, name);
	if (!peer && !is_known(p, a)) {
		peer = peer_new(p, name, p->conf->template);
		if (!peer)
			diag_say(DIAG_WARNING, "out of memory: peer '%s' is not served.", name);
		else
			peer->found = *a;
	}
	if (peer)
		peer->is_listed = true;
}

static void list_found(struct peers *p)
{
	struct peer *peer;

	if (!p->conf->template || !p->found)
		return;
	list_for_each(peer, &p->peers, link)
		peer->is_listed = false;
	for (unsigned i = 0; i < p->found->count; i++)
		add_found(p, &p->found->all[i]);
	leave_gone(p, p->found->is_anew);
	p->found->is_anew = false;
}

/* Those that are not named any more, or elsewhere, are left. */
static void leave_peers(struct peers *p)
{
	struct peer *peer, *next;

	list_for_each_safe(peer, next, &p->peers, link) {
		struct server *srv = is_found(peer) ? p->conf->template
			: line_of(p->conf, peer->name);

		if (!srv) {
			peer_free(peer);
			continue;
		}
		if (peer->up && !same_address(peer->srv, srv))
			peers_link_end(peer->up);
		peer->srv = srv;
	}
}

static void follow_peers(struct peers *p)
{
	struct server *srv;
	struct peer *peer;

	list_for_each(srv, &p->conf->proxy->servers, link)
		if (srv != p->conf->template && !peer_find(p, srv->name) &&
		    !peer_new(p, srv->name, srv))
			diag_say(DIAG_WARNING, "out of memory: peer '%s' is not served.",
				 srv->name);
	list_found(p);
	list_for_each(peer, &p->peers, link) {
		peer->is_local = !is_found(peer) && peers_is_local(p->conf, peer->srv);
		if (!peers_shares_follow(peer))
			diag_say(DIAG_WARNING, "out of memory: peer '%s' lacks tables.",
				 peer->name);
	}
}

/* --- dialling --------------------------------------------------------------------------------- */

/* The process may end, as far as this section goes. */
static void stop_ends(struct peers *p)
{
	p->is_stopping = false;
	p->has_stopped = true;
	listen_work_ended();
}

/* Dials the process that has taken over from this one, at its own address. */
static void stop_dial(struct peers *p, uint64_t now_ms, uint64_t *next_ms)
{
	struct server_addr to;
	struct peer *peer;

	list_for_each(peer, &p->peers, link) {
		if (!peer->is_local || !peers_address(peer, &to))
			continue;
		if (!peer->up && now_ms >= peer->dial_at_ms && p->stop_tries++ < TAUGHT_TRIES)
			peers_link_dial(peer);
		if (p->is_stopping && !peer->up && p->stop_tries >= TAUGHT_TRIES)
			stop_ends(p);
		if (peer->dial_at_ms > now_ms && peer->dial_at_ms < *next_ms)
			*next_ms = peer->dial_at_ms;
		return;
	}
	stop_ends(p);
}

static void dial_all(struct peers *p, uint64_t now_ms, uint64_t *next_ms)
{
	struct server_addr to;
	struct peer *peer;

	if (p->is_stopping)
		stop_dial(p, now_ms, next_ms);
	list_for_each(peer, &p->peers, link) {
		if (p->is_stopping || p->has_stopped || peer->is_local || peer->up ||
		    !peers_address(peer, &to))
			continue;
		if (now_ms >= peer->dial_at_ms)
			peers_link_dial(peer);
		if (!peer->up && peer->dial_at_ms < *next_ms)
			*next_ms = peer->dial_at_ms;
	}
}

/* --- the task --------------------------------------------------------------------------------- */

static void push_all(struct peers *p)
{
	struct peers_link *l, *next;

	list_for_each_safe(l, next, &p->links, link)
		if (l->state == LINK_UP)
			peers_link_push(l);
}

/* A lesson is over: what others said meanwhile is taken now. */
static void hear_held(struct peers *p)
{
	struct peers_link *l;

	if (peers_is_learning(p))
		return;
	list_for_each(l, &p->links, link)
		if (l->holds)
			task_wake(l->task, TASK_WOKEN_OTHER);
}

/* The new process has what this one had. */
static void stop_look(struct peers *p)
{
	struct peers_link *l, *next;

	list_for_each_safe(l, next, &p->links, link)
		if (l->state == LINK_UP && !l->has_to_teach && !l->awaits_confirm) {
			l->has_taught = true;
			peers_link_end(l);
		}
	if (p->is_taught)
		stop_ends(p);
}

static void section_task(struct task *t, void *ctx, unsigned why)
{
	uint64_t now_ms = clock_now_ms(), next_ms = TIMER_NEVER;
	struct peers *p = ctx;
	struct peers_link *asked;

	p->calls++;
	if (!p->conf)
		return;
	peers_tables_take(p);
	asked = peers_lesson_look(p, now_ms, &next_ms);
	if (asked)
		peers_link_push(asked);
	hear_held(p);
	push_all(p);
	peers_tables_trim(p);
	if (p->is_stopping)
		stop_look(p);
	leave_gone(p, false);
	dial_all(p, now_ms, &next_ms);
	task_schedule(t, next_ms);
}

/* --- generations ------------------------------------------------------------------------------ */

/* The template's answer has changed. */
static void names_told(struct peers *p, struct peers_found *f)
{
	free(p->found);
	p->found = f;
	if (!p->conf || !p->conf->template || p->is_stopping || p->has_stopped)
		return;
	follow_peers(p);
	task_wake(p->task, TASK_WOKEN_OTHER);
}

static void follow_links(struct peers *p)
{
	struct peers_link *l, *next;

	list_for_each_safe(l, next, &p->links, link)
		peers_link_follow(l);
}

/* No generation wants it any more. */
static void section_leave(struct peers *p)
{
	struct peers_link *l, *next_link;
	struct peer *peer, *next;

	list_for_each_safe(l, next_link, &p->links, link)
		peers_link_end(l);
	list_for_each_safe(peer, next, &p->peers, link)
		peer_free(peer);
	peers_tables_free(p);
	free(p->found);
	p->found = NULL;
	p->conf = NULL;
	if (p->config)
		config_drop(&p->config);
}

static void follow(struct peers *p, struct peers_conf *c, struct config *config)
{
	struct config *old = p->config;
	bool first = !p->conf, new_tables;

	if (!p->task && c)
		p->task = task_new(section_task, p);
	if (!c || !p->task) {
		if (c)
			diag_say(DIAG_WARNING, "out of memory: peers section '%s' does nothing.",
				 p->name);
		if (config)
			config_drop(&config);
		section_leave(p);
		return;
	}
	p->conf = c;
	p->config = config;
	leave_peers(p);
	new_tables = peers_tables_follow(p);
	follow_peers(p);
	follow_links(p);
	if (first || new_tables) /* others may know the new ones already */
		peers_lesson_begin(p, first);
	if (first)
		p->begun_us = clock_wall_us();
	task_wake(p->task, TASK_WOKEN_INIT);
	if (old)
		config_drop(&old);
}

/* --- orders of thread 0 ----------------------------------------------------------------------- */

struct order {
	struct message message;
	struct peers *p;
	struct peers_conf *conf;
	struct config *config; /* counted */
	bool stop;
};

/* Teaches the process that has taken over our address, if there is one. */
static void section_stop(struct peers *p)
{
	struct peers_link *l, *next;

	peers_tables_stop(p);
	list_for_each_safe(l, next, &p->links, link)
		peers_link_end(l);
	p->is_stopping = true;
	task_wake(p->task, TASK_WOKEN_OTHER);
}

static void order_run(struct message *m)
{
	struct order *o = container_of(m, struct order, message);
	struct peers *p = o->p;

	if (!o->stop) {
		follow(p, o->conf, o->config);
		if (p->conf)
			peers_listen_start(p->conf);
	} else if (p->conf && !p->is_stopping && !p->has_stopped) {
		section_stop(p);
	} else {
		listen_work_ended();
	}
	free(o);
}

bool peers_order(struct peers *p, struct peers_conf *c, struct config *config, bool stop)
{
	struct order *o = calloc(1, sizeof(*o));

	if (!o)
		return false;
	*o = (struct order){ .message.run = order_run, .p = p, .conf = c, .config = config,
			     .stop = stop };
	mailbox_post(p->home, &o->message);
	return true;
}

bool peers_follow_names(struct peers *p, const struct peers_conf *c)
{
	return peers_names_follow(p, c, names_told);
}

void peers_stop(const struct config *cfg)
{
	for (struct peers_conf *c = peers_config_of(cfg)->first; c; c = c->next) {
		peers_listen_close(c);
		if (!c->run)
			continue;
		peers_follow_names(c->run, NULL);
		listen_work_began();
		if (!peers_order(c->run, NULL, NULL, true))
			listen_work_ended();
	}
}

/* --- life ------------------------------------------------------------------------------------- */

struct peers *peers_next(const struct peers *p)
{
	const struct list *next;

	pthread_mutex_lock(&lock);
	next = p ? p->link.next : sections.next;
	pthread_mutex_unlock(&lock);
	return next == &sections ? NULL : list_entry(next, struct peers, link);
}

struct peers *peers_run_of(const char *name)
{
	struct peers *p;

	for (p = peers_next(NULL); p; p = peers_next(p))
		if (strcmp(p->name, name) == 0)
			return p;
	p = calloc(1, sizeof(*p));
	if (p)
		p->name = strdup(name);
	if (!p || !p->name) {
		free(p);
		return NULL;
	}
	p->home = next_home++ % thread_count();
	list_init(&p->peers);
	list_init(&p->tables);
	list_init(&p->links);
	pthread_mutex_lock(&lock);
	list_append(&sections, &p->link);
	pthread_mutex_unlock(&lock);
	return p;
}

bool peers_thread_init(void)
{
	struct config *cfg = proxies_current();

	for (struct peers_conf *c = peers_config_of(cfg)->first; c; c = c->next) {
		if (c->run && !thread_id && !peers_follow_names(c->run, c))
			return false;
		if (!c->run || c->run->home != thread_id)
			continue;
		follow(c->run, c, config_take(cfg));
		peers_listen_start(c);
	}
	return true;
}

/* Their tasks stay: other threads may still note a change. */
void peers_thread_fini(void)
{
	for (struct peers *p = peers_next(NULL); p; p = peers_next(p)) {
		if (!thread_id)
			peers_follow_names(p, NULL);
		if (p->home == thread_id && p->conf)
			follow(p, NULL, NULL);
	}
}

bool peers_init(void)
{
	static const struct symbol names[] = { { section_task, "peers_task" }, { 0 } };

	return symbol_register(names) && peers_link_init();
}
