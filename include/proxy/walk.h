/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* walk.h - walks over the proxies, and frees removed ones when no walk needs them
 *
 * A backend or a server that was created and removed at run time is freed when no thread can hold a
 * pointer to it any more. Code that finds one by a lookup, or in a list, may use it for the rest of
 * this turn of its thread's loop. To keep it longer:
 *
 *	streams        are counted by their backend (CNT_SESS_CUR), as are waiters of its queue
 *	proxies_hold() keeps all that is removed from then on: for walks from proxy to proxy
 *	proxy_pin()    keeps this one; server_pin() for a server
 *	proxy_keep()   keeps this one as long as its generation: for scripts, which are not told of
 *	               its end; server_keep() for a server
 *
 * A command of the Runtime API that walks over proxies has a state that begins with a struct
 * proxy_walk. It also holds the generation that it began with: the proxies stay until the command
 * is released, whatever a reload does.
 *
 * Owns: the state of a walk is in rq->state. Threads: any; a walk runs on the session's thread.
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

/* Slow parts of the inline functions below, for servers that were added at run time. */
void server_pin_own(struct server_own *own);
void server_unpin_own(struct server_own *own);
void server_see_own(struct server_own *own);

struct proxy_hold {
	struct list link;
	uint64_t removals;        /* of the process, when the hold began */
};

/* Call before the first lookup of what must stay. <hold> belongs to the caller until the release.
 */
void proxies_hold(struct proxy_hold *hold);
void proxies_release(struct proxy_hold *hold);

/* Call in the turn in which the proxy was found; each pin needs one unpin. */
void proxy_pin(struct proxy *px);
void proxy_unpin(struct proxy *px);
void proxy_keep(struct proxy *px);

/* The same for a server, which may be removed before its backend. Servers of the file stay anyway.
 */
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

/* Marks <srv> (may be NULL) as used by this thread without a pin. Called by the look hook. */
static inline void server_see(struct server *srv)
{
	if (srv && srv->life.own)
		server_see_own(srv->life.own);
}

/* Keeps <srv> as long as its generation, like proxy_keep(). */
void server_keep(struct server *srv);

/* Frees a server with its own memory, which was removed from all lists, when no thread can hold a
 * pointer to it. Any thread, under config_edit_begin().
 */
void server_leaves(struct server *srv);

/* Installs the look hook, called on each thread while servers are to be freed: it calls
 * server_see() for the servers of the thread's streams. Installed by the stream floor at start-up.
 */
void proxies_set_look_hook(void (*fn)(void));

/* After proxy_withdraw(): frees <be> when no thread can hold a pointer to it, unless it comes from
 * the file. Any thread, under config_edit_begin().
 */
void proxy_leaves(struct proxy *be);

/* Installs a hook that is called on each thread before a removed server is freed: it drops the
 * thread's data about the server without using it, timers above all. Installed by the stream floor
 * at start-up.
 */
void proxies_set_forget_hook(void (*fn)(struct server *srv));

struct proxy_walk {
	struct config *config;    /* counted */
	struct proxy_hold hold;
	struct proxy *at;         /* the next one; NULL: no more */
	const struct proxy *only; /* NULL: all */
};

/* Allocates rq->state, <size> bytes that begin with the walk and are zeroed after it, and moves to
 * the first proxy. NULL: out of memory, reported.
 */
void *proxy_walk_begin(struct ctl_request *rq, size_t size);
/* The release() of the command. */
void proxy_walk_release(struct ctl_request *rq);

#endif
