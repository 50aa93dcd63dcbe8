/* SPDX-License-Identifier: GPL-2.0-or-later */
/* resolve.c - names of servers at run time: the resolution of each, across reloads and commands
 *
 * The resolution that a server uses belongs to its state. When another generation has the same
 * server, it continues to use the same resolution, and only the server to be updated changes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "conf/conf.h"
#include "core/lock.h"
#include "core/mailbox.h"
#include "core/thread.h"
#include "proxy/proxy.h"
#include "resolve_priv.h"

/* --- asking ----------------------------------------------------------------------------------- */

/* As names are asked for: lower case, no final dot. False: it is none. */
static bool plain_name(const char *name, char out[static DNS_NAME_MAX + 1])
{
	size_t len = strlen(name);

	len -= len && name[len - 1] == '.';
	if (!dns_name_is_valid(slice_make(name, len)))
		return false;
	for (size_t i = 0; i < len; i++)
		out[i] = ascii_lower(name[i]);
	out[len] = 0;
	return true;
}

/* Asks for <name>, and for nothing else; NULL: for nothing. Returns whether it did already. */
static bool ask(struct resolve_state *ns, struct resolve_asker *a, const char *name,
		enum dns_type type)
{
	struct resolvers *section = ns->server->resolve.resolvers;
	char plain[DNS_NAME_MAX + 1];

	if (!name || !section || !plain_name(name, plain)) {
		resolution_leave(a);
		return false;
	}
	if (a->resolution && resolution_is_of(a->resolution, section, plain, type))
		return true;
	resolution_leave(a);
	resolution_join(a, section, plain, type);
	return false;
}

void resolve_leave_address(struct resolve_state *ns)
{
	resolution_leave(&ns->address);
	ns->own = NULL;
}

void resolve_ask_address(struct resolve_state *ns)
{
	if (!ask(ns, &ns->address, ns->name, ns->server->resolve.prefer_ipv4 ? DNS_A : DNS_AAAA))
		ns->own = NULL;
}

struct resolve_state *resolve_group_next(struct resolve_state *ns, bool service)
{
	struct resolve_asker *a = service ? &ns->service : &ns->address;
	const struct list *head = resolution_askers(a->resolution);
	const struct proxy *be = ns->server->proxy;

	for (struct list *at = a->link.next; at != head; at = at->next) {
		struct resolve_asker *other = list_entry(at, struct resolve_asker, link);

		if (other->told != a->told)
			continue;
		ns = service ? container_of(other, struct resolve_state, service)
			     : container_of(other, struct resolve_state, address);
		if (ns->server->proxy == be)
			return ns;
	}
	return NULL;
}

struct resolve_state *resolve_group_first(struct resolution *r, const struct proxy *be,
					bool service)
{
	const struct list *head = resolution_askers(r);

	for (struct list *at = head->next; at != head; at = at->next) {
		struct resolve_asker *a = list_entry(at, struct resolve_asker, link);
		struct resolve_state *ns = NULL;

		if (service && a->told == resolve_service_told)
			ns = container_of(a, struct resolve_state, service);
		else if (!service && a->told == resolve_address_told)
			ns = container_of(a, struct resolve_state, address);
		if (ns && ns->server->proxy == be)
			return ns;
	}
	return NULL;
}

/* --- generations ------------------------------------------------------------------------------ */

static struct resolve_state *state_make(struct server *srv)
{
	struct resolve_state *ns = srv->state->resolve;

	if (ns)
		return ns;
	ns = calloc(1, sizeof(*ns));
	if (!ns)
		return NULL;
	if (srv->at.hostname) {
		ns->name = strdup(srv->at.hostname);
		if (!ns->name) {
			free(ns);
			return NULL;
		}
	}
	ns->address.told = resolve_address_told;
	ns->service.told = resolve_service_told;
	list_init(&ns->address.link);
	list_init(&ns->service.link);
	ns->server = srv;
	__atomic_store_n(&srv->state->resolve, ns, __ATOMIC_RELEASE);
	return ns;
}

static bool begin(struct server *srv)
{
	struct resolve_state *ns = state_make(srv);

	if (!ns)
		return false;
	ns->server = srv;
	if (srv->resolve.service && !ask(ns, &ns->service, srv->resolve.service, DNS_SRV))
		ns->item = NULL;
	if (!srv->resolve.service || (ns->item && ns->item->addr.family == ADDR_NONE))
		resolve_ask_address(ns);
	return true;
}

