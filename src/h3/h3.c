/* SPDX-License-Identifier: GPL-2.0-or-later */
/* h3.c - the HTTP/3 mux: a connection, its streams, its row of the table of protocols */
#include <stdlib.h>
#include "base/clock.h"
#include "base/module.h"
#include "base/strbuf.h"
#include "codec/quic.h"
#include "core/activity.h"
#include "core/pool.h"
#include "mux/h2.h"
#include "net/conn.h"
#include "h3_priv.h"
#include "h3_trace.h"

/* Without requests a client that was asked to go has this long to begin what is on its way. */
#define LEAVE_MS 1000

static struct pool *conn_pool, *stream_pool;

bool h3_init_pools(void)
{
	if (!conn_pool)
		conn_pool = pool_new("h3c", sizeof(struct h3_conn));
	if (!stream_pool)
		stream_pool = pool_new("h3s", sizeof(struct h3_stream));
	return conn_pool && stream_pool;
}

static struct h3_conn *h3_of(struct mux *m)
{
	return container_of(m, struct h3_conn, mux);
}

/* --- the end ---------------------------------------------------------------------------------- */

static void destroy(struct h3_conn *h)
{
	BUG_ON(!list_is_empty(&h->streams));
	timer_cancel(&h->timer);
	H3C_TRACE(STATE, h, H3_EV(CONN_END), "the connection ends");
	if (h->back)
		h->back->closed(h->owner);
	else
		h->user->closed(h->owner);
	conn_close(&h->conn);
	pool_free(conn_pool, h);
}

void h3_conn_drop(struct h3_conn *h)
{
	pool_free(conn_pool, h);
}

bool h3_enter(struct h3_conn *h)
{
	bool outer = !(h->flags & H3C_BUSY);

	h->flags |= H3C_BUSY;
	return outer;
}

void h3_leave(struct h3_conn *h, bool outer)
{
	if (!outer)
		return;
	h->flags &= (uint16_t)~H3C_BUSY;
	if (h->flags & H3C_DEAD)
		destroy(h);
}

/* Its streams have ended; so does it. */
static void end(struct h3_conn *h)
{
	while (!list_is_empty(&h->streams))
		h3_stream_free(list_first(&h->streams, struct h3_stream, link));
	h->flags |= H3C_DEAD;
}

void h3_stream_lost(struct h3_stream *s, uint32_t flags)
{
	if (!s->ep) {
		h3_stream_free(s);
		return;
	}
	s->ep->flags |= flags;
	s->ep->user->wake(s->ep);
}

void h3_close(struct h3_conn *h, uint64_t code)
{
	struct quic_conn *q = h->quic;
	struct list requests;

	if (!q)
		return;
	h->quic = NULL;
	h->control = NULL;
	h->flags |= H3C_LOST;
	list_init(&requests);
	/* QUIC forgets its streams: no code may touch them any more */
	for (struct list *at = h->streams.next; at != &h->streams; at = at->next)
		list_entry(at, struct h3_stream, link)->quic = NULL;
	if (h->flags & H3C_SILENT)
		quic_conn_drop(q);
	else
		quic_conn_close(q, code);
	list_splice(&requests, &h->streams);
	while (!list_is_empty(&requests)) {
		struct h3_stream *s = list_first(&requests, struct h3_stream, link);

		list_remove(&s->link);
		list_append(&h->streams, &s->link);
		h3_stream_lost(s, EP_ERROR | EP_RX_ABORT);
	}
	if (!h->requests)
		end(h);
}

/* A request that is none: for the log. */
static void note_bad(struct h3_conn *h, enum front_bad_kind kind, const char *text,
		     uint64_t since_ns)
{
	struct front_bad bad = { .kind = kind, .text = text, .version = 30, .since_ns = since_ns };

	h->glitches++;
	if (h->back)
		return;
	if (h->user->glitch)
		h->user->glitch(h->owner);
	h->user->bad_request(h->owner, &bad);
}

