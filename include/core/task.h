/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* task.h - the run queue of tasks
 *
 * A task belongs to one thread for life. Waking it inserts it into its thread's run queue, ordered
 * by nice value; each turn of the loop runs a bounded number of tasks. What can be done immediately
 * should not be a task (run to completion). A task may have a timer. Any thread may wake a task;
 * only its owner may free it. Handlers are profiled by function (profile.h).
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
	unsigned why;           /* atomic: reasons that run() has not seen yet */
	unsigned short thread;
	short nice;             /* -1024..1024 */
	/* atomic: a wake-up is in the mailbox; the task was freed meanwhile */
	unsigned remote_state;
	uint64_t key;           /* rank in the run queue */
	uint64_t woken_ns;      /* for the latency, when profiling */
	uint64_t calls;
};

/* Creates a task of the calling thread, not queued. <run> gets the reasons of the wake-ups since
 * its last call. NULL: out of memory.
 */
struct task *task_new(void (*run)(struct task *t, void *ctx, unsigned why), void *ctx);
/* Removes the task from the queue and the timers; frees it when no remote wake-up is pending. Owner
 * only.
 */
void task_free(struct task **t);
/* Wakes the task. Any thread. */
void task_wake(struct task *t, unsigned why);
/* Is it waiting in its thread's run queue? Owner only. */
static inline bool task_is_queued(const struct task *t)
{
	return list_is_linked(&t->fifo) || tree_is_linked(&t->node);
}

/* Returns the task that the calling thread is running, or NULL. */
struct task *task_current(void);
/* Sets how many tasks a turn runs at most (tune.runqueue-depth). Before the threads start. */
void task_set_budget(unsigned tasks);
/* Return the number of tasks of the process, and of those in run queues: Tasks and Run_queue of
 * `show info`.
 */
unsigned task_count(void);
unsigned task_queued_count(void);

/* Wakes the task at <at_ms>; TIMER_NEVER: no more. Owner only. */
static inline void task_schedule(struct task *t, uint64_t at_ms)
{
	timer_set(&t->timer, at_ms);
}

#endif
