/* SPDX-License-Identifier: GPL-2.0-or-later */
/* jwk_openssl.c - JSON Web Keys (RFC 7517, 7518 section 6) to those of OpenSSL */
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <stdio.h>
#include <string.h>
#include "base/bug.h"
#include "codec/json.h"
#include "crypto_priv.h"

#define NUMBERS_MAX 8
#define NUMBER_MAX 2048 /* bytes */
#define FIELD_MAX 66    /* bytes of a coordinate: P-521 */

struct slice crypto_jwk_text(struct arena *arena, struct slice json, const char *path)
{
	struct slice value;
	char *out;
	long len;

	if (json_find(json, slice_of(path), &value) != JSON_STRING)
		return slice_none();
	out = arena_alloc(arena, value.len + 1);
	len = out ? json_unescape(value, out) : -1;
	return len < 0 ? slice_none() : slice_make(out, (size_t)len);
}

struct slice crypto_jwk_bytes(struct arena *arena, struct slice json, const char *path)
{
	struct slice text = crypto_jwk_text(arena, json, path);

	return text.len ? expr_base64_decode(arena, text, true) : slice_none();
}

/* What a key is built of. */
struct building {
	OSSL_PARAM_BLD *bld;
	BIGNUM *numbers[NUMBERS_MAX];
	unsigned count;
	bool ok;
};

static void begin(struct building *b)
{
	*b = (struct building){ .bld = OSSL_PARAM_BLD_new() };
	b->ok = b->bld;
}

static void add_number(struct building *b, const char *name, struct slice bytes)
{
	BIGNUM *n = NULL;

	if (b->ok && bytes.len && bytes.len <= NUMBER_MAX)
		n = BN_secure_new();
	b->ok = n && BN_bin2bn((const uint8_t *)bytes.ptr, (int)bytes.len, n);
	if (n)
		b->numbers[b->count++] = n;
	b->ok = b->ok && OSSL_PARAM_BLD_push_BN(b->bld, name, n) == 1;
}

/* Makes the key, or NULL; what it was built of is freed. */
static EVP_PKEY *end(struct building *b, const char *type, int selection)
{
	OSSL_PARAM *params = b->ok ? OSSL_PARAM_BLD_to_param(b->bld) : NULL;
	EVP_PKEY_CTX *ctx = params ? EVP_PKEY_CTX_new_from_name(NULL, type, NULL) : NULL;
	EVP_PKEY *key = NULL;

	if (!ctx || EVP_PKEY_fromdata_init(ctx) != 1 ||
	    EVP_PKEY_fromdata(ctx, &key, selection, params) != 1)
		key = NULL;
	EVP_PKEY_CTX_free(ctx);
	OSSL_PARAM_free(params);
	OSSL_PARAM_BLD_free(b->bld);
	while (b->count)
		BN_clear_free(b->numbers[--b->count]);
	ERR_clear_error();
	return key;
}

/* All of RFC 7518, 6.3.2 but other primes. */
static EVP_PKEY *rsa_key(struct arena *arena, struct slice json)
{
	static const struct { const char *path, *name; } parts[NUMBERS_MAX] = {
		{ "$.n", OSSL_PKEY_PARAM_RSA_N }, { "$.e", OSSL_PKEY_PARAM_RSA_E },
		{ "$.d", OSSL_PKEY_PARAM_RSA_D }, { "$.p", OSSL_PKEY_PARAM_RSA_FACTOR1 },
		{ "$.q", OSSL_PKEY_PARAM_RSA_FACTOR2 }, { "$.dp", OSSL_PKEY_PARAM_RSA_EXPONENT1 },
		{ "$.dq", OSSL_PKEY_PARAM_RSA_EXPONENT2 },
		{ "$.qi", OSSL_PKEY_PARAM_RSA_COEFFICIENT1 },
	};
	struct building b;

	begin(&b);
	for (unsigned i = 0; i < NUMBERS_MAX; i++)
		add_number(&b, parts[i].name, crypto_jwk_bytes(arena, json, parts[i].path));
	return end(&b, "RSA", EVP_PKEY_KEYPAIR);
}

/* The key below <at> ("$", "$.epk"); <private>: with its number d. */
static EVP_PKEY *ec_key(struct arena *arena, struct slice json, const char *at, bool private)
{
	static const struct { const char *name, *group; size_t len; } curves[] = {
		{ "P-256", "prime256v1", 32 }, { "P-384", "secp384r1", 48 },
		{ "P-521", "secp521r1", 66 },
	};
	uint8_t point[1 + 2 * FIELD_MAX] = { POINT_CONVERSION_UNCOMPRESSED };
	const char *paths[] = { "crv", "x", "y", "d" };
	struct slice value[ARRAY_LEN(paths)];
	struct building b;
	unsigned c = 0;
	char path[16];

	for (unsigned i = 0; i < ARRAY_LEN(paths); i++) {
		snprintf(path, sizeof(path), "%s.%s", at, paths[i]);
		value[i] = i ? crypto_jwk_bytes(arena, json, path) :
			   crypto_jwk_text(arena, json, path);
	}
	while (c < ARRAY_LEN(curves) && !slice_eq(value[0], slice_of(curves[c].name)))
		c++;
	if (c == ARRAY_LEN(curves) || value[1].len != curves[c].len ||
	    value[2].len != curves[c].len)
		return NULL;
	memcpy(point + 1, value[1].ptr, curves[c].len);
	memcpy(point + 1 + curves[c].len, value[2].ptr, curves[c].len);
	begin(&b);
	b.ok = b.ok && OSSL_PARAM_BLD_push_utf8_string(b.bld, OSSL_PKEY_PARAM_GROUP_NAME,
						       curves[c].group, 0) == 1 &&
	       OSSL_PARAM_BLD_push_octet_string(b.bld, OSSL_PKEY_PARAM_PUB_KEY, point,
						1 + 2 * curves[c].len) == 1;
	if (private)
		add_number(&b, OSSL_PKEY_PARAM_PRIV_KEY, value[3]);
	return end(&b, "EC", private ? EVP_PKEY_KEYPAIR : EVP_PKEY_PUBLIC_KEY);
}

EVP_PKEY *crypto_jwk_public_ec(struct arena *arena, struct slice json, const char *at)
{
	return ec_key(arena, json, at, false);
}

bool crypto_jwk_read(struct arena *arena, struct slice json, struct jwt_key *out)
{
	struct slice type = crypto_jwk_text(arena, json, "$.kty");

	*out = (struct jwt_key){ .secret = slice_none() };
	if (slice_eq(type, SLICE("oct")))
		out->secret = crypto_jwk_bytes(arena, json, "$.k");
	else if (slice_eq(type, SLICE("RSA")))
		out->key = rsa_key(arena, json);
	else if (slice_eq(type, SLICE("EC")))
		out->key = ec_key(arena, json, "$", true);
	return out->key || out->secret.len;
}
