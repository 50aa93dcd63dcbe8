/* SPDX-License-Identifier: GPL-2.0-or-later */
/* core_conf.c - edge file: the global keywords about threads, CPUs, polling and memory */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "base/memory_profile.h"
#include "base/place.h"
#include "conf/conf.h"
#include "core/core.h"
#include "core/fd.h"
#include "core/pool.h"
#include "core/profile.h"
#include "core/task.h"
#include "affinity_priv.h"
#include "settings_priv.h"
#include "watchdog_priv.h"

#define CPU_ROOT "/sys/devices/system"

static bool settings_init(void *data)
{
	struct core_settings *set = data;

	set->policy = POLICY_PERFORMANCE;
	set->policy_merge = 1;
	set->hot_size = 524288;
	set->fail_percent = -1;
	set->profiling = PROFILING_AUTO_OFF;
	set->blocked_ms = 100;
	return true;
}

static struct slot settings_slot = {
	.of = SLOT_CONFIG, .size = sizeof(struct core_settings), .init = settings_init,
};
static struct slot *const slots[] = { &settings_slot, NULL };

static struct core_settings *core_settings_of(const struct config *cfg)
{
	return slot_of(&settings_slot, config_slots(cfg));
}

/* --- numbers of threads ---------------------------------------------------------------------- */

/* The next word as an integer; the reference's words for what is not one. */
static bool take_integer(struct conf_line *l, int *out)
{
	const char *word = conf_next(l);
	char *end;
	long value = word ? strtol(word, &end, 10) : 0;

	if (!word || !*word || *end || value != (int)value)
		return conf_error(l, l->at - (word != NULL), NULL,
				  "'%s' passed a missing or unparsable integer value in '%s'",
				  l->words[0], word ? word : "");
	*out = (int)value;
	return true;
}

static bool take_in_range(struct conf_line *l, int min, int max, int *out)
{
	int value;

	if (!take_integer(l, &value))
		return false;
	if (value < min || value > max) {
		if (max == INT32_MAX)
			return conf_error(l, l->at - 1, NULL, "'%s' value must be at least %d "
				  "(was %d)",
					  l->words[0], min, value);
		return conf_error(l, l->at - 1, NULL,
				  "'%s' value must be between %d and %d (was %d)", l->words[0],
				  min, max, value);
	}
	*out = value;
	return true;
}

static bool parse_nbthread(struct conf_line *l)
{
	return take_in_range(l, 1, THREADS_MAX, &core_settings_of(l->cfg)->threads);
}

static bool parse_thread_groups(struct conf_line *l)
{
	return take_in_range(l, 1, GROUPS_MAX, &core_settings_of(l->cfg)->groups);
}

static bool parse_hard_limit(struct conf_line *l)
{
	return take_in_range(l, 1, INT32_MAX, &core_settings_of(l->cfg)->hard_limit);
}

static bool parse_group_max(struct conf_line *l)
{
	return take_in_range(l, 1, GROUP_THREADS_MAX, &core_settings_of(l->cfg)->group_max);
}

/* Adds "3" or "1-16": bit n is thread n + 1. */
static bool add_thread_range(struct cpu_set *threads, const char *text)
{
	char *end;
	unsigned long low = strtoul(text, &end, 10), high = low;

	if (ascii_is_digit(*text) && *end == '-' && ascii_is_digit(end[1]))
		high = strtoul(end + 1, &end, 10);
	if (!ascii_is_digit(*text) || *end || low < 1 || low > THREADS_MAX || high < 1 ||
	    high > THREADS_MAX)
		return false;
	for (unsigned long n = low < high ? low : high; n <= low || n <= high; n++)
		cpu_set_put(threads, (unsigned)n - 1);
	return true;
}

static bool parse_thread_group(struct conf_line *l)
{
	struct core_settings *set = core_settings_of(l->cfg);
	struct cpu_set threads = { 0 };
	const char *word;
	int group;

	if (!take_integer(l, &group))
		return false;
	if (group < 1 || group > GROUPS_MAX)
		return conf_error(l, l->at - 1, NULL, "'thread-group' thread-group number must be "
				  "between 1 and %d (was %d)", GROUPS_MAX, group);
	while ((word = conf_next(l)) != NULL) {
		if (!add_thread_range(&threads, word))
			return conf_error(l, l->at - 1, NULL, "'thread-group %d' passed an "
					  "unparsable or invalid thread number '%s' (valid range "
					  "is 1 to %d)", group, word, THREADS_MAX);
	}
	set->group_threads[group - 1] = threads;
	set->groups_defined &= ~(1ull << (group - 1));
	if (!cpu_set_is_empty(&threads))
		set->groups_defined |= 1ull << (group - 1);
	return true;
}

