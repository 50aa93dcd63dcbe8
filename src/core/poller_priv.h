/* SPDX-License-Identifier: GPL-2.0-or-later */
/* poller_priv.h - the interface between fd.c, the loop and a polling mechanism
 *
 * The process uses exactly one mechanism. Its state is per thread (worker->poll) and used by its
 * thread only. wait() only waits, so that the loop can read the clock before handlers run.
 */
#ifndef CORE_POLLER_PRIV_H
#define CORE_POLLER_PRIV_H

#include <stdbool.h>
#include <stdint.h>

struct worker;

struct poller {
	const char *name;
	int preference;
	bool level;       /* level-triggered: fd.c emulates edges through fd_entry.interest */
	bool (*test)(void);
	bool (*thread_init)(struct worker *w);
	void (*thread_fini)(struct worker *w);
	/* Starts to poll <fd>; <shared>: level-triggered input of a listener. False: see errno. */
	bool (*add)(struct worker *w, int fd, bool shared);
	/* Stops polling; <closing>: the descriptor will be closed immediately. */
	void (*remove)(struct worker *w, int fd, bool closing);
	/* Waits for events, at most <timeout_ms> (-1: forever). Returns their number. */
	int (*wait)(struct worker *w, int timeout_ms);
	/* Calls the handlers for the <count> events of the last wait. */
	void (*dispatch)(struct worker *w, int count);
};

extern const struct poller poller_epoll, poller_poll, poller_select;

/* Returns the mechanism in use, chosen at first use. NULL: all are disabled. */
const struct poller *poller_get(void);
/* Creates the calling thread's poller and wake-up descriptor; true if they exist already. False:
 * failed.
 */
bool poller_thread_init(struct worker *w);
void poller_thread_fini(struct worker *w);

extern int poller_max_events;
extern unsigned poller_epoll_mask;

/* Passes <events> to the handler of <fd>, if it is registered. */
void fd_dispatch(int fd, unsigned events);

/* While the lock is held, no shared descriptor is added or removed: for dumps, which look at their
 * owners.
 */
void fd_shared_lock(void);
void fd_shared_unlock(void);

#endif
