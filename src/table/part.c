/* SPDX-License-Identifier: GPL-2.0-or-later */
/* part.c - counts of peers, kept beside our own */
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "table/part.h"
#include "table_priv.h"

struct table_part {
	struct table_state *state; /* owned */
	char *name;                /* owned */
	bool is_up;                /* atomic */
	bool is_taken;             /* a peer fills it */
};

struct table_parts {
	unsigned count;            /* atomic: only grows */
	struct table_part all[TABLE_PARTS_MAX];
};

/* NULL: it has none. */
static struct table_parts *parts_of(const struct table_state *st)
{
	return __atomic_load_n(&st->parts, __ATOMIC_ACQUIRE);
}

static unsigned count_of(const struct table_parts *parts)
{
	return parts ? __atomic_load_n(&parts->count, __ATOMIC_ACQUIRE) : 0;
}

static struct table_part *part_named(struct table_parts *parts, const char *name)
{
	for (unsigned i = 0; i < count_of(parts); i++)
		if (strcmp(parts->all[i].name, name) == 0)
			return &parts->all[i];
	return NULL;
}

/* A part that no peer fills, and of which everything has expired, for another peer. NULL: none. */
static struct table_part *part_reuse(struct table_parts *parts, const char *name)
{
	for (unsigned i = 0; i < count_of(parts); i++) {
		struct table_part *p = &parts->all[i];
		char *copy = p->is_taken || table_state_used(p->state) ? NULL : strdup(name);

		if (!copy)
			continue;
		free(p->name);
		p->name = copy;
		return p;
	}
	return NULL;
}

static struct table_part *part_new(struct table_state *st, struct table_parts *parts,
				   const char *name)
{
	struct table_limits l = table_state_limits(st);
	unsigned count = count_of(parts);
	struct table_part *p = &parts->all[count];

	if (count == TABLE_PARTS_MAX)
		return NULL;
	l.sums = false;
	p->name = strdup(name);
	p->state = p->name ? table_state_new(name, table_state_shape(st), &l) : NULL;
	if (!p->state) {
		free(p->name);
		p->name = NULL;
		return NULL;
	}
	__atomic_store_n(&parts->count, count + 1, __ATOMIC_RELEASE);
	return p;
}

struct table_part *table_part_of(struct table_state *st, const char *name)
{
	struct table_parts *parts = parts_of(st);
	struct table_part *p;

	if (!parts) {
		parts = calloc(1, sizeof(*parts));
		__atomic_store_n(&st->parts, parts, __ATOMIC_RELEASE);
	}
	if (!parts)
		return NULL;
	p = part_named(parts, name);
	if (!p)
		p = part_reuse(parts, name);
	if (!p)
		p = part_new(st, parts, name);
	if (p)
		p->is_taken = true;
	return p;
}

void table_part_leave(struct table_part *p)
{
	table_part_set_up(p, false);
	p->is_taken = false;
}

struct table_state *table_part_state(const struct table_part *p)
{
	return p->state;
}

void table_part_set_up(struct table_part *p, bool up)
{
	__atomic_store_n(&p->is_up, up, __ATOMIC_RELAXED);
}

/* --- sums ------------------------------------------------------------------------------------- */

bool table_data_adds(enum table_data d)
{
	switch (d) {
	case TABLE_SERVER_ID:
	case TABLE_SERVER_KEY:
	case TABLE_GPT0:
	case TABLE_GPT:
	case TABLE_RATE_LIMIT:
	case TABLE_RATE_LIMITED_CNT:
		return false;
	default:
		return true;
	}
}

static uint64_t part_read(const struct table_part *p, const struct table_key *key,
			  enum table_data d, unsigned i)
{
	struct table_entry *e;
	uint64_t v = 0;

	if (d == TABLE_CONN_CUR && !__atomic_load_n(&p->is_up, __ATOMIC_RELAXED))
		return 0;
	e = table_find(p->state, key);
	if (!e)
		return 0;
	table_read(table_state_shape(p->state), e, d, i, &v);
	table_drop(e);
	return v;
}

bool table_read_sum(struct table_state *st, struct table_entry *e, enum table_data d, unsigned i,
		    uint64_t *out)
{
	const struct table_shape *s = table_state_shape(st);
	const struct table_parts *parts;
	struct table_key key;
	unsigned count;

	if (!table_read(s, e, d, i, out))
		return false;
	if (unlikely(__atomic_load_n(&st->sums, __ATOMIC_RELAXED)) && table_data_adds(d)) {
		parts = parts_of(st);
		count = count_of(parts);
		table_key_of_entry(s, e, &key);
		for (unsigned n = 0; n < count; n++)
			*out += part_read(&parts->all[n], &key, d, i);
	}
	if (d == TABLE_BYTES_IN_RATE || d == TABLE_BYTES_OUT_RATE)
		*out *= __atomic_load_n(&st->bytes_factor, __ATOMIC_RELAXED);
	return true;
}

/* --- life ------------------------------------------------------------------------------------- */

void table_parts_set_limits(struct table_state *st, const struct table_limits *l)
{
	struct table_parts *parts = parts_of(st);
	struct table_limits mine = *l;

	mine.sums = false;
	for (unsigned i = 0; i < count_of(parts); i++)
		table_state_set_limits(parts->all[i].state, &mine);
}

bool table_parts_sweep(struct table_state *st, unsigned budget)
{
	struct table_parts *parts = parts_of(st);
	unsigned count = count_of(parts);
	bool all = true;

	for (unsigned i = 0; i < count; i++)
		all = table_sweep(parts->all[i].state, budget / count) && all;
	return all;
}

void table_parts_free(struct table_parts *parts)
{
	for (unsigned i = 0; i < count_of(parts); i++) {
		table_state_drop(&parts->all[i].state);
		free(parts->all[i].name);
	}
	free(parts);
}
