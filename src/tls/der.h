/* SPDX-License-Identifier: GPL-2.0-or-later */
/* der.h - what is needed of a certificate to choose it, without OpenSSL's decoders
 *
 * Decoding a certificate and its key takes OpenSSL 3 half a millisecond, ten seconds for 20,000.
 * This looks at the bytes (X.690 DER, RFC 5280) for the names and the kind of key, so that the rest
 * can wait for the first connection that wants the certificate.
 * Owns   : nothing; results are slices of the input.
 * Threads: pure.
 */
#ifndef TLS_DER_H
#define TLS_DER_H

#include "cert_priv.h"

struct der_cert {
	enum tls_key_type type;
	struct slice public_key;  /* the key's own bytes: modulus, or point; empty: unknown */
	struct slice subject;     /* Name */
	struct slice alt_names;   /* GeneralNames; empty: none */
};

/* False: not a certificate, or one of a shape that is not understood. */
bool der_cert_look(struct slice der, struct der_cert *out);
/* Calls <name> as tls_cert_names() does. */
void der_cert_names(const struct der_cert *c, void (*name)(void *ctx, struct slice name),
		    void *ctx);

#endif
