/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* conn.h - a connection: a descriptor, its transport, and the layer above
 *
 * Purpose: moves bytes between a socket and block queues, and reports readiness to the mux above. A
 *          connection that shares a socket with others (QUIC) has no descriptor: fd is -1, this
 *          module reads and sends nothing, and its mux knows where its bytes are.
 * Owns   : its descriptor. A connection is owned by the mux above (or by a handshake, before there
 *          is a mux).
 * Threads: the thread that created it, until conn_detach() and conn_attach() move it to another.
 * Errors : enum io. conn->error keeps the errno of the first failure.
 *
 * Readiness is remembered: CONN_CAN_RECV and CONN_CAN_SEND are set by events and cleared when the
 * kernel said "no more" (EAGAIN, or a short read or write), so that no system call is made twice in
 * vain.
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
	CONN_CAN_RECV = 1 << 0,   /* recv() may return bytes */
	CONN_CAN_SEND = 1 << 1,   /* send() may take bytes */
	CONN_RDHUP = 1 << 2,      /* the end was announced: read until it comes */
	CONN_CONNECTING = 1 << 3, /* connect() is in progress */
	CONN_EOF = 1 << 4,        /* recv() returned the end */
	CONN_ERROR = 1 << 5,      /* a transport error: nothing can be sent or received */
	CONN_SHUT_WRITE = 1 << 6, /* our end was sent */
	CONN_BACKEND = 1 << 7,    /* to a server */
	CONN_REUSED = 1 << 8,     /* served a stream before this one */
	/* the handshake of the transport, or what precedes it, is not finished */
	CONN_HANDSHAKE = 1 << 9,
	CONN_NO_LINGER = 1 << 10, /* reset instead of a clean close */
	CONN_GONE = 1 << 11,      /* the peer has closed both directions: it reads nothing more */
	CONN_DETACHED = 1 << 12,  /* polled by no thread: between two threads */
	/* the socket has no bytes although CONN_CAN_RECV is set: the transport holds some itself.
	 * An event of the socket clears it
	 */
	CONN_DRY = 1 << 13,
	/* the transport wants flush() at events: it holds bytes that the socket did not take, or
	 * its handshake continues while data flow
	 */
	CONN_TX_HELD = 1 << 14,
	/* an error was announced: bytes that came before it can be read */
	CONN_RESET = 1 << 15,
};

struct conn;

/* Callbacks of the layer above. ready() may close the connection. */
struct conn_ops {
	const char *name;
	/* Bytes, room, an end or an error may be there: see conn->flags. Also called once when
	 * connect() or a handshake has ended, successfully or with CONN_ERROR.
	 */
	void (*ready)(struct conn *c);
	/* For `show fd`: appends " fe=<name>" or " sv=<backend>/<server>", then " mux=<name>" and
	 * further facts. May be NULL.
	 */
	void (*describe)(const struct conn *c, struct strbuf *out);
};

struct transport {
	const char *name;
	/* Receives into the vectors; *got: bytes received. IO_AGAIN: none for now. */
	enum io (*recv)(struct conn *c, struct iovec *v, int count, size_t *got);
	/* Sends; *sent may be short (IO_AGAIN if not everything was taken). */
	enum io (*send)(struct conn *c, const struct iovec *v, int count, size_t *sent, bool more);
	void (*shut)(struct conn *c);  /* sends our end of stream */
	void (*close)(struct conn *c); /* frees transport_ctx; conn_close() closes the socket */
	/* Called at each event while CONN_HANDSHAKE is set, until the handshake is over: IO_OK or
	 * IO_ERR. NULL: no handshake.
	 */
	enum io (*handshake)(struct conn *c);
	/* Takes all of <q>, to send it at the end of the turn. False: nothing was taken. NULL:
	 * conn_post() acts as conn_send().
	 */
	bool (*post)(struct conn *c, struct block_queue *q);
	/* Called when there is room and CONN_TX_HELD is set, or something was posted: sends what is
	 * held and continues. NULL: never needed.
	 */
	void (*flush)(struct conn *c);
	/* Is there nothing to receive, see conn_is_quiet()? NULL: the socket is asked. */
	bool (*quiet)(struct conn *c);
	/* The connection is leaving its thread, or has arrived on another. NULL: nothing to do. */
	void (*move)(struct conn *c);
	/* For conn_alpn(). NULL: the transport negotiates no protocol. */
	struct slice (*alpn)(const struct conn *c);
	/* Returns the QUIC connection (quic/quic.h) that <c> belongs to; NULL: it is over. The
	 * operation itself is NULL for other transports.
	 */
	void *(*quic)(const struct conn *c);
	/* For conn_address() of a connection without a descriptor; returns NULL if unknown. NULL:
	 * the descriptor is asked.
	 */
	const struct addr *(*address)(const struct conn *c, bool peer);
	bool can_splice;
	bool is_tls;   /* transport_ctx belongs to the TLS floor */
};

