/* SPDX-License-Identifier: GPL-2.0-or-later */
/* core_ctl.c - edge file: what the loops, pools and profiles tell to the Runtime API */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "base/clock.h"
#include "base/memory_profile.h"
#include "core/core.h"
#include "core/pool.h"
#include "core/profile.h"
#include "core/symbol.h"
#include "core/task.h"
#include "core/wait.h"
#include "ctl/ctl.h"
#include "memory_profile_priv.h"
#include "pool_priv.h"
#include "worker_priv.h"

/* --- show activity --------------------------------------------------------------------------- */

#define X(name) #name,
static const char *const activity_names[] = { ACTIVITY_COUNTERS(X) ACTIVITY_DEBUG_COUNTERS(X) };
#undef X

static bool activity_is_mean(unsigned c)
{
	return c == ACTIVITY_avg_cpu_pct || c == ACTIVITY_avg_loop_us;
}

/* One line; <only>: a thread from 1, 0: the sum, -1: the sum and each. */
static void activity_line(struct strbuf *out, unsigned c, long only)
{
	unsigned count = thread_count();
	uint64_t sum = 0;

	if (only > 0) {
		strbuf_printf(out, "%s: %llu\n", activity_names[c],
			      (unsigned long long)activity_read((unsigned)only - 1, c));
		return;
	}
	for (unsigned i = 0; i < count; i++)
		sum += activity_read(i, c);
	if (activity_is_mean(c))
		sum = (sum + count / 2) / count;
	strbuf_printf(out, "%s: %llu", activity_names[c], (unsigned long long)sum);
	if (only < 0 && count > 1) {
		strbuf_add_str(out, " [ ");
		for (unsigned i = 0; i < count; i++) {
			strbuf_add_uint(out, activity_read(i, c));
			strbuf_add_char(out, ' ');
		}
		strbuf_add_char(out, ']');
	}
	strbuf_add_char(out, '\n');
}

static enum ctl_step show_activity(struct ctl_request *rq)
{
	const char *word = rq->words[rq->at];
	long only = word ? strtol(word, NULL, 10) : -1;
	uint64_t wall = clock_read_wall_us(), up = ctl_uptime_ns() / 1000;

	if (only < -1 || only > (long)thread_count()) {
		ctl_error(rq, "Thread ID number must be between -1 and nbthread");
		return CTL_DONE;
	}
	if (rq->pos == 0)
		strbuf_printf(rq->out, "thread_id: %u (1..%u)\ndate_now: %llu.%06llu\n"
			      "uptime_now: %llu.%06llu\n", thread_id + 1, thread_count(),
			      (unsigned long long)wall / 1000000,
			      (unsigned long long)wall % 1000000,
			      (unsigned long long)up / 1000000, (unsigned long long)up % 1000000);
	for (; rq->pos < ACTIVITY_COUNT; rq->pos++) {
		if (rq->out->len >= CTL_OUT_SOFT)
			return CTL_MORE;
		activity_line(rq->out, (unsigned)rq->pos, only);
	}
	return CTL_DONE;
}

/* --- show profiling -------------------------------------------------------------------------- */

/* A duration in ten columns: four digits and a unit, or a dash. */
static void add_duration(struct strbuf *out, uint64_t ns)
{
	static const struct { const char *unit; double ns; } units[] = {
		{ "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s ", 1e9 }, { "m ", 60e9 },
		{ "h ", 3600e9 },
	};
	unsigned u = 0;
	double v;

	if (!ns) {
		strbuf_add_str(out, "      -   ");
		return;
	}
	while (u + 1 < ARRAY_LEN(units) && (double)ns >= units[u + 1].ns)
		u++;
	v = (double)ns / units[u].ns;
	strbuf_printf(out, "   %5.*f%s", v < 10 ? 3 : v < 100 ? 2 : 1, v, units[u].unit);
}

/* What the comparison of qsort() needs. */
static __thread bool profile_by_address, profile_by_time;

