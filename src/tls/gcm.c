/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gcm.c - AES-GCM of records by ipsec-mb, as a provider of OpenSSL
 *
 * OpenSSL 3.0 has no AES-GCM for CPUs with wide AES (VAES): ipsec-mb takes a quarter of its time
 * for a full record, a fifth for a small one. The provider is built into the program; OpenSSL
 * contexts made with tls_gcm_properties() take AES-128-GCM and AES-256-GCM from it, everything else
 * from the usual provider. It implements everything that OpenSSL's does, for any caller.
 *
 * A context keeps the original key. The expanded key of ipsec-mb is larger than everything else
 * here and made in 100 ns, so each thread has it for one key only (<ready>): an idle connection
 * holds two small contexts, and no expanded key outlives the operation.
 */
#define NO_COMPAT_IMB_API_053
#include <intel-ipsec-mb.h>
#include <openssl/core_dispatch.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/provider.h>
#include <openssl/rand.h>
#include <openssl/tls1.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include "base/slice.h"
#include "gcm_priv.h"

#define TAG_LEN 16
#define IV_USUAL 12
#define IV_MAX 128
#define EXPLICIT EVP_GCM_TLS_EXPLICIT_IV_LEN

/* --- keys ------------------------------------------------------------------------------------- */

struct kind {
	size_t key_len;
	aes_gcm_pre_t expand;
	aes_gcm_enc_dec_t one[2];             /* by struct gcm.enc, as the next ones */
	aes_gcm_init_t begin;
	aes_gcm_init_var_iv_t begin_unusual;
	aes_gcm_enc_dec_update_t go_on[2];
	aes_gcm_enc_dec_finalize_t end[2];
};

static struct kind aes128 = { .key_len = 16 }, aes256 = { .key_len = 32 };

union key {
	unsigned char bytes[32];
	uint64_t words[4];
};

static __thread struct {
	struct gcm_key_data expanded __attribute__((aligned(64))); /* the header forgets it */
	union key key;
	const struct kind *kind;              /* NULL: there is none */
} ready;

/* One for the next message: it is taken for the time of a message, and given back. */
static __thread struct gcm_context_data *spare;

static struct gcm_context_data *run_take(void)
{
	struct gcm_context_data *run = spare;

	spare = NULL;
	return run ? run : OPENSSL_malloc(sizeof(*run));
}

static void run_give(struct gcm_context_data **run)
{
	if (*run)
		OPENSSL_cleanse(*run, sizeof(**run));
	if (spare)
		OPENSSL_free(*run);
	else
		spare = *run;
	*run = NULL;
}

/* In a time that does not depend on them. */
static bool key_is_same(const union key *a, const union key *b)
{
	return ((a->words[0] ^ b->words[0]) | (a->words[1] ^ b->words[1]) |
		(a->words[2] ^ b->words[2]) | (a->words[3] ^ b->words[3])) == 0;
}

void tls_gcm_forget(void)
{
	if (!ready.kind)
		return;
	OPENSSL_cleanse(&ready, sizeof(ready));
}

void tls_gcm_thread_fini(void)
{
	tls_gcm_forget();
	OPENSSL_free(spare);
	spare = NULL;
}

/* --- contexts --------------------------------------------------------------------------------- */

/* Bytes of any length, which are few. */
struct bytes {
	unsigned char few[20];
	uint32_t len;
	unsigned char *many;                  /* owned; NULL: they are in <few> */
};

/* A message, in order. RECORD: of TLS 1.2, whose AAD is known; it comes in one piece. */
enum stage { GCM_NO_IV, GCM_IV, GCM_TEXT, GCM_OVER };

struct gcm {
	const struct kind *kind;
	union key key;
	struct bytes iv, aad;
	struct gcm_context_data *run;         /* owned; NULL unless <stage> is GCM_TEXT */
	unsigned char tag[TAG_LEN];
	uint32_t iv_len;                      /* of the next one */
	uint8_t tag_len;                      /* 0: there is none */
	uint8_t stage;                        /* enum stage */
	bool enc, has_key;
	bool is_record;                       /* TLS 1.2: <aad> is of a record */
	bool makes_iv;                        /* the fixed part of TLS 1.2 was given */
};

