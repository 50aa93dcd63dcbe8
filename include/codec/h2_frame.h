/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* h2_frame.h - HTTP/2 frames: headers, checks, small payloads, settings (RFC 9113 4 to 7)
 *
 * A frame is a header of 9 bytes and a payload. h2_frame_parse() reads the header; h2_frame_check()
 * decides from the header alone, by a table, whether the frame can be valid (length, stream
 * number). Checks that depend on the state of a stream or connection are up to the mux. Functions
 * here read and write payloads of fixed size; header blocks are the subject of hpack.h and
 * h2_head.h.
 *
 * Owns    : nothing. All functions are pure.
 * Threads : any.
 * Fails   : with an enum h2_error, where H2_ERR_NO_ERROR (0) means valid; each function says
 *           whether it is an error of the stream or of the connection.
 */
#ifndef CODEC_H2_FRAME_H
#define CODEC_H2_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/slice.h"

#define H2_FRAME_HEADER_LEN 9
/* What a client sends first (RFC 9113 3.4); see h1_match_preface(). */
#define H2_PREFACE "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
#define H2_PREFACE_LEN 24
/* The frame size that every peer must accept, and the largest that may be negotiated. */
#define H2_FRAME_SIZE_MIN 16384u
#define H2_FRAME_SIZE_MAX 16777215u
#define H2_WINDOW_MAX 0x7fffffffu
#define H2_WINDOW_DEFAULT 65535u
#define H2_STREAM_MAX 0x7fffffffu

/* X(symbol, code, "NAME") */
#define H2_FRAME_TYPES(X) \
	X(DATA, 0x0) \
	X(HEADERS, 0x1) \
	X(PRIORITY, 0x2) \
	X(RST_STREAM, 0x3) \
	X(SETTINGS, 0x4) \
	X(PUSH_PROMISE, 0x5) \
	X(PING, 0x6) \
	X(GOAWAY, 0x7) \
	X(WINDOW_UPDATE, 0x8) \
	X(CONTINUATION, 0x9)

enum h2_frame_type {
#define X(symbol, code) H2_FT_##symbol = code,
	H2_FRAME_TYPES(X)
#undef X
	H2_FT_COUNT /* unknown types from here on: ignored (RFC 9113 4.1) */
};

#define H2_FL_ACK         0x01 /* SETTINGS, PING */
#define H2_FL_END_STREAM  0x01 /* DATA, HEADERS */
#define H2_FL_END_HEADERS 0x04 /* HEADERS, PUSH_PROMISE, CONTINUATION */
#define H2_FL_PADDED      0x08 /* DATA, HEADERS, PUSH_PROMISE */
#define H2_FL_PRIORITY    0x20 /* HEADERS */

/* RFC 9113 7. X(symbol, code) */
#define H2_ERRORS(X) \
	X(NO_ERROR, 0x0) \
	X(PROTOCOL_ERROR, 0x1) \
	X(INTERNAL_ERROR, 0x2) \
	X(FLOW_CONTROL_ERROR, 0x3) \
	X(SETTINGS_TIMEOUT, 0x4) \
	X(STREAM_CLOSED, 0x5) \
	X(FRAME_SIZE_ERROR, 0x6) \
	X(REFUSED_STREAM, 0x7) \
	X(CANCEL, 0x8) \
	X(COMPRESSION_ERROR, 0x9) \
	X(CONNECT_ERROR, 0xa) \
	X(ENHANCE_YOUR_CALM, 0xb) \
	X(INADEQUATE_SECURITY, 0xc) \
	X(HTTP_1_1_REQUIRED, 0xd)

enum h2_error {
#define X(symbol, code) H2_ERR_##symbol = code,
	H2_ERRORS(X)
#undef X
	H2_ERR_COUNT
};

/* Returns "HEADERS", etc.; "UNKNOWN" for other types. */
const char *h2_frame_type_name(uint8_t type);
/* Returns "PROTOCOL_ERROR", etc.; "UNKNOWN" for other codes. */
const char *h2_error_name(uint32_t code);

/* ---- integers, most significant byte first */

static inline uint32_t h2_get_u16(const char *p)
{
	const uint8_t *b = (const uint8_t *)p;

	return (uint32_t)b[0] << 8 | b[1];
}

