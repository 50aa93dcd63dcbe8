/* SPDX-License-Identifier: GPL-2.0-or-later */
/* h1_body.c - the HTTP/1 mux: received bodies */
#include "h1_priv.h"


void h1_body_end(struct h1_conn *h)
{
	H1_TRACE(USER, h, H1_EV(RX_DATA) | H1_EV(RX_EOI), "received all of the message");
	h1_set_rx(h, H1_RX_DONE);
	h->ep->flags |= EP_RX_END;
}

/* Bytes that are no body. */
static void h1_body_bad(struct h1_conn *h, const char *text)
{
	h1_back_bad(h, EP_RX_BAD, text);
	if (!(h->flags & H1C_FL_BACK))
		h->ep->status = 400;
}

/* The trailer section must be contiguous: it is parsed when its end is in <in>. */
static bool h1_trailers(struct h1_conn *h)
{
	struct chunk_trailers t = { .fields = h1_scratch_fields,
				    .capacity = (uint16_t)h1_scratch_count };
	struct http_msg *m = h->ep->rx_head;
	struct slice bytes;
	enum h1_status r;

	if (!h->in.block)
		return false;
	bytes = wire_in_bytes(&h->in);
	r = chunk_parse_trailers(bytes, &t);
	if (r == H1_MORE && bytes.len < h->settings->head_max)
		return false;
	if (r != H1_DONE) {
		h1_body_bad(h, h1_error_text(r == H1_ERROR ? t.error : H1_ERR_TRAILER));
		return true;
	}
	if (t.count) {
		m->trailers.list = arena_alloc(m->arena, t.count * sizeof(*t.fields));
		if (m->trailers.list && http_msg_hold(m, h->in.block)) {
			memcpy(m->trailers.list, t.fields, t.count * sizeof(*t.fields));
			m->trailers.count = m->trailers.room = t.count;
		}
	}
	h->in.at += (uint32_t)t.used;
	h->ep->rx_bytes += http_trailers_size(m);
	h1_body_end(h);
	return true;
}

/* Takes payload runs out of chunked bytes in <in>. True: some were used, or the state moved. */
static bool h1_chunks(struct h1_conn *h)
{
	struct endpoint *ep = h->ep;
	bool used = false;

	while (wire_in_has(&h->in)) {
		struct slice bytes = wire_in_bytes(&h->in);
		struct chunk_step step;
		enum h1_status r = chunk_decode(&h->rx.chunk, bytes, &step);

		if (r == H1_ERROR) {
			h1_body_bad(h, h1_error_text(h->rx.chunk.error));
			return true;
		}
		if (step.payload &&
		    !block_queue_add(&ep->rx, h->in.block, bytes.ptr + step.used - step.payload,
				     step.payload)) {
			h1_back_bad(h, EP_RX_BAD, "out of memory");
			ep->status = 500;
			return true;
		}
		h->in.at += (uint32_t)step.used;
		h->flags &= ~(unsigned)H1C_FL_EXPECTS;
		ep->rx_bytes += step.payload;
		used = true;
		if (r == H1_DONE) {
			h1_set_rx(h, H1_RX_TRAILERS);
			return true;
		}
	}
	return used;
}

/* Gives the first <max> bytes of <in> to the stream. */
static void h1_take_in(struct h1_conn *h, uint64_t max)
{
	size_t n = h->in.block->used - h->in.at;

	if (n > max)
		n = (size_t)max;
	if (!block_queue_add(&h->ep->rx, h->in.block, h->in.block->data + h->in.at, n)) {
		h1_back_bad(h, EP_RX_BAD, "out of memory");
		h->ep->status = 500;
		return;
	}
	h->in.at += (uint32_t)n;
	h->flags &= ~(unsigned)H1C_FL_EXPECTS;
	h->ep->rx_bytes += n;
	if (h->rx_state == H1_RX_LENGTH) {
		h->rx.left -= n;
		if (!h->rx.left)
			h1_body_end(h);
	}
}

/* Works on the bytes in <in>. True: something was used or moved. */
bool h1_parse_body(struct h1_conn *h)
{
	H1_TRACE(DATA, h, H1_EV(RX_DATA) | H1_EV(RX_BODY), "reading the body");
	bool moved = false;

	switch (h->rx_state) {
	default:
		return false;
	case H1_RX_LENGTH:
		h1_take_in(h, h->rx.left);
		moved = true;
		break;
	case H1_RX_CHUNKED:
		moved = h1_chunks(h);
		if (h->rx_state == H1_RX_TRAILERS)
			moved = h1_trailers(h) || moved;
		break;
	case H1_RX_TRAILERS:
		moved = h1_trailers(h);
		break;
	case H1_RX_CLOSE:
	case H1_RX_TUNNEL:
		h1_take_in(h, UINT64_MAX);
		moved = true;
		break;
	}
	if (h->in.block && h->in.at == h->in.block->used)
		wire_in_drop(&h->in);
	return moved;
}
