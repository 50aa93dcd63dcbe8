/* SPDX-License-Identifier: GPL-2.0-or-later */
/* json.c - see json.h
 *
 * A recursive descent that only measures: skip_value() gives the bytes of one value, and walking
 * the path descends into those.
 */
#include <string.h>
#include "base/num.h"
#include "codec/json.h"

static void skip_blanks(struct slice *in)
{
	while (in->len && strchr(" \t\r\n", in->ptr[0]) && in->ptr[0])
		in->ptr++, in->len--;
}

static bool take_char(struct slice *in, char c)
{
	skip_blanks(in);
	if (!in->len || in->ptr[0] != c)
		return false;
	in->ptr++;
	in->len--;
	return true;
}

/* <in> is behind the opening quote; *value gets what is up to the closing one. */
static bool skip_string(struct slice *in, struct slice *value)
{
	for (size_t i = 0; i < in->len; i++) {
		if (in->ptr[i] == '\\') {
			i++;
			continue;
		}
		if (in->ptr[i] != '"')
			continue;
		*value = slice_make(in->ptr, i);
		*in = slice_make(in->ptr + i + 1, in->len - i - 1);
		return true;
	}
	return false;
}

static bool skip_word(struct slice *in, struct slice word)
{
	if (!slice_starts(*in, word))
		return false;
	*in = slice_make(in->ptr + word.len, in->len - word.len);
	return true;
}

static size_t count_digits(struct slice in, size_t from)
{
	size_t n = from;

	while (n < in.len && ascii_is_digit(in.ptr[n]))
		n++;
	return n - from;
}

/* The longest number at the start; leading zeros are let through. */
static bool skip_number(struct slice *in, struct slice *value)
{
	size_t at = in->ptr[0] == '-', digits = count_digits(*in, at), more;

	if (!digits)
		return false;
	at += digits;
	more = at < in->len && in->ptr[at] == '.' ? count_digits(*in, at + 1) : 0;
	if (more)
		at += more + 1;
	if (at < in->len && ascii_lower(in->ptr[at]) == 'e') {
		size_t sign = at + 1 < in->len &&
			      (in->ptr[at + 1] == '-' || in->ptr[at + 1] == '+');

		more = count_digits(*in, at + 1 + sign);
		if (more)
			at += 1 + sign + more;
	}
	*value = slice_make(in->ptr, at);
	*in = slice_make(in->ptr + at, in->len - at);
	return true;
}

static enum json_type skip_value(struct slice *in, struct slice *value, unsigned depth);

/* The members or elements, behind the opening character. */
static bool skip_list(struct slice *in, char closing, unsigned depth)
{
	struct slice ignored;

	if (take_char(in, closing))
		return true;
	do {
		if (closing == '}' && (!take_char(in, '"') || !skip_string(in, &ignored) ||
				       !take_char(in, ':')))
			return false;
		if (skip_value(in, &ignored, depth) == JSON_NONE)
			return false;
	} while (take_char(in, ','));
	return take_char(in, closing);
}

/* Moves past the value at the start of <in>. */
static enum json_type skip_value(struct slice *in, struct slice *value, unsigned depth)
{
	const char *start;

	skip_blanks(in);
	*value = slice_none();
	if (!in->len || depth > JSON_DEPTH_MAX)
		return JSON_NONE;
	start = in->ptr;
	switch (*start) {
	case '"':
		in->ptr++, in->len--;
		return skip_string(in, value) ? JSON_STRING : JSON_NONE;
	case '[':
	case '{':
		in->ptr++, in->len--;
		if (!skip_list(in, *start == '[' ? ']' : '}', depth + 1))
			return JSON_NONE;
		*value = slice_make(start, (size_t)(in->ptr - start));
		return *start == '[' ? JSON_ARRAY : JSON_OBJECT;
	case 't':
		return skip_word(in, SLICE("true")) ? JSON_TRUE : JSON_NONE;
	case 'f':
		return skip_word(in, SLICE("false")) ? JSON_FALSE : JSON_NONE;
	case 'n':
		return skip_word(in, SLICE("null")) ? JSON_NULL : JSON_NONE;
	default:
		return skip_number(in, value) ? JSON_NUMBER : JSON_NONE;
	}
}

