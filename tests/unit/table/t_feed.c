/* SPDX-License-Identifier: GPL-2.0-or-later */
/* t_feed.c - what has changed: noted once, by any thread; nothing is missed or left held */
#include <pthread.h>
#include <stdlib.h>
#include "base/clock.h"
#include "core/thread.h"
#include "table/feed.h"
#include "tap.h"

#define KEYS 64
#define THREADS 4
#define CHANGES 20000

static struct table_state *state_of(uint32_t size)
{
	struct table_limits l = { .size = size, .bytes_factor = 1 };
	struct table_shape s = { .type = TABLE_INTEGER, .key_len = 4 };

	s.count[TABLE_GPC0] = 1;
	table_shape_lay_out(&s);
	return table_state_new("t", &s, &l);
}

static struct table_entry *entry_of(struct table_state *st, uint32_t number)
{
	struct table_key k = { .len = 4 };

	for (unsigned i = 0; i < 4; i++)
		k.bytes[i] = ((uint8_t *)&number)[i];
	return table_get(st, &k);
}

/* As a request does it. */
static void count(struct table_state *st, uint32_t key)
{
	struct table_entry *e = entry_of(st, key);

	table_add(table_state_shape(st), e, TABLE_GPC0, 0, 1);
	table_changed(st, e);
	table_drop(e);
}

static unsigned woken; /* atomic */

static void wake(void *reader)
{
	__atomic_fetch_add(&woken, 1, __ATOMIC_RELAXED);
}

/* --- the reader ------------------------------------------------------------------------------- */

struct reader {
	struct table_state *st;
	uint32_t number;
	unsigned taken;
	uint64_t seen[KEYS]; /* what each entry had when it was taken */
};

static void take(void *ctx, struct table_entry *e)
{
	struct reader *r = ctx;
	const struct table_shape *s = table_state_shape(r->st);
	uint64_t v = 0;

	table_stamp_set(e, ++r->number);
	table_read(s, e, TABLE_GPC0, 0, &v);
	r->seen[*(uint32_t *)(void *)((char *)e + s->key_at) % KEYS] = v;
	r->taken++;
	table_drop(e);
}

static void test_one(void)
{
	struct reader r = { .st = state_of(100) };
	struct table_entry *e;

	count(r.st, 1);
	table_feed_take(r.st, take, &r);
	is_int(r.taken, 0, "nothing is noted before it is opened");
	ok(table_feed_open(r.st, wake, NULL), "opened");
	count(r.st, 1);
	count(r.st, 1);
	count(r.st, 2);
	is_int(woken, 1, "the reader is woken once");
	table_feed_take(r.st, take, &r);
	is_int(r.taken, 2, "each entry is there once");
	is_int(r.seen[1], 3, "as it is now");
	table_feed_take(r.st, take, &r);
	is_int(r.taken, 2, "and not again");
	count(r.st, 2);
	is_int(woken, 2, "woken again");
	table_feed_take(r.st, take, &r);
	is_int(r.taken, 3, "when it changes again");
	e = entry_of(r.st, 2);
	is_int(table_stamp(e), 3, "its number is that of its last change");
	is_int(table_refs(e), 1, "nothing else holds it");
	table_stamp_set(e, 0x80000000u);
	is_int(table_stamp(e), 1, "no number is 0");
	table_drop(e);
	count(r.st, 5);
	table_feed_close(r.st);
	count(r.st, 6);
	e = entry_of(r.st, 5);
	is_int(table_refs(e), 1, "closed: what was noted is not held");
	table_drop(e);
	ok(table_feed_open(r.st, wake, NULL), "opened again");
	count(r.st, 5);
	table_feed_take(r.st, take, &r);
	is_int(r.taken, 4, "what was noted before is noted again");
	table_state_drop(&r.st);
}

/* --- many threads ----------------------------------------------------------------------------- */

static struct table_state *shared;
static bool over; /* atomic */

static void *change(void *arg)
{
	uint32_t x = (uint32_t)(uintptr_t)arg * 2654435761u + 1;

	thread_id = (unsigned)(uintptr_t)arg;
	for (unsigned i = 0; i < CHANGES; i++) {
		x = x * 1664525u + 1013904223u;
		count(shared, (x >> 16) % KEYS);
	}
	return NULL;
}

static void *read_all(void *arg)
{
	struct reader *r = arg;

	while (!__atomic_load_n(&over, __ATOMIC_ACQUIRE))
		table_feed_take(shared, take, r);
	table_feed_take(shared, take, r);
	return NULL;
}

static void test_threads(void)
{
	struct reader r = { 0 };
	pthread_t changers[THREADS], reader;
	uint64_t sum = 0;
	unsigned held = 0;

	shared = state_of(KEYS);
	r.st = shared;
	ok(table_feed_open(shared, wake, NULL), "opened for %u threads", THREADS);
	pthread_create(&reader, NULL, read_all, &r);
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&changers[i], NULL, change, (void *)i);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(changers[i], NULL);
	__atomic_store_n(&over, true, __ATOMIC_RELEASE);
	pthread_join(reader, NULL);
	for (uint32_t k = 0; k < KEYS; k++) {
		struct table_entry *e = entry_of(shared, k);

		sum += r.seen[k];
		held += table_refs(e) - 1;
		table_drop(e);
	}
	is_int(sum, THREADS * CHANGES, "the reader has seen all that was counted");
	is_int(held, 0, "and nothing is held");
	table_state_drop(&shared);
}

int main(void)
{
	clock_thread_now_ns = 100 * NS_PER_MS;
	thread_layout(THREADS, 1);
	test_one();
	test_threads();
	return done_testing();
}
