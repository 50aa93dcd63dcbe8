/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* resolve.h - servers whose address comes from a name
 *
 * Purpose: how a name gets its first address (init-addr), and what gives it new ones at run time
 *          (resolvers, resolve-*): the settings of a server line. What is known at run time is
 *          part of the server's state and outlives a reload.
 *
 *	server s name:80          its addresses are asked for; the best of them is the server's
 *	server s _svc._tcp.name   its services are asked for: the server takes one, with a
 *	                          name, a port and a weight, and goes on like the first
 *
 * Owns   : nothing; texts are in the generation's arena. A state owns its struct resolve_state.
 * Threads: settings from any; names are given and taken on thread 0, read by any under the
 *          backend's change lock.
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

/* There are many servers, few of them with names: what few need stands apart. */
struct resolve {
	const char *resolvers_name;      /* as written; NULL: none */
	struct resolvers *resolvers;     /* found in the check phase */
	const char *service;             /* an SRV name; or NULL */
	const struct resolve_net *nets;   /* resolve-net: <net_count> of them */
	const struct addr *ip;           /* of RESOLVE_IP */
	const char *line_text;           /* where the name was written, to be shown then */
	int column;
	bool prefer_ipv4;
	bool may_duplicate;              /* allow-dup-ip */
	bool ignore_weight;
	bool failed;                     /* no method did: an error, unless the state file helps */
	unsigned char family;            /* asked by the address's prefix, ADDR_NONE: any */
	unsigned char net_count;
	unsigned char used;              /* the place of the method that gave the address */
	unsigned char method_count;      /* 0: last, libc */
	unsigned char methods[RESOLVE_METHODS_MAX];
};

/* --- check phase */

/* Gives <srv>, which has a name, its first address by the methods but `last`. */
void resolve_init_address(struct server *srv, struct diag_list *diags);
/* Could the address of a state file be that of <srv>: does `last` come before what was used? */
bool resolve_takes_last(const struct server *srv);
/* It is <addr>. */
void resolve_set_last(struct server *srv, const struct addr *addr);

/* --- run time */

/* Copies the name that <srv> has now, or "-"; from any thread. */
void resolve_name(const struct server *srv, char *out, size_t size);
/* `set server fqdn`, from any thread. The message tells what was done, or why not (false). */
bool resolve_set_name(struct server *srv, const char *name, char *message, size_t size);
/* The name that a state file gives, before the threads start; set by `set server fqdn` then. */
void resolve_restore_name(struct server *srv, const char *name);
/* The server does not answer: its name may have another address. From any thread. */
void resolve_hurry(struct server *srv);
void resolve_state_free(struct resolve_state **ns);

#endif
