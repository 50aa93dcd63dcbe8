/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* profile.h - time spent per function that the loop calls
 *
 * While a thread measures, every task and I/O handler is accounted for by its function: calls, CPU
 * time and, for tasks, the time between wake-up and call. In mode "auto" a thread measures while
 * its turns are long (a millisecond on average), and stops when they are short again.
 * Owns: one table per process, fixed in size; a function which finds no room is counted as "other".
 * Manual: configuration profiling.tasks; management set/show profiling.
 */
#ifndef CORE_PROFILE_H
#define CORE_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

/* The answer to `lock` and `memory` in both commands; `no-lock` and `no-memory` are accepted. */
#define PROFILE_NO_TIMES "The times of locks and of memory allocation are not collected."

enum profile_mode { PROFILE_OFF, PROFILE_AUTO, PROFILE_ON };

/* Sets and returns the mode. Any thread; each thread applies it at its next turn. */
void profile_set_mode(enum profile_mode mode);
enum profile_mode profile_get_mode(void);
/* Does any thread measure now, in mode auto? */
bool profile_is_active(void);

/* Does the calling thread measure now? */
extern __thread bool profile_is_on;

struct profile_entry {
	const void *function;
	uint64_t calls, cpu_ns, latency_ns;
};

/* Reads the <i>-th entry, in no order. False: after the last. Any thread. */
bool profile_get(unsigned i, struct profile_entry *out);
/* Returns when the current figures began and ended, monotonic ns; 0: never, or still running. */
void profile_get_period(uint64_t *start_ns, uint64_t *stop_ns);

#endif
