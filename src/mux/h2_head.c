/* SPDX-License-Identifier: GPL-2.0-or-later */
/* h2_head.c - the HTTP/2 mux: received heads become messages
 *
 * A block is decoded into a buffer of the thread, even if its stream is gone: the tables of both
 * sides must stay in step. Only a head that is well-formed and wanted gets a stream; its texts are
 * then copied, as a whole, to the stream's arena.
 */
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "h2_conn_priv.h"
#include "h2_in_priv.h"
#include "h2_side_priv.h"
#include "h2_stream_priv.h"
#include "mux/head.h"
#include "h1_priv.h"
#include "trace_priv.h"

/* How long a client that was asked to go may begin streams: what it sent before it knew, however
 * slow it is.
 */
#define LAST_CALL_MS 5000

static __thread struct h1_field *fields;
static __thread char *text_room;
static __thread size_t text_size;

bool h2_head_thread_init(void)
{
	text_size = block_size();
	text_room = malloc(H2_HEAD_TEXT_ROOM(text_size));
	fields = malloc(H2_HEAD_FIELD_ROOM(h1_scratch_count) * sizeof(*fields));
	return text_room && fields;
}

void h2_head_thread_fini(void)
{
	free(text_room);
	free(fields);
	text_room = NULL;
	fields = NULL;
}

/* Decodes into the thread's buffers. */
enum h2_head_status h2_head_read(struct h2_conn *h, struct slice block, enum h2_head_kind kind,
				  unsigned options, struct h2_head *head)
{
	size_t max = h->settings->head_max < text_size ? h->settings->head_max : text_size;

	*head = (struct h2_head){
		.fields = fields, .field_capacity = (uint16_t)h1_scratch_count,
		.list_max = (uint32_t)max, .text_max = (uint32_t)text_size, .text = text_room,
	};
	if (h->settings->options & MUX_OPT_UNSAFE)
		options |= H2_HEAD_OPT_UNSAFE;
	return h2_head_decode(&h->decoder, block, kind, options, head);
}

/* --- requests --------------------------------------------------------------------------------- */

/* False: no memory. */
static bool fill_request(struct http_msg *m, struct h2_head *head, bool end_stream)
{
	if (!mux_head_request(m, head, end_stream))
		return false;
	m->version = 20;
	m->version_text = SLICE("HTTP/2.0");
	return slice_is_none(head->protocol) || mux_head_upgrade(m, head);
}

/* Notes of the request what the answer's framing depends on. */
static void note_request(struct h2_stream *s, const struct h2_head *head, bool end_stream)
{
	if (head->method_id == H1_METHOD_CONNECT) {
		s->flags |= H2S_FL_CONNECT | H2S_FL_EARLY;
		if (!slice_is_none(head->protocol))
			s->flags |= H2S_FL_EXTENDED;
		/* the request ends here; what follows is the tunnel's */
		s->ep->flags |= EP_RX_END;
	} else if (head->flags & H2_HEAD_FL_CONTENT_LENGTH) {
		s->left = head->content_length;
	}
	if (head->method_id == H1_METHOD_HEAD)
		s->flags |= H2S_FL_HEAD;
	if (end_stream) {
		h2s_set_state(s, H2S_HALF_REMOTE);
		if (s->flags & H2S_FL_EARLY)
			s->flags |= H2S_FL_EARLY_END;
		s->ep->flags |= EP_RX_END;
		return;
	}
	h2s_set_state(s, H2S_OPEN);
	h2s_receiving(s);
}

/* Once the connection has had as many streams as it may, those under way are still served. */
static void limit_total(struct h2_conn *h)
{
	const struct h2_limits *t = h->limits;
	uint64_t last = 2 * ((uint64_t)t->total_streams + (unsigned)t->streams) - 1;

	if (!t->total_streams || h->most.number ||
	    h->streams_total < (unsigned)t->total_streams)
		return;
	h->most.number = last < H2_STREAM_MAX ? (uint32_t)last : H2_STREAM_MAX;
	h2c_goaway(h, H2_ERR_NO_ERROR, h->most.number);
}

/* A well-formed request begins a stream. */
static void begin_stream(struct h2_conn *h, struct h2_head *head, bool end_stream)
{
	struct h2_stream *s = h2s_new(h, h->rx.frame.stream);
	struct endpoint *ep = s ? h->user.front->stream_new(h->owner, h->since_ns) : NULL;

	if (!ep) {
		if (s)
			h2s_free(s);
		h2c_reset(h, h->rx.frame.stream, H2_ERR_REFUSED_STREAM);
		return;
	}
	s->ep = ep;
	ep->ops = h->side->stream_ops;
	ep->mux = s;
	timer_set(&h->timer, TIMER_NEVER);
	if (!fill_request(ep->rx_head, head, end_stream))
		ep->flags |= EP_ERROR;
	limit_total(h);
	ep->rx_head_len = (uint32_t)head->list_len;
	ep->rx_bytes += http_msg_size(ep->rx_head);
	ep->flags |= EP_RX_HEAD;
	note_request(s, head, end_stream);
	H2S_TRACE(USER, s, H2_EV(RX_HEAD) | H2_EV(USER_NEW), "received a request");
	h2s_wake_soon(s);
	if (!end_stream)
		h2s_expect_body(s);
}

/* Has a client that was asked to go had the time to know? Without an end to it a client that always
 * has a stream would keep the process for ever.
 */
static bool goes_on(const struct h2_conn *h)
{
	return h->flags & H2C_FL_GOAWAY_SENT && h->goaway.last == H2_STREAM_MAX &&
	       clock_now_ms() > h->goaway.since_ms + LAST_CALL_MS;
}

