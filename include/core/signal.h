/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* signal.h - signals become work of thread 0
 *
 * The handler installed in the kernel only notes the signal and wakes thread 0, whose loop then
 * calls the functions registered for it, outside of any signal context.
 * Threads: register before the threads start. Fails: false when memory is out or the number wrong.
 */
#ifndef CORE_SIGNAL_H
#define CORE_SIGNAL_H

#include <stdbool.h>

/* Calls <fn>(<sig>, <ctx>) on thread 0 after each arrival of <sig> (several arrivals may be one
 * call). Several functions per signal are called in the order of registration. <fn> NULL: the
 * signal is received and ignored.
 */
bool signal_register(int sig, void (*fn)(int sig, void *ctx), void *ctx);

#endif