static const unsigned char *bytes_of(const struct bytes *b)
{
	return b->many ? b->many : b->few;
}

static void bytes_drop(struct bytes *b)
{
	OPENSSL_free(b->many);
	b->many = NULL;
	b->len = 0;
}

static bool bytes_append(struct bytes *b, const void *p, size_t len)
{
	if (len > UINT32_MAX - b->len)
		return false;
	if (!b->many && len <= sizeof(b->few) - b->len) {
		memcpy(b->few + b->len, p, len);
	} else {
		unsigned char *grown = OPENSSL_realloc(b->many, b->len + len);

		if (!grown)
			return false;
		if (!b->many)
			memcpy(grown, b->few, b->len);
		b->many = grown;
		memcpy(b->many + b->len, p, len);
	}
	b->len += (uint32_t)len;
	return true;
}

static bool bytes_set(struct bytes *b, const void *p, size_t len)
{
	bytes_drop(b);
	return bytes_append(b, p, len);
}

static void *gcm_new(const struct kind *kind)
{
	struct gcm *g = OPENSSL_zalloc(sizeof(*g));

	if (g) {
		g->kind = kind;
		g->iv_len = IV_USUAL;
	}
	return g;
}

static void *gcm_new_128(void *provider)
{
	return gcm_new(&aes128);
}

static void *gcm_new_256(void *provider)
{
	return gcm_new(&aes256);
}

static void gcm_free(void *ctx)
{
	struct gcm *g = ctx;

	if (!g)
		return;
	if (ready.kind == g->kind && key_is_same(&ready.key, &g->key))
		tls_gcm_forget();
	bytes_drop(&g->iv);
	bytes_drop(&g->aad);
	run_give(&g->run);
	OPENSSL_clear_free(g, sizeof(*g));
}

static void *gcm_dup(void *ctx)
{
	const struct gcm *from = ctx;
	struct gcm *g = OPENSSL_memdup(from, sizeof(*from));

	if (!g)
		return NULL;
	g->iv = g->aad = (struct bytes){ 0 };
	g->run = from->run ? run_take() : NULL;
	if (g->run)
		*g->run = *from->run;
	if (!g->run == !from->run && bytes_set(&g->iv, bytes_of(&from->iv), from->iv.len) &&
	    bytes_set(&g->aad, bytes_of(&from->aad), from->aad.len))
		return g;
	gcm_free(g);
	return NULL;
}

static const struct gcm_key_data *gcm_expand(const struct gcm *g)
{
	if (ready.kind != g->kind || !key_is_same(&ready.key, &g->key)) {
		g->kind->expand(g->key.bytes, &ready.expanded);
		ready.key = g->key;
		ready.kind = g->kind;
	}
	return &ready.expanded;
}

/* --- messages --------------------------------------------------------------------------------- */

static bool gcm_set_iv(struct gcm *g, const void *iv, size_t len)
{
	if (!len || len > IV_MAX || !bytes_set(&g->iv, iv, len))
		return false;
	g->iv_len = (uint32_t)len;
	g->stage = GCM_IV;
	return true;
}

/* The message is over: its IV must not be used again. */
static void gcm_end(struct gcm *g)
{
	bytes_drop(&g->aad);
	run_give(&g->run);
	g->stage = GCM_OVER;
	g->is_record = false;
}

static int gcm_set_params(void *ctx, const OSSL_PARAM params[]);

