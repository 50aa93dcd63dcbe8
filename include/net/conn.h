/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* conn.h - a connection: a descriptor, its transport, and the layer above
 *
 * Purpose: moves bytes between a socket and block queues, tells readiness to the mux above.
 *          One that shares a socket with others (QUIC) has no descriptor: fd is -1, nothing is read
 *          or sent by it, and its mux knows where its bytes are.
 * Owns   : its descriptor. Owned by the mux above (or by a handshake, before there is one).
 * Threads: the thread that made it, until conn_detach()/conn_attach() hand it to another.
 * Errors : enum io. conn->error keeps the errno of the first failure.
 *
 * Readiness is remembered: CONN_CAN_RECV and CONN_CAN_SEND are set by events and cleared when the
 * kernel said "no more" (EAGAIN or a short read or write), so that nothing is asked twice.
 */
#ifndef NET_CONN_H
#define NET_CONN_H

#include <stdbool.h>
#include <stdint.h>
#include "base/addr.h"
#include "base/block.h"
#include "base/slice.h"
#include "core/fd.h"

enum io { IO_OK, IO_AGAIN, IO_EOF, IO_ERR };

enum conn_flags {
	CONN_CAN_RECV = 1 << 0,   /* recv() may give bytes */
	CONN_CAN_SEND = 1 << 1,   /* send() may take bytes */
	CONN_RDHUP = 1 << 2,      /* the end was announced: read until it comes */
	CONN_CONNECTING = 1 << 3, /* connect() is under way */
	CONN_EOF = 1 << 4,        /* recv() returned the end */
	CONN_ERROR = 1 << 5,      /* a transport error: nothing goes any more */
	CONN_SHUT_WRITE = 1 << 6, /* our end was sent */
	CONN_BACKEND = 1 << 7,    /* to a server */
	CONN_REUSED = 1 << 8,     /* served a stream before this one */
	CONN_HANDSHAKE = 1 << 9,  /* the transport, or what precedes it, is not done */
	CONN_NO_LINGER = 1 << 10, /* reset instead of a clean close */
	CONN_GONE = 1 << 11,      /* the peer has closed both directions: it reads nothing more */
	CONN_DETACHED = 1 << 12,  /* under no thread's poller: between two threads */
	CONN_DRY = 1 << 13,       /* the socket has no bytes although CONN_CAN_RECV is set: the
				   * transport's own. An event of the socket clears it */
	CONN_TX_HELD = 1 << 14,   /* the transport wants flush() at events: it holds bytes that the
				   * socket did not take, or its handshake goes on beside data */
	CONN_RESET = 1 << 15,     /* an error was announced: what came before it can be read */
};

struct conn;

/* What the layer above gets. The handler may close the connection. */
struct conn_ops {
	const char *name;
	/* Bytes, room, an end or an error may be there: see conn->flags. Also called once when a
	 * connect() or a handshake ended, with success or with CONN_ERROR.
	 */
	void (*ready)(struct conn *c);
	/* For `show fd`: appends " fe=<name>" or " sv=<backend>/<server>", then " mux=<name>" and
	 * what else there is to tell. Or NULL.
	 */
	void (*describe)(const struct conn *c, struct strbuf *out);
};

struct transport {
	const char *name;
	/* Receives into the vectors; *got bytes. IO_AGAIN when none for now. */
	enum io (*recv)(struct conn *c, struct iovec *v, int count, size_t *got);
	/* Sends; *sent may be short (then IO_AGAIN if not all was taken). */
	enum io (*send)(struct conn *c, const struct iovec *v, int count, size_t *sent, bool more);
	void (*shut)(struct conn *c);  /* our end of stream */
	void (*close)(struct conn *c); /* frees transport_ctx; the socket is closed by conn_close */
	/* With CONN_HANDSHAKE, at each event until it is over: IO_OK, or IO_ERR. Else NULL. */
	enum io (*handshake)(struct conn *c);
	/* Takes all of <q>, to send it at the end of the turn; false: as if not called. Or NULL:
	 * conn_post() is conn_send().
	 */
	bool (*post)(struct conn *c, struct block_queue *q);
	/* There is room and CONN_TX_HELD is set, or something was posted: sends what is held, goes
	 * on. Else NULL.
	 */
	void (*flush)(struct conn *c);
	/* Nothing to receive, see conn_is_quiet(). NULL: the socket is asked. */
	bool (*quiet)(struct conn *c);
	/* The connection leaves its thread, or came to another one. NULL: nothing to do. */
	void (*move)(struct conn *c);
	/* For conn_alpn(). NULL: it negotiates no protocol. */
	struct slice (*alpn)(const struct conn *c);
	/* The connection of QUIC (quic/quic.h) that it belongs to; NULL: that is over. The
	 * operation itself is NULL where there is no QUIC.
	 */
	void *(*quic)(const struct conn *c);
	/* For conn_address() of a connection without a descriptor; NULL: unknown. Else NULL. */
	const struct addr *(*address)(const struct conn *c, bool peer);
	bool can_splice;
	bool is_tls;   /* transport_ctx is the TLS floor's */
};

