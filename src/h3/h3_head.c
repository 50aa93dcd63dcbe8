/* SPDX-License-Identifier: GPL-2.0-or-later */
/* h3_head.c - the HTTP/3 mux: received heads become messages (RFC 9114 4)
 *
 * A field section is decoded into buffers of the thread; only a head that is well-formed gets a
 * stream, whose arena its texts are then copied to.
 */
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "codec/qpack.h"
#include "http/msg.h"
#include "mux/head.h"
#include "h3_priv.h"

static __thread struct {
	char *section, *text;
	struct h1_field *fields;
	size_t size;
	unsigned field_count;
} me;

void h3_head_thread_fini(void)
{
	free(me.section);
	free(me.text);
	free(me.fields);
	memset(&me, 0, sizeof(me));
}

size_t h3_head_max(const struct h3_conn *h)
{
	size_t size = block_size();

	return h->settings->head_max < size ? h->settings->head_max : size;
}

/* Buffers for heads of this size. They are kept. */
static bool make_room(const struct mux_settings *set)
{
	size_t size = block_size();

	if (me.size >= size && me.field_count >= set->fields_max)
		return true;
	h3_head_thread_fini();
	me.section = malloc(size);
	me.text = malloc(H2_HEAD_TEXT_ROOM(size));
	me.fields = malloc(H2_HEAD_FIELD_ROOM(set->fields_max) * sizeof(*me.fields));
	me.size = size;
	me.field_count = set->fields_max;
	if (me.section && me.text && me.fields)
		return true;
	h3_head_thread_fini();
	return false;
}

static enum h2_head_status decode(const struct h3_conn *h, const struct block_queue *q, size_t len,
				  enum h2_head_kind kind, unsigned options, struct h2_head *head)
{
	*head = (struct h2_head){
		.fields = me.fields, .field_capacity = (uint16_t)(me.field_count - 1),
		.list_max = (uint32_t)h3_head_max(h), .text_max = (uint32_t)me.size,
		.text = me.text,
	};
	if (h->settings->options & MUX_OPT_UNSAFE)
		options |= H2_HEAD_OPT_UNSAFE;
	block_queue_peek(q, 0, me.section, len);
	return h3_head_decode(slice_make(me.section, len), kind, options, head);
}

/* --- requests --------------------------------------------------------------------------------- */

/* False: no memory. */
static bool fill_request(struct http_msg *m, struct h2_head *head, bool ended)
{
	if (!mux_head_request(m, head, ended))
		return false;
	m->version = 30;
	m->version_text = SLICE("HTTP/3.0");
	return slice_is_none(head->protocol) || mux_head_upgrade(m, head);
}

static void begin_request(struct h3_stream *s, struct h2_head *head, bool ended)
{
	struct h3_conn *h = s->conn;
	struct endpoint *ep = h->user->stream_new(h->owner, s->since_ns);

	if (!ep) {
		h3_stream_fail(s, H3_REQUEST_REJECTED, "out of memory");
		return;
	}
	s->ep = ep;
	h->requests++;
	timer_set(&h->timer, TIMER_NEVER);
	ep->ops = &h3_endpoint;
	ep->mux = s;
	s->flags |= H3S_HEAD_GOT;
	if (head->method_id == H1_METHOD_HEAD)
		s->flags |= H3S_IS_HEAD;
	if (head->method_id == H1_METHOD_CONNECT) {
		/* the request ends here; what follows is the tunnel's */
		s->flags |= H3S_EXTENDED | H3S_HELD;
		ep->flags |= EP_RX_END;
	} else if (head->flags & H2_HEAD_FL_CONTENT_LENGTH) {
		s->left = head->content_length;
	}
	ep->rx_head_len = (uint32_t)head->list_len;
	if (!fill_request(ep->rx_head, head, ended))
		ep->flags |= EP_ERROR;
	ep->rx_bytes += http_msg_size(ep->rx_head);
	ep->flags |= EP_RX_HEAD;
}

static void on_request(struct h3_stream *s, const struct block_queue *q, size_t len, bool ended)
{
	unsigned options = H2_HEAD_OPT_CONNECT | (ended ? H2_HEAD_OPT_END_STREAM : 0);
	struct h3_conn *h = s->conn;
	struct h2_head head;

	switch (decode(h, q, len, H2_HEAD_REQUEST, options, &head)) {
	case H2_HEAD_OK:
		if (head.method_id == H1_METHOD_CONNECT && slice_is_none(head.protocol))
			h3_stream_fail(s, H3_REQUEST_REJECTED, "CONNECT is not supported");
		else
			begin_request(s, &head, ended);
		break;
	case H2_HEAD_BROKEN:
		h3_fail(h, QPACK_DECOMPRESSION_FAILED, hpack_error_text(head.hpack_error));
		break;
	case H2_HEAD_TOO_LARGE:
		h3_stream_fail(s, H3_EXCESSIVE_LOAD, "head too large");
		break;
	case H2_HEAD_REFUSED:
		h3_stream_fail(s, H3_MESSAGE_ERROR, h2_head_error_text(head.error));
		break;
	}
}

