/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* h2_head.h - decodes HTTP/2 message heads: pseudo-fields, fields and framing
 *
 * h2_head_decode() walks over a whole header block (hpack.h) and checks that it is a well-formed
 * head (RFC 9113 8). The result is one struct with what a mux needs to fill the message model, like
 * h1.h for HTTP/1. Anything that would be ambiguous after translation to HTTP/1 is refused here.
 *
 * Texts   : slices of constants or of the caller's text room, H2_HEAD_TEXT_ROOM() bytes, typically
 *           a buffer of the thread; h2_head_move() then moves a head elsewhere.
 * Limits  : a head beyond <field_capacity> or <list_max> is H2_HEAD_TOO_LARGE: it was walked to its
 *           end, and the next one can be read. One with more than twice as many fields, or more
 *           than <text_max> bytes of texts, is H2_HEAD_BROKEN: few bytes of a block may stand for
 *           very many, and receivers should not be forced to read them (RFC 9113 4.3, 10.5.1).
 * Changed : cookie crumbs are joined by "; " into one field, the last one (8.2.3); ":authority"
 *           becomes the first field, Host, and overrides a Host beside it (8.3.1); the scheme's own
 *           port is removed from it; equal Content-Lengths are merged, without leading zeros;
 *           blanks around values are removed.
 * Refused : names with upper case or bytes that are not allowed in tokens, values with NUL, CR or
 *           LF, fields of one hop (connection, keep-alive, proxy-connection, transfer-encoding,
 *           upgrade, te other than "trailers"); pseudo-fields that are unknown, repeated, missing,
 *           misplaced, of the other kind of message, or with bytes that they must not have;
 *           different Hosts; a bad or conflicting Content-Length. Trailers about framing or routing
 *           are dropped.
 * Owns    : nothing. Threads: one at a time per decoder.
 * See     : RFC 9113 8, RFC 8441; manual "option accept-unsafe-violations-in-http-request".
 */
#ifndef CODEC_H2_HEAD_H
#define CODEC_H2_HEAD_H

#include "codec/hpack.h"

/* The kind of section that a block is. */
enum h2_head_kind { H2_HEAD_REQUEST, H2_HEAD_RESPONSE, H2_HEAD_TRAILERS };

/* Options of h2_head_decode(). */
#define H2_HEAD_OPT_END_STREAM 0x01 /* no body follows: a Content-Length must be 0 */
#define H2_HEAD_OPT_CONNECT    0x02 /* extended CONNECT was announced (RFC 8441) */
#define H2_HEAD_OPT_UNSAFE     0x04 /* option accept-unsafe-violations-in-http-{request,response} */
#define H2_HEAD_OPT_TO_HEAD    0x08 /* response to HEAD: its Content-Length has no body */
#define H2_HEAD_OPT_DISCARD    0x10 /* only update the decoder: H2_HEAD_REFUSED or _BROKEN */

/* Facts about a head. */
#define H2_HEAD_FL_CONTENT_LENGTH  0x01 /* has one: content_length */
#define H2_HEAD_FL_HOST            0x02 /* has a Host field (host_index) */
#define H2_HEAD_FL_AUTHORITY       0x04 /* had ":authority" */
#define H2_HEAD_FL_EXPECT_CONTINUE 0x08 /* Expect: 100-continue */
#define H2_HEAD_FL_TE_TRAILERS     0x10 /* te: trailers */
#define H2_HEAD_FL_VIOLATION       0x20 /* accepted only because of H2_HEAD_OPT_UNSAFE */
#define H2_HEAD_FL_OTHER_SCHEME    0x40 /* ":scheme" is neither http nor https */

