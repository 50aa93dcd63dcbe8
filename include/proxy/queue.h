/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* queue.h - which requests wait for a slot on a server, and which one is next
 *
 * Purpose: a server with `maxconn` serves so many requests at once; the others wait here, on
 *          the server's queue (it was chosen: persistence, or only it may serve) or on the
 *          backend's queue (any server will do). A slot that gets free goes to the best waiter
 *          of both.
 * Knows  : servers and tasks. Does not know streams: granting a slot wakes a task.
 * Owns   : nothing. A waiter is a member of its owner, which must leave before it dies.
 * Threads: from any thread. One lock per backend, never held on return; it is taken neither
 *          when the server has no maxconn nor when it has room and the queue is empty.
 * Fails  : never (no allocation).
 * Manual : maxconn, minconn, maxqueue (server), fullconn, timeout queue (proxy).
 */
#ifndef PROXY_QUEUE_H
#define PROXY_QUEUE_H

#include <stdbool.h>
#include <stdint.h>
#include "base/tree.h"

struct proxy;
struct server;
struct task;

enum queue_state {
	QUEUE_OUT, QUEUE_ON_SERVER, QUEUE_ON_BACKEND, QUEUE_SLOT_GRANTED, QUEUE_RETURNED
};

struct queue_waiter {
	struct tree_node node;
	struct task *task;       /* woken with TASK_WOKEN_RES */
	struct proxy *backend;   /* borrowed: the owner's generation keeps it */
	struct server *server;   /* whose queue; NULL: the backend's */
	struct server *granted;  /* read after queue_leave() */
	unsigned state;          /* atomic: enum queue_state */
	unsigned since;          /* how many the queue had served when it entered */
	unsigned position;       /* after queue_leave(): in how many-th place it left, from 1 */
};

enum queue_result {
	QUEUE_WAITING,  /* the task will be woken; a timer is the caller's affair */
	QUEUE_GRANTED,  /* a slot of w->granted is ours already */
	QUEUE_REFUSED,  /* the server's maxqueue is reached: try another or answer 503 */
};

static inline void queue_waiter_init(struct queue_waiter *w, struct task *task)
{
	*w = (struct queue_waiter){ .task = task };
}

/* Takes a slot of <srv> for one request. False: it is full or others wait for it already. With
 * no limit it always succeeds and writes only to this group's lines. It counts CNT_SESS_CUR of
 * the server and tells the balancing; the other counters are the caller's. Each success, also a
 * grant collected by queue_leave(), is paired with one server_slot_release() on the same thread.
 */
bool server_slot_take(struct server *srv);
/* Gives a slot back; when requests wait, it goes to the best of them. */
void server_slot_release(struct server *srv);
/* Has <srv> room now (for balancing)? Racy by nature. */
bool server_has_room(const struct server *srv);
/* The limit that applies now: maxconn, or less with minconn and fullconn; 0: none. */
int64_t server_limit(const struct server *srv);

/* Puts <w> behind its equals: <srv> NULL means the backend's queue. <priority_class>
 * (-2047..2047) sorts first, then the time of arrival plus <offset_ms> (-524287..524287).
 */
enum queue_result queue_enter(struct queue_waiter *w, struct proxy *be, struct server *srv,
			      int priority_class, int offset_ms);
/* To be called when the task was woken or gives up. Returns QUEUE_SLOT_GRANTED: the caller owns
 * a slot of w->granted. QUEUE_RETURNED: taken out by a redistribution, choose a server again.
 * QUEUE_OUT: it was still waiting (or not queued); it no longer is.
 */
enum queue_state queue_leave(struct queue_waiter *w);
/* What a woken task looks at without leaving. */
static inline enum queue_state queue_waiter_state(const struct queue_waiter *w)
{
	return (enum queue_state)__atomic_load_n(&w->state, __ATOMIC_ACQUIRE);
}

/* Sends the waiters of <srv>'s queue back to choose again (it went down or to maintenance).
 * Those that must stay on it (<keep>, e.g. persistence) are the caller's to queue again.
 * Returns how many.
 */
unsigned queue_redistribute(struct server *srv);
/* Grants slots that have appeared otherwise (limit raised, server back). */
void queue_wake(struct proxy *be, struct server *srv);

/* Waiters now. */
unsigned queue_length_server(const struct server *srv);
unsigned queue_length_backend(const struct proxy *be); /* without the servers' */

#endif
