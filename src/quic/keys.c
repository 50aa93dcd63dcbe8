/* SPDX-License-Identifier: GPL-2.0-or-later */
/* keys.c - QUIC: from secrets to keys, and the protection of packets (RFC 9001 5, RFC 9369 3.3) */
#include <openssl/err.h>
#include <openssl/hmac.h>
#include <string.h>
#include "keys_priv.h"

/* --- key derivation (RFC 5869, RFC 8446 7.1) -------------------------------------------------- */

static const EVP_MD *digest_of(unsigned suite)
{
	return suite == QUIC_AES_256_GCM ? EVP_sha384() : EVP_sha256();
}

/* The labels of keys, by version. */
struct labels {
	const char *key, *iv, *hp, *next;
};

static const struct labels *labels_of(bool second)
{
	static const struct labels labels[] = {
		{ "quic key", "quic iv", "quic hp", "quic ku" },
		{ "quicv2 key", "quicv2 iv", "quicv2 hp", "quicv2 ku" },
	};

	return &labels[second];
}

/* HKDF-Expand-Label with an empty context; <len> is at most one digest, so one round is enough. */
static bool expand(const EVP_MD *md, const uint8_t *secret, size_t secret_len, const char *label,
		   uint8_t *out, size_t len)
{
	uint8_t info[64], digest[EVP_MAX_MD_SIZE];
	size_t n = strlen(label), at = 0;
	unsigned got = 0;

	info[at++] = 0;
	info[at++] = (uint8_t)len;
	info[at++] = (uint8_t)(6 + n);
	memcpy(info + at, "tls13 ", 6);
	memcpy(info + at + 6, label, n);
	at += 6 + n;
	info[at++] = 0;
	info[at++] = 1; /* the number of the round */
	if (!HMAC(md, secret, (int)secret_len, info, at, digest, &got) || got < len)
		return false;
	memcpy(out, digest, len);
	OPENSSL_cleanse(digest, sizeof(digest));
	return true;
}

bool quic_hmac(const uint8_t *key, size_t key_len, const uint8_t *bytes, size_t len, uint8_t *out)
{
	unsigned got;

	return HMAC(EVP_sha256(), key, (int)key_len, bytes, len, out, &got) != NULL;
}

/* --- keys ------------------------------------------------------------------------------------- */

void quic_keys_free(struct quic_keys *k)
{
	EVP_CIPHER_CTX_free(k->aead);
	EVP_CIPHER_CTX_free(k->hp);
	OPENSSL_cleanse(k, sizeof(*k));
}

static const EVP_CIPHER *aead_of(unsigned suite)
{
	switch (suite) {
	case QUIC_AES_128_GCM:
		return EVP_aes_128_gcm();
	case QUIC_AES_256_GCM:
		return EVP_aes_256_gcm();
	case QUIC_CHACHA20_POLY1305:
		return EVP_chacha20_poly1305();
	}
	return NULL;
}

static const EVP_CIPHER *header_cipher_of(unsigned suite)
{
	switch (suite) {
	case QUIC_AES_128_GCM:
		return EVP_aes_128_ecb();
	case QUIC_AES_256_GCM:
		return EVP_aes_256_ecb();
	default:
		return EVP_chacha20();
	}
}

static bool make_header_key(struct quic_keys *k)
{
	size_t len = k->suite == QUIC_AES_128_GCM ? 16 : 32;
	uint8_t key[32];
	bool ok;

	k->hp = EVP_CIPHER_CTX_new();
	ok = k->hp &&
	     expand(digest_of(k->suite), k->secret, k->secret_len, labels_of(k->second)->hp, key,
		    len) &&
	     EVP_EncryptInit_ex(k->hp, header_cipher_of(k->suite), NULL, key, NULL) == 1;
	if (ok)
		EVP_CIPHER_CTX_set_padding(k->hp, 0);
	OPENSSL_cleanse(key, sizeof(key));
	return ok;
}

