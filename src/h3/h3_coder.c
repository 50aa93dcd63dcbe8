/* SPDX-License-Identifier: GPL-2.0-or-later */
/* h3_coder.c - the HTTP/3 mux: the streams of the peer's coders of QPACK (RFC 9204 4.3, 4.4)
 *
 * There are no dynamic tables: we allow the peer's encoder none, and fill none ourselves. An
 * encoder may only send a capacity of zero, a decoder may only cancel a request. Anything else is
 * an error.
 */
#include "h3_priv.h"

/* Set Dynamic Table Capacity, to 0. */
#define NO_TABLE 0x20
/* Stream Cancellation: the first two bits, and a number in the others, or beginning there. */
#define CANCEL_MASK 0xc0
#define CANCEL 0x40
#define NUMBER_MAX 0x3f
/* Bytes that a number continues in, at most. */
#define NUMBER_BYTES 10

/* False: it says what cannot be. In a number: H3S_IN_FRAME, and frame_left counts its bytes. */
static bool takes(struct h3_stream *s, uint8_t b)
{
	if (s->flags & H3S_IN_FRAME) {
		if (!(b & 0x80))
			s->flags &= (uint16_t)~H3S_IN_FRAME;
		return ++s->frame_left <= NUMBER_BYTES;
	}
	if (s->role == H3_ENCODER_STREAM)
		return b == NO_TABLE;
	if ((b & CANCEL_MASK) != CANCEL)
		return false;
	if ((b & NUMBER_MAX) == NUMBER_MAX) {
		s->flags |= H3S_IN_FRAME;
		s->frame_left = 0;
	}
	return true;
}

void h3_coder_read(struct h3_stream *s)
{
	struct block_queue *rx = quic_stream_rx(s->quic);
	bool encoder = s->role == H3_ENCODER_STREAM;
	char bytes[64];

	while (rx->len) {
		size_t n = block_queue_peek(rx, 0, bytes, sizeof(bytes));

		for (size_t i = 0; i < n; i++)
			if (!takes(s, (uint8_t)bytes[i])) {
				h3_fail(s->conn, encoder ? QPACK_ENCODER_STREAM_ERROR
							 : QPACK_DECODER_STREAM_ERROR,
					"there is no dynamic table");
				return;
			}
		block_queue_skip(rx, n);
		quic_stream_taken(s->quic, n);
	}
}
