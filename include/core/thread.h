/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* thread.h - worker threads, thread groups, and the turns of the event loop
 *
 * Each worker thread runs one loop: poll, handle descriptors, timers, mailbox, run queue, then the
 * end-of-turn hooks. Objects with an owner thread are touched by that thread alone; other threads
 * post messages (mailbox.h). Threads and groups are numbered from 0 (from 1 in the manual).
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

/* The calling thread's numbers; 0 in the only thread before workers start. */
extern __thread unsigned thread_id;
extern __thread unsigned thread_group;
/* Is this thread alone in its group? Then the group's counters need no atomic operations. */
extern __thread bool thread_group_is_single;

/* Return the number of threads and of groups. */
unsigned thread_count(void);
unsigned thread_group_count(void);
/* Return the first thread of group <g>, its number of threads, and the group of a thread. */
unsigned thread_group_first(unsigned g);
unsigned thread_group_size(unsigned g);
unsigned thread_group_of(unsigned thread);

/* Sets the number of threads and groups, before thread_run_all() and before anything is sharded:
 * <threads> (1..THREADS_MAX) are spread evenly over <groups> (1..GROUPS_MAX), with consecutive ids.
 * The default is 1 thread in 1 group. False: out of range, or out of memory.
 */
bool thread_layout(unsigned threads, unsigned groups);
/* As thread_layout(), with given sizes: group <g> has sizes[g] threads (1 or more). */
bool thread_layout_sizes(const unsigned *sizes, unsigned groups);
/* Makes the next configuration that decides about threads print the CPUs, the clusters and where
 * each thread runs to standard output (option -dc). Before a configuration is checked.
 */
void thread_report_cpus(void);

/* Work at the end of this turn of the thread's loop, before it polls again: for connections with
 * gathered output, for instance. <h> is linked at most once per turn.
 */
struct turn_hook {
	struct list link;
	void (*run)(struct turn_hook *h);
};

/* Initialises <h>, before its first use. */
static inline void turn_hook_init(struct turn_hook *h, void (*run)(struct turn_hook *h))
{
	list_init(&h->link);
	h->run = run;
}

/* Links <h>, unless it is linked. */
void turn_hook_add(struct turn_hook *h);
/* As turn_hook_add(), for work after all other hooks, including those they add in this turn:
 * sending what they and the turn's events left. A hook added from such a hook waits for the next
 * turn.
 */
void turn_hook_add_last(struct turn_hook *h);

static inline void turn_hook_cancel(struct turn_hook *h)
{
	if (list_is_linked(&h->link))
		list_remove(&h->link);
}

/* Runs the workers: creates the threads that the configuration asks for, runs the thread_init hooks
 * and enters the loops; the caller becomes thread 0. Returns when all have left their loop
 * (thread_stop_all()). <modules> ends with NULL. Descriptors, tasks and timers of thread 0 may be
 * created before, in the same process (after the forks of daemon modes). False: a thread failed to
 * start.
 */
struct module;
bool thread_run_all(const struct module *const *modules);
/* Makes loops never sleep (busy-polling); before the threads start. */
void thread_set_busy_polling(bool on);
bool thread_is_busy_polling(void);
/* Is the caller in a worker's loop? False before the threads start, and in tests. */
bool thread_is_worker(void);
/* Asks every loop to end. Any thread, or a signal's function. */
void thread_stop_all(void);

#endif
