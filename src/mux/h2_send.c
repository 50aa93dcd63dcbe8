/* SPDX-License-Identifier: GPL-2.0-or-later */
/* h2_send.c - the HTTP/2 mux, sending half: heads and body slices into frames
 *
 * Nothing is sent when a stream writes: frames go to the connection's queue, which is sent in as
 * few system calls as possible at the end of the loop's turn. A head, frame headers and small
 * bodies are written into a block of the thread; larger bodies stay slices.
 *
 * A body that cannot be sent immediately (windows, or a full queue) stays with its stream, which
 * waits in the list of senders: each gets its turn and sends about one frame.
 */
#include <string.h>
#include "base/clock.h"
#include "h2_conn_priv.h"
#include "h2_in_priv.h"
#include "h2_out_priv.h"
#include "h2_side_priv.h"
#include "h2_stream_priv.h"
#include "trace_priv.h"

/* Below this, copying behind what is written is cheaper than one more vector of the system call. */
#define COALESCE_MAX 1024
/* What all streams may have unsent before their sources are stopped, and one of them at least and
 * at most. A source goes on when half of that is gone.
 */
#define TX_TOTAL (2 * 1024 * 1024)
#define TX_LEAST (32 * 1024)
#define TX_MOST (256 * 1024)
/* How long one flush goes on sending what the streams have behind what it sent. */
#define FLUSH_NS (2 * WIRE_TURN_NS)

/* --- heads ------------------------------------------------------------------------------------ */

/* Is there never a body behind this head, whatever the message has? */
static bool head_is_bodyless(const struct h2_stream *s, const struct http_msg *m)
{
	return m->body != HTTP_BODY_TUNNEL &&
	       (s->flags & H2S_FL_HEAD || m->status == 204 || m->status == 304);
}

/* Does a Content-Length of the list go out as it is? */
static bool length_is_kept(const struct h2_stream *s, const struct http_msg *m)
{
	if (m->flags & HTTP_MSG_INTERIM || m->status == 204)
		return false;
	return s->flags & H2S_FL_NO_BODY || m->body == HTTP_BODY_NONE;
}

static bool is_sent(const struct h2_stream *s, const struct http_msg *m, const struct h1_field *f)
{
	if (!f->name.ptr || !h2_field_is_allowed(f->id) || f->id == FIELD_TE)
		return false;
	if (f->id == FIELD_CONTENT_LENGTH)
		return length_is_kept(s, m);
	return f->id != FIELD_SEC_WEBSOCKET_ACCEPT || !(s->flags & H2S_FL_EXTENDED);
}

static size_t head_bound(const struct http_msg *m)
{
	/* :status, or the pseudo-fields of a request: target in two parts, host as a field */
	size_t n = H2_FRAME_HEADER_LEN + HPACK_BEGIN_BOUND + 7 * hpack_field_bound(14, 20) +
		   m->method_text.len + m->uri.len * 2;

	for (unsigned i = 0; i < m->fields.count; i++)
		n += hpack_field_bound(m->fields.list[i].name.len, m->fields.list[i].value.len);
	return n + n / H2_FRAME_SIZE_MIN * H2_FRAME_HEADER_LEN;
}

/* The length that the framing announces, whatever the list of fields says. */
static bool put_length(struct hpack_encoder *e, struct hpack_writer *w, uint64_t n)
{
	char number[20], *end = number + sizeof(number), *at = end;

	do
		*--at = (char)('0' + n % 10);
	while (n /= 10);
	return hpack_write_field(e, w, FIELD_CONTENT_LENGTH, SLICE("content-length"),
				 slice_make(at, (size_t)(end - at)));
}

bool h2_put_fields(struct h2_stream *s, struct hpack_writer *w, const struct http_msg *m,
		   h2_is_sent_fn *is_sent, bool length)
{
	struct hpack_encoder *e = &s->conn->encoder;
	bool ok = true;

	for (unsigned i = 0; i < m->fields.count && ok; i++) {
		const struct h1_field *f = &m->fields.list[i];

		if (is_sent(s, m, f)) {
			ok = hpack_write_field(e, w, f->id, f->name, f->value);
		} else if (f->id == FIELD_CONTENT_LENGTH && length && f->name.ptr) {
			ok = put_length(e, w, m->content_length);
			length = false;
		}
	}
	return ok && (!length || put_length(e, w, m->content_length));
}

