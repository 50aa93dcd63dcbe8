/* SPDX-License-Identifier: GPL-2.0-or-later */
/* t_task.c - order of the run queue, budget, wake-ups, freeing */
#include <string.h>
#include "../../../src/core/worker_priv.h"
#include "base/clock.h"
#include "core/pool.h"
#include "core/task.h"
#include "tap.h"

static char order[64];
static unsigned reasons;

static void note(struct task *t, void *ctx, unsigned why)
{
	strncat(order, ctx, sizeof(order) - strlen(order) - 1);
	reasons = why;
}

static void again(struct task *t, void *ctx, unsigned why)
{
	note(t, ctx, why);
	task_wake(t, TASK_WOKEN_OTHER);
}

static void suicide(struct task *t, void *ctx, unsigned why)
{
	note(t, ctx, why);
	task_free(&t);
}

static struct task *make(void (*run)(struct task *, void *, unsigned), char *name, short nice)
{
	struct task *t = task_new(run, name);

	t->nice = nice;
	return t;
}

static struct task *a, *b, *c, *low, *high;

static void test_order(struct worker *w)
{
	task_wake(b, TASK_WOKEN_IO);
	task_wake(a, TASK_WOKEN_IO);
	task_wake(b, TASK_WOKEN_MSG);
	task_wake(c, TASK_WOKEN_IO);
	is_int(activity_read(0, ACTIVITY_curr_rq), 3, "a task woken twice waits once");
	run_queue_process(w);
	is_str(order, "bac", "order of arrival");
	order[0] = 0;
	task_wake(low, TASK_WOKEN_IO);
	task_wake(a, TASK_WOKEN_IO);
	task_wake(b, TASK_WOKEN_IO);
	task_wake(high, TASK_WOKEN_IO);
	run_queue_process(w);
	is_str(order, "HabL", "nice values go before and behind");
	order[0] = 0;
	task_wake(a, TASK_WOKEN_IO);
	task_wake(a, TASK_WOKEN_MSG);
	run_queue_process(w);
	is_int(reasons, TASK_WOKEN_IO | TASK_WOKEN_MSG, "reasons add up");
	run_queue_process(w);
	is_str(order, "a", "and are told once");
	order[0] = 0;
	task_set_budget(2);
	task_wake(a, 1);
	task_wake(b, 1);
	task_wake(c, 1);
	run_queue_process(w);
	is_str(order, "ab", "a turn has a budget");
	run_queue_process(w);
	is_str(order, "abc", "the rest comes next");
	task_set_budget(200);
	order[0] = 0;
}

static void test_life(struct worker *w)
{
	struct task *loop = make(again, "x", 0), *dies;

	task_wake(loop, 1);
	run_queue_process(w);
	is_str(order, "x", "a task that wakes itself runs once a turn");
	task_free(&loop);
	ok(!loop, "task_free clears the pointer");
	is_int(w->queue.length, 0, "and empties the queue");
	dies = make(suicide, "d", 0);
	task_wake(dies, 1);
	task_wake(a, 1);
	run_queue_process(w);
	is_str(order, "xda", "a task may free itself");
	order[0] = 0;
	task_schedule(a, clock_now_ms());
	task_schedule(b, clock_now_ms() + 100000);
	wheel_advance(&w->wheel, clock_now_ms());
	run_queue_process(w);
	is_str(order, "a", "a timer wakes its task");
	is_int(reasons, TASK_WOKEN_TIMER, "and says so");
}

int main(void)
{
	struct worker *w = worker_self;

	clock_refresh();
	a = make(note, "a", 0);
	b = make(note, "b", 0);
	c = make(note, "c", 0);
	low = make(note, "L", 1024);
	high = make(note, "H", -1024);
	test_order(w);
	test_life(w);
	task_wake(low, 1);
	task_free(&a);
	task_free(&b);
	task_free(&c);
	task_free(&low);
	task_free(&high);
	is_int(task_count(), 0, "all are gone");
	is_int(w->queue.length, 0, "none waits");
	pool_trim_thread();
	return done_testing();
}
