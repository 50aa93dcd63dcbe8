/* SPDX-License-Identifier: GPL-2.0-or-later */
/* token.c - QUIC: our connection ids, stateless reset tokens, tokens of Retry packets
 *
 * All of them are derived from one secret, `cluster-secret` or a random one of the process, so no
 * state has to be kept.
 */
#include <openssl/crypto.h>
#include <string.h>
#include <sys/random.h>
#include "base/addr.h"
#include "keys_priv.h"
#include "token_priv.h"

/* How long a client may take to come back with its token. */
#define TOKEN_LIFE_S 10
#define TOKEN_TYPE 0x52
#define TOKEN_TAG_LEN 16

static uint8_t secret[32]; /* set before the threads */

bool quic_secret_set(const void *bytes, size_t len)
{
	static const uint8_t label[] = "quic tokens";

	if (bytes)
		return quic_hmac(label, sizeof(label), bytes, len, secret);
	return getrandom(secret, sizeof(secret), 0) == (ssize_t)sizeof(secret);
}

bool quic_cid_new(struct quic_cid *cid, unsigned thread)
{
	cid->len = QUIC_OUR_CID_LEN;
	if (getrandom(cid->bytes, QUIC_OUR_CID_LEN, 0) != QUIC_OUR_CID_LEN)
		return false;
	cid->bytes[0] = (uint8_t)(thread >> 8);
	cid->bytes[1] = (uint8_t)thread;
	return true;
}

unsigned quic_cid_thread(const struct quic_cid *cid)
{
	return (unsigned)cid->bytes[0] << 8 | cid->bytes[1];
}

bool quic_reset_token(const struct quic_cid *cid, uint8_t *token)
{
	uint8_t digest[32];

	if (!quic_hmac(secret, sizeof(secret), cid->bytes, cid->len, digest))
		return false;
	memcpy(token, digest, QUIC_RESET_TOKEN_LEN);
	return true;
}

/* The tag of a token's <len> bytes for a client. */
static bool token_tag(const uint8_t *token, size_t len, const struct addr *peer,
		      const struct quic_cid *scid, uint8_t *tag)
{
	uint8_t all[QUIC_TOKEN_MAX + 18 + QUIC_CID_MAX], digest[32];
	struct addr from = addr_to_v6(peer);
	size_t n = len;

	memcpy(all, token, len);
	memcpy(all + n, from.v6, sizeof(from.v6));
	n += sizeof(from.v6);
	all[n++] = (uint8_t)(peer->port >> 8);
	all[n++] = (uint8_t)peer->port;
	memcpy(all + n, scid->bytes, scid->len);
	n += scid->len;
	if (!quic_hmac(secret, sizeof(secret), all, n, digest))
		return false;
	memcpy(tag, digest, TOKEN_TAG_LEN);
	return true;
}

size_t quic_token_make(uint8_t *room, const struct addr *peer, const struct quic_cid *odcid,
		       const struct quic_cid *scid, uint64_t now_s)
{
	size_t n = 0;

	room[n++] = TOKEN_TYPE;
	for (unsigned i = 0; i < 4; i++)
		room[n++] = (uint8_t)(now_s >> (24 - 8 * i));
	room[n++] = odcid->len;
	memcpy(room + n, odcid->bytes, odcid->len);
	n += odcid->len;
	return token_tag(room, n, peer, scid, room + n) ? n + TOKEN_TAG_LEN : 0;
}

bool quic_token_is_retry(const uint8_t *token, size_t len)
{
	return len >= 6 + TOKEN_TAG_LEN && token[0] == TOKEN_TYPE && token[5] <= QUIC_CID_MAX &&
	       len == 6u + token[5] + TOKEN_TAG_LEN;
}

bool quic_token_check(const uint8_t *token, size_t len, const struct addr *peer,
		      const struct quic_cid *scid, uint64_t now_s, struct quic_cid *odcid)
{
	uint8_t tag[TOKEN_TAG_LEN];
	uint32_t made = 0;
	size_t body;

	if (!quic_token_is_retry(token, len))
		return false;
	body = len - TOKEN_TAG_LEN;
	if (!token_tag(token, body, peer, scid, tag) ||
	    CRYPTO_memcmp(tag, token + body, sizeof(tag)) != 0)
		return false;
	for (unsigned i = 1; i < 5; i++)
		made = made << 8 | token[i];
	odcid->len = token[5];
	memcpy(odcid->bytes, token + 6, odcid->len);
	/* (the clock of the node that made it may be ahead) */
	return (uint32_t)now_s - made + TOKEN_LIFE_S <= 2 * TOKEN_LIFE_S;
}
