/* SPDX-License-Identifier: GPL-2.0-or-later */
/* h1_decide.c - what fields mean for framing: Host, Content-Length, Transfer-Encoding,
 * Connection, Upgrade and Expect are noted as they pass, and the body's kind is decided after the
 * last one
 */
#include "h1_priv.h"

/* Takes one element of a comma-separated list, empty ones included, without its blanks. */
static bool h1_list_cut(struct slice *list, struct slice *element)
{
	const char *comma;

	if (!list->ptr)
		return false;
	comma = list->len ? memchr(list->ptr, ',', list->len) : NULL;
	*element = *list;
	if (comma) {
		element->len = (size_t)(comma - list->ptr);
		list->len -= element->len + 1;
		list->ptr = comma + 1;
	} else {
		*list = slice_none();
	}
	while (element->len && (element->ptr[0] == ' ' || element->ptr[0] == '\t')) {
		element->ptr++;
		element->len--;
	}
	while (element->len && (element->ptr[element->len - 1] == ' ' ||
				element->ptr[element->len - 1] == '\t'))
		element->len--;
	return true;
}

/* Compares with a literal in lower case. */
static inline bool h1_is_word(struct slice s, struct slice lower)
{
	if (s.len != lower.len)
		return false;
	for (size_t i = 0; i < s.len; i++)
		if (ascii_lower(s.ptr[i]) != lower.ptr[i])
			return false;
	return true;
}

bool h1_list_next(struct slice *list, struct slice *element)
{
	const char *at = list->ptr, *end = list->ptr + list->len, *start, *stop;
	bool quoted = false;

	while (at < end && (*at == ',' || *at == ' ' || *at == '\t'))
		at++;
	if (at == end)
		return false;
	start = stop = at;
	for (; at < end && (quoted || *at != ','); at++) {
		if (*at == '"')
			quoted = !quoted;
		else if (quoted && *at == '\\' && at + 1 < end)
			at++;
		if (*at != ' ' && *at != '\t')
			stop = at + 1;
	}
	*element = slice_make(start, (size_t)(stop - start));
	*list = slice_make(at, (size_t)(end - at));
	return true;
}

static void h1_drop_last(struct h1_head *out)
{
	out->field_count--;
	out->flags |= H1_FL_UNTIDY;
}

/* Takes one field out. */
static void h1_remove_field(struct h1_head *out, struct h1_field *field)
{
	uint16_t at = (uint16_t)(field - out->fields);

	out->flags |= H1_FL_UNTIDY;
	out->field_count--;
	memmove(field, field + 1, (out->field_count - at) * sizeof(*field));
	if (out->host_index > at)
		out->host_index--;
}

/* Brackets hold an IP literal, at the start and once (RFC 3986 3.2.2). */
static bool h1_is_host_literal(struct slice value)
{
	const char *close = memchr(value.ptr, ']', value.len);

	if (!close || (close + 1 != value.ptr + value.len && close[1] != ':'))
		return false;
	for (size_t i = 1; i < value.len; i++)
		if (value.ptr + i != close &&
		    !(h1_char_class[(uint8_t)value.ptr[i]] & H1_CC_HOST))
			return false;
	return true;
}

bool h1_is_host(struct slice value)
{
	if (value.len && value.ptr[0] == '[')
		return h1_is_host_literal(value);
	for (const char *at = value.ptr, *end = at + value.len; at < end; at++)
		if (!(h1_char_class[(uint8_t)*at] & H1_CC_HOST))
			return false;
	return true;
}

static uint8_t h1_note_host(struct h1_head *out, struct h1_field *field)
{
	struct slice first;

	if (!h1_is_host(field->value))
		return H1_ERR_HOST;
	if (!(out->flags & H1_FL_HOST)) {
		out->flags |= H1_FL_HOST;
		out->host_index = (int16_t)(out->field_count - 1);
		return H1_ERR_NONE;
	}
	first = out->fields[out->host_index].value;
	if (first.len != field->value.len)
		return H1_ERR_HOST;
	for (size_t i = 0; i < first.len; i++)
		if (ascii_lower(first.ptr[i]) != ascii_lower(field->value.ptr[i]))
			return H1_ERR_HOST;
	h1_drop_last(out);
	return H1_ERR_NONE;
}

/* Digits only, no overflow. */
static bool h1_read_length(struct slice s, uint64_t *value)
{
	uint64_t v = 0;

	if (s.len == 0)
		return false;
	for (size_t i = 0; i < s.len; i++) {
		if (!ascii_is_digit(s.ptr[i]))
			return false;
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(s.ptr[i] - '0'), &v))
			return false;
	}
	*value = v;
	return true;
}

