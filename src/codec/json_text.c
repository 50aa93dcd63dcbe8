/* SPDX-License-Identifier: GPL-2.0-or-later */
/* json_text.c - texts of any bytes as JSON, while they come */
#include "codec/json_text.h"
#include <stdio.h>
#include <string.h>
#include "base/num.h"
#include "base/word8.h"

/* As long as "[3]: ", the severity in front of a message. */
#define START_LEN 5

/* Bytes of the sequence of UTF-8 at the begin of <text>; 0: it is none; more than text.len: it is
 * not complete.
 */
static unsigned sequence_len(struct slice text)
{
	unsigned char c = (unsigned char)text.ptr[0];
	unsigned len = c < 0x80 ? 1 : c >= 0xc2 && c < 0xe0 ? 2 : c >= 0xe0 && c < 0xf0 ? 3 :
		       c >= 0xf0 && c < 0xf5 ? 4 : 0;

	for (unsigned i = 1; i < len && i < text.len; i++) {
		unsigned char next = (unsigned char)text.ptr[i];

		if ((next & 0xc0) != 0x80)
			return 0;
		/* too long a form, surrogates, beyond the last character */
		if (i == 1 && ((c == 0xe0 && next < 0xa0) || (c == 0xed && next >= 0xa0) ||
			       (c == 0xf0 && next < 0x90) || (c == 0xf4 && next >= 0x90)))
			return 0;
	}
	return len;
}

/* --- strings that come ------------------------------------------------------------------------ */

/* The four digits behind "\\u" at <at>; -1: they are not there. */
static long code_unit(struct slice text, size_t at)
{
	uint64_t v;

	if (at + 6 > text.len || text.ptr[at] != '\\' || text.ptr[at + 1] != 'u' ||
	    !num_parse_hex(slice_sub(text, at + 2, at + 6), &v))
		return -1;
	return (long)v;
}

static size_t put_utf8(char *out, unsigned long c)
{
	unsigned more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
	static const unsigned char first[] = { 0, 0xc0, 0xe0, 0xf0 };

	out[0] = (char)(first[more] | c >> (6 * more));
	for (unsigned i = 1; i <= more; i++)
		out[i] = (char)(0x80 | (c >> (6 * (more - i)) & 0x3f));
	return more + 1;
}

