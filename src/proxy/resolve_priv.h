/* SPDX-License-Identifier: GPL-2.0-or-later */
/* resolve_priv.h - what is known of a server's name at run time */
#ifndef PROXY_RESOLVE_PRIV_H
#define PROXY_RESOLVE_PRIV_H

#include "dns/resolvers.h"
#include "proxy/server.h"

/* Thread 0's, but the name. */
struct resolve_state {
	struct server *server;         /* of the live generation; NULL: none */
	struct resolve_asker address, service;
	struct resolve_item *item;     /* the service that it has taken: of the resolution */
	struct addr taken;             /* the address that it has taken; ADDR_NONE: none. A command
					* may give the server another one: it has that until
					* the answer has this one no more */
	struct resolve_item *own;      /* its record, as long as the address is asked for */
	char *name;                    /* under the backend's change lock; owned; NULL: none */
};

/* Those of one backend that ask the same: each starts with the first. NULL: no more. */
struct resolve_state *resolve_group_first(struct resolution *r, const struct proxy *be,
					bool service);
struct resolve_state *resolve_group_next(struct resolve_state *ns, bool service);

/* resolve_init.c */
bool resolve_add_method(struct resolve *n, enum resolve_method method);
/* Behind the state files: names that nothing has helped are errors. */
void resolve_all_check(struct config *cfg, struct diag_list *diags);

/* Another name, or none; a copy is kept. False: no memory. */
bool resolve_swap_name(struct server *srv, const char *name);
/* Asks for the addresses of the name, no more for those of another one. */
void resolve_ask_address(struct resolve_state *ns);
void resolve_leave_address(struct resolve_state *ns);
/* It has this address now, with <port> above 0 on this port; <source> names the origin of the
 * address.
 */
void resolve_apply(struct resolve_state *ns, const struct addr *addr, int port, const char *source);
void resolve_lose(struct resolve_state *ns, const char *why);

/* resolve_address.c, resolve_service.c: what askers are told. */
void resolve_address_told(struct resolve_asker *a, enum resolve_round round);
void resolve_service_told(struct resolve_asker *a, enum resolve_round round);

/* resolve.c: the generation is, or is no longer, the live one. On thread 0. */
bool resolve_all_begin(struct config *cfg, const struct config *prev);
void resolve_all_end(const struct config *cfg);

#endif
