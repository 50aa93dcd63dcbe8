/* SPDX-License-Identifier: GPL-2.0-or-later */
/* quic_frame.c - QUIC: received frames (RFC 9000 19) */
#include "codec/quic.h"

static bool read_bytes(struct quic_reader *r, uint64_t len, const uint8_t **data)
{
	if (len > quic_left(r))
		return false;
	*data = r->at;
	r->at += len;
	return true;
}

static bool read_data(struct quic_reader *r, struct quic_frame *f)
{
	uint64_t len;

	if (!quic_read_varint(r, &len) || !read_bytes(r, len, &f->data))
		return false;
	f->len = (size_t)len;
	return f->offset + len <= QUIC_VARINT_MAX;
}

bool quic_ack_next(struct quic_frame *f, uint64_t *low, uint64_t *high)
{
	uint64_t gap, len;

	if (!f->ranges || !quic_read_varint(&f->acked, &gap) || !quic_read_varint(&f->acked, &len))
		return false;
	f->ranges--;
	if (*low < gap + 2 || *low - gap - 2 < len)
		return false;
	*high = *low - gap - 2;
	*low = *high - len;
	return true;
}

static bool read_ack(struct quic_reader *r, struct quic_frame *f)
{
	uint64_t low, high, count;
	struct quic_frame walk;

	if (!quic_read_varint(r, &f->largest) || !quic_read_varint(r, &f->delay) ||
	    !quic_read_varint(r, &count) || !quic_read_varint(r, &f->first) ||
	    f->first > f->largest || count > quic_left(r) / 2)
		return false;
	f->ranges = count;
	f->acked = *r;
	walk = *f;
	low = f->largest - f->first;
	while (walk.ranges)
		if (!quic_ack_next(&walk, &low, &high))
			return false;
	r->at = walk.acked.at;
	for (unsigned i = 0; f->type == QUIC_FT_ACK_ECN && i < 3; i++)
		if (!quic_read_varint(r, &f->ecn[i]))
			return false;
	return true;
}

static bool read_stream(struct quic_reader *r, struct quic_frame *f)
{
	unsigned bits = (unsigned)f->type & 7;

	f->type = QUIC_FT_STREAM;
	f->fin = bits & QUIC_STREAM_FIN;
	if (!quic_read_varint(r, &f->id))
		return false;
	if (bits & QUIC_STREAM_OFF && !quic_read_varint(r, &f->offset))
		return false;
	if (bits & QUIC_STREAM_LEN)
		return read_data(r, f);
	f->len = quic_left(r);
	f->data = r->at;
	r->at = r->end;
	return f->offset + f->len <= QUIC_VARINT_MAX;
}

static bool read_new_cid(struct quic_reader *r, struct quic_frame *f)
{
	const uint8_t *bytes;

	if (!quic_read_varint(r, &f->id) || !quic_read_varint(r, &f->value) || f->value > f->id ||
	    !quic_left(r))
		return false;
	f->cid.len = *r->at++;
	if (!f->cid.len || f->cid.len > QUIC_CID_MAX || !read_bytes(r, f->cid.len, &bytes))
		return false;
	for (unsigned i = 0; i < f->cid.len; i++)
		f->cid.bytes[i] = bytes[i];
	return read_bytes(r, QUIC_RESET_TOKEN_LEN, &f->reset_token);
}

static bool read_close(struct quic_reader *r, struct quic_frame *f)
{
	uint64_t type;

	if (!quic_read_varint(r, &f->value))
		return false;
	if (f->type == QUIC_FT_CLOSE && !quic_read_varint(r, &type))
		return false;
	return read_data(r, f);
}

static bool read_streams_max(struct quic_reader *r, struct quic_frame *f)
{
	return quic_read_varint(r, &f->value) && f->value <= UINT64_C(1) << 60;
}

static bool read_body(struct quic_reader *r, struct quic_frame *f)
{
	switch (f->type) {
	case QUIC_FT_PADDING:
		while (r->at < r->end && !*r->at)
			r->at++;
		return true;
	case QUIC_FT_PING:
	case QUIC_FT_HANDSHAKE_DONE:
		return true;
	case QUIC_FT_ACK:
	case QUIC_FT_ACK_ECN:
		return read_ack(r, f);
	case QUIC_FT_RESET_STREAM:
		return quic_read_varint(r, &f->id) && quic_read_varint(r, &f->value) &&
		       quic_read_varint(r, &f->offset);
	case QUIC_FT_STOP_SENDING:
	case QUIC_FT_MAX_STREAM_DATA:
	case QUIC_FT_STREAM_DATA_BLOCKED:
		return quic_read_varint(r, &f->id) && quic_read_varint(r, &f->value);
	case QUIC_FT_CRYPTO:
		return quic_read_varint(r, &f->offset) && read_data(r, f);
	case QUIC_FT_NEW_TOKEN:
		return read_data(r, f) && f->len;
	case QUIC_FT_MAX_DATA:
	case QUIC_FT_DATA_BLOCKED:
		return quic_read_varint(r, &f->value);
	case QUIC_FT_MAX_STREAMS_BIDI:
	case QUIC_FT_MAX_STREAMS_UNI:
	case QUIC_FT_STREAMS_BLOCKED_BIDI:
	case QUIC_FT_STREAMS_BLOCKED_UNI:
		return read_streams_max(r, f);
	case QUIC_FT_NEW_CONNECTION_ID:
		return read_new_cid(r, f);
	case QUIC_FT_RETIRE_CONNECTION_ID:
		return quic_read_varint(r, &f->id);
	case QUIC_FT_PATH_CHALLENGE:
	case QUIC_FT_PATH_RESPONSE:
		f->len = 8;
		return read_bytes(r, 8, &f->data);
	case QUIC_FT_CLOSE:
	case QUIC_FT_CLOSE_APP:
		return read_close(r, f);
	default:
		if (f->type < QUIC_FT_STREAM || f->type > QUIC_FT_STREAM_LAST)
			return false;
		return read_stream(r, f);
	}
}

enum quic_error quic_frame_read(struct quic_reader *r, struct quic_frame *f)
{
	const uint8_t *start = r->at;

	*f = (struct quic_frame){ 0 };
	if (!quic_read_varint(r, &f->type))
		return QUIC_FRAME_ENCODING_ERROR;
	/* the type is in its shortest form (RFC 9000 12.4) */
	if ((size_t)(r->at - start) != quic_varint_len(f->type))
		return QUIC_PROTOCOL_VIOLATION;
	return read_body(r, f) ? QUIC_NO_ERROR : QUIC_FRAME_ENCODING_ERROR;
}
