/* SPDX-License-Identifier: GPL-2.0-or-later */
/* quic_wire.c - QUIC: integers and packet headers (RFC 8999, RFC 9000 16 and 17, RFC 9369 3) */
#include <string.h>
#include "codec/quic.h"

uint8_t *quic_put_varint(uint8_t *p, uint64_t v)
{
	size_t len = quic_varint_len(v);
	unsigned prefix = len == 1 ? 0 : len == 2 ? 1 : len == 4 ? 2 : 3;

	for (size_t i = len; i--; v >>= 8)
		p[i] = (uint8_t)v;
	p[0] |= (uint8_t)(prefix << 6);
	return p + len;
}

bool quic_read_varint(struct quic_reader *r, uint64_t *v)
{
	size_t len;
	uint64_t n;

	if (r->at == r->end)
		return false;
	len = (size_t)1 << (*r->at >> 6);
	if (len > quic_left(r))
		return false;
	n = *r->at & 63;
	for (size_t i = 1; i < len; i++)
		n = n << 8 | r->at[i];
	r->at += len;
	*v = n;
	return true;
}

bool quic_cid_is(const struct quic_cid *a, const struct quic_cid *b)
{
	return a->len == b->len && memcmp(a->bytes, b->bytes, a->len) == 0;
}

static bool read_cid(struct quic_reader *r, unsigned len, struct quic_cid *cid)
{
	if (len > QUIC_CID_MAX || len > quic_left(r))
		return false;
	cid->len = (uint8_t)len;
	memcpy(cid->bytes, r->at, len);
	r->at += len;
	return true;
}

static bool read_long_cid(struct quic_reader *r, struct quic_cid *cid)
{
	if (r->at == r->end)
		return false;
	r->at++;
	return read_cid(r, r->at[-1], cid);
}

static bool read_short(struct quic_reader *r, size_t len, unsigned cid_len, struct quic_packet *out)
{
	out->type = QUIC_PACKET_SHORT;
	r->at++;
	if (!read_cid(r, cid_len, &out->dcid))
		return false;
	out->pn_at = 1 + cid_len;
	out->size = len;
	return true;
}

/* The two bits that tell the type: version 2 counts them from another one (RFC 9369 3.2). */
static unsigned type_bits(enum quic_packet_type type, uint32_t version)
{
	return (type + (version == QUIC_VERSION_2)) & 3;
}

static uint8_t type_of_bits(unsigned bits, uint32_t version)
{
	return (uint8_t)((bits - (version == QUIC_VERSION_2)) & 3);
}

/* What stands behind the ids in the versions that we know. */
static bool read_known(struct quic_reader *r, const uint8_t *p, size_t len, struct quic_packet *out)
{
	uint64_t n;

	if (!(p[0] & 0x40))
		return false;
	out->type = type_of_bits(p[0] >> 4 & 3u, out->version);
	if (out->type == QUIC_PACKET_RETRY) {
		if (quic_left(r) < QUIC_RETRY_TAG_LEN)
			return false;
		out->token = r->at;
		out->token_len = quic_left(r) - QUIC_RETRY_TAG_LEN;
		out->size = len;
		return true;
	}
	if (out->type == QUIC_PACKET_INITIAL) {
		if (!quic_read_varint(r, &n) || n > quic_left(r))
			return false;
		out->token = r->at;
		out->token_len = (size_t)n;
		r->at += n;
	}
	if (!quic_read_varint(r, &n) || n > quic_left(r))
		return false;
	out->pn_at = (size_t)(r->at - p);
	out->size = out->pn_at + (size_t)n;
	return true;
}

bool quic_packet_read(const uint8_t *p, size_t len, unsigned short_len, struct quic_packet *out)
{
	struct quic_reader r = { p, p + len };

	*out = (struct quic_packet){ .type = QUIC_PACKET_OTHER };
	if (!len)
		return false;
	if (!(p[0] & 0x80))
		return p[0] & 0x40 && read_short(&r, len, short_len, out);
	if (len < 7)
		return false;
	for (unsigned i = 1; i < 5; i++)
		out->version = out->version << 8 | p[i];
	r.at += 5;
	if (!read_long_cid(&r, &out->dcid) || !read_long_cid(&r, &out->scid))
		return false;
	out->size = len;
	return !quic_version_is_known(out->version) || read_known(&r, p, len, out);
}

static uint8_t *put_cid(uint8_t *p, const struct quic_cid *cid)
{
	*p++ = cid->len;
	memcpy(p, cid->bytes, cid->len);
	return p + cid->len;
}

static uint8_t *put_version(uint8_t *p, uint32_t v)
{
	for (unsigned i = 0; i < 4; i++)
		*p++ = (uint8_t)(v >> (24 - 8 * i));
	return p;
}

uint8_t *quic_put_long(uint8_t *p, enum quic_packet_type type, uint32_t version, uint8_t low)
{
	*p++ = (uint8_t)(0xc0 | type_bits(type, version) << 4 | (low & 0x0f));
	return put_version(p, version);
}

size_t quic_put_versions(uint8_t *room, const struct quic_packet *of, uint8_t random)
{
	uint8_t *p = room;

	*p++ = 0xc0 | random;
	p = put_version(p, 0);
	p = put_cid(p, &of->scid);
	p = put_cid(p, &of->dcid);
	p = put_version(p, QUIC_VERSION_1);
	p = put_version(p, QUIC_VERSION_2);
	/* one that is reserved, so that clients get used to it (RFC 9000 6.3) */
	p = put_version(p, 0x0a0a0a0a | (uint32_t)random << 28);
	return (size_t)(p - room);
}

size_t quic_put_retry(uint8_t *room, const struct quic_packet *of, const struct quic_cid *scid,
		      const uint8_t *token, size_t token_len, uint8_t random)
{
	uint8_t *p = quic_put_long(room, QUIC_PACKET_RETRY, of->version, random);

	p = put_cid(p, &of->scid);
	p = put_cid(p, scid);
	memcpy(p, token, token_len);
	return (size_t)(p + token_len - room);
}

uint64_t quic_pn_decode(uint64_t largest, uint64_t truncated, unsigned bits)
{
	uint64_t expected = largest + 1, window = UINT64_C(1) << bits, half = window / 2;
	uint64_t candidate = (expected & ~(window - 1)) | truncated;

	if (candidate + half <= expected && candidate < QUIC_VARINT_MAX + 1 - window)
		return candidate + window;
	if (candidate > expected + half && candidate >= window)
		return candidate - window;
	return candidate;
}
