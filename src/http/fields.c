/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fields.c - the field list of a message: finding by number first, deleting by mark, growing in
 * the arena
 */
#include "http/msg.h"

#include <string.h>

#include "base/bug.h"

uint8_t http_field_id(struct slice name)
{
	return field_id_of(name);
}

struct h1_field *http_field_next(const struct http_fields *f, int *at, uint8_t id,
				 struct slice name)
{
	unsigned i = *at + 1;

	/* a well-known name always carries its number: no text is compared */
	if (id) {
		for (; i < f->count; i++) {
			if (f->list[i].id == id && f->list[i].name.ptr) {
				*at = i;
				return &f->list[i];
			}
		}
		return NULL;
	}
	for (; i < f->count; i++) {
		struct h1_field *field = &f->list[i];

		if (field->name.len == name.len && field->id == 0 && field->name.ptr &&
		    bytes_eq_nocase(field->name.ptr, name.ptr, name.len)) {
			*at = i;
			return field;
		}
	}
	return NULL;
}

struct h1_field *http_field_find(const struct http_fields *f, uint8_t id, struct slice name)
{
	int at = -1;

	return http_field_next(f, &at, id, name);
}

size_t http_value_len(struct slice s)
{
	const char *comma = s.len ? memchr(s.ptr, ',', s.len) : NULL;
	bool quoted = false;
	size_t i;

	if (!comma)
		return s.len;
	if (!memchr(s.ptr, '"', (size_t)(comma - s.ptr)))
		return (size_t)(comma - s.ptr);
	for (i = 0; i < s.len; i++) {
		char c = s.ptr[i];

		if (quoted && c == '\\' && i + 1 < s.len)
			i++;
		else if (c == '"')
			quoted = !quoted;
		else if (c == ',' && !quoted)
			break;
	}
	return i;
}

bool http_value_next(const struct http_fields *f, int *at, struct slice *rest, uint8_t id,
		     struct slice name, struct slice *value)
{
	size_t len;

	if (!rest->ptr) {
		struct h1_field *field = http_field_next(f, at, id, name);

		if (!field)
			return false;
		/* an empty value may have no pointer, which would look like the end of it */
		*rest = field->value.ptr ? field->value : SLICE("");
	}
	len = http_value_len(*rest);
	*value = slice_trim(slice_sub(*rest, 0, len));
	*rest = len < rest->len ? slice_sub(*rest, len + 1, rest->len) : slice_none();
	return true;
}

bool http_fields_reserve(struct http_fields *f, struct arena *arena, unsigned more)
{
	struct h1_field *list;
	unsigned room = f->count + more + (more > 1 ? 2 : 6); /* some, for what rules add */

	if (f->room - f->count >= more)
		return true;
	room = f->room * 2 > room ? f->room * 2 : room;
	list = arena_alloc(arena, room * sizeof(*list));
	if (!list)
		return false;
	if (f->count)
		memcpy(list, f->list, f->count * sizeof(*list));
	f->list = list;
	f->room = room;
	return true;
}

/* A lower-case copy of a name, or the table's own text of a well-known one. */
static struct slice field_name_copy(struct arena *arena, uint8_t id, struct slice name)
{
	char *copy;
	size_t i;

	if (id)
		return field_name_of(id);
	copy = arena_alloc(arena, name.len + 1);
	if (!copy)
		return slice_none();
	for (i = 0; i < name.len; i++)
		copy[i] = ascii_lower(name.ptr[i]);
	return slice_make(copy, name.len);
}

/* What was received is still as it was: it may be sent as it is, with what is added behind it. */
static inline bool put_field(struct http_msg *m, uint8_t id, struct slice name, struct slice value)
{
	m->fields.list[m->fields.count++] =
		(struct h1_field){ .name = name, .value = value, .id = id };
	m->flags |= HTTP_HOP_FIELDS >> id & 1 ? HTTP_MSG_EDITED : HTTP_MSG_ADDED;
	return true;
}

static __attribute__((noinline)) bool put_field_slow(struct http_msg *m, uint8_t id,
						     struct slice name, struct slice value)
{
	return http_fields_reserve(&m->fields, m->arena, 1) && put_field(m, id, name, value);
}

bool http_msg_put_field(struct http_msg *m, uint8_t id, struct slice name, struct slice value)
{
	BUG_ON(!name.ptr);
	if (unlikely(m->fields.count == m->fields.room))
		return put_field_slow(m, id, name, value);
	return put_field(m, id, name, value);
}

bool http_msg_add_field(struct http_msg *m, struct slice name, struct slice value)
{
	uint8_t id = http_field_id(name);
	struct slice name_copy = field_name_copy(m->arena, id, name);
	struct slice value_copy = arena_copy(m->arena, value);

	return name_copy.ptr && value_copy.ptr &&
	       http_msg_put_field(m, id, name_copy, value_copy);
}

void http_msg_drop_field(struct http_msg *m, struct h1_field *field)
{
	field->name = slice_none();
	field->id = 0;
	m->flags |= HTTP_MSG_EDITED;
}

unsigned http_msg_del_field(struct http_msg *m, struct slice name)
{
	return http_msg_del_field_of(m, http_field_id(name), name);
}

unsigned http_msg_del_field_of(struct http_msg *m, uint8_t id, struct slice name)
{
	struct h1_field *field;
	unsigned count = 0;
	int at = -1;

	while ((field = http_field_next(&m->fields, &at, id, name)) != NULL) {
		http_msg_drop_field(m, field);
		count++;
	}
	return count;
}

bool http_msg_set_value(struct http_msg *m, struct h1_field *field, struct slice value)
{
	struct slice copy = arena_copy(m->arena, value);

	if (!copy.ptr)
		return false;
	field->value = copy;
	m->flags |= HTTP_MSG_EDITED;
	return true;
}

bool http_msg_set_field(struct http_msg *m, struct slice name, struct slice value)
{
	unsigned i, last = m->fields.count;
	uint8_t id = http_field_id(name);

	/* added first: when it fails nothing was deleted. <name> or <value> may be in a field
	 * which goes.
	 */
	if (!http_msg_add_field(m, name, value))
		return false;
	name = m->fields.list[last].name;
	for (i = 0; i < last; i++) {
		struct h1_field *field = &m->fields.list[i];

		if (field->name.ptr && field->id == id && (id || slice_eq(field->name, name)))
			http_msg_drop_field(m, field);
	}
	return true;
}
