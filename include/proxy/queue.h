/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* queue.h - the queues of requests that wait for a slot of a server
 *
 * Purpose: a server with `maxconn` serves only so many requests at a time. Others wait here: in the
 *          server's queue (persistence or balancing chose it) or in the backend's queue (any server
 *          will do). A free slot goes to the best waiter of both.
 * Knows  : servers and tasks. It does not know streams: granting a slot wakes a task.
 * Owns   : nothing. A waiter is a member of its owner, which must leave the queue before it is
 *          freed.
 * Threads: any thread. One lock per backend, never held on return; it is not taken when the server
 *          has no maxconn, or has room and no queue.
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
	struct proxy *backend;   /* borrowed: its generation is held by the owner */
	struct server *server;   /* whose queue; NULL: the backend's */
	struct server *granted;  /* valid after queue_leave() */
	unsigned state;          /* atomic: enum queue_state */
	unsigned since;          /* how many waiters the queue had served when it entered */
	unsigned position;       /* after queue_leave(): its position when it left, from 1 */
};

enum queue_result {
	QUEUE_WAITING,  /* the task will be woken; timeouts are up to the caller */
	QUEUE_GRANTED,  /* the caller already owns a slot of w->granted */
	QUEUE_REFUSED,  /* the server's maxqueue is reached: try another server or answer 503 */
};

static inline void queue_waiter_init(struct queue_waiter *w, struct task *task)
{
	*w = (struct queue_waiter){ .task = task };
}

/* Takes a slot of <srv> for one request. False: it is full, or others are already waiting. Without
 * a limit it always succeeds and writes only to this group's cache lines. Updates CNT_SESS_CUR of
 * the server and the balancing; other counters are up to the caller. Each success, including a
 * grant collected by queue_leave(), needs one server_slot_release() on the same thread.
 */
bool server_slot_take(struct server *srv);
/* Gives a slot back; if requests wait, it goes to the best of them. */
void server_slot_release(struct server *srv);
/* Has <srv> room now, for balancing? The answer may be outdated. */
bool server_has_room(const struct server *srv);
/* Returns the current limit: maxconn, or less with minconn and fullconn; 0: none. */
int64_t server_limit(const struct server *srv);

/* Inserts <w> after its equals; <srv> NULL: into the backend's queue. Sorted by <priority_class>
 * (-2047..2047), then by time of arrival plus <offset_ms> (-524287..524287).
 */
enum queue_result queue_enter(struct queue_waiter *w, struct proxy *be, struct server *srv,
			      int priority_class, int offset_ms);
/* Call when the task was woken, or to give up. QUEUE_SLOT_GRANTED: the caller owns a slot of
 * w->granted. QUEUE_RETURNED: removed by a redistribution, choose a server again. QUEUE_OUT: it was
 * still waiting (or not queued), and is now removed.
 */
enum queue_state queue_leave(struct queue_waiter *w);
/* Returns the state for a woken task, without leaving. */
static inline enum queue_state queue_waiter_state(const struct queue_waiter *w)
{
	return (enum queue_state)__atomic_load_n(&w->state, __ATOMIC_ACQUIRE);
}

/* Makes all waiters in the queue of <srv> leave it with QUEUE_RETURNED, so that they choose a
 * server again (it went down or to maintenance). Returns how many.
 */
unsigned queue_redistribute(struct server *srv);
/* Grants slots that became free in another way (limit raised, server back). */
void queue_wake(struct proxy *be, struct server *srv);

/* Return the number of waiters now. */
unsigned queue_length_server(const struct server *srv);
unsigned queue_length_backend(const struct proxy *be); /* without the servers' queues */

#endif
