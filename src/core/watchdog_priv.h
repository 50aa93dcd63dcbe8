/* SPDX-License-Identifier: GPL-2.0-or-later */
/* watchdog_priv.h - finds threads whose turn does not end
 *
 * A timer on the CPU time of each thread sends it a signal. The handler compares the interrupted
 * turn with the one seen before: a turn that lasts warn-blocked-traffic-after of CPU time is
 * reported once; one that lasts a second, and then another, ends the process with a dump of all
 * threads. Waiting costs no CPU time, so an idle thread is never interrupted.
 */
#ifndef CORE_WATCHDOG_PRIV_H
#define CORE_WATCHDOG_PRIV_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include "worker_priv.h"

/* Sets the time for threads started later. 0: no warning. */
void watchdog_set_warning_ms(unsigned ms);
/* Arms the timer of the calling thread; without timers, nothing is watched. */
void watchdog_thread_init(struct worker *w);
void watchdog_thread_fini(struct worker *w);

#endif
