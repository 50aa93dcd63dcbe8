/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Queues: order, grants, and that no slot is lost or given twice by many threads. */
#include <pthread.h>
#include <sched.h>
#include "core/task.h"

static void note_wake(struct task *t, unsigned why);
#define task_wake note_wake
#include "../../../src/proxy/queue.c"
#undef task_wake

#include "fixture.h"
#include "tap.h"

static unsigned wakes;

/* Tasks are not run here: threads look at the waiter's state. */
static void note_wake(struct task *t, unsigned why)
{
	__atomic_add_fetch(&wakes, 1, __ATOMIC_RELAXED);
}

static void test_order(void)
{
	struct config *cfg = fixture_load("backend b\n"
					  " server a 127.0.0.1:1 maxconn 1 maxqueue 3\n");
	struct proxy *be = proxy_find(cfg, "b", PROXY_BE);
	struct server *srv = server_find(be, "a");
	struct queue_waiter w[5];

	for (int i = 0; i < 5; i++)
		queue_waiter_init(&w[i], NULL);
	ok(server_slot_take(srv), "one slot");
	is_int(queue_enter(&w[0], be, NULL, 0, 0), QUEUE_WAITING, "first waiter, on the backend");
	is_int(queue_enter(&w[1], be, srv, 0, 0), QUEUE_WAITING, "second, on the server");
	is_int(queue_enter(&w[2], be, srv, -1, 0), QUEUE_WAITING, "third, of a better class");
	is_int(queue_enter(&w[3], be, srv, 0, -5000), QUEUE_WAITING, "fourth, moved ahead");
	is_int(queue_enter(&w[4], be, srv, 0, 0), QUEUE_REFUSED, "maxqueue is reached");
	is_int(queue_length_server(srv), 3, "three on the server");
	is_int(queue_length_backend(be), 1, "one on the backend");
	server_slot_release(srv);
	is_int(queue_leave(&w[2]), QUEUE_SLOT_GRANTED, "the better class is first");
	ok(w[2].granted == srv, "and knows its server");
	ok(!server_slot_take(srv), "nobody overtakes");
	server_slot_release(srv);
	is_int(queue_leave(&w[3]), QUEUE_SLOT_GRANTED, "then the better offset");
	is_int(queue_leave(&w[0]), QUEUE_OUT, "a waiter may give up");
	is_int(queue_redistribute(srv), 1, "the last is sent back");
	is_int(queue_leave(&w[1]), QUEUE_RETURNED, "and sees it");
	server_slot_release(srv);
	is_int(srv->state->queue.served, 0, "all slots are back");
	is_int((int)counter_read(&be->state->be, CNT_QUEUE_CUR), 0, "nobody is counted as waiting");
	is_int((int)be->state->be_queue_max, 1, "one waited for any server");
	config_drop(&cfg);
}

static void test_limits(void)
{
	struct config *cfg = fixture_load("backend b\n fullconn 10\n"
					  " server a 127.0.0.1:1 minconn 2 maxconn 20\n");
	struct proxy *be = proxy_find(cfg, "b", PROXY_BE);
	struct server *srv = server_find(be, "a");
	struct queue_waiter w;
	const char *error;

	is_int(server_limit(srv), 2, "minconn at no load");
	counter_add(&be->state->be, CNT_SESS_CUR, 5);
	is_int(server_limit(srv), 10, "half at half the load");
	counter_add(&be->state->be, CNT_SESS_CUR, 5);
	is_int(server_limit(srv), 20, "maxconn at fullconn");
	ok(server_set_maxconn(srv, "1", &error), "set maxconn");
	is_int(server_limit(srv), 1, "applies at once");
	ok(server_slot_take(srv), "one");
	queue_waiter_init(&w, NULL);
	is_int(queue_enter(&w, be, srv, 0, 0), QUEUE_WAITING, "the next waits");
	ok(server_set_maxconn(srv, "0", &error), "no limit any more");
	is_int(queue_leave(&w), QUEUE_SLOT_GRANTED, "the waiter is served");
	ok(server_slot_take(srv), "and so is everyone");
	ok(server_set_maxconn(srv, "3", &error), "limited again");
	ok(!server_slot_take(srv), "those taken without limit count");
	server_slot_release(srv);
	ok(server_slot_take(srv), "one went, one comes");
	for (int i = 0; i < 3; i++)
		server_slot_release(srv);
	is_int((int)counter_read(&srv->state->counters, CNT_SESS_CUR), 0, "all are back");
	config_drop(&cfg);
}

/* --- many threads --------------------------------------------------------------------------- */

#define THREADS 6
#define TURNS 3000
#define LIMIT 2

static struct proxy *shared_backend;
static int inside, most_inside, served, returned;

static void serve(struct server *srv)
{
	int now = __atomic_add_fetch(&inside, 1, __ATOMIC_RELAXED);
	int most = __atomic_load_n(&most_inside, __ATOMIC_RELAXED);

	while (now > most && !__atomic_compare_exchange_n(&most_inside, &most, now, false,
							  __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	__atomic_add_fetch(&served, 1, __ATOMIC_RELAXED);
	sched_yield();
	__atomic_sub_fetch(&inside, 1, __ATOMIC_RELAXED);
	server_slot_release(srv);
}

static void *worker(void *arg)
{
	struct balance_pick_args args = { 0 };
	struct queue_waiter w;
	uintptr_t number = (uintptr_t)arg;

	for (unsigned turn = 0; turn < TURNS; turn++) {
		struct server *srv = balance_pick(shared_backend, &args);
		enum queue_state state;

		if (srv && server_slot_take(srv)) {
			serve(srv);
			continue;
		}
		queue_waiter_init(&w, NULL);
		if ((turn + number) % 3)
			srv = NULL;
		if (queue_enter(&w, shared_backend, srv, 0, 0) == QUEUE_GRANTED) {
			serve(w.granted);
			continue;
		}
		while ((state = queue_waiter_state(&w)) == QUEUE_ON_SERVER ||
		       state == QUEUE_ON_BACKEND)
			sched_yield();
		state = queue_leave(&w);
		if (state == QUEUE_SLOT_GRANTED)
			serve(w.granted);
		else
			__atomic_add_fetch(&returned, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void test_threads(void)
{
	struct config *cfg = fixture_load("backend b\n balance leastconn\n"
					  " server a 127.0.0.1:1 maxconn 1\n"
					  " server b 127.0.0.1:2 maxconn 1\n");
	pthread_t threads[THREADS];

	shared_backend = proxy_find(cfg, "b", PROXY_BE);
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, worker, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	is_int(served + returned, THREADS * TURNS, "every request was served");
	ok(most_inside <= LIMIT, "never more than the limit at once: %d", most_inside);
	is_int(queue_length_backend(shared_backend), 0, "nobody waits");
	for (struct server *srv = server_first(shared_backend); srv; srv = server_next(srv)) {
		is_int(srv->state->queue.served, 0, "%s: no slot is lost", srv->name);
		is_int((int)counter_read(&srv->state->counters, CNT_SESS_CUR), 0,
		       "%s: none is counted", srv->name);
	}
	config_drop(&cfg);
}

int main(void)
{
	fixture_init();
	test_order();
	test_limits();
	test_threads();
	return done_testing();
}
