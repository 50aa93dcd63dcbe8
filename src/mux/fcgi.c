/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fcgi.c - the FastCGI mux: life of a connection and of its streams, reading
 *
 *                send            stdout begins        its end         END_REQUEST
 *     attached ---------> begun ---------------> head -------> whole ------------> ended
 *
 * A stream that is woken may leave, and thereby end the connection: the BUSY flag keeps the memory
 * until the outermost frame has returned, and streams are woken after all available bytes were
 * read, not in the middle of a record.
 */
#include "core/pool.h"
#include "fcgi_priv.h"
#include "mux/mux_init.h"
#include "mux_priv.h"

static struct pool *conn_pool, *stream_pool;
static __thread struct turn_list resume;

static const struct endpoint_ops fcgi_endpoint;

/* Brackets a function that may call up. */
static bool enter(struct fcgi_conn *h)
{
	bool outer = !(h->flags & FCGI_FL_BUSY);

	h->flags |= FCGI_FL_BUSY;
	return outer;
}

static void conn_free(struct fcgi_conn *h)
{
	while (!list_is_empty(&h->streams))
		fcgis_free(list_first(&h->streams, struct fcgi_stream, link));
	if (list_is_linked(&h->resume))
		list_remove(&h->resume);
	h->user->closed(h->owner);
	conn_close(&h->conn);
	wire_in_clear(&h->in);
	block_queue_clear(&h->out);
	strbuf_fini(&h->text);
	pool_free(conn_pool, h);
}

static void leave(struct fcgi_conn *h, bool outer)
{
	if (!outer)
		return;
	h->flags &= ~(unsigned)FCGI_FL_BUSY;
	if (h->flags & FCGI_FL_DEAD)
		conn_free(h);
}

/* The end of the connection; within enter() and leave(). */
static void destroy(struct fcgi_conn *h)
{
	BUG_ON(h->live);
	h->flags |= FCGI_FL_DEAD;
}

void fcgi_resume_later(struct fcgi_conn *h)
{
	if (!(h->flags & FCGI_FL_DEAD))
		turn_list_add(&resume, &h->resume);
}

/* --- streams ---------------------------------------------------------------------------------- */

void fcgis_free(struct fcgi_stream *s)
{
	struct fcgi_conn *h = s->conn;

	if (h->stream == s)
		h->stream = NULL;
	list_remove(&s->link);
	block_drop(s->head);
	pool_free(stream_pool, s);
}

void fcgis_fail(struct fcgi_stream *s, uint32_t flags, const char *text)
{
	if (s->flags & FCGIS_FL_RX_END || !s->ep)
		return;
	s->flags |= FCGIS_FL_RX_END;
	s->ep->flags |= flags;
	s->ep->rx_error = text;
	fcgis_wake(s);
}

void fcgi_break(struct fcgi_conn *h, uint32_t flags, const char *text)
{
	struct fcgi_stream *s;

	h->flags |= FCGI_FL_BROKEN | FCGI_FL_STOP;
	block_queue_clear(&h->out);
	list_for_each(s, &h->streams, link) {
		/* what was not sent may be sent to another server */
		bool unseen = !(s->flags & FCGIS_FL_BEGUN) && h->flags & FCGI_FL_CONNECTED;

		if (s->flags & FCGIS_FL_RX_END && s->ep) {
			s->ep->flags |= flags & EP_ERROR;
			fcgis_wake(s);
		}
		if (fcgis_has_body(s))
			fcgis_stdout_ended(s);
		fcgis_fail(s, unseen ? flags | EP_RX_REFUSED : flags, text);
	}
	fcgi_resume_later(h); /* a stream that is on the stack may not be woken */
}

/* An answer of unknown length which is all there has one. */
static void tell_length(struct fcgi_stream *s)
{
	struct endpoint *ep = s->ep;

	if ((ep->flags & (EP_RX_HEAD | EP_RX_END)) != (EP_RX_HEAD | EP_RX_END) ||
	    ep->rx_head->body != HTTP_BODY_CHUNKED)
		return;
	ep->rx_head->body = HTTP_BODY_LENGTH;
	ep->rx_head->content_length = ep->rx.len;
}

