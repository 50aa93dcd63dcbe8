/* SPDX-License-Identifier: GPL-2.0-or-later */
/* h1_send.c - the HTTP/1 mux, sending half: heads to text, body slices into frames
 *
 * Nothing here copies a body byte: pieces move from the endpoint's queue to the connection's, with
 * chunk sizes as small pieces between them. A head is written into one block.
 */
#include "base/bug.h"
#include "base/strbuf.h"
#include "h1_priv.h"
#include "mux/h1_case.h"
#include "net/pipe.h"

/* A block being written; grows by whole blocks when a head is larger than one. Lines that stand in
 * a received head as they are to be written, one behind the other, are a run: one copy, when the
 * run ends. All but put_line() writes behind what was written, so end_run() goes before.
 */
struct writer {
	struct block *block;
	char *at, *end;
	const char *run, *run_end;    /* the run, without the end of its last line; or NULL */
	const struct h1_case *adjust; /* names in another case, or NULL */
};

static bool writer_open(struct writer *w, size_t need, const struct h1_case *adjust)
{
	size_t size = block_size();

	w->adjust = adjust;
	w->run = w->run_end = NULL;
	w->block = need <= size ? block_new() : block_new_sized(need);
	if (!w->block)
		return false;
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
	char *at = w->at;

	if (unlikely(w->adjust != NULL))
		name = h1_case_adjust(w->adjust, name);
	BUG_ON(name.len + value.len + 4 > (size_t)(w->end - at));
	at = mempcpy(at, name.ptr, name.len);
	*at++ = ':';
	*at++ = ' ';
	if (value.len)
		at = mempcpy(at, value.ptr, value.len);
	*at++ = '\r';
	*at++ = '\n';
	w->at = at;
}

static inline void end_run(struct writer *w)
{
	if (!w->run)
		return;
	put(w, slice_make(w->run, (size_t)(w->run_end - w->run)));
	put(w, SLICE("\r\n"));
	w->run = w->run_end = NULL;
}

/* Takes the line from <start> up to <stop> into the run if it is the next one, else begins one. */
static inline void extend_run(struct writer *w, const char *start, const char *stop)
{
	if (w->run && (start != w->run_end + 2 || memcmp(w->run_end, "\r\n", 2) != 0))
		end_run(w);
	if (!w->run)
		w->run = start;
	w->run_end = stop;
}

/* Writes a field of the list as it is. */
static inline void put_line(struct writer *w, const struct h1_field *f)
{
	const char *name_end = f->name.ptr + f->name.len;

	if (likely(f->value.ptr == name_end + 2 && memcmp(name_end, ": ", 2) == 0 && !w->adjust)) {
		extend_run(w, f->name.ptr, f->value.ptr + f->value.len);
	} else {
		end_run(w);
		put_field(w, f->name, f->value);
	}
}

/* What is known of a head before it is written. */
struct head_plan {
	size_t size;          /* of the text, at most, with room for what we add */
	bool close;           /* a rule put "close" into Connection */
	bool has_upgrade, upgrade_token;
};

/* What the Connection fields say now: what the peer meant for us is no longer there. */
static void plan_connection(struct head_plan *plan, struct slice list)
{
	struct slice element;

	while (h1_list_next(&list, &element)) {
		if (slice_eq_nocase(element, SLICE("close")))
			plan->close = true;
		else if (slice_eq_nocase(element, SLICE("upgrade")))
			plan->upgrade_token = true;
	}
}

/* Are its lines still what its first fields say? */
static inline bool has_lines(const struct http_msg *m)
{
	return (m->flags & (HTTP_MSG_LINES | HTTP_MSG_EDITED)) == HTTP_MSG_LINES;
}

/* The fields behind the lines, none of which is a hop field. */
static __attribute__((noinline)) size_t added_size(const struct http_msg *m)
{
	size_t size = 0;

	for (unsigned i = m->line_count; i < m->fields.count; i++)
		size += m->fields.list[i].name.len + m->fields.list[i].value.len + 4;
	return size;
}

