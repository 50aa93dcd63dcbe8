/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sendbuf.c - QUIC: bytes on their way to the client, until they are acknowledged
 *
 *      base          acked ranges, lost ranges          sent                    end
 *      |------------------------------------------------|-----------------------|
 */
#include <string.h>
#include "buffers_priv.h"
#include "ranges_priv.h"

/* Messages of a handshake share blocks of this size. */
#define CRYPTO_BLOCK 1024

static size_t smaller(uint64_t a, size_t b)
{
	return a < b ? (size_t)a : b;
}

bool quic_sendbuf_add(struct quic_sendbuf *b, const uint8_t *bytes, size_t len)
{
	const struct piece *last = b->data.last;
	struct block *block;
	bool ok;

	if (last && last->block && block_room(last->block) >= len)
		return block_queue_add_copy(&b->data, slice_make((const char *)bytes, len));
	block = block_new_sized(len > CRYPTO_BLOCK ? len : CRYPTO_BLOCK);
	if (!block)
		return false;
	memcpy(block->data, bytes, len);
	block->used = (uint32_t)len;
	ok = block_queue_add(&b->data, block, block->data, len);
	block_drop(block);
	return ok;
}

bool quic_sendbuf_next(const struct quic_sendbuf *b, uint64_t limit, size_t max, uint64_t *from,
		       size_t *len, bool *fin)
{
	uint64_t end = quic_sendbuf_end(b), until = end < limit ? end : limit;

	if (b->lost.count) {
		*from = b->lost.list[0].from;
		*len = smaller(b->lost.list[0].to - *from, max);
	} else if (b->sent < until) {
		*from = b->sent;
		*len = smaller(until - b->sent, max);
	} else {
		*from = end;
		*len = 0;
	}
	/* (an end alone does not overtake bytes that wait for a window) */
	*fin = b->fin && !b->fin_sent && *from + *len == end && (*len || b->sent == end);
	return *len || *fin;
}

bool quic_sendbuf_is_due(const struct quic_sendbuf *b, uint64_t limit)
{
	uint64_t end = quic_sendbuf_end(b);

	return b->lost.count || b->sent < (end < limit ? end : limit) ||
	       (b->fin && !b->fin_sent && b->sent == end);
}

bool quic_sendbuf_sent(struct quic_sendbuf *b, uint64_t from, size_t len, bool fin)
{
	if (fin)
		b->fin_sent = true;
	if (from + len > b->sent)
		b->sent = from + len;
	return quic_ranges_remove(&b->lost, from, from + len);
}

bool quic_sendbuf_acked(struct quic_sendbuf *b, uint64_t from, size_t len, bool fin)
{
	uint64_t to = from + len;
	bool ok;

	if (fin)
		b->fin_acked = b->fin_sent = true;
	if (from < b->base)
		from = b->base;
	if (from >= to)
		return true;
	ok = quic_ranges_remove(&b->lost, from, to) && quic_ranges_add(&b->acked, from, to);
	if (b->acked.count && b->acked.list[0].from == b->base) {
		to = b->acked.list[0].to;
		block_queue_skip(&b->data, (size_t)(to - b->base));
		b->base = to;
		quic_ranges_remove(&b->acked, 0, to);
	}
	return ok;
}

bool quic_sendbuf_lost(struct quic_sendbuf *b, uint64_t from, size_t len, bool fin)
{
	uint64_t to = from + len;
	bool ok;

	if (fin && !b->fin_acked)
		b->fin_sent = false;
	if (from < b->base)
		from = b->base;
	if (from >= to)
		return true;
	ok = quic_ranges_add(&b->lost, from, to);
	for (uint32_t i = 0; i < b->acked.count; i++)
		ok = quic_ranges_remove(&b->lost, b->acked.list[i].from, b->acked.list[i].to) && ok;
	return ok;
}

void quic_sendbuf_free(struct quic_sendbuf *b)
{
	block_queue_clear(&b->data);
	quic_ranges_free(&b->acked);
	quic_ranges_free(&b->lost);
}