/* Why a new stream is not taken; NO_ERROR: it is. */
static enum h2_error refusal(struct h2_conn *h)
{
	if (unlikely(h->flags & H2C_FL_LEAVING) && goes_on(h)) {
		h2c_goaway(h, H2_ERR_NO_ERROR, h->last_stream);
		h->flags |= H2C_FL_STOP;
	}

	if (h->flags & H2C_FL_STOP)
		return H2_ERR_REFUSED_STREAM;
	if (h->most.number && h->rx.frame.stream > h->most.number) {
		h2c_error(h, H2_ERR_ENHANCE_YOUR_CALM, "too many streams in all");
		return H2_ERR_REFUSED_STREAM;
	}
	if (h->most.streams && h->stream_count >= h->most.streams) {
		h2c_refused(h, FRONT_BAD_SYNTAX, "too many streams at once");
		return H2_ERR_REFUSED_STREAM;
	}
	return H2_ERR_NO_ERROR;
}

static void on_request(struct h2_conn *h, struct slice block, bool end_stream)
{
	unsigned options = (h->tunes->no_websockets ? 0 : H2_HEAD_OPT_CONNECT) |
			   (end_stream ? H2_HEAD_OPT_END_STREAM : 0);
	enum h2_error no = refusal(h);
	struct h2_head head;

	if (h->state >= H2C_CLOSING)
		return;
	h->last_stream = h->rx.frame.stream;
	if (no)
		options |= H2_HEAD_OPT_DISCARD;
	switch (h2_head_read(h, block, H2_HEAD_REQUEST, options, &head)) {
	case H2_HEAD_OK:
		begin_stream(h, &head, end_stream);
		break;
	case H2_HEAD_BROKEN:
		h2c_error(h, H2_ERR_COMPRESSION_ERROR, hpack_error_text(head.hpack_error));
		break;
	case H2_HEAD_TOO_LARGE:
		h2c_reset(h, h->rx.frame.stream, no ? no : H2_ERR_PROTOCOL_ERROR);
		if (!no)
			h2c_refused(h, FRONT_BAD_TOO_LARGE, "head too large");
		break;
	case H2_HEAD_REFUSED:
		h2c_reset(h, h->rx.frame.stream, no ? no : H2_ERR_PROTOCOL_ERROR);
		if (!no)
			h2c_refused(h, FRONT_BAD_SYNTAX, h2_head_error_text(head.error));
		break;
	}
}

/* --- trailers --------------------------------------------------------------------------------- */

void h2_head_trailers(struct h2_conn *h, struct h2_stream *s, struct slice block, bool end_stream)
{
	enum h2_head_status r;
	struct h2_head head;

	r = h2_head_read(h, block, H2_HEAD_TRAILERS, H2_HEAD_OPT_END_STREAM, &head);
	if (r == H2_HEAD_BROKEN) {
		h2c_error(h, H2_ERR_COMPRESSION_ERROR, hpack_error_text(head.hpack_error));
		return;
	}
	if (s->flags & H2S_FL_RESET)
		return;
	if (r != H2_HEAD_OK || !end_stream || s->flags & H2S_FL_CONNECT ||
	    (s->left != UINT64_MAX && s->left)) {
		h2s_error(s, H2_ERR_PROTOCOL_ERROR, "invalid trailers");
		return;
	}
	mux_head_trailers(s->ep->rx_head, &head);
	s->ep->rx_bytes += http_trailers_size(s->ep->rx_head);
	h2s_ended_remote(s);
	h2s_wake_soon(s);
}

/* Trailers of a stream that we have reset. */
static void late_trailers(struct h2_conn *h, uint32_t id, struct slice block, bool end_stream)
{
	struct h2_head head;
	enum h2_head_status r = h2_head_read(h, block, H2_HEAD_TRAILERS, H2_HEAD_OPT_END_STREAM,
					     &head);

	if (r == H2_HEAD_BROKEN)
		h2c_error(h, H2_ERR_COMPRESSION_ERROR, hpack_error_text(head.hpack_error));
	else
		h2c_cut_trailers(h, id, r == H2_HEAD_OK && end_stream);
}

/* What still comes was on its way, as long as the peer has not reset the stream as well. */
static bool is_reset_by_us(const struct h2_stream *s)
{
	return (s->flags & (H2S_FL_RESET | H2S_FL_PEER_RESET)) == H2S_FL_RESET;
}

bool h2_front_headers_are_due(struct h2_conn *h)
{
	uint32_t id = h->rx.frame.stream;
	struct h2_stream *s;

	if (!(id & 1)) {
		h2c_error(h, H2_ERR_PROTOCOL_ERROR, "HEADERS on a stream of ours");
		return false;
	}
	if (id > h->last_stream)
		return true;
	s = h2s_find(h, id);
	if (s ? s->state == H2S_OPEN || s->state == H2S_HALF_LOCAL || is_reset_by_us(s)
	      : h2c_was_cut(h, id))
		return true;
	h2c_error(h, H2_ERR_STREAM_CLOSED, NULL);
	return false;
}

void h2_front_head_block(struct h2_conn *h, struct slice block, bool end_stream)
{
	uint32_t id = h->rx.frame.stream;
	struct h2_stream *s = id > h->last_stream ? NULL : h2s_find(h, id);

	if (s)
		h2_head_trailers(h, s, block, end_stream);
	else if (id > h->last_stream)
		on_request(h, block, end_stream);
	else
		late_trailers(h, id, block, end_stream);
}
