/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mailbox.c - a stack that any thread pushes on, taken whole and turned over by its owner
 *
 * The owner announces its sleep before it looks at the stack for the last time; a poster pushes
 * before it looks for a sleeper. Both are sequentially consistent, so one of them sees the other.
 * The poster that clears <sleeping> is the only one to pay for the wake-up.
 */
#include <stdlib.h>
#include "core/mailbox.h"
#include "core/thread.h"
#include "worker_priv.h"

void mailbox_post(unsigned thread, struct message *m)
{
	struct worker *w = worker_table[thread];
	struct message *head = atomic_load_explicit(&w->mail, memory_order_relaxed);

	do {
		m->next = head;
	} while (!atomic_compare_exchange_weak(&w->mail, &head, m));
	if (w != worker_self && atomic_load(&w->sleeping) && atomic_exchange(&w->sleeping, 0))
		worker_wake(w);
}

void mailbox_outsider(void)
{
	worker_self = NULL;
}

void mailbox_drain(struct worker *w)
{
	struct message *m, *next, *ordered = NULL;

	if (mailbox_is_empty(w))
		return;
	m = atomic_exchange_explicit(&w->mail, NULL, memory_order_acquire);
	for (; m; m = next) {
		next = m->next;
		m->next = ordered;
		ordered = m;
	}
	for (m = ordered; m; m = next) {
		next = m->next;
		m->run(m);
	}
}

/* A tour of all threads. */
struct call_all {
	struct message message;
	void (*fn)(void *ctx);
	void (*done)(void *ctx);
	void *ctx;
	unsigned at;     /* thread to call next */
	unsigned caller;
};

static void call_all_done(struct message *m)
{
	struct call_all *call = (struct call_all *)m;

	if (call->done)
		call->done(call->ctx);
	free(call);
}

static void call_all_run(struct message *m)
{
	struct call_all *call = (struct call_all *)m;

	call->fn(call->ctx);
	if (++call->at < thread_count()) {
		mailbox_post(call->at, m);
		return;
	}
	m->run = call_all_done;
	mailbox_post(call->caller, m);
}

bool thread_call_all(void (*fn)(void *ctx), void (*done)(void *ctx), void *ctx)
{
	struct call_all *call = calloc(1, sizeof(*call));

	if (!call)
		return false;
	call->message.run = call_all_run;
	call->fn = fn;
	call->done = done;
	call->ctx = ctx;
	call->caller = thread_id < thread_count() ? thread_id : 0;
	mailbox_post(0, &call->message);
	return true;
}
