/* SPDX-License-Identifier: GPL-2.0-or-later */
/* walk.c - see proxy/walk.h
 *
 * The life of a removed backend or server, on thread 0. A tour is a message passed from thread to
 * thread; when it is back, each thread has begun another turn.
 *
 *	LEAVES  it is in no list: threads that found it before may still be at it
 *	  |  a tour
 *	LEFT    it is not found: its users become fewer only
 *	  |  when it has none
 *	EMPTY   a thread may still do in this turn what its last user began, or have sent a message
 *	  |  a tour, on which messages arrive; still without users
 *	GOING   in no list of its generation
 *	  |  a tour, on which threads forget its servers
 *	freed
 *
 * Streams that have a server without being counted by it (they have left it, or log) are searched
 * for on each tour. One round does a step for all of them. As long as nothing changes, they are
 * checked from time to time. Those of a generation that is no longer live are freed with it.
 */
#include "proxy/walk.h"
#include <stdlib.h>
#include "base/clock.h"
#include "conf/conf.h"
#include "core/lock.h"
#include "core/mailbox.h"
#include "core/timer.h"
#include "ctl/ctl.h"
#include "proxy/balance.h"
#include "proxy/proxy.h"
#include "proxy/queue.h"
#include "proxy/server.h"
#include "proxy_priv.h"

/* --- users ------------------------------------------------------------------------------------ */

static unsigned holds_lock;
static struct list holds = LIST_HEAD(holds); /* oldest first */
static uint64_t removals;                    /* under the lock */

void proxies_hold(struct proxy_hold *hold)
{
	lock_take(&holds_lock);
	hold->removals = removals;
	list_append(&holds, &hold->link);
	lock_drop(&holds_lock);
}

void proxies_release(struct proxy_hold *hold)
{
	lock_take(&holds_lock);
	list_remove(&hold->link);
	lock_drop(&holds_lock);
}

/* Is there a hold from before this removal? */
static bool is_held(uint64_t removal)
{
	bool held;

	lock_take(&holds_lock);
	held = !list_is_empty(&holds) &&
	       list_first(&holds, struct proxy_hold, link)->removals < removal;
	lock_drop(&holds_lock);
	return held;
}

static uint64_t next_removal(void)
{
	uint64_t n;

	lock_take(&holds_lock);
	n = ++removals;
	lock_drop(&holds_lock);
	return n;
}

void proxy_pin(struct proxy *px)
{
	__atomic_add_fetch(&px->run.pins, 1, __ATOMIC_RELAXED);
}

void proxy_unpin(struct proxy *px)
{
	__atomic_sub_fetch(&px->run.pins, 1, __ATOMIC_RELEASE);
}

void proxy_keep(struct proxy *px)
{
	__atomic_store_n(&px->run.is_kept, 1, __ATOMIC_RELAXED);
}

void server_pin_own(struct server_own *own)
{
	__atomic_add_fetch(&own->pins, 1, __ATOMIC_RELAXED);
}

void server_unpin_own(struct server_own *own)
{
	__atomic_sub_fetch(&own->pins, 1, __ATOMIC_RELEASE);
}

void server_see_own(struct server_own *own)
{
	__atomic_store_n(&own->is_seen, 1, __ATOMIC_RELAXED);
}

void server_keep(struct server *srv)
{
	proxy_keep(srv->proxy);
	if (srv->life.own)
		__atomic_store_n(&srv->life.own->is_kept, 1, __ATOMIC_RELAXED);
}

/* Names of servers are asked for by tasks, which only the end of a generation stops. */
static bool server_is_used(const struct server *srv)
{
	const struct counter_set *set = &srv->state->counters;

	return srv->resolve.resolvers || queue_length_server(srv) ||
	       __atomic_load_n(&srv->checks.trackers, __ATOMIC_RELAXED) ||
	       counter_read(set, CNT_SESS_CUR) || counter_read(set, CNT_USED_CUR) ||
	       counter_read(set, CNT_IDLE_CUR) || counter_read(set, CNT_SAFE_CUR);
}