/* --- CPUs ------------------------------------------------------------------------------------ */

/* Reads "all", "odd", "even", "3", "1-4" or "2-" as bits (bit 0: number 1). */
static bool parse_map_numbers(struct conf_line *l, const char *text, uint64_t *bits)
{
	char *end;
	unsigned long low, high;

	*bits = 0;
	if (strcmp(text, "all") == 0)
		*bits = ~0ull;
	else if (strcmp(text, "odd") == 0)
		*bits = 0x5555555555555555ull;
	else if (strcmp(text, "even") == 0)
		*bits = 0xAAAAAAAAAAAAAAAAull;
	if (*bits)
		return true;
	low = high = strtoul(text, &end, 10);
	if (end != text && *end == '-')
		high = end[1] ? strtoul(end + 1, &end, 10) : (end++, 64);
	if (end == text || *end)
		return conf_error(l, l->at - 1, NULL, "cpu-map : '%s' is not a valid number/range.",
				  text);
	if (low < 1 || low > 64 || high < 1 || high > 64)
		return conf_error(l, l->at - 1, NULL, "cpu-map : '%s' is not a valid "
			  "number/range. It "
				  "supports numbers from 1 to 64.", text);
	if (low > high) {
		unsigned long swap = low;

		low = high;
		high = swap;
	}
	for (; low <= high; low++)
		*bits |= 1ull << (low - 1);
	return true;
}

/* The groups and threads of cpu-map's first word. */
static bool parse_map_target(struct conf_line *l, struct cpu_map *map)
{
	char *text = conf_strdup(l->cfg, conf_next(l)), *threads;

	if (!text)
		return conf_error(l, l->at - 1, NULL, "out of memory");
	if (strncmp(text, "auto:", 5) == 0) {
		map->automatic = true;
		text += 5;
	}
	threads = strchr(text, '/');
	if (threads)
		*threads++ = 0;
	return parse_map_numbers(l, text, &map->groups) &&
	       parse_map_numbers(l, threads ? threads : "all", &map->threads);
}

static bool parse_cpu_map(struct conf_line *l)
{
	struct core_settings *set = core_settings_of(l->cfg);
	struct cpu_map *map = arena_zalloc(&l->cfg->arena, sizeof(*map)), **at;

	if (!map)
		return conf_error(l, 0, NULL, "out of memory");
	if (l->count - l->at < 2)
		return conf_error(l, 0, NULL, "cpu-map expects a thread group number ('all', "
			  "'odd', "
				  "'even', a number from 1 to 64 or a range), followed by a list "
				  "of "
				  "CPU ranges with numbers from 0 to %d.", CPUS_MAX - 1);
	if (!parse_map_target(l, map))
		return false;
	while (conf_peek(l)) {
		const char *word = conf_next(l);
		bool too_big;

		if (cpu_set_parse(&map->cpus, word, CPUS_MAX - 1, &too_big))
			continue;
		if (too_big)
			return conf_error(l, l->at - 1, NULL, "cpu-map : supports CPU numbers "
				  "from 0 to "
					  "%d.", CPUS_MAX - 1);
		return conf_error(l, l->at - 1, NULL, "cpu-map : '%s' is not a CPU range.", word);
	}
	for (at = &set->maps; *at; at = &(*at)->next)
		;
	*at = map;
	return true;
}

static const struct {
	const char *name;
	enum cpu_policy policy;
	int merge;
} policies[] = {
	{ "none", POLICY_NONE, 1 },
	{ "first-usable-node", POLICY_FIRST_NODE, 1 },
	{ "group-by-ccx", POLICY_CCX, 1 },
	{ "group-by-2-ccx", POLICY_CCX, 2 },
	{ "group-by-3-ccx", POLICY_CCX, 3 },
	{ "group-by-4-ccx", POLICY_CCX, 4 },
	{ "group-by-cluster", POLICY_CLUSTER, 1 },
	{ "group-by-2-clusters", POLICY_CLUSTER, 2 },
	{ "group-by-3-clusters", POLICY_CLUSTER, 3 },
	{ "group-by-4-clusters", POLICY_CLUSTER, 4 },
	{ "performance", POLICY_PERFORMANCE, 1 },
	{ "efficiency", POLICY_EFFICIENCY, 1 },
	{ "resource", POLICY_RESOURCE, 1 },
};

