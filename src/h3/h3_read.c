/* SPDX-License-Identifier: GPL-2.0-or-later */
/* h3_read.c - the HTTP/3 mux: frames received (RFC 9114 6, 7) */
#include "codec/quic.h"
#include "h3_priv.h"
#include "h3_trace.h"

/* The head of a frame: two integers. */
#define FRAME_HEAD_MAX 16

static void take(struct h3_stream *s, size_t n)
{
	block_queue_skip(quic_stream_rx(s->quic), n);
	quic_stream_taken(s->quic, n);
}

static size_t at_most(uint64_t a, size_t b)
{
	return a < b ? (size_t)a : b;
}

/* Reads one integer. False: there is not enough for it. */
static bool read_number(struct h3_stream *s, uint64_t *n)
{
	uint8_t bytes[8];
	size_t len = block_queue_peek(quic_stream_rx(s->quic), 0, (char *)bytes, sizeof(bytes));
	struct quic_reader r = { bytes, bytes + len };

	if (!quic_read_varint(&r, n))
		return false;
	take(s, (size_t)(r.at - bytes));
	return true;
}

/* Reads a payload of <len> bytes that is one integer. False: it is not. */
static bool read_whole_number(struct h3_stream *s, uint64_t len, uint64_t *n)
{
	size_t before = quic_stream_rx(s->quic)->len;

	return len && len <= 8 && read_number(s, n) &&
	       before - quic_stream_rx(s->quic)->len == len;
}

static uint64_t event_of(uint64_t type)
{
	return H3_EV(RX_FRAME) | (type == H3_DATA ? H3_EV(RX_DATA)
				  : type == H3_HEADERS ? H3_EV(RX_HEADERS)
				  : type == H3_SETTINGS ? H3_EV(RX_SETTINGS) : 0);
}

static void count_frame(const struct h3_conn *h, uint64_t type)
{
	static const struct {
		uint8_t type, count;
	} counted[] = {
		{ H3_DATA, COUNT_H3_DATA }, { H3_HEADERS, COUNT_H3_HEADERS },
		{ H3_CANCEL_PUSH, COUNT_H3_CANCEL_PUSH }, { H3_SETTINGS, COUNT_H3_SETTINGS },
		{ H3_PUSH_PROMISE, COUNT_H3_PUSH_PROMISE }, { H3_GOAWAY, COUNT_H3_GOAWAY },
		{ H3_MAX_PUSH_ID, COUNT_H3_MAX_PUSH_ID },
	};

	for (size_t i = 0; i < sizeof(counted) / sizeof(*counted); i++)
		if (counted[i].type == type)
			h3_count(h, counted[i].count);
}

/* Reads the head of the next frame. False: there is not enough for it. */
static bool read_frame_head(struct h3_stream *s)
{
	uint8_t bytes[FRAME_HEAD_MAX];
	size_t len = block_queue_peek(quic_stream_rx(s->quic), 0, (char *)bytes, sizeof(bytes));
	struct quic_reader r = { bytes, bytes + len };

	if (!quic_read_varint(&r, &s->frame_type) || !quic_read_varint(&r, &s->frame_left))
		return false;
	take(s, (size_t)(r.at - bytes));
	s->flags |= H3S_IN_FRAME;
	count_frame(s->conn, s->frame_type);
	H3S_TRACE(PROTO, s, event_of(s->frame_type), "received a frame of type %llu, %llu bytes",
		  (unsigned long long)s->frame_type, (unsigned long long)s->frame_left);
	return true;
}

/* Passes over what is there of the frame's payload. True: it is over. */
static bool skip_payload(struct h3_stream *s)
{
	size_t n = at_most(s->frame_left, quic_stream_rx(s->quic)->len);

	take(s, n);
	s->frame_left -= n;
	if (s->frame_left)
		return false;
	s->flags &= (uint16_t)~H3S_IN_FRAME;
	return true;
}

/* --- requests --------------------------------------------------------------------------------- */

/* Does the stream take no more of the body for now? */
static bool is_blocked(const struct h3_stream *s)
{
	return s->ep->flags & EP_RX_BLOCKED;
}

