/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* clock.h - time
 *
 * Two clocks: monotonic nanoseconds (for delays) and wall-clock microseconds since 1970 (for logs).
 * clock_now_ns() reads a per-thread copy, which core refreshes once per turn of the event loop: it
 * is cheap, and the same for everything in one turn. clock_read_*() ask the kernel's vdso.
 * Threads: each has its own copy.
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

#define NS_PER_MS 1000000ull
#define NS_PER_SEC 1000000000ull

extern __thread uint64_t clock_thread_now_ns;  /* monotonic */
extern __thread uint64_t clock_thread_wall_us; /* since 1970 */

/* Refreshes this thread's copies; returns the monotonic time in ns. The wall clock is derived from
 * the monotonic one and corrected against the system's clock at least once a second.
 */
uint64_t clock_refresh(void);

static inline uint64_t clock_now_ns(void)
{
	return clock_thread_now_ns;
}

static inline uint64_t clock_now_ms(void)
{
	return clock_thread_now_ns / NS_PER_MS;
}

static inline uint64_t clock_wall_us(void)
{
	return clock_thread_wall_us;
}

/* Converts a recent time of clock_now_ns() to wall-clock us since 1970. */
static inline uint64_t clock_wall_of(uint64_t at_ns)
{
	return clock_thread_wall_us - (clock_thread_now_ns - at_ns) / 1000;
}

/* Read the clocks precisely, for profiling and start-up. */
uint64_t clock_read_ns(void);
uint64_t clock_read_wall_us(void);
/* Returns the CPU time of the calling thread in ns (a system call). */
uint64_t clock_read_thread_cpu_ns(void);

#endif
