/* SPDX-License-Identifier: GPL-2.0-or-later */
/* h2_frames.c - the HTTP/2 mux: received frames other than DATA
 *
 * Each type has a function; h2_frame_begin() decides from the header and the preceding frames if
 * the frame is allowed at all.
 */
#include <string.h>
#include "base/clock.h"
#include "h2_conn_priv.h"
#include "h2_in_priv.h"
#include "h2_out_priv.h"
#include "h2_side_priv.h"
#include "h2_stream_priv.h"
#include "trace_priv.h"

/* --- may it come? ----------------------------------------------------------------------------- */

/* What the order of frames allows. NULL: fine. */
static const char *order_fault(const struct h2_conn *h)
{
	const struct h2_frame *f = &h->rx.frame;

	if (h->state == H2C_SETTINGS && (f->type != H2_FT_SETTINGS || f->flags & H2_FL_ACK))
		return "the first frame is not SETTINGS";
	if (h->flags & H2C_FL_CONTINUATION && f->type != H2_FT_CONTINUATION)
		return "another frame amid a header block";
	if (f->type == H2_FT_CONTINUATION && !(h->flags & H2C_FL_CONTINUATION))
		return "CONTINUATION without a header block";
	if (f->type == H2_FT_PUSH_PROMISE)
		return "PUSH_PROMISE, which this side never accepts";
	return NULL;
}

/* A number that was never used may only get HEADERS and PRIORITY. */
static bool is_idle_stream(const struct h2_conn *h, uint32_t id)
{
	return !(id & 1) || id > h->last_stream;
}

static void count_frame(struct h2_conn *h)
{
	static const uint8_t counted[H2_FT_COUNT] = {
		[H2_FT_HEADERS] = H2_CNT_HEADERS + 1, [H2_FT_DATA] = H2_CNT_DATA + 1,
		[H2_FT_SETTINGS] = H2_CNT_SETTINGS + 1,
		[H2_FT_RST_STREAM] = H2_CNT_RESETS + 1,
		[H2_FT_GOAWAY] = H2_CNT_GOAWAYS + 1,
	};
	const struct h2_limits *t = h->limits;

	if (h->rx.frame.type < H2_FT_COUNT && counted[h->rx.frame.type])
		h2_count(h, counted[h->rx.frame.type] - 1);
	if (h->rx.frame.type == H2_FT_RST_STREAM && t->rst_at_once &&
	    ++h->spent.resets >= (unsigned)t->rst_at_once)
		h->flags |= H2C_FL_PAUSE;
	if (t->frames_at_once && ++h->spent.frames >= (unsigned)t->frames_at_once)
		h->flags |= H2C_FL_PAUSE;
	if (h->rx.frame.type == H2_FT_HEADERS) {
		h2_turn_work(h, H2_WORK_HEAD + h->rx.frame.length / 64);
	} else if (h->rx.frame.type == H2_FT_DATA) {
		h2_turn_work(h, 1);
	} else {
		h2_turn_work(h, 1 + h->rx.frame.length / 64);
		if (++h->spent.control >= H2_TURN_CONTROL)
			h->flags |= H2C_FL_PAUSE;
	}
}

bool h2_frame_begin(struct h2_conn *h)
{
	struct h2_frame *f = &h->rx.frame;
	const char *fault = order_fault(h);
	bool connection = true;
	uint8_t error;

	H2C_TRACE(PROTO, h, H2_EV(RX_FRAME_HEAD) | H2_EV(RX_FRAME) | h2_trace_frame(f->type),
		  "received %s of %u bytes, flags 0x%02x, stream %u", h2_frame_type_name(f->type),
		  f->length, f->flags, f->stream);
	if (fault) {
		h2c_error(h, H2_ERR_PROTOCOL_ERROR, fault);
		return false;
	}
	error = h2_frame_check(f, (uint32_t)h->tunes->frame_size, &connection);
	if (error && connection) {
		h2c_error(h, error, "frame of a wrong size or stream");
		return false;
	}
	count_frame(h);
	if (h->state >= H2C_CLOSING)
		return false;
	if (error) {
		h2c_reset(h, f->stream, error);
		h2c_glitch(h, "PRIORITY of a wrong size");
		f->type = H2_FT_COUNT; /* its payload is skipped */
	}
	if (f->type == H2_FT_HEADERS)
		h->since_ns = clock_now_ns();
	return f->type != H2_FT_DATA || h2_data_begin(h);
}