/* The character of the escape at *at, which moves behind it; -1: it is none. */
static long escape_decode(struct slice text, size_t *at)
{
	static const char letters[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
	const char *letter = *at + 1 < text.len ? strchr(letters, text.ptr[*at + 1]) : NULL;
	long c = code_unit(text, *at), low;

	if (letter && *letter) {
		*at += 2;
		return bytes[letter - letters];
	}
	*at += 6;
	if (c < 0xd800 || c > 0xdfff)
		return c;
	low = code_unit(text, *at);
	if (c > 0xdbff || low < 0xdc00 || low > 0xdfff)
		return -1;
	*at += 6;
	return 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
}

long json_text_decode(struct slice text, char *out)
{
	size_t len = 0, at = 0;

	while (at < text.len) {
		long c;

		if (text.ptr[at] != '\\') {
			if (!text.ptr[at])
				return -1;
			out[len++] = text.ptr[at++];
			continue;
		}
		c = escape_decode(text, &at);
		if (c <= 0)
			return -1;
		len += put_utf8(out + len, (unsigned long)c);
	}
	return (long)len;
}

/* --- texts that go ---------------------------------------------------------------------------- */

static void put_escaped(struct strbuf *out, unsigned char c)
{
	if (c == '"' || c == '\\') {
		strbuf_add_char(out, '\\');
		strbuf_add_char(out, (char)c);
	} else if (c == '\n') {
		strbuf_add_str(out, "\\n");
	} else {
		strbuf_printf(out, "\\u%04x", c);
	}
}

#define EACH(byte) (0x0101010101010101 * (uint64_t)(byte))

/* Is a byte of the eight 0? Bytes of 0x80 and above may count, too. */
static inline uint64_t has_zero(uint64_t v)
{
	return (v - EACH(1)) & ~v;
}

/* Has one of 8 bytes a meaning of its own? */
static inline bool has_special(uint64_t v)
{
	return (v | ((v - EACH(' ')) & ~v) | has_zero(v ^ EACH('"')) | has_zero(v ^ EACH('\\')) |
		has_zero(v ^ EACH(127))) & EACH(0x80);
}

size_t json_plain_len(struct slice text, size_t at)
{
	const char *from = text.ptr + at;
	size_t len = text.len - at, i = 0;

	while (i + 8 <= len && !has_special(word8_at(from + i)))
		i += 8;
	/* the end of a text is seen as its last 8 bytes */
	if (len - i < 8 && (len == i || !has_special(len >= 8 ? word8_at(from + len - 8) :
						     word8_of_short(from, len))))
		return len;
	while (i < len && from[i] >= ' ' && from[i] < 127 && from[i] != '"' && from[i] != '\\')
		i++;
	return i;
}

/* Returns how many bytes were written: all, or those before a sequence that is not complete. */
static size_t put_bytes(struct strbuf *out, struct slice text, bool last)
{
	size_t at = 0, plain = 0;

	while ((at += json_plain_len(text, at)) < text.len) {
		unsigned char c = (unsigned char)text.ptr[at];
		unsigned len = sequence_len(slice_sub(text, at, text.len));

		if (len > text.len - at && !last)
			break;
		if (len && len <= text.len - at && c >= ' ' && c != '"' && c != '\\' && c != 127) {
			at += len;
			continue;
		}
		strbuf_add(out, slice_sub(text, plain, at));
		put_escaped(out, c);
		plain = ++at;
	}
	strbuf_add(out, slice_sub(text, plain, at));
	return at;
}

void json_put_string(struct strbuf *out, struct slice text)
{
	strbuf_add_char(out, '"');
	put_bytes(out, text, true);
	strbuf_add_char(out, '"');
}

void json_writer_begin(struct json_writer *w, bool maybe_data)
{
	*w = (struct json_writer){ .maybe_data = maybe_data };
}

/* Text; line ends wait until something follows. What is held is shorter than a sequence. */
static void add_text(struct json_writer *w, struct strbuf *out, struct slice bytes, bool last)
{
	size_t end = bytes.len, done;

	while (end > 0 && bytes.ptr[end - 1] == '\n')
		end--;
	if (end) {
		for (; w->line_ends; w->line_ends--)
			strbuf_add_str(out, "\\n");
		done = put_bytes(out, slice_sub(bytes, 0, end), last || end < bytes.len);
		w->held_len = (unsigned)slice_copy(slice_sub(bytes, done, end), w->held,
						   sizeof(w->held));
	}
	w->line_ends += (unsigned)(bytes.len - end);
}

/* Enough came to tell what it is. */
static void start(struct json_writer *w, struct strbuf *out)
{
	struct slice s = slice_make(w->held, w->held_len);
	bool message = s.len >= START_LEN && s.ptr[0] == '[' && s.ptr[2] == ']' && s.ptr[3] == ':';

	w->held_len = 0;
	if (w->maybe_data && !message && s.len && (s.ptr[0] == '{' || s.ptr[0] == '[')) {
		w->at = JSON_IN_DATA;
		strbuf_add_str(out, ",\"data\":");
		strbuf_add(out, s);
		return;
	}
	w->at = JSON_IN_TEXT;
	if (message) {
		strbuf_printf(out, ",\"severity\":%c", s.ptr[1]);
		s = slice_sub(s, START_LEN, s.len);
	}
	strbuf_add_str(out, ",\"output\":\"");
	if (s.len)
		add_text(w, out, s, false);
}

void json_writer_add(struct json_writer *w, struct strbuf *out, struct slice bytes)
{
	char joined[32];

	if (w->at == JSON_AT_START) {
		while (bytes.len && w->held_len < START_LEN) {
			w->held[w->held_len++] = *bytes.ptr++;
			bytes.len--;
		}
		if (w->held_len < START_LEN)
			return;
		start(w, out);
	}
	if (w->at == JSON_IN_DATA) {
		strbuf_add(out, bytes);
		return;
	}
	while (bytes.len && w->held_len) {
		size_t n = w->held_len;

		memcpy(joined, w->held, n);
		joined[n] = *bytes.ptr++;
		bytes.len--;
		w->held_len = 0;
		add_text(w, out, slice_make(joined, n + 1), false);
	}
	if (bytes.len)
		add_text(w, out, bytes, false);
}

void json_writer_end(struct json_writer *w, struct strbuf *out)
{
	struct slice held;

	if (w->at == JSON_AT_START)
		start(w, out);
	held = slice_make(w->held, w->held_len);
	if (w->at == JSON_IN_TEXT && held.len) {
		char rest[16];

		memcpy(rest, held.ptr, held.len);
		add_text(w, out, slice_make(rest, held.len), true);
	}
	if (w->at == JSON_IN_TEXT)
		strbuf_add_char(out, '"');
}
