/* SPDX-License-Identifier: GPL-2.0-or-later */
/* shape.c - the contents of an entry: names of data, their offsets, reading and writing them */
#include <string.h>
#include "base/bug.h"
#include "table/pace.h"
#include "table/table.h"

const struct table_data_row table_data_rows[TABLE_DATA_COUNT] = {
#define X(name, text, kind, array) [TABLE_##name] = { text, kind, array },
	TABLE_DATA(X)
#undef X
};

int table_data_find(struct slice name)
{
	for (int d = 0; d < TABLE_DATA_COUNT; d++)
		if (slice_eq(name, slice_of(table_data_rows[d].name)))
			return d;
	return -1;
}

const char *table_type_name(enum table_type t)
{
	static const char *const names[TABLE_TYPES] = {
		[TABLE_IPV4] = "ip", [TABLE_IPV6] = "ipv6", [TABLE_INTEGER] = "integer",
		[TABLE_STRING] = "string", [TABLE_BINARY] = "binary",
	};

	return names[t];
}

/* --- layout ----------------------------------------------------------------------------------- */

static unsigned cell_size(enum table_kind kind)
{
	switch (kind) {
	case TABLE_U64:
	case TABLE_PACE: return 8;
	case TABLE_RATE: return sizeof(struct table_rate);
	default: return 4;
	}
}

static uint32_t place_data(struct table_shape *s, uint32_t at, bool wide)
{
	for (unsigned d = 0; d < TABLE_DATA_COUNT; d++) {
		enum table_kind kind = (enum table_kind)table_data_rows[d].kind;

		if (!s->count[d] || wide != table_kind_is_wide(kind))
			continue;
		s->at[d] = at;
		at += s->count[d] * cell_size(kind);
	}
	return at;
}

void table_shape_lay_out(struct table_shape *s)
{
	uint32_t at = offsetof(struct table_entry, stamp) + sizeof(uint32_t);
	bool fixed = s->type != TABLE_STRING && s->type != TABLE_BINARY;

	s->key_at = at;
	if (fixed)
		at += s->key_len;
	if (s->count[TABLE_BYTES_IN_CNT] || s->count[TABLE_BYTES_OUT_CNT] ||
	    s->count[TABLE_RATE_LIMIT])
		at = place_data(s, (at + 7) & ~7u, true);
	at = place_data(s, at, false);
	if (!fixed) {
		s->key_at = at;
		at += s->key_len + (s->type == TABLE_STRING); /* and a NUL */
	}
	s->size = (at + 7) & ~7u;
}

bool table_shape_eq(const struct table_shape *a, const struct table_shape *b)
{
	return a->type == b->type && a->key_len == b->key_len &&
	       memcmp(a->count, b->count, sizeof(a->count)) == 0 &&
	       memcmp(a->period_ms, b->period_ms, sizeof(a->period_ms)) == 0;
}

enum table_data table_data_stored(const struct table_shape *s, enum table_data d, unsigned *i)
{
	static const struct { uint8_t plain, array, cell; } rows[] = {
		{ TABLE_GPT0, TABLE_GPT, 0 }, { TABLE_GPC0, TABLE_GPC, 0 },
		{ TABLE_GPC1, TABLE_GPC, 1 }, { TABLE_GPC0_RATE, TABLE_GPC_RATE, 0 },
		{ TABLE_GPC1_RATE, TABLE_GPC_RATE, 1 },
	};

	if (s->count[d])
		return d;
	for (unsigned r = 0; r < ARRAY_LEN(rows); r++) {
		if (rows[r].plain != d || !s->count[rows[r].array])
			continue;
		*i = rows[r].cell;
		return (enum table_data)rows[r].array;
	}
	return d;
}

/* --- cells ------------------------------------------------------------------------------------ */

bool table_read(const struct table_shape *s, struct table_entry *e, enum table_data d, unsigned i,
		uint64_t *out)
{
	void *cell = table_cell(s, e, d, i);

	if (!cell)
		return false;
	if (table_data_rows[d].kind == TABLE_RATE)
		*out = table_rate_read(cell, s->period_ms[d], table_now_ms());
	else if (table_data_rows[d].kind == TABLE_PACE)
		*out = table_pace_left_ms(cell, clock_now_ns());
	else if (table_data_rows[d].kind == TABLE_U64)
		*out = __atomic_load_n((uint64_t *)cell, __ATOMIC_RELAXED);
	else
		*out = __atomic_load_n((uint32_t *)cell, __ATOMIC_RELAXED);
	return true;
}

bool table_write(const struct table_shape *s, struct table_entry *e, enum table_data d, unsigned i,
		 uint64_t value)
{
	void *cell = table_cell(s, e, d, i);

	if (!cell)
		return false;
	SHARED_LINE(cell);
	if (table_data_rows[d].kind == TABLE_RATE)
		table_rate_set(cell, (uint32_t)value, table_now_ms());
	else if (table_data_rows[d].kind == TABLE_PACE)
		table_pace_set_ms(cell, value, clock_now_ns());
	else if (table_data_rows[d].kind == TABLE_U64)
		__atomic_store_n((uint64_t *)cell, value, __ATOMIC_RELAXED);
	else
		__atomic_store_n((uint32_t *)cell, (uint32_t)value, __ATOMIC_RELAXED);
	return true;
}

bool table_add(const struct table_shape *s, struct table_entry *e, enum table_data d, unsigned i,
	       uint64_t n)
{
	void *cell = table_cell(s, e, d, i);

	if (!cell)
		return false;
	SHARED_LINE(cell);
	SHARED_LINE((const char *)cell + (table_data_rows[d].kind == TABLE_RATE ? 8 : 0));
	if (table_data_rows[d].kind == TABLE_RATE)
		table_rate_add(cell, s->period_ms[d], (uint32_t)n, table_now_ms());
	else if (table_data_rows[d].kind == TABLE_PACE)
		return false; /* rules take of it */
	else if (table_data_rows[d].kind == TABLE_U64)
		__atomic_fetch_add((uint64_t *)cell, n, __ATOMIC_RELAXED);
	else
		__atomic_fetch_add((uint32_t *)cell, (uint32_t)n, __ATOMIC_RELAXED);
	return true;
}

void table_take_one(const struct table_shape *s, struct table_entry *e, enum table_data d)
{
	uint32_t *cell = table_cell(s, e, d, 0), was;

	if (!cell)
		return;
	SHARED_LINE(cell);
	was = __atomic_load_n(cell, __ATOMIC_RELAXED);
	while (was && !__atomic_compare_exchange_n(cell, &was, was - 1, true, __ATOMIC_RELAXED,
						   __ATOMIC_RELAXED))
		;
}
