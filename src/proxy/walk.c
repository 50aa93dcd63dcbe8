/* SPDX-License-Identifier: GPL-2.0-or-later */
/* walk.c - see proxy/walk.h */
#include "proxy/walk.h"
#include <stdlib.h>
#include "conf/conf.h"
#include "ctl/ctl.h"
#include "proxy/proxy.h"

void *proxy_walk_begin(struct ctl_request *rq, size_t size)
{
	struct proxy_walk *walk = calloc(1, size);

	if (!walk) {
		ctl_error(rq, "Out of memory.");
		return NULL;
	}
	walk->config = config_take(proxies_current());
	walk->at = proxies_first(walk->config);
	rq->state = walk;
	return walk;
}

void proxy_walk_release(struct ctl_request *rq)
{
	struct proxy_walk *walk = rq->state;

	if (!walk)
		return;
	rq->state = NULL;
	config_drop(&walk->config);
	free(walk);
}
