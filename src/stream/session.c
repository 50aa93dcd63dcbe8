/* SPDX-License-Identifier: GPL-2.0-or-later */
/* session.c - from an accepted socket to a connection with a mux, and its end */
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/bug.h"
#include "base/clock.h"
#include "conf/conf.h"
#include "core/pool.h"
#include "front/listen.h"
#include "mux/mux.h"
#include "net/conn.h"
#include "net/listener.h"
#include "proxy/bind.h"
#include "quic/quic.h"
#include "stream/error_capture.h"
#include "stream/process.h"
#include "stream/proxy_tlv.h"
#include "stream/service.h"
#include "stream/track.h"
#include "tls/tls.h"
#include "engine_priv.h"
#include "handshake_priv.h"
#include "log_priv.h"
#include "preamble_priv.h"
#include "preconnect_priv.h"
#include "server_conn.h"
#include "session_priv.h"
#include "stream_conf_priv.h"
#include "trace_priv.h"

static __thread struct list session_list;

static struct pool *session_pool;

bool session_init(void)
{
	session_pool = pool_new("session", sizeof(struct session));
	return session_pool && preamble_init() && handshake_init();
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
	struct preconnect *dialled = s->rare ? s->rare->dialled : NULL;
	struct config *cfg = session_config(s);
	struct proxy *fe = s->fe;
	struct listener_conf *l = s->listener;

	BUG_ON(s->open_streams);
	SESSION_TRACE(STATE, s, END, "the session ends");
	server_conn_end_session(s);
	if (s->vars)
		vars_clear(s->vars);
	free(s->vars);
	proxy_tlv_drop(s);
	session_rare_free(s);
	list_remove(&s->link);
	gauge_add(&fe->state->fe, CNT_SESS_CUR, -1, &fe->state->fe_session_max);
	if (fe->options & PROXY_OPT_SOCKET_STATS)
		gauge_add(&l->state->counters, CNT_SESS_CUR, -1, &l->state->session_max);
	pool_free(session_pool, s);
	listen_session_ended(l);
	if (unlikely(dialled))
		preconnect_ended(dialled);
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
	config_take(fe->config);
	s->fe = fe;
	s->listener = l;
	s->src = *src;
	s->accept_ns = clock_now_ns();
	if (vars_are_used(fe->config, VAR_SESS))
		s->vars = calloc(1, sizeof(*s->vars)); /* without memory: no variable */
	list_append(&session_list, &s->link);
	listen_session_began(l);
	proxy_count_connection(fe);
	gauge_add(&fe->state->fe, CNT_SESS_CUR, 1, &fe->state->fe_session_max);
	if (fe->options & PROXY_OPT_SOCKET_STATS) {
		gauge_add(&l->state->counters, CNT_SESS_CUR, 1, &l->state->session_max);
		counter_add(&l->state->counters, CNT_CONN_TOT, 1);
	}
	SESSION_TRACE(STATE, s, NEW, "a session begins");
	return s;
}

/* The stream of the request that the mux is about to read: see session_start_with(). */
static __thread struct stream *first_stream;

/* --- mode http: what the mux asks ------------------------------------------------------------- */

static struct endpoint *http_stream_new(void *owner, uint64_t since_ns)
{
	struct session *sess = owner;
	struct stream *s;

	if (unlikely(first_stream != NULL))
		return &first_stream->front;
	if (unlikely(session_config(sess) != proxies_current()))
		session_follow(sess);
	s = stream_new(sess, true);
	if (!s)
		return NULL;
	s->t.begin = since_ns;
	s->t.idle_from = session_idle_from_ns(sess);
	s->t.wall_us = clock_wall_of(since_ns);
	return &s->front;
}

/* In mode tcp: the only one. */
static struct endpoint *tcp_stream_new(void *owner, uint64_t since_ns)
{
	struct session *sess = owner;
	struct stream *s = stream_new(sess, false);

	if (!s)
		return NULL;
	s->t.begin = s->t.idle_from = sess->accept_ns;
	s->t.wall_us = session_accept_wall_us(sess);
	return &s->front;
}

static bool http_answer(void *owner, const struct front_request *rq, struct block_queue *out)
{
	return !first_stream && service_answer(owner, rq, out);
}