static int profile_cmp(const void *a, const void *b)
{
	const struct profile_entry *l = a, *r = b;

	if (profile_by_address)
		return l->function < r->function ? -1 : l->function > r->function;
	if (profile_by_time)
		return l->cpu_ns > r->cpu_ns ? -1 : l->cpu_ns < r->cpu_ns;
	return l->calls > r->calls ? -1 : l->calls < r->calls;
}

#define PROFILE_ROOM 257

/* Those that ran, sorted; how many of <list>. */
static unsigned profile_list(struct profile_entry list[PROFILE_ROOM])
{
	unsigned n = 0;

	for (unsigned i = 0; n < PROFILE_ROOM && profile_get(i, &list[n]); i++)
		n += list[n].calls != 0;
	qsort(list, n, sizeof(list[0]), profile_cmp);
	return n;
}

static void add_function(struct strbuf *out, const void *function)
{
	if (function)
		symbol_add_name(out, function);
	else
		strbuf_add_str(out, "other");
}

static void profile_json(struct strbuf *out, long max)
{
	struct profile_entry list[PROFILE_ROOM];
	unsigned n = profile_list(list);

	strbuf_add_str(out, "\"tasks\":[");
	for (unsigned i = 0; i < n && (max <= 0 || (long)i < max); i++) {
		strbuf_add_str(out, i ? ",{\"function\":\"" : "{\"function\":\"");
		add_function(out, list[i].function);
		strbuf_printf(out, "\",\"calls\":%llu,\"cpu_ns\":%llu,\"latency_ns\":%llu}",
			      (unsigned long long)list[i].calls,
			      (unsigned long long)list[i].cpu_ns,
			      (unsigned long long)list[i].latency_ns);
	}
	strbuf_add_char(out, ']');
}

static void profile_dump(struct strbuf *out, long max)
{
	struct profile_entry list[PROFILE_ROOM];
	uint64_t start, stop, now = clock_read_ns();
	unsigned n = profile_list(list);

	profile_get_period(&start, &stop);
	strbuf_printf(out, "Tasks activity over %.3f sec till %.3f sec ago:\n",
		      start ? (double)((stop ? stop : now) - start) / 1e9 : 0.0,
		      stop ? (double)(now - stop) / 1e9 : 0.0);
	strbuf_add_str(out, "  function                      calls   cpu_tot   cpu_avg   lat_tot"
		       "   lat_avg\n");
	for (unsigned i = 0; i < n && (max <= 0 || (long)i < max); i++) {
		char area[128];
		struct strbuf name;

		strbuf_init_fixed(&name, area, sizeof(area));
		add_function(&name, list[i].function);
		strbuf_printf(out, "  %-25s%10llu", area, (unsigned long long)list[i].calls);
		add_duration(out, list[i].cpu_ns);
		add_duration(out, list[i].cpu_ns / list[i].calls);
		add_duration(out, list[i].latency_ns);
		add_duration(out, list[i].latency_ns / list[i].calls);
		strbuf_add_char(out, '\n');
	}
}

static const char *profile_state(void)
{
	if (profile_get_mode() == PROFILE_ON)
		return "on";
	if (profile_get_mode() == PROFILE_AUTO)
		return profile_is_active() ? "auto-on" : "auto-off";
	return "off";
}

static void profile_status(struct strbuf *out)
{
	strbuf_printf(out, "Per-task CPU profiling              : %-14s# set profiling tasks "
		      "{on|auto|off}\n", profile_state());
	strbuf_printf(out, "Memory usage profiling              : %-14s# set profiling memory "
		      "{on|off}\n", memory_profile_is_on() ? "on" : "off");
}

/* What `show profiling` is asked for. */
struct profiling_words {
	bool status, tasks, memory, by_address, by_time, aggregate, json;
	long max;
};

