/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* thread.h - worker threads, groups, and the event loop's turn
 *
 * Each worker thread runs one loop: poll, handle descriptors, timers, mailbox, run queue, then the
 * hooks of the end of the turn. Everything with an owner thread is touched by that thread alone;
 * others post messages (mailbox.h). Threads are numbered from 0, groups from 0 (the manual shows
 * from 1).
 * Manual: configuration 3.1 (nbthread, thread-groups, thread-group, cpu-map, cpu-policy,
 * cpu-affinity).
 */
#ifndef CORE_THREAD_H
#define CORE_THREAD_H

#include <stdbool.h>
#include <stdint.h>
#include "base/list.h"

#define THREADS_MAX 1024
#define GROUPS_MAX 64

/* This thread's numbers; 0 in the only thread before workers start. */
extern __thread unsigned thread_id;
extern __thread unsigned thread_group;
/* Does this thread have its group for itself? Then the group's counters need no atomic. */
extern __thread bool thread_group_is_single;

/* How many threads and groups there are. */
unsigned thread_count(void);
unsigned thread_group_count(void);
/* Threads of group <g>: first id and how many. */
unsigned thread_group_first(unsigned g);
unsigned thread_group_size(unsigned g);
unsigned thread_group_of(unsigned thread);

/* Decides how many threads and groups there are, before thread_run_all() and before anything is
 * sharded: <threads> (1..THREADS_MAX) spread evenly over <groups> (1..GROUPS_MAX), consecutive
 * ids. 1 thread in 1 group until this is called. False: out of range or no memory.
 */
bool thread_layout(unsigned threads, unsigned groups);
/* As thread_layout(), with chosen sizes: group <g> has sizes[g] threads (1 or more). */
bool thread_layout_sizes(const unsigned *sizes, unsigned groups);
/* Has the next configuration that decides about threads print CPUs, clusters and which thread runs
 * where, to standard output (option -dc). Before a configuration is checked.
 */
void thread_report_cpus(void);

/* Work to do at the end of this turn of this thread's loop, before it polls again: connections
 * with gathered output, for instance. <h> is linked at most once per turn.
 */
struct turn_hook {
	struct list link;
	void (*run)(struct turn_hook *h);
};

/* Before the first use. */
static inline void turn_hook_init(struct turn_hook *h, void (*run)(struct turn_hook *h))
{
	list_init(&h->link);
	h->run = run;
}

/* Links <h> if it is not. */
void turn_hook_add(struct turn_hook *h);
/* As turn_hook_add(), for work that comes behind all other hooks, theirs of this turn included:
 * sending what they and the turn's events left. What such a hook adds waits for the next turn.
 */
void turn_hook_add_last(struct turn_hook *h);

static inline void turn_hook_cancel(struct turn_hook *h)
{
	if (list_is_linked(&h->link))
		list_remove(&h->link);
}

/* Runs the workers on the calling process: creates threads as the configuration asks, runs the
 * thread_init hooks, enters the loops; the caller becomes thread 0. Returns once all left their
 * loop (thread_stop_all). <modules> ends with NULL. Descriptors, tasks and timers of thread 0 may
 * be made before, in the same process (after the forks of daemon modes).
 */
struct module;
bool thread_run_all(const struct module *const *modules);
/* Loops never sleep (busy-polling); before the threads start. */
void thread_set_busy_polling(bool on);
bool thread_is_busy_polling(void);
/* Is the caller in the loop of a worker? False before the threads start, and in tests. */
bool thread_is_worker(void);
/* Asks every loop to end; from any thread or a signal task. */
void thread_stop_all(void);

#endif
