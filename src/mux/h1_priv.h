/* SPDX-License-Identifier: GPL-2.0-or-later */
/* h1_priv.h - shared by the files of the HTTP/1 mux */
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

/* States of reception. SKIP: a request whose response was complete before its end; the rest is read
 * and discarded, then the next request follows. DRAIN: everything is discarded, up to the end.
 * X(state)
 */
#define H1_RX_STATES(X) X(IDLE) X(HEAD) X(LENGTH) X(CHUNKED) X(TRAILERS) X(CLOSE) X(TUNNEL) \
	X(DONE) X(SKIP_LENGTH) X(SKIP_CHUNKED) X(SKIP_TRAILERS) X(DRAIN) X(END)
/* States of sending. NONE: the message has a body that is not sent (HEAD). */
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
	H1C_FL_BUSY = 1 << 1,       /* a function of ours is on the stack: do not free */
	H1C_FL_DEAD = 1 << 2,       /* to be freed when no longer busy */
	H1C_FL_CLOSE = 1 << 3,      /* close after this exchange */
	H1C_FL_STOP = 1 << 4,       /* the process stops: no further request */
	H1C_FL_FIRST = 1 << 5,      /* no request was received yet */
	H1C_FL_SHUT_AFTER = 1 << 6, /* our end of stream follows <out> */
	H1C_FL_HEAD_REQ = 1 << 8,   /* the current request is a HEAD */
	H1C_FL_PROXY_NAME = 1 << 9, /* front: Proxy-Connection instead of Connection */
	H1C_FL_CLIENT_1_0 = 1 << 10,/* front: the request is HTTP/1.0 */
	H1C_FL_KEEP_RX = 1 << 11,   /* the received message allows keeping the connection */
	H1C_FL_IDLE = 1 << 12,      /* back: in the owner's idle list */
	H1C_FL_UPGRADE_REQ = 1 << 13,/* back: the request may be answered with 101 */
	H1C_FL_HEAD_SENT = 1 << 14,
	H1C_FL_GIVEN = 1 << 15,     /* front: the connection was given to another mux */
	H1C_FL_NO_PREFACE = 1 << 16,/* front: its first bytes are not the HTTP/2 preface */
	/* front: only the end of the connection ends the body, whose own end we know */
	H1C_FL_UNCHUNKED = 1 << 7,
	H1C_FL_STREAM = 1 << 17,    /* counted: an exchange is in progress */
	/* front: the client waits for permission to send the body, of which nothing has come */
	H1C_FL_EXPECTS = 1 << 18,
};

/* A head that arrives in pieces: the parser's results are kept between reads. */
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
	struct wire_in in;               /* received bytes that were not parsed yet */
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
	struct list resume;              /* in the thread's list of connections to continue */
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

/* Formats the endpoint's data and sends it; maintains EP_TX_*. Does not wake the stream. */
void h1_send_pending(struct h1_conn *h);
/* Sends <out> only. False: a transport error. */
bool h1_flush(struct h1_conn *h);

/* --- h1.c : life cycle, reading */

struct h1_conn *h1_new(struct conn *c, void *owner, const struct mux_settings *settings);
/* Ends the connection; its memory is freed when no function of ours is on the stack. */
void h1_destroy(struct h1_conn *h);
void h1_free(struct h1_conn *h);
/* Closes a client's connection after the unsent bytes. May destroy. */
void h1_front_finish(struct h1_conn *h);
/* A client's request is over and answered; its connection waits for the next one. */
void h1_front_next(struct h1_conn *h);
/* Chosen to differ from usual pauses between requests: the time should not end just as the next one
 * comes.
 */
#define H1_LAST_CALL_MS 1300
/* The process stops, and a client was idle since <since_ms>. It may be about to send: one that had
 * a response a moment ago may send one more request, whose response tells it to close.
 */
void h1_front_last_call(struct h1_conn *h, uint64_t since_ms);
/* Bytes, room, an end or an error: the one entry from below. */
void h1_ready(struct conn *c);
/* Continues as far as the socket allows; reads if <may_read>. May destroy. */
void h1_serve(struct h1_conn *h, bool may_read);
/* Continues with this connection in the next turn of the loop. */
void h1_resume_later(struct h1_conn *h);

/* Brackets a function that may call up. Returns the argument for h1_leave(). */
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

/* How many bytes a connection accumulates before they are counted. */
#define H1_BYTES_MAX (1u << 24)

void h1_count_begin(struct h1_conn *h);
void h1_count_finish(struct h1_conn *h);
void h1_count_many(struct h1_conn *h);
/* The connection begins to count in the counters of its settings, and stops: at its end, or before
 * it gets other settings.
 */
void h1_count_conn(struct h1_conn *h);
void h1_count_end(struct h1_conn *h);

/* Counts the begin of a message: its first byte, or its stream. Once until its end. */
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

/* Counts bytes received and sent; h1_count_spliced() also those that went through a pipe. */
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
/* Parses the bytes in <in>. True: a head was taken (or an end came); false: more bytes are needed.
 */
bool h1_parse(struct h1_conn *h);
/* Reports bytes that are not a request and answers them; the connection then ends. */
void h1_front_bad(struct h1_conn *h, struct front_bad *bad);
/* Reports to the stream that a response is invalid or was cut off. */
void h1_back_bad(struct h1_conn *h, unsigned flag, const char *text);

/* --- h1_answer.c : requests that need no stream, with MUX_OPT_ANSWERS */

/* Do <bytes> begin with the head that was answered last? Then uses it and repeats the response: the
 * connection is idle again, with the response in <out>.
 */
bool h1_answer_again(struct h1_conn *h, struct slice bytes);
/* Has the owner the response to this request? As above, but the caller consumes the head. */
bool h1_answer(struct h1_conn *h, const struct h1_head *head);

/* --- h1_body.c */

/* Parses body bytes in <in>. True: something was used or moved. */
bool h1_parse_body(struct h1_conn *h);
void h1_body_end(struct h1_conn *h);

/* --- h1_skip.c */

static inline bool h1_skips(const struct h1_conn *h)
{
	return h->rx_state >= H1_RX_SKIP_LENGTH && h->rx_state <= H1_RX_SKIP_TRAILERS;
}

/* May the client's connection be kept although its request has not ended? Its end must be known,
 * and the client must be about to send the rest: a client that waits for permission may never do
 * so.
 */
bool h1_can_skip(const struct h1_conn *h);
/* The stream has left and its response is sent: the rest of the request will be discarded. */
void h1_skip_begin(struct h1_conn *h);
/* The process stops while the connection does so. */
void h1_skip_stop(struct h1_conn *h);
/* Discards the available bytes in <in>; <t> has room for trailers. NONE: more bytes are needed. */
enum h1_skipped { H1_SKIPPED_NONE, H1_SKIPPED_SOME, H1_SKIPPED_ALL, H1_SKIPPED_BAD };
enum h1_skipped h1_skip(struct h1_conn *h, struct chunk_trailers *t);

#endif
