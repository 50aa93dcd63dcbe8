/* SPDX-License-Identifier: GPL-2.0-or-later */
/* shown_priv.h - data attached to a leaf: OCSP responses, timestamp lists, its name (shown.c,
 * ocsp.c)
 *
 * Owns   : copies, which live as long as the leaf.
 * Threads: any.
 * Source : RFC 6066 8, RFC 6962 3.3
 */
#ifndef TLS_SHOWN_PRIV_H
#define TLS_SHOWN_PRIV_H

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>
#include "base/slice.h"

struct tls_cert;

/* Attaches data to a leaf: what is sent to clients that ask for it (shown.c), or its name for "show
 * ssl cert"; copied, lives as long as the leaf. OCSP responses may be replaced while it is used;
 * <until>: their expiry. False: out of memory.
 */
enum tls_shown { TLS_SHOWN_OCSP, TLS_SHOWN_SCTL, TLS_SHOWN_NAME };
#define TLS_SHOWN_PLACES 3
bool tls_shown_set(X509 *leaf, enum tls_shown what, const unsigned char *bytes, size_t len,
		   time_t until);
/* Returns what was set as TLS_SHOWN_NAME; it lives as long as the leaf. slice_none(): nothing. */
struct slice tls_shown_name(X509 *leaf);
/* Prepares a leaf that is not in use yet. */
void tls_shown_prepare(X509 *leaf);
/* Makes <ctx> send these data. */
void tls_shown_attach(SSL_CTX *ctx);
bool tls_shown_init(void);
/* Is this a list of timestamps (RFC 6962 3.3)? Signatures are not checked. */
bool tls_sctl_is_list(const unsigned char *p, size_t len);
/* May this response be stapled to <c>, which is open (ocsp.c)? NULL: yes, until *expires; otherwise
 * returns the reason.
 */
const char *tls_ocsp_check(const struct tls_cert *c, const unsigned char *der, size_t len,
			   time_t *expires);

#endif
