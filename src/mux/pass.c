/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pass.c - the mux of mode tcp: bytes go through as they are */
#include "mux/pass.h"
#include "base/bug.h"
#include "base/strbuf.h"
#include "core/pool.h"
#include "core/thread.h"
#include "mux/mux_init.h"
#include "net/conn.h"
#include "net/pipe.h"
#include "mux_priv.h"
#include "trace_priv.h"
#include "wire_priv.h"

#define READ_MAX (256 * 1024)
#define SPLICE_MAX (1 << 20)

enum pass_flags {
	PASS_FL_BACK = 1 << 0,
	PASS_FL_BUSY = 1 << 1,   /* a frame of ours is below on the stack */
	PASS_FL_DEAD = 1 << 2,
	PASS_FL_SHUT = 1 << 4,   /* our end was sent */
	PASS_FL_UNREAD = 1 << 5, /* front: nothing was read yet when its user left */
};

struct pass {
	struct mux mux;
	struct conn *conn;
	struct endpoint *ep;
	uint32_t flags;
	struct block_queue out;
	union {
		const struct front_user *front;
		const struct back_user *back;
	} user;
	void *owner;
	struct list resume;
};

#define PASS_TRACE(level, p, events, ...) TRACE(&trace_pass, level, events, p, __VA_ARGS__)

static void pass_facts(const void *what, struct trace_facts *out)
{
	const struct pass *p = what;

	out->facts[TRACE_LOCK_CONNECTION] = p->conn;
	mux_trace_facts(p->ep, out);
}

static void pass_trace_describe(const void *what, enum trace_verbosity verbosity,
				enum trace_level level, struct strbuf *out)
{
	const struct pass *p = what;

	strbuf_printf(out, " : [%c]", p->flags & PASS_FL_BACK ? 'B' : 'F');
	mux_trace_conn(out, p->conn, verbosity);
	if (verbosity >= TRACE_SIMPLE)
		strbuf_printf(out, " out=%llu ep=%p(0x%08x)", (unsigned long long)p->out.len,
			      (const void *)p->ep, p->ep ? p->ep->flags : 0);
}

static const struct trace_word events[] = {
#define X(name, word, help) { word, help },
	PASS_EVENTS(X)
#undef X
	{ 0 }
};

struct trace_source trace_pass = {
	.name = "pt", .help = "connections of bytes", .events = events,
	.verbosities = mux_trace_verbosities, .locks = MUX_TRACE_LOCKS, .facts = pass_facts,
	.describe = pass_trace_describe,
};

static struct pool *pass_pool;
static __thread struct turn_list resume;

static void pass_ready(struct conn *c);
static void pass_serve(struct pass *p, bool may_read);
static void pass_describe(const struct conn *c, struct strbuf *out);
static const struct conn_ops pass_conn_ops = {
	.name = "pass", .ready = pass_ready, .describe = pass_describe,
};

bool pass_init(void)
{
	pass_pool = pool_new("pass", sizeof(struct pass));
	return pass_pool != NULL;
}

static void resume_one(struct list *link)
{
	pass_serve(list_entry(link, struct pass, resume), true);
}

bool pass_thread_init(void)
{
	turn_list_init(&resume, resume_one);
	resume.limit_ns = WIRE_TURN_NS;
	return true;
}

static void pass_resume_later(struct pass *p)
{
	if (!(p->flags & PASS_FL_DEAD))
		turn_list_add(&resume, &p->resume);
}

static void pass_free(struct pass *p)
{
	PASS_TRACE(STATE, p, PASS_EV(END), "the connection ends");
	if (list_is_linked(&p->resume))
		list_remove(&p->resume);
	if (p->conn && p->flags & PASS_FL_BACK)
		p->user.back->closed(p->owner);
	else if (p->conn)
		p->user.front->closed(p->owner);
	/* bytes that came before the first look at the socket would make a reset of the close */
	if (p->conn && p->flags & PASS_FL_UNREAD) {
		p->conn->flags |= CONN_CAN_RECV;
		wire_drain(p->conn);
	}
	conn_close(&p->conn);
	block_queue_clear(&p->out);
	pool_free(pass_pool, p);
}

