/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Work for the end of a turn: which one has its turn, and which ones wait. */
#include <string.h>
#include "wire_priv.h"
#include "tap.h"

#define COUNT 3

static struct turn_list turns;
static struct list links[COUNT];
static char order[32];
static bool again; /* all have more to do */

static void run_one(struct list *link)
{
	order[strlen(order)] = (char)('a' + (link - links));
	if (again)
		turn_list_add(&turns, link);
}

/* One turn: the one that got it. */
static const char *turn(void)
{
	memset(order, 0, sizeof(order));
	turn_hook_cancel(&turns.hook);
	turns.hook.run(&turns.hook);
	return order;
}

static void setup(uint64_t limit_ns)
{
	turn_list_init(&turns, run_one);
	turns.limit_ns = limit_ns;
	for (unsigned i = 0; i < COUNT; i++)
		list_init(&links[i]);
}

static void test_order(void)
{
	setup(0);
	again = false;
	turn_list_add(&turns, &links[1]);
	turn_list_add(&turns, &links[0]);
	turn_list_add(&turns, &links[1]);
	is_str(turn(), "ba", "each once, as they came");
	is_str(turn(), "", "then nobody");
	again = true;
	turn_list_add(&turns, &links[2]);
	turn_list_add(&turns, &links[0]);
	is_str(turn(), "ca", "who has more to do does not get it in the same turn");
	is_str(turn(), "ca", "but in the next one");
	again = false;
	turn();
}

/* With no time at all one gets its turn, and none starves. */
static void test_limit(void)
{
	setup(1);
	again = true;
	for (unsigned i = 0; i < COUNT; i++)
		turn_list_add(&turns, &links[i]);
	is_str(turn(), "a", "one at least");
	is_str(turn(), "b", "whom that left out goes before who was served");
	is_str(turn(), "c", "until all were");
	is_str(turn(), "a", "and again");
	again = false;
	turn();
	turn();
	is_str(turn(), "a", "to the last");
	ok(list_is_empty(&turns.list), "nobody is left");
}

static void test_defers(void)
{
	struct conn slow = { .read_blocks = 1 }, fast = { .read_blocks = 8 };

	setup(0);
	ok(!turn_list_defers(&turns, &links[0], &fast), "nobody waits: it reads at once");
	turn_list_add(&turns, &links[0]);
	ok(turn_list_defers(&turns, &links[0], &slow), "it waits for its turn already");
	ok(!turn_list_defers(&turns, &links[1], &slow), "a slow one reads at once all the same");
	ok(turn_list_defers(&turns, &links[2], &fast), "a fast one does not");
	is_str(turn(), "ac", "it is behind the other");
}

int main(void)
{
	test_order();
	test_limit();
	test_defers();
	turn_hook_cancel(&turns.hook);
	return done_testing();
}
