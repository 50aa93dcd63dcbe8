/* SPDX-License-Identifier: GPL-2.0-or-later */
/* conv_openssl.c - converters that need OpenSSL: digests, AES, names of certificate errors
 *
 * The algorithm is found when the configuration is read. A secret is a base64 text or a variable
 * that holds base64. JSON Web Tokens are in jwt_openssl.c.
 */
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/x509_vfy.h>
#include <string.h>
#include "base/bug.h"
#include "expr/modules.h"
#include "crypto_priv.h"

#define GCM_TAG_LEN 16
#define GCM_TAG_MIN 12
#define AES_BLOCK_LEN 16

static bool give_bytes(struct expr_ctx *ctx, struct sample *s, const void *bytes, size_t len)
{
	s->type = SMP_BIN;
	s->text = arena_copy(ctx->arena, slice_make(bytes, len));
	s->flags |= SMP_CONST;
	return s->text.ptr != NULL;
}

/* --- arguments ---------------------------------------------------------------------------- */

static bool crypto_secret_check(struct conf_line *l, struct expr_arg *arg)
{
	const char *reason;
	struct slice bytes;

	arg->object = var_ref_parse(l->cfg, arg->name.ptr, false, &reason);
	if (arg->object) {
		arg->type = ARG_VAR;
		return true;
	}
	bytes = expr_base64_decode(&l->cfg->arena, arg->name, false);
	arg->type = ARG_BYTES;
	arg->text = bytes;
	return bytes.ptr != NULL;
}

/* The bytes of a secret. False: the variable is not set, or is not base64. */
static bool secret_read(const struct expr_arg *arg, struct expr_ctx *ctx, struct slice *out)
{
	struct sample s;

	*out = arg->text;
	if (arg->type != ARG_VAR)
		return true;
	if (!var_get(arg->object, ctx, &s) || !sample_cast(&s, SMP_STR, ctx->arena))
		return false;
	*out = expr_base64_decode(ctx->arena, s.text, false);
	return out->ptr != NULL;
}

#define SECRET_ERROR "argument needs to be base64 encoded, and can either be a string or a variable"

static bool check_secret(struct conf_line *l, struct expr_arg *arg, const char *what,
			 const char **error)
{
	if (crypto_secret_check(l, arg))
		return true;
	*error = arena_printf(&l->cfg->arena, "failed to parse %s : " SECRET_ERROR, what);
	return false;
}

/* --- digests ------------------------------------------------------------------------------ */

static bool check_digest(struct conf_line *l, struct expr_arg *args, const char **error)
{
	*error = "algorithm must be a valid OpenSSL message digest name.";
	args[0].object = (void *)EVP_get_digestbyname(args[0].name.ptr);
	return args[0].object != NULL;
}

static bool give_digest(struct expr_ctx *ctx, struct sample *s, const EVP_MD *md)
{
	uint8_t digest[EVP_MAX_MD_SIZE];
	unsigned len;

	return EVP_Digest(s->text.ptr, s->text.len, digest, &len, md, NULL) == 1 &&
	       give_bytes(ctx, s, digest, len);
}

static bool convert_digest(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	const EVP_MD *md = args[0].object;

	if (EVP_MD_flags(md) & EVP_MD_FLAG_XOF)
		return false; /* it has no length of its own */
	return give_digest(ctx, s, md);
}

static bool convert_sha1(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	return give_digest(ctx, s, EVP_sha1());
}

static bool check_sha2(struct conf_line *l, struct expr_arg *args, const char **error)
{
	int64_t bits = args[0].type == ARG_INT ? args[0].integer : 256;

	args[0].type = ARG_INT;
	args[0].object = (void *)(bits == 224 ? EVP_sha224() : bits == 256 ? EVP_sha256() :
				  bits == 384 ? EVP_sha384() : bits == 512 ? EVP_sha512() : NULL);
	if (!args[0].object)
		*error = arena_printf(&l->cfg->arena, "Unsupported number of bits: '%lld'",
				      (long long)bits);
	return args[0].object != NULL;
}

