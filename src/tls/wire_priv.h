/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wire_priv.h - the layer between OpenSSL and the socket (wire.c)
 *
 * Owns   : the thread's BIO and the buffer for OpenSSL's output during one operation.
 * Threads: one struct tls_wire each; a connection's functions are called on its thread.
 */
#ifndef TLS_WIRE_PRIV_H
#define TLS_WIRE_PRIV_H

#include <openssl/bio.h>
#include <stdbool.h>
#include <stddef.h>
#include "conn_priv.h"

/* Limit of encrypted bytes above which they are sent before more is encrypted. */
#define TLS_WIRE_SOFT (64 * 1024)

struct tls_wire {
	unsigned char *tx;        /* encrypted bytes of the current operation */
	size_t tx_len;
	struct conn *conn;        /* of the current operation */
	size_t rx_len;            /* received by it since the last application data */
	BIO *bio;
};

extern __thread struct tls_wire tls_wire;

/* Sends held bytes, then gathered ones. IO_AGAIN: some are (still) held. */
enum io tls_wire_flush(struct conn *c, bool more);
/* Holds bytes that the socket did not take. False: out of memory, or too many; c->error is set. */
bool tls_wire_hold(struct conn *c, const unsigned char *p, size_t len);
/* The held bytes were sent, or taken: frees the buffer. */
void tls_held_is_gone(struct conn *c);
/* Are bytes held on purpose, until the next response (tickets of TLS 1.3)? */
bool tls_tickets_wait(const struct tls_conn *t);
/* Makes <ssl> read and write through the BIO of the calling thread. */
void tls_wire_use(SSL *ssl);
bool tls_wire_init(void);
bool tls_wire_thread_init(void);
void tls_wire_thread_fini(void);

#endif
