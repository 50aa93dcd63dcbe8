/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* json_text.h - converts texts of any bytes to JSON, piece by piece
 *
 * The output of a command becomes ,"severity":3,"output":"text" or, if it is JSON itself,
 * ,"data":{...}. Bytes that are not UTF-8 count as Latin-1. Newlines at the end are dropped.
 */
#ifndef CODEC_JSON_TEXT_H
#define CODEC_JSON_TEXT_H

#include "base/strbuf.h"

struct json_writer {
	/* JSON was asked for: output that looks like JSON is passed unchanged */
	bool maybe_data;
	enum { JSON_AT_START, JSON_IN_DATA, JSON_IN_TEXT } at;
	char held[16];        /* the beginning, or an incomplete UTF-8 sequence */
	unsigned held_len;
	unsigned line_ends;   /* received but not yet written */
};

/* Decodes the characters between the quotes of a string, as UTF-8, into <out> (at most text.len
 * bytes). -1: malformed, or with a NUL.
 */
long json_text_decode(struct slice text, char *out);
/* Returns how many bytes of <text> from <at> on need no escape between the quotes of a string:
 * printable ASCII except '"' and the backslash.
 */
size_t json_plain_len(struct slice text, size_t at);
/* Writes a whole string, in quotes. */
void json_put_string(struct strbuf *out, struct slice text);
void json_writer_begin(struct json_writer *w, bool maybe_data);
/* Adds bytes of the output, as they come. */
void json_writer_add(struct json_writer *w, struct strbuf *out, struct slice bytes);
void json_writer_end(struct json_writer *w, struct strbuf *out);

#endif