static bool convert_sha2(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	return give_digest(ctx, s, args[0].object);
}

/* hmac(<algorithm>,<key>) */
static bool check_hmac(struct conf_line *l, struct expr_arg *args, const char **error)
{
	return check_digest(l, args, error) && check_secret(l, &args[1], "key", error);
}

static bool convert_hmac(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	uint8_t digest[EVP_MAX_MD_SIZE];
	struct slice key;
	unsigned len;

	if (!secret_read(&args[1], ctx, &key) || key.len > INT_MAX)
		return false;
	return HMAC(args[0].object, key.ptr, (int)key.len, (const uint8_t *)s->text.ptr,
		    s->text.len, digest, &len) && give_bytes(ctx, s, digest, len);
}

/* --- AES-GCM: (<bits>,<nonce>,<key>,<tag>[,<aad>]) ----------------------------------------- */

static const EVP_CIPHER *gcm_cipher(int64_t bits)
{
	return bits == 128 ? EVP_aes_128_gcm() : bits == 192 ? EVP_aes_192_gcm() :
	       bits == 256 ? EVP_aes_256_gcm() : NULL;
}

static bool check_aes_gcm(struct conf_line *l, struct expr_arg *args, const char **error)
{
	*error = "key size must be 128, 192 or 256 (bits).";
	if (!gcm_cipher(args[0].integer))
		return false;
	if (!check_secret(l, &args[1], "nonce", error) ||
	    !check_secret(l, &args[2], "key", error) ||
	    (args[4].type == ARG_STR && !check_secret(l, &args[4], "aad", error)))
		return false;
	if (args[2].type == ARG_VAR || (int64_t)args[2].text.len * 8 == args[0].integer)
		return true;
	*error = arena_printf(&l->cfg->arena, "the key has %zu bits instead of %lld",
			      args[2].text.len * 8, (long long)args[0].integer);
	return false;
}

static bool check_aes_gcm_dec(struct conf_line *l, struct expr_arg *args, const char **error)
{
	return check_aes_gcm(l, args, error) && check_secret(l, &args[3], "aead_tag", error);
}

static bool check_aes_gcm_enc(struct conf_line *l, struct expr_arg *args, const char **error)
{
	const char *reason;

	if (!check_aes_gcm(l, args, error))
		return false;
	args[3].object = var_ref_parse(l->cfg, args[3].name.ptr, false, &reason);
	args[3].type = ARG_VAR;
	if (!args[3].object)
		*error = arena_printf(&l->cfg->arena, "failed to parse aead_tag : %s", reason);
	return args[3].object != NULL;
}

/* Takes the bytes that are authenticated and not encrypted, if there are some. */
static bool gcm_take_aad(EVP_CIPHER_CTX *gcm, struct expr_ctx *ctx, const struct expr_arg *arg)
{
	struct slice aad;
	int len;

	if (arg->type == ARG_END)
		return true;
	return secret_read(arg, ctx, &aad) && aad.len < INT_MAX &&
	       EVP_CipherUpdate(gcm, NULL, &len, (const uint8_t *)aad.ptr, (int)aad.len) == 1;
}

/* A context with nonce, key and authenticated bytes. NULL: they do not fit, or no memory. */
static EVP_CIPHER_CTX *gcm_begin(struct expr_ctx *ctx, const struct expr_arg *args, bool encrypt)
{
	const EVP_CIPHER *cipher = gcm_cipher(args[0].integer);
	struct slice nonce, key;
	EVP_CIPHER_CTX *gcm;

	if (!secret_read(&args[1], ctx, &nonce) || !secret_read(&args[2], ctx, &key) ||
	    (int64_t)key.len * 8 != args[0].integer || !nonce.len || nonce.len > INT_MAX)
		return NULL;
	gcm = EVP_CIPHER_CTX_new();
	if (gcm && EVP_CipherInit_ex(gcm, cipher, NULL, NULL, NULL, encrypt) == 1 &&
	    EVP_CIPHER_CTX_ctrl(gcm, EVP_CTRL_AEAD_SET_IVLEN, (int)nonce.len, NULL) == 1 &&
	    EVP_CipherInit_ex(gcm, NULL, NULL, (const uint8_t *)key.ptr,
			      (const uint8_t *)nonce.ptr, encrypt) == 1 &&
	    gcm_take_aad(gcm, ctx, &args[4]))
		return gcm;
	EVP_CIPHER_CTX_free(gcm);
	return NULL;
}

