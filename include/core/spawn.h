/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* spawn.h - starts threads, in a process that may be forbidden to start processes
 *
 * To the kernel a thread counts as a process (setrlimit(2), RLIMIT_NPROC): if that limit is the
 * barrier against new processes, it is lifted for the moment in which a thread starts. So all
 * threads are started here, with all signals blocked, since thread 0 handles the signals.
 * Manual: configuration 3.1 (insecure-fork-wanted).
 */
#ifndef CORE_SPAWN_H
#define CORE_SPAWN_H

#include <pthread.h>
#include <stdbool.h>

/* Starts a thread that runs <run>(<arg>). *<t> must be joined; NULL: detached. Any thread. False:
 * see errno.
 */
bool spawn_thread(pthread_t *t, void *(*run)(void *arg), void *arg);

/* Forbids this process to start others from now on, unless its user is exempt (root is). At most
 * once, before there are other threads.
 */
void spawn_forbid_processes(void);

#endif
