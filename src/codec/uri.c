/* SPDX-License-Identifier: GPL-2.0-or-later */
/* uri.c - request targets and URLs cut into their pieces (RFC 3986, RFC 9112 3.2) */
#include "codec/uri.h"

static bool uri_is_alpha(char c)
{
	return ascii_lower(c) >= 'a' && ascii_lower(c) <= 'z';
}

/* Cuts <s> before its first byte among <stops>; returns what was cut off, that byte included. */
static struct slice uri_cut(struct slice *s, const char *stops)
{
	struct slice rest;

	for (size_t at = 0; at < s->len; at++) {
		if (!strchr(stops, s->ptr[at]) || !s->ptr[at])
			continue;
		rest = slice_make(s->ptr + at, s->len - at);
		s->len = at;
		return rest;
	}
	return slice_none();
}

static struct slice uri_skip(struct slice s, size_t count)
{
	return slice_make(s.ptr + count, s.len - count);
}

/* Digits up to 65535, or nothing. */
static bool uri_parse_port(struct slice text, uint16_t *port)
{
	uint32_t value = 0;

	for (size_t i = 0; i < text.len; i++) {
		if (!ascii_is_digit(text.ptr[i]))
			return false;
		value = value * 10 + (uint32_t)(text.ptr[i] - '0');
		if (value > 65535)
			return false;
	}
	*port = (uint16_t)value;
	return true;
}

bool uri_parse_host(struct slice text, struct slice *host, struct slice *port_text,
		    uint16_t *port)
{
	size_t end = 0;

	*port_text = slice_none();
	*port = 0;
	if (text.len && text.ptr[0] == '[') {
		end = slice_find_char(text, 0, ']');
		if (end == SIZE_MAX || end == 1)
			return false;
		end++;
	} else {
		end = slice_find_char(text, 0, ':');
		if (end == SIZE_MAX)
			end = text.len;
		if (end == 0)
			return false;
	}
	*host = slice_make(text.ptr, end);
	if (end == text.len)
		return true;
	if (text.ptr[end] != ':')
		return false;
	*port_text = uri_skip(text, end + 1);
	return uri_parse_port(*port_text, port);
}

static bool uri_parse_authority(struct slice text, struct uri *out)
{
	const char *at;

	out->authority = text;
	at = text.len ? memrchr(text.ptr, '@', text.len) : NULL;
	if (at) {
		out->user = slice_make(text.ptr, (size_t)(at - text.ptr));
		text = uri_skip(text, out->user.len + 1);
	}
	return uri_parse_host(text, &out->host, &out->port_text, &out->port);
}

/* What follows the authority: path, query and fragment, of which <rest> starts with one. */
static void uri_parse_tail(struct slice rest, struct uri *out)
{
	struct slice tail = uri_cut(&rest, "#");

	if (!slice_is_none(tail))
		out->fragment = uri_skip(tail, 1);
	tail = uri_cut(&rest, "?");
	if (!slice_is_none(tail))
		out->query = uri_skip(tail, 1);
	if (rest.len)
		out->path = rest;
}

static bool uri_parse_absolute(struct slice text, struct uri *out)
{
	struct slice rest;
	size_t at = 0;

	while (at < text.len && (uri_is_alpha(text.ptr[at]) || (at && (
				 ascii_is_digit(text.ptr[at]) || text.ptr[at] == '+' ||
				 text.ptr[at] == '-' || text.ptr[at] == '.'))))
		at++;
	if (at == 0 || text.len - at < 3 || memcmp(text.ptr + at, "://", 3) != 0)
		return false;
	out->scheme = slice_make(text.ptr, at);
	text = uri_skip(text, at + 3);
	rest = uri_cut(&text, "/?#");
	if (!uri_parse_authority(text, out))
		return false;
	if (!slice_is_none(rest))
		uri_parse_tail(rest, out);
	return true;
}

bool uri_parse(struct slice text, bool authority_form, struct uri *out)
{
	*out = (struct uri){ 0 };
	for (size_t i = 0; i < text.len; i++)
		if ((uint8_t)text.ptr[i] <= ' ' || text.ptr[i] == 127)
			return false;
	if (text.len == 0)
		return false;
	if (authority_form) {
		out->form = URI_AUTHORITY;
		return !memchr(text.ptr, '/', text.len) && !memchr(text.ptr, '?', text.len) &&
		       uri_parse_authority(text, out);
	}
	if (text.ptr[0] == '/') {
		out->form = URI_ORIGIN;
		uri_parse_tail(text, out);
		return true;
	}
	if (text.ptr[0] == '*') {
		out->form = URI_ASTERISK;
		out->path = text;
		return text.len == 1;
	}
	out->form = URI_ABSOLUTE;
	return uri_parse_absolute(text, out);
}

uint16_t uri_default_port(struct slice scheme)
{
	if (slice_eq_nocase(scheme, SLICE("http")) || slice_eq_nocase(scheme, SLICE("ws")))
		return 80;
	if (slice_eq_nocase(scheme, SLICE("https")) || slice_eq_nocase(scheme, SLICE("wss")))
		return 443;
	return 0;
}

static int uri_hex(char c)
{
	if (ascii_is_digit(c))
		return c - '0';
	c = ascii_lower(c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

size_t uri_decode(struct slice text, bool form, char *out)
{
	size_t len = 0;
	int high, low;

	for (size_t i = 0; i < text.len; i++) {
		if (text.ptr[i] == '+' && form) {
			out[len++] = ' ';
			continue;
		}
		if (text.ptr[i] != '%') {
			out[len++] = text.ptr[i];
			continue;
		}
		if (text.len - i < 3)
			return SIZE_MAX;
		high = uri_hex(text.ptr[i + 1]);
		low = uri_hex(text.ptr[i + 2]);
		if (high < 0 || low < 0)
			return SIZE_MAX;
		out[len++] = (char)(high << 4 | low);
		i += 2;
	}
	return len;
}

bool uri_query_next(struct slice *query, char separator, struct slice *name, struct slice *value)
{
	size_t end, equal;

	if (slice_is_none(*query))
		return false;
	end = slice_find_char(*query, 0, separator);
	*name = *query;
	if (end == SIZE_MAX) {
		*query = slice_none();
	} else {
		name->len = end;
		*query = uri_skip(*query, end + 1);
	}
	*value = slice_none();
	equal = slice_find_char(*name, 0, '=');
	if (equal != SIZE_MAX) {
		*value = uri_skip(*name, equal + 1);
		name->len = equal;
	}
	return true;
}

bool uri_query_find(struct slice query, struct slice name, char separator, struct slice *value)
{
	struct slice got;

	while (uri_query_next(&query, separator, &got, value))
		if (slice_eq(got, name))
			return true;
	return false;
}
