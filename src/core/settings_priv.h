/* SPDX-License-Identifier: GPL-2.0-or-later */
/* settings_priv.h - settings of core's global keywords: a slot of the configuration */
#ifndef CORE_SETTINGS_PRIV_H
#define CORE_SETTINGS_PRIV_H

#include <stdbool.h>
#include <stdint.h>
#include "cpu_priv.h"

enum cpu_policy {
	POLICY_FIRST_NODE,
	POLICY_NONE, POLICY_CCX, POLICY_CLUSTER, POLICY_PERFORMANCE, POLICY_EFFICIENCY,
	POLICY_RESOURCE,
};

/* The CPUs on which the threads of a group run. */
enum cpu_affinity {
	AFFINITY_AUTO, /* per core with one thread per core, else per group */
	AFFINITY_GROUP, AFFINITY_GROUP_LOOSE, AFFINITY_CCX, AFFINITY_CORE, AFFINITY_THREAD,
};

enum cpu_rule_kind { CPU_RULE_CPU, CPU_RULE_NODE, CPU_RULE_CLUSTER, CPU_RULE_CORE,
		     CPU_RULE_THREAD };

/* One directive of cpu-set. */
struct cpu_rule {
	struct cpu_rule *next;
	enum cpu_rule_kind kind;
	bool drop;
	struct cpu_set set;
};

/* One line of cpu-map. */
struct cpu_map {
	struct cpu_map *next;
	bool automatic;
	uint64_t groups, threads; /* bit n: number n + 1 */
	struct cpu_set cpus;
};

enum profiling_mode { PROFILING_OFF, PROFILING_AUTO_OFF, PROFILING_AUTO_ON, PROFILING_ON };

struct core_settings {
	int threads, groups;       /* 0: not set */
	int hard_limit;            /* 0: none */
	int group_max;             /* max-threads-per-group, 0: not set */
	enum cpu_policy policy;
	int policy_merge;          /* number of CCX or clusters per group */
	bool policy_is_set;        /* by a line */
	bool one_per_core;         /* threads-per-core 1 */
	enum cpu_affinity affinity;
	bool no_numa_mapping;
	bool cpu_reset;
	struct cpu_rule *rules;    /* in order; in the arena */
	struct cpu_map *maps;
	struct cpu_set group_threads[GROUPS_MAX]; /* thread-group: bit n is thread n + 1 */
	uint64_t groups_defined;
	bool no_epoll, no_poll, busy_polling, no_trimming;
	int max_poll_events;       /* 0: default */
	int run_queue_depth;       /* 0: default */
	bool low_latency;
	uint64_t hot_size;
	int fail_percent;
	unsigned epoll_mask;
	enum profiling_mode profiling;
	bool profiling_memory, count_places;
	int blocked_ms;            /* warn-blocked-traffic-after */
};

#endif