/* Cuts a header block of <len> bytes, behind a frame's header at <p>, into frames. Returns the end.
 */
static char *frame_head(const struct h2_stream *s, char *p, size_t len, uint8_t flags)
{
	size_t max = s->conn->peer.frame_max;
	uint8_t type = H2_FT_HEADERS;

	while (len > max) {
		char *next = h2_frame_put(p, (uint32_t)max, type, flags, s->id) + max;

		memmove(next + H2_FRAME_HEADER_LEN, next, len - max);
		p = next;
		len -= max;
		type = H2_FT_CONTINUATION;
		flags = 0;
		H2S_TRACE(PROTO, s, H2_EV(TX_FRAME) | H2_EV(TX_CONTINUATION),
			  "sending CONTINUATION");
	}
	return h2_frame_put(p, (uint32_t)len, type, flags | H2_FL_END_HEADERS, s->id) + len;
}

/* Is what there is to send all? A request for a tunnel ends when there will be none. */
static bool is_all(const struct h2_stream *s)
{
	if (s->conn->side->is_back && s->flags & H2S_FL_CONNECT && !(s->ep->flags & EP_TUNNEL))
		return false;
	return s->ep->flags & EP_TX_END;
}

/* Is there nothing behind what has been sent but the end, known already? */
static bool ends_here(const struct h2_stream *s)
{
	const struct endpoint *ep = s->ep;

	return is_all(s) && (!ep->tx.len || s->flags & H2S_FL_NO_BODY);
}

static bool has_trailers(const struct h2_stream *s)
{
	const struct http_msg *m = s->ep->tx_head;

	return m && m->trailers.count && !(s->flags & H2S_FL_NO_BODY) &&
	       !(s->conn->settings->options & MUX_OPT_DROP_TRAILERS);
}

/* What the client sent before the tunnel stood is the tunnel's. */
static void open_tunnel(struct h2_stream *s)
{
	if (!(s->flags & H2S_FL_EARLY))
		return;
	s->flags &= (uint16_t)~H2S_FL_EARLY;
	block_queue_move(&s->ep->rx, &s->early);
	if (s->flags & H2S_FL_EARLY_END)
		s->ep->flags |= EP_RX_END;
	h2s_grant(s, false);
	h2s_send_later(s); /* the stream is told from there */
	s->flags |= H2S_FL_TELL;
}

/* What the head says of the body. */
void h2_front_note_head(struct h2_stream *s, const struct http_msg *m)
{
	s->flags |= H2S_FL_HEAD_SENT;
	s->tx_left = m->body == HTTP_BODY_LENGTH ? m->content_length : UINT64_MAX;
	if (head_is_bodyless(s, m))
		s->flags |= H2S_FL_NO_BODY;
	if (m->body == HTTP_BODY_TUNNEL)
		open_tunnel(s);
}

bool h2_front_put_head(struct h2_stream *s, struct hpack_writer *w, const struct http_msg *m)
{
	return hpack_write_status(&s->conn->encoder, w, m->status == 101 ? 200 : m->status) &&
	       h2_put_fields(s, w, m, is_sent, m->body == HTTP_BODY_LENGTH &&
						!(s->flags & H2S_FL_NO_BODY) &&
						!(m->flags & HTTP_MSG_INTERIM));
}

/* Writes a head. False: no memory, the connection is lost. */
static bool send_head(struct h2_stream *s)
{
	const struct http_msg *m = s->ep->tx_head;
	bool interim = m->flags & HTTP_MSG_INTERIM;
	size_t bound = head_bound(m);
	struct hpack_writer w;
	uint8_t flags = 0;
	char *start;

	if (!s->id)
		s->conn->side->number(s);
	H2S_TRACE(USER, s, H2_EV(TX_FRAME) | H2_EV(TX_HEAD), "sending a %s",
		  s->conn->side->is_back ? "request" : "response");
	if (!interim)
		s->conn->side->note_head(s, m);
	start = h2_out_reserve(s->conn, bound);
	if (!start)
		return false;
	w = (struct hpack_writer){ start + H2_FRAME_HEADER_LEN, start + bound };
	if (!hpack_write_begin(&s->conn->encoder, &w) || !s->conn->side->put_head(s, &w, m))
		BUG_ON(1); /* the room was computed for the worst case */
	if (!interim && ends_here(s) && !has_trailers(s)) {
		flags = H2_FL_END_STREAM;
		h2s_ended_local(s);
	}
	s->ep->flags &= ~EP_TX_HEAD;
	s->ep->tx_bytes += http_msg_size(m);
	h2_out_commit(s->conn, frame_head(s, start, (size_t)(w.at - start) - H2_FRAME_HEADER_LEN,
					  flags));
	return true;
}

