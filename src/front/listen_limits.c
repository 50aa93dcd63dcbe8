/* SPDX-License-Identifier: GPL-2.0-or-later */
/* listen_limits.c - limits on new clients: places of the process, its frontends and lines; rates */
#include "base/clock.h"
#include "core/activity.h"
#include "mux/mux.h"
#include "net/listener.h"
#include "proxy/counters.h"
#include "proxy/proxy.h"
#include "tls/tls.h"
#include "listen_priv.h"

/* Limits and totals of the process: touched once per connection, not per request. */
static struct {
	unsigned maxconn, maxconnrate, maxsessrate;            /* atomic */
	unsigned sessions __attribute__((aligned(64)));        /* atomic: places taken now */
	unsigned open;                                         /* atomic: sessions now */
	unsigned work;                                         /* atomic: of no client */
	unsigned waiting;                                      /* atomic: some socket is paused */
	unsigned reached;                                      /* atomic: how often by maxconn */
	unsigned suspended;                                    /* atomic: by listen_pause_all() */
	bool reject_privileged;                                /* atomic: ports below 1024 */
} limits;

static struct rate_set conn_rate;

/* For muxes that share out something by the load. */
static void tell_load(unsigned *open, unsigned *most)
{
	*open = sessions_count();
	*most = listen_process_max();
}

bool listen_limits_init(void)
{
	if (conn_rate.shards) /* a generation that comes while threads read these */
		return true;
	mux_set_load(tell_load);
	rate_set_of_process(&conn_rate);
	return rate_set_init(&conn_rate);
}

void listen_suspend(bool on)
{
	__atomic_store_n(&limits.suspended, on, __ATOMIC_RELAXED);
}

void listen_set_limits(unsigned maxconn, unsigned maxconnrate, unsigned maxsessrate)
{
	limits.maxconn = maxconn;
	limits.maxconnrate = maxconnrate;
	limits.maxsessrate = maxsessrate;
}

void listen_set_rates(unsigned maxconnrate, unsigned maxsessrate)
{
	__atomic_store_n(&limits.maxconnrate, maxconnrate, __ATOMIC_RELAXED);
	__atomic_store_n(&limits.maxsessrate, maxsessrate, __ATOMIC_RELAXED);
}

void listen_reject_privileged(bool reject)
{
	__atomic_store_n(&limits.reject_privileged, reject, __ATOMIC_RELAXED);
}

bool listen_is_welcome(const struct addr *src)
{
	return !__atomic_load_n(&limits.reject_privileged, __ATOMIC_RELAXED) ||
	       !addr_is_inet(src) || !src->port || src->port >= 1024;
}

void listen_set_maxconn(unsigned maxconn)
{
	__atomic_store_n(&limits.maxconn, maxconn, __ATOMIC_RELAXED);
}

unsigned listen_process_max(void)
{
	return __atomic_load_n(&limits.maxconn, __ATOMIC_RELAXED);
}

/* Not the places: a thread takes one before it knows whether accept() will find a connection, and
 * what logs tell must not depend on the threads that try just then.
 */
unsigned sessions_count(void)
{
	return __atomic_load_n(&limits.open, __ATOMIC_RELAXED);
}

unsigned sessions_places(void)
{
	return __atomic_load_n(&limits.sessions, __ATOMIC_RELAXED) +
	       __atomic_load_n(&limits.work, __ATOMIC_RELAXED);
}

void listen_get_figures(struct listen_figures *out)
{
	out->maxconn_reached = __atomic_load_n(&limits.reached, __ATOMIC_RELAXED);
	out->conn_rate = rate_set_read(&conn_rate);
	out->conn_rate_max = rate_set_max(&conn_rate);
	out->conn_rate_limit = __atomic_load_n(&limits.maxconnrate, __ATOMIC_RELAXED);
	out->session_rate_limit = __atomic_load_n(&limits.maxsessrate, __ATOMIC_RELAXED);
}

/* --- places and rates ---------------------------------------------------------------------- */

