/* SPDX-License-Identifier: GPL-2.0-or-later */
/* h1_send.c - the HTTP/1 mux, sending half: heads to text, body slices into frames
 *
 * Nothing here copies a body byte: pieces move from the endpoint's queue to the connection's, with
 * chunk sizes as small pieces between them. A head is written into one block.
 */
#include "base/bug.h"
#include "h1_priv.h"
#include "net/pipe.h"

void h1_set_tx(struct h1_conn *h, enum h1_tx_state to)
{
	h->tx_state = to;
}

/* A block being written; grows by whole blocks when a head is larger than one. */
struct writer {
	struct block *block;
	char *at, *end;
	bool failed;
};

static bool writer_open(struct writer *w, size_t need)
{
	size_t size = block_size();

	w->failed = false;
	w->block = need <= size ? block_new() : block_new_sized(need);
	if (!w->block) {
		w->failed = true;
		return false;
	}
	w->at = w->block->data;
	w->end = w->at + w->block->size;
	return true;
}

static inline void put(struct writer *w, struct slice s)
{
	BUG_ON(s.len > (size_t)(w->end - w->at));
	memcpy(w->at, s.ptr, s.len);
	w->at += s.len;
}

static inline void put_field(struct writer *w, struct slice name, struct slice value)
{
	put(w, name);
	put(w, SLICE(": "));
	if (value.len)
		put(w, value);
	put(w, SLICE("\r\n"));
}

/* How long the text of a head may be at most, with room for what we add. */
static size_t head_size(const struct http_msg *m)
{
	size_t n = m->method_text.len + m->uri.len + m->version_text.len + m->reason.len + 256;

	for (unsigned i = 0; i < m->fields.count; i++)
		n += m->fields.list[i].name.len + m->fields.list[i].value.len + 4;
	return n;
}

static void put_start_line(struct writer *w, const struct http_msg *m)
{
	if (m->flags & HTTP_MSG_RESPONSE) {
		char code[4] = { (char)('0' + m->status / 100 % 10),
				 (char)('0' + m->status / 10 % 10),
				 (char)('0' + m->status % 10), ' ' };

		put(w, SLICE("HTTP/1.1 "));
		put(w, slice_make(code, 4));
		put(w, m->reason);
	} else {
		put(w, m->method_text);
		put(w, SLICE(" "));
		put(w, m->uri);
		put(w, m->version == 10 ? SLICE(" HTTP/1.0") : SLICE(" HTTP/1.1"));
	}
	put(w, SLICE("\r\n"));
}

/* How the message will be delimited towards this peer, and whether the connection may stay. */
static enum h1_tx_state choose_framing(struct h1_conn *h, const struct http_msg *m)
{
	bool response = m->flags & HTTP_MSG_RESPONSE;

	switch (m->body) {
	case HTTP_BODY_LENGTH:
		h->tx_left = m->content_length;
		return H1_TX_LENGTH;
	case HTTP_BODY_CHUNKED:
	case HTTP_BODY_CLOSE:
		if (response && (h->flags & H1C_FL_CLIENT_1_0)) {
			h->flags |= H1C_FL_CLOSE;
			return H1_TX_CLOSE;
		}
		return H1_TX_CHUNKED;
	case HTTP_BODY_TUNNEL:
		return H1_TX_TUNNEL;
	default:
		h->tx_left = 0;
		return H1_TX_LENGTH;
	}
}

/* Does an answer to this request, or this status, describe a body that is not sent? */
static bool head_without_body(const struct h1_conn *h, const struct http_msg *m)
{
	return (m->flags & HTTP_MSG_RESPONSE) && (h->flags & H1C_FL_HEAD_REQ);
}