/* No run is under way. One that stands in memory as it is written is copied in one piece. */
static __attribute__((noinline)) void put_added(struct writer *w, const struct http_msg *m)
{
	const struct h1_field *f = m->fields.list + m->line_count;

	for (; f < m->fields.list + m->fields.count; f++) {
		const char *name_end = f->name.ptr + f->name.len;

		if (f->value.ptr == name_end + 2 && memcmp(name_end, ": ", 2) == 0) {
			put(w, slice_make(f->name.ptr, f->name.len + 2 + f->value.len));
			put(w, SLICE("\r\n"));
		} else {
			put_field(w, f->name, f->value);
		}
	}
}

/* The field that is in no list, behind the others; its name may be of another case. */
static void put_late(struct writer *w, const struct http_msg *m)
{
	char line[HTTP_LATE_MAX];
	size_t len, name;

	if (likely(!w->adjust)) {
		BUG_ON((size_t)(w->end - w->at) < HTTP_LATE_MAX);
		w->at += m->late(m, w->at);
		return;
	}
	len = m->late(m, line);
	name = (size_t)((const char *)memchr(line, ':', len) - line);
	put_field(w, slice_make(line, name), slice_make(line + name + 2, len - name - 4));
}

static struct head_plan plan_head(const struct http_msg *m)
{
	struct head_plan plan = { .size = m->method_text.len + m->uri.len + m->version_text.len +
					  m->reason.len + 256 + HTTP_LATE_MAX };

	if (likely(has_lines(m))) {
		plan.size += m->lines.len;
		if (unlikely(m->flags & HTTP_MSG_ADDED))
			plan.size += added_size(m);
		return plan;
	}
	for (unsigned i = 0; i < m->fields.count; i++) {
		const struct h1_field *f = &m->fields.list[i];

		plan.size += f->name.len + f->value.len + 4;
		if (likely(!(HTTP_HOP_FIELDS >> f->id & 1)))
			continue;
		if (f->id == FIELD_CONNECTION && f->name.ptr)
			plan_connection(&plan, f->value);
		else if (f->id == FIELD_UPGRADE && f->name.ptr)
			plan.has_upgrade = true;
	}
	return plan;
}

/* What stands in the request line. */
static struct slice target_of(const struct http_msg *m)
{
	struct slice path;

	if (!(m->flags & HTTP_MSG_NORMALIZED))
		return m->uri;
	path = http_msg_pathq(m);
	if (path.len)
		return path;
	return m->method == HTTP_METH_OPTIONS ? SLICE("*") : SLICE("/");
}

/* HTTP/1.0 is passed on, except in front of chunks, which it does not know: a receiver that reads
 * such a head as one without a body takes the chunks for the next message.
 */
static bool is_sent_as_old(const struct h1_conn *h, const struct http_msg *m)
{
	return m->version == 10 && h->tx_state != H1_TX_CHUNKED;
}

/* Where the start line ends that was received and says what is to be sent; NULL: none does. */
static const char *start_line_as_received(const struct http_msg *m, struct slice version)
{
	const char *at = m->version_text.ptr, *stop = at + version.len;

	if (!slice_eq(m->version_text, version))
		return NULL;
	if (m->flags & HTTP_MSG_RESPONSE)
		return m->reason.ptr == stop + 5 && stop[0] == ' ' && stop[4] == ' ' &&
		       (stop[1] - '0') * 100 + (stop[2] - '0') * 10 + stop[3] - '0' == m->status ?
		       m->reason.ptr + m->reason.len : NULL;
	return m->uri.ptr == m->method_text.ptr + m->method_text.len + 1 && m->uri.ptr[-1] == ' ' &&
	       at == m->uri.ptr + m->uri.len + 1 && at[-1] == ' ' &&
	       !(m->flags & HTTP_MSG_NORMALIZED) ? stop : NULL;
}

