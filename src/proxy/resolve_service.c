/* SPDX-License-Identifier: GPL-2.0-or-later */
/* resolve_service.c - servers that an SRV name makes: each takes one service of the answer
 *
 * New services are assigned first, then those that are gone are dropped: so a changed port is
 * served by another server before the old one goes. A service has a name, a port and a weight. Its
 * address is in the same answer, or is resolved.
 */
#include <stdio.h>
#include <string.h>
#include "base/bug.h"
#include "core/lock.h"
#include "proxy/proxy.h"
#include "resolve_priv.h"
#include "proxy_priv.h"
#include "server_priv.h"

#define REMOVED "entry removed from SRV record"

/* 0..65535 to 0..256: one that is not 0 stays so. */
static void set_weight(struct server *srv, unsigned weight)
{
	unsigned now = (weight + 255) / 256;
	const char *error;
	char text[16];

	if (srv->resolve.ignore_weight || server_weight(srv) == now)
		return;
	snprintf(text, sizeof(text), "%u", now);
	server_set_weight(srv, text, &error);
}

/* The port alone: the address is not known yet, or stays. */
static void set_port(struct server *srv, uint16_t port)
{
	struct server_addr a;
	struct addr addr;

	server_address(srv, &a);
	addr = addr_from_sockaddr(&a.sa, a.len);
	addr.port = port;
	a.len = addr_to_sockaddr(&addr, &a.sa);
	lock_take(&srv->proxy->state->change_lock);
	server_address_publish(srv->state, &a);
	lock_drop(&srv->proxy->state->change_lock);
}

static void set_address(struct resolve_state *ns)
{
	struct resolve_item *it = ns->item;

	if (it->addr.family != ADDR_NONE) {
		resolve_leave_address(ns);
		resolve_apply(ns, &it->addr, it->port, "DNS additional record");
	} else if (!ns->address.resolution) {
		resolve_ask_address(ns);
	}
}

/* Takes a service. Its address stays when it has the same name and port already. */
static void attach(struct resolve_state *ns, struct resolve_item *it)
{
	struct server *srv = ns->server;
	bool same = ns->name && strcmp(ns->name, it->name) == 0;
	char old[DNS_NAME_MAX + 1];

	resolve_name(srv, old, sizeof(old));
	ns->item = it;
	it->uses++;
	if (!same && !resolve_swap_name(srv, it->name))
		return;
	server_set_admin(srv, SERVER_HMAINT, 0);
	if (it->addr.family != ADDR_NONE)
		set_address(ns);
	else
		set_port(srv, it->port);
	__atomic_store_n(&srv->state->port_is_fixed, true, __ATOMIC_RELEASE);
	if (!same)
		proxy_log(srv->proxy, PROXY_EVENT_NOTICE, "%s/%s changed its FQDN from %s to %s "
			  "by 'SRV record'", srv->proxy->name, srv->name,
			  strcmp(old, "-") == 0 ? "(null)" : old, it->name);
	set_weight(srv, it->weight);
	set_address(ns);
}

static void detach(struct resolve_state *ns)
{
	resolve_leave_address(ns);
	ns->item = NULL;
	resolve_swap_name(ns->server, NULL);
	resolve_lose(ns, REMOVED);
}

/* --- sharing --------------------------------------------------------------------------------- */

/* One that came from a state file knows its service by name and port. */
static struct resolve_item *item_known(const struct resolve_state *ns, struct resolution *r)
{
	struct resolve_item *it;
	struct server_addr a;

	if (!ns->name)
		return NULL;
	server_address(ns->server, &a);
	list_for_each(it, resolution_items(r), link)
		if (!it->is_obsolete && !it->uses && strcmp(it->name, ns->name) == 0 &&
		    it->port == addr_from_sockaddr(&a.sa, a.len).port)
			return it;
	return NULL;
}

static void renew(struct resolve_state *ns)
{
	ns->item->uses++;
	if (ns->item->is_obsolete)
		return;
	set_weight(ns->server, ns->item->weight);
	set_address(ns);
}

/* The next service from <at> on that no server has; NULL: none. */
static struct resolve_item *item_free(struct resolution *r, struct list **at)
{
	const struct list *head = resolution_items(r);

	for (; *at != head; *at = (*at)->next) {
		struct resolve_item *it = list_entry(*at, struct resolve_item, link);

		if (!it->is_obsolete && !it->uses)
			return it;
	}
	return NULL;
}

static void share(struct resolution *r, struct resolve_state *first)
{
	struct list *at = resolution_items(r)->next;
	struct resolve_item *it;

	list_for_each(it, resolution_items(r), link)
		it->uses = 0;
	for (struct resolve_state *ns = first; ns; ns = resolve_group_next(ns, true))
		if (ns->item)
			renew(ns);
	for (struct resolve_state *ns = first; ns; ns = resolve_group_next(ns, true)) {
		it = ns->item ? NULL : item_known(ns, r);
		if (it)
			attach(ns, it);
		else if (!ns->item && ns->name)
			detach(ns);
	}
	for (struct resolve_state *ns = first; ns; ns = resolve_group_next(ns, true)) {
		it = ns->item ? NULL : item_free(r, &at);
		if (it)
			attach(ns, it);
	}
}

void resolve_service_told(struct resolve_asker *a, enum resolve_round round)
{
	struct resolve_state *ns = container_of(a, struct resolve_state, service);
	struct resolution *r = a->resolution;

	if (resolution_status(r) != RESOLVE_VALID) {
		if (resolution_is_lost(r) && ns->name)
			detach(ns);
	} else if (round == RESOLVE_LOSE) {
		if (ns->item && ns->item->is_obsolete)
			detach(ns);
	} else if (resolve_group_first(r, ns->server->proxy, true) == ns) {
		share(r, ns);
	}
}
