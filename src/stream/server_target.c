/* SPDX-License-Identifier: GPL-2.0-or-later */
/* server_target.c - the destination of a connection to a server
 *
 * Usually to the server's address. The wildcard stands for the address that the client asked for
 * (or that set-dst has replaced it with), a mapped port for its port. So not every connection to a
 * server leads to the same place: a key (server_want.c) distinguishes them, also if an address was
 * changed.
 */
#include "base/bug.h"
#include "proxy/server.h"
#include "stream/stream.h"
#include "server_conn.h"

static bool port_is_mapped(const struct server *srv)
{
	return srv->port_is_mapped &&
	       !__atomic_load_n(&srv->state->port_is_fixed, __ATOMIC_RELAXED);
}

bool server_target(struct stream *s, struct server_addr *to)
{
	const struct server *srv = s->server;
	struct addr addr;
	bool any;

	server_address(srv, to);
	any = server_address_is_any((struct sockaddr *)&to->sa);
	if (likely(!any && !port_is_mapped(srv)))
		return to->sa.ss_family != AF_UNSPEC;
	/* a name without address: the wildcard is no wish */
	if (__atomic_load_n(&srv->state->admin, __ATOMIC_RELAXED) & SERVER_RMAINT)
		return false;
	addr = addr_from_sockaddr(&to->sa, to->len);
	if (port_is_mapped(srv))
		addr.port = (uint16_t)(stream_dst(s)->port + srv->at.port_offset);
	if (any) {
		uint16_t port = addr.port;

		addr = *stream_dst(s);
		addr.port = port;
	}
	if (!addr_is_inet(&addr))
		return false;
	to->len = addr_to_sockaddr(&addr, &to->sa);
	return true;
}

bool server_target_varies(const struct server *srv)
{
	return srv->port_is_mapped || srv->at.is_any ||
	       __atomic_load_n(&srv->state->address_len, __ATOMIC_RELAXED);
}
