/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* resolve.h - servers whose address comes from a host name
 *
 * Purpose: how a name gets its first address (init-addr) and new ones at run time (resolvers,
 *          resolve-*): the settings of a server line. Run-time data is part of the server's state
 *          and survives a reload.
 *
 *	server s name:80          queries the addresses of the name; the server uses the best one
 *	server s _svc._tcp.name   queries the service: the server takes one of its entries, with
 *	                          a name, a port and a weight, then continues like the first
 *
 * Owns   : nothing; texts lie in the generation's arena. A server state owns its struct
 *          resolve_state.
 * Threads: settings: any. Names are assigned and removed on thread 0, and read by any thread under
 *          the backend's change lock.
 * Manual : configuration 5.2 init-addr, resolvers, resolve-net, resolve-opts, resolve-prefer; 5.3.
 */
#ifndef PROXY_RESOLVE_H
#define PROXY_RESOLVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/addr.h"

struct conf_line;
struct config;
struct diag_list;
struct resolve_state;
struct resolvers;
struct server;
struct server_state;

#define RESOLVE_NETS_MAX 5
#define RESOLVE_METHODS_MAX 8

enum resolve_method { RESOLVE_LAST, RESOLVE_LIBC, RESOLVE_NONE, RESOLVE_IP };

struct resolve_net {
	struct addr addr;
	unsigned bits;
};

/* Servers are many, few of them have names: the members that few need are kept apart. */
struct resolve {
	const char *resolvers_name;      /* as configured; NULL: none */
	struct resolvers *resolvers;     /* set by the check phase */
	const char *service;             /* an SRV name; or NULL */
	const struct resolve_net *nets;   /* resolve-net: <net_count> of them */
	const struct addr *ip;           /* of RESOLVE_IP */
	const char *line_text;           /* the line with the name, for messages */
	int column;
	bool prefer_ipv4;
	bool may_duplicate;              /* allow-dup-ip */
	bool ignore_weight;
	/* no method succeeded: an error, unless the state file helps */
	bool failed;
	unsigned char family;            /* from the address's prefix, ADDR_NONE: any */
	unsigned char net_count;
	unsigned char used;              /* index of the method that gave the address */
	unsigned char method_count;      /* 0: last, libc */
	unsigned char methods[RESOLVE_METHODS_MAX];
};

/* --- check phase */

/* Gives <srv>, which has a name, its first address, by all methods but `last`. */
void resolve_init_address(struct server *srv, struct diag_list *diags);
/* Could <srv> use the address of a state file: does `last` come before the method that was used? */
bool resolve_takes_last(const struct server *srv);
/* Sets <addr>, from a state file, as its address. */
void resolve_set_last(struct server *srv, const struct addr *addr);

/* --- run time */

/* Copies the current name of <srv>, or "-". Any thread. */
void resolve_name(const struct server *srv, char *out, size_t size);
/* Implements `set server fqdn`. Any thread. <message> tells what was done or, on false, why not. */
bool resolve_set_name(struct server *srv, const char *name, char *message, size_t size);
/* Restores a name that `set server fqdn` had set, from a state file. Before the threads start. */
void resolve_restore_name(struct server *srv, const char *name);
/* Queries the name of a server that does not answer again: it may have another address. Any thread.
 */
void resolve_hurry(struct server *srv);
void resolve_state_free(struct resolve_state **ns);

#endif