bool h1_is_length(struct slice value)
{
	struct slice list = value, element;
	uint64_t first = 0, next;

	if (!list.len || !h1_list_cut(&list, &element) || !h1_read_length(element, &first))
		return false;
	while (h1_list_cut(&list, &element))
		if (!h1_read_length(element, &next) || next != first)
			return false;
	return true;
}

/* One length, or a list of equal ones (RFC 9110 8.6); what is kept is one, without leading
 * zeros.
 */
static uint8_t h1_note_length(struct h1_head *out, struct h1_field *field)
{
	bool had = out->flags & H1_FL_CONTENT_LENGTH;
	struct slice list = field->value, element = slice_none();
	uint64_t value;

	if (!list.len)
		return H1_ERR_CONTENT_LENGTH;
	if (likely(!had && (list.ptr[0] != '0' || list.len == 1) && h1_read_length(list, &value))) {
		out->content_length = value;
		out->flags |= H1_FL_CONTENT_LENGTH;
		return H1_ERR_NONE;
	}
	out->flags |= H1_FL_UNTIDY;
	while (h1_list_cut(&list, &element)) {
		if (!h1_read_length(element, &value))
			return H1_ERR_CONTENT_LENGTH;
		if ((out->flags & H1_FL_CONTENT_LENGTH) && value != out->content_length)
			return H1_ERR_CONTENT_LENGTH;
		out->content_length = value;
		out->flags |= H1_FL_CONTENT_LENGTH;
	}
	while (element.len > 1 && element.ptr[0] == '0') {
		element.ptr++;
		element.len--;
	}
	field->value = element;
	if (had)
		h1_drop_last(out);
	return H1_ERR_NONE;
}

/* Only a final, single "chunked" is understood. Anything before it is a coding that we do not undo
 * (422); anything after it, or no chunked at all, makes the length unknowable (400). Accepted
 * violations in responses (empty elements, several "chunked") are mended: one field with one
 * "chunked" stays.
 */
static uint8_t h1_note_transfer(const struct h1_parser *p, struct h1_head *out,
				struct h1_field *field)
{
	bool lax = (p->options & H1_OPT_UNSAFE) && (p->options & H1_OPT_RESPONSE);
	bool had = out->flags & H1_FL_CHUNKED;
	struct slice list = field->value, element;

	out->flags |= H1_FL_TRANSFER_ENC;
	if (!list.len)
		list.ptr = "";
	while (h1_list_cut(&list, &element)) {
		if (h1_is_word(element, SLICE("chunked"))) {
			if ((out->flags & H1_FL_CHUNKED) && !lax)
				return H1_ERR_TRANSFER_ENCODING;
			out->flags |= H1_FL_CHUNKED;
			field->value = element;
		} else if (element.len == 0 && lax) {
			out->flags |= H1_FL_VIOLATION;
		} else if (element.len == 0 || (out->flags & H1_FL_CHUNKED)) {
			return H1_ERR_TRANSFER_ENCODING;
		} else {
			out->flags |= H1_FL_CODING;
		}
	}
	if (had || !(out->flags & (H1_FL_CHUNKED | H1_FL_CODING)))
		h1_drop_last(out);
	return H1_ERR_NONE;
}

/* Cuts elements out of a list, in place: those that <keep> says no to. The others are then
 * separated by a comma only, and blanks fill what is left over. A field without elements goes.
 */
static void h1_filter_list(struct h1_head *out, struct h1_field *field,
			   bool (*keep)(struct h1_head *out, struct slice element))
{
	struct slice list = field->value, element;
	char *start = (char *)field->value.ptr, *to = start;
	bool cut = false;

	/* nothing moves before something is cut: most lists stay as they came */
	while (h1_list_next(&list, &element))
		cut |= !keep(out, element);
	if (!field->value.len)
		h1_remove_field(out, field);
	if (!cut)
		return;
	list = field->value;
	while (h1_list_next(&list, &element)) {
		if (!keep(out, element))
			continue;
		if (to != start)
			*to++ = ',';
		memmove(to, element.ptr, element.len);
		to += element.len;
	}
	memset(to, ' ', (size_t)(start + field->value.len - to));
	field->value.len = (size_t)(to - start);
	if (to == start)
		h1_remove_field(out, field);
}

/* What "close" and "keep-alive" say is for this hop: they are noted and do not go further. Nor does
 * the name of a field that frames or routes: a proxy behind us would drop that field as one of its
 * hop, and take the body for the next request (RFC 9110 7.6.1 forbids to list it).
 */
static bool h1_keep_connection(struct h1_head *out, struct slice element)
{
	if (h1_is_word(element, SLICE("close"))) {
		out->flags |= H1_FL_CONN_CLOSE;
		return false;
	}
	if (h1_is_word(element, SLICE("keep-alive"))) {
		out->flags |= H1_FL_CONN_KEEP_ALIVE;
		return false;
	}
	if (h1_is_word(element, SLICE("upgrade"))) {
		out->flags |= H1_FL_CONN_UPGRADE;
		return true;
	}
	out->flags |= H1_FL_CONN_OTHER;
	return !h1_is_word(element, SLICE("content-length")) &&
	       !h1_is_word(element, SLICE("transfer-encoding")) &&
	       !h1_is_word(element, SLICE("host"));
}

