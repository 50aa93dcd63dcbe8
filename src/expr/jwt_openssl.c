/* SPDX-License-Identifier: GPL-2.0-or-later */
/* jwt_openssl.c - JSON Web Tokens: their parts, and their signatures (RFC 7515, 7518)
 *
 * Public keys are files, read with the configuration and looked up by name afterwards: a request
 * never opens a file. The algorithm in the token's header is not trusted: the configuration says
 * which one it must be.
 */
#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/decoder.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rsa.h>
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "base/file.h"
#include "crypto_priv.h"

#define KEY_FILE_MAX 65536
#define EC_SIGNATURE_MAX 160

enum jwt_family { JWT_NO_SIGNATURE, JWT_HMAC, JWT_RSA, JWT_RSA_PSS, JWT_EC };

struct jwt_algorithm {
	const char *name;
	enum jwt_family family;
	const EVP_MD *(*md)(void);
	uint8_t number_len; /* EC: bytes of each of the two numbers */
};

static const struct jwt_algorithm algorithms[] = {
	{ "none", JWT_NO_SIGNATURE, NULL, 0 },
	{ "HS256", JWT_HMAC, EVP_sha256, 0 }, { "HS384", JWT_HMAC, EVP_sha384, 0 },
	{ "HS512", JWT_HMAC, EVP_sha512, 0 },
	{ "RS256", JWT_RSA, EVP_sha256, 0 }, { "RS384", JWT_RSA, EVP_sha384, 0 },
	{ "RS512", JWT_RSA, EVP_sha512, 0 },
	{ "PS256", JWT_RSA_PSS, EVP_sha256, 0 }, { "PS384", JWT_RSA_PSS, EVP_sha384, 0 },
	{ "PS512", JWT_RSA_PSS, EVP_sha512, 0 },
	{ "ES256", JWT_EC, EVP_sha256, 32 }, { "ES384", JWT_EC, EVP_sha384, 48 },
	{ "ES512", JWT_EC, EVP_sha512, 66 },
};

/* A public key that the configuration names. */
struct crypto_key {
	struct crypto_key *next;
	const char *name;
	EVP_PKEY *key;
};

static const struct jwt_algorithm *algorithm_find(struct slice name)
{
	for (unsigned i = 0; i < ARRAY_LEN(algorithms); i++)
		if (slice_eq(name, slice_of(algorithms[i].name)))
			return &algorithms[i];
	return NULL;
}

/* --- parts -------------------------------------------------------------------------------- */

/* Part <n> of those between dots; slice_none(): there are fewer. */
static struct slice token_part(struct slice token, unsigned n)
{
	for (;; n--) {
		size_t dot = slice_find_char(token, 0, '.');

		if (!n)
			return slice_sub(token, 0, dot);
		if (dot == SIZE_MAX)
			return slice_none();
		token = slice_make(token.ptr + dot + 1, token.len - dot - 1);
	}
}

bool crypto_jwt_check_query(struct conf_line *l, struct expr_arg *args, const char **error)
{
	return args[0].type != ARG_STR || expr_json_check(l, args, error);
}

static bool query_part(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s,
		       unsigned n)
{
	struct slice part = token_part(s->text, n), text;

	text = part.len ? expr_base64_decode(ctx->arena, expr_base64_unpad(part), true)
		: slice_none();
	if (!text.ptr)
		return false;
	if (args[0].type == ARG_STR)
		return expr_json_query(ctx, args, text, s);
	s->type = SMP_STR;
	s->text = text;
	return true;
}

bool crypto_jwt_header(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	return query_part(ctx, args, s, 0);
}

bool crypto_jwt_payload(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	return query_part(ctx, args, s, 1);
}

/* --- keys --------------------------------------------------------------------------------- */

static EVP_PKEY *key_find(const struct config *cfg, struct slice name)
{
	const struct crypto_key *k = expr_config_of(cfg)->keys;

	while (k && !slice_eq(name, slice_of(k->name)))
		k = k->next;
	return k ? k->key : NULL;
}

/* SPKI or PKCS#1, in PEM. */
static EVP_PKEY *key_decode(const char *text, size_t len)
{
	const unsigned char *at = (const unsigned char *)text;
	EVP_PKEY *key = NULL;
	OSSL_DECODER_CTX *decoder =
		OSSL_DECODER_CTX_new_for_pkey(&key, "PEM", NULL, NULL, EVP_PKEY_PUBLIC_KEY, NULL,
					      NULL);

	if (decoder && !OSSL_DECODER_from_data(decoder, &at, &len))
		key = NULL;
	OSSL_DECODER_CTX_free(decoder);
	ERR_clear_error();
	return key;
}

static void key_free(void *key)
{
	EVP_PKEY_free(key);
}

