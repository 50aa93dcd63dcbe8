/* SPDX-License-Identifier: GPL-2.0-or-later */
/* h2_conn_priv.h - HTTP/2 connections: states, limits, ends (h2_conn.c, h2.c), and ids of streams
 * that we have reset (h2_cut.c)
 *
 * Owns   : the connection below, received and unsent bytes. Streams belong to their endpoints; the
 *          h2_conn is freed after the last one.
 * Threads: one. Functions that may free the connection say so; h2_enter() and h2_leave() defer that
 *          while another one is on the stack.
 * Errors : faults of the peer go to h2c_error(), h2c_glitch() and h2c_refused(), which count them
 *          by their place in the code; out of memory, the connection is lost.
 * Source : RFC 9113
 */
#ifndef MUX_H2_CONN_PRIV_H
#define MUX_H2_CONN_PRIV_H

#include "base/bug.h"
#include "base/list.h"
#include "base/place.h"
#include "base/tree.h"
#include "codec/h2_frame.h"
#include "codec/hpack.h"
#include "core/timer.h"
#include "mux/h2.h"
#include "mux_priv.h"
#include "wire_priv.h"

struct h2_side;

/* State of the connection. X(state) */
#define H2C_STATES(X) X(PREFACE) X(SETTINGS) X(OPEN) X(CLOSING) X(DRAIN)

enum h2c_state {
#define X(s) H2C_##s,
	H2C_STATES(X)
#undef X
};

/* PING to an idle peer, to check whether it is alive */
enum h2_ping {
	H2_PING_NONE,
	H2_PING_DUE,    /* will be sent when the timer fires */
	H2_PING_SENT,   /* not answered yet: the timer will end the connection */
};

enum h2_conn_flags {
	H2C_FL_BUSY = 1 << 0,        /* a function of ours is on the stack: do not free */
	H2C_FL_DEAD = 1 << 1,        /* to be freed when no longer busy */
	H2C_FL_IN_PAYLOAD = 1 << 2,  /* <rx.frame> was read, its payload is next */
	H2C_FL_CONTINUATION = 1 << 3,/* only CONTINUATION of <rx.frame.stream> may come */
	H2C_FL_STOP = 1 << 4,        /* no further stream is accepted */
	H2C_FL_GOAWAY_SENT = 1 << 5,
	H2C_FL_DIALLED = 1 << 15,    /* front: we opened it (reverse HTTP) */
	H2C_FL_LEAVING = 1 << 14,    /* the process stops: the client was asked to leave */
	H2C_FL_EOF = 1 << 6,         /* the peer has closed its side */
	H2C_FL_BROKEN = 1 << 7,      /* the transport failed */
	H2C_FL_ACKED = 1 << 8,       /* our SETTINGS were acknowledged */
	H2C_FL_WINDOW_OPENED = 1 << 9,/* the connection's window was opened to the maximum */
	H2C_FL_END_STREAM = 1 << 10, /* of the header block being gathered */
	H2C_FL_PAUSE = 1 << 11,      /* enough for this turn */
	H2C_FL_PAD_NEXT = 1 << 12,   /* padding length comes next */
	H2C_FL_CONNECTED = 1 << 13,  /* back: the connection is established */
};

struct h2_conn;
struct h2_stream;

/* The frame being received. */
struct h2_rx {
	struct h2_frame frame;
	uint32_t left;                   /* remaining bytes of its content, DATA */
	uint32_t pad;                    /* padding after that */
	struct h2_stream *stream;        /* the stream of its DATA; NULL: none */
};

/* A header block in several frames. */
struct h2_gathered {
	struct block *block;             /* the parts so far; NULL: none */
	uint32_t stream;                 /* its stream */
	uint32_t parts;                  /* CONTINUATION frames so far */
};

/* From the peer's SETTINGS. */
struct h2_peer {
	uint32_t window;                 /* initial window of streams */
	uint32_t frame_max;
	uint32_t streams;                /* SETTINGS_MAX_CONCURRENT_STREAMS */
	uint32_t table;                  /* SETTINGS_HEADER_TABLE_SIZE */
	bool connect;                    /* it supports extended CONNECT (RFC 8441) */
};

