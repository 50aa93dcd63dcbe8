/* SPDX-License-Identifier: GPL-2.0-or-later */
/* quic_priv.h - what the files about TLS inside QUIC share: quic.c, quic_hello.c, compat.c */
#ifndef TLS_QUIC_PRIV_H
#define TLS_QUIC_PRIV_H

#include <openssl/evp.h>
#include <openssl/ssl.h>
#include "net/quic_tls.h"

/* The extension with transport parameters (RFC 9001 8.2). */
#define TLS_QUIC_EXT_PARAMS 0x39

struct tls_quic {
	const struct quic_tls_user *user;
	void *owner;
	/* of the peer's records behind its hello, by level; NULL: not yet */
	struct tls_quic_records {
		EVP_CIPHER_CTX *aead;
		uint8_t iv[12];
		uint64_t seq;
	} records[QUIC_LEVELS];
	BIO *in;                       /* OpenSSL reads it; the SSL owns it */
	size_t seen;                   /* bytes of the peer's */
	uint8_t alert;                 /* that OpenSSL has sent */
	bool failed, params_bad, params_seen;
	bool client;
};

/* That of the connection OpenSSL works for; NULL: it is none of QUIC. */
struct tls_quic *tls_quic_now(void);
/* Gives OpenSSL bytes of CRYPTO frames to read. False: they are of a level that it does not read
 * now, or no memory.
 */
bool tls_quic_feed(struct tls_quic *q, enum quic_level level, const uint8_t *bytes, size_t len);
/* OpenSSL's callback for messages. */
void tls_quic_message(int write_p, int version, int type, const void *buf, size_t len, SSL *ssl,
		      void *arg);

#endif
