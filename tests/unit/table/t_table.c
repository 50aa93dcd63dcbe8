/* SPDX-License-Identifier: GPL-2.0-or-later */
/* t_table.c - entries: shape, keys, order of use, expiry, room, walks, many threads */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/clock.h"
#include "base/strbuf.h"
#include "core/activity.h"
#include "core/thread.h"
#include "expr/expr.h"
#include "table/table.h"
#include "tap.h"

static void at_ms(uint64_t ms)
{
	clock_thread_now_ns = ms * NS_PER_MS;
}

static struct table_shape shape_of(enum table_type type, uint32_t key_len)
{
	struct table_shape s = { .type = (uint8_t)type, .key_len = key_len };

	s.count[TABLE_GPC0] = 1;
	s.count[TABLE_HTTP_REQ_RATE] = 1;
	s.period_ms[TABLE_HTTP_REQ_RATE] = 10000;
	table_shape_lay_out(&s);
	return s;
}

static struct table_state *state_of(const struct table_shape *s, uint32_t size, uint32_t expire,
				    bool keep)
{
	struct table_limits l = { .size = size, .expire_ms = expire, .keep = keep,
				  .bytes_factor = 1 };

	return table_state_new("t", s, &l);
}

static struct table_key key_of(const struct table_shape *s, const char *text)
{
	struct table_key k;

	if (!table_key_of_text(s, slice_of(text), &k))
		k.len = 0;
	return k;
}

/* Makes or uses the entry of <text>; false: no room. */
static bool use(struct table_state *st, const char *text)
{
	struct table_key k = key_of(table_state_shape(st), text);
	struct table_entry *e = table_get(st, &k);

	if (e)
		table_drop(e);
	return e != NULL;
}

static bool has(struct table_state *st, const char *text)
{
	struct table_key k = key_of(table_state_shape(st), text);
	struct table_entry *e = table_find(st, &k);

	if (e)
		table_drop(e);
	return e != NULL;
}

/* --- shape ------------------------------------------------------------------------------------ */

static void test_shape(void)
{
	struct table_shape s = shape_of(TABLE_IPV4, 4), other;
	unsigned i = 0;

	s.count[TABLE_GPC0] = 0;
	table_shape_lay_out(&s);
	is_int(s.size, 64, "an address and a rate take a cache line");
	other = s;
	ok(table_shape_eq(&s, &other), "equal");
	other.period_ms[TABLE_HTTP_REQ_RATE]++;
	ok(!table_shape_eq(&s, &other), "another period is another shape");
	s = shape_of(TABLE_STRING, 20);
	s.count[TABLE_BYTES_IN_CNT] = 1;
	s.count[TABLE_GPC0] = 0;
	s.count[TABLE_GPC] = 3;
	table_shape_lay_out(&s);
	is_int(s.at[TABLE_BYTES_IN_CNT] % 8, 0, "64 bits are aligned");
	ok(s.key_at + 21 <= s.size, "a string has room for its NUL");
	is_int(table_data_stored(&s, TABLE_GPC1, &i), TABLE_GPC, "gpc1 is in the array");
	is_int(i, 1, "as its second cell");
	i = 0;
	is_int(table_data_stored(&s, TABLE_GPT0, &i), TABLE_GPT0, "what has no array stays");
	is_int(table_data_find(SLICE("glitch_rate")), TABLE_GLITCH_RATE, "a name");
	is_int(table_data_find(SLICE("gpc00")), -1, "no name");
}

/* --- keys ------------------------------------------------------------------------------------- */

static void printed(const struct table_shape *s, const char *text, const char *wanted)
{
	struct table_state *st = state_of(s, 10, 0, false);
	struct table_key k = key_of(s, text);
	struct table_entry *e = table_get(st, &k);
	char area[256];
	struct strbuf out;

	strbuf_init_fixed(&out, area, sizeof(area));
	table_key_print(s, e, &out);
	is_str(out.ptr, wanted, "the key %s", text);
	table_drop(e);
	table_state_drop(&st);
}

