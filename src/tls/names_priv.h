/* SPDX-License-Identifier: GPL-2.0-or-later */
/* names_priv.h - the certificates of each name (names.c), and certificates generated for any name
 * (forge.c)
 *
 * Owns   : a view of the names holds counted certificates; each thread holds the view that it got
 *          last.
 * Threads: views are created under the store's lock and read by all threads without it.
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

/* Prepares generating certificates with the authority in a PEM file, whose key is protected by
 * <phrase> (or NULL); keeps the last <max>. NULL: see <why>.
 */
struct tls_forge *tls_forge_new(const char *path, const char *phrase, unsigned max, char *why,
				size_t size);
void tls_forge_free(struct tls_forge **f);
/* Returns a certificate for <host> with the key of <like>, counted. NULL: not a host name, or out
 * of memory. Any thread.
 */
struct tls_cert *tls_forge_cert(struct tls_forge *f, struct slice host, struct tls_cert *like);

/* Result of a name lookup: at most one certificate per type of key. */
struct tls_choice {
	struct tls_cert *cert[TLS_KEY_TYPES];
	struct tls_ctx *ctx[TLS_KEY_TYPES];
	bool is_default;             /* no certificate has this name */
};

/* Rebuilds the names of a bind line from its uses and publishes them. Under the store's lock once
 * threads run. False: out of memory.
 */
bool tls_names_publish(struct tls_bind *b);
/* Returns the context of <c> in this view; borrowed. */
SSL_CTX *tls_names_ssl(const struct tls_names *n, const struct tls_ctx *c);
/* Binds sessions of <ssl>, which presents <cert>, to the current state of <cert> and <c>. False:
 * failed.
 */
bool tls_names_bind_session(const struct tls_names *n, const struct tls_ctx *c, SSL *ssl,
			    const struct tls_cert *cert);
/* Returns the calling thread's view, valid until its next call. NULL: out of memory. */
const struct tls_names *tls_names_get(struct tls_bind *b);
void tls_names_fini(struct tls_bind *b);
/* Looks up a host name; empty: none was sent. For types of keys without a certificate of that name,
 * its wildcard is used. False: no certificate, not even a default one.
 */
bool tls_names_find(const struct tls_names *n, struct slice host, bool strict,
		    struct tls_choice *out);
/* Is <u> for names without a certificate? <first>: the first use of its bind line. */
bool tls_use_is_default(const struct tls_use *u, const struct tls_use *first);
/* For commands: a name and what it leads to. */
struct tls_name_row {
	struct slice name;
	bool wildcard, negative;
	const struct tls_use *use;
};
bool tls_names_row(const struct tls_names *n, unsigned i, struct tls_name_row *out);

#endif
