/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rfc7239.c - see rfc7239.h */
#include <arpa/inet.h>
#include <string.h>
#include "base/bug.h"
#include "base/num.h"
#include "codec/rfc7239.h"

static const char *const field_names[RFC7239_FIELDS] = { "for", "by", "host", "proto" };

enum rfc7239_field rfc7239_field_find(struct slice name)
{
	unsigned i = 0;

	while (i < RFC7239_FIELDS && !slice_eq(name, slice_of(field_names[i])))
		i++;
	return (enum rfc7239_field)i;
}

static bool is_alnum(char c)
{
	c = ascii_lower(c);
	return ascii_is_digit(c) || (c >= 'a' && c <= 'z');
}

static bool is_obfuscated_char(char c)
{
	return is_alnum(c) || c == '.' || c == '_' || c == '-';
}

static bool is_host_char(char c)
{
	return is_alnum(c) || (c && strchr("-._~!$&'*+%", c));
}

bool rfc7239_is_obfuscated(struct slice text)
{
	for (size_t i = 0; i < text.len; i++)
		if (!is_obfuscated_char(text.ptr[i]))
			return false;
	return text.len > 0;
}

/* How many characters of <text> from <from> are of that kind. */
static size_t run_of(struct slice text, size_t from, bool (*is_member)(char))
{
	size_t n = from;

	while (n < text.len && is_member(text.ptr[n]))
		n++;
	return n - from;
}

static bool is_digit_or_dot(char c)
{
	return ascii_is_digit(c) || c == '.';
}

static bool is_hex_or_colon(char c)
{
	return num_hex_digit(c) >= 0 || c == ':';
}

static bool is_digit(char c)
{
	return ascii_is_digit(c);
}

static bool is_address(int family, struct slice text)
{
	char copy[INET6_ADDRSTRLEN + 1];
	uint8_t address[16];

	return text.len < sizeof(copy) && slice_copy(text, copy, sizeof(copy)) == text.len &&
	       inet_pton(family, copy, address) == 1;
}

/* The name of a node; *used is the end of it. */
static bool parse_node_name(struct slice text, struct rfc7239_node *out, size_t *used)
{
	size_t len;

	if (slice_starts(text, SLICE("["))) {
		len = run_of(text, 1, is_hex_or_colon);
		out->kind = RFC7239_IPV6;
		out->name = slice_sub(text, 1, 1 + len);
		*used = len + 2;
		return *used <= text.len && text.ptr[len + 1] == ']' &&
		       is_address(AF_INET6, out->name);
	}
	out->kind = RFC7239_NAME;
	if (slice_starts(text, SLICE("_"))) {
		len = run_of(text, 1, is_obfuscated_char) + 1;
		out->name = slice_sub(text, 0, len);
		*used = len;
		return len > 1;
	}
	if (slice_starts(text, SLICE("unknown"))) {
		out->name = slice_sub(text, 0, *used = 7);
		return true;
	}
	len = run_of(text, 0, is_digit_or_dot);
	out->kind = RFC7239_IPV4;
	out->name = slice_sub(text, 0, *used = len);
	return is_address(AF_INET, out->name);
}

static bool parse_node_port(struct slice text, struct rfc7239_node *out, size_t *used)
{
	size_t from = *used + 1, len;
	uint64_t number;

	if (from < text.len && text.ptr[from] == '_') {
		len = run_of(text, from + 1, is_obfuscated_char) + 1;
		out->port = slice_sub(text, from, from + len);
		*used = from + len;
		return len > 1;
	}
	len = run_of(text, from, is_digit);
	*used = from + len;
	if (len > 5 || !num_parse_u64(slice_sub(text, from, from + len), &number) || !number ||
	    number > 65535)
		return false;
	out->number = (unsigned)number;
	return true;
}

bool rfc7239_parse_node(struct slice text, struct rfc7239_node *out, size_t *used)
{
	memset(out, 0, sizeof(*out));
	if (!parse_node_name(text, out, used))
		return false;
	return *used >= text.len || text.ptr[*used] != ':' || parse_node_port(text, out, used);
}

/* A node with a port or brackets must be between quotes. */
static bool is_node(struct slice value, bool quoted)
{
	struct rfc7239_node node;
	size_t used;

	return rfc7239_parse_node(value, &node, &used) && used == value.len &&
	       (quoted || (node.kind != RFC7239_IPV6 && !node.number && !node.port.ptr));
}

/* A name or address, and a port. */
static bool is_host(struct slice value, bool quoted)
{
	size_t used = 0, len;

	if (quoted && slice_starts(value, SLICE("["))) {
		used = run_of(value, 1, is_hex_or_colon) + 2;
		if (used > value.len || value.ptr[used - 1] != ']')
			return false;
	} else {
		used = run_of(value, 0, is_host_char);
	}
	if (used == value.len)
		return quoted || used;
	len = run_of(value, used + 1, is_digit);
	return quoted && value.ptr[used] == ':' && used + 1 + len == value.len;
}

bool rfc7239_is_host(struct slice text)
{
	return is_host(text, true);
}

static bool is_valid(enum rfc7239_field field, struct slice value, bool quoted)
{
	switch (field) {
	case RFC7239_FOR:
	case RFC7239_BY:
		return is_node(value, quoted);
	case RFC7239_HOST:
		return is_host(value, quoted);
	default:
		return !quoted && (slice_eq(value, SLICE("http")) ||
				   slice_eq(value, SLICE("https")));
	}
}

/* The value at the start of *rest, up to ';' or the end. */
static bool take_value(struct slice *rest, struct slice *value, bool *quoted)
{
	size_t end, next;

	*quoted = slice_starts(*rest, SLICE("\""));
	if (*quoted) {
		end = slice_find_char(*rest, 1, '"');
		if (end == SIZE_MAX)
			return false;
		*value = slice_make(rest->ptr + 1, end - 1);
		next = end + 1;
	} else {
		next = slice_find_char(*rest, 0, ';');
		if (next == SIZE_MAX)
			next = rest->len;
		*value = slice_make(rest->ptr, next);
	}
	*rest = slice_make(rest->ptr + next, rest->len - next);
	return true;
}

bool rfc7239_parse(struct slice value, struct rfc7239 *out)
{
	memset(out, 0, sizeof(*out));
	for (;;) {
		size_t equal = slice_find_char(value, 0, '=');
		enum rfc7239_field field;
		bool quoted;

		if (equal == SIZE_MAX)
			return false;
		field = rfc7239_field_find(slice_make(value.ptr, equal));
		if (field == RFC7239_FIELDS || out->fields[field].ptr)
			return false;
		value = slice_make(value.ptr + equal + 1, value.len - equal - 1);
		if (!take_value(&value, &out->fields[field], &quoted) ||
		    !is_valid(field, out->fields[field], quoted))
			return false;
		if (!value.len)
			return true;
		if (value.ptr[0] != ';')
			return false;
		value = slice_make(value.ptr + 1, value.len - 1);
	}
}