/* Of one with memory of its own. What a thread saw on its last tour may be gone. */
static bool own_is_used(const struct server *srv)
{
	const struct server_own *own = srv->life.own;

	return __atomic_load_n(&own->is_kept, __ATOMIC_RELAXED) ||
	       __atomic_load_n(&own->pins, __ATOMIC_ACQUIRE) ||
	       __atomic_load_n(&own->is_seen, __ATOMIC_RELAXED) || is_held(own->removal) ||
	       (srv->state && server_is_used(srv));
}

static bool is_used(const struct proxy *px)
{
	if (__atomic_load_n(&px->run.is_kept, __ATOMIC_RELAXED) ||
	    __atomic_load_n(&px->run.pins, __ATOMIC_ACQUIRE) ||
	    __atomic_load_n(&px->run.leaving, __ATOMIC_RELAXED) || is_held(px->run.removal))
		return true;
	if (px->state && (proxy_be_sessions(px) || queue_length_backend(px)))
		return true;
	for (const struct server *srv = px->run.removed; srv; srv = srv->life.removed_next)
		if (srv->state && server_is_used(srv))
			return true;
	return false;
}

/* --- the end of those that were removed ------------------------------------------------------- */

/* Between two looks at those that have users. */
#define LOOK_MS 200

enum stage { LEAVES, TOURED, LEFT, EMPTY, EMPTY_TOURED, GOING };

static void round_begin(void);
static void wake_arrives(struct message *m);
static void look_again(struct timer *t);

static struct {
	struct message wake;
	bool awake;              /* under config_edit_begin(): rounds go on */
	struct timer timer;      /* of thread 0, as all that follows */
	struct proxy *going;     /* by next_removed; other threads read it on their tour */
	struct server *servers_going; /* by own->next; the same */
	bool looks;              /* servers leave: the tour is to tell which are in use */
	struct config *config;   /* counted: of those */
} rounds = {
	.wake = { .run = wake_arrives },
	.timer = { .link = LIST_HEAD(rounds.timer.link), .expire_ms = TIMER_NEVER,
		   .slot_ms = TIMER_NEVER, .fire = look_again },
};

static void (*forget_hook)(struct server *srv);

void proxies_set_forget_hook(void (*fn)(struct server *srv))
{
	forget_hook = fn;
}

static void (*look_hook)(void);

void proxies_set_look_hook(void (*fn)(void))
{
	look_hook = fn;
}

static void wake_rounds(void)
{
	if (rounds.awake)
		return;
	rounds.awake = true;
	mailbox_post(0, &rounds.wake);
}

void proxy_leaves(struct proxy *be)
{
	if (!be->run.memory)
		return;
	be->run.removal = next_removal();
	wake_rounds();
}

void server_leaves(struct server *srv)
{
	struct server_own *own = srv->life.own;
	struct proxies *all = proxies_of(srv->proxy->config);

	own->removal = next_removal();
	own->next = all->leaving;
	all->leaving = srv;
	__atomic_add_fetch(&srv->proxy->run.leaving, 1, __ATOMIC_RELAXED);
	wake_rounds();
}

/* The stage that a tour is made for, behind <stage>; LEFT: none is. */
static unsigned stage_before(unsigned stage, bool used)
{
	switch ((enum stage)stage) {
	case LEAVES:
		return TOURED;
	case LEFT:
		return used ? LEFT : EMPTY_TOURED;
	case EMPTY:
		return used ? LEFT : GOING;
	default:
		return stage;
	}
}

static unsigned stage_behind(unsigned stage)
{
	return stage == TOURED ? LEFT : stage == EMPTY_TOURED ? EMPTY : stage;
}

static void hold_config(struct config *cfg)
{
	if (!rounds.config)
		rounds.config = config_take(cfg);
}

/* As begin_steps(), for servers. One whose place cannot be given up stays. */
static bool begin_servers(struct config *cfg)
{
	struct server **at = &proxies_of(cfg)->leaving, *srv;
	bool any = false;

	rounds.looks = *at != NULL;
	while ((srv = *at)) {
		struct server_own *own = srv->life.own;

		own->stage = stage_before(own->stage, own_is_used(srv));
		if (own->stage == GOING && !balance_forget(srv))
			own->stage = LEFT;
		__atomic_store_n(&own->is_seen, 0, __ATOMIC_RELAXED);
		any = any || own->stage != LEFT;
		if (own->stage != GOING) {
			at = &own->next;
			continue;
		}
		*at = own->next;
		own->next = rounds.servers_going;
		rounds.servers_going = srv;
		hold_config(cfg);
	}
	return any;
}

