/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hpack_table.c - the dynamic table (RFC 7541 2.3.2, 4)
 *
 * area  [ ...dead... | texts, oldest first |  free  | records, newest first | ...dead... ]
 *                                    text_end ^        ^ records
 *
 * Texts grow upwards, records downwards. Evicting the oldest entry leaves dead bytes at both ends;
 * when an entry does not fit between, both are moved back to their ends. A text's offset counts
 * from the beginning of time: moving changes only <base>. As an entry counts 32 bytes besides its
 * texts and its record takes less, an area as large as the table's size always suffices. Names with
 * a known id are not stored.
 */
#include <stdlib.h>
#include "hpack_priv.h"

struct hpack_record {
	uint32_t offset;     /* of the texts: the name, unless it has an id, then the value */
	uint16_t name_len, value_len;
	uint8_t id;
};

_Static_assert(sizeof(struct hpack_record) <= HPACK_ENTRY_OVERHEAD, "records fit in the overhead");
_Static_assert(HPACK_TABLE_SIZE_MAX - HPACK_ENTRY_OVERHEAD <= UINT16_MAX, "lengths fit in 16 bits");

static struct hpack_record *table_record(const struct hpack_table *t, uint32_t age)
{
	return (struct hpack_record *)(void *)(t->area + t->records) + age;
}

static uint32_t record_text_len(const struct hpack_record *r)
{
	return (uint32_t)(r->id ? 0 : r->name_len) + r->value_len;
}

void hpack_table_init(struct hpack_table *t, uint32_t size_max)
{
	*t = (struct hpack_table){ .size_max = size_max };
}

void hpack_table_fini(struct hpack_table *t)
{
	free(t->area);
	*t = (struct hpack_table){ 0 };
}

/* Evicts all. */
static void hpack_table_clear(struct hpack_table *t)
{
	t->count = t->size = t->text_end = t->base = 0;
	t->records = t->area_size;
}

static void table_evict(struct hpack_table *t, uint32_t size_max)
{
	const struct hpack_record *oldest;

	while (t->count && t->size > size_max) {
		oldest = table_record(t, --t->count);
		t->size -= (uint32_t)oldest->name_len + oldest->value_len + HPACK_ENTRY_OVERHEAD;
	}
	if (!t->count)
		hpack_table_clear(t);
}

void hpack_table_resize(struct hpack_table *t, uint32_t size_max)
{
	t->size_max = size_max;
	table_evict(t, size_max);
}

struct hpack_entry hpack_table_get(const struct hpack_table *t, uint32_t age)
{
	const struct hpack_record *r;
	const char *text;

	BUG_ON(age >= t->count);
	r = table_record(t, age);
	text = t->area + (r->offset - t->base);
	if (r->id)
		return (struct hpack_entry){ hpack_name_of(r->id), slice_make(text, r->value_len),
					     r->id };
	return (struct hpack_entry){ slice_make(text, r->name_len),
				     slice_make(text + r->name_len, r->value_len), r->id };
}

/* Moves all that is alive to the two ends of <area>. */
static void table_pack(struct hpack_table *t, char *area, uint32_t area_size)
{
	uint32_t oldest = t->base + t->text_end; /* offset of the first byte alive */
	uint32_t records_len = t->count * (uint32_t)sizeof(struct hpack_record), text_len;

	if (t->count)
		oldest = table_record(t, t->count - 1)->offset;
	text_len = t->base + t->text_end - oldest;
	if (area == t->area) { /* text first or records first: they do not overlap */
		memmove(area, t->area + (oldest - t->base), text_len);
		memmove(area + area_size - records_len, t->area + t->records, records_len);
	} else if (t->area) {
		memcpy(area, t->area + (oldest - t->base), text_len);
		memcpy(area + area_size - records_len, t->area + t->records, records_len);
	}
	t->base = oldest;
	t->text_end = text_len;
	t->records = area_size - records_len;
}

/* Replaces the area by one of at least <needed> bytes. */
static bool table_grow(struct hpack_table *t, uint32_t needed)
{
	uint32_t size = t->area_size ? t->area_size : HPACK_AREA_FIRST;
	char *area;

	while (size < needed)
		size *= 2;
	area = malloc(size);
	if (!area)
		return false;
	table_pack(t, area, size);
	free(t->area);
	t->area = area;
	t->area_size = size;
	return true;
}

/* Makes <text_len> bytes and a record fit between texts and records. */
static bool table_make_room(struct hpack_table *t, uint32_t text_len)
{
	uint32_t wanted = text_len + (uint32_t)sizeof(struct hpack_record), alive = wanted;

	if (t->area && t->records - t->text_end >= wanted)
		return true;
	if (t->count)
		alive += t->base + t->text_end - table_record(t, t->count - 1)->offset +
			 t->count * (uint32_t)sizeof(struct hpack_record);
	if (!t->area || alive > t->area_size)
		return table_grow(t, alive);
	table_pack(t, t->area, t->area_size);
	return true;
}

bool hpack_table_add(struct hpack_table *t, uint8_t id, struct slice name, struct slice value)
{
	size_t size = name.len + value.len + HPACK_ENTRY_OVERHEAD;
	struct hpack_record *r, record;
	char *text;

	if (size > t->size_max) {
		hpack_table_clear(t);
		return true;
	}
	table_evict(t, t->size_max - (uint32_t)size);
	record = (struct hpack_record){ .name_len = (uint16_t)name.len, .id = id,
					.value_len = (uint16_t)value.len };
	if (!table_make_room(t, record_text_len(&record)))
		return false;
	record.offset = t->base + t->text_end;
	text = t->area + t->text_end;
	t->text_end += record_text_len(&record);
	if (!id && name.len) {
		memcpy(text, name.ptr, name.len);
		text += name.len;
	}
	if (value.len)
		memcpy(text, value.ptr, value.len);
	t->records -= (uint32_t)sizeof(record);
	r = table_record(t, 0);
	*r = record;
	t->count++;
	t->size += (uint32_t)size;
	return true;
}
