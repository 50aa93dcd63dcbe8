/* SPDX-License-Identifier: GPL-2.0-or-later */
/* jwe_openssl.c - encrypted JSON Web Tokens (RFC 7516), with the algorithms of RFC 7518
 *
 * A token is five parts between dots: header, encrypted key, nonce, text, tag. The header says how
 * the content key was encrypted (alg) and how the content is (enc): it can only choose among the
 * algorithms that the configuration allows and the given key fits. The content key lives on the
 * stack and is wiped.
 */
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <string.h>
#include "base/bug.h"
#include "crypto_priv.h"

#define CONTENT_KEY_MAX 64   /* bytes: A256CBC-HS512 */
#define WRAPPED_KEY_MAX 2048 /* bytes: RSA of 16384 bits */
#define GCM_NONCE_LEN 12
#define GCM_TAG_LEN 16
#define AES_BLOCK_LEN 16
#define PARTS 5

enum jwe_family { JWE_KW, JWE_GCMKW, JWE_DIR, JWE_RSA, JWE_ECDH, JWE_CBC, JWE_GCM };

/* An algorithm of keys (alg) or of contents (enc). */
struct jwe_algorithm {
	const char *name;
	enum jwe_family family;
	uint8_t key_len;                    /* of the AES key; CBC: with that of the MAC, as long */
	const EVP_CIPHER *(*cipher)(void);
	const EVP_MD *(*md)(void);          /* OAEP, MAC */
};

static const struct jwe_algorithm key_algorithms[] = {
	{ "dir", JWE_DIR, 0, NULL, NULL },
	{ "A128KW", JWE_KW, 16, EVP_aes_128_wrap, NULL },
	{ "A192KW", JWE_KW, 24, EVP_aes_192_wrap, NULL },
	{ "A256KW", JWE_KW, 32, EVP_aes_256_wrap, NULL },
	{ "A128GCMKW", JWE_GCMKW, 16, EVP_aes_128_gcm, NULL },
	{ "A192GCMKW", JWE_GCMKW, 24, EVP_aes_192_gcm, NULL },
	{ "A256GCMKW", JWE_GCMKW, 32, EVP_aes_256_gcm, NULL },
	{ "RSA1_5", JWE_RSA, 0, NULL, NULL },
	{ "RSA-OAEP", JWE_RSA, 0, NULL, EVP_sha1 },
	{ "RSA-OAEP-256", JWE_RSA, 0, NULL, EVP_sha256 },
	{ "ECDH-ES", JWE_ECDH, 0, NULL, NULL },
	{ "ECDH-ES+A128KW", JWE_ECDH, 16, EVP_aes_128_wrap, NULL },
	{ "ECDH-ES+A192KW", JWE_ECDH, 24, EVP_aes_192_wrap, NULL },
	{ "ECDH-ES+A256KW", JWE_ECDH, 32, EVP_aes_256_wrap, NULL },
};

static const struct jwe_algorithm content_algorithms[] = {
	{ "A128CBC-HS256", JWE_CBC, 32, EVP_aes_128_cbc, EVP_sha256 },
	{ "A192CBC-HS384", JWE_CBC, 48, EVP_aes_192_cbc, EVP_sha384 },
	{ "A256CBC-HS512", JWE_CBC, 64, EVP_aes_256_cbc, EVP_sha512 },
	{ "A128GCM", JWE_GCM, 16, EVP_aes_128_gcm, NULL },
	{ "A192GCM", JWE_GCM, 24, EVP_aes_192_gcm, NULL },
	{ "A256GCM", JWE_GCM, 32, EVP_aes_256_gcm, NULL },
};

/* The number of that name in one of the tables, -1: none. */
static int algorithm_find(const struct jwe_algorithm *table, unsigned count, struct slice name)
{
	for (unsigned i = 0; i < count; i++)
		if (slice_eq(name, slice_of(table[i].name)))
			return (int)i;
	return -1;
}

/* --- which are allowed -------------------------------------------------------------------- */

