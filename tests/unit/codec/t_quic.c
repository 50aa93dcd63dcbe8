/* SPDX-License-Identifier: GPL-2.0-or-later */
/* QUIC on the wire: integers, packet headers and numbers, frames, transport parameters; QPACK. */
#include "../tap.h"
#include "codec/qpack.h"
#include "codec/quic.h"

static size_t unhex(const char *text, uint8_t *out)
{
	size_t n = 0;
	unsigned byte;

	for (; sscanf(text, "%2x", &byte) == 1; text += 2)
		out[n++] = (uint8_t)byte;
	return n;
}

static void test_integers(void)
{
	static const struct {
		const char *hex;
		uint64_t value;
	} examples[] = { /* RFC 9000 A.1 */
		{ "c2197c5eff14e88c", UINT64_C(151288809941952652) }, { "9d7f3e7d", 494878333 },
		{ "7bbd", 15293 }, { "25", 37 }, { "4025", 37 },
	};
	uint8_t bytes[8], *end;
	uint64_t v = 0;

	for (unsigned i = 0; i < 5; i++) {
		size_t n = unhex(examples[i].hex, bytes);
		struct quic_reader r = { bytes, bytes + n }, cut = { bytes, bytes + n - 1 };

		ok(quic_read_varint(&r, &v) && v == examples[i].value && r.at == r.end,
		   "integer %s", examples[i].hex);
		ok(!quic_read_varint(&cut, &v) && cut.at == bytes, "which is cut");
	}
	for (v = 0; v <= QUIC_VARINT_MAX / 3; v = v * 3 + 1) {
		struct quic_reader r = { bytes, bytes + 8 };
		uint64_t again = 0;

		end = quic_put_varint(bytes, v);
		if ((size_t)(end - bytes) != quic_varint_len(v) ||
		    !quic_read_varint(&r, &again) || again != v || r.at != end)
			break;
	}
	ok(v > QUIC_VARINT_MAX / 3, "integers of all lengths there and back");
	is_int(quic_pn_decode(0xa82f30ea, 0x9b32, 16), 0xa82f9b32, "RFC 9000 A.3: a packet number");
	is_int(quic_pn_decode(UINT64_MAX, 0, 8), 0, "the first one");
	is_int(quic_pn_decode(300, 0x10, 8), 0x110, "one of before");
	is_int(quic_pn_decode(254, 0x01, 8), 0x101, "one beyond a border");
}

static void test_packets(void)
{
	uint8_t bytes[256];
	struct quic_packet p, versions;
	size_t n = unhex("c300000001088394c8f03e5157080002746b0a00000000000000000000ff", bytes);
	size_t len;

	ok(quic_packet_read(bytes, n, 8, &p) && p.type == QUIC_PACKET_INITIAL &&
	   p.version == 1 && p.dcid.len == 8 && p.scid.len == 0 && p.token_len == 2 &&
	   memcmp(p.token, "tk", 2) == 0 && p.pn_at == 19 && p.size == 29, "an Initial packet");
	for (len = 0; len < 29; len++)
		if (quic_packet_read(bytes, len, 8, &p))
			break;
	is_int(len, 29, "which is cut anywhere is none");
	n = unhex("40010203040506070809ff", bytes);
	ok(quic_packet_read(bytes, n, 8, &p) && p.type == QUIC_PACKET_SHORT && p.pn_at == 9 &&
	   p.dcid.len == 8 && p.size == n, "a short packet");
	ok(!quic_packet_read(bytes, 8, 8, &p), "shorter than its id");
	bytes[0] = 0;
	ok(!quic_packet_read(bytes, n, 8, &p), "without the fixed bit");
	n = unhex("c0babababa0401020304020506000000", bytes);
	ok(quic_packet_read(bytes, n, 8, &p) && p.type == QUIC_PACKET_OTHER &&
	   p.version == 0xbabababa && p.dcid.len == 4 && p.scid.len == 2, "another version");
	n = quic_put_versions(bytes, &p, 3);
	ok(quic_packet_read(bytes, n, 8, &versions) && versions.version == 0 &&
	   quic_cid_is(&versions.dcid, &p.scid) && quic_cid_is(&versions.scid, &p.dcid) &&
	   memcmp(bytes + n - 12, "\0\0\0\1\x6b\x33\x43\xcf", 8) == 0, "the answer to it");
	/* RFC 9369 3.2 */
	n = unhex("d36b3343cf088394c8f03e5157080002746b0a00000000000000000000ff", bytes);
	ok(quic_packet_read(bytes, n, 8, &p) && p.type == QUIC_PACKET_INITIAL &&
	   p.version == QUIC_VERSION_2 && p.token_len == 2, "an Initial packet of version 2");
	bytes[0] = 0xc3;
	ok(quic_packet_read(bytes, n + 16, 8, &p) && p.type == QUIC_PACKET_RETRY, "a Retry of it");
	for (unsigned type = 0; type < 4; type++) {
		uint8_t head[64] = { 0 };

		quic_put_long(head, type, QUIC_VERSION_2, 5);
		ok(quic_packet_read(head, sizeof(head), 8, &p) && p.type == type &&
		   (head[0] & 0xcf) == 0xc5, "type %u of it", type);
	}
	n = unhex("c000000001ff", bytes);
	ok(!quic_packet_read(bytes, n + 200, 8, &p), "an id that is too long");
}

