/* SPDX-License-Identifier: GPL-2.0-or-later */
/* h3_priv.h - declarations shared by the files of the HTTP/3 mux
 *
 * Purpose: converts each stream that a client opens, or that we open to a server, into the head,
 *          body slices and end of a message for the endpoint of its own stream, and back (RFC
 *          9114). Reached through its row of the table of protocols, "quic" (mux/mux.h). Uses no
 *          dynamic table for field sections (RFC 9204): no request waits for another.
 * Owns   : the struct conn; the QUIC connection (quic/quic.h) until it ends.
 * Threads: the connection's.
 * Left out: CONNECT other than for WebSocket and similar (RFC 9220), and none to servers; server
 *          push, which clients no longer request.
 * Bounds : concurrent requests, bytes received and held: QUIC's limits. A head is at most a block.
 * Config : tune.quic.*, bind's quic4@ and quic6@
 *
 *   h3_kind.c    its row of the table of protocols
 *   h3.c         a connection, its streams, its end; connections of clients
 *   h3_back.c    connections to servers
 *   h3_dial.c    opening them
 *   h3_request.c encoding of requests to servers
 *   h3_read.c    received frames, of requests and of the peer's control stream
 *   h3_coder.c   the peer's QPACK encoder and decoder streams
 *   h3_head.c    received heads become messages
 *   h3_send.c    heads, bodies and ends into frames
 */
#ifndef H3_H3_PRIV_H
#define H3_H3_PRIV_H

#include "base/bug.h"
#include "base/list.h"
#include "codec/h2_head.h"
#include "core/timer.h"
#include "mux/mux.h"
#include "net/dial.h"
#include "quic/quic.h"

/* RFC 9114 8.1, RFC 9204 6 */
enum h3_error {
	H3_NO_ERROR = 0x100, H3_GENERAL_PROTOCOL_ERROR = 0x101, H3_INTERNAL_ERROR = 0x102,
	H3_STREAM_CREATION_ERROR = 0x103, H3_CLOSED_CRITICAL_STREAM = 0x104,
	H3_FRAME_UNEXPECTED = 0x105, H3_FRAME_ERROR = 0x106, H3_EXCESSIVE_LOAD = 0x107,
	H3_ID_ERROR = 0x108, H3_SETTINGS_ERROR = 0x109, H3_MISSING_SETTINGS = 0x10a,
	H3_REQUEST_REJECTED = 0x10b, H3_REQUEST_CANCELLED = 0x10c, H3_REQUEST_INCOMPLETE = 0x10d,
	H3_MESSAGE_ERROR = 0x10e, H3_VERSION_FALLBACK = 0x110, QPACK_DECOMPRESSION_FAILED = 0x200,
	QPACK_ENCODER_STREAM_ERROR = 0x201, QPACK_DECODER_STREAM_ERROR = 0x202,
};

/* RFC 9114 7.2 */
enum h3_frame_type {
	H3_DATA = 0x0, H3_HEADERS = 0x1, H3_CANCEL_PUSH = 0x3, H3_SETTINGS = 0x4,
	H3_PUSH_PROMISE = 0x5, H3_GOAWAY = 0x7, H3_MAX_PUSH_ID = 0xd,
};

/* RFC 9114 6.2, RFC 9204 4.2: types of unidirectional streams. */
enum h3_stream_type {
	H3_TYPE_CONTROL = 0x0, H3_TYPE_PUSH = 0x1, H3_TYPE_ENCODER = 0x2, H3_TYPE_DECODER = 0x3,
};

enum h3_conn_flags {
	H3C_BUSY = 1 << 0,             /* one of our functions is on the stack: do not free */
	H3C_DEAD = 1 << 1,             /* to be freed when no longer busy */
	H3C_LOST = 1 << 2,             /* the QUIC connection is gone */
	H3C_LEAVING = 1 << 3,          /* the process stops: the client was asked to leave */
	H3C_SETTINGS = 1 << 4,         /* the peer's SETTINGS have arrived */
	H3C_HAD_REQUEST = 1 << 5,
	/* the peer has opened these */
	H3C_CONTROL = 1 << 6, H3C_ENCODER = 1 << 7, H3C_DECODER = 1 << 8,
	H3C_SILENT = 1 << 10,          /* the end is not reported to the client */
	H3C_USED_UP = 1 << 9,          /* it has had as many requests as allowed */
	H3C_BACK = 1 << 11,            /* to a server */
	H3C_CONNECTED = 1 << 12,       /* likewise: its handshake is over */
	H3C_GOAWAY = 1 << 13,          /* likewise: it accepts no more requests */
	H3C_USED = 1 << 14,            /* likewise: it has served a request before */
};

