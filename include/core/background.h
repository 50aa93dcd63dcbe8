/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* background.h - work that takes longer than a turn of a loop may
 *
 * Purpose: runs a function on a thread of its own and tells the asking thread when it is done. What
 *          reads files for milliseconds (a new configuration) must not hold connections.
 * The work: may allocate, read files and post messages. It has no loop: descriptors, timers and
 *          tasks are not for it, nor is anything that another thread owns.
 *          Works that are asked for at the same time are done one after the other.
 * Owns   : nothing of <ctx>.
 * Threads: asked by a thread that runs a loop, or by thread 0 before the loops.
 */
#ifndef CORE_BACKGROUND_H
#define CORE_BACKGROUND_H

#include <stdbool.h>

/* Runs <work> on a new thread, then <done> on the calling thread's loop, both with <ctx>. False: no
 * memory or no thread, nothing will be called.
 */
bool background_run(void (*work)(void *ctx), void (*done)(void *ctx), void *ctx);
/* Waits for what still runs. After the loops: <done> of that work is not called any more. */
void background_fini(void);

#endif
