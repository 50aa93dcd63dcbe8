/* SPDX-License-Identifier: GPL-2.0-or-later */
/* h2_priv.h - what the files of the HTTP/2 mux share */
#ifndef MUX_H2_PRIV_H
#define MUX_H2_PRIV_H

#include "base/bug.h"
#include "base/place.h"
#include "base/slot.h"
#include "base/strbuf.h"
#include "base/tree.h"
#include "codec/h2_frame.h"
#include "codec/h2_head.h"
#include "core/timer.h"
#include "mux/h2.h"
#include "mux_priv.h"
#include "wire_priv.h"

/* Where the connection stands. X(state) */
#define H2C_STATES(X) X(PREFACE) X(SETTINGS) X(OPEN) X(CLOSING) X(DRAIN)
/* Where a stream stands, as RFC 9113 5.1 names it; REMOTE: the peer ended its half. */
#define H2S_STATES(X) X(IDLE) X(OPEN) X(HALF_LOCAL) X(HALF_REMOTE) X(CLOSED)

enum h2c_state {
#define X(s) H2C_##s,
	H2C_STATES(X)
#undef X
};
enum h2s_state {
#define X(s) H2S_##s,
	H2S_STATES(X)
#undef X
};

/* PING to a peer that has nothing to do, to see whether it is there */
enum h2_ping {
	H2_PING_NONE,
	H2_PING_DUE,    /* is sent when the timer fires */
	H2_PING_SENT,   /* not answered yet: the timer ends the connection */
};

enum h2_conn_flags {
	H2C_FL_BUSY = 1 << 0,        /* a function of ours is below on the stack: do not free */
	H2C_FL_DEAD = 1 << 1,        /* to be freed when no longer busy */
	H2C_FL_IN_PAYLOAD = 1 << 2,  /* <rx.frame> was read, its payload is next */
	H2C_FL_CONTINUATION = 1 << 3,/* only CONTINUATION of <rx.frame.stream> may come */
	H2C_FL_STOP = 1 << 4,        /* no further stream is taken */
	H2C_FL_GOAWAY_SENT = 1 << 5,
	H2C_FL_DIALLED = 1 << 15,    /* front: we opened it (reverse HTTP) */
	H2C_FL_LEAVING = 1 << 14,    /* the process stops: the client was asked to go */
	H2C_FL_EOF = 1 << 6,         /* the peer sends no more */
	H2C_FL_BROKEN = 1 << 7,      /* the transport failed */
	H2C_FL_ACKED = 1 << 8,       /* our SETTINGS were acknowledged */
	H2C_FL_WINDOW_OPENED = 1 << 9,/* the connection's window was made as large as can be */
	H2C_FL_END_STREAM = 1 << 10, /* of the header block being gathered */
	H2C_FL_PAUSE = 1 << 11,      /* enough for this turn */
	H2C_FL_PAD_NEXT = 1 << 12,   /* the length of the padding comes next */
	H2C_FL_CONNECTED = 1 << 13,  /* back: the connection stands */
};

struct h2_conn;
struct h2_stream;

/* What is not the same towards clients and towards servers. */
struct h2_side {
	const struct endpoint_ops *stream_ops; /* for the endpoints of its streams */
	bool is_back;
	/* May rx.frame.stream get HEADERS? False: what was wrong was dealt with. */
	bool (*headers_are_due)(struct h2_conn *h);
	/* A whole header block for rx.frame.stream. */
	void (*head_block)(struct h2_conn *h, struct slice block, bool end_stream);
	/* Back: streams that have no number yet are told that they will not get one. */
	void (*fail_pending)(struct h2_conn *h);
	/* Back: the head of a stream that has no number yet goes out now. */
	void (*number)(struct h2_stream *s);
	/* A head, not an interim one, is about to be sent: notes what it says of the body. */
	void (*note_head)(struct h2_stream *s, const struct http_msg *m);
	/* Writes the fields of the head to send; there is room. */
	bool (*put_head)(struct h2_stream *s, struct hpack_writer *w, const struct http_msg *m);
	/* The peer's SETTINGS came. Or NULL. */
	void (*settings)(struct h2_conn *h);
	/* The peer will not look at streams above <last>. Or NULL. */
	void (*goaway)(struct h2_conn *h, uint32_t last);
	/* Something is wrong with what was received: for the log. */
	void (*bad)(struct h2_conn *h, enum front_bad_kind kind, const char *text);
	/* The connection ends: its owner forgets it. */
	void (*closed)(struct h2_conn *h);
	/* For `show fd`. */
	void (*describe)(const struct h2_conn *h, struct strbuf *out);
};

