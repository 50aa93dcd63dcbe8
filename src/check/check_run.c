/* SPDX-License-Identifier: GPL-2.0-or-later */
/* check_run.c - scheduling of checks, and their connections
 *
 *   IDLE --(its time)--> RUNNING --(result, timeout)--> IDLE
 *     |                     ^
 *     +--> QUEUED ----------+    tune.max-checks-per-thread others run
 *
 * Each check is a task of one thread; servers are distributed over the threads in turn. The first
 * runs are spread over the interval (bounded by max-spread-checks), and each later run starts one
 * interval after the start of the previous one. A disabled check keeps its schedule without
 * checking.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "base/clock.h"
#include "conf/conf.h"
#include "core/activity.h"
#include "core/lock.h"
#include "core/pool.h"
#include "core/task.h"
#include "core/thread.h"
#include "proxy/proxy.h"
#include "proxy/server.h"
#include "proxy/walk.h"
#include "check_priv.h"
#include "check_settings.h"
#include "check_trace.h"

#define BEAT_MAX_MS 20

static struct pool *run_pool;

bool checks_init(void)
{
	run_pool = pool_new("check_run", sizeof(struct check_run));
	return run_pool && check_mux_init();
}

/* What a thread has to check. */
static __thread struct list own_checks, waiting;
static __thread bool lists_are_ready;
static __thread unsigned running;

/* The slow starts of this thread's servers. */
struct warmer {
	struct list link;
	struct server *server;
	struct server_state *state; /* counted */
	struct task *task;
};
static __thread struct list own_warmers;

/* --- intervals ------------------------------------------------------------------------------ */

/* <ms> with the noise that spread-checks asks for. */
static uint64_t noisy(const struct check *c, int64_t ms)
{
	int percent = check_settings_of(c->server->proxy->config)->spread_percent;
	int64_t range = ms * percent / 100;

	if (range <= 0)
		return (uint64_t)ms;
	return (uint64_t)(ms - range + (int64_t)((uint64_t)random() % (uint64_t)(2 * range + 1)));
}

/* When the running check asks again for a connection. */
static uint64_t lend_time(const struct check *c)
{
	return c->run && c->run->lend_ms ? c->run->lend_ms : TIMER_NEVER;
}

static void arm(struct check *c)
{
	if (c->phase == CHECK_RUNNING)
		task_schedule(c->task, lend_time(c) < c->deadline_ms ? lend_time(c)
			      : c->deadline_ms);
	else if (c->phase == CHECK_IDLE)
		task_schedule(c->task, c->next_ms);
	else
		task_schedule(c->task, TIMER_NEVER);
}

/* <at_ms> up to a beat that all checks share, a hundredth of their interval: a thread that wakes up
 * for one runs some.
 */
static uint64_t on_beat(uint64_t at_ms, int64_t interval_ms)
{
	uint64_t beat = interval_ms < 100 ? 1 : interval_ms > BEAT_MAX_MS * 100 ? BEAT_MAX_MS
		: (uint64_t)interval_ms / 100;

	return (at_ms + beat - 1) / beat * beat;
}

/* The next run comes an interval after the start of this one. */
static void plan_next(struct check *c)
{
	int64_t ms = check_interval_ms(c->server, c->agent);
	uint64_t now = clock_now_ms();
	unsigned *fast = &c->state->force_fast;

	if (__atomic_load_n(fast, __ATOMIC_RELAXED)) {
		__atomic_store_n(fast, 0, __ATOMIC_RELAXED);
		ms = c->conf->fastinter_ms ? c->conf->fastinter_ms : c->conf->inter_ms;
	}
	c->next_ms = on_beat(c->started_ms + noisy(c, ms), ms);
	if (c->next_ms < now)
		c->next_ms = now;
}

/* --- ends ----------------------------------------------------------------------------------- */

