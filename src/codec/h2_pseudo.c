/* SPDX-License-Identifier: GPL-2.0-or-later */
/* h2_pseudo.c - pseudo-fields (RFC 9113 8.3): their texts, and which ones a message has to have */
#include "h2_head_priv.h"

#define SEEN(symbol) (1u << (HPACK_##symbol - FIELD_COUNT))

static bool has_class(struct slice s, uint8_t class)
{
	for (size_t i = 0; i < s.len; i++) {
		if (!(h1_char_class[(uint8_t)s.ptr[i]] & class))
			return false;
	}
	return true;
}

bool h2_is_authority(struct slice s)
{
	return h1_is_host(s);
}

/* RFC 3986 3.1. Schemes are written in lower case from here on. */
static uint8_t take_scheme(struct h2_head *head, struct slice value)
{
	char *at = (char *)value.ptr;

	if (slice_eq(value, SLICE("https")) || slice_eq(value, SLICE("http"))) {
		head->scheme = value;
		return H2_HEAD_ERR_NONE;
	}
	for (size_t i = 0; i < value.len; i++) {
		char c = ascii_lower(value.ptr[i]);
		bool letter = c >= 'a' && c <= 'z';

		if (!letter && (!i || (!ascii_is_digit(c) && c != '+' && c != '-' && c != '.')))
			return H2_HEAD_ERR_SCHEME;
		if (c != value.ptr[i])
			at[i] = c; /* not a constant: those are in lower case */
	}
	head->scheme = value;
	if (!slice_eq(value, SLICE("https")) && !slice_eq(value, SLICE("http")))
		head->flags |= H2_HEAD_FL_OTHER_SCHEME;
	return value.len ? H2_HEAD_ERR_NONE : H2_HEAD_ERR_SCHEME;
}

static uint8_t take_method(struct h2_head *head, struct slice value)
{
	if (!h1_is_token(value))
		return H2_HEAD_ERR_METHOD;
	head->method = value;
	head->method_id = h1_method_of(value);
	if (h1_method_is_reserved(head->method_id, value))
		return H2_HEAD_ERR_METHOD;
	return H2_HEAD_ERR_NONE;
}

static uint8_t take_path(struct h2_walk *w, struct slice value)
{
	if (!value.len || !has_class(value, H1_CC_URI))
		return H2_HEAD_ERR_PATH;
	if (value.ptr[0] != '/' && !slice_eq(value, SLICE("*")))
		return H2_HEAD_ERR_PATH;
	if (memchr(value.ptr, '#', value.len)) {
		if (!(w->options & H2_HEAD_OPT_UNSAFE))
			return H2_HEAD_ERR_PATH;
		w->head->flags |= H2_HEAD_FL_VIOLATION;
	}
	w->head->path = value;
	return H2_HEAD_ERR_NONE;
}

static uint8_t take_status(struct h2_head *head, struct slice value)
{
	unsigned status = 0;

	if (value.len != 3)
		return H2_HEAD_ERR_STATUS;
	for (unsigned i = 0; i < 3; i++) {
		if (!ascii_is_digit(value.ptr[i]))
			return H2_HEAD_ERR_STATUS;
		status = status * 10 + (unsigned)(value.ptr[i] - '0');
	}
	if (status < 100 || status == 101)
		return H2_HEAD_ERR_STATUS;
	head->status = (uint16_t)status;
	return H2_HEAD_ERR_NONE;
}

static uint8_t take_authority(struct h2_head *head, struct slice value)
{
	if (!h2_is_authority(value))
		return H2_HEAD_ERR_AUTHORITY;
	head->authority = value;
	head->flags |= H2_HEAD_FL_AUTHORITY;
	return H2_HEAD_ERR_NONE;
}

static uint8_t take_protocol(struct h2_walk *w, struct slice value)
{
	if (!(w->options & H2_HEAD_OPT_CONNECT) || !h1_is_token(value))
		return H2_HEAD_ERR_PROTOCOL;
	/* an upgrade for an HTTP/1 server, it would bring bytes that are not understood here */
	if (slice_eq_nocase(value, SLICE("h2c")))
		return H2_HEAD_ERR_PROTOCOL;
	w->head->protocol = value;
	return H2_HEAD_ERR_NONE;
}