static enum quic_error frame_of(const char *hex, struct quic_frame *f, size_t *left)
{
	static uint8_t bytes[256];
	struct quic_reader r = { bytes, bytes + unhex(hex, bytes) };
	enum quic_error e = quic_frame_read(&r, f);

	*left = quic_left(&r);
	return e;
}

static void test_frames(void)
{
	uint64_t low, high;
	struct quic_frame f;
	size_t left;

	ok(!frame_of("0000000001", &f, &left) && f.type == QUIC_FT_PADDING && left == 1, "PADDING");
	ok(!frame_of("0a04056162636465ff", &f, &left) && f.type == QUIC_FT_STREAM && f.id == 4 &&
	   !f.fin && f.len == 5 && left == 1, "STREAM with a length");
	ok(!frame_of("0d0440646162", &f, &left) && f.fin && f.offset == 100 && f.len == 2 && !left,
	   "STREAM up to the end of the packet");
	ok(!frame_of("020a00010302010000", &f, &left) && f.largest == 10 && f.first == 3 &&
	   f.ranges == 1 && left == 2, "ACK");
	low = f.largest - f.first;
	ok(quic_ack_next(&f, &low, &high) && high == 3 && low == 2 &&
	   !quic_ack_next(&f, &low, &high), "its ranges");
	is_int(frame_of("020a00000b", &f, &left), QUIC_FRAME_ENCODING_ERROR, "ACK below zero");
	is_int(frame_of("020a0001030700", &f, &left), QUIC_FRAME_ENCODING_ERROR,
	       "a range of it below zero");
	is_int(frame_of("020affffffffffffffff", &f, &left), QUIC_FRAME_ENCODING_ERROR, "ACK cut");
	is_int(frame_of("0a0409616263", &f, &left), QUIC_FRAME_ENCODING_ERROR, "STREAM cut");
	is_int(frame_of("0e04ffffffffffffffff0161", &f, &left), QUIC_FRAME_ENCODING_ERROR,
	       "STREAM beyond the largest offset");
	is_int(frame_of("1f", &f, &left), QUIC_FRAME_ENCODING_ERROR, "an unknown type");
	is_int(frame_of("4006", &f, &left), QUIC_PROTOCOL_VIOLATION, "a type in a longer form");
	is_int(frame_of("0700", &f, &left), QUIC_FRAME_ENCODING_ERROR, "an empty NEW_TOKEN");
	is_int(frame_of("18020300", &f, &left), QUIC_FRAME_ENCODING_ERROR, "an empty id");
	is_int(frame_of("12d000000000000001", &f, &left), QUIC_FRAME_ENCODING_ERROR,
	       "too many streams");
	ok(!frame_of("1802010401020304000102030405060708090a0b0c0d0e0f", &f, &left) && f.id == 2 &&
	   f.value == 1 && f.cid.len == 4 && f.reset_token[15] == 15, "NEW_CONNECTION_ID");
	ok(!frame_of("1c0a06026162", &f, &left) && f.value == 10 && f.len == 2, "CONNECTION_CLOSE");
}

