/* SPDX-License-Identifier: GPL-2.0-or-later */
/* t_plan.c - threads, groups and CPUs on machines that are made up; the keywords; the commands */
#include <stdlib.h>
#include <string.h>
#include "../../../src/core/settings_priv.h"
#include "base/diag.h"
#include "conf/conf.h"
#include "core/core.h"
#include "tap.h"

static struct cpu_topology topo;
static struct core_settings set;
static struct thread_plan made;
static struct diag_list diags;

/* <nodes> nodes of <ccx> caches of <cores> cores of <smt> threads each. */
static void machine(int nodes, int ccx, int cores, int smt)
{
	unsigned cpu = 0;

	memset(&topo, 0, sizeof(topo));
	memset(&set, 0, sizeof(set));
	for (int n = 0; n < nodes; n++) {
		for (int x = 0; x < ccx; x++) {
			for (int c = 0; c < cores * smt; c++, cpu++) {
				topo.cpu[cpu] = (struct cpu){
					.node = (int16_t)n, .ccx = (int16_t)(n * ccx + x),
					.cluster = (int16_t)(n * ccx + x),
					.core = (int16_t)(cpu / (unsigned)smt),
					.thread = (int16_t)(cpu % (unsigned)smt), .capacity = 1024,
				};
				cpu_set_put(&topo.online, cpu);
				cpu_set_put(&topo.bound, cpu);
			}
		}
	}
}

/* "threads/groups" of what is decided, "error" if nothing is. */
static const char *decide(void)
{
	static char text[64];

	thread_plan_fini(&made);
	diag_list_fini(&diags);
	diag_list_init(&diags);
	if (!thread_plan_make(&made, &topo, &set, &diags))
		return "error";
	snprintf(text, sizeof(text), "%u/%u", made.threads, made.groups);
	return text;
}

static unsigned cpus_of(unsigned id)
{
	return made.cpus ? cpu_set_count(&made.cpus[id]) : 0;
}

static void test_numbers(void)
{
	machine(1, 1, 2, 1);
	is_str(decide(), "2/1", "one thread per CPU");
	set.threads = 32;
	is_str(decide(), "32/2", "nbthread 32 on 2 CPUs: groups of 16");
	is_int(diags.warnings, 1, "with a warning");
	set.groups = 1;
	is_str(decide(), "32/1", "in one group if asked");
	set.threads = 130;
	is_str(decide(), "64/1", "a group has 64 threads at most");
	set.groups = 4;
	is_str(decide(), "130/4", "more in more groups");
	is_int(made.sizes[0], 33, "shared out evenly");
	is_int(made.sizes[3], 32, "to all of them");
	set.threads = 2;
	is_str(decide(), "error", "more groups than threads");
	set.threads = 0;
	set.groups = 0;
	set.hard_limit = 1;
	is_str(decide(), "1/1", "thread-hard-limit");
	set.threads = 1024;
	set.hard_limit = 0;
	is_str(decide(), "1024/64", "1024 threads in 64 groups");
	set.group_max = 64;
	is_str(decide(), "1024/16", "max-threads-per-group 64");
}

static void test_groups(void)
{
	machine(1, 1, 4, 1);
	set.threads = 4;
	set.groups = 2;
	set.groups_defined = 1;
	cpu_set_put(&set.group_threads[0], 1);
	is_str(decide(), "4/2", "thread-group 1 1");
	is_int(made.sizes[0], 1, "has one thread");
	is_int(made.sizes[1], 3, "the others go to the other group");
	for (unsigned i = 1; i <= 4; i++)
		cpu_set_put(&set.group_threads[0], i);
	is_str(decide(), "error", "nothing left for the second group");
}

