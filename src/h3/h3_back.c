/* SPDX-License-Identifier: GPL-2.0-or-later */
/* h3_back.c - the HTTP/3 mux towards servers: requests out, answers in
 *
 * We open the streams here. The first one may be attached before the handshake is over: it waits
 * (H3S_PENDING) and gets its stream of QUIC when the connection stands; others come when there is
 * room, which is from then on. What the server says that it has not looked at (GOAWAY,
 * H3_REQUEST_REJECTED) is marked EP_RX_REFUSED: it may be sent again, whatever it asks for.
 */
#include "base/addr.h"
#include "base/strbuf.h"
#include "codec/qpack.h"
#include "http/msg.h"
#include "mux/head.h"
#include "net/conn.h"
#include "h3_priv.h"

static struct h3_conn *h3_of(const struct mux *m)
{
	return container_of((struct mux *)(uintptr_t)m, struct h3_conn, mux);
}

/* --- requests --------------------------------------------------------------------------------- */

/* The pieces of a request that become pseudo-fields. */
struct target {
	struct slice scheme, authority, path;
};

/* An absolute form names all. Otherwise nothing is known of the scheme but that QUIC has TLS, and
 * Host says the rest. With that scheme there must be an authority (RFC 9114 4.3.1): for a client of
 * HTTP/1.0 that names none it is the server's address, in <room>.
 */
static struct target target_of(const struct h3_stream *s, const struct http_msg *m,
			       char room[ADDR_MAX])
{
	struct target t = { SLICE("https"), slice_none(), http_msg_pathq(m) };
	const struct h1_field *host = http_field_find(&m->fields, FIELD_HOST, slice_none());

	if (m->flags & HTTP_MSG_ABSOLUTE)
		t.authority = http_msg_authority(m);
	else if (host)
		t.authority = host->value;
	if (!t.authority.len) {
		struct addr server = conn_address(s->conn->conn, true);

		t.authority = slice_make(room, addr_put(&server, room, ADDR_MAX));
	}
	if (slice_eq(m->uri, SLICE("*")) || (m->flags & HTTP_MSG_ABSOLUTE && !t.path.len &&
					     m->method == HTTP_METH_OPTIONS))
		t.path = SLICE("*");
	else if (!t.path.len)
		t.path = SLICE("/");
	return t;
}

size_t h3_back_pseudo_bound(const struct h3_stream *s, const struct http_msg *m)
{
	char room[ADDR_MAX];
	struct target t = target_of(s, m, room);

	return 4 * hpack_field_bound(10, 0) + m->method_text.len + t.scheme.len + t.authority.len +
	       t.path.len;
}

bool h3_back_put_pseudo(struct h3_stream *s, struct hpack_writer *w, const struct http_msg *m)
{
	char room[ADDR_MAX];
	struct target t = target_of(s, m, room);

	return qpack_write_pseudo(w, HPACK_METHOD, m->method_text) &&
	       qpack_write_pseudo(w, HPACK_SCHEME, t.scheme) &&
	       qpack_write_pseudo(w, HPACK_AUTHORITY, t.authority) &&
	       qpack_write_pseudo(w, HPACK_PATH, t.path);
}

bool h3_back_sends(const struct http_msg *m, const struct h1_field *f)
{
	switch (f->id) {
	case FIELD_HOST: /* it is ":authority" */
	case FIELD_HTTP2_SETTINGS:
		return false;
	case FIELD_TE:
		return slice_eq_nocase(f->value, SLICE("trailers"));
	case FIELD_CONTENT_LENGTH:
		return m->body == HTTP_BODY_NONE && slice_eq(f->value, SLICE("0"));
	}
	return true;
}