/* Too many faults end the connection (tune.quic.fe.sec.glitches-threshold). */
static void check_glitches(struct h3_conn *h)
{
	unsigned most = h->quic ? quic_conn_glitches_max(h->quic) : 0;

	if (most && h->glitches >= most &&
	    100 - activity_idle_percent() >= (unsigned)h->settings->h2->kill_cpu_percent)
		h3_close(h, H3_EXCESSIVE_LOAD);
}

void h3_fail(struct h3_conn *h, enum h3_error code, const char *text)
{
	if (!h->quic)
		return;
	H3C_TRACE(ERROR, h, H3_EV(CONN_END), "%s, error 0x%x", text, code);
	note_bad(h, FRONT_BAD_SYNTAX, text, clock_now_ns());
	h3_close(h, code);
}

/* --- timers ----------------------------------------------------------------------------------- */

/* The first request whose head has not come yet; NULL: there is none. */
static const struct h3_stream *headless(const struct h3_conn *h)
{
	const struct h3_stream *s;

	list_for_each(s, &h->streams, link)
		if (s->role == H3_REQUEST && !s->ep)
			return s;
	return NULL;
}

static void arm(struct h3_conn *h)
{
	int64_t ms = h->flags & H3C_HAD_REQUEST ? mux_keep_alive_ms(h->settings)
						: mux_request_ms(h->settings);
	const struct h3_stream *s;
	uint64_t since = h->idle_ms;

	if (h->requests || !h->quic || h->back) { /* (what is idle there is the owner's affair) */
		timer_set(&h->timer, TIMER_NEVER);
		return;
	}
	if (h->flags & (H3C_LEAVING | H3C_USED_UP) && (!ms || ms > LEAVE_MS))
		ms = LEAVE_MS;
	s = headless(h);
	if (s) { /* a head that comes slowly */
		ms = mux_request_ms(h->settings);
		since = s->since_ns / NS_PER_MS;
	}
	timer_set(&h->timer, ms ? since + (uint64_t)ms : TIMER_NEVER);
}

static void put_goaway(struct h3_conn *h, uint64_t id)
{
	uint8_t frame[16], *at = quic_put_varint(frame, H3_GOAWAY);

	at = quic_put_varint(at, quic_varint_len(id));
	at = quic_put_varint(at, id);
	if (h->control)
		quic_stream_send_copy(h->control, frame, (size_t)(at - frame));
}

static void timeout(struct timer *t)
{
	struct h3_conn *h = container_of(t, struct h3_conn, timer);
	bool outer = h3_enter(h);

	put_goaway(h, h->next_id);
	h3_close(h, H3_NO_ERROR);
	h3_leave(h, outer);
}

/* --- streams ---------------------------------------------------------------------------------- */

void h3_stream_free(struct h3_stream *s)
{
	struct h3_conn *h = s->conn;
	bool was_request = s->ep != NULL, is_request = s->role == H3_REQUEST;

	H3S_TRACE(STATE, s, H3_EV(STREAM_END), "the stream ends");
	list_remove(&s->link);
	if (s->quic)
		quic_stream_leave(s->quic);
	pool_free(stream_pool, s);
	if (!is_request || (was_request && --h->requests))
		return;
	if (was_request)
		h->idle_ms = clock_now_ms();
	if (!(h->flags & H3C_LOST))
		arm(h);
	else if (was_request)
		end(h);
}

void h3_stream_fail(struct h3_stream *s, enum h3_error code, const char *text)
{
	struct h3_conn *h = s->conn;

	H3S_TRACE(ERROR, s, H3_EV(STREAM_END), "%s, error 0x%x", text, code);
	s->flags |= H3S_RESET;
	s->reset_code = code;
	if (s->quic) {
		quic_stream_reset(s->quic, code);
		quic_stream_stop(s->quic, code);
	}
	if (!s->ep) {
		note_bad(h, code == H3_EXCESSIVE_LOAD ? FRONT_BAD_TOO_LARGE
							      : FRONT_BAD_SYNTAX,
			    text, s->since_ns);
		h3_stream_free(s);
		check_glitches(h);
		return;
	}
	s->ep->rx_error = text;
	if (h->back && code != H3_INTERNAL_ERROR)
		s->ep->flags |= EP_RX_BAD;
	s->ep->flags |= EP_ERROR | EP_RX_ABORT;
	s->ep->user->wake(s->ep);
	if (!h->back)
		return;
	h->glitches++;
	check_glitches(h);
}