/* --- answers ---------------------------------------------------------------------------------- */

static uint8_t body_of(const struct h3_stream *s, const struct h2_head *head, bool ended)
{
	if (ended || s->flags & H3S_IS_HEAD || head->status < 200 || head->status == 204 ||
	    head->status == 304)
		return HTTP_BODY_NONE;
	return head->flags & H2_HEAD_FL_CONTENT_LENGTH ? HTTP_BODY_LENGTH : HTTP_BODY_CHUNKED;
}

/* False: no memory. */
static bool fill_response(struct h3_stream *s, struct http_msg *m, struct h2_head *head, bool ended)
{
	if (!mux_head_fields(m, head))
		return false;
	m->flags = HTTP_MSG_RESPONSE;
	if (head->status < 200)
		m->flags |= HTTP_MSG_INTERIM;
	m->version = 30;
	m->version_text = SLICE("HTTP/3.0");
	m->status = head->status;
	m->body = body_of(s, head, ended);
	m->content_length = head->content_length;
	m->reason = http_reason(m->status);
	return true;
}

static void take_response(struct h3_stream *s, struct h2_head *head, bool ended)
{
	struct endpoint *ep = s->ep;
	bool interim = head->status < 200;

	if (interim && ended) {
		h3_stream_fail(s, H3_MESSAGE_ERROR, "an interim answer that ends the stream");
		return;
	}
	if (!fill_response(s, ep->rx_head, head, ended)) {
		h3_stream_fail(s, H3_INTERNAL_ERROR, "out of memory");
		return;
	}
	ep->rx_head_len = (uint32_t)head->list_len;
	/* (its reason is none of the server's) */
	ep->rx_bytes += http_msg_size(ep->rx_head) - ep->rx_head->reason.len;
	ep->flags |= EP_RX_HEAD | EP_RX_ANY;
	if (interim)
		return;
	s->flags |= H3S_HEAD_GOT;
	if (ep->rx_head->body == HTTP_BODY_LENGTH)
		s->left = head->content_length;
	else if (ep->rx_head->body == HTTP_BODY_NONE)
		s->left = 0;
}

static void on_response(struct h3_stream *s, const struct block_queue *q, size_t len, bool ended)
{
	unsigned options = (ended ? H2_HEAD_OPT_END_STREAM : 0) |
			   (s->flags & H3S_IS_HEAD ? H2_HEAD_OPT_TO_HEAD : 0);
	struct h2_head head;

	switch (decode(s->conn, q, len, H2_HEAD_RESPONSE, options, &head)) {
	case H2_HEAD_OK:
		take_response(s, &head, ended);
		break;
	case H2_HEAD_BROKEN:
		h3_fail(s->conn, QPACK_DECOMPRESSION_FAILED, hpack_error_text(head.hpack_error));
		break;
	case H2_HEAD_TOO_LARGE:
		h3_stream_fail(s, H3_EXCESSIVE_LOAD, "head too large");
		break;
	case H2_HEAD_REFUSED:
		h3_stream_fail(s, H3_MESSAGE_ERROR, h2_head_error_text(head.error));
		break;
	}
}

static void on_trailers(struct h3_stream *s, const struct block_queue *q, size_t len)
{
	struct h2_head head;

	s->flags |= H3S_TRAILERS_GOT;
	switch (decode(s->conn, q, len, H2_HEAD_TRAILERS, H2_HEAD_OPT_END_STREAM, &head)) {
	case H2_HEAD_OK:
		break;
	case H2_HEAD_BROKEN:
		h3_fail(s->conn, QPACK_DECOMPRESSION_FAILED, hpack_error_text(head.hpack_error));
		return;
	default:
		h3_stream_fail(s, H3_MESSAGE_ERROR, "invalid trailers");
		return;
	}
	mux_head_trailers(s->ep->rx_head, &head);
	s->ep->rx_bytes += http_trailers_size(s->ep->rx_head);
}

void h3_head(struct h3_stream *s, const struct block_queue *q, size_t len, bool ended)
{
	if (!make_room(s->conn->settings))
		h3_stream_fail(s, H3_INTERNAL_ERROR, "out of memory");
	else if (s->flags & H3S_HEAD_GOT)
		on_trailers(s, q, len);
	else if (s->conn->back)
		on_response(s, q, len, ended);
	else
		on_request(s, q, len, ended);
}
