/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* endpoint.h - the contract between a stream and the mux that carries one of its sides
 *
 * A stream has two endpoints: front (the client's) and back (the server's). The mux fills an
 * endpoint with what it received (a head, body bytes, the end), the stream takes it out; what is to
 * be sent goes the opposite way. Nothing above a mux knows the wire format.
 *
 *      socket -> mux -> rx_head, rx, EP_RX_END -> stream -> tx_head, tx, EP_TX_END -> mux -> socket
 *
 * Owns   : the endpoint is a member of the stream. A mux keeps a pointer to it from its attachment
 *          until either side releases it.
 * Threads: that of the stream, which is also that of both connections.
 * Calls  : a mux calls user->wake() when something changed. The stream may then call any op, detach
 *          included, so after wake() the mux must check whether it still has the endpoint. The
 *          stream calls ops->send() after it added something to send, and ops->resume() after it
 *          cleared EP_RX_BLOCKED.
 */
#ifndef MUX_ENDPOINT_H
#define MUX_ENDPOINT_H

#include <stdbool.h>
#include <stdint.h>
#include "base/block.h"
#include "http/msg.h"

struct conn;
struct endpoint;
struct pipe;
struct strbuf;
struct trace_facts;

enum endpoint_flags {
	/* set by the mux */
	EP_RX_HEAD = 1 << 0,     /* rx_head is filled; the stream clears the flag when it took it */
	EP_RX_END = 1 << 1,      /* the message, or the stream of bytes, is complete */
	EP_TX_BODYLESS = 1 << 2, /* the head that was sent has no body: body bytes are dropped */
	EP_RX_ABORT = 1 << 3,    /* the peer broke off before the end */
	EP_RX_BAD = 1 << 4,      /* the peer's bytes are not valid; see status */
	EP_ERROR = 1 << 5,       /* the connection failed: nothing can be sent or received */
	EP_CONNECTED = 1 << 6,   /* the connection is established (back) */
	EP_TX_DONE = 1 << 7,     /* head, body and end were all handed to the kernel */
	EP_TX_FULL = 1 << 8,     /* much is unsent: the stream should stop the source */
	EP_REUSED = 1 << 9,      /* the connection served others before */
	EP_RX_ANY = 1 << 10,     /* something was received since the request (no safe replay) */
	/* the peer has sent its end of stream, seen while nothing is expected of it */
	EP_PEER_SHUT = 1 << 11,
	EP_TX_REFUSED = 1 << 12, /* the request cannot be expressed in the server's protocol */
	EP_RX_REFUSED = 1 << 13, /* the server has not processed the request: safe to replay */
	/* set by the stream */
	EP_TX_HEAD = 1 << 16,    /* tx_head is to be sent; the mux clears the flag */
	EP_TX_END = 1 << 17,     /* tx holds the last bytes */
	EP_RX_BLOCKED = 1 << 18, /* do not read more body for now */
	EP_CLOSE = 1 << 19,      /* do not keep the connection after this message */
	EP_TUNNEL = 1 << 20,     /* bytes both ways from now on */
	EP_RX_SPLICE = 1 << 21,  /* body bytes may go through <pipe> */
	EP_TX_MORE = 1 << 23,    /* more follows immediately: the mux may wait to fill packets */
	EP_KILL = 1 << 25,       /* end the whole connection, with its other streams */
};

/* Bytes that were refused, for callbacks that look at them. All borrowed for the call. */
struct endpoint_bad {
	struct slice bytes;        /* the bytes, from the start of what was being parsed */
	size_t at;                 /* index of the byte that was refused */
	const char *state;         /* state of the parser */
	unsigned state_number;
	unsigned conn_flags;       /* the mux's */
};