/* X(symbol, "meaning") why H2_HEAD_REFUSED */
#define H2_HEAD_ERRORS(X) \
	X(NONE, "no error") \
	X(NAME, "invalid field name") \
	X(VALUE, "invalid character in field value") \
	X(PSEUDO_UNKNOWN, "unknown or unexpected pseudo-field") \
	X(PSEUDO_ORDER, "pseudo-field after a field") \
	X(PSEUDO_TWICE, "repeated pseudo-field") \
	X(PSEUDO_MISSING, "missing pseudo-field") \
	X(METHOD, "invalid :method") \
	X(SCHEME, "invalid :scheme") \
	X(AUTHORITY, "invalid :authority or Host") \
	X(PATH, "invalid :path") \
	X(PROTOCOL, "invalid or unexpected :protocol") \
	X(STATUS, "invalid :status") \
	X(HOP_FIELD, "field that HTTP/2 forbids") \
	X(CONTENT_LENGTH, "invalid, conflicting or wrong Content-Length") \
	X(TRAILER, "invalid trailer")

enum h2_head_error {
#define X(symbol, text) H2_HEAD_ERR_##symbol,
	H2_HEAD_ERRORS(X)
#undef X
};

enum h2_head_status {
	H2_HEAD_OK,
	H2_HEAD_REFUSED,   /* malformed: a stream error, PROTOCOL_ERROR. Tables are in sync */
	H2_HEAD_TOO_LARGE, /* too many fields or bytes; valid as far as seen. Tables are in sync */
	H2_HEAD_BROKEN     /* a connection error, COMPRESSION_ERROR: hpack_error */
};

struct h2_head {
	/* set by the caller */
	struct h1_field *fields;   /* room for H2_HEAD_FIELD_ROOM(field_capacity) fields */
	uint16_t field_capacity;   /* limit of resulting fields; tune.http.maxhdr N: N - 1 */
	/* limit of the list in bytes: texts, and H2_HEAD_FIELD_COST per field */
	uint32_t list_max;
	uint32_t text_max;         /* limit of text bytes that are read at all; list_max or more */
	char *text;                /* H2_HEAD_TEXT_ROOM(text_max) bytes */

	/* results */
	uint16_t field_count;
	int16_t host_index;        /* of the Host field in fields, -1: none */
	uint16_t status;           /* responses: 100 to 999, not 101 */
	uint8_t method_id;         /* enum h1_method */
	uint8_t error;             /* enum h2_head_error after H2_HEAD_REFUSED */
	uint8_t hpack_error;       /* enum hpack_error after H2_HEAD_BROKEN */
	uint32_t flags;            /* H2_HEAD_FL_* */
	uint64_t content_length;   /* with H2_HEAD_FL_CONTENT_LENGTH, else 0 */
	struct slice method;
	struct slice scheme;       /* in lower case; absent in a plain CONNECT */
	struct slice authority;    /* ":authority", else the Host field; may be absent */
	struct slice path;         /* absent in a plain CONNECT */
	struct slice protocol;     /* of an extended CONNECT, otherwise absent */
	size_t text_len;           /* bytes of <text> in use: slices point there or to constants */
	size_t list_len;           /* size of the list as sent, counted as in RFC 9113 6.5.2 */
};

/* Room for the texts of a list, and for the joined cookies. */
#define H2_HEAD_TEXT_ROOM(text_max) ((size_t)(text_max) * 2)
/* Room for fields while a head is read: crumbs of cookies need one each until they are joined. */
#define H2_HEAD_FIELD_ROOM(capacity) (2 * (size_t)(capacity) + 2)
/* What a field counts in addition to its texts. */
#define H2_HEAD_FIELD_COST 8

/* Decodes and checks <block> as a head of this kind. Returns an enum h2_head_status; unless it is
 * H2_HEAD_OK, the results are those found so far (for logs).
 */
enum h2_head_status h2_head_decode(struct hpack_decoder *d, struct slice block,
				   enum h2_head_kind kind, unsigned options, struct h2_head *head);

/* Relocates <head>: slices (fields included) that point into head->text are changed to the same
 * bytes at <text>, where the caller has copied head->text_len bytes. head->text becomes <text>.
 */
void h2_head_move(struct h2_head *head, char *text);

/* Returns the text of an enum h2_head_error. */
const char *h2_head_error_text(uint8_t error);

/* May a field with this id be sent in HTTP/2? False for fields of one hop, such as Connection. */
bool h2_field_is_allowed(uint8_t id);

#endif
