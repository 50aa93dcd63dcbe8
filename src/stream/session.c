/* SPDX-License-Identifier: GPL-2.0-or-later */
/* session.c - from an accepted socket to a connection with a mux, and its end */
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/bug.h"
#include "base/clock.h"
#include "codec/proxyproto.h"
#include "conf/conf.h"
#include "core/pool.h"
#include "mux/pass.h"
#include "net/conn.h"
#include "net/listener.h"
#include "error_capture.h"
#include "listen_priv.h"
#include "server_conn.h"
#include "stream_priv.h"
#include "tls/tls.h"

__thread struct list session_list;

static struct pool *session_pool, *preamble_pool;

bool session_init(void)
{
	session_pool = pool_new("session", sizeof(struct session));
	preamble_pool = pool_new("preamble", sizeof(struct preamble));
	return session_pool && preamble_pool;
}

bool session_thread_init(void)
{
	list_init(&session_list);
	list_init(&stream_list_of_thread);
	return true;
}

/* --- life ------------------------------------------------------------------------------------ */

static void session_free(struct session *s)
{
	struct config *cfg = s->config;
	struct proxy *fe = s->fe;
	struct listener_conf *l = s->listener;

	BUG_ON(s->open_streams);
	server_conn_end_session(s);
	if (s->vars)
		vars_clear(s->vars);
	free(s->vars);
	list_remove(&s->link);
	gauge_add(&fe->state->fe, CNT_SESS_CUR, -1, &fe->state->fe_session_max);
	if (fe->options & PROXY_OPT_SOCKET_STATS)
		gauge_add(&l->state->counters, CNT_SESS_CUR, -1, &l->state->session_max);
	pool_free(session_pool, s);
	listen_session_ended(l);
	config_drop(&cfg);
}

/* The client's connection is gone (mode http: without streams). */
static void session_conn_closed(void *owner)
{
	session_free(owner);
}

static struct session *session_new(struct listener_conf *l, const struct addr *src)
{
	struct session *s = pool_zalloc(session_pool);
	struct proxy *fe = l->bind->proxy;

	if (!s)
		return NULL;
	s->config = config_take(fe->config);
	s->fe = fe;
	s->listener = l;
	s->src = *src;
	s->accept_ns = clock_now_ns();
	if (vars_are_used(s->config, VAR_SESS))
		s->vars = calloc(1, sizeof(*s->vars)); /* without memory: no variable */
	list_init(&s->server_conns);
	list_append(&session_list, &s->link);
	listen_session_began(l);
	proxy_count_connection(fe);
	gauge_add(&fe->state->fe, CNT_SESS_CUR, 1, &fe->state->fe_session_max);
	if (fe->options & PROXY_OPT_SOCKET_STATS) {
		gauge_add(&l->state->counters, CNT_SESS_CUR, 1, &l->state->session_max);
		counter_add(&l->state->counters, CNT_CONN_TOT, 1);
		counter_add(&l->state->counters, CNT_SESS_TOT, 1);
	}
	return s;
}

/* --- mode http: what the mux asks ------------------------------------------------------------- */

static struct endpoint *http_stream_new(void *owner, uint64_t since_ns)
{
	struct session *sess = owner;
	struct stream *s = stream_new(sess, true);

	if (!s)
		return NULL;
	s->t.begin = since_ns;
	s->t.idle_from = sess->idle_from_ns ? sess->idle_from_ns : sess->accept_ns;
	s->t.wall_us = s->unique ? clock_wall_us() - (clock_now_ns() - since_ns) / 1000
				 : session_accept_wall_us(sess);
	return &s->front;
}

static struct slice http_bad_request(void *owner, const struct h1_bad *bad)
{
	struct session *sess = owner;
	struct proxy *fe = sess->fe;
	bool probe = !bad->since_ns && (bad->kind == H1_BAD_ABORT || bad->kind == H1_BAD_ERROR ||
					bad->kind == H1_BAD_TIMEOUT);
	static const enum stream_cause causes[] = {
		[H1_BAD_SYNTAX] = CAUSE_PROXY, [H1_BAD_TOO_LARGE] = CAUSE_PROXY,
		[H1_BAD_ABORT] = CAUSE_CLIENT_ABORT, [H1_BAD_ERROR] = CAUSE_CLIENT_ABORT,
		[H1_BAD_TIMEOUT] = CAUSE_CLIENT_TIMEOUT,
	};