/* Body bytes go to the stream as the slices that they are. False: nothing more to do now. */
static bool read_data(struct h3_stream *s)
{
	struct block_queue *rx = quic_stream_rx(s->quic);
	size_t n = at_most(s->frame_left, rx->len);

	if (!(s->flags & H3S_HEAD_GOT) || s->flags & H3S_TRAILERS_GOT) {
		h3_fail(s->conn, H3_FRAME_UNEXPECTED, "DATA without a head");
		return false;
	}
	if (s->left != UINT64_MAX && s->frame_left > s->left) {
		h3_stream_fail(s, H3_MESSAGE_ERROR, "more DATA than announced");
		return false;
	}
	if (n && (is_blocked(s) || s->flags & H3S_HELD))
		return false;
	if (!block_queue_move_len(&s->ep->rx, rx, n)) {
		h3_stream_fail(s, H3_INTERNAL_ERROR, "out of memory");
		return false;
	}
	quic_stream_taken(s->quic, n);
	s->ep->rx_bytes += n;
	s->frame_left -= n;
	if (s->left != UINT64_MAX)
		s->left -= n;
	if (s->frame_left)
		return false;
	s->flags &= (uint16_t)~H3S_IN_FRAME;
	return true;
}

/* A fault, or its user, may have ended it, or all of them. */
static bool is_there(const struct h3_conn *h, const struct quic_stream *q,
		     const struct h3_stream *s)
{
	return h->quic && quic_stream_owner(q) == s && !(s->flags & H3S_RESET);
}

/* False: the stream may be gone, or waits. */
static bool read_headers(struct h3_stream *s)
{
	struct block_queue *rx = quic_stream_rx(s->quic);
	struct quic_stream *q = s->quic;
	struct h3_conn *h = s->conn;
	size_t len;
	bool ended;

	if (s->flags & H3S_TRAILERS_GOT) {
		h3_fail(h, H3_FRAME_UNEXPECTED, "HEADERS behind the trailers");
		return false;
	}
	if (s->frame_left > h3_head_max(h)) {
		h3_stream_fail(s, H3_EXCESSIVE_LOAD, "head too large");
		return false;
	}
	if (rx->len < s->frame_left)
		return false;
	len = (size_t)s->frame_left;
	ended = quic_stream_rx_ended(q) && rx->len == len;
	s->flags &= (uint16_t)~H3S_IN_FRAME;
	s->frame_left = 0;
	h3_head(s, rx, len, ended);
	/* (a fault stops the stream, and with it go the bytes, even if its user stays for now) */
	if (!is_there(h, q, s))
		return false;
	take(s, len);
	return true;
}

/* One frame of a request, or what is there of it. False: nothing more to do now. */
static bool read_request_frame(struct h3_stream *s)
{
	switch (s->frame_type) {
	case H3_DATA:
		return read_data(s);
	case H3_HEADERS:
		return read_headers(s);
	case 0x2: /* of HTTP/2, and reserved since */
	case 0x6:
	case 0x8:
	case 0x9:
	case H3_CANCEL_PUSH:
	case H3_SETTINGS:
	case H3_PUSH_PROMISE:
	case H3_GOAWAY:
	case H3_MAX_PUSH_ID:
		h3_fail(s->conn, H3_FRAME_UNEXPECTED, "a frame that no request has");
		return false;
	default:
		return skip_payload(s);
	}
}

/* All of it has come. */
static void request_end(struct h3_stream *s)
{
	if (s->flags & (H3S_RX_END | H3S_RESET | H3S_HELD))
		return;
	if (!(s->flags & H3S_HEAD_GOT)) {
		h3_stream_fail(s, H3_REQUEST_INCOMPLETE, "the stream ends before the head");
		return;
	}
	if (s->flags & H3S_IN_FRAME) {
		h3_fail(s->conn, H3_FRAME_ERROR, "the stream ends within a frame");
		return;
	}
	if (s->left != UINT64_MAX && s->left) {
		h3_stream_fail(s, H3_MESSAGE_ERROR, "less DATA than announced");
		return;
	}
	s->flags |= H3S_RX_END;
	s->ep->flags |= EP_RX_END;
}

