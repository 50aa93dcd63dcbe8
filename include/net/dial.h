/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* dial.h - the one dialler: connections that the program opens by itself
 *
 * Purpose: opens a connection as a line, or a module, asks for it: from which address and
 *          namespace, through which SOCKS4 proxy, with which bytes before anything else (a PROXY
 *          protocol header), with or without TLS. It hands the connection over when it is usable,
 *          or says why it is not. Streams, health checks, rings, mails, DNS over TCP and
 *          haload use it.
 * Owns   : a connection is the dialler's until it is handed over, and the caller's from then on.
 *          All that struct dial_want points at is borrowed for the one call that takes it:
 *          addresses and bytes are copied.
 * Threads: everything happens on the thread that calls; the connection is its own.
 * Units  : milliseconds.
 * Errors : enum dial_result, each with a text; errno, and the error of a connection that failed
 *          later (conn_take_error()), are the system's word for it.
 * Manual : configuration 4.2 source, 5.2 source, namespace, tcp-ut, socks4, check-via-socks4,
 *          send-proxy.
 *
 *   dial_socket --> connecting --> SOCKS4 --> first bytes --> TLS --> usable
 *
 * There are two ways in. dial_open() returns immediately with the connection, at whatever stage it
 * is: its ready() is called when it is usable or has failed, and a mux may be put on it before. The
 * time that this may take is the caller's affair: closing the connection ends it at any stage.
 * dial_start() also has a timer, and calls back with the connection when it is usable.
 */
#ifndef NET_DIAL_H
#define NET_DIAL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include "base/slice.h"
#include "core/timer.h"
#include "net/conn.h"
#include "net/socket.h"

struct config;
struct dial_want;
struct slot_area;

/* How it went. X(name, text). The texts of SOCKS4 are the reference's, which checks report. */
#define DIAL_RESULTS(X) \
	X(DONE, "Connected") \
	X(NO_ADDRESS, "No address to connect to") \
	X(NO_WAY, "An address that SOCKS4 or this system cannot reach") \
	X(NO_MEMORY, "Out of memory") \
	X(NO_DESCRIPTOR, "Too many open files") \
	X(NO_SOURCE, "No free source address or port") \
	X(FORBIDDEN, "Not permitted on this system") \
	X(REFUSED, "Connection refused") \
	X(UNREACHABLE, "Host or network unreachable") \
	X(RESET, "Connection reset") \
	X(TIMEOUT, "Timeout while connecting") \
	X(SOCKS4_SEND, "SOCKS4 Proxy write error during handshake") \
	X(SOCKS4_RECV, "SOCKS4 Proxy read error during handshake") \
	X(SOCKS4_DENY, "SOCKS4 Proxy deny the request") \
	X(SOCKS4_ABORT, "SOCKS4 Proxy handshake aborted by server") \
	X(HANDSHAKE, "TLS handshake failure") \
	X(HANDSHAKE_TIMEOUT, "Timeout during a handshake") \
	X(OTHER, "Connection failed")
#define X(name, text) DIAL_##name,
enum dial_result { DIAL_RESULTS(X) };
#undef X

/* Static. */
const char *dial_text(enum dial_result r);
/* What an errno, or the error of a connection that has failed, amounts to; 0: DIAL_DONE. */
enum dial_result dial_result_of(int error);
/* Is it this host that lacks something? No other server is better then. */
bool dial_is_ours(enum dial_result r);
/* Did a SOCKS4 proxy have part in the failure? */
bool dial_is_socks4(enum dial_result r);

enum dial_flags {
	DIAL_NO_LINGER = 1 << 0,   /* closing it resets it */
	DIAL_SPEAKS = 1 << 1,      /* the caller's bytes follow <first> immediately: in one
				    * packet */
	DIAL_MAY_BE_EARLY = 1 << 2,/* for <secure>: bytes may leave before the handshake ends */
	DIAL_IS_EARLY = 1 << 3,    /* set by <secure>: it will */
};

/* Makes TLS the transport of <c>, see tls_connect(). False: no memory. */
typedef bool dial_secure_fn(struct conn *c, struct dial_want *w);