/* Runs the text through the cipher into the arena. */
static bool gcm_run(EVP_CIPHER_CTX *gcm, struct slice in, uint8_t *out)
{
	int len, rest;

	return in.len < INT_MAX &&
	       EVP_CipherUpdate(gcm, out, &len, (const uint8_t *)in.ptr, (int)in.len) == 1 &&
	       EVP_CipherFinal_ex(gcm, out + len, &rest) == 1;
}

static bool convert_aes_gcm_dec(struct expr_ctx *ctx, const struct expr_arg *args,
				struct sample *s)
{
	uint8_t *out = arena_alloc(ctx->arena, s->text.len + GCM_TAG_LEN);
	EVP_CIPHER_CTX *gcm;
	struct slice tag;
	bool ok;

	/* a short tag would be easy to guess */
	if (!out || !secret_read(&args[3], ctx, &tag) || tag.len < GCM_TAG_MIN ||
	    tag.len > GCM_TAG_LEN)
		return false;
	gcm = gcm_begin(ctx, args, false);
	ok = gcm && EVP_CIPHER_CTX_ctrl(gcm, EVP_CTRL_AEAD_SET_TAG, (int)tag.len,
					(void *)tag.ptr) == 1 && gcm_run(gcm, s->text, out);
	EVP_CIPHER_CTX_free(gcm);
	s->type = SMP_BIN;
	s->text.ptr = (const char *)out;
	return ok;
}

static bool convert_aes_gcm_enc(struct expr_ctx *ctx, const struct expr_arg *args,
				struct sample *s)
{
	uint8_t *out = arena_alloc(ctx->arena, s->text.len + GCM_TAG_LEN);
	EVP_CIPHER_CTX *gcm = out ? gcm_begin(ctx, args, true) : NULL;
	struct sample tag = { .type = SMP_STR };
	char bytes[GCM_TAG_LEN];
	bool ok;

	ok = gcm && gcm_run(gcm, s->text, out) &&
	     EVP_CIPHER_CTX_ctrl(gcm, EVP_CTRL_AEAD_GET_TAG, GCM_TAG_LEN, bytes) == 1;
	EVP_CIPHER_CTX_free(gcm);
	if (!ok)
		return false;
	tag.text = expr_base64_encode(ctx->arena, slice_make(bytes, sizeof(bytes)));
	s->type = SMP_BIN;
	s->text.ptr = (const char *)out;
	return tag.text.ptr && var_set(args[3].object, ctx, &tag);
}

/* --- AES-CBC: (<bits>,<nonce>,<key>[,<aad>]); the last is not used by this mode ------------- */

static const EVP_CIPHER *cbc_cipher(int64_t bits)
{
	return bits == 128 ? EVP_aes_128_cbc() : bits == 192 ? EVP_aes_192_cbc() :
	       bits == 256 ? EVP_aes_256_cbc() : NULL;
}

static bool check_aes_cbc(struct conf_line *l, struct expr_arg *args, const char **error)
{
	*error = "key size must be 128, 192 or 256 (bits).";
	return cbc_cipher(args[0].integer) && check_secret(l, &args[1], "nonce", error) &&
	       check_secret(l, &args[2], "key", error) &&
	       (args[3].type != ARG_STR || check_secret(l, &args[3], "aad", error));
}

