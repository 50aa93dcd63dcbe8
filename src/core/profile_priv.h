/* SPDX-License-Identifier: GPL-2.0-or-later */
/* profile_priv.h - the two places where the loop calls a handler, measured
 *
 * Off, profiling costs one predictable branch per call.
 */
#ifndef CORE_PROFILE_PRIV_H
#define CORE_PROFILE_PRIV_H

#include <stdbool.h>

struct task;

/* Does this thread measure now? */
extern __thread bool profile_is_on;

/* Calls the task's function and accounts for it. The task may die in the call. */
void profile_run_task(struct task *t, unsigned why);
/* Calls the handler of <fd> and accounts for it. */
void profile_run_fd(int fd, unsigned events);

#endif
