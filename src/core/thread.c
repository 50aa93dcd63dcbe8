/* SPDX-License-Identifier: GPL-2.0-or-later */
/* thread.c - the loop, and the life of the threads that run it
 *
 * One turn, and its only system call:
 *
 *	hooks of the last turn's end -> may it sleep? -> POLL -> clock -> descriptors -> timers
 *	     ^                                                                            |
 *	     +------------------------ run queue (bounded) <- mailbox <-------------------+
 *
 * The loop sleeps only when no task waits and the mailbox is empty after it announced its sleep
 * (mailbox.c tells why that is enough).
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/bug.h"
#include "base/block.h"
#include "base/clock.h"
#include "base/module.h"
#include "core/pool.h"
#include "core/spawn.h"
#include "core/thread.h"
#include "core/timer.h"
#include "affinity_priv.h"
#include "poller_priv.h"
#include "profile_priv.h"
#include "signal_priv.h"
#include "watchdog_priv.h"
#include "worker_priv.h"

#define SLEEP_MAX_MS 1000000000 /* fits the int of epoll_wait */

static bool is_busy_polling;
static atomic_bool is_stopping;

void thread_set_busy_polling(bool on)
{
	is_busy_polling = on;
}

bool thread_is_busy_polling(void)
{
	return is_busy_polling;
}

/* --- one turn -------------------------------------------------------------------------------- */

static void run_hooks(struct list *hooks)
{
	struct list todo;

	/* what a hook adds is for the next turn, after a poll: others get their events */
	list_init(&todo);
	list_splice(&todo, hooks);
	while (!list_is_empty(&todo)) {
		struct turn_hook *h = list_first(&todo, struct turn_hook, link);

		list_remove(&h->link);
		h->run(h);
	}
}

static void worker_run_hooks(struct worker *w)
{
	run_hooks(&w->hooks);
	run_hooks(&w->last_hooks);
}

/* How long may the loop sleep: 0: not at all, -1: until something happens. Other than 0,
 * <sleeping> is set and *since is the time.
 */
static int worker_sleep_ms(struct worker *w, uint64_t *since)
{
	uint64_t next_ms, now_ns, wait_ms;

	if (w->queue.length) {
		activity_add(ACTIVITY_wake_tasks, 1);
		return 0;
	}
	if (is_busy_polling || !mailbox_is_empty(w) || !list_is_empty(&w->hooks) ||
	    !list_is_empty(&w->last_hooks))
		return 0;
	next_ms = wheel_next_ms(&w->wheel);
	now_ns = clock_read_ns();
	if (next_ms <= now_ns / NS_PER_MS)
		return 0;
	atomic_store(&w->sleeping, 1);
	if (atomic_load(&w->mail) || atomic_load(&is_stopping) || signal_is_pending(w)) {
		atomic_store_explicit(&w->sleeping, 0, memory_order_relaxed);
		return 0;
	}
	*since = now_ns;
	if (next_ms == TIMER_NEVER)
		return -1;
	wait_ms = next_ms - now_ns / NS_PER_MS;
	return wait_ms < SLEEP_MAX_MS ? (int)wait_ms : SLEEP_MAX_MS;
}

/* Closes a period of half a second or more: what part of it was idle, how long turns are. */
static void worker_measure(struct worker *w, uint64_t now_ns)
{
	struct activity *a = &w->activity;
	uint64_t length = now_ns - a->period_ns, loops, busy, cpu_ns, cpu;

	if (likely(length < 500 * NS_PER_MS))
		return;
	if (a->idle_ns > length)
		a->idle_ns = length;
	loops = a->counter[ACTIVITY_loops] - a->busy_loops;
	busy = length - a->idle_ns;
	cpu_ns = clock_read_thread_cpu_ns();
	cpu = cpu_ns - a->cpu_ns;
	if (a->period_ns) {
		uint64_t stolen_ms = busy > cpu ? (busy - cpu) / NS_PER_MS : 0;
		uint64_t long_ms = a->counter[ACTIVITY_cpust_ms_15s];

		__atomic_store_n(&a->idle_percent, a->idle_ns * 100 / length, __ATOMIC_RELAXED);
		activity_set(ACTIVITY_avg_cpu_pct, 100 - a->idle_ns * 100 / length);
		activity_set(ACTIVITY_avg_loop_us, loops ? busy / loops / 1000 : 0);
		activity_add(ACTIVITY_cpust_ms_tot, stolen_ms);
		activity_set(ACTIVITY_cpust_ms_1s, stolen_ms * NS_PER_SEC / length);
		activity_set(ACTIVITY_cpust_ms_15s, long_ms - long_ms / 30 + stolen_ms);
	} else {
		__atomic_store_n(&a->idle_percent, 100, __ATOMIC_RELAXED);
	}
	profile_update(a->counter[ACTIVITY_avg_loop_us]);
	a->busy_loops = a->counter[ACTIVITY_loops];
	a->cpu_ns = cpu_ns;
	a->period_ns = now_ns;
	a->idle_ns = 0;
}

static void worker_turn(struct worker *w)
{
	uint64_t since = 0, now_ns;
	int timeout_ms = worker_sleep_ms(w, &since);
	int count;

	count = poller_get()->wait(w, timeout_ms);
	now_ns = clock_refresh();
	if (timeout_ms) {
		atomic_store_explicit(&w->sleeping, 0, memory_order_relaxed);
		w->activity.idle_ns += now_ns - since;
	}
	worker_measure(w, now_ns);
	activity_add(ACTIVITY_loops, 1);
	profile_follow(w->activity.counter[ACTIVITY_avg_loop_us]);
	if (count > 0) {
		activity_add(ACTIVITY_poll_io, (uint64_t)count);
		activity_add(ACTIVITY_ctxsw, (uint64_t)count);
		poller_get()->dispatch(w, count);
	} else if (count == 0 && timeout_ms) {
		activity_add(ACTIVITY_poll_exp, 1);
	}
	if (unlikely(signal_is_pending(w))) {
		activity_add(ACTIVITY_wake_signal, 1);
		signal_process();
	}
	wheel_advance(&w->wheel, now_ns / NS_PER_MS);
	mailbox_drain(w);
	run_queue_process(w);
	worker_run_hooks(w);
}