/* --- paths -------------------------------------------------------------------------------- */

/* Is the member's name what the path asks for? *path moves behind it. */
static bool name_matches(struct slice name, struct slice *path)
{
	size_t n = 0, p = 0;

	for (; p < path->len && path->ptr[p] != '.' && path->ptr[p] != '['; p++, n++) {
		if (path->ptr[p] == '\\' && p + 1 < path->len)
			p++;
		if (n == name.len || path->ptr[p] != name.ptr[n])
			return false;
	}
	if (n != name.len || !p)
		return false;
	*path = slice_make(path->ptr + p, path->len - p);
	return true;
}

/* <in> comes to stand before the member's value. */
static bool enter_member(struct slice *in, struct slice *path)
{
	struct slice name, ignored;

	if (!take_char(in, '{'))
		return false;
	for (;;) {
		if (!take_char(in, '"') || !skip_string(in, &name) || !take_char(in, ':'))
			return false;
		if (name_matches(name, path))
			return true;
		if (skip_value(in, &ignored, 0) == JSON_NONE || !take_char(in, ','))
			return false;
	}
}

/* Enters an element of an array: *path begins behind '['. What is no number counts as 0. */
static bool enter_element(struct slice *in, struct slice *path)
{
	size_t end = slice_find_char(*path, 0, ']');
	struct slice ignored;
	uint64_t index = 0;

	if (end == SIZE_MAX || (path->len && path->ptr[0] == '-'))
		return false;
	num_parse_u64(slice_sub(*path, 0, end), &index);
	*path = slice_make(path->ptr + end + 1, path->len - end - 1);
	if (!take_char(in, '[') || take_char(in, ']'))
		return false;
	for (; index; index--)
		if (skip_value(in, &ignored, 0) == JSON_NONE || !take_char(in, ','))
			return false;
	return true;
}

enum json_type json_find(struct slice text, struct slice path, struct slice *value)
{
	if (!take_char(&path, '$'))
		return JSON_NONE;
	while (path.len) {
		char first = path.ptr[0];

		path = slice_make(path.ptr + 1, path.len - 1);
		if (first == '.' ? !enter_member(&text, &path) :
		    first != '[' || !enter_element(&text, &path))
			return JSON_NONE;
	}
	return skip_value(&text, value, 0);
}

enum json_type json_next_member(struct slice *rest, struct slice *name, struct slice *value)
{
	if (!take_char(rest, '{') && !take_char(rest, ','))
		return JSON_NONE;
	if (!take_char(rest, '"') || !skip_string(rest, name) || !take_char(rest, ':'))
		return JSON_NONE;
	return skip_value(rest, value, 0);
}

/* XX of \u00XX; 0: none. */
static int unicode_byte(struct slice text, size_t at)
{
	int high, low;

	if (text.len - at < 4 || text.ptr[at] != '0' || text.ptr[at + 1] != '0')
		return 0;
	high = num_hex_digit(text.ptr[at + 2]);
	low = num_hex_digit(text.ptr[at + 3]);
	return high < 0 || low < 0 ? 0 : high << 4 | low;
}

long json_unescape(struct slice text, char *out)
{
	static const char letters[] = "bfnrt\"\\/", meant[] = "\b\f\n\r\t\"\\/";
	long len = 0;

	for (size_t i = 0; i < text.len; i++) {
		const char *found;
		int byte;

		if (text.ptr[i] != '\\') {
			out[len++] = text.ptr[i];
			continue;
		}
		if (++i == text.len)
			return -1;
		if (text.ptr[i] == 'u') {
			byte = unicode_byte(text, i + 1);
			if (!byte)
				return -1;
			out[len++] = (char)byte;
			i += 4;
			continue;
		}
		found = text.ptr[i] ? strchr(letters, text.ptr[i]) : NULL;
		if (!found)
			return -1;
		out[len++] = meant[found - letters];
	}
	return len;
}
