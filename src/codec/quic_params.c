/* SPDX-License-Identifier: GPL-2.0-or-later */
/* quic_params.c - QUIC: transport parameters (RFC 9000 18, RFC 9368 3) */
#include <string.h>
#include "codec/quic.h"

enum {
	ORIGINAL_DCID = 0x00, MAX_IDLE_TIMEOUT = 0x01, RESET_TOKEN = 0x02, MAX_UDP_PAYLOAD = 0x03,
	INITIAL_MAX_DATA = 0x04, INITIAL_STREAM_LOCAL = 0x05, INITIAL_STREAM_REMOTE = 0x06,
	INITIAL_STREAM_UNI = 0x07, INITIAL_STREAMS_BIDI = 0x08, INITIAL_STREAMS_UNI = 0x09,
	ACK_DELAY_EXPONENT = 0x0a, MAX_ACK_DELAY = 0x0b, NO_MIGRATION = 0x0c,
	PREFERRED_ADDRESS = 0x0d, CID_LIMIT = 0x0e, INITIAL_SCID = 0x0f, RETRY_SCID = 0x10,
	VERSION_INFORMATION = 0x11,
};

void quic_params_init(struct quic_params *p)
{
	*p = (struct quic_params){
		.udp_payload_max = 65527, .ack_exponent = 3, .ack_delay_ms = 25, .cid_limit = 2,
	};
}

/* Where the number of a parameter goes; NULL: it is none. */
static uint64_t *number_of(struct quic_params *p, uint64_t id)
{
	switch (id) {
	case MAX_IDLE_TIMEOUT:
		return &p->idle_ms;
	case MAX_UDP_PAYLOAD:
		return &p->udp_payload_max;
	case INITIAL_MAX_DATA:
		return &p->data_max;
	case INITIAL_STREAM_LOCAL:
		return &p->stream_local;
	case INITIAL_STREAM_REMOTE:
		return &p->stream_remote;
	case INITIAL_STREAM_UNI:
		return &p->stream_uni;
	case INITIAL_STREAMS_BIDI:
		return &p->streams_bidi;
	case INITIAL_STREAMS_UNI:
		return &p->streams_uni;
	case ACK_DELAY_EXPONENT:
		return &p->ack_exponent;
	case MAX_ACK_DELAY:
		return &p->ack_delay_ms;
	case CID_LIMIT:
		return &p->cid_limit;
	}
	return NULL;
}

static bool read_cid(struct quic_reader body, bool *has, struct quic_cid *cid)
{
	if (quic_left(&body) > QUIC_CID_MAX)
		return false;
	*has = true;
	cid->len = (uint8_t)quic_left(&body);
	memcpy(cid->bytes, body.at, cid->len);
	return true;
}

static uint32_t read_version(struct quic_reader *r)
{
	uint32_t v = 0;

	for (unsigned i = 0; i < 4; i++)
		v = v << 8 | *r->at++;
	return v;
}

/* A client lists the version that it has chosen among those available (RFC 9368 4). */
static bool read_versions(struct quic_params *p, struct quic_reader body, bool server)
{
	size_t len = quic_left(&body);
	bool listed = server;

	if (len < 4 || len % 4)
		return false;
	p->has_versions = true;
	p->version = read_version(&body);
	while (body.at < body.end) {
		uint32_t v = read_version(&body);

		if (!v)
			return false;
		listed |= v == p->version;
		if (!p->version_preferred && quic_version_is_known(v))
			p->version_preferred = v;
	}
	return p->version && listed;
}

/* What only servers send. */
static bool read_servers(struct quic_params *p, uint64_t id, struct quic_reader body)
{
	switch (id) {
	case ORIGINAL_DCID:
		return read_cid(body, &p->has_odcid, &p->odcid);
	case RETRY_SCID:
		return read_cid(body, &p->has_retry, &p->retry);
	case RESET_TOKEN:
		if (quic_left(&body) != sizeof(p->token))
			return false;
		p->has_token = true;
		memcpy(p->token, body.at, sizeof(p->token));
	}
	return true; /* (we go to no preferred address) */
}

static bool read_one(struct quic_params *p, uint64_t id, struct quic_reader body, bool server)
{
	uint64_t *number = number_of(p, id);

	if (number)
		return quic_read_varint(&body, number) && body.at == body.end;
	switch (id) {
	case ORIGINAL_DCID:
	case RESET_TOKEN:
	case PREFERRED_ADDRESS:
	case RETRY_SCID:
		return server && read_servers(p, id, body);
	case NO_MIGRATION:
		p->no_migration = true;
		return body.at == body.end;
	case INITIAL_SCID:
		return read_cid(body, &p->has_scid, &p->scid);
	case VERSION_INFORMATION:
		return read_versions(p, body, server);
	}
	return true;
}

