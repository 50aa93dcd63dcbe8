/* SPDX-License-Identifier: GPL-2.0-or-later */
/* h3_back.c - the HTTP/3 mux towards servers: connections and their streams
 *
 * We open the streams here. The first one may be attached before the handshake is over: it waits
 * (H3S_PENDING) and gets its QUIC stream when the connection is established; others are attached
 * when there is room, which exists from then on. Requests that the server has not processed
 * (GOAWAY, H3_REQUEST_REJECTED) are marked EP_RX_REFUSED: they may be sent again, whatever their
 * method.
 */
#include "base/strbuf.h"
#include "net/conn.h"
#include "h3_priv.h"

static struct h3_conn *h3_of(const struct mux *m)
{
	return container_of((struct mux *)(uintptr_t)m, struct h3_conn, mux);
}

/* --- streams ---------------------------------------------------------------------------------- */

/* No stream uses the connection any more: keeps it, or ends it. */
static void last_left(struct h3_conn *h)
{
	bool good = h->quic && (h->flags & (H3C_GOAWAY | H3C_CONNECTED)) == H3C_CONNECTED;

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
	if (ep->flags & EP_TX_HEAD && h3_request_is_refused(ep->tx_head)) {
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
	h3_conn_take(h);
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