	if (probe && fe->options & PROXY_OPT_HTTP_IGNORE_PROBES)
		return slice_none();
	if (!probe || !(fe->options & PROXY_OPT_DONTLOGNULL)) {
		proxy_count_request(fe);
		counter_add(&fe->state->fe, CNT_REQ_H1, 1);
		counter_add(&fe->state->fe, CNT_REQ_ERRORS, 1);
		counter_add(&fe->state->fe, counter_of_status(bad->status), 1);
		session_log_bad(sess, bad, causes[bad->kind], 'R');
		if (bad->kind == H1_BAD_SYNTAX || bad->kind == H1_BAD_TOO_LARGE)
			error_capture_request(sess, &bad->details);
	}
	/* one that has only ended its sending may still read why nothing came of its request */
	if (bad->kind == H1_BAD_ERROR || (bad->kind == H1_BAD_ABORT && !bad->since_ns))
		return slice_none();
	return stream_page_text(fe, (unsigned)bad->status);
}

/* For `show fd`. */
static void session_describe(const void *owner, struct strbuf *out)
{
	strbuf_printf(out, " fe=%s", ((const struct session *)owner)->fe->name);
}

static const struct h1_front_user http_user = {
	.stream_new = http_stream_new, .bad_request = http_bad_request,
	.closed = session_conn_closed, .describe = session_describe,
};
static const struct pass_user tcp_user = {
	.closed = session_conn_closed, .describe = session_describe,
};

/* --- giving the connection to a mux --------------------------------------------------------- */

/* Ends a session before it has a mux. */
static void session_abort(struct session *s)
{
	conn_close(&s->conn);
	session_free(s);
}

static void start_http(struct session *s, bool readable)
{
	s->h1 = h1_front_new(s->conn, &http_user, s, &stream_proxy(s->fe)->front);
	if (!s->h1)
		session_abort(s);
	else if (readable)
		h1_front_start(s->h1);
}

static void start_tcp(struct session *s, bool readable)
{
	struct stream *strm = stream_new(s, false);

	if (!strm || !pass_attach(s->conn, &strm->front, false, &tcp_user, s)) {
		if (strm)
			stream_abandon(strm);
		session_abort(s);
		return;
	}
	strm->t.begin = strm->t.idle_from = s->accept_ns;
	strm->t.wall_us = session_accept_wall_us(s);
	s->stream = strm;
	if (readable)
		strm->front.ops->resume(&strm->front);
	stream_run(strm);
}

/* tcp-request session, then the mux. <readable>: bytes may be waiting. */
static void session_start(struct session *s, bool readable)
{
	struct expr_ctx ctx = { .proxy = s->fe, .session = s,
				.flags = EXPR_DIR_REQUEST | EXPR_FINAL,
				.vars = { [VAR_SESS] = s->vars } };
	const struct rule *which;
	enum rule_result r = RULE_CONTINUE;

	proxy_count_session(s->fe);
	counter_add(&s->fe->state->fe,
		    s->fe->mode == PROXY_MODE_HTTP ? CNT_SESS_H1 : CNT_SESS_OTHER, 1);
	if (rules_any(s->fe, RULES_TCP_SESSION)) {
		struct arena arena;

		arena_init(&arena, 0);
		ctx.arena = &arena;
		r = rules_run(s->fe, RULES_TCP_SESSION, &ctx, true, &which);
		arena_fini(&arena);
	}
	if (r != RULE_CONTINUE && r != RULE_ACCEPT) {
		counter_add(&s->fe->state->fe, CNT_DENIED_SESS, 1);
		session_abort(s);
		return;
	}
	if (s->fe->mode == PROXY_MODE_HTTP)
		start_http(s, readable);
	else
		start_tcp(s, readable);
}

/* --- PROXY protocol ------------------------------------------------------------------------- */