/* What is being received. */
struct h2_rx {
	struct h2_frame frame;
	uint32_t left;                   /* of its content, DATA */
	uint32_t pad;                    /* behind that */
	struct h2_stream *stream;        /* whose DATA it is; NULL: nobody's */
};

/* A header block that comes in several frames. */
struct h2_gathered {
	struct block *block;             /* the parts so far; NULL: none */
	uint32_t stream;                 /* whose it is */
	uint32_t parts;                  /* CONTINUATION frames so far */
};

/* Of the peer's SETTINGS. */
struct h2_peer {
	uint32_t window;                 /* initial window of streams */
	uint32_t frame_max;
	uint32_t streams;                /* SETTINGS_MAX_CONCURRENT_STREAMS */
	uint32_t table;                  /* SETTINGS_HEADER_TABLE_SIZE */
	bool connect;                    /* it takes extended CONNECT (RFC 8441) */
};

/* Windows of the connection. */
struct h2_windows {
	int64_t tx;                      /* what we may send; may become negative never */
	int64_t rx;                      /* what the peer may send */
};

/* What was done in this turn of the loop. */
struct h2_spent {
	uint32_t frames, resets;
	uint32_t control;                /* those that bring no head and no body */
	uint32_t work;                   /* units done since the clock was looked at */
	uint64_t since_ns;               /* when that was first done; 0: not yet */
};

/* A connection without streams. */
struct h2_idle {
	uint64_t since_ms;               /* when the last stream left, or it all began */
	uint32_t ping_ms;                /* of its line; 0: no PING */
	uint8_t ping;                    /* enum h2_ping */
};

/* The last GOAWAY that was sent. */
struct h2_goaway {
	uint64_t since_ms;               /* when it was sent */
	uint32_t last;                   /* its stream */
	uint8_t error;
};

/* A stream that we reset a moment ago. */
struct h2_cut {
	uint32_t id;                     /* 0: none */
	uint32_t left;                   /* of its announced content; or one of H2_CUT_* */
};

/* No length was announced, or one that is not worth counting. */
#define H2_CUT_ANY UINT32_MAX
/* Whatever comes is skipped. */
#define H2_CUT_SKIP (UINT32_MAX - 1)

/* The last ones; a ring. */
struct h2_cuts {
	struct h2_cut list[4];
	uint32_t at;
};

/* Answers to control frames in <out>. */
struct h2_control {
	uint32_t bytes;
	uint32_t end;                    /* bytes of <out> up to the last of them */
};

/* What was counted and not told yet: h2c_tell_counts(). */
struct h2_tally {
	int32_t counts[H2_CNT_COUNT];
	bool any;                        /* one of them is not 0 */
};

