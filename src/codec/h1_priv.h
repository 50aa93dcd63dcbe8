/* SPDX-License-Identifier: GPL-2.0-or-later */
/* h1_priv.h - what the files of the H1 head parser share */
#ifndef CODEC_H1_PRIV_H
#define CODEC_H1_PRIV_H

#include <string.h>
#include <strings.h>
#include "base/bug.h"
#include "codec/h1.h"

/* Classes of bytes. */
#define H1_CC_TOKEN 0x01 /* RFC 9110 5.6.2 */
#define H1_CC_URI   0x02 /* visible ASCII */
#define H1_CC_HOST  0x04 /* of names and ports in Host, without the comma; no brackets */
extern const uint8_t h1_char_class[256];
/* The lower case of a token character, 0 for any other. */
extern const uint8_t h1_token_lower[256];

#define H1_ONES 0x0101010101010101ull
#define H1_HIGHS 0x8080808080808080ull

/* Where the first of the bytes flagged in <flags> (their highest bits) is in a word of memory. In
 * big endian it cannot be told by arithmetic that flags bytes above a low one too: 0, look there.
 */
static inline unsigned h1_first_flag(uint64_t flags)
{
	return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ?
	       (unsigned)__builtin_ctzll(flags) / 8 : 0;
}

/* The first byte below 16 at or after <at>: it may be NUL, CR, LF, or a harmless one such as a
 * tab.
 */
static inline const char *h1_skip_text(const char *at, const char *end)
{
	uint64_t word, low;

	while (end - at >= 8) {
		memcpy(&word, at, 8);
		/* exact for the lowest byte flagged, which is the first one in little endian; in
		 * big endian, a false one before it only costs a byte-wise look
		 */
		low = (word - 0x10 * H1_ONES) & ~word & H1_HIGHS;
		if (low) {
			at += h1_first_flag(low);
			while ((uint8_t)*at >= 16)
				at++;
			return at;
		}
		at += 8;
	}
	while (at < end && (uint8_t)*at >= 16)
		at++;
	return at;
}

/* A line of fields being read: [at, end) is what is there. */
struct h1_cursor {
	const char *at, *end;
};

/* The result of reading one line. */
enum h1_line { H1_LINE_OK, H1_LINE_LAST, H1_LINE_MORE, H1_LINE_BAD };

/* Reads a field line (with its folded continuations) at <c>, or the empty line that ends fields
 * (H1_LINE_LAST). H1_LINE_OK: <c> is at the next line, <field> is filled, its name in lower
 * case; with an invalid name that <unsafe> accepts, the name is empty. <flags> collects H1_FL_*.
 * H1_LINE_BAD: <c>->at is the byte refused, *error why.
 */
struct h1_line_state {
	bool unsafe;
	uint8_t error;
	uint32_t flags;
};
enum h1_line h1_read_field(struct h1_cursor *c, struct h1_field *field, struct h1_line_state *s);

/* Reads the start line at <p>->line. Same results; p->line moves past it. */
enum h1_line h1_read_request_line(struct h1_parser *p, struct slice input, struct h1_head *out);
enum h1_line h1_read_status_line(struct h1_parser *p, struct slice input, struct h1_head *out);

/* Takes account of a field just stored as the last one of <out>; it may be removed again.
 * Returns an enum h1_error.
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
