/* SPDX-License-Identifier: GPL-2.0-or-later */
/* uri_normalize.c - equal URIs written the same way (RFC 3986 6.2.2) */
#include "codec/uri_normalize.h"

#include <string.h>

#define PARAMETERS_MAX 512

size_t uri_encode_fragment(struct slice text, char *out)
{
	size_t len = 0;

	for (size_t i = 0; i < text.len; i++) {
		if (text.ptr[i] != '#') {
			out[len++] = text.ptr[i];
			continue;
		}
		memcpy(out + len, "%23", 3);
		len += 3;
	}
	return len;
}

size_t uri_strip_fragment(struct slice text, char *out)
{
	size_t end = slice_find_char(text, 0, '#');

	if (end > text.len)
		end = text.len;
	memcpy(out, text.ptr, end);
	return end;
}

size_t uri_merge_slashes(struct slice path, char *out)
{
	size_t len = 0;

	for (size_t i = 0; i < path.len; i++)
		if (path.ptr[i] != '/' || !len || out[len - 1] != '/')
			out[len++] = path.ptr[i];
	return len;
}

/* The segment at <at>, up to the next '/' or the end. */
static struct slice segment_at(struct slice path, size_t at)
{
	size_t end = slice_find_char(path, at, '/');

	return slice_sub(path, at, end > path.len ? path.len : end);
}

size_t uri_strip_dot(struct slice path, char *out)
{
	size_t len = 0, at = 0;

	while (at < path.len) {
		struct slice segment = segment_at(path, at);
		bool more = at + segment.len < path.len;

		if (!slice_eq(segment, SLICE("."))) {
			memmove(out + len, segment.ptr, segment.len);
			len += segment.len;
			if (more)
				out[len++] = '/';
		}
		at += segment.len + more;
	}
	return len;
}

/* Takes the last segment of "/a/b/" off: its new length. */
static size_t drop_last(const char *out, size_t len)
{
	len--;
	while (len && out[len - 1] != '/')
		len--;
	return len;
}

/* Ends <out> with a segment ".."? */
static bool ends_with_dotdot(const char *out, size_t len)
{
	return (len == 3 || (len > 3 && out[len - 4] == '/')) &&
	       memcmp(out + len - 3, "../", 3) == 0;
}

size_t uri_strip_dotdot(struct slice path, bool full, char *out)
{
	size_t len = 0, at = 0;

	while (at < path.len) {
		struct slice segment = segment_at(path, at);
		bool more = at + segment.len < path.len;

		if (!slice_eq(segment, SLICE(".."))) {
			memmove(out + len, segment.ptr, segment.len);
			len += segment.len;
			if (more)
				out[len++] = '/';
		} else if (len > 1 && !ends_with_dotdot(out, len)) {
			len = drop_last(out, len);
		} else if (!full) {
			memcpy(out + len, "../", 2 + more);
			len += 2 + more;
		}
		at += segment.len + more;
	}
	return len;
}

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = ascii_lower(c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The byte that "%xx" at <at> stands for; -1: it is not one. */
static int percent_value(struct slice text, size_t at)
{
	int high, low;

	if (at + 2 >= text.len)
		return -1;
	high = hex_value(text.ptr[at + 1]);
	low = hex_value(text.ptr[at + 2]);
	return high < 0 || low < 0 ? -1 : high << 4 | low;
}

static bool is_unreserved(int c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '-' || c == '.' || c == '_' || c == '~';
}

size_t uri_decode_unreserved(struct slice text, bool strict, char *out)
{
	size_t len = 0;

	for (size_t i = 0; i < text.len; i++) {
		int c = text.ptr[i] == '%' ? percent_value(text, i) : 0;

		if (c < 0 && strict)
			return URI_INVALID;
		if (c > 0 && is_unreserved(c)) {
			out[len++] = (char)c;
			i += 2;
		} else {
			out[len++] = text.ptr[i];
		}
	}
	return len;
}

size_t uri_upper_percent(struct slice text, bool strict, char *out)
{
	memcpy(out, text.ptr, text.len);
	for (size_t i = 0; i < text.len; i++) {
		if (text.ptr[i] != '%')
			continue;
		if (percent_value(text, i) < 0) {
			if (strict)
				return URI_INVALID;
			continue;
		}
		out[i + 1] = ascii_upper(out[i + 1]);
		out[i + 2] = ascii_upper(out[i + 2]);
		i += 2;
	}
	return text.len;
}

static struct slice name_of(struct slice parameter)
{
	size_t end = slice_find_char(parameter, 0, '=');

	return slice_sub(parameter, 0, end > parameter.len ? parameter.len : end);
}

/* Shorter names stand before longer ones that begin so. */
static int compare_names(struct slice a, struct slice b)
{
	size_t common = a.len < b.len ? a.len : b.len;
	int ret = memcmp(a.ptr, b.ptr, common);

	return ret ? ret : a.len < b.len ? -1 : a.len > b.len;
}

/* By insertion: few, and often in order already. */
static void sort_parameters(struct slice *list, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		struct slice one = list[i];
		size_t at = i;

		for (; at && compare_names(name_of(list[at - 1]), name_of(one)) > 0; at--)
			list[at] = list[at - 1];
		list[at] = one;
	}
}

size_t uri_sort_query(struct slice query, char *out)
{
	struct slice list[PARAMETERS_MAX];
	size_t count = 0, at = 0, len = 0;

	while (at <= query.len) {
		size_t end = slice_find_char(query, at, '&');

		if (end > query.len)
			end = query.len;
		if (count == PARAMETERS_MAX)
			return URI_INVALID;
		list[count++] = slice_sub(query, at, end);
		at = end + 1;
	}
	sort_parameters(list, count);
	for (size_t i = 0; i < count; i++) {
		if (i)
			out[len++] = '&';
		memcpy(out + len, list[i].ptr, list[i].len);
		len += list[i].len;
	}
	return len;
}