static int gcm_init(struct gcm *g, bool enc, struct slice key, struct slice iv,
		    const OSSL_PARAM params[])
{
	g->enc = enc;
	bytes_drop(&g->aad);
	if (g->stage == GCM_TEXT)
		gcm_end(g);
	if (key.ptr) {
		if (key.len != g->kind->key_len) {
			ERR_raise(ERR_LIB_PROV, EVP_R_INVALID_KEY_LENGTH);
			return 0;
		}
		memcpy(g->key.bytes, key.ptr, key.len);
		g->has_key = true;
		g->makes_iv = g->is_record = false;
	}
	if (iv.ptr && !gcm_set_iv(g, iv.ptr, iv.len)) {
		ERR_raise(ERR_LIB_PROV, EVP_R_INVALID_IV_LENGTH);
		return 0;
	}
	return gcm_set_params(g, params);
}

static int gcm_encrypt_init(void *ctx, const unsigned char *key, size_t key_len,
			    const unsigned char *iv, size_t iv_len, const OSSL_PARAM params[])
{
	return gcm_init(ctx, true, slice_make((const char *)key, key_len),
			slice_make((const char *)iv, iv_len), params);
}

static int gcm_decrypt_init(void *ctx, const unsigned char *key, size_t key_len,
			    const unsigned char *iv, size_t iv_len, const OSSL_PARAM params[])
{
	return gcm_init(ctx, false, slice_make((const char *)key, key_len),
			slice_make((const char *)iv, iv_len), params);
}

/* The text begins. False: it may not. */
static bool gcm_begin(struct gcm *g, const struct gcm_key_data *key)
{
	if (g->stage != GCM_IV)
		return g->stage == GCM_TEXT;
	g->run = run_take();
	if (!g->run)
		return false;
	if (g->iv.len == IV_USUAL)
		g->kind->begin(key, g->run, bytes_of(&g->iv), bytes_of(&g->aad), g->aad.len);
	else
		g->kind->begin_unusual(key, g->run, bytes_of(&g->iv), g->iv.len,
				       bytes_of(&g->aad), g->aad.len);
	g->stage = GCM_TEXT;
	return true;
}

static int gcm_record(struct gcm *g, unsigned char *out, size_t *out_len, const unsigned char *in,
		      size_t len);

static int gcm_update(void *ctx, unsigned char *out, size_t *out_len, size_t out_size,
		      const unsigned char *in, size_t len)
{
	struct gcm *g = ctx;
	const struct gcm_key_data *key;

	*out_len = 0;
	if (!len)
		return 1;
	if (!g->has_key || !in || (out && out_size < len))
		return 0;
	if (g->is_record)
		return gcm_record(g, out, out_len, in, len);
	if (!out) {
		if (g->stage != GCM_IV || !bytes_append(&g->aad, in, len))
			return 0;
		*out_len = len;
		return 1;
	}
	key = gcm_expand(g);
	if (!gcm_begin(g, key))
		return 0;
	g->kind->go_on[g->enc](key, g->run, out, in, len);
	*out_len = len;
	return 1;
}

static int gcm_final(void *ctx, unsigned char *out, size_t *out_len, size_t out_size)
{
	struct gcm *g = ctx;
	const struct gcm_key_data *key;
	unsigned char tag[TAG_LEN];
	bool good;

	*out_len = 0;
	if (!g->has_key || (!g->enc && !g->tag_len))
		return 0;
	key = gcm_expand(g);
	if (!gcm_begin(g, key))
		return 0;
	g->kind->end[g->enc](key, g->run, tag, TAG_LEN);
	gcm_end(g);
	good = g->enc || CRYPTO_memcmp(tag, g->tag, g->tag_len) == 0;
	if (g->enc) {
		memcpy(g->tag, tag, TAG_LEN);
		g->tag_len = TAG_LEN;
	}
	OPENSSL_cleanse(tag, sizeof(tag));
	return good;
}

static int gcm_cipher(void *ctx, unsigned char *out, size_t *out_len, size_t out_size,
		      const unsigned char *in, size_t len)
{
	return in ? gcm_update(ctx, out, out_len, out_size, in, len) :
	       gcm_final(ctx, out, out_len, out_size);
}

/* --- records of TLS 1.2 (RFC 5288): explicit IV, text, tag, in place -------------------------- */

