/* SPDX-License-Identifier: GPL-2.0-or-later */
/* buffers_priv.h - QUIC: byte buffers: sent bytes until they are acknowledged (sendbuf.c), received
 * bytes in order (recvbuf.c)
 *
 * For a stream, or for the CRYPTO frames of one level.
 * Owns   : its blocks.
 * Threads: the connection's.
 */
#ifndef QUIC_BUFFERS_PRIV_H
#define QUIC_BUFFERS_PRIV_H

#include <stdbool.h>
#include <stdint.h>
#include "base/block.h"
#include "base/tree.h"
#include "ranges_priv.h"

/* Bytes of a stream, or of CRYPTO, from the first unacknowledged one on. */
struct quic_sendbuf {
	struct block_queue data;
	uint64_t base;                 /* offset of data's first byte */
	uint64_t sent;                 /* offset after the bytes that were sent at least once */
	struct quic_ranges acked;      /* beyond <base> */
	struct quic_ranges lost;       /* to be retransmitted */
	uint64_t lost_base;            /* <base> when its bytes were last lost */
	uint32_t lost_times;           /* how often, since they are the first ones */
	bool fin, fin_sent, fin_acked; /* the end: known; sent and not lost; acknowledged */
};

static inline uint64_t quic_sendbuf_end(const struct quic_sendbuf *b)
{
	return b->base + b->data.len;
}

/* Appends a copy of bytes for CRYPTO frames. They wait for an acknowledgement, so the blocks are
 * small. False: out of memory.
 */
bool quic_sendbuf_add(struct quic_sendbuf *b, const uint8_t *bytes, size_t len);
/* Returns what to put next into a packet with room for <max> bytes, new bytes up to offset <limit>:
 * *from and *len, and whether it includes the end. False: nothing.
 */
bool quic_sendbuf_next(const struct quic_sendbuf *b, uint64_t limit, size_t max, uint64_t *from,
		       size_t *len, bool *fin);
/* Is there something to send? */
bool quic_sendbuf_is_due(const struct quic_sendbuf *b, uint64_t limit);
/* Note that bytes were put into a packet, acknowledged, or lost. False: out of memory. */
bool quic_sendbuf_sent(struct quic_sendbuf *b, uint64_t from, size_t len, bool fin);
bool quic_sendbuf_acked(struct quic_sendbuf *b, uint64_t from, size_t len, bool fin);
bool quic_sendbuf_lost(struct quic_sendbuf *b, uint64_t from, size_t len, bool fin);
void quic_sendbuf_free(struct quic_sendbuf *b);

struct quic_recvbuf {
	struct block_queue ready;      /* in order, not taken yet */
	uint64_t at;                   /* offset after <ready> */
	struct tree early;             /* struct early: bytes received ahead of a gap */
	size_t early_len;
	uint32_t early_count;
};

void quic_recvbuf_init(struct quic_recvbuf *b);
/* Adds received bytes. False: out of memory, or far too many pieces. */
bool quic_recvbuf_add(struct quic_recvbuf *b, uint64_t from, const uint8_t *bytes, size_t len);
void quic_recvbuf_free(struct quic_recvbuf *b);

#endif
