/* SPDX-License-Identifier: GPL-2.0-or-later */
/* resolve_state.c - the name that a server has now: set on one thread, read on all */
#include "resolve_priv.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "core/lock.h"
#include "proxy/proxy.h"

void resolve_name(const struct server *srv, char *out, size_t size)
{
	struct resolve_state *ns = srv->state->resolve;
	const char *name = srv->at.hostname;

	if (ns)
		lock_take(&srv->proxy->state->change_lock);
	if (ns)
		name = ns->name;
	snprintf(out, size, "%s", name ? name : "-");
	if (ns)
		lock_drop(&srv->proxy->state->change_lock);
}

bool resolve_swap_name(struct server *srv, const char *name)
{
	unsigned *lock = &srv->proxy->state->change_lock;
	struct resolve_state *ns = srv->state->resolve;
	char *copy = name ? strdup(name) : NULL, *old;

	if (name && !copy)
		return false;
	lock_take(lock);
	old = ns->name;
	ns->name = copy;
	lock_drop(lock);
	free(old);
	return true;
}

void resolve_state_free(struct resolve_state **pns)
{
	struct resolve_state *ns = *pns;

	*pns = NULL;
	if (!ns)
		return;
	BUG_ON(ns->address.resolution || ns->service.resolution);
	free(ns->name);
	free(ns);
}