static bool profiling_word(struct profiling_words *w, const char *word)
{
	if (strcmp(word, "all") == 0)
		w->status = w->tasks = w->memory = true;
	else if (strcmp(word, "status") == 0)
		w->tasks = w->memory = false;
	else if (strcmp(word, "tasks") == 0)
		w->status = w->memory = false;
	else if (strcmp(word, "memory") == 0)
		w->status = w->tasks = false;
	else if (strcmp(word, "byaddr") == 0)
		w->by_address = true;
	else if (strcmp(word, "bytime") == 0)
		w->by_time = true;
	else if (strcmp(word, "aggr") == 0)
		w->aggregate = true;
	else if (strcmp(word, "json") == 0)
		w->json = true;
	else if (ascii_is_digit(*word))
		w->max = strtol(word, NULL, 10);
	else
		return false;
	return true;
}

static enum ctl_step profile_memory(struct ctl_request *rq, const struct profiling_words *w)
{
	if (!rq->state)
		rq->state = memory_list_new(w->by_address ? MEMORY_BY_ADDRESS : MEMORY_BY_BYTES,
					    w->aggregate);
	if (!rq->state)
		ctl_error(rq, "Out of memory.");
	else if (memory_list_print(rq->state, rq->out, CTL_OUT_SOFT, w->max, w->json))
		return CTL_MORE;
	else if (w->json)
		strbuf_add_str(rq->out, "}\n");
	return CTL_DONE;
}

/* All but the memory, which ends it. */
static void profiling_json(struct strbuf *out, const struct profiling_words *w)
{
	strbuf_add_char(out, '{');
	if (w->status)
		strbuf_printf(out, "\"status\":{\"tasks\":\"%s\",\"memory\":\"%s\"}%s",
			      profile_state(), memory_profile_is_on() ? "on" : "off",
			      w->tasks || w->memory ? "," : "");
	if (w->tasks)
		profile_json(out, w->max);
	if (w->tasks && w->memory)
		strbuf_add_char(out, ',');
	if (!w->memory)
		strbuf_add_str(out, "}\n");
}

static enum ctl_step show_profiling(struct ctl_request *rq)
{
	struct profiling_words w = { .status = true, .tasks = true, .memory = true };

	for (int i = rq->at; i < rq->count; i++) {
		if (!profiling_word(&w, rq->words[i])) {
			ctl_error(rq, "Expects either 'all', 'status', 'tasks', 'memory', "
				  "'byaddr', "
				  "'bytime', 'aggr', 'json' or a max number of output lines.");
			return CTL_DONE;
		}
	}
	if (rq->state)
		return profile_memory(rq, &w);
	profile_by_address = w.by_address;
	profile_by_time = w.by_time;
	w.memory = w.memory && memory_profile_exists();
	if (w.json)
		profiling_json(rq->out, &w);
	if (w.status && !w.json)
		profile_status(rq->out);
	if (w.tasks && !w.json)
		profile_dump(rq->out, w.max);
	return w.memory ? profile_memory(rq, &w) : CTL_DONE;
}

static void release_profiling(struct ctl_request *rq)
{
	memory_list_free(rq->state);
}

static void set_profiling_memory(struct ctl_request *rq, const char *how)
{
	bool on = how && strcmp(how, "on") == 0;

	if (!memory_profile_exists())
		ctl_error(rq, "Memory profiling not compiled in.");
	else if (on || (how && strcmp(how, "off") == 0))
		memory_profile_set(on);
	else
		ctl_error(rq, "Expects either 'on' or 'off'.");
}

/* Times of locks and of memory are not collected: words that turn them off say what holds. */
static void set_profiling_tasks(struct ctl_request *rq)
{
	const char *word;
	int at = rq->at + 1;

	do {
		word = at < rq->count ? rq->words[at] : "";
		if (strcmp(word, "on") == 0)
			profile_set_mode(PROFILE_ON);
		else if (strcmp(word, "auto") == 0)
			profile_set_mode(PROFILE_AUTO);
		else if (strcmp(word, "off") == 0)
			profile_set_mode(PROFILE_OFF);
		else if (strcmp(word, "lock") == 0 || strcmp(word, "memory") == 0)
			return ctl_error(rq, PROFILE_NO_TIMES);
		else if (strcmp(word, "no-lock") != 0 && strcmp(word, "no-memory") != 0)
			return ctl_error(rq, "Expects a combination of either 'on', 'auto', "
					 "'off', 'lock', 'no-lock', 'memory' or 'no-memory'.");
	} while (++at < rq->count);
}