extern const struct transport transport_raw;

struct conn {
	const struct conn_ops *ops;
	void *owner;
	const struct transport *transport;
	void *transport_ctx;
	int fd;
	uint16_t flags;      /* enum conn_flags */
	uint8_t error;       /* errno of the failure */
	uint8_t read_blocks; /* how many blocks the next read asks for: grows with the flow */
};

_Static_assert(sizeof(struct conn) <= 40, "idle connections are many");

/* A connection over an open non-blocking socket of the calling thread, or over none (-1). NULL: no
 * memory or the poller refused (the caller still owns the socket).
 */
struct conn *conn_new(int fd, const struct conn_ops *ops, void *owner, unsigned flags);
/* Closes and frees. NULLs the pointer. */
void conn_close(struct conn **c);
/* Frees it but for its descriptor, which is under no poller then and the caller's. NULLs the
 * pointer.
 */
int conn_release(struct conn **c);
/* Takes the connection from its thread's poller / puts it under the calling thread's. */
void conn_detach(struct conn *c);
bool conn_attach(struct conn *c);

/* Reads what is there into <q>: one block first, more in one call as the flow proves fast, at most
 * about <max> bytes in this call (rounded up to a block). *got: bytes added. IO_OK: *got > 0 and
 * there may be more if CONN_CAN_RECV is still set; IO_AGAIN: nothing for now; IO_EOF and IO_ERR are
 * final.
 */
enum io conn_recv(struct conn *c, struct block_queue *q, size_t max, size_t *got);
/* Reads into the free tail of one block. */
enum io conn_recv_block(struct conn *c, struct block *b, size_t *got);
/* Sends as much of <q> as the socket takes and drops it from <q>. <more>: other bytes follow soon.
 * IO_OK: all was sent; IO_AGAIN: the socket is full; IO_ERR.
 */
enum io conn_send(struct conn *c, struct block_queue *q, bool more);
/* Sends as conn_send() does, for a small message that the peer waits for: where the transport can,
 * it takes all of it (IO_OK) and sends it when the thread has done this turn's events, so that the
 * peers find many messages at once when they wake, and wake less often. Everything else that is
 * done with the connection sends what was posted first. An error is told as any other, by ready()
 * with CONN_ERROR.
 */
enum io conn_post(struct conn *c, struct block_queue *q, bool more);
/* Sends what was posted, now. False: not all, the transport still holds bytes (CONN_TX_HELD). */
bool conn_flush(struct conn *c);
/* Is there nothing to receive, not even an end? Asks the kernel only when the last receive left
 * that open. For a connection that is to be used again: bytes that were not asked for must not be
 * taken for the next answer.
 */
bool conn_is_quiet(struct conn *c);
/* Sends our end after what was sent. */
void conn_shut_write(struct conn *c);

/* The protocol that ALPN chose ("h2"), empty when none; for as long as the connection lives. */
static inline struct slice conn_alpn(const struct conn *c)
{
	return c->transport->alpn ? c->transport->alpn(c) : slice_none();
}

/* See struct transport; NULL: it is none of QUIC, or that is over. */
static inline void *conn_quic(const struct conn *c)
{
	return c->transport->quic ? c->transport->quic(c) : NULL;
}

/* SO_ERROR of a failed connection, or 0. */
int conn_take_error(struct conn *c);

/* Our own address on it, or the peer's, as the kernel has them; ADDR_NONE when there is no socket,
 * or it is not connected. A system call.
 */
struct addr conn_address(const struct conn *c, bool peer);

/* Largest number of blocks a read asks for at once, per connection. */
#define CONN_READ_BLOCKS_MAX 16

#endif
