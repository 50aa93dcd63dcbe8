/* SPDX-License-Identifier: GPL-2.0-or-later */
/* t_memory_profile.c - what is counted for which caller, and how it is printed */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "../../../src/core/memory_profile_priv.h"
#include "base/memory_profile.h"
#include "core/pool.h"
#include "tap.h"

static struct memory_place sum_of(enum memory_method method)
{
	struct memory_place sum = { 0 }, p;

	for (unsigned i = 0; memory_profile_get(i, &p); i++) {
		if (p.method != method)
			continue;
		sum.allocs += p.allocs;
		sum.frees += p.frees;
		sum.alloc_bytes += p.alloc_bytes;
		sum.free_bytes += p.free_bytes;
	}
	return sum;
}

/* Places beyond what the table holds: nothing is lost. */
static void test_many(void)
{
	struct memory_place p;
	uint64_t calls = 0;

	memory_profile_set(true);
	for (uintptr_t i = 1; i <= 5000; i++)
		memory_profile_note(MEMORY_ALIGNED, (const void *)(i << 20), i, 0);
	memory_profile_set(false);
	for (unsigned i = 0; memory_profile_get(i, &p); i++)
		if (p.method == MEMORY_ALIGNED || !p.at)
			calls += p.allocs;
	ok(calls == 5000, "5000 places: %lu calls", (unsigned long)calls);
	memory_profile_set(true);
	memory_profile_set(false);
	ok(sum_of(MEMORY_ALIGNED).allocs == 0, "on again: from zero");
}

static void *one_thread(void *arg)
{
	for (unsigned i = 0; i < 20000; i++)
		memory_profile_note(MEMORY_CALLOC, (const void *)(uintptr_t)(i % 16 + 1), 2, 1);
	return NULL;
}

static void test_threads(void)
{
	pthread_t threads[4];
	struct memory_place sum;

	memory_profile_set(true);
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, one_thread, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	memory_profile_set(false);
	sum = sum_of(MEMORY_CALLOC);
	ok(sum.allocs >= 80000 && sum.alloc_bytes >= 160000 && sum.frees == 80000 &&
	   sum.free_bytes == 80000, "four threads: all is counted");
}

static void test_library(void)
{
	struct pool *pool = pool_new("of_test", 5000);
	struct memory_place sum;
	void *p, *object = NULL;

	memory_profile_set(true);
	p = malloc(1000);
	p = realloc(p, 3000);
	ok(posix_memalign(&object, 64, 100) == 0 && p, "memory");
	free(object);
	free(p);
	object = pool_alloc(pool);
	memory_profile_set(false);
	sum = sum_of(MEMORY_MALLOC);
	ok(sum.allocs >= 1 && sum.alloc_bytes >= 1000, "malloc");
	sum = sum_of(MEMORY_REALLOC);
	ok(sum.alloc_bytes >= 3000 && sum.free_bytes >= 1000, "realloc: both ways");
	sum = sum_of(MEMORY_ALIGNED);
	ok(sum.allocs >= 1 && sum.alloc_bytes >= 100, "posix_memalign");
	sum = sum_of(MEMORY_FREE);
	ok(sum.frees >= 2 && sum.free_bytes >= 3100, "free");
	sum = sum_of(MEMORY_POOL);
	ok(sum.allocs >= 1 && sum.alloc_bytes >= 5000, "what a pool asks for is the pool's");
	pool_free(pool, object);
}

static void test_dump(void)
{
	struct memory_list *list;
	struct strbuf out;
	unsigned steps = 1, lines = 0;

	memory_profile_set(true);
	for (uintptr_t i = 1; i <= 100; i++)
		memory_profile_note(MEMORY_FREE, (const void *)(i << 4), 0, i);
	memory_profile_set(false);
	strbuf_init(&out);
	list = memory_list_new(MEMORY_BY_BYTES, false);
	while (memory_list_print(list, &out, steps * 1000, 0, false))
		steps++;
	ok(steps > 5, "printed in steps");
	ok(strncmp(out.ptr, "Memory activity over ", 21) == 0, "a head");
	ok(strstr(out.ptr, " total of ") != NULL, "a total");
	memory_list_free(list);
	strbuf_reset(&out);
	list = memory_list_new(MEMORY_BY_ADDRESS, true);
	ok(!memory_list_print(list, &out, 100000, 1, false), "one line");
	for (size_t i = 0; i < out.len; i++)
		lines += out.ptr[i] == '\n';
	is_int(lines, 4, "two of head, one, total");
	memory_list_free(list);
	strbuf_fini(&out);
}

int main(void)
{
	if (!memory_profile_exists()) {
		memory_profile_set(true);
		ok(!memory_profile_is_on(), "not built in: never on");
		return done_testing();
	}
	test_threads();
	test_library();
	test_dump();
	test_many(); /* it fills the table */
	return done_testing();
}
