/* SPDX-License-Identifier: GPL-2.0-or-later */
/* outlier.c - counting tries, and the task of each backend that decides on them */
#include <stdio.h>
#include <stdlib.h>
#include "base/clock.h"
#include "base/list.h"
#include "core/lock.h"
#include "core/task.h"
#include "core/thread.h"
#include "proxy/outlier.h"
#include "proxy/proxy.h"
#include "proxy/server.h"
#include "server_priv.h"

/* --- counting ------------------------------------------------------------------------------- */

static const bool is_failure[] = {
#define X(name, layers, error, text) error,
	OBSERVATIONS(X)
#undef X
};

/* Is there a time that says something about the server? */
static bool has_time(enum check_observation seen)
{
	return seen == SEEN_CONNECTED || seen == SEEN_RESPONSE_OK ||
	       seen == SEEN_RESPONSE_STATUS || seen == SEEN_RESPONSE_TIMEOUT;
}

void outlier_count_now(struct server *srv, enum check_observation seen, uint64_t ns)
{
	struct counter_set *set = &srv->state->counters;

	counter_add(set, CNT_TRIES, 1);
	if (is_failure[seen])
		counter_add(set, CNT_TRIES_FAILED, 1);
	if (!has_time(seen))
		return;
	counter_add(set, CNT_TRIES_TIMED, 1);
	counter_add(set, CNT_TRIES_US, (int64_t)(ns / 1000));
}

/* --- one server ----------------------------------------------------------------------------- */

/* How much a counter has grown since *<seen>, which follows it. It may have been cleared. */
static uint64_t grown(const struct server *srv, unsigned counter, uint64_t *seen)
{
	uint64_t was = *seen, now = counter_read(&srv->state->counters, counter);

	*seen = now;
	return now < was ? now : now - was;
}

/* What the interval has shown of <srv>; false: it would not serve anyway. */
static bool look_at(struct server *srv, struct outlier_view *v)
{
	struct outlier_state *st = &srv->state->outlier;

	*v = (struct outlier_view){ .server = srv };
	/* while a reload is on, two generations may look */
	lock_take(&srv->proxy->state->change_lock);
	v->requests = grown(srv, CNT_TRIES, &st->seen_requests);
	v->failed = grown(srv, CNT_TRIES_FAILED, &st->seen_failed);
	v->timed = grown(srv, CNT_TRIES_TIMED, &st->seen_timed);
	v->us = grown(srv, CNT_TRIES_US, &st->seen_us);
	v->is_out = outlier_is_out(srv);
	v->until_ms = st->until_ms;
	lock_drop(&srv->proxy->state->change_lock);
	/* counters are read one after the other */
	if (v->failed > v->requests)
		v->failed = v->requests;
	return !srv->backup && (v->is_out || server_is_usable(srv));
}

static unsigned row_of(const struct server *srv)
{
	return __atomic_load_n(&srv->state->outlier.row, __ATOMIC_RELAXED);
}

static void row_set(struct server *srv, unsigned row)
{
	__atomic_store_n(&srv->state->outlier.row, row, __ATOMIC_RELAXED);
}

static void eject(const struct outlier_view *v)
{
	const struct outlier_settings *set = &v->server->proxy->outlier;
	unsigned row = row_of(v->server) + 1;
	uint64_t ms = outlier_time_ms(set, row);
	char why[200];

	if (v->why == OUTLIER_ERRORS)
		snprintf(why, sizeof(why), "%llu of %llu requests failed, of the others' %llu%%",
			 (unsigned long long)v->failed, (unsigned long long)v->requests,
			 (unsigned long long)v->others_percent);
	else
		snprintf(why, sizeof(why), "%.1f ms on average, the others %.1f ms",
			 (double)(v->us / v->timed) / 1000, (double)v->others_us / 1000);
	row_set(v->server, row);
	server_eject(v->server, clock_now_ms() + ms, ms, why);
}

void outlier_pardon(struct server *srv)
{
	row_set(srv, 0);
	server_bring_back(srv);
}

/* --- a backend ------------------------------------------------------------------------------ */

struct watch {
	struct list link;
	struct proxy *be;
	struct task *task;
	uint64_t next_ms;     /* when the interval ends */
};

/* Of this thread. */
static __thread struct list watches;
static __thread bool list_is_ready;

static void carry_out(const struct outlier_view *v)
{
	unsigned row = row_of(v->server);

	if (v->eject)
		eject(v);
	else if (v->bring_back)
		server_bring_back(v->server);
	else if (row && !v->is_out && !v->why && v->requests)
		row_set(v->server, row - 1);
}

static void decide(struct proxy *be)
{
	unsigned room = __atomic_load_n(&be->server_count, __ATOMIC_RELAXED), count = 0;
	struct outlier_view *views = room ? malloc(room * sizeof(*views)) : NULL;

	if (!views)
		return;
	for (struct server *s = server_first(be); s && count < room; s = server_next(s))
		count += look_at(s, &views[count]);
	outlier_decide(&be->outlier, views, count);
	for (unsigned i = 0; i < count; i++)
		carry_out(&views[i]);
	free(views);
}

/* Ends the ejections whose time is over. Returns when the next one ends. */
static uint64_t bring_back_due(const struct proxy *be, uint64_t now)
{
	uint64_t next = TIMER_NEVER;

	for (struct server *s = server_first(be); s; s = server_next(s)) {
		uint64_t until = __atomic_load_n(&s->state->outlier.until_ms, __ATOMIC_RELAXED);

		if (!outlier_is_out(s))
			continue;
		if (until <= now)
			server_bring_back(s);
		else if (until < next)
			next = until;
	}
	return next;
}

static void watch_task(struct task *t, void *ctx, unsigned why)
{
	struct watch *w = ctx;
	uint64_t now = clock_now_ms(), back;

	if (now >= w->next_ms) {
		w->next_ms = now + (uint64_t)w->be->outlier.interval_ms;
		decide(w->be);
	}
	back = bring_back_due(w->be, now);
	task_schedule(t, back < w->next_ms ? back : w->next_ms);
}

static bool watch_new(struct proxy *be)
{
	struct watch *w = calloc(1, sizeof(*w));

	if (w)
		w->task = task_new(watch_task, w);
	if (!w || !w->task) {
		free(w);
		return false;
	}
	w->be = be;
	w->next_ms = clock_now_ms() + (uint64_t)be->outlier.interval_ms;
	list_append(&watches, &w->link);
	/* a former generation may have ejected some */
	task_wake(w->task, TASK_WOKEN_INIT);
	return true;
}

static void watch_free(struct watch *w)
{
	list_remove(&w->link);
	task_free(&w->task);
	free(w);
}

bool outliers_start_thread(struct config *cfg)
{
	if (!list_is_ready)
		list_init(&watches);
	list_is_ready = true;
	for (struct proxy *px = proxies_first(cfg); px; px = proxy_next(px))
		if (px->outlier.interval_ms && !px->disabled && px->caps & PROXY_BE &&
		    (unsigned)px->id % thread_count() == thread_id && !watch_new(px))
			return false;
	return true;
}

void outliers_stop_thread(const struct config *cfg)
{
	struct list *at, *next;

	for (at = list_is_ready ? watches.next : &watches; at != &watches; at = next) {
		struct watch *w = list_entry(at, struct watch, link);

		next = at->next;
		if (!cfg || w->be->config == cfg)
			watch_free(w);
	}
}