/* Three digits, or more: option accept-unsafe-violations-in-http-response lets them pass. */
static void put_status(struct writer *w, unsigned status)
{
	char text[16];
	size_t at = sizeof(text) - 1;

	text[at] = ' ';
	for (int digits = 0; digits < 3 || status; digits++, status /= 10)
		text[--at] = (char)('0' + status % 10);
	text[--at] = ' ';
	put(w, slice_make(text + at, sizeof(text) - at));
}

static void put_start_line(struct writer *w, const struct http_msg *m, bool old)
{
	struct slice version = old ? SLICE("HTTP/1.0") : SLICE("HTTP/1.1");
	const char *stop = start_line_as_received(m, version);
	bool response = m->flags & HTTP_MSG_RESPONSE;

	if (likely(stop != NULL)) {
		extend_run(w, response ? m->version_text.ptr : m->method_text.ptr, stop);
		return;
	}
	if (response) {
		put(w, version);
		put_status(w, m->status);
		put(w, m->reason);
	} else {
		put(w, m->method_text);
		put(w, SLICE(" "));
		put(w, target_of(m));
		put(w, SLICE(" "));
		put(w, version);
	}
	put(w, SLICE("\r\n"));
}

/* Is there never a body behind this head, whatever the message has? So for answers to HEAD and for
 * statuses without one, which may come from a rule.
 */
static bool head_is_bodyless(const struct h1_conn *h, const struct http_msg *m)
{
	return m->flags & HTTP_MSG_RESPONSE && m->body != HTTP_BODY_TUNNEL &&
	       (h->flags & H1C_FL_HEAD_REQ || m->status == 204 || m->status == 304 ||
		m->status < 200);
}

/* How the message will be delimited towards this peer; may decide that the connection ends. */
static enum h1_tx_state choose_framing(struct h1_conn *h, const struct http_msg *m)
{
	bool response = m->flags & HTTP_MSG_RESPONSE;

	if (head_is_bodyless(h, m))
		return H1_TX_NONE;
	switch (m->body) {
	case HTTP_BODY_LENGTH:
		h->tx_left = m->content_length;
		return H1_TX_LENGTH;
	case HTTP_BODY_CHUNKED:
	case HTTP_BODY_CLOSE:
		if (!response || (m->body == HTTP_BODY_CHUNKED && !(h->flags & H1C_FL_CLIENT_1_0)))
			return H1_TX_CHUNKED;
		h->flags |= m->body == HTTP_BODY_CHUNKED ? H1C_FL_CLOSE | H1C_FL_UNCHUNKED
							 : H1C_FL_CLOSE;
		return H1_TX_CLOSE;
	case HTTP_BODY_TUNNEL:
		return H1_TX_TUNNEL;
	default:
		h->tx_left = 0;
		return H1_TX_LENGTH;
	}
}

/* The Connection field to add towards the peer; slice_none() when its absence says the right thing.
 */
static struct slice connection_value(const struct h1_conn *h, const struct http_msg *m)
{
	bool old = is_sent_as_old(h, m);

	/* beside "upgrade", neither close nor keep-alive has anything to say to a server */
	if (h->tx_state == H1_TX_TUNNEL || h->flags & H1C_FL_UPGRADE_REQ)
		return slice_none();
	if (h->flags & H1C_FL_BACK) {
		if (h->flags & H1C_FL_CLOSE && !(h->settings->options & MUX_OPT_PRETEND_KEEP_ALIVE))
			return old ? slice_none() : SLICE("close");
		return old ? SLICE("keep-alive") : slice_none();
	}
	if (h->flags & H1C_FL_CLOSE)
		return old ? slice_none() : SLICE("close");
	return old || h->flags & H1C_FL_CLIENT_1_0 ? SLICE("keep-alive") : slice_none();
}

/* The framing field of this message, FIELD_OTHER for none. Rules cannot change it: it says how the
 * body is sent, not what the list of fields says.
 */
static uint8_t framing_field(const struct h1_conn *h, const struct http_msg *m)
{
	if (h->tx_state == H1_TX_NONE)
		return FIELD_OTHER;
	if (h->tx_state == H1_TX_CHUNKED)
		return FIELD_TRANSFER_ENCODING;
	if (m->body == HTTP_BODY_LENGTH ||
	    (m->flags & HTTP_MSG_RESPONSE && h->tx_state == H1_TX_LENGTH))
		return FIELD_CONTENT_LENGTH;
	return FIELD_OTHER;
}