/* Opens the connection by itself, without a socket of streams (QUIC): as dial_open(). */
typedef enum dial_result dial_open_fn(struct dial_want *w, const struct conn_ops *ops, void *owner,
				      struct conn **out);

/* The room that dial_want.first() gets, bytes. */
#define DIAL_FIRST_MAX 2048

/* What to open. Zeroed it is a plain connection from any address. */
struct dial_want {
	const struct sockaddr_storage *to;
	socklen_t to_len;
	socklen_t via_len;
	const struct sockaddr_storage *via; /* a SOCKS4 proxy, asked for <to>; NULL: none */
	struct socket_settings set;
	unsigned flags;                     /* enum dial_flags */
	const int *again;                   /* see socket_connect_again(); NULL: a new socket */
	/* Makes the bytes to send in the clear before all others, in <room> or elsewhere; copied.
	 * <fd> is the socket, maybe still connecting. slice_none(): no memory. NULL: nothing.
	 */
	struct slice (*first)(struct dial_want *w, int fd, char room[DIAL_FIRST_MAX]);
	dial_secure_fn *secure;             /* NULL: no TLS */
	dial_open_fn *open;                 /* instead of all that; NULL: it is not QUIC */
	const void *line;                   /* for <open>: settings of the line; or NULL */
	struct config *config;              /* same: its generation */
	struct slot_area *tls;              /* for <secure>: where the settings of TLS are */
	struct slice sni, alpn;             /* for <secure>: see tls_connect() */
	void *ctx;                          /* the caller's, for <first> */
};

/* The first half of dial_open(): *fd is a socket, connected or *in_progress, that is the caller's.
 * Else -1, errno, and <w->again> is closed.
 */
enum dial_result dial_socket(const struct dial_want *w, int *fd, bool *in_progress);
/* The second half: takes over <fd>, and makes it a connection with what is to stand on it.
 * Otherwise <fd> is closed, and errno is set. <ops> may be NULL when a mux is put on it next.
 */
enum dial_result dial_conn(struct dial_want *w, int fd, bool in_progress,
			   const struct conn_ops *ops, void *owner, struct conn **out);
/* Opens a connection: DIAL_DONE says that it is under way, or usable (conn_is_usable()).
 * ops->ready() is not called from within, but once it is usable, or failed: then dial_why().
 * Otherwise *out is NULL, and errno is set.
 */
enum dial_result dial_open(struct dial_want *w, const struct conn_ops *ops, void *owner,
			   struct conn **out);
/* Why <c> failed; DIAL_DONE: it did not. */
enum dial_result dial_why(const struct conn *c);

/* Is it connected, and have all handshakes been done? */
static inline bool conn_is_usable(const struct conn *c)
{
	return !(c->flags & (CONN_CONNECTING | CONN_HANDSHAKE | CONN_ERROR));
}

/* --- with a timer ---------------------------------------------------------------------------- */

/* A connection under way; part of its user. */
struct dial {
	struct timer timer;
	struct conn *conn;                  /* NULL: none is under way */
	const struct conn_ops *ops;         /* what it will have */
	void *owner;
	void (*done)(struct dial *d, struct conn *c, enum dial_result r);
};

/* Before anything else. <done> is told the end of each dial_start() that returned DIAL_DONE,
 * unless it is cancelled: <c> is usable, has <ops> and <owner>, and is the callee's, which looks
 * itself at what may be there to read; or NULL, and <r> says why. <d> is idle by then: it may be
 * freed, or start again.
 */
void dial_init(struct dial *d,
	       void (*done)(struct dial *d, struct conn *c, enum dial_result r));
/* Begins. <ms>: how long all stages may take together; 0: no limit. Another result than DIAL_DONE:
 * nothing is under way, done() is not called. done() is never called from within.
 */
enum dial_result dial_start(struct dial *d, struct dial_want *w, int64_t ms,
			    const struct conn_ops *ops, void *owner);
static inline bool dial_is_on(const struct dial *d)
{
	return d->conn != NULL;
}
/* Gives up, at any stage; harmless when nothing is under way. Before <d> is freed. */
void dial_cancel(struct dial *d);

#endif
