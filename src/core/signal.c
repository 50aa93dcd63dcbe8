/* SPDX-License-Identifier: GPL-2.0-or-later */
/* signal.c - note in the handler, work in the loop */
#include <stdlib.h>
#include "core/signal.h"
#include "signal_priv.h"

#define SIGNALS_MAX 65

struct signal_action {
	struct signal_action *next;
	void (*fn)(int sig, void *ctx);
	void *ctx;
};

atomic_int signal_pending;
static atomic_int signal_seen[SIGNALS_MAX];
static struct signal_action *signal_actions[SIGNALS_MAX];

/* Async-signal-safe: atomics and write(). */
static void signal_note(int sig)
{
	if (atomic_exchange(&signal_seen[sig], 1) == 0)
		atomic_fetch_add(&signal_pending, 1);
	worker_wake(worker_table[0]);
}

bool signal_register(int sig, void (*fn)(int sig, void *ctx), void *ctx)
{
	struct sigaction sa = { .sa_handler = signal_note, .sa_flags = SA_RESTART };
	struct signal_action *action, **at;

	if (sig < 1 || sig >= SIGNALS_MAX)
		return false;
	if (fn) {
		action = calloc(1, sizeof(*action));
		if (!action)
			return false;
		action->fn = fn;
		action->ctx = ctx;
		for (at = &signal_actions[sig]; *at; at = &(*at)->next)
			;
		*at = action;
	}
	sigfillset(&sa.sa_mask);
	return sigaction(sig, &sa, NULL) == 0;
}

void signal_process(void)
{
	for (int sig = 1; sig < SIGNALS_MAX; sig++) {
		struct signal_action *next;

		if (!atomic_load_explicit(&signal_seen[sig], memory_order_relaxed))
			continue;
		/* In this order, an arrival in between is counted again, never lost. */
		atomic_store(&signal_seen[sig], 0);
		atomic_fetch_sub(&signal_pending, 1);
		for (struct signal_action *a = signal_actions[sig]; a; a = next) {
			next = a->next;
			a->fn(sig, a->ctx);
		}
	}
}

void signal_blockable_set(sigset_t *set)
{
	sigfillset(set);
	sigdelset(set, SIGPROF);
	sigdelset(set, SIGBUS);
	sigdelset(set, SIGFPE);
	sigdelset(set, SIGILL);
	sigdelset(set, SIGSEGV);
	sigdelset(set, SIGTRAP);
	sigdelset(set, SIGABRT);
}
