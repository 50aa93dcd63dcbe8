/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cpu_report.c - output of option -dc: CPUs, clusters, and the threads on them */
#include <stdio.h>
#include <string.h>
#include "cpu_priv.h"

static bool wanted; /* thread_report_cpus() */

/* How many CPUs come before <cpu> in its core, and how many are in it. */
static void core_rank(const struct cpu_topology *t, unsigned cpu, unsigned *rank, unsigned *size)
{
	*rank = *size = 0;
	for (unsigned other = 0; other < CPUS_MAX; other++) {
		if (!cpu_set_has(&t->online, other) || t->cpu[other].core != t->cpu[cpu].core)
			continue;
		*rank += other < cpu;
		*size += 1;
	}
}

/* The lowest number of the package of <cpu>: numbers are shown from 0 in each package. */
static int first_in_package(const struct cpu_topology *t, unsigned cpu, bool of_core)
{
	int lowest = INT16_MAX;

	for (unsigned other = 0; other < CPUS_MAX; other++) {
		const struct cpu *o = &t->cpu[other];
		int number = of_core ? o->core : o->cluster;

		if (cpu_set_has(&t->online, other) && o->package == t->cpu[cpu].package &&
		    number < lowest)
			lowest = number;
	}
	return lowest;
}

static void report_cpu(const struct cpu_topology *t, unsigned cpu, bool is_kept)
{
	const struct cpu *c = &t->cpu[cpu];
	unsigned rank, size;

	core_rank(t, cpu, &rank, &size);
	printf("[%s] cpu=%3u pk=%02d no=%02d cl=%03d(%03d) l3=%03d l2=%02d l1=%02d ts=%03d capa=%d",
	       is_kept ? "keep" : "----", cpu, c->package, c->node, c->cluster,
	       c->cluster - first_in_package(t, cpu, false), c->ccx, c->l2, c->l1,
	       c->core - first_in_package(t, cpu, true), c->capacity);
	if (size > 1)
		printf(" smt=%u/%u", rank, size);
	putchar('\n');
}

static void report_clusters(const struct cpu_topology *t)
{
	struct cpu_set left = t->online;
	int first;

	puts("CPU clusters:");
	while ((first = cpu_set_nth(&left, 0)) >= 0) {
		struct cpu_set cores = { 0 };
		unsigned cpus = 0;
		int64_t capacity = 0;

		for (unsigned cpu = 0; cpu < CPUS_MAX; cpu++) {
			const struct cpu *c = &t->cpu[cpu];

			if (!cpu_set_has(&left, cpu) || c->cluster != t->cpu[first].cluster)
				continue;
			left.bits[cpu / 64] &= ~(1ull << cpu % 64);
			cpus++;
			capacity += c->capacity;
			if (c->core >= 0)
				cpu_set_put(&cores, (unsigned)c->core);
		}
		printf("  %3d  cpus=%3u cores=%3u capa=%lld\n", t->cpu[first].cluster, cpus,
		       cpu_set_count(&cores), (long long)capacity);
	}
}

/* "2: 0-1", or "<all>" for a thread that is not bound beside others that are. */
static void report_set(const struct cpu_set *s)
{
	const char *comma = "";

	if (cpu_set_is_empty(s)) {
		puts("<all>");
		return;
	}
	printf("%u: ", cpu_set_count(s));
	for (unsigned cpu = 0; cpu < CPUS_MAX; cpu++) {
		unsigned last = cpu;

		if (!cpu_set_has(s, cpu))
			continue;
		while (last + 1 < CPUS_MAX && cpu_set_has(s, last + 1))
			last++;
		printf("%s%u", comma, cpu);
		if (last > cpu)
			printf("-%u", last);
		comma = ",";
		cpu = last;
	}
	putchar('\n');
}

static bool have_same_cpus(const struct thread_plan *plan, unsigned a, unsigned b)
{
	return !plan->cpus || memcmp(&plan->cpus[a], &plan->cpus[b], sizeof(*plan->cpus)) == 0;
}

void thread_report_cpus(void)
{
	wanted = true;
}

void cpu_report(const struct cpu_topology *t, const struct thread_plan *plan)
{
	unsigned base = 0;

	if (!wanted)
		return;
	for (unsigned cpu = 0; cpu < CPUS_MAX; cpu++) {
		if (cpu_set_has(&t->online, cpu))
			report_cpu(t, cpu, cpu_set_has(&plan->kept, cpu));
	}
	report_clusters(t);
	puts("Thread CPU Bindings:\n  Tgrp/Thr  Tid        CPU set");
	for (unsigned g = 0; g < plan->groups; base += plan->sizes[g++]) {
		for (unsigned i = 0, last; i < plan->sizes[g]; i = last + 1) {
			char group[32], ids[32];

			for (last = i; last + 1 < plan->sizes[g] &&
			     have_same_cpus(plan, base + i, base + last + 1); last++)
				;
			snprintf(group, sizeof(group), last > i ? "%u/%u-%u" : "%u/%u", g + 1,
				 i + 1, last + 1);
			snprintf(ids, sizeof(ids), last > i ? "%u-%u" : "%u", base + i + 1,
				 base + last + 1);
			printf("  %-9s %-10s ", group, ids);
			report_set(plan->cpus ? &plan->cpus[base + i] : &plan->kept);
		}
	}
	putchar('\n');
	fflush(stdout);
}
