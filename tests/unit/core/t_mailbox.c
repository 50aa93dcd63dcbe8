/* SPDX-License-Identifier: GPL-2.0-or-later */
/* t_mailbox.c - many posters, one reader: nothing lost, each in order, sleepers woken */
#include <stdlib.h>
#include "base/clock.h"
#include "base/module.h"
#include "core/counter.h"
#include "core/mailbox.h"
#include "core/pool.h"
#include "core/task.h"
#include "core/thread.h"
#include "tap.h"

#define THREADS 4
#define POSTS 20000

struct letter {
	struct message message;
	unsigned from, number;
};

static unsigned next_number[THREADS], received, out_of_order, wrong_thread, ponged;
static struct task *posters[THREADS];
static struct pool *letters; /* taken by the posters, freed by thread 0 */

/* Thread 0 gets them all. The last one of each poster starts a slow game of ping-pong, in which
 * both sides sleep in turn.
 */
static void on_pong(struct message *m);

static void on_ping(struct message *m)
{
	m->run = on_pong;
	mailbox_post(0, m);
}

static void on_pong(struct message *m)
{
	struct letter *l = (struct letter *)m;

	if (++l->number == 200) {
		pool_free(letters, l);
		if (++ponged == THREADS - 1)
			thread_stop_all();
		return;
	}
	m->run = on_ping;
	mailbox_post(l->from, m);
}

static void on_letter(struct message *m)
{
	struct letter *l = (struct letter *)m;

	wrong_thread += thread_id != 0;
	out_of_order += l->number != next_number[l->from];
	next_number[l->from] = l->number + 1;
	received++;
	if (l->number + 1 == POSTS) {
		l->number = 0;
		on_pong(m);
		return;
	}
	pool_free(letters, l);
}

static void post_some(struct task *t, void *ctx, unsigned why)
{
	static __thread unsigned number;

	for (int i = 0; i < 100 && number < POSTS; i++) {
		struct letter *l = pool_zalloc(letters);

		l->message.run = on_letter;
		l->from = thread_id;
		l->number = number++;
		mailbox_post(0, &l->message);
	}
	if (number < POSTS)
		task_wake(t, TASK_WOKEN_OTHER);
}

static bool start_thread(void)
{
	if (thread_id == 0)
		return true;
	posters[thread_id] = task_new(post_some, NULL);
	task_wake(posters[thread_id], TASK_WOKEN_INIT);
	return true;
}

static void stop_thread(void)
{
	task_free(&posters[thread_id]);
}

static const struct module test_module = {
	.name = "test", .thread_init = start_thread, .thread_fini = stop_thread,
};
static const struct module *const modules[] = { &test_module, NULL };

static void test_rate(void)
{
	struct rate_closed closed;
	struct rate r = { 0 };

	clock_thread_now_ns = 100 * NS_PER_SEC;
	rate_add(&r, 10, &closed);
	is_int(rate_read(&r), 10, "rate: this second's events");
	clock_thread_now_ns += NS_PER_SEC;
	is_int(rate_read(&r), 10, "rate: all of the last second's at its end");
	clock_thread_now_ns += NS_PER_SEC / 2;
	is_int(rate_read(&r), 5, "rate: half of them half a second later");
	rate_add(&r, 4, &closed);
	is_int(rate_read(&r), 9, "rate: both seconds");
	clock_thread_now_ns += 2 * NS_PER_SEC;
	is_int(rate_read(&r), 0, "rate: forgotten");
}

int main(void)
{
	uint64_t allocated, used, failures;

	test_rate();
	clock_refresh();
	thread_layout(THREADS, 1);
	letters = pool_new("letter", sizeof(struct letter));
	pool_set_hot_size(4096);
	ok(thread_run_all(modules), "ran");
	is_int(received, (THREADS - 1) * POSTS, "every message arrived");
	is_int(out_of_order, 0, "in the order of its poster");
	is_int(wrong_thread, 0, "on its thread");
	is_int(ponged, THREADS - 1, "sleepers were woken");
	pool_trim_shared();
	pool_get_totals(&allocated, &used, &failures);
	is_int(allocated, 0, "every object went back to the library");
	return done_testing();
}
