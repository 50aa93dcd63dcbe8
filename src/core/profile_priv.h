/* SPDX-License-Identifier: GPL-2.0-or-later */
/* profile_priv.h - measures the two places where the loop calls a handler
 *
 * Off, profiling costs one predictable branch per call.
 */
#ifndef CORE_PROFILE_PRIV_H
#define CORE_PROFILE_PRIV_H

#include <stdbool.h>
#include <stdint.h>
#include "core/profile.h"

struct task;

extern enum profile_mode profile_mode;             /* atomic */
extern __thread enum profile_mode profile_mode_seen; /* by this thread */

/* Decides from the mode and the mean length of its turns whether this thread measures. */
void profile_update(uint64_t turn_us);

/* Call once per turn. */
static inline void profile_follow(uint64_t turn_us)
{
	if (__builtin_expect(profile_mode_seen !=
			     __atomic_load_n(&profile_mode, __ATOMIC_RELAXED), 0))
		profile_update(turn_us);
}

/* Calls the task's function and accounts for it. The task may be freed by the call. */
void profile_run_task(struct task *t, unsigned why);
/* Calls the handler of <fd> and accounts for it. */
void profile_run_fd(int fd, unsigned events);

#endif
