/* SPDX-License-Identifier: GPL-2.0-or-later */
/* h2_back.c - the HTTP/2 mux towards servers: requests out, answers in
 *
 * We are the client here: we send the preface, number the streams and send the requests. Numbers
 * must rise in the order in which the heads leave, so a stream gets its number with its head; until
 * then it waits in the connection's <pending>.
 *
 * Streams come and go; the owner is told when there is room for one more, and when the last one has
 * left. Requests that the server has not processed (numbers above GOAWAY's, or REFUSED_STREAM) are
 * marked EP_RX_REFUSED: they may be sent again, whatever their method.
 */
#include "base/arena.h"
#include "base/clock.h"
#include "codec/websocket.h"
#include "h2_conn_priv.h"
#include "h2_in_priv.h"
#include "h2_out_priv.h"
#include "h2_side_priv.h"
#include "h2_stream_priv.h"
#include "h2_tune_priv.h"
#include "http/msg.h"
#include "mux/head.h"
#include "trace_priv.h"

/* --- requests --------------------------------------------------------------------------------- */

static void back_number(struct h2_stream *s)
{
	struct h2_conn *h = s->conn;

	list_remove(&s->sender);
	s->id = h->last_stream ? h->last_stream + 2 : 1;
	s->tx_window = h->peer.window;
	s->rx_window = h->stream_window;
	h->last_stream = s->id;
	tree_insert(&h->streams, &s->node, s->id);
	h2s_set_state(s, H2S_OPEN);
	h2s_receiving(s);
}

static bool is_websocket(struct slice protocol)
{
	return slice_eq_nocase(protocol, SLICE("websocket"));
}

/* Is the request of no use without the protocol that it asks for? Elsewhere a server may as well
 * answer as if it had not been asked (RFC 9110 7.8).
 */
static bool needs_upgrade(const struct http_msg *m, struct slice protocol)
{
	return m->flags & HTTP_MSG_EXTENDED_CONNECT || is_websocket(protocol);
}

/* The protocol that a request asks for, none if it is not to be asked for with an extended CONNECT:
 * that has no body.
 */
static struct slice upgrade_of(const struct http_msg *m)
{
	struct slice protocol = http_msg_upgrade(m);

	if (m->body != HTTP_BODY_NONE && !needs_upgrade(m, protocol))
		return slice_none();
	return protocol;
}

static void back_note_head(struct h2_stream *s, const struct http_msg *m)
{
	s->flags |= H2S_FL_HEAD_SENT;
	s->tx_left = m->body == HTTP_BODY_LENGTH ? m->content_length : UINT64_MAX;
	if (m->method == HTTP_METH_HEAD)
		s->flags |= H2S_FL_HEAD;
	if (m->method == HTTP_METH_CONNECT)
		s->flags |= H2S_FL_CONNECT;
	/* its SETTINGS were waited for */
	if (s->conn->peer.connect && upgrade_of(m).len)
		s->flags |= H2S_FL_CONNECT | H2S_FL_EXTENDED;
}

/* The pieces of a request that become pseudo-fields. */
struct target {
	struct slice scheme, authority, path;
};

/* An absolute form names all. Otherwise nothing is known of the scheme, and Host says the rest: it
 * stays the field that it is.
 */
static struct target target_of(const struct http_msg *m)
{
	struct target t = { SLICE("https"), slice_none(), http_msg_pathq(m) };
	bool absolute = m->flags & HTTP_MSG_ABSOLUTE;

	if (absolute) {
		t.scheme = slice_sub(m->uri, 0, slice_find(m->uri, SLICE("://")));
		t.authority = http_msg_authority(m);
	}
	if (slice_eq(m->uri, SLICE("*")) ||
	    (absolute && !t.path.len && m->method == HTTP_METH_OPTIONS))
		t.path = SLICE("*");
	else if (!t.path.len)
		t.path = SLICE("/");
	return t;
}

/* As it is written in its registry, whatever the client wrote. */
static struct slice protocol_of(const struct http_msg *m)
{
	struct slice protocol = http_msg_upgrade(m);

	return is_websocket(protocol) ? SLICE("websocket") : protocol;
}