static void run_free(struct check *c)
{
	check_close(c);
	check_external_stop(c);
	if (!c->run)
		return;
	for (unsigned i = 0; i < VAR_SCOPES; i++)
		vars_clear(&c->run->vars[i]);
	arena_fini(&c->run->arena);
	pool_free(run_pool, c->run);
	c->run = NULL;
}

/* A place has become free: the one that waits longest runs. */
static void wake_waiting(void)
{
	struct check *c;

	if (list_is_empty(&waiting))
		return;
	c = list_first(&waiting, struct check, wait);
	list_remove(&c->wait);
	c->phase = CHECK_IDLE;
	c->next_ms = clock_now_ms();
	task_wake(c->task, TASK_WOKEN_RES);
}

static void tell_end(const struct check *c, const struct check_result *r)
{
	if (!r)
		CHECK_TRACE(USER, c, CHECK_EV(END), "no connection was free: no result");
	else if (check_status_outcome(r->status) != CHECK_RES_FAILED)
		CHECK_TRACE(USER, c, CHECK_EV(END) | CHECK_EV(PASSED), "the check passed");
	else
		CHECK_TRACE(ERROR, c, CHECK_EV(END) | CHECK_EV(FAILED), "the check failed: %s",
			    r->text ? r->text : "");
}

/* <r>: NULL if nothing was learnt; the server stays as it is. */
static void end(struct check *c, const struct check_result *r)
{
	struct check_result result = r ? *r : (struct check_result){ 0 };

	BUG_ON(c->phase != CHECK_RUNNING);
	result.duration_ms = (int64_t)((clock_now_ns() - c->started_ns) / NS_PER_MS);
	tell_end(c, r);
	check_close(c);
	__atomic_and_fetch(&c->state->flags, ~(unsigned)CHECK_IN_PROGRESS, __ATOMIC_RELAXED);
	if (r)
		check_report(c->server, c->agent, &result);
	run_free(c);
	c->phase = CHECK_IDLE;
	running--;
	activity_set(ACTIVITY_check_running, running);
	plan_next(c);
	arm(c);
	wake_waiting();
}

/* Goes on with the rules. */
static void go_on(struct check *c)
{
	struct check_result r = { 0 };

	CHECK_TRACE(DATA, c, CHECK_EV(RUN), "the check goes on");
	if (check_steps(c, &r))
		end(c, &r);
}

static void mux_goes_on(struct check *c)
{
	if (c->phase == CHECK_RUNNING)
		go_on(c);
}

static void conn_ready(struct conn *conn)
{
	mux_goes_on(conn->owner);
}

static void conn_describe(const struct conn *conn, struct strbuf *out)
{
	const struct check *c = conn->owner;

	strbuf_printf(out, " sv=%s/%s mux=CHK", c->server->proxy->name, c->server->name);
}

static const struct conn_ops ops = { .name = "check", .ready = conn_ready,
				     .describe = conn_describe };

/* --- a run ---------------------------------------------------------------------------------- */

/* Without `timeout check` the interval is the time for all; with it connecting has no more than
 * `timeout connect`, and what follows its own time (check_steps()).
 */
static uint64_t first_deadline(const struct check *c)
{
	const struct proxy_timeouts *t = &c->server->proxy->timeout;
	int64_t ms = c->conf->inter_ms;

	if (t->check && t->connect && t->connect < ms)
		ms = t->connect;
	if (c->kind == CHECK_KIND_EXTERNAL && t->check)
		ms = t->check;
	return c->started_ms + (uint64_t)ms;
}

static struct check_run *run_new(struct check *c)
{
	struct check_run *r = pool_alloc(run_pool);

