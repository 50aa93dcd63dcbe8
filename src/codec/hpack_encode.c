/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hpack_encode.c - encoding of header blocks
 *
 * Repeated fields are the main cost: the same "server", "content-type" or "date" in each answer,
 * the same user agent in each request. So for each known name (and a few hashed slots for other
 * names) the encoder remembers the newest entry that it stored: if the value is the same again, one
 * or two bytes refer to it, found by one comparison. If it differs, the new value is stored
 * instead, until a slot has missed too often (request identifiers): then only now and then, so that
 * values that never repeat do not evict those that do.
 */
#include <stdlib.h>
#include "hpack_priv.h"

struct hpack_memory {
	uint16_t serial[HPACK_SLOTS]; /* of the newest entry, as counted by encoder->inserted */
	uint8_t misses[HPACK_SLOTS];  /* values in a row that were different */
};

/* Misses in a row that are stored all the same; of later ones one in MISSES_PERIOD. */
#define MISSES_TRUSTED 4
#define MISSES_PERIOD 8

/* First byte and prefix length of the representations (RFC 7541 6). */
#define FORM_INDEXED 0x80
#define FORM_INSERT 0x40
#define FORM_UPDATE 0x20
#define FORM_NEVER 0x10
#define FORM_PLAIN 0x00

void hpack_encoder_init(struct hpack_encoder *e, uint8_t options)
{
	*e = (struct hpack_encoder){ .options = options };
	hpack_table_init(&e->table, HPACK_TABLE_SIZE);
}

void hpack_encoder_fini(struct hpack_encoder *e)
{
	hpack_table_fini(&e->table);
	free(e->memory);
	e->memory = NULL;
}

void hpack_encoder_resize(struct hpack_encoder *e, uint32_t size)
{
	if (size > HPACK_TABLE_SIZE)
		size = HPACK_TABLE_SIZE;
	if (size == e->table.size_max)
		return;
	if (!e->update || size < e->update_low)
		e->update_low = size;
	e->update = true;
	hpack_table_resize(&e->table, size);
}

static void put_integer(struct hpack_writer *w, uint8_t form, unsigned prefix, uint32_t value)
{
	uint32_t max = (1u << prefix) - 1;

	if (value < max) {
		*w->at++ = (char)(form | value);
		return;
	}
	*w->at++ = (char)(form | max);
	for (value -= max; value >= 0x80; value >>= 7)
		*w->at++ = (char)(value | 0x80);
	*w->at++ = (char)value;
}

static void put_string(const struct hpack_encoder *e, struct hpack_writer *w, struct slice s)
{
	size_t coded = s.len;

	if (e->options & HPACK_OPT_HUFFMAN)
		coded = hpack_huffman_length(s);
	if (coded < s.len) {
		put_integer(w, 0x80, 7, (uint32_t)coded);
		w->at += hpack_huffman_encode(s, w->at);
		return;
	}
	put_integer(w, 0, 7, (uint32_t)s.len);
	if (s.len)
		memcpy(w->at, s.ptr, s.len);
	w->at += s.len;
}

bool hpack_write_begin(struct hpack_encoder *e, struct hpack_writer *w)
{
	if (w->end - w->at < HPACK_BEGIN_BOUND)
		return false;
	if (!e->update)
		return true;
	if (e->update_low < e->table.size_max)
		put_integer(w, FORM_UPDATE, 5, e->update_low);
	put_integer(w, FORM_UPDATE, 5, e->table.size_max);
	e->update = false;
	return true;
}

/* Secrets, which a guess must not be compared with; they are not even put in the peer's table. */
static bool is_secret(uint8_t id)
{
	return id == FIELD_AUTHORIZATION || id == FIELD_PROXY_AUTHORIZATION ||
	       id == FIELD_COOKIE || id == FIELD_SET_COOKIE;
}

/* The static entry that has this value too, 0: none. */
static unsigned find_static(uint8_t id, struct slice value)
{
	unsigned index = hpack_static_of[id];

	if (!index || !hpack_statics[index].value.len)
		return 0;
	for (; hpack_statics[index].id == id; index++) {
		if (slice_eq(hpack_statics[index].value, value))
			return index;
	}
	return 0;
}

