/* SPDX-License-Identifier: GPL-2.0-or-later */
/* thread_plan.c - number of threads, their groups and CPUs
 *
 *	allowed CPUs = where the process may run, changed by cpu-set, restricted by the policy
 *	explicit     : nbthread, thread-groups, thread-group or cpu-map say how many: no policy
 *	by policy    : one group per CCX or cluster (or 2, 3, 4 of them)
 *
 * Parts that would make groups larger than the limit are divided into equal ones.
 */
#include <stdlib.h>
#include <string.h>
#include "base/diag.h"
#include "settings_priv.h"

#define GROUP_DEFAULT_MAX 16

void thread_plan_fini(struct thread_plan *plan)
{
	free(plan->cpus);
	plan->cpus = NULL;
}

/* --- which CPUs ------------------------------------------------------------------------------ */

static int cpu_rule_number(const struct cpu *c, unsigned cpu, enum cpu_rule_kind kind)
{
	switch (kind) {
	case CPU_RULE_NODE:
		return c->node;
	case CPU_RULE_CLUSTER:
		return c->cluster;
	case CPU_RULE_CORE:
		return c->core;
	case CPU_RULE_THREAD:
		return c->thread;
	case CPU_RULE_CPU:
		break;
	}
	return (int)cpu;
}

static void plan_allowed(struct cpu_set *allowed, const struct cpu_topology *t,
			 const struct core_settings *set, struct diag_list *diags)
{
	*allowed = set->cpu_reset ? t->online : t->bound;
	cpu_set_and(allowed, &t->online);
	for (const struct cpu_rule *r = set->rules; r; r = r->next) {
		struct cpu_set kept = { 0 };

		for (unsigned cpu = 0; cpu < CPUS_MAX; cpu++) {
			int number = cpu_rule_number(&t->cpu[cpu], cpu, r->kind);

			if (cpu_set_has(allowed, cpu) &&
			    (number >= 0 && cpu_set_has(&r->set, (unsigned)number)) != r->drop)
				cpu_set_put(&kept, cpu);
		}
		*allowed = kept;
	}
	if (!cpu_set_is_empty(allowed))
		return;
	if (set->rules)
		diag_add(diags, DIAG_WARNING, NULL, NULL,
			 "the 'cpu-set' directives leave no CPU to run on, they are ignored.");
	*allowed = t->bound;
	if (cpu_set_is_empty(allowed))
		cpu_set_put(allowed, 0);
}

/* Is <capacity> below 80 % of <limit> (performance), or more than 25 % above (efficiency)? */
static bool is_too_far(enum cpu_policy policy, int64_t capacity, int64_t limit)
{
	if (policy == POLICY_PERFORMANCE)
		return capacity * 5 < limit * 4;
	return capacity * 4 > limit * 5;
}

/* Keeps the CPUs of the clusters that the policy wants: those not much slower than the next
 * faster ones (performance), not much faster than the next slower ones (efficiency), or the
 * smallest and slowest cluster (resource).
 */
static void plan_select(struct cpu_set *allowed, const struct cpu_topology *t,
			enum cpu_policy policy)
{
	int limit = -1, wanted = -1;
	struct cpu_set kept = { 0 };
	bool moved = true;

	for (unsigned cpu = 0; cpu < CPUS_MAX; cpu++) {
		int capacity = t->cpu[cpu].capacity;

		if (!cpu_set_has(allowed, cpu))
			continue;
		if (limit < 0 || (policy == POLICY_PERFORMANCE) == (capacity > limit)) {
			limit = capacity;
			wanted = t->cpu[cpu].cluster;
		}
	}
	if (policy == POLICY_RESOURCE) {
		for (unsigned cpu = 0; cpu < CPUS_MAX; cpu++) {
			if (cpu_set_has(allowed, cpu) && t->cpu[cpu].cluster == wanted)
				cpu_set_put(&kept, cpu);
		}
		*allowed = kept;
		return;
	}
	/* Widen the limit step by step, as long as the next CPUs are close enough. */
	while (moved) {
		moved = false;
		for (unsigned cpu = 0; cpu < CPUS_MAX; cpu++) {
			int capacity = t->cpu[cpu].capacity;

			if (!cpu_set_has(allowed, cpu) || cpu_set_has(&kept, cpu))
				continue;
			if (is_too_far(policy, capacity, limit))
				continue;
			cpu_set_put(&kept, cpu);
			if (policy == POLICY_PERFORMANCE ? capacity < limit : capacity > limit)
				limit = capacity;
			moved = true;
		}
	}
	*allowed = kept;
}

