/* SPDX-License-Identifier: GPL-2.0-or-later */
/* t_snapshot.c - tables on disk: what comes back, how it ages, and that nothing else is believed */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/bug.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/replace.h"
#include "core/activity.h"
#include "snapshot_priv.h"
#include "tap.h"

static char folder[] = "/tmp/t_snapshot.XXXXXX";
static struct table_snapshot file = { .path = "/nowhere/t", .name = "t", .directory = -1 };

static struct table_shape shape_of(enum table_type type, uint32_t key_len)
{
	struct table_shape s = { .type = (uint8_t)type, .key_len = key_len };

	s.count[TABLE_GPC0] = s.count[TABLE_CONN_CUR] = s.count[TABLE_HTTP_REQ_RATE] = 1;
	s.count[TABLE_BYTES_IN_CNT] = s.count[TABLE_SERVER_KEY] = s.count[TABLE_RATE_LIMIT] = 1;
	s.count[TABLE_GPT] = 3;
	s.period_ms[TABLE_HTTP_REQ_RATE] = 10000;
	table_shape_lay_out(&s);
	return s;
}

static struct table_state *state_of(const struct table_shape *s, uint32_t size, uint32_t expire)
{
	struct table_limits l = { .size = size, .expire_ms = expire, .bytes_factor = 1 };

	return table_state_new("t", s, &l);
}

static struct table_entry *entry_of(struct table_state *st, const char *text, bool make)
{
	struct table_key k;

	if (!table_key_of_text(table_state_shape(st), slice_of(text), &k))
		return NULL;
	return make ? table_get(st, &k) : table_find(st, &k);
}

static uint64_t value(struct table_state *st, const char *text, enum table_data d, unsigned i)
{
	struct table_entry *e = entry_of(st, text, false);
	uint64_t v = 0;

	if (!e)
		return UINT64_MAX;
	table_read(table_state_shape(st), e, d, i, &v);
	table_drop(e);
	return v;
}

static void set(struct table_state *st, const char *text, enum table_data d, unsigned i, uint64_t v)
{
	struct table_entry *e = entry_of(st, text, true);

	table_write(table_state_shape(st), e, d, i, v);
	if (d == TABLE_SERVER_KEY)
		*(uint32_t *)table_cell(table_state_shape(st), e, d, i) =
			table_word(st, SLICE("a server"));
	table_drop(e);
}

static char *contents(size_t *len)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/t", folder);
	return file_load(path, 1 << 30, len);
}

/* The wall clock that the file tells. */
static uint64_t wall_of(const char *bytes)
{
	uint64_t v;

	memcpy(&v, bytes + 16, 8);
	return v;
}

/* A table of some keys, written. */
static char *written(const struct table_shape *s, const char *const *keys, size_t *len)
{
	struct table_state *st = state_of(s, 100, 60000);

	for (; *keys; keys++) {
		set(st, *keys, TABLE_GPC0, 0, 7);
		set(st, *keys, TABLE_CONN_CUR, 0, 3);
		set(st, *keys, TABLE_HTTP_REQ_RATE, 0, 100);
		set(st, *keys, TABLE_BYTES_IN_CNT, 0, 1ull << 40);
		set(st, *keys, TABLE_SERVER_KEY, 0, 0);
		set(st, *keys, TABLE_RATE_LIMIT, 0, 30000);
		set(st, *keys, TABLE_GPT, 2, 9);
	}
	ok(snapshot_write(&file, st) == SNAPSHOT_WRITTEN, "written");
	table_state_drop(&st);
	return contents(len);
}

