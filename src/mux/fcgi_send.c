/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fcgi_send.c - the FastCGI mux: requests out
 *
 * A request is BEGIN_REQUEST, its parameters in one record, their end, its body in records of
 * STDIN, and their end. Bytes of the body are not copied: record heads are inserted before the
 * pieces.
 */
#include "fcgi_priv.h"

/* Bytes of a body in one record at most; a multiple of what blocks have. */
#define STDIN_MAX 32768

static bool add_record(struct fcgi_conn *h, enum fcgi_type type, uint16_t id, size_t length)
{
	struct fcgi_head head = { .type = (uint8_t)type, .request = id,
				  .length = (uint16_t)length };
	unsigned char bytes[FCGI_HEAD_SIZE];

	fcgi_head_put(&head, bytes);
	return block_queue_add_copy(&h->out, slice_make((const char *)bytes, sizeof(bytes)));
}

void fcgi_flush(struct fcgi_conn *h)
{
	struct conn *c = h->conn;

	if (h->flags & FCGI_FL_BROKEN || !h->out.len || !(c->flags & CONN_CAN_SEND) ||
	    c->flags & (CONN_CONNECTING | CONN_HANDSHAKE))
		return;
	if (c->flags & CONN_ERROR || conn_post(c, &h->out, false) == IO_ERR)
		fcgi_break(h, EP_ERROR | EP_RX_ABORT, "the connection failed");
}

void fcgi_send_abort(struct fcgi_stream *s)
{
	add_record(s->conn, FCGI_ABORT_REQUEST, s->id, 0);
	fcgi_flush(s->conn);
}

/* The question for its limits, once. */
static bool ask_values(struct fcgi_conn *h)
{
	struct strbuf b;
	bool ok;

	if (h->flags & FCGI_FL_ASKED || !h->settings->fcgi->get_values)
		return true;
	strbuf_init(&b);
	fcgi_add_get_values(&b);
	ok = !b.overflow && block_queue_add_copy(&h->out, strbuf_slice(&b));
	strbuf_fini(&b);
	h->flags |= FCGI_FL_ASKED | FCGI_FL_WAITS;
	return ok;
}

/* Is there a place for one more request? */
static bool may_begin(const struct fcgi_conn *h)
{
	return !(h->flags & FCGI_FL_WAITS) && h->active < h->max && h->next_id <= UINT16_MAX;
}

/* BEGIN_REQUEST and PARAMS. False: the application cannot be asked for that. */
static bool make_head(struct fcgi_stream *s, struct strbuf *b)
{
	const struct fcgi_peer *peer = s->conn->settings->fcgi;
	const struct http_msg *m = s->ep->tx_head;
	uint16_t id = (uint16_t)s->conn->next_id;
	size_t start;

	if (m->body != HTTP_BODY_NONE && m->body != HTTP_BODY_LENGTH)
		return false;
	fcgi_add_begin_request(b, id, peer->keep_conn);
	start = fcgi_begin(b, FCGI_PARAMS, id);
	if (!peer->params(peer, s->ep, b) || !fcgi_end(b, start))
		return false;
	fcgi_add_empty(b, FCGI_PARAMS, id);
	return !b->overflow;
}

/* The head of one that does not fit a block. */
static void add_large_head(struct fcgi_stream *s)
{
	struct strbuf b;

	strbuf_init(&b);
	if (!make_head(s, &b))
		fcgis_fail(s, EP_TX_REFUSED | EP_RX_ABORT, "no FastCGI for this request");
	else if (!block_queue_add_copy(&s->conn->out, strbuf_slice(&b)))
		fcgis_fail(s, EP_RX_ABORT, "out of memory");
	strbuf_fini(&b);
}

