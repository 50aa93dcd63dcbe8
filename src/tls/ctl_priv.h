/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ctl_priv.h - shared by the files of TLS commands. Under the store's lock. */
#ifndef TLS_CTL_PRIV_H
#define TLS_CTL_PRIV_H

#include "cert_priv.h"
#include "ctl/ctl.h"
#include "store_priv.h"

/* Runs <work> for a command whose only argument is a file's name, under the store's lock. */
enum ctl_step tls_ctl_named(struct ctl_request *rq,
			    void (*work)(struct ctl_request *rq, const char *name));
/* Writes the lines about a certificate: from "Serial: ..." to the issuer. */
void tls_ctl_put_cert(struct strbuf *out, X509 *x, STACK_OF(X509) *chain);
/* Writes the lines about a revocation list: from "Version 2" to the certificates in it. */
void tls_ctl_put_crl(struct strbuf *out, X509_CRL *crl);
/* Writes the OCSP response of <c> as text, if it has one. */
void tls_ctl_put_ocsp(struct strbuf *out, const struct tls_cert *c);
/* Replaces the certificate of <e> in <cfg> by <next>, which is usable and is taken over, for all
 * its users; or leaves it unchanged: false, see <why>, <next> is dropped. *dots: progress of the
 * command.
 */
bool tls_ctl_replace(struct config *cfg, struct tls_entry *e, struct tls_cert *next,
		     unsigned *dots, char *why, size_t size);
/* Exchanges the contents of <ca> for <certs> and <crls>, or leaves all three unchanged: false, see
 * <why>. *dots: as above.
 */
bool tls_ctl_replace_ca(struct tls_ca *ca, STACK_OF(X509) **certs, STACK_OF(X509_CRL) **crls,
			unsigned *dots, char *why, size_t size);
/* Does a line of the configuration use it? */
bool tls_ctl_ca_is_used(struct config *cfg, const struct tls_ca *ca);

#endif
