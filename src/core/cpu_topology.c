/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cpu_topology.c - reads the system's description of its CPUs
 *
 * Every relation ("shares a cache with", "same core as") is read as a list of CPUs; the lowest of
 * the list identifies the set, and sets are numbered in the order of their first CPU.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/num.h"
#include "cpu_priv.h"

#define CACHE_INDEX_MAX 8

/* Reads a small file of one line; false: cannot. */
static bool read_line(const char *path, char *text, size_t size)
{
	FILE *f = fopen(path, "re");
	bool done;

	if (!f)
		return false;
	done = fgets(text, (int)size, f) != NULL;
	fclose(f);
	return done;
}

static bool read_set(const char *path, struct cpu_set *s)
{
	char text[4096];
	bool too_big;

	memset(s, 0, sizeof(*s));
	return read_line(path, text, sizeof(text)) &&
	       cpu_set_parse(s, text, CPUS_MAX - 1, &too_big);
}

static int read_number(const char *path, int missing)
{
	char text[64];

	return read_line(path, text, sizeof(text)) ? num_prefix_int(text, NULL) : missing;
}

/* The CPUs which share the highest level of cache with <cpu>; if <wanted> is not 0, a cache of this
 * level. False: unknown.
 */
static bool read_cache(const char *root, unsigned cpu, int wanted, struct cpu_set *s)
{
	char path[512];
	int best = 0;

	for (int i = 0; i < CACHE_INDEX_MAX; i++) {
		struct cpu_set sharing;
		int level;

		snprintf(path, sizeof(path), "%s/cpu/cpu%u/cache/index%d/level", root, cpu, i);
		level = read_number(path, 0);
		if (level <= best || (wanted && level != wanted))
			continue;
		snprintf(path, sizeof(path), "%s/cpu/cpu%u/cache/index%d/shared_cpu_list", root,
			 cpu, i);
		if (read_set(path, &sharing)) {
			best = level;
			*s = sharing;
		}
	}
	return wanted ? best == wanted : best >= 2;
}

/* The number of the set that <s> is: its first CPU says whether it was met before. */
static int16_t set_number(const struct cpu_set *s, unsigned cpu, int16_t *next,
			  int16_t numbers[CPUS_MAX])
{
	int first = cpu_set_nth(s, 0);

	if (first < 0 || first > (int)cpu)
		first = (int)cpu;
	if (numbers[first] < 0)
		numbers[first] = (*next)++;
	return numbers[first];
}

static void read_nodes(struct cpu_topology *t, const char *root)
{
	struct cpu_set nodes;
	char path[512];

	snprintf(path, sizeof(path), "%s/node/online", root);
	if (!read_set(path, &nodes))
		return;
	for (unsigned node = 0; node < CPUS_MAX; node++) {
		struct cpu_set cpus;

		if (!cpu_set_has(&nodes, node))
			continue;
		snprintf(path, sizeof(path), "%s/node/node%u/cpulist", root, node);
		if (!read_set(path, &cpus))
			continue;
		for (unsigned cpu = 0; cpu < CPUS_MAX; cpu++) {
			if (cpu_set_has(&cpus, cpu))
				t->cpu[cpu].node = (int16_t)node;
		}
	}
}

/* Tables of set_number(). */
struct numbering {
	int16_t next[5];
	int16_t numbers[5][CPUS_MAX];
};

static void read_cpu(struct cpu_topology *t, const char *root, unsigned cpu, struct numbering *n)
{
	struct cpu *c = &t->cpu[cpu];
	struct cpu_set s;
	char path[512];

	snprintf(path, sizeof(path), "%s/cpu/cpu%u/topology/thread_siblings_list", root, cpu);
	if (read_set(path, &s)) {
		c->core = set_number(&s, cpu, &n->next[0], n->numbers[0]);
		for (unsigned other = 0; other < cpu; other++)
			c->thread = (int16_t)(c->thread + cpu_set_has(&s, other));
	}
	snprintf(path, sizeof(path), "%s/cpu/cpu%u/topology/package_cpus_list", root, cpu);
	if (read_set(path, &s))
		c->package = set_number(&s, cpu, &n->next[2], n->numbers[2]);
	else
		memset(&s, 0, sizeof(s));
	if (read_cache(root, cpu, 0, &s) || !cpu_set_is_empty(&s))
		c->ccx = set_number(&s, cpu, &n->next[1], n->numbers[1]);
	if (read_cache(root, cpu, 2, &s))
		c->l2 = set_number(&s, cpu, &n->next[3], n->numbers[3]);
	if (read_cache(root, cpu, 1, &s))
		c->l1 = set_number(&s, cpu, &n->next[4], n->numbers[4]);
	snprintf(path, sizeof(path), "%s/cpu/cpu%u/cpu_capacity", root, cpu);
	c->capacity = read_number(path, 0);
	if (!c->capacity) {
		snprintf(path, sizeof(path), "%s/cpu/cpu%u/cpufreq/cpuinfo_max_freq", root, cpu);
		c->capacity = read_number(path, 0);
	}
}

/* A cluster is the part of a CCX whose CPUs have about the same speed (5 %). */
static void number_clusters(struct cpu_topology *t)
{
	int16_t next = 0;

	for (unsigned cpu = 0; cpu < CPUS_MAX; cpu++) {
		struct cpu *c = &t->cpu[cpu];

		if (!cpu_set_has(&t->online, cpu))
			continue;
		c->cluster = -1;
		for (unsigned other = 0; other < cpu && c->cluster < 0; other++) {
			const struct cpu *o = &t->cpu[other];
			int gap = abs(o->capacity - c->capacity);

			if (cpu_set_has(&t->online, other) && o->ccx == c->ccx &&
			    o->node == c->node && gap <= c->capacity / 20)
				c->cluster = o->cluster;
		}
		if (c->cluster < 0)
			c->cluster = next++;
	}
}

void cpu_topology_read(struct cpu_topology *t, const char *root)
{
	static struct numbering n; /* large; start-up is one thread */
	cpu_set_t *allowed = CPU_ALLOC(CPUS_MAX);
	size_t size = CPU_ALLOC_SIZE(CPUS_MAX);
	char path[512];

	memset(t, 0, sizeof(*t));
	memset(&n, 0xff, sizeof(n));
	memset(n.next, 0, sizeof(n.next));
	snprintf(path, sizeof(path), "%s/cpu/online", root);
	if (!read_set(path, &t->online)) {
		long count = sysconf(_SC_NPROCESSORS_ONLN);

		for (unsigned cpu = 0; cpu < CPUS_MAX && (long)cpu < count; cpu++)
			cpu_set_put(&t->online, cpu);
	}
	if (allowed && sched_getaffinity(0, size, allowed) == 0) {
		for (unsigned cpu = 0; cpu < CPUS_MAX; cpu++) {
			if (CPU_ISSET_S(cpu, size, allowed))
				cpu_set_put(&t->bound, cpu);
		}
	} else {
		t->bound = t->online;
	}
	if (allowed)
		CPU_FREE(allowed);
	read_nodes(t, root);
	for (unsigned cpu = 0; cpu < CPUS_MAX; cpu++) {
		if (cpu_set_has(&t->online, cpu))
			read_cpu(t, root, cpu, &n);
	}
	number_clusters(t);
}