static const char *next_policy(void *ctx)
{
	unsigned *i = ctx;

	return *i < ARRAY_LEN(policies) ? policies[(*i)++].name : NULL;
}

/* threads-per-core, behind the name of a policy. */
static bool take_per_core(struct conf_line *l, struct core_settings *set)
{
	const char *word = conf_next(l);

	if (!word)
		return true;
	if (strcmp(word, "threads-per-core") != 0)
		return conf_error(l, l->at - 1, "threads-per-core",
				  "'cpu-policy' passed an unknown keyword '%s', the only known "
				  "values are threads-per-core", word);
	word = conf_next(l);
	if (!word || (strcmp(word, "1") != 0 && strcmp(word, "auto") != 0))
		return conf_error(l, l->at - (word != NULL), NULL,
				  "'cpu-policy' passed an unknown value '%s' to keyword "
				  "'threads-per-core', known values are 1 or auto",
				  word ? word : "");
	set->one_per_core = *word == '1';
	return true;
}

static bool parse_cpu_policy(struct conf_line *l)
{
	struct core_settings *set = core_settings_of(l->cfg);
	const char *word = conf_next(l);
	unsigned at = 0;

	for (unsigned i = 0; word && i < ARRAY_LEN(policies); i++) {
		if (strcmp(word, policies[i].name) == 0) {
			set->policy = policies[i].policy;
			set->policy_merge = policies[i].merge;
			set->policy_is_set = true;
			return take_per_core(l, set);
		}
	}
	return conf_error(l, l->at - (word != NULL), word ? conf_closest(word, next_policy,
			&at) : NULL,
			  "'cpu-policy' passed an unknown CPU policy '%s'. Supported values are: "
			  "'none', 'first-usable-node', 'group-by-[2-|3-|4-]ccx', "
			  "'group-by-cluster', "
			  "'group-by-{2|3|4}-clusters', 'performance', 'efficiency' and "
			  "'resource'.",
			  word ? word : "");
}

static const struct {
	const char *name;
	enum cpu_affinity affinity;
} affinities[] = {
	{ "per-core", AFFINITY_CORE }, { "per-group", AFFINITY_GROUP },
	{ "per-thread", AFFINITY_THREAD }, { "per-ccx", AFFINITY_CCX }, { "auto", AFFINITY_AUTO },
};

static const char *next_affinity(void *ctx)
{
	unsigned *i = ctx;

	return *i < ARRAY_LEN(affinities) ? affinities[(*i)++].name : NULL;
}

static bool parse_cpu_affinity(struct conf_line *l)
{
	struct core_settings *set = core_settings_of(l->cfg);
	const char *word = conf_next(l), *more;
	unsigned i = 0, at = 0;

	while (i < ARRAY_LEN(affinities) && (!word || strcmp(word, affinities[i].name) != 0))
		i++;
	if (i == ARRAY_LEN(affinities))
		return conf_error(l, l->at - (word != NULL),
				  word ? conf_closest(word, next_affinity, &at) : NULL,
				  "'cpu-affinity' parsed an unknown directive '%s'. Known values "
				  "are : per-core per-group per-thread per-ccx auto",
				  word ? word : "");
	set->affinity = affinities[i].affinity;
	more = conf_next(l);
	if (!more)
		return true;
	if (set->affinity == AFFINITY_GROUP && strcmp(more, "loose") == 0)
		set->affinity = AFFINITY_GROUP_LOOSE;
	else if (set->affinity != AFFINITY_GROUP || strcmp(more, "auto") != 0)
		return conf_error(l, l->at - 1, NULL, "'%s' provided with unknown optional "
				  "argument '%s'.%s", word, more,
				  set->affinity == AFFINITY_GROUP ? " Known values are : loose auto"
								  : "");
	return true;
}

