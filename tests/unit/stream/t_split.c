/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shares of use_backends: by chance, by a key, and what moves when weights do. */
#include <stdio.h>
#include <string.h>
#include "fake.h"
#include "tap.h"
#include "../../../src/stream/route/split.c"

#define KEYS 20000

static struct split_target targets[3] = { { .name = "a" }, { .name = "b" }, { .name = "c" } };
static uint32_t weights[3];
static struct split split = { .count = 3, .targets = targets, .weights = weights };

static void set_weights(uint32_t a, uint32_t b, uint32_t c)
{
	weights[0] = a;
	weights[1] = b;
	weights[2] = c;
}

static unsigned pick(uint64_t key)
{
	unsigned which = 99;

	return pick_by_key(&split, hash_bytes(&key, sizeof(key), 0), 0, &which) == EXPR_FOUND
		? which : 99;
}

/* Where each key goes now. */
static void map(unsigned char *to)
{
	for (unsigned i = 0; i < KEYS; i++)
		to[i] = (unsigned char)pick(i);
}

static unsigned count(const unsigned char *to, unsigned which)
{
	unsigned n = 0;

	for (unsigned i = 0; i < KEYS; i++)
		n += to[i] == which;
	return n;
}

static unsigned moved(const unsigned char *before, const unsigned char *after, int from, int to)
{
	unsigned n = 0;

	for (unsigned i = 0; i < KEYS; i++)
		n += before[i] != after[i] && (from < 0 || before[i] == from) &&
		     (to < 0 || after[i] == to);
	return n;
}

static bool near(unsigned n, unsigned of_100)
{
	unsigned expected = KEYS / 100 * of_100, slack = KEYS / 100;

	return n + slack >= expected && n <= expected + slack;
}

static void test_shares(void)
{
	static unsigned char one[KEYS], two[KEYS];

	set_weights(90, 10, 0);
	map(one);
	ok(near(count(one, 0), 90) && near(count(one, 1), 10), "keys are shared by weight");
	is_int(count(one, 2), 0, "a weight of 0 gets none");
	set_weights(80, 20, 0);
	map(two);
	is_int(moved(one, two, 1, -1), 0, "no key leaves the backend that gains");
	ok(near(moved(one, two, 0, 1), 10), "the share that moves moves");
	set_weights(8, 2, 0);
	map(one);
	is_int(moved(two, one, -1, -1), 0, "only the relation of weights matters");
	set_weights(80, 10, 10);
	map(one);
	set_weights(70, 20, 10);
	map(two);
	is_int(moved(one, two, 1, -1), 0, "of three: no key leaves the one that gains");
	is_int(moved(one, two, -1, 0), 0, "no key goes to the one that loses");
	ok(moved(one, two, -1, -1) < KEYS / 100 * 13, "little more than the share moves");
	set_weights(80, 0, 10);
	map(two);
	is_int(moved(one, two, 0, -1) + moved(one, two, 2, -1), 0,
	       "a backend that ends moves its own keys only");
}

static void test_tried(void)
{
	unsigned which = 0, first;

	set_weights(50, 50, 0);
	first = pick(7);
	ok(pick_by_key(&split, hash_bytes(&(uint64_t){ 7 }, 8, 0), 1u << first, &which) ==
	   EXPR_FOUND && which == 1 - first, "one that was tried is passed over");
	is_int(pick_by_key(&split, 7, 3, &which), EXPR_NONE, "none is left that has a weight");
	is_int(pick_by_chance(&split, 3, &which), EXPR_NONE, "by chance neither");
	for (unsigned i = 0; i < 1000; i++)
		if (pick_by_chance(&split, 1, &which) != EXPR_FOUND || which != 1)
			break;
	is_int(which, 1, "by chance, one that was tried is passed over");
}

static void test_chance(void)
{
	unsigned got[3] = { 0 }, which;

	set_weights(3, 0, 1);
	for (unsigned i = 0; i < KEYS; i++) {
		pick_by_chance(&split, 0, &which);
		got[which]++;
	}
	ok(got[0] > KEYS / 100 * 70 && got[0] < KEYS / 100 * 80, "chance shares by weight");
	is_int(got[1], 0, "a weight of 0 gets none");
}

static void test_words(void)
{
	unsigned weight = 0;
	size_t len = 0;

	ok(split_read("a:5", &len, &weight) && len == 1 && weight == 5, "a name and a weight");
	ok(split_read("a:b:65535", &len, &weight) && len == 3 && weight == 65535,
	   "the last colon counts");
	ok(!split_read("a", &len, &weight) && !split_read(":5", &len, &weight) &&
	   !split_read("a:", &len, &weight) && !split_read("a:-1", &len, &weight) &&
	   !split_read("a:65536", &len, &weight) && !split_read("a:5x", &len, &weight),
	   "what is none");
}

int main(void)
{
	for (unsigned i = 0; i < 3; i++)
		targets[i].seed = hash_bytes(targets[i].name, 1, 0);
	test_shares();
	test_tried();
	test_chance();
	test_words();
	return done_testing();
}
