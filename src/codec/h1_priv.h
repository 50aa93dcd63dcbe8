/* SPDX-License-Identifier: GPL-2.0-or-later */
/* h1_priv.h - shared by the files of the H1 head parser */
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
#define H1_CC_HOST  0x04 /* of names and ports in Host, without comma and brackets */
extern const uint8_t h1_char_class[256];
/* The lower case of a token character, 0 for others. */
extern const uint8_t h1_token_lower[256];

/* Position in the lines of fields: [at, end) is the rest. */
struct h1_cursor {
	const char *at, *end;
};

/* The result of reading one line. */
enum h1_line { H1_LINE_OK, H1_LINE_LAST, H1_LINE_MORE, H1_LINE_BAD };

/* Options for reading field lines, and results. */
struct h1_line_state {
	bool unsafe;
	uint8_t error;
	uint32_t flags;
};

/* Reads a field line (with its continuation lines) at <c>, or the empty line that ends the fields
 * (H1_LINE_LAST). H1_LINE_OK: <c> is at the next line, <field> is filled except its number, its
 * name in lower case; for an invalid name that <unsafe> accepts, the name is empty. <flags>
 * collects H1_FL_*. H1_LINE_BAD: <c>->at is the refused byte, <error> the reason.
 */
enum h1_line h1_read_field(struct h1_cursor *c, struct h1_field *field, struct h1_line_state *s);
/* Reads field lines from <p>->line to the empty line into <out>. Results as above, H1_LINE_LAST
 * when all are read; <p>->line moves past each line that was read.
 */
enum h1_line h1_read_fields(struct h1_parser *p, struct slice input, struct h1_head *out);

/* Read the start line at <p>->line. Results as above; p->line moves past it. */
enum h1_line h1_read_request_line(struct h1_parser *p, struct slice input, struct h1_head *out);
enum h1_line h1_read_status_line(struct h1_parser *p, struct slice input, struct h1_head *out);

/* The fields that h1_note_field() handles, one bit each. */
#define H1_NOTED_FIELDS \
	(1ull << FIELD_HOST | 1ull << FIELD_CONTENT_LENGTH | 1ull << FIELD_TRANSFER_ENCODING | \
	 1ull << FIELD_CONNECTION | 1ull << FIELD_UPGRADE | 1ull << FIELD_TE | \
	 1ull << FIELD_EXPECT | 1ull << FIELD_SEC_WEBSOCKET_KEY | \
	 1ull << FIELD_SEC_WEBSOCKET_ACCEPT)
_Static_assert(FIELD_COUNT <= 64, "a bit for each field");

/* Handles a field that was just stored as the last one of <out>, one of H1_NOTED_FIELDS; may remove
 * it. Returns an enum h1_error.
 */
uint8_t h1_note_field(struct h1_parser *p, struct h1_head *out);
/* Is <value> valid for a Host field? */
bool h1_is_host(struct slice value);
/* Is <value> a length, or a list of equal ones? */
bool h1_is_length(struct slice value);
/* Decides the framing, after the last field. Returns an enum h1_error. */
uint8_t h1_decide(struct h1_parser *p, struct h1_head *out);
/* Checks the request target's syntax and sets out->target. Returns an enum h1_error. */
uint8_t h1_check_target(const struct h1_parser *p, struct h1_head *out);
/* Compares the target's authority with the Host field. */
bool h1_authority_matches(const struct h1_head *out);
/* Normalises an absolute or authority form in place: without the scheme's own port, also in Host,
 * and with a path. Call once, when both agree.
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
