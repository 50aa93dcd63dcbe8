/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ocsp.c - answers of authorities about certificates, to be stapled (RFC 6960, RFC 6066 8) */
#include <openssl/err.h>
#include <openssl/ocsp.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "cert_priv.h"
#include "ocsp_priv.h"
#include "shown_priv.h"

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
	/* (a revoked one is told to clients: else they would go by a good one of before) */
	if (status != V_OCSP_CERTSTATUS_GOOD && status != V_OCSP_CERTSTATUS_REVOKED)
		return "OCSP single response: certificate status is unknown";
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

/* --- for updates ------------------------------------------------------------------------------ */

static char *hex_of(OCSP_CERTID *id)
{
	unsigned char *der = NULL;
	int len = id ? i2d_OCSP_CERTID(id, &der) : 0;
	char *text = len > 0 ? malloc((size_t)len * 2 + 1) : NULL;

	for (int i = 0; text && i < len; i++)
		snprintf(text + 2 * i, 3, "%02x", der[i]);
	OPENSSL_free(der);
	return text;
}

static OCSP_CERTID *id_of(struct tls_cert *c)
{
	X509 *issuer = tls_cert_open(c) ? issuer_of(c) : NULL;

	return issuer ? OCSP_cert_to_id(EVP_sha1(), c->leaf, issuer) : NULL;
}

char *tls_ocsp_key(struct tls_cert *c)
{
	OCSP_CERTID *id = id_of(c);
	char *key = hex_of(id);

	OCSP_CERTID_free(id);
	ERR_clear_error();
	return key;
}

char *tls_ocsp_key_of_answer(const unsigned char *der, size_t len)
{
	OCSP_RESPONSE *answer = d2i_OCSP_RESPONSE(NULL, &der, (long)len);
	OCSP_BASICRESP *basic = answer ? OCSP_response_get1_basic(answer) : NULL;
	OCSP_SINGLERESP *one = basic && OCSP_resp_count(basic) == 1 ? OCSP_resp_get0(basic, 0)
								      : NULL;
	char *key = one ? hex_of((OCSP_CERTID *)(uintptr_t)OCSP_SINGLERESP_get0_id(one)) : NULL;

	OCSP_BASICRESP_free(basic);
	OCSP_RESPONSE_free(answer);
	ERR_clear_error();
	return key;
}

char *tls_ocsp_uri(struct tls_cert *c)
{
	STACK_OF(OPENSSL_STRING) *all = tls_cert_open(c) ? X509_get1_ocsp(c->leaf) : NULL;
	char *uri = NULL;

	for (int i = 0; !uri && i < sk_OPENSSL_STRING_num(all); i++)
		if (strncasecmp(sk_OPENSSL_STRING_value(all, i), "http:", 5) == 0)
			uri = strdup(sk_OPENSSL_STRING_value(all, i));
	X509_email_free(all);
	return uri;
}

/* "<uri>/<base64 of the request, percent-encoded>" */
static char *join(const char *uri, const char *base64)
{
	size_t len = strlen(uri), used = len;
	char *url = malloc(len + 1 + 3 * strlen(base64) + 1);

	if (!url)
		return NULL;
	memcpy(url, uri, len);
	if (!len || url[len - 1] != '/')
		url[used++] = '/';
	for (; *base64; base64++) {
		if (*base64 == '+' || *base64 == '/' || *base64 == '=')
			used += (size_t)sprintf(url + used, "%%%02X", *base64);
		else
			url[used++] = *base64;
	}
	url[used] = 0;
	return url;
}

char *tls_ocsp_url(struct tls_cert *c, const char *uri)
{
	OCSP_CERTID *id = id_of(c);
	OCSP_REQUEST *request = id ? OCSP_REQUEST_new() : NULL;
	unsigned char *der = NULL;
	char *base64 = NULL, *url = NULL;
	int len = 0;

	if (request && OCSP_request_add0_id(request, id)) {
		id = NULL; /* the request's now */
		len = i2d_OCSP_REQUEST(request, &der);
	}
	if (len > 0)
		base64 = malloc((size_t)len * 4 / 3 + 8);
	if (base64) {
		EVP_EncodeBlock((unsigned char *)base64, der, len);
		url = join(uri, base64);
	}
	free(base64);
	OPENSSL_free(der);
	OCSP_REQUEST_free(request);
	OCSP_CERTID_free(id);
	ERR_clear_error();
	return url;
}

bool tls_ocsp_is_signed(struct tls_cert *c, const unsigned char *der, size_t len)
{
	OCSP_RESPONSE *answer = d2i_OCSP_RESPONSE(NULL, &der, (long)len);
	OCSP_BASICRESP *basic = answer ? OCSP_response_get1_basic(answer) : NULL;
	X509 *issuer = tls_cert_open(c) ? issuer_of(c) : NULL;
	STACK_OF(X509) *known = sk_X509_new_null();
	X509_STORE *trusted = X509_STORE_new();
	bool good = false;

	if (basic && issuer && known && trusted && sk_X509_push(known, issuer) &&
	    X509_STORE_add_cert(trusted, issuer)) {
		/* the issuer need not be a root to be trusted here */
		X509_STORE_set_flags(trusted, X509_V_FLAG_PARTIAL_CHAIN);
		good = OCSP_basic_verify(basic, known, trusted, 0) == 1;
	}
	X509_STORE_free(trusted);
	sk_X509_free(known);
	OCSP_BASICRESP_free(basic);
	OCSP_RESPONSE_free(answer);
	ERR_clear_error();
	return good;
}

bool tls_ocsp_replace(struct tls_cert *c, const unsigned char *der, size_t len, char *why,
		      size_t size)
{
	time_t expires = 0;
	const char *error = tls_cert_open(c) ? tls_ocsp_check(c, der, len, &expires)
					     : "no certificate";
	unsigned char *copy = error ? NULL : malloc(len);

	if (!copy || !tls_shown_set(c->leaf, TLS_SHOWN_OCSP, der, len, expires)) {
		snprintf(why, size, "%s.", error ? error : "out of memory");
		free(copy);
		return false;
	}
	memcpy(copy, der, len);
	free(c->ocsp);
	c->ocsp = copy;
	c->ocsp_len = len;
	return true;
}
