/* SPDX-License-Identifier: GPL-2.0-or-later */
/* keys_priv.h - QUIC: key derivation and packet protection (keys.c), for versions 1 and 2, which
 * differ in labels and constants
 *
 * Owns   : a struct quic_keys owns its OpenSSL contexts; zeroed, it has none.
 * Threads: pure, apart from these contexts.
 * Source : RFC 9001 5, 6, RFC 9369 3.3
 */
#ifndef QUIC_KEYS_PRIV_H
#define QUIC_KEYS_PRIV_H

#include <openssl/evp.h>
#include "codec/quic.h"
#include "net/quic_tls.h"

#define QUIC_TAG_LEN 16
#define QUIC_SAMPLE_LEN 16

/* The keys of one direction of one level. */
struct quic_keys {
	EVP_CIPHER_CTX *aead, *hp;     /* owned; NULL: no keys */
	uint8_t iv[12];
	uint8_t secret[QUIC_SECRET_MAX];
	uint8_t secret_len;
	bool second;                   /* for QUIC version 2 */
	uint16_t suite;                /* enum quic_suite */
	bool seal;                     /* true: for protecting, false: for opening */
};

/* A traffic secret, borrowed, with its cipher suite and QUIC version. */
struct quic_secret {
	const uint8_t *bytes;
	size_t len;
	unsigned suite;
	uint32_t version;              /* of QUIC */
};

/* Derives keys from a traffic secret. <hp>: header protection too. False: no suite, no memory. */
bool quic_keys_make(struct quic_keys *k, const struct quic_secret *s, bool seal, bool hp);
/* Derives keys of Initial packets (RFC 9001 5.2). <client>: for packets that the client sends. */
bool quic_keys_initial(struct quic_keys *k, uint32_t version, const struct quic_cid *dcid,
		       bool client, bool seal);
/* Derives the next keys (RFC 9001 6); the header protection key does not change, is not made. */
bool quic_keys_next(struct quic_keys *next, const struct quic_keys *now);
void quic_keys_free(struct quic_keys *k);
/* Computes the header protection mask, 5 bytes, from a sample. */
bool quic_header_mask(const struct quic_keys *k, const uint8_t *sample, uint8_t *mask);
/* quic_seal() protects <len> bytes in place and writes the tag after them; quic_open() opens <len>
 * bytes, which include the tag, in place. Return false: failed, or not authentic.
 */
bool quic_seal(const struct quic_keys *k, uint64_t pn, const uint8_t *head, size_t head_len,
	       uint8_t *bytes, size_t len);
bool quic_open(const struct quic_keys *k, uint64_t pn, const uint8_t *head, size_t head_len,
	       uint8_t *bytes, size_t len);
/* Computes the integrity tag of a Retry packet (RFC 9001 5.8). */
bool quic_retry_tag(uint32_t version, const struct quic_cid *odcid, const uint8_t *packet,
		    size_t len, uint8_t *tag);
/* Computes HMAC-SHA-256, 32 bytes. Returns false: no memory. */
bool quic_hmac(const uint8_t *key, size_t key_len, const uint8_t *bytes, size_t len, uint8_t *out);

#endif
