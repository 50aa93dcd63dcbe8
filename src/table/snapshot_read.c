/* SPDX-License-Identifier: GPL-2.0-or-later */
/* snapshot_read.c - loads a snapshot into a table, or says why it is refused
 *
 * Files are not trusted: first the checksum is verified, then each entry is measured, and only then
 * the table changes. Entries are inserted in the order of their use, which is the table's.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/hash.h"
#include "snapshot_priv.h"

struct reader {
	const unsigned char *at, *end;
	bool failed;               /* it went beyond the end, or found what cannot be */
};

/* An entry of the file. */
struct place {
	uint64_t age_ms;           /* the time that the program was away included */
	const unsigned char *at;   /* its key */
};

static bool refuse(struct snapshot_loaded *out, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static bool refuse(struct snapshot_loaded *out, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(out->error, sizeof(out->error), fmt, ap);
	va_end(ap);
	return false;
}

/* A terminal must not be driven by what a file contains. */
static void make_printable(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < 0x20 || (unsigned char)*text >= 0x7f)
			*text = '?';
}

/* --- bytes ------------------------------------------------------------------------------------ */

static uint64_t number_at(const unsigned char *at, unsigned bytes)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < bytes; i++)
		v |= (uint64_t)at[i] << (8 * i);
	return v;
}

/* The next <len> bytes; NULL: there are not so many. */
static const unsigned char *take(struct reader *r, size_t len)
{
	const unsigned char *at = r->at;

	if (r->failed || (size_t)(r->end - at) < len) {
		r->failed = true;
		return NULL;
	}
	r->at += len;
	return at;
}

static uint64_t take_number(struct reader *r, unsigned bytes)
{
	const unsigned char *at = take(r, bytes);

	return at ? number_at(at, bytes) : 0;
}

static struct slice take_text(struct reader *r)
{
	size_t len = (size_t)take_number(r, 2);
	const unsigned char *at = take(r, len);

	return at ? slice_make((const char *)at, len) : slice_none();
}

uint64_t snapshot_born_us(const char *head, size_t len)
{
	if (len < SNAPSHOT_HEAD || memcmp(head, SNAPSHOT_MAGIC, 8) != 0)
		return 0;
	return number_at((const unsigned char *)head + 24, 8);
}

/* --- entries ---------------------------------------------------------------------------------- */

static void take_key(struct reader *r, const struct table_shape *s, struct table_key *out)
{
	const unsigned char *at;
	struct slice text;
	uint32_t number;

	memset(out, 0, sizeof(*out));
	if (s->type == TABLE_STRING || s->type == TABLE_BINARY) {
		text = take_text(r);
		out->at = text.len ? text.ptr : "";
		out->len = text.len;
		/* as table_key_of_sample() makes them */
		if (text.len > s->key_len ||
		    (s->type == TABLE_STRING ? memchr(out->at, 0, out->len) != NULL
					     : text.len && !text.ptr[text.len - 1]))
			r->failed = true;
		return;
	}
	out->len = s->key_len;
	at = take(r, s->key_len);
	if (!at)
		return;
	number = (uint32_t)number_at(at, 4);
	if (s->type == TABLE_INTEGER)
		memcpy(out->bytes, &number, 4);
	else
		memcpy(out->bytes, at, s->key_len);
}

/* The ages of a rate's figures grow by the time that the program was away. */
static void put_rate(struct reader *r, struct table_rate *cell, uint32_t period_ms,
		     uint64_t away_ms)
{
	uint64_t age = take_number(r, 4);
	struct table_rate rate;
	bool is_none = age == SNAPSHOT_NO_RATE || age + away_ms >= 2ull * period_ms;

	rate.current = (uint32_t)take_number(r, 4);
	rate.previous = (uint32_t)take_number(r, 4);
	rate.start_ms = table_now_ms() - (uint32_t)(age + away_ms);
	if (cell && !is_none)
		table_rate_put(cell, &rate);
}

/* Without an entry (<e> is NULL) the cell is passed over. */
static void put_cell(struct reader *r, struct table_state *st, struct table_entry *e,
		     enum table_data d, unsigned i, uint64_t away_ms)
{
	const struct table_shape *s = table_state_shape(st);
	void *cell = e ? table_cell(s, e, d, i) : NULL;
	struct slice text;
	uint64_t v;

