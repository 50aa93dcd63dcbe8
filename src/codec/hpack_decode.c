/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hpack_decode.c - decoding of header blocks (RFC 7541 3, 6)
 *
 * A field is read in two steps: first its representation (numbers and the positions of its
 * strings), which always advances in the block; then its texts, into the caller's room. A text that
 * does not fit ends the walk: few bytes may stand for many, and decoding them all would be wasted
 * work.
 */
#include "hpack_priv.h"

/* One representation of a field. */
struct form {
	uint32_t index;      /* of the name, or of the whole field; 0: the name is a literal */
	bool whole;          /* indexed field: there is no literal */
	bool insert, never;
	struct hpack_literal name, value;
};

void hpack_decoder_init(struct hpack_decoder *d, uint32_t limit)
{
	*d = (struct hpack_decoder){ .limit = limit };
	if (limit < HPACK_TABLE_SIZE)
		d->limit = HPACK_TABLE_SIZE;
	hpack_table_init(&d->table, HPACK_TABLE_SIZE);
}

void hpack_decoder_fini(struct hpack_decoder *d)
{
	hpack_table_fini(&d->table);
}

void hpack_decoder_limit(struct hpack_decoder *d, uint32_t limit)
{
	d->limit = limit;
	if (limit < d->table.size_max)
		d->must_update = true;
}

void hpack_read_begin(struct hpack_reader *r, struct hpack_decoder *d, struct slice block,
		      char *text, size_t room)
{
	*r = (struct hpack_reader){
		.decoder = d, .text = text, .text_room = room,
		.at = (const uint8_t *)block.ptr, .end = (const uint8_t *)block.ptr + block.len,
	};
}

bool hpack_read_long(struct hpack_reader *r, unsigned prefix, unsigned bits, uint64_t *out)
{
	uint64_t value = (1u << prefix) - 1;
	uint8_t byte;

	if (r->at == r->end)
		return hpack_read_bad(r, HPACK_ERR_TRUNCATED);
	r->at++;
	for (unsigned shift = 0; shift < bits; shift += 7) {
		if (r->at == r->end)
			return hpack_read_bad(r, HPACK_ERR_TRUNCATED);
		byte = *r->at++;
		value += (uint64_t)(byte & 0x7f) << shift;
		if (byte & 0x80)
			continue;
		*out = value;
		return !(value >> bits) || hpack_read_bad(r, HPACK_ERR_INTEGER);
	}
	return hpack_read_bad(r, HPACK_ERR_INTEGER);
}

bool hpack_read_literal(struct hpack_reader *r, unsigned prefix, struct hpack_literal *out)
{
	uint64_t len;

	out->huffman = r->at < r->end && *r->at & 1u << prefix;
	if (!hpack_read_integer(r, prefix, 32, &len))
		return false;
	if (len > (size_t)(r->end - r->at))
		return hpack_read_bad(r, HPACK_ERR_TRUNCATED);
	out->bytes = slice_make((const char *)r->at, (size_t)len);
	r->at += len;
	return true;
}

/* An index or a size, which HPACK bounds to 32 bits. */
static bool read_number(struct hpack_reader *r, unsigned prefix, uint32_t *out)
{
	uint64_t value;

	if (!hpack_read_integer(r, prefix, 32, &value))
		return false;
	*out = (uint32_t)value;
	return true;
}

/* Reads one representation, which is no size update. */
static bool read_form(struct hpack_reader *r, struct form *f)
{
	uint8_t first = *r->at;
	unsigned prefix = 4;

	*f = (struct form){ 0 };
	if (first & 0x80) {
		f->whole = true;
		prefix = 7;
	} else if (first & 0x40) {
		f->insert = true;
		prefix = 6;
	} else {
		f->never = first & 0x10;
	}
	if (!read_number(r, prefix, &f->index))
		return false;
	if (f->index > HPACK_STATIC_COUNT + r->decoder->table.count || (f->whole && !f->index))
		return hpack_read_bad(r, HPACK_ERR_INDEX);
	if (f->whole)
		return true;
	if (!f->index && !hpack_read_literal(r, 7, &f->name))
		return false;
	return hpack_read_literal(r, 7, &f->value);
}

