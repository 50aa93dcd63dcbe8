/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reverse.c - rhttp@: checks of bind lines and servers of reverse HTTP after all sections are read
 *
 * A line `bind rhttp@backend/server` opens connections to a server and then serves requests that
 * arrive on them. The server must speak HTTP/2 and have an address.
 */
#include <string.h>
#include "base/diag.h"
#include "conf/conf.h"
#include "mux/mux.h"
#include "proxy/bind.h"
#include "proxy/proxy.h"
#include "proxy/server.h"
#include "tls/tls.h"
#include "proxy_priv.h"

#define SAY(d, ...) diag_add(d, DIAG_ALERT, &(struct diag_place){ .form = DIAG_BARE }, NULL, \
			     __VA_ARGS__)

static bool speaks_h2(const struct server *srv)
{
	const struct slot_area *slots = server_slots(srv);
	const struct mux_kind *h2 = mux_find("h2");

	if (srv->mux.forced)
		return srv->mux.forced == h2;
	return h2 && tls_server_is_on(slots) && tls_server_offers(slots, mux_protocol(h2));
}

/* What is wrong with the server that <l> names, in <error>; NULL: it is found, *out. */
static const char *find_target(const struct listener_conf *l, struct server **out, char *error,
			       size_t size)
{
	const struct config *cfg = l->bind->proxy->config;
	const char *slash = strchr(l->reverse, '/');
	char backend[256];
	struct proxy *be;

	if (!slash || !slash[1] || (size_t)(slash - l->reverse) >= sizeof(backend)) {
		snprintf(error, size, "Invalid server name: '%s'", l->reverse);
		return error;
	}
	snprintf(backend, sizeof(backend), "%.*s", (int)(slash - l->reverse), l->reverse);
	be = proxy_find(cfg, backend, PROXY_BE);
	*out = be ? server_find(be, slash + 1) : NULL;
	if (!be)
		snprintf(error, size, "No such backend: '%s'", backend);
	else if (!*out)
		snprintf(error, size, "No such server: '%s'", l->reverse);
	else if ((*out)->is_reverse)
		snprintf(error, size, "Cannot use reverse HTTP server '%s' as target to a reverse "
			 "bind", l->reverse);
	else if ((*out)->at.is_any || (*out)->port_is_mapped)
		snprintf(error, size, "Cannot use transparent server '%s' as target to a reverse "
			 "bind", l->reverse);
	else if (!speaks_h2(*out))
		snprintf(error, size, "Cannot reverse connect with server '%s' unless HTTP/2 is "
			 "activated on it with either proto or alpn keyword", l->reverse);
	else
		return NULL;
	return error;
}

static void check_line(struct bind_conf *b, struct diag_list *d)
{
	struct listener_conf *l = list_first(&b->listeners, struct listener_conf, link);
	const struct proxy *fe = b->proxy;
	char error[400];

	if (fe->mode != PROXY_MODE_HTTP)
		SAY(d, "Starting [%s:%d] for %s %s: reverse HTTP needs 'mode http'.", b->file,
		    b->line, proxy_kind_name(fe), fe->name);
	else if (find_target(l, &l->reverse_server, error, sizeof(error)))
		SAY(d, "Starting [%s:%d] for %s %s: protocol rev: %s.", b->file, b->line,
		    proxy_kind_name(fe), fe->name, error);
	else
		l->reverse_server->life.is_referenced = true;
}

void reverse_check(struct proxy *px, struct diag_list *d)
{
	struct server *srv;
	struct bind_conf *b;

	list_for_each(srv, &px->servers, link)
		if (srv->is_reverse && px->mode != PROXY_MODE_HTTP)
			SAY(d, "%s '%s' : server %s uses reverse HTTP addressing which can only be "
			    "used with HTTP mode.", proxy_kind_name(px), px->name, srv->name);
	list_for_each(b, &px->binds, link)
		if (bind_is_reverse(b) && !px->disabled)
			check_line(b, d);
}