static void test_keys(void)
{
	struct table_shape v4 = shape_of(TABLE_IPV4, 4), v6 = shape_of(TABLE_IPV6, 16);
	struct table_shape number = shape_of(TABLE_INTEGER, 4), str = shape_of(TABLE_STRING, 4);
	struct table_shape bin = shape_of(TABLE_BINARY, 4);
	struct table_state *st = state_of(&bin, 10, 0, false);
	struct table_key k;

	printed(&v4, "192.0.2.7", "192.0.2.7");
	printed(&v4, "::ffff:192.0.2.7", "192.0.2.7");
	printed(&v4, "::1", "0.0.0.1");
	printed(&v6, "2001:db8::1", "2001:db8::1");
	printed(&v6, "192.0.2.7", "::ffff:192.0.2.7");
	printed(&number, "12", "12");
	printed(&number, "-1", "4294967295");
	printed(&str, "abcdef", "abcd");
	printed(&str, "a b", "a\\ b");
	printed(&bin, "ab", "61620000");
	ok(!table_key_of_text(&v4, SLICE("zz"), &k), "no address");
	ok(use(st, "ab"), "two bytes");
	ok(has(st, "ab") && !has(st, "abc"), "are found");
	ok(use(st, "abcdef") && has(st, "abcdzz") && !has(st, "abc"), "four of six count");
	table_state_drop(&st);
}

/* --- time and room ---------------------------------------------------------------------------- */

static void test_expiry(void)
{
	struct table_shape s = shape_of(TABLE_STRING, 20);
	struct table_state *st;
	struct table_key a = key_of(&s, "a");
	struct table_entry *e;

	at_ms(1000000);
	st = state_of(&s, 100, 10000, false);
	ok(use(st, "a") && use(st, "b"), "two entries");
	at_ms(1009999);
	ok(has(st, "a"), "there until `expire`");
	ok(use(st, "b"), "one is used again");
	at_ms(1010000);
	ok(!has(st, "a"), "then it is not found");
	ok(has(st, "b"), "the one that was used is");
	is_int(table_state_used(st), 1, "and counts alone");
	at_ms(1019998);
	e = table_get(st, &a);
	is_int(table_expires_in(st, e), 10000, "a new one has all its time");
	at_ms(1040000);
	ok(has(st, "a"), "what is held does not expire");
	ok(table_sweep(st, 100), "the rest is swept");
	is_int(table_state_used(st), 1, "and gone");
	ok(!table_expires_in(st, e), "its time is over");
	table_touch(st, e);
	is_int(table_expires_in(st, e), 10000, "until it is used");
	table_drop(e);
	ok(has(st, "a"), "no longer held, it waits for its end");
	at_ms(1050000);
	ok(!has(st, "a"), "which comes");
	table_state_drop(&st);
}

static void test_room(void)
{
	struct table_shape s = shape_of(TABLE_STRING, 20);
	struct table_state *st = state_of(&s, 3, 0, false);
	struct table_key b = key_of(&s, "b");
	struct table_entry *e;

	at_ms(2000000);
	use(st, "a");
	e = table_get(st, &b);
	use(st, "c");
	at_ms(2000001);
	use(st, "a");
	ok(use(st, "d"), "a full table takes one more");
	ok(has(st, "a") && has(st, "b") && !has(st, "c"), "in the place of the least used one");
	is_int(table_state_used(st), 3, "and is as full");
	ok(use(st, "e") && has(st, "b"), "what is held stays");
	table_drop(e);
	table_state_drop(&st);

	st = state_of(&s, 2, 5000, true);
	ok(use(st, "a") && use(st, "b") && !use(st, "c"), "nopurge: no room for a new key");
	ok(use(st, "a"), "but the known ones");
	at_ms(2005001);
	ok(use(st, "c"), "until some expire");
	table_state_drop(&st);
}

