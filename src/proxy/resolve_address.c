/* SPDX-License-Identifier: GPL-2.0-or-later */
/* resolve_address.c - chooses the address of a name for a server
 *
 * The servers of a backend that resolve the same name share its addresses: none is used twice,
 * unless a server may. Addresses are preferred, in this order, if they are in a network of
 * resolve-net, of the preferred family, not used by another server, and already used by this
 * server.
 */
#include <stdio.h>
#include <string.h>
#include "base/bug.h"
#include "core/lock.h"
#include "proxy/proxy.h"
#include "resolve_priv.h"
#include "proxy_priv.h"
#include "server_priv.h"

enum score { SCORE_OWN = 1, SCORE_ALONE = 2, SCORE_FAMILY = 4, SCORE_NET = 8 };

static bool is_lost(const struct server *srv)
{
	return __atomic_load_n(&srv->state->admin, __ATOMIC_RELAXED) & SERVER_RMAINT;
}

/* The address that the server uses; ADDR_NONE while it has none. */
static struct addr current(const struct server *srv)
{
	struct server_addr a;

	if (is_lost(srv))
		return (struct addr){ .family = ADDR_NONE };
	server_address(srv, &a);
	return addr_from_sockaddr(&a.sa, a.len);
}

/* What it has of the answers; at first, what it had before it asked. */
static struct addr own_of(const struct resolve_state *ns)
{
	return ns->taken.family != ADDR_NONE ? ns->taken : current(ns->server);
}

/* --- taking ---------------------------------------------------------------------------------- */

static void publish(struct server *srv, const struct addr *addr)
{
	struct server_addr to = { 0 };

	to.len = addr_to_sockaddr(addr, &to.sa);
	lock_take(&srv->proxy->state->change_lock);
	server_address_publish(srv->state, &to);
	lock_drop(&srv->proxy->state->change_lock);
}

void resolve_apply(struct resolve_state *ns, const struct addr *addr, int port, const char *source)
{
	struct server *srv = ns->server;
	struct addr old = current(srv), now = *addr;
	char from[ADDR_IP_MAX] = "(none)", to[ADDR_IP_MAX], ports[64] = "";
	struct server_addr raw;

	server_address(srv, &raw);
	now.port = addr_from_sockaddr(&raw.sa, raw.len).port;
	if (port > 0 && port != now.port) {
		snprintf(ports, sizeof(ports), ", port changed from '%s%u' to '%d'",
			 srv->state->port_is_fixed ? "" : "+", now.port, port);
		now.port = (uint16_t)port;
	}
	ns->taken = *addr;
	if (!addr_eq_ip(&old, &now) || *ports) {
		if (old.family != ADDR_NONE)
			addr_put_ip(&old, from, sizeof(from));
		addr_put_ip(&now, to, sizeof(to));
		publish(srv, &now);
		proxy_tell(srv->proxy, PROXY_EVENT_NOTICE, "%s/%s: IP changed from '%s' to "
			   "'%s'%s by '%s'.", srv->proxy->name, srv->name, from, to, ports, source);
	}
	if (is_lost(srv))
		server_set_resolved(srv, true, "");
}

/* The address stays, for streams that are on the way to it. */
void resolve_lose(struct resolve_state *ns, const char *why)
{
	ns->taken = (struct addr){ .family = ADDR_NONE };
	ns->own = NULL;
	if (!is_lost(ns->server))
		server_set_resolved(ns->server, false, why);
}

/* Why a resolution that is lost ended so. */
static const char *resolve_reason(const struct resolution *r)
{
	switch (resolution_status(r)) {
	case RESOLVE_NX:
		return "DNS NX status";
	case RESOLVE_REFUSED:
		return "DNS refused status";
	case RESOLVE_TIMEOUT:
		return "DNS timeout status";
	default:
		return "unspecified DNS error";
	}
}

/* --- choosing -------------------------------------------------------------------------------- */

