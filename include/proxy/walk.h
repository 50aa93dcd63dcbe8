/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* walk.h - walks over the proxies, and what waits until they are over
 *
 * A backend or a server that was made and removed at run time is freed when no thread can hold a
 * pointer to it any more. Code that finds one by a look-up, or in a list, may use it for the rest
 * of this turn of its thread's loop. To have it for longer there are:
 *
 *	streams        counted by their backend (CNT_SESS_CUR), as waiters of its queue are
 *	proxies_hold() from then on, what is removed stays: for walks from proxy to proxy
 *	proxy_pin()    this one stays; server_pin() for a server
 *	proxy_keep()   this one stays as long as its generation: for scripts, not told of its end;
 *	               server_keep() for a server
 *
 * The state of a command of the Runtime API that goes over them begins with a struct proxy_walk,
 * which holds the generation that it began with, too: the proxies stay until the command is
 * released, whatever a reload does.
 *
 * Owns: a walk its state, in rq->state. Threads: any; a walk that of the session.
 */
#ifndef PROXY_WALK_H
#define PROXY_WALK_H

#include <stddef.h>
#include <stdint.h>
#include "base/list.h"
#include "proxy/server.h"

struct config;
struct ctl_request;
struct proxy;

/* What the inline functions below do for servers that were added at run time. */
void server_pin_own(struct server_own *own);
void server_unpin_own(struct server_own *own);
void server_see_own(struct server_own *own);

struct proxy_hold {
	struct list link;
	uint64_t removals;        /* of the process, when it began */
};

/* Before the first look-up of what shall stay. <hold> is the caller's, until the release. */
void proxies_hold(struct proxy_hold *hold);
void proxies_release(struct proxy_hold *hold);

/* In the turn in which it was found; each pin is taken out once. */
void proxy_pin(struct proxy *px);
void proxy_unpin(struct proxy *px);
void proxy_keep(struct proxy *px);

/* The same of one server, which may leave before its backend. A server of the file stays anyway. */
static inline void server_pin(struct server *srv)
{
	if (srv->life.own)
		server_pin_own(srv->life.own);
}

static inline void server_unpin(struct server *srv)
{
	if (srv->life.own)
		server_unpin_own(srv->life.own);
}

/* <srv> (or NULL) is in use, and was not pinned: told by the look hook. */
static inline void server_see(struct server *srv)
{
	if (srv && srv->life.own)
		server_see_own(srv->life.own);
}

/* (proxy_keep(), too.) */
void server_keep(struct server *srv);

/* One with memory of its own was taken out of all lists: it is freed when no thread can hold a
 * pointer to it. Any thread, under config_edit_begin().
 */
void server_leaves(struct server *srv);

/* Called on each thread while servers are to be freed: server_see() of those that streams of the
 * thread have. The stream floor installs it, at the start.
 */
void proxies_set_look_hook(void (*fn)(void));

/* After proxy_withdraw(): <be> is freed when no thread can hold a pointer to it, unless it is of
 * the file. Any thread, under config_edit_begin().
 */
void proxy_leaves(struct proxy *be);

/* Called on each thread before a removed server is freed: it lets go of what the thread has of it
 * without using it, timers above all. The stream floor installs it, at the start.
 */
void proxies_set_forget_hook(void (*fn)(struct server *srv));

struct proxy_walk {
	struct config *config;    /* counted */
	struct proxy_hold hold;
	struct proxy *at;         /* the next one; NULL: no more */
	const struct proxy *only; /* NULL: all */
};

/* Makes rq->state, <size> bytes which begin with the walk, zeroed behind it; at the first proxy.
 * NULL: no memory, said.
 */
void *proxy_walk_begin(struct ctl_request *rq, size_t size);
/* The command's release. */
void proxy_walk_release(struct ctl_request *rq);

#endif