extern const struct transport transport_raw;

struct conn {
	const struct conn_ops *ops;
	void *owner;
	const struct transport *transport;
	void *transport_ctx;
	int fd;
	uint16_t flags;      /* enum conn_flags */
	uint8_t error;       /* errno of the first failure */
	uint8_t read_blocks; /* how many blocks the next read asks for: grows with the throughput */
};

_Static_assert(sizeof(struct conn) <= 40, "idle connections are many");

/* Creates a connection over an open non-blocking socket, or over none (-1), on the calling thread.
 * NULL: out of memory, or the poller refused (the caller still owns the socket).
 */
struct conn *conn_new(int fd, const struct conn_ops *ops, void *owner, unsigned flags);
/* Closes and frees the connection. NULLs the pointer. */
void conn_close(struct conn **c);
/* Frees the connection but returns its descriptor, which the caller owns and no poller watches.
 * NULLs the pointer.
 */
int conn_release(struct conn **c);
/* Remove the connection from its thread's poller, and add it to the calling thread's (false:
 * failed).
 */
void conn_detach(struct conn *c);
bool conn_attach(struct conn *c);

/* Reads into <q>: one block first, more per call as the throughput grows, at most about <max> bytes
 * (rounded up to a block). *got: bytes added. IO_OK: *got > 0, and there may be more if
 * CONN_CAN_RECV is still set. IO_AGAIN: nothing for now. IO_EOF and IO_ERR are final.
 */
enum io conn_recv(struct conn *c, struct block_queue *q, size_t max, size_t *got);
/* Reads into the free tail of one block. */
enum io conn_recv_block(struct conn *c, struct block *b, size_t *got);
/* Sends as much of <q> as the socket takes and removes it from <q>. <more>: other bytes follow
 * soon. IO_OK: all was sent. IO_AGAIN: the socket is full. IO_ERR: final.
 */
enum io conn_send(struct conn *c, struct block_queue *q, bool more);
/* As conn_send(), for a small message that the peer waits for. A transport that can takes all of it
 * (IO_OK) and sends it when the thread has handled this turn's events: peers then find many
 * messages when they wake up, and wake less often. All other operations on the connection send
 * posted bytes first. An error is reported like any other, by ready() with CONN_ERROR.
 */
enum io conn_post(struct conn *c, struct block_queue *q, bool more);
/* Sends posted bytes now. False: not all, the transport still holds bytes (CONN_TX_HELD). */
bool conn_flush(struct conn *c);
/* Is there nothing to receive, not even an end? Asks the kernel only if the last receive left that
 * open. Needed before a connection is reused: unexpected bytes must not be taken for the next
 * response.
 */
bool conn_is_quiet(struct conn *c);
/* Sends our end of stream after the bytes already sent. */
void conn_shut_write(struct conn *c);

/* Returns the protocol that ALPN chose ("h2"), empty if none. Valid as long as the connection. */
static inline struct slice conn_alpn(const struct conn *c)
{
	return c->transport->alpn ? c->transport->alpn(c) : slice_none();
}

/* See struct transport; NULL: not a QUIC connection, or it is over. */
static inline void *conn_quic(const struct conn *c)
{
	return c->transport->quic ? c->transport->quic(c) : NULL;
}

/* Returns SO_ERROR of a failed connection, or 0. */
int conn_take_error(struct conn *c);

/* Returns our own address, or the peer's, as the kernel has it; ADDR_NONE when there is no socket
 * or it is not connected. Makes a system call.
 */
struct addr conn_address(const struct conn *c, bool peer);

/* Largest number of blocks a read asks for at once, per connection. */
#define CONN_READ_BLOCKS_MAX 16

#endif