static bool put_pseudo(struct h2_stream *s, struct hpack_writer *w, const struct http_msg *m)
{
	struct hpack_encoder *e = &s->conn->encoder;
	struct target t = target_of(m);
	bool extended = s->flags & H2S_FL_EXTENDED, ok;

	if (m->method == HTTP_METH_CONNECT)
		return hpack_write_pseudo(e, w, HPACK_METHOD, SLICE("CONNECT")) &&
		       hpack_write_pseudo(e, w, HPACK_AUTHORITY, m->uri);
	/* :authority may not be missing where :protocol is there (RFC 8441 4) */
	if (extended && !t.authority.ptr) {
		const struct h1_field *host = http_field_find(&m->fields, FIELD_HOST, slice_none());

		t.authority = host ? host->value : SLICE("");
	}
	ok = hpack_write_pseudo(e, w, HPACK_METHOD, extended ? SLICE("CONNECT") : m->method_text);
	if (extended)
		ok = ok && hpack_write_pseudo(e, w, HPACK_PROTOCOL, protocol_of(m));
	ok = ok && hpack_write_pseudo(e, w, HPACK_SCHEME, t.scheme);
	if (t.authority.ptr)
		ok = ok && hpack_write_pseudo(e, w, HPACK_AUTHORITY, t.authority);
	return ok && hpack_write_pseudo(e, w, HPACK_PATH, t.path);
}

static bool is_sent(const struct h2_stream *s, const struct http_msg *m, const struct h1_field *f)
{
	if (!f->name.ptr || !h2_field_is_allowed(f->id))
		return false;
	switch (f->id) {
	case FIELD_HOST: /* unless it was ":authority" */
		return !(m->flags & HTTP_MSG_ABSOLUTE) && m->method != HTTP_METH_CONNECT &&
		       !(s->flags & H2S_FL_EXTENDED);
	case FIELD_HTTP2_SETTINGS:
		return false;
	case FIELD_TE:
		return slice_eq_nocase(f->value, SLICE("trailers"));
	case FIELD_CONTENT_LENGTH:
		return m->body == HTTP_BODY_NONE && slice_eq(f->value, SLICE("0"));
	}
	return true;
}

static bool back_put_head(struct h2_stream *s, struct hpack_writer *w, const struct http_msg *m)
{
	return put_pseudo(s, w, m) &&
	       h2_put_fields(s, w, m, is_sent, m->body == HTTP_BODY_LENGTH);
}

/* --- answers ---------------------------------------------------------------------------------- */

static bool back_headers_are_due(struct h2_conn *h)
{
	uint32_t id = h->rx.frame.stream;
	struct h2_stream *s;

	if (!(id & 1) || id > h->last_stream) {
		h2c_error(h, H2_ERR_PROTOCOL_ERROR, "HEADERS on an idle stream");
		return false;
	}
	s = h2s_find(h, id);
	if (s && s->state != H2S_OPEN && s->state != H2S_HALF_LOCAL && !(s->flags & H2S_FL_RESET))
		h2s_error(s, H2_ERR_STREAM_CLOSED, "HEADERS behind the end of the stream");
	return h->state < H2C_CLOSING; /* whichever stream it is for, the tables have to see it */
}

/* How the body of an answer ends. */
static uint8_t body_of(const struct h2_stream *s, const struct h2_head *head, bool end_stream)
{
	if (s->flags & H2S_FL_CONNECT && head->status >= 200 && head->status < 300)
		return HTTP_BODY_TUNNEL;
	if (end_stream || s->flags & H2S_FL_HEAD || head->status < 200 || head->status == 204 ||
	    head->status == 304)
		return HTTP_BODY_NONE;
	return head->flags & H2_HEAD_FL_CONTENT_LENGTH ? HTTP_BODY_LENGTH : HTTP_BODY_CHUNKED;
}

/* The proof that a server of HTTP/1 would give (RFC 6455 4.2.2). */
static bool fill_accept(struct http_msg *m, const struct http_msg *request)
{
	struct h1_field *key = http_field_find(&request->fields, FIELD_SEC_WEBSOCKET_KEY,
					       SLICE("sec-websocket-key"));
	char accept[WEBSOCKET_ACCEPT_LEN];

	if (!key)
		return true;
	websocket_accept(key->value, accept);
	return http_msg_add_field(m, SLICE("sec-websocket-accept"),
				  slice_make(accept, sizeof(accept)));
}