/* Windows of the connection. */
struct h2_windows {
	int64_t tx;                      /* what we may send; never negative */
	int64_t rx;                      /* what the peer may send */
};

/* Resources used in this turn of the loop. */
struct h2_spent {
	uint32_t frames, resets;
	uint32_t control;                /* frames without head and body */
	uint32_t work;                   /* units of work since the clock was read */
	uint64_t since_ns;               /* when the clock was first read; 0: not yet */
};

/* A connection without streams. */
struct h2_idle {
	uint64_t since_ms;               /* when the last stream left, or the connection began */
	uint32_t ping_ms;                /* from its line; 0: no PING */
	uint8_t ping;                    /* enum h2_ping */
};

/* The last GOAWAY that was sent. */
struct h2_goaway {
	uint64_t since_ms;               /* when it was sent */
	uint32_t last;                   /* its stream */
	uint8_t error;
};

/* A stream that we have reset recently. */
struct h2_cut {
	uint32_t id;                     /* 0: none */
	uint32_t left;                   /* remaining announced content; or one of H2_CUT_* */
};

/* No announced length, or one not worth counting. */
#define H2_CUT_ANY UINT32_MAX
/* All further frames are ignored. */
#define H2_CUT_SKIP (UINT32_MAX - 1)

/* The last ones; a ring. */
struct h2_cuts {
	struct h2_cut list[4];
	uint32_t at;
};

/* Responses to control frames in <out>. */
struct h2_control {
	uint32_t bytes;
	uint32_t end;                    /* bytes of <out> up to the last one */
};

/* Counts not yet passed on: h2c_tell_counts(). */
struct h2_tally {
	int32_t counts[H2_CNT_COUNT];
	bool any;                        /* one of them is not 0 */
};

/* Limits for a client. */
struct h2_most {
	uint32_t streams;                /* concurrent streams; 0: any */
	bool is_elastic;                 /* <streams> comes from h2_elastic_take() */
	uint32_t number;                 /* the highest stream id it may use; 0: any */
};

struct h2_conn {
	struct mux mux;
	struct conn *conn;
	union {
		const struct front_user *front;
		const struct back_user *back;
	} user;
	void *owner;
	const struct mux_settings *settings;
	const struct h2_tunes *tunes;    /* of <settings> */
	const struct h2_limits *limits;  /* of this side, in <tunes> */
	const struct h2_side *side;
	struct wire_in in;
	struct block_queue out;          /* frames not sent yet */
	struct list turn;                /* continues reading in the next turn */
	struct list flush;               /* sends at the end of the turn */
	struct list senders;             /* streams with something to send, in turn */
	struct list pending;             /* back: streams without an id yet, by sender */
	struct tree streams;             /* by id */
	/* streams that received something: woken after all is read */
	struct list late;
	struct timer timer;
	struct hpack_decoder decoder;
	struct hpack_encoder encoder;
	struct h2_rx rx;
	struct h2_gathered gathered;
	uint64_t since_ns;               /* when the head being received began */
	struct h2_windows window;
	struct h2_peer peer;
	uint32_t stream_window;          /* initial window of its streams, as announced */
	struct h2_spent spent;
	struct h2_control control;
	struct h2_idle idle;
	struct h2_goaway goaway;
	struct h2_cuts cuts;
	uint16_t flags;                  /* enum h2_conn_flags */
	uint8_t state;                   /* enum h2c_state */
	uint32_t stream_count;
	uint32_t receiving;              /* streams whose body may still arrive */
	uint32_t room_given;             /* bytes of their windows beyond the announced size */
	uint32_t streams_total;
	uint32_t last_stream;            /* the highest id that the peer has used */
	struct h2_most most;             /* front */
	uint32_t glitches;
	struct h2_tally tally;
};

/* Creates the pool, once. False: out of memory. */
bool h2_conn_init(void);
/* Creates what both sides have in common; the caller sets the user. NULL: out of memory. */
struct h2_conn *h2_new(struct conn *c, const struct h2_side *side, void *owner,
		       const struct mux_settings *settings);
/* Changes the settings. */
void h2_use_settings(struct h2_conn *h, const struct mux_settings *settings);
/* Sets after how many ms an idle peer is checked; 0: never. */
void h2_set_idle_ping(struct h2_conn *h, int64_t ms);

