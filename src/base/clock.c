/* SPDX-License-Identifier: GPL-2.0-or-later */
/* clock.c - the time of this turn, monotonic and wall */
#include "base/clock.h"
#include <time.h>

__thread uint64_t clock_thread_now_ns;
__thread uint64_t clock_thread_wall_us;
/* What to add to the monotonic time to get the wall clock, and when it was last checked. */
static __thread int64_t wall_offset_us;
static __thread uint64_t wall_checked_ns;

static uint64_t read_clock(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * NS_PER_SEC + (uint64_t)t.tv_nsec;
}

uint64_t clock_refresh(void)
{
	uint64_t now = read_clock(CLOCK_MONOTONIC);

	clock_thread_now_ns = now;
	if (!wall_checked_ns || now - wall_checked_ns > NS_PER_SEC / 4) {
		wall_checked_ns = now;
		wall_offset_us = (int64_t)clock_read_wall_us() - (int64_t)(now / 1000);
	}
	clock_thread_wall_us = now / 1000 + (uint64_t)wall_offset_us;
	return now;
}

uint64_t clock_read_ns(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

uint64_t clock_read_wall_us(void)
{
	return read_clock(CLOCK_REALTIME) / 1000;
}

uint64_t clock_read_thread_cpu_ns(void)
{
	return read_clock(CLOCK_THREAD_CPUTIME_ID);
}
