/* SPDX-License-Identifier: GPL-2.0-or-later */
/* affinity.c - binds threads to CPUs as planned */
#include <sched.h>
#include <string.h>
#include "affinity_priv.h"

static struct thread_plan used;

void affinity_set_plan(struct thread_plan *plan)
{
	thread_plan_fini(&used);
	used = *plan;
	memset(plan, 0, sizeof(*plan));
}

void affinity_apply(unsigned id)
{
	size_t size = CPU_ALLOC_SIZE(CPUS_MAX);
	cpu_set_t *set;

	if (id >= used.threads || !used.cpus || cpu_set_is_empty(&used.cpus[id]))
		return;
	set = CPU_ALLOC(CPUS_MAX);
	if (!set)
		return;
	CPU_ZERO_S(size, set);
	for (unsigned cpu = 0; cpu < CPUS_MAX; cpu++) {
		if (cpu_set_has(&used.cpus[id], cpu))
			CPU_SET_S(cpu, size, set);
	}
	/* A set without any existing CPU is refused by the kernel: the thread stays free. */
	sched_setaffinity(0, size, set);
	CPU_FREE(set);
}
