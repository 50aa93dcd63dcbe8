/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What modules keep of a session: nothing is made before the first of them asks. */
#include "base/slot.h"
#include "stream/session.h"
#include "tap.h"

struct mine {
	int value;
};

static unsigned begun, ended;
static bool has_memory = true;

static bool mine_init(void *data)
{
	((struct mine *)data)->value = 7;
	begun++;
	return has_memory;
}

static void mine_fini(void *data)
{
	ended++;
}

static struct slot first = {
	.of = SLOT_SESSION, .size = sizeof(struct mine), .init = mine_init, .fini = mine_fini,
};
static struct slot second = { .of = SLOT_SESSION, .size = 100 };

static void test_lazy(void)
{
	struct session s = { 0 };
	struct slot_area *area;
	struct mine *m;

	ok(!session_slots(&s, false), "a session begins without areas");
	ok(!s.rare, "looking makes nothing");
	area = session_slots(&s, true);
	ok(area != NULL, "they are made when one is wanted");
	is_int(begun, 1, "and initialised");
	m = slot_of(&first, area);
	is_int(m->value, 7, "by their module");
	is_int((long long)((uintptr_t)m % 16), 0, "on a boundary that fits anything");
	is_int(*(char *)slot_of(&second, area), 0, "an area without init is zeroed");
	m->value = 8;
	ok(session_slots(&s, true) == area && session_slots(&s, false) == area, "once");
	is_int(m->value, 8, "and kept");
	session_rare_free(&s);
	is_int(ended, 1, "the session's end finishes them");
	ok(!s.rare, "nothing is left");
	session_rare_free(&s);
	is_int(ended, 1, "a session without areas ends as well");
}

/* Other rare things of a session cost no area. */
static void test_apart(void)
{
	struct session s = { 0 };

	ok(session_rare_get(&s) != NULL, "a session has something else that is rare");
	ok(!session_slots(&s, false), "that makes no areas");
	session_rare_free(&s);
}

static void test_no_memory(void)
{
	struct session s = { 0 };

	has_memory = false;
	begun = ended = 0;
	ok(!session_slots(&s, true), "a module that cannot begin: no areas");
	has_memory = true;
	ok(session_slots(&s, true) != NULL, "the next try may go well");
	is_int(begun, 2, "each try begins anew");
	session_rare_free(&s);
	is_int(ended, 1, "only what began well is finished");
}

int main(void)
{
	slot_register(&first);
	slot_register(&second);
	test_lazy();
	test_apart();
	test_no_memory();
	return done_testing();
}
