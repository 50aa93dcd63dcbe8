/* SPDX-License-Identifier: GPL-2.0-or-later */
/* h1_priv.h - what the files of the HTTP/1 mux share */
#ifndef MUX_H1_PRIV_H
#define MUX_H1_PRIV_H

#include "base/bug.h"
#include "base/clock.h"
#include "codec/chunk.h"
#include "codec/h1.h"
#include "core/counter.h"
#include "core/timer.h"
#include "mux/h1.h"
#include "net/conn.h"
#include "mux_priv.h"
#include "trace_priv.h"
#include "wire_priv.h"

/* Where reception stands. SKIP: a request whose answer came before its end; the rest is read and
 * thrown away, and the next request follows. DRAIN: all that comes is, up to the end. X(state)
 */
#define H1_RX_STATES(X) X(IDLE) X(HEAD) X(LENGTH) X(CHUNKED) X(TRAILERS) X(CLOSE) X(TUNNEL) \
	X(DONE) X(SKIP_LENGTH) X(SKIP_CHUNKED) X(SKIP_TRAILERS) X(DRAIN) X(END)
/* Where sending stands. NONE: the body that the message has is not sent (HEAD). */
#define H1_TX_STATES(X) X(HEAD) X(LENGTH) X(CHUNKED) X(CLOSE) X(TUNNEL) X(NONE) \
	X(DONE)

enum h1_rx_state {
#define X(s) H1_RX_##s,
	H1_RX_STATES(X)
#undef X
};
enum h1_tx_state {
#define X(s) H1_TX_##s,
	H1_TX_STATES(X)
#undef X
};

enum h1_conn_flags {
	H1C_FL_BACK = 1 << 0,
	H1C_FL_BUSY = 1 << 1,       /* a function of ours is below on the stack: do not free */
	H1C_FL_DEAD = 1 << 2,       /* to be freed when no longer busy */
	H1C_FL_CLOSE = 1 << 3,      /* close after this exchange */
	H1C_FL_STOP = 1 << 4,       /* the process stops: no further request */
	H1C_FL_FIRST = 1 << 5,      /* no request was received yet */
	H1C_FL_SHUT_AFTER = 1 << 6, /* our end follows what is in <out> */
	H1C_FL_HEAD_REQ = 1 << 8,   /* the current request is a HEAD */
	H1C_FL_PROXY_NAME = 1 << 9, /* front: Proxy-Connection instead of Connection */
	H1C_FL_CLIENT_1_0 = 1 << 10,/* front: the request is HTTP/1.0 */
	H1C_FL_KEEP_RX = 1 << 11,   /* the received message allows keeping the connection */
	H1C_FL_IDLE = 1 << 12,      /* back: in the owner's idle list */
	H1C_FL_UPGRADE_REQ = 1 << 13,/* back: the request may be answered with 101 */
	H1C_FL_HEAD_SENT = 1 << 14,
	H1C_FL_GIVEN = 1 << 15,     /* front: the connection went to another mux */
	H1C_FL_NO_PREFACE = 1 << 16,/* front: its first bytes are not HTTP/2's preface */
	/* front: only the connection's end ends the body, whose own end we know */
	H1C_FL_UNCHUNKED = 1 << 7,
	H1C_FL_STREAM = 1 << 17,    /* counted: a message and its answer are being exchanged */
	/* front: the client asks for permission to send the body, of which nothing has come */
	H1C_FL_EXPECTS = 1 << 18,
};

/* A head that came in several pieces: the parser's results kept between reads. */
struct h1_partial {
	struct h1_head head;
	struct h1_field fields[];
};