/* What the log says when the header did not come: nothing at all when silence was asked for. */
static void preamble_log(struct session *s, const struct preamble *p, bool late)
{
	if (p->seen)
		session_log_error(s, "Truncated PROXY protocol header received");
	else if (!(s->fe->options & PROXY_OPT_DONTLOGNULL))
		session_log_error(s, late ? "Timeout while waiting for PROXY protocol header"
					  : "Connection closed while waiting for PROXY protocol "
					    "header");
}

static void session_wait_tls(struct session *s, struct preamble *p);

/* The waits before the first stream are over. */
static void preamble_over(struct preamble *p, bool ok)
{
	struct session *s = p->session;

	timer_cancel(&p->timer);
	pool_free(preamble_pool, p);
	s->handshake_ms = (uint32_t)((clock_now_ns() - s->accept_ns) / NS_PER_MS);
	s->flags &= ~SESS_EMBRYONIC;
	if (ok)
		session_start(s, true);
	else
		session_abort(s);
}

static void preamble_end(struct preamble *p, bool ok)
{
	struct session *s = p->session;

	s->conn->flags &= (uint16_t)~CONN_HANDSHAKE;
	if (ok && tls_bind_is_on(bind_slots(s->listener->bind)))
		session_wait_tls(s, p);
	else
		preamble_over(p, ok);
}

static void preamble_timeout(struct timer *t)
{
	struct preamble *p = container_of(t, struct preamble, timer);

	preamble_log(p->session, p, true);
	preamble_end(p, false);
}

/* Looks at the first bytes without taking them, then takes exactly the header. */
static void preamble_ready(struct conn *c)
{
	struct preamble *p = c->owner;
	struct session *s = p->session;
	struct proxyproto pp;
	char bytes[2048];
	ssize_t n = recv(c->fd, bytes, sizeof(bytes), MSG_PEEK | MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR) && !(c->flags & CONN_RDHUP)) {
		fd_cant_recv(c->fd);
		return;
	}
	if (n <= 0) {
		preamble_log(s, p, false);
		preamble_end(p, false);
		return;
	}
	p->seen = true;
	switch (proxyproto_parse(slice_make(bytes, (size_t)n), &pp)) {
	case PROXYPROTO_MORE:
		if (c->flags & CONN_RDHUP || n == (ssize_t)sizeof(bytes)) {
			preamble_log(s, p, false);
			preamble_end(p, false);
		} else {
			fd_cant_recv(c->fd);
		}
		return;
	case PROXYPROTO_ERROR:
		session_log_error(s, "Received something which does not look like a PROXY "
				     "protocol header");
		preamble_end(p, false);
		return;
	case PROXYPROTO_DONE:
		break;
	}
	if (recv(c->fd, bytes, pp.length, MSG_DONTWAIT) != (ssize_t)pp.length) {
		preamble_end(p, false);
		return;
	}
	if (!pp.local && addr_is_inet(&pp.source)) {
		s->src = pp.source;
		s->dst = pp.destination;
		s->flags |= SESS_HAS_DST | SESS_PROXY_SRC;
	}
	preamble_end(p, true);
}

static void preamble_describe(const struct conn *c, struct strbuf *out)
{
	session_describe(((const struct preamble *)c->owner)->session, out);
}

static const struct conn_ops preamble_ops = {
	.name = "PROXY-preamble", .ready = preamble_ready, .describe = preamble_describe,
};

/* Begins the time for what comes before the first stream; NULL: no memory, <s> is gone. */
static struct preamble *preamble_new(struct session *s)
{
	struct preamble *p = pool_zalloc(preamble_pool);
	int64_t ms = s->fe->timeout.client_hs ? s->fe->timeout.client_hs : s->fe->timeout.client;

	if (!p) {
		session_abort(s);
		return NULL;
	}
	p->session = s;
	timer_init(&p->timer, preamble_timeout);
	if (ms)
		timer_set(&p->timer, clock_now_ms() + (uint64_t)ms);
	s->flags |= SESS_EMBRYONIC;
	s->conn->owner = p;
	return p;
}

/* Waits for the PROXY protocol header that the bind line announces. */
static void session_wait_preamble(struct session *s)
{
	if (!preamble_new(s))
		return;
	s->conn->ops = &preamble_ops;
	s->conn->flags |= CONN_HANDSHAKE;
}