/* The Connection field towards the peer; slice_none() when its absence says the right thing. */
static struct slice connection_value(const struct h1_conn *h, const struct http_msg *m)
{
	if (m->flags & HTTP_MSG_UPGRADE &&
	    (!(m->flags & HTTP_MSG_RESPONSE) || m->body == HTTP_BODY_TUNNEL))
		return SLICE("upgrade");
	if (m->body == HTTP_BODY_TUNNEL)
		return slice_none();
	if (h->flags & H1C_FL_BACK) {
		if (h->flags & H1C_FL_CLOSE)
			return m->version == 10 ? slice_none() : SLICE("close");
		return m->version == 10 ? SLICE("keep-alive") : slice_none();
	}
	if (h->flags & H1C_FL_CLOSE)
		return h->flags & H1C_FL_CLIENT_1_0 ? slice_none() : SLICE("close");
	return h->flags & H1C_FL_CLIENT_1_0 ? SLICE("keep-alive") : slice_none();
}

/* Fields that are written from the framing that was chosen, not from the list. */
static bool field_is_framing(const struct http_msg *m, const struct h1_field *f, bool chunked,
			     bool bodyless)
{
	switch (f->id) {
	case FIELD_CONNECTION:
	case FIELD_PROXY_CONNECTION:
	case FIELD_KEEP_ALIVE:
		return true;
	case FIELD_UPGRADE:
		return !(m->flags & HTTP_MSG_UPGRADE);
	case FIELD_TRANSFER_ENCODING:
		return !bodyless;
	case FIELD_CONTENT_LENGTH:
		return chunked;
	}
	return false;
}

static void put_fields(struct writer *w, struct h1_conn *h, const struct http_msg *m)
{
	bool bodyless = head_without_body(h, m);
	bool chunked = h->tx_state == H1_TX_CHUNKED && !bodyless;
	struct slice connection = connection_value(h, m);

	for (unsigned i = 0; i < m->fields.count; i++) {
		const struct h1_field *f = &m->fields.list[i];

		if (!f->name.ptr)
			continue;
		if (f->id == FIELD_TRANSFER_ENCODING && chunked) {
			put(w, SLICE("transfer-encoding: chunked\r\n"));
			chunked = false;
			continue;
		}
		if (f->id && field_is_framing(m, f, h->tx_state == H1_TX_CHUNKED, bodyless))
			continue;
		put_field(w, f->name, f->value);
	}
	if (chunked)
		put(w, SLICE("transfer-encoding: chunked\r\n"));
	if (!slice_is_none(connection))
		put_field(w, SLICE("connection"), connection);
	put(w, SLICE("\r\n"));
}

/* Will the connection serve another message after this one? Decided before the head is written. */
static void decide_persistence(struct h1_conn *h, const struct http_msg *m)
{
	if (h->ep->flags & EP_CLOSE || h->flags & H1C_FL_STOP)
		h->flags |= H1C_FL_CLOSE;
	if (m->flags & HTTP_MSG_INTERIM || m->body == HTTP_BODY_TUNNEL)
		return;
	if (!(h->flags & H1C_FL_BACK) && !(h->flags & H1C_FL_KEEP_RX))
		h->flags |= H1C_FL_CLOSE;
	/* an answer before the end of the request: the rest would be taken for a request */
	if (!(h->flags & H1C_FL_BACK) && h->rx_state != H1_RX_DONE)
		h->flags |= H1C_FL_CLOSE;
}

static void note_request(struct h1_conn *h, const struct http_msg *m)
{
	h->flags &= ~(H1C_FL_HEAD_REQ | H1C_FL_CONNECT_REQ | H1C_FL_UPGRADE_REQ);
	if (m->method == HTTP_METH_HEAD)
		h->flags |= H1C_FL_HEAD_REQ;
	if (m->method == HTTP_METH_CONNECT)
		h->flags |= H1C_FL_CONNECT_REQ;
	if (m->flags & HTTP_MSG_UPGRADE)
		h->flags |= H1C_FL_UPGRADE_REQ;
}