/* Wakes those that are marked; each may leave, and others with it. */
static void wake_all(struct fcgi_conn *h)
{
	struct fcgi_stream *s, *next;

again:
	if (h->flags & FCGI_FL_DEAD)
		return;
	list_for_each_safe(s, next, &h->streams, link) {
		if (!(s->flags & FCGIS_FL_WAKE) || !s->ep)
			continue;
		s->flags &= (uint16_t)~FCGIS_FL_WAKE;
		tell_length(s);
		s->ep->user->wake(s->ep);
		goto again;
	}
}

void fcgi_begin_pending(struct fcgi_conn *h)
{
	struct fcgi_stream *s;

	list_for_each(s, &h->streams, link)
		if (s->ep && !(s->flags & (FCGIS_FL_BEGUN | FCGIS_FL_RX_END))) {
			fcgi_send(s);
			fcgis_wake(s);
		}
}

/* --- what endpoints ask ----------------------------------------------------------------------- */

static void ep_send(struct endpoint *ep)
{
	struct fcgi_stream *s = ep->mux;
	struct fcgi_conn *h = s->conn;
	bool outer = enter(h);

	fcgi_send(s);
	if (s->flags & FCGIS_FL_WAKE)
		fcgi_resume_later(h);
	leave(h, outer);
}

static void ep_resume(struct endpoint *ep)
{
	struct fcgi_stream *s = ep->mux;
	struct fcgi_conn *h = s->conn;

	if (h->conn->flags & CONN_CAN_RECV || wire_in_has(&h->in))
		fcgi_resume_later(h);
}

static struct conn *ep_conn(struct endpoint *ep)
{
	return ((struct fcgi_stream *)ep->mux)->conn->conn;
}

/* No stream uses the connection any more: keeps it, or ends it. */
static void last_left(struct fcgi_conn *h)
{
	/* (an application that never ends what was given up has no place for others) */
	bool good = !(h->flags & (FCGI_FL_STOP | FCGI_FL_BROKEN)) && h->next_id <= UINT16_MAX &&
		    h->given_up < h->max &&
		    !(h->conn->flags & (CONN_ERROR | CONN_EOF | CONN_CONNECTING | CONN_HANDSHAKE));

	if (good) {
		h->conn->flags |= CONN_REUSED;
		good = h->user->stream_left(h->owner, true);
	}
	if (!good)
		destroy(h);
}

static void ep_detach(struct endpoint *ep)
{
	struct fcgi_stream *s = ep->mux;
	struct fcgi_conn *h = s->conn;
	const unsigned whole = FCGIS_FL_RX_END | FCGIS_FL_TX_END;
	bool outer = enter(h);

	ep->ops = NULL;
	ep->mux = NULL;
	s->ep = NULL;
	h->live--;
	if (!(s->flags & FCGIS_FL_BEGUN) || s->flags & FCGIS_FL_ENDED) {
		fcgis_free(s);
	} else if ((s->flags & whole) != whole || ep->flags & (EP_RX_BAD | EP_RX_ABORT)) {
		/* (one that does one thing at a time might do this one for long) */
		if (h->max == 1)
			h->flags |= FCGI_FL_STOP;
		if (!(h->flags & FCGI_FL_BROKEN))
			fcgi_send_abort(s);
		s->flags |= FCGIS_FL_GIVEN_UP;
		h->given_up++;
	}
	/* it may be what the bytes of others wait behind, and no event comes for those */
	if (wire_in_has(&h->in) || h->conn->flags & CONN_CAN_RECV)
		fcgi_resume_later(h);
	if (h->live)
		h->user->stream_left(h->owner, false);
	else
		last_left(h);
	leave(h, outer);
}

static void ep_describe(const struct endpoint *ep, struct strbuf *out)
{
	const struct fcgi_stream *s = ep->mux;
	const struct fcgi_conn *h = s->conn;

	strbuf_printf(out, "      fstrm=%p fstrm.flg=0x%x .id=%u .sd.flg=0x%08x\n",
		      (const void *)s, s->flags, s->id, ep->flags);
	strbuf_printf(out, "       fconn=%p fconn.flg=0x%x .nbst=%u .max=%u .ibuf=%zu .obuf=%u\n",
		      (const void *)h, h->flags, h->live, h->max, wire_in_len(&h->in), h->out.len);
}

