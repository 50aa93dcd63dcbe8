/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ctx_priv.h - OpenSSL contexts for the settings of a line (ctx.c), and the verification of peers
 * (verify.c)
 *
 * Threads: those that make one; the callback runs on that of the connection.
 */
#ifndef TLS_CTX_PRIV_H
#define TLS_CTX_PRIV_H

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "line_priv.h"

struct config;

/* RFC 8879: supported by OpenSSL 3.2 and later; older versions compress nothing. */
#ifdef SSL_OP_NO_TX_CERTIFICATE_COMPRESSION
#define TLS_NO_COMPRESSION \
	(SSL_OP_NO_TX_CERTIFICATE_COMPRESSION | SSL_OP_NO_RX_CERTIFICATE_COMPRESSION)
#else
#define TLS_NO_COMPRESSION 0
#endif

/* Creates an SSL_CTX with all of <set>, for connections to servers (<back>) or of clients. NULL:
 * see <why>, to be printed before " for bind ...".
 */
SSL_CTX *tls_ctx_make(struct config *cfg, const struct tls_settings *set, bool back, char *why,
		      size_t size);

#define TLS_VERSIONS_OFF \
	(SSL_OP_NO_TLSv1 | SSL_OP_NO_TLSv1_1 | SSL_OP_NO_TLSv1_2 | SSL_OP_NO_TLSv1_3)
/* Returns these bits for the versions that the settings exclude. */
uint64_t tls_versions_off(const struct tls_settings *set);
/* Returns the lowest version for a server without ssl-min-ver: the lowest of the contiguous
 * versions below the highest one. (TLS 1.2, the default of listeners, does not apply to servers.)
 */
uint16_t tls_lowest_version(const struct tls_settings *set);
/* Is ssl-max-ver below the default of ssl-min-ver, which is not set? Then it is the lowest version,
 * too.
 */
bool tls_max_is_ambiguous(const struct tls_settings *set);
/* Returns "TLSv1.2", for a version in settings. */
const char *tls_version_text(uint16_t version);
/* Restricts one handshake to the versions of <set>. */
void tls_set_versions(SSL *ssl, const struct tls_settings *set);

/* Verification callback, for both sides. */
int tls_verify_callback(int ok, X509_STORE_CTX *ctx);

#endif
