/* SPDX-License-Identifier: GPL-2.0-or-later */
/* self_signed.c - a certificate made on the spot, for tools that are to speak TLS without files */
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include "base/strbuf.h"
#include "tls/tls.h"

#define DAYS 365

static bool add_extension(X509 *cert, int nid, const char *value)
{
	X509_EXTENSION *e = X509V3_EXT_conf_nid(NULL, NULL, nid, value);
	bool good = e && X509_add_ext(cert, e, -1);

	X509_EXTENSION_free(e);
	return good;
}

static bool set_name(X509 *cert, const char *name)
{
	X509_NAME *n = X509_get_subject_name(cert);
	const unsigned char *text = (const unsigned char *)name;

	return X509_NAME_add_entry_by_txt(n, "CN", MBSTRING_ASC, text, -1, -1, 0) &&
	       X509_set_issuer_name(cert, n);
}

static bool fill(X509 *cert, EVP_PKEY *key, const char *name)
{
	uint32_t serial = 0;

	return RAND_bytes((unsigned char *)&serial, sizeof(serial)) == 1 &&
	       X509_set_version(cert, 2) &&
	       ASN1_INTEGER_set(X509_get_serialNumber(cert), serial >> 1) &&
	       X509_gmtime_adj(X509_getm_notBefore(cert), -3600) &&
	       X509_gmtime_adj(X509_getm_notAfter(cert), DAYS * 86400L) &&
	       X509_set_pubkey(cert, key) && set_name(cert, name) &&
	       add_extension(cert, NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1,IP:::1") &&
	       X509_sign(cert, key, EVP_sha256());
}

bool tls_self_signed(const char *name, struct strbuf *pem)
{
	EVP_PKEY *key = EVP_EC_gen("P-256");
	BIO *bio = BIO_new(BIO_s_mem());
	X509 *cert = X509_new();
	char *text;
	long len;
	bool good;

	good = key && bio && cert && fill(cert, key, name) && PEM_write_bio_X509(bio, cert) &&
	       PEM_write_bio_PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL);
	len = good ? BIO_get_mem_data(bio, &text) : 0;
	good = good && strbuf_add(pem, slice_make(text, (size_t)len));
	X509_free(cert);
	BIO_free(bio);
	EVP_PKEY_free(key);
	return good;
}