	if (!r)
		return NULL;
	memset(r, 0, offsetof(struct check_run, first_texts));
	arena_init_in(&r->arena, r->first_texts, sizeof(r->first_texts), 0);
	r->rule = c->rules;
	r->ctx = (struct expr_ctx){ .proxy = c->server->proxy, .arena = &r->arena,
				    .flags = EXPR_DIR_RESPONSE };
	r->seen.server = c->server;
	r->seen.conn = &c->conn;
	r->ctx.check = &r->seen;
	r->ctx.vars[VAR_CHECK] = &r->vars[VAR_CHECK];
	r->ctx.vars[VAR_SESS] = &r->vars[VAR_SESS];
	return r;
}

static void start(struct check *c)
{
	static const struct check_result no_memory = { .status = CHECK_SOCKERR,
						       .text = "out of memory" };
	struct check_result r = { 0 };

	CHECK_TRACE(STATE, c, CHECK_EV(START), "a check begins");
	c->phase = CHECK_RUNNING;
	running++;
	activity_set(ACTIVITY_check_running, running);
	activity_add(ACTIVITY_check_started, 1);
	c->started_ms = clock_now_ms();
	c->started_ns = clock_now_ns();
	c->deadline_ms = first_deadline(c);
	__atomic_or_fetch(&c->state->flags, CHECK_IN_PROGRESS, __ATOMIC_RELAXED);
	c->run = run_new(c);
	if (!c->run) {
		end(c, &no_memory);
		return;
	}
	arm(c);
	if (c->kind != CHECK_KIND_EXTERNAL)
		go_on(c);
	else if (check_external_start(c, &r))
		end(c, &r);
}

/* Its time has come. */
static void begin(struct check *c)
{
	unsigned most = check_settings_of(c->server->proxy->config)->max_per_thread;
	unsigned flags = check_flags_of(c->state);

	c->started_ms = clock_now_ms();
	if (!(flags & CHECK_ENABLED) || (flags & CHECK_PAUSED && !c->agent)) {
		plan_next(c);
		arm(c);
		return;
	}
	if (most && running >= most) {
		c->phase = CHECK_QUEUED;
		list_append(&waiting, &c->wait);
		arm(c);
		return;
	}
	start(c);
}

/* Connections of reverse HTTP that serve requests of other threads all the time are no failure. */
static void end_late(struct check *c)
{
	struct check_result r = { 0 };

	if (c->run->lend_ms && !c->run->lend_named) {
		end(c, NULL);
		return;
	}
	check_late(c, &r);
	end(c, &r);
}

static void check_task(struct task *t, void *ctx, unsigned why)
{
	struct check *c = ctx;
	uint64_t now = clock_now_ms();

	if (c->phase == CHECK_IDLE && why & TASK_WOKEN_OTHER) {
		/* check_hurry(): sooner, but never later */
		uint64_t soon = now + (uint64_t)(c->conf->fastinter_ms ? c->conf->fastinter_ms
						 : c->conf->inter_ms);

		__atomic_store_n(&c->state->force_fast, 0, __ATOMIC_RELAXED);
		if (soon < c->next_ms)
			c->next_ms = soon;
	}
	if (c->phase == CHECK_IDLE && now >= c->next_ms)
		begin(c);
	else if (c->phase == CHECK_RUNNING && now >= c->deadline_ms)
		end_late(c);
	else if (c->phase == CHECK_RUNNING && now >= lend_time(c))
		go_on(c);
	else
		arm(c);
}

/* --- slow start ----------------------------------------------------------------------------- */

static void warm_task(struct task *t, void *ctx, unsigned why)
{
	struct warmer *w = ctx;
	int64_t period = w->server->checks.slowstart_ms / 20;

	task_schedule(t, server_warm_up(w->server)
		      ? clock_now_ms() + (uint64_t)(period > 1000 ? period : 1000) : TIMER_NEVER);
}

/* Others may wake <task> through *<place> from now on. */
static void keep_task(struct server *srv, struct task **place, struct task *task)
{
	lock_take(&srv->proxy->state->change_lock);
	*place = task;
	lock_drop(&srv->proxy->state->change_lock);
}

