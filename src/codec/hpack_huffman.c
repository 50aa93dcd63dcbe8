/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hpack_huffman.c - Huffman coding of strings (RFC 7541 5.2)
 *
 * Bits wait, aligned left, in a 64-bit word.
 */
#include "hpack_priv.h"

/* Bits waiting to be decoded. */
struct bits {
	uint64_t word;   /* the next bit is the highest */
	unsigned count;
	const uint8_t *at, *end;
};

static inline void bits_fill(struct bits *b)
{
	uint64_t word;

	if (b->end - b->at >= 8) {
		memcpy(&word, b->at, 8);
		/* as many whole bytes as fit; bits below <count> are those of the next ones */
		b->word |= __builtin_bswap64(word) >> b->count;
		b->at += (63 - b->count) / 8;
		b->count |= 56;
		return;
	}
	while (b->count <= 56 && b->at < b->end) {
		b->word |= (uint64_t)*b->at++ << (56 - b->count);
		b->count += 8;
	}
}

static inline void bits_use(struct bits *b, unsigned count)
{
	b->word <<= count;
	b->count -= count;
}

/* A code of more than 8 bits. Returns its byte; -1: not whole, or EOS. */
static int decode_long(struct bits *b)
{
	uint32_t top = (uint32_t)(b->word >> 32);
	const struct hpack_length *l = hpack_lengths;

	while (l < hpack_lengths + HPACK_LENGTHS && top >= l->end)
		l++;
	if (l == hpack_lengths + HPACK_LENGTHS || l->bits > b->count)
		return -1;
	bits_use(b, l->bits);
	return hpack_long_bytes[(int32_t)(top >> (32 - l->bits)) + l->base];
}

/* What is left after the last code: less than 8 bits, all ones. */
static bool is_padding(const struct bits *b)
{
	return b->at == b->end && b->count < 8 &&
	       (b->count == 0 || b->word >> (64 - b->count) == (1u << b->count) - 1);
}

size_t hpack_huffman_decode(struct slice in, char *out, size_t room)
{
	struct bits b = { .at = (const uint8_t *)in.ptr, .end = (const uint8_t *)in.ptr + in.len };
	char *at = out, *end = out + room;
	const struct hpack_short *s;
	int byte;

	for (;;) {
		if (b.count < 32)
			bits_fill(&b);
		s = &hpack_shorts[b.word >> 56];
		if (likely(s->bits && s->bits <= b.count)) {
			if (at == end)
				return HPACK_HUFFMAN_NO_ROOM;
			*at++ = (char)s->byte;
			bits_use(&b, s->bits);
			continue;
		}
		if (is_padding(&b))
			return (size_t)(at - out);
		byte = decode_long(&b);
		if (byte < 0)
			return HPACK_HUFFMAN_BAD;
		if (at == end)
			return HPACK_HUFFMAN_NO_ROOM;
		*at++ = (char)byte;
	}
}

size_t hpack_huffman_length(struct slice in)
{
	size_t bits = 0;

	for (size_t i = 0; i < in.len; i++)
		bits += hpack_codes[(uint8_t)in.ptr[i]].bits;
	return (bits + 7) / 8;
}

size_t hpack_huffman_encode(struct slice in, char *out)
{
	const struct hpack_code *code;
	uint64_t word = 0;
	unsigned count = 0;
	char *at = out;

	for (size_t i = 0; i < in.len; i++) {
		code = &hpack_codes[(uint8_t)in.ptr[i]];
		word = word << code->bits | code->code;
		count += code->bits;
		while (count >= 8) {
			count -= 8;
			*at++ = (char)(word >> count);
		}
	}
	if (count)
		*at++ = (char)(word << (8 - count) | (0xffu >> count));
	return (size_t)(at - out);
}
