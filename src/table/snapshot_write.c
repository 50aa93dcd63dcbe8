/* SPDX-License-Identifier: GPL-2.0-or-later */
/* snapshot_write.c - writes a table to a file while it is used
 *
 * The table is walked as `show table` does: the lock of a shard is held for a few hundred buckets
 * at most, and an entry is held while it is copied.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/hash.h"
#include "base/replace.h"
#include "snapshot_priv.h"

#define WALK_EACH 256
/* Between two looks at the clock, by which entries expire. */
#define CLOCK_EACH 4096

struct writer {
	struct replacement file;
	struct table_state *st;
	uint32_t now_ms;      /* ages count from here: that of the head's wall clock */
	uint64_t now_ns;
	uint64_t sum;         /* checksum of what has left the buffer */
	uint64_t length;      /* bytes that have left it */
	uint64_t entries;
	bool failed;          /* errno is in <error> */
	int error;
	size_t used;
	char buffer[SNAPSHOT_BLOCK];
};

/* --- bytes ------------------------------------------------------------------------------------ */

static void flush(struct writer *w)
{
	if (!w->used || w->failed)
		return;
	w->sum = hash_xxh3(w->buffer, w->used, w->sum);
	if (!replace_write(&w->file, w->buffer, w->used)) {
		w->failed = true;
		w->error = errno;
	}
	w->length += w->used;
	w->used = 0;
}

static void put(struct writer *w, const void *bytes, size_t len)
{
	const char *at = bytes;

	while (len && !w->failed) {
		size_t room = sizeof(w->buffer) - w->used, n = len < room ? len : room;

		memcpy(w->buffer + w->used, at, n);
		w->used += n;
		at += n;
		len -= n;
		if (w->used == sizeof(w->buffer))
			flush(w);
	}
}

static void put_number(struct writer *w, uint64_t v, unsigned bytes)
{
	unsigned char text[8];

	for (unsigned i = 0; i < bytes; i++)
		text[i] = (unsigned char)(v >> (8 * i));
	put(w, text, bytes);
}

/* Behind its length. What is too long for that is none. */
static void put_text(struct writer *w, struct slice text)
{
	if (text.len > UINT16_MAX)
		text.len = 0;
	put_number(w, text.len, 2);
	put(w, text.ptr, text.len);
}

/* --- entries ---------------------------------------------------------------------------------- */

static uint32_t age_ms(const struct writer *w, uint32_t at_ms)
{
	uint32_t age = w->now_ms - at_ms;

	return age > UINT32_MAX - TABLE_AHEAD_MS ? 0 : age;
}

static void put_key(struct writer *w, const struct table_entry *e)
{
	const struct table_shape *s = table_state_shape(w->st);
	const char *key = table_entry_key(s, e);
	size_t len = s->key_len;
	uint32_t number;

	if (s->type == TABLE_INTEGER) {
		memcpy(&number, key, 4);
		put_number(w, number, 4);
	} else if (s->type == TABLE_STRING) {
		put_text(w, slice_make(key, strnlen(key, len)));
	} else if (s->type == TABLE_BINARY) {
		while (len && !key[len - 1])
			len--;
		put_text(w, slice_make(key, len));
	} else {
		put(w, key, len);
	}
}

static void put_rate(struct writer *w, const struct table_rate *live)
{
	struct table_rate r = table_rate_copy(live);

	put_number(w, r.start_ms ? age_ms(w, r.start_ms) : SNAPSHOT_NO_RATE, 4);
	put_number(w, r.current, 4);
	put_number(w, r.previous, 4);
}

static void put_cell(struct writer *w, struct table_entry *e, enum table_data d, unsigned i)
{
	const void *cell = table_cell(table_state_shape(w->st), e, d, i);
	uint64_t v;

	switch ((enum table_kind)table_data_rows[d].kind) {
	case TABLE_RATE:
		put_rate(w, cell);
		break;
	case TABLE_WORD:
		put_text(w, table_word_text(w->st, __atomic_load_n((const uint32_t *)cell,
								   __ATOMIC_RELAXED)));
		break;
	case TABLE_U64:
		put_number(w, __atomic_load_n((const uint64_t *)cell, __ATOMIC_RELAXED), 8);
		break;
	case TABLE_PACE:
		v = __atomic_load_n((const uint64_t *)cell, __ATOMIC_RELAXED);
		put_number(w, v > w->now_ns ? v - w->now_ns : 0, 8);
		break;
	case TABLE_U32:
		/* clients that are connected now will not be */
		put_number(w, d == TABLE_CONN_CUR ? 0 : __atomic_load_n((const uint32_t *)cell,
									__ATOMIC_RELAXED), 4);
		break;
	}
}

