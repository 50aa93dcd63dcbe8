/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stream_priv.h - QUIC: streams and their flow control (stream.c)
 *
 * Owns   : its buffers. A stream lives until its user has left and both directions are done.
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
	QUIC_SFL_RX = 1 << 0,          /* the peer sends on it */
	QUIC_SFL_TX = 1 << 1,          /* we do */
	QUIC_SFL_RX_SIZE = 1 << 2,     /* its final size is known */
	QUIC_SFL_RX_END = 1 << 3,      /* all of it has arrived, or it was reset */
	QUIC_SFL_TX_RESET = 1 << 4,    /* we have reset it */
	QUIC_SFL_RESET_DUE = 1 << 5, QUIC_SFL_RESET_ACKED = 1 << 6,
	QUIC_SFL_STOP_DUE = 1 << 7, QUIC_SFL_STOPPED = 1 << 8, /* received data are not wanted */
	QUIC_SFL_MAX_DUE = 1 << 9,     /* MAX_STREAM_DATA */
	QUIC_SFL_LEFT = 1 << 10,       /* its user has left */
	QUIC_SFL_BLOCKED = 1 << 11,    /* its user waits for room to send */
};

struct quic_stream {
	struct tree_node node;         /* by id */
	struct quic_conn *conn;
	void *owner;                   /* belongs to the user */
	uint64_t id;
	struct quic_sendbuf tx;
	uint64_t tx_max;               /* limit set by the peer */
	struct quic_recvbuf rx;
	uint64_t rx_max, rx_high;      /* limit that we set; highest offset received */
	uint64_t rx_taken;             /* bytes that the user has taken */
	uint64_t rx_size;              /* final size */
	uint64_t tx_error, stop_error, error; /* we reset with, stopped with; received */
	uint64_t tx_size;              /* with QUIC_SFL_TX_RESET: final size */
	uint32_t window;               /* bytes to allow beyond those taken */
	uint16_t flags;                /* enum quic_stream_flags */
	uint8_t events;                /* enum quic_stream_event, not reported yet */
	struct list dirty, woken;      /* in the connection's lists */
};

bool quic_stream_init(void);
/* Called when some of its bytes were sent: reports room if its user waits for it. */
void quic_stream_check_room(struct quic_stream *s);
/* Returns the stream that a received frame refers to, opening it if it is new. Returns NULL with
 * *error set, which is QUIC_NO_ERROR for a stream that has ended. <sends>: the frame is about the
 * direction in which the peer sends.
 */
struct quic_stream *quic_stream_of_frame(struct quic_conn *q, uint64_t id, bool sends,
					 enum quic_error *error);
enum quic_error quic_stream_data(struct quic_stream *s, const struct quic_frame *f);
enum quic_error quic_stream_reset_got(struct quic_stream *s, const struct quic_frame *f);
void quic_stream_stop_got(struct quic_stream *s, uint64_t code);
/* Queues the stream for sending. */
void quic_stream_dirty(struct quic_stream *s);
/* Returns the send buffer of a stream; NULL: the stream is gone. */
struct quic_sendbuf *quic_stream_sendbuf(struct quic_conn *q, uint64_t id);
void quic_stream_frame_acked(struct quic_conn *q, const struct quic_sent_frame *f);
void quic_stream_frame_lost(struct quic_conn *q, const struct quic_sent_frame *f);
/* Handles the limit of bidirectional streams that a server allows, in total. */
void quic_streams_allowed(struct quic_conn *q, uint64_t max);
/* Called when the connection's flow control window has opened again. */
void quic_streams_go_on(struct quic_conn *q);
/* Reports pending stream events to the user. */
void quic_streams_tell(struct quic_conn *q);
/* Called when the connection is lost: tells the users of all streams. */
void quic_streams_abort(struct quic_conn *q);
void quic_streams_free(struct quic_conn *q);

#endif
