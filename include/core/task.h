/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* task.h - work that waits its turn: the run queue
 *
 * A task belongs to one thread for life. Waking it puts it in its thread's run queue, ordered by
 * nice value; the loop runs a bounded budget of tasks each turn. What can be done immediately is
 * not a task (run to completion). A task may carry a timer. Any thread may wake a task; freeing is
 * for its owner. Each handler is profiled by function (profile.h).
 * Manual: configuration 5.1 nice, 3.2 tune.runqueue-depth, tune.sched.low-latency.
 */
#ifndef CORE_TASK_H
#define CORE_TASK_H

#include <stdbool.h>
#include <stdint.h>
#include "base/list.h"
#include "base/tree.h"
#include "core/mailbox.h"
#include "core/timer.h"

enum task_wake {
	TASK_WOKEN_INIT = 1 << 0,
	TASK_WOKEN_TIMER = 1 << 1,
	TASK_WOKEN_IO = 1 << 2,
	TASK_WOKEN_SIGNAL = 1 << 3,
	TASK_WOKEN_MSG = 1 << 4,
	TASK_WOKEN_RES = 1 << 5, /* a resource (slot, memory) is available */
	TASK_WOKEN_OTHER = 1 << 6,
};

struct task {
	struct list fifo;       /* in the run queue, nice 0 */
	struct tree_node node;  /* in the run queue, other nice values */
	struct timer timer;     /* wakes with TASK_WOKEN_TIMER */
	struct message remote;  /* wake-up from another thread */
	void (*run)(struct task *t, void *ctx, unsigned why);
	void *ctx;
	unsigned why;           /* atomic: reasons not yet seen by run */
	unsigned short thread;
	short nice;             /* -1024..1024 */
	unsigned remote_state;  /* atomic: a wake-up is in the mailbox; freed meanwhile */
	uint64_t key;           /* rank in the run queue */
	uint64_t woken_ns;      /* for latency, when profiling */
	uint64_t calls;
};

/* A task of the calling thread. <run> gets the reasons of the wake-ups since its last call. NULL:
 * no memory. Not queued yet.
 */
struct task *task_new(void (*run)(struct task *t, void *ctx, unsigned why), void *ctx);
/* Leaves the queue and the timers; memory goes when no remote wake-up is under way. Owner only. */
void task_free(struct task **t);
/* From any thread. */
void task_wake(struct task *t, unsigned why);
/* Is it waiting in its thread's run queue? Owner only. */
static inline bool task_is_queued(const struct task *t)
{
	return list_is_linked(&t->fifo) || tree_is_linked(&t->node);
}

/* The task that the calling thread runs now, or NULL. */
struct task *task_current(void);
/* How many tasks a turn runs at most (tune.runqueue-depth); before the threads start. */
void task_set_budget(unsigned tasks);
/* Tasks that exist in the process, and those in run queues: Tasks and Run_queue of `show info`. */
unsigned task_count(void);
unsigned task_queued_count(void);

/* Owner only: wake at <at_ms>; TIMER_NEVER: not. */
static inline void task_schedule(struct task *t, uint64_t at_ms)
{
	timer_set(&t->timer, at_ms);
}

#endif
