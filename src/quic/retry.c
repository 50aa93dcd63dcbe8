/* SPDX-License-Identifier: GPL-2.0-or-later */
/* retry.c - QUIC: unprotected packets of servers: Retry, other versions, stateless reset
 *
 * All three are accepted only in states where they can be valid: an attacker that has seen our
 * first packet can forge the first two.
 */
#include <errno.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>
#include "conn_priv.h"
#include "keys_priv.h"
#include "recovery_priv.h"

/* The longest token that we carry: it is part of each Initial packet. */
#define TOKEN_MOST 512

/* Has nothing come of the server that was authentic? */
static bool is_first_answer(const struct quic_conn *q)
{
	return q->state == QUIC_HANDSHAKE && !(q->flags & (QUIC_FL_PEER_CID | QUIC_FL_RETRIED));
}

void quic_on_retry(struct quic_conn *q, const struct quic_packet *head, const uint8_t *p,
		   size_t len)
{
	uint8_t tag[QUIC_RETRY_TAG_LEN], *token;
	struct quic_ids *ids = &q->ids;
	struct quic_space *s = q->spaces[QUIC_LEVEL_INITIAL];

	if (!is_first_answer(q) || !quic_cid_is(&head->dcid, &ids->ours) ||
	    head->version != q->version.id || !head->token_len || head->token_len > TOKEN_MOST ||
	    len < QUIC_RETRY_TAG_LEN)
		return;
	if (!quic_retry_tag(q->version.id, &ids->original, p, len - QUIC_RETRY_TAG_LEN, tag) ||
	    CRYPTO_memcmp(tag, p + len - QUIC_RETRY_TAG_LEN, sizeof(tag)) != 0)
		return;
	token = malloc(head->token_len);
	if (!token || !quic_initial_keys(q, &head->scid)) {
		free(token);
		quic_conn_lose(q, ENOMEM);
		return;
	}
	memcpy(token, head->token, head->token_len);
	ids->token = token;
	ids->token_len = (uint16_t)head->token_len;
	ids->retry = ids->peer[0].cid = head->scid;
	q->flags |= QUIC_FL_RETRIED;
	/* all of it again; packet numbers go on (RFC 9000 17.2.5.3) */
	quic_space_resend(q, s);
}

/* A list with our own version is no refusal, but a forgery or a fault (RFC 9000 6.2). */
void quic_on_versions(struct quic_conn *q, const struct quic_packet *head, const uint8_t *p,
		      size_t len)
{
	size_t at = 7u + head->dcid.len + head->scid.len;

	if (!is_first_answer(q) || !quic_cid_is(&head->dcid, &q->ids.ours) ||
	    !quic_cid_is(&head->scid, &q->ids.original) || len < at + 4)
		return;
	for (; at + 4 <= len; at += 4)
		if (!p[at] && !p[at + 1] && !p[at + 2] && p[at + 3] == QUIC_VERSION_1)
			return;
	quic_conn_lose(q, EPROTO);
}

bool quic_is_reset(const struct quic_conn *q, const uint8_t *bytes, size_t len)
{
	bool found = false;

	if (len < 5 + QUIC_RESET_TOKEN_LEN || bytes[0] & 0x80)
		return false;
	for (unsigned i = 0; i < QUIC_PEER_CIDS; i++) {
		const struct quic_peer_cid *c = &q->ids.peer[i];

		if (c->used && c->has_token)
			found |= CRYPTO_memcmp(c->token, bytes + len - QUIC_RESET_TOKEN_LEN,
					       QUIC_RESET_TOKEN_LEN) == 0;
	}
	return found;
}
