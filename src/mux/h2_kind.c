/* SPDX-License-Identifier: GPL-2.0-or-later */
/* h2_kind.c - the HTTP/2 mux: its row of the table, operations for owners of client connections */
#include "base/clock.h"
#include "h2_conn_priv.h"
#include "h2_in_priv.h"
#include "h2_side_priv.h"
#include "trace_priv.h"

static void front_describe(const struct h2_conn *h, struct strbuf *out)
{
	h->user.front->describe(h->owner, out);
}

static void front_closed(struct h2_conn *h)
{
	h->user.front->closed(h->owner);
}

static void front_bad(struct h2_conn *h, enum front_bad_kind kind, const char *text)
{
	struct front_bad bad = { .kind = kind, .text = text, .version = 20,
				 .since_ns = clock_now_ns() };

	h->user.front->bad_request(h->owner, &bad);
}

static const struct h2_side front_side = {
	.stream_ops = &h2_front_endpoint, .headers_are_due = h2_front_headers_are_due,
	.head_block = h2_front_head_block, .note_head = h2_front_note_head,
	.put_head = h2_front_put_head,
	.bad = front_bad, .closed = front_closed, .describe = front_describe,
};

static const struct conn_ops h2_front_conn_ops = {
	.name = "h2-front", .ready = h2_ready, .describe = h2_describe,
};

static void h2_set_settings(struct mux *m, const struct mux_settings *settings,
			    int64_t idle_ping_ms)
{
	h2_use_settings(h2_of(m), settings);
	h2_set_idle_ping(h2_of(m), idle_ping_ms);
}

static struct mux *h2_front_new(struct conn *c, const struct front_owner *o)
{
	struct h2_conn *h = h2_new(c, &front_side, o->owner, o->settings);

	if (!h)
		return NULL;
	h->user.front = o->user;
	c->ops = &h2_front_conn_ops;
	H2C_TRACE(STATE, h, H2_EV(NEW), "a client's connection begins");
	timer_init(&h->timer, h2_timeout);
	if (o->dialled) {
		h->flags |= H2C_FL_DIALLED;
		h2c_set_state(h, H2C_SETTINGS);
		h2c_say_hello(h);
	}
	h2c_arm(h);
	h2_set_idle_ping(h, o->idle_ping_ms);
	return &h->mux;
}

/* Reverse HTTP: the owner that has opened the connection gives it to a session. */
static void h2_front_take(struct mux *m, const struct front_owner *o)
{
	struct h2_conn *h = h2_of(m);

	h->user.front = o->user;
	h->owner = o->owner;
	h->conn->flags &= (uint16_t)~CONN_BACKEND;
	h2_use_settings(h, o->settings);
	h->idle.since_ms = clock_now_ms();
	h2_set_idle_ping(h, o->idle_ping_ms);
}

static void h2_front_give(struct mux *m, struct block_queue *q)
{
	struct h2_conn *h = h2_of(m);

	wire_in_give(&h->in, q);
	if (h->conn->flags & CONN_EOF)
		h->conn->flags |= CONN_CAN_RECV; /* it was another mux that read the end */
	h2_resume_later(h);
}

static void h2_front_start(struct mux *m, bool readable)
{
	struct h2_conn *h = h2_of(m);

	if (!readable)
		return;
	/* (what it was given need not wait any more) */
	if (list_is_linked(&h->turn))
		list_remove(&h->turn);
	h2_ready(h->conn);
}

static void h2_front_stop(struct mux *m)
{
	struct h2_conn *h = h2_of(m);
	bool outer = h2_enter(h);

	/* what is on its way is still served (RFC 9113 6.8) */
	h->flags |= H2C_FL_LEAVING;
	h->idle.since_ms = clock_now_ms();
	if (h->state > H2C_PREFACE && h->state < H2C_CLOSING)
		h2c_goaway(h, H2_ERR_NO_ERROR, H2_STREAM_MAX);
	if (h->state > H2C_PREFACE)
		h2c_arm(h);
	h2_leave(h, outer);
}

const struct mux_kind mux_h2 = {
	.name = "h2", .label = "H2", .alpn = SLICE("\x02h2"), .preface = SLICE(H2_PREFACE),
	.mode = MUX_HTTP, .sides = MUX_FRONT | MUX_BACK, .traits = MUX_MULTIPLEX, .major = 2,
	.front_ops = &h2_front_endpoint, .front_new = h2_front_new, .front_give = h2_front_give,
	.front_start = h2_front_start, .front_stop = h2_front_stop,
	.front_take = h2_front_take, .front_reverse = h2_front_reverse,
	.back_new = h2_back_new, .back_attach = h2_back_attach, .back_room = h2_back_room,
	.back_is_ending = h2_back_is_ending, .back_close = h2_back_close,
	.back_detach_thread = h2_back_detach_thread, .back_attach_thread = h2_back_attach_thread,
	.set_settings = h2_set_settings,
};
