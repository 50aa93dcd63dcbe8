/* SPDX-License-Identifier: GPL-2.0-or-later */
/* t_loop.c - the loop with several threads: descriptors, timers, messages, tasks, hooks, stop */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/module.h"
#include "core/counter.h"
#include "core/fd.h"
#include "core/mailbox.h"
#include "core/pool.h"
#include "core/task.h"
#include "core/thread.h"
#include "tap.h"

#define THREADS 4
#define ROUNDS 2000

/* Thread 0 sends a byte to an echo on each thread's own pair, ROUNDS times. */
struct pinger {
	int fd, peer;
	unsigned rounds;
	unsigned thread;
};

static struct pinger pingers[THREADS];
static struct counter_set counters;
static struct task *tasks[THREADS];
static unsigned runs[THREADS];
static unsigned finished, hooks_run, toured;
static bool early_timer;
static struct pool *shared_pool;

static void finish_one(void)
{
	if (__atomic_add_fetch(&finished, 1, __ATOMIC_SEQ_CST) == 2 * THREADS + 2)
		thread_stop_all();
}

static void on_echo(void *owner, int fd, unsigned events)
{
	char c;

	while (read(fd, &c, 1) == 1) {
		if (write(fd, &c, 1) != 1)
			return;
	}
	fd_cant_recv(fd);
}

static void on_ping(void *owner, int fd, unsigned events)
{
	struct pinger *p = owner;
	char c = 'x';

	if (p->rounds == 0 && write(fd, &c, 1) != 1)
		return;
	if (p->rounds == 0)
		p->rounds = 1;
	while (read(fd, &c, 1) == 1) {
		counter_add(&counters, 0, 1);
		if (p->rounds++ == ROUNDS) {
			fd_close(fd);
			fd_close(p->peer);
			finish_one();
			return;
		}
		if (write(fd, &c, 1) != 1)
			return;
	}
	fd_cant_recv(fd);
}

static void on_hook(struct turn_hook *h)
{
	__atomic_fetch_add(&hooks_run, 1, __ATOMIC_RELAXED);
}

static __thread struct turn_hook hook;

/* Each thread's task wakes that of the next thread until it ran ROUNDS times. */
static void on_task(struct task *t, void *ctx, unsigned why)
{
	unsigned n = ++runs[thread_id];

	turn_hook_add(&hook);
	turn_hook_add(&hook);
	pool_free(shared_pool, ctx);
	t->ctx = pool_alloc(shared_pool);
	if (n < ROUNDS)
		task_wake(t, TASK_WOKEN_OTHER);
	if (n % 16 == 0)
		task_wake(tasks[(thread_id + 1) % THREADS], TASK_WOKEN_MSG);
	if (n == ROUNDS)
		finish_one();
}

static uint64_t timer_due_ms;

static void on_timer_task(struct task *t, void *ctx, unsigned why)
{
	if (!(why & TASK_WOKEN_TIMER))
		return;
	if (clock_now_ms() < timer_due_ms)
		early_timer = true;
	task_free(&t);
	finish_one();
}

static void tour(void *ctx)
{
	(*(unsigned *)ctx)++;
}

static void tour_done(void *ctx)
{
	finish_one();
}

static bool start_thread(void)
{
	struct pinger *p = &pingers[thread_id];

	turn_hook_init(&hook, on_hook);
	if (thread_id == 0) {
		struct task *t = task_new(on_timer_task, NULL);

		timer_due_ms = clock_now_ms() + 20;
		task_schedule(t, timer_due_ms);
		thread_call_all(tour, tour_done, &toured);
	}
	tasks[thread_id] = task_new(on_task, NULL);
	task_wake(tasks[thread_id], TASK_WOKEN_INIT);
	return fd_add(p->fd, on_ping, p, 0) && fd_add(p->peer, on_echo, p, 0);
}

static void stop_thread(void)
{
	struct task *t = tasks[thread_id];

	pool_free(shared_pool, t->ctx);
	task_free(&t);
}

static const struct module test_module = {
	.name = "test", .thread_init = start_thread, .thread_fini = stop_thread,
};
static const struct module *const modules[] = { &test_module, NULL };

int main(int argc, char **argv)
{
	struct pool_stats st;
	uint64_t leaked = 0;

	if (argc > 1 && strcmp(argv[1], "poll") == 0)
		fd_poller_disable("epoll");
	if (argc > 1 && strcmp(argv[1], "select") == 0)
		fd_poller_disable("epoll"), fd_poller_disable("poll");
	clock_refresh();
	ok(!thread_layout(1, 2), "more groups than threads is refused");
	ok(!thread_layout(THREADS_MAX + 1, 1), "too many threads are refused");
	ok(thread_layout(THREADS, 2), "four threads in two groups");
	is_int(thread_group_of(3), 1, "the last thread is in the second group");
	is_int(thread_group_first(1), 2, "the second group starts at thread 2");
	counter_set_init(&counters, 3);
	shared_pool = pool_new("test", 100);
	for (int i = 0; i < THREADS; i++) {
		int fds[2];

		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) < 0)
			return 1;
		pingers[i] = (struct pinger){ .fd = fds[0], .peer = fds[1], .thread = i };
	}
	ok(thread_run_all(modules), "all threads ran and stopped");
	is_int(counter_read(&counters, 0), THREADS * ROUNDS, "every echo was counted");
	is_int(toured, THREADS, "thread_call_all visited each thread once");
	ok(hooks_run > 0 && hooks_run <= 2 * THREADS * ROUNDS, "hooks ran");
	ok(!early_timer, "the timer was not early");
	is_int(fd_count(), 0, "no descriptor is left");
	is_int(task_count(), 0, "no task is left");
	for (unsigned i = 0; pool_get_stats(i, &st); i++)
		leaked += st.used;
	is_int(leaked, 0, "no pool object is left");
	counter_set_fini(&counters);
	return done_testing();
}