static void count_up(unsigned char *p)
{
	for (int i = EXPLICIT - 1; i >= 0 && !++p[i]; i--)
		;
}

static int gcm_record(struct gcm *g, unsigned char *out, size_t *out_len, const unsigned char *in,
		      size_t len)
{
	const struct gcm_key_data *key;
	unsigned char tag[TAG_LEN], *iv = g->iv.few + IV_USUAL - EXPLICIT, *text = out + EXPLICIT;
	size_t text_len = len - EXPLICIT - TAG_LEN;
	int good = 1;

	if (out != in || len < EXPLICIT + TAG_LEN || !g->makes_iv || g->iv.len != IV_USUAL ||
	    !(g->run = run_take())) {
		gcm_end(g);
		return 0;
	}
	key = gcm_expand(g);
	memcpy(g->enc ? out : iv, g->enc ? iv : out, EXPLICIT);
	g->kind->one[g->enc](key, g->run, text, text, text_len, g->iv.few, bytes_of(&g->aad),
			     g->aad.len, tag, TAG_LEN);
	if (g->enc) {
		memcpy(text + text_len, tag, TAG_LEN);
		count_up(iv);
	} else if (CRYPTO_memcmp(tag, text + text_len, TAG_LEN) != 0) {
		OPENSSL_cleanse(out, len);
		good = 0;
	}
	OPENSSL_cleanse(tag, sizeof(tag));
	*out_len = g->enc ? len : text_len;
	gcm_end(g);
	return good;
}

/* --- parameters ------------------------------------------------------------------------------- */

/* The AAD of a record: the length in it counts what surrounds the text, and must not. */
static bool set_record_aad(struct gcm *g, const OSSL_PARAM *p)
{
	unsigned char aad[EVP_AEAD_TLS1_AAD_LEN];
	size_t len, around = g->enc ? EXPLICIT : EXPLICIT + TAG_LEN;

	if (p->data_size != sizeof(aad))
		return false;
	memcpy(aad, p->data, sizeof(aad));
	len = (size_t)aad[11] << 8 | aad[12];
	if (len < around)
		return false;
	len -= around;
	aad[11] = (unsigned char)(len >> 8);
	aad[12] = (unsigned char)len;
	g->is_record = true;
	return bytes_set(&g->aad, aad, sizeof(aad));
}

static bool set_fixed_iv(struct gcm *g, const OSSL_PARAM *p)
{
	unsigned char iv[IV_USUAL];

	if (p->data_size == (size_t)-1) { /* all of it */
		g->makes_iv = true;
		return gcm_set_iv(g, p->data, g->iv_len);
	}
	if (p->data_size != IV_USUAL - EXPLICIT || g->iv_len != IV_USUAL)
		return false;
	memcpy(iv, p->data, p->data_size);
	if (g->enc && RAND_bytes(iv + p->data_size, EXPLICIT) <= 0)
		return false;
	if (!g->enc)
		memset(iv + p->data_size, 0, EXPLICIT);
	g->makes_iv = true;
	return gcm_set_iv(g, iv, sizeof(iv));
}

static bool set_explicit_iv(struct gcm *g, const OSSL_PARAM *p)
{
	if (!g->makes_iv || g->enc || p->data_size > g->iv.len || g->iv.many)
		return false;
	memcpy(g->iv.few + g->iv.len - p->data_size, p->data, p->data_size);
	g->stage = GCM_IV;
	return true;
}

static bool set_tag(struct gcm *g, const OSSL_PARAM *p)
{
	if (!p->data_size || p->data_size > TAG_LEN || (p->data && g->enc))
		return false;
	if (p->data)
		memcpy(g->tag, p->data, p->data_size);
	g->tag_len = (uint8_t)p->data_size;
	return true;
}

static bool set_iv_len(struct gcm *g, const OSSL_PARAM *p)
{
	size_t len;

	if (!OSSL_PARAM_get_size_t(p, &len) || !len || len > IV_MAX)
		return false;
	if (len != g->iv_len)
		g->stage = GCM_NO_IV;
	g->iv_len = (uint32_t)len;
	return true;
}