static const struct {
	const char *name;
	enum cpu_rule_kind kind;
	bool drop;
} cpu_directives[] = {
	{ "only-cpu", CPU_RULE_CPU, false }, { "drop-cpu", CPU_RULE_CPU, true },
	{ "only-node", CPU_RULE_NODE, false }, { "drop-node", CPU_RULE_NODE, true },
	{ "only-cluster", CPU_RULE_CLUSTER, false }, { "drop-cluster", CPU_RULE_CLUSTER, true },
	{ "only-core", CPU_RULE_CORE, false }, { "drop-core", CPU_RULE_CORE, true },
	{ "only-thread", CPU_RULE_THREAD, false }, { "drop-thread", CPU_RULE_THREAD, true },
};

#define CPU_SET_DIRECTIVES "(only 'reset', 'only-cpu', 'drop-cpu', 'only-node', 'drop-node', " \
	"'only-cluster', 'drop-cluster', 'only-core', 'drop-core', 'only-thread', 'drop-thread' " \
	"supported)"

/* One directive and its set. */
static bool take_cpu_rule(struct conf_line *l, struct core_settings *set)
{
	const char *word = conf_next(l), *text;
	struct cpu_rule *rule, **at;
	unsigned i = 0;
	bool too_big;

	if (strcmp(word, "reset") == 0) {
		set->cpu_reset = true;
		return true;
	}
	while (i < ARRAY_LEN(cpu_directives) && strcmp(word, cpu_directives[i].name) != 0)
		i++;
	if (i == ARRAY_LEN(cpu_directives))
		return conf_error(l, l->at - 1, NULL, "'cpu-set' passed an unknown directive '%s' "
				  CPU_SET_DIRECTIVES ".", word);
	text = conf_next(l);
	if (!text)
		return conf_error(l, l->at - 1, NULL, "'cpu-set %s': missing CPU set.", word);
	rule = arena_zalloc(&l->cfg->arena, sizeof(*rule));
	if (!rule)
		return conf_error(l, 0, NULL, "out of memory");
	if (!cpu_set_parse(&rule->set, text, CPUS_MAX - 1, &too_big))
		return conf_error(l, l->at - 1, NULL, "'cpu-set %s': '%s' is not a CPU range.",
				word,
				  text);
	rule->kind = cpu_directives[i].kind;
	rule->drop = cpu_directives[i].drop;
	for (at = &set->rules; *at; at = &(*at)->next)
		;
	*at = rule;
	return true;
}

static bool parse_cpu_set(struct conf_line *l)
{
	if (!conf_peek(l))
		return conf_error(l, 0, NULL, "'cpu-set' requires a directive and an optional "
			  "value "
				  CPU_SET_DIRECTIVES ".");
	while (conf_peek(l)) {
		if (!take_cpu_rule(l, core_settings_of(l->cfg)))
			return false;
	}
	return true;
}

static bool parse_numa(struct conf_line *l)
{
	core_settings_of(l->cfg)->no_numa_mapping = l->no;
	return true;
}

/* --- others ---------------------------------------------------------------------------------- */

static bool parse_on_off(struct conf_line *l, bool *value)
{
	const char *word = conf_next(l);

	if (word && (strcmp(word, "on") == 0 || strcmp(word, "off") == 0)) {
		*value = word[1] == 'n';
		return true;
	}
	return conf_error(l, l->at - (word != NULL), NULL,
			  "'%s' expects either 'on' or 'off' but got '%s'.", l->words[0],
			  word ? word : "");
}

static bool parse_low_latency(struct conf_line *l)
{
	return parse_on_off(l, &core_settings_of(l->cfg)->low_latency);
}

static bool parse_profiling(struct conf_line *l)
{
	struct core_settings *set = core_settings_of(l->cfg);
	const char *word = conf_next(l);

	do {
		word = word ? word : "";
		if (strcmp(word, "on") == 0)
			set->profiling = PROFILING_ON;
		else if (strcmp(word, "auto") == 0)
			set->profiling = PROFILING_AUTO_OFF;
		else if (strcmp(word, "off") == 0)
			set->profiling = PROFILING_OFF;
		else if (strcmp(word, "lock") == 0 || strcmp(word, "memory") == 0)
			return conf_error(l, l->at - 1, "take the word away", PROFILE_NO_TIMES);
		else if (strcmp(word, "no-lock") != 0 && strcmp(word, "no-memory") != 0)
			return conf_error(l, l->at - (*word != 0), NULL,
					  "'profiling.tasks' expects a combination of either 'on', "
					  "'auto', 'off', 'lock', 'no-lock', 'memory', or "
					  "'no-memory', but got '%s'.", word);
	} while ((word = conf_next(l)));
	return true;
}

