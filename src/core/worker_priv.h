/* SPDX-License-Identifier: GPL-2.0-or-later */
/* worker_priv.h - the data of one thread's loop, for the files of core only
 *
 * One struct per thread, created before the threads start. Its owner uses all of it without a lock;
 * other threads use the first part only (mail, sleeping, wake_fd) and read counters.
 */
#ifndef CORE_WORKER_PRIV_H
#define CORE_WORKER_PRIV_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/list.h"
#include "base/tree.h"
#include "core/activity.h"
#include "core/mailbox.h"
#include "core/thread.h"

#define WHEEL_LEVELS 7 /* 64^7 ms: 139 years */
#define CACHE_LINE 64

struct wheel {
	uint64_t now_ms;                    /* everything due until then was processed */
	struct list due;                    /* set for a time already past */
	uint64_t occupied[WHEEL_LEVELS];    /* bit set: the slot's list is initialised */
	struct list slot[WHEEL_LEVELS][64]; /* meaningful only where the bit is set */
};

struct run_queue {
	struct list fifo;  /* tasks of nice 0, in order of arrival */
	struct tree sorted;/* the others, by key */
	uint64_t ticks;    /* arrivals so far: the key of a task of nice 0 */
	unsigned length;   /* of both */
};

struct poller_state; /* private to the chosen poller */

struct worker {
	/* Touched by all threads. */
	alignas(CACHE_LINE) _Atomic(struct message *) mail; /* newest first */
	/* the owner is in, or about to enter, a poll that waits */
	atomic_int sleeping;
	/* Set once. */
	alignas(CACHE_LINE) unsigned id;
	unsigned group;
	int wake_fd;                        /* eventfd, -1 before the poller starts */
	/* For the owner. */
	struct poller_state *poll;
	struct list hooks;                  /* for the end of this turn */
	struct list last_hooks;             /* run after those */
	struct run_queue queue;
	struct task *current;               /* being run */
	struct activity activity;
	struct wheel wheel;
};

/* Of the calling thread; worker 0 in the process's first thread. */
extern __thread struct worker *worker_self;
/* Worker of each thread; NULL before the layout is made (except 0). */
extern struct worker *worker_table[THREADS_MAX];

/* Interrupts the sleep of <w>. Async-signal-safe; any thread. */
void worker_wake(struct worker *w);

/* --- timer.c */

/* Runs the timers that are due. */
void wheel_advance(struct wheel *w, uint64_t now_ms);
/* Returns when the wheel must be advanced again; TIMER_NEVER: never. */
uint64_t wheel_next_ms(struct wheel *w);

/* --- task.c */

/* Call before the threads start. False: out of memory. */
bool task_init(void);
/* Runs at most the turn's budget of tasks. */
void run_queue_process(struct worker *w);

/* mailbox.c */
void mailbox_drain(struct worker *w);

static inline bool mailbox_is_empty(struct worker *w)
{
	return atomic_load_explicit(&w->mail, memory_order_relaxed) == NULL;
}

#endif