/* A reload may make a table smaller than what is in it. */
/* Clients that stay hold the entries that were used least recently. */
static void test_held(void)
{
	struct table_shape s = shape_of(TABLE_INTEGER, 4);
	struct table_state *st = state_of(&s, 1000, 0, false);
	static struct table_entry *held[900];
	char text[16];
	unsigned refused = 0;

	at_ms(1000);
	for (unsigned i = 0; i < 1000; i++) {
		struct table_key k;

		snprintf(text, sizeof(text), "%u", i);
		k = key_of(&s, text);
		if (i < 900)
			held[i] = table_get(st, &k);
		else
			use(st, text);
	}
	for (unsigned i = 1000; i < 1500; i++) {
		snprintf(text, sizeof(text), "%u", i);
		refused += !use(st, text);
	}
	is_int(refused, 0, "900 of 1000 are held: new keys get the place of the others");
	is_int(table_state_used(st), 1000, "it stays full");
	for (unsigned i = 0; i < 900; i++)
		table_drop(held[i]);
	table_state_drop(&st);
}

/* The longest `expire` there is, and times beyond the middle of what 32 bits hold. */
static void test_long(void)
{
	struct table_shape s = shape_of(TABLE_INTEGER, 4);
	struct table_state *st = state_of(&s, 10, 2147483647, false);

	at_ms(1000);
	use(st, "1");
	at_ms(1000 + 2147483646ull);
	ok(has(st, "1"), "there for 24 days");
	at_ms(1000 + 2147483647ull + 60000);
	ok(!has(st, "1"), "and not a minute longer");
	at_ms(5000000000ull);
	use(st, "2");
	at_ms(5000000000ull - 3);
	ok(has(st, "2"), "a thread whose clock is behind finds what is new");
	table_state_drop(&st);
}

/* What a peer tells was not used for as long as `expire` may be, and nobody looks for it here for
 * as long again: its age is near to all that 32 bits hold, and it must not seem to be new.
 */
static void test_oldest(void)
{
	struct table_shape s = shape_of(TABLE_INTEGER, 4);

	for (uint32_t less = 0; less < 70000; less += 1000) {
		struct table_state *st = state_of(&s, 10, 2147483647, false);
		struct table_key k = key_of(&s, "1");

		at_ms(1000);
		table_drop(table_get_aged(st, &k, 2147483647 - less));
		at_ms(1000 + 2147483647ull);
		table_sweep(st, 100);
		if (!is_int(table_state_used(st), 0, "an entry that was %u ms old has gone",
			    2147483647 - less))
			less = 70000;
		table_state_drop(&st);
	}
}

static void test_texts(void)
{
	struct table_shape s = shape_of(TABLE_INTEGER, 4);
	struct table_state *st = state_of(&s, 10, 0, false);
	uint32_t word = table_word(st, SLICE("s1"));
	unsigned kept = 1;
	char text[16];

	for (unsigned i = 0; i < 100000; i++) {
		snprintf(text, sizeof(text), "t%u", i);
		kept += table_word(st, slice_of(text)) != 0;
	}
	is_int(kept, 65536, "so many texts at most: peers send what they like");
	is_int(table_word(st, SLICE("s1")), word, "those that are known stay known");
	table_state_drop(&st);
}

/* As a peer may have told them. */
static void test_odd_texts(void)
{
	struct table_shape s = shape_of(TABLE_INTEGER, 4);
	struct table_state *st = state_of(&s, 10, 0, false);
	char *large = calloc(1, 1 << 20);
	struct strbuf b;
	unsigned kept = 0;

	for (unsigned i = 0; i < 100; i++) {
		memcpy(large, &i, sizeof(i));
		kept += table_word(st, slice_make(large, 1 << 20)) != 0;
	}
	is_int(kept, 16, "16 MB of texts at most");
	table_state_drop(&st);
	free(large);
	strbuf_init(&b);
	table_text_print(SLICE("/run/a=b\\c x\n0x1: key=1\x1b[2J\xe4\x7f"), &b);
	ok(slice_eq(strbuf_slice(&b), SLICE("/run/a=b\\c\\ x\\n0x1:\\ key=1\\e[2J\\xE4\\x7F")),
	   "a text is printed as one word: %.*s", (int)b.len, b.ptr);
	strbuf_fini(&b);
}

