/* SPDX-License-Identifier: GPL-2.0-or-later */
/* t_rate.c - rates over a sliding window: values recorded from HAProxy 3.4 at these dates */
#include "table/table.h"
#include "tap.h"

#define PERIOD 4000

struct event {
	uint32_t ms, n;
};

struct reading {
	uint32_t ms, value;
};

static void check(const char *what, const struct event *events, const struct reading *readings)
{
	struct table_rate r = { 0 };

	for (; readings->ms; readings++) {
		for (; events->n && events->ms <= readings->ms; events++)
			for (uint32_t i = 0; i < events->n; i++)
				table_rate_add(&r, PERIOD, 1, 100000 + events->ms);
		is_int(table_rate_read(&r, PERIOD, 100000 + readings->ms), readings->value,
		       "%s at %u ms", what, readings->ms);
	}
}

#define EVENTS(...) ((const struct event[]){ __VA_ARGS__, { 0, 0 } })
#define READ(...) ((const struct reading[]){ __VA_ARGS__, { 0, 0 } })

int main(void)
{
	struct table_rate r = { 0 };

	check("ten", EVENTS({ 3, 10 }),
	      READ({ 153, 10 }, { 3976, 10 }, { 4076, 9 }, { 4460, 8 }, { 5030, 7 }, { 6085, 4 },
		   { 7518, 1 }, { 7613, 0 }, { 8091, 0 }));
	check("one", EVENTS({ 4, 1 }), READ({ 153, 1 }, { 4076, 1 }, { 7995, 1 }, { 8091, 0 }));
	check("two", EVENTS({ 5, 2 }), READ({ 3976, 2 }, { 4076, 1 }, { 5990, 1 }, { 6085, 0 }));
	check("three", EVENTS({ 6, 3 }), READ({ 4076, 2 }, { 5416, 1 }, { 6753, 0 }));
	check("in a row", EVENTS({ 5, 10 }, { 3021, 10 }, { 5034, 5 }),
	      READ({ 3021, 20 }, { 4076, 19 }, { 4938, 15 }, { 5034, 19 }, { 6085, 14 },
		   { 7995, 5 }, { 8091, 4 }, { 11150, 1 }, { 11245, 0 }));
	check("behind a pause", EVENTS({ 7, 10 }, { 9048, 10 }),
	      READ({ 8091, 0 }, { 9048, 10 }, { 13000, 10 }, { 13059, 9 }));
	check("in the next period", EVENTS({ 8, 10 }, { 7041, 7 }),
	      READ({ 7041, 9 }, { 8091, 6 }, { 9812, 3 }));
	check("a thousand and one", EVENTS({ 8, 1000 }, { 4268, 1 }),
	      READ({ 4172, 959 }, { 4269, 935 }, { 7995, 4 }, { 8091, 1 }, { 11914, 1 },
		   { 12009, 0 }));
	table_rate_set(&r, 100, 152);
	is_int(table_rate_read(&r, PERIOD, 4100), 100, "what is set came now");
	is_int(table_rate_read(&r, PERIOD, 4172), 99, "and slides like any other");
	is_int(table_rate_read(&r, PERIOD, 100), 100, "a clock that is behind reads the same");
	table_rate_add(&r, 0, 3, 5000);
	is_int(table_rate_read(&r, 0, 5000), 0, "no period, no rate");
	return done_testing();
}