/* Written where it is sent from. */
static void add_request(struct fcgi_stream *s)
{
	struct block *block = block_new();
	struct strbuf b;

	if (!block) {
		fcgis_fail(s, EP_RX_ABORT, "out of memory");
		return;
	}
	strbuf_init_fixed(&b, block->data, block->size);
	if (make_head(s, &b)) {
		block->used = (uint32_t)b.len;
		if (!block_queue_add(&s->conn->out, block, block->data, b.len))
			fcgis_fail(s, EP_RX_ABORT, "out of memory");
	} else if (b.overflow) {
		add_large_head(s);
	} else {
		fcgis_fail(s, EP_TX_REFUSED | EP_RX_ABORT, "no FastCGI for this request");
	}
	block_drop(block);
}

/* False: the request is refused, or waits. */
static bool begin(struct fcgi_stream *s)
{
	struct fcgi_conn *h = s->conn;
	struct endpoint *ep = s->ep;

	if (!(ep->flags & EP_TX_HEAD))
		return false;
	if (!h->settings->fcgi || !ask_values(h)) {
		fcgis_fail(s, EP_RX_ABORT, "no application");
		return false;
	}
	if (!may_begin(h))
		return false;
	add_request(s);
	if (s->flags & FCGIS_FL_RX_END)
		return false;
	if (ep->tx_head->method == HTTP_METH_HEAD)
		s->flags |= FCGIS_FL_TO_HEAD;
	if (ep->tx_head->version <= 10)
		s->flags |= FCGIS_FL_OLD;
	s->id = (uint16_t)h->next_id;
	h->next_id += 2;
	h->active++;
	s->flags |= FCGIS_FL_BEGUN;
	if (!h->settings->fcgi->keep_conn)
		h->flags |= FCGI_FL_STOP;
	ep->flags &= ~EP_TX_HEAD;
	return true;
}

static bool send_body(struct fcgi_stream *s)
{
	struct fcgi_conn *h = s->conn;
	struct endpoint *ep = s->ep;

	if (s->flags & (FCGIS_FL_ENDED | FCGIS_FL_TX_END)) {
		block_queue_clear(&ep->tx); /* the other end does not read it any more */
	}
	while (ep->tx.len) {
		size_t n = ep->tx.len < STDIN_MAX ? ep->tx.len : STDIN_MAX;

		if (!add_record(h, FCGI_STDIN, s->id, n) ||
		    !block_queue_move_len(&h->out, &ep->tx, n))
			return false;
	}
	if (!(ep->flags & EP_TX_END) || s->flags & FCGIS_FL_TX_END)
		return true;
	s->flags |= FCGIS_FL_TX_END;
	return s->flags & FCGIS_FL_ENDED || add_record(h, FCGI_STDIN, s->id, 0);
}

void fcgi_send(struct fcgi_stream *s)
{
	struct fcgi_conn *h = s->conn;
	struct endpoint *ep = s->ep;
	size_t before = h->out.len;

	if (h->conn->flags & (CONN_CONNECTING | CONN_HANDSHAKE) || s->flags & FCGIS_FL_RX_END)
		goto end;
	if (h->flags & FCGI_FL_BROKEN || h->conn->flags & CONN_ERROR) {
		ep->flags |= EP_ERROR;
		return;
	}
	if (!(s->flags & FCGIS_FL_BEGUN) && !begin(s)) {
		fcgi_flush(h);
		return;
	}
	if (!send_body(s)) {
		fcgi_break(h, EP_ERROR | EP_RX_ABORT, "out of memory");
		return;
	}
	ep->tx_bytes += h->out.len - before;
	fcgi_flush(h);
end:
	if (s->flags & FCGIS_FL_RX_END)
		block_queue_clear(&ep->tx);
	endpoint_tell_full(ep, endpoint_tx_high(ep), h->out.len, h->out.count);
	if (!h->out.len && (s->flags & FCGIS_FL_TX_END ||
			    (s->flags & FCGIS_FL_RX_END && ep->flags & EP_TX_END)))
		ep->flags |= EP_TX_DONE;
}
