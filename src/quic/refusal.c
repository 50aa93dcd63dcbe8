/* SPDX-License-Identifier: GPL-2.0-or-later */
/* refusal.c - QUIC: the answer to a client that gets no connection (RFC 9000 10.2.3)
 *
 * One Initial packet with CONNECTION_CLOSE, protected with keys derived from the client's own
 * packet. No state is kept: a client that repeats its packet is answered again.
 */
#include <string.h>
#include "conn_priv.h"
#include "core/thread.h"
#include "keys_priv.h"
#include "token_priv.h"

#define PN_LEN 2

static uint8_t *put_cid(uint8_t *at, const struct quic_cid *cid)
{
	*at++ = cid->len;
	memcpy(at, cid->bytes, cid->len);
	return at + cid->len;
}

size_t quic_put_refusal(uint8_t room[QUIC_REFUSAL_ROOM], const struct quic_packet *of,
			uint64_t error)
{
	uint8_t frame[12], *end = frame, *at, *pn, mask[5];
	struct quic_keys keys;
	struct quic_cid scid;
	size_t len;
	bool ok;

	*end++ = QUIC_FT_CLOSE;
	end = quic_put_varint(end, error);
	*end++ = 0; /* no frame was at fault */
	*end++ = 0; /* no reason in words */
	len = (size_t)(end - frame);
	if (!quic_cid_new(&scid, thread_id) ||
	    !quic_keys_initial(&keys, of->version, &of->dcid, false, true))
		return 0;
	at = quic_put_long(room, QUIC_PACKET_INITIAL, of->version, PN_LEN - 1);
	at = put_cid(at, &of->scid);
	at = put_cid(at, &scid);
	*at++ = 0; /* no token */
	*at++ = (uint8_t)(PN_LEN + len + QUIC_TAG_LEN);
	pn = at;
	memset(pn, 0, PN_LEN);
	at += PN_LEN;
	memcpy(at, frame, len);
	ok = quic_seal(&keys, 0, room, (size_t)(at - room), at, len) &&
	     quic_header_mask(&keys, pn + 4, mask);
	if (ok) {
		room[0] ^= mask[0] & 0x0f;
		for (unsigned i = 0; i < PN_LEN; i++)
			pn[i] ^= mask[1 + i];
	}
	quic_keys_free(&keys);
	return ok ? (size_t)(at - room) + len + QUIC_TAG_LEN : 0;
}
