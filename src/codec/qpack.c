/* SPDX-License-Identifier: GPL-2.0-or-later */
/* qpack.c - QPACK without dynamic tables: field sections read and written (RFC 9204 4.5) */
#include "qpack_priv.h"

/* First byte of what we write: indexed, literal with the name of an entry, literal name; all of
 * them of the static table.
 */
#define FORM_INDEXED 0xc0
#define FORM_NAMED 0x50
#define FORM_LITERAL 0x20
#define NEVER_NAMED 0x20
#define NEVER_LITERAL 0x10

/* --- reading ---------------------------------------------------------------------------------- */

static bool read_integer(struct hpack_reader *r, unsigned prefix, uint64_t *out)
{
	return hpack_read_integer(r, prefix, 62, out);
}

static bool read_string(struct hpack_reader *r, struct slice *out)
{
	struct hpack_literal l;

	return hpack_read_literal(r, 7, &l) && hpack_put_literal(r, l, out);
}

static bool read_name(struct hpack_reader *r, struct hpack_field *out)
{
	struct hpack_literal l;

	return hpack_read_literal(r, 3, &l) && hpack_put_name(r, l, out);
}

/* The static entry of an index of <prefix> bits; <is_static>: what the bit says. */
static bool read_entry(struct hpack_reader *r, unsigned prefix, bool is_static,
		       const struct hpack_static **entry)
{
	uint64_t index;

	if (!read_integer(r, prefix, &index))
		return false;
	if (!is_static || index >= QPACK_STATIC_COUNT)
		return hpack_read_bad(r, HPACK_ERR_INDEX);
	*entry = &qpack_statics[index];
	return true;
}

void qpack_read_begin(struct hpack_reader *r, struct slice section, char *text, size_t room)
{
	*r = (struct hpack_reader){
		.text = text, .text_room = room, .at = (const uint8_t *)section.ptr,
		.end = (const uint8_t *)section.ptr + section.len,
	};
}

/* The section's prefix: how many insertions it depends on, and a base, which has no meaning then.
 */
static bool read_prefix(struct hpack_reader *r)
{
	uint64_t inserts, base;

	r->begun = true;
	if (!read_integer(r, 8, &inserts) || !read_integer(r, 7, &base))
		return false;
	return !inserts || hpack_read_bad(r, HPACK_ERR_INDEX);
}

static bool read_field(struct hpack_reader *r, struct hpack_field *out)
{
	const struct hpack_static *entry;
	uint8_t first = *r->at;

	*out = (struct hpack_field){ 0 };
	if (first & 0x80) {
		if (!read_entry(r, 6, first & 0x40, &entry))
			return false;
		*out = (struct hpack_field){ .name = entry->name, .value = entry->value,
					     .id = entry->id };
		return true;
	}
	if (first & 0x40) {
		out->never_indexed = first & NEVER_NAMED;
		if (!read_entry(r, 4, first & 0x10, &entry))
			return false;
		out->name = entry->name;
		out->id = entry->id;
		return read_string(r, &out->value);
	}
	if (!(first & 0x20))
		return hpack_read_bad(r, HPACK_ERR_INDEX); /* relative to the base: dynamic */
	out->never_indexed = first & NEVER_LITERAL;
	return read_name(r, out) && read_string(r, &out->value);
}

enum hpack_status qpack_read(struct hpack_reader *r, struct hpack_field *out)
{
	if (!r->begun && !read_prefix(r))
		return HPACK_BAD;
	if (r->at == r->end)
		return HPACK_END;
	return read_field(r, out) ? HPACK_FIELD : HPACK_BAD;
}

/* --- writing ---------------------------------------------------------------------------------- */

static void put_integer(struct hpack_writer *w, uint8_t form, unsigned prefix, size_t value)
{
	size_t max = (1u << prefix) - 1;

	if (value < max) {
		*w->at++ = (char)(form | value);
		return;
	}
	*w->at++ = (char)(form | max);
	for (value -= max; value >= 0x80; value >>= 7)
		*w->at++ = (char)(value | 0x80);
	*w->at++ = (char)value;
}

static void put_string(struct hpack_writer *w, uint8_t form, unsigned prefix, struct slice s)
{
	size_t coded = hpack_huffman_length(s);

	if (coded < s.len) {
		put_integer(w, (uint8_t)(form | 1u << prefix), prefix, coded);
		w->at += hpack_huffman_encode(s, w->at);
		return;
	}
	put_integer(w, form, prefix, s.len);
	if (s.len)
		memcpy(w->at, s.ptr, s.len);
	w->at += s.len;
}

void qpack_write_begin(struct hpack_writer *w)
{
	*w->at++ = 0;
	*w->at++ = 0;
}

bool qpack_write_field(struct hpack_writer *w, uint8_t id, struct slice name, struct slice value)
{
	bool secret = id == FIELD_AUTHORIZATION || id == FIELD_PROXY_AUTHORIZATION ||
		      id == FIELD_COOKIE || id == FIELD_SET_COOKIE;
	unsigned first = id ? qpack_static_of[id] : 0;

	if ((size_t)(w->end - w->at) < hpack_field_bound(name.len, value.len))
		return false;
	for (unsigned i = first; i && i <= QPACK_STATIC_COUNT && qpack_statics[i - 1].id == id; i++)
		if (slice_eq(qpack_statics[i - 1].value, value)) {
			put_integer(w, FORM_INDEXED, 6, i - 1);
			return true;
		}
	if (first)
		put_integer(w, FORM_NAMED | (secret ? NEVER_NAMED : 0), 4, first - 1);
	else
		put_string(w, FORM_LITERAL | (secret ? NEVER_LITERAL : 0), 3, name);
	put_string(w, 0, 7, value);
	return true;
}

bool qpack_write_pseudo(struct hpack_writer *w, enum hpack_pseudo id, struct slice value)
{
	struct slice name = hpack_name_of((uint8_t)id);
	unsigned first = qpack_static_of[id];

	if ((size_t)(w->end - w->at) < hpack_field_bound(name.len, value.len))
		return false;
	for (unsigned i = 0; i < QPACK_STATIC_COUNT; i++)
		if (qpack_statics[i].id == id && slice_eq(qpack_statics[i].value, value)) {
			put_integer(w, FORM_INDEXED, 6, i);
			return true;
		}
	if (first)
		put_integer(w, FORM_NAMED, 4, first - 1);
	else
		put_string(w, FORM_LITERAL, 3, name);
	put_string(w, 0, 7, value);
	return true;
}

void qpack_write_status(struct hpack_writer *w, unsigned status)
{
	char text[3] = { (char)('0' + status / 100 % 10), (char)('0' + status / 10 % 10),
			 (char)('0' + status % 10) };
	struct slice value = slice_make(text, 3);

	for (unsigned i = 0; i < QPACK_STATIC_COUNT; i++)
		if (qpack_statics[i].id == HPACK_STATUS &&
		    slice_eq(qpack_statics[i].value, value)) {
			put_integer(w, FORM_INDEXED, 6, i);
			return;
		}
	put_integer(w, FORM_NAMED, 4, qpack_static_of[HPACK_STATUS] - 1u);
	put_string(w, 0, 7, value);
}
