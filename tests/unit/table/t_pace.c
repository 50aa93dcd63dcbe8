/* SPDX-License-Identifier: GPL-2.0-or-later */
/* t_pace.c - the arithmetic of paces: bursts, delays, bounds, clocks, many threads */
#include <pthread.h>
#include "base/clock.h"
#include "table/pace.h"
#include "tap.h"

#define START (1000 * NS_PER_SEC)

static struct table_pace pace_of(uint64_t events, uint64_t period_ns, uint64_t burst)
{
	struct table_pace p;

	ok(table_pace_make(&p, events, period_ns, burst), "%d in %d ms, %d at once", (int)events,
	   (int)(period_ns / NS_PER_MS), (int)burst);
	return p;
}

/* How many of <count> events pass at this time. */
static unsigned pass(uint64_t *date, const struct table_pace *p, uint64_t now_ns, unsigned count)
{
	struct table_admission a;
	unsigned passed = 0;

	while (count--) {
		table_pace_take(date, p, now_ns, &a);
		passed += a.verdict == TABLE_PASS;
	}
	return passed;
}

static void test_burst(void)
{
	struct table_pace p = pace_of(10, NS_PER_SEC, 9);
	struct table_admission a;
	uint64_t date = 0;

	is_int(pass(&date, &p, START, 100), 10, "all of a period at once");
	is_int(pass(&date, &p, START + 99 * NS_PER_MS, 100), 0, "none in the next 99 ms");
	is_int(pass(&date, &p, START + 100 * NS_PER_MS, 100), 1, "one in each interval then");
	is_int(pass(&date, &p, START + 350 * NS_PER_MS, 100), 2, "two in two and a half");
	is_int(pass(&date, &p, START + 400 * NS_PER_MS, 100), 1, "whose half is not lost");
	is_int(pass(&date, &p, START + 60 * NS_PER_SEC, 100), 10, "a pause gives no more than all");
	table_pace_take(&date, &p, START + 60 * NS_PER_SEC, &a);
	is_int(a.verdict, TABLE_REFUSE, "refused");
	is_int((int64_t)a.wait_ns, 100 * NS_PER_MS, "and when not any more");
	is_int((int64_t)a.reset_ns, NS_PER_SEC, "fresh in a second");
	is_int((int64_t)a.left, 0, "nothing is left");
	date = 0;
	table_pace_take(&date, &p, START, &a);
	is_int((int64_t)a.left, 9, "9 are left behind the first");
	is_int((int64_t)a.reset_ns, 100 * NS_PER_MS, "fresh in an interval");
	is_int((int64_t)table_pace_left_ms(&date, START + 1), 100, "told in ms, rounded up");
	is_int((int64_t)table_pace_left_ms(&date, START + NS_PER_SEC), 0, "0 when it is");
}

static void test_no_burst(void)
{
	struct table_pace p = pace_of(2, NS_PER_SEC, 0);
	uint64_t date = 0;

	is_int(pass(&date, &p, START, 5), 1, "one");
	is_int(pass(&date, &p, START + 499 * NS_PER_MS, 5), 0, "not too early");
	is_int(pass(&date, &p, START + 500 * NS_PER_MS, 5), 1, "another one");
	p = pace_of(1, TABLE_PACE_MAX_NS, 0);
	date = 0;
	is_int(pass(&date, &p, START, 5), 1, "one in 24 days");
	is_int(pass(&date, &p, START + TABLE_PACE_MAX_NS - 1, 5), 0, "not before");
	is_int(pass(&date, &p, START + TABLE_PACE_MAX_NS, 5), 1, "but then");
}

static void test_delay(void)
{
	struct table_pace p = pace_of(10, NS_PER_SEC, 0);
	struct table_admission a;
	uint64_t date = 0;

	p.delay_ns = 250 * NS_PER_MS;
	for (int i = 0; i < 3; i++) {
		table_pace_take(&date, &p, START, &a);
		is_int(a.verdict, i ? TABLE_WAIT : TABLE_PASS, "event %d", i);
		is_int((int64_t)a.wait_ns, i * 100 * NS_PER_MS, "waits for its time");
	}
	table_pace_take(&date, &p, START, &a);
	is_int(a.verdict, TABLE_REFUSE, "one that would wait too long");
	is_int((int64_t)a.wait_ns, 300 * NS_PER_MS, "is told for how long");
	table_pace_take(&date, &p, START + 50 * NS_PER_MS, &a);
	is_int(a.verdict, TABLE_WAIT, "exactly the longest time is not too long");
}

static void test_bounds(void)
{
	struct table_pace p;
	struct table_admission a;
	uint64_t date = 0;

	ok(!table_pace_make(&p, 0, NS_PER_SEC, 0), "no event");
	ok(!table_pace_make(&p, 1, 0, 0), "no period");
	ok(!table_pace_make(&p, NS_PER_SEC + 1, NS_PER_SEC, 0), "more than one in a nanosecond");
	ok(!table_pace_make(&p, 1, UINT64_MAX, 0), "a period that no clock has");
	ok(!table_pace_make(&p, 1, NS_PER_SEC, UINT64_MAX), "a burst of years");
	ok(!table_pace_make(&p, 1, TABLE_PACE_MAX_NS, 2), "one a little too long");
	ok(table_pace_make(&p, 1, TABLE_PACE_MAX_NS, 1), "the longest");
	p = pace_of(NS_PER_SEC, NS_PER_SEC, TABLE_PACE_MAX_NS);
	is_int(pass(&date, &p, START, 100000), 100000, "a huge rate");
	table_pace_take(&date, &p, START, &a);
	ok(a.left == TABLE_PACE_MAX_NS - 100000, "and what is left of it");
	/* a clock of a thread that is behind, or the date of another rule */
	p = pace_of(10, NS_PER_SEC, 1);
	date = 0;
	is_int(pass(&date, &p, START, 1), 1, "one");
	is_int(pass(&date, &p, START - 20 * NS_PER_MS, 1), 0, "a clock that is behind is earlier");
	is_int(pass(&date, &p, START, 1), 1, "nothing is lost by that");
	table_pace_set_ms(&date, UINT64_MAX, START);
	is_int((int64_t)table_pace_left_ms(&date, START), 2147483647, "the latest date");
	is_int(pass(&date, &p, START, 1), 0, "refuses");
	table_pace_set_ms(&date, 0, START);
	is_int((int64_t)date, 0, "fresh again");
	is_int(pass(&date, &p, 0, 3), 2, "at the first moment of a clock");
}

/* --- threads ---------------------------------------------------------------------------------- */

#define THREADS 4
#define EACH 50000

static uint64_t shared_date;
static struct table_pace shared_pace;

static void *take_many(void *arg)
{
	unsigned *passed = arg;

	*passed = pass(&shared_date, &shared_pace, START, EACH);
	return NULL;
}

static void test_threads(void)
{
	unsigned passed[THREADS], sum = 0;
	pthread_t threads[THREADS];

	shared_pace = pace_of(1, NS_PER_SEC, 99999);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, take_many, &passed[i]);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		sum += passed[i];
	}
	is_int(sum, 100000, "threads share a burst exactly");
}

int main(void)
{
	test_burst();
	test_no_burst();
	test_delay();
	test_bounds();
	test_threads();
	return done_testing();
}
