/* SPDX-License-Identifier: GPL-2.0-or-later */
/* key_priv.h - keys that a passphrase protects (phrases.c), parameters of DHE (dh.c)
 *
 * Threads: the first while configurations are read and by commands; the rest by any.
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

/* The command of ssl-passphrase-cmd. Passphrases that it has told are kept while the process
 * lives: a reload needs them when the process can start no command any more.
 */
struct tls_phrases;
/* <words>, ended by NULL, live in the arena. NULL: no memory. */
struct tls_phrases *tls_phrases_new(struct arena *arena, char *const *words);
/* The private key of a PEM text, read from the file <path>, by a known passphrase or by the
 * command; <phrases> may be NULL. NULL: it has none, or <why> says what is wrong.
 */
EVP_PKEY *tls_phrases_key(const struct tls_phrases *phrases, const char *path, struct slice pem,
			  char *why, size_t size);

/* The first ones of a PEM text; NULL: none. */
EVP_PKEY *tls_dh_read(const char *text, size_t len);
/* Makes what tune.ssl.default-dh-param needs. False: OpenSSL cannot. */
bool tls_dh_prepare(struct tls_global *g);
void tls_dh_free(struct tls_global *g);
/* Has the handshake of <ssl>, to which <c> is shown, use the right ones, of <bits> at most where
 * they are well-known ones, or no DHE.
 */
void tls_dh_use(SSL *ssl, const struct tls_global *g, int64_t bits, const struct tls_cert *c);

#endif