static bool warmer_new(struct server *srv)
{
	struct warmer *w = calloc(1, sizeof(*w));

	if (w)
		w->task = task_new(warm_task, w);
	if (!w || !w->task) {
		free(w);
		return false;
	}
	w->server = srv;
	w->state = server_state_take(srv->state);
	list_append(&own_warmers, &w->link);
	keep_task(srv, &srv->state->warm_task, w->task);
	if (__atomic_load_n(&srv->state->oper, __ATOMIC_RELAXED) == SERVER_STARTING)
		task_wake(w->task, TASK_WOKEN_INIT);
	return true;
}

/* Ensures that no thread wakes <task> any more through *<place>, unless the next generation's
 * stands there.
 */
static void forget_task(struct server *srv, struct task **place, const struct task *task)
{
	lock_take(&srv->proxy->state->change_lock);
	if (*place == task)
		*place = NULL;
	lock_drop(&srv->proxy->state->change_lock);
}

static void warmer_free(struct warmer *w)
{
	forget_task(w->server, &w->state->warm_task, w->task);
	list_remove(&w->link);
	task_free(&w->task);
	server_state_drop(&w->state);
	free(w);
}

/* --- life ----------------------------------------------------------------------------------- */

/* When the first run is due: the checks of the file are spread, <turn> by turn. */
static uint64_t first_run(const struct check *c, unsigned turn)
{
	const struct check_settings *settings = check_settings_of(c->server->proxy->config);
	int64_t spread = check_interval_ms(c->server, c->agent), count = settings->count;

	if (settings->max_spread_ms && spread > settings->max_spread_ms)
		spread = settings->max_spread_ms;
	return on_beat(clock_now_ms() + (uint64_t)(spread * (int64_t)turn / (count ? count : 1)),
		       check_interval_ms(c->server, c->agent));
}

static bool check_new(struct server *srv, bool agent, unsigned turn)
{
	struct check *c = calloc(1, sizeof(*c));
	const struct check_proxy *cp = check_proxy_of_server(srv);

	if (c)
		c->task = task_new(check_task, c);
	if (!c || !c->task) {
		free(c);
		return false;
	}
	c->server = srv;
	c->server_state = server_state_take(srv->state);
	c->agent = agent;
	c->state = agent ? &srv->state->agent : &srv->state->check;
	c->conf = agent ? &srv->checks.agent : &srv->checks.health;
	c->proxy = cp;
	c->kind = agent ? CHECK_KIND_AGENT : cp->kind;
	c->rules = agent ? check_settings_of(srv->proxy->config)->agent_rules : cp->run;
	c->pid_fd = -1;
	c->conn_ops = &ops;
	c->done = end;
	c->go_on = mux_goes_on;
	list_init(&c->wait);
	list_append(&own_checks, &c->link);
	if (!agent)
		keep_task(srv, &srv->state->check_task, c->task);
	c->next_ms = first_run(c, turn);
	arm(c);
	return true;
}

static void check_free(struct check *c)
{
	if (!c->agent)
		forget_task(c->server, &c->server_state->check_task, c->task);
	if (c->phase == CHECK_RUNNING) {
		running--;
		__atomic_and_fetch(&c->state->flags, ~(unsigned)CHECK_IN_PROGRESS,
				   __ATOMIC_RELAXED);
	}
	if (list_is_linked(&c->wait))
		list_remove(&c->wait);
	list_remove(&c->link);
	run_free(c);
	task_free(&c->task);
	server_state_drop(&c->server_state);
	free(c);
}

/* Makes what <srv> needs, if it is this thread's turn. */
static bool start_server(struct server *srv)
{
	const struct server_checks *s = &srv->checks;
	unsigned agent = s->turn + s->health.on;
	bool good = true;

	if (s->health.on && s->turn % thread_count() == thread_id)
		good = check_new(srv, false, s->turn);
	if (s->agent.on && agent % thread_count() == thread_id)
		good = good && check_new(srv, true, agent);
	if (s->slowstart_ms && (unsigned)srv->index % thread_count() == thread_id)
		good = good && warmer_new(srv);
	return good;
}