/* Writes a head. False: no memory, the connection is unusable. */
static bool send_head(struct h1_conn *h)
{
	struct http_msg *m = h->ep->tx_head;
	struct writer w;
	bool ok;

	if (h->flags & H1C_FL_BACK)
		note_request(h, m);
	decide_persistence(h, m);
	if (m->flags & HTTP_MSG_INTERIM)
		h->tx_left = 0;
	else
		h1_set_tx(h, choose_framing(h, m));
	if (!writer_open(&w, head_size(m)))
		return false;
	put_start_line(&w, m);
	if (m->flags & HTTP_MSG_INTERIM) {
		for (unsigned i = 0; i < m->fields.count; i++)
			if (m->fields.list[i].name.ptr)
				put_field(&w, m->fields.list[i].name, m->fields.list[i].value);
		put(&w, SLICE("\r\n"));
	} else {
		put_fields(&w, h, m);
		if (head_without_body(h, m) && h->tx_state != H1_TX_TUNNEL) {
			h1_set_tx(h, H1_TX_LENGTH);
			h->tx_left = 0;
		}
		h->flags |= H1C_FL_HEAD_SENT;
	}
	w.block->used = (uint32_t)(w.at - w.block->data);
	ok = block_queue_add(&h->out, w.block, w.block->data, w.block->used);
	block_drop(w.block);
	h->ep->flags &= ~EP_TX_HEAD;
	return ok;
}

/* Below this, copying behind the head is cheaper than one more vector of the system call. */
#define COALESCE_MAX 1024

/* Moves body bytes to what is sent: pieces, or a copy when they are few. */
static bool out_move(struct h1_conn *h, struct block_queue *body)
{
	const struct piece *p;
	bool ok = true;

	if (body->len > COALESCE_MAX || !h->out.len) {
		block_queue_move(&h->out, body);
		return true;
	}
	for (p = body->first; p && ok; p = p->next)
		ok = block_queue_add_copy(&h->out, slice_make(p->ptr, p->len));
	block_queue_clear(body);
	return ok;
}

/* Moves body bytes between the two queues with a chunk's frame around all that is there. */
static bool send_chunk(struct h1_conn *h, struct block_queue *body)
{
	char line[CHUNK_SIZE_LINE_MAX];
	size_t n = chunk_put_size(line, body->len);

	if (!block_queue_add_copy(&h->out, slice_make(line, n)))
		return false;
	return out_move(h, body) && block_queue_add_copy(&h->out, SLICE("\r\n"));
}

static bool send_last_chunk(struct h1_conn *h)
{
	struct endpoint *ep = h->ep;
	struct http_fields *t = ep->tx_head ? &ep->tx_head->trailers : NULL;

	if (!t || !t->count)
		return block_queue_add_copy(&h->out, SLICE("0\r\n\r\n"));
	if (!block_queue_add_static(&h->out, SLICE("0\r\n")))
		return false;
	for (unsigned i = 0; i < t->count; i++) {
		struct h1_field *f = &t->list[i];

		if (!f->name.ptr)
			continue;
		if (!block_queue_add_copy(&h->out, f->name) ||
		    !block_queue_add_static(&h->out, SLICE(": ")) ||
		    !block_queue_add_copy(&h->out, f->value) ||
		    !block_queue_add_static(&h->out, SLICE("\r\n")))
			return false;
	}
	return block_queue_add_static(&h->out, SLICE("\r\n"));
}

/* Body bytes that the framing announced; more than that is a fault of who made them and is cut. */
static bool send_length(struct h1_conn *h, struct block_queue *body)
{
	if (body->len > h->tx_left) {
		size_t extra = body->len - h->tx_left;

		h->flags |= H1C_FL_CLOSE;
		if (!block_queue_move_len(&h->out, body, h->tx_left))
			return false;
		block_queue_skip(body, extra);
		h->tx_left = 0;
		return true;
	}
	h->tx_left -= body->len;
	return out_move(h, body);
}