struct h3_stream *h3_stream_new(struct h3_conn *h)
{
	struct h3_stream *s = pool_zalloc(stream_pool);

	if (!s)
		return NULL;
	s->conn = h;
	s->role = H3_REQUEST;
	s->left = s->tx_left = UINT64_MAX;
	s->since_ns = clock_now_ns();
	list_append(&h->streams, &s->link);
	H3S_TRACE(STATE, s, H3_EV(STREAM_NEW), "a stream begins");
	return s;
}

static void on_stream(void *owner, struct quic_stream *q)
{
	struct h3_conn *h = owner;
	struct h3_stream *s = h3_stream_new(h);
	uint64_t id = quic_stream_id(q);

	if (!s) {
		quic_stream_reset(q, H3_REQUEST_REJECTED);
		quic_stream_stop(q, H3_REQUEST_REJECTED);
		quic_stream_leave(q);
		return;
	}
	s->quic = q;
	quic_stream_set_owner(q, s);
	if (quic_id_is_uni(id)) {
		s->role = H3_UNKNOWN;
		return;
	}
	if (id >= h->next_id)
		h->next_id = id + 4;
	h->flags |= H3C_HAD_REQUEST;
	arm(h);
	if (quic_conn_is_used_up(h->quic) && !(h->flags & H3C_USED_UP)) {
		h->flags |= H3C_USED_UP;
		put_goaway(h, h->next_id);
	}
}

/* A server wants no more of a request: it may answer all the same. */
static void not_wanted(struct h3_stream *s)
{
	struct endpoint *ep = s->ep;

	s->flags |= H3S_TX_END;
	block_queue_clear(&ep->tx);
	ep->flags |= EP_TX_DONE;
	ep->user->wake(ep);
}

/* The peer has broken off its half, or wants nothing more of ours. */
static void broken_off(struct h3_stream *s, unsigned events)
{
	if (h3_role_stays(s->role)) {
		h3_fail(s->conn, H3_CLOSED_CRITICAL_STREAM, "a stream that must stay was closed");
		return;
	}
	if (!s->ep) {
		quic_stream_reset(s->quic, H3_REQUEST_CANCELLED);
		quic_stream_stop(s->quic, H3_REQUEST_CANCELLED);
		h3_stream_free(s);
		return;
	}
	/* all was said already: its end is none */
	if (events & QUIC_EV_STOPPED && s->flags & H3S_TX_END && s->flags & H3S_RX_END)
		return;
	if (s->conn->back && !(events & QUIC_EV_RESET)) {
		not_wanted(s);
		return;
	}
	s->flags |= H3S_RESET | H3S_PEER_RESET;
	s->reset_code = quic_stream_error(s->quic);
	if (s->conn->back && s->reset_code == H3_REQUEST_REJECTED)
		s->ep->flags |= EP_RX_REFUSED;
	s->ep->flags |= EP_ERROR | EP_RX_ABORT;
	s->ep->user->wake(s->ep);
}

static void on_event(struct quic_stream *q, unsigned events)
{
	struct h3_stream *s = quic_stream_owner(q);
	struct h3_conn *h = s->conn;
	bool outer = h3_enter(h);

	if (events & QUIC_EV_ABORT) {
		s->quic = NULL;
		quic_stream_leave(q);
		h3_stream_lost(s, EP_ERROR | EP_RX_ABORT);
	} else {
		if (events & (QUIC_EV_RESET | QUIC_EV_STOPPED))
			broken_off(s, events);
		else if (events & QUIC_EV_WRITABLE && s->ep && h3_send(s))
			s->ep->user->wake(s->ep);
		/* (its user may have left; a server may answer and stop us in one datagram) */
		if (events & QUIC_EV_READABLE && h->quic && quic_stream_owner(q) == s)
			h3_read(s);
	}
	h3_leave(h, outer);
}

