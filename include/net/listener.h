/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* listener.h - a listening socket shared by threads, and which thread gets what it accepts
 *
 * Purpose: threads of the set poll the same socket; a thread that wakes accepts a few connections,
 *          keeps them or hands them to a less loaded thread of the set by its mailbox
 *          (tune.listener.multi-queue).
 * Owns   : its descriptor (closed by listener_close), its seats.
 * Threads: made and closed by any thread; accept callbacks run on the thread that will own the
 *          connection.
 * Full   : when a limit is reached the owner pauses it; connections wait in the kernel's backlog.
 * Errors : EMFILE and its kin pause it for 100 ms.
 */
#ifndef NET_LISTENER_H
#define NET_LISTENER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include "base/addr.h"

struct listener;

/* What is to be done with datagrams. HOLD: those of known clients only are served. */
enum listener_wish { LISTENER_READ, LISTENER_HOLD, LISTENER_LEAVE };

struct listener_user {
	/* A connection, on its thread. <src>: ADDR_UNIX when there is no internet address. */
	void (*accept)(void *owner, int fd, const struct addr *src);
	/* May one more be accepted now? True takes a place for it: the next accept() has it, or
	 * give_back() returns it. False pauses the listener; the owner resumes it. *wait_ms > 0: it
	 * resumes by itself after that time.
	 */
	bool (*may_accept)(void *owner, unsigned *wait_ms);
	void (*give_back)(void *owner);
	/* Does this thread take part? */
	bool (*uses_thread)(void *owner, unsigned thread);
	/* A socket of datagrams, instead of accept(), may_accept() and give_back(): on a thread
	 * that takes part, what is to be done with it from now on. The first call there begins;
	 * behind LISTENER_LEAVE comes none. NULL: a socket of streams.
	 */
	void (*datagrams)(void *owner, int fd, enum listener_wish wish);
	/* The name of the frontend, for `show fd`. */
	const char *(*name)(void *owner);
};

/* Takes over the descriptor. Nothing is polled before listener_start_thread(). NULL: no memory. */
struct listener *listener_new(int fd, const struct listener_user *user, void *owner,
			      unsigned max_accept);
/* Begins to poll on the calling thread, if it is one of the set. */
void listener_start_thread(struct listener *l);
/* Stops accepting everywhere / starts again; from any thread, at any time. */
void listener_pause(struct listener *l);
void listener_resume(struct listener *l);
/* Accepts what waits, even if the kernel has told another process of it, which has ended. From any
 * thread, at any time.
 */
void listener_look_again(struct listener *l);
/* Stops for good and closes the socket once every thread has left it. NULLs. From any thread. */
void listener_close(struct listener **l);
/* Stops accepting and frees it, as above, but accepts what waits in the socket's backlog first: no
 * client that has connected is turned away. From a thread of the loops.
 */
void listener_drain(struct listener **l);
/* How many of the draining ones may still accept a connection. */
unsigned listeners_draining(void);
int listener_fd(const struct listener *l);

/* Connections that this thread owns now: what hand-over balances. Called by the owner when a
 * connection is created or closed.
 */
void listener_thread_load_add(int n);

#endif