static bool parse_profiling_memory(struct conf_line *l)
{
	struct core_settings *set = core_settings_of(l->cfg);
	const char *word = conf_next(l);

	set->profiling_memory = word && strcmp(word, "on") == 0;
	if (!set->profiling_memory && (!word || strcmp(word, "off") != 0))
		return conf_error(l, l->at - (word != NULL), NULL, "'profiling.memory' expects "
				  "either 'on' or 'off' but got '%s'.", word ? word : "");
	if (set->profiling_memory && !memory_profile_exists())
		return conf_error(l, 0, "build with USE_MEMORY_PROFILING=1, with glibc; 'show "
				  "pools' tells what each pool uses",
				  "memory profiling is not built in.");
	return true;
}

static bool parse_debug_counters(struct conf_line *l)
{
	struct core_settings *set = core_settings_of(l->cfg);
	const char *word = conf_next(l);

	set->count_places = word && strcmp(word, "on") == 0;
	if (!set->count_places && (!word || strcmp(word, "off") != 0))
		return conf_error(l, l->at - (word != NULL), NULL, "'debug.counters' expects "
				  "either 'on' or 'off' but got '%s'.", word ? word : "");
	return true;
}

static bool parse_epoll_mask(struct conf_line *l)
{
	static const struct { const char *name; unsigned event; } events[] = {
		{ "err", FD_ERR }, { "hup", FD_HUP }, { "rdhup", FD_RDHUP },
	};
	struct core_settings *set = core_settings_of(l->cfg);
	const char *word = conf_next(l), *at = word ? word : "";

	set->epoll_mask = 0;
	do {
		struct slice name = slice_make(at, strcspn(at, ","));
		unsigned i = 0;

		while (i < ARRAY_LEN(events) && !slice_eq(name, slice_of(events[i].name)))
			i++;
		if (i == ARRAY_LEN(events))
			return conf_error(l, l->at - (word != NULL), NULL,
					"'tune.epoll.mask-events' "
					  "expects a comma-delimited list of 'err', 'hup' and "
					  "'rdhup' "
					  "but got '%.*s'.", SLICE_FMT(name));
		set->epoll_mask |= events[i].event;
		at += name.len;
	} while (*at++ == ',');
	return true;
}

static bool parse_fail_alloc(struct conf_line *l)
{
	struct core_settings *set = core_settings_of(l->cfg);
	int value;

	if (!take_integer(l, &value))
		return false;
	if (value < 0 || value > 100)
		return conf_error(l, l->at - 1, NULL,
				  "'tune.fail-alloc' expects a numeric value between 0 and 100.");
	set->fail_percent = value;
	return true;
}

static bool parse_blocked(struct conf_line *l)
{
	int64_t ms;

	if (!conf_take_time_ms(l, &ms))
		return false;
	if (ms < 1 || ms > 1000)
		return conf_error(l, l->at - 1, NULL, "timer out of range in argument '%s' to "
				  "'warn-blocked-traffic-after' (value must be between 1 and "
				  "1000 ms)",
				  l->words[l->at - 1]);
	core_settings_of(l->cfg)->blocked_ms = (int)ms;
	return true;
}

/* A polling mechanism of other systems: it is not used in any case. */
static bool parse_nothing(struct conf_line *l)
{
	return true;
}

#define SET(member) .slot = &settings_slot, .offset = offsetof(struct core_settings, member)

