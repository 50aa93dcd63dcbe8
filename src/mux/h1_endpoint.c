/* SPDX-License-Identifier: GPL-2.0-or-later */
/* h1_endpoint.c - the HTTP/1 mux: operations for streams and for owners of connections */
#include "base/bug.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "h1_priv.h"
#include "net/conn.h"

static const char *const rx_names[] = {
#define X(s) [H1_RX_##s] = #s,
	H1_RX_STATES(X)
#undef X
};
static const char *const tx_names[] = {
#define X(s) [H1_TX_##s] = #s,
	H1_TX_STATES(X)
#undef X
};

/* Whose connection it is, and where it stands: for show fd. */
static void h1_describe(const struct conn *c, struct strbuf *out)
{
	const struct h1_conn *h = c->owner;

	if (h->flags & H1C_FL_BACK)
		h->user.back->describe(h->owner, out);
	else
		h->user.front->describe(h->owner, out);
	strbuf_printf(out, " mux=H1 ctx=%p h1c.flg=0x%x .rx=%s .tx=%s .obuf=%u .ep=%p",
		      (const void *)h, h->flags, rx_names[h->rx_state], tx_names[h->tx_state],
		      h->out.len, (const void *)h->ep);
}

/* For show sess. */
static void h1_ep_describe(const struct endpoint *ep, struct strbuf *out)
{
	const struct h1_conn *h = ep->mux;
	bool back = h->flags & H1C_FL_BACK;
	const struct http_msg *req = back ? ep->tx_head : ep->rx_head;
	const struct http_msg *res = back ? ep->rx_head : ep->tx_head;

	strbuf_printf(out, "      h1s=%p h1s.flg=0x%x .req.state=%s .res.state=%s\n",
		      (const void *)h, h->flags,
		      back ? tx_names[h->tx_state] : rx_names[h->rx_state],
		      back ? rx_names[h->rx_state] : tx_names[h->tx_state]);
	strbuf_printf(out, "       .meth=%.*s status=%d .sd.flg=0x%08x .sc.flg=0x%08x .sc.app=%p\n",
		      SLICE_FMT(req && req->method_text.ptr ? req->method_text : SLICE("UNKNOWN")),
		      res ? res->status : 0, ep->flags, ep->flags & 0xffff, (const void *)ep);
	strbuf_printf(out, "       h1c=%p h1c.flg=0x%x .sub=1 .ibuf=%zu@%p+%u/%u .obuf=%u@%p+%u/%u"
		      " .task=%p .exp=", (const void *)h, h->flags, wire_in_len(&h->in),
		      (const void *)h->in.block, h->in.at, h->in.block ? h->in.block->size : 0,
		      h->out.len, (const void *)h->out.first, h->out.count, h->out.len,
		      (const void *)&h->timer);
	timer_put_left(out, h->timer.expire_ms, "<NEVER>");
	strbuf_add_char(out, '\n');
}

static const struct conn_ops h1_front_conn_ops = {
	.name = "h1-front", .ready = h1_ready, .describe = h1_describe,
};
static const struct conn_ops h1_back_conn_ops = {
	.name = "h1-back", .ready = h1_ready, .describe = h1_describe,
};

/* --- what an endpoint asks ------------------------------------------------------------------- */

static void h1_ep_send(struct endpoint *ep)
{
	struct h1_conn *h = ep->mux;
	bool outer = h1_enter(h);

	h1_send_pending(h);
	h1_leave(h, outer);
}

static void h1_ep_resume(struct endpoint *ep)
{
	struct h1_conn *h = ep->mux;

	/* from inside our own wake the read loop goes on by itself */
	if (!(h->flags & H1C_FL_BUSY) && (h->conn->flags & CONN_CAN_RECV || wire_in_has(&h->in)))
		h1_resume_later(h);
}

static struct conn *h1_ep_conn(struct endpoint *ep)
{
	return ((struct h1_conn *)ep->mux)->conn;
}

/* An idle client's connection ends, unless a request is there already, which is served then. */
static void h1_front_leave(struct h1_conn *h)
{
	h->conn->flags |= CONN_CAN_RECV; /* the kernel is asked: the poller may not have told yet */
	if (wire_in_has(&h->in) || !conn_is_quiet(h->conn)) {
		timer_set(&h->timer, clock_now_ms() + H1_LAST_CALL_MS);
		h1_resume_later(h);
	} else if (h->flags & H1C_FL_STOP) {
		h1_front_finish(h);
	} else {
		h1_destroy(h);
	}
}

/* Forgets the stream. */
static void h1_unlink_ep(struct h1_conn *h)
{
	h->ep->ops = NULL;
	h->ep->mux = NULL;
	h->ep = NULL;
}