uint8_t h2_take_pseudo(struct h2_walk *w, const struct hpack_field *field)
{
	bool response = field->id == HPACK_STATUS;
	unsigned seen;

	if (field->id < FIELD_COUNT)
		return H2_HEAD_ERR_PSEUDO_UNKNOWN;
	if (w->kind == H2_HEAD_TRAILERS || response != (w->kind == H2_HEAD_RESPONSE))
		return H2_HEAD_ERR_PSEUDO_UNKNOWN;
	if (w->fields_begun)
		return H2_HEAD_ERR_PSEUDO_ORDER;
	seen = 1u << (field->id - FIELD_COUNT);
	if (w->pseudo_seen & seen)
		return H2_HEAD_ERR_PSEUDO_TWICE;
	w->pseudo_seen |= seen;
	switch (field->id) {
	case HPACK_AUTHORITY:
		return take_authority(w->head, field->value);
	case HPACK_METHOD:
		return take_method(w->head, field->value);
	case HPACK_PATH:
		return take_path(w, field->value);
	case HPACK_SCHEME:
		return take_scheme(w->head, field->value);
	case HPACK_STATUS:
		return take_status(w->head, field->value);
	default:
		return take_protocol(w, field->value);
	}
}

/* ---- the whole request */

/* Which pseudo-fields go together (8.3.1, 8.5, RFC 8441 4). */
static uint8_t check_set(const struct h2_walk *w)
{
	unsigned all = SEEN(METHOD) | SEEN(SCHEME) | SEEN(PATH), seen = w->pseudo_seen;
	const struct h2_head *head = w->head;

	if (!(seen & SEEN(METHOD)))
		return H2_HEAD_ERR_PSEUDO_MISSING;
	if (head->method_id != H1_METHOD_CONNECT) {
		if (seen & SEEN(PROTOCOL))
			return H2_HEAD_ERR_PROTOCOL;
		return (seen & all) == all ? H2_HEAD_ERR_NONE : H2_HEAD_ERR_PSEUDO_MISSING;
	}
	if (seen & SEEN(AUTHORITY) && !head->authority.len)
		return H2_HEAD_ERR_AUTHORITY;
	if (seen & SEEN(PROTOCOL)) {
		all |= SEEN(AUTHORITY);
		return (seen & all) == all ? H2_HEAD_ERR_NONE : H2_HEAD_ERR_PSEUDO_MISSING;
	}
	if (seen & (SEEN(SCHEME) | SEEN(PATH)))
		return H2_HEAD_ERR_PSEUDO_UNKNOWN;
	return seen & SEEN(AUTHORITY) ? H2_HEAD_ERR_NONE : H2_HEAD_ERR_PSEUDO_MISSING;
}

/* Only OPTIONS may ask for "*" (RFC 9110 7.1). */
static uint8_t check_asterisk(const struct h2_head *head)
{
	if (head->path.len && head->path.ptr[0] == '*' && head->method_id != H1_METHOD_OPTIONS)
		return H2_HEAD_ERR_PATH;
	return H2_HEAD_ERR_NONE;
}

/* In HTTP/3, requests of HTTP's schemes name a host (RFC 9114 4.3.1). */
static uint8_t check_host(const struct h2_walk *w)
{
	const struct h2_head *head = w->head;

	if (!(w->options & H2_HEAD_OPT_H3) || head->method_id == H1_METHOD_CONNECT ||
	    head->flags & H2_HEAD_FL_OTHER_SCHEME || head->authority.len)
		return H2_HEAD_ERR_NONE;
	return H2_HEAD_ERR_AUTHORITY;
}

/* The same host with and without its scheme's own port, or with an empty one, is written in one
 * way: without (RFC 3986 6.2.3).
 */
static void drop_default_port(struct h2_head *head)
{
	struct slice *authority = &head->authority, port = slice_none();

	if (slice_eq(head->scheme, SLICE("http")))
		port = SLICE(":80");
	else if (slice_eq(head->scheme, SLICE("https")))
		port = SLICE(":443");
	if (port.len && slice_ends(*authority, port))
		authority->len -= port.len;
	else if (head->scheme.len && slice_ends(*authority, SLICE(":")))
		authority->len--;
	if (head->host_index >= 0)
		head->fields[head->host_index].value = *authority;
}

void h2_put_host(struct h2_head *head)
{
	if (!(head->flags & H2_HEAD_FL_AUTHORITY) || !head->field_capacity)
		return;
	head->fields[head->field_count] = (struct h1_field){
		.name = field_name_of(FIELD_HOST), .value = head->authority, .id = FIELD_HOST,
	};
	head->host_index = (int16_t)head->field_count++;
	head->flags |= H2_HEAD_FL_HOST;
}

uint8_t h2_finish_request(struct h2_walk *w)
{
	uint8_t error = check_set(w);

	if (!error)
		error = check_asterisk(w->head);
	if (!error)
		error = check_host(w);
	if (!error && w->head->flags & H2_HEAD_FL_AUTHORITY && !(w->options & H2_HEAD_OPT_H3))
		drop_default_port(w->head);
	return error;
}
