/* SPDX-License-Identifier: GPL-2.0-or-later */
/* h3_send.c - the HTTP/3 mux, sending half: heads, body slices and ends into frames
 *
 * Data passed to QUIC leaves at the end of the loop's turn. A body that QUIC does not accept now
 * stays with its stream, until room is reported.
 */
#include <stdlib.h>
#include "codec/qpack.h"
#include "codec/quic.h"
#include "http/msg.h"
#include "h3_priv.h"
#include "h3_trace.h"

/* What a stream may have unsent in its endpoint before its source is stopped. */
#define TX_HIGH (128 * 1024)
#define FRAME_HEAD_MAX 16
/* Below this, copying is cheaper than holding a block until the client has acknowledged it. */
#define COALESCE_MAX 1024

/* --- heads ------------------------------------------------------------------------------------ */

static bool is_request(const struct h3_stream *s)
{
	return s->conn->back;
}

static bool length_is_kept(const struct h3_stream *s, const struct http_msg *m)
{
	if (m->flags & HTTP_MSG_INTERIM || m->status == 204)
		return false;
	return s->flags & H3S_NO_BODY || m->body == HTTP_BODY_NONE;
}

static bool is_sent(const struct h3_stream *s, const struct http_msg *m, const struct h1_field *f)
{
	if (!f->name.ptr || !h2_field_is_allowed(f->id))
		return false;
	if (is_request(s))
		return h3_request_sends(m, f);
	if (f->id == FIELD_TE || (f->id == FIELD_SEC_WEBSOCKET_ACCEPT && s->flags & H3S_EXTENDED))
		return false;
	return f->id != FIELD_CONTENT_LENGTH || length_is_kept(s, m);
}

static size_t fields_bound(const struct http_fields *f)
{
	size_t n = QPACK_BEGIN_LEN + QPACK_STATUS_BOUND + hpack_field_bound(14, 20);

	for (unsigned i = 0; i < f->count; i++)
		n += hpack_field_bound(f->list[i].name.len, f->list[i].value.len);
	return n;
}

static void put_length(struct hpack_writer *w, uint64_t n)
{
	char number[20], *end = number + sizeof(number), *at = end;

	do
		*--at = (char)('0' + n % 10);
	while (n /= 10);
	qpack_write_field(w, FIELD_CONTENT_LENGTH, SLICE("content-length"),
			  slice_make(at, (size_t)(end - at)));
}

/* Sends a frame whose payload is written. */
static bool put_frame(struct h3_stream *s, uint64_t type, const char *payload, size_t len)
{
	uint8_t head[FRAME_HEAD_MAX], *at = quic_put_varint(head, type);

	at = quic_put_varint(at, len);
	return quic_stream_send_copy(s->quic, head, (size_t)(at - head)) &&
	       quic_stream_send_copy(s->quic, payload, len);
}

static void note_head(struct h3_stream *s, const struct http_msg *m)
{
	s->flags |= H3S_HEAD_SENT;
	s->tx_left = m->body == HTTP_BODY_LENGTH ? m->content_length : UINT64_MAX;
	if (m->body == HTTP_BODY_TUNNEL && s->flags & H3S_HELD) {
		s->flags &= (uint16_t)~H3S_HELD;
		quic_stream_ask(s->quic); /* what has come is read when this turn is over */
	}
	if (is_request(s)) {
		if (m->method == HTTP_METH_HEAD)
			s->flags |= H3S_IS_HEAD;
	} else if (m->body != HTTP_BODY_TUNNEL &&
		   (s->flags & H3S_IS_HEAD || m->status == 204 || m->status == 304)) {
		s->flags |= H3S_NO_BODY;
	}
}

/* False: no memory. */
static bool send_head(struct h3_stream *s)
{
	const struct http_msg *m = s->ep->tx_head;
	size_t bound = fields_bound(&m->fields) + (is_request(s) ? h3_request_bound(s, m) : 0);
	char *room = malloc(bound);
	struct hpack_writer w = { room, room + bound };
	bool length, ok;

	if (!room)
		return false;
	if (!(m->flags & HTTP_MSG_INTERIM))
		note_head(s, m);
	length = m->body == HTTP_BODY_LENGTH && !(s->flags & H3S_NO_BODY) &&
		 !(m->flags & HTTP_MSG_INTERIM);
	qpack_write_begin(&w);
	if (is_request(s))
		h3_request_put(s, &w, m); /* (there is room) */
	else
		qpack_write_status(&w, m->status == 101 ? 200 : m->status);
	for (unsigned i = 0; i < m->fields.count; i++) {
		const struct h1_field *f = &m->fields.list[i];

		if (is_sent(s, m, f))
			qpack_write_field(&w, f->id, f->name, f->value);
	}
	if (length)
		put_length(&w, m->content_length);
	ok = put_frame(s, H3_HEADERS, room, (size_t)(w.at - room));
	free(room);
	H3S_TRACE(PROTO, s, H3_EV(TX_FRAME) | H3_EV(TX_HEADERS) | H3_EV(STREAM_SEND),
		  "sending HEADERS, %u", m->status);
	s->ep->flags &= ~EP_TX_HEAD;
	s->ep->tx_bytes += http_msg_size(m);
	return ok;
}