/* No more bytes come: is all there that was begun? */
static void judge_end(struct h3_stream *s)
{
	size_t len = quic_stream_rx(s->quic)->len;

	if (!quic_stream_rx_ended(s->quic))
		return;
	if (!len)
		request_end(s);
	else if (!(s->flags & H3S_IN_FRAME) ||
		 (s->frame_type == H3_HEADERS && len < s->frame_left))
		h3_fail(s->conn, H3_FRAME_ERROR, "the stream ends within a frame");
}

/* A server's interim head was not taken yet: what is behind it stays where it is. */
static bool interim_waits(const struct h3_stream *s)
{
	return s->conn->back && s->ep->flags & EP_RX_HEAD && !(s->flags & H3S_HEAD_GOT);
}

/* True: an interim head was taken, more may be read. */
static bool read_some(struct h3_stream *s)
{
	struct quic_stream *q = s->quic;
	struct h3_conn *h = s->conn;
	uint32_t before = s->ep ? s->ep->flags : 0;
	uint64_t bytes = s->ep ? s->ep->rx_bytes : 0;
	bool waits;

	while (!(s->flags & H3S_RESET) && !interim_waits(s) &&
	       (s->flags & H3S_IN_FRAME || read_frame_head(s)))
		if (!read_request_frame(s))
			break;
	if (!is_there(h, q, s))
		return false;
	waits = interim_waits(s);
	if (!waits)
		judge_end(s);
	if (!is_there(h, q, s) || !s->ep)
		return false;
	if (s->ep->flags != before || s->ep->rx_bytes != bytes)
		s->ep->user->wake(s->ep);
	return waits && is_there(h, q, s) && !interim_waits(s);
}

static void read_request(struct h3_stream *s)
{
	while (read_some(s))
		;
}

/* --- the client's own streams ----------------------------------------------------------------- */

static void read_settings(struct h3_stream *s)
{
	struct h3_conn *h = s->conn;
	struct block_queue *rx = quic_stream_rx(s->quic);
	uint8_t bytes[1024];
	struct quic_reader r = { bytes, bytes + s->frame_left };
	uint64_t id, value, seen = 0;

	block_queue_peek(rx, 0, (char *)bytes, (size_t)s->frame_left);
	while (r.at < r.end) {
		if (!quic_read_varint(&r, &id) || !quic_read_varint(&r, &value)) {
			h3_fail(h, H3_FRAME_ERROR, "SETTINGS that are not whole");
			return;
		}
		/* of HTTP/2 (RFC 9114 7.2.4.1) */
		if (id >= 2 && id <= 5) {
			h3_fail(h, H3_SETTINGS_ERROR, "SETTINGS of HTTP/2");
			return;
		}
		if ((id == 0x08 || id == 0x33) && value > 1) { /* RFC 9220, RFC 9297 */
			h3_fail(h, H3_SETTINGS_ERROR, "a setting that is neither 0 nor 1");
			return;
		}
		if (id < 64 && seen & UINT64_C(1) << id) {
			h3_fail(h, H3_SETTINGS_ERROR, "a setting that comes twice");
			return;
		}
		seen |= id < 64 ? UINT64_C(1) << id : 0;
	}
	h->flags |= H3C_SETTINGS;
	skip_payload(s);
}

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

static void on_goaway(struct h3_conn *h, uint64_t id)
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

/* A number that means something to us: of a server that stops, of a client that would take pushes.
 */
static void on_number(struct h3_stream *s, uint64_t n)
{
	struct h3_conn *h = s->conn;

	if (s->frame_type == H3_MAX_PUSH_ID) {
		if (n < h->push_max)
			h3_fail(h, H3_ID_ERROR, "a MAX_PUSH_ID that takes back another");
		h->push_max = n;
	} else if (s->frame_type == H3_CANCEL_PUSH) {
		h3_fail(h, H3_ID_ERROR, "nothing was pushed");
	} else if (h->back && n & 3) {
		h3_fail(h, H3_ID_ERROR, "a GOAWAY that names no request");
	} else if (h->back) { /* (a client's is about pushes) */
		on_goaway(h, n);
	}
}