static bool aes_cbc(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s,
		    bool encrypt)
{
	uint8_t *out = arena_alloc(ctx->arena, s->text.len + EVP_MAX_BLOCK_LENGTH);
	struct slice nonce, key;
	EVP_CIPHER_CTX *cbc;
	int len, rest;
	bool ok;

	if (!out || !secret_read(&args[1], ctx, &nonce) || !secret_read(&args[2], ctx, &key) ||
	    (int64_t)key.len * 8 != args[0].integer || nonce.len != AES_BLOCK_LEN ||
	    s->text.len >= INT_MAX - EVP_MAX_BLOCK_LENGTH)
		return false;
	cbc = EVP_CIPHER_CTX_new();
	ok = cbc && EVP_CipherInit_ex(cbc, cbc_cipher(args[0].integer), NULL,
				      (const uint8_t *)key.ptr, (const uint8_t *)nonce.ptr,
				      encrypt) == 1 &&
	     EVP_CipherUpdate(cbc, out, &len, (const uint8_t *)s->text.ptr,
			      (int)s->text.len) == 1 &&
	     EVP_CipherFinal_ex(cbc, out + len, &rest) == 1;
	EVP_CIPHER_CTX_free(cbc);
	if (!ok)
		return false;
	s->type = SMP_BIN;
	s->text = slice_make((const char *)out, (size_t)len + (size_t)rest);
	return true;
}

static bool convert_aes_cbc_dec(struct expr_ctx *ctx, const struct expr_arg *args,
				struct sample *s)
{
	return aes_cbc(ctx, args, s, false);
}

static bool convert_aes_cbc_enc(struct expr_ctx *ctx, const struct expr_arg *args,
				struct sample *s)
{
	return aes_cbc(ctx, args, s, true);
}

/* --- encrypted tokens: the configuration is the second argument ------------------------------- */

static bool check_jwe_secret(struct conf_line *l, struct expr_arg *args, const char **error)
{
	args[1].object = l->cfg;
	return check_secret(l, &args[0], "secret", error);
}

static bool convert_jwe_secret(struct expr_ctx *ctx, const struct expr_arg *args,
			       struct sample *s)
{
	struct jwt_key key = { .key = NULL };

	return secret_read(&args[0], ctx, &key.secret) &&
	       jwt_decrypt(ctx, args[1].object, &key, s);
}

static void jwk_free(void *key)
{
	EVP_PKEY_free(key);
}

/* A key that is written here is read once: it becomes the object of the third argument. */
static bool check_jwk(struct conf_line *l, struct expr_arg *args, const char **error)
{
	const char *reason;
	struct jwt_key *key;

	args[1].object = l->cfg;
	args[0].object = var_ref_parse(l->cfg, args[0].name.ptr, false, &reason);
	if (args[0].object) {
		args[0].type = ARG_VAR;
		return true;
	}
	key = arena_alloc(&l->cfg->arena, sizeof(*key));
	*error = "out of memory";
	if (!key)
		return false;
	*error = "this is neither a variable nor a JSON Web Key; that is an object with \"kty\" "
		 "(\"oct\", \"RSA\" or \"EC\") and all members of a private key";
	if (!crypto_jwk_read(&l->cfg->arena, args[0].name, key))
		return false;
	*error = "out of memory";
	if (key->key && !expr_own(l->cfg, key->key, jwk_free)) {
		EVP_PKEY_free(key->key);
		return false;
	}
	args[2].object = key;
	return true;
}

static bool convert_jwk(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	struct jwt_key key;
	struct sample text;
	bool ok;

	if (args[0].type != ARG_VAR)
		return jwt_decrypt(ctx, args[1].object, args[2].object, s);
	if (!var_get(args[0].object, ctx, &text) || !sample_cast(&text, SMP_STR, ctx->arena) ||
	    !crypto_jwk_read(ctx->arena, text.text, &key))
		return false;
	ok = jwt_decrypt(ctx, args[1].object, &key, s);
	EVP_PKEY_free(key.key);
	return ok;
}

/* --- certificate errors ------------------------------------------------------------------- */

