/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* h2_head.h - HTTP/2 message heads: from a header block to pseudo-fields, fields and framing
 *
 * h2_head_decode() walks a whole header block (hpack.h) and checks that it is a well-formed head
 * (RFC 9113 8): what a mux needs to fill the message model is then in one struct, as h1.h gives it
 * for HTTP/1. All that could be read in two ways once translated to HTTP/1 is refused here.
 *
 * Texts   : slices of constants or of the caller's text room, H2_HEAD_TEXT_ROOM() bytes. Typically
 *           a buffer of the thread: then h2_head_move() makes a head live elsewhere.
 * Limits  : a head beyond <field_capacity> or <list_max> is H2_HEAD_TOO_LARGE: it was walked to its
 *           end, and the next one can be read. One of more than twice as many fields, or with more
 *           than <text_max> bytes of texts, is H2_HEAD_BROKEN: few bytes of a block may stand for
 *           very many, and no receiver should be made to read them (RFC 9113 4.3, 10.5.1).
 * Changed : cookie crumbs are joined by "; " into one field, the last one (8.2.3); ":authority"
 *           becomes the first field, Host, and a Host beside it has no say (8.3.1); the scheme's
 *           own port is taken off it; equal Content-Lengths are one, without leading zeros; blanks
 *           around values go.
 * Refused : names with upper case or bytes that are no token, values with NUL, CR or LF, fields of
 *           one hop (connection, keep-alive, proxy-connection, transfer-encoding, upgrade, te other
 *           than "trailers"), pseudo-fields unknown, repeated, missing, misplaced, of the other
 *           kind of message or with bytes that they may not have, different Hosts, bad or
 *           conflicting Content-Length. Trailers which frame or route are left out.
 * Owns    : nothing. Threads: one at a time per decoder.
 * See     : RFC 9113 8, RFC 8441; manual "option accept-unsafe-violations-in-http-request".
 */
#ifndef CODEC_H2_HEAD_H
#define CODEC_H2_HEAD_H

#include "codec/hpack.h"

/* Which section the block is. */
enum h2_head_kind { H2_HEAD_REQUEST, H2_HEAD_RESPONSE, H2_HEAD_TRAILERS };

/* Options of h2_head_decode(). */
#define H2_HEAD_OPT_END_STREAM 0x01 /* no body follows: a Content-Length has to be 0 */
#define H2_HEAD_OPT_CONNECT    0x02 /* extended CONNECT was announced (RFC 8441) */
#define H2_HEAD_OPT_UNSAFE     0x04 /* option accept-unsafe-violations-in-http-{request,response} */
#define H2_HEAD_OPT_TO_HEAD    0x08 /* response to HEAD: its length is not that of a body */
#define H2_HEAD_OPT_DISCARD    0x10 /* only keep the decoder up to date; always H2_HEAD_REFUSED or
				     * H2_HEAD_BROKEN
				     */

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
	H2_HEAD_REFUSED,   /* malformed: a stream error, PROTOCOL_ERROR. Tables are in step. */
	H2_HEAD_TOO_LARGE, /* too many fields or bytes; well-formed as far as seen. In step too. */
	H2_HEAD_BROKEN     /* a connection error, COMPRESSION_ERROR: hpack_error */
};

struct h2_head {
	/* given by the caller */
	struct h1_field *fields;   /* H2_HEAD_FIELD_ROOM(field_capacity) places */
	uint16_t field_capacity;   /* how many may come out; tune.http.maxhdr N: N - 1 */
	uint32_t list_max;         /* bytes of the list: texts, and H2_HEAD_FIELD_COST a field */
	uint32_t text_max;         /* bytes of texts that are read at all; list_max or more */
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
	struct slice authority;    /* ":authority", else the Host field; maybe absent */
	struct slice path;         /* absent in a plain CONNECT */
	struct slice protocol;     /* of an extended CONNECT, else absent */
	size_t text_len;           /* bytes of <text> in use: slices lie there or are constants */
	size_t list_len;           /* size of the list as sent, as RFC 9113 6.5.2 counts */
};

/* Room for the texts of a list and for the cookies joined. */
#define H2_HEAD_TEXT_ROOM(text_max) ((size_t)(text_max) * 2)
/* Places for fields while a head is read: crumbs of cookies need one each until they are joined. */
#define H2_HEAD_FIELD_ROOM(capacity) (2 * (size_t)(capacity) + 2)
/* What a field counts besides its texts. */
#define H2_HEAD_FIELD_COST 8

/* Decodes and checks <block> as a head of this kind. See enum h2_head_status for what comes out;
 * after anything but H2_HEAD_OK the results are those found so far (for logs).
 */
enum h2_head_status h2_head_decode(struct hpack_decoder *d, struct slice block,
				   enum h2_head_kind kind, unsigned options, struct h2_head *head);

/* Makes all slices of <head> (fields included) which point into head->text point to the same bytes
 * at <text>, where the caller copied head->text_len bytes; head->text becomes <text>.
 */
void h2_head_move(struct h2_head *head, char *text);

/* The meaning of a refusal for humans. */
const char *h2_head_error_text(uint8_t error);

/* May a field of this id be sent in HTTP/2? False for those of one hop, such as Connection. */
bool h2_field_is_allowed(uint8_t id);

#endif