bool quic_keys_make(struct quic_keys *k, const struct quic_secret *s, bool seal, bool hp)
{
	const EVP_CIPHER *cipher = aead_of(s->suite);
	const EVP_MD *md = digest_of(s->suite);
	size_t key_len = s->suite == QUIC_AES_128_GCM ? 16 : 32;
	const struct labels *labels;
	uint8_t key[32];
	bool ok;

	*k = (struct quic_keys){
		.suite = (uint16_t)s->suite, .seal = seal, .second = s->version == QUIC_VERSION_2,
	};
	if (!cipher || s->len > sizeof(k->secret))
		return false;
	memcpy(k->secret, s->bytes, s->len);
	k->secret_len = (uint8_t)s->len;
	labels = labels_of(k->second);
	k->aead = EVP_CIPHER_CTX_new();
	ok = k->aead && expand(md, s->bytes, s->len, labels->key, key, key_len) &&
	     expand(md, s->bytes, s->len, labels->iv, k->iv, sizeof(k->iv)) &&
	     EVP_CipherInit_ex(k->aead, cipher, NULL, key, NULL, seal) == 1 &&
	     (!hp || make_header_key(k));
	OPENSSL_cleanse(key, sizeof(key));
	if (!ok)
		quic_keys_free(k);
	ERR_clear_error();
	return ok;
}

bool quic_keys_initial(struct quic_keys *k, uint32_t version, const struct quic_cid *dcid,
		       bool client, bool seal)
{
	static const uint8_t salts[2][20] = { {
		0x38, 0x76, 0x2c, 0xf7, 0xf5, 0x59, 0x34, 0xb3, 0x4d, 0x17,
		0x9a, 0xe6, 0xa4, 0xc8, 0x0c, 0xad, 0xcc, 0xbb, 0x7f, 0x0a,
	}, {
		0x0d, 0xed, 0xe3, 0xde, 0xf7, 0x00, 0xa6, 0xdb, 0x81, 0x93,
		0x81, 0xbe, 0x6e, 0x26, 0x9d, 0xcb, 0xf9, 0xbd, 0x2e, 0xd9,
	} };
	uint8_t first[32], bytes[32];
	struct quic_secret s = { bytes, sizeof(bytes), QUIC_AES_128_GCM, version };

	return quic_hmac(salts[version == QUIC_VERSION_2], sizeof(salts[0]), dcid->bytes, dcid->len,
			 first) &&
	       expand(EVP_sha256(), first, sizeof(first), client ? "client in" : "server in",
		      bytes, sizeof(bytes)) &&
	       quic_keys_make(k, &s, seal, true);
}

bool quic_keys_next(struct quic_keys *next, const struct quic_keys *now)
{
	uint8_t bytes[QUIC_SECRET_MAX];
	struct quic_secret s = { bytes, now->secret_len, now->suite,
				 now->second ? QUIC_VERSION_2 : QUIC_VERSION_1 };
	bool ok = expand(digest_of(now->suite), now->secret, now->secret_len,
			 labels_of(now->second)->next, bytes, now->secret_len) &&
		  quic_keys_make(next, &s, now->seal, false);

	OPENSSL_cleanse(bytes, sizeof(bytes));
	return ok;
}

/* --- packets ---------------------------------------------------------------------------------- */

bool quic_header_mask(const struct quic_keys *k, const uint8_t *sample, uint8_t *mask)
{
	static const uint8_t zeros[5];
	uint8_t out[QUIC_SAMPLE_LEN + 16];
	int len;

	if (k->suite == QUIC_CHACHA20_POLY1305)
		/* counter and nonce, as OpenSSL wants them */
		return EVP_EncryptInit_ex(k->hp, NULL, NULL, NULL, sample) == 1 &&
		       EVP_EncryptUpdate(k->hp, mask, &len, zeros, sizeof(zeros)) == 1;
	if (EVP_EncryptUpdate(k->hp, out, &len, sample, QUIC_SAMPLE_LEN) != 1)
		return false;
	memcpy(mask, out, 5);
	return true;
}

static void nonce_of(const struct quic_keys *k, uint64_t pn, uint8_t *nonce)
{
	memcpy(nonce, k->iv, sizeof(k->iv));
	for (unsigned i = 0; i < 8; i++)
		nonce[11 - i] ^= (uint8_t)(pn >> 8 * i);
}

