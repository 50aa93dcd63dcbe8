/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fuzzes what QUIC and HTTP/3 read of clients before anything is known of them. The first byte
 * chooses: packet headers, frames until the end or an error, transport parameters, an encoded field
 * section as a head.
 */
#include <stdlib.h>
#include <string.h>
#include "codec/qpack.h"
#include "codec/quic.h"

#define check(good) ((good) ? (void)0 : abort())
#define FIELDS 30
#define TEXT 4096

static void packets(const uint8_t *data, size_t size)
{
	struct quic_packet p;

	while (size && quic_packet_read(data, size, 10, &p)) {
		uint8_t answer[64];

		check(p.size <= size && p.size && p.dcid.len <= QUIC_CID_MAX);
		check(p.scid.len <= QUIC_CID_MAX && p.pn_at <= p.size);
		if (p.type == QUIC_PACKET_INITIAL && p.token_len)
			check(p.token > data && p.token + p.token_len <= data + p.size);
		if (p.type == QUIC_PACKET_OTHER)
			check(quic_put_versions(answer, &p, 1) <= sizeof(answer));
		data += p.size;
		size -= p.size;
	}
}

static void frames(const uint8_t *data, size_t size)
{
	struct quic_reader r = { data, data + size };
	struct quic_frame f;
	uint64_t low, high, last;

	while (r.at < r.end) {
		const uint8_t *before = r.at;

		if (quic_frame_read(&r, &f))
			return;
		check(r.at > before && r.at <= r.end);
		if (f.data)
			check(f.data >= data && f.data + f.len <= r.end);
		if (f.type == QUIC_FT_STREAM || f.type == QUIC_FT_CRYPTO)
			check(f.offset + f.len <= QUIC_VARINT_MAX);
		if (f.type != QUIC_FT_ACK && f.type != QUIC_FT_ACK_ECN)
			continue;
		high = f.largest;
		low = last = high - f.first;
		while (quic_ack_next(&f, &low, &high)) {
			check(low <= high && high < last);
			last = low;
		}
		check(!f.ranges);
	}
}

static void params(const uint8_t *data, size_t size)
{
	struct quic_params p, again;
	uint8_t room[QUIC_PARAMS_ROOM];

	if (!quic_params_read(data, size, &p))
		return;
	check(p.has_scid && p.ack_exponent <= 20);
	if (!quic_version_is_known(p.version))
		p.version_preferred = 0;
	check(quic_params_read(room, quic_params_put(&p, room), &again));
	check(quic_cid_is(&p.scid, &again.scid) && p.data_max == again.data_max);
}

static void section(const uint8_t *data, size_t size)
{
	static struct h1_field fields[H2_HEAD_FIELD_ROOM(FIELDS)];
	static char text[H2_HEAD_TEXT_ROOM(TEXT)];
	struct h2_head head = {
		.fields = fields, .field_capacity = FIELDS, .list_max = TEXT, .text_max = TEXT,
		.text = text,
	};

	if (h3_head_decode(slice_make((const char *)data, size), size & 1 ? H2_HEAD_REQUEST
								      : H2_HEAD_TRAILERS,
			   0, &head) != H2_HEAD_OK)
		return;
	check(head.field_count <= FIELDS && head.text_len <= sizeof(text));
	for (unsigned i = 0; i < head.field_count; i++)
		check(!memchr(fields[i].value.ptr, '\n', fields[i].value.len));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const readers[])(const uint8_t *, size_t) = {
		packets, frames, params, section,
	};

	if (size)
		readers[data[0] & 3](data + 1, size - 1);
	return 0;
}
