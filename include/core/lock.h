/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* lock.h - a spin lock for a few instructions, off the request path
 *
 * Spins, then yields. Never held across a call that may wait. Threads: any.
 */
#ifndef CORE_LOCK_H
#define CORE_LOCK_H

#include <sched.h>
#include "core/activity.h"

static inline void lock_spin(unsigned *lock)
{
	unsigned turns = 0;

	while (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE)) {
		while (__atomic_load_n(lock, __ATOMIC_RELAXED))
			if (++turns % 64 == 0)
				sched_yield();
	}
}

static inline void lock_take(unsigned *lock)
{
	SHARED_WRITE(process);
	lock_spin(lock);
}

/* Takes a lock that only threads of one group use. */
static inline void lock_take_in_group(unsigned *lock)
{
	SHARED_WRITE(group);
	lock_spin(lock);
}

static inline void lock_drop(unsigned *lock)
{
	__atomic_store_n(lock, 0, __ATOMIC_RELEASE);
}

#endif