bool listen_is_held(const struct proxy *fe)
{
	return __atomic_load_n(&limits.suspended, __ATOMIC_RELAXED) ||
	       __atomic_load_n(&fe->state->disabled, __ATOMIC_RELAXED) ||
	       __atomic_load_n(&fe->state->stopped, __ATOMIC_RELAXED);
}

/* Threads accept at the same time: a place is taken before the connection is. <max> 0: no limit. */
static bool take_one(unsigned *count, uint64_t max)
{
	unsigned now = __atomic_load_n(count, __ATOMIC_RELAXED);

	SHARED_WRITE(process);
	do {
		if (max && now >= max)
			return false;
	} while (!__atomic_compare_exchange_n(count, &now, now + 1, false, __ATOMIC_SEQ_CST,
					      __ATOMIC_RELAXED));
	return true;
}

static void free_one(unsigned *count)
{
	SHARED_WRITE(process);
	__atomic_sub_fetch(count, 1, __ATOMIC_SEQ_CST);
}

/* A place for one more session in the process, the frontend and the bind line. */
static bool take_place(struct listener_conf *l)
{
	struct proxy_state *fe = l->bind->proxy->state;

	if (!take_one(&limits.sessions, listen_process_max())) {
		__atomic_add_fetch(&limits.reached, 1, __ATOMIC_RELAXED);
		return false;
	}
	if (take_one(&fe->open_sessions, __atomic_load_n(&fe->maxconn, __ATOMIC_RELAXED))) {
		if (take_one(&l->state->open_sessions, l->bind->maxconn))
			return true;
		free_one(&fe->open_sessions);
	}
	free_one(&limits.sessions);
	return false;
}

void listen_free_place(struct listener_conf *l)
{
	free_one(&l->state->open_sessions);
	free_one(&l->bind->proxy->state->open_sessions);
	free_one(&limits.sessions);
	/* listeners that waited try again; those that still may not accept pause once more */
	if (__atomic_load_n(&limits.waiting, __ATOMIC_SEQ_CST) &&
	    __atomic_exchange_n(&limits.waiting, 0, __ATOMIC_SEQ_CST))
		listen_retry_all(l->bind->proxy->config);
}

static unsigned rate_max(const unsigned *limit)
{
	return __atomic_load_n(limit, __ATOMIC_RELAXED);
}

bool listen_may_accept(void *owner, unsigned *wait_ms)
{
	struct listener_conf *l = owner;
	const struct proxy *fe = l->bind->proxy;

	if (listen_is_held(fe))
		return false;
	*wait_ms = proxy_accept_wait_ms(fe);
	if (!*wait_ms && rate_max(&limits.maxconnrate))
		*wait_ms = rate_set_wait_ms(&conn_rate, rate_max(&limits.maxconnrate));
	if (!*wait_ms && rate_max(&limits.maxsessrate))
		*wait_ms = rate_set_wait_ms(&conn_rate, rate_max(&limits.maxsessrate));
	if (!*wait_ms && tls_bind_is_on(bind_slots(l->bind)))
		*wait_ms = tls_accept_wait_ms();
	if (*wait_ms) {
		__atomic_store_n(&l->state->late_ns, clock_now_ns() + *wait_ms * 1000000ull,
				 __ATOMIC_RELAXED);
		return false;
	}
	if (take_place(l))
		return true;
	/* said before the caller asks a last time, so that a place freed meanwhile is not missed */
	__atomic_store_n(&limits.waiting, 1, __ATOMIC_SEQ_CST);
	return false;
}

void listen_work_began(void)
{
	SHARED_WRITE(process);
	__atomic_add_fetch(&limits.work, 1, __ATOMIC_RELAXED);
}

void listen_work_ended(void)
{
	__atomic_sub_fetch(&limits.work, 1, __ATOMIC_RELAXED);
}

void listen_session_began(struct listener_conf *l)
{
	SHARED_WRITE(process);
	__atomic_add_fetch(&limits.open, 1, __ATOMIC_RELAXED);
	listener_thread_load_add(1);
	rate_set_add(&conn_rate, 1);
}

void listen_session_ended(struct listener_conf *l)
{
	listener_thread_load_add(-1);
	free_one(&limits.open);
	listen_free_place(l);
}