/* Begins a step of each that can do one; false: none can. Thread 0, under config_edit_begin(). */
static bool begin_steps(struct config *cfg)
{
	struct proxy **at = &proxies_of(cfg)->removed, *px;
	bool any = false;

	while ((px = *at)) {
		if (px->run.memory) {
			px->run.stage = stage_before(px->run.stage, is_used(px));
			any = any || px->run.stage != LEFT;
		}
		if (px->run.stage != GOING) {
			at = &px->run.next_removed;
			continue;
		}
		*at = px->run.next_removed;
		px->run.next_removed = rounds.going;
		rounds.going = px;
		hold_config(cfg);
	}
	return any;
}

static bool any_waits(const struct config *cfg)
{
	const struct proxy *px = proxies_of(cfg)->removed;

	while (px && !px->run.memory)
		px = px->run.next_removed;
	return px || proxies_of(cfg)->leaving;
}

static void end_steps(const struct config *cfg)
{
	for (struct proxy *px = proxies_of(cfg)->removed; px; px = px->run.next_removed)
		px->run.stage = stage_behind(px->run.stage);
	for (struct server *srv = proxies_of(cfg)->leaving; srv; srv = srv->life.own->next)
		srv->life.own->stage = stage_behind(srv->life.own->stage);
}

static void free_going(void)
{
	struct proxy *px = rounds.going, *next;
	struct server *srv;

	while ((srv = rounds.servers_going)) {
		rounds.servers_going = srv->life.own->next;
		__atomic_sub_fetch(&srv->proxy->run.leaving, 1, __ATOMIC_RELAXED);
		server_end(srv);
	}
	rounds.going = NULL;
	for (; px; px = next) {
		next = px->run.next_removed;
		proxy_end(px);
	}
	config_drop(&rounds.config);
}

static void tour_here(void *ctx)
{
	if (rounds.looks && look_hook)
		look_hook();
	for (struct server *srv = rounds.servers_going; srv; srv = srv->life.own->next)
		if (forget_hook)
			forget_hook(srv);
	for (const struct proxy *px = rounds.going; px; px = px->run.next_removed)
		for (struct server *srv = px->run.removed; srv; srv = srv->life.removed_next)
			if (forget_hook)
				forget_hook(srv);
}

static void round_over(void *ctx)
{
	config_edit_begin();
	end_steps(proxies_current());
	config_edit_end();
	free_going();
	round_begin();
}

static void round_begin(void)
{
	struct config *cfg;
	bool any, awake;

	config_edit_begin();
	cfg = proxies_current();
	any = rounds.going || rounds.servers_going;
	if (!any) {
		any = begin_servers(cfg);
		any = begin_steps(cfg) || any;
	}
	awake = rounds.awake = any || any_waits(cfg);
	config_edit_end();
	/* without memory the steps are gone again, which does no harm */
	if (any && thread_call_all(tour_here, round_over, NULL))
		return;
	if (awake)
		timer_set(&rounds.timer, clock_now_ms() + LOOK_MS);
}

static void wake_arrives(struct message *m)
{
	round_begin();
}

static void look_again(struct timer *t)
{
	round_begin();
}

/* --- commands --------------------------------------------------------------------------------- */

void *proxy_walk_begin(struct ctl_request *rq, size_t size)
{
	struct proxy_walk *walk = calloc(1, size);

	if (!walk) {
		ctl_error(rq, "Out of memory.");
		return NULL;
	}
	walk->config = config_take(proxies_current());
	proxies_hold(&walk->hold);
	walk->at = proxies_first(walk->config);
	rq->state = walk;
	return walk;
}

void proxy_walk_release(struct ctl_request *rq)
{
	struct proxy_walk *walk = rq->state;

	if (!walk)
		return;
	rq->state = NULL;
	proxies_release(&walk->hold);
	config_drop(&walk->config);
	free(walk);
}