static const struct conf_keyword keywords[] = {
	{ .words = "nbthread", .where = CONF_GLOBAL, .flags = CONF_EARLY, .max_args = 1,
	  .parse = parse_nbthread, .syntax = "<number>", .help = "number of threads" },
	{ .words = "thread-groups", .where = CONF_GLOBAL, .flags = CONF_EARLY, .max_args = 1,
	  .parse = parse_thread_groups, .syntax = "<number>", .help = "number of thread groups" },
	{ .words = "thread-group", .where = CONF_GLOBAL, .flags = CONF_EARLY, .max_args = -1,
	  .parse = parse_thread_group, .syntax = "<group> [<thread-range>...]",
	  .help = "the threads that make a group" },
	{ .words = "max-threads-per-group", .where = CONF_GLOBAL, .flags = CONF_EARLY,
			.max_args = 1,
	  .parse = parse_group_max, .syntax = "<number>",
	  .help = "largest group that is made automatically" },
	{ .words = "thread-hard-limit", .where = CONF_GLOBAL, .flags = CONF_EARLY, .max_args = 1,
	  .parse = parse_hard_limit, .syntax = "<number>", .help = "never run more threads" },
	{ .words = "cpu-map", .where = CONF_GLOBAL, .flags = CONF_EARLY, .max_args = -1,
	  .parse = parse_cpu_map, .syntax = "[auto:]<thread-group>[/<thread-set>] <cpu-set>...",
	  .help = "bind threads to CPUs" },
	{ .words = "cpu-affinity", .where = CONF_GLOBAL, .flags = CONF_EARLY, .max_args = 2,
	  .parse = parse_cpu_affinity,
	  .syntax = "{ auto | per-core | per-thread | per-ccx | per-group [auto | loose] }",
	  .help = "the CPUs of a group that each of its threads may use" },
	{ .words = "cpu-policy", .where = CONF_GLOBAL, .flags = CONF_EARLY, .max_args = 3,
	  .parse = parse_cpu_policy, .syntax = "<policy> [threads-per-core { 1 | auto }]",
	  .help = "how threads are put on CPUs" },
	{ .words = "cpu-set", .where = CONF_GLOBAL, .flags = CONF_EARLY, .max_args = -1,
	  .parse = parse_cpu_set, .syntax = "<directive> [<set>]...",
	  .help = "CPUs that may be used" },
	{ .words = "numa-cpu-mapping", .where = CONF_GLOBAL, .flags = CONF_EARLY | CONF_CAN_NO,
	  .parse = parse_numa, .help = "stay on one node of a NUMA machine" },
	{ .words = "noepoll", .where = CONF_GLOBAL, .type = CONF_FLAG, SET(no_epoll),
	  .help = "do not use epoll" },
	{ .words = "nopoll", .where = CONF_GLOBAL, .type = CONF_FLAG, SET(no_poll),
	  .help = "do not use poll" },
	{ .words = "nokqueue", .where = CONF_GLOBAL, .parse = parse_nothing,
	  .help = "do not use kqueue (never used on this system)" },
	{ .words = "noevports", .where = CONF_GLOBAL, .parse = parse_nothing,
	  .help = "do not use event ports (never used on this system)" },
	{ .words = "busy-polling", .where = CONF_GLOBAL, .flags = CONF_CAN_NO, .type = CONF_FLAG,
	  SET(busy_polling), .help = "poll without ever sleeping" },
	{ .words = "no-memory-trimming", .where = CONF_GLOBAL, .type = CONF_FLAG, SET(no_trimming),
	  .help = "do not return memory to the system when stopping" },
	{ .words = "profiling.tasks", .where = CONF_GLOBAL, .max_args = -1,
	  .parse = parse_profiling, .syntax = "{ auto | on | off | no-lock | no-memory }*",
	  .help = "measure the time of each function" },
	{ .words = "profiling.memory", .where = CONF_GLOBAL, .max_args = 1,
	  .parse = parse_profiling_memory, .syntax = "{ on | off }",
	  .help = "count memory per caller" },
	{ .words = "debug.counters", .where = CONF_GLOBAL, .max_args = 1,
	  .parse = parse_debug_counters, .syntax = "{ on | off }",
	  .help = "count rare events at their place in the code" },
	{ .words = "tune.maxpollevents", .where = CONF_GLOBAL, .min_args = 1, .max_args = 1,
	  .type = CONF_INT, SET(max_poll_events), .max = 1000000, .syntax = "<number>",
	  .help = "events taken from the system at once" },
	{ .words = "tune.runqueue-depth", .where = CONF_GLOBAL, .min_args = 1, .max_args = 1,
	  .type = CONF_INT, SET(run_queue_depth), .min = INT32_MIN, .max = INT32_MAX,
	  .syntax = "<number>", .help = "tasks run between two polls" },
	{ .words = "tune.sched.low-latency", .where = CONF_GLOBAL, .max_args = 1,
	  .parse = parse_low_latency, .syntax = "{ on | off }",
	  .help = "run fewer tasks between two polls when many wait" },
	{ .words = "tune.memory.hot-size", .where = CONF_GLOBAL, .min_args = 1, .max_args = 1,
	  .type = CONF_SIZE, SET(hot_size), .min = 1, .max = INT64_MAX, .syntax = "<number>",
	  .help = "spare memory that a thread keeps for itself" },
	{ .words = "tune.fail-alloc", .where = CONF_GLOBAL, .max_args = 1,
			.parse = parse_fail_alloc,
	  .syntax = "<percent>", .help = "make allocations fail, with -dMfail" },
	{ .words = "tune.epoll.mask-events", .where = CONF_GLOBAL, .max_args = 1,
	  .parse = parse_epoll_mask, .syntax = "<event[,...]>", .help = "events epoll must not "
	  "tell" },
	{ .words = "warn-blocked-traffic-after", .where = CONF_GLOBAL, .max_args = 1,
	  .parse = parse_blocked, .syntax = "<time>", .help = "report functions that last longer" },
	{ 0 }
};