#define X(name) { X509_V_##name, "X509_V_" #name }
static const struct { int code; const char *name; } x509_errors[] = {
	X(OK), X(ERR_UNSPECIFIED), X(ERR_UNABLE_TO_GET_ISSUER_CERT), X(ERR_UNABLE_TO_GET_CRL),
	X(ERR_UNABLE_TO_DECRYPT_CERT_SIGNATURE), X(ERR_UNABLE_TO_DECRYPT_CRL_SIGNATURE),
	X(ERR_UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY), X(ERR_CERT_SIGNATURE_FAILURE),
	X(ERR_CRL_SIGNATURE_FAILURE), X(ERR_CERT_NOT_YET_VALID), X(ERR_CERT_HAS_EXPIRED),
	X(ERR_CRL_NOT_YET_VALID), X(ERR_CRL_HAS_EXPIRED),
	X(ERR_ERROR_IN_CERT_NOT_BEFORE_FIELD), X(ERR_ERROR_IN_CERT_NOT_AFTER_FIELD),
	X(ERR_ERROR_IN_CRL_LAST_UPDATE_FIELD), X(ERR_ERROR_IN_CRL_NEXT_UPDATE_FIELD),
	X(ERR_OUT_OF_MEM), X(ERR_DEPTH_ZERO_SELF_SIGNED_CERT), X(ERR_SELF_SIGNED_CERT_IN_CHAIN),
	X(ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY), X(ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE),
	X(ERR_CERT_CHAIN_TOO_LONG), X(ERR_CERT_REVOKED), X(ERR_PATH_LENGTH_EXCEEDED),
	X(ERR_INVALID_PURPOSE), X(ERR_CERT_UNTRUSTED), X(ERR_CERT_REJECTED),
	X(ERR_SUBJECT_ISSUER_MISMATCH), X(ERR_AKID_SKID_MISMATCH),
	X(ERR_AKID_ISSUER_SERIAL_MISMATCH), X(ERR_KEYUSAGE_NO_CERTSIGN),
	X(ERR_UNABLE_TO_GET_CRL_ISSUER), X(ERR_UNHANDLED_CRITICAL_EXTENSION),
	X(ERR_KEYUSAGE_NO_CRL_SIGN), X(ERR_UNHANDLED_CRITICAL_CRL_EXTENSION),
	X(ERR_INVALID_NON_CA), X(ERR_PROXY_PATH_LENGTH_EXCEEDED),
	X(ERR_KEYUSAGE_NO_DIGITAL_SIGNATURE), X(ERR_PROXY_CERTIFICATES_NOT_ALLOWED),
	X(ERR_INVALID_EXTENSION), X(ERR_INVALID_POLICY_EXTENSION), X(ERR_NO_EXPLICIT_POLICY),
	X(ERR_DIFFERENT_CRL_SCOPE), X(ERR_UNSUPPORTED_EXTENSION_FEATURE), X(ERR_UNNESTED_RESOURCE),
	X(ERR_PERMITTED_VIOLATION), X(ERR_EXCLUDED_VIOLATION), X(ERR_SUBTREE_MINMAX),
	X(ERR_APPLICATION_VERIFICATION), X(ERR_UNSUPPORTED_CONSTRAINT_TYPE),
	X(ERR_UNSUPPORTED_CONSTRAINT_SYNTAX), X(ERR_UNSUPPORTED_NAME_SYNTAX),
	X(ERR_CRL_PATH_VALIDATION_ERROR), X(ERR_PATH_LOOP), X(ERR_SUITE_B_INVALID_VERSION),
	X(ERR_SUITE_B_INVALID_ALGORITHM), X(ERR_SUITE_B_INVALID_CURVE),
	X(ERR_SUITE_B_INVALID_SIGNATURE_ALGORITHM), X(ERR_SUITE_B_LOS_NOT_ALLOWED),
	X(ERR_SUITE_B_CANNOT_SIGN_P_384_WITH_P_256), X(ERR_HOSTNAME_MISMATCH),
	X(ERR_EMAIL_MISMATCH), X(ERR_IP_ADDRESS_MISMATCH), X(ERR_DANE_NO_MATCH),
	X(ERR_EE_KEY_TOO_SMALL), X(ERR_CA_KEY_TOO_SMALL), X(ERR_CA_MD_TOO_WEAK),
	X(ERR_INVALID_CALL), X(ERR_STORE_LOOKUP), X(ERR_NO_VALID_SCTS),
	X(ERR_PROXY_SUBJECT_NAME_VIOLATION), X(ERR_OCSP_VERIFY_NEEDED),
	X(ERR_OCSP_VERIFY_FAILED), X(ERR_OCSP_CERT_UNKNOWN),
	X(ERR_UNSUPPORTED_SIGNATURE_ALGORITHM), X(ERR_SIGNATURE_ALGORITHM_MISMATCH),
	X(ERR_SIGNATURE_ALGORITHM_INCONSISTENCY), X(ERR_INVALID_CA),
	X(ERR_PATHLEN_INVALID_FOR_NON_CA), X(ERR_PATHLEN_WITHOUT_KU_KEY_CERT_SIGN),
	X(ERR_KU_KEY_CERT_SIGN_INVALID_FOR_NON_CA), X(ERR_ISSUER_NAME_EMPTY),
	X(ERR_SUBJECT_NAME_EMPTY), X(ERR_MISSING_AUTHORITY_KEY_IDENTIFIER),
	X(ERR_MISSING_SUBJECT_KEY_IDENTIFIER), X(ERR_EMPTY_SUBJECT_ALT_NAME),
	X(ERR_EMPTY_SUBJECT_SAN_NOT_CRITICAL), X(ERR_CA_BCONS_NOT_CRITICAL),
	X(ERR_AUTHORITY_KEY_IDENTIFIER_CRITICAL), X(ERR_SUBJECT_KEY_IDENTIFIER_CRITICAL),
	X(ERR_CA_CERT_MISSING_KEY_USAGE), X(ERR_EXTENSIONS_REQUIRE_VERSION_3),
	X(ERR_EC_KEY_EXPLICIT_PARAMS),
};
#undef X