struct h3_conn {
	struct mux mux;
	struct conn *conn;             /* owned */
	struct quic_conn *quic;        /* NULL: gone */
	const struct front_user *user; /* NULL: to a server */
	const struct back_user *back;  /* NULL: of a client */
	void *owner;
	const struct mux_settings *settings;
	struct quic_stream *control;   /* ours */
	struct list streams;           /* struct h3_stream.link */
	struct timer timer;
	uint64_t idle_ms;              /* since when it has had no request */
	uint64_t next_id;              /* after the highest request so far */
	uint64_t push_max;             /* a client's last MAX_PUSH_ID */
	uint32_t requests;             /* not ended yet */
	uint32_t glitches;
	uint16_t flags;                /* enum h3_conn_flags */
};

enum h3_role {
	H3_REQUEST, H3_UNKNOWN, H3_CONTROL_STREAM, H3_ENCODER_STREAM, H3_DECODER_STREAM,
	H3_SKIPPED, H3_OUR_CONTROL,
};

/* Returns true if the peer must not end the stream (RFC 9114 6.2.1, RFC 9204 4.2). */
static inline bool h3_role_stays(unsigned role)
{
	return role == H3_CONTROL_STREAM || role == H3_ENCODER_STREAM ||
	       role == H3_DECODER_STREAM || role == H3_OUR_CONTROL;
}

/* Counts an event in the last columns of `show stat`. */
static inline void h3_count(const struct h3_conn *h, enum quic_count what)
{
	if (h->settings->counters)
		counter_add(h->settings->counters, h->settings->quic_counts + what, 1);
}

enum h3_stream_flags {
	H3S_IN_FRAME = 1 << 0,         /* a frame's head was read, its payload comes next */
	H3S_HEAD_GOT = 1 << 1,
	H3S_TRAILERS_GOT = 1 << 2,
	H3S_RX_END = 1 << 3,           /* the request is complete */
	H3S_HEAD_SENT = 1 << 4,
	H3S_NO_BODY = 1 << 5,          /* nothing is sent after the head */
	H3S_TX_END = 1 << 6,           /* our end was passed to QUIC */
	H3S_IS_HEAD = 1 << 7,          /* it is a HEAD request */
	H3S_RESET = 1 << 8,            /* reset by either side */
	H3S_PEER_RESET = 1 << 9,       /* it was reset by the peer */
	H3S_EXTENDED = 1 << 11,        /* a client's extended CONNECT (RFC 9220) */
	/* likewise: the tunnel is not set up yet, received data wait */
	H3S_HELD = 1 << 12,
	H3S_PENDING = 1 << 10,         /* to a server that is not connected yet */
};

/* A stream that the client opened. */
struct h3_stream {
	struct list link;
	struct h3_conn *conn;
	struct quic_stream *quic;
	struct endpoint *ep;           /* of a request whose head has arrived; else NULL */
	uint64_t frame_type, frame_left;
	/* bytes of the announced content still to receive; UINT64_MAX: any length */
	uint64_t left;
	uint64_t tx_left;              /* likewise, to send */
	uint64_t since_ns;             /* when it began */
	uint64_t reset_code;
	uint16_t flags;                /* enum h3_stream_flags */
	uint8_t role;                  /* enum h3_role */
};

/* --- h3.c ------------------------------------------------------------------------------------- */

extern const struct endpoint_ops h3_endpoint;