/* What a client may begin. */
struct h2_most {
	uint32_t streams;                /* at once; 0: any */
	bool is_elastic;                 /* that is from h2_elastic_take() */
	uint32_t number;                 /* the highest that it may use; 0: any */
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
	const struct h2_limits *limits;  /* of this side, among <tunes> */
	const struct h2_side *side;
	struct wire_in in;
	struct block_queue out;          /* frames not sent yet */
	struct list turn;                /* goes on reading in the next turn */
	struct list flush;               /* sends when the turn ends */
	struct list senders;             /* streams with something to send, in turn */
	struct list pending;             /* back: streams without a number yet, by sender */
	struct tree streams;             /* by number */
	struct list late;                /* streams that got something: woken once all is read */
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
	uint32_t receiving;              /* streams whose body may still come */
	uint32_t room_given;             /* bytes of their windows beyond the announced one */
	uint32_t streams_total;
	uint32_t last_stream;            /* the highest number that the peer used */
	struct h2_most most;             /* front */
	uint32_t glitches;
	struct h2_tally tally;
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

/* Much unsent: streams wait until some of it is gone. */
#define H2_OUT_HIGH (256 * 1024)
/* Only heads come so far: bodies stop at the above. A client that does not take them is not read
 * any more, and a server gets no further requests.
 */
#define H2_OUT_STUCK (2 * H2_OUT_HIGH)
/* What a stream sends when it is its turn. */
#define H2_QUANTUM 16384
/* Unsent answers to control frames above which nothing more is read. */
#define H2_CONTROL_HIGH 16384

/* CONTINUATION frames that one head may take. */
#define H2_CONTINUATIONS_MAX 64

/* What a connection may take of a turn of the loop, as others wait for theirs; the rest of what it
 * received is used in its next one.
 */
#define H2_TURN_NS 50000
/* Units of work after which the clock is looked at, and from which on it runs; a frame that costs
 * little is one.
 */
#define H2_TURN_WORK 32
/* Frames that bring nothing for a stream, of which many fit in that time: so many are enough. */
#define H2_TURN_CONTROL 256
/* A head, waking a stream, and receiving. What a stream does then, maybe the way to a server and
 * its end, is what takes time, and so may be what comes: the clock is looked at before each.
 */
#define H2_WORK_HEAD 8
#define H2_WORK_WAKE H2_TURN_WORK
#define H2_WORK_RECV H2_TURN_WORK

/* --- h2_out.c */

/* <flush_one>: what is to be done at the end of the turn for a connection's <flush>. */
bool h2_out_thread_init(void (*flush_one)(struct list *link));
void h2_out_thread_fini(void);
/* Goes on with this connection in the next turn. */
void h2_resume_later(struct h2_conn *h);
/* <units> of work were done. True: that is enough for this turn, H2C_FL_PAUSE was set. */
bool h2_turn_work(struct h2_conn *h, uint32_t units);
/* Sends when the turn ends. */
void h2_flush_later(struct h2_conn *h);
/* Room for <n> bytes to be sent by <h>; NULL: no memory. Only until the next such call. */
char *h2_out_reserve(struct h2_conn *h, size_t n);
/* Queues the bytes up to <end> of what was reserved. */
void h2_out_commit(struct h2_conn *h, const char *end);
/* A frame that answers the peer's: counted. */
void h2_out_control(struct h2_conn *h, const char *frame, size_t len);
/* Without memory the frames would be out of step: the connection is lost. */
void h2_out_failed(struct h2_conn *h);

/* --- h2_conn.c */

/* Makes the pool, once. False: no memory. */
bool h2_conn_init(void);
/* What both sides have in common; the user is set next. NULL: no memory. */
struct h2_conn *h2_new(struct conn *c, const struct h2_side *side, void *owner,
		       const struct mux_settings *settings);
/* Settings from now on. */
void h2_use_settings(struct h2_conn *h, const struct mux_settings *settings);
/* When to ask whether an idle peer is there; 0: never. */
void h2_set_idle_ping(struct h2_conn *h, int64_t ms);

/* Frees it, but neither the connection nor what was received. */
void h2_abandon(struct h2_conn *h);
void h2_destroy(struct h2_conn *h);
void h2_free(struct h2_conn *h);
void h2c_set_state(struct h2_conn *h, enum h2c_state to);
/* <last>: the highest number that is, or will be, served. */
void h2c_goaway(struct h2_conn *h, enum h2_error code, uint32_t last);
/* A fault of the peer that concerns the whole connection: GOAWAY, then the end. <text>: for the
 * log; NULL: it is not logged.
 */
void h2c_fail(struct h2_conn *h, enum h2_error code, const char *text);
/* A rule wants the client gone: GOAWAY, or nothing at all when its socket was made silent. */
void h2c_kill(struct h2_conn *h);
/* Adds what was counted to the counters of its settings. */
void h2c_tell_counts(struct h2_conn *h);
/* Something odd, but allowed. May end the connection. */
void h2c_note_glitch(struct h2_conn *h, const char *text);
/* A request that is none, of a connection that goes on: for the log, if that is wanted. */
void h2c_note_refused(struct h2_conn *h, enum front_bad_kind kind, const char *text);
/* A connection that is none: for the log. */
void h2c_report(struct h2_conn *h, enum front_bad_kind kind, const char *text);
/* No more frames are read; closes when all is sent and the streams have ended. May destroy. */
void h2c_close(struct h2_conn *h);
/* Closes if nothing is left to do. May destroy. */
void h2c_check_end(struct h2_conn *h);
/* Sets the timer for the state that the connection is in. */
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

/* Tells its user that something changed. The stream may be gone after it. */
void h2s_wake(struct h2_stream *s);

/* --- h2_tune.c */

extern struct slot h2_tune_slot;
/* Gives what was not configured its default; once per generation. */
void h2_tunes_fill(struct config *cfg);

/* --- h2_stream.c */

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
/* Same, because we want no more of it: not counted as an answer to a fault. */
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

/* --- h2_cut.c */

/* We have reset this number: what comes of it is skipped for a while. */
void h2c_note_cut(struct h2_conn *h, uint32_t id);
/* Its answer was complete before its request: RST_STREAM with <code>. What is on its way of the
 * request is still looked at.
 */
void h2s_cut(struct h2_stream *s, enum h2_error code);
/* Was this number reset by us a moment ago? */
bool h2c_was_cut(const struct h2_conn *h, uint32_t id);
/* The peer reset it as well: nothing of it is on its way any more. */
void h2c_forget_cut(struct h2_conn *h, uint32_t id);
/* <len> bytes of content came for a number without a stream; <end>: they are the last. */
void h2c_cut_data(struct h2_conn *h, uint32_t id, size_t len, bool end);
/* Trailers came for such a number. <good>: they are well-formed and its last frame. */
void h2c_cut_trailers(struct h2_conn *h, uint32_t id, bool good);

/* --- h2_head.c */

bool h2_head_thread_init(void);
void h2_head_thread_fini(void);
/* Decodes a block into the thread's buffers, for the next such call. */
enum h2_head_status h2_head_read(struct h2_conn *h, struct slice block, enum h2_head_kind kind,
				 unsigned options, struct h2_head *head);
/* A header block behind the head of <s>. */
void h2_head_trailers(struct h2_conn *h, struct h2_stream *s, struct slice block, bool end_stream);
/* Those of struct h2_side. */
bool h2_front_headers_are_due(struct h2_conn *h);
void h2_front_head_block(struct h2_conn *h, struct slice block, bool end_stream);

/* --- h2_frames.c */

/* A frame's header was read: may it come now? False: the connection is lost. */
bool h2_frame_begin(struct h2_conn *h);
/* Its whole payload is here, contiguous. */
void h2_frame_payload(struct h2_conn *h, struct slice payload);

/* --- h2_data.c */

/* The header of a DATA frame was read. False: the connection is lost. */
bool h2_data_begin(struct h2_conn *h);
/* Uses the bytes of its payload that are there. */
void h2_data_take(struct h2_conn *h);
/* Wakes the streams that got something, as far as this turn lasts; then goes on in the next. */
void h2_wake_late(struct h2_conn *h);
/* The stream's user will be told, once what was received is used. */
static inline void h2s_wake_soon(struct h2_stream *s)
{
	if (!list_is_linked(&s->late))
		list_append(&s->conn->late, &s->late);
}

/* --- h2_send.c */

/* Sends what can be sent, streams in turn. */
void h2_flush(struct h2_conn *h);
/* Formats what the endpoint has, as windows allow; keeps EP_TX_* up to date. */
void h2s_send(struct h2_stream *s);
/* The stream may go on: its window, or the connection's, has opened. */
void h2s_send_later(struct h2_stream *s);
/* Does its body wait for a window that can never open, as the peer has sent its last frame? Then
 * the stream has failed.
 */
bool h2s_is_stuck(const struct h2_stream *s);

/* h2_flush() of the connection whose <flush> this is. */
void h2_flush_one(struct list *link);

/* Those of struct h2_side. */
void h2_front_note_head(struct h2_stream *s, const struct http_msg *m);
bool h2_front_put_head(struct h2_stream *s, struct hpack_writer *w, const struct http_msg *m);
/* Does a field of a head go out as it is? */
typedef bool h2_is_sent_fn(const struct h2_stream *s, const struct http_msg *m,
			    const struct h1_field *f);
/* Writes the fields of a head; <length>: and the Content-Length that is announced, in its place. */
bool h2_put_fields(struct h2_stream *s, struct hpack_writer *w, const struct http_msg *m,
		   h2_is_sent_fn *is_sent, bool length);

/* --- h2.c */

/* The one entry from below. */
void h2_ready(struct conn *c);
void h2_timeout(struct timer *t);
void h2c_send_settings(struct h2_conn *h);

/* --- h2_back.c: of mux_h2 */

/* Reverse HTTP: see mux_kind.front_reverse(). */
bool h2_front_reverse(struct mux *m, const struct back_owner *o);
/* Preface and SETTINGS of a connection that we have opened. */
void h2c_say_hello(struct h2_conn *h);
struct mux *h2_back_new(struct conn *c, struct endpoint *ep, const struct back_owner *o);
bool h2_back_attach(struct mux *m, struct endpoint *ep);
unsigned h2_back_room(const struct mux *m);
bool h2_back_is_ending(const struct mux *m);
/* Says goodbye and closes. */
void h2_back_close(struct mux *m);
bool h2_back_detach_thread(struct mux *m);
bool h2_back_attach_thread(struct mux *m);

/* --- h2_show.c: `show fd` and `show sess` */

void h2_describe(const struct conn *c, struct strbuf *out);
void h2_ep_describe(const struct endpoint *ep, struct strbuf *out);

/* --- h2_endpoint.c */

extern const struct endpoint_ops h2_front_endpoint;

/* What both sides' endpoints do. */
void h2_ep_send(struct endpoint *ep);
void h2_ep_resume(struct endpoint *ep);
struct conn *h2_ep_conn(struct endpoint *ep);

/* The same, counted for the place in the code (`debug counters`). */
#define H2_COUNTED(call, text)                                                                  \
	do {                                                                                    \
		PLACE_COUNT(PLACE_GLT, text);                                                   \
		call;                                                                           \
	} while (0)
#define h2c_error(h, code, text) H2_COUNTED(h2c_fail(h, code, text), text)
#define h2c_glitch(h, text) H2_COUNTED(h2c_note_glitch(h, text), text)
#define h2c_refused(h, kind, text) H2_COUNTED(h2c_note_refused(h, kind, text), text)
#define h2s_error(s, code, text) H2_COUNTED(h2s_fail(s, code, text), text)

/* --- h2_elastic.c */

/* Streams that a new connection of a client may have at once, by the load; 0: any. */
uint32_t h2_elastic_take(const struct h2_tunes *t);
/* Gives them back, of one that tune.streams-elasticity has limited. */
void h2_elastic_give(uint32_t streams);

#endif
