/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stop.c - signals: soft stop, hard stop, pause, dumps
 *
 * A soft stop closes the listening sockets and asks idle clients to leave; the loops end with the
 * last session, or when hard-stop-after is over. A hard stop ends the loops immediately. All of
 * this runs on thread 0; sessions are asked on their own threads.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/clock.h"
#include "base/diag.h"
#include "core/mailbox.h"
#include "core/pool.h"
#include "core/signal.h"
#include "core/symbol.h"
#include "core/task.h"
#include "core/thread.h"
#include "ctl/ctl.h"
#include "ext/peers.h"
#include "ext/telemetry.h"
#include "front/listen.h"
#include "log/log.h"
#include "net/ctl_socket.h"
#include "net/listener.h"
#include "proxy/proxy.h"
#include "proxy/server.h"
#include "stream/process.h"
#include "generation_priv.h"
#include "settings_priv.h"

#define LOOK_AGAIN_MS 100

static struct {
	bool stopping;        /* atomic: read by show info */
	int status;           /* of the process */
	uint64_t kill_at_ms;  /* end of hard-stop-after; TIMER_NEVER */
	uint64_t grace_end_ms;
	bool closed;          /* the sockets are */
	struct task *task;
} stop = { .kill_at_ms = TIMER_NEVER };

bool stop_is_stopping(void)
{
	return __atomic_load_n(&stop.stopping, __ATOMIC_RELAXED);
}

int stop_status(void)
{
	return stop.status;
}

/* --- asking threads -------------------------------------------------------------------------- */

/* <ctx>: one of how many shall go now. */
static void ask_thread(void *ctx)
{
	sessions_stop_thread((unsigned)(uintptr_t)ctx);
	ctl_connections_close_thread(false);
}

static void kill_thread(void *ctx)
{
	sessions_stop_thread(1);
}

static void all_asked(void *ctx)
{
	if (stop.task)
		task_wake(stop.task, TASK_WOKEN_OTHER);
}

static void all_killed(void *ctx)
{
	thread_stop_all();
}

/* --- telling --------------------------------------------------------------------------------- */

/* On stderr, and in the logs of the proxy. */
static void say_and_log(struct proxy *px, enum log_level level, const char *text)
{
	diag_say(DIAG_WARNING, "%s", text);
	log_printf(px->config, slot_of(&log_proxy_slot, proxy_slots(px)), level, "%s\n", text);
}

/* Frontends are paused or resumed, the Runtime API's sockets too. */
static void tell_change(const char *done)
{
	struct config *cfg = generation_current();
	char text[512];

	for (struct proxy *px = proxies_first(cfg); px; px = proxy_next(px)) {
		if (!(px->caps & PROXY_FE))
			continue;
		snprintf(text, sizeof(text), "%s %s %s.", done, proxy_kind_name(px), px->name);
		say_and_log(px, LOG_LVL_WARNING, text);
	}
	if (stats_sockets_count(cfg))
		diag_say(DIAG_WARNING, "%s frontend GLOBAL.", done);
}

/* --- soft stop ------------------------------------------------------------------------------- */

static void say_stopped(struct config *cfg)
{
	for (struct proxy *px = proxies_first(cfg); px; px = proxy_next(px)) {
		unsigned long long fe, be;
		char text[512];

		fe = counter_read(&px->state->fe, CNT_CONN_TOT);
		be = counter_read(&px->state->be, CNT_SESS_TOT);
		snprintf(text, sizeof(text), "Proxy %s stopped (cumulated conns: FE: %llu, BE: "
			 "%llu).", px->name, fe, be);
		say_and_log(px, LOG_LVL_WARNING, text);
	}
}

/* Clients leave all together, or spread over close-spread-time: at each look a part of those that
 * are left, so that the last ones go when it is over. -1: they leave when they like.
 */
