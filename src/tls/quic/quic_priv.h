/* SPDX-License-Identifier: GPL-2.0-or-later */
/* quic_priv.h - shared by the files about TLS inside QUIC: quic.c, quic_hello.c, and the layer
 * between OpenSSL and QUIC, compat.c or native.c
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
	/* compat.c: for the peer's records after its hello, by level; NULL: not yet */
	struct tls_quic_records {
		EVP_CIPHER_CTX *aead;
		uint8_t iv[12];
		uint64_t seq;
	} records[QUIC_LEVELS];
	BIO *in;                       /* OpenSSL reads it; the SSL owns it */
	/* native.c: bytes for OpenSSL to read, borrowed for the call; levels in use; our params */
	struct slice rx;
	SSL *ssl;
	uint8_t rx_level, tx_level;    /* enum quic_level */
	uint8_t *params;               /* owned; NULL: not yet, or no longer needed */
	size_t seen;                   /* bytes received from the peer */
	uint8_t alert;                 /* alert sent by OpenSSL */
	bool failed, params_bad, params_seen;
	bool client;
	bool may_be_early, early;      /* early data may be accepted, is accepted */
};

/* Returns the state of the connection that OpenSSL works for; NULL: not QUIC. */
struct tls_quic *tls_quic_now(void);
/* Passes bytes of CRYPTO frames to OpenSSL. False: it does not read that level now, or out of
 * memory.
 */
bool tls_quic_feed(struct tls_quic *q, enum quic_level level, const uint8_t *bytes, size_t len);
/* Connects <ssl> to <q>. <early>: early data may be accepted. False: out of memory. */
bool tls_quic_layer_start(struct tls_quic *q, SSL *ssl, bool early);
/* Frees its data, but not <q>, after <ssl> was freed. May be called twice. */
void tls_quic_layer_free(struct tls_quic *q);

#endif
