/* SPDX-License-Identifier: GPL-2.0-or-later */
/* server_set.c - settings of servers that change at run time: weight, limit, address */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/lock.h"
#include "proxy/address.h"
#include "proxy/balance.h"
#include "proxy/proxy.h"
#include "proxy/queue.h"
#include "proxy/server.h"
#include "proxy/server_event.h"
#include "server_priv.h"

bool server_set_weight(struct server *srv, const char *text, const char **error)
{
	char *end;
	long v = strtol(text, &end, 10);

	if (end == text) {
		*error = "Empty weight string empty or preceded by garbage";
		return false;
	}
	if (strcmp(end, "%") == 0) {
		if (v < 0) {
			*error = "Relative weight must be positive.";
			return false;
		}
		v = v > 25600 ? 25600 : v;
		v = (long)srv->uweight * v / 100;
		if (v > 256)
			v = 256;
	} else if (*end) {
		*error = "Trailing garbage in weight string";
		return false;
	} else if (v < 0 || v > 256) {
		*error = "Absolute weight can only be between 0 and 256 inclusive.";
		return false;
	}
	if (!balance_has_dynamic_weights(srv->proxy) && v &&
	    v != (long)srv->uweight) {
		*error = "Backend is using a static LB algorithm and only accepts weights "
			"'0%' and '100%'.";
		return false;
	}
	__atomic_store_n(&srv->state->uweight, (unsigned)v, __ATOMIC_RELAXED);
	if (server_publish(srv))
		server_none_left_tell(srv->proxy);
	return true;
}

bool server_set_maxconn(struct server *srv, const char *text, const char **error)
{
	struct server_state *st = srv->state;
	int64_t old = __atomic_load_n(&st->maxconn, __ATOMIC_RELAXED);
	char *end;
	long v = strtol(text, &end, 10);

	if (end == text) {
		*error = "maxconn string empty or preceded by garbage";
		return false;
	}
	if (*end) {
		*error = "Trailing garbage in maxconn string";
		return false;
	}
	if (v < 0) {
		*error = "Value out of range.";
		return false;
	}
	if (!old != !v)
		__atomic_store_n(&st->queue.mixed, true, __ATOMIC_SEQ_CST);
	if (srv->limits.minconn == srv->limits.maxconn ||
	    __atomic_load_n(&st->minconn, __ATOMIC_RELAXED) > v)
		__atomic_store_n(&st->minconn, v, __ATOMIC_RELAXED);
	__atomic_store_n(&st->maxconn, v, __ATOMIC_SEQ_CST);
	queue_wake(srv->proxy, srv);
	return true;
}

/* The port as users write it: with its sign when it is an offset. */
static void port_text(char *to, size_t size, int port, bool offset)
{
	snprintf(to, size, offset ? "%+d" : "%d", port);
}

/* False: <message>. */
static bool read_port(const char *port, int *out, char *message, size_t size)
{
	char *end;
	long v = strtol(port, &end, 10);

	if (!*port || *end || *port == '+' || *port == '-') {
		snprintf(message, size, *port == '+' || *port == '-'
			 ? "port offsets cannot be set at run time ('%s')"
			 : "problem converting port '%s' to an int", port);
		return false;
	}
	if (v < 0 || v > 65535) {
		snprintf(message, size, "invalid port '%s'", port);
		return false;
	}
	*out = (int)v;
	return true;
}

bool server_set_address(struct server *srv, const char *address, const char *port,
			const char *by, char *message, size_t size)
{
	char old_ip[64], new_ip[64], port_part[80] = "", ip_part[160] = "", was[16], now[16];
	struct server_addr addr;
	struct address parsed;
	int new_port;

	server_address(srv, &addr);
	/* one that waits for name servers has none to be changed */
	if ((addr.sa.ss_family != AF_INET && addr.sa.ss_family != AF_INET6) ||
	    (srv->resolve.resolvers &&
	     __atomic_load_n(&srv->state->admin, __ATOMIC_RELAXED) & SERVER_RMAINT)) {
		snprintf(message, size, "Update for the current server address family is only "
			 "supported through configuration file.");
		return false;
	}
	new_port = address_port((struct sockaddr *)&addr.sa);
	port_text(was, sizeof(was), new_port, false);
	address_ip_text((struct sockaddr *)&addr.sa, old_ip, sizeof(old_ip));
	if (address) {
		if (!address_parse(address, ADDRESS_NO_NAMES | ADDRESS_PORT_NONE, &parsed)) {
			snprintf(message, size, "Invalid addr '%s'", address);
			return false;
		}
		address_ip_text((struct sockaddr *)&parsed.addr.sa, new_ip, sizeof(new_ip));
		if (strcmp(old_ip, new_ip) != 0)
			snprintf(ip_part, sizeof(ip_part), "IP changed from '%s' to '%s'", old_ip,
				 new_ip);
		addr = parsed.addr;
	}
	if (port) {
		int v;

		if (!read_port(port, &v, message, size))
			return false;
		port_text(now, sizeof(now), v, false);
		if (v != new_port)
			snprintf(port_part, sizeof(port_part), "port changed from '%s' to '%s'",
				 was, now);
		new_port = v;
	}
	if (!*ip_part && !*port_part) {
		snprintf(message, size, "nothing changed");
		return true;
	}
	address_set_port((struct sockaddr *)&addr.sa, new_port);
	lock_take(&srv->proxy->state->change_lock);
	server_address_publish(srv->state, &addr);
	lock_drop(&srv->proxy->state->change_lock);
	if (address && __atomic_load_n(&srv->state->admin, __ATOMIC_RELAXED) & SERVER_RMAINT)
		server_set_admin(srv, 0, SERVER_RMAINT);
	server_event_tell(&(struct server_event){ .kind = SERVER_EVENT_ADDRESS, .srv = srv });
	snprintf(message, size, "%s%s%s by '%s'", ip_part, *ip_part && *port_part ? ", " : "",
		 port_part, by);
	return true;
}

/* --- connections ---------------------------------------------------------------------------- */

static server_conn_figures_fn *conn_figures_hook;

void server_set_conn_figures_hook(server_conn_figures_fn *fn)
{
	conn_figures_hook = fn;
}

void server_conn_figures(const struct server *srv, unsigned thread,
			 struct server_conn_figures *out)
{
	*out = (struct server_conn_figures){ 0 };
	if (conn_figures_hook)
		conn_figures_hook(srv, thread, out);
}