/* Frees it, but neither the connection nor the received bytes. */
void h2_abandon(struct h2_conn *h);
void h2_destroy(struct h2_conn *h);
void h2_free(struct h2_conn *h);
void h2c_set_state(struct h2_conn *h, enum h2c_state to);
/* Sends GOAWAY. <last>: the highest id that is, or will be, processed. */
void h2c_goaway(struct h2_conn *h, enum h2_error code, uint32_t last);
/* A connection error of the peer: GOAWAY, then the end. <text>: for the log; NULL: not logged. */
void h2c_fail(struct h2_conn *h, enum h2_error code, const char *text);
/* A rule disconnects the client: GOAWAY, or nothing at all if its socket was made silent. */
void h2c_kill(struct h2_conn *h);
/* Adds the accumulated counts to the counters of its settings. */
void h2c_tell_counts(struct h2_conn *h);
/* Something odd but allowed. May end the connection. */
void h2c_note_glitch(struct h2_conn *h, const char *text);
/* Logs an invalid request of a connection that continues, if that is wanted. */
void h2c_note_refused(struct h2_conn *h, enum front_bad_kind kind, const char *text);
/* Logs an invalid connection. */
void h2c_report(struct h2_conn *h, enum front_bad_kind kind, const char *text);
/* Stops reading frames; closes when everything is sent and the streams have ended. May destroy. */
void h2c_close(struct h2_conn *h);
/* Closes if nothing is left to do. May destroy. */
void h2c_check_end(struct h2_conn *h);
/* Sets the timer for the connection's state. */
void h2c_arm(struct h2_conn *h);

static inline struct h2_conn *h2_of(const struct mux *m)
{
	return container_of((struct mux *)(uintptr_t)m, struct h2_conn, mux);
}

static inline void h2_count(struct h2_conn *h, enum h2_counter what)
{
	h->tally.counts[what]++;
	h->tally.any = true;
}

static inline void h2_uncount(struct h2_conn *h, enum h2_counter what)
{
	h->tally.counts[what]--;
	h->tally.any = true;
}

static inline bool h2_enter(struct h2_conn *h)
{
	bool outer = !(h->flags & H2C_FL_BUSY);

	h->flags |= H2C_FL_BUSY;
	return outer;
}

static inline void h2_leave(struct h2_conn *h, bool outer)
{
	if (!outer)
		return;
	h->flags &= (uint16_t)~H2C_FL_BUSY;
	if (h->flags & H2C_FL_DEAD)
		h2_free(h);
}

/* The one entry from below. */
void h2_ready(struct conn *c);
void h2_timeout(struct timer *t);
void h2c_send_settings(struct h2_conn *h);

/* We have reset this stream: what arrives for it is ignored for a while. */
void h2c_note_cut(struct h2_conn *h, uint32_t id);
/* Resets a stream whose response was complete before its request, with <code>. The rest of the
 * request is still checked.
 */
void h2s_cut(struct h2_stream *s, enum h2_error code);
/* Have we reset this stream recently? */
bool h2c_was_cut(const struct h2_conn *h, uint32_t id);
/* The peer has reset it as well: nothing more will arrive. */
void h2c_forget_cut(struct h2_conn *h, uint32_t id);
/* <len> bytes of content arrived for an id without a stream; <end>: the last ones. */
void h2c_cut_data(struct h2_conn *h, uint32_t id, size_t len, bool end);
/* Trailers arrived for such an id. <good>: they are well-formed, and its last frame. */
void h2c_cut_trailers(struct h2_conn *h, uint32_t id, bool good);

/* Calls <call>, counted for the place in the code (`debug counters`). */
#define H2_COUNTED(call, text)                                                                  \
	do {                                                                                    \
		PLACE_COUNT(PLACE_GLT, text);                                                   \
		call;                                                                           \
	} while (0)
#define h2c_error(h, code, text) H2_COUNTED(h2c_fail(h, code, text), text)
#define h2c_glitch(h, text) H2_COUNTED(h2c_note_glitch(h, text), text)
#define h2c_refused(h, kind, text) H2_COUNTED(h2c_note_refused(h, kind, text), text)

#endif
