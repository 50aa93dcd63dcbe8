/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mailbox.h - how one thread reaches what another owns
 *
 * A lock-free multi-producer queue per thread with one wake-up (eventfd) when it was empty and the
 * owner sleeps. Messages are intrusive: the poster owns the memory until <run> is called on the
 * destination thread, which then owns it.
 * Order: messages of one poster to one thread arrive in order. Fails: never (no allocation).
 */
#ifndef CORE_MAILBOX_H
#define CORE_MAILBOX_H

#include <stdbool.h>

struct message {
	struct message *next;
	void (*run)(struct message *m); /* on the destination thread; may free <m> */
};

/* From any thread. <m> must not be posted already. */
void mailbox_post(unsigned thread, struct message *m);
/* Says that the calling thread is none of those that turn in the loop: once, before it posts. It
 * may use nothing else of core/.
 */
void mailbox_outsider(void);

/* Runs <fn> once on every thread in turn (0, 1, ...) and then <done> on the calling thread, never
 * before this function returns. <ctx> is passed to both. Called outside of the loops
 * (core/background.h), <done> is for thread 0. False: no memory, nothing will be called.
 */
bool thread_call_all(void (*fn)(void *ctx), void (*done)(void *ctx), void *ctx);

#endif
