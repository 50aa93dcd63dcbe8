/* SPDX-License-Identifier: GPL-2.0-or-later */
/* t_pool.c - reuse, statistics, limits, and the options of -dM */
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../../../src/core/pool_priv.h"
#include "core/pool.h"
#include "tap.h"

static struct pool_stats stats_of(const char *name)
{
	struct pool_stats st = { 0 };

	for (unsigned i = 0; pool_get_stats(i, &st); i++) {
		if (strcmp(st.name, name) == 0)
			return st;
	}
	memset(&st, 0, sizeof(st));
	return st;
}

static void test_reuse(void)
{
	struct pool *p = pool_new("reuse", 200), *q = pool_new("same", 196), *r;
	void *a = pool_alloc(p), *b = pool_alloc(p);

	ok(a && b && a != b, "two objects");
	ok(p == q, "close sizes share a pool");
	is_int(stats_of("reuse").users, 2, "which counts its users");
	is_int(stats_of("reuse").used, 2, "two are used");
	pool_free(p, a);
	if (pool_flags & POOL_NO_CACHE) {
		is_int(stats_of("reuse").allocated, 1, "without a cache, one left");
	} else {
		is_int(stats_of("reuse").cached, 1, "one is spare");
		ok(pool_alloc(p) == a, "the last freed comes first");
		pool_free(p, a);
	}
	pool_free(p, b);
	pool_free(p, NULL);
	pool_trim_thread();
	is_int(stats_of("reuse").allocated, 0, "trimming gives all back");
	r = pool_new("zeroed", 48);
	a = pool_zalloc(r);
	ok(a && memcmp(a, (char[48]){ 0 }, 48) == 0, "pool_zalloc zeroes");
	pool_free(r, a);
	pool_trim_thread();
}

static void test_overflow(void)
{
	struct pool *p = pool_new("overflow", 5000);
	void *objects[200];
	bool all = true;

	pool_set_hot_size(20000);
	for (int i = 0; i < 200; i++) {
		objects[i] = pool_alloc(p);
		all = all && objects[i];
		memset(objects[i], i, 5000);
	}
	ok(all, "200 objects");
	for (int i = 0; i < 200; i++)
		pool_free(p, objects[i]);
	ok(stats_of("overflow").cached <= 5, "a cache keeps what tune.memory.hot-size allows");
	pool_trim_thread();
	pool_trim_shared();
	is_int(stats_of("overflow").allocated, 0, "everything is given back");
	pool_set_hot_size(524288);
}

static void test_limit(void)
{
	struct pool *p = pool_new("limit", 1000);
	void *first = pool_alloc(p);

	pool_set_limit(1);
	ok(pool_alloc(p) == NULL, "above the limit, none");
	is_int(stats_of("limit").failures, 1, "and the failure is counted");
	pool_set_limit(0);
	pool_free(p, first);
	pool_trim_thread();
}

static void test_options(void)
{
	unsigned saved = pool_flags;
	const char *message;
	struct pool *p;
	unsigned char *object;

	ok(!pool_set_options("help", &message) && strstr(message, "no-merge"), "help");
	ok(!pool_set_options("nonsense", &message) && strstr(message, "nonsense"), "unknown");
	ok(pool_set_options("0x41,tag,no-merge,integrity", &message), "options");
	p = pool_new("debug", 64);
	object = pool_alloc(p);
	is_int(object[0] == 0x41 && object[63] == 0x41, 1, "objects are filled");
	pool_free(p, object);
	object = pool_alloc(p);
	ok(object != NULL, "and come back unchanged");
	pool_free(p, object);
	pool_trim_thread();
	ok(pool_set_options("fail,no-tag,no-poison,no-integrity", &message), "fail");
	pool_set_fail_percent(100);
	ok(pool_alloc(p) == NULL, "100 %% of allocations fail");
	pool_set_fail_percent(0);
	pool_flags = saved;
}

/* How a process ends that takes an object again after it was freed, and written to or not. */
static bool dies_of_reuse(bool written)
{
	const char *message;
	pid_t child = fork();
	int status = 0;

	if (!child) {
		unsigned char *object;
		struct pool *p;

		setrlimit(RLIMIT_CORE, &(struct rlimit){ 0 });
		dup2(open("/dev/null", O_WRONLY), 2);
		pool_set_options("backup,tag,no-merge", &message);
		p = pool_new("backup", 64);
		object = pool_alloc(p);
		memset(object, 1, 64);
		pool_free(p, object);
		object[63] = written ? 2 : 1;
		object = pool_alloc(p);
		_exit(!object);
	}
	waitpid(child, &status, 0);
	return WIFSIGNALED(status) || WEXITSTATUS(status);
}

static void test_backup(void)
{
	if (pool_flags & POOL_NO_CACHE)
		return; /* nothing is spare */
	ok(!dies_of_reuse(false), "backup: a free object that nobody has written to is taken");
	ok(dies_of_reuse(true), "backup: one that was written to is a bug");
}

