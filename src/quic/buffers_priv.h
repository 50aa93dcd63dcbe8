/* SPDX-License-Identifier: GPL-2.0-or-later */
/* buffers_priv.h - QUIC: bytes on their way: until they are acknowledged (sendbuf.c), and those
 * received, put in order (recvbuf.c)
 *
 * Of a stream, or of the CRYPTO frames of one level.
 * Owns   : the blocks in it.
 * Threads: the connection's.
 */
#ifndef QUIC_BUFFERS_PRIV_H
#define QUIC_BUFFERS_PRIV_H

#include <stdbool.h>
#include <stdint.h>
#include "base/block.h"
#include "base/tree.h"
#include "ranges_priv.h"

/* Bytes of a stream, or of CRYPTO, from the first that is not acknowledged on. */
struct quic_sendbuf {
	struct block_queue data;
	uint64_t base;                 /* offset of data's first byte */
	uint64_t sent;                 /* offset behind what was sent at least once */
	struct quic_ranges acked;      /* beyond <base> */
	struct quic_ranges lost;       /* to be sent again */
	uint64_t lost_base;            /* <base> when the bytes there were last lost */
	uint32_t lost_times;           /* how often, since they are the first */
	bool fin, fin_sent, fin_acked; /* the end: known, sent and not lost, acknowledged */
};

static inline uint64_t quic_sendbuf_end(const struct quic_sendbuf *b)
{
	return b->base + b->data.len;
}

/* Copies bytes of CRYPTO frames to its end. They wait for an acknowledgement, so the blocks are
 * small. False: no memory.
 */
bool quic_sendbuf_add(struct quic_sendbuf *b, const uint8_t *bytes, size_t len);
/* What goes next into a packet with room for <max> bytes, new bytes up to offset <limit>: *from and
 * *len, and whether the end is with it. False: nothing.
 */
bool quic_sendbuf_next(const struct quic_sendbuf *b, uint64_t limit, size_t max, uint64_t *from,
		       size_t *len, bool *fin);
/* Is there something to send? */
bool quic_sendbuf_is_due(const struct quic_sendbuf *b, uint64_t limit);
/* It was put into a packet / acknowledged / lost. False: no memory. */
bool quic_sendbuf_sent(struct quic_sendbuf *b, uint64_t from, size_t len, bool fin);
bool quic_sendbuf_acked(struct quic_sendbuf *b, uint64_t from, size_t len, bool fin);
bool quic_sendbuf_lost(struct quic_sendbuf *b, uint64_t from, size_t len, bool fin);
void quic_sendbuf_free(struct quic_sendbuf *b);

struct quic_recvbuf {
	struct block_queue ready;      /* in order, not taken yet */
	uint64_t at;                   /* offset behind <ready> */
	struct tree early;             /* struct early: what came before what precedes it */
	size_t early_len;
	uint32_t early_count;
};

void quic_recvbuf_init(struct quic_recvbuf *b);
/* Takes bytes. False: no memory, or far too many pieces. */
bool quic_recvbuf_add(struct quic_recvbuf *b, uint64_t from, const uint8_t *bytes, size_t len);
void quic_recvbuf_free(struct quic_recvbuf *b);

#endif
