/* SPDX-License-Identifier: GPL-2.0-or-later */
/* walk.c - see proxy/walk.h
 *
 * What became of a backend that was removed, on thread 0. A tour is a message that goes from thread
 * to thread; when it is back, each has begun another turn.
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
 * One round does a step for all of them. As long as nothing moves, they are looked at from time to
 * time. Those of a generation that is not the live one any more die with it.
 */
#include "proxy/walk.h"
#include <stdlib.h>
#include "base/clock.h"
#include "conf/conf.h"
#include "core/lock.h"
#include "core/mailbox.h"
#include "core/timer.h"
#include "ctl/ctl.h"
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

/* Is there a hold from before its removal? */
static bool is_held(const struct proxy *px)
{
	bool held;

	lock_take(&holds_lock);
	held = !list_is_empty(&holds) &&
	       list_first(&holds, struct proxy_hold, link)->removals < px->run.removal;
	lock_drop(&holds_lock);
	return held;
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

/* Names of servers are asked for by tasks, which only the end of a generation stops. */
static bool server_is_used(const struct server *srv)
{
	const struct counter_set *set = &srv->state->counters;

	return srv->resolve.resolvers || queue_length_server(srv) ||
	       __atomic_load_n(&srv->checks.trackers, __ATOMIC_RELAXED) ||
	       counter_read(set, CNT_SESS_CUR) || counter_read(set, CNT_USED_CUR) ||
	       counter_read(set, CNT_IDLE_CUR) || counter_read(set, CNT_SAFE_CUR);
}

static bool is_used(const struct proxy *px)
{
	if (__atomic_load_n(&px->run.is_kept, __ATOMIC_RELAXED) ||
	    __atomic_load_n(&px->run.pins, __ATOMIC_ACQUIRE) || is_held(px))
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

void proxy_leaves(struct proxy *be)
{
	if (!be->run.memory)
		return;
	lock_take(&holds_lock);
	be->run.removal = ++removals;
	lock_drop(&holds_lock);
	if (rounds.awake)
		return;
	rounds.awake = true;
	mailbox_post(0, &rounds.wake);
}

/* What a tour must be made for. True: one that is made now brings it further. */
static bool step_before(struct proxy *px)
{
	switch ((enum stage)px->run.stage) {
	case LEAVES:
		px->run.stage = TOURED;
		return true;
	case LEFT:
		px->run.stage = is_used(px) ? LEFT : EMPTY_TOURED;
		return px->run.stage != LEFT;
	case EMPTY:
		px->run.stage = is_used(px) ? LEFT : GOING;
		return px->run.stage != LEFT;
	default:
		return true;
	}
}

/* Begins a step of each that can do one; false: none can. Thread 0, under config_edit_begin(). */
static bool begin_steps(struct config *cfg)
{
	struct proxy **at = &proxies_of(cfg)->removed, *px;
	bool any = false;

	while ((px = *at)) {
		any = (px->run.memory && step_before(px)) || any;
		if (px->run.stage != GOING) {
			at = &px->run.next_removed;
			continue;
		}
		*at = px->run.next_removed;
		px->run.next_removed = rounds.going;
		rounds.going = px;
		if (!rounds.config)
			rounds.config = config_take(cfg);
	}
	return any;
}

static bool any_waits(const struct config *cfg)
{
	const struct proxy *px = proxies_of(cfg)->removed;

	while (px && !px->run.memory)
		px = px->run.next_removed;
	return px;
}

static void end_steps(const struct config *cfg)
{
	for (struct proxy *px = proxies_of(cfg)->removed; px; px = px->run.next_removed) {
		if (px->run.stage == TOURED)
			px->run.stage = LEFT;
		else if (px->run.stage == EMPTY_TOURED)
			px->run.stage = EMPTY;
	}
}

static void free_going(void)
{
	struct proxy *px = rounds.going, *next;

	rounds.going = NULL;
	for (; px; px = next) {
		next = px->run.next_removed;
		proxy_end(px);
	}
	config_drop(&rounds.config);
}

static void forget_here(void *ctx)
{
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
	any = rounds.going || begin_steps(cfg);
	awake = rounds.awake = any || any_waits(cfg);
	config_edit_end();
	/* without memory the steps are gone again, which does no harm */
	if (any && thread_call_all(forget_here, round_over, NULL))
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
