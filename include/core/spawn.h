/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* spawn.h - threads of the program, in a process that may be forbidden to start processes
 *
 * To the kernel a thread counts as a process (setrlimit(2), RLIMIT_NPROC): where that is the
 * barrier against new processes, it is lifted for the moment in which a thread starts. So all
 * threads start here, with all signals blocked: those are for thread 0.
 * Manual: configuration 3.1 (insecure-fork-wanted).
 */
#ifndef CORE_SPAWN_H
#define CORE_SPAWN_H

#include <pthread.h>
#include <stdbool.h>

/* Starts a thread that runs <run>(<arg>). *<t> is to be joined; NULL: it is detached. Any thread.
 * False: errno.
 */
bool spawn_thread(pthread_t *t, void *(*run)(void *arg), void *arg);

/* From here on this process has no right to start others, as far as its user is not exempt (root
 * is). At most once, before there are other threads.
 */
void spawn_forbid_processes(void);

#endif