/* A server that went over to another protocol: told as HTTP/1 does (RFC 8441 5). */
static bool fill_upgrade(struct http_msg *m, const struct http_msg *request)
{
	struct slice protocol = protocol_of(request);

	m->status = 101;
	m->flags |= HTTP_MSG_UPGRADE;
	return (!is_websocket(protocol) || fill_accept(m, request)) &&
	       http_msg_put_field(m, FIELD_UPGRADE, SLICE("upgrade"), protocol) &&
	       http_msg_put_field(m, FIELD_CONNECTION, SLICE("connection"), SLICE("upgrade"));
}

/* False: no memory. */
static bool fill_response(struct h2_stream *s, struct http_msg *m, struct h2_head *head,
			  bool end_stream)
{
	if (!mux_head_fields(m, head))
		return false;
	m->flags = HTTP_MSG_RESPONSE;
	if (head->status < 200)
		m->flags |= HTTP_MSG_INTERIM;
	m->version = 20;
	m->version_text = SLICE("HTTP/2.0");
	m->status = head->status;
	m->body = body_of(s, head, end_stream);
	m->content_length = head->content_length;
	if (m->body == HTTP_BODY_TUNNEL && s->flags & H2S_FL_EXTENDED &&
	    !fill_upgrade(m, s->ep->tx_head))
		return false;
	m->reason = http_reason(m->status);
	return true;
}

/* Bytes of the body that are announced, none counted as such. */
static void expect_body(struct h2_stream *s, const struct http_msg *m)
{
	s->left = UINT64_MAX;
	if (m->body == HTTP_BODY_LENGTH)
		s->left = m->content_length;
	else if (m->body == HTTP_BODY_NONE)
		s->left = 0;
}

static void bad_response(struct h2_stream *s, const char *text)
{
	s->ep->flags |= EP_RX_BAD;
	h2s_error(s, H2_ERR_PROTOCOL_ERROR, text);
}

/* A well-formed head for a stream that waits for one. */
static void take_response(struct h2_stream *s, struct h2_head *head, bool end_stream)
{
	struct endpoint *ep = s->ep;
	bool interim = head->status < 200;

	if (interim && end_stream) {
		bad_response(s, "an interim answer that ends the stream");
		return;
	}
	/* the client does not read: what is kept for it must not grow */
	if (interim && ep->flags & EP_RX_HEAD) {
		h2c_glitch(s->conn, "interim answers behind one that waits");
		return;
	}
	/* an interim head that was not taken yet is overtaken by the final one */
	if (!fill_response(s, ep->rx_head, head, end_stream)) {
		h2s_error(s, H2_ERR_INTERNAL_ERROR, "out of memory");
		return;
	}
	ep->rx_head_len = (uint32_t)head->list_len;
	/* (its reason is none of the server's) */
	ep->rx_bytes += http_msg_size(ep->rx_head) - ep->rx_head->reason.len;
	ep->flags |= EP_RX_HEAD | EP_RX_ANY;
	H2S_TRACE(USER, s, H2_EV(RX_HEAD) | H2_EV(USER_NEW), "received a response, %u",
		  ep->rx_head->status);
	if (interim) {
		h2s_wake(s);
		return;
	}
	s->flags |= H2S_FL_HEAD_GOT;
	expect_body(s, ep->rx_head);
	if (end_stream)
		h2s_ended_remote(s);
	else
		h2s_expect_body(s);
	h2s_wake_soon(s); /* the body is probably right behind: both go together */
}

static void on_response(struct h2_conn *h, struct h2_stream *s, struct slice block, bool end)
{
	unsigned options = end ? H2_HEAD_OPT_END_STREAM : 0;
	struct h2_head head;

	if (!s || s->flags & H2S_FL_RESET)
		options |= H2_HEAD_OPT_DISCARD;
	else if (s->flags & H2S_FL_HEAD)
		options |= H2_HEAD_OPT_TO_HEAD;
	switch (h2_head_read(h, block, H2_HEAD_RESPONSE, options, &head)) {
	case H2_HEAD_OK:
		take_response(s, &head, end);
		break;
	case H2_HEAD_BROKEN:
		h2c_error(h, H2_ERR_COMPRESSION_ERROR, hpack_error_text(head.hpack_error));
		break;
	case H2_HEAD_TOO_LARGE:
		bad_response(s, "head too large");
		break;
	case H2_HEAD_REFUSED:
		if (!(options & H2_HEAD_OPT_DISCARD))
			bad_response(s, h2_head_error_text(head.error));
		break;
	}
}

