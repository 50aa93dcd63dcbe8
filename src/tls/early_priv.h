/* SPDX-License-Identifier: GPL-2.0-or-later */
/* early_priv.h - early data from clients and to servers (early.c)
 *
 * Owns   : bytes read before the handshake was over.
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

/* Limit of early data, bytes. */
#define TLS_EARLY_MAX (15 * 1024)
/* A session must be found in our cache to be resumed, where it is found once (session.c). OpenSSL's
 * cache, which it would use by itself, differs per process and context.
 */
#define TLS_EARLY_OPTIONS (SSL_OP_NO_TICKET | SSL_OP_NO_ANTI_REPLAY)
/* Is the connection used although its handshake is not over? */
static inline bool tls_early_goes_on(const struct tls_conn *t)
{
	return (t->flags & (TLS_FL_HAD_EARLY | TLS_FL_DONE | TLS_FL_FAILED)) == TLS_FL_HAD_EARLY;
}
/* May our bytes reach a server before the handshake is over? */
static inline bool tls_sends_early(const struct tls_conn *t)
{
	return !(t->flags & TLS_FL_DONE) && t->flags & TLS_FL_BACK;
}
/* Reads available early data, with OpenSSL at work for <t>. True: all was received, or there is
 * none.
 */
bool tls_early_read(struct tls_conn *t);
/* Accepts early data of QUIC, which arrive elsewhere: others can wait for the handshake. False: out
 * of memory.
 */
bool tls_early_elsewhere(struct tls_conn *t);
/* Returns bytes that were read. */
size_t tls_early_take(struct tls_conn *t, char *p, size_t room);
/* The handshake is over, or has failed: wakes the stream that waits for it. */
void tls_early_over(struct tls_conn *t);
void tls_early_free(struct tls_conn *t);

/* --- early data to servers (early.c) ---------------------------------------------------------- */

/* For handshakes with servers, see transport.handshake: may bytes be sent before it begins? */
bool tls_early_begins(struct tls_conn *t);
/* Returns how many bytes can be sent now; 0: none before the handshake is over. */
size_t tls_early_room(const struct tls_conn *t);
/* Notes that <len> bytes were sent. */
void tls_early_sent(struct tls_conn *t, size_t len);
/* The handshake is over. False: the server has rejected the early data. */
bool tls_early_was_taken(struct tls_conn *t);

/* transport.alpn (early.c) */
struct slice tls_alpn(const struct conn *c);

#endif
