/* SPDX-License-Identifier: GPL-2.0-or-later */
/* inside.c - the front endpoint that has a function behind it instead of a client */
#include "stream/inside.h"
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "base/clock.h"
#include "conf/conf.h"
#include "front/listen.h"
#include "proxy/bind.h"
#include "proxy/proxy.h"
#include "proxy/walk.h"
#include "../engine_priv.h"
#include "../server_conn_priv.h"
#include "../session_priv.h"

/* What stands for a listener: it has no address and nothing that a line could say. */
static struct listener_state no_state;
static struct listener_conf no_listener = { .name = "inside", .inherited_fd = -1,
					    .state = &no_state };

bool inside_init(void)
{
	if (no_listener.bind)
		return true; /* another generation goes live */
	no_listener.bind = calloc(1, sizeof(struct bind_conf) + 16 + slot_class_size(SLOT_BIND));
	return no_listener.bind && counter_set_init(&no_state.counters, CNT_FRONT_COUNT);
}

/* --- the session ----------------------------------------------------------------------------- */

static void session_open(struct inside *x, struct proxy *px)
{
	struct session *sess = &x->sess;

	list_init(&sess->link); /* no mux, so nothing to do for walks over the thread's list */
	config_take(px->config);
	proxy_pin(px);
	sess->fe = px;
	sess->listener = &no_listener;
	sess->accept_ns = clock_now_ns();
	sess->flags = SESS_HAS_DST;
	if (vars_are_used(px->config, VAR_SESS))
		sess->vars = calloc(1, sizeof(*sess->vars)); /* without memory: no variable */
	if (x->is_work)
		listen_work_began();
}

static void session_close(struct inside *x)
{
	struct session *sess = &x->sess;

	server_conn_end_session(sess);
	if (sess->vars)
		vars_clear(sess->vars);
	free(sess->vars);
	session_rare_free(sess);
	proxy_unpin(sess->fe);
	if (x->is_work)
		listen_work_ended();
}

/* --- the request ----------------------------------------------------------------------------- */

/* Asks for parts of the body until much waits, at most one a turn. */
static void produce(struct inside *x, struct endpoint *ep)
{
	enum inside_result r;
	uint32_t before = ep->rx.len;

	if (x->sent || x->waiting || ep->flags & EP_RX_BLOCKED)
		return;
	x->busy = true;
	r = x->kind->part ? x->kind->part(x, &ep->rx) : INSIDE_DONE;
	x->busy = false;
	ep->rx_bytes += ep->rx.len - before;
	x->waiting = r == INSIDE_WAIT;
	if (r == INSIDE_MORE || x->cancelled)
		turn_hook_add(&x->hook);
	if (r == INSIDE_MORE || r == INSIDE_WAIT)
		return;
	x->sent = true;
	ep->flags |= r == INSIDE_DONE ? EP_RX_END : EP_RX_ABORT;
}

/* Ends a stream that is not running. */
static void end_cancelled(struct stream *s)
{
	stream_fail_with(s, END_DATA_CLIENT_GONE, 0);
	stream_run(s);
}

/* The end of a turn: what is due, and last the stream, which may end. */
static void on_turn(struct turn_hook *h)
{
	struct inside *x = container_of(h, struct inside, hook);
	struct endpoint *ep = &x->stream->front;

	if (x->cancelled) {
		end_cancelled(x->stream);
		return;
	}
	if (!x->started && x->request) {
		ep->rx_bytes += http_msg_size(x->request);
		ep->flags |= EP_RX_HEAD;
	}
	x->started = true;
	produce(x, ep);
	if (!x->cancelled) /* (else it ends in the next turn) */
		ep->user->wake(ep);
}

/* --- the endpoint ---------------------------------------------------------------------------- */

static void take_head(struct inside *x, struct endpoint *ep)
{
	const struct http_msg *m = ep->tx_head;

	ep->flags &= ~EP_TX_HEAD;
	ep->tx_bytes += http_msg_size(m);
	if (!(m->flags & HTTP_MSG_INTERIM) &&
	    (x->stream->req.method == HTTP_METH_HEAD || m->status == 204 || m->status == 304))
		ep->flags |= EP_TX_BODYLESS;
	if (x->kind->head && !x->cancelled)
		x->kind->head(x, m);
}

static void take_data(struct inside *x, struct endpoint *ep)
{
	uint32_t before = ep->tx.len;

	if (x->cancelled || !x->kind->data || ep->flags & EP_TX_BODYLESS)
		block_queue_clear(&ep->tx);
	else if (before)
		x->kind->data(x, &ep->tx);
	ep->tx_bytes += before - ep->tx.len;
	endpoint_tell_full(ep, endpoint_tx_high(ep), ep->tx.len, ep->tx.count);
	if (!(ep->flags & EP_TX_END) || ep->tx.len)
		return;
	ep->flags |= EP_TX_DONE;
	/* no receiver is left for bytes */
	if (!x->request && !x->sent) {
		x->sent = true;
		ep->flags |= EP_RX_END;
		turn_hook_add(&x->hook);
	}
}