static bool h1_keep_not_upgrade(struct h1_head *out, struct slice element)
{
	return !h1_is_word(element, SLICE("upgrade"));
}

/* An offer to go on in HTTP/2 is not forwarded: we would not understand what follows. */
static bool h1_keep_upgrade(struct h1_head *out, struct slice element)
{
	if (h1_is_word(element, SLICE("h2c")))
		return false;
	out->flags |= H1_FL_UPGRADE;
	if (h1_is_word(element, SLICE("websocket")))
		out->flags |= H1_FL_WEBSOCKET;
	return true;
}

/* Codings that the client takes from us say nothing about what we take; trailers we pass on. */
static bool h1_keep_te(struct h1_head *out, struct slice element)
{
	return h1_is_word(element, SLICE("trailers"));
}

uint8_t h1_note_field(struct h1_parser *p, struct h1_head *out)
{
	struct h1_field *field = &out->fields[out->field_count - 1];

	switch (field->id) {
	case FIELD_HOST:
		/* a field without meaning in a response */
		return (p->options & H1_OPT_RESPONSE) ? H1_ERR_NONE : h1_note_host(out, field);
	case FIELD_CONTENT_LENGTH:
		return h1_note_length(out, field);
	}
	out->flags |= H1_FL_UNTIDY; /* all others are about the connection, or rare */
	switch (field->id) {
	case FIELD_TRANSFER_ENCODING:
		return h1_note_transfer(p, out, field);
	case FIELD_CONNECTION:
		h1_filter_list(out, field, h1_keep_connection);
		break;
	case FIELD_UPGRADE:
		h1_filter_list(out, field, h1_keep_upgrade);
		break;
	case FIELD_TE:
		if (!(p->options & H1_OPT_RESPONSE))
			h1_filter_list(out, field, h1_keep_te);
		break;
	case FIELD_EXPECT:
		if (h1_is_word(field->value, SLICE("100-continue")))
			out->flags |= H1_FL_EXPECT_CONTINUE;
		break;
	case FIELD_SEC_WEBSOCKET_KEY: /* base64 of 16 bytes (RFC 6455 4.1) */
		if (field->value.len == 24)
			out->flags |= H1_FL_WS_KEY;
		break;
	case FIELD_SEC_WEBSOCKET_ACCEPT:
		if (field->value.len)
			out->flags |= H1_FL_WS_ACCEPT;
		break;
	}
	return H1_ERR_NONE;
}

/* Takes all fields of a name out. */
static void h1_remove(struct h1_head *out, uint8_t id)
{
	uint16_t kept = 0;

	for (uint16_t i = 0; i < out->field_count; i++) {
		if (out->fields[i].id == id)
			continue;
		if (i == out->host_index)
			out->host_index = (int16_t)kept;
		out->fields[kept++] = out->fields[i];
	}
	if (kept != out->field_count)
		out->flags |= H1_FL_UNTIDY;
	out->field_count = kept;
}

static void h1_remove_length(struct h1_head *out)
{
	h1_remove(out, FIELD_CONTENT_LENGTH);
	out->flags &= ~(uint32_t)H1_FL_CONTENT_LENGTH;
	out->content_length = 0;
}

static bool h1_is_11(const struct h1_head *out)
{
	return out->major > 1 || (out->major == 1 && out->minor >= 1);
}

static uint8_t h1_decide_transfer(struct h1_parser *p, struct h1_head *out)
{
	bool lax = (p->options & H1_OPT_UNSAFE) && (p->options & H1_OPT_RESPONSE);

	if (!(out->flags & H1_FL_TRANSFER_ENC))
		return H1_ERR_NONE;
	if (!(out->flags & H1_FL_CHUNKED) && (!lax || (out->flags & H1_FL_CODING)))
		return H1_ERR_TRANSFER_ENCODING;
	if (out->flags & H1_FL_CODING)
		return H1_ERR_TRANSFER_CODING;
	if ((out->flags & H1_FL_CONTENT_LENGTH) || !h1_is_11(out))
		out->flags |= H1_FL_INSECURE_TE;
	if (out->flags & H1_FL_CONTENT_LENGTH)
		h1_remove_length(out);
	return H1_ERR_NONE;
}