static const struct endpoint_ops fcgi_endpoint = {
	.name = "FCGI", .send = ep_send, .resume = ep_resume, .detach = ep_detach,
	.conn = ep_conn, .framed = true, .describe = ep_describe,
};

/* --- events ----------------------------------------------------------------------------------- */

/* The connection stands: streams that wait for it may send. */
static void notice_connected(struct fcgi_conn *h)
{
	struct fcgi_stream *s;

	h->flags |= FCGI_FL_CONNECTED;
	list_for_each(s, &h->streams, link) {
		if (!s->ep || s->ep->flags & EP_CONNECTED)
			continue;
		s->ep->flags |= EP_CONNECTED;
		fcgis_wake(s);
	}
	wake_all(h);
	if (!(h->flags & FCGI_FL_DEAD))
		h->user->room_changed(h->owner);
}

/* There is room in the socket. */
static void send_more(struct fcgi_conn *h)
{
	struct fcgi_stream *s;
	uint32_t was;

	if (!h->out.len)
		return;
	fcgi_flush(h);
	list_for_each(s, &h->streams, link) {
		if (!s->ep)
			continue;
		was = s->ep->flags;
		fcgi_send(s);
		if (s->ep->flags != was)
			fcgis_wake(s);
	}
	wake_all(h);
}

static void serve(struct fcgi_conn *h)
{
	struct conn *c = h->conn;
	bool outer = enter(h);

	if (c->flags & CONN_ERROR) {
		if (!(h->flags & FCGI_FL_BROKEN))
			fcgi_break(h, EP_ERROR | EP_RX_ABORT, "the connection failed");
	} else if (c->flags & (CONN_CONNECTING | CONN_HANDSHAKE)) {
		goto end;
	} else if (!(h->flags & FCGI_FL_CONNECTED)) {
		notice_connected(h);
	}
	if (!(h->flags & (FCGI_FL_DEAD | FCGI_FL_BROKEN)) && c->flags & CONN_CAN_SEND)
		send_more(h);
	if (!(h->flags & (FCGI_FL_DEAD | FCGI_FL_BROKEN)))
		fcgi_read(h);
	wake_all(h);
	/* a kept one that is over */
	if (!(h->flags & FCGI_FL_DEAD) && !h->live && h->flags & (FCGI_FL_STOP | FCGI_FL_BROKEN))
		destroy(h);
end:
	leave(h, outer);
}

static void ready(struct conn *c)
{
	struct fcgi_conn *h = c->owner;

	serve(h);
}

/* For show fd. */
static void describe(const struct conn *c, struct strbuf *out)
{
	const struct fcgi_conn *h = c->owner;

	h->user->describe(h->owner, out);
	strbuf_printf(out, " fconn=%p fconn.flg=0x%x .nbst=%u .max=%u .obuf=%u",
		      (const void *)h, h->flags, h->live, h->max, h->out.len);
}

static const struct conn_ops fcgi_conn_ops = {
	.name = "fcgi-back", .ready = ready, .describe = describe,
};

static void resume_one(struct list *link)
{
	serve(list_entry(link, struct fcgi_conn, resume));
}

bool fcgi_init(void)
{
	if (conn_pool)
		return true; /* another generation goes live */
	conn_pool = pool_new("fcgi_conn", sizeof(struct fcgi_conn));
	stream_pool = pool_new("fcgi_strm", sizeof(struct fcgi_stream));
	return conn_pool && stream_pool;
}

bool fcgi_thread_init(void)
{
	turn_list_init(&resume, resume_one);
	resume.limit_ns = WIRE_TURN_NS;
	return true;
}

/* --- the row of the table --------------------------------------------------------------------- */

static struct fcgi_conn *fcgi_of(const struct mux *m)
{
	return container_of((struct mux *)(uintptr_t)m, struct fcgi_conn, mux);
}