/* Another protocol cannot be asked for, nor a tunnel. */
static bool is_refused(const struct http_msg *m)
{
	return m->method == HTTP_METH_CONNECT || m->flags & HTTP_MSG_EXTENDED_CONNECT ||
	       slice_eq_nocase(http_msg_upgrade(m), SLICE("websocket"));
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

void h3_back_response(struct h3_stream *s, struct h2_head *head, bool ended)
{
	struct endpoint *ep = s->ep;
	bool interim = head->status < 200;

	if (interim && ended) {
		h3_stream_fail(s, H3_MESSAGE_ERROR, "an interim answer that ends the stream");
		return;
	}
	/* the client does not read: what is kept for it must not grow */
	if (interim && ep->flags & EP_RX_HEAD) {
		s->conn->glitches++;
		return;
	}
	if (!fill_response(s, ep->rx_head, head, ended)) {
		h3_stream_fail(s, H3_INTERNAL_ERROR, "out of memory");
		return;
	}
	ep->rx_head_len = (uint32_t)head->list_len;
	ep->rx_bytes += http_msg_size(ep->rx_head);
	ep->flags |= EP_RX_HEAD | EP_RX_ANY;
	if (interim)
		return;
	s->flags |= H3S_HEAD_GOT;
	if (ep->rx_head->body == HTTP_BODY_LENGTH)
		s->left = head->content_length;
	else if (ep->rx_head->body == HTTP_BODY_NONE)
		s->left = 0;
}

/* --- streams ---------------------------------------------------------------------------------- */

/* The server has not looked at it. */
static void refuse(struct h3_stream *s)
{
	s->flags |= H3S_RESET;
	if (s->quic) {
		quic_stream_reset(s->quic, H3_REQUEST_CANCELLED);
		quic_stream_stop(s->quic, H3_REQUEST_CANCELLED);
	}
	h3_stream_lost(s, EP_ERROR | EP_RX_ABORT | EP_RX_REFUSED);
}

/* The next request that the server has not looked at; NULL: no more. */
static struct h3_stream *beyond(struct h3_conn *h, uint64_t id)
{
	struct h3_stream *s;

	list_for_each(s, &h->streams, link)
		if (s->ep && !(s->flags & H3S_RESET) && s->quic &&
		    quic_stream_id(s->quic) >= id)
			return s;
	return NULL;
}

void h3_back_goaway(struct h3_conn *h, uint64_t id)
{
	struct h3_stream *s;

	if (h->flags & H3C_GOAWAY && id > h->next_id) {
		h3_fail(h, H3_ID_ERROR, "a GOAWAY that takes back another");
		return;
	}
	h->flags |= H3C_GOAWAY;
	h->next_id = id;
	h->back->room_changed(h->owner);
	while (h->quic && (s = beyond(h, id)))
		refuse(s);
}

/* Nobody uses the connection any more: kept, or over? */
static void last_left(struct h3_conn *h)
{
	bool good = h->quic && !(h->flags & H3C_GOAWAY);

	h->flags |= H3C_USED;
	if (h->back->stream_left(h->owner, true) && good)
		return;
	h3_close(h, H3_NO_ERROR);
}

static void back_detach(struct endpoint *ep)
{
	struct h3_stream *s = ep->mux;
	struct h3_conn *h = s->conn;
	bool outer = h3_enter(h);

	ep->ops = NULL;
	ep->mux = NULL;
	if (s->quic) {
		if (!(s->flags & H3S_TX_END))
			quic_stream_reset(s->quic, H3_REQUEST_CANCELLED);
		if (!(s->flags & H3S_RX_END))
			quic_stream_stop(s->quic, H3_REQUEST_CANCELLED);
	}
	h3_stream_free(s); /* (a lost connection ends with its last one) */
	if (!(h->flags & H3C_LOST)) {
		h->flags |= H3C_USED;
		if (h->requests)
			h->back->stream_left(h->owner, false);
		else
			last_left(h);
	}
	h3_leave(h, outer);
}

static void back_send(struct endpoint *ep)
{
	struct h3_stream *s = ep->mux;

	if (s->flags & H3S_PENDING)
		return;
	if (ep->flags & EP_TX_HEAD && is_refused(ep->tx_head)) {
		s->flags |= H3S_RESET;
		ep->flags |= EP_TX_REFUSED | EP_ERROR;
	}
	h3_ep_send(ep);
}

static const struct endpoint_ops back_endpoint = {
	.name = "QUIC", .send = back_send, .resume = h3_ep_resume, .detach = back_detach,
	.conn = h3_ep_conn, .framed = true, .facts = h3_ep_facts,
};

/* It gets its stream of QUIC. False: the server allows none, or no memory. */
static bool open_stream(struct h3_stream *s)
{
	s->quic = quic_stream_open(s->conn->quic);
	if (!s->quic)
		return false;
	quic_stream_set_owner(s->quic, s);
	s->flags &= (uint16_t)~H3S_PENDING;
	return true;
}

static struct h3_stream *attach(struct h3_conn *h, struct endpoint *ep)
{
	struct h3_stream *s = h3_stream_new(h);

	if (!s)
		return NULL;
	s->flags |= H3S_PENDING;
	if (h->flags & H3C_CONNECTED && !open_stream(s)) {
		h3_stream_free(s);
		return NULL;
	}
	s->ep = ep;
	ep->ops = &back_endpoint;
	ep->mux = s;
	h->requests++;
	return s;
}

bool h3_back_attach(struct mux *m, struct endpoint *ep)
{
	struct h3_conn *h = h3_of(m);

	if (!h->quic || !attach(h, ep))
		return false;
	ep->flags |= EP_CONNECTED;
	if (h->flags & H3C_USED)
		ep->flags |= EP_REUSED;
	return true;
}

/* --- the connection --------------------------------------------------------------------------- */

/* The connection stands: the stream that waits for it may speak. */
static void connected(struct h3_conn *h)
{
	struct h3_stream *s, *next;

	h->flags |= H3C_CONNECTED;
	if (!h3_conn_start(h))
		return;
	list_for_each_safe(s, next, &h->streams, link) {
		if (!(s->flags & H3S_PENDING))
			continue;
		if (open_stream(s)) {
			s->ep->flags |= EP_CONNECTED;
			s->ep->user->wake(s->ep);
		} else {
			s->flags |= H3S_RESET;
			h3_stream_lost(s, EP_ERROR);
		}
		break; /* there is one at most */
	}
	if (!(h->flags & H3C_LOST))
		h->back->room_changed(h->owner);
}

static void back_ready(struct conn *c)
{
	struct h3_conn *h = c->owner;
	bool outer = h3_enter(h);

	if (h->quic && !(h->flags & H3C_CONNECTED) && conn_is_usable(c))
		connected(h);
	h3_leave(h, outer);
}

static void back_describe(const struct conn *c, struct strbuf *out)
{
	const struct h3_conn *h = c->owner;

	h->back->describe(h->owner, out);
	strbuf_printf(out, " mux=QUIC");
}

static const struct conn_ops back_ops = {
	.name = "h3-back", .ready = back_ready, .describe = back_describe,
};

struct mux *h3_back_new(struct conn *c, struct endpoint *ep, const struct back_owner *o)
{
	struct h3_conn *h = quic_conn_of(c) ? h3_conn_new(c, o->settings) : NULL;

	if (!h)
		return NULL;
	h->flags |= H3C_BACK;
	h->back = o->user;
	h->owner = o->owner;
	if (conn_is_usable(c)) /* (a check takes it over when it stands) */
		h->flags |= H3C_CONNECTED;
	if (!attach(h, ep)) {
		h3_conn_drop(h);
		return NULL;
	}
	c->ops = &back_ops;
	c->owner = h;
	quic_conn_take(h->quic, &h3_quic_events, h);
	if (h->flags & H3C_CONNECTED) {
		ep->flags |= EP_CONNECTED;
		h3_conn_start(h);
	}
	return &h->mux;
}

unsigned h3_back_room(const struct mux *m)
{
	const struct h3_conn *h = h3_of(m);

	if (!h->quic || !(h->flags & H3C_CONNECTED) || h->flags & H3C_GOAWAY)
		return 0;
	return quic_conn_room(h->quic);
}

bool h3_back_is_ending(const struct mux *m)
{
	const struct h3_conn *h = h3_of(m);

	return !h->quic || h->flags & H3C_GOAWAY || !quic_conn_room(h->quic);
}

void h3_back_close(struct mux *m)
{
	struct h3_conn *h = h3_of(m);
	bool outer = h3_enter(h);

	h3_close(h, H3_NO_ERROR);
	h3_leave(h, outer);
}

/* Its socket, timers and ids are its thread's. */
bool h3_back_detach_thread(struct mux *m)
{
	return false;
}

bool h3_back_attach_thread(struct mux *m)
{
	return false;
}
