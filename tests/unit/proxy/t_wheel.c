/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The order of turns, through changes of weight; and that turns can be taken back. */
#include <stdlib.h>
#include <string.h>
#include "../../../src/proxy/wheel_priv.h"
#include "tap.h"

static struct wheel *wheel_of(const unsigned *weights, unsigned count)
{
	struct wheel *w = wheel_new(count);

	for (unsigned i = 0; w && i < count; i++)
		wheel_start(w, i, weights[i] * WHEEL_SCALE);
	return w;
}

/* The next <n> turns, as digits from 1; '-': no server's. */
static const char *turns(struct wheel *w, unsigned n)
{
	static char text[64];
	struct wheel_undo undo;
	unsigned i;

	for (i = 0; i < n; i++) {
		unsigned who = wheel_turn(w, &undo);

		text[i] = who == WHEEL_NONE ? '-' : (char)('1' + who);
	}
	text[n] = 0;
	return text;
}

/* What the reference program does with these weights. */
static void test_orders(void)
{
	static const struct {
		unsigned weights[4];
		const char *turns;
	} cases[] = {
		{ { 1, 2 }, "221221221221" },
		{ { 1, 2, 1 }, "212321232123" },
		{ { 5, 3, 2 }, "12131212131213121213" },
		{ { 1, 2, 3, 4 }, "43423414324342341432" },
		{ { 7, 7, 3 }, "12121231212312121321" },
		{ { 1, 1, 1, 1 }, "123412341234" },
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct wheel *w = wheel_of(cases[i].weights, 4);

		is_str(turns(w, (unsigned)strlen(cases[i].turns)), cases[i].turns, "order %u", i);
		free(w);
	}
}

static void test_empty(void)
{
	static const unsigned weights[2];
	struct wheel *w = wheel_of(weights, 2);

	is_str(turns(w, 3), "---", "nobody has a weight");
	wheel_set(w, 1, WHEEL_SCALE);
	is_str(turns(w, 3), "222", "one comes");
	wheel_set(w, 1, 0);
	is_str(turns(w, 2), "--", "and leaves");
	free(w);
}

/* Two wheels of the same story, one of which takes turns and gives them back at each step. */
static void test_undo(void)
{
	static struct wheel_undo undo[100];
	bool same = true;

	for (unsigned seed = 0; seed < 300 && same; seed++) {
		unsigned weights[5], count = 2 + seed % 4;
		struct wheel *a, *b;

		srand(seed);
		for (unsigned i = 0; i < count; i++)
			weights[i] = (unsigned)rand() % 10;
		a = wheel_of(weights, count);
		b = wheel_of(weights, count);
		for (unsigned step = 0; step < 20; step++) {
			unsigned n = (unsigned)rand() % 100, i = (unsigned)rand() % count, made = 0;
			uint32_t weight = (uint32_t)(rand() % 12) * WHEEL_SCALE;

			while (n--)
				same &= wheel_turn(a, &undo[0]) == wheel_turn(b, &undo[1]);
			n = (unsigned)rand() % 100;
			while (made < n && wheel_turn(b, &undo[made]) != WHEEL_NONE)
				made++;
			while (made)
				wheel_undo(b, &undo[--made]);
			wheel_set(a, i, weight);
			wheel_set(b, i, weight);
		}
		free(a);
		free(b);
	}
	ok(same, "turns that are taken back leave no trace");
}

int main(void)
{
	test_orders();
	test_empty();
	test_undo();
	return done_testing();
}