static void test_round(enum table_type type, uint32_t key_len, const char *key)
{
	const char *const keys[] = { key, NULL };
	struct table_shape s = shape_of(type, key_len);
	struct table_state *st = state_of(&s, 100, 60000);
	struct snapshot_loaded got;
	struct table_entry *e;
	uint64_t v = 0;
	size_t len;
	char *bytes = written(&s, keys, &len);

	/* 15 s later: of the rate's two periods a half of one is left */
	ok(snapshot_load(st, bytes, len, wall_of(bytes) + 15000000, &got), "%s: read", key);
	is_int(value(st, key, TABLE_GPC0, 0), 7, "%s: a number", key);
	is_int(value(st, key, TABLE_CONN_CUR, 0), 0, "nobody is connected any more");
	is_int(value(st, key, TABLE_GPT, 2), 9, "an array");
	is_int(value(st, key, TABLE_GPT, 1), 0, "its other cells");
	ok(value(st, key, TABLE_BYTES_IN_CNT, 0) == 1ull << 40, "a large number");
	v = value(st, key, TABLE_HTTP_REQ_RATE, 0);
	ok(v >= 45 && v <= 50, "a rate is older: %u", (unsigned)v);
	v = value(st, key, TABLE_RATE_LIMIT, 0);
	ok(v >= 14000 && v <= 15001, "a pace too: %u", (unsigned)v);
	e = entry_of(st, key, false);
	if (e) {
		uint32_t left = table_expires_in(st, e);

		ok(left > 40000 && left <= 45000, "it expires when it would have: %u", left);
		table_read(&s, e, TABLE_SERVER_KEY, 0, &v);
		ok(slice_eq(table_word_text(st, (uint32_t)v), SLICE("a server")), "its text");
		table_drop(e);
	}
	table_state_drop(&st);
	st = state_of(&s, 100, 60000);
	ok(snapshot_load(st, bytes, len, wall_of(bytes) + 61000000, &got) && got.expired == 1 &&
	   !table_state_used(st), "a minute later it has expired");
	ok(snapshot_load(st, bytes, len, wall_of(bytes) - 5000000, &got) &&
	   value(st, key, TABLE_HTTP_REQ_RATE, 0) == 100, "a clock that was set back ages nothing");
	table_state_drop(&st);
	free(bytes);
}

/* Every cut, every changed byte. */
static void test_damage(void)
{
	const char *const keys[] = { "one", "two", "three", NULL };
	struct table_shape s = shape_of(TABLE_STRING, 20);
	struct table_state *st = state_of(&s, 100, 60000);
	struct snapshot_loaded got;
	unsigned believed = 0;
	size_t len;
	char *bytes = written(&s, keys, &len), *copy = malloc(len + 1);

	for (size_t n = 0; n < len; n++) {
		char *cut = malloc(n ? n : 1); /* so that a sanitizer sees its end */

		memcpy(cut, bytes, n);
		believed += snapshot_load(st, cut, n, wall_of(bytes), &got) || !*got.error;
		free(cut);
	}
	is_int(believed, 0, "no part of a file is believed");
	for (size_t n = 0; n < len * 8; n++) {
		memcpy(copy, bytes, len);
		copy[n / 8] ^= (char)(1 << n % 8);
		believed += snapshot_load(st, copy, len, wall_of(bytes), &got) || !*got.error;
	}
	is_int(believed, 0, "nor one with another bit");
	memcpy(copy, bytes, len);
	copy[len] = 0;
	ok(!snapshot_load(st, copy, len + 1, wall_of(bytes), &got), "nor one with a byte more");
	is_int(table_state_used(st), 0, "and nothing is in the table");
	free(copy);
	free(bytes);
	table_state_drop(&st);
}