/* An Upgrade field means nothing without the Connection token, nor the token without the field. */
static void h1_decide_upgrade(struct h1_head *out)
{
	if ((out->flags & H1_FL_UPGRADE) && !(out->flags & H1_FL_CONN_UPGRADE))
		h1_remove(out, FIELD_UPGRADE);
	if ((out->flags & H1_FL_CONN_UPGRADE) && !(out->flags & H1_FL_UPGRADE)) {
		/* from the end: a field may go */
		for (uint16_t i = out->field_count; i-- > 0;)
			if (out->fields[i].id == FIELD_CONNECTION)
				h1_filter_list(out, &out->fields[i], h1_keep_not_upgrade);
		out->flags &= ~(uint32_t)H1_FL_CONN_UPGRADE;
	}
}

static uint8_t h1_decide_request(struct h1_parser *p, struct h1_head *out)
{
	bool unsafe = p->options & H1_OPT_UNSAFE;

	if (out->flags & H1_FL_CHUNKED)
		out->body = H1_BODY_CHUNKED;
	else if (out->content_length)
		out->body = H1_BODY_LENGTH;
	else
		out->body = H1_BODY_NONE;
	if (out->body != H1_BODY_NONE && !h1_is_11(out) && !(p->options & H1_OPT_ANY_PAYLOAD) &&
	    (out->method_id == H1_METHOD_GET || out->method_id == H1_METHOD_HEAD ||
	     out->method_id == H1_METHOD_DELETE))
		return H1_ERR_PAYLOAD;
	/* what follows CONNECT is the tunnel's */
	if (out->body != H1_BODY_NONE && out->method_id == H1_METHOD_CONNECT)
		return H1_ERR_PAYLOAD;
	if (out->flags & (H1_FL_UPGRADE | H1_FL_CONN_UPGRADE))
		h1_decide_upgrade(out);
	if (out->target != H1_TARGET_ORIGIN && out->target != H1_TARGET_ASTERISK) {
		if (h1_authority_matches(out))
			h1_tidy_target(out);
		else if (unsafe)
			out->flags |= H1_FL_VIOLATION;
		else
			return H1_ERR_HOST;
	}
	return H1_ERR_NONE;
}

static void h1_decide_response(struct h1_parser *p, struct h1_head *out)
{
	if (out->status < 200 || out->status == 204) {
		/* these never have a body, whatever they announce (RFC 9110 8.6, RFC 9112 6.1) */
		h1_remove_length(out);
		h1_remove(out, FIELD_TRANSFER_ENCODING);
		out->flags &= ~(uint32_t)(H1_FL_TRANSFER_ENC | H1_FL_CHUNKED);
	}
	if (out->status == 101 || ((p->options & H1_OPT_TO_CONNECT) && out->status >= 200 &&
				   out->status < 300))
		out->body = H1_BODY_TUNNEL;
	else if (out->status < 200 || out->status == 204 || out->status == 304 ||
		 (p->options & H1_OPT_TO_HEAD))
		out->body = H1_BODY_NONE;
	else if (out->flags & H1_FL_CHUNKED)
		out->body = H1_BODY_CHUNKED;
	else if (out->flags & H1_FL_TRANSFER_ENC)
		out->body = H1_BODY_CLOSE;
	else if (out->flags & H1_FL_CONTENT_LENGTH)
		out->body = out->content_length ? H1_BODY_LENGTH : H1_BODY_NONE;
	else
		out->body = H1_BODY_CLOSE;
}

uint8_t h1_decide(struct h1_parser *p, struct h1_head *out)
{
	uint32_t key = (p->options & H1_OPT_RESPONSE) ? H1_FL_WS_ACCEPT : H1_FL_WS_KEY;
	bool unsafe = p->options & H1_OPT_UNSAFE;
	uint8_t error = h1_decide_transfer(p, out);

	if (error)
		return error;
	if (p->options & H1_OPT_RESPONSE)
		h1_decide_response(p, out);
	else
		error = h1_decide_request(p, out);
	if (error)
		return error;
	if (!(out->flags & H1_FL_CONN_UPGRADE))
		out->flags &= ~(uint32_t)(H1_FL_UPGRADE | H1_FL_WEBSOCKET);
	if ((out->flags & H1_FL_WEBSOCKET) && !(out->flags & key) &&
	    (!(p->options & H1_OPT_RESPONSE) || out->status == 101)) {
		if (!unsafe)
			return H1_ERR_WEBSOCKET;
		out->flags |= H1_FL_VIOLATION;
	}
	if (!h1_is_11(out))
		out->flags &= ~(uint32_t)H1_FL_EXPECT_CONTINUE;
	if (!(out->flags & H1_FL_CONN_CLOSE) && out->body != H1_BODY_CLOSE &&
	    out->body != H1_BODY_TUNNEL &&
	    (h1_is_11(out) || (out->flags & H1_FL_CONN_KEEP_ALIVE)))
		out->flags |= H1_FL_KEEP_ALIVE;
	return H1_ERR_NONE;
}