bool crypto_jwe_parse_list(struct conf_line *l)
{
	bool contents = l->keyword->min;
	const struct jwe_algorithm *table = contents ? content_algorithms : key_algorithms;
	unsigned count = contents ? ARRAY_LEN(content_algorithms) : ARRAY_LEN(key_algorithms);
	struct expr_config *ec = expr_config_of(l->cfg);
	struct slice rest = slice_of(conf_next(l));
	uint32_t on = 0, off = 0;

	while (rest.ptr) {
		size_t colon = slice_find_char(rest, 0, ':');
		struct slice name = slice_sub(rest, 0, colon);
		bool no = name.len && *name.ptr == '!';
		int i;

		rest = colon == SIZE_MAX ? slice_none() :
		       slice_make(rest.ptr + colon + 1, rest.len - colon - 1);
		name = slice_make(name.ptr + no, name.len - no);
		i = algorithm_find(table, count, name);
		if (i < 0 && name.len && !slice_eq(name, SLICE("ALL")))
			return conf_error(l, l->at - 1, NULL, "'%s' : unknown algorithm '%.*s'; "
					  "write ALL, or some of those that the manual names.",
					  l->keyword->words, (int)name.len, name.ptr);
		if (name.len)
			*(no ? &off : &on) |= i < 0 ? (1u << count) - 1 : 1u << i;
	}
	*(contents ? &ec->jwe_contents : &ec->jwe_keys) = JWE_LIST_GIVEN | (on & ~off);
	return true;
}

static bool is_allowed(const struct config *cfg, bool contents, int i)
{
	const struct expr_config *ec = expr_config_of(cfg);
	uint32_t list = contents ? ec->jwe_contents : ec->jwe_keys;

	if (list & JWE_LIST_GIVEN)
		return list & 1u << i;
	return contents || strcmp(key_algorithms[i].name, "RSA1_5") != 0; /* RFC 8725, 3.2 */
}

/* --- a token ------------------------------------------------------------------------------ */

struct jwe {
	struct expr_ctx *ctx;
	const struct jwe_algorithm *alg, *enc;
	struct slice head;           /* as it came */
	struct slice part[PARTS];    /* decoded */
	uint8_t key[CONTENT_KEY_MAX];
};

static bool cut(struct jwe *t, struct slice token)
{
	for (int i = 0; i < PARTS; i++) {
		size_t dot = slice_find_char(token, 0, '.');
		struct slice one = slice_sub(token, 0, dot);

		if ((dot == SIZE_MAX) != (i == PARTS - 1))
			return false;
		if (!i)
			t->head = one;
		t->part[i] = one.len ? expr_base64_decode(t->ctx->arena, one, true) : SLICE("");
		if (!t->part[i].ptr)
			return false;
		if (dot != SIZE_MAX)
			token = slice_make(token.ptr + dot + 1, token.len - dot - 1);
	}
	return true;
}

/* Finds what the header asks for. False: it is unknown, or not allowed. */
static bool choose(struct jwe *t, const struct config *cfg)
{
	struct slice alg = crypto_jwk_text(t->ctx->arena, t->part[0], "$.alg");
	struct slice enc = crypto_jwk_text(t->ctx->arena, t->part[0], "$.enc");
	int a = algorithm_find(key_algorithms, ARRAY_LEN(key_algorithms), alg);
	int e = algorithm_find(content_algorithms, ARRAY_LEN(content_algorithms), enc);

	if (a < 0 || e < 0 || !is_allowed(cfg, false, a) || !is_allowed(cfg, true, e))
		return false;
	t->alg = &key_algorithms[a];
	t->enc = &content_algorithms[e];
	return true;
}

/* --- the key of the content --------------------------------------------------------------- */

/* Keeps what was found: more than is needed is cut. False: it is less. */
static bool keep(struct jwe *t, const void *key, size_t len)
{
	if (len < t->enc->key_len)
		return false;
	memcpy(t->key, key, t->enc->key_len);
	return true;
}

