/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mailbox.h - messages from one thread to another
 *
 * Each thread has a lock-free multi-producer queue, with one wake-up (eventfd) if it was empty and
 * the owner sleeps. Messages are intrusive: the poster owns the memory until <run> is called on the
 * destination thread, which owns it from then on.
 * Order: messages of one poster to one thread arrive in order. Fails: never (no allocation).
 */
#ifndef CORE_MAILBOX_H
#define CORE_MAILBOX_H

#include <stdbool.h>

struct message {
	struct message *next;
	void (*run)(struct message *m); /* on the destination thread; may free <m> */
};

/* Posts <m> to <thread>. Any thread. <m> must not be posted already. */
void mailbox_post(unsigned thread, struct message *m);
/* Declares that the calling thread does not run a loop. Call once, before it posts; it must not use
 * anything else of core/.
 */
void mailbox_outsider(void);

/* Runs <fn> on every thread, one after the other (0, 1, ...), then <done> on the calling thread,
 * never before this function returns. <ctx> is passed to both. If called outside of the loops
 * (core/background.h), <done> runs on thread 0. False: out of memory, neither will be called.
 */
bool thread_call_all(void (*fn)(void *ctx), void (*done)(void *ctx), void *ctx);

#endif
