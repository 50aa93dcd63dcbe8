/* SPDX-License-Identifier: GPL-2.0-or-later */
/* keys_priv.h - QUIC: from secrets to keys, and the protection of packets (keys.c), of
 * versions 1 and 2, which differ in labels and constants
 *
 * Owns   : a struct quic_keys owns its contexts of OpenSSL; zeroed, it has none.
 * Threads: pure but for these.
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
	EVP_CIPHER_CTX *aead, *hp;     /* owned; NULL: there are none */
	uint8_t iv[12];
	uint8_t secret[QUIC_SECRET_MAX];
	uint8_t secret_len;
	bool second;                   /* of QUIC version 2 */
	uint16_t suite;                /* enum quic_suite */
	bool seal;                     /* to protect, not to open */
};

/* A traffic secret, borrowed, and what it is for. */
struct quic_secret {
	const uint8_t *bytes;
	size_t len;
	unsigned suite;
	uint32_t version;              /* of QUIC */
};

/* Keys of a traffic secret. <hp>: those for headers too. False: no such suite, no memory. */
bool quic_keys_make(struct quic_keys *k, const struct quic_secret *s, bool seal, bool hp);
/* Keys of Initial packets (RFC 9001 5.2). <client>: of those that the client sends. */
bool quic_keys_initial(struct quic_keys *k, uint32_t version, const struct quic_cid *dcid,
		       bool client, bool seal);
/* The keys that follow (RFC 9001 6), without those for headers, which stay. */
bool quic_keys_next(struct quic_keys *next, const struct quic_keys *now);
void quic_keys_free(struct quic_keys *k);
/* The mask for a header, of a sample: 5 bytes. */
bool quic_header_mask(const struct quic_keys *k, const uint8_t *sample, uint8_t *mask);
/* Protects <len> bytes in place and adds the tag behind them / opens <len> bytes, their tag
 * included, in place. False: they are not authentic.
 */
bool quic_seal(const struct quic_keys *k, uint64_t pn, const uint8_t *head, size_t head_len,
	       uint8_t *bytes, size_t len);
bool quic_open(const struct quic_keys *k, uint64_t pn, const uint8_t *head, size_t head_len,
	       uint8_t *bytes, size_t len);
/* The integrity tag of a Retry packet (RFC 9001 5.8). */
bool quic_retry_tag(uint32_t version, const struct quic_cid *odcid, const uint8_t *packet,
		    size_t len, uint8_t *tag);
/* HMAC with SHA-256, 32 bytes. False: no memory. */
bool quic_hmac(const uint8_t *key, size_t key_len, const uint8_t *bytes, size_t len, uint8_t *out);

#endif
