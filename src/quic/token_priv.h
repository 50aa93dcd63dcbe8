/* SPDX-License-Identifier: GPL-2.0-or-later */
/* token_priv.h - QUIC: our connection ids, reset tokens, tokens of Retry (token.c)
 *
 * All are made of one secret of the process, so nothing is kept of a client until it is known.
 * Threads: any, once the secret is set.
 * Source : RFC 9000 5.1, 8.1, 10.3
 */
#ifndef QUIC_TOKEN_PRIV_H
#define QUIC_TOKEN_PRIV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "codec/quic.h"

struct addr;

/* Bytes of our connection ids: the first two tell the thread. */
#define QUIC_OUR_CID_LEN 10

/* The secret of all of them: any bytes, or NULL for random ones. False: that failed. */
bool quic_secret_set(const void *bytes, size_t len);
/* A new connection id of this thread. False: the system has no random bytes. */
bool quic_cid_new(struct quic_cid *cid, unsigned thread);
/* The thread of one of our ids. */
unsigned quic_cid_thread(const struct quic_cid *cid);
/* The stateless reset token of an id of ours. */
bool quic_reset_token(const struct quic_cid *cid, uint8_t *token);
/* A token for a client at <peer>, whose first packets went to <odcid>; returns its length, 0: it
 * failed. <room>: QUIC_TOKEN_MAX bytes.
 */
#define QUIC_TOKEN_MAX 80
size_t quic_token_make(uint8_t *room, const struct addr *peer, const struct quic_cid *odcid,
		       const struct quic_cid *scid, uint64_t now_s);
/* Does it look like one of a Retry, good or bad? Others may be of another server's connections. */
bool quic_token_is_retry(const uint8_t *token, size_t len);
/* Was this made by us, for this client and these ids, a moment ago? Then *odcid is set. */
bool quic_token_check(const uint8_t *token, size_t len, const struct addr *peer,
		      const struct quic_cid *scid, uint64_t now_s, struct quic_cid *odcid);

#endif