/* What waited for the connection is told that it did not come to be. */
static void fail_pending(struct h3_conn *h)
{
	struct h3_stream *s, *next;

	list_for_each_safe(s, next, &h->streams, link)
		if (s->flags & H3S_PENDING) {
			s->flags |= H3S_RESET;
			h3_stream_lost(s, EP_ERROR);
			break; /* there is one at most */
		}
}

/* The peer has closed it: with which error? */
static void count_error(const struct h3_conn *h)
{
	uint64_t e;

	if (!h->quic || !quic_conn_closed_by_app(h->quic, &e))
		return;
	if (e >= H3_NO_ERROR && e <= H3_VERSION_FALLBACK)
		h3_count(h, COUNT_H3_ERR_NONE + (unsigned)(e - H3_NO_ERROR));
	else if (e >= QPACK_DECOMPRESSION_FAILED && e <= QPACK_DECODER_STREAM_ERROR)
		h3_count(h, COUNT_QPACK_ERR_SECTION + (unsigned)(e - QPACK_DECOMPRESSION_FAILED));
}

/* QUIC has lost the connection, and told its streams. */
static void on_closed(void *owner)
{
	struct h3_conn *h = owner;
	bool outer = h3_enter(h);

	count_error(h);
	h->quic = NULL;
	h->control = NULL;
	h->flags |= H3C_LOST;
	fail_pending(h);
	if (!h->requests)
		end(h);
	h3_leave(h, outer);
}

static void on_room(void *owner)
{
	struct h3_conn *h = owner;

	if (h->back)
		h->back->room_changed(h->owner);
}

static const struct quic_events quic_events = {
	.stream_new = on_stream, .stream_event = on_event, .closed = on_closed, .room = on_room,
};

/* --- the endpoint ----------------------------------------------------------------------------- */

void h3_ep_send(struct endpoint *ep)
{
	h3_send(ep->mux);
}

void h3_ep_resume(struct endpoint *ep)
{
	struct h3_stream *s = ep->mux;
	struct h3_conn *h = s->conn;
	bool outer = h3_enter(h);

	if (s->quic)
		h3_read(s);
	h3_leave(h, outer);
}

static uint64_t detach_code(const struct h3_stream *s, uint32_t flags)
{
	if (flags & EP_TX_DONE)
		return H3_NO_ERROR;
	if (flags & EP_KILL)
		return H3_EXCESSIVE_LOAD;
	return s->flags & H3S_HEAD_SENT ? H3_REQUEST_CANCELLED : H3_REQUEST_REJECTED;
}

static void ep_detach(struct endpoint *ep)
{
	struct h3_stream *s = ep->mux;
	struct h3_conn *h = s->conn;
	bool outer = h3_enter(h), kill = ep->flags & EP_KILL;
	uint64_t code = detach_code(s, ep->flags);

	ep->ops = NULL;
	ep->mux = NULL;
	if (s->quic) {
		if (!(s->flags & H3S_TX_END))
			quic_stream_reset(s->quic, code);
		if (!(s->flags & H3S_RX_END))
			quic_stream_stop(s->quic, code);
	}
	h3_stream_free(s);
	if (kill) {
		/* (or a rule made the connection silent) */
		if (h->conn->flags & CONN_NO_LINGER)
			h->flags |= H3C_SILENT;
		h3_close(h, H3_EXCESSIVE_LOAD);
	}
	h3_leave(h, outer);
}

struct conn *h3_ep_conn(struct endpoint *ep)
{
	return ((struct h3_stream *)ep->mux)->conn->conn;
}

void h3_ep_facts(const struct endpoint *ep, struct endpoint_facts *out)
{
	const struct h3_stream *s = ep->mux;

	*out = (struct endpoint_facts){
		.streams = s->conn->requests, .glitches = s->conn->glitches, .major = 3,
		.id = s->quic ? (uint32_t)quic_stream_id(s->quic) : 0,
		.reset_code = s->flags & H3S_PEER_RESET ? (int64_t)s->reset_code : -1,
	};
}

const struct endpoint_ops h3_endpoint = {
	.name = "QUIC", .send = h3_ep_send, .resume = h3_ep_resume, .detach = ep_detach,
	.conn = h3_ep_conn, .framed = true, .facts = h3_ep_facts,
};

