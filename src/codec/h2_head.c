/* SPDX-License-Identifier: GPL-2.0-or-later */
/* h2_head.c - heads of HTTP/2 and HTTP/3 messages (RFC 9113 8, RFC 9114 4): a walk over the block,
 * then what can be said of the whole
 *
 * The first error decides the result; the walk continues only to keep the tables correct.
 */
#include "codec/qpack.h"
#include "h2_head_priv.h"

static const char *const error_texts[] = {
#define X(symbol, text) [H2_HEAD_ERR_##symbol] = text,
	H2_HEAD_ERRORS(X)
#undef X
};

const char *h2_head_error_text(uint8_t error)
{
	return error < ARRAY_LEN(error_texts) ? error_texts[error] : "unknown error";
}

bool h2_field_is_allowed(uint8_t id)
{
	return id != FIELD_CONNECTION && id != FIELD_KEEP_ALIVE && id != FIELD_PROXY_CONNECTION &&
	       id != FIELD_TRANSFER_ENCODING && id != FIELD_UPGRADE;
}

/* ---- fields */

/* A name in lower case made of token characters. */
static bool is_name(struct slice name)
{
	for (size_t i = 0; i < name.len; i++) {
		if (h1_token_lower[(uint8_t)name.ptr[i]] != (uint8_t)name.ptr[i] || !name.ptr[i])
			return false;
	}
	return name.len > 0;
}

static bool is_value(struct slice value)
{
	const char *end = value.ptr + value.len;

	for (const char *at = h1_skip_text(value.ptr, end); at < end; at = h1_skip_text(at, end)) {
		if (*at == 0 || *at == '\r' || *at == '\n')
			return false;
		at++;
	}
	return true;
}

static bool read_number(struct slice s, uint64_t *value)
{
	uint64_t v = 0;

	for (size_t i = 0; i < s.len; i++) {
		if (!ascii_is_digit(s.ptr[i]) || __builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(s.ptr[i] - '0'), &v))
			return false;
	}
	*value = v;
	return s.len > 0;
}

/* One Content-Length stays, as one number without leading zeros; equal ones go, be they in the same
 * field or in another (RFC 9110 8.6).
 */
static uint8_t note_length(struct h2_walk *w, struct slice *value, bool *keep)
{
	struct h2_head *head = w->head;
	struct slice list = *value, element;
	uint64_t length;
	size_t comma;

	*keep = !(head->flags & H2_HEAD_FL_CONTENT_LENGTH);
	do {
		comma = slice_find_char(list, 0, ',');
		element = slice_trim(slice_sub(list, 0, comma));
		list = slice_sub(list, comma == SIZE_MAX ? list.len : comma + 1, list.len);
		if (!read_number(element, &length))
			return H2_HEAD_ERR_CONTENT_LENGTH;
		if (head->flags & H2_HEAD_FL_CONTENT_LENGTH && length != head->content_length)
			return H2_HEAD_ERR_CONTENT_LENGTH;
		head->flags |= H2_HEAD_FL_CONTENT_LENGTH;
		head->content_length = length;
	} while (comma != SIZE_MAX);
	while (element.len > 1 && element.ptr[0] == '0')
		element = slice_sub(element, 1, element.len);
	*value = element;
	return H2_HEAD_ERR_NONE;
}

/* A Host says nothing beside ":authority" (8.3.1), and is said once. In HTTP/3 it has to say the
 * same (RFC 9114 4.3.1).
 */
static uint8_t note_host(struct h2_walk *w, struct slice value, bool *keep)
{
	struct h2_head *head = w->head;

	if (w->kind == H2_HEAD_RESPONSE)
		return H2_HEAD_ERR_NONE;
	*keep = !(head->flags & H2_HEAD_FL_HOST);
	if (!h2_is_authority(value))
		return H2_HEAD_ERR_AUTHORITY;
	if (!*keep)
		return (head->flags & H2_HEAD_FL_AUTHORITY && !(w->options & H2_HEAD_OPT_H3)) ||
				       slice_eq_nocase(head->authority, value)
			       ? H2_HEAD_ERR_NONE : H2_HEAD_ERR_AUTHORITY;
	head->authority = value;
	head->host_index = (int16_t)head->field_count;
	head->flags |= H2_HEAD_FL_HOST;
	return H2_HEAD_ERR_NONE;
}

/* What says how to read a message comes with its head (RFC 9110 6.5.1): without a meaning behind
 * it, it is a mistake or an attempt.
 */