static inline uint32_t h2_get_u32(const char *p)
{
	const uint8_t *b = (const uint8_t *)p;

	return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static inline void h2_put_u32(char *p, uint32_t v)
{
	p[0] = (char)(v >> 24);
	p[1] = (char)(v >> 16);
	p[2] = (char)(v >> 8);
	p[3] = (char)v;
}

/* ---- frame headers */

struct h2_frame {
	uint32_t length;  /* of the payload, up to H2_FRAME_SIZE_MAX */
	uint32_t stream;  /* the reserved bit is cleared */
	uint8_t type;     /* enum h2_frame_type, or unknown */
	uint8_t flags;
};

/* Reads a header of H2_FRAME_HEADER_LEN bytes. */
static inline struct h2_frame h2_frame_parse(const char *p)
{
	return (struct h2_frame){
		.length = h2_get_u32(p) >> 8, .type = (uint8_t)p[3], .flags = (uint8_t)p[4],
		.stream = h2_get_u32(p + 5) & H2_STREAM_MAX,
	};
}

/* Writes a header of H2_FRAME_HEADER_LEN bytes; returns the address after it. */
static inline char *h2_frame_put(char *p, uint32_t length, uint8_t type, uint8_t flags,
				 uint32_t stream)
{
	h2_put_u32(p, length << 8 | type);
	p[4] = (char)flags;
	h2_put_u32(p + 5, stream);
	return p + H2_FRAME_HEADER_LEN;
}

/* Checks what the header alone determines (RFC 9113 4.2 and 6): the length against the <size_max>
 * that we announced and against the limits of the type, and whether a stream is named. Returns an
 * enum h2_error. *connection: is it a connection error? Otherwise a stream error (a PRIORITY of
 * wrong length). Unknown types are only checked against <size_max>.
 */
uint8_t h2_frame_check(const struct h2_frame *f, uint32_t size_max, bool *connection);

/* The parts around the content of a DATA, HEADERS or PUSH_PROMISE payload. */
struct h2_content {
	uint32_t lead; /* bytes before it: pad length, priority, promised stream */
	uint32_t pad;  /* bytes after it */
};

/* How many bytes of payload h2_content_parse() may look at. */
#define H2_CONTENT_LEAD_MAX 6

/* Finds the content of <f>, whose payload begins with <start> (H2_CONTENT_LEAD_MAX bytes, or the
 * whole payload if shorter). On success lead + pad <= f->length. Connection errors: PROTOCOL_ERROR:
 * the padding is too long. FRAME_SIZE_ERROR: the payload is too short for its lead. *self, which
 * may be NULL: the stream depends on itself (a stream error, RFC 7540 5.3.1).
 */
uint8_t h2_content_parse(const struct h2_frame *f, struct slice start, struct h2_content *out,
			 bool *self);

/* ---- whole frames of fixed size; each writes to <p> and returns the address after it */

#define H2_RST_STREAM_LEN (H2_FRAME_HEADER_LEN + 4)
#define H2_WINDOW_UPDATE_LEN (H2_FRAME_HEADER_LEN + 4)
#define H2_PING_LEN (H2_FRAME_HEADER_LEN + 8)
#define H2_GOAWAY_LEN (H2_FRAME_HEADER_LEN + 8)

/* <code>: enum h2_error, RFC 9113 6.4. */
char *h2_put_rst_stream(char *p, uint32_t stream, uint32_t code);
/* <increment>: 1 to H2_WINDOW_MAX. */
char *h2_put_window_update(char *p, uint32_t stream, uint32_t increment);
/* <data>: the 8 bytes to carry. */
char *h2_put_ping(char *p, const char *data, bool ack);
/* <last_stream>: the peer's last stream that was or may be processed, RFC 9113 6.8. */
char *h2_put_goaway(char *p, uint32_t last_stream, uint32_t code);

/* Reads the 31-bit number of a WINDOW_UPDATE or PRIORITY, without the reserved (or exclusive) bit.
 */
static inline uint32_t h2_get_u31(const char *p)
{
	return h2_get_u32(p) & 0x7fffffffu;
}

/* ---- settings */

/* RFC 9113 6.5.2, RFC 8441 3. X(member, SYMBOL, number, default, smallest, largest, error if
 * outside). A largest value of UINT32_MAX means any.
 */
#define H2_SETTINGS(X) \
	X(header_table_size, HEADER_TABLE_SIZE, 1, 4096, 0, UINT32_MAX, PROTOCOL_ERROR) \
	X(enable_push, ENABLE_PUSH, 2, 1, 0, 1, PROTOCOL_ERROR) \
	X(max_concurrent_streams, MAX_CONCURRENT_STREAMS, 3, UINT32_MAX, 0, UINT32_MAX, \
	  PROTOCOL_ERROR) \
	X(initial_window_size, INITIAL_WINDOW_SIZE, 4, H2_WINDOW_DEFAULT, 0, H2_WINDOW_MAX, \
	  FLOW_CONTROL_ERROR) \
	X(max_frame_size, MAX_FRAME_SIZE, 5, H2_FRAME_SIZE_MIN, H2_FRAME_SIZE_MIN, \
	  H2_FRAME_SIZE_MAX, PROTOCOL_ERROR) \
	X(max_header_list_size, MAX_HEADER_LIST_SIZE, 6, UINT32_MAX, 0, UINT32_MAX, \
	  PROTOCOL_ERROR) \
	X(enable_connect_protocol, ENABLE_CONNECT_PROTOCOL, 8, 0, 0, 1, PROTOCOL_ERROR)

enum h2_setting {
#define X(member, symbol, number, def, low, high, error) H2_SET_##symbol = number,
	H2_SETTINGS(X)
#undef X
};

struct h2_settings {
#define X(member, symbol, number, def, low, high, error) uint32_t member;
	H2_SETTINGS(X)
#undef X
};

/* Size of one setting on the wire, and the maximum that h2_settings_put() writes. */
#define H2_SETTING_LEN 6
#define H2_SETTINGS_LEN_MAX (H2_FRAME_HEADER_LEN + 7 * H2_SETTING_LEN)

/* Sets the values that are in force before any SETTINGS frame. */
void h2_settings_init(struct h2_settings *s);
/* Reads a SETTINGS payload (a multiple of H2_SETTING_LEN bytes, see h2_frame_check()) into <s>;
 * skips unknown settings. Returns an enum h2_error, of the connection; <s> may then be partly
 * changed. <from_server>: the sender is a server, which must not enable push (RFC 9113 6.5.2). No
 * peer may withdraw the extended CONNECT (RFC 8441 3).
 */
uint8_t h2_settings_parse(struct h2_settings *s, struct slice payload, bool from_server);
/* Writes a SETTINGS frame with the values that differ from the defaults; returns the address after
 * it. At most H2_SETTINGS_LEN_MAX bytes.
 */
char *h2_settings_put(char *p, const struct h2_settings *s);
/* Writes the acknowledgement, H2_FRAME_HEADER_LEN bytes. */
static inline char *h2_put_settings_ack(char *p)
{
	return h2_frame_put(p, 0, H2_FT_SETTINGS, H2_FL_ACK, 0);
}

#endif
