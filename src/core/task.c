/* SPDX-License-Identifier: GPL-2.0-or-later */
/* task.c - the run queue
 *
 * Every arrival gets a number. A task of nice 0 is ranked by it and waits in a plain list, which
 * is then sorted by itself. Others are ranked earlier or later by an amount that grows with the
 * length of the queue and wait in a tree. The next to run is the smaller of the two heads.
 */
#include <stddef.h>
#include <stdlib.h>
#include "base/bug.h"
#include "base/clock.h"
#include "core/pool.h"
#include "core/activity.h"
#include "core/task.h"
#include "profile_priv.h"
#include "worker_priv.h"

#define RQ_KEY_START (1ull << 40) /* room below the first arrival for negative nice */

enum remote_state {
	REMOTE_POSTED = 1 << 0, /* <remote> is in the mailbox */
	REMOTE_FREED = 1 << 1,  /* freed: the thread that takes <remote> out releases the memory */
};

static unsigned task_budget = 200;
static struct pool *task_pool;
static unsigned task_total; /* atomic */

void task_set_budget(unsigned tasks)
{
	task_budget = tasks ? tasks : 1;
}

unsigned task_count(void)
{
	return __atomic_load_n(&task_total, __ATOMIC_RELAXED);
}

unsigned task_queued_count(void)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < thread_count(); i++)
		sum += (unsigned)activity_read(i, ACTIVITY_curr_rq);
	return sum;
}

struct task *task_current(void)
{
	return worker_self->current;
}

static void run_queue_insert(struct worker *w, struct task *t)
{
	struct run_queue *q = &w->queue;

	t->key = RQ_KEY_START + q->ticks++;
	t->woken_ns = profile_is_on ? clock_read_ns() : 0;
	if (likely(t->nice == 0)) {
		list_append(&q->fifo, &t->fifo);
	} else {
		/* At 1024, four queue lengths later; at -1024, four sooner. */
		t->key += (uint64_t)((int64_t)t->nice * (int64_t)(q->length + 8) / 256);
		tree_insert(&q->sorted, &t->node, t->key);
	}
	q->length++;
	activity_set(ACTIVITY_curr_rq, q->length);
}

static void run_queue_remove(struct worker *w, struct task *t)
{
	if (list_is_linked(&t->fifo))
		list_remove(&t->fifo);
	else
		tree_remove(&w->queue.sorted, &t->node);
	w->queue.length--;
}

static struct task *run_queue_first(struct run_queue *q)
{
	struct task *f = NULL;
	struct tree_node *n;

	if (!list_is_empty(&q->fifo))
		f = list_first(&q->fifo, struct task, fifo);
	n = q->sorted.root ? tree_first(&q->sorted) : NULL;
	if (n && (!f || n->key < f->key))
		return container_of(n, struct task, node);
	return f;
}

static void task_on_timer(struct timer *timer)
{
	task_wake(container_of(timer, struct task, timer), TASK_WOKEN_TIMER);
}

/* The wake-up of another thread arrived. */
static void task_on_remote(struct message *m)
{
	struct task *t = container_of(m, struct task, remote);
	unsigned state = __atomic_exchange_n(&t->remote_state, 0, __ATOMIC_ACQ_REL);

	if (state & REMOTE_FREED) {
		pool_free(task_pool, t);
		return;
	}
	if (!task_is_queued(t))
		run_queue_insert(worker_self, t);
}

bool task_init(void)
{
	if (!task_pool)
		task_pool = pool_new("task", sizeof(struct task));
	return task_pool != NULL;
}

struct task *task_new(void (*run)(struct task *t, void *ctx, unsigned why), void *ctx)
{
	struct task *t;

	if (unlikely(!task_pool) && !task_init())
		return NULL;
	t = pool_zalloc(task_pool);
	if (!t)
		return NULL;
	list_init(&t->fifo);
	timer_init(&t->timer, task_on_timer);
	t->remote.run = task_on_remote;
	t->run = run;
	t->ctx = ctx;
	t->thread = (unsigned short)thread_id;
	SHARED_WRITE(process);
	__atomic_fetch_add(&task_total, 1, __ATOMIC_RELAXED);
	return t;
}

void task_free(struct task **pt)
{
	struct task *t = *pt;
	struct worker *w = worker_self;

	if (!t)
		return;
	*pt = NULL;
	BUG_ON(t->thread != thread_id);
	if (task_is_queued(t)) {
		run_queue_remove(w, t);
		activity_set(ACTIVITY_curr_rq, w->queue.length);
	}
	timer_cancel(&t->timer);
	if (w->current == t)
		__atomic_store_n(&w->current, NULL, __ATOMIC_RELAXED);
	SHARED_WRITE(process);
	__atomic_fetch_sub(&task_total, 1, __ATOMIC_RELAXED);
	if (__atomic_fetch_or(&t->remote_state, REMOTE_FREED, __ATOMIC_ACQ_REL) & REMOTE_POSTED)
		return;
	pool_free(task_pool, t);
}

void task_wake(struct task *t, unsigned why)
{
	if (likely(t->thread == thread_id)) {
		__atomic_fetch_or(&t->why, why, __ATOMIC_RELAXED);
		if (!task_is_queued(t))
			run_queue_insert(worker_self, t);
		return;
	}
	__atomic_fetch_or(&t->why, why, __ATOMIC_RELEASE);
	if (__atomic_fetch_or(&t->remote_state, REMOTE_POSTED, __ATOMIC_ACQ_REL) & REMOTE_POSTED)
		return;
	mailbox_post(t->thread, &t->remote);
}

void run_queue_process(struct worker *w)
{
	struct run_queue *q = &w->queue;
	unsigned budget = q->length, left;

	if (budget > task_budget)
		budget = task_budget;
	left = budget;
	while (left && q->length) {
		struct task *t = run_queue_first(q);
		unsigned why;

		run_queue_remove(w, t);
		why = __atomic_exchange_n(&t->why, 0, __ATOMIC_ACQUIRE);
		t->calls++;
		__atomic_store_n(&w->current, t, __ATOMIC_RELAXED);
		if (unlikely(profile_is_on))
			profile_run_task(t, why);
		else
			t->run(t, t->ctx, why);
		left--;
	}
	__atomic_store_n(&w->current, NULL, __ATOMIC_RELAXED);
	if (!budget) {
		activity_add(ACTIVITY_empty_rq, 1);
		return;
	}
	activity_add(ACTIVITY_tasksw, budget - left);
	activity_add(ACTIVITY_ctxsw, budget - left);
	activity_set(ACTIVITY_curr_rq, q->length);
	if (q->length)
		activity_add(ACTIVITY_long_rq, 1);
}
