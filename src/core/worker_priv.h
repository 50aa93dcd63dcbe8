/* SPDX-License-Identifier: GPL-2.0-or-later */
/* worker_priv.h - what the loop of one thread holds, for the files of core only
 *
 * One struct per thread, made before the threads start. Its owner touches everything without
 * a lock; other threads touch the first part only (mail, sleeping, wake_fd) and read counters.
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
	uint64_t now_ms;                    /* all that was due up to here was looked at */
	struct list due;                    /* set for a time already past */
	uint64_t occupied[WHEEL_LEVELS];    /* bit set: the slot's list is initialised */
	struct list slot[WHEEL_LEVELS][64]; /* meaningful only where the bit is set */
};

struct run_queue {
	struct list fifo;  /* tasks of nice 0, by arrival */
	struct tree sorted;/* the others, by key */
	uint64_t ticks;    /* arrivals so far: the key of a task of nice 0 */
	unsigned length;   /* of both */
};

struct poller_state; /* the chosen poller's own */

struct worker {
	/* Touched by all threads. */
	alignas(CACHE_LINE) _Atomic(struct message *) mail; /* newest first */
	atomic_int sleeping;                /* the owner is, or goes, into a poll that waits */
	/* Set once. */
	alignas(CACHE_LINE) unsigned id;
	unsigned group;
	int wake_fd;                        /* eventfd, -1 before the poller starts */
	/* The owner's. */
	struct poller_state *poll;
	struct list hooks;                  /* of the end of this turn */
	struct list last_hooks;             /* behind those */
	struct run_queue queue;
	struct task *current;               /* being run */
	struct activity activity;
	struct wheel wheel;
};

/* The calling thread's; worker 0 in the process's first thread. */
extern __thread struct worker *worker_self;
/* Worker of thread <id>, NULL before the layout is made (except 0). */
extern struct worker *worker_table[THREADS_MAX];

/* Interrupts the sleep of <w>. Async-signal-safe; any thread. */
void worker_wake(struct worker *w);

/* --- timer.c */

/* Runs what is due. */
void wheel_advance(struct wheel *w, uint64_t now_ms);
/* When the wheel wants to be looked at again, TIMER_NEVER: never. */
uint64_t wheel_next_ms(struct wheel *w);

/* --- task.c */

/* Before the threads start. False: no memory. */
bool task_init(void);
/* Runs at most the turn's budget. */
void run_queue_process(struct worker *w);

/* mailbox.c */
void mailbox_drain(struct worker *w);

static inline bool mailbox_is_empty(struct worker *w)
{
	return atomic_load_explicit(&w->mail, memory_order_relaxed) == NULL;
}

#endif
