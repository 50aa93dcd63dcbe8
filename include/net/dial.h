/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* dial.h - the dialler: opens all outgoing connections
 *
 * Purpose: opens a connection as a line of the configuration, or a module, asks for it: source
 *          address and namespace, SOCKS4 proxy, bytes to send first (a PROXY protocol header), TLS.
 *          Hands the connection over when it is usable, or reports why it is not. Used by streams,
 *          health checks, rings, mails, DNS over TCP and haload.
 * Owns   : a connection belongs to the dialler until it is handed over, then to the caller. What
 *          struct dial_want points at is borrowed for the duration of the call: addresses and bytes
 *          are copied.
 * Threads: everything happens on the calling thread, which owns the connection.
 * Units  : milliseconds.
 * Errors : enum dial_result, each with a text. errno, and the error of a connection that failed
 *          later (conn_take_error()), give the system's reason.
 * Manual : configuration 4.2 source, 5.2 source, namespace, tcp-ut, socks4, check-via-socks4,
 *          send-proxy.
 *
 *   dial_socket --> connecting --> SOCKS4 --> first bytes --> TLS --> usable
 *
 * There are two interfaces. dial_open() returns the connection immediately, at whatever stage it
 * is: its ready() is called when it is usable or has failed, and a mux may be put on it before
 * that. The caller limits the time; closing the connection ends it at any stage. dial_start() adds
 * a timer, and calls back with the connection when it is usable.
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

/* The results, X(name, text). The texts of SOCKS4 are the reference's; checks report them. */
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

/* Returns the text of a result; static. */
const char *dial_text(enum dial_result r);
/* Translates an errno, or the error of a failed connection; 0: DIAL_DONE. */
enum dial_result dial_result_of(int error);
/* Is a resource of this host the cause? Then another server would not help. */
bool dial_is_ours(enum dial_result r);
/* Did the failure occur at a SOCKS4 proxy? */
bool dial_is_socks4(enum dial_result r);

enum dial_flags {
	DIAL_NO_LINGER = 1 << 0,   /* closing the connection resets it */
	/* the caller's bytes follow <first> immediately: send them in one packet */
	DIAL_SPEAKS = 1 << 1,
	DIAL_MAY_BE_EARLY = 1 << 2,/* for <secure>: bytes may be sent before the handshake ends */
	DIAL_IS_EARLY = 1 << 3,    /* set by <secure>: they will */
};

/* Makes TLS the transport of <c>, see tls_connect(). False: out of memory. */
typedef bool dial_secure_fn(struct conn *c, struct dial_want *w);

/* Opens a connection that needs no stream socket (QUIC). As dial_open(). */
typedef enum dial_result dial_open_fn(struct dial_want *w, const struct conn_ops *ops, void *owner,
				      struct conn **out);

/* The room that dial_want.first() gets, in bytes. */
#define DIAL_FIRST_MAX 2048

/* What to open. All zero: a plain connection from any address. */
struct dial_want {
	const struct sockaddr_storage *to;
	socklen_t to_len;
	socklen_t via_len;
	const struct sockaddr_storage *via; /* SOCKS4 proxy that is asked for <to>; NULL: none */
	struct socket_settings set;
	unsigned flags;                     /* enum dial_flags */
	const int *again;                   /* see socket_connect_again(); NULL: a new socket */
	/* Builds the bytes to send in the clear before all others, in <room> or elsewhere; copied.
	 * <fd> is the socket, which may still be connecting. slice_none(): out of memory. NULL:
	 * nothing to send.
	 */
	struct slice (*first)(struct dial_want *w, int fd, char room[DIAL_FIRST_MAX]);
	dial_secure_fn *secure;             /* NULL: no TLS */
	dial_open_fn *open;                 /* replaces all other steps, for QUIC; NULL: not QUIC */
	const void *line;                   /* for <open>: settings of the line; or NULL */
	struct config *config;              /* for <open>: the generation of <line> */
	struct slot_area *tls;              /* for <secure>: the slots with the TLS settings */
	struct slice sni, alpn;             /* for <secure>: see tls_connect() */
	void *ctx;                          /* the caller's, for <first> */
};

/* The first half of dial_open(): sets *fd to a socket, connected or *in_progress, that the caller
 * owns. On failure *fd is -1, errno is set, and <w->again> is closed.
 */
enum dial_result dial_socket(const struct dial_want *w, int *fd, bool *in_progress);
/* The second half: takes over <fd> and makes it a connection with the wanted layers. On failure
 * <fd> is closed and errno is set. <ops> may be NULL if a mux is put on it next.
 */
enum dial_result dial_conn(struct dial_want *w, int fd, bool in_progress,
			   const struct conn_ops *ops, void *owner, struct conn **out);
/* Opens a connection. DIAL_DONE: it is in progress, or usable (conn_is_usable()). ops->ready() is
 * never called from within, but once the connection is usable or has failed: then see dial_why().
 * Other results: *out is NULL and errno is set.
 */
enum dial_result dial_open(struct dial_want *w, const struct conn_ops *ops, void *owner,
			   struct conn **out);
/* Returns why <c> failed; DIAL_DONE: it did not. */
enum dial_result dial_why(const struct conn *c);

/* Is it connected, with all handshakes done? */
static inline bool conn_is_usable(const struct conn *c)
{
	return !(c->flags & (CONN_CONNECTING | CONN_HANDSHAKE | CONN_ERROR));
}

/* --- with a timer ---------------------------------------------------------------------------- */

/* A connection in progress; a member of its user's object. */
struct dial {
	struct timer timer;
	struct conn *conn;                  /* NULL: none in progress */
	const struct conn_ops *ops;         /* for the finished connection */
	void *owner;
	void (*done)(struct dial *d, struct conn *c, enum dial_result r);
};

/* Initialises <d>. <done> is called at the end of each dial_start() that returned DIAL_DONE, unless
 * it is cancelled. <c> is usable, has <ops> and <owner>, and belongs to the callee, which must
 * check by itself whether bytes are there to read; or <c> is NULL, and <r> tells why. <d> is idle
 * by then: it may be freed or started again.
 */
void dial_init(struct dial *d,
	       void (*done)(struct dial *d, struct conn *c, enum dial_result r));
/* Begins. <ms>: time limit for all stages together; 0: none. Other results than DIAL_DONE: nothing
 * is in progress, done() is not called. done() is never called from within.
 */
enum dial_result dial_start(struct dial *d, struct dial_want *w, int64_t ms,
			    const struct conn_ops *ops, void *owner);
static inline bool dial_is_on(const struct dial *d)
{
	return d->conn != NULL;
}
/* Gives up, at any stage; harmless when nothing is in progress. Must be called before <d> is freed.
 */
void dial_cancel(struct dial *d);

#endif
