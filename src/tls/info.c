/* SPDX-License-Identifier: GPL-2.0-or-later */
/* info.c - what a TLS connection is: asked by the floors above */
#include <string.h>
#include <openssl/x509.h>
#include "cert_priv.h"
#include "conn_priv.h"
#include "lib_priv.h"
#include "session_priv.h"

static const SSL *ssl_of(const struct conn *c)
{
	const struct tls_conn *t = tls_of(c);

	return t ? t->ssl : NULL;
}

bool tls_is_on(const struct conn *c)
{
	return ssl_of(c) != NULL;
}

const char *tls_version_name(const struct conn *c)
{
	return ssl_of(c) ? SSL_get_version(ssl_of(c)) : NULL;
}

const char *tls_cipher_name(const struct conn *c)
{
	return ssl_of(c) ? SSL_get_cipher_name(ssl_of(c)) : NULL;
}

bool tls_is_resumed(const struct conn *c)
{
	return ssl_of(c) && SSL_session_reused((SSL *)(uintptr_t)ssl_of(c));
}

bool tls_is_stapled(const struct conn *c)
{
	const unsigned char *answer;

	return ssl_of(c) && !SSL_session_reused((SSL *)(uintptr_t)ssl_of(c)) &&
	       SSL_get_tlsext_status_ocsp_resp((SSL *)(uintptr_t)ssl_of(c), &answer) > 0;
}

bool tls_early_is_refused(const struct conn *c)
{
	const struct tls_conn *t = tls_of(c);

	return t && t->flags & TLS_FL_EARLY_REFUSED;
}

bool tls_has_peer_cert(const struct conn *c)
{
	return ssl_of(c) && SSL_get0_peer_certificate(ssl_of(c));
}

int tls_verify_result(const struct conn *c)
{
	return ssl_of(c) ? (int)SSL_get_verify_result(ssl_of(c)) : 0;
}

struct slice tls_sni(const struct conn *c)
{
	const char *name = ssl_of(c) ? SSL_get_servername(ssl_of(c), TLSEXT_NAMETYPE_host_name)
				     : NULL;

	return name ? slice_of(name) : slice_none();
}

/* --- what the PROXY protocol tells ------------------------------------------------------------ */

struct slice tls_peer_cn(const struct conn *c, char *room, size_t size)
{
	X509 *x = ssl_of(c) ? SSL_get0_peer_certificate(ssl_of(c)) : NULL;
	int n = x ? X509_NAME_get_text_by_NID(X509_get_subject_name(x), NID_commonName, room,
					      (int)size) : -1;

	return n < 0 ? slice_none() : slice_make(room, (size_t)n);
}

struct slice tls_cert_key_name(X509 *x, char *room, size_t size)
{
	EVP_PKEY *key = x ? X509_get0_pubkey(x) : NULL;
	int bits = key ? EVP_PKEY_get_bits(key) : 0, n;
	const char *kind = NULL;

	switch (key ? EVP_PKEY_get_base_id(key) : EVP_PKEY_NONE) {
	case EVP_PKEY_RSA:
		kind = "RSA";
		break;
	case EVP_PKEY_EC:
		kind = "EC";
		break;
	case EVP_PKEY_DSA:
		kind = "DSA";
		break;
	default:
		return slice_none();
	}
	n = snprintf(room, size, "%s%d", kind, bits);
	return slice_make(room, n < (int)size ? (size_t)n : size - 1);
}

struct slice tls_cert_signature_name(X509 *x)
{
	const ASN1_OBJECT *algorithm = NULL;
	const X509_ALGOR *a = NULL;

	if (!x)
		return slice_none();
	X509_get0_signature(NULL, &a, x);
	X509_ALGOR_get0(&algorithm, NULL, NULL, a);
	if (OBJ_obj2nid(algorithm) == NID_undef)
		return slice_none();
	return slice_of(OBJ_nid2sn(OBJ_obj2nid(algorithm)));
}

struct slice tls_peer_key_algorithm(const struct conn *c, char *room, size_t size)
{
	return tls_cert_key_name(ssl_of(c) ? SSL_get_certificate(ssl_of(c)) : NULL, room, size);
}

struct slice tls_peer_signature(const struct conn *c, char *room, size_t size)
{
	return tls_cert_signature_name(ssl_of(c) ? SSL_get_certificate(ssl_of(c)) : NULL);
}

void tls_get_figures(struct tls_figures *out)
{
	tls_figures_read(out);
	tls_cache_figures(&out->cache_lookups, &out->cache_misses);
}