static bool pass_enter(struct pass *p)
{
	bool outer = !(p->flags & PASS_FL_BUSY);

	p->flags |= PASS_FL_BUSY;
	return outer;
}

static void pass_leave(struct pass *p, bool outer)
{
	if (!outer)
		return;
	p->flags &= ~PASS_FL_BUSY;
	if (p->flags & PASS_FL_DEAD)
		pass_free(p);
}

static void pass_failed(struct pass *p)
{
	PASS_TRACE(ERROR, p, PASS_EV(ERROR), "the connection failed");
	block_queue_clear(&p->out);
	p->ep->flags |= EP_ERROR;
}

static void pass_send(struct pass *p)
{
	struct endpoint *ep = p->ep;
	struct conn *c = p->conn;
	size_t sent = 0;

	if (c->flags & (CONN_CONNECTING | CONN_HANDSHAKE))
		return;
	ep->tx_bytes += ep->tx.len;
	block_queue_move(&p->out, &ep->tx);
	if (c->flags & CONN_ERROR ||
	    (p->out.len && c->flags & CONN_CAN_SEND && conn_post(c, &p->out, false) == IO_ERR)) {
		pass_failed(p);
		return;
	}
	if (!p->out.len && ep->tx_pipe && ep->tx_pipe->bytes && c->flags & CONN_CAN_SEND) {
		enum io r = conn_splice_out(c, ep->tx_pipe, &sent);

		ep->tx_bytes += sent;
		if (r == IO_ERR) {
			pass_failed(p);
			return;
		}
	}
	endpoint_tell_full(ep, endpoint_tx_high(ep), p->out.len, p->out.count);
	if (ep->flags & EP_TX_END && !p->out.len && !(ep->tx_pipe && ep->tx_pipe->bytes)) {
		if (!(p->flags & PASS_FL_SHUT))
			conn_shut_write(c);
		p->flags |= PASS_FL_SHUT;
		ep->flags |= EP_TX_DONE;
	}
}

static bool pass_wants_bytes(const struct pass *p)
{
	return p->ep && !(p->ep->flags & (EP_RX_BLOCKED | EP_RX_END | EP_ERROR)) &&
	       p->conn->flags & CONN_CAN_RECV;
}

static void pass_read(struct pass *p)
{
	size_t got;
	enum io r;

	for (int budget = WIRE_READ_BUDGET; pass_wants_bytes(p);
	     budget -= 1 + (int)(got / WIRE_READ_UNIT)) {
		struct endpoint *ep = p->ep;

		if (budget <= 0) {
			pass_resume_later(p);
			return;
		}
		if (ep->rx_pipe && ep->flags & EP_RX_SPLICE && !ep->rx.len)
			r = conn_splice_in(p->conn, ep->rx_pipe, SPLICE_MAX, &got);
		else
			r = conn_recv(p->conn, &ep->rx, READ_MAX, &got);
		ep->rx_bytes += got;
		if (got)
			ep->flags |= EP_RX_ANY;
		if (r == IO_EOF)
			ep->flags |= EP_RX_END;
		else if (r == IO_ERR)
			ep->flags |= EP_ERROR;
		else if (r == IO_AGAIN)
			return;
		ep->user->wake(ep);
	}
}

/* Goes on as far as the socket allows, and reads if it <may_read>. */
static void pass_serve(struct pass *p, bool may_read)
{
	struct conn *c = p->conn;
	bool outer = pass_enter(p);

	if (p->ep && p->flags & PASS_FL_BACK && !(p->ep->flags & EP_CONNECTED) &&
	    !(c->flags & (CONN_CONNECTING | CONN_HANDSHAKE))) {
		p->ep->flags |= c->flags & CONN_ERROR ? EP_ERROR : EP_CONNECTED;
		p->ep->user->wake(p->ep);
	}
	if (p->ep && c->flags & CONN_CAN_SEND && !(c->flags & CONN_CONNECTING) &&
	    (p->out.len || (p->ep->tx_pipe && p->ep->tx_pipe->bytes))) {
		pass_send(p);
		p->ep->user->wake(p->ep);
	}
	if (p->conn && !(c->flags & CONN_CONNECTING) && may_read)
		pass_read(p);
	pass_leave(p, outer);
}