static void test_shape(void)
{
	const char *const keys[] = { "1", NULL };
	struct table_shape s = shape_of(TABLE_INTEGER, 4), other = s;
	struct table_state *st;
	struct snapshot_loaded got;
	size_t len;
	char *bytes = written(&s, keys, &len);

	other.period_ms[TABLE_HTTP_REQ_RATE] = 20000;
	st = state_of(&other, 100, 0);
	ok(!snapshot_load(st, bytes, len, wall_of(bytes), &got), "another period");
	ok(strstr(got.error, "http_req_rate(10000ms)") && strstr(got.error, "(20000ms)"),
	   "both are told: %s", got.error);
	table_state_drop(&st);
	bytes[8] = 2;
	st = state_of(&s, 100, 0);
	ok(!snapshot_load(st, bytes, len, wall_of(bytes), &got) && strstr(got.error, "version 2"),
	   "another version: %s", got.error);
	ok(!snapshot_load(st, "GIF89a", 6, 0, &got), "a foreign file: %s", got.error);
	table_state_drop(&st);
	free(bytes);
}

/* --- made on purpose: the checksum is right --------------------------------------------------- */

struct forgery {
	const char *shape;   /* NULL: that of the table */
	uint32_t shape_len;  /* 0: as it is */
	uint64_t wall_us, count;
	const char *entries;
	size_t size;
};

static void put64(char *at, uint64_t v)
{
	memcpy(at, &v, 8);
}

static bool forged(struct table_state *st, const struct forgery *f, uint64_t now_us,
		   struct snapshot_loaded *got)
{
	struct strbuf b, shape;
	char tail[24] = { 0 }, head[32] = SNAPSHOT_MAGIC;
	uint64_t sum = 0;
	uint32_t len;
	bool good;

	strbuf_init(&shape);
	if (f->shape)
		strbuf_add_str(&shape, f->shape);
	else
		snapshot_shape(table_state_shape(st), &shape);
	len = f->shape_len ? f->shape_len : (uint32_t)shape.len;
	head[8] = SNAPSHOT_VERSION;
	memcpy(head + 12, &len, 4);
	put64(head + 16, f->wall_us);
	strbuf_init(&b);
	strbuf_add(&b, slice_make(head, sizeof(head)));
	strbuf_add(&b, strbuf_slice(&shape));
	strbuf_add(&b, slice_make(f->entries, f->size));
	strbuf_fini(&shape);
	put64(tail, f->count);
	put64(tail + 8, b.len + sizeof(tail));
	strbuf_add(&b, slice_make(tail, 16));
	for (size_t at = 0; at < b.len; at += SNAPSHOT_BLOCK)
		sum = hash_xxh3(b.ptr + at, b.len - at < SNAPSHOT_BLOCK ? b.len - at
				: SNAPSHOT_BLOCK, sum);
	put64(tail + 16, sum);
	strbuf_add(&b, slice_make(tail + 16, 8));
	good = snapshot_load(st, b.ptr, b.len, now_us, got);
	strbuf_fini(&b);
	return good;
}

static struct table_shape plain_shape(enum table_type type, uint32_t key_len)
{
	struct table_shape s = { .type = (uint8_t)type, .key_len = key_len };

	s.count[TABLE_GPC0] = 1;
	table_shape_lay_out(&s);
	return s;
}

/* Counts that no file has, and descriptions that end nowhere. */
static void test_forged_counts(void)
{
	static const char one[] = "\0\0\0\0" "\1\0\0\0" "\7\0\0";
	const uint64_t counts[] = { 0, 2, 3, 4, 1ull << 32, 1ull << 60, (1ull << 60) + 1,
				    1ull << 61, 1ull << 63, UINT64_MAX };
	const uint32_t lengths[] = { 1, 1000, 1u << 31, UINT32_MAX };
	struct table_shape s = plain_shape(TABLE_INTEGER, 4);
	struct table_state *st = state_of(&s, 100, 0);
	struct snapshot_loaded got;
	struct forgery f = { .entries = one, .size = 12 };

	for (unsigned i = 0; i < ARRAY_LEN(counts); i++) {
		f.count = counts[i];
		ok(!forged(st, &f, 0, &got) && *got.error, "%llu entries, and there is one: %s",
		   (unsigned long long)counts[i], got.error);
	}
	f.count = 1;
	for (unsigned i = 0; i < ARRAY_LEN(lengths); i++) {
		f.shape_len = lengths[i];
		ok(!forged(st, &f, 0, &got) && *got.error, "a description of %u bytes: %s",
		   lengths[i], got.error);
	}
	f.shape_len = 0;
	f.shape = "type \x1b[2Jinteger\n\x9b.";
	ok(!forged(st, &f, 0, &got) && strstr(got.error, "'type ?[2Jinteger?" "?.'"),
	   "what it says of itself drives no terminal: %s", got.error);
	f.shape = NULL;
	is_int(table_state_used(st), 0, "nothing of that is in the table");
	ok(forged(st, &f, 0, &got) && value(st, "1", TABLE_GPC0, 0) == 7, "one is one");
	table_state_drop(&st);
}