static bool get_iv(struct gcm *g, OSSL_PARAM *p)
{
	if (g->stage == GCM_NO_IV || p->data_size < g->iv.len)
		return false;
	return OSSL_PARAM_set_octet_string(p, bytes_of(&g->iv), g->iv.len) ||
	       OSSL_PARAM_set_octet_ptr(p, bytes_of(&g->iv), g->iv.len);
}

static bool get_tag(struct gcm *g, OSSL_PARAM *p)
{
	if (!g->enc || !g->tag_len || !p->data_size || p->data_size > g->tag_len)
		return false;
	return OSSL_PARAM_set_octet_string(p, g->tag, p->data_size);
}

/* The explicit part of the next record's IV; the one after it follows. */
static bool get_next_iv(struct gcm *g, OSSL_PARAM *p)
{
	size_t len = p->data_size;

	if (!g->makes_iv || g->iv.len != IV_USUAL)
		return false;
	if (!len || len > g->iv.len)
		len = g->iv.len;
	if (!OSSL_PARAM_set_octet_string(p, g->iv.few + g->iv.len - len, len))
		return false;
	count_up(g->iv.few + IV_USUAL - EXPLICIT);
	g->stage = GCM_IV;
	return true;
}

static bool get_key_len(struct gcm *g, OSSL_PARAM *p)
{
	return OSSL_PARAM_set_size_t(p, g->kind->key_len);
}

static bool get_iv_len(struct gcm *g, OSSL_PARAM *p)
{
	return OSSL_PARAM_set_size_t(p, g->iv_len);
}

static bool get_tag_len(struct gcm *g, OSSL_PARAM *p)
{
	return OSSL_PARAM_set_size_t(p, g->tag_len ? g->tag_len : TAG_LEN);
}

static bool get_record_pad(struct gcm *g, OSSL_PARAM *p)
{
	return OSSL_PARAM_set_size_t(p, TAG_LEN);
}

static const struct parameter {
	const char *name;
	bool (*get)(struct gcm *g, OSSL_PARAM *p);
	bool (*set)(struct gcm *g, const OSSL_PARAM *p);
} parameters[] = { /* the ones that each record needs are the first ones */
	{ OSSL_CIPHER_PARAM_AEAD_TAG, get_tag, set_tag },
	{ OSSL_CIPHER_PARAM_AEAD_TLS1_AAD, NULL, set_record_aad },
	{ OSSL_CIPHER_PARAM_AEAD_TLS1_AAD_PAD, get_record_pad, NULL },
	{ OSSL_CIPHER_PARAM_IVLEN, get_iv_len, set_iv_len },
	{ OSSL_CIPHER_PARAM_KEYLEN, get_key_len, NULL },
	{ OSSL_CIPHER_PARAM_AEAD_TAGLEN, get_tag_len, NULL },
	{ OSSL_CIPHER_PARAM_IV, get_iv, NULL },
	{ OSSL_CIPHER_PARAM_UPDATED_IV, get_iv, NULL },
	{ OSSL_CIPHER_PARAM_AEAD_TLS1_IV_FIXED, NULL, set_fixed_iv },
	{ OSSL_CIPHER_PARAM_AEAD_TLS1_GET_IV_GEN, get_next_iv, NULL },
	{ OSSL_CIPHER_PARAM_AEAD_TLS1_SET_IV_INV, NULL, set_explicit_iv },
	{ 0 }
};

static const struct parameter *parameter_find(const char *name)
{
	const struct parameter *p = parameters;

	while (p->name && strcmp(p->name, name) != 0)
		p++;
	return p; /* the last one, which does nothing, for those that are not known */
}

static int gcm_set_params(void *ctx, const OSSL_PARAM params[])
{
	for (const OSSL_PARAM *p = params; p && p->key; p++) {
		const struct parameter *known = parameter_find(p->key);

		if (known->set && !known->set(ctx, p))
			return 0;
	}
	return 1;
}