static void back_head_block(struct h2_conn *h, struct slice block, bool end_stream)
{
	struct h2_stream *s = h2s_find(h, h->rx.frame.stream);

	if (s && s->flags & H2S_FL_HEAD_GOT && !(s->flags & H2S_FL_RESET))
		h2_head_trailers(h, s, block, end_stream);
	else
		on_response(h, s, block, end_stream);
}

/* --- streams ---------------------------------------------------------------------------------- */

/* A stream that the server will not serve is told. It may leave, and others with it. */
static void refuse(struct h2_stream *s)
{
	s->flags |= H2S_FL_RESET;
	if (s->id)
		h2s_set_state(s, H2S_CLOSED);
	block_queue_clear(&s->ep->tx);
	s->ep->flags |= EP_ERROR | EP_RX_ABORT | EP_RX_REFUSED;
	h2s_wake(s);
}

static void fail_pending(struct h2_conn *h)
{
	struct h2_stream *s;

	while (!list_is_empty(&h->pending)) {
		s = list_first(&h->pending, struct h2_stream, sender);
		list_remove(&s->sender);
		s->flags |= H2S_FL_RESET;
		s->ep->flags |= h->flags & H2C_FL_CONNECTED ? EP_ERROR | EP_RX_REFUSED : EP_ERROR;
		h2s_wake(s);
	}
}

/* A server that does not know extended CONNECT cannot be asked for another protocol (RFC 8441
 * 3).
 */
static bool is_refused(const struct h2_stream *s)
{
	const struct http_msg *m = s->ep->tx_head;
	struct slice protocol = upgrade_of(m);

	if (!protocol.len || !needs_upgrade(m, protocol))
		return false;
	return !s->conn->peer.connect || m->body != HTTP_BODY_NONE;
}

static void refuse_upgrade(struct h2_stream *s)
{
	s->flags |= H2S_FL_RESET;
	s->ep->flags |= EP_ERROR;
}

static void release_upgrade(struct h2_stream *s)
{
	if (!is_refused(s)) {
		h2s_send(s);
		return;
	}
	refuse_upgrade(s);
	h2s_wake(s);
}

/* What waited for the server's SETTINGS goes on. */
static void back_settings(struct h2_conn *h)
{
	struct list waiting;

	list_init(&waiting);
	while (!list_is_empty(&h->pending)) {
		struct h2_stream *s = list_first(&h->pending, struct h2_stream, sender);

		list_remove(&s->sender);
		list_append(&waiting, &s->sender);
	}
	while (!list_is_empty(&waiting)) {
		struct h2_stream *s = list_first(&waiting, struct h2_stream, sender);

		list_remove(&s->sender);
		list_append(&h->pending, &s->sender);
		if (s->ep->flags & EP_TX_HEAD && upgrade_of(s->ep->tx_head).len)
			release_upgrade(s);
	}
	h->user.back->room_changed(h->owner);
}

static void back_goaway(struct h2_conn *h, uint32_t last)
{
	struct tree_node *n = tree_find_ge(&h->streams, (uint64_t)last + 1);

	h->user.back->room_changed(h->owner);
	while (n) {
		uint64_t id = n->key;

		refuse(list_entry(n, struct h2_stream, node));
		n = tree_find_ge(&h->streams, id + 1);
	}
	fail_pending(h);
}

/* No stream uses the connection any more: keeps it, or ends it. */
static void last_left(struct h2_conn *h)
{
	bool good = h->state < H2C_CLOSING && !(h->flags & (H2C_FL_STOP | H2C_FL_BROKEN)) &&
		    h->out.len < H2_OUT_STUCK;

	if (h->user.back->stream_left(h->owner, true) && good) {
		h2c_arm(h);
		return;
	}
	h->flags |= H2C_FL_STOP;
	if (h->state < H2C_CLOSING)
		h2c_goaway(h, H2_ERR_NO_ERROR, 0);
	h2c_check_end(h);
}