/* Keys and their lengths. */
static void test_forged_keys(void)
{
	static const struct {
		const char *what;
		enum table_type type;
		bool good;
		uint16_t len;
		char key[12];
	} cases[] = {
		{ "a string", TABLE_STRING, true, 8, "12345678" },
		{ "one that is empty", TABLE_STRING, true, 0, "" },
		{ "one too long", TABLE_STRING, false, 9, "123456789" },
		{ "one with a NUL", TABLE_STRING, false, 3, "a\0b" },
		{ "one longer than the file", TABLE_STRING, false, UINT16_MAX, "1" },
		{ "bytes", TABLE_BINARY, true, 8, "12345678" },
		{ "none", TABLE_BINARY, true, 0, "" },
		{ "too many", TABLE_BINARY, false, 9, "123456789" },
		{ "with a zero at the end", TABLE_BINARY, false, 2, "1\0" },
	};
	struct snapshot_loaded got;

	for (unsigned i = 0; i < ARRAY_LEN(cases); i++) {
		struct table_shape s = plain_shape(cases[i].type, 8);
		struct table_state *st = state_of(&s, 100, 0);
		uint16_t len = cases[i].len;
		size_t there = len < sizeof(cases[i].key) ? len : 1;
		char entry[32] = { 0 };
		struct forgery f = { .entries = entry, .size = 6 + there + 4, .count = 1 };

		memcpy(entry + 4, &len, 2);
		memcpy(entry + 6, cases[i].key, there);
		ok(forged(st, &f, 0, &got) == cases[i].good &&
		   table_state_used(st) == cases[i].good, "a key, %s: %s", cases[i].what,
		   got.error);
		table_state_drop(&st);
	}
}

/* Ages and clocks at their ends, and one key many times. */
static void test_forged_times(void)
{
	static const uint64_t clocks[] = { 0, 1, UINT64_MAX / 1000, UINT64_MAX };
	struct table_shape s = plain_shape(TABLE_INTEGER, 4);
	struct snapshot_loaded got;
	char entries[24] = "\xff\xff\xff\xff" "\1\0\0\0" "\7\0\0\0"
			   "\0\0\0\0" "\1\0\0\0" "\x9\0\0";
	struct forgery f = { .entries = entries, .size = 24, .count = 2 };

	for (unsigned i = 0; i < ARRAY_LEN(clocks) * ARRAY_LEN(clocks) * 2; i++) {
		uint64_t now = clocks[i % ARRAY_LEN(clocks)];
		uint32_t expire = i & 16 ? TABLE_DELAY_MAX : 0;
		struct table_state *st = state_of(&s, 100, expire);

		f.wall_us = clocks[i / 4 % ARRAY_LEN(clocks)];
		ok(forged(st, &f, now, &got), "written at %llu, read at %llu: %s",
		   (unsigned long long)f.wall_us, (unsigned long long)now, got.error);
		is_int(table_state_used(st), got.expired < 2, "one entry, or it has expired");
		if (got.expired < 2)
			is_int(value(st, "1", TABLE_GPC0, 0), 9, "what is younger counts");
		set(st, "2", TABLE_GPC0, 0, 1);
		table_sweep(st, 100);
		is_int(value(st, "2", TABLE_GPC0, 0), 1, "and the table goes on");
		table_state_drop(&st);
	}
}