/* --- settings, ping, goaway ------------------------------------------------------------------- */

/* The windows of all streams follow the peer's initial one (RFC 9113 6.9.2). */
static bool change_peer_window(struct h2_conn *h, uint32_t window)
{
	int64_t delta = (int64_t)window - h->peer.window;
	struct tree_node *n;

	h->peer.window = window;
	if (!delta)
		return true;
	h2_turn_work(h, h->stream_count);
	for (n = tree_first(&h->streams); n; n = tree_next(n)) {
		struct h2_stream *s = list_entry(n, struct h2_stream, node);

		s->tx_window += delta;
		if (s->tx_window > H2_WINDOW_MAX)
			return false;
		if (s->tx_window > 0 && s->ep->tx.len)
			h2s_send_later(s);
	}
	return true;
}

/* The owner of a client's connection may have waited for this: reverse HTTP. */
static void tell_settled(struct h2_conn *h)
{
	if (!h->user.front->settled || h->user.front->settled(h->owner))
		return;
	h->flags |= H2C_FL_STOP;
	h2c_goaway(h, H2_ERR_NO_ERROR, h->last_stream);
	h2c_close(h);
}

static void on_settings(struct h2_conn *h, struct slice payload)
{
	bool first = h->state != H2C_OPEN;
	struct h2_settings set;
	char ack[H2_FRAME_HEADER_LEN];
	uint8_t error;

	if (h->rx.frame.flags & H2_FL_ACK) {
		if (h->flags & H2C_FL_ACKED)
			h2c_glitch(h, "SETTINGS acknowledged twice");
		else
			hpack_decoder_limit(&h->decoder, (uint32_t)h->tunes->table_size);
		h->flags |= H2C_FL_ACKED;
		return;
	}
	if (!first)
		h2c_glitch(h, "SETTINGS again");
	else
		h2c_set_state(h, H2C_OPEN);
	h2_settings_init(&set);
	set.initial_window_size = h->peer.window;
	set.max_frame_size = h->peer.frame_max;
	set.header_table_size = h->peer.table;
	set.enable_connect_protocol = h->peer.connect;
	set.max_concurrent_streams = h->peer.streams;
	error = h2_settings_parse(&set, payload, h->side->is_back);
	if (error || !change_peer_window(h, set.initial_window_size)) {
		h2c_error(h, error ? error : H2_ERR_FLOW_CONTROL_ERROR, NULL);
		return;
	}
	h->peer.frame_max = set.max_frame_size;
	h->peer.connect = set.enable_connect_protocol;
	h->peer.streams = set.max_concurrent_streams;
	if (h->side->settings)
		h->side->settings(h);
	if (set.header_table_size != h->peer.table)
		hpack_encoder_resize(&h->encoder, set.header_table_size);
	h->peer.table = set.header_table_size;
	H2C_TRACE(PROTO, h, H2_EV(TX_FRAME) | H2_EV(TX_SETTINGS), "acknowledging SETTINGS");
	h2_put_settings_ack(ack);
	h2_out_control(h, ack, sizeof(ack));
	if (first && !h->side->is_back)
		tell_settled(h);
}

static void on_ping(struct h2_conn *h, struct slice payload)
{
	char frame[H2_PING_LEN];

	if (h->rx.frame.flags & H2_FL_ACK) {
		if (h->idle.ping != H2_PING_SENT) {
			h2c_glitch(h, "PING acknowledged that was not sent");
			return;
		}
		h->idle.ping = H2_PING_NONE;
		if (!h->stream_count) /* the timer stood for the answer */
			h2c_arm(h);
		return;
	}
	H2C_TRACE(PROTO, h, H2_EV(TX_FRAME) | H2_EV(TX_PING), "answering PING");
	h2_put_ping(frame, payload.ptr, true);
	h2_out_control(h, frame, sizeof(frame));
}