static void h1_front_detach(struct endpoint *ep)
{
	struct h1_conn *h = ep->mux;
	bool skip = ep->flags & EP_TX_DONE && h1_can_skip(h);
	bool whole = ep->flags & EP_TX_DONE && (h->rx_state == H1_RX_DONE || skip);

	h1_unlink_ep(h);
	h1_count_stream_end(h);
	if (!whole || h->flags & H1C_FL_CLOSE || h->conn->flags & CONN_ERROR) {
		/* a client of HTTP/1.0 takes a plain close for the end of the body */
		if (h->flags & H1C_FL_UNCHUNKED && !(ep->flags & EP_TX_END))
			h->conn->flags |= CONN_NO_LINGER;
		if (!whole && !h->out.len && !(ep->flags & EP_TX_DONE) &&
		    h->tx_state != H1_TX_HEAD && h->tx_state != H1_TX_DONE)
			h1_destroy(h); /* cut short: the close says so */
		else
			h1_front_finish(h);
		return;
	}
	if (unlikely(skip))
		h1_skip_begin(h);
	else
		h1_front_next(h);
	if (wire_in_has(&h->in) || h->conn->flags & CONN_CAN_RECV) {
		if (!(h->flags & H1C_FL_BUSY))
			h1_resume_later(h);
	}
}

static void h1_back_detach(struct endpoint *ep)
{
	struct h1_conn *h = ep->mux;
	bool keep = ep->flags & EP_TX_DONE && h->rx_state == H1_RX_DONE && !wire_in_has(&h->in) &&
		    h->flags & H1C_FL_KEEP_RX && !(h->flags & H1C_FL_CLOSE) &&
		    conn_is_quiet(h->conn);

	h1_unlink_ep(h);
	h1_count_stream_end(h);
	if (keep) {
		h1_set_rx(h, H1_RX_IDLE);
		h1_set_tx(h, H1_TX_HEAD);
		h->conn->flags |= CONN_REUSED;
		h->flags |= H1C_FL_IDLE;
		if (h->user.back->stream_left(h->owner, true))
			return;
		h->flags &= ~H1C_FL_IDLE;
	}
	h1_destroy(h);
}

static void h1_ep_facts(const struct endpoint *ep, struct endpoint_facts *out)
{
	const struct h1_conn *h = ep->mux;

	out->glitches = h->glitches;
	out->major = 1;
}

static const struct endpoint_ops h1_front_endpoint = {
	.name = "H1", .send = h1_ep_send, .resume = h1_ep_resume,
	.detach = h1_front_detach, .conn = h1_ep_conn,
	.facts = h1_ep_facts, .describe = h1_ep_describe,
};

static const struct endpoint_ops h1_back_endpoint = {
	.name = "H1", .late = true, .send = h1_ep_send, .resume = h1_ep_resume,
	.detach = h1_back_detach, .conn = h1_ep_conn,
	.facts = h1_ep_facts, .describe = h1_ep_describe,
};

/* --- front ----------------------------------------------------------------------------------- */

/* A head, a request or the rest of a refused one did not come in time. */
static void h1_front_timeout(struct timer *t)
{
	struct h1_conn *h = container_of(t, struct h1_conn, timer);
	struct front_bad bad = { .kind = FRONT_BAD_TIMEOUT, .status = 408,
				 .text = "request timeout" };
	bool outer = h1_enter(h);

	if (h->rx_state == H1_RX_HEAD || (h->rx_state == H1_RX_IDLE && h->flags & H1C_FL_FIRST)) {
		h1_front_bad(h, &bad);
	} else if (h->rx_state == H1_RX_IDLE) {
		h1_front_leave(h);
	} else if (h->rx_state == H1_RX_DRAIN || h1_skips(h)) {
		h1_destroy(h);
	}
	h1_leave(h, outer);
}

static struct mux *h1_front_new(struct conn *c, const struct front_owner *o)
{
	struct h1_conn *h = h1_new(c, o->owner, o->settings);
	int64_t wait = mux_request_ms(o->settings);

	if (!h)
		return NULL;
	h->user.front = o->user;
	h->flags = H1C_FL_FIRST;
	c->ops = &h1_front_conn_ops;
	timer_init(&h->timer, h1_front_timeout);
	if (wait)
		timer_set(&h->timer, clock_now_ms() + (uint64_t)wait);
	H1_TRACE(STATE, h, H1_EV(NEW), "a client's connection begins");
	return &h->mux;
}

/* The caller received these bytes and found that no other protocol begins with them. */
static void h1_front_give(struct mux *m, struct block_queue *q)
{
	struct h1_conn *h = h1_of(m);

	wire_in_give(&h->in, q);
	h->flags |= H1C_FL_NO_PREFACE;
	if (h->conn->flags & CONN_EOF)
		h->conn->flags |= CONN_CAN_RECV; /* it was another mux that read the end */
	h1_resume_later(h);
}

