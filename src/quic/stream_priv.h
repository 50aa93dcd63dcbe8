/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stream_priv.h - QUIC: streams and their flow control (stream.c)
 *
 * Owns   : its buffers. A stream lives until its user has left and both sides are done.
 * Threads: the connection's.
 * Source : RFC 9000 2 to 4
 */
#ifndef QUIC_STREAM_PRIV_H
#define QUIC_STREAM_PRIV_H

#include "base/list.h"
#include "base/tree.h"
#include "buffers_priv.h"
#include "codec/quic.h"
#include "quic/quic.h"

struct quic_sent_frame;

enum quic_stream_flags {
	QUIC_SFL_RX = 1 << 0,          /* the client sends on it */
	QUIC_SFL_TX = 1 << 1,          /* we do */
	QUIC_SFL_RX_SIZE = 1 << 2,     /* its final size is known */
	QUIC_SFL_RX_END = 1 << 3,      /* all of it came, or it was reset */
	QUIC_SFL_TX_RESET = 1 << 4,    /* we have reset it */
	QUIC_SFL_RESET_DUE = 1 << 5, QUIC_SFL_RESET_ACKED = 1 << 6,
	QUIC_SFL_STOP_DUE = 1 << 7, QUIC_SFL_STOPPED = 1 << 8, /* what comes is not wanted */
	QUIC_SFL_MAX_DUE = 1 << 9,     /* MAX_STREAM_DATA */
	QUIC_SFL_LEFT = 1 << 10,       /* its user has left */
	QUIC_SFL_BLOCKED = 1 << 11,    /* its user waits for room */
};

struct quic_stream {
	struct tree_node node;         /* by id */
	struct quic_conn *conn;
	void *owner;                   /* the user's */
	uint64_t id;
	struct quic_sendbuf tx;
	uint64_t tx_max;               /* what the client allows */
	struct quic_recvbuf rx;
	uint64_t rx_max, rx_high;      /* what it may send, the highest offset that it used */
	uint64_t rx_taken;             /* bytes that the user has taken */
	uint64_t rx_size;              /* final size */
	uint64_t tx_error, stop_error, error; /* sent, sent, received */
	uint64_t tx_size;              /* with QUIC_SFL_TX_RESET: final size */
	uint32_t window;               /* bytes to allow beyond what was taken */
	uint16_t flags;                /* enum quic_stream_flags */
	uint8_t events;                /* enum quic_stream_event, not told yet */
	struct list dirty, woken;      /* in the connection's lists */
};

bool quic_stream_init(void);
/* Some of its bytes were sent: its user may have waited for that. */
void quic_stream_check_room(struct quic_stream *s);
/* The stream that a frame of the client names; it begins if it is new. NULL: *error, which is
 * QUIC_NO_ERROR for one that has ended. <sends>: the frame is about what the client sends.
 */
struct quic_stream *quic_stream_of_frame(struct quic_conn *q, uint64_t id, bool sends,
					 enum quic_error *error);
enum quic_error quic_stream_data(struct quic_stream *s, const struct quic_frame *f);
enum quic_error quic_stream_reset_got(struct quic_stream *s, const struct quic_frame *f);
void quic_stream_stop_got(struct quic_stream *s, uint64_t code);
/* Something is to be sent, has arrived, was lost. */
void quic_stream_dirty(struct quic_stream *s);
/* Of a stream that is there; else NULL. */
struct quic_sendbuf *quic_stream_sendbuf(struct quic_conn *q, uint64_t id);
void quic_stream_frame_acked(struct quic_conn *q, const struct quic_sent_frame *f);
void quic_stream_frame_lost(struct quic_conn *q, const struct quic_sent_frame *f);
/* A server allows so many streams of both directions in all. */
void quic_streams_allowed(struct quic_conn *q, uint64_t max);
/* The window of the connection is open again. */
void quic_streams_go_on(struct quic_conn *q);
/* Tells the user what happened to streams. */
void quic_streams_tell(struct quic_conn *q);
/* The connection is lost: all users are told. */
void quic_streams_abort(struct quic_conn *q);
void quic_streams_free(struct quic_conn *q);

#endif
