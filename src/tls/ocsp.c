/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ocsp.c - answers of authorities about certificates, to be stapled (RFC 6960, RFC 6066 8) */
#include <openssl/err.h>
#include <openssl/ocsp.h>
#include <stdio.h>
#include <string.h>
#include "tls_priv.h"

/* Clocks differ: a date in the future by less is not. */
#define SKEW_S 300

static X509 *issuer_of(const struct tls_cert *c)
{
	X509 *x = c->issuer;

	for (int i = 0; !x && i < sk_X509_num(c->chain); i++)
		if (X509_check_issued(sk_X509_value(c->chain, i), c->leaf) == X509_V_OK)
			x = sk_X509_value(c->chain, i);
	return x;
}

/* Is the answer about this certificate? */
static bool is_about(const OCSP_CERTID *id, const struct tls_cert *c)
{
	ASN1_OBJECT *algorithm = NULL;
	X509 *issuer = c->leaf ? issuer_of(c) : NULL;
	OCSP_CERTID *ours = NULL;
	const EVP_MD *md;
	bool same;

	if (!issuer || !OCSP_id_get0_info(NULL, &algorithm, NULL, NULL,
					  (OCSP_CERTID *)(uintptr_t)id))
		return false;
	md = EVP_get_digestbyobj(algorithm);
	ours = md ? OCSP_cert_to_id(md, c->leaf, issuer) : NULL;
	same = ours && OCSP_id_cmp(ours, id) == 0;
	OCSP_CERTID_free(ours);
	return same;
}

/* Checks the one answer in <basic>; its end of validity in *expires. */
static const char *check_single(OCSP_BASICRESP *basic, const struct tls_cert *c, time_t *expires)
{
	ASN1_GENERALIZEDTIME *revoked, *from, *until;
	OCSP_SINGLERESP *one;
	int status, reason;
	struct tm tm;

	if (OCSP_resp_count(basic) != 1)
		return "OCSP response ignored because contains more than one single response";
	one = OCSP_resp_get0(basic, 0);
	status = OCSP_single_get0_status(one, &reason, &revoked, &from, &until);
	if (status != V_OCSP_CERTSTATUS_GOOD)
		return "OCSP single response: certificate status not good";
	if (!until)
		return "OCSP single response: missing nextupdate";
	if (!OCSP_check_validity(from, until, SKEW_S, -1))
		return "OCSP single response: no longer valid.";
	if (!is_about(OCSP_SINGLERESP_get0_id(one), c))
		return "OCSP single response: Certificate ID does not match certificate and issuer";
	if (ASN1_TIME_to_tm(until, &tm))
		*expires = timegm(&tm);
	return NULL;
}

const char *tls_ocsp_check(const struct tls_cert *c, const unsigned char *der, size_t len,
			   time_t *expires)
{
	const unsigned char *p = der;
	OCSP_RESPONSE *answer = d2i_OCSP_RESPONSE(NULL, &p, (long)len);
	OCSP_BASICRESP *basic = NULL;
	const char *error = NULL;

	*expires = 0;
	if (!answer)
		error = "Unable to parse OCSP response";
	else if (OCSP_response_status(answer) != OCSP_RESPONSE_STATUS_SUCCESSFUL)
		error = "OCSP response status not successful";
	else if (!(basic = OCSP_response_get1_basic(answer)))
		error = "Failed to get basic response from OCSP Response";
	else
		error = check_single(basic, c, expires);
	OCSP_BASICRESP_free(basic);
	OCSP_RESPONSE_free(answer);
	ERR_clear_error();
	return error;
}
