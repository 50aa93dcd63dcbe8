/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ctl_priv.h - what the files of TLS commands share. Under the store's lock. */
#ifndef TLS_CTL_PRIV_H
#define TLS_CTL_PRIV_H

#include "cert_priv.h"
#include "ctl/ctl.h"
#include "store_priv.h"

/* Has <work> answer the command about its only argument, a file's name, under the store's lock. */
enum ctl_step tls_ctl_named(struct ctl_request *rq,
			    void (*work)(struct ctl_request *rq, const char *name));
/* The lines about a certificate: "Serial: ...", up to the issuer. */
void tls_ctl_put_cert(struct strbuf *out, X509 *x, STACK_OF(X509) *chain);
/* The lines about a revocation list: "Version 2", up to the certificates that it names. */
void tls_ctl_put_crl(struct strbuf *out, X509_CRL *crl);
/* The OCSP answer of <c> in words, if it has one. */
void tls_ctl_put_ocsp(struct strbuf *out, const struct tls_cert *c);
/* Has <e> of <cfg> be <next>, which it takes over and which is usable, for all that use it, or
 * leaves it as it is: false, <why>; then <next> is dropped. *dots: as above.
 */
bool tls_ctl_replace(struct config *cfg, struct tls_entry *e, struct tls_cert *next,
		     unsigned *dots, char *why, size_t size);
/* Swaps what <ca> has for <certs> and <crls>, or leaves all three as they are: false, <why>.
 * *dots: as above.
 */
bool tls_ctl_replace_ca(struct tls_ca *ca, STACK_OF(X509) **certs, STACK_OF(X509_CRL) **crls,
			unsigned *dots, char *why, size_t size);
/* Does a line of the configuration use it? */
bool tls_ctl_ca_is_used(struct config *cfg, const struct tls_ca *ca);

#endif