static struct slice http_bad_request(void *owner, const struct front_bad *bad)
{
	struct session *sess = owner;
	struct proxy *fe = sess->fe;
	bool probe = !bad->since_ns &&
		     (bad->kind == FRONT_BAD_ABORT || bad->kind == FRONT_BAD_ERROR ||
		      bad->kind == FRONT_BAD_TIMEOUT);
	static const enum stream_end ends[] = {
		[FRONT_BAD_SYNTAX] = END_HEAD_BAD, [FRONT_BAD_TOO_LARGE] = END_HEAD_TOO_LARGE,
		[FRONT_BAD_ABORT] = END_HEAD_CUT, [FRONT_BAD_ERROR] = END_HEAD_ERROR,
		[FRONT_BAD_TIMEOUT] = END_HEAD_TIMEOUT,
	};

	/* as the reference: a connection that was to become HTTP, and did not */
	bool not_http = sess->flags & SESS_UPGRADED && !sess->requests;

	if (probe && fe->options & PROXY_OPT_HTTP_IGNORE_PROBES)
		return slice_none();
	proxy_count_request(fe);
	if (!(sess->mux->kind->traits & MUX_MULTIPLEX))
		track_request_without_stream(sess, bad->kind != FRONT_BAD_TIMEOUT, 0);
	counter_add(&fe->state->fe, counter_of_version(bad->version), 1);
	counter_add(&fe->state->fe, CNT_REQ_ERRORS, 1);
	if (fe->options & PROXY_OPT_SOCKET_STATS)
		counter_add(&sess->listener->state->counters, CNT_REQ_ERRORS, 1);
	if (bad->status && !not_http)
		counter_add(&fe->state->fe, counter_of_status(bad->status), 1);
	if (bad->kind == FRONT_BAD_SYNTAX || bad->kind == FRONT_BAD_TOO_LARGE)
		error_capture_request(sess, &bad->details);
	if (!probe || !(fe->options & PROXY_OPT_DONTLOGNULL))
		session_log_bad(sess, not_http ? 0 : bad->status,
				bad->since_ns, not_http ? END_NOT_HTTP : ends[bad->kind]);
	/* one that has only ended its sending may still read why nothing came of its request */
	if (bad->kind == FRONT_BAD_ERROR)
		return slice_none();
	return bad->status ? stream_page_text(fe, (unsigned)bad->status) : slice_none();
}

void session_describe(const void *owner, struct strbuf *out)
{
	strbuf_printf(out, " fe=%s", ((const struct session *)owner)->fe->name);
}

static bool http_preface(void *owner, const struct mux_kind *kind, struct conn *c,
			 struct block_queue *q);

static void http_glitch(void *owner)
{
	track_glitch(owner);
}

static void http_refused(void *owner)
{
	track_request_without_stream(owner, true, 0);
}

/* Reverse HTTP: the session ends here, its connection goes on as one to a server. */
static bool http_settled(void *owner)
{
	struct session *s = owner;
	struct session_rare *rare = s->rare;

	if (likely(!rare || !rare->attach_to))
		return true;
	/* (with another generation meanwhile the other end comes again) */
	if (rare->attach_config != session_config(s) ||
	    !server_conn_attach(rare->attach_to, s->conn, s->mux, slice_of(rare->attach_name)))
		return false;
	s->mux = NULL;
	s->conn = NULL;
	session_free(s);
	return true;
}

static const struct front_user http_user = {
	.answer = http_answer, .stream_new = http_stream_new, .bad_request = http_bad_request,
	.preface = http_preface, .closed = session_conn_closed, .glitch = http_glitch,
	.refused = http_refused, .describe = session_describe, .trace = session_trace_facts,
	.settled = http_settled,
};
static const struct front_user tcp_user = {
	.stream_new = tcp_stream_new, .closed = session_conn_closed, .describe = session_describe,
};

/* --- giving the connection to a mux --------------------------------------------------------- */

void session_abort(struct session *s)
{
	conn_close(&s->conn);
	session_free(s);
}

/* The thread's clients were all asked to go: so is one that comes now, out of a backlog or from a
 * handshake.
 */
static __thread bool is_leaving;

static void session_stop(struct session *s)
{
	s->flags |= SESS_DISMISSED;
	s->mux->kind->front_stop(s->mux);
}

static struct front_owner owner_of(struct session *s, const struct mux_kind *kind)
{
	return (struct front_owner){
		.user = kind->mode == MUX_HTTP ? &http_user : &tcp_user, .owner = s,
		.settings = &stream_proxy(s->fe)->front,
		.idle_ping_ms = s->listener->bind->idle_ping_ms,
	};
}