static void put_entry(struct writer *w, struct table_entry *e)
{
	const struct table_shape *s = table_state_shape(w->st);

	put_number(w, age_ms(w, __atomic_load_n(&e->touched_ms, __ATOMIC_RELAXED)), 4);
	put_key(w, e);
	for (unsigned d = 0; d < TABLE_DATA_COUNT; d++)
		for (unsigned i = 0; i < s->count[d]; i++)
			put_cell(w, e, (enum table_data)d, i);
	w->entries++;
}

static void put_entries(struct writer *w)
{
	struct table_cursor at = { 0 };
	struct table_entry *e = NULL;
	bool more = true;

	while ((more || e) && !w->failed) {
		e = table_walk(w->st, &at, WALK_EACH, &more);
		if (!e)
			continue;
		put_entry(w, e);
		table_drop(e);
		if (w->entries % CLOCK_EACH == 0)
			clock_refresh();
	}
}

/* --- the file --------------------------------------------------------------------------------- */

void snapshot_shape(const struct table_shape *s, struct strbuf *out)
{
	const char *between = " store ";

	strbuf_printf(out, "type %s len %u", table_type_name((enum table_type)s->type),
		      s->key_len);
	for (unsigned d = 0; d < TABLE_DATA_COUNT; d++) {
		const struct table_data_row *row = &table_data_rows[d];

		if (!s->count[d])
			continue;
		strbuf_printf(out, "%s%s", between, row->name);
		if (row->is_array && row->kind == TABLE_RATE)
			strbuf_printf(out, "(%u,%ums)", s->count[d], s->period_ms[d]);
		else if (row->is_array)
			strbuf_printf(out, "(%u)", s->count[d]);
		else if (row->kind == TABLE_RATE)
			strbuf_printf(out, "(%ums)", s->period_ms[d]);
		between = ",";
	}
}

/* Has a process that was started after this one written the file that is there? Then it has the
 * table now. A date of the future is of a clock that was wrong.
 */
static bool is_of_later(const struct table_snapshot *f, uint64_t born_us)
{
	int fd = openat(f->directory, f->name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	char head[SNAPSHOT_HEAD];
	ssize_t got = fd >= 0 ? read(fd, head, sizeof(head)) : -1;
	uint64_t theirs;

	if (fd >= 0)
		close(fd);
	if (got != (ssize_t)sizeof(head))
		return false;
	theirs = snapshot_born_us(head, sizeof(head));
	return theirs > born_us && theirs <= clock_read_wall_us();
}

static void put_head(struct writer *w)
{
	struct strbuf shape;

	strbuf_init(&shape);
	snapshot_shape(table_state_shape(w->st), &shape);
	put(w, SNAPSHOT_MAGIC, 8);
	put_number(w, SNAPSHOT_VERSION, 4);
	put_number(w, shape.len, 4);
	put_number(w, clock_read_wall_us(), 8);
	put_number(w, snapshots_born_us, 8);
	put(w, shape.ptr, shape.len);
	if (shape.overflow && !w->failed) {
		w->failed = true;
		w->error = ENOMEM;
	}
	strbuf_fini(&shape);
}

static void put_tail(struct writer *w)
{
	put_number(w, w->entries, 8);
	put_number(w, w->length + w->used + 16, 8);
	/* the checksum is that of all before it: what is left in the buffer is a block's start */
	put_number(w, w->used ? hash_xxh3(w->buffer, w->used, w->sum) : w->sum, 8);
	flush(w);
}

enum snapshot_result snapshot_write(const struct table_snapshot *f, struct table_state *st)
{
	struct writer *w;
	int error;

	if (is_of_later(f, snapshots_born_us))
		return SNAPSHOT_NOT_OURS;
	w = calloc(1, sizeof(*w));
	if (!w)
		return SNAPSHOT_FAILED;
	if (!replace_begin(&w->file, f->directory, f->name, 0600)) {
		free(w);
		return SNAPSHOT_FAILED;
	}
	w->st = st;
	w->now_ns = clock_refresh();
	w->now_ms = table_now_ms();
	put_head(w);
	put_entries(w);
	put_tail(w);
	if (!w->failed && replace_commit(&w->file)) {
		free(w);
		return SNAPSHOT_WRITTEN;
	}
	error = w->failed ? w->error : errno;
	if (w->failed)
		replace_abandon(&w->file);
	free(w);
	errno = error;
	return SNAPSHOT_FAILED;
}