	switch ((enum table_kind)table_data_rows[d].kind) {
	case TABLE_RATE:
		put_rate(r, cell, s->period_ms[d], away_ms);
		break;
	case TABLE_WORD:
		text = take_text(r);
		if (cell && text.len)
			__atomic_store_n((uint32_t *)cell, table_word(st, text), __ATOMIC_RELAXED);
		break;
	case TABLE_U64:
	case TABLE_PACE:
		v = take_number(r, 8);
		if (table_data_rows[d].kind == TABLE_PACE) {
			v = v > TABLE_DELAY_MAX * NS_PER_MS ? TABLE_DELAY_MAX * NS_PER_MS : v;
			v = v / NS_PER_MS > away_ms ? clock_now_ns() + v - away_ms * NS_PER_MS : 0;
		}
		if (cell)
			__atomic_store_n((uint64_t *)cell, v, __ATOMIC_RELAXED);
		break;
	case TABLE_U32:
		v = take_number(r, 4);
		if (cell && d != TABLE_CONN_CUR)
			__atomic_store_n((uint32_t *)cell, (uint32_t)v, __ATOMIC_RELAXED);
		break;
	}
}

static void put_cells(struct reader *r, struct table_state *st, struct table_entry *e,
		      uint64_t away_ms)
{
	const struct table_shape *s = table_state_shape(st);

	for (unsigned d = 0; d < TABLE_DATA_COUNT; d++)
		for (unsigned i = 0; i < s->count[d]; i++)
			put_cell(r, st, e, (enum table_data)d, i, away_ms);
}

/* --- the table -------------------------------------------------------------------------------- */

static int by_age(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return x->age_ms > y->age_ms ? -1 : x->age_ms < y->age_ms ? 1 : x->at < y->at ? -1 : 1;
}

/* Measures all entries; *places, to be freed, are those that have not expired. False: refused. */
static bool measure(struct table_state *st, struct reader *r, uint64_t away_ms,
		    struct place *places, uint64_t *count, struct snapshot_loaded *out)
{
	const struct table_shape *s = table_state_shape(st);
	uint32_t expire_ms = table_state_limits(st).expire_ms;
	struct table_key key;

	*count = 0;
	for (uint64_t i = 0; i < out->entries; i++) {
		struct place p;

		p.age_ms = take_number(r, 4) + away_ms;
		p.at = r->at;
		take_key(r, s, &key);
		put_cells(r, st, NULL, 0);
		if (r->failed)
			return refuse(out, "entry %llu of %llu cannot be: the file is damaged",
				      (unsigned long long)i + 1,
				      (unsigned long long)out->entries);
		if (expire_ms && p.age_ms >= expire_ms)
			out->expired++;
		else
			places[(*count)++] = p;
	}
	return r->at == r->end || refuse(out, "there is something behind the last entry: the file "
					 "is damaged");
}

static void fill(struct table_state *st, const unsigned char *end, const struct place *places,
		 uint64_t count, uint64_t away_ms, struct snapshot_loaded *out)
{
	uint64_t size = table_state_limits(st).size;

	for (uint64_t i = 0; i < count; i++) {
		const struct place *p = &places[i];
		struct reader r = { .at = p->at, .end = end };
		struct table_entry *e = NULL;
		struct table_key key;
		uint32_t age, at_ms;

		take_key(&r, table_state_shape(st), &key);
		/* those that were used least recently would leave for the others */
		if (count - i <= size)
			e = table_get(st, &key);
		if (!e) {
			out->no_room++;
			continue;
		}
		age = p->age_ms > INT32_MAX ? INT32_MAX : (uint32_t)p->age_ms;
		at_ms = table_now_ms() - age;
		__atomic_store_n(&e->touched_ms, at_ms, __ATOMIC_RELAXED);
		__atomic_store_n(&e->placed_ms, at_ms, __ATOMIC_RELAXED);
		put_cells(&r, st, e, away_ms);
		table_drop(e);
	}
}