struct h1_conn {
	struct mux mux;
	struct conn *conn;
	struct endpoint *ep;             /* the stream's; NULL between messages */
	const struct mux_settings *settings;
	union {
		const struct front_user *front;
		const struct back_user *back;
	} user;
	void *owner;
	struct wire_in in;               /* received bytes not parsed yet */
	uint32_t flags;
	uint8_t rx_state, tx_state;
	uint16_t glitches;               /* oddities of the peer */
	uint32_t bytes_in, bytes_out;    /* not yet added to the counters */
	struct h1_partial *partial;
	union { /* a head's state, then its body's */
		struct h1_parser parser;
		union {
			struct chunk_decoder chunk;
			uint64_t left;   /* body bytes to come, H1_RX_LENGTH */
		} rx;
	};
	uint64_t tx_left;                /* body bytes to send, H1_TX_LENGTH */
	struct block_queue out;          /* formatted bytes not sent yet */
	uint64_t since_ns;               /* first byte of the head being received */
	struct timer timer;              /* front: head, keep-alive, drain */
	struct list resume;              /* the thread's list of those to go on with */
};

static inline void h1_set_rx(struct h1_conn *h, enum h1_rx_state to)
{
	H1_TRACE(STATE, h, H1_EV(WAKE), "reception: %s", h1_rx_name(to));
	h->rx_state = to;
}

static inline void h1_set_tx(struct h1_conn *h, enum h1_tx_state to)
{
	H1_TRACE(STATE, h, H1_EV(TX_DATA), "sending: %s", h1_tx_name(to));
	h->tx_state = to;
}

/* A client's connection waits for the next request. */
static inline void h1_front_idle(struct h1_conn *h)
{
	int64_t wait = mux_keep_alive_ms(h->settings);

	h1_set_rx(h, H1_RX_IDLE);
	h1_set_tx(h, H1_TX_HEAD);
	h->since_ns = 0;
	if (wait)
		timer_set(&h->timer, clock_now_ms() + (uint64_t)wait);
}

static inline struct h1_conn *h1_of(const struct mux *m)
{
	return container_of((struct mux *)(uintptr_t)m, struct h1_conn, mux);
}

/* --- h1_send.c */

/* Formats what the endpoint has and sends it; keeps EP_TX_* up to date. Does not wake the stream.
 */
void h1_send_pending(struct h1_conn *h);
/* Sends <out> only. Returns false on a transport error. */
bool h1_flush(struct h1_conn *h);

/* --- h1.c : life, reading */

struct h1_conn *h1_new(struct conn *c, void *owner, const struct mux_settings *settings);
/* The end of the connection; the memory goes when no frame of ours needs it any more. */
void h1_destroy(struct h1_conn *h);
void h1_free(struct h1_conn *h);
/* Closes a client's connection after what is unsent. May destroy. */
void h1_front_finish(struct h1_conn *h);
/* A client's request is over and answered, its connection waits for the next one. */
void h1_front_next(struct h1_conn *h);
/* Not a time that clients have between their requests: it would end as the next one comes. */
#define H1_LAST_CALL_MS 1300
/* A client that was idle since <since_ms>, when the process stops. It may be about to send, as it
 * does not know yet: one that had an answer a moment ago has its last call, the next answer tells
 * it to close.
 */
void h1_front_last_call(struct h1_conn *h, uint64_t since_ms);
/* Bytes, room, an end or an error: the one entry from below. */
void h1_ready(struct conn *c);
/* Goes on as far as the socket allows, and reads if it <may_read>. May destroy. */
void h1_serve(struct h1_conn *h, bool may_read);
/* Goes on with this connection on the next turn of the loop. */
void h1_resume_later(struct h1_conn *h);

/* Brackets a function that may call up. Returns what h1_leave() needs. */
static inline bool h1_enter(struct h1_conn *h)
{
	bool outer = !(h->flags & H1C_FL_BUSY);

	h->flags |= H1C_FL_BUSY;
	return outer;
}

static inline void h1_leave(struct h1_conn *h, bool outer)
{
	if (!outer)
		return;
	h->flags &= ~H1C_FL_BUSY;
	if (h->flags & H1C_FL_DEAD)
		h1_free(h);
}

