/* SPDX-License-Identifier: GPL-2.0-or-later */
/* h2_data.c - the HTTP/2 mux: received DATA
 *
 * Payload bytes are passed to their stream as slices of the received blocks, as they arrive.
 * Streams are woken when all received data is processed: many frames of one body cost one pass, and
 * a request that is reset immediately afterwards costs a server nothing.
 */
#include "h2_conn_priv.h"
#include "h2_in_priv.h"
#include "h2_side_priv.h"
#include "h2_stream_priv.h"
#include "trace_priv.h"

void h2_wake_late(struct h2_conn *h)
{
	while (!list_is_empty(&h->late)) {
		struct h2_stream *s = list_first(&h->late, struct h2_stream, late);
		uint32_t id = s->id;

		if (h2_turn_work(h, H2_WORK_WAKE)) {
			h2_resume_later(h);
			break;
		}
		if (s->flags & H2S_FL_BODY_DUE)
			h2s_grant(s, true);
		s->flags &= (uint16_t)~H2S_FL_BODY_DUE;
		h2s_limit(s);
		h2s_wake(s);
		s = h2s_find(h, id);
		if (s)
			h2s_grant(s, false);
	}
}

/* Until the peer has acknowledged our SETTINGS it may not know the window that they announce: it
 * counts from the protocol's own one (RFC 9113 6.5.3, 6.9.2). What it has used of that leaves the
 * stream's window below zero.
 */
static int64_t window_excess(const struct h2_conn *h)
{
	if (h->flags & H2C_FL_ACKED || h->stream_window >= H2_WINDOW_DEFAULT)
		return 0;
	return (int64_t)H2_WINDOW_DEFAULT - h->stream_window;
}

/* Which stream gets the payload? NULL: none, it is dropped. */
static struct h2_stream *data_stream(struct h2_conn *h)
{
	const struct h2_frame *f = &h->rx.frame;
	struct h2_stream *s = h2s_find(h, f->stream);

	if (!s || s->flags & H2S_FL_RESET) {
		/* what was on its way when we ended the stream is no fault */
		if (!h->side->is_back && !h2c_was_cut(h, f->stream)) {
			h2c_reset(h, f->stream, H2_ERR_STREAM_CLOSED);
			h2c_glitch(h, "DATA on a closed stream");
		}
		return NULL;
	}
	if (s->state != H2S_OPEN && s->state != H2S_HALF_LOCAL) {
		h2s_error(s, H2_ERR_STREAM_CLOSED, "DATA behind the end of the stream");
		return NULL;
	}
	if (h->side->is_back && !(s->flags & H2S_FL_HEAD_GOT)) {
		h2s_error(s, H2_ERR_PROTOCOL_ERROR, "DATA before the head");
		return NULL;
	}
	if (s->rx_window + window_excess(h) < f->length) {
		h2s_error(s, H2_ERR_FLOW_CONTROL_ERROR, "more DATA than the stream's window");
		return NULL;
	}
	s->rx_window -= f->length;
	return s;
}

bool h2_data_begin(struct h2_conn *h)
{
	const struct h2_frame *f = &h->rx.frame;

	if (!(f->stream & 1) || f->stream > h->last_stream) {
		h2c_error(h, H2_ERR_PROTOCOL_ERROR, "DATA on an idle stream");
		return false;
	}
	if (f->flags & H2_FL_PADDED && !f->length) {
		h2c_error(h, H2_ERR_FRAME_SIZE_ERROR, "padded DATA without the padding's length");
		return false;
	}
	if (h->window.rx < f->length) {
		h2c_error(h, H2_ERR_FLOW_CONTROL_ERROR, "more DATA than the connection's window");
		return false;
	}
	h->window.rx -= f->length;
	h->rx.left = f->length;
	h->rx.pad = 0;
	if (f->flags & H2_FL_PADDED)
		h->flags |= H2C_FL_PAD_NEXT;
	h->rx.stream = data_stream(h);
	if (h->state >= H2C_CLOSING)
		return false;
	if (f->length)
		h2c_open_window(h);
	if (!f->length && !(f->flags & H2_FL_END_STREAM))
		h2c_glitch(h, "empty DATA");
	return h->state < H2C_CLOSING;
}