/* --- the file --------------------------------------------------------------------------------- */

static uint64_t checksum(const char *bytes, size_t len)
{
	uint64_t sum = 0;

	for (size_t at = 0; at < len; at += SNAPSHOT_BLOCK) {
		size_t n = len - at < SNAPSHOT_BLOCK ? len - at : SNAPSHOT_BLOCK;

		sum = hash_xxh3(bytes + at, n, sum);
	}
	return sum;
}

bool snapshot_may_be_whole(const char *head, const char *tail, uint64_t len,
			   struct snapshot_loaded *out)
{
	if (len < SNAPSHOT_HEAD + SNAPSHOT_TAIL || memcmp(head, SNAPSHOT_MAGIC, 8) != 0)
		return refuse(out, len ? "it is no snapshot of a stick-table" : "it is empty");
	out->version = (uint32_t)number_at((const unsigned char *)head + 8, 4);
	if (out->version != SNAPSHOT_VERSION)
		return refuse(out, "its format is version %u, and this program reads version %u",
			      out->version, SNAPSHOT_VERSION);
	return number_at((const unsigned char *)tail + 8, 8) == len ||
	       refuse(out, "it is cut or damaged: its length is wrong");
}

/* Is it a whole file of this format? */
static bool check_whole(const char *bytes, size_t len, struct snapshot_loaded *out)
{
	const char *last = len < SNAPSHOT_TAIL ? bytes : bytes + len - SNAPSHOT_TAIL;
	const unsigned char *tail = (const unsigned char *)last;

	if (!snapshot_may_be_whole(bytes, last, len, out))
		return false;
	if (number_at(tail + 16, 8) != checksum(bytes, len - 8))
		return refuse(out, "it is cut or damaged: its checksum is wrong");
	out->entries = number_at(tail, 8);
	return true;
}

/* Is it of a table like this one? Moves behind the shape. */
static bool check_shape(const struct table_shape *s, struct reader *r, uint32_t shape_len,
			struct snapshot_loaded *out)
{
	const unsigned char *theirs = take(r, shape_len);
	struct strbuf mine;
	bool good;

	if (!theirs)
		return refuse(out, "its description is longer than the file: it is damaged");
	strbuf_init(&mine);
	snapshot_shape(s, &mine);
	good = !mine.overflow && mine.len == shape_len && memcmp(mine.ptr, theirs, shape_len) == 0;
	if (!good)
		refuse(out, "it is of a table '%.*s', and this one is '%.*s'",
		       (int)(shape_len > 200 ? 200 : shape_len), (const char *)theirs,
		       (int)(mine.len > 200 ? 200 : mine.len), mine.ptr ? mine.ptr : "");
	strbuf_fini(&mine);
	make_printable(out->error);
	return good;
}

bool snapshot_load(struct table_state *st, const char *bytes, size_t len, uint64_t now_us,
		   struct snapshot_loaded *out)
{
	const unsigned char *head = (const unsigned char *)bytes;
	struct reader r = { .at = head + SNAPSHOT_HEAD };
	struct place *places;
	uint64_t wall_us, away_ms, count;
	bool good;

	memset(out, 0, sizeof(*out));
	if (!check_whole(bytes, len, out))
		return false;
	r.end = head + len - SNAPSHOT_TAIL;
	wall_us = number_at(head + 16, 8);
	if (!check_shape(table_state_shape(st), &r, (uint32_t)number_at(head + 12, 4), out))
		return false;
	/* an entry has an age and a key at least */
	if (out->entries > (uint64_t)(r.end - r.at) / 4)
		return refuse(out, "it tells of more entries than it has: it is damaged");
	/* a clock that was set back since tells nothing */
	away_ms = now_us > wall_us ? (now_us - wall_us) / 1000 : 0;
	places = malloc((size_t)(out->entries + 1) * sizeof(*places));
	if (!places)
		return refuse(out, "out of memory");
	good = measure(st, &r, away_ms, places, &count, out);
	if (good) {
		qsort(places, (size_t)count, sizeof(*places), by_age);
		fill(st, r.end, places, count, away_ms, out);
	}
	free(places);
	return good;
}
