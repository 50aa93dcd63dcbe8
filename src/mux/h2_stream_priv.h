/* SPDX-License-Identifier: GPL-2.0-or-later */
/* h2_stream_priv.h - HTTP/2 streams: states, windows, ends (h2_stream.c)
 *
 * Owns   : DATA received before a tunnel was established. A stream lives as long as its endpoint is
 *          attached.
 * Threads: its connection's.
 * Errors : faults of the peer go to h2s_error(), which counts them by their place in the code.
 * Source : RFC 9113 5, 6.9
 */
#ifndef MUX_H2_STREAM_PRIV_H
#define MUX_H2_STREAM_PRIV_H

#include "base/list.h"
#include "base/tree.h"
#include "codec/h2_frame.h"
#include "h2_conn_priv.h"
#include "mux/endpoint.h"

/* State of a stream, as named in RFC 9113 5.1; REMOTE: the peer has ended its half. */
#define H2S_STATES(X) X(IDLE) X(OPEN) X(HALF_LOCAL) X(HALF_REMOTE) X(CLOSED)

enum h2s_state {
#define X(s) H2S_##s,
	H2S_STATES(X)
#undef X
};

enum h2_stream_flags {
	H2S_FL_CONNECT = 1 << 0,     /* the request was a CONNECT: a 2xx opens a tunnel */
	H2S_FL_EXTENDED = 1 << 1,    /* an extended CONNECT: 101 is sent as 200 */
	H2S_FL_HEAD = 1 << 2,        /* the request was a HEAD */
	H2S_FL_HEAD_SENT = 1 << 3,
	H2S_FL_NO_BODY = 1 << 4,     /* nothing is sent after the head */
	H2S_FL_RESET = 1 << 5,       /* one side has sent RST_STREAM */
	H2S_FL_RECEIVING = 1 << 6,   /* counted in <receiving> */
	H2S_FL_EARLY = 1 << 7,       /* DATA before the tunnel is established: kept in <early> */
	H2S_FL_EARLY_END = 1 << 8,   /* and their end */
	H2S_FL_HEAD_GOT = 1 << 10,   /* back: the response's head was received */
	H2S_FL_PEER_RESET = 1 << 11, /* by the peer, or by both */
	H2S_FL_TELL = 1 << 9,        /* wake its user when its turn as a sender comes */
	H2S_FL_BODY_DUE = 1 << 12,   /* a body will come for which no window was given yet */
};

struct h2_stream {
	struct tree_node node;       /* by id */
	struct h2_conn *conn;
	struct endpoint *ep;
	struct list sender;          /* in the connection's list */
	struct list late;            /* likewise */
	uint64_t left;               /* remaining announced content; UINT64_MAX: any length */
	uint64_t tx_left;            /* likewise, to send */
	int64_t tx_window, rx_window;
	uint32_t id;
	uint32_t room;               /* its part of the connection's <room_given> */
	uint32_t used;               /* bytes granted since <room> changed */
	uint32_t reset_code;         /* with H2S_FL_RESET */
	uint16_t flags;              /* enum h2_stream_flags */
	uint8_t state;               /* enum h2s_state */
	struct block_queue early;
};

/* Tells its user that something has changed. May free the stream. */
void h2s_wake(struct h2_stream *s);

bool h2_stream_init(void);
/* Creates a stream; the caller sets its endpoint. NULL: out of memory. */
struct h2_stream *h2s_new(struct h2_conn *h, uint32_t id);
struct h2_stream *h2s_find(struct h2_conn *h, uint32_t id);
/* Frees a stream whose endpoint was detached. */
void h2s_free(struct h2_stream *s);
void h2s_set_state(struct h2_stream *s, enum h2s_state to);
/* The peer, or we, have sent the last frame of a half. */
void h2s_ended_remote(struct h2_stream *s);
void h2s_ended_local(struct h2_stream *s);
/* A stream error of a stream with an endpoint: sends RST_STREAM and tells the user. */
void h2s_fail(struct h2_stream *s, enum h2_error code, const char *text);
/* Its user leaves: must the peer be told that nothing follows? */
bool h2s_is_cut_short(const struct h2_stream *s);
/* Sends RST_STREAM for an id without a stream. */
void h2c_reset(struct h2_conn *h, uint32_t id, enum h2_error code);
/* Sends RST_STREAM because the stream is not wanted any more: not counted as a reaction to a fault.
 */
void h2c_cancel(struct h2_conn *h, uint32_t id, enum h2_error code);
/* The peer may send a body from now on. */
void h2s_receiving(struct h2_stream *s);
/* A body will come: lets the peer send nearly 2 GB on the connection before the next WINDOW_UPDATE.
 * Streams have their own windows.
 */
void h2c_open_window(struct h2_conn *h);
/* Sets the endpoint's <rx_high>: how many received bytes may be unsent at the other side. */
void h2s_limit(struct h2_stream *s);
/* A body follows the head: gives it a window, unless its end has come with the head. */
void h2s_expect_body(struct h2_stream *s);
/* Gives the peer more window for this stream, if it is worth a frame; <now>: the body begins, and
 * its length is unknown or exceeds its window.
 */
void h2s_grant(struct h2_stream *s, bool now);

#define h2s_error(s, code, text) H2_COUNTED(h2s_fail(s, code, text), text)

#endif