/* --- h1_count.c */

/* Bytes that a connection keeps for itself before they are counted. */
#define H1_BYTES_MAX (1u << 24)

void h1_count_begin(struct h1_conn *h);
void h1_count_finish(struct h1_conn *h);
void h1_count_many(struct h1_conn *h);
/* The connection begins to count in the counters of its settings; it no longer does, at its end or
 * before it gets others.
 */
void h1_count_conn(struct h1_conn *h);
void h1_count_end(struct h1_conn *h);

/* A message begins: its first byte, or its stream. Once until its end. */
static inline void h1_count_stream(struct h1_conn *h)
{
	if (h->flags & H1C_FL_STREAM)
		return;
	h->flags |= H1C_FL_STREAM;
	if (h->settings->counters)
		h1_count_begin(h);
}

static inline void h1_count_stream_end(struct h1_conn *h)
{
	if (!(h->flags & H1C_FL_STREAM))
		return;
	h->flags &= ~(unsigned)H1C_FL_STREAM;
	if (h->settings->counters)
		h1_count_finish(h);
}

/* Bytes received and sent; the same of those that went through a pipe. */
static inline void h1_count_bytes(struct h1_conn *h, size_t in, size_t out)
{
	h->bytes_in += (uint32_t)in;
	h->bytes_out += (uint32_t)out;
	if (unlikely((h->bytes_in | h->bytes_out) >= H1_BYTES_MAX))
		h1_count_many(h);
}

void h1_count_spliced(struct h1_conn *h, size_t in, size_t out);

/* --- h1_head.c */

extern __thread struct h1_field *h1_scratch_fields;
extern __thread unsigned h1_scratch_count;

bool h1_head_init(unsigned fields_max);
bool h1_head_thread_init(void);
void h1_drop_partial(struct h1_conn *h);
/* Parses what is in <in>. True: a head was taken (or an end came); false: more bytes are needed. */
bool h1_parse(struct h1_conn *h);
/* Reports bytes that are no request and answers them; the connection then ends. */
void h1_front_bad(struct h1_conn *h, struct front_bad *bad);
/* A response that is not valid, or breaks off: told to the stream. */
void h1_back_bad(struct h1_conn *h, unsigned flag, const char *text);

/* --- h1_answer.c : requests that need no stream, with MUX_OPT_ANSWERS */

/* Begins <bytes> with the head that was answered last? Then that is used and answered again: the
 * connection is idle again, with the answer in <out>.
 */
bool h1_answer_again(struct h1_conn *h, struct slice bytes);
/* Has the owner the answer to this request? As above, but the caller uses the head. */
bool h1_answer(struct h1_conn *h, const struct h1_head *head);

/* --- h1_body.c */

/* Works on the bytes in <in>. True: something was used or moved. */
bool h1_parse_body(struct h1_conn *h);
void h1_body_end(struct h1_conn *h);

/* --- h1_skip.c */

static inline bool h1_skips(const struct h1_conn *h)
{
	return h->rx_state >= H1_RX_SKIP_LENGTH && h->rx_state <= H1_RX_SKIP_TRAILERS;
}

/* May the client's connection be kept although its request goes on? Its end must be known, and the
 * client must be about to send the rest: one that waits for permission may never do so.
 */
bool h1_can_skip(const struct h1_conn *h);
/* The stream has left, its answer is sent: what is still to come of the request is thrown away. */
void h1_skip_begin(struct h1_conn *h);
/* The process stops while it does so. */
void h1_skip_stop(struct h1_conn *h);
/* Throws away what there is of it in <in>; <t> has room for trailers. NONE: more bytes are needed.
 */
enum h1_skipped { H1_SKIPPED_NONE, H1_SKIPPED_SOME, H1_SKIPPED_ALL, H1_SKIPPED_BAD };
enum h1_skipped h1_skip(struct h1_conn *h, struct chunk_trailers *t);

#endif