bool session_take(struct session *s, const struct mux_kind *kind)
{
	struct front_owner owner = owner_of(s, kind);
	struct mux *m = mux_front_begin(s->conn, kind, &owner);

	if (!m)
		return false;
	s->mux = m;
	if (kind->mode == MUX_HTTP)
		counter_add(&s->fe->state->fe, CNT_SESS_OTHER + kind->major, 1);
	/* (a client that was asked to go may have spoken HTTP/2 only then) */
	if (unlikely(is_leaving || s->flags & SESS_DISMISSED) && kind->front_stop)
		session_stop(s);
	return true;
}

bool session_may_change(const struct session *s)
{
	return !(s->fe->options & PROXY_OPT_DISABLE_H2_UPGRADE || s->listener->bind->proto ||
		 s->only);
}

/* A client in clear begins with the preface of another protocol: the mux changes. */
static bool http_preface(void *owner, const struct mux_kind *kind, struct conn *c,
			 struct block_queue *q)
{
	struct session *s = owner;

	if (!session_may_change(s) || !session_take(s, kind))
		return false;
	kind->front_give(s->mux, q);
	kind->front_start(s->mux, true);
	return true;
}

/* What a client whose handshake is over is to speak. */
static const struct mux_kind *session_mux(const struct session *s)
{
	const struct mux_kind *forced = s->listener->bind->proto;

	if (s->fe->mode != PROXY_MODE_HTTP)
		return mux_default(MUX_TCP);
	if (unlikely(s->rare) && s->rare->attach_to) /* nothing else can be reversed */
		return mux_find("h2");
	return forced ? forced : mux_of_alpn(conn_alpn(s->conn));
}

void session_start_with(struct session *s, struct stream *strm)
{
	first_stream = strm;
	s->mux->kind->front_start(s->mux, true);
	first_stream = NULL;
}

/* One more <which> (enum counter_front) of the frontend and, where they count, of the listener. */
static void count_front(struct session *s, unsigned which)
{
	counter_add(&s->fe->state->fe, which, 1);
	if (s->fe->options & PROXY_OPT_SOCKET_STATS)
		counter_add(&s->listener->state->counters, which, 1);
}

/* tcp-request session. False: the client is refused, and is no session: neither columns nor rates
 * (`fe_sess_rate`, which these rules may ask for) have it.
 */
static bool session_is_welcome(struct session *s)
{
	struct expr_ctx ctx = { .proxy = s->fe, .session = s,
				.flags = EXPR_DIR_REQUEST | EXPR_FINAL,
				.vars = { [VAR_SESS] = s->vars } };
	const struct rule *which;
	enum rule_result r = RULE_CONTINUE;

	if (rules_any(s->fe, RULES_TCP_SESSION)) {
		struct arena arena;

		arena_init(&arena, 0);
		ctx.arena = &arena;
		r = rules_run(s->fe, RULES_TCP_SESSION, &ctx, true, &which);
		arena_fini(&arena);
	}
	if (r != RULE_CONTINUE && r != RULE_ACCEPT) {
		count_front(s, CNT_DENIED_SESS);
		return false;
	}
	proxy_count_session(s->fe);
	if (s->fe->options & PROXY_OPT_SOCKET_STATS)
		counter_add(&s->listener->state->counters, CNT_SESS_TOT, 1);
	if (s->fe->mode != PROXY_MODE_HTTP)
		counter_add(&s->fe->state->fe, CNT_SESS_OTHER, 1);
	track_session(s);
	return true;
}

void session_start(struct session *s, bool readable)
{
	if (!session_is_welcome(s)) {
		session_abort(s);
		return;
	}
	if (session_take(s, session_mux(s)))
		s->mux->kind->front_start(s->mux, readable);
	else
		session_abort(s);
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
	count_front(s, CNT_DENIED_CONN);
	return false;
}

static void set_client_options(const struct proxy *fe, struct conn *c)
{
	if (fe->options & PROXY_OPT_NOLINGER)
		c->flags |= CONN_NO_LINGER;
}

void session_accept(struct listener_conf *l, int fd, const struct addr *src)
{
	struct session *s = listen_is_welcome(src) ? session_new(l, src) : NULL;

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
	if (!preamble_wait(s))
		session_secure(s, false);
}