/* --- the row ---------------------------------------------------------------------------------- */

static void no_event(struct conn *c)
{
}

static void describe(const struct conn *c, struct strbuf *out)
{
	const struct h3_conn *h = c->owner;

	h->user->describe(h->owner, out);
	strbuf_printf(out, " mux=QUIC");
}

static const struct conn_ops conn_ops = {
	.name = "h3-front", .ready = no_event, .describe = describe,
};

struct h3_conn *h3_conn_new(struct conn *c, const struct mux_settings *set)
{
	struct h3_conn *h = pool_zalloc(conn_pool);

	if (!h)
		return NULL;
	h->conn = c;
	h->quic = quic_conn_of(c);
	h->settings = set;
	h->idle_ms = clock_now_ms();
	list_init(&h->streams);
	timer_init(&h->timer, timeout);
	return h;
}

static void set_tally(struct h3_conn *h)
{
	const struct mux_settings *set = h->settings;

	if (h->quic)
		quic_conn_tally(h->quic, &(struct quic_tally){ set->counters, set->quic_counts });
}

void h3_conn_take(struct h3_conn *h)
{
	quic_conn_take(h->quic, &quic_events, h);
	set_tally(h);
}

struct mux *h3_front_new(struct conn *c, const struct front_owner *o)
{
	struct h3_conn *h = h3_conn_new(c, o->settings);

	if (!h)
		return NULL;
	h->user = o->user;
	h->owner = o->owner;
	c->ops = &conn_ops;
	c->owner = h;
	h3_conn_take(h);
	return &h->mux;
}

/* Opens our control stream. The peer may send nothing on it, but ask us to end it. */
static bool open_control(struct h3_conn *h)
{
	struct h3_stream *s;

	h->control = quic_stream_open_uni(h->quic);
	s = h->control ? h3_stream_new(h) : NULL;
	if (!s)
		return false;
	s->quic = h->control;
	s->role = H3_OUR_CONTROL;
	quic_stream_set_owner(h->control, s);
	return true;
}

/* SETTINGS: no table for field sections, heads as large as we read. */
bool h3_conn_start(struct h3_conn *h)
{
	uint8_t bytes[32], settings[16], *at = bytes, *end = settings;

	end = quic_put_varint(end, 0x06); /* SETTINGS_MAX_FIELD_SECTION_SIZE */
	end = quic_put_varint(end, h3_head_max(h));
	if (!h->back) {
		*end++ = 0x08; /* SETTINGS_ENABLE_CONNECT_PROTOCOL (RFC 9220) */
		*end++ = 1;
	}
	at = quic_put_varint(at, H3_TYPE_CONTROL);
	at = quic_put_varint(at, H3_SETTINGS);
	at = quic_put_varint(at, (uint64_t)(end - settings));
	for (const uint8_t *p = settings; p < end; p++)
		*at++ = *p;
	H3C_TRACE(PROTO, h, H3_EV(CONN_NEW) | H3_EV(TX_FRAME) | H3_EV(TX_SETTINGS),
		  "sending SETTINGS");
	if (open_control(h) && quic_stream_send_copy(h->control, bytes, (size_t)(at - bytes)))
		return true;
	h3_close(h, H3_STREAM_CREATION_ERROR);
	return false;
}

void h3_front_start(struct mux *m, bool readable)
{
	struct h3_conn *h = h3_of(m);

	h3_conn_start(h);
	arm(h);
	if (h->flags & H3C_DEAD)
		destroy(h);
}

void h3_front_stop(struct mux *m)
{
	struct h3_conn *h = h3_of(m);

	if (h->flags & (H3C_LEAVING | H3C_LOST))
		return;
	/* what is on its way is still served (RFC 9114 5.2) */
	h->flags |= H3C_LEAVING;
	h->idle_ms = clock_now_ms();
	put_goaway(h, (QUIC_VARINT_MAX & ~UINT64_C(3)));
	arm(h);
}

void h3_set_settings(struct mux *m, const struct mux_settings *set, int64_t idle_ping_ms)
{
	struct h3_conn *h = h3_of(m);

	h->settings = set;
	set_tally(h);
}
