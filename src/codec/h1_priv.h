/* SPDX-License-Identifier: GPL-2.0-or-later */
/* h1_priv.h - what the files of the H1 head parser share */
#ifndef CODEC_H1_PRIV_H
#define CODEC_H1_PRIV_H

#include <string.h>
#include <strings.h>
#include "base/bug.h"
#include "codec/h1.h"
#include "h1_wide.h"

/* Classes of bytes. */
#define H1_CC_TOKEN 0x01 /* RFC 9110 5.6.2 */
#define H1_CC_URI   0x02 /* visible ASCII */
#define H1_CC_HOST  0x04 /* of names and ports in Host, without the comma; no brackets */
extern const uint8_t h1_char_class[256];
/* The lower case of a token character, 0 for any other. */
extern const uint8_t h1_token_lower[256];

/* A line of fields being read: [at, end) is what is there. */
struct h1_cursor {
	const char *at, *end;
};

/* The result of reading one line. */
enum h1_line { H1_LINE_OK, H1_LINE_LAST, H1_LINE_MORE, H1_LINE_BAD };

/* How field lines are read, and what they told. */
struct h1_line_state {
	bool unsafe;
	uint8_t error;
	uint32_t flags;
};

/* Reads a field line (with its folded continuations) at <c>, or the empty line that ends fields
 * (H1_LINE_LAST). H1_LINE_OK: <c> is at the next line, <field> is filled but for its number, its
 * name in lower case; with an invalid name that <unsafe> accepts, the name is empty. <flags>
 * collects H1_FL_*. H1_LINE_BAD: <c>->at is the byte refused, <error> why.
 */
enum h1_line h1_read_field(struct h1_cursor *c, struct h1_field *field, struct h1_line_state *s);
/* Reads field lines at <p>->line up to the empty one into <out>. The same results, H1_LINE_LAST
 * when all are read; <p>->line moves past each line that was read.
 */
enum h1_line h1_read_fields(struct h1_parser *p, struct slice input, struct h1_head *out);

/* Reads the start line at <p>->line. Same results; p->line moves past it. */
enum h1_line h1_read_request_line(struct h1_parser *p, struct slice input, struct h1_head *out);
enum h1_line h1_read_status_line(struct h1_parser *p, struct slice input, struct h1_head *out);

/* The fields that h1_note_field() looks at, one bit each. */
#define H1_NOTED_FIELDS \
	(1ull << FIELD_HOST | 1ull << FIELD_CONTENT_LENGTH | 1ull << FIELD_TRANSFER_ENCODING | \
	 1ull << FIELD_CONNECTION | 1ull << FIELD_UPGRADE | 1ull << FIELD_TE | \
	 1ull << FIELD_EXPECT | 1ull << FIELD_SEC_WEBSOCKET_KEY | \
	 1ull << FIELD_SEC_WEBSOCKET_ACCEPT)
_Static_assert(FIELD_COUNT <= 64, "a bit for each field");

/* Takes account of a field just stored as the last one of <out>, one of H1_NOTED_FIELDS; it may be
 * removed again. Returns an enum h1_error.
 */
uint8_t h1_note_field(struct h1_parser *p, struct h1_head *out);
/* May <value> be that of a Host field? */
bool h1_is_host(struct slice value);
/* Is <value> a length, or a list of equal ones? */
bool h1_is_length(struct slice value);
/* After the last field: decides the framing. Returns an enum h1_error. */
uint8_t h1_decide(struct h1_parser *p, struct h1_head *out);
/* Checks the request target's syntax and sets out->target. Returns an enum h1_error. */
uint8_t h1_check_target(const struct h1_parser *p, struct h1_head *out);
/* Compares the target's authority with the Host field. */
bool h1_authority_matches(const struct h1_head *out);
/* Writes an absolute or authority form in one way, in place: without the scheme's own port, in Host
 * neither, and with a path. Once, when both agree.
 */
void h1_tidy_target(struct h1_head *out);

/* Records an error at <at>. */
static inline enum h1_line h1_line_bad(struct h1_parser *p, struct slice input, const char *at,
				       uint8_t error)
{
	p->error = error;
	p->error_offset = (uint32_t)(at - input.ptr);
	return H1_LINE_BAD;
}

#endif