static enum ctl_step set_profiling(struct ctl_request *rq)
{
	const char *what = rq->words[rq->at], *how = what ? rq->words[rq->at + 1] : NULL;

	if (what && strcmp(what, "memory") == 0)
		set_profiling_memory(rq, how);
	else if (what && strcmp(what, "tasks") == 0)
		set_profiling_tasks(rq);
	else
		ctl_error(rq, "Expects either 'tasks' or 'memory'.");
	return CTL_DONE;
}

/* --- show pools ------------------------------------------------------------------------------ */

#define POOLS_SHOWN 256

static __thread enum {
	POOLS_ANY, POOLS_BY_NAME, POOLS_BY_SIZE, POOLS_BY_USAGE,
} pools_order;

static int pools_cmp(const void *a, const void *b)
{
	const struct pool_stats *l = a, *r = b;
	uint64_t lu = l->allocated * l->size, ru = r->allocated * r->size;

	if (pools_order == POOLS_BY_NAME)
		return strcmp(l->name, r->name);
	if (pools_order == POOLS_BY_SIZE)
		return l->size > r->size ? -1 : l->size < r->size;
	return lu > ru ? -1 : lu < ru;
}

static void pool_line(struct strbuf *out, const struct pool_stats *st)
{
	strbuf_printf(out, "  - Pool %s (%llu bytes) : %llu allocated (%llu bytes), %llu used "
		      "(~%llu by thread caches), needed_avg %llu, %llu failures, %u users, @%p%s\n",
		      st->name, (unsigned long long)st->size, (unsigned long long)st->allocated,
		      (unsigned long long)(st->allocated * st->size), (unsigned long long)st->used,
		      (unsigned long long)st->cached, (unsigned long long)(st->used - st->cached),
		      (unsigned long long)st->failures, st->users, st->address,
		      pool_flags & POOL_NO_MERGE ? "" : " [SHARED]");
}

static void pools_dump(struct strbuf *out, const char *prefix, long max)
{
	static struct pool_stats list[POOLS_SHOWN];
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of <list> */
	uint64_t allocated = 0, used = 0, cached = 0;
	unsigned n = 0;

	pthread_mutex_lock(&lock);
	for (unsigned i = 0; n < POOLS_SHOWN && pool_get_stats(i, &list[n]); i++)
		n += (!prefix || strncmp(list[n].name, prefix, strlen(prefix)) == 0) &&
			(pools_order != POOLS_BY_USAGE || list[n].allocated);
	if (pools_order != POOLS_ANY)
		qsort(list, n, sizeof(list[0]), pools_cmp);
	strbuf_add_str(out, "Dumping pools usage");
	if (max > 0)
		strbuf_printf(out, " (limited to the first %ld entries)", max);
	strbuf_add_str(out, ". Use SIGQUIT to flush them.\n");
	for (unsigned i = 0; i < n; i++) {
		if (max <= 0 || (long)i < max)
			pool_line(out, &list[i]);
		allocated += list[i].allocated * list[i].size;
		used += list[i].used * list[i].size;
		cached += list[i].cached * list[i].size;
	}
	pthread_mutex_unlock(&lock);
	strbuf_printf(out, "Total: %u pools, %llu bytes allocated, %llu used (~%llu by thread "
		      "caches).\n", n, (unsigned long long)allocated, (unsigned long long)used,
		      (unsigned long long)cached);
}

static enum ctl_step show_pools(struct ctl_request *rq)
{
	const char *prefix = NULL;
	long max = 0;