/* Transport parameters that are an id and version_information. */
static bool versions_are_read(const char *hex, bool server, struct quic_params *q)
{
	uint8_t room[128];
	size_t n = unhex("0f0401020304", room);

	n += unhex(hex, room + n);
	return server ? quic_params_read_server(room, n, q) : quic_params_read(room, n, q);
}

/* RFC 9368 3, 4 */
static void test_versions(void)
{
	struct quic_params q, p;
	uint8_t room[QUIC_PARAMS_ROOM];

	ok(versions_are_read("1110000000011a2a3a4a6b3343cf00000001", false, &q) && q.has_versions &&
	   q.version == 1 && q.version_preferred == QUIC_VERSION_2,
	   "the first of the versions that is known is preferred");
	ok(versions_are_read("1108000000011a2a3a4a", false, &q) == false,
	   "a client that has chosen what it does not list");
	ok(versions_are_read("1108000000011a2a3a4a", true, &q) && q.version == 1 &&
	   !q.version_preferred, "a server may do so");
	ok(!versions_are_read("11080000000000000001", false, &q), "version 0 is chosen");
	ok(!versions_are_read("110c000000010000000000000001", false, &q), "version 0 is listed");
	ok(!versions_are_read("11050000000100", false, &q), "a version that is cut");
	ok(!versions_are_read("1100", false, &q), "none at all");
	quic_params_init(&p);
	p.has_scid = p.has_versions = true;
	p.version = QUIC_VERSION_2;
	p.version_preferred = QUIC_VERSION_1;
	ok(quic_params_read_server(room, quic_params_put(&p, room), &q) &&
	   q.version == QUIC_VERSION_2 && q.version_preferred == QUIC_VERSION_1, "ours");
}

static void test_params(void)
{
	uint8_t room[QUIC_PARAMS_ROOM];
	struct quic_params p, q;
	size_t n;

	quic_params_init(&p);
	p.has_scid = true;
	p.scid = (struct quic_cid){ 4, { 1, 2, 3, 4 } };
	p.idle_ms = 30000;
	p.data_max = 1 << 20;
	p.streams_bidi = 100;
	n = quic_params_put(&p, room);
	ok(quic_params_read(room, n, &q) && q.idle_ms == 30000 && q.data_max == 1 << 20 &&
	   q.streams_bidi == 100 && quic_cid_is(&q.scid, &p.scid) && q.ack_exponent == 3,
	   "parameters there and back");
	ok(!quic_params_read(room, n - 1, &q), "cut");
	memcpy(room + n, "\x0f\x00", 2);
	ok(!quic_params_read(room, n + 2, &q), "one that is there twice");
	p.has_odcid = true;
	n = quic_params_put(&p, room);
	ok(!quic_params_read(room, n, &q), "one that clients do not send");
	ok(!quic_params_read(room, 0, &q), "none at all: the id is missing");
	n = unhex("0f00030244af", room);
	ok(!quic_params_read(room, n, &q), "datagrams that are too small");
	n = unhex("0f000a0115", room);
	ok(!quic_params_read(room, n, &q), "an exponent that is too large");
	n = unhex("0f001b0401020304", room);
	ok(quic_params_read(room, n, &q), "an unknown one is passed over");
	test_versions();
}