static bool send_body(struct h1_conn *h)
{
	struct endpoint *ep = h->ep;
	bool ok = true;

	if (ep->tx.len) {
		if (h->tx_state == H1_TX_LENGTH)
			ok = send_length(h, &ep->tx);
		else if (h->tx_state == H1_TX_CHUNKED)
			ok = send_chunk(h, &ep->tx);
		else
			block_queue_move(&h->out, &ep->tx);
	}
	if (!ok || !(ep->flags & EP_TX_END) || (ep->tx_pipe && ep->tx_pipe->bytes))
		return ok;
	if (h->tx_state == H1_TX_CHUNKED)
		ok = send_last_chunk(h);
	else if (h->tx_state == H1_TX_CLOSE || h->tx_state == H1_TX_TUNNEL)
		h->flags |= H1C_FL_SHUT_AFTER;
	else if (h->tx_left)
		h->flags |= H1C_FL_CLOSE; /* shorter than announced: the peer must notice */
	h1_set_tx(h, H1_TX_DONE);
	return ok;
}

bool h1_flush(struct h1_conn *h)
{
	struct conn *c = h->conn;
	bool more = h->ep && h->ep->flags & EP_TX_MORE;

	if (c->flags & CONN_ERROR)
		return false;
	if (h->out.len) {
		if (!(c->flags & CONN_CAN_SEND))
			return true;
		if (conn_send(c, &h->out, more) == IO_ERR)
			return false;
	}
	return true;
}

/* Spliced body bytes: after what is in <out>. */
static bool send_pipe(struct h1_conn *h)
{
	struct endpoint *ep = h->ep;
	size_t sent = 0;
	enum io r;

	if (!ep->tx_pipe || !ep->tx_pipe->bytes || h->out.len || !(h->conn->flags & CONN_CAN_SEND))
		return true;
	r = conn_splice_out(h->conn, ep->tx_pipe, &sent);
	ep->tx_bytes += sent;
	if (h->tx_state == H1_TX_LENGTH)
		h->tx_left -= sent < h->tx_left ? sent : h->tx_left;
	return r != IO_ERR;
}

static void tx_failed(struct h1_conn *h)
{
	block_queue_clear(&h->out);
	h->flags |= H1C_FL_CLOSE;
	h->ep->flags |= EP_ERROR;
}

/* Tells the stream how full we are and whether all is gone. */
static void tx_report(struct h1_conn *h)
{
	struct endpoint *ep = h->ep;
	size_t pipe = ep->tx_pipe ? ep->tx_pipe->bytes : 0;

	if (h->out.len > ENDPOINT_TX_HIGH || h->out.count > 256)
		ep->flags |= EP_TX_FULL;
	else if (h->out.len < ENDPOINT_TX_LOW)
		ep->flags &= ~EP_TX_FULL;
	if (h->tx_state == H1_TX_DONE && !h->out.len && !pipe && !(ep->flags & EP_TX_HEAD)) {
		if (h->flags & H1C_FL_SHUT_AFTER)
			conn_shut_write(h->conn);
		ep->flags |= EP_TX_DONE;
	}
}

void h1_send_pending(struct h1_conn *h)
{
	struct endpoint *ep = h->ep;
	size_t before = h->out.len;
	bool ok = true;

	if (h->conn->flags & (CONN_CONNECTING | CONN_HANDSHAKE))
		return;
	if (h->conn->flags & CONN_ERROR) {
		tx_failed(h);
		return;
	}
	if (ep->flags & EP_TX_HEAD)
		ok = send_head(h);
	if (ok && h->flags & H1C_FL_HEAD_SENT && h->tx_state != H1_TX_DONE)
		ok = send_body(h);
	ep->tx_bytes += h->out.len - before;
	ok = ok && h1_flush(h) && send_pipe(h);
	/* the end behind a pipe that is now empty */
	if (ok && ep->tx_pipe && !ep->tx_pipe->bytes && h->flags & H1C_FL_HEAD_SENT &&
	    h->tx_state != H1_TX_DONE)
		ok = send_body(h) && h1_flush(h);
	if (!ok)
		tx_failed(h);
	else
		tx_report(h);
}