/* What a child does with objects under options of -dM: true unless it is as it should be. */
typedef bool misuse_fn(struct pool *p, unsigned char *object);

static bool writes_behind(struct pool *p, unsigned char *object)
{
	object[pool_flags & (POOL_TAG | POOL_CALLER) ? 72 : 0]++;
	pool_free(p, object);
	return false;
}

static bool frees_twice(struct pool *p, unsigned char *object)
{
	pool_free(p, object);
	pool_free(p, object);
	return false;
}

static bool frees_into_another(struct pool *p, unsigned char *object)
{
	pool_free(pool_new("another", 64), object);
	return false;
}

static bool writes_to_freed(struct pool *p, unsigned char *object)
{
	pool_free(p, object);
	object[40]++;
	return !pool_alloc(p);
}

static bool uses_well(struct pool *p, unsigned char *object)
{
	memset(object, 1, 64);
	pool_free(p, object);
	return !pool_alloc(p);
}

/* True: the object that comes next is not that which was freed first. */
static bool takes_the_last(struct pool *p, unsigned char *object)
{
	unsigned char *second = pool_alloc(p);

	pool_free(p, object);
	pool_free(p, second);
	return pool_alloc(p) != object;
}

static bool keeps_spares(struct pool *p, unsigned char *object)
{
	pool_free(p, object);
	return stats_of("child").allocated == 0;
}

static bool is_not_filled(struct pool *p, unsigned char *object)
{
	for (int i = 0; i < 64; i++)
		if (object[i] != 0x41)
			return true;
	return false;
}

static bool shares_sizes(struct pool *p, unsigned char *object)
{
	return pool_new("the same size", 64) != p;
}

static bool has_no_caller(struct pool *p, unsigned char *object)
{
	uintptr_t caller = ((uintptr_t *)(object + 72))[1], here = (uintptr_t)has_no_caller;

	return (caller > here ? caller - here : here - caller) > 100000;
}

static bool fails(const char *options, misuse_fn *misuse)
{
	const char *message;
	pid_t child = fork();
	int status = 0;

	if (!child) {
		struct pool *p;

		setrlimit(RLIMIT_CORE, &(struct rlimit){ 0 });
		dup2(open("/dev/null", O_WRONLY), 2);
		pool_flags = 0;
		pool_set_options(options, &message);
		p = pool_new("child", 64);
		_exit(misuse(p, pool_alloc(p)));
	}
	waitpid(child, &status, 0);
	return WIFSIGNALED(status) || WEXITSTATUS(status);
}

static void test_each_option(void)
{
	static const struct {
		const char *options;
		misuse_fn *misuse;
		bool fails;
		const char *name;
	} cases[] = {
		{ "tag,no-merge", uses_well, false,
		  "tag: good use" },
		{ "tag,no-merge", writes_behind, true,
		  "tag: a write behind an object is a bug" },
		{ "tag,no-merge", frees_twice, true,
		  "tag: one that is freed twice is a bug" },
		{ "tag,no-merge", frees_into_another, true,
		  "tag: so is another pool's" },
		{ "integrity,no-merge", uses_well, false,
		  "integrity: good use" },
		{ "integrity,no-merge", writes_to_freed, true,
		  "integrity: a free object changes" },
		{ "no-merge", writes_to_freed, false,
		  "which is not seen without" },
		{ "integrity,no-integrity,no-merge", writes_to_freed, false,
		  "nor with no-integrity" },
		{ "no-merge", takes_the_last, true,
		  "hot-first: what was freed last comes next" },
		{ "cold-first,no-merge", takes_the_last, false,
		  "cold-first: what was freed first" },
		{ "cold-first,hot-first,no-merge", takes_the_last, true,
		  "hot-first behind it" },
		{ "no-cache,no-merge", keeps_spares, true,
		  "no-cache: a free object is given back" },
		{ "no-cache,cache,no-merge", keeps_spares, false,
		  "cache: it is kept" },
		{ "0x41,no-merge", is_not_filled, false,
		  "a byte: objects are filled with it" },
		{ "0x41,no-poison,no-merge", is_not_filled, true,
		  "no-poison: they are not" },
		{ "0x41,no-poison,poison,no-merge", is_not_filled, false,
		  "poison: with that byte again" },
		{ "no-merge", shares_sizes, true,
		  "no-merge: a pool for each name" },
		{ "no-merge,merge", shares_sizes, false,
		  "merge: one for names of the same size" },
		{ "caller,no-merge", has_no_caller, false,
		  "caller: it is noted behind the object" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		is_int(fails(cases[i].options, cases[i].misuse), cases[i].fails, "%s",
		       cases[i].name);
}

int main(void)
{
	test_reuse();
	test_overflow();
	test_limit();
	test_options();
	test_backup();
	test_each_option();
	return done_testing();
}