/* --- life of a thread ------------------------------------------------------------------------ */

/* What thread_run_all() shares with the threads that it starts. */
struct crew {
	const struct module *const *modules;
	pthread_mutex_t gate_lock;   /* of <gate> */
	pthread_cond_t gate_moved;
	enum { GATE_CLOSED, GATE_OPEN, GATE_GO_HOME } gate;
	pthread_barrier_t barrier;   /* all threads */
	atomic_bool failed;
	pthread_t threads[THREADS_MAX];
};

static void worker_enter(struct worker *w)
{
	worker_self = w;
	activity_self = &w->activity;
	thread_id = w->id;
	thread_group = w->group;
	thread_group_is_single = thread_group_size(w->group) == 1;
	affinity_apply(w->id);
	clock_refresh();
}

static bool worker_init_modules(const struct module *const *modules)
{
	for (; *modules; modules++) {
		if ((*modules)->thread_init && !(*modules)->thread_init())
			return false;
	}
	return true;
}

static void worker_fini_modules(const struct module *const *modules)
{
	unsigned n = 0;

	while (modules[n])
		n++;
	while (n-- > 0) {
		if (modules[n]->thread_fini)
			modules[n]->thread_fini();
	}
}

/* The whole life of a worker. No thread enters its loop before all are ready, and none takes
 * anything down before all have left theirs.
 */
static void worker_live(struct crew *crew, struct worker *w)
{
	worker_enter(w);
	if (!poller_thread_init(w) || !worker_init_modules(crew->modules))
		atomic_store(&crew->failed, true);
	pthread_barrier_wait(&crew->barrier);
	if (atomic_load(&crew->failed))
		return;
	watchdog_thread_init(w);
	worker_run_hooks(w);
	while (!atomic_load_explicit(&is_stopping, memory_order_relaxed))
		worker_turn(w);
	watchdog_thread_fini(w);
	pthread_barrier_wait(&crew->barrier);
	/* questions first, then the answers that they caused */
	for (int round = 0; round < 2; round++) {
		mailbox_drain(w);
		pthread_barrier_wait(&crew->barrier);
	}
	worker_fini_modules(crew->modules);
	pthread_barrier_wait(&crew->barrier);
	poller_thread_fini(w);
	block_queue_trim_thread();
	pool_trim_thread();
}

/* Threads wait here until all of them exist, or one could not be made. */
static bool crew_wait_gate(struct crew *crew)
{
	bool open;

	pthread_mutex_lock(&crew->gate_lock);
	while (crew->gate == GATE_CLOSED)
		pthread_cond_wait(&crew->gate_moved, &crew->gate_lock);
	open = crew->gate == GATE_OPEN;
	pthread_mutex_unlock(&crew->gate_lock);
	return open;
}

static void crew_move_gate(struct crew *crew, bool open)
{
	pthread_mutex_lock(&crew->gate_lock);
	crew->gate = open ? GATE_OPEN : GATE_GO_HOME;
	pthread_cond_broadcast(&crew->gate_moved);
	pthread_mutex_unlock(&crew->gate_lock);
}

struct crew_member {
	struct crew *crew;
	struct worker *worker;
};

static void *worker_main(void *arg)
{
	struct crew_member member = *(struct crew_member *)arg;

	free(arg);
	if (crew_wait_gate(member.crew))
		worker_live(member.crew, member.worker);
	return NULL;
}

static bool crew_start(struct crew *crew, unsigned id)
{
	struct crew_member *member = malloc(sizeof(*member));

	if (!member)
		return false;
	member->crew = crew;
	member->worker = worker_table[id];
	if (spawn_thread(&crew->threads[id], worker_main, member))
		return true;
	free(member);
	return false;
}

bool thread_run_all(const struct module *const *modules)
{
	struct crew *crew = calloc(1, sizeof(*crew));
	unsigned started = 1;
	bool complete;

	if (!crew)
		return false;
	/* What is made at first use is made here, before threads could race for it. */
	if (!poller_thread_init(worker_table[0]) || !task_init()) {
		free(crew);
		return false;
	}
	crew->modules = modules;
	pthread_mutex_init(&crew->gate_lock, NULL);
	pthread_cond_init(&crew->gate_moved, NULL);
	pthread_barrier_init(&crew->barrier, NULL, thread_count());
	while (started < thread_count() && crew_start(crew, started))
		started++;
	complete = started == thread_count();
	crew_move_gate(crew, complete);
	if (complete)
		worker_live(crew, worker_table[0]);
	for (unsigned i = 1; i < started; i++)
		pthread_join(crew->threads[i], NULL);
	complete = complete && !atomic_load(&crew->failed);
	pthread_barrier_destroy(&crew->barrier);
	pthread_cond_destroy(&crew->gate_moved);
	pthread_mutex_destroy(&crew->gate_lock);
	free(crew);
	return complete;
}

void thread_stop_all(void)
{
	atomic_store(&is_stopping, true);
	for (unsigned i = 0; i < thread_count(); i++)
		worker_wake(worker_table[i]);
}

bool thread_is_worker(void)
{
	return worker_self && worker_self->poll;
}
