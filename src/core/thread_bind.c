/* SPDX-License-Identifier: GPL-2.0-or-later */
/* thread_bind.c - the CPUs that a thread may use within its part: cpu-affinity
 *
 * The places of a part are in a sequence: by last level cache, then by core, then by number. Each
 * thread takes the next place, so that neighbours share caches, and the groups of a divided part
 * get adjacent cores. A place is a CPU, or, with one thread per core, a core.
 *
 *	per-thread       the place's (first) CPU
 *	per-core         the CPUs of the place's core
 *	per-ccx          the CPUs which share the place's last level cache
 *	per-group        all places of the thread's group
 *	per-group loose  all CPUs of the part
 *
 * No thread is ever bound to a CPU outside of the part.
 */
#include <string.h>
#include "settings_priv.h"

/* Where the CPU stands in the row. */
static uint64_t place_rank(const struct cpu_topology *t, unsigned cpu)
{
	const struct cpu *c = &t->cpu[cpu];
	unsigned core = c->core < 0 ? cpu : (unsigned)c->core;

	return (uint64_t)(c->ccx + 1) << 32 | (uint64_t)core << 16 | cpu;
}

static bool are_of_one_core(const struct cpu_topology *t, unsigned a, unsigned b)
{
	return a == b || (t->cpu[a].core >= 0 && t->cpu[a].core == t->cpu[b].core);
}

/* The CPU of <cpus> that comes first from <rank> on, which is moved behind it; -1: none. */
static int next_place(const struct cpu_topology *t, const struct cpu_set *cpus, uint64_t *rank)
{
	uint64_t best = UINT64_MAX;
	int found = -1;

	for (unsigned cpu = 0; cpu < CPUS_MAX; cpu++) {
		uint64_t r;

		if (!cpu_set_has(cpus, cpu))
			continue;
		r = place_rank(t, cpu);
		if (r >= *rank && r < best) {
			best = r;
			found = (int)cpu;
		}
	}
	*rank = best + 1;
	return found;
}

/* Adds the CPUs of <part> which share core or last level cache with <cpu>. */
static void add_neighbours(struct cpu_set *out, const struct cpu_topology *t,
			   const struct cpu_set *part, unsigned cpu, bool of_core)
{
	for (unsigned other = 0; other < CPUS_MAX; other++) {
		if (cpu_set_has(part, other) &&
		    (of_core ? are_of_one_core(t, cpu, other)
			     : t->cpu[cpu].ccx == t->cpu[other].ccx))
			cpu_set_put(out, other);
	}
}

/* Fills places[] with the CPU that stands for each of <count> places. */
static void make_places(uint16_t *places, unsigned count, const struct cpu_set *cpus,
			const struct cpu_topology *t, bool one_per_core)
{
	uint64_t rank = 0;
	unsigned n = 0;
	int cpu;

	while (n < count && (cpu = next_place(t, cpus, &rank)) >= 0) {
		if (!one_per_core || !n || !are_of_one_core(t, places[n - 1], (unsigned)cpu))
			places[n++] = (uint16_t)cpu;
	}
}

void thread_part_bind(struct thread_plan *plan, unsigned id, const struct thread_part *part,
		      const struct cpu_topology *t, const struct core_settings *set)
{
	static uint16_t places[CPUS_MAX]; /* start-up is one thread */
	enum cpu_affinity affinity = set->affinity;
	struct cpu_set group;

	if (affinity == AFFINITY_AUTO)
		affinity = set->one_per_core ? AFFINITY_CORE : AFFINITY_GROUP;
	memset(&group, 0, sizeof(group));
	make_places(places, part->threads, &part->cpus, t, set->one_per_core);
	for (unsigned i = 0; i < part->threads; i++) {
		struct cpu_set *own = &plan->cpus[id + i];
		unsigned first = i - i % part->group_size;

		switch (affinity) {
		case AFFINITY_THREAD:
			cpu_set_put(own, places[i]);
			break;
		case AFFINITY_CORE:
		case AFFINITY_CCX:
			add_neighbours(own, t, &part->cpus, places[i], affinity == AFFINITY_CORE);
			break;
		case AFFINITY_GROUP_LOOSE:
			*own = part->cpus;
			break;
		default:
			if (i == first)
				memset(&group, 0, sizeof(group));
			for (unsigned k = i; i == first && k < part->threads &&
			     k < first + part->group_size; k++) {
				if (set->one_per_core)
					add_neighbours(&group, t, &part->cpus, places[k], true);
				else
					cpu_set_put(&group, places[k]);
			}
			*own = group;
		}
	}
}
