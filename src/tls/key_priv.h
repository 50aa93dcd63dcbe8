/* SPDX-License-Identifier: GPL-2.0-or-later */
/* key_priv.h - keys protected by a passphrase (phrases.c), DHE parameters (dh.c)
 *
 * Threads: passphrases: while configurations are read, and by commands; the rest: any.
 */
#ifndef TLS_KEY_PRIV_H
#define TLS_KEY_PRIV_H

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/slice.h"

struct arena;
struct tls_cert;
struct tls_global;

/* The command of ssl-passphrase-cmd. Its passphrases are kept for the life of the process: a reload
 * needs them when the process can no longer start a command.
 */
struct tls_phrases;
/* <words>, ended by NULL, lie in the arena. NULL: out of memory. */
struct tls_phrases *tls_phrases_new(struct arena *arena, char *const *words);
/* Reads the private key of a PEM text from the file <path>, with a known passphrase or one from the
 * command; <phrases> may be NULL. NULL: it has none, or <why> tells the error.
 */
EVP_PKEY *tls_phrases_key(const struct tls_phrases *phrases, const char *path, struct slice pem,
			  char *why, size_t size);

/* Reads the first DH parameters of a PEM text; NULL: none. */
EVP_PKEY *tls_dh_read(const char *text, size_t len);
/* Prepares what tune.ssl.default-dh-param needs. False: OpenSSL failed. */
bool tls_dh_prepare(struct tls_global *g);
void tls_dh_free(struct tls_global *g);
/* Gives the handshake of <ssl>, which presents <c>, suitable DHE parameters, of at most <bits> for
 * well-known ones, or none.
 */
void tls_dh_use(SSL *ssl, const struct tls_global *g, int64_t bits, const struct tls_cert *c);

#endif