/* --- life ------------------------------------------------------------------------------------ */

static struct {
	bool done;
	unsigned threads, groups;
} layout;

/* Decides about threads, so that later checks can count them. The first configuration decides for
 * the life of the process.
 */
static void core_check(struct config *cfg, struct diag_list *diags)
{
	static struct cpu_topology topology; /* large; start-up is one thread */
	struct core_settings *set = core_settings_of(cfg);
	struct thread_plan plan;

	cpu_topology_read(&topology, CPU_ROOT);
	if (!thread_plan_make(&plan, &topology, set, diags)) {
		thread_plan_fini(&plan);
		return;
	}
	if (layout.done) {
		if (plan.threads != layout.threads || plan.groups != layout.groups)
			diag_add(diags, DIAG_WARNING, NULL, NULL, "threads (%u in %u groups) "
				  "stay as they "
				 "were started (%u in %u groups) until the process is restarted.",
				 plan.threads, plan.groups, layout.threads, layout.groups);
		thread_plan_fini(&plan);
		return;
	}
	if (!thread_layout_sizes(plan.sizes, plan.groups)) {
		diag_add(diags, DIAG_ALERT, NULL, NULL, "out of memory for %u threads",
				plan.threads);
		thread_plan_fini(&plan);
		return;
	}
	layout.threads = plan.threads;
	layout.groups = plan.groups;
	cpu_report(&topology, &plan);
	affinity_set_plan(&plan);
}

/* Fewer in one turn with more threads: they all share what the tasks touch. */
static unsigned default_budget(const struct core_settings *set)
{
	unsigned threads = thread_count(), budget = threads > 4 ? 280 * 4 / threads : 280;

	if (set->low_latency)
		budget /= 4;
	return budget < 35 ? 35 : budget;
}

static bool core_start(struct config *cfg, struct diag_list *diags)
{
	struct core_settings *set = core_settings_of(cfg);

	if (layout.done)
		return true; /* a reload: the loops run, they stay as they are */
	if (set->no_epoll)
		fd_poller_disable("epoll");
	if (set->no_poll)
		fd_poller_disable("poll");
	if (!fd_poller_name()) {
		diag_add(diags, DIAG_ALERT, NULL, NULL, "No polling mechanism available.");
		return false;
	}
	if (set->max_poll_events)
		fd_set_max_events(set->max_poll_events);
	layout.done = true;
	fd_set_epoll_mask(set->epoll_mask);
	thread_set_busy_polling(set->busy_polling);
	task_set_budget(set->run_queue_depth > 0 ? (unsigned)set->run_queue_depth
						 : default_budget(set));
	pool_set_hot_size(set->hot_size);
	if (!block_pool_start())
		return false;
	pool_set_trimming(!set->no_trimming);
	if (set->fail_percent >= 0)
		pool_set_fail_percent((unsigned)set->fail_percent);
	profile_set_mode(set->profiling == PROFILING_ON ? PROFILE_ON :
			 set->profiling == PROFILING_OFF ? PROFILE_OFF : PROFILE_AUTO);
	memory_profile_set(set->profiling_memory);
	places_switch(set->count_places);
	watchdog_set_warning_ms((unsigned)set->blocked_ms);
	return true;
}

const struct module mod_core = {
	.name = "core", .keywords = keywords, .slots = slots, .check = core_check,
	.start = core_start,
};
