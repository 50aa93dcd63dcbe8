/* SPDX-License-Identifier: GPL-2.0-or-later */
/* der.h - reads what is needed of a certificate to choose it, without OpenSSL's decoders
 *
 * OpenSSL 3 takes half a millisecond to decode a certificate and its key: ten seconds for 20,000.
 * This module reads the names and the kind of key from the bytes (X.690 DER, RFC 5280), so that the
 * rest can wait for the first connection that needs the certificate.
 * Owns   : nothing; results are slices of the input.
 * Threads: pure.
 */
#ifndef TLS_DER_H
#define TLS_DER_H

#include "cert_priv.h"

struct der_cert {
	enum tls_key_type type;
	struct slice public_key;  /* bytes of the key: modulus, or point; empty: unknown */
	struct slice subject;     /* Name */
	struct slice alt_names;   /* GeneralNames; empty: none */
};

/* Parses a certificate. False: not a certificate, or an unsupported structure. */
bool der_cert_look(struct slice der, struct der_cert *out);
/* Calls <name> for each host name, like tls_cert_names(). */
void der_cert_names(const struct der_cert *c, void (*name)(void *ctx, struct slice name),
		    void *ctx);

#endif
