/* SPDX-License-Identifier: GPL-2.0-or-later */
/* profile.c - time spent per function called by the loop
 *
 * A fixed table of functions, open addressing, shared by all threads: used only while profiling is
 * on. Entry 0 is for functions that find no room.
 */
#include <stddef.h>
#include <string.h>
#include "base/clock.h"
#include "core/fd.h"
#include "core/task.h"
#include "core/thread.h"
#include "profile_priv.h"

#define ENTRIES 257
#define TURN_ON_US 1000
#define TURN_OFF_US 990

__thread bool profile_is_on;
enum profile_mode profile_mode = PROFILE_AUTO;
__thread enum profile_mode profile_mode_seen = PROFILE_AUTO;

static struct profile_entry entries[ENTRIES]; /* members are atomic */
static unsigned measuring;                     /* atomic: threads which measure */
static uint64_t period_start, period_stop;     /* atomic */

static void profile_switch(bool on)
{
	if (on == profile_is_on)
		return;
	profile_is_on = on;
	if (on) {
		__atomic_fetch_add(&measuring, 1, __ATOMIC_RELAXED);
		if (__atomic_load_n(&profile_mode, __ATOMIC_RELAXED) == PROFILE_AUTO) {
			__atomic_store_n(&period_start, clock_read_ns(), __ATOMIC_RELAXED);
			__atomic_store_n(&period_stop, 0, __ATOMIC_RELAXED);
		}
	} else if (__atomic_sub_fetch(&measuring, 1, __ATOMIC_RELAXED) == 0) {
		__atomic_store_n(&period_stop, clock_read_ns(), __ATOMIC_RELAXED);
	}
}

void profile_update(uint64_t turn_us)
{
	profile_mode_seen = __atomic_load_n(&profile_mode, __ATOMIC_RELAXED);
	if (profile_mode_seen == PROFILE_AUTO)
		profile_switch(turn_us >= (profile_is_on ? TURN_OFF_US : TURN_ON_US));
	else
		profile_switch(profile_mode_seen == PROFILE_ON);
}

void profile_set_mode(enum profile_mode mode)
{
	if (mode == PROFILE_ON && profile_get_mode() != PROFILE_ON) {
		for (unsigned i = 0; i < ENTRIES; i++) {
			__atomic_store_n(&entries[i].calls, 0, __ATOMIC_RELAXED);
			__atomic_store_n(&entries[i].cpu_ns, 0, __ATOMIC_RELAXED);
			__atomic_store_n(&entries[i].latency_ns, 0, __ATOMIC_RELAXED);
		}
		__atomic_store_n(&period_start, clock_read_ns(), __ATOMIC_RELAXED);
		__atomic_store_n(&period_stop, 0, __ATOMIC_RELAXED);
	}
	__atomic_store_n(&profile_mode, mode, __ATOMIC_RELAXED);
}

enum profile_mode profile_get_mode(void)
{
	return __atomic_load_n(&profile_mode, __ATOMIC_RELAXED);
}

bool profile_is_active(void)
{
	return __atomic_load_n(&measuring, __ATOMIC_RELAXED) != 0;
}

void profile_get_period(uint64_t *start_ns, uint64_t *stop_ns)
{
	*start_ns = __atomic_load_n(&period_start, __ATOMIC_RELAXED);
	*stop_ns = __atomic_load_n(&period_stop, __ATOMIC_RELAXED);
}

bool profile_get(unsigned i, struct profile_entry *out)
{
	if (i >= ENTRIES)
		return false;
	out->function = __atomic_load_n(&entries[i].function, __ATOMIC_RELAXED);
	out->calls = __atomic_load_n(&entries[i].calls, __ATOMIC_RELAXED);
	out->cpu_ns = __atomic_load_n(&entries[i].cpu_ns, __ATOMIC_RELAXED);
	out->latency_ns = __atomic_load_n(&entries[i].latency_ns, __ATOMIC_RELAXED);
	return true;
}

/* The entry of <function>, made at its first call. */
static struct profile_entry *profile_find(const void *function)
{
	unsigned at = (unsigned)(((uintptr_t)function >> 4) * 2654435761u % (ENTRIES - 1));

	for (unsigned tries = 0; tries < 16; tries++) {
		struct profile_entry *e = &entries[1 + (at + tries) % (ENTRIES - 1)];
		const void *seen = __atomic_load_n(&e->function, __ATOMIC_RELAXED);

		if (seen == function)
			return e;
		if (!seen && (__atomic_compare_exchange_n(&e->function, &seen, function, false,
							  __ATOMIC_RELAXED, __ATOMIC_RELAXED) ||
			      seen == function))
			return e;
	}
	return &entries[0];
}

static void profile_account(const void *function, uint64_t cpu_ns, uint64_t latency_ns)
{
	struct profile_entry *e = profile_find(function);

	__atomic_fetch_add(&e->calls, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&e->cpu_ns, cpu_ns, __ATOMIC_RELAXED);
	if (latency_ns)
		__atomic_fetch_add(&e->latency_ns, latency_ns, __ATOMIC_RELAXED);
}

void profile_run_task(struct task *t, unsigned why)
{
	const void *function = (const void *)t->run;
	uint64_t start = clock_read_ns();
	uint64_t latency = t->woken_ns && start > t->woken_ns ? start - t->woken_ns : 0;

	t->run(t, t->ctx, why);
	profile_account(function, clock_read_ns() - start, latency);
}

void profile_run_fd(int fd, unsigned events)
{
	fd_handler_fn *handler = fd_table[fd].handler;
	uint64_t start = clock_read_ns();

	handler(fd_table[fd].owner, fd, events);
	profile_account((const void *)handler, clock_read_ns() - start, 0);
}