static void stop(struct resolve_state *ns)
{
	ns->taken = (struct addr){ .family = ADDR_NONE };
	resolve_leave_address(ns);
	resolution_leave(&ns->service);
	ns->item = NULL;
}

/* Its state may be that of a server of the next generation: that one is asked about now. */
static void end(struct server *srv)
{
	struct resolve_state *ns = srv->state ? srv->state->resolve : NULL;

	if (!ns || ns->server != srv)
		return;
	stop(ns);
	ns->server = NULL;
}

bool resolve_all_begin(struct config *cfg, const struct config *prev)
{
	struct server *srv;
	bool good;

	good = resolvers_begin(cfg, prev);
	for (struct proxy *px = proxies_first(cfg); px; px = proxy_next(px))
		list_for_each(srv, &px->servers, link)
			if (!px->disabled && srv->resolve.resolvers)
				good = begin(srv) && good;
	return good;
}

void resolve_all_end(const struct config *cfg)
{
	for (struct proxy *px = proxies_first(cfg); px; px = proxy_next(px))
		for (struct server *srv = server_first(px); srv; srv = server_next(srv))
			end(srv);
	resolvers_end(cfg);
}

/* --- from other threads ----------------------------------------------------------------------- */

struct resolve_order {
	struct message message;
	struct server *server;
	struct config *config; /* counted */
};

/* False: no memory. */
static bool order_send(struct server *srv, void (*run)(struct message *m))
{
	struct resolve_order *o = calloc(1, sizeof(*o));

	if (!o)
		return false;
	o->server = srv;
	o->config = config_take(srv->proxy->config);
	o->message.run = run;
	mailbox_post(0, &o->message);
	return true;
}

/* Runs the order, unless no server uses that resolution any more. */
static void order_run(struct message *m, void (*run)(struct resolve_state *ns))
{
	struct resolve_order *o = container_of(m, struct resolve_order, message);
	struct resolve_state *ns = o->server->state->resolve;

	if (ns && ns->server)
		run(ns);
	config_drop(&o->config);
	free(o);
}

static void hurry(struct resolve_state *ns)
{
	resolution_hurry(&ns->address);
}

static void name_changed(struct message *m)
{
	order_run(m, resolve_ask_address);
}

static void asked_to_hurry(struct message *m)
{
	order_run(m, hurry);
}

void resolve_hurry(struct server *srv)
{
	if (srv->resolve.resolvers)
		order_send(srv, asked_to_hurry);
}

bool resolve_set_name(struct server *srv, const char *name, char *message, size_t size)
{
	struct resolve_state *ns = srv->state->resolve;
	char old[DNS_NAME_MAX + 1], plain[DNS_NAME_MAX + 1];

	if (!ns) {
		snprintf(message, size, "set server <b>/<s> fqdn failed because no resolution is "
			 "configured.");
		return false;
	}
	if (srv->resolve.service) {
		snprintf(message, size, "set server <b>/<s> fqdn failed because SRV resolution is "
			 "configured.");
		return false;
	}
	resolve_name(srv, old, sizeof(old));
	if (strcasecmp(old, name) == 0) {
		snprintf(message, size, "no need to change the FDQN by 'stats socket command'");
		return true;
	}
	if (!plain_name(name, plain) || !resolve_swap_name(srv, name) ||
	    !order_send(srv, name_changed)) {
		snprintf(message, size, "could not update %s/%s FQDN by 'stats socket command'",
			 srv->proxy->name, srv->name);
		return false;
	}
	server_set_admin(srv, SERVER_HMAINT, 0);
	snprintf(message, size, "%s/%s changed its FQDN from %s to %s by 'stats socket command'",
		 srv->proxy->name, srv->name, strcmp(old, "-") == 0 ? "(null)" : old, name);
	return true;
}

void resolve_restore_name(struct server *srv, const char *name)
{
	struct resolve_state *ns;
	char plain[DNS_NAME_MAX + 1];

	if (!srv->resolve.resolvers || !plain_name(name, plain))
		return;
	ns = state_make(srv);
	if (ns && resolve_swap_name(srv, name) && !srv->resolve.service)
		srv->state->admin |= SERVER_HMAINT;
}
