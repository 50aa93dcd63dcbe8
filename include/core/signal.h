/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* signal.h - turns signals into calls on thread 0
 *
 * The kernel's signal handler only notes the signal and wakes thread 0, whose loop then calls the
 * functions registered for it, outside of any signal context.
 * Threads: register before the threads start. Fails: false when memory is out or the number wrong.
 */
#ifndef CORE_SIGNAL_H
#define CORE_SIGNAL_H

#include <stdbool.h>

/* Calls <fn>(<sig>, <ctx>) on thread 0 after <sig> arrives; several arrivals may cause one call.
 * Functions of one signal are called in the order of registration. <fn> NULL: the signal is
 * received and ignored.
 */
bool signal_register(int sig, void (*fn)(int sig, void *ctx), void *ctx);

#endif