/* Keeps the key of that file. NULL: done; else what is wrong. */
static const char *key_load(struct config *cfg, struct slice name)
{
	struct expr_config *ec = expr_config_of(cfg);
	struct crypto_key *k;
	EVP_PKEY *key;
	char *text;
	size_t len;

	if (key_find(cfg, name))
		return NULL;
	text = file_load(name.ptr, KEY_FILE_MAX, &len);
	key = text ? key_decode(text, len) : NULL;
	free(text);
	if (!key)
		return arena_printf(&cfg->arena, "'%s' is no file with a public key in PEM",
				    name.ptr);
	k = arena_alloc(config_lasting(cfg), sizeof(*k));
	name = arena_copy(config_lasting(cfg), name);
	if (!k || !name.ptr || !expr_config_own(cfg, key, key_free)) {
		EVP_PKEY_free(key);
		return "out of memory";
	}
	*k = (struct crypto_key){ .next = ec->keys, .name = name.ptr, .key = key };
	ec->keys = k;
	return NULL;
}

void jwt_prepare_args(struct conf_line *l, struct expr_arg *args, int count)
{
	for (int i = 0; i < count; i++) {
		const char *reason;
		struct var_ref *ref = var_ref_parse(l->cfg, args[i].name.ptr, false, &reason);

		if (!ref)
			continue;
		args[i].type = ARG_VAR;
		args[i].object = ref;
	}
}

bool jwt_check_algorithm(struct conf_line *l, const struct expr_arg *arg, const char **error)
{
	const struct jwt_algorithm *algorithm = algorithm_find(arg->name);

	if (arg->type == ARG_VAR || (algorithm && algorithm->family != JWT_HMAC))
		return true;
	*error = algorithm ? "HMAC-signed tokens can't be processed by this converter" :
		 arena_printf(&l->cfg->arena, "unknown JWT algorithm: %s", arg->name.ptr);
	return false;
}

/* jwt_verify(<algorithm>,<key>): each a text or a variable. A third argument is made: the
 * configuration, where keys are looked up. A file that is named here must hold a key, unless the
 * algorithm is known to the request alone: the text can then be the secret of a HMAC.
 */
bool crypto_jwt_check_verify(struct conf_line *l, struct expr_arg *args, const char **error)
{
	const struct jwt_algorithm *algorithm = algorithm_find(args[0].name);
	const char *wrong = NULL;

	jwt_prepare_args(l, args, 2);
	args[2].object = l->cfg;
	if (args[0].type == ARG_STR && !algorithm) {
		*error = arena_printf(&l->cfg->arena, "unknown JWT algorithm: %s",
				      args[0].name.ptr);
		return false;
	}
	if (args[1].type != ARG_STR || (algorithm && algorithm->family == JWT_HMAC))
		return true;
	if (args[1].name.len)
		wrong = key_load(l->cfg, args[1].name);
	else if (algorithm)
		wrong = "a file with a public key in PEM is missing";
	if (algorithm)
		*error = wrong;
	return !algorithm || !wrong;
}

/* --- signatures --------------------------------------------------------------------------- */

static enum jwt_verdict verify_hmac(const struct jwt_algorithm *a, struct slice secret,
				    struct slice text, struct slice signature)
{
	uint8_t digest[EVP_MAX_MD_SIZE];
	unsigned len;

	if (secret.len > INT_MAX ||
	    !HMAC(a->md(), secret.ptr, (int)secret.len, (const uint8_t *)text.ptr, text.len,
		  digest, &len))
		return JWT_NO_MEMORY;
	return len == signature.len && CRYPTO_memcmp(digest, signature.ptr, len) == 0 ?
	       JWT_RIGHT : JWT_WRONG;
}

/* Two numbers side by side to what OpenSSL wants, DER. 0: they are not of that length. */
static int ec_signature(const struct jwt_algorithm *a, struct slice in, uint8_t *der)
{
	ECDSA_SIG *sig = in.len == a->number_len * 2u ? ECDSA_SIG_new() : NULL;
	const uint8_t *bytes = (const uint8_t *)in.ptr;
	BIGNUM *r, *s;
	int len = 0;

	if (!sig)
		return 0;
	r = BN_bin2bn(bytes, a->number_len, NULL);
	s = BN_bin2bn(bytes + a->number_len, a->number_len, NULL);
	if (r && s && ECDSA_SIG_set0(sig, r, s)) {
		len = i2d_ECDSA_SIG(sig, &der);
	} else {
		BN_free(r);
		BN_free(s);
	}
	ECDSA_SIG_free(sig);
	return len > 0 ? len : 0;
}

/* Has the key the kind, and the curve the size, that the algorithm asks for? */
static bool key_fits(const struct jwt_algorithm *a, EVP_PKEY *key)
{
	if (a->family == JWT_EC)
		return EVP_PKEY_get_base_id(key) == EVP_PKEY_EC &&
		       (EVP_PKEY_get_bits(key) + 7) / 8 == a->number_len;
	return EVP_PKEY_get_base_id(key) == EVP_PKEY_RSA ||
	       (a->family == JWT_RSA_PSS && EVP_PKEY_get_base_id(key) == EVP_PKEY_RSA_PSS);
}