	pools_order = POOLS_ANY;
	for (int i = rq->at; i < rq->count; i++) {
		const char *word = rq->words[i];

		if (strcmp(word, "byname") == 0)
			pools_order = POOLS_BY_NAME;
		else if (strcmp(word, "bysize") == 0)
			pools_order = POOLS_BY_SIZE;
		else if (strcmp(word, "byusage") == 0)
			pools_order = POOLS_BY_USAGE;
		else if (strcmp(word, "match") == 0 && rq->words[i + 1])
			prefix = rq->words[++i];
		else if (ascii_is_digit(*word))
			max = strtol(word, NULL, 10);
		else if (strcmp(word, "detailed") != 0) {
			ctl_error(rq, "Expects either 'byname', 'bysize', 'byusage', 'match "
				  "<pfx>', "
				  "'detailed', or a max number of output lines.");
			return CTL_DONE;
		}
	}
	pools_dump(rq->out, prefix, max);
	return CTL_DONE;
}

/* --- show tasks ------------------------------------------------------------------------------ */

#define TASK_KINDS 64

/* Tasks that wait, by function; each thread adds its own when the tour visits it. */
struct task_census {
	struct ctl_session *session;  /* NULL: the client left meanwhile */
	bool done;
	unsigned kinds, total;
	struct {
		const void *function;
		uint64_t places, latency_ns, calls;
	} kind[TASK_KINDS];
};

static void census_add(struct task_census *census, const struct task *t, uint64_t now)
{
	const void *function = (const void *)t->run;
	unsigned k = 0;

	while (k < census->kinds && census->kind[k].function != function)
		k++;
	if (k == TASK_KINDS)
		k--; /* the last one stands for the rest */
	else if (k == census->kinds)
		census->kind[census->kinds++].function = function;
	census->total++;
	census->kind[k].places++;
	census->kind[k].calls += t->calls;
	if (t->woken_ns && now > t->woken_ns)
		census->kind[k].latency_ns += now - t->woken_ns;
}

static void census_visit(void *ctx)
{
	struct run_queue *q = &worker_self->queue;
	uint64_t now = clock_read_ns();
	struct task *t;

	list_for_each(t, &q->fifo, fifo)
		census_add(ctx, t, now);
	for (struct tree_node *n = tree_first(&q->sorted); n; n = tree_next(n))
		census_add(ctx, container_of(n, struct task, node), now);
}

static void census_done(void *ctx)
{
	struct task_census *census = ctx;

	census->done = true;
	if (census->session)
		ctl_session_resume(census->session);
	else
		free(census);
}

static void census_dump(struct strbuf *out, const struct task_census *census)
{
	uint64_t calls = 0;

	strbuf_printf(out, "Running tasks: %u (%u threads)\n", census->total, thread_count());
	strbuf_add_str(out, "  function                     places     %    lat_tot   lat_avg"
		       "  calls_tot  calls_avg calls%\n");
	for (unsigned k = 0; k < census->kinds; k++)
		calls += census->kind[k].calls;
	for (unsigned k = 0; k < census->kinds; k++) {
		uint64_t places = census->kind[k].places, mine = census->kind[k].calls;
		char area[128];
		struct strbuf name;

		strbuf_init_fixed(&name, area, sizeof(area));
		symbol_add_name(&name, census->kind[k].function);
		strbuf_printf(out, "  %-25s %9llu %5.1f", area, (unsigned long long)places,
			      100.0 * (double)places / census->total);
		add_duration(out, census->kind[k].latency_ns);
		add_duration(out, census->kind[k].latency_ns / places);
		strbuf_printf(out, " %10llu %10llu %5.1f\n", (unsigned long long)mine,
			      (unsigned long long)(mine / places),
			      calls ? 100.0 * (double)mine / (double)calls : 0.0);
	}
}

static enum ctl_step show_tasks(struct ctl_request *rq)
{
	struct task_census *census = rq->state;

	if (census) {
		census_dump(rq->out, census);
		return CTL_DONE;
	}
	census = calloc(1, sizeof(*census));
	if (census)
		census->session = rq->session;
	if (!census || !thread_call_all(census_visit, census_done, census)) {
		free(census);
		ctl_error(rq, "Out of memory.");
		return CTL_DONE;
	}
	rq->state = census;
	return CTL_WAIT;
}

static void release_tasks(struct ctl_request *rq)
{
	struct task_census *census = rq->state;

	if (census && census->done)
		free(census);
	else if (census)
		census->session = NULL; /* census_done() frees it */
}