/* The bytes of the body that Content-Length says. */
static uint64_t length_to_say(const struct http_msg *m)
{
	return m->body == HTTP_BODY_LENGTH ? m->content_length : 0;
}

static void put_own_framing(struct writer *w, const struct http_msg *m, uint8_t id)
{
	char number[24];
	struct strbuf b;

	if (id == FIELD_TRANSFER_ENCODING) {
		put_field(w, SLICE("transfer-encoding"), SLICE("chunked"));
		return;
	}
	strbuf_init_fixed(&b, number, sizeof(number));
	strbuf_add_uint(&b, length_to_say(m));
	put_field(w, SLICE("content-length"), strbuf_slice(&b));
}

/* Is <text> this number as we write it? */
static bool says_number(struct slice text, uint64_t number)
{
	uint64_t said = 0;

	if (text.len > 19 || !text.len || (text.len > 1 && text.ptr[0] == '0'))
		return false;
	for (size_t i = 0; i < text.len; i++) {
		if (!ascii_is_digit(text.ptr[i]))
			return false;
		said = said * 10 + (uint64_t)(text.ptr[i] - '0');
	}
	return said == number;
}

/* A framing field of the list: is it written? At the place of the first one stands ours, <due>. */
static void put_framing(struct writer *w, const struct h1_conn *h, const struct http_msg *m,
			const struct h1_field *f, uint8_t *due)
{
	bool response = m->flags & HTTP_MSG_RESPONSE;

	if (h->tx_state == H1_TX_NONE) {
		/* what the body would have been; no field says that 204 has one */
		if (m->status == 304 || m->status >= 205 || (m->status >= 200 && m->status < 204))
			put_line(w, f);
	} else if (*due == f->id) {
		*due = FIELD_OTHER;
		if (f->id == FIELD_CONTENT_LENGTH ? says_number(f->value, length_to_say(m))
						  : slice_eq(f->value, SLICE("chunked"))) {
			put_line(w, f);
			return;
		}
		end_run(w);
		put_own_framing(w, m, f->id);
	} else if (!response && m->body == HTTP_BODY_NONE && f->id == FIELD_CONTENT_LENGTH &&
		   slice_eq(f->value, SLICE("0"))) {
		put_line(w, f);
	}
}

/* Is this value only about the connection to the next hop, which is ours to decide? */
static bool value_is_ours(struct slice value)
{
	return slice_eq_nocase(value, SLICE("close")) ||
	       slice_eq_nocase(value, SLICE("keep-alive"));
}

/* Writes a field that is about the connection or the framing, if it is to be written. */
static void put_hop_field(struct writer *w, const struct h1_conn *h, const struct h1_field *f,
			  const struct head_plan *plan, uint8_t *due)
{
	const struct http_msg *m = h->ep->tx_head;

	if (f->id == FIELD_CONNECTION && value_is_ours(f->value))
		return;
	if (f->id == FIELD_UPGRADE && !(m->flags & HTTP_MSG_RESPONSE) && !plan->upgrade_token)
		return;
	if (f->id == FIELD_CONTENT_LENGTH || f->id == FIELD_TRANSFER_ENCODING)
		put_framing(w, h, m, f, due);
	else
		put_line(w, f);
}

/* Writes the fields one by one. Returns whether Transfer-Encoding is still to be added: to requests
 * it is, behind Connection.
 */
static bool put_each_field(struct writer *w, const struct h1_conn *h, const struct http_msg *m,
			   const struct head_plan *plan)
{
	uint8_t due = framing_field(h, m);

	for (unsigned i = 0; i < m->fields.count; i++) {
		const struct h1_field *f = &m->fields.list[i];

		if (unlikely(!f->name.ptr))
			continue;
		if (likely(!(HTTP_HOP_FIELDS >> f->id & 1)))
			put_line(w, f);
		else
			put_hop_field(w, h, f, plan, &due);
	}
	end_run(w);
	if (due == FIELD_TRANSFER_ENCODING && h->flags & H1C_FL_BACK)
		return true;
	if (due != FIELD_OTHER)
		put_own_framing(w, m, due);
	return false;
}