static enum hpack_status qpack_of(const char *hex, struct hpack_field *f, uint8_t *error)
{
	static uint8_t bytes[256];
	static char text[256];
	struct hpack_reader r;
	size_t n = unhex(hex, bytes);
	enum hpack_status s;

	qpack_read_begin(&r, slice_make((char *)bytes, n), text, sizeof(text));
	s = qpack_read(&r, f);
	*error = r.error;
	return s;
}

static void test_qpack(void)
{
	char room[512], text[512];
	struct hpack_writer w = { room, room + sizeof(room) };
	struct hpack_reader r;
	struct hpack_field f;
	unsigned status;
	uint8_t error;

	ok(qpack_of("0000510b2f696e6465782e68746d6c", &f, &error) == HPACK_FIELD &&
	   f.id == HPACK_PATH && slice_eq(f.value, SLICE("/index.html")), "RFC 9204 B.1");
	ok(qpack_of("0000d1", &f, &error) == HPACK_FIELD && f.id == HPACK_METHOD &&
	   slice_eq(f.value, SLICE("GET")), "an entry of the static table");
	ok(qpack_of("0000ff23", &f, &error) == HPACK_FIELD &&
	   slice_eq(f.value, SLICE("sameorigin")), "the last one");
	ok(qpack_of("0000ff24", &f, &error) == HPACK_BAD && error == HPACK_ERR_INDEX,
	   "one behind it");
	ok(qpack_of("000080", &f, &error) == HPACK_BAD && error == HPACK_ERR_INDEX,
	   "an entry of the dynamic table");
	ok(qpack_of("000010", &f, &error) == HPACK_BAD && error == HPACK_ERR_INDEX,
	   "one behind the base");
	ok(qpack_of("0200d1", &f, &error) == HPACK_BAD && error == HPACK_ERR_INDEX,
	   "a section that waits for insertions");
	ok(qpack_of("00", &f, &error) == HPACK_BAD && error == HPACK_ERR_TRUNCATED,
	   "half a prefix");
	ok(qpack_of("0000510b2f", &f, &error) == HPACK_BAD && error == HPACK_ERR_TRUNCATED,
	   "a value that is cut");
	qpack_write_begin(&w);
	qpack_write_status(&w, 200);
	qpack_write_status(&w, 418);
	ok(qpack_write_field(&w, FIELD_CONTENT_TYPE, SLICE("content-type"), SLICE("text/plain")) &&
	   qpack_write_field(&w, FIELD_SET_COOKIE, SLICE("set-cookie"), SLICE("a=b")) &&
	   qpack_write_field(&w, FIELD_OTHER, SLICE("x-some-name"), SLICE("\x01\x02\x03")),
	   "fields are written");
	qpack_read_begin(&r, slice_make(room, (size_t)(w.at - room)), text, sizeof(text));
	for (status = 200; status; status = status == 200 ? 418 : 0)
		ok(qpack_read(&r, &f) == HPACK_FIELD && f.id == HPACK_STATUS &&
		   (unsigned)(f.value.ptr[2] - '0') == status % 10, "status %u", status);
	ok(qpack_read(&r, &f) == HPACK_FIELD && f.id == FIELD_CONTENT_TYPE &&
	   slice_eq(f.value, SLICE("text/plain")), "a whole entry");
	ok(qpack_read(&r, &f) == HPACK_FIELD && f.id == FIELD_SET_COOKIE && f.never_indexed,
	   "a secret");
	ok(qpack_read(&r, &f) == HPACK_FIELD && slice_eq(f.name, SLICE("x-some-name")) &&
	   slice_eq(f.value, SLICE("\x01\x02\x03")), "a literal");
	ok(qpack_read(&r, &f) == HPACK_END, "the end");
	w.end = w.at + 10;
	ok(!qpack_write_field(&w, FIELD_OTHER, SLICE("name"), SLICE("value")), "no room");
}

int main(void)
{
	test_integers();
	test_packets();
	test_frames();
	test_params();
	test_qpack();
	return done_testing();
}