/* The first node that has an allowed CPU; only on machines with several. */
static bool plan_first_node(struct cpu_set *allowed, const struct cpu_topology *t)
{
	int first = cpu_set_nth(allowed, 0), node = first < 0 ? 0 : t->cpu[first].node;
	struct cpu_set kept = { 0 };

	for (unsigned cpu = 0; cpu < CPUS_MAX; cpu++) {
		if (cpu_set_has(allowed, cpu) && t->cpu[cpu].node == node)
			cpu_set_put(&kept, cpu);
	}
	if (cpu_set_count(&kept) == cpu_set_count(allowed))
		return false;
	*allowed = kept;
	return true;
}

/* --- which groups ---------------------------------------------------------------------------- */

static unsigned plan_group_max(const struct core_settings *set)
{
	if (set->group_max)
		return (unsigned)set->group_max;
	/* Numbers of threads in a group are written down: they must stay what they were. */
	if (set->maps || set->groups_defined || set->groups)
		return GROUP_THREADS_MAX;
	return GROUP_DEFAULT_MAX;
}

static unsigned min_unsigned(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* How many threads run on <cpus>: one for each CPU, or for each core. */
static unsigned plan_places(const struct cpu_set *cpus, const struct cpu_topology *t,
			    bool one_per_core)
{
	struct cpu_set cores = { 0 };
	unsigned unknown = 0;

	if (!one_per_core)
		return cpu_set_count(cpus);
	for (unsigned cpu = 0; cpu < CPUS_MAX; cpu++) {
		if (!cpu_set_has(cpus, cpu))
			continue;
		if (t->cpu[cpu].core < 0)
			unknown++;
		else
			cpu_set_put(&cores, (unsigned)t->cpu[cpu].core);
	}
	return cpu_set_count(&cores) + unknown;
}

/* One part per CCX or cluster, or per <policy_merge> of them. */
static unsigned plan_by_cache(struct thread_part *parts, const struct cpu_set *allowed,
			      const struct cpu_topology *t, const struct core_settings *set)
{
	bool by_cluster = set->policy == POLICY_CLUSTER || set->policy == POLICY_RESOURCE;
	unsigned count = 0, merged = 0;
	struct cpu_set left = *allowed, cpus = { 0 };
	int first;

	while ((first = cpu_set_nth(&left, 0)) >= 0 && count < GROUPS_MAX) {
		const struct cpu *f = &t->cpu[first];
		struct cpu_set same = { 0 };

		for (unsigned cpu = 0; cpu < CPUS_MAX; cpu++) {
			const struct cpu *c = &t->cpu[cpu];

			if (cpu_set_has(&left, cpu) &&
			    (by_cluster ? c->cluster == f->cluster : c->ccx == f->ccx))
				cpu_set_put(&same, cpu);
		}
		cpu_set_remove(&left, &same);
		cpu_set_or(&cpus, &same);
		if (++merged < (unsigned)set->policy_merge && !cpu_set_is_empty(&left))
			continue;
		parts[count].cpus = cpus;
		parts[count++].threads = plan_places(&cpus, t, set->one_per_core);
		memset(&cpus, 0, sizeof(cpus));
		merged = 0;
	}
	return count;
}

/* Sizes of the groups of thread-group lines; then the threads left for the others, evenly. */
static bool plan_sizes(struct thread_plan *plan, const struct core_settings *set,
		       struct diag_list *diags)
{
	unsigned left = plan->threads, undefined = 0, done = 0;

	for (unsigned g = 0; g < plan->groups; g++) {
		if (!(set->groups_defined >> g & 1)) {
			undefined++;
			continue;
		}
		plan->sizes[g] = min_unsigned(left, cpu_set_count(&set->group_threads[g]));
		left -= plan->sizes[g];
	}
	if (undefined > left) {
		diag_add(diags, DIAG_ALERT, NULL, NULL, "More unassigned thread-groups (%u) than "
			 "threads (%u). Please reduce thread-groups", undefined, left);
		return false;
	}
	for (unsigned g = 0; g < plan->groups; g++) {
		if (!(set->groups_defined >> g & 1)) {
			plan->sizes[g] = left / undefined + (done < left % undefined);
			done++;
		}
		if (!plan->sizes[g]) {
			diag_add(diags, DIAG_ALERT, NULL, NULL,
				 "thread group %u has no thread. Please reduce thread-groups",
				 g + 1);
			return false;
		}
	}
	plan->threads = 0;
	for (unsigned g = 0; g < plan->groups; g++) {
		plan->sizes[g] = min_unsigned(plan->sizes[g], GROUP_THREADS_MAX);
		plan->threads += plan->sizes[g];
	}
	return true;
}

/* Numbers given, or one thread per CPU. */
static bool plan_explicit(struct thread_plan *plan, const struct cpu_set *allowed,
			  const struct core_settings *set, struct diag_list *diags)
{
	unsigned max = plan_group_max(set);

	plan->threads = set->threads ? (unsigned)set->threads : cpu_set_count(allowed);
	if (set->hard_limit && plan->threads > (unsigned)set->hard_limit)
		plan->threads = (unsigned)set->hard_limit;
	plan->threads = min_unsigned(plan->threads, THREADS_MAX);
	if (set->groups)
		plan->groups = (unsigned)set->groups;
	else if (set->maps || set->groups_defined ||
		 (set->policy == POLICY_NONE && !set->threads && !set->group_max))
		plan->groups = 1;
	else
		plan->groups = min_unsigned((plan->threads + max - 1) / max, GROUPS_MAX);
	if (plan->groups == 1 && !set->group_max)
		max = GROUP_THREADS_MAX;
	plan->threads = min_unsigned(plan->threads, plan->groups * max);
	return plan_sizes(plan, set, diags);
}

/* --- which thread where ---------------------------------------------------------------------- */

static void plan_apply_map(struct thread_plan *plan, const struct cpu_map *m)
{
	unsigned id = 0, nth = 0;

	for (unsigned g = 0; g < plan->groups; g++) {
		for (unsigned i = 0; i < plan->sizes[g]; i++, id++) {
			int cpu;

			if (!(m->groups >> g & 1) || !(m->threads >> i & 1))
				continue;
			if (!m->automatic) {
				plan->cpus[id] = m->cpus;
				continue;
			}
			cpu = cpu_set_nth(&m->cpus, nth++);
			memset(&plan->cpus[id], 0, sizeof(plan->cpus[id]));
			if (cpu >= 0)
				cpu_set_put(&plan->cpus[id], (unsigned)cpu);
		}
	}
}

/* Says when threads have to share CPUs, or only some are bound. */
static void plan_warn(const struct thread_plan *plan, const struct cpu_set *allowed,
		      struct diag_list *diags)
{
	unsigned bound = 0, free_threads = 0, first_bound = 0, first_free = 0;
	struct cpu_set all = { 0 };

	for (unsigned id = 0; id < plan->threads; id++) {
		if (plan->cpus && !cpu_set_is_empty(&plan->cpus[id])) {
			first_bound = bound++ ? first_bound : id;
			cpu_set_or(&all, &plan->cpus[id]);
		} else {
			first_free = free_threads++ ? first_free : id;
		}
	}
	if (bound && free_threads) {
		diag_add(diags, DIAG_WARNING, NULL, NULL, "Found %u thread(s) mapped to a CPU "
			  "and %u "
			 "thread(s) not mapped to any CPU. The latter may run on the CPUs of the "
			 "former and slow them down: bind all threads or none. First thread "
			 "bound is "
			 "%u and first thread not bound is %u.", bound, free_threads, first_bound,
			 first_free);
		return;
	}
	if (!bound)
		all = *allowed;
	if (plan->threads > cpu_set_count(&all))
		diag_add(diags, DIAG_WARNING, NULL, NULL, "This configuration binds %u threads "
			  "to a "
			 "total of %u CPUs%s: threads will compete for CPUs, which costs much "
			 "performance. Lower 'nbthread' or change the CPUs.", plan->threads,
			 cpu_set_count(&all), bound ? " via cpu-map directives" : "");
}

/* Only the first <count> CPUs stay in <cpus>. */
static void plan_trim(struct cpu_set *cpus, unsigned count)
{
	for (unsigned cpu = 0; cpu < CPUS_MAX; cpu++) {
		if (cpu_set_has(cpus, cpu) && count-- == 0) {
			for (; cpu < CPUS_MAX; cpu++)
				cpus->bits[cpu / 64] &= ~(1ull << cpu % 64);
		}
	}
}

/* Makes groups of the parts, no more threads than <limit> in all. Returns how many parts count. */
static unsigned plan_take_parts(struct thread_plan *plan, struct thread_part *parts, unsigned count,
				const struct core_settings *set)
{
	unsigned limit = set->hard_limit ? (unsigned)set->hard_limit : THREADS_MAX;
	unsigned max = plan_group_max(set), taken = 0;

	for (; taken < count && limit > 0 && plan->groups < GROUPS_MAX; taken++) {
		struct thread_part *p = &parts[taken];
		unsigned pieces, left;

		if (p->threads > limit) {
			p->threads = limit;
			if (!set->one_per_core)
				plan_trim(&p->cpus, limit);
		}
		pieces = (p->threads + max - 1) / max;
		p->group_size = (p->threads + pieces - 1) / pieces;
		for (left = p->threads; left > 0 && plan->groups < GROUPS_MAX;) {
			plan->sizes[plan->groups] = min_unsigned(p->group_size, left);
			left -= plan->sizes[plan->groups++];
		}
		p->threads -= left;
		limit -= p->threads;
		plan->threads += p->threads;
	}
	return taken;
}

/* Says why the policy of the file is not asked. */
static void plan_ignores(const struct core_settings *set, struct diag_list *diags)
{
	static const struct diag_place bare = { .form = DIAG_BARE };
	const char *by = set->threads ? "nbthreads" : set->groups ? "thread-groups" :
			 set->maps ? "cpu-map" : set->groups_defined ? "thread-group" : NULL;

	if (!by && set->policy == POLICY_FIRST_NODE && set->no_numa_mapping)
		by = "numa-cpu-mapping";
	if (by && set->policy_is_set && set->policy != POLICY_NONE)
		diag_add(diags, DIAG_NOTICE, &bare, NULL, "cpu-policy is ignored when %s is set.",
			 by);
}

/* The parts of the policy; 0: it makes none, threads are as many as allowed CPUs. */
static unsigned plan_by_policy(struct thread_part *parts, struct cpu_set *allowed,
			       const struct cpu_topology *t, const struct core_settings *set)
{
	if (set->policy >= POLICY_PERFORMANCE)
		plan_select(allowed, t, set->policy);
	if (set->policy >= POLICY_CCX)
		return plan_by_cache(parts, allowed, t, set);
	if (set->policy != POLICY_FIRST_NODE || set->no_numa_mapping ||
	    cpu_set_count(&t->bound) < cpu_set_count(&t->online) || !plan_first_node(allowed, t))
		return 0;
	parts[0].cpus = *allowed;
	parts[0].threads = plan_places(allowed, t, set->one_per_core);
	return 1;
}

static bool plan_bind(struct thread_plan *plan, const struct thread_part *parts, unsigned count,
		      const struct cpu_topology *t, const struct core_settings *set)
{
	unsigned id = 0;

	if (!count && !set->maps && !set->rules && !set->cpu_reset)
		return true;
	plan->cpus = calloc(plan->threads, sizeof(*plan->cpus));
	if (!plan->cpus)
		return false;
	for (unsigned i = 0; i < count; i++) {
		thread_part_bind(plan, id, &parts[i], t, set);
		id += parts[i].threads;
	}
	for (; !set->maps && id < plan->threads; id++)
		plan->cpus[id] = plan->kept;
	for (const struct cpu_map *m = set->maps; m; m = m->next)
		plan_apply_map(plan, m);
	return true;
}

bool thread_plan_make(struct thread_plan *plan, const struct cpu_topology *t,
		      const struct core_settings *set, struct diag_list *diags)
{
	static struct thread_part parts[GROUPS_MAX]; /* large; start-up is one thread */
	bool free_hand = !set->threads && !set->groups && !set->maps && !set->groups_defined;
	unsigned count = 0;

	memset(plan, 0, sizeof(*plan));
	plan_allowed(&plan->kept, t, set, diags);
	if (set->hard_limit && set->threads > set->hard_limit)
		diag_add(diags, DIAG_WARNING, NULL, NULL, "nbthread forced to a higher value "
			  "(%d) than "
			 "the configured thread-hard-limit (%d), enforcing the limit. Change one "
			 "of "
			 "them to silence this warning.", set->threads, set->hard_limit);
	plan_ignores(set, diags);
	if (free_hand)
		count = plan_by_policy(parts, &plan->kept, t, set);
	if (count)
		count = plan_take_parts(plan, parts, count, set);
	else if (!plan_explicit(plan, &plan->kept, set, diags))
		return false;
	if (!plan_bind(plan, parts, count, t, set))
		return false;
	plan_warn(plan, &plan->kept, diags);
	if (count)
		diag_add(diags, DIAG_DIAG, NULL, NULL, "Created %u threads split into %u groups",
			 plan->threads, plan->groups);
	return true;
}