static void test_smaller(void)
{
	struct table_shape s = shape_of(TABLE_INTEGER, 4);
	struct table_limits l = { .size = 20, .bytes_factor = 1 };
	struct table_state *st = state_of(&s, 100, 0, false);
	char text[16];
	bool all = true;

	for (unsigned i = 0; i < 200; i++) {
		if (i == 100)
			table_state_set_limits(st, &l);
		snprintf(text, sizeof(text), "%u", i);
		all = all && use(st, text);
	}
	ok(all, "a table that became smaller takes new keys");
	is_int(table_state_used(st), 20, "and shrinks to its size");
	ok(has(st, "199") && has(st, "180") && !has(st, "179"), "keeping what was used last");
	table_state_drop(&st);
}

static void test_remove(void)
{
	struct table_shape s = shape_of(TABLE_STRING, 20);
	struct table_state *st = state_of(&s, 10, 0, false);
	struct table_key a = key_of(&s, "a");
	struct table_entry *e = table_get(st, &a), *same = table_find(st, &a);

	ok(e == same && table_refs(e) == 2, "held twice");
	ok(!table_remove(st, same) && has(st, "a"), "not removed while another holds it");
	ok(table_at(st, (uintptr_t)e) == e, "found by its address");
	table_drop(e);
	ok(!table_at(st, (uintptr_t)e + 8) && !table_at(st, 16), "no other address is one");
	ok(table_remove(st, e) && !has(st, "a"), "removed");
	ok(!table_at(st, (uintptr_t)e), "its address is none any more");
	table_state_drop(&st);
}

static void test_values(void)
{
	struct table_shape s = shape_of(TABLE_STRING, 20);
	struct table_state *st = state_of(&s, 10, 0, false);
	struct table_key a = key_of(&s, "a");
	struct table_entry *e = table_get(st, &a);
	uint64_t v = 7;

	ok(table_read(&s, e, TABLE_GPC0, 0, &v) && v == 0, "a new entry has zeros");
	ok(table_add(&s, e, TABLE_GPC0, 0, 5) && table_read(&s, e, TABLE_GPC0, 0, &v) && v == 5,
	   "added");
	table_take_one(&s, e, TABLE_GPC0);
	ok(table_write(&s, e, TABLE_GPC0, 0, 1) && table_read(&s, e, TABLE_GPC0, 0, &v) && v == 1,
	   "set");
	table_take_one(&s, e, TABLE_GPC0);
	table_take_one(&s, e, TABLE_GPC0);
	ok(table_read(&s, e, TABLE_GPC0, 0, &v) && v == 0, "never less than 0");
	ok(!table_add(&s, e, TABLE_GPC1, 0, 1) && !table_read(&s, e, TABLE_GPC0, 1, &v),
	   "what is not stored");
	is_int(table_word(st, SLICE("s1")), 1, "a text has a number");
	is_int(table_word(st, SLICE("s2")), 2, "another one another");
	is_int(table_word(st, SLICE("s1")), 1, "and keeps it");
	ok(slice_eq(table_word_text(st, 2), SLICE("s2")), "which stands for it");
	ok(slice_is_none(table_word_text(st, 0)), "0 for none");
	table_drop(e);
	table_state_drop(&st);
}

/* --- many entries ----------------------------------------------------------------------------- */

static unsigned walked(struct table_state *st)
{
	struct table_cursor at = { 0 };
	struct table_entry *e = NULL;
	unsigned n = 0;
	bool more = true;

	while (more || e) {
		e = table_walk(st, &at, 100, &more);
		if (!e)
			continue;
		n++;
		table_drop(e);
		if (n == 1000)
			use(st, "a key that comes meanwhile");
	}
	return n;
}