static enum jwt_verdict verify_key(const struct jwt_algorithm *a, EVP_PKEY *key,
				   struct slice text, struct slice signature)
{
	uint8_t der[EC_SIGNATURE_MAX];
	EVP_MD_CTX *md;
	EVP_PKEY_CTX *pkey;
	int ok;

	if (a->family == JWT_EC && signature.len % 2)
		return JWT_BAD_TOKEN;
	if (!key_fits(a, key))
		return JWT_WRONG;
	if (a->family == JWT_EC) {
		int len = ec_signature(a, signature, der);

		if (!len)
			return JWT_WRONG;
		signature = slice_make((const char *)der, (size_t)len);
	}
	md = EVP_MD_CTX_new();
	if (!md)
		return JWT_NO_MEMORY;
	ok = EVP_DigestVerifyInit(md, &pkey, a->md(), NULL, key) == 1;
	if (ok && a->family == JWT_RSA_PSS)
		ok = EVP_PKEY_CTX_set_rsa_padding(pkey, RSA_PKCS1_PSS_PADDING) > 0 &&
		     EVP_PKEY_CTX_set_rsa_pss_saltlen(pkey, RSA_PSS_SALTLEN_DIGEST) > 0;
	ok = ok && EVP_DigestVerify(md, (const uint8_t *)signature.ptr, signature.len,
				    (const uint8_t *)text.ptr, text.len) == 1;
	EVP_MD_CTX_free(md);
	ERR_clear_error();
	return ok ? JWT_RIGHT : JWT_WRONG;
}

bool jwt_read_arg(const struct expr_arg *arg, struct expr_ctx *ctx, struct slice *out)
{
	struct sample s;

	*out = arg->text;
	if (arg->type != ARG_VAR)
		return true;
	if (!var_get(arg->object, ctx, &s) || !sample_cast(&s, SMP_STR, ctx->arena))
		return false;
	*out = s.text;
	return true;
}

/* Cuts a token. True: it is one, which must be verified; else *verdict tells the end of it. */
static bool verify_begin(struct expr_ctx *ctx, const struct config *cfg,
			 const struct jwt_algorithm *a, struct slice token, struct slice *text,
			 struct slice *signature, enum jwt_verdict *verdict)
{
	struct slice encoded = token_part(token, 2);

	*verdict = JWT_NOT_MANAGED;
	if (a->family == JWT_NO_SIGNATURE && !expr_config_of(cfg)->jwt_allow_none)
		return false;
	*verdict = JWT_BAD_TOKEN;
	if (!encoded.ptr || token_part(token, 3).ptr)
		return false;
	if (a->family == JWT_NO_SIGNATURE)
		*verdict = encoded.len ? JWT_WRONG : JWT_RIGHT;
	if (a->family == JWT_NO_SIGNATURE || !encoded.len)
		return false;
	*text = slice_make(token.ptr, (size_t)(encoded.ptr - token.ptr) - 1);
	*signature = expr_base64_decode(ctx->arena, encoded, true);
	return signature->ptr;
}

enum jwt_verdict jwt_verify(struct expr_ctx *ctx, const struct config *cfg, struct slice alg,
			    struct slice token, jwt_find_key_fn *find, void *data)
{
	const struct jwt_algorithm *a = algorithm_find(alg);
	struct slice text, signature;
	enum jwt_verdict verdict;
	EVP_PKEY *key;

	if (!a)
		return JWT_BAD_ALGORITHM;
	if (!verify_begin(ctx, cfg, a, token, &text, &signature, &verdict))
		return verdict;
	if (a->family == JWT_HMAC)
		return JWT_NOT_MANAGED;
	verdict = find(data, &key);
	return key ? verify_key(a, key, text, signature) : verdict;
}

/* What a public key is looked up by. */
struct wanted {
	const struct config *cfg;
	struct slice name;
};

static enum jwt_verdict find_file(void *data, EVP_PKEY **key)
{
	const struct wanted *w = data;

	*key = key_find(w->cfg, w->name);
	return JWT_BAD_KEY;
}

bool crypto_jwt_verify(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	const struct jwt_algorithm *a;
	struct wanted w = { .cfg = args[2].object };
	struct slice name, text, signature;
	enum jwt_verdict verdict;

	if (!jwt_read_arg(&args[0], ctx, &name) || !jwt_read_arg(&args[1], ctx, &w.name) ||
	    !w.name.len)
		return false;
	a = algorithm_find(name);
	if (!a || a->family != JWT_HMAC)
		verdict = jwt_verify(ctx, w.cfg, name, s->text, find_file, &w);
	else if (verify_begin(ctx, w.cfg, a, s->text, &text, &signature, &verdict))
		verdict = verify_hmac(a, w.name, text, signature);
	s->integer = verdict;
	s->type = SMP_INT;
	return true;
}