static void put_fields(struct writer *w, const struct h1_conn *h, const struct http_msg *m,
		       const struct head_plan *plan)
{
	struct slice connection = connection_value(h, m);
	bool framing_due = false;

	if (likely(has_lines(m) && h->tx_state == H1_TX_LENGTH && !w->adjust)) {
		extend_run(w, m->lines.ptr, m->lines.ptr + m->lines.len);
		end_run(w);
		if (unlikely(m->flags & HTTP_MSG_ADDED))
			put_added(w, m);
	} else {
		framing_due = put_each_field(w, h, m, plan);
	}
	if (unlikely(m->flags & HTTP_MSG_LATE))
		put_late(w, m);
	if (!slice_is_none(connection))
		put_field(w, h->flags & H1C_FL_PROXY_NAME ? SLICE("proxy-connection")
							  : SLICE("connection"), connection);
	if (framing_due)
		put_own_framing(w, m, FIELD_TRANSFER_ENCODING);
	put(w, SLICE("\r\n"));
}

/* Will the connection serve another message after this one? Decided before the head is written. */
static void decide_persistence(struct h1_conn *h, const struct http_msg *m, bool close)
{
	if (close || h->ep->flags & EP_CLOSE || h->flags & H1C_FL_STOP)
		h->flags |= H1C_FL_CLOSE;
	if (m->flags & HTTP_MSG_INTERIM || m->body == HTTP_BODY_TUNNEL)
		return;
	if (!(h->flags & H1C_FL_BACK) && !(h->flags & H1C_FL_KEEP_RX))
		h->flags |= H1C_FL_CLOSE;
	/* an answer before the end of the request: the rest would be taken for a request */
	if (!(h->flags & H1C_FL_BACK) && h->rx_state != H1_RX_DONE && !h1_can_skip(h))
		h->flags |= H1C_FL_CLOSE;
}

static void note_request(struct h1_conn *h, const struct http_msg *m, const struct head_plan *plan)
{
	h->flags &= ~(H1C_FL_HEAD_REQ | H1C_FL_UPGRADE_REQ);
	if (m->method == HTTP_METH_HEAD)
		h->flags |= H1C_FL_HEAD_REQ;
	if (plan->has_upgrade && plan->upgrade_token)
		h->flags |= H1C_FL_UPGRADE_REQ;
}

static void put_interim(struct writer *w, const struct http_msg *m)
{
	for (unsigned i = 0; i < m->fields.count; i++)
		if (m->fields.list[i].name.ptr)
			put_line(w, &m->fields.list[i]);
	end_run(w);
	put(w, SLICE("\r\n"));
}