/* Creates the pools, once. Returns false: no memory. */
bool h3_init_pools(void);
/* The operations of the row for clients. */
struct mux *h3_front_new(struct conn *c, const struct front_owner *o);
void h3_front_start(struct mux *m, bool readable);
void h3_front_stop(struct mux *m);
/* Returns a new connection with these settings, of no side yet. Returns NULL: no memory. */
struct h3_conn *h3_conn_new(struct conn *c, const struct mux_settings *set);
/* Takes over the QUIC connection and counts it for its proxy. */
void h3_conn_take(struct h3_conn *h);
/* Frees a connection that was not used yet; the caller keeps its struct conn. */
void h3_conn_drop(struct h3_conn *h);
/* Opens our streams and sends SETTINGS. Returns false: the connection has failed. */
bool h3_conn_start(struct h3_conn *h);
/* Between these two calls the connection is not freed. <outer> is the result of h3_enter(). */
bool h3_enter(struct h3_conn *h);
void h3_leave(struct h3_conn *h, bool outer);
/* Ends the QUIC connection and tells the streams. */
void h3_close(struct h3_conn *h, uint64_t code);
/* Returns a new stream of the connection. Returns NULL: no memory. */
struct h3_stream *h3_stream_new(struct h3_conn *h);
/* Tells the endpoint of a stream that it has failed. <s> may be gone afterwards. */
void h3_stream_lost(struct h3_stream *s, uint32_t flags);
/* The endpoint operations of both sides. */
void h3_ep_send(struct endpoint *ep);
void h3_ep_resume(struct endpoint *ep);
struct conn *h3_ep_conn(struct endpoint *ep);
void h3_ep_facts(const struct endpoint *ep, struct endpoint_facts *out);
void h3_set_settings(struct mux *m, const struct mux_settings *set, int64_t idle_ping_ms);

/* --- h3_back.c -------------------------------------------------------------------------------- */

/* The operations of the row for servers. */
struct mux *h3_back_new(struct conn *c, struct endpoint *ep, const struct back_owner *o);
bool h3_back_attach(struct mux *m, struct endpoint *ep);
unsigned h3_back_room(const struct mux *m);
bool h3_back_is_ending(const struct mux *m);
void h3_back_close(struct mux *m);
bool h3_back_detach_thread(struct mux *m);
bool h3_back_attach_thread(struct mux *m);

/* --- h3_request.c ----------------------------------------------------------------------------- */

/* The pseudo-header fields of a request: how many bytes they take at most, writing them (false: no
 * room), and which other fields are sent.
 */
size_t h3_request_bound(const struct h3_stream *s, const struct http_msg *m);
bool h3_request_put(struct h3_stream *s, struct hpack_writer *w, const struct http_msg *m);
bool h3_request_sends(const struct http_msg *m, const struct h1_field *f);
/* Returns true for an upgrade or a tunnel, which cannot be requested. */
bool h3_request_is_refused(const struct http_msg *m);

/* --- h3_dial.c -------------------------------------------------------------------------------- */

/* The implementation of dial_want.open. */
enum dial_result h3_dial(struct dial_want *w, const struct conn_ops *ops, void *owner,
			 struct conn **out);

/* Ends the connection because of an error of the peer. */
void h3_fail(struct h3_conn *h, enum h3_error code, const char *text);
/* Resets a request because of an error and tells its user. <s> may be gone afterwards. */
void h3_stream_fail(struct h3_stream *s, enum h3_error code, const char *text);
/* Frees a stream and leaves its QUIC stream. */
void h3_stream_free(struct h3_stream *s);

/* --- h3_read.c -------------------------------------------------------------------------------- */

/* Handles data received on a stream. <s> may be gone afterwards. */
void h3_read(struct h3_stream *s);

/* --- h3_coder.c ------------------------------------------------------------------------------- */

/* Handles data received on a QPACK stream of the peer. <s> may be gone afterwards. */
void h3_coder_read(struct h3_stream *s);

/* --- h3_head.c -------------------------------------------------------------------------------- */

void h3_head_thread_fini(void);
/* Handles a whole HEADERS frame, the first <len> bytes of <q>: the start of a request, or its
 * trailers. <s> may be gone afterwards.
 */
void h3_head(struct h3_stream *s, const struct block_queue *q, size_t len, bool ended);
/* Returns the largest frame accepted. */
size_t h3_head_max(const struct h3_conn *h);

/* --- h3_send.c -------------------------------------------------------------------------------- */

/* Sends the endpoint's data, as far as QUIC accepts them. Returns true: the endpoint's flags have
 * changed.
 */
bool h3_send(struct h3_stream *s);

#endif
