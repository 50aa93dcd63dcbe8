/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* json_text.h - texts of any bytes as JSON, while they come
 *
 * What a command says becomes ,"severity":3,"output":"text", or, where it is JSON itself,
 * ,"data":{...}. Bytes that are no UTF-8 count as Latin-1. Line ends at the end are left out.
 */
#ifndef CODEC_JSON_TEXT_H
#define CODEC_JSON_TEXT_H

#include "base/strbuf.h"

struct json_writer {
	bool maybe_data;      /* it was asked for JSON: what looks so is given as it is */
	enum { JSON_AT_START, JSON_IN_DATA, JSON_IN_TEXT } at;
	char held[16];        /* the begin, or a sequence of UTF-8 that is not complete */
	unsigned held_len;
	unsigned line_ends;   /* that came and were not written */
};

/* What the characters between the quotes of a string stand for, as UTF-8, into <out> (text.len
 * bytes at most). -1: malformed, or with a NUL.
 */
long json_text_decode(struct slice text, char *out);
/* How many bytes of <text> from <at> on stand for themselves between the quotes of a string, one by
 * one: printable ASCII but '"' and the backslash.
 */
size_t json_plain_len(struct slice text, size_t at);
/* A whole string, in quotes. */
void json_put_string(struct strbuf *out, struct slice text);
void json_writer_begin(struct json_writer *w, bool maybe_data);
/* Bytes of the output, as they come. */
void json_writer_add(struct json_writer *w, struct strbuf *out, struct slice bytes);
void json_writer_end(struct json_writer *w, struct strbuf *out);

#endif