static void h1_front_expire(struct mux *m)
{
	timer_set(&h1_of(m)->timer, clock_now_ms());
}

static void h1_front_start(struct mux *m, bool readable)
{
	if (readable)
		h1_serve(h1_of(m), true);
}

static bool h1_front_is_idle(const struct h1_conn *h)
{
	return !h->ep && h->rx_state == H1_RX_IDLE && !h->out.len;
}

static void h1_set_settings(struct mux *m, const struct mux_settings *settings,
			    int64_t idle_ping_ms)
{
	struct h1_conn *h = h1_of(m);
	bool counts = settings->counters != h->settings->counters;
	bool stream = h->flags & H1C_FL_STREAM;

	if (counts)
		h1_count_end(h);
	h->settings = settings;
	if (!counts)
		return;
	h1_count_conn(h);
	if (stream)
		h1_count_stream(h);
}

static void h1_front_stop(struct mux *m)
{
	struct h1_conn *h = h1_of(m);
	uint64_t now = clock_now_ms(), wait = (uint64_t)mux_keep_alive_ms(h->settings);
	uint64_t since = now;

	h->flags |= H1C_FL_STOP;
	if (h1_skips(h))
		h1_skip_stop(h);
	if (!h1_front_is_idle(h) || h->flags & H1C_FL_FIRST)
		return;
	if (wait && timer_is_set(&h->timer))
		since = h->timer.expire_ms - wait;
	/* without a timeout, or with another one than at that moment, it is not known */
	h1_front_last_call(h, since < now ? since : now);
}

/* --- back ------------------------------------------------------------------------------------ */

/* Gets ready for the answer to the request that <ep> will send. */
static void h1_back_begin(struct h1_conn *h, struct endpoint *ep)
{
	uint8_t options = H1_OPT_RESPONSE;

	if (h->settings->options & MUX_OPT_UNSAFE)
		options |= H1_OPT_UNSAFE;
	if (ep->tx_head->method == HTTP_METH_HEAD)
		options |= H1_OPT_TO_HEAD;
	if (ep->tx_head->method == HTTP_METH_CONNECT)
		options |= H1_OPT_TO_CONNECT;
	h1_count_stream(h);
	ep->ops = &h1_back_endpoint;
	ep->mux = h;
	h->ep = ep;
	h->flags &= ~(H1C_FL_IDLE | H1C_FL_HEAD_SENT | H1C_FL_KEEP_RX);
	h1_set_rx(h, H1_RX_HEAD);
	h1_set_tx(h, H1_TX_HEAD);
	h1_parser_init(&h->parser, options);
}

static void h1_back_timeout(struct timer *t)
{
}

static struct mux *h1_back_new(struct conn *c, struct endpoint *ep, const struct back_owner *o)
{
	struct h1_conn *h = h1_new(c, o->owner, o->settings);

	if (!h)
		return NULL;
	h->user.back = o->user;
	h->flags = H1C_FL_BACK;
	c->ops = &h1_back_conn_ops;
	timer_init(&h->timer, h1_back_timeout);
	h1_back_begin(h, ep);
	return &h->mux;
}

static bool h1_back_attach(struct mux *m, struct endpoint *ep)
{
	h1_back_begin(h1_of(m), ep);
	ep->flags |= EP_CONNECTED | EP_REUSED;
	return true;
}

static unsigned h1_back_room(const struct mux *m)
{
	return !h1_of(m)->ep;
}

static void h1_back_close(struct mux *m)
{
	struct h1_conn *h = h1_of(m);

	h->flags &= ~H1C_FL_IDLE;
	h1_destroy(h);
}

static bool h1_back_detach_thread(struct mux *m)
{
	struct h1_conn *h = h1_of(m);

	BUG_ON(h->ep);
	if (list_is_linked(&h->resume) || h->flags & H1C_FL_BUSY)
		return false;
	timer_cancel(&h->timer);
	conn_detach(h->conn);
	return true;
}

static bool h1_back_attach_thread(struct mux *m)
{
	return conn_attach(h1_of(m)->conn);
}

const struct mux_kind mux_h1 = {
	.name = "h1", .label = "H1", .alpn = SLICE("\x08http/1.1"), .mode = MUX_HTTP,
	.sides = MUX_FRONT | MUX_BACK, .traits = MUX_DEFAULT, .major = 1,
	.front_ops = &h1_front_endpoint, .front_new = h1_front_new,
	.front_give = h1_front_give, .front_start = h1_front_start,
	.front_expire = h1_front_expire, .front_stop = h1_front_stop,
	.back_new = h1_back_new, .back_attach = h1_back_attach, .back_room = h1_back_room,
	.back_close = h1_back_close, .back_detach_thread = h1_back_detach_thread,
	.back_attach_thread = h1_back_attach_thread, .set_settings = h1_set_settings,
};