static bool send_trailers(struct h2_stream *s)
{
	const struct http_fields *t = &s->ep->tx_head->trailers;
	struct hpack_encoder *e = &s->conn->encoder;
	size_t bound = H2_FRAME_HEADER_LEN + HPACK_BEGIN_BOUND;
	struct hpack_writer w;
	char *start;

	for (unsigned i = 0; i < t->count; i++)
		bound += hpack_field_bound(t->list[i].name.len, t->list[i].value.len);
	bound += bound / H2_FRAME_SIZE_MIN * H2_FRAME_HEADER_LEN;
	start = h2_out_reserve(s->conn, bound);
	if (!start)
		return false;
	w = (struct hpack_writer){ start + H2_FRAME_HEADER_LEN, start + bound };
	if (!hpack_write_begin(e, &w))
		BUG_ON(1);
	for (unsigned i = 0; i < t->count; i++)
		if (t->list[i].name.ptr && h2_field_is_allowed(t->list[i].id) &&
		    !hpack_write_field(e, &w, t->list[i].id, t->list[i].name, t->list[i].value))
			BUG_ON(1);
	h2_out_commit(s->conn, frame_head(s, start, (size_t)(w.at - start) - H2_FRAME_HEADER_LEN,
					  H2_FL_END_STREAM));
	h2s_ended_local(s);
	return true;
}

/* --- bodies ----------------------------------------------------------------------------------- */

/* How many body bytes the next frame may carry; 0: none for now. */
static size_t frame_room(const struct h2_stream *s)
{
	const struct h2_conn *h = s->conn;
	int64_t n = (int64_t)s->ep->tx.len;

	if (n > s->tx_window)
		n = s->tx_window;
	if (n > h->window.tx)
		n = h->window.tx;
	if (n > h->peer.frame_max)
		n = h->peer.frame_max;
	if (n > H2_QUANTUM)
		n = H2_QUANTUM;
	return n > 0 ? (size_t)n : 0;
}

/* One DATA frame of <n> bytes. False: no memory, the connection is lost. */
static bool send_data(struct h2_stream *s, size_t n, bool end)
{
	struct h2_conn *h = s->conn;
	struct endpoint *ep = s->ep;
	bool copied = n <= COALESCE_MAX;
	char *p = h2_out_reserve(h, H2_FRAME_HEADER_LEN + (copied ? n : 0));

	if (!p)
		return false;
	H2S_TRACE(DATA, s, H2_EV(TX_FRAME) | H2_EV(TX_DATA), "sending %zu bytes of DATA%s", n,
		  end ? ", the last" : "");
	p = h2_frame_put(p, (uint32_t)n, H2_FT_DATA, end ? H2_FL_END_STREAM : 0, s->id);
	if (copied) {
		block_queue_peek(&ep->tx, 0, p, n);
		block_queue_skip(&ep->tx, n);
		p += n;
	}
	h2_out_commit(h, p);
	if (!copied && !block_queue_move_len(&h->out, &ep->tx, n)) {
		h2_out_failed(h);
		return false;
	}
	s->tx_window -= (int64_t)n;
	h->window.tx -= (int64_t)n;
	ep->tx_bytes += n;
	if (s->tx_left != UINT64_MAX)
		s->tx_left -= n;
	if (end)
		h2s_ended_local(s);
	return true;
}

/* Body bytes beyond what the head announced are a fault of their source: they are cut. */
static void cut_body(struct h2_stream *s)
{
	struct endpoint *ep = s->ep;

	if (s->flags & H2S_FL_NO_BODY) {
		block_queue_clear(&ep->tx);
	} else if (ep->tx.len > s->tx_left) {
		struct block_queue kept;

		block_queue_init(&kept);
		block_queue_move_len(&kept, &ep->tx, (size_t)s->tx_left);
		block_queue_clear(&ep->tx);
		ep->tx = kept;
	}
}

