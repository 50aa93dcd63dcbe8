/* SPDX-License-Identifier: GPL-2.0-or-later */
/* watchdog_priv.h - what the loop tells the watchdog */
#ifndef CORE_WATCHDOG_PRIV_H
#define CORE_WATCHDOG_PRIV_H

#include <stdint.h>
#include "worker_priv.h"

static inline void watchdog_pause(struct worker *w, int timeout_ms)
{
}

static inline void watchdog_resume(struct worker *w, uint64_t now_ns)
{
}

static inline void watchdog_thread_init(struct worker *w)
{
}

static inline void watchdog_thread_fini(struct worker *w)
{
}

#endif
