/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Objects of a cache: a walk over all of them meets each that stays there, whatever comes and goes
 * beside it.
 */
#include "../tap.h"
#include <stdio.h>
#include "cache/cache_priv.h"

#define KEY SLICE("http://h/a")

static struct cache_conf conf = { .total_mb = 1, .process_vary = true };

/* One more object of <key>, for requests with the Origin that hashes to <origin>. */
static void add(struct cache *c, struct slice key, uint64_t origin)
{
	struct cache_answer a = { .fresh_ms = 100000, .second = { .origin = origin } };
	struct cache_object *o;
	struct http_msg m;
	struct arena arena;

	a.second.vary = origin ? CACHE_VARY_ORIGIN : 0;
	arena_init(&arena, 1024);
	http_msg_init(&m, &arena);
	m.status = 200;
	m.body = HTTP_BODY_LENGTH;
	o = cache_object_new(key, &m, NULL, &a, &conf);
	cache_add(c, o, 100);
	cache_object_drop(o);
	http_msg_fini(&m);
	arena_fini(&arena);
}

/* The next one's Origin; 0: the end. */
static uint64_t step(struct cache *c, struct cache_cursor *at, bool remove)
{
	struct cache_object *o = cache_walk(c, at);
	uint64_t origin = o ? cache_second_of(o)->origin : 0;

	if (o && remove)
		cache_remove_object(c, o);
	cache_object_drop(o);
	return origin;
}

static struct cache *five(void)
{
	struct cache *c = cache_new("c", 1 << 20);

	for (uint64_t i = 1; i <= 5; i++)
		add(c, KEY, i);
	return c;
}

static void test_moved(void)
{
	struct cache_cursor at = { 0 };
	struct cache *c = five();
	unsigned seen = 0;

	ok(step(c, &at, false) == 1 && step(c, &at, false) == 2, "in the order in which they came");
	add(c, KEY, 1); /* replaced: it stands behind the others now */
	add(c, KEY, 2);
	for (uint64_t o; (o = step(c, &at, false));)
		seen |= 1U << o;
	ok((seen & 0x38) == 0x38, "those behind are met when those before have moved");
	cache_drop(&c);
}

static void test_removed(void)
{
	struct cache_cursor at = { 0 };
	struct cache *c = five();
	unsigned count = 0;

	for (uint64_t o; (o = step(c, &at, true));)
		ok(o == ++count, "number %u is met though all before were removed", (unsigned)o);
	ok(count == 5, "none is left out");
	at = (struct cache_cursor){ 0 };
	ok(!step(c, &at, false), "the cache is empty");
	cache_drop(&c);
}

/* Those that a walk has removed come again while it goes on. */
static void test_comes_again(void)
{
	struct cache_cursor at = { 0 };
	struct cache *c = five();
	unsigned count = 0;
	uint64_t o;

	while (count < 100 && (o = step(c, &at, true))) {
		count++;
		if (count <= 5)
			add(c, KEY, o);
	}
	ok(count == 10, "what comes again while all are removed is removed too: %u", count);
	cache_drop(&c);
}

static void test_all(void)
{
	struct cache_cursor at = { 0 };
	struct cache *c = cache_new("c", 1 << 20);
	unsigned count = 0;
	struct cache_object *o;
	char key[40];

	for (int i = 0; i < 1000; i++)
		add(c, slice_make(key, (size_t)snprintf(key, sizeof(key), "http://h/%d", i)), 0);
	while ((o = cache_walk(c, &at))) {
		if (count++ % 2)
			cache_remove_object(c, o);
		cache_object_drop(o);
	}
	ok(count == 1000, "each of 1000 is met once: %u", count);
	at = (struct cache_cursor){ 0 };
	for (count = 0; (o = cache_walk(c, &at)); count++)
		cache_object_drop(o);
	ok(count == 500, "half of them is left: %u", count);
	cache_drop(&c);
}

int main(void)
{
	test_moved();
	test_removed();
	test_comes_again();
	test_all();
	return done_testing();
}