/* The end, which no frame of the body carried. */
static bool send_end(struct h2_stream *s)
{
	if (s->tx_left != UINT64_MAX && s->tx_left && !(s->flags & H2S_FL_NO_BODY)) {
		/* shorter than announced: the peer must notice */
		s->flags |= H2S_FL_RESET;
		h2c_reset(s->conn, s->id, H2_ERR_INTERNAL_ERROR);
		h2s_set_state(s, H2S_CLOSED);
		return true;
	}
	if (has_trailers(s))
		return send_trailers(s);
	return send_data(s, 0, true);
}

static bool local_is_open(const struct h2_stream *s)
{
	return s->state == H2S_OPEN || s->state == H2S_HALF_REMOTE;
}

/* Up to <most> bytes of the body, and the end. False: the connection is lost. */
static bool send_body(struct h2_stream *s, size_t most)
{
	struct endpoint *ep = s->ep;
	size_t done = 0, n;

	cut_body(s);
	while (ep->tx.len && done < most) {
		n = frame_room(s);
		if (!n)
			break;
		done += n;
		if (!send_data(s, n, is_all(s) && n == ep->tx.len && !has_trailers(s) &&
				     (s->tx_left == UINT64_MAX || s->tx_left == n)))
			return false;
	}
	if (!ep->tx.len && is_all(s) && local_is_open(s))
		return send_end(s);
	return true;
}

bool h2s_is_stuck(const struct h2_stream *s)
{
	const struct h2_conn *h = s->conn;

	return h->flags & H2C_FL_EOF && s->flags & H2S_FL_HEAD_SENT && local_is_open(s) &&
	       s->ep->tx.len && (s->tx_window <= 0 || h->window.tx <= 0);
}

static void tx_failed(struct h2_stream *s)
{
	block_queue_clear(&s->ep->tx);
	s->ep->flags = (s->ep->flags & ~EP_TX_HEAD) | EP_ERROR;
}

/* How much a stream may have unsent: many share. */
static size_t tx_high(const struct h2_conn *h)
{
	size_t share = TX_TOTAL / (h->stream_count + 1);

	return share < TX_LEAST ? TX_LEAST : share > TX_MOST ? TX_MOST : share;
}

/* Tells the stream how full we are and whether all is gone. True: it should be woken. */
static bool tx_report(struct h2_stream *s)
{
	struct endpoint *ep = s->ep;
	uint32_t before = ep->flags;
	size_t high = tx_high(s->conn), wish = endpoint_tx_high(ep);

	endpoint_tell_full(ep, high < wish ? high : wish, ep->tx.len, ep->tx.count);
	if (s->flags & H2S_FL_HEAD_SENT && !local_is_open(s))
		ep->flags |= EP_TX_DONE;
	return ep->flags != before;
}

/* Not all could go: with a window of its own it waits for its turn, else for WINDOW_UPDATE. */
static void hold_back(struct h2_stream *s)
{
	if (s->tx_window > 0) {
		H2S_TRACE(DATA, s, H2_EV(STREAM_BLOCK), "%u bytes wait for their turn",
			  s->ep->tx.len);
		h2s_send_later(s);
	} else {
		H2S_TRACE(DATA, s, H2_EV(STREAM_WINDOW), "%u bytes wait for the stream's window",
			  s->ep->tx.len);
	}
}

void h2s_send(struct h2_stream *s)
{
	struct h2_conn *h = s->conn;
	struct endpoint *ep = s->ep;
	size_t room = h->out.len < H2_OUT_HIGH ? H2_OUT_HIGH - h->out.len : 0;
	bool ok = true;

	if (h->flags & H2C_FL_BROKEN || s->flags & H2S_FL_RESET) {
		tx_failed(s);
		return;
	}
	if (ep->flags & EP_TX_HEAD)
		ok = send_head(s);
	if (ok && s->flags & H2S_FL_HEAD_SENT && local_is_open(s)) {
		/* others wait: behind them */
		if (ep->tx.len && !list_is_empty(&h->senders))
			room = 0;
		ok = send_body(s, room) && !h2s_is_stuck(s);
		if (ok && ep->tx.len)
			hold_back(s);
	}
	if (ok)
		tx_report(s);
	else
		tx_failed(s);
}

