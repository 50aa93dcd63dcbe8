/* SPDX-License-Identifier: GPL-2.0-or-later */
/* quic_priv.h - what the two files about TLS inside QUIC share: quic.c, quic_hooks.c */
#ifndef TLS_QUIC_PRIV_H
#define TLS_QUIC_PRIV_H

#include <openssl/evp.h>
#include "net/quic_tls.h"

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

/* OpenSSL's callback for messages. */
void tls_quic_message(int write_p, int version, int type, const void *buf, size_t len, SSL *ssl,
		      void *arg);

#endif
