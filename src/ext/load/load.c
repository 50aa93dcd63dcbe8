/* SPDX-License-Identifier: GPL-2.0-or-later */
/* load.c - the load generator: from the plan to the threads, and to the end */
#include <stdlib.h>
#include "base/bug.h"
#include "base/clock.h"
#include "conf/conf.h"
#include "load_priv.h"
#include "proxy/proxy.h"
#include "proxy/server.h"

/* A value is known to 1 part in 128; the longest that is told apart is an hour. */
#define PRECISION_BITS 7
#define LONGEST_NS (3600 * NS_PER_SEC)
#define FIELDS_MAX 101
#define HEAD_MAX 15360

bool load_finish(void)
{
	return report_end() && !load.has_failed;
}

static bool load_start(struct config *cfg, struct diag_list *diags)
{
	struct proxy *px = load.plan ? proxy_find(cfg, LOAD_BACKEND, PROXY_BE) : NULL;

	if (!load.plan || load.server)
		return true;
	load.server = px ? server_first(px) : NULL;
	load.mux = load.plan->proto ? mux_find(load.plan->proto) : mux_default(MUX_HTTP);
	mux_settings_init(&load.settings, cfg);
	load.settings.fields_max = FIELDS_MAX;
	load.settings.head_max = HEAD_MAX;
	if (load.server && plan_request())
		return true;
	diag_add(diags, DIAG_ALERT, NULL, NULL, "haload: the request cannot be made.");
	return false;
}

/* --- threads ---------------------------------------------------------------------------------- */

/* Lets in the clients whose time has come. */
static void let_in(struct load_thread *t)
{
	unsigned allowed = pace_clients(t, clock_read_ns());

	for (; t->client_live < allowed; t->client_live++) {
		struct client *c = &t->clients[t->client_live];

		for (unsigned i = 0; i < load.plan->streams; i++)
			flow_ready(&c->flows[i]);
	}
}

static void on_tick(struct timer *timer)
{
	struct load_thread *t = container_of(timer, struct load_thread, tick);

	let_in(t);
	if (!list_is_empty(&t->ready))
		turn_hook_add(&t->hook);
	timer_set(&t->tick, pace_next_ms(t, clock_now_ms()));
}

/* The part of <n> that this thread does. */
static uint64_t share(uint64_t n)
{
	return n / thread_count() + (thread_id < n % thread_count());
}

static bool load_thread_init(void)
{
	const struct load_plan *p = load.plan;
	struct load_thread *t;

	if (!p)
		return true;
	t = calloc(1, sizeof(*t));
	load.threads[thread_id] = t;
	if (!t || !histogram_init(&t->ttfb, PRECISION_BITS, LONGEST_NS) ||
	    !histogram_init(&t->total, PRECISION_BITS, LONGEST_NS))
		return false;
	list_init(&t->ready);
	turn_hook_init(&t->hook, flows_begin);
	timer_init(&t->tick, on_tick);
	t->begin_ns = clock_read_ns();
	t->quota = p->requests ? share(p->requests) : UINT64_MAX;
	t->rate = p->rate / thread_count();
	t->client_count = (unsigned)share(p->conns);
	t->clients = calloc(t->client_count + 1, sizeof(*t->clients));
	if (!t->clients)
		return false;
	for (unsigned i = 0; i < t->client_count; i++)
		if (!client_init(&t->clients[i], t))
			return false;
	if (thread_id == 0)
		report_begin();
	timer_set(&t->tick, clock_now_ms());
	return true;
}

static void load_thread_fini(void)
{
	struct load_thread *t = load.threads[thread_id];

	if (!t)
		return;
	t->over = true;
	timer_cancel(&t->tick);
	for (unsigned i = 0; t->clients && i < t->client_count; i++)
		client_fini(&t->clients[i]);
	turn_hook_cancel(&t->hook);
	free(t->clients);
	t->clients = NULL;
}

static void load_fini(void)
{
	for (unsigned i = 0; i < THREADS_MAX; i++) {
		struct load_thread *t = load.threads[i];

		if (!t)
			continue;
		histogram_fini(&t->ttfb);
		histogram_fini(&t->total);
		free(t);
	}
	if (load.server)
		arena_fini(&load.arena);
}

const struct module mod_load = {
	.name = "load", .start = load_start, .thread_init = load_thread_init,
	.thread_fini = load_thread_fini, .fini = load_fini,
};
