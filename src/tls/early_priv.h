/* SPDX-License-Identifier: GPL-2.0-or-later */
/* early_priv.h - early data of clients and to servers (early.c)
 *
 * Owns   : what was read before the handshake was over.
 * Threads: the connection's.
 * Source : RFC 8446 2.3, 8
 */
#ifndef TLS_EARLY_PRIV_H
#define TLS_EARLY_PRIV_H

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stddef.h>
#include "base/slice.h"
#include "conn_priv.h"

/* Most of it. */
#define TLS_EARLY_MAX (15 * 1024)
/* A session must be found in the cache to be resumed, where it is found once (session.c). That of
 * OpenSSL, which it would do this with by itself, is another for each process and context.
 */
#define TLS_EARLY_OPTIONS (SSL_OP_NO_TICKET | SSL_OP_NO_ANTI_REPLAY)
/* Is the connection used although its handshake is not over? */
static inline bool tls_early_goes_on(const struct tls_conn *t)
{
	return (t->flags & (TLS_FL_HAD_EARLY | TLS_FL_DONE | TLS_FL_FAILED)) == TLS_FL_HAD_EARLY;
}
/* Does what we send reach a server before the handshake is over? */
static inline bool tls_sends_early(const struct tls_conn *t)
{
	return !(t->flags & TLS_FL_DONE) && t->flags & TLS_FL_BACK;
}
/* Reads what there is of it, with OpenSSL at work for <t>. True: all has come, or there is none. */
bool tls_early_read(struct tls_conn *t);
/* Early data of QUIC are taken, which do not come by here: others can wait for the handshake.
 * False: no memory.
 */
bool tls_early_elsewhere(struct tls_conn *t);
/* Gives what was read. */
size_t tls_early_take(struct tls_conn *t, char *p, size_t room);
/* The handshake is over, or failed: wakes the stream that waits for it. */
void tls_early_over(struct tls_conn *t);
void tls_early_free(struct tls_conn *t);

/* --- early data to servers (early.c) ---------------------------------------------------------- */

/* Handshakes with servers, see transport.handshake: may bytes be sent before it has begun? */
bool tls_early_begins(struct tls_conn *t);
/* How many bytes can be sent now; 0: none before the handshake is over. */
size_t tls_early_room(const struct tls_conn *t);
/* Notes that so many were sent. */
void tls_early_sent(struct tls_conn *t, size_t len);
/* The handshake is over. False: the server has not taken what was sent. */
bool tls_early_was_taken(struct tls_conn *t);

/* transport.alpn (early.c) */
struct slice tls_alpn(const struct conn *c);

#endif