/* The peer means to go: no more streams, and the end when those that it has are over. */
static void on_goaway(struct h2_conn *h, struct slice payload)
{
	h->flags |= H2C_FL_STOP;
	if (h->side->goaway)
		h->side->goaway(h, h2_get_u31(payload.ptr));
	h2c_check_end(h);
}

/* --- streams ---------------------------------------------------------------------------------- */

static void on_window_update(struct h2_conn *h, struct slice payload)
{
	uint32_t add = h2_get_u31(payload.ptr), id = h->rx.frame.stream;
	struct h2_stream *s;

	if (!id) {
		if (!add || h->window.tx + add > H2_WINDOW_MAX) {
			h2c_error(h, add ? H2_ERR_FLOW_CONTROL_ERROR : H2_ERR_PROTOCOL_ERROR, NULL);
			return;
		}
		h->window.tx += add;
		if (!list_is_empty(&h->senders))
			h2_flush_later(h);
		return;
	}
	if (is_idle_stream(h, id)) {
		h2c_error(h, H2_ERR_PROTOCOL_ERROR, "WINDOW_UPDATE on an idle stream");
		return;
	}
	s = h2s_find(h, id);
	if (!s || s->flags & H2S_FL_RESET) {
		if (!add) {
			h2c_reset(h, id, H2_ERR_PROTOCOL_ERROR);
			h2c_glitch(h, "WINDOW_UPDATE of nothing");
		}
		return;
	}
	if (!add || s->tx_window + add > H2_WINDOW_MAX) {
		h2s_error(s, add ? H2_ERR_FLOW_CONTROL_ERROR : H2_ERR_PROTOCOL_ERROR,
			  "WINDOW_UPDATE out of range");
		return;
	}
	s->tx_window += add;
	if (s->tx_window > 0 && s->ep->tx.len)
		h2s_send_later(s);
}

static void on_rst_stream(struct h2_conn *h, struct slice payload)
{
	struct h2_stream *s;

	if (is_idle_stream(h, h->rx.frame.stream)) {
		h2c_error(h, H2_ERR_PROTOCOL_ERROR, "RST_STREAM on an idle stream");
		return;
	}
	/* both know now: what still comes is no more what was on its way */
	h2c_forget_cut(h, h->rx.frame.stream);
	s = h2s_find(h, h->rx.frame.stream);
	if (!s || s->flags & H2S_FL_RESET) {
		if (s) {
			s->flags |= H2S_FL_PEER_RESET;
			s->reset_code = h2_get_u32(payload.ptr);
		}
		return;
	}
	if (!h->side->is_back) { /* work for nothing */
		h2c_glitch(h, "stream reset by the client");
		if (h->state >= H2C_CLOSING)
			return;
	}
	s->flags |= H2S_FL_RESET | H2S_FL_PEER_RESET;
	s->reset_code = h2_get_u32(payload.ptr);
	H2S_TRACE(USER, s, H2_EV(RX_EOI) | H2_EV(USER_ERROR), "the peer reset the stream, %s",
		  h2_error_name(s->reset_code));
	h2s_set_state(s, H2S_CLOSED);
	block_queue_clear(&s->ep->tx);
	s->ep->flags |= EP_ERROR | EP_RX_ABORT;
	if (h->side->is_back && s->reset_code == H2_ERR_REFUSED_STREAM)
		s->ep->flags |= EP_RX_REFUSED;
	h2_turn_work(h, H2_WORK_WAKE);
	h2s_wake(s);
}

static void on_priority(struct h2_conn *h, struct slice payload)
{
	if (h2_get_u31(payload.ptr) != h->rx.frame.stream)
		return;
	h2c_error(h, H2_ERR_PROTOCOL_ERROR, NULL); /* it depends on itself */
}