static bool is_bad_trailer(uint8_t id)
{
	return id == FIELD_HOST || id == FIELD_CONTENT_LENGTH || id == FIELD_TE;
}

/* Other fields that have no meaning there. */
static bool is_trailer(uint8_t id)
{
	switch (id) {
	case FIELD_TRAILER:
	case FIELD_EXPECT:
	case FIELD_AUTHORIZATION:
	case FIELD_COOKIE:
	case FIELD_SET_COOKIE:
		return false;
	}
	return true;
}

/* Checks a field and says whether it goes to the list. Returns an enum h2_head_error. */
static uint8_t note_field(struct h2_walk *w, struct h1_field *field, bool *keep)
{
	struct h2_head *head = w->head;

	*keep = true;
	if (!field->id && !is_name(field->name))
		return H2_HEAD_ERR_NAME;
	if (!is_value(field->value))
		return H2_HEAD_ERR_VALUE;
	if (!h2_field_is_allowed(field->id))
		return H2_HEAD_ERR_HOP_FIELD;
	field->value = slice_trim(field->value);
	if (w->kind == H2_HEAD_TRAILERS) {
		*keep = is_trailer(field->id);
		return is_bad_trailer(field->id) ? H2_HEAD_ERR_HOP_FIELD : H2_HEAD_ERR_NONE;
	}
	switch (field->id) {
	case FIELD_HOST:
		return note_host(w, field->value, keep);
	case FIELD_CONTENT_LENGTH:
		return note_length(w, &field->value, keep);
	case FIELD_TE:
		if (w->kind == H2_HEAD_RESPONSE)
			break;
		if (!slice_eq(field->value, SLICE("trailers")))
			return H2_HEAD_ERR_HOP_FIELD;
		head->flags |= H2_HEAD_FL_TE_TRAILERS;
		break;
	case FIELD_EXPECT:
		if (slice_eq_nocase(field->value, SLICE("100-continue")))
			head->flags |= H2_HEAD_FL_EXPECT_CONTINUE;
		break;
	case FIELD_COOKIE:
		w->cookies++;
		w->cookie_len += field->value.len + 2;
		break;
	}
	return H2_HEAD_ERR_NONE;
}

/* Will it fit in the list once the crumbs of cookies, this one too, are joined? */
static bool has_place(const struct h2_walk *w, const struct h1_field *field)
{
	unsigned behind = w->kind == H2_HEAD_REQUEST && w->cookies ? w->cookies - 1u : 0;

	if (behind && field->id == FIELD_COOKIE)
		return true;
	return w->head->field_count - behind < w->head->field_capacity;
}

static void take_field(struct h2_walk *w, const struct hpack_field *got)
{
	struct h1_field field = { .name = got->name, .value = got->value, .id = got->id };
	struct h2_head *head = w->head;
	bool keep;

	if (!w->fields_begun) {
		w->fields_begun = true;
		h2_put_host(head);
	}
	w->error = note_field(w, &field, &keep);
	if (w->error || !keep)
		return;
	if (has_place(w, &field))
		head->fields[head->field_count++] = field;
	else
		w->too_large = true;
}

/* ---- the walk */

static void take(struct h2_walk *w, const struct hpack_field *field)
{
	struct h2_head *head = w->head;

	head->list_len += field->name.len + field->value.len + HPACK_ENTRY_OVERHEAD;
	w->size += field->name.len + field->value.len + H2_HEAD_FIELD_COST;
	if (w->size > head->list_max)
		w->too_large = true;
	if (w->error || w->too_large)
		return;
	if (field->name.len && field->name.ptr[0] == ':')
		w->error = h2_take_pseudo(w, field);
	else
		take_field(w, field);
}

/* Joins the cookie crumbs (8.2.3), at the end of the list. */
static void join_cookies(struct h2_walk *w, struct hpack_reader *r)
{
	struct h2_head *head = w->head;
	struct h1_field cookie = { .id = FIELD_COOKIE };
	char *start = r->text;
	unsigned kept = 0;

	if (!w->cookies || w->kind != H2_HEAD_REQUEST)
		return;
	/* crumbs are part of the list: they fit in the room that is beyond text_max */
	BUG_ON(w->cookie_len > head->text_max);
	for (unsigned i = 0; i < head->field_count; i++) {
		struct h1_field *field = &head->fields[i];

		if (field->id != FIELD_COOKIE) {
			if (i == (unsigned)head->host_index)
				head->host_index = (int16_t)kept;
			head->fields[kept++] = *field;
			continue;
		}
		cookie = *field;
		if (w->cookies == 1)
			continue;
		memcpy(r->text, field->value.ptr, field->value.len);
		r->text += field->value.len;
		memcpy(r->text, "; ", 2);
		r->text += 2;
	}
	if (w->cookies > 1)
		cookie.value = slice_make(start, (size_t)(r->text - start) - 2);
	head->fields[kept++] = cookie;
	head->field_count = (uint16_t)kept;
}