static bool convert_x509_error(struct expr_ctx *ctx, const struct expr_arg *args,
			       struct sample *s)
{
	const char *text = NULL;

	for (unsigned i = 0; i < ARRAY_LEN(x509_errors); i++)
		if (x509_errors[i].code == s->integer)
			text = x509_errors[i].name;
	if (!text)
		text = arena_printf(ctx->arena, "%llu", (unsigned long long)s->integer);
	s->type = SMP_STR;
	s->text = slice_of(text);
	s->flags |= SMP_CONST;
	return text != NULL;
}

#define BIN_TO_BIN .in = SMP_BIN, .out = SMP_BIN
#define GCM_ARGS .args_min = 4, .args = { ARG_INT, ARG_STR, ARG_STR, ARG_STR, ARG_STR }, \
	.syntax = "(<bits>,<nonce>,<key>,<tag>[,<aad>])"

#define CBC_ARGS .args_min = 3, .args = { ARG_INT, ARG_STR, ARG_STR, ARG_STR }, \
	.syntax = "(<bits>,<nonce>,<key>[,<aad>])"

static const struct expr_converter converters[] = {
	{ .name = "aes_cbc_dec", CBC_ARGS, BIN_TO_BIN, .context = true,
	  .convert = convert_aes_cbc_dec, .check = check_aes_cbc, .help = "decrypts by AES-CBC" },
	{ .name = "aes_cbc_enc", CBC_ARGS, BIN_TO_BIN, .context = true,
	  .convert = convert_aes_cbc_enc, .check = check_aes_cbc, .help = "encrypts by AES-CBC" },
	{ .name = "aes_gcm_dec", GCM_ARGS, BIN_TO_BIN, .context = true,
	  .convert = convert_aes_gcm_dec, .check = check_aes_gcm_dec,
	  .help = "decrypts by AES-GCM" },
	{ .name = "aes_gcm_enc", GCM_ARGS, BIN_TO_BIN, .context = true,
	  .convert = convert_aes_gcm_enc, .check = check_aes_gcm_enc,
	  .help = "encrypts by AES-GCM; the tag becomes a variable" },
	{ .name = "digest", .args_min = 1, .args = { ARG_STR }, BIN_TO_BIN,
	  .convert = convert_digest, .check = check_digest, .syntax = "(<algorithm>)",
	  .help = "a message digest that OpenSSL knows" },
	{ .name = "hmac", .args_min = 2, .args = { ARG_STR, ARG_STR }, BIN_TO_BIN,
	  .context = true, .convert = convert_hmac, .check = check_hmac,
	  .syntax = "(<algorithm>,<key>)", .help = "a message authentication code" },
	{ .name = "jwt_decrypt_jwk", .args_min = 1, .args = { ARG_STR }, BIN_TO_BIN,
	  .context = true, .convert = convert_jwk, .check = check_jwk, .syntax = "(<jwk>)",
	  .help = "the content of an encrypted JSON Web Token, by a JSON Web Key" },
	{ .name = "jwt_decrypt_secret", .args_min = 1, .args = { ARG_STR }, BIN_TO_BIN,
	  .context = true, .convert = convert_jwe_secret, .check = check_jwe_secret,
	  .syntax = "(<secret>)",
	  .help = "the content of an encrypted JSON Web Token, by a secret in base64" },
	{ .name = "jwt_header_query", .args = { ARG_STR, ARG_STR }, .in = SMP_BIN,
	  .out = SMP_ANY, .convert = crypto_jwt_header, .check = crypto_jwt_check_query,
	  .syntax = "[(<path>[,int])]",
	  .help = "the header of a JSON Web Token, or a value of it" },
	{ .name = "jwt_payload_query", .args = { ARG_STR, ARG_STR }, .in = SMP_BIN,
	  .out = SMP_ANY, .convert = crypto_jwt_payload, .check = crypto_jwt_check_query,
	  .syntax = "[(<path>[,int])]",
	  .help = "the payload of a JSON Web Token, or a value of it" },
	{ .name = "jwt_verify", .args_min = 2, .args = { ARG_STR, ARG_STR }, .in = SMP_BIN,
	  .out = SMP_INT, .context = true, .convert = crypto_jwt_verify,
	  .check = crypto_jwt_check_verify, .syntax = "(<algorithm>,<key>)",
	  .help = "1: the token's signature is right, 0: it is wrong, negative: an error" },
	{ .name = "sha1", BIN_TO_BIN, .convert = convert_sha1, .help = "SHA-1" },
	{ .name = "sha2", .args = { ARG_INT }, BIN_TO_BIN, .convert = convert_sha2,
	  .check = check_sha2, .syntax = "[(<bits>)]", .help = "SHA-2 of 256 or other bits" },
	{ .name = "x509_v_err_str", .in = SMP_INT, .out = SMP_STR,
	  .convert = convert_x509_error, .help = "the name of an error of a certificate" },
	{ 0 }
};

static bool parse_allow_none(struct conf_line *l)
{
	expr_config_of(l->cfg)->jwt_allow_none = true;
	return true;
}

static const struct conf_keyword keywords[] = {
	{ .words = "jwt.allow_none_alg", .where = CONF_GLOBAL, .parse = parse_allow_none,
	  .help = "take JSON Web Tokens without a signature (alg none) for right" },
	{ .words = "jwt.decrypt_alg_list", .where = CONF_GLOBAL, .min_args = 1, .max_args = 1,
	  .parse = crypto_jwe_parse_list, .syntax = "<list>",
	  .help = "how keys of encrypted JSON Web Tokens may be encrypted" },
	{ .words = "jwt.decrypt_enc_list", .where = CONF_GLOBAL, .min_args = 1, .max_args = 1,
	  .min = 1, .parse = crypto_jwe_parse_list, .syntax = "<list>",
	  .help = "how the content of encrypted JSON Web Tokens may be encrypted" },
	{ 0 }
};

const struct module mod_conv_crypto = {
	.name = "conv_crypto", .keywords = keywords, .converters = converters,
};
