/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hello_priv.h - client hellos (hello.c): the choice of a certificate, and the captured data
 *
 * Threads: the connection's.
 * Source : RFC 8446 4.1.2
 */
#ifndef TLS_HELLO_PRIV_H
#define TLS_HELLO_PRIV_H

#include <openssl/ssl.h>
#include <stddef.h>
#include <stdint.h>

/* Captured data of a client's hello, for fetches (tune.ssl.capture-buffer-size). */
struct tls_capture {
	uint64_t cipher_hash;
	uint16_t version;
	uint8_t ec_point_count, alpn_len;
	uint16_t cipher_len, extension_len, curve_len, sigalg_len, versions_len;
	/* ciphers, extension types, curves, point formats, signature algorithms, versions, first
	 * ALPN, each as received
	 */
	unsigned char bytes[];
};
/* OpenSSL's callback for the ClientHello; uses tls_now(). */
int tls_hello_callback(SSL *ssl, int *alert, void *arg);

/* A ClientHello was received, with the handshake header: tls_hello_callback() follows (hello.c). */
void tls_hello_seen(const void *message, size_t len);

#endif
