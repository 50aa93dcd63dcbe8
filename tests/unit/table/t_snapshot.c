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
#include "base/file.h"
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
	test_order();
	test_writing();
	snprintf(path, sizeof(path), "%s/t", folder);
	unlink(path);
	rmdir(folder);
	return done_testing();
}
