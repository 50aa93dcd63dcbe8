/* SPDX-License-Identifier: GPL-2.0-or-later */
/* trim.c - what a generation took goes back to the system once it is gone, and so does what a
 * refused one took: else each reload leaves its holes to the heap, whose pages stay with us
 *
 * Somewhat later, because a dying generation has freed everything by then and several are handled
 * together; in the background, because the library walks through its heaps.
 */
#include "base/clock.h"
#include "core/background.h"
#include "core/mailbox.h"
#include "core/pool.h"
#include "core/task.h"
#include "core/thread.h"
#include "generation_priv.h"

#define LATER_MS 100

static void on_wanted(struct message *m);

static struct {
	struct message message;
	bool posted;       /* atomic: the message is on its way */
	bool over;         /* atomic: the loops have ended */
	bool running;      /* of thread 0, as what follows */
	struct task *task;
} trim = { .message.run = on_wanted };

static void trim_memory(void *ctx)
{
	pool_trim_shared();
}

static void trimmed(void *ctx)
{
	trim.running = false;
}

static void on_due(struct task *t, void *ctx, unsigned why)
{
	if (trim.running)
		task_schedule(t, clock_now_ms() + LATER_MS);
	else /* without memory for it: not now */
		trim.running = background_run(trim_memory, trimmed, NULL);
}

/* On thread 0. */
static void on_wanted(struct message *m)
{
	__atomic_store_n(&trim.posted, false, __ATOMIC_RELEASE);
	if (!trim.task)
		trim.task = task_new(on_due, NULL);
	if (trim.task)
		task_schedule(trim.task, clock_now_ms() + LATER_MS);
}

void trim_later(void)
{
	if (__atomic_load_n(&trim.over, __ATOMIC_RELAXED) ||
	    __atomic_exchange_n(&trim.posted, true, __ATOMIC_ACQ_REL))
		return;
	mailbox_post(0, &trim.message);
}

static void trim_thread_fini(void)
{
	if (thread_id)
		return;
	__atomic_store_n(&trim.over, true, __ATOMIC_RELAXED);
	task_free(&trim.task);
}

const struct module mod_trim = { .name = "trim", .thread_fini = trim_thread_fini };