static void ask_some(uint64_t now_ms)
{
	int64_t spread_ms = settings_of(generation_current())->close_spread_ms;
	uint64_t end_ms = stop.grace_end_ms + (uint64_t)spread_ms, of = 1;

	if (spread_ms < 0)
		return;
	if (spread_ms && now_ms < end_ms)
		of = (end_ms - now_ms) / LOOK_AGAIN_MS + 1;
	thread_call_all(ask_thread, of > 1 ? NULL : all_asked, (void *)(uintptr_t)of);
}

static void close_sockets(void)
{
	struct config *cfg = generation_current();

	stop.closed = true;
	say_stopped(cfg);
	listen_stop_all(cfg);
	peers_stop(cfg);
	stats_sockets_close(cfg, true);
	ask_some(clock_now_ms());
}

/* Ends the loops when nothing is left to do. */
static void on_stop_task(struct task *t, void *ctx, unsigned why)
{
	uint64_t now_ms = clock_now_ms();

	if (!stop.closed && now_ms >= stop.grace_end_ms)
		close_sockets();
	/* (exports under way are work, too, for which there is a time of its own) */
	if (stop.closed && !listeners_draining() && sessions_places() <= telemetry_calls() &&
	    !ctl_connections_count() && telemetry_is_flushed()) {
		thread_stop_all();
		return;
	}
	if (stop.closed && settings_of(generation_current())->close_spread_ms > 0 &&
	    !(why & TASK_WOKEN_OTHER))
		ask_some(now_ms);
	if (now_ms >= stop.kill_at_ms) {
		stop.kill_at_ms = TIMER_NEVER;
		diag_say(DIAG_WARNING, "soft-stop running for too long, performing a hard-stop.");
		if (!thread_call_all(kill_thread, all_killed, NULL))
			thread_stop_all();
		return;
	}
	task_schedule(t, now_ms + LOOK_AGAIN_MS);
}

static void soft_stop(int sig, void *ctx)
{
	const struct main_settings *set = settings_of(generation_current());

	if (stop.stopping)
		return;
	__atomic_store_n(&stop.stopping, true, __ATOMIC_RELAXED);
	stop.task = task_new(on_stop_task, NULL);
	if (!stop.task) {
		thread_stop_all();
		return;
	}
	stop.grace_end_ms = clock_now_ms() + (uint64_t)set->grace_ms;
	if (set->hard_stop_ms)
		stop.kill_at_ms = clock_now_ms() + (uint64_t)set->hard_stop_ms;
	task_wake(stop.task, TASK_WOKEN_SIGNAL);
}

/* --- the others ------------------------------------------------------------------------------ */

static void hard_stop(int sig, void *ctx)
{
	stop.status = 128 + sig;
	__atomic_store_n(&stop.stopping, true, __ATOMIC_RELAXED);
	listen_end_all(generation_current());
	stats_sockets_close(generation_current(), false);
	if (!thread_call_all(kill_thread, all_killed, NULL))
		thread_stop_all();
}

static void pause_sockets(int sig, void *ctx)
{
	struct config *cfg = generation_current();

	tell_change("Paused");
	listen_pause_all(cfg);
	stats_sockets_pause(cfg, true);
}

static void resume_sockets(int sig, void *ctx)
{
	struct config *cfg = generation_current();

	tell_change("Resumed");
	listen_resume_all(cfg);
	stats_sockets_pause(cfg, false);
}

/* SIGHUP: the states of servers and backends, said and logged. */
static void dump_server(struct proxy *px, const struct server *srv)
{
	const struct server_state *st = srv->state;
	char text[512];

	snprintf(text, sizeof(text), "SIGHUP: Server %s/%s is %s. Conn: %llu act, %u pend, "
		 "%llu tot.",
		 px->name, srv->name,
		 __atomic_load_n(&st->oper, __ATOMIC_RELAXED) == SERVER_STOPPED ? "DOWN" : "UP",
		 (unsigned long long)counter_read(&st->counters, CNT_SESS_CUR),
		 __atomic_load_n(&st->queue.length, __ATOMIC_RELAXED),
		 (unsigned long long)counter_read(&st->counters, CNT_SESS_TOT));
	say_and_log(px, LOG_LVL_NOTICE, text);
}