/* Adds a run of the received block. Few bytes that were not taken yet must not hold a whole block:
 * they are copied behind those before them. False: no memory.
 */
static bool keep(struct block_queue *q, struct block *b, struct slice bytes)
{
	if (q->len && bytes.len < block_size() / 8)
		return block_queue_add_copy(q, bytes);
	return block_queue_add(q, b, bytes.ptr, bytes.len);
}

/* <n> payload bytes of <in> are the stream's. False: they are refused. */
static bool deliver(struct h2_conn *h, struct h2_stream *s, struct slice bytes)
{
	struct block_queue *q = s->flags & H2S_FL_EARLY ? &s->early : &s->ep->rx;

	if (s->left != UINT64_MAX) {
		if (bytes.len > s->left) {
			h2s_error(s, H2_ERR_PROTOCOL_ERROR, "more DATA than announced");
			return false;
		}
		s->left -= bytes.len;
	}
	if (!keep(q, h->in.block, bytes)) {
		h2s_error(s, H2_ERR_INTERNAL_ERROR, "out of memory");
		return false;
	}
	s->ep->rx_bytes += bytes.len;
	H2S_TRACE(DATA, s, H2_EV(STREAM_RECV) | H2_EV(USER_RECV), "received %zu bytes of DATA",
		  bytes.len);
	h2s_wake_soon(s);
	return true;
}

/* The whole frame was used. */
static void data_end(struct h2_conn *h)
{
	struct h2_stream *s = h->rx.stream;

	h->flags &= (uint16_t)~H2C_FL_IN_PAYLOAD;
	h->rx.stream = NULL;
	if (!(h->rx.frame.flags & H2_FL_END_STREAM))
		return;
	if (!s) {
		h2c_cut_data(h, h->rx.frame.stream, 0, true);
		return;
	}
	if (s->left != UINT64_MAX && s->left) {
		h2s_error(s, H2_ERR_PROTOCOL_ERROR, "less DATA than announced");
		return;
	}
	h2s_ended_remote(s);
	h2s_wake_soon(s);
}

/* The byte in front of padded content. False: the connection is lost. */
static bool take_pad_length(struct h2_conn *h)
{
	struct slice bytes = wire_in_bytes(&h->in);

	h->flags &= (uint16_t)~H2C_FL_PAD_NEXT;
	h->rx.pad = (uint8_t)bytes.ptr[0];
	h->rx.left--;
	wire_in_use(&h->in, 1);
	if (h->rx.pad > h->rx.left) {
		h2c_error(h, H2_ERR_PROTOCOL_ERROR, "padding larger than its frame");
		return false;
	}
	h->rx.left -= h->rx.pad;
	return true;
}

void h2_data_take(struct h2_conn *h)
{
	struct slice bytes;

	if (h->flags & H2C_FL_PAD_NEXT && !take_pad_length(h))
		return;
	bytes = wire_in_bytes(&h->in);
	if (h->rx.left && bytes.len) {
		if (bytes.len > h->rx.left)
			bytes.len = h->rx.left;
		if (!h->rx.stream)
			h2c_cut_data(h, h->rx.frame.stream, bytes.len, false);
		else if (!deliver(h, h->rx.stream, bytes))
			h->rx.stream = NULL;
		h->rx.left -= (uint32_t)bytes.len;
		wire_in_use(&h->in, bytes.len);
		bytes = wire_in_bytes(&h->in);
	}
	if (!h->rx.left && h->rx.pad && bytes.len) {
		if (bytes.len > h->rx.pad)
			bytes.len = h->rx.pad;
		h->rx.pad -= (uint32_t)bytes.len;
		wire_in_use(&h->in, bytes.len);
	}
	if (!h->rx.left && !h->rx.pad)
		data_end(h);
}