static void lists_init(void)
{
	if (lists_are_ready)
		return;
	list_init(&own_checks);
	list_init(&waiting);
	list_init(&own_warmers);
	lists_are_ready = true;
}

bool checks_start_thread(struct config *cfg)
{
	struct server *srv;

	lists_init();
	if (!outliers_start_thread(cfg))
		return false;
	for (struct proxy *px = proxies_first(cfg); px; px = proxy_next(px)) {
		if (px->disabled)
			continue;
		for (srv = server_first(px); srv; srv = server_next(srv))
			if (!srv->life.is_dynamic && !start_server(srv))
				return false;
	}
	return true;
}

void checks_stop_thread(const struct config *cfg)
{
	struct list *at, *next;

	outliers_stop_thread(cfg);
	if (!lists_are_ready)
		return;
	for (at = own_checks.next; at != &own_checks; at = next) {
		struct check *c = list_entry(at, struct check, link);

		next = at->next;
		if (!cfg || c->server->proxy->config == cfg)
			check_free(c);
	}
	for (at = own_warmers.next; at != &own_warmers; at = next) {
		struct warmer *w = list_entry(at, struct warmer, link);

		next = at->next;
		if (!cfg || w->server->proxy->config == cfg)
			warmer_free(w);
	}
	check_spares_close();
}

/* --- servers added and removed at run time -------------------------------------------------- */

/* What a thread is asked to do for one server. */
struct check_order {
	struct message message;
	struct server *server;
	struct config *config; /* counted */
};

static struct check_order *order_new(struct server *srv)
{
	struct check_order *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->server = srv;
	o->config = config_take(srv->proxy->config);
	proxy_pin(srv->proxy);
	server_pin(srv);
	return o;
}

static void order_free(void *ctx)
{
	struct check_order *o = ctx;

	server_unpin(o->server);
	proxy_unpin(o->server->proxy);
	config_drop(&o->config);
	free(o);
}

/* Unless another generation has come meanwhile. Without memory it is not checked. */
static void add_arrives(struct message *m)
{
	struct check_order *o = container_of(m, struct check_order, message);
	struct server *srv = o->server;

	lists_init();
	if (o->config == proxies_current()) {
		if (srv->checks.health.on)
			check_new(srv, false, 0);
		if (srv->checks.agent.on)
			check_new(srv, true, 0);
		if (srv->checks.slowstart_ms)
			warmer_new(srv);
	}
	order_free(o);
}

bool checks_add_server(struct server *srv)
{
	struct check_order *o;

	if (!srv->checks.health.on && !srv->checks.agent.on && !srv->checks.slowstart_ms)
		return true;
	o = order_new(srv);
	if (!o)
		return false;
	o->message.run = add_arrives;
	mailbox_post((unsigned)srv->id % thread_count(), &o->message);
	return true;
}

static void remove_here(void *ctx)
{
	const struct check_order *o = ctx;
	struct list *at, *next;

	if (!lists_are_ready)
		return;
	for (at = own_checks.next; at != &own_checks; at = next) {
		struct check *c = list_entry(at, struct check, link);

		next = at->next;
		if (c->server == o->server)
			check_free(c);
	}
	for (at = own_warmers.next; at != &own_warmers; at = next) {
		struct warmer *w = list_entry(at, struct warmer, link);

		next = at->next;
		if (w->server == o->server)
			warmer_free(w);
	}
}

void checks_remove_server(struct server *srv)
{
	struct check_order *o = order_new(srv);

	if (o && thread_call_all(remove_here, order_free, o))
		return;
	/* without memory its checks go on until the generation ends: it is in maintenance */
	server_keep(srv);
	if (o)
		order_free(o);
}