/* AES-GCM. <out> has room for <in>. */
static bool gcm_open(const EVP_CIPHER *cipher, const uint8_t *key, struct slice nonce,
		     struct slice more, struct slice in, struct slice tag, uint8_t *out)
{
	EVP_CIPHER_CTX *gcm = EVP_CIPHER_CTX_new();
	int len;
	bool ok;

	ok = gcm && nonce.len == GCM_NONCE_LEN && tag.len == GCM_TAG_LEN && in.len < INT_MAX &&
	     more.len < INT_MAX &&
	     EVP_DecryptInit_ex(gcm, cipher, NULL, key, (const uint8_t *)nonce.ptr) == 1 &&
	     (!more.len || EVP_DecryptUpdate(gcm, NULL, &len, (const uint8_t *)more.ptr,
					     (int)more.len) == 1) &&
	     EVP_DecryptUpdate(gcm, out, &len, (const uint8_t *)in.ptr, (int)in.len) == 1 &&
	     EVP_CIPHER_CTX_ctrl(gcm, EVP_CTRL_AEAD_SET_TAG, GCM_TAG_LEN, (void *)tag.ptr) == 1 &&
	     EVP_DecryptFinal_ex(gcm, out + len, &len) == 1;
	EVP_CIPHER_CTX_free(gcm);
	return ok;
}

/* RFC 3394 */
static bool unwrap(struct jwe *t, const uint8_t *key)
{
	uint8_t out[WRAPPED_KEY_MAX];
	struct slice in = t->part[1];
	EVP_CIPHER_CTX *aes;
	int len = 0;
	bool ok;

	if (in.len > sizeof(out) || in.len < 24 || in.len % 8)
		return false;
	aes = EVP_CIPHER_CTX_new();
	if (aes)
		EVP_CIPHER_CTX_set_flags(aes, EVP_CIPHER_CTX_FLAG_WRAP_ALLOW);
	ok = aes && EVP_DecryptInit_ex(aes, t->alg->cipher(), NULL, key, NULL) == 1 &&
	     EVP_DecryptUpdate(aes, out, &len, (const uint8_t *)in.ptr, (int)in.len) == 1 &&
	     len > 0 && keep(t, out, (size_t)len);
	EVP_CIPHER_CTX_free(aes);
	OPENSSL_cleanse(out, sizeof(out));
	return ok;
}

static bool gcm_unwrap(struct jwe *t, const uint8_t *key)
{
	struct slice nonce = crypto_jwk_bytes(t->ctx->arena, t->part[0], "$.iv");
	struct slice tag = crypto_jwk_bytes(t->ctx->arena, t->part[0], "$.tag");
	uint8_t out[WRAPPED_KEY_MAX];
	bool ok;

	ok = t->part[1].len && t->part[1].len <= sizeof(out) &&
	     gcm_open(t->alg->cipher(), key, nonce, SLICE(""), t->part[1], tag, out) &&
	     keep(t, out, t->part[1].len);
	OPENSSL_cleanse(out, sizeof(out));
	return ok;
}

/* A token of RSA1_5 whose key cannot be read is taken on with a random one: which of both was wrong
 * is not told (RFC 7516, 11.5).
 */
static bool rsa_decrypt(struct jwe *t, EVP_PKEY *key)
{
	bool oaep = t->alg->md != NULL;
	EVP_PKEY_CTX *rsa = NULL;
	uint8_t out[WRAPPED_KEY_MAX];
	size_t len = sizeof(out);
	bool ok;

	if (EVP_PKEY_get_base_id(key) != EVP_PKEY_RSA ||
	    EVP_PKEY_get_size(key) > (int)sizeof(out) ||
	    (!oaep && RAND_bytes(t->key, sizeof(t->key)) != 1))
		return false;
	rsa = EVP_PKEY_CTX_new(key, NULL);
	ok = rsa && EVP_PKEY_decrypt_init(rsa) == 1 &&
	     EVP_PKEY_CTX_set_rsa_padding(rsa, oaep ? RSA_PKCS1_OAEP_PADDING :
					  RSA_PKCS1_PADDING) > 0 &&
	     (!oaep || (EVP_PKEY_CTX_set_rsa_oaep_md(rsa, t->alg->md()) > 0 &&
			EVP_PKEY_CTX_set_rsa_mgf1_md(rsa, t->alg->md()) > 0)) &&
	     EVP_PKEY_decrypt(rsa, out, &len, (const uint8_t *)t->part[1].ptr,
			      t->part[1].len) == 1 && keep(t, out, len);
	EVP_PKEY_CTX_free(rsa);
	OPENSSL_cleanse(out, sizeof(out));
	return ok || !oaep;
}