static int gcm_get_params(void *ctx, OSSL_PARAM params[])
{
	for (OSSL_PARAM *p = params; p && p->key; p++) {
		const struct parameter *known = parameter_find(p->key);

		if (known->get && !known->get(ctx, p))
			return 0;
	}
	return 1;
}

static const OSSL_PARAM *gcm_gettable(void *ctx, void *provider)
{
	static const OSSL_PARAM list[] = {
		OSSL_PARAM_size_t(OSSL_CIPHER_PARAM_KEYLEN, NULL),
		OSSL_PARAM_size_t(OSSL_CIPHER_PARAM_IVLEN, NULL),
		OSSL_PARAM_size_t(OSSL_CIPHER_PARAM_AEAD_TAGLEN, NULL),
		OSSL_PARAM_octet_string(OSSL_CIPHER_PARAM_IV, NULL, 0),
		OSSL_PARAM_octet_string(OSSL_CIPHER_PARAM_UPDATED_IV, NULL, 0),
		OSSL_PARAM_octet_string(OSSL_CIPHER_PARAM_AEAD_TAG, NULL, 0),
		OSSL_PARAM_size_t(OSSL_CIPHER_PARAM_AEAD_TLS1_AAD_PAD, NULL),
		OSSL_PARAM_octet_string(OSSL_CIPHER_PARAM_AEAD_TLS1_GET_IV_GEN, NULL, 0),
		OSSL_PARAM_END
	};

	return list;
}

static const OSSL_PARAM *gcm_settable(void *ctx, void *provider)
{
	static const OSSL_PARAM list[] = {
		OSSL_PARAM_size_t(OSSL_CIPHER_PARAM_AEAD_IVLEN, NULL),
		OSSL_PARAM_octet_string(OSSL_CIPHER_PARAM_AEAD_TAG, NULL, 0),
		OSSL_PARAM_octet_string(OSSL_CIPHER_PARAM_AEAD_TLS1_AAD, NULL, 0),
		OSSL_PARAM_octet_string(OSSL_CIPHER_PARAM_AEAD_TLS1_IV_FIXED, NULL, 0),
		OSSL_PARAM_octet_string(OSSL_CIPHER_PARAM_AEAD_TLS1_SET_IV_INV, NULL, 0),
		OSSL_PARAM_END
	};

	return list;
}

/* Of the algorithm. */
static int kind_get_params(const struct kind *kind, OSSL_PARAM params[])
{
	const struct { const char *name; size_t value; } facts[] = {
		{ OSSL_CIPHER_PARAM_MODE, EVP_CIPH_GCM_MODE },
		{ OSSL_CIPHER_PARAM_KEYLEN, kind->key_len },
		{ OSSL_CIPHER_PARAM_IVLEN, IV_USUAL },
		{ OSSL_CIPHER_PARAM_BLOCK_SIZE, 1 },
		{ OSSL_CIPHER_PARAM_AEAD, 1 },
		{ OSSL_CIPHER_PARAM_CUSTOM_IV, 1 },
	};

	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
		OSSL_PARAM *p = OSSL_PARAM_locate(params, facts[i].name);
		bool is_size = p && p->data_type == OSSL_PARAM_UNSIGNED_INTEGER;

		if (p && !(is_size ? OSSL_PARAM_set_size_t(p, facts[i].value) :
			   OSSL_PARAM_set_int(p, (int)facts[i].value)))
			return 0;
	}
	return 1;
}

static int get_params_128(OSSL_PARAM params[])
{
	return kind_get_params(&aes128, params);
}

static int get_params_256(OSSL_PARAM params[])
{
	return kind_get_params(&aes256, params);
}

/* --- the provider ----------------------------------------------------------------------------- */

