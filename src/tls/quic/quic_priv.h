/* SPDX-License-Identifier: GPL-2.0-or-later */
/* quic_priv.h - what the files about TLS inside QUIC share: quic.c,
 * quic_hello.c, and the layer between OpenSSL and QUIC, compat.c or native.c
 */
#ifndef TLS_QUIC_PRIV_H
#define TLS_QUIC_PRIV_H

#include <openssl/evp.h>
#include <openssl/ssl.h>
#include "base/slice.h"
#include "net/quic_tls.h"

/* The extension with transport parameters (RFC 9001 8.2). */
#define TLS_QUIC_EXT_PARAMS 0x39

struct tls_quic {
	const struct quic_tls_user *user;
	void *owner;
	/* compat.c: of the peer's records behind its hello, by level; NULL: not yet */
	struct tls_quic_records {
		EVP_CIPHER_CTX *aead;
		uint8_t iv[12];
		uint64_t seq;
	} records[QUIC_LEVELS];
	BIO *in;                       /* OpenSSL reads it; the SSL owns it */
	/* native.c: what OpenSSL is to read, borrowed for the call; levels in use; our params */
	struct slice rx;
	SSL *ssl;
	uint8_t rx_level, tx_level;    /* enum quic_level */
	uint8_t *params;               /* owned; NULL: not yet, or no more */
	size_t seen;                   /* bytes of the peer's */
	uint8_t alert;                 /* that OpenSSL has sent */
	bool failed, params_bad, params_seen;
	bool client;
	bool may_be_early, early;      /* early data may be taken, is taken */
};

/* That of the connection OpenSSL works for; NULL: it is none of QUIC. */
struct tls_quic *tls_quic_now(void);
/* Gives OpenSSL bytes of CRYPTO frames to read. False: they are of a level that it does not read
 * now, or no memory.
 */
bool tls_quic_feed(struct tls_quic *q, enum quic_level level, const uint8_t *bytes, size_t len);
/* Makes <ssl> that of <q>. <early>: early data may be taken. False: no memory. */
bool tls_quic_layer_start(struct tls_quic *q, SSL *ssl, bool early);
/* Frees what it has made, <q> itself not, when <ssl> is gone. It may be done twice. */
void tls_quic_layer_free(struct tls_quic *q);

#endif