static void put32(uint8_t *out, size_t value)
{
	for (int i = 0; i < 4; i++)
		out[i] = (uint8_t)(value >> (24 - 8 * i));
}

/* A field of what is hashed: its length, then its bytes. */
static bool add_field(EVP_MD_CTX *md, struct slice field)
{
	uint8_t len[4];

	put32(len, field.len);
	return EVP_DigestUpdate(md, len, sizeof(len)) == 1 &&
	       EVP_DigestUpdate(md, field.ptr, field.len) == 1;
}

/* Makes <len> bytes of the secret that two keys have in common: the Concat KDF of RFC 7518,
 * 4.6.2.
 */
static bool derive_key(struct jwe *t, struct slice secret, const char *name, uint8_t *out,
		       size_t len)
{
	struct slice from = crypto_jwk_bytes(t->ctx->arena, t->part[0], "$.apu");
	struct slice to = crypto_jwk_bytes(t->ctx->arena, t->part[0], "$.apv");
	uint8_t digest[EVP_MAX_MD_SIZE], number[4], bits[4];
	EVP_MD_CTX *md = EVP_MD_CTX_new();
	bool ok = md != NULL;

	put32(bits, len * 8);
	for (size_t at = 0, n = 1; ok && at < len; at += 32, n++) {
		put32(number, n);
		ok = EVP_DigestInit_ex(md, EVP_sha256(), NULL) == 1 &&
		     EVP_DigestUpdate(md, number, sizeof(number)) == 1 &&
		     EVP_DigestUpdate(md, secret.ptr, secret.len) == 1 &&
		     add_field(md, slice_of(name)) && add_field(md, from.ptr ? from : SLICE("")) &&
		     add_field(md, to.ptr ? to : SLICE("")) &&
		     EVP_DigestUpdate(md, bits, sizeof(bits)) == 1 &&
		     EVP_DigestFinal_ex(md, digest, NULL) == 1;
		memcpy(out + at, digest, len - at < 32 ? len - at : 32);
	}
	EVP_MD_CTX_free(md);
	OPENSSL_cleanse(digest, sizeof(digest));
	return ok;
}

/* Its peer's key stands in the header; OpenSSL checks that this is a point of the same curve. */
static bool agree(struct jwe *t, EVP_PKEY *key)
{
	EVP_PKEY *peer = crypto_jwk_public_ec(t->ctx->arena, t->part[0], "$.epk");
	EVP_PKEY_CTX *ecdh = NULL;
	uint8_t secret[256], shared[CONTENT_KEY_MAX];
	size_t len = sizeof(secret), size = t->alg->cipher ? t->alg->key_len : t->enc->key_len;
	bool ok;

	ok = peer && EVP_PKEY_get_base_id(key) == EVP_PKEY_EC;
	if (ok)
		ecdh = EVP_PKEY_CTX_new(key, NULL);
	ok = ecdh && EVP_PKEY_derive_init(ecdh) == 1 &&
	     EVP_PKEY_derive_set_peer(ecdh, peer) == 1 &&
	     EVP_PKEY_derive(ecdh, secret, &len) == 1 &&
	     derive_key(t, slice_make((const char *)secret, len),
			t->alg->cipher ? t->alg->name : t->enc->name, shared, size);
	if (ok)
		ok = t->alg->cipher ? unwrap(t, shared) :
		     !t->part[1].len && keep(t, shared, size);
	EVP_PKEY_CTX_free(ecdh);
	EVP_PKEY_free(peer);
	OPENSSL_cleanse(secret, sizeof(secret));
	OPENSSL_cleanse(shared, sizeof(shared));
	return ok;
}