static void test_policies(void)
{
	machine(2, 4, 4, 2);
	is_str(decide(), "32/2", "two nodes of 32: the first one, in groups of 16");
	is_int(cpus_of(0), 16, "each bound to its half");
	set.affinity = AFFINITY_GROUP_LOOSE;
	decide();
	is_int(cpus_of(0), 32, "or to all of it");
	set.affinity = AFFINITY_AUTO;
	set.no_numa_mapping = true;
	is_str(decide(), "64/4", "no numa-cpu-mapping: all");
	is_int(cpus_of(0), 0, "not bound");
	set.policy = POLICY_CCX;
	set.policy_merge = 1;
	is_str(decide(), "64/8", "one group per CCX");
	is_int(cpus_of(63), 8, "bound to its eight CPUs");
	ok(cpu_set_has(&made.cpus[8], 8), "the second group starts on CPU 8");
	set.policy_merge = 2;
	is_str(decide(), "64/4", "one per two CCX");
	set.policy_merge = 4;
	is_str(decide(), "64/4", "four CCX of 8 are cut in groups of 16");
	set.group_max = 64;
	is_str(decide(), "64/2", "unless larger ones are allowed");
	set.threads = 8;
	is_str(decide(), "8/1", "nbthread: the policy does not group");
	machine(1, 2, 4, 1);
	for (int i = 4; i < 8; i++)
		topo.cpu[i].capacity = 400;
	set.policy_merge = 1;
	set.policy = POLICY_PERFORMANCE;
	is_str(decide(), "4/1", "performance");
	ok(cpu_set_has(&made.cpus[0], 0) && cpus_of(0) == 4, "on the fast CPUs");
	set.policy = POLICY_EFFICIENCY;
	is_str(decide(), "4/1", "efficiency");
	ok(cpu_set_has(&made.cpus[0], 4) && cpus_of(0) == 4, "on the slow CPUs");
	set.policy = POLICY_RESOURCE;
	is_str(decide(), "4/1", "resource");
	for (int i = 4; i < 8; i++)
		topo.cpu[i].capacity = 900;
	set.policy = POLICY_PERFORMANCE;
	is_str(decide(), "8/2", "nearly as fast is good enough");
}

static void test_affinity(void)
{
	machine(1, 2, 4, 2);
	set.policy = POLICY_CCX;
	set.policy_merge = 1;
	is_str(decide(), "16/2", "two CCX of four cores");
	is_int(cpus_of(0), 8, "per group");
	set.affinity = AFFINITY_CORE;
	decide();
	ok(cpus_of(3) == 2 && cpu_set_has(&made.cpus[3], 2) && cpu_set_has(&made.cpus[3], 3),
	   "per core: the second pair");
	set.affinity = AFFINITY_THREAD;
	decide();
	ok(cpus_of(3) == 1 && cpu_set_has(&made.cpus[3], 3), "per thread");
	set.policy_merge = 2;
	set.affinity = AFFINITY_CCX;
	is_str(decide(), "16/1", "both in one group");
	ok(cpus_of(8) == 8 && cpu_set_has(&made.cpus[8], 8), "per CCX: the second one");
	set.affinity = AFFINITY_AUTO;
	set.one_per_core = true;
	is_str(decide(), "8/1", "one thread per core");
	is_int(cpus_of(0), 2, "with both CPUs of it");
	set.group_max = 3;
	is_str(decide(), "8/3", "in groups of three at most");
	set.affinity = AFFINITY_GROUP;
	decide();
	ok(cpus_of(0) == 6 && cpus_of(7) == 4, "whose cores touch");
	set.hard_limit = 2;
	is_str(decide(), "2/1", "two threads at most");
	set.one_per_core = false;
	is_str(decide(), "2/1", "also of CPUs");
	is_int(cpus_of(0), 2, "which are as many");
	for (unsigned cpu = 0; cpu < 16; cpu++)
		topo.cpu[cpu].core = -1;
	set.affinity = AFFINITY_CORE;
	set.hard_limit = 0;
	decide();
	is_int(cpus_of(0), 1, "cores that are not known: each CPU is one");
	set.policy_is_set = true;
	set.threads = 4;
	decide();
	ok(!list_is_empty(&diags.diags), "nbthread: the policy is not asked, and that is said");
}

/* Reads keywords as in a global section; returns whether something was wrong. */
static int keywords(const char *text)
{
	static struct config *cfg;
	char all[1024];

	config_drop(&cfg);
	cfg = config_new();
	diag_list_fini(&diags);
	diag_list_init(&diags);
	snprintf(all, sizeof(all), "global\n%s\n", text);
	conf_read_text(cfg, "test", slice_of(all), &diags);
	memcpy(&set, slot_of(mod_core.slots[0], config_slots(cfg)), sizeof(set));
	return diags.alerts > 0;
}

static bool open_global(struct conf_line *l)
{
	l->slots = config_slots(l->cfg);
	return true;
}