static void test_many(void)
{
	struct table_shape s = shape_of(TABLE_INTEGER, 4);
	struct table_state *st;
	bool all = true;
	char text[16];
	unsigned n;

	at_ms(3000000);
	ok(thread_layout(4, 1), "four threads");
	st = state_of(&s, 50000, 60000, false);
	for (unsigned i = 0; i < 50000; i++) {
		snprintf(text, sizeof(text), "%u", i);
		all = all && use(st, text);
	}
	ok(all, "50000 entries");
	is_int(table_state_used(st), 50000, "are all there");
	for (unsigned i = 0; i < 50000; i++) {
		snprintf(text, sizeof(text), "%u", i);
		all = all && has(st, text);
	}
	ok(all, "and found");
	n = walked(st);
	ok(n >= 49999 && n <= 50001, "a walk meets each once (%u)", n);
	for (unsigned i = 50000; i < 60000; i++) {
		snprintf(text, sizeof(text), "%u", i);
		all = all && use(st, text);
	}
	ok(all, "10000 more find room");
	is_int(table_state_used(st), 50000, "in the places of others");
	at_ms(3070000);
	ok(!table_sweep(st, 100), "all expire: not all are given up at once");
	is_int(table_state_used(st), 50000 - 96, "as many as were asked for, of each shard");
	for (unsigned i = 0; i < 1000 && !table_sweep(st, 100); i++)
		;
	is_int(table_state_used(st), 0, "all expire");
	ok(use(st, "1"), "and the table goes on");
	table_state_drop(&st);
}

/* Keys that are expected, there or not, while the table grows: nothing is made, all are found. */
static void test_expected(void)
{
	struct table_shape s = shape_of(TABLE_INTEGER, 4);
	struct table_key keys[TABLE_EXPECTED_MAX];
	struct table_state *st = state_of(&s, 10000, 60000, false);
	bool all = true;
	char text[16];

	for (unsigned i = 0; i < 5000; i++) {
		snprintf(text, sizeof(text), "%u", i * 3);
		keys[i % TABLE_EXPECTED_MAX] = key_of(&s, text);
		table_expect(st, keys, i < TABLE_EXPECTED_MAX ? i : TABLE_EXPECTED_MAX);
		all = all && table_state_used(st) == i && use(st, text) && has(st, text);
	}
	ok(all, "what is expected is neither made nor moved");
	table_state_drop(&st);
}

static struct table_state *shared;

static void *hammer(void *arg)
{
	struct table_key k;
	static __thread struct activity mine;
	unsigned random = (unsigned)(uintptr_t)arg * 2654435761u;
	char text[16];

	activity_self = &mine;
	thread_group_is_single = false;
	for (unsigned i = 0; i < 100000; i++) {
		struct table_entry *e;

		clock_thread_now_ns = (4000000 + i / 100) * NS_PER_MS;
		random = random * 1664525 + 1013904223;
		snprintf(text, sizeof(text), "%u", random >> 8 & 2047);
		k = key_of(table_state_shape(shared), text);
		table_expect(shared, &k, 1);
		e = table_get(shared, &k);
		if (!e)
			continue;
		table_add(table_state_shape(shared), e, TABLE_GPC0, 0, 1);
		table_add(table_state_shape(shared), e, TABLE_HTTP_REQ_RATE, 0, 1);
		table_changed(shared, e);
		if (i % 7 == 0)
			table_remove(shared, e);
		else
			table_drop(e);
	}
	return NULL;
}

/* Entries come and go under four threads; nothing is lost count of. */
static void test_threads(void)
{
	struct table_shape s = shape_of(TABLE_INTEGER, 4);
	pthread_t threads[4];
	unsigned n;

	shared = state_of(&s, 1500, 400, false);
	for (uintptr_t i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, hammer, (void *)(i + 1));
	for (unsigned i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	at_ms(4001000);
	n = walked(shared);
	ok(n <= 1500, "never more than its size");
	at_ms(4010000);
	while (!table_sweep(shared, 1000))
		;
	is_int(table_state_used(shared), 0, "nothing is held or lost");
	table_state_drop(&shared);
}

int main(void)
{
	static struct activity mine;

	activity_self = &mine;
	test_shape();
	test_keys();
	test_expiry();
	test_room();
	test_held();
	test_long();
	test_oldest();
	test_texts();
	test_odd_texts();
	test_smaller();
	test_remove();
	test_values();
	test_many();
	test_expected();
	test_threads();
	return done_testing();
}
