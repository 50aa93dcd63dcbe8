/* SPDX-License-Identifier: GPL-2.0-or-later */
/* signal_priv.h - the loop's interface to signals, on thread 0 */
#ifndef CORE_SIGNAL_PRIV_H
#define CORE_SIGNAL_PRIV_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include "worker_priv.h"

extern atomic_int signal_pending; /* signals received and not yet processed */

static inline bool signal_is_pending(const struct worker *w)
{
	return w->id == 0 && atomic_load_explicit(&signal_pending, memory_order_relaxed) != 0;
}

/* Calls the functions of the pending signals. Thread 0. */
void signal_process(void);
/* Returns the signals that workers other than the first must block: all except faults and the
 * watchdog's.
 */
void signal_blockable_set(sigset_t *set);

#endif
