/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wire_priv.h - what stands between OpenSSL and the socket (wire.c)
 *
 * Owns   : the thread's BIO and the buffer for what OpenSSL writes during one operation.
 * Threads: one struct tls_wire each; a connection's functions are called on its thread.
 */
#ifndef TLS_WIRE_PRIV_H
#define TLS_WIRE_PRIV_H

#include <openssl/bio.h>
#include <stdbool.h>
#include <stddef.h>
#include "conn_priv.h"

/* Above so many encrypted bytes they are sent before more is made. */
#define TLS_WIRE_SOFT (64 * 1024)

struct tls_wire {
	unsigned char *tx;        /* encrypted bytes of the current operation */
	size_t tx_len;
	struct conn *conn;        /* of the current operation */
	size_t rx_len;            /* received by it since the last data */
	BIO *bio;
};

extern __thread struct tls_wire tls_wire;

/* Sends what is held, then what was gathered. IO_AGAIN: some of it is (still) held. */
enum io tls_wire_flush(struct conn *c, bool more);
/* Keeps bytes that the socket did not take. False: no memory, or too many; c->error is set. */
bool tls_wire_hold(struct conn *c, const unsigned char *p, size_t len);
/* What was held is sent, or taken: frees it. */
void tls_held_is_gone(struct conn *c);
/* Is what is held there by choice, for the next answer (the tickets of TLS 1.3)? */
bool tls_tickets_wait(const struct tls_conn *t);
/* <ssl> reads and writes by the BIO of the calling thread. */
void tls_wire_use(SSL *ssl);
bool tls_wire_init(void);
bool tls_wire_thread_init(void);
void tls_wire_thread_fini(void);

#endif
