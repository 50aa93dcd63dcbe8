/* SPDX-License-Identifier: GPL-2.0-or-later */
/* h2.c - the HTTP/2 mux: reading
 *
 * One function receives (h2_read). Frames other than DATA are handled when their payload is
 * contiguous in <in>; DATA payload is passed on as it arrives. Any call to upper layers may end
 * streams and the connection: the BUSY flag keeps the connection's memory until the outermost frame
 * has returned, and no function keeps a stream over such a call without looking it up again.
 */
#include "base/clock.h"
#include "h2_conn_priv.h"
#include "h2_in_priv.h"
#include "h2_out_priv.h"
#include "h2_side_priv.h"
#include "h2_stream_priv.h"
#include "trace_priv.h"

/* Tells every stream, whose user may let go of it; in more than one turn, if they are many. */
static void tell_streams(struct h2_conn *h)
{
	if (h->side->fail_pending)
		h->side->fail_pending(h);
	for (struct tree_node *n = tree_first(&h->streams); n; n = tree_next(n)) {
		struct h2_stream *s = list_entry(n, struct h2_stream, node);

		if (h->flags & H2C_FL_BROKEN || h2s_is_stuck(s))
			s->ep->flags |= EP_ERROR;
		else if (s->state == H2S_HALF_REMOTE || s->state == H2S_CLOSED)
			s->ep->flags |= EP_PEER_SHUT;
		else
			s->ep->flags |= EP_RX_ABORT;
		h2s_wake_soon(s);
	}
	h2_wake_late(h);
}

/* The peer sends no more, or the transport failed. */
static void h2_eof(struct h2_conn *h, bool error)
{
	h->flags |= error ? H2C_FL_EOF | H2C_FL_BROKEN : H2C_FL_EOF;
	if (error)
		block_queue_clear(&h->out);
	h2c_close(h);
	if (!(h->flags & H2C_FL_DEAD))
		tell_streams(h);
}

/* Is the peer still there? */
static void send_ping(struct h2_conn *h)
{
	static const char payload[H2_PING_LEN - H2_FRAME_HEADER_LEN] = { 0, 1, 2, 3, 4, 5, 6, 7 };
	char frame[H2_PING_LEN];

	H2C_TRACE(PROTO, h, H2_EV(TX_FRAME) | H2_EV(TX_PING), "sending PING");
	h2_put_ping(frame, payload, false);
	h2_out_control(h, frame, sizeof(frame));
	h->idle.ping = H2_PING_SENT;
	h2c_arm(h);
}

void h2_timeout(struct timer *t)
{
	struct h2_conn *h = list_entry(t, struct h2_conn, timer);
	bool outer = h2_enter(h);

	if (h->state == H2C_DRAIN) {
		h2_destroy(h);
	} else if (h->out.len && !(h->conn->flags & CONN_CAN_SEND)) {
		h2_eof(h, true);
	} else if (!h->stream_count && h->idle.ping == H2_PING_DUE) {
		send_ping(h);
	} else if (!h->stream_count) {
		if (h->state > H2C_PREFACE)
			h2c_goaway(h, H2_ERR_NO_ERROR, h->last_stream);
		h2c_close(h);
	}
	h2_leave(h, outer);
}

/* --- reading --------------------------------------------------------------------------------- */

void h2c_send_settings(struct h2_conn *h)
{
	const struct h2_tunes *t = h->tunes;
	const struct h2_limits *limits = h->limits;
	struct h2_settings set;
	char frame[H2_SETTINGS_LEN_MAX];

	h2_settings_init(&set);
	set.initial_window_size = (uint32_t)limits->window;
	if (h->side->is_back) {
		set.enable_push = 0;
	} else {
		if (h->flags & H2C_FL_DIALLED)
			set.enable_push = 0;
		set.enable_connect_protocol = !t->no_websockets;
		if (h->most.streams)
			set.max_concurrent_streams = h->most.streams;
	}
	set.header_table_size = (uint32_t)t->table_size;
	set.max_frame_size = (uint32_t)t->frame_size;
	h->stream_window = set.initial_window_size;
	H2C_TRACE(PROTO, h, H2_EV(TX_FRAME) | H2_EV(TX_SETTINGS), "sending SETTINGS");
	h2_out_control(h, frame, (size_t)(h2_settings_put(frame, &set) - frame));
}

/* What a client has to send first. False: more bytes are needed. */
static bool use_preface(struct h2_conn *h)
{
	switch (h1_match_preface(wire_in_bytes(&h->in))) {
	case H1_MORE:
		return false;
	case H1_ERROR:
		if (h->tunes->log_errors != H2_LOG_NONE)
			h2c_report(h, FRONT_BAD_SYNTAX, "no HTTP/2 preface");
		h2c_close(h);
		return true;
	case H1_DONE:
		break;
	}
	H2C_TRACE(PROTO, h, H2_EV(RX_PREFACE), "received the preface");
	wire_in_use(&h->in, H2_PREFACE_LEN);
	h2c_set_state(h, H2C_SETTINGS);
	h2c_send_settings(h);
	if (h->flags & H2C_FL_LEAVING)
		h2c_goaway(h, H2_ERR_NO_ERROR, H2_STREAM_MAX);
	return true;
}