/* --- TLS -------------------------------------------------------------------------------------- */

/* What the log says of a handshake that did not come to its end. */
static void tls_log(struct session *s)
{
	const struct conn *c = s->conn;

	if (tls_failure(c))
		session_log_error(s, tls_failure(c));
	else if (!(s->fe->options & PROXY_OPT_DONTLOGNULL))
		session_log_error(s, c->flags & CONN_RDHUP && c->error != ECONNRESET ?
				  "Connection closed during SSL handshake" :
				  "Connection error during SSL handshake");
}

/* The handshake is over. */
static void tls_ready(struct conn *c)
{
	struct preamble *p = c->owner;
	bool ok = !(c->flags & CONN_ERROR);

	if (!ok)
		tls_log(p->session);
	preamble_over(p, ok);
}

static void tls_timeout(struct timer *t)
{
	struct preamble *p = container_of(t, struct preamble, timer);

	if (!(p->session->fe->options & PROXY_OPT_DONTLOGNULL))
		session_log_error(p->session, "Timeout during SSL handshake");
	preamble_over(p, false);
}

static const struct conn_ops tls_ops = {
	.name = "TLS-handshake", .ready = tls_ready, .describe = preamble_describe,
};

/* Puts TLS on the connection and has it shake hands. <p>: the wait that goes on. */
static void session_wait_tls(struct session *s, struct preamble *p)
{
	s->conn->ops = &tls_ops;
	p->timer.fire = tls_timeout;
	if (!tls_accept(s->conn, bind_slots(s->listener->bind)))
		preamble_over(p, false);
	else if (s->conn->flags & CONN_CAN_RECV && tls_handshake_step(s->conn))
		tls_ready(s->conn);
}

static void session_begin_tls(struct session *s)
{
	struct preamble *p = preamble_new(s);

	if (p)
		session_wait_tls(s, p);
}

/* --- accepting -------------------------------------------------------------------------------- */

/* tcp-request connection: before anything else is spent on a client. */
static bool connection_is_welcome(struct session *s)
{
	struct expr_ctx ctx = { .proxy = s->fe, .session = s,
				.flags = EXPR_DIR_REQUEST | EXPR_FINAL,
				.vars = { [VAR_SESS] = s->vars } };
	const struct rule *which;
	struct arena arena;
	enum rule_result r;

	if (!rules_any(s->fe, RULES_TCP_CONNECTION))
		return true;
	arena_init(&arena, 0);
	ctx.arena = &arena;
	r = rules_run(s->fe, RULES_TCP_CONNECTION, &ctx, true, &which);
	arena_fini(&arena);
	if (r == RULE_CONTINUE || r == RULE_ACCEPT)
		return true;
	counter_add(&s->fe->state->fe, CNT_DENIED_CONN, 1);
	return false;
}

static void set_client_options(const struct proxy *fe, struct conn *c)
{
	if (fe->options & PROXY_OPT_NOLINGER)
		c->flags |= CONN_NO_LINGER;
}

void session_accept(struct listener_conf *l, int fd, const struct addr *src)
{
	struct session *s = session_new(l, src);

	if (!s) {
		close(fd);
		listen_free_place(l);
		return;
	}
	s->conn = conn_new(fd, &preamble_ops, NULL, 0);
	if (!s->conn) {
		close(fd);
		session_free(s);
		return;
	}
	set_client_options(s->fe, s->conn);
	if (!connection_is_welcome(s)) {
		session_abort(s);
		return;
	}
	if (l->bind->options & BIND_ACCEPT_PROXY)
		session_wait_preamble(s);
	else if (tls_bind_is_on(bind_slots(l->bind)))
		session_begin_tls(s);
	else
		session_start(s, false);
}

/* --- stopping --------------------------------------------------------------------------------- */

void sessions_stop_thread(void)
{
	struct session *s, *next;

	list_for_each_safe(s, next, &session_list, link)
		if (!(s->flags & SESS_EMBRYONIC) && s->fe->mode == PROXY_MODE_HTTP && s->h1)
			h1_front_stop(s->h1);
}
