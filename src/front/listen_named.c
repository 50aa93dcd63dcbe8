/* SPDX-License-Identifier: GPL-2.0-or-later */
/* listen_named.c - sockets of a configuration for another process, by their addresses */
#include <string.h>
#include "net/handoff.h"
#include "net/netns.h"
#include "net/socket.h"
#include "proxy/bind.h"
#include "proxy/proxy.h"
#include "listen_priv.h"

/* Does the line ask for a socket of this address, there? */
static bool is_named(const struct listener_conf *l, const struct sockaddr_storage *addr,
		     socklen_t len, const struct socket_origin *origin)
{
	const struct bind_conf *b = l->bind;

	return l->inherited_fd < 0 && l->address_len == len &&
	       memcmp(&l->address, addr, len) == 0 &&
	       strcmp(b->netns ? netns_name(b->netns) : "", origin->netns) == 0 &&
	       strcmp(b->interface ? b->interface : "", origin->interface) == 0;
}

static const struct listener_conf *find_in(const struct proxy *px,
					   const struct sockaddr_storage *addr, socklen_t len,
					   const struct socket_origin *origin)
{
	struct bind_conf *b;
	struct listener_conf *l;

	list_for_each(b, &px->binds, link)
		list_for_each(l, &b->listeners, link)
			if (is_named(l, addr, len, origin))
				return l;
	return NULL;
}

int listen_open_named(const struct config *cfg, const struct sockaddr_storage *addr, socklen_t len,
		      const struct socket_origin *origin, char *error, size_t size)
{
	const struct listener_conf *found = NULL;
	struct socket_settings set;

	for (struct proxy *px = proxies_first(cfg); px && !found; px = proxy_next(px))
		if (!px->disabled)
			found = find_in(px, addr, len, origin);
	if (!found) {
		*error = '\0';
		return -1;
	}
	listen_settings(found->bind, &set);
	return socket_listen(addr, len, &set, error, size);
}
