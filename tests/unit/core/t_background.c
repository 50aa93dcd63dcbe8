/* SPDX-License-Identifier: GPL-2.0-or-later */
/* t_background.c - work beside the loops: it is done once, its end is told to the caller, nothing
 * is lost */
#include <stdlib.h>
#include "base/module.h"
#include "core/background.h"
#include "core/pool.h"
#include "core/thread.h"
#include "tap.h"

#define THREADS 3
#define ROUNDS 20

static struct pool *pool;
static unsigned worked[THREADS], told[THREADS], strangers, not_done;

static void ask(void);

/* Beside the loops: numbers and memory of its own. */
static void work(void *ctx)
{
	unsigned *count = ctx;
	void *p = pool_alloc(pool);

	if (thread_id < thread_count())
		__atomic_add_fetch(&strangers, 1, __ATOMIC_RELAXED);
	pool_free(pool, p);
	(*count)++;
}

static void done(void *ctx)
{
	unsigned mine = __atomic_add_fetch(&told[thread_id], 1, __ATOMIC_SEQ_CST);

	if (worked[thread_id] != mine)
		__atomic_add_fetch(&not_done, 1, __ATOMIC_RELAXED);
	if (mine < ROUNDS) {
		ask();
		return;
	}
	for (unsigned i = 0; i < THREADS; i++)
		if (__atomic_load_n(&told[i], __ATOMIC_SEQ_CST) < ROUNDS)
			return;
	thread_stop_all();
}

static void ask(void)
{
	if (!background_run(work, done, &worked[thread_id]))
		abort();
}

static bool start(void)
{
	ask();
	return true;
}

int main(void)
{
	static const struct module m = { .name = "test", .thread_init = start };
	static const struct module *const modules[] = { &m, NULL };
	unsigned all = 0, ended = 0;

	pool = pool_new("things", 64);
	if (!pool || !thread_layout(THREADS, 1) || !thread_run_all(modules))
		return 1;
	background_fini();
	for (unsigned i = 0; i < THREADS; i++) {
		all += worked[i];
		ended += told[i];
	}
	is_int(all, THREADS * ROUNDS, "every work was done once");
	is_int(ended, THREADS * ROUNDS, "every end was told");
	is_int(not_done, 0, "on the thread that asked, after the work");
	is_int(strangers, 0, "no work took itself for a thread with a loop");
	return done_testing();
}