static bool find_key(struct jwe *t, const struct jwt_key *with)
{
	const uint8_t *secret = (const uint8_t *)with->secret.ptr;

	switch (t->alg->family) {
	case JWE_RSA:
		return with->key && rsa_decrypt(t, with->key);
	case JWE_ECDH:
		return with->key && agree(t, with->key);
	case JWE_DIR:
		return secret && !t->part[1].len && keep(t, secret, with->secret.len);
	case JWE_KW:
		return secret && with->secret.len >= t->alg->key_len && unwrap(t, secret);
	case JWE_GCMKW:
		return secret && with->secret.len >= t->alg->key_len && gcm_unwrap(t, secret);
	default:
		return false;
	}
}

/* --- the content -------------------------------------------------------------------------- */

/* Is the tag that of header, nonce and text? RFC 7518, 5.2.2 */
static bool mac_is_right(const struct jwe *t)
{
	size_t half = t->enc->key_len / 2, bits = t->head.len * 8;
	uint8_t digest[EVP_MAX_MD_SIZE], length[8] = { 0 };
	struct slice all[] = { t->head, t->part[2], t->part[3],
			       slice_make((const char *)length, sizeof(length)) };
	struct arena *arena = t->ctx->arena;
	size_t size = 0;
	char *text, *at;
	unsigned len;

	for (int i = 0; i < 8; i++)
		length[i] = (uint8_t)((uint64_t)bits >> (56 - 8 * i));
	for (unsigned i = 0; i < ARRAY_LEN(all); i++)
		size += all[i].len;
	text = at = arena_alloc(arena, size);
	if (!text || t->part[4].len != half)
		return false;
	for (unsigned i = 0; i < ARRAY_LEN(all); at += all[i++].len)
		memcpy(at, all[i].ptr, all[i].len);
	return HMAC(t->enc->md(), t->key, (int)half, (const uint8_t *)text, size, digest, &len) &&
	       CRYPTO_memcmp(digest, t->part[4].ptr, half) == 0;
}

static bool cbc_open(const struct jwe *t, uint8_t *out, size_t *size)
{
	struct slice in = t->part[3];
	EVP_CIPHER_CTX *cbc;
	int len, rest;
	bool ok;

	if (t->part[2].len != AES_BLOCK_LEN || in.len >= INT_MAX - AES_BLOCK_LEN ||
	    !mac_is_right(t))
		return false;
	cbc = EVP_CIPHER_CTX_new();
	ok = cbc && EVP_DecryptInit_ex(cbc, t->enc->cipher(), NULL, t->key + t->enc->key_len / 2,
				       (const uint8_t *)t->part[2].ptr) == 1 &&
	     EVP_DecryptUpdate(cbc, out, &len, (const uint8_t *)in.ptr, (int)in.len) == 1 &&
	     EVP_DecryptFinal_ex(cbc, out + len, &rest) == 1;
	EVP_CIPHER_CTX_free(cbc);
	*size = ok ? (size_t)(len + rest) : 0;
	return ok;
}

bool jwt_decrypt(struct expr_ctx *ctx, const struct config *cfg, const struct jwt_key *with,
		 struct sample *s)
{
	struct jwe t = { .ctx = ctx };
	uint8_t *out = arena_alloc(ctx->arena, s->text.len + AES_BLOCK_LEN);
	size_t len = 0;
	bool ok;

	ok = out && cut(&t, s->text) && choose(&t, cfg) && find_key(&t, with);
	if (ok && t.enc->family == JWE_CBC) {
		ok = cbc_open(&t, out, &len);
	} else if (ok) {
		ok = gcm_open(t.enc->cipher(), t.key, t.part[2], t.head, t.part[3], t.part[4],
			      out);
		len = t.part[3].len;
	}
	OPENSSL_cleanse(t.key, sizeof(t.key));
	ERR_clear_error();
	s->type = SMP_BIN;
	s->text = slice_make((const char *)out, ok ? len : 0);
	return ok;
}