void session_accept_quic(struct listener_conf *l, const struct listen_quic_client *client)
{
	struct session *s = listen_is_welcome(&client->src) ? session_new(l, &client->src) : NULL;
	struct conn *c = client->conn;

	if (!s) {
		conn_close(&c);
		listen_free_place(l);
		return;
	}
	s->conn = c;
	s->accept_ns = client->since_ns;
	s->handshake_ms = (uint32_t)((clock_now_ns() - client->since_ns) / NS_PER_MS);
	s->dst = client->dst;
	s->flags |= SESS_HAS_DST;
	if (connection_is_welcome(s))
		session_start(s, false);
	else
		session_abort(s);
}

static enum quic_verdict verdict_of(enum rule_result r)
{
	switch (r) {
	case RULE_CONTINUE:
	case RULE_ACCEPT:
		return QUIC_ADMIT;
	case RULE_RETRY:
		return QUIC_PROVE;
	case RULE_REJECT:
		return QUIC_REFUSE;
	default:
		return QUIC_IGNORE;
	}
}

enum quic_verdict session_judge_quic(struct listener_conf *l, const struct addr *src,
				     const struct addr *dst)
{
	struct proxy *fe = l->bind->proxy;
	struct session nobody = {
		.fe = fe, .listener = l, .src = *src, .dst = *dst, .flags = SESS_HAS_DST,
		.accept_ns = clock_now_ns(),
	};
	struct expr_ctx ctx = { .proxy = fe, .session = &nobody,
				.flags = EXPR_DIR_REQUEST | EXPR_FINAL };
	const struct rule *which;
	struct arena arena;
	enum rule_result r;

	if (!rules_any(fe, RULES_QUIC_INITIAL))
		return QUIC_ADMIT;
	list_init(&nobody.link);
	arena_init(&arena, 0);
	ctx.arena = &arena;
	r = rules_run(fe, RULES_QUIC_INITIAL, &ctx, true, &which);
	arena_fini(&arena);
	return verdict_of(r);
}

bool session_adopt(struct listener_conf *l, struct conn *c, struct mux *m, const struct addr *src,
		   struct preconnect *dialled)
{
	struct session *s = session_new(l, src);
	struct front_owner owner;

	if (!s) {
		listen_free_place(l);
		return false;
	}
	s->conn = c;
	if (!session_rare_get(s) || !connection_is_welcome(s) || !session_is_welcome(s)) {
		s->conn = NULL;
		session_free(s);
		return false;
	}
	s->rare->dialled = dialled;
	s->mux = m;
	owner = owner_of(s, m->kind);
	m->kind->front_take(m, &owner);
	counter_add(&s->fe->state->fe, CNT_SESS_OTHER + m->kind->major, 1);
	if (unlikely(is_leaving))
		session_stop(s);
	return true;
}

/* --- reloading -------------------------------------------------------------------------------- */

void sessions_follow_thread(void)
{
	const struct config *now = proxies_current();
	struct session *s, *next;

	list_for_each_safe(s, next, &session_list, link)
		if (session_config(s) != now && !(s->flags & SESS_EMBRYONIC) && session_is_http(s))
			session_follow(s);
}

void streams_kill_older_thread(unsigned number)
{
	const struct config *now = proxies_current();
	struct list *at, *next;

	/* the list's head is no stream, nor aligned as one */
	for (at = stream_list_of_thread.next; at != &stream_list_of_thread; at = next) {
		struct stream *s = list_entry(at, struct stream, thread_link);

		next = at->next;
		if (s->config != now && s->config->generation <= number)
			stream_kill(s, END_KILLED);
	}
}

/* --- stopping --------------------------------------------------------------------------------- */

static bool may_stop(const struct session *s)
{
	return !(s->flags & (SESS_EMBRYONIC | SESS_DISMISSED)) && s->mux &&
	       s->mux->kind->front_stop;
}

void sessions_stop_thread(unsigned of)
{
	struct session *s, *next;
	unsigned count = 0;

	list_for_each(s, &session_list, link)
		count += may_stop(s);
	count = (count + of - 1) / of;
	is_leaving = of == 1;
	list_for_each_safe(s, next, &session_list, link) {
		if (!count)
			break;
		if (!may_stop(s))
			continue;
		count--;
		session_stop(s);
	}
}