static uint8_t check_length(const struct h2_walk *w)
{
	if (w->options & H2_HEAD_OPT_END_STREAM && w->head->content_length &&
	    !(w->options & H2_HEAD_OPT_TO_HEAD) && w->head->status != 304)
		return H2_HEAD_ERR_CONTENT_LENGTH;
	return H2_HEAD_ERR_NONE;
}

/* What can be said when all was seen. */
static void finish(struct h2_walk *w, struct hpack_reader *r)
{
	if (!w->fields_begun)
		h2_put_host(w->head);
	if (w->kind == H2_HEAD_REQUEST)
		w->error = h2_finish_request(w);
	else if (w->kind == H2_HEAD_RESPONSE && !w->head->status)
		w->error = H2_HEAD_ERR_PSEUDO_MISSING;
	if (!w->error)
		w->error = check_length(w);
	if (!w->error)
		join_cookies(w, r);
}

/* How many fields are read at all: all of them have a place, Host for ":authority" too. */
static unsigned field_limit(const struct h2_head *head)
{
	return 2u * head->field_capacity + 1;
}

static void head_init(struct h2_head *head)
{
	struct h2_head given = *head;

	*head = (struct h2_head){
		.fields = given.fields, .field_capacity = given.field_capacity,
		.list_max = given.list_max, .text_max = given.text_max, .text = given.text,
		.host_index = -1,
	};
}

typedef enum hpack_status read_fn(struct hpack_reader *r, struct hpack_field *out);

/* Walks the block that <reader> begins, with <read>. */
static enum h2_head_status decode(struct hpack_reader *reader, read_fn *read,
				  enum h2_head_kind kind, unsigned options, struct h2_head *head)
{
	struct h2_walk w = { .head = head, .kind = (uint8_t)kind, .options = options };
	struct hpack_field field;

	while (read(reader, &field) == HPACK_FIELD) {
		if (++w.count > field_limit(head)) {
			reader->error = HPACK_ERR_TOO_LARGE;
			break;
		}
		if (!(options & H2_HEAD_OPT_DISCARD))
			take(&w, &field);
	}
	head->hpack_error = reader->error;
	if (reader->error)
		return H2_HEAD_BROKEN;
	if (options & H2_HEAD_OPT_DISCARD)
		return H2_HEAD_REFUSED;
	if (!w.error && !w.too_large)
		finish(&w, reader);
	head->error = w.error;
	head->text_len = (size_t)(reader->text - head->text);
	if (w.error)
		return H2_HEAD_REFUSED;
	return w.too_large ? H2_HEAD_TOO_LARGE : H2_HEAD_OK;
}

enum h2_head_status h2_head_decode(struct hpack_decoder *d, struct slice block,
				   enum h2_head_kind kind, unsigned options, struct h2_head *head)
{
	struct hpack_reader reader;

	head_init(head);
	hpack_read_begin(&reader, d, block, head->text, head->text_max);
	return decode(&reader, hpack_read, kind, options, head);
}

enum h2_head_status h3_head_decode(struct slice section, enum h2_head_kind kind, unsigned options,
				   struct h2_head *head)
{
	struct hpack_reader reader;

	head_init(head);
	qpack_read_begin(&reader, section, head->text, head->text_max);
	return decode(&reader, qpack_read, kind, options | H2_HEAD_OPT_H3, head);
}

/* ---- moving */

static void move_slice(const struct h2_head *head, const char *text, struct slice *s)
{
	if (s->ptr >= head->text && s->ptr < head->text + head->text_len)
		s->ptr = text + (s->ptr - head->text);
}

void h2_head_move(struct h2_head *head, char *text)
{
	struct slice *const pieces[] = {
		&head->method, &head->scheme, &head->authority, &head->path, &head->protocol,
	};

	for (unsigned i = 0; i < ARRAY_LEN(pieces); i++)
		move_slice(head, text, pieces[i]);
	for (unsigned i = 0; i < head->field_count; i++) {
		move_slice(head, text, &head->fields[i].name);
		move_slice(head, text, &head->fields[i].value);
	}
	head->text = text;
}
