/* SPDX-License-Identifier: GPL-2.0-or-later */
/* t_idle.c - idle connections to servers, of a mux that only counts what is asked of it */
#include <stdlib.h>
#include "core/fd.h"
#include "core/thread.h"
#include "core/timer.h"
#include "proxy/fixture.h"
#include "server_conn_priv.h"
#include "stream/process.h"
#include "tap.h"

static struct config *cfg;
static struct server *srv;
static unsigned closed;

static void fake_close(struct mux *m);
static const struct mux_kind fake_kind = { .name = "fake", .back_close = fake_close };

struct fake_mux {
	struct mux mux;
	struct server_conn sc;
};

/* As a mux does: what it served goes with it. */
static void fake_close(struct mux *m)
{
	struct fake_mux *f = (struct fake_mux *)(void *)m;

	closed++;
	idle_use_end(&f->sc);
	config_drop(&f->sc.config);
	free(f);
}

/* A connection that is in use. */
static struct server_conn *conn_in_use(void)
{
	struct fake_mux *f = calloc(1, sizeof(*f));

	if (!f)
		abort();
	f->mux.kind = &fake_kind;
	f->sc.mux = &f->mux;
	f->sc.server = srv;
	f->sc.config = config_take(cfg);
	list_init(&f->sc.link);
	idle_use_begin(&f->sc);
	return &f->sc;
}

static struct idle_list *list(void)
{
	return idle_list_get(srv, false);
}

static void rest(struct server_conn *sc)
{
	idle_use_end(sc);
	idle_put(list(), sc);
}

static struct server_conn *newest(void)
{
	return list_first(&list()->conns, struct server_conn, link);
}

/* The period of pool-purge-delay is over. */
static void purge(void)
{
	clock_thread_now_ns += 2 * NS_PER_SEC;
	list()->timer.fire(&list()->timer);
}

static void test_order(void)
{
	struct server_conn *a, *b;

	ok(!list(), "a server has no list before its first connection");
	a = conn_in_use();
	b = conn_in_use();
	is_int(list()->used, 2, "two are in use");
	is_int(idle_count_of(srv, thread_id), 0, "none is idle");
	ok(idle_has_room(list()), "as many as were in use are worth keeping");
	rest(a);
	rest(b);
	is_int(server_conn_idle_count(srv), 2, "both wait");
	ok(newest() == b, "the newest first");
	ok(!idle_has_room(list()), "a third would be one too many");
	idle_leave(b);
	idle_use_begin(b);
	ok(newest() == a, "one is taken");
	is_int(idle_count_of(srv, thread_id), 1, "the other waits");
	rest(b);
	closed = 0;
	server_conn_close_idle(srv);
	is_int(closed, 2, "all are closed when the server asks for it");
	is_int(server_conn_idle_count(srv), 0, "none waits any more");
}

static void test_purge(void)
{
	struct server_conn *all[5];

	for (unsigned i = 0; i < 5; i++)
		all[i] = conn_in_use();
	for (unsigned i = 0; i < 5; i++)
		rest(all[i]);
	closed = 0;
	purge();
	is_int(closed, 1, "one waited for a whole period");
	purge();
	is_int(closed, 3, "of four that nobody needed, half are closed");
	ok(newest() == all[4], "the oldest ones");
	idle_leave(all[4]);
	idle_use_begin(all[4]);
	rest(all[4]);
	purge();
	is_int(closed, 4, "of two, one was needed");
	purge();
	is_int(closed, 5, "the last one goes too");
	is_int(server_conn_idle_count(srv), 0, "none is left");
	ok(!timer_is_set(&list()->timer), "nor a timer");
}

static void test_bounds(void)
{
	struct server_conn *sc = conn_in_use();

	rest(sc);
	stream_set_idle_descriptors(INT32_MAX, 0);
	closed = 0;
	idle_evict();
	is_int(closed, fd_count() > 0, "descriptors are scarce: one goes");
	stream_set_idle_descriptors(0, INT32_MAX);
	sc = conn_in_use();
	ok(!idle_has_room(list()), "below tune.pool-low-fd-ratio only is one kept");
	stream_set_idle_descriptors(INT32_MAX, INT32_MAX);
	srv->pool.max_conn = 0;
	ok(!idle_has_room(list()), "pool-max-conn 0 keeps none");
	srv->pool.max_conn = -1;
	rest(sc);
	closed = 0;
	server_conn_thread_fini();
	is_int(closed + server_conn_idle_count(srv), 1, "a thread that ends closes its own");
}

static void run_all(void)
{
	test_order();
	test_purge();
	test_bounds();
	thread_stop_all();
}

static void (*const steps[])(void) = { run_all };

#define STEPS_PAUSE_MS 5
#include "core/steps.h"

static bool start_thread(void)
{
	return steps_start() && server_conn_thread_init();
}

static const struct module test_module = {
	.name = "test", .thread_init = start_thread, .thread_fini = steps_stop,
};

int main(void)
{
	static const struct module *const modules[] = { &test_module, NULL };

	server_conn_register();
	fixture_init();
	ok(thread_layout(1, 1), "one thread");
	cfg = fixture_load("defaults\n timeout connect 1s\n timeout client 1s\n timeout server 1s\n"
			   "backend be\n server s 127.0.0.1:1 pool-purge-delay 1s\n");
	srv = server_find(proxy_find(cfg, "be", PROXY_BE), "s");
	ok(thread_run_all(modules), "it ran");
	is_int(step, sizeof(steps) / sizeof(*steps), "through all steps");
	config_drop(&cfg);
	return done_testing();
}