/* Writes a head. False: no memory, the connection is unusable. */
static bool send_head(struct h1_conn *h)
{
	struct http_msg *m = h->ep->tx_head;
	struct head_plan plan = plan_head(m);
	bool interim = m->flags & HTTP_MSG_INTERIM, ok;
	struct writer w;

	if (!writer_open(&w, plan.size, h->settings->adjust))
		return false;
	if (h->flags & H1C_FL_BACK)
		note_request(h, m, &plan);
	decide_persistence(h, m, plan.close);
	if (!interim) {
		h1_set_tx(h, choose_framing(h, m));
		if (h->tx_state == H1_TX_NONE)
			h->ep->flags |= EP_TX_BODYLESS;
	}
	if (h->tx_state == H1_TX_TUNNEL && !(h->flags & H1C_FL_BACK)) {
		/* what the client sent behind its request, or sends now, is the tunnel's */
		h1_set_rx(h, H1_RX_TUNNEL);
		h1_resume_later(h);
	}
	put_start_line(&w, m, is_sent_as_old(h, m));
	if (interim) {
		put_interim(&w, m);
	} else {
		put_fields(&w, h, m, &plan);
		h->flags |= H1C_FL_HEAD_SENT;
	}
	w.block->used = (uint32_t)(w.at - w.block->data);
	ok = block_queue_add(&h->out, w.block, w.block->data, w.block->used);
	block_drop(w.block);
	H1_TRACE(USER, h, H1_EV(TX_DATA) | H1_EV(TX_HEAD), "sending a %s",
		 h->flags & H1C_FL_BACK ? "request" : "response");
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

	if (!t || !t->count || h->settings->options & MUX_OPT_DROP_TRAILERS)
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

/* Body bytes that the framing announced; more than that is a fault of their source and is cut. */
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
		else if (h->tx_state == H1_TX_NONE)
			block_queue_clear(&ep->tx);
		else
			block_queue_move(&h->out, &ep->tx);
	}
	if (!ok || !(ep->flags & EP_TX_END) || (ep->tx_pipe && ep->tx_pipe->bytes))
		return ok;
	if (h->tx_state == H1_TX_CHUNKED)
		ok = send_last_chunk(h);
	else if (h->tx_state == H1_TX_CLOSE || h->tx_state == H1_TX_TUNNEL)
		h->flags |= H1C_FL_SHUT_AFTER;
	else if (h->tx_state == H1_TX_LENGTH && h->tx_left)
		h->flags |= H1C_FL_CLOSE; /* shorter than announced: the peer must notice */
	h1_set_tx(h, H1_TX_DONE);
	return ok;
}

bool h1_flush(struct h1_conn *h)
{
	struct conn *c = h->conn;
	bool more = h->ep && h->ep->flags & EP_TX_MORE;
	size_t before;
	enum io r;

	if (c->flags & CONN_ERROR)
		return false;
	if (h->out.len) {
		if (!(c->flags & CONN_CAN_SEND))
			return true;
		before = h->out.len;
		r = conn_post(c, &h->out, more);
		h1_count_bytes(h, 0, before - h->out.len);
		if (r == IO_ERR)
			return false;
		H1_TRACE(DATA, h, H1_EV(SEND), "sent bytes, %llu are left",
			 (unsigned long long)h->out.len);
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
	/* bytes in a pipe cannot be framed nor dropped: the stream has not asked for that */
	BUG_ON(h->tx_state != H1_TX_LENGTH && h->tx_state != H1_TX_CLOSE &&
	       h->tx_state != H1_TX_TUNNEL);
	r = conn_splice_out(h->conn, ep->tx_pipe, &sent);
	ep->tx_bytes += sent;
	h1_count_spliced(h, 0, sent);
	if (h->tx_state == H1_TX_LENGTH)
		h->tx_left -= sent < h->tx_left ? sent : h->tx_left;
	return r != IO_ERR;
}

static void tx_failed(struct h1_conn *h)
{
	H1_TRACE(ERROR, h, H1_EV(ERROR), "the connection failed");
	block_queue_clear(&h->out);
	h->flags |= H1C_FL_CLOSE;
	h->ep->flags |= EP_ERROR;
}

/* Tells the stream how full we are and whether all is gone. */
static void tx_report(struct h1_conn *h)
{
	struct endpoint *ep = h->ep;
	size_t pipe = ep->tx_pipe ? ep->tx_pipe->bytes : 0;

	endpoint_tell_full(ep, endpoint_tx_high(ep), h->out.len, h->out.count);
	if (h->tx_state == H1_TX_DONE && !h->out.len && !pipe && !(ep->flags & EP_TX_HEAD)) {
		if (h->flags & H1C_FL_SHUT_AFTER)
			conn_shut_write(h->conn);
		ep->flags |= EP_TX_DONE;
		H1_TRACE(USER, h, H1_EV(TX_DATA) | H1_EV(TX_EOI), "sent all of the message");
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
	else if (ep->flags & EP_TUNNEL && h->tx_state == H1_TX_DONE &&
		 !(h->flags & H1C_FL_SHUT_AFTER))
		h1_set_tx(h, H1_TX_TUNNEL);
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
