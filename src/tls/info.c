/* SPDX-License-Identifier: GPL-2.0-or-later */
/* info.c - properties of a TLS connection for the layers above */
#include <openssl/provider.h>
#include <openssl/x509.h>
#include <stdlib.h>
#include <string.h>
#include "cert_priv.h"
#include "conn_priv.h"
#include "facts_priv.h"
#include "lib_priv.h"
#include "session_priv.h"

bool tls_is_on(const struct conn *c)
{
	return tls_of(c) != NULL;
}

const char *tls_version_name(const struct conn *c)
{
	return tls_of(c) ? tls_conn_version(tls_of(c)) : NULL;
}

const char *tls_cipher_name(const struct conn *c)
{
	return tls_of(c) ? SSL_CIPHER_get_name(tls_conn_cipher(tls_of(c))) : NULL;
}

bool tls_is_resumed(const struct conn *c)
{
	return tls_of(c) && tls_conn_is_resumed(tls_of(c));
}

bool tls_is_stapled(const struct conn *c)
{
	return tls_of(c) && tls_conn_is_stapled(tls_of(c));
}

bool tls_early_is_refused(const struct conn *c)
{
	const struct tls_conn *t = tls_of(c);

	return t && t->flags & TLS_FL_EARLY_REFUSED;
}

bool tls_has_peer_cert(const struct conn *c)
{
	return tls_of(c) && tls_conn_peer_cert(tls_of(c));
}

int tls_verify_result(const struct conn *c)
{
	return tls_of(c) ? (int)tls_conn_verify_result(tls_of(c)) : 0;
}

struct slice tls_sni(const struct conn *c)
{
	return tls_of(c) ? tls_fact(tls_of(c), TLS_FACT_SNI, NULL) : slice_none();
}

/* --- what the PROXY protocol tells ------------------------------------------------------------ */

struct slice tls_peer_cn(const struct conn *c, char *room, size_t size)
{
	X509 *x = tls_of(c) ? tls_conn_peer_cert(tls_of(c)) : NULL;
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
	return tls_cert_key_name(tls_of(c) ? tls_conn_cert(tls_of(c)) : NULL, room, size);
}

struct slice tls_peer_signature(const struct conn *c, char *room, size_t size)
{
	return tls_cert_signature_name(tls_of(c) ? tls_conn_cert(tls_of(c)) : NULL);
}

void tls_get_figures(struct tls_figures *out)
{
	tls_figures_read(out);
	tls_cache_figures(&out->cache_lookups, &out->cache_misses);
}

/* --- the library ------------------------------------------------------------------------------ */

static int print_provider(OSSL_PROVIDER *p, void *out)
{
	fprintf(out, " %s", OSSL_PROVIDER_get0_name(p));
	return 1;
}

void tls_library_print(FILE *out)
{
	const char *folder = getenv(X509_get_default_cert_dir_env());

	fprintf(out, "Built with SSL library version : %s\nRunning on SSL library version : %s\n"
		"SSL library supports TLS extensions : yes\nSSL library supports SNI : yes\n"
		"SSL library default verify directory : %s\n"
		"SSL library supports : TLSv1.0 TLSv1.1 TLSv1.2 TLSv1.3\n"
		"OpenSSL providers loaded :", OPENSSL_VERSION_TEXT, tls_library_name(),
		folder ? folder : X509_get_default_cert_dir());
	OSSL_PROVIDER_do_all(NULL, print_provider, out);
	fprintf(out, "\nQUIC: handshakes by %s\n",
		tls_quic_is_native() ? "the library's interface for QUIC, with 0-RTT"
				     : "the compatibility layer (limited-quic), no 0-RTT");
}
