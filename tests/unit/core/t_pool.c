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

int main(void)
{
	test_reuse();
	test_overflow();
	test_limit();
	test_options();
	test_backup();
	return done_testing();
}
