/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* listener.h - a listening socket shared by threads, and the choice of a thread per connection
 *
 * Purpose: the threads of a set poll the same socket. A thread that wakes up accepts a few
 *          connections, and keeps them or passes them to a less loaded thread of the set through
 *          its mailbox (tune.listener.multi-queue).
 * Owns   : its descriptor (closed by listener_close()) and its seats, one per thread.
 * Threads: created and closed by any thread; accept callbacks run on the thread that will own the
 *          connection.
 * Full   : when a limit is reached the owner pauses the listener; connections wait in the kernel's
 *          backlog.
 * Errors : EMFILE and similar errors pause it for 100 ms.
 */
#ifndef NET_LISTENER_H
#define NET_LISTENER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include "base/addr.h"

struct listener;

/* What to do with datagrams. HOLD: serve only those of known clients. */
enum listener_wish { LISTENER_READ, LISTENER_HOLD, LISTENER_LEAVE };

struct listener_user {
	/* A new connection, on its thread. <src>: ADDR_UNIX when there is no internet address. */
	void (*accept)(void *owner, int fd, const struct addr *src);
	/* May one more be accepted now? True reserves a place, which the next accept() uses or
	 * give_back() returns. False pauses the listener, and the owner must resume it; with
	 * *wait_ms > 0 it resumes by itself after that time.
	 */
	bool (*may_accept)(void *owner, unsigned *wait_ms);
	void (*give_back)(void *owner);
	/* Does this thread accept? */
	bool (*uses_thread)(void *owner, unsigned thread);
	/* For a socket of datagrams, instead of accept(), may_accept() and give_back(): tells a
	 * thread of the set what to do with the socket from now on. The first call on a thread
	 * begins; no call follows LISTENER_LEAVE. NULL: a socket of streams.
	 */
	void (*datagrams)(void *owner, int fd, enum listener_wish wish);
	/* Returns the name of the frontend, for `show fd`. */
	const char *(*name)(void *owner);
};

/* Takes over the descriptor. Nothing is polled before listener_start_thread(). NULL: out of memory.
 */
struct listener *listener_new(int fd, const struct listener_user *user, void *owner,
			      unsigned max_accept);
/* Begins to poll on the calling thread, if it belongs to the set. */
void listener_start_thread(struct listener *l);
/* Pause and resume accepting on all threads. Any thread, at any time. */
void listener_pause(struct listener *l);
void listener_resume(struct listener *l);
/* Accepts waiting connections, even if the kernel has announced them to another process, which has
 * ended since. Any thread, at any time.
 */
void listener_look_again(struct listener *l);
/* Stops for good and closes the socket once every thread has left it. NULLs the pointer. Any
 * thread.
 */
void listener_close(struct listener **l);
/* As listener_close(), but accepts what waits in the socket's backlog first: no client that has
 * connected is turned away. Worker threads only.
 */
void listener_drain(struct listener **l);
/* Returns how many draining listeners may still accept a connection. */
unsigned listeners_draining(void);
int listener_fd(const struct listener *l);

/* Adds <n> to the number of connections that this thread owns, which hand-over balances. Called by
 * the owner when a connection is created (1) or closed (-1).
 */
void listener_thread_load_add(int n);

#endif
