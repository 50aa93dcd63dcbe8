/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dh.c - parameters of DHE: those of a certificate's file, else of ssl-dh-param-file, else of
 * well-known groups that are as large as the certificate's key, but no larger than
 * tune.ssl.default-dh-param; else DHE is not used
 */
#include <openssl/core_names.h>
#include <openssl/dh.h>
#include <openssl/err.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <string.h>
#include "cert_priv.h"
#include "global_priv.h"
#include "key_priv.h"
#include "lib_priv.h"

EVP_PKEY *tls_dh_read(const char *text, size_t len)
{
	BIO *bio = memmem(text, len, "DH PARAMETERS", 13) ? BIO_new_mem_buf(text, (int)len) : NULL;
	EVP_PKEY *dh = NULL;

	tls_memory_wipe(true); /* there may be a key before it */
	while (bio && !dh) {
		char *name, *header;
		unsigned char *data;
		const unsigned char *p;
		long size;

		if (!PEM_read_bio(bio, &name, &header, &data, &size))
			break;
		p = data;
		if (strcmp(name, "DH PARAMETERS") == 0)
			dh = d2i_KeyParams(EVP_PKEY_DH, NULL, &p, size);
		OPENSSL_free(name);
		OPENSSL_free(header);
		OPENSSL_clear_free(data, (size_t)size);
	}
	BIO_free(bio);
	tls_memory_wipe(false);
	ERR_clear_error();
	return dh;
}

/* --- well-known groups ------------------------------------------------------------------------ */

/* The group of RFC 2409 6.2, 1024 bits: for old clients only. */
static EVP_PKEY *make_1024(void)
{
	EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(NULL, "DH", NULL);
	OSSL_PARAM_BLD *b = OSSL_PARAM_BLD_new();
	BIGNUM *p = BN_get_rfc2409_prime_1024(NULL), *g = BN_new();
	OSSL_PARAM *params = NULL;
	EVP_PKEY *dh = NULL;

	if (b && p && g && BN_set_word(g, 2) == 1 &&
	    OSSL_PARAM_BLD_push_BN(b, OSSL_PKEY_PARAM_FFC_P, p) == 1 &&
	    OSSL_PARAM_BLD_push_BN(b, OSSL_PKEY_PARAM_FFC_G, g) == 1)
		params = OSSL_PARAM_BLD_to_param(b);
	if (!params || !ctx || EVP_PKEY_fromdata_init(ctx) != 1 ||
	    EVP_PKEY_fromdata(ctx, &dh, EVP_PKEY_KEY_PARAMETERS, params) != 1)
		dh = NULL;
	OSSL_PARAM_free(params);
	OSSL_PARAM_BLD_free(b);
	BN_free(p);
	BN_free(g);
	EVP_PKEY_CTX_free(ctx);
	return dh;
}

/* One of RFC 7919. */
static EVP_PKEY *make_named(const char *name)
{
	EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(NULL, "DH", NULL);
	OSSL_PARAM params[] = {
		OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME,
						 (char *)(uintptr_t)name, 0),
		OSSL_PARAM_construct_end(),
	};
	EVP_PKEY *dh = NULL;

	if (!ctx || EVP_PKEY_paramgen_init(ctx) != 1 || EVP_PKEY_CTX_set_params(ctx, params) != 1 ||
	    EVP_PKEY_paramgen(ctx, &dh) != 1)
		dh = NULL;
	EVP_PKEY_CTX_free(ctx);
	return dh;
}

/* Which of them is as large as <bits>, from below. */
static unsigned size_of(int64_t bits)
{
	return bits >= 4096 ? 2 : bits >= 2048 ? 1 : 0;
}

bool tls_dh_prepare(struct tls_global *g)
{
	bool good;

	if (g->dh || g->dh_sizes[0])
		return true;
	g->dh_sizes[0] = make_1024();
	g->dh_sizes[1] = make_named("ffdhe2048");
	g->dh_sizes[2] = make_named("ffdhe4096");
	good = g->dh_sizes[0] && g->dh_sizes[1] && g->dh_sizes[2];
	ERR_clear_error();
	return good;
}

void tls_dh_free(struct tls_global *g)
{
	EVP_PKEY_free(g->dh);
	for (int i = 0; i < TLS_DH_SIZES; i++)
		EVP_PKEY_free(g->dh_sizes[i]);
}

/* --- use -------------------------------------------------------------------------------------- */

void tls_dh_use(SSL *ssl, const struct tls_global *g, int64_t bits, const struct tls_cert *c)
{
	EVP_PKEY *dh = c->dh ? c->dh : g->dh;

	if (!dh && bits && c->type != TLS_KEY_ECDSA && EVP_PKEY_get_bits(c->key) < bits)
		bits = EVP_PKEY_get_bits(c->key);
	if (!dh && bits)
		dh = g->dh_sizes[size_of(bits)];
	if (!dh || !EVP_PKEY_up_ref(dh))
		return;
	if (SSL_set0_tmp_dh_pkey(ssl, dh) == 1)
		return;
	EVP_PKEY_free(dh); /* too small for the security level: without DHE then */
	ERR_clear_error();
}