/* A frame's header. False: more bytes are needed. */
static bool use_header(struct h2_conn *h)
{
	struct slice bytes = wire_in_bytes(&h->in);

	if (bytes.len < H2_FRAME_HEADER_LEN)
		return false;
	h->rx.frame = h2_frame_parse(bytes.ptr);
	wire_in_use(&h->in, H2_FRAME_HEADER_LEN);
	if (h2_frame_begin(h))
		h->flags |= H2C_FL_IN_PAYLOAD;
	return true;
}

/* The payload of a frame, which may be empty. False: more bytes are needed. */
static bool use_payload(struct h2_conn *h)
{
	struct slice payload = wire_in_bytes(&h->in);

	if (h->rx.frame.type == H2_FT_DATA) {
		h2_data_take(h);
		return true;
	}
	if (payload.len < h->rx.frame.length)
		return false;
	payload.len = h->rx.frame.length;
	h->flags &= (uint16_t)~H2C_FL_IN_PAYLOAD;
	h2_frame_payload(h, payload);
	if (payload.len && h->in.block)
		wire_in_use(&h->in, payload.len);
	return true;
}

/* Are frames taken now? */
static bool is_reading(const struct h2_conn *h)
{
	return h->state < H2C_CLOSING && !(h->flags & (H2C_FL_DEAD | H2C_FL_PAUSE | H2C_FL_EOF)) &&
	       h->control.bytes < H2_CONTROL_HIGH &&
	       (h->out.len < H2_OUT_STUCK || h->side->is_back);
}

/* Uses the bytes that are there as far as that goes. */
static void use_bytes(struct h2_conn *h)
{
	bool more = true;

	while (more && is_reading(h)) {
		if (h->flags & H2C_FL_IN_PAYLOAD && (!h->rx.frame.length || wire_in_has(&h->in)))
			more = use_payload(h);
		else if (!wire_in_has(&h->in))
			more = false;
		else if (h->state == H2C_PREFACE)
			more = use_preface(h);
		else
			more = use_header(h);
	}
}

/* A head that comes slowly has the time of a request, not that of an idle connection. */
static void limit_slow_head(struct h2_conn *h)
{
	int64_t ms = mux_request_ms(h->settings);
	uint64_t at;

	if (!h->since_ns || h->stream_count || !ms)
		return;
	at = h->since_ns / NS_PER_MS + (uint64_t)ms;
	if (at >= h->timer.expire_ms)
		return;
	timer_set(&h->timer, at);
	if (h->idle.ping == H2_PING_DUE)
		h->idle.ping = H2_PING_NONE;
}

/* Frames that came together belong to one step: all that can be received is decoded, then the
 * streams run. So a mistake that is already here is seen before an answer leaves.
 */
static enum io receive_all(struct h2_conn *h, bool *received)
{
	enum io r = IO_OK;

	for (int budget = WIRE_READ_BUDGET; is_reading(h); budget--) {
		use_bytes(h);
		if (!is_reading(h) || !wire_in_may_grow(&h->in, h->conn))
			break;
		if (!budget) {
			h->flags |= H2C_FL_PAUSE;
			break;
		}
		if (h2_turn_work(h, H2_WORK_RECV))
			break;
		r = wire_in_recv(&h->in, h->conn, h->rx.stream);
		H2C_TRACE(DATA, h, H2_EV(RECV), "read: %u bytes to look at",
			  (unsigned)wire_in_bytes(&h->in).len);
		if (r != IO_OK)
			break;
		*received = true;
	}
	return r;
}

static void h2_read(struct h2_conn *h)
{
	bool received = false, held;
	enum io r;

	h2_wake_late(h); /* the streams for which the last turn had no time */
	r = receive_all(h, &received);
	held = !is_reading(h);
	h2_wake_late(h);
	if (h->flags & H2C_FL_DEAD)
		return;
	if (r == IO_EOF || r == IO_ERR) {
		h2_eof(h, r == IO_ERR);
		return;
	}
	if (held && is_reading(h)) /* the streams have sent what held it back */
		h2_resume_later(h);
	if (h->flags & H2C_FL_PAUSE)
		h2_resume_later(h);
	if (received && !h->stream_count && h->state < H2C_CLOSING)
		h2c_arm(h);
	limit_slow_head(h);
}

static void drain(struct h2_conn *h)
{
	enum io r = h->conn->flags & CONN_ERROR ? IO_ERR : wire_drain(h->conn);

	if (r == IO_OK)
		h2_resume_later(h);
	else if (r != IO_AGAIN)
		h2_destroy(h);
}

void h2_ready(struct conn *c)
{
	struct h2_conn *h = c->owner;
	bool outer = h2_enter(h);

	H2C_TRACE(DEVELOPER, h, H2_EV(WAKE), "an event of the connection");
	h->flags &= (uint16_t)~H2C_FL_PAUSE;
	h->spent.frames = h->spent.resets = h->spent.control = h->spent.work = 0;
	h->spent.since_ns = 0;
	if (c->flags & CONN_CAN_SEND && h->out.len && !(c->flags & CONN_ERROR))
		h2_flush(h);
	if (h->flags & H2C_FL_DEAD || list_is_linked(&h->turn))
		; /* it had its time, and waits for more behind others, whatever comes meanwhile */
	else if (h->state == H2C_DRAIN)
		drain(h);
	else if (c->flags & CONN_ERROR)
		h2_eof(h, true);
	else
		h2_read(h);
	h2c_tell_counts(h);
	h2_leave(h, outer);
}