static bool has_trailers(const struct h3_stream *s)
{
	const struct http_msg *m = s->ep->tx_head;

	return m && m->trailers.count && !(s->flags & H3S_NO_BODY) &&
	       !(s->conn->settings->options & MUX_OPT_DROP_TRAILERS);
}

static bool send_trailers(struct h3_stream *s)
{
	const struct http_fields *t = &s->ep->tx_head->trailers;
	size_t bound = fields_bound(t);
	char *room = malloc(bound);
	struct hpack_writer w = { room, room + bound };
	bool ok;

	if (!room)
		return false;
	qpack_write_begin(&w);
	for (unsigned i = 0; i < t->count; i++)
		if (t->list[i].name.ptr && h2_field_is_allowed(t->list[i].id))
			qpack_write_field(&w, t->list[i].id, t->list[i].name, t->list[i].value);
	ok = put_frame(s, H3_HEADERS, room, (size_t)(w.at - room));
	free(room);
	return ok;
}

/* --- bodies ----------------------------------------------------------------------------------- */

/* Body bytes beyond what the head announced are a fault of the server: they are cut. */
static void cut_body(struct h3_stream *s)
{
	struct endpoint *ep = s->ep;
	struct block_queue kept;

	if (s->flags & H3S_NO_BODY) {
		block_queue_clear(&ep->tx);
	} else if (ep->tx.len > s->tx_left) {
		block_queue_init(&kept);
		block_queue_move_len(&kept, &ep->tx, (size_t)s->tx_left);
		block_queue_clear(&ep->tx);
		ep->tx = kept;
	}
}

/* One DATA frame. False: no memory. */
static bool send_data(struct h3_stream *s, size_t n)
{
	uint8_t bytes[FRAME_HEAD_MAX + COALESCE_MAX], *at = quic_put_varint(bytes, H3_DATA);
	struct block_queue *tx = &s->ep->tx;
	bool copied = n <= COALESCE_MAX;

	at = quic_put_varint(at, n);
	if (copied) {
		block_queue_peek(tx, 0, (char *)at, n);
		block_queue_skip(tx, n);
		at += n;
	}
	if (!quic_stream_send_copy(s->quic, bytes, (size_t)(at - bytes)) ||
	    (!copied && !quic_stream_send(s->quic, tx, n)))
		return false;
	H3S_TRACE(DATA, s, H3_EV(TX_FRAME) | H3_EV(TX_DATA) | H3_EV(STREAM_SEND),
		  "sending DATA, %zu bytes", n);
	s->ep->tx_bytes += n;
	if (s->tx_left != UINT64_MAX)
		s->tx_left -= n;
	return true;
}

static bool send_end(struct h3_stream *s)
{
	s->flags |= H3S_TX_END;
	if (s->tx_left != UINT64_MAX && s->tx_left && !(s->flags & H3S_NO_BODY)) {
		/* shorter than announced: the client must notice */
		s->flags |= H3S_RESET;
		quic_stream_reset(s->quic, is_request(s) ? H3_REQUEST_CANCELLED
							  : H3_INTERNAL_ERROR);
		return true;
	}
	if (has_trailers(s) && !send_trailers(s))
		return false;
	quic_stream_end(s->quic);
	return true;
}

static bool send_body(struct h3_stream *s)
{
	struct endpoint *ep = s->ep;

	cut_body(s);
	while (ep->tx.len) {
		size_t room = quic_stream_room(s->quic), n = ep->tx.len;

		if (!room)
			break;
		if (!send_data(s, n < room ? n : room))
			return false;
	}
	return ep->tx.len || !(ep->flags & EP_TX_END) || send_end(s);
}

static void failed(struct h3_stream *s)
{
	block_queue_clear(&s->ep->tx);
	s->ep->flags = (s->ep->flags & ~EP_TX_HEAD) | EP_ERROR;
}

bool h3_send(struct h3_stream *s)
{
	struct endpoint *ep = s->ep;
	uint32_t before = ep->flags;
	size_t wish = endpoint_tx_high(ep);
	bool ok = s->quic && !(s->flags & H3S_RESET);

	if (ok && ep->flags & EP_TX_HEAD)
		ok = send_head(s);
	if (ok && s->flags & H3S_HEAD_SENT && !(s->flags & H3S_TX_END))
		ok = send_body(s);
	if (!ok) {
		failed(s);
		return true;
	}
	endpoint_tell_full(ep, TX_HIGH < wish ? TX_HIGH : wish, ep->tx.len, ep->tx.count);
	if (s->flags & H3S_TX_END)
		ep->flags |= EP_TX_DONE;
	return ep->flags != before;
}