static void pass_ready(struct conn *c)
{
	struct pass *p = c->owner;

	pass_serve(p, !turn_list_defers(&resume, &p->resume, c));
}

static void pass_ep_send(struct endpoint *ep)
{
	pass_send(ep->mux);
}

static void pass_ep_resume(struct endpoint *ep)
{
	struct pass *p = ep->mux;

	if (!(p->flags & PASS_FL_BUSY) && p->conn->flags & CONN_CAN_RECV)
		pass_resume_later(p);
}

static void pass_ep_detach(struct endpoint *ep)
{
	struct pass *p = ep->mux;

	if (!(p->flags & PASS_FL_BACK) &&
	    !(ep->flags & (EP_ERROR | EP_KILL | EP_RX_END | EP_RX_ANY)))
		p->flags |= PASS_FL_UNREAD;
	p->ep = NULL;
	ep->mux = NULL;
	ep->ops = NULL;
	if (p->flags & PASS_FL_BUSY)
		p->flags |= PASS_FL_DEAD;
	else
		pass_free(p);
}

struct conn *pass_give(struct endpoint *ep)
{
	struct pass *p = ep->mux;
	struct conn *c = p->conn;

	p->conn = NULL;
	pass_ep_detach(ep);
	return c;
}

static struct conn *pass_ep_conn(struct endpoint *ep)
{
	return ((struct pass *)ep->mux)->conn;
}

static const struct endpoint_ops pass_endpoint = {
	.name = "PASS", .send = pass_ep_send, .resume = pass_ep_resume,
	.detach = pass_ep_detach, .conn = pass_ep_conn,
};

static void pass_describe(const struct conn *c, struct strbuf *out)
{
	const struct pass *p = c->owner;

	if (p->flags & PASS_FL_BACK)
		p->user.back->describe(p->owner, out);
	else
		p->user.front->describe(p->owner, out);
	strbuf_printf(out, " mux=PASS ctx=%p", (const void *)p);
}

static void pass_bind(struct pass *p, struct endpoint *ep)
{
	p->ep = ep;
	p->conn->ops = &pass_conn_ops;
	p->conn->owner = p;
	ep->ops = &pass_endpoint;
	ep->mux = p;
}

static struct pass *pass_new(struct conn *c, void *owner, unsigned flags)
{
	struct pass *p = pool_zalloc(pass_pool);

	if (!p)
		return NULL;
	*p = (struct pass){ .conn = c, .flags = flags, .owner = owner };
	list_init(&p->resume);
	return p;
}

static struct mux *pass_front_new(struct conn *c, const struct front_owner *o)
{
	struct pass *p = pass_new(c, o->owner, 0);
	struct endpoint *ep = p ? o->user->stream_new(o->owner, 0) : NULL;

	if (!ep) {
		if (p)
			pool_free(pass_pool, p);
		return NULL;
	}
	p->user.front = o->user;
	pass_bind(p, ep);
	return &p->mux;
}

static void pass_front_start(struct mux *m, bool readable)
{
	struct endpoint *ep = container_of(m, struct pass, mux)->ep;

	if (readable)
		pass_ep_resume(ep);
	ep->user->wake(ep);
}

static struct mux *pass_back_new(struct conn *c, struct endpoint *ep, const struct back_owner *o)
{
	struct pass *p = pass_new(c, o->owner, PASS_FL_BACK);

	if (!p)
		return NULL;
	p->user.back = o->user;
	pass_bind(p, ep);
	return &p->mux;
}

const struct mux_kind mux_pass = {
	.name = "none", .label = "PASS", .mode = MUX_TCP, .sides = MUX_FRONT | MUX_BACK,
	.traits = MUX_DEFAULT, .front_new = pass_front_new, .front_start = pass_front_start,
	.back_new = pass_back_new,
};
