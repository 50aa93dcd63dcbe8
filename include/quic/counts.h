/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* counts.h - the counters of QUIC and HTTP/3 of frontends and backends
 *
 * Purpose: the indexes of these counters in a counter_set of the proxy (core/counter.h), where they
 *          are consecutive, from an index on that the owner gives.
 * Owns   : nothing: the set belongs to the proxy, and is borrowed while a connection has its user.
 * Threads: as counter_add().
 * Manual : the last columns of `show stat`, management 9.1.
 */
#ifndef QUIC_COUNTS_H
#define QUIC_COUNTS_H

#include "core/counter.h"

/* X(NAME, ""), in the order of the columns. The errors are those with which peers close
 * connections, in the order of their codes. QUIC_HALF_OPEN is a gauge.
 */
#define QUIC_COUNTS(X) \
	X(H3_DATA, "") X(H3_HEADERS, "") X(H3_CANCEL_PUSH, "") X(H3_PUSH_PROMISE, "") \
	X(H3_MAX_PUSH_ID, "") X(H3_GOAWAY, "") X(H3_SETTINGS, "") \
	X(H3_ERR_NONE, "") X(H3_ERR_GENERAL, "") X(H3_ERR_INTERNAL, "") X(H3_ERR_CREATION, "") \
	X(H3_ERR_CRITICAL, "") X(H3_ERR_UNEXPECTED, "") X(H3_ERR_FRAME, "") \
	X(H3_ERR_LOAD, "") X(H3_ERR_ID, "") X(H3_ERR_SETTINGS, "") \
	X(H3_ERR_NO_SETTINGS, "") X(H3_ERR_REJECTED, "") X(H3_ERR_CANCELLED, "") \
	X(H3_ERR_INCOMPLETE, "") X(H3_ERR_MESSAGE, "") X(H3_ERR_CONNECT, "") \
	X(H3_ERR_FALLBACK, "") \
	X(QPACK_ERR_SECTION, "") X(QPACK_ERR_ENCODER, "") X(QPACK_ERR_DECODER, "") \
	X(QUIC_RXBUF_FULL, "") X(QUIC_DROPPED, "") X(QUIC_DROPPED_OVERRUN, "") \
	X(QUIC_DROPPED_PARSING, "") X(QUIC_SOCKET_FULL, "") X(QUIC_SEND_FAILED, "") \
	X(QUIC_SEND_UNKNOWN, "") X(QUIC_SENT, "") X(QUIC_LOST, "") X(QUIC_TOO_SHORT, "") \
	X(QUIC_RETRY_SENT, "") X(QUIC_RETRY_VALID, "") X(QUIC_RETRY_ERROR, "") \
	X(QUIC_HALF_OPEN, "") X(QUIC_HANDSHAKE_FAILED, "") X(QUIC_RESETS_SENT, "") \
	X(QUIC_MOVED, "") \
	X(QUIC_ERR_NONE, "") X(QUIC_ERR_INTERNAL, "") X(QUIC_ERR_REFUSED, "") \
	X(QUIC_ERR_FLOW, "") X(QUIC_ERR_LIMIT, "") X(QUIC_ERR_STATE, "") \
	X(QUIC_ERR_SIZE, "") X(QUIC_ERR_ENCODING, "") X(QUIC_ERR_PARAMETER, "") \
	X(QUIC_ERR_IDS, "") X(QUIC_ERR_PROTOCOL, "") X(QUIC_ERR_TOKEN, "") \
	X(QUIC_ERR_APPLICATION, "") X(QUIC_ERR_CRYPTO_BUFFER, "") X(QUIC_ERR_KEY_UPDATE, "") \
	X(QUIC_ERR_AEAD_LIMIT, "") X(QUIC_ERR_NO_PATH, "") X(QUIC_ERR_CRYPTO, "") \
	X(QUIC_ERR_UNKNOWN, "") \
	X(QUIC_DATA_BLOCKED, "") X(QUIC_STREAM_BLOCKED, "") X(QUIC_BIDI_BLOCKED, "") \
	X(QUIC_UNI_BLOCKED, "") X(QUIC_GAP_LIMIT, "")

enum quic_count {
#define X(name, column) COUNT_##name,
	QUIC_COUNTS(X)
#undef X
	QUIC_COUNTS_COUNT
};

/* The counters of a connection or a socket. */
struct quic_tally {
	struct counter_set *set;      /* borrowed; NULL: nothing is counted */
	unsigned first;               /* index of the first of QUIC_COUNTS in it */
};

static inline void quic_tally_add(const struct quic_tally *t, unsigned what, int64_t n)
{
	if (t->set)
		counter_add(t->set, t->first + what, n);
}

#endif
