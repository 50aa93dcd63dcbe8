/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* walk.h - commands of the Runtime API that go over the proxies and may stop between two
 *
 * The state of such a command begins with a struct proxy_walk, which holds the generation that it
 * began with: the proxies stay until the command is released, whatever a reload does.
 * Owns: its state, in rq->state. Threads: that of the session.
 */
#ifndef PROXY_WALK_H
#define PROXY_WALK_H

#include <stddef.h>

struct config;
struct ctl_request;
struct proxy;

struct proxy_walk {
	struct config *config;    /* counted */
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