void h2s_send_later(struct h2_stream *s)
{
	if (!list_is_linked(&s->sender))
		list_append(&s->conn->senders, &s->sender);
	h2_flush_later(s->conn);
}

/* --- sending ---------------------------------------------------------------------------------- */

/* The next stream in turn. */
static void serve_sender(struct h2_conn *h)
{
	struct h2_stream *s = list_first(&h->senders, struct h2_stream, sender);
	bool tell = s->flags & H2S_FL_TELL;

	list_remove(&s->sender);
	s->flags &= (uint16_t)~H2S_FL_TELL;
	if (local_is_open(s) && s->flags & H2S_FL_HEAD_SENT && !(s->flags & H2S_FL_RESET)) {
		if (!send_body(s, H2_QUANTUM) || h2s_is_stuck(s)) {
			tx_failed(s);
			tell = true;
		} else if (s->ep->tx.len && s->tx_window > 0) {
			list_append(&h->senders, &s->sender);
		}
	}
	if (tx_report(s) || tell)
		h2s_wake(s);
}

/* Gives the streams their turns until the queue is full enough. */
static void serve_senders(struct h2_conn *h)
{
	struct list *last = h->senders.prev;

	while (!list_is_empty(&h->senders) && h->out.len < H2_OUT_HIGH &&
	       !(h->flags & (H2C_FL_BROKEN | H2C_FL_DEAD))) {
		bool round = h->senders.next == last;

		serve_sender(h);
		/* a whole round without a window: those of the streams were asked in it */
		if (round && h->window.tx <= 0) {
			H2C_TRACE(DATA, h, H2_EV(WINDOW), "all wait for the connection's window");
			break;
		}
		if (round)
			last = h->senders.prev;
	}
}

/* Sends what is queued. */
static enum io send_out(struct h2_conn *h)
{
	struct conn *c = h->conn;
	size_t before = h->out.len, sent;
	enum io r;

	if (!(c->flags & CONN_CAN_SEND) || c->flags & (CONN_CONNECTING | CONN_HANDSHAKE))
		return IO_AGAIN;
	r = conn_send(c, &h->out, false);
	sent = before - h->out.len;
	h->control.end = h->control.end > sent ? h->control.end - (uint32_t)sent : 0;
	return r;
}

/* What was not done because too much was queued goes on. */
static void go_on(struct h2_conn *h, bool was_stuck)
{
	bool again = was_stuck && h->out.len < H2_OUT_STUCK;

	if (!h->control.end && h->control.bytes) {
		again = again || h->control.bytes >= H2_CONTROL_HIGH;
		h->control.bytes = 0;
	}
	if (again)
		h2_resume_later(h);
	if (again && h->side->is_back)
		h->user.back->room_changed(h->owner);
}

void h2_flush(struct h2_conn *h)
{
	bool outer = h2_enter(h), was_stuck = h->out.len >= H2_OUT_STUCK;
	uint64_t until = list_is_empty(&h->senders) ? 0 : clock_read_ns() + FLUSH_NS;
	enum io r = IO_OK;

	do {
		serve_senders(h);
		if (h->flags & (H2C_FL_BROKEN | H2C_FL_DEAD) || !h->out.len)
			break;
		r = send_out(h);
	} while (r == IO_OK && !list_is_empty(&h->senders) && clock_read_ns() < until);
	H2C_TRACE(DATA, h, H2_EV(SEND), "sent, %llu bytes are left",
		  (unsigned long long)h->out.len);
	if (r == IO_ERR)
		h2_out_failed(h);
	go_on(h, was_stuck);
	if (r == IO_OK && !list_is_empty(&h->senders) && h->window.tx > 0)
		h2_flush_later(h);
	if (r == IO_AGAIN) {
		H2C_TRACE(DATA, h, H2_EV(BLOCK), "the socket takes no more");
		h2c_arm(h);
	}
	h2c_tell_counts(h);
	h2c_check_end(h);
	h2_leave(h, outer);
}

void h2_flush_one(struct list *link)
{
	h2_flush(list_entry(link, struct h2_conn, flush));
}