bool quic_seal(const struct quic_keys *k, uint64_t pn, const uint8_t *head, size_t head_len,
	       uint8_t *bytes, size_t len)
{
	uint8_t nonce[12];
	int n;

	nonce_of(k, pn, nonce);
	return EVP_EncryptInit_ex(k->aead, NULL, NULL, NULL, nonce) == 1 &&
	       EVP_EncryptUpdate(k->aead, NULL, &n, head, (int)head_len) == 1 &&
	       EVP_EncryptUpdate(k->aead, bytes, &n, bytes, (int)len) == 1 &&
	       EVP_EncryptFinal_ex(k->aead, bytes + n, &n) == 1 &&
	       EVP_CIPHER_CTX_ctrl(k->aead, EVP_CTRL_AEAD_GET_TAG, QUIC_TAG_LEN, bytes + len) == 1;
}

bool quic_open(const struct quic_keys *k, uint64_t pn, const uint8_t *head, size_t head_len,
	       uint8_t *bytes, size_t len)
{
	uint8_t nonce[12];
	int n;

	if (len < QUIC_TAG_LEN)
		return false;
	len -= QUIC_TAG_LEN;
	nonce_of(k, pn, nonce);
	return EVP_DecryptInit_ex(k->aead, NULL, NULL, NULL, nonce) == 1 &&
	       EVP_CIPHER_CTX_ctrl(k->aead, EVP_CTRL_AEAD_SET_TAG, QUIC_TAG_LEN,
				   bytes + len) == 1 &&
	       EVP_DecryptUpdate(k->aead, NULL, &n, head, (int)head_len) == 1 &&
	       EVP_DecryptUpdate(k->aead, bytes, &n, bytes, (int)len) == 1 &&
	       EVP_DecryptFinal_ex(k->aead, bytes + n, &n) == 1;
}

bool quic_retry_tag(uint32_t version, const struct quic_cid *odcid, const uint8_t *packet,
		    size_t len, uint8_t *tag)
{
	static const uint8_t keys[2][16] = {
		{ 0xbe, 0x0c, 0x69, 0x0b, 0x9f, 0x66, 0x57, 0x5a,
		  0x1d, 0x76, 0x6b, 0x54, 0xe3, 0x68, 0xc8, 0x4e },
		{ 0x8f, 0xb4, 0xb0, 0x1b, 0x56, 0xac, 0x48, 0xe2,
		  0x60, 0xfb, 0xcb, 0xce, 0xad, 0x7c, 0xcc, 0x92 },
	};
	static const uint8_t nonces[2][12] = {
		{ 0x46, 0x15, 0x99, 0xd3, 0x5d, 0x63, 0x2b, 0xf2, 0x23, 0x98, 0x25, 0xbb },
		{ 0xd8, 0x69, 0x69, 0xbc, 0x2d, 0x7c, 0x6d, 0x99, 0x90, 0xef, 0xb0, 0x4a },
	};
	bool second = version == QUIC_VERSION_2;
	EVP_CIPHER_CTX *aead = EVP_CIPHER_CTX_new();
	uint8_t nothing[16];
	int n;
	bool ok;

	ok = aead &&
	     EVP_EncryptInit_ex(aead, EVP_aes_128_gcm(), NULL, keys[second], nonces[second]) == 1 &&
	     EVP_EncryptUpdate(aead, NULL, &n, &odcid->len, 1) == 1 &&
	     (!odcid->len || EVP_EncryptUpdate(aead, NULL, &n, odcid->bytes, odcid->len) == 1) &&
	     EVP_EncryptUpdate(aead, NULL, &n, packet, (int)len) == 1 &&
	     EVP_EncryptFinal_ex(aead, nothing, &n) == 1 &&
	     EVP_CIPHER_CTX_ctrl(aead, EVP_CTRL_AEAD_GET_TAG, QUIC_TAG_LEN, tag) == 1;
	EVP_CIPHER_CTX_free(aead);
	return ok;
}