static unsigned slot_of(uint8_t id, struct slice name)
{
	unsigned hash = (unsigned)name.len;

	if (id)
		return id;
	for (size_t i = 0; i < name.len; i++)
		hash = hash * 31 + (uint8_t)name.ptr[i];
	return HPACK_NAME_COUNT + (hash ^ hash >> 8) % (HPACK_SLOTS - HPACK_NAME_COUNT);
}

/* What the tables have for a field. */
struct match {
	unsigned name;   /* index with this name, 0: none */
	unsigned whole;  /* index with this name and value, 0: none */
	unsigned slot;
};

static struct match find_dynamic(const struct hpack_encoder *e, uint8_t id, struct slice name,
				 struct slice value)
{
	struct match m = { .name = hpack_static_of[id], .slot = slot_of(id, name) };
	struct hpack_entry entry;
	uint16_t age;

	if (!e->memory)
		return m;
	age = (uint16_t)(e->inserted - e->memory->serial[m.slot]);
	if (age >= e->table.count)
		return m;
	entry = hpack_table_get(&e->table, age);
	if (entry.id != id || (!id && !slice_eq(entry.name, name)))
		return m;
	if (!m.name)
		m.name = HPACK_STATIC_COUNT + 1 + age;
	if (slice_eq(entry.value, value))
		m.whole = HPACK_STATIC_COUNT + 1 + age;
	return m;
}

/* Is a value that is not in the tables worth an entry? */
static bool is_worth(struct hpack_encoder *e, unsigned slot, size_t size)
{
	uint8_t *misses;

	if (size > e->table.size_max / 4)
		return false;
	if (!e->memory) {
		e->memory = calloc(1, sizeof(*e->memory));
		if (!e->memory)
			return false;
	}
	misses = &e->memory->misses[slot];
	if (*misses < MISSES_TRUSTED + MISSES_PERIOD)
		++*misses;
	if (*misses <= MISSES_TRUSTED)
		return true;
	if (*misses < MISSES_TRUSTED + MISSES_PERIOD)
		return false;
	*misses = MISSES_TRUSTED;
	return true;
}

/* Writes a field whose value is in no table. */
static void put_new(struct hpack_encoder *e, struct hpack_writer *w, const struct match *m,
		    const struct hpack_entry *field)
{
	size_t size = field->name.len + field->value.len + HPACK_ENTRY_OVERHEAD;
	bool secret = is_secret(field->id);

	if (!secret && is_worth(e, m->slot, size) &&
	    hpack_table_add(&e->table, field->id, field->name, field->value)) {
		e->memory->serial[m->slot] = (uint16_t)++e->inserted;
		put_integer(w, FORM_INSERT, 6, m->name);
	} else {
		put_integer(w, secret ? FORM_NEVER : FORM_PLAIN, 4, m->name);
	}
	if (!m->name)
		put_string(e, w, field->name);
	put_string(e, w, field->value);
}

static bool put_field(struct hpack_encoder *e, struct hpack_writer *w,
		      const struct hpack_entry *field)
{
	size_t room = (size_t)(w->end - w->at);
	struct match m;

	if (room < hpack_field_bound(field->name.len, field->value.len))
		return false;
	m = find_dynamic(e, field->id, field->name, field->value);
	if (!m.whole && field->id)
		m.whole = find_static(field->id, field->value);
	else if (m.whole)
		e->memory->misses[m.slot] = 0;
	if (m.whole)
		put_integer(w, FORM_INDEXED, 7, m.whole);
	else
		put_new(e, w, &m, field);
	return true;
}

bool hpack_write_field(struct hpack_encoder *e, struct hpack_writer *w, uint8_t id,
		       struct slice name, struct slice value)
{
	struct hpack_entry field = { id ? hpack_name_of(id) : name, value, id };

	return put_field(e, w, &field);
}

bool hpack_write_pseudo(struct hpack_encoder *e, struct hpack_writer *w, enum hpack_pseudo id,
			struct slice value)
{
	struct hpack_entry field = { hpack_name_of((uint8_t)id), value, (uint8_t)id };

	return put_field(e, w, &field);
}

bool hpack_write_status(struct hpack_encoder *e, struct hpack_writer *w, unsigned status)
{
	char text[3] = { (char)('0' + status / 100 % 10), (char)('0' + status / 10 % 10),
			 (char)('0' + status % 10) };

	return hpack_write_pseudo(e, w, HPACK_STATUS, slice_make(text, sizeof(text)));
}