/* --- show threads ---------------------------------------------------------------------------- */

/* Read without asking the thread, which may be the one that does not answer. */
static void thread_dump(struct strbuf *out, unsigned id)
{
	const struct worker *w = worker_table[id];
	const struct task *current = __atomic_load_n(&w->current, __ATOMIC_RELAXED);
	uint64_t rq = activity_read(id, ACTIVITY_curr_rq);
	bool sleeping = atomic_load(&worker_table[id]->sleeping) != 0;

	strbuf_printf(out, "%c Thread %-2u: id=%p act=%d glob=0 wq=%d rq=%d tl=0 tlsz=0 "
		  "rqsz=%llu\n",
		      w == worker_self ? '*' : ' ', id + 1, (const void *)w, !sleeping, 0, rq != 0,
		      (unsigned long long)rq);
	strbuf_printf(out, "      %2u/%-2u   loops=%llu ctxsw=%llu stuck=0 prof=%d harmless=%d "
		      "isolated=0\n", w->group + 1, id - thread_group_first(w->group) + 1,
		      (unsigned long long)activity_read(id, ACTIVITY_loops),
		      (unsigned long long)activity_read(id, ACTIVITY_ctxsw),
		      profile_is_active(), sleeping);
	strbuf_printf(out, "             curr_task=%p\n", (const void *)current);
}

static enum ctl_step show_threads(struct ctl_request *rq)
{
	const char *word = rq->words[rq->at];
	unsigned long only = word ? strtoul(word, NULL, 10) : 0;

	for (; rq->pos < thread_count(); rq->pos++) {
		if (rq->out->len >= CTL_OUT_SOFT)
			return CTL_MORE;
		if (!only || only == rq->pos + 1)
			thread_dump(rq->out, (unsigned)rq->pos);
	}
	return CTL_DONE;
}

/* --- wait ------------------------------------------------------------------------------------ */

struct ctl_waiter {
	struct timer timer;
	struct ctl_session *session;
	uint64_t end_ms;
	const struct wait_condition *condition; /* or NULL */
};

#define WAIT_STEP_MS 50 /* how often a condition is looked at */

static void waiter_fire(struct timer *timer)
{
	ctl_session_resume(container_of(timer, struct ctl_waiter, timer)->session);
}

static enum ctl_step wait_on(struct ctl_waiter *waiter)
{
	uint64_t next = clock_now_ms() + WAIT_STEP_MS;

	if (!waiter->condition || next > waiter->end_ms)
		next = waiter->end_ms;
	timer_set(&waiter->timer, next);
	return CTL_WAIT;
}

/* Asks the condition again. CTL_WAIT: neither does it hold nor is the time over. */
static enum ctl_step wait_look(struct ctl_request *rq, struct ctl_waiter *waiter)
{
	const char *error = NULL;

	switch (waiter->condition->test(rq->words[rq->at + 2], &error)) {
	case WAIT_DONE:
		ctl_say(rq, "Done.");
		return CTL_DONE;
	case WAIT_FAILED:
		ctl_error(rq, "Failed. %s", error);
		return CTL_DONE;
	case WAIT_WRONG:
		ctl_error(rq, "%s", error);
		return CTL_DONE;
	case WAIT_MORE:
		break;
	}
	if (clock_now_ms() < waiter->end_ms)
		return wait_on(waiter);
	ctl_error(rq, "Wait delay expired.%s%s", error ? " " : "", error ? error : "");
	return CTL_DONE;
}

/* "100", "2s"... in ms; false: not a duration. */
static bool wait_parse(const char *text, uint64_t *ms)
{
	static const struct { const char *suffix; double ms; } units[] = {
		{ "", 1 }, { "us", 0.001 }, { "ms", 1 }, { "s", 1e3 }, { "m", 6e4 },
		{ "h", 3.6e6 }, { "d", 8.64e7 },
	};
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	for (unsigned i = 0; end != text && value <= INT32_MAX && i < ARRAY_LEN(units); i++) {
		if (strcmp(end, units[i].suffix) == 0) {
			*ms = (uint64_t)((double)value * units[i].ms + 0.999);
			return *ms <= INT32_MAX;
		}
	}
	return false;
}