/* What was used last is what a smaller table keeps, and its order is the table's. */
static void test_order(void)
{
	struct table_shape s = shape_of(TABLE_INTEGER, 4);
	struct table_state *st = state_of(&s, 100, 60000);
	struct snapshot_loaded got;
	char text[16], *bytes;
	size_t len;

	for (int i = 0; i < 50; i++) {
		snprintf(text, sizeof(text), "%d", i);
		set(st, text, TABLE_GPC0, 0, 1);
		clock_thread_now_ns += 10 * NS_PER_MS;
	}
	snapshot_write(&file, st);
	table_state_drop(&st);
	bytes = contents(&len);
	st = state_of(&s, 20, 60000);
	ok(snapshot_load(st, bytes, len, wall_of(bytes), &got) && got.no_room == 30,
	   "a smaller table");
	is_int(value(st, "29", TABLE_GPC0, 0), -1, "the older ones are not there");
	is_int(value(st, "30", TABLE_GPC0, 0), 1, "the younger ones are");
	set(st, "1000", TABLE_GPC0, 0, 1);
	is_int(value(st, "30", TABLE_GPC0, 0), -1, "the oldest is the next that leaves");
	is_int(value(st, "31", TABLE_GPC0, 0), 1, "not another one");
	table_state_drop(&st);
	free(bytes);
}

/* A process that was started later has the file; what was there stays when ours cannot be
 * written.
 */
static void test_writing(void)
{
	struct table_shape s = shape_of(TABLE_INTEGER, 4);
	struct table_state *st = state_of(&s, 100, 60000);
	struct replacement r;
	char path[128];

	snprintf(path, sizeof(path), "%s/t", folder);
	unlink(path);
	snapshots_born_us = clock_read_wall_us() - 1000000;
	ok(snapshot_write(&file, st) == SNAPSHOT_WRITTEN, "a process");
	snapshots_born_us -= 1000000;
	ok(snapshot_write(&file, st) == SNAPSHOT_NOT_OURS, "one before it leaves the file alone");
	snapshots_born_us += 1500000;
	ok(snapshot_write(&file, st) == SNAPSHOT_WRITTEN, "one after it does not");
	snprintf(path, sizeof(path), "%s/t.tmp", folder);
	ok(access(path, F_OK) < 0 && errno == ENOENT, "no other file is left");
	ok(replace_begin(&r, file.directory, "t", 0600), "it is being written");
	ok(replace_write(&r, "x", 1), "somewhat");
	replace_abandon(&r);
	ok(access(path, F_OK) < 0, "and given up");
	mkdir(path, 0700);
	ok(snapshot_write(&file, st) == SNAPSHOT_FAILED && errno == EISDIR, "it cannot be written");
	rmdir(path);
	table_state_drop(&st);
}

int main(void)
{
	static struct activity mine;
	char path[128];

	activity_self = &mine;
	clock_refresh();
	if (!mkdtemp(folder))
		return 1;
	file.directory = open(folder, O_RDONLY | O_DIRECTORY);
	snapshots_born_us = clock_read_wall_us();
	test_round(TABLE_IPV4, 4, "1.2.3.4");
	test_round(TABLE_IPV6, 16, "2001:db8::1");
	test_round(TABLE_INTEGER, 4, "4294967295");
	test_round(TABLE_STRING, 8, "a key");
	test_round(TABLE_STRING, 8, "12345678");
	test_damage();
	test_shape();
	test_forged_counts();
	test_forged_keys();
	test_forged_times();
	test_order();
	test_writing();
	snprintf(path, sizeof(path), "%s/t", folder);
	unlink(path);
	rmdir(folder);
	return done_testing();
}