/* Size updates (6.3), which only stand at the beginning of a block. */
static bool read_updates(struct hpack_reader *r)
{
	struct hpack_decoder *d = r->decoder;
	uint32_t size;

	while (r->at < r->end && (*r->at & 0xe0) == 0x20) {
		if (r->begun)
			return hpack_read_bad(r, HPACK_ERR_TABLE_SIZE);
		if (!read_number(r, 5, &size))
			return false;
		if (size > d->limit)
			return hpack_read_bad(r, HPACK_ERR_TABLE_SIZE);
		hpack_table_resize(&d->table, size);
		d->must_update = false;
	}
	if (d->must_update && r->at < r->end)
		return hpack_read_bad(r, HPACK_ERR_TABLE_SIZE);
	r->begun = true;
	return true;
}

/* ---- texts: false with r->error */

static bool put_text(struct hpack_reader *r, struct slice text, struct slice *out)
{
	if (text.len > r->text_room)
		return hpack_read_bad(r, HPACK_ERR_TOO_LARGE);
	if (text.len)
		memcpy(r->text, text.ptr, text.len);
	*out = slice_make(r->text, text.len);
	r->text += text.len;
	r->text_room -= text.len;
	return true;
}

bool hpack_put_literal(struct hpack_reader *r, struct hpack_literal l, struct slice *out)
{
	size_t len;

	if (!l.huffman)
		return put_text(r, l.bytes, out);
	len = hpack_huffman_decode(l.bytes, r->text, r->text_room);
	if (len == HPACK_HUFFMAN_NO_ROOM)
		return hpack_read_bad(r, HPACK_ERR_TOO_LARGE);
	if (len == HPACK_HUFFMAN_BAD)
		return hpack_read_bad(r, HPACK_ERR_HUFFMAN);
	*out = slice_make(r->text, len);
	r->text += len;
	r->text_room -= len;
	return true;
}

bool hpack_put_name(struct hpack_reader *r, struct hpack_literal l, struct hpack_field *out)
{
	if (!hpack_put_literal(r, l, &out->name))
		return false;
	out->id = hpack_id_of(out->name);
	if (out->id) { /* known: the constant serves, the room is free again */
		r->text -= out->name.len;
		r->text_room += out->name.len;
		out->name = hpack_name_of(out->id);
	}
	return true;
}

/* The field of a dynamic entry: a copy, for the table may change before it is used. */
static bool put_entry(struct hpack_reader *r, const struct form *f, struct hpack_field *out)
{
	struct hpack_entry entry = hpack_table_get(&r->decoder->table,
						   f->index - HPACK_STATIC_COUNT - 1);

	out->id = entry.id;
	out->name = entry.name;
	if (!entry.id && !put_text(r, entry.name, &out->name))
		return false;
	return !f->whole || put_text(r, entry.value, &out->value);
}

static bool put_name(struct hpack_reader *r, const struct form *f, struct hpack_field *out)
{
	if (f->index > HPACK_STATIC_COUNT)
		return put_entry(r, f, out);
	if (f->index) {
		out->name = hpack_statics[f->index].name;
		out->id = hpack_statics[f->index].id;
		if (f->whole)
			out->value = hpack_statics[f->index].value;
		return true;
	}
	return hpack_put_name(r, f->name, out);
}

static bool put_field(struct hpack_reader *r, const struct form *f, struct hpack_field *out)
{
	*out = (struct hpack_field){ .never_indexed = f->never };
	return put_name(r, f, out) && (f->whole || hpack_put_literal(r, f->value, &out->value));
}

enum hpack_status hpack_read(struct hpack_reader *r, struct hpack_field *out)
{
	struct hpack_table *table = &r->decoder->table;
	struct form form;

	if (!read_updates(r))
		return HPACK_BAD;
	if (r->at == r->end)
		return HPACK_END;
	if (!read_form(r, &form) || !put_field(r, &form, out))
		return HPACK_BAD;
	if (form.insert && !hpack_table_add(table, out->id, out->name, out->value)) {
		r->error = HPACK_ERR_MEMORY;
		return HPACK_BAD;
	}
	return HPACK_FIELD;
}