/* --- header blocks ---------------------------------------------------------------------------- */

/* Keeps a part of a header block until the rest is there. False: the connection is lost. */
static bool gather(struct h2_conn *h, struct slice part)
{
	if (!h->gathered.block)
		h->gathered.block = block_new();
	if (!h->gathered.block) {
		h2c_error(h, H2_ERR_INTERNAL_ERROR, "out of memory");
		return false;
	}
	if (part.len > block_room(h->gathered.block)) {
		h2c_error(h, H2_ERR_ENHANCE_YOUR_CALM, "header block too large");
		return false;
	}
	if (part.len)
		memcpy(h->gathered.block->data + h->gathered.block->used, part.ptr, part.len);
	h->gathered.block->used += (uint32_t)part.len;
	return true;
}

static void head_complete(struct h2_conn *h, struct slice block, bool end_stream)
{
	h->flags &= (uint16_t)~H2C_FL_CONTINUATION;
	h->side->head_block(h, block, end_stream);
	h->since_ns = 0;
}

static void on_headers(struct h2_conn *h, struct slice payload)
{
	struct h2_content c;
	bool self = false;
	uint8_t error = h2_content_parse(&h->rx.frame, payload, &c, &self);

	if (error || self) {
		h2c_error(h, self ? H2_ERR_PROTOCOL_ERROR : error, "HEADERS without sense");
		return;
	}
	if (!h->side->headers_are_due(h))
		return;
	payload = slice_make(payload.ptr + c.lead, payload.len - c.lead - c.pad);
	if (h->rx.frame.flags & H2_FL_END_HEADERS) {
		head_complete(h, payload, h->rx.frame.flags & H2_FL_END_STREAM);
		return;
	}
	h->flags |= H2C_FL_CONTINUATION;
	h->flags &= (uint16_t)~H2C_FL_END_STREAM;
	if (h->rx.frame.flags & H2_FL_END_STREAM)
		h->flags |= H2C_FL_END_STREAM;
	h->gathered.stream = h->rx.frame.stream;
	gather(h, payload);
}

static void on_continuation(struct h2_conn *h, struct slice payload)
{
	struct block *head;

	if (h->rx.frame.stream != h->gathered.stream) {
		h2c_error(h, H2_ERR_PROTOCOL_ERROR, "CONTINUATION of another stream");
		return;
	}
	h2c_glitch(h, "CONTINUATION");
	if (h->state >= H2C_CLOSING)
		return;
	/* many small parts cost more than one head ever should */
	if (++h->gathered.parts > H2_CONTINUATIONS_MAX) {
		h2c_error(h, H2_ERR_ENHANCE_YOUR_CALM, "too many CONTINUATION");
		return;
	}
	if (!gather(h, payload) || !(h->rx.frame.flags & H2_FL_END_HEADERS))
		return;
	head = h->gathered.block;
	h->gathered.block = NULL;
	h->gathered.parts = 0;
	head_complete(h, slice_make(head->data, head->used), h->flags & H2C_FL_END_STREAM);
	block_drop(head);
}

void h2_frame_payload(struct h2_conn *h, struct slice payload)
{
	static void (*const handlers[H2_FT_COUNT])(struct h2_conn *, struct slice) = {
		[H2_FT_HEADERS] = on_headers, [H2_FT_PRIORITY] = on_priority,
		[H2_FT_RST_STREAM] = on_rst_stream, [H2_FT_SETTINGS] = on_settings,
		[H2_FT_PING] = on_ping, [H2_FT_GOAWAY] = on_goaway,
		[H2_FT_WINDOW_UPDATE] = on_window_update,
		[H2_FT_CONTINUATION] = on_continuation,
	};

	/* unknown types are skipped (RFC 9113 4.1) */
	if (h->rx.frame.type < H2_FT_COUNT && handlers[h->rx.frame.type])
		handlers[h->rx.frame.type](h, payload);
}
