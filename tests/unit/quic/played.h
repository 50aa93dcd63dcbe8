/* SPDX-License-Identifier: GPL-2.0-or-later */
/* played.h - a connection of QUIC whose TLS and host are played, and packets of its client
 *
 * For tests and fuzzers: one connection at a time. Its secrets are known, so that the client's side
 * is made here, of the floor's own parts.
 */
#ifndef QUIC_PLAYED_H
#define QUIC_PLAYED_H

#include <stdlib.h>
#include <string.h>
#include "../../../src/quic/conn_priv.h"
#include "../../../src/quic/keys_priv.h"
#include "../../../src/quic/stream_priv.h"

/* Of a client's packets: one level each. */
struct played_client {
	struct quic_keys keys[QUIC_LEVELS];
	uint64_t pn[QUIC_LEVELS];
	bool phase;                    /* of its keys of the level APP */
};

/* Room for a packet with <len> bytes of frames. */
#define PLAYED_ROOM(len) ((len) + 128)

static const struct quic_packet played_first = {
	.version = QUIC_VERSION_1, .dcid = { 8, { 1, 2, 3, 4, 5, 6, 7, 8 } },
	.scid = { 4, { 1, 2, 3, 4 } },
};
static const uint8_t played_hello[1162] = { QUIC_FT_CRYPTO, 0, 5, 'h', 'e', 'l', 'l', 'o' };
static uint8_t played_secrets[4][32];
static bool played_freed;

/* Keys of one of the secrets. */
__attribute__((unused))
static bool played_keys(struct quic_keys *k, unsigned secret, bool seal)
{
	const struct quic_secret s = {
		played_secrets[secret], 32, QUIC_AES_128_GCM, QUIC_VERSION_1,
	};

	return quic_keys_make(k, &s, seal, true);
}

/* TLS: all secrets and the client's parameters at once. */
__attribute__((unused))
static bool played_secrets_are_told(struct quic_conn *q, const uint8_t *params, size_t len)
{
	const struct quic_tls_user *u = &quic_conn_tls_user;

	if (!u->params(q, params, len))
		return false;
	for (unsigned i = 0; i < 4; i++)
		if (!u->secret(q, i / 2 ? QUIC_LEVEL_APP : QUIC_LEVEL_HANDSHAKE, i % 2,
			       QUIC_AES_128_GCM, played_secrets[i], 32))
			return false;
	return true;
}

/* The host; <events> are the user's. */

static const struct quic_events played_events;

static void played_nothing(struct quic_conn *q)
{
}

static void played_forget(struct quic_conn *q)
{
	played_freed = true;
}

static void played_gone(struct quic_conn *q)
{
	q->conn = NULL;
}

static void played_ready(struct quic_conn *q)
{
	q->conn = NULL;
	quic_conn_take(q, &played_events, q);
}

static const struct quic_host played_host = {
	.later = played_nothing, .not_half_open = played_nothing, .ready = played_ready,
	.gone = played_gone, .forget = played_forget,
};

/* The user's side that all of them share. */

static void played_stream_new(void *owner, struct quic_stream *s)
{
	quic_stream_set_owner(s, owner);
}

static void played_closed(void *owner)
{
}

/* Begins a connection, and the keys of its client. NULL: no memory. */
__attribute__((unused))
static struct quic_conn *played_begin(const struct quic_listener *l, const struct quic_tls_ops *tls,
				      struct played_client *c, uint64_t now)
{
	struct quic_conn *q;

	for (unsigned i = 0; i < 4; i++)
		memset(played_secrets[i], (int)i + 1, 32);
	played_freed = false;
	memset(c, 0, sizeof(*c));
	q = quic_conn_new(l, &played_host, &played_first, NULL, now);
	if (!q ||
	    !quic_keys_initial(&c->keys[QUIC_LEVEL_INITIAL], QUIC_VERSION_1, &played_first.dcid,
			       true, true) ||
	    !played_keys(&c->keys[QUIC_LEVEL_HANDSHAKE], 0, true) ||
	    !played_keys(&c->keys[QUIC_LEVEL_APP], 2, true))
		return NULL;
	quic_conn_secure(q, (struct conn *)(void *)q, tls);
	return q;
}

static void played_end(struct played_client *c)
{
	for (unsigned i = 0; i < QUIC_LEVELS; i++)
		quic_keys_free(&c->keys[i]);
}

/* Makes one packet of frames, 4 bytes at least, in <p>; returns its length, 0: it failed. */
static size_t played_packet(struct played_client *c, const struct quic_conn *q, unsigned level,
			    const uint8_t *frames, size_t len, uint8_t *p)
{
	static const uint8_t types[] = { 0xc1, 0xe1, 0x41 };
	const struct quic_cid *to = &q->ids.ours;
	uint8_t mask[5], *at = p, *pn;

	*at++ = (uint8_t)(types[level] | (level == QUIC_LEVEL_APP && c->phase ? 4 : 0));
	if (level != QUIC_LEVEL_APP) {
		memcpy(at, "\0\0\0\1", 4);
		at += 4;
		*at++ = to->len;
	}
	memcpy(at, to->bytes, to->len);
	at += to->len;
	if (level != QUIC_LEVEL_APP) {
		memcpy(at, "\4\1\2\3\4", 5);
		at += 5;
		if (level == QUIC_LEVEL_INITIAL)
			*at++ = 0;
		*at++ = (uint8_t)(0x40 | (len + 2 + QUIC_TAG_LEN) >> 8);
		*at++ = (uint8_t)(len + 2 + QUIC_TAG_LEN);
	}
	pn = at;
	*at++ = (uint8_t)(c->pn[level] >> 8);
	*at++ = (uint8_t)c->pn[level];
	memcpy(at, frames, len);
	if (!quic_seal(&c->keys[level], c->pn[level]++, p, (size_t)(at - p), at, len) ||
	    !quic_header_mask(&c->keys[level], pn + 4, mask))
		return 0;
	p[0] ^= mask[0] & (level == QUIC_LEVEL_APP ? 0x1f : 0x0f);
	pn[0] ^= mask[1];
	pn[1] ^= mask[2];
	return (size_t)(at - p) + len + QUIC_TAG_LEN;
}

#endif
