/* SPDX-License-Identifier: GPL-2.0-or-later */
/* resolve_init.c - the first address of a server given by name: in the check phase
 *
 * Before a server has a state, all methods of init-addr except `last` are tried: state files are
 * read later, and then set the address if `last` precedes the method that succeeded.
 */
#include <string.h>
#include "conf/conf.h"
#include "proxy/address.h"
#include "proxy/proxy.h"
#include "resolve_priv.h"
#include "proxy_priv.h"

static const struct diag_place nowhere = { .form = DIAG_BARE };

/* About the name on the server's line, which is shown. */
#define say(d, level, srv, fmt, ...) \
	diag_add(d, level, &(struct diag_place){ .form = DIAG_BARE, \
		 .text = (srv)->resolve.line_text, .column = (srv)->resolve.column }, NULL, \
		 "[%s:%d] : 'server %s/%s' : " fmt, (srv)->place.file, (srv)->place.line, \
		 (srv)->proxy->name, (srv)->name, ##__VA_ARGS__)

bool resolve_add_method(struct resolve *n, enum resolve_method method)
{
	if (n->method_count == RESOLVE_METHODS_MAX)
		return false;
	n->methods[n->method_count++] = (unsigned char)method;
	return true;
}

static bool set_first(struct server *srv, const struct server_addr *addr)
{
	int port = address_port(srv->at.sa);
	struct sockaddr *copy = arena_alloc(&srv->proxy->config->arena, addr->len);

	if (!copy)
		return false;
	memcpy(copy, &addr->sa, addr->len);
	address_set_port(copy, port);
	server_set_line_address(srv, copy, addr->len);
	return true;
}

static bool init_by(struct server *srv, enum resolve_method method, struct diag_list *d)
{
	struct server_addr addr = { 0 };

	switch (method) {
	case RESOLVE_LAST:
		return false;
	case RESOLVE_NONE:
		srv->at.unresolved = true;
		return true;
	case RESOLVE_IP:
		addr.len = addr_to_sockaddr(srv->resolve.ip, &addr.sa);
		return set_first(srv, &addr);
	case RESOLVE_LIBC:
		break;
	}
	if (address_of_name(srv->at.hostname, srv->resolve.family, &addr))
		return set_first(srv, &addr);
	return false;
}

/* Tries the methods in turn. Without a list: `last`, then the C library. */
static void init_name(struct server *srv, struct diag_list *d)
{
	struct resolve *n = &srv->resolve;
	bool libc_failed = false;

	if (!n->method_count) {
		resolve_add_method(n, RESOLVE_LAST);
		resolve_add_method(n, RESOLVE_LIBC);
		/* with name servers at hand nothing is lost */
		if (n->resolvers)
			resolve_add_method(n, RESOLVE_NONE);
	}
	if (proxies_of(srv->proxy->config)->may_lack_addresses)
		resolve_add_method(n, RESOLVE_NONE);
	for (n->used = 0; n->used < n->method_count; n->used++) {
		if (init_by(srv, n->methods[n->used], d))
			break;
		libc_failed |= n->methods[n->used] == RESOLVE_LIBC;
	}
	if (libc_failed && srv->at.unresolved)
		say(d, DIAG_NOTICE, srv, "could not resolve address '%s', disabling server.",
		    srv->at.hostname);
	n->failed = n->used == n->method_count;
	srv->at.unresolved |= n->failed;
}

static void find_resolvers(struct server *srv, struct diag_list *d)
{
	struct resolve *n = &srv->resolve;
	const char *name = n->service ? n->service : srv->at.hostname;
	size_t len = name ? strlen(name) : 0;

	if (!n->resolvers_name)
		return;
	n->resolvers = resolvers_find(srv->proxy->config, n->resolvers_name);
	if (!n->resolvers) {
		diag_add(d, DIAG_ALERT, &nowhere, NULL, "backend '%s', server '%s': unable to find "
			 "required resolvers '%s'", srv->proxy->name, srv->name,
			 n->resolvers_name);
		return;
	}
	len -= len && name[len - 1] == '.';
	if (name && !dns_name_is_valid(slice_make(name, len)))
		diag_add(d, DIAG_ALERT, &nowhere, NULL, "config : [%s:%d] : 'server %s/%s' : "
			 "Can't create DNS resolution for server '%s'", srv->place.file,
			 srv->place.line, srv->proxy->name, srv->name, srv->name);
}

void resolve_init_address(struct server *srv, struct diag_list *diags)
{
	find_resolvers(srv, diags);
	if (srv->at.hostname)
		init_name(srv, diags);
	else if (srv->resolve.service)
		srv->at.unresolved = true;
}

bool resolve_takes_last(const struct server *srv)
{
	const struct resolve *n = &srv->resolve;

	if (n->service)
		return true;
	for (unsigned i = 0; i < n->used; i++)
		if (n->methods[i] == RESOLVE_LAST)
			return true;
	return false;
}

void resolve_set_last(struct server *srv, const struct addr *addr)
{
	struct server_addr to = { 0 };

	to.len = addr_to_sockaddr(addr, &to.sa);
	if (!srv->resolve.service && !srv->port_is_mapped)
		address_set_port((struct sockaddr *)&to.sa, address_port(srv->at.sa));
	memcpy(&srv->state->address, &to.sa, to.len);
	srv->state->address_len = to.len;
	srv->state->port_is_fixed = srv->resolve.service != NULL;
	srv->state->admin &= ~(unsigned)SERVER_RMAINT;
	srv->state->oper = srv->state->admin & SERVER_MAINT ? SERVER_STOPPED : SERVER_RUNNING;
	srv->resolve.failed = false;
	srv->at.unresolved = false;
}

/* Behind the state files: nothing will help any more. */
void resolve_all_check(struct config *cfg, struct diag_list *diags)
{
	struct server *srv;
	bool failed = false;

	for (struct proxy *px = proxies_first(cfg); px; px = proxy_next(px)) {
		list_for_each(srv, &px->servers, link) {
			const struct resolve *n = &srv->resolve;

			if (!n->failed)
				continue;
			failed = true;
			if (memchr(n->methods, RESOLVE_LIBC, n->method_count))
				say(diags, DIAG_ALERT, srv, "could not resolve address '%s'.",
				    srv->at.hostname);
			else
				say(diags, DIAG_ALERT, srv, "no method found to resolve address "
				    "'%s'.", srv->at.hostname);
		}
	}
	if (failed)
		diag_add(diags, DIAG_ALERT, &nowhere, NULL, "Failed to initialize server(s) addr.");
}