static const struct conf_section sections[] = {
	{ .name = "global", .where = CONF_GLOBAL, .open = open_global },
	{ 0 }
};
static const struct module mod_global = { .name = "global", .sections = sections };
static const struct module *const modules[] = { &mod_global, &mod_core, NULL };

static void test_keywords(void)
{
	machine(1, 1, 8, 1);
	is_int(keywords(" nbthread 3\n thread-groups 2\n busy-polling\n tune.runqueue-depth 50"), 0,
	       "numbers");
	ok(set.threads == 3 && set.groups == 2 && set.busy_polling && set.run_queue_depth == 50,
	   "are where they belong");
	is_int(keywords(" nbthread 0"), 1, "nbthread 0");
	is_int(keywords(" nbthread 1025"), 1, "nbthread 1025");
	is_int(keywords(" nbthread x"), 1, "nbthread x");
	is_int(keywords(" thread-groups 65"), 1, "thread-groups 65");
	is_int(keywords(" thread-group 1 0-2"), 1, "thread 0");
	is_int(keywords(" thread-group 1 1,2"), 1, "a list is not a range");
	is_int(keywords(" thread-group 1 1025"), 1, "thread 1025");
	is_int(keywords(" thread-group 1 1-2 1024"), 0, "thread 1024");
	is_int(cpu_set_count(&set.group_threads[0]), 3, "three threads");
	is_int(keywords(" cpu-map x 0"), 1, "cpu-map: not a group");
	is_int(keywords(" cpu-map 1"), 1, "cpu-map: no CPU");
	is_int(keywords(" cpu-map 1/1 5000"), 1, "cpu-map: no such CPU");
	is_int(keywords(" cpu-policy foo"), 1, "no such policy");
	is_int(keywords(" cpu-policy none threads-per-core 2"), 1, "no such number of threads");
	is_int(keywords(" cpu-affinity"), 1, "cpu-affinity: nothing");
	is_int(keywords(" cpu-affinity per-core loose"), 1, "loose is for groups");
	is_int(keywords(" cpu-affinity per-group loose"), 0, "per-group loose");
	is_int(set.affinity, AFFINITY_GROUP_LOOSE, "is what it says");
	is_int(keywords(" cpu-set only-cpu"), 1, "cpu-set: no set");
	is_int(keywords(" tune.fail-alloc 101"), 1, "more than all");
	is_int(keywords(" warn-blocked-traffic-after 2s"), 1, "too long");
	is_int(keywords(" profiling.tasks maybe"), 1, "profiling.tasks");
	is_int(keywords(" profiling.memory maybe"), 1, "profiling.memory");
	is_int(keywords(" profiling.memory off"), 0, "profiling.memory off: built in or not");
	is_int(keywords(" debug.counters maybe"), 1, "debug.counters");
	is_int(keywords(" debug.counters on"), 0, "debug.counters on");
	is_int(keywords(" tune.epoll.mask-events err,foo"), 1, "no such event");
	is_int(keywords(" cpu-map auto:1/1-4 0-3\n nbthread 4"), 0, "cpu-map auto");
	is_str(decide(), "4/1", "four threads");
	ok(cpus_of(3) == 1 && cpu_set_has(&made.cpus[3], 3), "each on its CPU");
	is_int(keywords(" cpu-map all 0-1\n cpu-map 1/odd 2\n nbthread 4"), 0, "overlapping");
	decide();
	ok(cpu_set_has(&made.cpus[0], 2) && cpus_of(0) == 1 && cpus_of(1) == 2, "the last wins");
	is_int(keywords(" cpu-set drop-cpu 0-3 only-thread 0"), 0, "cpu-set");
	is_str(decide(), "4/1", "drops CPUs");
	ok(cpu_set_has(&made.cpus[0], 4) && cpus_of(0) == 4, "and binds to the rest");
	is_int(keywords(" cpu-set only-cpu 99"), 0, "a set that leaves nothing");
	is_str(decide(), "8/1", "is ignored");
	is_int(diags.warnings, 1, "with a warning");
}

int main(void)
{
	slot_register(mod_core.slots[0]);
	diag_list_init(&diags);
	conf_register(modules);
	test_numbers();
	test_groups();
	test_policies();
	test_affinity();
	test_keywords();
	return done_testing();
}
