/* SPDX-License-Identifier: GPL-2.0-or-later */
/* h2_stream_priv.h - HTTP/2: a stream: its state, its windows, its end (h2_stream.c)
 *
 * Owns   : DATA that came before a tunnel stood. It lives as long as its endpoint is attached.
 * Threads: its connection's.
 * Errors : faults of the peer go to h2s_error(), which counts them for their place in the code.
 * Source : RFC 9113 5, 6.9
 */
#ifndef MUX_H2_STREAM_PRIV_H
#define MUX_H2_STREAM_PRIV_H

#include "base/list.h"
#include "base/tree.h"
#include "codec/h2_frame.h"
#include "h2_conn_priv.h"
#include "mux/endpoint.h"

/* Where a stream stands, as RFC 9113 5.1 names it; REMOTE: the peer ended its half. */
#define H2S_STATES(X) X(IDLE) X(OPEN) X(HALF_LOCAL) X(HALF_REMOTE) X(CLOSED)

enum h2s_state {
#define X(s) H2S_##s,
	H2S_STATES(X)
#undef X
};

enum h2_stream_flags {
	H2S_FL_CONNECT = 1 << 0,     /* the request was a CONNECT: a 2xx opens a tunnel */
	H2S_FL_EXTENDED = 1 << 1,    /* an extended one: 101 is told as 200 */
	H2S_FL_HEAD = 1 << 2,        /* the request was a HEAD */
	H2S_FL_HEAD_SENT = 1 << 3,
	H2S_FL_NO_BODY = 1 << 4,     /* nothing is sent behind the head */
	H2S_FL_RESET = 1 << 5,       /* one side has sent RST_STREAM */
	H2S_FL_RECEIVING = 1 << 6,   /* counted in <receiving> */
	H2S_FL_EARLY = 1 << 7,       /* DATA before the tunnel stands: kept in <early> */
	H2S_FL_EARLY_END = 1 << 8,   /* and their end */
	H2S_FL_HEAD_GOT = 1 << 10,   /* back: the answer's head came */
	H2S_FL_PEER_RESET = 1 << 11, /* it was the peer, or both */
	H2S_FL_TELL = 1 << 9,        /* wake its user with its turn as a sender */
	H2S_FL_BODY_DUE = 1 << 12,   /* a body is to come for which no window was given yet */
};

struct h2_stream {
	struct tree_node node;       /* by number */
	struct h2_conn *conn;
	struct endpoint *ep;
	struct list sender;          /* in the connection's list */
	struct list late;            /* same */
	uint64_t left;               /* of the announced content; UINT64_MAX: any length */
	uint64_t tx_left;            /* same, to send */
	int64_t tx_window, rx_window;
	uint32_t id;
	uint32_t room;               /* its part of the connection's <room_given> */
	uint32_t used;               /* bytes granted again since that changed */
	uint32_t reset_code;         /* with H2S_FL_RESET */
	uint16_t flags;              /* enum h2_stream_flags */
	uint8_t state;               /* enum h2s_state */
	struct block_queue early;
};

/* Tells its user that something changed. The stream may be gone after it. */
void h2s_wake(struct h2_stream *s);

bool h2_stream_init(void);
/* Its endpoint is to be set next. NULL: no memory. */
struct h2_stream *h2s_new(struct h2_conn *h, uint32_t id);
struct h2_stream *h2s_find(struct h2_conn *h, uint32_t id);
/* Forgets it: its endpoint was detached. */
void h2s_free(struct h2_stream *s);
void h2s_set_state(struct h2_stream *s, enum h2s_state to);
/* The peer, or we, sent the last of its half. */
void h2s_ended_remote(struct h2_stream *s);
void h2s_ended_local(struct h2_stream *s);
/* A fault in a stream that has an endpoint: RST_STREAM, and the user is told. */
void h2s_fail(struct h2_stream *s, enum h2_error code, const char *text);
/* Its user leaves: must the peer be told that nothing follows? */
bool h2s_is_cut_short(const struct h2_stream *s);
/* RST_STREAM for a number without a stream of ours. */
void h2c_reset(struct h2_conn *h, uint32_t id, enum h2_error code);
/* RST_STREAM because no more of the stream is wanted: not counted as an answer to a fault. */
void h2c_cancel(struct h2_conn *h, uint32_t id, enum h2_error code);
/* The peer may send a body from now on. */
void h2s_receiving(struct h2_stream *s);
/* A body comes: the peer may send nearly 2 GB on the connection before it must hear of us again.
 * Streams have their own windows.
 */
void h2c_open_window(struct h2_conn *h);
/* How much of what it received may be unsent at the other side. Sets the endpoint's <rx_high>. */
void h2s_limit(struct h2_stream *s);
/* A body is to come behind the head: it gets a window unless its end has come with the head. */
void h2s_expect_body(struct h2_stream *s);
/* Gives the peer more window for this stream, when it is worth a frame; <now>: the body begins, and
 * it is of unknown length or larger than its window.
 */
void h2s_grant(struct h2_stream *s, bool now);

#define h2s_error(s, code, text) H2_COUNTED(h2s_fail(s, code, text), text)

#endif
