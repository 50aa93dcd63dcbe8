/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cpu_priv.h - CPUs of the machine, and the distribution of threads over them
 *
 * Three steps, each testable alone: cpu_topology_read() reads the system, the keywords fill a
 * struct core_settings, thread_plan_make() decides. Nothing here is used once the threads run.
 */
#ifndef CORE_CPU_PRIV_H
#define CORE_CPU_PRIV_H

#include <stdbool.h>
#include <stdint.h>
#include "core/thread.h"

#define CPUS_MAX 1024
#define GROUP_THREADS_MAX 64 /* documented in the manual */

struct diag_list;
struct core_settings;

/* A set of numbers below 1024: CPUs, threads, nodes... */
struct cpu_set {
	uint64_t bits[CPUS_MAX / 64];
};

static inline bool cpu_set_has(const struct cpu_set *s, unsigned cpu)
{
	return s->bits[cpu / 64] >> (cpu % 64) & 1;
}

static inline void cpu_set_put(struct cpu_set *s, unsigned cpu)
{
	s->bits[cpu / 64] |= 1ull << (cpu % 64);
}

unsigned cpu_set_count(const struct cpu_set *s);
bool cpu_set_is_empty(const struct cpu_set *s);
void cpu_set_and(struct cpu_set *s, const struct cpu_set *with);
void cpu_set_remove(struct cpu_set *s, const struct cpu_set *what);
void cpu_set_or(struct cpu_set *s, const struct cpu_set *what);
/* Returns the <n>-th member (from 0); -1: there are fewer. */
int cpu_set_nth(const struct cpu_set *s, unsigned n);
/* Adds "0-3,8", "2-" or "5". False: malformed; *too_big: a number above <max>. */
bool cpu_set_parse(struct cpu_set *s, const char *text, unsigned max, bool *too_big);

/* The parts of the machine that a CPU belongs to, numbered from 0 over the machine; -1: unknown. */
struct cpu {
	int16_t package;
	int16_t node;
	int16_t ccx;      /* shares the last level cache */
	int16_t l2, l1;   /* shares the cache of this level */
	int16_t cluster;
	int16_t core;
	int16_t thread;   /* rank among the threads of its core */
	int capacity;     /* relative speed; 0: unknown */
};

struct cpu_topology {
	struct cpu cpu[CPUS_MAX];
	struct cpu_set online;
	struct cpu_set bound;     /* where the process may run */
};

/* Reads <root> ("/sys/devices/system") and the process's affinity. What cannot be read is assumed
 * to exist once.
 */
void cpu_topology_read(struct cpu_topology *t, const char *root);

/* The decision. */
struct thread_plan {
	unsigned threads, groups;
	unsigned sizes[GROUPS_MAX];
	struct cpu_set kept;       /* the usable CPUs */
	/* per thread; an empty set: not bound. NULL: no thread is bound */
	struct cpu_set *cpus;
};

/* Decides; warnings and alerts go to <diags>. False: alerts, or out of memory. <plan> must be given
 * to thread_plan_fini().
 */
bool thread_plan_make(struct thread_plan *plan, const struct cpu_topology *t,
		      const struct core_settings *set, struct diag_list *diags);
void thread_plan_fini(struct thread_plan *plan);

/* A run of groups that share CPUs: what a policy treats as one unit (a CCX, a cluster, some of
 * them), before it is divided into groups.
 */
struct thread_part {
	struct cpu_set cpus;
	unsigned threads;
	unsigned group_size;       /* threads of each of its groups; the last may have fewer */
};

/* Sets the CPUs of the threads of <part>, the first of which is number <id> of <plan>, according to
 * "cpu-affinity".
 */
void thread_part_bind(struct thread_plan *plan, unsigned id, const struct thread_part *part,
		      const struct cpu_topology *t, const struct core_settings *set);

/* Prints the CPUs, usable or not, the clusters and where each thread runs to standard output, for
 * option -dc.
 */
void cpu_report(const struct cpu_topology *t, const struct thread_plan *plan);

#endif