/* RFC 9000 18.2 */
static bool are_valid(const struct quic_params *p)
{
	return p->udp_payload_max >= 1200 && p->ack_exponent <= 20 && p->ack_delay_ms < 16384 &&
	       p->cid_limit >= 2 && p->streams_bidi <= UINT64_C(1) << 60 &&
	       p->streams_uni <= UINT64_C(1) << 60 && p->has_scid;
}

static bool read_all(const uint8_t *bytes, size_t len, struct quic_params *p, bool server)
{
	struct quic_reader r = { bytes, bytes + len }, body;
	uint64_t id, n, seen = 0;

	quic_params_init(p);
	while (r.at < r.end) {
		if (!quic_read_varint(&r, &id) || !quic_read_varint(&r, &n) || n > quic_left(&r))
			return false;
		body = (struct quic_reader){ r.at, r.at + n };
		r.at += n;
		if (id < 64 && seen & UINT64_C(1) << id)
			return false;
		if (id < 64)
			seen |= UINT64_C(1) << id;
		if (!read_one(p, id, body, server))
			return false;
	}
	return are_valid(p);
}

bool quic_params_read(const uint8_t *bytes, size_t len, struct quic_params *p)
{
	return read_all(bytes, len, p, false);
}

bool quic_params_read_server(const uint8_t *bytes, size_t len, struct quic_params *p)
{
	return read_all(bytes, len, p, true);
}

static uint8_t *put_number(uint8_t *at, uint64_t id, uint64_t value)
{
	at = quic_put_varint(at, id);
	at = quic_put_varint(at, quic_varint_len(value));
	return quic_put_varint(at, value);
}

static uint8_t *put_bytes(uint8_t *at, uint64_t id, const uint8_t *bytes, size_t len)
{
	at = quic_put_varint(at, id);
	at = quic_put_varint(at, len);
	if (len)
		memcpy(at, bytes, len);
	return at + len;
}

static uint8_t *put_versions(uint8_t *at, uint32_t chosen, uint32_t preferred)
{
	uint32_t other = preferred == QUIC_VERSION_1 ? QUIC_VERSION_2 : QUIC_VERSION_1;
	const uint32_t list[] = { chosen, preferred ? preferred : chosen, other };
	unsigned count = preferred ? 3 : 2;

	at = quic_put_varint(at, VERSION_INFORMATION);
	at = quic_put_varint(at, count * sizeof(*list));
	for (unsigned i = 0; i < count; i++)
		for (unsigned k = 0; k < 4; k++)
			*at++ = (uint8_t)(list[i] >> (24 - 8 * k));
	return at;
}

size_t quic_params_put(const struct quic_params *p, uint8_t *room)
{
	uint8_t *at = room;

	if (p->has_odcid)
		at = put_bytes(at, ORIGINAL_DCID, p->odcid.bytes, p->odcid.len);
	at = put_bytes(at, INITIAL_SCID, p->scid.bytes, p->scid.len);
	if (p->has_retry)
		at = put_bytes(at, RETRY_SCID, p->retry.bytes, p->retry.len);
	if (p->has_token)
		at = put_bytes(at, RESET_TOKEN, p->token, sizeof(p->token));
	if (p->idle_ms)
		at = put_number(at, MAX_IDLE_TIMEOUT, p->idle_ms);
	at = put_number(at, MAX_UDP_PAYLOAD, p->udp_payload_max);
	at = put_number(at, INITIAL_MAX_DATA, p->data_max);
	at = put_number(at, INITIAL_STREAM_LOCAL, p->stream_local);
	at = put_number(at, INITIAL_STREAM_REMOTE, p->stream_remote);
	at = put_number(at, INITIAL_STREAM_UNI, p->stream_uni);
	at = put_number(at, INITIAL_STREAMS_BIDI, p->streams_bidi);
	at = put_number(at, INITIAL_STREAMS_UNI, p->streams_uni);
	at = put_number(at, MAX_ACK_DELAY, p->ack_delay_ms);
	at = put_number(at, CID_LIMIT, p->cid_limit);
	if (p->has_versions)
		at = put_versions(at, p->version, p->version_preferred);
	if (p->no_migration)
		at = put_bytes(at, NO_MIGRATION, NULL, 0);
	return (size_t)(at - room);
}
