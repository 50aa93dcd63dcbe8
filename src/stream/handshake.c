/* SPDX-License-Identifier: GPL-2.0-or-later */
/* handshake.c - a client's TLS handshake, before its connection gets a mux
 *
 * The transport does the work at each event; this file has its timeout and the log line of a
 * failure. Manual: configuration 4.2 timeout client-hs, 8.2.5.
 */
#include <errno.h>
#include "base/bug.h"
#include "base/clock.h"
#include "core/pool.h"
#include "core/timer.h"
#include "net/conn.h"
#include "proxy/bind.h"
#include "tls/tls.h"
#include "handshake_priv.h"
#include "log_priv.h"
#include "session_priv.h"

/* A connection in the middle of its handshake: its owner. */
struct handshake {
	struct timer timer;
	struct session *session;
};

static struct pool *handshake_pool;

bool handshake_init(void)
{
	handshake_pool = pool_new("handshake", sizeof(struct handshake));
	return handshake_pool;
}

static void count(struct counter_set *set, const struct conn *c, bool ok)
{
	counter_add(set, !ok ? CNT_TLS_FAILED : tls_is_resumed(c) ? CNT_TLS_REUSED : CNT_TLS_SESS,
		    1);
	if (ok && tls_is_stapled(c))
		counter_add(set, CNT_TLS_STAPLED, 1);
}

static void handshake_end(struct handshake *h, bool ok)
{
	struct session *s = h->session;

	timer_cancel(&h->timer);
	pool_free(handshake_pool, h);
	s->handshake_ms = (uint32_t)((clock_now_ns() - s->accept_ns) / NS_PER_MS);
	s->flags &= ~SESS_EMBRYONIC;
	if (tls_is_on(s->conn)) {
		count(&s->fe->state->fe, s->conn, ok);
		if (s->fe->options & PROXY_OPT_SOCKET_STATS)
			count(&s->listener->state->counters, s->conn, ok);
	}
	if (ok)
		session_start(s, true);
	else
		session_abort(s);
}

static void handshake_log(struct session *s)
{
	const struct conn *c = s->conn;
	const char *why = tls_failure(c);
	bool closed = c->flags & CONN_RDHUP && c->error != ECONNRESET;

	if (!why && !(s->fe->options & PROXY_OPT_DONTLOGNULL))
		why = closed ? "Connection closed during SSL handshake"
			     : "Connection error during SSL handshake";
	if (why)
		session_log_error(s, why);
}

/* The transport is done with it. */
static void handshake_ready(struct conn *c)
{
	struct handshake *h = c->owner;
	bool ok = !(c->flags & CONN_ERROR);

	if (!ok)
		handshake_log(h->session);
	handshake_end(h, ok);
}

static void handshake_timeout(struct timer *t)
{
	struct handshake *h = container_of(t, struct handshake, timer);

	if (!(h->session->fe->options & PROXY_OPT_DONTLOGNULL))
		session_log_error(h->session, "Timeout during SSL handshake");
	handshake_end(h, false);
}

static void handshake_describe(const struct conn *c, struct strbuf *out)
{
	session_describe(((const struct handshake *)c->owner)->session, out);
}

static const struct conn_ops handshake_ops = {
	.name = "TLS-handshake", .ready = handshake_ready, .describe = handshake_describe,
};

void session_secure(struct session *s, bool readable)
{
	int64_t ms = s->fe->timeout.client_hs ? s->fe->timeout.client_hs : s->fe->timeout.client;
	struct slot_area *bind = bind_slots(s->listener->bind);
	struct handshake *h;

	if (!tls_bind_is_on(bind)) {
		session_start(s, readable);
		return;
	}
	h = pool_zalloc(handshake_pool);
	if (!h) {
		session_abort(s);
		return;
	}
	h->session = s;
	timer_init(&h->timer, handshake_timeout);
	if (ms)
		timer_set(&h->timer, clock_now_ms() + (uint64_t)ms);
	s->flags |= SESS_EMBRYONIC;
	s->conn->ops = &handshake_ops;
	s->conn->owner = h;
	if (!tls_accept(s->conn, bind)) {
		handshake_end(h, false);
		return;
	}
	if (!s->fe->http.abort_is_said || s->fe->options & PROXY_OPT_ABORTONCLOSE)
		tls_abort_on_close(s->conn);
	if (readable && tls_handshake_step(s->conn))
		handshake_ready(s->conn);
}