/* Callbacks of an endpoint's user. */
struct endpoint_user {
	/* EP_RX_BAD was just set; wake() follows. May be NULL. */
	void (*bad)(struct endpoint *ep, const struct endpoint_bad *bad);
	/* Something changed: flags, rx, drained tx, connected, error. May release the endpoint. */
	void (*wake)(struct endpoint *ep);
	/* Adds the facts of the stream to <out>, for traces. May be NULL. */
	void (*trace)(const struct endpoint *ep, struct trace_facts *out);
};

/* Facts about a mux that carries several streams, for fetches and dumps. */
struct endpoint_facts {
	unsigned streams;          /* streams of the connection that have not ended */
	unsigned streams_limit;    /* how many streams it may have at a time; 0: any number */
	unsigned glitches;         /* protocol oddities of the peer */
	uint32_t id;               /* the stream's number on the wire */
	int64_t reset_code;        /* code with which the peer reset the stream; -1: it did not */
	uint8_t major;             /* HTTP version of the wire */
};

struct endpoint_ops {
	const char *name;
	/* Sends as much as possible of tx_head, tx and the end. */
	void (*send)(struct endpoint *ep);
	/* EP_RX_BLOCKED was cleared: continue reading. May call wake() before it returns. */
	void (*resume)(struct endpoint *ep);
	/* The stream leaves. The mux decides whether to keep, reuse or close the connection: an
	 * unfinished message means closing. The mux must not use <ep> after the call.
	 */
	void (*detach)(struct endpoint *ep);
	struct conn *(*conn)(struct endpoint *ep);
	bool framed;   /* bytes on the wire are always framed: no splicing */
	/* sends the late field of a head (http/msg.h), which other muxes do not know */
	bool late;
	/* Fills what the mux knows about the connection and the stream; it leaves the defaults,
	 * those of a mux with one message at a time, in other members. NULL: nothing to tell.
	 */
	void (*facts)(const struct endpoint *ep, struct endpoint_facts *out);
	/* For `show sess`: adds whole lines about the mux's stream and connection. May be NULL. */
	void (*describe)(const struct endpoint *ep, struct strbuf *out);
};

struct endpoint {
	const struct endpoint_ops *ops;      /* NULL: no mux attached */
	const struct endpoint_user *user;
	void *mux;                           /* the mux's own */
	uint32_t flags;
	uint16_t status;                     /* with EP_RX_BAD: the status to answer */
	struct http_msg *rx_head;            /* the stream's; the mux fills it */
	struct http_msg *tx_head;
	struct block_queue rx;               /* received body bytes */
	struct block_queue tx;               /* body bytes to send */
	struct pipe *rx_pipe;                /* spliced bytes received; NULL: none */
	struct pipe *tx_pipe;                /* spliced bytes to send */
	/* heads as http_msg_size() counts them, bodies without framing */
	uint64_t rx_bytes;
	uint64_t tx_bytes;                   /* given to the wire, including framing */
	uint32_t rx_head_len, rx_bad_at;     /* bytes of the head; offset of the error */
	/* how many received bytes may be unsent at the other side; 0: any number */
	uint32_t rx_high;
	uint32_t tx_high;                    /* rx_high of the other side, see endpoint_tx_high() */
	const char *rx_error;                /* with EP_RX_BAD: a few words */
};

/* Above this many unsent bytes (or pieces) of one stream, its source is stopped. */
#define ENDPOINT_TX_HIGH (512 * 1024)
#define ENDPOINT_PIECES_HIGH 256

static inline size_t endpoint_tx_high(const struct endpoint *ep)
{
	return ep->tx_high && ep->tx_high < ENDPOINT_TX_HIGH ? ep->tx_high : ENDPOINT_TX_HIGH;
}

/* For muxes: sets EP_TX_FULL above <high> unsent bytes, clears it below half of that. */
static inline void endpoint_tell_full(struct endpoint *ep, size_t high, size_t unsent,
				      unsigned pieces)
{
	if (unsent > high || pieces > ENDPOINT_PIECES_HIGH)
		ep->flags |= EP_TX_FULL;
	else if (unsent < high / 2)
		ep->flags &= ~EP_TX_FULL;
}

#endif
