/* SPDX-License-Identifier: GPL-2.0-or-later */
/* token_priv.h - QUIC: our connection ids, stateless reset tokens, Retry tokens (token.c)
 *
 * All are derived from one secret of the process, so no state is kept for a client until its
 * address is proved.
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

/* Bytes of our connection ids: the first two encode the thread. */
#define QUIC_OUR_CID_LEN 10

/* Sets the secret of all of them: any bytes, or NULL for random ones. Returns false: failed. */
bool quic_secret_set(const void *bytes, size_t len);
/* Makes a new connection id for <thread>. Returns false: the system has no random bytes. */
bool quic_cid_new(struct quic_cid *cid, unsigned thread);
/* Returns the thread encoded in one of our ids. */
unsigned quic_cid_thread(const struct quic_cid *cid);
/* Computes the stateless reset token of one of our ids. */
bool quic_reset_token(const struct quic_cid *cid, uint8_t *token);
/* Makes a token for a client at <peer> whose first packets went to <odcid>. Returns its length, or
 * 0 on failure. <room>: QUIC_TOKEN_MAX bytes.
 */
#define QUIC_TOKEN_MAX 80
size_t quic_token_make(uint8_t *room, const struct addr *peer, const struct quic_cid *odcid,
		       const struct quic_cid *scid, uint64_t now_s);
/* Returns true if it has the form of a Retry token, valid or not. Other tokens may come from
 * another server's connections.
 */
bool quic_token_is_retry(const uint8_t *token, size_t len);
/* Returns true, with *odcid set, if we made this token for this client and these ids a moment ago.
 */
bool quic_token_check(const uint8_t *token, size_t len, const struct addr *peer,
		      const struct quic_cid *scid, uint64_t now_s, struct quic_cid *odcid);

#endif
