/* SPDX-License-Identifier: GPL-2.0-or-later */
/* t_part.c - sums: what peers count beside what is counted here */
#include <stdio.h>
#include "base/clock.h"
#include "table/part.h"
#include "tap.h"

static struct table_shape shape_of(enum table_type type, uint32_t key_len)
{
	struct table_shape s = { .type = (uint8_t)type, .key_len = key_len };

	s.count[TABLE_GPC0] = s.count[TABLE_CONN_CUR] = s.count[TABLE_GPT0] = 1;
	s.count[TABLE_HTTP_REQ_RATE] = 1;
	s.period_ms[TABLE_HTTP_REQ_RATE] = 10000;
	table_shape_lay_out(&s);
	return s;
}

static struct table_entry *entry_of(struct table_state *st, const char *text)
{
	struct table_key k;

	return table_key_of_text(table_state_shape(st), slice_of(text), &k) ? table_get(st, &k)
		: NULL;
}

static void count(struct table_state *st, const char *text, uint64_t n)
{
	const struct table_shape *s = table_state_shape(st);
	struct table_entry *e = entry_of(st, text);

	table_add(s, e, TABLE_GPC0, 0, n);
	table_add(s, e, TABLE_CONN_CUR, 0, n);
	table_add(s, e, TABLE_HTTP_REQ_RATE, 0, n);
	table_write(s, e, TABLE_GPT0, 0, n);
	table_drop(e);
}

static uint64_t sum(struct table_state *st, const char *text, enum table_data d)
{
	struct table_entry *e = entry_of(st, text);
	uint64_t v = 0;

	table_read_sum(st, e, d, 0, &v);
	table_drop(e);
	return v;
}

static void test_type(enum table_type type, uint32_t len, const char *key)
{
	struct table_shape s = shape_of(type, len);
	struct table_limits l = { .size = 100, .expire_ms = 60000, .bytes_factor = 1,
				  .sums = true };
	struct table_state *st = table_state_new("t", &s, &l);
	struct table_part *b, *c;

	count(st, key, 1);
	is_int(sum(st, key, TABLE_GPC0), 1, "%s: nobody else", table_type_name(type));
	b = table_part_of(st, "b");
	c = table_part_of(st, "c");
	ok(b && c && b != c && table_part_of(st, "b") == b, "a part for each peer");
	count(table_part_state(b), key, 10);
	count(table_part_state(c), key, 100);
	is_int(sum(st, key, TABLE_GPC0), 111, "%s: all", table_type_name(type));
	is_int(sum(st, key, TABLE_HTTP_REQ_RATE), 111, "rates too");
	is_int(sum(st, key, TABLE_GPT0), 1, "a tag is ours");
	is_int(sum(st, key, TABLE_CONN_CUR), 1, "nobody is there");
	table_part_set_up(c, true);
	is_int(sum(st, key, TABLE_CONN_CUR), 101, "c is there");
	l.sums = false;
	table_state_set_limits(st, &l);
	is_int(sum(st, key, TABLE_GPC0), 1, "without `sum`, what is ours");
	table_state_drop(&st);
}

static void test_bounds(void)
{
	struct table_shape s = shape_of(TABLE_INTEGER, 4);
	struct table_limits l = { .size = 10, .expire_ms = 1000, .bytes_factor = 1, .sums = true };
	struct table_state *st = table_state_new("t", &s, &l);
	struct table_part *p = table_part_of(st, "0");
	char name[16];

	for (int i = 1; i < TABLE_PARTS_MAX; i++) {
		snprintf(name, sizeof(name), "%d", i);
		table_part_of(st, name);
	}
	ok(table_part_of(st, "63") && !table_part_of(st, "64"), "64 peers at most");
	for (int i = 0; i < 20; i++) {
		snprintf(name, sizeof(name), "%d", i);
		count(table_part_state(p), name, 1);
	}
	is_int(table_state_used(table_part_state(p)), 10, "a part is no larger than the table");
	l.size = 20;
	table_state_set_limits(st, &l);
	count(table_part_state(p), "99", 1);
	is_int(table_state_used(table_part_state(p)), 11, "and grows with it");
	clock_thread_now_ns += 5000 * NS_PER_MS;
	ok(table_sweep(st, 1000), "swept");
	is_int(table_state_used(table_part_state(p)), 0, "with it");
	ok(!table_part_of(st, "64"), "what is taken is nobody else's");
	table_part_set_up(p, true);
	table_part_leave(p);
	ok(table_part_of(st, "64") == p, "what is left, and empty, is");
	count(table_part_state(p), "1", 1);
	table_part_leave(p);
	ok(!table_part_of(st, "65"), "what has entries is not, as long as it has");
	ok(table_part_of(st, "64") == p, "but its own");
	table_state_drop(&st);
}

int main(void)
{
	clock_thread_now_ns = 100000 * NS_PER_MS;
	test_type(TABLE_IPV4, 4, "192.0.2.1");
	test_type(TABLE_IPV6, 16, "2001:db8::1");
	test_type(TABLE_INTEGER, 4, "4711");
	test_type(TABLE_STRING, 20, "a name");
	test_type(TABLE_BINARY, 8, "bytes");
	test_bounds();
	return done_testing();
}