static void h2_back_detach(struct endpoint *ep)
{
	struct h2_stream *s = ep->mux;
	struct h2_conn *h = s->conn;
	bool outer = h2_enter(h);

	H2S_TRACE(STATE, s, H2_EV(USER_END), "the stream leaves");
	ep->ops = NULL;
	ep->mux = NULL;
	if (h2s_is_cut_short(s))
		h2c_cancel(h, s->id, H2_ERR_CANCEL);
	h2s_free(s);
	if (h->stream_count)
		h->user.back->stream_left(h->owner, false);
	else
		last_left(h);
	h2_leave(h, outer);
}

/* Whether the server knows extended CONNECT is in its SETTINGS: an upgrade waits for them. */
static void h2_back_send(struct endpoint *ep)
{
	struct h2_stream *s = ep->mux;

	if (!s->id && ep->flags & EP_TX_HEAD && upgrade_of(ep->tx_head).len) {
		if (s->conn->state == H2C_SETTINGS)
			return;
		if (is_refused(s)) {
			refuse_upgrade(s);
			return;
		}
	}
	h2_ep_send(ep);
}

static const struct endpoint_ops back_endpoint = {
	.name = "H2", .send = h2_back_send, .resume = h2_ep_resume, .detach = h2_back_detach,
	.conn = h2_ep_conn, .framed = true,
	.describe = h2_ep_describe,
};

bool h2_back_attach(struct mux *m, struct endpoint *ep)
{
	struct h2_conn *h = h2_of(m);
	struct h2_stream *s = h2s_new(h, 0);

	if (!s)
		return false;
	s->ep = ep;
	ep->ops = &back_endpoint;
	ep->mux = s;
	list_append(&h->pending, &s->sender);
	timer_set(&h->timer, TIMER_NEVER);
	if (h->flags & H2C_FL_CONNECTED) {
		ep->flags |= EP_CONNECTED;
		if (h->streams_total > 1)
			ep->flags |= EP_REUSED;
	}
	return true;
}

/* --- the connection --------------------------------------------------------------------------- */

/* The connection stands: streams that wait for it may send. */
static void back_connected(struct h2_conn *h)
{
	struct h2_stream *s;

	h->flags |= H2C_FL_CONNECTED;
	/* at most the first stream: others come when there is room, which is from now on */
	if (!list_is_empty(&h->pending)) {
		s = list_first(&h->pending, struct h2_stream, sender);
		s->ep->flags |= EP_CONNECTED;
		h2s_wake(s);
	}
	if (!(h->flags & H2C_FL_DEAD))
		h->user.back->room_changed(h->owner);
}

static void h2_back_ready(struct conn *c)
{
	struct h2_conn *h = c->owner;
	bool outer = h2_enter(h);

	if (!(c->flags & CONN_ERROR)) {
		if (c->flags & (CONN_CONNECTING | CONN_HANDSHAKE)) {
			h2_leave(h, outer);
			return;
		}
		if (!(h->flags & H2C_FL_CONNECTED))
			back_connected(h);
	}
	if (!(h->flags & H2C_FL_DEAD))
		h2_ready(c);
	h2_leave(h, outer);
}

static const struct conn_ops back_conn_ops = {
	.name = "h2-back", .ready = h2_back_ready, .describe = h2_describe,
};

static void back_bad(struct h2_conn *h, enum front_bad_kind kind, const char *text)
{
	/* its streams say it, each in its own log line */
}

static void back_closed(struct h2_conn *h)
{
	h->user.back->closed(h->owner);
}

static void back_describe(const struct h2_conn *h, struct strbuf *out)
{
	h->user.back->describe(h->owner, out);
}

static const struct h2_side back_side = {
	.stream_ops = &back_endpoint, .is_back = true, .headers_are_due = back_headers_are_due,
	.fail_pending = fail_pending, .number = back_number,
	.head_block = back_head_block, .note_head = back_note_head, .put_head = back_put_head,
	.settings = back_settings, .goaway = back_goaway, .bad = back_bad, .closed = back_closed,
	.describe = back_describe,
};

/* Preface and SETTINGS, before anything else. */
void h2c_say_hello(struct h2_conn *h)
{
	H2C_TRACE(PROTO, h, H2_EV(TX_PREFACE), "sending the preface");
	h2_out_control(h, H2_PREFACE, H2_PREFACE_LEN);
	h2c_send_settings(h);
}