#define FUNCTION(id, function) { OSSL_FUNC_CIPHER_##id, (void (*)(void))(function) }
#define FUNCTIONS(name) \
static const OSSL_DISPATCH functions_##name[] = { \
	FUNCTION(NEWCTX, gcm_new_##name), FUNCTION(GET_PARAMS, get_params_##name), \
	FUNCTION(FREECTX, gcm_free), FUNCTION(DUPCTX, gcm_dup), \
	FUNCTION(ENCRYPT_INIT, gcm_encrypt_init), FUNCTION(DECRYPT_INIT, gcm_decrypt_init), \
	FUNCTION(UPDATE, gcm_update), FUNCTION(FINAL, gcm_final), FUNCTION(CIPHER, gcm_cipher), \
	FUNCTION(GET_CTX_PARAMS, gcm_get_params), FUNCTION(SET_CTX_PARAMS, gcm_set_params), \
	FUNCTION(GETTABLE_CTX_PARAMS, gcm_gettable), \
	FUNCTION(SETTABLE_CTX_PARAMS, gcm_settable), { 0, NULL } \
}
FUNCTIONS(128);
FUNCTIONS(256);

#define PROPERTY "haproxy.records=yes"

static const OSSL_ALGORITHM *provider_query(void *provider, int operation, int *no_cache)
{
	static const OSSL_ALGORITHM ciphers[] = {
		{ "AES-128-GCM:id-aes128-GCM:2.16.840.1.101.3.4.1.6",
		  "provider=haproxy," PROPERTY, functions_128, "AES-128-GCM by ipsec-mb" },
		{ "AES-256-GCM:id-aes256-GCM:2.16.840.1.101.3.4.1.46",
		  "provider=haproxy," PROPERTY, functions_256, "AES-256-GCM by ipsec-mb" },
		{ NULL, NULL, NULL, NULL }
	};

	*no_cache = 0;
	return operation == OSSL_OP_CIPHER ? ciphers : NULL;
}

static int provider_init(const OSSL_CORE_HANDLE *handle, const OSSL_DISPATCH *core,
			 const OSSL_DISPATCH **out, void **provider)
{
	static const OSSL_DISPATCH functions[] = {
		{ OSSL_FUNC_PROVIDER_QUERY_OPERATION, (void (*)(void))provider_query },
		{ 0, NULL }
	};

	*out = functions;
	*provider = (void *)(uintptr_t)handle;
	return 1;
}

#define FILL(kind, bits) \
	(kind).expand = m->gcm##bits##_pre; \
	(kind).one[0] = m->gcm##bits##_dec; \
	(kind).one[1] = m->gcm##bits##_enc; \
	(kind).begin = m->gcm##bits##_init; \
	(kind).begin_unusual = m->gcm##bits##_init_var_iv; \
	(kind).go_on[0] = m->gcm##bits##_dec_update; \
	(kind).go_on[1] = m->gcm##bits##_enc_update; \
	(kind).end[0] = m->gcm##bits##_dec_finalize; \
	(kind).end[1] = m->gcm##bits##_enc_finalize

/* The functions for this CPU. False: OpenSSL's are as good. */
static bool find_functions(void)
{
	const uint64_t needed = IMB_FEATURE_VAES | IMB_FEATURE_VPCLMULQDQ;
	IMB_MGR *m = alloc_mb_mgr(0);
	bool wide = m && (m->features & needed) == needed;
	IMB_ARCH arch = IMB_ARCH_NONE;

	if (wide) {
		init_mb_mgr_auto(m, &arch);
		FILL(aes128, 128);
		FILL(aes256, 256);
	}
	if (m)
		free_mb_mgr(m);
	return arch == IMB_ARCH_AVX512;
}

static OSSL_PROVIDER *loaded; /* for good */

static void load_block(void)
{
	/* the one of OpenSSL stays: it has all the other algorithms */
	if (find_functions() && OSSL_PROVIDER_add_builtin(NULL, "haproxy", provider_init))
		loaded = OSSL_PROVIDER_try_load(NULL, "haproxy", 1);
	ERR_clear_error();
}

const char *tls_gcm_properties(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, load_block);
	return loaded ? "?" PROPERTY : NULL;
}
