/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* profile.h - time spent per function called by the loop
 *
 * When a thread measures, every task and I/O handler is accounted for by its function: calls, CPU
 * time, and for tasks the time between wake-up and call. Mode "auto" measures on a thread while its
 * turns are long (a millisecond on average), and stops once they are short again.
 * Owns: one table per process, fixed in size; a function which finds no room is counted as "other".
 * Manual: configuration profiling.tasks; management set/show profiling.
 */
#ifndef CORE_PROFILE_H
#define CORE_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

/* What `lock` and `memory` of both are refused with; `no-lock` and `no-memory` say what holds. */
#define PROFILE_NO_TIMES "The times of locks and of memory allocation are not collected."

enum profile_mode { PROFILE_OFF, PROFILE_AUTO, PROFILE_ON };

/* From any thread; each thread follows at its next turn. */
void profile_set_mode(enum profile_mode mode);
enum profile_mode profile_get_mode(void);
/* In mode auto: does any thread measure now? */
bool profile_is_active(void);

/* Does the calling thread measure now? */
extern __thread bool profile_is_on;

struct profile_entry {
	const void *function;
	uint64_t calls, cpu_ns, latency_ns;
};

/* The <i>th entry, in no order; false after the last. Any thread. */
bool profile_get(unsigned i, struct profile_entry *out);
/* When the current figures began and ended, monotonic ns; 0: never, still going on. */
void profile_get_period(uint64_t *start_ns, uint64_t *stop_ns);

#endif