struct mux *h2_back_new(struct conn *c, struct endpoint *ep, const struct back_owner *o)
{
	const struct conn_ops *ops = c->ops;
	void *owner = c->owner;
	struct h2_conn *h = h2_new(c, &back_side, o->owner, o->settings);

	if (!h)
		return NULL;
	h->user.back = o->user;
	c->ops = &back_conn_ops;
	H2C_TRACE(STATE, h, H2_EV(NEW), "a connection to a server begins");
	timer_init(&h->timer, h2_timeout);
	h2c_set_state(h, H2C_SETTINGS);
	h2c_say_hello(h);
	h2_set_idle_ping(h, o->idle_ping_ms);
	if (h2_back_attach(&h->mux, ep))
		return &h->mux;
	h2_abandon(h);
	c->ops = ops;
	c->owner = owner;
	return NULL;
}

bool h2_front_reverse(struct mux *m, const struct back_owner *o)
{
	struct h2_conn *h = h2_of(m);

	if (h->state != H2C_OPEN || h->stream_count || h->last_stream ||
	    h->flags & (H2C_FL_STOP | H2C_FL_LEAVING | H2C_FL_EOF | H2C_FL_BROKEN))
		return false;
	H2C_TRACE(STATE, h, H2_EV(NEW), "a client's connection is reversed");
	if (h->most.is_elastic)
		h2_elastic_give(h->most.streams);
	h->most = (struct h2_most){ 0 };
	h2_uncount(h, H2_CNT_CONNS);
	h2c_tell_counts(h);
	h->side = &back_side;
	h->user.back = o->user;
	h->owner = o->owner;
	h2_use_settings(h, o->settings);
	h2_count(h, H2_CNT_CONNS);
	h2_count(h, H2_CNT_CONNS_TOTAL);
	h->conn->ops = &back_conn_ops;
	h->conn->flags |= CONN_BACKEND;
	h->flags |= H2C_FL_CONNECTED;
	timer_cancel(&h->timer);
	h2_set_idle_ping(h, o->idle_ping_ms);
	h2c_arm(h);
	o->user->begun(o->owner, m);
	return true;
}

unsigned h2_back_room(const struct mux *m)
{
	const struct h2_conn *h = h2_of(m);
	unsigned max = h->peer.streams;

	/* before its SETTINGS it is unknown how many streams the server takes */
	if (h->state != H2C_OPEN || !(h->flags & H2C_FL_CONNECTED) || h->out.len >= H2_OUT_STUCK ||
	    h->flags & (H2C_FL_STOP | H2C_FL_BROKEN | H2C_FL_EOF) ||
	    h->last_stream >= H2_STREAM_MAX - 2 * 65536)
		return 0;
	if (h->limits->streams && max > (unsigned)h->limits->streams)
		max = (unsigned)h->limits->streams;
	return max > h->stream_count ? max - h->stream_count : 0;
}

bool h2_back_is_ending(const struct mux *m)
{
	const struct h2_conn *h = h2_of(m);

	return h->state >= H2C_CLOSING ||
	       h->flags & (H2C_FL_STOP | H2C_FL_BROKEN | H2C_FL_EOF | H2C_FL_DEAD);
}

void h2_back_close(struct mux *m)
{
	struct h2_conn *h = h2_of(m);
	bool outer = h2_enter(h);

	h->flags |= H2C_FL_STOP;
	if (h->state < H2C_CLOSING) {
		h2c_goaway(h, H2_ERR_NO_ERROR, 0);
		h2_flush(h);
	}
	if (!(h->flags & H2C_FL_DEAD))
		h2_destroy(h);
	h2_leave(h, outer);
}

bool h2_back_detach_thread(struct mux *m)
{
	struct h2_conn *h = h2_of(m);

	BUG_ON(h->stream_count);
	if (list_is_linked(&h->turn) || list_is_linked(&h->flush) || h->out.len ||
	    wire_in_has(&h->in) || h->gathered.block ||
	    h->flags & (H2C_FL_BUSY | H2C_FL_IN_PAYLOAD))
		return false;
	wire_in_clear(&h->in);
	timer_cancel(&h->timer);
	conn_detach(h->conn);
	return true;
}

bool h2_back_attach_thread(struct mux *m)
{
	struct h2_conn *h = h2_of(m);

	if (!conn_attach(h->conn))
		return false;
	h2c_arm(h);
	return true;
}
