/* SPDX-License-Identifier: GPL-2.0-or-later */
/* names_priv.h - which certificate for which name (names.c), certificates made for any name
 * (forge.c)
 *
 * Owns   : a view of the names counts its certificates; each thread holds the one that it last got.
 * Threads: views are made under the store's lock and read by all without.
 */
#ifndef TLS_NAMES_PRIV_H
#define TLS_NAMES_PRIV_H

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stddef.h>
#include "base/slice.h"
#include "cert_priv.h"

struct tls_bind;
struct tls_ctx;
struct tls_forge;
struct tls_names;
struct tls_use;

/* Makes them with the authority of a PEM file, whose key <phrase> (or NULL) deciphers; keeps the
 * last <max>. NULL: <why>.
 */
struct tls_forge *tls_forge_new(const char *path, const char *phrase, unsigned max, char *why,
				size_t size);
void tls_forge_free(struct tls_forge **f);
/* One for <host>, with the key of <like>, counted. NULL: no host name, or no memory. Any thread. */
struct tls_cert *tls_forge_cert(struct tls_forge *f, struct slice host, struct tls_cert *like);

/* What a name leads to: at most one certificate of each type of key. */
struct tls_choice {
	struct tls_cert *cert[TLS_KEY_TYPES];
	struct tls_ctx *ctx[TLS_KEY_TYPES];
	bool is_default;             /* no certificate has the name */
};

/* Builds the names of a bind line anew from its uses and publishes them. Under the store's lock
 * once threads run. False: no memory.
 */
bool tls_names_publish(struct tls_bind *b);
/* The context of <c> in this view; borrowed. */
SSL_CTX *tls_names_ssl(const struct tls_names *n, const struct tls_ctx *c);
/* Has sessions of <ssl>, to which <cert> is shown, belong to it and to <c> as they are now. */
bool tls_names_bind_session(const struct tls_names *n, const struct tls_ctx *c, SSL *ssl,
			    const struct tls_cert *cert);
/* The calling thread's view: valid until its next call. NULL: no memory. */
const struct tls_names *tls_names_get(struct tls_bind *b);
void tls_names_fini(struct tls_bind *b);
/* Looks a host name up; empty: none was given. Types of keys that the name itself has not are those
 * of its wildcard. False: no certificate for it, not even a default one.
 */
bool tls_names_find(const struct tls_names *n, struct slice host, bool strict,
		    struct tls_choice *out);
/* Is <u> for names that no certificate has, <first> being the first of its bind line? */
bool tls_use_is_default(const struct tls_use *u, const struct tls_use *first);
/* For commands: each name with what it leads to. */
struct tls_name_row {
	struct slice name;
	bool wildcard, negative;
	const struct tls_use *use;
};
bool tls_names_row(const struct tls_names *n, unsigned i, struct tls_name_row *out);

#endif