static enum ctl_step wait_begin(struct ctl_request *rq, uint64_t ms,
				const struct wait_condition *condition)
{
	struct ctl_waiter *waiter = calloc(1, sizeof(*waiter));

	if (!waiter) {
		ctl_error(rq, "Out of memory.");
		return CTL_DONE;
	}
	timer_init(&waiter->timer, waiter_fire);
	waiter->session = rq->session;
	rq->state = waiter;
	waiter->end_ms = clock_now_ms() + ms;
	waiter->condition = condition;
	return condition ? wait_look(rq, waiter) : wait_on(waiter);
}

static void wait_usage(struct ctl_request *rq, enum ctl_severity severity)
{
	const struct wait_condition *c;

	ctl_begin(rq, severity);
	strbuf_add_str(rq->out, "Usage: wait {-h|<duration>} [condition [args...]]\n"
		       "  - '-h' prints this text\n"
		       "  - <duration> is how long to wait, in milliseconds unless a unit\n"
		       "    follows: 'us', 'ms', 's', 'm', 'h' or 'd'.\n"
		       "  - <condition> ends it before that; there are:\n");
	for (unsigned i = 0; (c = wait_condition(i)); i++)
		strbuf_printf(rq->out, "    - %s %s : %s.\n", c->name, c->syntax, c->help);
}

static enum ctl_step run_wait(struct ctl_request *rq)
{
	const char *word = rq->words[rq->at], *what = word ? rq->words[rq->at + 1] : NULL;
	const struct wait_condition *condition = what ? wait_find_condition(what) : NULL;
	struct ctl_waiter *waiter = rq->state;
	uint64_t ms;

	if (waiter && waiter->condition)
		return wait_look(rq, waiter);
	if (waiter)
		ctl_say(rq, "Done.");
	else if (!word)
		ctl_error(rq, "Expects a duration in milliseconds.");
	else if (strcmp(word, "-h") == 0)
		wait_usage(rq, CTL_INFO);
	else if (what && !condition)
		wait_usage(rq, CTL_ERR);
	else if (!wait_parse(word, &ms) || !ms)
		ctl_error(rq, "Invalid duration.");
	else
		return wait_begin(rq, ms, condition);
	return CTL_DONE;
}

static void release_wait(struct ctl_request *rq)
{
	struct ctl_waiter *waiter = rq->state;

	if (!waiter)
		return;
	timer_cancel(&waiter->timer);
	free(waiter);
}

static const struct ctl_command commands[] = {
	{ .words = "set profiling", .syntax = "<what> {auto|on|off|no-lock|no-memory}*",
	  .level = CTL_ADMIN, .flags = CTL_PROCESS,
	  .help = "measure the time of each function, or memory per caller, or stop",
	  .run = set_profiling },
	{ .words = "show activity", .syntax = "[-1|0|thread_num]", .level = CTL_OPERATOR,
	  .help = "tell what the loop of each thread did", .run = show_activity },
	{ .words = "show pools", .syntax = "[by*] [match <pfx>] [nb]", .flags = CTL_PROCESS,
	  .help = "show how much memory each pool holds", .run = show_pools },
	{ .words = "show profiling", .syntax = "[<what>|<#lines>|<opts>]*", .level = CTL_ADMIN,
	  .flags = CTL_PROCESS,
	  .help = "tell the time spent per function, and memory per caller",
	  .run = show_profiling, .release = release_profiling },
	{ .words = "show tasks",
	  .help = "count the tasks that wait to run", .run = show_tasks,
	  .release = release_tasks },
	{ .words = "show threads",
	  .help = "show what each thread is doing", .run = show_threads },
	{ .words = "wait", .syntax = "{-h|<delay_ms>} [condition]", .level = CTL_ADMIN,
	  .help = "wait for a while, or for something",
	  .run = run_wait, .release = release_wait },
	{ 0 }
};

const struct module mod_core_ctl = { .name = "core_ctl", .commands = commands };