static bool back_attach(struct mux *m, struct endpoint *ep)
{
	struct fcgi_conn *h = fcgi_of(m);
	struct fcgi_stream *s = pool_zalloc(stream_pool);

	if (!s)
		return false;
	s->conn = h;
	s->ep = ep;
	ep->ops = &fcgi_endpoint;
	ep->mux = s;
	list_append(&h->streams, &s->link);
	h->live++;
	if (h->flags & FCGI_FL_CONNECTED) {
		ep->flags |= EP_CONNECTED;
		if (h->next_id > 1)
			ep->flags |= EP_REUSED;
	}
	return true;
}

/* How many requests at once, also before the application has told. */
static unsigned limit_of(const struct fcgi_peer *peer)
{
	return peer && peer->mpxs_conns && peer->max_reqs ? peer->max_reqs : 1;
}

static struct mux *back_new(struct conn *c, struct endpoint *ep, const struct back_owner *o)
{
	struct fcgi_conn *h = pool_zalloc(conn_pool);

	if (!h)
		return NULL;
	h->settings = o->settings;
	h->user = o->user;
	h->owner = o->owner;
	h->max = limit_of(o->settings->fcgi);
	h->next_id = 1;
	list_init(&h->streams);
	list_init(&h->resume);
	strbuf_init(&h->text);
	if (!back_attach(&h->mux, ep)) {
		pool_free(conn_pool, h);
		return NULL;
	}
	h->conn = c;
	c->owner = h;
	c->ops = &fcgi_conn_ops;
	return &h->mux;
}

static unsigned back_room(const struct mux *m)
{
	const struct fcgi_conn *h = fcgi_of(m);
	unsigned used = h->live + h->given_up, room, ids;

	if (!(h->flags & FCGI_FL_CONNECTED) || h->next_id > UINT16_MAX ||
	    h->flags & (FCGI_FL_STOP | FCGI_FL_BROKEN | FCGI_FL_WAITS | FCGI_FL_DEAD))
		return 0;
	if (used < h->active)
		used = h->active;
	room = h->max > used ? h->max - used : 0;
	/* (each that has not begun needs a number, and all of <live> might be such) */
	ids = (UINT16_MAX - h->next_id) / 2 + 1;
	ids = ids > h->live ? ids - h->live : 0;
	return room < ids ? room : ids;
}

/* (a kept one all of whose requests are still to be ended has no place for another) */
static bool back_is_ending(const struct mux *m)
{
	const struct fcgi_conn *h = fcgi_of(m);

	return (!h->live && h->active >= h->max) ||
	       h->flags & (FCGI_FL_STOP | FCGI_FL_BROKEN | FCGI_FL_DEAD) ||
	       h->next_id > UINT16_MAX || h->conn->flags & (CONN_EOF | CONN_ERROR);
}

static void back_close(struct mux *m)
{
	struct fcgi_conn *h = fcgi_of(m);
	bool outer = enter(h);

	destroy(h);
	leave(h, outer);
}

static bool back_detach_thread(struct mux *m)
{
	struct fcgi_conn *h = fcgi_of(m);

	BUG_ON(h->live);
	if (list_is_linked(&h->resume) || !list_is_empty(&h->streams) || h->out.len ||
	    wire_in_has(&h->in) || h->flags & (FCGI_FL_BUSY | FCGI_FL_IN_RECORD))
		return false;
	wire_in_clear(&h->in);
	conn_detach(h->conn);
	return true;
}

static bool back_attach_thread(struct mux *m)
{
	return conn_attach(fcgi_of(m)->conn);
}

static void set_settings(struct mux *m, const struct mux_settings *settings, int64_t idle_ping_ms)
{
	fcgi_of(m)->settings = settings;
}

const struct mux_kind mux_fcgi = {
	.name = "fcgi", .label = "FCGI", .mode = MUX_HTTP, .sides = MUX_BACK,
	.traits = MUX_MULTIPLEX, .back_new = back_new, .back_attach = back_attach,
	.back_room = back_room, .back_is_ending = back_is_ending, .back_close = back_close,
	.back_detach_thread = back_detach_thread, .back_attach_thread = back_attach_thread,
	.set_settings = set_settings,
};