static void inside_send(struct endpoint *ep)
{
	struct inside *x = ep->mux;

	x->busy = true;
	if (ep->flags & EP_TX_HEAD)
		take_head(x, ep);
	take_data(x, ep);
	x->busy = false;
}

static void inside_resume(struct endpoint *ep)
{
	struct inside *x = ep->mux;

	if (x->started && !x->sent && !x->waiting)
		turn_hook_add(&x->hook);
}

/* The stream ends. */
static void inside_detach(struct endpoint *ep)
{
	struct inside *x = ep->mux;
	enum stream_end why = (enum stream_end)x->stream->end;
	struct config *cfg = session_config(&x->sess);

	turn_hook_cancel(&x->hook);
	ep->ops = NULL;
	ep->mux = NULL;
	x->stream = NULL;
	x->request = NULL;
	session_close(x);
	if (!x->cancelled && x->kind->end)
		x->kind->end(x, ep->flags & EP_TX_DONE, why);
	free(x);
	config_drop(&cfg);
}

static struct conn *inside_conn(struct endpoint *ep)
{
	return NULL;
}

static void inside_describe(const struct endpoint *ep, struct strbuf *out)
{
	const struct inside *x = ep->mux;

	strbuf_printf(out, "      inside=%s started=%d waiting=%d sent=%d\n", x->kind->name,
		      x->started, x->waiting, x->sent);
}

static const struct endpoint_ops inside_ops = {
	.name = "INSIDE", .send = inside_send, .resume = inside_resume, .detach = inside_detach,
	.conn = inside_conn, .framed = true, .describe = inside_describe,
};

/* --- for callers ----------------------------------------------------------------------------- */

/* The request line. False: no memory. */
static bool set_line(struct inside *x, struct slice method, struct slice target)
{
	struct http_msg *m = x->request;

	m->version = 11;
	m->version_text = SLICE("HTTP/1.1");
	m->method = (uint8_t)http_method_of(method);
	m->method_text = arena_copy(m->arena, method);
	m->uri = arena_copy(m->arena, target);
	m->body = x->kind->part ? HTTP_BODY_CHUNKED : HTTP_BODY_NONE;
	return m->method_text.ptr && m->uri.ptr;
}

static bool stream_open(struct inside *x, bool http)
{
	struct stream *s = stream_new(&x->sess, http);

	if (!s)
		return false;
	s->t.begin = s->t.idle_from = x->sess.accept_ns;
	s->t.wall_us = session_accept_wall_us(&x->sess);
	s->front.ops = &inside_ops;
	s->front.mux = x;
	x->stream = s;
	x->request = http ? &s->req : NULL;
	return true;
}

static struct inside *inside_make(struct proxy *px, const struct inside_kind *kind, void *ctx,
				  bool http)
{
	struct inside *x = proxy_figures_of_front(px) ? calloc(1, sizeof(*x)) : NULL;
	struct config *cfg = px->config;

	if (!x)
		return NULL;
	x->kind = kind;
	x->ctx = ctx;
	x->is_work = http;
	turn_hook_init(&x->hook, on_turn);
	session_open(x, px);
	if (stream_open(x, http))
		return x;
	session_close(x);
	free(x);
	config_drop(&cfg);
	return NULL;
}

struct inside *inside_new(struct proxy *px, const struct inside_kind *kind, void *ctx,
			  struct slice method, struct slice target)
{
	struct inside *x = inside_make(px, kind, ctx, true);

	if (!x || set_line(x, method, target))
		return x;
	inside_cancel(x);
	return NULL;
}

struct inside *inside_new_bytes(struct proxy *px, const struct inside_kind *kind, void *ctx)
{
	struct inside *x = inside_make(px, kind, ctx, false);

	if (x)
		x->stream->log.level = LOG_LEVEL_SILENT;
	return x;
}

void inside_start(struct inside *x)
{
	turn_hook_add(&x->hook);
}

void inside_continue(struct inside *x)
{
	if (!x->waiting)
		return;
	x->waiting = false;
	turn_hook_add(&x->hook);
}

void inside_read(struct inside *x)
{
	struct endpoint *ep = &x->stream->front;

	if (x->busy)
		return;
	x->busy = true;
	take_data(x, ep);
	x->busy = false;
	ep->user->wake(ep);
}

struct inside *inside_of_stream(const struct stream *s)
{
	return s->front.ops == &inside_ops ? s->front.mux : NULL;
}

void inside_cancel(struct inside *x)
{
	x->cancelled = true;
	if (!x->started)
		stream_abandon(x->stream);
	else if (x->busy || x->stream->flags & STRM_RUNNING)
		turn_hook_add(&x->hook);
	else
		end_cancelled(x->stream);
}