/* A frame whose payload is a number. False: nothing more to do now. */
static bool read_number_frame(struct h3_stream *s)
{
	struct h3_conn *h = s->conn;
	uint64_t n, whole = s->frame_left;

	if (whole <= 8 && quic_stream_rx(s->quic)->len < whole)
		return false;
	if (!read_whole_number(s, whole, &n)) {
		h3_fail(h, H3_FRAME_ERROR, "a frame of one number that is not whole");
		return false;
	}
	s->flags &= (uint16_t)~H3S_IN_FRAME;
	on_number(s, n);
	return h->quic;
}

/* One frame of the control stream. False: nothing more to do now. */
static bool read_control_frame(struct h3_stream *s)
{
	struct h3_conn *h = s->conn;
	bool first = !(h->flags & H3C_SETTINGS);

	if (first != (s->frame_type == H3_SETTINGS)) {
		h3_fail(h, first ? H3_MISSING_SETTINGS : H3_FRAME_UNEXPECTED,
			"SETTINGS come first, and once");
		return false;
	}
	switch (s->frame_type) {
	case H3_SETTINGS:
		if (s->frame_left > 1024) {
			h3_fail(h, H3_EXCESSIVE_LOAD, "SETTINGS too large");
			return false;
		}
		if (quic_stream_rx(s->quic)->len < s->frame_left)
			return false;
		read_settings(s);
		return h->quic;
	case 0x2:
	case 0x6:
	case 0x8:
	case 0x9:
	case H3_DATA:
	case H3_HEADERS:
	case H3_PUSH_PROMISE:
		h3_fail(h, H3_FRAME_UNEXPECTED, "a frame that no control stream has");
		return false;
	case H3_MAX_PUSH_ID:
		if (!h->back)
			return read_number_frame(s);
		h3_fail(h, H3_FRAME_UNEXPECTED, "a server is pushed nothing");
		return false;
	case H3_GOAWAY:
	case H3_CANCEL_PUSH:
		return read_number_frame(s);
	default:
		return skip_payload(s);
	}
}

/* What is it for? Each critical one comes once (RFC 9114 6.2.1, RFC 9204 4.2). */
static void read_type(struct h3_stream *s)
{
	struct h3_conn *h = s->conn;
	uint16_t flag = 0;
	uint64_t type;

	if (!read_number(s, &type))
		return;
	switch (type) {
	case H3_TYPE_CONTROL:
		flag = H3C_CONTROL;
		s->role = H3_CONTROL_STREAM;
		break;
	case H3_TYPE_ENCODER:
	case H3_TYPE_DECODER:
		flag = type == H3_TYPE_ENCODER ? H3C_ENCODER : H3C_DECODER;
		s->role = type == H3_TYPE_ENCODER ? H3_ENCODER_STREAM : H3_DECODER_STREAM;
		break;
	case H3_TYPE_PUSH: /* (we allow a server none) */
		h3_fail(h, h->back ? H3_ID_ERROR : H3_STREAM_CREATION_ERROR,
			"nothing is to be pushed");
		return;
	default:
		s->role = H3_SKIPPED;
		quic_stream_stop(s->quic, H3_STREAM_CREATION_ERROR);
		return;
	}
	if (h->flags & flag)
		h3_fail(h, H3_STREAM_CREATION_ERROR, "a second stream of a kind there is one of");
	h->flags |= flag;
}

static void read_own(struct h3_stream *s)
{
	struct quic_stream *q = s->quic;
	struct h3_conn *h = s->conn;

	if (s->role == H3_UNKNOWN)
		read_type(s);
	if (!h->quic)
		return;
	switch (s->role) {
	case H3_CONTROL_STREAM:
		while (s->flags & H3S_IN_FRAME || read_frame_head(s))
			if (!read_control_frame(s))
				break;
		break;
	case H3_ENCODER_STREAM:
	case H3_DECODER_STREAM:
		h3_coder_read(s);
		break;
	case H3_SKIPPED:
		take(s, quic_stream_rx(q)->len);
		break;
	}
	if (!h->quic || !quic_stream_rx_ended(q))
		return;
	if (h3_role_stays(s->role))
		h3_fail(h, H3_CLOSED_CRITICAL_STREAM, "a stream that must stay was closed");
	else if (!quic_stream_rx(q)->len || s->role == H3_UNKNOWN)
		h3_stream_free(s);
}

void h3_read(struct h3_stream *s)
{
	if (s->role == H3_REQUEST)
		read_request(s);
	else
		read_own(s);
}
