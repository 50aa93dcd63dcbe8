/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* background.h - work that takes longer than one turn of a loop may take
 *
 * Purpose: runs a function on its own thread and tells the asking thread when it is done. Code that
 *          reads files for milliseconds (a new configuration) must not delay connections.
 * Work   : may allocate, read files and post messages. It has no loop: it must not use descriptors,
 *          timers and tasks, nor anything that another thread owns. Concurrent requests run one
 *          after the other.
 * Owns   : nothing of <ctx>.
 * Threads: called by a thread that runs a loop, or by thread 0 before the loops.
 */
#ifndef CORE_BACKGROUND_H
#define CORE_BACKGROUND_H

#include <stdbool.h>

/* Runs <work> on a new thread, then <done> on the calling thread's loop, both with <ctx>. False: no
 * memory or no thread; neither will be called.
 */
bool background_run(void (*work)(void *ctx), void (*done)(void *ctx), void *ctx);
/* Waits for running work. After the loops: <done> is not called any more. */
void background_fini(void);

#endif