static void dump_proxy(struct proxy *px)
{
	unsigned active = 0, backup = 0;
	char servers[96], text[512];

	for (struct server *srv = server_first(px); srv; srv = server_next(srv)) {
		dump_server(px, srv);
		if (server_is_usable(srv))
			*(srv->backup ? &backup : &active) += 1;
	}
	if (!server_first(px))
		snprintf(servers, sizeof(servers), "no servers.");
	else if (!active && !backup)
		snprintf(servers, sizeof(servers), "no server available !");
	else
		snprintf(servers, sizeof(servers), "%u active servers and %u backup servers "
			 "available.", active, backup);
	snprintf(text, sizeof(text), "SIGHUP: Proxy %s has %s Conn: act(FE+BE): %llu+%llu, %u pend "
		 "(0 unass), tot(FE+BE): %llu+%llu.", px->name, servers,
		 (unsigned long long)proxy_fe_sessions(px),
		 (unsigned long long)proxy_be_sessions(px),
		 __atomic_load_n(&px->state->queue.length, __ATOMIC_RELAXED),
		 (unsigned long long)counter_read(&px->state->fe, CNT_CONN_TOT),
		 (unsigned long long)counter_read(&px->state->be, CNT_SESS_TOT));
	say_and_log(px, LOG_LVL_NOTICE, text);
}

static void dump_states(int sig, void *ctx)
{
	struct config *cfg = generation_current();

	diag_say(DIAG_WARNING, "SIGHUP received, dumping servers states.");
	for (struct proxy *px = proxies_first(cfg); px; px = proxy_next(px))
		dump_proxy(px);
}

/* SIGQUIT: the pools, and spare memory goes back to the system. */
static void dump_pools(int sig, void *ctx)
{
	struct pool_stats st;
	uint64_t allocated, used, failures;

	fprintf(stderr, "Dumping pools usage. Use SIGQUIT to flush them.\n");
	for (unsigned i = 0; pool_get_stats(i, &st); i++)
		fprintf(stderr, "  - Pool %s (%zu bytes) : %llu allocated (%llu bytes), %llu used "
			"(~%llu by thread caches), %llu failures, %u users\n", st.name, st.size,
			(unsigned long long)st.allocated,
			(unsigned long long)(st.allocated * st.size), (unsigned long long)st.used,
			(unsigned long long)st.cached, (unsigned long long)st.failures, st.users);
	pool_get_totals(&allocated, &used, &failures);
	fprintf(stderr, "Total: %llu bytes allocated, %llu used, %llu failures.\n",
		(unsigned long long)allocated, (unsigned long long)used,
		(unsigned long long)failures);
	pool_trim_thread();
	pool_trim_shared();
}

bool stop_install(struct config *cfg)
{
	static const struct symbol names[] = { { on_stop_task, "on_stop_task" }, { 0 } };
	static const struct {
		int sig;
		void (*fn)(int sig, void *ctx);
	} table[] = {
		{ SIGUSR1, soft_stop }, { SIGTERM, hard_stop }, { SIGINT, hard_stop },
		{ SIGTTOU, pause_sockets }, { SIGTTIN, resume_sockets },
		{ SIGHUP, dump_states }, { SIGQUIT, dump_pools }, { SIGPIPE, NULL },
	};

	symbol_register(names); /* without room its address is shown */
	if (!signal_register(SIGUSR2, settings_of(cfg)->reload_in_process ? reload_on_signal : NULL,
			     NULL))
		return false;
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		if (!signal_register(table[i].sig, table[i].fn, NULL)) {
			diag_say(DIAG_ALERT, "Cannot install the handler of signal %d.",
				 table[i].sig);
			return false;
		}
	}
	return true;
}