static bool is_near(const struct resolve *n, const struct addr *addr)
{
	for (unsigned i = 0; i < n->net_count; i++)
		if (addr_is_in(addr, &n->nets[i].addr, n->nets[i].bits))
			return true;
	return false;
}

static struct resolve_item *item_of(const struct resolution *r, const struct addr *addr)
{
	struct resolve_item *it;

	if (addr->family == ADDR_NONE)
		return NULL;
	list_for_each(it, resolution_items(r), link)
		if (!it->is_obsolete && addr_eq_ip(&it->addr, addr))
			return it;
	return NULL;
}

/* Its record; NULL: it has none, or the answer has it no more. */
static struct resolve_item *own_item(const struct resolve_state *ns, const struct resolution *r)
{
	struct addr addr;

	if (ns->own)
		return ns->own->is_obsolete ? NULL : ns->own;
	addr = own_of(ns);
	return item_of(r, &addr);
}

/* How good <it> is; 0: it may not be taken. */
static unsigned score(const struct resolve *n, const struct resolve_item *it, bool own)
{
	enum addr_family preferred = n->prefer_ipv4 ? ADDR_INET : ADDR_INET6;
	bool alone = it->uses == own;

	if (it->is_obsolete || (!alone && !n->may_duplicate))
		return 0;
	return 16 + (is_near(n, &it->addr) ? SCORE_NET : 0) +
	       (it->addr.family == preferred ? SCORE_FAMILY : 0) + (alone ? SCORE_ALONE : 0) +
	       (own ? SCORE_OWN : 0);
}

static struct resolve_item *choose(const struct resolution *r, const struct resolve *n,
				   struct resolve_item *own)
{
	unsigned best = own ? score(n, own, true) : 0, s;
	struct resolve_item *it, *found = best ? own : NULL;

	if (found && own->uses == 1 && !n->net_count &&
	    (own->addr.family == ADDR_INET) == n->prefer_ipv4)
		return found;
	list_for_each(it, resolution_items(r), link) {
		s = score(n, it, it == own);
		if (s > best) {
			best = s;
			found = it;
		}
	}
	return found;
}

/* --- sharing --------------------------------------------------------------------------------- */

static void take_one(struct resolve_state *ns, struct resolution *r, const char *source, bool first)
{
	const struct resolve *n = &ns->server->resolve;
	struct resolve_item *own = own_item(ns, r), *it = choose(r, n, own);

	if (own)
		own->uses--;
	ns->own = it;
	if (!it) {
		resolve_lose(ns, "No IP for server ");
		return;
	}
	it->uses++;
	if (it == own && ns->taken.family != ADDR_NONE)
		return;
	if (it != own && first)
		resolution_count_update(r);
	resolve_apply(ns, &it->addr, 0, source);
}

static void share(struct resolution *r, const struct proxy *be, struct resolve_state *first)
{
	struct resolve_item *it;
	char source[300];

	list_for_each(it, resolution_items(r), link)
		it->uses = 0;
	for (struct resolve_state *ns = first; ns; ns = resolve_group_next(ns, false)) {
		it = own_item(ns, r);
		if (it)
			it->uses++;
	}
	resolution_source(r, source, sizeof(source));
	for (struct resolve_state *ns = first; ns; ns = resolve_group_next(ns, false))
		take_one(ns, r, ns == first ? source : "DNS cache", ns == first);
}

/* The first of a backend's servers to be told does it for all of them. */
void resolve_address_told(struct resolve_asker *a, enum resolve_round round)
{
	struct resolve_state *ns = container_of(a, struct resolve_state, address);
	struct resolution *r = a->resolution;

	if (resolution_status(r) != RESOLVE_VALID) {
		if (resolution_is_lost(r))
			resolve_lose(ns, resolve_reason(r));
		return;
	}
	if (round == RESOLVE_TAKE && resolve_group_first(r, ns->server->proxy, false) == ns)
		share(r, ns->server->proxy, ns);
}
